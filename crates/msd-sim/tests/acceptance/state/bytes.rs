//! Worlds as bytes: what is made of them continues bit for bit, and what was changed is rejected.

use std::sync::Arc;

use msd_sim::bodies::{BodyView, PotentialField};
use msd_sim::error::StateError;
use msd_sim::geometry::Shape;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, Collider, JointDef, Potential, Settings, World};

use crate::oracle::pairs::Rng;
use crate::scene::{DT, Scene};

/// A world with everything in it: several shapes, colliders, joints, fields, sensors, sleeping, removed bodies.
fn assorted(max_exact_bodies: u32) -> World {
    let settings = Settings {
        max_exact_bodies: Some(max_exact_bodies),
        sleeping: true,
        sleep_time: 0.2,
        audit: true,
        ..Settings::default()
    };
    let mut scene = Scene::with(settings, 0.4, 0.5);
    scene.floor();
    let mut rng = Rng::new(21);
    let points: Vec<Vec3> = (0..14).map(|_| rng.in_cube() * 0.4).collect();
    let hull = Shape::hull(&points).unwrap();
    let mut ids = Vec::new();
    for n in 0..14 {
        let shape = match n % 4 {
            0 => hull.clone(),
            1 => Shape::capsule(0.2, 0.2).unwrap(),
            2 => Shape::cuboid(Vec3::new(0.3, 0.2, 0.25)).unwrap(),
            _ => Shape::sphere(0.3).unwrap(),
        };
        let extra = Collider::new(Shape::sphere(0.2).unwrap()).at(Vec3::X * 0.3).name("knob");
        let def = BodyDef::inertial(shape).collider(extra).name(format!("body {n}")).user_data(n);
        ids.push(scene.add(def.position(rng.in_cube() * 1.5 + Vec3::Z * 3.0)));
    }
    let zone = Collider::new(Shape::cuboid(Vec3::ONE).unwrap()).sensor(true);
    scene.add(BodyDef::environment(zone).position(Vec3::Z * 0.5));
    scene.world.add_joint(JointDef::rope(ids[0], ids[1], 1.0)).unwrap();
    scene.world.add_joint(JointDef::ball(ids[2], ids[3]).anchors(Vec3::X, -Vec3::X)).unwrap();
    scene.world.add_potential(Potential::drag(0.1, 0.0, 0.01, 0.0, Vec3::X).unwrap()).unwrap();
    scene.run(40, |_| {});
    scene.world.remove_body(ids[5]).unwrap();
    scene.run(20, |_| {});
    scene.world
}

#[test]
fn a_world_made_of_bytes_is_equal_and_continues_bit_for_bit_on_other_threads() {
    for max_exact_bodies in [128, 0, 4] {
        let mut world = assorted(max_exact_bodies);
        let bytes = world.to_bytes().unwrap();
        let mut other = World::from_bytes(&bytes, &[]).unwrap();
        assert_eq!(other.to_bytes().unwrap(), bytes);
        // What can be read of it is the same before a step, too.
        assert_eq!(other.report(), world.report());
        assert_eq!(other.time(), world.time());
        let names = |world: &World| -> Vec<String> {
            world.bodies().map(|body| format!("{} {}", body.name(), body.user_data())).collect()
        };
        assert_eq!(names(&other), names(&world));
        let loads = |world: &World| -> Vec<Vec3> {
            world.contacts().map(|contact| contact.impulse()).collect()
        };
        assert_eq!(loads(&other), loads(&world));
        let settings = other.settings().clone();
        other.set_settings(Settings { threads: 3, ..settings }).unwrap();
        other.use_all_threads(true);
        for step in 0..120 {
            world.step(DT).unwrap();
            other.step(DT).unwrap();
            assert_eq!(other.state_hash(), world.state_hash(), "step {step}");
            assert_eq!(other.events().hits(), world.events().hits());
            assert_eq!(other.events().entered(), world.events().entered());
            assert_eq!(other.report().audit, world.report().audit);
        }
    }
}

#[test]
fn colliders_that_share_a_hull_share_it_in_bytes_too() {
    let mut rng = Rng::new(22);
    let points: Vec<Vec3> = (0..40).map(|_| rng.in_cube()).collect();
    let hull = Shape::hull(&points).unwrap();
    let bytes = |count: usize| {
        let mut world = World::default();
        for _ in 0..count {
            world.add_body(BodyDef::inertial(hull.clone())).unwrap();
        }
        world.to_bytes().unwrap().len()
    };
    let (one, hundred) = (bytes(1), bytes(100));
    let of_hull = 40 * 3 * 8;
    assert!(hundred < one + 99 * of_hull, "{one} and {hundred} bytes");
}

#[test]
fn changed_bytes_are_rejected_with_a_reason_and_without_a_panic() {
    let bytes = assorted(4).to_bytes().unwrap();
    let load = |bytes: &[u8]| World::from_bytes(bytes, &[]).map(|_| ()).unwrap_err();
    let mut rng = Rng::new(23);
    for n in 0..200 {
        let mut changed = bytes.clone();
        match n % 4 {
            0 => changed.truncate(rng.index(bytes.len())),
            1 => changed.extend((0..=rng.index(64)).map(|byte| byte as u8)),
            2 => changed[rng.index(bytes.len())] ^= 1 << rng.index(8),
            _ => {
                let at = rng.index(bytes.len() - 64);
                let garbage: Vec<u8> = (0..64).map(|_| rng.index(256) as u8).collect();
                changed[at..at + 64].copy_from_slice(&garbage);
            }
        }
        if changed == bytes {
            continue;
        }
        let error = load(&changed);
        assert!(!error.to_string().is_empty(), "{error:?}");
    }
    assert_eq!(load(b"something else"), StateError::NotAWorld);
    let mut newer = bytes.clone();
    newer[8] += 1;
    let message = load(&newer).to_string();
    assert!(message.starts_with("version of the layout = 2: expected 1"), "{message}");
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert_eq!(load(&flipped), StateError::Checksum);
}

/// A wind of its own kind.
#[derive(Debug)]
struct Wind(&'static str, f64);

impl PotentialField for Wind {
    fn energy(&self, body: &BodyView) -> f64 {
        -self.1 * body.pose.position.x
    }

    fn force(&self, _: &BodyView) -> SpatialVector {
        SpatialVector::new(Vec3::X * self.1, Vec3::ZERO)
    }

    fn name(&self) -> &str {
        self.0
    }
}

#[test]
fn user_defined_fields_are_attached_again_by_their_names() {
    let mut world = World::default();
    world.add_body(BodyDef::inertial(Shape::sphere(0.5).unwrap())).unwrap();
    let wind = world.add_potential(Potential::user(Wind("", 2.0))).unwrap();
    assert_eq!(world.to_bytes().unwrap_err(), StateError::UnnamedField);
    world.remove_potential(wind).unwrap();
    world.add_potential(Potential::user(Wind("trade wind", 2.0))).unwrap();
    world.step(DT).unwrap();
    let bytes = world.to_bytes().unwrap();
    let missing = StateError::MissingField { name: "trade wind".to_owned() };
    assert_eq!(World::from_bytes(&bytes, &[]).map(|_| ()).unwrap_err(), missing);
    let fields: [Arc<dyn PotentialField>; 2] =
        [Arc::new(Wind("monsoon", 9.0)), Arc::new(Wind("trade wind", 2.0))];
    let mut other = World::from_bytes(&bytes, &fields).unwrap();
    for _ in 0..10 {
        world.step(DT).unwrap();
        other.step(DT).unwrap();
    }
    assert_eq!(other.state_hash(), world.state_hash());
}
