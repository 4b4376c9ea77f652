//! The books: where energy and momentum of a step went, and the one rule that keeps energy from
//! rising by discretisation.

use crate::bodies::{BodySet, Potential};
use crate::constraints::{Work, joint};
use crate::island::Island;
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::motion::Impulses;
use crate::settings::Settings;
use crate::solver::Block;

/// Energy and momentum of one step: what there was, what there is, and where the difference went.
///
/// Totals, the work of applied forces, damping and moving environment bodies, and all impulses are measured in every
/// world. What contacts, joints and discretisation did is measured as a sum ([`contact_work`](Self::contact_work)); how
/// much of it belongs to which is in [`terms`](Self::terms), where the method measures it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Kinetic energy before the step, J.
    pub kinetic_before: f64,
    /// Kinetic energy after it, J.
    pub kinetic: f64,
    /// Potential energy before the step, springs of joints included, J.
    pub potential_before: f64,
    /// Potential energy after it, J.
    pub potential: f64,
    /// Work of damping and drag, J.
    pub damping: f64,
    /// Work of the user's forces, J.
    pub user: f64,
    /// Work of environment bodies that move, J.
    pub environment: f64,
    /// Energy that impacts slower than [`Settings::rest_speed`](crate::Settings::rest_speed) lost because such
    /// impacts do not bounce, J, 0 or more: `e^2` of what their normal impulses took. It is part of
    /// [`contact_work`](Self::contact_work), not in addition to it.
    pub rest_speed_loss: f64,
    /// What contacts, joints and discretisation did, each by itself. `None` where only their sum was measured: in
    /// steps that sweep ([`StepReport::swept`](crate::StepReport::swept)).
    pub terms: Option<ContactTerms>,
    /// Momentum before: linear (N s), and angular about the world's origin (N m s).
    pub momentum_before: SpatialVector,
    /// Momentum after the step.
    pub momentum: SpatialVector,
    /// Impulse of forces.
    pub force_impulse: SpatialVector,
    /// Impulse from environment bodies.
    pub environment_impulse: SpatialVector,
    /// Momentum changed by corrections of position and energy. In steps that sweep only that of bodies which fall asleep:
    /// the rest is part of [`momentum_error`](Self::momentum_error).
    pub correction_impulse: SpatialVector,
}

/// Work of contacts, joints and discretisation in one step, by kind.
///
/// Each term is added up where it arises, so [`Ledger::energy_error`] is a true check: rounding, or a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTerms {
    /// Work of normal impulses: what impacts took less what restitution gave back, J.
    pub restitution: f64,
    /// Work of friction, J. Negative, unless a kinematic body drives.
    pub friction: f64,
    /// Work of joints besides the energy stored in springs, J.
    pub joints: f64,
    /// Potential energy gained by moving bodies out of each other and joints together, J.
    pub correction: f64,
    /// Error of the integration of forces and rotation, J, kept from being a gain in contact.
    pub integration: f64,
}

impl ContactTerms {
    /// All of them, J.
    pub fn sum(&self) -> f64 {
        self.restitution + self.friction + self.joints + self.correction + self.integration
    }
}

impl Ledger {
    /// Kinetic and potential energy after the step, J.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Kinetic and potential energy before the step, J.
    pub fn energy_before(&self) -> f64 {
        self.kinetic_before + self.potential_before
    }

    /// Work of contacts, joints and discretisation together, J: the change of energy that applied forces, damping and
    /// moving environment bodies do not account for. Contacts and rigid joints can only take energy, so a sum above
    /// zero is energy that the step created.
    pub fn contact_work(&self) -> f64 {
        self.energy() - self.energy_before() - self.damping - self.user - self.environment
    }

    /// Energy that the terms do not account for, J; `None` where [`terms`](Self::terms) were not measured.
    pub fn energy_error(&self) -> Option<f64> {
        let terms = self.terms.as_ref()?;
        let change = self.energy() - self.kinetic_before - self.potential_before;
        let accounted = terms.restitution
            + terms.friction
            + terms.joints
            + terms.correction
            + self.damping
            + self.user
            + self.environment
            + terms.integration;
        Some(change - accounted)
    }

    /// Energy that impacts, friction and damping took, J: positive. `None` where [`terms`](Self::terms) were not
    /// measured.
    pub fn dissipated(&self) -> Option<f64> {
        self.terms.as_ref().map(|terms| -(terms.restitution + terms.friction + self.damping))
    }

    /// Momentum that the impulses do not account for. Rounding in exact steps; steps that sweep keep linear momentum
    /// to rounding, and angular momentum to first order in the time step.
    pub fn momentum_error(&self) -> SpatialVector {
        self.momentum
            - self.momentum_before
            - self.force_impulse
            - self.environment_impulse
            - self.correction_impulse
    }
}

/// Keeps the ledger of a step, if it is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerBuilder {
    ledger: Option<Ledger>,
    terms: ContactTerms,
    /// Kinetic energy when it was last looked at, and the springs' when the step began.
    seen: f64,
    springs: f64,
}

impl LedgerBuilder {
    pub(crate) fn open(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        potentials: &[Potential],
        settings: &Settings,
    ) {
        self.ledger = None;
        self.terms = ContactTerms::default();
        if settings.audit {
            self.seen = kinetic_energy(bodies);
            self.springs = spring_energy(bodies, joints);
            let fields = potential_energy(bodies, settings.gravity, potentials);
            self.ledger = Some(Ledger {
                kinetic_before: self.seen,
                potential_before: fields + self.springs,
                momentum_before: momentum(bodies),
                ..Ledger::default()
            });
        }
    }

    /// Enters what free motion did to the kinetic energy since the last look.
    pub(crate) fn before_kick(&mut self, bodies: &BodySet) {
        if self.ledger.is_some() {
            let kinetic = kinetic_energy(bodies);
            self.terms.integration += kinetic - self.seen;
            self.seen = kinetic;
        }
    }

    pub(crate) fn add_work(&mut self, work: &Work, taken: f64) {
        if let Some(ledger) = &mut self.ledger {
            ledger.environment += work.environment;
            ledger.rest_speed_loss += work.unbounced;
            self.terms.restitution += work.normal;
            self.terms.friction += work.friction;
            self.terms.joints += work.joints;
            self.terms.integration += work.timing - taken;
        }
    }

    /// Enters what acted in a kick, at the poses where it acted.
    pub(crate) fn after_kick(
        &mut self,
        bodies: &BodySet,
        island: &Island,
        blocks: &[Block],
        kick: Impulses<'_>,
    ) {
        let Some(ledger) = &mut self.ledger else { return };
        self.seen = kinetic_energy(bodies);
        for &body in &island.bodies {
            let i = body as usize;
            let velocity = bodies.motions[i].velocity;
            let mean = (kick.before[i] + velocity - kick.energy_cut[i]) * 0.5;
            ledger.user += kick.user[i].dot(mean);
            ledger.damping += kick.damping[i].dot(mean);
            // Against this the change of potential energy is entered when the step is over.
            let correction = -kick.forces[i].dot(kick.corrections[i]) / kick.segment[i];
            self.terms.integration += kick.forces[i].dot(mean) - correction;
            self.terms.correction += correction;
            let position = bodies.poses[i].position;
            let taken = bodies.momentum_of(i, kick.energy_cut[i]);
            ledger.correction_impulse += about_origin(position, taken);
            let impulse = kick.forces[i] + kick.damping[i] + kick.user[i];
            ledger.force_impulse += about_origin(position, impulse);
            let momentum = velocity.linear * bodies.inertias[i].mass;
            let moved = kick.corrections[i].linear + kick.free_fall_shift(i, velocity);
            ledger.correction_impulse.angular += moved.cross(momentum);
        }
        for block in blocks {
            ledger.environment_impulse += from_environment(block, bodies);
        }
    }

    /// Enters the impulses of an impact, in which no time passes.
    pub(crate) fn after_impact(&mut self, bodies: &BodySet, blocks: &[Block]) {
        let Some(ledger) = &mut self.ledger else { return };
        self.seen = kinetic_energy(bodies);
        for block in blocks {
            ledger.environment_impulse += from_environment(block, bodies);
        }
    }

    /// Closes the books of a step.
    pub(crate) fn close(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        potentials: &[Potential],
        settings: &Settings,
    ) -> Option<Ledger> {
        self.before_kick(bodies);
        let mut ledger = self.ledger.take()?;
        let springs = spring_energy(bodies, joints);
        let fields = potential_energy(bodies, settings.gravity, potentials);
        ledger.kinetic = self.seen;
        ledger.potential = fields + springs;
        self.terms.joints += springs - self.springs;
        self.terms.integration += fields - (ledger.potential_before - self.springs);
        ledger.terms = Some(self.terms);
        ledger.momentum = momentum(bodies);
        Some(ledger)
    }

    /// The ledger of a step that measures the work of contacts and joints as a sum only, to be filled with what the
    /// step gave; `None` if it is not wanted.
    pub(crate) fn totals(&mut self) -> Option<&mut Ledger> {
        self.ledger.as_mut()
    }

    /// Closes the books of such a step.
    pub(crate) fn close_totals(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        potentials: &[Potential],
        settings: &Settings,
    ) -> Option<Ledger> {
        let mut ledger = self.ledger.take()?;
        ledger.kinetic = kinetic_energy(bodies);
        ledger.potential =
            potential_energy(bodies, settings.gravity, potentials) + spring_energy(bodies, joints);
        ledger.momentum = momentum(bodies);
        Some(ledger)
    }
}

/// What the environment gave to an inertial body through a block.
fn from_environment(block: &Block, bodies: &BodySet) -> SpatialVector {
    let inertial = block.bodies.map(|body| bodies.is_inertial(body as usize));
    if inertial[0] == inertial[1] {
        return SpatialVector::ZERO;
    }
    let side = usize::from(inertial[1]);
    let sign = if side == 1 { 1.0 } else { -1.0 };
    let mut given = SpatialVector::ZERO;
    for (row, r) in block.rows.iter().zip(block.impulse.to_array()) {
        let arm = if side == 1 { row.angular_b } else { row.angular_a };
        given += SpatialVector::new(row.linear, arm) * (r * sign);
    }
    about_origin(bodies.poses[block.bodies[side] as usize].position, given)
}

/// Energy stored in the joints' springs, J.
pub(crate) fn spring_energy(bodies: &BodySet, joints: &JointSet) -> f64 {
    let stored = joints.slots.iter().map(|index| {
        let joint = &joints.joints[index as usize];
        joint::energy(joint, joint.bodies.map(|body| &bodies.poses[body as usize]))
    });
    stored.sum()
}

/// An impulse on a body, about the world's origin.
pub(crate) fn about_origin(position: Vec3, impulse: SpatialVector) -> SpatialVector {
    SpatialVector::new(impulse.linear, impulse.angular + position.cross(impulse.linear))
}

/// Kinetic energy of all bodies, J.
pub(crate) fn kinetic_energy(bodies: &BodySet) -> f64 {
    bodies.inertial.iter().map(|&body| bodies.kinetic_energy(body as usize)).sum()
}

/// Potential energy of all bodies in the given fields, J.
pub(crate) fn potential_energy(bodies: &BodySet, gravity: Vec3, potentials: &[Potential]) -> f64 {
    bodies.inertial.iter().map(|&body| body_potential(bodies, body, gravity, potentials)).sum()
}

pub(crate) fn body_potential(
    bodies: &BodySet,
    body: u32,
    gravity: Vec3,
    potentials: &[Potential],
) -> f64 {
    let index = body as usize;
    let weight = gravity * (bodies.inertias[index].mass * bodies.loads[index].gravity_scale);
    let mut energy = -weight.dot(bodies.poses[index].position);
    if !potentials.is_empty() {
        let view = bodies.view(body);
        energy += potentials.iter().map(|potential| potential.energy(&view)).sum::<f64>();
    }
    energy
}

/// Linear momentum, and angular momentum about the world's origin.
pub(crate) fn momentum(bodies: &BodySet) -> SpatialVector {
    let mut sum = SpatialVector::ZERO;
    for &body in &bodies.inertial {
        let index = body as usize;
        let own = bodies.momentum_of(index, bodies.motions[index].velocity);
        sum += about_origin(bodies.poses[index].position, own);
    }
    sum
}
