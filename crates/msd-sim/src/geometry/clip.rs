//! Clipping of two facing features: the incident feature is cut to the outline of the reference.
//!
//! Everything is projected along the reference's normal. Polygons are clipped side by side
//! (Sutherland and Hodgman, 1974), segments by their interval, and discs where an outline crosses
//! the rim.

use super::feature::{Corner, Feature, FeatureKey, FeatureKind};
use crate::math::Vec3;

/// A point of the incident feature over the reference feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClipPoint {
    pub position: Vec3,
    /// Height above the reference's plane in meters, negative below it.
    pub gap: f64,
    pub on_reference: FeatureKey,
    pub on_incident: FeatureKey,
}

/// The buffers of [`Clipper::clip`], which leaves its result in `points`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clipper {
    pub points: Vec<ClipPoint>,
    outline: Vec<ClipVertex>,
    spare: Vec<ClipVertex>,
}

/// A vertex of the outline being clipped.
#[derive(Clone, Copy, Debug)]
struct ClipVertex {
    position: Vec3,
    on_reference: FeatureKey,
    on_incident: FeatureKey,
    /// The edge to the next vertex, and whether it belongs to the reference.
    edge: FeatureKey,
    edge_of_reference: bool,
}

/// Points outside by no more than this, relative to the smaller shape's width, count as inside, so
/// that two equal faces on top of each other keep their corners and the corners' keys despite
/// rounding.
pub(super) const SLACK: f64 = 1e-5;

/// Points are not projected along the reference's normal onto a face whose normal encloses a
/// smaller cosine with it.
const STEEP: f64 = 1e-3;

/// Discs whose normals enclose a larger cosine lie flat on each other.
const FLAT: f64 = 0.999;

impl Clipper {
    /// Fills `points` with the incident feature's points over the reference face, except those with
    /// a gap above `limit`. `size` is the smaller shape's width.
    pub fn clip(&mut self, reference: &Feature, incident: &Feature, limit: f64, size: f64) {
        self.points.clear();
        self.outline.clear();
        self.outline.extend(incident.corners.iter().map(|corner| ClipVertex {
            position: corner.position,
            on_reference: reference.key,
            on_incident: corner.key,
            edge: corner.edge,
            edge_of_reference: false,
        }));
        let slack = SLACK * size;
        let rim = match (reference.kind, incident.kind) {
            (FeatureKind::Disc { .. }, FeatureKind::Disc { .. }) => {
                // If one disc covers the other, the smaller one's outline is the contact's.
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
            (FeatureKind::Disc { center, radius }, _) => {
                self.clip_to_disc(reference.normal, center, radius, slack);
                Some((reference, incident))
            }
            (FeatureKind::Polygon, FeatureKind::Disc { center, radius }) => {
                // With roles exchanged: the reference's outline, projected onto the disc's plane.
                self.set_outline_to_reference(reference, incident);
                self.clip_to_disc(incident.normal, center, radius, slack);
                Some((incident, reference))
            }
            (_, FeatureKind::Polygon) => {
                self.clip_to_polygon(reference, incident.key, slack);
                None
            }
            _ => {
                self.clip_segment(reference, slack);
                None
            }
        };
        for vertex in &self.outline {
            let gap = reference.normal.dot(vertex.position - reference.anchor);
            if gap <= limit {
                self.points.push(ClipPoint {
                    position: vertex.position,
                    gap,
                    on_reference: vertex.on_reference,
                    on_incident: vertex.on_incident,
                });
            }
        }
        if let Some((disc, outline)) = rim {
            self.add_rim(reference, incident, disc, outline, limit, slack);
        }
    }

    fn clip_to_polygon(&mut self, reference: &Feature, incident: FeatureKey, slack: f64) {
        let corners = &reference.corners;
        for (i, corner) in corners.iter().enumerate() {
            let next = &corners[(i + 1) % corners.len()];
            let outward = (next.position - corner.position).cross(reference.normal);
            let limit = outward.dot(corner.position) + slack * outward.length();
            let mut inside = 0;
            for vertex in &self.outline {
                inside += usize::from(outward.dot(vertex.position) <= limit);
            }
            if inside == self.outline.len() {
                continue;
            }
            self.spare.clear();
            if inside > 0 {
                let previous = &corners[(i + corners.len() - 1) % corners.len()];
                let cut = ClipEdge { outward, limit, previous, corner, next, incident };
                cut.polygon(&self.outline, &mut self.spare);
            }
            std::mem::swap(&mut self.outline, &mut self.spare);
            if self.outline.is_empty() {
                return;
            }
        }
    }

    /// Clips a segment, or keeps or drops a point.
    fn clip_segment(&mut self, reference: &Feature, slack: f64) {
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
                    *end = ClipVertex {
                        position,
                        on_reference: corner.edge,
                        // Both ends may be clipped: the end's key tells them apart.
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

    /// Sets the outline to the reference's corners, projected along its normal onto the incident
    /// feature's plane.
    fn set_outline_to_reference(&mut self, reference: &Feature, incident: &Feature) {
        self.outline.clear();
        for corner in &reference.corners {
            if let Some(position) = projected_along(corner.position, reference.normal, incident) {
                self.outline.push(ClipVertex {
                    position,
                    on_reference: corner.key,
                    on_incident: incident.key,
                    edge: corner.edge,
                    edge_of_reference: true,
                });
            }
        }
    }

    /// Keeps the outline's vertices that lie over a disc along its normal `n`, and adds the
    /// crossings of the sides with the rim.
    fn clip_to_disc(&mut self, n: Vec3, center: Vec3, radius: f64, slack: f64) {
        let flat = |p: Vec3| {
            let d = p - center;
            d - n * n.dot(d)
        };
        let limit = (radius + slack) * (radius + slack);
        std::mem::swap(&mut self.outline, &mut self.spare);
        self.outline.clear();
        let vertices = &self.spare;
        // A segment has one side, a point has none.
        let sides =
            if vertices.len() > 2 { vertices.len() } else { vertices.len().saturating_sub(1) };
        for (i, vertex) in vertices.iter().enumerate() {
            let p = flat(vertex.position);
            let inside = p.length_squared() <= limit;
            if inside {
                self.outline.push(*vertex);
            }
            if i >= sides {
                continue;
            }
            let next = &vertices[(i + 1) % vertices.len()];
            let q = flat(next.position);
            if inside && q.length_squared() <= limit {
                continue;
            }
            // |p + t (q - p)| = radius
            let along = q - p;
            let square = along.length_squared();
            let half = p.dot(along);
            let root = half * half - square * (p.length_squared() - radius * radius);
            // A side that barely enters the disc only touches it.
            if root <= square * (2.0 * radius * slack) {
                continue;
            }
            for (k, t) in [(0, (-half - root.sqrt()) / square), (1, (-half + root.sqrt()) / square)]
            {
                if t > 0.0 && t < 1.0 {
                    let rim = FeatureKey::edge(RIM_CROSSING + k);
                    let (on_reference, on_incident) = if vertex.edge_of_reference {
                        (vertex.edge, rim)
                    } else {
                        (rim, vertex.edge)
                    };
                    let position = vertex.position.lerp(next.position, t);
                    self.outline.push(ClipVertex {
                        position,
                        on_reference,
                        on_incident,
                        ..*vertex
                    });
                }
            }
        }
    }

    /// Adds the crossings of the rims of two discs along the reference's normal. If they tilt so
    /// much that the projected rim is no circle, only one of its points touches, and crossings do
    /// not matter.
    fn cross_rims(&mut self, reference: &Feature, incident: &Feature) {
        let (
            FeatureKind::Disc { center, radius },
            FeatureKind::Disc { center: other, radius: other_radius },
        ) = (reference.kind, incident.kind)
        else {
            return;
        };
        let n = reference.normal;
        if incident.normal.dot(n).abs() < FLAT {
            return;
        }
        let between = other - center;
        let between = between - n * n.dot(between);
        let square = between.length_squared();
        // Along the line of centers, in units of their distance, then perpendicular to it.
        let along = 0.5 + 0.5 * (radius - other_radius) * (radius + other_radius) / square;
        let across = radius * radius / square - along * along;
        if !(across > 0.0) {
            return;
        }
        let side = n.cross(between) * across.sqrt();
        for (k, side) in [(0, side), (1, -side)] {
            if let Some(position) = projected_along(center + between * along + side, n, incident) {
                let rim = FeatureKey::edge(RIM_CROSSING + k);
                self.outline.push(ClipVertex {
                    position,
                    on_reference: rim,
                    on_incident: rim,
                    edge: rim,
                    edge_of_reference: false,
                });
            }
        }
    }

    /// Adds the rim points of a disc that lie inside the other feature's outline.
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
            let Some(position) = projected_along(corner.position, n, incident) else { continue };
            let gap = n.dot(position - reference.anchor);
            let of_reference = std::ptr::eq(disc, reference);
            if gap <= limit {
                self.points.push(ClipPoint {
                    position,
                    gap,
                    on_reference: if of_reference { corner.key } else { reference.key },
                    on_incident: if of_reference { incident.key } else { corner.key },
                });
            }
        }
    }
}

/// Key of the points where a side enters (even) and leaves (odd) a disc.
const RIM_CROSSING: u32 = 1 << 29;

/// One side of the reference, at which an outline is clipped.
struct ClipEdge<'a> {
    outward: Vec3,
    limit: f64,
    previous: &'a Corner,
    corner: &'a Corner,
    next: &'a Corner,
    incident: FeatureKey,
}

impl ClipEdge<'_> {
    fn polygon(&self, from: &[ClipVertex], to: &mut Vec<ClipVertex>) {
        let beyond = |vertex: &ClipVertex| self.outward.dot(vertex.position) - self.limit;
        let mut here = beyond(&from[0]);
        for (i, vertex) in from.iter().enumerate() {
            let next = &from[(i + 1) % from.len()];
            let there = beyond(next);
            if here <= 0.0 {
                to.push(*vertex);
            }
            if (here <= 0.0) != (there <= 0.0) {
                let position = vertex.position.lerp(next.position, here / (here - there));
                to.push(self.crossing(vertex, position, here <= 0.0));
            }
            here = there;
        }
    }

    fn crossing(&self, vertex: &ClipVertex, position: Vec3, leaves: bool) -> ClipVertex {
        let (on_reference, on_incident) = if vertex.edge_of_reference {
            // Two sides of the reference meet in one of its corners.
            let corner =
                if vertex.edge == self.previous.edge { self.corner.key } else { self.next.key };
            (corner, self.incident)
        } else {
            (self.corner.edge, vertex.edge)
        };
        let (edge, edge_of_reference) =
            if leaves { (self.corner.edge, true) } else { (vertex.edge, vertex.edge_of_reference) };
        ClipVertex { position, on_reference, on_incident, edge, edge_of_reference }
    }
}

/// Projects `point` along `n` onto the plane of `onto`, unless that is too steep.
fn projected_along(point: Vec3, n: Vec3, onto: &Feature) -> Option<Vec3> {
    let slope = onto.normal.dot(n);
    (slope.abs() > STEEP).then(|| point + n * (onto.normal.dot(onto.anchor - point) / slope))
}

/// Returns whether a face's outline, projected along `n`, contains `point`.
fn covers(face: &Feature, point: Vec3, n: Vec3, slack: f64) -> bool {
    match face.kind {
        FeatureKind::Disc { center, radius } => projected_along(point, n, face)
            .is_some_and(|p| p.distance_squared(center) <= (radius + slack) * (radius + slack)),
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
