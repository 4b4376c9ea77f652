//! Files outside the scene's folder, and files that are too large.

use super::files::Cube;
use super::{load, load_in, load_with};
use crate::limits::Limits;

#[test]
fn paths_stay_inside_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("scene");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(outer.path().join("x.obj"), "v 1 2 3\n").unwrap();
    std::fs::write(folder.join("x.obj"), "v 1 2 3\n").unwrap();
    let limits = Limits::default();
    let absolute = folder.join("x.obj").display().to_string();
    for name in [
        "../x.obj",
        "a/../x.obj",
        "./../x.obj",
        &absolute,
        "C:x.obj",
        "C:/x.obj",
        "..\\x.obj",
        "\\x.obj",
        "a\0.obj",
    ] {
        let message = load_in(&folder, name, &limits).unwrap_err();
        assert!(message.contains("expected "), "{message}");
    }
    assert!(load_in(&folder, "./x.obj", &limits).is_ok());
    assert!(load_in(&folder, "none.obj", &limits).unwrap_err().contains("cannot be read"));
    let fault = crate::mesh::load("x.obj", None, &limits).unwrap_err();
    assert_eq!(
        fault.message,
        "\"x.obj\": meshes can be read only for a scene that is itself a file"
    );
}

#[test]
fn unknown_file_extensions_are_rejected() {
    for name in ["mesh", "mesh.fbx", "mesh.obj.txt", ".obj", "", ".", "/"] {
        let folder = tempfile::tempdir().unwrap();
        let message = load_in(folder.path(), name, &Limits::default()).unwrap_err();
        assert!(message.contains("expected a mesh"), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_and_special_files_are_rejected() {
    use std::os::unix::fs::symlink;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("scene");
    std::fs::create_dir_all(folder.join("folder.obj")).unwrap();
    std::fs::write(outer.path().join("x.obj"), "v 1 2 3\n").unwrap();
    std::fs::write(folder.join("inside.obj"), "v 1 2 3\n").unwrap();
    symlink("/dev/zero", folder.join("zero.stl")).unwrap();
    symlink("../x.obj", folder.join("out.obj")).unwrap();
    symlink("..", folder.join("up")).unwrap();
    symlink("loop.obj", folder.join("loop.obj")).unwrap();
    symlink("inside.obj", folder.join("link.obj")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.ply")).status();
    let rejected = |name: &str, text: &str| {
        let message = load_in(&folder, name, &Limits::default()).unwrap_err();
        assert!(message.contains(text), "{message}");
    };
    rejected("zero.stl", "leads out");
    rejected("out.obj", "leads out");
    rejected("up/x.obj", "leads out");
    rejected("loop.obj", "cannot be read");
    rejected("folder.obj", "expected a regular file");
    if pipe.is_ok_and(|status| status.success()) {
        rejected("pipe.ply", "expected a regular file");
    }
    assert!(load_in(&folder, "link.obj", &Limits::default()).is_ok());
    // The same holds for the buffers of a document.
    std::fs::write(outer.path().join("x.bin"), Cube::new().buffer()).unwrap();
    symlink("../x.bin", folder.join("out.bin")).unwrap();
    std::fs::write(folder.join("a.gltf"), Cube::new().document("out.bin")).unwrap();
    rejected("a.gltf", "buffer 0: \"out.bin\": expected a file inside the scene's folder");
}

#[test]
fn buffers_stay_inside_the_folder() {
    for uri in [
        "../x.bin",
        "%2e%2e/x.bin",
        "a/%2E./x.bin",
        "/etc/passwd",
        "%2Fetc/passwd",
        "file:///etc/passwd",
        "http://localhost/x.bin",
        "https:x.bin",
        "C:/x.bin",
        "..%5Cx.bin",
        "x%",
        "x%f",
        "x%zz",
        "x%ff",
        "x%00.bin",
        "%C0%AF",
        "data:,abc",
        "data:;base64,a",
        "data:;base64,a%%%",
        "none.bin",
        ".",
    ] {
        let message = load("a.gltf", Cube::new().document(uri).as_bytes()).unwrap_err();
        assert!(message.contains("buffer 0: "), "{message}");
    }
}

#[test]
fn files_that_an_obj_refers_to_are_never_opened() {
    let obj = "mtllib ../../etc/passwd\nmtllib /dev/zero\nusemtl root\nv 1 2 3\ncall x.obj\n";
    assert_eq!(load("a.obj", obj.as_bytes()).unwrap().len(), 1);
}

#[test]
fn limits_on_points_and_bytes_hold() {
    for (name, bytes) in super::cubes() {
        let limits = |points, mesh_bytes| Limits { points, mesh_bytes, ..Limits::default() };
        let length = bytes.len() as u64;
        assert!(load_with(name, &bytes, &limits(8, length)).is_ok(), "{name}");
        let message = load_with(name, &bytes, &limits(7, length)).unwrap_err();
        assert!(message.contains("more than 7 points"), "{message}");
        let message = load_with(name, &bytes, &limits(8, length - 1)).unwrap_err();
        assert!(message.contains("the file size limit"), "{message}");
    }
}

#[test]
fn the_byte_limit_covers_all_buffers_together() {
    let folder = tempfile::tempdir().unwrap();
    let cube = Cube::new();
    let document = cube
        .document("a.bin")
        .replace(r#""byteOffset": 64,"#, "")
        .replacen(r#""bufferView": 0"#, r#""bufferView": 1"#, 1)
        .replace(r#""bufferViews": ["#, r#""bufferViews": [{"buffer": 1, "byteLength": 132},"#)
        .replace(r#""buffers": ["#, r#""buffers": [{"uri": "b.bin", "byteLength": 132},"#);
    for name in ["a.bin", "b.bin"] {
        let mut bytes = cube.buffer();
        bytes.resize(2000, 0);
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("a.gltf"), document).unwrap();
    let limits = |mesh_bytes| Limits { mesh_bytes, ..Limits::default() };
    load_in(folder.path(), "a.gltf", &limits(4000)).unwrap();
    let message = load_in(folder.path(), "a.gltf", &limits(3999)).unwrap_err();
    assert!(message.contains(".bin\": larger than 1999 bytes"), "{message}");
}
