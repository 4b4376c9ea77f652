//! The facade: bodies, joints and settings, and one step after another.

use crate::audit::{self, Books};
use crate::bodies::{
    BodyDef, BodySet, Filter, Material, Potential, check_finite, check_pose, check_velocity,
};
use crate::collision::CollisionPipeline;
use crate::constraints::Constraints;
use crate::error::{BodyError, JointError, SettingsError, StepError};
use crate::events::Events;
use crate::id::{BodyId, JointId};
use crate::impacts::Impacts;
use crate::joints::{JointDef, JointSet};
use crate::math::{Pose, SpatialVector, Vec3};
use crate::motion::Motion;
use crate::report::{Grouping, StepReport};
use crate::settings::{Settings, UnusedSettings};
use crate::step::step;
use crate::swept::{Swept, SweptContact};
use crate::views::{Body, ContactView};

/// Shorter steps, s, would divide numbers beyond the finite.
const LEAST_TIME_STEP: f64 = 1e-30;

/// Bodies, joints, forces and settings. See the [crate's page](crate) for a first example.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) bodies: BodySet,
    pub(crate) joints: JointSet,
    pub(crate) potentials: Vec<Potential>,
    pub(crate) collision: CollisionPipeline,
    pub(crate) constraints: Constraints,
    pub(crate) motion: Motion,
    pub(crate) swept: Swept,
    pub(crate) impacts: Impacts,
    pub(crate) books: Books,
    pub(crate) events: Events,
    pub(crate) report: StepReport,
    pub(crate) grouping: Grouping,
    pub(crate) clock: Clock,
    pub(crate) steps: u64,
}

/// Simulated time, counted in steps of one length so that rounding does not add up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// When steps became `dt` long, s.
    start: f64,
    dt: f64,
    /// Steps since then.
    steps: u64,
}

impl Clock {
    fn advance(&mut self, dt: f64) {
        if dt != self.dt {
            *self = Self { start: self.now(), dt, steps: 0 };
        }
        self.steps += 1;
    }

    fn now(&self) -> f64 {
        self.start + self.steps as f64 * self.dt
    }
}

impl World {
    /// An empty world with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self { settings, ..Self::default() })
    }

    /// Advances by `dt` seconds. What it found is in the [`StepReport`] and in
    /// [`events`](Self::events).
    ///
    /// Fails only for a `dt` that is not finite or below 1e-30 s; nothing is changed then.
    pub fn step(&mut self, dt: f64) -> Result<&StepReport, StepError> {
        Self::check_time_step(dt)?;
        step(self, dt);
        self.clock.advance(dt);
        self.steps += 1;
        Ok(&self.report)
    }

    /// Whether [`step`](Self::step) takes this time step.
    pub fn check_time_step(dt: f64) -> Result<(), StepError> {
        match (LEAST_TIME_STEP..f64::INFINITY).contains(&dt) {
            true => Ok(()),
            false => Err(StepError::TimeStep { value: dt }),
        }
    }

    /// Adds a body.
    pub fn add_body(&mut self, def: BodyDef) -> Result<BodyId, BodyError> {
        let id = self.bodies.insert(def)?;
        self.collision.insert(&self.bodies, id.index);
        self.motion.forget(id.index);
        self.swept.forget(id.index);
        Ok(id)
    }

    /// Removes a body, its joints and the springs of force fields that pull it. Its contacts are gone
    /// without an event.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.bodies.find(id)?;
        self.swept.rouse(&self.bodies, &self.joints, id.index);
        self.potentials
            .retain(|field| !matches!(field, Potential::Spring { body, .. } if *body == id.index));
        self.joints.remove_body(id.index);
        self.collision.remove(id.index);
        self.swept.remove(id.index);
        self.bodies.remove(id);
        Ok(())
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, def: JointDef) -> Result<JointId, JointError> {
        let mut bodies = [0; 2];
        for (index, id) in bodies.iter_mut().zip(def.bodies) {
            *index = self.bodies.find(id)? as u32;
        }
        let movable = bodies.iter().any(|&body| self.bodies.is_inertial(body as usize));
        let id = self.joints.insert(def, bodies, movable)?;
        self.swept.review();
        bodies.iter().for_each(|&body| self.swept.wake(&self.bodies, body));
        Ok(id)
    }

    /// Removes a joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), JointError> {
        let bodies = self.joints.find(id)?.bodies;
        self.swept.review();
        bodies.iter().for_each(|&body| self.swept.wake(&self.bodies, body));
        self.joints.remove(id)
    }

    /// Returns a joint as it was defined, or an error if there is no such joint.
    pub fn joint(&self, id: JointId) -> Result<&JointDef, JointError> {
        Ok(&self.joints.find(id)?.def)
    }

    /// All joints, in the order of their handles; `joints().len()` counts them.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = (JointId, &JointDef)> {
        let joints = &self.joints;
        joints.slots.map(move |index| (joints.id(index), &joints.joints[index as usize].def))
    }

    /// The impulse that a joint gave to its body B over the last step, N s.
    pub fn joint_impulse(&self, id: JointId) -> Result<Vec3, JointError> {
        Ok(self.joints.find(id)?.total)
    }

    /// Adds a force field, besides [`Settings::gravity`].
    pub fn add_potential(&mut self, potential: Potential) {
        self.potentials.push(potential);
        self.wake_all();
    }

    /// Force fields in the order in which they were added.
    pub fn potentials(&self) -> &[Potential] {
        &self.potentials
    }

    /// Removes all force fields but [`Settings::gravity`].
    pub fn clear_potentials(&mut self) {
        self.potentials.clear();
        self.wake_all();
    }

    /// How it steps.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Settings that differ from their defaults and have no effect on the bodies that there are.
    pub fn unused_settings(&self) -> UnusedSettings {
        self.settings.unused(self.bodies.inertial.len())
    }

    /// Steps differently from now on.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), SettingsError> {
        settings.check()?;
        if !settings.sleeping || settings.gravity != self.settings.gravity {
            self.wake_all();
        }
        self.settings = settings;
        Ok(())
    }

    /// Returns a body to read, or an error if there is no such body: it was removed, or it is of another world.
    pub fn body(&self, id: BodyId) -> Result<Body<'_>, BodyError> {
        let index = self.bodies.find(id)?;
        Ok(Body { bodies: &self.bodies, index, asleep: self.swept.is_asleep(id.index) })
    }

    /// All bodies, in the order of their handles; `bodies().len()` counts them.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = Body<'_>> {
        let Self { bodies, swept, .. } = self;
        bodies.slots.map(move |index| Body {
            bodies,
            index: index as usize,
            asleep: swept.is_asleep(index),
        })
    }

    /// Puts a body elsewhere. What was known of its contacts is forgotten.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), BodyError> {
        let index = self.bodies.find(id)?;
        check_pose(&pose)?;
        self.swept.rouse(&self.bodies, &self.joints, id.index);
        self.bodies.poses[index] = pose;
        self.bodies.turn_inertia(index);
        self.collision.forget(&self.bodies, id.index);
        self.joints.forget(id.index);
        self.motion.forget(id.index);
        self.swept.forget(id.index);
        Ok(())
    }

    /// Gives a body another velocity; an environment body becomes kinematic by it.
    pub fn set_velocity(&mut self, id: BodyId, velocity: SpatialVector) -> Result<(), BodyError> {
        let index = self.bodies.find(id)?;
        check_velocity(&velocity)?;
        self.swept.rouse(&self.bodies, &self.joints, id.index);
        self.bodies.motions[index].velocity = velocity;
        self.collision.refresh(&self.bodies, id.index, 0.0);
        self.swept.retell(id.index);
        Ok(())
    }

    /// Gives a body another surface.
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), BodyError> {
        let index = self.bodies.find(id)?;
        self.swept.rouse(&self.bodies, &self.joints, id.index);
        self.bodies.solids[index].material = material;
        self.collision.refresh_materials(&self.bodies, id.index);
        self.swept.refresh_materials(&self.bodies, id.index);
        Ok(())
    }

    /// Changes which bodies a body collides with, from the next step on.
    pub fn set_filter(&mut self, id: BodyId, filter: Filter) -> Result<(), BodyError> {
        let index = self.bodies.find(id)?;
        self.swept.rouse(&self.bodies, &self.joints, id.index);
        self.bodies.solids[index].filter = filter;
        self.swept.review();
        Ok(())
    }

    /// Keeps two bodies from colliding (`false`), or lets them again.
    pub fn set_collides(&mut self, a: BodyId, b: BodyId, collides: bool) -> Result<(), BodyError> {
        self.bodies.find(a)?;
        self.bodies.find(b)?;
        self.collision.veto(a.index, b.index, !collides);
        self.swept.review();
        [a, b].iter().for_each(|id| self.swept.wake(&self.bodies, id.index));
        Ok(())
    }

    /// A force (N) on the centre of mass and a torque (N m) in world axes, over the next step.
    pub fn apply_force(&mut self, id: BodyId, force: SpatialVector) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_finite(["force", "torque"], &force)?;
        self.swept.wake(&self.bodies, id.index);
        self.bodies.loads[index].user += force;
        Ok(())
    }

    /// A force (N) at a point of the world, over the next step.
    pub fn apply_force_at(
        &mut self,
        id: BodyId,
        force: Vec3,
        point: Vec3,
    ) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        let arm = point - self.bodies.poses[index].position;
        self.apply_force(id, SpatialVector::force_at(force, arm))
    }

    /// An impulse (N s) on the centre of mass and an angular one (N m s): velocity changes at once.
    pub fn apply_impulse(&mut self, id: BodyId, impulse: SpatialVector) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        check_finite(["impulse", "angular_impulse"], &impulse)?;
        let motion = &mut self.bodies.motions[index];
        let velocity = motion.velocity + motion.response(impulse);
        check_velocity(&velocity)?;
        motion.velocity = velocity;
        self.swept.wake(&self.bodies, id.index);
        self.swept.retell(id.index);
        Ok(())
    }

    /// An impulse (N s) at a point of the world: velocity changes at once.
    pub fn apply_impulse_at(
        &mut self,
        id: BodyId,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), BodyError> {
        let index = self.inertial(id)?;
        let arm = point - self.bodies.poses[index].position;
        self.apply_impulse(id, SpatialVector::force_at(impulse, arm))
    }

    /// Wakes a body that sleeps, and all that it rests on or that rests on it.
    pub fn wake(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.bodies.find(id)?;
        self.swept.wake(&self.bodies, id.index);
        Ok(())
    }

    /// Wakes all bodies that sleep.
    pub fn wake_all(&mut self) {
        self.swept.wake_all(&self.bodies);
    }

    fn inertial(&self, id: BodyId) -> Result<usize, BodyError> {
        let index = self.bodies.find(id)?;
        if self.bodies.is_inertial(index) {
            Ok(index)
        } else {
            Err(BodyError::NotInertial { index: id.index })
        }
    }

    /// What the last step found.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// What happened in the last step.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Pairs of bodies that touched in the last step, or are about to, where the step left them: without points if they
    /// parted within it.
    pub fn contacts(&self) -> impl Iterator<Item = ContactView<'_>> {
        let bodies = &self.bodies;
        let small = (!self.swept.running).then_some(&self.collision).into_iter();
        let near = small.flat_map(CollisionPipeline::pairs);
        let near = near.filter(|pair| pair.len > 0 || pair.push > 0.0).map(move |pair| {
            let (normal, points) =
                pair.carried(pair.bodies.map(|body| &bodies.poses[body as usize]));
            SweptContact {
                bodies: pair.bodies,
                normal: if pair.len > 0 { normal } else { pair.normal },
                friction: pair.friction,
                restitution: pair.restitution,
                impulse: pair.impulse,
                points,
                len: pair.len,
            }
        });
        let large = self.swept.running.then_some(&self.swept).into_iter();
        let large = large.flat_map(move |swept| swept.contacts(bodies));
        near.chain(large).map(move |contact| ContactView { contact, bodies })
    }

    /// Groups of bodies that contacts and joints connect, as the last step left them: each a list of handles,
    /// ascending. Bodies that sleep, or that nothing connects to another body or to the environment, are in none.
    pub fn islands(&self) -> impl Iterator<Item = impl Iterator<Item = BodyId>> {
        let Self { bodies, collision, joints, swept, .. } = self;
        let mut grouping = Grouping::default();
        match swept.running {
            true => swept.group(bodies, joints, &mut grouping),
            false => {
                let pairs = collision.acting_pairs();
                grouping.build(&bodies.inertial, bodies.slots.len(), pairs, joints);
            }
        }
        let members = |at| grouping.members(at).iter().map(|&body| bodies.id(body)).collect();
        let lists: Vec<Vec<BodyId>> = (0..grouping.len()).map(members).collect();
        lists.into_iter().map(Vec::into_iter)
    }

    /// Simulated time, s. After `n` equal steps it is `n * dt` to rounding.
    pub fn time(&self) -> f64 {
        self.clock.now()
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Kinetic energy of all bodies, J.
    pub fn kinetic_energy(&self) -> f64 {
        audit::kinetic_energy(&self.bodies)
    }

    /// Potential energy of all bodies: gravity, force fields and the joints' springs, J.
    pub fn potential_energy(&self) -> f64 {
        audit::potential_energy(&self.bodies, self.settings.gravity, &self.potentials)
            + audit::spring_energy(&self.bodies, &self.joints)
    }

    /// Energy of all bodies in the force field at `index` of [`potentials`](Self::potentials), J.
    pub fn energy_in(&self, index: usize) -> f64 {
        let Some(field) = self.potentials.get(index) else { return 0.0 };
        self.bodies.inertial.iter().map(|&body| field.energy(&self.bodies.view(body))).sum()
    }

    /// Linear momentum, and angular momentum about the world's origin.
    pub fn momentum(&self) -> SpatialVector {
        audit::momentum(&self.bodies)
    }
}
