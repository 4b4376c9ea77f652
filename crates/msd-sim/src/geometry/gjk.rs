//! Distance between two cores: the point of their difference nearest the origin.
//!
//! The algorithm of Gilbert, Johnson and Keerthi walks through simplices of the difference. Each
//! step gives two bounds: the simplex' nearest point `v` is a point of the difference, so the
//! distance is at most `|v|`; and all of the difference lies beyond the plane through the support
//! point `w` across `v`, so it is at least `v . w / |v|`. The search ends when they meet.

use super::minkowski::{Difference, Vertex};
use super::simplex::Nearest;
use super::tetrahedron;
use crate::math::Vec3;

/// Where a search ended: what the next one for the same pair starts from.
///
/// Holds points of the shapes in their own frames, so it stays valid however they move, but only
/// for these two shapes, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

    /// Starts the next search from these four.
    pub(super) fn set(&mut self, vertices: [&Vertex; 4]) {
        self.len = 4;
        self.a = vertices.map(|vertex| vertex.a);
        self.b = vertices.map(|vertex| vertex.b);
    }

    /// No direction shows a larger gap between the cores: the distance of the simplex from the
    /// origin, or minus the radius of the largest ball about it that the simplex holds. Both bound
    /// the gap because the simplex is a part of the difference.
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

/// How a search between two cores ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// Apart. `v` leads from the nearest point of B to that of A, and the distance is `|v|`.
    Apart { v: Vec3, distance: f64, error: f64 },
    /// Farther apart than was asked for, by at least `bound`, as `-v` proves.
    Beyond { v: Vec3, bound: f64 },
    /// Overlapping, or touching to within rounding.
    Overlap,
}

/// Bounds this close, relative to the difference's size, are as good as equal.
const CLOSED: f64 = 64.0 * f64::EPSILON;

/// The same where a cylinder or cone is involved, on which a search only ever comes nearer.
const CLOSED_CURVED: f64 = 1e-10;

/// v is off by the rounding of the coordinates, and turns the support point's lever by that much: no
/// search brings `v . (v - w)` below this, relative to the square of the difference's size.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Nearer than this, relative to size, `ROUNDING` would excuse any direction: a search that comes to
/// a halt begins anew.
const NEAR: f64 = 2.5e-7;

/// Cores closer than this, relative to the difference's size, touch: the direction between them is
/// mostly rounding, and is better found from the penetration side.
const TOUCHING: f64 = 1024.0 * f64::EPSILON;

/// A proof that the cores are farther apart than asked for must show this much of what they are, so
/// that it lasts while they come nearer.
const BEYOND: f64 = 0.5;

/// How often a search that rounding has brought to a halt begins anew.
const MAX_RESTARTS: usize = 8;

/// Far more than is ever needed; boxes take about three, two cylinders about sixteen.
const MAX_ITERATIONS: usize = 128;

/// The distance between two cores, unless it exceeds `limit`, which is not negative.
///
/// `simplex` is where to start, and becomes where the search ended. `nearest`, which comes empty,
/// carries the result: it tells the witness points, or the start for EPA.
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
    let close = if difference.is_curved() { CLOSED_CURVED } else { CLOSED };
    let mut scale = nearest.w.iter().take(nearest.len).map(|&w| reach(w)).fold(0.0, f64::max);
    let mut best: Option<(f64, Nearest)> = None;
    let mut restarts = 0;
    for _ in 0..MAX_ITERATIONS {
        let v = nearest.v;
        let square = v.length_squared();
        if nearest.inside || square <= TOUCHING * TOUCHING * scale * scale {
            return Outcome::Overlap;
        }
        let vertex = difference.support(-v);
        scale = scale.max(reach(vertex.w));
        // Bounds |v| and v . w / |v|, compared without dividing by |v|.
        let along = v.dot(vertex.w);
        if along > 0.0 && along * along > limit * limit * square {
            let distance = square.sqrt();
            let bound = along / distance;
            if bound - limit >= BEYOND * (distance - limit) {
                return Outcome::Beyond { v, bound };
            }
        }
        let (gap, tolerance) = (square - along, close * scale);
        let closed = gap * gap <= tolerance * tolerance * square;
        let halted = !closed && !nearest.grow(&vertex);
        let floor = square > NEAR * NEAR * scale * scale && gap <= ROUNDING * scale * scale;
        if closed || (halted && floor) {
            let distance = square.sqrt();
            return Outcome::Apart { v, distance, error: (gap / distance).max(0.0) };
        }
        if halted {
            // The simplex has shrunk to rounding. The newest vertex alone is a fresh start.
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
    // Bounds that hardly exclude zero prove little: the penetration side knows better.
    if error < 0.5 * distance && !kept.inside {
        return Outcome::Apart { v: kept.v, distance, error };
    }
    Outcome::Overlap
}

/// The largest coordinate.
#[inline]
fn reach(w: Vec3) -> f64 {
    w.abs().max_element()
}
