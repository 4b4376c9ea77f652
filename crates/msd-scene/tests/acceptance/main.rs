//! Scene files, read through the library's API.

mod colliders; // bodies of several shapes
mod far; // a body far away changes nothing
mod golden; // final state hashes of every named scene
mod lints; // non-convex meshes, wrong units
mod mutations; // damaged texts never panic
mod old_names; // settings that were renamed
mod rest; // islands at rest are skipped without a trace
mod round_trip; // written scenes read back the same
mod schema; // the JSON Schema and scenes agree
mod worlds; // the meaning of a scene
