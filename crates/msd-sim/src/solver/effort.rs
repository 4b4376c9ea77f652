//! The work that an island gets: Newton steps, the interior-point method, and sweeps after them.

use super::newton::{Budget, Interior, STALLS};
use super::{Problem, Residual};
use crate::settings::{Accuracy, FEW_BODIES, Settings};

/// The work that an island gets by [`Method::SoftStep`](crate::Method::SoftStep).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effort {
    /// To the tolerance, with all the Newton steps and block products that the settings allow.
    Full,
    /// For an island whose contacts and joints do not move: then it either rests until its loads change, or moves. With
    /// more work, and by the interior-point method if Newton's method fails.
    AtRest,
    /// For an impact: with part of the work.
    Impact,
    /// For an island in which surfaces approach each other, but none slides or opens, or with joints in motion. It may
    /// rest where it lands, and an error would tilt it there: to the tolerance, with part of the work and fewer Newton steps; if these do not
    /// converge, sweeps go on until the residual is at most [`ENOUGH`].
    Landing,
    /// For an island in which surfaces slide or open faster than they would by coming to rest. Its contacts change from
    /// substep to substep, and only errors at rest accumulate: other bodies of the island may be at rest, so errors have
    /// to be small compared with the speed that forces give them. Sweeps until they are; where many sweeps do not
    /// suffice, or there are few bodies, Newton's method as in a landing.
    InMotion {
        /// Speed up to which surfaces are about to rest, m/s.
        slow: f64,
    },
}

/// Share of the tolerance above which the result of sweeps gets a Newton step, unless the island is in motion: one step
/// more leaves only rounding, where an error is one of energy.
const POLISH: f64 = 1e-3;

/// Fraction of the settings' work for Newton steps in motion, and their maximum number.
const WORK_IN_MOTION: u32 = 6;
const STEPS_IN_MOTION: u32 = 20;

/// Newton steps in motion that the work has to suffice for: with fewer the method hardly ever converges.
const LEAST_STEPS: u32 = 8;

/// Maximum number of sweeps before Newton's method, in motion. Ten of them take as long as one of its steps.
const SWEEPS_IN_MOTION: u32 = 100;

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

/// Relative residual at which the sweeps after Newton steps that failed end: a ten-thousandth of the largest speed. In
/// motion, the same fraction of the speed that forces give to a body at rest.
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
            Self::Impact | Self::Landing | Self::InMotion { .. } if accuracy == Accuracy::Exact => {
                Self::Full
            }
            effort => effort,
        }
    }

    /// Returns the relative residual to reach.
    pub(super) fn tolerance(
        self,
        problem: &Problem<'_>,
        settings: &Settings,
        found: &Residual,
    ) -> f64 {
        match self {
            Self::InMotion { slow } if !is_small(problem) => {
                (ENOUGH * slow / found.scale).min(ENOUGH).max(settings.tolerance)
            }
            _ => settings.tolerance,
        }
    }

    /// Returns the limits of Newton's method.
    pub(super) fn budget(
        self,
        problem: &Problem<'_>,
        settings: &Settings,
        found: &Residual,
    ) -> Budget {
        let exact = settings.accuracy == Accuracy::Exact;
        let (steps, work) = (settings.newton_step_limit(), settings.newton_work_limit());
        let full = Budget {
            tolerance: self.tolerance(problem, settings, found),
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
        let landing = Budget { steps: steps.min(STEPS_IN_MOTION), ..part };
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
            Self::Landing => landing,
            Self::InMotion { .. } if is_small(problem) => landing,
            Self::InMotion { .. } => {
                Budget { products: landing.products.min(landing.work / LEAST_STEPS), ..landing }
            }
        }
    }

    /// Returns the share of the tolerance above which Newton steps follow the sweeps.
    pub(super) fn polish(self) -> f64 {
        match self {
            Self::Landing | Self::InMotion { .. } => 1.0,
            _ => POLISH,
        }
    }

    /// Returns the maximum number of sweeps before Newton's method, in addition to those of the settings.
    pub(super) fn sweeps_before_newton(self, problem: &Problem<'_>) -> u32 {
        match self {
            Self::InMotion { .. } if !is_small(problem) => SWEEPS_IN_MOTION,
            _ => 0,
        }
    }

    /// Returns the maximum number of sweeps after Newton steps that left more than [`ENOUGH`].
    pub(super) fn sweeps_after_newton(self, problem: &Problem<'_>, settings: &Settings) -> u32 {
        let least = match self {
            Self::Landing | Self::InMotion { .. } => 0,
            Self::AtRest if settings.newton_step_limit() > 0 => SWEEPS_AT_REST,
            _ => return 0,
        };
        let visits = MAX_VISITS / problem.blocks.len().max(1);
        visits.clamp(least, MAX_SWEEPS) as u32
    }
}

/// Returns whether an island has so few bodies that it is solved to the tolerance in motion too.
fn is_small(problem: &Problem<'_>) -> bool {
    problem.members.len() <= FEW_BODIES
}

/// Returns whether some bodies of an island are much heavier than others.
fn is_uneven(problem: &Problem<'_>) -> bool {
    let inverse = problem.members.iter().map(|&body| problem.bodies[body as usize].inverse_mass);
    let (least, most) = inverse
        .fold((f64::INFINITY, 0.0_f64), |(least, most), mass| (least.min(mass), most.max(mass)));
    most >= UNEVEN * least
}
