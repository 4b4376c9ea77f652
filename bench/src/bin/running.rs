//! Prints the nanoseconds per contact manifold of a pair over many small steps with warm pair memory, as in a running
//! simulation: the minimum of several rounds.
//! `cargo run --release --bin running [PAIR [STATE]]`, and for a profiler, 7680 manifolds per round:
//! `valgrind --tool=callgrind --toggle-collect='*follow*' target/release/running hull16 touching 1`

use std::hint::black_box;
use std::time::Instant;

use msd_bench::Random;
use msd_sim::geometry::{PairMemory, Shape, Simplex, Workspace, contact_manifold, separation};
use msd_sim::math::{Pose, Vec3, rotation};

/// Largest gap of a contact point, m.
const MARGIN: f64 = 0.01;
/// Number of pairs, and of steps of each.
const PAIRS: usize = 60;
const STEPS: usize = 128;

/// The arrangement of the two shapes and their motion per step.
struct State {
    name: &'static str,
    /// Range of the gap, m.
    gap: [f64; 2],
    /// Motion per step, m and rad.
    motion: f64,
    /// Whether a face rests on a face; otherwise orientations are random.
    stacked: bool,
}

const STATES: [State; 4] = [
    State { name: "resting", gap: [-2e-4, -1e-4], motion: 1e-6, stacked: true },
    State { name: "touching", gap: [-2e-3, 0.0], motion: 1e-3, stacked: false },
    State { name: "nearly", gap: [1e-3, 9e-3], motion: 1e-3, stacked: false },
    State { name: "apart", gap: [0.02, 0.06], motion: 1e-3, stacked: false },
];

/// Returns a box and the hull of 16 points on an ellipsoid, both of about a meter.
fn shapes() -> [(&'static str, Shape); 2] {
    let mut random = Random(7);
    let cloud: Vec<Vec3> = (0..16).map(|_| random.direction() * Vec3::new(0.6, 0.5, 0.4)).collect();
    [
        ("cuboid", Shape::cuboid(Vec3::new(0.5, 0.4, 0.3)).expect("valid sizes")),
        ("hull16", Shape::hull(&cloud).expect("valid points")),
    ]
}

/// Returns a pose in which a face of the shape points along z (`up`) or against it.
fn lying(shape: &Shape, up: bool, random: &mut Random) -> Pose {
    let normal = match shape {
        Shape::Hull(hull) => {
            let face = (random.unit() * hull.face_count() as f64) as usize;
            hull.planes()[face].normal
        }
        _ => [Vec3::X, -Vec3::Y, Vec3::Z][(random.unit() * 3.0) as usize],
    };
    let to = if up { Vec3::Z } else { -Vec3::Z };
    let turn = msd_sim::math::Quat::from_rotation_arc(normal, to);
    let yaw = rotation(Vec3::Z, random.unit() * std::f64::consts::TAU);
    Pose::new(Vec3::ZERO, (yaw * turn).normalize())
}

/// Returns the pose of A of a pair, and of B in each step.
fn path(shape: &Shape, state: &State, random: &mut Random) -> (Pose, Vec<Pose>) {
    let mut workspace = Workspace::default();
    let (a, mut b) = if state.stacked {
        let (a, mut b) = (lying(shape, true, random), lying(shape, false, random));
        b.position = random.direction() * Vec3::new(0.1, 0.1, 0.0) + Vec3::Z * 1.5;
        (a, b)
    } else {
        let a = Pose::new(Vec3::ZERO, random.rotation());
        (a, Pose::new(random.direction() * 2.0, random.rotation()))
    };
    let mut poses = Vec::new();
    for _ in 0..STEPS {
        b.position += random.direction() * state.motion;
        b.rotation = (rotation(random.direction(), state.motion) * b.rotation).normalize();
        let wanted = state.gap[0] + (state.gap[1] - state.gap[0]) * random.unit();
        for _ in 0..8 {
            let simplex = &mut Simplex::default();
            let found = separation(shape, &a, shape, &b, simplex, &mut workspace);
            let found = found.expect("both are bounded");
            let (least, most) = (state.gap[0].min(wanted), state.gap[1].max(wanted));
            if (least..=most).contains(&found.distance) {
                break;
            }
            let direction = if state.stacked { Vec3::Z } else { found.normal };
            b.position += direction * (wanted - found.distance);
        }
        poses.push(b);
    }
    (a, poses)
}

/// Computes the manifold in every step of every path, with pair memory.
#[inline(never)]
fn follow(shape: &Shape, paths: &[(Pose, Vec<Pose>)], workspace: &mut Workspace) {
    for (a, poses) in paths {
        let mut memory = PairMemory::default();
        for b in poses {
            black_box(contact_manifold(shape, a, shape, b, MARGIN, &mut memory, workspace));
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let pair = arguments.next().unwrap_or_default();
    let wanted = arguments.next().unwrap_or_default();
    let rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(30);
    for (name, shape) in shapes() {
        for state in STATES.iter().filter(|s| name.contains(&pair) && s.name.contains(&wanted)) {
            let mut random = Random(42);
            let paths: Vec<_> = (0..PAIRS).map(|_| path(&shape, state, &mut random)).collect();
            let mut workspace = Workspace::default();
            let mut least = f64::INFINITY;
            for _ in 0..rounds {
                let start = Instant::now();
                follow(&shape, &paths, &mut workspace);
                least = least.min(start.elapsed().as_secs_f64());
            }
            let each = least / (PAIRS * STEPS) as f64 * 1e9;
            println!("{name} {}: {each:.0} ns", state.name);
        }
    }
}
