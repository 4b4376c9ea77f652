//! Terminal output: text that survives a closed pipe, numbers with units, tables.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::verdict::Verdict;

/// Prints a line to standard output. A closed pipe is not an error, a full disk is.
pub fn print(text: &str) {
    let mut out = std::io::stdout();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprint(&format!("error: standard output: {error}"));
            std::process::exit(3);
        }
        // Closed pipe: the exit code still carries the outcome.
        _ => {}
    }
}

/// Standard output for long tables: exits when the reader closes the pipe.
pub struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        until_closed(std::io::stdout().write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        until_closed(std::io::stdout().flush())
    }
}

/// Exits with success if the reader has closed the pipe.
fn until_closed<T>(result: std::io::Result<T>) -> std::io::Result<T> {
    if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    result
}

/// Prints a line to standard error.
pub fn eprint(text: &str) {
    // A failure to write to standard error cannot be reported.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Formats a quantity with an SI prefix: `0.0034` meters is `3.4 mm`.
pub fn quantity(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 9] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "u"),
        (1e-9, "n"),
        (1e-12, "p"),
        (1e-15, "f"),
    ];
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return format!("{value} {unit}");
    }
    // A value that rounds to 1000 of a unit is printed as 1 of the next.
    match PREFIXES.iter().find(|(factor, _)| size >= 0.99995 * factor) {
        Some((factor, prefix)) if size < 1e12 => {
            format!("{} {prefix}{unit}", digits(value / factor))
        }
        _ => format!("{value:.2e} {unit}"),
    }
}

/// Formats a number with four significant digits.
fn digits(value: f64) -> String {
    let decimals = 3_usize.saturating_sub(value.abs().max(1.0).log10() as usize);
    format!("{value:.decimals$}")
}

/// Formats a quantity, and 0 if it is within the rounding of the numbers that it was computed from.
pub fn rounded(value: f64, rounding: f64, unit: &str) -> String {
    quantity(if value.abs() <= rounding { 0.0 } else { value }, unit)
}

/// Formats a fraction as a percentage, or with an exponent if it is tiny.
pub fn share(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1e-4 => format!("{:.3} %", 100.0 * value),
        _ => format!("{value:.1e}"),
    }
}

/// Formats the residual of a solve.
pub fn residual(value: f64) -> String {
    if value < 0.1 { format!("{value:.1e}") } else { format!("{value:.2}") }
}

/// Formats a fraction or a multiple of a quantity: "0.143 % of the energy", "172 times the energy". Less than the rounding of
/// the quantity is 0.
pub fn share_of(value: f64, what: &str) -> String {
    match value.abs() {
        size if size < f64::EPSILON => format!("0 of {what}"),
        size if size < 10.0 => format!("{} of {what}", share(value)),
        size if size < 1e6 => format!("{value:.0} times {what}"),
        _ => format!("{value:.1e} times {what}"),
    }
}

/// Formats a fraction of the half width of a body: large percentages are hard to picture.
pub fn of_half_width(value: f64) -> String {
    match value {
        _ if value.is_nan() => "a size that is not a number".to_owned(),
        ..=10.0 => share_of(value, "the smaller half width"),
        _ => "more than the body itself".to_owned(),
    }
}

/// Formats a number of further things of a list.
pub fn others(n: usize) -> String {
    if n == 1 { "one other".to_owned() } else { format!("{n} others") }
}

/// Formats a duration in suitable units.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 60.0 => quantity(seconds, "s"),
        0..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Formats a number of bytes.
pub fn bytes(count: u64) -> String {
    match count as f64 {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.1} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.1} kB", n / 1e3),
        n => format!("{n} bytes"),
    }
}

/// Formats labels and values in two columns.
pub fn facts(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(label, value)| format!("  {label:<width$}  {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Colors a word by its verdict if standard output is a terminal.
pub fn verdict(verdict: Verdict, word: &str) -> String {
    let code = match verdict {
        Verdict::Pass => "32",
        Verdict::Skip => "2",
        Verdict::Warn => "33",
        Verdict::Fail => "31;1",
    };
    let colored = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if colored { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
}

/// Quotes a name and replaces its control characters.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", plain(name))
}

/// Replaces the control characters of text from a file.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Returns the quoted name of a body, or its index.
pub fn body(name: &str, index: u32) -> String {
    if name.is_empty() { format!("body {index}") } else { quoted(name) }
}

/// Formats a count with its noun in singular or plural.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_that_is_not_a_number_is_not_called_a_large_one() {
        assert_eq!(of_half_width(0.25), "25.000 % of the smaller half width");
        assert_eq!(of_half_width(f64::INFINITY), "more than the body itself");
        assert_eq!(of_half_width(f64::NAN), "a size that is not a number");
    }
}
