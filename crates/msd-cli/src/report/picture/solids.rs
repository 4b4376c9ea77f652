//! Triangles of shapes, in the shape's own frame.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;

/// Number of segments of a full circle.
const SEGMENTS: usize = 24;

/// A corner of a triangle: its position, m, and the unit normal of the surface there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) position: Vec3,
    pub(super) normal: Vec3,
}

/// Calls `emit` with every triangle of a shape. A half-space has none.
pub(super) fn triangles(shape: &Shape, mut emit: impl FnMut([Corner; 3])) {
    match shape {
        Shape::Sphere(s) => round(s.radius(), 0.0, &mut emit),
        Shape::Capsule(s) => round(s.radius(), s.half_height(), &mut emit),
        Shape::Cylinder(s) => {
            let (r, h) = (s.radius(), s.half_height());
            side([r, -h], [r, h], &mut emit);
            disc(r, h, &mut emit);
            disc(r, -h, &mut emit);
        }
        Shape::Cone(s) => {
            let (r, h) = (s.radius(), s.half_height());
            side([r, -h], [0.0, h], &mut emit);
            disc(r, -h, &mut emit);
        }
        Shape::Cuboid(s) => cuboid(s.half_extents(), &mut emit),
        Shape::Hull(hull) => {
            for (face, plane) in hull.planes().iter().enumerate() {
                let corners: Vec<Vec3> = hull.face_vertices(face as u32).collect();
                polygon(&corners, plane.normal, &mut emit);
            }
        }
        Shape::HalfSpace(_) => {}
    }
}

fn polygon(corners: &[Vec3], normal: Vec3, emit: &mut impl FnMut([Corner; 3])) {
    for at in 1..corners.len().saturating_sub(1) {
        let triangle = [corners[0], corners[at], corners[at + 1]];
        emit(triangle.map(|position| Corner { position, normal }));
    }
}

fn cuboid(half: Vec3, emit: &mut impl FnMut([Corner; 3])) {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = sign;
            let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[u, v]| {
                let mut corner = normal;
                corner[(axis + 1) % 3] = u;
                corner[(axis + 2) % 3] = v;
                corner * half
            });
            polygon(&corners, normal, emit);
        }
    }
}

/// Returns the direction of a step around the z axis.
fn around(step: usize) -> Vec3 {
    let angle = std::f64::consts::TAU * step as f64 / SEGMENTS as f64;
    Vec3::new(angle.cos(), angle.sin(), 0.0)
}

fn disc(radius: f64, height: f64, emit: &mut impl FnMut([Corner; 3])) {
    let corners: Vec<Vec3> =
        (0..SEGMENTS).map(|step| around(step) * radius + Vec3::Z * height).collect();
    polygon(&corners, Vec3::Z * height.signum(), emit);
}

/// Emits a band around the z axis between two rings, each given by radius and height.
fn side(low: [f64; 2], high: [f64; 2], emit: &mut impl FnMut([Corner; 3])) {
    // Perpendicular to the line from the lower to the upper ring.
    let (slope, rise) = (low[0] - high[0], high[1] - low[1]);
    band([low, high], |out, _| (out * rise + Vec3::Z * slope).normalize_or_zero(), emit);
}

/// Emits a band between two rings with the normals that `normal` gives for a direction and a ring.
fn band(
    rings: [[f64; 2]; 2],
    normal: impl Fn(Vec3, usize) -> Vec3,
    emit: &mut impl FnMut([Corner; 3]),
) {
    for step in 0..SEGMENTS {
        let corner = |step: usize, ring: usize| {
            let out = around(step);
            let [radius, height] = rings[ring];
            Corner { position: out * radius + Vec3::Z * height, normal: normal(out, ring) }
        };
        let (a, b) = (corner(step, 0), corner(step + 1, 0));
        let (c, d) = (corner(step + 1, 1), corner(step, 1));
        emit([a, b, c]);
        emit([a, c, d]);
    }
}

/// Emits a sphere, or a capsule about z.
fn round(radius: f64, half_height: f64, emit: &mut impl FnMut([Corner; 3])) {
    const RINGS: usize = SEGMENTS / 4;
    let ring = |at: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * at as f64 / RINGS as f64;
        [angle.cos(), angle.sin()]
    };
    for sign in [-1.0, 1.0] {
        for at in 0..RINGS {
            let unit = [ring(at), ring(at + 1)];
            let rings = unit.map(|[r, z]| [r * radius, sign * (z * radius + half_height)]);
            let normal = |out: Vec3, which: usize| {
                let [r, z] = unit[which];
                out * r + Vec3::Z * (sign * z)
            };
            band(rings, normal, emit);
        }
    }
    if half_height > 0.0 {
        side([radius, -half_height], [radius, half_height], emit);
    }
}
