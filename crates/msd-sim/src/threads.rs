//! The one place that knows threads: workers that are kept, and wait for each other inside one call.
#![allow(unsafe_code)]

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Spins before a waiting thread parks: at most (some 100 us, longer than it takes to wake a thread on a machine that
/// is idle), and at least, where spinning was in vain because the thread waited for has no core.
const MAX_SPINS: u32 = 4_000;
const MIN_SPINS: u32 = 32;

/// Who is waited for as long as this has no core: another program has it for a time slice. Otherwise it just has more to do.
const STARVED: Duration = Duration::from_micros(500);

/// Most threads that a world steps on.
pub(crate) const MAX_THREADS: u32 = 64;

/// Cores that this process may run on. Looked up once: a system's answer can take it longer than a small step.
pub(crate) static CORES: LazyLock<Option<u32>> = LazyLock::new(|| {
    let count = std::thread::available_parallelism().ok()?.get();
    Some(count.min(MAX_THREADS as usize) as u32)
});

/// Threads that a world may use unless told otherwise.
pub(crate) fn default_threads() -> u32 {
    CORES.unwrap_or(1)
}

/// A clock that a thread can read of itself, s.
pub(crate) type ThreadClock = fn() -> f64;

/// Starts a thread with a number, or does not.
type Spawner = fn(usize, Box<dyn FnOnce() + Send>) -> Option<JoinHandle<()>>;

/// Threads that wait for work. The caller of [`Workers::run`] is the first of them.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    spawner: Spawner,
    /// Whether a thread could not be started.
    spawn_failed: bool,
}

struct Shared {
    /// What is to be done, while a call to `run` lasts.
    task: UnsafeCell<Option<Task>>,
    /// By worker. The caller's is the first.
    states: Box<[WorkerState]>,
    /// Workers, without the caller, that have not finished the present task.
    pending: AtomicUsize,
    finished: Signal,
    barrier: Barrier,
    failed: AtomicBool,
    closing: AtomicBool,
    /// For how long the caller was parked, us, since that was last asked for.
    parked_us: AtomicUsize,
}

/// What one worker has to itself.
#[derive(Default)]
#[repr(align(128))]
struct WorkerState {
    /// Tasks that were given to it.
    tasks: AtomicUsize,
    task_ready: Signal,
    /// Spins before it parks.
    spins: AtomicU32,
    /// What its clock said after its last task, s.
    clock: Mutex<f64>,
}

#[derive(Clone, Copy)]
struct Task {
    work: *const (dyn Fn(&Worker<'_>) + Sync),
    count: usize,
    clock: Option<ThreadClock>,
}

// SAFETY: `task` is written by the caller of `run` only while no worker reads it: before it gives the task to the
// workers, and after all have finished the last. The closure that it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// One of the threads that work on a task.
pub(crate) struct Worker<'a> {
    /// Which, of how many.
    pub(crate) index: usize,
    pub(crate) count: usize,
    shared: Option<&'a Shared>,
    spins: Cell<u32>,
    parked: Cell<Duration>,
}

impl<'a> Worker<'a> {
    fn new(index: usize, count: usize, shared: Option<&'a Shared>) -> Self {
        let spins = shared.map_or(0, |shared| shared.states[index].spins());
        Self { index, count, shared, spins: Cell::new(spins), parked: Cell::default() }
    }

    /// The only one.
    pub(crate) fn alone() -> Self {
        Self::new(0, 1, None)
    }

    /// Waits until all workers have come here: what they wrote before can be read after.
    #[inline]
    pub(crate) fn barrier(&self) {
        if let Some(shared) = self.shared {
            let parked = shared.barrier.wait(self.count, self.spins.get(), &shared.failed);
            self.adapt_spins(parked);
        }
    }

    /// This worker's part of `0..length`: parts are disjoint, and all of it together.
    pub(crate) fn range(&self, length: usize) -> Range<usize> {
        let start = |index: usize| length * index / self.count;
        start(self.index)..start(self.index + 1)
    }

    /// Spins for less long the next time if it was parked for a time slice, and longer if not.
    #[inline]
    fn adapt_spins(&self, parked: Duration) {
        let spins = self.spins.get();
        let next = if parked > STARVED { spins / 2 } else { spins + spins / 4 };
        self.spins.set(next.clamp(MIN_SPINS, MAX_SPINS));
        self.parked.set(self.parked.get() + parked);
    }

    /// Leaves what was learnt for the next task.
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
    /// Room for up to `capacity` threads, of which none but the caller is started yet.
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

    /// How many threads there is room for, the caller included.
    pub(crate) fn capacity(&self) -> usize {
        self.shared.states.len()
    }

    /// Sees to it that there are `count` threads, the caller included. Returns how many there are of them: fewer if the
    /// system has no more to give, or there is no room.
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

    /// For how long the caller of [`run`](Self::run) was parked because others were not ready, us, since this was
    /// last asked.
    pub(crate) fn take_parked(&self) -> usize {
        self.shared.parked_us.swap(0, Ordering::Relaxed)
    }

    /// The sum of what the clocks of the threads, without the caller's, said after their last tasks, s.
    pub(crate) fn seconds(&self) -> f64 {
        let of = |state: &WorkerState| *state.clock.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.states.iter().map(of).sum()
    }

    /// Has `count` workers that were started do `task`, each with its own number, and returns when all have.
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
        // SAFETY: only the lifetime changes. The pointer is used until all workers have finished, which is
        // waited for below, even if this thread's part panics.
        let work: *const (dyn Fn(&Worker<'_>) + Sync) = unsafe { std::mem::transmute(erased) };
        // SAFETY: no worker reads it before it is given the task.
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
                Ok(()) => panic!("a worker of the step failed"),
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
    /// A thread's life.
    fn run_worker(&self, index: usize) {
        let state = &self.states[index];
        let mut seen = 0;
        while self.wait_for_task(state, &mut seen) {
            // SAFETY: the task was written before it was given, and stays until this worker has finished.
            let task = unsafe { *self.task.get() };
            if let Some(Task { work, count, clock }) = task {
                let worker = Worker::new(index, count, Some(self));
                // SAFETY: `run` keeps the closure until all workers have finished.
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

    /// Waits for the next task. Whether there is one.
    fn wait_for_task(&self, state: &WorkerState, seen: &mut usize) -> bool {
        let has_task = || state.tasks.load(Ordering::Acquire) != *seen;
        let closing = || self.closing.load(Ordering::Acquire);
        state.task_ready.wait(state.spins(), || has_task() || closing());
        *seen = seen.wrapping_add(1);
        !closing()
    }

    /// Lets nobody wait for a worker that will never come.
    fn fail(&self) {
        self.failed.store(true, Ordering::SeqCst);
        self.barrier.passed.wake();
    }
}

impl WorkerState {
    fn spins(&self) -> u32 {
        match self.spins.load(Ordering::Relaxed) {
            0 => MAX_SPINS,
            spins => spins,
        }
    }
}

/// Where threads wait for something that others bring about: they spin for a while, then they park.
#[derive(Default)]
struct Signal {
    parked: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Signal {
    /// Waits until it is so. For how long it was parked: not at all if these spins were enough.
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
        // Either this thread sees below what the other has done, or that one sees in `wake` that this one is
        // parked: each writes, then has a fence, then reads. And then it gets the lock only when this one waits.
        fence(Ordering::SeqCst);
        while !condition() {
            guard = self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.parked.fetch_sub(1, Ordering::Relaxed);
        start.elapsed()
    }

    /// Has all threads that wait here look again, after something was done.
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

/// A place where workers wait for each other, again and again.
#[derive(Default)]
struct Barrier {
    arrived: AtomicUsize,
    round: AtomicUsize,
    passed: Signal,
}

impl Barrier {
    /// For how long it was parked.
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
        // One of the others will never come.
        if !passed() {
            panic!("another worker of the step failed");
        }
        parked
    }

    fn reset(&self) {
        self.arrived.store(0, Ordering::SeqCst);
    }
}

/// A slice of which several workers write different elements at the same time.
pub(crate) struct DisjointSlice<'a, T> {
    start: *mut T,
    length: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out references only by `unsafe` methods, whose callers promise that nobody else has an element that is
// written. A worker may get `&mut T` of an element that another created, so `T: Send`; several may read one element at the
// same time through `&T`, so `T: Sync`.
unsafe impl<T: Send + Sync> Sync for DisjointSlice<'_, T> {}
// SAFETY: as above; a copy of it on another thread can do what a shared reference to it can.
unsafe impl<T: Send + Sync> Send for DisjointSlice<'_, T> {}

impl<T> Clone for DisjointSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DisjointSlice<'_, T> {}

impl<'a, T> DisjointSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), slice: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// An element.
    ///
    /// # Safety
    /// No other worker writes it while the reference lives.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, index: usize) -> &'a T {
        assert!(index < self.length);
        // SAFETY: within the slice, and nobody writes it.
        unsafe { &*self.start.add(index) }
    }

    /// An element to be changed.
    ///
    /// # Safety
    /// No other reference to it lives, of this worker or another.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn get_mut(&self, index: usize) -> &'a mut T {
        assert!(index < self.length);
        // SAFETY: within the slice, and nobody else has it.
        unsafe { &mut *self.start.add(index) }
    }

    /// Calls for an element that will be needed soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        assert!(index < self.length);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in 0..size_of::<T>().min(3 * 64).div_ceil(64) {
                // SAFETY: within the slice; and a prefetch reads nothing that the program could see.
                unsafe {
                    let start = self.start.add(index).cast::<i8>();
                    _mm_prefetch::<_MM_HINT_T0>(start.add(64 * line));
                }
            }
        }
    }

    /// A part of it to be changed.
    ///
    /// # Safety
    /// No other reference to any of these elements lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn range_mut(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: within the slice, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers that were all started.
    fn started(count: usize) -> Workers {
        let mut workers = Workers::new(count);
        assert_eq!(workers.start(count), count);
        workers
    }

    #[test]
    fn all_of_a_length_is_somebodys_part_once() {
        for count in 1..9 {
            for length in [0, 1, 7, 64, 1000] {
                let mut next = 0;
                for index in 0..count {
                    let part = Worker::new(index, count, None).range(length);
                    assert_eq!(part.start, next);
                    next = part.end;
                }
                assert_eq!(next, length);
            }
        }
    }

    /// Has `count` of the workers write and read across many waits.
    fn write_and_read(workers: &mut Workers, count: usize) {
        let mut cells = vec![0_usize; count];
        let shared = DisjointSlice::new(&mut cells);
        workers.run(count, None, |worker| {
            assert_eq!(worker.count, count);
            for round in 1..20 {
                // SAFETY: each worker writes its own cell; reads are behind a wait.
                unsafe { *shared.get_mut(worker.index) = round };
                worker.barrier();
                // SAFETY: nobody writes between the two waits.
                let all = (0..count).all(|index| unsafe { *shared.get(index) } == round);
                assert!(all);
                worker.barrier();
            }
        });
        assert_eq!(cells, vec![19; count]);
    }

    #[test]
    fn what_was_written_before_a_wait_is_read_after_it() {
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
    fn no_wake_up_is_lost_by_workers_that_park_at_once() {
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
        // Parts of each round depend on the round before: a worker that ran ahead would read old values.
        let run = |count: usize| {
            let mut workers = started(count);
            let mut values: Vec<f64> = (0..101).map(|n| 1.0 / (1.0 + f64::from(n))).collect();
            let mut next = values.clone();
            for _ in 0..50 {
                let (from, to) = (DisjointSlice::new(&mut values), DisjointSlice::new(&mut next));
                workers.run(count, None, |worker| {
                    for [from, to] in [[from, to], [to, from]] {
                        for at in worker.range(101) {
                            // SAFETY: each worker writes its own part of one list and reads the other.
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
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
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
    fn threads_that_cannot_be_started_leave_fewer() {
        let mut workers = Workers::with(6, |index, work| {
            let spawn = || std::thread::Builder::new().spawn(work).ok();
            if index < 3 { spawn() } else { None }
        });
        assert_eq!(workers.start(2), 2);
        assert_eq!(workers.start(6), 3, "the caller and two");
        assert_eq!(workers.start(6), 3, "later too");
        write_and_read(&mut workers, 3);
        let done = AtomicUsize::new(0);
        workers.run(6, None, |worker| {
            assert_eq!(worker.count, 3);
            worker.barrier();
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 3);
        // None at all.
        let mut workers = Workers::with(6, |_, _| None);
        assert_eq!(workers.start(6), 1);
        write_and_read(&mut workers, 1);
    }

    /// Processor time of the thread that asks, s.
    #[cfg(unix)]
    fn busy() -> f64 {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
    }

    #[cfg(unix)]
    #[test]
    fn threads_that_wait_for_long_take_little_of_the_processor() {
        // Each of three waits, for the next task, for a worker that is late and for the last to finish, lasts 50 ms. A
        // thread that spins takes all of that; one that parks, its spins: less than 1 ms for all, doubled by a
        // machine that is busy. A tenth is between them.
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
    fn the_time_of_threads_is_the_sum_of_their_clocks() {
        let mut workers = started(3);
        workers.run(3, Some(busy), |worker| {
            let start = busy();
            while worker.index > 0 && busy() - start < 0.02 {}
        });
        let sum = workers.seconds();
        assert!((0.04..0.08).contains(&sum), "{sum} s");
        // Without a clock nothing is read.
        workers.run(3, None, |_| {});
        assert_eq!(workers.seconds(), sum);
    }
}
