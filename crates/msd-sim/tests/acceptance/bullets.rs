//! Swept worlds: fast bodies do not tunnel through thin ones.

use super::scene::{DT, Scene};
use msd_sim::geometry::Shape;
use msd_sim::math::{Quat, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, Continuous, Settings};

/// Builds a weightless swept world with a wall of 5 cm across x = 0.
fn scene(settings: Settings) -> (Scene, BodyId) {
    let settings = Settings { max_exact_bodies: Some(0), gravity: Vec3::ZERO, ..settings };
    let mut scene = Scene::with(settings, 0.0, 0.5);
    let wall = scene.wall(Vec3::new(0.025, 5.0, 5.0), Vec3::ZERO);
    (scene, wall)
}

fn ball(scene: &Scene, x: f64, speed: f64) -> BodyDef {
    let shape = Shape::sphere(0.1).unwrap();
    let ball = BodyDef::inertial(shape).mass(1.0).material(scene.material);
    ball.position(Vec3::new(x, 0.0, 0.0)).velocity(Vec3::X * speed)
}

#[test]
fn a_ball_does_not_pass_a_wall_at_any_speed_from_any_place() {
    for speed in [10.0, 40.0, 300.0, 3000.0] {
        for start in 0..10 {
            let (mut scene, _) = scene(Settings::default());
            let ball = ball(&scene, -1.0 - 0.37 * f64::from(start), speed);
            let ball = scene.add(ball);
            scene.run(60, |world| {
                let x = world.body(ball).unwrap().position().x;
                assert!(x < 0.0, "{x} m at {speed} m/s from {start}");
            });
            let x = scene.body(ball).position().x;
            assert!(x < -0.12, "{x} m at {speed} m/s from {start}");
            assert!(scene.body(ball).linear_velocity().x.abs() < 1e-3 * speed);
        }
    }
}

#[test]
fn a_fast_ball_tunnels_without_continuous_collision() {
    let (mut scene, _) = scene(Settings { continuous: Continuous::Never, ..Settings::default() });
    let ball = scene.add(ball(&scene, -2.5, 300.0));
    scene.run(10, |_| {});
    assert!(scene.body(ball).position().x > 1.0);
}

#[test]
fn a_thin_fast_plate_does_not_pass_a_wall_however_it_is_turned() {
    for turn in 0..8 {
        for speed in [20.0, 250.0] {
            let (mut scene, _) = scene(Settings::default());
            let plate = scene.brick(Vec3::new(0.01, 0.3, 0.4)).position(Vec3::new(-3.3, 0.0, 0.0));
            let rotation = Quat::from_rotation_y(0.2 * f64::from(turn));
            let plate = scene.add(plate.orientation(rotation).velocity(Vec3::X * speed));
            let spin = SpatialVector::new(Vec3::X * speed, Vec3::new(1.0, 3.0, -2.0));
            scene.world.set_velocity(plate, spin).unwrap();
            scene.run(60, |world| {
                let x = world.body(plate).unwrap().position().x;
                assert!(x < 0.0, "{x} m, turned {turn}, {speed} m/s");
            });
        }
    }
}

#[test]
fn two_bullets_that_fly_at_each_other_collide() {
    let (mut scene, wall) = scene(Settings::default());
    scene.world.remove_body(wall).unwrap();
    let a = scene.add(ball(&scene, -4.0, 300.0));
    let b = scene.add(ball(&scene, 4.1, -200.0));
    scene.run(30, |world| {
        let [a, b] = [a, b].map(|id| world.body(id).unwrap().position().x);
        assert!(a < b - 0.19, "{a} {b}");
    });
    let momentum = scene.world.momentum().linear.x;
    assert!((momentum - 100.0).abs() < 1e-9 * 100.0, "{momentum}");
}

#[test]
fn a_stopped_bullet_bounces_and_is_reported_as_a_hit() {
    let settings =
        Settings { max_exact_bodies: Some(0), gravity: Vec3::ZERO, ..Settings::default() };
    let mut scene = Scene::with(settings, 1.0, 0.0);
    scene.wall(Vec3::new(0.025, 5.0, 5.0), Vec3::ZERO);
    let ball = scene.add(ball(&scene, -4.0, 300.0));
    let mut hits = 0;
    scene.run(10, |world| hits += world.events().hits().len());
    assert_eq!(hits, 1);
    assert!((scene.body(ball).linear_velocity().x + 300.0).abs() < 1e-6);
}

#[test]
fn a_bullet_passes_a_body_that_it_does_not_collide_with() {
    let (mut scene, wall) = scene(Settings::default());
    let ball = scene.add(ball(&scene, -2.5, 300.0));
    scene.world.set_collides(ball, wall, false).unwrap();
    scene.run(10, |_| {});
    assert!((scene.body(ball).position().x - (3000.0 * DT - 2.5)).abs() < 1e-9);
}

#[test]
fn bullets_into_a_sleeping_wall_give_the_same_bits_on_any_number_of_threads() {
    let run = |threads: u32| {
        let settings =
            Settings { max_exact_bodies: Some(0), sleeping: true, threads, ..Settings::default() };
        let mut scene = Scene::with(settings, 0.0, 0.5).on_all_threads();
        scene.floor();
        for at in 0..60 {
            let (x, z) = (f64::from(at % 10), f64::from(at / 10));
            let brick = scene.brick(Vec3::new(0.02, 0.4, 0.2));
            scene.add(brick.position(Vec3::new(x, 0.0, 0.2 + 0.4 * z)));
        }
        scene.run(100, |_| {});
        let asleep = scene.world.report().asleep;
        for at in 0..5 {
            let shot = ball(&scene, -5.0 - f64::from(at), 150.0);
            scene.add(shot.position(Vec3::new(
                -5.0 - f64::from(at),
                0.0,
                0.4 + 0.4 * f64::from(at),
            )));
        }
        scene.run(60, |_| {});
        (asleep, scene.world.state_hash())
    };
    let one = run(1);
    assert!(one.0 > 0);
    assert_eq!(run(2), one);
    assert_eq!(run(3), one);
}
