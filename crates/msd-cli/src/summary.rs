//! The summary of a run for the terminal, as JSON and for the report; and `msd report`.

use msd_record::{Frame, Recorded, Recording};
use msd_scene::format::Solver;
use msd_scene::{Limits, Options, SceneFile, Simulation};
use msd_sim::{RESULTS_VERSION, Settings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::ReportArgs;
use crate::atomic_file;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::report::{self, BodySeries, ReportData};
use crate::run::{self, Clock};
use crate::scales::Rounding;
use crate::series::Series;
use crate::totals::{Counts, Energy};
use crate::verdict::{Check, Methods, Monitor, Verdict, conclusion};

/// Returns the name and version of the engine, and that of its results.
pub fn engine() -> String {
    format!("msd {} (results {RESULTS_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// Returns the settings that override the accuracy, as `name = value`.
fn overrides(settings: &Settings) -> Vec<String> {
    settings.overrides().map(|(name, value)| format!("{name} = {value}")).collect()
}

/// Describes the accuracy and the settings that override it.
fn accuracy(name: &str, overrides: &[String]) -> String {
    match overrides {
        [] => name.to_owned(),
        _ => format!("{name}, but {}", overrides.join(", ")),
    }
}

/// Describes the accuracy of a world and the settings that override it.
pub fn accuracy_of(settings: &Settings) -> String {
    accuracy(settings.accuracy.name(), &overrides(settings))
}

/// The summary of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name and version of the engine.
    pub engine: String,
    /// Title of the scene.
    pub title: String,
    /// Description of the scene.
    pub description: String,
    /// Path of the recording, if one was written.
    pub recording: Option<String>,
    /// Size of the recording, bytes.
    pub recording_bytes: Option<u64>,
    /// Path of the report, if one was written.
    pub report: Option<String>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Number of steps taken.
    pub steps: u64,
    /// Number of steps planned.
    pub planned_steps: u64,
    /// Time step, s.
    pub dt: f64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Wall-clock time of stepping alone, s.
    pub wall_seconds: f64,
    /// CPU time of stepping alone, on all its threads, s.
    pub cpu_seconds: f64,
    /// Steps per second of wall-clock time.
    pub steps_per_second: f64,
    /// Maximum number of threads allowed.
    pub threads: u32,
    /// Maximum number of threads that a step ran on, if known.
    pub threads_used: Option<usize>,
    /// Name of the solver.
    pub solver: String,
    /// Accuracy of the steps.
    pub accuracy: String,
    /// Settings that override the accuracy.
    pub overrides: Vec<String>,
    /// Number of bodies in the scene.
    pub bodies: usize,
    /// Hash of the last state, hexadecimal.
    pub state_hash: String,
    /// Number of bodies and steps per method.
    pub methods: Methods,
    /// Deepest overlap at the start or the end of a step, m. Values that were not measured are null.
    pub max_penetration: Option<f64>,
    /// Largest position error of a joint at the end of a step, m.
    pub max_joint_error: Option<f64>,
    /// Worst relative residual of contacts and joints.
    pub worst_residual: Option<f64>,
    /// Maximum number of contact points in a step.
    pub most_contacts: usize,
    /// Totals of the energy ledger, if it was kept.
    pub energy: Option<Energy>,
    /// Largest momentum error of a step, N s.
    pub momentum_error: Option<f64>,
    /// Number of events.
    pub events: Counts,
    /// Results of the checks.
    pub checks: Vec<Check>,
    /// Warnings of `msd check` about the scene, and settings without effect.
    pub notes: Vec<String>,
    /// Whether the scene has joints.
    #[serde(skip)]
    pub has_joints: bool,
    /// Reference energy of the plots, J.
    #[serde(skip)]
    pub energy_scale: f64,
    /// Rounding of the figures: what is less prints as 0.
    #[serde(skip)]
    pub rounding: Rounding,
    /// Omissions of the recording that the summary is read from.
    #[serde(skip)]
    pub omissions: Option<String>,
    /// Whether the checks were made during the run.
    #[serde(skip)]
    pub checks_from_run: bool,
}

impl Summary {
    /// Summarizes a run that has ended with this frame.
    pub fn of(
        file: &SceneFile,
        simulation: &Simulation,
        monitor: &Monitor,
        clock: &Clock,
        last: &Frame,
    ) -> Self {
        let world = simulation.world();
        Self {
            engine: engine(),
            title: file.scene().title.clone(),
            description: file.scene().description.clone(),
            recording: None,
            recording_bytes: None,
            report: None,
            interrupted: false,
            steps: last.step,
            planned_steps: simulation.steps(),
            dt: simulation.dt(),
            simulated_seconds: last.time,
            wall_seconds: clock.wall,
            cpu_seconds: clock.cpu,
            steps_per_second: if clock.wall > 0.0 { clock.steps as f64 / clock.wall } else { 0.0 },
            threads: simulation.threads(),
            threads_used: clock.threads,
            solver: Solver::of(world.settings().method).name().to_owned(),
            accuracy: world.settings().accuracy.to_string(),
            overrides: overrides(world.settings()),
            bodies: world.bodies().len(),
            state_hash: format!("{:016x}", last.state_hash),
            methods: monitor.methods(),
            max_penetration: monitor.max_penetration(),
            max_joint_error: monitor.joint_error(),
            worst_residual: monitor.residual(),
            most_contacts: monitor.most_contacts(),
            energy: monitor.energy().cloned(),
            momentum_error: monitor.momentum_error(),
            events: monitor.counts(),
            checks: monitor.checks(),
            notes: Vec::new(),
            has_joints: monitor.has_joints(),
            energy_scale: monitor.energy_scale(),
            rounding: monitor.rounding(),
            omissions: None,
            checks_from_run: false,
        }
    }

    /// Returns the summary as one JSON object. Non-finite numbers are null.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the summary as text for the terminal.
    pub fn table(&self) -> String {
        let mut text = String::new();
        text += &format!("{}\n\n{}\n\n", self.heading(), output::facts(&self.facts()));
        if let Some(energy) = &self.energy {
            text += &format!(
                "  energy\n{}\n\n",
                output::facts(&energy_rows(energy, self.rounding.energy))
            );
        }
        for note in &self.notes {
            text +=
                &format!("  {}  {}\n", output::verdict(Verdict::Warn, "note"), output::plain(note));
        }
        if !self.notes.is_empty() {
            text += "\n";
        }
        let width = self.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        for Check { name, verdict, message, .. } in &self.checks {
            let word = output::verdict(*verdict, verdict.word());
            text += &format!("  {word}  {name:<width$}  {message}\n");
        }
        text += &format!("\n  {}", self.verdict());
        if let Some(path) = &self.recording {
            let size =
                self.recording_bytes.map_or(String::new(), |n| format!(" ({})", output::bytes(n)));
            text += &format!("\n\n  recording  {path}{size}");
        }
        if let Some(path) = &self.report {
            text += &format!("\n  report     {path}");
        }
        text
    }

    fn heading(&self) -> String {
        let title =
            if self.title.is_empty() { "Run".to_owned() } else { output::plain(&self.title) };
        let state = if self.interrupted { " (interrupted)" } else { "" };
        format!("{title}{state}")
    }

    /// Summarizes all checks in one sentence, colored for the terminal.
    fn verdict(&self) -> String {
        let (worst, sentence) = conclusion(&self.checks, self.notes.len(), self.interrupted);
        output::verdict(worst, &sentence)
    }

    /// Moves bodies named by a warning or failure to the front: the page draws the first few.
    fn flagged_first(&self, bodies: Vec<BodySeries>) -> Vec<BodySeries> {
        let named = |body: &BodySeries| {
            let concerned = self.checks.iter().filter(|check| check.verdict != Verdict::Pass);
            concerned.flat_map(|check| &check.bodies).any(|name| *name == body.name)
        };
        let (mut first, rest): (Vec<_>, Vec<_>) = bodies.into_iter().partition(named);
        first.extend(rest);
        first
    }

    fn facts(&self) -> Vec<(String, String)> {
        let events = &self.events;
        let fact = |label: &str, value: String| (label.to_owned(), value);
        let mut facts = vec![
            fact(
                "simulated",
                format!(
                    "{} in {} steps of {}",
                    output::duration(self.simulated_seconds),
                    self.steps,
                    output::quantity(self.dt, "s")
                ),
            ),
            fact(
                "took",
                format!(
                    "{} ({:.0} steps/s, {} of CPU time)",
                    output::duration(self.wall_seconds),
                    self.steps_per_second,
                    output::duration(self.cpu_seconds)
                ),
            ),
            fact(
                "bodies",
                format!(
                    "{}, at most {}",
                    self.bodies,
                    output::count(self.most_contacts, "contact point")
                ),
            ),
            fact("solver", self.solver.clone()),
            fact("accuracy", accuracy(&self.accuracy, &self.overrides)),
            fact("method", self.methods.text()),
            fact("largest penetration", measured(self.max_penetration, self.rounding.length, "m")),
            fact(
                "worst residual",
                self.worst_residual.map_or(NOT_MEASURED.to_owned(), output::residual),
            ),
            fact("momentum error", measured(self.momentum_error, self.rounding.momentum, "N s")),
        ];
        if self.has_joints {
            facts.push(fact(
                "largest joint error",
                measured(self.max_joint_error, self.rounding.length, "m"),
            ));
        }
        if let Some(what) = &self.omissions {
            facts.push(fact("judged", format!("{}: {what}", self.scope_of_checks())));
        }
        facts.extend([
            fact(
                "events",
                format!(
                    "{} begun, {} ended, {}",
                    output::count(events.begun as usize, "contact"),
                    events.ended,
                    output::count(events.hits as usize, "impact")
                ),
            ),
            fact("state hash", self.state_hash.clone()),
        ]);
        facts
    }

    /// Returns the data of the report: the time series with this summary.
    pub fn page(&self, series: ReportData) -> ReportData {
        let recording = self.recording.as_deref().map(std::path::Path::new);
        let name = recording.and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        ReportData {
            title: self.heading(),
            engine: self.engine.clone(),
            recording: name.map_or(String::new(), |name| name.into_owned()),
            description: self.description.clone(),
            facts: self.facts(),
            conclusion: conclusion(&self.checks, self.notes.len(), self.interrupted),
            notes: self.notes.clone(),
            checks: self.checks.clone(),
            energy_scale: self.energy_scale,
            bodies: self.flagged_first(series.bodies),
            ..series
        }
    }
}

/// Text in place of a value that was not measured.
const NOT_MEASURED: &str = "not measured";

fn measured(value: Option<f64>, rounding: f64, unit: &str) -> String {
    value.map_or(NOT_MEASURED.to_owned(), |value| output::rounded(value, rounding, unit))
}

fn energy_rows(energy: &Energy, rounding: f64) -> Vec<(String, String)> {
    let totals = &energy.terms;
    let mut rows = vec![("at the start", energy.initial)];
    let terms = [
        ("normal impulses", totals.normal_impulses),
        ("friction", totals.friction),
        ("joints", totals.joints),
        ("position correction", totals.position_correction),
        ("integration", totals.integration),
    ];
    let is_shown = |(_, value): &(_, Option<f64>)| value.is_none_or(|value| value.abs() > rounding);
    rows.extend(terms.into_iter().filter(is_shown));
    rows.extend(
        [("contacts, joints and errors", totals.unsplit)].into_iter().filter(|row| row.1.is_some()),
    );
    let terms = [
        ("damping", totals.damping),
        ("applied forces", totals.applied_forces),
        ("moving environment", totals.moving_environment),
    ];
    rows.extend(terms.into_iter().filter(is_shown));
    let end = totals.kinetic.zip(totals.potential).map(|(kinetic, potential)| kinetic + potential);
    rows.push(("at the end", end));
    rows.push(("  kinetic", totals.kinetic));
    rows.push(("  potential", totals.potential));
    rows.push(("worst error of a step", energy.worst_error));
    let cell = |(label, value): (&str, Option<f64>)| {
        (label.to_owned(), format!("{:>14}", measured(value, rounding, "J")))
    };
    rows.into_iter().map(cell).collect()
}

/// Writes the report of a recording.
pub fn report(args: &ReportArgs) -> Result<Outcome, Failure> {
    let path = args.out.clone().unwrap_or_else(|| args.recording.with_extension("html"));
    let recording = Recording::open(&args.recording)?;
    Failure::ensure_distinct(&args.recording, &path)?;
    let (file, simulation) = recorded_scene(&recording, None)?;
    let mut monitor = Monitor::new(file.scene(), &simulation);
    let mut series = Series::new(simulation.world(), simulation.dt());
    let mut last = Frame::default();
    for frame in recording.frames() {
        let frame = frame?;
        if frame.step > 0 {
            monitor.observe(&frame);
            series.observe(&frame, &monitor);
        }
        last = frame;
    }
    let recorded = recording.summary().and_then(|json| serde_json::from_str::<Value>(json).ok());
    let mut summary = Summary::of(&file, &simulation, &monitor, &Clock::default(), &last);
    summary.restore_run(recorded.as_ref(), &recording);
    summary.notes = notes_of(&recording);
    summary.omissions = omissions(&recording);
    if summary.omissions.is_some() {
        summary.restore_checks(recorded.as_ref());
    }
    summary.recording = Some(args.recording.display().to_string());
    let data = series.finish(&last, &monitor, Some(&recording))?;
    let page = report::html(&summary.page(data));
    atomic_file::write(&path, &page)?;
    note_if_cut_off(&recording);
    if let Some(what) = &summary.omissions {
        output::eprint(&format!("note: {what}: {}", summary.scope_of_checks()));
    }
    output::print(&format!("{}", path.display()));
    Ok(Outcome::Good)
}

impl Summary {
    /// Restores the values that only the run itself has: how it ended and how long it took.
    fn restore_run(&mut self, recorded: Option<&Value>, recording: &Recording) {
        let recorded_value = |key: &str| recorded.and_then(|summary| summary.get(key));
        let seconds = |key: &str| recorded_value(key).and_then(Value::as_f64).unwrap_or(0.0);
        self.engine = recording.header().engine.clone();
        self.interrupted = recorded_value("interrupted").is_none_or(|value| *value == true);
        self.wall_seconds = seconds("wall_seconds");
        self.cpu_seconds = seconds("cpu_seconds");
        self.steps_per_second = seconds("steps_per_second");
        self.threads = recording.header().threads;
        self.threads_used =
            recorded_value("threads_used").and_then(Value::as_u64).map(|used| used as usize);
    }

    /// Restores the checks made during the run, which cover every step and every contact.
    fn restore_checks(&mut self, recorded: Option<&Value>) {
        let recorded_value = |key: &str| recorded.and_then(|summary| summary.get(key));
        let checks =
            recorded_value("checks").and_then(|checks| serde_json::from_value(checks.clone()).ok());
        let (Some(checks), Some(events)) = (checks, recorded_value("events")) else { return };
        let count = |key: &str| events.get(key).and_then(Value::as_u64).unwrap_or(0);
        let number = |key: &str| recorded_value(key).and_then(Value::as_f64);
        (self.checks, self.checks_from_run) = (checks, true);
        let methods =
            recorded_value("methods").and_then(|value| serde_json::from_value(value.clone()).ok());
        self.methods = methods.unwrap_or(self.methods);
        self.events = Counts {
            begun: count("begun"),
            ended: count("ended"),
            hits: count("hits"),
            // Recorded under its old name by earlier versions.
            quarantined: count("quarantined") + count("contained"),
        };
        self.max_penetration = number("max_penetration");
        self.max_joint_error = number("max_joint_error");
        self.worst_residual = number("worst_residual");
        self.momentum_error = number("momentum_error");
        self.most_contacts = number("most_contacts").unwrap_or(0.0) as usize;
    }

    /// Describes the steps that the checks of a report cover.
    fn scope_of_checks(&self) -> &'static str {
        match self.checks_from_run {
            true => "checks cover every step of the run, plots and marks show only recorded steps",
            false => "checks cover only recorded steps",
        }
    }
}

/// Describes the omissions of a recording; `None` if it holds everything.
pub fn omissions(recording: &Recording) -> Option<String> {
    let Recorded { every, contacts } = recording.header().recorded;
    let steps = (every > 1).then(|| format!("every {every} steps recorded"));
    let contacts = (!contacts).then(|| "contacts not recorded".to_owned());
    let both: Vec<String> = steps.into_iter().chain(contacts).collect();
    (!both.is_empty()).then(|| both.join(", "))
}

/// Returns a value of the summary that a recording ends with, if it has one.
pub fn recorded<T: DeserializeOwned>(recording: &Recording, key: &str) -> Option<T> {
    let summary: Value = serde_json::from_str(recording.summary()?).ok()?;
    serde_json::from_value(summary.get(key)?.clone()).ok()
}

/// Returns the notes of a recording. Those that a kill cut off, or that an earlier version did not record, are those of its
/// scene; a world that a program built has none.
pub fn notes_of(recording: &Recording) -> Vec<String> {
    let of_scene = || {
        let (file, simulation) = recorded_scene(recording, None).ok()?;
        run::notes(&file, &simulation).ok()
    };
    recorded(recording, "notes").or_else(of_scene).unwrap_or_default()
}

/// Prints a note to standard error if a recording is truncated.
pub fn note_if_cut_off(recording: &Recording) {
    if !recording.is_complete() {
        output::eprint(&format!(
            "note: the recording is truncated after step {}",
            recording.steps()
        ));
    }
}

/// Builds the scene of a recording.
pub fn recorded_scene(
    recording: &Recording,
    threads: Option<u32>,
) -> Result<(SceneFile, Simulation), Failure> {
    let scene = &recording.header().scene;
    if scene.is_empty() {
        let message = "the recording holds no scene: a program built its world";
        return Err(Failure::Input(message.to_owned()));
    }
    // No more bodies and colliders than were recorded, even if the embedded scene is damaged.
    let bodies = recording.bodies().len() as u64;
    let colliders = recording.bodies().iter().map(|body| body.colliders.len() as u64).sum();
    let limits =
        Limits { bodies, colliders, points: u64::MAX, unused_settings: true, ..Limits::default() };
    let set = threads.map(|count| ("world.threads".to_owned(), count.to_string()));
    let options = Options { limits, set: set.into_iter().collect() };
    let file = SceneFile::parse(scene, "recorded scene.json", &options)?;
    let simulation = file.build()?;
    Ok((file, simulation))
}
