//! Distance between two cores (GJK): the point of their Minkowski difference nearest the origin.
//!
//! The algorithm of Gilbert, Johnson and Keerthi iterates over simplices of the difference. Each
//! step gives two bounds: the simplex's nearest point `v` is a point of the difference, so the
//! distance is at most `|v|`; and all of the difference lies beyond the plane perpendicular to `v`
//! through the support point `w`, so it is at least `v . w / |v|`. The search ends when the bounds
//! meet.

use super::minkowski::{Difference, Vertex};
use super::simplex::Nearest;
use super::tetrahedron;
use crate::math::Vec3;

/// The simplex at which a distance search ended: a warm start for the next search of the same pair.
///
/// It stores points of the shapes in their own frames, so it stays valid however the shapes move,
/// but only for these two shapes in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "simplex cache")]
#[doc(alias = "GJK")]
pub struct Simplex {
    len: u8,
    a: [Vec3; 4],
    b: [Vec3; 4],
}

impl Simplex {
    fn restore(&self, difference: &Difference, nearest: &mut Nearest) {
        for i in 0..self.len as usize {
            nearest.put(i, &difference.vertex(self.a[i], self.b[i]));
        }
        nearest.solve(self.len as usize);
    }

    fn store(&mut self, nearest: &Nearest) {
        self.len = nearest.len as u8;
        self.a = nearest.a;
        self.b = nearest.b;
    }

    /// Makes the next search start from these four vertices.
    pub(super) fn set(&mut self, vertices: [&Vertex; 4]) {
        self.len = 4;
        self.a = vertices.map(|vertex| vertex.a);
        self.b = vertices.map(|vertex| vertex.b);
    }

    /// Returns an upper bound on the gap between the cores along any direction: the distance of the
    /// simplex from the origin, or minus the radius of the largest ball about the origin inside the
    /// simplex. Both are bounds because the simplex is part of the difference.
    pub(super) fn largest_gap(&self, difference: &Difference) -> f64 {
        if self.len == 0 {
            return f64::INFINITY;
        }
        let mut nearest = Nearest::default();
        self.restore(difference, &mut nearest);
        if !nearest.inside {
            return nearest.v.length();
        }
        -tetrahedron::inner_radius(&nearest.w)
    }
}

/// The outcome of a distance search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// The cores are separated. `v` leads from the nearest point of B to that of A, and the
    /// distance is `|v|`.
    Separated { v: Vec3, distance: f64, error: f64 },
    /// The cores are farther apart than the limit: by at least `bound`, along `-v`.
    BeyondLimit { v: Vec3, bound: f64 },
    /// The cores overlap, or touch to within rounding.
    Overlapping,
    /// Rounding stalled the search before it could tell whether they overlap.
    Stalled,
}

/// Bounds that agree to this, relative to the difference's size, have converged.
const CONVERGED: f64 = 64.0 * f64::EPSILON;

/// The same if a cylinder or cone is involved, on which the search converges only in the limit.
const CONVERGED_CURVED: f64 = 1e-10;

/// Rounding floor: `v` carries the rounding of the coordinates, which turns the support point's
/// lever, so no search brings `v . (v - w)` below this, relative to the square of the difference's
/// size.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Distance relative to the size below which `ROUNDING` would accept any direction: a stalled
/// search restarts instead.
const NEAR: f64 = 2.5e-7;

/// Cores closer than this, relative to the difference's size, count as touching: the direction
/// between them is mostly rounding, and the penetration search finds it better.
const TOUCHING: f64 = 1024.0 * f64::EPSILON;

/// A proof that the cores are farther apart than the limit must cover this share of the excess, so
/// that it remains valid while they approach.
const BEYOND: f64 = 0.5;

/// Maximum number of restarts of a search stalled by rounding.
const MAX_RESTARTS: usize = 8;

/// Maximum number of iterations, far more than needed: boxes take about three, two cylinders about
/// sixteen.
const MAX_ITERATIONS: usize = 128;

/// Returns the distance between two cores, unless it exceeds the non-negative `limit`.
///
/// The search starts from `simplex` and stores where it ended there. `nearest`, which must be
/// empty, receives the final simplex: the source of the witness points, or the start for EPA.
pub(crate) fn distance(
    difference: &mut Difference,
    simplex: &mut Simplex,
    limit: f64,
    nearest: &mut Nearest,
) -> Outcome {
    if simplex.len > 0 {
        simplex.restore(difference, nearest);
    } else {
        nearest.restart(&difference.support(-difference.middle()));
    }
    let outcome = search(difference, nearest, limit);
    simplex.store(nearest);
    outcome
}

fn search(difference: &mut Difference, nearest: &mut Nearest, limit: f64) -> Outcome {
    let close = if difference.is_curved() { CONVERGED_CURVED } else { CONVERGED };
    let mut scale = nearest.w.iter().take(nearest.len).map(|&w| reach(w)).fold(0.0, f64::max);
    let mut best: Option<(f64, Nearest)> = None;
    let mut restarts = 0;
    for _ in 0..MAX_ITERATIONS {
        let v = nearest.v;
        let square = v.length_squared();
        if nearest.inside || square <= TOUCHING * TOUCHING * scale * scale {
            return Outcome::Overlapping;
        }
        let vertex = difference.support(-v);
        scale = scale.max(reach(vertex.w));
        // Compares the bounds |v| and v . w / |v| without dividing by |v|.
        let along = v.dot(vertex.w);
        if along > 0.0 && along * along > limit * limit * square {
            let distance = square.sqrt();
            let bound = along / distance;
            if bound - limit >= BEYOND * (distance - limit) {
                return Outcome::BeyondLimit { v, bound };
            }
        }
        let (gap, tolerance) = (square - along, close * scale);
        let closed = gap * gap <= tolerance * tolerance * square;
        let halted = !closed && !nearest.grow(&vertex);
        let floor = square > NEAR * NEAR * scale * scale && gap <= ROUNDING * scale * scale;
        if closed || (halted && floor) {
            let distance = square.sqrt();
            return Outcome::Separated { v, distance, error: (gap / distance).max(0.0) };
        }
        if halted {
            // The simplex has shrunk to rounding: restart from the newest vertex alone.
            let error = gap / square.sqrt();
            if best.is_none_or(|(least, _)| error < least) {
                best = Some((error, *nearest));
            }
            if restarts == MAX_RESTARTS {
                break;
            }
            restarts += 1;
            nearest.restart(&vertex);
        }
    }
    let (error, kept) = best.unwrap_or((nearest.v.length(), *nearest));
    *nearest = kept;
    let distance = kept.v.length_squared().sqrt();
    // Bounds that barely exclude zero prove little: leave the pair to the penetration search.
    if error < 0.5 * distance && !kept.inside {
        return Outcome::Separated { v: kept.v, distance, error };
    }
    Outcome::Stalled
}

/// Returns the magnitude of the largest coordinate.
#[inline]
fn reach(w: Vec3) -> f64 {
    w.abs().max_element()
}
