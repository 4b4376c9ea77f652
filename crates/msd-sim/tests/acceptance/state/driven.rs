//! Applied forces and impulses, kinematic bodies, orbits.

use std::f64::consts::TAU;

use msd_sim::error::BodyError;
use msd_sim::geometry::Shape;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyKind, Potential};

use crate::audited_scene::{AuditedScene, DT, G, assert_near, ball, block, cube};

#[test]
fn a_constant_force_accelerates_a_body_by_newtons_law() {
    let mut scene = AuditedScene::weightless();
    let id = scene.add(cube(0.5, 0.5).mass(4.0));
    for _ in 0..60 {
        scene.push(id, Vec3::new(8.0, 0.0, -4.0));
        scene.step();
    }
    assert_near(scene.velocity(id).x, 2.0, 1e-12);
    assert_near(scene.position(id).x, 1.0, 1e-12);
    assert_near(scene.position(id).z, -0.5, 1e-12);
    // It acts over one step only.
    scene.step();
    assert_near(scene.velocity(id).x, 2.0, 1e-12);
}

#[test]
fn a_constant_torque_accelerates_a_body_by_eulers_law() {
    // I = m a^2 / 6 = 1/6: 0.5 N m give 3 rad/s in a second.
    let mut scene = AuditedScene::weightless();
    let id = scene.add(cube(0.5, 0.5));
    for _ in 0..60 {
        let torque = SpatialVector::new(Vec3::ZERO, Vec3::Z * 0.5);
        scene.world.apply_force(id, torque).unwrap();
        scene.step();
    }
    assert_near(scene.spin(id).z, 3.0, 1e-12);
    let turned = scene.body(id).pose().transform_vector(Vec3::X);
    assert_near(turned.y.atan2(turned.x), 1.5, 1e-12);
}

#[test]
fn forces_and_impulses_at_a_point_also_turn() {
    let mut scene = AuditedScene::weightless();
    let (one, two) = (scene.add(cube(0.5, 0.5)), scene.add(cube(0.5, 0.5).position(Vec3::X * 5.0)));
    scene.world.apply_impulse_at(one, Vec3::Y, Vec3::new(0.5, 0.0, 0.0)).unwrap();
    assert_near(scene.velocity(one).y, 1.0, 1e-12);
    assert_near(scene.spin(one).z, 3.0, 1e-12);
    scene.world.apply_force_at(two, Vec3::Y / DT, Vec3::new(5.5, 0.0, 0.0)).unwrap();
    scene.step();
    assert_near(scene.velocity(two).y, 1.0, 1e-12);
    assert_near(scene.spin(two).z, 3.0, 1e-12);
    scene.world.apply_impulse(one, SpatialVector::new(-Vec3::Y, Vec3::Z * -0.5)).unwrap();
    assert!(scene.velocity(one).length() < 1e-12 && scene.spin(one).length() < 1e-12);
}

#[test]
fn forces_on_environment_bodies_and_invalid_forces_are_rejected() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let push = SpatialVector::new(Vec3::X, Vec3::ZERO);
    let rejected = scene.world.apply_force(floor, push);
    assert!(matches!(rejected, Err(BodyError::NotInertial { .. })), "{rejected:?}");
    assert!(scene.world.apply_impulse(floor, push).is_err());
    let id = scene.add(cube(0.5, 0.5).position(Vec3::Z));
    let before = scene.world.state_hash();
    assert!(scene.world.apply_force(id, SpatialVector::new(Vec3::NAN, Vec3::ZERO)).is_err());
    assert!(scene.world.apply_impulse_at(id, Vec3::X, Vec3::INFINITY).is_err());
    assert!(scene.world.step(0.0).is_err() && scene.world.step(f64::NAN).is_err());
    assert_eq!(scene.world.state_hash(), before);
}

#[test]
fn a_kinematic_body_keeps_its_velocity_under_any_load() {
    let mut scene = AuditedScene::new().without_ledger();
    let lift = BodyDef::environment(Shape::cuboid(Vec3::new(2.0, 2.0, 0.1)).unwrap());
    let lift = scene.add(lift.velocity(Vec3::new(0.0, 0.0, 0.5)));
    let id = scene.add(cube(0.0, 0.5).mass(1000.0).position(Vec3::Z * 0.6));
    assert_eq!(scene.body(lift).kind(), BodyKind::Environment);
    scene.seconds(2.0);
    assert_near(scene.position(lift).z, 1.0, 1e-12);
    assert_near(scene.position(id).z, 1.6, 1e-6);
    assert_near(scene.velocity(id).z, 0.5, 1e-9);
    // Set to zero velocity, it stops; the cube on it stays.
    scene.world.set_velocity(lift, SpatialVector::ZERO).unwrap();
    scene.seconds(1.0);
    assert_near(scene.position(lift).z, 1.0, 1e-12);
    assert_near(scene.position(id).z, 1.6, 1e-4);
    assert!(scene.speed() < 1e-6);
}

#[test]
#[ignore = "known limit: friction on a rotating floor is accurate to first order: 2 mm/s outwards, expected 1e-3 after 3 s"]
fn a_turntable_carries_a_sticking_block_around() {
    // At r = 1 m and 1 rad/s friction must give 1 m/s^2 < mu g.
    let mut scene = AuditedScene::new().without_ledger();
    let table = BodyDef::environment(Shape::cylinder(2.0, 0.1).unwrap());
    let table = table.material(crate::audited_scene::material(0.0, 0.5)).position(Vec3::Z * -0.1);
    scene.add(table.angular_velocity(Vec3::Z));
    let def = block(Vec3::splat(0.1), 0.0, 0.5).position(Vec3::new(1.0, 0.0, 0.1));
    let id = scene.add(def.velocity(Vec3::Y).angular_velocity(Vec3::Z));
    scene.seconds(3.0);
    let place = scene.position(id);
    assert_near(place.x.hypot(place.y), 1.0, 1e-3);
    assert_near(place.y.atan2(place.x), 3.0, 1e-3);
    assert_near(scene.spin(id).z, 1.0, 1e-3);
}

#[test]
fn the_ledger_accounts_for_the_work_of_a_lift() {
    let mut scene = AuditedScene::new();
    let lift = BodyDef::environment(Shape::cuboid(Vec3::new(2.0, 2.0, 0.1)).unwrap());
    scene.add(lift.velocity(Vec3::new(0.0, 0.0, 0.5)));
    let id = scene.add(cube(0.0, 0.5).position(Vec3::Z * 0.6).velocity(Vec3::Z * 0.5));
    scene.seconds(1.0);
    assert_near(scene.velocity(id).z, 0.5, 1e-9);
}

#[test]
fn an_orbit_closes_after_its_exact_period() {
    // a = 10 m, mu = 1000: T = 2 pi sqrt(a^3 / mu) = 2 pi s. Eccentricity 0 and 0.3, from the
    // nearest point: v^2 = mu (2 / r - 1 / a).
    for eccentricity in [0.0, 0.3] {
        let mut scene = AuditedScene::weightless();
        scene.world.add_potential(Potential::point_mass(Vec3::ZERO, 1000.0, 0.0).unwrap()).unwrap();
        let start = Vec3::X * (10.0 * (1.0 - eccentricity));
        let speed = (1000.0 * (2.0 / start.x - 0.1)).sqrt();
        let id = scene.add(ball(0.5, 0.5).position(start).velocity(Vec3::Y * speed));
        let energy = scene.energy();
        let spin = scene.world.momentum().angular;
        let (mut before, mut rounds) = (scene.position(id), Vec::new());
        let turns = 10;
        while rounds.len() < turns {
            scene.step();
            let now = scene.position(id);
            assert_near(scene.energy(), energy, 1e-4);
            let lost = (scene.world.momentum().angular - spin).length();
            assert!(lost <= 1e-12 * spin.length(), "angular momentum off by {lost:e}");
            if before.y < 0.0 && now.y >= 0.0 && now.x > 0.0 {
                // On an arc of a circle the crossing is where the angle vanishes.
                let (a, b) = (before.y.atan2(before.x), now.y.atan2(now.x));
                rounds.push(scene.world.time() - DT * b / (b - a));
                assert_near(now.length(), start.x, 1e-2);
            }
            before = now;
        }
        assert_near(rounds[turns - 1], turns as f64 * TAU, 1e-4);
        // The ellipse is back where it began: its major axis has not turned.
        assert_near(scene.energy(), energy, 1e-6);
    }
}

#[test]
fn gravity_scales_per_body_and_damping_decays_exponentially() {
    let mut scene = AuditedScene::new();
    let half = scene.add(ball(0.5, 0.5).gravity_scale(0.5));
    let slowed = ball(0.5, 0.5).gravity_scale(0.0).damping(0.5, 0.25).position(Vec3::X * 5.0);
    let slowed = scene.add(slowed.velocity(Vec3::Y * 2.0).angular_velocity(Vec3::Y * 3.0));
    scene.seconds(1.0);
    assert_near(scene.velocity(half).z, -0.5 * G, 1e-12);
    assert_near(scene.velocity(slowed).y, 2.0 * (-0.5_f64).exp(), 1e-9);
    assert_near(scene.spin(slowed).y, 3.0 * (-0.25_f64).exp(), 1e-9);
}

/// A tray that follows a path of targets, turning and climbing, with a crate on it: the tray is where it was sent to the last
/// bit, in every step, and carries the crate along without slipping; without a target it stops.
#[test]
fn a_body_with_targets_is_exactly_there_and_carries_what_stands_on_it() {
    use msd_sim::math::{Pose, rotation};
    use msd_sim::{Material, Settings, World};
    for max_exact_bodies in [128, 0] {
        let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        let rough = Material::new(0.0, 1.0).unwrap();
        let tray = Shape::cuboid(Vec3::new(1.0, 1.0, 0.1)).unwrap();
        let tray = world.add_body(BodyDef::environment(tray).material(rough)).unwrap();
        let load = Shape::cuboid(Vec3::splat(0.2)).unwrap();
        let load = BodyDef::inertial(load).mass(2.0).material(rough).position(Vec3::Z * 0.3);
        let load = world.add_body(load).unwrap();
        assert_eq!(
            world.set_target(load, Pose::IDENTITY).unwrap_err(),
            BodyError::NotEnvironment { index: load.index() as u32 }
        );
        let path = |n: f64| {
            // From rest, and back to rest.
            let s = 0.5 - 0.5 * (n / 120.0 * std::f64::consts::PI).cos();
            Pose::new(Vec3::new(0.5, 0.0, 1.0) * s, rotation(Vec3::Z, 1.5 * s))
        };
        for n in 1..=120 {
            world.set_target(tray, path(f64::from(n))).unwrap();
            world.step(DT).unwrap();
            assert_eq!(world.body(tray).unwrap().pose(), path(f64::from(n)));
        }
        let relative = world.body(tray).unwrap().pose().relative(&world.body(load).unwrap().pose());
        assert!((relative.position - Vec3::Z * 0.3).length() < 2e-3, "{}", relative.position);
        assert!(relative.rotation.xyz().length() < 2e-3);
        let end = world.body(tray).unwrap().pose();
        for _ in 0..30 {
            world.step(DT).unwrap();
        }
        assert_eq!(world.body(tray).unwrap().pose(), end);
        assert_eq!(world.body(tray).unwrap().velocity(), SpatialVector::ZERO);
        // A later pose or velocity takes the place of a target.
        world.set_target(tray, Pose::IDENTITY).unwrap();
        world.set_pose(tray, Pose::at(Vec3::Z * 5.0)).unwrap();
        world.step(DT).unwrap();
        assert_eq!(world.body(tray).unwrap().position(), Vec3::Z * 5.0);
        world.set_target(tray, Pose::IDENTITY).unwrap();
        world.set_velocity(tray, SpatialVector::new(Vec3::X, Vec3::ZERO)).unwrap();
        world.step(DT).unwrap();
        assert_eq!(world.body(tray).unwrap().linear_velocity(), Vec3::X);
    }
}
