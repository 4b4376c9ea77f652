//! The bouncing ball of the prototype.

use msd_sim::geometry::Shape;
use msd_sim::{BodyDef, BodyId};

use crate::scene::{EnergyWatch, Flights, Scene, assert_below, assert_near, impact_speeds};

/// Builds a scene with a ball of 1 kg and 1 m radius at z = 5, stepped at 16 ms.
fn prototype() -> (Scene, BodyId) {
    let mut scene = Scene::new(0.8, 0.5);
    scene.dt = 0.016;
    scene.floor();
    let ball = BodyDef::inertial(Shape::sphere(1.0).unwrap()).mass(1.0).material(scene.material);
    let ball = scene.add_at(5.0, ball);
    (scene, ball)
}

#[test]
fn the_prototype_ball_bounces_thirteen_times() {
    let (mut scene, ball) = prototype();
    let mut flights = Flights::default();
    scene.run(1000, |world| flights.observe(&world.body(ball).unwrap()));
    // 8.859 x 0.8^k m/s while above 0.5 m/s.
    assert_eq!(impact_speeds(4.0, 0.8, 0.5).len(), 13);
    let bounces = flights.apexes.len() - 1;
    assert!((12..=14).contains(&bounces), "{bounces} bounces");
}

#[test]
fn the_prototype_ball_rests_and_has_lost_the_energy_of_its_fall() {
    let (mut scene, ball) = prototype();
    let first = scene.energy();
    scene.run(1000, |_| {});
    assert_below((scene.body(ball).position().z - 1.0).abs(), 0.005);
    // It falls by 4 m in total: 9.81 x 4 = 39.24 J.
    assert_below((first - scene.energy() - 39.24).abs(), 0.2);
}

#[test]
fn the_prototype_ball_never_gains_energy() {
    let (mut scene, _) = prototype();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(1000, |world| watch.check(world));
}

#[test]
fn the_prototype_ball_hits_the_floor_at_the_exact_speeds() {
    let (mut scene, _) = prototype();
    let mut impacts = Vec::new();
    scene.run(1000, |world| impacts.extend(world.events().hits().iter().map(|hit| hit.speed)));
    let expected = impact_speeds(4.0, 0.8, 0.5);
    assert_eq!(impacts.len(), expected.len());
    for (found, expected) in impacts.into_iter().zip(expected) {
        assert_near(found, expected, 0.01);
    }
}
