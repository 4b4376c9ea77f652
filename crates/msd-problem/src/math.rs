//! Vectors, rotations and poses: aliases of one maths crate, so that replacing it touches only this
//! file.

use std::ops::{Add, AddAssign, Mul, Neg, RangeInclusive, Sub};

/// A vector, or a point in space; positions are in meters.
pub type Vec3 = glam::DVec3;
/// A 3 by 3 matrix, stored by columns.
pub type Mat3 = glam::DMat3;
/// A rotation, as a unit quaternion.
pub type Quat = glam::DQuat;

/// The supported range of sizes, in meters: 2^-40 to 2^40.
///
/// Within it, the sixth powers of lengths in inertia and predicates neither overflow nor underflow.
pub const SIZE_RANGE: RangeInclusive<f64> = 9.094947017729282e-13..=1.099511627776e12;

/// Returns the rotation by `angle` radians about `axis`, which need not have unit length.
///
/// The result has the same bits on every platform. A zero axis gives the identity.
pub fn rotation(axis: Vec3, angle: f64) -> Quat {
    let length = axis.length();
    if length == 0.0 {
        return Quat::IDENTITY;
    }
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = axis * (sin / length);
    Quat::from_xyzw(v.x, v.y, v.z, cos)
}

/// The position and orientation of a frame: rotate first, then translate by `position`.
///
/// ```
/// use msd_problem::math::{rotation, Pose, Vec3};
/// let pose = Pose::new(Vec3::new(1.0, 0.0, 0.0), rotation(Vec3::Z, std::f64::consts::FRAC_PI_2));
/// let world = pose.transform_point(Vec3::X);
/// assert!((world - Vec3::new(1.0, 1.0, 0.0)).length() < 1e-15);
/// assert!((pose.inverse_transform_point(world) - Vec3::X).length() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "transform")]
#[doc(alias = "isometry")]
#[doc(alias = "frame")]
pub struct Pose {
    /// The frame's origin, in meters.
    pub position: Vec3,
    /// The frame's orientation, a unit quaternion.
    pub rotation: Quat,
}

impl Default for Pose {
    #[inline]
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// The pose of an unrotated frame at a position.
impl From<Vec3> for Pose {
    #[inline]
    fn from(position: Vec3) -> Self {
        Self::at(position)
    }
}

impl Pose {
    /// The world frame.
    pub const IDENTITY: Self = Self { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// Creates a pose from its position and rotation.
    #[inline]
    pub const fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation }
    }

    /// Creates the pose of an unrotated frame at `position`.
    #[inline]
    pub const fn at(position: Vec3) -> Self {
        Self { position, rotation: Quat::IDENTITY }
    }

    /// Returns the world position of a point given in this frame.
    #[inline]
    pub fn transform_point(&self, local: Vec3) -> Vec3 {
        self.rotation * local + self.position
    }

    /// Returns the coordinates in this frame of a point given in the world.
    #[inline]
    pub fn inverse_transform_point(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// Rotates a direction from this frame into the world.
    #[inline]
    pub fn transform_vector(&self, local: Vec3) -> Vec3 {
        self.rotation * local
    }

    /// Rotates a direction from the world into this frame.
    #[inline]
    pub fn inverse_transform_vector(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * world
    }

    /// Returns the world direction of this frame's z axis.
    #[inline]
    pub fn z_axis(&self) -> Vec3 {
        let q = self.rotation;
        Vec3::new(
            2.0 * (q.x * q.z + q.w * q.y),
            2.0 * (q.y * q.z - q.w * q.x),
            1.0 - 2.0 * (q.x * q.x + q.y * q.y),
        )
    }

    /// Returns the inverse pose.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { position: rotation * -self.position, rotation }
    }

    /// Returns `other` expressed in the frame of `self`; both are given in the same frame.
    ///
    /// Positions are subtracted before they are rotated, which keeps full precision far from the
    /// origin.
    #[inline]
    pub fn relative(&self, other: &Self) -> Self {
        let to_local = self.rotation.conjugate();
        Self {
            position: to_local * (other.position - self.position),
            rotation: to_local * other.rotation,
        }
    }

    /// Returns whether every component is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }

    /// Returns whether both parts are finite and the rotation has unit length to rounding.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.is_finite() && (self.rotation.length_squared() - 1.0).abs() <= 64.0 * f64::EPSILON
    }
}

impl Mul for Pose {
    type Output = Self;

    /// Composes two poses: `rhs`, given in the frame `self`, is expressed in the parent frame of
    /// `self`.
    #[inline]
    fn mul(self, rhs: Self) -> Self {
        Self {
            position: self.transform_point(rhs.position),
            rotation: self.rotation * rhs.rotation,
        }
    }
}

/// A pair of a linear and an angular vector: the velocity, force or impulse of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "twist")]
#[doc(alias = "wrench")]
pub struct SpatialVector {
    /// Velocity (m/s), force (N) or impulse (N s) of the center of mass.
    pub linear: Vec3,
    /// Angular velocity (rad/s), torque (N m) or angular impulse (N m s), in world axes.
    pub angular: Vec3,
}

impl SpatialVector {
    /// The zero vector.
    pub const ZERO: Self = Self { linear: Vec3::ZERO, angular: Vec3::ZERO };

    /// Creates a spatial vector from its two parts.
    #[inline]
    pub const fn new(linear: Vec3, angular: Vec3) -> Self {
        Self { linear, angular }
    }

    /// Returns the sum of the dot products of both parts: the power, if one vector is a velocity
    /// and the other a force.
    #[inline]
    pub fn dot(self, other: Self) -> f64 {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    /// Returns the velocity of the point at `lever` from the center of mass, if `self` is a
    /// velocity.
    #[inline]
    pub fn velocity_at(self, lever: Vec3) -> Vec3 {
        self.linear + self.angular.cross(lever)
    }

    /// Returns the force and torque of `force` acting at `lever` from the center of mass.
    #[inline]
    pub fn force_at(force: Vec3, lever: Vec3) -> Self {
        Self { linear: force, angular: lever.cross(force) }
    }

    /// Returns the same force or impulse, given about `position`, about the world's origin.
    #[inline]
    pub fn about_origin(self, position: Vec3) -> Self {
        Self::new(self.linear, self.angular + position.cross(self.linear))
    }

    /// Returns whether every component is finite.
    #[inline]
    pub fn is_finite(self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}

impl Add for SpatialVector {
    type Output = Self;

    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self { linear: self.linear + rhs.linear, angular: self.angular + rhs.angular }
    }
}

impl AddAssign for SpatialVector {
    #[inline]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for SpatialVector {
    type Output = Self;

    #[inline]
    fn sub(self, rhs: Self) -> Self {
        Self { linear: self.linear - rhs.linear, angular: self.angular - rhs.angular }
    }
}

impl Neg for SpatialVector {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { linear: -self.linear, angular: -self.angular }
    }
}

impl Mul<f64> for SpatialVector {
    type Output = Self;

    #[inline]
    fn mul(self, rhs: f64) -> Self {
        Self { linear: self.linear * rhs, angular: self.angular * rhs }
    }
}

/// Returns two unit vectors `(t, u)` such that `(t, u, n)` is right-handed, for a unit vector `n`.
///
/// They are the images of x and y under the shortest rotation from z to `n`, hence continuous
/// everywhere but at `n = -z`. No basis is continuous on the whole sphere.
#[doc(alias = "tangent basis")]
#[doc(alias = "tangents")]
#[inline]
pub fn orthonormal_basis(n: Vec3) -> (Vec3, Vec3) {
    // 1 / (1 + z), written without cancellation as n approaches -z.
    let planar = n.x * n.x + n.y * n.y;
    let k = if n.z >= 0.0 {
        1.0 / (1.0 + n.z)
    } else if planar > 0.0 {
        (1.0 - n.z) / planar
    } else {
        return (Vec3::X, -Vec3::Y);
    };
    let xy = -n.x * n.y * k;
    (Vec3::new(1.0 - n.x * n.x * k, xy, -n.x), Vec3::new(xy, 1.0 - n.y * n.y * k, -n.y))
}
