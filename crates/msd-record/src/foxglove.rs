//! Messages from which Foxglove draws the scene: geometry attached to frames, and the poses of the frames.
//!
//! Field names and numbers are those of Foxglove's public schemas; unused fields are omitted.

use msd_sim::math::{Pose, Quat, Vec3};

use crate::body::{BodyInfo, ShapeInfo};
use crate::wire::message;

/// Name of the root frame.
pub(crate) const WORLD: &str = "world";

/// Edge length of the plate that stands for a half-space, m: fills the view of scenes of a few meters.
const PLATE_EDGE: f64 = 200.0;
/// Thickness of that plate, m: thin, but thick enough to avoid z-fighting of its two faces.
const PLATE_THICKNESS: f64 = 0.1;

/// Opacity of sensors.
const SENSOR_ALPHA: f64 = 0.3;

message! {
    Timestamp = "google.protobuf.Timestamp" { 1 seconds: i64, 2 nanos: i32 }
}
message! {
    Duration = "google.protobuf.Duration" { 1 seconds: i64, 2 nanos: i32 }
}
message! {
    Vector3 = "foxglove.Vector3" { 1 x: f64, 2 y: f64, 3 z: f64 }
}
message! {
    Point3 = "foxglove.Point3" { 1 x: f64, 2 y: f64, 3 z: f64 }
}
message! {
    Quaternion = "foxglove.Quaternion" { 1 x: f64, 2 y: f64, 3 z: f64, 4 w: f64 }
}
message! {
    Color = "foxglove.Color" { 1 r: f64, 2 g: f64, 3 b: f64, 4 a: f64 }
}
message! {
    PoseMessage = "foxglove.Pose" { 1 position: Vector3, 2 orientation: Quaternion }
}
message! {
    FrameTransforms = "foxglove.FrameTransforms" { 1 transforms: Vec<FrameTransform> }
}
message! {
    FrameTransform = "foxglove.FrameTransform" {
        1 timestamp: Timestamp,
        2 parent_frame_id: String,
        3 child_frame_id: String,
        4 translation: Vector3,
        5 rotation: Quaternion,
    }
}
message! {
    SceneUpdate = "foxglove.SceneUpdate" {
        1 deletions: Vec<SceneEntityDeletion>,
        2 entities: Vec<SceneEntity>,
    }
}
message! {
    SceneEntityDeletion = "foxglove.SceneEntityDeletion" {
        1 timestamp: Timestamp,
        2 r#type: DeletionType,
        3 id: String,
    }
    enums [("Type", ["MATCHING_ID", "ALL"])]
}
message! {
    SceneEntity = "foxglove.SceneEntity" {
        1 timestamp: Timestamp,
        2 frame_id: String,
        3 id: String,
        4 lifetime: Duration,
        5 frame_locked: bool,
        8 cubes: Vec<CubePrimitive>,
        9 spheres: Vec<SpherePrimitive>,
        10 cylinders: Vec<CylinderPrimitive>,
        12 triangles: Vec<TriangleListPrimitive>,
    }
}
message! {
    CubePrimitive = "foxglove.CubePrimitive" { 1 pose: PoseMessage, 2 size: Vector3, 3 color: Color }
}
message! {
    SpherePrimitive = "foxglove.SpherePrimitive" {
        1 pose: PoseMessage,
        2 size: Vector3,
        3 color: Color,
    }
}
message! {
    CylinderPrimitive = "foxglove.CylinderPrimitive" {
        1 pose: PoseMessage,
        2 size: Vector3,
        3 bottom_scale: f64,
        4 top_scale: f64,
        5 color: Color,
    }
}
message! {
    TriangleListPrimitive = "foxglove.TriangleListPrimitive" {
        1 pose: PoseMessage,
        2 points: Vec<Point3>,
        3 color: Color,
        5 indices: Vec<u32>,
    }
}

/// `foxglove.SceneEntityDeletion.Type`, always `MATCHING_ID`: deletes the entity with the same id.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeletionType;

impl crate::wire::Field for DeletionType {
    const TYPE: u64 = 14;
    const TYPE_NAME: Option<&'static str> = Some("foxglove.SceneEntityDeletion.Type");

    fn put(&self, number: u64, out: &mut Vec<u8>) {
        0_u32.put(number, out);
    }

    fn take(
        &mut self,
        wire: u64,
        from: &mut crate::bytes::Bytes<'_>,
    ) -> Result<(), crate::bytes::Malformed> {
        0_u32.take(wire, from)
    }
}

impl Timestamp {
    pub(crate) fn of(nanoseconds: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self { seconds: (nanoseconds / SECOND) as i64, nanos: (nanoseconds % SECOND) as i32 }
    }
}

impl Vector3 {
    fn of(v: Vec3) -> Self {
        Self { x: v.x, y: v.y, z: v.z }
    }
}

impl Quaternion {
    fn of(q: Quat) -> Self {
        Self { x: q.x, y: q.y, z: q.z, w: q.w }
    }
}

impl FrameTransform {
    pub(crate) fn of(time: u64, frame_id: &str, pose: &Pose) -> Self {
        Self {
            timestamp: Timestamp::of(time),
            parent_frame_id: WORLD.to_owned(),
            child_frame_id: frame_id.to_owned(),
            translation: Vector3::of(pose.position),
            rotation: Quaternion::of(pose.rotation),
        }
    }
}

impl SceneEntityDeletion {
    pub(crate) fn of(time: u64, id: &str) -> Self {
        Self { timestamp: Timestamp::of(time), r#type: DeletionType, id: id.to_owned() }
    }
}

impl SceneEntity {
    /// Returns the geometry of a body in its frame. It lives until it is deleted.
    pub(crate) fn of(info: &BodyInfo, frame_id: &str) -> Self {
        let mut entity = Self {
            frame_id: frame_id.to_owned(),
            id: frame_id.to_owned(),
            frame_locked: true,
            ..Self::default()
        };
        for collider in info.colliders.iter().filter(|collider| collider.is_enabled) {
            let mut color = color(info);
            if collider.is_sensor {
                color.a = SENSOR_ALPHA;
            }
            entity.draw(&collider.shape, collider.place, color);
        }
        entity
    }

    fn draw(&mut self, shape: &ShapeInfo, offset: Pose, color: Color) {
        match shape {
            ShapeInfo::Sphere { radius } => self.ball(offset, *radius, &color),
            ShapeInfo::Capsule { radius, half_height } => {
                self.tube(offset, *radius, *half_height, 1.0, &color);
                for z in [-half_height, *half_height] {
                    self.ball(offset * Pose::at(Vec3::new(0.0, 0.0, z)), *radius, &color);
                }
            }
            ShapeInfo::Cylinder { radius, half_height } => {
                self.tube(offset, *radius, *half_height, 1.0, &color);
            }
            ShapeInfo::Cone { radius, half_height } => {
                self.tube(offset, *radius, *half_height, 0.0, &color);
            }
            ShapeInfo::Cuboid { half_extents } => self.cube(offset, *half_extents * 2.0, color),
            ShapeInfo::HalfSpace { normal, offset: height } => {
                let turn = Quat::from_rotation_arc(Vec3::Z, *normal);
                let middle = *normal * (height - 0.5 * PLATE_THICKNESS);
                let size = Vec3::new(PLATE_EDGE, PLATE_EDGE, PLATE_THICKNESS);
                self.cube(offset * Pose::new(middle, turn), size, color);
            }
            ShapeInfo::Hull { vertices, faces } => self.triangles.push(TriangleListPrimitive {
                pose: PoseMessage::of(&offset),
                points: vertices.iter().map(|v| Point3 { x: v.x, y: v.y, z: v.z }).collect(),
                color,
                indices: faces.iter().flat_map(|face| fan(face)).collect(),
            }),
        }
    }

    fn ball(&mut self, pose: Pose, radius: f64, color: &Color) {
        self.spheres.push(SpherePrimitive {
            pose: PoseMessage::of(&pose),
            size: Vector3::of(Vec3::splat(2.0 * radius)),
            color: color.clone(),
        });
    }

    fn tube(&mut self, pose: Pose, radius: f64, half_height: f64, top_scale: f64, color: &Color) {
        self.cylinders.push(CylinderPrimitive {
            pose: PoseMessage::of(&pose),
            size: Vector3::of(Vec3::new(radius, radius, half_height) * 2.0),
            bottom_scale: 1.0,
            top_scale,
            color: color.clone(),
        });
    }

    fn cube(&mut self, pose: Pose, size: Vec3, color: Color) {
        let (pose, size) = (PoseMessage::of(&pose), Vector3::of(size));
        self.cubes.push(CubePrimitive { pose, size, color });
    }
}

impl PoseMessage {
    fn of(pose: &Pose) -> Self {
        Self { position: Vector3::of(pose.position), orientation: Quaternion::of(pose.rotation) }
    }
}

/// Triangulates a convex polygon as a fan about its first vertex.
fn fan(face: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let (first, rest) = match face {
        [first, rest @ ..] => (*first, rest),
        [] => (0, face),
    };
    rest.windows(2).flat_map(move |edge| std::iter::once(first).chain(edge.iter().copied()))
}

/// Returns gray for environment bodies, else one of six colors that are distinct for color-blind readers too.
fn color(info: &BodyInfo) -> Color {
    const STATIC_COLOR: [f64; 3] = [0.55, 0.57, 0.6];
    const PALETTE: [[f64; 3]; 6] = [
        [0.90, 0.62, 0.00],
        [0.34, 0.71, 0.91],
        [0.00, 0.62, 0.45],
        [0.94, 0.89, 0.26],
        [0.84, 0.37, 0.00],
        [0.80, 0.47, 0.65],
    ];
    let [r, g, b] = match info.kind {
        msd_sim::BodyKind::Environment => STATIC_COLOR,
        msd_sim::BodyKind::Inertial => PALETTE[info.body.index as usize % PALETTE.len()],
    };
    Color { r, g, b, a: 1.0 }
}
