//! The convex shapes, checked where they are made, and their support points and bounds.
//!
//! A shape lives in its own frame. Axes of revolution are the local z axis, and the origin is the
//! middle of the shape's height (for a cone too, whose centre of mass lies below it).

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::hull::ConvexHull;
use super::project::polar;
use crate::error::ShapeError;
use crate::math::{Mat3, Pose, Vec3};

/// Sizes that can be computed with, in metres: 2^-40 to 2^40.
///
/// Within it the sixth powers that inertia and the predicates need neither overflow nor vanish.
pub const SIZE_RANGE: RangeInclusive<f64> = 9.094947017729282e-13..=1.099511627776e12;

/// A convex solid in its own frame.
///
/// Capsule, cylinder and cone stand along the local z axis. The origin is the middle of the shape's
/// height; for a cone, whose apex is up, that is above its centre of mass. A hull is where its points
/// are.
///
/// Every constructor refuses what is not a size, with a [`ShapeError`] that names the parameter and
/// repeats the value.
///
/// ```
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::Vec3;
/// let brick = Shape::cuboid(Vec3::new(0.1, 0.05, 0.03))?;
/// assert_eq!(brick.support(Vec3::new(1.0, -1.0, 1.0)), Vec3::new(0.1, -0.05, 0.03));
/// let refused = Shape::sphere(-1.0).unwrap_err();
/// assert!(refused.to_string().starts_with("radius = -1"));
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball.
    Sphere(Sphere),
    /// All points within a radius of a segment.
    Capsule(Capsule),
    /// A straight circular cylinder.
    Cylinder(Cylinder),
    /// A straight circular cone.
    Cone(Cone),
    /// A box.
    Cuboid(Cuboid),
    /// The convex hull of a point cloud, shared between the bodies that use it.
    Hull(Arc<ConvexHull>),
    /// Everything on one side of a plane.
    HalfSpace(HalfSpace),
}

/// A ball about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    pub(crate) radius: f64,
}

/// All points within `radius` of the segment from `-half_height` to `half_height` on the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// A cylinder about the z axis, its caps at `-half_height` and `half_height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// A cone about the z axis: base of `radius` at `-half_height`, apex at `half_height`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    pub(crate) radius: f64,
    pub(crate) half_height: f64,
}

/// A box about the origin, its faces across the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    pub(crate) half_extents: Vec3,
}

/// All points `x` with `normal . x <= offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    pub(crate) plane: Plane,
}

/// The plane of all points `x` with `normal . x = offset`; `normal` is of unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal, pointing out of the solid that the plane bounds.
    pub normal: Vec3,
    /// Distance from the origin along the normal, in metres.
    pub offset: f64,
}

impl Plane {
    /// How far `point` lies beyond the plane, negative behind it.
    #[inline]
    pub fn distance(&self, point: Vec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// An axis-aligned box of bounds. Those of a half-space are infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least coordinates.
    pub min: Vec3,
    /// Greatest coordinates.
    pub max: Vec3,
}

impl Aabb {
    /// The bounds grown by `margin` on every side.
    pub fn grown(&self, margin: f64) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// The bounds of both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Whether the two share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Whether `other` lies within.
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }
}

fn size(field: &'static str, value: f64) -> Result<f64, ShapeError> {
    if SIZE_RANGE.contains(&value) { Ok(value) } else { Err(ShapeError::Size { field, value }) }
}

impl Shape {
    /// A ball of `radius` metres.
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Sphere(Sphere { radius: size("radius", radius)? }))
    }

    /// A capsule about z: a cylinder of `2 half_height` between two half balls of `radius`.
    pub fn capsule(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule(Capsule {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// A cylinder about z, `2 half_height` high.
    pub fn cylinder(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder(Cylinder {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// A cone about z, `2 half_height` high, its apex up.
    pub fn cone(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cone(Cone {
            radius: size("radius", radius)?,
            half_height: size("half_height", half_height)?,
        }))
    }

    /// A box of twice the `half_extents`.
    pub fn cuboid(half_extents: Vec3) -> Result<Self, ShapeError> {
        size("half_extents.x", half_extents.x)?;
        size("half_extents.y", half_extents.y)?;
        size("half_extents.z", half_extents.z)?;
        Ok(Self::Cuboid(Cuboid { half_extents }))
    }

    /// The convex hull of `points`; see [`ConvexHull::new`].
    pub fn hull(points: &[Vec3]) -> Result<Self, ShapeError> {
        Ok(Self::Hull(Arc::new(ConvexHull::new(points)?)))
    }

    /// All points `x` with `normal . x <= offset` after `normal` is scaled to unit length.
    pub fn half_space(normal: Vec3, offset: f64) -> Result<Self, ShapeError> {
        // Halving the exponent first: the square of a large or tiny component must not be lost.
        let largest = normal.abs().max_element();
        if !(normal.is_finite() && largest > 0.0) {
            return Err(ShapeError::Direction { field: "normal", value: normal });
        }
        if !(offset.abs() <= *SIZE_RANGE.end()) {
            return Err(ShapeError::Coordinate { field: "offset", value: offset });
        }
        // A unit vector stays what it is, bit for bit.
        let is_unit = (normal.length_squared() - 1.0).abs() <= 4.0 * f64::EPSILON;
        let normal = if is_unit { normal } else { (normal / largest).normalize() };
        Ok(Self::HalfSpace(HalfSpace { plane: Plane { normal, offset } }))
    }

    /// The shape's point farthest along `direction`, given in the shape's frame. Its length does not
    /// matter as long as its square is neither too large nor too small for a number.
    ///
    /// A half-space is unbounded: its answer is the point of its plane nearest the origin.
    #[inline]
    pub fn support(&self, direction: Vec3) -> Vec3 {
        match self {
            Self::Sphere(s) => polar(direction, Vec3::X).1 * s.radius,
            Self::Capsule(s) => {
                polar(direction, Vec3::X).1 * s.radius
                    + Vec3::new(0.0, 0.0, s.half_height.copysign(direction.z))
            }
            Self::Cylinder(s) => s.support(direction),
            Self::Cone(s) => s.support(direction),
            Self::Cuboid(s) => s.support(direction),
            Self::Hull(s) => s.support(direction),
            Self::HalfSpace(s) => s.plane.normal * s.plane.offset,
        }
    }

    /// How far the shape extends from its origin along the unit vector `n`, in metres; of a half-space
    /// as for [`Self::support`].
    pub(crate) fn reach(&self, n: Vec3) -> f64 {
        match self {
            Self::Sphere(s) => s.radius,
            Self::Capsule(s) => s.half_height * n.z.abs() + s.radius,
            Self::Cuboid(s) => s.half_extents.dot(n.abs()),
            Self::Hull(s) => s.reach(n),
            _ => n.dot(self.support(n)),
        }
    }

    /// The least axis-aligned box around the shape at `pose`, to within rounding outwards.
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

    /// The least width of the shape (of a hull: across one of its faces), infinite for a half-space.
    pub fn least_width(&self) -> f64 {
        match self {
            Self::Sphere(Sphere { radius }) | Self::Capsule(Capsule { radius, .. }) => 2.0 * radius,
            Self::Cylinder(s) => 2.0 * s.radius.min(s.half_height),
            Self::Cone(Cone { radius, half_height }) => {
                // The heights of the triangle through the axis: on its base, and on its sides.
                let height = 2.0 * half_height;
                let slant = (radius * radius + height * height).sqrt();
                height.min(2.0 * radius * height / slant)
            }
            Self::Cuboid(s) => 2.0 * s.half_extents.min_element(),
            Self::Hull(s) => s.least_width(),
            Self::HalfSpace(_) => f64::INFINITY,
        }
    }

    /// The largest distance of a point of the shape from its own origin, infinite for a half-space.
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
    /// Grown by what the rounding of one pose transform can amount to.
    fn rounded_outwards(&self) -> Self {
        let largest = self.min.abs().max(self.max.abs()).max_element();
        if largest.is_finite() { self.grown(4.0 * f64::EPSILON * largest) } else { *self }
    }
}

/// Half extents of a disc of radius 1 with the given unit axis.
fn disc_half_extents(axis: Vec3) -> Vec3 {
    // 1 - x^2 as y^2 + z^2: nothing cancels.
    let s = axis * axis;
    Vec3::new((s.y + s.z).sqrt(), (s.x + s.z).sqrt(), (s.x + s.y).sqrt())
}

impl Sphere {
    /// Radius in metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl Capsule {
    /// Radius in metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half the length of the axis segment, in metres.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }
}

impl Cylinder {
    /// Radius in metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half the height, in metres.
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
    /// Radius of the base, in metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Half the height, in metres.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }

    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        // The apex wins over the rim if d.z (2 half_height) > radius |d_xy|.
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        if 2.0 * self.half_height * d.z > self.radius * planar {
            Vec3::new(0.0, 0.0, self.half_height)
        } else {
            let rim = rim_support(self.radius, d);
            Vec3::new(rim.0, rim.1, -self.half_height)
        }
    }
}

/// The point of a circle about z that is farthest along `d`; the circle's middle if `d` is axial.
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
    /// Half the edge lengths, in metres.
    pub fn half_extents(&self) -> Vec3 {
        self.half_extents
    }

    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        self.half_extents.copysign(d)
    }
}

impl HalfSpace {
    /// The plane that bounds it.
    pub fn plane(&self) -> Plane {
        self.plane
    }
}
