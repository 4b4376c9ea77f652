//! The threads on which a world steps.

use super::World;

impl World {
    /// Returns how many threads took part in the last step: at most [`Settings::threads`](crate::Settings::threads), and
    /// fewer where more do not pay, because there is little to do or other programs have the cores. One before the first
    /// step.
    pub fn threads_in_use(&self) -> usize {
        self.swept.threads_in_use()
    }

    /// Has the threads that this world starts read `clock` after each of their tasks; see
    /// [`worker_seconds`](Self::worker_seconds). The engine has no clock of its own. A useful clock returns the processor
    /// time of the thread that calls it, in seconds.
    pub fn set_worker_clock(&mut self, clock: fn() -> f64) {
        self.swept.set_worker_clock(clock);
    }

    /// Returns the sum of the last readings of the [clocks](Self::set_worker_clock) of this world's threads, s, without the
    /// thread that calls [`step`](Self::step).
    pub fn worker_seconds(&self) -> f64 {
        self.swept.worker_seconds()
    }

    /// Has all [`Settings::threads`](crate::Settings::threads) take part in every swept step, whether it pays or not: for
    /// tests.
    #[doc(hidden)]
    pub fn use_all_threads(&mut self, all: bool) {
        self.swept.use_all_threads(all);
    }
}
