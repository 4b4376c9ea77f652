//! A simulation that is watched and meddled with.

use super::Viewer;
use crate::bench::{Bench, text};

const BALL: &str = r#"
version = 1
title = "a ball"
[world]
gravity = [0, 0, 0]
[[body]]
name = "floor"
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "ball"
kind = "inertial"
shape = { sphere = { radius = 0.5 } }
mass = 2.0
position = [0, 0, 3]
"#;

#[test]
fn a_run_waits_for_its_first_page_then_goes_on_in_real_time() {
    let bench = Bench::new();
    let viewer = Viewer::start(&bench, &["tower"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut page = viewer.page();
    let hello = page.next("hello");
    assert_eq!((&hello["mode"], &hello["name"]), (&"live".into(), &"tower".into()));
    assert_eq!(hello["bodies"].as_array().unwrap().len(), 11);
    page.until("a frame", |_, newest| (!newest.bodies.is_empty()).then_some(()));
    assert!(page.newest.step < 12, "it did not run unseen: step {}", page.newest.step);
    let rate = |message: &serde_json::Value| message["steps_per_second"].as_f64();
    let rate = page.until("a rate", |message, _| rate(message).filter(|rate| *rate > 0.0));
    assert!((30.0..90.0).contains(&rate), "{rate} steps/s");
}

/// Without gravity a ball at rest stays. Paused, `step` takes one. Then gravity along x for one step of 0.01 s
/// gives 0.01 g, and a step is 0.01 s.
#[test]
fn pause_step_and_settings_do_what_they_say() {
    let bench = Bench::new();
    bench.write("ball.toml", BALL);
    let viewer = Viewer::start(&bench, &["ball.toml"]);
    let mut page = viewer.page();
    page.sees_steps(2);
    page.say(r#"{"do":"pause"}"#);
    page.until("a pause", |message, _| (message["running"] == false).then_some(()));
    // The last frame may follow its status.
    page.say(r#"{"do":"set","gravity":[3,0,0],"dt":0.01,"solver":"pgs"}"#);
    let status = page.until("settings", |message, _| {
        (message["settings"]["dt"] == 0.01 && message["type"] == "status").then(|| message.clone())
    });
    assert_eq!(status["settings"]["gravity"], serde_json::json!([3.0, 0.0, 0.0]));
    assert_eq!(status["settings"]["solver"], "pgs");
    let (step, time) = (status["last_step"].as_u64().unwrap(), page.newest.time);
    page.say(r#"{"do":"step"}"#);
    page.until("a step", |_, newest| (newest.step == step + 1).then_some(()));
    assert!((page.newest.time - time - 0.01).abs() < 1e-12);
    let speed = page.newest.velocities[1][0];
    assert!((speed - 0.03).abs() < 1e-12, "{speed}");
    // A box that is thrown now is seen now.
    page.say(r#"{"do":"throw","from":[9,0,9],"velocity":[0,0,0],"half_extents":[1,1,1],"mass":1}"#);
    page.until("the box", |_, newest| (newest.bodies.len() == 3).then_some(()));
    assert_eq!(page.newest.step, step + 1);
    // After a slow step the next may be short again, at once: not a hundred seconds later.
    page.say(r#"{"do":"set","dt":1,"gravity":[0,0,0]}"#);
    page.say(r#"{"do":"speed","factor":0.01}"#);
    page.say(r#"{"do":"run"}"#);
    page.until("a long step", |_, newest| (newest.time > 1.0).then_some(()));
    page.say(r#"{"do":"set","dt":0.01}"#);
    page.say(r#"{"do":"speed","factor":1}"#);
    page.sees_steps(3);
}

#[test]
fn friction_can_be_changed_for_all() {
    // A box on a slope of 20 degrees that holds: tan 20 = .364.
    let scene = r#"
        version = 1
        [[body]]
        name = "slope"
        kind = "environment"
        shape = { half_space = { normal = [0.34202014332566873, 0, 0.9396926207859084] } }
        material = { friction = 0.8 }
        [[body]]
        name = "box"
        kind = "inertial"
        shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
        orientation = { axis = [0, 1, 0], angle_deg = 20 }
        position = [0.17101007166283436, 0, 0.4698463103929542]
        material = { friction = 0.8 }
    "#;
    let bench = Bench::new();
    bench.write("slope.toml", scene);
    let viewer = Viewer::start(&bench, &["slope.toml"]);
    let mut page = viewer.page();
    page.sees_steps(20);
    assert!(page.newest.velocities[1][0].abs() < 1e-6, "it holds");
    page.say(r#"{"do":"set","friction":0.0}"#);
    page.until("sliding", |_, newest| (newest.velocities[1][0] > 0.5).then_some(()));
}

#[test]
fn what_makes_no_sense_is_refused_by_name_and_changes_nothing() {
    let bench = Bench::new();
    bench.write("ball.toml", BALL);
    let viewer = Viewer::start(&bench, &["ball.toml"]);
    let mut page = viewer.page();
    page.sees_steps(2);
    let cases = [
        (r#"{"do":"set","dt":0}"#, "dt = 0.0"),
        (r#"{"do":"set","dt":-1}"#, "dt = -1.0"),
        (r#"{"do":"set","dt":1e-300}"#, "dt = 1e-300:"),
        (r#"{"do":"set","dt":10}"#, "dt = 10.0"),
        (r#"{"do":"set","gravity":[1e999,0,0]}"#, "not understood"),
        (r#"{"do":"set","friction":-1}"#, "friction"),
        (r#"{"do":"set","restitution":2}"#, "restitution"),
        (r#"{"do":"set","solver":"magic"}"#, "magic"),
        (r#"{"do":"set","colour":"red"}"#, "colour"),
        (r#"{"do":"speed","factor":-3}"#, "-3"),
        (
            r#"{"do":"throw","from":[0,0,9],"velocity":[0,0,0],"half_extents":[0,1,1],"mass":1}"#,
            "half_extents",
        ),
        (
            r#"{"do":"throw","from":[0,0,9],"velocity":[0,0,0],"half_extents":[1,1,1],"mass":-1}"#,
            "mass",
        ),
        (
            r#"{"do":"throw","from":[0,0,9],"velocity":[1e300,0,0],"half_extents":[1,1,1],"mass":1}"#,
            "velocity",
        ),
        (r#"{"do":"open","scene":"../../etc/passwd"}"#, "there is no scene"),
        (r#"{"do":"frames","from":99999999,"count":1,"stride":1}"#, "99999999"),
        (r#"{"do":"grab","body":0,"anchor":[0,0,0],"to":[0,0,9]}"#, "body = 0: nothing moves it"),
        (r#"{"do":"grab","body":999,"anchor":[0,0,0],"to":[0,0,9]}"#, "body = 999"),
        (r#"{"do":"motion","body":999}"#, "body = 999"),
        (r#"{"do":"dance"}"#, "dance"),
        (r#"[]"#, "not understood"),
        ("{", "not understood"),
    ];
    for (command, part) in cases {
        page.say(command);
        let reason = page.next("refused")["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(part), "{command}: {reason}");
    }
    page.sees_steps(3);
    assert_eq!(page.newest.positions[1], [0.0, 0.0, 3.0]);
    assert_eq!(page.newest.bodies.len(), 2);
}

/// A box of 1 kg at 6 m/s meets the ball of 2 kg, at rest and without gravity. They do not stick or bounce by
/// much: the momentum, 6 N s, is the sum of both afterwards.
#[test]
fn a_thrown_box_flies_and_hits() {
    let bench = Bench::new();
    bench.write("ball.toml", BALL);
    let viewer = Viewer::start(&bench, &["ball.toml"]);
    let mut page = viewer.page();
    page.sees_steps(2);
    page.say(r#"{"do":"throw","from":[-2,0,3],"velocity":[6,0,0],"half_extents":[0.2,0.2,0.2],"mass":1}"#);
    let added = page.next("bodies");
    assert_eq!(added["bodies"][0]["name"], "thrown 1");
    page.until("the box", |_, newest| (newest.bodies == [0, 1, 2]).then_some(()));
    let marks = page.next("marks");
    assert!(marks["marks"][0]["text"].as_str().unwrap().contains("thrown 1"), "{marks}");
    page.until("a hit", |_, newest| (newest.velocities[1][0] > 0.1).then_some(()));
    let momentum = 2.0 * page.newest.velocities[1][0] + page.newest.velocities[2][0];
    assert!((momentum - 6.0).abs() < 1e-9, "{momentum}");
    // Who comes later is told of it too.
    let mut later = viewer.page();
    assert_eq!(later.next("hello")["bodies"].as_array().unwrap().len(), 2);
    assert_eq!(later.next("bodies")["bodies"][0]["name"], "thrown 1");
}

#[test]
fn a_dragged_body_comes_to_the_hand_and_is_let_go_when_the_page_goes() {
    let bench = Bench::new();
    bench.write("ball.toml", BALL);
    let viewer = Viewer::start(&bench, &["ball.toml"]);
    let mut watcher = viewer.page();
    watcher.sees_steps(2);
    let mut page = viewer.page();
    page.say(r#"{"do":"grab","body":1,"anchor":[0,0,0],"to":[0,0,3]}"#);
    page.say(r#"{"do":"drag","to":[1,0,4]}"#);
    let near = |position: [f64; 3]| (position[0] - 1.0).abs() + (position[2] - 4.0).abs() < 0.01;
    watcher.until("the ball at the hand", |_, newest| near(newest.positions[1]).then_some(()));
    page.say(r#"{"do":"release"}"#);
    page.say(r#"{"do":"grab","body":1,"anchor":[0,0,0],"to":[-5,0,4]}"#);
    watcher.until("motion", |_, newest| (newest.velocities[1][0] < -0.5).then_some(()));
    drop(page);
    watcher.sees_steps(30);
    // Let go, nothing acts on it: its velocity stays, to the last bit.
    let velocity = watcher.newest.velocities[1];
    watcher.sees_steps(5);
    assert_eq!(watcher.newest.velocities[1], velocity);
}

#[test]
fn reset_begins_anew_and_waits() {
    let bench = Bench::new();
    let viewer = Viewer::start(&bench, &["tower"]);
    let mut page = viewer.page();
    page.say(
        r#"{"do":"throw","from":[0,0,40],"velocity":[0,0,0],"half_extents":[1,1,1],"mass":1}"#,
    );
    page.next("bodies");
    page.sees_steps(5);
    page.say(r#"{"do":"reset"}"#);
    let hello = page.until("another epoch", |message, _| {
        (message["type"] == "hello" && message["epoch"] == 2).then(|| message.clone())
    });
    assert_eq!(hello["bodies"].as_array().unwrap().len(), 11);
    assert_eq!(page.next("status")["running"], false);
    page.until("the start", |_, newest| (newest.step == 0).then_some(()));
    page.say(r#"{"do":"run"}"#);
    page.sees_steps(5);
}

#[test]
fn a_scene_of_the_catalog_can_be_chosen() {
    let bench = Bench::new();
    let viewer = Viewer::start(&bench, &[]);
    let mut page = viewer.page();
    page.say(r#"{"do":"scenes"}"#);
    let scenes = page.next("scenes");
    let names: Vec<&str> = scenes["scenes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scene| scene["name"].as_str().unwrap())
        .collect();
    assert!(names.len() == 20 && names.contains(&"cradle"), "{names:?}");
    page.say(r#"{"do":"open","scene":"cradle"}"#);
    page.until("the cradle", |message, _| (message["name"] == "cradle").then_some(()));
    page.sees_steps(5);
}

/// Frames that went by can be asked for again: what a body did is the same as in a run on the command line.
#[test]
fn what_is_watched_is_what_is_run() {
    let bench = Bench::new();
    let recording = bench.record("bouncing", &["steps=40"]);
    let table = bench.run(&["export", text(&recording), "--json", "-"]).expect(0).out;
    let viewer = Viewer::start(&bench, &["bouncing"]);
    let mut page = viewer.page();
    page.until("step 40", |_, newest| (newest.step >= 40).then_some(()));
    page.say(r#"{"do":"pause"}"#);
    page.until("a pause", |message, _| (message["running"] == false).then_some(()));
    page.say(r#"{"do":"frames","from":40,"count":1,"stride":1}"#);
    page.until("step 40 again", |_, newest| (newest.step == 40).then_some(()));
    let rows = table.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let heights: Vec<f64> =
        rows.filter(|row| row["step"] == 40).map(|row| row["pz"].as_f64().unwrap()).collect();
    let seen: Vec<f64> = page.newest.positions.iter().map(|position| position[2]).collect();
    assert!(heights.len() > 1);
    assert_eq!(heights, seen);
}

/// The cradle's balls hang 1 m below their own points of the beam, not all from its middle.
#[test]
fn joints_are_told_with_where_they_hold() {
    let bench = Bench::new();
    let viewer = Viewer::start(&bench, &["cradle"]);
    let hello = viewer.page().next("hello");
    let joints = hello["joints"].as_array().unwrap();
    let mut holds: Vec<f64> =
        joints.iter().map(|joint| joint["at_a"][0].as_f64().unwrap()).collect();
    holds.extend(joints.iter().map(|joint| joint["at_b"][0].as_f64().unwrap()));
    holds.sort_by(f64::total_cmp);
    holds.dedup();
    assert!(joints.len() >= 5 && holds.len() >= 5, "{joints:?}");
}

#[test]
fn ctrl_c_ends_it_whoever_watches() {
    let bench = Bench::new();
    let mut viewer = Viewer::start(&bench, &["tower"]);
    let mut page = viewer.page();
    page.sees_steps(3);
    page.say(r#"{"do":"frames","from":0,"count":240,"stride":0}"#);
    let pid = viewer.child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    assert_eq!(viewer.child.wait().unwrap().code(), Some(0));
}

/// What somebody outside brings in is booked as the user's: 1 kg at 6 m/s are 18 J, and no gravity leaves no more.
#[test]
fn a_thrown_box_is_in_the_books() {
    let bench = Bench::new();
    bench.write("ball.toml", BALL);
    let viewer = Viewer::start(&bench, &["ball.toml"]);
    let mut page = viewer.page();
    let hello = page.next("hello");
    let columns: Vec<&str> =
        hello["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let column = |name| columns.iter().position(|known| *known == name).unwrap();
    page.say(r#"{"do":"throw","from":[-2,9,3],"velocity":[6,0,0],"half_extents":[0.2,0.2,0.2],"mass":1}"#);
    page.next("bodies");
    page.sees_steps(5);
    let row = page.row.clone();
    assert!(
        (row[column("kinetic")] - 18.0).abs() < 1e-9 && (row[column("user")] - 18.0).abs() < 1e-9,
        "{row:?}"
    );
}
