//! The volume that faces enclose.

use super::super::Surface;
use super::files::Cube;
use super::{cubes, surface_of};

/// Volume of the cube, whose side is 1.75.
const VOLUME: f64 = 1.75 * 1.75 * 1.75;

#[track_caller]
fn encloses(name: &str, bytes: &[u8], expected: f64) {
    let Surface::Closed { volume } = surface_of(name, bytes) else {
        panic!("{name}: {:?}", surface_of(name, bytes));
    };
    // Twelve tetrahedra of at most six times the volume, rounded some ten times each.
    assert!((volume - expected).abs() <= 1e-13 * expected, "{name}: {volume}");
}

#[test]
fn the_cube_has_the_same_volume_in_every_format() {
    for (name, bytes) in cubes() {
        // The four points of each glTF mesh form no whole triangles.
        if !name.contains(".gl") {
            encloses(name, &bytes, VOLUME);
        }
    }
}

#[test]
fn a_mesh_with_a_missing_or_reversed_face_is_open() {
    let cube = Cube::new();
    let text = String::from_utf8(cube.obj()).unwrap();
    let line = text.lines().last().unwrap();
    let open = text.replace(line, "");
    assert_eq!(surface_of("a.obj", open.as_bytes()), Surface::Open);
    let words: Vec<&str> = line.split(' ').collect();
    let turned = text.replace(line, &format!("f {} {} {}", words[2], words[1], words[3]));
    assert_eq!(surface_of("a.obj", turned.as_bytes()), Surface::Open);
    let points: String = text
        .lines()
        .filter(|line| !line.starts_with('f'))
        .fold(String::new(), |all, line| all + line + "\n");
    assert_eq!(surface_of("a.obj", points.as_bytes()), Surface::None);
}

#[test]
fn faces_may_precede_their_vertices_and_have_many_corners() {
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    let vertices = "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 2 3 0\nv 0 0 5\nv 2 0 5\nv 0 3 5\nv 2 3 5\n";
    encloses("a.obj", format!("{faces}{vertices}").as_bytes(), 30.0);
    // Far from the origin: volumes are summed about a corner, so they keep their precision.
    let far = vertices.replace("v 0", "v 1000000").replace("v 2", "v 1000002");
    encloses("b.obj", format!("{faces}{far}").as_bytes(), 30.0);
    // A face that continues on the next line is not read.
    let long = faces.replace("f 1 3 4 2", "f 1 3 \\\n4 2");
    assert_eq!(surface_of("c.obj", format!("{vertices}{long}").as_bytes()), Surface::Open);
}

#[test]
fn a_ply_with_unreadable_faces_keeps_its_points() {
    let text = String::from_utf8(Cube::new().ply("ascii")).unwrap();
    let cut = &text[..text.len() - 4];
    assert_eq!(surface_of("a.ply", cut.as_bytes()), Surface::Open);
    let wrong = text.replace("3 0 1 3\n", "3 0 1 8\n");
    assert_eq!(surface_of("a.ply", wrong.as_bytes()), Surface::Open);
    let other = text.replace("vertex_indices", "corners");
    assert_eq!(surface_of("a.ply", other.as_bytes()), Surface::Open);
}

/// A glTF tetrahedron of volume 1/6 with the given topology, indices and node properties.
fn tetrahedron(mode: u32, indices: &[u16], node: &str) -> String {
    use base64::Engine;
    let corners = [[0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut bytes: Vec<u8> = corners.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
    let (length, count) = (bytes.len(), indices.len());
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0{node}}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1, "mode": {mode}}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}},
          {{"bufferView": 1, "componentType": 5123, "count": {count}, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 48}},
          {{"buffer": 0, "byteOffset": 48, "byteLength": {}}}],
        "buffers": [{{"uri": "data:;base64,{data}", "byteLength": {length}}}]}}"#,
        length - 48
    )
}

#[test]
fn gltf_triangles_strips_and_fans_are_read_and_transformed_by_their_nodes() {
    const FACES: [u16; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let scaled = r#", "scale": [2, -3, 4]"#;
    encloses("a.gltf", tetrahedron(4, &FACES, "").as_bytes(), 1.0 / 6.0);
    encloses("a.gltf", tetrahedron(4, &FACES, scaled).as_bytes(), 4.0);
    // A strip around all four corners: 012, 213 (reversed), 230, 031 (reversed).
    encloses("a.gltf", tetrahedron(5, &[0, 1, 2, 3, 0, 1], "").as_bytes(), 1.0 / 6.0);
    // A fan is open: the face opposite its first corner is missing.
    let fan = tetrahedron(6, &[0, 1, 2, 3, 1], "");
    assert_eq!(surface_of("a.gltf", fan.as_bytes()), Surface::Open);
    // Lines form no faces.
    assert_eq!(surface_of("a.gltf", tetrahedron(1, &[0, 1], "").as_bytes()), Surface::None);
    // A face with a missing vertex, and an incomplete face.
    let wrong = tetrahedron(4, &[0, 1, 9], "");
    assert_eq!(surface_of("a.gltf", wrong.as_bytes()), Surface::Open);
    let half = tetrahedron(4, &[&FACES[..], &[0]].concat(), "");
    assert_eq!(surface_of("a.gltf", half.as_bytes()), Surface::Open);
}
