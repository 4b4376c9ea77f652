//! Robust predicates: exact signs, and areas without cancellation.

use crate::math::Vec3;

fn coord(p: Vec3) -> robust::Coord3D<f64> {
    robust::Coord3D { x: p.x, y: p.y, z: p.z }
}

/// Returns a positive number if `p` lies in front of the plane through `a`, `b`, `c`, a negative
/// one behind it, and zero on it.
///
/// From the front, the three points appear counter-clockwise. The sign is exact for the given
/// coordinates, as long as triple products of their differences do not underflow.
pub(super) fn side(a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> f64 {
    -robust::orient3d(coord(a), coord(b), coord(c), coord(p))
}

/// Returns `(b - a) x (c - a)`, twice the triangle's area along its normal, correct to a few units
/// in the last place of each component even for needles.
///
/// Rounded differences alone would leave an error of `eps |b - a| |c - a|`, which tilts the normal
/// of a face a million times longer than wide by 1e-10. So differences and products carry their
/// rounding error along: x - y = hi + lo and x y = hi + lo exactly.
pub(super) fn area_vector(a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let u = [0, 1, 2].map(|i| exact_difference(b[i], a[i]));
    let v = [0, 1, 2].map(|i| exact_difference(c[i], a[i]));
    Vec3::new(
        minor(u[1], v[2], u[2], v[1]),
        minor(u[2], v[0], u[0], v[2]),
        minor(u[0], v[1], u[1], v[0]),
    )
}

/// Returns `x - y` as its rounded value and the rounding error.
fn exact_difference(x: f64, y: f64) -> (f64, f64) {
    let hi = x - y;
    let part = hi - x;
    (hi, (x - (hi - part)) - (y + part))
}

/// Returns `p q - r s` for numbers in two parts.
fn minor(p: (f64, f64), q: (f64, f64), r: (f64, f64), s: (f64, f64)) -> f64 {
    let product = |x: (f64, f64), y: (f64, f64)| {
        let hi = x.0 * y.0;
        (hi, x.0.mul_add(y.0, -hi) + (x.0 * y.1 + x.1 * y.0))
    };
    let (pq, rs) = (product(p, q), product(r, s));
    let (hi, lo) = exact_difference(pq.0, rs.0);
    hi + (lo + (pq.1 - rs.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_run_counter_clockwise_seen_from_the_front() {
        let up = side(Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z);
        let down = side(Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::Z);
        let on = side(Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.4, 0.0));
        assert!(up > 0.0 && down < 0.0 && on == 0.0, "{up} {down} {on}");
    }

    #[test]
    fn a_needles_area_vector_keeps_every_digit() {
        // a = 0, b = (1 + 2e, 1, 0), c = (1, 1 - 2e, 0) with e = 2^-52: the z component is (1 +
        // 2e)(1 - 2e) - 1 = -4 e^2, which plain arithmetic loses entirely.
        let e = f64::EPSILON;
        let area = area_vector(
            Vec3::ZERO,
            Vec3::new(1.0 + 2.0 * e, 1.0, 0.0),
            Vec3::new(1.0, 1.0 - 2.0 * e, 0.0),
        );
        assert_eq!(area, Vec3::new(0.0, 0.0, -4.0 * e * e));
    }
}
