//! The report of a step: how bodies were stepped, its errors, and the islands of its bodies.

use crate::bodies::BodySet;
use crate::constraints::Worst;
use crate::id::{BodyId, JointId};
use crate::joints::{Joint, JointKind, JointSet};
use crate::ledger::Ledger;
use crate::solver::SolveReport;

/// The outcome of a step, and its errors.
///
/// Quantities that were not measured are `None`. Exact steps measure everything but [`audit`](Self::audit), which
/// [`Settings::audit`](crate::Settings::audit) switches on. Swept steps measure residual, penetration, joint error and
/// islands only with that setting, because it costs time.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StepReport {
    /// Number of inertial bodies that were stepped exactly: contacts updated in every substep, impulses solved to the
    /// tolerance, impacts resolved at their own times.
    pub exact: usize,
    /// Number of those bodies that were at rest, in islands whose remembered impulses still satisfied every law: they
    /// were not computed again. [`solve`](Self::solve) includes their residuals.
    pub resting: usize,
    /// Number of inertial bodies that were swept: contacts found at its start, two sweeps per substep, impacts at the
    /// end of the step. [`Method::SoftStep`](crate::Method::SoftStep) sweeps islands of more than
    /// [`Settings::exact_body_limit`](crate::Settings::exact_body_limit) inertial bodies, and islands in motion whose exact
    /// steps cost more than [`Settings::exact_cost_limit`](crate::Settings::exact_cost_limit).
    pub swept: usize,
    /// Number of bodies that sleep after the step ([`Settings::sleeping`](crate::Settings::sleeping)). Residuals and
    /// islands do not include them, and neither do [`exact`](Self::exact) and [`swept`](Self::swept).
    pub asleep: usize,
    /// The worst solve of the step, contacts and joints alike.
    pub solve: Option<SolveReport>,
    /// The contact or joint that violates its law most: in the worst solve of the step; in swept steps, the one with
    /// the largest velocity error relative to the size of its bodies.
    pub worst_violation: Option<Violation>,
    /// Deepest overlap of two bodies at the end of the step, m.
    pub max_penetration: Option<f64>,
    /// Largest position error of a joint at the end of the step, m: the gap of a ball joint, the length error of a rod,
    /// the stretch of a rope. Springs have none.
    pub max_joint_error: Option<f64>,
    /// The joint with the largest position error.
    pub worst_joint: Option<JointId>,
    /// Number of times within the step at which bodies bounced or a fast body was stopped.
    pub impact_times: usize,
    /// Number of impacts that did not bounce because [`Settings::impact_work`](crate::Settings::impact_work) was used
    /// up or impacts followed each other without end. Their bodies move on as if nothing bounced.
    pub unresolved_impacts: usize,
    /// Number of times that an island used up all its impact work, including that for stopping fast bodies: the rest of
    /// its substep was computed from contact points alone.
    pub exhausted: usize,
    /// Number of contact points, including points about to touch.
    pub contacts: usize,
    /// Number of islands: groups of bodies connected by contacts and joints; see
    /// [`World::islands`](crate::World::islands).
    pub islands: Option<usize>,
    /// Energy and momentum, if [`Settings::audit`](crate::Settings::audit) is on.
    pub audit: Option<Ledger>,
}

/// A contact or joint that violates its law.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Violation {
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// The joint; `None` for a contact.
    pub joint: Option<JointId>,
    /// Size of the violation, m/s; infinite if it is not a number.
    pub residual: f64,
    /// Residual of its island, relative to the island's speeds: see
    /// [`Residual::relative`](crate::solver::Residual::relative).
    pub relative: f64,
}

impl StepReport {
    /// Returns the worst residual of contacts and joints, relative to the speeds of its island; `None` if it was not
    /// measured.
    pub fn residual(&self) -> Option<f64> {
        self.solve.map(|solve| solve.residual.relative())
    }

    /// Returns whether every solve reached the tolerance; `None` if that was not measured.
    pub fn converged(&self) -> Option<bool> {
        self.solve.map(|solve| solve.converged)
    }
}

impl Worst {
    pub(crate) fn violation(&self, bodies: &BodySet, joints: &JointSet) -> Violation {
        let Self { joint, residual, relative, .. } = *self;
        let joint =
            joint.map(|index| JointId { index, generation: joints.slots.generation(index) });
        let bodies = self.bodies.map(|body| bodies.id(body));
        Violation { bodies, joint, residual, relative }
    }
}

impl StepReport {
    /// Measures the largest position error of a joint.
    pub(crate) fn measure_joints(&mut self, bodies: &BodySet, joints: &JointSet) {
        let (mut worst, mut widest) = (0.0, None);
        for index in joints.slots.iter() {
            let error = joint_error(bodies, &joints.joints[index as usize]);
            if error.is_nan() || error > worst {
                (worst, widest) = (error, Some(index));
            }
        }
        self.max_joint_error = Some(worst);
        self.worst_joint =
            widest.map(|index| JointId { index, generation: joints.slots.generation(index) });
    }
}

fn joint_error(bodies: &BodySet, joint: &Joint) -> f64 {
    let on = |side: usize| {
        bodies.poses[joint.bodies[side] as usize].transform_point(joint.def.anchors[side])
    };
    let length = (on(1) - on(0)).length();
    match joint.def.kind {
        _ if length.is_nan() => length,
        JointKind::Ball => length,
        JointKind::Distance { min, max } => (min - length).max(length - max).max(0.0),
        JointKind::Spring { .. } => 0.0,
    }
}
