//! A [`Problem`] in Delassus form, with the bodies eliminated: `u = W r + q`, dense.
//!
//! `W = J M^-1 J^T` over the rows in use, block after block, and `q` is the relative velocity
//! without impulses. The exact methods work on this form; [`write_back`] applies their solution to
//! the bodies.

use std::ops::Range;

use msd_problem::math::{Mat3, SpatialVector, Vec3};
use msd_problem::{Block, Law, Problem, SolverBody};

/// The dense `W` and `q` of a problem, for the rows in use.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(alias = "LCP")]
pub struct Delassus {
    /// `W`, row-major and symmetric to the bit, with the softness of [`Law::Bilateral`] on the
    /// diagonal.
    matrix: Vec<f64>,
    free: Vec<f64>,
    /// Index of each block's first row, followed by the number of rows.
    starts: Vec<usize>,
}

impl Delassus {
    /// Builds `W` and `q` from the bodies' velocities, which include the blocks' impulses: `q = u -
    /// W r`.
    ///
    /// Returns `None` if the problem is malformed: a number that is not finite, an index out of
    /// range, more than three rows, a negative friction, softness or mass.
    pub fn new(problem: &Problem) -> Option<Self> {
        let mut built = Self::default();
        let fits = is_well_formed(problem)
            && built.rebuild(problem, |law| law.rows(), &mut DelassusScratch::default());
        fits.then_some(built)
    }

    /// Rebuilds the matrix in place for a well-formed problem, with only the first `used` rows of
    /// each block; the impulses along other rows must be zero. Returns false if an entry is not
    /// finite.
    pub(super) fn rebuild(
        &mut self,
        problem: &Problem,
        used: impl Fn(&Law) -> usize,
        scratch: &mut DelassusScratch,
    ) -> bool {
        self.starts.clear();
        scratch.impulses.clear();
        let mut count = 0;
        for block in problem.blocks.iter() {
            self.starts.push(count);
            let used = used(&block.law);
            count += used;
            scratch.impulses.extend_from_slice(&block.impulse.to_array()[..used]);
        }
        self.starts.push(count);
        self.matrix.clear();
        self.matrix.resize(count * count, 0.0);
        self.free.clear();
        self.free.resize(count, 0.0);
        self.fill_matrix(problem, scratch);
        self.fill_free(problem, &scratch.impulses);
        self.matrix.iter().chain(&self.free).all(|x| x.is_finite())
    }

    /// Returns the number of rows.
    pub fn dimension(&self) -> usize {
        self.free.len()
    }

    /// Returns a row of `W`.
    pub fn row(&self, row: usize) -> &[f64] {
        let n = self.dimension();
        &self.matrix[row * n..(row + 1) * n]
    }

    /// Returns `q`, the relative velocity without impulses, offset included.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free
    }

    /// Returns the rows of a block.
    pub fn rows_of(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Returns the problem's impulses as one vector.
    pub fn impulses(&self, problem: &Problem) -> Vec<f64> {
        let mut impulses = Vec::with_capacity(self.dimension());
        for block in problem.blocks.iter() {
            impulses.extend_from_slice(&block.impulse.to_array()[..block.law.rows()]);
        }
        impulses
    }

    /// Returns `W r + q`. For soft rows this is `u + softness r`, which must be zero.
    pub fn velocity(&self, impulses: &[f64]) -> Vec<f64> {
        let row = |i: usize| self.free[i] + dot(self.row(i), impulses);
        (0..self.dimension()).map(row).collect()
    }

    fn fill_matrix(
        &mut self,
        problem: &Problem,
        DelassusScratch { rows: scratch, .. }: &mut DelassusScratch,
    ) {
        let n = self.dimension();
        scratch.iter_mut().for_each(Vec::clear);
        if scratch.len() < problem.bodies.len() {
            scratch.resize(problem.bodies.len(), Vec::new());
        }
        for (index, block) in problem.blocks.iter().enumerate() {
            for (row, i) in block.rows.iter().zip(self.rows_of(index)) {
                let [a, b] = block.bodies;
                scratch[a as usize].push((i, SpatialVector::new(-row.linear, -row.angular_a)));
                scratch[b as usize].push((i, SpatialVector::new(row.linear, row.angular_b)));
            }
        }
        for (body, rows) in problem.bodies.iter().zip(&*scratch) {
            if !can_move(body) {
                continue;
            }
            for (position, (i, first)) in rows.iter().enumerate() {
                let response = body.response(*first);
                for (j, second) in &rows[position..] {
                    let value =
                        second.linear.dot(response.linear) + second.angular.dot(response.angular);
                    // A block with the same body on both sides contributes twice to its diagonal.
                    let twice = i == j && !std::ptr::eq(first, second);
                    self.matrix[i.min(j) * n + i.max(j)] += if twice { 2.0 * value } else { value };
                }
            }
        }
        for (index, block) in problem.blocks.iter().enumerate() {
            if matches!(block.law, Law::Bilateral { .. }) {
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

    fn fill_free(&mut self, problem: &Problem, impulses: &[f64]) {
        for (index, block) in problem.blocks.iter().enumerate() {
            let soft =
                if matches!(block.law, Law::Bilateral { .. }) { block.softness } else { 0.0 };
            let u = block.velocity(problem.bodies) + block.offset + block.impulse * soft;
            for (i, u) in self.rows_of(index).zip(u.to_array()) {
                self.free[i] = u - dot(self.row(i), impulses);
            }
        }
    }
}

/// The buffers for building a [`Delassus`], reused.
#[derive(Clone, Debug, Default)]
pub(super) struct DelassusScratch {
    /// For each body, the rows that act on it, with their Jacobians. `W` is the sum over bodies of
    /// the products of these rows.
    rows: Vec<Vec<(usize, SpatialVector)>>,
    /// The problem's impulses along the rows in use, as one vector.
    pub impulses: Vec<f64>,
}

/// Sets the blocks' impulses and updates the bodies' velocities by the change, so that both stay
/// consistent. Bodies that impulses cannot move keep every bit.
pub fn write_back(problem: &mut Problem, impulses: &[f64]) {
    let mut next = impulses.iter();
    for block in problem.blocks.iter_mut() {
        let mut target = [0.0; 3];
        for (slot, value) in target.iter_mut().zip(next.by_ref().take(block.law.rows())) {
            *slot = *value;
        }
        set_impulse(problem.bodies, block, Vec3::from_array(target));
    }
}

/// Sets a block's impulse and updates the velocities of its bodies by the change.
pub(super) fn set_impulse(bodies: &mut [SolverBody], block: &mut Block, impulse: Vec3) {
    let change = impulse - block.impulse;
    block.impulse = impulse;
    let (mut linear, mut about_a, mut about_b) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for (row, amount) in block.rows.iter().zip(change.to_array()) {
        linear += row.linear * amount;
        about_a += row.angular_a * amount;
        about_b += row.angular_b * amount;
    }
    let [a, b] = block.bodies.map(|body| body as usize);
    let a = &mut bodies[a];
    if can_move(a) {
        a.velocity = a.velocity - a.response(SpatialVector::new(linear, about_a));
    }
    let b = &mut bodies[b];
    if can_move(b) {
        let change = b.response(SpatialVector::new(linear, about_b));
        b.velocity += change;
    }
}

/// Returns the dot product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn can_move(body: &SolverBody) -> bool {
    body.inverse_mass > 0.0 || body.inverse_inertia != Mat3::ZERO
}

pub(super) fn is_well_formed(problem: &Problem) -> bool {
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
                Law::Bilateral { rows } => {
                    rows <= 3 && block.softness.is_finite() && block.softness >= 0.0
                }
                Law::Unilateral => true,
            };
            let rows = block.rows.iter().all(|row| {
                row.linear.is_finite() && row.angular_a.is_finite() && row.angular_b.is_finite()
            });
            let finite = rows && block.offset.is_finite() && block.impulse.is_finite();
            law && finite && block.bodies.iter().all(|&b| (b as usize) < problem.bodies.len())
        })
}
