//! Sums and sizes of a run: what its ledgers add up to, and what errors are measured by.

use msd_record::{BodyKey, Frame};
use msd_sim::{Body, ContactTerms, Ledger, World};
use serde::Serialize;

/// The terms of the energy ledger: sums of a run, or their course.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Terms<T> {
    /// Kinetic energy, J.
    pub kinetic: T,
    /// Potential energy, springs of joints included, J; any sign.
    pub potential: T,
    /// Work of impacts since the start, J: positive was given to the bodies, negative taken from them.
    pub restitution: T,
    /// Work of friction, J.
    pub friction: T,
    /// Work of joints besides what springs store, J.
    pub joints: T,
    /// Work of corrections of position, J.
    pub correction: T,
    /// Work of damping and drag, J.
    pub damping: T,
    /// Work of the scene's forces, J.
    pub user: T,
    /// Work of environment bodies that move, J.
    pub environment: T,
    /// Error of integration, J.
    pub integration: T,
    /// Work of contacts, joints and discretisation together, J, of steps that measure only their sum.
    pub unsplit: T,
}

impl<T> Terms<T> {
    /// All of them.
    pub fn each_mut(&mut self) -> [&mut T; 11] {
        // By name, so that a term that is new is not forgotten.
        let Self {
            kinetic,
            potential,
            restitution,
            friction,
            joints,
            correction,
            damping,
            user,
            environment,
            integration,
            unsplit,
        } = self;
        [
            kinetic,
            potential,
            restitution,
            friction,
            joints,
            correction,
            damping,
            user,
            environment,
            integration,
            unsplit,
        ]
    }
}

/// What a run's ledgers add up to. A term that no step measured is absent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Energy {
    /// Kinetic and potential energy before the first step, J.
    pub initial: Option<f64>,
    /// Energies at the end, and works.
    #[serde(flatten)]
    pub terms: Terms<Option<f64>>,
    /// Energy that impacts slower than `rest_speed` lost because they do not bounce, J.
    pub rest_speed_loss: Option<f64>,
    /// What contacts, joints and discretisation added in those steps in which their sum added energy, J.
    pub gained: Option<f64>,
    /// Largest part of a step that the terms do not account for, J.
    pub worst_error: Option<f64>,
    /// Whether steps were left out, so that works do not add up.
    #[serde(skip)]
    partial: bool,
}

/// Adds to a sum that begins with its first value.
fn add(sum: &mut Option<f64>, value: f64) {
    *sum = Some(sum.unwrap_or(0.0) + value);
}

impl Energy {
    /// Forgets the works, which are not known any more: steps were left out.
    pub fn skip(&mut self) {
        let [_kinetic, _potential, works @ ..] = self.terms.each_mut();
        works.into_iter().for_each(|work| *work = None);
        (self.initial, self.rest_speed_loss, self.gained) = (None, None, None);
        self.partial = true;
    }

    /// Adds a step's.
    pub fn add(&mut self, ledger: &Ledger, first: bool) {
        // By name, so that a term that is new in the ledger is not forgotten here.
        let &Ledger {
            kinetic_before: _,
            kinetic,
            potential_before: _,
            potential,
            damping,
            user,
            environment,
            rest_speed_loss,
            terms,
            momentum_before: _,
            momentum: _,
            force_impulse: _,
            environment_impulse: _,
            correction_impulse: _,
        } = ledger;
        if first && !self.partial {
            self.initial = Some(ledger.energy_before());
        }
        let sums = &mut self.terms;
        (sums.kinetic, sums.potential) = (Some(kinetic), Some(potential));
        if !self.partial {
            add(&mut sums.damping, damping);
            add(&mut sums.user, user);
            add(&mut sums.environment, environment);
            add(&mut self.rest_speed_loss, rest_speed_loss);
            match terms {
                None => {
                    add(&mut sums.unsplit, ledger.contact_work());
                    add(&mut self.gained, ledger.contact_work().max(0.0));
                }
                Some(ContactTerms { restitution, friction, joints, correction, integration }) => {
                    add(&mut sums.restitution, restitution);
                    add(&mut sums.friction, friction);
                    add(&mut sums.joints, joints);
                    add(&mut sums.correction, correction);
                    add(&mut sums.integration, integration);
                }
            }
        }
        let Some(error) = ledger.energy_error().map(f64::abs) else { return };
        // A NaN stays.
        self.worst_error = Some(match self.worst_error {
            Some(worst) if !(error > worst || error.is_nan()) => worst,
            _ => error,
        });
    }
}

/// How many events there were.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Pairs that began to touch.
    pub begun: u64,
    /// Pairs that ceased to touch.
    pub ended: u64,
    /// Impacts.
    pub hits: u64,
    /// Bodies put back because their state was no longer finite.
    pub quarantined: u64,
}

/// What errors are measured by: sizes that nothing cancels in, whatever the motion.
#[derive(Debug, Default)]
pub struct Scales {
    /// Mass of each body, and half its least width, by index.
    bodies: Vec<(f64, f64)>,
    /// Most kinetic energy, J.
    kinetic: f64,
    /// Least and greatest potential energy, J: its zero means nothing.
    potential: Option<[f64; 2]>,
    /// What it takes to lift every body by its half width, J: for scenes at rest.
    lift: f64,
    /// Momentum of all bodies, sizes added up, and impulses, N s; about the origin, N m s.
    linear: f64,
    angular: f64,
}

impl Scales {
    /// Of a world before its first step.
    pub fn new(world: &World) -> Self {
        let gravity = world.settings().gravity.length();
        let mut scales = Self::default();
        for body in world.bodies() {
            scales.add(&body, gravity);
        }
        scales
    }

    /// With another body.
    pub fn add(&mut self, body: &Body<'_>, gravity: f64) {
        let (index, size) = (body.id().index(), 0.5 * body.shape().least_width());
        if self.bodies.len() <= index {
            self.bodies.resize(index + 1, (0.0, f64::INFINITY));
        }
        self.bodies[index] = (body.mass(), size);
        if body.mass() > 0.0 {
            self.lift += body.mass() * gravity * size;
        }
    }

    /// Half the least width of a body, m; infinite for what has no end.
    pub fn size(&self, body: BodyKey) -> f64 {
        self.bodies.get(body.index as usize).map_or(f64::INFINITY, |(_, size)| *size)
    }

    /// Energy that can be told from any other by motion, J.
    pub fn energy(&self) -> f64 {
        let [least, most] = self.potential.unwrap_or_default();
        self.kinetic.max(most - least) + self.lift
    }

    /// The numbers that are added up in the ledger, J: their rounding is what remains.
    pub fn booked(&self) -> f64 {
        let [least, most] = self.potential.unwrap_or_default();
        self.energy() + least.abs().max(most.abs())
    }

    /// The momentum that a step's impulses do not account for, linear and angular, as shares.
    pub fn momentum_shares(&self, ledger: &Ledger) -> [f64; 2] {
        let error = ledger.momentum_error();
        let linear = relative(error.linear.length(), self.linear);
        [linear, relative(error.angular.length(), self.angular)]
    }

    /// Takes in a step.
    pub fn see(&mut self, frame: &Frame, ledger: &Ledger) {
        self.kinetic = self.kinetic.max(ledger.kinetic).max(ledger.kinetic_before);
        for potential in [ledger.potential_before, ledger.potential] {
            let [least, most] = self.potential.unwrap_or([potential; 2]);
            self.potential = Some([least.min(potential), most.max(potential)]);
        }
        let impulses =
            [ledger.force_impulse, ledger.environment_impulse, ledger.correction_impulse];
        let mut linear: f64 = impulses.iter().map(|impulse| impulse.linear.length()).sum();
        linear += ledger.momentum_before.linear.length();
        let (mut spin, mut reach) = (0.0, 0.0_f64);
        for state in &frame.states {
            let known = self.bodies.get(state.body.index as usize).copied();
            let (mass, size) = known.filter(|(_, size)| size.is_finite()).unwrap_or_default();
            linear += mass * state.velocity.length();
            // Of the order of the body's own, whatever its shape.
            spin += mass * size * size * state.angular_velocity.length();
            reach = reach.max(state.position.length() + size);
        }
        self.linear = self.linear.max(linear);
        self.angular = self.angular.max(linear * reach + spin);
    }
}

/// A share of a scale; of nothing, nothing.
pub fn relative(value: f64, scale: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / scale }
}
