//! Projectiles, free rotation, single hits.

use msd_sim::BodyDef;
use msd_sim::geometry::Shape;
use msd_sim::math::{Vec3, rotation};

use crate::audited_scene::{AuditedScene, DT, assert_near, ball, block, material};

#[test]
fn a_projectile_flies_the_exact_parabola() {
    let mut scene = AuditedScene::new().passive();
    let start = Vec3::new(1.0, 2.0, 3.0);
    let velocity = Vec3::new(3.0, 4.0, 12.0);
    let id = scene.add(ball(0.5, 0.5).position(start).velocity(velocity));
    for n in 1..=120 {
        scene.step();
        let t = f64::from(n) * DT;
        let exact = start + velocity * t - Vec3::Z * (4.905 * t * t);
        assert!((scene.position(id) - exact).length() <= 1e-9);
    }
}

#[test]
fn a_symmetric_body_precesses_about_its_angular_momentum() {
    // I_1 = 0.8333, I_3 = 0.1667, L = (0.8333, 0, 0.8333): |L| / I_1 = sqrt 2 rad/s, 14.14 rad.
    let mut scene = AuditedScene::weightless();
    let def = block(Vec3::new(0.5, 0.5, 1.5), 0.5, 0.5);
    let id = scene.add(def.angular_velocity(Vec3::new(1.0, 0.0, 5.0)));
    let momentum = scene.world.momentum().angular;
    let rate = momentum.length() / (2.5 / 3.0);
    for n in 1..=600 {
        scene.step();
        let turned = rotation(momentum.normalize(), rate * f64::from(n) * DT);
        let angle = scene.body(id).pose().z_axis().angle_between(turned * Vec3::Z);
        assert!(angle <= 1e-4, "off by {angle:e} rad after {n} steps");
    }
}

#[test]
fn a_box_spun_about_its_middle_axis_flips_at_the_exact_times() {
    // Jacobi's solution: first flip at 2.767 s, then one every 6.451 s.
    let mut scene = AuditedScene::weightless();
    let def = block(Vec3::new(0.5, 1.0, 1.5), 0.5, 0.5);
    let id = scene.add(def.angular_velocity(Vec3::new(0.01, 5.0, 0.01)));
    let (energy, momentum) = (scene.energy(), scene.world.momentum().angular);
    let about_middle = |scene: &AuditedScene| {
        let body = scene.body(id);
        body.pose().inverse_transform_vector(body.angular_velocity()).y
    };
    let (mut before, mut flips) = (about_middle(&scene), Vec::new());
    for n in 0..3600 {
        scene.step();
        let now = about_middle(&scene);
        if (now < 0.0) != (before < 0.0) {
            flips.push((f64::from(n) + before / (before - now)) * DT);
        }
        before = now;
        assert_near(scene.energy(), energy, 1e-6);
        let drift = (scene.world.momentum().angular - momentum).length();
        assert!(drift <= 1e-6 * momentum.length(), "angular momentum off by {drift:e}");
    }
    assert_eq!(flips.len(), 9, "{flips:?}");
    assert_near(flips[0], 2.767, 1e-3);
    for pair in flips.windows(2) {
        assert_near(pair[1] - pair[0], 6.451, 1e-3);
    }
}

#[test]
fn a_ball_that_hits_a_rod_off_center_turns_it() {
    // I = (1 + 0.05^2) / 3; J = 2 / (1 + 1 + 0.8^2 / I) = 0.5108280255.
    let mut scene = AuditedScene::weightless();
    let rod = scene.add(block(Vec3::new(1.0, 0.05, 0.05), 1.0, 0.0));
    let sphere = BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(1.0);
    let sphere = sphere.material(material(1.0, 0.0)).velocity(Vec3::Y);
    let sphere = scene.add(sphere.position(Vec3::new(0.8, -0.3, 0.0)));
    scene.seconds(0.5);
    assert_near(scene.velocity(sphere).y, 0.4891719745, 1e-8);
    assert_near(scene.velocity(rod).y, 0.5108280255, 1e-8);
    assert_near(scene.spin(rod).z, 1.2229299363, 1e-8);
}
