//! Changes by the user between two steps: bodies, joints, materials and filters that are added, removed or modified.

use super::Swept;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::Constraints;
use crate::constraints::contact_block::NewContact;
use crate::settings::Settings;

/// The changes since the last step that the next one has to process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    /// Whether the set of bodies that move may have changed.
    pub(super) lists: bool,
}

impl Swept {
    /// Ends swept stepping, and passes the contacts on to exact steps.
    pub(crate) fn stop(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
    ) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        self.wake_all(bodies, collision, constraints);
        let (pairs, near, _) = collision.narrow_phase();
        for entry in &pairs.order {
            let pair = &pairs.all[entry.number as usize];
            if pair.has_contact() {
                let contact = self.contact(bodies, constraints, pair, entry.number, true);
                near.resume(bodies, entry.number, &contact);
            }
        }
    }

    /// Registers that the set of bodies that move, or their joints, may have changed.
    pub(crate) fn mark_lists_dirty(&mut self) {
        self.dirty.lists = true;
    }

    /// Clears the contacts of a body that was moved, until the next step.
    pub(crate) fn invalidate(
        &mut self,
        collision: &CollisionPipeline,
        constraints: &mut Constraints,
        body: u32,
    ) {
        for number in collision.pairs_of(body) {
            let slot = collision.pairs.all[number as usize].slot;
            if slot.is_assigned() {
                let (block, lane) = constraints.contacts.block_mut(slot);
                block.clear_points(lane);
                block.set_recheck(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            }
        }
        self.dirty.lists = true;
        constraints.joints.mark_dirty();
    }

    /// Clears the contacts of a body that has a new shape, until the next step.
    pub(crate) fn reshape(
        &mut self,
        collision: &CollisionPipeline,
        constraints: &mut Constraints,
        settings: &Settings,
        body: u32,
    ) {
        for number in collision.pairs_of(body) {
            let pair = &collision.pairs.all[number as usize];
            if pair.has_contact() {
                let (block, lane) = constraints.contacts.block_mut(pair.slot);
                block.insert(lane, &NewContact::of(pair, number, settings));
            }
        }
        self.invalidate(collision, constraints, body);
    }

    /// Removes the contacts of a body that is about to be removed.
    pub(crate) fn remove(
        &mut self,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
        body: u32,
    ) {
        for number in collision.pairs_of(body) {
            constraints.contacts.release(&mut collision.pairs, number);
        }
        self.dirty.lists = true;
        constraints.joints.mark_dirty();
    }

    /// Updates the contacts of a body whose material was changed.
    pub(crate) fn refresh_materials(
        &mut self,
        collision: &CollisionPipeline,
        constraints: &mut Constraints,
        body: u32,
    ) {
        for number in collision.pairs_of(body) {
            let pair = &collision.pairs.all[number as usize];
            self.any_restitution |= pair.restitution > 0.0;
            if pair.has_contact() {
                let (block, lane) = constraints.contacts.block_mut(pair.slot);
                block.rows.friction.0[lane] = pair.friction;
                block.cache.restitution.0[lane] = pair.restitution;
                block.any_restitution |= pair.restitution > 0.0;
            }
        }
    }
}
