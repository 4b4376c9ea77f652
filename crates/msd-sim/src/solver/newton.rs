//! Newton's method on a whole island: exact Coulomb friction and joints in one system.
//!
//! A method of multipliers (augmented Lagrangian): with `z = r - rho u(v)` a law holds if `r =
//! P(z)`, where `P` projects onto the impulses that the law allows (for friction, onto the disk
//! given by the normal impulse). For fixed multipliers `r`, Newton's method finds the velocity
//! change `d` with
//!
//! ```text
//! g(d) = M d - J^T P(r - rho (q + J d)) = 0
//! ```
//!
//! Its matrix `M + rho J^T P' J` is as sparse as the island, and regular even if contacts are
//! redundant, as the four of a face are. Then `r <- P(z)`. Each such round divides the error by
//! about 1 plus `relative_rho` times the smallest eigenvalue of the Delassus matrix relative to its
//! diagonal blocks.

use super::block_matrix::BlockMatrix;
use super::block6::Vector6;
use super::group_kernels::{Accumulate, Assemble, Evaluate, Release};
use super::interior::Inside;
use super::row_groups::{NO_BLOCK, RowGroup, find_edges, lane_of, pack, packed, spatial};
use super::sweep::Sweeps;
use super::{Problem, Residual, residual};
use crate::math::{Mat3, SpatialVector};
use crate::simd::{self, V4};

/// Initial and largest `rho` relative to the inverse of a block's own `delassus`. A larger value
/// takes fewer rounds, but makes Newton's method more likely to fail; the rounding error of the
/// result is this times the unit round-off.
const INITIAL_RHO: f64 = 1e2;
const MAX_RHO: f64 = 1e5;

/// Largest `rho` of the round after the tolerance is reached, whose result has the rounding error of
/// its own `rho`.
const POLISHING_RHO: f64 = 3e3;

/// Factor on `rho` after a successful round; a failed round divides by its square.
const RHO_FACTOR: f64 = 10.0;

/// Target of a round's inner iteration, relative to the current error.
const INEXACT: f64 = 1e-3;

/// Sweeps after a failed round, doubled after each failure up to `MAX_DOUBLINGS` times.
const SWEEPS: u32 = 2;
const MAX_DOUBLINGS: u32 = 5;

/// Maximum number of Newton steps per set of multipliers.
const INNER_STEPS: usize = 12;

/// A round at the largest `rho` that leaves more than this share of the residual has stalled: only
/// impulses that hardly move the bodies would reduce it further, as where nearly parallel faces
/// contradict each other by rounding.
pub(crate) const STALLED: f64 = 0.9;

/// A round at the largest `rho` that leaves more than this share converges too slowly to wait for, if there is another
/// method.
const SLOW: f64 = 0.3;

/// Number of successive rounds that stall that end the method, unless the accuracy is exact.
pub(crate) const STALLS: u32 = 3;

/// Limits of Newton's method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Relative residual to reach.
    pub(crate) tolerance: f64,
    /// Maximum number of factorizations, and of block products in all of them.
    pub(crate) steps: u32,
    pub(crate) work: u32,
    /// Number of successive rounds that may stall, see [`STALLED`].
    pub(crate) stalls: u32,
    pub(crate) interior: Interior,
    /// Maximum number of block products of one factorization.
    pub(crate) products: u32,
}

/// When the interior-point method is tried, and how. It gets one chance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interior {
    /// Maximum number of its steps.
    pub(crate) steps: u32,
    /// Number of failed rounds after which it is tried; [`STALLS`] successive rounds that are [`SLOW`] do as well.
    pub(crate) failures: u32,
    /// Factor of the De Saxce shift: 1 for Coulomb's law, 0 for contacts that stick or part, among which a problem is
    /// convex.
    pub(crate) shift: f64,
}

/// The buffers of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newton {
    /// Whether to compute without SIMD registers, which changes no bit.
    scalar: bool,
    matrix: BlockMatrix,
    pub(super) groups: Vec<RowGroup>,
    /// The pairs of inertial bodies of the groups, each once per run of groups.
    edges: Vec<[u32; 2]>,
    /// For each body of the problem, its index within the island.
    island_index: Vec<u32>,
    /// Mass and inertia of each body of the island, and their inverses.
    pub(super) masses: Vec<(f64, Mat3)>,
    inverses: Vec<(f64, Mat3)>,
    free: Vec<SpatialVector>,
    /// Velocity changes due to the impulses, followed by zero for the environment.
    pub(super) change: Vec<Vector6>,
    trial: Vec<Vector6>,
    step: Vec<Vector6>,
    best: Vec<V4>,
    pub(super) inside: Inside,
    /// Number of block products so far.
    products: u64,
}

const OUTSIDE: u32 = u32::MAX;

impl Newton {
    /// Improves the problem's impulses until the relative residual is within the tolerance or the
    /// budget is used up. Returns the number of steps and the residual; the impulses are never left
    /// worse than before.
    pub(crate) fn improve(
        &mut self,
        problem: &mut Problem<'_>,
        start: &Residual,
        budget: &Budget,
        sweeps: &mut Sweeps,
    ) -> (u32, Residual) {
        let Budget { tolerance, steps, work, stalls, interior, products } = *budget;
        if steps == 0 {
            return (0, *start);
        }
        let Some(products) = self.set_up(problem, products.min(work)) else {
            return (0, *start);
        };
        let steps = steps.min(work / products.max(1));
        let mut best = *start;
        self.keep_best();
        // A better start allows a larger `rho` in the first round.
        let mut relative_rho = start.relative().recip().clamp(INITIAL_RHO, MAX_RHO);
        let (mut used, mut failures) = (0, 0);
        // One round beyond the tolerance costs little and leaves only rounding.
        let mut polished = false;
        // Whether the problem holds the multipliers; whether they are the best; whether the best are
        // not those of the start.
        let (mut written, mut at_best, mut improved) = (false, false, false);
        let (mut last, mut stalled, mut slow) = (f64::INFINITY, 0, 0);
        let (mut enter, mut entered) = (false, false);
        while used < steps && !polished && stalled < stalls {
            let hardest = relative_rho == MAX_RHO;
            polished = best.relative() <= tolerance;
            if polished {
                relative_rho = relative_rho.min(POLISHING_RHO);
            }
            self.groups.iter_mut().for_each(|group| group.set_rho(relative_rho));
            let goal = (0.1 * tolerance * best.scale).max(INEXACT * best.largest());
            let (taken, converged) = match enter {
                true => {
                    (self.interior(&best, interior.shift, interior.steps.min(steps - used)), true)
                }
                false => self.inner_newton(goal, steps - used),
            };
            used += taken.max(1);
            let found = if converged {
                if !enter {
                    self.update_multipliers();
                }
                self.write_back(problem);
                let mut found = residual(problem.bodies, problem.blocks);
                if enter && !found.relative().is_finite() {
                    self.restore_best(problem);
                    found = best;
                }
                relative_rho = match enter {
                    true => found.relative().recip().clamp(INITIAL_RHO, MAX_RHO),
                    false => (relative_rho * RHO_FACTOR).min(MAX_RHO),
                };
                found
            } else {
                if !written {
                    self.write_back(problem);
                }
                relative_rho = (relative_rho / (RHO_FACTOR * RHO_FACTOR)).max(1.0);
                failures += 1;
                self.resweep(problem, SWEEPS << failures.min(MAX_DOUBLINGS), sweeps)
            };
            written = true;
            at_best = found.largest() < best.largest();
            let stalls_again = converged && hardest && found.largest() > STALLED * last;
            stalled = if stalls_again { stalled + 1 } else { 0 };
            let slow_again = converged && hardest && found.largest() > SLOW * last;
            slow = if slow_again { slow + 1 } else { 0 };
            last = found.largest();
            if at_best {
                improved = true;
                best = found;
                self.keep_best();
            }
            // The interior-point method gets one chance.
            let fails = failures == interior.failures || slow == STALLS;
            enter = interior.steps > 0 && !entered && fails;
            if enter {
                (entered, stalled) = (true, 0);
                self.restore_best(problem);
            }
        }
        if !at_best {
            self.restore_best(problem);
        }
        self.products += u64::from(used) * u64::from(products);
        // Rounding changes the velocities of the start.
        let found = if improved { best } else { residual(problem.bodies, problem.blocks) };
        (used, found)
    }

    /// Returns the number of block products since the last call.
    pub(super) fn take_products(&mut self) -> u64 {
        std::mem::take(&mut self.products)
    }

    fn restore_best(&mut self, problem: &mut Problem<'_>) {
        for (group, best) in self.groups.iter_mut().zip(&self.best) {
            group.multiplier = *best;
        }
        self.write_back(problem);
    }

    /// Sweeps from the current impulses, to find the active contacts after Newton's method has
    /// failed.
    fn resweep(&mut self, problem: &mut Problem<'_>, count: u32, sweeps: &mut Sweeps) -> Residual {
        sweeps.sweep(problem, count);
        let mut blocks = problem.blocks.iter();
        for group in &mut self.groups {
            for (lane, block) in blocks.by_ref().take(group.count).enumerate() {
                group.set_multiplier(lane, block.impulse);
            }
        }
        self.write_back(problem);
        residual(problem.bodies, problem.blocks)
    }

    fn keep_best(&mut self) {
        self.best.clear();
        self.best.extend(self.groups.iter().map(|group| group.multiplier));
    }

    /// Sets the multipliers to the impulses projected at the current velocity: `r <- P(z)`. It was
    /// the last to be evaluated.
    fn update_multipliers(&mut self) {
        for group in &mut self.groups {
            group.multiplier = group.impulse;
        }
    }

    /// Numbers the bodies, packs the rows, lays out the matrix and removes the impulses from the
    /// velocities. Returns the block products per factorization, `None` if they exceed `most`.
    fn set_up(&mut self, problem: &Problem<'_>, most: u32) -> Option<u32> {
        // Each body takes a product or more.
        if problem.members.len() > most as usize {
            return None;
        }
        if self.island_index.len() < problem.bodies.len() {
            self.island_index.resize(problem.bodies.len(), OUTSIDE);
        }
        for (number, &body) in problem.members.iter().enumerate() {
            self.island_index[body as usize] = number as u32;
        }
        find_edges(problem, &self.island_index, &mut self.edges);
        let products = self.matrix.layout(problem.members.len(), &self.edges, most);
        if products.is_some() {
            pack(problem, &self.island_index, &mut self.groups);
        }
        for &index in problem.members {
            self.island_index[index as usize] = OUTSIDE;
        }
        let products = products?;
        self.find_places(problem.members.len());
        self.masses.clear();
        self.inverses.clear();
        self.free.clear();
        for &index in problem.members {
            let body = &problem.bodies[index as usize];
            self.inverses.push((body.inverse_mass, body.inverse_inertia));
            self.masses.push((body.inverse_mass.recip(), body.inverse_inertia.inverse()));
            self.free.push(body.velocity);
        }
        self.accumulate();
        for (free, change) in self.free.iter_mut().zip(&self.change) {
            *free = *free - spatial(change);
        }
        let wide = !self.scalar;
        simd::run(wide, Release { groups: &mut self.groups, change: &self.change });
        Some(products)
    }

    /// Finds the blocks of the matrix that each group contributes to.
    fn find_places(&mut self, size: usize) {
        let pattern = self.matrix.pattern();
        let mut edge = 0;
        for group in &mut self.groups {
            let [a, b] = group.bodies.map(|body| {
                let inside = (body as usize) < size;
                if inside { pattern.diagonal_of(body as usize) as u32 } else { NO_BLOCK }
            });
            let [ab, ba] = if a == NO_BLOCK || b == NO_BLOCK {
                [NO_BLOCK; 2]
            } else {
                edge += usize::from(self.edges[edge] != group.bodies);
                pattern.edge_blocks(edge)
            };
            group.places = [a, ab, ba, b];
        }
    }

    /// Computes the velocity changes due to the multipliers.
    fn accumulate(&mut self) {
        self.change.clear();
        self.change.resize(self.inverses.len() + 1, Vector6::ZERO);
        let (groups, inverses) = (&self.groups, &self.inverses);
        simd::run(!self.scalar, Accumulate { groups, inverses, change: &mut self.change });
    }

    /// Runs Newton's method for fixed multipliers. Returns the number of steps and whether the
    /// error is within `goal`.
    fn inner_newton(&mut self, goal: f64, max_steps: u32) -> (u32, bool) {
        let mut momentum_error = self.momentum_error(false);
        let mut taken = 0;
        while taken < max_steps.min(INNER_STEPS as u32)
            && momentum_error.is_finite()
            && momentum_error > goal
        {
            if !self.newton_direction() {
                break;
            }
            taken += 1;
            self.trial.clear();
            for (change, step) in self.change.iter().zip(&self.step) {
                self.trial.push(packed(&(spatial(change) + spatial(step))));
            }
            self.trial.push(Vector6::ZERO);
            let found = self.momentum_error(true);
            if !(found < momentum_error) {
                break;
            }
            std::mem::swap(&mut self.change, &mut self.trial);
            momentum_error = found;
        }
        (taken, momentum_error <= goal)
    }

    /// Returns the norm (m/s) of the difference between the velocity change `d` and that due to the
    /// impulses at `d`. Leaves the difference as momentum in `step`, and the impulses in the groups.
    fn momentum_error(&mut self, trial: bool) -> f64 {
        let change = if trial { &self.trial } else { &self.change };
        self.step.clear();
        for (change, (mass, inertia)) in change.iter().zip(&self.masses) {
            let SpatialVector { linear, angular } = spatial(change);
            self.step.push(packed(&SpatialVector::new(linear * *mass, *inertia * angular)));
        }
        let groups = &mut self.groups;
        simd::run(!self.scalar, Evaluate { groups, change, momentum: &mut self.step });
        let mut sum = 0.0;
        for (step, (mass, inertia)) in self.step.iter().zip(&self.inverses) {
            let momentum = spatial(step);
            let response = SpatialVector::new(momentum.linear * *mass, *inertia * momentum.angular);
            sum += momentum.dot(response) * mass;
        }
        sum.sqrt()
    }

    /// Factors the matrix at the velocity last evaluated.
    pub(super) fn factor(&mut self) -> bool {
        self.fill_matrix();
        self.matrix.factor(!self.scalar)
    }

    /// Replaces momenta by the velocities that solve the factored system.
    pub(super) fn solve_factored(&mut self, values: &mut [Vector6]) {
        self.matrix.solve(!self.scalar, values);
    }

    /// Leaves the Newton direction at the velocity last evaluated in `step`.
    fn newton_direction(&mut self) -> bool {
        if !self.factor() {
            return false;
        }
        for step in &mut self.step {
            *step = Vector6::new(step.entries().map(|x| -x));
        }
        self.matrix.solve(!self.scalar, &mut self.step);
        true
    }

    /// Fills the matrix at the velocity last evaluated.
    fn fill_matrix(&mut self) {
        self.matrix.clear();
        for (number, (mass, inertia)) in self.masses.iter().enumerate() {
            let place = self.matrix.pattern().diagonal_of(number);
            let block = &mut self.matrix.blocks()[place];
            for i in 0..3 {
                *block.get_mut(i, i) = *mass;
                for j in 0..3 {
                    *block.get_mut(i + 3, j + 3) = inertia.col(j)[i];
                }
            }
        }
        let wide = !self.scalar;
        simd::run(wide, Assemble { groups: &self.groups, blocks: self.matrix.blocks() });
    }

    /// Writes the multipliers to the problem as impulses, and updates the velocities.
    fn write_back(&mut self, problem: &mut Problem<'_>) {
        self.accumulate();
        let mut blocks = problem.blocks.iter_mut();
        for group in &self.groups {
            for (lane, block) in blocks.by_ref().take(group.count).enumerate() {
                block.impulse = lane_of(&group.multiplier, lane);
            }
        }
        for (number, &index) in problem.members.iter().enumerate() {
            problem.bodies[index as usize].velocity =
                self.free[number] + spatial(&self.change[number]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::random_problem::{Random, random_problem};
    use crate::solver::{Block, SolverBody};

    /// Returns the number of steps and the bits of impulses and velocities.
    fn improved(newton: &mut Newton, bodies: &[SolverBody], blocks: &[Block]) -> (u32, Vec<u64>) {
        let (mut bodies, mut blocks) = (bodies.to_vec(), blocks.to_vec());
        let members: Vec<u32> = (1..bodies.len() as u32).collect();
        let start = residual(&bodies, &blocks);
        let mut problem = Problem { bodies: &mut bodies, members: &members, blocks: &mut blocks };
        let interior = Interior { steps: 25, failures: 4, shift: 1.0 };
        let budget = Budget {
            tolerance: 1e-10,
            steps: 40,
            work: 100_000,
            stalls: 3,
            interior,
            products: 100_000,
        };
        let (steps, _) = newton.improve(&mut problem, &start, &budget, &mut Sweeps::default());
        let impulses = blocks.iter().flat_map(|block| block.impulse.to_array());
        let velocities = bodies.iter().flat_map(|body| packed(&body.velocity).entries());
        (steps, impulses.chain(velocities).map(f64::to_bits).collect())
    }

    #[test]
    fn results_depend_neither_on_lanes_nor_on_earlier_problems() {
        let mut random = Random(1);
        let mut used = Newton::default();
        let mut total = 0;
        for size in 1..40 {
            // A chain, a third of whose bodies are joined to the environment instead.
            let pairs = (1..=size).map(|b| if b % 3 == 0 { [b, 0] } else { [b - 1, b] });
            let (bodies, blocks) = random_problem(size, pairs, &mut random);
            let wide = improved(&mut Newton::default(), &bodies, &blocks);
            let mut scalar = Newton { scalar: true, ..Newton::default() };
            assert_eq!(improved(&mut scalar, &bodies, &blocks), wide);
            assert_eq!(improved(&mut used, &bodies, &blocks), wide);
            assert_eq!(improved(&mut used, &bodies, &blocks), wide);
            total += wide.0;
        }
        assert!(total > 100);
    }
}
