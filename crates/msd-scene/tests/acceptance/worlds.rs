//! The meaning of a scene, in numbers that can be worked out by hand.

use msd_scene::{Options, SceneFile, Simulation};
use msd_sim::Body;
use msd_sim::math::{Vec3, rotation};

fn build(text: &str) -> Simulation {
    let text = format!("version = 1\n{text}");
    SceneFile::parse(&text, "scene.toml", &Options::default()).unwrap().build().unwrap()
}

fn body<'a>(simulation: &'a Simulation, name: &str) -> Body<'a> {
    simulation.world().bodies().find(|body| body.name() == name).unwrap()
}

fn near(a: Vec3, b: [f64; 3]) {
    assert!((a - Vec3::from_array(b)).length() < 1e-14, "{a} {b:?}");
}

const CONE: &str = "[[body]]\nname = \"cone\"\nkind = \"inertial\"\nshape = { cone = { radius = 1, \
                    half_height = 2 } }\nposition = [1, 2, 3]\n";

#[test]
fn a_position_refers_to_the_center_of_mass_or_to_the_shapes_origin() {
    // A cone's center of mass is a quarter of its height above the base: 1 below its middle here.
    let scene = build(CONE);
    near(body(&scene, "cone").position(), [1.0, 2.0, 3.0]);
    near(body(&scene, "cone").colliders().next().unwrap().pose().position, [1.0, 2.0, 4.0]);
    let scene = build(&format!("{CONE}origin = \"shape\"\n"));
    near(body(&scene, "cone").position(), [1.0, 2.0, 2.0]);
    near(body(&scene, "cone").colliders().next().unwrap().pose().position, [1.0, 2.0, 3.0]);
    // Rotated by 90 degrees about y, z points along x.
    let turned =
        format!("{CONE}origin = \"shape\"\norientation = {{ axis = [0, 1, 0], angle_deg = 90 }}\n");
    near(body(&build(&turned), "cone").position(), [0.0, 2.0, 3.0]);
}

#[test]
fn a_rotation_has_three_forms() {
    let rotation = |text: &str| {
        let scene = build(&format!("{CONE}orientation = {{ {text} }}\n"));
        body(&scene, "cone").pose().rotation
    };
    let axis = rotation("axis = [0, 0, 2], angle_deg = 90");
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert!((axis * Vec3::X - Vec3::Y).length() < 1e-15);
    assert!(axis.angle_between(rotation(&format!("quaternion = [0, 0, {half}, {half}]"))) < 1e-7);
    // About fixed axes, x first: the first rotation takes y to z, and the second, about z, leaves it there.
    let euler = rotation("euler_deg = [90, 0, 90]");
    assert!((euler * Vec3::Y - Vec3::Z).length() < 1e-15);
    assert!((euler * Vec3::X - Vec3::Y).length() < 1e-15);
}

#[test]
fn an_anchor_is_in_the_bodys_frame() {
    // A rod of 2 m holds the tip of a cone, which is 3 m above its center of mass and 2 m above its
    // middle. With either reference point the cone hangs still: 3 m of cone, 2 m of rod.
    for (origin, position, anchor) in
        [("center_of_mass", "[0, 0, -5]", "[0, 0, 3]"), ("shape", "[0, 0, -4]", "[0, 0, 2]")]
    {
        let cone = CONE.replace("[1, 2, 3]", position);
        let mut scene = build(&format!(
            "{cone}origin = \"{origin}\"\n[[body]]\nname = \"hook\"\nkind = \"environment\"\nshape = {{ sphere = \
             {{ radius = 0.1 }} }}\n[[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"cone\"\nlength = 2\n\
             anchor_b = {anchor}\n"
        ));
        for _ in 0..60 {
            scene.step();
        }
        near(body(&scene, "cone").position(), [0.0, 0.0, -5.0]);
    }
}

#[test]
fn arrays_are_grids_named_by_index_with_repeatable_random_offsets() {
    let array = "[[body]]\nname = \"ball\"\nkind = \"inertial\"\nshape = { sphere = { radius = 0.1 } }\n\
                 position = [1, 0, 0]\narray = { count = [2, 3, 4], spacing = [1, 10, 100] }\n";
    let scene = build(array);
    assert_eq!(scene.world().bodies().len(), 24);
    near(body(&scene, "ball[1,2,3]").position(), [2.0, 20.0, 300.0]);
    let shaken = array.replace("[1, 10, 100]", "[1, 10, 100], jitter = 0.25, seed = 7");
    let (a, b) = (build(&shaken), build(&shaken));
    assert_eq!(a.world().state_hash(), b.world().state_hash());
    let other = build(&shaken.replace("seed = 7", "seed = 8"));
    assert_ne!(a.world().state_hash(), other.world().state_hash());
    for (straight, shaken) in scene.world().bodies().zip(a.world().bodies()) {
        let off = (shaken.position() - straight.position()).abs();
        assert!(off.max_element() <= 0.25 && off.max_element() > 0.0, "{off}");
    }
}

#[test]
fn a_torque_and_an_off_center_force_rotate_a_body() {
    // A ball of 1 kg and 1 m has 0.4 kg m^2. A torque of 0.8 N m for 0.5 s: 1 rad/s about z; 1 N at
    // 1 m beside the center for 0.2 s: 0.2 m/s, and 0.5 rad/s more.
    let mut scene = build(
        "[world]\ngravity = [0, 0, 0]\nsteps = 60\n[[body]]\nname = \"ball\"\nkind = \"inertial\"\nmass = 1\n\
         shape = { sphere = { radius = 1 } }\n[[force]]\nbody = \"ball\"\ntorque = [0, 0, 0.8]\nuntil = 0.5\n\
         [[force]]\nbody = \"ball\"\nforce = [0, 0, 1]\npoint = [0, 1, 0]\nfrom = 0.1\nuntil = 0.3\n",
    );
    for _ in 0..60 {
        scene.step();
    }
    let ball = body(&scene, "ball");
    near(ball.linear_velocity(), [0.0, 0.0, 0.2]);
    // The lever arm rotates with the ball by a few degrees about z meanwhile: the second part is about a horizontal
    // axis, with just that magnitude.
    let spin = ball.angular_velocity();
    assert!((spin.z - 1.0).abs() < 1e-12, "{spin}");
    assert!((spin.truncate().length() - 0.5).abs() < 2e-3, "{spin}");
}

#[test]
fn materials_filters_damping_and_kinematic_bodies_reach_the_engine() {
    let mut scene = build(
        "[world]\ngravity = [0, 0, 0]\nsteps = 60\n[materials.ice]\nfriction = 0.01\n\
         [[body]]\nname = \"lift\"\nkind = \"environment\"\nshape = { cuboid = { half_extents = [1, 1, 1] } }\n\
         velocity = [0, 0, 2]\nmaterial = \"ice\"\nfilter = { groups = 1, mask = 1 }\n\
         [[body]]\nname = \"ghost\"\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n\
         position = [0, 0, 3]\nfilter = { groups = 2, mask = 2 }\n\
         [[body]]\nname = \"slow\"\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n\
         position = [9, 0, 0]\nvelocity = [1, 0, 0]\ndamping = { linear = 2 }\n",
    );
    assert_eq!(body(&scene, "lift").colliders().next().unwrap().material().friction(), 0.01);
    assert_eq!(body(&scene, "lift").colliders().next().unwrap().material().restitution(), 0.5);
    for _ in 0..60 {
        scene.step();
    }
    near(body(&scene, "lift").position(), [0.0, 0.0, 2.0]);
    near(body(&scene, "ghost").position(), [0.0, 0.0, 3.0]);
    // v e^(-2 t) after 1 s.
    let speed = body(&scene, "slow").linear_velocity().x;
    assert!((speed - (-2.0_f64).exp()).abs() < 1e-3, "{speed}");
    assert_eq!(rotation(Vec3::Z, 0.0), body(&scene, "ghost").pose().rotation);
}

#[test]
fn a_scene_sets_whether_and_when_bodies_sleep() {
    let settings = |text: &str| build(&format!("[world]\n{text}")).world().settings().clone();
    assert!(!settings("").sleeping);
    let ball = "[[body]]\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n";
    let sleeping = "sleeping = true\nsleep_speed = 0.125\nsleep_time = 2\n";
    let settings = settings(&format!("{sleeping}{ball}"));
    assert!(settings.sleeping);
    assert_eq!([settings.sleep_speed, settings.sleep_time], [0.125, 2.0]);
    // A time to sleep has no effect where nothing sleeps.
    let rejected = format!("version = 1\n[world]\nsleep_time = 2\n{ball}");
    let error = SceneFile::parse(&rejected, "scene.toml", &Options::default()).unwrap().build();
    assert!(error.unwrap_err().to_string().contains("world.sleep_time"));
    let wrong = "version = 1\n[world]\nsleep_time = -1\n";
    let error = SceneFile::parse(wrong, "scene.toml", &Options::default()).unwrap().build();
    assert!(error.unwrap_err().to_string().contains("sleep_time"));
}

#[test]
fn materials_combine_by_the_rules_of_their_pair_and_keep_them_in_the_canonical_form() {
    let text = r#"
version = 1
[materials]
ice = { restitution = 0.1, friction = 0.04 }
rubber = { restitution = 0.9, friction = 1.0 }
[[combine]]
a = "rubber"
b = "ice"
friction = 0.15
restitution = "min"
[[body]]
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
material = "ice"
[[body]]
name = "crate"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
position = [0, 0, 0.5]
material = "rubber"
"#;
    let open = |text: &str, name: &str| SceneFile::parse(text, name, &Options::default());
    let file = open(text, "combine.toml").unwrap();
    let canonical = file.scene().canonical().unwrap().to_json();
    let again = open(&canonical, "combine.json").unwrap();
    for mut simulation in [file.build().unwrap(), again.build().unwrap()] {
        simulation.step();
        let contact = simulation.world().contacts().next().unwrap();
        assert_eq!((contact.restitution(), contact.friction()), (0.1, 0.15));
    }
    for (from, to, words) in [
        ("b = \"ice\"", "b = \"icy\"", "there is no material \"icy\""),
        (
            "friction = 0.15",
            "friction = -1",
            "combine[0].friction: -1: expected a finite number, 0 or more",
        ),
        ("\"min\"", "\"minimum\"", "\"geometric_mean\", \"average\", \"min\""),
    ] {
        let error = match open(&text.replacen(from, to, 1), "combine.toml") {
            Ok(file) => file.build().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(words), "expected `{words}` in\n{error}");
    }
}
