//! `msd verify` and `msd diff`.

use crate::sandbox::{Sandbox, text};

#[test]
fn a_recording_is_verified_to_the_last_bit_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("billiards", &["steps=200"]);
    for threads in ["1", "2", "3"] {
        let done = sandbox.run(&["verify", text(&recording), "--threads", threads]).expect(0);
        assert!(done.out.contains("identical: all 200 steps"), "{}", done.out);
    }
}

#[test]
fn a_flipped_bit_is_rejected_or_its_step_is_named() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("bouncing", &["steps=60"]);
    let bytes = std::fs::read(&recording).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 150) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        sandbox.write("flipped.mcap", &flipped);
        let done = sandbox.run(&["verify", "flipped.mcap", "--quiet"]).expect(2);
        assert!(!done.err.contains("panicked"), "byte {at}: {}", done.err);
        let reported = ["flipped.mcap", "step "].iter().any(|word| done.err.contains(word));
        assert!(reported, "byte {at}: {}", done.err);
    }
}

#[test]
fn a_recording_of_another_run_differs_at_a_named_step_stage_body_and_field() {
    let sandbox = Sandbox::new();
    let first = sandbox.record("bouncing", &["steps=60"]);
    let first = sandbox.write("first.mcap", std::fs::read(first).unwrap());
    // The same scene with one ball 1 nm higher: its state differs from the start by 1e-9 in z.
    let second = sandbox.record("bouncing", &["steps=60", "body[3].position=[-0.5,0,2.250000001]"]);
    let done = sandbox.run(&["diff", text(&first), text(&second)]).expect(1);
    for word in ["step 0", "state", "\"e = 0.5\"", "position"] {
        assert!(done.out.contains(word), "expected `{word}` in {}", done.out);
    }
    let json = sandbox.run(&["diff", text(&first), text(&second), "--json"]).expect(1).json();
    assert_eq!(json["difference"]["step"], 0);
    let done = sandbox.run(&["diff", text(&first), text(&first)]).expect(0);
    assert!(done.out.contains("identical: all 60 steps"), "{}", done.out);
}

#[test]
fn scenes_are_compared_by_meaning() {
    let sandbox = Sandbox::new();
    let body = "[[body]]\nname = \"a\"\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n";
    sandbox.write("a.toml", format!("version = 1\n{body}mass = 2\n"));
    // Different order and format, explicit defaults.
    let json = r#"{"body": [{"mass": 2.0, "shape": {"sphere": {"radius": 1.0}}, "kind": "inertial",
        "name": "a", "material": {"friction": 0.5}, "position": [0, 0, 0]}],
        "world": {"substeps": 4, "dt": 0.016666666666666666}, "version": 1}"#;
    sandbox.write("b.json", json);
    sandbox.run(&["diff", "a.toml", "b.json"]).expect(0);
    // More defaults, and other spellings with the same meaning.
    let explicit =
        "gravity_scale = 1\ndamping = {}\nfilter = {}\norientation = { euler_deg = [0, 0, 0] }\n";
    let world = "[world]\nsteps = 600\nthreads = 2\n";
    sandbox.write("d.toml", format!("version = 1\n{world}{body}mass = 2\n{explicit}"));
    sandbox.run(&["diff", "a.toml", "d.toml"]).expect(0);
    // Invalid scenes are rejected.
    sandbox.write("bad.toml", format!("version = 1\n{body}mass = -2\n"));
    sandbox.run(&["diff", "bad.toml", "bad.toml"]).expect(2);
    sandbox.write("c.toml", format!("version = 1\n{body}mass = 3\n"));
    let done = sandbox.run(&["diff", "a.toml", "c.toml"]).expect(1);
    assert!(done.out.contains("body.a.mass\n  a  2.0\n  b  3.0"), "{}", done.out);
    let recording = sandbox.record("tower", &["steps=1"]);
    sandbox.run(&["diff", "a.toml", text(&recording)]).expect(2);
}

#[test]
fn other_files_are_rejected_as_recordings() {
    let sandbox = Sandbox::new();
    sandbox.write("x.mcap", b"hello");
    for verb in ["verify", "info", "report"] {
        let done = sandbox.run(&[verb, "x.mcap"]).expect(2);
        assert!(done.err.contains("x.mcap"), "{}", done.err);
        sandbox.run(&[verb, "none.mcap"]).expect(3);
    }
}

#[test]
fn a_scene_with_awkward_numbers_is_rebuilt_from_its_recording_to_the_last_bit() {
    let sandbox = Sandbox::new();
    let scene = "version = 1\n[world]\nsteps = 30\ndt = 0.016666666666666666\n\
         [materials.m]\nrestitution = 0.30000000000000004\nfriction = 0.1\n\
         [[body]]\nkind = \"environment\"\nshape = { half_space = { normal = [0.1, 0, 3] } }\n\
         [[body]]\nname = \"a\"\nkind = \"inertial\"\nmass = 3.0000000000000004\nmaterial = \"m\"\n\
         shape = { hull = { mesh = \"tet.obj\", scale = 0.1 } }\nposition = [-0.0, 1e-310, 1]\n\
         velocity = [0, -0.0, 1e-5]\norientation = { euler_deg = [10, 20, 30] }\norigin = \"shape\"\n\
         [[body]]\nkind = \"inertial\"\nshape = { sphere = { radius = 0.3333333333333333 } }\n\
         position = [1, 0, 0.5]\narray = { count = [2, 2, 1], spacing = [1, 1, 1], jitter = 0.1, seed = 3 }\n\
         [[joint]]\nkind = \"distance\"\na = \"a\"\nb = \"body[2][0,1,0]\"\nmax = 1.5\nanchor_a = [0.1, 0, -0.0]\n\
         [[force]]\nbody = \"a\"\ntorque = [0, 0.1, 0]\nuntil = 0.123\n\
         [[potential]]\nkind = \"drag\"\nquadratic = 0.1\n";
    sandbox.write("scene.toml", scene);
    sandbox.write("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1.1 0\nv 0 0 1.3\nv 0.1 0.1 0.1\n");
    sandbox.run(&["run", "scene.toml", "--quiet", "--no-report"]).expect(0);
    let done = sandbox.run(&["verify", "runs/scene.mcap"]).expect(0);
    assert!(done.out.contains("identical: all 30 steps"), "{}", done.out);
}

#[test]
fn diff_reports_the_distance_of_runs_at_the_end_and_its_maximum() {
    let sandbox = Sandbox::new();
    // In the second run the ball leaves at 1 m/s and turns back after half a second, 0.5 m away.
    let scene = |back: &str| {
        format!(
            "version = 1\n[world]\ngravity = [0, 0, 0]\nsteps = 60\n[[body]]\nname = \"still\"\nkind = \"inertial\"\n\
             shape = {{ sphere = {{ radius = 0.5 }} }}\nposition = [0, 9, 0]\n[[body]]\nname = \"ball\"\nkind = \
             \"inertial\"\nmass = 1\nshape = {{ sphere = {{ radius = 0.5 }} }}\n{back}"
        )
    };
    // 60 N for a step of 1/60 s is 1 N s, out and back.
    let push = |force: &str, from: f64| {
        format!(
            "[[force]]\nbody = \"ball\"\nforce = {force}\nfrom = {from}\nuntil = {}\n",
            from + 1.0 / 60.0
        )
    };
    sandbox.write("a.toml", scene(""));
    let pushes = [push("[60, 0, 0]", 0.0), push("[-120, 0, 0]", 0.5)].concat();
    sandbox.write("b.toml", scene(&pushes));
    for name in ["a.toml", "b.toml"] {
        sandbox.run(&["run", name, "--quiet", "--no-report"]).expect(0);
    }
    let args = ["diff", "runs/a.mcap", "runs/b.mcap"];
    let json = sandbox.run(&[&args[..], &["--json"]].concat()).expect(1).json();
    let (last, largest) = (&json["apart"]["last"], &json["apart"]["largest"]);
    assert_eq!((&last["step"], &last["name"]), (&60.into(), &"ball".into()));
    // The force of a step acts as if at its middle: half a step of distance is missing at the start, and as much is
    // left at the turn. Rounding of 60 steps is below 1e-12.
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let turn = largest["step"].as_u64().unwrap();
    assert!((30..=31).contains(&turn), "{largest}");
    assert!((number(&largest["distance"]) - 0.5).abs() < 1.0 / 60.0, "{largest}");
    assert!(
        (number(&largest["relative"]) - number(&largest["distance"])).abs() < 1e-12,
        "{largest}"
    );
    assert!(number(&last["distance"]) < 1.0 / 60.0 + 1e-12, "{last}");
    let done = sandbox.run(&args).expect(1);
    for word in [
        "differs first at step 1,",
        "distance at the last common step, 60: \"ball\", ",
        "of its length",
    ] {
        assert!(done.out.contains(word), "expected `{word}` in {}", done.out);
    }
    let largest = format!("largest distance, at step {turn}: \"ball\", ");
    assert!(done.out.contains(&largest), "expected `{largest}` in {}", done.out);
}

#[test]
fn recordings_with_different_steps_are_compared_at_their_common_steps() {
    let sandbox = Sandbox::new();
    let args = ["run", "bouncing", "--quiet", "--no-report", "--set", "steps=60"];
    for (out, every) in [("six", "6"), ("ten", "10"), ("all", "1")] {
        sandbox.run(&[&args[..], &["--out", out, "--record-every", every]].concat()).expect(0);
    }
    let done = sandbox.run(&["diff", "six/bouncing.mcap", "ten/bouncing.mcap"]).expect(0);
    assert!(done.out.contains("identical: all 60 steps"), "{}", done.out);
    assert!(
        done.out.contains("(a: every 6 steps recorded) (b: every 10 steps recorded)"),
        "{}",
        done.out
    );
    let lighter = ["--out", "other", "--set", "gravity=[0,0,-9.8]"];
    sandbox.run(&[&args[..], &lighter].concat()).expect(0);
    // They differ from step 1; the first common step is 10.
    let done = sandbox.run(&["diff", "ten/bouncing.mcap", "other/bouncing.mcap"]).expect(1);
    assert!(done.out.contains("differs first at step 10,"), "{}", done.out);
}

/// Of 60 files with a flipped bit, `msd info` called 59 complete, and all passed.
#[test]
fn info_does_not_call_a_changed_file_complete() {
    let sandbox = Sandbox::new();
    sandbox.record("tower", &["steps=30"]);
    let whole = sandbox.run(&["info", "runs/tower.mcap"]).expect(0).out;
    assert!(whole.contains("complete, all checksums match"), "{whole}");
    let json = |file| sandbox.run(&["info", file, "--json"]).expect(0).json();
    assert_eq!(json("runs/tower.mcap")["integrity"], "verified");
    let bytes = std::fs::read(sandbox.path("runs/tower.mcap")).unwrap();
    std::fs::write(sandbox.path("cut.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    let cut = json("cut.mcap");
    assert_eq!((&cut["integrity"], &cut["complete"]), (&"not_verified".into(), &false.into()));
    for n in 0..60 {
        let mut changed = bytes.clone();
        changed[bytes.len() * n / 60] ^= 1 << (n % 8);
        std::fs::write(sandbox.path("changed.mcap"), &changed).unwrap();
        let done = sandbox.run(&["info", "changed.mcap"]);
        assert!(!done.out.contains("complete, all"), "{n}: {}", done.out);
        assert!(!done.out.contains("  All checks passed"), "{n}: {}", done.out);
        assert!(!done.out.contains("checks      All"), "{n}: {}", done.out);
        if !done.out.is_empty() {
            let json = sandbox.run(&["info", "changed.mcap", "--json"]).json();
            assert_eq!((&json["integrity"], &json["complete"]), (&"damaged".into(), &false.into()));
        }
        // Bad bytes, or no recording at all.
        assert!(matches!(done.code, Some(1 | 2)), "{n}: {:?}", done.code);
    }
}
