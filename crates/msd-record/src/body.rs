//! What a body is, besides where: written once, when it is first seen.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Body, BodyKind, Material};

use crate::frame::BodyKey;

/// What a body is, besides where.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyInfo {
    /// Which body: the same key as in every frame's states.
    pub body: BodyKey,
    /// Its name, empty if it has none.
    pub name: String,
    /// Whether forces move it.
    pub kind: BodyKind,
    /// Mass, kg; zero for the environment.
    pub mass: f64,
    /// The first step at which it was seen.
    pub first_step: u64,
    /// Its surface when it was first seen.
    pub material: Material,
    /// The shape's frame in the body's, whose origin is the centre of mass.
    pub offset: Pose,
    /// Its shape, to be drawn.
    pub shape: ShapeInfo,
}

/// A shape as data, in its own frame; axes of revolution are z.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeInfo {
    /// A ball about the origin.
    Sphere {
        /// m.
        radius: f64,
    },
    /// All points within the radius of a segment on the z axis.
    Capsule {
        /// m.
        radius: f64,
        /// Half the segment, m.
        half_height: f64,
    },
    /// A cylinder about z.
    Cylinder {
        /// m.
        radius: f64,
        /// m.
        half_height: f64,
    },
    /// A cone about z, its apex up.
    Cone {
        /// Of the base, m.
        radius: f64,
        /// m.
        half_height: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// m.
        half_extents: Vec3,
    },
    /// All points `x` with `normal . x <= offset`.
    HalfSpace {
        /// Unit vector out of the solid.
        normal: Vec3,
        /// m.
        offset: f64,
    },
    /// A convex polyhedron.
    Hull {
        /// Corners, m.
        vertices: Vec<Vec3>,
        /// Corners of each face, counter-clockwise as seen from outside.
        faces: Vec<Vec<u32>>,
    },
}

impl BodyInfo {
    /// A body of a world, seen first at `step`.
    pub fn of(body: &Body<'_>, step: u64) -> Self {
        let (pose, shape_pose) = (body.pose(), body.shape_pose());
        let mut offset = pose.relative(&shape_pose);
        if pose.rotation == shape_pose.rotation {
            offset.rotation = Quat::IDENTITY; // Without the rounding of q* q.
        }
        Self {
            body: body.id().into(),
            name: body.name().to_owned(),
            kind: body.kind(),
            mass: body.mass(),
            first_step: step,
            material: body.material(),
            offset,
            shape: ShapeInfo::of(body.shape()),
        }
    }
}

impl ShapeInfo {
    /// A shape of the engine.
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
