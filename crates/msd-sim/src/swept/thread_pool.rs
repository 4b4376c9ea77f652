//! The threads of a world: how many of them take part in a step is decided once, when it begins.

use super::Swept;
use crate::settings::Settings;
use crate::threads::{CORES, MAX_THREADS, ThreadClock, Worker, Workers};

/// What there is to do for a body that moves and for a block of four contacts, in microseconds of one thread, about.
const WORK_PER_BODY: usize = 1;
const WORK_PER_BLOCK: usize = 3;

/// Least work for a thread, us: with less, waiting for each other, some hundred times a step, costs more than it gains.
const WORK_PER_THREAD: usize = 400;

/// The threads of a world. A copy of the world starts its own.
#[derive(Default)]
pub(super) struct ThreadPool {
    workers: Option<Workers>,
    /// Threads that take part in the present step, and what there is to do in it, us.
    count: usize,
    work: usize,
    limit: ThreadLimit,
    /// Whether all threads take part in every step, however small it is.
    use_all: bool,
    clock: Option<ThreadClock>,
    /// Time of threads that have ended, s.
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
    /// Decides how many threads take part in a step that has this much to do, and starts those that are missing.
    fn choose_count(&mut self, settings: &Settings, work: usize) -> usize {
        let allowed = settings.threads.clamp(1, MAX_THREADS) as usize;
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
        self.count
    }

    /// Has the threads of this step do `task`, each with its own number.
    pub(super) fn run(&mut self, task: impl Fn(&Worker<'_>) + Sync) {
        match &mut self.workers {
            Some(workers) => workers.run(self.count, self.clock, task),
            None => task(&Worker::alone()),
        }
    }

    fn seconds(&self) -> f64 {
        self.retired_seconds + self.workers.as_ref().map_or(0.0, Workers::seconds)
    }
}

/// Takes back threads that get no cores, and tries again later.
///
/// Threads that wait for each other spin, which takes microseconds where each has a core; where one has none, they are
/// parked until it has. A step in which more was lost so than threads can gain was slower than on one.
#[derive(Clone, Copy, Debug)]
struct ThreadLimit {
    /// Most threads for the next step.
    max_threads: usize,
    /// Steps to go until more are tried.
    cooldown: u32,
    /// Steps to let go by when too many were tried.
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
    /// Learns from a step on so many threads, with so much to do, in which the first of them was parked so long, us.
    fn update(&mut self, count: usize, work: usize, parked: usize) {
        // With all of it done side by side, this is what they gain.
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

impl Swept {
    /// Decides how many threads take part in this step, and makes room for what they find.
    pub(super) fn choose_thread_count(&mut self, settings: &Settings) {
        let blocks: usize = self.graph.colors.iter().map(|color| color.blocks.len()).sum();
        let work = WORK_PER_BODY * self.awake.len() + WORK_PER_BLOCK * blocks;
        let count = self.threads.choose_count(settings, work);
        // What workers remember is kept for when they take part again: steps do not allocate.
        let Self { outputs, spare_outputs, .. } = self;
        while outputs.len() > count {
            spare_outputs.extend(outputs.pop());
        }
        outputs.resize_with(count, || spare_outputs.pop().unwrap_or_default());
    }
}

impl Swept {
    /// Returns how many threads took part in the last step.
    pub(crate) fn threads_in_use(&self) -> usize {
        if self.running { self.threads.count.max(1) } else { 1 }
    }

    /// Has the pool's threads read `clock` after each of their tasks.
    pub(crate) fn set_worker_clock(&mut self, clock: ThreadClock) {
        self.threads.clock = Some(clock);
    }

    /// Returns the sum of the last readings of the pool's clocks, s.
    pub(crate) fn worker_seconds(&self) -> f64 {
        self.threads.seconds()
    }

    /// Has all threads take part in every step, whether it pays or not.
    pub(crate) fn use_all_threads(&mut self, all: bool) {
        self.threads.use_all = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_without_cores_are_taken_back_and_tried_again_ever_less_often() {
        let mut limit = ThreadLimit::default();
        let mut tried = Vec::new();
        for step in 0..4000 {
            let count = limit.max_threads.min(4);
            if count > 1 {
                tried.push((step, count));
            }
            // More than one thread waits for another program's time slice, again and again.
            let parked = if count > 1 { 20_000 } else { 0 };
            limit.update(count, 4000, parked);
        }
        assert_eq!(tried[..3], [(0, 4), (1, 2), (11, 2)], "given up at once");
        assert!(tried.len() <= 12, "{tried:?}");
        // With cores, all are back soon.
        for _ in 0..MAX_BACKOFF + 8 {
            limit.update(limit.max_threads.min(4), 4000, 100);
        }
        assert!(limit.max_threads >= 4, "{limit:?}");
        // As long as they gain three quarters of the work and lose less, they stay.
        limit.update(4, 4000, 3000);
        assert!(limit.max_threads >= 4, "{limit:?}");
        limit.update(4, 4000, 3001);
        assert_eq!(limit.max_threads, 2);
    }
}
