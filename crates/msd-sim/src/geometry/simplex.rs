//! The point of a simplex nearest the origin: the sub-problem of GJK.
//!
//! All decisions use signed lengths, areas and volumes, with areas taken in the coordinate plane in
//! which the triangle is largest. That keeps the error at the rounding of the coordinates even for
//! needles and slivers, where ratios of dot products lose half the digits (S. Montanari, N.
//! Petrinic, E. Barbieri: Improving the GJK algorithm for faster and more reliable distance queries
//! between convex objects, 2017).

use super::minkowski::Vertex;
use crate::math::Vec3;

/// Up to four vertices of a difference, and the point of their simplex nearest the origin.
///
/// Stored as separate arrays because the search reads only `w` until it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nearest {
    pub len: usize,
    pub w: [Vec3; 4],
    pub a: [Vec3; 4],
    pub b: [Vec3; 4],
    weights: [f64; 4],
    /// The nearest point itself.
    pub v: Vec3,
    /// Whether the origin lies inside the tetrahedron.
    pub inside: bool,
}

impl Nearest {
    /// Restarts from a single vertex.
    #[inline]
    pub fn restart(&mut self, vertex: &Vertex) {
        self.put(0, vertex);
        self.len = 1;
        self.v = vertex.w;
        self.weights[0] = 1.0;
        self.inside = false;
    }

    /// Stores a vertex in a slot, for a later [`Self::solve`].
    #[inline]
    pub fn put(&mut self, slot: usize, vertex: &Vertex) {
        self.w[slot] = vertex.w;
        self.a[slot] = vertex.a;
        self.b[slot] = vertex.b;
    }

    /// Adds a vertex and drops those that the nearest point does not need.
    ///
    /// Returns false and changes nothing if the point comes no nearer: then rounding dominates.
    #[inline]
    pub fn grow(&mut self, vertex: &Vertex) -> bool {
        self.put(self.len, vertex);
        match nearest_of(&self.w, self.len + 1, true) {
            None => {
                self.len += 1;
                self.inside = true;
                true
            }
            Some(found) if found.v.length_squared() < self.v.length_squared() => {
                self.keep(&found);
                true
            }
            Some(_) => false,
        }
    }

    /// Finds the nearest point of the first `len` vertices.
    pub fn solve(&mut self, len: usize) {
        self.len = len;
        match nearest_of(&self.w, len, false) {
            None => self.inside = true,
            Some(found) => self.keep(&found),
        }
    }

    #[inline]
    fn keep(&mut self, found: &Weights) {
        self.len = found.len;
        self.v = found.v;
        self.weights = found.weights;
        // Kept vertices are in order, so none is overwritten before it is moved.
        for i in 0..found.len {
            let from = found.at[i] as usize;
            if from != i {
                self.w[i] = self.w[from];
                self.a[i] = self.a[from];
                self.b[i] = self.b[from];
            }
        }
    }

    /// Returns the witness points of A (in A's frame) and B (in B's frame), whose difference is the
    /// nearest point.
    pub fn witnesses(&self) -> (Vec3, Vec3) {
        let mut points = (Vec3::ZERO, Vec3::ZERO);
        for i in 0..self.len {
            points.0 += self.a[i] * self.weights[i];
            points.1 += self.b[i] * self.weights[i];
        }
        points
    }

    /// Returns a vertex.
    pub fn vertex(&self, i: usize) -> Vertex {
        Vertex { w: self.w[i], a: self.a[i], b: self.b[i] }
    }
}

/// The vertices that support the nearest point, and their weights.
#[derive(Clone, Copy)]
struct Weights {
    v: Vec3,
    at: [u8; 4],
    weights: [f64; 4],
    len: usize,
}

/// Returns the nearest point, or `None` if the origin is inside. `newest` states that the last
/// vertex improves on the nearest point of the others, and so supports the new one.
#[inline]
fn nearest_of(w: &[Vec3; 4], len: usize, newest: bool) -> Option<Weights> {
    match len {
        1 => Some(Weights { v: w[0], at: [0; 4], weights: [1.0, 0.0, 0.0, 0.0], len: 1 }),
        2 => Some(segment(w, 0, 1)),
        3 => Some(triangle(w, 0, 1, 2)),
        _ => tetrahedron(w, newest),
    }
}

fn nearer(a: Option<Weights>, b: Weights) -> Option<Weights> {
    match a {
        Some(a) if a.v.length_squared() <= b.v.length_squared() => Some(a),
        _ => Some(b),
    }
}

#[inline]
fn segment(w: &[Vec3; 4], i: u8, j: u8) -> Weights {
    let (a, b) = (w[i as usize], w[j as usize]);
    let ab = b - a;
    let along = -a.dot(ab);
    let square = ab.length_squared();
    if along <= 0.0 {
        Weights { v: a, at: [i, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0], len: 1 }
    } else if along >= square {
        Weights { v: b, at: [j, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0], len: 1 }
    } else {
        let t = along / square;
        Weights { v: a + ab * t, at: [i, j, 0, 0], weights: [1.0 - t, t, 0.0, 0.0], len: 2 }
    }
}

#[inline]
fn triangle(w: &[Vec3; 4], i: u8, j: u8, k: u8) -> Weights {
    let (a, b, c) = (w[i as usize], w[j as usize], w[k as usize]);
    let n = (b - a).cross(c - a);
    let size = n.abs();
    // The plane's point nearest the origin, projected along the coordinate axis closest to n.
    let square = n.length_squared();
    let mut areas = [-1.0; 3];
    if square > 0.0 {
        let p = n * (n.dot(a) / square);
        let (pa, pb, pc) = (a - p, b - p, c - p);
        let sign;
        (areas, sign) = if size.x >= size.y && size.x >= size.z {
            (areas_2d(pa.y, pa.z, pb.y, pb.z, pc.y, pc.z), n.x)
        } else if size.y >= size.z {
            (areas_2d(pa.z, pa.x, pb.z, pb.x, pc.z, pc.x), n.y)
        } else {
            (areas_2d(pa.x, pa.y, pb.x, pb.y, pc.x, pc.y), n.z)
        };
        if sign < 0.0 {
            areas = areas.map(|area| -area);
        }
        if areas[0] > 0.0 && areas[1] > 0.0 && areas[2] > 0.0 {
            let scale = 1.0 / (areas[0] + areas[1] + areas[2]);
            let [wa, wb, wc] = areas.map(|area| area * scale);
            return Weights {
                v: a * wa + b * wb + c * wc,
                at: [i, j, k, 0],
                weights: [wa, wb, wc, 0.0],
                len: 3,
            };
        }
    }
    let mut best = None;
    for (area, p, q) in [(areas[0], j, k), (areas[1], i, k), (areas[2], i, j)] {
        if area <= 0.0 {
            best = nearer(best, segment(w, p, q));
        }
    }
    best.unwrap_or_else(|| segment(w, i, j))
}

/// Returns twice the signed areas of the triangles of the origin with the sides opposite `a`, `b`
/// and `c`.
#[inline]
fn areas_2d(ax: f64, ay: f64, bx: f64, by: f64, cx: f64, cy: f64) -> [f64; 3] {
    [bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx]
}

/// Returns the nearest point of a tetrahedron, or `None` if the origin is inside.
#[inline]
fn tetrahedron(w: &[Vec3; 4], newest: bool) -> Option<Weights> {
    let [a, b, c, d] = *w;
    // Volumes of the origin with the face opposite each vertex; they add up to the whole.
    let bc = b.cross(c);
    let da = d.cross(a);
    let volumes = [bc.dot(d), -da.dot(c), da.dot(b), -bc.dot(a)];
    let whole = (b - a).dot((c - a).cross(d - a));
    // Below this, a volume's sign is rounding: the face is then evaluated, which is always correct.
    let reach = (a.abs().max(b.abs()).max(c.abs()).max(d.abs())).max_element();
    let noise = 16.0 * f64::EPSILON * (reach * reach * reach);
    let mut best = None;
    let mut outside = false;
    for (opposite, [i, j, k]) in
        [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]].into_iter().enumerate()
    {
        let signed = if whole < 0.0 { -volumes[opposite] } else { volumes[opposite] };
        if signed > noise {
            continue;
        }
        outside = true;
        if newest && opposite == 3 {
            continue;
        }
        let found = triangle(w, i, j, k);
        if found.len == 3 && signed < -noise {
            // Straight above a face of a convex body: no other point is nearer.
            return Some(found);
        }
        best = nearer(best, found);
    }
    if outside { best.or_else(|| Some(triangle(w, 0, 1, 2))) } else { None }
}
