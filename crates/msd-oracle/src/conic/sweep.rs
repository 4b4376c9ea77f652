//! Gauss-Seidel over cells, each solved exactly: slow, but it approaches the solution from any
//! start.

use msd_problem::math::{Mat3, Vec3};

use super::block_lu::inverse;
use super::cells::{Cells, Kind};

/// Sweeps `count` times over the cells, in alternating directions.
pub(super) fn sweep(cells: &Cells, r: &mut [Vec3], count: usize) {
    // Diagonals are about one: the added term only prevents a division by zero in a singular block.
    let blocks: Vec<Mat3> = (0..cells.len())
        .map(|i| cells.diagonal(i) + Mat3::from_diagonal(Vec3::splat(1e-14)))
        .collect();
    for round in 0..count {
        for k in 0..cells.len() {
            let i = if round % 2 == 0 { k } else { cells.len() - 1 - k };
            let q = cells.velocity_of(i, r) - blocks[i] * r[i];
            let found = local(cells.kinds[i], &blocks[i], q);
            if found.is_finite() {
                r[i] = found;
            }
        }
    }
}

/// Returns the impulse of a cell whose velocity is `w r + q`.
fn local(kind: Kind, w: &Mat3, q: Vec3) -> Vec3 {
    match kind {
        Kind::Bilateral => inverse(*w).map_or(Vec3::ZERO, |inverse| -(inverse * q)),
        Kind::Unilateral => Vec3::new((-q.x / w.x_axis.x).max(0.0), 0.0, 0.0),
        Kind::Contact { .. } if q.x >= 0.0 => Vec3::ZERO,
        Kind::Contact { friction } => {
            let stick = with_drag(w, q, 0.0);
            if excess(stick, friction) <= 0.0 {
                return stick;
            }
            // Sliding: u_t = -drag r_t. Bisect for the drag at which the impulse lies on the cone.
            let (mut low, mut high) = (0.0, w.y_axis.y + w.z_axis.z);
            for _ in 0..60 {
                if excess(with_drag(w, q, high), friction) <= 0.0 {
                    break;
                }
                (low, high) = (high, 4.0 * high);
            }
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if excess(with_drag(w, q, middle), friction) > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            with_drag(w, q, high)
        }
    }
}

fn with_drag(w: &Mat3, q: Vec3, drag: f64) -> Vec3 {
    let dragged = *w + Mat3::from_diagonal(Vec3::new(0.0, drag, drag));
    inverse(dragged).map_or(Vec3::NAN, |inverse| -(inverse * q))
}

/// Returns the excess of an impulse over the cone; a pulling impulse is far outside.
fn excess(r: Vec3, friction: f64) -> f64 {
    let excess = libm::hypot(r.y, r.z) - friction * r.x;
    if excess.is_nan() { f64::INFINITY } else { excess }
}
