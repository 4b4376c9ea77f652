//! Bounces of spheres on a floor and against each other.

use msd_sim::math::Vec3;
use msd_sim::{BodyId, World};

use crate::scene::{
    EnergyWatch, Flights, Scene, apex_height, assert_below, assert_near, central_impact,
    impact_speeds,
};

/// Drops a ball from z = 5, with e = 0.7 and mu = 0.5.
fn dropped() -> (Scene, BodyId) {
    let mut scene = Scene::new(0.7, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(5.0, ball);
    (scene, ball)
}

#[test]
fn a_sphere_dropped_with_restitution_settles_on_the_floor() {
    let (mut scene, ball) = dropped();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(600, |world| watch.check(world));
    let ball = scene.body(ball);
    assert_below((ball.position().z - 0.5).abs(), 1e-3);
    assert_below(ball.linear_velocity().length(), 1e-3);
}

#[test]
fn each_bounce_of_a_sphere_reaches_e_squared_of_the_height_before() {
    let (mut scene, ball) = dropped();
    let mut flights = Flights::default();
    scene.run(600, |world| flights.observe(&world.body(ball).unwrap()));
    // It bounces while its approach speed exceeds the rest speed of 0.5 m/s: nine times.
    let bounces = impact_speeds(4.5, 0.7, 0.5).len();
    assert!(flights.apexes.len() > bounces, "{} flights", flights.apexes.len());
    for pair in flights.apexes[..=bounces].windows(2) {
        assert_near((pair[1] - 0.5) / (pair[0] - 0.5), 0.49, 0.01);
    }
    assert_near(flights.apexes[0] - 0.5, apex_height(4.5, 0.7, 0), 1e-12);
}

#[test]
fn a_sphere_without_restitution_stops_at_once_and_stays() {
    let mut scene = Scene::new(0.0, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(2.0, ball);
    let mut steps = 0;
    while scene.world.events().begun().is_empty() {
        scene.step();
        steps += 1;
        assert!(steps < 60, "it did not land");
    }
    scene.run(2, |_| {});
    scene.run(100, |world| {
        assert_below(world.body(ball).unwrap().linear_velocity().length(), 1e-4);
    });
    assert_below((scene.body(ball).position().z - 0.5).abs(), 1e-3);
}

#[test]
fn an_elastic_sphere_bounces_to_the_same_height_for_ever() {
    let mut scene = Scene::new(1.0, 0.5);
    scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(2.0, ball);
    let first = scene.energy();
    let mut flights = Flights::default();
    scene.run(1000, |world| flights.observe(&world.body(ball).unwrap()));
    // A period of 2 sqrt(2 h / g) = 1.106 s: 15 bounces in 16.7 s.
    assert_eq!(flights.apexes.len(), 16);
    for top in &flights.apexes {
        assert_near(top - 0.5, 1.5, 0.01);
    }
    assert_near(scene.energy(), first, 0.005);
}

/// Two balls after A has flown at B, which was at rest at the origin.
struct Hit {
    before: World,
    scene: Scene,
    a: BodyId,
    b: BodyId,
}

fn hit(friction: f64, mass: f64, speed: f64, offset: f64) -> Hit {
    let mut scene = Scene::weightless(1.0, friction);
    let a = scene.ball().mass(mass).velocity(Vec3::X * speed);
    let a = scene.add(a.position(Vec3::new(-2.0, offset, 0.0)));
    let b = scene.ball();
    let b = scene.add(b);
    let before = scene.world.clone();
    scene.run((3.0 / speed * 60.0) as usize, |_| {});
    Hit { before, scene, a, b }
}

impl Hit {
    fn assert_momentum_kept(&self) {
        let (before, after) = (self.before.momentum(), self.scene.world.momentum());
        let size = before.linear.length();
        assert_below((after.linear - before.linear).length(), 1e-12 * size);
        // About the origin, with a lever arm of 2 m.
        assert_below((after.angular - before.angular).length(), 1e-12 * 2.0 * size);
    }

    fn assert_kinetic_energy_kept(&self, relative: f64) {
        assert_near(self.scene.world.kinetic_energy(), self.before.kinetic_energy(), relative);
    }
}

#[test]
fn equal_elastic_spheres_swap_their_velocities() {
    for friction in [0.0, 0.5] {
        let hit = hit(friction, 1.0, 2.0, 0.0);
        let (a, b) = (hit.scene.body(hit.a), hit.scene.body(hit.b));
        assert_below(a.linear_velocity().length(), 1e-9);
        assert_below((b.linear_velocity() - Vec3::X * 2.0).length(), 1e-9);
        assert_eq!(a.angular_velocity(), Vec3::ZERO);
        assert_eq!(b.angular_velocity(), Vec3::ZERO);
        hit.assert_momentum_kept();
        hit.assert_kinetic_energy_kept(1e-12);
    }
}

#[test]
fn a_heavy_elastic_sphere_sends_a_light_one_off_at_the_known_speed() {
    let hit = hit(0.5, 10.0, 1.0, 0.0);
    let [v, w] = central_impact([10.0, 1.0], [1.0, 0.0], 1.0);
    assert_below((hit.scene.body(hit.a).linear_velocity() - Vec3::X * v).length(), 1e-6);
    assert_below((hit.scene.body(hit.b).linear_velocity() - Vec3::X * w).length(), 1e-6);
    hit.assert_momentum_kept();
}

#[test]
fn smooth_elastic_spheres_separate_at_right_angles_after_a_glancing_hit() {
    let hit = hit(0.0, 1.0, 2.0, 0.5);
    let (a, b) = (hit.scene.body(hit.a), hit.scene.body(hit.b));
    let (v, w) = (a.linear_velocity(), b.linear_velocity());
    assert!(v.length() > 0.1 && w.length() > 0.1, "both move: {v} {w}");
    assert_below((v.angle_between(w).to_degrees() - 90.0).abs(), 0.5);
    hit.assert_momentum_kept();
    hit.assert_kinetic_energy_kept(1e-9);
}
