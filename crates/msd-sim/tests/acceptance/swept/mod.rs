//! Worlds with more bodies than `max_exact_bodies`, solved by sweeps: `max_exact_bodies: 0` makes
//! every world a swept one.

mod bits; // determinism over threads, snapshots and runs
mod bounces; // restitution
mod changes; // changes between steps
mod driven; // belts, turntables, moving walls, lifts
mod events; // contact events and hits
mod flight; // bodies without contacts
mod forces; // potentials, damping, steps of varying length
mod joints; // pendulums, ropes, springs, chains
mod ledger; // energy and momentum by kind
mod limits; // large and small, heavy and light, fast and far
mod memory; // warm steps do not allocate
mod momentum; // conservation in collisions
mod random_changes; // changes between steps, by brute force
mod renewal; // contacts of fast bodies within a step
mod spin; // spinning, rolling and tipping bodies
mod statics; // inclines, stacks, weights
mod trust; // convergence and energy as steps get shorter

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Settings};

use crate::oracle::pairs::Rng;
use crate::scene::Scene;

/// Returns settings that make every world a swept one.
fn swept_settings() -> Settings {
    Settings { max_exact_bodies: Some(0), audit: true, ..Settings::default() }
}

/// Builds a swept scene with gravity.
fn swept(restitution: f64, friction: f64) -> Scene {
    Scene::with(swept_settings(), restitution, friction)
}

/// Builds a swept scene without gravity.
fn weightless(restitution: f64, friction: f64) -> Scene {
    Scene::with(Settings { gravity: Vec3::ZERO, ..swept_settings() }, restitution, friction)
}

/// Returns the largest speed of a body, including rotation times 1 m, m/s.
fn fastest(scene: &Scene) -> f64 {
    let speed = |v: msd_sim::math::SpatialVector| v.linear.length() + v.angular.length();
    scene.world.bodies().map(|body| speed(body.velocity())).fold(0.0, f64::max)
}

/// Returns a shape of about half a meter, of one of four kinds.
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

/// Adds bodies of all kinds in a loose block `high` above the floor, each askew.
fn pile(scene: &mut Scene, count: usize, high: f64) -> Vec<BodyId> {
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

/// Builds a pile of 200 that falls onto a turntable in the floor, some of them jointed.
fn turntable_pile(threads: u32) -> Scene {
    let mut scene =
        Scene::with(Settings { threads, ..swept_settings() }, 0.2, 0.5).on_all_threads();
    scene.floor();
    let table = Shape::cylinder(2.0, 0.25).unwrap();
    let table = BodyDef::environment(table).material(scene.material).angular_velocity(Vec3::Z);
    scene.add(table.position(Vec3::Z * 0.1));
    let bodies = pile(&mut scene, 200, 1.0);
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
