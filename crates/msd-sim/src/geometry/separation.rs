//! The signed distance of two shapes: positive for a gap, negative for penetration, for every pair
//! of shapes.

use super::clip::Clipper;
use super::closed_form::{closed_form, has_few_faces};
use super::epa::{self, Polytope};
use super::feature::Features;
use super::gjk::{self, Outcome, Simplex};
use super::minkowski::{Core, Difference};
use super::sat::{self, Facets};
use super::shape::Shape;
use super::simplex::Nearest;
use super::tetrahedron;
use crate::math::{Pose, Vec3};

/// The signed distance of two shapes, with its direction and witness points.
///
/// Moving B by `-distance` along `normal` leaves the shapes just touching.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "closest points")]
#[doc(alias = "penetration")]
pub struct Separation {
    /// Unit normal from A to B, in world axes.
    pub normal: Vec3,
    /// The gap in meters; if negative, minus the penetration depth.
    pub distance: f64,
    /// The point of A nearest to B, or deepest in it (world, meters).
    pub point_a: Vec3,
    /// The point of B nearest to A, or deepest in it (world, meters).
    pub point_b: Vec3,
    /// Error bound in meters: the true distance differs by no more than this, apart from rounding.
    pub error: f64,
    /// Whether the search stopped with an error above a billionth of the pair's size.
    pub approximate: bool,
}

/// The buffers of pair queries: one per thread, reused for every pair.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(crate) search: SearchBuffers,
    pub(crate) features: Features,
    pub(crate) clipper: Clipper,
}

/// The buffers of a penetration search.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchBuffers {
    polytope: Polytope,
    facets: [Facets; 2],
}

/// Returns the signed distance of two shapes, with its direction and witness points.
///
/// The rotations of the poses must have unit length, as [`Pose::is_valid`] checks.
///
/// The search starts from `simplex` (`Simplex::default()` for a new pair) and stores where it ended
/// there, which makes the next query for the same pair faster.
///
/// Returns `None` for two half-spaces that do not face each other, whose overlap is unbounded, and
/// if a relevant coordinate of a pose is not finite.
///
/// ```
/// use msd_sim::geometry::{separation, Shape, Simplex, Workspace};
/// use msd_sim::math::{Pose, Vec3};
/// let cube = Shape::cuboid(Vec3::splat(0.5))?;
/// let (a, b) = (Pose::IDENTITY, Pose::at(Vec3::new(0.0, 0.0, 0.95)));
/// let found = separation(&cube, &a, &cube, &b, &mut Simplex::default(), &mut Workspace::default());
/// let found = found.expect("bounded shapes");
/// assert!((found.normal - Vec3::Z).length() < 1e-15);
/// assert!((found.depth() - 0.05).abs() < 1e-15);
/// assert!(found.residual(&cube, &a, &cube, &b) < 1e-15);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[doc(alias = "closest points")]
#[doc(alias = "penetration depth")]
#[doc(alias = "GJK")]
#[doc(alias = "EPA")]
pub fn separation(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    simplex: &mut Simplex,
    workspace: &mut Workspace,
) -> Option<Separation> {
    let limit = f64::INFINITY;
    let found = match closed_form(a, pose_a, b, pose_b) {
        Some(found) => found,
        None => {
            let b_in_a = pose_a.relative(pose_b);
            let search = &mut workspace.search;
            local_separation(a, b, &b_in_a, limit, simplex, search)?.in_world(pose_a, pose_b)
        }
    };
    // A coordinate that is not finite makes the distance not finite.
    if !found.distance.is_finite() {
        return None;
    }
    debug_assert!(
        !(pose_a.is_valid() && pose_b.is_valid())
            || found.residual(a, pose_a, b, pose_b) <= found.tolerance(a, pose_a, b, pose_b),
        "residual {} of {found:?} for {a:?} at {pose_a:?}, {b:?} at {pose_b:?}",
        found.residual(a, pose_a, b, pose_b)
    );
    Some(found)
}

/// Returns the distance of two shapes in meters: zero if they overlap or touch, or if a pose is not
/// finite.
///
/// Computes less than [`separation`] and is faster if only the distance is needed.
///
/// ```
/// use msd_sim::geometry::{Shape, distance};
/// use msd_sim::math::{Pose, Vec3};
/// let (ball, cone) = (Shape::sphere(0.5)?, Shape::cone(0.3, 1.0)?);
/// let above = Pose::at(Vec3::new(0.0, 0.0, 1.75));
/// assert_eq!(distance(&cone, &Pose::IDENTITY, &ball, &above), 0.25);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
pub fn distance(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    let to_ball = |radius: f64, center: Vec3, other: &Shape, pose: &Pose| match other {
        Shape::Sphere(other) => center.distance(pose.position) - (radius + other.radius),
        _ => other.distance_outside(pose.inverse_transform_point(center)) - radius,
    };
    let distance = match (a, b) {
        (Shape::Sphere(a), _) if has_few_faces(b) => to_ball(a.radius, pose_a.position, b, pose_b),
        (_, Shape::Sphere(b)) if has_few_faces(a) => to_ball(b.radius, pose_b.position, a, pose_a),
        _ => match closed_form(a, pose_a, b, pose_b) {
            Some(found) => found.distance,
            None => searched_distance(a, b, &pose_a.relative(pose_b)).unwrap_or(0.0),
        },
    };
    // Written so that NaN becomes zero.
    if distance > 0.0 && distance.is_finite() { distance } else { 0.0 }
}

fn searched_distance(a: &Shape, b: &Shape, b_in_a: &Pose) -> Option<f64> {
    let ((core_a, radius_a), (core_b, radius_b)) = (a.core()?, b.core()?);
    let mut difference = Difference::new(core_a, core_b, b_in_a);
    let (simplex, mut nearest) = (&mut Simplex::default(), Nearest::default());
    match gjk::distance(&mut difference, simplex, f64::INFINITY, &mut nearest) {
        Outcome::Separated { distance, .. } => Some(distance - (radius_a + radius_b)),
        Outcome::BeyondLimit { .. } | Outcome::Overlapping => None,
        Outcome::Stalled => {
            let search = &mut SearchBuffers::default();
            let found = core_separation(&mut difference, f64::INFINITY, simplex, search)?;
            Some(found.distance - (radius_a + radius_b))
        }
    }
}

impl Separation {
    /// Creates the result of a closed form.
    pub(super) fn exact(normal: Vec3, distance: f64, point_a: Vec3, point_b: Vec3) -> Self {
        Self { normal, distance, point_a, point_b, error: 0.0, approximate: false }
    }

    /// Returns the penetration depth in meters, zero if the shapes are separated.
    pub fn depth(&self) -> f64 {
        (-self.distance).max(0.0)
    }

    /// Returns by how much this result fails its own check for these shapes, in meters.
    ///
    /// The gap between the shapes' support points along `normal` must equal `distance`, and
    /// `point_b - point_a` must equal `distance` times `normal`. The larger deviation is returned.
    pub fn residual(&self, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
        let witness_error = (self.point_b - self.point_a - self.normal * self.distance).length();
        let reach = |shape: &Shape, pose: &Pose, n: Vec3| match shape {
            // A half-space has a finite reach along its own normal only.
            Shape::HalfSpace(s) => {
                let turned = (pose.inverse_transform_vector(n) - s.plane.normal).length();
                if turned <= SAME_NORMAL { s.plane.offset } else { f64::INFINITY }
            }
            _ => n.dot(pose.rotation * shape.support(pose.inverse_transform_vector(n))),
        };
        let (a, b) = (reach(a, pose_a, self.normal), reach(b, pose_b, -self.normal));
        let between = self.normal.dot(pose_b.position - pose_a.position);
        let gap_error = (between - b - a - self.distance).abs();
        // Not `max`, which would hide a NaN.
        if gap_error <= witness_error { witness_error } else { gap_error + 0.0 * witness_error }
    }

    /// Returns the residual that the search's tolerance and rounding can explain.
    fn tolerance(&self, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
        let bounded = |shape: &Shape| match shape {
            Shape::HalfSpace(s) => s.plane.offset.abs(),
            _ => shape.bounding_radius(),
        };
        let size = bounded(a) + bounded(b) + (pose_b.position - pose_a.position).length();
        let coordinates = f64::EPSILON * (pose_a.position.length() + pose_b.position.length());
        // The direction between two close points is uncertain by their rounding over their
        // distance, which moves the far ends of the shapes.
        let noise = 64.0 * (coordinates + f64::EPSILON * size);
        let turned =
            if self.distance > 0.0 { (noise / self.distance).min(1.0) * size } else { 0.0 };
        self.error + 4.0 * CHECK_TOLERANCE * size + noise + turned
    }

    /// Exchanges the roles of A and B.
    pub(super) fn swapped(self) -> Self {
        let (point_a, point_b) = (self.point_b, self.point_a);
        Self { normal: -self.normal, point_a, point_b, ..self }
    }
}

/// A separation in the shapes' own frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalSeparation {
    /// Unit normal from A to B, in A's axes.
    pub normal: Vec3,
    pub distance: f64,
    /// The witness point of A, in A's frame.
    pub point_a: Vec3,
    /// The witness point of B, in B's frame.
    pub point_b: Vec3,
    pub error: f64,
    pub approximate: bool,
}

impl LocalSeparation {
    /// Creates a separation without witness points.
    fn along(normal: Vec3, distance: f64) -> Self {
        Self {
            normal,
            distance,
            point_a: Vec3::ZERO,
            point_b: Vec3::ZERO,
            error: 0.0,
            approximate: false,
        }
    }

    fn in_world(&self, pose_a: &Pose, pose_b: &Pose) -> Separation {
        Separation {
            normal: pose_a.transform_vector(self.normal),
            distance: self.distance,
            point_a: pose_a.transform_point(self.point_a),
            point_b: pose_b.transform_point(self.point_b),
            error: self.error,
            approximate: self.approximate,
        }
    }
}

/// Angle (radians) within which a normal counts as a half-space's own: rotations accepted as valid
/// may turn it by a few roundings.
const SAME_NORMAL: f64 = 1e-12;

/// A penetration whose witness points disagree with it by more than this, relative to the pair's
/// size, is recomputed by separating axes.
const CHECK_TOLERANCE: f64 = 1e-9;

/// Computes [`separation`] by search, in the shapes' own frames. If the distance exceeds `limit`,
/// the result may have no witness points, and its `distance` is a lower bound along `normal`.
pub(crate) fn local_separation(
    a: &Shape,
    b: &Shape,
    b_in_a: &Pose,
    limit: f64,
    simplex: &mut Simplex,
    search: &mut SearchBuffers,
) -> Option<LocalSeparation> {
    let ((core_a, radius_a), (core_b, radius_b)) = (a.core()?, b.core()?);
    if !is_computable(b_in_a) {
        return None;
    }
    let mut difference = Difference::new(core_a, core_b, b_in_a);
    let found = core_separation(&mut difference, limit + (radius_a + radius_b), simplex, search)?;
    Some(found.inflated(&difference, radius_a, radius_b))
}

/// Returns whether a relative pose is finite, and so is the square of its distance.
pub(crate) fn is_computable(b_in_a: &Pose) -> bool {
    b_in_a.is_finite() && b_in_a.position.abs().max_element() < 1e150
}

/// Returns the signed distance of two cores, as in [`local_separation`].
fn core_separation(
    difference: &mut Difference,
    limit: f64,
    simplex: &mut Simplex,
    search: &mut SearchBuffers,
) -> Option<LocalSeparation> {
    let mut nearest = Nearest::default();
    match gjk::distance(difference, simplex, limit, &mut nearest) {
        Outcome::BeyondLimit { v, bound } => {
            return Some(LocalSeparation::along(-v / v.length_squared().sqrt(), bound));
        }
        Outcome::Separated { v, distance, error } => {
            let (point_a, point_b) = nearest.witnesses();
            let normal = -v / distance;
            let approximate = error > CHECK_TOLERANCE * difference.scale();
            return Some(LocalSeparation {
                normal,
                distance,
                point_a,
                point_b,
                error,
                approximate,
            });
        }
        Outcome::Overlapping | Outcome::Stalled => {}
    }
    let (answer, scale) = core_penetration(difference, &nearest, simplex, search)?;
    Some(answer.checked(difference, scale))
}

/// Returns the signed distance of two cores that overlap or nearly touch, and the size of their difference.
fn core_penetration(
    difference: &mut Difference,
    nearest: &Nearest,
    simplex: &mut Simplex,
    search: &mut SearchBuffers,
) -> Option<(LocalSeparation, f64)> {
    if let (Core::Cuboid(a), Core::Cuboid(b)) = (difference.a, difference.b) {
        let (a, b) = (a.half_extents, b.half_extents);
        let axis = sat::cuboid_axis(a, b, &difference.rotation, difference.translation);
        let answer = LocalSeparation::along(axis.normal, axis.gap);
        if let Some(points) = touching_points(difference, &answer) {
            let (point_a, point_b) = points;
            return Some((LocalSeparation { point_a, point_b, ..answer }, difference.scale()));
        }
    }
    let (found, scale) = tetrahedron::penetration(difference, nearest).unwrap_or_else(|| {
        let found = epa::penetration(difference, nearest, &mut search.polytope);
        if search.polytope.has_faces() {
            simplex.set(search.polytope.exit());
        }
        (found, search.polytope.scale())
    });
    if !found.depth.is_finite() {
        return None;
    }
    let mut answer = LocalSeparation {
        normal: found.normal,
        distance: -found.depth,
        point_a: found.witnesses.0,
        point_b: found.witnesses.1,
        error: found.error,
        approximate: found.error > CHECK_TOLERANCE * scale,
    };
    if !answer.is_consistent(difference, CHECK_TOLERANCE * scale) || answer.approximate {
        // Fall back on separating axes, for polyhedra.
        if let Some((normal, reach)) = sat::min_reach(difference, &mut search.facets) {
            if reach < -answer.distance || answer.approximate {
                answer.normal = normal;
                answer.distance = -reach;
            }
            (answer.error, answer.approximate) = (0.0, false);
        }
        if !answer.is_consistent(difference, CHECK_TOLERANCE * scale)
            && let Some(points) = touching_points(difference, &answer)
        {
            (answer.point_a, answer.point_b) = points;
        }
    }
    Some((answer, scale))
}

/// Gap, relative to the smaller core, to which overlapping polyhedral cores are moved apart to find
/// the points that touch: far enough for a quick search. Points that touch at zero gap remain
/// nearest to each other however much farther the cores are moved along the same direction.
const PROBE_GAP: f64 = 1e-2;

/// The same for curved cores, whose direction is only approximate: the error grows with the gap.
const PROBE_GAP_CURVED: f64 = 1e-6;

/// Returns the points that touch when B has moved out of A along the normal of `answer`.
fn touching_points(difference: &Difference, answer: &LocalSeparation) -> Option<(Vec3, Vec3)> {
    let apart = if difference.is_curved() { PROBE_GAP_CURVED } else { PROBE_GAP };
    let mut moved = difference.clone();
    moved.translation += answer.normal * (apart * difference.least_radius() - answer.distance);
    let (simplex, mut nearest) = (&mut Simplex::default(), Nearest::default());
    let outcome = gjk::distance(&mut moved, simplex, f64::INFINITY, &mut nearest);
    matches!(outcome, Outcome::Separated { .. }).then(|| nearest.witnesses())
}

impl LocalSeparation {
    /// Returns whether the witness points agree with direction and distance to within `tolerance`.
    fn is_consistent(&self, difference: &Difference, tolerance: f64) -> bool {
        self.witness_error(difference) <= tolerance
    }

    /// Returns by how much the witness points deviate from direction and distance.
    fn witness_error(&self, difference: &Difference) -> f64 {
        let between = -difference.vertex(self.point_a, self.point_b).w;
        (between - self.normal * self.distance).length()
    }

    /// Marks a separation as approximate whose witness points disagree with it: of two needles of aspect 1e9 and more,
    /// rounding can leave no better ones.
    fn checked(mut self, difference: &Difference, scale: f64) -> Self {
        let tolerance = CHECK_TOLERANCE * scale;
        if !self.is_consistent(difference, tolerance) {
            self.error = self.error.max(self.witness_error(difference));
            self.approximate = true;
        }
        self
    }

    /// Converts the separation of the cores into that of the inflated shapes.
    fn inflated(self, difference: &Difference, radius_a: f64, radius_b: f64) -> Self {
        Self {
            distance: self.distance - (radius_a + radius_b),
            point_a: self.point_a + self.normal * radius_a,
            point_b: self.point_b - difference.to_b(self.normal) * radius_b,
            ..self
        }
    }
}
