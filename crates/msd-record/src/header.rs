//! The messages that are written once: header, settings, bodies, summary and index.

use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Accuracy, BodyKind, Continuous, Material, Method, Settings};

use crate::body::{BodyInfo, ColliderInfo, ColliderKey, ShapeInfo};
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
/// omits steps or contacts, format 3 lists the colliders of bodies and names those in contact.
pub(crate) const FORMAT: u32 = 3;

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
    /// A shape. Only the fields of its kind are used.
    ShapeMessage = "msd.Shape" {
        1 kind: String,
        2 radius: f64,
        3 half_height: f64,
        4 half_extents: VectorMessage,
        5 plane_normal: VectorMessage,
        6 plane_offset: f64,
        7 vertices: Vec<f64>,
        8 face_sizes: Vec<u32>,
        9 face_vertices: Vec<u32>,
    }
}

message! {
    /// A collider, with its place in the frame of its body's center of mass.
    ColliderMessage = "msd.Collider" {
        1 index: u32,
        2 generation: u32,
        3 name: String,
        4 restitution: f64,
        5 friction: f64,
        6 position: VectorMessage,
        7 rotation: Vec<f64>,
        8 shape: ShapeMessage,
        9 is_sensor: bool,
        10 is_disabled: bool,
    }
}

message! {
    /// A body. Fields 7 to 19 are those of its only collider in recordings of versions without `colliders`.
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
        21 colliders: Vec<ColliderMessage>,
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
        let (every, without_contacts) = (recorded.every, !recorded.contacts);
        Self {
            format: FORMAT,
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
        Self {
            index: info.body.index,
            generation: info.body.generation,
            name: info.name.clone(),
            is_inertial: info.kind == BodyKind::Inertial,
            mass: info.mass,
            first_step: info.first_step,
            frame_id: frame_id.to_owned(),
            colliders: info.colliders.iter().map(ColliderMessage::of).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn into_info(mut self) -> Result<BodyInfo, Malformed> {
        if !self.shape.is_empty() {
            let old = self.take_only_collider();
            self.colliders.push(old);
        }
        let kind = if self.is_inertial { BodyKind::Inertial } else { BodyKind::Environment };
        let colliders = self.colliders.into_iter().map(ColliderMessage::into_info);
        Ok(BodyInfo {
            body: BodyKey { index: self.index, generation: self.generation },
            kind,
            mass: self.mass,
            first_step: self.first_step,
            name: self.name,
            colliders: colliders.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the collider of a body that was written by a version with one collider a body.
    fn take_only_collider(&mut self) -> ColliderMessage {
        let old = std::mem::take(self);
        let shape = ShapeMessage {
            kind: old.shape,
            radius: old.radius,
            half_height: old.half_height,
            half_extents: old.half_extents,
            plane_normal: old.plane_normal,
            plane_offset: old.plane_offset,
            vertices: old.vertices,
            face_sizes: old.face_sizes,
            face_vertices: old.face_vertices,
        };
        let collider = ColliderMessage {
            index: old.index,
            generation: old.generation,
            restitution: old.restitution,
            friction: old.friction,
            position: old.offset_position,
            rotation: old.offset_rotation,
            shape,
            ..ColliderMessage::default()
        };
        let (name, frame_id) = (old.name, old.frame_id);
        let Self { index, generation, is_inertial, mass, first_step, .. } = old;
        let kept =
            Self { index, generation, name, is_inertial, mass, first_step, ..Self::default() };
        *self = Self { frame_id, ..kept };
        collider
    }
}

impl ColliderMessage {
    fn of(info: &ColliderInfo) -> Self {
        Self {
            index: info.collider.index,
            generation: info.collider.generation,
            name: info.name.clone(),
            restitution: info.material.restitution(),
            friction: info.material.friction(),
            position: VectorMessage::of(info.place.position),
            rotation: info.place.rotation.to_array().to_vec(),
            shape: ShapeMessage::of(&info.shape),
            is_sensor: info.is_sensor,
            is_disabled: !info.is_enabled,
        }
    }

    fn into_info(self) -> Result<ColliderInfo, Malformed> {
        let rotation = <[f64; 4]>::try_from(self.rotation.as_slice())
            .map_err(|_| Malformed("a rotation without four numbers"))?;
        let material = Material::new(self.restitution, self.friction)
            .map_err(|_| Malformed("an invalid material"))?;
        Ok(ColliderInfo {
            collider: ColliderKey { index: self.index, generation: self.generation },
            name: self.name,
            place: Pose::new(self.position.vector(), Quat::from_array(rotation)),
            shape: self.shape.into_info()?,
            material,
            is_sensor: self.is_sensor,
            is_enabled: !self.is_disabled,
        })
    }
}

impl ShapeMessage {
    fn of(shape: &ShapeInfo) -> Self {
        let kind = |kind: &str| Self { kind: kind.to_owned(), ..Self::default() };
        let round = |name: &str, radius: &f64, half_height: f64| Self {
            radius: *radius,
            half_height,
            ..kind(name)
        };
        match shape {
            ShapeInfo::Sphere { radius } => round("sphere", radius, 0.0),
            ShapeInfo::Capsule { radius, half_height } => round("capsule", radius, *half_height),
            ShapeInfo::Cylinder { radius, half_height } => round("cylinder", radius, *half_height),
            ShapeInfo::Cone { radius, half_height } => round("cone", radius, *half_height),
            ShapeInfo::Cuboid { half_extents } => {
                Self { half_extents: VectorMessage::of(*half_extents), ..kind("cuboid") }
            }
            ShapeInfo::HalfSpace { normal, offset } => Self {
                plane_normal: VectorMessage::of(*normal),
                plane_offset: *offset,
                ..kind("half_space")
            },
            ShapeInfo::Hull { vertices, faces } => Self {
                vertices: vertices.iter().flat_map(|v| v.to_array()).collect(),
                face_sizes: faces.iter().map(|face| face.len() as u32).collect(),
                face_vertices: faces.concat(),
                ..kind("hull")
            },
        }
    }

    fn into_info(self) -> Result<ShapeInfo, Malformed> {
        let Self { radius, half_height, .. } = self;
        Ok(match self.kind.as_str() {
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
