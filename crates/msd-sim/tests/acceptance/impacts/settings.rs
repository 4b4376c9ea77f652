//! Impacts with every method, and the settings of continuous collision.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{Continuous, Method, Settings};

use super::{change, solid, zero_gravity};
use crate::scene::{Flights, Scene, assert_below, assert_near};

fn methods() -> Vec<Method> {
    vec![
        Method::SoftStep,
        Method::Pgs,
        Method::ActiveSet,
        #[cfg(feature = "conic")]
        Method::Conic,
    ]
}

#[test]
fn with_every_method_a_ball_bounces_to_the_exact_height() {
    for method in methods() {
        let mut scene = Scene::with(Settings { method, ..Settings::default() }, 0.8, 0.5);
        scene.floor();
        let ball = scene.ball();
        let ball = scene.add_at(10.5, ball);
        let mut flights = Flights::default();
        scene.run(500, |world| flights.observe(&world.body(ball).unwrap()));
        for (n, top) in flights.apexes.iter().enumerate() {
            assert_near(top - 0.5, 10.0 * 0.64_f64.powi(n as i32), 1e-9);
        }
        assert!(flights.apexes.len() > 3);
    }
}

#[test]
fn with_every_method_a_ball_rebounds_from_two_touching_balls() {
    for method in methods() {
        let mut scene = zero_gravity(1.0, 0.0);
        change(&mut scene, |settings| settings.method = method);
        let ball = scene.ball().velocity(Vec3::X * 3.0);
        let one = scene.add(ball.position(Vec3::X * -2.0));
        for y in [0.5, -0.5] {
            let ball = scene.ball();
            scene.add(ball.position(Vec3::Y * y));
        }
        scene.run(60, |_| {});
        let error = (scene.body(one).linear_velocity() - Vec3::X * -0.6).length();
        eprintln!("{method:?}: {error:e}");
        assert_below(error, 1e-9);
    }
}

#[test]
fn with_every_method_a_bullet_and_a_cube_bounce_off_a_plate() {
    let shapes = [Shape::sphere(0.01).unwrap(), Shape::cuboid(Vec3::splat(0.01)).unwrap()];
    for method in methods() {
        for restitution in [0.0, 0.5, 1.0] {
            for shape in &shapes {
                let mut scene = zero_gravity(restitution, 0.0);
                change(&mut scene, |settings| settings.method = method);
                scene.wall(Vec3::new(0.0025, 9.0, 9.0), Vec3::ZERO);
                let bullet = solid(&scene, shape.clone()).velocity(Vec3::X * 500.0);
                let bullet = scene.add(bullet.position(Vec3::X * -1.3));
                scene.run(3, |_| {});
                let found = scene.body(bullet).linear_velocity();
                let error = (found + Vec3::X * 500.0 * restitution).length() / 500.0;
                eprintln!("{method:?}, e = {restitution}: {error:e}");
                assert_below(error, 1e-9);
            }
        }
    }
}

#[test]
fn a_bullet_passes_a_plate_only_without_continuous_collision() {
    for (continuous, passes) in
        [(Continuous::Never, true), (Continuous::Auto, false), (Continuous::Always, false)]
    {
        for restitution in [0.0, 1.0] {
            let mut scene = zero_gravity(restitution, 0.0);
            change(&mut scene, |settings| settings.continuous = continuous);
            scene.wall(Vec3::new(0.0025, 9.0, 9.0), Vec3::ZERO);
            let ball = solid(&scene, Shape::sphere(0.01).unwrap()).velocity(Vec3::X * 500.0);
            // A substep is 2.08 m, and impulses act halfway: both places are far from the plate.
            let ball = scene.add(ball.position(Vec3::X * -2.6));
            scene.run(3, |_| {});
            let passed = scene.body(ball).position().x > 0.0;
            assert_eq!(passed, passes, "{continuous:?}, e = {restitution}");
        }
    }
}

#[test]
fn a_slow_scene_moves_alike_with_continuous_always_and_auto() {
    // A sliding cube, a rolling ball, a bouncing ball and a stack.
    let simulate = |continuous: Continuous| {
        let mut scene = Scene::new(0.5, 0.5);
        change(&mut scene, |settings| settings.continuous = continuous);
        scene.floor();
        let cube = scene.cube().velocity(Vec3::X * 2.0);
        let cube = scene.add(cube.position(Vec3::Z * 0.5));
        let ball = scene.ball().velocity(Vec3::Y * 2.0).angular_velocity(Vec3::X * -4.0);
        let ball = scene.add(ball.position(Vec3::new(3.0, 0.0, 0.5)));
        let bounce = scene.ball();
        let bounce = scene.add(bounce.position(Vec3::new(-3.0, 0.0, 2.0)));
        let stack = [0.5, 1.5, 2.5].map(|z| {
            let cube = scene.cube();
            scene.add(cube.position(Vec3::new(0.0, -5.0, z)))
        });
        let mut places = Vec::new();
        for _ in 0..180 {
            scene.step();
            places.extend(
                [cube, ball, bounce].into_iter().chain(stack).map(|id| scene.body(id).position()),
            );
        }
        places
    };
    let (auto, always) = (simulate(Continuous::Auto), simulate(Continuous::Always));
    let off = auto.iter().zip(&always).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    eprintln!("always against auto: {off:e} m");
    assert_below(off, 1e-6);
}

#[test]
fn bounces_keep_their_heights_with_continuous_always() {
    let mut scene = Scene::new(0.8, 0.5);
    change(&mut scene, |settings| settings.continuous = Continuous::Always);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(10.5, ball);
    let mut flights = Flights::default();
    scene.run(900, |world| flights.observe(&world.body(ball).unwrap()));
    for (n, top) in flights.apexes.iter().enumerate().take(10) {
        assert_near(top - 0.5, 10.0 * 0.64_f64.powi(n as i32), 1e-9);
    }
    assert_below((scene.body(ball).position().z - 0.5).abs(), 1e-4);
}
