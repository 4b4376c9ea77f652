//! Contact solvers: impulses for a [`Problem`]. Independent of bodies and worlds.
//!
//! | method | solves |
//! |---|---|
//! | [`solve`] with [`Method::SoftStep`] | contacts with Coulomb friction and joints, by sweeps and Newton steps |
//! | [`solve`] with [`Method::Pgs`] | the same by sweeps alone |
//! | [`active_set()`] | frictionless contacts and joints, exactly |
//! | `conic` (feature `conic`) | contacts with Coulomb friction and joints, exactly |

mod active_set;
mod batches;
mod block6;
mod block_matrix;
#[cfg(feature = "conic")]
mod conic;
mod delassus;
mod dense;
mod group_kernels;
mod integrate;
mod interior;
mod least_norm;
mod newton;
mod pattern;
pub(crate) mod position_correction;
mod problem;
#[cfg(test)]
mod random_problem;
pub(crate) mod restitution;
mod row_groups;
mod sweep;

pub use active_set::active_set;
#[cfg(feature = "conic")]
pub use conic::{DelassusProblem, DelassusSolution, conic};
pub use delassus::{Delassus, write_back};
pub use integrate::rotate_freely;
pub use problem::{Block, Law, Problem, Residual, Row, SolveReport, SolverBody, residual};
pub(crate) use problem::{block_residual, worst_block};

use crate::settings::{Accuracy, Method, Settings};
use active_set::ActiveSet;
use least_norm::share_loads;
use newton::{Budget, Interior, Newton, STALLS};
pub(crate) use sweep::Sweeps;

/// The buffers of a solver, reused between solves. They carry no state.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) sweeps: Sweeps,
    newton: Newton,
    active_set: ActiveSet,
    /// The points of a pair that touch.
    closed: Vec<u32>,
}

/// The work that an island gets by [`Method::SoftStep`].
#[derive(Clone, Copy, Debug)]
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

/// Share of the tolerance above which the result of sweeps gets a Newton step, unless the island is in motion.
const POLISH: f64 = 1e-3;

/// Relative residual at which the sweeps after Newton steps that failed end: a ten-thousandth of the largest speed.
const ENOUGH: f64 = 1e-4;

/// Share of the tolerance to which loads are known before they are shared: among four points, the largest impulse, by which
/// errors are measured, can become a quarter.
const SHARED: f64 = 0.125;

/// Maximum number of these sweeps, and of their block visits.
const MAX_SWEEPS: usize = 500;
const MAX_VISITS: usize = 80_000;

/// Sweeps of an island at rest for which Newton's method has not the work, at least: it moves in one step before it is
/// swept.
const SWEEPS_AT_REST: usize = 50;

/// Solves one island with the method chosen in the settings.
///
/// Starts from the impulses in the blocks (a warm start) and fills every block's `delassus`. If
/// [`Problem::check`] rejects the problem or a setting is out of range, nothing changes, and the
/// report has no iterations, `converged: false` and an infinite residual.
pub fn solve(problem: &mut Problem<'_>, settings: &Settings, scratch: &mut Scratch) -> SolveReport {
    if settings.check_ranges().is_err() || problem.check().is_err() {
        return active_set::rejected();
    }
    find_impulses(problem, settings, Effort::Full, scratch)
}

/// Solves a problem that is known to be well formed, such as those built from a world. Impulses that satisfy every law
/// to the tolerance are left as they are, whatever the method.
pub(crate) fn find_impulses(
    problem: &mut Problem<'_>,
    settings: &Settings,
    effort: Effort,
    scratch: &mut Scratch,
) -> SolveReport {
    for block in problem.blocks.iter_mut() {
        block.compute_delassus(problem.bodies);
    }
    let start = residual(problem.bodies, problem.blocks);
    if start.relative() <= settings.tolerance {
        return SolveReport { iterations: 0, converged: true, residual: start };
    }
    let report = match settings.method {
        Method::SoftStep => soft_step(problem, settings, effort, scratch),
        Method::Pgs => pgs(problem, settings, &mut scratch.sweeps),
        Method::ActiveSet => {
            let max_iterations = settings.iterations as usize;
            scratch.active_set.solve(problem, settings.tolerance, max_iterations)
        }
        #[cfg(feature = "conic")]
        Method::Conic => conic(problem, settings.tolerance, settings.iterations as usize),
    };
    let known = report.residual.relative() <= SHARED * settings.tolerance;
    // The speed of a point that sticks has a normal and a tangential part, each within the residual.
    let still = 2.0 * SHARED * settings.tolerance * report.residual.scale;
    let shares = known && !matches!(effort, Effort::Impact);
    if !shares || !share_loads(problem, still, &mut scratch.closed) {
        return report;
    }
    let found = residual(problem.bodies, problem.blocks);
    SolveReport { converged: found.relative() <= settings.tolerance, residual: found, ..report }
}

/// Sweeps a few times, then takes Newton steps if the residual still exceeds the tolerance.
fn soft_step(
    problem: &mut Problem<'_>,
    settings: &Settings,
    effort: Effort,
    scratch: &mut Scratch,
) -> SolveReport {
    // An exact solve gets all the work.
    let effort = match effort {
        Effort::Impact | Effort::InMotion if settings.accuracy == Accuracy::Exact => Effort::Full,
        effort => effort,
    };
    let Scratch { sweeps, newton, .. } = scratch;
    sweeps.sweep(problem, settings.sweeps);
    let mut iterations = settings.sweeps;
    let mut found = residual(problem.bodies, problem.blocks);
    // One Newton step more leaves only rounding, where an error is one of energy.
    let polish = if matches!(effort, Effort::InMotion) { 1.0 } else { POLISH };
    if found.relative() > polish * settings.tolerance {
        let (steps, improved) =
            newton.improve(problem, &found, &budget(problem, settings, effort), sweeps);
        iterations += steps;
        found = improved;
    }
    let least = match effort {
        Effort::InMotion => Some(0),
        Effort::AtRest if settings.newton_step_limit() > 0 => Some(SWEEPS_AT_REST),
        _ => None,
    };
    if let Some(least) = least.filter(|_| found.relative() > ENOUGH) {
        let (count, improved) = sweep_until(problem, &found, least, sweeps);
        iterations += count;
        found = improved;
    }
    SolveReport {
        iterations: iterations as usize,
        converged: found.relative() <= settings.tolerance,
        residual: found,
    }
}

/// Returns whether some bodies of an island are much heavier than others.
fn is_uneven(problem: &Problem<'_>) -> bool {
    let inverse = problem.members.iter().map(|&body| problem.bodies[body as usize].inverse_mass);
    let (least, most) = inverse
        .fold((f64::INFINITY, 0.0_f64), |(least, most), mass| (least.min(mass), most.max(mass)));
    most >= UNEVEN * least
}

/// Returns the limits of Newton's method.
fn budget(problem: &Problem<'_>, settings: &Settings, effort: Effort) -> Budget {
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
    match effort {
        Effort::Full => full,
        Effort::AtRest => Budget {
            steps: settings.newton_steps.unwrap_or(steps.max(STEPS_AT_REST)),
            work: settings.newton_work.unwrap_or(work.max(STEPS_AT_REST * PRODUCTS_AT_REST)),
            products: settings.newton_work.unwrap_or(work.max(PRODUCTS_AT_REST)),
            interior: IN_STRUCTURES,
            ..full
        },
        Effort::Impact => part,
        Effort::InMotion => Budget { steps: steps.min(STEPS_IN_MOTION), ..part },
    }
}

/// Sweeps until the residual is at most [`ENOUGH`], or the visits are used up, but `least` times. Returns the number of
/// sweeps and the residual.
fn sweep_until(
    problem: &mut Problem<'_>,
    start: &Residual,
    least: usize,
    sweeps: &mut Sweeps,
) -> (u32, Residual) {
    let visits = MAX_VISITS / problem.blocks.len().max(1);
    let most = visits.clamp(least, MAX_SWEEPS) as u32;
    let (mut count, mut found) = (0, *start);
    sweeps.load(problem);
    while found.relative() > ENOUGH && count < most {
        // The residual that a sweep leaves is below the changes that it makes, as a rule.
        count += sweeps.accelerate(ENOUGH * found.scale, most - count);
        sweeps.store(problem);
        found = residual(problem.bodies, problem.blocks);
    }
    (count, found)
}

/// Sweeps until the residual is within the tolerance, and loads can be shared.
fn pgs(problem: &mut Problem<'_>, settings: &Settings, sweeps: &mut Sweeps) -> SolveReport {
    let mut report = SolveReport::default();
    sweeps.load(problem);
    let mut shared = false;
    while !shared && report.iterations < settings.iterations as usize {
        sweeps.run(1);
        sweeps.store(problem);
        report.iterations += 1;
        report.residual = residual(problem.bodies, problem.blocks);
        let relative = report.residual.relative();
        report.converged = relative <= settings.tolerance;
        shared = relative <= SHARED * settings.tolerance;
    }
    report
}
