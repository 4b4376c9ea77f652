//! Truncated, damaged and inconsistent files.

use std::fmt::Write;

use super::files::{Cube, glb};
use super::{load, parsed, rejected};

const TRIANGLE: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                        vertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

#[test]
fn empty_files_are_rejected() {
    for name in ["a.obj", "a.stl", "a.ply", "a.gltf", "a.glb"] {
        rejected(name, "", "expected ");
        rejected(name, "\n\n\n", "expected ");
        rejected(name, [0; 200], "expected ");
    }
}

#[test]
fn truncated_binary_files_are_rejected() {
    let cube = Cube::new();
    let mut unnamed = cube.stl_binary();
    unnamed[..5].copy_from_slice(b"cube ");
    for (ending, bytes) in [("stl", cube.stl_binary()), ("stl", unnamed), ("glb", cube.glb())] {
        for end in 0..bytes.len() {
            assert!(parsed(ending, &bytes[..end]).unwrap_err().contains("expected "), "{end}");
        }
    }
}

#[test]
fn truncated_text_files_are_rejected_unless_all_points_are_there() {
    let cube = Cube::new();
    let stl = cube.stl_text();
    let first = 9 + stl.windows(9).position(|part| part == b"endsolid\n").unwrap();
    for end in 0..stl.len() - 1 {
        let whole = end == first || end == first - 1 || end == stl.len() - 1;
        assert_eq!(parsed("stl", &stl[..end]).is_ok(), whole, "{end}");
    }
    let document = cube.gltf();
    for end in 0..document.len() {
        assert!(parsed("gltf", &document[..end]).is_err(), "{end}");
    }
    for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
        let ply = cube.ply(encoding);
        for end in 0..ply.len() {
            // Damage after the vertices is no error; anything else must not panic.
            let _ = parsed("ply", &ply[..end]);
        }
        let header = ply.windows(11).position(|part| part == b"end_header\n").unwrap() + 11;
        for end in 0..header + 80 {
            assert!(parsed("ply", &ply[..end]).is_err(), "{end}");
        }
    }
}

#[test]
fn binary_stl_is_checked() {
    let mut bytes = Cube::new().stl_binary();
    bytes[80..84].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
    rejected("a.stl", &bytes, "expected 200000000084 bytes for 4000000000 faces");
    bytes[80..84].copy_from_slice(&0_u32.to_le_bytes());
    rejected("a.stl", &bytes, "expected vertices, found none");
    let mut bytes = Cube::new().stl_binary();
    bytes[84 + 50 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    rejected("a.stl", &bytes, "face 2, vertex 1: expected finite numbers, found NaN");
}

#[test]
fn stl_text_is_checked() {
    let with = |from: &str, to: &str| TRIANGLE.replace(from, to);
    assert_eq!(load("a.stl", TRIANGLE.as_bytes()).unwrap().len(), 3);
    rejected("a.stl", "solid a\nendsolid a", "expected vertices, found none");
    rejected("a.stl", with("1 0 0", "1 0"), "line 5: expected three numbers, found nothing");
    rejected("a.stl", with("1 0 0", "1 0 x"), "line 5: expected three numbers, found \"x\"");
    rejected("a.stl", with("1 0 0", "1 0 1e400"), "line 5, vertex 2: expected finite numbers");
    rejected("a.stl", with("vertex 1 0 0\n", ""), "line 6: expected `vertex`, found \"endloop\"");
    rejected("a.stl", with("endloop", "vertex 2 2 2"), "line 7: expected `endloop`");
    rejected("a.stl", with("endsolid a", "solid b"), "line 9: expected `facet`");
    rejected(
        "a.stl",
        with("endsolid a\n", ""),
        "line 8: expected `endsolid` after it, found the end",
    );
    rejected("a.stl", format!("{TRIANGLE}facet"), "line 10: expected `solid`");
    rejected("a.stl", "solid ".repeat(100_000) + "\nx", "line 2: expected `facet`, found \"x\"");
}

#[test]
fn obj_is_checked() {
    rejected("a.obj", "# nothing\nf\n", "expected vertices, found none");
    rejected("a.obj", "v 0 0 0\nv 1 NaN 0", "line 2, vertex 2: expected finite numbers");
    rejected("a.obj", "v inf 0 0", "line 1, vertex 1: expected finite numbers, found inf 0 0");
    rejected("a.obj", "v 0 0 -1e400", "line 1, vertex 1: expected finite numbers, found 0 0 -inf");
    rejected("a.obj", "v 1 2", "line 1: expected three numbers, found nothing");
    rejected("a.obj", "v 1 2 three", "found \"three\"");
    rejected("a.obj", b"v 1 2 \xff\xfe", "line 1: expected three numbers");
    rejected("a.obj", format!("v 1 2 {}", "x".repeat(100_000)), "xxxxx\"...");
    rejected("a.obj", "v 1 2 3\nf 1 2 3", "line 2: expected a vertex from 1 to 1, found 3");
    rejected("a.obj", "v 1 2 3\nf 0 1 1", "from 1 to 1, found 0");
    rejected("a.obj", "v 1 2 3\nf -1 -2 1", "from 1 to 1, found -2");
    rejected("a.obj", "v 1 2 3\nf 9223372036854775807", "found 9223372036854775807");
    rejected("a.obj", "v 1 2 3\nf -9223372036854775808", "found -9223372036854775808");
    rejected("a.obj", "v 1 2 3\nf 9223372036854775808", "line 2: expected a vertex, found");
    rejected("a.obj", "v 1 2 3\nf /1", "line 2: expected a vertex, found \"/1\"");
    let later = "f 1/-9223372036854775807 -0/1 2 \\\n 1\nv 1 2 3\nv 1 2 4\n".replace("-0", "1");
    assert_eq!(load("a.obj", later.as_bytes()).unwrap().len(), 2);
}

#[test]
fn ply_headers_are_checked() {
    let ply = |header: &str, body: &str| format!("ply\nformat {header}\nend_header\n{body}");
    const XYZ: &str = "property float x\nproperty float y\nproperty float z";
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        for count in ["1000000000", "18446744073709551615", "20"] {
            let header = format!("{format} 1.0\nelement vertex {count}\n{XYZ}");
            rejected("a.ply", ply(&header, "0 0 0\n"), "the file is too short for them");
            let header = format!("{format} 1.0\nelement a {count}\nelement vertex 1\n{XYZ}");
            rejected("a.ply", ply(&header, "0 0 0\n"), "expected ");
        }
        let header = format!("{format} 1.0\nelement vertex 18446744073709551616\n{XYZ}");
        rejected("a.ply", ply(&header, ""), "line 3: expected a line of a PLY header");
        let header = format!("{format} 1.0\nelement vertex 0\n{XYZ}");
        rejected("a.ply", ply(&header, ""), "expected vertices, found none");
        let header = format!("{format} 1.0\nelement vertex 1\nproperty float x");
        rejected(
            "a.ply",
            ply(&header, "1234\n"),
            "expected the element `vertex` to have a number `y`",
        );
        let list = XYZ.replace("float z", "list uchar float z");
        let header = format!("{format} 1.0\nelement vertex 1\n{list}");
        rejected("a.ply", ply(&header, "123456789\n"), "to have a number `z`");
        let header = format!("{format} 1.0\nelement vertex 1\n{XYZ}\nproperty float x");
        rejected("a.ply", ply(&header, "1 2 3 4 5 6 7 8 9\n"), "with distinct names");
        let header = format!("{format} 1.0\nelement vertex 1\n{XYZ}\nelement vertex 1\n{XYZ}");
        rejected("a.ply", ply(&header, "1 2 3\n4 5 6 7 8 9\n"), "with distinct names");
        rejected("a.ply", ply(&format!("{format} 1.0\nelement face 0"), ""), "`element vertex`");
        rejected("a.ply", ply(&format!("{format} 1.0\n{XYZ}"), ""), "line 3: expected a line");
    }
    rejected("a.ply", ply("ascii 1.0\nelement vertex 1\n", XYZ), "line 4: expected a line");
    rejected("a.ply", ply("ebcdic 1.0", ""), "line 2: expected a line of a PLY header");
    rejected("a.ply", "plx\n", "line 1: expected `ply`, found \"plx\"");
    rejected("a.ply", "ply\nend_header\n", "No format line");
    rejected("a.ply", b"ply\ncomment \xff\n", "UTF-8");
    rejected("a.ply", format!("ply\nformat ascii 1.0\n{}", "comment a\n".repeat(9999)), "expected");
}

#[test]
fn ply_numbers_are_checked() {
    let cube = |from: &str, to: &str| {
        String::from_utf8(Cube::new().ply("ascii")).unwrap().replacen(from, to, 1)
    };
    rejected(
        "a.ply",
        cube("-0.25 -0.25 255", "x 0 255"),
        "line 17: expected the numbers of a `ver",
    );
    rejected("a.ply", cube("-0.25 -0.25 255", "0 255"), "line 17: expected the numbers");
    rejected("a.ply", cube("-0.25 -0.25 255", "1e39 0 255"), "vertex 1: expected finite numbers");
    rejected("a.ply", cube("-0.25 -0.25 255", "nan 0 255"), "line 17: expected the numbers");
    rejected(
        "a.ply",
        cube("2 -5 6 1", "4000000000 1"),
        "line 15: expected the numbers of a `mark`",
    );
    rejected("a.ply", cube("2 -5 6 1", &"1 ".repeat(99_999)), "line 15: longer than 65536 bytes");
    rejected("a.ply", cube("2 -5 6 1", "-2 1"), "line 15: expected the numbers of a `mark`");
    // A list before the vertices whose length exceeds the file.
    let binary = |kind: &str, length: &[u8]| {
        let mut bytes = format!(
            "ply\nformat binary_little_endian 1.0\nelement a 1\nproperty list {kind} double l\n\
             element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
        )
        .into_bytes();
        bytes.extend(length);
        bytes.extend([0; 100]);
        bytes
    };
    rejected(
        "a.ply",
        binary("uint", &u32::MAX.to_le_bytes()),
        "expected 1 elements `a`, the file ends",
    );
    rejected(
        "a.ply",
        binary("int", &i32::MAX.to_le_bytes()),
        "expected 1 elements `a`, the file ends",
    );
    rejected("a.ply", binary("int", &(-1_i32).to_le_bytes()), "`a` number 1: List length cannot");
    rejected("a.ply", binary("double", &1e9_f64.to_le_bytes()), "`a` number 1: Index of list must");
    assert!(load("a.ply", &binary("uchar", &[3])).is_ok());
}

#[test]
fn gltf_documents_are_checked() {
    let cube = Cube::new();
    let document = cube.document(&cube.data_uri());
    let with = |from: &str, to: &str| {
        assert!(document.contains(from), "{from}");
        document.replacen(from, to, 1)
    };
    let big = u64::MAX;
    for (from, to, text) in [
        (r#""count": 4"#, r#""count": 10"#, "accessor 0: 10 points do not fit into bufferView 0"),
        (r#""count": 4"#, r#""count": 1000000000"#, "more than 100000 points"),
        (r#""count": 4"#, r#""count": 0"#, "accessor 0: expected a count above 0"),
        (r#""count": 4"#, r#""count": -4"#, "expected a glTF document"),
        (r#""byteOffset": 64"#, r#""byteOffset": 72"#, "accessor 1: 4 points do not fit"),
        (r#""byteOffset": 64"#, &format!(r#""byteOffset": {big}"#), "accessor 1: 4 points do not"),
        (r#""byteOffset": 4,"#, &format!(r#""byteOffset": {big},"#), "bufferView 0 is outside"),
        (r#""byteLength": 128"#, r#""byteLength": 129"#, "outside of its buffer of 132 bytes"),
        (r#""byteLength": 128"#, &format!(r#""byteLength": {big}"#), "bufferView 0 is outside"),
        (r#""byteStride": 16"#, &format!(r#""byteStride": {big}"#), "points do not fit"),
        (r#""byteStride": 16"#, r#""byteStride": 11"#, "points do not fit"),
        (r#""bufferView": 0"#, r#""bufferView": 1"#, "accessor 0: there is no bufferView 1"),
        (r#""bufferView": 0,"#, "", "accessor 0: expected a bufferView and no sparse values"),
        (r#""bufferView": 0"#, r#""sparse": {}, "bufferView": 0"#, "no sparse values"),
        (r#""buffer": 0"#, r#""buffer": 1"#, "buffer 1: there is no such buffer"),
        (r#""uri""#, r#""url""#, "buffer 0: expected a `uri`"),
        ("5126", "5125", "accessor 0: expected a componentType of positions, found 5125"),
        ("VEC3", "VEC2", "accessor 0: expected positions of type VEC3, found VEC2"),
        (r#""POSITION": 0"#, r#""POSITION": 2"#, "there is no accessor 2"),
        (r#""mesh": 0"#, r#""mesh": 2"#, "node 0: there is no mesh 2"),
        (r#""mesh": 0"#, r#""mesh": 0, "skin": 0"#, "node 0: expected a rigid mesh"),
        (r#""children": [2]"#, r#""children": [1]"#, "node 1: expected a tree of nodes"),
        (r#""children": [2]"#, r#""children": [3]"#, "there is no node 3"),
        (r#""children": [2]"#, r#""children": [2, 2]"#, "node 2: expected a tree of nodes"),
        (r#""mesh": 1"#, r#""mesh": 1, "children": [1]"#, "node 1: expected a tree of nodes"),
        (r#""nodes": [0, 1]"#, r#""nodes": [0, 9]"#, "there is no node 9"),
        (r#""scene": 0"#, r#""scene": 1"#, "there is no scene 1"),
        ("0,0,1.25,1]", "0,0,1.25,2]", "node 1: expected a matrix with the last row 0 0 0 1"),
        ("0,0,1.25,1]", "0,1.25,1]", "expected a glTF document"),
        ("0,0,1.25,1]", "0,0,1e999,1]", "expected a glTF document"),
        (r#""translation""#, r#""rotation": [0, 0, 0, 0], "other""#, "rotation of length 1"),
        (r#""version": "2.0""#, r#""version": "1.0""#, "expected glTF 2, found version 1.0"),
        ("{\"asset\"", "{\"extensionsRequired\": [\"KHR_draco\"], \"asset\"", "KHR_draco"),
        ("{\"asset\"", "[{\"asset\"", "expected a glTF document"),
    ] {
        rejected("a.gltf", with(from, to), text);
    }
    let huge = with("0,0,1,0, 0,0,1.25", "0,0,1e308,0, 0,0,1e308").replace("0.5]", "1e308]");
    rejected("a.gltf", huge, "vertex 0 of node 2: expected finite numbers");
    let cycle = r#"{"asset": {"version": "2.0"}, "nodes": [{"children": [1]}, {"children": [0]}]}"#;
    rejected("a.gltf", cycle, "expected a tree of nodes, found a cycle");
    rejected("a.gltf", r#"{"asset": {"version": "2.0"}}"#, "expected vertices, found none");
    rejected("a.gltf", "[".repeat(100_000), "expected a glTF document");
    let ignored = format!(r#"{{"asset": {}"#, r#"{"x":["#.repeat(50_000));
    rejected("a.gltf", ignored, "expected a glTF document");
    let wrong = format!(r#"{{"asset": {{"version": "2.0"}}, "nodes": "{}"}}"#, "x".repeat(100_000));
    assert!(load("a.gltf", wrong.as_bytes()).unwrap_err().len() < 400);
}

#[test]
fn gltf_with_many_or_deep_nodes_is_rejected() {
    let mut deep = r#"{"asset": {"version": "2.0"}, "nodes": ["#.to_owned();
    for index in 1..60_000 {
        write!(deep, r#"{{"children": [{index}]}}, "#).unwrap();
    }
    rejected("a.gltf", deep.clone() + "{}]}", "expected vertices, found none");
    rejected("a.gltf", deep + &"{}, ".repeat(10_000) + "{}]}", "a list of more than 65536");
}

#[test]
fn glb_containers_are_checked() {
    let document = Cube::new().document("").into_bytes();
    let buffer = Cube::new().buffer();
    let mut short = Cube::new().glb();
    short[8..12].copy_from_slice(&3_u32.to_le_bytes());
    rejected("a.glb", short, "expected 3 bytes, as in the header, found");
    rejected("a.glb", b"glTF\x01\0\0\0\x0c\0\0\0", "expected a binary glTF 2 file");
    rejected("a.glb", glb(&[]), "expected `JSON` at byte 16");
    rejected("a.glb", glb(&[(b"BIN\0", &buffer), (b"JSON", &document)]), "expected `JSON`");
    rejected("a.glb", glb(&[(b"JSON", &document)]), "buffer 0: expected a `uri`");
    rejected("a.glb", glb(&[(b"JSON", &document), (b"ELSE", &buffer)]), "expected a `uri`");
    let mut long = glb(&[(b"JSON", b"{}  ")]);
    long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    rejected("a.glb", long, "byte 12: the chunk is longer than the file");
}
