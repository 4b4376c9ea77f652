//! Invalid scenes and meshes are refused with exit code 2, the line, the field and the expected value, without a panic
//! and without more memory than a small scene needs.

use crate::bench::Bench;

/// Memory limit, kB: enough for the command and a small scene.
const MEMORY: u64 = 1_000_000;

/// Returns a scene with the given line 7.
fn with_line(line: &str) -> String {
    format!(
        "version = 1\n\n[materials.steel]\nfriction = 0.4\n[[body]]\nname = \"ball\"\n{line}\nkind = \
         \"inertial\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\n"
    )
}

/// Asserts that the scene is refused at this line, with all of these words.
fn refused(name: &str, text: &str, line: usize, words: &[&str]) {
    let bench = Bench::new();
    bench.write(name, text);
    for verb in ["check", "run"] {
        let done = bench.run_within(MEMORY, &[verb, name]).expect(2);
        assert!(done.out.is_empty(), "{name}: {}", done.out);
        assert!(!done.err.contains("panicked"), "{name}: {}", done.err);
        if line > 0 {
            assert!(done.err.contains(&format!("{name}:{line}:")), "line {line}: {}", done.err);
        }
        for word in words {
            assert!(done.err.contains(word), "{name}: expected `{word}` in {}", done.err);
        }
    }
    assert!(!bench.path("runs").exists(), "{name}: a refused scene writes no files");
}

fn refused_line(line: &str, words: &[&str]) {
    refused("scene.toml", &with_line(line), 7, words);
}

#[test]
fn the_valid_scene_is_accepted() {
    let bench = Bench::new();
    bench.write("scene.toml", with_line("mass = 1.0"));
    bench.run(&["check", "scene.toml"]).expect(0);
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    refused_line("mass = \"heavy\"", &["body[0].mass", "expected a number", "\"heavy\""]);
    refused_line("mass = [1, 2]", &["body[0].mass", "expected a number", "a list"]);
    refused_line("position = 3", &["body[0].position", "array of length 3", "3"]);
    refused_line("position = [0, 0]", &["body[0].position", "length 3", "2 elements"]);
    refused_line("position = [0, 0, 0, 0]", &["body[0].position", "3", "4"]);
    refused_line("position = [0, 0, \"up\"]", &["body[0].position[2]", "expected a number"]);
    refused_line("array = 5", &["body[0].array", "expected a table"]);
    refused_line("orientation = [0, 0, 0, 1]", &["body[0].orientation", "expected a table"]);
    refused("scene.toml", "version = \"one\"", 1, &["version", "whole number", "\"one\""]);
    refused("scene.toml", "version = 1\nbody = 3", 2, &["body", "expected a list", "3"]);
}

#[test]
fn non_finite_numbers_are_refused() {
    refused_line("mass = nan", &["body[0].mass", "finite number", "NaN"]);
    refused_line("mass = inf", &["body[0].mass", "finite number", "inf"]);
    refused_line("velocity = [0, -inf, 0]", &["body[0].velocity[1]", "finite number"]);
    refused_line("mass = 1e400", &["body[0].mass", "finite number"]);
    refused_line("mass = 99999999999999999999", &["number within range"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused_line("mass = -1", &["body[0].mass", "-1", "greater than zero"]);
    refused_line("mass = 0.0", &["body[0].mass", "greater than zero"]);
    refused_line("mass = 1\ndensity = 1", &["body[0].mass", "either `mass` or `density`"]);
    refused_line("inertia = [1, 2]", &["body[0].inertia", "2 elements"]);
    refused_line("inertia = [1, 1, -1]", &["body[0].inertia", "positive definite"]);
    refused_line("orientation = { quaternion = [1, 1, 0, 0] }", &["quaternion", "unit length"]);
    refused_line("orientation = { axis = [0, 0, 0], angle_deg = 3 }", &["axis", "not zero"]);
    refused_line("orientation = { axis = [0, 0, 1] }", &["orientation", "`angle_deg`"]);
    refused_line("material = { friction = -1 }", &["body[0].material.friction", "-1"]);
    refused_line("damping = { linear = -1 }", &["body[0].damping.linear", "-1"]);
    let text = "version = 1\n[world]\nsubsteps = 0\n";
    refused("scene.toml", text, 3, &["world.substeps", "from 1 to 64"]);
    refused("scene.toml", "version = 1\n[world]\ndt = 0\n", 3, &["world.dt", "above 0"]);
    refused("scene.toml", "version = 1\n[world]\nthreads = 0\n", 3, &["world.threads"]);
    refused("scene.toml", "version = 1\n[world]\nduration = 1e300\n", 3, &["world.duration"]);
    refused("scene.toml", "version = 2\n", 1, &["version", "expected 1, found 2"]);
}

#[test]
fn misspelt_names_are_refused_with_a_suggestion() {
    refused_line("mas = 1", &["body[0].mas", "unknown field `mas`", "did you mean `mass`?"]);
    refused("scene.toml", "version = 1\n[wrold]\n", 2, &["wrold", "did you mean `world`?"]);
    refused("scene.toml", "version = 1\n[world]\nsolver = \"pgss\"\n", 3, &["`pgs`"]);
    refused_line("material = \"steal\"", &["no material \"steal\"", "did you mean `steel`?"]);
    let joint = with_line("mass = 1") + "[[joint]]\nkind = \"ball\"\na = \"bal\"\nb = \"ball\"\n";
    refused("scene.toml", &joint, 12, &["joint[0].a", "did you mean `ball`?"]);
    let shape = with_line("mass = 1").replace("sphere", "spere");
    refused("scene.toml", &shape, 9, &["body[0].shape.spere", "did you mean `sphere`?"]);
}

#[test]
fn names_of_other_engines_are_refused_with_the_name_in_msd() {
    let shape = |name: &str| with_line("mass = 1").replace("sphere", name);
    refused("scene.toml", &shape("box"), 9, &["body[0].shape.box", "a box is a `cuboid`"]);
    refused("scene.toml", &shape("ball"), 9, &["a ball is a `sphere`"]);
    refused("scene.toml", &shape("plane"), 9, &["`half_space`"]);
    let kind = |name: &str| with_line("mass = 1").replace("\"inertial\"", &format!("\"{name}\""));
    refused("scene.toml", &kind("static"), 8, &["body[0].kind", "a static body is `environment`"]);
    refused("scene.toml", &kind("dynamic"), 8, &["a dynamic body is `inertial`"]);
    let help = "a kinematic body is `environment` with a `velocity`";
    refused("scene.toml", &kind("kinematic"), 8, &[help]);
    refused_line("rotation = 3", &["a body's rotation is its `orientation`"]);
}

#[test]
fn a_recording_given_as_a_scene_is_refused_with_suggestions() {
    let bench = Bench::new();
    bench.record("tower", &["steps=1"]);
    std::fs::copy(bench.path("runs/tower.mcap"), bench.path("renamed.toml")).unwrap();
    for name in ["runs/tower.mcap", "renamed.toml"] {
        for verb in ["run", "check"] {
            let done = bench.run(&[verb, name]).expect(2);
            assert!(done.err.contains("this is a recording, not a scene"), "{}", done.err);
            for instead in ["view", "report", "verify"] {
                assert!(done.err.contains(&format!("`msd {instead} {name}`")), "{}", done.err);
            }
        }
    }
}

#[test]
fn missing_and_duplicate_fields_are_refused() {
    let text = "version = 1\n\n[[body]]\nname = \"x\"\n";
    refused("scene.toml", text, 3, &["body[0].kind", "is missing"]);
    refused(
        "scene.toml",
        "title = \"x\"",
        1,
        &["version", "is missing", "add `version = 1` at the top"],
    );
    refused_line("name = \"ball\"", &["duplicate key"]);
    let twins = format!("{}[[body]]\n{}", with_line("mass = 1"), &with_line("mass = 1")[54..]);
    let twins = twins.replacen("[[body]]\n[[body]]", "[[body]]", 1);
    refused("scene.toml", &twins, 0, &["body[1].name", "\"ball\"", "no other body"]);
    refused("scene.json", "{\"version\": 1,\n \"version\": 1}", 2, &["duplicate key `version`"]);
}

#[test]
fn oversized_scenes_are_refused_before_they_are_built() {
    let array = "array = { count = [1000, 1000, 1000], spacing = [1, 1, 1] }";
    refused_line(array, &["body[0].array.count", "100000 bodies", "--max-bodies"]);
    let array = "array = { count = [4000000000, 4000000000, 4000000000], spacing = [1, 1, 1] }";
    refused_line(array, &["body[0].array.count", "100000 bodies"]);
    let points = "[0, 0, 1], ".repeat(100_001);
    let hull =
        with_line("mass = 1").replace("sphere = { radius = 0.5 }", "hull = { points = [@] }");
    refused("scene.toml", &hull.replace('@', &points), 9, &["hull.points", "--max-points"]);
    let bench = Bench::new();
    bench.write("large.toml", vec![b' '; 2_000_000]);
    let done = bench.run(&["check", "large.toml", "--max-scene-bytes", "1000000"]).expect(2);
    assert!(done.err.contains("larger than 1000000 bytes"), "{}", done.err);
}

#[test]
fn files_that_are_not_scenes_are_refused() {
    refused("scene.toml", "this is not toml", 1, &["scene.toml"]);
    refused("scene.toml", "version = 1\nbody = [", 2, &[]);
    refused("scene.json", "{\"version\": 1,\n\"body\": [}", 2, &[]);
    refused("scene.json", "[1, 2, 3]", 1, &["expected a table"]);
    refused("scene.json", "", 0, &["expected a scene"]);
    refused("scene.toml", "", 0, &["version", "is missing"]);
    let bench = Bench::new();
    bench.write("scene.toml", [0xff, 0xfe, 0x00]);
    let done = bench.run(&["run", "scene.toml"]).expect(2);
    assert!(done.err.contains("UTF-8"), "{}", done.err);
}

#[test]
fn deep_nesting_is_refused() {
    let (open, close) = ("[".repeat(100), "]".repeat(100));
    refused("scene.toml", &format!("version = 1\nbody = {open}{close}\n"), 2, &[]);
    refused("scene.json", &format!("{{\"version\": 1,\n\"body\": {open}{close}}}"), 2, &["nested"]);
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    refused("scene.toml", &format!("version = 1\nbody = {open}{close}\n"), 2, &[]);
    refused("scene.json", &format!("{{\"version\": 1,\n\"body\": {open}{close}}}"), 2, &[]);
    let key = "a.".repeat(100_000);
    refused("scene.toml", &format!("version = 1\n{key}b = 1\n"), 2, &["nested"]);
    let key = "\"a\".".repeat(100_000);
    refused("scene.toml", &format!("version = 1\n{key}b = 1\n"), 2, &["nested"]);
}

#[test]
fn settings_on_the_command_line_are_checked_like_those_of_a_file() {
    let bench = Bench::new();
    for (set, words) in [
        ("substeps=0", ["--set substeps=0", "from 1 to 64"]),
        ("substep=8", ["--set substep=8", "did you mean `substeps`?"]),
        ("solver=magic", ["--set solver=magic", "`conic`"]),
        ("body.cub.mass=1", ["there is no `body.cub.mass`", "did you mean `cube`?"]),
        ("body.elephant.mass=1", ["there is no `body.elephant.mass`", "names are `floor`, `cube`"]),
        ("dt=1/0", ["--set dt=1/0", "expected a number"]),
        ("dt=one/two", ["--set dt=one/two", "expected a number"]),
        ("body.cube.mass=-1", ["body[1].mass", "greater than zero"]),
        ("gravity", ["KEY=VALUE", "gravity"]),
    ] {
        let done = bench.run(&["run", "tower", "--set", set]).expect(2);
        for word in words {
            assert!(done.err.contains(word), "{set}: expected `{word}` in {}", done.err);
        }
    }
}

/// Returns a scene with a hull from a mesh.
fn mesh_scene(mesh: &str) -> String {
    with_line("mass = 1")
        .replace("sphere = { radius = 0.5 }", &format!("hull = {{ mesh = '{mesh}' }}"))
}

/// Asserts that the mesh is refused at the line of the scene that names it.
fn mesh_refused(name: &str, bytes: &[u8], words: &[&str]) {
    let bench = Bench::new();
    bench.write("scene.toml", mesh_scene(name));
    if !name.contains("..") && !name.starts_with('/') {
        bench.write(name, bytes);
    }
    let done = bench.run_within(MEMORY, &["check", "scene.toml"]).expect(2);
    assert!(!done.err.contains("panicked"), "{name}: {}", done.err);
    for word in [&["scene.toml:9:", "body[0].shape.hull.mesh", name], words].concat() {
        assert!(done.err.contains(word), "{name}: expected `{word}` in {}", done.err);
    }
}

#[test]
fn meshes_outside_the_scenes_folder_are_refused() {
    mesh_refused("../crate.obj", b"", &["folder"]);
    mesh_refused("a/../../crate.obj", b"", &["folder"]);
    mesh_refused("/crate.obj", b"", &["folder"]);
}

#[test]
fn broken_meshes_are_refused() {
    let mut stl = vec![0; 84];
    stl[80..84].copy_from_slice(&4_u32.to_le_bytes());
    stl.extend([0; 70]);
    mesh_refused("cut.stl", &stl, &[]);
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    mesh_refused("huge.stl", &stl, &[]);
    mesh_refused("nothing.stl", b"", &[]);
    mesh_refused("ascii.stl", b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0", &[]);
    mesh_refused("nan.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", &[]);
    mesh_refused("words.obj", b"v a b c\n", &[]);
    mesh_refused("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", &["volume"]);
    mesh_refused("few.obj", b"v 0 0 0\nv 1 0 0\n", &["at least 4"]);
    let ply = "ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nproperty float \
               y\nproperty float z\nend_header\n0 0 0\n";
    mesh_refused("huge.ply", ply.as_bytes(), &[]);
    mesh_refused("cut.ply", &ply.as_bytes()[..40], &[]);
    mesh_refused("cut.glb", b"glTF\x02\0\0\0\xff\xff\xff\xff", &[]);
    mesh_refused("empty.gltf", b"{}", &[]);
    mesh_refused("crate.dae", b"<xml/>", &["obj"]);
    let gltf = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"../x.bin","byteLength":48}]}"#;
    mesh_refused("out.gltf", gltf.as_bytes(), &[]);
}

#[test]
fn a_missing_mesh_is_bad_input_and_a_missing_scene_is_an_io_error() {
    let bench = Bench::new();
    bench.write("scene.toml", mesh_scene("none.obj"));
    let done = bench.run(&["check", "scene.toml"]).expect(2);
    assert!(done.err.contains("none.obj"), "{}", done.err);
    let done = bench.run(&["check", "none.toml"]).expect(3);
    assert!(done.err.contains("none.toml"), "{}", done.err);
}
