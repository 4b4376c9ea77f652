//! The motion of bodies within a substep: half a drift at the old velocity, a kick by forces and impulses, half a drift
//! at the new velocity.
//!
//! Smooth forces are integrated to second order, uniform gravity exactly. Impulses act at one point and one moment
//! between two free motions, so momentum is conserved to rounding. Where bodies bounce or are fast
//! ([`crate::impacts`]), the substep of their island is cut into segments that end with an impact. Any other body that
//! would penetrate another gets its impulses when it touches it, instead of halfway through the segment.

use crate::bodies::{BodySet, BodyView, Potential};
use crate::collision::{CollisionPipeline, ExactPoint, Near};
use crate::constraints::{Contacts, Kick, PoseTimes};
use crate::id::BodyId;
use crate::islands::Island;
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::settings::Settings;

/// A body that would penetrate deeper than this fraction of its size within the segment is stopped where it touches.
const LANDING_DEPTH: f64 = 1e-9;

/// Iterations for the time of a landing: each squares its error.
const LANDING_ROUNDS: usize = 3;

/// The last kick of a body that has had none.
const NOT_KICKED: (SpatialVector, f64) = (SpatialVector::ZERO, 1.0);

/// Working state of a step, by body.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Motion {
    /// State at the start of the step, restored when numbers overflow.
    #[serde(skip)]
    fallback: Vec<(Pose, SpatialVector)>,
    /// State at the start of the segment, for rewinding.
    #[serde(skip)]
    start: Vec<(Pose, SpatialVector)>,
    #[serde(skip)]
    rewound: Vec<bool>,
    /// Whether the present round of landings moves the body.
    #[serde(skip)]
    moves: Vec<bool>,
    /// Length of the substep, s.
    h: f64,
    /// Time within the substep up to which the body was advanced, and the time of its pose.
    body_time: Vec<f64>,
    pose_time: Vec<f64>,
    kick: KickState,
    /// Environment bodies that move, and their poses at the start of the substep.
    kinematic: Vec<(u32, Pose)>,
    /// Change of velocity in the last kick, and the length of its segment.
    last_kick: Vec<(SpatialVector, f64)>,
}

/// The segment of each body, and what acts on it in the kick.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct KickState {
    /// Length of the segment, and the time within it at which impulses act.
    pub(crate) segment: Vec<f64>,
    pub(crate) kick_time: Vec<f64>,
    /// Velocity before the kick, and after forces but before impulses.
    pub(crate) before: Vec<SpatialVector>,
    pub(crate) forced: Vec<SpatialVector>,
    /// Impulses of conservative forces, of drag and damping, and of the user.
    pub(crate) forces: Vec<SpatialVector>,
    pub(crate) damping: Vec<SpatialVector>,
    pub(crate) user: Vec<SpatialVector>,
    /// Displacement in addition to that by velocity.
    pub(crate) corrections: Vec<SpatialVector>,
    /// Change of velocity that keeps contacts from creating energy.
    pub(crate) energy_cut: Vec<SpatialVector>,
    /// Displacement that the body misses because forces act on it all the time, not at the moment of its kick, where
    /// nothing resists them.
    pub(crate) fall_shift: Vec<Vec3>,
}

impl KickState {
    /// Makes room for this many bodies. Bodies that are not kicked keep the entries of their last kick.
    fn resize(&mut self, count: usize) {
        for times in [&mut self.segment, &mut self.kick_time] {
            times.resize(count, 0.0);
        }
        self.fall_shift.resize(count, Vec3::ZERO);
        for list in [
            &mut self.before,
            &mut self.forced,
            &mut self.forces,
            &mut self.damping,
            &mut self.user,
            &mut self.corrections,
            &mut self.energy_cut,
        ] {
            list.resize(count, SpatialVector::ZERO);
        }
    }
}

impl Motion {
    /// Begins an exact step of some bodies, whose state it saves.
    pub(crate) fn begin(&mut self, bodies: &BodySet, some: impl Iterator<Item = u32>) {
        self.save_some(bodies, some);
        let count = bodies.poses.len();
        self.start.resize(count, (Pose::IDENTITY, SpatialVector::ZERO));
        self.rewound.clear();
        self.rewound.resize(count, false);
        self.moves.clear();
        self.moves.resize(count, false);
        for times in [&mut self.body_time, &mut self.pose_time] {
            times.clear();
            times.resize(count, 0.0);
        }
        self.kick.resize(count);
    }

    /// Returns whether the forces on a body over a substep `h` are those of its last kick.
    pub(crate) fn has_same_forces(
        &self,
        bodies: &BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        body: u32,
        h: f64,
    ) -> bool {
        let acting = ForceImpulses::on(bodies, potentials, gravity, body, h, || bodies.view(body));
        let index = body as usize;
        let known = [&self.kick.forces, &self.kick.damping, &self.kick.user];
        [acting.forces, acting.damping, acting.user] == known.map(|list| list[index])
    }

    /// Saves the state of some bodies at the start of a step.
    pub(crate) fn save_some(&mut self, bodies: &BodySet, some: impl Iterator<Item = u32>) {
        let count = bodies.poses.len();
        self.fallback.resize(count, (Pose::IDENTITY, SpatialVector::ZERO));
        self.last_kick.resize(count, NOT_KICKED);
        for body in some {
            let index = body as usize;
            self.fallback[index] = (bodies.poses[index], bodies.motions[index].velocity);
        }
    }

    /// Returns the pose of a body at the start of its last step.
    pub(crate) fn start_pose(&self, body: u32) -> &Pose {
        &self.fallback[body as usize].0
    }

    /// Discards the history of a body that is new or was moved.
    pub(crate) fn invalidate(&mut self, body: u32) {
        if let Some(last_kick) = self.last_kick.get_mut(body as usize) {
            *last_kick = NOT_KICKED;
        }
    }

    /// Resets all times to the start of a substep.
    pub(crate) fn begin_substep(&mut self, bodies: &BodySet, h: f64) {
        self.h = h;
        self.body_time.fill(0.0);
        self.pose_time.fill(0.0);
        self.rewound.fill(false);
        self.kinematic.clear();
        for &body in &bodies.environment {
            if bodies.motions[body as usize].velocity != SpatialVector::ZERO {
                self.kinematic.push((body, bodies.poses[body as usize]));
            }
        }
    }

    /// Leaves bodies where they are until the substep ends.
    pub(crate) fn hold_until_end(&mut self, bodies: &[u32]) {
        for &body in bodies {
            (self.body_time[body as usize], self.pose_time[body as usize]) = (self.h, self.h);
        }
    }

    /// Returns whether any environment bodies move.
    pub(crate) fn has_kinematic(&self) -> bool {
        !self.kinematic.is_empty()
    }

    /// Returns the time within the substep up to which a body was advanced.
    pub(crate) fn body_time(&self, body: u32) -> f64 {
        self.body_time[body as usize]
    }

    /// Returns the acceleration of a body's fastest point in its last kick, m/s^2.
    pub(crate) fn last_acceleration(&self, bodies: &BodySet, body: u32) -> f64 {
        let (change, time) = self.last_kick[body as usize];
        let turned = change.angular.length() * bodies.extents[body as usize].radius;
        (change.linear.length() + turned) / time
    }

    /// Returns the time within the substep of each body's pose.
    pub(crate) fn pose_time(&self) -> &[f64] {
        &self.pose_time
    }

    /// Moves environment bodies to their poses at a time of the substep.
    pub(crate) fn place_environment(&mut self, bodies: &mut BodySet, time: f64) {
        for &(body, start) in &self.kinematic {
            let index = body as usize;
            bodies.poses[index] = start;
            bodies.drift(index, time);
            self.pose_time[index] = time;
        }
    }

    /// Moves bodies through half of the time left until `until`, or until one touches another that it would penetrate,
    /// and updates the contacts at the poses where the impulses will act.
    pub(crate) fn first_half(
        &mut self,
        bodies: &mut BodySet,
        contacts: &mut Contacts,
        joints: &JointSet,
        settings: &Settings,
        island: &Island,
        until: f64,
    ) {
        let Contacts { collision, constraints } = contacts;
        for &body in &island.bodies {
            let index = body as usize;
            self.start[index] = (bodies.poses[index], bodies.motions[index].velocity);
            self.kick.segment[index] = until - self.body_time[index];
            self.rewound[index] = false;
            self.place(bodies, index, 0.5 * self.kick.segment[index]);
        }
        let middle = island.bodies.iter().map(|&body| self.pose_time[body as usize]);
        self.place_environment(bodies, middle.fold(until, f64::min));
        let poses = PoseTimes { times: &self.pose_time, h: self.h };
        constraints.update_manifolds(bodies, collision, settings, island, poses, |_| true);
        for round in 0..LANDING_ROUNDS {
            if !self.find_landings(bodies, collision, island, round == 0) {
                break;
            }
            self.share_landings(bodies, collision, joints, island);
            // Only bodies that land earlier than in the last round: others may take part in the rounds of bodies far away.
            for &body in island.bodies.iter() {
                let index = body as usize;
                if self.moves[index] {
                    (bodies.poses[index], bodies.motions[index].velocity) = self.start[index];
                    bodies.turn_inertia(index);
                    self.place(bodies, index, self.kick.kick_time[index]);
                }
            }
            let moves = |body: u32| self.moves[body as usize];
            let poses = PoseTimes { times: &self.pose_time, h: self.h };
            constraints.update_manifolds(bodies, collision, settings, island, poses, moves);
            island.bodies.iter().for_each(|&body| self.moves[body as usize] = false);
        }
    }

    /// Moves a body from its pose at the segment's start to where impulses will act on it.
    #[inline]
    fn place(&mut self, bodies: &mut BodySet, index: usize, kick_time: f64) {
        self.kick.kick_time[index] = kick_time;
        self.pose_time[index] = self.body_time[index] + kick_time;
        bodies.drift(index, kick_time);
    }

    /// Finds bodies that would penetrate another within the segment, and how long each can move until it touches, at
    /// its present velocity and for the earliest of several contacts. After the first round, finds bodies that overshot
    /// because they rotate. Returns whether there are any.
    fn find_landings(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        island: &Island,
        first: bool,
    ) -> bool {
        let mut any = false;
        for &position in &island.pairs {
            let near = collision.near_pair(position as usize);
            let Near { pair, contact } = near;
            if !contact.has_points() || !island.contains(bodies, pair.bodies) {
                continue;
            }
            let limit = -LANDING_DEPTH * pair.size;
            let [a, b] = pair.bodies.map(|body| body as usize);
            let base = if bodies.is_inertial(b) { b } else { a };
            let (placed, segment) =
                (self.pose_time[base] - self.body_time[base], self.kick.segment[base]);
            let ahead = if first { segment - placed } else { 0.0 };
            let yielding = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
            for (_, point) in contact.acting().filter(|(_, point)| first || point.gap < limit) {
                let speed = point_speed(bodies, near, point);
                // A contact under load may close as fast as the load pushes in a substep, and so may one about which a
                // body pivots.
                let borne = point.impulse.dot(contact.normal) * yielding;
                let driven = speed < -borne
                    && 0.5 * segment * speed < limit
                    && point.gap + ahead * speed < limit;
                if driven && placed > 0.0 {
                    let touch = (placed - point.gap / speed).max(0.0) + self.body_time[base];
                    let earliest = touch.min(self.landing_time(a)).min(self.landing_time(b));
                    any |= self.rewind(bodies, [a, b], earliest);
                }
            }
        }
        any
    }

    /// Gives bodies that touch or are jointed the landing time of the earliest of them, so that they push each other
    /// where they are.
    fn share_landings(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        island: &Island,
    ) {
        let near = island.pairs.iter().map(|&at| collision.near_pair(at as usize));
        let near = near.filter(|near| near.contact.acting().next().is_some());
        let near = near.map(|near| near.pair.bodies);
        let held = island.joints.iter().map(|&index| joints.joints[index as usize].bodies);
        let inside = |edge: &[u32; 2]| {
            edge.iter().all(|&body| bodies.is_inertial(body as usize))
                && island.contains(bodies, *edge)
        };
        let edges = near.chain(held).filter(inside);
        let mut changed = true;
        while changed {
            changed = false;
            for edge in edges.clone() {
                let [a, b] = edge.map(|body| body as usize);
                let earliest = self.landing_time(a).min(self.landing_time(b));
                changed |= earliest < f64::INFINITY && self.rewind(bodies, [a, b], earliest);
            }
        }
    }

    /// Rewinds two bodies to a landing, at most to the start of their segments. Returns whether one lands earlier than
    /// before.
    fn rewind(&mut self, bodies: &BodySet, pair: [usize; 2], time: f64) -> bool {
        let mut any = false;
        for index in pair.into_iter().filter(|&index| bodies.is_inertial(index)) {
            let kick_time = (time - self.body_time[index]).max(0.0).min(self.kick.segment[index]);
            if self.body_time[index] + kick_time < self.landing_time(index) {
                self.kick.kick_time[index] = kick_time;
                (self.rewound[index], self.moves[index]) = (true, true);
                any = true;
            }
        }
        any
    }

    /// Returns the time of the substep at which a body lands; infinite if it does not.
    fn landing_time(&self, index: usize) -> f64 {
        if self.rewound[index] {
            self.body_time[index] + self.kick.kick_time[index]
        } else {
            f64::INFINITY
        }
    }

    /// Applies the forces' impulses over the segment, and stores them.
    pub(crate) fn apply_forces(
        &mut self,
        bodies: &mut BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        island: &Island,
    ) {
        for &body in &island.bodies {
            let index = body as usize;
            let acting = ForceImpulses::on(
                bodies,
                potentials,
                gravity,
                body,
                self.kick.segment[index],
                || bodies.view(body),
            );
            self.kick.before[index] = bodies.motions[index].velocity;
            self.kick.forces[index] = acting.forces;
            self.kick.damping[index] = acting.damping;
            self.kick.user[index] = acting.user;
            self.kick.corrections[index] = SpatialVector::ZERO;
            self.kick.energy_cut[index] = SpatialVector::ZERO;
            let motion = &mut bodies.motions[index];
            let change = motion.response(acting.forces + acting.user + acting.damping);
            motion.velocity += change;
            self.kick.forced[index] = motion.velocity;
            // As long as no impulse comes.
            let late = self.kick.kick_time[index] - 0.5 * self.kick.segment[index];
            self.kick.fall_shift[index] =
                (motion.velocity.linear - self.kick.before[index].linear) * late;
        }
    }

    /// Returns the data of this segment's kick for the constraints.
    pub(crate) fn kick<'a>(&'a mut self, settings: &'a Settings) -> Kick<'a> {
        Kick {
            settings,
            h: self.h,
            segment: &self.kick.segment,
            before: &self.kick.before,
            forced: &self.kick.forced,
            forces: &self.kick.forces,
            user: &self.kick.user,
            kick_time: &self.kick.kick_time,
            corrections: &mut self.kick.corrections,
            energy_cut: &mut self.kick.energy_cut,
            fall_shift: &mut self.kick.fall_shift,
        }
    }

    /// Moves bodies to the end of the segment, including position corrections.
    pub(crate) fn second_half(&mut self, bodies: &mut BodySet, island: &Island, until: f64) {
        for &body in &island.bodies {
            let index = body as usize;
            let velocity = bodies.motions[index].velocity;
            self.last_kick[index] = (velocity - self.kick.before[index], self.kick.segment[index]);
            bodies.drift(index, self.kick.segment[index] - self.kick.kick_time[index]);
            bodies.poses[index].position += self.kick.fall_shift[index];
            bodies.displace(index, self.kick.corrections[index]);
            (self.body_time[index], self.pose_time[index]) = (until, until);
        }
        self.place_environment(bodies, until);
    }

    /// Returns what acted on each body in this kick.
    pub(crate) fn kick_state(&self) -> &KickState {
        &self.kick
    }

    /// Resets those of some bodies whose state is no longer finite to the start of the step, at rest.
    pub(crate) fn quarantine(
        &mut self,
        bodies: &mut BodySet,
        some: impl Iterator<Item = u32>,
        mut quarantined: impl FnMut(BodyId),
    ) {
        for index in some.map(|body| body as usize) {
            let sound =
                bodies.poses[index].is_finite() && bodies.motions[index].velocity.is_finite();
            if sound || !bodies.slots.is_occupied(index as u32) {
                continue;
            }
            bodies.poses[index] = self.fallback[index].0;
            bodies.motions[index].velocity = SpatialVector::ZERO;
            bodies.turn_inertia(index);
            self.last_kick[index] = NOT_KICKED;
            quarantined(bodies.id(index as u32));
        }
    }
}

/// Impulses of the forces on a body over a time.
pub(crate) struct ForceImpulses {
    /// Of gravity and force fields, of drag and damping, and of the user.
    pub(crate) forces: SpatialVector,
    pub(crate) damping: SpatialVector,
    pub(crate) user: SpatialVector,
}

impl ForceImpulses {
    /// Computes the impulses over `time`. Force fields see the body as `view` returns it.
    #[inline(always)]
    pub(crate) fn on(
        bodies: &BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        body: u32,
        time: f64,
        view: impl FnOnce() -> BodyView,
    ) -> Self {
        let index = body as usize;
        let load = bodies.loads[index];
        let weight = gravity * (bodies.inertias[index].mass * load.gravity_scale);
        let mut force = SpatialVector::new(weight, Vec3::ZERO);
        let mut damping = SpatialVector::ZERO;
        if !potentials.is_empty() {
            let view = view();
            for potential in potentials {
                force += potential.conservative(&view);
                damping += damped_impulse(bodies, index, potential.dissipative(&view) * time);
            }
        }
        if load.linear_damping > 0.0 || load.angular_damping > 0.0 {
            let fade = |rate: f64| libm::expm1(-rate * time);
            let momentum = bodies.momentum_of(index, bodies.motions[index].velocity);
            damping += SpatialVector::new(
                momentum.linear * fade(load.linear_damping),
                momentum.angular * fade(load.angular_damping),
            );
        }
        Self { forces: force * time, damping, user: load.user * time }
    }
}

/// Returns the speed at which the surfaces separate at a contact point, m/s; negative while they approach.
#[inline]
pub(crate) fn point_speed(bodies: &BodySet, near: Near<'_>, point: &ExactPoint) -> f64 {
    let Near { pair, contact } = near;
    let [a, b] = [0, 1].map(|side: usize| {
        let arm = point.position - contact.centers[side];
        let velocity = &bodies.motions[pair.bodies[side] as usize].velocity;
        velocity.velocity_at(arm).dot(contact.normal)
    });
    b - a
}

/// Returns the impulse of a resistance that decays over the time step. At the initial velocity it would stop the body
/// `s` times over, so it gets `(1 - exp(-s)) / s` of that. Exact for drag that is linear in velocity, and never more
/// than a full stop.
fn damped_impulse(bodies: &BodySet, index: usize, impulse: SpatialVector) -> SpatialVector {
    let motion = &bodies.motions[index];
    let change = motion.response(impulse);
    let share = |change: Vec3, velocity: Vec3| {
        let s = -change.dot(velocity) / velocity.length_squared();
        if s > 0.0 { -libm::expm1(-s) / s } else { 1.0 }
    };
    SpatialVector::new(
        impulse.linear * share(change.linear, motion.velocity.linear),
        impulse.angular * share(change.angular, motion.velocity.angular),
    )
}
