//! Beside the simulation nothing is allocated but the frames that are in the queue.

#![allow(unsafe_code, reason = "an allocator that counts must be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use msd_record::Recorder;

use crate::run::{Scene, header};

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

/// Frames that can be under way: those in the queue, the writer's and the recorder's.
const FRAMES: usize = 10;
/// Lists in a frame, each of which may grow several times until it is large enough.
const GROWTHS: usize = 8 * 6;

#[test]
fn recording_allocates_no_more_however_long_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    let mut recorder =
        Recorder::create(&folder.path().join("run.mcap"), &header(), &scene.world).unwrap();
    for _ in 0..100 {
        scene.step();
        recorder.record(&scene.world).unwrap();
    }
    let mut used = 0;
    for _ in 0..2000 {
        scene.step();
        let before = COUNT.get();
        recorder.record(&scene.world).unwrap();
        used += COUNT.get() - before;
    }
    recorder.finish("").unwrap();
    assert!(used <= FRAMES * GROWTHS, "{used}");
}
