//! `msd export`: writes motion, contacts, joints or energies of a recording as a table.

use std::io::{BufWriter, Write};
use std::path::Path;

use msd_record::Recording;
use serde::Serializer;
use serde::ser::SerializeMap;

use crate::args::ExportArgs;
use crate::atomic_file::AtomicFile;
use crate::failure::{Failure, Outcome};
use crate::names::Names;
use crate::output;
use crate::summary::note_if_cut_off;

#[cfg(feature = "parquet")]
mod parquet;
pub mod table;

use table::{Cell, ColumnType, RowBuilder};

/// A destination of rows.
trait Sink {
    fn put(&mut self, row: &[Cell<'_>]) -> Result<(), String>;
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// Writes a table of a recording.
pub fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    let recording = Recording::open(&args.recording)?;
    let names = Names::of_recording(&recording);
    for wanted in &args.body {
        if !names.bodies().any(|name| name == wanted) {
            let known = msd_scene::nearest(wanted, names.bodies());
            let help = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return Err(Failure::Input(format!("no body `{wanted}`{help}")));
        }
    }
    let outputs: Vec<&Path> =
        [&args.csv, &args.json, &args.parquet].into_iter().flatten().map(|path| &**path).collect();
    for (index, path) in outputs.iter().enumerate() {
        Failure::ensure_distinct(&args.recording, path)?;
        if outputs[..index].contains(path) {
            let message = format!("{}: expected a different file for each format", path.display());
            return Err(Failure::Input(message));
        }
    }
    table::check(args.table, &recording, &args.body)?;
    note_if_cut_off(&recording);
    let columns = args.table.columns();
    let mut files = Vec::new();
    let mut create = |path: &Path| create(path, &mut files);
    let mut sinks: Vec<(&Path, Box<dyn Sink>)> = Vec::new();
    if let Some(path) = &args.csv {
        sinks.push((path, Box::new(CsvSink::new(create(path)?, &columns))));
    }
    if let Some(path) = &args.json {
        let names = columns.iter().map(|(name, _)| *name).collect();
        sinks.push((path, Box::new(JsonLinesSink { out: create(path)?, names })));
    }
    if let Some(path) = &args.parquet {
        sinks.push((path, parquet_sink(path, create(path)?, &columns)?));
    }
    let dt = recording.header().dt;
    let table = RowBuilder { table: args.table, names: &names, selected: &args.body, dt };
    let mut rows = 0_u64;
    let mut put = |row: &[Cell<'_>]| {
        rows += 1;
        let mut puts = sinks.iter_mut();
        puts.try_for_each(|(path, sink)| sink.put(row).map_err(|error| Failure::io(path, error)))
    };
    for frame in recording.frames() {
        let frame = frame?;
        if frame.step.is_multiple_of(args.every) {
            table.write_frame(&frame, &mut put)?;
        }
    }
    let paths: Vec<&Path> = sinks.iter().map(|(path, _)| *path).collect();
    for (path, sink) in sinks {
        sink.end().map_err(|error| Failure::io(path, error))?;
    }
    for pending in files {
        pending.finish()?;
    }
    for path in paths.into_iter().filter(|path| *path != Path::new("-")) {
        output::eprint(&format!("{rows} rows in {}", path.display()));
    }
    Ok(Outcome::Good)
}

fn create(path: &Path, files: &mut Vec<AtomicFile>) -> Result<Box<dyn Write + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(output::Output)));
    }
    let (pending, file) = AtomicFile::create(path)?;
    files.push(pending);
    Ok(Box::new(BufWriter::new(file)))
}

struct CsvSink {
    out: csv::Writer<Box<dyn Write + Send>>,
    /// Column names, until they are written.
    names: Option<Vec<&'static str>>,
}

impl CsvSink {
    fn new(out: Box<dyn Write + Send>, columns: &[(&'static str, ColumnType)]) -> Self {
        let out = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        Self { out, names: Some(columns.iter().map(|(name, _)| *name).collect()) }
    }

    fn write_names(&mut self) -> Result<(), String> {
        let names = self.names.take();
        names.map_or(Ok(()), |names| self.out.write_record(names)).map_err(|e| e.to_string())
    }
}

impl Sink for CsvSink {
    fn put(&mut self, row: &[Cell<'_>]) -> Result<(), String> {
        self.write_names()?;
        self.out.serialize(row).map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        // A table without rows still gets its header.
        self.write_names()?;
        self.out.flush().map_err(|error| error.to_string())
    }
}

struct JsonLinesSink {
    out: Box<dyn Write + Send>,
    names: Vec<&'static str>,
}

impl Sink for JsonLinesSink {
    fn put(&mut self, row: &[Cell<'_>]) -> Result<(), String> {
        let mut line = serde_json::Serializer::new(&mut self.out);
        let mut object = line.serialize_map(Some(row.len())).map_err(|error| error.to_string())?;
        for (name, cell) in self.names.iter().zip(row) {
            object.serialize_entry(name, cell).map_err(|error| error.to_string())?;
        }
        object.end().map_err(|error| error.to_string())?;
        self.out.write_all(b"\n").map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        self.out.flush().map_err(|error| error.to_string())
    }
}

#[cfg(feature = "parquet")]
fn parquet_sink(
    path: &Path,
    out: Box<dyn Write + Send>,
    columns: &[(&str, ColumnType)],
) -> Result<Box<dyn Sink>, Failure> {
    let sink = parquet::ParquetSink::new(out, columns);
    Ok(Box::new(sink.map_err(|error| Failure::io(path, error))?))
}

#[cfg(not(feature = "parquet"))]
fn parquet_sink(
    _: &Path,
    _: Box<dyn Write + Send>,
    _: &[(&str, ColumnType)],
) -> Result<Box<dyn Sink>, Failure> {
    Err(Failure::Input(
        "this build has no Parquet support: rebuild with the feature `parquet`".to_owned(),
    ))
}
