//! Motions with a closed form.

mod flight; // projectiles, free rotation, single hits
mod friction; // sliding, sticking, rolling
mod invariances; // the same motion in other frames
mod slopes; // sliding and rolling on inclines, belts and wedges
mod stability; // thresholds between standing and falling, stacks
mod tilted; // tilted drops: mirror images and planar motion
