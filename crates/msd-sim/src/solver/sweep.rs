//! Projected Gauss-Seidel in lanes: sweeps over all blocks, normal before friction.

use super::Problem;
use super::batches::{Batch, Batches, Kind, LaneBlock};
use super::group_kernels::combine;
use crate::simd::{self, F4, Kernel, Lanes, V4, Vec4, load_rows};

/// The buffers of sweeps, reused between problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// Whether to compute without SIMD registers, which changes no bit.
    scalar: bool,
    problem: Batches,
    momentum: Momentum,
    /// Number of visits of a block by a sweep so far.
    visits: u64,
}

impl Sweeps {
    /// Packs a problem whose blocks have their `delassus`.
    pub(crate) fn load(&mut self, problem: &Problem<'_>) {
        self.problem.load(problem);
    }

    /// Writes impulses and velocities to the problem that was loaded.
    pub(crate) fn store(&self, problem: &mut Problem<'_>) {
        self.problem.store(problem);
    }

    /// Solves every block once per sweep, each with the velocities left by the blocks before it. Returns the
    /// largest change of a velocity by one block in the last sweep, m/s.
    pub(crate) fn run(&mut self, sweeps: u32) -> f64 {
        let mut change = 0.0;
        self.visits += u64::from(sweeps) * (4 * self.problem.blocks.len()) as u64;
        for _ in 0..sweeps {
            let Batches { batches, blocks, velocities, .. } = &mut self.problem;
            change = simd::run(!self.scalar, Sweep { batches, blocks, velocities });
        }
        change
    }

    /// Sweeps until no block changes a velocity by more than `limit` (m/s), at most `most` times. Returns the number of
    /// sweeps.
    ///
    /// Each sweep but the first starts from impulses and velocities extrapolated by Nesterov's method, which takes far
    /// fewer sweeps where contacts form long chains; it starts anew where the changes grow.
    pub(crate) fn accelerate(&mut self, limit: f64, most: u32) -> u32 {
        self.momentum.start(&self.problem.velocities, &self.problem.blocks);
        for count in 1..=most {
            let change = self.run(1);
            if change <= limit || count == most {
                return count;
            }
            let factor = self.momentum.factor(change);
            let Batches { blocks, velocities, .. } = &mut self.problem;
            let Momentum { velocities: old, impulses, .. } = &mut self.momentum;
            simd::run(!self.scalar, Extrapolate { factor, blocks, velocities, impulses, old });
        }
        0
    }

    /// Returns the number of visits of a block since the last call.
    pub(super) fn take_visits(&mut self) -> u64 {
        std::mem::take(&mut self.visits)
    }

    /// Packs a problem, sweeps and writes the result back. Returns as [`run`](Self::run).
    pub(crate) fn sweep(&mut self, problem: &mut Problem<'_>, sweeps: u32) -> f64 {
        self.load(problem);
        let change = self.run(sweeps);
        self.store(problem);
        change
    }
}

/// One sweep over all batches.
struct Sweep<'a> {
    batches: &'a [Batch],
    blocks: &'a mut [LaneBlock],
    velocities: &'a mut [[F4; 2]],
}

/// Linear and angular velocity of four bodies.
type Velocity<L> = [Vec4<L>; 2];

impl Kernel for Sweep<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f64 {
        let mut largest = L::splat(0.0);
        for batch in self.batches {
            let mut a = gather::<L>(self.velocities, &batch.bodies[0]);
            let mut b = gather::<L>(self.velocities, &batch.bodies[1]);
            let mass_a = L::load(&batch.inverse_mass[0]);
            let mass_b = L::load(&batch.inverse_mass[1]);
            let range = batch.first as usize..(batch.first + batch.blocks) as usize;
            for block in &mut self.blocks[range] {
                let rows = load_rows::<L>(&block.linear);
                let u = relative(block, &rows, &a, &b) + Vec4::load(&block.offset);
                let old = Vec4::load(&block.impulse);
                let impulse = match batch.kind {
                    Kind::OneSided => one_sided(block, old, u),
                    Kind::Bilateral => bilateral(block, old, u),
                };
                impulse.store(&mut block.impulse);
                let change = impulse - old;
                largest = largest.max(speed(block, change));
                let linear = combine(&rows, change);
                a[0] = a[0] - linear.scale(mass_a);
                b[0] = b[0] + linear.scale(mass_b);
                a[1] = a[1] - combine(&load_rows(&block.response[0]), change);
                b[1] = b[1] + combine(&load_rows(&block.response[1]), change);
            }
            scatter(self.velocities, &batch.bodies[0], a);
            scatter(self.velocities, &batch.bodies[1], b);
        }
        let mut lanes = F4::ZERO;
        largest.store(&mut lanes);
        lanes.0.into_iter().fold(0.0, f64::max)
    }
}

#[inline(always)]
fn gather<L: Lanes>(velocities: &[[F4; 2]], bodies: &[u32; 4]) -> Velocity<L> {
    let [a, b, c, d] = bodies;
    let [a, b, c, d] = [
        &velocities[*a as usize],
        &velocities[*b as usize],
        &velocities[*c as usize],
        &velocities[*d as usize],
    ];
    let linear = L::transpose([&a[0], &b[0], &c[0], &d[0]]);
    let angular = L::transpose([&a[1], &b[1], &c[1], &d[1]]);
    [Vec4::new(linear[0], linear[1], linear[2]), Vec4::new(angular[0], angular[1], angular[2])]
}

#[inline(always)]
fn scatter<L: Lanes>(
    velocities: &mut [[F4; 2]],
    bodies: &[u32; 4],
    [linear, angular]: Velocity<L>,
) {
    let zero = L::splat(0.0);
    let linear = L::rows([linear.x, linear.y, linear.z, zero]);
    let angular = L::rows([angular.x, angular.y, angular.z, zero]);
    for lane in 0..4 {
        velocities[bodies[lane] as usize] = [linear[lane], angular[lane]];
    }
}

/// Returns the relative velocity along the rows, without the offset.
#[inline(always)]
fn relative<L: Lanes>(
    block: &LaneBlock,
    linear: &[Vec4<L>; 3],
    a: &Velocity<L>,
    b: &Velocity<L>,
) -> Vec4<L> {
    let along = b[0] - a[0];
    let arms_a = load_rows::<L>(&block.angular[0]);
    let arms_b = load_rows::<L>(&block.angular[1]);
    Vec4::new(
        linear[0].dot(along) + arms_b[0].dot(b[1]) - arms_a[0].dot(a[1]),
        linear[1].dot(along) + arms_b[1].dot(b[1]) - arms_a[1].dot(a[1]),
        linear[2].dot(along) + arms_b[2].dot(b[1]) - arms_a[2].dot(a[1]),
    )
}

/// Returns the impulse of contacts that satisfies their law if no other impulse changes.
#[inline(always)]
fn one_sided<L: Lanes>(block: &LaneBlock, old: Vec4<L>, u: Vec4<L>) -> Vec4<L> {
    let [normal, xy, xz] =
        [L::load(&block.local[0]), L::load(&block.local[1]), L::load(&block.local[2])];
    let [yy, yz, zz] =
        [L::load(&block.local[3]), L::load(&block.local[4]), L::load(&block.local[5])];
    let push = (old.x - u.x * normal).max(L::splat(0.0));
    // The slip after the change of the normal impulse.
    let change = push - old.x;
    let (a, b) = (u.y + xy * change, u.z + xz * change);
    let limit = L::load(&block.friction) * push;
    let limit_squared = limit * limit;
    let stick = (old.y - (yy * a + yz * b), old.z - (yz * a + zz * b));
    let slides = (stick.0 * stick.0 + stick.1 * stick.1).gt(limit_squared);
    if !slides.any() {
        return Vec4::new(push, stick.0, stick.1);
    }
    // If it slides, only steps with the same scale along both axes end with the impulse opposite to the slip.
    let across = L::load(&block.local[6]);
    let slide = (old.y - a * across, old.z - b * across);
    let squared = slide.0 * slide.0 + slide.1 * slide.1;
    let shrink = L::select(squared.gt(limit_squared), limit / squared.sqrt(), L::splat(1.0));
    Vec4::new(
        push,
        L::select(slides, slide.0 * shrink, stick.0),
        L::select(slides, slide.1 * shrink, stick.1),
    )
}

/// Returns the impulse of joints that satisfies their law if no other impulse changes.
#[inline(always)]
fn bilateral<L: Lanes>(block: &LaneBlock, old: Vec4<L>, u: Vec4<L>) -> Vec4<L> {
    let [xx, xy, xz] =
        [L::load(&block.local[0]), L::load(&block.local[1]), L::load(&block.local[2])];
    let [yy, yz, zz] =
        [L::load(&block.local[3]), L::load(&block.local[4]), L::load(&block.local[5])];
    let error = u + old.scale(L::load(&block.softness));
    let change = Vec4::new(
        xx * error.x + xy * error.y + xz * error.z,
        xy * error.x + yy * error.y + yz * error.z,
        xz * error.x + yz * error.y + zz * error.z,
    );
    old - change
}

/// Returns the speed that a change of impulse gives the block by itself.
#[inline(always)]
fn speed<L: Lanes>(block: &LaneBlock, change: Vec4<L>) -> L {
    let [normal, across] = [L::load(&block.speed[0]), L::load(&block.speed[1])];
    let absolute = |x: L| x.max(-x);
    (absolute(change.x) * normal).max(absolute(change.y).max(absolute(change.z)) * across)
}

/// The state of accelerated sweeps.
#[derive(Clone, Debug, Default)]
struct Momentum {
    theta: f64,
    /// The changes of the last sweep, m/s.
    change: f64,
    /// Velocities and impulses after the last sweep.
    velocities: Vec<[F4; 2]>,
    impulses: Vec<V4>,
}

impl Momentum {
    fn start(&mut self, velocities: &[[F4; 2]], blocks: &[LaneBlock]) {
        (self.theta, self.change) = (1.0, f64::INFINITY);
        self.velocities.clear();
        self.velocities.extend_from_slice(velocities);
        self.impulses.clear();
        self.impulses.extend(blocks.iter().map(|block| block.impulse));
    }

    /// Returns the factor of the extrapolation after a sweep with the given changes.
    fn factor(&mut self, change: f64) -> f64 {
        let grows = change > self.change;
        self.change = change;
        if grows {
            self.theta = 1.0;
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let factor = (self.theta - 1.0) / next;
        self.theta = next;
        factor
    }
}

/// Extrapolates velocities and impulses from those after the last sweep, and keeps them. Velocities depend linearly
/// on impulses, so both stay consistent.
struct Extrapolate<'a> {
    factor: f64,
    blocks: &'a mut [LaneBlock],
    velocities: &'a mut [[F4; 2]],
    impulses: &'a mut [V4],
    old: &'a mut [[F4; 2]],
}

impl Kernel for Extrapolate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let factor = L::splat(self.factor);
        for (new, old) in self.velocities.iter_mut().zip(self.old) {
            extrapolate(factor, &mut new[0], &mut old[0]);
            extrapolate(factor, &mut new[1], &mut old[1]);
        }
        for (block, old) in self.blocks.iter_mut().zip(self.impulses) {
            extrapolate(factor, &mut block.impulse[0], &mut old[0]);
            extrapolate(factor, &mut block.impulse[1], &mut old[1]);
            extrapolate(factor, &mut block.impulse[2], &mut old[2]);
        }
    }
}

#[inline(always)]
fn extrapolate<L: Lanes>(factor: L, new: &mut F4, old: &mut F4) {
    let plain = L::load(new);
    (plain + factor * (plain - L::load(old))).store(new);
    plain.store(old);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3, SpatialVector, Vec3};
    use crate::solver::random_problem::{Random, random_pairs, random_problem};
    use crate::solver::{Block, Law, Row, SolverBody, residual};

    /// Four points under each cube of a tower at rest, with the weight of a step at once.
    fn tower(height: u32) -> (Vec<SolverBody>, Vec<Block>) {
        let mut bodies = vec![SolverBody::default()];
        let velocity = SpatialVector::new(Vec3::Z * -0.04, Vec3::ZERO);
        let inverse_inertia = Mat3::from_diagonal(Vec3::splat(6.0));
        bodies.resize(
            height as usize + 1,
            SolverBody { velocity, inverse_mass: 1.0, inverse_inertia },
        );
        bodies[0] = SolverBody::default();
        let mut blocks = Vec::new();
        for upper in 1..=height {
            for (x, y) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)] {
                let arms = [Vec3::new(x, y, 0.5), Vec3::new(x, y, -0.5)];
                let mut block = Block {
                    bodies: [upper - 1, upper],
                    law: Law::Contact { friction: 0.5 },
                    rows: [Vec3::Z, Vec3::X, Vec3::Y].map(|d| Row::at(d, arms[0], arms[1])),
                    offset: Vec3::ZERO,
                    softness: 0.0,
                    impulse: Vec3::ZERO,
                    delassus: Mat3::ZERO,
                };
                block.compute_delassus(&bodies);
                blocks.push(block);
            }
        }
        (bodies, blocks)
    }

    fn swept(
        sweeps: &mut Sweeps,
        (bodies, blocks): &(Vec<SolverBody>, Vec<Block>),
        run: impl Fn(&mut Sweeps),
    ) -> (Vec<SolverBody>, Vec<Block>) {
        let (mut bodies, mut blocks) = (bodies.clone(), blocks.clone());
        let members: Vec<u32> = (1..bodies.len() as u32).collect();
        let mut problem = Problem { bodies: &mut bodies, members: &members, blocks: &mut blocks };
        sweeps.load(&problem);
        run(sweeps);
        sweeps.store(&mut problem);
        (bodies, blocks)
    }

    #[test]
    fn results_depend_neither_on_lanes_nor_on_earlier_problems() {
        let mut random = Random(1);
        let mut used = Sweeps::default();
        for size in 1..60 {
            let pairs = random_pairs(size, 3 * size, &mut random);
            let problem = random_problem(size, pairs, &mut random);
            let runs: [fn(&mut Sweeps); 2] = [
                |sweeps| {
                    sweeps.run(5);
                },
                |sweeps| {
                    sweeps.accelerate(1e-6, 30);
                },
            ];
            for run in runs {
                let wide = swept(&mut Sweeps::default(), &problem, run);
                let mut scalar = Sweeps { scalar: true, ..Sweeps::default() };
                assert_eq!(swept(&mut scalar, &problem, run), wide);
                assert_eq!(swept(&mut used, &problem, run), wide);
            }
        }
    }

    #[test]
    fn velocities_stay_those_of_the_impulses() {
        let mut random = Random(3);
        for size in [3, 20, 100] {
            let pairs = random_pairs(size, 2 * size, &mut random);
            let problem = random_problem(size, pairs, &mut random);
            let (bodies, blocks) = swept(&mut Sweeps::default(), &problem, |sweeps| {
                sweeps.accelerate(0.0, 7);
            });
            let mut expected = problem.0.clone();
            for block in &blocks {
                block.apply(&mut expected, block.impulse);
            }
            for (body, expected) in bodies.iter().zip(&expected) {
                let off = body.velocity - expected.velocity;
                assert!(off.linear.length() + off.angular.length() < 1e-12);
            }
            assert_eq!(bodies[0], problem.0[0], "the environment does not change");
        }
    }

    #[test]
    fn sweeps_satisfy_every_law() {
        // Each cube carries those above: the load of the lowest needs many sweeps.
        let (bodies, blocks) = swept(&mut Sweeps::default(), &tower(5), |sweeps| {
            sweeps.run(10_000);
        });
        assert!(residual(&bodies, &blocks).relative() < 1e-12);
        for (level, blocks) in blocks.chunks(4).enumerate() {
            let load: f64 = blocks.iter().map(|block| block.impulse.x).sum();
            assert!((load - 0.04 * (5 - level) as f64).abs() < 1e-12);
        }
    }

    #[test]
    fn acceleration_takes_a_third_of_the_sweeps_of_a_tall_tower_or_less() {
        let problem = tower(20);
        let counts = [false, true].map(|accelerated| {
            let count = std::cell::Cell::new(0);
            let solved = swept(&mut Sweeps::default(), &problem, |sweeps| {
                count.set(if accelerated {
                    sweeps.accelerate(1e-7, 1_000_000)
                } else {
                    (1..).find(|_| sweeps.run(1) <= 1e-7).unwrap_or(0)
                });
            });
            assert!(residual(&solved.0, &solved.1).relative() < 1e-4);
            count.get()
        });
        assert!(3 * counts[1] < counts[0], "{counts:?}");
    }
}
