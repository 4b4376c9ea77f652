//! The worst value of a quantity over a run.

use msd_record::{BodyKey, ColliderKey, PairRecord};

/// The worst value of a quantity and where it occurred; `None` if never measured.
#[derive(Clone, Debug, Default)]
pub(super) struct WorstValue {
    pub(super) value: Option<f64>,
    pub(super) step: Option<u64>,
    pub(super) bodies: Vec<BodyKey>,
    /// The colliders of the two bodies, for a contact.
    pub(super) colliders: Option<[ColliderKey; 2]>,
}

impl WorstValue {
    pub(super) fn observe(&mut self, value: f64, step: u64, bodies: impl FnOnce() -> Vec<BodyKey>) {
        let known = self.value.unwrap_or(f64::NEG_INFINITY);
        if !known.is_nan() && (value > known || value.is_nan()) {
            let bodies = bodies();
            *self = Self { value: Some(value), step: Some(step), bodies, colliders: None };
        }
    }

    /// Observes the value of a contact.
    pub(super) fn observe_contact(&mut self, value: f64, step: u64, pair: &PairRecord) {
        let mut is_worst = false;
        self.observe(value, step, || {
            is_worst = true;
            vec![pair.a, pair.b]
        });
        if is_worst {
            self.colliders = Some(pair.colliders);
        }
    }
}
