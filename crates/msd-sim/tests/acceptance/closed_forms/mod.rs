//! Motions whose outcome is known in closed form.

mod flight; // projectiles, free rotation, single hits
mod friction; // sliding, sticking, rolling
mod invariances; // another frame, the same motion
mod slopes; // sliding and rolling on inclines, belts and wedges
mod stability; // thresholds of standing and falling, stacks
mod tilted; // tilted drops: mirror images and planar motion
