//! Contact manifolds: up to four points with one normal, each with its own depth and lasting name.

use std::fmt;

use super::clip::{ClipPoint, Clipper};
use super::closed_form::{self, closed_form};
use super::edge::{self, Edge};
use super::feature::{Feature, FeatureName, Features, HALF_SPACE};
use super::gjk::Simplex;
use super::reduce::reduce;
use super::sat;
use super::separation::{LocalSeparation, Separation, Workspace, is_computable, local_separation};
use super::shape::{Capsule, Cuboid, Plane, Shape};
use crate::math::{Mat3, Pose, Vec3, unrotate};

/// The name of a contact point: which feature of A meets which of B.
///
/// It stays the same from step to step as long as the same features meet, and differs between the
/// points of one manifold, so what is known of a point can be found again. A ball has one point at
/// most, whose name is always 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(u64);

impl FeatureId {
    pub(crate) fn new(a: FeatureName, b: FeatureName) -> Self {
        Self(u64::from(a.0) << 32 | u64::from(b.0))
    }

    /// The name as a number.
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// One point at which two shapes touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// Midway between the two surfaces, in the world.
    pub position: Vec3,
    /// How deep the shapes are in each other here, along the manifold's normal, in metres.
    /// Negative is a gap.
    pub depth: f64,
    /// Which features meet.
    pub feature: FeatureId,
}

/// Where two shapes touch: one normal and up to four points.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Manifold {
    /// Unit direction from A to B, in the world; zero if there is no point.
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
    /// The points, none if the shapes are farther apart than the margin.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.len]
    }

    /// Whether the shapes are farther apart than the margin.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest depth of a point, negative infinity if there is none.
    pub fn depth(&self) -> f64 {
        self.points().iter().map(|p| p.depth).fold(f64::NEG_INFINITY, f64::max)
    }

    /// No points yet.
    pub(crate) fn along(normal: Vec3) -> Self {
        Self { normal, ..Self::default() }
    }

    /// The same for the shapes in the other order.
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

/// What is remembered of a pair from one step to the next: of these two shapes, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairMemory {
    /// Where the last distance search ended.
    pub simplex: Simplex,
    /// The face that the contact was measured from.
    reference: Option<Reference>,
}

/// A face of one of the two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reference {
    side: Side,
    face: FeatureName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    A,
    B,
}

/// A face is the contact's reference unless the true direction has a gap larger by this much,
/// relative to the smaller shape's width. Edges that cross almost in the plane of two faces, and
/// the tilts of resting bodies, so become faces on faces.
const FACE_PREFERENCE: f64 = 1e-3;

/// The reference stays the face that it was unless another's gap is larger by this much, relative
/// to the smaller shape's width.
const HYSTERESIS: f64 = 1e-4;

/// Where two shapes touch or, within `margin` metres, are about to.
///
/// Empty if they are farther apart, for two half-spaces, and if what counts of a pose is not finite.
/// A negative margin counts as zero. The poses' rotations must be of unit length.
///
/// The normal is a face's where one is almost as good as the direction of least depth (to a
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
            Some(nearest) => nearest.contact(margin),
            None => searched(a, pose_a, b, pose_b, margin, memory, workspace),
        },
        (Shape::HalfSpace(half), _) => on_plane(&half.plane, pose_a, b, pose_b, margin, workspace),
        (_, Shape::HalfSpace(half)) => {
            on_plane(&half.plane, pose_b, a, pose_a, margin, workspace).swapped()
        }
        (Shape::Capsule(a), Shape::Capsule(b)) => capsules(a, pose_a, b, pose_b, margin),
        _ => searched(a, pose_a, b, pose_b, margin, memory, workspace),
    };
    if manifold.is_empty() { Manifold::default() } else { manifold }
}

/// Pairs without a closed form.
fn searched(
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
        return Manifold::default();
    }
    let rotation = Mat3::from_quat(b_in_a.rotation);
    let pair = Pair { a, b, b_in_a: &b_in_a, rotation: &rotation, margin };
    let mut manifold = match (a, b) {
        (Shape::Cuboid(cuboid_a), Shape::Cuboid(cuboid_b)) => {
            pair.cuboids(cuboid_a, cuboid_b, memory, workspace)
        }
        _ => pair.general(memory, workspace),
    };
    // From A's frame to the world.
    manifold.normal = pose_a.transform_vector(manifold.normal);
    for point in &mut manifold.points[..manifold.len] {
        point.position = pose_a.transform_point(point.position);
    }
    manifold
}

/// One point, halfway along the shortest way, which starts at `point_a`.
fn at_point(normal: Vec3, distance: f64, point_a: Vec3, feature: FeatureId) -> Manifold {
    let mut manifold = Manifold::along(normal);
    manifold.push(point_a + normal * (0.5 * distance), -distance, feature);
    manifold
}

impl Separation {
    /// A contact of one point, if the shapes are no farther apart than `margin`.
    fn contact(&self, margin: f64) -> Manifold {
        if self.distance.is_finite() && self.distance <= margin {
            at_point(self.normal, self.distance, self.point_a, FeatureId::default())
        } else {
            Manifold::default()
        }
    }
}

impl LocalSeparation {
    /// A contact of one point, in A's frame.
    fn contact(&self, feature: FeatureId) -> Manifold {
        at_point(self.normal, self.distance, self.point_a, feature)
    }
}

/// A half-space A and any shape B: the corners of B's lowest feature.
fn on_plane(
    plane: &Plane,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    workspace: &mut Workspace,
) -> Manifold {
    let normal = pose_a.transform_vector(plane.normal);
    let down = -pose_b.inverse_transform_vector(normal);
    let Workspace { features, clipper: Clipper { points, .. }, .. } = workspace;
    let feature = &mut features.b;
    feature.set_facing(b, down);
    points.clear();
    let height = normal.dot(pose_b.position - pose_a.position) - plane.offset;
    if !height.is_finite() {
        return Manifold::default();
    }
    for corner in &feature.corners {
        let gap = height - down.dot(corner.position);
        if gap <= margin {
            points.push(ClipPoint {
                position: corner.position,
                gap,
                on_reference: HALF_SPACE,
                on_incident: corner.name,
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

/// Two capsules: the ends of their common stretch if they lie along each other, else one point.
fn capsules(a: &Capsule, pose_a: &Pose, b: &Capsule, pose_b: &Pose, margin: f64) -> Manifold {
    let nearest = closed_form::capsules(a, pose_a, b, pose_b);
    if !(nearest.distance <= margin) {
        return Manifold::default();
    }
    let n = nearest.normal;
    let between = pose_b.position - pose_a.position;
    let side = |capsule: &Capsule, axis: Vec3, centre: Vec3, n: Vec3| {
        let half = axis * capsule.half_height;
        let surface = centre + n * capsule.radius;
        [surface - half, surface + half]
    };
    let (axis_a, axis_b) = (pose_a.z_axis(), pose_b.z_axis());
    // Only beside each other, not end to end, do they have a stretch in common.
    if n.dot(axis_a).abs().max(n.dot(axis_b).abs()) <= edge::PARALLEL {
        let edge_a = Edge::new(side(a, axis_a, Vec3::ZERO, n));
        let edge_b = Edge::new(side(b, axis_b, between, -n));
        if edge_a.is_parallel(&edge_b) {
            let mut manifold = edge_a.touch(&edge_b, n, margin);
            for point in &mut manifold.points[..manifold.len] {
                point.position += pose_a.position;
            }
            if !manifold.is_empty() {
                return manifold;
            }
        }
    }
    nearest.contact(margin)
}

/// Two shapes in A's frame.
struct Pair<'a> {
    a: &'a Shape,
    b: &'a Shape,
    b_in_a: &'a Pose,
    rotation: &'a Mat3,
    margin: f64,
}

impl Pair<'_> {
    /// The smaller shape's width, which tolerances are relative to.
    fn size(&self) -> f64 {
        self.a.least_width().min(self.b.least_width())
    }

    fn general(&self, memory: &mut PairMemory, workspace: &mut Workspace) -> Manifold {
        let Some(nearest) = self.nearest(memory, workspace) else { return Manifold::default() };
        if matches!(self.a, Shape::Sphere(_)) || matches!(self.b, Shape::Sphere(_)) {
            return nearest.contact(FeatureId::default());
        }
        self.along(nearest.normal, nearest.distance, memory, workspace)
            .unwrap_or_else(|| nearest.contact(workspace.features.id()))
    }

    fn cuboids(
        &self,
        a: &Cuboid,
        b: &Cuboid,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Manifold {
        let (a, b) = (a.half_extents, b.half_extents);
        let axis = sat::cuboids(a, b, self.rotation, self.b_in_a.position, self.margin);
        let Some(axis) = axis else { return Manifold::default() };
        self.along(axis.normal, axis.gap, memory, workspace).unwrap_or_else(|| {
            let nearest = self.nearest(memory, workspace);
            nearest.map_or_else(Manifold::default, |n| n.contact(workspace.features.id()))
        })
    }

    fn nearest(
        &self,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Option<LocalSeparation> {
        let Self { a, b, b_in_a, margin, .. } = *self;
        local_separation(a, b, b_in_a, margin, &mut memory.simplex, &mut workspace.search)
    }

    /// The contact of the features that face each other along `n`, the direction of the largest gap.
    ///
    /// None if the shapes come nearer each other than any point found: they meet beside these.
    fn along(
        &self,
        n: Vec3,
        gap: f64,
        memory: &mut PairMemory,
        workspace: &mut Workspace,
    ) -> Option<Manifold> {
        let size = self.size();
        let Workspace { features, clipper, .. } = workspace;
        features.a.set_facing(self.a, n);
        self.set_facing_b(&mut features.b, n);
        let side = self.reference(n, gap, memory, features);
        memory.reference = side.map(|side| Reference { side, face: features.of(side).name });
        let found = match side {
            Some(side) => {
                match side {
                    // What faces n faces the same direction by another name.
                    _ if is_same(features.outward(side), n) => {}
                    Side::A => self.set_facing_b(&mut features.b, features.a.normal),
                    Side::B => features.a.set_facing(self.a, -features.b.normal),
                }
                self.on_face(side, features, clipper)
            }
            None => self.on_edges(n, features),
        };
        let misses = found.is_empty() || found.depth() < -gap - FACE_PREFERENCE * size;
        (!misses).then_some(found)
    }

    /// The side whose face is the contact's reference: that of the larger gap, if it is not clearly
    /// less than the `gap` along `n`. The face that it was before has an advantage, even where it no
    /// longer faces `n`.
    fn reference(
        &self,
        n: Vec3,
        gap: f64,
        memory: &PairMemory,
        features: &mut Features,
    ) -> Option<Side> {
        let advantage = HYSTERESIS * self.size();
        let before = memory.reference;
        let mut best: Option<(f64, Side)> = None;
        for side in [Side::A, Side::B] {
            let feature = features.of(side);
            if !feature.is_face() {
                continue;
            }
            let favoured = match before {
                Some(before) => before == Reference { side, face: feature.name },
                None => side == Side::A,
            };
            let known = is_same(features.outward(side), n);
            let gap = if known { gap } else { self.gap_beyond(side, feature) };
            let gap = if favoured { gap + advantage } else { gap };
            if best.is_none_or(|(largest, _)| gap > largest) {
                best = Some((gap, side));
            }
        }
        if let Some(Reference { side, face }) = before
            && face != features.of(side).name
            && self.set_face(side, face, n, &mut features.spare)
        {
            let gap = self.gap_beyond(side, &features.spare) + advantage;
            if best.is_none_or(|(largest, _)| gap > largest) {
                best = Some((gap, side));
                match side {
                    Side::A => std::mem::swap(&mut features.a, &mut features.spare),
                    Side::B => std::mem::swap(&mut features.b, &mut features.spare),
                }
            }
        }
        let enough = gap - FACE_PREFERENCE * self.size();
        best.filter(|&(gap, _)| gap >= enough).map(|(_, side)| side)
    }

    fn set_facing_b(&self, feature: &mut Feature, n: Vec3) {
        feature.set_facing(self.b, unrotate(self.rotation, -n));
        feature.transform(self.rotation, self.b_in_a);
    }

    /// Sets a feature to a face of one side by its name.
    fn set_face(&self, side: Side, face: FeatureName, n: Vec3, feature: &mut Feature) -> bool {
        if side == Side::A {
            return feature.set_face(self.a, face, n);
        }
        let found = feature.set_face(self.b, face, unrotate(self.rotation, -n));
        if found {
            feature.transform(self.rotation, self.b_in_a);
        }
        found
    }

    /// How far all of the other shape lies beyond the plane of a face.
    fn gap_beyond(&self, side: Side, face: &Feature) -> f64 {
        let nearest = match side {
            Side::A => {
                let support = self.b.support(unrotate(self.rotation, -face.normal));
                *self.rotation * support + self.b_in_a.position
            }
            Side::B => self.a.support(-face.normal),
        };
        face.normal.dot(nearest - face.anchor)
    }

    /// Points of one feature over a face of the other.
    fn on_face(&self, side: Side, features: &Features, clipper: &mut Clipper) -> Manifold {
        let (reference, incident) = match side {
            Side::A => (&features.a, &features.b),
            Side::B => (&features.b, &features.a),
        };
        clipper.clip(reference, incident, self.margin, self.size());
        reduce(&mut clipper.points, reference.normal, self.size());
        let sign = if side == Side::A { 1.0 } else { -1.0 };
        let mut manifold = Manifold::along(reference.normal * sign);
        for p in &clipper.points {
            let feature = match side {
                Side::A => FeatureId::new(p.on_reference, p.on_incident),
                Side::B => FeatureId::new(p.on_incident, p.on_reference),
            };
            manifold.push(p.position - reference.normal * (0.5 * p.gap), -p.gap, feature);
        }
        manifold
    }

    /// Two edges, or nothing if one feature is a corner.
    fn on_edges(&self, n: Vec3, features: &mut Features) -> Manifold {
        let tolerance = FACE_PREFERENCE * self.size();
        features.a.narrow(n, tolerance);
        features.b.narrow(-n, tolerance);
        match (Edge::of(&features.a), Edge::of(&features.b)) {
            (Some(a), Some(b)) => a.touch(&b, n, self.margin),
            _ => Manifold::default(),
        }
    }
}

impl Features {
    fn of(&self, side: Side) -> &Feature {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// The normal of one side's feature as a direction from A to B.
    fn outward(&self, side: Side) -> Vec3 {
        match side {
            Side::A => self.a.normal,
            Side::B => -self.b.normal,
        }
    }

    /// The name of a contact between the two.
    fn id(&self) -> FeatureId {
        FeatureId::new(self.a.name, self.b.name)
    }
}

/// Whether two unit vectors differ by rounding only.
fn is_same(n: Vec3, other: Vec3) -> bool {
    n.distance_squared(other) <= 64.0 * f64::EPSILON * f64::EPSILON
}
