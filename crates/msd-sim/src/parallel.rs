//! The one place that knows threads: workers that are kept, and wait for each other inside one call.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How often a waiting thread looks before it lets others run, and before it sleeps.
const LOOKS: u32 = 2_000;
const YIELDS: u32 = 200;

/// Most threads that a world steps on.
pub(crate) const MOST_THREADS: u32 = 64;

/// Threads that wait for work. The caller of [`Workers::run`] is the first of them.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    count: usize,
    /// What is to be done, while a call to `run` lasts.
    task: UnsafeCell<Option<Task>>,
    /// How many tasks were given out.
    epoch: AtomicUsize,
    /// Of the present task: workers that have finished it.
    finished: AtomicUsize,
    barrier: Barrier,
    failed: AtomicBool,
    closing: AtomicBool,
    asleep: Mutex<usize>,
    wake: Condvar,
}

#[derive(Clone, Copy)]
struct Task(*const (dyn Fn(&Worker<'_>) + Sync));

// SAFETY: `task` is written by the caller of `run` only while no worker reads it: before it announces a new
// epoch, and after all have finished the last. The closure that it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// One of the threads that work on a task.
pub(crate) struct Worker<'a> {
    /// Which, of how many.
    pub(crate) index: usize,
    pub(crate) count: usize,
    shared: Option<&'a Shared>,
}

impl Worker<'_> {
    /// Waits until all workers have come here: what they wrote before can be read after.
    #[inline]
    pub(crate) fn wait(&self) {
        if let Some(shared) = self.shared {
            shared.barrier.wait(shared.count, &shared.failed);
        }
    }

    /// This worker's part of `0..length`: parts are disjoint, and all of it together.
    pub(crate) fn part(&self, length: usize) -> Range<usize> {
        let start = |index: usize| length * index / self.count;
        start(self.index)..start(self.index + 1)
    }
}

impl Workers {
    /// Starts `count - 1` threads.
    pub(crate) fn new(count: usize) -> Self {
        let shared = Arc::new(Shared {
            count,
            task: UnsafeCell::new(None),
            epoch: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            barrier: Barrier::default(),
            failed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            asleep: Mutex::new(0),
            wake: Condvar::new(),
        });
        let spawn = |index: usize| {
            let shared = Arc::clone(&shared);
            let name = format!("msd-{index}");
            std::thread::Builder::new().name(name).spawn(move || shared.serve(index)).ok()
        };
        let threads: Vec<_> = (1..count).map_while(spawn).collect();
        if threads.len() + 1 == count {
            return Self { shared, threads };
        }
        // The system has no more threads to give: those that there are end, and all work is done by the caller.
        shared.close();
        threads.into_iter().for_each(|thread| drop(thread.join()));
        Self::new(1)
    }

    /// How many threads work, the caller included.
    pub(crate) fn count(&self) -> usize {
        self.shared.count
    }

    /// Has every worker do `task`, each with its own number, and returns when all have.
    pub(crate) fn run(&self, task: impl Fn(&Worker<'_>) + Sync) {
        let shared = &*self.shared;
        if shared.count == 1 {
            return task(&Worker { index: 0, count: 1, shared: None });
        }
        let erased: *const (dyn Fn(&Worker<'_>) + Sync + '_) = &task;
        // SAFETY: only the lifetime changes. The pointer is used until all workers have finished, which is
        // waited for below, even if this thread's part panics.
        let erased: *const (dyn Fn(&Worker<'_>) + Sync) = unsafe { std::mem::transmute(erased) };
        // SAFETY: no worker reads it before the epoch changes.
        unsafe { *shared.task.get() = Some(Task(erased)) };
        shared.finished.store(0, Ordering::Relaxed);
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        if *shared.asleep.lock().unwrap_or_else(PoisonError::into_inner) > 0 {
            shared.wake.notify_all();
        }
        let own = Worker { index: 0, count: shared.count, shared: Some(shared) };
        let outcome = catch_unwind(AssertUnwindSafe(|| task(&own)));
        if outcome.is_err() {
            shared.failed.store(true, Ordering::SeqCst);
        }
        let mut pause = Pause::default();
        while shared.finished.load(Ordering::Acquire) + 1 < shared.count {
            pause.briefly();
        }
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
        self.shared.close();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

impl Shared {
    /// A thread's life.
    fn serve(&self, index: usize) {
        let mut seen = 0;
        while self.next(&mut seen) {
            // SAFETY: the task was written before the epoch changed, and stays until this worker has finished.
            let task = unsafe { *self.task.get() };
            if let Some(Task(task)) = task {
                let worker = Worker { index, count: self.count, shared: Some(self) };
                // SAFETY: `run` keeps the closure until all workers have finished.
                let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*task)(&worker) }));
                if outcome.is_err() {
                    self.failed.store(true, Ordering::SeqCst);
                }
            }
            self.finished.fetch_add(1, Ordering::Release);
        }
    }

    /// Waits for the next task. Whether there is one.
    fn next(&self, seen: &mut usize) -> bool {
        let mut pause = Pause::default();
        loop {
            let epoch = self.epoch.load(Ordering::SeqCst);
            if self.closing.load(Ordering::SeqCst) {
                return false;
            }
            if epoch != *seen {
                *seen = epoch;
                return true;
            }
            if !pause.briefly() {
                let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
                *asleep += 1;
                while self.epoch.load(Ordering::SeqCst) == *seen
                    && !self.closing.load(Ordering::SeqCst)
                {
                    asleep = self.wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
                }
                *asleep -= 1;
            }
        }
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        let _held = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.notify_all();
    }
}

/// How a thread waits: it looks again, then lets others run.
#[derive(Default)]
struct Pause {
    looks: u32,
}

impl Pause {
    /// False when it has waited long.
    #[inline]
    fn briefly(&mut self) -> bool {
        self.looks = self.looks.saturating_add(1);
        if self.looks < LOOKS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        self.looks < LOOKS + YIELDS
    }
}

/// A place where workers wait for each other, again and again.
#[derive(Default)]
struct Barrier {
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    #[inline]
    fn wait(&self, count: usize, failed: &AtomicBool) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == count {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut pause = Pause::default();
        while self.round.load(Ordering::Acquire) == round {
            // One of the others will never come.
            if failed.load(Ordering::Relaxed) {
                panic!("another worker of the step failed");
            }
            pause.briefly();
        }
    }

    fn reset(&self) {
        self.arrived.store(0, Ordering::SeqCst);
    }
}

/// A slice of which several workers write different elements at the same time.
pub(crate) struct Parted<'a, T> {
    start: *mut T,
    length: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out references only by `unsafe` methods, whose callers see to it that no two workers
// have the same element.
unsafe impl<T: Send> Sync for Parted<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Parted<'_, T> {}

impl<T> Clone for Parted<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Parted<'_, T> {}

impl<'a, T> Parted<'a, T> {
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
    pub(crate) unsafe fn part_mut(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: within the slice, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_length_is_somebodys_part_once() {
        for count in 1..9 {
            for length in [0, 1, 7, 64, 1000] {
                let mut next = 0;
                for index in 0..count {
                    let part = Worker { index, count, shared: None }.part(length);
                    assert_eq!(part.start, next);
                    next = part.end;
                }
                assert_eq!(next, length);
            }
        }
    }

    #[test]
    fn what_was_written_before_a_wait_is_read_after_it() {
        let workers = Workers::new(4);
        for _ in 0..200 {
            let mut cells = vec![0_usize; 4];
            let shared = Parted::new(&mut cells);
            workers.run(|worker| {
                for round in 1..20 {
                    // SAFETY: each worker writes its own cell; reads are behind a wait.
                    unsafe { *shared.get_mut(worker.index) = round };
                    worker.wait();
                    // SAFETY: nobody writes between the two waits.
                    let all = (0..4).all(|index| unsafe { *shared.get(index) } == round);
                    assert!(all);
                    worker.wait();
                }
            });
        }
    }

    #[test]
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
        let workers = Workers::new(3);
        for failing in 0..3 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                workers.run(|worker| {
                    assert!(worker.index != failing, "on purpose");
                    worker.wait();
                });
            }));
            assert!(outcome.is_err());
        }
        let done = AtomicUsize::new(0);
        workers.run(|worker| {
            worker.wait();
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 3);
    }
}
