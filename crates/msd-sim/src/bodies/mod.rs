//! Bodies and what acts on them.

mod def;
mod material;
mod potential;
mod set;

pub use def::{BodyDef, BodyKind};
pub(crate) use def::{check_finite, check_pose, check_velocity};
pub use material::{Filter, Material};
pub use potential::{BodyView, Potential, PotentialField};
pub(crate) use set::{BodySet, Inertia};
