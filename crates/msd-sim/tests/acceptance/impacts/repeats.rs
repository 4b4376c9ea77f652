//! Determinism and symmetries: the same input gives the same bits, and neither order, mirror nor
//! scale changes the motion.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyId, Settings};

use super::{gas, solid, zero_gravity};
use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below};

fn dense_gas() -> Scene {
    let mut scene = zero_gravity(0.95, 0.3);
    gas(&mut scene, 20.0);
    scene
}

#[test]
fn repeated_and_restored_runs_end_in_the_same_bits() {
    let (mut one, mut two) = (dense_gas(), dense_gas());
    one.run(120, |_| {});
    two.run(60, |_| {});
    let middle = two.world.snapshot();
    assert!(two.world.report().impact_times > 0, "in the middle of impacts");
    two.run(60, |_| {});
    let end = one.world.state_hash();
    assert_eq!(two.world.state_hash(), end, "another run");
    two.world.restore(&middle);
    two.run(60, |_| {});
    assert_eq!(two.world.state_hash(), end, "after a restore");
    let mut other = dense_gas();
    other.run(17, |_| {});
    other.world.restore(&middle);
    other.run(60, |_| {});
    assert_eq!(other.world.state_hash(), end, "restored into another world");
}

/// Breaks 10 touching balls with one that flies in, added in some order, mirrored in y or not.
/// Returns the velocities.
fn break_up(order: &[usize], mirror: f64, restitution: f64, friction: f64) -> Vec<Vec3> {
    let mut scene = zero_gravity(restitution, friction);
    let mut places = vec![Vec3::new(-3.0, 0.1 * mirror, 0.0)];
    for row in 0..4 {
        for n in 0..=row {
            let y = (f64::from(n) - 0.5 * f64::from(row)) * mirror;
            places.push(Vec3::new(0.75_f64.sqrt() * f64::from(row), y, 0.0));
        }
    }
    let mut ids: Vec<Option<BodyId>> = vec![None; places.len()];
    for &n in order {
        let speed = if n == 0 { 9.0 } else { 0.0 };
        let ball = scene.ball().mass(1.0 + 0.1 * n as f64).velocity(Vec3::X * speed);
        ids[n] = Some(scene.add(ball.position(places[n])));
    }
    scene.run(40, |_| {});
    ids.into_iter().map(|id| scene.body(id.unwrap()).linear_velocity()).collect()
}

fn spread(one: &[Vec3], other: &[Vec3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn a_break_does_not_depend_on_the_order_of_bodies() {
    for (restitution, friction) in [(1.0, 0.0), (0.8, 0.0), (0.8, 0.3)] {
        let forward: Vec<usize> = (0..11).collect();
        let plain = break_up(&forward, 1.0, restitution, friction);
        let mut worst = 0.0_f64;
        for seed in 0..6 {
            let rng = &mut Rng::new(seed);
            let mut order = forward.clone();
            for n in (1..order.len()).rev() {
                order.swap(n, rng.index(n + 1));
            }
            worst = worst.max(spread(&plain, &break_up(&order, 1.0, restitution, friction)));
        }
        eprintln!("break in another order, e = {restitution}, mu = {friction}: {worst:e}");
        assert_below(worst / 9.0, 1e-9);
    }
}

#[test]
fn a_mirrored_break_is_the_mirror_image() {
    for (restitution, friction) in [(1.0, 0.0), (0.8, 0.0), (0.8, 0.3)] {
        let order: Vec<usize> = (0..11).collect();
        let plain = break_up(&order, 1.0, restitution, friction);
        let mirrored = break_up(&order, -1.0, restitution, friction);
        let mirrored: Vec<Vec3> = mirrored.iter().map(|v| *v * Vec3::new(1.0, -1.0, 1.0)).collect();
        let off = spread(&plain, &mirrored);
        eprintln!("mirrored break, e = {restitution}, mu = {friction}: {off:e}");
        assert_below(off / 9.0, 1e-9);
    }
}

#[test]
fn scaling_all_lengths_by_four_scales_the_motion_by_four() {
    // Velocities, gravity and all lengths times 4 at the same time step: a power of two changes
    // only exponents.
    let simulate = |unit: f64| {
        let defaults = Settings::default();
        let settings = Settings {
            gravity: defaults.gravity * unit,
            rest_speed: defaults.rest_speed * unit,
            position_correction_speed: defaults.position_correction_speed * unit,
            ..defaults
        };
        let mut scene = Scene::with(settings, 0.8, 0.3);
        scene.wall(Vec3::new(8.0, 8.0, 0.5) * unit, Vec3::Z * (-0.5 * unit));
        let rng = &mut Rng::new(7);
        for n in 0..12 {
            let shape = if n % 3 == 0 {
                Shape::cuboid(Vec3::new(0.2, 0.15, 0.1) * unit)
            } else {
                Shape::sphere(0.2 * unit)
            };
            let body = solid(&scene, shape.unwrap());
            let place = Vec3::new(f64::from(n % 4) * 0.5, f64::from(n / 4) * 0.5, 1.0);
            let body = body.velocity((rng.in_cube() * 6.0 - Vec3::Z * 3.0) * unit);
            scene.add(body.position((place + Vec3::Z * rng.range(0.0, 1.0)) * unit));
        }
        let mut states = Vec::new();
        let mut impact_times = 0;
        for _ in 0..90 {
            impact_times += scene.step().impact_times;
            for body in scene.world.bodies() {
                let (p, v) = (body.position() / unit, body.linear_velocity() / unit);
                states.extend([p.x, p.y, p.z, v.x, v.y, v.z].map(|x| x + 0.0));
            }
        }
        assert!(impact_times > 20, "{impact_times}");
        states
    };
    let plain = simulate(1.0);
    for unit in [4.0, 0.25] {
        let scaled = simulate(unit);
        let first = plain.iter().zip(&scaled).position(|(a, b)| a != b);
        assert_eq!(first, None, "of {} numbers, at {unit}", plain.len());
    }
}
