//! Warm steps do not allocate.

use msd_sim::Settings;

use super::{fair, heap, swept_settings};
use crate::counter::allocations;
use crate::scene::Scene;

/// Fails if any of `steps` steps allocates, on the thread that calls: allocations of
/// the other threads are not counted.
fn assert_no_allocation(scene: &mut Scene, steps: usize) {
    for step in 0..steps {
        let before = allocations();
        scene.world.step(scene.dt).unwrap();
        assert_eq!(allocations() - before, 0, "allocations in step {step}");
    }
}

#[test]
fn a_heap_at_rest_does_not_allocate() {
    for threads in [1, 2] {
        let mut scene =
            Scene::with(Settings { threads, ..swept_settings() }, 0.0, 0.6).on_all_threads();
        scene.floor();
        heap(&mut scene, 150, 0.3);
        scene.run(400, |_| {});
        assert_no_allocation(&mut scene, 100);
    }
}

#[test]
fn a_heap_that_is_stirred_does_not_allocate() {
    // Contacts come and go: room is made while there are ever more of them than before, so it is stirred
    // for long first.
    for threads in [1, 2] {
        let mut scene = fair(threads);
        scene.run(400, |_| {});
        assert_no_allocation(&mut scene, 60);
    }
}
