//! Valid files.

use msd_sim::geometry::ConvexHull;
use msd_sim::math::{Vec3, rotation};

use super::files::Cube;
use super::{cubes, load, load_in};
use crate::limits::Limits;
use crate::mesh::Mesh;

#[test]
fn every_format_gives_the_same_hull() {
    let mut expected: Vec<[f64; 3]> =
        Cube::new().corners.iter().map(|corner| corner.map(f64::from)).collect();
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    for (name, bytes) in cubes() {
        let points = load(name, &bytes).unwrap();
        assert_eq!(points.len(), 8, "{name}");
        let hull = ConvexHull::new(&points).unwrap();
        let mut corners: Vec<[f64; 3]> = hull.vertices().iter().map(|v| v.to_array()).collect();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(corners, expected, "{name}");
    }
}

#[test]
fn text_is_read_in_double_precision() {
    let third = 1.0 / 3.0;
    let obj = format!("v {third} 0 0 0.5 0.5 0.5\nv -0 0 0 1\nv 0 0 0\n");
    assert_eq!(load("a.obj", obj.as_bytes()).unwrap(), [Vec3::X * third, Vec3::ZERO]);
    let stl = format!(
        "SOLID a\nFACET normal 0 0 0\nouter loop\nvertex {third} 0 0\nvertex 0 0 0\n\
         vertex 0 -0 0\nendloop\nendfacet\nendsolid a"
    );
    assert_eq!(load("a.stl", stl.as_bytes()).unwrap(), [Vec3::X * third, Vec3::ZERO]);
    let ply = format!(
        "ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty int x\r\nproperty uchar y\r\n\
         property double z\r\nend_header\r\n-7 3 {third}\r\n"
    );
    assert_eq!(load("a.ply", ply.as_bytes()).unwrap(), [Vec3::new(-7.0, 3.0, third)]);
}

#[test]
fn a_binary_stl_may_have_trailing_bytes() {
    let mut bytes = Cube::new().stl_binary();
    bytes.extend(b"made with care");
    assert_eq!(load("a.stl", &bytes).unwrap().len(), 8);
}

#[test]
fn gltf_buffers_may_be_files() {
    let cube = Cube::new();
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("sub/my data");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("a.bin"), cube.buffer()).unwrap();
    let document = cube.document("my%20data/a.bin");
    std::fs::write(folder.path().join("sub/a.gltf"), document).unwrap();
    let points = load_in(folder.path(), "sub/a.gltf", &Limits::default()).unwrap();
    assert_eq!(points, load("cube.glb", &cube.glb()).unwrap());
}

#[test]
fn gltf_node_transforms_are_composed() {
    let cube = Cube::new();
    let turned = cube.document(&cube.data_uri()).replace(
        r#""translation": [0, 0, 0.5]"#,
        r#""translation": [1, 2, 3], "scale": [2, 3, 4], "rotation": [0, 0, 0.6, 0.8]"#,
    );
    let points = load("a.gltf", turned.as_bytes()).unwrap();
    let half = rotation(Vec3::Z, 2.0 * 0.6_f64.asin());
    let upper = cube.corners[4..].iter().map(|corner| {
        let [x, y, _] = corner.map(f64::from);
        half * (Vec3::new(2.0, 3.0, 4.0) * Vec3::new(x, y, -0.25)) + Vec3::new(1.0, 2.0, 4.25)
    });
    for point in upper {
        assert!(points.iter().any(|found| (*found - point).length() < 1e-14), "{point}");
    }
}

#[test]
fn gltf_scenes_and_nodes_are_optional() {
    let cube = Cube::new();
    let document = cube.document(&cube.data_uri());
    let all = load("a.gltf", document.as_bytes()).unwrap();
    let no_scene = document.replace("\"scenes\"", "\"others\"").replace("\"scene\"", "\"other\"");
    assert_eq!(load("a.gltf", no_scene.as_bytes()).unwrap(), all);
    // Without nodes both meshes are in the same place.
    let no_nodes = no_scene.replace("\"nodes\"", "\"knots\"");
    assert_eq!(load("a.gltf", no_nodes.as_bytes()).unwrap().len(), 4);
}

#[test]
fn gltf_positions_may_be_integers() {
    let document = |kind: u32, normalized: bool, data: &str| {
        format!(
            r#"{{"asset": {{"version": "2.1"}}, "extensionsRequired": ["KHR_mesh_quantization"],
            "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}}}]}}],
            "accessors": [{{"bufferView": 0, "componentType": {kind}, "count": 1, "type": "VEC3",
            "normalized": {normalized}}}], "bufferViews": [{{"buffer": 0, "byteLength": 6}}],
            "buffers": [{{"uri": "data:;base64,{data}", "byteLength": 6}}]}}"#
        )
    };
    // The bytes 129, 127, 0, 128, 255, 255.
    let data = "gX8AgP//";
    for (kind, normalized, expected) in [
        (5120, false, [-127.0, 127.0, 0.0]),
        (5120, true, [-1.0, 1.0, 0.0]),
        (5121, false, [129.0, 127.0, 0.0]),
        (5121, true, [129.0 / 255.0, 127.0 / 255.0, 0.0]),
        (5122, false, [32641.0, -32768.0, -1.0]),
        (5122, true, [32641.0 / 32767.0, -1.0, -1.0 / 32767.0]),
        (5123, false, [32641.0, 32768.0, 65535.0]),
        (5123, true, [32641.0 / 65535.0, 32768.0 / 65535.0, 1.0]),
    ] {
        let points = load("a.gltf", document(kind, normalized, data).as_bytes()).unwrap();
        assert_eq!(points, [Vec3::from_array(expected)], "{kind} {normalized}");
    }
}

#[test]
fn a_program_reads_a_mesh_file_and_makes_a_hull_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.stl");
    std::fs::write(&path, Cube::new().stl_text()).unwrap();
    let mesh = Mesh::open(&path, &Limits::default()).unwrap();
    assert_eq!(mesh.points().len(), 8);
    // Edges of 1.75, exact in binary.
    assert_eq!(mesh.volume(), Some(1.75 * 1.75 * 1.75));
    let hull = mesh.hull(-2.0).unwrap();
    assert_eq!(hull.support(Vec3::ONE), Vec3::splat(0.5), "mirrored: -2 times the corner at -0.25");
    assert_eq!(hull.support(-Vec3::ONE), Vec3::splat(-3.0));
    assert!(mesh.hull(0.0).is_err(), "one point");
    assert!(mesh.hull(f64::NAN).is_err());
    let missing = Mesh::open(&folder.path().join("cub.stl"), &Limits::default()).unwrap_err();
    assert!(missing.to_string().contains("cub.stl"), "{missing}");
}
