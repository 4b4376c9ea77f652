//! The protocol between server and page. The page's side is `viewer/src/protocol.ts`.
//!
//! Text messages are JSON. Frames and series are binary and little-endian, in columns that the page views in place:
//! every column of `f64` starts at a multiple of eight bytes.

use axum::body::Bytes;
use msd_record::{BodyInfo, BodyState, ColliderInfo, Frame, Recorded, ShapeInfo};
use msd_scene::format::Solver;
use msd_sim::math::Vec3;
use msd_sim::{Accuracy, BodyKind, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::body_table::{BodyTable, CheckInfo};
use super::history::{self, Row};
use super::islands;
use super::marks::Mark;

const FRAME: u32 = 1;
const SERIES: u32 = 2;
/// Size of a frame's header, bytes.
const HEADER_BYTES: usize = 72;

/// A command from a page.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// Send frames, each as one message.
    Frames { from: u64, count: u32, stride: u64 },
    /// Send the motion of one body over time.
    Motion { body: u32 },
    /// Send the catalog.
    Scenes {},
    /// Open a scene of the catalog, live, or the command-line argument.
    Open { scene: String },
    /// Run the simulation.
    Run {},
    /// Pause the simulation.
    Pause {},
    /// Take one step.
    Step {},
    /// Restart the scene.
    Reset {},
    /// Set the simulated seconds per second; 0 is as fast as possible.
    Speed { factor: f64 },
    /// Change settings.
    Set(SettingsChange),
    /// Add a moving box.
    Throw(Throw),
    /// Grab a body at a point in its axes, from its center of mass, and pull that point to a point of the world.
    Grab { body: u32, anchor: [f64; 3], to: [f64; 3] },
    /// Pull the grabbed body to a point of the world.
    Drag { to: [f64; 3] },
    /// Release the grabbed body.
    Release {},
}

/// A change of settings; absent ones stay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsChange {
    /// Uniform gravity, m/s^2.
    pub gravity: Option<[f64; 3]>,
    /// Time step, s.
    pub dt: Option<f64>,
    /// Name of the accuracy, as in scene files.
    pub accuracy: Option<String>,
    /// Name of the solver, as in scene files.
    pub solver: Option<String>,
    /// Friction of all bodies.
    pub friction: Option<f64>,
    /// Restitution of all bodies.
    pub restitution: Option<f64>,
}

/// A box to add.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throw {
    /// Initial position, m.
    pub from: [f64; 3],
    /// Initial velocity, m/s.
    pub velocity: [f64; 3],
    /// Half extents, m.
    pub half_extents: [f64; 3],
    /// Mass, kg.
    pub mass: f64,
}

/// The parameters with which a step was taken.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Time step, s.
    pub dt: f64,
    /// Uniform gravity, m/s^2.
    pub gravity: Vec3,
}

/// Serializes one step.
pub fn frame(frame: &Frame, conditions: Conditions, epoch: u32, table: &BodyTable) -> Bytes {
    let states = frame.states.iter();
    let mut bodies: Vec<(u32, &BodyState)> =
        states.filter_map(|state| Some((table.index_of(state.body)?, state))).collect();
    bodies.sort_by_key(|(index, _)| *index);
    let pairs: Vec<_> = frame
        .contacts
        .iter()
        .filter_map(|pair| Some((table.index_of(pair.a)?, table.index_of(pair.b)?, pair)))
        .collect();
    let points = &frame.points;
    let joints: Vec<_> = frame
        .joints
        .iter()
        .flatten()
        .filter_map(|joint| Some((table.index_of_joint(joint)?, joint)))
        .collect();

    let f64_count = 13 * bodies.len() + 8 * pairs.len() + 12 * points.len() + 3 * joints.len();
    let u32_count = 2 * bodies.len() + 6 * pairs.len() + joints.len();
    let mut out = Columns(Vec::with_capacity(HEADER_BYTES + 8 * f64_count + 4 * u32_count + 4));
    out.u32s([FRAME, epoch]);
    out.f64s([frame.step as f64, frame.time, conditions.dt]);
    out.vector(conditions.gravity);
    out.u32s([bodies.len(), pairs.len(), points.len(), joints.len()].map(|count| count as u32));
    for (_, state) in &bodies {
        out.vector(state.position);
    }
    for (_, state) in &bodies {
        out.f64s(state.rotation.to_array());
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
    out.f64s(pairs.iter().map(|(_, _, pair)| pair.friction));
    out.f64s(pairs.iter().map(|(_, _, pair)| pair.restitution));
    for (_, _, pair) in &pairs {
        out.vector(pair.impulse);
    }
    for point in points {
        out.vector(point.position);
    }
    out.f64s(points.iter().map(|point| point.gap));
    for point in points {
        out.vector(point.total_impulse);
    }
    for point in points {
        out.vector(point.impulse);
    }
    // The engine stores a velocity along the normal, which is negative.
    out.f64s(points.iter().map(|point| point.approach.abs()));
    out.f64s(points.iter().map(|point| point.residual.unwrap_or(f64::NAN)));
    for (_, joint) in &joints {
        out.vector(joint.impulse);
    }
    out.u32s(bodies.iter().map(|(index, _)| *index));
    out.u32s(islands::find(&bodies, &pairs, table));
    out.u32s(pairs.iter().map(|(a, _, _)| *a));
    out.u32s(pairs.iter().map(|(_, b, _)| *b));
    out.u32s(pairs.iter().map(|(_, _, pair)| table.collider_index(pair.a, pair.colliders[0])));
    out.u32s(pairs.iter().map(|(_, _, pair)| table.collider_index(pair.b, pair.colliders[1])));
    out.u32s(pairs.iter().map(|(_, _, pair)| pair.first_point));
    out.u32s(pairs.iter().map(|(_, _, pair)| pair.point_count));
    out.u32s(joints.iter().map(|(index, _)| *index));
    out.0.into()
}

/// Serializes rows of the series that replace those from row `from` on.
pub fn series(rows: &[Row], from: usize, epoch: u32) -> Bytes {
    let columns = rows.first().map_or(0, |row| row.len());
    let mut out = Columns(Vec::with_capacity(24 + 8 * rows.len() * columns));
    out.u32s([SERIES, epoch, from as u32, rows.len() as u32, columns as u32, 0]);
    for row in rows {
        out.f64s(row.iter().copied());
    }
    out.0.into()
}

/// A buffer to which columns are appended.
struct Columns(Vec<u8>);

impl Columns {
    fn f64s(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values {
            self.0.extend(value.to_le_bytes());
        }
    }

    fn vector(&mut self, vector: Vec3) {
        self.f64s(vector.to_array());
    }

    fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        for value in values {
            self.0.extend(value.to_le_bytes());
        }
    }
}

/// The motion of one body over time, for charts.
#[derive(Debug, Default, Serialize)]
pub struct Motion {
    time: Vec<f64>,
    position: [Vec<f64>; 3],
    speed: Vec<f64>,
    spin: Vec<f64>,
}

impl Motion {
    /// Appends a sample.
    pub fn push(&mut self, time: f64, position: Vec3, velocity: Vec3, spin: Vec3) {
        self.time.push(time);
        for (list, value) in self.position.iter_mut().zip(position.to_array()) {
            list.push(value);
        }
        self.speed.push(velocity.length());
        self.spin.push(spin.length());
    }

    /// Appends the sample of a serialized frame, if the body is in it.
    pub fn push_frame_bytes(&mut self, frame: &[u8], body: u32) {
        // `frame` serialized these bytes, so they are complete; a truncated frame would be skipped.
        let read_u32 = |at: usize| {
            let bytes = frame.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        let read_f64 = |at: usize| {
            let bytes = frame.get(at..at + 8)?.try_into().ok()?;
            Some(f64::from_le_bytes(bytes))
        };
        let vector =
            |at: usize| Some(Vec3::new(read_f64(at)?, read_f64(at + 8)?, read_f64(at + 16)?));
        let mut push = || {
            let [bodies, pairs, points, joints] =
                [read_u32(56)?, read_u32(60)?, read_u32(64)?, read_u32(68)?].map(|n| n as usize);
            let f64_count = 13 * bodies + 8 * pairs + 12 * points + 3 * joints;
            let indices = HEADER_BYTES + 8 * f64_count;
            let row = (0..bodies).find(|row| read_u32(indices + 4 * row) == Some(body))?;
            let column = |start: usize| vector(HEADER_BYTES + 8 * (start * bodies + 3 * row));
            self.push(read_f64(16)?, column(0)?, column(7)?, column(10)?);
            Some(())
        };
        push();
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Serializes the message.
    pub fn message(&self, epoch: u32, body: u32) -> String {
        let mut message = json!(self);
        message["type"] = "motion".into();
        message["epoch"] = epoch.into();
        message["body"] = body.into();
        message.to_string()
    }
}

/// The first message about a run.
pub struct Hello<'a> {
    /// `live` or `replay`.
    pub mode: &'static str,
    pub name: &'a str,
    pub title: &'a str,
    pub comment: &'a str,
    pub settings: Value,
    pub complete: bool,
    pub recorded: Recorded,
    /// What questions the checks of the run.
    pub notes: &'a [String],
    pub bodies: &'a [BodyInfo],
    pub table: &'a BodyTable,
}

impl Hello<'_> {
    /// Serializes the message.
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
            "accuracies": Accuracy::ALL.map(Accuracy::name),
            "solvers": solvers.map(Solver::name).collect::<Vec<_>>(),
            "complete": self.complete,
            "every": self.recorded.every,
            "contacts": self.recorded.contacts,
            "notes": self.notes,
            "bodies": self.bodies.iter().map(|info| body(info, self.table)).collect::<Vec<_>>(),
            "joints": self.table.joints,
            "columns": history::columns(),
        })
        .to_string()
    }
}

/// Serializes the message about an added body.
pub fn bodies(added: &BodyInfo, table: &BodyTable, epoch: u32) -> String {
    json!({ "type": "bodies", "epoch": epoch, "bodies": [body(added, table)] }).to_string()
}

/// Serializes a world's settings. Friction and restitution are the values set for all bodies, if any.
pub fn settings(
    settings: &Settings,
    dt: f64,
    friction: Option<f64>,
    restitution: Option<f64>,
) -> Value {
    json!({
        "gravity": settings.gravity.to_array(),
        "dt": dt,
        "accuracy": settings.accuracy.name(),
        "solver": Solver::of(settings.method).name(),
        "substeps": settings.substeps,
        "rest_speed": settings.rest_speed,
        "friction": friction,
        "restitution": restitution,
    })
}

/// The status of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    pub first_step: u64,
    pub last_step: u64,
    pub running: bool,
    pub steps_per_second: f64,
    pub speed: f64,
    pub settings: Value,
    pub checks: Vec<CheckInfo>,
    pub problem: String,
}

impl Status {
    /// Serializes the message.
    pub fn message(&self) -> String {
        let mut message = json!(self);
        message["type"] = "status".into();
        message.to_string()
    }
}

/// A scene that can be opened.
#[derive(Clone, Debug, Serialize)]
pub struct SceneInfo {
    pub name: String,
    pub title: String,
    pub comment: String,
}

/// Serializes the message with all marks.
pub fn marks(marks: &[Mark], epoch: u32) -> String {
    json!({ "type": "marks", "epoch": epoch, "marks": marks }).to_string()
}

/// Serializes the message about a rejected command.
pub fn rejected(reason: &str) -> String {
    json!({ "type": "rejected", "reason": reason }).to_string()
}

/// Serializes the catalog, and the scene or recording named on the command line, if any.
pub fn scenes(list: &[SceneInfo], argument: Option<&SceneInfo>) -> String {
    json!({ "type": "scenes", "scenes": list, "argument": argument }).to_string()
}

fn body(info: &BodyInfo, table: &BodyTable) -> Value {
    json!({
        "name": info.name,
        "kind": if info.kind == BodyKind::Inertial { "inertial" } else { "environment" },
        "mass": info.mass,
        "gravity_scale": table.gravity_scale(info.body),
        "first_step": info.first_step,
        "colliders": info.colliders.iter().map(collider).collect::<Vec<_>>(),
    })
}

fn collider(info: &ColliderInfo) -> Value {
    json!({
        "name": info.name,
        "position": info.place.position.to_array(),
        "rotation": info.place.rotation.to_array(),
        "shape": shape(&info.shape),
        "friction": info.material.friction(),
        "restitution": info.material.restitution(),
        "sensor": info.is_sensor,
        "enabled": info.is_enabled,
    })
}

fn shape(shape: &ShapeInfo) -> Value {
    match shape {
        ShapeInfo::Sphere { radius } => json!({ "type": "sphere", "radius": radius }),
        ShapeInfo::Capsule { radius, half_height } => {
            solid_of_revolution("capsule", *radius, *half_height)
        }
        ShapeInfo::Cylinder { radius, half_height } => {
            solid_of_revolution("cylinder", *radius, *half_height)
        }
        ShapeInfo::Cone { radius, half_height } => {
            solid_of_revolution("cone", *radius, *half_height)
        }
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

fn solid_of_revolution(kind: &str, radius: f64, half_height: f64) -> Value {
    json!({ "type": kind, "radius": radius, "half_height": half_height })
}
