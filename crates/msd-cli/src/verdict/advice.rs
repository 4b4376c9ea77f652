//! Advice for checks that do not pass: only changes that affect the run at hand.

use msd_sim::{Accuracy, Method};

use super::Monitor;

impl Monitor {
    /// Returns advice for a check that does not pass. A test (`tests/acceptance/verdicts.rs`) verifies that each piece
    /// of advice improves the value of its check.
    pub(super) fn advice(&self, check: &str) -> Option<&'static str> {
        let swept = self.methods.swept_steps > 0;
        let limited = self.settings.method == Method::SoftStep && self.unconverged_steps > 0;
        let exact = self.settings.accuracy == Accuracy::Exact;
        let is_limit = |name: &str| matches!(name, "max_exact_bodies" | "max_exact_cost");
        let limited_to_sweep = self.settings.overrides().any(|(name, _)| is_limit(name));
        let overridden = self.settings.overrides().any(|(name, _)| !is_limit(name));
        match check {
            "energy drift" => Some("more substeps or a shorter dt"),
            "rest speed" => Some("a smaller rest_speed"),
            "penetration" if swept => Some("more substeps or a shorter dt"),
            "penetration" => Some("a shorter dt"),
            "joint error" | "contact laws" if swept && limited_to_sweep => Some(
                "a shorter dt, or accuracy = \"exact\" without max_exact_bodies and max_exact_cost",
            ),
            "joint error" | "contact laws" if swept => {
                Some("a shorter dt, or accuracy = \"exact\"")
            }
            "joint error" => Some("more substeps or a shorter dt"),
            "contact laws" if limited && overridden => {
                Some("accuracy = \"exact\" without newton_steps and newton_work")
            }
            "contact laws" if limited && exact && cfg!(feature = "conic") => {
                Some("a shorter dt, or solver = \"conic\"")
            }
            "contact laws" if limited && exact => Some("a shorter dt"),
            "contact laws" if limited => Some("accuracy = \"exact\""),
            "contact laws" if self.settings.method == Method::Pgs => Some("more iterations"),
            "tunneling" => Some("continuous = \"auto\", or a shorter dt (see `msd check`)"),
            "impacts" if self.exhausted > 0 => Some("a shorter dt"),
            "impacts" => Some("a larger impact_work"),
            _ => None,
        }
    }
}
