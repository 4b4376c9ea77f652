//! Warnings about single steps, for the viewer.

use msd_record::Frame;

use super::monitor::{Monitor, worst_violation_bodies};
use super::thresholds::{PENETRATION, Thresholds};
use super::worst_value::WorstValue;
use super::{Verdict, Warning};
use crate::output;

impl Monitor {
    /// Returns the warnings about a step.
    pub fn warnings(&self, frame: &Frame) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |check, value: f64, band: &Thresholds, message, bodies, colliders| {
            if band.judge(value) != Verdict::Pass {
                let times = value / band.warn;
                warnings.push(Warning { check, times, message, bodies, colliders });
            }
        };
        let mut penetration = WorstValue::default();
        self.for_each_penetration(frame, |_, share, pair| {
            penetration.observe_contact(share, frame.step, pair);
        });
        let share = penetration.value.unwrap_or(0.0);
        let message = output::of_half_width(share);
        warn(
            "penetration",
            share,
            &PENETRATION,
            message,
            penetration.bodies,
            penetration.colliders,
        );
        if let Some((_, share, bodies)) = self.worst_joint_error(frame) {
            let message = output::of_half_width(share);
            warn("joint error", share, &PENETRATION, message, bodies, None);
        }
        if let Some((kind, value)) = self.judge_residual(frame) {
            let message = format!(
                "residual {}",
                output::residual(frame.report.residual().unwrap_or(f64::NAN))
            );
            let bodies = worst_violation_bodies(frame);
            warn("contact laws", value, &kind.limits(), message, bodies, None);
        }
        let none = frame.report.unresolved_impacts;
        if none > 0 {
            let message = format!("{} left without a bounce", output::count(none, "impact"));
            warnings.push(Warning {
                check: "impacts",
                times: none as f64,
                message,
                bodies: Vec::new(),
                colliders: None,
            });
        }
        warnings
    }
}
