//! Lints about non-convex meshes and about lengths in the wrong unit.

use std::f64::consts::TAU;

use msd_scene::{Finding, Options, SceneFile, catalog, lint};

/// Returns the findings of a rule in a scene with a mesh file beside it.
fn findings(rule: &str, scene: &str, mesh: &str) -> Vec<Finding> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.obj"), mesh).unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, scene).unwrap();
    let file = SceneFile::open(&path, &Options::default()).unwrap();
    lint(&file).unwrap().into_iter().filter(|found| found.rule == rule).collect()
}

/// A scene with a body made of the mesh, with `more` fields.
fn mesh_scene(more: &str) -> String {
    format!(
        "version = 1\n[[body]]\nname = \"part\"\nkind = \"inertial\"\n{more}\n\
         shape = {{ hull = {{ mesh = \"mesh.obj\" }} }}\n"
    )
}

const AROUND: usize = 24;
const ACROSS: usize = 12;

/// Vertices of a torus's cross section: major radius 1, minor radius 0.32.
fn section() -> Vec<[f64; 2]> {
    let angle = |corner| TAU * corner as f64 / ACROSS as f64;
    (0..ACROSS).map(|i| [1.0 + 0.32 * angle(i).cos(), 0.32 * angle(i).sin()]).collect()
}

/// An OBJ torus of quadrilaterals, without the first `left_out` faces.
fn torus(left_out: usize) -> String {
    let mut text = String::new();
    for around in 0..AROUND {
        let (sin, cos) = (TAU * around as f64 / AROUND as f64).sin_cos();
        for [radius, height] in section() {
            text += &format!("v {} {} {height}\n", radius * cos, radius * sin);
        }
    }
    let vertex = |around: usize, across: usize| (around % AROUND) * ACROSS + across % ACROSS + 1;
    for face in left_out..AROUND * ACROSS {
        let (i, j) = (face / ACROSS, face % ACROSS);
        let corners = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
        text += &format!("f {} {} {} {}\n", corners[0], corners[1], corners[2], corners[3]);
    }
    text
}

/// Returns the volume swept by a polygon of radius and height that goes around the axis in `AROUND` straight pieces. At
/// each height, the slice of one piece is a triangle of area sin(angle) / 2 r^2 minus a smaller one, so the volume is
/// `AROUND sin(angle)` times the first moment of the polygon.
fn volume_around(polygon: &[[f64; 2]]) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    let moment: f64 = polygon
        .iter()
        .zip(next)
        .map(|(a, b)| (a[0] + b[0]) * (a[0] * b[1] - b[0] * a[1]) / 6.0)
        .sum();
    AROUND as f64 * (TAU / AROUND as f64).sin() * moment
}

/// Returns the excess volume of the torus's hull, per cent of the torus.
fn excess() -> f64 {
    // From the lowest vertex of the section around its outside to the highest, then to the axis.
    let outside = section().into_iter().filter(|corner| corner[0] >= 1.0 - 1e-9);
    let (mut above, mut below): (Vec<_>, Vec<_>) = outside.partition(|corner| corner[1] >= 0.0);
    below.sort_by(|a, b| a[1].total_cmp(&b[1]));
    above.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let hull = [below, above, vec![[0.0, 0.32], [0.0, -0.32]]].concat();
    100.0 * (volume_around(&hull) / volume_around(&section()) - 1.0)
}

#[test]
fn a_torus_is_reported_as_not_convex_with_its_body_and_excess_volume() {
    let found = findings("convex", &mesh_scene("density = 1000"), &torus(0));
    let [Finding { path, position, message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(path, "body[0].shape.hull.mesh");
    assert_eq!(*position, Some((6, 27)));
    let excess = excess();
    // 56 % for a round torus; faceting takes more from the section than from the hull.
    assert!((56.0..65.0).contains(&excess), "{excess}");
    assert!(
        message.contains("\"part\"") && message.contains("\"mesh.obj\" is not convex"),
        "{message}"
    );
    let heavy = format!("its mass is {excess:.0} % too large");
    assert!(message.contains(&heavy), "expected `{heavy}` in {message}");
    // The scale does not change the ratio; an explicit mass is not too large.
    let scaled = mesh_scene("mass = 2").replace("obj\" }", "obj\", scale = 0.001 }");
    let found = findings("convex", &scaled, &torus(0));
    let [Finding { message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.contains(&format!("{excess:.0} % more")), "{message}");
    assert!(!message.contains("mass"), "{message}");
}

#[test]
fn the_volume_of_a_mesh_with_a_hole_is_unknown() {
    let found = findings("convex", &mesh_scene(""), &torus(1));
    let [Finding { message, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.contains("not closed") && message.contains("volume is unknown"), "{message}");
}

#[test]
fn convex_meshes_and_bare_points_raise_no_warning() {
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    assert_eq!(findings("convex", &mesh_scene(""), &format!("{cube}{faces}")), []);
    assert_eq!(findings("convex", &mesh_scene(""), cube), []);
    // With one reversed face the inside is undefined.
    let turned = faces.replace("f 1 3 4 2", "f 2 4 3 1");
    assert_eq!(findings("convex", &mesh_scene(""), &format!("{cube}{turned}")).len(), 1);
}

/// Returns the messages about units of a scene.
fn units(scene: &str) -> Vec<String> {
    findings("units", scene, &torus(0)).into_iter().map(|found| found.message).collect()
}

fn sphere(radius: f64, world: &str) -> String {
    format!(
        "version = 1\n[world]\n{world}\n[[body]]\nname = \"ball\"\nkind = \"inertial\"\n\
         shape = {{ sphere = {{ radius = {radius} }} }}\n"
    )
}

#[test]
fn bodies_of_hundreds_of_meters_are_suspected_to_be_in_millimeters() {
    let found = units(&sphere(75.0, ""));
    let [message] = found.as_slice() else { panic!("{found:?}") };
    // sqrt(2 * 150 / 9.81) = 5.53 s.
    for word in ["\"ball\" is 150 m wide", "5.53 s", "in mm?"] {
        assert!(message.contains(word), "expected `{word}` in {message}");
    }
    // A short time step, gravity in millimeters or zero gravity raise no warning.
    for world in ["dt = 1e-5", "gravity = [0, 0, -9810]", "gravity = [0, 0, 0]"] {
        let radius = if world.starts_with("dt") { 0.5 } else { 75.0 };
        assert_eq!(units(&sphere(radius, world)), Vec::<String>::new(), "{world}");
    }
}

#[test]
fn bodies_that_fall_by_more_than_their_size_in_a_step_are_reported() {
    // 9.81 / 2 / 60^2 m = 1.36 mm.
    assert_eq!(units(&sphere(0.7e-3, "")), Vec::<String>::new());
    let found = units(&sphere(0.67e-3, ""));
    let [message] = found.as_slice() else { panic!("{found:?}") };
    assert!(
        message.contains("1.34 mm long") && message.contains("time step below 16.5 ms"),
        "{message}"
    );
    assert_eq!(units(&sphere(0.67e-3, "dt = 0.001")), Vec::<String>::new());
}

/// Scales the vertex of an OBJ line.
fn enlarged(line: &str, factor: f64) -> String {
    let Some(numbers) = line.strip_prefix("v ") else { return line.to_owned() };
    let numbers = numbers.split(' ').map(|number| factor * number.parse::<f64>().unwrap());
    numbers.fold("v".to_owned(), |line, number| format!("{line} {number}"))
}

#[test]
fn a_mesh_without_a_scale_is_reported_at_a_smaller_size() {
    let scene = mesh_scene("");
    let wide: String = torus(0).lines().map(|line| enlarged(line, 20.0) + "\n").collect();
    let ask = |scene: &str| findings("units", scene, &wide);
    // Its smallest width is 0.64 times 20 m.
    let found = ask(&scene);
    let [Finding { message, path, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.contains("12.8 m wide") && message.contains("`scale = 0.001`"), "{message}");
    assert_eq!(path, "body[0].shape");
    for scale in ["1", "0.001"] {
        let scaled = scene.replace("obj\" }", &format!("obj\", scale = {scale} }}"));
        assert_eq!(ask(&scaled), [], "{scale}");
    }
}

#[test]
fn a_mesh_a_hundred_times_larger_or_smaller_than_the_other_bodies_is_reported() {
    // The torus is 2.64 m long.
    let beside = |radius: f64| {
        units(&(sphere(radius, "dt = 1e-4") + &mesh_scene("")["version = 1\n".len()..]))
    };
    assert_eq!(beside(0.0133), Vec::<String>::new());
    let found = beside(0.013);
    let [message] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.contains("\"part\" is 2.64 m long, 102 times larger"), "{message}");
    // Zero gravity gives no indication of the unit, so that only the other body does.
    let weightless = |radius: f64| {
        units(&(sphere(radius, "gravity = [0, 0, 0]") + &mesh_scene("")["version = 1\n".len()..]))
    };
    assert_eq!(weightless(131.0), Vec::<String>::new());
    let found = weightless(133.0);
    let [message] = found.as_slice() else { panic!("{found:?}") };
    assert!(message.contains("101 times smaller"), "{message}");
}

#[test]
fn no_scene_of_the_catalog_raises_warnings_about_units_or_meshes() {
    for entry in catalog::ENTRIES {
        let file = entry.open(&Options::default()).unwrap();
        let found = lint(&file).unwrap();
        let asked = found.iter().find(|found| ["units", "convex"].contains(&found.rule));
        assert_eq!(asked, None, "{}", entry.name);
    }
}
