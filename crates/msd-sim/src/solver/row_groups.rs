//! The rows of an island packed for Newton's method: consecutive blocks between the same two
//! bodies share a group, with one block per lane.

use super::block6::Vector6;
use super::{Block, Law, Problem};
use crate::math::{SpatialVector, Vec3};
use crate::simd::{F4, V4};

/// The kind of law of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Contact,
    Unilateral,
    Bilateral,
}

impl Kind {
    fn of(law: &Law) -> Self {
        match law {
            Law::Contact { .. } => Self::Contact,
            Law::Unilateral => Self::Unilateral,
            Law::Bilateral { .. } => Self::Bilateral,
        }
    }
}

/// The place of a block that does not exist, because one of its bodies is in the environment.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// Up to four blocks with the same bodies and the same kind of law. Unused lanes are zero.
#[derive(Clone, Debug)]
pub(crate) struct RowGroup {
    /// Indices of A and B within the island; its size stands for the environment.
    pub(crate) bodies: [u32; 2],
    pub(crate) kind: Kind,
    /// Number of lanes in use.
    pub(crate) count: usize,
    /// Places of the blocks AA, AB, BA and BB in the matrix.
    pub(crate) places: [u32; 4],
    pub(crate) linear: [V4; 3],
    pub(crate) angular: [[V4; 3]; 2],
    pub(crate) friction: F4,
    pub(crate) softness: F4,
    /// For each row, a mask of the lanes that use it.
    pub(crate) used: V4,
    /// Largest diagonal entry of `delassus`.
    pub(crate) delassus: F4,
    pub(crate) rho: F4,
    /// Relative velocity without impulses, offset included.
    pub(crate) free_velocity: V4,
    pub(crate) multiplier: V4,
    /// The augmented impulse `z` where the momentum was last evaluated, and its projection `P(z)`.
    pub(crate) augmented: V4,
    pub(crate) impulse: V4,
    /// Entries xx, xy, xz, yy, yz and zz of the weight of each lane's rows in the matrix, and whether
    /// they count instead of the slope of the projection.
    pub(crate) weights: [F4; 6],
    pub(crate) is_weighted: bool,
}

const NONE: V4 = [F4::ZERO; 3];

impl RowGroup {
    fn new(bodies: [u32; 2], kind: Kind) -> Self {
        Self {
            bodies,
            kind,
            count: 0,
            places: [NO_BLOCK; 4],
            linear: [NONE; 3],
            angular: [[NONE; 3]; 2],
            friction: F4::ZERO,
            softness: F4::ZERO,
            used: NONE,
            delassus: F4::ZERO,
            rho: F4::ZERO,
            free_velocity: NONE,
            multiplier: NONE,
            augmented: NONE,
            impulse: NONE,
            weights: [F4::ZERO; 6],
            is_weighted: false,
        }
    }

    fn takes(&self, bodies: [u32; 2], kind: Kind) -> bool {
        self.count < 4 && self.bodies == bodies && self.kind == kind
    }

    /// Adds a block with the relative velocity `u`, offset included.
    fn push(&mut self, block: &Block, u: Vec3) {
        let lane = self.count;
        self.count += 1;
        for (i, row) in block.rows.iter().enumerate() {
            put(&mut self.linear[i], lane, row.linear);
            put(&mut self.angular[0][i], lane, row.angular_a);
            put(&mut self.angular[1][i], lane, row.angular_b);
            self.used[i].0[lane] = if i < block.law.rows() { -1.0 } else { 0.0 };
        }
        if let Law::Contact { friction } = block.law {
            self.friction.0[lane] = friction;
        }
        self.softness.0[lane] = block.softness;
        let w = &block.delassus;
        self.delassus.0[lane] = w.x_axis.x.max(w.y_axis.y).max(w.z_axis.z);
        put(&mut self.free_velocity, lane, u);
        put(&mut self.multiplier, lane, block.impulse);
    }

    pub(crate) fn set_multiplier(&mut self, lane: usize, impulse: Vec3) {
        put(&mut self.multiplier, lane, impulse);
    }

    /// Sets `rho` relative to the inverse of each block's own `delassus`.
    pub(crate) fn set_rho(&mut self, relative_rho: f64) {
        for (rho, &delassus) in self.rho.0.iter_mut().zip(&self.delassus.0) {
            *rho = if delassus > 0.0 { relative_rho / delassus } else { 0.0 };
        }
    }
}

/// Sets the vector of one lane.
pub(crate) fn put(to: &mut V4, lane: usize, v: Vec3) {
    for (to, v) in to.iter_mut().zip(v.to_array()) {
        to.0[lane] = v;
    }
}

/// Returns the vector of one lane.
pub(crate) fn lane_of(from: &V4, lane: usize) -> Vec3 {
    Vec3::new(from[0].0[lane], from[1].0[lane], from[2].0[lane])
}

/// Returns the six entries of a spatial vector.
pub(crate) fn packed(v: &SpatialVector) -> Vector6 {
    let (p, l) = (v.linear, v.angular);
    Vector6::new([p.x, p.y, p.z, l.x, l.y, l.z])
}

/// Returns the spatial vector of six entries.
pub(crate) fn spatial(v: &Vector6) -> SpatialVector {
    let v = v.entries();
    SpatialVector::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]))
}

/// Fills `edges` with the pairs of inertial bodies of the blocks, as indices within the island, in
/// order and without successive repetitions.
pub(crate) fn find_edges(problem: &Problem<'_>, island_index: &[u32], edges: &mut Vec<[u32; 2]>) {
    let size = problem.members.len() as u32;
    edges.clear();
    for run in problem.blocks.chunk_by(|block, next| block.bodies == next.bodies) {
        let bodies = run[0].bodies.map(|body| island_index[body as usize]);
        if bodies.iter().all(|&body| body < size) && edges.last() != Some(&bodies) {
            edges.push(bodies);
        }
    }
}

/// Packs the blocks of a problem in order.
pub(crate) fn pack(problem: &Problem<'_>, island_index: &[u32], groups: &mut Vec<RowGroup>) {
    let environment = problem.members.len() as u32;
    groups.clear();
    for run in problem.blocks.chunk_by(|block, next| block.bodies == next.bodies) {
        let bodies = run[0].bodies.map(|body| island_index[body as usize].min(environment));
        for block in run {
            let kind = Kind::of(&block.law);
            if !groups.last().is_some_and(|group| group.takes(bodies, kind)) {
                groups.push(RowGroup::new(bodies, kind));
            }
            if let Some(group) = groups.last_mut() {
                group.push(block, block.velocity(problem.bodies) + block.offset);
            }
        }
    }
}
