//! The world: bodies, joints, force fields and settings, stepped together.

mod change;
mod colliders;
mod contacts;
mod notify;
mod query;
mod stop;
mod threads;

pub(crate) use notify::{Change, notify};
pub use query::{BodyDistance, CastHit, QueryFilter, QueryHit};
pub(crate) use stop::Stop;

use crate::bodies::{BodyDef, Potential};
use crate::constraints::{Contacts, Problems};
use crate::error::{BodyError, JointError, PotentialError, SettingsError, StepError};
use crate::events::Events;
use crate::id::{BodyId, JointId, PotentialId};
use crate::impacts::Impacts;
use crate::islands::{Islands, links};
use crate::joints::JointDef;
use crate::ledger;
use crate::math::{SpatialVector, Vec3};
use crate::methods::Methods;
use crate::model::Model;
use crate::motion::Motion;
use crate::output::Output;
use crate::report::StepReport;
use crate::rest::Rest;
use crate::settings::{Settings, UnusedSettings};
use crate::step::step;
use crate::swept::Swept;
use crate::threads::ThreadPool;
use crate::views::Body;

/// Shortest time step, s: divisions by a shorter one would overflow.
const LEAST_TIME_STEP: f64 = 1e-30;

/// A world: bodies, joints, force fields and settings. See the [crate's page](crate) for a first example.
#[doc(alias = "PhysicsPipeline")]
#[doc(alias = "PhysicsWorld")]
#[doc(alias = "RigidBodySet")]
#[doc(alias = "ColliderSet")]
#[doc(alias = "mjModel")]
#[doc(alias = "mjData")]
#[derive(Clone, Debug, Default)]
pub struct World {
    pub(crate) model: Model,
    pub(crate) contacts: Contacts,
    pub(crate) states: IslandStates,
    pub(crate) output: Output,
    pub(crate) scratch: Scratch,
}

/// How each island is stepped: exactly or swept, at rest or asleep; and what the next step needs to know of the last.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct IslandStates {
    pub(crate) methods: Methods,
    pub(crate) rest: Rest,
    pub(crate) swept: Swept,
    pub(crate) problems: Problems,
    pub(crate) motion: Motion,
}

/// Buffers and threads: nothing in it outlasts a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) impacts: Impacts,
    pub(crate) islands: Islands,
    pub(crate) threads: ThreadPool,
    pub(crate) stop: Stop,
}

impl World {
    /// Creates an empty world with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self { model: Model { settings, ..Model::default() }, ..Self::default() })
    }

    /// Advances the world by `dt` seconds. Returns the report; [`events`](Self::events) lists contacts and impacts.
    ///
    /// Fails only for a `dt` that is not finite or below 1e-30 s, when nothing is changed, and if it is told to
    /// [stop](Self::stop_when).
    #[doc(alias = "mj_step")]
    pub fn step(&mut self, dt: f64) -> Result<&StepReport, StepError> {
        Self::check_time_step(dt)?;
        if !self.scratch.stop.was_within_step() {
            self.approach_targets(dt);
            step(self, dt);
        }
        if self.scratch.stop.was_within_step() {
            return Err(StepError::Stopped);
        }
        self.stop_at_targets();
        self.model.clock.advance(dt);
        let (Model { settings, bodies, clock, .. }, output) = (&self.model, &mut self.output);
        let Output { report, events, warnings, .. } = output;
        warnings.give(clock.steps(), settings, bodies, report, events);
        Ok(report)
    }

    /// Checks whether [`step`](Self::step) accepts this time step.
    pub fn check_time_step(dt: f64) -> Result<(), StepError> {
        match (LEAST_TIME_STEP..f64::INFINITY).contains(&dt) {
            true => Ok(()),
            false => Err(StepError::TimeStep { value: dt }),
        }
    }

    /// Adds a body.
    #[doc(alias = "insert")]
    pub fn add_body(&mut self, def: BodyDef) -> Result<BodyId, BodyError> {
        let id = self.model.bodies.insert(def)?;
        self.notify(id.index, Change::Added);
        Ok(id)
    }

    /// Removes a body, its joints and the [springs](Potential::spring) attached to it. Its contacts end without an
    /// event.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.model.bodies.find(id)?;
        self.model.potentials.remove_body(id);
        self.model.targets.retain(|(body, _)| *body != id.index);
        self.notify(id.index, Change::Removed { collider: None });
        self.model.bodies.remove(id);
        Ok(())
    }

    /// Adds a joint, in O(log n) for n joints.
    pub fn add_joint(&mut self, def: JointDef) -> Result<JointId, JointError> {
        let mut bodies = [0; 2];
        for (index, id) in bodies.iter_mut().zip(def.bodies) {
            *index = self.model.bodies.find(id)? as u32;
        }
        let movable = bodies.iter().any(|&body| self.model.bodies.is_inertial(body as usize));
        let id = self.model.joints.insert(def, bodies, movable)?;
        self.notify_link(bodies);
        if self.states.methods.is_any_swept(bodies) {
            self.contacts.constraints.joints.add(&self.model.bodies, &self.model.joints, id.index);
        }
        Ok(id)
    }

    /// Removes a joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), JointError> {
        let bodies = self.model.joints.find(id)?.bodies;
        self.model.joints.remove(id)?;
        self.contacts.constraints.joints.mark_dirty();
        self.notify_link(bodies);
        Ok(())
    }

    /// Returns a joint as it was defined, or an error if there is no such joint.
    pub fn joint(&self, id: JointId) -> Result<&JointDef, JointError> {
        Ok(&self.model.joints.find(id)?.def)
    }

    /// Returns all joints, in the order of their handles; `joints().len()` counts them.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = (JointId, &JointDef)> {
        let joints = &self.model.joints;
        joints.slots.map(move |index| (joints.id(index), &joints.joints[index as usize].def))
    }

    /// Returns the joints of a body, in the order of their handles: O(log n + k) for k of n joints.
    pub fn joints_of(
        &self,
        body: BodyId,
    ) -> Result<impl Iterator<Item = (JointId, &JointDef)>, BodyError> {
        self.model.bodies.find(body)?;
        let joints = &self.model.joints;
        let of = joints.of(body.index);
        Ok(of.map(move |index| (joints.id(index), &joints.joints[index as usize].def)))
    }

    /// Returns the impulse of a joint on its body B over the last step, N s.
    pub fn joint_impulse(&self, id: JointId) -> Result<Vec3, JointError> {
        Ok(self.model.joints.find(id)?.total)
    }

    /// Adds a force field to [`Settings::gravity`]. A [spring](Potential::spring) needs an inertial body of this
    /// world.
    ///
    /// ```
    /// use msd_sim::{BodyDef, Potential, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let ball = world.add_body(BodyDef::inertial(Shape::sphere(0.1)?).mass(1.0))?;
    /// let spring = Potential::spring(ball, Vec3::ZERO, Vec3::Z, 40.0, 0.5)?.with_damping(0.3)?;
    /// let spring = world.add_potential(spring)?;
    /// world.step(0.01)?;
    /// world.remove_potential(spring)?;
    /// assert_eq!(world.potentials().len(), 0);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "force field")]
    pub fn add_potential(&mut self, potential: Potential) -> Result<PotentialId, PotentialError> {
        let id = self.model.potentials.insert(&self.model.bodies, potential)?;
        self.wake_all();
        Ok(id)
    }

    /// Removes a force field and returns it.
    pub fn remove_potential(&mut self, id: PotentialId) -> Result<Potential, PotentialError> {
        let removed = self.model.potentials.remove(id)?;
        self.wake_all();
        Ok(removed)
    }

    /// Returns a force field, or an error if it does not exist.
    pub fn potential(&self, id: PotentialId) -> Result<&Potential, PotentialError> {
        Ok(&self.model.potentials[self.model.potentials.position(id)?])
    }

    /// Returns the force fields in the order in which they were added.
    pub fn potentials(&self) -> impl ExactSizeIterator<Item = (PotentialId, &Potential)> {
        self.model.potentials.iter()
    }

    /// Removes all force fields but [`Settings::gravity`].
    pub fn clear_potentials(&mut self) {
        self.model.potentials.clear();
        self.wake_all();
    }

    /// Returns the settings of its steps.
    pub fn settings(&self) -> &Settings {
        &self.model.settings
    }

    /// Returns the settings that differ from their defaults and have no effect with the present number of bodies.
    pub fn unused_settings(&self) -> UnusedSettings {
        self.model.settings.unused(self.model.bodies.inertial.len())
    }

    /// Changes the settings from the next step on.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), SettingsError> {
        settings.check()?;
        let other_gravity = settings.gravity != self.model.settings.gravity;
        if other_gravity || !settings.sleeping && !settings.acts_as(&self.model.settings) {
            self.wake_all();
        }
        self.model.settings = settings;
        Ok(())
    }

    /// Returns a view of a body, or an error if there is no such body.
    pub fn body(&self, id: BodyId) -> Result<Body<'_>, BodyError> {
        let index = self.model.bodies.find(id)?;
        Ok(Body { bodies: &self.model.bodies, index, asleep: self.is_asleep(id.index) })
    }

    /// Returns all bodies, in the order of their handles; `bodies().len()` counts them.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = Body<'_>> {
        self.model.bodies.slots.map(move |index| Body {
            bodies: &self.model.bodies,
            index: index as usize,
            asleep: self.is_asleep(index),
        })
    }

    fn is_asleep(&self, body: u32) -> bool {
        self.states.swept.is_asleep(body) || self.states.rest.is_asleep(body)
    }

    /// Wakes a sleeping body and all bodies that contacts and joints connect to it.
    #[doc(alias = "wake_up")]
    pub fn wake(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.model.bodies.find(id)?;
        let IslandStates { swept, rest, .. } = &mut self.states;
        let Contacts { collision, constraints } = &mut self.contacts;
        let bodies = &self.model.bodies;
        rest.mark_changed(id.index);
        swept.wake(bodies, collision, constraints, id.index);
        Ok(())
    }

    /// Wakes all sleeping bodies.
    pub fn wake_all(&mut self) {
        let IslandStates { swept, rest, .. } = &mut self.states;
        let Contacts { collision, constraints } = &mut self.contacts;
        let bodies = &self.model.bodies;
        rest.end_all();
        swept.wake_all(bodies, collision, constraints);
    }

    /// Returns the report of the last step.
    pub fn report(&self) -> &StepReport {
        &self.output.report
    }

    /// Returns the events of the last step.
    #[doc(alias = "EventHandler")]
    #[doc(alias = "CollisionEvent")]
    pub fn events(&self) -> &Events {
        &self.output.events
    }

    /// Returns the islands at the end of the last step: groups of bodies that contacts and joints connect, each in the
    /// order of its handles. Sleeping bodies, and bodies without contact or joint, are in none.
    pub fn islands(&self) -> impl Iterator<Item = impl Iterator<Item = BodyId>> {
        let Model { bodies, joints, .. } = &self.model;
        let IslandStates { swept, methods, rest, .. } = &self.states;
        let collision = &self.contacts.collision;
        let [mut exact, mut others] = [Islands::default(), Islands::default()];
        let awake: Vec<u32> =
            methods.exact().iter().copied().filter(|&body| !rest.is_asleep(body)).collect();
        let pairs = collision.acting_pairs();
        exact.build(bodies.slots.len(), &awake, links(pairs, joints));
        swept.group(bodies, joints, collision, &mut others);
        let ids = |members: &[u32]| members.iter().map(|&body| bodies.id(body)).collect();
        let mut lists: Vec<Vec<BodyId>> = Vec::with_capacity(exact.len() + others.len());
        for islands in [exact, others] {
            lists.extend((0..islands.len()).map(|at| ids(islands.members(at))));
        }
        lists.sort_by_key(|members| members[0].index);
        lists.into_iter().map(Vec::into_iter)
    }

    /// Returns the simulated time, s: `n * dt` to rounding after `n` equal steps.
    pub fn time(&self) -> f64 {
        self.model.clock.now()
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u64 {
        self.model.clock.steps()
    }

    /// Returns the kinetic energy of all bodies, J.
    pub fn kinetic_energy(&self) -> f64 {
        ledger::kinetic_energy(&self.model.bodies)
    }

    /// Returns the potential energy of all bodies in gravity, force fields and springs of joints, J.
    pub fn potential_energy(&self) -> f64 {
        ledger::potential_energy(
            &self.model.bodies,
            self.model.settings.gravity,
            &self.model.potentials,
        ) + ledger::spring_energy(&self.model.bodies, &self.model.joints)
    }

    /// Returns the potential energy of all bodies in one force field, J.
    pub fn energy_in(&self, id: PotentialId) -> Result<f64, PotentialError> {
        let field = self.potential(id)?;
        let bodies = self.model.bodies.inertial.iter();
        Ok(bodies.map(|&body| field.energy(&self.model.bodies.view(body))).sum())
    }

    /// Returns the linear momentum (N s), and angular momentum about the world's origin (N m s).
    pub fn momentum(&self) -> SpatialVector {
        ledger::momentum(&self.model.bodies)
    }
}
