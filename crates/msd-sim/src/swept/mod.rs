//! Steps of large worlds: contacts are found at its start, kept in a colored constraint graph, and swept four at a
//! time on all threads.
//!
//! A step is divided into substeps as in small worlds, each a drift, a kick and a drift. Every substep finds impulses
//! in two sweeps over all contacts and joints: a biased sweep that corrects overlaps, before bodies move, and a relax
//! sweep without bias, after, so that the velocity of the correction does not persist. See `docs/book/step.md`.

mod audit;
mod bodies;
mod ccd;
mod changes;
mod forces;
mod measure;
mod narrow_phase;
mod renew;
mod report;
mod residual;
mod sleep;
mod substeps;
mod sweep;
mod sweep_joints;
mod work;

use crate::collision::Hit;
use crate::geometry::{Manifold, Workspace};
use residual::Residuals;
use sleep::SleepingSet;
use work::StepWork;

/// The state and buffers that a swept world keeps from step to step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Swept {
    /// Whether the set of bodies that move may have changed.
    lists_dirty: bool,
    /// Inertial bodies that are awake.
    awake: Vec<u32>,
    /// Environment bodies that move.
    kinematic: Vec<u32>,
    /// Residuals of contacts and joints; empty unless measured.
    residuals: Residuals,
    /// The work of contacts, joints and forces; empty unless measured.
    #[serde(skip)]
    work: StepWork,
    sleeping: SleepingSet,
    /// Whether any contact may have a restitution above zero.
    pub(crate) any_restitution: bool,
    /// Whether any contact is fast: see [`ContactBlock::fast`](crate::constraints::contact_block::ContactBlock::fast).
    any_fast: bool,
    /// By worker.
    #[serde(skip)]
    outputs: Vec<WorkerOutput>,
    /// Outputs of workers that do not take part in this step, kept to avoid reallocation.
    #[serde(skip)]
    spare_outputs: Vec<WorkerOutput>,
    /// Numbers and manifolds of pairs that got contact points.
    #[serde(skip)]
    new_contacts: Vec<(u32, Manifold)>,
    /// Numbers of pairs that lost their contact points.
    #[serde(skip)]
    lost_contacts: Vec<u32>,
    /// Pairs of colliders that began (true) or ceased (false) to touch.
    changes: Vec<((u32, u32), bool)>,
    /// Impacts with their total normal impulse, N s.
    hits: Vec<((u32, u32), Hit, f64)>,
}

/// The results of one worker in a step. The lists are those of [`Swept`].
#[derive(Clone, Debug, Default)]
struct WorkerOutput {
    workspace: Workspace,
    dropped: Vec<u32>,
    new_contacts: Vec<(u32, Manifold)>,
    lost_contacts: Vec<u32>,
    /// Whether any of its contacts is fast.
    any_fast: bool,
    changes: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
    /// Number of contact points.
    contacts: usize,
    /// Sleeping islands that were touched.
    touched: Vec<u32>,
    /// Numbers of pairs in which a kinematic body passes a sleeping body without touching it.
    passed: Vec<u32>,
    /// Bodies stopped by continuous collision detection, and the fraction of the step after which.
    clamps: Vec<(u32, f64)>,
    /// Bodies that may have left their enlarged bounds.
    escaped: Vec<u32>,
}

impl Swept {
    /// Clears the results of the last step when no body can move in this one.
    pub(crate) fn skip_step(&mut self) {
        self.outputs.iter_mut().for_each(WorkerOutput::begin_report);
        self.changes.clear();
        self.residuals.begin(false, 0, 0);
        self.work.begin(false, [0; 3]);
    }
}
