//! Interrupted runs.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Starts a run that would take hours and waits until it has recorded something.
fn long_run(sandbox: &Sandbox) -> Child {
    let args = ["run", "hull-pile", "--set", "steps=100000000"];
    let mut command = sandbox.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let recording = sandbox.path("runs/hull-pile.mcap");
    let patience = Instant::now() + Duration::from_secs(60);
    while std::fs::metadata(&recording).map_or(0, |data| data.len()) < 200_000 {
        assert!(Instant::now() < patience, "nothing was recorded in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn ctrl_c_ends_a_run_cleanly_with_its_recording_and_verdict() {
    let sandbox = Sandbox::new();
    let child = long_run(&sandbox);
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("(interrupted)") && text.contains("penetration"), "{text}");
    let info = sandbox.run(&["info", "runs/hull-pile.mcap", "--json"]).expect(0).json();
    assert_eq!(info["complete"], true);
    assert!(info["steps"].as_u64().unwrap() > 0);
    assert_eq!(info["summary"]["interrupted"], true);
    sandbox.run(&["verify", "runs/hull-pile.mcap", "--quiet"]).expect(0);
}

#[test]
fn kill_9_in_the_middle_of_a_run_leaves_a_readable_recording() {
    let sandbox = Sandbox::new();
    let mut child = long_run(&sandbox);
    send("-KILL", &child);
    child.wait().unwrap();
    let info = sandbox.run(&["info", "runs/hull-pile.mcap", "--json"]).expect(0).json();
    assert_eq!(info["complete"], false);
    let steps = info["steps"].as_u64().unwrap();
    assert!(steps > 0, "{info}");
    let done = sandbox.run(&["verify", "runs/hull-pile.mcap", "--quiet"]).expect(0);
    assert!(done.out.contains(&format!("identical: all {steps} steps")), "{}", done.out);
    sandbox.run(&["report", "runs/hull-pile.mcap"]).expect(0);
    let rows = sandbox.run(&["export", "runs/hull-pile.mcap", "--csv", "-"]).expect(0);
    assert_eq!(rows.out.lines().count() as u64, 1 + 85 * (steps + 1));
}
