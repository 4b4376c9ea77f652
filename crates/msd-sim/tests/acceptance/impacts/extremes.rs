//! Extreme speeds, overlaps and coincident bodies: no value that is not finite, no step that takes
//! long.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;

use super::{gas, room, solid, zero_gravity};
use crate::oracle::pairs::{KINDS, Rng, random_shape};
use crate::scene::{EnergyWatch, Scene};
use crate::stopwatch::Stopwatch;

/// Steps, and returns how long the slowest step took, s.
fn survive(scene: &mut Scene, steps: usize) -> f64 {
    let mut slowest = 0.0_f64;
    for step in 0..steps {
        let start = Stopwatch::start();
        scene.step();
        slowest = slowest.max(start.seconds());
        for body in scene.world.bodies() {
            assert!(body.pose().is_finite() && body.velocity().is_finite(), "step {step}");
        }
        assert!(scene.world.events().quarantined().is_empty(), "step {step}");
    }
    slowest
}

#[test]
fn a_gas_at_a_million_meters_a_second_stays_finite_in_its_room() {
    for restitution in [1.0, 0.5, 0.0] {
        let mut scene = zero_gravity(restitution, 0.3);
        gas(&mut scene, 1e6);
        let mut watch = EnergyWatch::new(&scene.world);
        let slowest = survive(&mut scene, 4);
        watch.check(&scene.world);
        eprintln!("gas at 1e6 m/s, e = {restitution}: slowest {slowest} s");
        for body in scene.world.bodies().skip(6) {
            assert!(body.position().abs().max_element() < 2.0, "it is at {}", body.position());
        }
        assert!(slowest < 2.0, "{slowest} s");
    }
}

#[test]
#[ignore = "known limit: at 1e5 rad/s, 66 turns a substep, a body of the first of 20 seeds ends 39 m outside the room"]
fn bodies_that_spin_at_a_hundred_thousand_radians_a_second_stay_in_their_room() {
    let mut slowest = 0.0_f64;
    for seed in 0..20 {
        let rng = &mut Rng::new(seed);
        let mut scene = zero_gravity(rng.range(0.0, 1.0), rng.range(0.0, 1.0));
        room(&mut scene, 2.0);
        for n in 0..4 {
            let kind = rng.index(KINDS);
            let body = solid(&scene, random_shape(rng, kind, 0.2)).velocity(rng.in_cube() * 100.0);
            let body = body.angular_velocity(rng.direction() * 1e5).orientation(rng.rotation());
            scene.add(body.position(Vec3::new(f64::from(n) * 0.9 - 1.35, 0.0, 0.0)));
        }
        let mut watch = EnergyWatch::new(&scene.world);
        let time = survive(&mut scene, 3);
        if let Some(rise) = watch.rise(&scene.world) {
            panic!("seed {seed}: energy rises by {rise:e} J to {:e}", scene.energy());
        }
        if time > 1.0 {
            eprintln!("seed {seed}: {time} s");
        }
        slowest = slowest.max(time);
        for body in scene.world.bodies().skip(6) {
            assert!(body.position().abs().max_element() < 2.0, "seed {seed}: {}", body.position());
        }
    }
    eprintln!("spins of 1e5 rad/s: slowest {slowest} s");
    assert!(slowest < 1.0, "{slowest} s");
}

#[test]
fn a_ball_at_any_speed_stays_in_its_room() {
    for speed in [1e4, 1e5, 1e6] {
        for restitution in [0.0, 0.5, 1.0] {
            let mut scene = zero_gravity(restitution, 0.0);
            room(&mut scene, 2.0);
            let ball = solid(&scene, Shape::sphere(0.2).unwrap());
            let ball = scene.add(ball.velocity(Vec3::new(1.0, 0.3, 0.2) * speed));
            survive(&mut scene, 4);
            let place = scene.body(ball).position();
            assert!(place.abs().max_element() < 1.8 + 1e-6, "{speed}, {restitution}: at {place}");
        }
    }
}

#[test]
fn bodies_that_overlap_initially_separate_without_gaining_energy() {
    for restitution in [1.0, 0.5] {
        for cubes in [false, true] {
            let mut scene = zero_gravity(restitution, 0.3);
            let rng = &mut Rng::new(3);
            for n in 0..8 {
                let body = if cubes { scene.cube() } else { scene.ball() };
                let place = Vec3::new(f64::from(n % 2), f64::from(n / 2 % 2), f64::from(n / 4));
                scene.add(body.position(place * 0.6).velocity(rng.in_cube() * 3.0));
            }
            let mut watch = EnergyWatch::new(&scene.world);
            let mut slowest = 0.0_f64;
            for _ in 0..60 {
                slowest = slowest.max(survive(&mut scene, 1));
                watch.check(&scene.world);
            }
            eprintln!("overlap, e = {restitution}, cubes {cubes}: slowest {slowest} s");
        }
    }
}

#[test]
fn coincident_bodies_gain_no_energy() {
    for cubes in [false, true] {
        let mut scene = zero_gravity(1.0, 0.5);
        for n in 0..4 {
            let body = if cubes { scene.cube() } else { scene.ball() };
            scene.add(body.velocity(Vec3::X * f64::from(n % 2)));
        }
        let mut watch = EnergyWatch::new(&scene.world);
        for _ in 0..60 {
            survive(&mut scene, 1);
            watch.check(&scene.world);
        }
    }
}

#[test]
#[ignore = "known limit: at a mass ratio of 1e9 the center of the squeezed ball gets 7 cm behind the wall's face"]
fn a_light_ball_between_a_hammer_and_an_anvil_does_not_pass_through() {
    // 1 g, hit by 1e6 kg at 100 m/s against a wall: squeezed, but not pushed through.
    let mut scene = zero_gravity(1.0, 0.0);
    scene.wall(Vec3::new(0.05, 2.0, 2.0), Vec3::X * 0.55);
    let light = solid(&scene, Shape::sphere(0.1).unwrap()).mass(1e-3);
    let light = scene.add(light.position(Vec3::X * 0.2));
    let hammer = scene.ball().mass(1e6).velocity(Vec3::X * 100.0);
    let hammer = scene.add(hammer.position(Vec3::X * -2.0));
    let mut watch = EnergyWatch::new(&scene.world);
    for _ in 0..12 {
        survive(&mut scene, 1);
        watch.check(&scene.world);
        let (x, y) = (scene.body(light).position().x, scene.body(hammer).position().x);
        assert!(x < 0.5 && y < 0.5, "light at {x}, hammer at {y}");
    }
}

#[test]
fn a_single_long_step_does_not_lose_a_ball() {
    // 1 s at once: 4 substeps of 0.25 s, and 10 m/s in a room of 4 m.
    let mut scene = Scene::new(0.9, 0.3);
    room(&mut scene, 2.0);
    let ball = scene.ball().velocity(Vec3::new(30.0, 20.0, 10.0));
    let ball = scene.add(ball);
    scene.dt = 1.0;
    survive(&mut scene, 5);
    let place = scene.body(ball).position();
    assert!(place.abs().max_element() < 1.6, "it is at {place}");
}
