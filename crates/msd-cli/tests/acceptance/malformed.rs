//! Invalid scenes and meshes are rejected with exit code 2, the line, the field and the expected value, without a panic
//! and without more memory than a small scene needs.

use crate::sandbox::Sandbox;

/// Memory limit, kB: enough for the command and a small scene.
const MEMORY: u64 = 1_000_000;

/// Returns a scene with the given line 7.
fn with_line(line: &str) -> String {
    format!(
        "version = 1\n\n[materials.steel]\nfriction = 0.4\n[[body]]\nname = \"ball\"\n{line}\nkind = \
         \"inertial\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\n"
    )
}

/// Asserts that the scene is rejected at this line, with all of these words.
fn rejected(name: &str, text: &str, line: usize, words: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write(name, text);
    for verb in ["check", "run"] {
        let done = sandbox.run_within(MEMORY, &[verb, name]).expect(2);
        assert!(done.out.is_empty(), "{name}: {}", done.out);
        assert!(!done.err.contains("panicked"), "{name}: {}", done.err);
        if line > 0 {
            assert!(done.err.contains(&format!("{name}:{line}:")), "line {line}: {}", done.err);
        }
        for word in words {
            assert!(done.err.contains(word), "{name}: expected `{word}` in {}", done.err);
        }
    }
    assert!(!sandbox.path("runs").exists(), "{name}: a rejected scene writes no files");
}

fn rejected_line(line: &str, words: &[&str]) {
    rejected("scene.toml", &with_line(line), 7, words);
}

#[test]
fn the_valid_scene_is_accepted() {
    let sandbox = Sandbox::new();
    sandbox.write("scene.toml", with_line("mass = 1.0"));
    sandbox.run(&["check", "scene.toml"]).expect(0);
}

#[test]
fn values_of_the_wrong_type_are_rejected() {
    rejected_line("mass = \"heavy\"", &["body[0].mass", "expected a number", "\"heavy\""]);
    rejected_line("mass = [1, 2]", &["body[0].mass", "expected a number", "a list"]);
    rejected_line("position = 3", &["body[0].position", "array of length 3", "3"]);
    rejected_line("position = [0, 0]", &["body[0].position", "length 3", "2 elements"]);
    rejected_line("position = [0, 0, 0, 0]", &["body[0].position", "3", "4"]);
    rejected_line("position = [0, 0, \"up\"]", &["body[0].position[2]", "expected a number"]);
    rejected_line("array = 5", &["body[0].array", "expected a table"]);
    rejected_line("orientation = [0, 0, 0, 1]", &["body[0].orientation", "expected a table"]);
    rejected("scene.toml", "version = \"one\"", 1, &["version", "whole number", "\"one\""]);
    rejected("scene.toml", "version = 1\nbody = 3", 2, &["body", "expected a list", "3"]);
}

#[test]
fn non_finite_numbers_are_rejected() {
    rejected_line("mass = nan", &["body[0].mass", "finite number", "NaN"]);
    rejected_line("mass = inf", &["body[0].mass", "finite number", "inf"]);
    rejected_line("velocity = [0, -inf, 0]", &["body[0].velocity[1]", "finite number"]);
    rejected_line("mass = 1e400", &["body[0].mass", "finite number"]);
    rejected_line("mass = 99999999999999999999", &["number within range"]);
}

#[test]
fn numbers_out_of_range_are_rejected() {
    rejected_line("mass = -1", &["body[0].mass", "-1", "greater than zero"]);
    rejected_line("mass = 0.0", &["body[0].mass", "greater than zero"]);
    rejected_line("mass = 1\ndensity = 1", &["body[0].mass", "either `mass` or `density`"]);
    rejected_line("inertia = [1, 2]", &["body[0].inertia", "2 elements"]);
    rejected_line("inertia = [1, 1, -1]", &["body[0].inertia", "positive definite"]);
    rejected_line("orientation = { quaternion = [1, 1, 0, 0] }", &["quaternion", "unit length"]);
    rejected_line("orientation = { axis = [0, 0, 0], angle_deg = 3 }", &["axis", "not zero"]);
    rejected_line("orientation = { axis = [0, 0, 1] }", &["orientation", "`angle_deg`"]);
    rejected_line("material = { friction = -1 }", &["body[0].material.friction", "-1"]);
    rejected_line("velocity = [1e100, 0, 0]", &["body[0].velocity", "at most 1.099511627776e12"]);
    rejected_line("position = [0, 0, -1e13]", &["body[0].position", "at most"]);
    rejected_line("damping = { linear = -1 }", &["body[0].damping.linear", "-1"]);
    let text = "version = 1\n[world]\nsubsteps = 0\n";
    rejected("scene.toml", text, 3, &["world.substeps", "from 1 to 64"]);
    rejected("scene.toml", "version = 1\n[world]\ndt = 0\n", 3, &["world.dt", "above 0"]);
    rejected("scene.toml", "version = 1\n[world]\nthreads = 0\n", 3, &["world.threads"]);
    rejected("scene.toml", "version = 1\n[world]\nduration = 1e300\n", 3, &["world.duration"]);
    rejected("scene.toml", "version = 2\n", 1, &["version", "expected 1, found 2"]);
}

#[test]
fn misspelled_names_are_rejected_with_a_suggestion() {
    rejected_line("mas = 1", &["body[0].mas", "unknown field `mas`", "did you mean `mass`?"]);
    rejected("scene.toml", "version = 1\n[wrold]\n", 2, &["wrold", "did you mean `world`?"]);
    rejected("scene.toml", "version = 1\n[world]\nsolver = \"pgss\"\n", 3, &["`pgs`"]);
    rejected_line("material = \"steal\"", &["no material \"steal\"", "did you mean `steel`?"]);
    let joint = with_line("mass = 1") + "[[joint]]\nkind = \"ball\"\na = \"bal\"\nb = \"ball\"\n";
    rejected("scene.toml", &joint, 12, &["joint[0].a", "did you mean `ball`?"]);
    let shape = with_line("mass = 1").replace("sphere", "spere");
    rejected("scene.toml", &shape, 9, &["body[0].shape.spere", "did you mean `sphere`?"]);
}

#[test]
fn names_of_other_engines_are_rejected_with_the_name_in_msd() {
    let shape = |name: &str| with_line("mass = 1").replace("sphere", name);
    rejected("scene.toml", &shape("box"), 9, &["body[0].shape.box", "a box is a `cuboid`"]);
    rejected("scene.toml", &shape("ball"), 9, &["a ball is a `sphere`"]);
    rejected("scene.toml", &shape("plane"), 9, &["`half_space`"]);
    let kind = |name: &str| with_line("mass = 1").replace("\"inertial\"", &format!("\"{name}\""));
    rejected("scene.toml", &kind("static"), 8, &["body[0].kind", "a static body is `environment`"]);
    rejected("scene.toml", &kind("dynamic"), 8, &["a dynamic body is `inertial`"]);
    let help = "a kinematic body is `environment` with a `velocity`";
    rejected("scene.toml", &kind("kinematic"), 8, &[help]);
    rejected_line("rotation = 3", &["the rotation of a body or collider is its `orientation`"]);
}

#[test]
fn joints_and_motors_that_are_missing_are_rejected_with_what_to_use_instead() {
    let joint = |line: &str| {
        with_line("mass = 1") + "[[joint]]\n" + line + "\na = \"ball\"\nb = \"ball\"\n"
    };
    for (kind, help) in [
        ("hinge", "two `ball` joints on the axis"),
        ("revolute", "two `ball` joints on the axis"),
        ("slider", "there are no sliders yet"),
        ("prismatic", "there are no sliders yet"),
        ("fixed", "three `ball` joints"),
        ("spring", "a spring is a `distance` joint with `stiffness`"),
    ] {
        rejected("scene.toml", &joint(&format!("kind = \"{kind}\"")), 11, &["joint[0].kind", help]);
    }
    for (line, help) in [
        ("motor = { velocity = 1 }", "a `[[force]]` with `force` or `torque`"),
        ("limits = [-1, 1]", "there are no limits of angles yet"),
        ("axis = [0, 0, 1]", "there are no hinges yet"),
    ] {
        rejected("scene.toml", &joint(&format!("kind = \"ball\"\n{line}")), 12, &[help]);
    }
    rejected_line("sensor = true", &["body[0].sensor", "a collider with `sensor = true`"]);
    rejected_line("surface_velocity = [1, 0, 0]", &["there is no surface velocity yet"]);
    let material = "material = { surface_velocity = [1, 0, 0] }";
    rejected_line(material, &["there is no surface velocity yet"]);
}

/// The message was "key with no value, expected `=`".
#[test]
fn files_of_other_engines_are_rejected_by_format() {
    let sandbox = Sandbox::new();
    for (name, format) in [
        ("robot.urdf", "URDF files"),
        ("robot.xml", "XML (URDF, MJCF) files"),
        ("robot.MJCF", "MJCF files"),
        ("world.sdf", "SDF files"),
        ("stage.usda", "USD files"),
    ] {
        sandbox.write(name, "<?xml version=\"1.0\"?>\n<robot name=\"r\"/>\n");
        for verb in ["run", "check"] {
            let done = sandbox.run(&[verb, name]).expect(2);
            assert!(done.err.contains(&format!("{format} are not read yet")), "{}", done.err);
            assert!(done.err.contains("a TOML or JSON file"), "{}", done.err);
        }
    }
}

#[test]
fn a_recording_given_as_a_scene_is_rejected_with_suggestions() {
    let sandbox = Sandbox::new();
    sandbox.record("tower", &["steps=1"]);
    std::fs::copy(sandbox.path("runs/tower.mcap"), sandbox.path("renamed.toml")).unwrap();
    for name in ["runs/tower.mcap", "renamed.toml"] {
        for verb in ["run", "check"] {
            let done = sandbox.run(&[verb, name]).expect(2);
            assert!(done.err.contains("this is a recording, not a scene"), "{}", done.err);
            for instead in ["view", "report", "verify"] {
                assert!(done.err.contains(&format!("`msd {instead} {name}`")), "{}", done.err);
            }
        }
    }
}

#[test]
fn missing_and_duplicate_fields_are_rejected() {
    let text = "version = 1\n\n[[body]]\nname = \"x\"\n";
    rejected("scene.toml", text, 3, &["body[0].kind", "is missing"]);
    rejected(
        "scene.toml",
        "title = \"x\"",
        1,
        &["version", "is missing", "add `version = 1` at the top"],
    );
    rejected_line("name = \"ball\"", &["duplicate key"]);
    let twins = format!("{}[[body]]\n{}", with_line("mass = 1"), &with_line("mass = 1")[54..]);
    let twins = twins.replacen("[[body]]\n[[body]]", "[[body]]", 1);
    rejected("scene.toml", &twins, 0, &["body[1].name", "\"ball\"", "no other body"]);
    rejected("scene.json", "{\"version\": 1,\n \"version\": 1}", 2, &["duplicate key `version`"]);
}

#[test]
fn oversized_scenes_are_rejected_before_they_are_built() {
    let array = "array = { count = [1000, 1000, 1000], spacing = [1, 1, 1] }";
    rejected_line(array, &["body[0].array.count", "100000 bodies", "--max-bodies"]);
    let array = "array = { count = [4000000000, 4000000000, 4000000000], spacing = [1, 1, 1] }";
    rejected_line(array, &["body[0].array.count", "100000 bodies"]);
    let points = "[0, 0, 1], ".repeat(100_001);
    let hull =
        with_line("mass = 1").replace("sphere = { radius = 0.5 }", "hull = { points = [@] }");
    rejected("scene.toml", &hull.replace('@', &points), 9, &["hull.points", "--max-points"]);
    let sandbox = Sandbox::new();
    sandbox.write("large.toml", vec![b' '; 2_000_000]);
    let done = sandbox.run(&["check", "large.toml", "--max-scene-bytes", "1000000"]).expect(2);
    assert!(done.err.contains("larger than 1000000 bytes"), "{}", done.err);
}

#[test]
fn files_that_are_not_scenes_are_rejected() {
    rejected("scene.toml", "this is not toml", 1, &["scene.toml"]);
    rejected("scene.toml", "version = 1\nbody = [", 2, &[]);
    rejected("scene.json", "{\"version\": 1,\n\"body\": [}", 2, &[]);
    rejected("scene.json", "[1, 2, 3]", 1, &["expected a table"]);
    rejected("scene.json", "", 0, &["expected a scene"]);
    rejected("scene.toml", "", 0, &["version", "is missing"]);
    let sandbox = Sandbox::new();
    sandbox.write("scene.toml", [0xff, 0xfe, 0x00]);
    let done = sandbox.run(&["run", "scene.toml"]).expect(2);
    assert!(done.err.contains("UTF-8"), "{}", done.err);
}

#[test]
fn deep_nesting_is_rejected() {
    let (open, close) = ("[".repeat(100), "]".repeat(100));
    rejected("scene.toml", &format!("version = 1\nbody = {open}{close}\n"), 2, &[]);
    rejected(
        "scene.json",
        &format!("{{\"version\": 1,\n\"body\": {open}{close}}}"),
        2,
        &["nested"],
    );
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    rejected("scene.toml", &format!("version = 1\nbody = {open}{close}\n"), 2, &[]);
    rejected("scene.json", &format!("{{\"version\": 1,\n\"body\": {open}{close}}}"), 2, &[]);
    let key = "a.".repeat(100_000);
    rejected("scene.toml", &format!("version = 1\n{key}b = 1\n"), 2, &["nested"]);
    let key = "\"a\".".repeat(100_000);
    rejected("scene.toml", &format!("version = 1\n{key}b = 1\n"), 2, &["nested"]);
}

#[test]
fn settings_on_the_command_line_are_checked_like_those_of_a_file() {
    let sandbox = Sandbox::new();
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
        let done = sandbox.run(&["run", "tower", "--set", set]).expect(2);
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

/// Asserts that the mesh is rejected at the line of the scene that names it.
fn mesh_rejected(name: &str, bytes: &[u8], words: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write("scene.toml", mesh_scene(name));
    if !name.contains("..") && !name.starts_with('/') {
        sandbox.write(name, bytes);
    }
    let done = sandbox.run_within(MEMORY, &["check", "scene.toml"]).expect(2);
    assert!(!done.err.contains("panicked"), "{name}: {}", done.err);
    for word in [&["scene.toml:9:", "body[0].shape.hull.mesh", name], words].concat() {
        assert!(done.err.contains(word), "{name}: expected `{word}` in {}", done.err);
    }
}

#[test]
fn meshes_outside_the_scenes_folder_are_rejected() {
    mesh_rejected("../crate.obj", b"", &["folder"]);
    mesh_rejected("a/../../crate.obj", b"", &["folder"]);
    mesh_rejected("/crate.obj", b"", &["folder"]);
}

#[test]
fn broken_meshes_are_rejected() {
    let mut stl = vec![0; 84];
    stl[80..84].copy_from_slice(&4_u32.to_le_bytes());
    stl.extend([0; 70]);
    mesh_rejected("cut.stl", &stl, &[]);
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    mesh_rejected("huge.stl", &stl, &[]);
    mesh_rejected("nothing.stl", b"", &[]);
    mesh_rejected("ascii.stl", b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0", &[]);
    mesh_rejected("nan.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", &[]);
    mesh_rejected("words.obj", b"v a b c\n", &[]);
    mesh_rejected("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", &["volume"]);
    mesh_rejected("few.obj", b"v 0 0 0\nv 1 0 0\n", &["at least 4"]);
    let ply = "ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nproperty float \
               y\nproperty float z\nend_header\n0 0 0\n";
    mesh_rejected("huge.ply", ply.as_bytes(), &[]);
    mesh_rejected("cut.ply", &ply.as_bytes()[..40], &[]);
    mesh_rejected("cut.glb", b"glTF\x02\0\0\0\xff\xff\xff\xff", &[]);
    mesh_rejected("empty.gltf", b"{}", &[]);
    mesh_rejected("crate.dae", b"<xml/>", &["obj"]);
    let gltf = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"../x.bin","byteLength":48}]}"#;
    mesh_rejected("out.gltf", gltf.as_bytes(), &[]);
}

#[test]
fn a_missing_mesh_is_bad_input_and_a_missing_scene_is_an_io_error() {
    let sandbox = Sandbox::new();
    sandbox.write("scene.toml", mesh_scene("none.obj"));
    let done = sandbox.run(&["check", "scene.toml"]).expect(2);
    assert!(done.err.contains("none.obj"), "{}", done.err);
    let done = sandbox.run(&["check", "none.toml"]).expect(3);
    assert!(done.err.contains("none.toml"), "{}", done.err);
}

/// 1000 spheres at one point took 4.5 GB, and 2000 were killed.
#[test]
fn a_pile_of_bodies_within_each_other_is_rejected_by_name() {
    let sandbox = Sandbox::new();
    let balls = |spacing: f64, more: &str| {
        format!(
            "version = 1\n[world]\nsteps = 1\n[[body]]\nkind = \"environment\"\nshape = {{ half_space = {{ normal = [0, 0, 1] }} }}\n\
             [[body]]\nname = \"ball\"\nkind = \"inertial\"\nposition = [0, 0, 9]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
             array = {{ count = [10, 10, 10], spacing = [{spacing}, {spacing}, {spacing}] }}\n{more}\n"
        )
    };
    sandbox.write("pile.toml", balls(0.0, ""));
    for verb in ["check", "run"] {
        let done = sandbox.run(&[verb, "pile.toml"]).expect(2);
        for part in
            ["body[1]", "1000 bodies", "each of 499500 pairs", "(0.000, 0.000, 9.000)", "`spacing`"]
        {
            assert!(done.err.contains(part), "{}", done.err);
        }
    }
    // Around a point where cells of any grid meet, and if the first one collides with none.
    let ghost = "[[body]]\nkind = \"inertial\"\nposition = [0, 0, 9]\nshape = { sphere = { radius = 0.1 } }\n";
    let filtered =
        |groups: u32, mask: u32| format!("filter = {{ groups = {groups}, mask = {mask} }}\n");
    let jitter = balls(0.0, "").replace("[0.0, 0.0, 0.0]", "[0, 0, 0], jitter = 0.05");
    for pile in [jitter.replace("[0, 0, 9]", "[0, 0, 0]"), {
        let (head, tail) = pile_parts(&balls(0.0, ""));
        head + ghost + &filtered(1, 0) + &tail
    }] {
        sandbox.write("pile.toml", pile);
        let done = sandbox.run(&["check", "pile.toml"]).expect(2);
        assert!(done.err.contains("each of 499500 pairs"), "{}", done.err);
    }
    // Apart, or where they do not collide, they are welcome, also around one that collides with each.
    let (head, tail) = pile_parts(&balls(0.0, &filtered(2, 1)));
    let around = head + ghost + &filtered(1, 3) + &tail;
    for scene in [balls(0.19, ""), balls(0.0, &filtered(1, 2)), around] {
        sandbox.write("pile.toml", scene);
        sandbox.run(&["check", "pile.toml"]).expect(0);
    }
}

/// Returns a scene in two parts: the first body, and the others.
fn pile_parts(scene: &str) -> (String, String) {
    let at = scene.rfind("[[body]]").unwrap();
    (scene[..at].to_owned(), scene[at..].to_owned())
}
