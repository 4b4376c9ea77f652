//! A world together with the time step and forces of its scene.

use msd_sim::error::{StateError, StepError};
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyId, Settings, StepReport, World};

/// A world, its time step and the scene's forces.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) world: World,
    pub(crate) dt: f64,
    pub(crate) steps: u64,
    pub(crate) threads: u32,
    pub(crate) forces: Vec<TimedForce>,
    /// Names of the scene's settings that have no effect.
    pub(crate) ignored: Vec<&'static str>,
    /// Sum of all time steps, s. Forces start and end by this sum, not by the world's time, which rounds differently:
    /// scenes with forces thus keep their bits.
    pub(crate) elapsed: f64,
}

/// Why a simulation cannot go on from a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The bytes are no state of this version of the engine, or damaged.
    #[error(transparent)]
    State(#[from] StateError),
    /// A body of the state is not that of the scene.
    #[error(
        "the state has a body `{found}` where the scene has `{expected}`: expected a state of this scene"
    )]
    Body {
        /// Its name in the state.
        found: String,
        /// The name in the scene.
        expected: String,
    },
    /// The state has more or fewer bodies than the scene.
    #[error("the state has {found} bodies: expected {expected}, as in the scene")]
    Count {
        /// Number of bodies in the state.
        found: usize,
        /// Number of bodies of the scene.
        expected: usize,
    },
}

/// A force and torque of the scene, with its time interval.
#[derive(Clone, Debug)]
pub(crate) struct TimedForce {
    pub(crate) body: BodyId,
    pub(crate) force: Vec3,
    pub(crate) torque: Vec3,
    /// Lever arm from the center of mass, in the body's axes, m.
    pub(crate) arm: Vec3,
    pub(crate) from: f64,
    pub(crate) until: f64,
}

impl Simulation {
    /// Applies the scene's forces and takes one step. If it is told to [stop](World::stop_when) within the step,
    /// [`World::is_stopped`] is true from then on.
    pub fn step(&mut self) -> &StepReport {
        let (start, dt) = (self.elapsed, self.dt);
        for timed_force in &self.forces {
            let overlap = (start + dt).min(timed_force.until) - start.max(timed_force.from);
            if overlap > 0.0 {
                let share = (overlap / dt).min(1.0);
                timed_force.apply(&mut self.world, share);
            }
        }
        // The time step was checked when the scene was built.
        if self.world.step(dt).is_ok() {
            self.elapsed += dt;
        }
        self.world.report()
    }

    /// Returns the state of the simulation as bytes: see [`resume`](Self::resume).
    pub fn to_bytes(&self) -> Result<Vec<u8>, StateError> {
        let mut bytes = self.elapsed.to_le_bytes().to_vec();
        bytes.extend(self.world.to_bytes()?);
        Ok(bytes)
    }

    /// Goes on from a state that [`to_bytes`](Self::to_bytes) wrote in a simulation of the same scene: bit for bit, with
    /// its own number of threads.
    ///
    /// Fails, and changes nothing, for bytes of another scene (other bodies), of another version, or damaged ones.
    pub fn resume(&mut self, bytes: &[u8]) -> Result<(), ResumeError> {
        let (elapsed, world) = bytes.split_first_chunk().ok_or(StateError::NotAWorld)?;
        let world = World::from_bytes(world, &[])?;
        let names = |world: &World| -> Vec<String> {
            world.bodies().map(|body| body.name().to_owned()).collect()
        };
        let (found, expected) = (names(&world), names(&self.world));
        if found != expected {
            let differs = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            return Err(match differs {
                Some((found, expected)) => {
                    ResumeError::Body { found: found.clone(), expected: expected.clone() }
                }
                None => ResumeError::Count { found: found.len(), expected: expected.len() },
            });
        }
        (self.world, self.elapsed) = (world, f64::from_le_bytes(*elapsed));
        self.set_threads(self.threads);
        Ok(())
    }

    /// Returns the names of the scene's settings that have no effect, if those are accepted
    /// ([`Limits::unused_settings`](crate::Limits::unused_settings)).
    pub fn ignored_settings(&self) -> &[&'static str] {
        &self.ignored
    }

    /// Returns the world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the world for modification.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Returns the time step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Sets the time step, s.
    ///
    /// Fails, and changes nothing, if [`World::step`] would reject it.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), StepError> {
        World::check_time_step(dt)?;
        self.dt = dt;
        Ok(())
    }

    /// Returns the number of steps in the scene's duration.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the maximum number of threads.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Sets the maximum number of threads, at least one.
    pub fn set_threads(&mut self, threads: u32) {
        self.threads = threads.max(1);
        let settings = Settings {
            threads: self.threads.min(Settings::MAX_THREADS),
            ..self.world.settings().clone()
        };
        // Cannot fail: all other settings are unchanged.
        let _ = self.world.set_settings(settings);
    }
}

impl TimedForce {
    fn apply(&self, world: &mut World, share: f64) {
        let Ok(body) = world.body(self.body) else { return };
        let force = self.force * share;
        let arm = body.pose().transform_vector(self.arm);
        let mut load = SpatialVector::force_at(force, arm);
        load.angular += self.torque * share;
        // Fails only for a force that is not finite, which cannot be applied anyway.
        let _ = world.apply_force(self.body, load);
    }
}
