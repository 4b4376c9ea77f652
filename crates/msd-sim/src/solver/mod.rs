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
use newton::{Budget, Newton};
pub(crate) use sweep::Sweeps;

/// The buffers of a solver, reused between solves. They carry no state.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) sweeps: Sweeps,
    newton: Newton,
    active_set: ActiveSet,
}

/// The work that an island gets by [`Method::SoftStep`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// To the tolerance, with all the Newton steps and block products that the settings allow.
    Full,
    /// For an impact: with part of the work.
    Impact,
    /// For an island in which surfaces move relative to each other other than by coming to rest. Its contacts change
    /// from substep to substep, and only errors at rest accumulate. It gets part of the work and fewer Newton steps;
    /// if these do not converge, sweeps go on until the residual is at most [`ENOUGH_IN_MOTION`].
    InMotion,
}

/// Fraction of the settings' work for Newton steps in motion, and their maximum number.
const WORK_IN_MOTION: u32 = 6;
const STEPS_IN_MOTION: u32 = 20;

/// Number of successive Newton rounds without progress that end the method, unless the accuracy is exact.
const STALLS: u32 = 3;

/// Maximum number of interior-point steps, if the accuracy is exact. With few Newton steps left after them, as in balanced
/// solves, they left some heaps worse than sweeps do.
const INTERIOR_STEPS: u32 = 25;

/// Share of the tolerance above which the result of sweeps gets a Newton step, unless the island is in motion.
const POLISH: f64 = 1e-3;

/// Relative residual at which the sweeps in motion end: a ten-thousandth of the largest speed.
const ENOUGH_IN_MOTION: f64 = 1e-4;

/// Maximum number of sweeps in motion, and of their block visits.
const SWEEPS_IN_MOTION: usize = 500;
const VISITS_IN_MOTION: usize = 80_000;

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
    match settings.method {
        Method::SoftStep => soft_step(problem, settings, effort, scratch),
        Method::Pgs => pgs(problem, settings, &mut scratch.sweeps),
        Method::ActiveSet => {
            let max_iterations = settings.iterations as usize;
            scratch.active_set.solve(problem, settings.tolerance, max_iterations)
        }
        #[cfg(feature = "conic")]
        Method::Conic => conic(problem, settings.tolerance, settings.iterations as usize),
    }
}

/// Sweeps a few times, then takes Newton steps if the residual still exceeds the tolerance.
fn soft_step(
    problem: &mut Problem<'_>,
    settings: &Settings,
    effort: Effort,
    scratch: &mut Scratch,
) -> SolveReport {
    // An exact solve gets all the work.
    let exact = settings.accuracy == Accuracy::Exact;
    let effort = if exact { Effort::Full } else { effort };
    let Scratch { sweeps, newton, .. } = scratch;
    sweeps.sweep(problem, settings.sweeps);
    let mut iterations = settings.sweeps;
    let mut found = residual(problem.bodies, problem.blocks);
    // One Newton step more leaves only rounding, where an error is one of energy.
    let polish = if matches!(effort, Effort::InMotion) { 1.0 } else { POLISH };
    if found.relative() > polish * settings.tolerance {
        let full = Budget {
            tolerance: settings.tolerance,
            steps: settings.newton_step_limit(),
            work: settings.newton_work_limit(),
            stalls: if exact { u32::MAX } else { STALLS },
            interior: if exact { INTERIOR_STEPS } else { 0 },
        };
        let part = Budget { work: full.work / WORK_IN_MOTION, ..full };
        let budget = match effort {
            Effort::Full => full,
            Effort::Impact => part,
            Effort::InMotion => Budget { steps: full.steps.min(STEPS_IN_MOTION), ..part },
        };
        let (steps, improved) = newton.improve(problem, &found, &budget, sweeps);
        iterations += steps;
        found = improved;
    }
    if matches!(effort, Effort::InMotion) && found.relative() > ENOUGH_IN_MOTION {
        let (count, improved) = sweep_until(problem, &found, ENOUGH_IN_MOTION, sweeps);
        iterations += count;
        found = improved;
    }
    SolveReport {
        iterations: iterations as usize,
        converged: found.relative() <= settings.tolerance,
        residual: found,
    }
}

/// Sweeps until the residual is at most `enough`, or the visits are used up. Returns the number of sweeps and the
/// residual.
fn sweep_until(
    problem: &mut Problem<'_>,
    start: &Residual,
    enough: f64,
    sweeps: &mut Sweeps,
) -> (u32, Residual) {
    let visits = VISITS_IN_MOTION / problem.blocks.len().max(1);
    let most = visits.min(SWEEPS_IN_MOTION) as u32;
    let (mut count, mut found) = (0, *start);
    sweeps.load(problem);
    while found.relative() > enough && count < most {
        // The residual that a sweep leaves is below the changes that it makes, as a rule.
        count += sweeps.accelerate(enough * found.scale, most - count);
        sweeps.store(problem);
        found = residual(problem.bodies, problem.blocks);
    }
    (count, found)
}

/// Sweeps until the residual is within the tolerance.
fn pgs(problem: &mut Problem<'_>, settings: &Settings, sweeps: &mut Sweeps) -> SolveReport {
    let mut report = SolveReport::default();
    sweeps.load(problem);
    while !report.converged && report.iterations < settings.iterations as usize {
        sweeps.run(1);
        sweeps.store(problem);
        report.iterations += 1;
        report.residual = residual(problem.bodies, problem.blocks);
        report.converged = report.residual.relative() <= settings.tolerance;
    }
    report
}
