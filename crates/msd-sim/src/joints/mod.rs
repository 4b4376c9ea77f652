//! Joints: constraints and springs between two bodies.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::JointError;
use crate::id::{BodyId, JointId, Slots};
use crate::math::Vec3;

/// The kind of a joint: the relative motion it allows.
#[doc(alias = "GenericJoint")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum JointKind {
    /// The two anchors coincide; the bodies turn freely about them.
    #[doc(alias = "spherical")]
    Ball,
    /// The distance of the anchors stays within `min..=max` (m). Equal bounds make a rod, `min = 0` a rope.
    #[doc(alias = "tendon")]
    Distance {
        /// Smallest distance, m, 0 or more.
        min: f64,
        /// Largest distance, m, may be infinite.
        max: f64,
    },
    /// A spring between the anchors.
    Spring {
        /// Length without force, m.
        rest_length: f64,
        /// Stiffness, N/m.
        stiffness: f64,
        /// Damping, N s/m.
        damping: f64,
    },
}

impl JointKind {
    /// Returns its name: `ball joint`, `rod`, `rope`, `distance joint` or `spring`.
    pub fn name(&self) -> &'static str {
        match *self {
            Self::Ball => "ball joint",
            Self::Distance { min, max } if min == max => "rod",
            Self::Distance { min: 0.0, .. } => "rope",
            Self::Distance { .. } => "distance joint",
            Self::Spring { .. } => "spring",
        }
    }
}

impl std::fmt::Display for JointKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A joint to add to a [`World`](crate::World).
///
/// ```
/// use msd_sim::{BodyDef, JointDef, World, geometry::Shape, math::Vec3};
/// let mut world = World::default();
/// let hook = world.add_body(BodyDef::environment(Shape::sphere(0.1)?))?;
/// let bob = BodyDef::inertial(Shape::sphere(0.1)?).mass(1.0).position(Vec3::new(2.0, 0.0, 0.0));
/// let bob = world.add_body(bob)?;
/// world.add_joint(JointDef::rod(hook, bob, 2.0))?;
/// for _ in 0..120 {
///     world.step(1.0 / 60.0)?;
/// }
/// let distance = world.body(bob)?.position().length();
/// assert!((distance - 2.0).abs() < 1e-3);
/// # Ok::<(), msd_sim::Error>(())
/// ```
#[doc(alias = "SphericalJointBuilder")]
#[doc(alias = "ImpulseJoint")]
#[doc(alias = "equality")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[must_use]
pub struct JointDef {
    pub(crate) bodies: [BodyId; 2],
    pub(crate) anchors: [Vec3; 2],
    pub(crate) kind: JointKind,
    pub(crate) collide: bool,
}

impl JointDef {
    /// Creates a joint of a kind between the centers of mass of two bodies. Bodies that it joins do not collide, unless
    /// [`collide`](Self::collide) lets them.
    pub fn new(a: BodyId, b: BodyId, kind: JointKind) -> Self {
        Self { bodies: [a, b], anchors: [Vec3::ZERO; 2], kind, collide: false }
    }

    /// Creates a ball joint: the anchors coincide.
    #[doc(alias = "spherical")]
    #[doc(alias = "point to point")]
    pub fn ball(a: BodyId, b: BodyId) -> Self {
        Self::new(a, b, JointKind::Ball)
    }

    /// Creates a rod: the distance of the anchors stays `length`, m.
    pub fn rod(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::new(a, b, JointKind::Distance { min: length, max: length })
    }

    /// Creates a rope: the distance of the anchors is at most `length`, m.
    pub fn rope(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::new(a, b, JointKind::Distance { min: 0.0, max: length })
    }

    /// Creates a spring with a rest length (m), stiffness (N/m) and damping (N s/m).
    pub fn spring(a: BodyId, b: BodyId, rest_length: f64, stiffness: f64, damping: f64) -> Self {
        Self::new(a, b, JointKind::Spring { rest_length, stiffness, damping })
    }

    /// Returns its kind.
    pub fn kind(&self) -> JointKind {
        self.kind
    }

    /// Returns the two bodies, and the anchor on each: in the body's axes, from its center of mass, m.
    pub fn ends(&self) -> [(BodyId, Vec3); 2] {
        [0, 1].map(|end| (self.bodies[end], self.anchors[end]))
    }

    /// Sets the anchor on each body, in the body's axes, from its center of mass, m.
    pub fn anchors(mut self, on_a: Vec3, on_b: Vec3) -> Self {
        self.anchors = [on_a, on_b];
        self
    }

    /// Sets whether the two bodies still collide; they do not by default.
    pub fn collide(mut self, collide: bool) -> Self {
        self.collide = collide;
        self
    }

    fn check(&self) -> Result<(), JointError> {
        for (field, value) in [("anchor_a", self.anchors[0]), ("anchor_b", self.anchors[1])] {
            if !value.is_finite() {
                return Err(JointError::NotFinite { field, value });
            }
        }
        let length = "a finite length in meters, 0 or more";
        match self.kind {
            JointKind::Ball => Ok(()),
            JointKind::Distance { min, max } => {
                at_least_zero("min", min, length)?;
                if max >= min {
                    Ok(())
                } else {
                    let expected = "a length in meters not below min";
                    Err(JointError::OutOfRange { field: "max", value: max, expected })
                }
            }
            JointKind::Spring { rest_length, stiffness, damping } => {
                at_least_zero("rest_length", rest_length, length)?;
                at_least_zero("stiffness", stiffness, "a finite number of N/m, 0 or more")?;
                at_least_zero("damping", damping, "a finite number of N s/m, 0 or more")
            }
        }
    }
}

fn at_least_zero(
    field: &'static str,
    value: f64,
    expected: &'static str,
) -> Result<(), JointError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(JointError::OutOfRange { field, value, expected })
    }
}

/// All joints of a world.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct JointSet {
    pub(crate) slots: Slots,
    pub(crate) joints: Vec<Joint>,
    /// Pairs (smaller index first) that do not collide because of a joint, and the number of such joints.
    jointed_pairs: BTreeMap<(u32, u32), u32>,
    /// Body and joint, for both bodies of every joint.
    by_body: BTreeSet<(u32, u32)>,
}

/// A joint in a world.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Joint {
    pub(crate) bodies: [u32; 2],
    pub(crate) def: JointDef,
    /// Impulse of the last substep, N s, in world axes or along the line: the warm start.
    pub(crate) impulse: Vec3,
    /// Impulse on B since the step began, N s, in world axes.
    pub(crate) total: Vec3,
}

impl JointSet {
    /// Adds a joint, given the indices of its bodies and whether one of them is inertial.
    pub(crate) fn insert(
        &mut self,
        def: JointDef,
        bodies: [u32; 2],
        movable: bool,
    ) -> Result<JointId, JointError> {
        def.check()?;
        if bodies[0] == bodies[1] || !movable {
            let [a, b] = bodies;
            return Err(JointError::Bodies { kind: def.kind.name(), a, b });
        }
        let (index, generation) = self.slots.take();
        let joint = Joint { bodies, def, impulse: Vec3::ZERO, total: Vec3::ZERO };
        match self.joints.get_mut(index as usize) {
            Some(slot) => *slot = joint,
            None => self.joints.push(joint),
        }
        self.by_body.extend(bodies.map(|body| (body, index)));
        if let Some(pair) = disabled_pair(&joint) {
            *self.jointed_pairs.entry(pair).or_default() += 1;
        }
        Ok(JointId { index, generation })
    }

    pub(crate) fn remove(&mut self, id: JointId) -> Result<(), JointError> {
        self.find(id)?;
        self.remove_at(id.index);
        Ok(())
    }

    /// Removes the joints of a body.
    pub(crate) fn remove_body(&mut self, body: u32) {
        let indices: Vec<u32> = self.of(body).collect();
        indices.into_iter().for_each(|index| self.remove_at(index));
    }

    fn remove_at(&mut self, index: u32) {
        let joint = self.joints[index as usize];
        self.slots.free(index);
        for body in joint.bodies {
            self.by_body.remove(&(body, index));
        }
        let Some(pair) = disabled_pair(&joint) else { return };
        if let Entry::Occupied(mut count) = self.jointed_pairs.entry(pair) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Returns the indices of the joints of a body, ascending.
    pub(crate) fn of(&self, body: u32) -> impl Iterator<Item = u32> + '_ {
        self.by_body.range((body, 0)..=(body, u32::MAX)).map(|&(_, index)| index)
    }

    /// Clears the impulses summed over the last step of the joints for whose bodies `is_computed` holds.
    pub(crate) fn begin_step(&mut self, is_computed: impl Fn([u32; 2]) -> bool) {
        for joint in &mut self.joints {
            if is_computed(joint.bodies) {
                joint.total = Vec3::ZERO;
            }
        }
    }

    /// Moves the anchors of a body's joints, in its axes.
    pub(crate) fn shift_anchors(&mut self, body: u32, shift: Vec3) {
        for (_, index) in self.by_body.range((body, 0)..=(body, u32::MAX)) {
            let joint = &mut self.joints[*index as usize];
            for (anchor, end) in joint.def.anchors.iter_mut().zip(joint.bodies) {
                if end == body {
                    *anchor += shift;
                }
            }
        }
    }

    /// Clears the warm starts of a body's joints.
    pub(crate) fn forget(&mut self, body: u32) {
        for (_, index) in self.by_body.range((body, 0)..=(body, u32::MAX)) {
            self.joints[*index as usize].impulse = Vec3::ZERO;
        }
    }

    pub(crate) fn find(&self, id: JointId) -> Result<&Joint, JointError> {
        if self.slots.contains(id.index, id.generation) {
            Ok(&self.joints[id.index()])
        } else {
            Err(JointError::Unknown { index: id.index, generation: id.generation })
        }
    }

    /// Returns the handle of a joint.
    pub(crate) fn id(&self, index: u32) -> JointId {
        JointId { index, generation: self.slots.generation(index) }
    }

    /// Returns whether a joint keeps two bodies from colliding.
    pub(crate) fn is_jointed(&self, a: u32, b: u32) -> bool {
        !self.jointed_pairs.is_empty() && self.jointed_pairs.contains_key(&(a.min(b), a.max(b)))
    }
}

/// Returns the pair (smaller index first) that a joint keeps from colliding, if it does.
fn disabled_pair(joint: &Joint) -> Option<(u32, u32)> {
    let [a, b] = joint.bodies;
    (!joint.def.collide).then(|| (a.min(b), a.max(b)))
}
