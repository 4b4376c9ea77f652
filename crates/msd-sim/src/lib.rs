//! Rigid-body contact dynamics in `f64`: physics you can check.
//!
//! ```
//! use msd_sim::geometry::Shape;
//! use msd_sim::math::Vec3;
//! use msd_sim::{BodyDef, Material, Settings, World};
//!
//! let mut world = World::new(Settings { audit: true, ..Settings::default() })?;
//! let steel = Material::new(0.6, 0.4)?; // restitution, friction
//! let floor = Shape::half_space(Vec3::Z, 0.0)?;
//! world.add_body(BodyDef::environment(floor).material(steel))?;
//! let cube = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5))?)
//!     .mass(2.0)
//!     .position(Vec3::new(0.0, 0.0, 0.5))
//!     .velocity(Vec3::new(3.0, 0.0, 0.0))
//!     .material(steel);
//! let cube = world.add_body(cube)?;
//!
//! for _ in 0..120 {
//!     let report = world.step(1.0 / 60.0)?;
//!     // Every step says how far it is from the laws it solves, and where the energy went.
//!     assert!(report.residual().is_some_and(|residual| residual < 1e-9));
//!     let error = report.audit.and_then(|ledger| ledger.energy_error());
//!     assert!(error.is_some_and(|error| error.abs() < 1e-12));
//! }
//! // It slid to a stop after v^2 / (2 mu g).
//! let distance = world.body(cube)?.position().x;
//! assert!((distance - 9.0 / (2.0 * 0.4 * 9.81)).abs() < 1e-4);
//! # Ok::<(), msd_sim::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`World`] | bodies, joints, forces and settings; [`World::step`] |
//! | [`BodyDef`], [`Body`], [`Material`], [`Filter`] | what to add, what is there |
//! | [`geometry::Shape`] | what a body looks like |
//! | [`JointDef`] | rods, ropes, springs, ball joints |
//! | [`Settings`], [`Method`], [`Continuous`] | how it steps |
//! | [`Events`], [`StepReport`], [`Violation`], [`Ledger`], [`ContactTerms`] | what happened, and how exact it is |
//! | [`Snapshot`] | a world set aside |
//! | [`Potential`] | force fields |
//!
//! And beneath, to be used alone:
//!
//! | module | what it answers |
//! |---|---|
//! | [`geometry`] | shapes, mass, distance, penetration, contact points, rays |
//! | [`collision`] | which bodies are near each other |
//! | [`solver`] | impulses for contacts and joints; free rotation |
//! | [`bodies`] | materials, force fields |
//! | [`math`] | vectors, rotations, poses |
//! | [`error`] | why input was refused; all of it converts into [`Error`] |
//!
//! SI units throughout. Normals point from A to B. A distance is negative where shapes overlap, a
//! depth is positive there.

/// The README's Rust is compiled and run with the documentation's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod audit;
pub mod bodies;
pub mod collision;
mod constraints;
pub mod error;
mod events;
pub mod geometry;
mod id;
mod impacts;
mod joints;
pub mod math;
mod motion;
mod parallel;
mod report;
mod scope;
mod settings;
mod simd;
mod snapshot;
pub mod solver;
mod step;
mod swept;
mod views;
mod world;

pub use audit::{ContactTerms, Ledger};
pub use bodies::{BodyDef, BodyKind, Filter, Material, Potential};
pub use error::Error;
pub use events::{ContactEvent, Events, HitEvent};
pub use id::{BodyId, JointId, PotentialId};
pub use joints::{JointDef, JointKind};
pub use report::{StepReport, Violation};
pub use settings::{Continuous, Method, Settings, UnusedSettings};
pub use snapshot::Snapshot;
pub use views::{Body, ContactView};
pub use world::World;
