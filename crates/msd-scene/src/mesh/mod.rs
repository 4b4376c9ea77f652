//! Mesh file readers for OBJ, STL, PLY and glTF: the points, and the volume that the faces enclose.
//!
//! A body gets the convex hull of the points; comparing volumes shows how much of the hull the mesh fills. Files are
//! not trusted. The crates for OBJ, STL and glTF do not cope with hostile files (each module gives the reasons),
//! and reading the few fields needed takes less code than guarding those crates would; PLY files are read by a
//! crate.

mod builder;
mod confined;
mod gltf;
mod obj;
mod ply;
mod stl;
mod surface;
#[cfg(test)]
mod tests;

use std::path::Path;

use msd_sim::error::ShapeError;
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;

use crate::error::{Fault, SceneError};
use crate::limits::Limits;
use builder::MeshBuilder;
use confined::ConfinedFile;
pub(crate) use surface::Surface;

/// The contents of a mesh file: the points, and the volume that the faces enclose.
///
/// ```no_run
/// use msd_scene::{Limits, Mesh};
/// use msd_sim::{BodyDef, Origin, World, math::Vec3};
///
/// let mesh = Mesh::open("gripper/finger.stl".as_ref(), &Limits::default())?;
/// let hull = mesh.hull(0.001)?; // The file is in millimeters.
/// let mut world = World::default();
/// // Where the file's own origin goes, not the center of mass.
/// world.add_body(BodyDef::inertial(hull).origin(Origin::Frame).position(Vec3::Z))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The points, each once, in the order of the file.
    pub(crate) points: Vec<Vec3>,
    /// The surface formed by the faces.
    pub(crate) surface: Surface,
}

impl Mesh {
    /// Reads an OBJ, STL, PLY, glTF or GLB file; buffers that a glTF file refers to must be in its folder.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, SceneError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Fault::new("expected a file name in UTF-8"));
        let mesh = name.and_then(|name| read(name, Some(folder), limits));
        mesh.map_err(|fault| SceneError::new(fault, &path.display().to_string(), None))
    }

    /// Returns the points, each once, in the order of the file.
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Returns the volume that the faces enclose, in units of the file, or `None` for a mesh that is not closed. Where
    /// it is less than the volume of the hull, the mesh is not convex.
    pub fn volume(&self) -> Option<f64> {
        match self.surface {
            Surface::Closed { volume } => Some(volume),
            Surface::Open | Surface::None => None,
        }
    }

    /// Creates the convex hull of the points, each multiplied by `scale` (0.001 for a file in millimeters).
    pub fn hull(&self, scale: f64) -> Result<Shape, ShapeError> {
        let points: Vec<Vec3> = self.points.iter().map(|&point| point * scale).collect();
        Shape::hull(&points)
    }
}

/// Reads a mesh file from the scene's folder.
pub(crate) fn load(file: &str, folder: Option<&Path>, limits: &Limits) -> Result<Mesh, Fault> {
    // Messages quote the input, which can be as long as the file.
    read(file, folder, limits).map_err(|fault| {
        let message: String = fault.message.chars().take(300).collect();
        Fault { message: format!("{file:?}: {message}"), ..fault }
    })
}

fn read(file: &str, folder: Option<&Path>, limits: &Limits) -> Result<Mesh, Fault> {
    let folder = folder
        .ok_or_else(|| Fault::new("meshes can be read only for a scene that is itself a file"))?;
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or("").to_ascii_lowercase();
    if !["obj", "stl", "ply", "gltf", "glb"].contains(&extension.as_str()) {
        let message = "expected a mesh file: .obj, .stl, .ply, .gltf or .glb";
        return Err(Fault::new(message));
    }
    let file = ConfinedFile::find(folder, folder, file)?;
    let bytes = file.read(limits.mesh_bytes)?;
    parse(&extension, &bytes, &file, limits)
}

/// Parses the bytes of a mesh file.
fn parse(
    extension: &str,
    bytes: &[u8],
    file: &ConfinedFile,
    limits: &Limits,
) -> Result<Mesh, Fault> {
    let mut builder = MeshBuilder::new(limits.points);
    match extension {
        "obj" => obj::read(bytes, &mut builder)?,
        "stl" => stl::read(bytes, &mut builder)?,
        "ply" => ply::read(bytes, &mut builder)?,
        "gltf" => gltf::read(bytes, None, file, limits.mesh_bytes, &mut builder)?,
        _ => gltf::read_binary(bytes, file, limits.mesh_bytes, &mut builder)?,
    }
    builder.mesh()
}
