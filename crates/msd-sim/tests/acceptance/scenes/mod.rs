//! Scenes A to H and P2 of the acceptance list: what bodies do, and what they must not.

mod bounces; // A: spheres on a floor and against each other
mod energy; // F: what flight and impacts keep
mod limits; // E: extremes
mod memory; // G: what is remembered of contacts never kicks
mod prototype; // P2
mod rest; // D, H: bodies at rest stay there
mod settling; // C: sliding, spinning and rocking bodies come to rest
mod spins; // B: which impacts turn a body
