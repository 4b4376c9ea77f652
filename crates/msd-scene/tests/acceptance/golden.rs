//! Golden state hashes: every scene and benchmark of the catalog ends in the state recorded in `golden.txt`, on one
//! thread, on two, and when a snapshot from the middle goes on, as bytes, in another world with another number of threads.
//! Only a change that is meant to change results may rewrite the table, in the same commit:
//!
//! ```sh
//! cargo test -p msd-scene --test acceptance golden::rewrite_the_table -- --ignored
//! ```

use msd_scene::catalog::{self, benchmarks};
use msd_scene::{Options, Simulation};
use msd_sim::{RESULTS_VERSION, World};

/// The version of the results, then one line per scene or benchmark: its name, number of steps and final state hash.
const TABLE: &str = include_str!("golden.txt");

/// Returns the steps of a benchmark: enough for falling bodies to collide, few for large scenes.
fn steps_of_benchmark(id: &str) -> u64 {
    match id {
        "s2" | "s10-1e3" | "s10-1e4" => 100,
        "s2r" | "s3" => 60,
        "s5" => 200,
        "s6" | "s4" => 50,
        "s1" | "s6r" => 30,
        "s10-1e5" => 2,
        _ => 8,
    }
}

/// A line of the table, before it is computed.
struct Line {
    kind: &'static str,
    name: &'static str,
    steps: u64,
    start: Simulation,
}

impl Line {
    fn text_of(&self, end: &World) -> String {
        let Self { kind, name, steps, .. } = self;
        format!("{kind} {name} {steps} {:016x}", end.state_hash())
    }

    fn text(&self, threads: u32) -> String {
        let mut simulation = self.start.clone();
        simulation.set_threads(threads);
        simulation.world_mut().use_all_threads(true);
        for _ in 0..self.steps {
            simulation.step();
        }
        self.text_of(simulation.world())
    }

    /// The same line, with a snapshot of the middle restored into the `other` world and that made anew of its bytes, which
    /// goes on with another number of threads and is left in the final state.
    fn text_over_a_snapshot(&self, other: &mut World, threads: [u32; 2]) -> String {
        let mut simulation = self.start.clone();
        simulation.set_threads(threads[0]);
        simulation.world_mut().use_all_threads(true);
        let half = self.steps / 2;
        for _ in 0..half {
            simulation.step();
        }
        other.restore(&simulation.world().snapshot());
        // And made anew of its bytes.
        *other = World::from_bytes(&other.to_bytes().unwrap(), &[]).unwrap();
        // The forces and the clock of the scene stay; the world under them is another one.
        std::mem::swap(simulation.world_mut(), other);
        simulation.set_threads(threads[1]);
        simulation.world_mut().use_all_threads(true);
        for _ in half..self.steps {
            simulation.step();
        }
        std::mem::swap(simulation.world_mut(), other);
        self.text_of(other)
    }
}

fn scenes() -> impl Iterator<Item = Line> {
    catalog::ENTRIES.iter().map(|entry| {
        let start = entry.open(&Options::default()).unwrap().build().unwrap();
        Line { kind: "scene", name: entry.name, steps: start.steps(), start }
    })
}

fn benchmarks() -> impl Iterator<Item = Line> {
    benchmarks::ALL.iter().map(|benchmark| {
        let (name, steps) = (benchmark.id, steps_of_benchmark(benchmark.id));
        Line { kind: "benchmark", name, steps, start: benchmark.build().unwrap() }
    })
}

/// Asserts that the lines equal those of the table; reports all that differ or are missing.
fn assert_golden(kind: &str, lines: impl Iterator<Item = Line>, threads: u32) {
    assert_lines(kind, lines.map(|line| line.text(threads)), &format!("on {threads} threads"));
}

/// Asserts the same for lines whose worlds were replaced in the middle by the world of the line before.
fn assert_golden_over_snapshots(kind: &str, lines: impl Iterator<Item = Line>, threads: [u32; 2]) {
    let mut world = World::default();
    let lines = lines.map(|line| line.text_over_a_snapshot(&mut world, threads));
    assert_lines(kind, lines, &format!("on {threads:?} threads, over a snapshot"));
}

fn assert_lines(kind: &str, lines: impl Iterator<Item = String>, how: &str) {
    let mut known: Vec<&str> = TABLE.lines().filter(|line| line.starts_with(kind)).collect();
    let mut others = Vec::new();
    for line in lines {
        match known.iter().position(|known| *known == line) {
            Some(at) => drop(known.remove(at)),
            None => others.push(line),
        }
    }
    assert!(
        others.is_empty() && known.is_empty(),
        "{how}\nfound:    {others:#?}\nexpected: {known:#?}"
    );
}

#[test]
fn every_scene_ends_in_its_golden_state_on_one_thread() {
    assert_golden("scene", scenes(), 1);
}

#[test]
fn every_scene_ends_in_its_golden_state_on_two_threads() {
    assert_golden("scene", scenes(), 2);
}

#[test]
fn every_benchmark_ends_in_its_golden_state_on_one_thread() {
    assert_golden("benchmark", benchmarks(), 1);
}

#[test]
fn every_benchmark_ends_in_its_golden_state_on_two_threads() {
    assert_golden("benchmark", benchmarks(), 2);
}

#[test]
fn every_scene_goes_on_from_a_snapshot_in_another_world_on_another_number_of_threads() {
    assert_golden_over_snapshots("scene", scenes(), [3, 1]);
}

#[test]
fn every_benchmark_goes_on_from_a_snapshot_in_another_world_on_another_number_of_threads() {
    assert_golden_over_snapshots("benchmark", benchmarks(), [1, 2]);
}

#[test]
#[ignore = "slow: more threads than cores"]
fn every_scene_and_benchmark_ends_in_its_golden_state_on_three_and_eight_threads() {
    for threads in [3, 8] {
        assert_golden("scene", scenes(), threads);
        assert_golden("benchmark", benchmarks(), threads);
    }
}

fn version() -> String {
    format!("results {RESULTS_VERSION}\n")
}

#[test]
fn the_table_is_of_the_present_version_of_results() {
    assert!(TABLE.starts_with(&version()));
}

#[test]
#[ignore = "writes golden.txt"]
fn rewrite_the_table() {
    let lines = scenes().chain(benchmarks()).map(|line| line.text(1) + "\n");
    let table = version() + &lines.collect::<String>();
    let raised = !TABLE.starts_with(&version());
    // New scenes and benchmarks only add lines.
    let same = TABLE.lines().all(|known| table.lines().any(|line| line == known));
    assert!(same || raised, "raise `msd_sim::RESULTS_VERSION`: results have changed");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acceptance/golden.txt");
    std::fs::write(path, table).unwrap();
}
