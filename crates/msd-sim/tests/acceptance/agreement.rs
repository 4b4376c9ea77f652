//! The default method against the exact one: the same accelerations and the same contact forces.

use std::fmt::Write;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, Material, Method, Settings, World};

const DT: f64 = 1.0 / 60.0;

/// Steps before the comparison, and the largest accepted difference, relative to the weight and to
/// the acceleration of gravity. Solves are accurate to 1e-10 of the largest speed change of any
/// impulse, which for 1000 kg on 1 kg is 1000 times that of gravity.
const STEPS: usize = 5;
const MAX_DIFFERENCE: f64 = 1e-7;

/// A world and the bodies to compare.
type Built = (World, Vec<BodyId>);

fn world(method: Method) -> World {
    let default = Settings { method, ..Settings::default() };
    let settings = match method {
        Method::SoftStep => default,
        // Hard frictional impacts need more than the default number of iterations.
        _ => Settings { iterations: 2000, ..default },
    };
    World::new(settings).unwrap()
}

fn block(half: Vec3, mass: f64, friction: f64, pose: Pose) -> BodyDef {
    let material = Material::new(0.0, friction).unwrap();
    BodyDef::inertial(Shape::cuboid(half).unwrap()).mass(mass).pose(pose).material(material)
}

fn ground(friction: f64, pose: Pose) -> BodyDef {
    let material = Material::new(0.0, friction).unwrap();
    let half = Vec3::new(50.0, 50.0, 0.5);
    let top = Pose::new(pose.position + pose.transform_vector(Vec3::Z * -0.5), pose.rotation);
    BodyDef::environment(Shape::cuboid(half).unwrap()).pose(top).material(material)
}

/// Builds a scene with a cube on an incline of 20 degrees, where it sticks for friction above tan
/// 20 = 0.364.
fn incline(method: Method, friction: f64) -> Built {
    let mut world = world(method);
    let turn = rotation(Vec3::Y, 20_f64.to_radians());
    world.add_body(ground(friction, Pose::new(Vec3::ZERO, turn))).unwrap();
    let at = Pose::new(turn * Vec3::Z * 0.5, turn);
    let cube = world.add_body(block(Vec3::splat(0.5), 10.0, friction, at)).unwrap();
    (world, vec![cube])
}

fn stack(method: Method, masses: &[f64]) -> Built {
    let mut world = world(method);
    world.add_body(ground(0.5, Pose::IDENTITY)).unwrap();
    let mut bodies = Vec::new();
    for (i, &mass) in masses.iter().enumerate() {
        let at = Pose::at(Vec3::Z * (0.5 + i as f64));
        bodies.push(world.add_body(block(Vec3::splat(0.5), mass, 0.5, at)).unwrap());
    }
    (world, bodies)
}

/// Builds a scene with a ladder at 60 degrees against a smooth wall: one without thickness slips
/// for mu < 1 / (2 tan 60) = 0.2887.
fn ladder(method: Method, friction: f64) -> Built {
    let mut world = world(method);
    let angle = 60_f64.to_radians();
    world.add_body(ground(friction, Pose::IDENTITY)).unwrap();
    let wall = Material::new(0.0, 0.0).unwrap();
    let wall = BodyDef::environment(Shape::half_space(Vec3::X, 0.0).unwrap()).material(wall);
    world.add_body(wall).unwrap();
    let half = Vec3::new(1.0, 0.2, 0.02);
    let turn = rotation(Vec3::Y, angle);
    // Its lowest corner touches the floor, its leftmost corner the wall.
    let low = half.x * angle.sin() + half.z * angle.cos();
    let left = half.x * angle.cos() + half.z * angle.sin();
    let at = Pose::new(Vec3::new(left, 0.0, low), turn);
    let ladder = world.add_body(block(half, 5.0, friction, at)).unwrap();
    (world, vec![ladder])
}

/// Returns the accelerations of the bodies over the last of `STEPS` steps, and the force of every
/// pair in it.
fn measured((mut world, bodies): Built) -> (Vec<Vec3>, Vec<Vec3>) {
    for _ in 1..STEPS {
        world.step(DT).unwrap();
    }
    let velocity = |world: &World| -> Vec<Vec3> {
        bodies.iter().map(|&id| world.body(id).unwrap().linear_velocity()).collect()
    };
    let before = velocity(&world);
    world.step(DT).unwrap();
    let after = velocity(&world);
    let accelerations = before.iter().zip(after).map(|(b, a)| (a - *b) / DT).collect();
    let forces = world.contacts().map(|contact| contact.impulse() / DT).collect();
    (accelerations, forces)
}

#[test]
fn the_default_method_agrees_with_the_exact_one() {
    let ten = [1.0; 10];
    let heavy = [1.0, 1000.0];
    type Scene<'a> = (&'a str, f64, Box<dyn Fn(Method) -> Built + 'a>);
    let scenes: [Scene<'_>; 6] = [
        ("incline 20 deg, mu 0.6 (holds)", 10.0, Box::new(|m| incline(m, 0.6))),
        ("incline 20 deg, mu 0.2 (slides)", 10.0, Box::new(|m| incline(m, 0.2))),
        ("stack of 10", 10.0, Box::new(|m| stack(m, &ten))),
        ("ladder 60 deg, mu 0.30 (stands)", 5.0, Box::new(|m| ladder(m, 0.30))),
        ("ladder 60 deg, mu 0.27 (slips)", 5.0, Box::new(|m| ladder(m, 0.27))),
        ("1000 kg on 1 kg", 1001.0, Box::new(|m| stack(m, &heavy))),
    ];
    let mut table = String::from(
        "| scene | largest acceleration m/s^2: SoftStep | Conic | largest force N: SoftStep | Conic | \
         largest difference: acceleration / g | force / weight |\n|---|---|---|---|---|---|---|\n",
    );
    let mut worst = 0.0_f64;
    for (name, mass, build) in &scenes {
        let (ours, theirs) = (measured(build(Method::SoftStep)), measured(build(Method::Conic)));
        assert_eq!(ours.1.len(), theirs.1.len(), "{name}");
        let largest = |list: &[Vec3]| list.iter().map(|v| v.length()).fold(0.0, f64::max);
        let apart = |a: &[Vec3], b: &[Vec3]| {
            a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
        };
        let acceleration = apart(&ours.0, &theirs.0) / 9.81;
        let force = apart(&ours.1, &theirs.1) / (9.81 * mass);
        worst = worst.max(acceleration).max(force);
        writeln!(
            table,
            "| {name} | {:.9} | {:.9} | {:.6} | {:.6} | {acceleration:.1e} | {force:.1e} |",
            largest(&ours.0),
            largest(&theirs.0),
            largest(&ours.1),
            largest(&theirs.1)
        )
        .unwrap();
    }
    eprintln!("{table}");
    assert!(worst <= MAX_DIFFERENCE, "{worst:e}\n{table}");
}

/// Returns the worst relative residual of a world's steps.
fn worst_residual((mut world, _): Built, steps: usize) -> f64 {
    let step = |_| world.step(DT).unwrap().residual().unwrap();
    (0..steps).map(step).fold(0.0, f64::max)
}

/// Builds a scene with a cube dropped on a corner, one dropped on another cube, and a small pile.
fn drops(method: Method, friction: f64) -> Built {
    let mut world = world(method);
    world.add_body(ground(friction, Pose::IDENTITY)).unwrap();
    let corner = rotation(Vec3::X, 0.8) * rotation(Vec3::Y, 0.6);
    let mut add = |position, turn| {
        let half = Vec3::new(0.5, 0.4, 0.3);
        world.add_body(block(half, 1.0, friction, Pose::new(position, turn))).unwrap();
    };
    add(Vec3::new(0.0, 0.0, 1.5), corner);
    add(Vec3::new(5.0, 0.0, 0.3), rotation(Vec3::X, 0.0));
    add(Vec3::new(5.3, 0.1, 1.5), corner);
    for i in 0..6 {
        let place =
            Vec3::new(10.0 + 0.2 * f64::from(i % 2), 0.1 * f64::from(i), 0.6 * f64::from(i));
        add(place + Vec3::Z * 0.6, rotation(Vec3::new(1.0, 2.0, 3.0), 0.3 * f64::from(i)));
    }
    (world, Vec::new())
}

#[test]
fn the_conic_method_solves_every_island_of_these_scenes() {
    let scenes = [
        ("incline", worst_residual(incline(Method::Conic, 0.6), 60)),
        ("sliding", worst_residual(incline(Method::Conic, 0.2), 60)),
        ("stack", worst_residual(stack(Method::Conic, &[1.0; 10]), 20)),
        ("heavy", worst_residual(stack(Method::Conic, &[1.0, 1000.0]), 60)),
        ("ladder", worst_residual(ladder(Method::Conic, 0.27), 90)),
        ("drops", worst_residual(drops(Method::Conic, 0.5), 120)),
    ];
    for (name, worst) in scenes {
        assert!(worst <= 1e-8, "{name}: {worst:e}");
    }
}

#[test]
fn active_sets_solve_every_frictionless_island_of_these_scenes() {
    let scenes = [
        ("sliding", worst_residual(incline(Method::ActiveSet, 0.0), 60)),
        ("stack", worst_residual(stack(Method::ActiveSet, &[1.0; 10]), 60)),
        ("heavy", worst_residual(stack(Method::ActiveSet, &[1.0, 1000.0]), 60)),
        ("drops", worst_residual(drops(Method::ActiveSet, 0.0), 120)),
    ];
    for (name, worst) in scenes {
        assert!(worst <= 1e-10, "{name}: {worst:e}");
    }
}
