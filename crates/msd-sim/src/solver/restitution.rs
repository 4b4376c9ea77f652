//! Restitution: a second solve, after the one that stops the impact, that sends the points apart.
//!
//! The first solve is the compression: it brings the approaching points to rest and says which of
//! them take part. Each of these must then part with `e` times the speed with which it met. With
//! several points and friction at once that law alone can create energy, so the answer is drawn back
//! towards the first solve's, along a straight line, until the contacts' work is not positive. On
//! that line every impulse stays within its cone and no point approaches.

use super::problem::{Block, Law, Problem, SolveReport, SolverBody};
use super::{Scratch, solve};
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;

/// What a contact's bounce needs beyond its block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounce {
    /// Relative velocity along the rows before this kick; of an impact within the substep, such that its
    /// mean with that after the kick is the mean of those just before and just after the impact.
    pub(crate) before: Vec3,
    /// By how much that differs from the velocity before the kick.
    pub(crate) shift: Vec3,
    /// The normal velocity to part with, m/s; zero if it is not to bounce now.
    pub(crate) target: f64,
    /// Energy that the bounce may give, J: what the impact took in earlier kicks, and what the path through
    /// the substep is paid for besides.
    pub(crate) stored: f64,
}

/// Buffers of the two answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    velocities: Vec<SpatialVector>,
    impulses: Vec<Vec3>,
    offsets: Vec<f64>,
}

/// Solves again with the blocks of positive target parting. `bounces` belong to `blocks`.
pub(crate) fn restitute(
    problem: &mut Problem<'_>,
    bounces: &[Bounce],
    settings: &Settings,
    scratch: &mut Scratch,
    answers: &mut Answers,
) -> SolveReport {
    let Answers { velocities, impulses, offsets } = answers;
    velocities.clear();
    velocities.extend(problem.members.iter().map(|&i| problem.bodies[i as usize].velocity));
    impulses.clear();
    offsets.clear();
    for (block, bounce) in problem.blocks.iter_mut().zip(bounces) {
        impulses.push(block.impulse);
        offsets.push(block.offset.x);
        if bounce.target > 0.0 {
            block.offset.x = -bounce.target;
        }
    }
    let plastic = work(problem.bodies, problem.blocks, bounces);
    let report = solve(problem, settings, scratch);
    let full = work(problem.bodies, problem.blocks, bounces);
    let allowed = bounces.iter().map(|bounce| bounce.stored).sum::<f64>();
    if full > allowed {
        // W(s) = plastic + b s + c s^2 with W(1) = full; c from the change alone.
        let share = share(problem, velocities, impulses, plastic, full, allowed);
        draw_back(problem, velocities, impulses, share);
    }
    for (block, offset) in problem.blocks.iter_mut().zip(offsets) {
        block.offset.x = *offset;
    }
    report
}

/// Work of the contacts' impulses: each acts at the mean of the velocities before and after.
pub(crate) fn work(bodies: &[SolverBody], blocks: &[Block], bounces: &[Bounce]) -> f64 {
    let mut sum = 0.0;
    for (block, bounce) in blocks.iter().zip(bounces) {
        if let Law::Contact { .. } = block.law {
            sum += 0.5 * block.impulse.dot(bounce.before + block.velocity(bodies));
        }
    }
    sum
}

/// The largest share of the way from the first answer to the second on which the work stays within
/// what is allowed.
fn share(
    problem: &Problem<'_>,
    velocities: &[SpatialVector],
    impulses: &[Vec3],
    plastic: f64,
    full: f64,
    allowed: f64,
) -> f64 {
    // The quadratic part: half the sum of impulse change times velocity change of all contacts.
    let mut square = 0.0;
    for (block, first) in problem.blocks.iter().zip(impulses) {
        if let Law::Contact { .. } = block.law {
            let old = |body: u32| match problem.members.binary_search(&body) {
                Ok(at) => velocities[at],
                Err(_) => problem.bodies[body as usize].velocity,
            };
            let (a, b) = (old(block.bodies[0]), old(block.bodies[1]));
            let before = block.velocity_of(&a, &b);
            let change = block.velocity(problem.bodies) - before;
            square += 0.5 * (block.impulse - *first).dot(change);
        }
    }
    let linear = full - plastic - square;
    let room = allowed - plastic;
    if !(room > 0.0) {
        return 0.0;
    }
    // The root of square s^2 + linear s - room in [0, 1], without cancellation.
    let root = (linear * linear + 4.0 * square * room).max(0.0).sqrt();
    let found =
        if linear >= 0.0 { 2.0 * room / (linear + root) } else { (root - linear) / (2.0 * square) };
    if found.is_finite() { found.clamp(0.0, 1.0) } else { 0.0 }
}

fn draw_back(
    problem: &mut Problem<'_>,
    velocities: &[SpatialVector],
    impulses: &[Vec3],
    share: f64,
) {
    for (&index, first) in problem.members.iter().zip(velocities) {
        let velocity = &mut problem.bodies[index as usize].velocity;
        *velocity = *first + (*velocity - *first) * share;
    }
    for (block, first) in problem.blocks.iter_mut().zip(impulses) {
        block.impulse = *first + (block.impulse - *first) * share;
    }
}
