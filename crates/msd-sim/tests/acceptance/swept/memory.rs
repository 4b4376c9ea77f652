//! Allocations of swept worlds: warm steps make none.

use msd_sim::Settings;

use super::{pile, swept_settings, turntable_pile};
use crate::counter::allocations;
use crate::scene::Scene;

/// Fails if any of `steps` steps allocates on the calling thread; allocations of other threads are
/// not counted.
fn assert_no_allocation(scene: &mut Scene, steps: usize) {
    for step in 0..steps {
        let before = allocations();
        scene.world.step(scene.dt).unwrap();
        assert_eq!(allocations() - before, 0, "allocations in step {step}");
    }
}

#[test]
fn a_pile_at_rest_does_not_allocate() {
    for threads in [1, 2] {
        let mut scene =
            Scene::with(Settings { threads, ..swept_settings() }, 0.0, 0.6).on_all_threads();
        scene.floor();
        pile(&mut scene, 150, 0.3);
        scene.run(400, |_| {});
        assert_no_allocation(&mut scene, 100);
    }
}

#[test]
fn a_stirred_pile_does_not_allocate() {
    // Contacts come and go, and buffers grow while there are more of them than ever before, so stir
    // for long first.
    for threads in [1, 2] {
        let mut scene = turntable_pile(threads);
        scene.run(400, |_| {});
        assert_no_allocation(&mut scene, 60);
    }
}
