//! The node tree of a glTF document: which meshes are instanced where.

use msd_sim::math::{Mat3, Quat, Vec3};

use super::document::{Document, Mesh, Node};
use crate::error::Fault;

/// A mesh and the transform of the node that instances it.
pub(super) struct MeshInstance<'d> {
    node: Option<usize>,
    pub(super) transform: AffineTransform,
    pub(super) mesh: &'d Mesh,
}

impl MeshInstance<'_> {
    /// Returns the node's name as the end of a message, such as ` of node 3`.
    pub(super) fn name(&self) -> String {
        self.node.map_or(String::new(), |node| format!(" of node {node}"))
    }
}

/// A linear map followed by a translation.
#[derive(Clone, Copy)]
pub(super) struct AffineTransform {
    linear: Mat3,
    origin: Vec3,
}

impl AffineTransform {
    const IDENTITY: Self = Self { linear: Mat3::IDENTITY, origin: Vec3::ZERO };

    pub(super) fn apply(&self, point: Vec3) -> Vec3 {
        self.linear * point + self.origin
    }

    /// Returns whether the map mirrors, which reverses the winding of faces.
    pub(super) fn mirrors(&self) -> bool {
        self.linear.determinant() < 0.0
    }

    fn of(node: &Node) -> Result<Self, &'static str> {
        if let Some(matrix) = &node.matrix {
            let column = |at: usize| Vec3::new(matrix[at], matrix[at + 1], matrix[at + 2]);
            if [matrix[3], matrix[7], matrix[11], matrix[15]] != [0.0, 0.0, 0.0, 1.0] {
                return Err("expected a matrix with the last row 0 0 0 1");
            }
            let linear = Mat3::from_cols(column(0), column(4), column(8));
            return Ok(Self { linear, origin: column(12) });
        }
        let rotation = Quat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
        // Most exporters write single precision.
        if !((rotation.length() - 1.0).abs() <= 1e-3) {
            return Err("expected a rotation of length 1");
        }
        let scale = Vec3::from_array(node.scale.unwrap_or([1.0; 3]));
        let linear = Mat3::from_quat(rotation.normalize()) * Mat3::from_diagonal(scale);
        Ok(Self { linear, origin: Vec3::from_array(node.translation.unwrap_or([0.0; 3])) })
    }

    fn compose(&self, inner: &Self) -> Self {
        Self { linear: self.linear * inner.linear, origin: self.apply(inner.origin) }
    }
}

/// Returns the mesh instances of the default scene, or of the first one; of all nodes if there are no scenes;
/// and every mesh once if there are no nodes.
pub(super) fn instances<'d>(document: &'d Document<'d>) -> Result<Vec<MeshInstance<'d>>, Fault> {
    if document.nodes.is_empty() {
        let meshes = document.meshes.iter();
        let instance =
            |mesh| MeshInstance { node: None, transform: AffineTransform::IDENTITY, mesh };
        return Ok(meshes.map(instance).collect());
    }
    let mut traversal =
        Traversal { reached: vec![false; document.nodes.len()], pending: Vec::new() };
    let scene = document.scene.unwrap_or(0);
    match document.scenes.get(scene) {
        Some(scene) => traversal.enter(&scene.nodes, &AffineTransform::IDENTITY)?,
        None if document.scene.is_some() => {
            return Err(Fault::new(format!("there is no scene {scene}")));
        }
        None => traversal.enter(&roots(document), &AffineTransform::IDENTITY)?,
    }
    let mut instances = Vec::new();
    while let Some((index, outer)) = traversal.pending.pop() {
        let fault = |message: &str| Fault::new(format!("node {index}: {message}"));
        let Some(node) = document.nodes.get(index) else { continue };
        let transform = outer.compose(&AffineTransform::of(node).map_err(fault)?);
        traversal.enter(&node.children, &transform)?;
        let Some(mesh) = node.mesh else { continue };
        if node.skin.is_some() {
            return Err(fault("expected a rigid mesh, found a skin"));
        }
        let Some(mesh) = document.meshes.get(mesh) else {
            return Err(fault(&format!("there is no mesh {mesh}")));
        };
        instances.push(MeshInstance { node: Some(index), transform, mesh });
    }
    if document.scenes.is_empty() && traversal.reached.contains(&false) {
        return Err(Fault::new("expected a tree of nodes, found a cycle"));
    }
    Ok(instances)
}

/// A traversal that visits each node at most once: a cycle is an error, and memory is bounded by the number of
/// nodes.
struct Traversal {
    reached: Vec<bool>,
    pending: Vec<(usize, AffineTransform)>,
}

impl Traversal {
    fn enter(&mut self, nodes: &[usize], outer: &AffineTransform) -> Result<(), Fault> {
        for &index in nodes {
            match self.reached.get_mut(index) {
                None => return Err(Fault::new(format!("there is no node {index}"))),
                Some(true) => {
                    let message =
                        format!("node {index}: expected a tree of nodes, found it listed twice");
                    return Err(Fault::new(message));
                }
                Some(reached) => *reached = true,
            }
            self.pending.push((index, *outer));
        }
        Ok(())
    }
}

/// Returns the nodes without a parent.
fn roots(document: &Document<'_>) -> Vec<usize> {
    let mut inner = vec![false; document.nodes.len()];
    for &child in document.nodes.iter().flat_map(|node| &node.children) {
        if let Some(inner) = inner.get_mut(child) {
            *inner = true;
        }
    }
    (0..inner.len()).filter(|index| !inner[*index]).collect()
}
