//! Contact events and hits, collision filters, removal of bodies.

use msd_sim::error::BodyError;
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{BodyId, Filter, JointDef, World};

use crate::audited_scene::{AuditedScene, DT, assert_near, ball, cube};

#[test]
fn a_bounce_begins_hits_and_ends_once() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let id = scene.add(ball(0.5, 0.5).mass(2.0).position(Vec3::Z * 1.5));
    let (mut begun, mut ended, mut hits) = (Vec::new(), Vec::new(), Vec::new());
    // It falls 1 m in 0.45 s and flies for another 0.45 s.
    for n in 0..50 {
        scene.step();
        let events = scene.world.events();
        begun.extend(events.begun().iter().map(|event| (n, *event)));
        ended.extend(events.ended().iter().map(|event| (n, *event)));
        hits.extend_from_slice(events.hits());
    }
    assert_eq!((begun.len(), ended.len(), hits.len()), (1, 1, 1));
    assert!(begun[0].0 < ended[0].0);
    assert_eq!((begun[0].1.a, begun[0].1.b), (floor, id));
    assert_eq!(ended[0].1, begun[0].1);
    let hit = hits[0];
    assert_eq!((hit.a, hit.b), (floor, id));
    // sqrt(2 g 1 m) = 4.4294 m/s; impulse m v (1 + e), plus gravity's share meanwhile.
    assert_near(hit.speed, (2.0 * 9.81_f64).sqrt(), 0.01);
    assert_near(hit.impulse, 2.0 * hit.speed * 1.5, 0.02);
    assert!((hit.normal - Vec3::Z).length() < 1e-9);
    assert!(hit.position.length() < 0.05);
}

#[test]
fn the_hits_of_a_bounce_have_its_impulse() {
    // Without gravity: m v (1 + e) = 2 3 1.5, however many steps the impact takes.
    let mut scene = AuditedScene::weightless();
    let floor = scene.floor(0.5, 0.5);
    let id = scene.add(ball(0.5, 0.5).mass(2.0).position(Vec3::Z).velocity(Vec3::Z * -3.0));
    let (mut begun, mut ended, mut impulse) = (0, 0, 0.0);
    for _ in 0..60 {
        scene.step();
        let events = scene.world.events();
        begun += events.begun().len();
        ended += events.ended().len();
        for hit in events.hits() {
            assert_eq!((hit.a, hit.b), (floor, id));
            assert_near(hit.speed, 3.0, 1e-9);
            impulse += hit.impulse;
        }
    }
    assert_eq!((begun, ended), (1, 1));
    assert_near(impulse, 9.0, 1e-9);
}

#[test]
fn a_resting_body_has_no_events() {
    let mut scene = AuditedScene::new();
    scene.floor(0.5, 0.5);
    let id = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5));
    scene.step();
    assert_eq!(scene.world.events().begun().len(), 1);
    for _ in 0..200 {
        scene.step();
        let events = scene.world.events();
        assert!(events.begun().is_empty() && events.ended().is_empty() && events.hits().is_empty());
    }
    // Lifted away, its contact ends.
    scene.world.set_pose(id, Pose::at(Vec3::Z * 5.0)).unwrap();
    scene.step();
    assert_eq!(scene.world.events().ended().len(), 1);
}

#[test]
fn a_body_can_be_removed_from_the_middle_of_a_stack() {
    let mut scene = AuditedScene::new();
    scene.floor(0.5, 0.5);
    let ids: Vec<_> = (0..4)
        .map(|n| scene.add(cube(0.5, 0.5).position(Vec3::Z * (0.5 + f64::from(n)))))
        .collect();
    scene.steps(60);
    scene.world.remove_body(ids[1]).unwrap();
    assert_eq!(scene.world.bodies().len(), 4);
    assert!(scene.world.contacts().all(|contact| contact.a() != ids[1] && contact.b() != ids[1]));
    scene.seconds(3.0);
    for (n, id) in [ids[0], ids[2], ids[3]].into_iter().enumerate() {
        assert_near(scene.position(id).z, 0.5 + n as f64, 1e-3);
    }
    assert!(scene.speed() < 1e-3);
}

#[test]
fn an_old_handle_does_not_refer_to_the_next_body_in_its_slot() {
    let mut world = World::default();
    let old = world.add_body(cube(0.5, 0.5)).unwrap();
    world.remove_body(old).unwrap();
    let new = world.add_body(ball(0.5, 0.5)).unwrap();
    assert_eq!(old.index(), new.index());
    assert_ne!(old.generation(), new.generation());
    assert!(world.body(old).is_err());
    let push = SpatialVector::new(Vec3::X, Vec3::ZERO);
    for rejected in [
        world.remove_body(old),
        world.set_pose(old, Pose::IDENTITY),
        world.set_velocity(old, push),
        world.apply_force(old, push),
        world.apply_impulse(old, push),
    ] {
        assert!(matches!(rejected, Err(BodyError::Unknown { .. })), "{rejected:?}");
    }
    assert!(world.add_joint(JointDef::ball(old, new)).is_err());
    assert!(world.body(new).is_ok());
}

#[test]
fn removing_a_body_removes_its_joints() {
    let mut scene = AuditedScene::new();
    let hook =
        scene.add(msd_sim::BodyDef::environment(msd_sim::geometry::Shape::sphere(0.1).unwrap()));
    let one = scene.add(ball(0.5, 0.5).position(Vec3::X * 2.0));
    let two = scene.add(ball(0.5, 0.5).position(Vec3::X * 4.0));
    let held = scene.world.add_joint(JointDef::rod(hook, one, 2.0)).unwrap();
    let other = scene.world.add_joint(JointDef::rod(one, two, 2.0)).unwrap();
    scene.steps(10);
    scene.world.remove_body(one).unwrap();
    assert!(scene.world.joint_impulse(held).is_err() && scene.world.joint_impulse(other).is_err());
    assert!(scene.world.remove_joint(held).is_err());
    let before = scene.velocity(two);
    scene.steps(6);
    assert_near(scene.velocity(two).z - before.z, -0.981, 1e-9);
}

#[test]
fn a_floor_removed_during_contact_leaves_no_impulse_behind() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let id = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5));
    scene.steps(30);
    scene.world.remove_body(floor).unwrap();
    let before = scene.velocity(id);
    scene.steps(6);
    assert_near(scene.velocity(id).z - before.z, -0.981, 1e-9);
}

/// Returns whether a ball released above the floor is still on it after a second.
fn lands(arrange: impl FnOnce(&mut World, BodyId, BodyId)) -> bool {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.0, 0.5);
    let id = scene.add(ball(0.0, 0.5).position(Vec3::Z * 0.6));
    arrange(&mut scene.world, floor, id);
    scene.seconds(1.0);
    scene.position(id).z > 0.4
}

#[test]
fn filters_and_disabled_pairs_determine_collisions() {
    assert!(lands(|_, _, _| {}));
    assert!(!lands(|world, floor, id| world.set_collides(floor, id, false).unwrap()));
    assert!(!lands(|world, floor, id| world.set_collides(id, floor, false).unwrap()));
    assert!(lands(|world, floor, id| {
        world.set_collides(floor, id, false).unwrap();
        world.set_collides(floor, id, true).unwrap();
    }));
    let filter = |groups, mask| Filter { groups, mask };
    // Each must be in a group of the other's mask.
    assert!(!lands(|world, _, id| world.set_filter(id, filter(2, 0)).unwrap()));
    assert!(!lands(|world, floor, id| {
        world.set_filter(floor, filter(1, 1)).unwrap();
        world.set_filter(id, filter(2, 1)).unwrap();
    }));
    assert!(lands(|world, floor, id| {
        world.set_filter(floor, filter(1, 2)).unwrap();
        world.set_filter(id, filter(2, 1)).unwrap();
    }));
}

#[test]
fn a_resting_body_falls_when_its_pair_is_disabled_and_its_contact_ends() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.0, 0.5);
    let id = scene.add(cube(0.0, 0.5).position(Vec3::Z * 0.5));
    scene.steps(30);
    scene.world.set_collides(floor, id, false).unwrap();
    scene.step();
    assert_eq!(scene.world.events().ended().len(), 1);
    scene.steps(29);
    assert_near(scene.velocity(id).z, -9.81 * 30.0 * DT, 1e-9);
}

#[test]
fn jointed_bodies_collide_only_if_their_joint_allows_it() {
    for collide in [false, true] {
        let mut scene = AuditedScene::weightless();
        let one = scene.add(ball(0.0, 0.0));
        let two = scene.add(ball(0.0, 0.0).position(Vec3::X * 1.5).velocity(-Vec3::X));
        scene.world.add_joint(JointDef::rope(one, two, 2.0).collide(collide)).unwrap();
        scene.seconds(0.8);
        assert_eq!(scene.velocity(one).x < -0.1, collide);
    }
}
