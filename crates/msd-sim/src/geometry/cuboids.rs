//! Contact manifolds of two boxes: one rectangle clipped to another, in the plane of one of them.

use super::edge::Edge;
use super::feature::{self, FeatureKey};
use super::manifold::{FeatureId, Manifold, PairMemory};
use super::pair::{FACE_PREFERENCE, HYSTERESIS, Reference, Side};
use super::reduce::widest;
use super::sat::{Axis, CuboidFrames};
use crate::math::{Mat3, Pose, Vec3, inverse_rotate, largest_axis};

/// Same value as `SLACK` in `clip.rs`.
const SLACK: f64 = super::clip::SLACK;

/// A face of a box: the axis perpendicular to it, and the side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Face {
    axis: usize,
    positive: bool,
}

impl Face {
    /// Returns the face whose normal is nearest a direction.
    fn facing(d: Vec3) -> Self {
        let axis = largest_axis(d.abs());
        Self { axis, positive: d[axis] > 0.0 }
    }

    fn from_key(key: FeatureKey) -> Option<Self> {
        let axis = key.0 as usize / 2;
        (axis < 3).then_some(Self { axis, positive: key.0 % 2 == 1 })
    }

    fn key(self) -> FeatureKey {
        feature::cuboid_face(self.axis, self.positive)
    }

    fn sign(self) -> f64 {
        if self.positive { 1.0 } else { -1.0 }
    }
}

/// Two boxes in each other's frames, and the margin within which contact points are wanted.
pub(super) struct CuboidPair<'a> {
    pub frames: CuboidFrames,
    pub rotation: &'a Mat3,
    pub poses: [&'a Pose; 2],
    pub margin: f64,
}

impl CuboidPair<'_> {
    /// Fills an empty manifold, in the world frame; it stays empty if the boxes are separated.
    /// Returns the id of the facing features if no face or edge point qualifies, because corners
    /// are nearest.
    pub fn fill_manifold(
        &self,
        memory: &mut PairMemory,
        manifold: &mut Manifold,
    ) -> Option<FeatureId> {
        let was_separated = memory.was_separated();
        if memory.record_separation(self.frames.distance_lower_bound(), self.margin) {
            memory.separating_axis = Vec3::ZERO;
            return None;
        }
        // Boxes separated along an edge axis usually stay so along the same axis.
        if was_separated
            && memory.record_separation(self.frames.gap_along(memory.separating_axis), self.margin)
        {
            return None;
        }
        let size = 2.0 * self.frames.half[0].min(self.frames.half[1]).min_element();
        let axis = self.frames.axis(self.margin, FACE_PREFERENCE * size);
        if memory.record_separation(axis.gap, self.margin) {
            memory.separating_axis = axis.normal;
            return None;
        }
        if axis.gap.is_nan() {
            return None;
        }
        let (reference, faces) = self.reference(&axis, size, memory.reference);
        memory.reference = reference.map(|(side, face)| Reference { side, face: face.key() });
        let id = match (reference, axis.edges) {
            (Some((side, face)), _) => {
                self.face_contact(side, face, size, manifold);
                FeatureId::new(faces[0].key(), faces[1].key())
            }
            (None, Some(edges)) => self.edge_contact(axis.normal, edges, manifold),
            (None, None) => FeatureId::default(),
        };
        let enough = -axis.gap - FACE_PREFERENCE * size;
        (manifold.is_empty() || manifold.depth() < enough).then_some(id)
    }

    /// Returns the gap between the plane of a face and the other box, negative if it reaches behind
    /// the plane.
    fn gap_beyond(&self, side: Side, face: Face) -> f64 {
        let towards = if side == Side::A { face.sign() } else { -face.sign() };
        let side = side as usize;
        towards * self.frames.between[side][face.axis] - self.frames.touching[side][face.axis]
    }

    /// Returns the reference face, chosen as for any other pair, and the two faces that face each
    /// other.
    fn reference(
        &self,
        axis: &Axis,
        size: f64,
        before: Option<Reference>,
    ) -> (Option<(Side, Face)>, [Face; 2]) {
        let advantage = HYSTERESIS * size;
        let n = axis.normal;
        let faces = [Face::facing(n), Face::facing(-inverse_rotate(self.rotation, n))];
        let [a, b] = [(Side::A, faces[0]), (Side::B, faces[1])];
        let mut gaps = [self.gap_beyond(a.0, a.1), self.gap_beyond(b.0, b.1)];
        let before = before.and_then(|r| Some((r.side, Face::from_key(r.face)?)));
        let favored = before.unwrap_or(a);
        gaps[0] += if favored == a { advantage } else { 0.0 };
        gaps[1] += if favored == b { advantage } else { 0.0 };
        let mut best = if gaps[1] > gaps[0] { (gaps[1], b) } else { (gaps[0], a) };
        if favored != a && favored != b {
            let gap = self.gap_beyond(favored.0, favored.1) + advantage;
            if gap > best.0 {
                best = (gap, favored);
            }
        }
        let enough = axis.gap - FACE_PREFERENCE * size;
        ((best.0 >= enough).then_some(best.1), faces)
    }

    /// Returns the axes and the center of the other box in the frame of one.
    fn other(&self, side: Side) -> ([Vec3; 3], Vec3) {
        let [x, y, z] = self.frames.axes;
        match side {
            Side::A => ([x, y, z], self.frames.between[0]),
            Side::B => (
                [Vec3::new(x.x, y.x, z.x), Vec3::new(x.y, y.y, z.y), Vec3::new(x.z, y.z, z.z)],
                -self.frames.between[1],
            ),
        }
    }

    /// Adds the points of the other box over a face.
    fn face_contact(&self, side: Side, face: Face, size: f64, manifold: &mut Manifold) {
        let (half, other_half) = match side {
            Side::A => (self.frames.half[0], self.frames.half[1]),
            Side::B => (self.frames.half[1], self.frames.half[0]),
        };
        let (axes, middle) = self.other(side);
        let (k, sign) = (face.axis, face.sign());
        let [u, v] = [(k + 1) % 3, (k + 2) % 3];
        // The other box's face that faces this one, in coordinates u, v and height over the face.
        let incident = Face::facing(Vec3::new(axes[0][k], axes[1][k], axes[2][k]) * -sign);
        let flat = |p: Vec3| Vec3::new(p[u], p[v], p[k] * sign);
        let [j1, j2] = [(incident.axis + 1) % 3, (incident.axis + 2) % 3];
        let (along_1, along_2) = (flat(axes[j1] * other_half[j1]), flat(axes[j2] * other_half[j2]));
        let out = axes[incident.axis] * (other_half[incident.axis] * incident.sign());
        let center = flat(middle + out) - Vec3::new(0.0, 0.0, half[k]);
        let (there, here) = (Outline::of(incident), Outline::of(face));
        let (polygon, spare) = (&mut Polygon::default(), &mut Polygon::default());
        for (i, (s1, s2)) in (0..).zip(there.corners) {
            let position = center + (along_1 * s1 + along_2 * s2);
            polygon.push(ClipVertex { position, reference: FACE, incident: i, edge: EDGE + i });
        }
        let (mut polygon, mut spare) = (polygon, spare);
        for i in 0..4 {
            let (along_u, positive) = here.side(i);
            let s = if positive { 1.0 } else { -1.0 };
            let (u, v) = (half[u] + SLACK * size, half[v] + SLACK * size);
            let changed = if along_u {
                polygon.clip(i, spare, |p| s * p.x - u)
            } else {
                polygon.clip(i, spare, |p| s * p.y - v)
            };
            if changed {
                std::mem::swap(&mut polygon, &mut spare);
            }
        }
        polygon.keep_within(self.margin);
        polygon.reduce(size);
        let pose = self.poses[side as usize];
        let turn = Mat3::from_quat(pose.rotation);
        let normal = [turn.x_axis, turn.y_axis, turn.z_axis][k] * sign;
        manifold.normal = if side == Side::A { normal } else { -normal };
        for vertex in polygon.vertices() {
            let mut position = Vec3::ZERO;
            position[u] = vertex.position.x;
            position[v] = vertex.position.y;
            position[k] = sign * (half[k] + 0.5 * vertex.position.z);
            let (on_reference, on_incident) =
                (here.key(vertex.reference), there.key(vertex.incident));
            let feature = match side {
                Side::A => FeatureId::new(on_reference, on_incident),
                Side::B => FeatureId::new(on_incident, on_reference),
            };
            manifold.push(turn * position + pose.position, -vertex.position.z, feature);
        }
    }

    /// Sets the manifold to the contact of two edges and returns their id.
    fn edge_contact(&self, n: Vec3, [i, j]: [usize; 2], manifold: &mut Manifold) -> FeatureId {
        let on_b = -inverse_rotate(self.rotation, n);
        let [a, mut b] = [(0, n, i), (1, on_b, j)].map(|(side, n, along)| {
            let mut ends = [self.frames.half[side].copysign(n); 2];
            ends[0][along] = -ends[0][along].abs();
            ends[1][along] = -ends[0][along];
            let corner = |p: Vec3| {
                u32::from(p.x > 0.0) | u32::from(p.y > 0.0) << 1 | u32::from(p.z > 0.0) << 2
            };
            let [p, q] = ends.map(corner);
            let key = feature::cuboid_edge(p, q);
            Edge { ends, keys: [p, q].map(FeatureKey::vertex), key }
        });
        b.ends = b.ends.map(|p| *self.rotation * p + self.frames.between[0]);
        *manifold = a.contact(&b, n, self.margin).transformed(self.poses[0]);
        FeatureId::new(a.key, b.key)
    }
}

/// The outline of a face: its corners counter-clockwise from outside, by their signs along the next
/// two axes.
struct Outline {
    face: Face,
    corners: [(f64, f64); 4],
    indices: [u32; 4],
}

impl Outline {
    fn of(face: Face) -> Self {
        let corners = if face.positive {
            [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        } else {
            [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)]
        };
        let indices = feature::cuboid_corners(face.axis, face.positive);
        Self { face, corners, indices }
    }

    /// Returns the key of the face, or of one of its corners or edges.
    fn key(&self, part: u8) -> FeatureKey {
        let corner = |i: u8| self.indices[i as usize % 4];
        match part {
            FACE => self.face.key(),
            EDGE.. => feature::cuboid_edge(corner(part), corner(part + 1)),
            _ => FeatureKey::vertex(corner(part)),
        }
    }

    /// Returns whether an edge bounds the first coordinate (else the second), and whether on the
    /// positive side.
    fn side(&self, edge: u8) -> (bool, bool) {
        // Around a positive face the edges are at v, -u, -v, u; around a negative one at u, -v, -u,
        // v.
        ((edge % 2 == 1) == self.face.positive, edge == 0 || edge == 3)
    }
}

/// Parts of a face: corners are numbered from 0, edges from `EDGE`; `FACE` is the face itself.
const EDGE: u8 = 4;
const FACE: u8 = 8;

/// A vertex of the outline being clipped.
#[derive(Clone, Copy, Default)]
struct ClipVertex {
    /// Coordinates in the reference's plane, and the height over it.
    position: Vec3,
    /// The parts of the two faces that meet here.
    reference: u8,
    incident: u8,
    /// The edge to the next vertex: the incident face's, or above [`FACE`] the reference's.
    edge: u8,
}

/// A rectangle clipped at four lines has at most eight corners.
const MAX_VERTICES: usize = 8;

#[derive(Clone, Copy, Default)]
struct Polygon {
    vertices: [ClipVertex; MAX_VERTICES],
    len: usize,
}

impl Polygon {
    fn vertices(&self) -> &[ClipVertex] {
        &self.vertices[..self.len.min(MAX_VERTICES)]
    }

    #[inline]
    fn push(&mut self, vertex: ClipVertex) {
        if let Some(slot) = self.vertices.get_mut(self.len) {
            *slot = vertex;
            self.len += 1;
        }
    }

    /// Clips the outline at an edge of the reference into `to`; `beyond` is a point's signed
    /// distance outside that edge. Returns false if all of the outline is inside.
    #[inline]
    fn clip(&self, side: u8, to: &mut Self, beyond: impl Fn(Vec3) -> f64) -> bool {
        let vertices = self.vertices();
        if vertices.iter().all(|vertex| beyond(vertex.position) <= 0.0) {
            return false;
        }
        to.len = 0;
        let Some(mut next) = vertices.first() else { return false };
        let mut there = beyond(next.position);
        for at in 1..=vertices.len() {
            let (vertex, here) = (next, there);
            next = vertices.get(at).unwrap_or(&vertices[0]);
            there = beyond(next.position);
            let inside = here <= 0.0;
            if inside {
                to.push(*vertex);
            }
            if inside == (there <= 0.0) {
                continue;
            }
            let (reference, incident) = if vertex.edge > FACE {
                // Two sides of the reference meet at one of its corners.
                let previous = vertex.edge == FACE + 1 + (side + 3) % 4;
                (if previous { side } else { (side + 1) % 4 }, FACE)
            } else {
                (EDGE + side, vertex.edge)
            };
            to.push(ClipVertex {
                position: vertex.position.lerp(next.position, here / (here - there)),
                reference,
                incident,
                edge: if inside { FACE + 1 + side } else { vertex.edge },
            });
        }
        true
    }

    /// Drops the vertices higher than the margin.
    fn keep_within(&mut self, margin: f64) {
        let mut kept = 0;
        for i in 0..self.len {
            if self.vertices[i].position.z <= margin {
                self.vertices[kept] = self.vertices[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Reduces up to eight points to four, as for any other pair.
    fn reduce(&mut self, size: f64) {
        if self.len <= 4 {
            return;
        }
        let vertices = &mut self.vertices[..self.len];
        let least = vertices.iter().map(|vertex| vertex.position.z).fold(f64::INFINITY, f64::min);
        let limit = least + super::reduce::SAME_DEPTH * size;
        let deepest = vertices.iter().position(|vertex| vertex.position.z <= limit).unwrap_or(0);
        vertices.swap(0, deepest);
        let origin = vertices[0].position;
        let mut plan = [[0.0; 2]; MAX_VERTICES];
        for (place, vertex) in plan.iter_mut().zip(vertices.iter()) {
            *place = [vertex.position.x - origin.x, vertex.position.y - origin.y];
        }
        let chosen = widest(&plan[..self.len]).map(|i| self.vertices[i]);
        self.len = 1;
        for vertex in chosen {
            if self.vertices().iter().all(|kept| kept.position != vertex.position) {
                self.push(vertex);
            }
        }
    }
}
