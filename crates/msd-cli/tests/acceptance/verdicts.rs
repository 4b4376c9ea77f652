//! The checks of exact and of swept runs: every check is listed, values that were not measured are null, and advice
//! helps.

use std::fmt::Write;

use serde_json::Value;

use crate::sandbox::{Sandbox, is_good};

const FLOOR: &str = "[[body]]\nname = \"floor\"\nkind = \"environment\"\nshape = { half_space = { normal = [0, 0, 1] } }\n";

/// Returns a scene of 200 boxes stacked on a floor.
fn pallet() -> String {
    format!(
        "version = 1\n[world]\nduration = 0.5\nmax_exact_bodies = 0\n{FLOOR}[[body]]\nname = \"box\"\nkind = \"inertial\"\n\
         shape = {{ cuboid = {{ half_extents = [0.2, 0.2, 0.2] }} }}\nmass = 5\nposition = [-1, -0.8, 0.2]\n\
         array = {{ count = [5, 5, 8], spacing = [0.41, 0.41, 0.4] }}\n"
    )
}

/// Returns a scene of a chain of ten links with a load, and `idle` balls far away, swept or not.
fn chain(load: f64, idle: u32, swept: bool) -> String {
    let limit = if swept { 0 } else { 128 };
    let mut scene = format!(
        "version = 1\n[world]\nduration = 1\nmax_exact_bodies = {limit}\n{FLOOR}[[body]]\nname = \"hook\"\nkind = \"environment\"\n\
         shape = {{ sphere = {{ radius = 0.05 }} }}\nposition = [0, 0, 10]\n"
    );
    for n in 0..10 {
        let mass = if n < 9 { 1.0 } else { load };
        let above = if n == 0 { "hook".to_owned() } else { format!("link{}", n - 1) };
        let anchor = if n == 0 { 0.0 } else { -0.2 };
        let height = 9.8 - 0.4 * f64::from(n);
        write!(
            scene,
            "[[body]]\nname = \"link{n}\"\nkind = \"inertial\"\nshape = {{ capsule = {{ radius = 0.05, half_height = 0.1 }} }}\n\
             mass = {mass}\nposition = [0, 0, {height}]\n\
             [[joint]]\nkind = \"ball\"\na = \"{above}\"\nb = \"link{n}\"\nanchor_a = [0, 0, {anchor}]\nanchor_b = [0, 0, 0.2]\n"
        )
        .unwrap();
    }
    if idle > 0 {
        write!(
            scene,
            "[[body]]\nname = \"idle\"\nkind = \"inertial\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\n\
             position = [20, 0, 0.1]\narray = {{ count = [{idle}, 1, 1], spacing = [1, 0, 0] }}\n"
        )
        .unwrap();
    }
    scene
}

/// Runs a scene and returns its JSON output, for any verdict.
fn run(sandbox: &Sandbox, scene: &str, more: &[&str]) -> Value {
    let args = [&["run", scene, "--json", "--no-record", "--no-report"], more].concat();
    sandbox.run(&args).json()
}

fn check<'a>(run: &'a Value, name: &str) -> &'a Value {
    let checks = run["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check `{name}`"))
}

/// Names of all checks, which every run lists.
const CHECKS: [&str; 11] = [
    "finite",
    "bounds",
    "energy ledger",
    "momentum ledger",
    "energy drift",
    "rest speed",
    "penetration",
    "joint error",
    "contact laws",
    "tunneling",
    "impacts",
];

#[test]
fn every_check_is_listed_even_if_not_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("pallet.toml", pallet());
    for (scene, more) in [
        ("tower", &["--set", "steps=5"] as &[&str]),
        ("tower", &["--set", "steps=5", "--set", "audit=false"]),
        ("pallet.toml", &[]),
        ("pallet.toml", &["--set", "audit=false"]),
    ] {
        let run = run(&sandbox, scene, more);
        let names: Vec<&str> = run["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|check| check["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, CHECKS);
        for check in run["checks"].as_array().unwrap() {
            let skipped = check["verdict"] == "skip";
            assert_eq!(skipped, check["message"].as_str().unwrap().starts_with("skipped: "));
        }
    }
}

#[test]
fn a_swept_run_is_reported_as_such_without_values_that_were_not_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("pallet.toml", pallet());
    let done = sandbox.run(&["run", "pallet.toml"]).expect(0);
    let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "method 100 % swept (approximate), of 200 bodies in 30 steps",
        "pass energy ledger",
        "energy rose by",
        "skip impacts",
    ] {
        assert!(words.contains(text), "expected `{text}` in\n{}", done.out);
    }
    let page = std::fs::read_to_string(sandbox.path("runs/pallet.html")).unwrap();
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    let all_null = |list: &Value| list.as_array().unwrap().iter().all(Value::is_null);
    assert!(!all_null(&data["energy_error"]) && !all_null(&data["energy"]["friction"]));
    assert!(all_null(&data["energy"]["unsplit"]) && !all_null(&data["residual"]));

    let found = run(&sandbox, "pallet.toml", &[]);
    assert_eq!(found["methods"]["swept_bodies"], 200);
    for term in [
        "normal_impulses",
        "friction",
        "joints",
        "position_correction",
        "integration",
        "worst_error",
    ] {
        assert!(found["energy"][term].is_number(), "{term}");
    }
    assert!(found["energy"]["unsplit"].is_null() && found["momentum_error"].is_number());

    // Swept steps of a run that asked for exact ones are judged as such.
    let exact = run(&sandbox, "pallet.toml", &["--accuracy", "exact"]);
    let laws = check(&exact, "contact laws")["message"].as_str().unwrap();
    assert!(
        laws.contains("in swept steps it causes an offset of") && !laws.contains("(,"),
        "{laws}"
    );

    let blind = run(&sandbox, "pallet.toml", &["--set", "audit=false"]);
    for absent in ["worst_residual", "momentum_error", "energy"] {
        assert!(blind[absent].is_null(), "{absent}");
    }
    for name in ["energy ledger", "momentum ledger", "energy drift", "rest speed", "contact laws"] {
        assert_eq!(check(&blind, name)["verdict"], "skip", "{name}");
    }
    // `msd check` and `msd info` report the method too.
    assert!(sandbox.run(&["check", "pallet.toml"]).expect(0).out.contains("will be swept"));
    assert!(sandbox.run(&["info", "runs/pallet.mcap"]).expect(0).out.contains("200 swept"));
}

/// Bodies that fall asleep are no longer counted as swept in the step that swept them: its angular momentum, which sweeps
/// conserve to first order, was judged as that of an exact step.
#[test]
fn falling_asleep_in_a_swept_step_does_not_fail_the_momentum_ledger() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "asleep.toml",
        r#"version = 1
[world]
duration = 2.0
accuracy = "fast"
sleeping = true
[materials.ice]
restitution = 0.0
friction = 0.0
[[body]]
name = "floor"
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
material = "ice"
[[body]]
name = "lower"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
mass = 1.0
position = [0, 0, 0.5]
material = "ice"
[[body]]
name = "upper"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
mass = 1.0
position = [0.1, 0.05, 1.5]
velocity = [0.03, 0, 0]
material = "ice"
"#,
    );
    let found = run(&sandbox, "asleep.toml", &[]);
    assert_eq!(check(&found, "momentum ledger")["verdict"], "pass");
    assert_eq!(found["methods"]["swept_bodies"], 2);
}

#[test]
fn a_swept_chain_with_large_joint_errors_fails_and_names_its_links() {
    let sandbox = Sandbox::new();
    sandbox.write("swept.toml", chain(100.0, 130, true));
    sandbox.write("among.toml", chain(100.0, 130, false));
    sandbox.write("alone.toml", chain(100.0, 0, false));
    let swept = run(&sandbox, "swept.toml", &[]);
    let joints = check(&swept, "joint error");
    assert_eq!(joints["verdict"], "fail", "{joints}");
    assert!(joints["bodies"][1].as_str().unwrap().starts_with("link"), "{joints}");
    assert!(check(&swept, "contact laws")["bodies"][1].as_str().unwrap().starts_with("link"));
    // By default it is exact, also among more bodies than an exact island may have.
    for scene in ["alone.toml", "among.toml"] {
        let exact = run(&sandbox, scene, &[]);
        assert!(exact["checks"].as_array().unwrap().iter().all(is_good));
        assert!(exact["max_joint_error"].as_f64().unwrap() < 1e-9);
    }
}

#[test]
fn a_rope_that_becomes_taut_is_not_energy_drift() {
    // A ball falls 1 m until its rope stops it: the rope dissipates its energy, which is not an error.
    let sandbox = Sandbox::new();
    let rope = "version = 1\n[world]\nduration = 3\n[[body]]\nname = \"hook\"\nkind = \"environment\"\n\
        shape = { sphere = { radius = 0.05 } }\nposition = [0, 0, 10]\n[[body]]\nname = \"ball\"\nkind = \"inertial\"\n\
        shape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [0, 0, 9]\n\
        [[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"ball\"\nmin = 0\nmax = 2\n";
    sandbox.write("rope.toml", rope);
    let found = run(&sandbox, "rope.toml", &[]);
    for name in CHECKS {
        assert!(is_good(check(&found, name)), "{}", check(&found, name));
    }
    // A ball at rest has no other energy scale than the energy to lift it.
    sandbox.write("still.toml", rope.replace("[0, 0, 9]", "[0, 0, 8]"));
    let found = run(&sandbox, "still.toml", &[]);
    for name in CHECKS {
        assert!(is_good(check(&found, name)), "{}", check(&found, name));
    }
}

#[test]
fn settings_without_effect_are_rejected_by_name() {
    let sandbox = Sandbox::new();
    sandbox.write("pallet.toml", pallet());
    for (scene, setting, why) in [
        ("pallet.toml", "newton_work=9", "swept"),
        ("pallet.toml", "position_correction=0.5", "swept"),
        ("pallet.toml", "impact_work=9", "swept"),
        ("tower", "sleep_time=2", "sleep_time"),
        ("tower", "iterations=9", "soft-step"),
    ] {
        let done = sandbox.run(&["run", scene, "--set", setting]).expect(2);
        let name = setting.split('=').next().unwrap();
        assert!(done.err.contains(name) && done.err.contains(why), "{}", done.err);
    }
    for scene in ["pallet.toml", "tower"] {
        sandbox.run(&["check", scene, "--set", "sleeping=true"]).expect(0);
    }
}

#[test]
fn energy_lost_below_the_rest_speed_warns_when_it_matters() {
    // Elastic balls that meet at 0.6 m/s: below a rest_speed of 0.7 m/s their impact does not bounce.
    let sandbox = Sandbox::new();
    let mut scene = "version = 1\n[world]\nduration = 10\ngravity = [0, 0, 0]\n".to_owned();
    for n in 0..2 {
        let (x, speed) = (f64::from(n), 0.3 * (1.0 - 2.0 * f64::from(n)));
        write!(
            scene,
            "[[body]]\nkind = \"inertial\"\nshape = {{ sphere = {{ radius = 0.2 }} }}\nmass = 1\n\
             position = [{x}, 0, 0]\nvelocity = [{speed}, 0, 0]\nmaterial = {{ restitution = 1, friction = 0 }}\n"
        )
        .unwrap();
    }
    sandbox.write("slow.toml", scene);
    let found = run(&sandbox, "slow.toml", &["--set", "rest_speed=0.7"]);
    let rest = check(&found, "rest speed");
    assert_eq!(rest["verdict"], "warn", "{rest}");
    // Two balls of 1 kg at 0.3 m/s lose all of their 0.09 J.
    assert!((found["energy"]["rest_speed_loss"].as_f64().unwrap() - 0.09).abs() < 1e-9);
    assert!(rest["message"].as_str().unwrap().contains("try a smaller rest_speed"));
    let helped = run(&sandbox, "slow.toml", &["--set", "rest_speed=0.1"]);
    assert_eq!(helped["energy"]["rest_speed_loss"], 0.0);
}

/// Returns a scene of 100 boxes at 10 m/s in a closed room of 2.4 m without gravity: more impacts than the impact work
/// of their islands allows.
fn room() -> String {
    let mut scene = "version = 1\n[world]\nduration = 0.5\ngravity = [0, 0, 0]\n".to_owned();
    let material = "material = { restitution = 0.5, friction = 0.5 }\n";
    for axis in 0..3 {
        for side in [-1.7, 1.7] {
            let (mut at, mut half) = ([0.0; 3], [3.0; 3]);
            (at[axis], half[axis]) = (side, 0.5);
            write!(
                scene,
                "[[body]]\nkind = \"environment\"\nshape = {{ cuboid = {{ half_extents = {half:?} }} }}\n\
                 position = {at:?}\n{material}"
            )
            .unwrap();
        }
    }
    let mut state = 23_u64;
    let mut random = || {
        // A linear congruential generator is good enough here.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    };
    for n in 0..100 {
        let at = [
            -0.96 + 0.48 * f64::from(n % 5),
            -0.96 + 0.48 * f64::from(n / 5 % 5),
            -0.9 + 0.6 * f64::from(n / 25),
        ];
        let v = [random(), random(), random()];
        let speed = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let v = v.map(|x| 10.0 * x / speed);
        write!(
            scene,
            "[[body]]\nkind = \"inertial\"\nshape = {{ cuboid = {{ half_extents = [0.07, 0.07, 0.07] }} }}\nmass = 1\n\
             position = {at:?}\nvelocity = {v:?}\n{material}"
        )
        .unwrap();
    }
    scene
}

/// Returns infinity for an error beyond the size of a body, the first percentage, else the first number after "is", in the message of a check.
fn figure(found: &Value, name: &str) -> f64 {
    let message = check(found, name)["message"].as_str().unwrap();
    if message.contains("more than the body itself") {
        return f64::INFINITY;
    }
    let words: Vec<&str> = message.split([' ', '(', ')', ';', ',']).collect();
    let share = words.windows(2).find(|pair| pair[1] == "%").map(|pair| pair[0]);
    let exponent = words.windows(2).find(|pair| pair[0] == "is" && pair[1].parse::<f64>().is_ok());
    let exponent = exponent.map(|pair| pair[1]);
    let word = share.or(exponent).unwrap_or("0");
    word.parse().unwrap_or_else(|_| panic!("{message}"))
}

/// A scene, its arguments, the check, a part of its advice, and the arguments that follow the advice.
type Case<'a> = (&'a str, &'a [&'a str], &'a str, &'a str, &'a [&'a str]);

#[test]
fn advice_improves_the_value_of_its_check() {
    let sandbox = Sandbox::new();
    sandbox.write("pallet.toml", pallet());
    let chain = chain(100.0, 130, true);
    sandbox.write("chain.toml", chain.replace("max_exact_bodies = 0", "accuracy = \"fast\""));
    sandbox.write("room.toml", room());
    let cases: [Case<'_>; 12] = [
        ("pallet.toml", &[], "penetration", "more substeps", &["--set", "substeps=8"]),
        ("chain.toml", &[], "joint error", "a shorter dt", &["--set", "dt=0.004166666"]),
        ("chain.toml", &[], "joint error", "accuracy = \"exact\"", &["--accuracy", "exact"]),
        ("chain.toml", &[], "contact laws", "a shorter dt", &["--set", "dt=0.004166666"]),
        ("chain.toml", &[], "contact laws", "accuracy = \"exact\"", &["--accuracy", "exact"]),
        (
            "chain",
            &["--set", "dt=0.05"],
            "energy drift",
            "more substeps",
            &["--set", "dt=0.05", "--set", "substeps=16"],
        ),
        ("chain", &["--set", "dt=0.05"], "energy drift", "a shorter dt", &["--set", "dt=0.0125"]),
        ("chain", &["--set", "dt=0.05"], "joint error", "a shorter dt", &["--set", "dt=0.0125"]),
        (
            "heavy-on-light",
            &["--solver", "pgs", "--set", "duration=0.2"],
            "contact laws",
            "more iterations",
            &["--solver", "pgs", "--set", "duration=0.2", "--set", "iterations=20000"],
        ),
        (
            "pyramid",
            &["--set", "newton_steps=0", "--set", "steps=30"],
            "contact laws",
            "accuracy = \"exact\"",
            &["--set", "steps=30", "--accuracy", "exact"],
        ),
        (
            "hull-pile",
            &["--set", "steps=70"],
            "impacts",
            "impact_work",
            &["--set", "steps=70", "--set", "impact_work=1000000"],
        ),
        (
            "dominoes",
            &["--set", "duration=5"],
            "penetration",
            "a shorter dt",
            &["--set", "duration=5", "--set", "dt=0.00833333"],
        ),
    ];
    for (scene, before, name, advice, after) in cases {
        let bad = run(&sandbox, scene, before);
        let found = check(&bad, name);
        assert!(found["verdict"] == "warn" || found["verdict"] == "fail", "{scene}: {found}");
        let message = found["message"].as_str().unwrap();
        let (_, tried) = message.split_once("; try ").unwrap_or_else(|| panic!("{message}"));
        assert!(tried.contains(advice), "{scene}: {message}");
        let good = run(&sandbox, scene, after);
        let (worse, better) = (figure(&bad, name), figure(&good, name));
        assert!(better < worse, "{scene}, {name}, {advice}: {worse} to {better}");
    }
    // Once the impact work is used up, a larger `impact_work` changes nothing and is not advised.
    let bad = run(&sandbox, "room.toml", &[]);
    let impacts = check(&bad, "impacts");
    assert_eq!(impacts["verdict"], "fail", "{impacts}");
    assert!(impacts["message"].as_str().unwrap().ends_with("try a shorter dt"), "{impacts}");
    let good = run(&sandbox, "room.toml", &["--set", "dt=0.004166666"]);
    assert!(figure(&good, "impacts") < figure(&bad, "impacts"));
}
