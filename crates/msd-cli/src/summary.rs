//! What a run came to: for the terminal, as JSON, and as the report's head. And `msd report`.

use msd_record::{Frame, Recorded, Recording};
use msd_scene::format::Solver;
use msd_scene::{Limits, Options, SceneFile, Simulation};
use serde::Serialize;
use serde_json::Value;

use crate::args::ReportArgs;
use crate::failure::{Failure, Outcome};
use crate::part;
use crate::report::{self, BodySeries, ReportData};
use crate::run::Clock;
use crate::series::Series;
use crate::show;
use crate::sums::{Counts, Energy};
use crate::verdict::{Check, Methods, Verdict, Watch};

/// Name and version of the engine.
pub const ENGINE: &str = concat!("msd ", env!("CARGO_PKG_VERSION"));

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name and version of the engine.
    pub engine: String,
    /// The scene's title.
    pub title: String,
    /// What the scene shows.
    pub description: String,
    /// Path of the recording, if one was written.
    pub recording: Option<String>,
    /// Its size.
    pub recording_bytes: Option<u64>,
    /// Path of the report, if one was written.
    pub report: Option<String>,
    /// Whether the run was ended before its time.
    pub interrupted: bool,
    /// Steps taken.
    pub steps: u64,
    /// Steps planned.
    pub planned_steps: u64,
    /// Time step, s.
    pub dt: f64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Time on the wall of stepping alone, s.
    pub wall_seconds: f64,
    /// Processor time of stepping alone, on all of its threads, s.
    pub cpu_seconds: f64,
    /// Steps in a second on the wall.
    pub steps_per_second: f64,
    /// Most threads that were allowed.
    pub threads: u32,
    /// Most threads that a step ran on, if this is known.
    pub threads_used: Option<usize>,
    /// How impulses were found.
    pub solver: String,
    /// Bodies in the scene.
    pub bodies: usize,
    /// Hash of the last state, hexadecimal.
    pub state_hash: String,
    /// By which method how many bodies were computed.
    pub methods: Methods,
    /// Deepest overlap at the start or the end of a step, m. Figures that were not measured are null.
    pub max_penetration: Option<f64>,
    /// Largest position error of a joint at the end of a step, m.
    pub max_joint_error: Option<f64>,
    /// Worst relative residual of contacts and joints.
    pub worst_residual: Option<f64>,
    /// Most contact points in a step.
    pub most_contacts: usize,
    /// Sums of the energy ledger, if it was kept.
    pub energy: Option<Energy>,
    /// Largest momentum that a step's impulses do not account for, N s.
    pub momentum_error: Option<f64>,
    /// How many events there were.
    pub events: Counts,
    /// The verdict on each check.
    pub checks: Vec<Check>,
    /// What `msd check` has to say about the scene.
    pub notes: Vec<String>,
    /// Whether there are joints.
    #[serde(skip)]
    pub has_joints: bool,
    /// Energy that is worth a line in plots, J.
    #[serde(skip)]
    pub energy_scale: f64,
    /// What the recording leaves out that this is read from.
    #[serde(skip)]
    pub left_out: Option<String>,
    /// Whether the checks are those that the run itself made.
    #[serde(skip)]
    pub judged_live: bool,
}

impl Summary {
    /// Of a run that has ended.
    pub fn of(file: &SceneFile, simulation: &Simulation, watch: &Watch, clock: &Clock) -> Self {
        let world = simulation.world();
        Self {
            engine: ENGINE.to_owned(),
            title: file.scene().title.clone(),
            description: file.scene().description.clone(),
            recording: None,
            recording_bytes: None,
            report: None,
            interrupted: false,
            steps: world.steps(),
            planned_steps: simulation.steps(),
            dt: simulation.dt(),
            simulated_seconds: world.time(),
            wall_seconds: clock.wall,
            cpu_seconds: clock.cpu,
            steps_per_second: if clock.wall > 0.0 {
                world.steps() as f64 / clock.wall
            } else {
                0.0
            },
            threads: simulation.threads(),
            threads_used: clock.threads,
            solver: Solver::of(world.settings().method).name().to_owned(),
            bodies: world.bodies().len(),
            state_hash: format!("{:016x}", world.state_hash()),
            methods: watch.methods(),
            max_penetration: watch.deepest(),
            max_joint_error: watch.joint_error(),
            worst_residual: watch.residual(),
            most_contacts: watch.most_contacts(),
            energy: watch.energy().cloned(),
            momentum_error: watch.momentum_error(),
            events: watch.counts(),
            checks: watch.checks(),
            notes: Vec::new(),
            has_joints: watch.has_joints(),
            energy_scale: watch.energy_scale(),
            left_out: None,
            judged_live: false,
        }
    }

    /// As one JSON object. Numbers that are not finite are null.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As a terminal shows it.
    pub fn table(&self) -> String {
        let mut text = String::new();
        text += &format!("{}\n\n{}\n\n", self.heading(), show::facts(&self.facts()));
        if let Some(energy) = &self.energy {
            text += &format!("  energy\n{}\n\n", show::facts(&energy_rows(energy)));
        }
        let width = self.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        for Check { name, verdict, message, .. } in &self.checks {
            let word = show::verdict(*verdict, verdict.word());
            text += &format!("  {word}  {name:<width$}  {message}\n");
        }
        for note in &self.notes {
            text += &format!("  {}  {}\n", show::verdict(Verdict::Warn, "note"), show::plain(note));
        }
        text += &format!("\n  {}", self.verdict());
        if let Some(path) = &self.recording {
            let size =
                self.recording_bytes.map_or(String::new(), |n| format!(" ({})", show::bytes(n)));
            text += &format!("\n\n  recording  {path}{size}");
        }
        if let Some(path) = &self.report {
            text += &format!("\n  report     {path}");
        }
        text
    }

    fn heading(&self) -> String {
        let title = if self.title.is_empty() { "Run".to_owned() } else { show::plain(&self.title) };
        let state = if self.interrupted { " (interrupted)" } else { "" };
        format!("{title}{state}")
    }

    /// All checks in one sentence.
    fn verdict(&self) -> String {
        let count = |which| self.checks.iter().filter(|check| check.verdict == which).count();
        let (passed, skipped) = (count(Verdict::Pass), count(Verdict::Skip));
        let (warned, failed) = (count(Verdict::Warn), count(Verdict::Fail));
        let mut parts = Vec::new();
        if failed > 0 {
            parts.push(format!("{} failed", show::count(failed, "check")));
        }
        if warned > 0 {
            parts.push(show::count(warned, "warning"));
        }
        parts.push(format!("{passed} passed"));
        if skipped > 0 {
            parts.push(format!("{skipped} skipped"));
        }
        let text = match (failed + warned, skipped) {
            (0, 0) => "All checks passed".to_owned(),
            (0, n) => format!("All checks that could be judged passed, {n} skipped"),
            _ => parts.join(", "),
        };
        let end = if self.interrupted { " until it was interrupted." } else { "." };
        let worst = match (failed, warned) {
            (0, 0) => Verdict::Pass,
            (0, _) => Verdict::Warn,
            _ => Verdict::Fail,
        };
        show::verdict(worst, &(text + end))
    }

    /// Bodies that a check names come first: the page draws the first few.
    fn concerned_first(&self, bodies: Vec<BodySeries>) -> Vec<BodySeries> {
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
                    show::duration(self.simulated_seconds),
                    self.steps,
                    show::quantity(self.dt, "s")
                ),
            ),
            fact(
                "took",
                format!(
                    "{} ({:.0} steps/s, {} of processor time)",
                    show::duration(self.wall_seconds),
                    self.steps_per_second,
                    show::duration(self.cpu_seconds)
                ),
            ),
            fact(
                "bodies",
                format!(
                    "{}, at most {}",
                    self.bodies,
                    show::count(self.most_contacts, "contact point")
                ),
            ),
            fact("solver", self.solver.clone()),
            fact("method", self.methods.text()),
            fact("largest penetration", measured(self.max_penetration, "m")),
            fact(
                "worst residual",
                self.worst_residual.map_or(NOT_MEASURED.to_owned(), |value| format!("{value:.1e}")),
            ),
            fact("momentum error", measured(self.momentum_error, "N s")),
        ];
        if self.has_joints {
            facts.push(fact("largest joint error", measured(self.max_joint_error, "m")));
        }
        if let Some(what) = &self.left_out {
            facts.push(fact("judged", format!("{}: {what}", self.judged())));
        }
        facts.extend([
            fact(
                "events",
                format!(
                    "{} begun, {} ended, {}",
                    show::count(events.begun as usize, "contact"),
                    events.ended,
                    show::count(events.hits as usize, "impact")
                ),
            ),
            fact("state hash", self.state_hash.clone()),
        ]);
        facts
    }

    /// The report's page: the course of the run under these figures.
    pub fn page(&self, course: ReportData) -> ReportData {
        let recording = self.recording.as_deref().map(std::path::Path::new);
        let name = recording.and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        ReportData {
            title: self.heading(),
            engine: self.engine.clone(),
            recording: name.map_or(String::new(), |name| name.into_owned()),
            description: self.description.clone(),
            facts: self.facts(),
            checks: self.checks.clone(),
            energy_scale: self.energy_scale,
            bodies: self.concerned_first(course.bodies),
            ..course
        }
    }
}

/// What stands where a figure was not measured.
const NOT_MEASURED: &str = "not measured";

fn measured(value: Option<f64>, unit: &str) -> String {
    value.map_or(NOT_MEASURED.to_owned(), |value| show::quantity(value, unit))
}

fn energy_rows(energy: &Energy) -> Vec<(String, String)> {
    let sums = &energy.terms;
    let mut rows = vec![("at the start", energy.initial)];
    let terms = [
        ("normal impulses", sums.restitution),
        ("friction", sums.friction),
        ("joints", sums.joints),
        ("position correction", sums.correction),
        ("integration", sums.integration),
    ];
    rows.extend(terms.into_iter().filter(|(_, value)| *value != Some(0.0)));
    rows.extend(
        [("contacts + joints + errors", sums.unsplit)].into_iter().filter(|row| row.1.is_some()),
    );
    let terms = [
        ("damping", sums.damping),
        ("applied forces", sums.user),
        ("moving environment", sums.environment),
    ];
    rows.extend(terms.into_iter().filter(|(_, value)| *value != Some(0.0)));
    let end = sums.kinetic.zip(sums.potential).map(|(kinetic, potential)| kinetic + potential);
    rows.push(("at the end", end));
    rows.push(("  kinetic", sums.kinetic));
    rows.push(("  potential", sums.potential));
    rows.push(("worst error of a step", energy.worst_error));
    let cell = |(label, value): (&str, Option<f64>)| {
        (label.to_owned(), format!("{:>14}", measured(value, "J")))
    };
    rows.into_iter().map(cell).collect()
}

/// Writes the report of a recording.
pub fn report(args: &ReportArgs) -> Result<Outcome, Failure> {
    let path = args.out.clone().unwrap_or_else(|| args.recording.with_extension("html"));
    let recording = Recording::open(&args.recording)?;
    Failure::unless_other(&args.recording, &path)?;
    let (file, simulation) = recorded_scene(&recording, None)?;
    let mut watch = Watch::new(file.scene(), &simulation);
    let mut series = Series::new(simulation.world());
    let mut last = Frame::default();
    for frame in recording.frames() {
        let frame = frame?;
        if frame.step > 0 {
            watch.see(&frame);
            series.see(&frame);
        }
        last = frame;
    }
    let recorded = recording.summary().and_then(|json| serde_json::from_str::<Value>(json).ok());
    let mut summary = Summary::of(&file, &simulation, &watch, &Clock::default());
    summary.take_run(recorded.as_ref(), &recording, &last);
    summary.left_out = left_out(&recording);
    if summary.left_out.is_some() {
        summary.take_verdict(recorded.as_ref());
    }
    summary.recording = Some(args.recording.display().to_string());
    let page = report::html(&summary.page(series.finish(&last)));
    part::write(&path, &page)?;
    note_if_cut_off(&recording);
    if let Some(what) = &summary.left_out {
        show::err(&format!("note: {what}: {}", summary.judged()));
    }
    show::out(&format!("{}", path.display()));
    Ok(Outcome::Good)
}

impl Summary {
    /// What only the run itself knew: how it ended, how long it took.
    fn take_run(&mut self, recorded: Option<&Value>, recording: &Recording, last: &Frame) {
        let told = |key: &str| recorded.and_then(|summary| summary.get(key));
        let seconds = |key: &str| told(key).and_then(Value::as_f64).unwrap_or(0.0);
        self.engine = recording.header().engine.clone();
        self.interrupted = told("interrupted").is_none_or(|value| *value == true);
        self.wall_seconds = seconds("wall_seconds");
        self.cpu_seconds = seconds("cpu_seconds");
        self.steps_per_second = seconds("steps_per_second");
        self.threads = recording.header().threads;
        self.threads_used = told("threads_used").and_then(Value::as_u64).map(|used| used as usize);
        self.steps = last.step;
        self.simulated_seconds = last.time;
        self.state_hash = format!("{:016x}", last.state_hash);
    }

    /// What the run itself found, which saw every step and every contact.
    fn take_verdict(&mut self, recorded: Option<&Value>) {
        let told = |key: &str| recorded.and_then(|summary| summary.get(key));
        let checks = told("checks").and_then(|checks| serde_json::from_value(checks.clone()).ok());
        let (Some(checks), Some(events)) = (checks, told("events")) else { return };
        let count = |key: &str| events.get(key).and_then(Value::as_u64).unwrap_or(0);
        let number = |key: &str| told(key).and_then(Value::as_f64);
        (self.checks, self.judged_live) = (checks, true);
        let methods = told("methods").and_then(|value| serde_json::from_value(value.clone()).ok());
        self.methods = methods.unwrap_or(self.methods);
        self.events = Counts {
            begun: count("begun"),
            ended: count("ended"),
            hits: count("hits"),
            quarantined: count("quarantined"),
        };
        self.max_penetration = number("max_penetration");
        self.max_joint_error = number("max_joint_error");
        self.worst_residual = number("worst_residual");
        self.momentum_error = number("momentum_error");
        self.most_contacts = number("most_contacts").unwrap_or(0.0) as usize;
    }

    /// What the checks of a report saw of its run.
    fn judged(&self) -> &'static str {
        match self.judged_live {
            true => {
                "the run itself judged every step, curves and marks show only what was recorded"
            }
            false => "the report judges only what was recorded",
        }
    }
}

/// What of its run a recording leaves out, in words; none if it holds everything.
pub fn left_out(recording: &Recording) -> Option<String> {
    let Recorded { every, contacts } = recording.header().recorded;
    let steps = (every > 1).then(|| format!("every {every} steps recorded"));
    let contacts = (!contacts).then(|| "contacts not recorded".to_owned());
    let both: Vec<String> = steps.into_iter().chain(contacts).collect();
    (!both.is_empty()).then(|| both.join(", "))
}

/// Says on the error stream if a recording ends before its run did.
pub fn note_if_cut_off(recording: &Recording) {
    if !recording.is_complete() {
        show::err(&format!("note: the recording was cut off after step {}", recording.steps()));
    }
}

/// The scene in a recording, built anew.
pub fn recorded_scene(
    recording: &Recording,
    threads: Option<u32>,
) -> Result<(SceneFile, Simulation), Failure> {
    let scene = &recording.header().scene;
    if scene.is_empty() {
        let message = "the recording holds no scene: its world was built by a program";
        return Err(Failure::Input(message.to_owned()));
    }
    // No more bodies than were recorded, whatever the scene in it says.
    let bodies = recording.bodies().len() as u64;
    let limits = Limits { bodies, points: u64::MAX, unused_settings: true, ..Limits::default() };
    let set = threads.map(|count| ("world.threads".to_owned(), count.to_string()));
    let options = Options { limits, set: set.into_iter().collect() };
    let file = SceneFile::parse(scene, "recorded scene.json", &options)?;
    let simulation = file.build()?;
    Ok((file, simulation))
}
