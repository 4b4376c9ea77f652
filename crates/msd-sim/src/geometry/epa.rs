//! Penetration of two cores (EPA): the least reach of their Minkowski difference over all
//! directions.
//!
//! Moving B by `h(n)`, the reach of the difference along the unit vector `n`, separates the cores;
//! the depth is the least such reach. The expanding polytope algorithm grows a polytope inside the
//! difference at the face whose plane is nearest the origin. Two bounds converge on the depth: the
//! reach along any normal tried is an upper bound, and the least plane offset of the polytope's
//! faces a lower one.
//!
//! (The lower bound requires the origin inside the polytope. That holds in the end unless the cores
//! are just separated, by less than the rounding that classified them as overlapping.)
//!
//! Offsets are signed, so the origin may lie outside: a face with the origin in front of it has a
//! negative offset and is expanded first. Touching cores and any start with volume are therefore
//! ordinary input. Exact arithmetic decides which faces a new vertex sees, so the polytope stays
//! convex however its normals are rounded.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::minkowski::{Difference, Vertex};
use super::predicates::side;
use super::simplex::Nearest;
use crate::math::{Vec3, orthonormal_basis};

/// A penetration: direction, depth, error bound and witness points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Penetration {
    /// Unit direction, in A's axes, along which B must move to separate the cores.
    pub normal: Vec3,
    /// The difference's reach along `normal`, in meters. Negative if the cores are just separated.
    pub depth: f64,
    /// Error bound in meters: no direction separates the cores by less than `depth - error`.
    pub error: f64,
    /// The point of A (in A's frame) and of B (in B's frame) that touch once B has moved by
    /// `depth`.
    pub witnesses: (Vec3, Vec3),
}

/// Bounds that agree to this, relative to the difference's size, have converged.
pub(super) const CONVERGED: f64 = 5e-10;

/// Expansions before the search assumes many almost equally good directions (a cylinder inside
/// another, along the same axis). From then on, each new best direction is followed at once to its
/// local minimum (a dive), and bounds that are `GOOD_ENOUGH` end the search.
const PATIENCE: usize = 96;

/// Gap of the bounds accepted after [`PATIENCE`] expansions, relative to the difference's size.
const GOOD_ENOUGH: f64 = 1e-7;

/// Maximum number of expansions. `error` then reports the remaining gap of the bounds.
const MAX_EXPANSIONS: usize = 1500;

/// Maximum number of expansions in one dive.
const MAX_DIVES: usize = 96;

/// A ray does not meet a face whose normal has a smaller cosine with the ray.
const FORWARD: f64 = 1e-9;

/// A triangle this flat, relative to the difference's size, has no usable normal.
pub(super) const FLAT: f64 = 32.0 * f64::EPSILON;

/// The growing polytope. Its buffers are kept between uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    /// Faces by offset; dead ones are skipped when popped.
    queue: BinaryHeap<Entry>,
    /// Edges between the faces that the new vertex sees and those that it does not.
    horizon: Vec<HorizonEdge>,
    stack: Vec<u32>,
    /// For each vertex on the horizon, the new face that starts there.
    starts: Vec<u32>,
    /// The largest vertex coordinate: the size of the part of the difference explored so far.
    scale: f64,
    /// The face through which the shortest way out leaves.
    exit: u32,
}

#[derive(Clone, Copy, Debug)]
struct Face {
    /// Counter-clockwise from outside.
    corners: [u32; 3],
    /// The face across the edge from each corner to the next.
    across: [u32; 3],
    normal: Vec3,
    /// Infinite if the face is too thin to have a normal.
    offset: f64,
    /// Distance from the plane, relative to the scale, beyond which `normal` reliably tells the
    /// side.
    noise: f64,
    alive: bool,
}

#[derive(Clone, Copy, Debug)]
struct HorizonEdge {
    from: u32,
    to: u32,
    /// The face that remains, and which of its edges this is.
    kept: u32,
    kept_edge: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    offset: f64,
    face: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    /// Least offset first, then the oldest face.
    fn cmp(&self, other: &Self) -> Ordering {
        other.offset.total_cmp(&self.offset).then(other.face.cmp(&self.face))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best direction so far.
#[derive(Clone, Copy)]
struct Best {
    normal: Vec3,
    reach: f64,
    face: u32,
}

/// Returns the penetration of two cores that overlap, touch, or almost touch.
///
/// `start` is the final simplex of a distance search: its tetrahedron is used if it has volume.
pub(crate) fn penetration(
    difference: &mut Difference,
    start: &Nearest,
    polytope: &mut Polytope,
) -> Penetration {
    match polytope.begin(difference, start) {
        Ok(()) => polytope.expand(difference),
        Err(flat) => flat,
    }
}

impl Polytope {
    /// Returns the largest vertex coordinate of the last search.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns whether the last polytope has faces: false if the difference was flat.
    pub fn has_faces(&self) -> bool {
        !self.faces.is_empty()
    }

    /// Returns the exit face of the last penetration and the vertex with which it contains the
    /// largest ball about the origin: the best start for a search of almost the same difference.
    pub fn exit(&self) -> [&Vertex; 4] {
        let face = self.faces[self.exit as usize].corners.map(|i| &self.vertices[i as usize]);
        let [a, b, c] = face.map(|vertex| vertex.w);
        // Signed squared distance of the origin inside the nearest of the three other sides.
        let clearance = |vertex: &Vertex| {
            let inside = |p: Vec3, q: Vec3| {
                let n = (q - p).cross(p - vertex.w);
                let height = n.dot(p);
                height * height.abs() / n.length_squared()
            };
            inside(a, b).min(inside(b, c)).min(inside(c, a))
        };
        let mut best = (f64::NEG_INFINITY, face[0]);
        for vertex in &self.vertices {
            let inside = clearance(vertex);
            if inside > best.0 {
                best = (inside, vertex);
            }
        }
        [face[0], face[1], face[2], best.1]
    }

    /// Builds the first tetrahedron, or returns the penetration as an error if the difference is
    /// flat to within rounding.
    fn begin(&mut self, difference: &mut Difference, start: &Nearest) -> Result<(), Penetration> {
        self.vertices.clear();
        self.faces.clear();
        self.queue.clear();
        self.exit = 0;
        if start.len == 4 && has_volume(&start.w) {
            self.vertices.extend([0, 1, 2, 3].map(|i| start.vertex(i)));
        } else {
            self.widest_tetrahedron(difference)?;
        }
        self.scale = self.vertices.iter().map(|x| x.w.abs().max_element()).fold(0.0, f64::max);
        if !sees(&self.vertices[0], &self.vertices[2], &self.vertices[1], &self.vertices[3]) {
            self.vertices.swap(1, 2);
        }
        // Vertex 3 lies in front of (0, 2, 1), hence behind (0, 1, 2).
        for (corners, across) in [
            ([0, 1, 2], [1, 2, 3]),
            ([0, 3, 1], [3, 2, 0]),
            ([1, 3, 2], [1, 3, 0]),
            ([2, 3, 0], [2, 1, 0]),
        ] {
            self.push_face(corners, across);
        }
        Ok(())
    }

    /// Finds four support points far from each other, one dimension at a time.
    fn widest_tetrahedron(&mut self, difference: &mut Difference) -> Result<(), Penetration> {
        let mut widest = (f64::NEG_INFINITY, [Vertex::default(); 2]);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let ends = [difference.support(axis), difference.support(-axis)];
            let width = axis.dot(ends[0].w - ends[1].w);
            if width > widest.0 {
                widest = (width, ends);
            }
        }
        let [p, q] = widest.1;
        let line = (q.w - p.w).normalize_or(Vec3::X);
        let (t, u) = orthonormal_basis(line);
        let mut third = (f64::NEG_INFINITY, p);
        for d in [t, u, -t, -u] {
            let vertex = difference.support(d);
            let away = line.cross(vertex.w - p.w).length_squared();
            if away > third.0 {
                third = (away, vertex);
            }
        }
        let normal = line.cross(third.1.w - p.w).normalize_or(t);
        let sides = [normal, -normal].map(|n| (n, difference.support(n)));
        let thickness = sides.map(|(n, vertex)| n.dot(vertex.w - p.w));
        let fourth = if thickness[0] >= thickness[1] { sides[0].1 } else { sides[1].1 };
        let corners = [p, q, third.1, fourth];
        if side(p.w, q.w, third.1.w, fourth.w) != 0.0 {
            self.vertices.extend(corners);
            return Ok(());
        }
        // Flat: the origin is in the plane or the cores are separated, to within rounding.
        let reach = sides.map(|(n, vertex)| n.dot(vertex.w));
        let side = usize::from(reach[1] < reach[0]);
        let (normal, vertex) = sides[side];
        Err(Penetration {
            normal,
            depth: reach[side],
            error: reach[side].abs(),
            witnesses: (vertex.a, vertex.b),
        })
    }

    fn push_face(&mut self, corners: [u32; 3], across: [u32; 3]) -> u32 {
        let [a, b, c] = corners.map(|i| self.vertices[i as usize].w);
        let (ab, ac) = (b - a, c - a);
        let cross = ab.cross(ac);
        let area = cross.length_squared().sqrt();
        let longest = ab.length_squared().max(ac.length_squared()).max((c - b).length_squared());
        let (mut normal, mut offset, mut noise) = (Vec3::ZERO, f64::INFINITY, f64::INFINITY);
        if area * area > FLAT * FLAT * (self.scale * self.scale * longest) {
            normal = cross / area;
            offset = normal.dot(a).max(normal.dot(b)).max(normal.dot(c));
            // Each product in `cross` is at most `longest` with an error of two roundings; divided
            // by `area` that is the normal's error, which acts at a lever of at most twice the
            // scale.
            noise = 32.0 * f64::EPSILON * (1.0 + longest / area);
        }
        let face = self.faces.len() as u32;
        self.faces.push(Face { corners, across, normal, offset, noise, alive: true });
        if offset.is_finite() {
            self.queue.push(Entry { offset, face });
        }
        face
    }

    fn expand(&mut self, difference: &mut Difference) -> Penetration {
        let mut best = Best { normal: Vec3::ZERO, reach: f64::INFINITY, face: 0 };
        let mut lower = f64::NEG_INFINITY;
        let mut last_dive = f64::INFINITY;
        let mut count = 0;
        while let Some(entry) = self.queue.pop() {
            if !self.faces[entry.face as usize].alive {
                continue;
            }
            count += 1;
            lower = entry.offset;
            if let FaceOutcome::OnSurface(last) = self.try_face(difference, entry.face, &mut best) {
                // As good as the best to within the tolerance, and the origin projects onto this
                // face.
                best = last;
                break;
            }
            if count >= PATIENCE && best.reach < last_dive {
                self.dive(difference, &mut best);
                last_dive = best.reach;
            }
            let good = count >= PATIENCE && best.reach - lower <= GOOD_ENOUGH * self.scale;
            if good || count >= MAX_EXPANSIONS {
                break;
            }
        }
        Penetration {
            normal: best.normal,
            depth: best.reach,
            error: (best.reach - lower).max(0.0),
            witnesses: self.witnesses(&best),
        }
    }

    /// Follows the best direction to a local minimum, expanding only the newest faces.
    fn dive(&mut self, difference: &mut Difference, best: &mut Best) {
        // The best face has been expanded, unless it was final; its successors touch its vertex.
        let mut candidate = Some(best.face)
            .filter(|&f| self.faces[f as usize].alive)
            .or_else(|| self.alive_face_along(best.normal));
        for _ in 0..MAX_DIVES {
            let Some(face) = candidate else { return };
            let first_new = self.faces.len();
            match self.try_face(difference, face, best) {
                FaceOutcome::Expanded => {}
                FaceOutcome::OnSurface(_) | FaceOutcome::Skipped => return,
            }
            candidate = (first_new..self.faces.len())
                .filter(|&f| self.faces[f].offset.is_finite())
                .min_by(|&f, &g| self.faces[f].offset.total_cmp(&self.faces[g].offset))
                .map(|f| f as u32);
        }
    }

    /// Returns the live face whose plane the ray along `normal` meets first.
    fn alive_face_along(&self, normal: Vec3) -> Option<u32> {
        let distance = |f: &Face| f.offset / f.normal.dot(normal);
        (0..self.faces.len())
            .filter(|&f| {
                let face = &self.faces[f];
                face.alive && face.offset.is_finite() && face.normal.dot(normal) > 0.0
            })
            .min_by(|&f, &g| distance(&self.faces[f]).total_cmp(&distance(&self.faces[g])))
            .map(|f| f as u32)
    }

    /// Measures the reach along a face's normal, and expands the face unless it is final.
    fn try_face(&mut self, difference: &mut Difference, face: u32, best: &mut Best) -> FaceOutcome {
        let Face { normal, offset, .. } = self.faces[face as usize];
        let vertex = difference.support(normal);
        let reach = normal.dot(vertex.w);
        let tried = Best { normal, reach, face };
        if reach < best.reach {
            *best = tried;
        }
        if reach - offset <= CONVERGED * self.scale {
            return FaceOutcome::OnSurface(tried);
        }
        if self.is_seen(face, &vertex) {
            self.add_vertex(vertex, face);
            return FaceOutcome::Expanded;
        }
        // The normal is rounding noise: the face stays, but its direction is useless.
        let face = &mut self.faces[face as usize];
        (face.offset, face.noise) = (f64::INFINITY, f64::INFINITY);
        FaceOutcome::Skipped
    }

    /// Replaces the faces that the vertex sees, `seen` among them, by a fan from the vertex.
    fn add_vertex(&mut self, vertex: Vertex, seen: u32) {
        self.find_horizon(&vertex, seen);
        let new = self.vertices.len() as u32;
        self.vertices.push(vertex);
        self.scale = self.scale.max(vertex.w.abs().max_element());
        self.starts.resize(self.vertices.len(), u32::MAX);
        let first = self.faces.len() as u32;
        let horizon = std::mem::take(&mut self.horizon);
        for edge in &horizon {
            let face = self.push_face([edge.from, edge.to, new], [edge.kept, u32::MAX, u32::MAX]);
            self.faces[edge.kept as usize].across[edge.kept_edge as usize] = face;
            self.starts[edge.from as usize] = face;
        }
        for (i, edge) in horizon.iter().enumerate() {
            let face = first + i as u32;
            let next = self.starts[edge.to as usize];
            self.faces[face as usize].across[1] = next;
            self.faces[next as usize].across[2] = face;
        }
        self.horizon = horizon;
    }

    /// Marks the faces that the vertex sees as dead and collects the edges around them.
    fn find_horizon(&mut self, vertex: &Vertex, seen: u32) {
        self.horizon.clear();
        self.stack.clear();
        self.stack.push(seen);
        self.faces[seen as usize].alive = false;
        while let Some(face) = self.stack.pop() {
            let Face { corners, across, .. } = self.faces[face as usize];
            for i in 0..3 {
                let other = across[i];
                let neighbor = &self.faces[other as usize];
                if !neighbor.alive {
                    continue;
                }
                if self.is_seen(other, vertex) {
                    self.faces[other as usize].alive = false;
                    self.stack.push(other);
                } else {
                    let to = corners[(i + 1) % 3];
                    let kept_edge = neighbor.corners.iter().position(|&v| v == to);
                    self.horizon.push(HorizonEdge {
                        from: corners[i],
                        to,
                        kept: other,
                        kept_edge: kept_edge.unwrap_or(0) as u8,
                    });
                }
            }
        }
    }

    /// Returns whether `vertex` lies strictly in front of a face: by the face's normal where that
    /// is certain, else exactly.
    #[inline]
    fn is_seen(&self, face: u32, vertex: &Vertex) -> bool {
        let Face { corners, normal, offset, noise, .. } = &self.faces[face as usize];
        let height = normal.dot(vertex.w) - offset;
        if height.abs() > noise * self.scale {
            return height > 0.0;
        }
        let [a, b, c] = corners.map(|i| &self.vertices[i as usize]);
        sees(a, b, c, vertex)
    }

    /// Returns the witness points: their difference is the point where the ray from the origin
    /// along the best direction leaves the polytope.
    fn witnesses(&mut self, best: &Best) -> (Vec3, Vec3) {
        let exit = |f: &Face| f.offset / f.normal.dot(best.normal);
        let ahead =
            |f: &&Face| f.alive && f.offset.is_finite() && f.normal.dot(best.normal) > FORWARD;
        let distance = self.faces.iter().filter(ahead).map(exit).fold(best.reach, f64::min);
        // Of the possibly coplanar faces there, take the one that contains the point.
        let point = best.normal * distance;
        let limit = distance + CONVERGED * self.scale;
        let mut containing = ([0.0; 3], best.face, f64::NEG_INFINITY);
        for (i, face) in self.faces.iter().enumerate() {
            if ahead(&face) && exit(face) <= limit {
                let weights = self.weights(face, point);
                let least = weights[0].min(weights[1]).min(weights[2]);
                if least > containing.2 {
                    containing = (weights, i as u32, least);
                }
            }
        }
        self.exit = containing.1;
        let weights = containing.0.map(|weight| weight.max(0.0));
        let whole = weights[0] + weights[1] + weights[2];
        let mut points = (Vec3::ZERO, Vec3::ZERO);
        for (&corner, weight) in self.faces[containing.1 as usize].corners.iter().zip(weights) {
            let vertex = &self.vertices[corner as usize];
            let share = if whole > 0.0 { weight / whole } else { 1.0 / 3.0 };
            points.0 += vertex.a * share;
            points.1 += vertex.b * share;
        }
        points
    }

    /// Returns the barycentric coordinates of a point in a face's plane.
    fn weights(&self, face: &Face, point: Vec3) -> [f64; 3] {
        let [a, b, c] = face.corners.map(|v| self.vertices[v as usize].w - point);
        let n = face.normal;
        let areas = [n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b))];
        let whole = areas[0] + areas[1] + areas[2];
        areas.map(|area| area / whole)
    }
}

/// The outcome of trying a face.
enum FaceOutcome {
    /// The face lies on the difference's surface.
    OnSurface(Best),
    /// A vertex beyond it was added.
    Expanded,
    /// Its normal is rounding noise.
    Skipped,
}

/// Returns whether `vertex` lies strictly in front of the counter-clockwise triangle, decided
/// exactly.
#[inline]
fn sees(a: &Vertex, b: &Vertex, c: &Vertex, vertex: &Vertex) -> bool {
    side(a.w, b.w, c.w, vertex.w) > 0.0
}

/// Returns whether four vertices form a tetrahedron that is not a sliver.
fn has_volume(w: &[Vec3; 4]) -> bool {
    let (a, b, c) = (w[1] - w[0], w[2] - w[0], w[3] - w[0]);
    let longest = a.length_squared().max(b.length_squared()).max(c.length_squared());
    a.dot(b.cross(c)).abs() > SLIVER * longest * longest.sqrt()
}

/// Minimum volume of a start tetrahedron, relative to the cube of its longest edge.
const SLIVER: f64 = 1e-6;
