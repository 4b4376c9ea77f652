//! Sleep of swept islands.

const MAX_EXACT_BODIES: Option<u32> = Some(0);

// The same rules for both methods.
#[allow(clippy::duplicate_mod)]
#[path = "rules.rs"]
pub mod rules;
