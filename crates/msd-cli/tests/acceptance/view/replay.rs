//! A recording.

use serde_json::Value;

use super::Viewer;
use crate::sandbox::{Sandbox, text};

#[test]
fn frames_of_a_recording_are_exact_to_the_last_bit() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("bricks", &["steps=60"]);
    let table = sandbox.run(&["export", text(&recording), "--json", "-"]).expect(0).out;
    let rows: Vec<Value> = table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let viewer = Viewer::start(&sandbox, &[text(&recording)]);
    let mut page = viewer.page();
    let hello = page.next("hello");
    assert_eq!((&hello["mode"], &hello["complete"]), (&"replay".into(), &true.into()));
    let status = page.next("status");
    assert_eq!((&status["first_step"], &status["last_step"]), (&0.into(), &60.into()));
    for step in [0, 60, 17, 59] {
        page.send(&format!(r#"{{"do":"frames","from":{step},"count":1,"stride":1}}"#));
        page.wait_for("a frame", |_, newest| {
            (newest.step == step && !newest.bodies.is_empty()).then_some(())
        });
        let expected: Vec<[f64; 3]> = rows
            .iter()
            .filter(|row| row["step"] == step)
            .map(|row| ["px", "py", "pz"].map(|name| row[name].as_f64().unwrap()))
            .collect();
        assert_eq!(page.newest.positions, expected, "step {step}");
    }
}

#[test]
fn a_recording_provides_checks_marks_and_motion() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("dominoes", &[]);
    let viewer = Viewer::start(&sandbox, &[text(&recording)]);
    let mut page = viewer.page();
    let bodies = page.next("hello")["bodies"].clone();
    let checks = page.wait_for("checks", |message, _| {
        let checks = message["checks"].as_array()?;
        let done = checks.iter().any(|check| check["name"] == "penetration");
        (done && checks.iter().any(|check| check["verdict"] == "warn")).then(|| checks.clone())
    });
    let summary = sandbox.run(&["info", text(&recording), "--json"]).expect(0).json();
    let recorded = &summary["summary"]["checks"];
    assert_eq!(recorded.as_array().unwrap().len(), checks.len());
    // The page is sent indices, in the order of the bodies' first steps; the summary has names.
    for (check, recorded) in checks.iter().zip(recorded.as_array().unwrap()) {
        let name = |index: &Value| &bodies[index.as_u64().unwrap() as usize]["name"];
        let names: Vec<&Value> = check["bodies"].as_array().unwrap().iter().map(name).collect();
        let expected: Vec<&Value> = recorded["bodies"].as_array().unwrap().iter().collect();
        assert_eq!(names, expected, "{}", check["name"]);
        assert_eq!(
            names.len() == 2,
            check["name"] == "penetration" || check["name"] == "contact laws"
        );
    }
    page.send(r#"{"do":"motion","body":1}"#);
    let motion = page.next("motion");
    let heights = motion["position"][2].as_array().unwrap();
    assert!(heights.len() > 100 && heights.len() == motion["time"].as_array().unwrap().len());
    // A page that connects now receives everything at once.
    let mut later = viewer.page();
    let marks = later.next("marks");
    let kinds: Vec<&str> = marks["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| mark["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"hit") && kinds.contains(&"warning"), "{kinds:?}");
}

#[test]
fn commands_that_change_a_recording_are_rejected() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=10"]);
    let viewer = Viewer::start(&sandbox, &[text(&recording)]);
    let mut page = viewer.page();
    for command in [
        r#"{"do":"run"}"#,
        r#"{"do":"reset"}"#,
        r#"{"do":"grab","body":1,"anchor":[0,0,0],"to":[0,0,0]}"#,
    ] {
        page.send(command);
        assert!(page.next("rejected")["reason"].as_str().unwrap().contains("recording"));
    }
}

#[test]
fn the_recording_can_be_reopened_from_a_scene_of_the_gallery() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("tower", &["steps=10"]);
    let named = sandbox.path("mine.mcap");
    std::fs::rename(recording, &named).unwrap();
    let viewer = Viewer::start(&sandbox, &[text(&named)]);
    let mut page = viewer.page();
    page.send(r#"{"do":"scenes"}"#);
    assert_eq!(page.next("scenes")["argument"]["name"], "mine");
    page.send(r#"{"do":"open","scene":"arch"}"#);
    page.wait_for("the arch", |message, _| (message["name"] == "arch").then_some(()));
    page.wait_for_steps(3);
    page.send(r#"{"do":"open","scene":"mine"}"#);
    let mode = page.wait_for("the recording", |message, _| {
        (message["name"] == "mine").then(|| message["mode"].clone())
    });
    assert_eq!(mode, "replay");
}

#[test]
fn a_truncated_recording_is_shown_as_far_as_it_goes() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("bricks", &["steps=300"]);
    let bytes = std::fs::read(&recording).unwrap();
    // Without the extension, to be recognized by its content.
    let cut = sandbox.write("cut.bin", &bytes[..2 * bytes.len() / 3]);
    let viewer = Viewer::start(&sandbox, &[text(&cut)]);
    let mut page = viewer.page();
    assert_eq!(page.next("hello")["complete"], false);
    let last = page.next("status")["last_step"].as_u64().unwrap();
    assert!((1..300).contains(&last), "{last}");
    page.send(&format!(r#"{{"do":"frames","from":{last},"count":1,"stride":1}}"#));
    page.wait_for("the last frame", |_, newest| (newest.step == last).then_some(()));
}

#[test]
fn errors_name_what_cannot_be_opened() {
    let sandbox = Sandbox::new();
    let missing = sandbox.run(&["view", "towr", "--no-open"]).expect(3);
    assert!(missing.err.contains("did you mean the built-in scene `tower`?"), "{}", missing.err);
    sandbox.write("not.mcap", "what is this");
    let not = sandbox.run(&["view", "not.mcap", "--no-open"]).expect(2);
    assert!(not.err.contains("recording"), "{}", not.err);
    sandbox.write("bad.toml", "version = 1\n[[body]]\nmas = 1\n");
    let bad = sandbox.run(&["view", "bad.toml", "--no-open"]).expect(2);
    assert!(bad.err.contains("mas"), "{}", bad.err);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let busy = sandbox.run(&["view", "tower", "--no-open", "--port", &port]).expect(3);
    assert!(busy.err.contains(&port), "{}", busy.err);
}
