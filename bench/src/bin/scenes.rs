//! Prints the step times of the built-in scenes in msd and rapier3d-f64, in one run: the minimum over several
//! alternating rounds of the mean, with state hash and largest penetration of msd.
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
        // Rapier has no equivalent of the joints and force fields.
        let comparable = scene.joint.is_empty() && scene.potential.is_empty();
        let start = file.build()?;
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        let (mut deepest, mut hash) = (None::<f64>, 0);
        for _ in 0..ROUNDS {
            let mut simulation = start.clone();
            let clock = Instant::now();
            for _ in 0..start.steps() {
                // Not measured in swept steps without the ledger.
                deepest = simulation
                    .step()
                    .max_penetration
                    .map(|depth| depth.max(deepest.unwrap_or(0.0)))
                    .or(deepest);
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
        let depth = deepest.map_or("-".to_owned(), |depth| format!("{:.3}", 1e3 * depth));
        println!(
            "| {} | {} | {} | {:.1} | {peer} | {ratio} | {depth} | {hash:016x} |",
            entry.name,
            start.world().bodies().len(),
            start.steps(),
            ours * per_step,
        );
    }
    Ok(())
}

/// Builds the same bodies in rapier.
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
        // Rapier's axis is y.
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
    // The product of square roots is the geometric mean of msd.
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
