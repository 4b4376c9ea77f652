//! Pure numerics: finds impulses for a [`Problem`]. Knows no world.
//!
//! | method | what it solves |
//! |---|---|
//! | [`solve`] with [`Method::SoftStep`] | Coulomb friction, contact and joints, by sweeps and Newton steps |
//! | [`solve`] with [`Method::Pgs`] | the same by sweeps alone |
//! | [`active_set()`] | contact without friction and joints, exactly |
//! | `conic` (feature `conic`) | Coulomb friction, contact and joints, exactly |

mod active_set;
mod block_matrix;
#[cfg(feature = "conic")]
mod conic;
mod delassus;
mod dense;
mod integrate;
mod newton;
pub(crate) mod position_correction;
mod problem;
pub(crate) mod restitution;
mod sweep;

pub use active_set::active_set;
#[cfg(feature = "conic")]
pub use conic::{DelassusAnswer, DelassusProblem, conic};
pub use delassus::{Delassus, write_back};
pub use integrate::rotate_freely;
pub use problem::{Block, Law, Problem, Residual, Row, SolveReport, SolverBody, residual};
pub(crate) use problem::{block_residual, worst_block};
use sweep::sweep;

use crate::settings::{Method, Settings};
use active_set::ActiveSet;
use newton::Newton;

/// What a solver keeps between solves: buffers, no state.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    newton: Newton,
    active_set: ActiveSet,
}

/// Finds the impulses of one island with the method that the settings name.
///
/// Starts from the impulses that stand in the blocks, and fills every block's coupling. A problem that
/// [`Problem::check`] refuses, or settings out of their range, leave everything as it is:
/// the report has no iterations, `converged: false` and an infinite residual.
pub fn solve(problem: &mut Problem<'_>, settings: &Settings, scratch: &mut Scratch) -> SolveReport {
    if settings.check_ranges().is_err() || problem.check().is_err() {
        return active_set::rejected();
    }
    find_impulses(problem, settings, scratch)
}

/// The same for a problem that is well formed, as those of a world are.
pub(crate) fn find_impulses(
    problem: &mut Problem<'_>,
    settings: &Settings,
    scratch: &mut Scratch,
) -> SolveReport {
    for block in problem.blocks.iter_mut() {
        block.compute_delassus(problem.bodies);
    }
    match settings.method {
        Method::SoftStep => soft_step(problem, settings, scratch),
        Method::Pgs => pgs(problem, settings),
        Method::ActiveSet => {
            let most = settings.iterations as usize;
            scratch.active_set.solve(problem, settings.tolerance, most)
        }
        #[cfg(feature = "conic")]
        Method::Conic => conic(problem, settings.tolerance, settings.iterations as usize),
    }
}

/// A few sweeps; then, where the residual says that they were not enough, Newton steps.
fn soft_step(problem: &mut Problem<'_>, settings: &Settings, scratch: &mut Scratch) -> SolveReport {
    let mut iterations = 0;
    let mut found = residual(problem.bodies, problem.blocks);
    if found.relative() > settings.tolerance {
        for _ in 0..settings.sweeps {
            sweep(problem.bodies, problem.blocks);
        }
        iterations += settings.sweeps;
        found = residual(problem.bodies, problem.blocks);
    }
    if found.relative() > settings.tolerance {
        let (steps, improved) = scratch.newton.improve(
            problem,
            &found,
            settings.tolerance,
            settings.newton_steps,
            settings.newton_work,
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

/// Sweeps to the tolerance.
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
