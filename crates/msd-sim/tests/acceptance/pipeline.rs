//! Steps: no allocations once warm, no impulses between bodies apart, no net momentum.

use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyId, JointDef, Method, Settings, World};

use crate::counter::allocations;
use crate::scene::{DT, Scene, assert_below};

#[test]
fn a_step_of_an_empty_world_does_nothing() {
    let mut world = World::default();
    let report = *world.step(DT).unwrap();
    assert_eq!((report.contacts, report.islands, report.max_penetration), (0, Some(0), Some(0.0)));
    assert!(report.converged().unwrap());
    assert_eq!(world.contacts().count(), 0);
    assert!(world.events().begun().is_empty() && world.events().hits().is_empty());
    assert_eq!(world.steps(), 1);
    assert_eq!(world.kinetic_energy() + world.potential_energy(), 0.0);
}

#[test]
fn separated_bodies_get_exactly_no_impulse() {
    let mut scene = Scene::weightless(0.5, 0.5);
    let mut bodies: Vec<(BodyId, SpatialVector)> = Vec::new();
    for i in 0..8 {
        let i = f64::from(i);
        let velocity = Vec3::new(0.1 * i, -0.2, 0.05 * i);
        let body = if i as i32 % 2 == 0 { scene.cube() } else { scene.ball() };
        let id = scene.add(body.velocity(velocity).position(Vec3::X * (3.0 * i)));
        bodies.push((id, SpatialVector::new(velocity, Vec3::ZERO)));
    }
    scene.run(60, |world| {
        for contact in world.contacts() {
            assert_eq!(contact.impulse(), Vec3::ZERO);
        }
        for (id, velocity) in &bodies {
            assert_eq!(world.body(*id).unwrap().velocity(), *velocity);
        }
    });
}

#[test]
fn the_momentum_that_a_pair_exchanges_sums_to_zero() {
    for method in [Method::SoftStep, Method::Pgs] {
        let settings = Settings { gravity: Vec3::ZERO, method, ..Settings::default() };
        let mut scene = Scene::with(settings, 0.4, 0.6);
        let a = scene.cube().velocity(Vec3::new(1.0, 0.3, -0.1)).angular_velocity(Vec3::Y);
        let a = scene.add(a.position(Vec3::X * -1.4));
        let b = scene.ball().mass(0.3);
        let b = scene.add(b.position(Vec3::Y * 0.2));
        let momenta = |scene: &Scene| {
            [a, b].map(|id| scene.body(id).linear_velocity() * scene.body(id).mass())
        };
        let before = momenta(&scene);
        scene.run(60, |_| {});
        let after = momenta(&scene);
        assert!((after[1] - before[1]).length() > 0.01, "they collided");
        assert_below((after[0] - before[0] + after[1] - before[1]).length(), 1e-12);
    }
}

/// Fails if any of `steps` steps allocates, after `warm` steps that may.
fn assert_steps_do_not_allocate(mut scene: Scene, warm: usize, steps: usize) {
    scene.run(warm, |_| {});
    let method = scene.world.settings().method;
    for step in 0..steps {
        let before = allocations();
        scene.step();
        assert_eq!(allocations() - before, 0, "allocations in step {step} with {method:?}");
    }
}

#[test]
fn a_warm_stack_does_not_allocate() {
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    for i in 0..10 {
        let cube = scene.cube();
        scene.add_at(0.5 + f64::from(i), cube);
    }
    assert_steps_do_not_allocate(scene, 60, 200);
}

/// Returns every method.
fn methods() -> Vec<Method> {
    vec![
        Method::SoftStep,
        Method::Pgs,
        Method::ActiveSet,
        #[cfg(feature = "conic")]
        Method::Conic,
    ]
}

/// Builds a stack of five cubes on a floor.
fn stack_of_five(method: Method) -> (Scene, Vec<BodyId>) {
    let mut scene = Scene::with(Settings { method, ..Settings::default() }, 0.5, 0.5);
    scene.floor();
    let cubes = (0..5).map(|i| {
        let cube = scene.cube();
        scene.add_at(0.5 + f64::from(i), cube)
    });
    let cubes = cubes.collect();
    (scene, cubes)
}

#[test]
fn a_warm_stack_does_not_allocate_with_any_method() {
    for method in methods() {
        let (scene, _) = stack_of_five(method);
        assert_steps_do_not_allocate(scene, 60, 200);
    }
}

/// Returns the allocations of each of 200 steps in which the cubes of a stack are pushed about,
/// after 200 steps of warm-up.
fn allocations_of_a_shaken_stack(method: Method) -> Vec<usize> {
    let (mut scene, cubes) = stack_of_five(method);
    let mut counts = Vec::new();
    for step in 0..400 {
        for (i, &cube) in cubes.iter().enumerate() {
            // Within friction, and always different: no warm start solves it.
            let phase = 0.7 * f64::from(step) + i as f64;
            let force = Vec3::new(phase.sin(), phase.cos(), (0.3 * phase).sin()) * 0.2;
            scene.world.apply_force(cube, SpatialVector::new(force, Vec3::ZERO)).unwrap();
        }
        let before = allocations();
        scene.step();
        counts.push(allocations() - before);
    }
    counts.split_off(200)
}

#[test]
fn a_warm_shaken_stack_does_not_allocate() {
    for method in [Method::SoftStep, Method::Pgs, Method::ActiveSet] {
        let counts = allocations_of_a_shaken_stack(method);
        assert!(counts.iter().all(|&count| count == 0), "{method:?}: {counts:?}");
    }
}

#[cfg(feature = "conic")]
#[test]
#[ignore = "known limit: up to 646 in a step; problems within the tolerance are not solved, but every other solve allocates its work space"]
fn a_warm_shaken_stack_does_not_allocate_with_the_conic_method() {
    let counts = allocations_of_a_shaken_stack(Method::Conic);
    assert!(counts.iter().all(|&count| count == 0), "{counts:?}");
}

#[test]
fn a_warm_bouncing_sphere_does_not_allocate() {
    let mut scene = Scene::new(1.0, 0.5);
    scene.floor();
    let ball = scene.ball();
    scene.add_at(2.0, ball);
    assert_steps_do_not_allocate(scene, 120, 300);
}

#[test]
fn a_warm_pile_does_not_allocate() {
    for method in [Method::SoftStep, Method::Pgs] {
        let mut scene = Scene::with(Settings { method, ..Settings::default() }, 0.3, 0.5);
        scene.floor();
        for i in 0..24 {
            let i = f64::from(i);
            let place = Vec3::new((i * 0.7).sin(), (i * 1.3).cos(), 1.0 + 0.8 * i);
            let body = if i as i32 % 3 == 0 { scene.ball() } else { scene.cube() };
            scene.add(body.position(place));
        }
        assert_steps_do_not_allocate(scene, 400, 200);
    }
}

#[test]
fn warm_joints_do_not_allocate() {
    let mut scene = Scene::new(0.3, 0.5);
    scene.floor();
    // A chain that swings under a hook without touching itself.
    let hook = scene.wall(Vec3::splat(0.1), Vec3::Z * 10.0);
    let mut last = hook;
    for i in 1..8 {
        let link = scene.brick(Vec3::splat(0.2));
        let link = scene.add(link.velocity(Vec3::X).position(Vec3::Z * (10.0 - f64::from(i))));
        let joint = match i % 4 {
            0 => JointDef::spring(last, link, 1.0, 500.0, 1.0),
            1 => JointDef::rod(last, link, 1.0),
            2 => JointDef::rope(last, link, 1.0),
            _ => JointDef::ball(last, link).anchors(Vec3::Z * -0.5, Vec3::Z * 0.5),
        };
        scene.world.add_joint(joint).unwrap();
        last = link;
    }
    assert_steps_do_not_allocate(scene, 200, 200);
}
