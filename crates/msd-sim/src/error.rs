//! Errors of this crate: each names the rejected field and the value that was given.

#[doc(inline)]
pub use msd_problem::ProblemError;

use crate::math::{Mat3, Quat, Vec3};
use crate::settings::{Accuracy, Method};

/// Any error of this crate. Every other error of [`error`](self) converts into it, so one `?` serves shapes,
/// bodies, joints, settings and steps alike. The message and the source are those of the error inside.
///
/// ```
/// use msd_sim::{BodyDef, Error, World, geometry::Shape};
/// fn drop_a_ball(radius: f64) -> Result<f64, Error> {
///     let mut world = World::default();
///     let ball = world.add_body(BodyDef::inertial(Shape::sphere(radius)?))?;
///     world.step(0.1)?;
///     Ok(world.body(ball)?.position().z)
/// }
/// assert!(drop_a_ball(0.5).is_ok_and(|z| z < 0.0));
/// let error = drop_a_ball(-1.0).unwrap_err();
/// assert!(matches!(error, Error::Shape(_)));
/// assert!(error.to_string().starts_with("radius = -1: expected"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A shape was rejected.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A ray was rejected.
    #[error(transparent)]
    Ray(#[from] RayError),
    /// A shape has no mass properties.
    #[error(transparent)]
    Mass(#[from] MassError),
    /// A body, or a change of one, was rejected, or there is no such body.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A joint was rejected, or there is no such joint.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A potential was rejected, or there is no such potential.
    #[error(transparent)]
    Potential(#[from] PotentialError),
    /// Settings were rejected.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A time step was rejected.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A contact problem was rejected.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A world cannot be written as bytes, or not be made of them.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a world could not be written as bytes, or no world be made of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A user-defined force field without a name, by which it could be attached again.
    #[error("a user-defined force field has no name: implement `PotentialField::name`")]
    UnnamedField,
    /// A step of the world was stopped before its end.
    #[error("stopped within a step: the world is incomplete")]
    Stopped,
    /// The bytes do not begin as those of a world do.
    #[error("not the bytes of a world")]
    NotAWorld,
    /// The bytes are those of another version of the engine.
    #[error("version of the {what} = {found}: expected {expected}, that of this engine")]
    Version {
        /// What has another version: the layout of the bytes, or the results of steps.
        what: &'static str,
        /// Its version in the bytes.
        found: u32,
        /// Its version in this engine.
        expected: u32,
    },
    /// There are fewer or more bytes than were written.
    #[error("{found} bytes of state: expected {expected}")]
    Length {
        /// Number of bytes given.
        found: u64,
        /// Number of bytes written.
        expected: u64,
    },
    /// The bytes were changed.
    #[error("the checksum differs: the bytes were changed")]
    Checksum,
    /// The bytes hold no valid state although their checksum is right.
    #[error("malformed state: {why}")]
    Malformed {
        /// What is wrong.
        why: String,
    },
    /// A user-defined force field of the world was not given.
    #[error("the world has a force field named `{name}`: expected one of that name among `fields`")]
    MissingField {
        /// Its name.
        name: String,
    },
}

/// Why a shape was rejected. Every variant names the field and the value that was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size that must be positive, finite and within [`crate::math::SIZE_RANGE`].
    #[error(
        "{field} = {value}: expected a finite length in meters between {} and {}",
        crate::math::SIZE_RANGE.start(),
        crate::math::SIZE_RANGE.end()
    )]
    Size {
        /// The parameter's name, such as `radius` or `half_extents.y`.
        field: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A vector that must be finite and not zero.
    #[error("{field} = {value}: expected a finite vector that is not zero")]
    Direction {
        /// The parameter's name, such as `normal`.
        field: &'static str,
        /// The value that was given.
        value: Vec3,
    },
    /// A coordinate that is not finite or is too large to compute with.
    #[error("{field} = {value}: expected a finite number of magnitude at most {}", crate::math::SIZE_RANGE.end())]
    Coordinate {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A hull point that is not finite or is too far away to compute with.
    #[error(
        "points[{index}] = {value}: expected finite coordinates of magnitude at most {}",
        crate::math::SIZE_RANGE.end()
    )]
    Point {
        /// Its index in the input.
        index: usize,
        /// The value that was given.
        value: Vec3,
    },
    /// Too few distinct points to span a volume.
    #[error("points: {distinct} distinct of {given} given, a hull needs at least 4")]
    TooFewPoints {
        /// Number of points given.
        given: usize,
        /// Number of distinct points among them.
        distinct: usize,
    },
    /// All points lie in one plane (or on one line) to within rounding, so there is no volume.
    #[error(
        "points: all {count} lie within {thickness} m of one plane across an extent of {extent} m, \
         a hull needs volume"
    )]
    Flat {
        /// Number of distinct points.
        count: usize,
        /// Largest distance of a point from that plane, in meters.
        thickness: f64,
        /// The points' largest coordinate difference, in meters.
        extent: f64,
    },
}

/// Why a ray was rejected. Every variant names the field and the value that was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RayError {
    /// A starting point that is not finite.
    #[error("origin = {value}: expected finite coordinates in meters")]
    Origin {
        /// The value that was given.
        value: Vec3,
    },
    /// A direction that is zero or not finite.
    #[error("direction = {value}: expected a finite vector that is not zero")]
    Direction {
        /// The value that was given.
        value: Vec3,
    },
}

/// Why a shape has no mass properties.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MassError {
    /// A density or mass that must be finite and positive.
    #[error("{field} = {value}: expected a finite number greater than zero")]
    NotPositive {
        /// The parameter's name, `density` or `mass`.
        field: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A density or mass with which the shape's mass or inertia overflows or vanishes.
    #[error("{field} = {value}: mass or inertia would overflow or vanish for this shape's size")]
    OutOfRange {
        /// The parameter's name, `density` or `mass`.
        field: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A half-space is unbounded and has no mass.
    #[error("shape = half-space: unbounded, it has no mass")]
    Unbounded,
}

/// Why a body, or a change of one, was rejected. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A number out of range.
    #[error("{field} = {value}: expected {expected}")]
    OutOfRange {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// A vector with a component that is infinite or not a number.
    #[error("{field} = {value}: expected finite components")]
    NotFinite {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: Vec3,
    },
    /// A position or velocity too large to compute with.
    #[error("{field} = {value}: expected components of at most {limit:e}")]
    TooLarge {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: Vec3,
        /// The largest accepted component, in m, m/s or rad/s.
        limit: f64,
    },
    /// A rotation that is not a unit quaternion.
    #[error("{field} = {value}: expected a quaternion of unit length")]
    NotUnit {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: Quat,
    },
    /// An inertia tensor that is not symmetric positive definite.
    #[error("inertia = {value}: expected a symmetric positive definite matrix")]
    Inertia {
        /// The value that was given.
        value: Mat3,
    },
    /// The shape has no mass, or none in range with this density.
    #[error(transparent)]
    Mass(#[from] MassError),
    /// The handle names no body, or a removed one.
    #[error("body {index}#{generation}: there is no such body, or it was removed")]
    Unknown {
        /// The handle's slot.
        index: u32,
        /// The handle's generation.
        generation: u32,
    },
    /// The handle names no collider, or a removed one.
    #[error("collider {index}#{generation}: there is no such collider, or it was removed")]
    UnknownCollider {
        /// The handle's slot.
        index: u32,
        /// The handle's generation.
        generation: u32,
    },
    /// An inertial body of which nothing has mass: it has no colliders, or only disabled ones and sensors.
    #[error(
        "no collider of the body has mass: expected one that is enabled and no sensor, or both mass and inertia of the body"
    )]
    Massless,
    /// A body with none or several colliders where one is expected.
    #[error("body {index} has {colliders} colliders: expected one; name the collider instead")]
    NotOneCollider {
        /// The handle's slot.
        index: u32,
        /// Number of its colliders.
        colliders: usize,
    },
    /// An inertial body where an environment body is needed.
    #[error("body {index} is inertial; an environment body is needed")]
    NotEnvironment {
        /// The handle's slot.
        index: u32,
    },
    /// An environment body where an inertial one is needed.
    #[error("body {index} is an environment body; an inertial one is needed")]
    NotInertial {
        /// The handle's slot.
        index: u32,
    },
}

/// Why a joint was rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JointError {
    /// A number out of range.
    #[error("{field} = {value}: expected {expected}")]
    OutOfRange {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// An anchor with a component that is infinite or not a number.
    #[error("{field} = {value}: expected finite components")]
    NotFinite {
        /// The parameter's name.
        field: &'static str,
        /// The value that was given.
        value: Vec3,
    },
    /// A body named by the joint does not exist.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Both ends are one body, or neither can move.
    #[error(
        "{kind} between bodies {a} and {b}: expected two different bodies, at least one of them inertial"
    )]
    Bodies {
        /// Name of the joint's kind: see [`JointKind::name`](crate::JointKind::name).
        kind: &'static str,
        /// Slot of A.
        a: u32,
        /// Slot of B.
        b: u32,
    },
    /// The handle names no joint, or a removed one.
    #[error("joint {index}#{generation}: there is no such joint, or it was removed")]
    Unknown {
        /// The handle's slot.
        index: u32,
        /// The handle's generation.
        generation: u32,
    },
}

/// Why settings were rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number outside its range.
    #[error("{field} = {value}: expected {}", range(*least, *most))]
    OutOfRange {
        /// The setting's name.
        field: &'static str,
        /// The value that was given.
        value: f64,
        /// Smallest accepted value.
        least: f64,
        /// Largest accepted value.
        most: f64,
    },
    /// A setting that has no effect with the chosen method and the other settings.
    #[error(
        "{field} has no effect with the method {method} and the other settings; leave it at its default"
    )]
    Unused {
        /// The setting's name.
        field: &'static str,
        /// The method.
        method: Method,
    },
    /// A setting that has no effect with the chosen accuracy.
    #[error("{field} = {value} has no effect with accuracy = {accuracy}; leave it at its default")]
    UnusedWithAccuracy {
        /// The setting's name.
        field: &'static str,
        /// The value that was given.
        value: String,
        /// The accuracy.
        accuracy: Accuracy,
    },
    /// A name that no accuracy has.
    #[error("no accuracy named `{name}`: expected `fast`, `balanced` or `exact`")]
    UnknownAccuracy {
        /// The name that was given.
        name: String,
    },
    /// Gravity that is not finite.
    #[error("gravity = {value}: expected finite components")]
    Gravity {
        /// The value that was given.
        value: Vec3,
    },
}

/// Describes a range in words, without bounds that are the limits of `f64`.
fn range(least: f64, most: f64) -> String {
    match (least, most) {
        (f64::MIN_POSITIVE, most) => format!("a number above 0, at most {most}"),
        (least, f64::MAX) => format!("a finite number of at least {least}"),
        (least, most) if most > 1e9 => format!("a number of at least {least}"),
        (least, most) => format!("a number from {least} to {most}"),
    }
}

/// Why no step was taken. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A time step that is not a finite number of seconds, or too small to divide by.
    #[error("dt = {value:?}: expected a finite time of at least 1e-30 seconds")]
    TimeStep {
        /// The value that was given.
        value: f64,
    },
    /// The step, or an earlier one, was told to stop: see [`World::stop_when`](crate::World::stop_when).
    #[error("stopped within a step: the world is incomplete")]
    Stopped,
}

/// Why a potential was rejected, or not found. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PotentialError {
    /// A vector that is not finite.
    #[error("{field} = {value}: expected a finite vector")]
    Vector {
        /// The parameter's name, such as `acceleration`.
        field: &'static str,
        /// The value that was given.
        value: Vec3,
    },
    /// A number that is negative or not finite.
    #[error("{field} = {value}: expected a finite number of at least zero")]
    Coefficient {
        /// The parameter's name, such as `stiffness`.
        field: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// The body of a spring is not an inertial body of the world.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The handle names no potential, or a removed one.
    #[error("potential {index}#{generation}: there is no such potential, or it was removed")]
    Unknown {
        /// The handle's slot.
        index: u32,
        /// The handle's generation.
        generation: u32,
    },
}
