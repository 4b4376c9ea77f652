//! Sensors: colliders that push nothing, and report what overlaps them.
//!
//! A pass after the step compares what overlaps each sensor with what did before. It sees all bodies: moving ones, those at
//! rest or asleep, and the environment.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::events::Events;
use crate::geometry::{Simplex, Workspace, separation};
use crate::id::ColliderId;

/// What overlaps each sensor.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Sensors {
    /// Sensors and the colliders that overlap them, ascending: after the last step, and after the step before.
    overlaps: Vec<[ColliderId; 2]>,
    #[serde(skip)]
    before: Vec<[ColliderId; 2]>,
    #[serde(skip)]
    workspace: Workspace,
}

impl Sensors {
    /// Finds what overlaps each sensor now, and lists what entered and left.
    pub(crate) fn update(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        events: &mut Events,
    ) {
        let Self { overlaps, before, workspace } = self;
        std::mem::swap(overlaps, before);
        overlaps.clear();
        for &sensor in bodies.colliders.sensors() {
            find_overlaps(bodies, collision, sensor, workspace, |other| {
                overlaps.push([sensor, other].map(|collider| bodies.colliders.id(collider)));
            });
        }
        overlaps.sort_unstable();
        let exists = |sensor: ColliderId| bodies.colliders.find(sensor).is_ok();
        for pair in overlaps.iter().filter(|pair| before.binary_search(pair).is_err()) {
            events.add_entry(*pair);
        }
        for pair in before.iter().filter(|pair| overlaps.binary_search(pair).is_err()) {
            if exists(pair[0]) {
                events.add_exit(*pair);
            }
        }
    }

    /// Returns the colliders that overlapped a sensor after the last step, ascending.
    pub(crate) fn overlaps_of(&self, sensor: ColliderId) -> impl Iterator<Item = ColliderId> + '_ {
        let first = self.overlaps.partition_point(|pair| pair[0] < sensor);
        let of_sensor = self.overlaps[first..].iter().take_while(move |pair| pair[0] == sensor);
        of_sensor.map(|pair| pair[1])
    }
}

/// Calls `found` with every collider that overlaps or touches a sensor.
fn find_overlaps(
    bodies: &BodySet,
    collision: &CollisionPipeline,
    sensor: u32,
    workspace: &mut Workspace,
    mut found: impl FnMut(u32),
) {
    let colliders = &bodies.colliders;
    let (solid, pose) = (&colliders.solids[sensor as usize], bodies.shape_pose(sensor));
    if !solid.is_enabled {
        return;
    }
    let (body, bounds) = (colliders.body(sensor), bodies.bounds(sensor));
    collision.query(&bounds, |other| {
        let of_other = &colliders.solids[other as usize];
        let seen = colliders.body(other) != body
            && of_other.is_solid()
            && solid.filter.allows(&of_other.filter)
            && bodies.bounds(other).overlaps(&bounds);
        if !seen {
            return;
        }
        let (shape, at) = (&of_other.shape, bodies.shape_pose(other));
        let simplex = &mut Simplex::default();
        let apart = separation(&solid.shape, &pose, shape, &at, simplex, workspace);
        // None: two half-spaces whose overlap is unbounded.
        if apart.is_none_or(|apart| apart.distance <= 0.0) {
            found(other);
        }
    });
}
