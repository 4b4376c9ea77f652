//! Bodies of several colliders: tables, comparisons and checks name the collider.

use crate::sandbox::{Sandbox, text};

fn rows(sandbox: &Sandbox, recording: &str) -> Vec<serde_json::Value> {
    let args = ["export", recording, "--what", "contacts", "--json", "-"];
    let done = sandbox.run(&args).expect(0);
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn contacts_of_bodies_with_several_colliders_are_exported_with_the_collider() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("furniture", &["steps=30"]);
    let rows = rows(&sandbox, text(&recording));
    let pairs: std::collections::BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row["a"].as_str().unwrap(), row["b"].as_str().unwrap())).collect();
    for leg in ["leg 1", "leg 2", "leg 3", "leg 4"] {
        assert!(pairs.contains(&("floor", format!("table/{leg}").as_str())), "{pairs:?}");
    }
    assert!(pairs.contains(&("table/top", "bracket/foot")), "{pairs:?}");
    // The floor has one collider, whose name it bears.
    assert!(pairs.iter().all(|(a, b)| !a.starts_with("floor/") && !b.starts_with("floor/")));
    // `--body` selects all contacts of a body.
    let args = ["export", text(&recording), "--what", "contacts", "--body", "table", "--csv", "-"];
    let selected = sandbox.run(&args).expect(0);
    let touching = |row: &&serde_json::Value| {
        ["a", "b"].iter().any(|side| row[side].as_str().unwrap().starts_with("table/"))
    };
    assert_eq!(selected.out.lines().count(), 1 + rows.iter().filter(touching).count());
}

#[test]
fn info_counts_and_lists_colliders() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("furniture", &["steps=1"]);
    let done = sandbox.run(&["info", text(&recording)]).expect(0);
    assert!(done.out.contains("4 (3 inertial), 11 colliders"), "{}", done.out);
    let done = sandbox.run(&["info", text(&recording), "--json"]).expect(0);
    let info: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let colliders = info["bodies"][1]["colliders"].as_array().unwrap();
    let names: Vec<_> = colliders.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["top", "leg 1", "leg 2", "leg 3", "leg 4"]);
    assert_eq!(colliders[0]["shape"], "cuboid");
    assert_eq!(colliders[0]["sensor"], false);
    let recording = sandbox.record("tower", &["steps=1"]);
    let done = sandbox.run(&["info", text(&recording)]).expect(0);
    assert!(done.out.contains("11 (10 inertial)\n"), "{}", done.out);
}

#[test]
fn a_difference_names_the_colliders_of_its_pair() {
    let sandbox = Sandbox::new();
    let scene = |friction: f64| {
        format!(
            "version = 1\n[world]\nsteps = 10\n[[body]]\nname = \"floor\"\nkind = \"environment\"\n\
             shape = {{ half_space = {{ normal = [0, 0, 1] }} }}\n[[body]]\nname = \"table\"\n\
             kind = \"inertial\"\ndensity = 500\n\
             [[body.collider]]\nname = \"top\"\nposition = [0, 0, 0.6]\n\
             shape = {{ cuboid = {{ half_extents = [0.5, 0.5, 0.1] }} }}\n\
             [[body.collider]]\nname = \"foot\"\nposition = [0, 0, 0.25]\n\
             shape = {{ cuboid = {{ half_extents = [0.3, 0.3, 0.25] }} }}\n\
             material = {{ friction = {friction} }}\n"
        )
    };
    for (name, friction) in [("a", 0.5), ("b", 0.25)] {
        sandbox.write(&format!("{name}.toml"), scene(friction).as_bytes());
        let scene = format!("{name}.toml");
        sandbox.run(&["run", &scene, "--quiet", "--no-report"]).expect(0);
    }
    let done = sandbox.run(&["diff", "runs/a.mcap", "runs/b.mcap"]).expect(1);
    assert!(done.out.contains("contacts, \"floor\" and \"table/foot\", friction:"), "{}", done.out);
    let done = sandbox.run(&["diff", "runs/a.mcap", "runs/b.mcap", "--json"]).expect(1);
    let object: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(object["difference"]["colliders"], serde_json::json!([0, 2]));
    sandbox.run(&["verify", "runs/a.mcap"]).expect(0);
}

#[test]
fn the_check_of_overlaps_names_the_colliders() {
    let sandbox = Sandbox::new();
    let recording = sandbox.record("furniture", &["steps=120"]);
    let done = sandbox.run(&["info", text(&recording), "--json"]).expect(0);
    let info: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let checks = info["summary"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "penetration").unwrap();
    let message = check["message"].as_str().unwrap();
    assert!(message.contains('/'), "{message}");
    let bodies: Vec<_> =
        check["bodies"].as_array().unwrap().iter().map(|body| body.as_str().unwrap()).collect();
    assert!(bodies.iter().all(|body| !body.contains('/')), "bodies, not colliders: {bodies:?}");
}
