//! Sliding, spinning and rocking bodies come to rest.

use msd_sim::BodyId;
use msd_sim::math::{Vec3, rotation};

use crate::scene::{EnergyWatch, Scene, assert_below, assert_near, off_level, stop_distance, tilt};

/// Builds a scene with a cube tilted about y by an angle below 45 degrees, its lowest edge on the
/// floor.
fn tilted(restitution: f64, degrees: f64) -> (Scene, BodyId) {
    let angle = degrees.to_radians();
    let mut scene = Scene::new(restitution, 0.5);
    scene.floor();
    let cube = scene.cube().orientation(rotation(Vec3::Y, angle));
    let cube = scene.add_at(0.5 * (angle.sin() + angle.cos()), cube);
    (scene, cube)
}

/// Builds a scene with a cube on the floor, sliding along x.
fn sliding(speed: f64, friction: f64) -> (Scene, BodyId) {
    let mut scene = Scene::new(0.0, friction);
    scene.floor();
    let cube = scene.cube().velocity(Vec3::X * speed);
    let cube = scene.add_at(0.5, cube);
    (scene, cube)
}

#[test]
fn friction_stops_a_cube_that_spins_on_the_floor() {
    let mut scene = Scene::new(0.0, 0.5);
    scene.floor();
    let cube = scene.cube().angular_velocity(Vec3::Z * 10.0);
    let cube = scene.add_at(0.5, cube);
    let mut watch = EnergyWatch::new(&scene.world);
    // Weight on the corners, 0.707 m from the axis, slows it by at most 20.8 rad/s^2: 0.48 s;
    // spread evenly, by 11.3 rad/s^2: 0.89 s.
    scene.run(120, |world| watch.check(world));
    assert_below(scene.body(cube).angular_velocity().z.abs(), 0.01);
    assert_below(tilt(&scene.body(cube)), 1e-6);
}

#[test]
fn a_rocking_cube_rocks_less_in_every_cycle_until_it_is_flat() {
    let (mut scene, cube) = tilted(0.5, 15.0);
    let mut watch = EnergyWatch::new(&scene.world);
    // A cycle is from one greatest tilt to the next. While the edge about which it turned is still
    // on the floor, the impact of the other one sends it back up on the same side.
    let mut leans = vec![15f64.to_radians(); 2];
    let mut swings = vec![leans[0]];
    scene.run(500, |world| {
        watch.check(world);
        leans.push(tilt(&world.body(cube).unwrap()));
        let [before, top, after] = leans[leans.len() - 3..] else { unreachable!() };
        // Smaller swings at the end are rounding.
        if before < top && top >= after && top > 1e-9 {
            swings.push(top);
        }
    });
    assert!(swings.len() >= 2, "it rocks: {swings:?}");
    for cycle in swings.windows(2) {
        assert!(cycle[1] < cycle[0], "swings {swings:?}");
    }
    assert_below(tilt(&scene.body(cube)).to_degrees(), 0.1);
}

#[test]
fn a_tilted_cube_falls_flat_and_is_then_still() {
    let (mut scene, cube) = tilted(0.3, 30.0);
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(500, |world| watch.check(world));
    let rest = scene.body(cube).pose();
    scene.run(100, |world| {
        watch.check(world);
        let body = world.body(cube).unwrap();
        assert_below(off_level(&body).to_degrees(), 0.1);
        assert_below(body.linear_velocity().length(), 1e-3);
        assert_below(body.angular_velocity().length(), 1e-3);
        assert_below((body.position() - rest.position).length(), 1e-6);
    });
}

#[test]
fn a_sliding_cube_stops_after_the_exact_distance() {
    let (mut scene, cube) = sliding(5.0, 0.5);
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(120, |world| watch.check(world));
    assert_below(scene.body(cube).linear_velocity().length(), 1e-6);
    assert_near(scene.body(cube).position().x, stop_distance(5.0, 0.5), 0.005);
}

#[test]
fn a_cube_without_friction_never_slows() {
    let (mut scene, cube) = sliding(5.0, 0.0);
    scene.run(300, |world| {
        assert_near(world.body(cube).unwrap().linear_velocity().x, 5.0, 1e-9);
    });
    assert_near(scene.body(cube).position().x, 25.0, 1e-9);
}

#[test]
fn a_sliding_cube_trips_over_strong_friction() {
    let (mut scene, cube) = sliding(5.0, 2.0);
    let mut watch = EnergyWatch::new(&scene.world);
    let mut most = 0.0f64;
    scene.run(50, |world| {
        watch.check(world);
        most = most.max(world.body(cube).unwrap().angular_velocity().length());
    });
    assert!(most > 1.0, "spin {most}");
}

#[test]
fn a_sliding_cube_does_not_trip_over_weak_friction() {
    let (mut scene, cube) = sliding(5.0, 0.5);
    scene.run(120, |world| {
        assert_below(world.body(cube).unwrap().angular_velocity().length(), 1e-3);
    });
}
