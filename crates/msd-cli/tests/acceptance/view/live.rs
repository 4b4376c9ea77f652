//! A live simulation under the user's control.

use super::Viewer;
use crate::sandbox::{Sandbox, text};

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
fn a_run_waits_for_its_first_page_then_runs_in_real_time() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut page = viewer.page();
    let hello = page.next("hello");
    assert_eq!((&hello["mode"], &hello["name"]), (&"live".into(), &"tower".into()));
    assert_eq!(hello["bodies"].as_array().unwrap().len(), 11);
    page.wait_for("a frame", |_, newest| (!newest.bodies.is_empty()).then_some(()));
    assert!(page.newest.step < 12, "it waited for a page: step {}", page.newest.step);
    let rate = |message: &serde_json::Value| message["steps_per_second"].as_f64();
    let rate = page.wait_for("a rate", |message, _| rate(message).filter(|rate| *rate > 0.0));
    assert!((30.0..90.0).contains(&rate), "{rate} steps/s");
}

/// Without gravity a ball at rest stays at rest. While paused, `step` takes one step. With gravity g along x, one step
/// of 0.01 s adds a velocity of 0.01 g and advances time by 0.01 s.
#[test]
fn pause_step_and_settings_take_effect() {
    let sandbox = Sandbox::new();
    sandbox.write("ball.toml", BALL);
    let viewer = Viewer::start(&sandbox, &["ball.toml"]);
    let mut page = viewer.page();
    page.wait_for_steps(2);
    page.send(r#"{"do":"pause"}"#);
    page.wait_for("a pause", |message, _| (message["running"] == false).then_some(()));
    // The last frame may follow its status.
    page.send(r#"{"do":"set","gravity":[3,0,0],"dt":0.01,"solver":"pgs","accuracy":"exact"}"#);
    let status = page.wait_for("settings", |message, _| {
        (message["settings"]["dt"] == 0.01 && message["type"] == "status").then(|| message.clone())
    });
    assert_eq!(status["settings"]["gravity"], serde_json::json!([3.0, 0.0, 0.0]));
    assert_eq!(status["settings"]["solver"], "pgs");
    assert_eq!(status["settings"]["accuracy"], "exact");
    let (step, time) = (status["last_step"].as_u64().unwrap(), page.newest.time);
    page.send(r#"{"do":"step"}"#);
    page.wait_for("a step", |_, newest| (newest.step == step + 1).then_some(()));
    assert!((page.newest.time - time - 0.01).abs() < 1e-12);
    let speed = page.newest.velocities[1][0];
    assert!((speed - 0.03).abs() < 1e-12, "{speed}");
    // A box thrown while paused is shown at once.
    page.send(
        r#"{"do":"throw","from":[9,0,9],"velocity":[0,0,0],"half_extents":[1,1,1],"mass":1}"#,
    );
    page.wait_for("the box", |_, newest| (newest.bodies.len() == 3).then_some(()));
    assert_eq!(page.newest.step, step + 1);
    // A shorter time step takes effect at once, not a hundred seconds later when the slow step would have been over.
    page.send(r#"{"do":"set","dt":1,"gravity":[0,0,0]}"#);
    page.send(r#"{"do":"speed","factor":0.01}"#);
    page.send(r#"{"do":"run"}"#);
    page.wait_for("a long step", |_, newest| (newest.time > 1.0).then_some(()));
    page.send(r#"{"do":"set","dt":0.01}"#);
    page.send(r#"{"do":"speed","factor":1}"#);
    page.wait_for_steps(3);
}

#[test]
fn friction_can_be_changed_for_all_bodies() {
    // A box that sticks on a slope of 20 degrees: friction 0.8 exceeds tan 20 = 0.364.
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
    let sandbox = Sandbox::new();
    sandbox.write("slope.toml", scene);
    let viewer = Viewer::start(&sandbox, &["slope.toml"]);
    let mut page = viewer.page();
    page.wait_for_steps(20);
    assert!(page.newest.velocities[1][0].abs() < 1e-6, "it sticks");
    page.send(r#"{"do":"set","friction":0.0}"#);
    page.wait_for("sliding", |_, newest| (newest.velocities[1][0] > 0.5).then_some(()));
}

#[test]
fn invalid_commands_are_rejected_by_name_and_change_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("ball.toml", BALL);
    let viewer = Viewer::start(&sandbox, &["ball.toml"]);
    let mut page = viewer.page();
    page.wait_for_steps(2);
    let cases = [
        (r#"{"do":"set","dt":0}"#, "dt = 0.0"),
        (r#"{"do":"set","dt":-1}"#, "dt = -1.0"),
        (r#"{"do":"set","dt":1e-300}"#, "dt = 1e-300:"),
        (r#"{"do":"set","dt":10}"#, "dt = 10.0"),
        (r#"{"do":"set","gravity":[1e999,0,0]}"#, "invalid command"),
        (r#"{"do":"set","friction":-1}"#, "friction"),
        (r#"{"do":"set","restitution":2}"#, "restitution"),
        (r#"{"do":"set","solver":"magic"}"#, "magic"),
        (r#"{"do":"set","accuracy":"fastest"}"#, "fastest"),
        (r#"{"do":"set","accuracy":"fast","solver":"pgs"}"#, "solver = pgs"),
        (r#"{"do":"set","color":"red"}"#, "color"),
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
        (r#"{"do":"open","scene":"../../etc/passwd"}"#, "no scene named"),
        (r#"{"do":"frames","from":99999999,"count":1,"stride":1}"#, "99999999"),
        (
            r#"{"do":"grab","body":0,"anchor":[0,0,0],"to":[0,0,9]}"#,
            "body = 0: an environment body",
        ),
        (r#"{"do":"grab","body":999,"anchor":[0,0,0],"to":[0,0,9]}"#, "body = 999"),
        (r#"{"do":"motion","body":999}"#, "body = 999"),
        (r#"{"do":"dance"}"#, "dance"),
        (r#"[]"#, "invalid command"),
        ("{", "invalid command"),
    ];
    for (command, part) in cases {
        page.send(command);
        let reason = page.next("rejected")["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(part), "{command}: {reason}");
    }
    page.wait_for_steps(3);
    assert_eq!(page.newest.positions[1], [0.0, 0.0, 3.0]);
    assert_eq!(page.newest.bodies.len(), 2);
}

/// A box of 1 kg at 6 m/s hits the ball of 2 kg, which is at rest, without gravity. However they rebound, their momenta
/// still add up to 6 N s.
#[test]
fn a_thrown_box_flies_and_hits() {
    let sandbox = Sandbox::new();
    sandbox.write("ball.toml", BALL);
    let viewer = Viewer::start(&sandbox, &["ball.toml"]);
    let mut page = viewer.page();
    page.wait_for_steps(2);
    page.send(r#"{"do":"throw","from":[-2,0,3],"velocity":[6,0,0],"half_extents":[0.2,0.2,0.2],"mass":1}"#);
    let added = page.next("bodies");
    assert_eq!(added["bodies"][0]["name"], "thrown 1");
    page.wait_for("the box", |_, newest| (newest.bodies == [0, 1, 2]).then_some(()));
    let marks = page.next("marks");
    assert!(marks["marks"][0]["text"].as_str().unwrap().contains("thrown 1"), "{marks}");
    page.wait_for("a hit", |_, newest| (newest.velocities[1][0] > 0.1).then_some(()));
    let momentum = 2.0 * page.newest.velocities[1][0] + page.newest.velocities[2][0];
    assert!((momentum - 6.0).abs() < 1e-9, "{momentum}");
    // A page that connects later is informed too.
    let mut later = viewer.page();
    assert_eq!(later.next("hello")["bodies"].as_array().unwrap().len(), 2);
    assert_eq!(later.next("bodies")["bodies"][0]["name"], "thrown 1");
}

#[test]
fn a_dragged_body_comes_to_the_target_and_is_released_when_the_page_closes() {
    let sandbox = Sandbox::new();
    sandbox.write("ball.toml", BALL);
    let viewer = Viewer::start(&sandbox, &["ball.toml"]);
    let mut watcher = viewer.page();
    watcher.wait_for_steps(2);
    let mut page = viewer.page();
    page.send(r#"{"do":"grab","body":1,"anchor":[0,0,0],"to":[0,0,3]}"#);
    page.send(r#"{"do":"drag","to":[1,0,4]}"#);
    let near = |position: [f64; 3]| (position[0] - 1.0).abs() + (position[2] - 4.0).abs() < 0.01;
    watcher.wait_for("the ball at the target", |_, newest| near(newest.positions[1]).then_some(()));
    page.send(r#"{"do":"release"}"#);
    page.send(r#"{"do":"grab","body":1,"anchor":[0,0,0],"to":[-5,0,4]}"#);
    watcher.wait_for("motion", |_, newest| (newest.velocities[1][0] < -0.5).then_some(()));
    drop(page);
    watcher.wait_for_steps(30);
    // After release nothing acts on it: its velocity stays, to the last bit.
    let velocity = watcher.newest.velocities[1];
    watcher.wait_for_steps(5);
    assert_eq!(watcher.newest.velocities[1], velocity);
}

#[test]
fn reset_restarts_the_scene_paused() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let mut page = viewer.page();
    page.send(
        r#"{"do":"throw","from":[0,0,40],"velocity":[0,0,0],"half_extents":[1,1,1],"mass":1}"#,
    );
    page.next("bodies");
    page.wait_for_steps(5);
    page.send(r#"{"do":"reset"}"#);
    let hello = page.wait_for("another epoch", |message, _| {
        (message["type"] == "hello" && message["epoch"] == 2).then(|| message.clone())
    });
    assert_eq!(hello["bodies"].as_array().unwrap().len(), 11);
    assert_eq!(page.next("status")["running"], false);
    page.wait_for("the start", |_, newest| (newest.step == 0).then_some(()));
    page.send(r#"{"do":"run"}"#);
    page.wait_for_steps(5);
}

#[test]
fn a_scene_of_the_catalog_can_be_chosen() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &[]);
    let mut page = viewer.page();
    page.send(r#"{"do":"scenes"}"#);
    let scenes = page.next("scenes");
    let names: Vec<&str> = scenes["scenes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scene| scene["name"].as_str().unwrap())
        .collect();
    assert!(names.len() == 21 && names.contains(&"cradle"), "{names:?}");
    page.send(r#"{"do":"open","scene":"cradle"}"#);
    page.wait_for("the cradle", |message, _| (message["name"] == "cradle").then_some(()));
    page.wait_for_steps(5);
}

/// Past frames can be requested again, and they equal those of `msd run`.
#[test]
fn a_live_run_equals_a_run_on_the_command_line() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("bouncing", &["steps=40"]);
    let table = sandbox.run(&["export", text(&recording), "--json", "-"]).expect(0).out;
    let viewer = Viewer::start(&sandbox, &["bouncing"]);
    let mut page = viewer.page();
    page.wait_for("step 40", |_, newest| (newest.step >= 40).then_some(()));
    page.send(r#"{"do":"pause"}"#);
    page.wait_for("a pause", |message, _| (message["running"] == false).then_some(()));
    page.send(r#"{"do":"frames","from":40,"count":1,"stride":1}"#);
    page.wait_for("step 40 again", |_, newest| (newest.step == 40).then_some(()));
    let rows = table.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let heights: Vec<f64> =
        rows.filter(|row| row["step"] == 40).map(|row| row["pz"].as_f64().unwrap()).collect();
    let seen: Vec<f64> = page.newest.positions.iter().map(|position| position[2]).collect();
    assert!(heights.len() > 1);
    assert_eq!(heights, seen);
}

/// The cradle's balls hang 1 m below separate points of the beam, not all from its middle.
#[test]
fn joints_are_sent_with_their_anchors() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["cradle"]);
    let hello = viewer.page().next("hello");
    let joints = hello["joints"].as_array().unwrap();
    let mut anchors: Vec<f64> =
        joints.iter().map(|joint| joint["anchor_a"][0].as_f64().unwrap()).collect();
    anchors.extend(joints.iter().map(|joint| joint["anchor_b"][0].as_f64().unwrap()));
    anchors.sort_by(f64::total_cmp);
    anchors.dedup();
    assert!(joints.len() >= 5 && anchors.len() >= 5, "{joints:?}");
}

#[test]
fn ctrl_c_stops_the_server_while_pages_are_connected() {
    let sandbox = Sandbox::new();
    let mut viewer = Viewer::start(&sandbox, &["tower"]);
    let mut page = viewer.page();
    page.wait_for_steps(3);
    page.send(r#"{"do":"frames","from":0,"count":240,"stride":0}"#);
    let pid = viewer.child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    assert_eq!(viewer.child.wait().unwrap().code(), Some(0));
}

/// The energy of a thrown box counts as work of applied forces: 1 kg at 6 m/s is 18 J, and without gravity nothing is added.
#[test]
fn the_ledger_includes_a_thrown_box() {
    let sandbox = Sandbox::new();
    sandbox.write("ball.toml", BALL);
    let viewer = Viewer::start(&sandbox, &["ball.toml"]);
    let mut page = viewer.page();
    let hello = page.next("hello");
    let columns: Vec<&str> =
        hello["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let column = |name| columns.iter().position(|known| *known == name).unwrap();
    page.send(r#"{"do":"throw","from":[-2,9,3],"velocity":[6,0,0],"half_extents":[0.2,0.2,0.2],"mass":1}"#);
    page.next("bodies");
    page.wait_for_steps(5);
    let row = page.row.clone();
    assert!(
        (row[column("kinetic")] - 18.0).abs() < 1e-9
            && (row[column("applied_forces")] - 18.0).abs() < 1e-9,
        "{row:?}"
    );
}

/// Elastic balls that fly about in a closed room, in steps of a second: thousands of impacts each.
const ROOM: &str = r#"
version = 1
[world]
gravity = [0, 0, 0]
dt = 1.0
max_exact_bodies = 1000
impact_work = 1000000
[[body]]
name = "balls"
kind = "inertial"
shape = { sphere = { radius = 0.4 } }
position = [-1.5, -1.5, -1.5]
velocity = [30, 20, 10]
array = { count = [4, 4, 4], spacing = [1, 1, 1], jitter = 0.05 }
material = { restitution = 1.0, friction = 0.0 }
"#;

#[cfg(target_os = "linux")]
#[test]
fn resets_within_long_steps_leave_one_simulation_thread() {
    let sandbox = Sandbox::new();
    let mut scene = ROOM.to_owned();
    for (axis, sign) in [(0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1)] {
        let mut normal = [0; 3];
        normal[axis] = sign;
        scene += &format!(
            "[[body]]\nkind = \"environment\"\nshape = {{ half_space = {{ normal = {normal:?}, offset = -3.0 }} }}\n\
             material = {{ restitution = 1.0, friction = 0.0 }}\n"
        );
    }
    sandbox.write("room.toml", &scene);
    let viewer = Viewer::start(&sandbox, &["room.toml"]);
    let mut page = viewer.page();
    page.next("hello");
    for _ in 0..12 {
        page.send(r#"{"do":"run"}"#);
        std::thread::sleep(std::time::Duration::from_millis(50));
        page.send(r#"{"do":"reset"}"#);
        page.next("hello");
    }
    assert_eq!(viewer.threads("simulation"), 1);
}
