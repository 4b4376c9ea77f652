//! The one place that tells collision pipeline, motion and swept state of changes between steps.

use super::World;

/// A change of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    /// It was moved other than by a step: its contacts and joints start without impulses.
    Pose,
    Velocity,
    /// Its mass, damping, gravity scale, or a force on it.
    Load,
    Shape,
    Material,
    Filter,
    /// It is about to be removed.
    Removed,
}

impl World {
    /// Updates everything that depends on a body, and wakes it and the bodies that rest on it or hang from it.
    pub(crate) fn notify(&mut self, body: u32, change: Change) {
        let Self { bodies, joints, settings, collision, constraints, motion, swept, .. } = self;
        if change != Change::Added {
            swept.wake_neighbors(bodies, joints, collision, constraints, body);
        }
        match change {
            Change::Added => {
                collision.insert(bodies, body);
                motion.invalidate(body);
                swept.mark_lists_dirty();
            }
            Change::Pose => {
                collision.invalidate(bodies, body, false);
                joints.forget(body);
                motion.invalidate(body);
                swept.invalidate(collision, constraints, body);
            }
            Change::Velocity => {
                collision.mark_velocity_dirty(bodies, body);
                swept.mark_lists_dirty();
            }
            Change::Load => {}
            Change::Shape => {
                collision.invalidate(bodies, body, true);
                motion.invalidate(body);
                swept.reshape(collision, constraints, settings, body);
            }
            Change::Material => {
                collision.refresh_materials(bodies, body);
                swept.refresh_materials(collision, constraints, body);
            }
            Change::Filter => {
                let graph = &mut constraints.contacts;
                collision.refilter_body(body, bodies, joints, |collision, number| {
                    graph.remove_contact(&mut collision.pairs, number);
                });
            }
            Change::Removed => {
                joints.remove_body(body);
                swept.remove(collision, constraints, body);
                collision.remove(body);
            }
        }
    }

    /// Updates everything that depends on a joint of two bodies, or on whether they collide, and wakes them.
    pub(crate) fn notify_link(&mut self, pair: [u32; 2]) {
        let Self { bodies, joints, collision, constraints, swept, .. } = self;
        pair.iter().for_each(|&body| swept.wake(bodies, collision, constraints, body));
        let key = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        if let Some(number) = collision.refilter(key, bodies, joints) {
            constraints.contacts.remove_contact(&mut collision.pairs, number);
        }
        constraints.joints.mark_dirty();
    }
}
