//! The checks of contacts, joints and impacts.

use msd_sim::{Continuous, Method};

use super::checks::{NOT_MEASURED, NOTHING_TOUCHED};
use super::monitor::Monitor;
use super::thresholds::{
    INEXACT, MAX_TRAVEL, PENETRATION, RESIDUAL, SWEPT_RESIDUAL, UNRESOLVED_IMPACTS,
};
use super::worst_value::WorstValue;
use super::{Check, Verdict};
use crate::output;

impl Monitor {
    pub(super) fn check_penetration(&self) -> Check {
        if self.contacts_missing {
            return self.skip("penetration", "the recording holds no contacts");
        }
        let Some(share) = self.penetration.value else {
            return self.skip("penetration", NOTHING_TOUCHED);
        };
        let message = format!(
            "largest overlap relative to size is {} ({})",
            output::rounded(self.penetration_depth, self.step_rounding().length, "m"),
            output::of_half_width(share)
        );
        self.conclude("penetration", PENETRATION.judge(share), &self.penetration, message)
    }

    pub(super) fn check_joints(&self) -> Check {
        let name = "joint error";
        if self.joints.is_empty() {
            return self.skip(name, "the scene has no joints");
        }
        let Some(share) = self.joint_error.value else { return self.skip(name, NOT_MEASURED) };
        let message = format!(
            "largest joint error is {} ({}){}",
            output::rounded(self.max_joint_gap, self.step_rounding().length, "m"),
            output::of_half_width(share),
            self.coverage(self.steps - self.unmeasured_steps)
        );
        self.conclude(name, PENETRATION.judge(share), &self.joint_error, message)
    }

    pub(super) fn check_residual(&self) -> Check {
        let name = "contact laws";
        if self.has_no_contacts() && self.joints.is_empty() {
            return self.skip(name, "nothing touched, and the scene has no joints");
        }
        let Some(worst) = self.worst_residual else { return self.skip(name, NOT_MEASURED) };
        let worst = output::residual(worst);
        let mut coverage = self.coverage(self.steps - self.unmeasured_steps);
        let open = match self.unconverged_steps {
            0 => String::new(),
            // A run with accuracy = exact should have no such steps: their effect on positions is judged instead.
            n if self.inexact_displacement > 0.0 => format!(
                " ({n} of {} steps above the tolerance, whose largest residuals add up to an offset of {})",
                self.steps,
                output::of_half_width(self.inexact_displacement)
            ),
            n => format!(" ({n} of {} steps above the tolerance)", self.steps),
        };
        let relative = self.residual.value.map_or(Verdict::Pass, |value| RESIDUAL.judge(value));
        let inexact = INEXACT.judge(self.inexact_displacement);
        let mut exact = relative.max(inexact);
        let exact_worst = if inexact > relative || self.residual.value.is_none() {
            &self.inexact
        } else {
            &self.residual
        };
        if self.has_friction && self.settings.method == Method::ActiveSet {
            coverage += "; active-set ignores friction";
            exact = exact.max(Verdict::Warn);
        }
        let Some(moved) = self.swept_residual.value else {
            let message =
                format!("worst residual of contacts and joints is {worst}{open}{coverage}");
            return self.conclude(name, exact, exact_worst, message);
        };
        let swept = SWEPT_RESIDUAL.judge(moved);
        let message = format!(
            "worst residual of contacts and joints is {worst}{open}; in swept steps it causes an offset of {} or less per \
             step{coverage}",
            output::of_half_width(moved)
        );
        let place = if exact > swept { exact_worst } else { &self.swept_residual };
        self.conclude(name, exact.max(swept), place, message)
    }

    /// Returns whether no pair of bodies came near each other.
    pub(super) fn has_no_contacts(&self) -> bool {
        self.most_contacts == 0 && self.penetration.value.is_none()
    }

    pub(super) fn check_tunneling(&self) -> Check {
        let followed = self.settings.continuous != Continuous::Never;
        let value = self.travel.value.unwrap_or(0.0);
        if value <= MAX_TRAVEL || followed {
            let message = match value <= MAX_TRAVEL {
                true => "no body moved far enough in a step to pass through another",
                false => {
                    "continuous collision covered all bodies fast enough to pass through others"
                }
            };
            let message = message.to_owned();
            return self.conclude("tunneling", Verdict::Pass, &WorstValue::default(), message);
        }
        let size = self.travel.bodies.first().map_or(0.0, |&body| self.scales.size(body));
        let message = format!(
            "a body {} wide moved {value:.1} times the combined half widths of it and the thinnest other body \
             in one step: it may have tunneled",
            output::quantity(2.0 * size, "m"),
        );
        self.conclude("tunneling", Verdict::Warn, &self.travel, message)
    }

    pub(super) fn check_impacts(&self) -> Check {
        let name = "impacts";
        let none = self.unresolved_impacts_sum;
        if none > 0 {
            let share = none as f64 / (self.counts.hits + none) as f64;
            let mut message = format!(
                "{} left without a bounce ({} of all): too many within a substep",
                output::count(none as usize, "impact"),
                output::share(share)
            );
            let mut verdict = UNRESOLVED_IMPACTS.judge(share);
            if self.exhausted > 0 {
                let times = output::count(self.exhausted as usize, "time");
                message += &format!(
                    "; {times} an island used up its impact work and continued with contacts alone"
                );
                verdict = Verdict::Fail;
            }
            return self.conclude(name, verdict, &self.unresolved_impacts, message);
        }
        if self.methods.exact_steps + self.methods.swept_steps == 0 && self.counts.hits > 0 {
            return self
                .skip(name, "the version that wrote the recording did not record the method");
        }
        if self.methods.swept_steps > 0 {
            let rest = match self.methods.exact_steps {
                0 => "",
                _ => "; exact steps resolved every impact at its own time",
            };
            let reason = format!(
                "swept steps resolve impacts at the end of the step, not at their own time{rest}"
            );
            return self.skip(name, &reason);
        }
        if self.counts.hits == 0 {
            return self.skip(name, "nothing hit anything faster than the rest speed");
        }
        let message = "every impact was resolved at its own time".to_owned();
        self.conclude(name, Verdict::Pass, &WorstValue::default(), message)
    }
}
