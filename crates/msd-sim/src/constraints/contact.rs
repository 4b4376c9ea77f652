//! Contact points as blocks of the solver.

use crate::collision::{ExactPoint, Near};
use crate::math::{Mat3, Vec3, orthonormal_basis};
use crate::solver::{Block, Law, Row};

/// Returns the block of one contact point: row 0 along the normal from A to B, rows 1 and 2 across it, all at one point
/// shared by both bodies.
///
/// With the gap `C = n . (x_B - x_A)` between the two surface points (`-depth`), `C' = J v` with `J = [-n, -(r_A x n),
/// n, r_B x n]`. Over a time `h` the gap may close but not overlap, so the law acts on `u = J v + C / h` where the
/// surfaces are apart, on `J v` where they are not.
#[inline(always)]
pub(crate) fn block(Near { pair, contact }: Near<'_>, point: &ExactPoint, h: f64) -> Block {
    let normal = contact.normal;
    let (t, s) = orthonormal_basis(normal);
    let arms = contact.centers.map(|center| point.position - center);
    let row = |direction| Row::at(direction, arms[0], arms[1]);
    let impulse = point.impulse;
    // A remembered impulse may have left the friction cone by rounding when its normal turned.
    let push = impulse.dot(normal).max(0.0);
    let (mut along, mut across) = (impulse.dot(t), impulse.dot(s));
    let length = (along * along + across * across).sqrt();
    if length > pair.friction * push {
        let shrink = pair.friction * push / length;
        (along, across) = (along * shrink, across * shrink);
    }
    Block {
        bodies: pair.bodies,
        law: Law::Contact { friction: pair.friction },
        rows: [row(normal), row(t), row(s)],
        offset: Vec3::new(point.gap.max(0.0) / h, 0.0, 0.0),
        softness: 0.0,
        impulse: Vec3::new(push, along, across),
        delassus: Mat3::ZERO,
    }
}

/// Returns a block's impulse on B as a world vector.
pub(crate) fn world_impulse(block: &Block) -> Vec3 {
    let [n, t, s] = &block.rows;
    n.linear * block.impulse.x + t.linear * block.impulse.y + s.linear * block.impulse.z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::{ContactPair, ExactContact};
    use crate::geometry::Shape;
    use crate::{BodyDef, World};

    /// A pair of balls that touch along a normal, with friction 0.5.
    fn pair(normal: Vec3) -> (ContactPair, ExactContact) {
        let mut world = World::default();
        for x in [0.0, 1.0] {
            let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0);
            world.add_body(ball.position(normal * x)).unwrap();
        }
        let mut contact = ExactContact::default();
        (contact.normal, contact.centers) = (normal, [Vec3::ZERO, normal]);
        (ContactPair::new(0, 1, &world.model.bodies), contact)
    }

    #[test]
    fn a_remembered_impulse_starts_inside_the_cone() {
        let normal = Vec3::new(2.0, -3.0, 6.0) / 7.0;
        let (pair, contact) = pair(normal);
        let near = Near { pair: &pair, contact: &contact };
        let (t, s) = orthonormal_basis(normal);
        for (impulse, expected) in [
            ([4.0, 1.2, -1.6], [4.0, 1.2, -1.6]),
            // 5 across, of which 0.5 times 4 may act.
            ([4.0, 3.0, -4.0], [4.0, 1.2, -1.6]),
            ([4.0, 0.0, 4.0], [4.0, 0.0, 2.0]),
            ([-4.0, 1.0, 0.0], [0.0; 3]),
            ([0.0; 3], [0.0; 3]),
        ] {
            let remembered = normal * impulse[0] + t * impulse[1] + s * impulse[2];
            let point =
                ExactPoint { impulse: remembered, position: normal * 0.5, ..ExactPoint::default() };
            let block = block(near, &point, 0.1);
            assert!((block.impulse - Vec3::from_array(expected)).length() < 1e-14, "{impulse:?}");
            let given = normal * expected[0] + t * expected[1] + s * expected[2];
            assert!((world_impulse(&block) - given).length() < 1e-14);
        }
    }

    #[test]
    fn a_gap_may_close_within_the_time_but_an_overlap_may_not_deepen() {
        let (pair, contact) = pair(Vec3::X);
        let near = Near { pair: &pair, contact: &contact };
        for (gap, offset) in [(0.02, 0.2), (0.0, 0.0), (-0.02, 0.0)] {
            let position = Vec3::new(0.5, 0.1, 0.0);
            let point = ExactPoint { gap, position, ..ExactPoint::default() };
            let block = block(near, &point, 0.1);
            assert!((block.offset - Vec3::X * offset).length() < 1e-15);
            // One point for both bodies, from each center of mass.
            assert_eq!(block.rows[0], Row::at(Vec3::X, point.position, point.position - Vec3::X));
        }
    }
}
