//! The solver rows of swept contacts, in the lanes of their blocks.

use super::contact_block::{AllF4, ContactBlock, NewContact, POINTS, SLOP, get, set};
use crate::collision::{ExactContact, RENEWAL, is_same_contact};
use crate::geometry::Manifold;
use crate::math::{Vec3, orthonormal_basis};
use crate::simd::{F4, V4};

/// The data of four contacts of a block that only swept steps need, in lanes: the rows of the present step, and impulses
/// from step to step. All fields are [`F4`]s.
///
/// Angular velocities are stored as spins `w' = L^T R^T w` with `I = R L L^T R^T`, in which every body's inertia is 1.
/// The angular part of a row, `T (r x d)` with `T = L^-1 R^T`, then both measures velocity and is the change of spin by
/// a unit impulse.
///
/// The frame of a contact has two tangents and the normal. The points of a manifold lie in a plane perpendicular to the
/// normal, so a point's row is the row at the centroid plus the rows about the plane's two axes, times the point's
/// coordinates. Points interact only through these three plane coordinates: velocity along the normal at the centroid
/// and about the two axes of the plane.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub(crate) struct SolverRows {
    pub(crate) normal: V4,
    pub(crate) tangent: V4,
    /// Angular rows of A: `T` times minus the second tangent, the first tangent, and the normal.
    pub(crate) axes_a: [V4; 3],
    /// Angular rows of B.
    pub(crate) axes_b: [V4; 3],
    /// Coordinates of the centroid along the tangents, from A's center and from B's, m.
    pub(crate) centroid: [F4; 4],
    /// Coordinates of the point where friction acts along tangents and normal, from A's center and from B's, m.
    pub(crate) friction_center: [F4; 6],
    /// Delassus matrix of the three plane coordinates: xx, xy, xz, yy, yz, zz.
    pub(crate) delassus: [F4; 6],
    /// Inverse of `delassus`.
    pub(crate) inverse: [F4; 6],
    /// Inverse second moments of the points, xx, xy, yy: they distribute an impulse about the plane's axes over the
    /// points.
    pub(crate) spread: [F4; 3],
    /// Each point's share of an impulse at the centroid.
    pub(crate) share: F4,
    /// Number of points.
    pub(crate) count: F4,
    pub(crate) friction: F4,
    /// Depth that is not corrected, m.
    pub(crate) slop: F4,
    /// Inverse of the 2 by 2 Delassus matrix of the tangents, xx, xy, yy, and of the entry about the normal.
    pub(crate) friction_mass: [F4; 4],
    /// Friction impulse of the substep along the two tangents, N s, and about the normal, N m s.
    pub(crate) friction_impulse: [F4; 3],
    /// Friction impulse of the step.
    pub(crate) friction_total: [F4; 3],
    pub(crate) points: [Point; POINTS],
    // Sweeps read none of the fields below; those of restitution read `approach`.
    /// Normal velocity of each point at the start of the step, m/s.
    pub(crate) approach: [F4; POINTS],
    /// Gap below which points count as touching, m.
    pub(crate) touch_distance: F4,
    /// Sum of both odometers up to which the manifold remains valid, m.
    pub(crate) recheck_distance: F4,
    /// Sum of both speeds up to which the manifold remains valid, m/s.
    pub(crate) recheck_speed: F4,
}

/// A point of each of four contacts.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub(crate) struct Point {
    /// Coordinate from the centroid along the first tangent, m.
    pub(crate) x: F4,
    /// Coordinate from the centroid along the second tangent, m.
    pub(crate) y: F4,
    /// Gap at the start of the step, m.
    pub(crate) gap: F4,
    /// Distance from the point where friction acts, perpendicular to the normal, m; while restitution acts, at the end of
    /// the step, the energy that the point may still return, J.
    pub(crate) lever: F4,
    /// Normal impulse of the substep, N s.
    pub(crate) impulse: F4,
    /// Normal impulse of the step, N s.
    pub(crate) total: F4,
}

/// A swept contact: its block, its rows, and its lane in both.
#[derive(Clone, Copy)]
pub(crate) struct SweptContact<'a> {
    pub(crate) block: &'a ContactBlock,
    pub(crate) rows: &'a SolverRows,
    pub(crate) lane: usize,
}

impl<'a> SweptContact<'a> {
    /// Returns the points; their entries of this lane are those of the contact.
    pub(crate) fn points(&self) -> &'a [Point] {
        &self.rows.points[..self.block.counts[self.lane] as usize]
    }
}

// SAFETY: repr(C), and all fields are `F4` or arrays and structs of it.
#[allow(unsafe_code)]
unsafe impl AllF4 for SolverRows {}

impl SolverRows {
    /// Starts the rows of a new contact, without impulses.
    pub(crate) fn insert(&mut self, lane: usize, new: &NewContact) {
        self.clear_lane(lane);
        self.friction.0[lane] = new.friction;
        self.slop.0[lane] = new.slop;
        self.touch_distance.0[lane] = new.touch_distance;
    }

    /// Starts the points of a lane with the impulses of the same contact in exact steps. Its manifold is checked again,
    /// because odometers did not count.
    pub(crate) fn warm_start(&mut self, lane: usize, exact: &ExactContact) {
        let normal = exact.normal;
        let mut friction = Vec3::ZERO;
        for (point, known) in self.points.iter_mut().zip(exact.points()) {
            let load = known.impulse.dot(normal);
            point.impulse.0[lane] = load.max(0.0);
            friction += known.impulse - normal * load;
        }
        let (tangent, _) = orthonormal_basis(normal);
        set(&mut self.normal, lane, normal);
        set(&mut self.tangent, lane, tangent);
        self.friction_impulse[0].0[lane] = friction.dot(tangent);
        self.friction_impulse[1].0[lane] = friction.dot(normal.cross(tangent));
        self.friction_impulse[2].0[lane] = 0.0;
        self.recheck(lane);
    }

    /// Clears the impulses of the points of a lane.
    fn clear_points(&mut self, lane: usize) {
        self.points.iter_mut().for_each(|point| point.impulse.0[lane] = 0.0);
    }

    /// Clears the impulses of a lane.
    pub(crate) fn clear_impulses(&mut self, lane: usize) {
        self.clear_points(lane);
        self.friction_impulse.iter_mut().for_each(|impulse| impulse.0[lane] = 0.0);
    }

    /// Starts the points of a manifold that will replace those of `block`: points with the same feature keep their
    /// impulses, unless the normal has turned so far that it is another contact.
    pub(crate) fn replace_points(
        &mut self,
        lane: usize,
        manifold: &Manifold,
        block: &ContactBlock,
    ) {
        let old = self.points.map(|point| point.impulse.0[lane]);
        if !is_same_contact(get(&self.normal, lane), manifold.normal) {
            return self.clear_impulses(lane);
        }
        self.clear_points(lane);
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            let count = block.counts[lane] as usize;
            let known = (0..count).find(|&at| block.feature(lane, at) == found.feature);
            point.impulse.0[lane] = known.map_or(0.0, |at| old[at]);
        }
    }

    /// Returns whether a relative motion, m, is too large for the points of a lane.
    pub(crate) fn outgrown_by(&self, lane: usize, motion: f64) -> bool {
        motion * SLOP > RENEWAL * self.slop.0[lane]
    }

    /// Stores the sums of odometers and of speeds up to which a manifold remains valid.
    pub(crate) fn set_recheck(&mut self, lane: usize, (distance, speed): (f64, f64)) {
        self.recheck_distance.0[lane] = distance;
        self.recheck_speed.0[lane] = speed;
    }

    /// Makes the next step check the manifold of a lane.
    pub(crate) fn recheck(&mut self, lane: usize) {
        self.set_recheck(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
    }
}
