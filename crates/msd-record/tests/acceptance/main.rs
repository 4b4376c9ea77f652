//! The acceptance suite of recordings: one binary, one module per guarantee.

#[path = "../../../msd-sim/tests/acceptance/counter.rs"]
mod counter; // counts allocations

mod allocations; // recording does not allocate on the simulation thread once warm
mod colliders;
mod damage; // truncated and changed files, killed runs: an error or the correct frame
mod difference; // the first difference is named
mod interoperability; // other readers decode it
mod round_trip; // a frame is read back as it was recorded
mod run; // the scene that all tests record
