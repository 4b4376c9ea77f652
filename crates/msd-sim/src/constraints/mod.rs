//! The only module that speaks both world and solver: bodies, contacts and joints become islands of
//! blocks; impulses and velocities come back.

mod contact;
mod island;
pub(crate) mod joint;

use crate::audit::{Books, hold_energy};
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;
use crate::solver::recover::{Kept, recover};
use crate::solver::restitution::{Answers, Bounce, restitute};
use crate::solver::{Block, Law, Problem, Scratch, SolveReport, SolverBody, block_residual, solve};
use island::{Islands, Tie};

/// Surfaces closer than this fraction of the smaller size bounce now; farther ones when they are.
const TOUCHING: f64 = 1e-4;

/// A point that approached is at rest if it has less than this fraction of its velocity left.
const STOPPED: f64 = 1e-6;

/// Bodies are not pushed out of each other by the last of this fraction of size: lifting what rests
/// by as little as that would be a rise of energy for no gain.
const UNSEEN: f64 = 2e-5;

/// Position errors below this fraction of size are left alone.
const RECOVERABLE: f64 = 1e-9;

/// One kick's constraints. Buffers are kept; what stands in them is of the last kick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    ties: Vec<Tie>,
    sources: Vec<Source>,
    islands: Islands,
    /// By island: its first block; one more at the end.
    block_starts: Vec<u32>,
    blocks: Vec<Block>,
    details: Vec<Detail>,
    bounces: Vec<Bounce>,
    errors: Vec<Vec3>,
    scratch: Scratch,
    answers: Answers,
    kept: Kept,
}

/// Where a tie comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The pair at this position of the collision pipeline's order.
    Pair(u32),
    Joint(u32),
}

/// Where a block comes from, and what its law does not know.
#[derive(Clone, Copy, Debug)]
struct Detail {
    source: Source,
    point: u32,
    size: f64,
    gap: f64,
    restitution: f64,
    /// Normal velocity with which the points met; zero if it is no impact.
    approach: f64,
    pending: Option<f64>,
    /// Velocity that forces give along the normal between the impact and the end of the substep, and what
    /// the bounce may cost because the mean of two velocities is not quite the way: J for each kg.
    late: f64,
    paid: f64,
    /// Violation of the contact's law after the solve, m/s.
    residual: f64,
}

/// A kick: what acts on the bodies in one substep.
pub(crate) struct Kick<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) h: f64,
    /// By body: velocity before any force or impulse.
    pub(crate) before: &'a [SpatialVector],
    /// By body: impulse of conservative forces in this kick.
    pub(crate) forces: &'a [SpatialVector],
    /// By body: how much of `h` it has moved already.
    pub(crate) lead: &'a [f64],
    /// By body: displacement besides that by velocity.
    pub(crate) shifts: &'a mut [SpatialVector],
    /// By body: velocity taken to keep contacts from creating energy.
    pub(crate) slowed: &'a mut [SpatialVector],
    /// Impacts that wait for their surfaces to touch are answered now.
    pub(crate) last: bool,
}

impl Constraints {
    /// Stages 3 and 4: islands, and their blocks in order. Velocities are those before forces.
    pub(crate) fn prepare(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        settings: &Settings,
        lead: &[f64],
        h: f64,
    ) {
        self.tie(collision, joints);
        self.islands.build(bodies.slots.len(), &bodies.inertial, &self.ties);
        self.blocks.clear();
        self.details.clear();
        self.bounces.clear();
        self.errors.clear();
        self.block_starts.clear();
        for number in 0..self.islands.len() {
            self.block_starts.push(self.blocks.len() as u32);
            for at in 0..self.islands.ties(number).len() {
                let place = self.islands.ties(number)[at];
                match self.sources[place as usize] {
                    Source::Pair(position) => {
                        self.push_pair(bodies, collision, settings, position, lead, h);
                    }
                    Source::Joint(index) => self.push_joint(bodies, joints, index, lead, h),
                }
            }
        }
        self.block_starts.push(self.blocks.len() as u32);
    }

    fn tie(&mut self, collision: &CollisionPipeline, joints: &JointSet) {
        self.ties.clear();
        self.sources.clear();
        for index in joints.slots.iter() {
            let place = self.sources.len() as u32;
            self.ties.push(Tie { bodies: joints.joints[index as usize].bodies, place });
            self.sources.push(Source::Joint(index));
        }
        for (position, pair) in collision.pairs().enumerate() {
            if pair.len > 0 {
                let place = self.sources.len() as u32;
                self.ties.push(Tie { bodies: pair.bodies, place });
                self.sources.push(Source::Pair(position as u32));
            }
        }
    }

    fn push_pair(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        settings: &Settings,
        position: u32,
        lead: &[f64],
        h: f64,
    ) {
        let pair = collision.pair(position as usize);
        let [a, b] = pair.bodies.map(|body| body as usize);
        let base = if bodies.is_inertial(b) { b } else { a };
        for (number, point) in pair.points().iter().enumerate() {
            let mut block = contact::block(pair, point, h);
            let before = block.velocity(&bodies.motions);
            let approach = if point.pending.is_some() {
                point.approach
            } else if before.x < -settings.rest_speed {
                before.x
            } else {
                0.0
            };
            if approach < 0.0 {
                // An impact lands by the end of the substep, or counts as landed; what rests may take
                // longer, and is calmer for it.
                let near = point.gap <= TOUCHING * pair.size;
                block.offset.x = if near { 0.0 } else { point.gap / (h - lead[base]) };
            }
            self.blocks.push(block);
            let deep = (point.gap + UNSEEN * pair.size).min(0.0);
            self.errors.push(Vec3::new(deep, 0.0, 0.0));
            self.bounces.push(Bounce { before, ..Bounce::default() });
            self.details.push(Detail {
                source: Source::Pair(position),
                point: number as u32,
                size: pair.size,
                gap: point.gap,
                restitution: pair.restitution,
                approach,
                pending: point.pending,
                late: 0.0,
                paid: 0.0,
                residual: 0.0,
            });
        }
    }

    fn push_joint(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        index: u32,
        lead: &[f64],
        h: f64,
    ) {
        let joint = &joints.joints[index as usize];
        let [a, b] = joint.bodies.map(|body| body as usize);
        let velocities = [&bodies.motions[a].velocity, &bodies.motions[b].velocity];
        let size = bodies.solids[a].size.min(bodies.solids[b].size);
        let lead = lead[if bodies.is_inertial(b) { b } else { a }];
        let inverse_mass = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        joint::blocks(joint, poses, velocities, inverse_mass, lead, h, |held| {
            let before = held.block.velocity(&bodies.motions);
            self.bounces.push(Bounce { before, ..Bounce::default() });
            self.blocks.push(held.block);
            self.errors.push(held.error);
            self.details.push(Detail {
                source: Source::Joint(index),
                point: 0,
                size,
                gap: 0.0,
                restitution: 0.0,
                approach: 0.0,
                pending: None,
                late: 0.0,
                paid: 0.0,
                residual: 0.0,
            });
        });
    }

    /// Stage 5: impulses of every island, on velocities that forces have changed already.
    pub(crate) fn solve(
        &mut self,
        bodies: &mut BodySet,
        mut kick: Kick<'_>,
        books: &mut Books,
    ) -> SolveReport {
        let mut total = SolveReport::exact();
        for number in 0..self.islands.len() {
            let range = self.block_starts[number] as usize..self.block_starts[number + 1] as usize;
            let waits = |detail: &Detail| detail.pending.is_some();
            if range.is_empty() || (kick.last && !self.details[range.clone()].iter().any(waits)) {
                // Nothing to solve; or nothing in no time, where loads and springs do not act.
                self.blocks[range].iter_mut().for_each(|block| block.impulse = Vec3::ZERO);
                continue;
            }
            if kick.last {
                for block in &mut self.blocks[range.clone()] {
                    block.impulse = Vec3::ZERO;
                    // A spring gives no impulse in no time: as soft as it can be.
                    if block.softness > 0.0 {
                        (block.softness, block.offset) = (f64::MAX.sqrt(), Vec3::ZERO);
                    }
                }
            }
            let mut problem = Problem {
                bodies: &mut bodies.motions,
                members: self.islands.members(number),
                blocks: &mut self.blocks[range.clone()],
            };
            let details = &mut self.details[range.clone()];
            let bounces = &mut self.bounces[range.clone()];
            time_impacts(&problem, details, bounces, &kick);
            for block in problem.blocks.iter() {
                block.apply(problem.bodies, block.impulse);
            }
            let mut report = solve(&mut problem, kick.settings, &mut self.scratch);
            if aim_bounces(&problem, details, bounces, kick.last) {
                let second = restitute(
                    &mut problem,
                    bounces,
                    kick.settings,
                    &mut self.scratch,
                    &mut self.answers,
                );
                report = SolveReport {
                    iterations: report.iterations + second.iterations,
                    ..report.worse(&second)
                };
            }
            let errors = &self.errors[range];
            if errors.iter().zip(details.iter()).any(|(e, d)| e.length() > RECOVERABLE * d.size) {
                let Settings { recovery, recovery_speed, .. } = *kick.settings;
                recover(
                    &mut problem,
                    errors,
                    recovery,
                    recovery_speed,
                    kick.h,
                    kick.shifts,
                    &mut self.kept,
                );
            }
            let works = settle_work(&problem, details, bounces);
            let taken = hold_energy(&mut problem, &mut kick, &works);
            books.add_works(&works, taken);
            total = total.worse(&report);
        }
        total
    }

    /// Stage 6: impulses back to where they are remembered.
    pub(crate) fn write_back(
        &self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
        last: bool,
    ) {
        for joint in joints.joints.iter_mut().filter(|_| !last) {
            joint.impulse = Vec3::ZERO;
        }
        for (block, detail) in self.blocks.iter().zip(&self.details) {
            let impulse = contact::world_impulse(block);
            match detail.source {
                Source::Pair(position) => {
                    let pair = collision.pair_mut(position as usize);
                    let hit = if block.impulse.x > 0.0 { detail.approach } else { 0.0 };
                    pair.receive(detail.point as usize, impulse, hit);
                    let point = &mut pair.points[detail.point as usize];
                    // An impact's impulse says nothing of the next, one in no time of none.
                    if detail.approach < 0.0 {
                        point.impulse = Vec3::ZERO;
                    } else if !last {
                        point.impulse = impulse;
                    }
                    point.approach = if detail.pending.is_some() || block.impulse.x > 0.0 {
                        detail.approach.min(point.approach)
                    } else {
                        point.approach
                    };
                    point.pending = detail.pending;
                    point.residual = detail.residual;
                }
                Source::Joint(index) => {
                    let joint = &mut joints.joints[index as usize];
                    joint.total += impulse;
                    if last {
                        continue;
                    }
                    if let Law::Equal { rows: 3 } = block.law {
                        joint.impulse = block.impulse;
                    } else {
                        // Along the line from A to B, whichever way the row looks.
                        let apart = |side: usize| {
                            let body = joint.bodies[side] as usize;
                            bodies.poses[body].transform_point(joint.def.anchors[side])
                        };
                        let forward = block.rows[0].linear.dot(apart(1) - apart(0)) >= 0.0;
                        joint.impulse.x += if forward { block.impulse.x } else { -block.impulse.x };
                    }
                }
            }
        }
    }

    /// What the last kick gave, by block.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Whether impacts wait for their surfaces to touch.
    pub(crate) fn has_pending(&self) -> bool {
        self.details.iter().any(|detail| detail.pending.is_some())
    }

    /// Islands of the last kick, each its bodies ascending.
    pub(crate) fn islands(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.islands.len()).map(|number| self.islands.members(number))
    }

    pub(crate) fn contact_count(&self) -> usize {
        self.blocks.iter().filter(|block| matches!(block.law, Law::Contact { .. })).count()
    }
}

/// Gives impacts the speed of their instant. Bodies move to it with the velocity `v` before the kick and
/// over the `gap` that is left then, and go on from it with the velocity `w` after the kick, while the kick
/// holds the forces of the whole substep. So that the height lost and won is paid for exactly, with `a` the
/// acceleration along the normal and `t` the time of the kick: `v_i^2 = v^2 + 2 a (v t - gap)`, wherein `a`
/// and `v` are negative towards each other, and `w^2 - 2 a (h - t) w = (e v_i)^2`.
fn time_impacts(
    problem: &Problem<'_>,
    details: &mut [Detail],
    bounces: &mut [Bounce],
    kick: &Kick<'_>,
) {
    for ((block, detail), bounce) in problem.blocks.iter().zip(details).zip(bounces) {
        if detail.approach == 0.0 {
            continue;
        }
        let [a, b] = block.bodies.map(|body| body as usize);
        let base = if problem.bodies[b].is_inertial() { b } else { a };
        let (lead, h) = (kick.lead[base], kick.h);
        let forced = block.velocity(problem.bodies) - bounce.before;
        detail.late = forced.x * (1.0 - lead / h);
        if detail.pending.is_none() {
            let speed = detail.approach;
            let way = speed * lead - detail.gap.max(0.0);
            detail.approach = -(speed * speed + 2.0 * forced.x / h * way).max(0.0).sqrt();
            detail.paid = forced.x * forced.x * (0.5 - lead / h).max(0.0);
            bounce.shift = forced * (2.0 * lead / h - 1.0);
            bounce.before += bounce.shift;
        }
    }
}

/// Marks impacts, and gives those whose surfaces touch the velocity to part with. Whether any has.
fn aim_bounces(
    problem: &Problem<'_>,
    details: &mut [Detail],
    bounces: &mut [Bounce],
    last: bool,
) -> bool {
    let mut any = false;
    for ((block, detail), bounce) in problem.blocks.iter().zip(details).zip(bounces) {
        if detail.approach == 0.0 {
            continue;
        }
        // Points that the first solve brought to rest take part, whether it needed their impulse or
        // that of others: of four corners that land at once no three are preferred.
        let left = block.velocity(problem.bodies).x + block.offset.x;
        let stopped = left <= -STOPPED * detail.approach;
        let parted = !stopped && bounce.before.x >= 0.0;
        if detail.pending.is_some_and(|stored| parted && !(stored > 0.0)) {
            // Others have lifted it off meanwhile: it took no part in the impact.
            (detail.pending, detail.approach) = (None, 0.0);
        } else if stopped || detail.pending.is_some() {
            let stored = detail.pending.unwrap_or(0.0);
            detail.pending = Some(stored);
            // Round bodies that glance off each other may part before they touch.
            if last || parted || detail.gap <= TOUCHING * detail.size {
                let parting = -detail.restitution * detail.approach;
                bounce.target =
                    detail.late + (detail.late * detail.late + parting * parting).sqrt();
                // A gain that this lets pass is taken back by `hold_energy`, which knows the way.
                bounce.stored = stored + detail.paid / block.coupling.x_axis.x;
                any |= bounce.target > 0.0;
            }
        }
    }
    any
}

/// Work by kind in one island and one kick, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Works {
    pub(crate) normal: f64,
    pub(crate) friction: f64,
    pub(crate) joints: f64,
    /// The part of it by joints that do not yield.
    pub(crate) rigid: f64,
    /// By environment bodies that move. The others are of relative velocities, as their own bodies
    /// see them.
    pub(crate) environment: f64,
    /// Energy of earlier kicks that bounces may give back, less what this kick sets aside.
    pub(crate) stored: f64,
    /// What the works of impacts are short of those with velocities before and after the kick.
    pub(crate) timing: f64,
}

/// Adds up the work of an island's impulses, and what pending impacts have taken.
fn settle_work(problem: &Problem<'_>, details: &mut [Detail], bounces: &[Bounce]) -> Works {
    let mut works = Works::default();
    for ((block, detail), bounce) in problem.blocks.iter().zip(details).zip(bounces) {
        let u = block.velocity(problem.bodies);
        detail.residual = block_residual(block, u + block.offset).largest();
        let mean = (bounce.before + u) * 0.5;
        works.environment += driven_work(problem.bodies, block);
        if let Law::Contact { .. } = block.law {
            let normal = block.impulse.x * mean.x;
            works.normal += normal;
            let friction = block.impulse.y * mean.y + block.impulse.z * mean.z;
            works.friction += friction;
            works.timing -= 0.5 * block.impulse.dot(bounce.shift);
            if let Some(stored) = detail.pending {
                let answered = bounce.target > 0.0 || detail.restitution == 0.0;
                works.stored += if answered { stored } else { normal + friction };
                detail.pending = if answered { None } else { Some(stored - normal - friction) };
            }
        } else {
            let work = block.impulse.dot(mean);
            works.joints += work;
            works.rigid += if block.softness > 0.0 { 0.0 } else { work };
        }
    }
    works
}

/// What an environment body's own motion adds to the work of a block.
fn driven_work(bodies: &[SolverBody], block: &Block) -> f64 {
    let [a, b] = block.bodies.map(|body| &bodies[body as usize]);
    let still = |body: &SolverBody| body.is_inertial() || body.velocity == SpatialVector::ZERO;
    if still(a) && still(b) {
        return 0.0;
    }
    let mut sum = 0.0;
    for (row, impulse) in block.rows.iter().zip(block.impulse.to_array()) {
        let zero = SpatialVector::ZERO;
        // The relative velocity that each would make alone is minus A's and plus B's.
        if !a.is_inertial() {
            sum -= impulse * row.velocity(&a.velocity, &zero);
        }
        if !b.is_inertial() {
            sum -= impulse * row.velocity(&zero, &b.velocity);
        }
    }
    sum
}
