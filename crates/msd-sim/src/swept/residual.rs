//! The residuals of contacts and joints after a swept step: how far each violates its law.
//!
//! The laws are those of [`crate::solver::residual`], with friction for a manifold as a whole. A contact that bounces
//! has to separate at `e` times its approach speed instead of staying closed. Friction is measured before restitution,
//! which does not update it.

use super::sweep::MAX_DAMPING;
use crate::constraints::contact_block::{POINTS, get};
use crate::constraints::joint_block::{BallJointBlock, DistanceJointBlock};
use crate::constraints::solver_bodies::{DeltaPose, SweepBody, vec3};
use crate::constraints::solver_rows::{SolverRows, SweptContact};
use crate::math::Vec3;
use crate::simd::V4;
use crate::solver::Residual;

/// The residuals of a step; empty unless measured.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Residuals {
    /// By pair number.
    pub(crate) contacts: Vec<Option<ContactResidual>>,
    /// By joint index.
    pub(crate) joints: Vec<Option<Residual>>,
}

/// The residual of one contact, m/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ContactResidual {
    /// Residual over all points.
    pub(crate) all: Residual,
    /// Residual by point, friction included.
    pub(crate) points: [f64; POINTS],
}

impl Residuals {
    /// Clears the residuals; if the step is `measured`, resizes them to the numbers of pairs and joints.
    pub(crate) fn begin(&mut self, measured: bool, pairs: usize, joints: usize) {
        self.contacts.clear();
        self.joints.clear();
        if measured {
            self.contacts.resize(pairs, None);
            self.joints.resize(joints, None);
        }
    }

    /// Returns the residual of a pair's contact.
    pub(crate) fn contact(&self, pair: u32) -> Option<ContactResidual> {
        self.contacts.get(pair as usize).copied().flatten()
    }

    /// Returns the residual of a contact point, m/s.
    pub(crate) fn point(&self, pair: u32, point: usize) -> Option<f64> {
        self.contact(pair).map(|contact| contact.points[point])
    }

    pub(crate) fn joint(&self, index: u32) -> Option<Residual> {
        self.joints.get(index as usize).copied().flatten()
    }
}

/// The velocities and displacements of the two bodies of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) sweep_bodies: [&'a SweepBody; 2],
    pub(crate) delta_poses: [&'a DeltaPose; 2],
}

impl Ends<'_> {
    fn velocity(&self) -> Vec3 {
        vec3(&self.sweep_bodies[1].velocity) - vec3(&self.sweep_bodies[0].velocity)
    }

    fn inverse_masses(&self) -> [f64; 2] {
        self.sweep_bodies.map(|sweep_body| sweep_body.velocity.0[3])
    }

    fn spins(&self) -> [Vec3; 2] {
        self.sweep_bodies.map(|sweep_body| vec3(&sweep_body.spin))
    }

    fn translation(&self) -> Vec3 {
        vec3(&self.delta_poses[1].translation) - vec3(&self.delta_poses[0].translation)
    }

    fn rotations(&self) -> [Vec3; 2] {
        self.delta_poses.map(|delta_pose| vec3(&delta_pose.rotation))
    }
}

/// The parameters of the contact laws.
#[derive(Clone, Copy)]
pub(crate) struct ContactLaw {
    /// Inverse of the substep's duration, 1/s.
    pub(crate) rate: f64,
    /// Approach speed above which contacts bounce, m/s.
    pub(crate) rest_speed: f64,
}

/// Returns the larger number, or NaN if `a` or `b` is NaN.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns a relative motion of the two bodies in plane coordinates: see [`SolverRows`].
pub(super) fn plane_motion(
    rows: &SolverRows,
    lane: usize,
    linear: Vec3,
    [a, b]: [Vec3; 2],
) -> Vec3 {
    let about =
        |axes: &[V4; 3], turn: Vec3| [get(&axes[0], lane).dot(turn), get(&axes[1], lane).dot(turn)];
    let ([xa, ya], [xb, yb]) = (about(&rows.axes_a, a), about(&rows.axes_b, b));
    let [p, q, r, s] = [0, 1, 2, 3].map(|i: usize| rows.centroid[i].0[lane]);
    let along = get(&rows.normal, lane).dot(linear);
    Vec3::new(along + r * xb + s * yb - p * xa - q * ya, xb - xa, yb - ya)
}

/// Returns the velocity along the two tangents where friction acts, and about the normal.
pub(super) fn slip(rows: &SolverRows, lane: usize, linear: Vec3, [a, b]: [Vec3; 2]) -> Vec3 {
    let about =
        |axes: &[V4; 3], turn: Vec3| [0, 1, 2].map(|i: usize| get(&axes[i], lane).dot(turn));
    let ([ax, ay, az], [bx, by, bz]) = (about(&rows.axes_a, a), about(&rows.axes_b, b));
    let [xa, ya, za, xb, yb, zb] =
        [0, 1, 2, 3, 4, 5].map(|i: usize| rows.friction_center[i].0[lane]);
    let (normal, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
    let s = normal.cross(t);
    Vec3::new(
        t.dot(linear) - (zb * bx + yb * bz) + (za * ax + ya * az),
        s.dot(linear) + (xb * bz - zb * by) - (xa * az - za * ay),
        bz - az,
    )
}

/// Returns the separation speed of the surfaces at a contact's points, m/s.
pub(crate) fn point_speeds(contact: SweptContact<'_>, ends: &Ends<'_>) -> [f64; POINTS] {
    let SweptContact { rows, lane, .. } = contact;
    let u = plane_motion(rows, lane, ends.velocity(), ends.spins());
    rows.points.map(|point| u.dot(Vec3::new(1.0, point.x.0[lane], point.y.0[lane])))
}

/// Returns the normal velocity at a point per unit impulse there, 1/kg.
fn response(rows: &SolverRows, lane: usize, row: Vec3) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = [0, 1, 2, 3, 4, 5].map(|i: usize| rows.delassus[i].0[lane]);
    let product = Vec3::new(
        xx * row.x + xy * row.y + xz * row.z,
        xy * row.x + yy * row.y + yz * row.z,
        xz * row.x + yz * row.y + zz * row.z,
    );
    product.dot(row)
}

/// Returns the friction impulse of points that slide at `u`, each against its own slip. Below the speed `least`, where a
/// point as good as sticks, its friction is in proportion to its slip.
fn sliding_friction(contact: SweptContact<'_>, u: Vec3, least: f64) -> Vec3 {
    let SweptContact { rows, lane, .. } = contact;
    let off = [0, 1].map(|i: usize| rows.centroid[i].0[lane] - rows.friction_center[i].0[lane]);
    let mut sum = Vec3::ZERO;
    for point in contact.points() {
        let (x, y) = (point.x.0[lane] + off[0], point.y.0[lane] + off[1]);
        let slip = Vec3::new(u.x - u.z * y, u.y + u.z * x, 0.0);
        let speed = slip.dot(slip).sqrt().max(least);
        if speed > 0.0 {
            let push = slip * (-rows.friction.0[lane] * point.impulse.0[lane] / speed);
            sum += Vec3::new(push.x, push.y, x * push.y - y * push.x);
        }
    }
    sum
}

/// Returns how far a contact violates the friction law.
pub(crate) fn friction(contact: SweptContact<'_>, ends: &Ends<'_>) -> ContactResidual {
    let SweptContact { rows, lane, .. } = contact;
    let used = contact.points();
    let load: f64 = used.iter().map(|point| point.impulse.0[lane]).sum();
    let torque: f64 = used.iter().map(|point| point.impulse.0[lane] * point.lever.0[lane]).sum();
    let impulse = Vec3::from_array([0, 1, 2].map(|i: usize| rows.friction_impulse[i].0[lane]));
    let u = slip(rows, lane, ends.velocity(), ends.spins());
    let mut found = Residual::default();
    // Velocity per unit tangential impulse: the harmonic mean of both directions, two over the trace of the inverse.
    let trace = rows.friction_mass[0].0[lane] + rows.friction_mass[2].0[lane];
    let limit = rows.friction.0[lane] * load;
    if trace > 0.0 || trace.is_nan() {
        let (response, inverse) = (2.0 / trace, 0.5 * trace);
        let about = rows.friction_mass[3].0[lane];
        let lever = if torque > 0.0 { torque / load } else { 0.0 };
        let length = |v: Vec3| {
            let about = if lever > 0.0 { v.z / lever } else { 0.0 };
            (v.x * v.x + v.y * v.y + about * about).sqrt()
        };
        found.cone = worse((length(impulse) - limit) * response, 0.0);
        let mut wanted = impulse - Vec3::new(u.x * inverse, u.y * inverse, u.z * about);
        if length(wanted) > limit {
            wanted = sliding_friction(contact, u, limit / (trace * MAX_DAMPING));
            wanted *= if length(wanted) > limit { limit / length(wanted) } else { 1.0 };
        }
        let off = impulse - wanted;
        // About the normal, as a speed at the mean lever arm.
        let turning = if about > 0.0 { off.z / about * lever } else { 0.0 };
        let sliding = Vec3::new(off.x * response, off.y * response, turning);
        found.dissipation = if limit.is_nan() { limit } else { sliding.dot(sliding).sqrt() };
    }
    ContactResidual { all: found, points: [worse(found.cone, found.dissipation); POINTS] }
}

/// Adds how far a contact's points violate Signorini's law, or the law of restitution where they bounce.
pub(crate) fn normal(
    contact: SweptContact<'_>,
    ends: &Ends<'_>,
    law: &ContactLaw,
    found: &mut ContactResidual,
) {
    let SweptContact { block, rows, lane } = contact;
    let moved = plane_motion(rows, lane, ends.translation(), ends.rotations());
    let u = plane_motion(rows, lane, ends.velocity(), ends.spins());
    let (slop, restitution) = (rows.slop.0[lane], block.cache.restitution.0[lane]);
    for (at, point) in contact.points().iter().enumerate() {
        let row = Vec3::new(1.0, point.x.0[lane], point.y.0[lane]);
        let (speed, approach) = (u.dot(row), rows.approach[at].0[lane]);
        let bounces = point.total.0[lane] > 0.0 && approach < -law.rest_speed;
        let wanted = if bounces && restitution > 0.0 {
            speed + restitution * approach
        } else {
            let gap = (point.gap.0[lane] + moved.dot(row) - slop).max(0.0);
            speed + gap * law.rate
        };
        let produced = response(rows, lane, row) * point.impulse.0[lane];
        // Not `f64::min`: that would drop a NaN.
        let off =
            if wanted < produced { wanted.abs() } else { worse(produced.abs(), wanted * 0.0) };
        found.all.signorini = worse(off, found.all.signorini);
        found.all.scale = worse(worse(speed.abs(), produced), found.all.scale);
        found.points[at] = worse(off, found.points[at]);
    }
    for point in &mut found.points {
        if point.is_nan() {
            *point = f64::INFINITY;
        }
    }
}

/// Returns the residual of a ball joint: the speed at which its anchors move apart.
pub(crate) fn ball(block: &BallJointBlock, lane: usize, ends: &Ends<'_>) -> Residual {
    let ([wa, wb], [ma, mb]) = (ends.spins(), ends.inverse_masses());
    let mut found = Residual::default();
    for (i, velocity) in ends.velocity().to_array().into_iter().enumerate() {
        let [arm_a, arm_b] = block.angular_rows(i, lane);
        let u = velocity + arm_b.dot(wb) - arm_a.dot(wa);
        let turning = |mass: f64, arm: Vec3| if mass > 0.0 { arm.length_squared() } else { 0.0 };
        let response = ma + mb + turning(ma, arm_a) + turning(mb, arm_b);
        found.joint = worse(u.abs(), found.joint);
        found.scale = worse(worse(u.abs(), response * block.impulse[i].0[lane].abs()), found.scale);
    }
    found
}

/// Returns how far a rod or rope violates its bounds. A spring has a force, not a law that could be violated.
pub(crate) fn distance(
    block: &DistanceJointBlock,
    lane: usize,
    ends: &Ends<'_>,
    rate: f64,
) -> Residual {
    let [wa, wb] = ends.spins();
    let direction = get(&block.direction, lane);
    let (arm_a, arm_b) = (get(&block.arm_a, lane), get(&block.arm_b, lane));
    let u = direction.dot(ends.velocity()) + arm_b.dot(wb) - arm_a.dot(wa);
    let length = block.length.0[lane];
    let response = block.delassus.0[lane];
    let mut found = Residual::default();
    let shortest = (1.0, length - block.bounds[0].0[lane], block.impulse[0].0[lane]);
    let longest = (-1.0, block.bounds[1].0[lane] - length, -block.impulse[1].0[lane]);
    for ((sign, room, impulse), bounded) in [shortest, longest].into_iter().zip(&block.bounded) {
        if bounded.0[lane] > 0.0 {
            let (speed, produced) = (sign * u + room.max(0.0) * rate, response * impulse);
            let off =
                if speed < produced { speed.abs() } else { worse(produced.abs(), speed * 0.0) };
            found.joint = worse(off, found.joint);
            found.scale = worse(worse(u.abs(), produced.abs()), found.scale);
        }
    }
    let spring = response * block.impulse[2].0[lane].abs();
    found.scale = worse(spring, found.scale);
    found
}
