//! The inputs of the gates: prepared outside the count, always identical.

use std::hint::black_box;

use msd_scene::catalog::{self, benchmarks};
use msd_scene::{Options, SceneFile, Simulation};
use msd_sim::collision::{BroadPhase, Kind};
use msd_sim::geometry::{PairMemory, Shape, Simplex, Workspace, contact_manifold, separation};
use msd_sim::math::{Pose, Quat, Vec3, rotation};

/// Returns a benchmark of the catalog after `steps` steps, in a box: moving it is not to be counted.
pub fn benchmark(id: &str, steps: u64) -> Box<Simulation> {
    let benchmark = benchmarks::find(id).expect("a benchmark of the catalog");
    let mut simulation = benchmark.build().expect("a valid benchmark");
    for _ in 0..steps {
        simulation.step();
    }
    Box::new(simulation)
}

/// Returns a small world after `warm` steps, and the number of steps to count: a scene of the catalog, or one of those
/// below.
pub fn small(name: &str, warm: u64, counted: u64) -> (Box<Simulation>, u64) {
    let cubes = |places: Vec<[f64; 3]>| {
        let shape = "{ cuboid = { half_extents = [0.5, 0.5, 0.5] } }";
        let cube = |[x, y, z]: [f64; 3]| body(shape, &format!("position = [{x}, {y}, {z}]\n"));
        format!("{FLOOR}{}", places.into_iter().map(cube).collect::<String>())
    };
    let text = match name {
        "apart" => cubes((0..10).map(|i| [2.0 * f64::from(i), 0.0, 0.5]).collect()),
        "stack" => cubes((0..10).map(|i| [0.0, 0.0, 0.5 + f64::from(i)]).collect()),
        "resting-pile" => cubes((0..32).map(|i| pile(f64::from(i), [0.5, 1.0])).collect()),
        "falling-pile" => cubes((0..32).map(|i| pile(f64::from(i), [0.7, 1.3])).collect()),
        "ball" => {
            let flight = "position = [0, 0, 3]\nmaterial = { restitution = 0.8, friction = 0.5 }\n";
            format!("{FLOOR}{}", body("{ sphere = { radius = 0.5 } }", flight))
        }
        "rod" => {
            let spin =
                "position = [0, 0, 4]\nvelocity = [1, 0, 0]\nangular_velocity = [0.1, 60, 5]\n";
            format!("{FLOOR}{}", body("{ capsule = { radius = 0.01, half_height = 0.5 } }", spin))
        }
        _ => catalog::find(name).expect("a scene of the catalog").text.to_owned(),
    };
    let file = SceneFile::parse(&text, name, &Options::default()).expect("a valid scene");
    let mut simulation = file.build().expect("a valid scene");
    simulation.set_threads(1);
    for _ in 0..warm {
        simulation.step();
    }
    (Box::new(simulation), counted)
}

/// The header of a scene without a ledger, as in the library, and its floor.
const FLOOR: &str = "version = 1\nworld.audit = false\n\
    [[body]]\nname = \"floor\"\nkind = \"environment\"\nposition = [0, 0, -0.5]\n\
    shape = { cuboid = { half_extents = [50, 50, 0.5] } }\n\
    material = { restitution = 0.8, friction = 0.6 }\n";

/// Returns a body of 1 kg that does not bounce unless `more` sets a material.
fn body(shape: &str, more: &str) -> String {
    let material = match more.contains("material") {
        true => "",
        false => "material = { restitution = 0, friction = 0.6 }\n",
    };
    format!("[[body]]\nkind = \"inertial\"\nmass = 1\nshape = {shape}\n{material}{more}")
}

/// Returns the position of a cube in a pile of layers of four by two, each shifted against the one below: `first` is
/// the height of the lowest layer and `next` the distance between layers, m.
fn pile(index: f64, [first, next]: [f64; 2]) -> [f64; 3] {
    let (x, y, z) = (index % 4.0, (index / 4.0).floor() % 2.0, (index / 8.0).floor());
    [1.05 * x + 0.3 * z, 1.05 * y - 0.2 * z, first + next * z]
}

/// Largest gap of a contact point, m.
const MARGIN: f64 = 0.01;
/// Depth of the overlap of resting pairs, m.
const DEPTH: f64 = 1.5e-4;
/// Motion per step, m and rad.
const MOTION: f64 = 1e-6;
/// Number of pairs, and of steps of each.
const PAIRS: usize = 16;
const STEPS: usize = 32;

/// Pairs of one shape that rest on each other, face on face, with one step of warm memory.
pub struct Resting {
    shape: Shape,
    pairs: Vec<Pair>,
    workspace: Workspace,
}

struct Pair {
    a: Pose,
    /// Pose of B in each step.
    b: Vec<Pose>,
    memory: PairMemory,
}

impl Resting {
    /// Returns boxes of about a meter.
    pub fn cuboids() -> Self {
        let faces = [Vec3::X, -Vec3::Y, Vec3::Z];
        Self::new(Shape::cuboid(Vec3::new(0.5, 0.4, 0.3)).expect("valid sizes"), &faces)
    }

    /// Returns hulls of 16 points on an ellipsoid of about a meter.
    pub fn hulls() -> Self {
        let points: Vec<_> = (0..16).map(|i| spread(i, 16) * Vec3::new(0.6, 0.5, 0.4)).collect();
        let shape = Shape::hull(&points).expect("valid points");
        let Shape::Hull(hull) = &shape else { unreachable!("`Shape::hull` returns a hull") };
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
                let direction = spread(step, STEPS);
                b.position += MOTION * direction;
                b.rotation = (rotation(direction, MOTION) * b.rotation).normalize();
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

    /// Computes the contact manifold of every pair in every step but the first.
    pub fn update_manifolds(&mut self) {
        let Self { shape, pairs, workspace } = self;
        for Pair { a, b, memory } in pairs {
            for b in &b[1..] {
                black_box(contact_manifold(shape, a, shape, b, MARGIN, memory, workspace));
            }
        }
    }
}

/// Returns a broad phase with a grid of a thousand unit cubes in varied orientations whose neighbors overlap, and a
/// buffer for their pairs.
pub fn boxes() -> (BroadPhase, Vec<(u32, u32)>) {
    let cube = Shape::cuboid(Vec3::splat(0.5)).expect("valid sizes");
    let mut phase = BroadPhase::default();
    for body in 0..1000 {
        let [x, y, z] = [body % 10, body / 10 % 10, body / 100].map(f64::from);
        let turn = lying(spread(body as usize, 1000), Vec3::Z, body as usize);
        let pose = Pose::new(1.2 * Vec3::new(x, y, z), turn);
        phase.insert(body, Kind::Inertial, cube.bounds(&pose));
    }
    let mut pairs = Vec::new();
    phase.find_pairs(&mut pairs);
    assert!(pairs.len() > 1000, "{} pairs", pairs.len());
    (phase, pairs)
}

/// The golden angle, in radians.
const GOLDEN: f64 = 2.399_963_229_728_653;

/// Returns the `index`th of `count` evenly distributed directions.
fn spread(index: usize, count: usize) -> Vec3 {
    let z = 1.0 - (2 * index + 1) as f64 / count as f64;
    let around = rotation(Vec3::Z, GOLDEN * index as f64) * Vec3::X;
    around * (1.0 - z * z).sqrt() + z * Vec3::Z
}

/// Returns a rotation that takes `from` to `to`, with a varying angle about `to`.
fn lying(from: Vec3, to: Vec3, index: usize) -> Quat {
    (rotation(Vec3::Z, GOLDEN * index as f64) * Quat::from_rotation_arc(from, to)).normalize()
}
