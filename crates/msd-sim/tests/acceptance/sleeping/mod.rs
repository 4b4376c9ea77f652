//! Islands fall asleep at rest, cost nothing while asleep, and wake when a body touches them or the user changes them:
//! the same rules for both methods.

pub mod exact;
pub mod swept;
