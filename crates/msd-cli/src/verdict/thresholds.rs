//! The limits above which checks warn or fail.

use super::Verdict;

/// Residual of exact steps, relative to the speeds of their islands.
pub(super) const RESIDUAL: Thresholds = Thresholds { warn: 1e-3, fail: 1e-1 };
/// Position error that the residual of a swept step causes in that step, as a fraction of the smaller body's half
/// width: a swept step does not solve to a tolerance, so its effect on positions is judged instead.
pub(super) const SWEPT_RESIDUAL: Thresholds = Thresholds { warn: 1e-2, fail: 1e-1 };
/// Displacement that the steps above the tolerance of a run with `accuracy = exact` can have caused together, as a fraction of
/// the smaller body's half width: fails at what an overlap warns of, and warns at a hundredth of that.
pub(super) const INEXACT: Thresholds = Thresholds { warn: 1e-4, fail: 1e-2 };
/// Overlap, and position error of joints, as a fraction of the smaller body's half width.
pub(super) const PENETRATION: Thresholds = Thresholds { warn: 1e-2, fail: 1e-1 };
/// Error of the ledger of a step, as a fraction of its energy or momentum: more than rounding is a defect.
pub(super) const LEDGER: Thresholds = Thresholds { warn: 1e-9, fail: 1e-9 };
/// Total energy and angular momentum that discretization added or removed, as a fraction of those in motion.
pub(super) const DRIFT: Thresholds = Thresholds { warn: 1e-2, fail: 1e-1 };
/// Distance moved in one step, relative to the sum of the half widths of the body and of the thinnest other body.
pub(super) const MAX_TRAVEL: f64 = 1.0;
/// Impacts left without a bounce because there were too many, as a fraction of all.
pub(super) const UNRESOLVED_IMPACTS: Thresholds = Thresholds { warn: 0.0, fail: f64::INFINITY };
/// Energy lost to impacts slower than `rest_speed`, as a fraction of the energy in motion.
pub(super) const REST_SPEED: Thresholds = Thresholds { warn: 5e-2, fail: f64::INFINITY };

/// The limits of a check.
pub(super) struct Thresholds {
    pub(super) warn: f64,
    pub(super) fail: f64,
}

impl Thresholds {
    /// Judges a value; NaN fails.
    pub(super) fn judge(&self, value: f64) -> Verdict {
        if value <= self.warn {
            Verdict::Pass
        } else if value <= self.fail {
            Verdict::Warn
        } else {
            Verdict::Fail
        }
    }
}
