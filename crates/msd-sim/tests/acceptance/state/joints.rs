//! Joints: pendulums, ropes, springs, chains.

use std::f64::consts::{PI, TAU};

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef};

use crate::audited_scene::{AuditedScene, DT, G, assert_near, block};

/// Returns a small ball of 1 kg that collides with nothing near.
fn bob() -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.05).unwrap()).mass(1.0)
}

fn hook(scene: &mut AuditedScene, place: Vec3) -> BodyId {
    scene.add(BodyDef::environment(Shape::sphere(0.05).unwrap()).position(place))
}

/// Returns the arithmetic-geometric mean.
fn mean(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// Returns the mean period of a body that swings through x = 0, over some periods, s.
fn period(scene: &mut AuditedScene, id: BodyId, periods: usize) -> f64 {
    let (mut before, mut times) = (scene.position(id).x, Vec::new());
    while times.len() <= 2 * periods {
        scene.step();
        let now = scene.position(id).x;
        if (before < 0.0) != (now < 0.0) {
            times.push(scene.world.time() - DT * now / (now - before));
        }
        before = now;
        assert!(scene.world.time() < 100.0);
    }
    (times[2 * periods] - times[0]) / periods as f64
}

#[test]
fn a_rod_pendulum_has_the_exact_period_at_every_amplitude() {
    // T = 2 pi sqrt(l / g) / agm(1, cos(amplitude / 2)).
    for degrees in [5.0_f64, 45.0, 90.0] {
        let amplitude = degrees.to_radians();
        let mut scene = AuditedScene::new();
        let top = hook(&mut scene, Vec3::ZERO);
        let (sin, cos) = amplitude.sin_cos();
        let id = scene.add(bob().position(Vec3::new(2.0 * sin, 0.0, -2.0 * cos)));
        scene.world.add_joint(JointDef::rod(top, id, 2.0)).unwrap();
        let energy = scene.energy();
        let exact = TAU * (2.0 / G).sqrt() / mean(1.0, (amplitude / 2.0).cos());
        assert_near(period(&mut scene, id, 4), exact, 1e-3);
        assert_near(scene.position(id).length(), 2.0, 1e-4);
        // Relative to the energy of its swing.
        let swing = G * 2.0 * (1.0 - cos);
        assert_near(swing + scene.energy() - energy, swing, 1e-2);
    }
}

#[test]
fn a_ball_joint_pendulum_swings_with_its_own_inertia() {
    // A rod of half length 1 hung by its end: I = m (1 + 0.05^2) / 3 + m 1^2, T = 2 pi sqrt(I / (m g)).
    let amplitude = 60.0_f64.to_radians();
    let mut scene = AuditedScene::new();
    let top = hook(&mut scene, Vec3::ZERO);
    let turn = rotation(Vec3::Y, -amplitude);
    let def = block(Vec3::new(0.05, 0.05, 1.0), 0.5, 0.5);
    let id = scene.add(def.pose(Pose::new(turn * -Vec3::Z, turn)));
    scene.world.add_joint(JointDef::ball(top, id).anchors(Vec3::ZERO, Vec3::Z)).unwrap();
    let energy = scene.energy();
    let inertia = (1.0 + 0.0025) / 3.0 + 1.0;
    let exact = TAU * (inertia / G).sqrt() / mean(1.0, (amplitude / 2.0).cos());
    assert_near(period(&mut scene, id, 4), exact, 1e-3);
    let anchor = scene.body(id).pose().transform_point(Vec3::Z);
    assert!(anchor.length() < 1e-4, "the joint has a gap of {:e} m", anchor.length());
    assert_near(5.0 + scene.energy() - energy, 5.0, 1e-2);
}

#[test]
fn a_rope_is_slack_until_it_is_taut() {
    let mut scene = AuditedScene::new().passive();
    let top = hook(&mut scene, Vec3::ZERO);
    let id = scene.add(bob());
    let rope = scene.world.add_joint(JointDef::rope(top, id, 2.0)).unwrap();
    // It falls freely for sqrt(2 l / g) = 0.6386 s.
    for n in 1..=38 {
        scene.step();
        let t = f64::from(n) * DT;
        assert_near(scene.position(id).z, -0.5 * G * t * t, 1e-9);
        assert_eq!(scene.world.joint_impulse(rope).unwrap(), Vec3::ZERO);
    }
    for _ in 0..240 {
        scene.step();
        assert!(scene.position(id).z >= -2.0 * (1.0 + 1e-3), "{}", scene.position(id).z);
    }
    assert_near(scene.position(id).z, -2.0, 1e-6);
    assert_near(scene.world.joint_impulse(rope).unwrap().z / DT, G, 1e-6);
    assert!(scene.speed() < 1e-6);
}

#[test]
fn a_mass_on_a_spring_has_the_exact_period_and_keeps_its_energy() {
    // sqrt(k / m) = 10: T = 0.628319 s. Along x, without gravity.
    let mut scene = AuditedScene::weightless();
    let top = hook(&mut scene, Vec3::new(-1.0, 0.0, 0.0));
    let id = scene.add(bob().position(Vec3::X * 0.3));
    scene.world.add_joint(JointDef::spring(top, id, 1.0, 100.0, 0.0)).unwrap();
    assert_near(scene.energy(), 4.5, 1e-12);
    assert_near(period(&mut scene, id, 10), TAU / 10.0, 1e-3);
    assert_near(scene.energy(), 4.5, 1e-2);
}

#[test]
fn a_damped_spring_decays_exactly() {
    // x'' + 2 x' + 100 x = 0: amplitude e^-t, period 2 pi / sqrt(99).
    let mut scene = AuditedScene::weightless();
    let top = hook(&mut scene, Vec3::new(-1.0, 0.0, 0.0));
    let id = scene.add(bob().position(Vec3::X * 0.3));
    scene.world.add_joint(JointDef::spring(top, id, 1.0, 100.0, 2.0)).unwrap();
    let omega = 99.0_f64.sqrt();
    for n in 1..=120 {
        scene.step();
        let t = f64::from(n) * DT;
        let (sin, cos) = (omega * t).sin_cos();
        let exact = 0.3 * (-t).exp() * (cos + sin / omega);
        let off = (scene.position(id).x - exact).abs();
        assert!(off < 3e-3, "off by {off:e} m at {t} s");
    }
}

#[test]
fn two_bodies_on_a_spring_oscillate_about_their_center_of_mass() {
    // 1/m' = 1 + 1/3: omega = sqrt(30 4/3).
    let mut scene = AuditedScene::weightless();
    let one = scene.add(bob().position(Vec3::new(0.9, 0.0, 0.0)));
    let two = scene.add(bob().mass(3.0).position(Vec3::new(-0.3, 0.0, 0.0)));
    scene.world.add_joint(JointDef::spring(two, one, 1.0, 30.0, 0.0)).unwrap();
    let mut crossings = Vec::new();
    let stretch = |scene: &AuditedScene| (scene.position(one) - scene.position(two)).length() - 1.0;
    let mut before = stretch(&scene);
    for _ in 0..600 {
        scene.step();
        let now = stretch(&scene);
        if (before < 0.0) != (now < 0.0) {
            crossings.push(scene.world.time() - DT * now / (now - before));
        }
        before = now;
        let middle = scene.position(one) + scene.position(two) * 3.0;
        assert!(middle.length() < 1e-12);
    }
    let last = crossings.len() - 1;
    assert_near((crossings[last] - crossings[0]) / last as f64, PI / 40.0_f64.sqrt(), 1e-3);
}

#[test]
fn a_hanging_chain_rests_in_balance() {
    // Ten masses on eleven ropes between two hooks: at rest the horizontal part of the tension is
    // the same in every rope, and the vertical part changes by one weight from rope to rope.
    let mut scene = AuditedScene::new();
    let (left, right) = (hook(&mut scene, Vec3::ZERO), hook(&mut scene, Vec3::X * 8.0));
    let mut links = vec![left];
    for n in 1..=10 {
        let place = Vec3::new(8.0 * f64::from(n) / 11.0, 0.0, 0.0);
        links.push(scene.add(bob().damping(1.0, 1.0).position(place)));
    }
    links.push(right);
    let ropes: Vec<_> = links
        .windows(2)
        .map(|pair| scene.world.add_joint(JointDef::rope(pair[0], pair[1], 1.0)).unwrap())
        .collect();
    scene.seconds(60.0);
    assert!(scene.speed() < 1e-6, "moves at {:e} m/s", scene.speed());
    let pulls: Vec<_> =
        ropes.iter().map(|&rope| scene.world.joint_impulse(rope).unwrap() / DT).collect();
    for pair in pulls.windows(2) {
        assert_near(pair[1].x, pulls[0].x, 1e-6);
        assert_near(pair[0].z - pair[1].z, G, 1e-6);
    }
    for pair in links.windows(2) {
        assert_near((scene.position(pair[1]) - scene.position(pair[0])).length(), 1.0, 1e-4);
    }
    // It is its own mirror image.
    for n in 1..=5 {
        let (a, b) = (scene.position(links[n]), scene.position(links[11 - n]));
        assert!((a.x + b.x - 8.0).abs() < 1e-6 && (a.z - b.z).abs() < 1e-6);
    }
}

#[test]
fn a_heavy_weight_hangs_from_light_links() {
    let mut scene = AuditedScene::new();
    let mut above = hook(&mut scene, Vec3::ZERO);
    for n in 1..=5 {
        let id = scene.add(bob().mass(0.01).position(Vec3::Z * (-0.5 * f64::from(n))));
        scene.world.add_joint(JointDef::rod(above, id, 0.5)).unwrap();
        above = id;
    }
    let weight = scene.add(bob().mass(100.0).position(Vec3::new(0.0, 0.0, -3.0)));
    let last = scene.world.add_joint(JointDef::rod(above, weight, 0.5)).unwrap();
    scene.seconds(5.0);
    assert_near(scene.position(weight).z, -3.0, 1e-6);
    assert_near(scene.world.joint_impulse(last).unwrap().z / DT, 100.0 * G, 1e-6);
}
