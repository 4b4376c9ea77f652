//! The checks of a run: observation of every step, and verdicts.

mod advice;
mod bounds_check;
mod checks;
mod contact_checks;
mod ledger_checks;
mod methods;
mod monitor;
mod squeeze;
mod thresholds;
#[cfg(feature = "view")]
mod warnings;
mod worst_value;

#[cfg(feature = "view")]
use msd_record::{BodyKey, ColliderKey};
use serde::{Deserialize, Serialize};

pub use methods::Methods;
pub use monitor::Monitor;

use crate::output;

/// The verdict of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within its limits.
    Pass,
    /// Not judged: the quantity was not measured or does not apply.
    #[default]
    Skip,
    /// Above the warning limit.
    Warn,
    /// Above the failure limit.
    Fail,
}

impl Verdict {
    /// Returns the verdict as a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// A check of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Result with numbers and units; for a skipped check, the reason.
    pub message: String,
    /// Step with the worst value.
    pub step: Option<u64>,
    /// Names of the bodies concerned.
    pub bodies: Vec<String>,
}

/// A warning about a single step.
#[cfg(feature = "view")]
#[derive(Clone, Debug)]
pub struct Warning {
    /// Name of the check.
    pub check: &'static str,
    /// Value divided by the warning limit of the check.
    pub times: f64,
    /// Description with numbers and units.
    pub message: String,
    /// Bodies concerned.
    pub bodies: Vec<BodyKey>,
    /// Their colliders, for a contact of two.
    pub colliders: Option<[ColliderKey; 2]>,
}

/// Summarizes checks in one sentence, with the worst verdict. Notes question what the checks measured, so a run that has
/// some is not simply good.
pub fn conclusion(checks: &[Check], notes: usize, interrupted: bool) -> (Verdict, String) {
    let names = |which| {
        let of = checks.iter().filter(|check| check.verdict == which);
        of.map(|check| check.name.as_str()).collect::<Vec<_>>()
    };
    let (failed, warned) = (names(Verdict::Fail), names(Verdict::Warn));
    let skipped = names(Verdict::Skip);
    let mut text = match (failed.len(), warned.len()) {
        (0, 0) => "All checks passed".to_owned(),
        (0, _) => format!("{}: {}", output::count(warned.len(), "warning"), warned.join(", ")),
        (count, 0) => format!("{} failed: {}", output::count(count, "check"), failed.join(", ")),
        (count, _) => format!(
            "{} failed: {}; {}: {}",
            output::count(count, "check"),
            failed.join(", "),
            output::count(warned.len(), "warning"),
            warned.join(", ")
        ),
    };
    if !skipped.is_empty() {
        text += &format!("; {} skipped: {}", skipped.len(), skipped.join(", "));
    }
    if interrupted {
        text += "; the run was interrupted";
    }
    match notes {
        0 => {}
        1 => text += "; the note above says what that does not cover",
        n => text += &format!("; the {n} notes above say what that does not cover"),
    }
    let worst = match (failed.len(), warned.len() + notes) {
        (0, 0) => Verdict::Pass,
        (0, _) => Verdict::Warn,
        _ => Verdict::Fail,
    };
    (worst, text + ".")
}
