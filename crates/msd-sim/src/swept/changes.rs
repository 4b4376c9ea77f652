//! Changes from outside the step: bodies, joints, materials and filters that come, go or change between two steps.

use super::Swept;
use super::sweep_bodies::MotionBounds;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;

/// What has changed since the last step and has to be brought up to date.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    /// Bodies that are new or were moved.
    pub(super) bodies: Vec<u32>,
    /// Whether pairs may collide that could not, or the other way round.
    pub(super) filters: bool,
    /// Whether other bodies move than before.
    pub(super) lists: bool,
    /// Whether the joint blocks have to be built again.
    pub(super) joints: bool,
}

impl Swept {
    /// Everything is looked at anew in the next step of a swept world. Exact steps learn which bodies touch.
    pub(crate) fn stop(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let Self { pairs, sleeping, .. } = self;
        let near = pairs.order.iter().chain(&sleeping.order);
        let touching = near.filter(|entry| pairs.all[entry.number as usize].touching);
        let mut touching: Vec<(u32, u32)> = touching.map(|entry| entry.key).collect();
        touching.sort_unstable();
        collision.resume(bodies, &touching);
        self.motion_bounds.clear();
        self.sleeping.clear();
    }

    /// A body is new, or somewhere else.
    pub(crate) fn invalidate(&mut self, body: u32) {
        if !self.running {
            return;
        }
        // Its pairs know nothing of how far it had come.
        if let Some(motion_bound) = self.motion_bounds.get_mut(body as usize) {
            *motion_bound = MotionBounds::default();
        }
        self.dirty.bodies.push(body);
        self.dirty.lists = true;
        let numbers: Vec<u32> = self.pairs.of_body(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.invalidate();
            let slot = pair.slot;
            if slot.is_assigned() {
                let (block, lane) = self.graph.block_mut(slot);
                block.clear_impulses(lane);
                block.set_recheck(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            } else {
                self.pairs.recheck(number);
            }
        }
        self.dirty.joints = true;
    }

    /// A body has another velocity.
    pub(crate) fn mark_velocity_dirty(&mut self, body: u32) {
        self.dirty.lists = true;
        if let Some(motion_bound) = self.motion_bounds.get_mut(body as usize) {
            motion_bound.bounds_budget = motion_bound.bounds_budget.min(motion_bound.odometer);
            motion_bound.speed = f64::INFINITY;
        }
    }

    /// A body is gone.
    pub(crate) fn remove(&mut self, body: u32) {
        if !self.running {
            return;
        }
        let mut numbers: Vec<u32> = self.pairs.of_body(body).collect();
        for &number in &numbers {
            self.pairs.remove_contact(number, &mut self.graph);
        }
        numbers.sort_unstable();
        self.pairs.merge(&[], |_| None, &numbers);
        self.dropped.retain(|number| numbers.binary_search(number).is_err());
        self.dirty.bodies.retain(|&other| other != body);
        self.dirty.joints = true;
        self.dirty.lists = true;
    }

    /// A body has another material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, body: u32) {
        let numbers: Vec<u32> = self.pairs.of_body(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.refresh_materials(bodies);
            let (friction, restitution, slot) = (pair.friction, pair.restitution, pair.slot);
            self.any_restitution |= restitution > 0.0;
            if slot.is_assigned() {
                let (block, lane) = self.graph.block_mut(slot);
                block.rows.friction.0[lane] = friction;
                block.cache.restitution.0[lane] = restitution;
                block.any_restitution |= restitution > 0.0;
            }
        }
    }

    /// Who may collide with whom, or joints, have changed.
    pub(crate) fn mark_filters_dirty(&mut self) {
        self.dirty.filters = true;
        self.dirty.joints = true;
    }
}
