//! Islands that are swept because exact steps of them cost too much.

use msd_sim::error::SettingsError;
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, JointDef, Settings, World};

use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below};

/// Settings with a limit on the cost of exact steps.
fn limited(max_exact_cost: u32) -> Settings {
    Settings { max_exact_cost: Some(max_exact_cost), audit: true, ..Settings::default() }
}

/// Adds cubes of half a meter in a loose grid above a place on the floor, each askew.
fn add_heap(scene: &mut Scene, count: usize, foot: Vec3) -> Vec<BodyId> {
    let mut rng = Rng::new(3);
    let mut one = || rng.range(-1.0, 1.0);
    (0..count)
        .map(|n| {
            let place = Vec3::new((n % 3) as f64, (n / 3 % 3) as f64, 1.0 + (n / 9) as f64) * 0.8;
            let turn = Quat::from_xyzw(one(), one(), one(), one()).normalize();
            let shift = Vec3::new(one(), one(), one()) * 0.05;
            let body = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.25)).unwrap()).mass(1.0);
            let body = body.pose(Pose::new(foot + place + shift, turn));
            scene.add(body.material(scene.material))
        })
        .collect()
}

/// Returns the numbers of exact and swept bodies in the last step.
fn methods(world: &World) -> (usize, usize) {
    (world.report().exact, world.report().swept)
}

fn states(scene: &Scene, ids: &[BodyId]) -> Vec<(Pose, SpatialVector)> {
    ids.iter().map(|&id| (scene.body(id).pose(), scene.body(id).velocity())).collect()
}

#[test]
fn a_costly_heap_is_swept_while_it_tumbles_and_rests_exactly() {
    let mut scene = Scene::with(limited(300), 0.1, 0.6);
    scene.floor();
    add_heap(&mut scene, 27, Vec3::ZERO);
    let (mut most_swept, mut resting) = (0, 0);
    for step in 0..3600 {
        let report = scene.step();
        assert_eq!(report.exact + report.swept, 27, "step {step}");
        let audit = report.audit.unwrap();
        let energy = audit.kinetic_before + audit.potential_before.abs();
        assert_below(audit.energy_error().unwrap().abs() / energy, 1e-12);
        (most_swept, resting) = (most_swept.max(report.swept), report.resting);
        if resting == 27 {
            break;
        }
    }
    assert!(most_swept > 20, "{most_swept} of 27 were swept");
    assert_eq!(resting, 27, "all of them rest in the end, held by exact impulses");
}

#[test]
fn without_a_limit_the_heap_is_exact() {
    let mut scene = Scene::with(Settings::default(), 0.1, 0.6);
    scene.floor();
    add_heap(&mut scene, 27, Vec3::ZERO);
    scene.run(60, |world| assert_eq!(methods(world), (27, 0)));
}

#[test]
fn few_bodies_and_bodies_with_joints_are_exact_at_any_cost() {
    let mut scene = Scene::with(limited(1), 0.1, 0.6);
    scene.floor();
    add_heap(&mut scene, 4, Vec3::ZERO);
    let links = add_heap(&mut scene, 9, Vec3::X * 10.0);
    for pair in links.windows(2) {
        let ends = [pair[0], pair[1]].map(|id| scene.body(id).pose());
        let middle = (ends[0].position + ends[1].position) * 0.5;
        let [a, b] = ends.map(|pose| pose.inverse_transform_point(middle));
        scene.world.add_joint(JointDef::ball(pair[0], pair[1]).anchors(a, b)).unwrap();
    }
    scene.run(240, |world| assert_eq!(methods(world), (13, 0)));
}

#[test]
fn a_stack_that_lands_is_not_swept_for_a_costly_solve() {
    // Cubes that land flat cost a few Newton steps each and rest: one sweep would tilt them.
    let mut scene = Scene::with(limited(300), 0.0, 0.6);
    scene.floor();
    for n in 0..8 {
        let cube = scene.cube();
        scene.add_at(0.5 + 1.05 * f64::from(n), cube);
    }
    scene.run(240, |world| assert_eq!(methods(world), (8, 0)));
    assert_eq!(scene.step().resting, 8);
}

/// Asserts that a heap ends in the same bits beside another one far away, on several threads, and after a restore.
fn assert_moves_as_if_alone(settings: &Settings) {
    let heap = |threads: u32, others: usize| {
        let settings = Settings { threads, ..settings.clone() };
        let mut scene = Scene::with(settings, 0.1, 0.6).on_all_threads();
        scene.floor();
        let cubes = add_heap(&mut scene, 27, Vec3::ZERO);
        add_heap(&mut scene, others, Vec3::new(20.0, 0.0, 0.4));
        (scene, cubes)
    };
    let (mut scene, cubes) = heap(1, 0);
    scene.run(70, |_| {});
    let snapshot = scene.world.snapshot();
    scene.run(70, |_| {});
    let alone = states(&scene, &cubes);
    scene.world.restore(&snapshot);
    scene.run(70, |_| {});
    assert_eq!(states(&scene, &cubes), alone, "restored");
    for (threads, others) in [(1, 12), (2, 0), (3, 30)] {
        let (mut scene, cubes) = heap(threads, others);
        scene.run(140, |_| {});
        assert_eq!(states(&scene, &cubes), alone, "{threads} threads, {others} others");
    }
}

#[test]
fn a_costly_heap_moves_as_if_alone() {
    assert_moves_as_if_alone(&limited(300));
}

/// Landings are found in rounds. A body that had landed took part in the rounds of all others: its contact points were carried
/// along instead of found, which differs in the last bit.
#[test]
fn an_exact_heap_moves_as_if_alone_while_others_land_far_away() {
    assert_moves_as_if_alone(&Settings::default());
}

#[test]
fn steps_without_a_limit_do_not_count_once_there_is_one() {
    let mut scene = Scene::with(Settings { max_exact_cost: None, ..limited(1) }, 0.1, 0.6);
    scene.floor();
    add_heap(&mut scene, 27, Vec3::ZERO);
    scene.run(60, |_| {});
    scene.world.set_settings(limited(1)).unwrap();
    assert_eq!(scene.step().swept, 0, "the step before had no limit");
    assert!(scene.step().swept > 0);
    scene.world.set_settings(Settings { max_exact_cost: None, ..limited(1) }).unwrap();
    assert_eq!(scene.step().swept, 0, "without a limit they are exact at once");
}

#[test]
fn lifting_the_limit_of_a_large_world_makes_its_heaps_exact_at_once() {
    let mut scene = Scene::with(limited(300), 0.1, 0.6);
    scene.floor();
    add_heap(&mut scene, 27, Vec3::ZERO);
    for n in 0..110 {
        let (cube, place) =
            (scene.cube(), Vec3::new(2.0 * (n % 11) as f64, 2.0 * (n / 11) as f64, 0.5));
        scene.add(cube.position(place + Vec3::X * 20.0));
    }
    scene.run(60, |_| {});
    assert!(scene.step().swept > 20);
    scene.world.set_settings(Settings { max_exact_cost: None, ..limited(300) }).unwrap();
    scene.run(65, |world| assert_eq!(methods(world), (137, 0)));
}

#[test]
fn a_limit_of_zero_is_rejected() {
    let (field, least, most) = ("max_exact_cost", 1.0, f64::from(u32::MAX));
    let expected = SettingsError::OutOfRange { field, value: 0.0, least, most };
    assert_eq!(limited(0).check(), Err(expected));
}
