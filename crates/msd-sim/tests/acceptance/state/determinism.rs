//! Determinism: the same input gives the same bits in a second run, and after a restore.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use msd_sim::error::StepError;
use msd_sim::math::{Vec3, rotation};
use msd_sim::{Settings, World};

use crate::audited_scene::{DT, ball, block, floor};

/// Builds a pile: boxes and balls released above each other, slightly askew.
fn pile(count: u32) -> World {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(floor(0.3, 0.5)).unwrap();
    for n in 0..count {
        let (row, layer) = (n % 10, n / 10);
        let (x, y) = (f64::from(row % 5), f64::from(row / 5));
        let askew = 0.13 * f64::from(n % 7);
        let place =
            Vec3::new(1.2 * x + 0.3 * askew, 1.2 * y - 0.2 * askew, 1.0 + 1.3 * f64::from(layer));
        let def = if n % 3 == 0 {
            ball(0.3, 0.5)
        } else {
            block(Vec3::new(0.5, 0.4, 0.3), 0.3, 0.5).orientation(rotation(Vec3::X, askew))
        };
        world.add_body(def.position(place)).unwrap();
    }
    world
}

fn run(world: &mut World, steps: u32) -> u64 {
    for _ in 0..steps {
        world.step(DT).unwrap();
    }
    world.state_hash()
}

/// Checks two runs, and a third that restores a snapshot taken halfway.
fn check(count: u32, steps: u32) {
    let (mut one, mut two) = (pile(count), pile(count));
    let first = run(&mut one, steps);
    eprintln!("{count} bodies after {steps} steps: {first:016x}");
    let half = run(&mut two, steps / 2);
    let middle = two.snapshot();
    let second = run(&mut two, steps - steps / 2);
    assert_eq!(first, second, "another run");
    two.restore(&middle);
    assert_eq!(two.state_hash(), half, "right after the restore");
    assert_eq!(run(&mut two, steps - steps / 2), first, "after the restore");
    // The snapshot in another world, which had other bodies.
    let mut other = pile(3);
    run(&mut other, 7);
    let stop = Arc::new(AtomicBool::new(false));
    other.stop_when(Arc::clone(&stop));
    other.restore(&middle);
    assert_eq!(run(&mut other, steps - steps / 2), first, "restored into another world");
    // Its flag still stops it, and a stopped world is whole again with the next snapshot.
    stop.store(true, Ordering::Relaxed);
    assert_eq!(other.step(DT).unwrap_err(), StepError::Stopped);
    stop.store(false, Ordering::Relaxed);
    other.restore(&middle);
    assert_eq!(run(&mut other, steps - steps / 2), first, "restored after it was stopped");
    assert!(one.bodies().all(|body| body.position().is_finite()));
}

#[test]
fn a_pile_of_thirty_ends_in_the_same_bits() {
    check(30, 300);
}

#[test]
#[ignore = "long: 200 bodies, 1000 steps, three times"]
fn a_pile_of_two_hundred_ends_in_the_same_bits() {
    check(200, 1000);
}

#[test]
fn states_that_differ_in_one_bit_have_different_hashes() {
    let (mut one, two) = (pile(5), pile(5));
    assert_eq!(one.state_hash(), two.state_hash());
    let id = one.bodies().last().unwrap().id();
    let mut pose = one.body(id).unwrap().pose();
    pose.position.x = f64::from_bits(pose.position.x.to_bits() + 1);
    one.set_pose(id, pose).unwrap();
    assert_ne!(one.state_hash(), two.state_hash());
}

#[test]
fn the_audit_does_not_change_the_state() {
    let (mut plain, mut audited) = (pile(20), pile(20));
    audited.set_settings(Settings { audit: true, ..Settings::default() }).unwrap();
    assert_eq!(run(&mut plain, 200), run(&mut audited, 200));
}
