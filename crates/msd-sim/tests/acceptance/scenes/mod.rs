//! Scenes of one or a few bodies: how they move, and what they must not do.

mod bounces; // spheres on a floor and against each other
mod energy; // conservation in flight and in impacts
mod limits; // high speeds, light bodies, a gas
mod memory; // remembered contacts never add energy
mod prototype; // the bouncing ball of the prototype
mod rest; // bodies at rest stay at rest
mod settling; // sliding, spinning and rocking bodies come to rest
mod spins; // impacts that spin a body
