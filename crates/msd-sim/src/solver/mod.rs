//! Contact solvers: impulses for a [`Problem`]. Independent of bodies and worlds.
//!
//! | method | solves |
//! |---|---|
//! | [`solve`] with [`Method::SoftStep`] | contacts with Coulomb friction and joints, by sweeps and Newton steps |
//! | [`solve`] with [`Method::Pgs`] | the same by sweeps alone |
//! | [`active_set()`] | frictionless contacts and joints, exactly |
//! | `conic` (feature `conic`) | contacts with Coulomb friction and joints, exactly |

mod active_set;
mod block6;
mod block_matrix;
#[cfg(feature = "conic")]
mod conic;
mod delassus;
mod dense;
mod group_kernels;
mod integrate;
mod newton;
mod pattern;
pub(crate) mod position_correction;
mod problem;
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
use sweep::sweep;

use crate::settings::{Accuracy, Method, Settings};
use active_set::ActiveSet;
use newton::Newton;

/// The buffers of a solver, reused between solves. They carry no state.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    newton: Newton,
    active_set: ActiveSet,
}

/// An island with impacts, or in which surfaces move relative to each other other than by coming to rest, gets this fraction
/// of the work for Newton steps: contacts change from substep to substep, and what accumulates are errors at rest.
const VIOLENT_MOTION: u32 = 6;

/// Returns the work for Newton steps on an island in violent motion. An exact solve gets all of it.
pub(crate) fn violent_newton_work(settings: &Settings) -> u32 {
    match settings.accuracy {
        Accuracy::Exact => settings.newton_work_limit(),
        Accuracy::Fast | Accuracy::Balanced => settings.newton_work_limit() / VIOLENT_MOTION,
    }
}

/// Solves one island with the method chosen in the settings.
///
/// Starts from the impulses in the blocks (a warm start) and fills every block's `delassus`. If
/// [`Problem::check`] rejects the problem or a setting is out of range, nothing changes, and the
/// report has no iterations, `converged: false` and an infinite residual.
pub fn solve(problem: &mut Problem<'_>, settings: &Settings, scratch: &mut Scratch) -> SolveReport {
    if settings.check_ranges().is_err() || problem.check().is_err() {
        return active_set::rejected();
    }
    find_impulses(problem, settings, settings.newton_work_limit(), scratch)
}

/// Solves a problem that is known to be well formed, such as those built from a world. Impulses that satisfy every law
/// to the tolerance are left as they are, whatever the method.
pub(crate) fn find_impulses(
    problem: &mut Problem<'_>,
    settings: &Settings,
    newton_work: u32,
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
        Method::SoftStep => soft_step(problem, settings, newton_work, scratch),
        Method::Pgs => pgs(problem, settings),
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
    newton_work: u32,
    scratch: &mut Scratch,
) -> SolveReport {
    for _ in 0..settings.sweeps {
        sweep(problem.bodies, problem.blocks);
    }
    let mut iterations = settings.sweeps;
    let mut found = residual(problem.bodies, problem.blocks);
    if found.relative() > settings.tolerance {
        let (steps, improved) = scratch.newton.improve(
            problem,
            &found,
            settings.tolerance,
            settings.newton_step_limit(),
            newton_work,
        );
        iterations += steps;
        found = improved;
    }
    SolveReport {
        iterations: iterations as usize,
        converged: found.relative() <= settings.tolerance,
        residual: found,
    }
}

/// Sweeps until the residual is within the tolerance.
fn pgs(problem: &mut Problem<'_>, settings: &Settings) -> SolveReport {
    let mut report = SolveReport::default();
    while !report.converged && report.iterations < settings.iterations as usize {
        sweep(problem.bodies, problem.blocks);
        report.iterations += 1;
        report.residual = residual(problem.bodies, problem.blocks);
        report.converged = report.residual.relative() <= settings.tolerance;
    }
    report
}
