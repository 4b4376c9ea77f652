use std::collections::BTreeSet;

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, JointDef, JointId, Settings, World};

use super::both;
use crate::oracle::pairs::Rng;
use crate::scene::DT;
use crate::stopwatch::Stopwatch;

fn ball(x: f64) -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).position(Vec3::X * x)
}

#[test]
fn the_contacts_of_a_body_are_those_of_the_world_that_name_it() {
    let sleeping = Settings { max_exact_bodies: Some(0), sleeping: true, ..Settings::default() };
    for settings in both().into_iter().chain([sleeping]) {
        let mut world = World::new(settings).unwrap();
        world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap())).unwrap();
        for n in 0..12 {
            let cube = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).unwrap());
            let place = Vec3::new((n % 2) as f64, (n / 2 % 2) as f64, 0.5 + (n / 4) as f64);
            world.add_body(cube.position(place)).unwrap();
        }
        for _ in 0..120 {
            world.step(DT).unwrap();
        }
        let asleep = world.report().asleep;
        assert_eq!(asleep, if world.settings().sleeping { 12 } else { 0 });
        let mut seen = 0;
        for body in world.bodies() {
            let of = world.contacts_of(body.id()).unwrap();
            let of: Vec<_> =
                of.map(|contact| (contact.a(), contact.b(), contact.impulse())).collect();
            let all = world.contacts().map(|contact| (contact.a(), contact.b(), contact.impulse()));
            let named = all.filter(|(a, b, _)| [*a, *b].contains(&body.id()));
            assert_eq!(of, named.collect::<Vec<_>>());
            seen += of.len();
        }
        assert_eq!(seen, 2 * world.contacts().count());
        assert!(seen >= 2 * 12, "{seen}");
        assert!(world.contacts_of(BodyId::from_raw_parts(3, 9)).is_err());
    }
}

#[test]
fn the_joints_of_a_body_are_those_of_the_world_that_name_it() {
    let mut world = World::default();
    let mut bodies: Vec<BodyId> =
        (0..12).map(|n| world.add_body(ball(f64::from(n))).unwrap()).collect();
    let mut rng = Rng::new(3);
    let mut any = |count: usize| (rng.range(0.0, count as f64) as usize).min(count - 1);
    for round in 0..400 {
        let [a, b] = [any(12), any(12)].map(|at| bodies[at]);
        let joints: Vec<JointId> = world.joints().map(|(id, _)| id).collect();
        match round % 8 {
            0 if !joints.is_empty() => world.remove_joint(joints[any(joints.len())]).unwrap(),
            1 if round % 40 == 1 => {
                let at = any(12);
                world.remove_body(bodies[at]).unwrap();
                bodies[at] = world.add_body(ball(at as f64)).unwrap();
            }
            _ if a != b => drop(world.add_joint(JointDef::ball(a, b)).unwrap()),
            _ => assert!(world.add_joint(JointDef::ball(a, b)).is_err()),
        }
        for &body in &bodies {
            let of: Vec<JointId> = world.joints_of(body).unwrap().map(|(id, _)| id).collect();
            let all = world.joints().filter(|(_, def)| def.ends().iter().any(|end| end.0 == body));
            assert_eq!(of, all.map(|(id, _)| id).collect::<Vec<_>>());
        }
    }
    assert!(world.joints().len() > 50);
    assert!(world.joints_of(BodyId::from_raw_parts(0, 99)).is_err());
}

#[test]
fn two_bodies_collide_again_once_the_last_joint_between_them_is_gone() {
    for settings in both() {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..settings }).unwrap();
        let [a, b] = [0.0, 0.9].map(|x| world.add_body(ball(x)).unwrap());
        let rope = |collide: bool| JointDef::rope(a, b, 2.0).collide(collide);
        let joints = [rope(false), rope(true), rope(false)];
        let joints = joints.map(|joint| world.add_joint(joint).unwrap());
        let contacts = |world: &mut World| {
            world.step(DT).unwrap();
            world.contacts().count()
        };
        assert_eq!(contacts(&mut world), 0);
        world.remove_joint(joints[0]).unwrap();
        assert_eq!(contacts(&mut world), 0);
        world.remove_joint(joints[2]).unwrap();
        assert_eq!(contacts(&mut world), 1);
    }
}

#[test]
fn forty_thousand_joints_are_added_and_removed_in_the_time_that_n_log_n_takes() {
    // The list of jointed pairs was once sorted again for each joint.
    let seconds = |count: usize| {
        let mut world = World::default();
        let bodies: Vec<BodyId> =
            (0..=count).map(|n| world.add_body(ball(n as f64)).unwrap()).collect();
        let watch = Stopwatch::start();
        let pairs = bodies.windows(2);
        let joints: Vec<JointId> =
            pairs.map(|pair| world.add_joint(JointDef::ball(pair[0], pair[1])).unwrap()).collect();
        assert_eq!(world.joints().len(), count);
        for &joint in &joints {
            world.remove_joint(joint).unwrap();
        }
        let all: BTreeSet<JointId> = joints.into_iter().collect();
        assert_eq!((all.len(), world.joints().len()), (count, 0));
        watch.seconds()
    };
    let [one, four] = [10_000, 40_000].map(seconds);
    assert!(four < 0.5, "{four} s for 40,000");
    // n^2 would be 16 times; caches and logarithms are allowed 10.
    assert!(four < 10.0 * one + 0.02, "{one} s for 10,000, {four} s for 40,000");
}

/// A teleported body had a contact with the floor at its old place: swept worlds still returned it, 39.5 m open.
#[test]
fn a_teleported_body_has_no_contacts_until_the_next_step() {
    for settings in both() {
        let mut world = World::new(settings).unwrap();
        world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap())).unwrap();
        let cube = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).unwrap());
        let cube = world.add_body(cube.position(Vec3::Z * 0.5)).unwrap();
        world.step(DT).unwrap();
        assert_eq!(world.contacts_of(cube).unwrap().count(), 1);
        let mut pose = world.body(cube).unwrap().pose();
        pose.position.z = 40.0;
        world.set_pose(cube, pose).unwrap();
        assert_eq!(world.contacts().count(), 0);
        // Back again, it is found where it was and stands as before.
        pose.position.z = 0.5;
        world.set_pose(cube, pose).unwrap();
        world.step(DT).unwrap();
        let contact = world.contacts_of(cube).unwrap().next().unwrap();
        assert_eq!(contact.points().len(), 4);
    }
}
