//! Why a problem was rejected.

use crate::problem::Law;

/// Why a [`Problem`](crate::Problem) was rejected. Every variant names the fault and its place.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A body's number that is not finite, or below zero where that has no meaning.
    #[error("bodies[{body}].{field} = {value}: expected {expected}")]
    Body {
        /// Index of the body.
        body: usize,
        /// The field's name.
        field: &'static str,
        /// The value that was given; of a vector or a matrix, the first entry that is rejected.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// A body with inertia but without mass: impulses would turn it and not move it.
    #[error(
        "bodies[{body}].inverse_mass = 0: expected more than 0 where inverse_inertia is not zero"
    )]
    HalfFixed {
        /// Index of the body.
        body: usize,
    },
    /// A block's number that is not finite, or below zero where that has no meaning.
    #[error("blocks[{block}].{field} = {value} in a {law}: expected {expected}")]
    Block {
        /// Index of the block.
        block: usize,
        /// Its law.
        law: Law,
        /// The field's name.
        field: &'static str,
        /// The value that was given; of a vector, the first entry that is rejected.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// A block with the index of a body that does not exist.
    #[error("blocks[{block}].bodies = {bodies:?}: expected indices below {count}")]
    NoSuchBody {
        /// Index of the block.
        block: usize,
        /// The value that was given.
        bodies: [u32; 2],
        /// Number of bodies.
        count: usize,
    },
    /// A member that is not an inertial body, or not above the member before it.
    #[error(
        "members[{at}] = {member}: expected the index of an inertial body, above the one before"
    )]
    Member {
        /// Index of the member.
        at: usize,
        /// The value that was given.
        member: u32,
    },
    /// A block with an inertial body that is not among the members.
    #[error("blocks[{block}].bodies: {body} is inertial and not among the members")]
    NotAMember {
        /// Index of the block.
        block: usize,
        /// Index of the body.
        body: u32,
    },
}
