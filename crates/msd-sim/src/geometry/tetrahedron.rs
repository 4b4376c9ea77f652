//! Bounds from the cached tetrahedron of an earlier search after the shapes have moved slightly: it
//! lies in the difference and contains a ball about the origin, so the penetration depth is at
//! least the ball's radius.

use super::epa::{CONVERGED, FLAT, Penetration};
use super::minkowski::Difference;
use super::simplex::Nearest;
use crate::math::Vec3;

/// Returns the radius of the largest ball about the origin, which must be inside the tetrahedron.
pub(super) fn inner_radius([a, b, c, d]: &[Vec3; 4]) -> f64 {
    let [ab, ac, ad] = [*b - *a, *c - *a, *d - *a];
    let sides =
        [(ab.cross(ac), a), (ab.cross(ad), a), (ac.cross(ad), a), ((*c - *b).cross(*d - *b), b)];
    let squares = sides.map(|(n, &p)| {
        let height = n.dot(p);
        height * height / n.length_squared()
    });
    squares.into_iter().fold(f64::INFINITY, f64::min).sqrt()
}

/// Returns the penetration and the scale if the shortest way out leaves through a face of the
/// tetrahedron of the last distance search, as after a search for almost the same difference;
/// `None` if it takes a polytope.
pub(super) fn penetration(
    difference: &mut Difference,
    start: &Nearest,
) -> Option<(Penetration, f64)> {
    if !start.inside {
        return None;
    }
    let w = &start.w;
    let scale = w.iter().map(|w| w.abs().max_element()).fold(0.0, f64::max);
    let mut least = (f64::INFINITY, Vec3::ZERO, [0; 3]);
    for corners in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
        let [a, b, c] = corners.map(|i| w[i]);
        let (ab, ac) = (b - a, c - a);
        let cross = ab.cross(ac);
        let square = cross.length_squared();
        let longest = ab.length_squared().max(ac.length_squared()).max((c - b).length_squared());
        if !(square > FLAT * FLAT * (scale * scale * longest)) {
            return None;
        }
        // The origin is inside, so orient the normal away from it.
        let (height, length) = (cross.dot(a), square.sqrt());
        let offset = height.abs() / length;
        if offset < least.0 {
            least = (offset, cross / length.copysign(height), corners);
        }
    }
    let (offset, normal, corners) = least;
    let reach = normal.dot(difference.support(normal).w);
    if !(reach - offset <= CONVERGED * scale) {
        return None;
    }
    let [a, b, c] = corners.map(|i| w[i] - normal * reach);
    let areas = [normal.dot(b.cross(c)), normal.dot(c.cross(a)), normal.dot(a.cross(b))];
    let whole = areas[0] + areas[1] + areas[2];
    let mut witnesses = (Vec3::ZERO, Vec3::ZERO);
    for (corner, area) in corners.into_iter().zip(areas) {
        let weight = area / whole;
        if !(weight >= 0.0) {
            return None;
        }
        witnesses.0 += start.a[corner] * weight;
        witnesses.1 += start.b[corner] * weight;
    }
    let error = (reach - offset).max(0.0);
    Some((Penetration { normal, depth: reach, error, witnesses }, scale))
}
