//! Every scene and every benchmark of the catalog ends in the bits that are written down in `golden.txt`, on one thread and
//! on two. A change that is not meant to change results leaves them as they are; one that is meant to writes the
//! table anew, in the same commit:
//!
//! ```sh
//! cargo test -p msd-scene --test acceptance golden::the_table_is_written_anew -- --ignored
//! ```

use msd_scene::catalog::{self, benchmarks};
use msd_scene::{Options, Simulation};

/// A scene or a benchmark, its steps and the hash of its last state in each line.
const TABLE: &str = include_str!("golden.txt");

/// How many steps benchmarks take: those that fall long enough to touch each other, those that are large a few.
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

/// One line of the table.
struct Line {
    kind: &'static str,
    name: &'static str,
    steps: u64,
    start: Simulation,
}

impl Line {
    fn text(&self, threads: u32) -> String {
        let mut simulation = self.start.clone();
        simulation.set_threads(threads);
        simulation.world_mut().use_all_threads(true);
        for _ in 0..self.steps {
            simulation.step();
        }
        let Self { kind, name, steps, .. } = self;
        format!("{kind} {name} {steps} {:016x}", simulation.world().state_hash())
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

/// Fails with all lines that differ from the table, and those that are in it alone.
fn assert_golden(kind: &str, lines: impl Iterator<Item = Line>, threads: u32) {
    let mut known: Vec<&str> = TABLE.lines().filter(|line| line.starts_with(kind)).collect();
    let mut others = Vec::new();
    for line in lines.map(|line| line.text(threads)) {
        match known.iter().position(|known| *known == line) {
            Some(at) => drop(known.remove(at)),
            None => others.push(line),
        }
    }
    assert!(
        others.is_empty() && known.is_empty(),
        "on {threads} threads\nfound:    {others:#?}\nexpected: {known:#?}"
    );
}

#[test]
fn every_scene_ends_in_the_bits_of_the_table_on_one_thread() {
    assert_golden("scene", scenes(), 1);
}

#[test]
fn every_scene_ends_in_the_bits_of_the_table_on_two_threads() {
    assert_golden("scene", scenes(), 2);
}

#[test]
fn every_benchmark_comes_to_the_bits_of_the_table_on_one_thread() {
    assert_golden("benchmark", benchmarks(), 1);
}

#[test]
fn every_benchmark_comes_to_the_bits_of_the_table_on_two_threads() {
    assert_golden("benchmark", benchmarks(), 2);
}

#[test]
#[ignore = "writes golden.txt"]
fn the_table_is_written_anew() {
    let lines = scenes().chain(benchmarks()).map(|line| line.text(1) + "\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acceptance/golden.txt");
    std::fs::write(path, lines.collect::<String>()).unwrap();
}
