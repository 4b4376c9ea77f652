//! The programming interface: handles, errors, changes after creation, contacts and joints of one body.

mod changes; // mass, shape, damping, gravity scale, name and user data after creation
mod errors; // one error type, and handles that name nothing
mod neighbors; // contacts and joints of one body
mod potentials; // handles to force fields, springs of bodies that are gone

use msd_sim::Settings;

/// Settings of a world that is stepped exactly, and of one that is stepped by sweeping.
fn both() -> [Settings; 2] {
    [Settings::default(), Settings { max_exact_bodies: Some(0), ..Settings::default() }]
}
