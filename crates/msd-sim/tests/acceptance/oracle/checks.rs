//! The oracle against closed forms and against itself at higher effort.

use std::f64::consts::FRAC_PI_2;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};

use super::pairs::{Difficulty, Pair, Rng, adversarial_pair, random_pair};
use super::solid::Core;
use super::{
    certify_depth, certify_distance, depth, distance, outside_by, overlap_along, search, solids,
    support,
};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::at(Vec3::new(x, y, z))
}

#[track_caller]
fn expect_depth(a: &Shape, pose_a: Pose, b: &Shape, pose_b: Pose, expected: f64) {
    // The same answer with the shapes swapped, 1e5 m away, and rotated.
    let turned = Pose::new(Vec3::new(0.3, -2.0, 1.1), rotation(Vec3::new(1.0, 2.0, -0.5), 1.2));
    let pair = Pair { a: a.clone(), pose_a, b: b.clone(), pose_b };
    let far = pair.moved(Pose::at(Vec3::new(1e5, -1e5, 65536.0)));
    for (pair, tol) in
        [(pair.clone(), 1e-12), (pair.swapped(), 1e-12), (pair.moved(turned), 1e-12), (far, 1e-10)]
    {
        let (found, n) = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
        assert!((found - expected).abs() <= tol, "{found} instead of {expected}: {pair:?}");
        certify_depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b, found, n, 1e-12).unwrap();
    }
}

#[test]
fn two_balls_overlap_by_their_radii_less_the_distance_of_their_centers() {
    let (a, b) = (Shape::sphere(1.0).unwrap(), Shape::sphere(0.5).unwrap());
    expect_depth(&a, Pose::IDENTITY, &b, at(0.6, 0.8, 0.0), 0.5);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 3.0, 4.0), -3.5);
    expect_depth(&a, Pose::IDENTITY, &b, Pose::IDENTITY, 1.5);
}

#[test]
fn aligned_boxes_overlap_along_the_axis_of_least_overlap_and_are_apart_corner_to_corner() {
    let a = Shape::cuboid(Vec3::new(1.0, 2.0, 3.0)).unwrap();
    let b = Shape::cuboid(Vec3::splat(0.5)).unwrap();
    expect_depth(&a, Pose::IDENTITY, &b, at(1.25, 0.5, -1.0), 0.25);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 0.0, 0.0), 1.5);
    expect_depth(&a, Pose::IDENTITY, &b, at(1.5, 0.0, 0.0), 0.0);
    expect_depth(&a, Pose::IDENTITY, &b, at(1.5 + 2.0, 2.5 + 3.0, 3.5 + 6.0), -7.0);
    expect_depth(&a, Pose::IDENTITY, &b, at(1.5 + 3.0, 2.5 + 4.0, 1.0), -5.0);
}

#[test]
fn a_cube_on_its_corner_overlaps_a_floor_by_its_half_diagonal_less_the_height() {
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let floor = Shape::cuboid(Vec3::new(9.0, 9.0, 1.0)).unwrap();
    let plane = Shape::half_space(Vec3::Z, 1.0).unwrap();
    let on_corner = Quat::from_rotation_arc(Vec3::ONE.normalize(), -Vec3::Z);
    for height in [2.5, 2.7, 3.0] {
        let pose = Pose::new(Vec3::new(0.1, 0.2, height), on_corner);
        let expected = 1.0 + 3.0_f64.sqrt() - height;
        expect_depth(&floor, Pose::IDENTITY, &cube, pose, expected);
        expect_depth(&plane, Pose::IDENTITY, &cube, pose, expected);
    }
}

#[test]
fn crossed_edges_of_cubes_overlap_by_their_diagonals_less_the_height() {
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let on_edge = rotation(Vec3::X, FRAC_PI_2 / 2.0);
    let across = rotation(Vec3::Z, FRAC_PI_2) * on_edge;
    for height in [2.7, 2.9] {
        let pose = Pose::new(Vec3::new(0.1, -0.2, height), across);
        let expected = 8.0_f64.sqrt() - height;
        expect_depth(&cube, Pose::new(Vec3::ZERO, on_edge), &cube, pose, expected);
    }
}

#[test]
fn crossed_cylinders_are_as_far_apart_as_their_axes_less_their_radii() {
    let (a, b) = (Shape::cylinder(0.5, 3.0).unwrap(), Shape::cylinder(0.25, 2.0).unwrap());
    for angle in [0.3, 1.0, FRAC_PI_2] {
        for height in [0.6, 0.75, 0.9, 5.0] {
            let pose = Pose::new(Vec3::new(0.0, height, 0.3), rotation(Vec3::Y, angle));
            expect_depth(&a, Pose::IDENTITY, &b, pose, 0.75 - height);
        }
    }
}

#[test]
fn coaxial_cylinders_overlap_end_to_end_or_by_their_radii() {
    let (a, b) = (Shape::cylinder(0.5, 3.0).unwrap(), Shape::cylinder(0.25, 2.0).unwrap());
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 0.0, 4.5), 0.5);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 0.0, 5.5), -0.5);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 0.0, 1.0), 0.75);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.25, 0.0, 1.0), 0.5);
}

#[test]
fn an_upside_down_cone_overlaps_a_floor_by_its_apex() {
    let cone = Shape::cone(1.0, 0.5).unwrap();
    let upside_down = rotation(Vec3::X, 2.0 * FRAC_PI_2);
    let slab = Shape::cuboid(Vec3::new(4.0, 4.0, 1.0)).unwrap();
    let disc = Shape::cylinder(4.0, 1.0).unwrap();
    let plane = Shape::half_space(Vec3::Z, 1.0).unwrap();
    for height in [1.4, 1.5, 2.0] {
        for floor in [&slab, &disc, &plane] {
            let pose = Pose::new(Vec3::new(0.3, 0.1, height), upside_down);
            expect_depth(floor, Pose::IDENTITY, &cone, pose, 1.5 - height);
        }
    }
}

#[test]
fn a_ball_overlaps_the_side_of_a_cone_along_the_side_normal() {
    // Slope 3:4: the side's normal is (0.8, 0.6), and the side is 1.2 from the middle of the axis.
    let (cone, ball) = (Shape::cone(3.0, 2.0).unwrap(), Shape::sphere(0.5).unwrap());
    let normal = Vec3::new(0.8, 0.0, 0.6);
    for distance in [1.0, 1.7, 2.5] {
        expect_depth(&cone, Pose::IDENTITY, &ball, Pose::at(normal * distance), 1.7 - distance);
    }
}

#[test]
fn capsules_are_as_far_apart_as_their_segments_less_their_radii() {
    let (a, b) = (Shape::capsule(0.5, 2.0).unwrap(), Shape::capsule(0.25, 1.0).unwrap());
    let across = rotation(Vec3::Y, FRAC_PI_2);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 2.0, 0.0), -1.25);
    expect_depth(&a, Pose::IDENTITY, &b, Pose::new(Vec3::new(0.0, 0.5, 1.0), across), 0.25);
    expect_depth(&a, Pose::IDENTITY, &b, Pose::new(Vec3::new(0.0, 0.0, 1.0), across), 0.75);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 0.0, 1.5), 0.75);
    expect_depth(&a, Pose::IDENTITY, &b, at(0.0, 3.0, 3.0 + 4.0), -4.25);
    expect_depth(&a, Pose::IDENTITY, &Shape::sphere(0.5).unwrap(), at(0.0, 0.0, 1.5), 1.0);
}

#[test]
fn opposed_half_spaces_overlap_by_the_slab_between_and_others_infinitely() {
    let (a, b) =
        (Shape::half_space(Vec3::Z, 1.0).unwrap(), Shape::half_space(-Vec3::Z, 2.0).unwrap());
    assert_eq!(depth(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY), (3.0, Vec3::Z));
    assert_eq!(depth(&a, &Pose::IDENTITY, &b, &at(0.0, 0.0, 5.0)).0, -2.0);
    assert_eq!(depth(&a, &Pose::IDENTITY, &a, &Pose::IDENTITY).0, f64::INFINITY);
}

#[test]
fn a_true_distance_is_certified_and_a_false_one_is_not() {
    let (a, b) = (Shape::cuboid(Vec3::ONE).unwrap(), Shape::cone(1.0, 1.0).unwrap());
    let (pa, pb) = (Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, 1.5));
    let (ia, ib) = (Pose::IDENTITY, at(0.0, 0.0, 2.5));
    let certify = |d, pa, pb, n| certify_distance(&a, &ia, &b, &ib, d, pa, pb, n, 1e-12);
    assert_eq!(certify(0.5, pa, pb, Vec3::Z), Ok(()));
    assert!(certify(0.4, pa, pb, Vec3::Z).is_err());
    assert!(certify(0.4, pa + Vec3::Z * 0.1, pb, Vec3::Z).is_err());
    assert!(certify(0.5, pa, pb, Vec3::X).is_err());
    assert!(certify(0.6, pa - Vec3::Z * 0.1, pb, Vec3::Z).is_err());
    assert!(certify(f64::NAN, pa, pb, Vec3::Z).is_err());
    assert!(certify_depth(&a, &ia, &b, &ib, -0.4, Vec3::Z, 1e-12).is_err());
    assert_eq!(distance(&a, &ia, &b, &ib), 0.5);
}

#[test]
fn a_point_s_distance_from_a_shape_is_that_of_a_tiny_ball() {
    let mut rng = Rng::new(5);
    let ball = Shape::sphere(1e-9).unwrap();
    for _ in 0..400 {
        let pair = random_pair(&mut rng);
        let p = pair.pose_b.position;
        let outside = outside_by(&pair.a, &pair.pose_a, p);
        let expected = -depth(&pair.a, &pair.pose_a, &ball, &Pose::at(p)).0;
        assert!(
            (outside - (expected + 1e-9).max(0.0)).abs() <= 1e-11 * (1.0 + pair.size()),
            "{pair:?}"
        );
    }
}

#[test]
fn no_direction_overlaps_less_than_the_oracles_minimum() {
    let mut rng = Rng::new(1);
    for i in 0..400 {
        let pair = any_pair(&mut rng, i);
        let (a, b) = (pair.size(), &pair);
        let (found, n) = depth(&b.a, &b.pose_a, &b.b, &b.pose_b);
        if found.is_infinite() {
            continue;
        }
        let tol = 1e-9 * a;
        certify_depth(&b.a, &b.pose_a, &b.b, &b.pose_b, found, n, tol)
            .unwrap_or_else(|error| panic!("{error}: {pair:?}"));
        for _ in 0..200 {
            // Anywhere, and nearby at all scales.
            let near = rng.log_range(1e-10, 10.0);
            let other = (n + rng.direction() * near).normalize_or(Vec3::X);
            let overlap = overlap_along(&b.a, &b.pose_a, &b.b, &b.pose_b, other);
            assert!(overlap >= found - tol, "{other} overlaps {overlap}, not {found}: {pair:?}");
        }
    }
}

#[test]
fn a_search_with_more_effort_finds_no_smaller_overlap() {
    let mut rng = Rng::new(2);
    for i in 0..160 {
        let pair = any_pair(&mut rng, i);
        let (a, b) = solids(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
        if [&a, &b].iter().any(|s| matches!(s.core, Core::HalfSpace { .. })) {
            continue;
        }
        let found = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b).0;
        let thorough = search::search(&a, &b, 6000, 120, 60).0;
        assert!(found - thorough <= 1e-9 * pair.size(), "{found} > {thorough}: {pair:?}");
    }
}

#[test]
fn every_support_point_is_in_its_shape_and_is_the_farthest() {
    let mut rng = Rng::new(3);
    for _ in 0..300 {
        let pair = random_pair(&mut rng);
        let n = rng.direction();
        let p = support(&pair.a, n);
        let tol = 1e-14 * pair.size();
        assert!(outside_by(&pair.a, &Pose::IDENTITY, p) <= tol, "{pair:?}");
        if pair.a.bounding_radius().is_finite() {
            assert!((n.dot(p) - n.dot(pair.a.support(n))).abs() <= tol, "{pair:?}");
        }
    }
}

fn any_pair(rng: &mut Rng, i: usize) -> Pair {
    match Difficulty::ALL.get(i % 16) {
        Some(&difficulty) => adversarial_pair(rng, difficulty),
        None => random_pair(rng),
    }
}
