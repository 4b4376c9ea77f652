//! From a contact point to a block of the solver.

use crate::collision::{Contact, ContactPair};
use crate::math::{Mat3, Vec3, orthonormal_basis};
use crate::solver::{Block, Law, Row};

/// The block of one contact point: row 0 along the normal from A to B, rows 1 and 2 across it, all
/// at one point shared by both bodies.
///
/// With the gap `C = n . (x_B - x_A)` of the two surfaces' points (`-depth`), `C' = J v` with
/// `J = [-n, -(r_A x n), n, r_B x n]`. Over a time `h` the gap may close but not more, so the law
/// acts on `u = J v + C / h` where the surfaces are apart, on `J v` where they are not.
#[inline(always)]
pub(crate) fn block(pair: &ContactPair, point: &Contact, h: f64) -> Block {
    let normal = pair.normal;
    let (t, s) = orthonormal_basis(normal);
    let arms = pair.centers.map(|center| point.position - center);
    let row = |direction| Row::at(direction, arms[0], arms[1]);
    let impulse = point.impulse;
    // A kept impulse may have left the cone by rounding when its normal was turned.
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
        coupling: Mat3::ZERO,
    }
}

/// A block's impulse as a vector of the world, on B.
pub(crate) fn world_impulse(block: &Block) -> Vec3 {
    let [n, t, s] = &block.rows;
    n.linear * block.impulse.x + t.linear * block.impulse.y + s.linear * block.impulse.z
}
