//! The impulses of one step on one body, with the default method and with sweeps.

use msd_sim::math::{SpatialVector, Vec3, rotation};
use msd_sim::{BodyId, Method, Settings};

use crate::scene::{DT, G, Scene, assert_below, assert_near, incline_acceleration};

const METHODS: [Method; 2] = [Method::SoftStep, Method::Pgs];

/// Takes one step with a ball that touches the floor, and returns the contact impulse.
fn stepped(
    method: Method,
    gravity: Vec3,
    [restitution, friction]: [f64; 2],
    velocity: Vec3,
) -> (Scene, BodyId, Vec3) {
    let settings = Settings { gravity, method, ..Settings::default() };
    let mut scene = Scene::with(settings, restitution, friction);
    scene.floor();
    let ball = scene.ball().mass(2.0).velocity(velocity);
    let ball = scene.add_at(0.5, ball);
    scene.step();
    let impulse = scene.world.contacts().map(|contact| contact.impulse()).sum();
    (scene, ball, impulse)
}

#[test]
fn an_impact_gives_one_plus_e_times_the_momentum() {
    for method in METHODS {
        for restitution in [0.0, 0.7, 1.0] {
            let speed = Vec3::Z * -3.0;
            let (scene, ball, _) = stepped(method, Vec3::ZERO, [restitution, 0.5], speed);
            let impulse = (scene.body(ball).linear_velocity() - speed) * 2.0;
            assert_near(impulse.z, (1.0 + restitution) * 2.0 * 3.0, 1e-9);
            assert_below(impulse.truncate().length(), 1e-12);
            assert_below(scene.body(ball).angular_velocity().length(), 1e-12);
        }
    }
}

#[test]
fn an_impact_is_reported_with_its_whole_impulse() {
    for method in METHODS {
        for restitution in [0.0, 0.7, 1.0] {
            let speed = Vec3::Z * -3.0;
            let (scene, _, impulse) = stepped(method, Vec3::ZERO, [restitution, 0.5], speed);
            assert_near(impulse.z, (1.0 + restitution) * 2.0 * 3.0, 1e-9);
            let hits = scene.world.events().hits();
            assert_eq!(hits.len(), 1);
            assert_near(hits[0].speed, 3.0, 1e-9);
            assert_near(hits[0].impulse, impulse.z, 1e-9);
        }
    }
}

#[test]
fn a_resting_ball_gets_its_weight_times_the_step() {
    for method in METHODS {
        let (scene, ball, impulse) = stepped(method, Vec3::Z * -G, [0.5, 0.5], Vec3::ZERO);
        assert_near(impulse.z, 2.0 * G * DT, 1e-9);
        assert_below(impulse.truncate().length(), 1e-12);
        assert_below(scene.body(ball).linear_velocity().length(), 1e-12);
    }
}

#[test]
fn sliding_friction_is_mu_times_the_normal_impulse_and_against_the_motion() {
    for method in METHODS {
        let direction = Vec3::new(0.6, 0.8, 0.0);
        let (_, _, impulse) = stepped(method, Vec3::Z * -G, [0.0, 0.3], direction * 5.0);
        assert_near(impulse.z, 2.0 * G * DT, 1e-9);
        let across = impulse - Vec3::Z * impulse.z;
        assert_near(across.length(), 0.3 * impulse.z, 1e-9);
        assert_below((across + direction * across.length()).length(), 1e-9 * across.length());
    }
}

#[test]
fn an_oblique_impact_is_braked_by_mu_times_its_whole_normal_impulse() {
    for method in METHODS {
        // It slides throughout: rolling would take 2/7 of 10 m/s, friction takes 0.2 x 1.7 x 3.
        let velocity = Vec3::new(10.0, 0.0, -3.0);
        let (scene, ball, impulse) = stepped(method, Vec3::ZERO, [0.7, 0.2], velocity);
        assert_near(impulse.z, 1.7 * 2.0 * 3.0, 1e-9);
        assert_near(-impulse.x, 0.2 * impulse.z, 1e-9);
        // It gets the spin of that impulse at 0.5 m: I = 2/5 m r^2 = 0.2 kg m^2.
        let spin = scene.body(ball).angular_velocity();
        assert_near(spin.y, -impulse.x * 0.5 / 0.2, 1e-9);
    }
}

#[test]
fn without_friction_no_impulse_acts_tangentially() {
    for method in METHODS {
        let velocity = Vec3::new(4.0, 1.0, -3.0);
        let (scene, ball, impulse) = stepped(method, Vec3::Z * -G, [0.7, 0.0], velocity);
        assert_eq!(impulse.truncate(), Vec3::ZERO.truncate());
        assert_eq!(scene.body(ball).angular_velocity(), Vec3::ZERO);
        assert_near(scene.body(ball).linear_velocity().x, 4.0, 1e-15);
    }
}

#[test]
fn restitution_acts_on_the_approach_speed_and_never_on_forces() {
    for method in METHODS {
        let settings = Settings { method, substeps: 1, ..Settings::default() };
        let mut scene = Scene::with(settings, 0.5, 0.0);
        scene.floor();
        let ball = scene.ball().velocity(Vec3::Z * -2.0);
        let ball = scene.add_at(0.5, ball);
        scene.step();
        let impulse = scene.world.contacts().map(|contact| contact.impulse()).sum::<Vec3>();
        // (1 + e) m v, plus the part of gravity's m g dt that acts during contact, once. Multiplied
        // by 1 + e it could be half as much again.
        let beyond = impulse.z - 1.5 * 2.0;
        assert!((-1e-9..=G * DT * (1.0 + 1e-9)).contains(&beyond), "{beyond}");
        let left = scene.body(ball).linear_velocity().z;
        assert_near(left, -2.0 - G * DT + impulse.z, 1e-12);
    }
}

#[test]
fn a_body_below_the_rest_speed_does_not_bounce_and_above_it_does() {
    for (speed, bounces) in [(0.49, false), (0.51, true)] {
        let (scene, ball, _) = stepped(Method::SoftStep, Vec3::ZERO, [1.0, 0.0], Vec3::Z * -speed);
        let left = scene.body(ball).linear_velocity().z;
        assert_below((left - if bounces { speed } else { 0.0 }).abs(), 1e-9);
    }
}

/// Builds a scene with a cube on the floor with gravity tilted by an angle, as on an incline.
fn on_incline(method: Method, angle: f64, friction: f64) -> (Scene, BodyId) {
    let gravity = Vec3::new(angle.sin(), 0.0, -angle.cos()) * G;
    let mut scene = Scene::with(Settings { gravity, method, ..Settings::default() }, 0.5, friction);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    (scene, cube)
}

#[test]
fn the_tangent_rows_balance_forces_as_well() {
    for method in METHODS {
        // Sticking: the contact balances all of the weight in the same step.
        let angle = 20f64.to_radians();
        let (mut scene, cube) = on_incline(method, angle, 0.6);
        scene.step();
        let impulse = scene.world.contacts().map(|contact| contact.impulse()).sum::<Vec3>();
        let weight = Vec3::new(-angle.sin(), 0.0, angle.cos()) * (G * DT);
        assert_below((impulse - weight).length(), 1e-9 * G * DT);
        assert_below(scene.body(cube).linear_velocity().length(), 1e-9 * G * DT);
        // Sliding: friction leaves the rest of it.
        let (mut scene, cube) = on_incline(method, angle, 0.2);
        scene.step();
        let speed = incline_acceleration(angle, 0.2) * DT;
        assert_near(scene.body(cube).linear_velocity().x, speed, 1e-9);
    }
}

#[test]
fn contacts_balance_an_applied_force_in_the_step_in_which_it_acts() {
    for (push, moves) in [(4.0, 0.0), (6.0, 6.0 - 0.5 * G)] {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(0.5, cube);
        let force = SpatialVector::new(Vec3::Y * push, Vec3::ZERO);
        scene.world.apply_force(cube, force).unwrap();
        scene.step();
        let speed = scene.body(cube).linear_velocity().y;
        assert_below((speed - moves * DT).abs(), 1e-9);
        // The force acts in no other step.
        scene.run(60, |_| {});
        assert_below(scene.body(cube).linear_velocity().length(), 1e-9);
    }
}

#[test]
fn a_torque_turns_a_resting_body_by_its_inertia_in_world_axes() {
    // Rotated by a quarter turn about x, its own y axis is upright: I_y = m (a^2 + c^2) / 3 with
    // half extents a = 1, c = 0.1. Its own z axis would have (1 + 0.04) / 3.
    let mut scene = Scene::new(0.5, 0.0);
    scene.floor();
    let brick = scene.brick(Vec3::new(1.0, 0.2, 0.1));
    let brick = brick.orientation(rotation(Vec3::X, std::f64::consts::FRAC_PI_2));
    let brick = scene.add_at(0.2, brick);
    let torque = SpatialVector::new(Vec3::ZERO, Vec3::Z * 3.0);
    scene.world.apply_force(brick, torque).unwrap();
    scene.step();
    let spin = scene.body(brick).angular_velocity();
    assert_near(spin.z, 3.0 * DT / (1.01 / 3.0), 1e-9);
    assert_below(spin.truncate().length(), 1e-9);
}
