//! The Minkowski difference `A - B` of two shapes, on which GJK and EPA work.
//!
//! A sphere or capsule is a point or segment (its core) inflated by a radius. Inflating a shape by
//! `r` adds `r` to its reach in every direction, so distance and depth of the inflated shapes
//! follow exactly from those of their cores, and only the cores enter the difference.

use super::hull::ConvexHull;
use super::shape::{Cone, Cuboid, Cylinder, Shape};
use crate::math::{Mat3, Pose, Vec3, inverse_rotate};

/// A shape without its radius.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core<'a> {
    /// The origin.
    Point,
    /// The segment from `-z` to `z` on the z axis.
    Segment(f64),
    Cuboid(Cuboid),
    Cylinder(Cylinder),
    Cone(Cone),
    Hull(&'a ConvexHull),
}

impl Core<'_> {
    /// Returns the core's point farthest along `d`. A hull starts its search at `hint` and updates
    /// it.
    #[inline]
    fn support(&self, d: Vec3, hint: &mut u32) -> Vec3 {
        match self {
            Self::Point => Vec3::ZERO,
            Self::Segment(z) => Vec3::new(0.0, 0.0, z.copysign(d.z)),
            Self::Cuboid(s) => s.support(d),
            Self::Cylinder(s) => s.support(d),
            Self::Cone(s) => s.support(d),
            Self::Hull(s) => {
                *hint = s.support_index(d, *hint);
                s.vertices()[*hint as usize]
            }
        }
    }

    /// Returns the approximate distance of the core's surface from its center.
    fn radius(&self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Segment(z) => *z,
            Self::Cuboid(s) => s.half_extents.max_element(),
            Self::Cylinder(Cylinder { radius, half_height })
            | Self::Cone(Cone { radius, half_height }) => radius.max(*half_height),
            Self::Hull(hull) => (hull.vertices()[0] - hull.centroid()).length(),
        }
    }

    /// Returns an interior point.
    fn middle(&self) -> Vec3 {
        match self {
            Self::Hull(hull) => hull.centroid(),
            _ => Vec3::ZERO,
        }
    }
}

impl Shape {
    /// Returns the core and the radius that inflates it; `None` for a half-space, which has no
    /// support point.
    #[inline]
    pub(crate) fn core(&self) -> Option<(Core<'_>, f64)> {
        Some(match self {
            Self::Sphere(s) => (Core::Point, s.radius),
            Self::Capsule(s) => (Core::Segment(s.half_height), s.radius),
            Self::Cylinder(s) => (Core::Cylinder(*s), 0.0),
            Self::Cone(s) => (Core::Cone(*s), 0.0),
            Self::Cuboid(s) => (Core::Cuboid(*s), 0.0),
            Self::Hull(s) => (Core::Hull(s), 0.0),
            Self::HalfSpace(_) => return None,
        })
    }
}

/// A point of the difference, with the two points it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    /// `a` minus `b`, in A's axes.
    pub w: Vec3,
    /// The point of A, in A's frame.
    pub a: Vec3,
    /// The point of B, in B's frame.
    pub b: Vec3,
}

/// The Minkowski difference: the set of all `a - b`, in A's axes. It contains the origin if and
/// only if the cores overlap.
#[derive(Clone, Debug)]
pub(crate) struct Difference<'a> {
    pub a: Core<'a>,
    pub b: Core<'a>,
    /// B's axes in A's frame.
    pub rotation: Mat3,
    /// B's origin in A's frame.
    pub translation: Vec3,
    hint_a: u32,
    hint_b: u32,
}

impl<'a> Difference<'a> {
    /// Creates the difference; `b_in_a` is B's pose in A's frame.
    #[inline]
    pub fn new(a: Core<'a>, b: Core<'a>, b_in_a: &Pose) -> Self {
        Self {
            a,
            b,
            rotation: Mat3::from_quat(b_in_a.rotation),
            translation: b_in_a.position,
            hint_a: 0,
            hint_b: 0,
        }
    }

    /// Returns the vertex of two points.
    #[inline]
    pub fn vertex(&self, a: Vec3, b: Vec3) -> Vertex {
        Vertex { w: a - (self.rotation * b + self.translation), a, b }
    }

    /// Returns the vertex farthest along `d`, given in A's axes.
    #[inline]
    pub fn support(&mut self, d: Vec3) -> Vertex {
        let a = self.a.support(d, &mut self.hint_a);
        let b = self.b.support(-self.to_b(d), &mut self.hint_b);
        self.vertex(a, b)
    }

    /// Returns the same as [`Self::support`], scanning all corners of a hull instead of walking.
    pub fn support_by_scan(&mut self, d: Vec3) -> Vertex {
        for (core, d, hint) in [
            (&self.a, d, &mut self.hint_a),
            (&self.b, -inverse_rotate(&self.rotation, d), &mut self.hint_b),
        ] {
            if let Core::Hull(hull) = core {
                *hint = hull.support_by_scan(d);
            }
        }
        self.support(d)
    }

    /// Rotates a direction from A's axes into B's.
    #[inline]
    pub fn to_b(&self, d: Vec3) -> Vec3 {
        inverse_rotate(&self.rotation, d)
    }

    /// Returns whether the difference has infinitely many vertices.
    #[inline]
    pub fn is_curved(&self) -> bool {
        let curved = |core: &Core| matches!(core, Core::Cylinder(_) | Core::Cone(_));
        curved(&self.a) || curved(&self.b)
    }

    /// Returns the approximate largest coordinate in the difference.
    pub fn scale(&self) -> f64 {
        self.a.radius() + self.b.radius() + self.middle().abs().max_element()
    }

    /// Returns the approximate size of the smaller core, ignoring a core without size.
    pub fn least_radius(&self) -> f64 {
        let (a, b) = (self.a.radius(), self.b.radius());
        if a > 0.0 && b > 0.0 { a.min(b) } else { a.max(b) }
    }

    /// Returns a point well inside the difference.
    #[inline]
    pub fn middle(&self) -> Vec3 {
        self.a.middle() - (self.rotation * self.b.middle() + self.translation)
    }
}
