//! Warnings through the `log` facade: a world says once for each cause that a step was not what was asked for.

use crate::bodies::BodySet;
use crate::events::Events;
use crate::id::BodyId;
use crate::report::StepReport;
use crate::settings::Settings;

/// The causes that a world has warned of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Warnings {
    not_converged: bool,
    unresolved_impacts: bool,
    exhausted: bool,
    quarantined: bool,
}

impl Warnings {
    /// Warns of what went wrong in a step, unless that was done before or nobody listens.
    pub(crate) fn give(
        &mut self,
        step: u64,
        settings: &Settings,
        bodies: &BodySet,
        report: &StepReport,
        events: &Events,
    ) {
        if !log::log_enabled!(log::Level::Warn) {
            return;
        }
        let warn = |given: &mut bool, message: String| {
            *given = true;
            log::warn!("step {step}: {message} (later steps do not repeat this warning)");
        };
        if !self.not_converged && report.converged() == Some(false) {
            let residual = report.residual().unwrap_or(f64::NAN);
            let tolerance = settings.tolerance;
            let worst = report.worst_violation.map(|worst| {
                let [a, b] = worst.bodies.map(|body| name(bodies, body));
                format!(", worst between {a} and {b}")
            });
            let worst = worst.unwrap_or_default();
            let message = format!(
                "impulses did not converge: residual {residual:.1e}, tolerance {tolerance:.1e}{worst}"
            );
            warn(&mut self.not_converged, message);
        }
        if !self.unresolved_impacts && report.unresolved_impacts > 0 {
            let impacts = counted(report.unresolved_impacts, "impact");
            let message = format!(
                "{impacts} did not bounce: `impact_work` was used up, or impacts followed each other without end"
            );
            warn(&mut self.unresolved_impacts, message);
        }
        if !self.exhausted && report.exhausted > 0 {
            let message = format!(
                "{} an island used up all `impact_work`: the rest of its substep was computed from contact points alone",
                counted(report.exhausted, "time")
            );
            warn(&mut self.exhausted, message);
        }
        if let (false, &[first, ..]) = (self.quarantined, events.quarantined()) {
            let (first, count) = (name(bodies, first), events.quarantined().len());
            let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            let message =
                format!("the state of {first}{more} was no longer finite and was put back");
            warn(&mut self.quarantined, message);
        }
    }
}

/// Returns a number of things in words.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Returns the name of a body, or its index if it has none.
fn name(bodies: &BodySet, body: BodyId) -> String {
    let name = &bodies.names[body.index()];
    if name.is_empty() { format!("body {}", body.index()) } else { format!("\"{name}\"") }
}
