//! Impacts: approaching points that touch get their impulses at once, without time passing.

use super::problem::{BlockInfo, Problems, TOUCH_DISTANCE};
use super::work::Work;
use super::{contact, joint};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Near};
use crate::islands::{Island, Link};
use crate::joints::{JointKind, JointSet};
use crate::math::Vec3;
use crate::settings::Settings;
use crate::solver::restitution::resolve_impact;
use crate::solver::{Law, Problem, SolveReport};

/// Surfaces closer than this fraction of the smaller size take part in an impact; farther ones have their own.
pub(crate) const IMPACT_DISTANCE: f64 = 1e-7;

/// Cost of a link of an island in an impact, in visits of a contact point by a sweep: its points are found again, its bodies
/// moved, and their next impacts searched for.
const IMPACT_LINK_COST: u64 = 150;

/// Impacts of at least this restitution are worth their cost: sweeping would lose most of their energy.
const ELASTIC: f64 = 0.5;

/// The outcome of the impacts of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImpactResult {
    /// Whether there were any, and whether they came to an end by themselves.
    pub(crate) any: bool,
    pub(crate) ended: bool,
}

impl Problems {
    /// Makes the blocks of an island's points that touch, or would within `ahead` at their velocities, and of its
    /// joints, as they act in an impact.
    pub(crate) fn prepare_impact(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        island: &Island,
        ahead: f64,
    ) {
        // Points apart do not take part, unless they may meet `ahead`.
        let takes_part = |near: Near<'_>| {
            let reach = if ahead > 0.0 { f64::INFINITY } else { IMPACT_DISTANCE * near.pair.size };
            near.contact.points().iter().any(|point| point.gap <= reach)
        };
        self.connect(bodies, collision, joints, island, takes_part);
        self.restitutions.clear();
        for number in 0..self.islands.len() {
            self.block_starts.push(self.blocks.len() as u32);
            for at in 0..self.islands.link_count(number) {
                match self.islands.link(number, at) {
                    Link::Pair(position) => self.push_touching(bodies, collision, position, ahead),
                    Link::Joint(index) => self.push_taut(bodies, joints, index),
                }
            }
        }
        self.block_starts.push(self.blocks.len() as u32);
    }

    fn push_touching(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        position: u32,
        ahead: f64,
    ) {
        let near = collision.near_pair(position as usize);
        let pair = near.pair;
        for (number, point) in near.contact.points().iter().enumerate() {
            let mut block = contact::block(near, point, 1.0);
            (block.impulse, block.offset) = (Vec3::ZERO, Vec3::ZERO);
            let before = block.velocity(&bodies.motions);
            if point.gap + ahead * before.x.min(0.0) <= IMPACT_DISTANCE * pair.size {
                let source = Link::Pair(position);
                let info = BlockInfo::new(source, number as u32, pair.size);
                self.push(block, before, Vec3::ZERO, info);
                self.restitutions.push(pair.restitution);
            }
        }
    }

    /// Adds the blocks of a joint. A spring exerts no impulse in no time, a slack rope none before it is taut.
    fn push_taut(&mut self, bodies: &BodySet, joints: &JointSet, index: u32) {
        let held = &joints.joints[index as usize];
        if let JointKind::Spring { .. } = held.def.kind {
            return;
        }
        let [a, b] = held.bodies.map(|body| body as usize);
        let velocities = [&bodies.motions[a].velocity, &bodies.motions[b].velocity];
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        let size = bodies.extents[a].size.min(bodies.extents[b].size);
        joint::blocks(held, poses, velocities, 1.0, 0.5, 1.0, |found| {
            let mut block = found.block;
            if block.law == Law::Unilateral && block.offset.x > TOUCH_DISTANCE * size {
                return;
            }
            (block.impulse, block.offset) = (Vec3::ZERO, Vec3::ZERO);
            let before = block.velocity(&bodies.motions);
            let source = Link::Joint(index);
            self.push(block, before, Vec3::ZERO, BlockInfo::new(source, 0, size));
            self.restitutions.push(0.0);
        });
    }

    /// Resolves the impacts of every island that has one faster than the first of two speeds; impacts faster than the
    /// second bounce. Calls `add_work` with the work of each island.
    pub(crate) fn collide(
        &mut self,
        bodies: &mut BodySet,
        settings: &Settings,
        speeds: [f64; 2],
        mut add_work: impl FnMut(&Work),
    ) -> (SolveReport, ImpactResult) {
        let mut total = SolveReport::exact();
        let mut outcome = ImpactResult { any: false, ended: true };
        for number in 0..self.islands.len() {
            let range = self.block_starts[number] as usize..self.block_starts[number + 1] as usize;
            let mut problem = Problem {
                bodies: &mut bodies.motions,
                members: self.islands.members(number),
                blocks: &mut self.blocks[range.clone()],
            };
            let (scratch, stages) = (&mut self.scratch, &mut self.stages);
            let restitutions = &self.restitutions[range.clone()];
            let report =
                resolve_impact(&mut problem, restitutions, speeds, settings, scratch, stages);
            outcome.any |= stages.approaches.iter().any(|&approach| approach < 0.0);
            outcome.ended &= stages.ended;
            let mut work = Work { unbounced: stages.unbounced, ..Work::default() };
            for (at, block) in problem.blocks.iter_mut().enumerate() {
                block.impulse = stages.impulses[at];
                work.add(problem.bodies, block, stages.works[at]);
                let approach = stages.approaches[at];
                let hit = approach < -settings.rest_speed;
                self.infos[range.start + at].approach = if hit { approach } else { 0.0 };
            }
            let relative = report.residual.relative();
            if let Some((at, residual)) = stages.worst_block
                && self.worst.is_none_or(|known| known.relative < relative)
            {
                let (info, block) =
                    (&self.infos[range.start + at as usize], &problem.blocks[at as usize]);
                self.worst = Some(info.worst(block, residual, relative));
            }
            add_work(&work);
            total = total.worse(&report);
            let bounces = self.restitutions[range].iter().any(|&e| e >= ELASTIC);
            self.add_cost(number, IMPACT_LINK_COST, !bounces, true);
        }
        (total, outcome)
    }

    /// Adds an impact's impulses to the sums of the step. They are not used to warm start the next kick.
    pub(crate) fn write_back_impact(
        &self,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
    ) {
        for (block, info) in self.blocks.iter().zip(&self.infos) {
            let impulse = contact::world_impulse(block);
            match info.source {
                Link::Pair(position) => {
                    let (position, point) = (position as usize, info.point as usize);
                    let near = collision.near_list();
                    let point = near.add_impulse(position, point, impulse, info.approach);
                    point.approach = point.approach.min(info.approach);
                    if info.approach < 0.0 {
                        point.impulse = Vec3::ZERO;
                    }
                }
                Link::Joint(index) => joints.joints[index as usize].total += impulse,
            }
        }
    }
}
