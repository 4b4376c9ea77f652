//! The results of a step.

use crate::events::Events;
use crate::ledger::LedgerBuilder;
use crate::report::StepReport;
use crate::sensors::Sensors;
use crate::warnings::Warnings;

/// The results of the last step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Output {
    pub(crate) report: StepReport,
    pub(crate) events: Events,
    pub(crate) ledger: LedgerBuilder,
    pub(crate) sensors: Sensors,
    #[serde(skip)]
    pub(crate) warnings: Warnings,
}
