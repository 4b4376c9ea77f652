//! Point projection: the nearest surface point of each shape, for points inside, outside and on the
//! surface.
//!
//! All decisions use differences of coordinates, so results scale exactly with powers of two.

use super::hull::ConvexHull;
use super::shape::{Capsule, Cone, Cuboid, Cylinder, HalfSpace, Shape, Sphere};
use crate::math::{Pose, Vec3, largest_axis};

/// The point of a shape's surface nearest to a given point.
///
/// ```
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::{Pose, Vec3};
/// let ball = Shape::sphere(2.0)?;
/// let outside = ball.project(&Pose::IDENTITY, Vec3::new(0.0, 0.0, 5.0));
/// assert_eq!((outside.point, outside.normal), (Vec3::new(0.0, 0.0, 2.0), Vec3::Z));
/// assert_eq!(outside.distance, 3.0);
/// assert_eq!(ball.project(&Pose::IDENTITY, Vec3::new(0.0, 1.5, 0.0)).distance, -0.5);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "closest point")]
pub struct Projection {
    /// The surface point, in meters.
    pub point: Vec3,
    /// Unit outward normal there. On edges and corners it is the direction to the given point; for
    /// a point on the surface, a face normal.
    pub normal: Vec3,
    /// Signed distance from the surface in meters, negative inside.
    pub distance: f64,
}

/// Distance relative to the shape's size below which the direction between two points is rounding
/// noise.
const NOISE: f64 = 1e-14;

impl Shape {
    /// Projects `point` on the surface of this shape at `pose`.
    ///
    /// If several surface points are equally near, the choice depends only on the bits of the
    /// input.
    #[doc(alias = "closest point")]
    #[doc(alias = "signed distance")]
    pub fn project(&self, pose: &Pose, point: Vec3) -> Projection {
        let local = self.project_local(pose.inverse_transform_point(point));
        Projection {
            point: pose.transform_point(local.point),
            normal: pose.transform_vector(local.normal),
            distance: local.distance,
        }
    }

    /// Returns whether `point` lies in this shape at `pose`, the surface included.
    pub fn contains(&self, pose: &Pose, point: Vec3) -> bool {
        self.contains_local(pose.inverse_transform_point(point))
    }

    /// Projects a point given in the shape's own frame.
    #[inline]
    pub(crate) fn project_local(&self, point: Vec3) -> Projection {
        match self {
            Self::Sphere(s) => s.project_local(point),
            Self::Capsule(s) => s.project_local(point),
            Self::Cylinder(s) => s.project_local(point),
            Self::Cone(s) => s.project_local(point),
            Self::Cuboid(s) => s.project_local(point),
            Self::Hull(s) => s.project_local(point),
            Self::HalfSpace(s) => s.project_local(point),
        }
    }

    /// Returns the distance of a point in the shape's own frame; for a point inside, any
    /// non-positive number.
    #[inline]
    pub(crate) fn distance_outside(&self, p: Vec3) -> f64 {
        let outside = |x: f64| x.max(0.0);
        match self {
            Self::Cuboid(s) => (p.abs() - s.half_extents).max(Vec3::ZERO).length(),
            Self::Cylinder(s) => {
                let side = outside((p.x * p.x + p.y * p.y).sqrt() - s.radius);
                let cap = outside(p.z.abs() - s.half_height);
                (side * side + cap * cap).sqrt()
            }
            _ => self.project_local(p).distance,
        }
    }

    /// Tests a point given in the shape's own frame.
    #[inline]
    pub(crate) fn contains_local(&self, point: Vec3) -> bool {
        match self {
            // The planes suffice, and are much cheaper than the nearest point.
            Self::Hull(s) => s.planes().iter().all(|plane| plane.distance(point) <= 0.0),
            _ => self.project_local(point).distance <= 0.0,
        }
    }
}

impl Sphere {
    /// Projects on the surface; the center projects on the x axis.
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let (length, normal) = length_and_direction(p, Vec3::X);
        Projection { point: normal * self.radius, normal, distance: length - self.radius }
    }
}

impl Capsule {
    /// Projects on the surface; points on the axis project in the x direction.
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let z = p.z.max(-self.half_height).min(self.half_height);
        let (length, normal) = length_and_direction(Vec3::new(p.x, p.y, p.z - z), Vec3::X);
        Projection {
            point: Vec3::new(0.0, 0.0, z) + normal * self.radius,
            normal,
            distance: length - self.radius,
        }
    }
}

impl HalfSpace {
    /// Projects on the plane.
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let distance = self.plane.distance(p);
        let normal = self.plane.normal;
        Projection { point: p - normal * distance, normal, distance }
    }
}

impl Cuboid {
    /// Projects on the surface; points inside, on the nearest face (the first axis of equals).
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let h = self.half_extents;
        let nearest = p.max(-h).min(h);
        // Signed distance from each face, exact close to the surface.
        let beyond = p.abs() - h;
        let axis = largest_axis(beyond);
        let sign = if p[axis] < 0.0 { -1.0 } else { 1.0 };
        let mut normal = Vec3::ZERO;
        normal[axis] = sign;
        if beyond[axis] <= 0.0 {
            let mut point = p;
            point[axis] = sign * h[axis];
            return Projection { point, normal, distance: beyond[axis] };
        }
        let (distance, direction) = length_and_direction(p - nearest, normal);
        if distance > NOISE * h.max_element() {
            normal = direction;
        }
        Projection { point: nearest, normal, distance }
    }
}

impl Cylinder {
    /// Projects on the surface; points inside, on the nearer of side and cap (the cap of equals).
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let (rho, radial) = length_and_direction(Vec3::new(p.x, p.y, 0.0), Vec3::X);
        let up = if p.z < 0.0 { -1.0 } else { 1.0 };
        let side = rho - self.radius;
        let cap = p.z.abs() - self.half_height;
        let cap_z = up * self.half_height;
        let axial = Vec3::new(0.0, 0.0, up);
        if side > 0.0 && cap > 0.0 {
            let (distance, normal) = length_and_direction(radial * side + axial * cap, axial);
            let noise = distance <= NOISE * self.radius.max(self.half_height);
            let flat = if side > cap { radial } else { axial };
            return Projection {
                point: radial * self.radius + Vec3::new(0.0, 0.0, cap_z),
                normal: if noise { flat } else { normal },
                distance,
            };
        }
        if side > cap {
            let point = radial * self.radius + Vec3::new(0.0, 0.0, p.z);
            Projection { point, normal: radial, distance: side }
        } else {
            Projection { point: Vec3::new(p.x, p.y, cap_z), normal: axial, distance: cap }
        }
    }
}

impl Cone {
    /// Projects on the surface; points inside, on the nearer of side and base (the base of equals).
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let (r, height) = (self.radius, 2.0 * self.half_height);
        let slant = (r * r + height * height).sqrt();
        let (sin, cos) = (r / slant, height / slant);
        let (rho, radial) = length_and_direction(Vec3::new(p.x, p.y, 0.0), Vec3::X);
        // In the plane (rho, z) through p and the axis, the side is a straight line.
        let from_apex = p.z - self.half_height;
        let from_base = p.z + self.half_height;
        let side = rho * cos + from_apex * sin;
        let base = -from_base;
        let side_normal = radial * cos + Vec3::new(0.0, 0.0, sin);
        let foot = |along: f64| {
            Vec3::new(0.0, 0.0, self.half_height - along * cos) + radial * (along * sin)
        };
        if base > 0.0 && rho <= r || base <= 0.0 && side <= 0.0 {
            return if side > base && base <= 0.0 {
                // Inside, hence between apex and rim up to rounding.
                let along = (rho * sin - from_apex * cos).max(0.0).min(slant);
                Projection { point: foot(along), normal: side_normal, distance: side }
            } else {
                let point = Vec3::new(p.x, p.y, -self.half_height);
                Projection { point, normal: -Vec3::Z, distance: base }
            };
        }
        let along = rho * sin - from_apex * cos;
        let beyond_rim = (rho - r) * sin - from_base * cos;
        let (point, offset, flat) = if along <= 0.0 {
            let apex = Vec3::new(0.0, 0.0, self.half_height);
            (apex, Vec3::new(p.x, p.y, from_apex), Vec3::Z)
        } else if beyond_rim < 0.0 {
            return Projection { point: foot(along), normal: side_normal, distance: side };
        } else {
            let rim = radial * r - Vec3::new(0.0, 0.0, self.half_height);
            let offset = radial * (rho - r) + Vec3::new(0.0, 0.0, from_base);
            (rim, offset, if side > base { side_normal } else { -Vec3::Z })
        };
        let (distance, normal) = length_and_direction(offset, flat);
        let noise = distance <= NOISE * r.max(height);
        Projection { point, normal: if noise { flat } else { normal }, distance }
    }
}

impl ConvexHull {
    /// Projects on the surface; points inside, on the face whose plane is nearest (the first of
    /// equals).
    #[inline]
    pub(crate) fn project_local(&self, p: Vec3) -> Projection {
        let (face, distance) = self.max_plane_distance(p);
        let normal = self.planes()[face as usize].normal;
        let inside = Projection { point: p - normal * distance, normal, distance };
        if distance > 0.0 { self.project_outside(p, inside, face as usize) } else { inside }
    }

    /// Projects a point outside: on the nearest of the faces that it sees.
    ///
    /// `guess` is the projection on the plane of face `first`, whose plane has the largest distance
    /// from `p`.
    fn project_outside(&self, p: Vec3, guess: Projection, first: usize) -> Projection {
        let Some(mut best) = self.nearest_on_outline(p, first) else { return guess };
        let mut least = best.0.distance_squared(p);
        // Usually this is the answer: then all of the solid lies behind the plane through this
        // point perpendicular to the direction to `p`.
        let offset = p - best.0;
        let beyond = offset.dot(self.vertices()[self.support_by_scan(offset) as usize] - best.0);
        let others = if beyond <= NOISE * least { &[] } else { self.planes() };
        for (face, plane) in others.iter().enumerate() {
            let height = plane.distance(p);
            if face == first || height <= 0.0 || height * height >= least {
                continue;
            }
            let Some(nearest) = self.nearest_on_outline(p, face) else {
                // Straight above a face of a convex body: no other point is nearer.
                let normal = plane.normal;
                return Projection { point: p - normal * height, normal, distance: height };
            };
            let square = nearest.0.distance_squared(p);
            if square < least {
                (best, least) = (nearest, square);
            }
        }
        let (point, edge) = best;
        let (distance, _) = length_and_direction(p - point, guess.normal);
        // Any component along the edge is rounding, which would tilt the normal of a close point.
        let across = edge.cross(p - point).cross(edge);
        let (_, normal) =
            length_and_direction(if edge == Vec3::ZERO { p - point } else { across }, guess.normal);
        let noise = distance <= NOISE * self.bounding_radius();
        Projection {
            point,
            normal: if noise { guess.normal } else { normal },
            // No point of the body is nearer than its face planes.
            distance: distance.max(guess.distance),
        }
    }

    /// Returns the point of a face's outline nearest to `p` and the edge that contains it (zero for
    /// a corner), or `None` if `p` is straight above the face.
    fn nearest_on_outline(&self, p: Vec3, face: usize) -> Option<(Vec3, Vec3)> {
        let normal = self.planes()[face].normal;
        let corners = self.face(face as u32);
        let at = |i: usize| self.vertices()[corners[i].origin as usize];
        let mut best = None;
        let mut least = f64::INFINITY;
        let mut from = at(corners.len() - 1);
        for i in 0..corners.len() {
            let to = at(i);
            let (edge, lever) = (to - from, p - from);
            if edge.cross(normal).dot(lever) > 0.0 {
                let along = edge.dot(lever) / edge.length_squared();
                let nearest = if along <= 0.0 {
                    (from, Vec3::ZERO)
                } else if along >= 1.0 {
                    (to, Vec3::ZERO)
                } else {
                    (from + edge * along, edge)
                };
                let square = nearest.0.distance_squared(p);
                if square < least {
                    (best, least) = (Some(nearest), square);
                }
            }
            from = to;
        }
        best
    }
}

/// Returns the length and direction of a vector; the direction of the zero vector is `fallback`.
#[inline]
pub(super) fn length_and_direction(v: Vec3, fallback: Vec3) -> (f64, Vec3) {
    let square = v.length_squared();
    // Squares in this range have neither underflowed nor overflowed.
    if (1e-270..1e270).contains(&square) {
        let length = square.sqrt();
        (length, v / length)
    } else {
        extreme_length_and_direction(v, fallback)
    }
}

/// 2^200.
const LIFT: f64 = 1.606938044258990275541962092341e60;

#[cold]
fn extreme_length_and_direction(v: Vec3, fallback: Vec3) -> (f64, Vec3) {
    let largest = v.abs().max_element();
    if !v.is_finite() || largest == 0.0 {
        return (v.length(), fallback);
    }
    // A subnormal has too few bits for a quotient: scale it up first, exactly.
    let lift = if largest < 1e-290 { LIFT } else { 1.0 };
    let scaled = v * lift / (largest * lift);
    let length = scaled.length();
    (length * largest, scaled / length)
}
