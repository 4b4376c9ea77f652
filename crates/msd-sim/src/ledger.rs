//! The ledger: where the energy and momentum of a step went.

use crate::bodies::{BodySet, Potential};
use crate::constraints::{Work, joint};
use crate::islands::Island;
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::motion::{ForceImpulses, KickState};
use crate::settings::Settings;
use crate::solver::Block;

/// Energy and momentum of one step: before, after, and where the difference went.
///
/// All of it is measured in every world, by whichever method its bodies are stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ledger {
    /// Kinetic energy before the step, J.
    pub kinetic_before: f64,
    /// Kinetic energy after the step, J.
    pub kinetic: f64,
    /// Potential energy before the step, including springs of joints, J.
    pub potential_before: f64,
    /// Potential energy after the step, J.
    pub potential: f64,
    /// Work of damping and drag, J.
    pub damping: f64,
    /// Work of the user's forces, J.
    pub applied_forces: f64,
    /// Work of moving environment bodies, J.
    pub moving_environment: f64,
    /// Energy lost by impacts slower than [`Settings::rest_speed`](crate::Settings::rest_speed), which do not bounce,
    /// J, 0 or more: `e^2` times the energy that their normal impulses dissipated. It is part of
    /// [`contact_work`](Self::contact_work), not in addition to it.
    pub rest_speed_loss: f64,
    /// Work of contacts, joints and discretization by kind. A step always measures it; `None` only in recordings of earlier
    /// versions, which measured just the sum in swept steps.
    pub terms: Option<ContactTerms>,
    /// Momentum before the step: linear (N s), and angular about the world's origin (N m s).
    pub momentum_before: SpatialVector,
    /// Momentum after the step.
    pub momentum: SpatialVector,
    /// Impulse of forces.
    pub force_impulse: SpatialVector,
    /// Impulse from environment bodies.
    pub environment_impulse: SpatialVector,
    /// Momentum changed by corrections of position and energy. In swept steps only that of bodies that fall asleep: the
    /// rest is part of [`momentum_error`](Self::momentum_error).
    pub correction_impulse: SpatialVector,
}

/// Work of contacts, joints and discretization in one step, by kind.
///
/// Each term is accumulated where it arises, so [`Ledger::energy_error`] is a true check: it is rounding, or a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContactTerms {
    /// Work of normal impulses, J: the energy that restitution returns less the energy that impacts take.
    pub normal_impulses: f64,
    /// Work of friction, J, by relative velocities: negative, up to the residual of the solve.
    pub friction: f64,
    /// Work of joints other than the energy stored in springs, J.
    pub joints: f64,
    /// Potential energy gained by pushing overlapping bodies apart and closing joints, J.
    pub position_correction: f64,
    /// Error of the integration of forces and rotation, J; in exact steps limited so that bodies in contact gain no
    /// energy. It includes the energy of bodies that fall asleep, and of motion cut off by continuous collision detection.
    pub integration: f64,
}

impl ContactTerms {
    /// Returns the sum of all terms, J.
    pub fn sum(&self) -> f64 {
        self.normal_impulses
            + self.friction
            + self.joints
            + self.position_correction
            + self.integration
    }
}

impl Ledger {
    /// Returns the kinetic and potential energy after the step, J.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Returns the kinetic and potential energy before the step, J.
    pub fn energy_before(&self) -> f64 {
        self.kinetic_before + self.potential_before
    }

    /// Returns the work of contacts, joints and discretization together, J: the change of energy that applied forces,
    /// damping and moving environment bodies do not account for. Contacts and rigid joints can only dissipate energy,
    /// so a positive sum is energy created by the step.
    pub fn contact_work(&self) -> f64 {
        self.energy()
            - self.energy_before()
            - self.damping
            - self.applied_forces
            - self.moving_environment
    }

    /// Returns the energy that the terms do not account for, J; `None` where [`terms`](Self::terms) are absent.
    pub fn energy_error(&self) -> Option<f64> {
        let terms = self.terms.as_ref()?;
        let change = self.energy() - self.kinetic_before - self.potential_before;
        let accounted = terms.normal_impulses
            + terms.friction
            + terms.joints
            + terms.position_correction
            + self.damping
            + self.applied_forces
            + self.moving_environment
            + terms.integration;
        Some(change - accounted)
    }

    /// Returns the energy dissipated by impacts, friction and damping, J: positive. `None` where [`terms`](Self::terms)
    /// are absent.
    pub fn dissipated(&self) -> Option<f64> {
        self.terms.as_ref().map(|terms| -(terms.normal_impulses + terms.friction + self.damping))
    }

    /// Returns the momentum that the impulses do not account for. It is rounding in exact steps; swept steps conserve
    /// linear momentum to rounding, and angular momentum to first order in the time step.
    pub fn momentum_error(&self) -> SpatialVector {
        self.momentum
            - self.momentum_before
            - self.force_impulse
            - self.environment_impulse
            - self.correction_impulse
    }
}

/// Sums over the passes of a swept step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassSums {
    /// Work of contacts and joints.
    pub(crate) work: Work,
    /// Change of kinetic energy in the passes, as measured, J.
    pub(crate) kinetic_change: f64,
    /// Work of gravity and fields, of damping, and of the user's forces, J.
    pub(crate) by_fields: f64,
    pub(crate) by_damping: f64,
    pub(crate) by_user: f64,
    /// Potential energy gained by corrections of positions, J.
    pub(crate) correction: f64,
    /// Impulses of forces and of environment bodies about the world's origin.
    pub(crate) force_impulse: SpatialVector,
    pub(crate) from_environment: SpatialVector,
}

/// The ledger of a step while it is being filled, if it was asked for.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct LedgerBuilder {
    ledger: Option<Ledger>,
    terms: ContactTerms,
    /// Kinetic energy when it was last measured, and energy of the springs at the start of the step, J.
    seen: f64,
    springs: f64,
}

impl LedgerBuilder {
    /// Opens the ledger of a step, if it was asked for.
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

    /// Adds the impulses on bodies at rest over a step: what holds them is the opposite of the forces on them, to the
    /// tolerance of the solver, and comes from the environment.
    pub(crate) fn add_resting(
        &mut self,
        bodies: &BodySet,
        potentials: &[Potential],
        gravity: Vec3,
        dt: f64,
        resting: impl Iterator<Item = u32>,
    ) {
        let Some(ledger) = &mut self.ledger else { return };
        for body in resting {
            let view = || bodies.view(body);
            let acting = ForceImpulses::on(bodies, potentials, gravity, body, dt, view);
            let impulse = acting.forces.about_origin(bodies.poses[body as usize].position);
            ledger.force_impulse += impulse;
            ledger.environment_impulse = ledger.environment_impulse - impulse;
        }
    }

    /// Adds the change of kinetic energy by free motion since it was last measured.
    pub(crate) fn before_kick(&mut self, bodies: &BodySet) {
        if self.ledger.is_some() {
            let kinetic = kinetic_energy(bodies);
            self.terms.integration += kinetic - self.seen;
            self.seen = kinetic;
        }
    }

    pub(crate) fn add_work(&mut self, work: &Work, taken: f64) {
        if let Some(ledger) = &mut self.ledger {
            ledger.moving_environment += work.environment;
            ledger.rest_speed_loss += work.unbounced;
            self.terms.normal_impulses += work.normal;
            self.terms.friction += work.friction;
            self.terms.joints += work.joints;
            self.terms.integration += work.timing - taken;
        }
    }

    /// Adds the work and impulses of a kick, at the poses where they acted.
    pub(crate) fn after_kick(
        &mut self,
        bodies: &BodySet,
        island: &Island,
        blocks: &[Block],
        kick: &KickState,
    ) {
        let Some(ledger) = &mut self.ledger else { return };
        self.seen = kinetic_energy(bodies);
        for &body in &island.bodies {
            let i = body as usize;
            let velocity = bodies.motions[i].velocity;
            let mean = (kick.before[i] + velocity - kick.energy_cut[i]) * 0.5;
            ledger.applied_forces += kick.user[i].dot(mean);
            ledger.damping += kick.damping[i].dot(mean);
            // The change of potential energy is added against this at the end of the step.
            let correction = -kick.forces[i].dot(kick.corrections[i]) / kick.segment[i];
            self.terms.integration += kick.forces[i].dot(mean) - correction;
            self.terms.position_correction += correction;
            let position = bodies.poses[i].position;
            let taken = bodies.momentum_of(i, kick.energy_cut[i]);
            ledger.correction_impulse += taken.about_origin(position);
            let impulse = kick.forces[i] + kick.damping[i] + kick.user[i];
            ledger.force_impulse += impulse.about_origin(position);
            let momentum = velocity.linear * bodies.inertias[i].mass;
            let moved = kick.corrections[i].linear + kick.fall_shift[i];
            ledger.correction_impulse.angular += moved.cross(momentum);
        }
        for block in blocks {
            ledger.environment_impulse += from_environment(block, bodies);
        }
    }

    /// Adds the impulses of an impact, in which no time passes.
    pub(crate) fn after_impact(&mut self, bodies: &BodySet, blocks: &[Block]) {
        let Some(ledger) = &mut self.ledger else { return };
        self.seen = kinetic_energy(bodies);
        for block in blocks {
            ledger.environment_impulse += from_environment(block, bodies);
        }
    }

    /// Adds the work and impulses of all passes of a swept step.
    pub(crate) fn add_passes(&mut self, sums: &PassSums) {
        self.add_work(&sums.work, 0.0);
        let Some(ledger) = &mut self.ledger else { return };
        self.seen += sums.kinetic_change;
        ledger.applied_forces += sums.by_user;
        ledger.damping += sums.by_damping;
        self.terms.integration += sums.by_fields - sums.correction;
        self.terms.position_correction += sums.correction;
        ledger.force_impulse += sums.force_impulse;
        ledger.environment_impulse += sums.from_environment;
    }

    /// Returns the ledger of the step, to be filled; `None` if it was not asked for.
    pub(crate) fn totals(&mut self) -> Option<&mut Ledger> {
        self.ledger.as_mut()
    }

    /// Closes the ledger of a step.
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
        ledger.momentum = momentum(bodies);
        self.terms.joints += springs - self.springs;
        self.terms.integration += fields - (ledger.potential_before - self.springs);
        ledger.terms = Some(self.terms);
        Some(ledger)
    }
}

/// Returns the impulse of the environment on an inertial body through a block.
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
    given.about_origin(bodies.poses[block.bodies[side] as usize].position)
}

/// Returns the energy stored in the joints' springs, J.
pub(crate) fn spring_energy(bodies: &BodySet, joints: &JointSet) -> f64 {
    let stored = joints.slots.iter().map(|index| {
        let joint = &joints.joints[index as usize];
        joint::energy(joint, joint.bodies.map(|body| &bodies.poses[body as usize]))
    });
    stored.sum()
}

/// Returns the kinetic energy of all bodies, J.
pub(crate) fn kinetic_energy(bodies: &BodySet) -> f64 {
    bodies.inertial.iter().map(|&body| bodies.kinetic_energy(body as usize)).sum()
}

/// Returns the potential energy of all bodies in the given fields, J.
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

/// Returns linear momentum, and angular momentum about the world's origin.
pub(crate) fn momentum(bodies: &BodySet) -> SpatialVector {
    let mut sum = SpatialVector::ZERO;
    for &body in &bodies.inertial {
        let index = body as usize;
        let own = bodies.momentum_of(index, bodies.motions[index].velocity);
        sum += own.about_origin(bodies.poses[index].position);
    }
    sum
}
