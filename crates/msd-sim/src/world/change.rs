//! Changes of bodies after they were added. Every change but that of name and user data wakes the body, and the bodies
//! that rest on it.

use super::{Change, World};
#[cfg(doc)]
use crate::bodies::BodyDef;
use crate::bodies::{
    Combine, Filter, Material, check_damping, check_finite, check_gravity_scale, check_pose,
    check_velocity,
};
use crate::constraints::Contacts;
use crate::error::BodyError;
use crate::geometry::Shape;
use crate::id::BodyId;
use crate::math::{Pose, SpatialVector, Vec3};

impl World {
    /// Teleports a body. The warm starts of its contacts and joints are dropped.
    #[doc(alias = "set_position")]
    #[doc(alias = "set_translation")]
    #[doc(alias = "qpos")]
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        check_pose(&pose)?;
        self.model.targets.retain(|(body, _)| *body != id.index);
        self.model.bodies.poses[index] = pose;
        self.model.bodies.turn_inertia(index);
        self.notify(id.index, Change::Pose);
        Ok(())
    }

    /// Sets the velocity of the center of mass (m/s) and the angular velocity in world axes (rad/s). An environment
    /// body with a velocity is kinematic.
    #[doc(alias = "set_linvel")]
    #[doc(alias = "set_angvel")]
    #[doc(alias = "qvel")]
    pub fn set_velocity(&mut self, id: BodyId, velocity: SpatialVector) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        check_velocity(&velocity)?;
        self.model.targets.retain(|(body, _)| *body != id.index);
        self.model.bodies.motions[index].velocity = velocity;
        self.notify(id.index, Change::Velocity);
        Ok(())
    }

    /// Moves an environment body to a pose within the next step: with the velocity that takes it there, with which it pushes and
    /// carries others. After the step it stands still, also by [`Body::velocity`](crate::Body::velocity), unless it has another
    /// target by then; [`set_pose`](Self::set_pose) and [`set_velocity`](Self::set_velocity) cancel a target. A target wakes
    /// what rests on the body.
    ///
    /// ```
    /// use msd_sim::{BodyDef, World, geometry::Shape, math::{Pose, Vec3}};
    /// let mut world = World::default();
    /// let lift = BodyDef::environment(Shape::cuboid(Vec3::new(1.0, 1.0, 0.1))?);
    /// let lift = world.add_body(lift)?;
    /// for step in 1..=60 {
    ///     world.set_target(lift, Pose::at(Vec3::Z * 0.01 * f64::from(step)))?;
    ///     world.step(1.0 / 60.0)?;
    /// }
    /// assert_eq!(world.body(lift)?.position(), Vec3::Z * 0.6);
    /// world.step(1.0 / 60.0)?;
    /// assert_eq!(world.body(lift)?.position(), Vec3::Z * 0.6);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "set_next_kinematic_position")]
    #[doc(alias = "MoveKinematic")]
    pub fn set_target(&mut self, id: BodyId, pose: Pose) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        check_pose(&pose)?;
        if self.model.bodies.is_inertial(index) {
            return Err(BodyError::NotEnvironment { index: id.index });
        }
        let targets = &mut self.model.targets;
        match targets.binary_search_by_key(&id.index, |(body, _)| *body) {
            Ok(at) => targets[at].1 = pose,
            Err(at) => targets.insert(at, (id.index, pose)),
        }
        Ok(())
    }

    /// Gives bodies with a target the velocity that takes them there in a step.
    pub(super) fn approach_targets(&mut self, dt: f64) {
        for at in 0..self.model.targets.len() {
            let (body, target) = self.model.targets[at];
            let pose = &self.model.bodies.poses[body as usize];
            let turn = target.rotation * pose.rotation.conjugate();
            // The short way round.
            let turn = if turn.w < 0.0 { -turn } else { turn };
            let linear = (target.position - pose.position) / dt;
            let velocity = SpatialVector::new(linear, turn.to_scaled_axis() / dt);
            self.model.bodies.motions[body as usize].velocity = velocity;
            self.notify(body, Change::Velocity);
        }
    }

    /// Stops the bodies that have arrived at their targets, in these to the last bit.
    pub(super) fn stop_at_targets(&mut self) {
        for (body, target) in std::mem::take(&mut self.model.targets) {
            let bodies = &mut self.model.bodies;
            bodies.poses[body as usize] = target;
            bodies.motions[body as usize].velocity = SpatialVector::ZERO;
            self.notify(body, Change::Velocity);
            self.contacts.collision.cover(&self.model.bodies, body);
        }
    }

    /// Sets the mass of an inertial body, kg. Its inertia scales with it; shape, center of mass and velocity stay, so
    /// that its momentum changes. A density given before no longer counts.
    ///
    /// The world is as if the body had been added with [`BodyDef::mass`], and with the scaled inertia where it was
    /// added with [`BodyDef::inertia`].
    #[doc(alias = "set_additional_mass")]
    pub fn set_mass(&mut self, id: BodyId, mass: f64) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        self.model.bodies.set_mass(index, mass)?;
        self.notify(id.index, Change::Load);
        Ok(())
    }

    /// Sets the shape of a body. Its center of mass, orientation and velocity stay, and so do joints, whose anchors
    /// are relative to the center of mass. Its contacts are found again in the next step, without warm starts.
    ///
    /// Mass, inertia and frame are those of a body added with the new shape:
    ///
    /// | given by | mass | inertia |
    /// |---|---|---|
    /// | [`BodyDef::density`], or not at all | changes with the volume | that of the new shape |
    /// | [`BodyDef::mass`], [`set_mass`](Self::set_mass) | stays | that of the new shape |
    /// | [`BodyDef::inertia`] | | stays |
    /// | [`BodyDef::center_of_mass`] | | stays at that point of the shape's frame |
    ///
    /// ```
    /// use msd_sim::{BodyDef, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let body = BodyDef::inertial(Shape::sphere(1.0)?).density(500.0).position(Vec3::Z);
    /// let body = world.add_body(body)?;
    /// world.set_shape(body, Shape::cuboid(Vec3::splat(0.5))?)?;
    /// assert_eq!((world.body(body)?.mass(), world.body(body)?.position()), (500.0, Vec3::Z));
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    pub fn set_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        self.model.bodies.set_shape(index, shape)?;
        self.notify(id.index, Change::Shape { collider: None });
        Ok(())
    }

    /// Sets the rates at which the linear and angular velocity of an inertial body decay, 1/s.
    #[doc(alias = "set_linear_damping")]
    #[doc(alias = "set_angular_damping")]
    pub fn set_damping(&mut self, id: BodyId, linear: f64, angular: f64) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_damping(linear, angular)?;
        let load = &mut self.model.bodies.loads[index];
        (load.linear_damping, load.angular_damping) = (linear, angular);
        self.notify(id.index, Change::Load);
        Ok(())
    }

    /// Sets the factor on gravity, both uniform gravity and that of point masses, for an inertial body.
    pub fn set_gravity_scale(&mut self, id: BodyId, scale: f64) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_gravity_scale(scale)?;
        self.model.bodies.loads[index].gravity_scale = scale;
        self.notify(id.index, Change::Load);
        Ok(())
    }

    /// Sets the name of a body.
    pub fn set_name(&mut self, id: BodyId, name: impl Into<String>) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        self.model.bodies.names[index] = name.into();
        Ok(())
    }

    /// Sets the user data of a body ([`BodyDef::user_data`]).
    pub fn set_user_data(&mut self, id: BodyId, user_data: u64) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        self.model.bodies.user_data[index] = user_data;
        Ok(())
    }

    /// Sets the restitution and friction of all surfaces of a body.
    #[doc(alias = "set_friction")]
    #[doc(alias = "set_restitution")]
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        self.model.bodies.surfaces[index].0 = material;
        self.model.bodies.colliders.for_each_of(id.index, |solid, _| solid.material = material);
        self.notify(id.index, Change::Material);
        Ok(())
    }

    /// Sets how the properties of two materials combine, named by their [tags](Material::tagged), in all contacts from now on;
    /// `None`: by the geometric mean, as by default.
    ///
    /// ```
    /// use msd_sim::{Combine, CombineRule, Material, World};
    /// let (ice, rubber) = (Material::new(0.1, 0.05)?.tagged(1), Material::new(0.6, 1.0)?.tagged(2));
    /// let mut world = World::default();
    /// let rules = Combine { friction: CombineRule::Fixed(0.15), restitution: CombineRule::Min };
    /// world.set_combine(ice.tag(), rubber.tag(), Some(rules))?;
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    pub fn set_combine(&mut self, a: u32, b: u32, rules: Option<Combine>) -> Result<(), BodyError> {
        self.model.bodies.combines.set(a, b, rules)?;
        self.wake_all();
        let Contacts { collision, constraints } = &mut self.contacts;
        let all = collision.pairs_with(|_| true);
        collision.refresh_materials(&self.model.bodies, &all);
        constraints.refresh_materials(&collision.pairs, &all);
        self.states.swept.any_restitution |=
            all.iter().any(|&number| collision.pairs.all[number as usize].restitution > 0.0);
        Ok(())
    }

    /// Sets the filter that decides what all colliders of a body collide with, from the next step on.
    #[doc(alias = "set_collision_groups")]
    pub fn set_filter(&mut self, id: BodyId, filter: Filter) -> Result<(), BodyError> {
        let index = self.model.bodies.find(id)?;
        self.model.bodies.surfaces[index].1 = filter;
        self.model.bodies.colliders.for_each_of(id.index, |solid, _| solid.filter = filter);
        self.notify(id.index, Change::Filter);
        Ok(())
    }

    /// Keeps two bodies from colliding (`false`), or undoes that (`true`). Filters apply all the same, and bodies that a joint connects collide only with [`JointDef::collide`](crate::JointDef::collide).
    #[doc(alias = "exclude")]
    pub fn set_collides(&mut self, a: BodyId, b: BodyId, collides: bool) -> Result<(), BodyError> {
        self.model.bodies.find(a)?;
        self.model.bodies.find(b)?;
        self.contacts.collision.set_disabled(a.index, b.index, !collides);
        self.notify_link([a.index, b.index]);
        Ok(())
    }

    /// Applies a force (N) to the center of mass and a torque (N m) in world axes, over the next step only.
    #[doc(alias = "add_force")]
    #[doc(alias = "add_torque")]
    #[doc(alias = "xfrc_applied")]
    pub fn apply_force(&mut self, id: BodyId, force: SpatialVector) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_finite(["force", "torque"], &force)?;
        self.model.bodies.loads[index].user += force;
        self.notify(id.index, Change::Load);
        Ok(())
    }

    /// Applies a force (N) at a point of the world, over the next step only.
    #[doc(alias = "add_force_at_point")]
    pub fn apply_force_at(
        &mut self,
        id: BodyId,
        force: Vec3,
        point: Vec3,
    ) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_point(point)?;
        let arm = point - self.model.bodies.poses[index].position;
        self.apply_force(id, SpatialVector::force_at(force, arm))
    }

    /// Applies an impulse (N s) to the center of mass and an angular impulse (N m s): the velocity changes at once.
    #[doc(alias = "apply_torque_impulse")]
    pub fn apply_impulse(&mut self, id: BodyId, impulse: SpatialVector) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_finite(["impulse", "angular_impulse"], &impulse)?;
        let motion = &mut self.model.bodies.motions[index];
        let velocity = motion.velocity + motion.response(impulse);
        check_velocity(&velocity)?;
        motion.velocity = velocity;
        self.notify(id.index, Change::Velocity);
        Ok(())
    }

    /// Applies an impulse (N s) at a point of the world: the velocity changes at once.
    #[doc(alias = "apply_impulse_at_point")]
    pub fn apply_impulse_at(
        &mut self,
        id: BodyId,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_point(point)?;
        let arm = point - self.model.bodies.poses[index].position;
        self.apply_impulse(id, SpatialVector::force_at(impulse, arm))
    }

    /// Returns the index of an inertial body.
    fn inertial(&self, id: BodyId) -> Result<usize, BodyError> {
        let index = self.model.bodies.find(id)?;
        if self.model.bodies.is_inertial(index) {
            Ok(index)
        } else {
            Err(BodyError::NotInertial { index: id.index })
        }
    }
}

fn check_point(value: Vec3) -> Result<(), BodyError> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(BodyError::NotFinite { field: "point", value }),
    }
}
