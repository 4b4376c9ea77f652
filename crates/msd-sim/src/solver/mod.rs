//! Contact solvers: impulses for a [`Problem`]. Independent of bodies and worlds.
//!
//! | method | solves |
//! |---|---|
//! | [`solve`] with [`Method::SoftStep`] | contacts with Coulomb friction and joints, by sweeps and Newton steps |
//! | [`solve`] with [`Method::Pgs`] | the same by sweeps alone |
//! | [`active_set()`] | frictionless contacts and joints, exactly |
//! | `conic` (feature `conic`) | contacts with Coulomb friction and joints, exactly |
//!
//! The last two are the oracles of the others: they are in a crate of their own, `msd-oracle`, which shares no code with
//! this module. The problem and its residual, by which all are measured, are in `msd-problem`.

mod batches;
mod block6;
mod block_matrix;
mod effort;
mod group_kernels;
mod integrate;
mod interior;
mod least_norm;
mod newton;
mod pattern;
pub(crate) mod position_correction;
#[cfg(test)]
mod random_problem;
pub(crate) mod restitution;
mod row_groups;
mod sweep;

#[doc(inline)]
pub use msd_oracle::{Delassus, active_set, write_back};
#[cfg(feature = "conic")]
#[doc(inline)]
pub use msd_oracle::{DelassusProblem, DelassusSolution, conic};
#[doc(inline)]
pub use msd_problem::{Block, Law, Problem, Residual, Row, SolveReport, SolverBody, residual};
pub(crate) use msd_problem::{block_residual, worst_block};

use msd_oracle::ActiveSet;
use msd_problem::{max_tangent_delassus, norm};

pub use integrate::rotate_freely;
pub(crate) use integrate::{exponential, unit};

use crate::math::Vec3;
use crate::settings::{Method, Settings};
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

/// Cost of a block product of Newton's method, in visits of a block by a sweep.
const PRODUCT_COST: u64 = 2;

impl Scratch {
    /// Returns the cost of the solves since the last call, in visits of a block by a sweep.
    pub(crate) fn take_cost(&mut self) -> u64 {
        self.sweeps.take_visits() + PRODUCT_COST * self.newton.take_products()
    }
}

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
        return SolveReport::rejected();
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

/// Sweeps a few times, then takes Newton steps if the residual still exceeds the tolerance. Where surfaces slide or open,
/// more sweeps come first, and the tolerance is that of motion ([`Effort::InMotion`]).
fn soft_step(
    problem: &mut Problem<'_>,
    settings: &Settings,
    effort: Effort,
    scratch: &mut Scratch,
) -> SolveReport {
    let mut effort = effort.with_accuracy(settings.accuracy);
    let Scratch { sweeps, newton, .. } = scratch;
    sweeps.sweep(problem, settings.sweeps);
    let mut iterations = settings.sweeps;
    let mut found = residual(problem.bodies, problem.blocks);
    if let Effort::InMotion { slow } = effort {
        let most = effort.sweeps_before_newton(problem);
        let goal = effort.tolerance(problem, settings, &found);
        // The sweeps above have loaded the problem.
        iterations += sweep_on(problem, &mut found, goal, most, sweeps);
        if !any_slides_or_opens(problem, slow) {
            // The impulses stop it, so it may come to rest here.
            effort = Effort::Landing;
        }
    }
    let budget = effort.budget(problem, settings, &found);
    if found.relative() > effort.polish() * budget.tolerance {
        let (steps, improved) = newton.improve(problem, &found, &budget, sweeps);
        iterations += steps;
        found = improved;
    }
    let most = effort.sweeps_after_newton(problem, settings);
    iterations += sweep_until(problem, &mut found, ENOUGH, most, sweeps);
    SolveReport {
        iterations: iterations as usize,
        converged: found.relative() <= settings.tolerance,
        residual: found,
    }
}

/// Returns whether any surfaces slide or open faster than `speed` with the impulses so far.
fn any_slides_or_opens(problem: &Problem<'_>, speed: f64) -> bool {
    problem.blocks.iter().any(|block| slides_or_opens(block.velocity(problem.bodies), speed))
}

/// Returns whether surfaces with the relative velocity `u`, normal first, slide or open faster than `speed`. A gap that
/// closes does neither: bodies that land on each other may come to rest.
pub(crate) fn slides_or_opens(u: Vec3, speed: f64) -> bool {
    u.x > speed || u.y * u.y + u.z * u.z > speed * speed
}

/// Sweeps until the relative residual is at most `goal`, up to `most` times. Returns the number of sweeps.
fn sweep_until(
    problem: &mut Problem<'_>,
    found: &mut Residual,
    goal: f64,
    most: u32,
    sweeps: &mut Sweeps,
) -> u32 {
    if most == 0 || found.relative() <= goal {
        return 0;
    }
    sweeps.load(problem);
    sweep_on(problem, found, goal, most, sweeps)
}

/// Sweeps likewise, from the impulses and velocities of the last sweep over this problem.
fn sweep_on(
    problem: &mut Problem<'_>,
    found: &mut Residual,
    goal: f64,
    most: u32,
    sweeps: &mut Sweeps,
) -> u32 {
    let mut count = 0;
    while found.relative() > goal && count < most {
        // The residual that a sweep leaves is below the changes that it makes, as a rule.
        count += sweeps.accelerate(goal * found.scale, most - count);
        sweeps.store(problem);
        *found = residual(problem.bodies, problem.blocks);
    }
    count
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
