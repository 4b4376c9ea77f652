//! The one place that notifies collision pipeline, constraints, motion and swept state of changes between steps.

use super::{IslandStates, World};
use crate::constraints::Contacts;
use crate::model::Model;

/// A change of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    /// It was moved other than by a step: its contacts and joints start without impulses.
    Pose,
    Velocity,
    /// Its mass, damping, gravity scale, or a force on it.
    Load,
    /// The shape or place of one of its colliders, or of all of them.
    Shape {
        collider: Option<u32>,
    },
    Material,
    Filter,
    /// One of its colliders is about to be removed, or the body with all of them.
    Removed {
        collider: Option<u32>,
    },
}

/// Updates everything that depends on a body, and wakes it and the bodies that rest on it or hang from it.
pub(crate) fn notify(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    body: u32,
    change: Change,
) {
    let Model { bodies, joints, settings, .. } = model;
    let Contacts { collision, constraints } = contacts;
    let IslandStates { problems, motion, rest, swept, methods } = states;
    rest.mark_changed(body);
    if matches!(change, Change::Added | Change::Removed { collider: None }) {
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
        Change::Shape { collider: Some(collider) }
        | Change::Removed { collider: Some(collider) } => {
            collision.pairs_with(|key| key.0 == collider || key.1 == collider)
        }
        _ => collision.pairs_with(|key| bodies.colliders.bodies(key).contains(&body)),
    };
    if rest.any_asleep() && !bodies.is_inertial(body as usize) {
        // Wakes the bodies that rest on it or hang from it.
        for entry in &collision.pairs.order {
            let pair = &collision.pairs.all[entry.number as usize];
            if pair.bodies.contains(&body) && pair.has_contact() {
                rest.mark_inertial_changed(bodies, pair.bodies);
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
            collision.invalidate(bodies, &pairs, false);
            collision.reset_bounds(bodies, body);
            constraints.invalidate(&collision.pairs, &pairs);
            joints.forget(body);
            motion.invalidate(body);
        }
        Change::Shape { collider } => {
            collision.invalidate(bodies, &pairs, true);
            match collider {
                None => collision.reset_bounds(bodies, body),
                Some(_) => collision.end_bounds(bodies, body),
            }
            constraints.reshape(&collision.pairs, &pairs, settings);
            motion.invalidate(body);
        }
        Change::Material => {
            collision.refresh_materials(bodies, &pairs);
            constraints.refresh_materials(&collision.pairs, &pairs);
            let bounces = |&number: &u32| collision.pairs.all[number as usize].restitution > 0.0;
            swept.any_restitution |= pairs.iter().any(bounces);
        }
        Change::Filter => collision.refilter_body(bodies, body, &pairs),
        Change::Removed { collider } => {
            for &number in &pairs {
                constraints.release(&mut collision.pairs, number);
            }
            collision.remove_pairs(&pairs);
            if let Some(collider) = collider {
                return collision.remove_collider(collider);
            }
            for index in joints.of(body) {
                rest.mark_inertial_changed(bodies, joints.joints[index as usize].bodies);
            }
            joints.remove_body(body);
            constraints.joints.mark_dirty();
            collision.remove(bodies, body);
        }
    }
    if !matches!(change, Change::Load | Change::Material | Change::Filter) {
        swept.mark_lists_dirty();
    }
}

impl World {
    /// Updates everything that depends on a body: see [`notify`].
    pub(crate) fn notify(&mut self, body: u32, change: Change) {
        notify(&mut self.model, &mut self.contacts, &mut self.states, body, change);
    }

    /// Updates everything that depends on a joint of two bodies, or on whether they collide, and wakes them: O(log n)
    /// for n pairs, unless one of them sleeps.
    pub(crate) fn notify_link(&mut self, pair: [u32; 2]) {
        let Self { model, contacts, states, .. } = self;
        let Contacts { collision, constraints } = contacts;
        let IslandStates { swept, rest, .. } = states;
        let bodies = &model.bodies;
        // Neither a joint nor a filter changes the environment itself, on which others may rest.
        rest.mark_inertial_changed(bodies, pair);
        for &body in &pair {
            swept.wake(bodies, collision, constraints, body);
        }
        collision.refilter(bodies, pair[0], pair[1]);
    }
}
