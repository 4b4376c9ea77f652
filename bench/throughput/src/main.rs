//! The throughput driver: builds a runner for msd and each peer, runs them in turn and prints a table of step times.
//! See `cargo run --release -- --help` and `bench/throughput.md`.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use msd_scene::catalog::benchmarks::{self, Benchmark, Figure};
use msd_throughput::Run;

/// Measure the step times of benchmarks in msd and its peers.
#[derive(Debug, Parser)]
struct Args {
    /// Ids of benchmarks (`msd bench --list`) [default: all but s10-1e5]
    ids: Vec<String>,
    /// Number of rounds; the engines run in turn
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Number of steps [default: that of each benchmark]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Thread counts: 1 shows CPU time, others wall-clock time
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2")]
    threads: Vec<u32>,
    /// Engines: msd, f64-native, f32-native, f32-native8, f64-default, f32-default
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "msd,f64-native,f32-native"
    )]
    peers: Vec<String>,
    /// Also measure the peers built without native CPU flags
    #[arg(long)]
    default_builds: bool,
    /// Print every run as JSON instead of the table
    #[arg(long)]
    json: bool,
}

/// A build of an engine.
#[derive(Debug)]
struct Peer {
    name: &'static str,
    /// Features of the runner; none is msd.
    features: &'static str,
    /// Whether it is built for the native CPU.
    native: bool,
}

const MSD: &str = "msd";

const PEERS: [Peer; 6] = [
    // Always as released.
    Peer { name: MSD, features: "", native: false },
    Peer { name: "f64-native", features: "f64", native: true },
    Peer { name: "f32-native", features: "f32", native: true },
    Peer { name: "f32-native8", features: "f32,simd8", native: true },
    Peer { name: "f64-default", features: "f64", native: false },
    Peer { name: "f32-default", features: "f32", native: false },
];

impl Peer {
    /// Builds the runner for a number of threads and returns its path.
    ///
    /// One thread does not use the feature `parallel` of the peers, which may cost time even then.
    fn runner(&self, threads: u32) -> Result<PathBuf, Box<dyn Error>> {
        let parallel = threads > 1 && self.name != MSD;
        let (suffix, more) = if parallel { ("-parallel", ",parallel") } else { ("", "") };
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = package.join("../target");
        let folder = target.join(if self.native { "native" } else { "default" });
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--locked", "--quiet", "--bin", "runner"]);
        cargo.args(["--features", &format!("{}{more}", self.features), "--target-dir"]);
        cargo.arg(&folder).current_dir(package);
        // Compiler flags of the caller must not affect the measurement.
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
            cargo.env_remove(name);
        }
        if self.native {
            cargo.env("RUSTFLAGS", "-C target-cpu=native");
        }
        eprintln!("building {}{suffix}", self.name);
        if !cargo.status()?.success() {
            return Err(format!("{}{suffix} does not build", self.name).into());
        }
        // Builds with different features overwrite each other, so each is copied.
        let kept = target.join("runners");
        std::fs::create_dir_all(&kept)?;
        let kept = kept.join(format!("{}{suffix}", self.name));
        std::fs::copy(folder.join("release/runner"), &kept)?;
        Ok(kept)
    }
}

/// The runs of one engine on one number of threads.
struct Series<'a> {
    peer: &'a Peer,
    threads: u32,
    runner: PathBuf,
    runs: Vec<Run>,
}

impl Series<'_> {
    fn run(&mut self, benchmark: &Benchmark, steps: Option<u64>) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(&self.runner);
        command.arg(benchmark.id).arg(self.threads.to_string());
        command.args(steps.map(|steps| steps.to_string())).stderr(Stdio::inherit());
        let output = command.output()?;
        if !output.status.success() {
            return Err(format!("{}: {} failed", benchmark.id, self.peer.name).into());
        }
        self.runs.push(serde_json::from_slice(&output.stdout)?);
        Ok(())
    }

    fn time_of(&self, run: &Run) -> f64 {
        if self.threads == 1 { run.cpu } else { run.wall }
    }

    /// Returns the CPU time of one thread or the wall-clock time of several, ms per step.
    fn time(&self) -> Option<Time> {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| self.time_of(a).total_cmp(&self.time_of(b)));
        let least = runs.first()?;
        let middle = [runs.get((runs.len() - 1) / 2)?, runs.get(runs.len() / 2)?];
        Some(Time {
            least: self.time_of(least),
            median: 0.5 * (self.time_of(middle[0]) + self.time_of(middle[1])),
            cores: least.cpu / least.wall,
        })
    }
}

/// The step time over several runs.
struct Time {
    /// Time of the fastest run, ms per step.
    least: f64,
    median: f64,
    /// Mean number of cores of the fastest run: fewer than threads if other processes took them or the engine did not
    /// use them.
    cores: f64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = Args::parse();
    if args.default_builds {
        args.peers.extend(["f64-default".to_owned(), "f32-default".to_owned()]);
    }
    let chosen = choose(&args.ids)?;
    let mut all = Vec::new();
    for name in &args.peers {
        let peer = PEERS.iter().find(|peer| peer.name == name);
        let peer = peer.ok_or_else(|| format!("no peer `{name}`"))?;
        for &threads in &args.threads {
            let runner = peer.runner(threads)?;
            all.push(Series { peer, threads, runner, runs: Vec::new() });
        }
    }
    if !args.json {
        println!("Load before: {}. Rounds: {}.\n\n{}", load(), args.rounds, head(&args.threads));
    }
    let mut same = true;
    for benchmark in chosen {
        all.iter_mut().for_each(|series| series.runs.clear());
        for round in 1..=args.rounds {
            for series in &mut all {
                eprintln!(
                    "{}, round {round}: {}, {} thread(s)",
                    benchmark.id, series.peer.name, series.threads
                );
                series.run(benchmark, args.steps)?;
                if args.json {
                    let run = series.runs.last().expect("just added");
                    let line = serde_json::json!({ "peer": series.peer.name, "run": run });
                    println!("{line}");
                }
            }
        }
        let hashes: BTreeSet<_> = all
            .iter()
            .flat_map(|series| &series.runs)
            .filter_map(|run| run.hash.as_ref())
            .collect();
        if hashes.len() > 1 {
            eprintln!("error: {}: runs of msd differ: {hashes:?}", benchmark.id);
            same = false;
        }
        if !args.json {
            print!("{}", rows(benchmark, &all, &args));
        }
    }
    if !args.json {
        println!("\nLoad after: {}.", load());
    }
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(ids: &[String]) -> Result<Vec<&'static Benchmark>, Box<dyn Error>> {
    if ids.is_empty() {
        return Ok(benchmarks::ALL.iter().filter(|benchmark| benchmark.id != "s10-1e5").collect());
    }
    let find = |id: &String| benchmarks::find(id).ok_or_else(|| format!("no benchmark `{id}`"));
    Ok(ids.iter().map(find).collect::<Result<_, _>>()?)
}

/// Returns the load average of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

fn head(threads: &[u32]) -> String {
    let mut cells = vec!["scene".to_owned(), "bodies".to_owned(), "steps".to_owned()];
    cells.push("engine".to_owned());
    for &count in threads {
        cells.push(match count {
            1 => "CPU ms/step, 1 thread".to_owned(),
            _ => format!("wall ms/step, {count} threads"),
        });
        cells.extend(["cores", "msd / this"].map(str::to_owned));
    }
    cells.extend(["deepest, mm (99.9 %)", "figure", "lost", "hash"].map(str::to_owned));
    format!("{}|{}", line(&cells), "---|".repeat(cells.len()))
}

fn rows(benchmark: &Benchmark, all: &[Series<'_>], args: &Args) -> String {
    let mut text = String::new();
    for name in &args.peers {
        let of = |name: &str, threads: u32| {
            all.iter().find(|series| series.peer.name == name && series.threads == threads)
        };
        let Some(run) = args.threads.first().and_then(|&count| of(name, count)?.runs.last()) else {
            continue;
        };
        let title = format!("{} {}", benchmark.id, benchmark.title);
        let mut cells = vec![title, run.bodies.to_string(), run.steps.to_string(), name.clone()];
        for &count in &args.threads {
            let (ours, theirs) = (of(MSD, count), of(name, count));
            let ours = ours.and_then(Series::time).filter(|_| name != MSD);
            let theirs = theirs.and_then(Series::time);
            let ratio = ours.as_ref().zip(theirs.as_ref());
            let ratio = ratio.map(|(ours, theirs)| digits(ours.least / theirs.least));
            cells.extend(match theirs {
                Some(Time { least, median, cores }) => {
                    [format!("{} ({})", digits(least), digits(median)), format!("{cores:.2}")]
                }
                None => ["-".to_owned(), "-".to_owned()],
            });
            cells.push(ratio.unwrap_or("-".to_owned()));
        }
        cells.push(format!("{} ({})", digits(run.deepest), digits(run.usual)));
        cells.push(match benchmark.figure {
            Figure::Top => format!("{} {} m", benchmark.figure.name(), digits(run.figure)),
            Figure::Drift | Figure::Gap => {
                format!("{} {} mm", benchmark.figure.name(), digits(1e3 * run.figure))
            }
        });
        cells.extend([run.lost.to_string(), run.hash.clone().unwrap_or("-".to_owned())]);
        text += &line(&cells);
    }
    text
}

/// Formats a number with three significant digits, at most three decimals.
fn digits(value: f64) -> String {
    let before = value.abs().max(1.0).log10() as usize;
    format!("{value:.*}", 2_usize.saturating_sub(before) + usize::from(value.abs() < 1.0))
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
