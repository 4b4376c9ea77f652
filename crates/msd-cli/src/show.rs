//! What a terminal shows: text that survives a closed pipe, numbers with units, tables.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::verdict::Verdict;

/// Prints a line. That the reader went away is no error, a full disk is.
pub fn out(text: &str) {
    let mut out = std::io::stdout();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            err(&format!("error: standard output: {error}"));
            std::process::exit(3);
        }
        // Nobody reads: the exit code still tells.
        _ => {}
    }
}

/// Standard output for long tables: when its reader goes away, the work is over.
pub struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        until_closed(std::io::stdout().write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        until_closed(std::io::stdout().flush())
    }
}

/// A pipe that is closed at the other end has had enough: that is no error.
fn until_closed<T>(result: std::io::Result<T>) -> std::io::Result<T> {
    if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    result
}

/// Prints a line on the error stream.
pub fn err(text: &str) {
    // If not even that can be written there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A quantity with a fitting prefix: `0.0034` metres is `3.4 mm`.
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
    // What rounds to 1000 of a unit is 1 of the next.
    match PREFIXES.iter().find(|(factor, _)| size >= 0.99995 * factor) {
        Some((factor, prefix)) if size < 1e12 => {
            format!("{} {prefix}{unit}", digits(value / factor))
        }
        _ => format!("{value:.2e} {unit}"),
    }
}

/// Four digits that matter.
fn digits(value: f64) -> String {
    let decimals = 3_usize.saturating_sub(value.abs().max(1.0).log10() as usize);
    format!("{value:.decimals$}")
}

/// A share in per cent, or in powers of ten where it is tiny.
pub fn share(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1e-4 => format!("{:.3} %", 100.0 * value),
        _ => format!("{value:.1e}"),
    }
}

/// A time in words that fit.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 60.0 => quantity(seconds, "s"),
        0..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A number of bytes.
pub fn bytes(count: u64) -> String {
    match count as f64 {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.1} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.1} kB", n / 1e3),
        n => format!("{n} bytes"),
    }
}

/// Labels and values in two columns.
pub fn facts(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(label, value)| format!("  {label:<width$}  {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A word in the colour of its verdict, if somebody sees it.
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

/// A name in quotes, without anything that a terminal would obey.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", plain(name))
}

/// Text from a file, without anything that a terminal would obey.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The name of a body in quotes, or where it is in the list.
pub fn body(name: &str, index: u32) -> String {
    if name.is_empty() { format!("body {index}") } else { quoted(name) }
}

/// One thing, or several.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
