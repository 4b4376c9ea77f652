//! `msd verify`: repeats a recorded run and compares it bit for bit.

use msd_record::{ColliderKey, Difference, Frame, Recording, first_difference};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::failure::{Failure, Outcome};
use crate::names::Names;
use crate::output;
use crate::run::progress;
use crate::summary::{engine, note_if_cut_off, omissions, recorded_scene};

/// Reruns a recording.
pub fn verify(args: &VerifyArgs) -> Result<Outcome, Failure> {
    let recording = Recording::open(&args.recording)?;
    let (_, mut simulation) = recorded_scene(&recording, args.threads)?;
    let bar = progress(recording.steps(), args.quiet || args.json);
    let mut rerun = Frame::default();
    let (mut frames, mut steps, mut difference) = (0_u64, 0, None);
    for frame in recording.frames() {
        let recorded = frame?;
        while simulation.world().steps() < recorded.step {
            simulation.step();
        }
        rerun.fill(simulation.world());
        difference = first_difference(&recorded, &rerun);
        if difference.is_some() {
            break;
        }
        frames += 1;
        steps = recorded.step;
        bar.set_position(recorded.step);
    }
    bar.finish_and_clear();
    if difference.is_none() {
        recording.check_bytes()?;
    }
    let header = recording.header();
    let same = difference.is_none();
    if args.json {
        let object = json!({
            "recording": args.recording.display().to_string(),
            "verified": same,
            "steps": steps,
            "frames": frames,
            "complete": recording.is_complete(),
            "engine": engine(),
            "recorded_engine": header.engine,
            "difference": difference.as_ref().map(|d| as_json(d, "recorded", "now")),
        });
        output::print(&object.to_string());
        return Outcome::from(same);
    }
    if header.engine != engine() {
        output::eprint(&format!(
            "note: recorded by {}; this is {}. Another version may compute other bits on purpose (CHANGELOG.md)",
            header.engine,
            engine()
        ));
    }
    note_if_cut_off(&recording);
    match difference {
        None => {
            let omissions =
                omissions(&recording).map_or(String::new(), |what| format!(" ({what})"));
            output::print(&format!("identical: all {steps} steps match bit for bit{omissions}"));
        }
        Some(found) => output::print(&explain(&found, &recording, "recorded", "now")),
    }
    Outcome::from(same)
}

/// Describes a difference with the names of its bodies or colliders.
pub fn explain(found: &Difference, recording: &Recording, a: &str, b: &str) -> String {
    let name = |index: u32| {
        let info = recording.bodies().iter().find(|info| info.body.index == index);
        output::body(info.map_or("", |info| &info.name), index)
    };
    let names = Names::of_recording(recording);
    let collider = |key: ColliderKey, body: Option<u32>| match (names.owner(key), body) {
        (Some(body), _) => names.quoted_collider(body, key),
        (None, Some(index)) => name(index),
        (None, None) => format!("collider {}", key.index),
    };
    let bodies = match (found.colliders, found.other, found.body) {
        (Some([a, b]), other, body) => {
            format!(", {} and {}", collider(a, other), collider(b, body))
        }
        (None, Some(other), Some(body)) => format!(", {} and {}", name(other), name(body)),
        (None, None, Some(body)) => format!(", {}", name(body)),
        _ => String::new(),
    };
    let Difference { step, stage, field, .. } = found;
    format!(
        "differs first at step {step}, {stage}{bodies}, {field}:\n  {a:<9} {}\n  {b:<9} {}",
        found.a, found.b
    )
}

/// Returns a difference as JSON.
pub fn as_json(found: &Difference, a: &str, b: &str) -> serde_json::Value {
    json!({
        "step": found.step,
        "stage": found.stage.to_string(),
        "body": found.body,
        "other": found.other,
        "colliders": found.colliders.map(|pair| pair.map(|key| key.index)),
        "field": found.field,
        a: found.a.to_string(),
        b: found.b.to_string(),
    })
}
