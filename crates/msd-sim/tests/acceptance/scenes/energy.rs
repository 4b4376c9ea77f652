//! Conservation of energy and momentum in flight and in impacts.

use msd_sim::BodyId;
use msd_sim::math::{Vec3, rotation};

use crate::scene::{EnergyWatch, G, Scene, assert_below, assert_near, energy};

#[test]
fn free_fall_keeps_energy() {
    let mut scene = Scene::new(0.5, 0.5);
    let ball = scene.ball();
    scene.add_at(10.0, ball);
    let first = scene.energy();
    scene.run(100, |world| assert_near(energy(world), first, 1e-9));
}

/// Returns the kinetic energy after the first impact over that before, both at the floor.
fn kinetic_ratio(restitution: f64, height: f64) -> f64 {
    let mut scene = Scene::new(restitution, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(height, ball);
    // A ball of 1 kg, with its center at 0.5 m when it touches.
    let before = scene.energy() - 0.5 * G;
    let mut steps = 0;
    while scene.body(ball).linear_velocity().z <= 0.0 {
        scene.step();
        steps += 1;
        assert!(steps < 60, "it did not bounce");
    }
    (scene.energy() - 0.5 * G) / before
}

#[test]
fn an_elastic_impact_keeps_kinetic_energy() {
    let ratio = kinetic_ratio(1.0, 2.0);
    assert!((0.99..=1.01).contains(&ratio), "ratio {ratio}");
}

#[test]
fn an_impact_at_half_restitution_keeps_a_quarter_of_kinetic_energy() {
    let ratio = kinetic_ratio(0.5, 2.0);
    assert!((0.249..=0.251).contains(&ratio), "ratio {ratio}");
}

#[test]
fn an_impact_keeps_e_squared_of_kinetic_energy_from_any_height() {
    for phase in 0..50 {
        let height = 2.0 + 0.02 * f64::from(phase);
        let (elastic, half) = (kinetic_ratio(1.0, height), kinetic_ratio(0.5, height));
        assert!((0.99..=1.01).contains(&elastic), "ratio {elastic} from {height} m");
        assert!((0.249..=0.251).contains(&half), "ratio {half} from {height} m");
    }
}

#[test]
fn an_elastic_cube_that_falls_on_a_corner_never_gains_energy() {
    let turn = std::f64::consts::FRAC_PI_4;
    let mut scene = Scene::new(1.0, 0.5);
    scene.floor();
    let cube = scene.cube().orientation(rotation(Vec3::X, turn) * rotation(Vec3::Y, turn));
    scene.add_at(2.0, cube);
    let first = scene.energy();
    scene.run(1000, |world| {
        let now = energy(world);
        assert!(now <= 1.0001 * first, "{now} J of {first} J");
    });
}

/// Builds a scene in which cube A flies at cube B, which is offset sideways by 0.3 m.
fn offset_hit(friction: f64) -> (Scene, [BodyId; 2]) {
    let mut scene = Scene::weightless(1.0, friction);
    let a = scene.cube().velocity(Vec3::X * 2.0);
    let a = scene.add(a.position(Vec3::X * -2.0));
    let b = scene.cube();
    let b = scene.add(b.position(Vec3::Y * 0.3));
    (scene, [a, b])
}

#[test]
fn an_offset_hit_keeps_momentum_and_angular_momentum() {
    for friction in [0.0, 0.5] {
        let (mut scene, [_, b]) = offset_hit(friction);
        let before = scene.world.momentum();
        scene.run(120, |world| {
            let now = world.momentum();
            // 2 N s, and a lever arm of 2 m at most.
            assert_below((now.linear - before.linear).length(), 1e-12 * 2.0);
            assert_below((now.angular - before.angular).length(), 1e-12 * 4.0);
        });
        assert!(scene.body(b).linear_velocity().x > 0.1, "B was hit");
        assert!(scene.body(b).angular_velocity().length() > 0.1, "off center");
    }
}

#[test]
fn an_elastic_offset_hit_without_friction_keeps_kinetic_energy() {
    let (mut scene, _) = offset_hit(0.0);
    let before = scene.world.kinetic_energy();
    scene.run(120, |_| {});
    assert_near(scene.world.kinetic_energy(), before, 1e-9);
}

#[test]
fn a_ball_loses_its_energy_in_many_bounces() {
    let mut scene = Scene::new(0.8, 0.5);
    scene.floor();
    let ball = scene.ball();
    scene.add_at(5.0, ball);
    let first = scene.energy();
    let mut watch = EnergyWatch::new(&scene.world);
    // The bounces' times sum up to 0.958 s (1 + 2 (0.8 + 0.64 + ...)) = 8.6 s.
    scene.run(600, |world| watch.check(world));
    assert_below(scene.energy() - 0.5 * G, 0.01 * first);
}

#[test]
fn energy_never_rises_for_impacts_at_any_time_within_a_step() {
    let turn = rotation(Vec3::X, 0.785) * rotation(Vec3::Y, 0.785);
    for restitution in [0.3, 0.7, 1.0] {
        for phase in 0..60 {
            let mut scene = Scene::new(restitution, 0.5);
            scene.floor();
            // 5 m apart, so that they do not interact.
            let bodies = [scene.ball(), scene.cube(), scene.cube().orientation(turn)];
            for (body, x) in bodies.into_iter().zip([0.0, 5.0, 10.0]) {
                scene.add(body.position(Vec3::new(x, 0.0, 2.0 + f64::from(phase) / 60.0)));
            }
            let mut watch = EnergyWatch::new(&scene.world);
            scene.run(300, |world| watch.check(world));
        }
    }
}

#[test]
fn a_cube_dropped_askew_on_another_gains_no_energy() {
    for phase in 0..30 {
        let x = f64::from(phase) / 30.0;
        let mut scene = Scene::new(0.3, 0.5);
        scene.floor();
        let cube = scene.cube();
        scene.add_at(0.5, cube);
        let cube = scene.cube().position(Vec3::new(0.9 * x, 0.2 * x, 2.0 + 0.3 * x));
        scene.add(cube);
        let mut watch = EnergyWatch::new(&scene.world);
        scene.run(300, |world| watch.check(world));
    }
}
