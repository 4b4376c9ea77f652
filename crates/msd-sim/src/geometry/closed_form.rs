//! Pairs with a closed-form signed distance: a half-space or a sphere with any shape, and two
//! capsules.

use super::separation::Separation;
use super::shape::{Capsule, Plane, Shape};
use crate::math::{Pose, Vec3, orthonormal_basis};

/// Returns the separation of a pair that has a closed form.
pub(crate) fn closed_form(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
) -> Option<Separation> {
    match (a, b) {
        (Shape::Sphere(a), _) if has_few_faces(b) => {
            Some(sphere_and_shape(a.radius, pose_a.position, b, pose_b))
        }
        (_, Shape::Sphere(b)) if has_few_faces(a) => {
            Some(sphere_and_shape(b.radius, pose_b.position, a, pose_a).swapped())
        }
        (Shape::HalfSpace(a), Shape::HalfSpace(b)) => {
            half_spaces(&a.plane, pose_a, &b.plane, pose_b)
        }
        (_, Shape::HalfSpace(b)) => Some(shape_and_half_space(a, pose_a, &b.plane, pose_b)),
        (Shape::HalfSpace(a), _) => {
            Some(shape_and_half_space(b, pose_b, &a.plane, pose_a).swapped())
        }
        (Shape::Capsule(a), Shape::Capsule(b)) => Some(capsules(a, pose_a, b, pose_b)),
        _ => None,
    }
}

/// Returns whether projecting on every face is faster than a search for the nearest point.
pub(super) fn has_few_faces(shape: &Shape) -> bool {
    !matches!(shape, Shape::Hull(hull) if hull.face_count() > MAX_PROJECTED_FACES)
}

/// With more faces, a search for the nearest point is faster than projecting on all of them.
const MAX_PROJECTED_FACES: usize = 128;

/// Returns the separation of any shape A and a half-space B: A's deepest point decides.
fn shape_and_half_space(a: &Shape, pose_a: &Pose, plane: &Plane, pose_b: &Pose) -> Separation {
    let outward = pose_b.transform_vector(plane.normal);
    let deepest = a.support(-pose_a.inverse_transform_vector(outward));
    let point_a = pose_a.transform_point(deepest);
    // Relative to B's origin, to keep precision far from the world's origin.
    let lever = pose_a.position - pose_b.position + pose_a.transform_vector(deepest);
    let distance = outward.dot(lever) - plane.offset;
    let point_b = point_a - outward * distance;
    Separation::exact(-outward, distance, point_a, point_b)
}

/// Returns the separation of two half-spaces: they are separated, or overlap in a slab, only if they face each other.
fn half_spaces(a: &Plane, pose_a: &Pose, b: &Plane, pose_b: &Pose) -> Option<Separation> {
    let normal = pose_a.transform_vector(a.normal);
    if (pose_b.transform_vector(b.normal) + normal).length() > 4.0 * f64::EPSILON {
        return None;
    }
    let distance = normal.dot(pose_b.position - pose_a.position) - (a.offset + b.offset);
    let point_a = pose_a.position + normal * a.offset;
    let point_b = point_a + normal * distance;
    Some(Separation::exact(normal, distance, point_a, point_b))
}

/// Returns the separation of a sphere A and any shape B: projects the sphere's center on B's surface.
fn sphere_and_shape(radius: f64, center: Vec3, b: &Shape, pose_b: &Pose) -> Separation {
    let surface = b.project_local(pose_b.inverse_transform_point(center));
    let normal = -pose_b.transform_vector(surface.normal);
    let (point_a, point_b) = (center + normal * radius, center + normal * surface.distance);
    Separation::exact(normal, surface.distance - radius, point_a, point_b)
}

/// Returns the separation of two capsules: the distance of their axis segments.
pub(crate) fn capsules(a: &Capsule, pose_a: &Pose, b: &Capsule, pose_b: &Pose) -> Separation {
    let (axis_a, axis_b) = (pose_a.z_axis(), pose_b.z_axis());
    let between = pose_b.position - pose_a.position;
    let (s, t) = nearest_on_segments(a.half_height, axis_a, b.half_height, axis_b, between);
    let delta = between + axis_b * t - axis_a * s;
    let distance = delta.length_squared().sqrt();
    let size = a.half_height + b.half_height + between.abs().max_element();
    let normal = if distance > 8.0 * f64::EPSILON * size {
        delta / distance
    } else {
        // The axes intersect: the separating direction is perpendicular to both.
        let across = axis_a.cross(axis_b);
        across.try_normalize().unwrap_or_else(|| orthonormal_basis(axis_a).0)
    };
    let distance = distance - (a.radius + b.radius);
    let point_a = pose_a.position + (axis_a * s + normal * a.radius);
    Separation::exact(normal, distance, point_a, point_a + normal * distance)
}

/// Returns the parameters of the nearest points of the segments `s u`, `|s| <= a`, and `between + t
/// v`, `|t| <= b`, for unit vectors `u` and `v`.
fn nearest_on_segments(a: f64, u: Vec3, b: f64, v: Vec3, between: Vec3) -> (f64, f64) {
    // |between + t v - s u|^2 is least for s = u . between + t (u . v) at a given t, and likewise
    // for t at a given s. The joint solution has the denominator 1 - (u . v)^2 = |u x v|^2; its
    // numerator is written with cross products, which avoid cancellation.
    let (along_u, along_v, cos) = (u.dot(between), v.dot(between), u.dot(v));
    let clamp_s = |t: f64| (along_u + t * cos).clamp(-a, a);
    let clamp_t = |s: f64| (s * cos - along_v).clamp(-b, b);
    let across = u.cross(v);
    let sine_square = across.length_squared();
    let free = if sine_square > f64::EPSILON * f64::EPSILON {
        (-across.dot(u.cross(between)) / sine_square).clamp(-b, b)
    } else {
        0.0
    };
    let t = clamp_t(clamp_s(free));
    (clamp_s(t), t)
}
