//! msd with default settings.

use std::error::Error;

use msd_scene::Simulation;
use msd_sim::math::Pose;

/// A running benchmark.
pub struct Engine {
    simulation: Simulation,
}

impl Engine {
    pub fn new(start: &Simulation, threads: u32) -> Result<Self, Box<dyn Error>> {
        let mut simulation = start.clone();
        simulation.set_threads(threads);
        Ok(Self { simulation })
    }

    pub fn step(&mut self) {
        self.simulation.step();
    }

    /// Returns the poses of the shapes, in the order of the bodies.
    pub fn shape_poses(&self) -> Vec<Pose> {
        self.simulation.world().bodies().map(|body| crate::only_collider(&body).pose()).collect()
    }

    pub fn hash(&self) -> Option<u64> {
        Some(self.simulation.world().state_hash())
    }
}
