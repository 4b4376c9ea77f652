//! Potentials, damping, and steps of varying length.

use std::f64::consts::TAU;

use msd_sim::Potential;
use msd_sim::math::Vec3;

use super::{fastest, swept, weightless};
use crate::scene::{DT, G, assert_below, assert_near};

#[test]
fn an_orbit_closes() {
    // mu = 1 m^3/s^2 at 1 m: a period of 2 pi s. The force is evaluated in the middle of a step,
    // which neither gains nor loses energy over an orbit; the phase error is (w dt)^2 / 24 of it.
    let mut scene = weightless(0.0, 0.5);
    scene.world.add_potential(Potential::point_mass(Vec3::ZERO, 1.0, 0.0).unwrap()).unwrap();
    let ball = scene.ball().velocity(Vec3::Y);
    let ball = scene.add(ball.position(Vec3::X));
    let energy = scene.energy();
    scene.dt = TAU / 360.0;
    scene.run(3600, |_| {});
    assert_near(scene.body(ball).position().length(), 1.0, 1e-3);
    assert_below((scene.body(ball).position() - Vec3::X).length(), 0.01);
    assert_near(scene.energy(), energy, 1e-3);
}

#[test]
fn a_spring_potential_neither_gains_nor_loses_energy() {
    // w = sqrt(100) = 10 rad/s: a sixth of a radian a step.
    let mut scene = weightless(0.0, 0.5);
    let ball = scene.ball();
    let ball = scene.add(ball.position(Vec3::X * 0.5));
    let spring = Potential::spring(ball, Vec3::ZERO, Vec3::ZERO, 100.0, 0.0);
    scene.world.add_potential(spring.unwrap()).unwrap();
    let energy = scene.energy();
    let mut off = 0.0_f64;
    scene.run(600, |world| off = off.max((crate::scene::energy(world) / energy - 1.0).abs()));
    // The energy of a leapfrog scheme oscillates by (w dt)^2 / 4 = 0.7 %.
    assert_below(off, 0.01);
}

#[test]
fn gravity_scales_per_body_and_damping_decays_exponentially() {
    let mut scene = swept(0.0, 0.5);
    let damped = scene.ball().velocity(Vec3::X).damping(0.5, 0.0).gravity_scale(0.0);
    let damped = scene.add(damped);
    let light = scene.ball().gravity_scale(0.5);
    let light = scene.add(light.position(Vec3::Y * 5.0));
    scene.run(120, |_| {});
    // exp(-0.5 2 s).
    assert_near(scene.body(damped).linear_velocity().x, (-1_f64).exp(), 1e-9);
    assert_near(scene.body(light).linear_velocity().z, -0.5 * G * 2.0, 1e-9);
}

#[test]
fn a_stack_stands_with_steps_of_varying_length() {
    // The warm start uses the impulses of the last substep, which had another length.
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cubes: Vec<_> = (0..5).map(|n| scene.add_at(0.5 + f64::from(n), cube.clone())).collect();
    let mut fastest_ever = 0.0_f64;
    for n in 0..600 {
        scene.dt = [DT, DT / 8.0, DT / 2.0, DT][n % 4];
        scene.step();
        fastest_ever = fastest_ever.max(fastest(&scene));
    }
    assert_below(fastest_ever, 2.0 * G * DT);
    for (n, &id) in cubes.iter().enumerate() {
        let off = scene.body(id).position() - Vec3::Z * (0.5 + n as f64);
        assert_below(off.length(), 0.01);
    }
}
