//! Separating axes of polyhedra (SAT): the exact depth as the least reach over finitely many
//! directions.
//!
//! The Minkowski difference of two polyhedra is a polyhedron whose faces are those of A, those of B
//! reversed, and parallelograms spanned by an edge of each. Its reach is least along one of their
//! normals, so testing all of them gives the exact depth. For two boxes that is the fastest method;
//! for other polyhedra it is slow but reliable.

use super::hull::ConvexHull;
use super::minkowski::{Core, Difference};
use crate::math::{Mat3, Vec3, inverse_rotate, largest_axis};

/// A direction from A to B, in A's axes, and the boxes' gap along it (negative for overlap).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub normal: Vec3,
    pub gap: f64,
    /// For an edge-edge axis, the edges of A and B by the axes they are parallel to.
    pub edges: Option<[usize; 2]>,
}

/// Sine below which edges count as parallel: their cross product is noise.
const PARALLEL: f64 = 1e-14;

/// With more pairs of edges, testing all of them takes milliseconds.
const MAX_EDGE_PAIRS: usize = 1 << 16;

/// Tolerance, as a cosine, by which a direction may miss the arc of an edge's normals and still be
/// tried: rounding must not lose a candidate, and an extra one only costs time.
const ARC_TOLERANCE: f64 = 1e-9;

/// Sine below which dividing by the cross product's length would magnify rounding too much: the gap
/// is measured along the unit direction instead.
const SHORT: f64 = 1e-4;

/// Returns the axis of largest gap of two boxes, among all fifteen.
pub(crate) fn cuboid_axis(a: Vec3, b: Vec3, rotation: &Mat3, translation: Vec3) -> Axis {
    CuboidFrames::new(a, b, rotation, translation).axis(f64::INFINITY, 0.0)
}

/// Two boxes, described in the frames of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CuboidFrames {
    /// Half extents of A and B.
    pub half: [Vec3; 2],
    /// B's axes in A's frame.
    pub axes: [Vec3; 3],
    abs: [Vec3; 3],
    /// Vector from A's center to B's, in the axes of A and of B.
    pub between: [Vec3; 2],
    /// Distance of the centers along the axes of A, and of B, at which the boxes just touch.
    pub touching: [Vec3; 2],
}

impl CuboidFrames {
    pub fn new(a: Vec3, b: Vec3, rotation: &Mat3, translation: Vec3) -> Self {
        let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
        let abs = axes.map(|column| column.abs());
        // The half extent of each box along the other's axes.
        let b_along_a = abs[0] * b.x + abs[1] * b.y + abs[2] * b.z;
        let a_along_b = Vec3::new(abs[0].dot(a), abs[1].dot(a), abs[2].dot(a));
        Self {
            half: [a, b],
            axes,
            abs,
            between: [translation, inverse_rotate(rotation, translation)],
            touching: [a + b_along_a, b + a_along_b],
        }
    }

    /// Returns the gaps along the axes of A, and those along the axes of B.
    fn gaps(&self) -> [Vec3; 2] {
        [0, 1].map(|side| self.between[side].abs() - self.touching[side])
    }

    /// Returns a lower bound on the distance, zero if no face axis shows a gap: each box lies
    /// within its bounding box along the other's axes.
    pub fn distance_lower_bound(&self) -> f64 {
        let [a, b] = self.gaps().map(|gaps| gaps.max(Vec3::ZERO).length_squared());
        a.max(b).sqrt()
    }

    /// Returns the axis of largest gap; if that exceeds `limit`, any axis whose gap does.
    ///
    /// A face normal is preferred to an edge-edge axis unless its gap is smaller by more than
    /// `preference` and rounding.
    pub fn axis(&self, limit: f64, preference: f64) -> Axis {
        let [gaps_a, gaps_b] = self.gaps();
        let (translation, abs) = (self.between[0], &self.abs);
        let [a, b] = self.half;
        let (i, j) = (largest_axis(gaps_a), largest_axis(gaps_b));
        let mut best = if gaps_b[j] > gaps_a[i] {
            let sign = 1.0_f64.copysign(self.between[1][j]);
            Axis { normal: self.axes[j] * sign, gap: gaps_b[j], edges: None }
        } else {
            let mut normal = Vec3::ZERO;
            normal[i] = 1.0_f64.copysign(translation[i]);
            Axis { normal, gap: gaps_a[i], edges: None }
        };
        let noise = 4.0 * f64::EPSILON * (a + b + translation.abs()).max_element();
        let rounding = 4.0 * noise;
        let mut least = best.gap + (rounding + preference);
        for (j, &column) in self.axes.iter().enumerate() {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // For the cross product of each axis e_i of A with this axis of B: the gap times the
            // length of e_i x column.
            let along = column.cross(translation);
            let (p, q) = (a, abs[j]);
            let reach_a =
                Vec3::new(p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z, p.x * q.y + p.y * q.x);
            let b = b.to_array();
            let scaled = along.abs() - (reach_a + (abs[j2] * b[j1] + abs[j1] * b[j2]));
            // Most axes are far from the best, which shows without a square root: the length is at
            // most one, and dividing an overlap by it only increases the overlap.
            if scaled.max_element() + noise <= least.min(0.0) {
                continue;
            }
            let (c, along) = (column.to_array(), along.to_array());
            for (i, scaled) in scaled.to_array().into_iter().enumerate() {
                let most = scaled + noise;
                let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
                let square = c[i1] * c[i1] + c[i2] * c[i2];
                let needed = least * least * square;
                let behind = if most < 0.0 {
                    least >= 0.0 || most * most >= needed
                } else {
                    least >= 0.0 && most * most <= needed
                };
                if behind || square <= PARALLEL * PARALLEL {
                    continue;
                }
                let inverse = 1.0 / square.sqrt();
                let sign = inverse.copysign(along[i]);
                let mut normal = Vec3::ZERO;
                normal[i1] = -c[i2] * sign;
                normal[i2] = c[i1] * sign;
                let gap =
                    if square > SHORT * SHORT { scaled * inverse } else { self.gap_along(normal) };
                if gap > least {
                    best = Axis { normal, gap, edges: Some([i, j]) };
                    least = gap + rounding;
                    if gap > limit {
                        return best;
                    }
                }
            }
        }
        best
    }

    /// Returns the gap along any unit vector in A's axes.
    pub fn gap_along(&self, n: Vec3) -> f64 {
        let to_b = Vec3::new(self.axes[0].dot(n), self.axes[1].dot(n), self.axes[2].dot(n));
        n.dot(self.between[0]) - (n.abs().dot(self.half[0]) + to_b.abs().dot(self.half[1]))
    }
}

/// Returns the direction of least reach of the difference of two polyhedral cores, and that reach,
/// by testing every candidate.
///
/// Returns `None` if a core is a point or not polyhedral, for two parallel segments, and if there
/// are too many candidates.
pub(crate) fn min_reach(
    difference: &mut Difference,
    [a, b]: &mut [Facets; 2],
) -> Option<(Vec3, f64)> {
    let edges = |core: &Core| match core {
        Core::Hull(hull) => hull.edge_count(),
        _ => 12,
    };
    if edges(&difference.a) * edges(&difference.b) > MAX_EDGE_PAIRS {
        return None;
    }
    if !(a.set(&difference.a, &Mat3::IDENTITY) && b.set(&difference.b, &difference.rotation)) {
        return None;
    }
    let mut best: Option<(Vec3, f64)> = None;
    let mut try_normal = |n: Vec3| {
        let reach = n.dot(difference.support_by_scan(n).w);
        if best.is_none_or(|(_, least)| reach < least) {
            best = Some((n, reach));
        }
    };
    a.normals.iter().for_each(|&n| try_normal(n));
    b.normals.iter().for_each(|&n| try_normal(-n));
    for edge_a in &a.edges {
        for edge_b in &b.edges {
            let cross = edge_a.direction.cross(edge_b.direction);
            let square = cross.length_squared();
            if square <= PARALLEL * PARALLEL {
                continue;
            }
            let n = cross / square.sqrt();
            for n in [n, -n] {
                if edge_a.may_face(n) && edge_b.may_face(-n) {
                    try_normal(n);
                }
            }
        }
    }
    best
}

/// The normals and edges of a polyhedral core, in A's axes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facets {
    normals: Vec<Vec3>,
    edges: Vec<FacetEdge>,
}

#[derive(Clone, Copy, Debug)]
struct FacetEdge {
    direction: Vec3,
    /// Normals of the two adjacent faces; `None` for a bare segment.
    sides: Option<[Vec3; 2]>,
}

impl FacetEdge {
    /// Returns whether a plane perpendicular to `n` can touch the solid along this edge, that is if
    /// `n` lies between the adjacent normals to within [`ARC_TOLERANCE`].
    fn may_face(&self, n: Vec3) -> bool {
        self.sides.is_none_or(|[left, right]| {
            let bisector = left + right;
            n.dot(bisector) >= bisector.length_squared() * 0.5 - ARC_TOLERANCE
        })
    }
}

impl Facets {
    /// Sets the normals and edges of a core. Returns false if the core is not polyhedral, or is a
    /// point.
    fn set(&mut self, core: &Core, rotation: &Mat3) -> bool {
        self.normals.clear();
        self.edges.clear();
        match core {
            Core::Segment(_) => {
                self.edges.push(FacetEdge { direction: rotation.z_axis, sides: None });
            }
            Core::Cuboid(_) => {
                let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
                self.normals.extend(axes.into_iter().flat_map(|n| [n, -n]));
                for i in 0..3 {
                    for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                        let sides = [axes[(i + 1) % 3] * s, axes[(i + 2) % 3] * t];
                        self.edges.push(FacetEdge { direction: axes[i], sides: Some(sides) });
                    }
                }
            }
            Core::Hull(hull) => self.set_hull(hull, rotation),
            Core::Point | Core::Cylinder(_) | Core::Cone(_) => return false,
        }
        true
    }

    fn set_hull(&mut self, hull: &ConvexHull, rotation: &Mat3) {
        let Self { normals, edges } = self;
        normals.extend(hull.planes().iter().map(|p| *rotation * p.normal));
        edges.extend(hull.edge_sides().iter().map(|&side| {
            let h = hull.half_edges()[side as usize];
            let twin = hull.half_edges()[h.twin as usize];
            let along = hull.vertices()[twin.origin as usize] - hull.vertices()[h.origin as usize];
            FacetEdge {
                direction: *rotation * (along / along.length_squared().sqrt()),
                sides: Some([normals[h.face as usize], normals[twin.face as usize]]),
            }
        }));
    }
}
