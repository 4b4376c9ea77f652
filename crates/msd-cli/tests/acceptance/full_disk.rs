//! Full disks: no unreadable file is left.

use std::process::Command;

use crate::bench::{Bench, Done};

/// Runs with a file-size limit in kilobytes; larger files fail as on a full disk.
fn run_within(bench: &Bench, kilobytes: u64, args: &[&str]) -> Done {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""));
    command.arg(env!("CARGO_BIN_EXE_msd")).args(args);
    command.current_dir(bench.path("")).env("NO_COLOR", "1").output().unwrap().into()
}

/// Returns the names of the files in a folder.
fn files(bench: &Bench, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(bench.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_recording_that_could_not_be_started_leaves_no_file() {
    let bench = Bench::new();
    let done = run_within(&bench, 0, &["run", "tower", "--set", "steps=20"]).expect(3);
    assert!(done.err.contains("runs/tower.mcap: "), "{}", done.err);
    assert!(done.err.contains("nothing was recorded and no file is left"), "{}", done.err);
    assert_eq!(files(&bench, "runs"), Vec::<String>::new());
}

#[test]
fn a_recording_that_could_not_be_continued_is_kept_and_its_last_step_reported() {
    let bench = Bench::new();
    let args = ["run", "hull-pile", "--set", "steps=200", "--no-report", "--quiet"];
    let done = run_within(&bench, 1000, &args).expect(3);
    let info = bench.run(&["info", "runs/hull-pile.mcap", "--json"]).expect(0).json();
    assert_eq!(info["complete"], false);
    let steps = info["steps"].as_u64().unwrap();
    assert!(done.err.contains(&format!("it holds steps 0 to {steps}")), "{}", done.err);
    bench.run(&["verify", "runs/hull-pile.mcap", "--quiet"]).expect(0);
}

#[test]
fn a_report_or_table_that_could_not_be_written_leaves_the_old_file() {
    let bench = Bench::new();
    let args = ["run", "tower", "--set", "steps=20", "--no-record"];
    let done = run_within(&bench, 10, &args).expect(3);
    assert!(done.err.contains("runs/tower.html: "), "{}", done.err);
    assert_eq!(files(&bench, "runs"), Vec::<String>::new());
    bench.run(&["run", "tower", "--set", "steps=20"]).expect(0);
    let page = std::fs::read(bench.path("runs/tower.html")).unwrap();
    run_within(&bench, 10, &args).expect(3);
    run_within(&bench, 10, &["report", "runs/tower.mcap"]).expect(3);
    assert_eq!(std::fs::read(bench.path("runs/tower.html")).unwrap(), page);
    for (format, name) in [("--csv", "t.csv"), ("--json", "t.json"), ("--parquet", "t.parquet")] {
        let done = run_within(&bench, 1, &["export", "runs/tower.mcap", format, name]).expect(3);
        assert!(done.err.contains(name) && !done.err.contains("rows in"), "{}", done.err);
    }
    assert_eq!(files(&bench, "."), ["runs"]);
    assert_eq!(files(&bench, "runs"), ["tower.html", "tower.mcap"]);
}

#[test]
fn a_symbolic_link_to_a_table_is_kept() {
    let bench = Bench::new();
    let recording = bench.record("tower", &["steps=2"]);
    bench.write("there.csv", "old");
    std::os::unix::fs::symlink("there.csv", bench.path("link.csv")).unwrap();
    bench.run(&["export", recording.to_str().unwrap(), "--csv", "link.csv"]).expect(0);
    assert!(bench.path("link.csv").is_symlink());
    let table = std::fs::read_to_string(bench.path("there.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 3 * 11);
}
