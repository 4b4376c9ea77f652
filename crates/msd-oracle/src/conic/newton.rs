//! Newton's method on a function that is zero if every law holds.
//!
//! The matrix of redundant contacts is singular. A proximal term regularizes it, as if `W` were `W
//! + e 1` in the step, with `e` decreasing with `F`.

use msd_problem::math::{Mat3, Vec3};

use super::alart_curnier::{slope, value};
use super::block_lu::Pattern;
use super::cells::Cells;

/// A sequence of Newton steps from one start.
pub(super) struct Newton<'a> {
    pub cells: &'a Cells,
    pub pattern: &'a Pattern,
    pub r: Vec<Vec3>,
    u: Vec<Vec3>,
    merit: f64,
    /// Factor on the usual proximal term.
    damping: f64,
}

impl<'a> Newton<'a> {
    pub fn new(cells: &'a Cells, pattern: &'a Pattern, r: Vec<Vec3>) -> Self {
        let u = cells.velocity(&r);
        let merit = size(&function(cells, &r, &u));
        Self { cells, pattern, r, u, merit, damping: 1.0 }
    }

    /// Returns `|F|`; impulses and velocities are scaled to about one.
    pub fn merit(&self) -> f64 {
        self.merit
    }

    /// Takes up to `max_steps` steps until `|F|` is within `goal`. Returns the number taken.
    pub fn run(&mut self, goal: f64, max_steps: usize) -> usize {
        let mut steps = 0;
        while self.merit > goal && steps < max_steps && self.step() {
            steps += 1;
        }
        steps
    }

    /// Takes one step. Returns false if no step reduces `|F|`.
    pub fn step(&mut self) -> bool {
        if !self.merit.is_finite() {
            return false;
        }
        let value = function(self.cells, &self.r, &self.u);
        loop {
            let usual = 1e-3 * self.merit / size(&self.r).max(1.0);
            let prox = (self.damping * usual.max(SMALLEST)).min(1.0);
            let mut direction: Vec<Vec3> = value.iter().map(|f| -*f).collect();
            if self.solve(prox, &mut direction) && self.search(&direction) {
                self.damping = (self.damping * 0.1).max(1.0);
                return true;
            }
            self.damping *= 100.0;
            if self.damping * SMALLEST > 1.0 {
                self.damping = 1.0;
                return false;
            }
        }
    }

    fn solve(&self, prox: f64, direction: &mut [Vec3]) -> bool {
        let slopes: Vec<(Mat3, Mat3)> = (0..self.cells.len())
            .map(|i| slope(self.cells.kinds[i], self.r[i], self.u[i]))
            .collect();
        let fill = |i: usize, set: &mut dyn FnMut(usize, Mat3)| {
            let (by_impulse, by_velocity) = slopes[i];
            for (j, block) in &self.cells.rows[i] {
                let mut entry = by_velocity * *block;
                if *j == i {
                    entry += by_impulse + by_velocity * prox;
                }
                set(*j, entry);
            }
        };
        self.pattern.solve(fill, direction)
    }

    /// Takes the longest of a few fractions of the step that reduces `|F|`.
    fn search(&mut self, direction: &[Vec3]) -> bool {
        let mut fraction = 1.0;
        for _ in 0..6 {
            let r: Vec<Vec3> =
                self.r.iter().zip(direction).map(|(r, d)| *r + *d * fraction).collect();
            let u = self.cells.velocity(&r);
            let merit = size(&function(self.cells, &r, &u));
            if merit < (1.0 - 1e-2 * fraction) * self.merit {
                (self.r, self.u, self.merit) = (r, u, merit);
                return true;
            }
            fraction *= 0.4;
        }
        false
    }
}

/// Smallest proximal term that is not lost in the rounding of `W`.
const SMALLEST: f64 = 1e-12;

fn size(values: &[Vec3]) -> f64 {
    values.iter().map(|v| v.length_squared()).sum::<f64>().sqrt()
}

fn function(cells: &Cells, r: &[Vec3], u: &[Vec3]) -> Vec<Vec3> {
    cells.kinds.iter().zip(r.iter().zip(u)).map(|(kind, (r, u))| value(*kind, *r, *u)).collect()
}
