//! Collision detection: which bodies are near each other, and where they touch.

mod bounds_tree;
mod broad_phase;
mod contact;
mod contact_pair;
mod motion_bounds;
mod narrow_phase;
mod near;
mod near_pairs;
mod pairs;
mod pipeline;
mod search;

pub use broad_phase::{BroadPhase, Kind};
pub use contact::Contact;
pub(crate) use contact::{ContactRecord, Hit};
pub(crate) use contact_pair::{ContactPair, ManifoldChange, RENEWAL};
pub(crate) use motion_bounds::{
    ExpectedMotion, MotionBounds, closing_speed, turning, turning_speed,
};
pub(crate) use narrow_phase::{anchors, is_same_contact};
#[cfg(test)]
pub(crate) use near::NearEntry;
pub(crate) use near::{ExactContact, ExactPoint, Near};
pub(crate) use pairs::{ContactSet, PairEntry, PairList, Slot};
pub(crate) use pipeline::CollisionPipeline;
