//! The reference scales that errors of a run are measured against.

use msd_record::{BodyKey, Frame};
use serde::Serialize;

use crate::departures::{Departures, Falls};

use msd_sim::{Body, ContactTerms, Ledger, World};

/// What is less than this is rounding of the numbers that a figure was computed from.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rounding {
    /// Of energies, J.
    pub energy: f64,
    /// Of momenta, N s.
    pub momentum: f64,
    /// Of lengths, m.
    pub length: f64,
}

/// The reference scales of a run: sums of magnitudes, in which nothing cancels for any motion.
#[derive(Debug, Default)]
pub struct Scales {
    /// Mass (kg) and half of the least width (m) of each body, by index.
    bodies: Vec<(f64, f64)>,
    /// Largest kinetic energy, J.
    kinetic: f64,
    /// Least and largest potential energy, J: its zero is arbitrary.
    potential: Option<[f64; 2]>,
    /// What bodies gained by falling past everything until the last step.
    falls: Falls,
    /// Largest sum of the magnitudes of all work in a step, J.
    work: f64,
    /// Energy to lift every body by its half width, J: the scale of scenes at rest.
    lift: f64,
    /// Sum of the magnitudes of all momenta and impulses: linear, N s; angular about the origin, N m s.
    linear: f64,
    angular: f64,
}

impl Scales {
    /// Creates the scales of a world before its first step.
    pub fn new(world: &World) -> Self {
        let gravity = world.settings().gravity.length();
        let mut scales = Self::default();
        for body in world.bodies() {
            scales.add(&body, gravity);
        }
        scales
    }

    /// Adds a body.
    pub fn add(&mut self, body: &Body<'_>, gravity: f64) {
        let (index, size) = (body.id().index(), body.size());
        if self.bodies.len() <= index {
            self.bodies.resize(index + 1, (0.0, f64::INFINITY));
        }
        self.bodies[index] = (body.mass(), size);
        if body.mass() > 0.0 {
            self.lift += body.mass() * gravity * size;
        }
    }

    /// Returns half of the least width of a body, m; infinite for unbounded shapes.
    pub fn size(&self, body: BodyKey) -> f64 {
        self.bodies.get(body.index as usize).map_or(f64::INFINITY, |(_, size)| *size)
    }

    /// Returns the mass of a body, kg; zero for environment bodies.
    pub fn mass(&self, body: BodyKey) -> f64 {
        self.bodies.get(body.index as usize).map_or(0.0, |(mass, _)| *mass)
    }

    /// Returns the energy in motion, J: kinetic or released potential energy, plus the energy to lift all bodies.
    pub fn energy(&self) -> f64 {
        let [least, most] = self.potential.unwrap_or_default();
        self.kinetic.max(most - least) + self.lift
    }

    /// Returns the magnitude of the numbers summed in the ledger, J, which sets its rounding error.
    pub fn ledger_magnitude(&self) -> f64 {
        let [least, most] = self.potential.unwrap_or_default();
        self.energy() + least.abs().max(most.abs()) + self.work
    }

    /// Returns the rounding of a sum over `steps` ledgers, J: that of one addition in each.
    pub fn energy_rounding(&self, steps: u64) -> f64 {
        f64::EPSILON * self.ledger_magnitude() * steps as f64
    }

    /// Returns the rounding of the momentum in a ledger, N s.
    pub fn momentum_rounding(&self) -> f64 {
        f64::EPSILON * self.linear
    }

    /// Returns the linear and angular momentum errors of a step, relative to their scales.
    pub fn momentum_shares(&self, ledger: &Ledger) -> [f64; 2] {
        let error = ledger.momentum_error();
        let linear = relative(error.linear.length(), self.linear);
        [linear, relative(error.angular.length(), self.angular)]
    }

    /// Updates the scales with a step. Energy and momentum of bodies that fall past everything count for nothing: they would
    /// grow without end, and any error would look small beside them.
    pub fn observe(&mut self, frame: &Frame, ledger: &Ledger, departures: &Departures) {
        let falls = departures.falls();
        let before = std::mem::replace(&mut self.falls, falls);
        self.kinetic = self
            .kinetic
            .max(ledger.kinetic - falls.kinetic)
            .max(ledger.kinetic_before - before.kinetic);
        for potential in
            [ledger.potential_before - before.potential, ledger.potential - falls.potential]
        {
            let [least, most] = self.potential.unwrap_or([potential; 2]);
            self.potential = Some([least.min(potential), most.max(potential)]);
        }
        self.work = self.work.max(work_magnitude(ledger));
        let impulses =
            [ledger.force_impulse, ledger.environment_impulse, ledger.correction_impulse];
        let mut linear: f64 = impulses.iter().map(|impulse| impulse.linear.length()).sum();
        linear += (ledger.momentum_before.linear - before.momentum).length();
        let (mut spin, mut reach) = (0.0, 0.0_f64);
        for state in frame.states.iter().filter(|state| !departures.falls_for_ever(state.body)) {
            let known = self.bodies.get(state.body.index as usize).copied();
            let (mass, size) = known.filter(|(_, size)| size.is_finite()).unwrap_or_default();
            linear += mass * state.velocity.length();
            // The order of magnitude of the spin of any shape.
            spin += mass * size * size * state.angular_velocity.length();
            reach = reach.max(state.position.length() + size);
        }
        self.linear = self.linear.max(linear);
        self.angular = self.angular.max(linear * reach + spin);
    }
}

fn work_magnitude(ledger: &Ledger) -> f64 {
    let parts = match ledger.terms {
        None => [ledger.contact_work(), 0.0, 0.0, 0.0, 0.0],
        Some(ContactTerms {
            normal_impulses,
            friction,
            joints,
            position_correction,
            integration,
        }) => [normal_impulses, friction, joints, position_correction, integration],
    };
    let outside = [ledger.damping, ledger.applied_forces, ledger.moving_environment];
    parts.iter().chain(&outside).map(|work| work.abs()).sum()
}

/// Returns `value / scale`, and 0 for a zero value of any scale.
pub fn relative(value: f64, scale: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / scale }
}
