//! What is worth jumping to: impacts, and where a check begins to warn.

use std::sync::Arc;

use msd_record::{BodyKey, Frame};
use serde::Serialize;

use crate::output;
use crate::verdict::Monitor;

use super::wire::{self, Numbers};

/// Impacts that are marked: the strongest.
const MOST_HITS: usize = 300;
/// Other marks: the first.
const MOST_OTHERS: usize = 200;

/// A step worth looking at.
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
    /// Hits of this impulse or less are not among the strongest, N s.
    weak: Option<f64>,
    others: Vec<Mark>,
    /// Checks that warned in the last step.
    warning: Vec<&'static str>,
    /// Whether there are some that nobody was told of.
    fresh: bool,
    /// What pages are told, and how often that changed.
    message: Arc<str>,
    version: u64,
}

impl Marks {
    /// Adds a step's.
    pub fn see(&mut self, frame: &Frame, watch: Option<&Monitor>, numbers: &Numbers) {
        let others = self.others.len();
        for hit in &frame.events.hits {
            if self.weak.is_some_and(|weak| hit.impulse <= weak) {
                continue;
            }
            self.fresh = true;
            let text = format!(
                "{} hit {} at {}, {}",
                numbers.name(hit.a),
                numbers.name(hit.b),
                output::quantity(hit.speed, "m/s"),
                output::quantity(hit.impulse, "N s")
            );
            self.hits.push(mark(frame, "hit", text, &[hit.a, hit.b], hit.impulse, numbers));
        }
        for body in &frame.events.quarantined {
            let text = format!("{} was not finite and put back", numbers.name(*body));
            self.others.push(mark(frame, "quarantined", text, &[*body], 1.0, numbers));
        }
        let warnings = watch.map_or_else(Vec::new, |watch| watch.warnings(frame));
        for warning in warnings.iter().filter(|found| !self.warning.contains(&found.check)) {
            let text = format!("{}: {}", warning.check, warning.message);
            let strength = warning.times;
            self.others.push(mark(frame, "warning", text, &warning.bodies, strength, numbers));
        }
        self.warning = warnings.iter().map(|warning| warning.check).collect();
        self.others.truncate(MOST_OTHERS);
        self.fresh |= self.others.len() != others;
        if self.hits.len() > 2 * MOST_HITS {
            self.hits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            self.hits.truncate(MOST_HITS);
            self.weak = self.hits.last().map(|weakest| weakest.strength);
        }
    }

    /// Lets pages know of new ones. Not after every step: in a heap there are new ones in each.
    pub fn tell(&mut self, epoch: u32) {
        if std::mem::take(&mut self.fresh) {
            self.message = wire::marks(&self.list(), epoch).into();
            self.version += 1;
        }
    }

    /// All of them as a message, and how often that changed.
    pub fn told(&self) -> (u64, &Arc<str>) {
        (self.version, &self.message)
    }

    /// All, by their steps.
    fn list(&self) -> Vec<Mark> {
        let mut hits: Vec<&Mark> = self.hits.iter().collect();
        hits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        hits.truncate(MOST_HITS);
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
    numbers: &Numbers,
) -> Mark {
    let bodies = bodies.iter().filter_map(|body| numbers.of(*body)).collect();
    Mark { step: frame.step, time: frame.time, kind, text, bodies, strength }
}
