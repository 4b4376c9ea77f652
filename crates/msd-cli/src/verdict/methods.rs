//! The methods by which bodies were stepped.

use msd_record::Frame;
use serde::{Deserialize, Serialize};

use crate::output;

/// The number of bodies and steps per method over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Methods {
    /// Number of steps with exact bodies.
    pub exact_steps: u64,
    /// Largest number of exact bodies in a step.
    pub exact_bodies: usize,
    /// Largest number of exact bodies at rest in a step: they were not computed again.
    #[serde(default)]
    pub resting_bodies: usize,
    /// Number of steps with swept bodies.
    pub swept_steps: u64,
    /// Largest number of swept bodies in a step.
    pub swept_bodies: usize,
    /// Largest number of sleeping bodies after a step.
    #[serde(default)]
    pub asleep_bodies: usize,
}

impl Methods {
    pub(super) fn observe(&mut self, frame: &Frame) {
        let report = &frame.report;
        self.exact_steps += u64::from(report.exact > 0);
        self.exact_bodies = self.exact_bodies.max(report.exact);
        self.resting_bodies = self.resting_bodies.max(report.resting);
        self.swept_steps += u64::from(report.swept > 0);
        self.swept_bodies = self.swept_bodies.max(report.swept);
        self.asleep_bodies = self.asleep_bodies.max(report.asleep);
    }

    /// Describes the methods in one line.
    pub fn text(&self) -> String {
        let part = |bodies: usize, steps: u64, how: &str| {
            let bodies = match bodies {
                1 => "1 body".to_owned(),
                n => format!("{n} bodies"),
            };
            format!("{bodies} {how} in {}", output::count(steps as usize, "step"))
        };
        let mut exact = part(self.exact_bodies, self.exact_steps, "exact");
        if self.resting_bodies > 0 {
            exact = format!("{exact}, up to {} of them at rest", self.resting_bodies);
        }
        let swept = part(self.swept_bodies, self.swept_steps, "swept (approximate)");
        let text = match (self.exact_steps, self.swept_steps) {
            (0, 0) => "no moving bodies, or not recorded".to_owned(),
            (_, 0) => exact,
            (0, _) => swept,
            _ => format!("{exact}, {swept}"),
        };
        match self.asleep_bodies {
            0 => text,
            count => format!("{text}; up to {count} asleep"),
        }
    }
}
