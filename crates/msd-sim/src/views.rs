//! Bodies and contacts of a world, to be read.

use crate::bodies::{BodyKind, BodySet, Material};
use crate::collision::Contact;
use crate::geometry::Shape;
use crate::id::BodyId;
use crate::math::{Mat3, Pose, SpatialVector, Vec3};
use crate::swept::SweptContact;

/// A body of a world, to be read.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    pub(crate) bodies: &'a BodySet,
    pub(crate) index: usize,
    pub(crate) asleep: bool,
}

impl<'a> Body<'a> {
    /// Its handle.
    pub fn id(&self) -> BodyId {
        self.bodies.id(self.index as u32)
    }

    /// Its name, empty if it has none.
    pub fn name(&self) -> &'a str {
        &self.bodies.names[self.index]
    }

    /// Whether forces move it.
    pub fn kind(&self) -> BodyKind {
        if self.bodies.is_inertial(self.index) { BodyKind::Inertial } else { BodyKind::Environment }
    }

    /// Centre of mass and orientation.
    pub fn pose(&self) -> Pose {
        self.bodies.poses[self.index]
    }

    /// Centre of mass, m.
    pub fn position(&self) -> Vec3 {
        self.pose().position
    }

    /// Pose of the shape's own frame.
    pub fn shape_pose(&self) -> Pose {
        self.bodies.shape_pose(self.index)
    }

    /// Its shape.
    pub fn shape(&self) -> &'a Shape {
        &self.bodies.solids[self.index].shape
    }

    /// Velocity of the centre of mass (m/s), and of rotation in world axes (rad/s).
    pub fn velocity(&self) -> SpatialVector {
        self.bodies.motions[self.index].velocity
    }

    /// Velocity of the centre of mass, m/s.
    pub fn linear_velocity(&self) -> Vec3 {
        self.velocity().linear
    }

    /// Angular velocity in world axes, rad/s.
    pub fn angular_velocity(&self) -> Vec3 {
        self.velocity().angular
    }

    /// Mass, kg; zero for the environment.
    pub fn mass(&self) -> f64 {
        self.bodies.inertias[self.index].mass
    }

    /// 1/mass; zero for the environment.
    pub fn inverse_mass(&self) -> f64 {
        self.bodies.motions[self.index].inverse_mass
    }

    /// How much of the uniform gravity acts on it; 1 unless said.
    pub fn gravity_scale(&self) -> f64 {
        self.bodies.loads[self.index].gravity_scale
    }

    /// Inertia about the centre of mass in world axes, kg m^2; zero for the environment.
    pub fn inertia(&self) -> Mat3 {
        self.bodies.world_inertia(self.index)
    }

    /// Its inverse, zero for the environment.
    pub fn inverse_inertia(&self) -> Mat3 {
        self.bodies.motions[self.index].inverse_inertia
    }

    /// Its surface.
    pub fn material(&self) -> Material {
        self.bodies.solids[self.index].material
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.bodies.kinetic_energy(self.index)
    }

    /// Whether it sleeps ([`Settings::sleeping`](crate::Settings::sleeping)).
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }
}

/// Two bodies that are near each other, and where they touch.
#[derive(Clone, Debug)]
pub struct ContactView<'a> {
    pub(crate) contact: SweptContact,
    pub(crate) bodies: &'a BodySet,
}

impl ContactView<'_> {
    /// The body with the smaller index.
    pub fn a(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[0])
    }

    /// The other one.
    pub fn b(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[1])
    }

    /// Unit direction from A to B.
    pub fn normal(&self) -> Vec3 {
        self.contact.normal
    }

    /// The points.
    pub fn points(&self) -> &[Contact] {
        &self.contact.points[..self.contact.len]
    }

    /// The friction that acts between the two.
    pub fn friction(&self) -> f64 {
        self.contact.friction
    }

    /// The restitution that acts between the two.
    pub fn restitution(&self) -> f64 {
        self.contact.restitution
    }

    /// Impulse on B over the last step, N s: divide by the time step for the mean force.
    pub fn impulse(&self) -> Vec3 {
        self.contact.impulse
    }
}
