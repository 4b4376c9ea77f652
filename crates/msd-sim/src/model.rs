//! What the user made of a world, and its time.

use crate::bodies::{BodySet, PotentialSet};
use crate::joints::JointSet;
use crate::math::Pose;
use crate::settings::Settings;

/// Settings, bodies, joints and force fields, and the simulated time.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Model {
    pub(crate) settings: Settings,
    pub(crate) bodies: BodySet,
    pub(crate) joints: JointSet,
    pub(crate) potentials: PotentialSet,
    /// Environment bodies that move to a pose within the next step, and the pose.
    pub(crate) targets: Vec<(u32, Pose)>,
    pub(crate) clock: Clock,
}

/// The simulated time, counted in steps of one length so that rounding does not add up.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Clock {
    /// Time at which steps became `dt` long, s.
    start: f64,
    dt: f64,
    /// Number of steps since then, and of all steps.
    equal_steps: u64,
    steps: u64,
}

impl Clock {
    /// Advances by a step.
    pub(crate) fn advance(&mut self, dt: f64) {
        if dt != self.dt {
            *self = Self { start: self.now(), dt, equal_steps: 0, ..*self };
        }
        self.equal_steps += 1;
        self.steps += 1;
    }

    /// Returns the time, s.
    pub(crate) fn now(&self) -> f64 {
        self.start + self.equal_steps as f64 * self.dt
    }

    /// Returns the number of steps.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }
}
