//! Where two features lie over each other: the incident one cut to the outline of the reference.
//!
//! Everything is looked at along the reference's normal. Polygons are cut side by side (Sutherland
//! and Hodgman, 1974), segments by their interval, and discs by where an outline crosses the rim.

use super::feature::{Corner, Feature, FeatureKind, FeatureName};
use crate::math::Vec3;

/// A point of the incident feature over the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClipPoint {
    pub position: Vec3,
    /// How far it lies beyond the reference's plane, negative behind it.
    pub gap: f64,
    pub on_reference: FeatureName,
    pub on_incident: FeatureName,
}

/// Working memory of [`Clipper::clip`]; `points` is its answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clipper {
    pub points: Vec<ClipPoint>,
    outline: Vec<Node>,
    spare: Vec<Node>,
}

/// A corner of the outline as it is cut.
#[derive(Clone, Copy, Debug)]
struct Node {
    position: Vec3,
    on_reference: FeatureName,
    on_incident: FeatureName,
    /// The edge to the next node, and whose edge that is.
    edge: FeatureName,
    edge_of_reference: bool,
}

/// Points outside by no more than this, relative to the smaller shape's width, are inside: two equal
/// faces on top of each other keep their corners, and the corners' names, whatever rounding says.
pub(super) const SLACK: f64 = 1e-5;

/// A face steeper than this cosine to the reference is not carried over along its normal.
const STEEP: f64 = 1e-3;

/// Discs that enclose a larger cosine lie flat on each other.
const FLAT: f64 = 0.999;

impl Clipper {
    /// Fills `points` with the incident feature's points over the reference face, of which those
    /// with a gap of more than `limit` are left out. `size` is the smaller shape's width.
    pub fn clip(&mut self, reference: &Feature, incident: &Feature, limit: f64, size: f64) {
        self.points.clear();
        self.outline.clear();
        self.outline.extend(incident.corners.iter().map(|corner| Node {
            position: corner.position,
            on_reference: reference.name,
            on_incident: corner.name,
            edge: corner.edge,
            edge_of_reference: false,
        }));
        let slack = SLACK * size;
        let rim = match (reference.kind, incident.kind) {
            (FeatureKind::Disc { .. }, FeatureKind::Disc { .. }) => {
                // One disc over all of the other: its outline is that of the contact.
                let all = |outer: &Feature, inner: &Feature| {
                    let n = reference.normal;
                    inner.corners.iter().all(|c| covers(outer, c.position, n, slack))
                };
                self.outline.clear();
                if all(incident, reference) {
                    Some((reference, incident))
                } else if all(reference, incident) {
                    Some((incident, reference))
                } else {
                    self.cross_rims(reference, incident);
                    self.add_rim(reference, incident, incident, reference, limit, slack);
                    Some((reference, incident))
                }
            }
            (FeatureKind::Disc { centre, radius }, _) => {
                self.cut_to_disc(reference.normal, centre, radius, slack);
                Some((reference, incident))
            }
            (FeatureKind::Polygon, FeatureKind::Disc { centre, radius }) => {
                // The other way round: the reference's outline, carried over to the disc's plane.
                self.set_outline_of_reference(reference, incident);
                self.cut_to_disc(incident.normal, centre, radius, slack);
                Some((incident, reference))
            }
            (_, FeatureKind::Polygon) => {
                self.cut_to_polygon(reference, incident.name, slack);
                None
            }
            _ => {
                self.cut_segment(reference, slack);
                None
            }
        };
        for node in &self.outline {
            let gap = reference.normal.dot(node.position - reference.anchor);
            if gap <= limit {
                self.points.push(ClipPoint {
                    position: node.position,
                    gap,
                    on_reference: node.on_reference,
                    on_incident: node.on_incident,
                });
            }
        }
        if let Some((disc, outline)) = rim {
            self.add_rim(reference, incident, disc, outline, limit, slack);
        }
    }

    fn cut_to_polygon(&mut self, reference: &Feature, incident: FeatureName, slack: f64) {
        let corners = &reference.corners;
        for (i, corner) in corners.iter().enumerate() {
            let next = &corners[(i + 1) % corners.len()];
            let outward = (next.position - corner.position).cross(reference.normal);
            let limit = outward.dot(corner.position) + slack * outward.length();
            let mut inside = 0;
            for node in &self.outline {
                inside += usize::from(outward.dot(node.position) <= limit);
            }
            if inside == self.outline.len() {
                continue;
            }
            self.spare.clear();
            if inside > 0 {
                let previous = &corners[(i + corners.len() - 1) % corners.len()];
                let cut = Cut { outward, limit, previous, corner, next, incident };
                cut.polygon(&self.outline, &mut self.spare);
            }
            std::mem::swap(&mut self.outline, &mut self.spare);
            if self.outline.is_empty() {
                return;
            }
        }
    }

    /// Cuts a segment, or keeps or drops a point.
    fn cut_segment(&mut self, reference: &Feature, slack: f64) {
        let (Some(&first), Some(&last)) = (self.outline.first(), self.outline.last()) else {
            return;
        };
        let mut ends = [first, last];
        let corners = &reference.corners;
        for (i, corner) in corners.iter().enumerate() {
            let next = &corners[(i + 1) % corners.len()];
            let outward = (next.position - corner.position).cross(reference.normal);
            let limit = outward.dot(corner.position) + slack * outward.length();
            let beyond = ends.map(|end| outward.dot(end.position) - limit);
            match (beyond[0] > 0.0, beyond[1] > 0.0) {
                (false, false) => {}
                (true, true) => {
                    self.outline.clear();
                    return;
                }
                (first_out, _) => {
                    let t = beyond[0] / (beyond[0] - beyond[1]);
                    let position = ends[0].position.lerp(ends[1].position, t);
                    let end = &mut ends[usize::from(!first_out)];
                    *end = Node {
                        position,
                        on_reference: corner.edge,
                        // Both ends could be cut: the name says which one this was.
                        on_incident: end.on_incident,
                        ..*end
                    };
                }
            }
        }
        let count = self.outline.len();
        self.outline.clear();
        self.outline.extend_from_slice(&ends[..count.min(2)]);
    }

    /// The reference's corners, moved along its normal onto the incident feature's plane.
    fn set_outline_of_reference(&mut self, reference: &Feature, incident: &Feature) {
        self.outline.clear();
        for corner in &reference.corners {
            if let Some(position) = carried(corner.position, reference.normal, incident) {
                self.outline.push(Node {
                    position,
                    on_reference: corner.name,
                    on_incident: incident.name,
                    edge: corner.edge,
                    edge_of_reference: true,
                });
            }
        }
    }

    /// Keeps the outline's corners that lie over a disc, seen along its normal `n`, and adds where
    /// the sides cross the rim.
    fn cut_to_disc(&mut self, n: Vec3, centre: Vec3, radius: f64, slack: f64) {
        let flat = |p: Vec3| {
            let d = p - centre;
            d - n * n.dot(d)
        };
        let limit = (radius + slack) * (radius + slack);
        std::mem::swap(&mut self.outline, &mut self.spare);
        self.outline.clear();
        let nodes = &self.spare;
        // A segment has one side, a point none.
        let sides = if nodes.len() > 2 { nodes.len() } else { nodes.len().saturating_sub(1) };
        for (i, node) in nodes.iter().enumerate() {
            let p = flat(node.position);
            let inside = p.length_squared() <= limit;
            if inside {
                self.outline.push(*node);
            }
            if i >= sides {
                continue;
            }
            let next = &nodes[(i + 1) % nodes.len()];
            let q = flat(next.position);
            if inside && q.length_squared() <= limit {
                continue;
            }
            // |p + t (q - p)| = radius
            let along = q - p;
            let square = along.length_squared();
            let half = p.dot(along);
            let root = half * half - square * (p.length_squared() - radius * radius);
            // A side that hardly enters the disc only touches it.
            if root <= square * (2.0 * radius * slack) {
                continue;
            }
            for (k, t) in [(0, (-half - root.sqrt()) / square), (1, (-half + root.sqrt()) / square)]
            {
                if t > 0.0 && t < 1.0 {
                    let rim = FeatureName::edge(RIM_CROSSING + k);
                    let (on_reference, on_incident) =
                        if node.edge_of_reference { (node.edge, rim) } else { (rim, node.edge) };
                    let position = node.position.lerp(next.position, t);
                    self.outline.push(Node { position, on_reference, on_incident, ..*node });
                }
            }
        }
    }

    /// Where the rims of two discs cross, seen along the reference's normal. Where they tilt so much
    /// that the other rim is no circle, only one point of it touches, and crossings do not matter.
    fn cross_rims(&mut self, reference: &Feature, incident: &Feature) {
        let (
            FeatureKind::Disc { centre, radius },
            FeatureKind::Disc { centre: other, radius: other_radius },
        ) = (reference.kind, incident.kind)
        else {
            return;
        };
        let n = reference.normal;
        if incident.normal.dot(n).abs() < FLAT {
            return;
        }
        let between = other - centre;
        let between = between - n * n.dot(between);
        let square = between.length_squared();
        // Along the line of centres, in units of their distance; then across it.
        let along = 0.5 + 0.5 * (radius - other_radius) * (radius + other_radius) / square;
        let across = radius * radius / square - along * along;
        if !(across > 0.0) {
            return;
        }
        let side = n.cross(between) * across.sqrt();
        for (k, side) in [(0, side), (1, -side)] {
            if let Some(position) = carried(centre + between * along + side, n, incident) {
                let rim = FeatureName::edge(RIM_CROSSING + k);
                self.outline.push(Node {
                    position,
                    on_reference: rim,
                    on_incident: rim,
                    edge: rim,
                    edge_of_reference: false,
                });
            }
        }
    }

    /// Adds the points of a disc's rim that lie inside the other feature's outline.
    fn add_rim(
        &mut self,
        reference: &Feature,
        incident: &Feature,
        disc: &Feature,
        outline: &Feature,
        limit: f64,
        slack: f64,
    ) {
        if !outline.is_face() {
            return;
        }
        let n = reference.normal;
        for corner in &disc.corners {
            if !covers(outline, corner.position, n, slack) {
                continue;
            }
            let Some(position) = carried(corner.position, n, incident) else { continue };
            let gap = n.dot(position - reference.anchor);
            let of_reference = std::ptr::eq(disc, reference);
            if gap <= limit {
                self.points.push(ClipPoint {
                    position,
                    gap,
                    on_reference: if of_reference { corner.name } else { reference.name },
                    on_incident: if of_reference { incident.name } else { corner.name },
                });
            }
        }
    }
}

/// Names where a side enters (even) and leaves (odd) a disc.
const RIM_CROSSING: u32 = 1 << 29;

/// One side of the reference that an outline is cut at.
struct Cut<'a> {
    outward: Vec3,
    limit: f64,
    previous: &'a Corner,
    corner: &'a Corner,
    next: &'a Corner,
    incident: FeatureName,
}

impl Cut<'_> {
    fn polygon(&self, from: &[Node], to: &mut Vec<Node>) {
        let beyond = |node: &Node| self.outward.dot(node.position) - self.limit;
        let mut here = beyond(&from[0]);
        for (i, node) in from.iter().enumerate() {
            let next = &from[(i + 1) % from.len()];
            let there = beyond(next);
            if here <= 0.0 {
                to.push(*node);
            }
            if (here <= 0.0) != (there <= 0.0) {
                let position = node.position.lerp(next.position, here / (here - there));
                to.push(self.crossing(node, position, here <= 0.0));
            }
            here = there;
        }
    }

    fn crossing(&self, node: &Node, position: Vec3, leaves: bool) -> Node {
        let (on_reference, on_incident) = if node.edge_of_reference {
            // Two sides of the reference meet in one of its corners.
            let corner =
                if node.edge == self.previous.edge { self.corner.name } else { self.next.name };
            (corner, self.incident)
        } else {
            (self.corner.edge, node.edge)
        };
        let (edge, edge_of_reference) =
            if leaves { (self.corner.edge, true) } else { (node.edge, node.edge_of_reference) };
        Node { position, on_reference, on_incident, edge, edge_of_reference }
    }
}

/// `point` moved along `n` onto the plane of `onto`, if that is not too steep.
fn carried(point: Vec3, n: Vec3, onto: &Feature) -> Option<Vec3> {
    let slope = onto.normal.dot(n);
    (slope.abs() > STEEP).then(|| point + n * (onto.normal.dot(onto.anchor - point) / slope))
}

/// Whether a face's outline, seen along `n`, holds `point`.
fn covers(face: &Feature, point: Vec3, n: Vec3, slack: f64) -> bool {
    match face.kind {
        FeatureKind::Disc { centre, radius } => carried(point, n, face)
            .is_some_and(|p| p.distance_squared(centre) <= (radius + slack) * (radius + slack)),
        FeatureKind::Polygon => {
            let corners = &face.corners;
            corners.iter().enumerate().all(|(i, corner)| {
                let along = corners[(i + 1) % corners.len()].position - corner.position;
                let outward = along.cross(n * face.normal.dot(n));
                outward.dot(point - corner.position) <= slack * outward.abs().max_element()
            })
        }
        FeatureKind::Point | FeatureKind::Segment => false,
    }
}
