//! The notes of a scene: what `msd check` warns of and the checks of a run do not cover.

use serde_json::{Value, json};

use super::Viewer;
use crate::sandbox::{Sandbox, text};

/// Two spheres with a mass ratio of 5000.
const HEAVY: &str = r#"
version = 1
[world]
gravity = [0, 0, 0]
steps = 3000
[[body]]
name = "light"
kind = "inertial"
shape = { sphere = { radius = 0.5 } }
mass = 1.0
[[body]]
name = "heavy"
kind = "inertial"
shape = { sphere = { radius = 0.5 } }
mass = 5000.0
position = [0, 0, 3]
"#;

fn notes(sandbox: &Sandbox, what: &str) -> Value {
    Viewer::start(sandbox, &[what]).page().next("hello")["notes"].clone()
}

#[test]
fn live_scenes_and_recordings_have_the_notes_of_the_check() {
    let sandbox = Sandbox::new();
    sandbox.write("heavy.toml", HEAVY);
    let warnings = &sandbox.run(&["check", "heavy.toml", "--json"]).expect(0).json()["warnings"];
    let expected = json!([warnings[0]["message"]]);
    assert!(expected[0].as_str().unwrap().contains("5000 times the mass"), "{expected}");
    assert_eq!(notes(&sandbox, "heavy.toml"), expected);

    sandbox.run(&["run", "heavy.toml", "--quiet", "--no-report"]).expect(0);
    assert_eq!(notes(&sandbox, "runs/heavy.mcap"), expected);
    // A truncated recording holds no summary, but its scene.
    let bytes = std::fs::read(sandbox.path("runs/heavy.mcap")).unwrap();
    let cut = sandbox.write("cut.mcap", &bytes[..bytes.len() / 2]);
    assert_eq!(notes(&sandbox, text(&cut)), expected);
    let info = sandbox.run(&["info", "cut.mcap"]).expect(0).out;
    assert!(info.contains("5000 times the mass"), "{info}");
    sandbox.run(&["report", "cut.mcap"]).expect(0);
    let page = std::fs::read_to_string(sandbox.path("cut.html")).unwrap();
    assert!(page.contains("5000 times the mass"));

    let none: [&str; 0] = [];
    assert_eq!(notes(&sandbox, "tower"), json!(none));
}
