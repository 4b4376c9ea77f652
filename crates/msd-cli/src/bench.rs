//! `msd bench`: step times of benchmarks, and figures that show whether they behaved.

use std::time::Instant;

use msd_scene::catalog::benchmarks::{self, Benchmark, Figure};
use msd_scene::nearest;
use msd_sim::Settings;

use crate::args::BenchArgs;
use crate::failure::{Failure, Outcome};
use crate::output;

const HEADER: [&str; 11] = [
    "scene",
    "bodies",
    "steps",
    "cpu ms/step",
    "wall ms/step",
    "deepest",
    "last quarter",
    "contacts",
    "figure",
    "hash",
    "",
];

/// The largest benchmark, which takes minutes and gigabytes: runs only if named.
const OPT_IN: &str = "s10-1e5";

/// Lists or runs benchmarks.
pub fn bench(args: &BenchArgs) -> Result<Outcome, Failure> {
    if args.list {
        let line = |benchmark: &Benchmark| {
            (benchmark.id.to_owned(), format!("{}, {} steps", benchmark.title, benchmark.steps))
        };
        output::print(&output::facts(&benchmarks::ALL.iter().map(line).collect::<Vec<_>>()));
        return Ok(Outcome::Good);
    }
    let chosen = match args.ids.as_slice() {
        [] => benchmarks::ALL.iter().filter(|benchmark| benchmark.id != OPT_IN).collect(),
        ids => ids.iter().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?,
    };
    output::print(&row(&HEADER.map(str::to_owned)));
    for benchmark in chosen {
        output::print(&row(&run(benchmark, args)?));
    }
    Ok(Outcome::Good)
}

fn find(id: &str) -> Result<&'static Benchmark, Failure> {
    benchmarks::find(id).ok_or_else(|| {
        let known = nearest(id, benchmarks::ALL.iter().map(|benchmark| benchmark.id));
        let help = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
        Failure::Input(format!("no benchmark `{id}`{help}"))
    })
}

/// Runs a benchmark and returns its table cells.
fn run(benchmark: &Benchmark, args: &BenchArgs) -> Result<[String; 11], Failure> {
    let mut start = benchmark.build().map_err(|error| Failure::Input(error.to_string()))?;
    if let Some(level) = args.accuracy {
        let settings = start.world().settings().clone();
        let settings = Settings { accuracy: level.into(), ..settings };
        let done = start.world_mut().set_settings(settings);
        done.map_err(|error| Failure::Input(format!("{}: {error}", benchmark.id)))?;
    }
    let mut simulation = start.clone();
    simulation.set_threads(args.threads);
    let steps = args.steps.unwrap_or(benchmark.steps);
    let (mut deepest_overall, mut last_quarter, mut contacts) = (0.0_f64, 0.0_f64, 0);
    let (mut cpu, mut wall) = (0.0, 0.0);
    for step in 0..steps {
        let (cpu_before, start) = (process_seconds(), Instant::now());
        contacts = simulation.step().contacts;
        cpu += process_seconds() - cpu_before;
        wall += start.elapsed().as_secs_f64();
        // Measured here, outside the timed section: swept steps measure penetration only with `audit`.
        let points = simulation.world().contacts().flat_map(|contact| contact.points().to_vec());
        let deepest = points.map(|point| -point.gap).fold(0.0, f64::max);
        deepest_overall = deepest_overall.max(deepest);
        if 4 * (step + 1) > 3 * steps {
            last_quarter = last_quarter.max(deepest);
        }
    }
    let per_step = |seconds: f64| format!("{:.3}", 1e3 * seconds / steps as f64);
    let figure = benchmark.figure.measure(start.world(), simulation.world());
    let figure = match benchmark.figure {
        Figure::Top => format!("top {figure:.2} m"),
        Figure::Drift | Figure::Gap => {
            format!("{} {:.3} mm", benchmark.figure.name(), 1e3 * figure)
        }
    };
    Ok([
        benchmark.id.to_owned(),
        simulation.world().bodies().len().to_string(),
        steps.to_string(),
        per_step(cpu),
        per_step(wall),
        format!("{:.3} mm", 1e3 * deepest_overall),
        format!("{:.3} mm", 1e3 * last_quarter),
        contacts.to_string(),
        figure,
        format!("{:016x}", simulation.world().state_hash()),
        benchmark.title.to_owned(),
    ])
}

/// Formats cells in columns wide enough for most values.
fn row(cells: &[String; 11]) -> String {
    const WIDTHS: [usize; 9] = [7, 6, 5, 11, 12, 12, 12, 8, 15];
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(WIDTHS) {
        text += &format!("{cell:>width$} ");
    }
    format!("{text}  {:<16}  {}", cells[9], cells[10]).trim_end().to_owned()
}

/// Returns the CPU time of all threads, s; wall-clock time on systems without it.
fn process_seconds() -> f64 {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
    }
    #[cfg(not(unix))]
    {
        use std::sync::LazyLock;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_secs_f64()
    }
}
