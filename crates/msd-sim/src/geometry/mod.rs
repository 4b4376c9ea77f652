//! Questions about shapes: mass, distance, penetration, contact points. Knows no bodies.
//!
//! | question | ask |
//! |---|---|
//! | what can a solid be? | [`Shape`], [`ConvexHull`] |
//! | what does it weigh, how does it turn? | [`Shape::mass_properties`] |
//! | where is the surface, what does a ray hit? | [`Shape::project`], [`Shape::contains`], [`Shape::cast_ray`] |
//! | how far apart are two? | [`distance()`] |
//! | how far apart or how deep, where, and how sure is that? | [`separation()`] |
//! | when do they first touch, if they move? | [`time_of_impact`] |
//! | where do they touch, for a solver? | [`contact_manifold`] |
//!
//! Questions about pairs take a [`Workspace`] (buffers, one for each thread) and a memory of the pair
//! ([`Simplex`] or [`PairMemory`]), both `default()` if nothing is known.

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
mod simplex;
mod tetrahedron;
mod time_of_impact;

pub use cast::{Ray, RayHit};
pub use gjk::Simplex;
pub use hull::{ConvexHull, HalfEdge};
pub use manifold::{ContactPoint, FeatureId, Manifold, PairMemory, contact_manifold};
pub use mass::{MassProperties, PrincipalAxes};
pub use project::Projection;
pub use separation::{Separation, Workspace, distance, separation};
pub use shape::{
    Aabb, Capsule, Cone, Cuboid, Cylinder, HalfSpace, Plane, SIZE_RANGE, Shape, Sphere,
};
pub use time_of_impact::{Closing, Impact, Moving, time_of_impact};
pub(crate) use time_of_impact::{Encounter, Limits, encounter};
