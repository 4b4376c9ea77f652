//! Joints: pendulums, ropes, springs, chains.

use std::f64::consts::TAU;

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, JointDef};

use super::{fastest, swept};
use crate::scene::{DT, G, Scene, assert_below, assert_near};

fn bob() -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.05).unwrap()).mass(1.0)
}

fn hook(scene: &mut Scene) -> BodyId {
    scene.add(BodyDef::environment(Shape::sphere(0.05).unwrap()))
}

/// Returns the mean period of an oscillation about zero, over some periods, s.
fn period(scene: &mut Scene, periods: usize, place: impl Fn(&Scene) -> f64) -> f64 {
    let (mut before, mut times) = (place(scene), Vec::new());
    while times.len() <= 2 * periods {
        scene.step();
        let now = place(scene);
        if (before < 0.0) != (now < 0.0) {
            times.push(scene.world.time() - scene.dt * now / (now - before));
        }
        before = now;
        assert!(scene.world.time() < 100.0);
    }
    (times[2 * periods] - times[0]) / periods as f64
}

#[test]
fn a_rod_pendulum_keeps_its_length_and_period() {
    // At 10 degrees: T = 2 pi sqrt(l / g) (1 + a^2 / 16) with a = 0.1745.
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let (sin, cos) = 10_f64.to_radians().sin_cos();
    let id = scene.add(bob().position(Vec3::new(2.0 * sin, 0.0, -2.0 * cos)));
    scene.world.add_joint(JointDef::rod(top, id, 2.0)).unwrap();
    let found = period(&mut scene, 5, |scene| scene.body(id).position().x);
    assert_near(found, TAU * (2.0 / G).sqrt() * (1.0 + 0.17453_f64.powi(2) / 16.0), 0.01);
    assert_near(scene.body(id).position().length(), 2.0, 1e-3);
}

#[test]
fn a_rod_released_horizontally_keeps_its_length() {
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let id = scene.add(bob().position(Vec3::X * 2.0));
    scene.world.add_joint(JointDef::rod(top, id, 2.0)).unwrap();
    let mut worst = 0.0_f64;
    let mut lowest = 0.0_f64;
    scene.run(600, |world| {
        let place = world.body(id).unwrap().position();
        worst = worst.max((place.length() - 2.0).abs());
        lowest = lowest.min(place.z);
    });
    // Gaps are measured along a direction that is frozen over a step: at 6.3 m/s it turns by 0.05
    // rad meanwhile, which is l (1 - cos 0.05) = 3 mm, and a step corrects less than half of it.
    assert_below(worst, 0.01);
    assert_below(lowest, -1.9);
}

#[test]
fn a_ball_joint_holds_its_anchors_together() {
    // A bar of 1 m hung at its end, released horizontally.
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let bar = scene.brick(Vec3::new(0.5, 0.05, 0.05)).position(Vec3::X * 0.5);
    let bar = scene.add(bar);
    scene.world.add_joint(JointDef::ball(top, bar).anchors(Vec3::ZERO, Vec3::X * -0.5)).unwrap();
    let mut worst = 0.0_f64;
    scene.run(600, |world| {
        let end = world.body(bar).unwrap().pose().transform_point(Vec3::X * -0.5);
        worst = worst.max(end.length());
    });
    assert_below(worst, 0.01);
}

#[test]
fn a_rope_never_exceeds_its_length() {
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let id = scene.add(bob().position(Vec3::X * 0.5));
    scene.world.add_joint(JointDef::rope(top, id, 2.0)).unwrap();
    let mut longest = 0.0_f64;
    scene.run(600, |world| longest = longest.max(world.body(id).unwrap().position().length()));
    assert!(longest > 1.99, "it ends taut");
    assert_below(longest, 2.02);
}

#[test]
fn a_mass_on_a_spring_has_the_exact_period() {
    // T = 2 pi sqrt(m / k) = 0.6283 s about its equilibrium length: 1 m + m g / k.
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let rest = 1.0 + G / 100.0;
    let id = scene.add_at(-rest - 0.1, bob());
    scene.world.add_joint(JointDef::spring(top, id, 1.0, 100.0, 0.0)).unwrap();
    let found = period(&mut scene, 10, |scene| scene.body(id).position().z + rest);
    assert_near(found, TAU * 0.1, 0.01);
    // The amplitude of 0.1 m has barely changed by then.
    let body = scene.body(id);
    let amplitude = (body.position().z + rest).hypot(body.linear_velocity().z * 0.1);
    assert_near(amplitude, 0.1, 0.02);
}

#[test]
fn a_damped_spring_comes_to_rest_at_equilibrium() {
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let id = scene.add_at(-1.5, bob());
    scene.world.add_joint(JointDef::spring(top, id, 1.0, 100.0, 5.0)).unwrap();
    scene.run(600, |_| {});
    assert_near(scene.body(id).position().z, -1.0 - G / 100.0, 1e-6);
}

#[test]
fn a_joint_impulse_is_the_weight_that_hangs_on_it() {
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let kinds: [fn(BodyId, BodyId) -> JointDef; 4] = [
        |a, b| JointDef::rod(a, b, 1.0),
        |a, b| JointDef::rope(a, b, 1.0),
        |a, b| JointDef::ball(a, b).anchors(Vec3::Z * -1.0, Vec3::ZERO),
        |a, b| JointDef::spring(a, b, 1.0 - 2.0 * G / 1000.0, 1000.0, 10.0),
    ];
    for kind in kinds {
        let id = scene.add_at(-1.0, bob().mass(2.0));
        let joint = scene.world.add_joint(kind(top, id)).unwrap();
        scene.run(300, |_| {});
        let impulse = scene.world.joint_impulse(joint).unwrap();
        assert_near(impulse.z, 2.0 * G * scene.dt, 0.01);
        scene.world.remove_body(id).unwrap();
    }
}

/// Returns how much lower than its length a chain of 40 links of 0.2 m and 1 kg hangs, m.
fn sag() -> f64 {
    let mut scene = swept(0.0, 0.5);
    let top = hook(&mut scene);
    let mut last = (top, Vec3::ZERO);
    let mut links = Vec::new();
    for n in 0..40 {
        let link = scene.brick(Vec3::new(0.02, 0.02, 0.1));
        let link = scene.add_at(-0.1 - 0.2 * f64::from(n), link);
        let joint = JointDef::ball(last.0, link).anchors(last.1, Vec3::Z * 0.1);
        scene.world.add_joint(joint).unwrap();
        last = (link, Vec3::Z * -0.1);
        links.push(link);
    }
    scene.run(1200, |_| {});
    assert_below(fastest(&scene), 1e-3);
    let end = scene.body(links[39]).pose().transform_point(Vec3::Z * -0.1);
    assert_below(end.truncate().length(), 1e-6);
    -8.0 - end.z
}

#[test]
fn a_hanging_chain_sags_by_the_compliance_of_its_joints() {
    // A joint that carries n links yields n g h^2 / (w p^2), where w is its effective mass, half a
    // link between two of them and a whole one at the hook, like a spring of p = pi / 2 radians in
    // a substep h: 11 cm in total.
    let (h, p) = (DT / 4.0, 0.25 * TAU);
    let load: f64 = (1..40).map(|n| 2.0 * f64::from(n)).sum::<f64>() + 40.0;
    assert_near(sag(), load * G * h * h / (p * p), 1e-6);
}

#[test]
#[ignore = "known limit: joints yield, and the chain hangs 11 cm low"]
fn a_hanging_chain_does_not_sag() {
    // As in exact worlds, to a thousandth of a link.
    assert_below(sag().abs(), 2e-4);
}
