//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use msd_record::Recorded;
use msd_scene::{Limits, Options};
use msd_sim::Accuracy;

use crate::export::table::Table;
use crate::failure::{Failure, Outcome};

/// Rigid-body contact dynamics: run scenes, record them, check their physics.
#[derive(Debug, Parser)]
#[command(
    name = "msd",
    version,
    propagate_version = true,
    after_help = "Examples:
  msd run scenes/tower.toml           run a scene, record it, check its physics
  msd check my-scene.toml             check a scene without running it
  msd verify runs/tower.mcap          repeat a recorded run and compare it bit for bit
  msd validate                        compare msd with closed-form solutions

Exit codes:
  0  success
  1  a physics check failed, or a comparison found a difference
  2  bad input: arguments, scene, mesh or recording
  3  a file could not be read or written"
)]
pub struct Msd {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Check(CheckArgs),
    Verify(VerifyArgs),
    Diff(DiffArgs),
    Info(InfoArgs),
    Export(ExportArgs),
    Report(ReportArgs),
    Scenes(ScenesArgs),
    Validate(ValidateArgs),
    Bench(BenchArgs),
    #[cfg(feature = "view")]
    View(ViewArgs),
    /// Print the JSON Schema of scene files, for editors and generators
    ///
    /// In VS Code with Even Better TOML, put `#:schema scene.schema.json` at the top of a scene.
    #[command(after_help = "Example:\n  msd schema > scene.schema.json")]
    Schema,
    /// Print a shell completion script, including the names of scenes and benchmarks
    #[command(
        after_help = "Example:\n  msd completions bash > ~/.local/share/bash-completion/completions/msd"
    )]
    Completions {
        /// Shell to complete for
        shell: Shell,
    },
    /// Write man pages, one per command
    #[command(after_help = "Example:\n  msd man ~/.local/share/man/man1")]
    Man {
        /// Folder for the pages
        dir: PathBuf,
    },
}

/// The source of a scene.
#[derive(Debug, Args)]
pub struct SceneArgs {
    /// Scene file (TOML or JSON), or name of a built-in scene (`msd scenes`)
    pub scene: PathBuf,
    #[command(flatten)]
    pub opening: OpenArgs,
}

/// The values to replace in a scene, and its limits.
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// How exact steps are, and what they may cost [default: that of the scene, else balanced]
    ///
    /// The same as `--set accuracy=LEVEL`, which it replaces, except that settings of the scene which have no effect with
    /// it are left out instead of rejected.
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub accuracy: Option<AccuracyName>,
    /// Replace a value of the scene; may be repeated
    ///
    /// The key is a setting of the world or a path: `substeps=8`, `gravity=[0,0,-1.62]`,
    /// `body.crate.mass=2.5`, `body.table.collider.top.density=700`, `body[3].velocity=[1,0,0]`,
    /// `materials.steel.friction=0.2`. Numbers may be fractions: `dt=1/120`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Maximum number of bodies
    #[arg(long, value_name = "N", default_value_t = Limits::default().bodies)]
    pub max_bodies: u64,
    /// Maximum number of colliders of all bodies together
    #[arg(long, value_name = "N", default_value_t = Limits::default().colliders)]
    pub max_colliders: u64,
    /// Maximum number of points of a hull or mesh; all bodies together may have 40 times as many
    #[arg(long, value_name = "N", default_value_t = Limits::default().points)]
    pub max_points: u64,
    /// Maximum size of the scene file, in bytes
    #[arg(long, value_name = "N", default_value_t = Limits::default().scene_bytes)]
    pub max_scene_bytes: u64,
    /// Maximum size of a mesh file, in bytes
    #[arg(long, value_name = "N", default_value_t = Limits::default().mesh_bytes)]
    pub max_mesh_bytes: u64,
}

impl OpenArgs {
    /// Returns the options for opening the scene file.
    pub fn options(&self) -> Options {
        let limits = Limits {
            bodies: self.max_bodies,
            colliders: self.max_colliders,
            points: self.max_points,
            scene_bytes: self.max_scene_bytes,
            mesh_bytes: self.max_mesh_bytes,
            // The scene may have settings of a different accuracy.
            unused_settings: self.accuracy.is_some(),
        };
        let mut set = self.set.clone();
        let accuracy = self.accuracy.map(|level| format!("\"{}\"", Accuracy::from(level)));
        set.extend(accuracy.map(|name| ("world.accuracy".to_owned(), name)));
        Options { limits, set }
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Run a scene, record it, and check its physics
///
/// Writes NAME.mcap (the recording) and NAME.html (the report) into the folder given by --out and prints a summary
/// with the verdict of each check. Checks cover every step, including those that are not recorded. Files of an
/// earlier run with the same name are replaced. Ctrl-C ends the run cleanly: the recording is complete up to that
/// step.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd run scenes/tower.toml
  msd run bouncing --set dt=0.004 --out /tmp/runs
  msd run bricks --accuracy fast                              sweep everything
  msd run bricks --record-every 10 --record contacts=off      a small recording
  msd run scenes/pyramid.toml --solver conic --json --no-report | jq .checks
  msd run bricks --save state.bin --at 3.0                    keep the state after 3 s
  msd run bricks --from state.bin --threads 1                 go on from there, bit for bit

Exit codes: 0 checks passed (warnings allowed), 1 a check failed, 2 bad input, 3 I/O error.")]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Folder for the recording and the report
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
    /// Maximum number of threads [default: all cores]; fewer are used where more would not help. Results are
    /// bit-identical
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Solver of contacts and joints
    #[arg(long, value_name = "S", value_enum)]
    pub solver: Option<SolverName>,
    /// Print only one JSON object, instead of the summary, to standard output
    #[arg(long)]
    pub json: bool,
    /// Hide the progress bar and print only failed checks
    #[arg(long, short)]
    pub quiet: bool,
    /// Record only every Nth step, plus the first and the last
    ///
    /// Events and energies of the other steps are not recorded; the checks still cover them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub record_every: u64,
    /// What to record besides the motion of bodies: contacts=off omits contact points and their forces
    #[arg(long, value_name = "WHAT=on|off", value_parser = record_choice, conflicts_with = "no_record")]
    pub record: Vec<RecordChoice>,
    /// Write the state at the end, or at --at, into a file from which --from goes on bit for bit
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Simulated time at which --save writes the state, in seconds
    #[arg(long, value_name = "SECONDS", requires = "save")]
    pub at: Option<f64>,
    /// Go on from a state of this scene that --save wrote, up to the scene's duration
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Do not write a recording
    #[arg(long, conflicts_with = "record_every")]
    pub no_record: bool,
    /// Do not write a report
    #[arg(long)]
    pub no_report: bool,
}

/// A part of the recording that can be switched off.
#[derive(Clone, Copy, Debug)]
pub enum RecordChoice {
    Contacts(bool),
}

fn record_choice(text: &str) -> Result<RecordChoice, String> {
    let (what, value) = key_value(text).map_err(|_| "expected contacts=on or contacts=off")?;
    let on = match value.as_str() {
        "on" => true,
        "off" => false,
        other => return Err(format!("expected `on` or `off`, found `{other}`")),
    };
    match what.as_str() {
        "contacts" => Ok(RecordChoice::Contacts(on)),
        other => Err(format!("expected `contacts`, found `{other}`")),
    }
}

impl RunArgs {
    /// Returns the selection of what is recorded.
    pub fn recorded(&self) -> Recorded {
        let contacts = self.record.last().is_none_or(|RecordChoice::Contacts(on)| *on);
        Recorded { every: self.record_every, contacts }
    }
}

/// The name of an accuracy.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AccuracyName {
    /// Sweep every island: fastest, approximate
    Fast,
    /// Solve islands of up to 128 bodies exactly within a budget, sweep larger ones that move
    Balanced,
    /// Solve every island to the tolerance, whatever it costs; fail if steps that do not converge could displace bodies
    Exact,
}

impl From<AccuracyName> for Accuracy {
    fn from(name: AccuracyName) -> Self {
        match name {
            AccuracyName::Fast => Self::Fast,
            AccuracyName::Balanced => Self::Balanced,
            AccuracyName::Exact => Self::Exact,
        }
    }
}

/// The name of a solver.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SolverName {
    /// Warm-started sweeps, then Newton steps
    SoftStep,
    /// Projected Gauss-Seidel, iterated to the tolerance
    Pgs,
    /// Exact active-set method; ignores friction
    ActiveSet,
    /// Conic solver with exact Coulomb friction
    Conic,
}

/// Check a scene without running it
///
/// Reads the scene, builds its world and warns of valid but probably unintended values: bodies that overlap at the
/// start, mass ratios above 1000, physically impossible inertia, sliver hulls, non-convex meshes, lengths that look
/// like millimeters, and a time step too long for the fastest or smallest body.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd check scenes/bullet.toml
  msd check my-scene.toml --strict --json

Exit codes: 0 no warnings, or warnings without --strict, 1 warnings with --strict, 2 bad input, 3 I/O error.")]
pub struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Exit with code 1 if there is a warning
    #[arg(long)]
    pub strict: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Repeat a recorded run and compare it bit for bit
///
/// Rebuilds the recorded scene, steps it, and compares each recorded step. Reports the first difference: step, stage of
/// the step, body, field and both values.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  msd verify runs/tower.mcap --threads 2

Exit codes: 0 all steps are identical, 1 a step differs, 2 not a readable recording, 3 I/O error.")]
pub struct VerifyArgs {
    /// Recording to read
    pub recording: PathBuf,
    /// Maximum number of threads [default: all cores]; fewer are used where more would not help
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Hide the progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// Compare two recordings step by step, or two scenes by meaning
///
/// For recordings, reports the first step, stage, body and field that differ, and the largest distance between the same
/// body in both runs, at their last common step and over all steps, in meters and relative to the length of the body.
/// Steps that only one recording holds are skipped. For scenes, lists the differences in meaning: layout, key order and
/// explicit defaults are ignored.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd diff runs/a.mcap runs/b.mcap
  msd diff scenes/ladder-holds.toml scenes/ladder-slips.toml

Exit codes: 0 identical, 1 different, 2 bad input, 3 I/O error.")]
pub struct DiffArgs {
    /// Recording or scene
    pub a: PathBuf,
    /// Second recording or scene
    pub b: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Show the contents of a recording
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  msd info runs/tower.mcap")]
pub struct InfoArgs {
    /// Recording to read
    pub recording: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Write motion, contact forces, joint forces or energies of a recording as a table
///
/// SI units, vectors in world axes, numbers in full precision. Values that were not measured are empty (CSV) or null,
/// never 0. Forces are means over the step: impulse / dt. After step and time, each table has these columns:
///
/// bodies: body, position of the center of mass px py pz, rotation as a quaternion qx qy qz qw, velocity vx vy vz,
/// angular velocity wx wy wz
///
/// contacts: a and b, each the name of a body, or of a body and its collider if it has several, as in table/top; index of
/// the point, its position px py pz, normal from a to b nx ny nz, gap (negative is an overlap), force on b fx fy fz, its
/// normal component normal_force and tangential component friction_force, coefficient of friction, approach speed of an
/// impact, else 0
///
/// joints: joint (index in the scene, from 0), bodies a and b, force on b fx fy fz, its magnitude force
///
/// energy: kinetic and potential energy; work in this step of normal_impulses, friction, joints, position_correction,
/// damping, applied_forces, moving_environment, integration, and the sum of all contact terms; error of the ledger;
/// momentum px py pz, angular momentum lx ly lz
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd export runs/tower.mcap --csv tower.csv
  msd export runs/tower.mcap --what contacts --body floor --csv floor.csv
  msd export runs/tower.mcap --json -             one JSON object per line, to standard output
  msd export runs/tower.mcap --parquet tower.parquet")]
#[command(group(ArgGroup::new("format").required(true).multiple(true)))]
pub struct ExportArgs {
    /// Recording to read
    pub recording: PathBuf,
    /// Table to write
    #[arg(long = "what", value_enum, value_name = "TABLE", default_value_t = Table::Bodies)]
    pub table: Table,
    /// Write comma-separated values; - is standard output
    #[arg(long, value_name = "FILE", group = "format")]
    pub csv: Option<PathBuf>,
    /// Write one JSON object per line; - is standard output
    #[arg(long, value_name = "FILE", group = "format")]
    pub json: Option<PathBuf>,
    /// Write Apache Parquet
    #[arg(long, value_name = "FILE", group = "format")]
    pub parquet: Option<PathBuf>,
    /// Only this body, its contacts or its joints; may be repeated
    #[arg(long, value_name = "NAME")]
    pub body: Vec<String>,
    /// Only every Nth step
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
}

/// Write the report of a recording: one self-contained HTML page with plots
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  msd report runs/tower.mcap --out tower.html")]
pub struct ReportArgs {
    /// Recording to read
    pub recording: PathBuf,
    /// File to write [default: next to the recording]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// List the built-in scenes, or print or write them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd scenes                     list all scenes
  msd scenes tower               print one scene file
  msd scenes --write DIR         write all scene files")]
pub struct ScenesArgs {
    /// Print the file of this scene
    pub name: Option<String>,
    /// Write all scenes into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub write: Option<PathBuf>,
    /// Print a JSON list
    #[arg(long)]
    pub json: bool,
}

/// Compare msd with closed-form solutions of mechanics
///
/// Cases of flight, impact, friction, stability, invariance and energy. Prints the expected and the measured value, the
/// error, and whether it is within the tolerance.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd validate
  msd validate ladder stack          cases whose name contains a word
  msd validate --markdown > docs/validation.md

Exit codes: 0 all cases pass, 1 a case exceeds its tolerance, 2 no such case.")]
pub struct ValidateArgs {
    /// Run only cases whose name or group contains one of these words
    pub filter: Vec<String>,
    /// Print a Markdown page
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Measure the step time of built-in benchmarks
///
/// The benchmarks are walls, towers, piles, rain and a net of joints. Prints CPU and wall-clock time per step, the
/// deepest overlap of all steps and of the last quarter, the contact points of the last step, a figure of merit and the
/// state hash. The figure is the distance that the top of a wall moved (drift), the height of a heap (top), or the
/// largest joint error (gap). Compare times only on the same, otherwise idle machine.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd bench --list               list the benchmarks
  msd bench s1 s2r               run two of them
  msd bench s6r --steps 20 --threads 2

Exit codes: 0 success, 2 no such benchmark.")]
pub struct BenchArgs {
    /// Benchmarks to run [default: all but the largest, s10-1e5]
    pub ids: Vec<String>,
    /// Number of steps [default: that of each benchmark]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Maximum number of threads; fewer are used where more would not help. Results are bit-identical
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
    /// How exact steps are, and what they may cost [default: that of each benchmark, balanced]
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub accuracy: Option<AccuracyName>,
    /// List the benchmarks without running them
    #[arg(long)]
    pub list: bool,
}

/// Show a scene or a recording in the browser
///
/// Starts a server that only this machine can reach, prints its address and opens it. A scene is simulated live:
/// pause it, step it, change accuracy, gravity, time step, solver and friction, throw boxes, drag bodies. A recording is
/// replayed. Without an argument, shows the built-in scenes to choose from. Writes no files.
#[cfg(feature = "view")]
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd view                        choose a scene
  msd view tower                  simulate a scene
  msd view runs/tower.mcap        replay a recording
  msd view my-scene.toml --set dt=0.005 --port 8000 --no-open

Exit codes: 0 ended by the user, 2 bad input, 3 I/O error.")]
pub struct ViewArgs {
    /// Scene file, name of a built-in scene (`msd scenes`), or recording
    #[arg(value_name = "SCENE|RECORDING")]
    pub what: Option<PathBuf>,
    /// Port of the server; 0 chooses a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub opening: OpenArgs,
}

/// Writes man pages.
pub fn man(dir: &std::path::Path) -> Result<Outcome, Failure> {
    std::fs::create_dir_all(dir).map_err(|error| Failure::io(dir, error))?;
    clap_mangen::generate_to(Msd::command(), dir).map_err(|error| Failure::io(dir, error))?;
    Ok(Outcome::Good)
}
