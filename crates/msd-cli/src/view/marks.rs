//! The marks of the timeline: impacts, quarantined bodies, and steps at which a check begins to warn.

use std::sync::Arc;

use msd_record::{BodyKey, Frame};
use serde::Serialize;

use crate::output;
use crate::verdict::Monitor;

use super::body_table::BodyTable;
use super::wire;

/// Maximum number of marked impacts; the strongest are kept.
const MAX_HITS: usize = 300;
/// Maximum number of other marks; the first are kept.
const MAX_OTHERS: usize = 200;

/// An event on the timeline.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    step: u64,
    time: f64,
    kind: &'static str,
    text: String,
    bodies: Vec<u32>,
    strength: f64,
}

/// The marks of a run.
#[derive(Debug, Default)]
pub struct Marks {
    hits: Vec<Mark>,
    /// Impulse at or below which a hit is not among the strongest, N s.
    cutoff: Option<f64>,
    others: Vec<Mark>,
    /// Names of the checks that warned in the last step.
    warned: Vec<&'static str>,
    /// Whether there are unpublished marks.
    changed: bool,
    /// The last published message, and its version.
    message: Arc<str>,
    version: u64,
}

impl Marks {
    /// Adds the marks of a step.
    pub fn push(&mut self, frame: &Frame, monitor: Option<&Monitor>, table: &BodyTable) {
        let others = self.others.len();
        for hit in &frame.events.hits {
            if self.cutoff.is_some_and(|cutoff| hit.impulse <= cutoff) {
                continue;
            }
            self.changed = true;
            let text = format!(
                "{} hit {} at {}, {}",
                table.name(hit.a),
                table.name(hit.b),
                output::quantity(hit.speed, "m/s"),
                output::quantity(hit.impulse, "N s")
            );
            self.hits.push(mark(frame, "hit", text, &[hit.a, hit.b], hit.impulse, table));
        }
        for body in &frame.events.quarantined {
            let text = format!(
                "{} had a non-finite state: put back to where the step began, at rest",
                table.name(*body)
            );
            self.others.push(mark(frame, "quarantined", text, &[*body], 1.0, table));
        }
        let warnings = monitor.map_or_else(Vec::new, |monitor| monitor.warnings(frame));
        for warned in warnings.iter().filter(|found| !self.warned.contains(&found.check)) {
            let text = format!("{}: {}", warned.check, warned.message);
            let strength = warned.times;
            self.others.push(mark(frame, "warning", text, &warned.bodies, strength, table));
        }
        self.warned = warnings.iter().map(|warned| warned.check).collect();
        self.others.truncate(MAX_OTHERS);
        self.changed |= self.others.len() != others;
        if self.hits.len() > 2 * MAX_HITS {
            self.hits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            self.hits.truncate(MAX_HITS);
            self.cutoff = self.hits.last().map(|weakest| weakest.strength);
        }
    }

    /// Publishes new marks. Not called after every step: a falling pile has new ones in each.
    pub fn publish(&mut self, epoch: u32) {
        if std::mem::take(&mut self.changed) {
            self.message = wire::marks(&self.list(), epoch).into();
            self.version += 1;
        }
    }

    /// Returns the version and the text of the last published message.
    pub fn message(&self) -> (u64, &Arc<str>) {
        (self.version, &self.message)
    }

    /// Returns all marks, sorted by step.
    fn list(&self) -> Vec<Mark> {
        let mut hits: Vec<&Mark> = self.hits.iter().collect();
        hits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        hits.truncate(MAX_HITS);
        let mut all: Vec<Mark> = hits.into_iter().chain(&self.others).cloned().collect();
        all.sort_by_key(|mark| mark.step);
        all
    }
}

fn mark(
    frame: &Frame,
    kind: &'static str,
    text: String,
    bodies: &[BodyKey],
    strength: f64,
    table: &BodyTable,
) -> Mark {
    let bodies = bodies.iter().filter_map(|body| table.index_of(*body)).collect();
    Mark { step: frame.step, time: frame.time, kind, text, bodies, strength }
}
