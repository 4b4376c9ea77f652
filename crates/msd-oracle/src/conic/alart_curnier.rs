//! The Alart-Curnier function of a cell's impulse and velocity, which is zero if its law holds.
//!
//! It is `r_n - max(0, r_n - u_n)` along a normal, tangentially `r_t` minus the projection of `r_t
//! - u_t` onto the disk of radius `friction max(0, r_n - u_n)`, and `u` for joints.

use msd_problem::math::{Mat3, Vec3};

use super::cells::Kind;

pub(super) fn value(kind: Kind, r: Vec3, u: Vec3) -> Vec3 {
    match kind {
        Kind::Bilateral => u,
        Kind::Unilateral => Vec3::new(r.x - (r.x - u.x).max(0.0), u.y, u.z),
        Kind::Contact { friction } => {
            let push = (r.x - u.x).max(0.0);
            let (y, z) = (r.y - u.y, r.z - u.z);
            let (length, limit) = (libm::hypot(y, z), friction * push);
            let shrink = if length > limit { limit / length } else { 1.0 };
            Vec3::new(r.x - push, r.y - y * shrink, r.z - z * shrink)
        }
    }
}

/// Returns the derivatives of [`value`] with respect to `r` and `u`.
pub(super) fn slope(kind: Kind, r: Vec3, u: Vec3) -> (Mat3, Mat3) {
    match kind {
        Kind::Bilateral => (Mat3::ZERO, Mat3::IDENTITY),
        Kind::Unilateral if r.x - u.x > 0.0 => (Mat3::ZERO, Mat3::IDENTITY),
        Kind::Unilateral => {
            (Mat3::from_diagonal(Vec3::X), Mat3::from_diagonal(Vec3::new(0.0, 1.0, 1.0)))
        }
        Kind::Contact { friction } => {
            let push = r.x - u.x;
            if push <= 0.0 {
                return (Mat3::IDENTITY, Mat3::ZERO);
            }
            let (y, z) = (r.y - u.y, r.z - u.z);
            let (length, limit) = (libm::hypot(y, z), friction * push);
            if length <= limit {
                return (Mat3::ZERO, Mat3::IDENTITY);
            }
            let (y, z) = (y / length, z / length);
            let shrink = limit / length;
            // Perpendicular to the direction of sliding, and along it.
            let (yy, yz, zz) = (shrink * z * z, -shrink * y * z, shrink * y * y);
            let turn = Vec3::new(0.0, friction * y, friction * z);
            let by_impulse = Mat3::from_cols(
                -turn,
                Vec3::new(0.0, 1.0 - yy, -yz),
                Vec3::new(0.0, -yz, 1.0 - zz),
            );
            let by_velocity =
                Mat3::from_cols(Vec3::X + turn, Vec3::new(0.0, yy, yz), Vec3::new(0.0, yz, zz));
            (by_impulse, by_velocity)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives_of_the_values() {
        let points = [
            (Vec3::new(1.0, 0.2, -0.1), Vec3::new(0.1, 0.05, 0.02)),
            (Vec3::new(1.0, 0.9, -0.4), Vec3::new(0.1, -0.7, 0.3)),
            (Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.9, -0.2, 0.4)),
        ];
        let kinds = [Kind::Contact { friction: 0.6 }, Kind::Unilateral, Kind::Bilateral];
        for kind in kinds {
            for (r, u) in points {
                let (by_impulse, by_velocity) = slope(kind, r, u);
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    let h = axis * 1e-6;
                    let by = |a: Vec3, b: Vec3| (a - b) / 2e-6;
                    let seen = by(value(kind, r + h, u), value(kind, r - h, u));
                    assert!((seen - by_impulse * axis).length() < 1e-5, "{kind:?}");
                    let seen = by(value(kind, r, u + h), value(kind, r, u - h));
                    assert!((seen - by_velocity * axis).length() < 1e-5, "{kind:?}");
                }
            }
        }
    }
}
