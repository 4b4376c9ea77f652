//! Joints: what holds two bodies together besides contact.

use crate::error::JointError;
use crate::id::{BodyId, JointId, Slots};
use crate::math::Vec3;

/// What a joint allows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind {
    /// The two anchors coincide; the bodies turn freely about them.
    Ball,
    /// The distance of the anchors stays within `min..=max` (m). Equal bounds are a rod, `min = 0` a
    /// rope.
    Distance {
        /// Least distance, 0 or more.
        min: f64,
        /// Greatest distance, may be infinite.
        max: f64,
    },
    /// A spring between the anchors.
    Spring {
        /// Length at which it does not pull, m.
        rest_length: f64,
        /// N/m.
        stiffness: f64,
        /// N s/m.
        damping: f64,
    },
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
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct JointDef {
    pub(crate) bodies: [BodyId; 2],
    pub(crate) anchors: [Vec3; 2],
    pub(crate) kind: JointKind,
    pub(crate) collide: bool,
}

impl JointDef {
    /// A joint of a kind between the centres of mass of two bodies, which then do not collide.
    pub fn new(a: BodyId, b: BodyId, kind: JointKind) -> Self {
        Self { bodies: [a, b], anchors: [Vec3::ZERO; 2], kind, collide: false }
    }

    /// A ball joint.
    pub fn ball(a: BodyId, b: BodyId) -> Self {
        Self::new(a, b, JointKind::Ball)
    }

    /// A distance that stays `length`.
    pub fn rod(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::new(a, b, JointKind::Distance { min: length, max: length })
    }

    /// A distance of at most `length`.
    pub fn rope(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::new(a, b, JointKind::Distance { min: 0.0, max: length })
    }

    /// A spring with a rest length (m), stiffness (N/m) and damping (N s/m).
    pub fn spring(a: BodyId, b: BodyId, rest_length: f64, stiffness: f64, damping: f64) -> Self {
        Self::new(a, b, JointKind::Spring { rest_length, stiffness, damping })
    }

    /// What it allows.
    pub fn kind(&self) -> JointKind {
        self.kind
    }

    /// The two bodies, and where each is held: in its axes, from its centre of mass, m.
    pub fn ends(&self) -> [(BodyId, Vec3); 2] {
        [0, 1].map(|end| (self.bodies[end], self.anchors[end]))
    }

    /// Where it holds each body, in the body's own frame (origin: centre of mass).
    pub fn anchors(mut self, on_a: Vec3, on_b: Vec3) -> Self {
        self.anchors = [on_a, on_b];
        self
    }

    /// Whether the two bodies still collide. Default: no.
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
        let length = "a finite length in metres, 0 or more";
        match self.kind {
            JointKind::Ball => Ok(()),
            JointKind::Distance { min, max } => {
                at_least_zero("min", min, length)?;
                if max >= min {
                    Ok(())
                } else {
                    let expected = "a length in metres not below min";
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
#[derive(Clone, Debug, Default)]
pub(crate) struct JointSet {
    pub(crate) slots: Slots,
    pub(crate) joints: Vec<Joint>,
    /// Pairs (smaller index first) that do not collide because a joint holds them, sorted.
    exempt: Vec<(u32, u32)>,
}

/// A joint in a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joint {
    pub(crate) bodies: [u32; 2],
    pub(crate) def: JointDef,
    /// Impulse of the last substep, in world axes or along the line: the warm start.
    pub(crate) impulse: Vec3,
    /// Impulse on B since the step began, in world axes.
    pub(crate) total: Vec3,
}

impl JointSet {
    /// Adds a joint whose bodies the caller has looked up.
    pub(crate) fn insert(
        &mut self,
        def: JointDef,
        bodies: [u32; 2],
        movable: bool,
    ) -> Result<JointId, JointError> {
        def.check()?;
        if bodies[0] == bodies[1] || !movable {
            return Err(JointError::Bodies { a: bodies[0], b: bodies[1] });
        }
        let (index, generation) = self.slots.take();
        let joint = Joint { bodies, def, impulse: Vec3::ZERO, total: Vec3::ZERO };
        match self.joints.get_mut(index as usize) {
            Some(slot) => *slot = joint,
            None => self.joints.push(joint),
        }
        self.refresh_exempt();
        Ok(JointId { index, generation })
    }

    pub(crate) fn remove(&mut self, id: JointId) -> Result<(), JointError> {
        self.find(id)?;
        self.slots.free(id.index);
        self.refresh_exempt();
        Ok(())
    }

    /// Removes the joints of a body.
    pub(crate) fn remove_body(&mut self, body: u32) {
        for index in 0..self.joints.len() as u32 {
            let holds = self.joints[index as usize].bodies.contains(&body);
            if holds && self.slots.is_occupied(index) {
                self.slots.free(index);
            }
        }
        self.refresh_exempt();
    }

    /// Forgets what was added up over the last step.
    pub(crate) fn begin_step(&mut self) {
        for joint in &mut self.joints {
            joint.total = Vec3::ZERO;
        }
    }

    /// Forgets the impulses of a body's joints.
    pub(crate) fn forget(&mut self, body: u32) {
        for joint in self.joints.iter_mut().filter(|joint| joint.bodies.contains(&body)) {
            joint.impulse = Vec3::ZERO;
        }
    }

    pub(crate) fn find(&self, id: JointId) -> Result<&Joint, JointError> {
        if self.slots.contains(id.index, id.generation) {
            Ok(&self.joints[id.index()])
        } else {
            Err(JointError::Unknown { index: id.index, generation: id.generation })
        }
    }

    /// The handle of a living joint.
    pub(crate) fn id(&self, index: u32) -> JointId {
        JointId { index, generation: self.slots.generation(index) }
    }

    /// Whether a joint keeps these two (smaller index first) from colliding.
    pub(crate) fn exempts(&self, a: u32, b: u32) -> bool {
        !self.exempt.is_empty() && self.exempt.binary_search(&(a, b)).is_ok()
    }

    fn refresh_exempt(&mut self) {
        self.exempt.clear();
        for index in self.slots.iter() {
            let joint = &self.joints[index as usize];
            if !joint.def.collide {
                let [a, b] = joint.bodies;
                self.exempt.push((a.min(b), a.max(b)));
            }
        }
        self.exempt.sort_unstable();
        self.exempt.dedup();
    }
}
