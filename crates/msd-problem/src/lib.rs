//! The contact problem that every solver of msd solves, in `f64`: bodies, the constraints between them and the laws
//! these obey, and the residual of a solution. Independent of shapes, worlds and solvers.
//!
//! ```
//! use msd_problem::math::{Mat3, SpatialVector, Vec3};
//! use msd_problem::{Block, Law, Problem, Row, SolverBody, residual};
//!
//! // A ball of 2 kg and radius 0.5 m that falls onto the floor at 3 m/s.
//! let falling = SpatialVector::new(Vec3::new(0.0, 0.0, -3.0), Vec3::ZERO);
//! let ball = SolverBody {
//!     velocity: falling,
//!     inverse_mass: 0.5,
//!     inverse_inertia: Mat3::from_diagonal(Vec3::splat(5.0)),
//! };
//! let arm = Vec3::new(0.0, 0.0, -0.5);
//! let mut bodies = [SolverBody::default(), ball];
//! let mut blocks = [Block {
//!     bodies: [0, 1],
//!     law: Law::Contact { friction: 0.5 },
//!     rows: [Vec3::Z, Vec3::X, Vec3::Y].map(|direction| Row::at(direction, Vec3::ZERO, arm)),
//!     offset: Vec3::ZERO,
//!     softness: 0.0,
//!     impulse: Vec3::ZERO,
//!     delassus: Mat3::ZERO,
//! }];
//! Problem { bodies: &mut bodies, members: &[1], blocks: &mut blocks }.check()?;
//!
//! // Without an impulse the ball penetrates the floor; 6 N s stop it.
//! blocks[0].compute_delassus(&bodies);
//! assert_eq!(residual(&bodies, &blocks).signorini, 3.0);
//! blocks[0].impulse = Vec3::new(6.0, 0.0, 0.0);
//! blocks[0].apply(&mut bodies, blocks[0].impulse);
//! assert_eq!(residual(&bodies, &blocks).relative(), 0.0);
//! # Ok::<(), msd_problem::ProblemError>(())
//! ```

mod error;
pub mod math;
mod problem;
mod residual;

pub use error::ProblemError;
pub use problem::{Block, Law, Problem, Row, SolverBody};
pub use residual::{
    Residual, SolveReport, block_residual, max_tangent_delassus, norm, residual, worst_block,
};
