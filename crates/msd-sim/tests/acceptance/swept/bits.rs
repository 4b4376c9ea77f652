//! Same input, same bits: on any number of threads, on a second run, and after going back.

use msd_sim::{Settings, World};

use super::{fair, heap, swept, swept_settings};
use crate::scene::Scene;

fn hash_after(scene: &mut Scene, steps: usize) -> u64 {
    scene.run(steps, |_| {});
    scene.world.state_hash()
}

#[test]
fn threads_do_not_change_a_bit() {
    let one = hash_after(&mut fair(1), 60);
    assert_eq!(hash_after(&mut fair(1), 60), one, "another run");
    for threads in [2, 3, 8] {
        assert_eq!(hash_after(&mut fair(threads), 60), one, "{threads} threads");
    }
}

#[test]
fn a_small_world_starts_no_threads_and_a_large_one_does() {
    // Unless a machine has but one core, or other programs keep its cores busy, which only the first step cannot know.
    let first_step = |count: usize, threads: u32| {
        let mut scene = Scene::with(Settings { threads, ..swept_settings() }, 0.2, 0.5);
        scene.floor();
        heap(&mut scene, count, 0.3);
        scene.step();
        scene.world.threads_in_use()
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    assert_eq!(first_step(200, 64), 1);
    assert_eq!(first_step(801, 1), 1);
    assert_eq!(first_step(801, 64), cores.min(2));
    assert_eq!(
        Settings::default().threads as usize,
        cores.min(64),
        "all cores unless told otherwise"
    );
    // Where it does not pay either, all can be had.
    let mut scene = fair(3);
    scene.step();
    assert_eq!(scene.world.threads_in_use(), 3);
    assert_eq!(World::default().threads_in_use(), 1);
}

#[test]
fn the_number_of_threads_can_change_while_it_runs() {
    let whole = hash_after(&mut fair(1), 60);
    let mut scene = fair(2);
    for threads in [2, 5, 1, 3] {
        let settings = Settings { threads, ..scene.world.settings().clone() };
        scene.world.set_settings(settings).unwrap();
        scene.run(15, |_| {});
    }
    assert_eq!(scene.world.state_hash(), whole);
}

#[test]
fn a_crowd_that_goes_back_comes_out_the_same() {
    let mut scene = fair(2);
    let half = hash_after(&mut scene, 40);
    let middle = scene.world.snapshot();
    let end = hash_after(&mut scene, 40);
    scene.world.restore(&middle);
    assert_eq!(scene.world.state_hash(), half, "just after going back");
    assert_eq!(hash_after(&mut scene, 40), end, "after going back");
    // A world that had other things in it, small ones among them.
    let mut other = swept(0.5, 0.1);
    heap(&mut other, 30, 0.5);
    other.run(7, |_| {});
    other.world.restore(&middle);
    assert_eq!(hash_after(&mut other, 40), end, "in another world");
}

#[test]
fn a_crowd_ends_in_these_bits_on_every_machine() {
    // Debug and release, AVX2 and plain numbers have to agree: nothing but + - * / sqrt and libm is used,
    // none of it fused. Whoever changes what a step computes changes this.
    let mut scene = swept(0.2, 0.5);
    scene.floor();
    heap(&mut scene, 20, 0.6);
    assert_eq!(format!("{:016x}", hash_after(&mut scene, 30)), "6a1bc17f75bde499");
}
