//! How bodies move within a substep: half by the velocity they have, then forces and impulses, then
//! half by the velocity they got.
//!
//! What is smooth is so integrated to second order, uniform gravity exactly. Impulses act at one
//! point and at one moment, between two free motions, so momentum is kept to rounding. A body that
//! would drive into another on its first half is taken back, and moves the whole way afterwards.

use crate::bodies::{BodySet, Potential};
use crate::collision::CollisionPipeline;
use crate::constraints::Kick;
use crate::id::BodyId;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::settings::Settings;
use crate::solver::rotate_freely;

/// A body that would drive deeper than this fraction of size within the substep is taken back.
const IMPACT_DEPTH: f64 = 1e-9;

/// Scratch of a step, by body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    /// State at the step's start, to fall back to where numbers leave the finite.
    safe: Vec<(Pose, SpatialVector)>,
    /// State at the substep's start, to go back to.
    start: Vec<(Pose, SpatialVector)>,
    taken_back: Vec<bool>,
    lead: Vec<f64>,
    before: Vec<SpatialVector>,
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
    pub(crate) forces: &'a [SpatialVector],
    pub(crate) damping: &'a [SpatialVector],
    pub(crate) user: &'a [SpatialVector],
    pub(crate) shifts: &'a [SpatialVector],
    pub(crate) slowed: &'a [SpatialVector],
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
        self.lead.resize(count, 0.0);
        for list in [
            &mut self.before,
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

    /// Moves every body by half, takes back those that would drive into another, and leaves the
    /// contacts at the poses where the impulses will act.
    pub(crate) fn first_half(
        &mut self,
        bodies: &mut BodySet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        h: f64,
    ) {
        for list in [0, 1] {
            for at in 0..[bodies.inertial.len(), bodies.environment.len()][list] {
                let index = [&bodies.inertial, &bodies.environment][list][at] as usize;
                self.start[index] = (bodies.poses[index], bodies.motions[index].velocity);
                self.lead[index] = 0.5 * h;
                self.taken_back[index] = false;
                bodies.drift(index, 0.5 * h);
            }
        }
        collision.update_manifolds(bodies, settings, h);
        if self.find_impacts(bodies, collision, h) {
            for &body in &bodies.inertial.clone() {
                let index = body as usize;
                if self.taken_back[index] {
                    (bodies.poses[index], bodies.motions[index].velocity) = self.start[index];
                    bodies.turn_inertia(index);
                    self.lead[index] = 0.0;
                }
            }
            let taken_back = &self.taken_back;
            collision.update_moved(bodies, settings, h, |body| taken_back[body as usize]);
        }
    }

    fn find_impacts(&mut self, bodies: &BodySet, collision: &CollisionPipeline, h: f64) -> bool {
        let mut any = false;
        for pair in collision.pairs() {
            let limit = -IMPACT_DEPTH * pair.size;
            let [a, b] = pair.bodies.map(|body| body as usize);
            for point in pair.points() {
                let at = |i: usize| {
                    let arm = point.position - bodies.poses[i].position;
                    bodies.motions[i].velocity.velocity_at(arm)
                };
                let closing = 0.5 * h * (at(b) - at(a)).dot(pair.normal);
                if closing < limit && point.gap + closing < limit {
                    for index in [a, b] {
                        self.taken_back[index] |= bodies.is_inertial(index);
                    }
                    any = true;
                }
            }
        }
        any
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
                    damping += potential.dissipative(&view) * h;
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
        for list in [0, 1] {
            for at in 0..[bodies.inertial.len(), bodies.environment.len()][list] {
                let index = [&bodies.inertial, &bodies.environment][list][at] as usize;
                bodies.drift(index, h - self.lead[index]);
                let shift = self.shifts[index];
                if shift != SpatialVector::ZERO {
                    let pose = &mut bodies.poses[index];
                    pose.position += shift.linear;
                    let inertia = &bodies.inertias[index];
                    let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
                    (pose.rotation, _) =
                        rotate_freely(pose.rotation, shift.angular, tensor, inverse, true, 1.0);
                    bodies.turn_inertia(index);
                }
            }
        }
    }

    /// What acted on every body in this kick.
    pub(crate) fn impulses(&self, h: f64) -> Impulses<'_> {
        let Self { before, forces, damping, user, shifts, slowed, .. } = self;
        Impulses { h, before, forces, damping, user, shifts, slowed }
    }

    /// Puts bodies whose state is no longer finite back to where the step began, at rest.
    pub(crate) fn contain(&self, bodies: &mut BodySet, mut contained: impl FnMut(BodyId)) {
        for at in 0..bodies.inertial.len() {
            let body = bodies.inertial[at];
            let index = body as usize;
            if bodies.poses[index].is_finite() && bodies.motions[index].velocity.is_finite() {
                continue;
            }
            bodies.poses[index] = self.safe[index].0;
            bodies.motions[index].velocity = SpatialVector::ZERO;
            bodies.turn_inertia(index);
            contained(bodies.id(body));
        }
    }
}
