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
mod effort;
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
pub(crate) use integrate::{exponential, unit};
pub use problem::{Block, Law, Problem, Residual, Row, SolveReport, SolverBody, residual};
pub(crate) use problem::{block_residual, worst_block};

use crate::settings::{Method, Settings};
use active_set::ActiveSet;
use effort::ENOUGH;
pub(crate) use effort::Effort;
use least_norm::share_loads;
use newton::Newton;
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

/// Share of the tolerance above which the result of sweeps gets a Newton step, unless the island is in motion.
const POLISH: f64 = 1e-3;

/// Share of the tolerance to which loads are known before they are shared: among four points, the largest impulse, by which
/// errors are measured, can become a quarter.
const SHARED: f64 = 0.125;

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
    let shares = known && effort != Effort::Impact;
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
    let effort = effort.with_accuracy(settings.accuracy);
    let Scratch { sweeps, newton, .. } = scratch;
    sweeps.sweep(problem, settings.sweeps);
    let mut iterations = settings.sweeps;
    let mut found = residual(problem.bodies, problem.blocks);
    // One Newton step more leaves only rounding, where an error is one of energy.
    let polish = if effort == Effort::InMotion { 1.0 } else { POLISH };
    if found.relative() > polish * settings.tolerance {
        let (steps, improved) =
            newton.improve(problem, &found, &effort.budget(problem, settings), sweeps);
        iterations += steps;
        found = improved;
    }
    let most = effort.sweeps_after_newton(problem, settings);
    if most > 0 && found.relative() > ENOUGH {
        let (count, improved) = sweep_until(problem, &found, most, sweeps);
        iterations += count;
        found = improved;
    }
    SolveReport {
        iterations: iterations as usize,
        converged: found.relative() <= settings.tolerance,
        residual: found,
    }
}

/// Sweeps until the residual is at most [`ENOUGH`], up to `most` times. Returns the number of sweeps and the residual.
fn sweep_until(
    problem: &mut Problem<'_>,
    start: &Residual,
    most: u32,
    sweeps: &mut Sweeps,
) -> (u32, Residual) {
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
