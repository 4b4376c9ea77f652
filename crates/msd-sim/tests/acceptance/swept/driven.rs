//! Moving environment bodies: belts, turntables, walls, lifts.

use std::f64::consts::TAU;

use msd_sim::BodyDef;
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3};

use super::swept;
use crate::scene::{DT, G, assert_below, assert_near};

#[test]
fn a_belt_accelerates_a_box_to_its_speed() {
    // It slides until it is as fast as the belt, for v / (mu g) = 0.408 s, and falls behind by v^2
    // / (2 mu g) = 0.408 m meanwhile.
    let mut scene = swept(0.0, 0.5);
    let belt = Shape::cuboid(Vec3::new(50.0, 2.0, 0.5)).unwrap();
    let belt = BodyDef::environment(belt).material(scene.material).velocity(Vec3::X * 2.0);
    let belt = scene.add_at(-0.5, belt);
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(180, |_| {});
    let behind = scene.body(belt).position().x - scene.body(cube).position().x;
    assert_near(behind, 4.0 / (2.0 * 0.5 * G), 0.02);
    assert_near(scene.body(cube).linear_velocity().x, 2.0, 1e-3);
    assert_near(scene.body(belt).position().x, 6.0, 1e-12);
}

/// Carries a box once around on a turntable of 1 rad/s, at 1.5 m. Returns the factor by which the
/// radius has grown.
fn radius_growth_per_turn(dt: f64) -> f64 {
    // At 1.5 m and 1 rad/s it needs 1.5 m/s^2 inwards; friction allows up to 5.9.
    let mut scene = swept(0.0, 0.6);
    scene.dt = dt;
    let table = Shape::cylinder(3.0, 0.25).unwrap();
    let table = BodyDef::environment(table).material(scene.material).angular_velocity(Vec3::Z);
    scene.add_at(-0.25, table);
    let cube = scene.brick(Vec3::splat(0.25)).velocity(Vec3::Y * 1.5).angular_velocity(Vec3::Z);
    let cube = scene.add(cube.position(Vec3::new(1.5, 0.0, 0.25)));
    let steps = (TAU / scene.dt).round() as usize;
    scene.run(steps, |_| {});
    let place = scene.body(cube).position();
    // The number of steps is rounded, and the angle is off by (w dt)^2 of itself.
    assert_below(place.y.atan2(place.x).abs(), 0.5 * dt + TAU * dt * dt);
    assert_near(scene.body(cube).angular_velocity().z, 1.0, dt * dt);
    place.truncate().length() / 1.5
}

#[test]
fn the_radius_error_of_a_box_on_a_turntable_is_first_order_in_the_step() {
    // In a step the box follows the tangent at its start, which leads outwards by r (w dt)^2 / 2 at
    // least: the radius grows as exp(c w^2 dt t). The error is of first order, so it vanishes in
    // the limit.
    let [whole, half] = [DT, 0.5 * DT].map(|dt| radius_growth_per_turn(dt).ln());
    assert!(whole > 0.5 * DT * TAU, "{whole}");
    assert_below((2.0 * half - whole).abs(), TAU * DT * DT);
}

#[test]
#[ignore = "known limit: the box drifts outwards by 7.0 % in a turn at 60 Hz, 5.4 % of which is along tangents"]
fn a_turntable_carries_a_box_around_at_constant_radius() {
    assert_near(radius_growth_per_turn(DT), 1.0, DT * DT);
}

#[test]
fn a_box_on_a_turntable_starts_and_stops_with_it() {
    let mut scene = swept(0.0, 0.6);
    let table = Shape::cylinder(3.0, 0.25).unwrap();
    let table = BodyDef::environment(table).material(scene.material);
    let table = scene.add_at(-0.25, table);
    let cube = scene.brick(Vec3::splat(0.25)).position(Vec3::new(1.0, 0.0, 0.25));
    let cube = scene.add(cube);
    scene.run(60, |_| {});
    let still = scene.body(cube).position();
    assert_below((still - Vec3::new(1.0, 0.0, 0.25)).length(), 1e-3);
    // The table starts to turn while the box rests on it.
    scene.world.set_velocity(table, SpatialVector::new(Vec3::ZERO, Vec3::Z)).unwrap();
    scene.run(60, |_| {});
    let body = scene.body(cube);
    let place = body.position();
    assert_near(body.angular_velocity().z, 1.0, 0.02);
    assert_near(
        body.linear_velocity().dot(Vec3::Z.cross(place)) / place.truncate().length_squared(),
        1.0,
        0.02,
    );
    // It stops, and so does the box.
    scene.world.set_velocity(table, SpatialVector::ZERO).unwrap();
    scene.run(120, |_| {});
    let velocity = scene.body(cube).velocity();
    assert_below(velocity.linear.length() + velocity.angular.length(), 1e-3);
}

#[test]
fn a_moving_wall_pushes_a_row_of_boxes() {
    let mut scene = swept(0.0, 0.3);
    scene.floor();
    let wall = Shape::cuboid(Vec3::new(0.25, 2.0, 1.0)).unwrap();
    let wall = BodyDef::environment(wall).material(scene.material).velocity(Vec3::X);
    let wall = scene.add(wall.position(Vec3::new(-1.5, 0.0, 1.05)));
    // Two in a row.
    let cubes = [0.0, 1.2].map(|x| {
        let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
        scene.add(cube)
    });
    scene.run(300, |_| {});
    let face = scene.body(wall).position().x + 0.25;
    assert_near(face, 3.75, 1e-9);
    for (n, id) in cubes.into_iter().enumerate() {
        let body = scene.body(id);
        assert_below((body.position().x - face - 0.5 - n as f64).abs(), 0.01);
        assert_near(body.linear_velocity().x, 1.0, 0.01);
        assert_below(body.position().y.abs(), 0.01);
    }
}

#[test]
fn a_lift_carries_its_load() {
    let mut scene = swept(0.0, 0.5);
    let lift = scene.wall(Vec3::new(2.0, 2.0, 0.5), Vec3::Z * -0.5);
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(30, |_| {});
    for speed in [1.0, -1.0] {
        scene.world.set_velocity(lift, SpatialVector::new(Vec3::Z * speed, Vec3::ZERO)).unwrap();
        scene.run(120, |_| {});
        let above = scene.body(cube).position().z - scene.body(lift).position().z;
        assert_near(above, 1.0, 5e-3);
        assert_near(scene.body(cube).linear_velocity().z, speed, 0.01);
    }
}

#[test]
fn a_floor_moved_by_set_pose_has_no_velocity() {
    // A floor that jumps down by 1 m has no velocity: the cube falls freely.
    let mut scene = swept(0.0, 0.5);
    let floor = scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(60, |_| {});
    let before = scene.body(cube).position().z;
    scene.world.set_pose(floor, Pose::at(Vec3::Z * -1.5)).unwrap();
    scene.run(12, |_| {});
    // g (12 dt)^2 / 2 = 0.196 m.
    let fallen = before - scene.body(cube).position().z;
    assert_near(fallen, 0.5 * G * 0.04, 0.01);
    scene.run(60, |_| {});
    assert_near(scene.body(cube).position().z, -0.5, 0.01);
}
