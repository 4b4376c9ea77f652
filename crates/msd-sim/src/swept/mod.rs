//! Steps of large worlds: contacts are found once a step, kept in colours, and swept four at a time on all threads.
//!
//! A step is cut into substeps as in small worlds, and each is drift, kick, drift. In every substep impulses are
//! found by two sweeps over all contacts and joints: one with a bias that takes overlaps back, before bodies
//! move, and one without, so that nothing of it stays in their velocities. See `docs/book/swept.md`.

mod audit;
mod bodies;
mod broad_phase;
mod ccd;
mod changes;
mod contact_block;
mod graph;
mod islands;
mod joints;
mod lanes;
mod narrow_phase;
mod pairs;
mod prepare;
mod report;
mod residual;
mod sleep;
mod substeps;
mod sweep;
mod sweep_bodies;
mod thread_pool;

use crate::bodies::BodySet;
use crate::collision::Hit;
use crate::geometry::{Manifold, Workspace};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use changes::Dirty;
use graph::ConstraintGraph;
use joints::JointGraph;
use pairs::PairList;
pub(crate) use report::SweptContact;
use residual::Residuals;
use sleep::SleepingSet;
use sweep_bodies::{DeltaPose, Frame, MotionBounds, SweepBody, VelocityDelta};
use thread_pool::ThreadPool;

/// What a swept world knows from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Whether the last step was swept.
    pub(crate) running: bool,
    /// Whether the step is the first one after exact steps.
    first_step: bool,
    /// Whether wide lanes are left alone where the machine has them. The bits do not depend on it.
    pub(crate) scalar_lanes: bool,
    dirty: Dirty,
    /// Inertial bodies that are awake, and environment bodies that move.
    awake: Vec<u32>,
    kinematic: Vec<u32>,
    sweep_bodies: Vec<SweepBody>,
    delta_poses: Vec<DeltaPose>,
    frames: Vec<Frame>,
    warm_starts: Vec<VelocityDelta>,
    kicks: Vec<VelocityDelta>,
    /// By body.
    motion_bounds: Vec<MotionBounds>,
    enlarged: Vec<bool>,
    pairs: PairList,
    graph: ConstraintGraph,
    joint_graph: JointGraph,
    /// How far contacts and joints were from their laws, where that is measured.
    residuals: Residuals,
    sleeping: SleepingSet,
    /// Whether a contact has a restitution.
    any_restitution: bool,
    threads: ThreadPool,
    outputs: Vec<WorkerOutput>,
    /// Those of workers that do not take part in this step.
    spare_outputs: Vec<WorkerOutput>,
    candidates: Vec<(u32, u32)>,
    dropped: Vec<u32>,
    new_contacts: Vec<(u32, Manifold)>,
    lost_contacts: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    /// Pairs that touched and may no longer collide.
    separated: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
}

/// What one worker finds.
#[derive(Clone, Debug, Default)]
struct WorkerOutput {
    workspace: Workspace,
    candidates: Vec<(u32, u32)>,
    moved: Vec<u32>,
    dropped: Vec<u32>,
    new_contacts: Vec<(u32, Manifold)>,
    lost_contacts: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
    contacts: usize,
    /// Sleeping islands that were touched, and pairs that passed each other.
    touched: Vec<u32>,
    passed: Vec<u32>,
    /// Bodies that are stopped, and after which part of the step.
    clamps: Vec<(u32, f64)>,
}

impl Swept {
    /// Clears the results of the last step, in a step in which no body can move.
    pub(crate) fn skip_step(&mut self) {
        self.outputs.iter_mut().for_each(WorkerOutput::begin_report);
        self.changes.clear();
        self.residuals.begin(false, 0, 0);
    }

    /// Stores the impulses of joints for the next step and for readers.
    pub(crate) fn write_back_joints(&self, joints: &mut JointSet) {
        self.joint_graph.write_back(joints);
    }

    /// Clears the user's forces on the bodies that moved.
    pub(crate) fn clear_user_forces(&self, bodies: &mut BodySet) {
        for &body in &self.awake {
            bodies.loads[body as usize].user = SpatialVector::ZERO;
        }
    }
}
