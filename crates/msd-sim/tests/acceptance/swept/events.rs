//! Contact events and hits.

use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{ContactEvent, Filter};

use super::{swept, turntable_pile};
use crate::scene::assert_near;

#[test]
fn a_ball_that_lands_and_is_thrown_up_again_has_one_begin_and_one_end_event() {
    let mut scene = swept(0.0, 0.5);
    let floor = scene.floor();
    let ball = scene.ball();
    let ball = scene.add_at(1.5, ball);
    let (mut begun, mut ended, mut hits) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..200 {
        if n == 100 {
            scene.world.set_velocity(ball, SpatialVector::new(Vec3::Z * 9.0, Vec3::ZERO)).unwrap();
        }
        scene.step();
        let events = scene.world.events();
        begun.extend(events.begun().iter().map(|event| (n, *event)));
        ended.extend(events.ended().iter().map(|event| (n, *event)));
        hits.extend(events.hits().iter().map(|event| (n, *event)));
    }
    let of = |body| scene.world.body(body).unwrap().colliders().next().unwrap().id();
    let both = ContactEvent { a: floor, b: ball, colliders: [floor, ball].map(of) };
    assert_eq!((begun.len(), ended.len()), (1, 1), "{begun:?} {ended:?}");
    // It falls 1 m in 0.4515 s, in step 27; a contact within the next substep is predicted earlier.
    assert!((26..=27).contains(&begun[0].0) && begun[0].1 == both, "{begun:?}");
    assert!((100..103).contains(&ended[0].0) && ended[0].1 == both, "{ended:?}");
    // sqrt(2 g 1 m) = 4.4294 m/s, less up to gravity's share of a step and a substep, since it is
    // the speed at the start of the step: 0.2 m/s.
    let (when, hit) = hits[0];
    assert_eq!((when, hit.a, hit.b), (begun[0].0, floor, ball));
    assert!((4.4294 - 0.21..4.43).contains(&hit.speed), "{}", hit.speed);
    assert!((hit.normal - Vec3::Z).length() < 1e-9);
    assert!(hit.position.length() < 0.1, "{}", hit.position);
}

#[test]
#[ignore = "known limit: two hits, of 4.25 m/s and of 1.88 m/s: the first step leaves the speed that closes the gap"]
fn a_landing_is_one_hit() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let ball = scene.ball();
    scene.add_at(1.5, ball);
    let mut hits = Vec::new();
    scene.run(60, |world| hits.extend_from_slice(world.events().hits()));
    assert_eq!(hits.len(), 1, "{hits:?}");
    // m v, plus gravity's share of the step.
    assert_near(hits[0].impulse, 4.4294, 0.05);
}

#[test]
fn a_persistent_contact_does_not_begin_again_when_the_method_changes() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    scene.add_at(0.5, cube);
    let (mut begun, mut ended) = (0, 0);
    for limit in [0, 5, 0, 5] {
        let settings =
            msd_sim::Settings { max_exact_bodies: Some(limit), ..scene.world.settings().clone() };
        scene.world.set_settings(settings).unwrap();
        for _ in 0..10 {
            scene.step();
            begun += scene.world.events().begun().len();
            ended += scene.world.events().ended().len();
        }
    }
    assert_eq!((begun, ended), (1, 0));
}

#[test]
fn a_resting_body_has_no_events() {
    let mut scene = swept(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.step();
    assert_eq!(scene.world.events().begun().len(), 1);
    for _ in 0..200 {
        scene.step();
        let events = scene.world.events();
        assert!(events.begun().is_empty() && events.ended().is_empty() && events.hits().is_empty());
    }
    // Lifted away, its contact ends.
    scene.world.set_pose(cube, Pose::at(Vec3::Z * 5.0)).unwrap();
    scene.step();
    assert_eq!(scene.world.events().ended().len(), 1);
}

#[test]
fn a_filtered_contact_ends() {
    let mut scene = swept(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(10, |_| {});
    scene.world.set_filter(cube, Filter { groups: 0, mask: 0 }).unwrap();
    scene.step();
    assert_eq!(scene.world.events().ended().len(), 1);
}

#[test]
fn every_pair_that_begins_ends_before_it_begins_again() {
    let mut scene = turntable_pile(2);
    let mut touching = std::collections::BTreeSet::new();
    let key = |event: &ContactEvent| (event.a.index(), event.b.index());
    let mut hits = 0;
    for _ in 0..180 {
        scene.step();
        let events = scene.world.events();
        let in_order = |list: &[ContactEvent]| list.is_sorted_by_key(key);
        assert!(in_order(events.begun()) && in_order(events.ended()));
        for event in events.ended() {
            assert!(touching.remove(&key(event)), "{event:?} ended");
        }
        for event in events.begun() {
            assert!(event.a.index() < event.b.index());
            assert!(touching.insert(key(event)), "{event:?} began");
        }
        for hit in events.hits() {
            assert!(touching.contains(&(hit.a.index(), hit.b.index())), "{hit:?}");
            assert!(hit.speed > 0.5 && hit.impulse > 0.0);
            hits += 1;
        }
    }
    assert!(touching.len() > 150 && hits > 100, "{} {hits}", touching.len());
}

#[test]
fn a_removed_body_causes_no_end_event() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cubes = [0.5, 1.5].map(|height| scene.add_at(height, cube.clone()));
    scene.run(10, |_| {});
    scene.world.remove_body(cubes[0]).unwrap();
    scene.step();
    assert!(scene.world.events().ended().is_empty());
}
