//! Contact without friction, exactly: a primal active-set method.
//!
//! The impulses minimise `1/2 r'Wr + q'r`, those of contacts and one-sided rows not below zero.
//! `W` is singular as soon as contacts are redundant. The method therefore keeps the set of acting
//! rows linearly independent: a row that depends on them takes the place of another instead of
//! joining them.

use super::delassus::{Delassus, DelassusScratch, dot, is_well_formed, set_impulse};
use super::dense::{Cholesky, inverse_root_scale, pivot};
use super::problem::{Block, Law, Problem, Residual, SolveReport, SolverBody, block_residual};
use crate::math::Vec3;

/// Solves the problem as if every friction were zero.
///
/// Impulses across contact normals are set to zero. The start is the set of rows whose impulse is
/// positive; if these impulses are within `tolerance` already, they stay. At most `max_iterations`
/// times all violated rows join the acting set, or one row joins or leaves it.
///
/// The report's residual is that of [`residual`](super::residual) over the same blocks with every
/// friction replaced by 0, so `signorini` and `joint` are what the method is answerable for, and
/// `cone` and `dissipation` are zero because no impulse acts across a normal. `converged` says that
/// [`Residual::relative`] is within `tolerance`. Malformed input (see [`Delassus::new`]) is left as
/// it is and reported with an infinite residual. Every block's `delassus` is filled.
pub fn active_set(problem: &mut Problem, tolerance: f64, max_iterations: usize) -> SolveReport {
    ActiveSet::default().solve(problem, tolerance, max_iterations)
}

/// What the method works with, kept so that later solves need no new memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveSet {
    delassus: Delassus,
    scratch: DelassusScratch,
    search: Search,
}

impl ActiveSet {
    /// See [`active_set`].
    pub(crate) fn solve(
        &mut self,
        problem: &mut Problem,
        tolerance: f64,
        max_iterations: usize,
    ) -> SolveReport {
        let Self { delassus, scratch, search } = self;
        if !is_well_formed(problem) {
            return rejected();
        }
        for block in problem.blocks.iter_mut() {
            block.compute_delassus(problem.bodies);
        }
        for block in problem.blocks.iter_mut() {
            drop_friction(problem.bodies, block);
        }
        let start = frictionless_residual(problem);
        if start.relative() <= tolerance {
            return SolveReport { iterations: 0, converged: true, residual: start };
        }
        if !delassus.rebuild(problem, frictionless_rows, scratch) {
            return rejected();
        }
        search.set_up(problem, delassus);
        search.start(&scratch.impulses);
        let iterations = search.run(max_iterations);
        if search.x.iter().all(|x| x.is_finite()) {
            let mut found = search.x.iter().zip(&search.scale).map(|(x, scale)| x * scale);
            for block in problem.blocks.iter_mut() {
                let mut impulse = [0.0; 3];
                let used = frictionless_rows(&block.law);
                impulse.iter_mut().zip(found.by_ref().take(used)).for_each(|(to, from)| *to = from);
                set_impulse(problem.bodies, block, Vec3::from_array(impulse));
            }
        }
        let residual = frictionless_residual(problem);
        SolveReport { iterations, converged: residual.relative() <= tolerance, residual }
    }
}

/// How many rows take part: of a contact, that along the normal.
fn frictionless_rows(law: &Law) -> usize {
    match law {
        Law::Contact { .. } | Law::Unilateral => 1,
        Law::Bilateral { rows } => *rows,
    }
}

/// Takes back what acts across the normal of a contact.
fn drop_friction(bodies: &mut [SolverBody], block: &mut Block) {
    let across = block.impulse.y != 0.0 || block.impulse.z != 0.0;
    if across && !matches!(block.law, Law::Bilateral { .. }) {
        set_impulse(bodies, block, Vec3::new(block.impulse.x, 0.0, 0.0));
    }
}

/// How far the impulses are from the laws without friction.
fn frictionless_residual(problem: &Problem) -> Residual {
    let mut worst = Residual::default();
    for block in problem.blocks.iter() {
        let mut frictionless = *block;
        if let Law::Contact { friction } = &mut frictionless.law {
            *friction = 0.0;
        }
        let u = block.velocity(problem.bodies) + block.offset;
        worst = worst.max(&block_residual(&frictionless, u));
    }
    worst
}

/// What is said of input that no answer can be given to.
pub(super) fn rejected() -> SolveReport {
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
const PIVOT_ROUNDINGS: f64 = 64.0;

/// An acting row can make room for a dependent one only if it has at least this share in it:
/// otherwise what is left would be as dependent as before (its square counts).
const MIN_SHARE: f64 = 1e-6;

/// The quadratic program with unit diagonal, and where the method stands.
#[derive(Clone, Debug, Default)]
struct Search {
    /// Powers of two: `r = scale x`.
    scale: Vec<f64>,
    /// Whether the impulse may have any sign.
    bilateral: Vec<bool>,
    matrix: Vec<f64>,
    q: Vec<f64>,
    x: Vec<f64>,
    /// The rows that act, in the order of the factor.
    active: Vec<usize>,
    factor: Cholesky,
    is_active: Vec<bool>,
    /// The row of the factor that was looked at last, and what it is a combination of.
    head: Vec<f64>,
    shares: Vec<f64>,
    /// Rows of the factor for every row that wants to act at the start, and what each leaves of its
    /// diagonal.
    heads: Vec<f64>,
    left: Vec<f64>,
    candidates: Vec<usize>,
    violated: Vec<(usize, f64)>,
    /// Rows that only rounding wants in. Asked again once the answer has moved.
    rejected: Vec<bool>,
    before: Vec<f64>,
    step: Vec<f64>,
}

impl Search {
    fn set_up(&mut self, problem: &Problem, delassus: &Delassus) {
        let Self { scale, bilateral, matrix, q, x, .. } = self;
        let n = delassus.dimension();
        bilateral.clear();
        for (index, block) in problem.blocks.iter().enumerate() {
            let is_joint = matches!(block.law, Law::Bilateral { .. });
            bilateral.extend(delassus.rows_of(index).map(|_| is_joint));
        }
        scale.clear();
        scale.extend((0..n).map(|i| inverse_root_scale(delassus.row(i)[i])));
        matrix.clear();
        for (i, own) in scale.iter().enumerate() {
            let entries = delassus.row(i).iter().zip(&*scale);
            matrix.extend(entries.map(|(entry, other)| own * entry * other));
        }
        q.clear();
        q.extend(delassus.free_velocity().iter().zip(&*scale).map(|(free, s)| free * s));
        x.clear();
        x.resize(n, 0.0);
        self.factor.reset(n);
        self.violated.clear();
        self.violated.reserve(n);
        // Whatever the search comes to, none of them gets longer.
        for list in [&mut self.active, &mut self.candidates] {
            list.clear();
            list.reserve(n);
        }
        for list in [&mut self.head, &mut self.shares, &mut self.before, &mut self.step] {
            list.clear();
            list.reserve(n);
        }
        self.is_active.clear();
        self.is_active.resize(n, false);
        self.rejected.clear();
        self.rejected.resize(n, false);
    }

    /// Joints act from the beginning, and so does what already pushes: of each, the most
    /// independent rows first.
    fn start(&mut self, impulses: &[f64]) {
        let n = self.x.len();
        self.before.clear();
        self.before.extend(impulses.iter().zip(&self.scale).map(|(impulse, s)| impulse / s));
        if self.heads.len() < n * n {
            self.heads.resize(n * n, 0.0);
        }
        self.left.clear();
        self.left.resize(n, 0.0);
        for joints in [true, false] {
            self.candidates.clear();
            let Self { bilateral, before, candidates, .. } = self;
            candidates
                .extend((0..n).filter(|&i| bilateral[i] == joints && (joints || before[i] > 0.0)));
            for at in 0..self.candidates.len() {
                let i = self.candidates[at];
                self.left[i] = self.load_candidate(i);
                self.heads[i * n..i * n + self.head.len()].copy_from_slice(&self.head);
            }
            while let Some(at) = self.most_independent() {
                let i = self.candidates.swap_remove(at);
                self.head.clear();
                self.head.extend_from_slice(&self.heads[i * n..i * n + self.active.len()]);
                let left = pivot(&self.head, self.row(i)[i]);
                if !self.is_independent(i, left) {
                    continue;
                }
                self.activate(i, left);
                self.x[i] = self.before[i];
                self.eliminate(i);
            }
        }
    }

    /// Which of the rows that want to act has most left of its diagonal; none if there is none that
    /// has anything.
    fn most_independent(&self) -> Option<usize> {
        let mut best = (0.0, None);
        for (at, &i) in self.candidates.iter().enumerate() {
            let share = self.left[i] / self.row(i)[i];
            if share > best.0 {
                best = (share, Some(at));
            }
        }
        best.1
    }

    /// Takes the row that joined last out of all that still want to.
    fn eliminate(&mut self, joined: usize) {
        let n = self.x.len();
        let Some((corner, head)) = self.factor.last().split_last() else { return };
        for &i in &self.candidates {
            let own = &mut self.heads[i * n..i * n + head.len() + 1];
            let known = dot(head, own);
            let entry = (self.matrix[i * n + joined] - known) / corner;
            own[head.len()] = entry;
            self.left[i] -= entry * entry;
        }
    }

    fn run(&mut self, max_iterations: usize) -> usize {
        let mut iterations = self.solve_active(max_iterations);
        while iterations < max_iterations {
            // Late in a long search the first row alone, which cannot cycle.
            let late = iterations > 2 * self.x.len() && iterations > max_iterations / 2;
            self.find_violated();
            if self.violated.is_empty() {
                break;
            }
            iterations += 1;
            self.before.clone_from(&self.x);
            if !late && self.violated.len() > 1 && self.activate_violated() {
                iterations += self.solve_active(max_iterations - iterations);
                if self.x != self.before {
                    self.rejected.fill(false);
                    continue;
                }
            }
            let i = if late { self.violated[0].0 } else { self.most_violated() };
            if self.is_active[i] {
                continue;
            }
            let left = self.load_candidate(i);
            let joined = if self.is_independent(i, left) {
                self.activate(i, left);
                true
            } else {
                self.exchange(i)
            };
            if joined {
                iterations += self.solve_active(max_iterations.saturating_sub(iterations));
            }
            if self.is_active[i] || self.x != self.before {
                self.rejected.fill(false);
            }
            self.rejected[i] = !self.is_active[i];
        }
        self.refine();
        iterations
    }

    /// Lists the rows that are violated as far as rounding lets one see, each with its gradient.
    fn find_violated(&mut self) {
        let n = self.x.len();
        let Self { violated, rejected, is_active, bilateral, matrix, q, x, active, .. } = self;
        violated.clear();
        for i in 0..n {
            if is_active[i] || rejected[i] || bilateral[i] {
                continue;
            }
            let row = &matrix[i * n..(i + 1) * n];
            let gradient = q[i] + dot(row, x);
            let size: f64 =
                q[i].abs() + row.iter().zip(&*x).map(|(a, x)| (a * x).abs()).sum::<f64>();
            let visible = (8.0 + active.len() as f64) * f64::EPSILON * size;
            if gradient < -visible {
                violated.push((i, gradient));
            }
        }
    }

    fn most_violated(&self) -> usize {
        let worst = self
            .violated
            .iter()
            .fold((0, 0.0), |worst, &next| if next.1 < worst.1 { next } else { worst });
        worst.0
    }

    /// Lets every violated row join that is independent of those before it. Whether there are any.
    fn activate_violated(&mut self) -> bool {
        let mut any = false;
        for at in 0..self.violated.len() {
            let i = self.violated[at].0;
            let left = self.load_candidate(i);
            if self.is_independent(i, left) {
                self.activate(i, left);
                any = true;
            }
        }
        any
    }

    /// Goes towards the optimum of the acting rows, letting go of each that would have to pull.
    fn solve_active(&mut self, most: usize) -> usize {
        let mut left = 0;
        loop {
            let Self { active, q, factor, step: z, x, bilateral, .. } = self;
            z.clear();
            z.extend(active.iter().map(|&i| -q[i]));
            factor.solve(z);
            let mut step = 1.0;
            let mut stop = None;
            for (at, &i) in active.iter().enumerate() {
                if !bilateral[i] && !(z[at] > 0.0) {
                    let gap = x[i] - z[at];
                    let until = if gap > 0.0 { x[i] / gap } else { 0.0 };
                    if stop.is_none() || until < step {
                        (step, stop) = (until, Some(at));
                    }
                }
            }
            for (at, &i) in active.iter().enumerate() {
                let moved = x[i] + step * (z[at] - x[i]);
                x[i] = if stop.is_none() { z[at] } else { moved };
                if !bilateral[i] {
                    x[i] = x[i].max(0.0);
                }
            }
            let Some(at) = stop else { return left };
            self.deactivate(at);
            if left >= most {
                return left;
            }
            left += 1;
        }
    }

    /// Lets a row that depends on the acting ones take the place of one of them. False if none
    /// gives way: then no impulse can satisfy the row. The row was looked at last.
    fn exchange(&mut self, i: usize) -> bool {
        // Along (-shares, 1) no velocity changes: go until one of the acting rows is free.
        let mut first: Option<(f64, usize)> = None;
        for (at, &j) in self.active.iter().enumerate() {
            let falls = self.shares[at];
            if !self.bilateral[j] && falls > MIN_SHARE {
                let until = self.x[j] / falls;
                if first.is_none_or(|(least, _)| until < least) {
                    first = Some((until, at));
                }
            }
        }
        let Some((step, out)) = first else { return false };
        for (at, &j) in self.active.iter().enumerate() {
            self.x[j] -= step * self.shares[at];
            if !self.bilateral[j] {
                self.x[j] = self.x[j].max(0.0);
            }
        }
        self.deactivate(out);
        let left = self.load_candidate(i);
        if self.is_independent(i, left) {
            self.activate(i, left);
            self.x[i] = step;
        }
        true
    }

    /// One step of iterative refinement: what a long chain of updates has lost comes back.
    fn refine(&mut self) {
        let n = self.x.len();
        let Self { active, q, matrix, x, factor, step: change, bilateral, .. } = self;
        for _ in 0..2 {
            change.clear();
            change.extend(active.iter().map(|&i| -q[i] - dot(&matrix[i * n..(i + 1) * n], x)));
            factor.solve(change);
            for (&i, change) in active.iter().zip(&*change) {
                let refined = x[i] + change;
                if bilateral[i] || refined > 0.0 {
                    x[i] = refined;
                }
            }
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        let n = self.x.len();
        &self.matrix[i * n..(i + 1) * n]
    }

    /// Finds the row of the factor that a row would be. Returns what is left of its diagonal.
    fn load_candidate(&mut self, i: usize) -> f64 {
        let n = self.x.len();
        let Self { matrix, active, factor, head, .. } = self;
        let row = &matrix[i * n..(i + 1) * n];
        head.clear();
        head.extend(active.iter().map(|&j| row[j]));
        factor.candidate(head, row[i])
    }

    /// Whether the row that was looked at last says something that the acting ones do not, and what
    /// they have in it. What is left of its diagonal carries the rounding of all that was taken
    /// away, so the sizes of the shares count.
    fn is_independent(&mut self, i: usize, left: f64) -> bool {
        self.shares.clone_from(&self.head);
        self.factor.combination(&mut self.shares);
        let size = 1.0 + self.shares.iter().map(|share| share.abs()).sum::<f64>();
        left > PIVOT_ROUNDINGS * f64::EPSILON * size * size * self.row(i)[i]
    }

    /// Lets the row that was looked at last join.
    fn activate(&mut self, i: usize, left: f64) {
        self.factor.push(&self.head, left);
        self.active.push(i);
        self.is_active[i] = true;
    }

    fn deactivate(&mut self, at: usize) {
        self.factor.remove(at);
        let i = self.active.remove(at);
        self.is_active[i] = false;
        self.x[i] = 0.0;
    }
}
