//! Nearest surface points, each proved by convexity: the normal's supporting plane bounds the
//! distance from below, the point itself from above.

use msd_sim::geometry::{Projection, Shape};
use msd_sim::math::{Pose, Vec3};

use crate::oracle::pairs::{Difficulty, KINDS, Rng, adversarial_pair, random_shape};
use crate::oracle::{outside_by, support};

/// Returns the same shape, `scale` times as large. A half-space's normal must lie along an axis:
/// any other might be rounded once more.
pub fn scaled(shape: &Shape, scale: f64) -> Shape {
    match shape {
        Shape::Sphere(s) => Shape::sphere(s.radius() * scale),
        Shape::Capsule(s) => Shape::capsule(s.radius() * scale, s.half_height() * scale),
        Shape::Cylinder(s) => Shape::cylinder(s.radius() * scale, s.half_height() * scale),
        Shape::Cone(s) => Shape::cone(s.radius() * scale, s.half_height() * scale),
        Shape::Cuboid(s) => Shape::cuboid(s.half_extents() * scale),
        Shape::Hull(s) => Shape::hull(&s.vertices().iter().map(|v| *v * scale).collect::<Vec<_>>()),
        Shape::HalfSpace(s) => Shape::half_space(s.plane().normal, s.plane().offset * scale),
    }
    .unwrap()
}

/// Returns a bounded shape by `kind`, or a half-space.
pub fn shape_of_kind(rng: &mut Rng, kind: usize) -> Shape {
    if kind == KINDS {
        let normal = [rng.direction(), Vec3::Y, -Vec3::Z][rng.index(3)];
        return Shape::half_space(normal, rng.range(-1.0, 1.0)).unwrap();
    }
    random_shape(rng, kind, 1.0)
}

/// Returns the height of `p` above the supporting plane with unit normal `n`.
fn above(shape: &Shape, n: Vec3, p: Vec3) -> f64 {
    n.dot(p - support(shape, n))
}

#[track_caller]
fn prove(rng: &mut Rng, shape: &Shape, p: Vec3, size: f64) -> Projection {
    let found = shape.project(&Pose::IDENTITY, p);
    let Projection { point, normal, distance } = found;
    // Rounding of a few operations on lengths of the size of shape and point.
    let tol = 4e-15 * (size + p.length());
    let context = || format!("{found:?} of {p} on {shape:?}");
    assert!((normal.length() - 1.0).abs() <= 1e-15, "{}", context());
    assert!(outside_by(shape, &Pose::IDENTITY, point) <= tol, "outside: {}", context());
    // The direction to a point close by is that inaccurate; on the surface it is a face's.
    let tilt = if distance > 1e-14 * size { 4e-16 * (size + p.length()) / distance } else { 0.0 };
    let top = above(shape, normal, point).abs();
    assert!(top <= tol + tilt * size, "not on the surface by {top:e}: {}", context());
    assert!(
        ((p - point).length() - distance.abs()).abs() <= tol,
        "distance differs: {}",
        context()
    );
    if distance > 1e-12 * size {
        let error = (above(shape, normal, p) - distance).abs();
        assert!(error <= tol + tilt * size, "not nearest by {error:e}: {}", context());
        assert!(!shape.contains(&Pose::IDENTITY, p));
    } else {
        assert!(distance > 0.0 || shape.contains(&Pose::IDENTITY, p));
        assert!(
            (point + normal * distance - p).length() <= tol,
            "not along the normal: {}",
            context()
        );
        for _ in 0..40 {
            // The ball around p that just touches stays within all supporting planes.
            let n = if rng.index(2) == 0 {
                rng.direction()
            } else {
                (normal + rng.in_cube()).normalize()
            };
            let bounded = shape.bounding_radius().is_finite();
            assert!(!bounded || above(shape, n, p) <= distance + tol, "{n}: {}", context());
        }
    }
    found
}

#[test]
fn the_nearest_surface_point_is_nearest_inside_outside_and_on_the_surface() {
    let mut rng = Rng::new(11);
    for i in 0..3500 {
        let shape = shape_of_kind(&mut rng, i % (KINDS + 1));
        let size = if i % (KINDS + 1) == KINDS { 2.0 } else { shape.bounding_radius() };
        let p = rng.in_cube() * (size * rng.log_range(0.01, 10.0));
        let first = prove(&mut rng, &shape, p, size);
        // On the surface, and slightly inside and outside.
        for offset in [0.0, 1e-15, -1e-15, 1e-9, -1e-9] {
            let near = first.point + first.normal * (offset * size);
            let again = prove(&mut rng, &shape, near, size);
            // Inwards from an edge or corner, other faces may be nearer.
            let error = (again.distance - offset * size).abs();
            assert!(
                offset < 0.0 || error <= 1e-15 * (size + 8.0 * p.length()),
                "{again:?} {shape:?}"
            );
        }
        // At the boundaries between the regions of edges, rims and apexes, and on the axes.
        for masked in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE - Vec3::X, Vec3::ONE - Vec3::Z] {
            prove(&mut rng, &shape, p * masked, size);
        }
    }
}

#[test]
fn the_nearest_surface_point_of_a_sliver_is_nearest() {
    let mut rng = Rng::new(15);
    for _ in 0..1000 {
        let shape = adversarial_pair(&mut rng, Difficulty::Sliver).a;
        let size = shape.bounding_radius();
        let p = rng.in_cube() * (size * rng.log_range(0.1, 10.0));
        // Anywhere, close above the plate, and inside it.
        for flat in [1.0, 1e-3, 1e-6, 1e-7, 0.0] {
            prove(&mut rng, &shape, p * Vec3::new(1.0, 1.0, flat), size);
        }
    }
}

#[test]
fn a_projection_onto_a_posed_shape_is_that_in_its_own_frame() {
    let mut rng = Rng::new(12);
    for i in 0..700 {
        let shape = shape_of_kind(&mut rng, i % (KINDS + 1));
        let pose = Pose::new(rng.in_cube() * 10.0, rng.rotation());
        let p = rng.in_cube() * 2.0;
        let local = shape.project(&Pose::IDENTITY, p);
        let world = shape.project(&pose, pose.transform_point(p));
        assert!((world.distance - local.distance).abs() <= 1e-14);
        if local.distance > 1e-3 {
            assert!((world.point - pose.transform_point(local.point)).length() <= 2e-14);
            assert!((world.normal - pose.transform_vector(local.normal)).length() <= 1e-11);
        }
    }
}

#[test]
fn lengths_scaled_by_a_power_of_two_scale_the_answer_bit_for_bit() {
    let mut rng = Rng::new(13);
    for i in 0..700 {
        let shape = match i % (KINDS + 1) {
            KINDS => Shape::half_space(-Vec3::Y, rng.range(-1.0, 1.0)).unwrap(),
            kind => shape_of_kind(&mut rng, kind),
        };
        let pose = Pose::new(rng.in_cube(), rng.rotation());
        let p = rng.in_cube() * rng.log_range(0.01, 100.0);
        let near = shape.project(&pose, p).point;
        for k in [-20, 13, 30] {
            let s = 2.0_f64.powi(k);
            let (large, moved) = (scaled(&shape, s), Pose::new(pose.position * s, pose.rotation));
            for p in [p, near] {
                let (one, other) = (shape.project(&pose, p), large.project(&moved, p * s));
                assert_eq!(one.point * s, other.point, "{shape:?} {p}");
                assert_eq!(one.normal, other.normal, "{shape:?} {p}");
                assert_eq!(one.distance * s, other.distance, "{shape:?} {p}");
            }
        }
    }
}

#[test]
fn a_point_on_a_face_edge_or_corner_of_a_box_has_a_face_s_normal() {
    let cuboid = Shape::cuboid(Vec3::new(1.0, 2.0, 3.0)).unwrap();
    for (p, normal) in [
        (Vec3::new(0.5, -2.0, 1.0), -Vec3::Y),
        (Vec3::new(1.0, 2.0, 0.0), Vec3::X),
        (Vec3::new(0.1, -2.0, -3.0), -Vec3::Y),
        (Vec3::new(-1.0, -2.0, -3.0), -Vec3::X),
        (Vec3::new(1.0, 2.0 + 1e-15, 3.0), Vec3::Y),
    ] {
        let found = cuboid.project(&Pose::IDENTITY, p);
        assert_eq!(found.normal, normal, "at {p}");
        assert!(found.distance.abs() < 1e-15);
    }
}

#[test]
fn the_axis_center_and_apex_have_definite_unit_normals() {
    let shapes = [
        Shape::sphere(1.0).unwrap(),
        Shape::capsule(0.5, 1.0).unwrap(),
        Shape::cylinder(0.5, 1.0).unwrap(),
        Shape::cone(0.5, 1.0).unwrap(),
        Shape::cuboid(Vec3::ONE).unwrap(),
    ];
    for shape in &shapes {
        for z in
            [0.0, -0.0, 0.5, 1.0, -1.0, 1.0 + 1e-16, 1.0 + 3e-16, 5e-324, 1e-200, 1e200, -1e308]
        {
            for x in [0.0, -0.0, 5e-324, 1e-170, -1e-17, 1e200] {
                let p = Vec3::new(x, 0.0, z);
                let found = shape.project(&Pose::IDENTITY, p);
                assert!(
                    (found.normal.length() - 1.0).abs() < 1e-15,
                    "{found:?} at {p} of {shape:?}"
                );
                assert!(found.point.is_finite(), "{found:?} at {p} of {shape:?}");
                assert_eq!(found, shape.project(&Pose::IDENTITY, p));
            }
        }
    }
    let apex = shapes[3].project(&Pose::IDENTITY, Vec3::Z);
    assert_eq!((apex.point, apex.distance), (Vec3::Z, 0.0));
}

#[test]
fn no_shape_contains_a_point_that_is_not_finite_and_its_projection_does_not_panic() {
    let mut rng = Rng::new(14);
    for kind in 0..=KINDS {
        let shape = shape_of_kind(&mut rng, kind);
        for bad in [Vec3::NAN, Vec3::INFINITY, Vec3::new(0.0, f64::NAN, 0.0)] {
            let _ = shape.project(&Pose::IDENTITY, bad);
            assert!(!shape.contains(&Pose::IDENTITY, bad), "{shape:?} {bad}");
        }
    }
}
