//! Sleep of swept islands.

const MAX_EXACT_BODIES: Option<u32> = Some(0);

#[path = "rules.rs"]
pub mod rules;
