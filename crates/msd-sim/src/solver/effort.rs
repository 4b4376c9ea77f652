//! The work that an island gets: Newton steps, the interior-point method, and sweeps after them.

use super::newton::{Budget, Interior, STALLS};
use super::problem::Problem;
use crate::settings::{Accuracy, Settings};

/// The work that an island gets by [`Method::SoftStep`](crate::Method::SoftStep).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// To the tolerance, with all the Newton steps and block products that the settings allow.
    Full,
    /// For an island whose contacts and joints do not move: then it either rests until its loads change, or moves. With
    /// more work, and by the interior-point method if Newton's method fails.
    AtRest,
    /// For an impact: with part of the work.
    Impact,
    /// For an island in which surfaces move relative to each other other than by coming to rest. Its contacts change
    /// from substep to substep, and only errors at rest accumulate. It gets part of the work and fewer Newton steps;
    /// if these do not converge, sweeps go on until the residual is at most [`ENOUGH`].
    InMotion,
}

/// Fraction of the settings' work for Newton steps in motion, and their maximum number.
const WORK_IN_MOTION: u32 = 6;
const STEPS_IN_MOTION: u32 = 20;

/// Newton steps of an island at rest, and block products of one of them, at least: some thousand bodies in a wall.
const STEPS_AT_REST: u32 = 60;
const PRODUCTS_AT_REST: u32 = 8_000_000;

/// The interior-point method where nothing moves: a structure stands if impulses without slip hold it, and finding them
/// is a convex problem. Coulomb's law alone may also allow it to slip.
const IN_STRUCTURES: Interior = Interior { steps: 25, failures: 1, shift: 0.0 };

/// The interior-point method under bodies that are much heavier than others: there Newton's method is slow.
const UNDER_HEAVY_BODIES: Interior = Interior { steps: 25, failures: u32::MAX, shift: 0.0 };

/// Ratio of masses that is uneven. A round of Newton's method divides errors by about its `rho`, up to 1e5, over the ratio.
const UNEVEN: f64 = 1e3;

/// The interior-point method if the accuracy is exact. With few Newton steps left after it, as in balanced solves, it
/// left some heaps worse than sweeps do.
const IN_EXACT_SOLVES: Interior = Interior { steps: 25, failures: 4, shift: 1.0 };

/// Relative residual at which the sweeps after Newton steps that failed end: a ten-thousandth of the largest speed.
pub(super) const ENOUGH: f64 = 1e-4;

/// Maximum number of these sweeps, and of their block visits.
const MAX_SWEEPS: usize = 500;
const MAX_VISITS: usize = 80_000;

/// Sweeps of an island at rest for which Newton's method has not the work, at least: it moves in one step before it is
/// swept.
const SWEEPS_AT_REST: usize = 50;

impl Effort {
    /// Returns the effort at an accuracy: an exact solve gets all the work.
    pub(super) fn with_accuracy(self, accuracy: Accuracy) -> Self {
        match self {
            Self::Impact | Self::InMotion if accuracy == Accuracy::Exact => Self::Full,
            effort => effort,
        }
    }

    /// Returns the limits of Newton's method.
    pub(super) fn budget(self, problem: &Problem<'_>, settings: &Settings) -> Budget {
        let exact = settings.accuracy == Accuracy::Exact;
        let (steps, work) = (settings.newton_step_limit(), settings.newton_work_limit());
        let full = Budget {
            tolerance: settings.tolerance,
            steps,
            work,
            products: work,
            stalls: if exact { u32::MAX } else { STALLS },
            interior: match exact {
                true => IN_EXACT_SOLVES,
                false if is_uneven(problem) => UNDER_HEAVY_BODIES,
                false => Interior::default(),
            },
        };
        let part = Budget { work: work / WORK_IN_MOTION, ..full };
        match self {
            Self::Full => full,
            Self::AtRest => Budget {
                steps: settings.newton_steps.unwrap_or(steps.max(STEPS_AT_REST)),
                work: settings.newton_work.unwrap_or(work.max(STEPS_AT_REST * PRODUCTS_AT_REST)),
                products: settings.newton_work.unwrap_or(work.max(PRODUCTS_AT_REST)),
                interior: IN_STRUCTURES,
                ..full
            },
            Self::Impact => part,
            Self::InMotion => Budget { steps: steps.min(STEPS_IN_MOTION), ..part },
        }
    }

    /// Returns the maximum number of sweeps after Newton steps that left more than [`ENOUGH`].
    pub(super) fn sweeps_after_newton(self, problem: &Problem<'_>, settings: &Settings) -> u32 {
        let least = match self {
            Self::InMotion => 0,
            Self::AtRest if settings.newton_step_limit() > 0 => SWEEPS_AT_REST,
            _ => return 0,
        };
        let visits = MAX_VISITS / problem.blocks.len().max(1);
        visits.clamp(least, MAX_SWEEPS) as u32
    }
}

/// Returns whether some bodies of an island are much heavier than others.
fn is_uneven(problem: &Problem<'_>) -> bool {
    let inverse = problem.members.iter().map(|&body| problem.bodies[body as usize].inverse_mass);
    let (least, most) = inverse
        .fold((f64::INFINITY, 0.0_f64), |(least, most), mass| (least.min(mass), most.max(mass)));
    most >= UNEVEN * least
}
