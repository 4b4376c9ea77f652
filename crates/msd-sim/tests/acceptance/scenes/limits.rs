//! High speeds, light bodies, exact contact without overlap, and a gas.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Settings};

use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below, assert_near};

#[test]
fn cubes_that_touch_without_overlap_do_not_push_each_other() {
    // Floating, and side by side on the floor.
    for weightless in [true, false] {
        let mut scene = if weightless { Scene::weightless(0.5, 0.5) } else { Scene::new(0.5, 0.5) };
        if !weightless {
            scene.floor();
        }
        let cubes = [0.0, 1.0].map(|x| {
            let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
            scene.add(cube)
        });
        scene.run(100, |world| {
            let [a, b] = cubes.map(|cube| world.body(cube).unwrap().velocity());
            assert_below((b.linear - a.linear).length(), 1e-9);
            assert_below((b.angular - a.angular).length(), 1e-9);
        });
    }
}

#[test]
fn a_cube_at_a_hundred_meters_a_second_does_not_tunnel_through_a_thin_wall() {
    // Starting positions over the length of a step, 1.67 m, so that no lucky one hides a failure.
    for start in 0..8 {
        let mut scene = Scene::weightless(0.5, 0.5);
        scene.wall(Vec3::new(0.05, 5.0, 5.0), Vec3::ZERO);
        let cube = scene.cube().velocity(Vec3::X * 100.0);
        let cube = scene.add(cube.position(Vec3::X * (-5.0 - 0.21 * f64::from(start))));
        let first = scene.energy();
        scene.run(60, |world| {
            let x = world.body(cube).unwrap().position().x;
            assert!(x < 0.0, "it is at {x}");
            assert!(crate::scene::energy(world) <= first * (1.0 + 1e-9));
        });
    }
}

#[test]
fn a_cube_of_one_gram_bounces_as_a_heavy_one_does() {
    let mut scenes = [1e-3, 1e3].map(|mass| {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let cube = scene.cube().mass(mass);
        let cube = scene.add_at(2.0, cube);
        (scene, cube)
    });
    let mut bounced = false;
    for _ in 0..300 {
        let [light, heavy] = scenes.each_mut().map(|(scene, cube)| {
            scene.step();
            let body = scene.body(*cube);
            (body.position(), body.linear_velocity())
        });
        assert_below((light.0 - heavy.0).length(), 1e-9);
        assert_below((light.1 - heavy.1).length(), 1e-9);
        bounced |= heavy.1.z > 1.0;
    }
    assert!(bounced);
}

/// Builds a gas: 4 x 4 x 4 spheres of 0.2 m in a box of 4 m.
fn gas() -> (Scene, Vec<BodyId>) {
    let settings =
        Settings { gravity: Vec3::ZERO, rest_speed: 0.0, audit: true, ..Settings::default() };
    let mut scene = Scene::with(settings, 1.0, 0.0);
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        for side in [-1.0, 1.0] {
            scene.wall(Vec3::splat(3.0) - axis * 2.5, axis * (side * 2.5));
        }
    }
    let mut rng = Rng::new(4);
    let mut balls = Vec::new();
    for place in 0..64 {
        let cell = Vec3::new((place % 4) as f64, (place / 4 % 4) as f64, (place / 16) as f64);
        let velocity = Vec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        let ball = BodyDef::inertial(Shape::sphere(0.2).unwrap()).mass(1.0);
        let ball = ball.material(scene.material).velocity(velocity);
        balls.push(scene.add(ball.position(cell - Vec3::splat(1.5))));
    }
    (scene, balls)
}

#[test]
fn elastic_spheres_in_a_closed_box_keep_their_energy() {
    let (mut scene, balls) = gas();
    let first = scene.energy();
    let mut exchanged = Vec3::ZERO;
    for _ in 0..10_000 {
        let ledger = scene.step().audit.unwrap();
        // Momentum comes from the walls alone.
        let error = ledger.momentum_error();
        assert_below(error.linear.length(), 1e-9);
        assert_below(ledger.correction_impulse.linear.length(), 1e-9);
        exchanged += ledger.environment_impulse.linear.abs();
    }
    assert!(exchanged.min_element() > 100.0, "walls were hit: {exchanged}");
    assert_near(scene.energy(), first, 1e-3);
    for ball in balls {
        assert!(scene.body(ball).position().abs().max_element() < 2.0);
    }
}

#[test]
fn a_cube_that_lands_flat_gets_impulses_at_all_four_corners() {
    // It lands once, or twice with a bounce between. Rounding leaves a spin of 1e-11 rad/s then; a
    // tilt of 1e-11 rad is corrected within one substep of a later landing, with 3e-9 rad/s.
    for (restitution, steps) in [(0.0, 300), (0.5, 90)] {
        let mut scene = Scene::new(restitution, 0.5);
        scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(2.0, cube);
        let mut landed = false;
        scene.run(steps, |world| {
            assert_below(world.body(cube).unwrap().angular_velocity().length(), 1e-9);
            for contact in world.contacts().filter(|contact| contact.impulse().z > 0.0) {
                landed = true;
                assert_eq!(contact.points().len(), 4);
                for point in contact.points() {
                    assert!(point.total_impulse.z > 0.0, "{:?}", contact.points());
                }
            }
        });
        assert!(landed);
    }
}
