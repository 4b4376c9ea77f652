//! The messages of a recording, and the conversion between them and frames.
//!
//! Numbers of all bodies and of all contacts are stored in columns: `position` is x, y, z of the first body, then of
//! the second. Columns are copied as blocks and compress better.

use msd_sim::math::{Quat, SpatialVector, Vec3};
use msd_sim::solver::{Residual, SolveReport};
use msd_sim::{BodyId, ContactTerms, JointId, Ledger, StepReport, Violation};

use crate::body::ColliderKey;
use crate::bytes::Malformed;
use crate::frame::{
    BodyKey, BodyState, ContactEventRecord, EventsRecord, Frame, HitRecord, JointRecord,
    PairRecord, PointRecord, SensorEventRecord,
};
use crate::wire::message;

message! {
    /// A vector.
    VectorMessage = "msd.Vector" { 1 x: f64, 2 y: f64, 3 z: f64 }
}

message! {
    /// State, report, events and energy of one step.
    StepMessage = "msd.Step" {
        1 step: u64,
        2 time: f64,
        3 state_hash: u64,
        4 body: Vec<u32>,
        5 generation: Vec<u32>,
        6 position: Vec<f64>,
        7 rotation: Vec<f64>,
        8 velocity: Vec<f64>,
        9 angular_velocity: Vec<f64>,
        10 solve: Option<SolveMessage>,
        11 max_penetration: Option<f64>,
        12 contacts: u64,
        13 islands: Option<u64>,
        14 ledger: Option<LedgerMessage>,
        15 begun: Vec<PairMessage>,
        16 ended: Vec<PairMessage>,
        17 hits: Vec<HitMessage>,
        18 quarantined: Vec<u32>,
        19 quarantined_generation: Vec<u32>,
        20 impact_times: u64,
        21 unresolved_impacts: u64,
        22 asleep: u64,
        23 exact: u64,
        24 swept: u64,
        25 worst_violation: Option<ViolationMessage>,
        26 max_joint_error: Option<f64>,
        27 worst_joint: Option<JointMessage>,
        28 exhausted: u64,
        29 joints: Option<JointsMessage>,
        30 resting: u64,
        31 entered: Vec<SensorEventMessage>,
        32 left: Vec<SensorEventMessage>,
    }
}

message! {
    /// The joints of one step in columns: slots, bodies, and the impulse on B over the step, N s.
    JointsMessage = "msd.Joints" {
        1 index: Vec<u32>,
        2 generation: Vec<u32>,
        3 a: Vec<u32>,
        4 a_generation: Vec<u32>,
        5 b: Vec<u32>,
        6 b_generation: Vec<u32>,
        7 impulse: Vec<f64>,
    }
}

message! {
    /// The contact or joint with the largest violation of its law, in m/s and relative to the speeds of its island.
    ViolationMessage = "msd.Violation" {
        1 pair: PairMessage,
        2 joint: Option<JointMessage>,
        3 residual: f64,
        4 relative: f64,
    }
}

message! {
    /// A joint.
    JointMessage = "msd.Joint" { 1 index: u32, 2 generation: u32 }
}

message! {
    /// The solve with the largest residual of the step; residuals in m/s.
    SolveMessage = "msd.Solve" {
        1 iterations: u64,
        2 converged: bool,
        3 signorini: f64,
        4 cone: f64,
        5 dissipation: f64,
        6 joint: f64,
        7 scale: f64,
    }
}

message! {
    /// Two bodies, and their colliders in contact. A collider with the index and the generation of its body is absent.
    PairMessage = "msd.Pair" {
        1 a: u32,
        2 a_generation: u32,
        3 b: u32,
        4 b_generation: u32,
        5 a_collider: Option<ColliderKeyMessage>,
        6 b_collider: Option<ColliderKeyMessage>,
    }
}

message! {
    /// The key of a collider.
    ColliderKeyMessage = "msd.ColliderKey" { 1 index: u32, 2 generation: u32 }
}

message! {
    /// A collider that entered or left a sensor.
    SensorEventMessage = "msd.SensorEvent" {
        1 sensor: ColliderKeyMessage,
        2 other: ColliderKeyMessage,
    }
}

message! {
    /// An impact.
    HitMessage = "msd.Hit" {
        1 pair: PairMessage,
        2 position: VectorMessage,
        3 normal: VectorMessage,
        4 speed: f64,
        5 impulse: f64,
    }
}

message! {
    /// Energy (J) and momentum (N s, N m s) of one step. The separate work terms of contacts and joints are absent if
    /// only their sum was measured.
    LedgerMessage = "msd.Ledger" {
        1 kinetic_before: f64,
        2 kinetic: f64,
        3 potential_before: f64,
        4 potential: f64,
        5 normal_impulses: Option<f64>,
        6 friction: Option<f64>,
        7 joints: Option<f64>,
        8 position_correction: Option<f64>,
        9 damping: f64,
        10 applied_forces: f64,
        11 moving_environment: f64,
        12 integration: Option<f64>,
        13 momentum_before: SpatialMessage,
        14 momentum: SpatialMessage,
        15 force_impulse: SpatialMessage,
        16 environment_impulse: SpatialMessage,
        17 correction_impulse: SpatialMessage,
        18 rest_speed_loss: Option<f64>,
    }
}

message! {
    /// A linear and an angular vector.
    SpatialMessage = "msd.Spatial" { 1 linear: VectorMessage, 2 angular: VectorMessage }
}

message! {
    /// The contacts of one step: columns of pairs, then columns of the points of all pairs. A residual that was not
    /// measured is NaN.
    ContactsMessage = "msd.Contacts" {
        1 step: u64,
        2 a: Vec<u32>,
        3 a_generation: Vec<u32>,
        4 b: Vec<u32>,
        5 b_generation: Vec<u32>,
        6 normal: Vec<f64>,
        7 friction: Vec<f64>,
        8 restitution: Vec<f64>,
        9 pair_impulse: Vec<f64>,
        10 point_count: Vec<u32>,
        11 position: Vec<f64>,
        12 gap: Vec<f64>,
        13 impulse: Vec<f64>,
        14 total_impulse: Vec<f64>,
        15 approach: Vec<f64>,
        16 residual: Vec<f64>,
        17 feature: Vec<u64>,
        18 colliders: Option<PairCollidersMessage>,
    }
}

message! {
    /// The colliders of all pairs of a step in columns. Absent if each has the index and the generation of its body.
    PairCollidersMessage = "msd.PairColliders" {
        1 a: Vec<u32>,
        2 a_generation: Vec<u32>,
        3 b: Vec<u32>,
        4 b_generation: Vec<u32>,
    }
}

const UNEVEN: Malformed = Malformed("columns of different lengths");

impl StepMessage {
    /// Overwrites the message with a frame; memory is reused.
    pub(crate) fn fill(&mut self, frame: &Frame) {
        self.step = frame.step;
        self.time = frame.time;
        self.state_hash = frame.state_hash;
        column(&mut self.body, &frame.states, |s| [s.body.index]);
        column(&mut self.generation, &frame.states, |s| [s.body.generation]);
        column(&mut self.position, &frame.states, |s| s.position.to_array());
        column(&mut self.rotation, &frame.states, |s| s.rotation.to_array());
        column(&mut self.velocity, &frame.states, |s| s.velocity.to_array());
        column(&mut self.angular_velocity, &frame.states, |s| s.angular_velocity.to_array());
        let report = &frame.report;
        self.solve = report.solve.as_ref().map(SolveMessage::of);
        self.worst_violation = report.worst_violation.as_ref().map(ViolationMessage::of);
        self.max_penetration = report.max_penetration;
        self.max_joint_error = report.max_joint_error;
        self.worst_joint = report.worst_joint.map(JointMessage::of);
        self.contacts = report.contacts as u64;
        self.islands = report.islands.map(|islands| islands as u64);
        self.impact_times = report.impact_times as u64;
        self.unresolved_impacts = report.unresolved_impacts as u64;
        self.exhausted = report.exhausted as u64;
        self.asleep = report.asleep as u64;
        (self.exact, self.swept) = (report.exact as u64, report.swept as u64);
        self.resting = report.resting as u64;
        self.ledger = report.audit.as_ref().map(LedgerMessage::of);
        self.joints = frame.joints.as_ref().map(|joints| {
            let mut message = self.joints.take().unwrap_or_default();
            message.fill(joints);
            message
        });
        let events = &frame.events;
        column(&mut self.begun, &events.begun, |event| [PairMessage::of_event(event)]);
        column(&mut self.ended, &events.ended, |event| [PairMessage::of_event(event)]);
        column(&mut self.entered, &events.entered, |event| [SensorEventMessage::of(event)]);
        column(&mut self.left, &events.left, |event| [SensorEventMessage::of(event)]);
        column(&mut self.hits, &events.hits, |hit| [HitMessage::of(hit)]);
        column(&mut self.quarantined, &events.quarantined, |key| [key.index]);
        column(&mut self.quarantined_generation, &events.quarantined, |key| [key.generation]);
    }

    /// Builds the frame from this message and the contacts of the same step, if they were recorded.
    pub(crate) fn into_frame(self, contacts: Option<&ContactsMessage>) -> Result<Frame, Malformed> {
        let bodies = self.body.len();
        let position = vectors(&self.position, bodies)?;
        let velocity = vectors(&self.velocity, bodies)?;
        let angular_velocity = vectors(&self.angular_velocity, bodies)?;
        let rotation = rows::<_, 4>(&self.rotation, bodies)?;
        let keys: Vec<BodyKey> = keys(&self.body, &self.generation)?;
        let states = (0..bodies).map(|i| BodyState {
            body: keys[i],
            position: position[i],
            rotation: Quat::from_array(rotation[i]),
            velocity: velocity[i],
            angular_velocity: angular_velocity[i],
        });
        let (pairs, points) = contacts.map_or(Ok(Default::default()), ContactsMessage::unpack)?;
        Ok(Frame {
            has_contacts: contacts.is_some(),
            joints: self.joints.as_ref().map(JointsMessage::unpack).transpose()?,
            step: self.step,
            time: self.time,
            state_hash: self.state_hash,
            states: states.collect(),
            contacts: pairs,
            points,
            events: EventsRecord {
                begun: self.begun.iter().map(PairMessage::event).collect(),
                ended: self.ended.iter().map(PairMessage::event).collect(),
                entered: self.entered.iter().map(SensorEventMessage::record).collect(),
                left: self.left.iter().map(SensorEventMessage::record).collect(),
                hits: self.hits.iter().map(HitMessage::record).collect(),
                quarantined: crate::messages::keys(
                    &self.quarantined,
                    &self.quarantined_generation,
                )?,
            },
            report: StepReport {
                exact: self.exact as usize,
                resting: self.resting as usize,
                swept: self.swept as usize,
                solve: self.solve.as_ref().map(SolveMessage::report),
                worst_violation: self.worst_violation.as_ref().map(ViolationMessage::violation),
                max_penetration: self.max_penetration,
                max_joint_error: self.max_joint_error,
                worst_joint: self.worst_joint.as_ref().map(JointMessage::id),
                contacts: self.contacts as usize,
                islands: self.islands.map(|islands| islands as usize),
                impact_times: self.impact_times as usize,
                unresolved_impacts: self.unresolved_impacts as usize,
                exhausted: self.exhausted as usize,
                asleep: self.asleep as usize,
                audit: self.ledger.as_ref().map(LedgerMessage::ledger),
            },
        })
    }
}

impl JointsMessage {
    /// Overwrites the message with the joints of a frame; memory is reused.
    fn fill(&mut self, joints: &[JointRecord]) {
        column(&mut self.index, joints, |j| [j.index]);
        column(&mut self.generation, joints, |j| [j.generation]);
        column(&mut self.a, joints, |j| [j.a.index]);
        column(&mut self.a_generation, joints, |j| [j.a.generation]);
        column(&mut self.b, joints, |j| [j.b.index]);
        column(&mut self.b_generation, joints, |j| [j.b.generation]);
        column(&mut self.impulse, joints, |j| j.impulse.to_array());
    }

    fn unpack(&self) -> Result<Vec<JointRecord>, Malformed> {
        let count = self.index.len();
        let a: Vec<BodyKey> = keys(&self.a, &self.a_generation)?;
        let b: Vec<BodyKey> = keys(&self.b, &self.b_generation)?;
        let generation = rows::<_, 1>(&self.generation, count)?;
        let impulse = vectors(&self.impulse, count)?;
        if a.len() != count || b.len() != count {
            return Err(UNEVEN);
        }
        let joints = (0..count).map(|i| JointRecord {
            index: self.index[i],
            generation: generation[i][0],
            a: a[i],
            b: b[i],
            impulse: impulse[i],
        });
        Ok(joints.collect())
    }
}

impl ContactsMessage {
    /// Overwrites the message with the contacts of a frame; memory is reused.
    pub(crate) fn fill(&mut self, frame: &Frame) {
        let (pairs, points) = (&frame.contacts, &frame.points);
        self.step = frame.step;
        column(&mut self.a, pairs, |p| [p.a.index]);
        column(&mut self.a_generation, pairs, |p| [p.a.generation]);
        column(&mut self.b, pairs, |p| [p.b.index]);
        column(&mut self.b_generation, pairs, |p| [p.b.generation]);
        column(&mut self.normal, pairs, |p| p.normal.to_array());
        column(&mut self.friction, pairs, |p| [p.friction]);
        column(&mut self.restitution, pairs, |p| [p.restitution]);
        column(&mut self.pair_impulse, pairs, |p| p.impulse.to_array());
        column(&mut self.point_count, pairs, |p| [p.point_count]);
        column(&mut self.position, points, |p| p.position.to_array());
        column(&mut self.gap, points, |p| [p.gap]);
        column(&mut self.impulse, points, |p| p.impulse.to_array());
        column(&mut self.total_impulse, points, |p| p.total_impulse.to_array());
        column(&mut self.approach, points, |p| [p.approach]);
        column(&mut self.residual, points, |p| [p.residual.unwrap_or(f64::NAN)]);
        column(&mut self.feature, points, |p| [p.feature]);
        let differ = pairs.iter().any(|p| p.colliders != [p.a, p.b].map(ColliderKey::only_of));
        self.colliders = differ.then(|| {
            let mut message = self.colliders.take().unwrap_or_default();
            message.fill(pairs);
            message
        });
    }

    fn unpack(&self) -> Result<(Vec<PairRecord>, Vec<PointRecord>), Malformed> {
        let count = self.a.len();
        let a: Vec<BodyKey> = keys(&self.a, &self.a_generation)?;
        let b: Vec<BodyKey> = keys(&self.b, &self.b_generation)?;
        let normal = vectors(&self.normal, count)?;
        let impulse = vectors(&self.pair_impulse, count)?;
        let friction = rows::<_, 1>(&self.friction, count)?;
        let restitution = rows::<_, 1>(&self.restitution, count)?;
        let point_count = rows::<_, 1>(&self.point_count, count)?;
        if b.len() != count {
            return Err(UNEVEN);
        }
        let colliders = self.colliders.as_ref().map(|columns| columns.unpack(count)).transpose()?;
        let mut pairs = Vec::with_capacity(count);
        let mut first_point = 0_u32;
        for i in 0..count {
            let [point_count] = point_count[i];
            pairs.push(PairRecord {
                a: a[i],
                b: b[i],
                colliders: match &colliders {
                    Some(colliders) => colliders[i],
                    None => [a[i], b[i]].map(ColliderKey::only_of),
                },
                normal: normal[i],
                friction: friction[i][0],
                restitution: restitution[i][0],
                impulse: impulse[i],
                first_point,
                point_count,
            });
            first_point = first_point.checked_add(point_count).ok_or(UNEVEN)?;
        }
        let count = first_point as usize;
        let position = vectors(&self.position, count)?;
        let impulse = vectors(&self.impulse, count)?;
        let total_impulse = vectors(&self.total_impulse, count)?;
        let gap = rows::<_, 1>(&self.gap, count)?;
        let approach = rows::<_, 1>(&self.approach, count)?;
        let residual = rows::<_, 1>(&self.residual, count)?;
        let feature = rows::<_, 1>(&self.feature, count)?;
        let points = (0..count).map(|i| PointRecord {
            position: position[i],
            gap: gap[i][0],
            impulse: impulse[i],
            total_impulse: total_impulse[i],
            approach: approach[i][0],
            residual: Some(residual[i][0]).filter(|residual| !residual.is_nan()),
            feature: feature[i][0],
        });
        Ok((pairs, points.collect()))
    }
}

impl PairCollidersMessage {
    /// Overwrites the message with the colliders of all pairs; memory is reused.
    fn fill(&mut self, pairs: &[PairRecord]) {
        column(&mut self.a, pairs, |p| [p.colliders[0].index]);
        column(&mut self.a_generation, pairs, |p| [p.colliders[0].generation]);
        column(&mut self.b, pairs, |p| [p.colliders[1].index]);
        column(&mut self.b_generation, pairs, |p| [p.colliders[1].generation]);
    }

    fn unpack(&self, count: usize) -> Result<Vec<[ColliderKey; 2]>, Malformed> {
        let a: Vec<ColliderKey> = keys(&self.a, &self.a_generation)?;
        let b = keys(&self.b, &self.b_generation)?;
        if a.len() != count || b.len() != count {
            return Err(UNEVEN);
        }
        Ok(a.into_iter().zip(b).map(|(a, b)| [a, b]).collect())
    }
}

fn column<T, V, const N: usize>(column: &mut Vec<V>, from: &[T], row: impl Fn(&T) -> [V; N]) {
    column.clear();
    column.reserve(from.len() * N);
    for item in from {
        column.extend(row(item));
    }
}

/// Splits a column into `count` rows of `N` numbers.
fn rows<T, const N: usize>(column: &[T], count: usize) -> Result<&[[T; N]], Malformed> {
    let (rows, rest) = column.as_chunks::<N>();
    if rows.len() == count && rest.is_empty() { Ok(rows) } else { Err(UNEVEN) }
}

fn vectors(column: &[f64], count: usize) -> Result<Vec<Vec3>, Malformed> {
    Ok(rows::<_, 3>(column, count)?.iter().map(|&row| Vec3::from_array(row)).collect())
}

fn keys<K: Key>(index: &[u32], generation: &[u32]) -> Result<Vec<K>, Malformed> {
    if index.len() != generation.len() {
        return Err(UNEVEN);
    }
    let both = index.iter().zip(generation);
    Ok(both.map(|(&index, &generation)| K::new(index, generation)).collect())
}

/// A key that is stored as an index and a generation.
trait Key {
    fn new(index: u32, generation: u32) -> Self;
}

impl Key for BodyKey {
    fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }
}

impl Key for ColliderKey {
    fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }
}

impl VectorMessage {
    pub(crate) fn of(v: Vec3) -> Self {
        Self { x: v.x, y: v.y, z: v.z }
    }

    pub(crate) fn vector(&self) -> Vec3 {
        Vec3::new(self.x, self.y, self.z)
    }
}

impl SpatialMessage {
    fn of(v: SpatialVector) -> Self {
        Self { linear: VectorMessage::of(v.linear), angular: VectorMessage::of(v.angular) }
    }

    fn vector(&self) -> SpatialVector {
        SpatialVector::new(self.linear.vector(), self.angular.vector())
    }
}

impl PairMessage {
    fn of(a: BodyKey, b: BodyKey) -> Self {
        let (a_generation, b_generation) = (a.generation, b.generation);
        Self { a: a.index, a_generation, b: b.index, b_generation, ..Self::default() }
    }

    fn of_event(event: &ContactEventRecord) -> Self {
        Self::with_colliders([event.a, event.b], event.colliders)
    }

    fn with_colliders([a, b]: [BodyKey; 2], colliders: [ColliderKey; 2]) -> Self {
        let stored = |collider: ColliderKey, body| {
            (collider != ColliderKey::only_of(body)).then(|| ColliderKeyMessage::of(collider))
        };
        let (a_collider, b_collider) = (stored(colliders[0], a), stored(colliders[1], b));
        Self { a_collider, b_collider, ..Self::of(a, b) }
    }

    fn event(&self) -> ContactEventRecord {
        let [a, b] = self.keys();
        ContactEventRecord { a, b, colliders: self.colliders() }
    }

    fn colliders(&self) -> [ColliderKey; 2] {
        let [a, b] = self.keys().map(ColliderKey::only_of);
        let or = |stored: &Option<ColliderKeyMessage>, absent| {
            stored.as_ref().map_or(absent, ColliderKeyMessage::key)
        };
        [or(&self.a_collider, a), or(&self.b_collider, b)]
    }

    fn ids(&self) -> [BodyId; 2] {
        [
            BodyId::from_raw_parts(self.a, self.a_generation),
            BodyId::from_raw_parts(self.b, self.b_generation),
        ]
    }

    fn keys(&self) -> [BodyKey; 2] {
        [
            BodyKey { index: self.a, generation: self.a_generation },
            BodyKey { index: self.b, generation: self.b_generation },
        ]
    }
}

impl HitMessage {
    fn of(hit: &HitRecord) -> Self {
        Self {
            pair: PairMessage::with_colliders([hit.a, hit.b], hit.colliders),
            position: VectorMessage::of(hit.position),
            normal: VectorMessage::of(hit.normal),
            speed: hit.speed,
            impulse: hit.impulse,
        }
    }

    fn record(&self) -> HitRecord {
        let [a, b] = self.pair.keys();
        let (position, normal) = (self.position.vector(), self.normal.vector());
        let colliders = self.pair.colliders();
        HitRecord { a, b, colliders, position, normal, speed: self.speed, impulse: self.impulse }
    }
}

impl ColliderKeyMessage {
    fn of(key: ColliderKey) -> Self {
        Self { index: key.index, generation: key.generation }
    }

    fn key(&self) -> ColliderKey {
        ColliderKey { index: self.index, generation: self.generation }
    }
}

impl SensorEventMessage {
    fn of(event: &SensorEventRecord) -> Self {
        let (sensor, other) = (event.sensor, event.other);
        Self { sensor: ColliderKeyMessage::of(sensor), other: ColliderKeyMessage::of(other) }
    }

    fn record(&self) -> SensorEventRecord {
        SensorEventRecord { sensor: self.sensor.key(), other: self.other.key() }
    }
}

impl JointMessage {
    fn of(id: JointId) -> Self {
        Self { index: id.index() as u32, generation: id.generation() }
    }

    fn id(&self) -> JointId {
        JointId::from_raw_parts(self.index, self.generation)
    }
}

impl ViolationMessage {
    fn of(violation: &Violation) -> Self {
        let Violation { bodies: [a, b], joint, residual, relative } = *violation;
        let joint =
            joint.map(|id| JointMessage { index: id.index() as u32, generation: id.generation() });
        Self { pair: PairMessage::of(a.into(), b.into()), joint, residual, relative }
    }

    fn violation(&self) -> Violation {
        Violation {
            bodies: self.pair.ids(),
            joint: self.joint.as_ref().map(JointMessage::id),
            residual: self.residual,
            relative: self.relative,
        }
    }
}

impl SolveMessage {
    fn of(solve: &SolveReport) -> Self {
        let Residual { signorini, cone, dissipation, joint, scale } = solve.residual;
        let (iterations, converged) = (solve.iterations as u64, solve.converged);
        Self { iterations, converged, signorini, cone, dissipation, joint, scale }
    }

    fn report(&self) -> SolveReport {
        let Self { iterations, converged, signorini, cone, dissipation, joint, scale } = *self;
        let residual = Residual { signorini, cone, dissipation, joint, scale };
        SolveReport { iterations: iterations as usize, converged, residual }
    }
}

/// Implements both conversions from one list of terms, so that neither can miss one.
macro_rules! ledger_terms {
    ($($number:ident),*; $($term:ident),*; $($vector:ident),*) => {
        impl LedgerMessage {
            fn of(ledger: &Ledger) -> Self {
                let Ledger { $($number,)* rest_speed_loss, terms, $($vector,)* } = *ledger;
                $(let $term = terms.map(|ContactTerms { $term, .. }| $term);)*
                let rest_speed_loss = Some(rest_speed_loss);
                Self {
                    $($number,)* rest_speed_loss, $($term,)* $($vector: SpatialMessage::of($vector),)*
                }
            }

            fn ledger(&self) -> Ledger {
                Ledger {
                    $($number: self.$number,)*
                    // Recordings of earlier versions do not hold it.
                    rest_speed_loss: self.rest_speed_loss.unwrap_or(f64::NAN),
                    terms: self.terms(),
                    $($vector: self.$vector.vector(),)*
                }
            }

            fn terms(&self) -> Option<ContactTerms> {
                Some(ContactTerms { $($term: self.$term?,)* })
            }
        }
    };
}

ledger_terms! {
    kinetic_before, kinetic, potential_before, potential, damping, applied_forces, moving_environment;
    normal_impulses, friction, joints, position_correction, integration;
    momentum_before, momentum, force_impulse, environment_impulse, correction_impulse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    /// A frame of one pair, and of one event of each kind between its colliders.
    fn frame(colliders: [ColliderKey; 2]) -> Frame {
        let [a, b] = [1, 2].map(|index| BodyKey { index, generation: 0 });
        let mut frame = Frame { has_contacts: true, ..Frame::default() };
        frame.contacts.push(PairRecord { a, b, colliders, ..PairRecord::default() });
        frame.events.begun.push(ContactEventRecord { a, b, colliders });
        frame.events.hits.push(HitRecord { a, b, colliders, ..HitRecord::default() });
        frame
    }

    fn key(index: u32) -> ColliderKey {
        ColliderKey { index, generation: 0 }
    }

    fn encoded(frame: &Frame) -> [Vec<u8>; 2] {
        let (mut step, mut contacts) = (StepMessage::default(), ContactsMessage::default());
        step.fill(frame);
        contacts.fill(frame);
        let (mut step_bytes, mut contact_bytes) = (Vec::new(), Vec::new());
        wire::encode(&step, &mut step_bytes);
        wire::encode(&contacts, &mut contact_bytes);
        [step_bytes, contact_bytes]
    }

    fn decoded([step, contacts]: &[Vec<u8>; 2]) -> Result<Frame, Malformed> {
        let step: StepMessage = wire::decode(step)?;
        step.into_frame(Some(&wire::decode(contacts)?))
    }

    #[test]
    fn colliders_take_no_space_where_they_have_the_keys_of_their_bodies() {
        let [own, other] = [frame([key(1), key(2)]), frame([key(1), key(7)])];
        let sizes = [&own, &other].map(|frame| encoded(frame).map(|bytes| bytes.len()));
        // Two events with a key of 4 bytes behind 2 bytes; four columns of one number, and their message.
        assert_eq!(sizes[1][0] - sizes[0][0], 2 * 6);
        assert_eq!(sizes[1][1] - sizes[0][1], 4 * 6 + 3);
        for frame in [own, other] {
            assert_eq!(decoded(&encoded(&frame)).unwrap(), frame);
        }
    }

    #[test]
    fn columns_of_colliders_must_be_as_long_as_those_of_bodies() {
        let mut message = ContactsMessage::default();
        message.fill(&frame([key(3), key(4)]));
        assert!(message.unpack().is_ok());
        message.colliders.as_mut().unwrap().b.push(5);
        assert_eq!(message.unpack().unwrap_err(), UNEVEN);
        message.colliders.as_mut().unwrap().b_generation.push(0);
        assert_eq!(message.unpack().unwrap_err(), UNEVEN);
    }
}
