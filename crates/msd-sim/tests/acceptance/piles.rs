//! Hard contact problems from random numbers: redundant contacts, mass ratios up to 1e6, friction
//! from none to 1.5. All have a solution: gaps are not negative and the environment stands still.

use crate::oracle::pairs::Rng;
use msd_sim::math::{Mat3, Quat, SpatialVector, Vec3, rotation};
use msd_sim::solver::{Block, Law, Problem, Row, SolverBody};

/// Bodies, the first of which is the environment, and the blocks between them.
#[derive(Clone, Debug)]
pub struct Pile {
    pub bodies: Vec<SolverBody>,
    pub blocks: Vec<Block>,
    centers: Vec<Vec3>,
}

impl Pile {
    pub fn new() -> Self {
        // The default matrix is the identity, but the environment must not turn.
        let still = SolverBody { inverse_inertia: Mat3::ZERO, ..SolverBody::default() };
        Self { bodies: vec![still], blocks: Vec::new(), centers: vec![Vec3::ZERO] }
    }

    /// Runs `solve` on the pile as a problem.
    pub fn with<T>(&mut self, solve: impl FnOnce(&mut Problem) -> T) -> T {
        let members: Vec<u32> = (0..self.bodies.len() as u32)
            .filter(|&i| self.bodies[i as usize].is_inertial())
            .collect();
        let mut problem =
            Problem { bodies: &mut self.bodies, members: &members, blocks: &mut self.blocks };
        solve(&mut problem)
    }

    pub fn body(
        &mut self,
        center: Vec3,
        mass: f64,
        inertia: Vec3,
        turn: Quat,
        v: SpatialVector,
    ) -> u32 {
        let axes = Mat3::from_quat(turn);
        let inverse_inertia = axes * Mat3::from_diagonal(inertia.recip()) * axes.transpose();
        // Symmetric to the bit, as the solvers may assume.
        let inverse_inertia = (inverse_inertia + inverse_inertia.transpose()) * 0.5;
        self.bodies.push(SolverBody { velocity: v, inverse_mass: 1.0 / mass, inverse_inertia });
        self.centers.push(center);
        self.bodies.len() as u32 - 1
    }

    pub fn contact(
        &mut self,
        [a, b]: [u32; 2],
        point: Vec3,
        normal: Vec3,
        friction: f64,
        gap: f64,
    ) {
        let (t1, t2) = normal.any_orthonormal_pair();
        let rows = [normal, t1, t2].map(|d| self.row([a, b], point, d));
        self.block([a, b], Law::Contact { friction }, rows, Vec3::new(gap, 0.0, 0.0), 0.0);
    }

    pub fn joint(&mut self, [a, b]: [u32; 2], point: Vec3, softness: f64) {
        let rows = [Vec3::X, Vec3::Y, Vec3::Z].map(|d| self.row([a, b], point, d));
        self.block([a, b], Law::Bilateral { rows: 3 }, rows, Vec3::ZERO, softness);
    }

    pub fn unilateral(&mut self, [a, b]: [u32; 2], axis: Vec3, offset: f64) {
        let row = Row { linear: Vec3::ZERO, angular_a: axis, angular_b: axis };
        let rows = [row, Row::default(), Row::default()];
        self.block([a, b], Law::Unilateral, rows, Vec3::new(offset, 0.0, 0.0), 0.0);
    }

    fn row(&self, [a, b]: [u32; 2], point: Vec3, direction: Vec3) -> Row {
        let (a, b) = (self.centers[a as usize], self.centers[b as usize]);
        Row::at(direction, point - a, point - b)
    }

    fn block(&mut self, bodies: [u32; 2], law: Law, rows: [Row; 3], offset: Vec3, softness: f64) {
        let mut block = Block {
            bodies,
            law,
            rows,
            offset,
            softness,
            impulse: Vec3::ZERO,
            delassus: Mat3::ZERO,
        };
        block.compute_delassus(&self.bodies);
        self.blocks.push(block);
    }
}

/// A pseudorandom generator, the same on every machine.
pub struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0))
    }

    /// Returns a number from `low` to `high`.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        self.0.range(low, high)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.0.bits() % count as u64) as usize
    }

    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.range(-size, size), self.range(-size, size), self.range(-size, size))
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector(1.0);
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    /// Returns a mass between 1e-3 and 1e3 kg.
    pub fn mass(&mut self) -> f64 {
        10_f64.powf(self.range(-3.0, 3.0))
    }

    pub fn friction(&mut self) -> f64 {
        if self.below(5) == 0 { 0.0 } else { self.range(0.0, 1.5) }
    }
}

/// Builds bodies anywhere, pressed together at random faces of up to six points, some of them
/// duplicated.
pub fn tangle(seed: u64) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new();
    for _ in 0..1 + random.below(12) {
        let mass = random.mass();
        let size = random.range(0.05, 0.5);
        let inertia =
            Vec3::new(random.range(0.1, 0.7), random.range(0.1, 0.7), 0.5) * mass * size * size;
        let velocity = SpatialVector::new(
            random.vector(2.0) - Vec3::Z * random.range(0.0, 2.0),
            random.vector(5.0),
        );
        let (center, axis, angle) =
            (random.vector(1.0), random.direction(), random.range(0.0, 3.0));
        pile.body(center, mass, inertia, rotation(axis, angle), velocity);
    }
    let count = pile.bodies.len();
    for _ in 0..count + random.below(2 * count) {
        let b = 1 + random.below(count - 1);
        let a = random.below(b);
        let (from, to) = (pile.centers[a], pile.centers[b]);
        let normal = if a == 0 {
            (Vec3::Z + random.vector(0.5)).normalize()
        } else {
            ((to - from).normalize_or(Vec3::Z) + random.vector(0.3)).normalize()
        };
        let middle = if a == 0 { to - normal * 0.3 } else { (from + to) * 0.5 };
        face(&mut pile, &mut random, [a as u32, b as u32], middle, normal, 0.2);
    }
    pile
}

fn face(pile: &mut Pile, random: &mut Random, pair: [u32; 2], at: Vec3, normal: Vec3, size: f64) {
    let friction = random.friction();
    let (t1, t2) = normal.any_orthonormal_pair();
    let gap = if random.below(3) == 0 { random.range(0.0, 1.0) } else { 0.0 };
    for _ in 0..1 + random.below(6) {
        let point = at + t1 * random.range(-size, size) + t2 * random.range(-size, size);
        for _ in 0..1 + usize::from(random.below(8) == 0) {
            pile.contact(pair, point, normal, friction, gap);
        }
    }
}

/// Builds a wall of bricks, each on two of the course below, four points per touching pair.
pub fn wall(seed: u64, courses: usize, bricks: usize) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new();
    let half = Vec3::new(0.2, 0.1, 0.1);
    let friction = random.range(0.1, 1.5);
    let ratio = [0.0, 1.0, 3.0][random.below(3)];
    let push = random.range(0.0, 1.0) * random.range(0.0, 1.0);
    let mut below: Vec<u32> = Vec::new();
    for course in 0..courses {
        let mut here = Vec::new();
        for brick in 0..bricks {
            let shift = if course % 2 == 0 { 0.0 } else { half.x };
            let x = 2.0 * half.x * brick as f64 + shift;
            let z = half.z * (2.0 * course as f64 + 1.0);
            let mass = 10_f64.powf(random.range(-ratio, ratio));
            let squares = half * half;
            let inertia =
                Vec3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y)
                    * (mass / 3.0);
            let velocity =
                SpatialVector::new(random.vector(push) - Vec3::Z * 0.0981, random.vector(push));
            let body = pile.body(Vec3::new(x, 0.0, z), mass, inertia, Quat::IDENTITY, velocity);
            let bottom = z - half.z;
            let mut rest = |on: u32, low: f64, high: f64| {
                for (x, y) in [(low, -1.0), (high, -1.0), (low, 1.0), (high, 1.0)] {
                    let point = Vec3::new(x, y * half.y, bottom);
                    pile.contact([on, body], point, Vec3::Z, friction, 0.0);
                }
            };
            if course == 0 {
                rest(0, x - half.x, x + half.x);
            } else {
                for (index, &on) in below.iter().enumerate() {
                    let other = 2.0 * half.x * index as f64 + half.x - shift;
                    let (low, high) =
                        ((x - half.x).max(other - half.x), (x + half.x).min(other + half.x));
                    if high - low > 0.1 * half.x {
                        rest(on, low, high);
                    }
                }
            }
            here.push(body);
        }
        below = here;
    }
    pile
}

/// Builds one body wedged from all sides, at up to forty points.
pub fn wedge(seed: u64) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new();
    let velocity = SpatialVector::new(random.vector(1.0), random.vector(5.0));
    let mass = random.mass();
    let body =
        pile.body(Vec3::ZERO, mass, Vec3::new(0.1, 0.2, 0.25) * mass, Quat::IDENTITY, velocity);
    let friction = random.range(0.0, 1.5);
    for _ in 0..2 + random.below(39) {
        let normal = random.direction();
        let point = -normal * random.range(0.2, 0.6) + random.vector(0.1);
        pile.contact([0, body], point, normal, friction, 0.0);
    }
    pile
}

/// Builds a tower of cubes, the heaviest on top.
pub fn tower(seed: u64, floors: usize) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new();
    let friction = random.range(0.05, 1.5);
    let tilt = random.range(0.0, 0.6);
    let gravity = Vec3::new(tilt, 0.1 * tilt, -1.0) * 0.0981;
    let mut under = 0;
    for floor in 0..floors {
        let mass = 10_f64.powf(6.0 * floor as f64 / (floors.max(2) - 1) as f64 - 3.0);
        let z = 0.1 + 0.2 * floor as f64;
        let inertia = Vec3::splat(mass * 0.04 / 6.0);
        let velocity = SpatialVector::new(gravity, Vec3::ZERO);
        let body = pile.body(Vec3::new(0.0, 0.0, z), mass, inertia, Quat::IDENTITY, velocity);
        for (x, y) in [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)] {
            pile.contact([under, body], Vec3::new(x, y, z - 0.1), Vec3::Z, friction, 0.0);
        }
        under = body;
    }
    pile
}

/// Builds a chain of ball joints, some soft, with limits, dragged over the ground.
pub fn chain(seed: u64) -> Pile {
    let mut random = Random::new(seed);
    let mut pile = Pile::new();
    let soft = random.below(2) == 0;
    let mut before = 0;
    for link in 0..2 + random.below(10) {
        let x = 0.2 * link as f64;
        let mass = random.mass();
        let inertia = Vec3::new(0.001, 0.004, 0.004) * mass;
        let velocity = SpatialVector::new(random.vector(1.0) - Vec3::Z * 0.3, random.vector(2.0));
        let body =
            pile.body(Vec3::new(x + 0.1, 0.0, 0.05), mass, inertia, Quat::IDENTITY, velocity);
        if link > 0 || random.below(2) == 0 {
            let softness = if soft { 0.01 / mass } else { 0.0 };
            pile.joint([before, body], Vec3::new(x, 0.0, 0.05), softness);
            pile.unilateral([before, body], Vec3::Y, random.range(0.0, 1.0));
        }
        let friction = random.friction();
        for (dx, y) in [(0.01, -0.05), (0.19, -0.05), (0.01, 0.05), (0.19, 0.05)] {
            pile.contact([0, body], Vec3::new(x + dx, y, 0.0), Vec3::Z, friction, 0.0);
        }
        before = body;
    }
    pile
}
