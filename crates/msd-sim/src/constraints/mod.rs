//! Contacts and joints as constraints: blocks of four in lanes, grouped by color and kept from step to step, the state of
//! bodies for their solvers, and the problems that exact steps solve.

mod contact;
pub(crate) mod contact_block;
mod energy;
pub(crate) mod graph;
pub(crate) mod impact;
pub(crate) mod joint;
pub(crate) mod joint_block;
pub(crate) mod joint_rows;
pub(crate) mod lanes;
mod manifolds;
pub(crate) mod prepare;
mod problem;
pub(crate) mod solver_bodies;
pub(crate) mod solver_rows;
mod work;
mod write_back;

use crate::collision::{CollisionPipeline, ContactSet, PairList, Slot};
use crate::simd;
use contact_block::ContactBlock;
use graph::ConstraintGraph;
use joint_block::JointGraph;
pub(crate) use manifolds::PoseTimes;
pub(crate) use problem::{IslandOutcome, Kick, Problems, TOUCH_DISTANCE, Worst};
use solver_bodies::SolverBodies;
use solver_rows::SolverRows;
pub(crate) use work::Work;

/// Which colliders are near each other, where they touch, and what is known of contacts and joints from the last step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Contacts {
    pub(crate) collision: CollisionPipeline,
    pub(crate) constraints: Constraints,
}

/// The constraints of a world, kept from step to step.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Constraints {
    /// Contacts of exact bodies, whose rows are built in every substep: the graph has none.
    pub(crate) exact: ConstraintGraph,
    /// Contacts and joints of swept bodies.
    pub(crate) contacts: ConstraintGraph,
    pub(crate) joints: JointGraph,
    pub(crate) bodies: SolverBodies,
    /// Whether to use scalar lanes even where the machine has wide ones. The results are the same bits.
    #[serde(skip)]
    pub(crate) scalar_lanes: bool,
}

impl Default for Constraints {
    fn default() -> Self {
        Self {
            exact: ConstraintGraph::new(ContactSet::Exact),
            contacts: ConstraintGraph::new(ContactSet::Swept),
            joints: JointGraph::default(),
            bodies: SolverBodies::default(),
            scalar_lanes: false,
        }
    }
}

impl Constraints {
    /// Makes room for this many bodies.
    pub(crate) fn resize(&mut self, bodies: usize) {
        self.exact.resize(bodies + 1);
        self.contacts.resize(bodies + 1);
    }

    fn graph_mut(&mut self, set: ContactSet) -> &mut ConstraintGraph {
        match set {
            ContactSet::Exact => &mut self.exact,
            ContactSet::Swept => &mut self.contacts,
        }
    }

    /// Returns the block of a slot, its rows if it is swept, and the lane in both.
    fn lane_mut(&mut self, slot: Slot) -> (&mut ContactBlock, Option<&mut SolverRows>, usize) {
        self.graph_mut(slot.set).lane_mut(slot)
    }

    /// Removes the contact of a pair, if it has one.
    pub(crate) fn release(&mut self, pairs: &mut PairList, number: u32) {
        let set = pairs.all[number as usize].slot.set;
        self.graph_mut(set).release(pairs, number);
    }

    /// Returns whether kernels use wide lanes.
    pub(crate) fn wide(&self) -> bool {
        simd::is_wide() && !self.scalar_lanes
    }
}
