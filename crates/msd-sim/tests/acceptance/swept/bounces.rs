//! Restitution in swept worlds.

use msd_sim::math::Vec3;

use super::{swept, weightless};
use crate::scene::{Flights, apex_height, assert_below, assert_near, central_impact};

#[test]
fn a_ball_bounces_to_its_first_apex() {
    // Its lowest point falls 5 m, so it should rise to e^2 5 m = 3.2 m. Swept impacts have no
    // impact time, they act at the end of their step: for an approach at 9.9 m/s and 60 Hz that is
    // up to 0.16 m/s.
    let mut scene = swept(0.8, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(5.5, ball);
    let mut flights = Flights::default();
    scene.run(150, |world| flights.observe(&world.body(ball).unwrap()));
    assert_near(flights.apexes[1] - 0.5, apex_height(5.0, 0.8, 1), 0.05);
}

#[test]
fn an_elastic_ball_gains_no_energy() {
    let mut scene = swept(1.0, 0.0);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(3.5, ball);
    let first = scene.energy();
    let mut most = 0.0_f64;
    let mut flights = Flights::default();
    for _ in 0..1200 {
        scene.step();
        most = most.max(scene.energy());
        flights.observe(&scene.body(ball));
    }
    assert!(flights.apexes.len() > 8, "it keeps bouncing");
    assert!(most < 1.01 * first, "{most} J of {first} J");
}

#[test]
fn slow_landings_do_not_bounce() {
    // Below the rest speed of 0.5 m/s.
    let mut scene = swept(0.9, 0.5);
    scene.floor();
    let ball = scene.ball().velocity(Vec3::Z * -0.3);
    let ball = scene.add_at(0.501, ball);
    let mut fastest = 0.0_f64;
    scene.run(60, |world| fastest = fastest.max(world.body(ball).unwrap().linear_velocity().z));
    assert_below(fastest, 0.05);
}

#[test]
fn two_balls_leave_with_the_velocities_of_a_central_impact() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut scene = weightless(restitution, 0.0);
        let a = scene.ball().mass(2.0).velocity(Vec3::X * 3.0);
        let a = scene.add(a);
        let b = scene.ball().position(Vec3::X * 2.0);
        let b = scene.add(b);
        scene.run(60, |_| {});
        let expected = central_impact([2.0, 1.0], [3.0, 0.0], restitution);
        for (id, speed) in [a, b].into_iter().zip(expected) {
            assert_below((scene.body(id).linear_velocity() - Vec3::X * speed).length(), 0.01);
        }
    }
}
