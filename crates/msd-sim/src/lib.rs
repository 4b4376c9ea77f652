//! Rigid-body contact dynamics in `f64`: physics you can check.
//!
//! What stands so far is the geometry: convex shapes, their mass, and where and how deep two of them
//! touch. Every answer can be proven by its own numbers:
//!
//! ```
//! use msd_sim::geometry::{Shape, Simplex, Workspace, separation};
//! use msd_sim::math::{Pose, Vec3, rotation};
//!
//! let brick = Shape::cuboid(Vec3::new(0.1, 0.05, 0.03))?;
//! let ball = Shape::sphere(0.02)?;
//! let leaning = Pose::new(Vec3::new(0.0, 0.0, 0.1), rotation(Vec3::Y, 0.4));
//! let beside = Pose::at(Vec3::new(0.03, 0.01, 0.14));
//!
//! let found = separation(
//!     &brick,
//!     &leaning,
//!     &ball,
//!     &beside,
//!     &mut Simplex::default(),   // kept per pair: the next question starts where this one ended
//!     &mut Workspace::default(), // kept per thread: buffers
//! )
//! .expect("two bounded shapes at finite poses");
//!
//! // Moving the ball by the depth along the normal leaves the two just touching.
//! let depth = found.depth();
//! assert!((depth - 1.475e-3).abs() < 1e-5);
//! assert!(found.residual(&brick, &leaning, &ball, &beside) < 1e-15);
//! # Ok::<(), msd_sim::error::ShapeError>(())
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`geometry`] | shapes, mass, distance, penetration, contact points, rays |
//! | [`math`] | vectors, rotations, poses |
//! | [`error`] | why input was refused |
//!
//! SI units throughout. Normals point from A to B. A distance is negative where shapes overlap, a
//! depth is positive there.

pub mod error;
pub mod geometry;
pub mod math;
