//! Contact manifolds: up to four points with one normal, each with its own depth and persistent id.

use std::fmt;

use super::clip::{ClipPoint, Clipper};
use super::closed_form::{self, closed_form};
use super::cuboids::CuboidPair;
use super::edge::{self, Edge};
use super::feature::{FeatureKey, HALF_SPACE};
use super::gjk::Simplex;
use super::pair::{Pair, Reference};
use super::reduce::reduce;
use super::sat::CuboidFrames;
use super::separation::{LocalSeparation, Separation, Workspace, is_computable};
use super::shape::{Capsule, Plane, Shape};
use crate::math::{Mat3, Pose, Vec3};

/// The persistent id of a contact point: which feature of A meets which feature of B.
///
/// It stays the same from step to step as long as the same features meet, and differs between the
/// points of one manifold, so impulses cached for a point can be matched again. A sphere has at
/// most one point, whose id is always 0.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
#[doc(alias = "contact id")]
pub struct FeatureId(u64);

impl FeatureId {
    pub(crate) fn new(a: FeatureKey, b: FeatureKey) -> Self {
        Self(u64::from(a.0) << 32 | u64::from(b.0))
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the id as a number.
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// A contact point of two shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// Position midway between the two surfaces, in the world frame (meters).
    pub position: Vec3,
    /// Penetration depth here along the manifold's normal, in meters; negative for a gap.
    #[doc(alias = "penetration")]
    pub depth: f64,
    /// The features that meet here.
    pub feature: FeatureId,
}

/// A contact manifold: one normal and up to four points.
#[derive(Clone, Copy, Default, PartialEq)]
#[doc(alias = "contact manifold")]
pub struct Manifold {
    /// Unit normal from A to B, in world axes; zero if there is no point.
    pub normal: Vec3,
    points: [ContactPoint; 4],
    len: usize,
}

impl fmt::Debug for Manifold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manifold")
            .field("normal", &self.normal)
            .field("points", &self.points())
            .finish()
    }
}

impl Manifold {
    /// Returns the points; none if the shapes are farther apart than the margin.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.len]
    }

    /// Returns whether there are no points: the shapes are farther apart than the margin.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the largest depth of a point in meters; negative infinity if there is none.
    pub fn depth(&self) -> f64 {
        self.points().iter().map(|p| p.depth).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Creates a manifold without points.
    pub(crate) fn along(normal: Vec3) -> Self {
        Self { normal, ..Self::default() }
    }

    /// Transforms the manifold from the frame at `pose` into the world.
    pub(super) fn transformed(mut self, pose: &Pose) -> Self {
        if self.len > 0 {
            let turn = Mat3::from_quat(pose.rotation);
            self.normal = turn * self.normal;
            for point in &mut self.points[..self.len] {
                point.position = turn * point.position + pose.position;
            }
        }
        self
    }

    /// Exchanges the roles of A and B.
    fn swapped(mut self) -> Self {
        self.normal = -self.normal;
        for point in &mut self.points[..self.len] {
            point.feature.0 = point.feature.0.rotate_left(32);
        }
        self
    }

    pub(crate) fn push(&mut self, position: Vec3, depth: f64, feature: FeatureId) {
        if let Some(slot) = self.points.get_mut(self.len) {
            *slot = ContactPoint { position, depth, feature };
            self.len += 1;
        }
    }
}

/// The cache of a pair from one step to the next. It is valid only for these two shapes, in this
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "manifold cache")]
pub struct PairMemory {
    /// The simplex at which the last distance search ended.
    pub simplex: Simplex,
    /// The reference face of the last contact.
    pub(super) reference: Option<Reference>,
    /// Unit direction from A to B along which the shapes were last found separated, in A's axes.
    pub(super) separating_axis: Vec3,
    clearance: f64,
}

impl PairMemory {
    /// Returns a proven lower bound on the distance of the shapes after an empty manifold, in
    /// meters. It exceeds the margin, and no contact can occur before the shapes have approached by
    /// the difference. Zero after a manifold with points, and for a new pair.
    pub fn clearance(&self) -> f64 {
        self.clearance
    }

    /// Returns whether the shapes were separated in the last query.
    pub(super) fn was_separated(&self) -> bool {
        self.clearance > 0.0
    }

    /// Returns whether `distance`, a lower bound on the shapes' distance, exceeds `margin`, and
    /// records it as the clearance if it does.
    pub(super) fn record_separation(&mut self, distance: f64, margin: f64) -> bool {
        let apart = distance > margin;
        self.clearance = if apart && distance.is_finite() { distance } else { 0.0 };
        apart
    }
}

/// Returns the contact manifold of two shapes, including points with a gap of up to `margin`
/// meters.
///
/// It is empty if the shapes are farther apart, for two half-spaces, and if a relevant coordinate
/// of a pose is not finite. A negative margin counts as zero. The rotations must have unit length.
///
/// The normal is a face normal if one is almost as good as the direction of least depth (to a
/// thousandth of the smaller shape's width), so that resting bodies keep their four points;
/// [`separation`](super::separation()) has no such preference.
///
/// ```
/// use msd_sim::geometry::{contact_manifold, PairMemory, Shape, Workspace};
/// use msd_sim::math::{Pose, Vec3};
/// let floor = Shape::half_space(Vec3::Z, 0.0)?;
/// let cube = Shape::cuboid(Vec3::splat(0.5))?;
/// let at = Pose::at(Vec3::new(0.0, 0.0, 0.45));
/// let (mut memory, mut workspace) = (PairMemory::default(), Workspace::default());
/// let contact =
///     contact_manifold(&floor, &Pose::IDENTITY, &cube, &at, 0.01, &mut memory, &mut workspace);
/// assert_eq!(contact.points().len(), 4);
/// assert_eq!(contact.normal, Vec3::Z);
/// assert!(contact.points().iter().all(|p| (p.depth - 0.05).abs() < 1e-15));
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[doc(alias = "contacts")]
#[doc(alias = "collide")]
pub fn contact_manifold(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    memory: &mut PairMemory,
    workspace: &mut Workspace,
) -> Manifold {
    let margin = margin.max(0.0);
    let manifold = match (a, b) {
        (Shape::HalfSpace(_), Shape::HalfSpace(_)) => Manifold::default(),
        (Shape::Sphere(_), _) | (_, Shape::Sphere(_)) => match closed_form(a, pose_a, b, pose_b) {
            Some(nearest) => nearest.contact(margin, memory),
            None => general_manifold(a, pose_a, b, pose_b, margin, memory, workspace),
        },
        (Shape::HalfSpace(half), _) => {
            plane_manifold(&half.plane, pose_a, b, pose_b, margin, memory, workspace)
        }
        (_, Shape::HalfSpace(half)) => {
            plane_manifold(&half.plane, pose_b, a, pose_a, margin, memory, workspace).swapped()
        }
        (Shape::Capsule(a), Shape::Capsule(b)) => {
            capsule_manifold(a, pose_a, b, pose_b, margin, memory)
        }
        _ => general_manifold(a, pose_a, b, pose_b, margin, memory, workspace),
    };
    if manifold.is_empty() {
        return Manifold::default();
    }
    memory.clearance = 0.0;
    manifold
}

/// Returns the manifold of a pair without a closed form.
fn general_manifold(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    memory: &mut PairMemory,
    workspace: &mut Workspace,
) -> Manifold {
    let b_in_a = pose_a.relative(pose_b);
    if !is_computable(&b_in_a) {
        *memory = PairMemory::default();
        return Manifold::default();
    }
    let rotation = Mat3::from_quat(b_in_a.rotation);
    let pair = Pair { a, b, b_in_a: &b_in_a, rotation: &rotation, margin };
    let manifold = if let (Shape::Cuboid(a), Shape::Cuboid(b)) = (a, b) {
        let frames = CuboidFrames::new(a.half_extents, b.half_extents, &rotation, b_in_a.position);
        let poses = [pose_a, pose_b];
        let mut found = Manifold::default();
        match (CuboidPair { frames, rotation: &rotation, poses, margin })
            .fill_manifold(memory, &mut found)
        {
            None => return found,
            Some(id) => pair.closest_point_contact(id, memory, workspace),
        }
    } else {
        pair.manifold(memory, workspace)
    };
    manifold.transformed(pose_a)
}

/// Creates a manifold of one point, midway along the segment of signed length `distance` that
/// starts at `point_a`.
fn single_point(normal: Vec3, distance: f64, point_a: Vec3, feature: FeatureId) -> Manifold {
    let mut manifold = Manifold::along(normal);
    manifold.push(point_a + normal * (0.5 * distance), -distance, feature);
    manifold
}

impl Separation {
    /// Returns a one-point contact if the shapes are no farther apart than `margin`.
    fn contact(&self, margin: f64, memory: &mut PairMemory) -> Manifold {
        if memory.record_separation(self.distance, margin) || !self.distance.is_finite() {
            return Manifold::default();
        }
        single_point(self.normal, self.distance, self.point_a, FeatureId::default())
    }
}

impl LocalSeparation {
    /// Returns a one-point contact, in A's frame.
    pub(super) fn contact(&self, feature: FeatureId) -> Manifold {
        single_point(self.normal, self.distance, self.point_a, feature)
    }
}

/// Returns the manifold of a half-space A and any shape B: the corners of B's lowest feature.
fn plane_manifold(
    plane: &Plane,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    memory: &mut PairMemory,
    workspace: &mut Workspace,
) -> Manifold {
    let normal = pose_a.transform_vector(plane.normal);
    let down = -pose_b.inverse_transform_vector(normal);
    let height = normal.dot(pose_b.position - pose_a.position) - plane.offset;
    let lowest = height - b.reach(down);
    if memory.record_separation(lowest, margin) || !lowest.is_finite() {
        return Manifold::default();
    }
    let Workspace { features, clipper: Clipper { points, .. }, .. } = workspace;
    let feature = &mut features.b;
    feature.set_facing(b, down);
    points.clear();
    for corner in &feature.corners {
        let gap = height - down.dot(corner.position);
        if gap <= margin {
            points.push(ClipPoint {
                position: corner.position,
                gap,
                on_reference: HALF_SPACE,
                on_incident: corner.key,
            });
        }
    }
    reduce(points, down, b.least_width());
    let mut manifold = Manifold::along(normal);
    for p in points {
        let position = pose_b.transform_point(p.position + down * (0.5 * p.gap));
        manifold.push(position, -p.gap, FeatureId::new(p.on_reference, p.on_incident));
    }
    manifold
}

/// Returns the manifold of two capsules: the ends of their overlap if they lie side by side and
/// parallel, else one point.
fn capsule_manifold(
    a: &Capsule,
    pose_a: &Pose,
    b: &Capsule,
    pose_b: &Pose,
    margin: f64,
    memory: &mut PairMemory,
) -> Manifold {
    let nearest = closed_form::capsules(a, pose_a, b, pose_b);
    let single = nearest.contact(margin, memory);
    if single.is_empty() {
        return single;
    }
    let n = nearest.normal;
    let between = pose_b.position - pose_a.position;
    let side = |capsule: &Capsule, axis: Vec3, center: Vec3, n: Vec3| {
        let half = axis * capsule.half_height;
        let surface = center + n * capsule.radius;
        [surface - half, surface + half]
    };
    let (axis_a, axis_b) = (pose_a.z_axis(), pose_b.z_axis());
    // Capsules overlap lengthwise only side by side, not end to end.
    if n.dot(axis_a).abs().max(n.dot(axis_b).abs()) <= edge::PARALLEL {
        let edge_a = Edge::new(side(a, axis_a, Vec3::ZERO, n));
        let edge_b = Edge::new(side(b, axis_b, between, -n));
        if edge_a.is_parallel(&edge_b) {
            let mut manifold = edge_a.contact(&edge_b, n, margin);
            for point in &mut manifold.points[..manifold.len] {
                point.position += pose_a.position;
            }
            if !manifold.is_empty() {
                return manifold;
            }
        }
    }
    single
}
