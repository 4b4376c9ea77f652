//! Every built-in scene runs, passes its checks and behaves as its comment states.

use crate::sandbox::{Sandbox, is_good, text};
use msd_scene::{Options, Simulation, catalog};
use msd_sim::Body;

/// Scenes whose comments announce warnings, and the checks that warn.
const WARNED: [(&str, &[&str]); 2] =
    [("dominoes", &["penetration"]), ("hull-pile", &["impacts", "penetration", "contact laws"])];

#[test]
fn every_scene_passes_or_its_comment_explains_the_warning() {
    let sandbox = Sandbox::new();
    for entry in catalog::ENTRIES {
        let done =
            sandbox.run(&["run", entry.name, "--json", "--no-record", "--no-report"]).expect(0);
        let expected = WARNED.iter().find(|(name, _)| *name == entry.name);
        let expected = expected.map_or(&[][..], |(_, checks)| checks);
        for check in done.json()["checks"].as_array().unwrap() {
            let name = check["name"].as_str().unwrap();
            let known = expected.contains(&name);
            assert_eq!(check["verdict"] == "warn", known, "{}: {check}", entry.name);
            assert!(known || is_good(check), "{}: {check}", entry.name);
            if known {
                let comment = entry.comment().to_lowercase();
                assert!(
                    comment.contains("warn") && comment.contains(name),
                    "{}: {name}",
                    entry.name
                );
            }
        }
    }
}

#[test]
fn the_catalog_and_the_scenes_folder_hold_the_same_scenes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut known: Vec<&str> = catalog::ENTRIES.iter().map(|entry| entry.name).collect();
    files.sort();
    known.sort();
    assert_eq!(files, known);
    assert!(known.len() >= 15);
    let sandbox = Sandbox::new();
    sandbox.run(&["scenes", "--write", "copy"]).expect(0);
    sandbox.run(&["check", text(&sandbox.path("copy/arch.toml"))]).expect(0);
}

/// Returns a scene after its last step.
fn ended(name: &str) -> Simulation {
    let file = catalog::find(name).unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    for _ in 0..simulation.steps() {
        simulation.step();
    }
    simulation
}

fn body<'a>(simulation: &'a Simulation, name: &str) -> Body<'a> {
    simulation.world().bodies().find(|body| body.name() == name).unwrap()
}

#[test]
fn the_tower_the_pyramid_and_the_arch_stand_still() {
    for (name, top, height) in
        [("tower", "cube[0,0,9]", 9.5), ("pyramid", "row 10[0,0,0]", 9.5), ("arch", "stone 7", 0.0)]
    {
        let start =
            catalog::find(name).unwrap().open(&Options::default()).unwrap().build().unwrap();
        let end = ended(name);
        let moved = (body(&end, top).position() - body(&start, top).position()).length();
        assert!(moved < 1e-6, "{name}: {moved} m");
        assert!(height == 0.0 || (body(&end, top).position().z - height).abs() < 1e-6);
    }
}

#[test]
fn one_ladder_holds_and_the_other_slips() {
    let foot = |name| body(&ended(name), "ladder").position().z;
    let (held, slipped) = (foot("ladder-holds"), foot("ladder-slips"));
    assert!((held - (3.0_f64.sqrt() / 2.0 + 0.01)).abs() < 1e-6, "{held}");
    assert!(slipped < 0.1, "{slipped}");
}

#[test]
fn the_race_ends_at_the_distances_in_the_comment() {
    // Half of (1, 5/7, 2/3) g sin 20 t^2 after 2 s, along the slope.
    let end = ended("incline-race");
    let down = 20_f64.to_radians();
    for (name, distance) in
        [("sliding box", 6.710), ("sphere", 4.793), ("cylinder", 4.474), ("resting box", 0.0)]
    {
        // Bodies start a quarter of a meter above the slope.
        let x = body(&end, name).position().x - 0.25 * down.sin();
        assert!((x / down.cos() - distance).abs() < 1e-3, "{name}: {}", x / down.cos());
    }
}

#[test]
fn the_last_domino_falls() {
    let end = ended("dominoes");
    let height = body(&end, "domino[29,0,0]").position().z;
    assert!(height < 0.13, "{height}");
}

#[test]
fn the_furniture_stands_and_the_dumbbell_flies_off_the_table_as_its_comment_says() {
    let file = catalog::find("furniture").unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    let start = ["table", "bracket"].map(|name| body(&simulation, name).position());
    let dumbbell = |simulation: &Simulation| body(simulation, "dumbbell").position();
    // 0.35 s after it has left the edge.
    while simulation.world().time() < 1.149 {
        simulation.step();
    }
    let flown = dumbbell(&simulation);
    let fall = 0.5 * 9.81 * 0.35_f64.powi(2);
    assert!((flown.x - 0.95).abs() < 1e-9 && (flown.z - (0.82 - fall)).abs() < 1e-9, "{flown}");
    while simulation.world().time() < 4.0 {
        simulation.step();
    }
    // The floor takes 0.5 um/s of its speed.
    let rolled = dumbbell(&simulation);
    assert!((rolled.x - 3.8).abs() < 1e-5 && (rolled.z - 0.06).abs() < 1e-9, "{rolled}");
    let end = ["table", "bracket"].map(|name| body(&simulation, name).position());
    for (start, end) in start.into_iter().zip(end) {
        assert!((end - start).length() < 1e-12, "{start} to {end}");
    }
}

#[test]
fn boxes_on_the_conveyor_reach_its_speed() {
    // They fall behind by 0.4077 m: 2 m/s for 4 s minus that.
    let end = ended("conveyor");
    let distance = body(&end, "box[0,0,0]").position().x;
    assert!((distance - (8.0 - 0.407747)).abs() < 2e-3, "{distance}");
}

#[test]
fn the_satellite_swings_about_the_vertical() {
    // With t the angle between its long axis and the vertical, t'' = -(3/2) n^2 k sin 2 t, where n is the
    // orbital rate and k = 96/104 the relative difference of its moments of inertia: a pendulum in 2 t. Its
    // period is 3502.5 s times 2 K(sin 20) / pi = 1.03134, so it reaches 20 degrees on the other side
    // after 1806.1 s, and never more. The orbit is a circle to second order in the ratio of the satellite's
    // size to the orbit's, 1e-12.
    let file = catalog::find("satellite").unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    let (mut least, mut most, mut at) = (1.0_f64, -1.0_f64, 0.0);
    for _ in 0..3600 {
        simulation.step();
        let satellite = body(&simulation, "satellite");
        let up = satellite.position().normalize();
        let axis = satellite.pose().z_axis();
        let angle = (up.cross(axis).y).asin();
        most = most.max(angle);
        if angle < least {
            (least, at) = (angle, simulation.world().time());
        }
    }
    let limit = 20_f64.to_radians();
    assert!((most - limit).abs() < 1e-3 && (least + limit).abs() < 1e-3, "{least} {most}");
    assert!((at - 1806.1).abs() < 2.0, "{at} s");
}

#[test]
fn the_top_precesses_at_the_rate_in_the_comment() {
    let file = catalog::find("top").unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    let mut turned = 0.0;
    let mut last = 0.0_f64;
    for _ in 0..simulation.steps() {
        simulation.step();
        let axis = body(&simulation, "top").pose().z_axis();
        let now = (-axis.y).atan2(-axis.x);
        turned += (now - last + 3.0 * std::f64::consts::PI) % std::f64::consts::TAU
            - std::f64::consts::PI;
        last = now;
    }
    let rate = turned / simulation.world().time();
    assert!((rate / 2.767 - 1.0).abs() < 0.01, "{rate} rad/s");
}

#[test]
fn balls_bounce_to_e_squared_of_their_height() {
    // Dropped from 2 m above the floor; the apex of a flight is z + v^2 / 2 g at any point of it.
    let file = catalog::find("bouncing").unwrap().open(&Options::default()).unwrap();
    let mut simulation = file.build().unwrap();
    let first_landing = (2.0 * 2.0 / 9.81_f64).sqrt();
    while simulation.world().time() < first_landing + 0.1 {
        simulation.step();
    }
    for e in [0.5, 0.75, 0.9, 1.0] {
        let name = if e == 1.0 { "e = 1.0".to_owned() } else { format!("e = {e}") };
        let ball = body(&simulation, &name);
        let speed = ball.linear_velocity().z;
        let height = ball.position().z - 0.25 + speed * speed / (2.0 * 9.81);
        assert!((height - 2.0 * e * e).abs() < 1e-12, "{name}: {height}");
    }
}
