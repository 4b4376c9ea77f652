//! The rules of sleep, for the method that the parent module chooses.

use super::MAX_EXACT_BODIES;
use crate::scene::{DT, Scene};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, Filter, JointDef, Material, Potential, Settings, World};

/// A user's action on a body, and its name.
type Action = (&'static str, fn(&mut World, BodyId));

pub fn settings() -> Settings {
    Settings { max_exact_bodies: MAX_EXACT_BODIES, sleeping: true, ..Settings::default() }
}

/// Builds a scene of towers of cubes of 0.5 m on a floor, 4 m apart.
fn towers(settings: Settings, count: usize, height: usize) -> (Scene, BodyId, Vec<Vec<BodyId>>) {
    let mut scene = Scene::with(settings, 0.0, 0.5);
    let floor = scene.floor();
    let towers = (0..count).map(|at| {
        let of = (0..height).map(|storey| {
            let position = Vec3::new(4.0 * at as f64, 0.0, 0.25 + 0.5 * storey as f64);
            scene.add(scene.brick(Vec3::splat(0.25)).position(position))
        });
        of.collect()
    });
    let towers = towers.collect();
    (scene, floor, towers)
}

/// Builds the same towers, asleep.
fn sleeping(count: usize, height: usize) -> (Scene, BodyId, Vec<Vec<BodyId>>) {
    let (mut scene, floor, towers) = towers(settings(), count, height);
    settle(&mut scene);
    (scene, floor, towers)
}

fn settle(scene: &mut Scene) {
    let bodies = scene.world.bodies().filter(|body| body.mass() > 0.0).count();
    for _ in 0..600 {
        if scene.step().asleep == bodies {
            return;
        }
    }
    panic!("{} of {bodies} bodies sleep", scene.world.report().asleep);
}

/// Returns which towers are asleep; none may be partly asleep.
fn asleep(scene: &Scene, towers: &[Vec<BodyId>]) -> Vec<bool> {
    let states = towers.iter().map(|tower| {
        let bodies: Vec<_> = tower.iter().filter_map(|&id| scene.world.body(id).ok()).collect();
        let count = bodies.iter().filter(|body| body.is_asleep()).count();
        assert!(count == 0 || count == bodies.len(), "{count} of {}", bodies.len());
        count > 0
    });
    states.collect()
}

pub fn poses(world: &World) -> Vec<Pose> {
    world.bodies().map(|body| body.pose()).collect()
}

#[test]
fn towers_fall_asleep_and_then_keep_every_bit() {
    let (mut scene, _, towers) = sleeping(3, 6);
    assert_eq!(asleep(&scene, &towers), [true; 3]);
    assert!(scene.world.bodies().all(|body| body.velocity() == SpatialVector::ZERO));
    let (before, contacts) = (poses(&scene.world), scene.world.contacts().count());
    assert!(contacts >= 18);
    scene.run(300, |world| assert_eq!(world.report().asleep, 18));
    assert_eq!(poses(&scene.world), before);
    assert_eq!(scene.world.contacts().count(), contacts);
    assert!(scene.world.contacts().all(|contact| contact.points().len() == 4));
    assert!(scene.world.events().ended().is_empty());
}

#[test]
fn a_body_falls_asleep_on_an_unbounded_floor() {
    let mut scene = Scene::with(settings(), 0.0, 0.5);
    let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
    scene.add(BodyDef::environment(floor).material(scene.material));
    let cube = scene.add_at(0.6, scene.cube());
    settle(&mut scene);
    assert!((scene.body(cube).position().z - 0.5).abs() < 1e-3);
}

#[test]
fn nothing_sleeps_unless_sleeping_is_on() {
    let (mut scene, _, towers) = towers(Settings { sleeping: false, ..settings() }, 2, 3);
    scene.run(200, |world| assert_eq!(world.report().asleep, 0));
    assert_eq!(asleep(&scene, &towers), [false; 2]);
}

#[test]
fn nothing_falls_asleep_before_the_sleep_time() {
    let (mut scene, ..) = towers(settings(), 1, 2);
    let mut time = 0.0;
    while scene.step().asleep == 0 {
        time += DT;
        assert!(time < 5.0);
    }
    assert!(time + DT >= scene.world.settings().sleep_time);
}

#[test]
fn a_body_on_a_slowly_moving_belt_does_not_sleep() {
    let mut scene = Scene::with(settings(), 0.0, 0.5);
    let belt = scene.floor();
    let velocity = SpatialVector::new(Vec3::X * 0.01, Vec3::ZERO);
    scene.world.set_velocity(belt, velocity).unwrap();
    let cube = scene.add_at(0.5, scene.cube());
    scene.run(200, |world| assert_eq!(world.report().asleep, 0));
    assert!((scene.body(cube).linear_velocity().x - 0.01).abs() < 1e-6);
}

#[test]
fn a_touching_body_wakes_only_the_island_that_it_touches() {
    let (mut scene, _, towers) = sleeping(2, 4);
    let before = scene.world.body(towers[1][3]).unwrap().pose();
    let ball = scene.ball().position(Vec3::new(-2.0, 0.0, 1.0));
    let ball = scene.add(ball.velocity(Vec3::X * 3.0));
    let mut woken_at = None;
    scene.run(60, |world| {
        let body = world.body(ball).unwrap();
        if !world.body(towers[0][0]).unwrap().is_asleep() && woken_at.is_none() {
            woken_at = Some(body.position().x);
        }
    });
    // It touches at x = -0.75, and wakes the tower in that step.
    let woken_at = woken_at.expect("the ball touches the tower");
    assert!((-0.8 - 3.0 * DT..-0.7).contains(&woken_at), "{woken_at}");
    assert_eq!(asleep(&scene, &towers), [false, true]);
    assert_eq!(scene.world.body(towers[1][3]).unwrap().pose(), before);
}

#[test]
fn a_body_that_is_hit_asleep_moves_like_one_that_is_hit_awake() {
    let hit = |sleeps: bool| {
        let mut scene = Scene::with(Settings { sleeping: sleeps, ..settings() }, 0.0, 0.5);
        scene.floor();
        let cube = scene.add_at(0.5, scene.cube());
        scene.run(100, |_| {});
        assert_eq!(scene.body(cube).is_asleep(), sleeps);
        let ball = scene.ball().position(Vec3::new(-4.03, 0.0, 0.6));
        scene.add(ball.velocity(Vec3::X * 8.0));
        scene.run(60, |_| {});
        scene.body(cube).position()
    };
    let (asleep, awake) = (hit(true), hit(false));
    assert!(awake.x > 0.1);
    assert!((asleep - awake).length() < 1e-6, "{asleep} {awake}");
}

#[test]
fn a_body_that_passes_without_touching_wakes_nothing() {
    let (mut scene, _, towers) = sleeping(1, 2);
    let ball = scene.ball().position(Vec3::new(-3.0, 1.0, 0.6));
    scene.add(ball.velocity(Vec3::X * 6.0));
    scene.run(60, |_| {});
    assert_eq!(asleep(&scene, &towers), [true]);
}

#[test]
fn a_kinematic_body_wakes_an_island_when_it_touches_it() {
    let (mut scene, _, towers) = sleeping(2, 3);
    let pusher = scene.wall(Vec3::splat(0.2), Vec3::new(-1.5, 0.0, 0.5));
    scene.run(20, |_| {});
    assert_eq!(asleep(&scene, &towers), [true; 2]);
    let velocity = SpatialVector::new(Vec3::X, Vec3::ZERO);
    scene.world.set_velocity(pusher, velocity).unwrap();
    scene.run(50, |_| {});
    assert_eq!(asleep(&scene, &towers), [true; 2]);
    scene.run(20, |_| {});
    assert_eq!(asleep(&scene, &towers), [false, true]);
    assert!(scene.body(towers[0][0]).position().x > 0.01);
}

#[test]
fn a_kinematic_body_that_passes_and_stops_wakes_nothing() {
    let (mut scene, _, towers) = sleeping(1, 2);
    let passer = scene.wall(Vec3::splat(0.2), Vec3::new(-2.0, 0.55, 0.5));
    let velocity = SpatialVector::new(Vec3::X * 4.0, Vec3::ZERO);
    scene.world.set_velocity(passer, velocity).unwrap();
    scene.run(60, |_| {});
    assert!(scene.body(passer).position().x > 1.0);
    assert_eq!(asleep(&scene, &towers), [true]);
    scene.world.set_velocity(passer, SpatialVector::ZERO).unwrap();
    scene.run(20, |_| {});
    assert_eq!(asleep(&scene, &towers), [true]);
}

#[test]
fn a_users_change_to_a_body_wakes_only_its_island() {
    let actions: [Action; 12] = [
        ("set_pose", |world, id| {
            let pose = world.body(id).unwrap().pose();
            world.set_pose(id, pose).unwrap();
        }),
        ("set_velocity", |world, id| world.set_velocity(id, SpatialVector::ZERO).unwrap()),
        ("apply_force", |world, id| world.apply_force(id, SpatialVector::ZERO).unwrap()),
        ("apply_force_at", |world, id| world.apply_force_at(id, Vec3::X, Vec3::ZERO).unwrap()),
        ("apply_impulse", |world, id| world.apply_impulse(id, SpatialVector::ZERO).unwrap()),
        ("apply_impulse_at", |world, id| world.apply_impulse_at(id, Vec3::X, Vec3::Z).unwrap()),
        ("set_material", |world, id| world.set_material(id, Material::default()).unwrap()),
        ("set_filter", |world, id| world.set_filter(id, Filter::default()).unwrap()),
        ("set_collides", |world, id| {
            let other = world.bodies().next().unwrap().id();
            world.set_collides(id, other, true).unwrap();
        }),
        ("add_joint", |world, id| {
            let floor = world.bodies().next().unwrap().id();
            let slack = JointDef::spring(floor, id, 0.0, 0.0, 0.0).collide(true);
            world.add_joint(slack).unwrap();
        }),
        ("remove_body", |world, id| world.remove_body(id).unwrap()),
        ("wake", |world, id| world.wake(id).unwrap()),
    ];
    let (scene, _, towers) = sleeping(3, 3);
    for (name, action) in actions {
        let mut scene = scene.clone();
        action(&mut scene.world, towers[1][1]);
        assert_eq!(asleep(&scene, &towers), [true, false, true], "{name}");
        scene.step();
        assert_eq!(asleep(&scene, &towers), [true, false, true], "{name}, a step later");
        settle(&mut scene);
    }
}

#[test]
fn a_users_change_to_the_ground_wakes_the_bodies_on_it() {
    let mut scene = Scene::with(settings(), 0.0, 0.5);
    let tables = [0.0, 4.0].map(|x| scene.wall(Vec3::splat(1.0), Vec3::new(x, 0.0, -1.0)));
    let cubes = [0.0, 4.0].map(|x| {
        let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
        vec![scene.add(cube)]
    });
    settle(&mut scene);
    let actions: [Action; 5] = [
        ("remove_body", |world, id| world.remove_body(id).unwrap()),
        ("set_pose", |world, id| world.set_pose(id, Pose::at(-Vec3::Z * 1.2)).unwrap()),
        ("set_velocity", |world, id| {
            world.set_velocity(id, SpatialVector::new(Vec3::X, Vec3::ZERO)).unwrap();
        }),
        ("set_material", |world, id| {
            world.set_material(id, Material::new(0.0, 0.0).unwrap()).unwrap();
        }),
        ("set_filter", |world, id| {
            world.set_filter(id, Filter { groups: 0, mask: 0 }).unwrap();
        }),
    ];
    for (name, action) in actions {
        let mut scene = scene.clone();
        action(&mut scene.world, tables[0]);
        assert_eq!(asleep(&scene, &cubes), [false, true], "{name}");
        scene.run(30, |_| {});
        let z = scene.body(cubes[0][0]).position().z;
        let falls = ["remove_body", "set_pose", "set_filter"].contains(&name);
        assert_eq!(z < 0.45, falls, "{name}: {z}");
        assert!(asleep(&scene, &cubes)[1], "{name}");
    }
}

#[test]
fn an_environment_body_moved_into_a_sleeping_island_wakes_it() {
    let (mut scene, _, towers) = sleeping(2, 3);
    let wall = scene.wall(Vec3::splat(0.2), Vec3::new(0.0, 10.0, 0.5));
    scene.run(10, |_| {});
    assert_eq!(asleep(&scene, &towers), [true; 2]);
    scene.world.set_pose(wall, Pose::at(Vec3::new(0.4, 0.0, 0.5))).unwrap();
    scene.step();
    assert_eq!(asleep(&scene, &towers), [false, true]);
}

#[test]
fn changes_of_gravity_and_potentials_wake_all_islands() {
    let (scene, _, towers) = sleeping(2, 2);
    let mut lighter = scene.clone();
    let gravity = Vec3::Z * -1.0;
    lighter.world.set_settings(Settings { gravity, ..settings() }).unwrap();
    assert_eq!(asleep(&lighter, &towers), [false; 2]);
    let mut pulled = scene.clone();
    pulled.world.add_potential(Potential::uniform(Vec3::X).unwrap()).unwrap();
    assert_eq!(asleep(&pulled, &towers), [false; 2]);
    settle(&mut pulled);
    pulled.world.clear_potentials();
    assert_eq!(asleep(&pulled, &towers), [false; 2]);
    let mut off = scene.clone();
    off.world.set_settings(Settings { sleeping: false, ..settings() }).unwrap();
    assert_eq!(asleep(&off, &towers), [false; 2]);
    let mut same = scene.clone();
    same.world.set_settings(settings()).unwrap();
    assert_eq!(asleep(&same, &towers), [true; 2]);
    same.world.wake_all();
    assert_eq!(asleep(&same, &towers), [false; 2]);
}

#[test]
fn jointed_bodies_sleep_and_wake_together() {
    let mut scene = Scene::with(settings(), 0.0, 0.5);
    scene.floor();
    let [a, b, c] = [0.0, 2.0, 8.0].map(|x| {
        let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
        scene.add(cube)
    });
    let joint = scene.world.add_joint(JointDef::rope(a, b, 2.0)).unwrap();
    settle(&mut scene);
    let state = |scene: &Scene| [a, b, c].map(|id| scene.body(id).is_asleep());
    scene.world.wake(a).unwrap();
    assert_eq!(state(&scene), [false, false, true]);
    settle(&mut scene);
    scene.world.remove_joint(joint).unwrap();
    assert_eq!(state(&scene), [false, false, true]);
    settle(&mut scene);
    scene.world.wake(a).unwrap();
    assert_eq!(state(&scene), [false, true, true]);
}

#[test]
fn a_body_asleep_on_a_joint_falls_when_the_other_body_is_removed() {
    let mut scene = Scene::with(settings(), 0.0, 0.5);
    let hook = scene.wall(Vec3::splat(0.1), Vec3::Z * 5.0);
    let ball = scene.add_at(3.0, scene.ball());
    let joint = JointDef::ball(hook, ball).anchors(Vec3::ZERO, Vec3::Z * 2.0);
    let joint = scene.world.add_joint(joint).unwrap();
    settle(&mut scene);
    let pull = scene.world.joint_impulse(joint).unwrap().z;
    assert!((pull.abs() - 9.81 * DT).abs() < 1e-3 * pull.abs(), "{pull}");
    scene.world.remove_body(hook).unwrap();
    assert!(!scene.body(ball).is_asleep());
    scene.run(10, |_| {});
    assert!(scene.body(ball).linear_velocity().z < -1.0);
}

#[test]
fn a_body_that_slept_and_woke_moves_as_if_it_had_not_slept() {
    let mut awake = towers(Settings { sleeping: false, ..settings() }, 2, 5).0;
    awake.run(600, |_| {});
    let mut scene = awake.clone();
    scene.world.set_settings(settings()).unwrap();
    scene.run(100, |_| {});
    assert_eq!(scene.world.report().asleep, 10);
    awake.run(100, |_| {});
    scene.world.wake_all();
    for step in 0..60 {
        scene.step();
        awake.step();
        for (a, b) in poses(&scene.world).iter().zip(poses(&awake.world)) {
            let off = (a.position - b.position).length();
            assert!(off < 1e-6, "{off:e} m in step {step}");
            let turned = (a.rotation - b.rotation).length();
            assert!(turned < 1e-6, "{turned:e} in step {step}");
        }
        assert!(scene.world.report().asleep == 0 || step >= 20);
    }
}

#[test]
fn falling_asleep_and_waking_do_not_create_energy() {
    let (mut scene, _, towers) = towers(settings(), 2, 5);
    scene.run(30, |_| {});
    let mut energy = scene.energy();
    let allowed = 1e-6 * energy;
    for step in 0..400 {
        scene.step();
        if step % 100 == 99 {
            scene.world.wake(towers[0][0]).unwrap();
        }
        let now = scene.energy();
        assert!(now <= energy + allowed, "{:e} J in step {step}", now - energy);
        energy = now;
    }
}

#[test]
fn a_snapshot_keeps_which_bodies_sleep() {
    let (mut scene, _, towers) = sleeping(2, 3);
    let kept = scene.world.snapshot();
    let run = |scene: &mut Scene| {
        let ball = scene.ball().position(Vec3::new(0.1, 0.0, 3.0));
        scene.add(ball);
        scene.run(120, |_| {});
        scene.world.state_hash()
    };
    let first = run(&mut scene);
    scene.world.restore(&kept);
    assert_eq!(asleep(&scene, &towers), [true; 2]);
    assert_eq!(run(&mut scene), first);
}

#[test]
fn invalid_sleep_settings_are_rejected_with_their_field() {
    for value in [-1.0, f64::NAN] {
        let speed = Settings { sleep_speed: value, ..settings() }.check().unwrap_err();
        assert!(speed.to_string().contains("sleep_speed"));
        let time = Settings { sleep_time: value, ..settings() }.check().unwrap_err();
        assert!(time.to_string().contains("sleep_time"));
    }
}
