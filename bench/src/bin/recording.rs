//! Prints the cost of recording a simulation of 1000 cubes, and the size and time of the same frames in other
//! formats: the minimum of several alternating rounds. `cargo run --release --bin recording`

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mcap::records::MessageHeader;
use msd_record::{Finished, Frame, Header, Recorder, Recording};
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, World};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const DT: f64 = 1.0 / 60.0;
const SIDE: i32 = 10;
const PITCH: f64 = 1.5;
/// Steps in a row group of Parquet and in a transaction of SQLite.
const GROUP: usize = 60;
/// zstd level in all formats that are compared.
const LEVEL: i32 = 2;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let number = |place: usize, otherwise: usize| {
        std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (steps, rounds) = (number(1, 600), number(2, 2));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("run.mcap");
    slowdown(&path, steps, rounds)?;
    let messages = messages(&path)?;
    formats(folder.path(), &path, &messages)?;
    options(folder.path(), &messages)?;
    layouts(&path)
}

fn cubes() -> Fallible<World> {
    let mut world = World::default();
    world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0)?))?;
    let cube = Shape::cuboid(Vec3::splat(0.5))?;
    for i in 0..SIDE.pow(3) {
        let place = [i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE].map(|n| f64::from(n) * PITCH);
        let position = Vec3::from_array(place) + Vec3::Z;
        world.add_body(BodyDef::inertial(cube.clone()).position(position))?;
    }
    Ok(world)
}

fn slowdown(path: &Path, steps: usize, rounds: usize) -> Fallible<()> {
    let mut least = [f64::INFINITY; 2];
    let mut copies = f64::INFINITY;
    let mut busy = [f64::INFINITY; 2];
    let mut last: Option<(Finished, f64)> = None;
    for _ in 0..rounds {
        let mut world = cubes()?;
        let (start, worked) = (Instant::now(), cpu_time());
        for _ in 0..steps {
            world.step(DT)?;
        }
        least[0] = least[0].min(start.elapsed().as_secs_f64());
        busy[0] = busy[0].min(cpu_time() - worked);
        let mut world = cubes()?;
        let mut copying = 0.0;
        let (start, worked) = (Instant::now(), cpu_time());
        let mut recorder = Recorder::create(path, &Header::default(), &world)?;
        for _ in 0..steps {
            world.step(DT)?;
            let start = Instant::now();
            recorder.record(&world)?;
            copying += start.elapsed().as_secs_f64();
        }
        let finished = recorder.finish("")?;
        let time = start.elapsed().as_secs_f64();
        least[1] = least[1].min(time);
        copies = copies.min(copying);
        busy[1] = busy[1].min(cpu_time() - worked);
        last = Some((finished, time));
    }
    let (finished, time) = last.ok_or("no rounds")?;
    let per_step = |seconds: f64| seconds * 1e3 / steps as f64;
    println!("| 1000 cubes, {steps} steps | |");
    println!("|---|---|");
    println!("| step without recording | {:.3} ms |", per_step(least[0]));
    println!("| step with recording | {:.3} ms |", per_step(least[1]));
    println!("| slowdown | {:.1} % |", 100.0 * (least[1] / least[0] - 1.0));
    println!("| of which copying on the simulation thread | {:.3} ms per step |", per_step(copies));
    println!("| CPU time without recording | {:.3} ms per step |", per_step(busy[0]));
    println!("| CPU time with recording, both threads | {:.3} ms per step |", per_step(busy[1]));
    println!("| waits of the simulation for the writer | {} |", finished.waits);
    println!("| file | {} bytes |", finished.bytes);
    println!("| written | {:.1} MB/s of wall clock |", mega(finished.bytes as f64) / time);
    let simulated = steps as f64 * DT;
    println!("| | {:.1} MB/s of simulated time |", mega(finished.bytes as f64) / simulated);
    println!();
    Ok(())
}

/// Returns the CPU time of this process on all cores, s, which other processes do not affect; zero on systems without
/// it.
fn cpu_time() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / TICKS_PER_SECOND
}

fn mega(bytes: f64) -> f64 {
    bytes * 1e-6
}

/// Returns the encoded state and contacts of each step of the recording.
fn messages(path: &Path) -> Fallible<Vec<[Vec<u8>; 2]>> {
    let bytes = std::fs::read(path)?;
    let mut found: BTreeMap<u32, [Vec<u8>; 2]> = BTreeMap::new();
    for message in mcap::MessageStream::new(&bytes)? {
        let message = message?;
        let place = match message.channel.topic.as_str() {
            "/msd/step" => 0,
            "/msd/contacts" => 1,
            _ => continue,
        };
        found.entry(message.sequence).or_default()[place] = message.data.into_owned();
    }
    Ok(found.into_values().collect())
}

fn formats(folder: &Path, recording: &Path, messages: &[[Vec<u8>; 2]]) -> Fallible<()> {
    let raw: usize = messages.iter().flatten().map(Vec::len).sum();
    println!(
        "| the same {} frames ({:.1} MB) in | MB | s to write |",
        messages.len(),
        mega(raw as f64)
    );
    println!("|---|---|---|");
    let print = |name: &str, bytes: u64, seconds: f64| {
        println!("| {name} | {:.1} | {seconds:.2} |", mega(bytes as f64));
    };
    let path = folder.join("again.mcap");
    let time = least_time(|| write_mcap(&path, messages, LEVEL as u32, 4 << 20))?;
    print("MCAP, chunks of 4 MB, zstd 2", size(&path)?, time);
    for (name, level) in
        [("SQLite, one blob per step, WAL", None), ("SQLite, blobs with zstd 2", Some(LEVEL))]
    {
        let path = folder.join("frames.sqlite");
        let time = least_time(|| write_sqlite(&path, messages, level))?;
        print(name, size(&path)?, time);
    }
    let frames = Recording::open(recording)?.frames().collect::<Result<Vec<_>, _>>()?;
    let paths = ["states", "contacts"].map(|name| folder.join(name).with_extension("parquet"));
    let time = least_time(|| write_parquet(&paths, &frames))?;
    print(
        "Parquet, one row per body and per point, zstd 2",
        size(&paths[0])? + size(&paths[1])?,
        time,
    );
    println!();
    Ok(())
}

fn size(path: &Path) -> Fallible<u64> {
    Ok(std::fs::metadata(path)?.len())
}

fn least_time(mut run: impl FnMut() -> Fallible<()>) -> Fallible<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn write_mcap(path: &Path, messages: &[[Vec<u8>; 2]], level: u32, chunk: u64) -> Fallible<()> {
    let mut file = mcap::WriteOptions::new()
        .compression(Some(mcap::Compression::Zstd))
        .compression_level(level)
        .compression_threads(0)
        .chunk_size(Some(chunk))
        .disable_seeking(true)
        .create(BufWriter::new(std::fs::File::create(path)?))?;
    let schema = file.add_schema("bytes", "protobuf", &[])?;
    let mut channel = |name| file.add_channel(schema, name, "protobuf", &BTreeMap::new());
    let channels = [channel("state")?, channel("contacts")?];
    for (step, pair) in messages.iter().enumerate() {
        for (channel_id, data) in channels.into_iter().zip(pair) {
            let time = step as u64;
            let sequence = step as u32;
            let header = MessageHeader { channel_id, sequence, log_time: time, publish_time: time };
            file.write_to_known_channel(&header, data)?;
        }
    }
    file.finish()?;
    Ok(())
}

fn write_sqlite(path: &Path, messages: &[[Vec<u8>; 2]], level: Option<i32>) -> Fallible<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = std::fs::remove_file(name);
    }
    let database = rusqlite::Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "NORMAL")?;
    database.execute("CREATE TABLE frames (step INTEGER PRIMARY KEY, frame BLOB)", [])?;
    for (group, rows) in messages.chunks(GROUP).enumerate() {
        let transaction = database.unchecked_transaction()?;
        let mut insert = transaction.prepare_cached("INSERT INTO frames VALUES (?1, ?2)")?;
        for (row, pair) in rows.iter().enumerate() {
            let bytes = pair.concat();
            let bytes = match level {
                Some(level) => zstd::bulk::compress(&bytes, level)?,
                None => bytes,
            };
            insert.execute(((group * GROUP + row) as i64, bytes))?;
        }
        drop(insert);
        transaction.commit()?;
    }
    database.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
    drop(database);
    Ok(())
}

fn write_parquet(paths: &[std::path::PathBuf; 2], frames: &[Frame]) -> Fallible<()> {
    let states = ["step", "body"];
    let state_reals =
        ["px", "py", "pz", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz"];
    write_table(&paths[0], &states, &state_reals, frames, |frame, whole, real| {
        for s in &frame.states {
            push(whole, [frame.step as i64, i64::from(s.body.index)]);
            let [p, v, w] = [s.position, s.velocity, s.angular_velocity].map(|v| v.to_array());
            let row = p.into_iter().chain(s.rotation.to_array()).chain(v).chain(w);
            real.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
    })?;
    let points = ["step", "a", "b", "feature"];
    let point_reals = [
        "nx",
        "ny",
        "nz",
        "friction",
        "restitution",
        "px",
        "py",
        "pz",
        "gap",
        "ix",
        "iy",
        "iz",
        "tx",
        "ty",
        "tz",
        "approach",
        "residual",
    ];
    write_table(&paths[1], &points, &point_reals, frames, |frame, whole, real| {
        for pair in &frame.contacts {
            for p in frame.points_of(pair) {
                let [a, b] = [pair.a, pair.b].map(|body| i64::from(body.index));
                push(whole, [frame.step as i64, a, b, p.feature as i64]);
                let row = pair.normal.to_array().into_iter();
                let row = row.chain([pair.friction, pair.restitution]).chain(p.position.to_array());
                let row = row.chain([p.gap]).chain(p.impulse.to_array());
                let row = row
                    .chain(p.total_impulse.to_array())
                    .chain([p.approach, p.residual.unwrap_or(f64::NAN)]);
                real.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
        }
    })
}

fn push<const N: usize>(columns: &mut [Vec<i64>], row: [i64; N]) {
    columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
}

fn write_table(
    path: &Path,
    whole: &[&str],
    real: &[&str],
    frames: &[Frame],
    fill: impl Fn(&Frame, &mut [Vec<i64>], &mut [Vec<f64>]),
) -> Fallible<()> {
    let mut schema = "message frames {".to_owned();
    whole.iter().for_each(|name| schema += &format!("REQUIRED INT64 {name};"));
    real.iter().for_each(|name| schema += &format!("REQUIRED DOUBLE {name};"));
    let schema = Arc::new(parse_message_type(&(schema + "}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .build();
    let file = std::fs::File::create(path)?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let (mut wholes, mut reals) = (vec![Vec::new(); whole.len()], vec![Vec::new(); real.len()]);
    for group in frames.chunks(GROUP) {
        wholes.iter_mut().for_each(Vec::clear);
        reals.iter_mut().for_each(Vec::clear);
        group.iter().for_each(|frame| fill(frame, &mut wholes, &mut reals));
        let mut rows = writer.next_row_group()?;
        for column in &wholes {
            let mut to = rows.next_column()?.ok_or("no column")?;
            to.typed::<Int64Type>().write_batch(column, None, None)?;
            to.close()?;
        }
        for column in &reals {
            let mut to = rows.next_column()?.ok_or("no column")?;
            to.typed::<DoubleType>().write_batch(column, None, None)?;
            to.close()?;
        }
        rows.close()?;
    }
    writer.close()?;
    Ok(())
}

fn options(folder: &Path, messages: &[[Vec<u8>; 2]]) -> Fallible<()> {
    let path = folder.join("options.mcap");
    println!("| MCAP | chunks of 1 MB | 4 MB | 16 MB |");
    println!("|---|---|---|---|");
    for level in [1, 2, 3, 5] {
        print!("| zstd {level} |");
        for chunk in [1 << 20, 4 << 20, 16 << 20] {
            let time = least_time(|| write_mcap(&path, messages, level, chunk))?;
            print!(" {:.1} MB, {time:.2} s |", mega(size(&path)? as f64));
        }
        println!();
    }
    println!();
    Ok(())
}

/// Prints the size of the states alone in other layouts, in groups of ten steps.
fn layouts(path: &Path) -> Fallible<()> {
    println!("| states, zstd 2 | MB | s |");
    println!("|---|---|---|");
    let frames = Recording::open(path)?.frames().collect::<Result<Vec<_>, _>>()?;
    type Layout = fn(&Frame, &mut Vec<u8>);
    let all: [(&str, Layout); 3] =
        [("by body", by_body), ("by quantity", by_quantity), ("by component", by_component)];
    for (name, layout) in all {
        let (mut bytes, mut packed, mut time) = (Vec::new(), 0, 0.0);
        for group in frames.chunks(10) {
            bytes.clear();
            group.iter().for_each(|frame| layout(frame, &mut bytes));
            let start = Instant::now();
            packed += black_box(zstd::bulk::compress(&bytes, LEVEL)?).len();
            time += start.elapsed().as_secs_f64();
        }
        println!("| {name} | {:.1} | {time:.2} |", mega(packed as f64));
    }
    std::io::stdout().flush()?;
    Ok(())
}

fn row(state: &msd_record::BodyState) -> [f64; 13] {
    let mut row = [0.0; 13];
    row[..3].copy_from_slice(&state.position.to_array());
    row[3..7].copy_from_slice(&state.rotation.to_array());
    row[7..10].copy_from_slice(&state.velocity.to_array());
    row[10..].copy_from_slice(&state.angular_velocity.to_array());
    row
}

fn put(values: &[f64], bytes: &mut Vec<u8>) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn by_body(frame: &Frame, bytes: &mut Vec<u8>) {
    frame.states.iter().for_each(|state| put(&row(state), bytes));
}

fn by_quantity(frame: &Frame, bytes: &mut Vec<u8>) {
    for range in [0..3, 3..7, 7..10, 10..13] {
        frame.states.iter().for_each(|state| put(&row(state)[range.clone()], bytes));
    }
}

fn by_component(frame: &Frame, bytes: &mut Vec<u8>) {
    for i in 0..13 {
        frame.states.iter().for_each(|state| put(&row(state)[i..=i], bytes));
    }
}
