//! Frictionless contact, solved exactly by a primal active-set method.
//!
//! The impulses minimize `1/2 r'Wr + q'r`, subject to non-negative impulses of contacts and
//! unilateral rows. `W` is singular if contacts are redundant. The method therefore keeps the
//! active rows linearly independent: a row that depends on them replaces one of them instead of
//! being added.

use msd_problem::math::Vec3;
use msd_problem::{Block, Law, Problem, Residual, SolveReport, SolverBody, block_residual};

use super::delassus::{Delassus, DelassusScratch, dot, is_well_formed, set_impulse};
use super::dense::{Cholesky, inverse_root_scale, pivot};

/// Solves the problem as if every friction were zero.
///
/// Tangential impulses are set to zero. The initial active set is the rows with a positive impulse;
/// if these impulses are within `tolerance` already, they are kept. An iteration adds all violated
/// rows to the active set, or adds or removes one row; there are at most `max_iterations`.
///
/// The report's residual is [`residual`](msd_problem::residual()) of the same blocks with every friction
/// replaced by 0: `signorini` and `joint` measure the method's error, `cone` and `dissipation` are
/// zero because there are no tangential impulses. `converged` is set if [`Residual::relative`] is
/// within `tolerance`. Malformed input (see [`Delassus::new`]) is left unchanged and reported with
/// an infinite residual. Every block's `delassus` is filled.
pub fn active_set(problem: &mut Problem, tolerance: f64, max_iterations: usize) -> SolveReport {
    ActiveSet::default().solve(problem, tolerance, max_iterations)
}

/// The buffers of the method, kept so that later solves do not allocate.
#[derive(Clone, Debug, Default)]
pub struct ActiveSet {
    delassus: Delassus,
    scratch: DelassusScratch,
    search: Search,
}

impl ActiveSet {
    /// Solves a problem as [`active_set`] does.
    pub fn solve(
        &mut self,
        problem: &mut Problem,
        tolerance: f64,
        max_iterations: usize,
    ) -> SolveReport {
        let Self { delassus, scratch, search } = self;
        if !is_well_formed(problem) {
            return SolveReport::rejected();
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
            return SolveReport::rejected();
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

/// Returns the number of rows that take part: of a contact, the normal row only.
fn frictionless_rows(law: &Law) -> usize {
    match law {
        Law::Contact { .. } | Law::Unilateral => 1,
        Law::Bilateral { rows } => *rows,
    }
}

/// Removes the tangential impulse of a contact.
fn drop_friction(bodies: &mut [SolverBody], block: &mut Block) {
    let across = block.impulse.y != 0.0 || block.impulse.z != 0.0;
    if across && !matches!(block.law, Law::Bilateral { .. }) {
        set_impulse(bodies, block, Vec3::new(block.impulse.x, 0.0, 0.0));
    }
}

/// Returns the residual of the impulses without friction.
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

/// Number of roundings within which a pivot counts as zero.
const PIVOT_ROUNDINGS: f64 = 64.0;

/// Minimum share of an active row in a dependent one that may replace it: with less, the remaining
/// rows would be as dependent as before (its square counts).
const MIN_SHARE: f64 = 1e-6;

/// The quadratic program scaled to unit diagonal, and the state of the method.
#[derive(Clone, Debug, Default)]
struct Search {
    /// Scales, powers of two: `r = scale x`.
    scale: Vec<f64>,
    /// Whether the impulse of a row may have any sign.
    bilateral: Vec<bool>,
    matrix: Vec<f64>,
    q: Vec<f64>,
    x: Vec<f64>,
    /// The active rows, in the order of the factor.
    active: Vec<usize>,
    factor: Cholesky,
    is_active: Vec<bool>,
    /// The factor row of the last candidate, and the candidate as a combination of the active rows.
    head: Vec<f64>,
    shares: Vec<f64>,
    /// The factor rows of all initial candidates, and what remains of their diagonals.
    heads: Vec<f64>,
    left: Vec<f64>,
    candidates: Vec<usize>,
    violated: Vec<(usize, f64)>,
    /// Rows that appear violated because of rounding only; tried again once the solution has
    /// changed.
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
        // None of these lists ever exceeds this length.
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

    /// Activates joints and rows with a positive impulse, in each case the most independent rows
    /// first.
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

    /// Returns the candidate with the largest remaining share of its diagonal, if any has one.
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

    /// Eliminates the last activated row from all remaining candidates.
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
            // Late in a long search, add only the first violated row: that rule cannot cycle.
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

    /// Lists the rows that are violated beyond rounding, with their gradients.
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

    /// Activates every violated row that is independent of those before it. Returns whether there
    /// are any.
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

    /// Moves towards the optimum of the active rows, deactivating each row that would have to pull.
    /// Returns their number, at most `max_removals`.
    fn solve_active(&mut self, max_removals: usize) -> usize {
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
            if left >= max_removals {
                return left;
            }
            left += 1;
        }
    }

    /// Replaces one of the active rows by the last candidate, which depends on them. Returns false
    /// if none can be replaced: then no impulse can satisfy the row.
    fn exchange(&mut self, i: usize) -> bool {
        // Along (-shares, 1) no velocity changes: move until the impulse of one active row is zero.
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

    /// Takes two steps of iterative refinement, which recover the precision lost in a long chain of
    /// updates.
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

    /// Makes a row the candidate by computing its factor row. Returns its pivot: what remains of
    /// its diagonal.
    fn load_candidate(&mut self, i: usize) -> f64 {
        let n = self.x.len();
        let Self { matrix, active, factor, head, .. } = self;
        let row = &matrix[i * n..(i + 1) * n];
        head.clear();
        head.extend(active.iter().map(|&j| row[j]));
        factor.candidate(head, row[i])
    }

    /// Returns whether the last candidate is independent of the active rows, and computes their
    /// shares in it. The pivot carries the rounding of everything subtracted from the diagonal, so
    /// the tolerance grows with the shares.
    fn is_independent(&mut self, i: usize, left: f64) -> bool {
        self.shares.clone_from(&self.head);
        self.factor.combination(&mut self.shares);
        let size = 1.0 + self.shares.iter().map(|share| share.abs()).sum::<f64>();
        left > PIVOT_ROUNDINGS * f64::EPSILON * size * size * self.row(i)[i]
    }

    /// Activates the last candidate.
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
