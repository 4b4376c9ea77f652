//! Polytopes by exhaustive search: all face normals, all pairs of edges, all pairs of features.

use msd_sim::math::{Vec3, orthonormal_basis};

/// A convex polytope of any dimension: a point, a segment or a solid.
pub struct Polytope {
    pub points: Vec<Vec3>,
    pub edges: Vec<(usize, usize)>,
    /// Corners of each face, counter-clockwise as seen from outside.
    pub faces: Vec<Vec<usize>>,
    /// Outward unit normal of each face.
    pub normals: Vec<Vec3>,
}

impl Polytope {
    /// Returns the origin. Its one edge has no length, so that it takes part in pairs of edges.
    pub fn point() -> Self {
        Self { points: vec![Vec3::ZERO], edges: vec![(0, 0)], faces: vec![], normals: vec![] }
    }

    /// Returns the segment from `-half` to `half` along a unit axis.
    pub fn segment(axis: Vec3, half: f64) -> Self {
        let points = vec![axis * -half, axis * half];
        Self { points, edges: vec![(0, 1)], faces: vec![], normals: vec![] }
    }

    pub fn extent(&self, n: Vec3) -> f64 {
        self.points.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max)
    }

    pub fn support(&self, n: Vec3) -> Vec3 {
        let farther = |best: Vec3, p: Vec3| if n.dot(p) > n.dot(best) { p } else { best };
        self.points.iter().copied().fold(self.points[0], farther)
    }

    /// Returns the unit directions of the edges, parallel ones (as in a box) only once.
    pub fn edge_directions(&self) -> Vec<Vec3> {
        let mut directions: Vec<Vec3> = Vec::new();
        for &(i, j) in &self.edges {
            let e = (self.points[j] - self.points[i]).normalize_or(Vec3::ZERO);
            if e != Vec3::ZERO && directions.iter().all(|d| d.cross(e).length() > 1e-15) {
                directions.push(e);
            }
        }
        directions
    }

    /// Returns the distance to a point, zero if inside.
    pub fn outside_by(&self, p: Vec3) -> f64 {
        let solid = !self.faces.is_empty();
        if solid
            && self.faces.iter().zip(&self.normals).all(|(face, n)| {
                face.iter().map(|&i| n.dot(p - self.points[i])).fold(f64::INFINITY, f64::min) <= 0.0
            })
        {
            return 0.0;
        }
        let (from, to) = closest(self, &Self::point(), -p);
        (to - from).length()
    }
}

/// Returns the least overlap of two polytopes along any direction, and that direction from A to B.
///
/// `apart` is the position of A's origin relative to B's. If the two overlap, their Minkowski
/// difference contains the origin, and the nearest point of its surface is on a face whose normal
/// is that of a face of A or B, or perpendicular to an edge of each. If not, the direction is that
/// of the closest points.
pub fn depth(a: &Polytope, b: &Polytope, apart: Vec3) -> (f64, Vec3) {
    let mut best = (f64::INFINITY, Vec3::X);
    let full = |n: Vec3, limit: f64| {
        let mut top = f64::NEG_INFINITY;
        let mut bottom = f64::INFINITY;
        for q in &b.points {
            bottom = bottom.min(n.dot(*q));
        }
        for p in &a.points {
            top = top.max(n.dot(*p));
            // No better than the best so far.
            if top - bottom + n.dot(apart) >= limit {
                return f64::INFINITY;
            }
        }
        top - bottom + n.dot(apart)
    };
    let mut consider = |n: Vec3| {
        let h = full(n, best.0);
        if h < best.0 {
            best = (h, n);
        }
        best.0
    };
    let mut limit = f64::INFINITY;
    for &n in &a.normals {
        limit = consider(n);
    }
    for &n in &b.normals {
        limit = consider(-n);
    }
    for flat in [a, b].into_iter().filter(|p| p.faces.is_empty()) {
        // Points and segments have no faces, but their Minkowski difference has, parallel to them.
        let (i, j) = flat.edges[0];
        let e = (flat.points[j] - flat.points[i]).normalize_or(Vec3::Z);
        let (t, u) = orthonormal_basis(e);
        for n in [t, -t, u, -u] {
            limit = consider(n);
        }
    }
    let (edges_a, edges_b) = (directed(a), directed(b));
    for &(p, e) in &edges_a {
        for &(q, f) in &edges_b {
            let n = e.cross(f).normalize_or(Vec3::ZERO);
            let here = n.dot(p - q + apart);
            for (n, here) in [(n, here), (-n, -here)] {
                // The overlap is at least that of these edges.
                if here < limit && n != Vec3::ZERO {
                    limit = consider(n);
                }
            }
        }
    }
    // Collinear segments, end to end, overlap by a rounding error across their line although they
    // are apart.
    let reach = |p: &Polytope| p.points.iter().map(|p| p.length()).fold(0.0, f64::max);
    let noise = 1e-14 * (reach(a) + reach(b) + apart.length());
    if best.0 > noise {
        return best;
    }
    let (from, to) = closest(a, b, apart);
    let distance = (to - from).length();
    let n = (to - from).normalize_or(best.1);
    // Closest points that almost touch give no reliable direction: then a candidate is better.
    (-distance, if full(n, f64::INFINITY) <= best.0 { n } else { best.1 })
}

/// Returns a point and the vector of each edge.
fn directed(p: &Polytope) -> Vec<(Vec3, Vec3)> {
    p.edges.iter().map(|&(i, j)| (p.points[i], p.points[j] - p.points[i])).collect()
}

/// Returns the closest points of two polytopes that do not overlap, relative to B's origin.
///
/// They are on a vertex of one and a face of the other, or on two edges.
fn closest(a: &Polytope, b: &Polytope, apart: Vec3) -> (Vec3, Vec3) {
    let mut best = (f64::INFINITY, Vec3::ZERO, Vec3::ZERO);
    let mut consider = |p: Vec3, q: Vec3| {
        let square = p.distance_squared(q);
        if square < best.0 {
            best = (square, p, q);
        }
    };
    for &p in &a.points {
        for foot in feet(b, p + apart) {
            consider(p + apart, foot);
        }
    }
    for &q in &b.points {
        for foot in feet(a, q - apart) {
            consider(foot + apart, q);
        }
    }
    for &(i, j) in &a.edges {
        let (p0, p1) = (a.points[i] + apart, a.points[j] + apart);
        for &(k, l) in &b.edges {
            closest_on_segments(p0, p1, b.points[k], b.points[l], &mut consider);
        }
    }
    (best.1, best.2)
}

/// Returns the feet of the perpendiculars from `p` that lie within faces.
///
/// Each is a point of the solid; the nearest is on a face that faces `p`, up to rounding.
fn feet(solid: &Polytope, p: Vec3) -> impl Iterator<Item = Vec3> {
    solid.faces.iter().zip(&solid.normals).filter_map(move |(face, &n)| {
        let height = n.dot(p - solid.points[face[0]]);
        let inside = |i: usize| {
            let from = solid.points[face[i]];
            let to = solid.points[face[(i + 1) % face.len()]];
            (to - from).cross(n).dot(p - from) <= 0.0
        };
        (0..face.len()).all(inside).then(|| p - n * height)
    })
}

/// Offers all candidates for the closest points of two segments.
fn closest_on_segments(p0: Vec3, p1: Vec3, q0: Vec3, q1: Vec3, mut offer: impl FnMut(Vec3, Vec3)) {
    for p in [p0, p1] {
        offer(p, nearest_on_segment(p, q0, q1));
    }
    for q in [q0, q1] {
        offer(nearest_on_segment(q, p0, p1), q);
    }
    let (e, f, r) = (p1 - p0, q1 - q0, q0 - p0);
    let n = e.cross(f);
    let square = n.length_squared();
    let s = r.cross(f).dot(n) / square;
    let t = r.cross(e).dot(n) / square;
    // False for parallel segments, whose quotients are NaN or arbitrary.
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        offer(p0 + e * s, q0 + f * t);
    }
}

/// Returns the point of a segment, which may have no length, nearest to `p`.
pub fn nearest_on_segment(p: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    let edge = to - from;
    let along = (p - from).dot(edge) / edge.length_squared();
    // Ordered so that NaN gives the start.
    if along >= 1.0 {
        to
    } else if along > 0.0 {
        from + edge * along
    } else {
        from
    }
}
