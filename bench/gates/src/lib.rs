//! What the gates count: each is made ready outside of the count, always the same.

use std::hint::black_box;

use msd_scene::Simulation;
use msd_scene::catalog::crowds;
use msd_sim::collision::{BroadPhase, Kind};
use msd_sim::geometry::{PairMemory, Shape, Simplex, Workspace, contact_manifold, separation};
use msd_sim::math::{Pose, Quat, Vec3, rotation};

/// A crowd of the catalog after so many steps.
pub fn crowd(id: &str, steps: u64) -> Simulation {
    let crowd = crowds::find(id).expect("a crowd of the catalog");
    let mut simulation = crowd.build().expect("a valid crowd");
    for _ in 0..steps {
        simulation.step();
    }
    simulation
}

/// Gaps up to this many metres make contact points.
const MARGIN: f64 = 0.01;
/// How deep pairs rest in each other, m.
const DEPTH: f64 = 1.5e-4;
/// By how much they move and turn in a step, in metres and radians.
const MOTION: f64 = 1e-6;
/// How many pairs are followed, and for how many steps.
const PAIRS: usize = 16;
const STEPS: usize = 32;

/// Pairs of one shape that rest on each other, face on face, and have for a step.
pub struct Resting {
    shape: Shape,
    pairs: Vec<Pair>,
    workspace: Workspace,
}

struct Pair {
    a: Pose,
    /// In each step.
    b: Vec<Pose>,
    memory: PairMemory,
}

impl Resting {
    /// Boxes about a metre large.
    pub fn cuboids() -> Self {
        let faces = [Vec3::X, -Vec3::Y, Vec3::Z];
        Self::new(Shape::cuboid(Vec3::new(0.5, 0.4, 0.3)).expect("valid sizes"), &faces)
    }

    /// Hulls of 16 points of an ellipsoid about a metre large.
    pub fn hulls() -> Self {
        let points: Vec<_> = (0..16).map(|i| spread(i, 16) * Vec3::new(0.6, 0.5, 0.4)).collect();
        let shape = Shape::hull(&points).expect("valid points");
        let Shape::Hull(hull) = &shape else { unreachable!("a hull was asked for") };
        let faces: Vec<_> = hull.planes().iter().map(|plane| plane.normal).collect();
        Self::new(shape, &faces)
    }

    fn new(shape: Shape, faces: &[Vec3]) -> Self {
        let mut workspace = Workspace::default();
        let face = |index: usize| faces[index % faces.len()];
        let pairs = (0..PAIRS).map(|i| {
            let a = Pose::new(Vec3::ZERO, lying(face(i), Vec3::Z, i));
            let aside = 0.1 * spread(i, PAIRS) * Vec3::new(1.0, 1.0, 0.0);
            let mut b = Pose::new(aside + 1.5 * Vec3::Z, lying(face(3 * i + 1), -Vec3::Z, 5 * i));
            let steps = (0..STEPS).map(|step| {
                let way = spread(step, STEPS);
                b.position += MOTION * way;
                b.rotation = (rotation(way, MOTION) * b.rotation).normalize();
                for _ in 0..4 {
                    let simplex = &mut Simplex::default();
                    let found = separation(&shape, &a, &shape, &b, simplex, &mut workspace);
                    b.position.z -= found.expect("both are bounded").distance + DEPTH;
                }
                b
            });
            let b: Vec<_> = steps.collect();
            let mut memory = PairMemory::default();
            let first = &b[0];
            let points =
                contact_manifold(&shape, &a, &shape, first, MARGIN, &mut memory, &mut workspace);
            assert!(points.points().len() > 2, "pair {i} does not rest on a face");
            Pair { a, b, memory }
        });
        let pairs = pairs.collect();
        Self { shape, pairs, workspace }
    }

    /// The contact points of every pair in every step but the first.
    pub fn follow(&mut self) {
        let Self { shape, pairs, workspace } = self;
        for Pair { a, b, memory } in pairs {
            for b in &b[1..] {
                black_box(contact_manifold(shape, a, shape, b, MARGIN, memory, workspace));
            }
        }
    }
}

/// A thousand unit cubes in a grid in which neighbours overlap, turned any way, and room for their pairs.
pub fn boxes() -> (BroadPhase, Vec<(u32, u32)>) {
    let cube = Shape::cuboid(Vec3::splat(0.5)).expect("valid sizes");
    let mut phase = BroadPhase::default();
    for body in 0..1000 {
        let [x, y, z] = [body % 10, body / 10 % 10, body / 100].map(f64::from);
        let turn = lying(spread(body as usize, 1000), Vec3::Z, body as usize);
        let pose = Pose::new(1.2 * Vec3::new(x, y, z), turn);
        phase.insert(body, Kind::Moving, cube.bounds(&pose));
    }
    let mut pairs = Vec::new();
    phase.find_pairs(&mut pairs);
    assert!(pairs.len() > 1000, "{} pairs", pairs.len());
    (phase, pairs)
}

/// The golden angle, in radians.
const GOLDEN: f64 = 2.399_963_229_728_653;

/// The `index`th of `count` directions that are spread evenly.
fn spread(index: usize, count: usize) -> Vec3 {
    let z = 1.0 - (2 * index + 1) as f64 / count as f64;
    let around = rotation(Vec3::Z, GOLDEN * index as f64) * Vec3::X;
    around * (1.0 - z * z).sqrt() + z * Vec3::Z
}

/// A rotation that takes one direction to the other, and about that by any angle.
fn lying(from: Vec3, to: Vec3, index: usize) -> Quat {
    (rotation(Vec3::Z, GOLDEN * index as f64) * Quat::from_rotation_arc(from, to)).normalize()
}
