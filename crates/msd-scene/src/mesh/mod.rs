//! Points of mesh files: OBJ, STL, PLY and glTF, and the volume that their faces enclose.
//!
//! A body gets the hull of the points; the volume says how much that fills. Files are not trusted. What the crates for OBJ, STL and glTF do
//! with hostile files is not good enough, each module says why, and what is needed of the formats
//! takes less than a guard around them; PLY files are read by a crate.

mod cloud;
mod gltf;
mod obj;
mod place;
mod ply;
mod stl;
mod surface;
#[cfg(test)]
mod tests;

use std::path::Path;

use msd_sim::math::Vec3;

use crate::error::Fault;
use crate::limits::Limits;
use cloud::Cloud;
use place::Place;
pub(crate) use surface::Surface;

/// What is read of a mesh file.
#[derive(Debug)]
pub(crate) struct Mesh {
    /// The points, each once, in the order of the file.
    pub(crate) points: Vec<Vec3>,
    /// What the faces enclose.
    pub(crate) surface: Surface,
}

/// The mesh of a file in the scene's folder.
pub(crate) fn load(file: &str, folder: Option<&Path>, limits: &Limits) -> Result<Mesh, Fault> {
    // What was found is part of the message, and can be as long as the file.
    read(file, folder, limits).map_err(|fault| {
        let message: String = fault.message.chars().take(300).collect();
        Fault { message: format!("{file:?}: {message}"), ..fault }
    })
}

fn read(file: &str, folder: Option<&Path>, limits: &Limits) -> Result<Mesh, Fault> {
    let folder = folder.ok_or_else(|| Fault::new("meshes are read with a scene file only"))?;
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or("").to_ascii_lowercase();
    if !["obj", "stl", "ply", "gltf", "glb"].contains(&extension.as_str()) {
        let message = "expected a mesh: a file that ends in .obj, .stl, .ply, .gltf or .glb";
        return Err(Fault::new(message));
    }
    let place = Place::find(folder, folder, file)?;
    let bytes = place.read(limits.mesh_bytes)?;
    parse(&extension, &bytes, &place, limits)
}

/// The mesh of a file with these bytes.
fn parse(extension: &str, bytes: &[u8], place: &Place, limits: &Limits) -> Result<Mesh, Fault> {
    let mut cloud = Cloud::new(limits.points);
    match extension {
        "obj" => obj::read(bytes, &mut cloud)?,
        "stl" => stl::read(bytes, &mut cloud)?,
        "ply" => ply::read(bytes, &mut cloud)?,
        "gltf" => gltf::read(bytes, None, place, limits.mesh_bytes, &mut cloud)?,
        _ => gltf::read_binary(bytes, place, limits.mesh_bytes, &mut cloud)?,
    }
    cloud.mesh()
}
