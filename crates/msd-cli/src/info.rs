//! `msd info`: shows the contents of a recording.

use msd_record::{ColliderInfo, RecordError, Recording, ShapeInfo};
use msd_sim::{BodyKind, StepReport};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::summary::{accuracy_of, notes_of, omissions};
use crate::verdict::{Check, conclusion};

/// Prints the contents of a recording.
pub fn info(args: &InfoArgs) -> Result<Outcome, Failure> {
    let recording = Recording::open(&args.recording)?;
    let (header, bodies) = (recording.header(), recording.bodies());
    let inertial = bodies.iter().filter(|body| body.kind == BodyKind::Inertial).count();
    let size = std::fs::metadata(&args.recording).map_or(0, |data| data.len());
    let integrity = Integrity::of(&recording, size)?;
    let outcome = Outcome::from(!matches!(integrity, Integrity::Changed(_)));
    if args.json {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        let bodies: Vec<Value> = bodies
            .iter()
            .map(|body| {
                let kind = if body.kind == BodyKind::Inertial { "inertial" } else { "environment" };
                json!({
                    "index": body.body.index,
                    "generation": body.body.generation,
                    "name": body.name,
                    "kind": kind,
                    "mass": body.mass,
                    "first_step": body.first_step,
                    "colliders": body.colliders.iter().map(collider).collect::<Vec<_>>(),
                })
            })
            .collect();
        let object = json!({
            "recording": args.recording.display().to_string(),
            "bytes": size,
            "complete": recording.is_complete() && !matches!(integrity, Integrity::Changed(_)),
            "integrity": integrity.word(),
            "integrity_reason": integrity.text(),
            "engine": header.engine,
            "title": header.title,
            "dt": header.dt,
            "steps": recording.steps(),
            "planned_steps": header.planned_steps,
            "threads": header.threads,
            "accuracy": recording.settings().map(|settings| settings.accuracy.name()),
            "recorded": { "every": header.recorded.every, "contacts": header.recorded.contacts },
            "bodies": bodies,
            "scene": parse(&header.scene),
            "summary": recording.summary().map_or(Value::Null, parse),
        });
        output::print(&object.to_string());
        return outcome;
    }
    let fact = |label: &str, value: String| (label.to_owned(), value);
    let time = recording.steps() as f64 * header.dt;
    let colliders = bodies.iter().map(|body| body.colliders.len()).sum::<usize>();
    let colliders = match bodies.iter().all(|body| body.colliders.len() == 1) {
        true => String::new(),
        false => format!(", {}", output::count(colliders, "collider")),
    };
    let mut facts = vec![
        fact("title", output::plain(&header.title)),
        fact("engine", header.engine.clone()),
        fact("steps", format!("{} of {}", recording.steps(), header.planned_steps)),
        fact("recorded", omissions(&recording).unwrap_or_else(|| "every step".to_owned())),
        fact("time step", output::quantity(header.dt, "s")),
        fact("simulated", output::duration(time)),
        fact("bodies", format!("{} ({inertial} inertial){colliders}", bodies.len())),
        fact("size", output::bytes(size)),
        fact("file", integrity.text()),
    ];
    if let Some(settings) = recording.settings() {
        facts.push(fact("accuracy", accuracy_of(settings)));
    }
    if let Ok(frame) = recording.frame(recording.steps()) {
        let StepReport { exact, swept, resting, asleep, .. } = frame.report;
        if exact + swept + asleep > 0 {
            let mut method = format!(
                "last step: {exact} exact ({resting} at rest), {swept} swept (approximate)"
            );
            if asleep > 0 {
                method = format!("{method}, {asleep} asleep");
            }
            facts.push(fact("method", method));
        }
        facts.push(fact("state hash", format!("{:016x}", frame.state_hash)));
    }
    let summary = recording.summary().and_then(|json| serde_json::from_str::<Value>(json).ok());
    let recorded = |key: &str| summary.as_ref().and_then(|summary| summary.get(key)).cloned();
    let notes = notes_of(&recording);
    facts.extend(notes.iter().map(|note| fact("note", output::plain(note))));
    if let Some(checks) = recorded("checks").and_then(of_json::<Vec<Check>>) {
        let interrupted = recorded("interrupted").is_some_and(|value| value == true);
        let said = conclusion(&checks, notes.len(), interrupted).1;
        let said = match integrity {
            Integrity::Whole => said,
            _ => format!("as recorded, not verified: {said}"),
        };
        facts.push(fact("checks", said));
    }
    output::print(&output::facts(&facts));
    outcome
}

/// Describes a collider as JSON.
fn collider(info: &ColliderInfo) -> Value {
    let shape = match info.shape {
        ShapeInfo::Sphere { .. } => "sphere",
        ShapeInfo::Capsule { .. } => "capsule",
        ShapeInfo::Cylinder { .. } => "cylinder",
        ShapeInfo::Cone { .. } => "cone",
        ShapeInfo::Cuboid { .. } => "cuboid",
        ShapeInfo::HalfSpace { .. } => "half_space",
        ShapeInfo::Hull { .. } => "hull",
    };
    json!({
        "index": info.collider.index,
        "generation": info.collider.generation,
        "name": info.name,
        "shape": shape,
        "position": info.place.position.to_array(),
        "rotation": info.place.rotation.to_array(),
        "friction": info.material.friction(),
        "restitution": info.material.restitution(),
        "sensor": info.is_sensor,
        "enabled": info.is_enabled,
    })
}

/// Size up to which all bytes of a recording are compared with its checksums, bytes: they are read in a tenth of a second.
const MAX_CHECKED: u64 = 256 << 20;

/// Whether a recording is as it was written.
enum Integrity {
    /// It is, byte for byte.
    Whole,
    /// It is not, for this reason.
    Changed(String),
    /// Its checksums were not compared.
    NotChecked,
    /// It has no end, and no checksum of the whole.
    Truncated,
}

impl Integrity {
    fn of(recording: &Recording, size: u64) -> Result<Self, Failure> {
        if size > MAX_CHECKED {
            return Ok(Self::NotChecked);
        }
        match recording.check_bytes() {
            Ok(()) if !recording.is_complete() => Ok(Self::Truncated),
            Ok(()) => Ok(Self::Whole),
            Err(RecordError::Changed { reason, .. }) => Ok(Self::Changed(reason.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Whole => "verified",
            Self::Changed(_) => "damaged",
            Self::NotChecked | Self::Truncated => "not_verified",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Whole => "complete, all checksums match; `msd verify` also repeats the run",
            Self::NotChecked => "not verified: too large to compare its checksums here; `msd verify` does",
            Self::Truncated => "truncated, so there is no checksum of the whole; each chunk is verified when it is read",
            Self::Changed(reason) => return format!("damaged: {reason}"),
        }
        .to_owned()
    }
}

fn of_json<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}
