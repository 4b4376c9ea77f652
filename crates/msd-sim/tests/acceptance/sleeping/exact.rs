//! Sleep of exact islands, down to one body.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::scene::Scene;
use msd_sim::bodies::{BodyView, PotentialField};
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{Potential, Settings};

const MAX_EXACT_BODIES: Option<u32> = None;

// The same rules for both methods.
#[allow(clippy::duplicate_mod)]
#[path = "rules.rs"]
pub mod rules;

/// A time step that varies ends the rest of an island, because its impulses are others, but not its sleep.
#[test]
fn a_varying_time_step_wakes_nothing() {
    let mut scene = Scene::with(rules::settings(), 0.0, 0.5);
    scene.floor();
    scene.add_at(0.5, scene.cube());
    scene.run(60, |_| {});
    for step in 0..60 {
        let report = scene.world.step((1.0 + 0.01 * f64::from(step % 7)) / 60.0).unwrap();
        assert_eq!((report.asleep, report.exact, report.resting), (1, 0, 0), "step {step}");
    }
}

/// A ball that rolls slowly rolls for ever without sleep; with it, it stops.
#[test]
fn a_slow_body_is_stopped_and_its_momentum_is_in_the_ledger() {
    for (sleeping, moves) in [(true, false), (false, true)] {
        let settings = Settings { sleeping, audit: true, ..rules::settings() };
        let mut scene = Scene::with(settings, 0.0, 0.5);
        scene.floor();
        let ball = scene.ball().position(Vec3::Z * 0.5).velocity(Vec3::X * 0.02);
        let ball = scene.add(ball.angular_velocity(Vec3::Y * 0.04));
        scene.run(120, |world| {
            let ledger = world.report().audit.unwrap();
            assert!(ledger.momentum_error().linear.length() < 1e-12);
        });
        assert_eq!(scene.body(ball).velocity() != SpatialVector::ZERO, moves);
        assert_eq!(scene.body(ball).is_asleep(), !moves);
    }
}

/// A body that accelerates is about to move, however slow it is: on a slope of 27 degrees with friction 0.5 a box gains 0.083 m/s
/// a second, and a ball released where gravity is 0.09 m/s^2 takes half a second to 0.045 m/s.
#[test]
fn a_slow_body_that_accelerates_stays_awake() {
    let angle = 27_f64.to_radians();
    let gravity = Vec3::new(angle.sin(), 0.0, -angle.cos()) * 9.81;
    let mut slope = Scene::with(Settings { gravity, ..rules::settings() }, 0.0, 0.5);
    slope.floor();
    let cube = slope.add_at(0.5, slope.cube());
    slope.run(120, |_| {});
    let expected = 0.5 * 9.81 * (angle.sin() - 0.5 * angle.cos()) * 4.0;
    let path = slope.body(cube).position().x;
    assert!((path / expected - 1.0).abs() < 1e-3, "{path} m instead of {expected} m");

    let gravity = Vec3::Z * -0.09;
    let mut air = Scene::with(Settings { gravity, ..rules::settings() }, 0.0, 0.5);
    let ball = air.add_at(5.0, air.ball());
    air.run(120, |world| assert_eq!(world.report().asleep, 0));
    assert!((air.body(ball).position().z - (5.0 - 0.5 * 0.09 * 4.0)).abs() < 1e-9);
}

/// Two balls that bounce off each other at 0.04 m/s in step 32, at the end of which they fall asleep.
#[test]
fn a_hit_in_the_step_before_sleep_is_reported_once() {
    let settings = Settings { gravity: Vec3::ZERO, rest_speed: 0.01, ..rules::settings() };
    let mut scene = Scene::with(settings, 0.5, 0.0);
    for side in [-1.0, 1.0] {
        let x = side * (0.5 + 0.02 * 31.5 / 60.0);
        let ball = scene.ball().position(Vec3::X * x).velocity(Vec3::X * side * -0.02);
        scene.add(ball);
    }
    let mut hits = Vec::new();
    scene.run(60, |world| hits.push((world.events().hits().len(), world.report().asleep)));
    assert_eq!(hits[30..34], [(0, 0), (1, 2), (0, 2), (0, 2)]);
    assert_eq!(hits.iter().map(|(hits, _)| hits).sum::<usize>(), 1);
}

#[test]
fn sleeping_bodies_are_neither_exact_nor_in_islands() {
    let mut scene = Scene::with(Settings { audit: true, ..rules::settings() }, 0.0, 0.5);
    scene.floor();
    for x in [0.0, 3.0] {
        scene.add(scene.cube().position(Vec3::new(x, 0.0, 0.5)));
    }
    scene.run(60, |world| assert_eq!(world.report().exact + world.report().asleep, 2));
    scene.add(scene.ball().position(Vec3::new(9.0, 0.0, 5.0)));
    let report = scene.step();
    assert_eq!((report.exact, report.resting, report.asleep), (1, 0, 2));
    assert_eq!((report.islands, scene.world.islands().count()), (Some(0), 0));
}

/// A cube on an elevator that moves slower than bodies may sleep is slow all the time. When the elevator vanishes, the
/// cube falls, and for the first steps it is slow still: it may not fall asleep in the air, in whichever step that is.
#[test]
fn a_body_that_loses_its_support_does_not_fall_asleep_in_the_air() {
    for phase in 0..8 {
        let mut scene = Scene::with(rules::settings(), 0.0, 0.5);
        scene.dt = 1e-3;
        let elevator = scene.wall(Vec3::new(1.0, 1.0, 0.1), Vec3::Z * -0.1);
        let velocity = SpatialVector::new(Vec3::Z * 0.02, Vec3::ZERO);
        scene.world.set_velocity(elevator, velocity).unwrap();
        let cube = scene.add(scene.cube().position(Vec3::Z * 0.5));
        // Until just before the sleep time: gravity makes the cube faster than bodies may sleep within 7 steps.
        scene.run(494 + phase, |_| {});
        scene.world.remove_body(elevator).unwrap();
        scene.run(100, |world| assert_eq!(world.report().asleep, 0));
        assert!(scene.body(cube).linear_velocity().z < -0.9);
    }
}

/// Whatever the time step, a body that was woken stays awake for the sleep time.
#[test]
fn a_body_that_is_woken_starts_over() {
    for vary in [0.0, 0.01] {
        let mut scene = Scene::with(rules::settings(), 0.0, 0.5);
        scene.floor();
        let cube = scene.add_at(0.5, scene.cube());
        let step = |scene: &mut Scene, n: u32| {
            scene.world.step((1.0 + vary * f64::from(n % 3)) / 60.0).unwrap().asleep
        };
        for n in 0..60 {
            step(&mut scene, n);
        }
        assert!(scene.body(cube).is_asleep());
        scene.world.wake(cube).unwrap();
        // 0.5 s are at least 29 steps.
        for n in 0..28 {
            assert_eq!(step(&mut scene, n), 0, "step {n}");
        }
    }
}

/// A force of 20 N along x that can be switched on.
#[derive(Debug)]
struct Wind(Arc<AtomicBool>);

impl PotentialField for Wind {
    fn energy(&self, _: &BodyView) -> f64 {
        0.0
    }

    fn force(&self, _: &BodyView) -> SpatialVector {
        let force = if self.0.load(Ordering::Relaxed) { 20.0 } else { 0.0 };
        SpatialVector::new(Vec3::X * force, Vec3::ZERO)
    }
}

#[test]
fn a_field_that_changes_wakes_a_sleeping_body() {
    let mut scene = Scene::with(rules::settings(), 0.0, 0.5);
    scene.floor();
    let cube = scene.add_at(0.5, scene.cube());
    let on = Arc::new(AtomicBool::new(false));
    scene.world.add_potential(Potential::user(Wind(on.clone()))).unwrap();
    scene.run(60, |_| {});
    assert!(scene.body(cube).is_asleep());
    on.store(true, Ordering::Relaxed);
    scene.run(10, |_| {});
    assert!(scene.body(cube).linear_velocity().x > 0.1);
}
