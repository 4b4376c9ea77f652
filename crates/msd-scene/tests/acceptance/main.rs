//! Scene files, as a library reads them.

mod far; // a body far away changes nothing
mod golden; // the bits in which every named scene ends
mod lints; // meshes that are not convex, other units
mod mutations; // damaged texts never panic
mod round_trip; // what is written is what was read
mod worlds; // what a scene means
