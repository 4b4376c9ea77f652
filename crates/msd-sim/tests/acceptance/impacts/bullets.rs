//! Bullets: a fast body does not tunnel through a thin one.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId};

use super::{momentum_scale, solid, track_worst, zero_gravity};
use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below, central_impact};

const SPEED: f64 = 500.0;
const PLATE: Vec3 = Vec3::new(0.0025, 100.0, 100.0);

/// Adds a ball of 2 cm that flies towards the origin, `start` m before it touches a plate of 5 mm.
fn aim(scene: &mut Scene, angle: f64, start: f64) -> (BodyId, Vec3) {
    let velocity = Vec3::new(angle.cos(), angle.sin(), 0.0) * SPEED;
    let ball = solid(scene, Shape::sphere(0.01).unwrap()).mass(0.03);
    let place = Vec3::X * -0.0125 - velocity * (start / SPEED);
    (scene.add(ball.position(place).velocity(velocity)), velocity)
}

#[test]
fn a_bullet_bounces_off_a_plate_at_every_angle_and_phase() {
    // It flies 2.08 m in a substep: eight phases of it, and one at its start.
    let mut worst = 0.0;
    for degrees in [0, 10, 20, 30, 40, 50, 60, 70, 75, 80] {
        for phase in 0..9 {
            let mut scene = zero_gravity(1.0, 0.0);
            scene.wall(PLATE, Vec3::ZERO);
            let angle = f64::from(degrees).to_radians();
            let (ball, velocity) = aim(&mut scene, angle, 0.5 + 0.26 * f64::from(phase));
            scene.run(4, |world| assert!(world.body(ball).unwrap().position().x < -0.0125 + 1e-9));
            let mirrored = velocity * Vec3::new(-1.0, 1.0, 1.0);
            let error = (scene.body(ball).linear_velocity() - mirrored).length();
            track_worst(&mut worst, error / SPEED);
        }
    }
    eprintln!("bullet at a plate, e = 1: {worst:e}");
    assert_below(worst, 1e-12);
}

#[test]
fn an_inelastic_or_rough_bullet_stays_on_its_side() {
    for (restitution, friction) in [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 0.0)] {
        let mut worst = 0.0;
        for degrees in [0, 20, 40, 60, 80] {
            for phase in 0..9 {
                let mut scene = zero_gravity(restitution, friction);
                scene.wall(PLATE, Vec3::ZERO);
                let angle = f64::from(degrees).to_radians();
                let (ball, velocity) = aim(&mut scene, angle, 0.5 + 0.26 * f64::from(phase));
                let first = scene.energy();
                scene.run(6, |world| {
                    let x = world.body(ball).unwrap().position().x;
                    assert!(x < -0.0125 + 1e-6, "{degrees} {phase}: at {x}");
                    assert!(crate::scene::energy(world) <= first * (1.0 + 1e-12));
                });
                let away = scene.body(ball).linear_velocity().x;
                track_worst(&mut worst, (away + restitution * velocity.x).abs() / SPEED);
            }
        }
        eprintln!("bullet at a plate, e = {restitution}, mu = {friction}: {worst:e}");
        assert_below(worst, 1e-9);
    }
}

#[test]
fn a_plate_that_can_move_takes_its_share_of_momentum() {
    // At a lever r its effective inverse mass is 1/M + r^2 / I with I = M (a^2 + b^2) / 12 about z.
    let half = Vec3::new(0.0025, 0.5, 0.5);
    // A light plate hit off its center would turn and hit the ball again, so there is none.
    let cases = [(0.01, 0.0), (1.0, 0.0), (1e4, 0.0), (1.0, 0.3), (1e4, 0.3)];
    for (mass, lever) in cases {
        for restitution in [0.0, 0.5, 1.0].into_iter().filter(|&e| e > 0.0 || lever == 0.0) {
            let mut worst = 0.0;
            for phase in 0..9 {
                let mut scene = zero_gravity(restitution, 0.0);
                let plate = scene.brick(half).mass(mass);
                let plate = scene.add(plate.position(Vec3::Y * -lever));
                let (ball, velocity) = aim(&mut scene, 0.0, 0.5 + 0.26 * f64::from(phase));
                let before = scene.world.momentum();
                // 2.58 m at most, and 8.3 m a step.
                scene.step();
                let inertia = mass * (0.005_f64.powi(2) + 1.0) / 12.0;
                let yields = 1.0 / 0.03 + 1.0 / mass + lever * lever / inertia;
                let impulse = (1.0 + restitution) * velocity.x / yields;
                let (ball, plate) = (scene.body(ball), scene.body(plate));
                let left = ball.linear_velocity().x - velocity.x + impulse / 0.03;
                let pushed = plate.linear_velocity().x - impulse / mass;
                let turned = plate.angular_velocity().z + lever * impulse / inertia;
                for error in [left, pushed, turned] {
                    track_worst(&mut worst, error.abs() / SPEED);
                }
                let after = scene.world.momentum();
                assert_below(
                    (after.linear - before.linear).length(),
                    1e-12 * momentum_scale(&scene),
                );
            }
            eprintln!("plate of {mass} kg at {lever} m, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn two_bullets_that_fly_at_each_other_collide() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut worst = 0.0;
        for phase in 0..12 {
            let mut scene = zero_gravity(restitution, 0.0);
            let shape = Shape::sphere(0.01).unwrap();
            let masses = [0.03, 0.05];
            let speeds = [SPEED, -0.8 * SPEED];
            let balls = [0, 1].map(|n| {
                let place = [-3.0, 3.0 + 0.31 * f64::from(phase)][n];
                let ball = solid(&scene, shape.clone()).mass(masses[n]);
                scene.add(ball.position(Vec3::X * place).velocity(Vec3::X * speeds[n]))
            });
            scene.run(10, |_| {});
            let expected = central_impact(masses, speeds, restitution);
            for (ball, speed) in balls.into_iter().zip(expected) {
                let found = scene.body(ball).linear_velocity();
                track_worst(&mut worst, (found - Vec3::X * speed).length() / SPEED);
            }
        }
        eprintln!("two bullets, e = {restitution}: {worst:e}");
        assert_below(worst, 1e-12);
    }
}

#[test]
fn a_plate_that_flies_at_another_is_stopped_and_one_that_flies_past_is_not() {
    let half = Vec3::new(0.0025, 0.5, 0.5);
    for (restitution, phase) in [(0.0, 0), (0.0, 1), (0.5, 2), (0.5, 3), (1.0, 1), (1.0, 3)] {
        let mut scene = zero_gravity(restitution, 0.5);
        scene.wall(half, Vec3::ZERO);
        let flyer = scene.brick(half).velocity(Vec3::X * 300.0);
        let flyer = scene.add(flyer.position(Vec3::X * (-3.0 - 0.33 * f64::from(phase))));
        scene.run(6, |world| assert!(world.body(flyer).unwrap().position().x < -0.005 + 1e-6));
        let away = scene.body(flyer).linear_velocity();
        assert_below((away + Vec3::X * (300.0 * restitution)).length(), 1e-6);
    }
    // In its own plane, a tenth of a millimeter away.
    let mut scene = zero_gravity(0.5, 0.5);
    scene.wall(half, Vec3::ZERO);
    let velocity = Vec3::Y * 300.0;
    let flyer = scene.brick(half).velocity(velocity);
    let flyer = scene.add(flyer.position(Vec3::new(0.0051, -4.0, 0.0)));
    scene.run(10, |world| {
        assert_eq!(world.body(flyer).unwrap().linear_velocity(), velocity);
        assert!(world.events().hits().is_empty());
    });
}

#[test]
fn a_bullet_that_grazes_an_edge_or_a_corner_bounces_or_flies_past() {
    // Aimed near the edge of a small plate: it bounces or flies past, and never ends inside.
    let half = Vec3::new(0.0025, 0.05, 0.05);
    let plate = Shape::cuboid(half).unwrap();
    let mut bounced = 0;
    for seed in 0..300 {
        let rng = &mut Rng::new(seed);
        let mut scene = zero_gravity(1.0, 0.0);
        let def = BodyDef::environment(plate.clone()).material(scene.material);
        scene.add(def);
        let aim = Vec3::new(0.0, rng.range(0.03, 0.07), rng.range(0.03, 0.07));
        let velocity = Vec3::new(1.0, rng.range(-1.0, 1.0), rng.range(-1.0, 1.0)) * SPEED;
        let ball = solid(&scene, Shape::sphere(0.01).unwrap()).velocity(velocity);
        let ball = scene.add(ball.position(aim - velocity * rng.range(0.003, 0.02)));
        scene.run(4, |_| {});
        let ball = scene.body(ball);
        let (place, v) = (ball.position(), ball.linear_velocity());
        bounced += i32::from(v != velocity);
        assert_below((v.length() / velocity.length() - 1.0).abs(), 1e-12);
        // Traced backwards, its exit path does not cross the plate.
        let closest = (0..4000)
            .map(|n| place - v * (f64::from(n) * 1e-5))
            .map(|p| (p.abs() - half).max(Vec3::ZERO).length());
        let through = closest.fold(f64::INFINITY, f64::min);
        assert!(v != velocity || through > 0.01 - 1e-6, "seed {seed}: it passed at {through}");
    }
    assert!((20..280).contains(&bounced), "{bounced} of 300 bounced");
}
