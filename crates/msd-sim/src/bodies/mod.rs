//! Bodies, their materials, and the forces that act on them.

mod collider_def;
mod colliders;
mod def;
mod material;
mod potential;
mod set;

pub use collider_def::{Collider, Colliders};
pub(crate) use colliders::{ColliderSet, Solid};
pub use def::{BodyDef, BodyKind, Origin};
pub(crate) use def::{
    check_damping, check_finite, check_gravity_scale, check_pose, check_velocity,
};
pub use material::{Combine, CombineRule, Filter, Material};
pub(crate) use potential::PotentialSet;
pub use potential::{BodyView, Potential, PotentialField};
pub(crate) use set::{BodySet, Extent, Inertia};
