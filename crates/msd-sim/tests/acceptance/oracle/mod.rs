//! Reference answers for distance and depth of two convex shapes: slow, exact, and derived from the
//! shapes' definitions alone.
//!
//! With h(n) = max over A of n.x - min over B of n.y, the length by which A and B overlap along the
//! unit vector n, the depth is the minimum of h over all n, and the distance is minus that.
//!
//! Pairs of polytopes (a ball is a point and a capsule a segment, each with a radius) are searched
//! exhaustively by features; if a cylinder or cone is involved, the unit sphere is searched.

mod checks;
pub mod pairs;
mod polytope;
mod search;
mod solid;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use solid::{Core, Solid};

/// Returns the point of a shape farthest along `direction`, in the shape's frame.
pub fn support(shape: &Shape, direction: Vec3) -> Vec3 {
    Solid::new(shape, &Pose::IDENTITY, Vec3::ZERO).support(direction)
}

/// Returns the least overlap along any direction, negative if separated, and that direction, from A
/// to B.
///
/// Infinite for two half-spaces that are not opposed.
pub fn depth(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (f64, Vec3) {
    let (a, b) = solids(a, pose_a, b, pose_b);
    match (&a.core, &b.core) {
        (Core::HalfSpace { normal, .. }, Core::HalfSpace { normal: other, .. }) => {
            let opposed = normal.dot(*other) < 0.0 && normal.cross(*other) == Vec3::ZERO;
            (if opposed { overlap(&a, &b, *normal) } else { f64::INFINITY }, *normal)
        }
        (Core::HalfSpace { normal, .. }, _) => (overlap(&a, &b, *normal), *normal),
        (_, Core::HalfSpace { normal, .. }) => (overlap(&a, &b, -*normal), -*normal),
        (Core::Polytope(p), Core::Polytope(q)) => {
            let (core, n) = polytope::depth(p, q, a.center - b.center);
            (core + a.radius + b.radius, n)
        }
        _ => search::least_overlap(&a, &b),
    }
}

/// Returns the distance of two shapes, zero if they touch or overlap.
pub fn distance(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    (-depth(a, pose_a, b, pose_b).0).max(0.0)
}

/// Returns the overlap along the unit vector `n`, from A to B.
pub fn overlap_along(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, n: Vec3) -> f64 {
    let (a, b) = solids(a, pose_a, b, pose_b);
    overlap(&a, &b, n)
}

/// Returns how far `point` lies outside a shape, zero if inside.
pub fn outside_by(shape: &Shape, pose: &Pose, point: Vec3) -> f64 {
    Solid::new(shape, pose, pose.position).outside_by(point - pose.position)
}

/// Proves that the distance is `d` to within `tol`: the points belong to the shapes, so it is at
/// most theirs, and the gap along `n` bounds it from below.
#[allow(clippy::too_many_arguments, reason = "a claim about two shapes needs this many arguments")]
pub fn certify_distance(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    d: f64,
    pa: Vec3,
    pb: Vec3,
    n: Vec3,
    tol: f64,
) -> Result<(), String> {
    let within = |what: &str, error: f64| {
        // Not the negation: a NaN error must not pass.
        if error <= tol { Ok(()) } else { Err(format!("{what} by {error:e}, allowed {tol:e}")) }
    };
    unit(n)?;
    within("the first point lies outside its shape", outside_by(a, pose_a, pa))?;
    within("the second point lies outside its shape", outside_by(b, pose_b, pb))?;
    within("the points' distance differs from the claim", ((pa - pb).length() - d).abs())?;
    within("the gap is smaller than claimed", d + overlap_along(a, pose_a, b, pose_b, n))
}

/// Checks that the overlap along `n` is `depth` to within `tol`, so the least is no larger.
pub fn certify_depth(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    depth: f64,
    n: Vec3,
    tol: f64,
) -> Result<(), String> {
    unit(n)?;
    let actual = overlap_along(a, pose_a, b, pose_b, n);
    if (actual - depth).abs() <= tol {
        Ok(())
    } else {
        Err(format!("overlap along {n} is {actual:e}, not {depth:e} as claimed"))
    }
}

fn unit(n: Vec3) -> Result<(), String> {
    if (n.length() - 1.0).abs() <= 1e-14 { Ok(()) } else { Err(format!("n = {n} is not a unit")) }
}

/// Returns both shapes relative to the first one's position, so that no digits are lost far from
/// the origin.
fn solids(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> (Solid, Solid) {
    (Solid::new(a, pose_a, pose_a.position), Solid::new(b, pose_b, pose_a.position))
}

fn overlap(a: &Solid, b: &Solid, n: Vec3) -> f64 {
    n.dot(a.center - b.center) + a.extent(n) + b.extent(-n)
}
