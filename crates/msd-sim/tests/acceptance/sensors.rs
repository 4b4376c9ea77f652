//! Sensors: what enters, stays in and leaves them, with either method, asleep or awake.

use std::collections::BTreeSet;

use msd_sim::geometry::{Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyDef, Collider, ColliderId, Filter, Settings, World};

use crate::oracle::pairs::Rng;
use crate::scene::Scene;

fn zone(half: f64) -> Collider {
    Collider::new(Shape::cuboid(Vec3::splat(half)).unwrap()).sensor(true)
}

/// Returns the overlaps of all sensors by brute force.
fn overlaps(world: &World) -> BTreeSet<[ColliderId; 2]> {
    let all: Vec<_> = world.colliders().filter(|view| view.is_enabled()).collect();
    let mut workspace = Workspace::default();
    let mut found = BTreeSet::new();
    for sensor in all.iter().filter(|view| view.is_sensor()) {
        for other in all.iter().filter(|view| !view.is_sensor() && view.body() != sensor.body()) {
            let simplex = &mut Simplex::default();
            let (at, there) = (sensor.pose(), other.pose());
            let apart =
                separation(sensor.shape(), &at, other.shape(), &there, simplex, &mut workspace);
            let seen = sensor.filter().allows(&other.filter());
            if seen && apart.is_some_and(|apart| apart.distance <= 0.0) {
                found.insert([sensor.id(), other.id()]);
            }
        }
    }
    found
}

#[test]
fn sensors_report_what_entered_stays_and_left_as_a_search_of_all_colliders_finds_it() {
    for max_exact_bodies in [128, 0] {
        let settings = Settings {
            max_exact_bodies: Some(max_exact_bodies),
            sleeping: true,
            sleep_time: 0.1,
            ..Settings::default()
        };
        let mut scene = Scene::with(settings, 0.3, 0.5);
        scene.floor();
        let mut rng = Rng::new(11);
        // Zones at rest, one that moves, and one on a body that falls.
        for x in [-1.5, 0.0, 1.5] {
            scene.add(BodyDef::environment(zone(0.7)).position(Vec3::new(x, 0.0, 0.5)));
        }
        let patrol = BodyDef::environment(zone(0.5)).velocity(Vec3::X).position(-Vec3::X * 3.0);
        scene.add(patrol);
        let ball = || Collider::new(Shape::sphere(0.2).unwrap());
        scene.add(BodyDef::inertial([ball(), zone(0.6)]).position(Vec3::new(0.5, 0.3, 3.0)));
        let mut ids = Vec::new();
        for _ in 0..15 {
            let place = rng.in_cube() * 2.0 + Vec3::Z * 3.0;
            ids.push(scene.add(BodyDef::inertial(ball()).position(place)));
        }
        let (mut before, mut stayed) = (BTreeSet::new(), 0);
        for step in 0..200 {
            if step == 90 {
                scene.world.set_pose(ids[0], Pose::at(Vec3::Z * 0.6)).unwrap();
            }
            if step == 100 {
                scene.world.remove_body(ids[1]).unwrap();
            }
            if step == 110 {
                let nothing = Filter { groups: 0, mask: 0 };
                scene.world.set_filter(ids[2], nothing).unwrap();
            }
            scene.step();
            let world = &scene.world;
            let now = overlaps(world);
            let pairs = |events: &[msd_sim::SensorEvent]| -> BTreeSet<[ColliderId; 2]> {
                events.iter().map(|event| [event.sensor, event.other]).collect()
            };
            let entered: BTreeSet<_> = now.difference(&before).copied().collect();
            let left: BTreeSet<_> = before.difference(&now).copied().collect();
            assert_eq!(pairs(world.events().entered()), entered, "step {step}");
            assert_eq!(pairs(world.events().left()), left, "step {step}");
            for view in world.colliders() {
                let listed: Vec<_> = world.overlaps_of(view.id()).unwrap().collect();
                let expected: Vec<_> =
                    now.iter().filter(|pair| pair[0] == view.id()).map(|pair| pair[1]).collect();
                assert_eq!(listed, expected);
            }
            stayed += now.intersection(&before).count();
            before = now;
        }
        // Bodies that rest and sleep in the zones are still reported.
        assert!(stayed > 500 && !before.is_empty(), "{stayed}");
        let sleeping = |id: &[ColliderId; 2]| {
            let body = scene.world.collider(id[1]).unwrap().body();
            scene.body(body).is_asleep()
        };
        assert!(before.iter().any(sleeping), "no body sleeps in a zone");
    }
}

#[test]
fn a_sensor_changes_no_bit_of_the_motion_and_goes_on_from_a_snapshot() {
    let run = |with_sensor: bool| {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let ball = scene.ball();
        scene.add(ball.position(Vec3::Z * 2.0).velocity(Vec3::X));
        if with_sensor {
            scene.add(BodyDef::environment(zone(1.0)).position(Vec3::new(1.0, 0.0, 0.5)));
        }
        let mut events = 0;
        for step in 0..90 {
            if step == 40 {
                let snapshot = scene.world.snapshot();
                scene.world.restore(&snapshot);
            }
            scene.step();
            events += scene.world.events().entered().len() + scene.world.events().left().len();
        }
        let ball = scene.world.bodies().nth(1).unwrap();
        (ball.pose(), ball.velocity(), events)
    };
    let (pose, velocity, none) = run(false);
    let (with_pose, with_velocity, events) = run(true);
    // It sees the floor from the first step on, and the ball enter.
    assert_eq!((with_pose, with_velocity, none, events), (pose, velocity, 0, 2));
}
