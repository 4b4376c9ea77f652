//! The list of checks, and what all checks share: position of the worst value, advice, skipped checks.

use msd_record::BodyKey;

use super::monitor::Monitor;
use super::squeeze::Squeeze;
use super::worst_value::WorstValue;
use super::{Check, Verdict};
use crate::output;

pub(super) const NOT_AUDITED: &str = "`audit` is off, so energy and momentum were not measured";
pub(super) const SOME_STEPS: &str = "the recording holds only some of the steps";
pub(super) const NOTHING_TOUCHED: &str = "nothing touched";
pub(super) const NOT_MEASURED: &str = "not measured: swept steps measure it only with `audit` on";

impl Monitor {
    /// Returns all checks, including skipped ones.
    pub fn checks(&self) -> Vec<Check> {
        vec![
            self.check_finite(),
            self.check_bounds(),
            self.check_energy(),
            self.check_momentum(),
            self.check_drift(),
            self.check_rest_speed(),
            self.check_penetration(),
            self.check_joints(),
            self.check_residual(),
            self.check_tunneling(),
            self.check_impacts(),
        ]
    }

    pub(super) fn conclude(
        &self,
        name: &str,
        verdict: Verdict,
        worst: &WorstValue,
        message: String,
    ) -> Check {
        let bodies: Vec<String> = worst.bodies.iter().map(|&body| self.name(body)).collect();
        let mut quoted: Vec<String> = bodies.iter().map(|name| output::quoted(name)).collect();
        if let (Some(colliders), [a, b]) = (worst.colliders, worst.bodies.as_slice()) {
            let named = [(*a, colliders[0]), (*b, colliders[1])];
            let named = named.map(|(body, one)| output::quoted(&self.names.collider(body, one)));
            quoted = named.to_vec();
        }
        let mut place = String::new();
        let step = worst.step.filter(|_| worst.value != Some(0.0));
        if let Some(step) = step {
            place = format!(", at step {step}");
            match quoted.as_slice() {
                [] => {}
                [one] => place += &format!(" for {one}"),
                [a, b] => place += &format!(" between {a} and {b}"),
                [a, b, more @ ..] => place += &format!(" for {a}, {b} and {} more", more.len()),
            }
        }
        let squeeze = self.squeeze_behind(name, worst).filter(|_| verdict != Verdict::Pass);
        let advice = match (self.advice(name), squeeze) {
            // No setting helps if there is no room for a body.
            (Some(_), Some(squeeze)) => self.describe_squeeze(squeeze),
            // No setting helps against a violation in the initial state.
            (Some(_), None) if worst.step == Some(0) && verdict != Verdict::Pass => {
                "; this is the initial state of the scene".to_owned()
            }
            (Some(advice), None) if matches!(verdict, Verdict::Warn | Verdict::Fail) => {
                format!("; try {advice}")
            }
            _ => String::new(),
        };
        let (name, message) = (name.to_owned(), message + &place + &advice);
        Check { name, verdict, message, step, bodies }
    }

    /// Returns a check that was not judged, with the reason.
    pub(super) fn skip(&self, name: &str, reason: &str) -> Check {
        let message = format!("skipped: {reason}");
        Check { name: name.to_owned(), verdict: Verdict::Skip, message, step: None, bodies: vec![] }
    }

    pub(super) fn name(&self, body: BodyKey) -> String {
        self.names.body(body).into_owned()
    }

    /// Returns the squeeze that causes what a check found, if any.
    fn squeeze_behind(&self, check: &str, worst: &WorstValue) -> Option<&Squeeze> {
        let squeezes = [&self.squeeze, &self.impact_squeeze].into_iter().flatten();
        match check {
            "penetration" => self.squeeze.as_ref(),
            "impacts" => self.impact_squeeze.as_ref(),
            "contact laws" => squeezes.into_iter().find(|squeeze| {
                !worst.bodies.is_empty()
                    && worst.bodies.iter().all(|body| squeeze.chain.contains(body))
            }),
            _ => None,
        }
    }

    fn describe_squeeze(&self, squeeze: &Squeeze) -> String {
        let Squeeze { by, body, .. } = squeeze;
        let [a, b, body] = [by[0], by[1], *body].map(|body| output::quoted(&self.name(body)));
        format!("; cause: {a} and {b} squeeze {body}, and environment bodies never yield")
    }

    /// Describes how many steps a check covers, unless all.
    pub(super) fn coverage(&self, judged: u64) -> String {
        match judged == self.steps {
            true => String::new(),
            false => format!(" in the {judged} of {} steps that measured it", self.steps),
        }
    }

    fn check_finite(&self) -> Check {
        let (verdict, message) = match self.counts.quarantined {
            0 => (Verdict::Pass, "all states stayed finite".to_owned()),
            n => (
                Verdict::Fail,
                format!("{} reset (first shown)", output::count(n as usize, "non-finite state")),
            ),
        };
        self.conclude("finite", verdict, &self.quarantined, message)
    }
}
