//! Prints the step times of small scenes in msd and rapier3d-f64, in one run: the minimum over several alternating
//! rounds of the mean. `cargo run --release --bin step`

use std::hint::black_box;
use std::time::Instant;

use msd_sim::collision::{BroadPhase, Kind};
use msd_sim::geometry::{Aabb, Shape};
use msd_sim::math::{Mat3, SpatialVector, Vec3};
use msd_sim::solver::{Block, Law, Problem, Row, Scratch, SolverBody, solve};
use msd_sim::{BodyDef, Material, Settings, World};
use rapier3d_f64::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector};

const DT: f64 = 1.0 / 60.0;
const ROUNDS: usize = 5;

fn main() {
    println!("| scene | msd us/step | rapier3d-f64 us/step | ratio |");
    println!("|---|---|---|---|");
    for (name, cubes) in [
        ("10 cubes apart on the floor", spread(10)),
        ("50 cubes apart on the floor", spread(50)),
        ("stack of 10", (0..10).map(|i| Vec3::new(0.0, 0.0, 0.5 + f64::from(i))).collect()),
        ("pile of 32", pile(32)),
    ] {
        for (phase, warm, steps) in [("falling and settling", 0, 120), ("at rest", 400, 120)] {
            let [ours, theirs] = least_step_times(&cubes, warm, steps);
            println!("| {name}, {phase} | {ours:.1} | {theirs:.1} | {:.2} |", ours / theirs);
        }
    }
    println!();
    println!("| contact solve | cold us | warm-started from the solution us |");
    println!("|---|---|---|");
    for cubes in [1, 3, 13] {
        let [cold, warm] = solve_times(cubes);
        println!("| {} contacts (tower of {cubes}) | {cold:.2} | {warm:.2} |", 4 * cubes);
    }
    println!();
    println!("| broad phase, all moving | update and pairs, us | ns per body and log2 n |");
    println!("|---|---|---|");
    for n in [1_000, 10_000, 100_000] {
        let time = broad_phase_time(n);
        let per = time * 1e3 / (n as f64 * (n as f64).log2());
        println!("| {n} | {time:.0} | {per:.1} |");
    }
}

fn spread(n: usize) -> Vec<Vec3> {
    (0..n).map(|i| Vec3::new(2.0 * (i % 10) as f64, 2.0 * (i / 10) as f64, 0.5)).collect()
}

fn pile(n: usize) -> Vec<Vec3> {
    let place = |i: usize| {
        let (x, y, z) = ((i % 4) as f64, (i / 4 % 2) as f64, (i / 8) as f64);
        Vec3::new(1.05 * x + 0.1 * z, 1.05 * y - 0.07 * z, 0.7 + 1.3 * z)
    };
    (0..n).map(place).collect()
}

/// Returns the mean microseconds per step of msd and rapier, in the fastest round of each.
fn least_step_times(cubes: &[Vec3], warm: usize, steps: usize) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let mut world = ours(cubes);
        let time = timed(warm, steps, || {
            world.step(DT).expect("a positive time step");
        });
        least[0] = least[0].min(time);
        let mut world = theirs(cubes);
        least[1] = least[1].min(timed(warm, steps, || world.step()));
    }
    least
}

fn timed(warm: usize, steps: usize, mut step: impl FnMut()) -> f64 {
    (0..warm).for_each(|_| step());
    let start = Instant::now();
    (0..steps).for_each(|_| step());
    start.elapsed().as_secs_f64() * 1e6 / steps as f64
}

fn ours(cubes: &[Vec3]) -> World {
    let mut world = World::default();
    let material = Material::new(0.0, 0.6).expect("valid");
    let floor = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).expect("valid");
    let floor = BodyDef::environment(floor).position(Vec3::new(0.0, 0.0, -0.5)).material(material);
    world.add_body(floor).expect("valid");
    for &position in cubes {
        let cube = BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).expect("valid"))
            .mass(1.0)
            .position(position)
            .material(material);
        world.add_body(cube).expect("valid");
    }
    world
}

fn theirs(cubes: &[Vec3]) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = DT;
    let cuboid = |x, y, z| ColliderBuilder::cuboid(x, y, z).friction(0.6).restitution(0.0);
    let floor = RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.5));
    world.insert(floor, cuboid(50.0, 50.0, 0.5));
    for p in cubes {
        let body =
            RigidBodyBuilder::dynamic().translation(Vector::new(p.x, p.y, p.z)).can_sleep(false);
        world.insert(body, cuboid(0.5, 0.5, 0.5).density(1.0));
    }
    world
}

/// Returns the microseconds to solve the contacts of a tower from zero impulses, and from the solution.
fn solve_times(cubes: usize) -> [f64; 2] {
    let settings = Settings::default();
    let mut scratch = Scratch::default();
    let (bodies, blocks) = tower(cubes);
    let members: Vec<u32> = (1..=cubes as u32).collect();
    let mut run = |bodies: &[SolverBody], blocks: &[Block]| {
        let mut least = f64::INFINITY;
        let (mut b, mut k) = (bodies.to_vec(), blocks.to_vec());
        for _ in 0..1000 {
            b.copy_from_slice(bodies);
            k.copy_from_slice(blocks);
            let start = Instant::now();
            let mut problem = Problem { bodies: &mut b, members: &members, blocks: &mut k };
            black_box(solve(&mut problem, &settings, &mut scratch));
            least = least.min(start.elapsed().as_secs_f64() * 1e6);
        }
        (least, b, k)
    };
    let (cold, solved_bodies, solved_blocks) = run(&bodies, &blocks);
    let (warm, ..) = run(&solved_bodies, &solved_blocks);
    [cold, warm]
}

/// Returns a stack of cubes with the velocity gained in a substep of free fall; body 0 is the floor.
fn tower(cubes: usize) -> (Vec<SolverBody>, Vec<Block>) {
    let falling = SolverBody {
        velocity: SpatialVector::new(Vec3::new(0.0, 0.0, -9.81 / 240.0), Vec3::ZERO),
        inverse_mass: 1.0,
        inverse_inertia: Mat3::from_diagonal(Vec3::splat(6.0)),
    };
    let mut bodies = vec![falling; cubes + 1];
    bodies[0] = SolverBody::default();
    let mut blocks = Vec::new();
    for i in 0..cubes {
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let arms = [Vec3::new(x, y, 0.5), Vec3::new(x, y, -0.5)];
            blocks.push(Block {
                bodies: [i as u32, i as u32 + 1],
                law: Law::Contact { friction: 0.6 },
                rows: [Vec3::Z, Vec3::X, Vec3::Y].map(|d| Row::at(d, arms[0], arms[1])),
                offset: Vec3::ZERO,
                softness: 0.0,
                impulse: Vec3::ZERO,
                delassus: Mat3::ZERO,
            });
        }
    }
    (bodies, blocks)
}

/// Returns the microseconds to move `n` boxes and find the pairs, in the fastest of several rounds.
fn broad_phase_time(n: usize) -> f64 {
    let side = (n as f64).cbrt() * 1.2;
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut centers: Vec<Vec3> =
        (0..n).map(|_| Vec3::new(random(), random(), random()) * side).collect();
    let bounds = |c: Vec3| Aabb { min: c - Vec3::splat(0.5), max: c + Vec3::splat(0.5) };
    let mut phase = BroadPhase::default();
    for (i, c) in centers.iter().enumerate() {
        phase.insert(i as u32, Kind::Inertial, bounds(*c));
    }
    let mut pairs = Vec::new();
    let mut least = f64::INFINITY;
    for _ in 0..10 {
        for c in &mut centers {
            *c += Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5) * 0.05;
        }
        let start = Instant::now();
        for (i, c) in centers.iter().enumerate() {
            phase.update(i as u32, bounds(*c));
        }
        phase.find_pairs(&mut pairs);
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
        black_box(pairs.len());
    }
    least
}
