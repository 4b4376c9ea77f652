//! Read-only views of bodies and contacts.

use crate::bodies::{BodyKind, BodySet, Filter, Material};
use crate::collision::{Contact, ContactRecord};
use crate::geometry::Shape;
use crate::id::BodyId;
use crate::math::{Mat3, Pose, Quat, SpatialVector, Vec3};

/// A read-only view of a body.
#[doc(alias = "RigidBody")]
#[doc(alias = "Collider")]
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    pub(crate) bodies: &'a BodySet,
    pub(crate) index: usize,
    pub(crate) asleep: bool,
}

impl<'a> Body<'a> {
    /// Returns its handle.
    pub fn id(&self) -> BodyId {
        self.bodies.id(self.index as u32)
    }

    /// Returns its name; empty if it has none.
    pub fn name(&self) -> &'a str {
        &self.bodies.names[self.index]
    }

    /// Returns the user data; 0 if none.
    pub fn user_data(&self) -> u64 {
        self.bodies.user_data[self.index]
    }

    /// Returns its kind: whether forces move it.
    #[doc(alias = "is_dynamic")]
    #[doc(alias = "is_fixed")]
    pub fn kind(&self) -> BodyKind {
        self.bodies.kind(self.index)
    }

    /// Returns the center of mass and orientation.
    pub fn pose(&self) -> Pose {
        self.bodies.poses[self.index]
    }

    /// Returns the position of the center of mass, m.
    #[doc(alias = "translation")]
    pub fn position(&self) -> Vec3 {
        self.pose().position
    }

    /// Returns the pose of the shape's own frame.
    pub fn shape_pose(&self) -> Pose {
        self.bodies.shape_pose(self.index)
    }

    /// Returns the shape's own frame in the body's, whose origin is the center of mass: `pose() * shape_place()` is
    /// [`shape_pose`](Self::shape_pose). Add its position to a point of the shape's frame to get an anchor of a joint.
    pub fn shape_place(&self) -> Pose {
        Pose::new(self.bodies.solids[self.index].offset, Quat::IDENTITY)
    }

    /// Returns its shape.
    pub fn shape(&self) -> &'a Shape {
        &self.bodies.solids[self.index].shape
    }

    /// Returns the velocity of the center of mass (m/s), and angular velocity in world axes (rad/s).
    pub fn velocity(&self) -> SpatialVector {
        self.bodies.motions[self.index].velocity
    }

    /// Returns the velocity of the center of mass, m/s.
    #[doc(alias = "linvel")]
    pub fn linear_velocity(&self) -> Vec3 {
        self.velocity().linear
    }

    /// Returns the angular velocity in world axes, rad/s.
    #[doc(alias = "angvel")]
    pub fn angular_velocity(&self) -> Vec3 {
        self.velocity().angular
    }

    /// Returns the mass, kg; zero for an environment body.
    pub fn mass(&self) -> f64 {
        self.bodies.inertias[self.index].mass
    }

    /// Returns the inverse mass, 1/kg; zero for an environment body.
    pub fn inverse_mass(&self) -> f64 {
        self.bodies.motions[self.index].inverse_mass
    }

    /// Returns the factor on gravity; 1 unless set.
    pub fn gravity_scale(&self) -> f64 {
        self.bodies.loads[self.index].gravity_scale
    }

    /// Returns the rate at which linear velocity decays, 1/s.
    pub fn linear_damping(&self) -> f64 {
        self.bodies.loads[self.index].linear_damping
    }

    /// Returns the rate at which angular velocity decays, 1/s.
    pub fn angular_damping(&self) -> f64 {
        self.bodies.loads[self.index].angular_damping
    }

    /// Returns the inertia about the center of mass in world axes, kg m^2; zero for an environment body.
    pub fn inertia(&self) -> Mat3 {
        self.bodies.world_inertia(self.index)
    }

    /// Returns the inverse of [`inertia`](Self::inertia), 1/(kg m^2); zero for an environment body.
    pub fn inverse_inertia(&self) -> Mat3 {
        self.bodies.motions[self.index].inverse_inertia
    }

    /// Returns the restitution and friction of its surface.
    pub fn material(&self) -> Material {
        self.bodies.solids[self.index].material
    }

    /// Returns the filter that decides which bodies it collides with.
    pub fn filter(&self) -> Filter {
        self.bodies.solids[self.index].filter
    }

    /// Returns the kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.bodies.kinetic_energy(self.index)
    }

    /// Returns whether it is asleep ([`Settings::sleeping`](crate::Settings::sleeping)).
    #[doc(alias = "is_sleeping")]
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }
}

/// What contacts and joints did to a body over the last step: impulses in N s, with their moments about its center of
/// mass in N m s. Divided by the time step, they are the mean net force and torque of each cause.
#[doc(alias = "net_contact_force")]
#[doc(alias = "qfrc_constraint")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyImpulses {
    /// Of all contacts, those that have ended within the step included.
    pub contacts: SpatialVector,
    /// Of all joints.
    pub joints: SpatialVector,
}

impl BodyImpulses {
    /// Returns the sum over all causes.
    pub fn total(&self) -> SpatialVector {
        self.contacts + self.joints
    }
}

/// A read-only view of a contact: two bodies that touch or are about to, and the points where they do.
#[doc(alias = "ContactPair")]
#[doc(alias = "ContactManifold")]
#[derive(Clone, Debug)]
pub struct ContactView<'a> {
    pub(crate) contact: ContactRecord,
    pub(crate) bodies: &'a BodySet,
}

impl ContactView<'_> {
    /// Returns the body with the smaller index.
    pub fn a(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[0])
    }

    /// Returns the body with the larger index.
    pub fn b(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[1])
    }

    /// Returns the unit direction from A to B.
    pub fn normal(&self) -> Vec3 {
        self.contact.normal
    }

    /// Returns the contact points, at most four.
    pub fn points(&self) -> &[Contact] {
        &self.contact.points[..self.contact.len]
    }

    /// Returns the friction coefficient between the two.
    pub fn friction(&self) -> f64 {
        self.contact.friction
    }

    /// Returns the restitution between the two.
    pub fn restitution(&self) -> f64 {
        self.contact.restitution
    }

    /// Returns the impulse on B over the last step, N s: divide by the time step for the mean force.
    pub fn impulse(&self) -> Vec3 {
        self.contact.impulse
    }

    /// Returns the impulse on one of its bodies over the last step, N s, with its moment about that body's center of
    /// mass, N m s; zero for a body that is not in this contact.
    pub fn impulse_on(&self, body: BodyId) -> SpatialVector {
        let ContactRecord { impulse, moments, .. } = self.contact;
        if body == self.a() {
            SpatialVector::new(-impulse, -moments[0])
        } else if body == self.b() {
            SpatialVector::new(impulse, moments[1])
        } else {
            SpatialVector::ZERO
        }
    }
}
