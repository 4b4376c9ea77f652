//! `msd diff`: two recordings step by step, or two scenes by what they mean.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use msd_record::{BodyKey, BodyState, Frame, Recording, ShapeInfo, first_difference};
use msd_scene::{Change, Options, changes};
use msd_sim::math::Vec3;
use serde_json::{Value, json};

use crate::args::DiffArgs;
use crate::failure::{Failure, Outcome};
use crate::run::open;
use crate::show;
use crate::summary::left_out;
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

/// MCAP files begin with eight bytes of their own.
pub fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 5];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    (read.is_ok() && magic == *b"\x89MCAP") || path.extension().is_some_and(|end| end == "mcap")
}

fn recordings(args: &DiffArgs) -> Result<Outcome, Failure> {
    let (a, b) = (Recording::open(&args.a)?, Recording::open(&args.b)?);
    let (mut same, mut found, mut apart) = (0_u64, None, Apart::default());
    let mut others = b.frames();
    let mut other = others.next().transpose()?;
    for frame in a.frames() {
        let frame = frame?;
        // Steps that only one of them holds are passed over.
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
        apart.see(&frame, other);
    }
    let lengths = (a.steps(), b.steps());
    let equal = found.is_none() && lengths.0 == lengths.1;
    let sizes = Sizes::of(&a);
    if args.json {
        let difference = found.as_ref().map(|found| as_json(found, "a", "b"));
        let steps = json!([lengths.0, lengths.1]);
        let apart =
            json!({ "last": sizes.json(&apart.last), "largest": sizes.json(&apart.largest) });
        let object =
            json!({ "same": equal, "steps": steps, "difference": difference, "apart": apart });
        show::out(&object.to_string());
        return Outcome::from(equal);
    }
    let thin = [("a", &a), ("b", &b)]
        .into_iter()
        .filter_map(|(name, recording)| Some(format!(" ({name}: {})", left_out(recording)?)));
    let thin: String = thin.collect();
    if let Some(found) = found {
        show::out(&explain(&found, &a, "a", "b"));
        show::out(&apart.words(&sizes));
    } else if equal {
        show::out(&format!("same: {same} steps, every bit{thin}"));
    } else {
        let (a, b) = lengths;
        show::out(&format!("same for {same} steps, then one ends: {a} and {b} steps{thin}"));
    }
    Outcome::from(equal)
}

/// How far two runs are apart: at the last step that both have, and at most.
#[derive(Debug, Default)]
struct Apart {
    last: Option<Gap>,
    largest: Option<Gap>,
}

/// The body that is furthest from where it is in the other run.
#[derive(Clone, Copy, Debug)]
struct Gap {
    step: u64,
    body: BodyKey,
    /// Between the centres of mass, m.
    distance: f64,
}

impl Apart {
    fn see(&mut self, a: &Frame, b: &Frame) {
        let gap = |state: &BodyState| {
            let other = b.state(state.body.index).filter(|other| other.body == state.body)?;
            let distance = (state.position - other.position).length();
            Some(Gap { step: a.step, body: state.body, distance })
        };
        let gaps = a.states.iter().filter_map(gap);
        self.last = gaps.max_by(|p, q| p.distance.total_cmp(&q.distance));
        let most = self.largest.map_or(-1.0, |gap| gap.distance);
        if let Some(gap) = self.last.filter(|gap| gap.distance > most) {
            self.largest = Some(gap);
        }
    }

    fn words(&self, sizes: &Sizes) -> String {
        let (Some(last), Some(largest)) = (&self.last, &self.largest) else {
            return "no body is in both at one step".to_owned();
        };
        let mut text =
            format!("apart at step {}, the last of both: {}", last.step, sizes.words(last));
        if largest.step != last.step {
            text +=
                &format!("\nfurthest apart, at step {}: {}", largest.step, sizes.words(largest));
        }
        text
    }
}

/// Names of bodies and how long they are, m.
struct Sizes(HashMap<BodyKey, (String, f64)>);

impl Sizes {
    fn of(recording: &Recording) -> Self {
        let bodies = recording.bodies().iter();
        Self(bodies.map(|info| (info.body, (info.name.clone(), longest(&info.shape)))).collect())
    }

    fn get(&self, gap: &Gap) -> (String, Option<f64>) {
        let (name, size) = self.0.get(&gap.body).cloned().unwrap_or_default();
        (name, (size > 0.0 && size.is_finite()).then(|| gap.distance / size))
    }

    fn words(&self, gap: &Gap) -> String {
        let (name, share) = self.get(gap);
        let share =
            share.map_or(String::new(), |share| format!(" ({} of its length)", show::share(share)));
        format!(
            "{} by {}{share}",
            show::body(&name, gap.body.index),
            show::quantity(gap.distance, "m")
        )
    }

    fn json(&self, gap: &Option<Gap>) -> Value {
        let Some(gap) = gap else { return Value::Null };
        let (name, share) = self.get(gap);
        json!({
            "step": gap.step,
            "body": gap.body.index,
            "name": name,
            "distance": gap.distance,
            "relative": share,
        })
    }
}

/// The longest side of a shape's bounds, m.
fn longest(shape: &ShapeInfo) -> f64 {
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
    // What cannot be built means nothing.
    a.build()?;
    b.build()?;
    let found = changes(a.scene(), b.scene())?;
    if args.json {
        let list: Vec<Value> = found
            .iter()
            .map(|Change { path, a, b }| json!({ "path": path, "a": a, "b": b }))
            .collect();
        show::out(&json!({ "same": found.is_empty(), "changes": list }).to_string());
    } else if found.is_empty() {
        show::out("same: both scenes mean the same");
    } else {
        for Change { path, a, b } in &found {
            show::out(&format!("{path}\n  a  {}\n  b  {}", shown(a), shown(b)));
        }
    }
    Outcome::from(found.is_empty())
}

fn shown(value: &Option<Value>) -> String {
    match value {
        None => "(not there)".to_owned(),
        Some(value) => {
            let text = value.to_string();
            match text.char_indices().nth(200) {
                Some((end, _)) => format!("{}...", &text[..end]),
                None => text,
            }
        }
    }
}
