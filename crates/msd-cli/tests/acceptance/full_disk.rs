//! Full disks: no unreadable file is left.

use std::process::Command;

use crate::sandbox::{Done, Sandbox};

/// Runs with a file-size limit in kilobytes; larger files fail as on a full disk.
fn run_within(sandbox: &Sandbox, kilobytes: u64, args: &[&str]) -> Done {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""));
    command.arg(env!("CARGO_BIN_EXE_msd")).args(args);
    command.current_dir(sandbox.path("")).env("NO_COLOR", "1").output().unwrap().into()
}

/// Returns the names of the files in a folder.
fn files(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_recording_that_could_not_be_started_leaves_no_file() {
    let sandbox = Sandbox::new();
    let done = run_within(&sandbox, 0, &["run", "tower", "--set", "steps=20"]).expect(3);
    assert!(done.err.contains("runs/tower.mcap: "), "{}", done.err);
    assert!(done.err.contains("nothing was recorded and no file is left"), "{}", done.err);
    assert_eq!(files(&sandbox, "runs"), Vec::<String>::new());
}

#[test]
fn a_recording_that_could_not_be_continued_is_kept_and_its_last_step_reported() {
    let sandbox = Sandbox::new();
    let args = ["run", "hull-pile", "--set", "steps=200", "--no-report", "--quiet"];
    let done = run_within(&sandbox, 1000, &args).expect(3);
    let info = sandbox.run(&["info", "runs/hull-pile.mcap", "--json"]).expect(0).json();
    assert_eq!(info["complete"], false);
    let steps = info["steps"].as_u64().unwrap();
    assert!(done.err.contains(&format!("it holds steps 0 to {steps}")), "{}", done.err);
    sandbox.run(&["verify", "runs/hull-pile.mcap", "--quiet"]).expect(0);
}

#[test]
fn a_report_or_table_that_could_not_be_written_leaves_the_old_file() {
    let sandbox = Sandbox::new();
    let args = ["run", "tower", "--set", "steps=20", "--no-record"];
    let done = run_within(&sandbox, 10, &args).expect(3);
    assert!(done.err.contains("runs/tower.html: "), "{}", done.err);
    assert_eq!(files(&sandbox, "runs"), Vec::<String>::new());
    sandbox.run(&["run", "tower", "--set", "steps=20"]).expect(0);
    let page = std::fs::read(sandbox.path("runs/tower.html")).unwrap();
    run_within(&sandbox, 10, &args).expect(3);
    run_within(&sandbox, 10, &["report", "runs/tower.mcap"]).expect(3);
    assert_eq!(std::fs::read(sandbox.path("runs/tower.html")).unwrap(), page);
    for (format, name) in [("--csv", "t.csv"), ("--json", "t.json"), ("--parquet", "t.parquet")] {
        let done = run_within(&sandbox, 1, &["export", "runs/tower.mcap", format, name]).expect(3);
        assert!(done.err.contains(name) && !done.err.contains("rows in"), "{}", done.err);
    }
    assert_eq!(files(&sandbox, "."), ["runs"]);
    assert_eq!(files(&sandbox, "runs"), ["tower.html", "tower.mcap"]);
}

#[test]
fn a_symbolic_link_to_a_table_is_kept() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=2"]);
    sandbox.write("there.csv", "old");
    std::os::unix::fs::symlink("there.csv", sandbox.path("link.csv")).unwrap();
    sandbox.run(&["export", recording.to_str().unwrap(), "--csv", "link.csv"]).expect(0);
    assert!(sandbox.path("link.csv").is_symlink());
    let table = std::fs::read_to_string(sandbox.path("there.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 3 * 11);
}
