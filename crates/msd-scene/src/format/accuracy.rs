//! The accuracy by its names in scenes.

use msd_sim::Accuracy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How exact steps are, and what they may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccuracyLevel {
    /// Every island is swept: fastest, approximate.
    Fast,
    /// Islands of up to 128 inertial bodies are exact within a budget, larger ones are swept.
    Balanced,
    /// Every island is solved to the tolerance, whatever it costs; a run that does not converge fails.
    Exact,
}

impl From<AccuracyLevel> for Accuracy {
    fn from(level: AccuracyLevel) -> Self {
        match level {
            AccuracyLevel::Fast => Self::Fast,
            AccuracyLevel::Balanced => Self::Balanced,
            AccuracyLevel::Exact => Self::Exact,
        }
    }
}

impl From<Accuracy> for AccuracyLevel {
    fn from(accuracy: Accuracy) -> Self {
        match accuracy {
            Accuracy::Fast => Self::Fast,
            Accuracy::Balanced => Self::Balanced,
            Accuracy::Exact => Self::Exact,
        }
    }
}
