//! What happened in a step, as lists to be read afterwards.

use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Hit};
use crate::id::BodyId;
use crate::joints::JointSet;
use crate::math::Vec3;
use crate::motion::Motion;

/// Two bodies began or ceased to touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactEvent {
    /// The body with the smaller index.
    pub a: BodyId,
    /// The other one.
    pub b: BodyId,
}

/// Two bodies hit each other faster than the rest speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitEvent {
    /// The body with the smaller index.
    pub a: BodyId,
    /// The other one.
    pub b: BodyId,
    /// Where, of several points the fastest.
    pub position: Vec3,
    /// Unit direction from A to B.
    pub normal: Vec3,
    /// Speed of approach, m/s.
    pub speed: f64,
    /// Sum of the normal impulses over the step, N s.
    pub impulse: f64,
}

/// What happened in the last step.
#[derive(Clone, Debug, Default)]
pub struct Events {
    pub(crate) begun: Vec<ContactEvent>,
    pub(crate) ended: Vec<ContactEvent>,
    pub(crate) hits: Vec<HitEvent>,
    pub(crate) contained: Vec<BodyId>,
}

impl Events {
    /// Pairs that began to touch.
    pub fn begun(&self) -> &[ContactEvent] {
        &self.begun
    }

    /// Pairs that ceased to touch.
    pub fn ended(&self) -> &[ContactEvent] {
        &self.ended
    }

    /// Impacts.
    pub fn hits(&self) -> &[HitEvent] {
        &self.hits
    }

    /// Bodies whose state was no longer finite: they were put back to where the step began, at rest.
    pub fn contained(&self) -> &[BodyId] {
        &self.contained
    }

    /// Finds bodies whose state is no longer finite; the rest go on.
    pub(crate) fn contain(
        &mut self,
        bodies: &mut BodySet,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
        motion: &mut Motion,
    ) {
        self.contained.clear();
        let contained = &mut self.contained;
        motion.contain(bodies, |id| contained.push(id));
        for id in &self.contained {
            collision.forget(bodies, id.index);
            joints.forget(id.index);
        }
    }

    /// Stage 8: compares what touches now with what touched before.
    pub(crate) fn collect(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        self.begun.clear();
        self.ended.clear();
        self.hits.clear();
        let ids = |pair: [u32; 2]| pair.map(|body| bodies.id(body));
        for &(a, b) in &collision.parted {
            if bodies.slots.is_occupied(a) && bodies.slots.is_occupied(b) {
                let [a, b] = ids([a, b]);
                self.ended.push(ContactEvent { a, b });
            }
        }
        collision.parted.clear();
        let (begun, ended, hits) = (&mut self.begun, &mut self.ended, &mut self.hits);
        collision.for_each_pair(|pair| {
            pair.touched = pair.touching;
            pair.touching = pair.push > 0.0 || pair.points().iter().any(|point| point.gap <= 0.0);
            let [a, b] = ids(pair.bodies);
            match (pair.touched, pair.touching) {
                (false, true) => begun.push(ContactEvent { a, b }),
                (true, false) => ended.push(ContactEvent { a, b }),
                _ => {}
            }
            if let Some(Hit { position, normal, speed }) = pair.hit {
                hits.push(HitEvent { a, b, position, normal, speed, impulse: pair.push });
            }
        });
    }
}
