//! How bodies move within a substep: half by the velocity they have, then forces and impulses, then
//! half by the velocity they got.
//!
//! What is smooth is so integrated to second order, uniform gravity exactly. Impulses act at one
//! point and at one moment, between two free motions, so momentum is kept to rounding. Where something
//! bounces or is fast ([`crate::impacts`]) the substep of its island is cut into segments that end with an
//! impact. Any other body that would drive into another gets its impulses when it touches it instead
//! of halfway through the segment.

use crate::bodies::{BodySet, BodyView, Potential};
use crate::collision::{CollisionPipeline, Contact, ContactPair};
use crate::constraints::Kick;
use crate::id::BodyId;
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::scope::Scope;
use crate::settings::Settings;

/// A body that would drive deeper than this fraction of size within the segment is stopped where it
/// touches.
const IMPACT_DEPTH: f64 = 1e-9;

/// Rounds in which the time of a landing is found: each squares its error.
const IMPACT_ROUNDS: usize = 3;

/// What is known of a body that was in no kick yet.
const NOT_KICKED: (SpatialVector, f64) = (SpatialVector::ZERO, 1.0);

/// Scratch of a step, by body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    /// State at the step's start, to fall back to where numbers leave the finite.
    safe: Vec<(Pose, SpatialVector)>,
    /// State at the segment's start, to go back to.
    start: Vec<(Pose, SpatialVector)>,
    taken_back: Vec<bool>,
    /// How long the substep is.
    h: f64,
    /// How much of the substep it has behind it, and at which time of the substep its pose is.
    clock: Vec<f64>,
    when: Vec<f64>,
    /// How long the segment is, and when in it impulses act.
    span: Vec<f64>,
    lead: Vec<f64>,
    /// Environment bodies that move, and where each was when the substep began.
    kinematic: Vec<(u32, Pose)>,
    before: Vec<SpatialVector>,
    /// Velocity after forces, before impulses.
    forced: Vec<SpatialVector>,
    /// Impulses of conservative forces, of drag and damping, of the user.
    forces: Vec<SpatialVector>,
    damping: Vec<SpatialVector>,
    user: Vec<SpatialVector>,
    shifts: Vec<SpatialVector>,
    slowed: Vec<SpatialVector>,
    /// How its velocity changed in its last kick, and in which time.
    kicked: Vec<(SpatialVector, f64)>,
}

/// What acted on every body in a kick, by body.
pub(crate) struct Impulses<'a> {
    pub(crate) span: &'a [f64],
    pub(crate) before: &'a [SpatialVector],
    pub(crate) forced: &'a [SpatialVector],
    pub(crate) lead: &'a [f64],
    pub(crate) forces: &'a [SpatialVector],
    pub(crate) damping: &'a [SpatialVector],
    pub(crate) user: &'a [SpatialVector],
    pub(crate) shifts: &'a [SpatialVector],
    pub(crate) slowed: &'a [SpatialVector],
}

impl Impulses<'_> {
    /// Displacement of a body to which no impulse came although it waited for one: forces acted on it
    /// for the whole time, not from one moment on.
    #[inline(always)]
    pub(crate) fn drawn(&self, index: usize, velocity: SpatialVector) -> Vec3 {
        if velocity != self.forced[index] {
            return Vec3::ZERO;
        }
        let late = self.lead[index] - 0.5 * self.span[index];
        (velocity.linear - self.before[index].linear) * late
    }
}

impl Motion {
    /// Remembers where every body is.
    pub(crate) fn begin(&mut self, bodies: &BodySet) {
        self.safe.clear();
        let states = bodies.poses.iter().zip(&bodies.motions);
        self.safe.extend(states.map(|(pose, motion)| (*pose, motion.velocity)));
        let count = bodies.poses.len();
        self.start.resize(count, (Pose::IDENTITY, SpatialVector::ZERO));
        self.taken_back.clear();
        self.taken_back.resize(count, false);
        self.kicked.resize(count, NOT_KICKED);
        for list in [&mut self.clock, &mut self.when, &mut self.span, &mut self.lead] {
            list.clear();
            list.resize(count, 0.0);
        }
        for list in [
            &mut self.before,
            &mut self.forced,
            &mut self.forces,
            &mut self.damping,
            &mut self.user,
            &mut self.shifts,
            &mut self.slowed,
        ] {
            list.clear();
            list.resize(count, SpatialVector::ZERO);
        }
    }

    /// Remembers where some bodies are.
    pub(crate) fn remember(&mut self, bodies: &BodySet, some: impl Iterator<Item = u32>) {
        let count = bodies.poses.len();
        self.safe.resize(count, (Pose::IDENTITY, SpatialVector::ZERO));
        self.kicked.resize(count, NOT_KICKED);
        for body in some {
            let index = body as usize;
            self.safe[index] = (bodies.poses[index], bodies.motions[index].velocity);
        }
    }

    /// Drops what is remembered of a body that is new, or was put elsewhere.
    pub(crate) fn forget(&mut self, body: u32) {
        if let Some(kicked) = self.kicked.get_mut(body as usize) {
            *kicked = NOT_KICKED;
        }
    }

    /// Sets all clocks to zero.
    pub(crate) fn begin_substep(&mut self, bodies: &BodySet, h: f64) {
        self.h = h;
        self.clock.fill(0.0);
        self.when.fill(0.0);
        self.taken_back.fill(false);
        self.kinematic.clear();
        for &body in &bodies.environment {
            if bodies.motions[body as usize].velocity != SpatialVector::ZERO {
                self.kinematic.push((body, bodies.poses[body as usize]));
            }
        }
    }

    /// Leaves bodies where they are until the substep ends.
    pub(crate) fn wait(&mut self, bodies: &[u32]) {
        for &body in bodies {
            (self.clock[body as usize], self.when[body as usize]) = (self.h, self.h);
        }
    }

    /// Whether there are environment bodies that move.
    pub(crate) fn has_kinematic(&self) -> bool {
        !self.kinematic.is_empty()
    }

    /// How much of the substep a body has behind it.
    pub(crate) fn clock(&self, body: u32) -> f64 {
        self.clock[body as usize]
    }

    /// How fast a body's fastest point changed its velocity in its last kick, m/s^2.
    pub(crate) fn pull(&self, bodies: &BodySet, body: u32) -> f64 {
        let (change, time) = self.kicked[body as usize];
        let turned = change.angular.length() * bodies.solids[body as usize].radius;
        (change.linear.length() + turned) / time
    }

    /// At which time of the substep each body's pose is.
    pub(crate) fn when(&self) -> &[f64] {
        &self.when
    }

    /// Moves environment bodies to where they are at a time of the substep.
    pub(crate) fn place_environment(&mut self, bodies: &mut BodySet, time: f64) {
        for &(body, start) in &self.kinematic {
            let index = body as usize;
            bodies.poses[index] = start;
            bodies.drift(index, time);
            self.when[index] = time;
        }
    }

    /// Moves bodies by half of the time that they have until `until`, or until one touches another if it
    /// would drive into it, and leaves the contacts at the poses where the impulses will act.
    pub(crate) fn first_half(
        &mut self,
        bodies: &mut BodySet,
        collision: &mut CollisionPipeline,
        joints: &JointSet,
        settings: &Settings,
        scope: &Scope,
        until: f64,
    ) {
        let h = self.h;
        for &body in &scope.bodies {
            let index = body as usize;
            self.start[index] = (bodies.poses[index], bodies.motions[index].velocity);
            self.span[index] = until - self.clock[index];
            self.taken_back[index] = false;
            self.place(bodies, index, 0.5 * self.span[index]);
        }
        let middle = scope.bodies.iter().map(|&body| self.when[body as usize]);
        self.place_environment(bodies, middle.fold(until, f64::min));
        collision.update_manifolds(bodies, settings, scope, &self.when, h, |_| true);
        for round in 0..IMPACT_ROUNDS {
            if !self.find_landings(bodies, collision, scope, round == 0) {
                break;
            }
            self.share_landings(bodies, collision, joints, scope);
            for &body in scope.bodies.iter() {
                let index = body as usize;
                if self.taken_back[index] {
                    (bodies.poses[index], bodies.motions[index].velocity) = self.start[index];
                    bodies.turn_inertia(index);
                    self.place(bodies, index, self.lead[index]);
                }
            }
            let taken_back = &self.taken_back;
            collision.update_manifolds(bodies, settings, scope, &self.when, h, |body| {
                taken_back[body as usize]
            });
        }
    }

    /// Moves a body from its place at the segment's start, where impulses will act on it.
    #[inline]
    fn place(&mut self, bodies: &mut BodySet, index: usize, lead: f64) {
        self.lead[index] = lead;
        self.when[index] = self.clock[index] + lead;
        bodies.drift(index, lead);
    }

    /// Finds bodies that would drive into another within the segment, and for how long they can
    /// move until they touch: with the velocities they have, and the earliest of several. After the
    /// first round, those that went too far because they turn on the way. Whether there are any.
    fn find_landings(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        scope: &Scope,
        first: bool,
    ) -> bool {
        let mut any = false;
        for &position in &scope.pairs {
            let pair = collision.pair(position as usize);
            if pair.len == 0 || !scope.holds(bodies, pair.bodies) {
                continue;
            }
            let limit = -IMPACT_DEPTH * pair.size;
            let [a, b] = pair.bodies.map(|body| body as usize);
            let base = if bodies.is_inertial(b) { b } else { a };
            let (placed, span) = (self.when[base] - self.clock[base], self.span[base]);
            let ahead = if first { span - placed } else { 0.0 };
            let yielding = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
            for (_, point) in pair.acting().filter(|(_, point)| first || point.gap < limit) {
                let speed = point_speed(bodies, pair, point);
                // A contact that bears a load may close as fast as the load pushes in a substep: so
                // does one about which a body turns.
                let borne = point.impulse.dot(pair.normal) * yielding;
                let driven = speed < -borne
                    && 0.5 * span * speed < limit
                    && point.gap + ahead * speed < limit;
                if driven && placed > 0.0 {
                    let touch = (placed - point.gap / speed).max(0.0) + self.clock[base];
                    let earliest = touch.min(self.landing_time(a)).min(self.landing_time(b));
                    self.take_back(bodies, [a, b], earliest);
                    any = true;
                }
            }
        }
        any
    }

    /// Bodies near each other, and those that joints hold together, get their impulses at one time,
    /// that of the earliest landing: they then push each other where they are.
    fn share_landings(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        scope: &Scope,
    ) {
        let near = scope.pairs.iter().map(|&at| collision.pair(at as usize));
        let near = near.filter(|pair| pair.acting().next().is_some()).map(|pair| pair.bodies);
        let held = scope.joints.iter().map(|&index| joints.joints[index as usize].bodies);
        let inside = |tie: &[u32; 2]| {
            tie.iter().all(|&body| bodies.is_inertial(body as usize)) && scope.holds(bodies, *tie)
        };
        let ties = near.chain(held).filter(inside);
        let mut changed = true;
        while changed {
            changed = false;
            for tie in ties.clone() {
                let [a, b] = tie.map(|body| body as usize);
                let earliest = self.landing_time(a).min(self.landing_time(b));
                changed |= earliest < f64::INFINITY && self.take_back(bodies, [a, b], earliest);
            }
        }
    }

    /// Bodies that began their segment later than `time` cannot go back so far. Whether one goes back now.
    fn take_back(&mut self, bodies: &BodySet, pair: [usize; 2], time: f64) -> bool {
        let mut any = false;
        for index in pair.into_iter().filter(|&index| bodies.is_inertial(index)) {
            let known = self.landing_time(index);
            self.lead[index] = (time - self.clock[index]).max(0.0).min(self.span[index]);
            self.taken_back[index] = true;
            any |= self.landing_time(index) < known;
        }
        any
    }

    /// At which time of the substep a body touches another, as far as is known.
    fn landing_time(&self, index: usize) -> f64 {
        if self.taken_back[index] { self.clock[index] + self.lead[index] } else { f64::INFINITY }
    }

    /// Changes velocities by the forces' impulses over the segment, and remembers both.
    pub(crate) fn apply_forces(
        &mut self,
        bodies: &mut BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        scope: &Scope,
    ) {
        for &body in &scope.bodies {
            let index = body as usize;
            let acting = Acting::on(bodies, potentials, gravity, body, self.span[index], || {
                bodies.view(body)
            });
            self.before[index] = bodies.motions[index].velocity;
            self.forces[index] = acting.forces;
            self.damping[index] = acting.damping;
            self.user[index] = acting.user;
            self.shifts[index] = SpatialVector::ZERO;
            self.slowed[index] = SpatialVector::ZERO;
            let motion = &mut bodies.motions[index];
            let change = motion.response(acting.forces + acting.user + acting.damping);
            motion.velocity += change;
            self.forced[index] = motion.velocity;
        }
    }

    /// What the constraints need to know of this segment.
    pub(crate) fn kick<'a>(&'a mut self, settings: &'a Settings) -> Kick<'a> {
        Kick {
            settings,
            h: self.h,
            span: &self.span,
            before: &self.before,
            forces: &self.forces,
            lead: &self.lead,
            shifts: &mut self.shifts,
            slowed: &mut self.slowed,
        }
    }

    /// Moves bodies to the end of the segment, and by their displacement besides.
    pub(crate) fn second_half(&mut self, bodies: &mut BodySet, scope: &Scope, until: f64) {
        for &body in &scope.bodies {
            let index = body as usize;
            let velocity = bodies.motions[index].velocity;
            let drawn = self.impulses().drawn(index, velocity);
            self.kicked[index] = (velocity - self.before[index], self.span[index]);
            bodies.drift(index, self.span[index] - self.lead[index]);
            bodies.poses[index].position += drawn;
            bodies.displace(index, self.shifts[index]);
            (self.clock[index], self.when[index]) = (until, until);
        }
        self.place_environment(bodies, until);
    }

    /// What acted on every body in this kick.
    pub(crate) fn impulses(&self) -> Impulses<'_> {
        let Self { span, before, forced, lead, forces, damping, user, shifts, slowed, .. } = self;
        Impulses { span, before, forced, lead, forces, damping, user, shifts, slowed }
    }

    /// Puts bodies whose state is no longer finite back to where the step began, at rest.
    pub(crate) fn quarantine(&mut self, bodies: &mut BodySet, quarantined: impl FnMut(BodyId)) {
        self.quarantine_some(bodies, 0..bodies.poses.len() as u32, quarantined);
    }

    /// The same for some bodies.
    pub(crate) fn quarantine_some(
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
            bodies.poses[index] = self.safe[index].0;
            bodies.motions[index].velocity = SpatialVector::ZERO;
            bodies.turn_inertia(index);
            self.kicked[index] = NOT_KICKED;
            quarantined(bodies.id(index as u32));
        }
    }
}

/// Impulses on a body over a while.
pub(crate) struct Acting {
    /// Of gravity and force fields, of drag and damping, of the user.
    pub(crate) forces: SpatialVector,
    pub(crate) damping: SpatialVector,
    pub(crate) user: SpatialVector,
}

impl Acting {
    /// What force fields do depends on what they see of the body.
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
                damping += settled(bodies, index, potential.dissipative(&view) * time);
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

/// How fast the surfaces part at a contact point, m/s; negative where they approach.
#[inline]
pub(crate) fn point_speed(bodies: &BodySet, pair: &ContactPair, point: &Contact) -> f64 {
    let [a, b] = [0, 1].map(|side: usize| {
        let arm = point.position - pair.centers[side];
        let velocity = &bodies.motions[pair.bodies[side] as usize].velocity;
        velocity.velocity_at(arm).dot(pair.normal)
    });
    b - a
}

/// The impulse of a resistance over a time step in which it dies down: taken at the velocity before it
/// would be `s` times too much to stop the body, so it gets `(1 - exp(-s)) / s` of it. Exact for drag
/// that is linear in velocity, and never more than a stop.
fn settled(bodies: &BodySet, index: usize, impulse: SpatialVector) -> SpatialVector {
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
