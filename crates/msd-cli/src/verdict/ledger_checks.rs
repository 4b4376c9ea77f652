//! The checks of the energy and momentum ledgers.

use super::checks::{NOT_AUDITED, NOTHING_TOUCHED, SOME_STEPS};
use super::monitor::Monitor;
use super::thresholds::{DRIFT, LEDGER, REST_SPEED};
use super::worst_value::WorstValue;
use super::{Check, Verdict};
use crate::output;
use crate::scales::relative;

/// Share of the energy in motion below which a gain is not mentioned.
const ROUNDING: f64 = 1e-9;

impl Monitor {
    pub(super) fn check_energy(&self) -> Check {
        let name = "energy ledger";
        if self.audited_steps == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        let Some(error) = self.energy_error.value else {
            return self.skip(
                name,
                "the version that wrote the recording measured only the total work of contacts and joints in swept steps",
            );
        };
        let share = relative(error, self.scales.ledger_magnitude());
        let message = format!(
            "largest energy error of a step is {}{}",
            output::share_of(share, "the energy in the ledger"),
            self.coverage(self.itemized_steps)
        );
        let place = if share < f64::EPSILON { &WorstValue::default() } else { &self.energy_error };
        self.conclude(name, LEDGER.judge(share), place, message)
    }

    pub(super) fn check_momentum(&self) -> Check {
        let name = "momentum ledger";
        if self.audited_steps == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        let exact = self.momentum_error.value.unwrap_or(0.0);
        let linear = self.swept_linear_error.value.unwrap_or(0.0);
        let close = if exact > linear || exact.is_nan() { exact } else { linear };
        let mut message = format!(
            "largest momentum error of a step is {}{}",
            output::share_of(close, "the momentum in the ledger"),
            self.coverage(self.audited_steps)
        );
        let mut verdict = LEDGER.judge(close);
        let nowhere = WorstValue::default();
        let mut worst =
            if exact >= linear { &self.momentum_error } else { &self.swept_linear_error };
        if let Some(angular) = self.swept_angular_error.value {
            message += &format!(
                "; in swept steps, which conserve angular momentum only to first order in dt, its error is {}",
                output::share(angular)
            );
            let judged = DRIFT.judge(angular);
            if judged > verdict {
                (verdict, worst) = (judged, &self.swept_angular_error);
            }
        }
        if verdict == Verdict::Pass && close < f64::EPSILON {
            worst = &nowhere;
        }
        self.conclude(name, verdict, worst, message)
    }

    pub(super) fn check_drift(&self) -> Check {
        let name = "energy drift";
        if self.audited_steps == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        if self.steps_missing {
            return self.skip(name, SOME_STEPS);
        }
        let scale = self.scales.energy();
        if !(scale > 0.0) {
            return self.skip(
                name,
                "nothing moves and nothing can fall, so there is no energy to compare with",
            );
        }
        let terms = &self.energy.terms;
        let mut drift = terms.integration.unwrap_or(0.0) + terms.position_correction.unwrap_or(0.0);
        if !self.joints_dissipate {
            // Rigid joints do no work: position correction returns the energy attributed to them.
            drift += terms.joints.unwrap_or(0.0);
        }
        // Contacts and joints can only remove energy, so energy added in swept steps is an error.
        let gained = self.energy.gained.unwrap_or(0.0);
        let share = relative(if gained > drift.abs() { gained } else { drift }, scale);
        let of = format!(" ({})", output::share_of(share.abs(), "the energy in motion"));
        let rounding = self.scales.energy_rounding(self.audited_steps);
        let mut parts = Vec::new();
        if self.itemized_steps > 0 {
            let of = if gained > drift.abs() { "" } else { &of };
            parts.push(format!("discretization {}{of}", changed(drift, rounding)));
        }
        if let Some(sum) = terms.unsplit {
            parts.push(format!(
                "in swept steps contacts, joints and discretization together {}, and errors that remove energy are not \
                 detected",
                changed(sum, rounding)
            ));
        }
        if gained > drift.abs() || gained > ROUNDING * scale {
            let of = if gained > drift.abs() { &of } else { "" };
            let gained = output::quantity(gained, "J");
            parts.push(format!("energy rose by {gained} in swept steps{of}"));
        }
        let joints = terms.joints.unwrap_or(0.0);
        if self.joints_dissipate && joints.abs() > ROUNDING * scale {
            let joints = changed(joints, rounding);
            parts
                .push(format!("joints {joints}, which ropes and dampers may do and is not judged"));
        }
        let message = parts.join("; ");
        self.conclude(name, DRIFT.judge(share.abs()), &WorstValue::default(), message)
    }

    pub(super) fn check_rest_speed(&self) -> Check {
        let name = "rest speed";
        if self.audited_steps == 0 {
            return self.skip(name, NOT_AUDITED);
        }
        if self.steps_missing {
            return self.skip(name, SOME_STEPS);
        }
        if self.has_no_contacts() {
            return self.skip(name, NOTHING_TOUCHED);
        }
        let loss = self.energy.rest_speed_loss.unwrap_or(f64::NAN);
        if loss.is_nan() {
            return self.skip(name, "the version that wrote the recording did not measure it");
        }
        let share = relative(loss, self.scales.energy());
        let message = format!(
            "impacts slower than rest_speed = {} do not bounce, which removed {} ({})",
            output::quantity(self.settings.rest_speed, "m/s"),
            output::rounded(loss, self.scales.energy_rounding(self.audited_steps), "J"),
            output::share_of(share, "the energy in motion")
        );
        self.conclude(name, REST_SPEED.judge(share), &WorstValue::default(), message)
    }
}

/// Returns a change of energy in words.
fn changed(energy: f64, rounding: f64) -> String {
    if energy.abs() <= rounding {
        return "changed nothing".to_owned();
    }
    let verb = if energy > 0.0 { "added" } else { "removed" };
    format!("{verb} {}", output::quantity(energy.abs(), "J"))
}
