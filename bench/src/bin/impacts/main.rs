//! Compares fast bodies and bounces in msd and rapier3d-f64, each case on both in one run.
//! `cargo run --release --bin impacts`, or with groups: `cargo run --release --bin impacts -- plate gas`

mod bounces;
mod bullets;
mod cost;
mod gas;
mod line;
mod shots;
mod test_world;

use std::time::Instant;

use test_world::{CCD_SUBSTEPS, Engine};

/// A row of the table, run on each engine.
pub struct Case {
    /// Name that selects the case on the command line.
    group: &'static str,
    name: String,
    goal: String,
    run: Box<dyn Fn(Engine) -> Outcome>,
}

impl Case {
    fn new(
        group: &'static str,
        name: impl Into<String>,
        goal: impl Into<String>,
        run: impl Fn(Engine) -> Outcome + 'static,
    ) -> Self {
        Self { group, name: name.into(), goal: goal.into(), run: Box::new(run) }
    }
}

/// The result of a case on one engine.
pub struct Outcome {
    figure: String,
    /// Whether the goal was reached.
    passed: bool,
}

impl Outcome {
    fn new(figure: impl Into<String>, passed: bool) -> Self {
        Self { figure: figure.into(), passed }
    }

    /// Returns the outcome of a relative deviation that may be at most `goal`, printed in percent.
    fn percent(deviation: f64, goal: f64) -> Self {
        // Enough digits to distinguish rounding from zero.
        let percent = deviation * 100.0;
        let figure =
            if percent < 1e-4 { format!("{percent:.0e} %") } else { format!("{percent:.4} %") };
        Self::new(figure, deviation <= goal)
    }

    fn cell(&self) -> String {
        match self.passed {
            true => format!("{}, pass", self.figure),
            false => format!("{}, MISS", self.figure),
        }
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let cases: Vec<Case> = [
        bounces::cases(),
        line::cases(),
        shots::cases(),
        bullets::cases(),
        gas::cases(),
        cost::cases(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let known = |name: &String| cases.iter().any(|case| case.group == name);
    if let Some(name) = wanted.iter().find(|name| !known(name)) {
        let mut groups: Vec<&str> = cases.iter().map(|case| case.group).collect();
        groups.dedup();
        eprintln!("no group `{name}`; the groups are {}", groups.join(", "));
        std::process::exit(2);
    }
    let command = ["cargo run --release --bin impacts", &wanted.join(" ")];
    println!(
        "`{}`: msd {}, rapier3d-f64 {} with ccd_enabled on every body that moves, max_ccd_substeps \
         {CCD_SUBSTEPS}, no limits on speed and spin, no sleeping.",
        if wanted.is_empty() { command[0].to_owned() } else { command.join(" -- ") },
        version("msd-sim"),
        version("rapier3d-f64"),
    );
    println!();
    println!("| case | goal | msd | rapier3d-f64 | time of each, s |");
    println!("|---|---|---|---|---|");
    let start = Instant::now();
    for case in &cases {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == case.group) {
            continue;
        }
        let [ours, theirs] = [Engine::Msd, Engine::Rapier].map(|engine| {
            let clock = Instant::now();
            let outcome = (case.run)(engine);
            (outcome.cell(), clock.elapsed().as_secs_f64())
        });
        println!(
            "| {}: {} | {} | {} | {} | {:.2}, {:.2} |",
            case.group, case.name, case.goal, ours.0, theirs.0, ours.1, theirs.1
        );
    }
    println!();
    println!("{:.0} s in all.", start.elapsed().as_secs_f64());
}

/// Returns the version of a package in the lock file.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let entry = format!("name = \"{package}\"\nversion = \"");
    let found = lock.split_once(&entry).and_then(|(_, rest)| rest.split_once('"'));
    found.map_or("?", |(version, _)| version)
}
