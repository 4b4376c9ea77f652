//! `msd validate`: compares msd with closed-form solutions.

use msd_scene::closed_forms::{Case, Measurement, Tolerance, cases};
use serde_json::{Value, json};

use crate::args::ValidateArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::summary::engine;
use crate::verdict::Verdict;

/// A case and its measurements.
struct CaseResult {
    case: &'static Case,
    measurements: Vec<Measurement>,
    /// Reason why the case could not be run.
    rejected: Option<String>,
}

impl CaseResult {
    /// Returns the measurement with the largest error relative to its tolerance.
    fn worst(&self) -> Option<&Measurement> {
        let used = |measurement: &Measurement| {
            let (Tolerance::Absolute(limit) | Tolerance::Relative(limit)) = measurement.tolerance;
            let error = measurement.error();
            if error == 0.0 { 0.0 } else { error / limit }
        };
        self.measurements.iter().max_by(|a, b| used(a).total_cmp(&used(b)))
    }

    fn passes(&self) -> bool {
        self.rejected.is_none() && self.measurements.iter().all(Measurement::passes)
    }

    /// Returns the reason why the case misses its tolerance, if it is known to, and by that much.
    fn known_shortfall(&self) -> Option<&'static str> {
        let shortfall = self.case.shortfall()?;
        let is_known = |measurement: &Measurement| {
            measurement.passes() || measurement.error() <= shortfall.limit
        };
        let known = self.rejected.is_none() && self.measurements.iter().all(is_known);
        (known && !self.passes()).then_some(shortfall.why)
    }

    /// Returns whether the case passes, or misses its tolerance as is known.
    fn is_expected(&self) -> bool {
        self.passes() || self.known_shortfall().is_some()
    }

    /// Returns the verdict on the case in a table.
    fn word(&self) -> &'static str {
        match (self.passes(), self.is_expected()) {
            (true, _) => "pass",
            (_, true) => "known",
            _ => "**fail**",
        }
    }
}

/// Runs the cases.
pub fn validate(args: &ValidateArgs) -> Result<Outcome, Failure> {
    let wanted = |case: &&Case| {
        let matches = |word: &String| case.name.contains(word) || case.group.contains(word);
        args.filter.is_empty() || args.filter.iter().any(matches)
    };
    let chosen: Vec<&Case> = cases().iter().filter(wanted).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        return Err(Failure::Input(format!("no such case; the cases are {}", names.join(", "))));
    }
    let mut results = Vec::new();
    for case in chosen {
        let (measurements, rejected) = match case.run() {
            Ok(measurements) => (measurements, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let result = CaseResult { case, measurements, rejected };
        if !args.json && !args.markdown {
            output::print(&lines(&result));
        }
        results.push(result);
    }
    let good = results.iter().all(CaseResult::is_expected);
    if args.json {
        output::print(&as_json(&results).to_string());
    } else if args.markdown {
        output::print(&markdown(&results));
    } else {
        output::print(&format!("\n{}", tally(&results)));
    }
    Outcome::from(good)
}

fn tally(results: &[CaseResult]) -> String {
    let names = |which: fn(&CaseResult) -> bool| {
        let chosen = results.iter().filter(|result| which(result));
        chosen.map(|result| result.case.name).collect::<Vec<_>>().join(", ")
    };
    let passed = results.iter().filter(|result| result.passes()).count();
    let known = names(|result| result.known_shortfall().is_some());
    let failing = names(|result| !result.is_expected());
    let mut text = format!("{passed} of {} cases are within their tolerance", results.len());
    for (what, names) in [("known to miss it", known), ("outside", failing)] {
        if !names.is_empty() {
            text += &format!("; {what}: {names}");
        }
    }
    text + "."
}

fn lines(result: &CaseResult) -> String {
    let Case { name, setup, .. } = result.case;
    let mut text = format!("{name}: {setup}");
    if let Some(why) = &result.rejected {
        text += &format!("\n  {}  {why}", output::verdict(Verdict::Fail, "fail"));
    }
    for measurement in &result.measurements {
        let verdict = if measurement.passes() { Verdict::Pass } else { Verdict::Fail };
        let word = output::verdict(verdict, verdict.word());
        text += &format!(
            "\n  {word}  {:<54} expected {:>13}  measured {:>13}  error {:>8}, allowed {}",
            quantity(measurement),
            number(measurement.expected),
            number(measurement.measured),
            error(measurement),
            tolerance(measurement),
        );
    }
    if let Some(why) = result.known_shortfall() {
        text += &format!("\n        known: {why}");
    }
    text
}

/// Formats a page for the docs: first one line per case, then every measurement.
fn markdown(results: &[CaseResult]) -> String {
    let mut text = format!(
        "# Validation\n\nWritten by `msd validate --markdown` with {}. {}\n\n\
         Each case builds its own world with default settings and steps it at 60 Hz. Of several \
         quantities the first table gives the one nearest to, or furthest beyond, its tolerance. \
         *Peers* are the best and the typical error of Rapier, Box3D, Jolt, MuJoCo and Bullet on the \
         same scene, where it was measured.\n\n\
         | case | quantity | error of msd | allowed | peers | |\n|---|---|---|---|---|---|\n",
        engine(),
        tally(results)
    );
    for result in results {
        let Case { name, peers, .. } = result.case;
        if let Some(worst) = result.worst() {
            text += &row(&[
                format!("[{name}](#{name})"),
                quantity(worst),
                error(worst),
                tolerance(worst),
                (*peers).to_owned(),
                result.word().to_owned(),
            ]);
        }
    }
    text += "\n## Where msd falls short\n\n";
    for result in results.iter().filter(|result| !result.passes()) {
        let why = result.known_shortfall().unwrap_or("Not understood yet.");
        text += &format!("- **{}**: {why}\n", result.case.name);
    }
    for result in results {
        let Case { name, setup, .. } = result.case;
        text += &format!("\n### {name}\n\n{}{}.\n\n", setup[..1].to_uppercase(), &setup[1..]);
        text +=
            "| quantity | expected | measured | error | allowed | |\n|---|---|---|---|---|---|\n";
        for measurement in &result.measurements {
            text += &row(&[
                quantity(measurement),
                number(measurement.expected),
                number(measurement.measured),
                error(measurement),
                tolerance(measurement),
                verdict(measurement.passes()),
            ]);
        }
    }
    text.trim_end().to_owned()
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn verdict(passes: bool) -> String {
    if passes { "pass" } else { "**fail**" }.to_owned()
}

fn as_json(results: &[CaseResult]) -> Value {
    let case = |result: &CaseResult| {
        let measurements: Vec<Value> = result.measurements.iter().map(measurement_json).collect();
        json!({
            "name": result.case.name,
            "group": result.case.group,
            "setup": result.case.setup,
            "peers": result.case.peers,
            "passes": result.passes(),
            "known_shortfall": result.known_shortfall(),
            "rejected": result.rejected,
            "measurements": measurements,
        })
    };
    let cases: Vec<Value> = results.iter().map(case).collect();
    json!({ "engine": engine(), "passes": results.iter().all(CaseResult::is_expected), "cases": cases })
}

fn measurement_json(measurement: &Measurement) -> Value {
    let (kind, limit) = match measurement.tolerance {
        Tolerance::Absolute(limit) => ("absolute", limit),
        Tolerance::Relative(limit) => ("relative", limit),
    };
    json!({
        "quantity": measurement.quantity,
        "unit": measurement.unit,
        "expected": measurement.expected,
        "measured": measurement.measured,
        "error": measurement.error(),
        "tolerance": limit,
        "tolerance_kind": kind,
        "passes": measurement.passes(),
    })
}

fn quantity(measurement: &Measurement) -> String {
    let Measurement { quantity, unit, .. } = measurement;
    if unit.is_empty() { (*quantity).to_owned() } else { format!("{quantity} ({unit})") }
}

/// Formats a number with nine decimals, or with an exponent.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{value:.9}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.3e}"),
    }
}

fn error(measurement: &Measurement) -> String {
    match (measurement.error(), measurement.tolerance) {
        (error, Tolerance::Relative(_)) => output::share(error),
        (0.0, Tolerance::Absolute(_)) => "0".to_owned(),
        (error, Tolerance::Absolute(_)) => format!("{error:.1e}"),
    }
}

fn tolerance(measurement: &Measurement) -> String {
    match measurement.tolerance {
        Tolerance::Relative(limit) => output::share(limit),
        Tolerance::Absolute(0.0) => "0".to_owned(),
        Tolerance::Absolute(limit) => {
            format!("{limit:.0e} {}", measurement.unit).trim_end().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_known_to_miss_its_tolerance_only_by_the_figure_that_is_known() {
        let case = cases().iter().find(|case| case.shortfall().is_some()).expect("there is one");
        let limit = case.shortfall().expect("it is one").limit;
        for (error, expected) in
            [(0.0, true), (0.99 * limit, true), (1.01 * limit, false), (f64::NAN, false)]
        {
            let measurement = Measurement {
                quantity: "error",
                unit: "",
                expected: 0.0,
                measured: error,
                tolerance: Tolerance::Absolute(1e-9),
            };
            let result = CaseResult { case, measurements: vec![measurement], rejected: None };
            assert_eq!(result.is_expected(), expected, "an error of {error}");
        }
    }
}
