//! The state, contacts and report of one step, bit for bit.

use msd_sim::math::{Quat, Vec3};
use msd_sim::{
    Body, BodyId, ContactEvent, ContactView, HitEvent, JointDef, JointId, Ledger, SensorEvent,
    StepReport, World,
};

use crate::body::ColliderKey;
use crate::difference::first_difference;

/// The state, contacts, events and report of one step, with every bit of every number.
///
/// Two frames are equal if no bit differs: zeros of different sign are not equal, and a NaN equals
/// itself.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Number of steps taken.
    pub step: u64,
    /// Simulated time, s.
    pub time: f64,
    /// [`World::state_hash`].
    pub state_hash: u64,
    /// States of all bodies, by index.
    pub states: Vec<BodyState>,
    /// Whether contacts were recorded; if not, `contacts` and `points` are empty.
    pub has_contacts: bool,
    /// Pairs that touch or are about to touch, ordered by their colliders.
    pub contacts: Vec<PairRecord>,
    /// Contact points of all pairs, in the order of the pairs; see [`points_of`](Self::points_of).
    pub points: Vec<PointRecord>,
    /// All joints, by index; `None` in recordings of earlier versions, which did not record them.
    pub joints: Option<Vec<JointRecord>>,
    /// Events of the step.
    pub events: EventsRecord,
    /// Report of the step; its `audit` is the ledger.
    pub report: StepReport,
}

/// The key of a body in a recording, the counterpart of [`BodyId`] in a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyKey {
    /// Slot of the body, reused after a removal.
    pub index: u32,
    /// Number of earlier bodies in the slot.
    pub generation: u32,
}

/// The pose and velocity of a body.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyState {
    /// Key of the body.
    pub body: BodyKey,
    /// Center of mass, m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Velocity of the center of mass, m/s.
    pub velocity: Vec3,
    /// Angular velocity in world axes, rad/s.
    pub angular_velocity: Vec3,
}

/// A pair of colliders that touch or are about to touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairRecord {
    /// The body of the collider with the smaller index.
    pub a: BodyKey,
    /// The other body.
    pub b: BodyKey,
    /// The two colliders. Recordings of versions with one collider a body do not hold them: there it has the key of its
    /// body.
    pub colliders: [ColliderKey; 2],
    /// Unit direction from A to B.
    pub normal: Vec3,
    /// Friction coefficient of the pair.
    pub friction: f64,
    /// Restitution coefficient of the pair.
    pub restitution: f64,
    /// Impulse on B over the step, N s.
    pub impulse: Vec3,
    /// Index of its first point in the points of the frame.
    pub first_point: u32,
    /// Number of its points.
    pub point_count: u32,
}

/// A point at which two colliders touch or are about to touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointRecord {
    /// Position midway between the surfaces, m.
    pub position: Vec3,
    /// Distance of the surfaces along the normal, m; negative where they overlap.
    pub gap: f64,
    /// Impulse on B in the last substep, N s.
    pub impulse: Vec3,
    /// Impulse on B over the step, N s.
    pub total_impulse: Vec3,
    /// Normal velocity before the impact, m/s; zero if there is no impact.
    pub approach: f64,
    /// Violation of the contact and friction laws, m/s; `None` if not measured.
    pub residual: Option<f64>,
    /// Bits that identify the two features in contact.
    pub feature: u64,
}

/// The impulse of a joint in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointRecord {
    /// Slot of the joint, reused after a removal: for a scene, the position of the joint in the file.
    pub index: u32,
    /// Number of earlier joints in the slot.
    pub generation: u32,
    /// The first body of the joint.
    pub a: BodyKey,
    /// The second body.
    pub b: BodyKey,
    /// Impulse on B over the step, N s.
    pub impulse: Vec3,
}

/// The events of a step.
#[derive(Clone, Debug, Default)]
pub struct EventsRecord {
    /// Pairs of colliders that began to touch.
    pub begun: Vec<ContactEventRecord>,
    /// Pairs of colliders that stopped touching.
    pub ended: Vec<ContactEventRecord>,
    /// Impacts.
    pub hits: Vec<HitRecord>,
    /// Colliders that entered a sensor.
    pub entered: Vec<SensorEventRecord>,
    /// Colliders that left a sensor.
    pub left: Vec<SensorEventRecord>,
    /// Bodies that were reset because their state was no longer finite.
    pub quarantined: Vec<BodyKey>,
}

/// The start or the end of a contact of two colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactEventRecord {
    /// The body of the collider with the smaller index.
    pub a: BodyKey,
    /// The other body.
    pub b: BodyKey,
    /// The two colliders.
    pub colliders: [ColliderKey; 2],
}

/// A collider that entered or left a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensorEventRecord {
    /// The sensor.
    pub sensor: ColliderKey,
    /// The other collider.
    pub other: ColliderKey,
}

/// An impact of two colliders faster than the rest speed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HitRecord {
    /// The body of the collider with the smaller index.
    pub a: BodyKey,
    /// The other body.
    pub b: BodyKey,
    /// The two colliders.
    pub colliders: [ColliderKey; 2],
    /// Position, m.
    pub position: Vec3,
    /// Unit direction from A to B.
    pub normal: Vec3,
    /// Speed of approach, m/s.
    pub speed: f64,
    /// Sum of the normal impulses over the step, N s.
    pub impulse: f64,
}

impl Frame {
    /// Copies the current state of the world.
    pub fn of(world: &World) -> Self {
        let mut frame = Self::default();
        frame.fill(world);
        frame
    }

    /// Overwrites the frame with the current state of the world; memory is reused.
    pub fn fill(&mut self, world: &World) {
        self.step = world.steps();
        self.time = world.time();
        self.state_hash = world.state_hash();
        self.report = *world.report();
        self.states.clear();
        self.states.extend(world.bodies().map(BodyState::of));
        self.has_contacts = true;
        self.contacts.clear();
        self.points.clear();
        for contact in world.contacts() {
            self.contacts.push(PairRecord::of(&contact, self.points.len()));
            self.points.extend(contact.points().iter().map(|point| PointRecord {
                position: point.position,
                gap: point.gap,
                impulse: point.impulse,
                total_impulse: point.total_impulse,
                approach: point.approach,
                residual: point.residual,
                feature: point.feature.bits(),
            }));
        }
        let mut joints = self.joints.take().unwrap_or_default();
        refill(&mut joints, world.joints().map(|(id, def)| JointRecord::of(world, id, def)));
        self.joints = Some(joints);
        let events = world.events();
        let begun = events.begun().iter().map(ContactEventRecord::of);
        refill(&mut self.events.begun, begun);
        let ended = events.ended().iter().map(ContactEventRecord::of);
        refill(&mut self.events.ended, ended);
        refill(&mut self.events.hits, events.hits().iter().map(HitRecord::of));
        let entered = events.entered().iter().map(SensorEventRecord::of);
        refill(&mut self.events.entered, entered);
        refill(&mut self.events.left, events.left().iter().map(SensorEventRecord::of));
        refill(&mut self.events.quarantined, events.quarantined().iter().map(|&id| id.into()));
    }

    /// Removes the contacts, as in recordings without them.
    pub fn clear_contacts(&mut self) {
        self.has_contacts = false;
        self.contacts.clear();
        self.points.clear();
    }

    /// Returns the points of one of the frame's pairs.
    pub fn points_of(&self, pair: &PairRecord) -> &[PointRecord] {
        let first = pair.first_point as usize;
        self.points.get(first..first + pair.point_count as usize).unwrap_or_default()
    }

    /// Returns the energy and momentum ledger of the step, if the run was audited.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.report.audit.as_ref()
    }

    /// Returns the state of the body with this index.
    pub fn state(&self, index: u32) -> Option<&BodyState> {
        let place = self.states.binary_search_by_key(&index, |state| state.body.index).ok()?;
        self.states.get(place)
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.has_contacts == other.has_contacts
            && self.joints.is_some() == other.joints.is_some()
            && first_difference(self, other).is_none()
    }
}

fn refill<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) {
    list.clear();
    list.extend(items);
}

impl From<BodyId> for BodyKey {
    fn from(id: BodyId) -> Self {
        Self { index: id.index() as u32, generation: id.generation() }
    }
}

impl BodyState {
    fn of(body: Body<'_>) -> Self {
        let (pose, velocity) = (body.pose(), body.velocity());
        Self {
            body: body.id().into(),
            position: pose.position,
            rotation: pose.rotation,
            velocity: velocity.linear,
            angular_velocity: velocity.angular,
        }
    }
}

impl PairRecord {
    fn of(contact: &ContactView<'_>, first_point: usize) -> Self {
        Self {
            a: contact.a().into(),
            b: contact.b().into(),
            colliders: contact.colliders().map(ColliderKey::from),
            normal: contact.normal(),
            friction: contact.friction(),
            restitution: contact.restitution(),
            impulse: contact.impulse(),
            first_point: first_point as u32,
            point_count: contact.points().len() as u32,
        }
    }
}

impl JointRecord {
    fn of(world: &World, id: JointId, def: &JointDef) -> Self {
        let [(a, _), (b, _)] = def.ends();
        Self {
            index: id.index() as u32,
            generation: id.generation(),
            a: a.into(),
            b: b.into(),
            // The world lists the joint, so the lookup cannot fail.
            impulse: world.joint_impulse(id).unwrap_or_default(),
        }
    }
}

impl HitRecord {
    fn of(hit: &HitEvent) -> Self {
        let &HitEvent { a, b, colliders, position, normal, speed, impulse } = hit;
        let colliders = colliders.map(ColliderKey::from);
        Self { a: a.into(), b: b.into(), colliders, position, normal, speed, impulse }
    }
}

impl ContactEventRecord {
    fn of(event: &ContactEvent) -> Self {
        let &ContactEvent { a, b, colliders } = event;
        Self { a: a.into(), b: b.into(), colliders: colliders.map(ColliderKey::from) }
    }
}

impl SensorEventRecord {
    fn of(event: &SensorEvent) -> Self {
        Self { sensor: event.sensor.into(), other: event.other.into() }
    }
}
