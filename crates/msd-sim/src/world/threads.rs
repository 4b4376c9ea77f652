//! The threads of a world.

use super::World;

impl World {
    /// Returns the number of threads that took part in the last step: at most
    /// [`Settings::threads`](crate::Settings::threads), and fewer if more would not be faster, because there is little
    /// work or other programs use the cores. One before the first step.
    pub fn threads_in_use(&self) -> usize {
        self.scratch.threads.count()
    }

    /// Makes the threads that this world starts read `clock` after each task; see
    /// [`worker_seconds`](Self::worker_seconds). A useful clock returns the processor time of the calling thread, in
    /// seconds; the engine has no such clock of its own.
    pub fn set_worker_clock(&mut self, clock: fn() -> f64) {
        self.scratch.threads.set_clock(clock);
    }

    /// Returns the sum of the last [clock](Self::set_worker_clock) readings of this world's threads, s, without the
    /// thread that calls [`step`](Self::step).
    pub fn worker_seconds(&self) -> f64 {
        self.scratch.threads.seconds()
    }

    /// Computes islands at rest like all others, instead of skipping them: for tests. The results are the same bits.
    #[doc(hidden)]
    pub fn compute_resting_islands(&mut self, all: bool) {
        self.states.rest.disabled = all;
    }

    /// Makes all [`Settings::threads`](crate::Settings::threads) take part in every swept step, even if that is slower:
    /// for tests.
    #[doc(hidden)]
    pub fn use_all_threads(&mut self, all: bool) {
        self.scratch.threads.use_all(all);
    }
}
