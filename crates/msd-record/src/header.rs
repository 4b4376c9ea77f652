//! The messages that are written once: header, settings, bodies, summary and index.

use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Accuracy, BodyKind, Continuous, Material, Method, Settings};

use crate::body::{BodyInfo, ShapeInfo};
use crate::bytes::Malformed;
use crate::frame::BodyKey;
use crate::messages::VectorMessage;
use crate::wire::message;

/// The properties of a run that are known before its first step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// Version of the engine.
    pub engine: String,
    /// Scene as canonical JSON; empty if a program built the world.
    pub scene: String,
    /// Title of the run.
    pub title: String,
    /// Time step, s.
    pub dt: f64,
    /// Number of steps planned.
    pub planned_steps: u64,
    /// Maximum number of threads.
    pub threads: u32,
    /// Selection of what is recorded.
    pub recorded: Recorded,
}

/// The selection of what is recorded of a run. The default is everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Steps from one frame to the next, at least 1. Step 0 and the last step are always recorded.
    pub every: u64,
    /// Whether frames hold contacts.
    pub contacts: bool,
}

impl Default for Recorded {
    fn default() -> Self {
        Self { every: 1, contacts: true }
    }
}

impl Recorded {
    /// Returns whether everything is recorded.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// Newest recording format that can be read. It is raised when older readers would misread a newer recording: format 2
/// omits steps or contacts.
pub(crate) const FORMAT: u32 = 2;

message! {
    /// The properties of a run that are known before its first step.
    HeaderMessage = "msd.Header" {
        1 format: u32,
        2 engine: String,
        3 scene: String,
        4 title: String,
        5 dt: f64,
        6 planned_steps: u64,
        7 threads: u32,
        8 settings: SettingsMessage,
        9 every: u64,
        10 without_contacts: bool,
    }
}

message! {
    /// The settings of the world.
    SettingsMessage = "msd.Settings" {
        1 gravity: VectorMessage,
        2 method: String,
        3 substeps: u32,
        4 rest_speed: f64,
        5 position_correction: f64,
        6 position_correction_speed: f64,
        7 margin: f64,
        8 reuse: f64,
        9 sweeps: u32,
        10 tolerance: f64,
        11 iterations: u32,
        12 newton_steps: u32,
        13 newton_work: u32,
        14 audit: bool,
        15 continuous: String,
        16 impact_work: u32,
        17 max_exact_bodies: u32,
        18 threads: u32,
        19 sleeping: bool,
        20 sleep_speed: f64,
        21 sleep_time: f64,
        22 accuracy: String,
        23 max_exact_cost: u32,
    }
}

message! {
    /// A body. Only the shape fields of its kind of shape are used.
    BodyMessage = "msd.Body" {
        1 index: u32,
        2 generation: u32,
        3 name: String,
        4 is_inertial: bool,
        5 mass: f64,
        6 first_step: u64,
        7 restitution: f64,
        8 friction: f64,
        9 offset_position: VectorMessage,
        10 offset_rotation: Vec<f64>,
        11 shape: String,
        12 radius: f64,
        13 half_height: f64,
        14 half_extents: VectorMessage,
        15 plane_normal: VectorMessage,
        16 plane_offset: f64,
        17 vertices: Vec<f64>,
        18 face_sizes: Vec<u32>,
        19 face_vertices: Vec<u32>,
        20 frame_id: String,
    }
}

message! {
    /// The summary of the run as JSON; only in finished recordings.
    SummaryMessage = "msd.Summary" { 1 json: String, 2 frames: u64 }
}

message! {
    /// The first and last step of each chunk, and the chunks that hold bodies.
    IndexMessage = "msd.Index" { 1 first: Vec<u64>, 2 last: Vec<u64>, 3 bodies: Vec<u32> }
}

impl HeaderMessage {
    pub(crate) fn of(header: &Header, settings: &Settings) -> Self {
        let Header { engine, scene, title, dt, planned_steps, threads, recorded } = header.clone();
        let settings = SettingsMessage::of(settings);
        let format = if recorded.is_everything() { 1 } else { 2 };
        let (every, without_contacts) = (recorded.every, !recorded.contacts);
        Self {
            format,
            engine,
            scene,
            title,
            dt,
            planned_steps,
            threads,
            settings,
            every,
            without_contacts,
        }
    }

    pub(crate) fn into_header(self) -> (Header, Option<Settings>) {
        let Self { engine, scene, title, dt, planned_steps, threads, settings, .. } = self;
        // Absent (zero) in older recordings, which hold every step.
        let recorded = Recorded { every: self.every.max(1), contacts: !self.without_contacts };
        (Header { engine, scene, title, dt, planned_steps, threads, recorded }, settings.settings())
    }
}

/// Implements both conversions from one list of fields.
macro_rules! settings_fields {
    ($($field:ident),*) => {
        impl SettingsMessage {
            fn of(settings: &Settings) -> Self {
                let (max_exact_bodies, max_exact_cost, newton_steps, newton_work) = (
                    settings.exact_body_limit(),
                    settings.exact_cost_limit(),
                    settings.newton_step_limit(),
                    settings.newton_work_limit(),
                );
                let Settings {
                    accuracy,
                    gravity,
                    method,
                    continuous,
                    max_exact_bodies: _,
                    max_exact_cost: _,
                    newton_steps: _,
                    newton_work: _,
                    $($field),*
                } = settings.clone();
                let (gravity, method) = (VectorMessage::of(gravity), format!("{method:?}"));
                let (accuracy, continuous) = (accuracy.to_string(), format!("{continuous:?}"));
                Self {
                    accuracy,
                    gravity,
                    method,
                    continuous,
                    max_exact_bodies,
                    max_exact_cost,
                    newton_steps,
                    newton_work,
                    $($field),*
                }
            }

            /// Returns `None` if this build does not have the accuracy, the method or the mode of continuous
            /// collision. Settings absent in recordings of earlier versions get their defaults. Values that the
            /// accuracy implies are not overrides.
            fn settings(&self) -> Option<Settings> {
                let (gravity, method) = (self.gravity.vector(), method(&self.method)?);
                let (accuracy, continuous) =
                    (accuracy(&self.accuracy)?, continuous(&self.continuous)?);
                let given = |value: u32| (accuracy != Accuracy::Fast).then_some(value);
                let mut found = Settings {
                    accuracy,
                    gravity,
                    method,
                    continuous,
                    max_exact_bodies: given(self.max_exact_bodies),
                    // Absent (zero) in recordings of versions without such a limit.
                    max_exact_cost: given(match self.max_exact_cost {
                        0 => u32::MAX,
                        limit => limit,
                    }),
                    newton_steps: given(self.newton_steps),
                    newton_work: given(self.newton_work),
                    $($field: self.$field),*
                };
                if found.impact_work == 0 {
                    found.impact_work = Settings::default().impact_work;
                }
                if found.threads == 0 {
                    // Written by a version without threads and swept worlds.
                    (found.max_exact_bodies, found.threads) = (Some(u32::MAX), 1);
                }
                // Absent in recordings of versions without sleeping; zero is never a useful value.
                if !found.sleeping && found.sleep_speed == 0.0 && found.sleep_time == 0.0 {
                    let Settings { sleep_speed, sleep_time, .. } = Settings::default();
                    (found.sleep_speed, found.sleep_time) = (sleep_speed, sleep_time);
                }
                Some(found.without_redundant_overrides())
            }
        }
    };
}

settings_fields! {
    substeps, rest_speed, position_correction, position_correction_speed, margin, reuse, sweeps, tolerance, iterations,
    impact_work, threads, sleeping, sleep_speed, sleep_time, audit
}

fn accuracy(name: &str) -> Option<Accuracy> {
    match name {
        // Absent in recordings of versions without it.
        "" => Some(Accuracy::Balanced),
        name => Accuracy::named(name),
    }
}

fn method(name: &str) -> Option<Method> {
    match name {
        "SoftStep" => Some(Method::SoftStep),
        "Pgs" => Some(Method::Pgs),
        "ActiveSet" => Some(Method::ActiveSet),
        #[cfg(feature = "conic")]
        "Conic" => Some(Method::Conic),
        _ => None,
    }
}

fn continuous(name: &str) -> Option<Continuous> {
    match name {
        "Auto" => Some(Continuous::Auto),
        "Always" => Some(Continuous::Always),
        // Absent in recordings of versions without continuous collision.
        "Never" | "" => Some(Continuous::Never),
        _ => None,
    }
}

impl BodyMessage {
    pub(crate) fn of(info: &BodyInfo, frame_id: &str) -> Self {
        let mut message = Self {
            index: info.body.index,
            generation: info.body.generation,
            name: info.name.clone(),
            is_inertial: info.kind == BodyKind::Inertial,
            mass: info.mass,
            first_step: info.first_step,
            restitution: info.material.restitution(),
            friction: info.material.friction(),
            offset_position: VectorMessage::of(info.offset.position),
            offset_rotation: info.offset.rotation.to_array().to_vec(),
            frame_id: frame_id.to_owned(),
            ..Self::default()
        };
        message.put_shape(&info.shape);
        message
    }

    fn put_shape(&mut self, shape: &ShapeInfo) {
        let mut round = |name: &str, r: f64, h: f64| {
            self.shape = name.to_owned();
            (self.radius, self.half_height) = (r, h);
        };
        match shape {
            ShapeInfo::Sphere { radius } => round("sphere", *radius, 0.0),
            ShapeInfo::Capsule { radius, half_height } => round("capsule", *radius, *half_height),
            ShapeInfo::Cylinder { radius, half_height } => round("cylinder", *radius, *half_height),
            ShapeInfo::Cone { radius, half_height } => round("cone", *radius, *half_height),
            ShapeInfo::Cuboid { half_extents } => {
                self.shape = "cuboid".to_owned();
                self.half_extents = VectorMessage::of(*half_extents);
            }
            ShapeInfo::HalfSpace { normal, offset } => {
                self.shape = "half_space".to_owned();
                self.plane_normal = VectorMessage::of(*normal);
                self.plane_offset = *offset;
            }
            ShapeInfo::Hull { vertices, faces } => {
                self.shape = "hull".to_owned();
                self.vertices = vertices.iter().flat_map(|v| v.to_array()).collect();
                self.face_sizes = faces.iter().map(|face| face.len() as u32).collect();
                self.face_vertices = faces.concat();
            }
        }
    }

    pub(crate) fn into_info(self) -> Result<BodyInfo, Malformed> {
        let rotation = <[f64; 4]>::try_from(self.offset_rotation.as_slice())
            .map_err(|_| Malformed("a rotation without four numbers"))?;
        let material = Material::new(self.restitution, self.friction)
            .map_err(|_| Malformed("an invalid material"))?;
        let kind = if self.is_inertial { BodyKind::Inertial } else { BodyKind::Environment };
        Ok(BodyInfo {
            body: BodyKey { index: self.index, generation: self.generation },
            kind,
            mass: self.mass,
            first_step: self.first_step,
            material,
            offset: Pose::new(self.offset_position.vector(), Quat::from_array(rotation)),
            shape: self.take_shape()?,
            name: self.name,
        })
    }

    fn take_shape(&self) -> Result<ShapeInfo, Malformed> {
        let &Self { radius, half_height, .. } = self;
        Ok(match self.shape.as_str() {
            "sphere" => ShapeInfo::Sphere { radius },
            "capsule" => ShapeInfo::Capsule { radius, half_height },
            "cylinder" => ShapeInfo::Cylinder { radius, half_height },
            "cone" => ShapeInfo::Cone { radius, half_height },
            "cuboid" => ShapeInfo::Cuboid { half_extents: self.half_extents.vector() },
            "half_space" => ShapeInfo::HalfSpace {
                normal: self.plane_normal.vector(),
                offset: self.plane_offset,
            },
            "hull" => {
                let vertices: Vec<Vec3> =
                    self.vertices.as_chunks().0.iter().map(|&v| Vec3::from_array(v)).collect();
                ShapeInfo::Hull { faces: self.take_faces(vertices.len())?, vertices }
            }
            _ => return Err(Malformed("a shape of an unknown kind")),
        })
    }

    fn take_faces(&self, vertices: usize) -> Result<Vec<Vec<u32>>, Malformed> {
        if self.face_vertices.iter().any(|&vertex| vertex as usize >= vertices) {
            return Err(Malformed("a face with a vertex index out of range"));
        }
        let mut rest = self.face_vertices.as_slice();
        let mut faces = Vec::with_capacity(self.face_sizes.len());
        for &size in &self.face_sizes {
            let (face, tail) = rest
                .split_at_checked(size as usize)
                .ok_or(Malformed("a face with more vertices than are listed"))?;
            faces.push(face.to_vec());
            rest = tail;
        }
        Ok(faces)
    }
}
