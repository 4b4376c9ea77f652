//! The threads of the engine: persistent workers that synchronize at barriers within one call. No other module spawns
//! or parks threads.
#![allow(unsafe_code)]

mod disjoint_slice;
mod pool;

use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use disjoint_slice::DisjointSlice;
pub(crate) use pool::ThreadPool;

/// Maximum number of spins before a waiting thread parks: some 100 us, longer than it takes to wake a thread on an idle
/// machine.
const MAX_SPINS: u32 = 4_000;

/// Minimum number of spins, used when spinning does not help because the awaited thread has no core.
const MIN_SPINS: u32 = 32;

/// Parked time above which the awaited thread is taken to have no core, because another program has it for a time
/// slice. Below, it merely has more to do.
const STARVED: Duration = Duration::from_micros(500);

/// Maximum number of threads of a world.
pub(crate) const MAX_THREADS: u32 = 64;

/// Number of cores that this process may run on. Queried once: the query can take longer than a small step.
pub(crate) static CORES: LazyLock<Option<u32>> = LazyLock::new(|| {
    let count = std::thread::available_parallelism().ok()?.get();
    Some(count.min(MAX_THREADS as usize) as u32)
});

/// Returns the default number of threads of a world.
pub(crate) fn default_threads() -> u32 {
    CORES.unwrap_or(1)
}

/// A clock that returns a time of the calling thread, s.
pub(crate) type ThreadClock = fn() -> f64;

/// A function that starts the thread with an index; `None` if the system refuses.
type Spawner = fn(usize, Box<dyn FnOnce() + Send>) -> Option<JoinHandle<()>>;

/// A set of threads that wait for tasks. The caller of [`Workers::run`] is the first of them.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    spawner: Spawner,
    /// Whether a thread could not be started.
    spawn_failed: bool,
}

/// The state that all workers share.
struct Shared {
    /// Present task, during a call to `run`.
    task: UnsafeCell<Option<Task>>,
    /// By worker; the caller's is the first.
    states: Box<[WorkerState]>,
    /// Number of workers, without the caller, that have not finished the present task.
    pending: AtomicUsize,
    finished: Signal,
    barrier: Barrier,
    /// Whether a worker panicked in the present task.
    failed: AtomicBool,
    /// Whether the workers are to end.
    closing: AtomicBool,
    /// Time for which the caller was parked since the last [`Workers::take_parked`], us.
    parked_us: AtomicUsize,
}

/// The state of one worker.
#[derive(Default)]
#[repr(align(128))]
struct WorkerState {
    /// Number of tasks assigned to the worker.
    tasks: AtomicUsize,
    /// Signal that a task was assigned.
    task_ready: Signal,
    /// Spins before the worker parks; 0 before its first task.
    spins: AtomicU32,
    /// Clock reading after the last task, s.
    clock: Mutex<f64>,
}

/// A task for several workers.
#[derive(Clone, Copy)]
struct Task {
    work: *const (dyn Fn(&Worker<'_>) + Sync),
    /// Number of workers that take part.
    count: usize,
    clock: Option<ThreadClock>,
}

// SAFETY: the caller of `run` writes `task` only while no worker reads it: after all workers have finished the last
// task and before the next is assigned to them. The closure that it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// A thread's part in a task.
pub(crate) struct Worker<'a> {
    /// Index of the worker, from 0.
    pub(crate) index: usize,
    /// Number of workers that take part.
    pub(crate) count: usize,
    shared: Option<&'a Shared>,
    /// Spins before the worker parks.
    spins: Cell<u32>,
    /// Time parked in this task.
    parked: Cell<Duration>,
}

impl<'a> Worker<'a> {
    fn new(index: usize, count: usize, shared: Option<&'a Shared>) -> Self {
        let spins = shared.map_or(0, |shared| shared.states[index].spins());
        Self { index, count, shared, spins: Cell::new(spins), parked: Cell::default() }
    }

    /// Returns the only worker of a task.
    pub(crate) fn alone() -> Self {
        Self::new(0, 1, None)
    }

    /// Waits until all workers have reached the barrier. Writes before it are visible to all workers after it.
    #[inline]
    pub(crate) fn barrier(&self) {
        if let Some(shared) = self.shared {
            let parked = shared.barrier.wait(self.count, self.spins.get(), &shared.failed);
            self.adapt_spins(parked);
        }
    }

    /// Returns this worker's range of `0..length`. The ranges of all workers are disjoint and cover it.
    pub(crate) fn range(&self, length: usize) -> Range<usize> {
        let start = |index: usize| length * index / self.count;
        start(self.index)..start(self.index + 1)
    }

    /// Halves the number of spins if the worker was parked for a time slice, and raises it by a quarter if not.
    #[inline]
    fn adapt_spins(&self, parked: Duration) {
        let spins = self.spins.get();
        let next = if parked > STARVED { spins / 2 } else { spins + spins / 4 };
        self.spins.set(next.clamp(MIN_SPINS, MAX_SPINS));
        self.parked.set(self.parked.get() + parked);
    }

    /// Saves spins and parked time at the end of a task.
    fn finish(&self) {
        if let Some(shared) = self.shared {
            shared.states[self.index].spins.store(self.spins.get(), Ordering::Relaxed);
            if self.index == 0 {
                shared
                    .parked_us
                    .fetch_add(self.parked.get().as_micros() as usize, Ordering::Relaxed);
            }
        }
    }
}

impl Workers {
    /// Returns a set of up to `capacity` threads, the caller included, of which no other is started yet.
    pub(crate) fn new(capacity: usize) -> Self {
        Self::with(capacity, |index, work| {
            std::thread::Builder::new().name(format!("msd-{index}")).spawn(work).ok()
        })
    }

    fn with(capacity: usize, spawner: Spawner) -> Self {
        let shared = Arc::new(Shared {
            task: UnsafeCell::new(None),
            states: (0..capacity.max(1)).map(|_| WorkerState::default()).collect(),
            pending: AtomicUsize::new(0),
            finished: Signal::default(),
            barrier: Barrier::default(),
            failed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            parked_us: AtomicUsize::new(0),
        });
        Self { shared, threads: Vec::new(), spawner, spawn_failed: false }
    }

    /// Returns the maximum number of threads, the caller included.
    pub(crate) fn capacity(&self) -> usize {
        self.shared.states.len()
    }

    /// Starts threads until there are `count`, the caller included. Returns how many of these there are: fewer if the
    /// system refuses to start more, or beyond the capacity.
    pub(crate) fn start(&mut self, count: usize) -> usize {
        let count = count.clamp(1, self.capacity());
        while self.threads.len() + 1 < count && !self.spawn_failed {
            let index = self.threads.len() + 1;
            let shared = Arc::clone(&self.shared);
            match (self.spawner)(index, Box::new(move || shared.run_worker(index))) {
                Some(thread) => self.threads.push(thread),
                None => self.spawn_failed = true,
            }
        }
        count.min(self.threads.len() + 1)
    }

    /// Returns the time for which the caller of [`run`](Self::run) was parked since the last call of this function, us,
    /// and resets it.
    pub(crate) fn take_parked(&self) -> usize {
        self.shared.parked_us.swap(0, Ordering::Relaxed)
    }

    /// Returns the sum of the clock readings of the threads, without the caller, after their last tasks, s.
    pub(crate) fn seconds(&self) -> f64 {
        let of = |state: &WorkerState| *state.clock.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.states.iter().map(of).sum()
    }

    /// Runs `task` on `count` of the started workers, and returns when all have finished it.
    pub(crate) fn run(
        &mut self,
        count: usize,
        clock: Option<ThreadClock>,
        task: impl Fn(&Worker<'_>) + Sync,
    ) {
        let shared = &*self.shared;
        let count = count.clamp(1, self.threads.len() + 1);
        if count == 1 {
            return task(&Worker::alone());
        }
        let erased: *const (dyn Fn(&Worker<'_>) + Sync + '_) = &task;
        // SAFETY: only the lifetime changes. Workers use the pointer until they have finished, and this thread waits
        // for that below, even if its own part panics.
        let work: *const (dyn Fn(&Worker<'_>) + Sync) = unsafe { std::mem::transmute(erased) };
        // SAFETY: no worker reads it before the task is assigned to it.
        unsafe { *shared.task.get() = Some(Task { work, count, clock }) };
        shared.pending.store(count - 1, Ordering::Relaxed);
        for state in &shared.states[1..count] {
            state.tasks.fetch_add(1, Ordering::Release);
            state.task_ready.wake();
        }
        let own = Worker::new(0, count, Some(shared));
        let outcome = catch_unwind(AssertUnwindSafe(|| task(&own)));
        if outcome.is_err() {
            shared.fail();
        }
        let done = || shared.pending.load(Ordering::Acquire) == 0;
        own.adapt_spins(shared.finished.wait(own.spins.get(), done));
        own.finish();
        if shared.failed.swap(false, Ordering::SeqCst) {
            shared.barrier.reset();
            match outcome {
                Err(payload) => resume_unwind(payload),
                Ok(()) => panic!("a worker thread panicked"),
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        self.shared.states.iter().for_each(|state| state.task_ready.wake());
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

impl Shared {
    /// Runs tasks on a worker thread until the workers are dropped.
    fn run_worker(&self, index: usize) {
        let state = &self.states[index];
        let mut seen = 0;
        while self.wait_for_task(state, &mut seen) {
            // SAFETY: the task was written before it was assigned, and stays until this worker has finished.
            let task = unsafe { *self.task.get() };
            if let Some(Task { work, count, clock }) = task {
                let worker = Worker::new(index, count, Some(self));
                // SAFETY: `run` keeps the closure alive until all workers have finished.
                let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)(&worker) }));
                if outcome.is_err() {
                    self.fail();
                }
                worker.finish();
                if let Some(clock) = clock {
                    *state.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock();
                }
            }
            if self.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.finished.wake();
            }
        }
    }

    /// Waits for the next task. Returns false if the workers are to end instead.
    fn wait_for_task(&self, state: &WorkerState, seen: &mut usize) -> bool {
        let has_task = || state.tasks.load(Ordering::Acquire) != *seen;
        let closing = || self.closing.load(Ordering::Acquire);
        state.task_ready.wait(state.spins(), || has_task() || closing());
        *seen = seen.wrapping_add(1);
        !closing()
    }

    /// Releases the workers that wait at the barrier for one that panicked.
    fn fail(&self) {
        self.failed.store(true, Ordering::SeqCst);
        self.barrier.passed.wake();
    }
}

impl WorkerState {
    /// Returns the spins before the worker parks.
    fn spins(&self) -> u32 {
        match self.spins.load(Ordering::Relaxed) {
            0 => MAX_SPINS,
            spins => spins,
        }
    }
}

/// A signal that threads wait for: they spin for a while, then park.
#[derive(Default)]
struct Signal {
    /// Number of parked threads.
    parked: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Signal {
    /// Waits until the condition holds. Returns the time parked: zero if it held within the spins.
    #[inline]
    fn wait(&self, spins: u32, condition: impl Fn() -> bool) -> Duration {
        for _ in 0..spins {
            if condition() {
                return Duration::ZERO;
            }
            std::hint::spin_loop();
        }
        self.park(condition)
    }

    #[cold]
    fn park(&self, condition: impl Fn() -> bool) -> Duration {
        let start = Instant::now();
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.parked.fetch_add(1, Ordering::Relaxed);
        // Either this thread sees the condition below, or the waking thread sees in `wake` that this one is parked:
        // each of them writes, passes a fence, and then reads. In the second case the waking thread gets the lock only
        // once this one waits.
        fence(Ordering::SeqCst);
        while !condition() {
            guard = self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.parked.fetch_sub(1, Ordering::Relaxed);
        start.elapsed()
    }

    /// Makes all waiting threads check their conditions again, after a change.
    #[inline]
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.parked.load(Ordering::Relaxed) > 0 {
            self.notify();
        }
    }

    #[cold]
    fn notify(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.condvar.notify_all();
    }
}

/// A reusable barrier.
#[derive(Default)]
struct Barrier {
    arrived: AtomicUsize,
    round: AtomicUsize,
    passed: Signal,
}

impl Barrier {
    /// Waits for `count` workers. Returns the time parked.
    #[inline]
    fn wait(&self, count: usize, spins: u32, failed: &AtomicBool) -> Duration {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == count {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            self.passed.wake();
            return Duration::ZERO;
        }
        let passed = || self.round.load(Ordering::Acquire) != round;
        let parked = self.passed.wait(spins, || passed() || failed.load(Ordering::Relaxed));
        // A worker that panicked will never arrive.
        if !passed() {
            panic!("another worker thread panicked");
        }
        parked
    }

    fn reset(&self) {
        self.arrived.store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns workers that are all started.
    fn started(count: usize) -> Workers {
        let mut workers = Workers::new(count);
        assert_eq!(workers.start(count), count);
        workers
    }

    #[test]
    fn ranges_of_workers_are_disjoint_and_cover_the_whole() {
        for count in 1..9 {
            for length in [0, 1, 7, 64, 1000] {
                let mut next = 0;
                for index in 0..count {
                    let range = Worker::new(index, count, None).range(length);
                    assert_eq!(range.start, next);
                    next = range.end;
                }
                assert_eq!(next, length);
            }
        }
    }

    /// Makes `count` of the workers write and read across many barriers.
    fn write_and_read(workers: &mut Workers, count: usize) {
        let mut cells = vec![0_usize; count];
        let shared = DisjointSlice::new(&mut cells);
        workers.run(count, None, |worker| {
            assert_eq!(worker.count, count);
            for round in 1..20 {
                // SAFETY: each worker writes its own cell; reads are behind a barrier.
                unsafe { *shared.get_mut(worker.index) = round };
                worker.barrier();
                // SAFETY: nobody writes between the two barriers.
                let all = (0..count).all(|index| unsafe { *shared.get(index) } == round);
                assert!(all);
                worker.barrier();
            }
        });
        assert_eq!(cells, vec![19; count]);
    }

    #[test]
    fn values_written_before_a_barrier_are_read_after_it() {
        let mut workers = started(4);
        (0..200).for_each(|_| write_and_read(&mut workers, 4));
    }

    #[test]
    fn any_number_of_the_workers_can_take_part_in_a_task() {
        let mut workers = started(4);
        for turn in 0..300 {
            write_and_read(&mut workers, 1 + turn * 7 % 4);
        }
    }

    #[test]
    fn workers_that_park_at_once_miss_no_wake_up() {
        let mut workers = started(3);
        for _ in 0..300 {
            for state in &workers.shared.states {
                state.spins.store(1, Ordering::Relaxed);
            }
            write_and_read(&mut workers, 3);
        }
    }

    #[test]
    fn sums_are_the_same_bits_on_1_2_3_and_4_threads() {
        // The values of each round depend on the round before: a worker that runs ahead would read old values.
        let run = |count: usize| {
            let mut workers = started(count);
            let mut values: Vec<f64> = (0..101).map(|n| 1.0 / (1.0 + f64::from(n))).collect();
            let mut next = values.clone();
            for _ in 0..50 {
                let (from, to) = (DisjointSlice::new(&mut values), DisjointSlice::new(&mut next));
                workers.run(count, None, |worker| {
                    for [from, to] in [[from, to], [to, from]] {
                        for at in worker.range(101) {
                            // SAFETY: each worker writes its own range of one list and reads the other.
                            unsafe {
                                let sum = from.get((at + 100) % 101) + from.get((at + 37) % 101);
                                *to.get_mut(at) = 0.5 * sum;
                            }
                        }
                        worker.barrier();
                    }
                });
            }
            values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let one = run(1);
        for count in 2..5 {
            assert_eq!(run(count), one, "{count} threads");
        }
    }

    #[test]
    fn a_panicking_worker_does_not_leave_the_others_waiting() {
        let mut workers = started(3);
        for (failing, spins) in (0..3).flat_map(|failing| [(failing, 1), (failing, MAX_SPINS)]) {
            for state in &workers.shared.states {
                state.spins.store(spins, Ordering::Relaxed);
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                workers.run(3, None, |worker| {
                    if worker.index == failing {
                        // The others have parked by then.
                        std::thread::sleep(Duration::from_millis(2));
                        panic!("on purpose");
                    }
                    worker.barrier();
                });
            }));
            assert!(outcome.is_err());
        }
        write_and_read(&mut workers, 3);
    }

    #[test]
    fn tasks_run_on_fewer_threads_if_some_cannot_be_started() {
        let mut workers = Workers::with(6, |index, work| {
            let spawn = || std::thread::Builder::new().spawn(work).ok();
            if index < 3 { spawn() } else { None }
        });
        assert_eq!(workers.start(2), 2);
        assert_eq!(workers.start(6), 3, "the caller and two");
        assert_eq!(workers.start(6), 3, "also on the next call");
        write_and_read(&mut workers, 3);
        let done = AtomicUsize::new(0);
        workers.run(6, None, |worker| {
            assert_eq!(worker.count, 3);
            worker.barrier();
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 3);
        // No thread can be started.
        let mut workers = Workers::with(6, |_, _| None);
        assert_eq!(workers.start(6), 1);
        write_and_read(&mut workers, 1);
    }

    /// Returns the processor time of the calling thread, s.
    #[cfg(unix)]
    fn busy() -> f64 {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
    }

    #[cfg(unix)]
    #[test]
    fn threads_that_wait_long_use_little_processor_time() {
        // Each of three waits, for the next task, for a late worker and for the last one to finish, lasts 50 ms. A
        // thread that spins uses all of that; one that parks uses only its spins: less than 1 ms in total, twice that
        // on a busy machine. The limit, a tenth, is between them.
        let late = Duration::from_millis(50);
        let limit = 0.1 * late.as_secs_f64();
        let mut workers = started(2);
        workers.run(2, Some(busy), |_| {});
        let before = workers.seconds();
        std::thread::sleep(late);
        let mut slow = |index: usize| {
            let task = move |worker: &Worker<'_>| {
                if worker.index == index {
                    std::thread::sleep(late);
                }
                worker.barrier();
                if worker.index != index {
                    std::thread::sleep(late);
                }
            };
            let own = busy();
            workers.run(2, Some(busy), task);
            busy() - own
        };
        let own = slow(0) + slow(1);
        assert!(own < limit, "the caller: {own} s");
        let other = workers.seconds() - before;
        assert!(other < limit, "the other thread: {other} s");
    }

    #[cfg(unix)]
    #[test]
    fn worker_seconds_are_the_sum_of_the_threads_clocks() {
        let mut workers = started(3);
        workers.run(3, Some(busy), |worker| {
            let start = busy();
            while worker.index > 0 && busy() - start < 0.02 {}
        });
        let sum = workers.seconds();
        assert!((0.04..0.08).contains(&sum), "{sum} s");
        // Without a clock, the readings stay.
        workers.run(3, None, |_| {});
        assert_eq!(workers.seconds(), sum);
    }
}
