//! The report of a run: pictures, the bodies that matter, and plots of what there is to plot.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns the data that a report draws.
fn data(sandbox: &Sandbox, page: &str) -> Value {
    let page = std::fs::read_to_string(sandbox.path(page)).unwrap();
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

fn largest(list: &Value) -> f64 {
    list.as_array().unwrap().iter().filter_map(Value::as_f64).fold(0.0, |m, v| m.max(v.abs()))
}

#[test]
fn a_report_shows_the_first_the_worst_and_the_last_step() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "dominoes", "--quiet"]).expect(0);
    let data = data(&sandbox, "runs/dominoes.html");
    let pictures = data["pictures"].as_array().unwrap();
    let steps: Vec<u64> = pictures.iter().map(|p| p["step"].as_u64().unwrap()).collect();
    let checks = data["checks"].as_array().unwrap();
    let penetration = checks.iter().find(|check| check["name"] == "penetration").unwrap();
    assert_eq!(penetration["verdict"], "warn");
    assert_eq!(steps, [0, penetration["step"].as_u64().unwrap(), 360]);
    assert_eq!(pictures[1]["caption"], "worst step: penetration");
    let images: Vec<&str> = pictures.iter().map(|p| p["image"].as_str().unwrap()).collect();
    for image in &images {
        // The first bytes of every PNG image, in base64.
        assert!(image.starts_with("data:image/png;base64,iVBORw0KGgo"), "{}", &image[..60]);
    }
    assert!(images[0] != images[1] && images[1] != images[2]);
    // Without a warning the hardest impact takes the place of the worst step, and a scene at rest has none.
    for (scene, expected) in
        [("bouncing", &["start", "hardest impact", "end"] as &[&str]), ("tower", &["start", "end"])]
    {
        sandbox.run(&["run", scene, "--quiet"]).expect(0);
        let data = self::data(&sandbox, &format!("runs/{scene}.html"));
        let pictures = data["pictures"].as_array().unwrap();
        let captions: Vec<&str> = pictures.iter().map(|p| p["caption"].as_str().unwrap()).collect();
        assert_eq!(captions, expected, "{scene}");
    }
}

/// The page drew the first eight of 200 bodies, whatever the others did.
#[test]
fn the_bodies_that_moved_or_were_loaded_most_come_first() {
    let sandbox = Sandbox::new();
    let ball = |name: &str, x: f64, more: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nkind = \"inertial\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
             position = [{x}, 0, 0.1]\n{more}\n"
        )
    };
    let floor =
        "[[body]]\nkind = \"environment\"\nshape = { half_space = { normal = [0, 0, 1] } }\n";
    let scene = [
        "version = 1\n[world]\nduration = 1\n".to_owned(),
        floor.to_owned(),
        ball("still", 0.0, "mass = 1\narray = { count = [150, 1, 1], spacing = [0.5, 0, 0] }"),
        ball("fast", -1.0, "mass = 1\nvelocity = [0, 3, 0]"),
        ball("heavy", -2.0, "mass = 1000"),
    ];
    sandbox.write("balls.toml", scene.concat());
    sandbox.run(&["run", "balls.toml", "--quiet"]).expect(0);
    sandbox.run(&["report", "runs/balls.mcap", "--out", "again.html"]).expect(0);
    for page in ["runs/balls.html", "again.html"] {
        let data = data(&sandbox, page);
        let bodies = data["bodies"].as_array().unwrap();
        assert_eq!((bodies.len(), &data["bodies_total"]), (100, &Value::from(152)));
        assert_eq!((&bodies[0]["name"], &bodies[1]["name"]), (&"fast".into(), &"heavy".into()));
        // Sampled as often as everything else, and rolling all the time.
        assert_eq!(bodies[0]["height"].as_array().unwrap().len(), 60);
        let drift = largest(&bodies[0]["drift"]);
        assert!((2.0..3.0).contains(&drift), "{drift}");
    }
    // Without a recording only the motion of the first bodies is known.
    sandbox.run(&["run", "balls.toml", "--quiet", "--no-record"]).expect(0);
    assert_eq!(data(&sandbox, "runs/balls.html")["bodies"][0]["name"], "still[0,0,0]");
}

#[test]
fn the_largest_contact_force_and_the_tilt_are_plotted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "plank.toml",
        r#"version = 1
[world]
duration = 1
gravity = [0, 0, -10]
[[body]]
name = "floor"
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "box"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
position = [0, 0, 0.5]
mass = 7
[[body]]
name = "spinner"
kind = "inertial"
shape = { sphere = { radius = 0.1 } }
position = [5, 0, 100]
angular_velocity = [1, 0, 0]
mass = 1
"#,
    );
    sandbox.run(&["run", "plank.toml", "--quiet"]).expect(0);
    let data = data(&sandbox, "runs/plank.html");
    // The weight of the box.
    for force in data["force"].as_array().unwrap() {
        assert!((force.as_f64().unwrap() - 70.0).abs() < 1e-6, "{force}");
    }
    let bodies = data["bodies"].as_array().unwrap();
    let of = |name: &str| bodies.iter().find(|body| body["name"] == name).unwrap();
    // 1 rad/s for a second; the page rounds to a millionth.
    let tilt = largest(&of("spinner")["tilt"]);
    assert!((tilt - 1.0_f64.to_degrees()).abs() < 1e-3, "{tilt}");
    assert_eq!(largest(&of("box")["tilt"]), 0.0);
}
