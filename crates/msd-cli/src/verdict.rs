//! The checks of a run: observation of every step, and verdicts.

mod advice;
mod checks;
mod contact_checks;
mod ledger_checks;
mod methods;
mod monitor;
mod thresholds;
#[cfg(feature = "view")]
mod warnings;
mod worst_value;

#[cfg(feature = "view")]
use msd_record::BodyKey;
use serde::{Deserialize, Serialize};

pub use methods::Methods;
pub use monitor::Monitor;

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within its limits.
    Pass,
    /// Not judged: the quantity was not measured or does not apply.
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
}
