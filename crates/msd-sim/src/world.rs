//! The world: bodies, joints, force fields and settings, stepped together.

mod change;
mod colliders;
mod contacts;
mod notify;
mod query;
mod stop;
mod threads;

pub(crate) use notify::Change;
pub use query::{BodyDistance, CastHit, QueryFilter, QueryHit};
pub(crate) use stop::Stop;

use crate::bodies::{BodyDef, BodySet, Potential, PotentialSet};
use crate::collision::CollisionPipeline;
use crate::constraints::{Constraints, Problems};
use crate::error::{BodyError, JointError, PotentialError, SettingsError, StepError};
use crate::events::Events;
use crate::id::{BodyId, JointId, PotentialId};
use crate::impacts::Impacts;
use crate::islands::{Islands, links};
use crate::joints::{JointDef, JointSet};
use crate::ledger::{self, LedgerBuilder};
use crate::math::{SpatialVector, Vec3};
use crate::methods::Methods;
use crate::motion::Motion;
use crate::report::StepReport;
use crate::rest::Rest;
use crate::sensors::Sensors;
use crate::settings::{Settings, UnusedSettings};
use crate::step::step;
use crate::swept::Swept;
use crate::threads::ThreadPool;
use crate::views::Body;
use crate::warnings::Warnings;

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
    pub(crate) settings: Settings,
    pub(crate) bodies: BodySet,
    pub(crate) joints: JointSet,
    pub(crate) potentials: PotentialSet,
    pub(crate) collision: CollisionPipeline,
    pub(crate) constraints: Constraints,
    pub(crate) problems: Problems,
    pub(crate) motion: Motion,
    pub(crate) methods: Methods,
    pub(crate) rest: Rest,
    pub(crate) swept: Swept,
    pub(crate) impacts: Impacts,
    pub(crate) sensors: Sensors,
    pub(crate) ledger: LedgerBuilder,
    pub(crate) events: Events,
    pub(crate) report: StepReport,
    pub(crate) islands: Islands,
    pub(crate) threads: ThreadPool,
    pub(crate) clock: Clock,
    pub(crate) steps: u64,
    pub(crate) stop: Stop,
    pub(crate) warnings: Warnings,
}

/// The simulated time, counted in steps of one length so that rounding does not add up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// Time at which steps became `dt` long, s.
    start: f64,
    dt: f64,
    /// Number of steps since then.
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
    /// Creates an empty world with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self { settings, ..Self::default() })
    }

    /// Advances the world by `dt` seconds. Returns the report; [`events`](Self::events) lists contacts and impacts.
    ///
    /// Fails only for a `dt` that is not finite or below 1e-30 s, when nothing is changed, and if it is told to
    /// [stop](Self::stop_when).
    #[doc(alias = "mj_step")]
    pub fn step(&mut self, dt: f64) -> Result<&StepReport, StepError> {
        Self::check_time_step(dt)?;
        if !self.stop.was_within_step() {
            step(self, dt);
        }
        if self.stop.was_within_step() {
            return Err(StepError::Stopped);
        }
        self.clock.advance(dt);
        self.steps += 1;
        let Self { settings, bodies, report, events, .. } = self;
        self.warnings.give(self.steps, settings, bodies, report, events);
        Ok(&self.report)
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
        let id = self.bodies.insert(def)?;
        self.notify(id.index, Change::Added);
        Ok(id)
    }

    /// Removes a body, its joints and the [springs](Potential::spring) attached to it. Its contacts end without an
    /// event.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.bodies.find(id)?;
        self.potentials.remove_body(id);
        self.notify(id.index, Change::Removed { collider: None });
        self.bodies.remove(id);
        Ok(())
    }

    /// Adds a joint, in O(log n) for n joints.
    pub fn add_joint(&mut self, def: JointDef) -> Result<JointId, JointError> {
        let mut bodies = [0; 2];
        for (index, id) in bodies.iter_mut().zip(def.bodies) {
            *index = self.bodies.find(id)? as u32;
        }
        let movable = bodies.iter().any(|&body| self.bodies.is_inertial(body as usize));
        let id = self.joints.insert(def, bodies, movable)?;
        self.notify_link(bodies);
        if self.methods.is_any_swept(bodies) {
            self.constraints.joints.add(&self.bodies, &self.joints, id.index);
        }
        Ok(id)
    }

    /// Removes a joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), JointError> {
        let bodies = self.joints.find(id)?.bodies;
        self.joints.remove(id)?;
        self.constraints.joints.mark_dirty();
        self.notify_link(bodies);
        Ok(())
    }

    /// Returns a joint as it was defined, or an error if there is no such joint.
    pub fn joint(&self, id: JointId) -> Result<&JointDef, JointError> {
        Ok(&self.joints.find(id)?.def)
    }

    /// Returns all joints, in the order of their handles; `joints().len()` counts them.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = (JointId, &JointDef)> {
        let joints = &self.joints;
        joints.slots.map(move |index| (joints.id(index), &joints.joints[index as usize].def))
    }

    /// Returns the joints of a body, in the order of their handles: O(log n + k) for k of n joints.
    pub fn joints_of(
        &self,
        body: BodyId,
    ) -> Result<impl Iterator<Item = (JointId, &JointDef)>, BodyError> {
        self.bodies.find(body)?;
        let joints = &self.joints;
        let of = joints.of(body.index);
        Ok(of.map(move |index| (joints.id(index), &joints.joints[index as usize].def)))
    }

    /// Returns the impulse of a joint on its body B over the last step, N s.
    pub fn joint_impulse(&self, id: JointId) -> Result<Vec3, JointError> {
        Ok(self.joints.find(id)?.total)
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
        let id = self.potentials.insert(&self.bodies, potential)?;
        self.wake_all();
        Ok(id)
    }

    /// Removes a force field and returns it.
    pub fn remove_potential(&mut self, id: PotentialId) -> Result<Potential, PotentialError> {
        let removed = self.potentials.remove(id)?;
        self.wake_all();
        Ok(removed)
    }

    /// Returns a force field, or an error if it does not exist.
    pub fn potential(&self, id: PotentialId) -> Result<&Potential, PotentialError> {
        Ok(&self.potentials[self.potentials.position(id)?])
    }

    /// Returns the force fields in the order in which they were added.
    pub fn potentials(&self) -> impl ExactSizeIterator<Item = (PotentialId, &Potential)> {
        self.potentials.iter()
    }

    /// Removes all force fields but [`Settings::gravity`].
    pub fn clear_potentials(&mut self) {
        self.potentials.clear();
        self.wake_all();
    }

    /// Returns the settings of its steps.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the settings that differ from their defaults and have no effect with the present number of bodies.
    pub fn unused_settings(&self) -> UnusedSettings {
        self.settings.unused(self.bodies.inertial.len())
    }

    /// Changes the settings from the next step on.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), SettingsError> {
        settings.check()?;
        if !settings.sleeping || settings.gravity != self.settings.gravity {
            self.wake_all();
        }
        self.settings = settings;
        Ok(())
    }

    /// Returns a view of a body, or an error if there is no such body.
    pub fn body(&self, id: BodyId) -> Result<Body<'_>, BodyError> {
        let index = self.bodies.find(id)?;
        Ok(Body { bodies: &self.bodies, index, asleep: self.is_asleep(id.index) })
    }

    /// Returns all bodies, in the order of their handles; `bodies().len()` counts them.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = Body<'_>> {
        self.bodies.slots.map(move |index| Body {
            bodies: &self.bodies,
            index: index as usize,
            asleep: self.is_asleep(index),
        })
    }

    fn is_asleep(&self, body: u32) -> bool {
        self.swept.is_asleep(body) || self.rest.is_asleep(body)
    }

    /// Wakes a sleeping body and all bodies that contacts and joints connect to it.
    #[doc(alias = "wake_up")]
    pub fn wake(&mut self, id: BodyId) -> Result<(), BodyError> {
        self.bodies.find(id)?;
        let Self { bodies, collision, constraints, swept, rest, .. } = self;
        rest.mark_changed(id.index);
        swept.wake(bodies, collision, constraints, id.index);
        Ok(())
    }

    /// Wakes all sleeping bodies.
    pub fn wake_all(&mut self) {
        let Self { bodies, collision, constraints, swept, rest, .. } = self;
        rest.end_all();
        swept.wake_all(bodies, collision, constraints);
    }

    /// Returns the report of the last step.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Returns the events of the last step.
    #[doc(alias = "EventHandler")]
    #[doc(alias = "CollisionEvent")]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns the islands at the end of the last step: groups of bodies that contacts and joints connect, each in the
    /// order of its handles. Sleeping bodies, and bodies without contact or joint, are in none.
    pub fn islands(&self) -> impl Iterator<Item = impl Iterator<Item = BodyId>> {
        let Self { bodies, collision, joints, swept, methods, rest, .. } = self;
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
        self.clock.now()
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the kinetic energy of all bodies, J.
    pub fn kinetic_energy(&self) -> f64 {
        ledger::kinetic_energy(&self.bodies)
    }

    /// Returns the potential energy of all bodies in gravity, force fields and springs of joints, J.
    pub fn potential_energy(&self) -> f64 {
        ledger::potential_energy(&self.bodies, self.settings.gravity, &self.potentials)
            + ledger::spring_energy(&self.bodies, &self.joints)
    }

    /// Returns the potential energy of all bodies in one force field, J.
    pub fn energy_in(&self, id: PotentialId) -> Result<f64, PotentialError> {
        let field = self.potential(id)?;
        let bodies = self.bodies.inertial.iter();
        Ok(bodies.map(|&body| field.energy(&self.bodies.view(body))).sum())
    }

    /// Returns the linear momentum (N s), and angular momentum about the world's origin (N m s).
    pub fn momentum(&self) -> SpatialVector {
        ledger::momentum(&self.bodies)
    }
}
