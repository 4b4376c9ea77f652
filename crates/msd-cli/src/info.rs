//! `msd info`: shows the contents of a recording.

use msd_record::Recording;
use msd_sim::{BodyKind, StepReport};
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::summary::{accuracy_of, omissions};

/// Prints the contents of a recording.
pub fn info(args: &InfoArgs) -> Result<Outcome, Failure> {
    let recording = Recording::open(&args.recording)?;
    let (header, bodies) = (recording.header(), recording.bodies());
    let inertial = bodies.iter().filter(|body| body.kind == BodyKind::Inertial).count();
    let size = std::fs::metadata(&args.recording).map_or(0, |data| data.len());
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
                })
            })
            .collect();
        let object = json!({
            "recording": args.recording.display().to_string(),
            "bytes": size,
            "complete": recording.is_complete(),
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
        return Ok(Outcome::Good);
    }
    let fact = |label: &str, value: String| (label.to_owned(), value);
    let time = recording.steps() as f64 * header.dt;
    let complete = if recording.is_complete() { "complete" } else { "truncated" };
    let mut facts = vec![
        fact("title", output::plain(&header.title)),
        fact("engine", header.engine.clone()),
        fact("steps", format!("{} of {}", recording.steps(), header.planned_steps)),
        fact("recorded", omissions(&recording).unwrap_or_else(|| "every step".to_owned())),
        fact("time step", output::quantity(header.dt, "s")),
        fact("simulated", output::duration(time)),
        fact("bodies", format!("{} ({inertial} inertial)", bodies.len())),
        fact("size", output::bytes(size)),
        fact("file", complete.to_owned()),
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
    if let Some(verdict) = verdict(recording.summary()) {
        facts.push(fact("checks", verdict));
    }
    output::print(&output::facts(&facts));
    Ok(Outcome::Good)
}

/// Returns the verdicts of the checks in words.
fn verdict(summary: Option<&str>) -> Option<String> {
    let summary: Value = serde_json::from_str(summary?).ok()?;
    let checks = summary.get("checks")?.as_array()?;
    let named = |verdict: &str| {
        let of = checks.iter().filter(|check| check["verdict"] == verdict);
        of.filter_map(|check| check["name"].as_str()).collect::<Vec<_>>().join(", ")
    };
    let parts = [("fail", "failed"), ("warn", "warned"), ("skip", "skipped")];
    let parts = parts.map(|(verdict, word)| (named(verdict), word));
    let parts = parts.into_iter().filter(|(names, _)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(names, word)| format!("{word}: {names}")).collect();
    Some(if parts.is_empty() { "all passed".to_owned() } else { parts.join("; ") })
}
