//! Once its workspace is warm, no query about a pair allocates.

#![allow(unsafe_code, reason = "an allocator that counts must be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use msd_sim::geometry::{PairMemory, Simplex, Workspace, contact_manifold, separation};

use crate::oracle::pairs::{Difficulty, Pair, Rng, adversarial_pair, random_pair};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting the allocations of each thread.
struct Counting;

fn count() {
    // A thread that is ending has no counter any more, and nobody who reads it.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations this thread has made so far.
pub fn allocations() -> usize {
    COUNT.get()
}

#[test]
fn warm_queries_do_not_allocate() {
    let pairs: Vec<Pair> = (0..1_600)
        .map(|seed| {
            let rng = &mut Rng::new(seed);
            let difficulty = Difficulty::ALL[seed as usize / 2 % Difficulty::ALL.len()];
            if seed % 2 == 0 { random_pair(rng) } else { adversarial_pair(rng, difficulty) }
        })
        .collect();
    let mut workspace = Workspace::default();
    let mut ask = || {
        for Pair { a, pose_a, b, pose_b } in &pairs {
            let simplex = &mut Simplex::default();
            let _ = separation(a, pose_a, b, pose_b, simplex, &mut workspace);
            let memory = &mut PairMemory::default();
            let _ = contact_manifold(a, pose_a, b, pose_b, 0.1, memory, &mut workspace);
        }
    };
    ask();
    let before = COUNT.get();
    ask();
    assert_eq!(COUNT.get() - before, 0, "allocations in 3200 warm queries");
}
