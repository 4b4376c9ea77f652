//! `msd diff`: two recordings step by step, or two scenes by what they mean.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use msd_record::{Recording, first_difference};
use msd_scene::{Change, Options, changes};
use serde_json::{Value, json};

use crate::args::DiffArgs;
use crate::failure::{Failure, Outcome};
use crate::run::open;
use crate::show;
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
fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 5];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    (read.is_ok() && magic == *b"\x89MCAP") || path.extension().is_some_and(|end| end == "mcap")
}

fn recordings(args: &DiffArgs) -> Result<Outcome, Failure> {
    let (a, b) = (Recording::open(&args.a)?, Recording::open(&args.b)?);
    let (mut others, mut same) = (b.frames(), 0_u64);
    let mut found = None;
    for frame in a.frames() {
        let frame = frame?;
        let Some(other) = others.next() else { break };
        found = first_difference(&frame, &other?);
        if found.is_some() {
            break;
        }
        same = frame.step;
    }
    let lengths = (a.steps(), b.steps());
    let equal = found.is_none() && lengths.0 == lengths.1;
    if args.json {
        let difference = found.as_ref().map(|found| as_json(found, "a", "b"));
        let steps = json!([lengths.0, lengths.1]);
        show::out(&json!({ "same": equal, "steps": steps, "difference": difference }).to_string());
    } else if let Some(found) = found {
        show::out(&explain(&found, &a, "a", "b"));
    } else if equal {
        show::out(&format!("same: {same} steps, every bit"));
    } else {
        let (a, b) = lengths;
        show::out(&format!("same for {same} steps, then one ends: {a} and {b} steps"));
    }
    Outcome::from(equal)
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
