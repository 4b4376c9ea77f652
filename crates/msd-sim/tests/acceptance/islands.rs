//! Islands: bodies that are solved together.

use msd_sim::math::Vec3;
use msd_sim::{BodyId, JointDef, World};

use crate::scene::Scene;

/// Returns the islands of more than one body, in order.
fn islands(world: &World) -> Vec<Vec<BodyId>> {
    world.islands().map(Iterator::collect).filter(|island: &Vec<_>| island.len() > 1).collect()
}

/// Builds a scene of balls of 1 m diameter at these places, after one step without gravity.
fn balls(places: &[Vec3]) -> (Scene, Vec<BodyId>) {
    let mut scene = Scene::weightless(0.5, 0.5);
    let ids = places
        .iter()
        .map(|&place| {
            let ball = scene.ball().position(place);
            scene.add(ball)
        })
        .collect();
    scene.step();
    (scene, ids)
}

#[test]
fn an_empty_world_has_no_islands() {
    let mut world = World::default();
    let report = *world.step(0.01).unwrap();
    assert_eq!(report.islands, Some(0));
    assert_eq!(world.islands().count(), 0);
}

#[test]
fn two_bodies_that_touch_are_one_island() {
    let (scene, ids) = balls(&[Vec3::ZERO, Vec3::X]);
    assert_eq!(islands(&scene.world), [ids]);
}

#[test]
fn two_pairs_are_two_islands() {
    let (scene, ids) = balls(&[Vec3::ZERO, Vec3::X * 10.0, Vec3::X, Vec3::X * 11.0]);
    assert_eq!(islands(&scene.world), [vec![ids[0], ids[2]], vec![ids[1], ids[3]]]);
}

#[test]
fn a_chain_is_one_island() {
    let places: Vec<Vec3> = (0..20).map(|i| Vec3::X * f64::from(i * 7 % 20)).collect();
    let (scene, ids) = balls(&places);
    assert_eq!(islands(&scene.world), [ids]);
}

#[test]
fn a_star_is_one_island() {
    let arms = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    let places: Vec<Vec3> = arms.into_iter().chain([Vec3::ZERO]).collect();
    let (scene, ids) = balls(&places);
    assert_eq!(islands(&scene.world), [ids]);
}

#[test]
fn the_environment_joins_no_islands() {
    let mut scene = Scene::new(0.5, 0.5);
    let floor = scene.floor();
    for x in [0.0, 3.0, 6.0] {
        let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
        scene.add(cube);
    }
    let report = scene.step();
    assert_eq!(report.islands, Some(3));
    assert_eq!(scene.world.contacts().count(), 3);
    for island in scene.world.islands() {
        let members: Vec<BodyId> = island.collect();
        assert_eq!(members.len(), 1);
        assert!(!members.contains(&floor));
    }
}

#[test]
fn joints_connect_islands_until_their_bodies_are_removed() {
    let (mut scene, ids) = balls(&[Vec3::ZERO, Vec3::X * 3.0, Vec3::X * 6.0]);
    assert!(islands(&scene.world).is_empty());
    for pair in ids.windows(2) {
        scene.world.add_joint(JointDef::rod(pair[0], pair[1], 3.0)).unwrap();
    }
    scene.step();
    assert_eq!(islands(&scene.world), std::slice::from_ref(&ids));
    scene.world.remove_body(ids[1]).unwrap();
    scene.step();
    assert!(islands(&scene.world).is_empty());
}

#[test]
fn the_order_of_islands_is_deterministic() {
    let places: Vec<Vec3> = (0..40)
        .map(|i| {
            let i = f64::from(i * 17 % 40);
            Vec3::new((i / 4.0).floor() * 3.0, i % 4.0, 0.0)
        })
        .collect();
    let (first, ids) = balls(&places);
    let (second, _) = balls(&places);
    let found = islands(&first.world);
    assert_eq!(found, islands(&second.world));
    assert_eq!(found.len(), 10);
    // Bodies are in ascending order within islands, and islands by their first body.
    let position = |id: &BodyId| ids.iter().position(|other| other == id).unwrap();
    assert!(found.iter().all(|island| island.is_sorted_by_key(position)));
    assert!(found.is_sorted_by_key(|island| position(&island[0])));
}
