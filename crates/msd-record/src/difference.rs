//! The first difference between two frames, in the order of the stages of a step.

use std::fmt;

use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{ContactTerms, Ledger};

use crate::body::ColliderKey;
use crate::frame::{
    BodyKey, ContactEventRecord, Frame, HitRecord, JointRecord, PairRecord, PointRecord,
    SensorEventRecord,
};

/// A stage of a step, in pipeline order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Contact pairs and points.
    Contacts,
    /// Results of the solver.
    Impulses,
    /// Poses and velocities.
    State,
    /// Events of the step.
    Events,
    /// Energy and momentum ledger.
    Energy,
}

/// The value of a field, for display.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A number, printed with enough digits to identify every bit.
    Real(f64),
    /// A count, an index or bits.
    Integer(u64),
    /// No value: absent in this frame.
    Missing,
}

/// The first field in which two frames differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Steps taken in the first frame.
    pub step: u64,
    /// Stage of the step.
    pub stage: Stage,
    /// Index of the body, or of the second body of a pair; none if the field belongs to no body.
    pub body: Option<u32>,
    /// Index of the first body of a pair.
    pub other: Option<u32>,
    /// The two colliders of a pair; of a sensor event, the sensor and the other collider.
    pub colliders: Option<[ColliderKey; 2]>,
    /// Name of the field: `position.x`, `normal.z`, `point 2 impulse.y`.
    pub field: String,
    /// Value in the first frame.
    pub a: Value,
    /// Value in the second frame.
    pub b: Value,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contacts => "contacts",
            Self::Impulses => "impulses",
            Self::State => "state",
            Self::Events => "events",
            Self::Energy => "energy",
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Missing => f.write_str("none"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}, {}", self.step, self.stage)?;
        match (self.other, self.body) {
            (Some(other), Some(body)) => write!(f, " of bodies {other} and {body}")?,
            (_, Some(body)) => write!(f, " of body {body}")?,
            _ => {}
        }
        if let Some(colliders) = self.colliders
            && [self.other, self.body] != colliders.map(|collider| Some(collider.index))
        {
            write!(f, ", colliders {} and {}", colliders[0].index, colliders[1].index)?;
        }
        write!(f, ", {}: {} or {}", self.field, self.a, self.b)
    }
}

/// Returns the first difference between two frames in pipeline order; none if all bits are equal.
///
/// Contacts and joints are compared only if both frames hold them.
pub fn first_difference(a: &Frame, b: &Frame) -> Option<Difference> {
    difference(a, b).err()
}

fn difference(a: &Frame, b: &Frame) -> Comparison {
    let (step, stage) = (a.step, Stage::State);
    let at = Cursor { step, stage, body: None, other: None, colliders: None, point: None };
    at.integer("step", a.step, b.step)?;
    at.real("time", a.time, b.time)?;
    contacts(&Cursor { stage: Stage::Contacts, ..at }, a, b)?;
    impulses(&Cursor { stage: Stage::Impulses, ..at }, a, b)?;
    states(&at, a, b)?;
    events(&Cursor { stage: Stage::Events, ..at }, a, b)?;
    energy(&Cursor { stage: Stage::Energy, ..at }, a.ledger(), b.ledger())
}

fn contacts(at: &Cursor, a: &Frame, b: &Frame) -> Comparison {
    if a.has_contacts && b.has_contacts {
        pairs_and_points(at, a, b)?;
    }
    at.integer("count", a.report.contacts as u64, b.report.contacts as u64)?;
    let islands = |frame: &Frame| frame.report.islands.map(|islands| islands as u64);
    at.optional_integer("islands", islands(a), islands(b))?;
    // Recordings of earlier versions do not hold the method.
    let methods = |frame: &Frame| frame.report.exact + frame.report.swept > 0;
    if methods(a) && methods(b) {
        at.integer("exact", a.report.exact as u64, b.report.exact as u64)?;
        at.integer("swept", a.report.swept as u64, b.report.swept as u64)?;
        at.optional("max_joint_error", a.report.max_joint_error, b.report.max_joint_error)?;
    }
    at.integer("impact_times", a.report.impact_times as u64, b.report.impact_times as u64)?;
    at.integer(
        "unresolved_impacts",
        a.report.unresolved_impacts as u64,
        b.report.unresolved_impacts as u64,
    )?;
    at.integer("exhausted", a.report.exhausted as u64, b.report.exhausted as u64)?;
    at.integer("asleep", a.report.asleep as u64, b.report.asleep as u64)?;
    at.optional("max_penetration", a.report.max_penetration, b.report.max_penetration)
}

fn pairs_and_points(at: &Cursor, a: &Frame, b: &Frame) -> Comparison {
    let keys = |frame: &Frame| frame.contacts.iter().map(PairKey::of_pair).collect::<Vec<_>>();
    at.same_pairs("pair", &keys(a), &keys(b))?;
    for (pair, [p, q]) in at.pairs(a, b) {
        pair.vector("normal", p.normal, q.normal)?;
        pair.real("friction", p.friction, q.friction)?;
        pair.real("restitution", p.restitution, q.restitution)?;
        pair.integer("points", p.point_count.into(), q.point_count.into())?;
        pair.each_point([a.points_of(p), b.points_of(q)], |at, p, q| {
            at.integer("feature", p.feature, q.feature)?;
            at.vector("position", p.position, q.position)?;
            at.real("gap", p.gap, q.gap)
        })?;
    }
    at.integer("points", a.points.len() as u64, b.points.len() as u64)
}

fn impulses(at: &Cursor, a: &Frame, b: &Frame) -> Comparison {
    // If either frame lacks contacts, there are no pairs in common.
    for (pair, [p, q]) in at.pairs(a, b) {
        pair.each_point([a.points_of(p), b.points_of(q)], |at, p, q| {
            at.real("approach", p.approach, q.approach)?;
            at.vector("impulse", p.impulse, q.impulse)?;
            at.vector("total_impulse", p.total_impulse, q.total_impulse)?;
            at.optional("residual", p.residual, q.residual)
        })?;
        pair.vector("impulse", p.impulse, q.impulse)?;
    }
    if let (Some(a), Some(b)) = (&a.joints, &b.joints) {
        joints(at, a, b)?;
    }
    let (p, q) = match (&a.report.solve, &b.report.solve) {
        (Some(p), Some(q)) => (p, q),
        (p, q) => return at.integer("residual measured", p.is_some().into(), q.is_some().into()),
    };
    at.integer("iterations", p.iterations as u64, q.iterations as u64)?;
    at.integer("converged", p.converged.into(), q.converged.into())?;
    let [p, q] = [&p.residual, &q.residual];
    at.real("residual.signorini", p.signorini, q.signorini)?;
    at.real("residual.cone", p.cone, q.cone)?;
    at.real("residual.dissipation", p.dissipation, q.dissipation)?;
    at.real("residual.joint", p.joint, q.joint)?;
    at.real("residual.scale", p.scale, q.scale)
}

fn joints(at: &Cursor, a: &[JointRecord], b: &[JointRecord]) -> Comparison {
    at.integer("joints", a.len() as u64, b.len() as u64)?;
    for (p, q) in a.iter().zip(b) {
        let at = Cursor { other: Some(p.a.index), body: Some(p.b.index), ..*at };
        at.integer("joint", p.index.into(), q.index.into())?;
        at.integer("joint generation", p.generation.into(), q.generation.into())?;
        at.integer("joint body a", p.a.index.into(), q.a.index.into())?;
        at.integer("joint body b", p.b.index.into(), q.b.index.into())?;
        at.vector("joint impulse", p.impulse, q.impulse)?;
    }
    Ok(())
}

fn states(at: &Cursor, a: &Frame, b: &Frame) -> Comparison {
    let keys = |frame: &Frame| frame.states.iter().map(|s| s.body).collect::<Vec<_>>();
    at.same_bodies("body", &keys(a), &keys(b))?;
    for (p, q) in a.states.iter().zip(&b.states) {
        let at = Cursor { body: Some(p.body.index), ..*at };
        at.vector("position", p.position, q.position)?;
        let [r, s] = [p.rotation, q.rotation];
        at.components(
            "rotation",
            &[("x", r.x, s.x), ("y", r.y, s.y), ("z", r.z, s.z), ("w", r.w, s.w)],
        )?;
        at.vector("velocity", p.velocity, q.velocity)?;
        at.vector("angular_velocity", p.angular_velocity, q.angular_velocity)?;
    }
    at.integer("state_hash", a.state_hash, b.state_hash)
}

fn events(at: &Cursor, a: &Frame, b: &Frame) -> Comparison {
    let (a, b) = (&a.events, &b.events);
    let keys = |list: &[ContactEventRecord]| list.iter().map(PairKey::of_event).collect::<Vec<_>>();
    at.same_pairs("begun", &keys(&a.begun), &keys(&b.begun))?;
    at.same_pairs("ended", &keys(&a.ended), &keys(&b.ended))?;
    let keys = |hits: &[HitRecord]| hits.iter().map(PairKey::of_hit).collect::<Vec<_>>();
    at.same_pairs("hit", &keys(&a.hits), &keys(&b.hits))?;
    for (p, q) in a.hits.iter().zip(&b.hits) {
        let at = at.pair(PairKey::of_hit(p));
        at.vector("hit.position", p.position, q.position)?;
        at.vector("hit.normal", p.normal, q.normal)?;
        at.real("hit.speed", p.speed, q.speed)?;
        at.real("hit.impulse", p.impulse, q.impulse)?;
    }
    at.same_sensor_events("entered", &a.entered, &b.entered)?;
    at.same_sensor_events("left", &a.left, &b.left)?;
    at.same_bodies("quarantined", &a.quarantined, &b.quarantined)
}

fn energy(at: &Cursor, a: Option<&Ledger>, b: Option<&Ledger>) -> Comparison {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        _ => return at.integer("ledger", a.is_some().into(), b.is_some().into()),
    };
    let terms = |l: &Ledger| {
        [
            ("kinetic_before", l.kinetic_before),
            ("kinetic", l.kinetic),
            ("potential_before", l.potential_before),
            ("potential", l.potential),
            ("damping", l.damping),
            ("applied_forces", l.applied_forces),
            ("moving_environment", l.moving_environment),
        ]
    };
    // Recordings of earlier versions do not hold it.
    if !a.rest_speed_loss.is_nan() && !b.rest_speed_loss.is_nan() {
        at.real("rest_speed_loss", a.rest_speed_loss, b.rest_speed_loss)?;
    }
    for ((field, p), (_, q)) in terms(a).into_iter().zip(terms(b)) {
        at.real(field, p, q)?;
    }
    let terms = |l: &Ledger| {
        let term = |of: fn(&ContactTerms) -> f64| l.terms.as_ref().map(of);
        [
            ("normal_impulses", term(|terms| terms.normal_impulses)),
            ("friction", term(|terms| terms.friction)),
            ("joints", term(|terms| terms.joints)),
            ("position_correction", term(|terms| terms.position_correction)),
            ("integration", term(|terms| terms.integration)),
        ]
    };
    for ((field, p), (_, q)) in terms(a).into_iter().zip(terms(b)) {
        at.optional(field, p, q)?;
    }
    at.spatial(
        ["momentum_before", "momentum_before.angular"],
        a.momentum_before,
        b.momentum_before,
    )?;
    at.spatial(["momentum", "momentum.angular"], a.momentum, b.momentum)?;
    at.spatial(["force_impulse", "force_impulse.angular"], a.force_impulse, b.force_impulse)?;
    let fields = ["environment_impulse", "environment_impulse.angular"];
    at.spatial(fields, a.environment_impulse, b.environment_impulse)?;
    let fields = ["correction_impulse", "correction_impulse.angular"];
    at.spatial(fields, a.correction_impulse, b.correction_impulse)
}

/// The result of a comparison: the first difference ends it as an error.
type Comparison = Result<(), Difference>;

/// The position of the comparison.
#[derive(Clone, Copy)]
struct Cursor {
    step: u64,
    stage: Stage,
    body: Option<u32>,
    other: Option<u32>,
    colliders: Option<[ColliderKey; 2]>,
    point: Option<usize>,
}

/// A pair of colliders with their bodies. Pairs are ordered by their colliders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairKey {
    colliders: [ColliderKey; 2],
    bodies: [BodyKey; 2],
}

impl PairKey {
    fn of_pair(pair: &PairRecord) -> Self {
        Self { colliders: pair.colliders, bodies: [pair.a, pair.b] }
    }

    fn of_event(event: &ContactEventRecord) -> Self {
        Self { colliders: event.colliders, bodies: [event.a, event.b] }
    }

    fn of_hit(hit: &HitRecord) -> Self {
        Self { colliders: hit.colliders, bodies: [hit.a, hit.b] }
    }
}

impl Cursor {
    fn found(&self, field: &str, a: Value, b: Value) -> Comparison {
        let field = match self.point {
            Some(point) => format!("point {point} {field}"),
            None => field.to_owned(),
        };
        let Cursor { step, stage, body, other, colliders, .. } = *self;
        Err(Difference { step, stage, body, other, colliders, field, a, b })
    }

    fn integer(&self, field: &str, a: u64, b: u64) -> Comparison {
        if a == b { Ok(()) } else { self.found(field, Value::Integer(a), Value::Integer(b)) }
    }

    fn real(&self, field: &str, a: f64, b: f64) -> Comparison {
        if a.to_bits() == b.to_bits() {
            return Ok(());
        }
        self.found(field, Value::Real(a), Value::Real(b))
    }

    /// Compares numbers that may not have been measured.
    fn optional(&self, field: &str, a: Option<f64>, b: Option<f64>) -> Comparison {
        let value = |value: Option<f64>| value.map_or(Value::Missing, Value::Real);
        match a.map(f64::to_bits) == b.map(f64::to_bits) {
            true => Ok(()),
            false => self.found(field, value(a), value(b)),
        }
    }

    fn optional_integer(&self, field: &str, a: Option<u64>, b: Option<u64>) -> Comparison {
        let value = |value: Option<u64>| value.map_or(Value::Missing, Value::Integer);
        if a == b { Ok(()) } else { self.found(field, value(a), value(b)) }
    }

    fn components(&self, field: &str, components: &[(&str, f64, f64)]) -> Comparison {
        for &(part, a, b) in components {
            if a.to_bits() != b.to_bits() {
                return self.real(&format!("{field}.{part}"), a, b);
            }
        }
        Ok(())
    }

    fn vector(&self, field: &str, a: Vec3, b: Vec3) -> Comparison {
        self.components(field, &[("x", a.x, b.x), ("y", a.y, b.y), ("z", a.z, b.z)])
    }

    fn spatial(&self, fields: [&str; 2], a: SpatialVector, b: SpatialVector) -> Comparison {
        self.vector(fields[0], a.linear, b.linear)?;
        self.vector(fields[1], a.angular, b.angular)
    }

    fn pair(&self, pair: PairKey) -> Self {
        let PairKey { colliders, bodies: [a, b] } = pair;
        let colliders = Some(colliders);
        Self { other: Some(a.index), body: Some(b.index), colliders, ..*self }
    }

    /// Iterates over the pairs of both frames in parallel.
    fn pairs<'a>(
        &self,
        a: &'a Frame,
        b: &'a Frame,
    ) -> impl Iterator<Item = (Self, [&'a PairRecord; 2])> {
        let at = *self;
        a.contacts.iter().zip(&b.contacts).map(move |(p, q)| (at.pair(PairKey::of_pair(p)), [p, q]))
    }

    fn each_point(
        &self,
        [a, b]: [&[PointRecord]; 2],
        same: impl Fn(&Self, &PointRecord, &PointRecord) -> Comparison,
    ) -> Comparison {
        for (point, (p, q)) in a.iter().zip(b).enumerate() {
            same(&Self { point: Some(point), ..*self }, p, q)?;
        }
        Ok(())
    }

    /// Reports the first pair that only one of two ordered lists holds.
    fn same_pairs(&self, field: &str, a: &[PairKey], b: &[PairKey]) -> Comparison {
        let Some((first, is_of_a)) = first_unshared(a, b) else { return Ok(()) };
        self.pair(first).only_in(field, first.colliders[1].index, is_of_a)
    }

    /// Reports the first entry to or exit from a sensor that only one of two ordered lists holds.
    fn same_sensor_events(
        &self,
        field: &str,
        a: &[SensorEventRecord],
        b: &[SensorEventRecord],
    ) -> Comparison {
        let Some((first, is_of_a)) = first_unshared(a, b) else { return Ok(()) };
        let SensorEventRecord { sensor, other } = first;
        let at = Self { colliders: Some([sensor, other]), ..*self };
        at.only_in(field, other.index, is_of_a)
    }

    /// Reports the first body that only one of two ordered lists holds.
    fn same_bodies(&self, field: &str, a: &[BodyKey], b: &[BodyKey]) -> Comparison {
        let Some((first, is_of_a)) = first_unshared(a, b) else { return Ok(()) };
        Self { body: Some(first.index), ..*self }.only_in(field, first.index, is_of_a)
    }

    fn only_in(&self, field: &str, index: u32, is_of_a: bool) -> Comparison {
        let there = Value::Integer(index.into());
        let (a, b) = if is_of_a { (there, Value::Missing) } else { (Value::Missing, there) };
        self.found(field, a, b)
    }
}

/// Returns the first item that only one of two ordered lists holds, and whether that is the first list.
fn first_unshared<T: Copy + Ord>(a: &[T], b: &[T]) -> Option<(T, bool)> {
    let place = a.iter().zip(b).position(|(p, q)| p != q).unwrap_or(a.len().min(b.len()));
    match (a.get(place), b.get(place)) {
        (Some(&p), Some(&q)) => Some(if p < q { (p, true) } else { (q, false) }),
        (Some(&p), None) => Some((p, true)),
        (None, Some(&q)) => Some((q, false)),
        (None, None) => None,
    }
}
