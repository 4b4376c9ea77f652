//! A world that steps as its scene says.

use msd_sim::error::StepError;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyId, Settings, StepReport, World};

/// A world and how a scene steps it.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) world: World,
    pub(crate) dt: f64,
    pub(crate) steps: u64,
    pub(crate) threads: u32,
    pub(crate) forces: Vec<Push>,
    /// Settings of the scene that have no effect.
    pub(crate) ignored: Vec<&'static str>,
    /// Sum of all time steps, s. Forces begin and end by it, and not by the world's time, which is rounded otherwise:
    /// so runs of scenes with forces keep their bits.
    pub(crate) elapsed: f64,
}

/// A force of the scene.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    pub(crate) body: BodyId,
    pub(crate) force: Vec3,
    pub(crate) torque: Vec3,
    /// From the centre of mass, in the body's axes.
    pub(crate) arm: Vec3,
    pub(crate) from: f64,
    pub(crate) until: f64,
}

impl Simulation {
    /// Applies the scene's forces and takes one step.
    pub fn step(&mut self) -> &StepReport {
        let (start, dt) = (self.elapsed, self.dt);
        for push in &self.forces {
            let overlap = (start + dt).min(push.until) - start.max(push.from);
            if overlap > 0.0 {
                let share = (overlap / dt).min(1.0);
                push.apply(&mut self.world, share);
            }
        }
        // The time step was checked when the scene was built.
        let _ = self.world.step(dt);
        self.elapsed += dt;
        self.world.report()
    }

    /// Settings of the scene that have no effect on it, where these are accepted
    /// ([`Limits::unused_settings`](crate::Limits::unused_settings)).
    pub fn ignored_settings(&self) -> &[&'static str] {
        &self.ignored
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed from outside.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Time step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Steps by another time step from now on.
    ///
    /// Fails for one that [`World::step`] would refuse; nothing is changed then.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), StepError> {
        World::check_time_step(dt)?;
        self.dt = dt;
        Ok(())
    }

    /// How many steps the scene asks for.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Most threads to step on.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Steps on at most this many threads from now on, at least one.
    pub fn set_threads(&mut self, threads: u32) {
        self.threads = threads.max(1);
        let settings = Settings {
            threads: self.threads.min(Settings::MAX_THREADS),
            ..self.world.settings().clone()
        };
        // Nothing else has changed of settings that were taken before.
        let _ = self.world.set_settings(settings);
    }
}

impl Push {
    fn apply(&self, world: &mut World, share: f64) {
        let Ok(body) = world.body(self.body) else { return };
        let force = self.force * share;
        let arm = body.pose().transform_vector(self.arm);
        let mut load = SpatialVector::force_at(force, arm);
        load.angular += self.torque * share;
        // Refused only if not finite, and then there is nothing to apply.
        let _ = world.apply_force(self.body, load);
    }
}
