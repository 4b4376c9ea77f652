//! `msd run --save` and `--from`: states from which another process goes on bit for bit.

use crate::sandbox::Sandbox;

/// Runs every scene of the catalog to its middle in one process, and from there in others with 1 and 3 threads: the state
/// at the end is that of a run in one piece.
#[test]
fn every_scene_goes_on_in_another_process_and_ends_in_the_same_state() {
    let sandbox = Sandbox::new();
    let hash = |args: &[&str]| {
        let mut all = vec!["run"];
        all.extend(args);
        all.extend(["--json", "--no-record", "--no-report"]);
        let object = sandbox.run(&all).json();
        (object["state_hash"].as_str().unwrap().to_owned(), object["steps"].as_u64().unwrap())
    };
    for entry in msd_scene::catalog::ENTRIES {
        let scene = entry.name;
        let (whole, _) = hash(&[scene, "--set", "steps=60"]);
        let (_, steps) = hash(&[scene, "--set", "steps=30", "--save", "state.bin"]);
        assert_eq!(steps, 30);
        for threads in ["1", "3"] {
            let from = ["--from", "state.bin", "--threads", threads];
            let mut args = vec![scene, "--set", "steps=60"];
            args.extend(from);
            let (end, _) = hash(&args);
            assert_eq!(end, whole, "{scene} on {threads} threads");
        }
    }
}

#[test]
fn a_recording_of_a_continued_run_verifies_and_begins_where_the_state_was_saved() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "tower", "--save", "state.bin", "--at", "2", "--no-record"]).expect(0);
    sandbox.run(&["run", "tower", "--from", "state.bin", "--quiet"]).expect(0);
    let verified = sandbox.run(&["verify", "runs/tower.mcap"]).expect(0);
    assert!(verified.out.contains("bit for bit"), "{}", verified.out);
}

#[test]
fn states_of_other_scenes_damaged_ones_and_times_outside_of_the_run_are_rejected_with_a_reason() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "tower", "--save", "state.bin", "--at", "1", "--quiet"]).expect(0);
    let rejected = |args: &[&str], words: &[&str]| {
        let mut all = vec!["run"];
        all.extend(args);
        let done = sandbox.run(&all).expect(2);
        for word in words {
            assert!(done.err.contains(word), "expected `{word}` in\n{}", done.err);
        }
    };
    rejected(
        &["bouncing", "--from", "state.bin"],
        &["state.bin: the state is of a scene in which"],
    );
    // Other values would have no effect on the state.
    for (set, words) in [
        ("gravity=[0,0,-1]", "world.gravity = [0.0,0.0,-9.81]: expected [0.0,0.0,-1.0]"),
        ("dt=1/120", "world.dt = "),
        ("substeps=8", "world.substeps = 4: expected 8"),
    ] {
        rejected(&["tower", "--from", "state.bin", "--set", set], &[words, "only the duration"]);
    }
    rejected(&["tower", "--from", "state.bin", "--accuracy", "fast"], &["world.accuracy"]);
    rejected(&["tower", "--from", "state.bin", "--set", "duration=1"], &["after 1 s", "(1 s)"]);
    rejected(
        &["tower", "--from", "state.bin", "--save", "b.bin", "--at", "0.5"],
        &["--at 0.5: expected", "(1 s)"],
    );
    rejected(&["tower", "--save", "b.bin", "--at", "1e9"], &["no later than the end (10 s)"]);
    let mut bytes = std::fs::read(sandbox.path("state.bin")).unwrap();
    let middle = bytes.len() - 100;
    bytes[middle] ^= 4;
    std::fs::write(sandbox.path("state.bin"), &bytes).unwrap();
    rejected(&["tower", "--from", "state.bin"], &["state.bin: the checksum differs"]);
    std::fs::write(sandbox.path("state.bin"), b"short").unwrap();
    rejected(&["tower", "--from", "state.bin"], &["not a state that `msd run --save` wrote"]);
    // Without --save, there is nothing for --at.
    rejected(&["tower", "--at", "1"], &["--save"]);
}
