//! What bodies do in worlds that are stepped by sweeping: `max_exact_bodies: 0` makes every world one.

mod bits; // same input, same bits: threads, snapshots, runs
mod bounces; // restitution
mod changes; // a world that is changed while it runs
mod driven; // belts, turntables, moving walls
mod events; // touching, hitting, parting
mod flight; // bodies that touch nothing
mod forces; // force fields, damping, steps of changing length
mod joints; // pendulums, ropes, springs
mod limits; // large and small, heavy and light, fast and far
mod memory; // warm steps do not allocate
mod momentum; // what collisions keep
mod scale; // lengths have no unit
mod spin; // bodies that spin, roll and tip
mod statics; // inclines, stacks, weights

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Settings};

use crate::oracle::pairs::Rng;
use crate::scene::Scene;

/// Settings with which every world is a swept world.
fn swept_settings() -> Settings {
    Settings { max_exact_bodies: 0, audit: true, ..Settings::default() }
}

/// A swept world under gravity.
fn swept(restitution: f64, friction: f64) -> Scene {
    Scene::with(swept_settings(), restitution, friction)
}

/// A swept world without gravity.
fn weightless(restitution: f64, friction: f64) -> Scene {
    Scene::with(Settings { gravity: Vec3::ZERO, ..swept_settings() }, restitution, friction)
}

/// The largest speed of a body, rotation times 1 m included, m/s.
fn fastest(scene: &Scene) -> f64 {
    let speed = |v: msd_sim::math::SpatialVector| v.linear.length() + v.angular.length();
    scene.world.bodies().map(|body| speed(body.velocity())).fold(0.0, f64::max)
}

/// A shape of about half a metre, of one of four kinds.
fn assorted(n: usize) -> Shape {
    match n % 4 {
        0 => Shape::sphere(0.25),
        1 => Shape::cuboid(Vec3::new(0.3, 0.2, 0.25)),
        2 => Shape::capsule(0.15, 0.2),
        _ => {
            let corners =
                [[1.0, 0.0, -0.6], [-0.5, 0.8, -0.6], [-0.5, -0.8, -0.6], [0.0, 0.0, 1.0]];
            Shape::hull(&corners.map(|corner| Vec3::from_array(corner) * 0.3))
        }
    }
    .unwrap()
}

/// Some bodies of all kinds in a loose block `high` above the floor, each askew.
fn heap(scene: &mut Scene, count: usize, high: f64) -> Vec<BodyId> {
    let mut rng = Rng::new(7);
    let mut any = |size: f64| {
        let mut one = || rng.range(-size, size);
        Vec3::new(one(), one(), one())
    };
    let place = |n: usize| Vec3::new((n % 6) as f64, (n / 6 % 6) as f64, (n / 36) as f64) * 0.8;
    (0..count)
        .map(|n| {
            let turn = rotation((any(1.0) + Vec3::X * 1.5).normalize(), 3.0 * any(1.0).x);
            let position = place(n) + any(0.05) + Vec3::new(-2.0, -2.0, high);
            let body = BodyDef::inertial(assorted(n)).mass(0.5 + (n % 5) as f64);
            let body = body.pose(Pose::new(position, turn)).velocity(any(1.0));
            scene.add(body.angular_velocity(any(2.0)).material(scene.material))
        })
        .collect()
}

/// A heap of 200 that falls onto a turntable in the floor, some of them tied together.
fn fair(threads: u32) -> Scene {
    let mut scene =
        Scene::with(Settings { threads, ..swept_settings() }, 0.2, 0.5).on_all_threads();
    scene.floor();
    let table = Shape::cylinder(2.0, 0.25).unwrap();
    let table = BodyDef::environment(table).material(scene.material).angular_velocity(Vec3::Z);
    scene.add(table.position(Vec3::Z * 0.1));
    let bodies = heap(&mut scene, 200, 1.0);
    for (n, pair) in bodies.chunks_exact(2).enumerate().step_by(5) {
        let &[a, b] = pair else { continue };
        let joint = match n % 4 {
            0 => JointDef::ball(a, b).anchors(Vec3::X * 0.4, Vec3::X * -0.4),
            1 => JointDef::rod(a, b, 0.8),
            2 => JointDef::rope(a, b, 0.8),
            _ => JointDef::spring(a, b, 0.8, 200.0, 1.0),
        };
        scene.world.add_joint(joint).unwrap();
    }
    scene
}
