//! The part of a shape that faces a direction: a face, an edge or a point, with names that last.

use super::hull::ConvexHull;
use super::shape::{Capsule, Cone, Cuboid, Cylinder, Shape};
use crate::math::{Mat3, Pose, Vec3, largest_axis};

/// The name of a face, edge, corner or rim point of one shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FeatureName(pub u32);

impl FeatureName {
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

/// The name of a half-space's plane.
pub(crate) const HALF_SPACE: FeatureName = FeatureName(0);

/// What a feature's points are the corners of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum FeatureKind {
    #[default]
    Point,
    Segment,
    /// Corners counter-clockwise from outside.
    Polygon,
    /// Points of the rim, counter-clockwise from outside.
    Disc {
        centre: Vec3,
        radius: f64,
    },
}

impl FeatureKind {
    fn has_straight_edges(self) -> bool {
        matches!(self, Self::Segment | Self::Polygon)
    }
}

/// One corner of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    pub position: Vec3,
    pub name: FeatureName,
    /// The edge to the next corner.
    pub edge: FeatureName,
}

/// The part of a shape that faces a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    pub kind: FeatureKind,
    pub name: FeatureName,
    /// Outward unit normal of a polygon or disc, otherwise the direction asked for.
    pub normal: Vec3,
    /// A point of the plane across `normal` that bounds the shape.
    pub anchor: Vec3,
    pub corners: Vec<Corner>,
}

/// Features of the two shapes of a pair, and one to try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    pub a: Feature,
    pub b: Feature,
    pub spare: Feature,
}

/// Corners by which a disc's rim is represented.
const RIM_CORNERS: u32 = 8;

/// cos and sin of multiples of 45 degrees.
const OCTAGON: [(f64, f64); RIM_CORNERS as usize] = {
    const S: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (S, S), (0.0, 1.0), (-S, S), (-1.0, 0.0), (-S, -S), (0.0, -1.0), (S, -S)]
};

/// Tilted by less (radians), a disc's fixed rim points are as deep as any to within a millionth of
/// its radius, and jitter must not choose another.
const UPRIGHT: f64 = 1e-5;

/// Rim points nearer each other than this fraction of the radius are one.
const SAME_PLACE: f64 = 1e-3;

/// Which of the eight sectors between the corners of [`OCTAGON`] a direction lies in.
fn octant(x: f64, y: f64) -> usize {
    let steep = y.abs() > x.abs();
    match (x >= 0.0, y >= 0.0) {
        (true, true) => usize::from(steep),
        (false, true) => 2 + usize::from(!steep),
        (false, false) => 4 + usize::from(steep),
        (true, false) => 6 + usize::from(!steep),
    }
}

/// The name of a box' face across `axis`.
pub(super) fn cuboid_face(axis: usize, positive: bool) -> FeatureName {
    FeatureName::face(2 * axis as u32 + u32::from(positive))
}

/// The corners of a box' face, counter-clockwise from outside. Bits of a corner's index say on which
/// side of each axis it is.
#[inline]
pub(super) fn cuboid_corners(axis: usize, positive: bool) -> [u32; 4] {
    let (j, k) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let face = u32::from(positive) << axis;
    let order = if positive { [j | k, k, 0, j] } else { [j | k, j, 0, k] };
    order.map(|corner| corner | face)
}

/// The name of a box' edge between two corners.
#[inline]
pub(super) fn cuboid_edge(u: u32, v: u32) -> FeatureName {
    FeatureName::edge((u ^ v) << 3 | (u & v))
}

impl Feature {
    /// Sets this to the part of `shape` that faces `direction`, both in the shape's frame.
    pub fn set_facing(&mut self, shape: &Shape, direction: Vec3) {
        self.corners.clear();
        self.normal = direction;
        match shape {
            Shape::Sphere(s) => self.set_point(direction * s.radius, FeatureName::default()),
            Shape::Capsule(s) => self.set_capsule(s, direction),
            Shape::Cylinder(s) => self.set_cylinder(s, direction),
            Shape::Cone(s) => self.set_cone(s, direction),
            Shape::Cuboid(s) => self.set_cuboid(s, direction),
            Shape::Hull(s) => self.set_hull(s, direction),
            // Unbounded: it is met by the features of others and shows none of its own.
            Shape::HalfSpace(s) => self.set_point(s.plane.normal * s.plane.offset, HALF_SPACE),
        }
    }

    /// Sets this to the face of that name, whichever way it faces; false if there is none.
    pub fn set_face(&mut self, shape: &Shape, face: FeatureName, direction: Vec3) -> bool {
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

    /// Moves the feature from its shape's frame into the one that `pose` is given in.
    pub fn transform(&mut self, rotation: &Mat3, pose: &Pose) {
        self.normal = *rotation * self.normal;
        self.anchor = *rotation * self.anchor + pose.position;
        for corner in &mut self.corners {
            corner.position = *rotation * corner.position + pose.position;
        }
        if let FeatureKind::Disc { centre, .. } = &mut self.kind {
            *centre = *rotation * *centre + pose.position;
        }
    }

    /// Whether it has an area, so that another feature can lie on it.
    pub fn is_face(&self) -> bool {
        !matches!(self.kind, FeatureKind::Point | FeatureKind::Segment)
    }

    fn set_point(&mut self, position: Vec3, name: FeatureName) {
        self.kind = FeatureKind::Point;
        self.name = name;
        self.anchor = position;
        self.corners.push(Corner { position, name, edge: name });
    }

    fn set_segment(&mut self, ends: [(Vec3, FeatureName); 2], name: FeatureName) {
        self.kind = FeatureKind::Segment;
        self.name = name;
        self.anchor = ends[0].0;
        let corners = ends.map(|(position, end)| Corner { position, name: end, edge: name });
        self.corners.extend(corners);
    }

    /// Both ends, where a plane across `d` touches them. The farther end is for depths to sort out.
    fn set_capsule(&mut self, s: &Capsule, d: Vec3) {
        let ends = [(-s.half_height, 0), (s.half_height, 1)]
            .map(|(z, i)| (Vec3::Z * z + d * s.radius, FeatureName::vertex(i)));
        self.set_segment(ends, FeatureName::edge(0));
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
            [(ends[0], FeatureName::vertex(0)), (ends[1], FeatureName::vertex(1))],
            FeatureName::edge(0),
        );
    }

    fn set_cone(&mut self, s: &Cone, d: Vec3) {
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        let height = 2.0 * s.half_height;
        let slant = (s.radius * s.radius + height * height).sqrt();
        // The side's normal in the plane of d and the axis is (height, radius) / slant.
        if -d.z * slant >= height * planar + s.radius * d.z {
            self.set_disc(-1.0, s.half_height, s.radius, d);
            return;
        }
        let apex = (Vec3::Z * s.half_height, FeatureName::vertex(1));
        if planar == 0.0 {
            self.set_point(apex.0, apex.1);
            return;
        }
        let rim = Vec3::new(d.x, d.y, 0.0) * (s.radius / planar) - Vec3::Z * s.half_height;
        self.set_segment([(rim, FeatureName::vertex(0)), apex], FeatureName::edge(0));
    }

    /// The cap towards `sign` z: fixed points of its rim, and the rim point farthest along `d`.
    fn set_disc(&mut self, sign: f64, half_height: f64, radius: f64, d: Vec3) {
        let centre = Vec3::Z * (sign * half_height);
        self.kind = FeatureKind::Disc { centre, radius };
        let cap = u32::from(sign > 0.0);
        self.name = FeatureName::face(cap);
        self.normal = Vec3::Z * sign;
        self.anchor = centre;
        let base = cap * (RIM_CORNERS + 1);
        for (i, (x, y)) in (0_u32..).zip(OCTAGON) {
            let position = centre + Vec3::new(x * radius, y * sign * radius, 0.0);
            let (name, edge) = (FeatureName::rim(base + i), FeatureName::edge(base + i));
            self.corners.push(Corner { position, name, edge });
        }
        let planar = (d.x * d.x + d.y * d.y).sqrt();
        if planar <= UPRIGHT {
            return;
        }
        let radial = Vec3::new(d.x, d.y, 0.0) / planar;
        // In its place among the others, so that the rim stays convex and counter-clockwise; in the
        // place of one that it all but coincides with.
        let deepest = centre + radial * radius;
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
            let (name, edge) = (FeatureName::rim(index), FeatureName::edge(index));
            self.corners.insert(before + 1, Corner { position: deepest, name, edge });
        }
    }

    fn set_cuboid(&mut self, s: &Cuboid, d: Vec3) {
        let axis = largest_axis(d.abs());
        self.set_cuboid_face(s, axis, d[axis] > 0.0);
    }

    /// The face of a box across `axis`, on its positive or negative side.
    fn set_cuboid_face(&mut self, s: &Cuboid, axis: usize, positive: bool) {
        self.kind = FeatureKind::Polygon;
        self.name = cuboid_face(axis, positive);
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
            let (name, edge) = (FeatureName::vertex(here), cuboid_edge(here, next));
            self.corners.push(Corner { position, name, edge });
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
        self.name = FeatureName::face(face);
        self.normal = hull.planes()[face as usize].normal;
        self.anchor = hull.vertices()[corners[0].origin as usize];
        self.corners.extend(corners.iter().map(|h| Corner {
            position: hull.vertices()[h.origin as usize],
            name: FeatureName::vertex(h.origin),
            edge: FeatureName::edge(h.edge),
        }));
    }

    /// Narrows the feature down to what touches a plane across `n`: the edge at its farthest corner
    /// if that lies in the plane to within `tolerance`, else the corner.
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
            self.set_segment([(corner.position, corner.name), (end.position, end.name)], edge);
        } else {
            self.set_point(corner.position, corner.name);
        }
    }
}
