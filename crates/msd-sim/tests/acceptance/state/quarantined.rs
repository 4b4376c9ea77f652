//! Quarantine: a body whose state overflows is reset and reported; the others move on unaffected.

use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyId, World};

use crate::audited_scene::{DT, ball, cube, floor};

/// Builds a scene with a stack and a rolling ball, and one more body far away.
fn with_outlier() -> (World, BodyId) {
    let mut world = World::default();
    world.add_body(floor(0.5, 0.5)).unwrap();
    world.add_body(cube(0.5, 0.5).position(Vec3::Z * 0.5)).unwrap();
    world.add_body(cube(0.5, 0.5).position(Vec3::Z * 1.6)).unwrap();
    let roller = ball(0.5, 0.5).position(Vec3::new(5.0, 0.0, 1.0));
    world.add_body(roller.velocity(Vec3::Y)).unwrap();
    let outlier = world.add_body(cube(0.5, 0.5).position(Vec3::new(-20.0, 0.0, 5.0))).unwrap();
    (world, outlier)
}

/// Asserts that all bodies but one are at the same places in two worlds.
fn check_rest(world: &World, calm: &World, but: BodyId) {
    for (one, other) in world.bodies().zip(calm.bodies()).filter(|(one, _)| one.id() != but) {
        let off = (one.position() - other.position()).length();
        assert!(off <= 1e-9, "body {}: off by {off:e} m", one.id().index());
    }
}

#[test]
fn forces_that_overflow_quarantine_the_body_at_its_last_pose() {
    let (mut world, outlier) = with_outlier();
    let (mut calm, _) = with_outlier();
    for _ in 0..30 {
        world.step(DT).unwrap();
        calm.step(DT).unwrap();
    }
    let before = world.body(outlier).unwrap().pose();
    let huge = SpatialVector::new(Vec3::X * f64::MAX, Vec3::ZERO);
    world.apply_force(outlier, huge).unwrap();
    world.apply_force(outlier, huge).unwrap();
    world.step(DT).unwrap();
    calm.step(DT).unwrap();
    assert_eq!(world.events().quarantined(), [outlier]);
    let body = world.body(outlier).unwrap();
    assert_eq!(body.pose(), before);
    assert_eq!(body.velocity(), SpatialVector::ZERO);
    for _ in 0..120 {
        world.step(DT).unwrap();
        calm.step(DT).unwrap();
        assert!(world.events().quarantined().is_empty());
    }
    check_rest(&world, &calm, outlier);
    assert!(world.body(outlier).unwrap().position().z < 1.0, "it falls again");
}

/// Gives a body a velocity by a force: too large a velocity is rejected, a force is not.
fn accelerate(world: &mut World, body: BodyId, velocity: SpatialVector) {
    let (mass, inertia) = {
        let body = world.body(body).unwrap();
        (body.mass(), body.inertia())
    };
    let force =
        SpatialVector::new(velocity.linear * (mass / DT), inertia * velocity.angular * (1.0 / DT));
    world.apply_force(body, force).unwrap();
}

/// Throws the outlier in several directions and checks the other bodies.
fn throw(speed: f64) {
    for direction in [-Vec3::X, -Vec3::Y, -Vec3::Z, Vec3::Z] {
        let (mut world, outlier) = with_outlier();
        let (mut calm, _) = with_outlier();
        let extreme = SpatialVector::new(direction * speed, Vec3::ZERO);
        accelerate(&mut world, outlier, extreme);
        for _ in 0..120 {
            world.step(DT).unwrap();
            calm.step(DT).unwrap();
            assert!(world.bodies().all(|body| body.pose().is_finite()));
            assert!(world.bodies().all(|body| body.velocity().is_finite()));
        }
        check_rest(&world, &calm, outlier);
    }
}

#[test]
fn a_velocity_of_1e3_does_not_disturb_other_bodies() {
    throw(1e3);
}

#[test]
fn velocities_up_to_1e12_do_not_disturb_other_bodies() {
    throw(1e4);
    throw(1e6);
    throw(1e12);
}

#[test]
fn a_velocity_of_1e300_does_not_disturb_other_bodies() {
    throw(1e300);
}

#[test]
fn a_spin_of_1e200_does_not_disturb_other_bodies() {
    let (mut world, outlier) = with_outlier();
    let (mut calm, _) = with_outlier();
    let extreme = SpatialVector::new(Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0) * 1e200);
    accelerate(&mut world, outlier, extreme);
    for _ in 0..120 {
        world.step(DT).unwrap();
        calm.step(DT).unwrap();
        assert!(world.bodies().all(|body| body.pose().is_finite()));
    }
    check_rest(&world, &calm, outlier);
}

#[test]
fn a_fast_body_that_misses_a_corner_does_not_hit_it() {
    // A corner is nearest, but the path misses it by 5 cm.
    let mut world = World::default();
    world.set_settings(msd_sim::Settings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
    let still = world.add_body(cube(0.5, 0.5)).unwrap();
    let fast = ball(0.5, 0.5).position(Vec3::new(-4.3, 0.0, 1.05)).velocity(Vec3::X * 100.0);
    let fast = world.add_body(fast).unwrap();
    for _ in 0..6 {
        world.step(DT).unwrap();
    }
    assert_eq!(world.body(still).unwrap().velocity(), SpatialVector::ZERO);
    assert_eq!(world.body(fast).unwrap().linear_velocity(), Vec3::X * 100.0);
}
