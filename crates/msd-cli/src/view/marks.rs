//! The marks of the timeline: impacts, entries to sensors and exits from them, quarantined bodies, and steps at which a
//! check begins to warn.

use std::sync::Arc;

use msd_record::{BodyKey, ColliderKey, Frame};
use serde::Serialize;

use crate::output;
use crate::verdict::Monitor;

use super::body_table::BodyTable;
use super::wire;

/// Maximum number of marked impacts; the strongest are kept.
const MAX_HITS: usize = 300;
/// Maximum number of other marks; the first are kept.
const MAX_OTHERS: usize = 200;
/// Maximum number of marked entries to sensors and exits from them; the first are kept.
const MAX_SENSOR_EVENTS: usize = 300;

/// An event on the timeline.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    step: u64,
    time: f64,
    kind: &'static str,
    text: String,
    bodies: Vec<u32>,
    /// Positions of the two colliders in the lists of their bodies, for contacts.
    colliders: Vec<u32>,
    strength: f64,
}

/// The marks of a run.
#[derive(Debug, Default)]
pub struct Marks {
    hits: Vec<Mark>,
    /// Impulse at or below which a hit is not among the strongest, N s.
    cutoff: Option<f64>,
    others: Vec<Mark>,
    sensor_events: Vec<Mark>,
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
        let others = self.others.len() + self.sensor_events.len();
        for hit in &frame.events.hits {
            if self.cutoff.is_some_and(|cutoff| hit.impulse <= cutoff) {
                continue;
            }
            self.changed = true;
            let text = format!(
                "{} hit {} at {}, {}",
                table.collider_name(hit.a, hit.colliders[0]),
                table.collider_name(hit.b, hit.colliders[1]),
                output::quantity(hit.speed, "m/s"),
                output::quantity(hit.impulse, "N s")
            );
            let [a, b] = hit.colliders;
            let colliders = vec![table.collider_index(hit.a, a), table.collider_index(hit.b, b)];
            let hit = mark(frame, "hit", text, &[hit.a, hit.b], hit.impulse, table);
            self.hits.push(Mark { colliders, ..hit });
        }
        let events = &frame.events;
        let entered = events.entered.iter().map(|event| ("entered", event));
        for (what, event) in entered.chain(events.left.iter().map(|event| ("left", event))) {
            if self.sensor_events.len() == MAX_SENSOR_EVENTS {
                break;
            }
            let name = |collider: ColliderKey| match table.owner(collider) {
                Some(body) => table.collider_name(body, collider),
                None => format!("collider {}", collider.index),
            };
            let text = format!("{} {what} {}", name(event.other), name(event.sensor));
            let ends = [event.other, event.sensor];
            let bodies: Vec<BodyKey> = ends.iter().filter_map(|end| table.owner(*end)).collect();
            self.sensor_events.push(mark(frame, "sensor", text, &bodies, 1.0, table));
        }
        for body in &events.quarantined {
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
            let warning = mark(frame, "warning", text, &warned.bodies, strength, table);
            let colliders = match (warned.colliders, warned.bodies.as_slice()) {
                (Some([one, other]), &[a, b]) => {
                    vec![table.collider_index(a, one), table.collider_index(b, other)]
                }
                _ => Vec::new(),
            };
            self.others.push(Mark { colliders, ..warning });
        }
        self.warned = warnings.iter().map(|warned| warned.check).collect();
        self.others.truncate(MAX_OTHERS);
        self.changed |= self.others.len() + self.sensor_events.len() != others;
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
        let others = self.others.iter().chain(&self.sensor_events);
        let mut all: Vec<Mark> = hits.into_iter().chain(others).cloned().collect();
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
    let (step, time) = (frame.step, frame.time);
    Mark { step, time, kind, text, bodies, colliders: Vec::new(), strength }
}
