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

/// Returns a scene whose first step has hundreds of thousands of impacts: elastic balls in a closed room, for 1000 s.
fn endless_step() -> String {
    let elastic = "material = { restitution = 1, friction = 0 }";
    let mut scene =
        "version = 1\n[world]\nsteps = 3\ndt = 1000\ngravity = [0, 0, 0]\nimpact_work = 4294967295\n"
            .to_owned();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut normal = [0.0; 3];
            normal[axis] = -side;
            scene += &format!(
                "[[body]]\nkind = \"environment\"\nshape = {{ half_space = {{ normal = {normal:?}, offset = -2 }} }}\n\
                 {elastic}\n"
            );
        }
    }
    scene += &format!(
        "[[body]]\nname = \"ball\"\nkind = \"inertial\"\nshape = {{ sphere = {{ radius = 0.2 }} }}\nmass = 1\nposition = [-1, -1, -1]\n\
         velocity = [7, 5, 3]\narray = {{ count = [4, 4, 3], spacing = [0.6, 0.6, 0.6], jitter = 0.05 }}\n{elastic}\n"
    );
    scene
}

/// Ctrl-C waited for the end of the step, and a step may take minutes.
#[test]
fn ctrl_c_ends_a_run_within_a_step() {
    let sandbox = Sandbox::new();
    sandbox.write("endless.toml", endless_step());
    let mut command = sandbox.command(&["run", "endless.toml"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    while !sandbox.path("runs/endless.mcap").exists() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "the first step takes less than half a second");
    let start = Instant::now();
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("(interrupted)") && text.contains("in 0 steps"), "{text}");
    let info = sandbox.run(&["info", "runs/endless.mcap", "--json"]).expect(0).json();
    assert_eq!((&info["complete"], &info["steps"]), (&true.into(), &0.into()));
    sandbox.run(&["verify", "runs/endless.mcap", "--quiet"]).expect(0);
}
