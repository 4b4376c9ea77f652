//! Scenes that run without errors and yet do not do what their author meant: the verdict says so.

use serde_json::Value;

use crate::sandbox::{Sandbox, is_good};

const FLOOR: &str = "[[body]]\nname = \"floor\"\nkind = \"environment\"\nshape = { half_space = { normal = [0, 0, 1] } }\n";

/// Returns a scene with these settings and bodies.
fn scene(world: &str, bodies: &[String]) -> String {
    format!("version = 1\n[world]\n{world}\n{}", bodies.concat())
}

/// Returns a box; `more` adds fields.
fn cuboid(name: &str, kind: &str, half: [f64; 3], at: [f64; 3], more: &str) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nkind = \"{kind}\"\nshape = {{ cuboid = {{ half_extents = {half:?} }} }}\n\
         position = {at:?}\n{more}\n"
    )
}

/// A belt of 4 m that moves itself instead of its surface, and boxes on it.
fn belt(seconds: u32, friction: f64) -> String {
    let material = format!("velocity = [2, 0, 0]\nmaterial = {{ friction = {friction} }}");
    let boxes = "array = { count = [4, 1, 1], spacing = [0.5, 0, 0] }\nmaterial = { friction = 1 }";
    scene(
        &format!("duration = {seconds}"),
        &[
            cuboid("belt", "environment", [2.0, 0.5, 0.1], [0.0, 0.0, -0.1], &material),
            cuboid("box", "inertial", [0.1, 0.1, 0.1], [-1.0, 0.0, 0.1], boxes),
        ],
    )
}

/// Two jaws that close at 0.5 m/s on a part that slips out, and go on.
fn jaws() -> String {
    let jaw = |name, x: f64| {
        let velocity = format!("velocity = [{}, 0, 0]", -5.0 * x);
        cuboid(name, "environment", [0.02, 0.1, 0.1], [x, 0.0, 0.6], &velocity)
    };
    scene(
        "duration = 20\ndt = 0.004",
        &[
            FLOOR.to_owned(),
            jaw("left jaw", -0.1),
            jaw("right jaw", 0.1),
            cuboid("part", "inertial", [0.05, 0.05, 0.05], [0.0, 0.0, 0.05], "density = 500"),
        ],
    )
}

/// A press that moves down at 1 m/s on two boxes.
fn press() -> String {
    let boxed = |name, z| cuboid(name, "inertial", [0.1, 0.1, 0.1], [0.0, 0.0, z], "");
    let press =
        cuboid("press", "environment", [0.5, 0.5, 0.1], [0.0, 0.0, 0.9], "velocity = [0, 0, -1]");
    scene("duration = 0.5", &[FLOOR.to_owned(), press, boxed("lower", 0.1), boxed("upper", 0.3)])
}

fn run(sandbox: &Sandbox, scene: String, more: &[&str]) -> Value {
    sandbox.write("scene.toml", scene);
    let args = [&["run", "scene.toml", "--json", "--no-record", "--no-report"], more].concat();
    sandbox.run(&args).json()
}

fn check<'a>(run: &'a Value, name: &str) -> &'a Value {
    let checks = run["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check `{name}`"))
}

/// All other checks passed, and the verdict was "All checks passed".
#[test]
fn a_belt_that_drives_away_under_its_boxes_is_named() {
    let sandbox = Sandbox::new();
    let bounds = &run(&sandbox, belt(20, 0.0), &[]);
    let bounds = check(bounds, "bounds");
    assert_eq!(bounds["verdict"], "warn");
    let message = bounds["message"].as_str().unwrap();
    // The last box leaves the belt after 1.5 s and falls for more than 18 s: the belt ends 40 m away.
    assert!(message.contains("\"box[0,0,0]\" and 3 others fall past everything"), "{message}");
    assert!(message.contains("1.8") && message.contains(" km below"), "{message}");
    assert!(bounds["bodies"].as_array().unwrap().contains(&"box[3,0,0]".into()), "{bounds}");
    // Boxes that stick to the belt are carried along, and nobody is left behind.
    let carried = run(&sandbox, belt(20, 1.0), &[]);
    assert_eq!(check(&carried, "bounds")["verdict"], "pass", "{}", check(&carried, "bounds"));
}

#[test]
fn jaws_that_drive_on_for_ever_are_named() {
    let sandbox = Sandbox::new();
    let found = run(&sandbox, jaws(), &[]);
    let bounds = check(&found, "bounds");
    let message = bounds["message"].as_str().unwrap();
    assert!(message.contains("jaw\" and one other have driven away"), "{message}");
    // Each jaw moves by 10 m in 20 s from 0.1 m on the other side.
    assert!(message.contains("up to 9.8"), "{message}");
}

/// A pendulum is always below its hook, a ball below the floor's edge is not: only what nothing can catch has left.
#[test]
fn bodies_that_hang_or_land_or_bounce_have_not_left() {
    let sandbox = Sandbox::new();
    let hook = cuboid("hook", "environment", [0.05, 0.05, 0.05], [0.0, 0.0, 5.0], "");
    let bob = cuboid("bob", "inertial", [0.1, 0.1, 0.1], [1.0, 0.0, 5.0], "");
    let rod = "[[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"bob\"\nlength = 1\n".to_owned();
    // A ball that lies on the bob, so to speak, of a hanging tray.
    let tray = cuboid("tray", "inertial", [0.5, 0.5, 0.02], [0.0, 0.0, 3.0], "");
    let cords = |x: f64, y: f64| {
        format!(
            "[[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"tray\"\nanchor_b = [{x}, {y}, 0]\nmin = 0\nmax = 2.12\n"
        )
    };
    let load = cuboid("load", "inertial", [0.1, 0.1, 0.1], [0.0, 0.0, 3.12], "");
    let cords = [cords(0.5, 0.5), cords(-0.5, 0.5), cords(-0.5, -0.5), cords(0.5, -0.5)].concat();
    let tilted =
        "[[body]]\nkind = \"environment\"\nshape = { half_space = { normal = [0.6, 0, 0.8] } }\n";
    let slider = cuboid("slider", "inertial", [0.1, 0.1, 0.1], [0.0, 0.0, 0.3], "");
    for bodies in [
        vec![hook.clone(), bob, rod],
        vec![hook, tray, load, cords],
        vec![tilted.to_owned(), slider],
    ] {
        let found = run(&sandbox, scene("duration = 5", &bodies), &[]);
        assert_eq!(check(&found, "bounds")["verdict"], "pass", "{}", check(&found, "bounds"));
    }
}

/// A floor whose filter lets a box through catches it no more than a wall does.
#[test]
fn a_box_that_falls_through_a_half_space_is_named() {
    let sandbox = Sandbox::new();
    let wall = "[[body]]\nkind = \"environment\"\nshape = { half_space = { normal = [1, 0, 0] } }\nposition = [-1, 0, 0]\n";
    let ghost =
        cuboid("ghost", "inertial", [0.1; 3], [0.0, 0.0, 1.0], "filter = { groups = 1, mask = 2 }");
    let guest = cuboid("guest", "inertial", [0.1; 3], [1.0, 0.0, 0.1], "");
    let floor = FLOOR.replace("shape", "filter = { groups = 1, mask = 1 }\nshape");
    let bodies = [floor, wall.to_owned(), ghost, guest];
    let found = run(&sandbox, scene("duration = 2", &bodies), &[]);
    let bounds = check(&found, "bounds");
    assert_eq!(
        (&bounds["verdict"], &bounds["bodies"]),
        (&"warn".into(), &serde_json::json!(["ghost"]))
    );
    // It falls 4.905 * 2^2 m, of which 1.1 m until its upper face passes the floor.
    let message = bounds["message"].as_str().unwrap();
    assert!(message.contains("is 18.5") && message.contains(" m below it"), "{message}");
    // Nothing but a wall is there to fall past.
    let found = run(&sandbox, scene("duration = 2", &[bodies[1].clone(), bodies[3].clone()]), &[]);
    assert_eq!(check(&found, "bounds")["verdict"], "skip", "{}", check(&found, "bounds"));
    // Without gravity nothing falls, but a belt may drive away.
    let still = scene("duration = 2\ngravity = [0, 0, 0]", &bodies);
    let found = run(&sandbox, still, &[]);
    assert_eq!(check(&found, "bounds")["verdict"], "skip", "{}", check(&found, "bounds"));
    let found = run(&sandbox, belt(1, 1.0).replace("[world]", "[world]\ngravity = [0, 0, 0]"), &[]);
    let bounds = check(&found, "bounds");
    assert_eq!(bounds["message"], "no body drives away from the inertial bodies", "{bounds}");
}

/// A body below everything else that moves down was said to fall for ever, at half of the times of a run.
#[test]
fn bodies_on_springs_of_the_world_or_lifted_by_forces_do_not_fall_for_ever() {
    let sandbox = Sandbox::new();
    let shelf = cuboid("shelf", "environment", [0.5, 0.5, 0.05], [0.0, 0.0, 5.0], "");
    let bob = cuboid("bob", "inertial", [0.1; 3], [2.0, 0.0, 3.0], "mass = 1");
    let spring = "[[potential]]\nkind = \"spring\"\nbody = \"bob\"\npoint = [2, 0, 4]\nstiffness = 20\nrest_length = 0.5\n";
    let lift = |force: f64, until: &str| {
        format!("[[force]]\nbody = \"bob\"\nforce = [0, 0, {force}]\n{until}\n")
    };
    // A start downward, so that at the end it moves down: by weight less lift it turns after 2 s.
    let dropped = |force: f64, until: &str| {
        let bob = bob.replace("mass = 1", "mass = 1\nvelocity = [0, 0, -2]");
        vec![shelf.clone(), bob, lift(force, until)]
    };
    let verdict = |bodies: &[String], steps: u32| {
        let found = run(&sandbox, scene(&format!("steps = {steps}"), bodies), &[]);
        check(&found, "bounds")["verdict"].as_str().unwrap().to_owned()
    };
    let hung = [shelf.clone(), bob.clone(), spring.to_owned()];
    for steps in [20, 30, 45, 60, 75, 90] {
        assert_eq!(verdict(&hung, steps), "pass", "on a spring, {steps} steps");
    }
    assert_eq!(verdict(&dropped(10.81, ""), 60), "pass");
    // Half of the weight does not hold it, and neither does a lift that has ended.
    assert_eq!(verdict(&dropped(4.9, ""), 60), "warn");
    assert_eq!(verdict(&dropped(20.0, "until = 0.1"), 60), "warn");
    // Nor does it fall in one direction only near the mass of a planet.
    let planet = "[[potential]]\nkind = \"point_mass\"\nposition = [2, 0, 10]\nmu = 1000\n";
    assert_eq!(verdict(&[shelf, bob, planet.to_owned()], 30), "skip");
}

/// Half-spaces have no bounds, so that a puck on a floor counted as far from everything.
#[test]
fn a_puck_that_slides_on_a_floor_and_a_body_that_moves_alone_have_not_left() {
    let sandbox = Sandbox::new();
    let puck = |z: f64| {
        cuboid(
            "puck",
            "inertial",
            [0.1; 3],
            [0.0, 0.0, z],
            "gravity_scale = 0\nvelocity = [3, 0, 0]\nmaterial = { friction = 0 }",
        )
    };
    let found = run(&sandbox, scene("duration = 3", &[FLOOR.to_owned(), puck(0.1)]), &[]);
    assert_eq!(check(&found, "bounds")["verdict"], "pass", "{}", check(&found, "bounds"));
    let rising = puck(0.1).replace("[3, 0, 0]", "[0, 0, 3]");
    let found = run(&sandbox, scene("duration = 3", &[FLOOR.to_owned(), rising]), &[]);
    let message = check(&found, "bounds")["message"].as_str().unwrap();
    assert!(message.contains("\"puck\"") && message.contains("9.000 m"), "{message}");
    let fan = cuboid("fan", "environment", [0.1; 3], [0.0, 0.0, 1.0], "velocity = [5, 0, 0]");
    let found = run(&sandbox, scene("duration = 3", &[FLOOR.to_owned(), fan]), &[]);
    assert_eq!(check(&found, "bounds")["verdict"], "skip", "{}", check(&found, "bounds"));
}

/// The momentum of a fall without end made the errors of swept steps look small.
#[test]
fn a_fall_does_not_dilute_the_momentum_in_the_ledger() {
    let sandbox = Sandbox::new();
    let shelf = cuboid("shelf", "environment", [3.0, 3.0, 0.05], [0.0; 3], "");
    // A box that tumbles over the shelf.
    let motion = "velocity = [2, 0, 0]\nangular_velocity = [1, 9, 2]\nmass = 10";
    let tumbler = cuboid("tumbler", "inertial", [0.1, 0.2, 0.3], [-2.0, 0.0, 0.6], motion);
    let faller = cuboid("faller", "inertial", [0.1; 3], [0.0, 3.2, 0.0], "mass = 1");
    let share = |bodies: &[String]| {
        let found =
            run(&sandbox, scene("duration = 10\ndt = 0.05", bodies), &["--accuracy", "fast"]);
        let message = check(&found, "momentum ledger")["message"].as_str().unwrap().to_owned();
        let share = message.rsplit_once("its error is ").unwrap_or_else(|| panic!("{message}")).1;
        let share = share.split([' ', ',', ';']).next().unwrap();
        share.parse::<f64>().unwrap_or_else(|_| panic!("{message}"))
    };
    let bodies = [shelf, tumbler];
    let alone = share(&bodies);
    let beside = share(&[&bodies[..], &[faller]].concat());

    assert!(beside > 0.7 * alone, "{alone} alone, {beside} beside a fall");
}

/// The potential energy of a fall without end made any drift look small.
#[test]
fn a_fall_does_not_dilute_the_energy_in_motion() {
    let sandbox = Sandbox::new();
    let hook = cuboid("hook", "environment", [0.05, 0.05, 0.05], [0.0, 0.0, 5.0], "");
    let bob = cuboid("bob", "inertial", [0.1, 0.1, 0.1], [1.0, 0.0, 5.0], "");
    let rod = "[[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"bob\"\nlength = 1\n".to_owned();
    let faller = cuboid("faller", "inertial", [0.1, 0.1, 0.1], [0.0, 9.0, 5.0], "");
    let drift = |bodies: &[String]| {
        let found = run(&sandbox, scene("duration = 20\ndt = 0.05", bodies), &[]);
        let check = check(&found, "energy drift").clone();
        let message = check["message"].as_str().unwrap();
        let share = message.split_once('(').unwrap().1.split_once(" of the energy").unwrap().0;
        share.trim_end_matches(" %").parse::<f64>().unwrap_or_else(|_| panic!("{message}"))
    };
    let pendulum = [hook, bob, rod];
    let alone = drift(&pendulum);
    let beside = drift(&[&pendulum[..], &[faller]].concat());
    // The body adds what it had until it was below the pendulum's lowest point: about as much as the pendulum has. A fall of
    // 20 s releases 2000 times as much.
    assert!(beside > 0.3 * alone && beside <= alone, "{alone} alone, {beside} beside a fall");
}

#[test]
fn bodies_without_room_between_environment_bodies_are_named_as_the_cause() {
    let sandbox = Sandbox::new();
    for more in [&[] as &[&str], &["--accuracy", "fast"], &["--accuracy", "exact"]] {
        let found = run(&sandbox, press(), more);
        let penetration = check(&found, "penetration");
        assert_eq!(penetration["verdict"], "fail", "{more:?}");
        for name in ["penetration", "contact laws"] {
            let check = check(&found, name);
            if is_good(check) {
                continue;
            }
            let message = check["message"].as_str().unwrap();
            let (_, cause) = message.split_once("; cause: ").unwrap_or_else(|| panic!("{message}"));
            assert!(cause.contains("\"floor\"") && cause.contains("\"press\""), "{message}");
            assert!(cause.ends_with("environment bodies never yield"), "{message}");
            assert!(!message.contains("; try "), "{message}");
        }
    }
    // A box that starts stuck between bodies that do not approach each other is none.
    let stuck = press().replace("velocity = [0, 0, -1]", "velocity = [0, 0.5, 0]");
    let found = run(&sandbox, stuck.replace("0.9]", "0.48]"), &[]);
    let penetration = check(&found, "penetration");
    assert_eq!(penetration["verdict"], "fail");
    let message = penetration["message"].as_str().unwrap();
    assert!(!message.contains("cause: "), "{message}");
}

/// Slabs of a drum that turns are environment bodies with different velocities, but do not approach each other.
#[test]
fn a_box_stuck_in_a_drum_that_turns_is_not_squeezed() {
    let sandbox = Sandbox::new();
    for spin in [-2.0, 2.0] {
        // Each on one side of the box, so that the points where they touch it have different velocities.
        let slab = |name, x: f64, z: f64| {
            let (vx, vz) = (spin * z, -spin * x);
            let motion = format!("velocity = [{vx}, 0, {vz}]\nangular_velocity = [0, {spin}, 0]");
            cuboid(name, "environment", [0.2, 0.5, 0.1], [x, 0.0, z], &motion)
        };
        let turns = format!("angular_velocity = [0, {spin}, 0]");
        let stuck = cuboid("box", "inertial", [0.3, 0.2, 0.4], [0.0; 3], &turns);
        let bodies = [slab("below", -0.3, -0.48), slab("above", 0.3, 0.48), stuck];
        let found = run(&sandbox, scene("steps = 20", &bodies), &[]);
        let penetration = check(&found, "penetration");
        assert!(!is_good(penetration), "{penetration}");
        assert!(!penetration["message"].as_str().unwrap().contains("cause: "), "{penetration}");
    }
}

/// A squeeze took the advice of every check, wherever it found something.
#[test]
fn a_squeeze_is_the_cause_of_what_happens_to_its_bodies_alone() {
    let sandbox = Sandbox::new();
    let hook = cuboid("hook", "environment", [0.05; 3], [5.0, 0.0, 5.0], "");
    let bob = cuboid("bob", "inertial", [0.1; 3], [6.0, 0.0, 5.0], "");
    let rod = "[[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"bob\"\nlength = 1\n";
    let scene = press() + &hook + &bob + rod;
    let found = run(&sandbox, scene.replace("duration = 0.5", "duration = 0.5\ndt = 0.1"), &[]);
    let message = |name| check(&found, name)["message"].as_str().unwrap();
    assert!(message("penetration").contains("; cause: \"floor\" and \"press\""), "{found}");
    assert!(message("joint error").contains("; try "), "{}", message("joint error"));
}

#[test]
fn an_overlap_larger_than_a_body_is_not_a_percentage() {
    let sandbox = Sandbox::new();
    let thin = press().replace("[0.1, 0.1, 0.1]", "[0.1, 0.1, 0.004]");
    let found = run(&sandbox, thin.replace("0.3]", "0.108]").replace("0.9]", "0.4]"), &[]);
    let message = check(&found, "penetration")["message"].as_str().unwrap();
    assert!(message.contains("(more than the body itself)"), "{message}");
}

/// A door closer's spring to the door's stop let the door swing through the stop without a word.
#[test]
fn a_spring_that_switches_off_the_collisions_of_a_door_and_its_stop_is_noted() {
    let sandbox = Sandbox::new();
    let hinge = |z: f64| {
        format!(
            "[[joint]]\nkind = \"ball\"\na = \"frame\"\nb = \"door\"\nanchor_a = [0.1, 0, {z}]\nanchor_b = [-0.4, 0, {z}]\n"
        )
    };
    let closer = |more: &str| {
        format!(
            "[[joint]]\nkind = \"distance\"\na = \"stop\"\nb = \"door\"\nanchor_b = [0.2, 0, 0]\nlength = 0.05\n\
             stiffness = 200\ndamping = 20\n{more}\n"
        )
    };
    let post = |name, at| cuboid(name, "environment", [0.05, 0.05, 1.0], at, "");
    let door = |more: &str| {
        let swing = "mass = 20\nangular_velocity = [0, 0, 2]";
        let bodies = [
            post("frame", [0.0, 0.0, 1.0]),
            post("stop", [0.8, 0.2, 1.0]),
            cuboid("door", "inertial", [0.4, 0.02, 0.95], [0.5, 0.0, 1.0], swing),
            hinge(0.9),
            hinge(-0.9),
            closer(more),
        ];
        scene("duration = 4", &bodies)
    };
    let found = run(&sandbox, door(""), &[]);
    let notes = found["notes"].as_array().unwrap();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    let note = note.as_str().unwrap();
    assert!(note.contains("the spring between \"stop\" and \"door\" switches off"), "{note}");
    assert_eq!(found["events"]["begun"], 0, "the door swings through its stop");
    let chosen = run(&sandbox, door("collide = false"), &[]);
    assert_eq!(chosen["notes"], serde_json::json!([]));
    assert_eq!(chosen["state_hash"], found["state_hash"]);
    // Where filters let them pass through each other anyway, nothing is switched off.
    let filter = |name: &str, groups: u32, mask: u32| {
        (
            format!("name = \"{name}\""),
            format!("name = \"{name}\"\nfilter = {{ groups = {groups}, mask = {mask} }}"),
        )
    };
    let filtered = [filter("stop", 2, 2), filter("door", 1, 1)];
    let filtered = filtered.iter().fold(door(""), |scene, (from, to)| scene.replace(from, to));
    assert_eq!(run(&sandbox, filtered, &[])["notes"], serde_json::json!([]));
    // A rope of a box over a floor, which has no bounds.
    let tied = "[[joint]]\nkind = \"distance\"\na = \"floor\"\nb = \"box\"\nmin = 0\nmax = 2\n";
    let boxed = cuboid("box", "inertial", [0.1; 3], [0.0, 0.0, 1.0], "");
    let found = run(&sandbox, scene("steps = 1", &[FLOOR.to_owned(), boxed, tied.to_owned()]), &[]);
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.contains("the rope between \"floor\" and \"box\" switches off"), "{note}");
    let stopped = run(&sandbox, door("collide = true"), &[]);
    assert_eq!(stopped["notes"], serde_json::json!([]));
    assert!(stopped["events"]["begun"].as_u64().unwrap() > 0, "the door hits its stop");
}

#[test]
fn checks_with_nothing_to_judge_are_skipped() {
    let sandbox = Sandbox::new();
    let flight =
        scene("steps = 5", &[cuboid("ball", "inertial", [0.1, 0.1, 0.1], [0.0, 0.0, 1.0], "")]);
    let found = run(&sandbox, flight, &[]);
    for name in ["bounds", "rest speed", "penetration", "joint error", "contact laws", "impacts"] {
        assert_eq!(check(&found, name)["verdict"], "skip", "{}", check(&found, name));
    }
}
