//! Exact solvers of contact problems: the reference for the engine's own solvers, with which they share no code, only
//! the [problem](msd_problem) and its residual. They work on dense matrices, and are slow for large problems.
//!
//! | | solves |
//! |---|---|
//! | [`active_set()`] | frictionless contacts and joints |
//! | `conic` (feature `conic`) | contacts with Coulomb friction and joints; `DelassusProblem`: contacts without bodies |
//! | [`Delassus`], [`write_back`] | nothing: the problem with its bodies eliminated, on which both work |
//!
//! ```
//! use msd_oracle::active_set;
//! use msd_problem::math::{Mat3, SpatialVector, Vec3};
//! use msd_problem::{Block, Law, Problem, Row, SolverBody};
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
//! let mut problem = Problem { bodies: &mut bodies, members: &[1], blocks: &mut blocks };
//! let report = active_set(&mut problem, 1e-12, 100);
//! assert!(report.converged);
//! assert_eq!(blocks[0].impulse, Vec3::new(6.0, 0.0, 0.0)); // m v
//! assert_eq!(bodies[1].velocity, SpatialVector::ZERO);
//! ```

mod active_set;
#[cfg(feature = "conic")]
mod conic;
mod delassus;
mod dense;

pub use active_set::{ActiveSet, active_set};
#[cfg(feature = "conic")]
pub use conic::{DelassusProblem, DelassusSolution, conic};
pub use delassus::{Delassus, write_back};
