//! Contacts of two boxes: rectangles cut to rectangles, in the plane of one of them.

use super::edge::Edge;
use super::feature::{self, FeatureName};
use super::manifold::{FeatureId, Manifold, PairMemory};
use super::pair::{FACE_PREFERENCE, HYSTERESIS, Reference, Side};
use super::reduce::widest;
use super::sat::{Axis, Cuboids};
use crate::math::{Mat3, Pose, Vec3, largest_axis, unrotate};

/// See the general clipper's.
const SLACK: f64 = super::clip::SLACK;

/// A face of a box: across which axis, and on which side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Face {
    axis: usize,
    positive: bool,
}

impl Face {
    /// The face whose normal is nearest a direction.
    fn facing(d: Vec3) -> Self {
        let axis = largest_axis(d.abs());
        Self { axis, positive: d[axis] > 0.0 }
    }

    fn named(name: FeatureName) -> Option<Self> {
        let axis = name.0 as usize / 2;
        (axis < 3).then_some(Self { axis, positive: name.0 % 2 == 1 })
    }

    fn name(self) -> FeatureName {
        feature::cuboid_face(self.axis, self.positive)
    }

    fn sign(self) -> f64 {
        if self.positive { 1.0 } else { -1.0 }
    }
}

/// Two boxes and what is asked of them.
pub(super) struct Boxes<'a> {
    pub boxes: Cuboids,
    pub rotation: &'a Mat3,
    pub poses: [&'a Pose; 2],
    pub margin: f64,
}

impl Boxes<'_> {
    /// Fills an empty manifold, in the world; it stays empty if they are apart. Where corners come
    /// nearest, says of what features.
    pub fn touch(&self, memory: &mut PairMemory, manifold: &mut Manifold) -> Option<FeatureId> {
        let was_apart = memory.was_apart();
        if memory.is_apart(self.boxes.least_distance(), self.margin) {
            memory.apart = Vec3::ZERO;
            return None;
        }
        // Across edges, they stay apart along the same direction.
        if was_apart && memory.is_apart(self.boxes.gap_along(memory.apart), self.margin) {
            return None;
        }
        let size = 2.0 * self.boxes.half[0].min(self.boxes.half[1]).min_element();
        let axis = self.boxes.axis(self.margin, FACE_PREFERENCE * size);
        if memory.is_apart(axis.gap, self.margin) {
            memory.apart = axis.normal;
            return None;
        }
        if axis.gap.is_nan() {
            return None;
        }
        let (reference, faces) = self.reference(&axis, size, memory.reference);
        memory.reference = reference.map(|(side, face)| Reference { side, face: face.name() });
        let id = match (reference, axis.edges) {
            (Some((side, face)), _) => {
                self.on_face(side, face, size, manifold);
                FeatureId::new(faces[0].name(), faces[1].name())
            }
            (None, Some(edges)) => self.on_edges(axis.normal, edges, manifold),
            (None, None) => FeatureId::default(),
        };
        let enough = -axis.gap - FACE_PREFERENCE * size;
        (manifold.is_empty() || manifold.depth() < enough).then_some(id)
    }

    /// How far all of the other box lies beyond the plane of a face.
    fn gap_beyond(&self, side: Side, face: Face) -> f64 {
        let towards = if side == Side::A { face.sign() } else { -face.sign() };
        let side = side as usize;
        towards * self.boxes.between[side][face.axis] - self.boxes.touching[side][face.axis]
    }

    /// The reference, chosen as for any other pair, and the faces that face each other.
    fn reference(
        &self,
        axis: &Axis,
        size: f64,
        before: Option<Reference>,
    ) -> (Option<(Side, Face)>, [Face; 2]) {
        let advantage = HYSTERESIS * size;
        let n = axis.normal;
        let faces = [Face::facing(n), Face::facing(-unrotate(self.rotation, n))];
        let [a, b] = [(Side::A, faces[0]), (Side::B, faces[1])];
        let mut gaps = [self.gap_beyond(a.0, a.1), self.gap_beyond(b.0, b.1)];
        let before = before.and_then(|r| Some((r.side, Face::named(r.face)?)));
        let favoured = before.unwrap_or(a);
        gaps[0] += if favoured == a { advantage } else { 0.0 };
        gaps[1] += if favoured == b { advantage } else { 0.0 };
        let mut best = if gaps[1] > gaps[0] { (gaps[1], b) } else { (gaps[0], a) };
        if favoured != a && favoured != b {
            let gap = self.gap_beyond(favoured.0, favoured.1) + advantage;
            if gap > best.0 {
                best = (gap, favoured);
            }
        }
        let enough = axis.gap - FACE_PREFERENCE * size;
        ((best.0 >= enough).then_some(best.1), faces)
    }

    /// The axes and the middle of the other box in the frame of one.
    fn other(&self, side: Side) -> ([Vec3; 3], Vec3) {
        let [x, y, z] = self.boxes.axes;
        match side {
            Side::A => ([x, y, z], self.boxes.between[0]),
            Side::B => (
                [Vec3::new(x.x, y.x, z.x), Vec3::new(x.y, y.y, z.y), Vec3::new(x.z, y.z, z.z)],
                -self.boxes.between[1],
            ),
        }
    }

    /// Points of the other box over a face.
    fn on_face(&self, side: Side, face: Face, size: f64, manifold: &mut Manifold) {
        let (half, other_half) = match side {
            Side::A => (self.boxes.half[0], self.boxes.half[1]),
            Side::B => (self.boxes.half[1], self.boxes.half[0]),
        };
        let (axes, middle) = self.other(side);
        let (k, sign) = (face.axis, face.sign());
        let [u, v] = [(k + 1) % 3, (k + 2) % 3];
        // The face of the other that looks at this one, in coordinates u, v and height over the face.
        let incident = Face::facing(Vec3::new(axes[0][k], axes[1][k], axes[2][k]) * -sign);
        let flat = |p: Vec3| Vec3::new(p[u], p[v], p[k] * sign);
        let [j1, j2] = [(incident.axis + 1) % 3, (incident.axis + 2) % 3];
        let (along_1, along_2) = (flat(axes[j1] * other_half[j1]), flat(axes[j2] * other_half[j2]));
        let out = axes[incident.axis] * (other_half[incident.axis] * incident.sign());
        let centre = flat(middle + out) - Vec3::new(0.0, 0.0, half[k]);
        let (there, here) = (Outline::of(incident), Outline::of(face));
        let (polygon, spare) = (&mut Polygon::default(), &mut Polygon::default());
        for (i, (s1, s2)) in (0..).zip(there.corners) {
            let position = centre + (along_1 * s1 + along_2 * s2);
            polygon.push(Node { position, reference: FACE, incident: i, edge: EDGE + i });
        }
        let (mut polygon, mut spare) = (polygon, spare);
        for i in 0..4 {
            let (along_u, positive) = here.side(i);
            let s = if positive { 1.0 } else { -1.0 };
            let (u, v) = (half[u] + SLACK * size, half[v] + SLACK * size);
            let changed = if along_u {
                polygon.cut(i, spare, |p| s * p.x - u)
            } else {
                polygon.cut(i, spare, |p| s * p.y - v)
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
        for node in polygon.nodes() {
            let mut position = Vec3::ZERO;
            position[u] = node.position.x;
            position[v] = node.position.y;
            position[k] = sign * (half[k] + 0.5 * node.position.z);
            let (on_reference, on_incident) =
                (here.name(node.reference), there.name(node.incident));
            let feature = match side {
                Side::A => FeatureId::new(on_reference, on_incident),
                Side::B => FeatureId::new(on_incident, on_reference),
            };
            manifold.push(turn * position + pose.position, -node.position.z, feature);
        }
    }

    /// The contact of two edges; their name.
    fn on_edges(&self, n: Vec3, [i, j]: [usize; 2], manifold: &mut Manifold) -> FeatureId {
        let on_b = -unrotate(self.rotation, n);
        let [a, mut b] = [(0, n, i), (1, on_b, j)].map(|(side, n, along)| {
            let mut ends = [self.boxes.half[side].copysign(n); 2];
            ends[0][along] = -ends[0][along].abs();
            ends[1][along] = -ends[0][along];
            let corner = |p: Vec3| {
                u32::from(p.x > 0.0) | u32::from(p.y > 0.0) << 1 | u32::from(p.z > 0.0) << 2
            };
            let [p, q] = ends.map(corner);
            let name = feature::cuboid_edge(p, q);
            Edge { ends, names: [p, q].map(FeatureName::vertex), name }
        });
        b.ends = b.ends.map(|p| *self.rotation * p + self.boxes.between[0]);
        *manifold = a.touch(&b, n, self.margin).placed(self.poses[0]);
        FeatureId::new(a.name, b.name)
    }
}

/// The outline of a face: its corners counter-clockwise from outside, by their sides along the next
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

    /// The name of the face, or of one of its corners or edges.
    fn name(&self, part: u8) -> FeatureName {
        let corner = |i: u8| self.indices[i as usize % 4];
        match part {
            FACE => self.face.name(),
            EDGE.. => feature::cuboid_edge(corner(part), corner(part + 1)),
            _ => FeatureName::vertex(corner(part)),
        }
    }

    /// Whether an edge bounds the first coordinate, else the second, and on the positive side.
    fn side(&self, edge: u8) -> (bool, bool) {
        // Round a positive face the edges are at v, -u, -v, u; round a negative one at u, -v, -u, v.
        ((edge % 2 == 1) == self.face.positive, edge == 0 || edge == 3)
    }
}

/// Parts of a face: its corners are numbered from 0, its edges from here; then itself.
const EDGE: u8 = 4;
const FACE: u8 = 8;

/// A corner of the outline as it is cut.
#[derive(Clone, Copy, Default)]
struct Node {
    /// In the reference's plane, and the height over it.
    position: Vec3,
    /// Which parts of the two faces meet here.
    reference: u8,
    incident: u8,
    /// The edge to the next node: the incident face's, or beyond [`FACE`] the reference's.
    edge: u8,
}

/// A rectangle cut at four lines has eight corners at most.
const MOST: usize = 8;

#[derive(Clone, Copy, Default)]
struct Polygon {
    nodes: [Node; MOST],
    len: usize,
}

impl Polygon {
    fn nodes(&self) -> &[Node] {
        &self.nodes[..self.len.min(MOST)]
    }

    #[inline]
    fn push(&mut self, node: Node) {
        if let Some(slot) = self.nodes.get_mut(self.len) {
            *slot = node;
            self.len += 1;
        }
    }

    /// Cuts the outline at an edge of the reference, which a point is `beyond` by so much; false if
    /// all of it is inside.
    #[inline]
    fn cut(&self, side: u8, to: &mut Self, beyond: impl Fn(Vec3) -> f64) -> bool {
        let nodes = self.nodes();
        if nodes.iter().all(|node| beyond(node.position) <= 0.0) {
            return false;
        }
        to.len = 0;
        let Some(mut next) = nodes.first() else { return false };
        let mut there = beyond(next.position);
        for at in 1..=nodes.len() {
            let (node, here) = (next, there);
            next = nodes.get(at).unwrap_or(&nodes[0]);
            there = beyond(next.position);
            let inside = here <= 0.0;
            if inside {
                to.push(*node);
            }
            if inside == (there <= 0.0) {
                continue;
            }
            let (reference, incident) = if node.edge > FACE {
                // Two sides of the reference meet in one of its corners.
                let previous = node.edge == FACE + 1 + (side + 3) % 4;
                (if previous { side } else { (side + 1) % 4 }, FACE)
            } else {
                (EDGE + side, node.edge)
            };
            to.push(Node {
                position: node.position.lerp(next.position, here / (here - there)),
                reference,
                incident,
                edge: if inside { FACE + 1 + side } else { node.edge },
            });
        }
        true
    }

    /// Leaves out what is higher than the margin.
    fn keep_within(&mut self, margin: f64) {
        let mut kept = 0;
        for i in 0..self.len {
            if self.nodes[i].position.z <= margin {
                self.nodes[kept] = self.nodes[i];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// From up to eight points to four, as for any other pair.
    fn reduce(&mut self, size: f64) {
        if self.len <= 4 {
            return;
        }
        let nodes = &mut self.nodes[..self.len];
        let least = nodes.iter().map(|node| node.position.z).fold(f64::INFINITY, f64::min);
        let limit = least + super::reduce::SAME_DEPTH * size;
        let deepest = nodes.iter().position(|node| node.position.z <= limit).unwrap_or(0);
        nodes.swap(0, deepest);
        let origin = nodes[0].position;
        let mut plan = [[0.0; 2]; MOST];
        for (place, node) in plan.iter_mut().zip(nodes.iter()) {
            *place = [node.position.x - origin.x, node.position.y - origin.y];
        }
        let chosen = widest(&plan[..self.len]).map(|i| self.nodes[i]);
        self.len = 1;
        for node in chosen {
            if self.nodes().iter().all(|kept| kept.position != node.position) {
                self.push(node);
            }
        }
    }
}
