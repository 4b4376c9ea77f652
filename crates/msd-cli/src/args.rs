//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use msd_record::Recorded;
use msd_scene::{Limits, Options};

use crate::export::table::What;
use crate::failure::{Failure, Outcome};

/// Rigid-body contact dynamics: run a scene, keep the run, read the verdict.
#[derive(Debug, Parser)]
#[command(
    name = "msd",
    version,
    propagate_version = true,
    after_help = "Examples:
  msd run scenes/tower.toml           run a scene, record it, say whether to believe it
  msd check my-scene.toml             look at a scene without running it
  msd verify runs/tower.mcap          run a recording again and compare every bit
  msd validate                        closed forms of mechanics, and how close msd comes

Exit codes:
  0  all is well
  1  a physics check failed, or two things differ
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
    /// In VS Code with Even Better TOML, put `#:schema scene.schema.json` at the head of a scene.
    #[command(after_help = "Example:\n  msd schema > scene.schema.json")]
    Schema,
    /// Print a shell's completion script, which also knows the names of scenes and benchmarks
    #[command(
        after_help = "Example:\n  msd completions bash > ~/.local/share/bash-completion/completions/msd"
    )]
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Write man pages, one for each verb
    #[command(after_help = "Example:\n  msd man ~/.local/share/man/man1")]
    Man {
        /// Folder to write them to
        dir: PathBuf,
    },
}

/// Where a scene comes from.
#[derive(Debug, Args)]
pub struct SceneArgs {
    /// A scene file (TOML or JSON), or the name of a scene that `msd scenes` lists
    pub scene: PathBuf,
    #[command(flatten)]
    pub opening: OpenArgs,
}

/// What of a scene is replaced, and what it may ask for.
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Replace a value of the scene; may be given several times
    ///
    /// A key is a setting of the world, or a path: `substeps=8`, `gravity=[0,0,-1.62]`,
    /// `body.crate.mass=2.5`, `body[3].velocity=[1,0,0]`, `materials.steel.friction=0.2`. A number may be a
    /// fraction: `dt=1/120`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Most bodies a scene may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().bodies)]
    pub max_bodies: u64,
    /// Most points a hull or mesh may have; all bodies together may have 40 times as many
    #[arg(long, value_name = "N", default_value_t = Limits::default().points)]
    pub max_points: u64,
    /// Largest scene file, in bytes
    #[arg(long, value_name = "N", default_value_t = Limits::default().scene_bytes)]
    pub max_scene_bytes: u64,
    /// Largest mesh file, in bytes
    #[arg(long, value_name = "N", default_value_t = Limits::default().mesh_bytes)]
    pub max_mesh_bytes: u64,
}

impl OpenArgs {
    /// How a scene's file is opened.
    pub fn options(&self) -> Options {
        let limits = Limits {
            bodies: self.max_bodies,
            points: self.max_points,
            scene_bytes: self.max_scene_bytes,
            mesh_bytes: self.max_mesh_bytes,
            ..Limits::default()
        };
        Options { limits, set: self.set.clone() }
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Run a scene, record it, and say whether the physics can be believed
///
/// Writes NAME.mcap (the recording) and NAME.html (the report) into the folder given by --out,
/// prints a table of figures and a verdict on each check. Every step is checked, also those that are not recorded. Files of an earlier run of the same name are
/// replaced. Ctrl-C ends the run cleanly: the recording is complete up to then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd run scenes/tower.toml
  msd run bouncing --set dt=0.004 --out /tmp/runs
  msd run bricks --record-every 10 --record contacts=off      a small recording
  msd run scenes/pyramid.toml --solver conic --json --no-report | jq .checks

Exit codes: 0 checks passed (warnings allowed), 1 a check failed, 2 bad input, 3 i/o.")]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Folder for the recording and the report
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
    /// Most threads to step on; all cores unless said. Fewer are used where more do not pay; the bits are the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// How impulses are found
    #[arg(long, value_name = "S", value_enum)]
    pub solver: Option<SolverName>,
    /// Print one JSON object instead of the table, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// No progress bar; print failed checks only
    #[arg(long, short)]
    pub quiet: bool,
    /// Record every Nth step only, besides the first and the last
    ///
    /// Events and energies of the steps between are not in the recording; the checks see them all the same.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub record_every: u64,
    /// What to record besides the motion of bodies: contacts=off leaves out where bodies touch and their forces
    #[arg(long, value_name = "WHAT=on|off", value_parser = record_choice, conflicts_with = "no_record")]
    pub record: Vec<RecordChoice>,
    /// Do not write a recording
    #[arg(long, conflicts_with = "record_every")]
    pub no_record: bool,
    /// Do not write a report
    #[arg(long)]
    pub no_report: bool,
}

/// Something that is recorded or not.
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
    /// What of the run is recorded.
    pub fn recorded(&self) -> Recorded {
        let contacts = self.record.last().is_none_or(|RecordChoice::Contacts(on)| *on);
        Recorded { every: self.record_every, contacts }
    }
}

/// Solvers by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SolverName {
    /// Warm-started sweeps and Newton steps
    SoftStep,
    /// Projected Gauss-Seidel to the tolerance
    Pgs,
    /// Exact without friction
    ActiveSet,
    /// Exact Coulomb friction
    Conic,
}

/// Look at a scene without running it
///
/// Reads it, builds its world, and looks for what is allowed and probably not meant: bodies that
/// overlap at the start, mass ratios above 1000, inertia that no body has, sliver hulls, meshes that are
/// not convex, lengths that look like millimetres, and a time step that is too long for the fastest or
/// smallest body.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd check scenes/bullet.toml
  msd check my-scene.toml --strict --json

Exit codes: 0 nothing wrong (or only warnings), 1 warnings with --strict, 2 bad input, 3 i/o.")]
pub struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// End with exit code 1 if there is a warning
    #[arg(long)]
    pub strict: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

/// Run a recording again and compare every bit
///
/// Builds the recorded scene anew, steps it, and compares each step that was recorded. If they differ it
/// says the first step, the stage of the step, the body and the field that differ, and both values.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  msd verify runs/tower.mcap --threads 2

Exit codes: 0 every step is the same, 1 they differ, 2 not a readable recording, 3 i/o.")]
pub struct VerifyArgs {
    /// A recording
    pub recording: PathBuf,
    /// Most threads to step on; all cores unless said. Fewer are used where more do not pay
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
    /// No progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// Compare two recordings step by step, or two scenes by what they mean
///
/// Of recordings it says the first step, stage, body and field that differ. It also says how far the runs
/// are apart at the last step of both, and at most: which body, by how many metres, and how much of its length that
/// is. Steps that only one of them holds are passed over. Of scenes it lists what
/// differs in meaning: layout, order of keys and values that are the default anyway do not matter.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd diff runs/a.mcap runs/b.mcap
  msd diff scenes/ladder-holds.toml scenes/ladder-slips.toml

Exit codes: 0 the same, 1 they differ, 2 bad input, 3 i/o.")]
pub struct DiffArgs {
    /// A recording or a scene
    pub a: PathBuf,
    /// Another of the same sort
    pub b: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

/// Say what a recording holds
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  msd info runs/tower.mcap")]
pub struct InfoArgs {
    /// A recording
    pub recording: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

/// Write motion, contact forces, joint forces or energies of a recording as a table
///
/// All in SI units, vectors in world axes, numbers with all their digits. What was not measured is empty (CSV) or
/// null, never 0. Forces are means over the step: impulse / dt. The columns behind step and time:
///
///   bodies    body, position of the centre of mass px py pz, rotation as a quaternion qx qy qz qw, velocity
///             vx vy vz, angular velocity wx wy wz
///   contacts  bodies a and b, number of the point, its position px py pz, normal from a to b nx ny nz, gap
///             (negative is an overlap), force on b fx fy fz, its part along the normal normal_force and across it
///             friction_force, coefficient of friction, approach speed if it was an impact, else 0
///   joints    joint (its place among the scene's, from 0), bodies a and b, force on b fx fy fz, its size force
///   energy    kinetic and potential energy; work in this step of restitution, friction, joints, correction of
///             positions, damping, user's forces, moving environment, integration, all of contacts; error of the ledger; momentum
///             px py pz, angular momentum lx ly lz
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  msd export runs/tower.mcap --csv tower.csv
  msd export runs/tower.mcap --what contacts --body floor --csv floor.csv
  msd export runs/tower.mcap --json -             one JSON object a line, to standard output
  msd export runs/tower.mcap --parquet tower.parquet"
)]
#[command(group(ArgGroup::new("format").required(true).multiple(true)))]
pub struct ExportArgs {
    /// A recording
    pub recording: PathBuf,
    /// Which table
    #[arg(long, value_enum, value_name = "TABLE", default_value_t = What::Bodies)]
    pub what: What,
    /// Comma-separated values; - is standard output
    #[arg(long, value_name = "FILE", group = "format")]
    pub csv: Option<PathBuf>,
    /// One JSON object a line; - is standard output
    #[arg(long, value_name = "FILE", group = "format")]
    pub json: Option<PathBuf>,
    /// Apache Parquet
    #[arg(long, value_name = "FILE", group = "format")]
    pub parquet: Option<PathBuf>,
    /// Only this body, its contacts, or its joints; may be given several times
    #[arg(long, value_name = "NAME")]
    pub body: Vec<String>,
    /// Only every Nth step
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
}

/// Write a recording's report: one HTML page with plots, readable without network
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  msd report runs/tower.mcap --out tower.html")]
pub struct ReportArgs {
    /// A recording
    pub recording: PathBuf,
    /// Where to write it; beside the recording unless said
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// List the gallery's scenes, or show or write one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd scenes                     the list
  msd scenes tower               the file of one
  msd scenes --write DIR         all of them as files")]
pub struct ScenesArgs {
    /// Print this scene's file
    pub name: Option<String>,
    /// Write all scenes into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub write: Option<PathBuf>,
    /// Print a JSON list instead
    #[arg(long)]
    pub json: bool,
}

/// Run cases with a known answer and say how close msd comes
///
/// Closed forms of mechanics: flight, impact, friction, stability, invariance, energy. For each the
/// expected value, the measured one, the error, and whether it is within the tolerance.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd validate
  msd validate ladder stack          cases whose name contains a word
  msd validate --markdown > docs/validation.md

Exit codes: 0 all pass, 1 a case is out of its tolerance, 2 no such case.")]
pub struct ValidateArgs {
    /// Only cases whose name or group contains one of these
    pub filter: Vec<String>,
    /// Print a page of Markdown instead
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

/// Measure how fast benchmarks of bodies are stepped
///
/// Benchmarks are built in code: walls, towers, piles, rain, a net of joints. For each it prints processor and wall
/// time of a step, the deepest overlap in any step and in those of the last quarter, contact points of the last
/// step, a figure that tells whether it did what it should, and the hash of its state. The figure is how far the top
/// of a wall moved (drift), how high a heap is (top), or how wide the widest joint gapes (gap). Compare times only
/// on one machine that does nothing else.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd bench --list               the benchmarks
  msd bench s1 s2r               two of them
  msd bench s6r --steps 20 --threads 2

Exit codes: 0 all ran, 2 no such benchmark.")]
pub struct BenchArgs {
    /// Which benchmarks; all but the largest, s10-1e5, unless said
    pub ids: Vec<String>,
    /// Steps to take instead of each benchmark's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Most threads to step on; fewer are used where more do not pay. The bits are the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
    /// Print the list of benchmarks, and run none
    #[arg(long)]
    pub list: bool,
}

/// Show a scene or a recording in the browser
///
/// Starts a server on this machine alone, prints its address and opens it. A scene is simulated as you watch:
/// pause it, step it, change gravity, time step, solver and friction, throw boxes, drag bodies. A recording is
/// replayed. Without an argument the scenes of the catalog are shown to choose from. Nothing is written.
#[cfg(feature = "view")]
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  msd view                        choose a scene
  msd view tower                  watch one
  msd view runs/tower.mcap        replay a recording
  msd view my-scene.toml --set dt=0.005 --port 8000 --no-open

Exit codes: 0 it was ended, 2 bad input, 3 i/o.")]
pub struct ViewArgs {
    /// A scene file, the name of a scene that `msd scenes` lists, or a recording
    #[arg(value_name = "SCENE|RECORDING")]
    pub what: Option<PathBuf>,
    /// Port to serve at; 0 takes any that is free
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
