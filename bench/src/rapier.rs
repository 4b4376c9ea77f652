//! The counterpart of a world in rapier3d-f64.

use std::collections::HashMap;
use std::error::Error;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Body, BodyId, BodyKind, ColliderView, World};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, ColliderHandle, PhysicsWorld, Pose as TheirPose,
    QueryPipeline, RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape, Vector,
};

/// What the colliders of a body become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Each a collider.
    Colliders,
    /// One collider with a compound shape, unless there is only one.
    Compound,
}

/// A world of rapier3d-f64 with the bodies of a world of msd. Joints and force fields are left out.
pub struct Rapier {
    world: PhysicsWorld,
    /// The bodies in both worlds.
    bodies: Vec<(BodyId, RigidBodyHandle)>,
}

impl Rapier {
    /// Builds the same bodies, to be stepped by `dt`. Sleeping is off.
    ///
    /// # Errors
    ///
    /// Rapier rejected a hull.
    pub fn of(ours: &World, dt: f64) -> Result<Self, Box<dyn Error>> {
        Self::with_parts(ours, dt, Parts::Colliders)
    }

    /// Builds the same bodies, as [`of`](Self::of) does.
    ///
    /// # Errors
    ///
    /// Rapier rejected a hull.
    pub fn with_parts(ours: &World, dt: f64, parts: Parts) -> Result<Self, Box<dyn Error>> {
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
            let builder = builder.pose(pose(&body.pose())).linvel(vector(v)).angvel(vector(w));
            let handle = world.insert_body(builder);
            for collider in colliders(&body, parts)? {
                world.insert_collider(collider, Some(handle));
            }
            bodies.push((body.id(), handle));
        }
        Ok(Self { world, bodies })
    }

    /// Advances the world by a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// Returns what answers queries.
    pub fn queries(&self) -> QueryPipeline<'_> {
        self.world.query_pipeline()
    }

    /// Returns a function from a collider to its body in the world of msd.
    pub fn owners(&self) -> impl Fn(ColliderHandle) -> Option<BodyId> + '_ {
        let ours: HashMap<RigidBodyHandle, BodyId> =
            self.bodies.iter().map(|&(id, handle)| (handle, id)).collect();
        move |collider| ours.get(&self.world.colliders.get(collider)?.parent()?).copied()
    }

    /// Moves the bodies of a world of msd to their poses in this world.
    ///
    /// # Errors
    ///
    /// A pose is not finite.
    pub fn copy_poses(&self, to: &mut World) -> Result<(), Box<dyn Error>> {
        for (id, handle) in &self.bodies {
            let found = self.world.bodies[*handle].position();
            let (p, q) = (found.translation, found.rotation);
            let rotation = Quat::from_xyzw(q.x, q.y, q.z, q.w).normalize();
            to.set_pose(*id, Pose { position: Vec3::new(p.x, p.y, p.z), rotation })?;
        }
        Ok(())
    }
}

/// Returns the colliders of a body, with their shares of its mass by their volumes.
fn colliders(body: &Body<'_>, parts: Parts) -> Result<Vec<ColliderBuilder>, Box<dyn Error>> {
    let views: Vec<ColliderView<'_>> = body.colliders().collect();
    let volume = |view: &ColliderView<'_>| {
        view.shape().mass_properties(1.0).map_or(1.0, |properties| properties.mass)
    };
    let whole: f64 = views.iter().map(volume).sum();
    let shapes = views.iter().map(|view| {
        let (at, shape) = part(view.shape())?;
        Ok((pose(&view.place()) * at, shape))
    });
    let shapes = shapes.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    if parts == Parts::Compound && views.len() > 1 {
        let whole = ColliderBuilder::compound(shapes).mass(body.mass());
        return Ok(vec![with_surface(whole, &views[0])]);
    }
    let pairs = views.iter().zip(shapes);
    Ok(pairs
        .map(|(view, (at, shape))| {
            let mass = body.mass() * (volume(view) / whole);
            with_surface(ColliderBuilder::new(shape).position(at).mass(mass), view)
        })
        .collect())
}

/// Returns a shape and its place in the frame of msd's.
fn part(shape: &Shape) -> Result<(TheirPose, SharedShape), Box<dyn Error>> {
    // Rapier's axis is y.
    let upright = TheirPose::rotation(Vector::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0));
    let here = TheirPose::IDENTITY;
    Ok(match shape {
        Shape::Sphere(s) => (here, SharedShape::ball(s.radius())),
        Shape::Capsule(s) => (here, SharedShape::capsule_z(s.half_height(), s.radius())),
        Shape::Cylinder(s) => (upright, SharedShape::cylinder(s.half_height(), s.radius())),
        Shape::Cone(s) => (upright, SharedShape::cone(s.half_height(), s.radius())),
        Shape::Cuboid(s) => {
            let half = s.half_extents();
            (here, SharedShape::cuboid(half.x, half.y, half.z))
        }
        Shape::HalfSpace(s) => {
            let plane = s.plane();
            let at = TheirPose::from_translation(vector(plane.normal * plane.offset));
            (at, SharedShape::halfspace(vector(plane.normal)))
        }
        Shape::Hull(hull) => {
            let points: Vec<Vector> = hull.vertices().iter().map(|point| vector(*point)).collect();
            (here, SharedShape::convex_hull(&points).ok_or("no hull")?)
        }
    })
}

fn with_surface(builder: ColliderBuilder, view: &ColliderView<'_>) -> ColliderBuilder {
    // The product of square roots is the geometric mean of msd.
    let material = view.material();
    builder
        .friction(material.friction().sqrt())
        .friction_combine_rule(CoefficientCombineRule::Multiply)
        .restitution(material.restitution().sqrt())
        .restitution_combine_rule(CoefficientCombineRule::Multiply)
}

/// Converts a vector.
pub fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

/// Converts a pose.
pub fn pose(pose: &Pose) -> TheirPose {
    let [x, y, z, w] = pose.rotation.to_array();
    TheirPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w))
}
