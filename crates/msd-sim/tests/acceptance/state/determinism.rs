//! Same input, same bits: on a second run, and after going back to a snapshot.

use msd_sim::math::{Vec3, rotation};
use msd_sim::{Settings, World};

use crate::stage::{DT, ball, block, floor};

/// A heap: boxes and balls let go above each other, a little askew.
fn heap(count: u32) -> World {
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

/// Two runs, and a third that goes back to the middle of itself.
fn check(count: u32, steps: u32) {
    let (mut one, mut two) = (heap(count), heap(count));
    let first = run(&mut one, steps);
    eprintln!("{count} bodies after {steps} steps: {first:016x}");
    let half = run(&mut two, steps / 2);
    let middle = two.snapshot();
    let second = run(&mut two, steps - steps / 2);
    assert_eq!(first, second, "another run");
    two.restore(&middle);
    assert_eq!(two.state_hash(), half, "just after going back");
    assert_eq!(run(&mut two, steps - steps / 2), first, "after going back");
    // A world of its own that begins at the snapshot, and one that had other things in it.
    let mut other = heap(3);
    run(&mut other, 7);
    other.restore(&middle);
    assert_eq!(run(&mut other, steps - steps / 2), first, "in another world");
    assert!(one.bodies().all(|body| body.position().is_finite()));
}

#[test]
fn a_heap_of_thirty_ends_in_the_same_bits() {
    check(30, 300);
}

#[test]
#[ignore = "long: 200 bodies, 1000 steps, three times"]
fn a_heap_of_two_hundred_ends_in_the_same_bits() {
    check(200, 1000);
}

#[test]
fn the_hash_tells_states_apart() {
    let (mut one, two) = (heap(5), heap(5));
    assert_eq!(one.state_hash(), two.state_hash());
    let id = one.bodies().last().unwrap().id();
    let mut pose = one.body(id).unwrap().pose();
    pose.position.x = f64::from_bits(pose.position.x.to_bits() + 1);
    one.set_pose(id, pose).unwrap();
    assert_ne!(one.state_hash(), two.state_hash());
}

#[test]
fn the_audit_does_not_change_what_happens() {
    let (mut plain, mut audited) = (heap(20), heap(20));
    audited.set_settings(Settings { audit: true, ..Settings::default() }).unwrap();
    assert_eq!(run(&mut plain, 200), run(&mut audited, 200));
}
