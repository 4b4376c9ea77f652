//! The thread pool of a world. The number of threads for a step is chosen once, at its start.

use super::{CORES, MAX_THREADS, ThreadClock, Worker, Workers};

/// Minimum work per thread, us: with less, the barriers, some hundred per step, cost more than the thread gains.
const WORK_PER_THREAD: usize = 400;

/// The threads of a world. A clone of the world starts its own.
#[derive(Default)]
pub(crate) struct ThreadPool {
    workers: Option<Workers>,
    /// Number of threads that take part in the present step.
    count: usize,
    /// Estimated work of the present step, us.
    work: usize,
    limit: ThreadLimit,
    /// Whether all threads take part in every step, however little work it has.
    use_all: bool,
    clock: Option<ThreadClock>,
    /// Clock readings of threads that have ended, s.
    retired_seconds: f64,
}

impl Clone for ThreadPool {
    fn clone(&self) -> Self {
        Self { use_all: self.use_all, clock: self.clock, ..Self::default() }
    }
}

impl std::fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadPool").field("count", &self.count).finish_non_exhaustive()
    }
}

impl ThreadPool {
    /// Chooses the number of threads, at most `allowed`, for a step with this much work, us, and starts missing ones.
    pub(crate) fn choose_count(&mut self, allowed: u32, work: usize) {
        let allowed = allowed.clamp(1, MAX_THREADS) as usize;
        if let Some(workers) = self.workers.take_if(|workers| workers.capacity() != allowed) {
            self.retired_seconds += workers.seconds();
        }
        let wanted = match self.use_all {
            true => allowed,
            false => {
                let parked = self.workers.as_ref().map_or(0, Workers::take_parked);
                self.limit.update(self.count, self.work, parked);
                let cores = CORES.map_or(allowed, |cores| cores as usize);
                allowed.min(cores).min(work / WORK_PER_THREAD).min(self.limit.max_threads)
            }
        };
        self.work = work;
        self.count = match wanted {
            0 | 1 => 1,
            _ => self.workers.get_or_insert_with(|| Workers::new(allowed)).start(wanted),
        };
    }

    /// Runs the next tasks on the calling thread alone.
    pub(crate) fn use_one(&mut self) {
        (self.count, self.work) = (1, 0);
    }

    /// Returns the number of threads that take part in the present step.
    pub(crate) fn count(&self) -> usize {
        self.count.max(1)
    }

    /// Runs `task` on all threads of this step.
    pub(crate) fn run(&mut self, task: impl Fn(&Worker<'_>) + Sync) {
        match &mut self.workers {
            Some(workers) if self.count > 1 => workers.run(self.count, self.clock, task),
            _ => task(&Worker::alone()),
        }
    }

    /// Returns the sum of the last clock readings of the pool's threads, s.
    pub(crate) fn seconds(&self) -> f64 {
        self.retired_seconds + self.workers.as_ref().map_or(0.0, Workers::seconds)
    }

    /// Makes the pool's threads read `clock` after each task.
    pub(crate) fn set_clock(&mut self, clock: ThreadClock) {
        self.clock = Some(clock);
    }

    /// Makes all threads take part in every step, whether that is faster or not.
    pub(crate) fn use_all(&mut self, all: bool) {
        self.use_all = all;
    }
}

/// A limit on the number of threads that backs off when threads get no cores, and tries more again later.
///
/// Threads spin at barriers, which takes microseconds while each of them has a core; if one has none, the others park
/// until it does. A step that loses more time to parking than its threads can gain is slower than on one thread.
#[derive(Clone, Copy, Debug)]
struct ThreadLimit {
    /// Maximum number of threads for the next step.
    max_threads: usize,
    /// Steps until more threads are tried.
    cooldown: u32,
    /// Value for `cooldown` after the next step with too many threads.
    backoff: u32,
}

const MIN_BACKOFF: u32 = 4;
const MAX_BACKOFF: u32 = 1024;

impl Default for ThreadLimit {
    fn default() -> Self {
        Self { max_threads: MAX_THREADS as usize, cooldown: 0, backoff: MIN_BACKOFF }
    }
}

impl ThreadLimit {
    /// Updates the limit after a step on `count` threads with `work`, us, in which the first thread was parked for
    /// `parked`, us.
    fn update(&mut self, count: usize, work: usize, parked: usize) {
        // The gain if all of the work runs in parallel.
        let gain = work - work / count.max(1);
        if count > 1 && parked > gain {
            self.max_threads = count / 2;
            self.cooldown = self.backoff;
            self.backoff = (2 * self.backoff).min(MAX_BACKOFF);
            return;
        }
        if count > 1 {
            self.backoff = (self.backoff - 1).max(MIN_BACKOFF);
        }
        match self.cooldown {
            0 => self.max_threads = (2 * self.max_threads).min(MAX_THREADS as usize),
            _ => self.cooldown -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_without_cores_are_given_up_and_retried_less_and_less_often() {
        let mut limit = ThreadLimit::default();
        let mut tried = Vec::new();
        for step in 0..4000 {
            let count = limit.max_threads.min(4);
            if count > 1 {
                tried.push((step, count));
            }
            // With more than one thread, every step waits for another program's time slice.
            let parked = if count > 1 { 20_000 } else { 0 };
            limit.update(count, 4000, parked);
        }
        assert_eq!(tried[..3], [(0, 4), (1, 2), (11, 2)], "given up at once");
        assert!(tried.len() <= 12, "{tried:?}");
        // With cores available, all threads are back soon.
        for _ in 0..MAX_BACKOFF + 8 {
            limit.update(limit.max_threads.min(4), 4000, 100);
        }
        assert!(limit.max_threads >= 4, "{limit:?}");
        // Four threads gain three quarters of the work: they stay while they lose less.
        limit.update(4, 4000, 3000);
        assert!(limit.max_threads >= 4, "{limit:?}");
        limit.update(4, 4000, 3001);
        assert_eq!(limit.max_threads, 2);
    }
}
