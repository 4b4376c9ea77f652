//! The joints of live scenes and recordings, and their impulses.

use serde_json::{Value, json};

use super::{Page, Viewer};
use crate::sandbox::Sandbox;

/// A plumb bob of 2 kg at rest on a rod of 1 m, and one of 3 kg with a pin at its top.
const PLUMB: &str = r#"
version = 1
[world]
gravity = [0, 0, -10]
dt = 0.01
steps = 40
[[body]]
name = "ceiling"
kind = "environment"
shape = { cuboid = { half_extents = [1, 1, 0.1] } }
position = [0, 0, 3]
[[body]]
name = "bob"
kind = "inertial"
shape = { sphere = { radius = 0.2 } }
mass = 2
position = [-0.5, 0, 1.9]
[[body]]
name = "pinned"
kind = "inertial"
shape = { cuboid = { half_extents = [0.1, 0.1, 0.5] } }
mass = 3
position = [0.5, 0, 2.4]
[[joint]]
kind = "distance"
a = "ceiling"
b = "bob"
anchor_a = [-0.5, 0, -0.1]
length = 1
[[joint]]
kind = "ball"
a = "pinned"
b = "ceiling"
anchor_a = [0, 0, 0.5]
anchor_b = [0.5, 0, -0.1]
"#;

/// Compares with statics: over a step of 0.01 s, the rod pulls its bob up with 2 kg * 10 m/s^2, and the pin pushes the
/// ceiling, its second body, down with 3 kg * 10 m/s^2.
fn check(page: &mut Page, hello: &Value) {
    assert_eq!(
        hello["joints"],
        json!([
            { "kind": "rod", "a": 0, "b": 1, "anchor_a": [-0.5, 0.0, -0.1], "anchor_b": [0.0, 0.0, 0.0] },
            { "kind": "ball joint", "a": 2, "b": 0, "anchor_a": [0.0, 0.0, 0.5], "anchor_b": [0.5, 0.0, -0.1] },
        ])
    );
    page.wait_for("a step", |_, newest| (newest.step >= 30).then_some(()));
    let [(0, rod), (1, pin)] = page.newest.joint_impulses[..] else {
        panic!("{:?}", page.newest.joint_impulses)
    };
    for (impulse, expected) in [(rod, [0.0, 0.0, 0.2]), (pin, [0.0, 0.0, -0.3])] {
        let far =
            impulse.iter().zip(expected).any(|(value, expected)| (value - expected).abs() > 1e-9);
        assert!(!far, "{impulse:?}, expected {expected:?}");
    }
}

#[test]
fn frames_hold_the_impulses_of_joints_live_and_recorded() {
    let sandbox = Sandbox::new();
    sandbox.write("plumb.toml", PLUMB);
    let live = Viewer::start(&sandbox, &["plumb.toml"]);
    let mut page = live.page();
    let hello = page.next("hello");
    check(&mut page, &hello);

    sandbox.run(&["run", "plumb.toml", "--quiet", "--no-report"]).expect(0);
    let replay = Viewer::start(&sandbox, &["runs/plumb.mcap"]);
    let mut page = replay.page();
    let hello = page.next("hello");
    page.send(r#"{"do":"frames","from":30,"count":1,"stride":1}"#);
    check(&mut page, &hello);
    // The motion of a body is read from the same bytes in a live run.
    let mut page = live.page();
    page.send(r#"{"do":"motion","body":1}"#);
    let height = page.next("motion")["position"][2][0].as_f64().unwrap();
    assert!((height - 1.9).abs() < 1e-9, "{height}");
}
