//! Events: lists of what happened in a step, to be read afterwards.

use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Hit};
use crate::id::{BodyId, ColliderId};
use crate::math::Vec3;
use crate::motion::Motion;

/// The start or end of a contact between two colliders.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContactEvent {
    /// The body of the collider with the smaller index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// The two colliders.
    pub colliders: [ColliderId; 2],
}

/// An impact of two colliders faster than the rest speed.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HitEvent {
    /// The body of the collider with the smaller index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// The two colliders.
    pub colliders: [ColliderId; 2],
    /// Position of the impact; of several points, the fastest.
    pub position: Vec3,
    /// Unit direction from A to B.
    pub normal: Vec3,
    /// Approach speed, m/s.
    pub speed: f64,
    /// Sum of the normal impulses over the step, N s.
    pub impulse: f64,
}

/// A collider that entered or left a sensor.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SensorEvent {
    /// The sensor.
    pub sensor: ColliderId,
    /// The other collider. If it left because it was removed, no such collider exists any longer.
    pub other: ColliderId,
}

/// The events of the last step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Events {
    begun: Vec<ContactEvent>,
    ended: Vec<ContactEvent>,
    hits: Vec<HitEvent>,
    entered: Vec<SensorEvent>,
    left: Vec<SensorEvent>,
    pub(crate) quarantined: Vec<BodyId>,
}

impl Events {
    /// Returns the pairs of colliders that began to touch.
    pub fn begun(&self) -> &[ContactEvent] {
        &self.begun
    }

    /// Returns the pairs of colliders that ceased to touch.
    pub fn ended(&self) -> &[ContactEvent] {
        &self.ended
    }

    /// Returns the impacts.
    pub fn hits(&self) -> &[HitEvent] {
        &self.hits
    }

    /// Returns the colliders that overlap a sensor and did not after the step before: see
    /// [`Collider::sensor`](crate::Collider::sensor).
    pub fn entered(&self) -> &[SensorEvent] {
        &self.entered
    }

    /// Returns the colliders that overlapped a sensor after the step before, and no longer do.
    pub fn left(&self) -> &[SensorEvent] {
        &self.left
    }

    /// Returns the bodies whose state was no longer finite: they were reset to the start of the step, at rest.
    pub fn quarantined(&self) -> &[BodyId] {
        &self.quarantined
    }

    /// Resets those of some bodies whose state is no longer finite, and lists them; the others continue.
    pub(crate) fn quarantine(
        &mut self,
        bodies: &mut BodySet,
        motion: &mut Motion,
        some: impl Iterator<Item = u32>,
    ) {
        self.quarantined.clear();
        motion.quarantine(bodies, some, |id| self.quarantined.push(id));
    }

    /// Clears the contacts and hits of the last step.
    pub(crate) fn begin_step(&mut self) {
        self.begun.clear();
        self.ended.clear();
        self.hits.clear();
        self.entered.clear();
        self.left.clear();
    }

    /// Adds a collider that entered a sensor.
    pub(crate) fn add_entry(&mut self, [sensor, other]: [ColliderId; 2]) {
        self.entered.push(SensorEvent { sensor, other });
    }

    /// Adds a collider that left a sensor.
    pub(crate) fn add_exit(&mut self, [sensor, other]: [ColliderId; 2]) {
        self.left.push(SensorEvent { sensor, other });
    }

    /// Adds the start or the end of a contact.
    pub(crate) fn add_change(&mut self, bodies: &BodySet, key: (u32, u32), touches: bool) {
        let ([a, b], colliders) = ends(bodies, key);
        let list = if touches { &mut self.begun } else { &mut self.ended };
        list.push(ContactEvent { a, b, colliders });
    }

    /// Adds an impact, with the sum of the normal impulses over the step, N s.
    pub(crate) fn add_hit(&mut self, bodies: &BodySet, key: (u32, u32), hit: &Hit, impulse: f64) {
        let ([a, b], colliders) = ends(bodies, key);
        let Hit { position, normal, speed } = *hit;
        self.hits.push(HitEvent { a, b, colliders, position, normal, speed, impulse });
    }

    /// Compares the pairs of exact bodies that touch now with those that touched before, and sorts all events by their
    /// colliders.
    pub(crate) fn collect(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        for &key in &collision.separated {
            if [key.0, key.1].iter().all(|&at| bodies.colliders.slots.is_occupied(at)) {
                self.add_change(bodies, key, false);
            }
        }
        collision.separated.clear();
        collision.for_each_near(|pair, contact| {
            let overlaps = contact.points().iter().any(|point| point.gap <= 0.0);
            let touching = contact.normal_impulse > 0.0 || overlaps;
            if std::mem::replace(&mut pair.touching, touching) != touching {
                self.add_change(bodies, pair.key(), touching);
            }
        });
        for (pair, impulse, hit) in collision.hits() {
            self.add_hit(bodies, pair.key(), hit, impulse);
        }
        for list in [&mut self.begun, &mut self.ended] {
            list.sort_unstable_by_key(|event| event.colliders);
        }
        self.hits.sort_unstable_by_key(|hit| hit.colliders);
    }
}

/// Returns the bodies and the handles of two colliders.
fn ends(bodies: &BodySet, (a, b): (u32, u32)) -> ([BodyId; 2], [ColliderId; 2]) {
    let owners = bodies.colliders.bodies((a, b));
    (owners.map(|body| bodies.id(body)), [a, b].map(|collider| bodies.colliders.id(collider)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::{BodyDef, Settings, World};

    /// Two balls near each other, in a world that has found the pair.
    fn near() -> World {
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        for x in [0.0, 1.005] {
            let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0);
            world.add_body(ball.position(Vec3::X * x)).unwrap();
        }
        world.step(1.0 / 60.0).unwrap();
        world
    }

    /// Collects the events; returns the numbers of begun, ended and hit pairs.
    fn collect(world: &mut World) -> [usize; 3] {
        let World { model, contacts, output, .. } = world;
        let bodies = &model.bodies;
        let collision = &mut contacts.collision;
        let events = &mut output.events;
        events.begin_step();
        events.collect(bodies, collision);
        [events.begun.len(), events.ended.len(), events.hits.len()]
    }

    #[test]
    fn a_pair_begins_once_and_ends_once() {
        let mut world = near();
        assert_eq!(collect(&mut world), [0, 0, 0]);
        // By an impulse, or by an overlap at the end of the step.
        world.contacts.collision.contact_mut(0).normal_impulse = 1.0;
        assert_eq!(collect(&mut world), [1, 0, 0]);
        assert_eq!(collect(&mut world), [0, 0, 0]);
        world.contacts.collision.contact_mut(0).normal_impulse = 0.0;
        world.contacts.collision.contact_mut(0).points[0].gap = 0.0;
        assert_eq!(collect(&mut world), [0, 0, 0]);
        world.contacts.collision.contact_mut(0).points[0].gap = 1e-9;
        assert_eq!(collect(&mut world), [0, 1, 0]);
        assert_eq!(collect(&mut world), [0, 0, 0]);
    }

    #[test]
    fn a_pair_that_is_no_longer_near_ends_if_both_bodies_are_there() {
        let mut world = near();
        world.contacts.collision.separated.push((0, 1));
        assert_eq!(collect(&mut world), [0, 1, 0]);
        let [a, b] = [0, 1].map(|body| world.model.bodies.id(body));
        let colliders = [0, 1].map(|at| world.model.bodies.colliders.id(at));
        assert_eq!(world.output.events.ended, [ContactEvent { a, b, colliders }]);
        assert_eq!(collect(&mut world), [0, 0, 0]);
        world.contacts.collision.separated.push((0, 1));
        world.remove_body(b).unwrap();
        assert_eq!(collect(&mut world), [0, 0, 0]);
    }

    #[test]
    fn a_hit_is_reported_with_the_impulse_of_the_step() {
        let mut world = near();
        let contact = world.contacts.collision.contact_mut(0);
        (contact.normal, contact.points[0].position) = (Vec3::X, Vec3::Y);
        for (impulse, approach) in [(0.5, -2.0), (1.5, -3.0), (0.5, -1.0)] {
            world.contacts.collision.near_list().add_impulse(0, 0, Vec3::X * impulse, approach);
        }
        assert_eq!(collect(&mut world), [1, 0, 1]);
        let [a, b] = [0, 1].map(|body| world.model.bodies.id(body));
        let (position, normal) = (Vec3::Y, Vec3::X);
        let colliders = [0, 1].map(|at| world.model.bodies.colliders.id(at));
        let expected = HitEvent { a, b, colliders, position, normal, speed: 3.0, impulse: 2.5 };
        assert_eq!(world.output.events.hits, [expected]);
    }
}
