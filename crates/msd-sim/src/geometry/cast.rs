//! Ray casts: the first point of each shape on a ray.
//!
//! A line meets a convex solid in one interval. Each shape computes it from the point of the line
//! nearest the shape's origin, so a ray from far away loses no precision.

use super::hull::ConvexHull;
use super::project::length_and_direction;
use super::shape::{Capsule, Cone, Cuboid, Cylinder, HalfSpace, Shape, Sphere};
use crate::error::RayError;
use crate::math::{Pose, Vec3};

/// A half-line with a unit direction.
///
/// ```
/// use msd_sim::geometry::{Ray, Shape};
/// use msd_sim::math::{Pose, Vec3};
/// let ray = Ray::new(Vec3::new(0.0, 0.0, 10.0), Vec3::new(0.0, 0.0, -2.0))?;
/// let hit = Shape::sphere(1.0)?.cast_ray(&Pose::IDENTITY, &ray, 100.0).expect("straight above");
/// assert_eq!((hit.distance, hit.point, hit.normal), (9.0, Vec3::Z, Vec3::Z));
/// assert!(Ray::new(Vec3::ZERO, Vec3::ZERO).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: Vec3,
    direction: Vec3,
}

impl Ray {
    /// Creates the ray from `origin` along `direction`, which may have any non-zero length.
    ///
    /// # Errors
    ///
    /// If a coordinate of either is not finite, or `direction` is zero.
    pub fn new(origin: Vec3, direction: Vec3) -> Result<Self, RayError> {
        if !origin.is_finite() {
            return Err(RayError::Origin { value: origin });
        }
        if !direction.is_finite() || direction == Vec3::ZERO {
            return Err(RayError::Direction { value: direction });
        }
        Ok(Self { origin, direction: length_and_direction(direction, Vec3::X).1 })
    }

    /// Returns the start point, in meters.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Returns the unit direction.
    pub fn direction(&self) -> Vec3 {
        self.direction
    }

    /// Returns the point at `distance` meters from the origin.
    pub fn at(&self, distance: f64) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// The first point of a shape on a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Distance from the ray's origin, in meters.
    pub distance: f64,
    /// The surface point hit (world, meters).
    pub point: Vec3,
    /// The unit outward surface normal at that point.
    pub normal: Vec3,
}

/// The part of a line within a convex solid: its parameters along the line, and the normal where
/// the line enters.
struct Span {
    enter: f64,
    leave: f64,
    normal: Vec3,
}

impl Span {
    const LINE: Self = Self { enter: f64::NEG_INFINITY, leave: f64::INFINITY, normal: Vec3::ZERO };

    /// Cuts off the part beyond a plane; the line starts `height` above it and climbs at `rate`.
    #[inline]
    fn clip(&mut self, height: f64, rate: f64, normal: Vec3) {
        if rate == 0.0 {
            if height > 0.0 {
                self.leave = f64::NEG_INFINITY;
            }
            return;
        }
        let at = -height / rate;
        if rate < 0.0 {
            if at > self.enter {
                (self.enter, self.normal) = (at, normal);
            }
        } else if at < self.leave {
            self.leave = at;
        }
    }

    /// Cuts off the part outside `-half <= z <= half`.
    #[inline]
    fn clip_slab(&mut self, half: f64, z: f64, rate: f64, axis: Vec3) {
        self.clip(z - half, rate, axis);
        self.clip(-z - half, -rate, -axis);
    }

    /// Returns `None` if the line misses.
    #[inline]
    fn if_any(self) -> Option<Self> {
        (self.enter <= self.leave).then_some(self)
    }
}

impl Shape {
    /// Casts `ray` against this shape at `pose` and returns the first hit within `max_distance`
    /// meters.
    ///
    /// A ray that starts inside or on the surface hits at distance 0, at its origin, with a normal
    /// opposite to its direction. A ray that grazes the surface to within rounding may hit or miss.
    /// `max_distance` may be infinite; a negative or NaN value hits nothing.
    #[doc(alias = "raycast")]
    pub fn cast_ray(&self, pose: &Pose, ray: &Ray, max_distance: f64) -> Option<RayHit> {
        let offset = ray.origin - pose.position;
        let start = RayHit { distance: 0.0, point: ray.origin, normal: -ray.direction };
        if self.contains_local(pose.inverse_transform_vector(offset)) {
            return (max_distance >= 0.0).then_some(start);
        }
        // The point of the ray's line nearest the shape's origin, by fused operations: exact but
        // for one final rounding.
        let ahead = -offset.dot(ray.direction);
        let nearest = Vec3::new(
            ray.direction.x.mul_add(ahead, offset.x),
            ray.direction.y.mul_add(ahead, offset.y),
            ray.direction.z.mul_add(ahead, offset.z),
        );
        let from = pose.inverse_transform_vector(nearest);
        let along = pose.inverse_transform_vector(ray.direction);
        let span = self.span(from, along)?;
        let (enter, leave) = (ahead + span.enter, ahead + span.leave);
        // A hit so far away that its distance overflows is a miss.
        let within = leave >= 0.0 && enter <= max_distance && enter < f64::INFINITY;
        if !(within && max_distance >= 0.0) {
            return None;
        }
        // The ray started outside by less than rounding.
        if enter < 0.0 {
            return Some(start);
        }
        Some(RayHit {
            distance: enter,
            point: pose.transform_point(from + along * span.enter),
            normal: pose.transform_vector(span.normal),
        })
    }

    /// Returns the part of the line through `from` along the unit vector `along` within the shape.
    fn span(&self, from: Vec3, along: Vec3) -> Option<Span> {
        match self {
            Self::Sphere(s) => s.span(from, along),
            Self::Capsule(s) => s.span(from, along),
            Self::Cylinder(s) => s.span(from, along),
            Self::Cone(s) => s.span(from, along),
            Self::Cuboid(s) => s.span(from, along),
            Self::Hull(s) => s.span(from, along),
            Self::HalfSpace(s) => s.span(from, along),
        }
    }
}

/// Returns the interval in which a line is within `radius` of the origin.
///
/// For the roots of a t^2 + 2 b t + c: the discriminant b^2 - a c is (radius |d|)^2 - |p x d|^2,
/// computed as a product of sum and difference to keep its digits when the line grazes.
fn ball_interval(radius: f64, p: Vec3, d: Vec3) -> Option<(f64, f64)> {
    let a = d.length_squared();
    let (reach, miss) = (radius * a.sqrt(), p.cross(d).length());
    let (distance, _) = length_and_direction(p, Vec3::X);
    if a == 0.0 {
        return (distance <= radius).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let discriminant = (reach - miss) * (reach + miss);
    if discriminant.is_nan() || discriminant < 0.0 {
        return None;
    }
    let (first, second) =
        roots(a, p.dot(d), (distance - radius) * (distance + radius), discriminant);
    Some((first.min(second), first.max(second)))
}

/// Returns the roots of `a t^2 + 2 b t + c` without cancellation, in no order; infinite if `a` is
/// zero.
fn roots(a: f64, b: f64, c: f64, discriminant: f64) -> (f64, f64) {
    let q = -(b + discriminant.sqrt().copysign(b));
    if q == 0.0 { (0.0, 0.0) } else { (q / a, c / q) }
}

/// Returns the length of (x, y). `f64::hypot` differs between platforms in the last bit.
fn hypotenuse(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

impl Sphere {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        let (enter, leave) = ball_interval(self.radius, p, d)?;
        Some(Span { enter, leave, normal: self.project_local(p + d * enter).normal })
    }
}

impl Capsule {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        // The union of a cylinder and two balls is convex, so its interval runs between the
        // outermost ends.
        let end = Vec3::new(0.0, 0.0, self.half_height);
        let tube = Cylinder { radius: self.radius, half_height: self.half_height };
        let parts = [
            tube.span(p, d).map(|s| (s.enter, s.leave)),
            ball_interval(self.radius, p - end, d),
            ball_interval(self.radius, p + end, d),
        ];
        let (enter, leave) = parts
            .into_iter()
            .flatten()
            .reduce(|(enter, leave), part| (enter.min(part.0), leave.max(part.1)))?;
        Some(Span { enter, leave, normal: self.project_local(p + d * enter).normal })
    }
}

impl Cylinder {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
        let (enter, leave) = ball_interval(self.radius, flat(p), flat(d))?;
        let normal = length_and_direction(flat(p) + flat(d) * enter, Vec3::X).1;
        let mut span = Span { enter, leave, normal };
        span.clip_slab(self.half_height, p.z, d.z, Vec3::Z);
        span.if_any()
    }
}

impl Cone {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        // From the apex, with w = -g.z: a point is in the double cone if rho <= k |w|, that is if A
        // t^2 + 2 B t + C <= 0, and in its lower half if w >= 0.
        let height = 2.0 * self.half_height;
        let k = self.radius / height;
        let g = Vec3::new(p.x, p.y, p.z - self.half_height);
        let (flat_d, flat_g) = (hypotenuse(d.x, d.y), hypotenuse(g.x, g.y));
        let a = (flat_d - k * d.z.abs()) * (flat_d + k * d.z.abs());
        let b = g.x * d.x + g.y * d.y - k * k * g.z * d.z;
        let c = (flat_g - k * g.z.abs()) * (flat_g + k * g.z.abs());
        // B^2 - A C by Lagrange's identity, as a product that keeps its digits when grazing.
        let m = g.cross(d);
        let (reach, miss) = (k * hypotenuse(m.x, m.y), m.z.abs());
        let discriminant = (reach - miss) * (reach + miss);
        let (enter, leave) = if a > 0.0 {
            // Flatter than the side: inside between the roots, both in the same half.
            if discriminant < 0.0 {
                return None;
            }
            let (first, second) = roots(a, b, c, discriminant);
            if g.z + 0.5 * (first + second) * d.z > 0.0 {
                return None;
            }
            (first.min(second), first.max(second))
        } else if a < 0.0 {
            // Steeper than the side: the line leaves one half at one root and enters the other at
            // the second.
            let (first, second) = roots(a, b, c, discriminant.max(0.0));
            if d.z < 0.0 {
                (first.max(second), f64::INFINITY)
            } else {
                (f64::NEG_INFINITY, first.min(second))
            }
        } else if b == 0.0 {
            // Along a generator, or parallel to one in its tangent plane.
            if c > 0.0 {
                return None;
            }
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            // Parallel to a generator: one root, and inside towards one end.
            let root = -0.5 * c / b;
            let downwards = b < 0.0;
            if downwards != (d.z < 0.0) {
                return None;
            }
            if downwards { (root, f64::INFINITY) } else { (f64::NEG_INFINITY, root) }
        };
        let hit = p + d * enter;
        let (rho, mut radial) = length_and_direction(Vec3::new(hit.x, hit.y, 0.0), Vec3::X);
        if rho.is_nan() || rho <= 1e-14 * self.radius {
            // At the apex every normal of the side is valid: take the one facing the ray.
            radial = length_and_direction(Vec3::new(-d.x, -d.y, 0.0), Vec3::X).1;
        }
        let slant = hypotenuse(height, self.radius);
        let normal = radial * (height / slant) + Vec3::new(0.0, 0.0, self.radius / slant);
        let mut span = Span { enter, leave, normal };
        span.clip_slab(self.half_height, p.z, d.z, Vec3::Z);
        span.if_any()
    }
}

impl Cuboid {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        let mut span = Span::LINE;
        for (axis, unit) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            span.clip_slab(self.half_extents[axis], p[axis], d[axis], unit);
        }
        span.if_any()
    }
}

impl ConvexHull {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        let mut span = Span::LINE;
        for plane in self.planes() {
            span.clip(plane.distance(p), plane.normal.dot(d), plane.normal);
        }
        span.if_any()
    }
}

impl HalfSpace {
    fn span(&self, p: Vec3, d: Vec3) -> Option<Span> {
        let mut span = Span::LINE;
        span.clip(self.plane.distance(p), self.plane.normal.dot(d), self.plane.normal);
        span.if_any()
    }
}
