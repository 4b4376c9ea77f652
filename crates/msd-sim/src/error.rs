//! What can be wrong with input, said with the field's name and its value.

use crate::math::Vec3;

/// Why a shape was refused. Every variant names the field and the value that was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size that must be positive, finite and within [`crate::geometry::SIZE_RANGE`].
    #[error(
        "{field} = {value}: expected a finite length in metres between {} and {}",
        crate::geometry::SIZE_RANGE.start(),
        crate::geometry::SIZE_RANGE.end()
    )]
    Size {
        /// The parameter's name, such as `radius` or `half_extents.y`.
        field: &'static str,
        /// What was given.
        value: f64,
    },
    /// A vector that must be finite and not zero.
    #[error("{field} = {value}: expected a finite vector that is not zero")]
    Direction {
        /// The parameter's name, such as `normal`.
        field: &'static str,
        /// What was given.
        value: Vec3,
    },
    /// A coordinate that is not finite or is too large to compute with.
    #[error("{field} = {value}: expected a finite number of magnitude at most {}", crate::geometry::SIZE_RANGE.end())]
    Coordinate {
        /// The parameter's name.
        field: &'static str,
        /// What was given.
        value: f64,
    },
    /// A hull point that is not finite or is too far away to compute with.
    #[error(
        "points[{index}] = {value}: expected finite coordinates of magnitude at most {}",
        crate::geometry::SIZE_RANGE.end()
    )]
    Point {
        /// Its index in the input.
        index: usize,
        /// What was given.
        value: Vec3,
    },
    /// Too few distinct points to span a volume.
    #[error("points: {distinct} distinct of {given} given, a hull needs at least 4")]
    TooFewPoints {
        /// How many points were given.
        given: usize,
        /// How many of them are distinct.
        distinct: usize,
    },
    /// All points lie in one plane (or on one line) to within rounding, so there is no volume.
    #[error(
        "points: all {count} lie within {thickness} m of one plane across an extent of {extent} m, \
         a hull needs volume"
    )]
    Flat {
        /// How many distinct points there are.
        count: usize,
        /// Largest distance of a point from that plane, in metres.
        thickness: f64,
        /// The points' largest coordinate difference, in metres.
        extent: f64,
    },
}

/// Why a ray was refused. Every variant names the field and the value that was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RayError {
    /// A starting point that is not finite.
    #[error("origin = {value}: expected finite coordinates in metres")]
    Origin {
        /// What was given.
        value: Vec3,
    },
    /// A direction that is zero or not finite.
    #[error("direction = {value}: expected a finite vector that is not zero")]
    Direction {
        /// What was given.
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
        /// What was given.
        value: f64,
    },
    /// A density or mass with which the shape's mass or inertia overflows or vanishes.
    #[error("{field} = {value}: mass or inertia would overflow or vanish for this shape's size")]
    OutOfRange {
        /// The parameter's name, `density` or `mass`.
        field: &'static str,
        /// What was given.
        value: f64,
    },
    /// A half-space has neither end nor mass.
    #[error("shape = half-space: unbounded, it has no mass")]
    Unbounded,
}
