//! `msd verify` and `msd diff`.

use crate::bench::{Bench, text};

#[test]
fn a_recording_is_verified_to_the_last_bit_whatever_the_thread_count() {
    let bench = Bench::new();
    let recording = bench.record("billiards", &["steps=200"]);
    for threads in ["1", "2", "3"] {
        let done = bench.run(&["verify", text(&recording), "--threads", threads]).expect(0);
        assert!(done.out.contains("same: 200 steps"), "{}", done.out);
    }
}

#[test]
fn one_flipped_byte_is_rejected_or_the_step_is_named() {
    let bench = Bench::new();
    let recording = bench.record("bouncing", &["steps=60"]);
    let bytes = std::fs::read(&recording).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 150) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        bench.write("flipped.mcap", &flipped);
        let done = bench.run(&["verify", "flipped.mcap", "--quiet"]).expect(2);
        assert!(!done.err.contains("panicked"), "byte {at}: {}", done.err);
        let told = ["flipped.mcap", "step "].iter().any(|word| done.err.contains(word));
        assert!(told, "byte {at}: {}", done.err);
    }
}

#[test]
fn a_recording_of_another_run_differs_at_a_named_step_stage_body_and_field() {
    let bench = Bench::new();
    let first = bench.record("bouncing", &["steps=60"]);
    let first = bench.write("first.mcap", std::fs::read(first).unwrap());
    // The same but for one ball, 1 nm higher: its state differs from the start, 1e-9 in z.
    let second = bench.record("bouncing", &["steps=60", "body[3].position=[-0.5,0,2.250000001]"]);
    let done = bench.run(&["diff", text(&first), text(&second)]).expect(1);
    for word in ["step 0", "state", "\"e = 0.5\"", "position"] {
        assert!(done.out.contains(word), "expected `{word}` in {}", done.out);
    }
    let json = bench.run(&["diff", text(&first), text(&second), "--json"]).expect(1).json();
    assert_eq!(json["difference"]["step"], 0);
    let done = bench.run(&["diff", text(&first), text(&first)]).expect(0);
    assert!(done.out.contains("same: 60 steps"), "{}", done.out);
}

#[test]
fn scenes_are_compared_by_what_they_mean() {
    let bench = Bench::new();
    let body = "[[body]]\nname = \"a\"\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n";
    bench.write("a.toml", format!("version = 1\n{body}mass = 2\n"));
    // Another order, another format, defaults said.
    let json = r#"{"body": [{"mass": 2.0, "shape": {"sphere": {"radius": 1.0}}, "kind": "inertial",
        "name": "a", "material": {"friction": 0.5}, "position": [0, 0, 0]}],
        "world": {"substeps": 4, "dt": 0.016666666666666666}, "version": 1}"#;
    bench.write("b.json", json);
    bench.run(&["diff", "a.toml", "b.json"]).expect(0);
    // More defaults, and other ways to say the same.
    let said =
        "gravity_scale = 1\ndamping = {}\nfilter = {}\norientation = { euler_deg = [0, 0, 0] }\n";
    let world = "[world]\nsteps = 600\nthreads = 2\n";
    bench.write("d.toml", format!("version = 1\n{world}{body}mass = 2\n{said}"));
    bench.run(&["diff", "a.toml", "d.toml"]).expect(0);
    // What cannot be built means nothing.
    bench.write("bad.toml", format!("version = 1\n{body}mass = -2\n"));
    bench.run(&["diff", "bad.toml", "bad.toml"]).expect(2);
    bench.write("c.toml", format!("version = 1\n{body}mass = 3\n"));
    let done = bench.run(&["diff", "a.toml", "c.toml"]).expect(1);
    assert!(done.out.contains("body.a.mass\n  a  2.0\n  b  3.0"), "{}", done.out);
    let recording = bench.record("tower", &["steps=1"]);
    bench.run(&["diff", "a.toml", text(&recording)]).expect(2);
}

#[test]
fn a_recording_is_not_a_recording_if_it_is_something_else() {
    let bench = Bench::new();
    bench.write("x.mcap", b"hello");
    for verb in ["verify", "info", "report"] {
        let done = bench.run(&[verb, "x.mcap"]).expect(2);
        assert!(done.err.contains("x.mcap"), "{}", done.err);
        bench.run(&[verb, "none.mcap"]).expect(3);
    }
}

#[test]
fn a_scene_with_awkward_numbers_is_rebuilt_from_its_recording_to_the_last_bit() {
    let bench = Bench::new();
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
    bench.write("scene.toml", scene);
    bench.write("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1.1 0\nv 0 0 1.3\nv 0.1 0.1 0.1\n");
    bench.run(&["run", "scene.toml", "--quiet", "--no-report"]).expect(0);
    let done = bench.run(&["verify", "runs/scene.mcap"]).expect(0);
    assert!(done.out.contains("same: 30 steps"), "{}", done.out);
}
