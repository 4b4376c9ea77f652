//! Bodies at rest stay at rest.

use msd_sim::math::{Vec3, rotation};
use msd_sim::{BodyId, Settings};

use crate::scene::{DT, EnergyWatch, G, Scene, assert_below, tilt};

#[test]
fn a_cube_on_the_floor_stays_where_it_is() {
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(1000, |world| {
        watch.check(world);
        let body = world.body(cube).unwrap();
        assert_below((body.position() - Vec3::Z * 0.5).length(), 1e-3);
        assert_below(tilt(&body).to_degrees(), 0.1);
        assert_below(body.linear_velocity().length(), 1e-3);
    });
}

fn assert_stack_stands(count: usize) {
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    let places: Vec<Vec3> = (0..count).map(|i| Vec3::Z * (0.5 + i as f64)).collect();
    let cubes: Vec<BodyId> = places
        .iter()
        .map(|&place| {
            let cube = scene.cube().position(place);
            scene.add(cube)
        })
        .collect();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(1000, |world| {
        watch.check(world);
        // No overlap is left on purpose: the only slop is the 1e-9 of a body's size below which a
        // position is not corrected. A thousandth of the allowed drift is far more.
        assert_below(world.report().max_penetration.unwrap(), 5e-6);
        for (&cube, &place) in cubes.iter().zip(&places) {
            assert_below((world.body(cube).unwrap().position() - place).length(), 5e-3);
        }
    });
}

#[test]
fn a_stack_of_two_cubes_stands() {
    assert_stack_stands(2);
}

#[test]
fn a_stack_of_five_cubes_stands() {
    assert_stack_stands(5);
}

#[test]
fn a_stack_of_ten_cubes_stands() {
    assert_stack_stands(10);
}

/// Builds a scene with a cube on the floor with one face against a wall, in the given gravity.
fn cornered(gravity: Vec3, friction: f64) -> (Scene, BodyId, [BodyId; 2]) {
    let settings = Settings { gravity, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.5, friction);
    let floor = scene.floor();
    let wall = scene.wall(Vec3::new(0.5, 5.0, 5.0), Vec3::new(1.0, 0.0, 5.0));
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    (scene, cube, [floor, wall])
}

#[test]
fn a_cube_in_a_corner_touches_floor_and_wall_and_stays() {
    // Vertical gravity, and a gravity that also presses the cube against the wall.
    for gravity in [Vec3::new(0.0, 0.0, -G), Vec3::new(3.0, 0.0, -G)] {
        let (mut scene, cube, sides) = cornered(gravity, 0.5);
        let mut watch = EnergyWatch::new(&scene.world);
        scene.run(600, |world| {
            watch.check(world);
            let body = world.body(cube).unwrap();
            assert_below((body.position() - Vec3::Z * 0.5).length(), 1e-3);
            assert_below(tilt(&body).to_degrees(), 0.1);
            assert_below(body.linear_velocity().length(), 1e-3);
            for side in sides {
                assert!(world.contacts().any(|contact| contact.a() == side && contact.b() == cube));
            }
        });
    }
}

#[test]
fn floor_and_wall_each_carry_their_component_of_the_weight() {
    let (mut scene, _, sides) = cornered(Vec3::new(3.0, 0.0, -G), 0.0);
    scene.run(60, |_| {});
    let weights = [Vec3::Z * G, Vec3::X * -3.0];
    for (side, weight) in sides.into_iter().zip(weights) {
        let contact = scene.world.contacts().find(|contact| contact.a() == side).unwrap();
        assert_below((contact.impulse() - weight * DT).length(), 1e-6 * G * DT);
    }
}

#[test]
fn a_nudged_cube_is_at_rest_again_within_fifty_steps() {
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(60, |_| {});
    let mut velocity = scene.body(cube).velocity();
    velocity.linear += Vec3::splat(0.01);
    scene.world.set_velocity(cube, velocity).unwrap();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(50, |world| watch.check(world));
    assert_below(scene.body(cube).linear_velocity().length(), 1e-3);
}

/// Asserts that a cube of 10 kg without restitution comes to rest.
fn assert_comes_to_rest(height: f64, dt: f64, friction: f64, degrees: f64) {
    let mut scene = Scene::new(0.0, friction);
    scene.dt = dt;
    scene.floor();
    let cube = scene.cube().mass(10.0).orientation(rotation(Vec3::Y, degrees.to_radians()));
    let cube = scene.add_at(height, cube);
    let mut watch = EnergyWatch::new(&scene.world);
    for _ in 0..500 {
        scene.step();
        watch.check(&scene.world);
        // A tilted cube must turn to fall flat: 10 kg that sink 17 mm release 1.7 J.
        if degrees == 0.0 {
            assert_below(scene.rotational_energy(cube), 1e-6);
        }
        let z = scene.body(cube).position().z;
        assert!(z > 0.45, "z = {z}");
    }
    assert_below(scene.rotational_energy(cube), 1e-6);
    assert_below(scene.body(cube).linear_velocity().length(), 1e-3);
}

#[test]
fn a_heavy_cube_on_the_floor_stays_at_rest() {
    assert_comes_to_rest(0.5, DT, 0.5, 0.0);
}

#[test]
fn a_heavy_cube_just_above_the_floor_comes_to_rest() {
    assert_comes_to_rest(0.501, DT, 0.5, 0.0);
}

#[test]
fn a_heavy_cube_rests_at_any_time_step() {
    for dt in [0.008, 0.016, 0.032] {
        assert_comes_to_rest(0.5, dt, 0.5, 0.0);
        assert_comes_to_rest(0.501, dt, 0.5, 0.0);
    }
}

#[test]
fn a_heavy_cube_tilted_on_ice_comes_to_rest() {
    let angle = 2f64.to_radians();
    assert_comes_to_rest(0.5 * (angle.sin() + angle.cos()), DT, 0.0, 2.0);
}

#[test]
fn a_heavy_cube_dropped_from_two_meters_comes_to_rest() {
    for dt in [0.008, 0.016, DT, 0.032] {
        assert_comes_to_rest(2.0, dt, 0.5, 0.0);
    }
}
