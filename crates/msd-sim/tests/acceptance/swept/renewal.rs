//! Contacts whose points are found again within a step, because their bodies move far in it.

use msd_sim::geometry::{Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{BodyDef, BodyId, BodyKind, Settings};

use super::swept_settings;
use crate::oracle::pairs::Rng;
use crate::scene::{DT, Scene, assert_below};

/// Half the width of a cube, m.
const SIZE: f64 = 0.25;

/// Adds cubes in a loose grid above a place on the floor, 4 by 4 and up to 8 high, each askew.
fn add_cubes(scene: &mut Scene, count: usize, foot: Vec3) -> Vec<BodyId> {
    let mut rng = Rng::new(5);
    let mut one = || rng.range(-1.0, 1.0);
    (0..count)
        .map(|n| {
            let place = Vec3::new((n % 4) as f64, (n / 4 % 4) as f64, 1.0 + (n / 16) as f64);
            let shift = Vec3::new(one(), one(), one()) * 0.05;
            let turn = Quat::from_xyzw(one(), one(), one(), one()).normalize();
            let body = BodyDef::inertial(Shape::cuboid(Vec3::splat(SIZE)).unwrap()).mass(1.0);
            let body = body.pose(Pose::new(foot + place + shift, turn));
            scene.add(body.material(scene.material))
        })
        .collect()
}

/// Returns the deepest overlap of any two bodies, m.
fn deepest(scene: &Scene) -> f64 {
    let bodies: Vec<_> = scene.world.bodies().collect();
    let mut workspace = Workspace::default();
    let mut deepest = 0.0_f64;
    for (n, a) in bodies.iter().enumerate() {
        for b in &bodies[n + 1..] {
            let both_move = [a, b].iter().all(|body| body.kind() == BodyKind::Inertial);
            if both_move && a.position().distance(b.position()) > 2.0 * SIZE * 3_f64.sqrt() {
                continue;
            }
            let [at, bt] = [a, b].map(|body| body.colliders().next().unwrap().pose());
            let found = separation(
                a.colliders().next().unwrap().shape(),
                &at,
                b.colliders().next().unwrap().shape(),
                &bt,
                &mut Simplex::default(),
                &mut workspace,
            );
            deepest = deepest.max(found.unwrap().depth());
        }
    }
    deepest
}

#[test]
fn cubes_that_tumble_onto_each_other_overlap_by_no_more_than_the_motion_of_a_substep() {
    // A corner that no contact point stands for is noticed when the bodies have moved by a tenth of their size, at the next
    // substep: by then it is inside by that, and by the way of a substep. The fastest cube falls onto others at rest.
    // Contacts of the step's start let corners swing in for a whole step, 0.16 m at 9.6 m/s.
    let mut scene = Scene::with(swept_settings(), 0.1, 0.6);
    scene.floor();
    let cubes = add_cubes(&mut scene, 128, Vec3::ZERO);
    let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
    for _ in 0..150 {
        let audit = scene.step().audit.unwrap();
        let energy = audit.kinetic_before + audit.potential_before.abs();
        assert_below(audit.energy_error().unwrap().abs() / energy, 1e-12);
        worst = worst.max(deepest(&scene));
        let speeds = cubes.iter().map(|&cube| scene.body(cube).linear_velocity().length());
        fastest = speeds.fold(fastest, f64::max);
    }
    let substep = DT / f64::from(scene.world.settings().substeps);
    assert!(fastest > 9.0, "they fall");
    assert_below(worst, fastest * substep + 0.1 * SIZE);
}

#[test]
fn a_heap_in_fast_motion_moves_the_same_beside_another_one_on_any_number_of_threads() {
    // Contacts of both heaps share blocks, one of them with more points than the other.
    let heap = |threads: u32, others: usize| {
        let settings = Settings { threads, ..swept_settings() };
        let mut scene = Scene::with(settings, 0.1, 0.6).on_all_threads();
        scene.floor();
        let cubes = add_cubes(&mut scene, 40, Vec3::ZERO);
        let there = Vec3::new(30.0, 0.0, 1.3);
        for (n, id) in add_cubes(&mut scene, others, there).into_iter().enumerate() {
            let shape = match n % 3 {
                0 => Shape::capsule(0.1, 0.2),
                1 => Shape::cylinder(0.2, 0.1),
                _ => Shape::cuboid(Vec3::new(0.3, 0.1, 0.2)),
            };
            scene.world.set_shape(id, shape.unwrap()).unwrap();
        }
        let mut path = Vec::new();
        for _ in 0..60 {
            scene.step();
            path.extend(cubes.iter().map(|&cube| {
                let body = scene.body(cube);
                (body.pose(), body.velocity())
            }));
        }
        path
    };
    let alone = heap(1, 0);
    for threads in [1, 2, 3] {
        assert!(heap(threads, 50) == alone, "{threads} threads");
    }
}
