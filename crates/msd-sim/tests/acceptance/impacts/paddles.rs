//! Kinematic bodies that hit others, and rods that spin into a post.

use msd_sim::BodyDef;
use msd_sim::geometry::{Shape, distance};
use msd_sim::math::{Vec3, rotation};

use super::{audited, solid, track_worst, zero_gravity};
use crate::scene::assert_below;

#[test]
fn a_paddle_sends_a_ball_off_at_one_plus_e_times_its_speed() {
    for speed in [1.0, 30.0, 300.0] {
        for restitution in [0.0, 0.5, 1.0] {
            let mut worst = 0.0;
            for phase in 0..8 {
                let mut scene = zero_gravity(restitution, 0.5);
                let half = Vec3::new(0.005, 0.3, 0.3);
                let paddle = BodyDef::environment(Shape::cuboid(half).unwrap());
                let ahead = 0.005 + speed * (0.01 + 0.0011 * f64::from(phase));
                let paddle = paddle.material(scene.material).velocity(Vec3::X * speed);
                scene.add(paddle.position(Vec3::X * -ahead));
                let ball = solid(&scene, Shape::sphere(0.02).unwrap());
                let ball = scene.add(ball.position(Vec3::X * 0.02));
                scene.run(6, |_| {});
                let found = scene.body(ball).linear_velocity();
                let expected = Vec3::X * (1.0 + restitution) * speed;
                track_worst(&mut worst, (found - expected).length() / speed);
            }
            eprintln!("paddle at {speed} m/s, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn a_ball_that_flies_at_a_paddle_rebounds_with_both_speeds() {
    for restitution in [0.5, 1.0] {
        let mut scene = zero_gravity(restitution, 0.0);
        let paddle = BodyDef::environment(Shape::cuboid(Vec3::new(0.005, 0.3, 0.3)).unwrap());
        let paddle = paddle.material(scene.material).velocity(Vec3::X * 100.0);
        scene.add(paddle.position(Vec3::X * -3.0));
        let ball = solid(&scene, Shape::sphere(0.02).unwrap()).velocity(Vec3::X * -200.0);
        let ball = scene.add(ball.position(Vec3::X * 4.0));
        scene.run(6, |_| {});
        let expected = Vec3::X * (100.0 + restitution * 300.0);
        assert_below((scene.body(ball).linear_velocity() - expected).length(), 1e-9);
    }
}

#[test]
fn a_rotating_bar_sends_a_ball_off_at_one_plus_e_times_its_speed_there() {
    // Its face passes through its axis, so it hits the ball, at 0.5 m, at 0.5 w across the bar.
    for spin in [5.0_f64, 50.0, 500.0] {
        for restitution in [0.5, 1.0] {
            let mut worst = 0.0;
            for phase in 0..8 {
                let mut scene = zero_gravity(restitution, 0.0);
                let bar = BodyDef::environment(Shape::capsule(0.01, 0.7).unwrap());
                // Its axis is z, laid along x and turned back by an angle.
                let back = 0.3 + 0.25 * f64::from(phase);
                let turn = rotation(Vec3::Z, -back) * rotation(Vec3::Y, 90_f64.to_radians());
                let bar = bar.orientation(turn.normalize()).angular_velocity(Vec3::Z * spin);
                scene.add(bar.material(scene.material));
                let ball = solid(&scene, Shape::sphere(0.02).unwrap());
                let ball = scene.add(ball.position(Vec3::X * 0.5));
                let mut steps = 0;
                while scene.body(ball).linear_velocity() == Vec3::ZERO {
                    scene.step();
                    steps += 1;
                    assert!(steps < 60, "it never hit");
                }
                // They touch when the axis of the bar is 0.03 m from the center: at sqrt(0.25 -
                // 0.03^2).
                let arm = (0.25_f64 - 0.0009).sqrt();
                let speed = scene.body(ball).linear_velocity().length();
                let expected = (1.0 + restitution) * spin * arm;
                track_worst(&mut worst, (speed / expected - 1.0).abs());
            }
            eprintln!("bar at {spin} rad/s, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn a_spinning_rod_hits_a_post_alike_at_every_phase() {
    // 2 m long, 50 rad/s; a post of 5 cm at 0.8 m. The geometry at the impact is always the same.
    let (rod, post) = (Shape::capsule(0.02, 0.98).unwrap(), Shape::cylinder(0.025, 0.5).unwrap());
    for (restitution, friction) in [(1.0, 0.0), (0.5, 0.0), (0.5, 0.5)] {
        let mut outcomes = Vec::new();
        let mut slowest = 0.0_f64;
        for phase in 0..40 {
            let mut scene = audited(restitution, friction);
            let def = BodyDef::environment(post.clone()).material(scene.material);
            let post_id = scene.add(def.position(Vec3::X * 0.8));
            let back = 0.1 + 0.07 * f64::from(phase);
            let turn = rotation(Vec3::Z, -back) * rotation(Vec3::Y, 90_f64.to_radians());
            let def = solid(&scene, rod.clone()).orientation(turn.normalize());
            let id = scene.add(def.angular_velocity(Vec3::Z * 50.0));
            let first = scene.energy();
            let mut hit = false;
            for _ in 0..12 {
                let start = std::time::Instant::now();
                let report = scene.step();
                slowest = slowest.max(start.elapsed().as_secs_f64());
                hit |= !scene.world.events().hits().is_empty();
                assert_below(report.audit.unwrap().energy_error().unwrap().abs(), 1e-12 * first);
                let apart =
                    distance(&rod, &scene.body(id).pose(), &post, &scene.body(post_id).pose());
                assert!(apart > -1e-6, "phase {phase}: {apart}");
            }
            assert!(hit, "phase {phase}: passed through");
            let body = scene.body(id);
            outcomes.push((body.linear_velocity().length(), body.angular_velocity().z));
        }
        let (v, w) = outcomes[0];
        let mut worst = 0.0;
        for (other_v, other_w) in &outcomes {
            track_worst(&mut worst, (other_v - v).abs() / 50.0);
            track_worst(&mut worst, (other_w - w).abs() / 50.0);
        }
        eprintln!(
            "rod at a post, e = {restitution}, mu = {friction}: {v} {w}, spread {worst:e}, {slowest} s"
        );
        assert_below(worst, 1e-9);
    }
}
