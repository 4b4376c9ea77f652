//! Changes by the user between two steps: bodies, joints, materials and filters that are added, removed or modified.

use super::Swept;
use super::pairs::SweptPair;
use super::sweep_bodies::MotionBounds;
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, ContactRecord};
use crate::settings::Settings;

/// The changes since the last step that the next one has to process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    /// Bodies that are new or were moved.
    pub(super) bodies: Vec<u32>,
    /// Whether the set of pairs that may collide may have changed.
    pub(super) filters: bool,
    /// Whether the set of bodies that move may have changed.
    pub(super) lists: bool,
    /// Whether the joint blocks have to be rebuilt.
    pub(super) joints: bool,
}

impl Swept {
    /// Ends swept stepping: the next swept step starts from scratch. Passes on to exact steps which bodies touch.
    pub(crate) fn stop(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let Self { pairs, sleeping, .. } = self;
        let near = pairs.order.iter().chain(&sleeping.order);
        let touching = near.filter(|entry| pairs.all[entry.number as usize].touching);
        let mut touching: Vec<(u32, u32)> = touching.map(|entry| entry.key).collect();
        touching.sort_unstable();
        let contacts: Vec<ContactRecord> = self.contacts(bodies).collect();
        collision.resume(bodies, &touching, &contacts);
        self.motion_bounds.clear();
        self.sleeping.clear();
    }

    /// Invalidates the pairs of a body that is new or was moved.
    pub(crate) fn invalidate(&mut self, body: u32) {
        if !self.running {
            return;
        }
        // Its odometer can restart at zero, because its pairs are invalidated below.
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
                block.clear_points(lane);
                block.set_recheck(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            } else {
                self.pairs.recheck(number);
            }
        }
        self.dirty.joints = true;
    }

    /// Discards the contact points of a body that has a new shape, until the next step.
    pub(crate) fn reshape(&mut self, bodies: &BodySet, settings: &Settings, body: u32) {
        if !self.running {
            return;
        }
        let numbers: Vec<u32> = self.pairs.of_body(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            let (touching, slot) = (pair.touching, pair.slot);
            *pair = SweptPair::new(pair.bodies[0], pair.bodies[1], bodies);
            // Kept: if they no longer touch, an event is due.
            (pair.touching, pair.slot) = (touching, slot);
            if slot.is_assigned() {
                let contact = pair.new_contact(number, settings);
                let (block, lane) = self.graph.block_mut(slot);
                block.insert(lane, &contact);
            }
        }
        self.invalidate(body);
    }

    /// Registers that the velocity of a body was changed.
    pub(crate) fn mark_velocity_dirty(&mut self, body: u32) {
        self.dirty.lists = true;
        if let Some(motion_bound) = self.motion_bounds.get_mut(body as usize) {
            motion_bound.bounds_budget = motion_bound.bounds_budget.min(motion_bound.odometer);
            motion_bound.speed = f64::INFINITY;
        }
    }

    /// Removes the pairs of a body that was removed from the world.
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

    /// Updates the contacts of a body whose material was changed.
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

    /// Registers that joints or collision filters were changed.
    pub(crate) fn mark_filters_dirty(&mut self) {
        self.dirty.filters = true;
        self.dirty.joints = true;
    }
}
