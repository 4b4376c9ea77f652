//! The properties of a body that do not change with its motion: written once, when the body first appears.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use msd_sim::{Body, BodyKind, ColliderId, ColliderView, Material};

use crate::frame::BodyKey;

/// The properties of a body other than its state, as they are at its first recorded step: later changes of mass, shape,
/// name or material ([`World::set_shape`](msd_sim::World::set_shape) and others) are not recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyInfo {
    /// Key of the body, as in the states of every frame.
    pub body: BodyKey,
    /// Name; empty if the body has none.
    pub name: String,
    /// Inertial or environment.
    pub kind: BodyKind,
    /// Mass, kg; zero for the environment.
    pub mass: f64,
    /// First recorded step that holds the body.
    pub first_step: u64,
    /// Its colliders at that step, in the order of their handles.
    pub colliders: Vec<ColliderInfo>,
}

/// A collider, as it is at the first recorded step of its body.
#[derive(Clone, Debug, PartialEq)]
pub struct ColliderInfo {
    /// Key of the collider, as in the contacts and events of every frame.
    pub collider: ColliderKey,
    /// Name; empty if the collider has none.
    pub name: String,
    /// Pose of the shape in the body frame, whose origin is the center of mass.
    pub place: Pose,
    /// Shape, for drawing.
    pub shape: ShapeInfo,
    /// Surface material.
    pub material: Material,
    /// Whether it pushes nothing.
    pub is_sensor: bool,
    /// Whether it takes part in anything.
    pub is_enabled: bool,
}

/// A collider in a recording: slot and generation of its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColliderKey {
    /// Slot.
    pub index: u32,
    /// How many colliders the slot had before.
    pub generation: u32,
}

impl ColliderKey {
    /// Returns the key of the only collider of a body in recordings of versions with one collider a body.
    pub(crate) fn only_of(body: BodyKey) -> Self {
        Self { index: body.index, generation: body.generation }
    }
}

impl From<ColliderId> for ColliderKey {
    fn from(id: ColliderId) -> Self {
        Self { index: id.index() as u32, generation: id.generation() }
    }
}

/// The dimensions of a shape in its own frame; axes of revolution are z.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeInfo {
    /// A ball about the origin.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// All points within the radius of a segment on the z axis.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Half the length of the segment, m.
        half_height: f64,
    },
    /// A cylinder about z.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Half height, m.
        half_height: f64,
    },
    /// A cone about z, apex at +z.
    Cone {
        /// Radius of the base, m.
        radius: f64,
        /// Half height, m.
        half_height: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// Half extents, m.
        half_extents: Vec3,
    },
    /// All points `x` with `normal . x <= offset`.
    HalfSpace {
        /// Unit vector out of the solid.
        normal: Vec3,
        /// Distance of the plane from the origin along `normal`, m.
        offset: f64,
    },
    /// A convex polyhedron.
    Hull {
        /// Vertices, m.
        vertices: Vec<Vec3>,
        /// Vertex indices of each face, counter-clockwise seen from outside.
        faces: Vec<Vec<u32>>,
    },
}

impl BodyInfo {
    /// Describes a body of a world that first appears at `step`.
    pub fn of(body: &Body<'_>, step: u64) -> Self {
        Self {
            body: body.id().into(),
            name: body.name().to_owned(),
            kind: body.kind(),
            mass: body.mass(),
            first_step: step,
            colliders: body.colliders().map(|collider| ColliderInfo::of(&collider)).collect(),
        }
    }
}

impl ColliderInfo {
    fn of(collider: &ColliderView<'_>) -> Self {
        Self {
            collider: collider.id().into(),
            name: collider.name().to_owned(),
            place: collider.place(),
            shape: ShapeInfo::of(collider.shape()),
            material: collider.material(),
            is_sensor: collider.is_sensor(),
            is_enabled: collider.is_enabled(),
        }
    }
}

impl ShapeInfo {
    /// Copies a shape of the engine.
    pub fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Sphere(s) => Self::Sphere { radius: s.radius() },
            Shape::Capsule(s) => Self::Capsule { radius: s.radius(), half_height: s.half_height() },
            Shape::Cylinder(s) => {
                Self::Cylinder { radius: s.radius(), half_height: s.half_height() }
            }
            Shape::Cone(s) => Self::Cone { radius: s.radius(), half_height: s.half_height() },
            Shape::Cuboid(s) => Self::Cuboid { half_extents: s.half_extents() },
            Shape::HalfSpace(s) => {
                Self::HalfSpace { normal: s.plane().normal, offset: s.plane().offset }
            }
            Shape::Hull(hull) => Self::Hull {
                vertices: hull.vertices().to_vec(),
                faces: (0..hull.face_count() as u32)
                    .map(|face| hull.face(face).iter().map(|edge| edge.origin).collect())
                    .collect(),
            },
        }
    }
}
