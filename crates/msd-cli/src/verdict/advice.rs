//! Advice for checks that do not pass: only changes that affect the run at hand.

use msd_sim::Method;

use super::Monitor;

impl Monitor {
    /// Returns advice for a check that does not pass. A test (`tests/acceptance/verdicts.rs`) verifies that each piece
    /// of advice improves the value of its check.
    pub(super) fn advice(&self, check: &str) -> Option<&'static str> {
        let swept = self.methods.swept_steps > 0;
        let limited = self.settings.method == Method::SoftStep && self.unconverged_steps > 0;
        match check {
            "energy drift" => Some("more substeps or a shorter dt"),
            "rest speed" => Some("a smaller rest_speed"),
            "penetration" if swept => Some("more substeps or a shorter dt"),
            "penetration" => Some("a shorter dt"),
            "joint error" if swept => {
                Some("a shorter dt, or max_exact_bodies = 4294967295 for exact steps")
            }
            "joint error" => Some("more substeps or a shorter dt"),
            "contact laws" if swept => {
                Some("a shorter dt, or max_exact_bodies = 4294967295 for exact steps")
            }
            "contact laws" if limited => Some("newton_work = 100000"),
            "contact laws" if self.settings.method == Method::Pgs => Some("more iterations"),
            "tunneling" => Some("continuous = \"auto\", or a shorter dt (see `msd check`)"),
            "impacts" if self.exhausted > 0 => Some("a shorter dt"),
            "impacts" => Some("a larger impact_work"),
            _ => None,
        }
    }
}
