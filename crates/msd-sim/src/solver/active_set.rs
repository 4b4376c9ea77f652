//! Contact without friction, exactly: a primal active-set method.
//!
//! The impulses minimise `1/2 r'Wr + q'r`, those of contacts and one-sided rows not below zero.
//! `W` is singular as soon as contacts are redundant. The method therefore keeps the set of acting
//! rows linearly independent: a row that depends on them takes the place of another instead of
//! joining them.

use super::delassus::{Delassus, dot, write_back};
use super::dense::{Cholesky, inverse_root_scale};
use super::problem::{Law, Problem, Residual, SolveReport, block_residual};

/// Solves the problem as if every friction were zero.
///
/// Impulses across contact normals are set to zero. The start is the set of rows whose impulse is
/// positive. At most `max_iterations` rows join or leave the acting set.
///
/// The report's residual is that of [`residual`](super::residual) over the same blocks with every
/// friction replaced by 0, so `signorini` and `joint` are what the method is answerable for, and
/// `cone` and `dissipation` are zero because no impulse acts across a normal. `converged` says that
/// [`Residual::relative`] is within `tolerance`. Malformed input (see [`Delassus::new`]) is left as
/// it is and reported with an infinite residual. Every block's `coupling` is filled.
pub fn active_set(problem: &mut Problem, tolerance: f64, max_iterations: usize) -> SolveReport {
    let Some(delassus) = Delassus::new(problem) else { return refused() };
    for block in problem.blocks.iter_mut() {
        block.couple(problem.bodies);
    }
    let mut search = Search::new(problem, &delassus);
    search.start(problem, &delassus);
    let iterations = search.run(max_iterations);
    let mut impulses = vec![0.0; delassus.dimension()];
    for ((&row, scale), x) in search.rows.iter().zip(&search.scale).zip(&search.x) {
        impulses[row] = scale * x;
    }
    if impulses.iter().all(|r| r.is_finite()) {
        write_back(problem, &impulses);
    }
    let mut worst = Residual::default();
    for block in problem.blocks.iter() {
        let mut smooth = *block;
        if let Law::Contact { friction } = &mut smooth.law {
            *friction = 0.0;
        }
        let u = block.velocity(problem.bodies) + block.offset;
        worst = worst.max(&block_residual(&smooth, u));
    }
    SolveReport { iterations, converged: worst.relative() <= tolerance, residual: worst }
}

/// What is said of input that no answer can be given to.
pub(super) fn refused() -> SolveReport {
    let residual = Residual {
        signorini: f64::INFINITY,
        cone: f64::INFINITY,
        dissipation: f64::INFINITY,
        joint: f64::INFINITY,
        scale: 1.0,
    };
    SolveReport { iterations: 0, converged: false, residual }
}

/// How many roundings a pivot may be away from zero and still be taken for it.
const ROUNDINGS: f64 = 64.0;

/// An acting row can make room for a dependent one only if it has at least this share in it:
/// otherwise what is left would be as dependent as before (its square counts).
const GIVES_WAY: f64 = 1e-6;

/// The quadratic program with unit diagonal, and where the method stands.
struct Search {
    /// Rows of the Delassus matrix that take part.
    rows: Vec<usize>,
    /// Powers of two: `r = scale x`.
    scale: Vec<f64>,
    /// Whether the impulse may have any sign.
    two_sided: Vec<bool>,
    matrix: Vec<f64>,
    q: Vec<f64>,
    x: Vec<f64>,
    /// The rows that act, in the order of the factor.
    acting: Vec<usize>,
    factor: Cholesky,
    is_acting: Vec<bool>,
}

impl Search {
    fn new(problem: &Problem, delassus: &Delassus) -> Self {
        let (mut rows, mut two_sided) = (Vec::new(), Vec::new());
        for (index, block) in problem.blocks.iter().enumerate() {
            let range = delassus.rows_of(index);
            let is_joint = matches!(block.law, Law::Equal { .. });
            for row in if is_joint { range } else { range.start..range.start + 1 } {
                rows.push(row);
                two_sided.push(is_joint);
            }
        }
        let n = rows.len();
        let scale: Vec<f64> =
            rows.iter().map(|&i| inverse_root_scale(delassus.row(i)[i])).collect();
        let mut matrix = vec![0.0; n * n];
        for (i, &row) in rows.iter().enumerate() {
            for (j, &column) in rows.iter().enumerate() {
                matrix[i * n + j] = scale[i] * delassus.row(row)[column] * scale[j];
            }
        }
        let free = delassus.free_velocity();
        let q = rows.iter().zip(&scale).map(|(&i, s)| free[i] * s).collect();
        Self {
            rows,
            scale,
            two_sided,
            matrix,
            q,
            x: vec![0.0; n],
            acting: Vec::new(),
            factor: Cholesky::default(),
            is_acting: vec![false; n],
        }
    }

    /// Joints act from the beginning, and so does what already pushes: of each, the most
    /// independent rows first.
    fn start(&mut self, problem: &Problem, delassus: &Delassus) {
        let before = delassus.impulses(problem);
        let x: Vec<f64> = self.rows.iter().zip(&self.scale).map(|(&i, s)| before[i] / s).collect();
        for joints in [true, false] {
            let mut wanted: Vec<usize> = (0..self.rows.len())
                .filter(|&i| self.two_sided[i] == joints && (joints || x[i] > 0.0))
                .collect();
            loop {
                let best = wanted
                    .iter()
                    .enumerate()
                    .map(|(at, &i)| (at, self.candidate(i).pivot / self.row(i)[i]))
                    .fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
                if !(best.1 > 0.0) {
                    break;
                }
                let i = wanted.swap_remove(best.0);
                if !self.is_independent(i) {
                    continue;
                }
                self.join(i);
                self.x[i] = x[i];
            }
        }
    }

    fn run(&mut self, max_iterations: usize) -> usize {
        let mut iterations = self.settle(max_iterations);
        // Rows that only rounding wants in. Asked again once the answer has moved.
        let mut refused = vec![false; self.rows.len()];
        while iterations < max_iterations {
            let Some(i) = self.most_violated(&refused, iterations * 2 > max_iterations) else {
                break;
            };
            iterations += 1;
            let before = self.x.clone();
            let joined = if self.is_independent(i) {
                self.join(i);
                true
            } else {
                self.exchange(i)
            };
            if joined {
                iterations += self.settle(max_iterations - iterations);
            }
            if self.is_acting[i] || self.x != before {
                refused.fill(false);
            }
            refused[i] = !self.is_acting[i];
        }
        self.refine();
        iterations
    }

    /// The row that is violated most, as far as rounding lets one see. Late in a long search the
    /// first one instead, which cannot cycle.
    fn most_violated(&self, refused: &[bool], first: bool) -> Option<usize> {
        let mut worst = (0.0, None);
        for (i, &is_refused) in refused.iter().enumerate() {
            if self.is_acting[i] || is_refused || self.two_sided[i] {
                continue;
            }
            let gradient = self.q[i] + dot(self.row(i), &self.x);
            let size: f64 = self.q[i].abs()
                + self.row(i).iter().zip(&self.x).map(|(a, x)| (a * x).abs()).sum::<f64>();
            let visible = (8.0 + self.acting.len() as f64) * f64::EPSILON * size;
            if gradient < -visible && gradient < worst.0 {
                worst = (gradient, Some(i));
                if first {
                    break;
                }
            }
        }
        worst.1
    }

    /// Goes towards the optimum of the acting rows, letting go of each that would have to pull.
    fn settle(&mut self, most: usize) -> usize {
        let mut left = 0;
        loop {
            let mut z: Vec<f64> = self.acting.iter().map(|&i| -self.q[i]).collect();
            self.factor.solve(&mut z);
            let mut step = 1.0;
            let mut stop = None;
            for (at, &i) in self.acting.iter().enumerate() {
                if !self.two_sided[i] && !(z[at] > 0.0) {
                    let gap = self.x[i] - z[at];
                    let until = if gap > 0.0 { self.x[i] / gap } else { 0.0 };
                    if stop.is_none() || until < step {
                        (step, stop) = (until, Some(at));
                    }
                }
            }
            for (at, &i) in self.acting.iter().enumerate() {
                let moved = self.x[i] + step * (z[at] - self.x[i]);
                self.x[i] = if stop.is_none() { z[at] } else { moved };
                if !self.two_sided[i] {
                    self.x[i] = self.x[i].max(0.0);
                }
            }
            let Some(at) = stop else { return left };
            self.leave(at);
            if left >= most {
                return left;
            }
            left += 1;
        }
    }

    /// Lets a row that depends on the acting ones take the place of one of them. False if none
    /// gives way: then no impulse can satisfy the row.
    fn exchange(&mut self, i: usize) -> bool {
        let candidate = self.candidate(i);
        let combination = self.factor.combination(&candidate);
        // Along (-combination, 1) no velocity changes: go until one of the acting rows is free.
        let mut first: Option<(f64, usize)> = None;
        for (at, &j) in self.acting.iter().enumerate() {
            let falls = combination[at];
            if !self.two_sided[j] && falls > GIVES_WAY {
                let until = self.x[j] / falls;
                if first.is_none_or(|(least, _)| until < least) {
                    first = Some((until, at));
                }
            }
        }
        let Some((step, out)) = first else { return false };
        for (at, &j) in self.acting.iter().enumerate() {
            self.x[j] -= step * combination[at];
            if !self.two_sided[j] {
                self.x[j] = self.x[j].max(0.0);
            }
        }
        self.leave(out);
        if self.is_independent(i) {
            self.join(i);
            self.x[i] = step;
        }
        true
    }

    /// One step of iterative refinement: what a long chain of updates has lost comes back.
    fn refine(&mut self) {
        for _ in 0..2 {
            let mut change: Vec<f64> =
                self.acting.iter().map(|&i| -self.q[i] - dot(self.row(i), &self.x)).collect();
            self.factor.solve(&mut change);
            for (&i, change) in self.acting.iter().zip(change) {
                let refined = self.x[i] + change;
                if self.two_sided[i] || refined > 0.0 {
                    self.x[i] = refined;
                }
            }
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        let n = self.rows.len();
        &self.matrix[i * n..(i + 1) * n]
    }

    /// Whether a row says something that the acting ones do not. What is left of its diagonal
    /// carries the rounding of all that was taken away, so the sizes of the shares count.
    fn is_independent(&self, i: usize) -> bool {
        let candidate = self.candidate(i);
        let shares = self.factor.combination(&candidate);
        let size = 1.0 + shares.iter().map(|share| share.abs()).sum::<f64>();
        candidate.pivot > ROUNDINGS * f64::EPSILON * size * size * self.row(i)[i]
    }

    fn candidate(&self, i: usize) -> super::dense::Candidate {
        let row = self.row(i);
        self.factor.candidate(self.acting.iter().map(|&j| row[j]), row[i])
    }

    fn join(&mut self, i: usize) {
        let candidate = self.candidate(i);
        self.factor.push(candidate);
        self.acting.push(i);
        self.is_acting[i] = true;
    }

    fn leave(&mut self, at: usize) {
        self.factor.remove(at);
        let i = self.acting.remove(at);
        self.is_acting[i] = false;
        self.x[i] = 0.0;
    }
}
