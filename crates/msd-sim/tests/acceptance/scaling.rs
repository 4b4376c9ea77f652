//! Invariance under scaling: scaling all lengths by a power of two scales every answer bit for bit.

use msd_sim::geometry::{
    PairMemory, Shape, Simplex, Workspace, contact_manifold, distance, separation,
};
use msd_sim::math::{Pose, Vec3};

use crate::oracle::pairs::{Difficulty, Pair, Rng, adversarial_pair, random_pair};

/// Returns `None` if the scaled shape is too small or too large to compute with.
fn scaled_shape(shape: &Shape, by: f64) -> Option<Shape> {
    match shape {
        Shape::Sphere(s) => Shape::sphere(s.radius() * by),
        Shape::Capsule(s) => Shape::capsule(s.radius() * by, s.half_height() * by),
        Shape::Cylinder(s) => Shape::cylinder(s.radius() * by, s.half_height() * by),
        Shape::Cone(s) => Shape::cone(s.radius() * by, s.half_height() * by),
        Shape::Cuboid(s) => Shape::cuboid(s.half_extents() * by),
        Shape::Hull(s) => Shape::hull(&s.vertices().iter().map(|&v| v * by).collect::<Vec<_>>()),
        Shape::HalfSpace(s) => Shape::half_space(s.plane().normal, s.plane().offset * by),
    }
    .ok()
}

fn scaled(pair: &Pair, by: f64) -> Option<Pair> {
    let pose = |p: &Pose| Pose::new(p.position * by, p.rotation);
    Some(Pair {
        a: scaled_shape(&pair.a, by)?,
        pose_a: pose(&pair.pose_a),
        b: scaled_shape(&pair.b, by)?,
        pose_b: pose(&pair.pose_b),
    })
}

/// Returns all answers about a pair, lengths divided by `unit`.
fn answers(pair: &Pair, unit: f64, workspace: &mut Workspace) -> Vec<u64> {
    let Pair { a, pose_a, b, pose_b } = pair;
    let mut lengths = vec![distance(a, pose_a, b, pose_b)];
    let mut rest = Vec::new();
    let vector = |v: Vec3| [v.x, v.y, v.z];
    if let Some(found) = separation(a, pose_a, b, pose_b, &mut Simplex::default(), workspace) {
        rest.extend(vector(found.normal));
        lengths.extend([found.distance, found.error]);
        lengths.extend(vector(found.point_a));
        lengths.extend(vector(found.point_b));
    }
    let margin = 0.125 * unit;
    let memory = &mut PairMemory::default();
    let contact = contact_manifold(a, pose_a, b, pose_b, margin, memory, workspace);
    rest.extend(vector(contact.normal));
    for point in contact.points() {
        lengths.push(point.depth);
        lengths.extend(vector(point.position));
        rest.push(f64::from_bits(point.feature.bits()));
    }
    // The sign of a zero is not a length.
    let bits = |x: f64| if x == 0.0 { 0 } else { x.to_bits() };
    lengths.iter().map(|x| bits(x / unit)).chain(rest.into_iter().map(bits)).collect()
}

#[test]
fn distance_depth_and_manifolds_scale_bit_for_bit() {
    let mut workspace = Workspace::default();
    let mut compared = 0;
    for seed in 0..240 {
        let rng = &mut Rng::new(seed);
        let pair = if seed % 3 == 0 {
            adversarial_pair(rng, Difficulty::ALL[seed as usize / 3 % Difficulty::ALL.len()])
        } else {
            random_pair(rng)
        };
        let expected = answers(&pair, 1.0, &mut workspace);
        for k in -20..=20 {
            let by = 2.0_f64.powi(k);
            let Some(scaled) = scaled(&pair, by) else { continue };
            let found = answers(&scaled, by, &mut workspace);
            assert_eq!(found, expected, "seed {seed}, scaled by 2^{k}: {pair:?}");
            compared += 1;
        }
    }
    assert!(compared > 9_000, "only {compared} of 240 times 41 pairs had a valid size");
}
