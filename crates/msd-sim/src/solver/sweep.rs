//! Projected Gauss-Seidel: one sweep over all blocks, normal before friction.

use super::problem::{Block, Law, SolverBody, into_disk, max_tangent_delassus};
use crate::math::Vec3;

/// Solves every block once, in order, each with the velocities left by the blocks before it.
pub(crate) fn sweep(bodies: &mut [SolverBody], blocks: &mut [Block]) {
    for block in blocks {
        let u = block.velocity(bodies) + block.offset;
        let impulse = local_solution(block, u);
        let change = impulse - block.impulse;
        if change != Vec3::ZERO {
            block.apply(bodies, change);
            block.impulse = impulse;
        }
    }
}

/// Returns the impulse that satisfies a block's law if no other impulse changes.
#[inline]
fn local_solution(block: &Block, u: Vec3) -> Vec3 {
    let w = &block.delassus;
    let old = block.impulse;
    match block.law {
        Law::Contact { friction } => {
            let push = at_least_zero(old.x, u.x, w.x_axis.x);
            if push == 0.0 || friction == 0.0 {
                return Vec3::new(push, 0.0, 0.0);
            }
            // The slip after the change of the normal impulse.
            let change = push - old.x;
            let (a, b) = (u.y + w.x_axis.y * change, u.z + w.x_axis.z * change);
            let limit = friction * push;
            let (waa, wab, wbb) = (w.y_axis.y, w.y_axis.z, w.z_axis.z);
            let determinant = waa * wbb - wab * wab;
            let stick = (
                old.y - (wbb * a - wab * b) / determinant,
                old.z - (waa * b - wab * a) / determinant,
            );
            if stick.0 * stick.0 + stick.1 * stick.1 <= limit * limit {
                return Vec3::new(push, stick.0, stick.1);
            }
            // It slides: only steps with the same scale along both axes end with the impulse
            // opposite to the slip.
            let across = max_tangent_delassus(w);
            let slide = into_disk((old.y - a / across, old.z - b / across), limit);
            if slide.0.is_finite() && slide.1.is_finite() {
                Vec3::new(push, slide.0, slide.1)
            } else {
                Vec3::new(push, 0.0, 0.0)
            }
        }
        Law::Unilateral => Vec3::new(at_least_zero(old.x, u.x, w.x_axis.x), 0.0, 0.0),
        Law::Bilateral { rows: 1 } => {
            let hardness = w.x_axis.x + block.softness;
            let change =
                if hardness > 0.0 { -(u.x + block.softness * old.x) / hardness } else { 0.0 };
            Vec3::new(old.x + change, 0.0, 0.0)
        }
        Law::Bilateral { rows } => {
            let mut matrix = *w;
            for i in 0..3 {
                matrix.col_mut(i)[i] += if i < rows { block.softness } else { 1.0 };
            }
            let change = matrix.inverse() * -(u + old * block.softness);
            if change.is_finite() { old + change } else { old }
        }
    }
}

#[inline]
fn at_least_zero(old: f64, u: f64, delassus: f64) -> f64 {
    if delassus > 0.0 { (old - u / delassus).max(0.0) } else { 0.0 }
}
