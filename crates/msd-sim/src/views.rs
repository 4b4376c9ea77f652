//! Read-only views of bodies and contacts.

use crate::bodies::{BodyKind, BodySet, Filter, Material, Solid};
use crate::collision::{Contact, ContactRecord};
use crate::geometry::{Aabb, Shape};
use crate::id::{BodyId, ColliderId};
use crate::math::{Mat3, Pose, SpatialVector, Vec3};

/// A read-only view of a body.
#[doc(alias = "RigidBody")]
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

    /// Returns its colliders, in the order of their handles.
    pub fn colliders(&self) -> impl Iterator<Item = ColliderView<'a>> + Clone + use<'a> {
        let bodies = self.bodies;
        bodies.colliders.of(self.index as u32).map(|index| ColliderView { bodies, index })
    }

    /// Returns the origin of the frame in which its colliders were placed, from the center of mass and in the body's axes,
    /// m. Add a point of that frame to get an anchor of a joint.
    pub fn origin(&self) -> Vec3 {
        -self.bodies.centers[self.index]
    }

    /// Returns the bounds of its colliders; `None` if it has none.
    pub fn bounds(&self) -> Option<Aabb> {
        self.colliders().map(|collider| collider.bounds()).reduce(|all, one| all.union(&one))
    }

    /// Returns the length by which tolerances scale, m: half the least width of its smallest collider. Infinite for a
    /// body of half-spaces.
    pub fn size(&self) -> f64 {
        self.bodies.extents[self.index].size
    }

    /// Returns the largest distance of a point of its colliders from the center of mass, m.
    pub fn radius(&self) -> f64 {
        self.bodies.extents[self.index].radius
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

/// A read-only view of a collider.
#[doc(alias = "Collider")]
#[doc(alias = "geom")]
#[derive(Clone, Copy, Debug)]
pub struct ColliderView<'a> {
    pub(crate) bodies: &'a BodySet,
    pub(crate) index: u32,
}

impl<'a> ColliderView<'a> {
    /// Returns its handle.
    pub fn id(&self) -> ColliderId {
        self.bodies.colliders.id(self.index)
    }

    /// Returns its body.
    #[doc(alias = "parent")]
    pub fn body(&self) -> BodyId {
        self.bodies.id(self.bodies.colliders.body(self.index))
    }

    /// Returns its name; empty if it has none.
    pub fn name(&self) -> &'a str {
        self.bodies.colliders.details(self.index).map_or("", |details| &details.name)
    }

    /// Returns the user data; 0 if none.
    pub fn user_data(&self) -> u64 {
        self.bodies.colliders.details(self.index).map_or(0, |details| details.user_data)
    }

    fn solid(&self) -> &'a Solid {
        &self.bodies.colliders.solids[self.index as usize]
    }

    /// Returns its shape.
    pub fn shape(&self) -> &'a Shape {
        &self.solid().shape
    }

    /// Returns the pose of its shape in the world.
    pub fn pose(&self) -> Pose {
        self.bodies.shape_pose(self.index)
    }

    /// Returns the pose of its shape in its body, from the center of mass: `body.pose() * collider.place()` is
    /// [`pose`](Self::pose).
    pub fn place(&self) -> Pose {
        self.solid().place()
    }

    /// Returns its bounds in the world.
    pub fn bounds(&self) -> Aabb {
        self.bodies.bounds(self.index)
    }

    /// Returns the length by which tolerances scale, m: half the least width of its shape.
    pub fn size(&self) -> f64 {
        self.solid().size
    }

    /// Returns the restitution and friction of its surface.
    pub fn material(&self) -> Material {
        self.solid().material
    }

    /// Returns the filter that decides what it collides with.
    pub fn filter(&self) -> Filter {
        self.solid().filter
    }

    /// Returns whether it is a sensor, which pushes nothing.
    pub fn is_sensor(&self) -> bool {
        self.solid().is_sensor
    }

    /// Returns whether it takes part in anything.
    pub fn is_enabled(&self) -> bool {
        self.solid().is_enabled
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

/// A read-only view of a contact: two colliders that touch or are about to, and the points where they do.
#[doc(alias = "ContactPair")]
#[doc(alias = "ContactManifold")]
#[derive(Clone, Debug)]
pub struct ContactView<'a> {
    pub(crate) contact: ContactRecord,
    pub(crate) bodies: &'a BodySet,
}

impl ContactView<'_> {
    /// Returns the body of the collider with the smaller index.
    pub fn a(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[0])
    }

    /// Returns the body of the collider with the larger index.
    pub fn b(&self) -> BodyId {
        self.bodies.id(self.contact.bodies[1])
    }

    /// Returns the colliders of A and B.
    pub fn colliders(&self) -> [ColliderId; 2] {
        self.contact.colliders.map(|collider| self.bodies.colliders.id(collider))
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
