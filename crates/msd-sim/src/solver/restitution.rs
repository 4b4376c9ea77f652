//! Restitution: an impact, in which no time passes, in stages.
//!
//! In each stage the points that approach are answered, all of them together and no others: a first
//! solve, the compression, brings them to rest and says which of them take part; a second sends each of
//! these apart with `e` times the speed with which it met. Points that the stage made approach are
//! the next stage's, until none does. So an impact runs through a row of balls that touch as it does through
//! one with gaps between, and what is symmetric stays so, because no point is preferred.
//!
//! With several points and friction at once the second law alone can create energy, so the answer of each
//! stage is drawn back towards the compression's, along a straight line, until the contacts' work is
//! not positive. On that line every impulse stays within its cone and no point approaches.

use super::problem::{Block, Law, Problem, SolveReport, SolverBody};
use super::{Scratch, find_impulses, worst_block};
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;

/// A point that approached is at rest if it has less than this fraction of its velocity left.
const AT_REST: f64 = 1e-6;

/// Approach slower than this fraction of the fastest, or this many times what a solve leaves, is none: of
/// four corners at rest two would take part and two not.
const NEGLIGIBLE: f64 = 1e-12;
const SOLVER_ERROR: f64 = 100.0;

/// Most stages of an impact, besides two for every point; eight times as many at most. What still approaches
/// then does not bounce.
const MAX_STAGES: usize = 32;

/// An impact's stages: what they gave, by block, and buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpactStages {
    /// Impulse of all stages, its work along the rows (J), and the velocity with which the points first met,
    /// zero where they did not.
    pub(crate) impulses: Vec<Vec3>,
    pub(crate) works: Vec<Vec3>,
    pub(crate) approaches: Vec<f64>,
    /// What restitution would have given back at points too slow to bounce, J.
    pub(crate) unbounced: f64,
    /// Whether the stages came to an end by themselves.
    pub(crate) ended: bool,
    /// The block that was furthest from its law in the worst of the stages' solves, and by how much, m/s.
    pub(crate) worst_block: Option<(u32, f64)>,
    active: Vec<u32>,
    blocks: Vec<Block>,
    bounces: Vec<Bounce>,
    answers: Answers,
}

/// What a contact's bounce needs beyond its block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bounce {
    /// Relative velocity along the rows before this stage.
    before: Vec3,
    /// The normal velocity to part with, m/s; zero if it is not to bounce.
    target: f64,
}

/// Buffers of the two answers.
#[derive(Clone, Debug, Default)]
struct Answers {
    velocities: Vec<SpatialVector>,
    impulses: Vec<Vec3>,
}

/// Answers all points of `problem` that approach. The blocks' impulses and offsets must be zero, and are
/// left so. `restitutions` belongs to the blocks. Where nothing approaches faster than the first of `speeds`
/// nothing is done; what approaches slower than the second does not bounce. Velocities and `stages` have the
/// answer.
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
    let most = (MAX_STAGES + 2 * count).min(8 * MAX_STAGES);
    for stage in 0..=most {
        // Beyond the last, all points are brought to rest at once.
        let bouncing = stage < most;
        if !stages.select(problem, fast, negligible, bouncing) {
            break;
        }
        stages.ended = bouncing;
        let mut part = Problem {
            bodies: &mut *problem.bodies,
            members: problem.members,
            blocks: &mut stages.blocks,
        };
        let first = find_impulses(&mut part, settings, scratch);
        stages.worst_block =
            update_worst(stages.worst_block, &report, &first, &part, &stages.active);
        report = join(report, first);
        let mut any = false;
        for ((block, bounce), &number) in
            part.blocks.iter().zip(&mut stages.bounces).zip(&stages.active)
        {
            // Points that the first solve brought to rest take part, whether it needed their impulse or
            // that of others: of four corners that land at once no three are preferred.
            let stopped = block.velocity(part.bodies).x <= -AT_REST * bounce.before.x;
            if bouncing && bounce.before.x < -bounce_speed && stopped {
                bounce.target = -restitutions[number as usize] * bounce.before.x;
                any |= bounce.target > 0.0;
            }
        }
        if any {
            let second =
                restitute(&mut part, &stages.bounces, settings, scratch, &mut stages.answers);
            stages.worst_block =
                update_worst(stages.worst_block, &report, &second, &part, &stages.active);
            report = join(report, second);
        }
        stages.record(problem, restitutions, bounce_speed);
    }
    report
}

/// What restitution would have given back of the work of a normal impulse that did not bounce, J.
pub(crate) fn unbounced(restitution: f64, work: f64) -> f64 {
    restitution * restitution * (-work).max(0.0)
}

/// The block that is furthest from its law, after another solve of a part of the blocks.
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

/// Two solves that answer one question.
fn join(first: SolveReport, second: SolveReport) -> SolveReport {
    let iterations = first.iterations + second.iterations;
    SolveReport { iterations, ..first.worse(&second) }
}

impl ImpactStages {
    /// Gathers the points of the next stage, and what joints hold. Whether one of them is fast.
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

    /// Enters what a stage gave. What approached slower than `slow` did not bounce.
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

/// Solves again with the blocks of positive target parting. `bounces` belong to `blocks`.
fn restitute(
    problem: &mut Problem<'_>,
    bounces: &[Bounce],
    settings: &Settings,
    scratch: &mut Scratch,
    answers: &mut Answers,
) -> SolveReport {
    let Answers { velocities, impulses } = answers;
    velocities.clear();
    velocities.extend(problem.members.iter().map(|&i| problem.bodies[i as usize].velocity));
    impulses.clear();
    for (block, bounce) in problem.blocks.iter_mut().zip(bounces) {
        impulses.push(block.impulse);
        block.offset.x = -bounce.target;
    }
    let plastic = work(problem.bodies, problem.blocks, bounces);
    let report = find_impulses(problem, settings, scratch);
    let full = work(problem.bodies, problem.blocks, bounces);
    if full > 0.0 {
        // W(s) = plastic + b s + c s^2 with W(1) = full; c from the change alone.
        let share = largest_share(problem, velocities, impulses, plastic, full);
        interpolate(problem, velocities, impulses, share);
    }
    report
}

/// Work of the contacts' impulses: each acts at the mean of the velocities before and after.
fn work(bodies: &[SolverBody], blocks: &[Block], bounces: &[Bounce]) -> f64 {
    let mut sum = 0.0;
    for (block, bounce) in blocks.iter().zip(bounces) {
        if let Law::Contact { .. } = block.law {
            sum += 0.5 * block.impulse.dot(bounce.before + block.velocity(bodies));
        }
    }
    sum
}

/// The largest share of the way from the first answer to the second on which the work is not positive.
fn largest_share(
    problem: &Problem<'_>,
    velocities: &[SpatialVector],
    impulses: &[Vec3],
    plastic: f64,
    full: f64,
) -> f64 {
    // The quadratic part: half the sum of impulse change times velocity change of all contacts.
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
