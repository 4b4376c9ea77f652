//! One cube in every format, and files that are not what they say.

mod files;
mod formats;
mod hostile;
mod noise;
mod places;
mod surfaces;

use std::path::Path;

use msd_sim::math::Vec3;

use super::Surface;
use super::place::Place;
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

/// What a file with these bytes has, without writing it.
fn parsed(ending: &str, bytes: &[u8]) -> Result<Vec<Vec3>, String> {
    thread_local! {
        static PLACE: (tempfile::TempDir, Place) = {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.gltf"), "").unwrap();
            let place = Place::find(folder.path(), folder.path(), "a.gltf").unwrap();
            (folder, place)
        };
    }
    PLACE
        .with(|(_, place)| super::parse(ending, bytes, place, &Limits::default()))
        .map(|mesh| mesh.points)
        .map_err(|fault| fault.message)
}

/// What the faces of a file enclose.
fn surface_of(name: &str, bytes: &[u8]) -> Surface {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    super::load(name, Some(folder.path()), &Limits::default())
        .unwrap_or_else(|f| panic!("{f}"))
        .surface
}

/// Asserts that a file is refused with a message that has `text` in it.
#[track_caller]
fn refused(name: &str, bytes: impl AsRef<[u8]>, text: &str) {
    let message = load(name, bytes.as_ref()).unwrap_err();
    assert!(message.starts_with(&format!("{name:?}: ")), "{message}");
    assert!(message.contains(text), "{message}");
}

/// The cube in all formats, which need no other file.
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
