//! Contact with Coulomb friction, solved exactly.
//!
//! With De Saxce's change of variable, `u^ = u + friction |u_t| n`, Coulomb's law states that `u^`
//! and `r` lie in dual cones and are perpendicular. For fixed `s = friction |u_t|` that is a convex
//! cone program; its solution gives a new `s`. The fixed-point iteration converges slowly and the
//! program alone is not Coulomb's law, so both only provide starts: from each, a non-smooth Newton
//! method on the law itself tries to converge.

mod alart_curnier;
mod block_lu;
mod cells;
mod interior;
mod multistart;
mod newton;
mod program;
mod sweep;

use msd_problem::math::Vec3;
use msd_problem::{Law, Problem, Residual, SolveReport, block_residual, residual};

use self::cells::{Cell, Cells, Kind};
use super::delassus::{Delassus, dot, is_well_formed, write_back};

/// Solves contacts with friction, joints and unilateral rows together.
///
/// The blocks' impulses are the first start, if any is not zero; if they are within `tolerance`
/// already, they are kept. `max_iterations` bounds the Newton steps of all starts together, and the
/// report counts them and the cone programs. The best impulses found are kept, even if their
/// [`Residual::relative`] is not within `tolerance`. Malformed input (see [`Delassus::new`]) is
/// left unchanged and reported with an infinite residual. Every block's `delassus` is filled.
pub fn conic(problem: &mut Problem, tolerance: f64, max_iterations: usize) -> SolveReport {
    if !is_well_formed(problem) {
        return SolveReport::rejected();
    }
    for block in problem.blocks.iter_mut() {
        block.compute_delassus(problem.bodies);
    }
    let before = residual(problem.bodies, problem.blocks);
    if before.relative() <= tolerance {
        return SolveReport { iterations: 0, converged: true, residual: before };
    }
    let Some(delassus) = Delassus::new(problem) else { return SolveReport::rejected() };
    let mut cells = Vec::with_capacity(problem.blocks.len());
    for (index, block) in problem.blocks.iter().enumerate() {
        let rows: Vec<usize> = delassus.rows_of(index).collect();
        cells.push(match block.law {
            Law::Contact { friction } => contact_cell(friction, rows),
            Law::Bilateral { .. } => (Kind::Bilateral, rows),
            Law::Unilateral => (Kind::Unilateral, rows),
        });
    }
    let cells = Cells::new(cells, &|i| delassus.row(i), delassus.free_velocity());
    let start = delassus.impulses(problem);
    let measure = |impulses: &[f64]| {
        let velocity = delassus.velocity(impulses);
        let mut worst = Residual::default();
        for (index, block) in problem.blocks.iter().enumerate() {
            let (mut u, mut r) = ([0.0; 3], [0.0; 3]);
            for (slot, row) in delassus.rows_of(index).enumerate() {
                r[slot] = impulses[row];
                u[slot] = velocity[row];
                if matches!(block.law, Law::Bilateral { .. }) {
                    u[slot] -= block.softness * r[slot];
                }
            }
            let mut tried = *block;
            tried.impulse = Vec3::from_array(r);
            worst = worst.max(&block_residual(&tried, Vec3::from_array(u)));
        }
        worst.relative()
    };
    // The bodies' velocities round differently from W r + q: aim for half the tolerance.
    let found = multistart::multistart(&cells, &measure, &start, 0.5 * tolerance, max_iterations);
    if found.impulses.iter().all(|r| r.is_finite()) {
        write_back(problem, &found.impulses);
    }
    let residual = residual(problem.bodies, problem.blocks);
    let converged = residual.relative() <= tolerance;
    SolveReport { iterations: found.iterations, converged, residual }
}

/// A contact problem in Delassus form: `u = W r + q`, three rows `[N, T1, T2]` per contact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelassusProblem {
    /// `W`, row-major, three rows and columns per contact. It need not be exactly symmetric.
    pub w: Vec<f64>,
    /// Relative velocity without impulses.
    pub q: Vec<f64>,
    /// Friction coefficient of each contact.
    pub mu: Vec<f64>,
}

/// The solution found by [`DelassusProblem::solve`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelassusSolution {
    /// Impulses `r`.
    pub impulses: Vec<f64>,
    /// Relative velocities `u = W r + q`.
    pub velocities: Vec<f64>,
    /// Error of the impulses: see [`DelassusProblem::error`].
    pub error: f64,
    /// Number of Newton steps and cone programs.
    pub iterations: usize,
    /// Whether the error is within the requested tolerance.
    pub converged: bool,
}

impl DelassusProblem {
    /// Solves for the impulses, starting from `start` if given and from zero otherwise.
    ///
    /// For inconsistent sizes, numbers that are not finite and negative friction, it returns no
    /// impulses, an infinite error and `converged: false`.
    pub fn solve(
        &self,
        start: Option<&[f64]>,
        tolerance: f64,
        max_iterations: usize,
    ) -> DelassusSolution {
        let n = self.q.len();
        let start = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
        if !self.is_well_formed() || start.len() != n || !start.iter().all(|r| r.is_finite()) {
            return DelassusSolution { error: f64::INFINITY, ..Default::default() };
        }
        let cells = self.mu.iter().enumerate();
        let cells = cells.map(|(i, &mu)| contact_cell(mu, (3 * i..3 * i + 3).collect())).collect();
        let cells = Cells::new(cells, &|i| self.row(i), &self.q);
        let measure = |impulses: &[f64]| self.error(impulses);
        let found = multistart::multistart(&cells, &measure, &start, tolerance, max_iterations);
        DelassusSolution {
            velocities: self.velocity(&found.impulses),
            converged: found.error <= tolerance,
            impulses: found.impulses,
            error: found.error,
            iterations: found.iterations,
        }
    }

    /// Returns `|r - P_K(r - u - mu |u_T| e_N)| / max(|q|, |r|, |u|)`, in Euclidean norms over all
    /// contacts, where `P_K` projects onto the product of Coulomb's cones. Zero is exact.
    ///
    /// Infinite if the sizes are inconsistent.
    pub fn error(&self, impulses: &[f64]) -> f64 {
        if impulses.len() != self.q.len() || !self.is_well_formed() {
            return f64::INFINITY;
        }
        let velocities = self.velocity(impulses);
        let mut sum = 0.0;
        let cells = self.mu.iter().zip(impulses.chunks_exact(3).zip(velocities.chunks_exact(3)));
        for (&mu, (r, u)) in cells {
            let lifted = u[0] + mu * libm::hypot(u[1], u[2]);
            let to = onto_cone([r[0] - lifted, r[1] - u[1], r[2] - u[2]], mu);
            sum += r.iter().zip(to).map(|(r, to)| (r - to) * (r - to)).sum::<f64>();
        }
        let length = |v: &[f64]| dot(v, v).sqrt();
        let scale = length(&self.q).max(length(impulses)).max(length(&velocities));
        if sum == 0.0 { 0.0 } else { sum.sqrt() / scale }
    }

    fn row(&self, i: usize) -> &[f64] {
        let n = self.q.len();
        &self.w[i * n..(i + 1) * n]
    }

    fn velocity(&self, impulses: &[f64]) -> Vec<f64> {
        self.q.iter().enumerate().map(|(i, q)| q + dot(self.row(i), impulses)).collect()
    }

    fn is_well_formed(&self) -> bool {
        let n = self.q.len();
        n == 3 * self.mu.len()
            && self.w.len() == n * n
            && self.q.iter().chain(&self.w).all(|x| x.is_finite())
            && self.mu.iter().all(|mu| mu.is_finite() && *mu >= 0.0)
    }
}

/// Creates the cell of a contact. Without friction, the tangential rows take no part.
fn contact_cell(friction: f64, mut rows: Vec<usize>) -> Cell {
    if friction > 0.0 {
        (Kind::Contact { friction }, rows)
    } else {
        rows.truncate(1);
        (Kind::Unilateral, rows)
    }
}

/// Projects `v` onto Coulomb's cone.
fn onto_cone(v: [f64; 3], mu: f64) -> [f64; 3] {
    let across = libm::hypot(v[1], v[2]);
    if across <= mu * v[0] {
        v
    } else if mu * across <= -v[0] {
        [0.0; 3]
    } else {
        let normal = (v[0] + mu * across) / (1.0 + mu * mu);
        let shrink = mu * normal / across;
        [normal, v[1] * shrink, v[2] * shrink]
    }
}
