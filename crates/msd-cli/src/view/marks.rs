//! What is worth jumping to: impacts, and where a check begins to warn.

use msd_record::{BodyKey, Frame};
use serde::Serialize;

use crate::show;
use crate::verdict::Watch;

use super::wire::Numbers;

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
    others: Vec<Mark>,
    /// Checks that warned in the last step.
    warning: Vec<&'static str>,
    version: u64,
}

impl Marks {
    /// Adds a step's.
    pub fn see(&mut self, frame: &Frame, watch: Option<&Watch>, numbers: &Numbers) {
        let before = self.hits.len() + self.others.len();
        for hit in &frame.events.hits {
            let text = format!(
                "{} hit {} at {}, {}",
                numbers.name(hit.a),
                numbers.name(hit.b),
                show::quantity(hit.speed, "m/s"),
                show::quantity(hit.impulse, "N s")
            );
            self.hits.push(mark(frame, "hit", text, &[hit.a, hit.b], hit.impulse, numbers));
        }
        for body in &frame.events.contained {
            let text = format!("{} was not finite and put back", numbers.name(*body));
            self.others.push(mark(frame, "contained", text, &[*body], 1.0, numbers));
        }
        let warnings = watch.map_or_else(Vec::new, |watch| watch.warnings(frame));
        for warning in warnings.iter().filter(|found| !self.warning.contains(&found.check)) {
            let text = format!("{}: {}", warning.check, warning.message);
            let strength = warning.times;
            self.others.push(mark(frame, "warning", text, &warning.bodies, strength, numbers));
        }
        self.warning = warnings.iter().map(|warning| warning.check).collect();
        self.others.truncate(MOST_OTHERS);
        if self.hits.len() > 2 * MOST_HITS {
            self.hits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            self.hits.truncate(MOST_HITS);
        }
        self.version += u64::from(self.hits.len() + self.others.len() != before);
    }

    /// Raised when there are new ones.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// All, by their steps.
    pub fn list(&self) -> Vec<Mark> {
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
