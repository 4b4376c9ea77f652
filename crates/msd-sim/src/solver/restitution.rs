//! Restitution: an instantaneous impact, resolved in stages.
//!
//! Each stage resolves all approaching points together, and no others. A first solve, the
//! compression, brings them to rest and determines which of them take part; a second solve, the
//! restitution, makes each of these separate with `e` times its approach speed. Points that
//! approach after a stage belong to the next one, until none does. An impact therefore passes
//! through a row of touching balls as it does through one with gaps, and symmetric problems stay
//! symmetric, because no point is preferred.
//!
//! With several points and friction, restitution alone can create energy. The result of each stage
//! is therefore moved back towards that of the compression, along a straight line, until the
//! contacts' work is not positive. On that line every impulse stays within its cone and no point
//! approaches.

use super::{
    Block, Effort, Law, Problem, Scratch, SolveReport, SolverBody, find_impulses, worst_block,
};
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;

/// Remaining fraction of its approach velocity below which a point counts as at rest.
const AT_REST: f64 = 1e-6;

/// Approach speeds below this fraction of the fastest speed, or below this multiple of the solver's
/// tolerance, count as zero: otherwise two of four corners at rest would take part and two would
/// not.
const NEGLIGIBLE: f64 = 1e-12;
const SOLVER_ERROR: f64 = 100.0;

/// Maximum number of stages of an impact, plus two per point, up to eight times this number. Points
/// that still approach then do not bounce.
const MAX_STAGES: usize = 32;

/// The result of an impact's stages by block, and buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpactStages {
    /// By block: the impulse of all stages (N s), its work along the rows (J), and the fastest
    /// approach velocity at which the point received an impulse (m/s, negative), zero if it
    /// received none.
    pub(crate) impulses: Vec<Vec3>,
    pub(crate) works: Vec<Vec3>,
    pub(crate) approaches: Vec<f64>,
    /// Energy that restitution would have returned at points too slow to bounce, J.
    pub(crate) unbounced: f64,
    /// Whether the stages ended before their maximum number.
    pub(crate) ended: bool,
    /// The block with the largest violation in the worst of the stages' solves, and that violation,
    /// m/s.
    pub(crate) worst_block: Option<(u32, f64)>,
    active: Vec<u32>,
    blocks: Vec<Block>,
    bounces: Vec<Bounce>,
    compression: Compression,
}

/// The data of a contact's bounce in addition to its block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bounce {
    /// Relative velocity along the rows before this stage, m/s.
    before: Vec3,
    /// Target separation speed along the normal, m/s; zero without a bounce.
    target: f64,
}

/// The compression's velocities and impulses, as buffers.
#[derive(Clone, Debug, Default)]
struct Compression {
    velocities: Vec<SpatialVector>,
    impulses: Vec<Vec3>,
}

/// Resolves an impact at all approaching points of `problem`. The blocks' impulses and offsets must
/// be zero, and stay zero. `restitutions` are given by block. If no point approaches faster than
/// the first of `speeds`, nothing happens; points that approach slower than the second do not
/// bounce. The result is in the bodies' velocities and in `stages`.
pub(crate) fn resolve_impact(
    problem: &mut Problem<'_>,
    restitutions: &[f64],
    speeds: [f64; 2],
    settings: &Settings,
    scratch: &mut Scratch,
    stages: &mut ImpactStages,
) -> SolveReport {
    let count = problem.blocks.len();
    for list in [&mut stages.impulses, &mut stages.works] {
        list.clear();
        list.resize(count, Vec3::ZERO);
    }
    stages.approaches.clear();
    stages.approaches.resize(count, 0.0);
    let moving = problem.blocks.iter().map(|block| block.velocity(problem.bodies).length());
    let least = NEGLIGIBLE.max(SOLVER_ERROR * settings.tolerance);
    let negligible = least * moving.fold(0.0, f64::max);
    let [fast, bounce_speed] = speeds.map(|speed| speed.max(negligible));
    stages.ended = true;
    stages.worst_block = None;
    stages.unbounced = 0.0;
    let mut report = SolveReport::exact();
    let max_stages = (MAX_STAGES + 2 * count).min(8 * MAX_STAGES);
    for stage in 0..=max_stages {
        // After the last stage, all points are brought to rest at once.
        let bouncing = stage < max_stages;
        if !stages.select(problem, fast, negligible, bouncing) {
            break;
        }
        stages.ended = bouncing;
        let mut part = Problem {
            bodies: &mut *problem.bodies,
            members: problem.members,
            blocks: &mut stages.blocks,
        };
        let first = find_impulses(&mut part, settings, Effort::Impact, scratch);
        stages.worst_block =
            update_worst(stages.worst_block, &report, &first, &part, &stages.active);
        report = join(report, first);
        let mut any = false;
        for ((block, bounce), &number) in
            part.blocks.iter().zip(&mut stages.bounces).zip(&stages.active)
        {
            // Points that the first solve brought to rest take part, whether by their own impulse
            // or that of others: of four corners that land at once, no three are preferred.
            let stopped = block.velocity(part.bodies).x <= -AT_REST * bounce.before.x;
            if bouncing && bounce.before.x < -bounce_speed && stopped {
                bounce.target = -restitutions[number as usize] * bounce.before.x;
                any |= bounce.target > 0.0;
            }
        }
        if any {
            let second =
                restitute(&mut part, &stages.bounces, settings, scratch, &mut stages.compression);
            stages.worst_block =
                update_worst(stages.worst_block, &report, &second, &part, &stages.active);
            report = join(report, second);
        }
        stages.record(problem, restitutions, bounce_speed);
    }
    report
}

/// Returns the energy that restitution would have returned of the work of a normal impulse without
/// bounce, J.
pub(crate) fn unbounced(restitution: f64, work: f64) -> f64 {
    restitution * restitution * (-work).max(0.0)
}

/// Returns the block with the largest violation after another solve of some of the blocks.
fn update_worst(
    known: Option<(u32, f64)>,
    so_far: &SolveReport,
    new: &SolveReport,
    part: &Problem<'_>,
    numbers: &[u32],
) -> Option<(u32, f64)> {
    if new.residual.relative() <= so_far.residual.relative() {
        return known;
    }
    worst_block(part.bodies, part.blocks).map(|(at, residual)| (numbers[at], residual))
}

/// Combines the reports of two consecutive solves.
fn join(first: SolveReport, second: SolveReport) -> SolveReport {
    let iterations = first.iterations + second.iterations;
    SolveReport { iterations, ..first.worse(&second) }
}

impl ImpactStages {
    /// Collects the points of the next stage, and all joints. Returns whether a point is fast.
    fn select(
        &mut self,
        problem: &Problem<'_>,
        fast: f64,
        negligible: f64,
        bouncing: bool,
    ) -> bool {
        self.active.clear();
        self.blocks.clear();
        self.bounces.clear();
        let mut any = false;
        for (number, block) in problem.blocks.iter().enumerate() {
            let before = block.velocity(problem.bodies);
            if let Law::Contact { .. } = block.law {
                if bouncing && !(before.x < -negligible) {
                    continue;
                }
                any |= before.x < -fast;
            }
            self.active.push(number as u32);
            self.blocks.push(*block);
            self.bounces.push(Bounce { before, target: 0.0 });
        }
        any
    }

    /// Adds the result of a stage. Points that approached slower than `slow` did not bounce.
    fn record(&mut self, problem: &Problem<'_>, restitutions: &[f64], slow: f64) {
        for ((&number, block), bounce) in self.active.iter().zip(&self.blocks).zip(&self.bounces) {
            let at = number as usize;
            let mean = (bounce.before + block.velocity(problem.bodies)) * 0.5;
            self.impulses[at] += block.impulse;
            self.works[at] += block.impulse * mean;
            if bounce.before.x < 0.0 && bounce.before.x >= -slow && slow < f64::INFINITY {
                self.unbounced += unbounced(restitutions[at], block.impulse.x * mean.x);
            }
            if matches!(block.law, Law::Contact { .. }) && block.impulse.x > 0.0 {
                self.approaches[at] = self.approaches[at].min(bounce.before.x);
            }
        }
    }
}

/// Solves again with the target separation speeds in `bounces`, given by block.
fn restitute(
    problem: &mut Problem<'_>,
    bounces: &[Bounce],
    settings: &Settings,
    scratch: &mut Scratch,
    compression: &mut Compression,
) -> SolveReport {
    let Compression { velocities, impulses } = compression;
    velocities.clear();
    velocities.extend(problem.members.iter().map(|&i| problem.bodies[i as usize].velocity));
    impulses.clear();
    for (block, bounce) in problem.blocks.iter_mut().zip(bounces) {
        impulses.push(block.impulse);
        block.offset.x = -bounce.target;
    }
    let plastic = work(problem.bodies, problem.blocks, bounces);
    let report = find_impulses(problem, settings, Effort::Impact, scratch);
    let full = work(problem.bodies, problem.blocks, bounces);
    if full > 0.0 {
        // W(s) = plastic + b s + c s^2 with W(1) = full; c follows from the change alone.
        let share = largest_share(problem, velocities, impulses, plastic, full);
        interpolate(problem, velocities, impulses, share);
    }
    report
}

/// Returns the work of the contacts' impulses, each at the mean of the velocities before and after.
fn work(bodies: &[SolverBody], blocks: &[Block], bounces: &[Bounce]) -> f64 {
    let mut sum = 0.0;
    for (block, bounce) in blocks.iter().zip(bounces) {
        if let Law::Contact { .. } = block.law {
            sum += 0.5 * block.impulse.dot(bounce.before + block.velocity(bodies));
        }
    }
    sum
}

/// Returns the largest share of the change from the compression to the restitution for which the
/// work is not positive.
fn largest_share(
    problem: &Problem<'_>,
    velocities: &[SpatialVector],
    impulses: &[Vec3],
    plastic: f64,
    full: f64,
) -> f64 {
    // The quadratic part: half the sum over contacts of impulse change times velocity change.
    let mut square = 0.0;
    for (block, first) in problem.blocks.iter().zip(impulses) {
        if let Law::Contact { .. } = block.law {
            let old = |body: u32| match problem.members.binary_search(&body) {
                Ok(at) => velocities[at],
                Err(_) => problem.bodies[body as usize].velocity,
            };
            let (a, b) = (old(block.bodies[0]), old(block.bodies[1]));
            let before = block.velocity_of(&a, &b);
            let change = block.velocity(problem.bodies) - before;
            square += 0.5 * (block.impulse - *first).dot(change);
        }
    }
    let linear = full - plastic - square;
    let room = -plastic;
    if !(room > 0.0) {
        return 0.0;
    }
    // The root of square s^2 + linear s - room in [0, 1], without cancellation.
    let root = (linear * linear + 4.0 * square * room).max(0.0).sqrt();
    let found =
        if linear >= 0.0 { 2.0 * room / (linear + root) } else { (root - linear) / (2.0 * square) };
    if found.is_finite() { found.clamp(0.0, 1.0) } else { 0.0 }
}

/// Interpolates between the compression (0) and the current state (1).
fn interpolate(
    problem: &mut Problem<'_>,
    velocities: &[SpatialVector],
    impulses: &[Vec3],
    share: f64,
) {
    for (&index, first) in problem.members.iter().zip(velocities) {
        let velocity = &mut problem.bodies[index as usize].velocity;
        *velocity = *first + (*velocity - *first) * share;
    }
    for (block, first) in problem.blocks.iter_mut().zip(impulses) {
        block.impulse = *first + (block.impulse - *first) * share;
    }
}
