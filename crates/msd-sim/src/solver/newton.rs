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
use super::block6::{Block6, Vector6};
use super::problem::{Block, Law, Problem, Residual, Row, into_disk, norm, residual};
use super::sweep::sweep;
use crate::math::{Mat3, SpatialVector, Vec3};

/// Initial and largest `rho` relative to the inverse of a block's own `delassus`. A larger value
/// takes fewer rounds, but makes Newton's method more likely to fail; the rounding error of the
/// result is this times the unit round-off.
const INITIAL_RHO: f64 = 1e2;
const MAX_RHO: f64 = 1e5;

/// Factor on `rho` after a successful round; a failed round divides by its square.
const RHO_FACTOR: f64 = 10.0;

/// Target of a round's inner iteration, relative to the current error.
const INEXACT: f64 = 1e-3;

/// Sweeps after a failed round, doubled after each failure up to `MAX_DOUBLINGS` times.
const SWEEPS: usize = 2;
const MAX_DOUBLINGS: usize = 5;

/// Maximum number of Newton steps per set of multipliers.
const INNER_STEPS: usize = 12;

/// Maximum number of halvings of a step that does not reduce the error.
const HALVINGS: usize = 6;

/// The buffers of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newton {
    matrix: BlockMatrix,
    /// For each body of the problem, its index within the island.
    island_index: Vec<u32>,
    masses: Vec<(f64, Mat3)>,
    free: Vec<SpatialVector>,
    /// Velocity changes due to the impulses.
    change: Vec<SpatialVector>,
    trial: Vec<SpatialVector>,
    step: Vec<Vector6>,
    /// The pairs of inertial bodies of successive blocks, each once per run of equal pairs.
    edges: Vec<[u32; 2]>,
    /// By block: relative velocity without impulses, offset included; penalty `rho`; multiplier.
    free_velocity: Vec<Vec3>,
    rho: Vec<f64>,
    multipliers: Vec<Vec3>,
    best: Vec<Vec3>,
}

const OUTSIDE: u32 = u32::MAX;

impl Newton {
    /// Improves the problem's impulses until the relative residual is within `tolerance`, with at
    /// most `steps` factorizations and `work` block products in total. Returns the number of steps
    /// and the residual; the impulses are never left worse than before.
    pub(crate) fn improve(
        &mut self,
        problem: &mut Problem<'_>,
        start: &Residual,
        tolerance: f64,
        steps: u32,
        work: u32,
    ) -> (u32, Residual) {
        if steps == 0 {
            return (0, *start);
        }
        let Some(products) = self.set_up(problem, work) else {
            return (0, *start);
        };
        let steps = steps.min(work / products.max(1));
        let mut best = *start;
        self.best.clear();
        self.best.extend(problem.blocks.iter().map(|block| block.impulse));
        // A better start allows a larger `rho` in the first round.
        let mut relative_rho = start.relative().recip().clamp(INITIAL_RHO, MAX_RHO);
        let (mut used, mut failures) = (0, 0);
        // One round beyond the tolerance costs little and leaves only rounding.
        let mut polished = false;
        while used < steps && !polished {
            polished = best.relative() <= tolerance;
            self.set_rho(problem, relative_rho);
            let goal = (0.1 * tolerance * best.scale).max(INEXACT * best.largest());
            let (taken, converged) = self.inner_newton(problem, goal, steps - used);
            used += taken.max(1);
            let found = if converged {
                self.update_multipliers(problem);
                relative_rho = (relative_rho * RHO_FACTOR).min(MAX_RHO);
                self.write_back(problem);
                residual(problem.bodies, problem.blocks)
            } else {
                self.write_back(problem);
                relative_rho = (relative_rho / (RHO_FACTOR * RHO_FACTOR)).max(1.0);
                failures += 1;
                self.resweep(problem, SWEEPS << failures.min(MAX_DOUBLINGS))
            };
            if found.largest() < best.largest() {
                best = found;
                self.best.copy_from_slice(&self.multipliers);
            }
        }
        self.multipliers.copy_from_slice(&self.best);
        self.write_back(problem);
        self.clear_numbering(problem);
        (used, residual(problem.bodies, problem.blocks))
    }

    /// Sweeps from the current impulses, to find the active contacts after Newton's method has
    /// failed.
    fn resweep(&mut self, problem: &mut Problem<'_>, sweeps: usize) -> Residual {
        for _ in 0..sweeps {
            sweep(problem.bodies, problem.blocks);
        }
        for (multipliers, block) in self.multipliers.iter_mut().zip(problem.blocks.iter()) {
            *multipliers = block.impulse;
        }
        self.write_back(problem);
        residual(problem.bodies, problem.blocks)
    }

    fn set_rho(&mut self, problem: &Problem<'_>, relative_rho: f64) {
        self.rho.clear();
        for block in problem.blocks.iter() {
            let w = &block.delassus;
            let largest = w.x_axis.x.max(w.y_axis.y).max(w.z_axis.z);
            self.rho.push(if largest > 0.0 { relative_rho / largest } else { 0.0 });
        }
    }

    /// Sets the multipliers to the impulses projected at the current velocity: `r <- P(z)`.
    fn update_multipliers(&mut self, problem: &Problem<'_>) {
        for (i, block) in problem.blocks.iter().enumerate() {
            self.multipliers[i] = project(block, self.augmented(block, i, &self.change));
        }
    }

    /// Numbers the bodies, lays out the matrix and removes the impulses from the velocities.
    /// Returns the block products per factorization, `None` if they exceed `work`.
    fn set_up(&mut self, problem: &Problem<'_>, work: u32) -> Option<u32> {
        if self.island_index.len() < problem.bodies.len() {
            self.island_index.resize(problem.bodies.len(), OUTSIDE);
        }
        for (number, &body) in problem.members.iter().enumerate() {
            self.island_index[body as usize] = number as u32;
        }
        let island_index = &self.island_index;
        let inside = |body: u32| -> Option<u32> {
            problem.bodies[body as usize].is_inertial().then(|| island_index[body as usize])
        };
        self.edges.clear();
        self.edges.extend(problem.blocks.iter().filter_map(|block| {
            let [a, b] = block.bodies;
            Some([inside(a)?, inside(b)?])
        }));
        self.edges.dedup();
        let Some(products) = self.matrix.layout(problem.members.len(), &self.edges, work) else {
            self.clear_numbering(problem);
            return None;
        };
        self.masses.clear();
        self.free.clear();
        self.change.clear();
        self.change.resize(problem.members.len(), SpatialVector::ZERO);
        for &index in problem.members {
            let body = &problem.bodies[index as usize];
            self.masses.push((body.inverse_mass.recip(), body.inverse_inertia.inverse()));
            self.free.push(body.velocity);
        }
        self.multipliers.clear();
        self.multipliers.extend(problem.blocks.iter().map(|block| block.impulse));
        accumulate(&mut self.change, &self.island_index, problem, &self.multipliers);
        for (free, change) in self.free.iter_mut().zip(&self.change) {
            *free = *free - *change;
        }
        self.free_velocity.clear();
        for block in problem.blocks.iter() {
            let u = block.velocity(problem.bodies) + block.offset;
            self.free_velocity.push(u - self.relative(block, &self.change));
        }
        Some(products)
    }

    /// Runs Newton's method for fixed multipliers. Returns the number of steps and whether the
    /// error is within `goal`.
    fn inner_newton(&mut self, problem: &Problem<'_>, goal: f64, max_steps: u32) -> (u32, bool) {
        let mut momentum_error = self.momentum_error(problem, false);
        let mut taken = 0;
        while taken < max_steps.min(INNER_STEPS as u32)
            && momentum_error.is_finite()
            && momentum_error > goal
        {
            if !self.newton_direction(problem) {
                break;
            }
            taken += 1;
            let mut length = 1.0;
            let mut improved = false;
            for _ in 0..HALVINGS {
                self.trial.clear();
                for (change, step) in self.change.iter().zip(&self.step) {
                    self.trial.push(*change + spatial(&step.entries()) * length);
                }
                let found = self.momentum_error(problem, true);
                if found < momentum_error {
                    std::mem::swap(&mut self.change, &mut self.trial);
                    momentum_error = found;
                    improved = true;
                    break;
                }
                length *= 0.5;
            }
            if !improved {
                break;
            }
        }
        (taken, momentum_error <= goal)
    }

    /// Returns the norm (m/s) of the difference between the velocity change `d` and that due to the
    /// impulses at `d`, and leaves the difference as momentum in `step`.
    fn momentum_error(&mut self, problem: &Problem<'_>, trial: bool) -> f64 {
        let at = if trial { &self.trial } else { &self.change };
        self.step.clear();
        for (change, (mass, inertia)) in at.iter().zip(&self.masses) {
            let (p, l) = (change.linear * *mass, *inertia * change.angular);
            self.step.push(Vector6::new([p.x, p.y, p.z, l.x, l.y, l.z]));
        }
        for (i, block) in problem.blocks.iter().enumerate() {
            let impulse = project(block, self.augmented(block, i, at));
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let body = block.bodies[side];
                if problem.bodies[body as usize].is_inertial() {
                    let out = &mut self.step[self.island_index[body as usize] as usize];
                    let push = momentum(&block.rows, side, impulse * sign);
                    let mut sum = out.entries();
                    sum.iter_mut().zip(push).for_each(|(x, y)| *x += y);
                    *out = Vector6::new(sum);
                }
            }
        }
        let mut sum = 0.0;
        for (step, &index) in self.step.iter().zip(problem.members) {
            let body = &problem.bodies[index as usize];
            let momentum = spatial(&step.entries());
            sum += momentum.dot(body.response(momentum)) * body.inverse_mass;
        }
        sum.sqrt()
    }

    /// Leaves the Newton direction at `change` in `step`.
    fn newton_direction(&mut self, problem: &Problem<'_>) -> bool {
        self.momentum_error(problem, false);
        self.matrix.clear();
        for (number, (mass, inertia)) in self.masses.iter().enumerate() {
            let place = self.matrix.pattern().diagonal_of(number);
            let block = self.matrix.block(place);
            for i in 0..3 {
                *block.get_mut(i, i) += mass;
                for j in 0..3 {
                    *block.get_mut(i + 3, j + 3) += inertia.col(j)[i];
                }
            }
        }
        let mut edge = 0;
        for (i, block) in problem.blocks.iter().enumerate() {
            let sides = block.bodies.map(|body| {
                problem.bodies[body as usize]
                    .is_inertial()
                    .then(|| self.island_index[body as usize])
            });
            if let [Some(a), Some(b)] = sides {
                edge += usize::from(self.edges[edge] != [a, b]);
            }
            let projection_slope =
                projection_slope(block, self.augmented(block, i, &self.change), self.rho[i]);
            if projection_slope == Mat3::ZERO {
                continue;
            }
            for (row_side, row_body) in sides.iter().enumerate() {
                let Some(row_body) = *row_body else { continue };
                for (column_side, column_body) in sides.iter().enumerate() {
                    if column_body.is_none() {
                        continue;
                    }
                    let sign = if row_side == column_side { 1.0 } else { -1.0 };
                    let place = if row_side == column_side {
                        self.matrix.pattern().diagonal_of(row_body as usize)
                    } else {
                        self.matrix.pattern().edge_blocks(edge)[row_side] as usize
                    };
                    let out = self.matrix.block(place);
                    add_projected(out, block, row_side, &(projection_slope * sign), column_side);
                }
            }
        }
        if !self.matrix.factor(true) {
            return false;
        }
        for step in &mut self.step {
            *step = Vector6::new(step.entries().map(|x| -x));
        }
        self.matrix.solve(true, &mut self.step);
        true
    }

    /// Returns the augmented impulse `z = r - rho u` of a block.
    fn augmented(&self, block: &Block, i: usize, change: &[SpatialVector]) -> Vec3 {
        let rho = self.rho[i];
        let u = self.free_velocity[i] + self.relative(block, change);
        let z = self.multipliers[i] - u * rho;
        match block.law {
            // The part of `u + softness r = 0` in the multiplier itself is solved for directly.
            Law::Bilateral { .. } => z / (1.0 + rho * block.softness),
            _ => z,
        }
    }

    /// Returns the relative velocity of a block due to the velocity changes; the environment has
    /// none.
    fn relative(&self, block: &Block, change: &[SpatialVector]) -> Vec3 {
        let of = |body: u32| {
            let number = self.island_index[body as usize];
            change.get(number as usize).copied().unwrap_or(SpatialVector::ZERO)
        };
        let (a, b) = (of(block.bodies[0]), of(block.bodies[1]));
        block.velocity_of(&a, &b)
    }

    /// Writes the multipliers to the problem as impulses, and updates the velocities.
    fn write_back(&mut self, problem: &mut Problem<'_>) {
        self.change.fill(SpatialVector::ZERO);
        accumulate(&mut self.change, &self.island_index, problem, &self.multipliers);
        for (block, multipliers) in problem.blocks.iter_mut().zip(&self.multipliers) {
            block.impulse = *multipliers;
        }
        for (number, &index) in problem.members.iter().enumerate() {
            problem.bodies[index as usize].velocity = self.free[number] + self.change[number];
        }
    }

    /// Clears the numbering of the island's bodies.
    fn clear_numbering(&mut self, problem: &Problem<'_>) {
        for &index in problem.members {
            self.island_index[index as usize] = OUTSIDE;
        }
    }
}

/// Adds the velocity changes due to impulses along the blocks.
fn accumulate(
    change: &mut [SpatialVector],
    island_index: &[u32],
    problem: &Problem<'_>,
    impulses: &[Vec3],
) {
    for (block, impulse) in problem.blocks.iter().zip(impulses) {
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let index = block.bodies[side] as usize;
            let body = &problem.bodies[index];
            if body.is_inertial() {
                let push = spatial(&momentum(&block.rows, side, *impulse * sign));
                change[island_index[index] as usize] += body.response(push);
            }
        }
    }
}

/// Returns the momentum that an impulse along the rows transfers to one side.
fn momentum(rows: &[Row; 3], side: usize, impulse: Vec3) -> [f64; 6] {
    let arm = |row: &Row| if side == 0 { row.angular_a } else { row.angular_b };
    let p = rows[0].linear * impulse.x + rows[1].linear * impulse.y + rows[2].linear * impulse.z;
    let l = arm(&rows[0]) * impulse.x + arm(&rows[1]) * impulse.y + arm(&rows[2]) * impulse.z;
    [p.x, p.y, p.z, l.x, l.y, l.z]
}

fn spatial(v: &[f64; 6]) -> SpatialVector {
    SpatialVector::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]))
}

/// Returns `P(z)`: the projection onto the impulses that the law allows.
fn project(block: &Block, z: Vec3) -> Vec3 {
    match block.law {
        Law::Bilateral { .. } => z,
        Law::Unilateral => Vec3::new(z.x.max(0.0), 0.0, 0.0),
        Law::Contact { friction } => {
            let push = z.x.max(0.0);
            let (a, b) = into_disk((z.y, z.z), friction * push);
            Vec3::new(push, a, b)
        }
    }
}

/// Returns `rho P'(z)`: entry `(i, j)` is the decrease of the projected impulse along row `i` per
/// unit of velocity along row `j`.
fn projection_slope(block: &Block, z: Vec3, rho: f64) -> Mat3 {
    match block.law {
        Law::Bilateral { rows } => {
            let stiff = rho / (1.0 + rho * block.softness);
            let used = |i: usize| if i < rows { stiff } else { 0.0 };
            Mat3::from_diagonal(Vec3::new(used(0), used(1), used(2)))
        }
        Law::Unilateral | Law::Contact { .. } if z.x <= 0.0 => Mat3::ZERO,
        Law::Unilateral => Mat3::from_diagonal(Vec3::new(rho, 0.0, 0.0)),
        Law::Contact { friction } => {
            let limit = friction * z.x;
            let length = norm(z.y, z.z);
            if length <= limit {
                return Mat3::from_diagonal(Vec3::splat(rho));
            }
            let (a, b) = (z.y / length, z.z / length);
            let shrink = rho * limit / length;
            Mat3::from_cols(
                Vec3::new(rho, rho * friction * a, rho * friction * b),
                Vec3::new(0.0, shrink * b * b, -shrink * a * b),
                Vec3::new(0.0, -shrink * a * b, shrink * a * a),
            )
        }
    }
}

/// Adds `J_row^T slope J_column` to `out`.
fn add_projected(
    out: &mut Block6,
    block: &Block,
    row_side: usize,
    projection_slope: &Mat3,
    column_side: usize,
) {
    let entries = |side: usize| {
        block.rows.map(|row| {
            let arm = if side == 0 { row.angular_a } else { row.angular_b };
            [row.linear.x, row.linear.y, row.linear.z, arm.x, arm.y, arm.z]
        })
    };
    let (left, right) = (entries(row_side), entries(column_side));
    for (i, left) in left.iter().enumerate() {
        let mut mixed = [0.0; 6];
        for (j, right) in right.iter().enumerate() {
            let factor = projection_slope.col(j)[i];
            mixed.iter_mut().zip(right).for_each(|(sum, entry)| *sum += factor * entry);
        }
        for (column, entry) in mixed.iter().enumerate() {
            for (row, factor) in left.iter().enumerate() {
                *out.get_mut(row, column) += factor * entry;
            }
        }
    }
}
