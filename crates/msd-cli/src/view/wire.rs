//! What the server and the page say to each other. The other end is `viewer/src/protocol.ts`.
//!
//! Text is JSON. Frames and series are binary, little-endian, in columns that the page looks at in place: every
//! list of reals begins at a multiple of eight bytes.

use std::collections::HashMap;

use axum::body::Bytes;
use msd_record::{BodyInfo, BodyKey, BodyState, Frame, Recorded, ShapeInfo};
use msd_scene::format::Solver;
use msd_sim::math::Vec3;
use msd_sim::{BodyKind, Settings, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::output;
use crate::verdict::Check;

use super::history::{self, Row};
use super::islands;
use super::marks::Mark;

const FRAME: u32 = 1;
const SERIES: u32 = 2;
/// Bytes of a frame before its columns.
const HEAD: usize = 72;

/// What a page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Frames, each as one message.
    Frames { from: u64, count: u32, stride: u64 },
    /// The course of one body.
    Motion { body: u32 },
    /// The catalog.
    Scenes {},
    /// Another scene of the catalog, live.
    Open { scene: String },
    /// Go on by itself.
    Run {},
    /// Stop doing so.
    Pause {},
    /// Take one step.
    Step {},
    /// Begin anew.
    Reset {},
    /// Simulated seconds per second; 0 is as fast as it can.
    Speed { factor: f64 },
    /// Change what is given.
    Set(Change),
    /// Add a moving box.
    Throw(Throw),
    /// Take hold of a body at a point of it, in its axes from its centre of mass, and pull that to a point of the
    /// world.
    Grab { body: u32, anchor: [f64; 3], to: [f64; 3] },
    /// Pull what is held to a point of the world.
    Drag { to: [f64; 3] },
    /// Let go.
    Release {},
}

/// Settings to change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// m/s^2.
    pub gravity: Option<[f64; 3]>,
    /// s.
    pub dt: Option<f64>,
    /// By its name in scenes.
    pub solver: Option<String>,
    /// Of all bodies.
    pub friction: Option<f64>,
    /// Of all bodies.
    pub restitution: Option<f64>,
}

/// A box to add.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throw {
    /// m.
    pub from: [f64; 3],
    /// m/s.
    pub velocity: [f64; 3],
    /// m.
    pub half_extents: [f64; 3],
    /// kg.
    pub mass: f64,
}

/// Bodies by the numbers that the page knows them by: their places in the list of all bodies ever seen.
#[derive(Debug, Default)]
pub struct Numbers {
    numbers: HashMap<BodyKey, u32>,
    names: Vec<String>,
    inertial: Vec<bool>,
    /// Those that gravity pulls with another strength, and with which.
    gravity_scales: HashMap<u32, f64>,
    /// What joints connect.
    pub joints: Vec<JointInfo>,
}

/// Two bodies that a joint connects, by their numbers, and where it holds each, in its axes from its centre of mass.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JointInfo {
    pub a: u32,
    pub b: u32,
    at_a: [f64; 3],
    at_b: [f64; 3],
}

impl Numbers {
    /// Of a run's bodies, and its world's joints.
    pub fn new<'a>(bodies: impl Iterator<Item = &'a BodyInfo>, world: Option<&World>) -> Self {
        let mut numbers = Self::default();
        bodies.for_each(|body| numbers.add(body));
        for (_, joint) in world.into_iter().flat_map(World::joints) {
            let [a, b] = joint.ends().map(|(body, at)| Some((numbers.of(body.into())?, at)));
            numbers.joints.extend(a.zip(b).map(|((a, at_a), (b, at_b))| {
                let (at_a, at_b) = (at_a.to_array(), at_b.to_array());
                JointInfo { a, b, at_a, at_b }
            }));
        }
        for body in world.into_iter().flat_map(World::bodies).filter(|b| b.gravity_scale() != 1.0) {
            let number = numbers.of(body.id().into());
            numbers.gravity_scales.extend(number.map(|number| (number, body.gravity_scale())));
        }
        numbers
    }

    /// Gives a body the next number.
    pub fn add(&mut self, body: &BodyInfo) {
        self.numbers.insert(body.body, self.names.len() as u32);
        self.names.push(body.name.clone());
        self.inertial.push(body.kind == BodyKind::Inertial);
    }

    /// A body's number.
    pub fn of(&self, body: BodyKey) -> Option<u32> {
        self.numbers.get(&body).copied()
    }

    /// A body's name, to be shown.
    pub fn name(&self, body: BodyKey) -> String {
        let name = self.of(body).map_or("", |number| &self.names[number as usize]);
        output::body(name, body.index)
    }

    /// Whether forces move it.
    pub fn is_inertial(&self, number: u32) -> bool {
        self.inertial.get(number as usize).copied().unwrap_or(false)
    }
}

/// What a step was taken with.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// How long it took, s.
    pub dt: f64,
    /// m/s^2.
    pub gravity: Vec3,
}

/// One step as bytes.
pub fn frame(frame: &Frame, by: Conditions, epoch: u32, numbers: &Numbers) -> Bytes {
    let states = frame.states.iter();
    let mut bodies: Vec<(u32, &BodyState)> =
        states.filter_map(|state| Some((numbers.of(state.body)?, state))).collect();
    bodies.sort_by_key(|(number, _)| *number);
    let pairs: Vec<_> = frame
        .contacts
        .iter()
        .filter_map(|pair| Some((numbers.of(pair.a)?, numbers.of(pair.b)?, pair)))
        .collect();
    let points = &frame.points;

    let reals = 13 * bodies.len() + 8 * pairs.len() + 12 * points.len();
    let wholes = 2 * bodies.len() + 4 * pairs.len();
    let mut out = Columns(Vec::with_capacity(HEAD + 8 * reals + 4 * wholes + 4));
    out.wholes([FRAME, epoch]);
    out.reals([frame.step as f64, frame.time, by.dt]);
    out.vector(by.gravity);
    out.wholes([bodies.len() as u32, pairs.len() as u32, points.len() as u32, 0]);
    for (_, state) in &bodies {
        out.vector(state.position);
    }
    for (_, state) in &bodies {
        out.reals(state.rotation.to_array());
    }
    for (_, state) in &bodies {
        out.vector(state.velocity);
    }
    for (_, state) in &bodies {
        out.vector(state.angular_velocity);
    }
    for (_, _, pair) in &pairs {
        out.vector(pair.normal);
    }
    out.reals(pairs.iter().map(|(_, _, pair)| pair.friction));
    out.reals(pairs.iter().map(|(_, _, pair)| pair.restitution));
    for (_, _, pair) in &pairs {
        out.vector(pair.impulse);
    }
    for point in points {
        out.vector(point.position);
    }
    out.reals(points.iter().map(|point| point.gap));
    for point in points {
        out.vector(point.total_impulse);
    }
    for point in points {
        out.vector(point.impulse);
    }
    // The engine's is a velocity along the normal, negative.
    out.reals(points.iter().map(|point| point.approach.abs()));
    out.reals(points.iter().map(|point| point.residual.unwrap_or(f64::NAN)));
    out.wholes(bodies.iter().map(|(number, _)| *number));
    out.wholes(islands::of(&bodies, &pairs, numbers));
    out.wholes(pairs.iter().map(|(a, _, _)| *a));
    out.wholes(pairs.iter().map(|(_, b, _)| *b));
    out.wholes(pairs.iter().map(|(_, _, pair)| pair.first_point));
    out.wholes(pairs.iter().map(|(_, _, pair)| pair.point_count));
    out.0.into()
}

/// Rows of the series, to be put from row `from` on.
pub fn series(rows: &[Row], from: usize, epoch: u32) -> Bytes {
    let columns = rows.first().map_or(0, |row| row.len());
    let mut out = Columns(Vec::with_capacity(24 + 8 * rows.len() * columns));
    out.wholes([SERIES, epoch, from as u32, rows.len() as u32, columns as u32, 0]);
    for row in rows {
        out.reals(row.iter().copied());
    }
    out.0.into()
}

struct Columns(Vec<u8>);

impl Columns {
    fn reals(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values {
            self.0.extend(value.to_le_bytes());
        }
    }

    fn vector(&mut self, vector: Vec3) {
        self.reals(vector.to_array());
    }

    fn wholes(&mut self, values: impl IntoIterator<Item = u32>) {
        for value in values {
            self.0.extend(value.to_le_bytes());
        }
    }
}

/// The course of one body, for charts.
#[derive(Debug, Default, Serialize)]
pub struct Motion {
    time: Vec<f64>,
    position: [Vec<f64>; 3],
    speed: Vec<f64>,
    spin: Vec<f64>,
}

impl Motion {
    /// Adds where the body is in a frame, if it is.
    pub fn see(&mut self, time: f64, position: Vec3, velocity: Vec3, spin: Vec3) {
        self.time.push(time);
        for (list, value) in self.position.iter_mut().zip(position.to_array()) {
            list.push(value);
        }
        self.speed.push(velocity.length());
        self.spin.push(spin.length());
    }

    /// The same, of a frame's bytes.
    pub fn see_bytes(&mut self, frame: &[u8], body: u32) {
        // Frames are this program's own, so that nothing is missing in them; if it were, nothing is seen.
        let whole = |at: usize| {
            let bytes = frame.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        let real = |at: usize| {
            let bytes = frame.get(at..at + 8)?.try_into().ok()?;
            Some(f64::from_le_bytes(bytes))
        };
        let vector = |at: usize| Some(Vec3::new(real(at)?, real(at + 8)?, real(at + 16)?));
        let mut look = || {
            let [bodies, pairs, points] = [whole(56)?, whole(60)?, whole(64)?].map(|n| n as usize);
            let names = HEAD + 8 * (13 * bodies + 8 * pairs + 12 * points);
            let place = (0..bodies).find(|place| whole(names + 4 * place) == Some(body))?;
            let column = |start: usize| vector(HEAD + 8 * (start * bodies + 3 * place));
            self.see(real(16)?, column(0)?, column(7)?, column(10)?);
            Some(())
        };
        look();
    }

    /// Whether the body was nowhere.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// As a message.
    pub fn message(&self, epoch: u32, body: u32) -> String {
        let mut message = json!(self);
        message["type"] = "motion".into();
        message["epoch"] = epoch.into();
        message["body"] = body.into();
        message.to_string()
    }
}

/// What is said first of a run.
pub struct Hello<'a> {
    /// `live` or `replay`.
    pub mode: &'static str,
    pub name: &'a str,
    pub title: &'a str,
    pub comment: &'a str,
    pub settings: Value,
    pub complete: bool,
    pub recorded: Recorded,
    pub bodies: &'a [BodyInfo],
    pub numbers: &'a Numbers,
}

impl Hello<'_> {
    /// As a message.
    pub fn message(&self, epoch: u32) -> String {
        let solvers = Solver::ALL.into_iter().filter(|solver| solver.method().is_some());
        json!({
            "type": "hello",
            "epoch": epoch,
            "mode": self.mode,
            "name": self.name,
            "title": self.title,
            "comment": self.comment,
            "settings": self.settings,
            "solvers": solvers.map(Solver::name).collect::<Vec<_>>(),
            "complete": self.complete,
            "every": self.recorded.every,
            "contacts": self.recorded.contacts,
            "bodies": self.bodies.iter().map(|info| body(info, self.numbers)).collect::<Vec<_>>(),
            "joints": self.numbers.joints,
            "columns": history::columns(),
        })
        .to_string()
    }
}

/// Bodies that were added.
pub fn bodies(added: &BodyInfo, numbers: &Numbers, epoch: u32) -> String {
    json!({ "type": "bodies", "epoch": epoch, "bodies": [body(added, numbers)] }).to_string()
}

/// How a world steps, as the page shows it. Friction and restitution are those that were set for all bodies.
pub fn settings(
    settings: &Settings,
    dt: f64,
    friction: Option<f64>,
    restitution: Option<f64>,
) -> Value {
    json!({
        "gravity": settings.gravity.to_array(),
        "dt": dt,
        "solver": Solver::of(settings.method).name(),
        "substeps": settings.substeps,
        "rest_speed": settings.rest_speed,
        "friction": friction,
        "restitution": restitution,
    })
}

/// How it stands.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    pub first_step: u64,
    pub last_step: u64,
    pub running: bool,
    pub steps_per_second: f64,
    pub speed: f64,
    pub settings: Value,
    pub checks: Vec<Check>,
    pub problem: String,
}

impl Status {
    /// As a message.
    pub fn message(&self) -> String {
        let mut message = json!(self);
        message["type"] = "status".into();
        message.to_string()
    }
}

/// What can be opened.
#[derive(Clone, Debug, Serialize)]
pub struct SceneInfo {
    pub name: String,
    pub title: String,
    pub comment: String,
}

/// All marks.
pub fn marks(marks: &[Mark], epoch: u32) -> String {
    json!({ "type": "marks", "epoch": epoch, "marks": marks }).to_string()
}

/// A command was not obeyed.
pub fn refused(reason: &str) -> String {
    json!({ "type": "refused", "reason": reason }).to_string()
}

/// The catalog, and what the command was started with, if that is something else.
pub fn scenes(list: &[SceneInfo], own: Option<&SceneInfo>) -> String {
    json!({ "type": "scenes", "scenes": list, "own": own }).to_string()
}

fn body(info: &BodyInfo, numbers: &Numbers) -> Value {
    let number = numbers.of(info.body);
    let scale = number.and_then(|number| numbers.gravity_scales.get(&number));
    json!({
        "name": info.name,
        "kind": if info.kind == BodyKind::Inertial { "inertial" } else { "environment" },
        "mass": info.mass,
        "gravity_scale": scale.unwrap_or(&1.0),
        "friction": info.material.friction(),
        "restitution": info.material.restitution(),
        "first_step": info.first_step,
        "offset": {
            "position": info.offset.position.to_array(),
            "rotation": info.offset.rotation.to_array(),
        },
        "shape": shape(&info.shape),
    })
}

fn shape(shape: &ShapeInfo) -> Value {
    match shape {
        ShapeInfo::Sphere { radius } => json!({ "type": "sphere", "radius": radius }),
        ShapeInfo::Capsule { radius, half_height } => round("capsule", *radius, *half_height),
        ShapeInfo::Cylinder { radius, half_height } => round("cylinder", *radius, *half_height),
        ShapeInfo::Cone { radius, half_height } => round("cone", *radius, *half_height),
        ShapeInfo::Cuboid { half_extents } => {
            json!({ "type": "cuboid", "half_extents": half_extents.to_array() })
        }
        ShapeInfo::HalfSpace { normal, offset } => {
            json!({ "type": "half_space", "normal": normal.to_array(), "offset": offset })
        }
        ShapeInfo::Hull { vertices, faces } => {
            let vertices: Vec<[f64; 3]> = vertices.iter().map(|vertex| vertex.to_array()).collect();
            json!({ "type": "hull", "vertices": vertices, "faces": faces })
        }
    }
}

fn round(kind: &str, radius: f64, half_height: f64) -> Value {
    json!({ "type": kind, "radius": radius, "half_height": half_height })
}
