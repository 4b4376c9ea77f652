//! What a terminal shows: text that survives a closed pipe, numbers with units, tables.

use std::io::{IsTerminal, Write};

use crate::verdict::Verdict;

/// Prints a line; a reader that went away ends the program quietly.
pub fn out(text: &str) {
    if writeln!(std::io::stdout().lock(), "{text}").is_err() {
        std::process::exit(0);
    }
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
    match seconds {
        s if s >= 3600.0 => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), s % 3600.0 / 60.0),
        s if s >= 60.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
        s => quantity(s, "s"),
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
        Verdict::Warn => "33",
        Verdict::Fail => "31;1",
    };
    let colored = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if colored { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
}

/// The name of a body, or where it is in the list.
pub fn body(name: &str, index: u32) -> String {
    if name.is_empty() { format!("body {index}") } else { format!("\"{name}\"") }
}
