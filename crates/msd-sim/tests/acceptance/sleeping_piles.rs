//! Piles of many bodies fall asleep, on any number of threads, and survive any change meanwhile.

use super::scene::Scene;
use super::sleeping::swept::rules::{poses, settings};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, SpatialVector, Vec3};
use msd_sim::{BodyDef, Filter, JointDef, Material, Settings};

/// Builds a scene of boxes that fall into a low pile. No balls: they may keep rolling for long.
fn pile(count: usize, threads: u32) -> Scene {
    let mut scene = Scene::with(Settings { threads, ..settings() }, 0.0, 0.6).on_all_threads();
    scene.floor();
    for at in 0..count {
        let (x, y, z) = (at % 11, at / 11 % 11, at / 121);
        let shake = 0.2 * ((at * 7919) % 11) as f64 / 11.0;
        let place = Vec3::new(x as f64 - 5.0, y as f64 - 5.0, z as f64) * 0.6;
        let half = [Vec3::splat(0.2), Vec3::new(0.25, 0.2, 0.15), Vec3::new(0.15, 0.25, 0.2)];
        let body = scene.brick(half[at % 3]).orientation(Quat::from_rotation_x(3.0 * shake));
        scene.add(body.position(place + Vec3::new(shake, 0.15 * z as f64 - shake, 0.4 + shake)));
    }
    scene
}

#[test]
fn a_pile_of_500_falls_asleep() {
    let mut scene = pile(500, 2);
    let mut steps = 0;
    while scene.step().asleep < 500 {
        steps += 1;
        assert!(steps < 3000, "{} sleep", scene.world.report().asleep);
    }
    let before = poses(&scene.world);
    scene.run(20, |_| {});
    assert_eq!(poses(&scene.world), before);
}

#[test]
fn sleep_does_not_depend_on_the_number_of_threads() {
    let run = |threads: u32| {
        let mut scene = pile(150, threads);
        let (mut hashes, mut sleepers) = (Vec::new(), 0);
        for step in 0..1200 {
            let report = scene.step();
            sleepers = sleepers.max(report.asleep);
            if step % 300 == 299 {
                // A ball hits the sleeping pile, which then falls asleep again.
                let ball = scene.ball().position(Vec3::new(0.3, 0.1, 6.0));
                scene.add(ball);
            }
            if step % 20 == 0 {
                hashes.push((scene.world.state_hash(), report.asleep));
            }
        }
        assert!(sleepers > 100, "{sleepers}");
        hashes
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(3), one);
}

#[test]
fn no_change_between_steps_loses_or_duplicates_a_contact() {
    for seed in 0..6_u64 {
        let mut scene = pile(60, 1);
        let belt = scene.wall(Vec3::new(1.0, 0.3, 0.3), Vec3::new(-6.0, 0.0, 0.3));
        let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed + 1);
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut slept = 0;
        for step in 0..800 {
            let ids: Vec<_> = scene.world.bodies().map(|body| body.id()).collect();
            let id = ids[random(ids.len() as u64) as usize];
            let world = &mut scene.world;
            let inertial = world.body(id).unwrap().mass() > 0.0;
            match random(120) {
                0 => {
                    let pose = world.body(id).unwrap().pose();
                    let up = Pose::new(pose.position + Vec3::Z * 0.05, pose.rotation);
                    world.set_pose(if inertial { id } else { belt }, up).unwrap();
                }
                1 if inertial => world.remove_body(id).unwrap(),
                2 => {
                    let shape = Shape::cuboid(Vec3::splat(0.2)).unwrap();
                    let place = Vec3::new(random(6) as f64 - 3.0, random(6) as f64 - 3.0, 2.0);
                    world.add_body(BodyDef::inertial(shape).mass(1.0).position(place)).unwrap();
                }
                3 => {
                    let speed = random(3) as f64 - 1.0;
                    let velocity = SpatialVector::new(Vec3::X * speed, Vec3::ZERO);
                    world.set_velocity(belt, velocity).unwrap();
                }
                4 => world.set_filter(id, Filter::default()).unwrap(),
                5 => world.set_collides(id, ids[1], step % 2 == 0).unwrap(),
                6 => world.set_material(id, Material::new(0.0, 0.4).unwrap()).unwrap(),
                7 if inertial && id != ids[1] => {
                    let rope = JointDef::rope(ids[1], id, 30.0).collide(true);
                    let _ = world.add_joint(rope);
                }
                8 => {
                    let first = world.joints().next().map(|(id, _)| id);
                    if let Some(id) = first {
                        world.remove_joint(id).unwrap();
                    }
                }
                9 => {
                    let kept = world.snapshot();
                    world.restore(&kept);
                }
                10 => world.set_settings(Settings { threads: 1 + step % 3, ..settings() }).unwrap(),
                _ => {}
            }
            slept = slept.max(scene.step().asleep);
            let pairs: Vec<_> = scene
                .world
                .contacts()
                .map(|contact| (contact.a().index(), contact.b().index()))
                .collect();
            assert!(pairs.is_sorted_by(|a, b| a < b), "seed {seed}, step {step}");
            let still = |body: &msd_sim::Body<'_>| body.velocity() == SpatialVector::ZERO;
            assert!(scene.world.bodies().all(|body| !body.is_asleep() || still(&body)));
            assert!(
                scene.world.bodies().all(|body| body.mass() == 0.0 || body.position().z > -0.2),
                "step {step}"
            );
        }
        assert!(slept > 20, "{slept}");
    }
}
