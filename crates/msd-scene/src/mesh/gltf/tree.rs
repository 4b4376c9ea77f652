//! The nodes of a glTF document: which meshes are where.

use msd_sim::math::{Mat3, Quat, Vec3};

use super::document::{Document, Mesh, Node};
use crate::error::Fault;

/// A mesh put in its place by a node.
pub(super) struct Part<'d> {
    node: Option<usize>,
    pub(super) frame: Frame,
    pub(super) mesh: &'d Mesh,
}

impl Part<'_> {
    /// Whose mesh it is, as the end of a message.
    pub(super) fn name(&self) -> String {
        self.node.map_or(String::new(), |node| format!(" of node {node}"))
    }
}

/// A linear map and a translation.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    linear: Mat3,
    origin: Vec3,
}

impl Frame {
    const IDENTITY: Self = Self { linear: Mat3::IDENTITY, origin: Vec3::ZERO };

    pub(super) fn apply(&self, point: Vec3) -> Vec3 {
        self.linear * point + self.origin
    }

    /// Whether left becomes right, so that faces are wound the other way.
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
        // Written in single precision, mostly.
        if !((rotation.length() - 1.0).abs() <= 1e-3) {
            return Err("expected a rotation of length 1");
        }
        let scale = Vec3::from_array(node.scale.unwrap_or([1.0; 3]));
        let linear = Mat3::from_quat(rotation.normalize()) * Mat3::from_diagonal(scale);
        Ok(Self { linear, origin: Vec3::from_array(node.translation.unwrap_or([0.0; 3])) })
    }

    fn then(&self, inner: &Self) -> Self {
        Self { linear: self.linear * inner.linear, origin: self.apply(inner.origin) }
    }
}

/// The meshes of the default scene or the first one; without scenes those of all nodes, without
/// nodes all of them.
pub(super) fn parts<'d>(document: &'d Document<'d>) -> Result<Vec<Part<'d>>, Fault> {
    if document.nodes.is_empty() {
        let meshes = document.meshes.iter();
        let part = |mesh| Part { node: None, frame: Frame::IDENTITY, mesh };
        return Ok(meshes.map(part).collect());
    }
    let mut walk = Walk { reached: vec![false; document.nodes.len()], left: Vec::new() };
    let scene = document.scene.unwrap_or(0);
    match document.scenes.get(scene) {
        Some(scene) => walk.enter(&scene.nodes, &Frame::IDENTITY)?,
        None if document.scene.is_some() => {
            return Err(Fault::new(format!("there is no scene {scene}")));
        }
        None => walk.enter(&roots(document), &Frame::IDENTITY)?,
    }
    let mut parts = Vec::new();
    while let Some((index, outer)) = walk.left.pop() {
        let fault = |message: &str| Fault::new(format!("node {index}: {message}"));
        let Some(node) = document.nodes.get(index) else { continue };
        let frame = outer.then(&Frame::of(node).map_err(fault)?);
        walk.enter(&node.children, &frame)?;
        let Some(mesh) = node.mesh else { continue };
        if node.skin.is_some() {
            return Err(fault("expected a rigid mesh, found a skin"));
        }
        let Some(mesh) = document.meshes.get(mesh) else {
            return Err(fault(&format!("there is no mesh {mesh}")));
        };
        parts.push(Part { node: Some(index), frame, mesh });
    }
    if document.scenes.is_empty() && walk.reached.contains(&false) {
        return Err(Fault::new("expected a tree of nodes, found a cycle"));
    }
    Ok(parts)
}

/// Nodes to be visited, none twice: a cycle ends with an error, and nothing grows beyond the
/// number of nodes.
struct Walk {
    reached: Vec<bool>,
    left: Vec<(usize, Frame)>,
}

impl Walk {
    fn enter(&mut self, nodes: &[usize], outer: &Frame) -> Result<(), Fault> {
        for &index in nodes {
            match self.reached.get_mut(index) {
                None => return Err(Fault::new(format!("there is no node {index}"))),
                Some(true) => {
                    let message =
                        format!("node {index}: expected a tree of nodes, it is named twice");
                    return Err(Fault::new(message));
                }
                Some(reached) => *reached = true,
            }
            self.left.push((index, *outer));
        }
        Ok(())
    }
}

/// Nodes that are in no other.
fn roots(document: &Document<'_>) -> Vec<usize> {
    let mut inner = vec![false; document.nodes.len()];
    for &child in document.nodes.iter().flat_map(|node| &node.children) {
        if let Some(inner) = inner.get_mut(child) {
            *inner = true;
        }
    }
    (0..inner.len()).filter(|index| !inner[*index]).collect()
}
