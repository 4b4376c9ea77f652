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
//!     // Every step reports its distance from the laws of contact, and where the energy went.
//!     assert!(report.residual().is_some_and(|residual| residual < 1e-9));
//!     let error = report.audit.and_then(|ledger| ledger.energy_error());
//!     assert!(error.is_some_and(|error| error.abs() < 1e-12));
//! }
//! // The cube slid to a stop after v^2 / (2 mu g).
//! let distance = world.body(cube)?.position().x;
//! assert!((distance - 9.0 / (2.0 * 0.4 * 9.81)).abs() < 1e-4);
//! # Ok::<(), msd_sim::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`World`] | bodies, joints, force fields and settings; [`World::step`] |
//! | [`BodyDef`], [`Body`], [`BodyId`] | definition, view and handle of a body |
//! | [`Collider`], [`ColliderView`], [`ColliderId`] | the same of a collider: one of a body's shapes |
//! | [`QueryFilter`], [`QueryHit`], [`CastHit`] | rays, shape casts, overlaps, nearest points: [`World::cast_ray`] and others |
//! | [`geometry::Shape`], [`Material`], [`Combine`], [`Filter`] | shape and surface, and what collides with it |
//! | [`JointDef`], [`JointId`] | ball joints, rods, ropes, springs |
//! | [`Potential`], [`PotentialId`] | force fields |
//! | [`Settings`], [`Accuracy`], [`Method`], [`Continuous`] | parameters of a step |
//! | [`Events`], [`StepReport`], [`Violation`], [`Ledger`], [`ContactTerms`] | events of a step, and its accuracy |
//! | [`Snapshot`] | copy of a world |
//! | [`Error`] | every error of this crate |
//!
//! Modules that can be used without a world:
//!
//! | module | contents |
//! |---|---|
//! | [`geometry`] | shapes, mass, distance, penetration, contact points, rays |
//! | [`collision`] | broad phase and contact points |
//! | [`solver`] | impulses for contacts and joints; free rotation |
//! | [`bodies`] | materials, force fields |
//! | [`math`] | vectors, rotations, poses |
//! | [`error`] | errors by source |
//!
//! SI units throughout. Normals point from A to B. Where shapes overlap, their distance is negative and their depth
//! positive.

/// The README's Rust, compiled and run with the documentation's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The Rust of the pages, compiled and run for users of other engines.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/coming-from-rapier.md")]
struct ComingFromRapier;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/colliders.md")]
struct CollidersPage;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/coming-from-mujoco.md")]
struct ComingFromMujoco;

pub mod bodies;
pub mod collision;
mod constraints;
pub mod error;
mod events;
pub mod geometry;
mod id;
mod impacts;
mod islands;
mod joints;
mod ledger;
pub mod math;
mod methods;
mod model;
mod motion;
mod output;
mod report;
mod rest;
mod sensors;
mod settings;
mod simd;
mod snapshot;
pub mod solver;
mod step;
mod swept;
mod threads;
mod views;
mod warnings;
mod world;

pub use bodies::{
    BodyDef, BodyKind, Collider, Colliders, Combine, CombineRule, Filter, Material, Origin,
    Potential,
};
pub use error::Error;
pub use events::{ContactEvent, Events, HitEvent, SensorEvent};
pub use id::{BodyId, ColliderId, JointId, PotentialId};
pub use joints::{JointDef, JointKind};
pub use ledger::{ContactTerms, Ledger};
pub use report::{StepReport, Violation};
pub use settings::{Accuracy, Continuous, Method, Settings, UnusedSettings};
pub use snapshot::{RESULTS_VERSION, Snapshot};
pub use views::{Body, BodyImpulses, ColliderView, ContactView};
pub use world::{BodyDistance, CastHit, QueryFilter, QueryHit, World};
