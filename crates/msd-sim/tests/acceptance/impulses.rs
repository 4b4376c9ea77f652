//! The impulses of one step on one body, with the default method and with sweeps.

use msd_sim::math::{SpatialVector, Vec3, rotation};
use msd_sim::{BodyId, JointDef, Method, Settings};

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

/// A spinning, sliding ball that bounces on the floor and may carry a bob on a joint, and a ball that runs into it.
fn crowd(method: Method, max_exact_bodies: Option<u32>, jointed: bool) -> (Scene, [BodyId; 3]) {
    let settings = Settings { method, max_exact_bodies, audit: true, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.6, 0.4);
    scene.floor();
    let ball = scene.ball().mass(2.0).velocity(Vec3::new(1.0, 0.5, -2.0));
    let ball = scene.add_at(0.51, ball.angular_velocity(Vec3::new(3.0, -8.0, 5.0)));
    let bob = scene.ball().mass(0.5).position(Vec3::new(0.0, 0.0, 2.5));
    let bob = scene.add(bob);
    let runner = scene.ball().mass(1.0).position(Vec3::new(1.05, 0.0, 0.5));
    let runner = scene.add(runner.velocity(-Vec3::X));
    if jointed {
        let joint = JointDef::ball(ball, bob).anchors(Vec3::Z, Vec3::Z * -0.99);
        scene.world.add_joint(joint).unwrap();
    }
    (scene, [ball, bob, runner])
}

#[test]
fn contacts_joints_and_gravity_account_for_every_change_of_momentum() {
    let soft_step = Method::SoftStep;
    for (method, max_exact_bodies, jointed) in [
        (soft_step, None, true),
        (soft_step, None, false),
        (soft_step, Some(0), true),
        (Method::Pgs, None, true),
        (Method::Pgs, None, false),
    ] {
        let (mut scene, bodies) = crowd(method, max_exact_bodies, jointed);
        let momentum = |scene: &Scene, body| {
            let body = scene.body(body);
            let SpatialVector { linear, angular } = body.velocity();
            SpatialVector::new(linear * body.mass(), body.inertia() * angular)
        };
        let (mut most_spin, mut judged) = (0.0_f64, 0);
        for step in 0..120 {
            let before = bodies.map(|body| momentum(&scene, body));
            // Exact islands that gain energy by discretization are slowed, which is neither a contact nor a joint.
            let ledger = scene.step().audit.unwrap();
            let slowed = ledger.terms.unwrap().integration.abs() > 1e-12 * ledger.kinetic;
            let (mut left_of_all, mut scale_of_all) = (-ledger.correction_impulse.linear, 1.0);
            for (body, before) in bodies.into_iter().zip(before) {
                let impulses = scene.world.impulses_on(body).unwrap();
                let gravity = Vec3::Z * -(scene.body(body).mass() * G * DT);
                let now = momentum(&scene, body);
                let left = now.linear - before.linear - impulses.total().linear - gravity;
                let pushed = impulses.contacts.linear.length() + impulses.joints.linear.length();
                let scale = before.linear.length() + pushed + 1.0;
                (left_of_all, scale_of_all) = (left_of_all + left, scale_of_all + scale);
                if slowed && max_exact_bodies.is_none() {
                    continue;
                }
                judged += 1;
                assert!(
                    left.length() < 1e-13 * scale,
                    "{method}, {max_exact_bodies:?}, step {step}, {body:?}: {left}"
                );
                if scene.world.joints_of(body).unwrap().count() == 0 {
                    // The spin of a ball is changed by contacts alone.
                    let spun = now.angular - before.angular;
                    let left = spun - impulses.contacts.angular;
                    assert!(
                        left.length() < 1e-13 * scale,
                        "{method}, {max_exact_bodies:?}, step {step}: {left} of {spun}"
                    );
                    most_spin = most_spin.max(spun.length());
                }
            }
            assert!(
                left_of_all.length() < 1e-13 * scale_of_all,
                "{method}, {max_exact_bodies:?}, step {step}: {left_of_all}"
            );
        }
        assert!(judged > 120, "{method}, {max_exact_bodies:?}: {judged} of 360");
        // Most exact steps with the joint are slowed.
        if !jointed || max_exact_bodies.is_some() {
            assert!(
                most_spin > 0.01,
                "{method}, {max_exact_bodies:?}: the runner was spun by {most_spin}"
            );
        }
    }
}

#[test]
fn the_torque_of_a_ball_joint_is_its_force_at_the_anchor() {
    // A beam of 2 m held at one end, starting level: the pin carries a quarter of its weight.
    let mut scene = Scene::new(0.0, 0.0);
    let pin = scene.wall(Vec3::splat(0.1), Vec3::ZERO);
    let beam = scene.brick(Vec3::new(1.0, 0.05, 0.05)).position(Vec3::X);
    let beam = scene.add(beam);
    scene.world.add_joint(JointDef::ball(pin, beam).anchors(Vec3::ZERO, -Vec3::X)).unwrap();
    scene.step();
    let SpatialVector { linear, angular } = scene.world.impulses_on(beam).unwrap().joints;
    // I about the end is 4/3 + 0.05^2/3 - the thickness adds 0.1 % - so 1 - 3/4 of the weight is left, and the moment
    // about the center is the force at an arm of 1 m.
    let inertia = 1.0 / 3.0 + 0.0025 / 3.0;
    let share = inertia / (inertia + 1.0);
    assert_near(linear.z, share * G * DT, 2e-3 * G * DT);
    assert_near(angular.y, linear.z, 1e-3 * linear.z);
    let on_pin = scene.world.impulses_on(pin).unwrap().joints;
    assert_eq!(on_pin.linear, -linear);
}
