//! Determinism: the same bits on any number of threads, in a second run, and after a restore.

use msd_sim::{Settings, World};

use super::{pile, swept, swept_settings, turntable_pile};
use crate::scene::Scene;

fn hash_after(scene: &mut Scene, steps: usize) -> u64 {
    scene.run(steps, |_| {});
    scene.world.state_hash()
}

#[test]
fn threads_do_not_change_a_bit() {
    let one = hash_after(&mut turntable_pile(1), 60);
    assert_eq!(hash_after(&mut turntable_pile(1), 60), one, "another run");
    for threads in [2, 3, 8] {
        assert_eq!(hash_after(&mut turntable_pile(threads), 60), one, "{threads} threads");
    }
}

#[test]
fn a_small_world_uses_one_thread_and_a_large_one_more() {
    // Fewer if the machine has one core only, or if other programs keep its cores busy, which the
    // first step cannot detect.
    let first_step = |count: usize, threads: u32| {
        let mut scene = Scene::with(Settings { threads, ..swept_settings() }, 0.2, 0.5);
        scene.floor();
        pile(&mut scene, count, 0.3);
        scene.step();
        scene.world.threads_in_use()
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    assert_eq!(first_step(200, 64), 1);
    assert_eq!(first_step(801, 1), 1);
    assert_eq!(first_step(801, 64), cores.min(2));
    assert_eq!(Settings::default().threads as usize, cores.min(64), "all cores by default");
    // All threads can be forced even where they do not pay.
    let mut scene = turntable_pile(3);
    scene.step();
    assert_eq!(scene.world.threads_in_use(), 3);
    assert_eq!(World::default().threads_in_use(), 1);
}

#[test]
fn the_number_of_threads_can_change_between_steps() {
    let whole = hash_after(&mut turntable_pile(1), 60);
    let mut scene = turntable_pile(2);
    for threads in [2, 5, 1, 3] {
        let settings = Settings { threads, ..scene.world.settings().clone() };
        scene.world.set_settings(settings).unwrap();
        scene.run(15, |_| {});
    }
    assert_eq!(scene.world.state_hash(), whole);
}

#[test]
fn a_restored_swept_world_ends_in_the_same_bits() {
    let mut scene = turntable_pile(2);
    let half = hash_after(&mut scene, 40);
    let middle = scene.world.snapshot();
    let end = hash_after(&mut scene, 40);
    scene.world.restore(&middle);
    assert_eq!(scene.world.state_hash(), half, "right after the restore");
    assert_eq!(hash_after(&mut scene, 40), end, "after the restore");
    // A world that had other bodies, fewer of them.
    let mut other = swept(0.5, 0.1);
    pile(&mut other, 30, 0.5);
    other.run(7, |_| {});
    other.world.restore(&middle);
    assert_eq!(hash_after(&mut other, 40), end, "restored into another world");
}

#[test]
fn a_swept_world_ends_in_these_bits_on_every_machine() {
    // Debug and release builds, AVX2 and scalar code must agree: only + - * / sqrt and libm are
    // used, and nothing is fused. Any change to the arithmetic of a step changes this hash.
    let mut scene = swept(0.2, 0.5);
    scene.floor();
    pile(&mut scene, 20, 0.6);
    assert_eq!(format!("{:016x}", hash_after(&mut scene, 30)), "706ec638e2076f4e");
}
