//! One cube in every format, and files that contradict themselves.

mod files;
mod formats;
mod hostile;
mod noise;
mod paths;
mod surfaces;

use std::path::Path;

use msd_sim::math::Vec3;

use super::Surface;
use super::confined::ConfinedFile;
use crate::limits::Limits;
use files::Cube;

/// Writes a file and loads it.
fn load(name: &str, bytes: &[u8]) -> Result<Vec<Vec3>, String> {
    load_with(name, bytes, &Limits::default())
}

fn load_with(name: &str, bytes: &[u8], limits: &Limits) -> Result<Vec<Vec3>, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    load_in(folder.path(), name, limits)
}

fn load_in(folder: &Path, name: &str, limits: &Limits) -> Result<Vec<Vec3>, String> {
    let mesh = super::load(name, Some(folder), limits).map_err(|fault| fault.message)?;
    Ok(mesh.points)
}

/// Parses bytes without writing a file.
fn parsed(ending: &str, bytes: &[u8]) -> Result<Vec<Vec3>, String> {
    thread_local! {
        static FILE: (tempfile::TempDir, ConfinedFile) = {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.gltf"), "").unwrap();
            let file = ConfinedFile::find(folder.path(), folder.path(), "a.gltf").unwrap();
            (folder, file)
        };
    }
    FILE.with(|(_, file)| super::parse(ending, bytes, file, &Limits::default()))
        .map(|mesh| mesh.points)
        .map_err(|fault| fault.message)
}

/// Returns the surface of a mesh file.
fn surface_of(name: &str, bytes: &[u8]) -> Surface {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    super::load(name, Some(folder.path()), &Limits::default())
        .unwrap_or_else(|f| panic!("{f}"))
        .surface
}

/// Asserts that a file is rejected with a message that contains `text`.
#[track_caller]
fn rejected(name: &str, bytes: impl AsRef<[u8]>, text: &str) {
    let message = load(name, bytes.as_ref()).unwrap_err();
    assert!(message.starts_with(&format!("{name:?}: ")), "{message}");
    assert!(message.contains(text), "{message}");
}

/// Returns the cube in every format, each as a single file.
fn cubes() -> Vec<(&'static str, Vec<u8>)> {
    let cube = Cube::new();
    vec![
        ("cube.obj", cube.obj()),
        ("text.stl", cube.stl_text()),
        ("binary.STL", cube.stl_binary()),
        ("text.ply", cube.ply("ascii")),
        ("little.ply", cube.ply("binary_little_endian")),
        ("big.Ply", cube.ply("binary_big_endian")),
        ("cube.gltf", cube.gltf()),
        ("cube.glb", cube.glb()),
    ]
}
