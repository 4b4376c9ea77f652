//! The bodies and joints of a run by the indices that the page uses.

use std::collections::HashMap;

use msd_record::{BodyInfo, BodyKey, ColliderKey, JointRecord};
use msd_sim::{BodyKind, World};
use serde::Serialize;

use crate::names::{Names, body_name};
use crate::verdict::{Check, Verdict};

/// Maximum number of bodies that a check names to the page, which is sent all checks several times a second.
const MAX_CHECKED_BODIES: usize = 64;

/// The bodies of a run by the index that the page uses: the position in the list of all bodies ever added.
#[derive(Debug, Default)]
pub struct BodyTable {
    indices: HashMap<BodyKey, u32>,
    /// Indices by name, of unnamed bodies too; of several bodies of one name, that of the first.
    by_name: HashMap<String, u32>,
    names: Names,
    inertial: Vec<bool>,
    /// Gravity scales other than 1, by body index.
    gravity_scales: HashMap<u32, f64>,
    /// The joints of the scene.
    pub joints: Vec<JointInfo>,
    /// Positions in the list of joints, by slot and generation.
    joint_indices: HashMap<(u32, u32), u32>,
}

/// A joint: its kind, the indices of its bodies, and its anchors in each body's axes, from the center of mass, m.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JointInfo {
    kind: &'static str,
    pub a: u32,
    pub b: u32,
    anchor_a: [f64; 3],
    anchor_b: [f64; 3],
}

/// A check of the run, with its bodies by index.
#[derive(Clone, Debug, Serialize)]
pub struct CheckInfo {
    name: String,
    verdict: Verdict,
    message: String,
    step: Option<u64>,
    bodies: Vec<u32>,
}

impl BodyTable {
    /// Creates the table of a run's bodies and its world's joints.
    pub fn new<'a>(bodies: impl Iterator<Item = &'a BodyInfo>, world: Option<&World>) -> Self {
        let mut table = Self::default();
        bodies.for_each(|body| table.add(body));
        for (id, joint) in world.into_iter().flat_map(World::joints) {
            let [a, b] =
                joint.ends().map(|(body, anchor)| Some((table.index_of(body.into())?, anchor)));
            let Some(((a, anchor_a), (b, anchor_b))) = a.zip(b) else { continue };
            let (anchor_a, anchor_b) = (anchor_a.to_array(), anchor_b.to_array());
            let slot = (id.index() as u32, id.generation());
            table.joint_indices.insert(slot, table.joints.len() as u32);
            table.joints.push(JointInfo { kind: joint.kind().name(), a, b, anchor_a, anchor_b });
        }
        for body in world.into_iter().flat_map(World::bodies).filter(|b| b.gravity_scale() != 1.0) {
            let index = table.index_of(body.id().into());
            table.gravity_scales.extend(index.map(|index| (index, body.gravity_scale())));
        }
        table
    }

    /// Appends a body.
    pub fn add(&mut self, body: &BodyInfo) {
        let index = self.inertial.len() as u32;
        self.indices.insert(body.body, index);
        self.by_name.entry(body_name(&body.name, body.body)).or_insert(index);
        self.names.add_info(body);
        self.inertial.push(body.kind == BodyKind::Inertial);
    }

    /// Returns a body's index.
    pub fn index_of(&self, body: BodyKey) -> Option<u32> {
        self.indices.get(&body).copied()
    }

    /// Returns the index of a joint in the list of joints.
    pub fn index_of_joint(&self, joint: &JointRecord) -> Option<u32> {
        self.joint_indices.get(&(joint.index, joint.generation)).copied()
    }

    /// Returns a check with its bodies by index; a check names them, in recordings too.
    pub fn check(&self, check: Check) -> CheckInfo {
        let Check { name, verdict, message, step, bodies } = check;
        let indices = bodies.iter().filter_map(|body| self.by_name.get(body).copied());
        CheckInfo {
            name,
            verdict,
            message,
            step,
            bodies: indices.take(MAX_CHECKED_BODIES).collect(),
        }
    }

    /// Returns a body's display name.
    pub fn name(&self, body: BodyKey) -> String {
        self.names.quoted_body(body)
    }

    /// Returns the display name of a collider of a body.
    pub fn collider_name(&self, body: BodyKey, collider: ColliderKey) -> String {
        self.names.quoted_collider(body, collider)
    }

    /// Returns a collider's position in the list of its body's colliders; `u32::MAX` if it was added to its body later.
    pub fn collider_index(&self, body: BodyKey, collider: ColliderKey) -> u32 {
        self.names.position(body, collider).unwrap_or(u32::MAX)
    }

    /// Returns the body of a collider, unless the collider was added to its body later.
    pub fn owner(&self, collider: ColliderKey) -> Option<BodyKey> {
        self.names.owner(collider)
    }

    /// Returns the factor on a body's gravity.
    pub fn gravity_scale(&self, body: BodyKey) -> f64 {
        let scale = self.index_of(body).and_then(|index| self.gravity_scales.get(&index));
        scale.copied().unwrap_or(1.0)
    }

    /// Returns whether forces move the body.
    pub fn is_inertial(&self, index: u32) -> bool {
        self.inertial.get(index as usize).copied().unwrap_or(false)
    }
}
