//! The convex shapes, validated on construction, with their support points and bounds.
//!
//! A shape is given in its own frame. The axis of revolution is the local z axis, and the origin is
//! halfway up the shape (for a cone too, whose center of mass lies below it).

use std::sync::Arc;

use super::hull::ConvexHull;
use super::project::length_and_direction;
use crate::error::ShapeError;
use crate::math::{Mat3, Pose, SIZE_RANGE, Vec3, largest_axis};

/// A convex shape in its own frame.
///
/// The axis of capsules, cylinders and cones is the local z axis. The origin is halfway up the
/// shape; for a cone, whose apex points up, that is above its center of mass. A hull keeps the
/// coordinates of its points.
///
/// Every constructor rejects invalid sizes with a [`ShapeError`] that gives the parameter and its
/// value.
///
/// ```
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::Vec3;
/// let brick = Shape::cuboid(Vec3::new(0.1, 0.05, 0.03))?;
/// assert_eq!(brick.support(Vec3::new(1.0, -1.0, 1.0)), Vec3::new(0.1, -0.05, 0.03));
/// let rejected = Shape::sphere(-1.0).unwrap_err();
/// assert!(rejected.to_string().starts_with("radius = -1"));
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "collider")]
#[doc(alias = "geom")]
pub enum Shape {
    /// A sphere.
    #[doc(alias = "ball")]
    Sphere(Sphere),
    /// A capsule: all points within a radius of a segment.
    Capsule(Capsule),
    /// A right circular cylinder.
    Cylinder(Cylinder),
    /// A right circular cone.
    Cone(Cone),
    /// A box, given by its half extents.
    #[doc(alias = "box")]
    Cuboid(Cuboid),
    /// The convex hull of a point cloud, shared between the bodies that use it.
    #[doc(alias = "convex polyhedron")]
    Hull(Arc<ConvexHull>),
    /// All points on one side of a plane, such as a floor.
    #[doc(alias = "plane")]
    HalfSpace(HalfSpace),
}

/// A sphere about the origin.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "ball")]
pub struct Sphere {
    pub(crate) radius: f64,
}

/// A capsule: all points within `radius` of the segment from `-half_height` to `half_height` on the
/// z axis.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "pill")]
pub struct Capsule {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// A cylinder about the z axis, with caps at `-half_height` and `half_height`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cylinder {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// A cone about the z axis, with a base of `radius` at `-half_height` and its apex at
/// `half_height`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cone {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// An axis-aligned box centered on the origin.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "box")]
pub struct Cuboid {
    pub(crate) half_extents: Vec3,
}

/// The half-space of all points `x` with `normal . x <= offset`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "plane")]
#[doc(alias = "floor")]
pub struct HalfSpace {
    pub(crate) plane: Plane,
}

/// The plane of all points `x` with `normal . x = offset`; `normal` has unit length.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Plane {
    /// Unit normal, pointing out of the solid that the plane bounds.
    pub normal: Vec3,
    /// Distance from the origin along the normal, in meters.
    pub offset: f64,
}

impl Plane {
    /// Returns the signed distance of `point` from the plane, in meters: negative behind it.
    #[inline]
    pub fn distance(&self, point: Vec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// An axis-aligned bounding box. That of a half-space is infinite.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "bounding box")]
pub struct Aabb {
    /// Smallest coordinates, in meters.
    pub min: Vec3,
    /// Largest coordinates, in meters.
    pub max: Vec3,
}

impl Aabb {
    /// Returns the bounds grown by `margin` meters on every side.
    pub fn grown(&self, margin: f64) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// Returns the smallest box that contains both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns whether the two boxes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Returns whether `other` lies within this box.
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }
}

fn size(field: &'static str, value: f64) -> Result<f64, ShapeError> {
    if SIZE_RANGE.contains(&value) { Ok(value) } else { Err(ShapeError::Size { field, value }) }
}

impl Shape {
    /// Returns the index of the face with a normal, in the shape's own frame, to within rounding: of a cuboid in the order
    /// x, -x, y, -y, z, -z.
    pub(crate) fn face_with_normal(&self, normal: Vec3) -> Option<u32> {
        const ROUNDING: f64 = 1e-12;
        let is_along = |of_face: Vec3| of_face.dot(normal) >= 1.0 - ROUNDING;
        match self {
            Self::Cuboid(_) => {
                let axis = largest_axis(normal.abs());
                let direction = Vec3::AXES[axis] * normal[axis].signum();
                is_along(direction).then(|| 2 * axis as u32 + u32::from(normal[axis] < 0.0))
            }
            Self::Hull(hull) => {
                let faces = hull.planes().iter().map(|plane| plane.normal);
                let best = (0..)
                    .zip(faces)
                    .max_by(|(_, a), (_, b)| a.dot(normal).total_cmp(&b.dot(normal)));
                best.filter(|&(_, of_face)| is_along(of_face)).map(|(face, _)| face)
            }
            _ => None,
        }
    }

    /// Returns whether part of the surface is curved.
    pub(crate) fn is_round(&self) -> bool {
        match self {
            Self::Sphere(_) | Self::Capsule(_) | Self::Cylinder(_) | Self::Cone(_) => true,
            Self::Cuboid(_) | Self::Hull(_) | Self::HalfSpace(_) => false,
        }
    }

    /// Creates a sphere of `radius` meters.
    #[doc(alias = "ball")]
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Sphere(Sphere { radius: size("radius", radius)? }))
    }

    /// Creates a capsule about z: a cylinder `2 half_height` meters long between two hemispheres of
    /// `radius` meters.
    pub fn capsule(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule(Capsule {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// Creates a cylinder about z, `2 half_height` meters high.
    pub fn cylinder(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder(Cylinder {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// Creates a cone about z, `2 half_height` meters high, apex up.
    pub fn cone(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cone(Cone {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// Creates a box with edges of twice the `half_extents` (meters).
    #[doc(alias = "box")]
    pub fn cuboid(half_extents: Vec3) -> Result<Self, ShapeError> {
        size("half_extents.x", half_extents.x)?;
        size("half_extents.y", half_extents.y)?;
        size("half_extents.z", half_extents.z)?;
        Ok(Self::Cuboid(Cuboid { half_extents }))
    }

    /// Creates the convex hull of `points`; see [`ConvexHull::new`].
    pub fn hull(points: &[Vec3]) -> Result<Self, ShapeError> {
        Ok(Self::Hull(Arc::new(ConvexHull::new(points)?)))
    }

    /// Creates the half-space of all points `x` with `normal . x <= offset`, after scaling `normal`
    /// to unit length.
    #[doc(alias = "plane")]
    #[doc(alias = "floor")]
    pub fn half_space(normal: Vec3, offset: f64) -> Result<Self, ShapeError> {
        // Scale first: the square of a large or tiny component must not overflow or underflow.
        let largest = normal.abs().max_element();
        if !(normal.is_finite() && largest > 0.0) {
            return Err(ShapeError::Direction { field: "normal", value: normal });
        }
        if !(offset.abs() <= *SIZE_RANGE.end()) {
            return Err(ShapeError::Coordinate { field: "offset", value: offset });
        }
        // A unit vector keeps its bits.
        let is_unit = (normal.length_squared() - 1.0).abs() <= 4.0 * f64::EPSILON;
        let normal = if is_unit { normal } else { (normal / largest).normalize() };
        Ok(Self::HalfSpace(HalfSpace { plane: Plane { normal, offset } }))
    }

    /// Returns the support point: the point of the shape farthest along `direction`, both in the
    /// shape's frame. The length of `direction` does not matter as long as its square neither
    /// overflows nor underflows.
    ///
    /// A half-space is unbounded and returns the point of its plane nearest the origin.
    #[inline]
    #[doc(alias = "support point")]
    pub fn support(&self, direction: Vec3) -> Vec3 {
        match self {
            Self::Sphere(s) => length_and_direction(direction, Vec3::X).1 * s.radius,
            Self::Capsule(s) => {
                length_and_direction(direction, Vec3::X).1 * s.radius
                    + Vec3::new(0.0, 0.0, s.half_height.copysign(direction.z))
            }
            Self::Cylinder(s) => s.support(direction),
            Self::Cone(s) => s.support(direction),
            Self::Cuboid(s) => s.support(direction),
            Self::Hull(s) => s.support(direction),
            Self::HalfSpace(s) => s.plane.normal * s.plane.offset,
        }
    }

    /// Returns the support function: how far the shape extends from its origin along the unit
    /// vector `n`, in meters. A half-space behaves as in [`Self::support`].
    pub(crate) fn reach(&self, n: Vec3) -> f64 {
        match self {
            Self::Sphere(s) => s.radius,
            Self::Capsule(s) => s.half_height * n.z.abs() + s.radius,
            Self::Cuboid(s) => s.half_extents.dot(n.abs()),
            Self::Hull(s) => s.reach(n),
            _ => n.dot(self.support(n)),
        }
    }

    /// Returns the tight axis-aligned bounding box of the shape at `pose`, rounded outwards.
    #[doc(alias = "aabb")]
    #[doc(alias = "compute_aabb")]
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        let m = Mat3::from_quat(pose.rotation);
        let axis = m.z_axis;
        let half = match self {
            Self::Sphere(s) => Vec3::splat(s.radius),
            Self::Capsule(s) => axis.abs() * s.half_height + Vec3::splat(s.radius),
            Self::Cylinder(s) => axis.abs() * s.half_height + disc_half_extents(axis) * s.radius,
            Self::Cone(s) => {
                let apex = pose.position + axis * s.half_height;
                let base = pose.position - axis * s.half_height;
                let disc = disc_half_extents(axis) * s.radius;
                return Aabb { min: apex.min(base - disc), max: apex.max(base + disc) }
                    .rounded_outwards();
            }
            Self::Cuboid(s) => {
                let h = s.half_extents;
                m.x_axis.abs() * h.x + m.y_axis.abs() * h.y + m.z_axis.abs() * h.z
            }
            Self::Hull(hull) => return hull.bounds(&m, pose.position).rounded_outwards(),
            Self::HalfSpace(_) => Vec3::INFINITY,
        };
        Aabb { min: pose.position - half, max: pose.position + half }.rounded_outwards()
    }

    /// Returns the minimum width of the shape (for a hull: measured across its faces), in meters.
    /// Infinite for a half-space.
    #[doc(alias = "minimum width")]
    #[doc(alias = "thickness")]
    pub fn least_width(&self) -> f64 {
        match self {
            Self::Sphere(Sphere { radius }) | Self::Capsule(Capsule { radius, .. }) => 2.0 * radius,
            Self::Cylinder(s) => 2.0 * s.radius.min(s.half_height),
            Self::Cone(Cone { radius, half_height }) => {
                // The heights of the triangular section through the axis: over its base and over
                // its sides.
                let height = 2.0 * half_height;
                let slant = (radius * radius + height * height).sqrt();
                height.min(2.0 * radius * height / slant)
            }
            Self::Cuboid(s) => 2.0 * s.half_extents.min_element(),
            Self::Hull(s) => s.least_width(),
            Self::HalfSpace(_) => f64::INFINITY,
        }
    }

    /// Returns the largest distance of a point of the shape from its origin, in meters. Infinite
    /// for a half-space.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere(s) => s.radius,
            Self::Capsule(s) => s.radius + s.half_height,
            Self::Cylinder(Cylinder { radius, half_height })
            | Self::Cone(Cone { radius, half_height }) => {
                (radius * radius + half_height * half_height).sqrt()
            }
            Self::Cuboid(s) => s.half_extents.length(),
            Self::Hull(s) => s.bounding_radius(),
            Self::HalfSpace(_) => f64::INFINITY,
        }
    }
}

impl From<ConvexHull> for Shape {
    fn from(hull: ConvexHull) -> Self {
        Self::Hull(Arc::new(hull))
    }
}

impl Aabb {
    /// Grows the box by a bound on the rounding of one pose transform.
    fn rounded_outwards(&self) -> Self {
        let largest = self.min.abs().max(self.max.abs()).max_element();
        if largest.is_finite() { self.grown(4.0 * f64::EPSILON * largest) } else { *self }
    }
}

/// Returns the half extents of a disc of radius 1 with the given unit axis.
fn disc_half_extents(axis: Vec3) -> Vec3 {
    // 1 - x^2 as y^2 + z^2, without cancellation.
    let s = axis * axis;
    Vec3::new((s.y + s.z).sqrt(), (s.x + s.z).sqrt(), (s.x + s.y).sqrt())
}

impl Sphere {
    /// Returns the radius, in meters.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl Capsule {
    /// Returns the radius, in meters.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns half the length of the axis segment, in meters.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }
}

impl Cylinder {
    /// Returns the radius, in meters.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns half the height, in meters.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }

    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        let rim = rim_support(self.radius, d);
        Vec3::new(rim.0, rim.1, self.half_height.copysign(d.z))
    }
}

impl Cone {
    /// Returns the radius of the base, in meters.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns half the height, in meters.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }

    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        // The apex is farther than the rim if d.z (2 half_height) > radius |d_xy|.
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        if 2.0 * self.half_height * d.z > self.radius * planar {
            Vec3::new(0.0, 0.0, self.half_height)
        } else {
            let rim = rim_support(self.radius, d);
            Vec3::new(rim.0, rim.1, -self.half_height)
        }
    }
}

/// Returns the point of a circle about z farthest along `d`; the center if `d` is axial.
#[inline]
fn rim_support(radius: f64, d: Vec3) -> (f64, f64) {
    let planar = d.x * d.x + d.y * d.y;
    if planar > 0.0 {
        let s = radius / planar.sqrt();
        (d.x * s, d.y * s)
    } else {
        (0.0, 0.0)
    }
}

impl Cuboid {
    /// Returns half the edge lengths, in meters.
    pub fn half_extents(&self) -> Vec3 {
        self.half_extents
    }

    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        self.half_extents.copysign(d)
    }
}

impl HalfSpace {
    /// Returns the bounding plane.
    pub fn plane(&self) -> Plane {
        self.plane
    }
}
