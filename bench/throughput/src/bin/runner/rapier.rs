//! Rapier in double or single precision, with its defaults but without sleeping.

use std::error::Error;

use msd_scene::Simulation;
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Body, BodyKind};
#[cfg(feature = "f32")]
use rapier3d as rapier;
#[cfg(feature = "f64")]
use rapier3d_f64 as rapier;

use crate::only_collider;
use rapier::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, Pose as TheirPose, Real,
    RigidBodyBuilder, RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
};

/// A running benchmark.
pub struct Engine {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl Engine {
    /// Builds the same bodies and joints; the shape frame of msd is the body frame of rapier.
    pub fn new(start: &Simulation, threads: u32) -> Result<Self, Box<dyn Error>> {
        let mut world = PhysicsWorld::new();
        world.gravity = vector(start.world().settings().gravity);
        world.integration_parameters.dt = start.dt() as Real;
        let mut bodies = Vec::new();
        for body in start.world().bodies() {
            let builder = match body.kind() {
                BodyKind::Inertial => RigidBodyBuilder::dynamic().can_sleep(false),
                BodyKind::Environment => RigidBodyBuilder::fixed(),
            };
            let builder = builder.pose(pose(&only_collider(&body).pose()));
            bodies.push(world.insert(builder, collider(&body)?).0);
        }
        for (_, joint) in start.world().joints() {
            let [a, b] = joint.ends().map(|(id, anchor)| {
                let body = start.world().body(id).expect("the bodies of a joint exist");
                let place = body.pose().transform_point(anchor);
                let anchor = vector(only_collider(&body).pose().inverse_transform_point(place));
                (bodies[id.index()], anchor)
            });
            let builder = SphericalJointBuilder::new().local_anchor1(a.1).local_anchor2(b.1);
            world.insert_impulse_joint(a.0, b.0, builder.contacts_enabled(false));
        }
        #[cfg(feature = "parallel")]
        world.configure_thread_pool(threads as usize)?;
        #[cfg(not(feature = "parallel"))]
        if threads != 1 {
            return Err("this runner was built for one thread".into());
        }
        Ok(Self { world, bodies })
    }

    pub fn step(&mut self) {
        self.world.step();
    }

    /// Returns the poses of the shapes, in the order of the bodies.
    pub fn shape_poses(&self) -> Vec<Pose> {
        let poses = self.bodies.iter().map(|&body| self.world.bodies[body].position());
        poses.map(ours).collect()
    }

    pub fn hash(&self) -> Option<u64> {
        None
    }
}

fn collider(body: &Body<'_>) -> Result<ColliderBuilder, Box<dyn Error>> {
    let collider = only_collider(body);
    let builder = match collider.shape() {
        Shape::Sphere(s) => ColliderBuilder::ball(s.radius() as Real),
        Shape::Capsule(s) => {
            ColliderBuilder::capsule_z(s.half_height() as Real, s.radius() as Real)
        }
        Shape::Cuboid(s) => {
            let half = vector(s.half_extents());
            ColliderBuilder::cuboid(half.x, half.y, half.z)
        }
        Shape::Hull(hull) => {
            let points: Vec<Vector> = hull.vertices().iter().map(|point| vector(*point)).collect();
            ColliderBuilder::convex_hull(&points).ok_or("no hull")?
        }
        shape => return Err(format!("no benchmark has {shape:?}").into()),
    };
    // The product of square roots is the geometric mean of msd.
    let material = collider.material();
    Ok(builder
        .mass(body.mass() as Real)
        .friction(material.friction().sqrt() as Real)
        .friction_combine_rule(CoefficientCombineRule::Multiply)
        .restitution(material.restitution().sqrt() as Real)
        .restitution_combine_rule(CoefficientCombineRule::Multiply))
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x as Real, v.y as Real, v.z as Real)
}

fn pose(pose: &Pose) -> TheirPose {
    let [x, y, z, w] = pose.rotation.to_array().map(|part| part as Real);
    TheirPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w).normalize())
}

#[cfg_attr(feature = "f64", allow(clippy::unnecessary_cast))]
fn ours(pose: &TheirPose) -> Pose {
    let [x, y, z] = pose.translation.to_array().map(|part| part as f64);
    let [a, b, c, w] = pose.rotation.to_array().map(|part| part as f64);
    Pose::new(Vec3::new(x, y, z), Quat::from_xyzw(a, b, c, w))
}
