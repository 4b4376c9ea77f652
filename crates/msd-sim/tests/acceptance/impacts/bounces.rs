//! Bounces of a dropped body: the k-th reaches `e^(2k)` of its height.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Settings};

use super::track_worst;
use crate::scene::{
    DT, EnergyWatch, Flights, G, Scene, apex_height, assert_below, central_impact, tilt,
};

/// Returns the largest relative error of the apexes above `least` of a body that falls by 10 m
/// until its center is at `low`.
fn worst_apex(scene: &mut Scene, body: BodyId, low: f64, keeps: f64, least: f64) -> f64 {
    let count = (0..=10).take_while(|&n| apex_height(10.0, keeps, n) > least).count();
    // It is in the air for t (1 + 2 e + 2 e^2 + ...) with t = sqrt(2 h / g).
    let fall = (20.0 / G).sqrt();
    let air: f64 = (1..count as i32).map(|n| 2.0 * fall * keeps.powi(n - 1)).sum();
    let steps = ((air + 1.5 * fall * keeps.powi(count as i32 - 1)) / scene.dt) as usize;
    let mut flights = Flights::default();
    scene.run(steps, |world| flights.observe(&world.body(body).unwrap()));
    assert!(flights.apexes.len() >= count, "{} of {count} flights", flights.apexes.len());
    let mut worst = 0.0;
    for (n, top) in flights.apexes[..count].iter().enumerate() {
        let expected = apex_height(10.0, keeps, n as i32);
        track_worst(&mut worst, ((top - low) / expected - 1.0).abs());
    }
    worst
}

fn drop_ball(restitution: f64, dt: f64) -> f64 {
    let mut scene = Scene::new(restitution, 0.5);
    scene.dt = dt;
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(10.5, ball);
    worst_apex(&mut scene, ball, 0.5, restitution, 0.05)
}

#[test]
fn ten_bounces_of_an_elastic_ball_reach_the_height_it_fell_from() {
    for rate in [30.0, 60.0, 120.0, 240.0] {
        let worst = drop_ball(1.0, 1.0 / rate);
        eprintln!("bounce e = 1 at {rate} Hz: {worst:e}");
        assert_below(worst, 1e-9);
    }
}

#[test]
fn every_bounce_down_to_five_centimeters_reaches_its_exact_height() {
    for restitution in [0.8, 0.5] {
        for rate in [30.0, 60.0, 120.0, 240.0] {
            let worst = drop_ball(restitution, 1.0 / rate);
            eprintln!("bounce e = {restitution} at {rate} Hz: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn other_shapes_that_land_flat_bounce_as_high() {
    let shapes = [
        ("cube", Shape::cuboid(Vec3::splat(0.5)), 0.5),
        ("capsule", Shape::capsule(0.3, 0.7), 1.0),
        ("cylinder", Shape::cylinder(0.4, 0.2), 0.2),
        // Its center of mass is at a quarter of its height.
        ("cone", Shape::cone(0.5, 0.5), 0.25),
    ];
    for (name, shape, low) in shapes {
        let shape = shape.unwrap();
        for restitution in [1.0, 0.8] {
            let mut scene = Scene::new(restitution, 0.5);
            scene.floor();
            let def = BodyDef::inertial(shape.clone()).mass(1.0).material(scene.material);
            let body = scene.add_at(10.0 + low, def);
            let worst = worst_apex(&mut scene, body, low, restitution, 0.05);
            let tilt = tilt(&scene.body(body));
            eprintln!("bounce of a {name}, e = {restitution}: {worst:e}, tilt {tilt:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn bounces_on_a_half_space_and_on_a_tile_are_as_high() {
    let tile = Shape::cuboid(Vec3::new(1.0, 1.0, 0.005)).unwrap();
    let plane = Shape::half_space(Vec3::Z, 0.005).unwrap();
    for shape in [tile, plane] {
        for restitution in [1.0, 0.8] {
            let mut scene = Scene::new(restitution, 0.5);
            let floor = BodyDef::environment(shape.clone()).material(scene.material);
            scene.add(floor);
            let ball = scene.ball();
            let ball = scene.add_at(10.505, ball);
            let worst = worst_apex(&mut scene, ball, 0.505, restitution, 0.05);
            eprintln!("bounce on {shape:?}, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn a_ball_that_bounces_on_a_resting_slab_loses_the_speed_that_momentum_demands() {
    // The slab is driven into the floor at 2 m v / (m + M) = 0.03 m/s, too slow to bounce.
    for restitution in [1.0, 0.8] {
        let mut scene = Scene::new(restitution, 0.5);
        scene.floor();
        let slab = scene.brick(Vec3::new(2.0, 2.0, 0.25)).mass(1000.0);
        scene.add_at(0.25, slab);
        let ball = scene.ball();
        let ball = scene.add_at(11.0, ball);
        let [up, _] = central_impact([1.0, 1000.0], [-1.0, 0.0], restitution);
        let worst = worst_apex(&mut scene, ball, 1.0, up, 0.05);
        eprintln!("bounce on a slab on the floor, e = {restitution}: {worst:e}");
        // A supported body is hit up to 1e-4 of its size early: here 25 micrometers.
        assert_below(worst, 1e-4);
    }
}

#[test]
fn a_ball_and_a_free_slab_separate_as_momentum_demands() {
    // Both fall; the ball approaches the slab at 7 m/s.
    for mass in [0.1, 1.0, 1000.0] {
        for restitution in [1.0, 0.8, 0.0] {
            let mut scene = Scene::new(restitution, 0.5);
            let slab = scene.brick(Vec3::new(2.0, 2.0, 0.05)).mass(mass);
            let slab = scene.add_at(0.0, slab);
            let ball = scene.ball().velocity(Vec3::Z * -7.0);
            let ball = scene.add_at(2.0, ball);
            let time = 40.0 * DT;
            scene.run(40, |_| {});
            let [v, w] = central_impact([1.0, mass], [-7.0, 0.0], restitution);
            let [found_v, found_w] = [ball, slab].map(|id| scene.body(id).linear_velocity());
            let error = (found_v - Vec3::Z * (v - G * time)).length()
                + (found_w - Vec3::Z * (w - G * time)).length();
            eprintln!("free slab of {mass} kg, e = {restitution}: {error:e} m/s");
            assert_below(error, 1e-9);
        }
    }
}

#[test]
fn a_bouncing_ball_comes_to_rest_even_with_a_rest_speed_of_zero() {
    // Bounces end after t (1 + e) / (1 - e) with t = sqrt(2 h / g) = 0.64 s: 5.7 s for e = 0.8.
    for (restitution, seconds) in [(0.5, 4), (0.8, 8)] {
        let settings = Settings { rest_speed: 0.0, ..Settings::default() };
        let mut scene = Scene::with(settings, restitution, 0.5);
        scene.floor();
        let ball = scene.ball();
        let ball = scene.add_at(2.5, ball);
        let mut watch = EnergyWatch::new(&scene.world);
        let (mut impact_times, mut unresolved_impacts) = (0, 0);
        for _ in 0..60 * seconds {
            let report = scene.step();
            watch.check(&scene.world);
            impact_times = impact_times.max(report.impact_times);
            unresolved_impacts += report.unresolved_impacts;
        }
        let ball = scene.body(ball);
        let (high, speed) = (ball.position().z - 0.5, ball.linear_velocity().length());
        eprintln!(
            "e = {restitution}: {high:e} m, {speed:e} m/s, {impact_times} at most, {unresolved_impacts}"
        );
        assert_below(high.abs(), 1e-4);
        assert_below(speed, 1e-6);
    }
}

#[test]
fn a_ball_between_a_floor_and_a_ceiling_keeps_its_energy() {
    // A room 1 mm higher than the ball: at 10 m/s and e = 1 the ball hits them 167 times a step.
    let settings = Settings { rest_speed: 0.0, impact_work: 1000, ..Settings::default() };
    let mut scene = Scene::with(settings, 1.0, 0.5);
    scene.floor();
    scene.wall(Vec3::new(1.0, 1.0, 0.5), Vec3::Z * 1.501);
    let ball = scene.ball().velocity(Vec3::Z * 10.0);
    let ball = scene.add_at(0.5005, ball);
    let first = scene.energy();
    let mut impact_times = 0;
    for _ in 0..60 {
        let report = scene.step();
        impact_times += report.impact_times;
        assert_eq!(report.unresolved_impacts, 0);
        let z = scene.body(ball).position().z;
        assert!((0.5 - 1e-9..0.501 + 1e-9).contains(&z), "it is at {z}");
    }
    let error = (scene.energy() / first - 1.0).abs();
    eprintln!("a ball between two plates: {impact_times} impact times, energy {error:e}");
    assert_below((impact_times as f64 - 1e4).abs(), 2.0);
    assert_below(error, 1e-9);
}
