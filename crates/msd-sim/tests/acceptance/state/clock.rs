//! Simulated time.

use msd_sim::World;

/// After each of many steps, time is their number times their length, with at most two roundings:
/// of the product and of the sum.
#[test]
fn time_after_equal_steps_is_their_number_times_their_length() {
    let mut world = World::default();
    for dt in [1.0 / 60.0, 0.002, 0.01] {
        let (start, before) = (world.time(), world.steps());
        for n in 1..=3000 {
            world.step(dt).unwrap();
            let expected = start + f64::from(n) * dt;
            assert!(
                (world.time() - expected).abs() <= 2.0 * f64::EPSILON * expected,
                "{n} of {dt}"
            );
        }
        assert_eq!(world.steps(), before + 3000);
    }
}

#[test]
fn six_hundred_steps_of_a_sixtieth_are_exactly_ten_seconds() {
    let mut world = World::default();
    for _ in 0..600 {
        world.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(world.time(), 10.0);
    // Steps of another length continue from there, and a snapshot restores the time.
    let before = world.snapshot();
    world.step(0.25).unwrap();
    world.step(1.0 / 60.0).unwrap();
    assert_eq!(world.time(), 10.25 + 1.0 / 60.0);
    world.restore(&before);
    assert_eq!(world.time(), 10.0);
    assert!(world.step(f64::NAN).is_err() && world.time() == 10.0);
}
