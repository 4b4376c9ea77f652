//! A request, from another thread, to stop within a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::World;

/// The flag that asks to stop, and whether a step was stopped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    flag: Option<Arc<AtomicBool>>,
    within_step: bool,
}

impl Stop {
    /// Returns whether to stop, and remembers it: what is left of the step is not computed.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        self.within_step |= self.flag.as_ref().is_some_and(is_set);
        self.within_step
    }

    pub(crate) fn was_within_step(&self) -> bool {
        self.within_step
    }

    /// Replaces the flag by that of another.
    pub(crate) fn take_flag(&mut self, other: Self) {
        self.flag = other.flag;
    }
}

impl World {
    /// Lets a flag stop steps that take long: once it is true, a step ends with
    /// [`StepError::Stopped`](crate::error::StepError::Stopped) before the next substep or impact of its exact bodies. Solves in
    /// progress and swept bodies are not interrupted. The flag stays with the world when it [restores](Self::restore) a snapshot.
    ///
    /// Such a step is incomplete. The world then rejects further steps, and what it says of bodies and contacts is of no
    /// particular time: go on with a clone from before, once the flag is false again, or drop it. A step that ends before
    /// it sees the flag is complete.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use msd_sim::error::StepError;
    /// use msd_sim::geometry::Shape;
    /// use msd_sim::{BodyDef, Settings, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(BodyDef::inertial(Shape::sphere(0.5)?))?;
    /// let stop = Arc::new(AtomicBool::new(false));
    /// world.stop_when(Arc::clone(&stop));
    /// let mut before = world.clone();
    /// stop.store(true, Ordering::Relaxed); // by another thread, while the world steps
    /// assert_eq!(world.step(0.01).unwrap_err(), StepError::Stopped);
    /// stop.store(false, Ordering::Relaxed);
    /// assert!(world.is_stopped() && world.step(0.01).is_err());
    /// before.step(0.01)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.scratch.stop.flag = Some(flag);
    }

    /// Returns whether a step was stopped before its end, so that the world is incomplete.
    pub fn is_stopped(&self) -> bool {
        self.scratch.stop.was_within_step()
    }
}
