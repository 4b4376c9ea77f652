//! The programming interface: handles, errors, changes after creation, counts.

mod errors; // one error type, and handles that name nothing
