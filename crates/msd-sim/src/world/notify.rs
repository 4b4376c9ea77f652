//! The one place that notifies collision pipeline, constraints, motion and swept state of changes between steps.

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
        let Self { bodies, joints, settings, collision, constraints, .. } = self;
        let Self { problems, motion, rest, swept, methods, .. } = self;
        rest.mark_changed(body);
        if matches!(change, Change::Added | Change::Removed) {
            methods.reset(body);
            problems.costs.reset(body);
        }
        if change == Change::Added {
            collision.insert(bodies, body);
            motion.invalidate(body);
            return swept.mark_lists_dirty();
        }
        swept.wake_neighbors(bodies, joints, collision, constraints, body);
        let pairs = match change {
            Change::Added | Change::Velocity | Change::Load => Vec::new(),
            _ => collision.pairs_of(body),
        };
        if rest.any_asleep() && !bodies.is_inertial(body as usize) {
            // Wakes the bodies that rest on it or hang from it.
            for entry in &collision.pairs.order {
                let touches = [entry.key.0, entry.key.1].contains(&body);
                if touches && collision.pairs.all[entry.number as usize].has_contact() {
                    rest.mark_inertial_changed(bodies, [entry.key.0, entry.key.1]);
                }
            }
            for index in joints.of(body) {
                rest.mark_inertial_changed(bodies, joints.joints[index as usize].bodies);
            }
        }
        for &number in &pairs {
            rest.mark_inertial_changed(bodies, collision.pairs.all[number as usize].bodies);
        }
        match change {
            Change::Added | Change::Load => {}
            Change::Velocity => collision.mark_velocity_dirty(bodies, body),
            Change::Pose => {
                collision.invalidate(bodies, body, &pairs, false);
                constraints.invalidate(&collision.pairs, &pairs);
                joints.forget(body);
                motion.invalidate(body);
            }
            Change::Shape => {
                collision.invalidate(bodies, body, &pairs, true);
                constraints.reshape(&collision.pairs, &pairs, settings);
                motion.invalidate(body);
            }
            Change::Material => {
                collision.refresh_materials(bodies, &pairs);
                constraints.refresh_materials(&collision.pairs, &pairs);
                let bounces =
                    |&number: &u32| collision.pairs.all[number as usize].restitution > 0.0;
                swept.any_restitution |= pairs.iter().any(bounces);
            }
            Change::Filter => collision.refilter_body(body, &pairs),
            Change::Removed => {
                for index in joints.of(body) {
                    rest.mark_inertial_changed(bodies, joints.joints[index as usize].bodies);
                }
                joints.remove_body(body);
                constraints.joints.mark_dirty();
                for &number in &pairs {
                    constraints.release(&mut collision.pairs, number);
                }
                collision.remove(body, &pairs);
            }
        }
        if matches!(change, Change::Pose | Change::Velocity | Change::Shape | Change::Removed) {
            swept.mark_lists_dirty();
        }
    }

    /// Updates everything that depends on a joint of two bodies, or on whether they collide, and wakes them: O(log n)
    /// for n pairs, unless one of them sleeps.
    pub(crate) fn notify_link(&mut self, pair: [u32; 2]) {
        let Self { bodies, collision, constraints, swept, rest, .. } = self;
        // Neither a joint nor a filter changes the environment itself, on which others may rest.
        rest.mark_inertial_changed(bodies, pair);
        for &body in &pair {
            swept.wake(bodies, collision, constraints, body);
        }
        collision.refilter(pair[0], pair[1]);
    }
}
