//! Recordings of bodies with several colliders, and of sensors.

use msd_record::{
    BodyKey, ColliderKey, ContactEventRecord, EventsRecord, Frame, HitRecord, Recorder, Recording,
    SensorEventRecord,
};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyDef, Collider, World};

use crate::run::{DT, header};

fn cuboid(half: [f64; 3], at: [f64; 3]) -> Collider {
    let shape = Shape::cuboid(Vec3::from_array(half)).unwrap();
    Collider::new(shape).at(Pose::at(Vec3::from_array(at))).density(500.0)
}

/// A floor, a table of a top and two legs, a zone above the table, and a ball that falls through the zone.
pub fn world() -> World {
    let mut world = World::default();
    let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
    world.add_body(BodyDef::environment(floor).name("floor")).unwrap();
    let table = BodyDef::inertial([
        cuboid([0.6, 0.4, 0.05], [0.0, 0.0, 0.65]).name("top"),
        cuboid([0.05, 0.4, 0.3], [-0.5, 0.0, 0.3]).name("left"),
        cuboid([0.05, 0.4, 0.3], [0.5, 0.0, 0.3]).name("right"),
    ]);
    world.add_body(table.name("table")).unwrap();
    let zone = cuboid([0.5, 0.5, 0.1], [0.0, 0.0, 1.2]).sensor(true);
    world.add_body(BodyDef::environment(zone).name("zone")).unwrap();
    let ball = BodyDef::inertial(Shape::sphere(0.1).unwrap()).name("ball");
    world.add_body(ball.position(Vec3::Z * 1.5)).unwrap();
    world
}

/// Returns the frame of that world after some steps.
pub fn furniture(steps: u64) -> Frame {
    let mut world = world();
    for _ in 0..steps {
        world.step(DT).unwrap();
    }
    Frame::of(&world)
}

fn key(index: u32) -> ColliderKey {
    ColliderKey { index, generation: 1 }
}

/// One event of each kind.
pub fn every_event() -> EventsRecord {
    let body = |index| BodyKey { index, generation: 0 };
    let pair = ContactEventRecord { a: body(0), b: body(1), colliders: [key(2), key(3)] };
    let ContactEventRecord { a, b, colliders } = pair;
    EventsRecord {
        begun: vec![pair],
        ended: vec![pair],
        hits: vec![HitRecord { a, b, colliders, ..HitRecord::default() }],
        entered: vec![SensorEventRecord { sensor: key(7), other: key(3) }],
        left: vec![SensorEventRecord { sensor: key(7), other: key(4) }],
        quarantined: Vec::new(),
    }
}

/// Records a world and returns its frames and the recording.
fn record(world: &mut World, steps: u64) -> (Vec<Frame>, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let mut recorder = Recorder::create(&path, &header(), world).unwrap();
    let mut frames = vec![Frame::of(world)];
    for _ in 0..steps {
        world.step(DT).unwrap();
        recorder.record(world).unwrap();
        frames.push(Frame::of(world));
    }
    recorder.finish("").unwrap();
    (frames, Recording::open(&path).unwrap())
}

#[test]
fn contacts_hits_and_events_are_read_back_with_their_colliders() {
    let mut world = world();
    let (frames, recording) = record(&mut world, 60);
    let colliders: Vec<ColliderKey> = world.colliders().map(|view| view.id().into()).collect();
    let [_, top, left, right, zone, ball] = colliders[..] else { panic!("six colliders") };
    let read: Vec<Frame> = recording.frames().map(Result::unwrap).collect();
    assert_eq!(format!("{read:?}"), format!("{frames:?}"));
    let last = &read[60];
    let touching: Vec<ColliderKey> = last.contacts.iter().map(|pair| pair.colliders[1]).collect();
    assert_eq!(touching, [left, right, ball]);
    assert_eq!(last.contacts[2].colliders[0], top);
    assert_eq!(last.contacts.iter().map(|pair| pair.b.index).collect::<Vec<_>>(), [1, 1, 3]);
    let events = || read.iter().map(|frame| &frame.events);
    let begun: Vec<_> = events().flat_map(|events| &events.begun).map(|e| e.colliders[1]).collect();
    assert!(begun.contains(&left) && begun.contains(&right) && begun.contains(&ball));
    let hits: Vec<_> = events().flat_map(|events| &events.hits).map(|hit| hit.colliders).collect();
    assert!(hits.contains(&[top, ball]), "{hits:?}");
    let passed = SensorEventRecord { sensor: zone, other: ball };
    let entered: Vec<_> = events().flat_map(|events| &events.entered).copied().collect();
    let gone: Vec<_> = events().flat_map(|events| &events.left).copied().collect();
    assert_eq!((entered, gone), (vec![passed], vec![passed]));
}

#[test]
fn the_colliders_of_a_pair_keep_the_order_that_the_pair_has() {
    let (frames, recording) = record(&mut world(), 40);
    for (read, frame) in recording.frames().map(Result::unwrap).zip(&frames) {
        assert_eq!(read, *frame);
        assert!(read.contacts.is_sorted_by_key(|pair| pair.colliders));
    }
}

#[test]
fn recordings_without_colliders_name_those_with_the_keys_of_the_bodies() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/format-1.mcap");
    let recording = Recording::open(path.as_ref()).unwrap();
    let known: Vec<ColliderKey> =
        recording.bodies().iter().map(|body| body.colliders[0].collider).collect();
    let frames: Vec<Frame> = recording.frames().map(Result::unwrap).collect();
    let pairs = || frames.iter().flat_map(|frame| &frame.contacts);
    assert!(pairs().count() > 0);
    for pair in pairs() {
        assert_eq!(pair.colliders.map(|key| key.index), [pair.a.index, pair.b.index]);
        assert!(pair.colliders.iter().all(|key| known.contains(key)));
    }
    let events = || frames.iter().map(|frame| &frame.events);
    assert!(events().any(|events| !events.begun.is_empty()));
    for event in events().flat_map(|events| &events.begun) {
        assert_eq!(event.colliders.map(|key| key.index), [event.a.index, event.b.index]);
    }
    assert!(events().all(|events| events.entered.is_empty() && events.left.is_empty()));
}
