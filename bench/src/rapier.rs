//! The counterpart of a world in rapier3d-f64.

use std::error::Error;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Body, BodyId, BodyKind, World};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, Pose as TheirPose, RigidBodyBuilder,
    RigidBodyHandle, Rotation, SharedShape, Vector,
};

/// A world of rapier3d-f64 with the bodies of a world of msd. Joints and force fields are left out.
pub struct Rapier {
    world: PhysicsWorld,
    /// The bodies in both worlds, and the pose of the body relative to its shape in msd.
    bodies: Vec<(BodyId, RigidBodyHandle, Pose)>,
}

impl Rapier {
    /// Builds the same bodies, to be stepped by `dt`. Sleeping is off.
    ///
    /// # Errors
    ///
    /// Rapier rejected a hull.
    pub fn of(ours: &World, dt: f64) -> Result<Self, Box<dyn Error>> {
        let mut world = PhysicsWorld::new();
        world.gravity = vector(ours.settings().gravity);
        world.integration_parameters.dt = dt;
        let mut bodies = Vec::new();
        for body in ours.bodies() {
            let (v, w) = (body.linear_velocity(), body.angular_velocity());
            let moves = v != Vec3::ZERO || w != Vec3::ZERO;
            let builder = match (body.kind(), moves) {
                (BodyKind::Inertial, _) => RigidBodyBuilder::dynamic().can_sleep(false),
                (BodyKind::Environment, true) => RigidBodyBuilder::kinematic_velocity_based(),
                (BodyKind::Environment, false) => RigidBodyBuilder::fixed(),
            };
            let at = body.shape_pose();
            let builder = builder.pose(pose(&at)).linvel(vector(v)).angvel(vector(w));
            let (handle, _) = world.insert(builder, collider(&body)?);
            bodies.push((body.id(), handle, at.relative(&body.pose())));
        }
        Ok(Self { world, bodies })
    }

    /// Advances the world by a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// Moves the bodies of a world of msd to their poses in this world.
    ///
    /// # Errors
    ///
    /// A pose is not finite.
    pub fn copy_poses(&self, to: &mut World) -> Result<(), Box<dyn Error>> {
        for (id, handle, center) in &self.bodies {
            let found = self.world.bodies[*handle].position();
            let (p, q) = (found.translation, found.rotation);
            let shape = Pose {
                position: Vec3::new(p.x, p.y, p.z),
                rotation: Quat::from_xyzw(q.x, q.y, q.z, q.w).normalize(),
            };
            let position = shape.transform_point(center.position);
            to.set_pose(*id, Pose { position, rotation: shape.rotation * center.rotation })?;
        }
        Ok(())
    }
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
