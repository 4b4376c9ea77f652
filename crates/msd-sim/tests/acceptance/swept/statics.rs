//! Inclines, stacks and weights at rest.

use msd_sim::math::{Pose, Quat, Vec3, rotation};
use msd_sim::{BodyDef, BodyId};

use super::{fastest, pile, swept};
use crate::scene::{G, Scene, assert_below, assert_near, incline_acceleration, stop_distance};

/// Builds a scene with a floor that descends towards +x, its top through the origin, and a cube on
/// it.
fn incline(degrees: f64, friction: f64) -> (Scene, BodyId, Quat) {
    let mut scene = swept(0.0, friction);
    let turn = rotation(Vec3::Y, degrees.to_radians());
    let floor = msd_sim::geometry::Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap();
    let floor = BodyDef::environment(floor).material(scene.material);
    scene.add(floor.pose(Pose::new(turn * (Vec3::Z * -0.5), turn)));
    let cube = scene.cube().pose(Pose::new(turn * (Vec3::Z * 0.5), turn));
    let cube = scene.add(cube);
    (scene, cube, turn)
}

#[test]
fn a_cube_stays_on_a_gentle_incline() {
    // tan 20 deg = 0.364 < 0.6.
    let (mut scene, cube, turn) = incline(20.0, 0.6);
    scene.run(60, |_| {});
    let settled = scene.body(cube).position();
    scene.run(540, |_| {});
    let down = turn * Vec3::X;
    let crept = (scene.body(cube).position() - settled).dot(down);
    // Rows act at positions that are frozen over a step, and friction constrains velocity, not
    // position.
    assert_below(crept.abs(), 1e-4);
    assert_below(fastest(&scene), 1e-4);
}

#[test]
fn a_cube_slides_down_a_steep_incline() {
    // a = g (sin 45 - 0.3 cos 45) = 4.856 m/s^2, from half a second on so that landing is over.
    let (mut scene, cube, turn) = incline(45.0, 0.3);
    let down = turn * Vec3::X;
    scene.run(30, |_| {});
    let before = scene.body(cube).linear_velocity().dot(down);
    scene.run(60, |_| {});
    let gained = scene.body(cube).linear_velocity().dot(down) - before;
    assert_near(gained, incline_acceleration(45_f64.to_radians(), 0.3), 0.01);
    assert_below(scene.body(cube).angular_velocity().length(), 1e-3);
}

#[test]
fn a_sliding_cube_stops_after_the_exact_distance() {
    // v^2 / (2 mu g) = 2.548 m.
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube().velocity(Vec3::X * 5.0);
    let cube = scene.add_at(0.5, cube);
    scene.run(180, |_| {});
    assert_near(scene.body(cube).position().x, stop_distance(5.0, 0.5), 0.01);
    assert_below(scene.body(cube).position().y.abs(), 1e-6);
    assert_below(fastest(&scene), 1e-6);
}

#[test]
fn ten_cubes_stand_on_each_other() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cubes: Vec<_> = (0..10).map(|n| scene.add_at(0.5 + f64::from(n), cube.clone())).collect();
    scene.run(600, |_| {});
    for (n, &id) in cubes.iter().enumerate() {
        let off = scene.body(id).position() - Vec3::Z * (0.5 + n as f64);
        // Of 10 mm for the whole stack.
        assert_below(off.length(), 0.01);
    }
    assert_below(fastest(&scene), 1e-3);
}

#[test]
fn the_floor_carries_the_weight() {
    // At rest the floor gives M g dt in every step, however the pile lies.
    let mut scene = swept(0.0, 0.6);
    let floor = scene.floor();
    pile(&mut scene, 150, 0.3);
    scene.run(600, |_| {});
    let mass: f64 = scene.world.bodies().map(|body| body.mass()).sum();
    let mut carried = Vec3::ZERO;
    let steps = 60;
    scene.run(steps, |world| {
        // The floor has the smaller index, so the impulse on B is the one that it carries.
        let on_floor = world.contacts().filter(|contact| contact.a() == floor);
        carried += on_floor.map(|contact| contact.impulse()).sum::<Vec3>();
    });
    let weight = mass * G * scene.dt * steps as f64;
    assert_near(carried.z, weight, 0.01);
    assert_below(carried.truncate().length(), 0.01 * weight);
}

#[test]
fn each_cube_of_a_stack_carries_the_cubes_above() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    for n in 0..5 {
        scene.add_at(0.5 + f64::from(n), cube.clone());
    }
    scene.run(300, |_| {});
    let contacts: Vec<_> = scene.world.contacts().map(|contact| contact.impulse()).collect();
    assert_eq!(contacts.len(), 5);
    for (n, impulse) in contacts.into_iter().enumerate() {
        assert_near(impulse.z, (5 - n) as f64 * G * scene.dt, 0.01);
        assert_below(impulse.truncate().length(), 0.01 * G * scene.dt);
    }
}
