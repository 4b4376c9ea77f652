//! Convex shapes and queries about them: mass, distance, penetration, contact points, time of
//! impact. Independent of bodies and worlds.
//!
//! | task | API |
//! |---|---|
//! | create a shape | [`Shape`], [`ConvexHull`] |
//! | compute mass and inertia | [`Shape::mass_properties`] |
//! | project a point, test a point, cast a ray | [`Shape::project`], [`Shape::contains`], [`Shape::cast_ray`] |
//! | bound a shape by a box | [`Shape::bounds`] |
//! | distance of two shapes | [`distance()`] |
//! | signed distance with closest points, normal and error bound | [`separation()`] |
//! | time of impact of moving shapes (continuous collision detection) | [`time_of_impact`] |
//! | contact points for a solver | [`contact_manifold`] |
//!
//! Pair queries take a [`Workspace`] (buffers, one per thread) and a cache of the pair ([`Simplex`]
//! or [`PairMemory`]); start both from `default()`.

mod cast;
mod clip;
mod closed_form;
mod cuboids;
mod edge;
mod epa;
mod feature;
mod gjk;
mod hull;
mod manifold;
mod mass;
mod merge;
mod minkowski;
mod pair;
mod predicates;
mod project;
mod quickhull;
mod reduce;
mod sat;
mod separation;
mod shape;
mod shape_cast;
mod simplex;
mod tetrahedron;
mod time_of_impact;

pub use crate::math::SIZE_RANGE;
pub use cast::{Ray, RayHit};
pub use gjk::Simplex;
pub use hull::{ConvexHull, HalfEdge};
pub use manifold::{ContactPoint, FeatureId, Manifold, PairMemory, contact_manifold};
pub use mass::{MassProperties, PrincipalAxes};
pub use project::Projection;
pub use separation::{Separation, Workspace, distance, separation};
pub use shape::{Aabb, Capsule, Cone, Cuboid, Cylinder, HalfSpace, Plane, Shape, Sphere};
pub(crate) use shape_cast::{Cast, cast};
pub use time_of_impact::{ClosingBounds, Impact, MovingShape, time_of_impact};
pub(crate) use time_of_impact::{ImpactLimits, ImpactOutcome, find_impact};
