//! `msd diff`: compares two recordings step by step, or two scenes by meaning.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use msd_record::{BodyKey, BodyState, ColliderInfo, Frame, Recording, ShapeInfo, first_difference};
use msd_scene::{Change, Options, changes};
use msd_sim::math::Vec3;
use serde_json::{Value, json};

use crate::args::DiffArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::run::open;
use crate::summary::omissions;
use crate::verify::{as_json, explain};

/// Compares two recordings or two scenes.
pub fn diff(args: &DiffArgs) -> Result<Outcome, Failure> {
    match (is_recording(&args.a), is_recording(&args.b)) {
        (true, true) => recordings(args),
        (false, false) => scenes(args),
        _ => {
            Err(Failure::Input("expected two recordings or two scenes, not one of each".to_owned()))
        }
    }
}

/// Returns whether the file is an MCAP file, by its first bytes or its extension.
pub fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 5];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    (read.is_ok() && magic == *b"\x89MCAP") || path.extension().is_some_and(|end| end == "mcap")
}

fn recordings(args: &DiffArgs) -> Result<Outcome, Failure> {
    let (a, b) = (Recording::open(&args.a)?, Recording::open(&args.b)?);
    let (mut same, mut found, mut divergence) = (0_u64, None, Divergence::default());
    let mut others = b.frames();
    let mut other = others.next().transpose()?;
    for frame in a.frames() {
        let frame = frame?;
        // Steps that only one recording holds are skipped.
        while other.as_ref().is_some_and(|other| other.step < frame.step) {
            other = others.next().transpose()?;
        }
        let Some(other) = &other else { break };
        if other.step > frame.step {
            continue;
        }
        if found.is_none() {
            found = first_difference(&frame, other);
            same = if found.is_none() { frame.step } else { same };
        }
        divergence.observe(&frame, other);
    }
    let lengths = (a.steps(), b.steps());
    let equal = found.is_none() && lengths.0 == lengths.1;
    let sizes = BodySizes::of(&a);
    if args.json {
        let difference = found.as_ref().map(|found| as_json(found, "a", "b"));
        let steps = json!([lengths.0, lengths.1]);
        let divergence = json!({ "last": sizes.json(&divergence.last), "largest": sizes.json(&divergence.largest) });
        let object =
            json!({ "same": equal, "steps": steps, "difference": difference, "apart": divergence });
        output::print(&object.to_string());
        return Outcome::from(equal);
    }
    let omitted = [("a", &a), ("b", &b)]
        .into_iter()
        .filter_map(|(name, recording)| Some(format!(" ({name}: {})", omissions(recording)?)));
    let omitted: String = omitted.collect();
    if let Some(found) = found {
        output::print(&explain(&found, &a, "a", "b"));
        output::print(&divergence.describe(&sizes));
    } else if equal {
        output::print(&format!("identical: all {same} steps match bit for bit{omitted}"));
    } else {
        let (a, b) = lengths;
        output::print(&format!("same for {same} steps, then one ends: {a} and {b} steps{omitted}"));
    }
    Outcome::from(equal)
}

/// The distance between two runs: at their last common step, and its maximum.
#[derive(Debug, Default)]
struct Divergence {
    last: Option<BodyOffset>,
    largest: Option<BodyOffset>,
}

/// The body with the largest distance from its position in the other run.
#[derive(Clone, Copy, Debug)]
struct BodyOffset {
    step: u64,
    body: BodyKey,
    /// Distance between the centers of mass, m.
    distance: f64,
}

impl Divergence {
    fn observe(&mut self, a: &Frame, b: &Frame) {
        let offset = |state: &BodyState| {
            let other = b.state(state.body.index).filter(|other| other.body == state.body)?;
            let distance = (state.position - other.position).length();
            Some(BodyOffset { step: a.step, body: state.body, distance })
        };
        let offsets = a.states.iter().filter_map(offset);
        self.last = offsets.max_by(|p, q| p.distance.total_cmp(&q.distance));
        let most = self.largest.map_or(-1.0, |offset| offset.distance);
        if let Some(offset) = self.last.filter(|offset| offset.distance > most) {
            self.largest = Some(offset);
        }
    }

    fn describe(&self, sizes: &BodySizes) -> String {
        let (Some(last), Some(largest)) = (&self.last, &self.largest) else {
            return "no body is in both runs at the same step".to_owned();
        };
        let mut text =
            format!("distance at the last common step, {}: {}", last.step, sizes.describe(last));
        if largest.step != last.step {
            text += &format!(
                "\nlargest distance, at step {}: {}",
                largest.step,
                sizes.describe(largest)
            );
        }
        text
    }
}

/// The names of bodies and their lengths, m.
struct BodySizes(HashMap<BodyKey, (String, f64)>);

impl BodySizes {
    fn of(recording: &Recording) -> Self {
        let bodies = recording.bodies().iter();
        Self(
            bodies
                .map(|info| (info.body, (info.name.clone(), longest_side(&info.colliders))))
                .collect(),
        )
    }

    fn get(&self, offset: &BodyOffset) -> (String, Option<f64>) {
        let (name, size) = self.0.get(&offset.body).cloned().unwrap_or_default();
        (name, (size > 0.0 && size.is_finite()).then(|| offset.distance / size))
    }

    fn describe(&self, offset: &BodyOffset) -> String {
        let (name, share) = self.get(offset);
        let share = share
            .map_or(String::new(), |share| format!(" ({} of its length)", output::share(share)));
        format!(
            "{}, {}{share}",
            output::body(&name, offset.body.index),
            output::quantity(offset.distance, "m")
        )
    }

    fn json(&self, offset: &Option<BodyOffset>) -> Value {
        let Some(offset) = offset else { return Value::Null };
        let (name, share) = self.get(offset);
        json!({
            "step": offset.step,
            "body": offset.body.index,
            "name": name,
            "distance": offset.distance,
            "relative": share,
        })
    }
}

/// Returns the longest side of the bounds of a body, m; zero without colliders.
fn longest_side(colliders: &[ColliderInfo]) -> f64 {
    let [low, high] = match colliders {
        [only] => return longest_side_of(&only.shape),
        all => [-1.0, 1.0].map(|sign| {
            let ends = all.iter().map(|collider| {
                let half = 0.5 * longest_side_of(&collider.shape);
                (collider.place.position * sign + Vec3::splat(half)) * sign
            });
            ends.reduce(|a, b| if sign > 0.0 { a.max(b) } else { a.min(b) })
        }),
    };
    low.zip(high).map_or(0.0, |(low, high)| (high - low).max_element())
}

/// Returns the longest side of the bounds of a shape, m.
fn longest_side_of(shape: &ShapeInfo) -> f64 {
    match shape {
        ShapeInfo::Sphere { radius } => 2.0 * radius,
        ShapeInfo::Capsule { radius, half_height } => 2.0 * (radius + half_height),
        ShapeInfo::Cylinder { radius, half_height } | ShapeInfo::Cone { radius, half_height } => {
            2.0 * radius.max(*half_height)
        }
        ShapeInfo::Cuboid { half_extents } => 2.0 * half_extents.max_element(),
        ShapeInfo::HalfSpace { .. } => f64::INFINITY,
        ShapeInfo::Hull { vertices, .. } => {
            let all = vertices.iter().copied();
            let (low, high) = (all.clone().reduce(Vec3::min), all.reduce(Vec3::max));
            low.zip(high).map_or(0.0, |(low, high)| (high - low).max_element())
        }
    }
}

fn scenes(args: &DiffArgs) -> Result<Outcome, Failure> {
    let options = Options::default();
    let (a, b) = (open(&args.a, &options)?, open(&args.b, &options)?);
    // Invalid scenes are rejected, not compared.
    a.build()?;
    b.build()?;
    let found = changes(a.scene(), b.scene())?;
    if args.json {
        let list: Vec<Value> = found
            .iter()
            .map(|Change { path, a, b }| json!({ "path": path, "a": a, "b": b }))
            .collect();
        output::print(&json!({ "same": found.is_empty(), "changes": list }).to_string());
    } else if found.is_empty() {
        output::print("same: both scenes have the same meaning");
    } else {
        for Change { path, a, b } in &found {
            output::print(&format!("{path}\n  a  {}\n  b  {}", shown(a), shown(b)));
        }
    }
    Outcome::from(found.is_empty())
}

fn shown(value: &Option<Value>) -> String {
    match value {
        None => "(absent)".to_owned(),
        Some(value) => {
            let text = value.to_string();
            match text.char_indices().nth(200) {
                Some((end, _)) => format!("{}...", &text[..end]),
                None => text,
            }
        }
    }
}
