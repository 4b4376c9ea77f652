//! Projected Gauss-Seidel in lanes: sweeps over all blocks, four pairs of bodies at a time, normal before friction.
//!
//! The blocks of a pair share a lane and are solved one after the other. The four pairs of a batch have no inertial
//! body in common, so the result is that of some order of the blocks: it does not depend on the kind of lanes.

use super::problem::{Block, Law, Problem, max_tangent_delassus};
use crate::math::{Mat3, SpatialVector, Vec3};
use crate::simd::{self, F4, Kernel, Lanes, V4, Vec4, load_rows};

/// The buffers of sweeps, reused between problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// Whether to compute without SIMD registers, which changes no bit.
    scalar: bool,
    /// For each body of the problem, its index in `velocities` or `OUTSIDE`.
    index: Vec<u32>,
    /// The bodies in `velocities`.
    bodies: Vec<u32>,
    /// Linear and angular velocity of each body of the blocks, after that of a dummy for unused lanes.
    velocities: Vec<[F4; 2]>,
    batches: Vec<Batch>,
    blocks: Vec<LaneBlock>,
    /// For each block of the problem, its place in `blocks`, and its lane.
    places: Vec<(u32, u32)>,
    open: OpenBatches,
    momentum: Momentum,
}

const OUTSIDE: u32 = u32::MAX;

/// Up to four pairs of bodies, one per lane, without a common inertial body.
#[derive(Clone, Debug)]
struct Batch {
    kind: Kind,
    /// Number of lanes in use.
    count: usize,
    /// By side and lane: index among the velocities, and inverse mass.
    bodies: [[u32; 4]; 2],
    inverse_mass: [F4; 2],
    /// The first of its blocks, and their number.
    first: u32,
    blocks: u32,
    /// For each lane, the first block of its pair in the problem, and their number.
    runs: [(u32, u32); 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Contacts, and one-sided constraints, which are contacts without friction.
    OneSided,
    Bilateral,
}

impl Kind {
    fn of(law: &Law) -> Self {
        match law {
            Law::Contact { .. } | Law::Unilateral => Self::OneSided,
            Law::Bilateral { .. } => Self::Bilateral,
        }
    }
}

/// One block per lane. Unused lanes are zero, which leaves their impulse zero.
#[derive(Clone, Debug)]
struct LaneBlock {
    linear: [V4; 3],
    /// By side: the angular part of the rows, and its response, the inverse inertia times it.
    angular: [[V4; 3]; 2],
    response: [[V4; 3]; 2],
    offset: V4,
    friction: F4,
    softness: F4,
    /// Of one-sided blocks: inverse of the normal entry of `delassus`, its two entries that couple the normal with the
    /// tangents, the inverse of the tangential part (yy, yz, zz), and that of its largest eigenvalue. Of bilateral
    /// ones: the inverse of `delassus` with the softness (xx, xy, xz, yy, yz, zz).
    local: [F4; 7],
    /// Velocity per impulse along the normal and across it, to convert changes of impulses into speeds.
    speed: [F4; 2],
    impulse: V4,
}

const NONE: V4 = [F4::ZERO; 3];

impl LaneBlock {
    const EMPTY: Self = Self {
        linear: [NONE; 3],
        angular: [[NONE; 3]; 2],
        response: [[NONE; 3]; 2],
        offset: NONE,
        friction: F4::ZERO,
        softness: F4::ZERO,
        local: [F4::ZERO; 7],
        speed: [F4::ZERO; 2],
        impulse: NONE,
    };

    fn put(&mut self, lane: usize, block: &Block, inverse_inertias: [&Mat3; 2]) {
        for (i, row) in block.rows.iter().take(block.law.rows()).enumerate() {
            put(&mut self.linear[i], lane, row.linear);
            for (side, arm) in [row.angular_a, row.angular_b].into_iter().enumerate() {
                put(&mut self.angular[side][i], lane, arm);
                put(&mut self.response[side][i], lane, *inverse_inertias[side] * arm);
            }
        }
        let rows = block.law.rows();
        for i in 0..rows {
            self.offset[i].0[lane] = block.offset[i];
        }
        let (local, speed) = match block.law {
            Law::Contact { friction } => {
                self.friction.0[lane] = friction;
                contact_solution(&block.delassus)
            }
            Law::Unilateral => {
                let normal = block.delassus.x_axis.x;
                ([inverse(normal), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [normal, 0.0])
            }
            Law::Bilateral { rows } => {
                self.softness.0[lane] = block.softness;
                bilateral_solution(&block.delassus, block.softness, rows)
            }
        };
        for (to, value) in self.local.iter_mut().zip(local) {
            to.0[lane] = value;
        }
        for (to, value) in self.speed.iter_mut().zip(speed) {
            to.0[lane] = value;
        }
        put(&mut self.impulse, lane, block.impulse);
    }
}

fn put(to: &mut V4, lane: usize, v: Vec3) {
    for (to, v) in to.iter_mut().zip(v.to_array()) {
        to.0[lane] = v;
    }
}

/// Returns the inverse of a number that is not negative; zero for zero.
fn inverse(x: f64) -> f64 {
    if x > 0.0 { x.recip() } else { 0.0 }
}

fn contact_solution(w: &Mat3) -> ([f64; 7], [f64; 2]) {
    let (normal, across) = (w.x_axis.x, max_tangent_delassus(w));
    let (yy, yz, zz) = (w.y_axis.y, w.y_axis.z, w.z_axis.z);
    let by = inverse(yy * zz - yz * yz);
    let tangential = [zz * by, -yz * by, yy * by];
    let coupling = [w.x_axis.y, w.x_axis.z];
    let [a, b, c] = tangential;
    ([inverse(normal), coupling[0], coupling[1], a, b, c, inverse(across)], [normal, across])
}

fn bilateral_solution(w: &Mat3, softness: f64, rows: usize) -> ([f64; 7], [f64; 2]) {
    let mut matrix = *w;
    for i in 0..3 {
        matrix.col_mut(i)[i] += if i < rows { softness } else { 1.0 };
    }
    let largest = w.x_axis.x.max(w.y_axis.y).max(w.z_axis.z);
    let found = matrix.inverse();
    // Rows that move nothing have no solution.
    let m = if found.is_finite() { found } else { Mat3::ZERO };
    let entries = [m.x_axis.x, m.x_axis.y, m.x_axis.z, m.y_axis.y, m.y_axis.z, m.z_axis.z, 0.0];
    (entries, [largest, largest])
}

/// The batches that have a free lane, up to 64 of them, by slot.
#[derive(Clone, Debug, Default)]
struct OpenBatches {
    /// By slot: the batch.
    slots: Vec<u32>,
    /// The slots with a batch of each kind, as bits.
    of_kind: [u64; 2],
    /// By body in `velocities`: the slots of the batches that it is in.
    used_by: Vec<u64>,
}

impl OpenBatches {
    fn clear(&mut self) {
        self.slots.clear();
        self.of_kind = [0; 2];
        self.used_by.clear();
    }

    /// Returns a slot whose batch has a free lane and none of the bodies.
    fn find(&self, kind: Kind, bodies: [u32; 2]) -> Option<u32> {
        let used = self.used_by[bodies[0] as usize] | self.used_by[bodies[1] as usize];
        let free = self.of_kind[kind as usize] & !used;
        (free != 0).then(|| free.trailing_zeros())
    }

    /// Returns the slot of a new batch. Closes the batch in slot 63 if there are too many.
    fn open(&mut self, kind: Kind, batch: u32, batches: &[Batch]) -> u32 {
        let taken = self.of_kind[0] | self.of_kind[1];
        let slot = if taken == u64::MAX { 63 } else { taken.trailing_ones() };
        if taken == u64::MAX {
            self.close(slot, &batches[self.slots[slot as usize] as usize]);
        }
        if slot as usize == self.slots.len() {
            self.slots.push(batch);
        }
        self.slots[slot as usize] = batch;
        self.of_kind[kind as usize] |= 1 << slot;
        slot
    }

    /// Closes the batch of a slot.
    fn close(&mut self, slot: u32, batch: &Batch) {
        self.of_kind[batch.kind as usize] &= !(1 << slot);
        for body in batch.bodies.as_flattened() {
            self.used_by[*body as usize] &= !(1 << slot);
        }
    }
}

impl Sweeps {
    /// Packs a problem whose blocks have their `delassus`. Keeps its impulses and velocities.
    pub(crate) fn load(&mut self, problem: &Problem<'_>) {
        self.bodies.clear();
        self.velocities.clear();
        self.velocities.push([F4::ZERO; 2]);
        self.batches.clear();
        self.blocks.clear();
        self.places.clear();
        self.open.clear();
        self.open.used_by.push(0);
        if self.index.len() < problem.bodies.len() {
            self.index.resize(problem.bodies.len(), OUTSIDE);
        }
        self.assign_lanes(problem);
        self.fill_lanes(problem);
        for &body in &self.bodies {
            self.index[body as usize] = OUTSIDE;
        }
    }

    /// Assigns the blocks of each pair to a lane of a batch.
    fn assign_lanes(&mut self, problem: &Problem<'_>) {
        let mut first = 0;
        let same =
            |a: &Block, b: &Block| a.bodies == b.bodies && Kind::of(&a.law) == Kind::of(&b.law);
        for run in problem.blocks.chunk_by(same) {
            let bodies = run[0].bodies.map(|body| self.number(body, problem));
            let kind = Kind::of(&run[0].law);
            let slot = self.open.find(kind, bodies).unwrap_or_else(|| {
                self.batches.push(Batch {
                    kind,
                    count: 0,
                    bodies: [[0; 4]; 2],
                    inverse_mass: [F4::ZERO; 2],
                    first: 0,
                    blocks: 0,
                    runs: [(0, 0); 4],
                });
                self.open.open(kind, self.batches.len() as u32 - 1, &self.batches)
            });
            let batch = &mut self.batches[self.open.slots[slot as usize] as usize];
            let lane = batch.count;
            batch.count += 1;
            batch.runs[lane] = (first, run.len() as u32);
            batch.blocks = batch.blocks.max(run.len() as u32);
            for (side, index) in bodies.into_iter().enumerate() {
                let body = &problem.bodies[run[0].bodies[side] as usize];
                batch.bodies[side][lane] = index;
                batch.inverse_mass[side].0[lane] = body.inverse_mass;
                if body.is_inertial() {
                    self.open.used_by[index as usize] |= 1 << slot;
                }
            }
            if batch.count == 4 {
                self.open.close(slot, batch);
            }
            first += run.len() as u32;
        }
    }

    /// Returns the index of a body among the velocities.
    fn number(&mut self, body: u32, problem: &Problem<'_>) -> u32 {
        let index = &mut self.index[body as usize];
        if *index == OUTSIDE {
            *index = self.velocities.len() as u32;
            self.bodies.push(body);
            let SpatialVector { linear, angular } = problem.bodies[body as usize].velocity;
            self.velocities.push([linear, angular].map(|v| F4([v.x, v.y, v.z, 0.0])));
            self.open.used_by.push(0);
        }
        *index
    }

    fn fill_lanes(&mut self, problem: &Problem<'_>) {
        self.places.resize(problem.blocks.len(), (0, 0));
        for batch in &mut self.batches {
            batch.first = self.blocks.len() as u32;
            let end = self.blocks.len() + batch.blocks as usize;
            self.blocks.resize(end, LaneBlock::EMPTY);
            for (lane, &(first, count)) in batch.runs.iter().enumerate().take(batch.count) {
                let run = first as usize..(first + count) as usize;
                let ends = problem.blocks[run.start].bodies;
                let inertias = ends.map(|body| &problem.bodies[body as usize].inverse_inertia);
                for (at, block) in problem.blocks[run.clone()].iter().enumerate() {
                    self.blocks[batch.first as usize + at].put(lane, block, inertias);
                    self.places[run.start + at] = (batch.first + at as u32, lane as u32);
                }
            }
        }
    }

    /// Solves every block once per sweep, each with the velocities left by the blocks before it. Returns the
    /// largest change of a velocity by one block in the last sweep, m/s.
    pub(crate) fn run(&mut self, sweeps: u32) -> f64 {
        let mut change = 0.0;
        for _ in 0..sweeps {
            let Self { batches, blocks, velocities, .. } = self;
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
        self.momentum.start(&self.velocities, &self.blocks);
        for count in 1..=most {
            let change = self.run(1);
            if change <= limit || count == most {
                return count;
            }
            let factor = self.momentum.factor(change);
            let Self { blocks, velocities, momentum, .. } = self;
            let Momentum { velocities: old, impulses, .. } = momentum;
            simd::run(!self.scalar, Extrapolate { factor, blocks, velocities, impulses, old });
        }
        0
    }

    /// Writes impulses and velocities to the problem that was loaded.
    pub(crate) fn store(&self, problem: &mut Problem<'_>) {
        for (block, &(at, lane)) in problem.blocks.iter_mut().zip(&self.places) {
            let impulse = &self.blocks[at as usize].impulse;
            block.impulse = Vec3::from_array([0, 1, 2].map(|i| impulse[i].0[lane as usize]));
        }
        for (&body, [linear, angular]) in self.bodies.iter().zip(&self.velocities[1..]) {
            let body = &mut problem.bodies[body as usize];
            if body.is_inertial() {
                let [linear, angular] =
                    [linear, angular].map(|v| Vec3::new(v.0[0], v.0[1], v.0[2]));
                body.velocity = SpatialVector::new(linear, angular);
            }
        }
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

#[inline(always)]
fn combine<L: Lanes>(rows: &[Vec4<L>; 3], by: Vec4<L>) -> Vec4<L> {
    rows[0].scale(by.x) + rows[1].scale(by.y) + rows[2].scale(by.z)
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
    use crate::solver::{Row, SolverBody, residual};

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        }

        fn vector(&mut self) -> Vec3 {
            Vec3::new(self.next(), self.next(), self.next())
        }
    }

    fn body(random: &mut Random) -> SolverBody {
        SolverBody {
            velocity: SpatialVector::new(random.vector(), random.vector()),
            inverse_mass: 1.0 + random.next(),
            inverse_inertia: Mat3::from_diagonal(Vec3::splat(2.0) + random.vector()),
        }
    }

    /// Random pairs of bodies, with one to four blocks each and all kinds of laws; body 0 is a moving part of the
    /// environment.
    fn random_problem(size: u32, pairs: u32, random: &mut Random) -> (Vec<SolverBody>, Vec<Block>) {
        let mut bodies = vec![SolverBody::default()];
        bodies[0].velocity = SpatialVector::new(random.vector(), random.vector());
        bodies.extend((0..size).map(|_| body(random)));
        let mut blocks = Vec::new();
        for pair in 0..pairs {
            let [a, b] = [(); 2].map(|()| ((random.next() + 0.5) * f64::from(size + 1)) as u32);
            if a == b {
                continue;
            }
            for point in 0..1 + pair % 4 {
                let law = match (pair + point / 3) % 4 {
                    0 => Law::Bilateral { rows: 1 + point as usize % 3 },
                    1 => Law::Unilateral,
                    _ => Law::Contact { friction: 0.5 + random.next() },
                };
                let rows = [(); 3].map(|()| {
                    Row::at(random.vector().normalize(), random.vector(), random.vector())
                });
                let mut block = Block {
                    bodies: [a, b],
                    law,
                    rows: [0, 1, 2].map(|i| if i < law.rows() { rows[i] } else { Row::default() }),
                    offset: Vec3::ZERO,
                    softness: if pair % 2 == 0 { 0.01 } else { 0.0 },
                    impulse: Vec3::ZERO,
                    delassus: Mat3::ZERO,
                };
                block.compute_delassus(&bodies);
                blocks.push(block);
            }
        }
        (bodies, blocks)
    }

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
            let problem = random_problem(size, 3 * size, &mut random);
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
    fn no_batch_has_an_inertial_body_twice_and_every_block_has_its_own_lane() {
        let mut random = Random(2);
        for (size, pairs) in [(1, 10), (5, 200), (30, 100), (400, 1000)] {
            let (mut bodies, mut blocks) = random_problem(size, pairs, &mut random);
            let problem = Problem { bodies: &mut bodies, members: &[], blocks: &mut blocks };
            let mut sweeps = Sweeps::default();
            sweeps.load(&problem);
            for batch in &sweeps.batches {
                let ends = batch.bodies.as_flattened().iter().filter(|&&at| at != 0);
                let inertial = |&&at: &&u32| {
                    let body = sweeps.bodies[at as usize - 1];
                    problem.bodies[body as usize].is_inertial()
                };
                let mut used: Vec<_> = ends.filter(inertial).collect();
                let count = used.len();
                used.sort_unstable();
                used.dedup();
                assert_eq!(used.len(), count);
            }
            let mut places = sweeps.places.clone();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), problem.blocks.len());
        }
    }

    #[test]
    fn velocities_stay_those_of_the_impulses() {
        let mut random = Random(3);
        for size in [3, 20, 100] {
            let problem = random_problem(size, 2 * size, &mut random);
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
                    sweeps.accelerate(1e-7, 10_000)
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
