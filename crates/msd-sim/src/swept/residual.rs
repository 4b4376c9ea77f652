//! How far contacts and joints are from their laws after a swept step, each by itself.
//!
//! The laws are those of [`crate::solver::residual`], with friction for a manifold as a whole. A contact that bounces has
//! to part with `e` times the speed of its approach instead of staying closed. Friction is judged before bounces, which
//! do not renew it.

use super::contact_block::{ContactBlock, POINTS, SolverRows, get};
use super::joints::{BallJointBlock, DistanceJointBlock};
use super::sweep_bodies::{DeltaPose, SweepBody};
use crate::math::Vec3;
use crate::simd::{F4, V4};
use crate::solver::Residual;

/// Residuals of a step, where they are measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Residuals {
    /// By number of the pair.
    pub(crate) contacts: Vec<Option<ContactResidual>>,
    /// By index of the joint.
    pub(crate) joints: Vec<Option<Residual>>,
}

/// How far one contact is from its laws, m/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContactResidual {
    pub(crate) all: Residual,
    /// By point, friction included.
    pub(crate) points: [f64; POINTS],
}

impl Residuals {
    /// Forgets what was measured, and makes room for so many pairs and joints, if any are to be measured.
    pub(crate) fn begin(&mut self, measured: bool, pairs: usize, joints: usize) {
        self.contacts.clear();
        self.joints.clear();
        if measured {
            self.contacts.resize(pairs, None);
            self.joints.resize(joints, None);
        }
    }

    /// The residual of a pair's contact.
    pub(crate) fn contact(&self, pair: u32) -> Option<ContactResidual> {
        self.contacts.get(pair as usize).copied().flatten()
    }

    /// The residual of a contact point, m/s.
    pub(crate) fn point(&self, pair: u32, point: usize) -> Option<f64> {
        self.contact(pair).map(|contact| contact.points[point])
    }

    pub(crate) fn joint(&self, index: u32) -> Option<Residual> {
        self.joints.get(index as usize).copied().flatten()
    }
}

/// Velocities and displacements of the two bodies of a lane.
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

/// Which speeds count.
#[derive(Clone, Copy)]
pub(crate) struct ContactLaw {
    /// 1/s: of the substep.
    pub(crate) rate: f64,
    /// Faster approaches bounce, m/s.
    pub(crate) rest_speed: f64,
}

fn vec3(from: &F4) -> Vec3 {
    Vec3::new(from.0[0], from.0[1], from.0[2])
}

/// The larger one, and a NaN rather than either.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Along the normal at the middle and about the axes of the plane, of motions of the two bodies.
fn plane_motion(rows: &SolverRows, lane: usize, linear: Vec3, [a, b]: [Vec3; 2]) -> Vec3 {
    let about =
        |axes: &[V4; 3], turn: Vec3| [get(&axes[0], lane).dot(turn), get(&axes[1], lane).dot(turn)];
    let ([xa, ya], [xb, yb]) = (about(&rows.axes_a, a), about(&rows.axes_b, b));
    let [p, q, r, s] = [0, 1, 2, 3].map(|i: usize| rows.centroid[i].0[lane]);
    let along = get(&rows.normal, lane).dot(linear);
    Vec3::new(along + r * xb + s * yb - p * xa - q * ya, xb - xa, yb - ya)
}

/// Velocity across the normal where friction acts, and about the normal.
fn slip(rows: &SolverRows, lane: usize, linear: Vec3, [a, b]: [Vec3; 2]) -> Vec3 {
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

/// How fast the surfaces part at a contact's points, m/s.
pub(crate) fn point_speeds(block: &ContactBlock, lane: usize, ends: &Ends<'_>) -> [f64; POINTS] {
    let u = plane_motion(&block.rows, lane, ends.velocity(), ends.spins());
    block.rows.points.map(|point| u.dot(Vec3::new(1.0, point.x.0[lane], point.y.0[lane])))
}

/// How much velocity an impulse at a point gives there.
fn response(rows: &SolverRows, lane: usize, row: Vec3) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = [0, 1, 2, 3, 4, 5].map(|i: usize| rows.delassus[i].0[lane]);
    let product = Vec3::new(
        xx * row.x + xy * row.y + xz * row.z,
        xy * row.x + yy * row.y + yz * row.z,
        xz * row.x + yz * row.y + zz * row.z,
    );
    product.dot(row)
}

/// How far a contact is from the laws of friction.
pub(crate) fn friction(block: &ContactBlock, lane: usize, ends: &Ends<'_>) -> ContactResidual {
    let rows = &block.rows;
    let used = &rows.points[..block.counts[lane] as usize];
    let load: f64 = used.iter().map(|point| point.impulse.0[lane]).sum();
    let torque: f64 = used.iter().map(|point| point.impulse.0[lane] * point.lever.0[lane]).sum();
    let [p, q, twist] = [0, 1, 2].map(|i: usize| rows.friction_impulse[i].0[lane]);
    let u = slip(rows, lane, ends.velocity(), ends.spins());
    let mut found = Residual::default();
    // What an impulse across the normal does to velocity there, at shortest: one over the inverse's trace.
    let trace = rows.friction_mass[0].0[lane] + rows.friction_mass[2].0[lane];
    let limit = rows.friction.0[lane] * load;
    if trace > 0.0 || trace.is_nan() {
        let (response, inverse) = (2.0 / trace, 0.5 * trace);
        let length = (p * p + q * q).sqrt();
        found.cone = worse((length - limit) * response, 0.0);
        let wish = [p - u.x * inverse, q - u.y * inverse];
        let wished = (wish[0] * wish[0] + wish[1] * wish[1]).sqrt();
        let shrink = if wished > limit { limit / wished } else { 1.0 };
        let off = [p - wish[0] * shrink, q - wish[1] * shrink];
        found.dissipation = (off[0] * off[0] + off[1] * off[1]).sqrt() * response;
    }
    // The same about the normal, as a speed at the mean lever.
    let about = rows.friction_mass[3].0[lane];
    if about > 0.0 && load > 0.0 {
        let (lever, limit) = (torque / load, rows.friction.0[lane] * torque);
        let excess = (twist.abs() - limit) / about;
        // Not `f64::clamp`, which panics where the limit is not a number.
        let wanted = (twist - about * u.z).min(limit).max(-limit);
        let off = if limit.is_nan() { limit } else { (twist - wanted).abs() / about };
        found.cone = worse(excess * lever, found.cone);
        found.dissipation = worse(off * lever, found.dissipation);
    }
    ContactResidual { all: found, points: [worse(found.cone, found.dissipation); POINTS] }
}

/// Adds how far a contact's points are from Signorini's law, or from the law of restitution where they bounce.
pub(crate) fn normal(
    block: &ContactBlock,
    lane: usize,
    ends: &Ends<'_>,
    law: &ContactLaw,
    found: &mut ContactResidual,
) {
    let (rows, cache) = (&block.rows, &block.cache);
    let moved = plane_motion(rows, lane, ends.translation(), ends.rotations());
    let u = plane_motion(rows, lane, ends.velocity(), ends.spins());
    let (slop, restitution) = (rows.slop.0[lane], cache.restitution.0[lane]);
    for (at, point) in rows.points[..block.counts[lane] as usize].iter().enumerate() {
        let row = Vec3::new(1.0, point.x.0[lane], point.y.0[lane]);
        let (speed, approach) = (u.dot(row), cache.approach[at].0[lane]);
        let met = point.total.0[lane] > 0.0 && approach < -law.rest_speed;
        let wanted = if met && restitution > 0.0 {
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

/// How far a ball joint is from holding its anchors together.
pub(crate) fn ball(block: &BallJointBlock, lane: usize, ends: &Ends<'_>) -> Residual {
    let ([wa, wb], [ma, mb]) = (ends.spins(), ends.inverse_masses());
    let mut found = Residual::default();
    for (i, velocity) in ends.velocity().to_array().into_iter().enumerate() {
        let (arm_a, arm_b) = (get(&block.arms_a[i], lane), get(&block.arms_b[i], lane));
        let u = velocity + arm_b.dot(wb) - arm_a.dot(wa);
        let turning = |mass: f64, arm: Vec3| if mass > 0.0 { arm.length_squared() } else { 0.0 };
        let response = ma + mb + turning(ma, arm_a) + turning(mb, arm_b);
        found.joint = worse(u.abs(), found.joint);
        found.scale = worse(worse(u.abs(), response * block.impulse[i].0[lane].abs()), found.scale);
    }
    found
}

/// How far a rod or rope is from keeping its anchors within its bounds. A spring has a force, not a law that could be
/// violated.
pub(crate) fn distance(
    block: &DistanceJointBlock,
    lane: usize,
    ends: &Ends<'_>,
    rate: f64,
) -> Residual {
    let ([wa, wb], [ta, tb]) = (ends.spins(), ends.rotations());
    let direction = get(&block.direction, lane);
    let (arm_a, arm_b) = (get(&block.arm_a, lane), get(&block.arm_b, lane));
    let along =
        |linear: Vec3, a: Vec3, b: Vec3| direction.dot(linear) + arm_b.dot(b) - arm_a.dot(a);
    let u = along(ends.velocity(), wa, wb);
    let length = block.length.0[lane] + along(ends.translation(), ta, tb);
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
