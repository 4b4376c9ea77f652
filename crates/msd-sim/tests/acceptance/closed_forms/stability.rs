//! Thresholds between standing and falling, and stacks that must stand.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId};

use crate::audited_scene::{AuditedScene, DT, G, assert_near, block, cube, material};

/// Returns how far a body moves in some seconds, m.
fn moved(scene: &mut AuditedScene, id: BodyId, seconds: f64) -> f64 {
    let from = scene.position(id);
    scene.seconds(seconds);
    (scene.position(id) - from).length()
}

/// Asserts that a structure stands, or falls, by how far it moved.
fn assert_stands_or_falls(name: &str, stands: bool, moved: f64) {
    if stands {
        assert!(moved < 1e-4, "{name}: should stand, moved {moved:e} m");
    } else {
        assert!(moved > 1e-2, "{name}: should fall, moved {moved:e} m");
    }
}

#[test]
fn a_ladder_slips_just_below_the_critical_friction() {
    // Half length 1, half thickness t, touching floor and wall with its lower side: moments about
    // the foot give N_wall 2 sin = m g (cos - t sin), so mu = cot / 2 - t / 2.
    for (degrees, threshold) in [(45.0_f64, 0.49), (60.0, 0.27868), (70.0, 0.17199)] {
        for (factor, stands) in [(1.002, true), (0.998, false)] {
            let friction = threshold * factor;
            let mut scene = AuditedScene::new().passive();
            scene.floor(0.0, friction);
            let wall = BodyDef::environment(Shape::cuboid(Vec3::new(0.5, 5.0, 5.0)).unwrap());
            scene.add(wall.position(Vec3::new(-0.5, 0.0, 5.0)).material(material(0.0, 0.0)));
            let (sin, cos) = degrees.to_radians().sin_cos();
            // Along the ladder, upwards to the wall, and out of its upper side.
            let (along, out) = (Vec3::new(-cos, 0.0, sin), Vec3::new(sin, 0.0, cos));
            let foot = Vec3::new(2.0 * cos, 0.0, 0.0);
            let turn = rotation(Vec3::Y, degrees.to_radians());
            let pose = Pose::new(foot + along + out * 0.02, turn);
            let id = scene.add(block(Vec3::new(1.0, 0.2, 0.02), 0.0, friction).pose(pose));
            let moved = moved(&mut scene, id, 5.0);
            assert_stands_or_falls(&format!("{degrees} deg, mu {friction}"), stands, moved);
        }
    }
}

/// Returns how far the top of three overhanging blocks moves in 5 s.
fn overhang(mut scene: AuditedScene, share: f64) -> f64 {
    // A table that ends at x = 0.
    let table = BodyDef::environment(Shape::cuboid(Vec3::new(5.0, 5.0, 0.5)).unwrap());
    scene.add(table.position(Vec3::new(-5.0, 0.0, -0.5)).material(material(0.0, 0.5)));
    let (mut end, mut top) = (0.0, None);
    for (n, overhang) in [1.0 / 6.0, 1.0 / 4.0, 1.0 / 2.0].into_iter().enumerate() {
        end += overhang * share;
        let place = Vec3::new(end - 0.5, 0.0, 0.1 + 0.2 * n as f64);
        let def = block(Vec3::new(0.5, 0.25, 0.1), 0.0, 0.5).position(place);
        top = Some(scene.add(def));
    }
    moved(&mut scene, top.unwrap(), 5.0)
}

#[test]
fn an_overhanging_stack_stands_until_its_center_of_mass_passes_an_edge() {
    for (share, stands) in [(0.997, true), (1.003, false)] {
        let moved = overhang(AuditedScene::new().without_ledger(), share);
        assert_stands_or_falls(&format!("overhang {share}"), stands, moved);
    }
}

#[test]
fn the_ledger_of_an_overhanging_stack_balances() {
    overhang(AuditedScene::new(), 0.997);
    overhang(AuditedScene::new(), 1.003);
}

#[test]
fn an_overhanging_stack_gains_no_energy() {
    overhang(AuditedScene::new().passive(), 0.997);
}

/// Returns how far the top of three cylinders moves in 5 s, with these frictions between and below.
fn cylinders(mut scene: AuditedScene, between: f64, below: f64) -> f64 {
    let lying = rotation(Vec3::X, 90.0_f64.to_radians());
    // Friction combines by the geometric mean.
    scene.floor(0.0, below * below / between);
    let mut top = None;
    for (x, z) in [(-0.5, 0.5), (0.5, 0.5), (0.0, 0.5 + 0.75_f64.sqrt())] {
        let def = BodyDef::inertial(Shape::cylinder(0.5, 0.5).unwrap()).mass(1.0);
        let def = def.material(material(0.0, between)).orientation(lying);
        top = Some(scene.add(def.position(Vec3::new(x, 0.0, z))));
    }
    moved(&mut scene, top.unwrap(), 5.0)
}

#[test]
fn three_cylinders_stand_while_both_frictions_suffice() {
    // Two on the floor, one on top: the line of centers is at 30 deg to the vertical, and the
    // contact force bisects that angle: mu = tan 15 = 0.267949. Below, its horizontal part tan 15 /
    // 2 acts with a weight of 3/2: 0.089316.
    for (between, below) in [(1.005, 10.0), (0.995, 10.0), (3.0, 1.005), (3.0, 0.995)] {
        let stands = between > 1.0 && below > 1.0;
        let (own, ground) = (0.267949 * between, 0.089316 * below);
        let moved = cylinders(AuditedScene::new().without_ledger().passive(), own, ground);
        assert_stands_or_falls(&format!("{own} between, {ground} below"), stands, moved);
    }
}

#[test]
fn the_ledger_of_three_cylinders_balances() {
    for (between, below) in [(0.27, 0.9), (0.266, 0.9), (0.8, 0.09), (0.8, 0.088)] {
        cylinders(AuditedScene::new().passive(), between, below);
    }
}

#[test]
fn a_slender_box_topples_once_its_center_of_mass_passes_its_edge() {
    // Base 0.5, height 1: tan = 0.5.
    for (factor, stands) in [(0.998, true), (1.002, false)] {
        let mut scene = AuditedScene::new().passive();
        let slope = scene.incline((0.5_f64 * factor).atan().to_degrees(), 0.0, 2.0);
        let def = block(Vec3::new(0.25, 0.25, 0.5), 0.0, 2.0).pose(slope.above(0.5));
        let id = scene.add(def);
        let moved = moved(&mut scene, id, 5.0);
        assert_stands_or_falls(&format!("tan {}", 0.5 * factor), stands, moved);
    }
}

fn tower(count: usize) -> (AuditedScene, BodyId) {
    let mut scene = AuditedScene::new().passive();
    scene.floor(0.5, 0.5);
    let mut top = None;
    for n in 0..count {
        top = Some(scene.add(cube(0.5, 0.5).position(Vec3::Z * (0.5 + n as f64))));
    }
    (scene, top.unwrap())
}

#[test]
fn ten_cubes_stand_for_a_minute() {
    let (mut scene, top) = tower(10);
    scene.seconds(60.0);
    let place = scene.position(top);
    assert!((9.5 - place.z).abs() < 1e-3, "sank {:e} m", 9.5 - place.z);
    assert!(place.x.hypot(place.y) < 1e-4, "drifted to {place}");
    assert!(scene.speed() < 1e-6, "moves at {:e} m/s", scene.speed());
}

#[test]
fn twenty_cubes_stand() {
    let (mut scene, top) = tower(20);
    scene.seconds(10.0);
    let place = scene.position(top);
    assert!((19.5 - place.z).abs() < 5e-3, "sank {:e} m", 19.5 - place.z);
    assert!(place.x.hypot(place.y) < 1e-4, "drifted to {place}");
    assert!(scene.speed() < 1e-6, "moves at {:e} m/s", scene.speed());
}

#[test]
fn a_heavy_cube_stands_on_a_light_one() {
    let mut scene = AuditedScene::new().passive();
    scene.floor(0.5, 0.5);
    let light = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5));
    let heavy = scene.add(cube(0.5, 0.5).mass(1000.0).position(Vec3::Z * 1.5));
    for _ in 0..600 {
        scene.step();
        assert!(scene.world.report().max_penetration.unwrap() < 1e-3);
    }
    assert!((scene.position(light) - Vec3::Z * 0.5).length() < 1e-3);
    assert!((scene.position(heavy) - Vec3::Z * 1.5).length() < 2e-3);
    assert!(scene.speed() < 1e-6, "moves at {:e} m/s", scene.speed());
}

/// Asserts that boxes lie in their order, at rest, and that the floor carries their weight.
fn check_pile(scene: &AuditedScene, floor: BodyId, boxes: &[BodyId]) {
    assert!(scene.speed() < 1e-3, "moves at {:e} m/s", scene.speed());
    for pair in boxes.windows(2) {
        let rise = scene.position(pair[1]).z - scene.position(pair[0]).z;
        assert_near(rise, 1.0, 1e-3);
    }
    let force: Vec3 = boxes.iter().map(|&id| scene.impulse(floor, id)).sum();
    assert_near(force.z / DT, G * boxes.len() as f64, 0.01);
}

#[test]
fn a_stack_built_box_by_box_rests_with_its_full_weight_on_the_floor() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let mut boxes = Vec::new();
    for n in 0..3 {
        boxes.push(scene.add(cube(0.5, 0.5).position(Vec3::Z * (0.55 + f64::from(n)))));
        scene.seconds(1.0);
        check_pile(&scene, floor, &boxes);
    }
}

#[test]
fn a_box_dropped_on_a_box_comes_to_rest_there() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let low = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5));
    let high = scene.add(cube(0.5, 0.5).position(Vec3::Z * 2.5));
    scene.seconds(5.0);
    check_pile(&scene, floor, &[low, high]);
}

#[test]
fn five_boxes_released_above_each_other_keep_their_order() {
    let mut scene = AuditedScene::new();
    let floor = scene.floor(0.5, 0.5);
    let boxes: Vec<_> = (0..5)
        .map(|n| scene.add(cube(0.5, 0.5).position(Vec3::Z * (0.6 + 1.1 * f64::from(n)))))
        .collect();
    scene.seconds(5.0);
    check_pile(&scene, floor, &boxes);
}

#[test]
fn boxes_that_fall_on_each_other_gain_no_energy() {
    for (heights, seconds) in [(vec![0.5, 2.5], 5.0), (vec![0.6, 1.7, 2.8, 3.9, 5.0], 5.0)] {
        let mut scene = AuditedScene::new().passive();
        scene.floor(0.5, 0.5);
        for height in heights {
            scene.add(cube(0.5, 0.5).position(Vec3::Z * height));
        }
        scene.seconds(seconds);
    }
}
