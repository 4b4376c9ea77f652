//! The renewal of contacts within a swept step.
//!
//! Contact points are found at the start of a step and move along with their bodies. Where two bodies move relative to each
//! other by more than a fraction of their size in the step, other vertices and edges meet than those found: a corner that
//! swings in would be noticed a step late, and deep inside. Such contacts get points at the present poses in every substep in
//! which their bodies moved that far again.
#![allow(unsafe_code)]

use super::residual::plane_motion;
use super::substeps::Solve;
use super::work::Rows;
use crate::collision::turning;
use crate::constraints::contact_block::{AllF4, ContactBlock, POINTS, get};
use crate::constraints::prepare::PrepareOne;
use crate::constraints::solver_bodies::{SweepBody, f4, present_pose, vec3};
use crate::constraints::solver_rows::{SolverRows, SweptContact};
use crate::geometry::{Manifold, Workspace};
use crate::math::{Pose, SpatialVector, Vec3};
use crate::simd;
use crate::threads::Worker;

/// The impulses of a contact over the step, which outlast its points.
struct StepTotals {
    /// By point: the feature, and the normal impulse.
    points: [Option<(u64, f64)>; POINTS],
    /// Friction of the step as a world vector, and about the normal.
    friction: (Vec3, f64),
}

impl Solve<'_> {
    /// Renews fast contacts at the poses `time` after the start of the step.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn renew_contacts(&self, worker: &Worker<'_>, time: f64) {
        // SAFETY: the caller's contract. No other worker has these blocks, nor, by the coloring, their inertial bodies,
        // until the barrier after the color; each worker has its own output.
        unsafe {
            self.each_contact_color(worker, |blocks, rows| {
                let workspace = &mut self.outputs.get_mut(worker.index).workspace;
                for (block, rows) in blocks.iter_mut().zip(rows) {
                    for lane in 0..4 {
                        if block.is_fast(lane) {
                            self.renew(block, rows, lane, time, workspace);
                        }
                    }
                }
            });
        }
    }

    /// Finds the points of a contact again, and prepares its rows, if its bodies moved too far for them.
    ///
    /// # Safety
    /// No other worker accesses this block, its pair or its inertial bodies.
    unsafe fn renew(
        &self,
        block: &mut ContactBlock,
        rows: &mut SolverRows,
        lane: usize,
        time: f64,
        workspace: &mut Workspace,
    ) {
        let ends = block.bodies.map(|side| side[lane] as usize);
        // SAFETY: the caller's contract.
        if !rows.outgrown_by(lane, unsafe { self.moved(ends) }) {
            return;
        }
        // SAFETY: the caller's contract.
        let (pair, poses, velocities) = unsafe {
            (
                self.pairs.get_mut(block.pairs[lane] as usize),
                ends.map(|at| self.present_pose(at, time)),
                ends.map(|at| *self.bodies.velocities.get(at)),
            )
        };
        // SAFETY: the caller's contract.
        let closing = unsafe { self.closing_speed(ends, &velocities) } * (self.dt - time);
        let at = poses.each_ref();
        let normal = get(&rows.normal, lane);
        let found =
            pair.update_within_step(self.start, at, normal, closing, self.settings, workspace);
        // Odometers count the motion of the whole step only: the next step compares the poses themselves.
        rows.recheck(lane);
        let Some(manifold) = found else { return };
        let before = impulses_on(block, rows, lane);
        let taken = energy_taken(SweptContact { block, rows, lane }, velocities.each_ref());
        // SAFETY: the caller's contract.
        unsafe { self.place(block, rows, lane, &manifold, at, velocities) };
        if pair.restitution > 0.0 {
            limit_energy(block, rows, lane, velocities.each_ref(), taken);
        }
        let after = impulses_on(block, rows, lane);
        for (side, at) in ends.into_iter().enumerate() {
            // SAFETY: the caller's contract.
            let (frame, body) =
                unsafe { (self.bodies.frames.get(at), self.bodies.velocities.get(at)) };
            let inverse_mass = body.velocity.0[3];
            if inverse_mass > 0.0 {
                let sign = if side == 1 { 1.0 } else { -1.0 };
                let change = (after[side] - before[side]) * sign;
                // The kick applies the impulses of the last substep again, as the velocity less that before impulses.
                // SAFETY: the caller's contract.
                let known = unsafe { self.bodies.warm_starts.get_mut(at) };
                let linear = vec3(&known.linear) - change.linear * inverse_mass;
                let angular = vec3(&known.angular) - frame.spin_change(change.angular);
                known.linear = f4(linear, known.linear.0[3]);
                known.angular = f4(angular, known.angular.0[3]);
            }
        }
    }

    /// Replaces the points of a lane by those of a manifold found at the present poses, and prepares their rows.
    ///
    /// # Safety
    /// As of [`renew`](Self::renew).
    unsafe fn place(
        &self,
        block: &mut ContactBlock,
        rows: &mut SolverRows,
        lane: usize,
        manifold: &Manifold,
        poses: [&Pose; 2],
        velocities: [SweepBody; 2],
    ) {
        let totals = StepTotals::of(block, rows, lane);
        // Sweeps read as many points of every lane as the lane with the most has.
        for at in block.max_points as usize..manifold.points().len() {
            (rows.points[at], rows.approach[at]) = Default::default();
        }
        rows.replace_points(lane, manifold, block);
        block.set_points(lane, manifold, poses);
        let (mut one, mut prepared) = (ContactBlock::default(), SolverRows::default());
        one.copy_lane(0, block, lane);
        // All points, as other lanes of the block may have more of them than this one.
        one.max_points = POINTS as u8;
        prepared.copy_lane(0, rows, lane);
        let ends = block.bodies.map(|side| side[lane] as usize);
        // SAFETY: the caller's contract.
        let frames = [0, 1]
            .map(|side: usize| unsafe { self.bodies.frames.get(ends[side]).moved_to(poses[side]) });
        let kernel = PrepareOne { block: &mut one, rows: &mut prepared, frames, velocities };
        simd::run(self.wide, kernel);
        // Sweeps add the displacement since the start of the step to the gap.
        // SAFETY: the caller's contract.
        let [a, b] = ends.map(|at| unsafe { self.bodies.delta_poses.get(at) });
        let linear = b.translation() - a.translation();
        let moved = plane_motion(&prepared, 0, linear, [vec3(&a.rotation), vec3(&b.rotation)]);
        for point in &mut prepared.points {
            let row = Vec3::new(1.0, point.x.0[0], point.y.0[0]);
            point.gap.0[0] -= row.dot(moved);
        }
        rows.copy_lane(lane, &prepared, 0);
        totals.restore(block, rows, lane);
        self.set_approach(block, rows, lane);
    }

    /// Stores the normal velocity at which each point of a lane approached at the start of the step.
    fn set_approach(&self, block: &ContactBlock, rows: &mut SolverRows, lane: usize) {
        let [a, b] = block.bodies.map(|side| {
            let index = side[lane] as usize - 1;
            self.start.motions[index].velocity
        });
        let (n, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
        let s = n.cross(t);
        let [p, q, r, o] = rows.centroid.map(|coordinate| coordinate.0[lane]);
        for (point, approach) in rows.points.iter().zip(&mut rows.approach) {
            let (x, y) = (point.x.0[lane], point.y.0[lane]);
            let [arm_a, arm_b] = [[p + x, q + y], [r + x, o + y]].map(|[x, y]| t * x + s * y);
            approach.0[lane] = n.dot(b.velocity_at(arm_b) - a.velocity_at(arm_a));
        }
    }

    /// Returns a bound on the motion of two bodies, by body + 1, relative to each other since the start of the step, m.
    ///
    /// # Safety
    /// No other worker writes the bodies.
    unsafe fn moved(&self, ends: [usize; 2]) -> f64 {
        // SAFETY: the caller's contract.
        let [a, b] = ends.map(|at| unsafe {
            let (frame, delta) = (self.bodies.frames.get(at), self.bodies.delta_poses.get(at));
            let turned = frame.angular(&delta.rotation);
            (delta.translation(), turning(turned, self.start.extents[at - 1].radius))
        });
        (b.0 - a.0).length() + a.1 + b.1
    }

    /// Returns the pose of a body, by body + 1, `time` after the start of the step.
    ///
    /// # Safety
    /// No other worker writes the body.
    unsafe fn present_pose(&self, at: usize, time: f64) -> Pose {
        let index = at - 1;
        // SAFETY: the caller's contract.
        let (frame, delta_pose) =
            unsafe { (self.bodies.frames.get(at), self.bodies.delta_poses.get(at)) };
        let (start, inertia) = (&self.start.poses[index], &self.start.inertias[index]);
        present_pose(start, inertia, frame, delta_pose, time)
    }

    /// Returns the highest speed at which points of two bodies, by body + 1, can approach, m/s.
    ///
    /// # Safety
    /// No other worker writes the bodies.
    unsafe fn closing_speed(&self, ends: [usize; 2], velocities: &[SweepBody; 2]) -> f64 {
        let [a, b] = velocities.each_ref().map(|body| vec3(&body.velocity));
        let rims = [0, 1].map(|side: usize| {
            let index = ends[side] - 1;
            // SAFETY: the caller's contract.
            let frame = unsafe { self.bodies.frames.get(ends[side]) };
            let radius = self.start.extents[index].rotation_radius;
            turning(frame.angular(&velocities[side].spin), radius)
        });
        (b - a).length() + rims[0] + rims[1]
    }
}

/// Returns the energy that the impulses of the step took at the points of a contact whose bodies now have these
/// velocities, J: exact if all of them acted along its rows.
fn energy_taken(contact: SweptContact<'_>, velocities: [&SweepBody; 2]) -> f64 {
    let SweptContact { rows, lane, .. } = contact;
    let points = contact.points().iter().zip(&rows.approach).zip(contact.velocities(velocities));
    points
        .map(|((point, approach), now)| -0.5 * point.total.0[lane] * (approach.0[lane] + now))
        .sum()
}

/// Lowers the approach velocities of a contact such that its impulses have taken no more than `most`, J, so that
/// restitution cannot return more than impulses along earlier rows took.
fn limit_energy(
    block: &ContactBlock,
    rows: &mut SolverRows,
    lane: usize,
    velocities: [&SweepBody; 2],
    most: f64,
) {
    let contact = SweptContact { block, rows, lane };
    let taken = energy_taken(contact, velocities);
    if taken <= most.max(0.0) {
        return;
    }
    let (now, share) = (contact.velocities(velocities), most.max(0.0) / taken);
    for (approach, now) in rows.approach.iter_mut().zip(now) {
        approach.0[lane] = share * (approach.0[lane] + now) - now;
    }
}

/// Returns the impulse of the last substep on B, with its moment about the center of A, and about that of B.
fn impulses_on(block: &ContactBlock, rows: &SolverRows, lane: usize) -> [SpatialVector; 2] {
    let contact = SweptContact { block, rows, lane };
    let impulses = contact.impulses();
    [0, 1].map(|side: usize| contact.impulse_on(&impulses, side))
}

impl StepTotals {
    /// Reads the totals of a lane.
    fn of(block: &ContactBlock, rows: &SolverRows, lane: usize) -> Self {
        let count = block.counts[lane] as usize;
        let (n, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
        let [along, across, twist] = rows.friction_total.map(|total| total.0[lane]);
        let point = |at: usize| {
            (at < count).then_some((block.features[at][lane], rows.points[at].total.0[lane]))
        };
        Self {
            points: std::array::from_fn(point),
            friction: (t * along + n.cross(t) * across, twist),
        }
    }

    /// Writes the totals to a lane with other points. Those of points that are gone go to new ones.
    fn restore(mut self, block: &ContactBlock, rows: &mut SolverRows, lane: usize) {
        let count = block.counts[lane] as usize;
        let mut taken = [None; POINTS];
        for (at, taken) in taken.iter_mut().enumerate().take(count) {
            let feature = block.features[at][lane];
            let same =
                |known: &Option<(u64, f64)>| known.is_some_and(|(known, _)| known == feature);
            *taken = self.points.iter().position(same).and_then(|known| self.points[known].take());
        }
        let mut gone = self.points.into_iter().flatten();
        for (at, taken) in taken.iter().enumerate().take(count) {
            if let Some((_, total)) = taken.or_else(|| gone.next()) {
                rows.points[at].total.0[lane] = total;
            }
        }
        for (_, total) in gone {
            rows.points[0].total.0[lane] += total;
        }
        let (n, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
        let (friction, twist) = self.friction;
        let totals = [friction.dot(t), friction.dot(n.cross(t)), twist];
        for (to, total) in rows.friction_total.iter_mut().zip(totals) {
            to.0[lane] = total;
        }
    }
}
