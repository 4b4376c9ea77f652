//! Ray casts: a hit lies on the surface with nothing before it, and a miss crosses nothing.

use std::f64::consts::FRAC_PI_2;

use msd_sim::error::RayError;
use msd_sim::geometry::{Ray, RayHit, Shape};
use msd_sim::math::{Pose, Quat, Vec3, rotation};

use crate::oracle::depth;
use crate::oracle::pairs::{KINDS, Rng};
use crate::project::{scaled, shape_of_kind};

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray::new(origin, direction).unwrap()
}

fn size(shape: &Shape) -> f64 {
    Some(shape.bounding_radius()).filter(|r| r.is_finite()).unwrap_or(1.0)
}

/// Checks a cast against the shape's surface and against the oracle's depth of a thin needle.
#[track_caller]
fn check(shape: &Shape, pose: &Pose, ray: &Ray, far: f64, tol: f64) -> Option<RayHit> {
    let hit = shape.cast_ray(pose, ray, far);
    let end = hit.map_or(far, |hit| hit.distance);
    if let Some(hit) = hit {
        let surface = shape.project(pose, hit.point);
        let context = || format!("{hit:?} of {ray:?} on {shape:?} at {pose:?}");
        assert!((hit.normal.length() - 1.0).abs() <= 1e-15, "{}", context());
        assert!(hit.normal.dot(ray.direction()) <= 1e-7, "{}", context());
        assert!((hit.point - ray.at(hit.distance)).length() <= tol, "{}", context());
        if hit.distance > 0.0 {
            assert!(surface.distance.abs() <= tol, "{} {surface:?}", context());
        } else {
            assert!(surface.distance <= tol);
        }
    }
    // The ray up to the hit lies outside: a needle along it overlaps by its own radius at most.
    let radius = 1e-12;
    if end > 1e3 * radius {
        let turn = Quat::from_rotation_arc(Vec3::Z, ray.direction()).normalize();
        let needle = Shape::capsule(radius, 0.5 * end).unwrap();
        let (inside, _) = depth(shape, pose, &needle, &Pose::new(ray.at(0.5 * end), turn));
        assert!(
            inside <= 1.01 * radius + 4.0 * tol,
            "inside by {inside}: {ray:?} {hit:?} {shape:?}"
        );
    }
    for i in 0..50 {
        let p = ray.at((end * i as f64 / 50.0).min(1e6));
        let inside = shape.project(pose, p).distance;
        assert!(inside >= -tol || end == 0.0, "inside at {p}: {ray:?} on {shape:?} at {pose:?}");
    }
    hit
}

#[test]
fn a_ray_hits_the_surface_and_nothing_before_it() {
    let mut rng = Rng::new(21);
    let mut hits = 0;
    for i in 0..2100 {
        let shape = shape_of_kind(&mut rng, i % (KINDS + 1));
        let pose = Pose::new(rng.in_cube(), rng.rotation());
        let size = size(&shape);
        let origin = pose.position + rng.direction() * (size * rng.range(0.0, 4.0));
        let aim = pose.position + rng.in_cube() * size;
        let ray = ray(origin, aim - origin);
        hits +=
            usize::from(check(&shape, &pose, &ray, 10.0 * size, 1e-13 * (1.0 + size)).is_some());
    }
    assert!(hits > 700, "only {hits} hits");
}

#[test]
fn a_ray_from_a_hundred_kilometers_hits_as_accurately_as_one_from_nearby() {
    let mut rng = Rng::new(22);
    for i in 0..700 {
        let shape = shape_of_kind(&mut rng, i % KINDS);
        let pose = Pose::new(Vec3::ZERO, rng.rotation());
        let aim = rng.in_cube() * (0.5 * size(&shape));
        let away = rng.direction();
        // Exactly the same line: the direction is dyadic and short.
        let short = (away * 64.0).round();
        let aim = (aim * 1024.0).round() / 1024.0;
        let (near, far) = (aim + short / 16.0, aim + short * 1024.0);
        let (near, far) = (ray(near, -short), ray(far, -short));
        let one = shape.cast_ray(&pose, &near, 1e6);
        let other = shape.cast_ray(&pose, &far, 1e6);
        match (one, other) {
            (Some(one), Some(other)) if one.distance > 0.0 => {
                let s = size(&shape);
                // A grazing hit moves far for a small change of the line.
                let steep = one.normal.dot(near.direction()).abs().max(1e-6);
                assert!(
                    (one.point - other.point).length() <= 1e-11 * s.max(1.0) / steep,
                    "{shape:?}"
                );
                assert!(shape.project(&pose, other.point).distance.abs() <= 1e-13 * s.max(1.0));
            }
            (Some(one), None) => {
                assert!(one.normal.dot(near.direction()).abs() < 1e-4, "{shape:?} {near:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn rays_along_the_axes_hit_at_the_distance_of_the_shape_parameters() {
    let shapes: [(Shape, f64, f64, f64); 5] = [
        // Where rays down z, up z and along -x at height 0 hit it.
        (Shape::sphere(2.0).unwrap(), 2.0, -2.0, 2.0),
        (Shape::capsule(0.5, 1.0).unwrap(), 1.5, -1.5, 0.5),
        (Shape::cylinder(0.5, 1.0).unwrap(), 1.0, -1.0, 0.5),
        (Shape::cone(0.5, 1.0).unwrap(), 1.0, -1.0, 0.25),
        (Shape::cuboid(Vec3::new(0.5, 1.0, 2.0)).unwrap(), 2.0, -2.0, 0.5),
    ];
    for (shape, top, bottom, side) in shapes {
        let cast = |p: Vec3, d: Vec3| shape.cast_ray(&Pose::IDENTITY, &ray(p, d), 100.0);
        for far in [10.0, 64.0] {
            assert_eq!(cast(Vec3::Z * far, -Vec3::Z).unwrap().point, Vec3::Z * top, "{shape:?}");
            assert_eq!(cast(Vec3::Z * -far, Vec3::Z).unwrap().point, Vec3::Z * bottom, "{shape:?}");
            let hit = cast(Vec3::X * far, -Vec3::X).unwrap();
            assert!((hit.point - Vec3::X * side).length() < 1e-15, "{hit:?} {shape:?}");
            assert!((hit.distance - (far - side)).abs() < 1e-14, "{hit:?} {shape:?}");
        }
        assert_eq!(cast(Vec3::Z * 10.0, Vec3::Z), None, "away from it");
        assert_eq!(cast(Vec3::new(2.5, 0.0, 10.0), -Vec3::Z), None, "past it");
        let short = shape.cast_ray(&Pose::IDENTITY, &ray(Vec3::Z * 10.0, -Vec3::Z), 7.5);
        assert_eq!(short, None, "too short");
    }
}

#[test]
fn a_ray_just_inside_a_tangent_hits_and_just_outside_misses() {
    let shapes = [
        (Shape::sphere(1.0).unwrap(), 1.0, Vec3::Y),
        (Shape::capsule(1.0, 1.0).unwrap(), 1.0, Vec3::Y),
        (Shape::cylinder(1.0, 1.0).unwrap(), 1.0, Vec3::Y),
        (Shape::cone(2.0, 1.0).unwrap(), 1.0, Vec3::Y),
        (Shape::cuboid(Vec3::ONE).unwrap(), 1.0, Vec3::Y),
    ];
    for (shape, edge, along) in shapes {
        for (by, hits) in [(-1e-12, true), (-1e-6, true), (1e-12, false), (1e-6, false)] {
            for far in [2.0, 1000.0] {
                let ray = ray(Vec3::X * (edge + by) - along * far, along);
                let hit = shape.cast_ray(&Pose::IDENTITY, &ray, 1e4);
                assert_eq!(hit.is_some(), hits, "{by} {far} {shape:?} {hit:?}");
                if let Some(hit) = hit {
                    assert!(shape.project(&Pose::IDENTITY, hit.point).distance.abs() < 1e-13);
                }
            }
        }
    }
}

#[test]
fn a_ray_that_starts_inside_or_on_the_surface_hits_at_once() {
    let mut rng = Rng::new(23);
    for i in 0..350 {
        let shape = shape_of_kind(&mut rng, i % (KINDS + 1));
        let pose = Pose::new(rng.in_cube(), rng.rotation());
        let surface = shape.project(&pose, pose.position);
        let inside = surface.point - surface.normal * 1e-3 * size(&shape);
        let direction = rng.direction();
        if shape.contains(&pose, inside) {
            let hit = shape.cast_ray(&pose, &ray(inside, direction), 0.0).unwrap();
            assert_eq!((hit.distance, hit.point), (0.0, inside));
            assert_eq!(hit.normal, -ray(inside, direction).direction());
        }
    }
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let on = cube.cast_ray(&Pose::IDENTITY, &ray(Vec3::Z, Vec3::Z), 1.0).unwrap();
    assert_eq!((on.distance, on.normal), (0.0, -Vec3::Z));
}

#[test]
fn a_ray_parallel_to_a_cone_s_side_enters_by_the_base_or_the_side() {
    // Slope 3:4, so that the generator's direction is exact.
    let cone = Shape::cone(3.0, 2.0).unwrap();
    let generator = Vec3::new(3.0, 0.0, -4.0);
    let mut rng = Rng::new(24);
    for _ in 0..300 {
        let through = Vec3::new(rng.range(-4.0, 4.0), rng.range(-4.0, 4.0), rng.range(-2.5, 2.5));
        for sign in [1.0, -1.0] {
            let ray = ray(through - generator * (sign * 4.0), generator * sign);
            check(&cone, &Pose::IDENTITY, &ray, 100.0, 1e-12);
        }
    }
    for height in [-2.5, -1.9, 0.0, 1.9, 2.0, 2.1] {
        for turn in [0.0, 0.5, FRAC_PI_2] {
            let direction = rotation(Vec3::Y, turn) * Vec3::X;
            let ray = ray(Vec3::Z * height - direction * 20.0, direction);
            check(&cone, &Pose::IDENTITY, &ray, 100.0, 1e-12);
        }
    }
}

#[test]
fn lengths_scaled_by_a_power_of_two_scale_the_hit_bit_for_bit() {
    let mut rng = Rng::new(25);
    for i in 0..700 {
        let shape = match i % (KINDS + 1) {
            KINDS => Shape::half_space(Vec3::Z, rng.range(-1.0, 1.0)).unwrap(),
            kind => shape_of_kind(&mut rng, kind),
        };
        let pose = Pose::new(rng.in_cube(), rng.rotation());
        let origin = rng.in_cube() * 5.0;
        let direction = pose.position + rng.in_cube() * 0.5 - origin;
        let hit = shape.cast_ray(&pose, &ray(origin, direction), 100.0);
        for k in [-20, 17, 30] {
            let s = 2.0_f64.powi(k);
            let (large, moved) = (scaled(&shape, s), Pose::new(pose.position * s, pose.rotation));
            let other = large.cast_ray(&moved, &ray(origin * s, direction), 100.0 * s);
            let expected = hit.map(|h| (h.distance * s, h.point * s, h.normal));
            assert_eq!(expected, other.map(|h| (h.distance, h.point, h.normal)), "{shape:?}");
        }
    }
}

#[test]
fn an_invalid_ray_is_rejected_with_field_and_value() {
    let nan = Ray::new(Vec3::new(0.0, f64::NAN, 0.0), Vec3::X).unwrap_err();
    assert!(matches!(nan, RayError::Origin { .. }));
    let zero = Ray::new(Vec3::ONE, Vec3::ZERO).unwrap_err();
    assert_eq!(zero, RayError::Direction { value: Vec3::ZERO });
    assert!(zero.to_string().starts_with("direction = [0, 0, 0]"), "{zero}");
    assert!(Ray::new(Vec3::ONE, Vec3::INFINITY).is_err());
    assert_eq!(Ray::new(Vec3::ONE, Vec3::Y * 1e-300).unwrap().direction(), Vec3::Y);
    assert_eq!(Ray::new(Vec3::ONE, Vec3::Y * 1e300).unwrap().direction(), Vec3::Y);
}

#[test]
fn extreme_rays_give_finite_hits_or_misses() {
    let mut rng = Rng::new(26);
    for i in 0..7000 {
        let shape = shape_of_kind(&mut rng, i % (KINDS + 1));
        let wild = |rng: &mut Rng| {
            let scale = rng.log_range(1e-300, 1e300);
            [0.0, 1.0, -1.0, 0.5, scale, -scale][rng.index(6)]
        };
        let mut vector = || Vec3::new(wild(&mut rng), wild(&mut rng), wild(&mut rng));
        let (origin, direction) = (vector(), vector());
        let Ok(ray) = Ray::new(origin, direction) else { continue };
        for far in [0.0, 1.0, f64::INFINITY] {
            if let Some(hit) = shape.cast_ray(&Pose::IDENTITY, &ray, far) {
                assert!((hit.normal.length() - 1.0).abs() < 1e-14, "{hit:?} {ray:?} {shape:?}");
                assert!(hit.point.is_finite(), "{hit:?} {ray:?} {shape:?}");
                assert!(hit.distance >= 0.0 && hit.distance <= far);
            }
        }
        for far in [-1.0, f64::NAN] {
            assert_eq!(shape.cast_ray(&Pose::IDENTITY, &ray, far), None);
        }
    }
}
