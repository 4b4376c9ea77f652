//! Support features: the face, edge or point of a shape that faces a direction, with persistent
//! keys.

use super::hull::ConvexHull;
use super::shape::{Capsule, Cone, Cuboid, Cylinder, Shape};
use crate::math::{Mat3, Pose, Vec3, largest_axis};

/// The persistent key of a face, edge, corner or rim point of one shape.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub(crate) struct FeatureKey(pub u32);

impl FeatureKey {
    const EDGE: u32 = 1 << 30;
    const VERTEX: u32 = 2 << 30;
    const RIM: u32 = 3 << 30;

    pub fn face(index: u32) -> Self {
        Self(index)
    }

    pub fn edge(index: u32) -> Self {
        Self(Self::EDGE | index)
    }

    pub fn vertex(index: u32) -> Self {
        Self(Self::VERTEX | index)
    }

    fn rim(index: u32) -> Self {
        Self(Self::RIM | index)
    }
}

/// The key of a half-space's plane.
pub(crate) const HALF_SPACE: FeatureKey = FeatureKey(0);

/// The kind of a feature.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum FeatureKind {
    #[default]
    Point,
    Segment,
    /// Corners are counter-clockwise from outside.
    Polygon,
    /// Corners are points of the rim, counter-clockwise from outside.
    Disc {
        center: Vec3,
        radius: f64,
    },
}

impl FeatureKind {
    fn has_straight_edges(self) -> bool {
        matches!(self, Self::Segment | Self::Polygon)
    }
}

/// A corner of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    pub position: Vec3,
    pub key: FeatureKey,
    /// The edge to the next corner.
    pub edge: FeatureKey,
}

/// The part of a shape that faces a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    pub kind: FeatureKind,
    pub key: FeatureKey,
    /// Outward unit normal of a polygon or disc, otherwise the query direction.
    pub normal: Vec3,
    /// A point of the shape's bounding plane perpendicular to `normal`.
    pub anchor: Vec3,
    pub corners: Vec<Corner>,
}

/// The features of the two shapes of a pair, and a spare one to try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    pub a: Feature,
    pub b: Feature,
    pub spare: Feature,
}

/// Number of fixed corners that represent a disc's rim.
const RIM_CORNERS: u32 = 8;

/// Cosine and sine of the multiples of 45 degrees.
const OCTAGON: [(f64, f64); RIM_CORNERS as usize] = {
    const S: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (S, S), (0.0, 1.0), (-S, S), (-1.0, 0.0), (-S, -S), (0.0, -1.0), (S, -S)]
};

/// Tilt (radians) below which a disc's fixed rim points are as deep as any other to within a
/// millionth of its radius, so that jitter must not add another point.
const UPRIGHT: f64 = 1e-5;

/// Rim points closer than this fraction of the radius are merged.
const SAME_PLACE: f64 = 1e-3;

/// Returns the sector between the corners of [`OCTAGON`] that a direction lies in.
fn octant(x: f64, y: f64) -> usize {
    let steep = y.abs() > x.abs();
    match (x >= 0.0, y >= 0.0) {
        (true, true) => usize::from(steep),
        (false, true) => 2 + usize::from(!steep),
        (false, false) => 4 + usize::from(steep),
        (true, false) => 6 + usize::from(!steep),
    }
}

/// Returns the key of the face of a box perpendicular to `axis`.
pub(super) fn cuboid_face(axis: usize, positive: bool) -> FeatureKey {
    FeatureKey::face(2 * axis as u32 + u32::from(positive))
}

/// Returns the corners of a face of a box, counter-clockwise from outside. The bits of a corner's
/// index give its side along each axis.
#[inline]
pub(super) fn cuboid_corners(axis: usize, positive: bool) -> [u32; 4] {
    let (j, k) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let face = u32::from(positive) << axis;
    let order = if positive { [j | k, k, 0, j] } else { [j | k, j, 0, k] };
    order.map(|corner| corner | face)
}

/// Returns the key of the edge of a box between two corners.
#[inline]
pub(super) fn cuboid_edge(u: u32, v: u32) -> FeatureKey {
    FeatureKey::edge((u ^ v) << 3 | (u & v))
}

impl Feature {
    /// Sets this to the part of `shape` that faces `direction`, both in the shape's frame.
    pub fn set_facing(&mut self, shape: &Shape, direction: Vec3) {
        self.corners.clear();
        self.normal = direction;
        match shape {
            Shape::Sphere(s) => self.set_point(direction * s.radius, FeatureKey::default()),
            Shape::Capsule(s) => self.set_capsule(s, direction),
            Shape::Cylinder(s) => self.set_cylinder(s, direction),
            Shape::Cone(s) => self.set_cone(s, direction),
            Shape::Cuboid(s) => self.set_cuboid(s, direction),
            Shape::Hull(s) => self.set_hull(s, direction),
            // Unbounded: the other shape's features decide, and it has none of its own.
            Shape::HalfSpace(s) => self.set_point(s.plane.normal * s.plane.offset, HALF_SPACE),
        }
    }

    /// Sets this to the face with that key, whichever way it faces. Returns false if there is none.
    pub fn set_face(&mut self, shape: &Shape, face: FeatureKey, direction: Vec3) -> bool {
        self.corners.clear();
        let index = face.0;
        match shape {
            Shape::Cuboid(s) if index < 6 => {
                self.set_cuboid_face(s, index as usize / 2, index % 2 == 1);
            }
            Shape::Hull(s) if (index as usize) < s.face_count() => self.set_hull_face(s, index),
            Shape::Cylinder(s) if index < 2 => {
                let sign = if index == 1 { 1.0 } else { -1.0 };
                self.set_disc(sign, s.half_height, s.radius, direction);
            }
            Shape::Cone(s) if index == 0 => {
                self.set_disc(-1.0, s.half_height, s.radius, direction);
            }
            _ => return false,
        }
        true
    }

    /// Transforms the feature from its shape's frame into the parent frame of `pose`.
    pub fn transform(&mut self, rotation: &Mat3, pose: &Pose) {
        self.normal = *rotation * self.normal;
        self.anchor = *rotation * self.anchor + pose.position;
        for corner in &mut self.corners {
            corner.position = *rotation * corner.position + pose.position;
        }
        if let FeatureKind::Disc { center, .. } = &mut self.kind {
            *center = *rotation * *center + pose.position;
        }
    }

    /// Returns whether the feature has an area, so that another feature can lie on it.
    pub fn is_face(&self) -> bool {
        !matches!(self.kind, FeatureKind::Point | FeatureKind::Segment)
    }

    fn set_point(&mut self, position: Vec3, key: FeatureKey) {
        self.kind = FeatureKind::Point;
        self.key = key;
        self.anchor = position;
        self.corners.push(Corner { position, key, edge: key });
    }

    fn set_segment(&mut self, ends: [(Vec3, FeatureKey); 2], key: FeatureKey) {
        self.kind = FeatureKind::Segment;
        self.key = key;
        self.anchor = ends[0].0;
        let corners = ends.map(|(position, end)| Corner { position, key: end, edge: key });
        self.corners.extend(corners);
    }

    /// Sets both ends, at their support points along `d`. The depths later reject the farther end.
    fn set_capsule(&mut self, s: &Capsule, d: Vec3) {
        let ends = [(-s.half_height, 0), (s.half_height, 1)]
            .map(|(z, i)| (Vec3::Z * z + d * s.radius, FeatureKey::vertex(i)));
        self.set_segment(ends, FeatureKey::edge(0));
    }

    fn set_cylinder(&mut self, s: &Cylinder, d: Vec3) {
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        if d.z.abs() >= planar {
            self.set_disc(1.0_f64.copysign(d.z), s.half_height, s.radius, d);
            return;
        }
        let side = Vec3::new(d.x, d.y, 0.0) * (s.radius / planar);
        let ends = [-s.half_height, s.half_height].map(|z| side + Vec3::Z * z);
        self.set_segment(
            [(ends[0], FeatureKey::vertex(0)), (ends[1], FeatureKey::vertex(1))],
            FeatureKey::edge(0),
        );
    }

    fn set_cone(&mut self, s: &Cone, d: Vec3) {
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        let height = 2.0 * s.half_height;
        let slant = (s.radius * s.radius + height * height).sqrt();
        // In the plane of d and the axis, the side's normal is (height, radius) / slant.
        if -d.z * slant >= height * planar + s.radius * d.z {
            self.set_disc(-1.0, s.half_height, s.radius, d);
            return;
        }
        let apex = (Vec3::Z * s.half_height, FeatureKey::vertex(1));
        if planar == 0.0 {
            self.set_point(apex.0, apex.1);
            return;
        }
        let rim = Vec3::new(d.x, d.y, 0.0) * (s.radius / planar) - Vec3::Z * s.half_height;
        self.set_segment([(rim, FeatureKey::vertex(0)), apex], FeatureKey::edge(0));
    }

    /// Sets the cap towards `sign` z: fixed rim points, and the rim point farthest along `d`.
    fn set_disc(&mut self, sign: f64, half_height: f64, radius: f64, d: Vec3) {
        let center = Vec3::Z * (sign * half_height);
        self.kind = FeatureKind::Disc { center, radius };
        let cap = u32::from(sign > 0.0);
        self.key = FeatureKey::face(cap);
        self.normal = Vec3::Z * sign;
        self.anchor = center;
        let base = cap * (RIM_CORNERS + 1);
        for (i, (x, y)) in (0_u32..).zip(OCTAGON) {
            let position = center + Vec3::new(x * radius, y * sign * radius, 0.0);
            let (key, edge) = (FeatureKey::rim(base + i), FeatureKey::edge(base + i));
            self.corners.push(Corner { position, key, edge });
        }
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        if planar <= UPRIGHT {
            return;
        }
        let radial = Vec3::new(d.x, d.y, 0.0) / planar;
        // Insert it in order, so that the rim stays convex and counter-clockwise, or replace a
        // corner that it nearly coincides with.
        let deepest = center + radial * radius;
        let before = octant(radial.x, radial.y * sign);
        let near = |i: usize| {
            self.corners[i].position.distance_squared(deepest) < (SAME_PLACE * radius).powi(2)
        };
        let after = (before + 1) % OCTAGON.len();
        if near(before) {
            self.corners[before].position = deepest;
        } else if near(after) {
            self.corners[after].position = deepest;
        } else {
            let index = base + RIM_CORNERS;
            let (key, edge) = (FeatureKey::rim(index), FeatureKey::edge(index));
            self.corners.insert(before + 1, Corner { position: deepest, key, edge });
        }
    }

    fn set_cuboid(&mut self, s: &Cuboid, d: Vec3) {
        let axis = largest_axis(d.abs());
        self.set_cuboid_face(s, axis, d[axis] > 0.0);
    }

    /// Sets the face of a box perpendicular to `axis`, on its positive or negative side.
    fn set_cuboid_face(&mut self, s: &Cuboid, axis: usize, positive: bool) {
        self.kind = FeatureKind::Polygon;
        self.key = cuboid_face(axis, positive);
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let h = s.half_extents;
        self.normal = Vec3::ZERO;
        self.normal[axis] = if positive { 1.0 } else { -1.0 };
        self.anchor = self.normal * h[axis];
        let indices = cuboid_corners(axis, positive);
        for i in 0..4 {
            let (here, next) = (indices[i], indices[(i + 1) % 4]);
            let mut position = self.anchor;
            position[j] = if here >> j & 1 == 1 { h[j] } else { -h[j] };
            position[k] = if here >> k & 1 == 1 { h[k] } else { -h[k] };
            let (key, edge) = (FeatureKey::vertex(here), cuboid_edge(here, next));
            self.corners.push(Corner { position, key, edge });
        }
    }

    fn set_hull(&mut self, hull: &ConvexHull, d: Vec3) {
        let vertex = hull.support_index(d, 0);
        let (mut best, mut alignment) = (0, f64::NEG_INFINITY);
        for face in hull.faces_around(vertex) {
            let along = hull.planes()[face as usize].normal.dot(d);
            if along > alignment {
                (best, alignment) = (face, along);
            }
        }
        self.set_hull_face(hull, best);
    }

    fn set_hull_face(&mut self, hull: &ConvexHull, face: u32) {
        let corners = hull.face(face);
        self.kind = FeatureKind::Polygon;
        self.key = FeatureKey::face(face);
        self.normal = hull.planes()[face as usize].normal;
        self.anchor = hull.vertices()[corners[0].origin as usize];
        self.corners.extend(corners.iter().map(|h| Corner {
            position: hull.vertices()[h.origin as usize],
            key: FeatureKey::vertex(h.origin),
            edge: FeatureKey::edge(h.edge),
        }));
    }

    /// Narrows the feature to the part that touches a plane perpendicular to `n`: the edge at its
    /// farthest corner if that edge lies in the plane to within `tolerance`, else the corner.
    pub fn narrow(&mut self, n: Vec3, tolerance: f64) {
        let count = self.corners.len();
        let height = |i: usize| n.dot(self.corners[i].position);
        let Some(top) = (0..count).max_by(|&i, &j| height(i).total_cmp(&height(j))) else { return };
        let (before, after) = ((top + count - 1) % count, (top + 1) % count);
        let other = if height(before) > height(after) { before } else { after };
        let (drop, straight) = (height(top) - height(other), self.kind.has_straight_edges());
        let (corner, end) = (self.corners[top], self.corners[other]);
        let edge = self.corners[if other == after { top } else { before }].edge;
        self.corners.clear();
        self.normal = n;
        if straight && drop <= tolerance {
            self.set_segment([(corner.position, corner.key), (end.position, end.key)], edge);
        } else {
            self.set_point(corner.position, corner.key);
        }
    }
}
