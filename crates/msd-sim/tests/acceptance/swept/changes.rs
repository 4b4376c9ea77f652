//! Changes to a world between steps: they act from the next step on.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, Filter, JointDef, Material, Settings};

use super::{fastest, pile, swept, swept_settings};
use crate::scene::{DT, G, Scene, assert_below, assert_near};

/// Builds a scene of cubes at rest on a floor, in a row along x with gaps between them.
fn row(count: u32) -> (Scene, BodyId, Vec<BodyId>) {
    let mut scene = swept(0.0, 0.5);
    let floor = scene.floor();
    let place = |n: u32| Vec3::new(f64::from(n) * 1.5, 0.0, 0.5);
    let cubes = (0..count).map(|n| scene.add(scene.cube().position(place(n)))).collect();
    scene.run(60, |_| {});
    (scene, floor, cubes)
}

fn stack(scene: &mut Scene, count: u32) -> Vec<BodyId> {
    let cube = scene.cube();
    (0..count).map(|n| scene.add_at(0.5 + f64::from(n), cube.clone())).collect()
}

/// Asserts that a cube is in free fall.
fn assert_falls(scene: &mut Scene, id: BodyId) {
    let before = scene.body(id).linear_velocity().z;
    scene.step();
    assert_near(before - scene.body(id).linear_velocity().z, G * DT, 1e-6);
}

#[test]
fn an_added_body_has_contacts_in_the_next_step() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let mut cubes = stack(&mut scene, 1);
    for n in 1..6 {
        scene.run(30, |_| {});
        let cube = scene.cube();
        cubes.push(scene.add_at(0.5 + f64::from(n), cube));
        scene.step();
        assert_eq!(scene.world.contacts().count(), cubes.len());
        let fall = scene.body(cubes[n as usize]).linear_velocity().z;
        // It is supported at once, up to the error of four sweeps without a warm start.
        assert_below(fall.abs(), 0.2 * G * DT);
    }
    scene.run(120, |_| {});
    for (n, &id) in cubes.iter().enumerate() {
        assert_near(scene.body(id).position().z, 0.5 + n as f64, 5e-3);
    }
}

#[test]
fn bodies_on_a_removed_body_fall() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cubes = stack(&mut scene, 3);
    scene.run(60, |_| {});
    scene.world.remove_body(cubes[0]).unwrap();
    assert_eq!(scene.world.contacts().count(), 1);
    assert_falls(&mut scene, cubes[2]);
    scene.run(120, |_| {});
    assert_near(scene.body(cubes[1]).position().z, 0.5, 5e-3);
    assert_near(scene.body(cubes[2]).position().z, 1.5, 5e-3);
}

#[test]
fn bodies_can_be_replaced_again_and_again() {
    // The oldest of forty is replaced again and again: slots are reused.
    let mut scene = swept(0.2, 0.5);
    scene.floor();
    let mut bodies = pile(&mut scene, 40, 0.5);
    for n in 0..200 {
        let old = bodies[n % 40];
        let def = BodyDef::inertial(super::assorted(n / 3)).mass(1.0);
        scene.world.remove_body(old).unwrap();
        scene.step();
        bodies[n % 40] = scene.add_at(3.0, def);
        scene.step();
    }
    scene.run(240, |_| {});
    for body in scene.world.bodies().skip(1) {
        assert!(body.position().z > 0.1 && body.position().length() < 30.0, "{}", body.position());
    }
    assert_below(scene.world.report().max_penetration.unwrap(), 0.01);
}

#[test]
fn a_body_moved_by_set_pose_gets_no_kick() {
    let (mut scene, _, cubes) = row(3);
    // To another place on the floor, and to a free one.
    for place in [Vec3::new(-5.0, 0.0, 0.5), Vec3::new(7.0, 7.0, 0.5)] {
        let depth = 0.5 - scene.body(cubes[1]).position().z;
        scene.world.set_pose(cubes[1], Pose::at(place - Vec3::Z * depth)).unwrap();
        scene.run(30, |world| {
            let velocity = world.body(cubes[1]).unwrap().velocity();
            // No more than gravity adds in a step, until it is supported.
            assert_below(velocity.linear.length() + velocity.angular.length(), 2.0 * G * DT);
        });
        assert_below((scene.body(cubes[1]).position() - place).length(), 2e-3);
    }
    // Into the air.
    scene.world.set_pose(cubes[1], Pose::at(Vec3::Z * 5.0)).unwrap();
    scene.world.set_velocity(cubes[1], SpatialVector::ZERO).unwrap();
    scene.step();
    let velocity = scene.body(cubes[1]).velocity();
    assert_below((velocity.linear + Vec3::Z * (G * DT)).length(), 1e-12);
    assert_eq!(velocity.angular, Vec3::ZERO);
}

#[test]
fn a_body_placed_inside_another_separates_gently() {
    // Half a meter deep: no faster than the correction speed of 4 m/s, and without keeping it.
    let (mut scene, _, cubes) = row(1);
    let cube = scene.cube().position(Vec3::new(0.0, 0.0, 1.0));
    let second = scene.add(cube);
    let mut most = 0.0_f64;
    scene.run(120, |world| {
        let speed = world.body(second).unwrap().velocity().linear.length();
        most = most.max(speed);
    });
    assert_below(most, 4.0);
    assert_below(fastest(&scene), 0.01);
    assert_near(scene.body(second).position().z - scene.body(cubes[0]).position().z, 1.0, 5e-3);
}

#[test]
fn a_set_velocity_acts_at_once() {
    let (mut scene, _, cubes) = row(2);
    scene.world.set_velocity(cubes[0], SpatialVector::new(Vec3::Y * 60.0, Vec3::ZERO)).unwrap();
    let before = scene.body(cubes[0]).position();
    scene.step();
    // A meter in a step, less the effect of friction.
    assert_near((scene.body(cubes[0]).position() - before).y, 1.0, 0.01);
    // The same for an impulse.
    let before = scene.body(cubes[1]).position();
    scene.world.apply_impulse(cubes[1], SpatialVector::new(Vec3::Y * 60.0, Vec3::ZERO)).unwrap();
    scene.step();
    assert_near((scene.body(cubes[1]).position() - before).y, 1.0, 0.01);
}

#[test]
fn a_force_acts_over_one_step() {
    let (mut scene, _, cubes) = row(1);
    let force = SpatialVector::new(Vec3::Z * 100.0, Vec3::ZERO);
    scene.world.apply_force(cubes[0], force).unwrap();
    scene.step();
    assert_near(scene.body(cubes[0]).linear_velocity().z, (100.0 - G) * DT, 0.01);
    let before = scene.body(cubes[0]).linear_velocity().z;
    scene.step();
    assert_near(before - scene.body(cubes[0]).linear_velocity().z, G * DT, 1e-6);
}

#[test]
fn a_filter_acts_from_the_next_step_on() {
    let (mut scene, _, cubes) = row(2);
    scene.world.set_filter(cubes[0], Filter { groups: 0, mask: 0 }).unwrap();
    assert_falls(&mut scene, cubes[0]);
    scene.run(5, |_| {});
    assert_below((scene.body(cubes[1]).position().z - 0.5).abs(), 2e-3);
    // Enabled again, it is stopped where it is.
    scene.world.set_filter(cubes[0], Filter::default()).unwrap();
    scene.run(120, |_| {});
    assert_near(scene.body(cubes[0]).position().z, 0.5, 5e-3);
}

#[test]
fn a_disabled_pair_does_not_collide() {
    let (mut scene, floor, cubes) = row(2);
    scene.world.set_collides(floor, cubes[1], false).unwrap();
    assert_falls(&mut scene, cubes[1]);
    scene.world.set_collides(floor, cubes[1], true).unwrap();
    scene.run(120, |_| {});
    assert_near(scene.body(cubes[1]).position().z, 0.5, 5e-3);
}

#[test]
fn a_material_acts_from_the_next_step_on() {
    let mut scene = swept(0.0, 0.5);
    let floor = scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(30, |_| {});
    let ice = Material::new(0.0, 0.0).unwrap();
    scene.world.set_material(floor, ice).unwrap();
    scene.world.set_material(cube, ice).unwrap();
    scene.world.set_velocity(cube, SpatialVector::new(Vec3::X * 5.0, Vec3::ZERO)).unwrap();
    scene.run(30, |_| {});
    assert_near(scene.body(cube).linear_velocity().x, 5.0, 1e-9);
    let rubber = Material::new(0.0, 0.5).unwrap();
    scene.world.set_material(floor, rubber).unwrap();
    scene.world.set_material(cube, rubber).unwrap();
    let before = scene.body(cube).linear_velocity().x;
    scene.step();
    // At once, and mu g on average: as it is braked below its center it first leans forward, which
    // increases its load.
    assert!(before - scene.body(cube).linear_velocity().x > 0.45 * G * DT);
    scene.run(19, |_| {});
    assert_near(before - scene.body(cube).linear_velocity().x, 10.0 * G * DT, 0.05);
}

#[test]
fn a_joint_acts_from_the_next_step_on_until_it_is_removed() {
    let (mut scene, floor, cubes) = row(1);
    let cube = scene.cube();
    let hung = scene.add_at(5.0, cube);
    let rod = scene.world.add_joint(JointDef::rod(floor, hung, 5.5)).unwrap();
    scene.step();
    assert_below(scene.body(hung).linear_velocity().z.abs(), 0.1 * G * DT);
    scene.run(60, |_| {});
    assert_near(scene.body(hung).position().z, 5.0, 1e-3);
    scene.world.remove_joint(rod).unwrap();
    assert_falls(&mut scene, hung);
    // A joint disables collisions between its bodies until it is removed.
    scene.world.set_pose(hung, Pose::at(scene.body(cubes[0]).position() + Vec3::Z)).unwrap();
    scene.world.set_velocity(hung, SpatialVector::ZERO).unwrap();
    scene.run(30, |_| {});
    let rope = scene.world.add_joint(JointDef::rope(cubes[0], hung, 10.0)).unwrap();
    assert_falls(&mut scene, hung);
    scene.world.remove_joint(rope).unwrap();
    scene.run(120, |_| {});
    assert_near(scene.body(hung).position().z, 1.5, 5e-3);
}

#[test]
fn a_body_with_joints_can_be_removed() {
    let (mut scene, floor, _) = row(1);
    let cube = scene.cube();
    let first = scene.add(cube.clone().position(Vec3::new(0.0, 5.0, 5.0)));
    let second = scene.add(cube.position(Vec3::new(0.0, 7.0, 5.0)));
    scene.world.add_joint(JointDef::rope(floor, first, 9.0)).unwrap();
    scene.world.add_joint(JointDef::rod(first, second, 2.0)).unwrap();
    scene.run(10, |_| {});
    scene.world.remove_body(first).unwrap();
    assert_eq!(scene.world.joints().count(), 0);
    assert_falls(&mut scene, second);
}

#[test]
fn a_resting_stack_stays_at_rest_when_the_method_changes() {
    // A threshold of 8: beside a stack of six, other cubes come and go at the far end of the floor.
    let mut scene =
        Scene::with(Settings { max_exact_bodies: Some(8), ..swept_settings() }, 0.0, 0.5);
    scene.floor();
    let cubes = stack(&mut scene, 6);
    scene.run(60, |_| {});
    for _ in 0..4 {
        let others: Vec<_> = (0..4)
            .map(|n| scene.add(scene.cube().position(Vec3::new(20.0, 2.0 * f64::from(n), 0.5))))
            .collect();
        assert!(scene.world.bodies().len() > 9);
        scene.run(30, |_| {});
        assert_below(fastest(&scene), 0.05);
        for id in others {
            scene.world.remove_body(id).unwrap();
        }
        scene.run(30, |_| {});
        assert_below(fastest(&scene), 0.05);
    }
    for (n, &id) in cubes.iter().enumerate() {
        let off = scene.body(id).position() - Vec3::Z * (0.5 + n as f64);
        assert_below(off.length(), 0.01);
    }
}

#[test]
fn a_pile_that_changes_method_as_it_shrinks_and_grows_stays_together() {
    let mut scene = Scene::new(0.1, 0.5);
    scene.floor();
    let bodies = pile(&mut scene, 180, 0.4);
    for batch in bodies[110..].chunks(10) {
        for &id in batch {
            scene.world.remove_body(id).unwrap();
        }
        scene.run(8, |_| {});
    }
    for n in 0..40 {
        let place = Vec3::new(f64::from(n % 8) - 4.0, f64::from(n / 8) - 2.5, 4.0);
        scene.add(scene.cube().position(place * 1.2));
        scene.run(4, |_| {});
    }
    scene.run(120, |_| {});
    for body in scene.world.bodies().skip(1) {
        assert!(body.position().z > 0.0 && body.position().length() < 30.0);
        assert_below(body.linear_velocity().length(), 15.0);
    }
}

/// A world dropped all its impulses when its 129th body arrived: gravity then moved every cube of a resting tower by
/// `g dt / 4 = 41 mm/s` in the first substep. With the impulses of the step before, sweeps start from the solution.
#[test]
fn a_resting_tower_does_not_notice_that_it_is_swept_from_now_on() {
    // The largest speed between a body and the one below it, rotation times 1 m included: a tower that leans as a whole
    // moves by its height times that at its top.
    let shear = |scene: &Scene| {
        let velocities: Vec<_> = scene.world.bodies().map(|body| body.velocity()).collect();
        let between = velocities.windows(2).map(|pair| pair[1] - pair[0]);
        between.map(|v| v.linear.length() + v.angular.length()).fold(0.0, f64::max)
    };
    for friction in [0.0, 0.5] {
        let settings = Settings { audit: true, ..Settings::default() };
        let mut scene = Scene::with(settings.clone(), 0.0, friction);
        scene.floor();
        for n in 0..8 {
            let cube = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).unwrap()).mass(1.0);
            scene.add(cube.position(Vec3::Z * (0.5 + f64::from(n))));
        }
        scene.run(60, |_| ());
        assert!(fastest(&scene) < 1e-9);
        scene
            .world
            .set_settings(Settings { max_exact_bodies: Some(0), ..settings.clone() })
            .unwrap();
        scene.world.step(DT).unwrap();
        assert_eq!(scene.world.report().swept, 8);
        assert!(shear(&scene) < 1e-9, "swept: {:e} m/s", shear(&scene));
        assert!(scene.world.events().begun().is_empty() && scene.world.events().ended().is_empty());
        scene.run(60, |_| ());
        scene.world.set_settings(settings).unwrap();
        scene.world.step(DT).unwrap();
        assert_eq!(scene.world.report().exact, 8);
        assert!(shear(&scene) < 1e-9, "exact: {:e} m/s", shear(&scene));
        assert!(scene.world.events().begun().is_empty() && scene.world.events().ended().is_empty());
    }
}

/// Bodies that touched in the last exact step and are apart in the first swept one ceased to touch: the event was
/// missing until their bounds separated.
#[test]
fn a_contact_that_ends_when_a_world_becomes_swept_has_its_event() {
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut scene = Scene::with(settings.clone(), 0.0, 0.0);
    let ball =
        |x: f64| BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).position(Vec3::X * x);
    scene.add(ball(0.0));
    let other = scene.add(ball(1.0));
    scene.world.step(DT).unwrap();
    assert_eq!(scene.world.events().begun().len(), 1);
    scene.world.set_settings(Settings { max_exact_bodies: Some(0), ..settings }).unwrap();
    let mut pose = scene.world.body(other).unwrap().pose();
    pose.position.x = 1.1;
    scene.world.set_pose(other, pose).unwrap();
    scene.world.step(DT).unwrap();
    assert_eq!(scene.world.events().ended().len(), 1);
    scene.world.step(DT).unwrap();
    assert_eq!(scene.world.events().ended().len(), 0);
}

/// One body is added to an island in every step, by a slack rope, until there are 300, then they are removed again: neither
/// repeats an event of the others, forgets an impulse, or disturbs a tower among them. The island is swept from 129 bodies on, and
/// exact again from 96, three quarters of 128, on. One of them rolls: an island of which nothing moves would be exact. The
/// slack of the ropes, 1000 m, is no speed that errors are measured by: the loads were off by 5e-5 when it was.
#[test]
fn a_world_that_grows_and_shrinks_while_it_runs_disturbs_nothing() {
    let mut scene = Scene::with(Settings::default(), 0.0, 0.5);
    let floor = scene.floor();
    let cube = || BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).unwrap()).mass(1.0);
    let tower: Vec<BodyId> =
        (0..4).map(|n| scene.add(cube().position(Vec3::Z * (0.5 + f64::from(n))))).collect();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0);
    let ball = ball.velocity(Vec3::X * 0.01).angular_velocity(Vec3::Y * 0.02);
    let ball = scene.add(ball.position(Vec3::new(0.0, -20.0, 0.5)));
    scene.world.add_joint(JointDef::rope(tower[0], ball, 1000.0)).unwrap();
    scene.run(30, |_| ());
    let load = |scene: &Scene| {
        let contacts = scene.world.contacts_of(tower[0]).unwrap();
        let mut on_floor = contacts.filter(|contact| contact.a() == floor);
        on_floor.next().map_or(0.0, |contact| contact.impulse().z)
    };
    let mut others = Vec::new();
    let (mut begun, mut fastest_swept) = (0, 0.0_f64);
    for step in 0..592 {
        if step < 296 {
            let [x, y] = [step % 20, step / 20].map(f64::from);
            let place = Vec3::new(3.0 * x - 40.0, 3.0 * y + 5.0, 0.5);
            others.push(scene.add(cube().position(place)));
            let rope = JointDef::rope(tower[0], others[others.len() - 1], 1000.0);
            scene.world.add_joint(rope).unwrap();
        } else {
            scene.world.remove_body(others.pop().unwrap()).unwrap();
        }
        let before = scene.world.report().swept > 0;
        scene.world.step(DT).unwrap();
        let swept = scene.world.report().swept > 0;
        let most = if step < 296 { 128 } else { 96 };
        assert_eq!(swept, others.len() + tower.len() + 1 > most, "step {step}");
        let events = scene.world.events();
        // The new body touches the floor, and nothing else begins or ends.
        let counts = (events.begun().len(), events.ended().len());
        assert_eq!(counts, (usize::from(step < 296), 0), "step {step}");
        begun += events.begun().len();
        // The floor carries four cubes for a step, through every change.
        assert_near(load(&scene), 4.0 * G * DT, 1e-6);
        let velocities = tower.iter().map(|&id| scene.world.body(id).unwrap().velocity());
        let fastest =
            velocities.map(|v| v.linear.length() + v.angular.length()).fold(0.0, f64::max);
        if swept != before {
            assert!(fastest < 1e-9, "step {step}: {fastest:e} m/s");
        } else if swept {
            fastest_swept = fastest_swept.max(fastest);
        }
    }
    assert_eq!(begun, 296);
    eprintln!("while it is swept the tower moves by up to {fastest_swept:e} m/s");
}

#[test]
#[ignore = "measurement: prints the cost of adding bodies and joints to a running world"]
fn cost_of_additions() {
    for side in [30_u32, 100, 300] {
        let mut scene = Scene::with(Settings { threads: 1, ..swept_settings() }, 0.0, 0.5);
        scene.floor();
        let cube = scene.cube();
        let place = |n: u32| Vec3::new(f64::from(n % side), f64::from(n / side), 0.0) * 1.2;
        let ids: Vec<BodyId> = (0..side * side)
            .map(|n| scene.add(cube.clone().position(place(n) + Vec3::Z * 0.5)))
            .collect();
        scene.run(20, |_| {});
        let mut add = |what: &str, change: &mut dyn FnMut(&mut Scene, u32)| {
            let time = |scene: &mut Scene| {
                let start = std::time::Instant::now();
                scene.world.step(DT).unwrap();
                start.elapsed().as_secs_f64()
            };
            let quiet = (0..10).map(|_| time(&mut scene)).fold(f64::INFINITY, f64::min);
            let (mut call, mut step) = (f64::INFINITY, f64::INFINITY);
            for n in 0..10 {
                let start = std::time::Instant::now();
                change(&mut scene, n);
                call = call.min(start.elapsed().as_secs_f64());
                step = step.min(time(&mut scene));
            }
            let more = 1e6 * (step - quiet);
            eprintln!(
                "{} bodies, {what}: {:.2} us, the next step {more:+.0} us of {:.0} us",
                side * side,
                1e6 * call,
                1e6 * quiet
            );
        };
        add("a body", &mut |scene, n| {
            let cube = cube.clone().position(Vec3::new(-5.0 - 1.2 * f64::from(n), 0.0, 0.5));
            scene.add(cube);
        });
        add("a joint", &mut |scene, n| {
            let [a, b] = [n, n + side].map(|n| ids[n as usize]);
            scene.world.add_joint(JointDef::rod(a, b, 1.2)).unwrap();
        });
    }
}

/// A pair that ceases to collide and begins again between two steps has not changed: its contact neither ends nor loses
/// its impulse.
#[test]
fn a_filter_that_is_changed_and_changed_back_leaves_a_resting_contact_alone() {
    for settings in [swept_settings(), Settings { audit: true, ..Settings::default() }] {
        let mut scene = Scene::with(settings, 0.0, 0.5);
        let floor = scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(0.5, cube);
        scene.run(60, |_| {});
        let none = Filter { groups: 1, mask: 0 };
        let filter = scene.body(cube).colliders().next().unwrap().filter();
        scene.world.set_filter(cube, none).unwrap();
        scene.world.set_filter(cube, filter).unwrap();
        scene.world.set_collides(cube, floor, false).unwrap();
        scene.world.set_collides(cube, floor, true).unwrap();
        let joint = scene.world.add_joint(JointDef::ball(cube, floor)).unwrap();
        scene.world.remove_joint(joint).unwrap();
        scene.step();
        let events = scene.world.events();
        assert_eq!((events.begun().len(), events.ended().len()), (0, 0));
        // Without its warm start the cube would fall for a part of the step, by up to g dt / 4.
        assert_below(scene.body(cube).linear_velocity().length(), 1e-6);
    }
}

/// Bodies of the environment never form a pair, whatever is allowed, and no body forms one with itself.
#[test]
fn environment_bodies_do_not_collide_with_each_other_even_if_they_may() {
    for max_exact_bodies in [0, 128] {
        let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
        let mut scene = Scene::with(settings, 0.5, 0.5);
        let floor = scene.floor();
        let lift = BodyDef::environment(Shape::cuboid(Vec3::splat(0.5)).unwrap());
        let lift = scene.add(lift.position(Vec3::Z * 0.52).velocity(Vec3::Z * -1.0));
        let cube = scene.cube();
        let cube = scene.add_at(1.52, cube);
        for (a, b) in [(floor, lift), (lift, lift), (cube, cube)] {
            scene.world.set_collides(a, b, true).unwrap();
        }
        scene.run(20, |world| {
            let with_cube = world.contacts_of(cube).unwrap().count();
            assert_eq!(world.contacts().count(), with_cube);
        });
        assert!(scene.world.contacts().all(|contact| contact.a() != contact.b()));
    }
}
