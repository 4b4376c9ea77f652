//! The work of impulses: by kind, for the ledger, and what the energy limit needs of it.

use super::problem::{BlockInfo, Kick};
use crate::math::{SpatialVector, Vec3};
use crate::solver::restitution::unbounced;
use crate::solver::{Block, Law, Problem, SolverBody, block_residual};

/// Work by kind in one island and one kick, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub(crate) normal: f64,
    pub(crate) friction: f64,
    /// Energy that restitution would have returned at impacts too slow to bounce.
    pub(crate) unbounced: f64,
    pub(crate) joints: f64,
    /// Its part by rigid joints.
    pub(crate) rigid: f64,
    /// Work of moving environment bodies. The other terms are of relative velocities, as seen from the environment
    /// bodies.
    pub(crate) environment: f64,
    /// Correction of the work of landings from the velocities just before and after them to those before and after the
    /// kick.
    pub(crate) timing: f64,
}

impl Work {
    /// Adds the work of a block's impulse along its rows.
    pub(super) fn add(&mut self, bodies: &[SolverBody], block: &Block, work: Vec3) {
        self.environment += kinematic_work(bodies, block);
        if let Law::Contact { .. } = block.law {
            self.normal += work.x;
            self.friction += work.y + work.z;
        } else {
            let work = work.x + work.y + work.z;
            self.joints += work;
            self.rigid += if block.softness > 0.0 { 0.0 } else { work };
        }
    }
}

/// Computes the landing shift of each landing: the kick applies the forces of the whole segment, only part of which had
/// acted at the landing. Called after forces and before impulses.
pub(super) fn time_landings(
    problem: &Problem<'_>,
    infos: &mut [BlockInfo],
    velocities_before: &[Vec3],
    kick: &Kick<'_>,
) {
    for ((block, info), before) in problem.blocks.iter().zip(infos).zip(velocities_before) {
        if info.approach < 0.0 {
            let [a, b] = block.bodies.map(|body| body as usize);
            let base = if problem.bodies[b].is_inertial() { b } else { a };
            let forced = block.velocity(problem.bodies) - *before;
            info.landing_shift = forced * (2.0 * kick.kick_time[base] / kick.segment[base] - 1.0);
        }
    }
}

/// Sums the work of an island's impulses, and stores the residual of each block.
pub(super) fn sum_work(
    problem: &Problem<'_>,
    infos: &mut [BlockInfo],
    velocities_before: &[Vec3],
) -> Work {
    let mut sum = Work::default();
    for ((block, info), before) in problem.blocks.iter().zip(infos).zip(velocities_before) {
        let u = block.velocity(problem.bodies);
        let residual = block_residual(block, u + block.offset).largest();
        // Not a number counts as the largest violation.
        info.residual = if residual.is_nan() { f64::INFINITY } else { residual };
        let work = block.impulse * (*before + info.landing_shift + u) * 0.5;
        sum.add(problem.bodies, block, work);
        if before.x < 0.0 && info.approach == 0.0 {
            sum.unbounced += unbounced(info.restitution, work.x);
        }
        sum.timing -= 0.5 * block.impulse.dot(info.landing_shift);
    }
    sum
}

/// Returns the work that an environment body's own motion adds to a block.
fn kinematic_work(bodies: &[SolverBody], block: &Block) -> f64 {
    let [a, b] = block.bodies.map(|body| &bodies[body as usize]);
    let still = |body: &SolverBody| body.is_inertial() || body.velocity == SpatialVector::ZERO;
    if still(a) && still(b) {
        return 0.0;
    }
    let mut sum = 0.0;
    for (row, impulse) in block.rows.iter().zip(block.impulse.to_array()) {
        let zero = SpatialVector::ZERO;
        // The relative velocity due to each alone is minus A's and plus B's.
        if !a.is_inertial() {
            sum -= impulse * row.velocity(&a.velocity, &zero);
        }
        if !b.is_inertial() {
            sum -= impulse * row.velocity(&zero, &b.velocity);
        }
    }
    sum
}
