//! Manifold reduction: the deepest point, and up to three others that span the largest area with
//! it.

use super::clip::ClipPoint;
use crate::math::{Vec3, orthonormal_basis};

/// Depths within this, relative to the smaller shape's width, count as equal, and the first such
/// point is the deepest, so that jitter does not change the choice.
pub(super) const SAME_DEPTH: f64 = 1e-6;

/// A later candidate must span more than an earlier one by this factor, for the same reason.
const MIN_GAIN: f64 = 1.001;

/// With more points, only the extremes in sixteen directions are candidates.
const MAX_CANDIDATES: usize = 17;

/// Keeps the deepest point and the up to three others with which it spans the largest area.
///
/// `n` is the contact's normal, `size` the smaller shape's width.
pub(crate) fn reduce(points: &mut Vec<ClipPoint>, n: Vec3, size: f64) {
    if points.len() <= 4 {
        return;
    }
    let least = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    let deepest = points.iter().position(|p| p.gap <= least + SAME_DEPTH * size).unwrap_or(0);
    points.swap(0, deepest);
    let (t, u) = orthonormal_basis(n);
    let origin = points[0].position;
    let flat = |p: &ClipPoint| [t.dot(p.position - origin), u.dot(p.position - origin)];
    if points.len() > MAX_CANDIDATES {
        thin(points, flat);
    }
    let mut plan = [[0.0; 2]; MAX_CANDIDATES];
    for (place, point) in plan.iter_mut().zip(points.iter()) {
        *place = flat(point);
    }
    let chosen = widest(&plan[..points.len()]).map(|i| points[i]);
    points.truncate(1);
    for point in chosen {
        if points.iter().all(|p| p.position != point.position) {
            points.push(point);
        }
    }
}

/// Returns the three points with which the first spans the largest area.
///
/// A quadrilateral with a corner at the first point has a diagonal from it to another; for each
/// such diagonal the best two other corners are the extremes on its two sides. If all points are
/// collinear, the farthest is returned three times.
pub(super) fn widest(plan: &[[f64; 2]]) -> [usize; 3] {
    let (mut best, mut chosen) = (0.0, None);
    let (mut reach, mut farthest) = (0.0, 0);
    for (j, &[dx, dy]) in plan.iter().enumerate().skip(1) {
        if dx * dx + dy * dy > MIN_GAIN * reach {
            (reach, farthest) = (dx * dx + dy * dy, j);
        }
        let (mut left, mut right) = ((0.0, j), (0.0, j));
        for (k, &[x, y]) in plan.iter().enumerate() {
            let side = dx * y - dy * x;
            if side > MIN_GAIN * left.0 {
                left = (side, k);
            } else if -side > MIN_GAIN * right.0 {
                right = (-side, k);
            }
        }
        if left.0 + right.0 > MIN_GAIN * best {
            (best, chosen) = (left.0 + right.0, Some([left.1, j, right.1]));
        }
    }
    chosen.unwrap_or([farthest; 3])
}

/// Keeps the first point and the extremes in sixteen directions, in place.
fn thin(points: &mut Vec<ClipPoint>, flat: impl Fn(&ClipPoint) -> [f64; 2]) {
    // About tan(22.5 degrees): the directions need not be spaced exactly evenly.
    const T: f64 = 0.414;
    let mut kept = 1;
    for [dx, dy] in [[1.0, 0.0], [1.0, T], [1.0, 1.0], [T, 1.0]] {
        for [dx, dy] in [[dx, dy], [-dy, dx], [-dx, -dy], [dy, -dx]] {
            let along = |p: &ClipPoint| {
                let [x, y] = flat(p);
                x * dx + y * dy
            };
            let extreme = (0..points.len())
                .max_by(|&i, &j| along(&points[i]).total_cmp(&along(&points[j])).then(j.cmp(&i)))
                .unwrap_or(0);
            if extreme >= kept {
                points.swap(kept, extreme);
                kept += 1;
            }
        }
    }
    points.truncate(kept);
}
