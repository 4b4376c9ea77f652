//! Hostile input: rejected with field and value, and nothing panics.

use msd_sim::error::ShapeError;
use msd_sim::geometry::{
    PairMemory, Shape, Simplex, Workspace, contact_manifold, distance, separation,
};
use msd_sim::math::{Pose, Quat, Vec3, rotation};

use crate::oracle::pairs::{KINDS, Rng, random_shape};
use crate::stopwatch::Stopwatch;

const BAD_SIZES: [f64; 7] =
    [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, f64::MIN_POSITIVE];

/// Fails unless the error names the field and repeats the value.
fn assert_names(result: Result<Shape, ShapeError>, field: &str, value: f64) {
    let error = result.expect_err("must be rejected");
    let text = error.to_string();
    assert!(text.starts_with(&format!("{field} = {value}")), "{text}");
    assert!(matches!(error, ShapeError::Size { .. } | ShapeError::Coordinate { .. }), "{error:?}");
}

#[test]
fn every_invalid_size_is_rejected_with_field_and_value() {
    for bad in BAD_SIZES {
        assert_names(Shape::sphere(bad), "radius", bad);
        assert_names(Shape::capsule(bad, 1.0), "radius", bad);
        assert_names(Shape::capsule(1.0, bad), "half_height", bad);
        assert_names(Shape::cylinder(bad, 1.0), "radius", bad);
        assert_names(Shape::cylinder(1.0, bad), "half_height", bad);
        assert_names(Shape::cone(bad, 1.0), "radius", bad);
        assert_names(Shape::cone(1.0, bad), "half_height", bad);
        assert_names(Shape::cuboid(Vec3::new(bad, 1.0, 1.0)), "half_extents.x", bad);
        assert_names(Shape::cuboid(Vec3::new(1.0, bad, 1.0)), "half_extents.y", bad);
        assert_names(Shape::cuboid(Vec3::new(1.0, 1.0, bad)), "half_extents.z", bad);
    }
}

#[test]
fn a_half_space_needs_a_direction_and_a_finite_offset() {
    for bad in [Vec3::ZERO, Vec3::new(f64::NAN, 0.0, 1.0), Vec3::new(0.0, f64::INFINITY, 0.0)] {
        let error = Shape::half_space(bad, 0.0).expect_err("must be rejected");
        assert!(matches!(error, ShapeError::Direction { field: "normal", .. }), "{error}");
        assert!(error.to_string().contains(&bad.to_string()), "{error}");
    }
    for bad in [f64::NAN, f64::INFINITY, -1e300] {
        assert_names(Shape::half_space(Vec3::Z, bad), "offset", bad);
    }
    // Tiny and huge normals still have a direction.
    for scale in [1e-300, 1e300] {
        let Ok(Shape::HalfSpace(s)) = Shape::half_space(Vec3::new(0.6, 0.0, 0.8) * scale, 0.0)
        else {
            panic!("a direction of length {scale}");
        };
        assert!((s.plane().normal - Vec3::new(0.6, 0.0, 0.8)).length() < 1e-15);
    }
}

#[test]
fn poses_that_are_not_finite_never_give_an_answer_that_is_not_finite() {
    let mut workspace = Workspace::default();
    let mut rng = Rng::new(1);
    let shapes: Vec<Shape> = (0..KINDS)
        .map(|kind| random_shape(&mut rng, kind, 1.0))
        .chain(Shape::half_space(Vec3::Z, 0.0))
        .collect();
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let poses: Vec<Pose> = bad
        .iter()
        .flat_map(|&x| {
            [
                Pose::at(Vec3::new(x, 0.0, 0.0)),
                Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, x, 0.0, 1.0)),
            ]
        })
        .collect();
    for a in &shapes {
        for b in &shapes {
            for pose in &poses {
                for (pose_a, pose_b) in [(&Pose::IDENTITY, pose), (pose, &Pose::IDENTITY)] {
                    // The orientation of a ball has no effect, so it may be anything.
                    let simplex = &mut Simplex::default();
                    if let Some(found) = separation(a, pose_a, b, pose_b, simplex, &mut workspace) {
                        assert!(found.distance.is_finite() && found.normal.is_finite());
                        assert!(found.point_a.is_finite() && found.point_b.is_finite());
                    }
                    let memory = &mut PairMemory::default();
                    let contact =
                        contact_manifold(a, pose_a, b, pose_b, 0.1, memory, &mut workspace);
                    assert!(
                        contact
                            .points()
                            .iter()
                            .all(|p| { p.position.is_finite() && p.depth.is_finite() })
                    );
                    assert!(distance(a, pose_a, b, pose_b).is_finite());
                }
            }
        }
    }
}

#[test]
fn a_warm_start_gives_the_answer_of_a_cold_one() {
    let mut workspace = Workspace::default();
    let mut rng = Rng::new(9);
    for _ in 0..2_000 {
        let (kind_a, kind_b) = (rng.index(KINDS), rng.index(KINDS));
        let a = random_shape(&mut rng, kind_a, 1.0);
        let b = random_shape(&mut rng, kind_b, 1.0);
        let pose_a = Pose::new(rng.in_cube(), rng.rotation());
        let pose_b = Pose::new(rng.in_cube(), rng.rotation());
        let cold = separation(&a, &pose_a, &b, &pose_b, &mut Simplex::default(), &mut workspace);
        // The memory stems from a pose nearby, far away, or rotated.
        let mut simplex = Simplex::default();
        let before = if rng.index(2) == 0 {
            Pose::new(pose_b.position + rng.in_cube() * 0.05, pose_b.rotation)
        } else {
            Pose::new(rng.in_cube() * 3.0, rng.rotation())
        };
        let _ = separation(&a, &pose_a, &b, &before, &mut simplex, &mut workspace);
        let warm = separation(&a, &pose_a, &b, &pose_b, &mut simplex, &mut workspace);
        let (cold, warm) = (cold.expect("bounded"), warm.expect("bounded"));
        assert!(
            (cold.distance - warm.distance).abs() <= 1e-9 + cold.error + warm.error,
            "{cold:?} {warm:?}"
        );
    }
}

#[test]
fn large_round_concentric_hulls_are_separated_within_a_second() {
    // All directions around the axis are almost equally good, and testing every pair of their
    // thousands of edges would take seconds.
    let prism = |sides: u32, radius: f64| {
        let points: Vec<Vec3> = (0..2 * sides)
            .map(|i| {
                let (sin, cos) =
                    (f64::from(i / 2) * std::f64::consts::TAU / f64::from(sides)).sin_cos();
                Vec3::new(radius * cos, radius * sin, if i % 2 == 0 { -1.0 } else { 1.0 })
            })
            .collect();
        Shape::hull(&points).unwrap()
    };
    let (large, small) = (prism(1_000, 1.0), prism(800, 0.5));
    let mut workspace = Workspace::default();
    for (a, b, radii) in [(&large, &large, 2.0), (&large, &small, 1.5)] {
        let start = Stopwatch::start();
        let simplex = &mut Simplex::default();
        let (here, there) = (Pose::IDENTITY, Pose::at(Vec3::Z * 0.01));
        let found = separation(a, &here, b, &there, simplex, &mut workspace).unwrap();
        // Out sideways by the radii (inscribed polygons: slightly less), or over the end by 1.99.
        let exact = 1.99_f64.min(radii);
        assert!((found.depth() - exact).abs() < 1e-4, "{found:?}, about {exact}");
        assert!(start.seconds() < 1.0, "took {} s", start.seconds());
    }
}

#[test]
fn a_half_space_at_any_valid_orientation_has_a_residual_of_rounding() {
    // Products of rotations drift from unit length by rounding; that is still a valid pose.
    let wall = Shape::half_space(Vec3::new(1.0, 2.0, 3.0), 0.0).unwrap();
    let ball = Shape::sphere(0.5).unwrap();
    let at = Pose::at(Vec3::new(0.7, 0.37, 0.47));
    let turn = rotation(Vec3::new(1.0, 2.0, 0.5), 0.01);
    let mut pose = Pose::IDENTITY;
    for _ in 0..200 {
        pose.rotation *= turn;
        if !pose.is_valid() {
            pose.rotation = pose.rotation.normalize();
        }
        let simplex = &mut Simplex::default();
        let found =
            separation(&wall, &pose, &ball, &at, simplex, &mut Workspace::default()).unwrap();
        assert!(found.residual(&wall, &pose, &ball, &at) < 1e-13, "{found:?}");
    }
}
