//! How bodies move within a substep: half by the velocity they have, then forces and impulses, then
//! half by the velocity they got.
//!
//! What is smooth is so integrated to second order, uniform gravity exactly. Impulses act at one
//! point and at one moment, between two free motions, so momentum is kept to rounding. A body that
//! would drive into another gets its impulses when it touches it instead of halfway.

use crate::bodies::{BodySet, Potential};
use crate::collision::CollisionPipeline;
use crate::constraints::Kick;
use crate::id::BodyId;
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::settings::Settings;

/// A body that would drive deeper than this fraction of size within the substep is stopped where it
/// touches.
const IMPACT_DEPTH: f64 = 1e-9;

/// Rounds in which the time of an impact is found: each squares its error.
const IMPACT_ROUNDS: usize = 3;

/// Scratch of a step, by body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    /// State at the step's start, to fall back to where numbers leave the finite.
    safe: Vec<(Pose, SpatialVector)>,
    /// State at the substep's start, to go back to.
    start: Vec<(Pose, SpatialVector)>,
    taken_back: Vec<bool>,
    /// For how long it has moved in this substep, and when it is to get its impulses.
    placed: Vec<f64>,
    lead: Vec<f64>,
    before: Vec<SpatialVector>,
    /// Velocity after forces, before impulses.
    forced: Vec<SpatialVector>,
    /// Impulses of conservative forces, of drag and damping, of the user.
    forces: Vec<SpatialVector>,
    damping: Vec<SpatialVector>,
    user: Vec<SpatialVector>,
    shifts: Vec<SpatialVector>,
    slowed: Vec<SpatialVector>,
}

/// What acted on every body in a kick, by body.
pub(crate) struct Impulses<'a> {
    pub(crate) h: f64,
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
    pub(crate) fn drawn(&self, index: usize, velocity: SpatialVector) -> Vec3 {
        if velocity != self.forced[index] {
            return Vec3::ZERO;
        }
        (velocity.linear - self.before[index].linear) * (self.lead[index] - 0.5 * self.h)
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
        self.taken_back.resize(count, false);
        self.placed.resize(count, 0.0);
        self.lead.resize(count, 0.0);
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

    /// Moves every body by half of `time`, or until it touches another if it would drive into it, and leaves
    /// the contacts at the poses where the impulses will act.
    pub(crate) fn first_half(
        &mut self,
        bodies: &mut BodySet,
        collision: &mut CollisionPipeline,
        joints: &JointSet,
        settings: &Settings,
        time: f64,
        h: f64,
    ) {
        for index in 0..bodies.poses.len() {
            self.start[index] = (bodies.poses[index], bodies.motions[index].velocity);
            self.lead[index] = 0.5 * time;
            self.placed[index] = 0.5 * time;
            self.taken_back[index] = false;
            bodies.drift(index, 0.5 * time);
        }
        collision.update_manifolds(bodies, settings, &self.lead, h, |_| true);
        for round in 0..IMPACT_ROUNDS {
            if !self.find_impacts(bodies, collision, time, round == 0) {
                break;
            }
            self.share_impacts(bodies, collision, joints);
            for at in 0..bodies.inertial.len() {
                let index = bodies.inertial[at] as usize;
                if self.taken_back[index] {
                    (bodies.poses[index], bodies.motions[index].velocity) = self.start[index];
                    bodies.turn_inertia(index);
                    bodies.drift(index, self.lead[index]);
                    self.placed[index] = self.lead[index];
                }
            }
            let taken_back = &self.taken_back;
            collision.update_manifolds(bodies, settings, &self.lead, h, |body| {
                taken_back[body as usize]
            });
        }
    }

    /// Finds bodies that would drive into another within the substep, and for how long they can
    /// move until they touch: with the velocities they have, and the earliest of several. After the
    /// first round, those that went too far because they turn on the way. Whether there are any.
    fn find_impacts(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        h: f64,
        first: bool,
    ) -> bool {
        let mut any = false;
        for pair in collision.pairs() {
            let limit = -IMPACT_DEPTH * pair.size;
            let [a, b] = pair.bodies.map(|body| body as usize);
            let base = if bodies.is_inertial(b) { b } else { a };
            let placed = self.placed[base];
            let ahead = if first { h - placed } else { 0.0 };
            let yielding = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
            for point in pair.points().iter().filter(|point| first || point.gap < limit) {
                let speed_of = |i: usize| {
                    let arm = point.position - pair.centers[usize::from(i == b)];
                    bodies.motions[i].velocity.velocity_at(arm).dot(pair.normal)
                };
                let speed = speed_of(b) - speed_of(a);
                // A contact that bears a load may close as fast as the load pushes in a substep: so
                // does one about which a body turns.
                let borne = point.impulse.dot(pair.normal) * yielding;
                let driven =
                    speed < -borne && 0.5 * h * speed < limit && point.gap + ahead * speed < limit;
                if driven && placed > 0.0 {
                    let touch = (placed - point.gap / speed).max(0.0);
                    let earliest = touch.min(self.impact_time(a)).min(self.impact_time(b));
                    self.take_back(bodies, [a, b], earliest);
                    any = true;
                }
            }
        }
        any
    }

    /// Bodies near each other, and those that joints hold together, get their impulses at one time,
    /// that of the earliest impact: they then push each other where they are.
    fn share_impacts(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
    ) {
        let near = collision.pairs().filter(|pair| pair.len > 0).map(|pair| pair.bodies);
        let held = joints.slots.iter().map(|index| joints.joints[index as usize].bodies);
        let ties = near.chain(held);
        let mut changed = true;
        while changed {
            changed = false;
            for tie in ties.clone() {
                let [a, b] = tie.map(|body| body as usize);
                let times = [self.impact_time(a), self.impact_time(b)];
                if times[0] != times[1] && bodies.is_inertial(a) && bodies.is_inertial(b) {
                    self.take_back(bodies, [a, b], times[0].min(times[1]));
                    changed = true;
                }
            }
        }
    }

    fn take_back(&mut self, bodies: &BodySet, pair: [usize; 2], time: f64) {
        for index in pair.into_iter().filter(|&index| bodies.is_inertial(index)) {
            self.taken_back[index] = true;
            self.lead[index] = time;
        }
    }

    /// How long a body can move until it touches another, as far as is known.
    fn impact_time(&self, index: usize) -> f64 {
        if self.taken_back[index] { self.lead[index] } else { f64::INFINITY }
    }

    /// How much of the substep each body has moved already.
    pub(crate) fn lead(&self) -> &[f64] {
        &self.lead
    }

    /// Changes velocities by the forces' impulses over `h`, and remembers both.
    pub(crate) fn apply_forces(
        &mut self,
        bodies: &mut BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        h: f64,
    ) {
        for at in 0..bodies.inertial.len() {
            let body = bodies.inertial[at];
            let index = body as usize;
            let load = bodies.loads[index];
            let weight = gravity * (bodies.inertias[index].mass * load.gravity_scale);
            let mut force = SpatialVector::new(weight, Vec3::ZERO);
            let mut damping = SpatialVector::ZERO;
            if !potentials.is_empty() {
                let view = bodies.view(body);
                for potential in potentials {
                    force += potential.conservative(&view);
                    damping += settled(bodies, index, potential.dissipative(&view) * h);
                }
            }
            let before = bodies.motions[index].velocity;
            if load.linear_damping > 0.0 || load.angular_damping > 0.0 {
                let fade = |rate: f64| libm::expm1(-rate * h);
                let momentum = bodies.momentum_of(index, before);
                damping += SpatialVector::new(
                    momentum.linear * fade(load.linear_damping),
                    momentum.angular * fade(load.angular_damping),
                );
            }
            self.before[index] = before;
            self.forces[index] = force * h;
            self.damping[index] = damping;
            self.user[index] = load.user * h;
            self.shifts[index] = SpatialVector::ZERO;
            self.slowed[index] = SpatialVector::ZERO;
            let motion = &mut bodies.motions[index];
            let change = motion.response((force + load.user) * h + damping);
            motion.velocity += change;
            self.forced[index] = motion.velocity;
        }
    }

    /// What the constraints need to know of this substep.
    pub(crate) fn kick<'a>(&'a mut self, settings: &'a Settings, h: f64, last: bool) -> Kick<'a> {
        Kick {
            settings,
            h,
            before: &self.before,
            forces: &self.forces,
            lead: &self.lead,
            shifts: &mut self.shifts,
            slowed: &mut self.slowed,
            last,
        }
    }

    /// Moves every body to the end of the substep, and by its displacement besides.
    pub(crate) fn second_half(&self, bodies: &mut BodySet, h: f64) {
        let kick = self.impulses(h);
        for index in 0..bodies.poses.len() {
            let velocity = bodies.motions[index].velocity;
            bodies.drift(index, h - self.lead[index]);
            if bodies.is_inertial(index) {
                bodies.poses[index].position += kick.drawn(index, velocity);
                bodies.displace(index, self.shifts[index]);
            }
        }
    }

    /// What acted on every body in this kick.
    pub(crate) fn impulses(&self, h: f64) -> Impulses<'_> {
        let Self { before, forced, lead, forces, damping, user, shifts, slowed, .. } = self;
        Impulses { h, before, forced, lead, forces, damping, user, shifts, slowed }
    }

    /// Puts bodies whose state is no longer finite back to where the step began, at rest.
    pub(crate) fn contain(&self, bodies: &mut BodySet, mut contained: impl FnMut(BodyId)) {
        for index in 0..bodies.poses.len() {
            let sound =
                bodies.poses[index].is_finite() && bodies.motions[index].velocity.is_finite();
            if sound || !bodies.slots.is_occupied(index as u32) {
                continue;
            }
            bodies.poses[index] = self.safe[index].0;
            bodies.motions[index].velocity = SpatialVector::ZERO;
            bodies.turn_inertia(index);
            contained(bodies.id(index as u32));
        }
    }
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
