//! What a step reports: how good it is, by which method it was computed, and what holds its bodies together.

use crate::bodies::BodySet;
use crate::constraints::Worst;
use crate::constraints::islands::{Edge, Islands};
use crate::id::{BodyId, JointId};
use crate::joints::{Joint, JointKind, JointSet};
use crate::ledger::Ledger;
use crate::solver::SolveReport;

/// What a step did, and how good it is.
///
/// A figure that was not measured is `None`. Exact steps measure everything but [`audit`](Self::audit), which
/// [`Settings::audit`](crate::Settings::audit) switches on. Steps that sweep measure residual, penetration, joint
/// error and islands only with that setting, because it costs them time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Inertial bodies that were stepped exactly: contacts renewed in every substep, impulses solved to the tolerance,
    /// impacts at their own time.
    pub exact: usize,
    /// Inertial bodies that were swept: contacts found once a step, two sweeps a substep, impacts at the end of the
    /// step. This is how [`Method::SoftStep`](crate::Method::SoftStep) steps worlds of more than
    /// [`Settings::max_exact_bodies`](crate::Settings::max_exact_bodies) inertial bodies.
    pub swept: usize,
    /// Bodies that sleep ([`Settings::sleeping`](crate::Settings::sleeping)). Residuals and islands are without them.
    pub asleep: usize,
    /// The worst of the step's solves, contacts and joints alike.
    pub solve: Option<SolveReport>,
    /// The contact or joint that was furthest from its law: in the worst of the step's solves; in steps that sweep, the one
    /// whose velocity error is largest for the size of its bodies.
    pub worst_violation: Option<Violation>,
    /// Deepest overlap of two bodies at the end of the step, m.
    pub max_penetration: Option<f64>,
    /// Largest position error of a joint at the end of the step, m: how far ball joints gape, rods are off their
    /// length, and ropes are stretched. Springs have none.
    pub max_joint_error: Option<f64>,
    /// The joint that has it.
    pub worst_joint: Option<JointId>,
    /// Times within the step at which something bounced or a fast body was stopped.
    pub impact_times: usize,
    /// Impacts without a bounce because [`Settings::impact_work`](crate::Settings::impact_work) was spent or one
    /// impact followed another without end. Their bodies move on as if nothing bounced.
    pub unresolved_impacts: usize,
    /// How often an island had spent all its impact work, that for stopping fast bodies included: the rest of its substep
    /// was computed from contact points alone.
    pub exhausted: usize,
    /// Contact points, those about to touch included.
    pub contacts: usize,
    /// Groups of bodies that contacts and joints connect; see [`World::islands`](crate::World::islands).
    pub islands: Option<usize>,
    /// Energy and momentum, if [`Settings::audit`](crate::Settings::audit) is on.
    pub audit: Option<Ledger>,
}

/// A contact or joint that is off its law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violation {
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// The joint; `None` for a contact.
    pub joint: Option<JointId>,
    /// By how much, m/s; infinite for what is not a number.
    pub residual: f64,
    /// The residual of its island, relative to the island's speeds: see [`Residual::relative`](crate::solver::Residual::relative).
    pub relative: f64,
}

impl StepReport {
    /// The worst residual of contacts and joints, relative to the speeds of its island; `None` if it was not measured.
    pub fn residual(&self) -> Option<f64> {
        self.solve.map(|solve| solve.residual.relative())
    }

    /// Whether every solve reached the tolerance; `None` if that was not measured.
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
    /// Enters the largest position error of a joint.
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

/// Bodies that contacts and joints connect. Buffers are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grouping {
    islands: Islands,
    edges: Vec<Edge>,
}

/// What connects two bodies of an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// By the number that the caller gave it.
    Pair(u32),
    /// By its index.
    Joint(u32),
}

/// Set in the place of a tie that is a joint.
const JOINT: u32 = 1 << 31;

impl Link {
    fn place(self) -> u32 {
        match self {
            Self::Pair(number) => number,
            Self::Joint(index) => index | JOINT,
        }
    }

    fn at(place: u32) -> Self {
        if place & JOINT == 0 { Self::Pair(place) } else { Self::Joint(place & !JOINT) }
    }
}

impl Grouping {
    /// Groups `inertial` bodies, ascending, of `count` in all, by pairs with their numbers and by all joints.
    pub(crate) fn build(
        &mut self,
        inertial: &[u32],
        count: usize,
        pairs: impl Iterator<Item = (u32, [u32; 2])>,
        joints: &JointSet,
    ) {
        let edge = |link: Link, bodies| Edge { bodies, place: link.place() };
        self.edges.clear();
        // Room for as many as there can be, so that steps do not allocate once they are warm.
        let most = pairs.size_hint().1.unwrap_or(0) + joints.slots.occupied();
        if self.edges.capacity() < most {
            self.edges.reserve(2 * most);
            self.islands.reserve(count, self.edges.capacity());
        }
        self.edges.extend(pairs.map(|(number, bodies)| edge(Link::Pair(number), bodies)));
        let held = joints.slots.iter();
        self.edges.extend(
            held.map(|index| edge(Link::Joint(index), joints.joints[index as usize].bodies)),
        );
        self.islands.build(count, inertial, &self.edges);
    }

    /// How many islands there are.
    pub(crate) fn len(&self) -> usize {
        self.islands.len()
    }

    /// Bodies of an island, ascending.
    pub(crate) fn members(&self, island: usize) -> &[u32] {
        self.islands.members(island)
    }

    /// What connects the bodies of an island.
    pub(crate) fn links(&self, island: usize) -> impl Iterator<Item = Link> {
        self.islands.edges(island).iter().map(|&place| Link::at(place))
    }
}
