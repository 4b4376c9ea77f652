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
    /// Number of bodies stepped exactly, summed over steps; of these at rest; swept; and asleep.
    #[serde(default)]
    pub exact_sum: u64,
    #[serde(default)]
    pub resting_sum: u64,
    #[serde(default)]
    pub swept_sum: u64,
    #[serde(default)]
    pub asleep_sum: u64,
    /// Number of steps observed, and largest number of inertial bodies in one.
    #[serde(default)]
    pub steps: u64,
    #[serde(default)]
    pub bodies: usize,
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
        self.exact_sum += report.exact as u64;
        self.resting_sum += report.resting as u64;
        self.swept_sum += report.swept as u64;
        self.asleep_sum += report.asleep as u64;
        self.steps += 1;
        self.bodies = self.bodies.max(report.exact + report.swept + report.asleep);
    }

    /// Describes the methods in one line, whose shares add up.
    pub fn text(&self) -> String {
        let total = self.exact_sum + self.swept_sum + self.asleep_sum;
        if total == 0 {
            return "no moving bodies, or not recorded".to_owned();
        }
        let share = |part: u64| match 100.0 * part as f64 / total as f64 {
            percent if percent > 0.0 && percent < 1.0 => "under 1 %".to_owned(),
            percent if percent > 99.0 && percent < 100.0 => "over 99 %".to_owned(),
            percent => format!("{percent:.0} %"),
        };
        let exact = match self.resting_sum {
            0 => "exact".to_owned(),
            resting => format!("exact ({} at rest)", share(resting)),
        };
        let parts = [
            (self.exact_sum, exact.as_str()),
            (self.swept_sum, "swept (approximate)"),
            (self.asleep_sum, "asleep"),
        ];
        let parts = parts.into_iter().filter(|(part, _)| *part > 0);
        let parts: Vec<String> =
            parts.map(|(part, how)| format!("{} {how}", share(part))).collect();
        let bodies = match self.bodies {
            1 => "1 body".to_owned(),
            n => format!("{n} bodies"),
        };
        format!(
            "{}, of {bodies} in {}",
            parts.join(", "),
            output::count(self.steps as usize, "step")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "100 bodies exact in 198 steps, 202 swept in 360 steps" adds up to nothing.
    #[test]
    fn the_shares_of_the_methods_are_of_one_whole() {
        let mut methods = Methods::default();
        for step in 0..360_usize {
            let exact = if step < 180 { 100 } else { 0 };
            let mut frame = Frame::default();
            (frame.report.exact, frame.report.swept) = (exact, 200 - exact);
            frame.report.resting = exact / 2;
            methods.observe(&frame);
        }
        let text =
            "25 % exact (12 % at rest), 75 % swept (approximate), of 200 bodies in 360 steps";
        assert_eq!(methods.text(), text);
    }
}
