//! A [`Problem`] with its bodies eliminated: `u = W r + q`, dense.
//!
//! `W = J M^-1 J^T` over the rows in use, block after block, and `q` is the relative velocity that
//! would remain without any impulse. The exact methods work on this form; [`write_back`] takes
//! their answer to the bodies.

use std::ops::Range;

use super::problem::{Law, Problem, SolverBody};
use crate::math::{Mat3, SpatialVector, Vec3};

/// Dense `W` and `q` of a problem, rows in use only.
#[derive(Clone, Debug, PartialEq)]
pub struct Delassus {
    /// Row-major and symmetric to the bit. The softness of [`Law::Equal`] is on the diagonal.
    matrix: Vec<f64>,
    free: Vec<f64>,
    /// Where each block's rows start, and at the end how many rows there are.
    starts: Vec<usize>,
}

impl Delassus {
    /// Builds both from the bodies' velocities, which contain the blocks' impulses: `q = u - W r`.
    ///
    /// `None` if the problem is malformed: a number that is not finite, an index out of range, more
    /// than three rows, a negative friction, softness or mass.
    pub fn new(problem: &Problem) -> Option<Self> {
        if !is_well_formed(problem) {
            return None;
        }
        let mut starts = Vec::with_capacity(problem.blocks.len() + 1);
        let mut count = 0;
        for block in problem.blocks.iter() {
            starts.push(count);
            count += block.law.rows();
        }
        starts.push(count);
        let mut built = Self { matrix: vec![0.0; count * count], free: vec![0.0; count], starts };
        built.fill_matrix(problem);
        built.fill_free(problem);
        let finite = built.matrix.iter().chain(&built.free).all(|x| x.is_finite());
        finite.then_some(built)
    }

    /// How many rows there are.
    pub fn dimension(&self) -> usize {
        self.free.len()
    }

    /// One row of `W`.
    pub fn row(&self, row: usize) -> &[f64] {
        let n = self.dimension();
        &self.matrix[row * n..(row + 1) * n]
    }

    /// `q`, the relative velocity without impulses, offset included.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free
    }

    /// Which rows belong to a block.
    pub fn rows_of(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// The problem's impulses as one vector.
    pub fn impulses(&self, problem: &Problem) -> Vec<f64> {
        let mut impulses = Vec::with_capacity(self.dimension());
        for block in problem.blocks.iter() {
            impulses.extend_from_slice(&block.impulse.to_array()[..block.law.rows()]);
        }
        impulses
    }

    /// `W r + q`. For soft rows this is `u + softness r`, which the law wants to be zero.
    pub fn velocity(&self, impulses: &[f64]) -> Vec<f64> {
        let row = |i: usize| self.free[i] + dot(self.row(i), impulses);
        (0..self.dimension()).map(row).collect()
    }

    fn fill_matrix(&mut self, problem: &Problem) {
        let n = self.dimension();
        // What each row does to each body: W is the sum over bodies of the rows that meet there.
        let mut reach: Vec<Vec<(usize, SpatialVector)>> = vec![Vec::new(); problem.bodies.len()];
        for (index, block) in problem.blocks.iter().enumerate() {
            for (row, i) in block.rows.iter().zip(self.rows_of(index)) {
                let [a, b] = block.bodies;
                reach[a as usize].push((i, SpatialVector::new(-row.linear, -row.angular_a)));
                reach[b as usize].push((i, SpatialVector::new(row.linear, row.angular_b)));
            }
        }
        for (body, rows) in problem.bodies.iter().zip(&reach) {
            if !can_move(body) {
                continue;
            }
            for (position, (i, first)) in rows.iter().enumerate() {
                let response = body.response(*first);
                for (j, second) in &rows[position..] {
                    let value =
                        second.linear.dot(response.linear) + second.angular.dot(response.angular);
                    // A block whose two bodies are one meets itself in different entries.
                    let twice = i == j && !std::ptr::eq(first, second);
                    self.matrix[i.min(j) * n + i.max(j)] += if twice { 2.0 * value } else { value };
                }
            }
        }
        for (index, block) in problem.blocks.iter().enumerate() {
            if matches!(block.law, Law::Equal { .. }) {
                for i in self.rows_of(index) {
                    self.matrix[i * n + i] += block.softness;
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.matrix[i * n + j] = self.matrix[j * n + i];
            }
        }
    }

    fn fill_free(&mut self, problem: &Problem) {
        let before = self.impulses(problem);
        let mut free = Vec::with_capacity(self.dimension());
        for (index, block) in problem.blocks.iter().enumerate() {
            let soft = if matches!(block.law, Law::Equal { .. }) { block.softness } else { 0.0 };
            let u = block.velocity(problem.bodies) + block.offset + block.impulse * soft;
            for (i, u) in self.rows_of(index).zip(u.to_array()) {
                free.push(u - dot(self.row(i), &before));
            }
        }
        self.free = free;
    }
}

/// Sets the blocks' impulses, and the bodies' velocities by what has changed, so that both agree.
/// Bodies that impulses cannot move keep every bit.
pub fn write_back(problem: &mut Problem, impulses: &[f64]) {
    let mut next = impulses.iter();
    for block in problem.blocks.iter_mut() {
        let mut wanted = [0.0; 3];
        for (slot, value) in wanted.iter_mut().zip(next.by_ref().take(block.law.rows())) {
            *slot = *value;
        }
        let change = Vec3::from_array(wanted) - block.impulse;
        block.impulse = Vec3::from_array(wanted);
        let (mut linear, mut about_a, mut about_b) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for (row, amount) in block.rows.iter().zip(change.to_array()) {
            linear += row.linear * amount;
            about_a += row.angular_a * amount;
            about_b += row.angular_b * amount;
        }
        let [a, b] = block.bodies.map(|body| body as usize);
        let a = &mut problem.bodies[a];
        if can_move(a) {
            a.velocity = a.velocity - a.response(SpatialVector::new(linear, about_a));
        }
        let b = &mut problem.bodies[b];
        if can_move(b) {
            let change = b.response(SpatialVector::new(linear, about_b));
            b.velocity += change;
        }
    }
}

/// The scalar product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn can_move(body: &SolverBody) -> bool {
    body.inverse_mass > 0.0 || body.inverse_inertia != Mat3::ZERO
}

fn is_well_formed(problem: &Problem) -> bool {
    let bodies = problem.bodies.iter().all(|body| {
        body.velocity.linear.is_finite()
            && body.velocity.angular.is_finite()
            && body.inverse_mass.is_finite()
            && body.inverse_mass >= 0.0
            && body.inverse_inertia.is_finite()
    });
    bodies
        && problem.blocks.iter().all(|block| {
            let law = match block.law {
                Law::Contact { friction } => friction.is_finite() && friction >= 0.0,
                Law::Equal { rows } => {
                    rows <= 3 && block.softness.is_finite() && block.softness >= 0.0
                }
                Law::AtLeast => true,
            };
            let finite = block.offset.is_finite() && block.impulse.is_finite();
            law && finite && block.bodies.iter().all(|&b| (b as usize) < problem.bodies.len())
        })
}
