//! The end of swept stepping, and changes of bodies between two steps.

use super::Swept;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::Constraints;

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
        let (pairs, near, _) = collision.pairs_and_near();
        for entry in &pairs.order {
            let pair = &pairs.all[entry.number as usize];
            if pair.has_contact() {
                let contact = self.contact(bodies, constraints, pair, entry.number, true);
                near.resume(bodies, entry.number, &contact);
            }
        }
    }

    /// Registers that the set of bodies that move may have changed.
    pub(crate) fn mark_lists_dirty(&mut self) {
        self.lists_dirty = true;
    }
}
