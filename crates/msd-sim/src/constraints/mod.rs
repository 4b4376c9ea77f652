//! Contacts and joints as constraints: blocks of four in lanes, grouped by color and kept from step to step, the state of
//! bodies for their solvers, and the problems that exact steps solve.

mod contact;
pub(crate) mod contact_block;
mod energy;
pub(crate) mod graph;
pub(crate) mod impact;
pub(crate) mod joint;
pub(crate) mod joint_block;
pub(crate) mod lanes;
mod manifolds;
pub(crate) mod prepare;
mod problem;
pub(crate) mod solver_bodies;
mod work;

use crate::simd;
use graph::ConstraintGraph;
use joint_block::JointGraph;
pub(crate) use manifolds::PoseTimes;
pub(crate) use problem::{IslandOutcome, Kick, Problems, TOUCH_DISTANCE, Worst};
use solver_bodies::SolverBodies;
pub(crate) use work::Work;

/// The constraints of a world, kept from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    pub(crate) contacts: ConstraintGraph,
    pub(crate) joints: JointGraph,
    pub(crate) bodies: SolverBodies,
    /// Whether to use scalar lanes even where the machine has wide ones. The results are the same bits.
    pub(crate) scalar_lanes: bool,
}

impl Constraints {
    /// Returns whether kernels use wide lanes.
    pub(crate) fn wide(&self) -> bool {
        simd::is_wide() && !self.scalar_lanes
    }
}
