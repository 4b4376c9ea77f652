//! Impulses of least norm among those that hold a face in the same way.
//!
//! Three points hold a face, four or more are redundant: the laws leave open how a load is shared, and friction at one
//! corner may balance that at another. Where all points of a pair stick, their impulses are replaced by those of least
//! norm with the same force and torque, so that each corner of a cube at rest carries a quarter of its weight and
//! nothing sideways. Velocities stay as they are, but for rounding.

use super::{Block, Law, Problem, norm};
use crate::math::Vec3;

/// Pivots below this fraction of the largest entry are rounding: the equation depends on the others.
const DEPENDENT: f64 = 1e-12;

/// Largest change of force and torque, relative to the impulses and arms.
const ROUNDING: f64 = 1e-14;

type Wrench = [f64; 6];

/// Shares the loads of pairs that stick. Points slower than `still` (m/s), relative to the other body, stick or touch.
/// `closed` is a buffer. Returns whether an impulse changed.
pub(super) fn share_loads(problem: &mut Problem<'_>, still: f64, closed: &mut Vec<u32>) -> bool {
    let mut any = false;
    let mut from = 0;
    while from < problem.blocks.len() {
        let bodies = problem.blocks[from].bodies;
        let same = problem.blocks[from..].iter().take_while(|block| block.bodies == bodies);
        let until = from + same.count();
        if until - from > 1 && find_closed(problem, from..until, still, closed) {
            any |= share_load(problem, closed);
        }
        from = until;
    }
    any
}

/// Lists the points of a pair that touch. Returns whether there are several, and all those with a load stick.
fn find_closed(
    problem: &Problem<'_>,
    range: std::ops::Range<usize>,
    still: f64,
    closed: &mut Vec<u32>,
) -> bool {
    closed.clear();
    for at in range {
        let block = &problem.blocks[at];
        let Law::Contact { .. } = block.law else { return false };
        let u = block.velocity(problem.bodies) + block.offset;
        if u.length() <= still {
            closed.push(at as u32);
        } else if block.impulse != Vec3::ZERO {
            return false;
        }
    }
    closed.len() > 1
}

fn share_load(problem: &mut Problem<'_>, closed: &mut Vec<u32>) -> bool {
    while closed.len() > 1 {
        let Some(change) = LoadChange::find(problem, closed) else { return false };
        let share = |&at: &u32| {
            let block = &problem.blocks[at as usize];
            longest(block, change.of(block))
        };
        // Points that should pull, or push too little for their friction, stay without a load.
        let idle =
            |at: &u32| problem.blocks[*at as usize].impulse == Vec3::ZERO && share(at) == 0.0;
        if let Some(place) = closed.iter().position(idle) {
            closed.remove(place);
            continue;
        }
        let share = closed.iter().map(share).fold(1.0, f64::min);
        for &at in closed.iter().filter(|_| share > 0.0) {
            let block = &problem.blocks[at as usize];
            let impulse = block.impulse + change.of(block) * share;
            block.apply(problem.bodies, impulse - block.impulse);
            problem.blocks[at as usize].impulse = impulse;
        }
        return share > 0.0;
    }
    false
}

/// The change of impulses to those of least norm.
struct LoadChange {
    /// Mean arm of the points of B, and their largest distance from it.
    center: Vec3,
    length: f64,
    multipliers: Wrench,
}

impl LoadChange {
    /// Finds the change for some points of a pair; `None` if rounding would change the load.
    fn find(problem: &Problem<'_>, closed: &[u32]) -> Option<Self> {
        let blocks = || closed.iter().map(|&at| &problem.blocks[at as usize]);
        let center = blocks().map(arm).sum::<Vec3>() / closed.len() as f64;
        let length = blocks().map(|block| (arm(block) - center).length()).fold(0.0, f64::max);
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        // With impulses r and columns W, the solution is W^T y, where (W W^T) y = W r.
        let (mut matrix, mut load) = ([[0.0; 6]; 6], [0.0; 6]);
        for block in blocks() {
            for (row, column) in columns(block, center, length) {
                for i in 0..6 {
                    load[i] += column[i] * block.impulse[row];
                    for j in 0..6 {
                        matrix[i][j] += column[i] * column[j];
                    }
                }
            }
        }
        let found = Self { center, length, multipliers: solve(&mut matrix, &mut load) };
        keeps_load(blocks().map(|block| (block, found.of(block)))).then_some(found)
    }

    /// Returns the change of a block.
    fn of(&self, block: &Block) -> Vec3 {
        let mut change = -block.impulse;
        for (row, column) in columns(block, self.center, self.length) {
            change[row] += (0..6).map(|i| column[i] * self.multipliers[i]).sum::<f64>();
        }
        change
    }
}

/// Returns the arm of B.
fn arm(block: &Block) -> Vec3 {
    let twice: Vec3 = block.rows.iter().map(|row| row.linear.cross(row.angular_b)).sum();
    0.5 * twice
}

/// Returns the rows in use, and the force and torque about a point at this arm of B, in units of a length, of their unit
/// impulses.
fn columns(block: &Block, center: Vec3, length: f64) -> impl Iterator<Item = (usize, Wrench)> {
    let Law::Contact { friction } = block.law else { unreachable!("only contacts share loads") };
    let rows = if friction > 0.0 { 3 } else { 1 };
    block.rows[..rows].iter().enumerate().map(move |(number, row)| {
        let torque = (row.angular_b - center.cross(row.linear)) / length;
        let force = row.linear;
        (number, [force.x, force.y, force.z, torque.x, torque.y, torque.z])
    })
}

/// Solves a positive semidefinite system that has solutions, for one of them.
fn solve(matrix: &mut [[f64; 6]; 6], load: &mut Wrench) -> Wrench {
    let largest = (0..6).map(|i| matrix[i][i]).fold(0.0, f64::max);
    let (mut order, mut count, mut left) = ([0; 6], 0, [true; 6]);
    while let Some(pivot) = (0..6)
        .filter(|&i| left[i] && matrix[i][i] > DEPENDENT * largest)
        .max_by(|&i, &j| matrix[i][i].total_cmp(&matrix[j][j]).then(j.cmp(&i)))
    {
        left[pivot] = false;
        order[count] = pivot;
        count += 1;
        for i in (0..6).filter(|&i| left[i]) {
            let factor = matrix[i][pivot] / matrix[pivot][pivot];
            for j in (0..6).filter(|&j| left[j]) {
                matrix[i][j] -= factor * matrix[pivot][j];
            }
            load[i] -= factor * load[pivot];
        }
    }
    let mut found = [0.0; 6];
    for at in (0..count).rev() {
        let pivot = order[at];
        let known: f64 = order[at + 1..count].iter().map(|&j| matrix[pivot][j] * found[j]).sum();
        found[pivot] = (load[pivot] - known) / matrix[pivot][pivot];
    }
    found
}

/// Returns whether changes of impulses leave force and torques on both bodies as they are, but for rounding.
fn keeps_load<'a>(changes: impl Iterator<Item = (&'a Block, Vec3)>) -> bool {
    let (mut force, mut torques, mut size) = (Vec3::ZERO, [Vec3::ZERO; 2], [0.0; 3]);
    for (block, change) in changes {
        for (row, by) in block.rows.iter().zip(change.to_array()) {
            let most = block.impulse.length();
            force += row.linear * by;
            torques[0] += row.angular_a * by;
            torques[1] += row.angular_b * by;
            size[0] += most;
            size[1] += row.angular_a.length() * most;
            size[2] += row.angular_b.length() * most;
        }
    }
    let errors = [force, torques[0], torques[1]].map(|sum| sum.length());
    errors.iter().zip(size).all(|(error, size)| *error <= ROUNDING * size)
}

/// Returns the share of a change, up to 1, that leaves the impulse in its cone of friction.
fn longest(block: &Block, change: Vec3) -> f64 {
    let Law::Contact { friction } = block.law else { return 0.0 };
    let inside = |r: Vec3| r.x >= 0.0 && norm(r.y, r.z) <= friction * r.x;
    if inside(block.impulse + change) {
        return 1.0;
    }
    // By bisection: the set of shares is an interval from 0.
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = 0.5 * (least + most);
        match inside(block.impulse + change * middle) {
            true => least = middle,
            false => most = middle,
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3, SpatialVector};
    use crate::solver::random_problem::Random;
    use crate::solver::{Row, SolverBody};

    /// Returns a body on four points of a plane, not all of them under load, with impulses inside their cones.
    fn face(random: &mut Random) -> (Vec<SolverBody>, Vec<Block>) {
        let mut number = || 2.0 * random.next();
        let body =
            SolverBody { inverse_mass: 1.0, inverse_inertia: Mat3::IDENTITY, ..Default::default() };
        let bodies = vec![SolverBody::default(), body];
        let friction = 0.3 + number().abs();
        let blocks = (0..4).map(|_| {
            let arm = Vec3::new(number(), number(), -0.5);
            let push = (number() + 0.2).max(0.0);
            let grip = Vec3::new(0.0, number(), number());
            let impulse = Vec3::X * push + grip * (0.7 * friction * push);
            Block {
                bodies: [0, 1],
                law: Law::Contact { friction },
                rows: [Vec3::Z, Vec3::X, Vec3::Y].map(|along| Row::at(along, arm + Vec3::Z, arm)),
                offset: Vec3::ZERO,
                softness: 0.0,
                impulse,
                delassus: Mat3::IDENTITY,
            }
        });
        let blocks = blocks.collect();
        (bodies, blocks)
    }

    /// Returns the sum of squares of the impulses, and force and torque on B.
    fn sums(blocks: &[Block]) -> (f64, SpatialVector) {
        let mut load = SpatialVector::ZERO;
        for block in blocks {
            for (row, by) in block.rows.iter().zip(block.impulse.to_array()) {
                load += SpatialVector::new(row.linear, row.angular_b) * by;
            }
        }
        (blocks.iter().map(|block| block.impulse.length_squared()).sum(), load)
    }

    #[test]
    fn shared_loads_have_the_same_force_and_torque_and_no_larger_norm() {
        let mut random = Random(7);
        let mut changed = 0;
        for _ in 0..1000 {
            let (mut bodies, mut blocks) = face(&mut random);
            let (norm_before, before) = sums(&blocks);
            let problem = &mut Problem { bodies: &mut bodies, members: &[1], blocks: &mut blocks };
            changed += u32::from(share_loads(problem, f64::INFINITY, &mut Vec::new()));
            let moved = bodies[1].velocity;
            let (norm_after, after) = sums(&blocks);
            let off = after - before;
            // Rounding of about 100 products of numbers below 3.
            assert!(off.linear.length() + off.angular.length() < 1e-13, "{off:?}");
            assert!(moved.linear.length() + moved.angular.length() < 1e-13, "{moved:?}");
            assert!(norm_after <= norm_before * (1.0 + 1e-14));
            for block in &blocks {
                let Law::Contact { friction } = block.law else { unreachable!() };
                let r = block.impulse;
                assert!(r.x >= 0.0 && norm(r.y, r.z) <= friction * r.x * (1.0 + 1e-14));
            }
            // A second time there is nothing left to gain.
            let problem = &mut Problem { bodies: &mut bodies, members: &[1], blocks: &mut blocks };
            share_loads(problem, f64::INFINITY, &mut Vec::new());
            assert!(sums(&blocks).0 >= norm_after * (1.0 - 1e-8));
        }
        assert!(changed > 500, "{changed} of 1000 changed");
    }
}
