//! The worst value of a quantity over a run.

use msd_record::BodyKey;

/// The worst value of a quantity and where it occurred; `None` if never measured.
#[derive(Clone, Debug, Default)]
pub(super) struct WorstValue {
    pub(super) value: Option<f64>,
    pub(super) step: Option<u64>,
    pub(super) bodies: Vec<BodyKey>,
}

impl WorstValue {
    pub(super) fn observe(&mut self, value: f64, step: u64, bodies: impl FnOnce() -> Vec<BodyKey>) {
        let known = self.value.unwrap_or(f64::NEG_INFINITY);
        if !known.is_nan() && (value > known || value.is_nan()) {
            *self = Self { value: Some(value), step: Some(step), bodies: bodies() };
        }
    }
}
