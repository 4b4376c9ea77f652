//! Scene files, as a library reads them.

mod lints; // meshes that are not convex, other units
mod mutations; // damaged texts never panic
mod round_trip; // what is written is what was read
mod worlds; // what a scene means
