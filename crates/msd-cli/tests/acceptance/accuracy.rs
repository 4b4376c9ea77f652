//! The dial in front of the settings: `accuracy = fast | balanced | exact`.

use serde_json::Value;

use crate::sandbox::Sandbox;

const LEVELS: [&str; 3] = ["fast", "balanced", "exact"];

/// Returns a scene of a 2 by 2 by 4 block of boxes that fall onto a floor, with these settings.
fn boxes(settings: &str) -> String {
    format!(
        "version = 1\n[world]\nsteps = 25\n{settings}\n[[body]]\nname = \"floor\"\nkind = \"environment\"\n\
         shape = {{ half_space = {{ normal = [0, 0, 1] }} }}\n\
         [[body]]\nname = \"box\"\nkind = \"inertial\"\nmass = 1\nposition = [0, 0, 0.55]\n\
         shape = {{ cuboid = {{ half_extents = [0.5, 0.5, 0.5] }} }}\n\
         array = {{ count = [2, 2, 4], spacing = [1.01, 1.01, 1.1] }}\n"
    )
}

fn run(sandbox: &Sandbox, scene: &str, more: &[&str]) -> Value {
    let args = [&["run", scene, "--json", "--no-record", "--no-report"], more].concat();
    sandbox.run(&args).json()
}

fn contact_laws(run: &Value) -> &Value {
    let checks = run["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == "contact laws").unwrap()
}

#[test]
fn a_scene_a_replaced_value_and_the_flag_choose_the_same_accuracy() {
    let sandbox = Sandbox::new();
    sandbox.write("boxes.toml", boxes(""));
    let mut hashes = Vec::new();
    for level in LEVELS {
        sandbox.write("own.toml", boxes(&format!("accuracy = \"{level}\"")));
        let set = format!("accuracy={level}");
        let found = [
            run(&sandbox, "own.toml", &[]),
            run(&sandbox, "boxes.toml", &["--set", &set]),
            run(&sandbox, "boxes.toml", &["--accuracy", level]),
            // The flag replaces both.
            run(&sandbox, "own.toml", &["--set", "accuracy=fast", "--accuracy", level]),
        ];
        for run in &found {
            assert_eq!(run["accuracy"], level);
            assert_eq!(run["state_hash"], found[0]["state_hash"], "{level}");
            let swept = if level == "fast" { 16 } else { 0 };
            assert_eq!(run["methods"]["swept_bodies"], swept, "{level}");
        }
        hashes.push(found[0]["state_hash"].clone());
    }
    // Balanced is the default, and all three differ.
    assert_eq!(run(&sandbox, "boxes.toml", &[])["state_hash"], hashes[1]);
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    let text = sandbox.run(&["run", "boxes.toml", "--no-report", "--set", "newton_work=9"]).out;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("accuracy balanced, but newton_work = 9"), "{text}");
}

#[test]
fn settings_without_effect_at_an_accuracy_are_rejected_or_noted() {
    let sandbox = Sandbox::new();
    for (settings, parts) in [
        ("accuracy = \"fast\"\nnewton_work = 9", ["world.newton_work", "accuracy = fast"]),
        (
            "accuracy = \"fast\"\nmax_exact_bodies = 5",
            ["world.max_exact_bodies", "accuracy = fast"],
        ),
        ("accuracy = \"fast\"\nsolver = \"pgs\"", ["world.solver", "accuracy = fast"]),
        ("accuracy = \"fastest\"", ["`fast`", "`exact`"]),
    ] {
        sandbox.write("boxes.toml", boxes(settings));
        let done = sandbox.run(&["run", "boxes.toml"]).expect(2);
        assert!(parts.iter().all(|part| done.err.contains(part)), "{}", done.err);
    }
    // The flag, as that of the solver, leaves out settings of another accuracy.
    sandbox.write("boxes.toml", boxes("newton_work = 9"));
    let found = run(&sandbox, "boxes.toml", &["--accuracy", "fast"]);
    let note = found["notes"].as_array().unwrap().iter().find_map(|note| {
        note.as_str().filter(|note| note.contains("`newton_work`") && note.contains("fast"))
    });
    assert!(note.is_some(), "{}", found["notes"]);
    let done = sandbox.run(&["check", "boxes.toml", "--accuracy", "fast"]).expect(0);
    assert!(
        done.out.contains("accuracy fast") && done.out.contains("`newton_work`"),
        "{}",
        done.out
    );
    assert!(done.out.contains("all of them will be swept"), "{}", done.out);
}

#[test]
fn an_exact_run_that_does_not_converge_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("boxes.toml", boxes("newton_steps = 1"));
    let args = ["run", "boxes.toml", "--no-report", "--no-record", "--accuracy", "exact"];
    let done = sandbox.run(&args).expect(1);
    assert!(done.out.contains("fail  contact laws"), "{}", done.out);
    let exact = run(&sandbox, "boxes.toml", &["--accuracy", "exact"]);
    let message = contact_laws(&exact)["message"].as_str().unwrap();
    assert!(message.contains("steps above the tolerance"), "{message}");
    assert!(message.contains("try accuracy = \"exact\" without newton_steps"), "{message}");
    // With all its Newton steps it converges.
    sandbox.write("boxes.toml", boxes(""));
    let exact = run(&sandbox, "boxes.toml", &["--accuracy", "exact"]);
    assert_eq!(contact_laws(&exact)["verdict"], "pass", "{}", contact_laws(&exact));
}

/// A residual of 2.7e-9 failed a run with the same words as one of 0.23.
#[test]
fn an_exact_run_is_judged_by_what_its_residuals_do_to_positions() {
    let sandbox = Sandbox::new();
    // A tolerance of a few roundings is not reached, which moves nothing.
    sandbox.write("boxes.toml", boxes("tolerance = 1e-15"));
    // A heap in which Newton's method stalls at 1e-9.
    for (scene, steps) in [("boxes.toml", "steps=25"), ("bricks", "steps=240")] {
        let exact = run(&sandbox, scene, &["--set", steps, "--accuracy", "exact"]);
        let laws = contact_laws(&exact);
        assert_eq!(laws["verdict"], "pass", "{laws}");
        assert!(
            laws["message"]
                .as_str()
                .unwrap()
                .contains("above the tolerance, whose largest residuals")
        );
    }
    // A tower of alternating 1 g and 1000 t.
    let mut tower =
        "version = 1\n[world]\nsteps = 60\n[[body]]\nname = \"floor\"\nkind = \"environment\"\n\
        shape = { half_space = { normal = [0, 0, 1] } }\n"
            .to_owned();
    for n in 0..12 {
        let (mass, x) = if n % 2 == 0 { (1e-3, 0.05) } else { (1e6, -0.05) };
        let z = 0.1 + 0.21 * f64::from(n);
        tower += &format!(
            "[[body]]\nkind = \"inertial\"\nshape = {{ cuboid = {{ half_extents = [0.1, 0.1, 0.1] }} }}\nmass = {mass}\n\
             position = [{x}, 0, {z}]\n"
        );
    }
    sandbox.write("tower.toml", tower);
    let args = ["--accuracy", "exact"];
    let moved = |more: &[&str]| {
        let found = run(&sandbox, "tower.toml", &[&args[..], more].concat());
        let message = contact_laws(&found)["message"].as_str().unwrap().to_owned();
        let share = message
            .split_once("offset of ")
            .map(|(_, rest)| rest.split_once(" %").unwrap().0.to_owned());
        (message, share.map_or(0.0, |share| share.parse::<f64>().unwrap()))
    };
    let (message, worst) = moved(&[]);
    let conic = if cfg!(feature = "conic") { ", or solver = \"conic\"" } else { "" };
    assert!(message.ends_with(&format!("; try a shorter dt{conic}")), "{message}");
    assert!(moved(&["--set", "dt=0.0041666666", "--set", "steps=240"]).1 < worst, "{message}");
    #[cfg(feature = "conic")]
    {
        let conic = moved(&["--solver", "conic"]);
        assert!(conic.1 < worst, "{} instead of {message}", conic.0);
    }
}

/// The check passed by the displacement, and the picture was red by the residual.
#[test]
fn the_pictures_of_an_exact_run_judge_its_residuals_as_its_check_does() {
    let sandbox = Sandbox::new();
    // What is within a loose tolerance is what was asked for.
    sandbox.write("boxes.toml", boxes("tolerance = 0.01"));
    let found = sandbox.run(&["run", "boxes.toml", "--json", "--accuracy", "exact"]).json();
    assert!(found["worst_residual"].as_f64().unwrap() > 1e-3, "{found}");
    assert_eq!(contact_laws(&found)["verdict"], "pass", "{}", contact_laws(&found));
    let page = std::fs::read_to_string(sandbox.path("runs/boxes.html")).unwrap();
    assert!(page.contains("hardest impact") && !page.contains("worst step: contact laws"));
    // Where the check fails, the picture is of it.
    sandbox.write("boxes.toml", boxes("newton_steps = 1"));
    let found = sandbox.run(&["run", "boxes.toml", "--json", "--accuracy", "exact"]).json();
    assert_eq!(contact_laws(&found)["verdict"], "fail", "{}", contact_laws(&found));
    let page = std::fs::read_to_string(sandbox.path("runs/boxes.html")).unwrap();
    assert!(page.contains("worst step: contact laws"));
}

#[test]
fn a_recording_keeps_the_accuracy_of_its_run() {
    let sandbox = Sandbox::new();
    for (level, settings, text) in [
        ("fast", "sleeping = true", "fast"),
        ("balanced", "newton_steps = 3", "balanced, but newton_steps = 3"),
        ("exact", "sleeping = true", "exact"),
    ] {
        sandbox.write("boxes.toml", boxes(settings));
        sandbox.run(&["run", "boxes.toml", "--no-report", "--accuracy", level]);
        let info = sandbox.run(&["info", "runs/boxes.mcap"]).expect(0).out;
        let words = info.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("accuracy {text} ")), "{info}");
        let object = sandbox.run(&["info", "runs/boxes.mcap", "--json"]).expect(0).json();
        assert_eq!(
            (&object["accuracy"], &object["scene"]["world"]["accuracy"]),
            (&level.into(), &level.into())
        );
        sandbox.run(&["verify", "runs/boxes.mcap"]).expect(0);
    }
    // Recordings of earlier versions hold none.
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/../msd-record/tests/data/format-1.mcap");
    let object = sandbox.run(&["info", older, "--json"]).expect(0).json();
    assert_eq!(object["accuracy"], "balanced");
}

#[test]
fn benchmarks_run_at_the_accuracy_of_the_flag() {
    let sandbox = Sandbox::new();
    let hash = |more: &[&str]| {
        let args = [&["bench", "s2", "--steps", "1"], more].concat();
        let out = sandbox.run(&args).expect(0).out;
        let hash = out
            .split_whitespace()
            .find(|word| word.len() == 16 && word.chars().all(|letter| letter.is_ascii_hexdigit()));
        hash.unwrap_or_else(|| panic!("{out}")).to_owned()
    };
    let balanced = hash(&[]);
    assert_eq!(hash(&["--accuracy", "balanced"]), balanced);
    assert_ne!(hash(&["--accuracy", "fast"]), balanced);
}

#[cfg(feature = "view")]
#[test]
fn the_viewer_refuses_an_accuracy_without_a_scene() {
    let sandbox = Sandbox::new();
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/../msd-record/tests/data/format-1.mcap");
    for args in [&["view", "--no-open"] as &[&str], &["view", "--no-open", older]] {
        let args = [args, &["--accuracy", "fast"]].concat();
        assert!(sandbox.run(&args).expect(2).err.contains("--accuracy has no effect"));
    }
}

#[test]
fn a_run_and_its_recording_say_how_many_bodies_sleep() {
    let sandbox = Sandbox::new();
    for accuracy in ["fast", "balanced", "exact"] {
        let args =
            ["run", "tower", "--no-report", "--set", "sleeping=true", "--accuracy", accuracy];
        let out = sandbox.run(&args).expect(0).out;
        assert!(out.contains("% asleep, of 10 bodies"), "{accuracy}: {out}");
        let info = sandbox.run(&["info", "runs/tower.mcap"]).expect(0).out;
        assert!(info.contains("10 asleep"), "{accuracy}: {info}");
        sandbox.run(&["verify", "runs/tower.mcap"]).expect(0);
    }
}
