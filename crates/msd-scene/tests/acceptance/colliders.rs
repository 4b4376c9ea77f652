//! Bodies of several colliders in scenes.

use msd_scene::{Finding, Limits, Options, SceneError, SceneFile, Simulation, changes, lint};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3, rotation};
use msd_sim::{Body, BodyDef, Collider, ColliderView, Origin, World};

fn read(text: &str, options: &Options) -> Result<SceneFile, SceneError> {
    SceneFile::parse(&format!("version = 1\n{text}"), "scene.toml", options)
}

fn build(text: &str) -> Simulation {
    read(text, &Options::default()).unwrap().build().unwrap()
}

/// Builds a scene with overrides, or returns the error.
fn build_with(text: &str, set: &[(&str, &str)]) -> Result<Simulation, SceneError> {
    let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    read(text, &Options { set, ..Options::default() })?.build()
}

fn body<'a>(simulation: &'a Simulation, name: &str) -> Body<'a> {
    simulation.world().bodies().find(|body| body.name() == name).unwrap()
}

fn collider<'a>(simulation: &'a Simulation, body_name: &str, name: &str) -> ColliderView<'a> {
    let body = body(simulation, body_name).id();
    let mut colliders = simulation.world().colliders();
    colliders.find(|found| found.body() == body && found.name() == name).unwrap()
}

fn near(a: Vec3, b: [f64; 3]) {
    assert!((a - Vec3::from_array(b)).length() < 1e-14, "{a} {b:?}");
}

/// An L of two bars of 3 and 2 kg along x and y, 1 m long and 0.2 m wide, its inner edges on the axes; the second is a bar along
/// x that is turned.
const L: &str = "[[body]]
name = \"L\"
kind = \"inertial\"
position = [1, 2, 3]
[[body.collider]]
name = \"long\"
shape = { cuboid = { half_extents = [0.5, 0.1, 0.1] } }
position = [0.5, -0.1, 0]
mass = 3
[[body.collider]]
name = \"short\"
shape = { cuboid = { half_extents = [0.5, 0.1, 0.1] } }
position = [-0.1, 0.5, 0]
orientation = { axis = [0, 0, 1], angle_deg = 90 }
mass = 2
";

/// The same in the short form.
const COMPOUND: &str = "[[body]]
name = \"L\"
kind = \"inertial\"
position = [1, 2, 3]
shape = { compound = [
    { name = \"long\", shape = { cuboid = { half_extents = [0.5, 0.1, 0.1] } }, position = [0.5, -0.1, 0], mass = 3 },
    { name = \"short\", shape = { cuboid = { half_extents = [0.5, 0.1, 0.1] } }, position = [-0.1, 0.5, 0],
      orientation = { quaternion = [0, 0, 0.7071067811865475, 0.7071067811865476] }, mass = 2 },
] }
";

#[test]
fn an_l_of_two_colliders_has_the_mass_and_place_of_that_of_the_engine() {
    let scene = build(L);
    let l = body(&scene, "L");
    let mut world = World::default();
    let bar = |mass: f64, place: Pose| {
        let shape = Shape::cuboid(Vec3::new(0.5, 0.1, 0.1)).unwrap();
        Collider::new(shape).mass(mass).at(place)
    };
    let turn = rotation(Vec3::Z, 90_f64.to_radians());
    let long = bar(3.0, Vec3::new(0.5, -0.1, 0.0).into());
    let short = bar(2.0, Pose::new(Vec3::new(-0.1, 0.5, 0.0), turn));
    let def = BodyDef::inertial([long, short]).origin(Origin::Frame);
    let id = world.add_body(def.position(Vec3::new(1.0, 2.0, 3.0))).unwrap();
    let engine = world.body(id).unwrap();
    assert_eq!((l.mass(), l.inertia(), l.pose()), (5.0, engine.inertia(), engine.pose()));
    // The center of mass is at (3 (.5, -.1) + 2 (-.1, .5)) / 5 from the position.
    near(l.position(), [1.26, 2.14, 3.0]);
    near(collider(&scene, "L", "long").pose().position, [1.5, 1.9, 3.0]);
    near(collider(&scene, "L", "short").pose().position, [0.9, 2.5, 3.0]);
    // Turned by 90 degrees about z around its position, x points along y.
    let turned = "orientation = { axis = [0, 0, 1], angle_deg = 90 }\n[[body.collider]]";
    let scene = build(&L.replacen("[[body.collider]]", turned, 1));
    near(collider(&scene, "L", "long").pose().position, [1.1, 2.5, 3.0]);
    // The center of mass is placed where that is asked for.
    let centered = "origin = \"center_of_mass\"\n[[body.collider]]";
    let scene = build(&L.replacen("[[body.collider]]", centered, 1));
    near(body(&scene, "L").position(), [1.0, 2.0, 3.0]);
    near(collider(&scene, "L", "long").pose().position, [1.24, 1.76, 3.0]);
}

#[test]
fn a_compound_is_the_short_form_of_collider_tables() {
    let floor = "[[body]]\nname = \"floor\"\nkind = \"environment\"\nposition = [0, 0, 2.5]\n\
                 shape = { half_space = { normal = [0, 0, 1] } }\n";
    let [mut long, mut short] = [L, COMPOUND].map(|text| build(&(text.to_owned() + floor)));
    for _ in 0..120 {
        long.step();
        short.step();
    }
    assert_eq!(long.world().state_hash(), short.world().state_hash());
    assert_eq!(collider(&short, "L", "short").shape(), collider(&long, "L", "short").shape());
    let [long, short] = [L, COMPOUND].map(|text| read(text, &Options::default()).unwrap());
    assert_eq!(changes(long.scene(), short.scene()).unwrap(), []);
    // The canonical form has tables, and makes the same world again.
    let canonical = short.scene().canonical().unwrap();
    assert!(canonical.body[0].shape.is_none() && canonical.body[0].collider.len() == 2);
    let again = SceneFile::parse(&canonical.to_json(), "scene.json", &Options::default()).unwrap();
    assert_eq!(again.scene(), &canonical);
    let hash = |file: &SceneFile| file.build().unwrap().world().state_hash();
    assert_eq!(hash(&again), hash(&short));
    let heavier = read(&L.replace("mass = 2", "mass = 2.5"), &Options::default()).unwrap();
    let found = changes(long.scene(), heavier.scene()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "body.L.collider.short.mass");
}

#[test]
fn the_anchors_of_joints_and_forces_are_in_the_frame_of_the_colliders() {
    // A ball 3 m below the origin of its body's frame, which hangs from there on a rod of 2 m: at rest, 5 m below the hook.
    for (origin, position, anchor) in [
        ("", "[0, 0, -2]", "[0, 0, 0]"),
        ("origin = \"center_of_mass\"", "[0, 0, -5]", "[0, 0, 3]"),
    ] {
        let mut scene = build(&format!(
            "[[body]]\nname = \"hook\"\nkind = \"environment\"\n\
             [[body]]\nname = \"bob\"\nkind = \"inertial\"\nposition = {position}\n{origin}\n\
             [[body.collider]]\nshape = {{ sphere = {{ radius = 0.5 }} }}\nposition = [0, 0, -3]\n\
             [[joint]]\nkind = \"distance\"\na = \"hook\"\nb = \"bob\"\nlength = 2\nanchor_b = {anchor}\n"
        ));
        for _ in 0..60 {
            scene.step();
        }
        near(body(&scene, "bob").position(), [0.0, 0.0, -5.0]);
    }
    // A force at the center of mass turns nothing; at the origin of the frame it does.
    for (point, turns) in [("point = [0, 0, -3]", false), ("point = [0, 0, 0]", true), ("", false)]
    {
        let mut scene = build(&format!(
            "[[body]]\nname = \"bob\"\nkind = \"inertial\"\n[[body.collider]]\nposition = [0, 0, -3]\n\
             shape = {{ sphere = {{ radius = 0.5 }} }}\n[[force]]\nbody = \"bob\"\nforce = [9, 0, 0]\n{point}\n"
        ));
        scene.step();
        let spin = body(&scene, "bob").angular_velocity().length();
        assert_eq!(spin > 1e-6, turns, "{point}: {spin}");
    }
}

#[test]
fn a_body_gives_its_colliders_density_material_and_filter_unless_they_have_their_own() {
    let text = "[materials.ice]\nfriction = 0.01\n[[body]]\nname = \"b\"\nkind = \"inertial\"\ndensity = 100\n\
                material = \"ice\"\nfilter = { groups = 2 }\n\
                [[body.collider]]\nname = \"plain\"\nshape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }\n\
                [[body.collider]]\nname = \"own\"\nshape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }\n\
                density = 300\nposition = [1, 0, 0]\nmaterial = { friction = 0.9 }\nfilter = { groups = 4 }\n";
    let scene = build(text);
    assert_eq!(body(&scene, "b").mass(), 400.0);
    near(body(&scene, "b").position(), [0.75, 0.0, 0.0]);
    let [plain, own] = ["plain", "own"].map(|name| collider(&scene, "b", name));
    assert_eq!([plain, own].map(|collider| collider.material().friction()), [0.01, 0.9]);
    assert_eq!([plain, own].map(|collider| collider.filter().groups), [2, 4]);
    // A mass is that of the whole, of which the colliders give the shares.
    let weighed = text.replace("density = 100", "mass = 8");
    let weighed = weighed.replace("name = \"plain\"", "name = \"plain\"\ndensity = 100");
    let scene = build(&weighed);
    assert_eq!(body(&scene, "b").mass(), 8.0);
    near(body(&scene, "b").position(), [0.75, 0.0, 0.0]);
}

#[test]
fn sensors_and_disabled_colliders_push_nothing_and_have_no_mass() {
    let text = "[[body]]\nname = \"gate\"\nkind = \"environment\"\nposition = [0, 0, -2]\n[[body.collider]]\n\
                name = \"beam\"\nsensor = true\nshape = { cuboid = { half_extents = [1, 1, 0.1] } }\n\
                [[body]]\nname = \"ball\"\nkind = \"inertial\"\nmass = 2\n[[body.collider]]\nname = \"core\"\n\
                shape = { sphere = { radius = 0.5 } }\n[[body.collider]]\nname = \"shell\"\nenabled = false\n\
                position = [5, 0, 0]\nshape = { sphere = { radius = 0.5 } }\n";
    let mut scene = build(text);
    assert!(!collider(&scene, "ball", "shell").is_enabled());
    near(body(&scene, "ball").position(), [0.0; 3]);
    let (mut entered, mut left) = (0, 0);
    for _ in 0..60 {
        scene.step();
        entered += scene.world().events().entered().len();
        left += scene.world().events().left().len();
    }
    // Free fall through the gate, which the core passes and the shell, being disabled, does not.
    assert_eq!((entered, left), (1, 1));
    let fallen = body(&scene, "ball").position().z;
    assert!((fallen + 0.5 * 9.81).abs() < 1e-9, "{fallen}");
    let mut solid = build_with(text, &[("body.gate.collider.beam.sensor", "false")]).unwrap();
    for _ in 0..60 {
        solid.step();
    }
    assert!(body(&solid, "ball").position().z > -2.0);
}

#[test]
fn a_body_without_colliders_needs_mass_and_inertia_unless_it_is_environment() {
    let bare = "[[body]]\nname = \"bare\"\nkind = \"inertial\"\nmass = 2\ninertia = [0.1, 0.2, 0.25]\n\
                position = [0, 0, 1]\ncenter_of_mass = [0, 0, 0.5]\n";
    let scene = build(bare);
    let body = body(&scene, "bare");
    assert_eq!((body.mass(), body.colliders().count()), (2.0, 0));
    near(body.position(), [0.0, 0.0, 1.5]);
    for missing in ["mass = 2\n", "inertia = [0.1, 0.2, 0.25]\n"] {
        let error = read(&bare.replace(missing, ""), &Options::default()).unwrap().build();
        let error = error.unwrap_err();
        assert_eq!(error.path(), "body[0].shape");
        let expected = "is missing: expected `shape`, `collider` tables, or `mass` and `inertia`";
        assert_eq!((error.message(), error.position()), (expected, Some((2, 1))));
    }
}

/// Asserts that a scene is rejected at a line, with a path and text.
fn rejected(text: &str, line: usize, path: &str, words: &str) {
    let found = read(text, &Options::default()).and_then(|file| file.build());
    let error = found.expect_err(text);
    assert_eq!(error.path(), path, "{error}");
    assert_eq!(error.position().map(|(line, _)| line), Some(line), "{error}");
    assert!(error.to_string().contains(words), "expected `{words}` in: {error}");
}

#[test]
fn errors_in_colliders_name_the_line_and_the_field() {
    // The second collider of the L begins in line 11, after the version.
    let l = |from: &str, to: &str| {
        let at = L.rfind(from).unwrap();
        format!("{}{to}{}", &L[..at], &L[at + from.len()..])
    };
    let path = |field: &str| format!("body[0].collider[1].{field}");
    let short = "name = \"short\"";
    rejected(&l(short, "name = \"long\""), 12, &path("name"), "that no other collider of the body");
    rejected(&l("mass = 2", "mass = -2"), 16, &path("mass"), "-2: expected a finite number");
    rejected(&l("mass = 2", "density = 0"), 16, &path("density"), "0: expected a finite number");
    let both = l("mass = 2", "mass = 2\ndensity = 3");
    rejected(&both, 16, &path("mass"), "expected either `mass` or `density`, found both");
    rejected(&l("0.1, 0.1]", "0.1, -1]"), 13, &path("shape.cuboid.half_extents.z"), "-1: expected");
    rejected(&l("-0.1, 0.5, 0]", "0, 5e15, 0]"), 14, &path("position"), "at most 1.");
    rejected(&l("axis = [0, 0, 1]", "axis = [0, 0, 0]"), 15, &path("orientation.axis"), "not zero");
    rejected(&l("mass = 2", "material = \"ice\""), 16, &path("material"), "no material \"ice\"");
    rejected(&l("mass = 2", "sensr = true"), 16, &path("sensr"), "did you mean `sensor`?");
    rejected(&l("mass = 2", "is_sensor = true"), 16, &path("is_sensor"), "`sensor = true`");
    let late = l("mass = 2", "velocity = [1, 0, 0]");
    rejected(&late, 16, &path("velocity"), "a field of the body: write it above the first");
    let shape = "shape = { cuboid = { half_extents = [0.5, 0.1, 0.1] } }\n";
    rejected(&l(shape, ""), 11, &path("shape"), "is missing");
    let nested = l(shape, "shape = { compound = [] }\n");
    rejected(&nested, 13, &path("shape.compound"), "a collider cannot be a compound");
    let both = L.replacen("position", &format!("{shape}position"), 1);
    rejected(&both, 5, "body[0].shape", "expected either `shape` or `collider` tables, found both");
    let single = L.replacen("[[body.collider]]", "[body.collider]", 1);
    let single = single[..single.find("[[body.collider]]").unwrap()].to_owned();
    rejected(&single, 6, "body[0].collider", "double brackets: `[[body]]`, `[[body.collider]]`");
    // A density is no share of a mass unless all have one.
    let share = L.replacen("kind", "mass = 9\nkind", 1).replace("mass = 2\n", "");
    rejected(&share, 12, &path("density"), "where the body has a `mass`, either all");
    let environment = L.replace("inertial", "environment");
    rejected(
        &environment,
        10,
        "body[0].collider[0].mass",
        "an environment body cannot have a mass",
    );
    let sensors = L.replace("mass =", "sensor = true\nmass =");
    let words =
        "no collider has mass, as all are sensors or disabled: expected `mass` and `inertia`";
    rejected(&sensors, 6, "body[0].collider", words);
    build(&sensors.replacen("kind", "mass = 1\ninertia = [1, 1, 1]\nkind", 1));
    let unbounded =
        l("cuboid = { half_extents = [0.5, 0.1, 0.1] }", "half_space = { normal = [0, 0, 1] }");
    rejected(&unbounded, 13, &path("shape"), "half-space: unbounded, it has no mass");
    // In the short form, the path is that of the list.
    let compound = COMPOUND.replace("name = \"short\"", "name = \"long\"");
    rejected(&compound, 8, "body[0].shape.compound[1].name", "no other collider");
    let empty = "[[body]]\nkind = \"inertial\"\nshape = { compound = [] }\n";
    rejected(empty, 4, "body[0].shape.compound", "expected at least one collider");
    let sensor = empty.replace("{ compound = [] }", "{ sphere = { radius = 1 } }\nsensor = true");
    rejected(&sensor, 5, "body[0].sensor", "a collider with `sensor = true`");
}

#[test]
fn overrides_reach_colliders_by_name_and_by_index() {
    let mass = |text: &str, set: &[(&str, &str)]| body(&build_with(text, set).unwrap(), "L").mass();
    assert_eq!(mass(L, &[("body.L.collider.short.mass", "4")]), 7.0);
    assert_eq!(mass(L, &[("body[0].collider[1].mass", "4")]), 7.0);
    assert_eq!(mass(COMPOUND, &[("body.L.shape.compound.short.mass", "4")]), 7.0);
    assert_eq!(mass(COMPOUND, &[("body.L.shape.compound[0].mass", "4")]), 6.0);
    // A density replaces a mass; a shape replaces the colliders.
    assert!((mass(L, &[("body.L.collider.short.density", "100")]) - 7.0).abs() < 1e-14);
    let ball = [("body.L.shape", "{ sphere = { radius = 1 } }"), ("body.L.mass", "9")];
    assert_eq!(mass(L, &ball), 9.0);
    let rubbed = build_with(L, &[("body[0].collider[1].material.friction", "0.2")]).unwrap();
    let friction = |name: &str| collider(&rubbed, "L", name).material().friction();
    assert_eq!([friction("long"), friction("short")], [0.5, 0.2]);
    let help = |key: &str| {
        let error = build_with(&L.replace("name = \"long\"\n", ""), &[(key, "4")]).unwrap_err();
        error.help().unwrap().to_owned()
    };
    assert_eq!(help("body.L.collider.shrt.mass"), "did you mean `short`?");
    let unnamed = L.replace("name = \"long\"\n", "").replace("name = \"short\"\n", "");
    let error = build_with(&unnamed, &[("body.L.collider.short.mass", "4")]).unwrap_err();
    assert!(error.help().unwrap().ends_with("give its index, such as `collider[0]`"), "{error}");
    // An error in an overridden field shows the override.
    let error = build_with(L, &[("body.L.collider.short.mass", "-4")]).unwrap_err();
    let shown = "--set body.L.collider.short.mass=-4: body[0].collider[1].mass: -4: expected";
    assert!(error.to_string().starts_with(shown), "{error}");
}

#[test]
fn every_copy_in_an_array_has_the_colliders() {
    let array = "array = { count = [2, 1, 3], spacing = [4, 4, 4] }\n[[body.collider]]";
    let scene = build(&L.replacen("[[body.collider]]", array, 1));
    assert_eq!((scene.world().bodies().len(), scene.world().colliders().len()), (6, 12));
    near(collider(&scene, "L[1,0,2]", "long").pose().position, [5.5, 1.9, 11.0]);
}

#[test]
fn the_numbers_of_colliders_and_of_their_hull_points_are_limited() {
    let array = "array = { count = [3, 1, 1], spacing = [4, 4, 4] }\n[[body.collider]]";
    let text = L.replacen("[[body.collider]]", array, 1);
    let with = |text: &str, limits: Limits| {
        let found = read(text, &Options { limits, ..Options::default() }).unwrap().build();
        found.map(|_| ()).map_err(|error| error.to_string())
    };
    let colliders = |colliders| with(&text, Limits { colliders, ..Limits::default() });
    assert_eq!(colliders(6), Ok(()));
    let error = colliders(5).unwrap_err();
    assert!(
        error.contains(":6:19: body[0].array.count: 3 x 1 x 1: more than 5 colliders"),
        "{error}"
    );
    assert!(error.contains("--max-colliders"), "{error}");
    let hull = "hull = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]] }";
    let hulls = text.replace("cuboid = { half_extents = [0.5, 0.1, 0.1] }", hull);
    // 3 copies of 10 points; all together may have 40 times as many as one.
    let points = |points| {
        with(&hulls.replace("[3, 1, 1]", "[21, 1, 1]"), Limits { points, ..Limits::default() })
    };
    assert_eq!(points(6), Ok(()));
    let error = points(5).unwrap_err();
    assert!(error.contains("more than 200 hull points in total"), "{error}");
}

/// Returns the findings of a rule in a scene with a mesh file beside it.
fn findings(rule: &str, text: &str, mesh: &str) -> Vec<Finding> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.obj"), mesh).unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, format!("version = 1\n{text}")).unwrap();
    let file = SceneFile::open(&path, &Options::default()).unwrap();
    lint(&file).unwrap().into_iter().filter(|found| found.rule == rule).collect()
}

#[test]
fn a_collider_made_of_a_mesh_that_is_not_convex_is_reported_by_name() {
    // An L of two cubes beside each other and one on top: 3 m^3 in a hull of 3.5 m^3.
    let profile = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)];
    let mut mesh = String::new();
    for (x, z) in profile {
        mesh += &format!("v {x} 0 {z}\nv {x} 1 {z}\n");
    }
    for at in 0..profile.len() {
        let (a, b) = (2 * at + 1, 2 * ((at + 1) % profile.len()) + 1);
        mesh += &format!("f {a} {b} {} {}\n", b + 1, a + 1);
    }
    mesh += "f 1 11 9 7\nf 1 7 5 3\nf 2 8 10 12\nf 2 4 6 8\n";
    let text = L.replacen(
        "cuboid = { half_extents = [0.5, 0.1, 0.1] }",
        "hull = { mesh = \"mesh.obj\", scale = 0.1 }",
        1,
    );
    let found = findings("convex", &text, &mesh);
    let [Finding { path, position, message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(path, "body[0].collider[0].shape.hull.mesh");
    assert_eq!(position.unwrap().0, 8);
    assert!(message.starts_with("\"L/long\": \"mesh.obj\" is not convex"), "{message}");
    // It has a mass of its own, which is not too large.
    assert!(message.contains("17 % more; contacts and inertia are those"), "{message}");
}

#[test]
fn colliders_of_one_body_may_overlap_and_those_of_two_are_named() {
    // The bars of the L fill a corner twice.
    let crossed = L.replace("-0.1, 0.5, 0]", "0.5, -0.1, 0]");
    assert_eq!(findings("overlap", &crossed, ""), []);
    let ball = "[[body]]\nname = \"ball\"\nkind = \"inertial\"\nshape = { sphere = { radius = 0.1 } }\n\
                position = [0.9, 2.9, 3.15]\n";
    let found = findings("overlap", &(L.to_owned() + ball), "");
    let [Finding { message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.starts_with("\"L/short\" and \"ball\" overlap"), "{message}");
    assert!(message.contains("by 50.0 mm"), "{message}");
    assert_eq!(findings("overlap", &(L.to_owned() + &ball.replace("3.15", "3.25")), ""), []);
}

#[test]
fn a_collider_far_from_the_others_of_its_body_is_probably_in_another_unit() {
    let found = findings("units", &L.replace("-0.1, 0.5, 0]", "-100, 500, 0]"), "");
    let [Finding { path, position, message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(path, "body[0].collider[1].position");
    assert_eq!(position.unwrap().0, 14);
    assert!(message.starts_with("\"L/short\" is 509 m from all other colliders"), "{message}");
    // In meters, or with both in millimeters beside each other, nothing is said about places.
    assert_eq!(findings("units", L, ""), []);
    assert_eq!(findings("units", &L.replace("-0.1, 0.5, 0]", "-0.1, 90, 0]"), ""), []);
}

#[test]
fn a_thin_hull_of_a_collider_is_reported_at_its_shape() {
    let thin = "hull = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e-5]] }";
    let at = L.rfind("cuboid").unwrap();
    let text = L[..at].to_owned()
        + &L[at..].replacen("cuboid = { half_extents = [0.5, 0.1, 0.1] }", thin, 1);
    let found = findings("sliver", &text, "");
    let [Finding { path, message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(path, "body[0].collider[1].shape.hull");
    assert!(message.starts_with("\"L/short\" is only"), "{message}");
}

#[test]
fn the_examples_of_the_book_are_scenes_with_the_bodies_they_describe() {
    let book = include_str!("../../../../docs/book/scenes.md");
    let (_, section) = book.split_once("## `[[body.collider]]`").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let examples: Vec<&str> = section.split("```toml\n").skip(1).collect();
    let [dumbbell, l] = examples.as_slice() else { panic!("{} examples", examples.len()) };
    let scene = |example: &str| build(example.split("```").next().unwrap());
    // Balls of 6 cm with a rod of 15 mm and 20 cm between them.
    let [ball, rod] = [4.0 / 3.0 * 0.06_f64.powi(3), 0.015_f64.powi(2) * 0.2];
    let dumbbell = scene(dumbbell);
    let mass = 7800.0 * std::f64::consts::PI * (2.0 * ball + rod);
    assert!((body(&dumbbell, "dumbbell").mass() / mass - 1.0).abs() < 1e-12);
    near(body(&dumbbell, "dumbbell").position(), [0.0, 0.0, 0.82]);
    // 720 and 624 cm^3.
    let l = scene(l);
    assert!((body(&l, "body[0]").mass() / 1.344 - 1.0).abs() < 1e-12);
}
