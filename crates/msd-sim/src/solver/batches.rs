//! A problem packed for sweeps: four pairs of bodies at a time, one per lane.
//!
//! The blocks of a pair share a lane and are solved one after the other. The four pairs of a batch have no inertial
//! body in common, so the result is that of some order of the blocks: it does not depend on the kind of lanes.

use super::row_groups::{lane_of, put};
use super::{Block, Law, Problem, max_tangent_delassus};
use crate::math::{Mat3, SpatialVector, Vec3};
use crate::simd::{F4, V4};

/// A packed problem. Buffers are reused between problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    /// Linear and angular velocity of each body of the blocks, after that of a dummy for unused lanes.
    pub(crate) velocities: Vec<[F4; 2]>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) blocks: Vec<LaneBlock>,
    /// For each body of the problem, its index in `velocities` or `OUTSIDE`.
    index: Vec<u32>,
    /// The bodies in `velocities`.
    bodies: Vec<u32>,
    /// For each block of the problem, its place in `blocks`, and its lane.
    places: Vec<(u32, u32)>,
    open: OpenBatches,
}

const OUTSIDE: u32 = u32::MAX;

/// Up to four pairs of bodies, one per lane, without a common inertial body.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) kind: Kind,
    /// Number of lanes in use.
    count: usize,
    /// By side and lane: index among the velocities, and inverse mass.
    pub(crate) bodies: [[u32; 4]; 2],
    pub(crate) inverse_mass: [F4; 2],
    /// The first of its blocks, and their number.
    pub(crate) first: u32,
    pub(crate) blocks: u32,
    /// For each lane, the first block of its pair in the problem, and their number.
    runs: [(u32, u32); 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
pub(crate) struct LaneBlock {
    pub(crate) linear: [V4; 3],
    /// By side: the angular part of the rows, and its response, the inverse inertia times it.
    pub(crate) angular: [[V4; 3]; 2],
    pub(crate) response: [[V4; 3]; 2],
    pub(crate) offset: V4,
    pub(crate) friction: F4,
    pub(crate) softness: F4,
    /// Of one-sided blocks: inverse of the normal entry of `delassus`, its two entries that couple the normal with the
    /// tangents, the inverse of the tangential part (yy, yz, zz), and that of its largest eigenvalue. Of bilateral
    /// ones: the inverse of `delassus` with the softness (xx, xy, xz, yy, yz, zz).
    pub(crate) local: [F4; 7],
    /// Velocity per impulse along the normal and across it, to convert changes of impulses into speeds.
    pub(crate) speed: [F4; 2],
    pub(crate) impulse: V4,
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

impl Batches {
    /// Packs a problem whose blocks have their `delassus`, with its impulses and velocities.
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

    /// Writes impulses and velocities to the problem that was loaded.
    pub(crate) fn store(&self, problem: &mut Problem<'_>) {
        for (block, &(at, lane)) in problem.blocks.iter_mut().zip(&self.places) {
            block.impulse = lane_of(&self.blocks[at as usize].impulse, lane as usize);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::random_problem::{Random, random_pairs, random_problem};

    #[test]
    fn no_batch_has_an_inertial_body_twice_and_every_block_has_its_own_lane() {
        let mut random = Random(2);
        for (size, pairs) in [(1, 10), (5, 200), (30, 100), (400, 1000)] {
            let pairs = random_pairs(size, pairs, &mut random);
            let (mut bodies, mut blocks) = random_problem(size, pairs, &mut random);
            let problem = Problem { bodies: &mut bodies, members: &[], blocks: &mut blocks };
            let mut packed = Batches::default();
            packed.load(&problem);
            for batch in &packed.batches {
                let ends = batch.bodies.as_flattened().iter().filter(|&&at| at != 0);
                let inertial = |&&at: &&u32| {
                    let body = packed.bodies[at as usize - 1];
                    problem.bodies[body as usize].is_inertial()
                };
                let mut used: Vec<_> = ends.filter(inertial).collect();
                let count = used.len();
                used.sort_unstable();
                used.dedup();
                assert_eq!(used.len(), count);
            }
            let mut places = packed.places.clone();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), problem.blocks.len());
        }
    }
}
