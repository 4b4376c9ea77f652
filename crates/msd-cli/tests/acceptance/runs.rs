//! `msd run`, `msd check` and `msd report`: output and files.

use serde_json::json;

use crate::sandbox::{Sandbox, is_good, text};

#[test]
fn a_run_prints_a_summary_and_writes_recording_and_report() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "tower"]).expect(0);
    for word in [
        "600 steps",
        "steps/s",
        "energy",
        "momentum error",
        "largest penetration",
        "worst residual",
        "impacts",
        "state hash",
        "pass  penetration",
        "All checks passed; 2 skipped: joint error, impacts.",
    ] {
        assert!(done.out.contains(word), "expected `{word}` in\n{}", done.out);
    }
    assert!(sandbox.path("runs/tower.mcap").exists());
    let page = std::fs::read_to_string(sandbox.path("runs/tower.html")).unwrap();
    assert!(page.contains("Tower") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn json_output_is_one_object_with_every_figure() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "tower", "--json", "--set", "steps=10"]).expect(0);
    assert_eq!(done.out.trim_end().lines().count(), 1);
    let object = done.json();
    assert_eq!(object["steps"], 10);
    assert_eq!(object["recording"], "runs/tower.mcap");
    assert!(object["wall_seconds"].as_f64().unwrap() > 0.0);
    assert!(object["cpu_seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(object["state_hash"].as_str().unwrap().len(), 16);
    assert!(object["max_penetration"].is_number() && object["worst_residual"].is_number());
    // Ten cubes of 1 kg with centers at 0.5 to 9.5 m: 50 m of height in total.
    let start = object["energy"]["initial"].as_f64().unwrap();
    assert!((start - 50.0 * 9.81).abs() < 1e-9, "{start}");
    assert!(object["checks"].as_array().unwrap().iter().all(is_good));
}

#[test]
fn recording_and_report_can_be_switched_off() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["run", "tower", "--json", "--no-record", "--no-report"]).expect(0);
    assert!(!sandbox.path("runs").exists());
    assert!(done.json()["recording"].is_null() && done.json()["report"].is_null());
    let done = sandbox.run(&["run", "tower", "--quiet"]).expect(0);
    assert!(done.out.is_empty() && done.err.is_empty(), "{}{}", done.out, done.err);
}

#[test]
fn a_failed_check_is_reported_with_exit_code_1() {
    let sandbox = Sandbox::new();
    let two = "version = 1\n[world]\nsteps = 3\n[[body]]\nname = \"a\"\nkind = \"inertial\"\nshape = { \
               sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nkind = \"inertial\"\nshape = { sphere \
               = { radius = 1 } }\nposition = [1, 0, 0]\n";
    sandbox.write("two.toml", two);
    let done = sandbox.run(&["run", "two.toml", "--no-report"]).expect(1);
    assert!(done.out.contains("fail  penetration"), "{}", done.out);
    assert!(done.out.contains("between \"a\" and \"b\"") && done.out.contains("step 0"));
    let done = sandbox.run(&["check", "two.toml"]).expect(0);
    assert!(done.out.contains("overlap at the start by 1.00 m"), "{}", done.out);
    sandbox.run(&["check", "two.toml", "--strict"]).expect(1);
}

#[test]
fn threads_and_solver_are_chosen_on_the_command_line() {
    let sandbox = Sandbox::new();
    let hash = |args: &[&str]| {
        let args = [&["run", "arch", "--json", "--no-report", "--set", "steps=20"], args].concat();
        let object = sandbox.run(&args).expect(0).json();
        (object["state_hash"].as_str().unwrap().to_owned(), object["solver"].clone())
    };
    assert_eq!(hash(&[]).1, "soft-step");
    assert_eq!(hash(&["--solver", "pgs"]).1, "pgs");
    assert_eq!(hash(&["--solver", "conic"]).1, "conic");
}

/// Returns a scene with a loose block of boxes above a floor.
fn loose_boxes(count: [u32; 3], steps: u32) -> String {
    format!(
        "version = 1\n[world]\nsteps = {steps}\nmax_exact_bodies = 0\n\
         [[body]]\nname = \"floor\"\nkind = \"environment\"\n\
         shape = {{ half_space = {{ normal = [0, 0, 1] }} }}\n\
         [[body]]\nname = \"box\"\nkind = \"inertial\"\nmass = 1\nposition = [0, 0, 0.55]\n\
         shape = {{ cuboid = {{ half_extents = [0.5, 0.5, 0.5] }} }}\n\
         array = {{ count = {count:?}, spacing = [1.1, 1.1, 1.1], jitter = 0.04, seed = 3 }}\n"
    )
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.write("many.toml", loose_boxes([14, 14, 11], 12));
    let run = |threads: &str| {
        let args = ["run", "many.toml", "--json", "--no-report", "--threads", threads];
        // The boxes fall for all 12 steps; the verdict does not matter here.
        sandbox.run(&args).json()
    };
    let one = run("1");
    assert_eq!((&one["threads"], &one["threads_used"]), (&json!(1), &json!(1)));
    assert!(one["most_contacts"].as_u64().unwrap() > 500, "{}", one["most_contacts"]);
    let cores = std::thread::available_parallelism().unwrap().get().min(2);
    for threads in ["2", "3"] {
        let more = run(threads);
        assert!(more["threads_used"].as_u64().unwrap() >= cores as u64, "{more}");
        assert_eq!(more["state_hash"], one["state_hash"], "{threads} threads");
        let done = sandbox.run(&["verify", "runs/many.mcap", "--threads", "1"]).expect(0);
        assert!(done.out.contains("identical: all 12 steps"), "{}", done.out);
    }
}

#[test]
fn small_scenes_run_on_one_thread_and_report_it() {
    let sandbox = Sandbox::new();
    sandbox.write("few.toml", loose_boxes([5, 5, 8], 4));
    let args = ["run", "few.toml", "--json", "--no-record", "--no-report"];
    let object = sandbox.run(&args).json();
    let cores = std::thread::available_parallelism().unwrap().get().min(64);
    assert_eq!((&object["threads"], &object["threads_used"]), (&json!(cores), &json!(1)));
}

#[test]
fn a_number_on_the_command_line_may_be_a_fraction() {
    let sandbox = Sandbox::new();
    let args =
        ["run", "tower", "--json", "--no-record", "--no-report", "--set", "steps=2", "--set"];
    for (set, dt) in [("dt=1/120", 1.0 / 120.0), ("dt=0.5 / 64", 1.0 / 128.0)] {
        let object = sandbox.run(&[&args[..], &[set]].concat()).expect(0).json();
        assert_eq!(object["dt"].as_f64(), Some(dt));
    }
}

#[test]
fn the_lint_finds_values_that_are_probably_unintended() {
    let sandbox = Sandbox::new();
    let scene = "version = 1\nworld.continuous = \"never\"\n\
         [[body]]\nname = \"plate\"\nkind = \"inertial\"\nmass = 5000\nposition = [0, 0, 9]\n\
         shape = { hull = { points = [[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1e-5],[1,1,1e-5]] } }\n\
         [[body]]\nname = \"bullet\"\nkind = \"inertial\"\nmass = 1\nvelocity = [900, 0, 0]\n\
         inertia = [1, 1, 3]\nshape = { sphere = { radius = 0.01 } }\n";
    sandbox.write("scene.toml", scene);
    let done = sandbox.run(&["check", "scene.toml", "--json"]).expect(0);
    let warnings = done.json()["warnings"].as_array().unwrap().clone();
    let line_of = |rule: &str| {
        let found = warnings.iter().find(|warning| warning["rule"] == rule);
        found.unwrap_or_else(|| panic!("{rule}: {warnings:?}"))["line"].as_u64()
    };
    assert_eq!(line_of("mass-ratio"), Some(6));
    assert_eq!(line_of("sliver"), Some(8));
    assert_eq!(line_of("inertia"), Some(14));
    // Two radii at 900 m/s; no line, since the time step is the default.
    let step = warnings.iter().find(|warning| warning["rule"] == "time-step").unwrap();
    assert!(step["message"].as_str().unwrap().contains("advised at most 22.2 us"), "{step}");
}

#[test]
fn a_report_is_made_from_a_recording_too() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("bouncing", &["steps=90"]);
    sandbox.run(&["report", text(&recording), "--out", "page.html"]).expect(0);
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("Bouncing balls") && page.contains("e = 0.75"));
}

#[test]
fn a_force_acts_for_its_exact_time_within_steps() {
    // 10 N on 2 kg from 0.105 s to 0.293 s, neither of which is a multiple of 1/60 s: an impulse of 1.88 N s,
    // hence 0.94 m/s.
    let sandbox = Sandbox::new();
    let scene = "version = 1\n[world]\ngravity = [0, 0, 0]\nsteps = 60\n[[body]]\nname = \"ball\"\nkind = \
         \"inertial\"\nmass = 2\nshape = { sphere = { radius = 0.5 } }\n[[force]]\nbody = \"ball\"\n\
         force = [10, 0, 0]\nfrom = 0.105\nuntil = 0.293\n";
    sandbox.write("push.toml", scene);
    sandbox.run(&["run", "push.toml", "--quiet", "--no-report"]).expect(0);
    let done = sandbox.run(&["export", "runs/push.mcap", "--json", "-", "--every", "60"]).expect(0);
    let last: serde_json::Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
    assert!((last["vx"].as_f64().unwrap() - 0.94).abs() < 1e-14, "{last}");
}

/// Returns the verdicts of a run by the name of the check.
fn verdicts(sandbox: &Sandbox, scene: &str) -> Vec<(String, String)> {
    sandbox.write("scene.toml", scene);
    let done = sandbox.run(&["run", "scene.toml", "--json", "--no-record", "--no-report"]);
    let checks = done.json()["checks"].as_array().unwrap().clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    checks.iter().map(|check| (text(&check["name"]), text(&check["verdict"]))).collect()
}

#[test]
fn verdicts_do_not_depend_on_the_origin_of_heights() {
    // A ball that bounces at 60 Hz loses some per cent of its energy to discretization, for any origin of
    // heights; and a cube at rest with its center at z = 0 has no other energy scale than its weight.
    let sandbox = Sandbox::new();
    let scene = |height: f64| {
        format!(
            "version = 1\n[world]\nsteps = 600\n[[body]]\nkind = \"environment\"\nmaterial = {{ restitution = 1 }}\n\
             shape = {{ half_space = {{ normal = [0, 0, 1], offset = {height} }} }}\n\
             [[body]]\nkind = \"inertial\"\nmass = 1\nmaterial = {{ restitution = 1 }}\n\
             shape = {{ sphere = {{ radius = 0.5 }} }}\nposition = [0, 0, {}]\n",
            height + 1.5
        )
    };
    let ground = verdicts(&sandbox, &scene(0.0));
    assert_eq!(ground, verdicts(&sandbox, &scene(1024.0)));
    assert_eq!(ground, verdicts(&sandbox, &scene(-1.5)));
    let cube = "version = 1\n[world]\nsteps = 60\n[[body]]\nkind = \"environment\"\n\
         shape = { half_space = { normal = [0, 0, 1], offset = -0.5 } }\n[[body]]\nkind = \"inertial\"\n\
         shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }\n";
    assert!(
        verdicts(&sandbox, cube).iter().all(|(_, verdict)| verdict == "pass" || verdict == "skip")
    );
}

#[test]
fn cancelling_momenta_do_not_fail_the_momentum_ledger() {
    // Two balls collide head-on: their total momentum is only rounding.
    let sandbox = Sandbox::new();
    let ball = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nkind = \"inertial\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = \
             1.7\nposition = [{x}, 0, 0]\nvelocity = [{}, 0.3, 0]\n",
            -x
        )
    };
    let world = "version = 1\n[world]\ngravity = [0, 0, 0]\nsteps = 120\n";
    let scene = format!("{world}{}{}", ball("a", 1.0), ball("b", -1.0));
    assert!(
        verdicts(&sandbox, &scene)
            .iter()
            .all(|(_, verdict)| verdict == "pass" || verdict == "skip")
    );
    // A ball that a wall stops in its first step.
    let stopped = format!(
        "{world}[[body]]\nkind = \"environment\"\nmaterial = {{ restitution = 0 }}\nshape = {{ half_space = {{ \
         normal = [-1, 0, 0], offset = -1.5 }} }}\n{}",
        ball("a", 1.0).replace("[-1, 0.3, 0]", "[5, 0, 0]")
    );
    assert!(
        verdicts(&sandbox, &stopped)
            .iter()
            .all(|(_, verdict)| verdict == "pass" || verdict == "skip")
    );
}

#[test]
fn two_runs_cannot_write_the_same_recording() {
    let sandbox = Sandbox::new();
    let long = ["run", "hull-pile", "--set", "steps=1000000", "--quiet", "--no-report"];
    let mut first = sandbox.command(&long).spawn().unwrap();
    let recording = sandbox.path("runs/hull-pile.mcap");
    for _ in 0..500 {
        if std::fs::metadata(&recording).is_ok_and(|data| data.len() > 0) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = sandbox.run(&["run", "hull-pile", "--quiet", "--no-report"]).expect(3);
    assert!(second.err.contains("another run"), "{}", second.err);
    // A killed run leaves the chunks written so far: on a busy machine the first one takes a while.
    for _ in 0..500 {
        if msd_record::Recording::open(&recording).is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    sandbox.run(&["verify", text(&recording), "--quiet"]).expect(0);
}

#[test]
fn a_run_repeats_the_warnings_of_check_and_gives_advice() {
    let sandbox = Sandbox::new();
    let args = ["run", "bullet", "--json", "--no-record", "--no-report", "--solver", "active-set"];
    let never = ["--set", "continuous=\"never\""];
    let object = sandbox.run(&[&args[..], &never].concat()).expect(0).json();
    let notes = object["notes"].to_string();
    for word in ["active-set ignores friction", "advised at most 66.7 us", "1719 times"] {
        assert!(notes.contains(word), "{notes}");
    }
    let checks = object["checks"].as_array().unwrap();
    let warned = checks.iter().find(|check| check["name"] == "tunneling").unwrap();
    assert!(warned["message"].as_str().unwrap().contains("a shorter dt"), "{warned}");
    assert_eq!(warned["bodies"], serde_json::json!(["bullet"]));
    // With continuous collision the bullet hits the plate, and there is no warning.
    let object = sandbox.run(&args).expect(0).json();
    assert!(!object["notes"].to_string().contains("advised at most"), "{}", object["notes"]);
    let checks = object["checks"].as_array().unwrap();
    let passed = checks.iter().find(|check| check["name"] == "tunneling").unwrap();
    assert_eq!(passed["verdict"], "pass");
    assert_eq!(object["events"]["hits"], 1);
}

#[test]
fn names_cannot_send_control_sequences_to_the_terminal() {
    let sandbox = Sandbox::new();
    let scene = "version = 1\ntitle = \"\\u001b[31mred\"\n[world]\nsteps = 2\n[[body]]\nname = \"\\u001b[2J\"\nkind = \
         \"inertial\"\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nkind = \"inertial\"\nshape = { \
         sphere = { radius = 1 } }\n";
    sandbox.write("scene.toml", scene);
    for verb in ["check", "run"] {
        let done = sandbox.run(&[verb, "scene.toml"]);
        assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'), "{}", done.out);
    }
}

/// "All checks passed" was the last word though a hull stood in for a mesh that is not convex.
#[test]
fn notes_stand_above_the_checks_wherever_a_run_is_reported() {
    let sandbox = Sandbox::new();
    let args = ["run", "bullet", "--solver", "active-set"];
    let told = "active-set ignores friction, but some materials have friction";
    let done = sandbox.run(&args).expect(0);
    let (before, after) = done.out.split_once(told).unwrap_or_else(|| panic!("{}", done.out));
    assert!(after.contains("pass  finite") && !before.contains("pass  finite"), "{}", done.out);
    let last = "the 2 notes above say what that does not cover.";
    assert!(done.out.contains(last), "{}", done.out);
    let info = sandbox.run(&["info", "runs/bullet.mcap"]).expect(0).out;
    assert!(info.contains(told) && info.contains(last), "{info}");
    let embedded = |page: &str| {
        let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        serde_json::from_str::<serde_json::Value>(data).unwrap()
    };
    let page = embedded(&std::fs::read_to_string(sandbox.path("runs/bullet.html")).unwrap());
    sandbox.run(&["report", "runs/bullet.mcap", "--out", "again.html"]).expect(0);
    let again = embedded(&std::fs::read_to_string(sandbox.path("again.html")).unwrap());
    for data in [page, again] {
        assert_eq!(data["notes"][0], told);
        assert!(data["conclusion"][1].as_str().unwrap().ends_with(last), "{}", data["conclusion"]);
        assert_eq!(data["conclusion"][0], "warn");
    }
}
