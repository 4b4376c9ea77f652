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
    /// A joint of it was added or removed, or whether it collides with another body.
    Link,
    /// It is about to be removed.
    Removed,
}

impl World {
    /// Updates everything that depends on a body, and wakes it and the bodies that rest on it or hang from it.
    pub(crate) fn notify(&mut self, body: u32, change: Change) {
        let Self { bodies, joints, settings, collision, motion, swept, .. } = self;
        match change {
            Change::Added => {}
            Change::Link => swept.wake(bodies, body),
            _ => swept.wake_neighbors(bodies, joints, body),
        }
        match change {
            Change::Added => {
                collision.insert(bodies, body);
                motion.invalidate(body);
                swept.invalidate(body);
            }
            Change::Pose => {
                collision.invalidate(bodies, body);
                joints.forget(body);
                motion.invalidate(body);
                swept.invalidate(body);
            }
            Change::Velocity => {
                // The bounds of inertial bodies follow their velocities in every step.
                if !bodies.is_inertial(body as usize) {
                    collision.refresh(bodies, body, 0.0);
                }
                swept.mark_velocity_dirty(body);
            }
            Change::Load => {}
            Change::Shape => {
                collision.invalidate(bodies, body);
                motion.invalidate(body);
                swept.reshape(bodies, settings, body);
            }
            Change::Material => {
                collision.refresh_materials(bodies, body);
                swept.refresh_materials(bodies, body);
            }
            Change::Filter | Change::Link => swept.mark_filters_dirty(),
            Change::Removed => {
                joints.remove_body(body);
                collision.remove(body);
                swept.remove(body);
            }
        }
    }
}
