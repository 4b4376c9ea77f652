//! Spinning, rolling and tipping bodies.

use msd_sim::BodyDef;
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;

use super::{fastest, swept, weightless};
use crate::scene::{DT, G, assert_below, assert_near};

#[test]
fn a_ball_spins_on_ice_without_moving() {
    for axis in [Vec3::X, Vec3::Z, Vec3::new(0.6, 0.0, 0.8)] {
        let mut scene = swept(0.0, 0.0);
        scene.floor();
        let ball = scene.ball().angular_velocity(axis * 50.0);
        let ball = scene.add_at(0.5, ball);
        let mut off = 0.0_f64;
        scene.run(120, |world| {
            off = off.max((world.body(ball).unwrap().position() - Vec3::Z * 0.5).length());
        });
        assert_below(off, 1e-3);
        assert_below((scene.body(ball).angular_velocity() - axis * 50.0).length(), 1e-6);
    }
}

#[test]
fn a_skidding_ball_ends_rolling() {
    // It keeps 5/7 of its speed for any friction: angular momentum about the floor is conserved.
    let mut scene = swept(0.0, 0.3);
    scene.floor();
    let ball = scene.ball().velocity(Vec3::X * 7.0);
    let ball = scene.add_at(0.5, ball);
    scene.run(180, |_| {});
    let body = scene.body(ball);
    assert_near(body.linear_velocity().x, 5.0, 0.01);
    assert_near(body.angular_velocity().y, 10.0, 0.01);
    assert_below(body.linear_velocity().z.abs(), 0.02);
    assert_near(body.position().z, 0.5, 1e-3);
}

#[test]
fn a_ball_rolls_down_an_incline_at_five_sevenths_of_the_sliding_acceleration() {
    let mut scene = swept(0.0, 0.8);
    let turn = msd_sim::math::rotation(Vec3::Y, 20_f64.to_radians());
    let floor = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap();
    let floor = BodyDef::environment(floor).material(scene.material);
    scene.add(floor.pose(msd_sim::math::Pose::new(turn * (Vec3::Z * -0.5), turn)));
    let ball = scene.ball().position(turn * (Vec3::Z * 0.5));
    let ball = scene.add(ball);
    scene.run(120, |_| {});
    let speed = scene.body(ball).linear_velocity().dot(turn * Vec3::X);
    assert_near(speed, 5.0 / 7.0 * G * 20_f64.to_radians().sin() * 2.0, 0.01);
}

#[test]
fn fast_spinning_boxes_gain_no_energy() {
    let mut scene = swept(0.2, 0.5);
    scene.floor();
    for n in 0..10 {
        let body = scene.brick(Vec3::new(0.5, 0.1, 0.3)).angular_velocity(Vec3::new(1e4, 3e3, 1.0));
        scene.add(body.position(Vec3::new(0.8 * f64::from(n), 0.0, 1.0)));
    }
    let first = scene.energy();
    for _ in 0..300 {
        scene.step();
        assert!(scene.energy() < 1.001 * first, "{} J of {first} J", scene.energy());
    }
}

#[test]
fn a_tilted_cube_falls_on_its_face() {
    // By 40 degrees about an edge: less than 45, so it falls back onto its original face.
    let mut scene = swept(0.0, 0.8);
    scene.floor();
    let angle = 40_f64.to_radians();
    let height = 0.5_f64.sqrt() * (angle + 45_f64.to_radians()).sin();
    let cube = scene.cube().orientation(msd_sim::math::rotation(Vec3::Y, angle));
    let cube = scene.add_at(height, cube);
    scene.run(300, |_| {});
    assert_below(crate::scene::tilt(&scene.body(cube)), 1e-3);
    assert_below(fastest(&scene), 1e-3);
    assert_near(scene.body(cube).position().z, 0.5, 2e-3);
}

#[test]
fn a_ball_on_a_rotating_ball_rotates_the_other_way() {
    // A kinematic ball rotates about a horizontal axis, and smooth walls keep another ball on top
    // of it: it rotates as fast, the other way.
    let mut scene = swept(0.0, 0.5);
    let roller = Shape::sphere(0.5).unwrap();
    let roller = BodyDef::environment(roller).material(scene.material);
    scene.add(roller.angular_velocity(Vec3::X * 5.0));
    let smooth = msd_sim::Material::new(0.0, 0.0).unwrap();
    for side in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
        let wall = Shape::cuboid(Vec3::splat(0.5)).unwrap();
        let wall = BodyDef::environment(wall).material(smooth);
        scene.add(wall.position(side * 1.0001 + Vec3::Z * 1.5));
    }
    let ball = scene.ball();
    let ball = scene.add_at(1.0, ball);
    scene.run(300, |_| {});
    assert_below((scene.body(ball).position() - Vec3::Z).length(), 5e-3);
    assert_near(scene.body(ball).angular_velocity().x, -5.0, 0.01);
}

#[test]
fn a_turning_rod_hits_a_small_ball_whichever_was_added_first() {
    // A rod of 2 m turns at 1 rad/s about its center, beside which nothing moves. A ball of 4 cm stands 0.8 m from that
    // center, 0.5 rad ahead. Whether the last separation still holds was once judged by how far the points of the
    // smaller body move relative to the center of the other, which is not at all if the ball is body A: the rod then
    // passed through it.
    for rod_first in [true, false] {
        let mut scene = weightless(0.0, 0.0);
        let rod = Shape::cuboid(Vec3::new(1.0, 0.02, 0.02)).unwrap();
        let rod = BodyDef::inertial(rod).mass(1.0).material(scene.material);
        let rod = rod.angular_velocity(Vec3::Z);
        let (sin, cos) = (0.5_f64.sin(), 0.5_f64.cos());
        let ball = BodyDef::environment(Shape::sphere(0.04).unwrap()).material(scene.material);
        let ball = ball.position(Vec3::new(cos, sin, 0.0) * 0.8);
        let mut hit_at = None;
        let defs = if rod_first { [rod, ball] } else { [ball, rod] };
        for def in defs {
            scene.add(def);
        }
        for step in 0..120 {
            scene.step();
            let begun = !scene.world.events().begun().is_empty();
            hit_at = hit_at.or(begun.then_some(f64::from(step) * DT));
        }
        // The surfaces meet when the rod has 0.04 + 0.02 m left at the ball: after 0.5 - asin(0.06 / 0.8) rad.
        let expected = 0.5 - (0.06_f64 / 0.8).asin();
        let hit_at = hit_at.expect("the rod hits the ball");
        assert_near(hit_at, expected, 2.0 * DT);
    }
}
