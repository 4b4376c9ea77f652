//! Separating axes of polyhedra: the exact depth as a least reach over finitely many directions.
//!
//! The difference of two polyhedra is a polyhedron whose faces are those of A, those of B turned
//! round, and parallelograms spanned by an edge of each. Its reach is least along one of their
//! normals, so looking at all of them answers exactly. For two boxes that is the fastest way; for
//! other polyhedra it is the slow and sure one.

use super::hull::ConvexHull;
use super::minkowski::{Core, Difference};
use crate::math::{Mat3, Vec3, largest_axis, unrotate};

/// A direction from A to B, in A's axes, and the boxes' gap along it (negative: overlap).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub normal: Vec3,
    pub gap: f64,
}

/// Edges whose directions differ by a smaller sine are parallel: their cross product is noise.
const PARALLEL: f64 = 1e-14;

/// Above so many pairs of edges, looking at all of them takes milliseconds.
const MANY_EDGE_PAIRS: usize = 1 << 16;

/// By how much, in cosines, a direction may miss the arc of an edge's normals and still be tried:
/// rounding must not lose a candidate, and one too many costs only time.
const GENEROUS: f64 = 1e-9;

/// Below this sine, dividing by the cross product's length would magnify rounding too much: the gap
/// is measured along the direction itself.
const SHORT: f64 = 1e-4;

/// The axis of largest gap of two boxes, of fifteen; none if one shows a gap of more than `limit`.
///
/// Of equally good ones, to within rounding, a face's normal is taken rather than an edge pair's.
pub(crate) fn cuboids(
    a: Vec3,
    b: Vec3,
    rotation: &Mat3,
    translation: Vec3,
    limit: f64,
) -> Option<Axis> {
    let r = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let abs = r.map(|column| column.abs());
    // How far each box reaches along the other's axes.
    let b_along_a = abs[0] * b.x + abs[1] * b.y + abs[2] * b.z;
    let a_along_b = Vec3::new(abs[0].dot(a), abs[1].dot(a), abs[2].dot(a));
    let t_b = unrotate(rotation, translation);
    let gaps_a = translation.abs() - (a + b_along_a);
    let gaps_b = t_b.abs() - (b + a_along_b);
    // What is not a number is refused here, too.
    if !(gaps_a.max(gaps_b).max_element() <= limit) {
        return None;
    }
    let (i, j) = (largest_axis(gaps_a), largest_axis(gaps_b));
    let mut best = if gaps_b[j] > gaps_a[i] {
        Axis { normal: r[j] * 1.0_f64.copysign(t_b[j]), gap: gaps_b[j] }
    } else {
        let mut normal = Vec3::ZERO;
        normal[i] = 1.0_f64.copysign(translation[i]);
        Axis { normal, gap: gaps_a[i] }
    };
    let rounding = 16.0 * f64::EPSILON * (a + b + translation.abs()).max_element();
    let measure = |normal: Vec3| {
        let to_b = unrotate(rotation, normal);
        normal.dot(translation) - (normal.abs().dot(a) + to_b.abs().dot(b))
    };
    for (j, column) in r.into_iter().enumerate() {
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            let square = column[i1] * column[i1] + column[i2] * column[i2];
            if square <= PARALLEL * PARALLEL {
                continue;
            }
            // e_i x column has components -column[i2] at i1 and column[i1] at i2.
            let along = translation[i2] * column[i1] - translation[i1] * column[i2];
            let inverse = 1.0 / square.sqrt();
            let axis = || {
                let sign = inverse.copysign(along);
                let mut normal = Vec3::ZERO;
                normal[i1] = -column[i2] * sign;
                normal[i2] = column[i1] * sign;
                normal
            };
            let gap = if square > SHORT * SHORT {
                let reach_a = a[i1] * abs[j][i2] + a[i2] * abs[j][i1];
                let reach_b = b[j1] * abs[j2][i] + b[j2] * abs[j1][i];
                (along.abs() - (reach_a + reach_b)) * inverse
            } else {
                measure(axis())
            };
            if gap > limit {
                return None;
            }
            if gap > best.gap + rounding {
                best = Axis { normal: axis(), gap };
            }
        }
    }
    Some(best)
}

/// The direction of least reach of two polyhedral cores, by looking at every candidate.
///
/// None if a core is a point or is not polyhedral, for two parallel segments, and where there are too
/// many candidates.
pub(crate) fn least_reach(
    difference: &mut Difference,
    [a, b]: &mut [Facets; 2],
) -> Option<(Vec3, f64)> {
    let edges = |core: &Core| match core {
        Core::Hull(hull) => hull.edge_count(),
        _ => 12,
    };
    if edges(&difference.a) * edges(&difference.b) > MANY_EDGE_PAIRS {
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

/// The normals and edges of a polyhedral core, turned into A's axes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facets {
    normals: Vec<Vec3>,
    edges: Vec<FacetEdge>,
}

#[derive(Clone, Copy, Debug)]
struct FacetEdge {
    direction: Vec3,
    /// Normals of the two faces beside it; none for a bare segment.
    sides: Option<[Vec3; 2]>,
}

impl FacetEdge {
    /// Whether a plane across `n` can touch the solid along this edge: `n` then lies between the
    /// normals beside it. Generous by a rounding, so that no candidate is lost.
    fn may_face(&self, n: Vec3) -> bool {
        self.sides.is_none_or(|[left, right]| {
            let bisector = left + right;
            n.dot(bisector) >= bisector.length_squared() * 0.5 - GENEROUS
        })
    }
}

impl Facets {
    /// False if the core is not polyhedral, or a point.
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
