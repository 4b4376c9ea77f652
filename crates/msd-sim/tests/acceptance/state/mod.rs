//! What a world remembers, reports and lets happen to it.

mod clock;
mod corners; // defects that were found once
mod determinism; // same input, same bits
mod driven; // forces, impulses, kinematic bodies, orbits
mod events; // touching, hitting, parting; filters; removal
mod joints;
mod quarantined; // bodies whose numbers ran away // pendulums, ropes, springs, chains
