//! The totals of a run: energy terms summed over its ledgers, and event counts.

use msd_sim::{ContactTerms, Ledger};
use serde::Serialize;

/// The terms of the energy ledger: totals of a run, or time series.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Terms<T> {
    /// Kinetic energy, J.
    pub kinetic: T,
    /// Potential energy, springs of joints included, J; any sign.
    pub potential: T,
    /// Work of normal impulses since the start, J: positive if given to the bodies, negative if taken from them.
    pub normal_impulses: T,
    /// Work of friction, J.
    pub friction: T,
    /// Work of joints, without the energy stored in springs, J.
    pub joints: T,
    /// Work of position correction, J.
    pub position_correction: T,
    /// Work of damping and drag, J.
    pub damping: T,
    /// Work of user forces, J.
    pub applied_forces: T,
    /// Work of moving environment bodies, J.
    pub moving_environment: T,
    /// Integration error, J.
    pub integration: T,
    /// Work of contacts, joints and discretization together, J, in steps that measure only their sum.
    pub unsplit: T,
}

impl<T> Terms<T> {
    /// Returns all terms.
    pub fn each_mut(&mut self) -> [&mut T; 11] {
        // Destructured by name, so that a new term cannot be forgotten.
        let Self {
            kinetic,
            potential,
            normal_impulses,
            friction,
            joints,
            position_correction,
            damping,
            applied_forces,
            moving_environment,
            integration,
            unsplit,
        } = self;
        [
            kinetic,
            potential,
            normal_impulses,
            friction,
            joints,
            position_correction,
            damping,
            applied_forces,
            moving_environment,
            integration,
            unsplit,
        ]
    }
}

/// The totals of the energy ledgers of a run. Terms that no step measured are `None`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Energy {
    /// Kinetic and potential energy before the first step, J.
    pub initial: Option<f64>,
    /// Energies at the end, and total work.
    #[serde(flatten)]
    pub terms: Terms<Option<f64>>,
    /// Energy lost because impacts slower than `rest_speed` do not bounce, J.
    pub rest_speed_loss: Option<f64>,
    /// Energy added by contacts, joints and discretization, J, over the steps with swept bodies in which their sum is
    /// positive.
    pub gained: Option<f64>,
    /// Largest energy error of a step, J.
    pub worst_error: Option<f64>,
    /// Whether steps are missing, so that work cannot be summed.
    #[serde(skip)]
    partial: bool,
}

/// Adds to a sum that is `None` until its first value.
fn add(sum: &mut Option<f64>, value: f64) {
    *sum = Some(sum.unwrap_or(0.0) + value);
}

impl Energy {
    /// Clears the total work, which is unknown once steps are missing.
    pub fn skip(&mut self) {
        let [_kinetic, _potential, works @ ..] = self.terms.each_mut();
        works.into_iter().for_each(|work| *work = None);
        (self.initial, self.rest_speed_loss, self.gained) = (None, None, None);
        self.partial = true;
    }

    /// Adds the ledger of a step, in which bodies may have been `swept`.
    pub fn add(&mut self, ledger: &Ledger, first: bool, swept: bool) {
        // Destructured by name, so that a new ledger term cannot be forgotten.
        let &Ledger {
            kinetic_before: _,
            kinetic,
            potential_before: _,
            potential,
            damping,
            applied_forces,
            moving_environment,
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
        let totals = &mut self.terms;
        (totals.kinetic, totals.potential) = (Some(kinetic), Some(potential));
        if !self.partial {
            add(&mut totals.damping, damping);
            add(&mut totals.applied_forces, applied_forces);
            add(&mut totals.moving_environment, moving_environment);
            add(&mut self.rest_speed_loss, rest_speed_loss);
            if swept {
                add(&mut self.gained, ledger.contact_work().max(0.0));
            }
            match terms {
                None => add(&mut totals.unsplit, ledger.contact_work()),
                Some(ContactTerms {
                    normal_impulses,
                    friction,
                    joints,
                    position_correction,
                    integration,
                }) => {
                    add(&mut totals.normal_impulses, normal_impulses);
                    add(&mut totals.friction, friction);
                    add(&mut totals.joints, joints);
                    add(&mut totals.position_correction, position_correction);
                    add(&mut totals.integration, integration);
                }
            }
        }
        let Some(error) = ledger.energy_error().map(f64::abs) else { return };
        // NaN is kept.
        self.worst_error = Some(match self.worst_error {
            Some(worst) if !(error > worst || error.is_nan()) => worst,
            _ => error,
        });
    }
}

/// The number of events of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Pairs that began to touch.
    pub begun: u64,
    /// Pairs that stopped touching.
    pub ended: u64,
    /// Impacts.
    pub hits: u64,
    /// Bodies reset because their state was no longer finite.
    pub quarantined: u64,
}
