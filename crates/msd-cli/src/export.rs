//! `msd export`: the motion of a recording's bodies as a table.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use msd_record::{BodyKey, BodyState, Recording};
use serde::Serialize;

use crate::args::ExportArgs;
use crate::failure::{Failure, Outcome};
use crate::show;
use crate::summary::note_if_cut_off;

#[cfg(feature = "parquet")]
mod columns;

/// One body at one step. The names are those of the columns.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    step: u64,
    time: f64,
    body: &'a str,
    px: f64,
    py: f64,
    pz: f64,
    qx: f64,
    qy: f64,
    qz: f64,
    qw: f64,
    vx: f64,
    vy: f64,
    vz: f64,
    wx: f64,
    wy: f64,
    wz: f64,
}

impl<'a> Row<'a> {
    fn new(step: u64, time: f64, body: &'a str, state: &BodyState) -> Self {
        let (p, q) = (state.position, state.rotation);
        let (v, w) = (state.velocity, state.angular_velocity);
        Self {
            step,
            time,
            body,
            px: p.x,
            py: p.y,
            pz: p.z,
            qx: q.x,
            qy: q.y,
            qz: q.z,
            qw: q.w,
            vx: v.x,
            vy: v.y,
            vz: v.z,
            wx: w.x,
            wy: w.y,
            wz: w.z,
        }
    }
}

/// Where rows go.
trait Sink {
    fn put(&mut self, row: &Row<'_>) -> Result<(), String>;
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// Writes the motion of a recording's bodies.
pub fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    let recording = Recording::open(&args.recording)?;
    let names = names(&recording);
    for wanted in &args.body {
        if !names.values().any(|name| name == wanted) {
            let known = msd_scene::nearest(wanted, names.values().map(String::as_str));
            let help = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return Err(Failure::Input(format!("there is no body `{wanted}`{help}")));
        }
    }
    let outputs: Vec<&Path> =
        [&args.csv, &args.json, &args.parquet].into_iter().flatten().map(|path| &**path).collect();
    for (index, path) in outputs.iter().enumerate() {
        Failure::unless_other(&args.recording, path)?;
        if outputs[..index].contains(path) {
            let message = format!("{}: expected a file of its own for each format", path.display());
            return Err(Failure::Input(message));
        }
    }
    note_if_cut_off(&recording);
    let mut sinks: Vec<(&Path, Box<dyn Sink>)> = Vec::new();
    if let Some(path) = &args.csv {
        sinks.push((path, Box::new(Csv(csv::Writer::from_writer(create(path)?)))));
    }
    if let Some(path) = &args.json {
        sinks.push((path, Box::new(Lines(create(path)?))));
    }
    if let Some(path) = &args.parquet {
        sinks.push((path, parquet(path)?));
    }
    let mut rows = 0_u64;
    for frame in recording.frames() {
        let frame = frame?;
        if !frame.step.is_multiple_of(args.every) {
            continue;
        }
        for state in &frame.states {
            let name = names.get(&state.body).map_or("", String::as_str);
            if !args.body.is_empty() && !args.body.iter().any(|wanted| wanted == name) {
                continue;
            }
            let row = Row::new(frame.step, frame.time, name, state);
            for (path, sink) in &mut sinks {
                sink.put(&row).map_err(|error| Failure::io(path, error))?;
            }
            rows += 1;
        }
    }
    for (path, sink) in sinks {
        sink.end().map_err(|error| Failure::io(path, error))?;
        if path != Path::new("-") {
            show::err(&format!("{rows} rows in {}", path.display()));
        }
    }
    Ok(Outcome::Good)
}

fn names(recording: &Recording) -> HashMap<BodyKey, String> {
    let bodies = recording.bodies().iter();
    bodies
        .map(|body| {
            let unnamed = format!("body {}", body.body.index);
            (body.body, if body.name.is_empty() { unnamed } else { body.name.clone() })
        })
        .collect()
}

fn create(path: &Path) -> Result<Box<dyn Write + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(show::Output)));
    }
    let file = File::create(path).map_err(|error| Failure::io(path, error))?;
    Ok(Box::new(BufWriter::new(file)))
}

struct Csv(csv::Writer<Box<dyn Write + Send>>);

impl Sink for Csv {
    fn put(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.0.serialize(row).map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        self.0.flush().map_err(|error| error.to_string())
    }
}

struct Lines(Box<dyn Write + Send>);

impl Sink for Lines {
    fn put(&mut self, row: &Row<'_>) -> Result<(), String> {
        serde_json::to_writer(&mut self.0, row).map_err(|error| error.to_string())?;
        self.0.write_all(b"\n").map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        self.0.flush().map_err(|error| error.to_string())
    }
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path) -> Result<Box<dyn Sink>, Failure> {
    let columns = columns::Columns::new(create(path)?).map_err(|error| Failure::io(path, error))?;
    Ok(Box::new(columns))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path) -> Result<Box<dyn Sink>, Failure> {
    Err(Failure::Input(
        "this build is without Parquet: rebuild with the feature `parquet`".to_owned(),
    ))
}
