//! Random problems for unit tests.

use super::{Block, Law, Row, SolverBody};
use crate::math::{Mat3, SpatialVector, Vec3};

/// A linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number from -0.5 to 0.5.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        ((self.next() + 0.5) * f64::from(limit)) as u32
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// Creates a problem with all kinds of laws, and one to five blocks for each pair of bodies. Body 0 is a moving part
/// of the environment, bodies 1 to `size` are inertial.
pub(crate) fn random_problem(
    size: u32,
    pairs: impl IntoIterator<Item = [u32; 2]>,
    random: &mut Random,
) -> (Vec<SolverBody>, Vec<Block>) {
    let mut bodies = vec![SolverBody::default()];
    bodies[0].velocity = SpatialVector::new(random.vector(), random.vector());
    bodies.extend((0..size).map(|_| SolverBody {
        velocity: SpatialVector::new(random.vector(), random.vector()),
        inverse_mass: 1.0 + random.next(),
        inverse_inertia: Mat3::from_diagonal(Vec3::splat(2.0) + random.vector()),
    }));
    let mut blocks = Vec::new();
    for (number, pair) in (1_u32..).zip(pairs) {
        for point in 0..1 + number % 5 {
            let law = match (number + point / 3) % 4 {
                0 => Law::Bilateral { rows: 1 + point as usize % 3 },
                1 => Law::Unilateral,
                _ => Law::Contact { friction: 0.5 + random.next() },
            };
            let rows = [(); 3]
                .map(|()| Row::at(random.vector().normalize(), random.vector(), random.vector()));
            let mut block = Block {
                bodies: pair,
                law,
                rows: [0, 1, 2].map(|i| if i < law.rows() { rows[i] } else { Row::default() }),
                offset: Vec3::ZERO,
                softness: if number % 2 == 0 { 0.01 } else { 0.0 },
                impulse: Vec3::ZERO,
                delassus: Mat3::ZERO,
            };
            block.compute_delassus(&bodies);
            blocks.push(block);
        }
    }
    (bodies, blocks)
}

/// Returns random pairs of different bodies out of 0 to `size`, at most `count`.
pub(crate) fn random_pairs(size: u32, count: u32, random: &mut Random) -> Vec<[u32; 2]> {
    let pairs = (0..count).map(|_| [random.below(size + 1), random.below(size + 1)]);
    pairs.filter(|[a, b]| a != b).collect()
}
