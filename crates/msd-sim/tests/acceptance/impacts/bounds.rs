//! Limits of impact work: unresolved impacts are reported, and cost neither energy nor bodies.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, Settings};

use super::{change, solid, zero_gravity};
use crate::scene::{EnergyWatch, Scene, assert_below};
use crate::stopwatch::Stopwatch;

/// Builds a pile: 30 balls of 0.2 m released above each other in three columns.
fn pile(impact_work: u32, restitution: f64) -> Scene {
    let settings = Settings { impact_work, rest_speed: 0.0, ..Settings::default() };
    let mut scene = Scene::with(settings, restitution, 0.3);
    scene.floor();
    for n in 0..30 {
        let (row, layer) = (f64::from(n % 3), f64::from(n / 3));
        let ball = solid(&scene, Shape::sphere(0.2).unwrap());
        let place = Vec3::new(0.41 * row + 0.03 * layer, 0.02 * row, 0.3 + 0.45 * layer);
        scene.add(ball.position(place));
    }
    scene
}

#[test]
fn a_bouncing_pile_with_little_impact_work_gains_no_energy_and_loses_no_ball() {
    for impact_work in [1, 16, 128] {
        for restitution in [0.5, 0.9, 1.0] {
            let mut scene = pile(impact_work, restitution);
            let mut watch = EnergyWatch::new(&scene.world);
            let (mut impact_times, mut unresolved_impacts, mut deepest, mut slowest) =
                (0, 0, 0.0_f64, 0.0_f64);
            for _ in 0..300 {
                let start = Stopwatch::start();
                let report = scene.step();
                slowest = slowest.max(start.seconds());
                watch.check(&scene.world);
                impact_times += report.impact_times;
                unresolved_impacts += report.unresolved_impacts;
                deepest = deepest.max(report.max_penetration.unwrap());
            }
            eprintln!(
                "pile, work {impact_work}, e = {restitution}: {impact_times} impact times, {unresolved_impacts} unresolved, \
                 {deepest:e} m deep, slowest {slowest} s"
            );
            assert!(impact_times > 0 && (impact_work > 1 || unresolved_impacts > 0));
            for body in scene.world.bodies().skip(1) {
                let place = body.position();
                // The floor is 100 m wide.
                let lost = place.z < 0.2 - 1e-2 && place.truncate().abs().max_element() < 50.0;
                assert!(!lost, "a ball is at {place}");
            }
        }
    }
}

#[test]
fn a_step_with_balls_between_closing_plates_takes_bounded_time() {
    for restitution in [1.0, 0.5] {
        let mut scene = zero_gravity(restitution, 0.0);
        for side in [-1.0, 1.0] {
            let plate = BodyDef::environment(Shape::cuboid(Vec3::new(5.0, 5.0, 0.1)).unwrap());
            let plate = plate.velocity(Vec3::Z * (-0.5 * side)).material(scene.material);
            scene.add(plate.position(Vec3::Z * (side * 0.4)));
        }
        let balls: Vec<_> = (0..16)
            .map(|n| {
                let ball = solid(&scene, Shape::sphere(0.1).unwrap()).velocity(Vec3::Z);
                let place = Vec3::new(f64::from(n % 4) * 0.3, f64::from(n / 4) * 0.3, 0.0);
                scene.add(ball.position(place))
            })
            .collect();
        // The gap of 0.6 m closes at 1 m/s and equals a ball's diameter after 0.4 s.
        let (mut unresolved_impacts, mut impact_times, mut slowest) = (0, 0, 0.0_f64);
        for _ in 0..40 {
            let start = Stopwatch::start();
            let report = scene.step();
            slowest = slowest.max(start.seconds());
            unresolved_impacts += report.unresolved_impacts;
            impact_times += report.impact_times;
        }
        let fastest = balls.iter().map(|&id| scene.body(id).linear_velocity().length());
        let fastest = fastest.fold(0.0, f64::max);
        eprintln!(
            "closing plates, e = {restitution}: {impact_times} impact times, {unresolved_impacts} unresolved, {fastest} m/s, slowest {slowest} s"
        );
        assert!(unresolved_impacts > 0);
        assert!(scene.world.bodies().all(|body| body.position().is_finite()));
        assert_below(slowest, 1.0);
    }
}

#[test]
fn a_ball_with_unresolved_impacts_stays_on_its_side() {
    // Two walls, each 1 mm from the ball, at 50 m/s: 833 impacts a step, and work for 4.
    let settings =
        Settings { gravity: Vec3::ZERO, rest_speed: 0.0, impact_work: 1, ..Settings::default() };
    let mut scene = Scene::with(settings, 1.0, 0.0);
    for side in [-1.0, 1.0] {
        scene.wall(Vec3::new(0.5, 2.0, 2.0), Vec3::X * (side * 1.001));
    }
    let ball = scene.ball().velocity(Vec3::X * 50.0);
    let ball = scene.add(ball);
    let mut watch = EnergyWatch::new(&scene.world);
    let mut unresolved_impacts = 0;
    for _ in 0..60 {
        unresolved_impacts += scene.step().unresolved_impacts;
        watch.check(&scene.world);
        assert_below(scene.body(ball).position().x.abs(), 0.001 + 1e-6);
    }
    assert!(unresolved_impacts > 0);
}

#[test]
fn a_step_that_crushes_a_ball_takes_bounded_time() {
    // Two plates close at 1 m/s, and the ball between them cannot give way.
    let mut scene = zero_gravity(1.0, 0.0);
    for side in [-1.0, 1.0] {
        let plate = BodyDef::environment(Shape::cuboid(Vec3::new(1.0, 1.0, 0.1)).unwrap());
        let plate = plate.velocity(Vec3::Z * (-0.5 * side)).material(scene.material);
        scene.add(plate.position(Vec3::Z * (side * 0.201)));
    }
    let ball = solid(&scene, Shape::sphere(0.1).unwrap());
    scene.add(ball);
    let mut slowest = 0.0_f64;
    for _ in 0..3 {
        let start = Stopwatch::start();
        scene.step();
        slowest = slowest.max(start.seconds());
    }
    assert_below(slowest, 0.05);
}

/// Shoots a ball of 2 cm at 500 m/s between two plates of 5 mm that are 10 cm apart: 26 impacts a
/// substep.
fn between_plates(impact_work: u32) -> (f64, usize) {
    let mut scene = zero_gravity(1.0, 0.0);
    change(&mut scene, |settings| settings.impact_work = impact_work);
    for side in [-1.0, 1.0] {
        scene.wall(Vec3::new(0.0025, 5.0, 5.0), Vec3::X * (side * 0.0525));
    }
    let ball = solid(&scene, Shape::sphere(0.01).unwrap()).velocity(Vec3::X * 500.0);
    let ball = scene.add(ball);
    let unresolved_impacts = (0..6).map(|_| scene.step().unresolved_impacts).sum();
    (scene.body(ball).position().x, unresolved_impacts)
}

#[test]
fn a_bullet_between_two_plates_stays_there() {
    let (x, unresolved_impacts) = between_plates(128);
    assert_below(x.abs(), 0.04 + 1e-9);
    assert_eq!(unresolved_impacts, 0);
}

#[test]
fn a_bullet_between_two_plates_stays_there_with_little_impact_work() {
    let (x, unresolved_impacts) = between_plates(1);
    assert!(unresolved_impacts > 0);
    assert_below(x.abs(), 0.04 + 1e-6);
}
