//! The acceptance suite of recordings: one binary, one module per promise.

#[path = "../../../msd-sim/tests/acceptance/counter.rs"]
mod counter; // counts allocations

mod allocations; // recording does not allocate beside the simulation once warm
mod damage; // cut, flipped and killed: an error or the truth
mod difference; // the first difference is named
mod others; // anybody can read it
mod round_trip; // what is read is what was recorded
mod run; // the scene that all of them record
