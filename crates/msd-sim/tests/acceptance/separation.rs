//! Distance and penetration of random and adversarial pairs, against the oracle.

use std::collections::BTreeMap;

use msd_sim::geometry::{self, Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, Vec3, rotation};

use crate::oracle::pairs::{Difficulty, Pair, Rng, adversarial_pair, random_pair};
use crate::oracle::{certify_depth, certify_distance, depth, distance, outside_by, overlap_along};

/// Required accuracy of distance and depth, relative to the larger shape's size.
const TOLERANCE: f64 = 1e-6;

/// Returns the error of the engine's answer for a pair, relative to size, or the reason why it is
/// wrong.
fn error_of(pair: &Pair, workspace: &mut Workspace) -> Result<f64, String> {
    let Pair { a, pose_a, b, pose_b } = pair;
    let found = separation(a, pose_a, b, pose_b, &mut Simplex::default(), workspace);
    let Some(found) = found else { return Err("no answer".into()) };
    let numbers = [found.distance, found.error];
    let vectors = [found.normal, found.point_a, found.point_b];
    if !(numbers.iter().all(|x| x.is_finite()) && vectors.iter().all(|v| v.is_finite())) {
        return Err(format!("not finite: {found:?}"));
    }
    let size = pair.size();
    let tolerance = TOLERANCE * size;
    let (least, _) = depth(a, pose_a, b, pose_b);
    // Points of the shapes bound a distance from above, and the gap along a direction from below:
    // together they prove it. A direction bounds a depth from above, and the oracle's least overlap
    // from below; for polyhedra that is the exact minimum, elsewhere the engine may find a smaller
    // one.
    let polyhedral = !is_curved(a) && !is_curved(b);
    let error = if found.distance > 0.0 {
        let (pa, pb) = (found.point_a, found.point_b);
        certify_distance(a, pose_a, b, pose_b, found.distance, pa, pb, found.normal, tolerance)?;
        let proven = found.distance + overlap_along(a, pose_a, b, pose_b, found.normal);
        if polyhedral { (found.distance + least).abs() } else { proven.max(0.0) }
    } else {
        certify_depth(a, pose_a, b, pose_b, found.depth(), found.normal, tolerance)?;
        let excess = found.depth() - least;
        if polyhedral { excess.abs() } else { excess.max(0.0) }
    };
    if error <= tolerance {
        Ok(error / size)
    } else {
        Err(format!("distance {} but {} by the oracle ({error:e})", found.distance, -least))
    }
}

fn is_curved(shape: &Shape) -> bool {
    matches!(shape, Shape::Cylinder(_) | Shape::Cone(_))
}

/// The largest error and number of pairs by name, and all failures.
#[derive(Default)]
struct Tally {
    worst: BTreeMap<String, (f64, u64)>,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: String, seed: u64, pair: &Pair, workspace: &mut Workspace) {
        match error_of(pair, workspace) {
            Ok(error) => {
                let entry = self.worst.entry(name).or_insert((0.0, 0));
                *entry = (entry.0.max(error), entry.1 + 1);
            }
            Err(why) => self.failures.push(format!("{name} seed {seed}: {why} {}", kinds(pair))),
        }
    }

    fn join(&mut self, other: Self) {
        for (name, (error, count)) in other.worst {
            let entry = self.worst.entry(name).or_insert((0.0, 0));
            *entry = (entry.0.max(error), entry.1 + count);
        }
        self.failures.extend(other.failures);
    }
}

/// Checks the pairs of all seeds below `count` against the oracle, on every core.
fn run(count: u64, make: impl Fn(u64) -> (String, Pair) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let work = |first: u64| {
        let (mut tally, mut workspace) = (Tally::default(), Workspace::default());
        for seed in (first..count).step_by(threads as usize) {
            let (name, pair) = make(seed);
            tally.add(name, seed, &pair, &mut workspace);
        }
        tally
    };
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|t| {
                scope.spawn({
                    let work = &work;
                    move || work(t)
                })
            })
            .collect();
        for worker in workers {
            tally.join(worker.join().expect("no pair panics"));
        }
    });
    for (name, (error, count)) in &tally.worst {
        eprintln!("{name:28} {count:8} pairs, largest error {error:.1e}");
    }
    let Tally { failures, .. } = tally;
    let shown: Vec<_> = failures.iter().take(20).collect();
    assert!(failures.is_empty(), "{} pairs failed: {shown:#?}", failures.len());
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Sphere(_) => "sphere",
        Shape::Capsule(_) => "capsule",
        Shape::Cylinder(_) => "cylinder",
        Shape::Cone(_) => "cone",
        Shape::Cuboid(_) => "cuboid",
        Shape::Hull(_) => "hull",
        Shape::HalfSpace(_) => "half-space",
    }
}

fn kinds(pair: &Pair) -> String {
    format!("{} - {}", kind(&pair.a), kind(&pair.b))
}

fn random(seed: u64) -> (String, Pair) {
    let pair = random_pair(&mut Rng::new(seed));
    (kinds(&pair), pair)
}

fn adversarial(seed: u64) -> (String, Pair) {
    let difficulty = Difficulty::ALL[seed as usize % Difficulty::ALL.len()];
    (format!("{difficulty:?}"), adversarial_pair(&mut Rng::new(seed), difficulty))
}

#[test]
fn distances_and_witness_points_are_within_1e_9_of_the_exact_answer() {
    let mut workspace = Workspace::default();
    let mut separated = 0;
    for seed in 0..6_000 {
        let pair = random_pair(&mut Rng::new(seed));
        let Pair { a, pose_a, b, pose_b } = &pair;
        let simplex = &mut Simplex::default();
        let found = separation(a, pose_a, b, pose_b, simplex, &mut workspace).unwrap();
        if found.distance <= 0.0 {
            continue;
        }
        separated += 1;
        let tolerance = 1e-9 * pair.size();
        let exact = distance(a, pose_a, b, pose_b);
        assert!((found.distance - exact).abs() <= tolerance, "{seed}: {found:?}, exact {exact}");
        let between = (found.point_b - found.point_a).length();
        assert!((between - exact).abs() <= tolerance, "{seed}: points {between}, exact {exact}");
        assert!(outside_by(a, pose_a, found.point_a) <= tolerance, "{seed}: {found:?}");
        assert!(outside_by(b, pose_b, found.point_b) <= tolerance, "{seed}: {found:?}");
        let quick = geometry::distance(a, pose_a, b, pose_b);
        assert!((quick - exact).abs() <= tolerance, "{seed}: {quick}, exact {exact}");
    }
    assert!(separated > 1_000, "{separated} separated pairs");
}

#[test]
fn sizes_from_a_millimetre_to_a_kilometre_give_the_same_relative_accuracy() {
    // A cube's edge and a face of another at a gap of a third of their size, rotated by 45 degrees
    // about y: along x the edge reaches sqrt(2) h.
    for size in [1e-3, 0.1, 1.0, 30.0, 1e3] {
        let cube = Shape::cuboid(Vec3::splat(size)).unwrap();
        for far in [Vec3::ZERO, Vec3::new(1e5, -1e5, 1e5)] {
            let gap = size / 3.0;
            let turned = rotation(Vec3::Y, std::f64::consts::FRAC_PI_4);
            let at = far + Vec3::X * (size + 2.0_f64.sqrt() * size + gap);
            let found = geometry::distance(&cube, &Pose::at(far), &cube, &Pose::new(at, turned));
            // 1e5 m away, coordinates are rounded to 1.5e-11 m.
            let rounding = f64::EPSILON * far.length();
            assert!((found - gap).abs() <= 1e-14 * size + rounding, "{size} m: {found}, not {gap}");
        }
    }
}

#[test]
fn nearly_parallel_crossing_capsules_overlap_by_their_radii() {
    // The axes cross in their middles, so their distance is zero: the depth is the sum of the
    // radii. Between parallel and crossing, a quotient of small differences decides where they are
    // nearest.
    let capsule = Shape::capsule(0.25, 1.0).unwrap();
    let mut workspace = Workspace::default();
    for angle in [1e-9, 1e-8, 4e-8, 1e-7, 1e-5, 1e-3] {
        let turned = Pose::new(Vec3::ZERO, rotation(Vec3::X, angle));
        for moved in [Vec3::ZERO, turned.transform_vector(Vec3::Z) * 0.3] {
            let pose = Pose::new(turned.position + moved, turned.rotation);
            let simplex = &mut Simplex::default();
            let here = &Pose::IDENTITY;
            let found =
                separation(&capsule, here, &capsule, &pose, simplex, &mut workspace).unwrap();
            assert!((found.depth() - 0.5).abs() < 1e-14, "{angle} rad: {found:?}");
        }
    }
}

/// A disc of 1e9 m and a capsule of 1 m that were 6.5 m apart overlapped by `distance`, without a word: rounding had stalled
/// the search before it could tell. Needles of 1e9 m had witness points 1e8 m from where they touched, and no error.
#[test]
fn bodies_a_billion_times_longer_than_their_neighbors_are_measured_or_marked_approximate() {
    let shapes = |length: f64| {
        [
            Shape::cuboid(Vec3::new(length, 0.3 * length, 0.01)),
            Shape::cuboid(Vec3::new(length, 0.01, 0.01)),
            Shape::cylinder(0.01, length),
            Shape::cylinder(length, 0.01),
            Shape::cone(length, 0.01),
            Shape::cone(0.01, length),
            Shape::capsule(0.01, length),
        ]
        .map(Result::unwrap)
    };
    let (rng, workspace) = (&mut Rng::new(1), &mut Workspace::default());
    let (long, short) = (shapes(1e9), shapes(1.0));
    let mut marked = 0;
    for case in 0..5000 {
        let (a, b) = (&long[rng.index(long.len())], &short[rng.index(short.len())]);
        let pose_a = Pose::new(Vec3::ZERO, rng.rotation());
        let apart = [1.0, 1e3, 1e9][rng.index(3)];
        let pose_b = Pose::new(rng.direction() * apart, rng.rotation());
        let found = separation(a, &pose_a, b, &pose_b, &mut Simplex::default(), workspace).unwrap();
        marked += usize::from(found.approximate);
        // The tolerance of a search that is not marked.
        let allowed = found.error + 1e-9 * 1e9;
        let error = found.residual(a, &pose_a, b, &pose_b);
        assert!(error <= allowed, "case {case}: {error} m for {a:?}, {b:?}: {found:?}");
        let distance = geometry::distance(a, &pose_a, b, &pose_b);
        let differs = (distance - found.distance.max(0.0)).abs();
        assert!(differs <= allowed, "case {case}: {distance} m for {a:?}, {b:?}: {found:?}");
    }
    assert!(marked < 1000, "{marked} of 5000 are approximate");
}

#[test]
fn the_direction_of_a_tiny_gap_above_a_face_is_the_face_normal() {
    // However small the gap, its direction is straight up: the face's normal is known exactly.
    let floor = Shape::cuboid(Vec3::new(2.0, 2.0, 0.5)).unwrap();
    let mut workspace = Workspace::default();
    let mut rng = Rng::new(21);
    for shape in [Shape::cylinder(0.4, 0.5).unwrap(), Shape::cone(0.4, 0.5).unwrap()] {
        for gap in [1e-14, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4] {
            for round in 0..40 {
                let turn = match round {
                    0 => rotation(Vec3::X, 0.0),
                    1 => rotation(Vec3::X, std::f64::consts::FRAC_PI_2),
                    _ => rng.rotation(),
                };
                let lowest = turn * crate::oracle::support(&shape, turn.inverse() * -Vec3::Z);
                let pose = Pose::new(Vec3::new(0.1, 0.2, 0.5 + gap - lowest.z), turn);
                let simplex = &mut Simplex::default();
                let here = &Pose::IDENTITY;
                let found =
                    separation(&floor, here, &shape, &pose, simplex, &mut workspace).unwrap();
                let tilt = found.normal.cross(Vec3::Z).length();
                assert!(found.normal.z > 0.0 && tilt < 1e-4, "gap {gap}, tilt {tilt:e}: {found:?}");
                // Where the search stops at rounding, `error` bounds the error of the distance.
                let off = (found.distance - gap).abs();
                assert!(
                    off <= found.error + 1e-14 && off < 1e-8,
                    "gap {gap}, off {off:e}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn depths_of_unit_cubes_are_within_1e_9_of_the_exact_minimum() {
    let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap();
    let mut workspace = Workspace::default();
    let mut rng = Rng::new(11);
    let mut overlapping = 0;
    for round in 0..4_000 {
        let pose_a = Pose::new(rng.in_cube(), rng.rotation());
        // Every other pair is within 1e-7 rad of parallel.
        let turn = if round % 2 == 0 {
            rng.rotation()
        } else {
            (rotation(rng.direction(), 1e-7) * pose_a.rotation).normalize()
        };
        let pose_b = Pose::new(pose_a.position + rng.in_cube(), turn);
        let (exact, _) = depth(&cube, &pose_a, &cube, &pose_b);
        let simplex = &mut Simplex::default();
        let found = separation(&cube, &pose_a, &cube, &pose_b, simplex, &mut workspace).unwrap();
        if exact > 0.0 {
            overlapping += 1;
            assert!((found.depth() - exact).abs() <= 1e-9, "{round}: {found:?}, exact {exact}");
            assert!(found.residual(&cube, &pose_a, &cube, &pose_b) <= 1e-9, "{round}: {found:?}");
            // Moving B by the depth along the normal leaves the two just touching.
            let moved = Pose::new(pose_b.position + found.normal * found.depth(), turn);
            let simplex = &mut Simplex::default();
            let after = separation(&cube, &pose_a, &cube, &moved, simplex, &mut workspace).unwrap();
            assert!(after.distance.abs() <= 1e-9, "{round}: {after:?}");
        }
    }
    assert!(overlapping > 1_000, "{overlapping} overlapping pairs");
}

#[test]
fn ten_thousand_random_pairs_agree_with_the_oracle() {
    run(10_000, random);
}

#[test]
fn a_thousand_adversarial_pairs_agree_with_the_oracle() {
    run(1_000, adversarial);
}

#[test]
#[ignore = "takes minutes: run with cargo test --release --test acceptance -- --ignored --nocapture"]
fn a_million_random_pairs_agree_with_the_oracle() {
    run(1_000_000, random);
}

#[test]
#[ignore = "takes minutes: run with cargo test --release --test acceptance -- --ignored --nocapture"]
fn a_hundred_thousand_adversarial_pairs_agree_with_the_oracle() {
    run(100_000, adversarial);
}
