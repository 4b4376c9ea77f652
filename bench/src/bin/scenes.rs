//! Prints what a step of the catalog's scenes costs in msd and in rapier3d-f64, in one run: the least
//! mean of several alternating rounds, with our state hash and largest penetration beside it.
//! `cargo run --release --bin scenes`, or with names: `cargo run --release --bin scenes -- tower arch`

use std::error::Error;
use std::time::Instant;

use msd_scene::{Options, Simulation, catalog};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use msd_sim::{Body, BodyKind};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, Pose as TheirPose, RigidBodyBuilder,
    Rotation, SharedShape, Vector,
};

const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| scene | bodies | steps | msd us/step | rapier3d-f64 us/step | ratio | deepest, mm | hash |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for entry in catalog::ENTRIES {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == entry.name) {
            continue;
        }
        let file = entry.open(&Options::default())?;
        let scene = file.scene();
        // Joints and force fields have no counterpart of the same meaning there.
        let comparable = scene.joint.is_empty() && scene.potential.is_empty();
        let start = file.build()?;
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        let (mut deepest, mut hash) = (0.0_f64, 0);
        for _ in 0..ROUNDS {
            let mut simulation = start.clone();
            let clock = Instant::now();
            for _ in 0..start.steps() {
                deepest = deepest.max(simulation.step().max_penetration);
            }
            ours = ours.min(clock.elapsed().as_secs_f64());
            hash = simulation.world().state_hash();
            if comparable {
                let mut world = counterpart(&start)?;
                let clock = Instant::now();
                (0..start.steps()).for_each(|_| world.step());
                theirs = theirs.min(clock.elapsed().as_secs_f64());
            }
        }
        let per_step = 1e6 / start.steps() as f64;
        let (peer, ratio) = match comparable {
            true => (format!("{:.1}", theirs * per_step), format!("{:.2}", ours / theirs)),
            false => ("-".to_owned(), "-".to_owned()),
        };
        println!(
            "| {} | {} | {} | {:.1} | {peer} | {ratio} | {:.3} | {hash:016x} |",
            entry.name,
            start.world().bodies().len(),
            start.steps(),
            ours * per_step,
            deepest * 1e3
        );
    }
    Ok(())
}

/// The same bodies there.
fn counterpart(start: &Simulation) -> Result<PhysicsWorld, Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    world.gravity = vector(start.world().settings().gravity);
    world.integration_parameters.dt = start.dt();
    for body in start.world().bodies() {
        let (v, w) = (body.linear_velocity(), body.angular_velocity());
        let moves = v != Vec3::ZERO || w != Vec3::ZERO;
        let builder = match (body.kind(), moves) {
            (BodyKind::Inertial, _) => RigidBodyBuilder::dynamic().can_sleep(false),
            (BodyKind::Environment, true) => RigidBodyBuilder::kinematic_velocity_based(),
            (BodyKind::Environment, false) => RigidBodyBuilder::fixed(),
        };
        let builder = builder.pose(pose(&body.shape_pose())).linvel(vector(v)).angvel(vector(w));
        world.insert(builder, collider(&body)?);
    }
    Ok(world)
}

fn collider(body: &Body<'_>) -> Result<ColliderBuilder, Box<dyn Error>> {
    let upright = TheirPose::rotation(Vector::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0));
    let builder = match body.shape() {
        Shape::Sphere(s) => ColliderBuilder::ball(s.radius()),
        Shape::Capsule(s) => ColliderBuilder::capsule_z(s.half_height(), s.radius()),
        // Theirs stand along y.
        Shape::Cylinder(s) => {
            ColliderBuilder::cylinder(s.half_height(), s.radius()).position(upright)
        }
        Shape::Cone(s) => ColliderBuilder::cone(s.half_height(), s.radius()).position(upright),
        Shape::Cuboid(s) => {
            let half = s.half_extents();
            ColliderBuilder::cuboid(half.x, half.y, half.z)
        }
        Shape::HalfSpace(s) => {
            let plane = s.plane();
            ColliderBuilder::new(SharedShape::halfspace(vector(plane.normal)))
                .position(TheirPose::from_translation(vector(plane.normal * plane.offset)))
        }
        Shape::Hull(hull) => {
            let points: Vec<Vector> = hull.vertices().iter().map(|point| vector(*point)).collect();
            ColliderBuilder::convex_hull(&points).ok_or("no hull")?
        }
    };
    // Multiplied roots are the geometric mean that acts here.
    let material = body.material();
    Ok(builder
        .mass(body.mass())
        .friction(material.friction().sqrt())
        .friction_combine_rule(CoefficientCombineRule::Multiply)
        .restitution(material.restitution().sqrt())
        .restitution_combine_rule(CoefficientCombineRule::Multiply))
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(pose: &Pose) -> TheirPose {
    let [x, y, z, w] = pose.rotation.to_array();
    TheirPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w))
}
