//! The state of a world: determinism, time, events, joints, kinematic bodies and quarantine.

mod bytes;
mod clock; // simulated time
mod determinism; // same input, same bits, also after a restore
mod driven; // applied forces and impulses, kinematic bodies, orbits
mod events; // contact events and hits, filters, removal
mod joints; // pendulums, ropes, springs, chains
mod quarantined; // bodies whose state overflowed
mod regressions; // defects found once
