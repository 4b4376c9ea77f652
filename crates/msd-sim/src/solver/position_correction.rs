//! Position correction: displacements that remove position errors without adding velocity.
//!
//! After the velocities are solved, a few sweeps with the errors as targets give every body a
//! pseudo-velocity. Its difference from the true velocity, times the time step, is the
//! displacement; the true velocities and impulses are then restored. The impulses keep their loads
//! meanwhile, so a body can be moved by unloading one side as well as by pushing.

use super::sweep::Sweeps;
use super::{Block, Law, Problem};
use crate::math::{SpatialVector, Vec3};

/// Minimum and maximum number of sweeps. Few sweeps leave a result that depends on the order of the
/// blocks; the next substep corrects the remaining errors.
const SWEEPS: (usize, usize) = (4, 64);

/// Budget of block visits: a small island gets as many sweeps as fit.
const BLOCK_VISITS: usize = 512;

/// The velocities and blocks to restore, as buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedState {
    velocities: Vec<SpatialVector>,
    blocks: Vec<(Law, Vec3, Vec3)>,
}

/// How fast errors are corrected.
pub(crate) struct Rate {
    /// Share of an error to correct.
    pub(crate) share: f64,
    /// Maximum speed, m/s.
    pub(crate) speed: f64,
    /// Duration, s.
    pub(crate) h: f64,
}

/// Fills `displacements`, by body, with displacements (m, rad) that reduce the `errors`. These are
/// given by block along the rows, negative for a penetrating contact.
pub(crate) fn correct_positions(
    problem: &mut Problem<'_>,
    errors: &[Vec3],
    rate: &Rate,
    displacements: &mut [SpatialVector],
    saved: &mut SavedState,
    sweeps: &mut Sweeps,
) {
    saved.velocities.clear();
    saved.velocities.extend(problem.members.iter().map(|&i| problem.bodies[i as usize].velocity));
    saved.blocks.clear();
    for (block, error) in problem.blocks.iter_mut().zip(errors) {
        saved.blocks.push((block.law, block.impulse, block.offset));
        let wanted = (*error * (rate.share / rate.h)).clamp_length_max(rate.speed);
        set_target(block, wanted);
    }
    let count = (BLOCK_VISITS / problem.blocks.len().max(1)).clamp(SWEEPS.0, SWEEPS.1);
    sweeps.sweep(problem, count as u32);
    for (&index, velocity) in problem.members.iter().zip(&saved.velocities) {
        let body = &mut problem.bodies[index as usize].velocity;
        displacements[index as usize] = (*body - *velocity) * rate.h;
        *body = *velocity;
    }
    for (block, saved) in problem.blocks.iter_mut().zip(&saved.blocks) {
        (block.law, block.impulse, block.offset) = *saved;
    }
}

/// Sets the target of a block. A contact pushes without friction, which would slow a body that
/// slides while it is pushed out: its tangential impulse stays in the velocities and out of the
/// sweep.
fn set_target(block: &mut Block, wanted: Vec3) {
    match block.law {
        Law::Contact { .. } | Law::Unilateral => {
            block.law = Law::Unilateral;
            block.impulse = Vec3::new(block.impulse.x, 0.0, 0.0);
            if wanted.x < 0.0 {
                block.offset = wanted;
            }
        }
        Law::Bilateral { .. } if block.softness == 0.0 => block.offset += wanted,
        Law::Bilateral { .. } => {}
    }
}
