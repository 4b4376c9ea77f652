//! Collision detection: which bodies are near each other, and where they touch.

mod bounds_tree;
mod broad_phase;
mod contact;
mod narrow_phase;
mod pipeline;
mod travel;

pub use broad_phase::{BroadPhase, Kind};
pub use contact::{Contact, ContactPair};
pub(crate) use contact::{ContactRecord, Hit};
pub(crate) use narrow_phase::{
    PairProperties, anchors, find_manifold, is_same_contact, relative_motion,
};
pub(crate) use pipeline::CollisionPipeline;
pub(crate) use travel::{closing_speed, turning, turning_speed};
