//! `msd run`: runs a scene, records it and checks its physics.

use std::io::ErrorKind::ResourceBusy;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use msd_record::{Frame, Header, RecordError, Recorder, Recording};
use msd_scene::format::Solver;
use msd_scene::{Options, SceneFile, Simulation, catalog, lint, nearest};

use crate::args::{RunArgs, SceneArgs};
use crate::atomic_file;
use crate::diff::is_recording;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::report;
use crate::saved::{self, Save};
use crate::series::Series;
use crate::summary::{Summary, engine};
use crate::verdict::{Monitor, Verdict};

/// Runs a scene.
pub fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let mut options = args.scene.opening.options();
    if let Some(solver) = args.solver.and_then(|solver| solver.to_possible_value()) {
        options.set.push(("world.solver".to_owned(), format!("\"{}\"", solver.get_name())));
        // The scene may have settings of a different solver.
        options.limits.unused_settings = true;
    }
    if let Some(threads) = args.threads {
        options.set.push(("world.threads".to_owned(), threads.to_string()));
    }
    let file = open(&args.scene.scene, &options)?;
    let mut simulation = file.build()?;
    let name = name_of(&args.scene);
    if let Some(path) = &args.from {
        saved::resume(path, &file, &mut simulation)?;
    }
    let save = Save::new(args, &file, &simulation)?;
    for end in ["mcap", "html"] {
        Failure::ensure_distinct(&args.scene.scene, &args.out.join(format!("{name}.{end}")))?;
    }
    let mut recorder = match args.no_record {
        true => None,
        false => Some(start_recording(args, &name, &file, &simulation)?),
    };
    let notes = notes(&file, &simulation)?;
    let mut monitor = Monitor::new(file.scene(), &simulation);
    let mut series = (!args.no_report).then(|| Series::new(simulation.world(), simulation.dt()));
    let first = simulation.world().steps();
    let progress = progress(simulation.steps().saturating_sub(first), args.quiet);
    let stop = stop_on_signal();
    simulation.world_mut().stop_when(Arc::clone(&stop));

    let mut clock = Clock::new(&mut simulation);
    let mut frame = Frame::of(simulation.world());
    let mut interrupted = false;
    for _ in first..simulation.steps() {
        if stop.load(Ordering::Relaxed) {
            interrupted = true;
            break;
        }
        clock.step(&mut simulation);
        if simulation.world().is_stopped() {
            interrupted = true;
            break;
        }
        if let Some(recorder) = &mut recorder {
            recorder.record(simulation.world()).map_err(recording_failure)?;
        }
        save.write_if_due(&simulation)?;
        frame.fill(simulation.world());
        monitor.observe(&frame);
        if let Some(series) = &mut series {
            series.observe(&frame, &monitor);
        }
        progress.inc(1);
    }
    progress.finish_and_clear();

    // An incomplete step is of no particular time.
    if let Some(recorder) = recorder.as_mut().filter(|_| !simulation.world().is_stopped()) {
        recorder.record_last(simulation.world()).map_err(recording_failure)?;
    }
    let mut summary = Summary::of(&file, &simulation, &monitor, &clock, &frame);
    summary.interrupted = interrupted;
    summary.notes = notes;
    if summary.title.is_empty() {
        summary.title.clone_from(&name);
    }
    if let Some(recorder) = recorder {
        let finished = recorder.finish(&summary.to_json()).map_err(recording_failure)?;
        summary.recording_bytes = Some(finished.bytes);
        summary.recording = Some(finished.path.display().to_string());
    }
    if let Some(series) = series {
        let path = args.out.join(format!("{name}.html"));
        // A recording of some steps only may lack those of the samples.
        let is_useful = args.recorded().every == 1 && series.leaves_out_bodies();
        let recorded = summary.recording.as_ref().filter(|_| is_useful);
        let recording = recorded.map(|path| Recording::open(Path::new(path))).transpose()?;
        let data = series.finish(&frame, &monitor, recording.as_ref())?;
        let page = report::html(&summary.page(data));
        create_folder(&args.out)?;
        atomic_file::write(&path, &page)?;
        summary.report = Some(path.display().to_string());
    }
    print(args, &summary);
    Outcome::from(summary.checks.iter().all(|check| check.verdict != Verdict::Fail))
}

/// Returns the warnings of `msd check` about a scene, and notes about its settings without effect.
pub fn notes(file: &SceneFile, simulation: &Simulation) -> Result<Vec<String>, Failure> {
    let found = lint(file)?.into_iter().map(|found| found.message);
    Ok(found.chain(ignored_settings(simulation)).collect())
}

/// Returns notes about the settings of the scene that have no effect.
pub fn ignored_settings(simulation: &Simulation) -> Vec<String> {
    let settings = simulation.world().settings();
    let (solver, accuracy) = (Solver::of(settings.method).name(), settings.accuracy);
    let note = |name: &&str| {
        format!(
            "`{name}` of the scene has no effect with the solver {solver} and accuracy {accuracy} and was left at its default"
        )
    };
    simulation.ignored_settings().iter().map(note).collect()
}

fn print(args: &RunArgs, summary: &Summary) {
    if args.json {
        output::print(&summary.to_json());
    } else if args.quiet {
        for check in summary.checks.iter().filter(|check| check.verdict == Verdict::Fail) {
            output::eprint(&format!("fail  {}: {}", check.name, check.message));
        }
    } else {
        output::print(&summary.table());
    }
}

/// Opens a scene file, or the built-in scene of that name.
pub fn open(path: &Path, options: &Options) -> Result<SceneFile, Failure> {
    let name = path.to_string_lossy();
    if let Some(entry) = catalog::find(&name).filter(|_| !path.is_file()) {
        return Ok(entry.open(options)?);
    }
    if path.exists() && is_recording(path) {
        return Err(Failure::Input(format!(
            "{name}: this is a recording, not a scene; did you mean `msd view {name}`, `msd report {name}` or `msd \
             verify {name}`?"
        )));
    }
    if path.exists() {
        return Ok(SceneFile::open(path, options)?);
    }
    let bare = path.file_stem().map_or(name.clone(), |stem| stem.to_string_lossy());
    let known = nearest(&bare, catalog::ENTRIES.iter().map(|entry| entry.name));
    let help = known.map_or("`msd scenes` lists the built-in scenes".to_owned(), |known| {
        format!("did you mean the built-in scene `{known}`?")
    });
    Err(Failure::Io(format!("{name}: no such file or scene; {help}")))
}

/// Returns the name of the recording and the report: the stem of the scene file.
fn name_of(scene: &SceneArgs) -> String {
    let stem = scene.scene.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| "scene".to_owned())
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::io(folder, "is not a folder"));
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, error))
}

fn start_recording(
    args: &RunArgs,
    name: &str,
    file: &SceneFile,
    simulation: &Simulation,
) -> Result<Recorder, Failure> {
    create_folder(&args.out)?;
    let path: PathBuf = args.out.join(format!("{name}.mcap"));
    let header = Header {
        engine: engine(),
        scene: file.scene().canonical()?.to_json(),
        title: file.scene().title.clone(),
        dt: simulation.dt(),
        planned_steps: simulation.steps(),
        threads: simulation.threads(),
        recorded: args.recorded(),
    };
    Recorder::create(&path, &header, simulation.world()).map_err(recording_failure)
}

/// Converts an error of the recorder and adds how much of the recording can be read.
fn recording_failure(error: RecordError) -> Failure {
    let (RecordError::Io { path, .. } | RecordError::Write { path, .. }) = &error else {
        return error.into();
    };
    let busy = matches!(&error, RecordError::Io { source, .. } if source.kind() == ResourceBusy);
    let left = match Recording::open(path) {
        Ok(recording) if !busy => format!("it holds steps 0 to {}", recording.steps()),
        Err(_) if !path.exists() => "nothing was recorded and no file is left".to_owned(),
        _ => return error.into(),
    };
    Failure::Io(format!("{error}; {left}"))
}

/// Returns a progress bar with steps per second and time left, on standard error if that is a terminal.
pub fn progress(steps: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps);
    let template = "{bar:30} {percent:>3} %  step {pos} of {len}  {rate} steps/s  {eta} left";
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // A failure to draw the bar is ignored.
        let _ = write!(out, "{:.0}", state.per_sec());
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.with_key("rate", rate)),
        Err(_) => bar,
    }
}

/// Returns a flag that the first signal sets. A second signal ends the program at once.
fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once, which still leaves a valid recording.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    stop
}

/// The time spent in stepping.
#[derive(Debug, Default)]
pub struct Clock {
    /// Wall-clock time, s.
    pub wall: f64,
    /// CPU time of the threads that step, s.
    pub cpu: f64,
    /// Maximum number of threads of a step; `None` before the first.
    pub threads: Option<usize>,
    /// Number of steps.
    pub steps: u64,
}

impl Clock {
    /// Starts at zero and installs the clock for the worker threads of the simulation.
    fn new(simulation: &mut Simulation) -> Self {
        // Where `thread_seconds` is wall-clock time, only the stepping thread counts.
        if cfg!(unix) {
            simulation.world_mut().set_worker_clock(thread_seconds);
        }
        Self::default()
    }

    fn step(&mut self, simulation: &mut Simulation) {
        let busy = |simulation: &Simulation| thread_seconds() + simulation.world().worker_seconds();
        let (cpu, wall) = (busy(simulation), Instant::now());
        simulation.step();
        self.steps += 1;
        self.wall += wall.elapsed().as_secs_f64();
        self.cpu += busy(simulation) - cpu;
        self.threads = self.threads.max(Some(simulation.world().threads_in_use()));
    }
}

/// Returns the CPU time of the calling thread, s; wall-clock time on systems without it.
fn thread_seconds() -> f64 {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
    }
    #[cfg(not(unix))]
    {
        use std::sync::LazyLock;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_secs_f64()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use msd_sim::{Accuracy, Settings};

    #[test]
    fn cpu_time_covers_all_threads_of_a_step() {
        let benchmark = catalog::benchmarks::find("s1").expect("a benchmark of the catalog");
        let mut simulation = benchmark.build().expect("a world");
        simulation.set_threads(4);
        let world = simulation.world_mut();
        let fast = Settings { accuracy: Accuracy::Fast, ..world.settings().clone() };
        world.set_settings(fast).expect("valid settings");
        world.use_all_threads(true);
        let mut clock = Clock::new(&mut simulation);
        let start = thread_seconds();
        for _ in 0..3 {
            clock.step(&mut simulation);
        }
        // Each of the three workers has a quarter of the parallel work; a tenth is much less than that.
        let own = thread_seconds() - start;
        assert_eq!(clock.threads, Some(4));
        assert!(clock.cpu > 1.1 * own, "{} s, of them {own} s on the stepping thread", clock.cpu);
    }
}
