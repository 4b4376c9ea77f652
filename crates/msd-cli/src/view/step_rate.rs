//! The measured step rate of a live simulation.

use std::time::{Duration, Instant};

/// Time over which the step rate is averaged.
const WINDOW: Duration = Duration::from_millis(500);

/// A measurement of the step rate.
#[derive(Debug)]
pub struct StepRate {
    since: Instant,
    steps: u32,
    last: f64,
}

impl Default for StepRate {
    fn default() -> Self {
        Self { since: Instant::now(), steps: 0, last: 0.0 }
    }
}

impl StepRate {
    /// Counts a step.
    pub fn count(&mut self) {
        self.steps += 1;
    }

    /// Returns the steps per second over the last full window.
    pub fn now(&mut self) -> f64 {
        let elapsed = self.since.elapsed();
        if elapsed >= WINDOW {
            self.last = f64::from(self.steps) / elapsed.as_secs_f64();
            (self.since, self.steps) = (Instant::now(), 0);
        }
        self.last
    }
}
