//! Convex hull of a point cloud: the exact triangulated hull, then merging of coplanar faces.
//!
//! Exact arithmetic decides on which side of a plane a point lies, so the triangulation is the true
//! hull of the coordinates as given, however thin or degenerate. Only welding points and merging
//! triangles use a tolerance, which is relative to the rounding of the coordinates.

use std::collections::{HashMap, VecDeque};

use super::hull::polygon_plane;
use super::merge;
use super::predicates::{area_vector, side};
use crate::error::ShapeError;
use crate::math::{SIZE_RANGE, Vec3};

/// A closed convex mesh: the vertices, and the corners of each face counter-clockwise.
pub(super) struct Mesh {
    pub vertices: Vec<Vec3>,
    pub faces: Vec<Vec<u32>>,
}

/// Points and planes within this many roundings of the largest coordinate are merged.
///
/// Rotating and translating a point rounds each coordinate by about three units in the last place;
/// the distance of a fourth point from the plane of three others multiplies that by the sum of the
/// magnitudes of its barycentric coordinates, at most about seven for three extreme points. The
/// constant is twice that, rounded to a power of two.
const TOLERANCE_IN_ROUNDINGS: f64 = 32.0;

/// Coordinates below this, relative to the largest, count as zero in predicates.
///
/// This keeps triple products of differences above 2^-760, so the exact predicate cannot underflow;
/// the change is many orders of magnitude below a rounding.
const NEGLIGIBLE: f64 = 6.223015277861142e-61; // 2^-200

/// Builds the convex hull of `points`.
///
/// Vertices are input points bit for bit (but -0 becomes 0), in input order. Every face starts at
/// its smallest vertex index, and faces are sorted by their corners.
pub(super) fn build(points: &[Vec3]) -> Result<Mesh, ShapeError> {
    let cloud = Cloud::new(points)?;
    let triangles = Quickhull::run(&cloud)?;
    let faces = merge::merge_coplanar(&cloud.points, &triangles, cloud.tolerance);
    debug_assert!(cloud.is_behind(&faces), "a point lies beyond a face");
    Ok(cloud.mesh(points, &faces))
}

/// A triangle of a closed mesh, counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    pub corners: [u32; 3],
    /// The triangle across the edge from `corners[i]` to the next corner.
    pub neighbors: [u32; 3],
}

/// The distinct points, scaled by a power of two so that the largest coordinate is in [1/2, 1).
///
/// They are sorted lexicographically, so that later stages do not depend on the order of the input,
/// and are equal for clouds that differ by a power of two, so that results do not depend on the
/// unit of length.
struct Cloud {
    points: Vec<Vec3>,
    /// For each point, its index in the input.
    source: Vec<u32>,
    tolerance: f64,
    /// Largest coordinate difference, in scaled units.
    extent: f64,
    /// Meters per scaled unit.
    unit: f64,
}

impl Cloud {
    fn new(points: &[Vec3]) -> Result<Self, ShapeError> {
        let largest = SIZE_RANGE.end();
        for (index, &value) in points.iter().enumerate() {
            // Written so that NaN is rejected too.
            if !value.to_array().iter().all(|c| c.abs() <= *largest) {
                return Err(ShapeError::Point { index, value });
            }
        }
        let few = |distinct| ShapeError::TooFewPoints { given: points.len(), distinct };
        let Some(&first) = points.first() else { return Err(few(0)) };
        let min = points.iter().fold(first, |m, &p| m.min(p));
        let max = points.iter().fold(first, |m, &p| m.max(p));
        let extent = (max - min).max_element();
        if extent < *SIZE_RANGE.start() {
            let distinct = count_distinct(points);
            return Err(if distinct < 4 {
                few(distinct)
            } else {
                ShapeError::Size { field: "points extent", value: extent }
            });
        }

        let magnitude = min.abs().max(max.abs()).max_element();
        let (fraction, exponent) = libm::frexp(magnitude);
        let (scale, unit) = (libm::scalbn(1.0, -exponent), libm::scalbn(1.0, exponent));
        let tolerance = TOLERANCE_IN_ROUNDINGS * f64::EPSILON * fraction;
        let scaled = |p: Vec3| {
            Vec3::from_array(
                (p * scale).to_array().map(|c| if c.abs() < NEGLIGIBLE { 0.0 } else { c }),
            )
        };
        let mut distinct = weld(points.iter().map(|&p| scaled(p)), tolerance);
        if distinct.len() < 4 {
            return Err(few(distinct.len()));
        }
        distinct.sort_unstable_by(|(p, i), (q, j)| lexicographic(*p, *q).then(i.cmp(j)));
        let (points, source) = distinct.into_iter().unzip();
        Ok(Self { points, source, tolerance, extent: extent * scale, unit })
    }

    fn flat(&self, thickness: f64) -> ShapeError {
        ShapeError::Flat {
            count: self.points.len(),
            thickness: thickness * self.unit,
            extent: self.extent * self.unit,
        }
    }

    /// Returns whether no point lies beyond a face by more than two tolerances, one each for
    /// welding and merging.
    ///
    /// The cost is points times faces, so large clouds are sampled.
    fn is_behind(&self, faces: &[Vec<u32>]) -> bool {
        let stride = 1 + self.points.len() * faces.len() / 10_000_000;
        faces.iter().all(|corners| {
            let plane = polygon_plane(&self.points, corners);
            self.points.iter().step_by(stride).all(|&p| plane.distance(p) <= 2.0 * self.tolerance)
        })
    }

    /// Converts faces over the scaled, sorted points into a mesh over the input points.
    fn mesh(&self, input: &[Vec3], faces: &[Vec<u32>]) -> Mesh {
        let mut used: Vec<u32> =
            faces.iter().flatten().map(|&corner| self.source[corner as usize]).collect();
        used.sort_unstable();
        used.dedup();
        let mut rank = vec![0; input.len()];
        for (i, &index) in used.iter().enumerate() {
            rank[index as usize] = i as u32;
        }
        let mut faces: Vec<Vec<u32>> = faces
            .iter()
            .map(|corners| {
                let mut face: Vec<u32> =
                    corners.iter().map(|&c| rank[self.source[c as usize] as usize]).collect();
                let least = (0..face.len()).min_by_key(|&i| face[i]).unwrap_or(0);
                face.rotate_left(least);
                face
            })
            .collect();
        faces.sort_unstable();
        // Adding 0 turns -0 into 0 and changes nothing else.
        let vertices = used.iter().map(|&i| input[i as usize] + Vec3::ZERO).collect();
        Mesh { vertices, faces }
    }
}

fn lexicographic(p: Vec3, q: Vec3) -> std::cmp::Ordering {
    p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z))
}

fn count_distinct(points: &[Vec3]) -> usize {
    let mut sorted: Vec<Vec3> = points.iter().map(|&p| p + Vec3::ZERO).collect();
    sorted.sort_unstable_by(|p, q| lexicographic(*p, *q));
    sorted.dedup();
    sorted.len()
}

/// Returns the points that are not within `tolerance` of an earlier kept point, with their indices.
fn weld(points: impl Iterator<Item = Vec3>, tolerance: f64) -> Vec<(Vec3, u32)> {
    // With cells four tolerances wide, a point touches about three cells, and a cell contains a
    // bounded number of points that are a tolerance apart.
    let cell = |c: f64| (c / (4.0 * tolerance)).floor() as i64;
    const NONE: u32 = u32::MAX;
    // The last point of each cell, and for each point the one before it in the same cell.
    let mut last: HashMap<[i64; 3], u32> = HashMap::new();
    let mut before: Vec<u32> = Vec::new();
    let mut kept: Vec<(Vec3, u32)> = Vec::new();
    for (index, p) in points.enumerate() {
        let low = (p - Vec3::splat(tolerance)).to_array().map(cell);
        let high = (p + Vec3::splat(tolerance)).to_array().map(cell);
        let is_near = |key: [i64; 3]| {
            let mut at = last.get(&key).copied().unwrap_or(NONE);
            while at != NONE && kept[at as usize].0.distance(p) > tolerance {
                at = before[at as usize];
            }
            at != NONE
        };
        let has_twin = (low[0]..=high[0])
            .any(|x| (low[1]..=high[1]).any(|y| (low[2]..=high[2]).any(|z| is_near([x, y, z]))));
        if !has_twin {
            let slot = last.entry(p.to_array().map(cell)).or_insert(NONE);
            before.push(*slot);
            *slot = kept.len() as u32;
            kept.push((p, index as u32));
        }
    }
    kept
}

/// A triangle of the hull so far, and the outside points assigned to it.
struct Facet {
    triangle: Triangle,
    origin: Vec3,
    normal: Vec3,
    /// Heights above the plane within this bound may have the wrong sign.
    error_bound: f64,
    outside: Vec<u32>,
    /// The height and index of the outside point farthest from the plane (the lexicographically
    /// greatest of equals).
    farthest: (f64, u32),
    is_alive: bool,
    /// The last point for which visibility was tested.
    tested_for: u32,
    is_visible: bool,
}

impl Facet {
    fn new(points: &[Vec3], corners: [u32; 3], neighbors: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        let (u, v) = (b - a, c - a);
        // With h half an epsilon and U, V the largest components of u and v: differences and
        // products leave an error of 8 h U V in each component of the normal, which is at most 2 U
        // V; the product with p - a, whose components are at most 2, adds 4 h of that. The sum is 6
        // (8 + 8) h U V = 48 epsilon U V.
        let error_bound = 64.0 * f64::EPSILON * u.abs().max_element() * v.abs().max_element();
        Self {
            triangle: Triangle { corners, neighbors },
            origin: a,
            normal: u.cross(v),
            error_bound,
            outside: Vec::new(),
            farthest: (f64::NEG_INFINITY, 0),
            is_alive: true,
            tested_for: u32::MAX,
            is_visible: false,
        }
    }

    /// Returns whether `p` is strictly in front, exactly, and its height times twice the area,
    /// approximately.
    fn sees(&self, points: &[Vec3], p: Vec3) -> (bool, f64) {
        let height = self.normal.dot(p - self.origin);
        let is_front = if height.abs() > self.error_bound {
            height > 0.0
        } else {
            let [a, b, c] = self.triangle.corners.map(|i| points[i as usize]);
            side(a, b, c, p) > 0.0
        };
        (is_front, height)
    }

    fn add_outside(&mut self, point: u32, height: f64) {
        self.outside.push(point);
        if (height, point) > self.farthest {
            self.farthest = (height, point);
        }
    }
}

/// The Quickhull algorithm: start from a tetrahedron; as long as a facet has points outside, take
/// the farthest, remove all facets it sees and close the hole with triangles from its rim to the
/// point.
///
/// Strictly visible facets are those visible from a point moved slightly inwards, so they form a
/// disc with a simple rim even if the point lies in a facet's plane. No new triangle is degenerate,
/// since a point on the line of a rim edge would not see that edge's facet. A point that saw a
/// removed facet and is still outside sees one of the new ones.
struct Quickhull<'a> {
    points: &'a [Vec3],
    facets: Vec<Facet>,
    /// Facets that may have points outside, in first-in-first-out order: growing evenly on all
    /// sides keeps the facets well shaped and the discs small.
    pending: VecDeque<u32>,
    visible: Vec<u32>,
    /// Edges between visible and hidden facets: start, end, hidden facet.
    rim: Vec<(u32, u32, u32)>,
    /// For each vertex on the rim, the new facet on the edge that starts there.
    facet_from: Vec<u32>,
}

impl<'a> Quickhull<'a> {
    fn run(cloud: &'a Cloud) -> Result<Vec<Triangle>, ShapeError> {
        let mut hull = Self {
            points: &cloud.points,
            facets: Vec::new(),
            pending: VecDeque::new(),
            visible: Vec::new(),
            rim: Vec::new(),
            facet_from: vec![0; cloud.points.len()],
        };
        hull.start(initial_simplex(cloud)?);
        while let Some(facet) = hull.pending.pop_front() {
            let f = &hull.facets[facet as usize];
            if f.is_alive && !f.outside.is_empty() {
                hull.add(f.farthest.1, facet);
            }
        }
        Ok(hull.into_triangles())
    }

    fn start(&mut self, [a, b, c, d]: [u32; 4]) {
        // d lies behind abc; each facet's neighbors are in the order of its edges.
        let corners = [[a, b, c], [b, a, d], [c, b, d], [a, c, d]];
        let neighbors = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        for (corners, neighbors) in corners.into_iter().zip(neighbors) {
            self.facets.push(Facet::new(self.points, corners, neighbors));
        }
        for p in 0..self.points.len() as u32 {
            if ![a, b, c, d].contains(&p) {
                self.assign(p, 0);
            }
        }
        self.pending.extend(0..4);
    }

    /// Assigns `point` to the first facet from `first` on that sees it, if any.
    fn assign(&mut self, point: u32, first: usize) {
        let p = self.points[point as usize];
        for facet in &mut self.facets[first..] {
            let (is_front, height) = facet.sees(self.points, p);
            if is_front {
                facet.add_outside(point, height);
                return;
            }
        }
    }

    /// Extends the hull to `point`, which the facet `seed` sees.
    fn add(&mut self, point: u32, seed: u32) {
        self.find_rim(point, seed);
        let first = self.facets.len();
        for i in 0..self.rim.len() {
            let (a, b, hidden) = self.rim[i];
            let new = self.facets.len() as u32;
            self.facets.push(Facet::new(self.points, [a, b, point], [hidden, 0, 0]));
            self.facet_from[a as usize] = new;
            let back = &mut self.facets[hidden as usize].triangle;
            // The hidden facet has the same edge in the opposite direction.
            let edge = (0..3).find(|&i| back.corners[i] == b).unwrap_or(0);
            back.neighbors[edge] = new;
            self.pending.push_back(new);
        }
        for new in first..self.facets.len() {
            let next = self.facet_from[self.facets[new].triangle.corners[1] as usize];
            self.facets[new].triangle.neighbors[1] = next;
            self.facets[next as usize].triangle.neighbors[2] = new as u32;
        }
        for i in 0..self.visible.len() {
            let gone = &mut self.facets[self.visible[i] as usize];
            gone.is_alive = false;
            for p in std::mem::take(&mut gone.outside) {
                if p != point {
                    self.assign(p, first);
                }
            }
        }
    }

    /// Collects the facets that `point` sees, by flood fill from `seed`, and their rim.
    fn find_rim(&mut self, point: u32, seed: u32) {
        let p = self.points[point as usize];
        self.visible.clear();
        self.rim.clear();
        self.visible.push(seed);
        let facet = &mut self.facets[seed as usize];
        (facet.tested_for, facet.is_visible) = (point, true);
        let mut done = 0;
        while done < self.visible.len() {
            let Triangle { corners, neighbors } = self.facets[self.visible[done] as usize].triangle;
            done += 1;
            for i in 0..3 {
                let other = &mut self.facets[neighbors[i] as usize];
                if other.tested_for != point {
                    other.tested_for = point;
                    other.is_visible = other.sees(self.points, p).0;
                    if other.is_visible {
                        self.visible.push(neighbors[i]);
                    }
                }
                if !other.is_visible {
                    self.rim.push((corners[i], corners[(i + 1) % 3], neighbors[i]));
                }
            }
        }
    }

    fn into_triangles(self) -> Vec<Triangle> {
        let mut rank = Vec::with_capacity(self.facets.len());
        let mut alive = 0;
        for facet in &self.facets {
            rank.push(alive);
            alive += u32::from(facet.is_alive);
        }
        let living = self.facets.iter().filter(|f| f.is_alive).map(|f| f.triangle);
        living.map(|t| Triangle { neighbors: t.neighbors.map(|n| rank[n as usize]), ..t }).collect()
    }
}

/// Returns four points far apart, the last behind the plane of the others.
fn initial_simplex(cloud: &Cloud) -> Result<[u32; 4], ShapeError> {
    let points = &cloud.points;
    // The greatest value; the last of equals, hence the lexicographically greatest point.
    let farthest = |measure: &dyn Fn(Vec3) -> f64| {
        let mut best = (f64::NEG_INFINITY, 0);
        for (i, &p) in points.iter().enumerate() {
            let value = measure(p);
            if value >= best.0 {
                best = (value, i);
            }
        }
        best
    };
    let reach = |axis: usize| (farthest(&|p| -p[axis]), farthest(&|p| p[axis]));
    let mut ends = reach(0);
    for axis in 1..3 {
        let other = reach(axis);
        if other.0.0 + other.1.0 > ends.0.0 + ends.1.0 {
            ends = other;
        }
    }
    let (a, b) = (ends.0.1, ends.1.1);
    let (pa, pb) = (points[a], points[b]);

    let (area, c) = farthest(&|p| area_vector(pa, pb, p).length());
    let distance = area / (pb - pa).length();
    if distance <= cloud.tolerance {
        return Err(cloud.flat(distance));
    }
    let pc = points[c];
    let normal = area_vector(pa, pb, pc) / area;
    let (thickness, d) = farthest(&|p| normal.dot(p - pa).abs());
    let front = side(pa, pb, pc, points[d]);
    if thickness <= cloud.tolerance || front == 0.0 {
        return Err(cloud.flat(thickness));
    }
    let [a, b, c, d] = [a, b, c, d].map(|i| i as u32);
    Ok(if front < 0.0 { [a, b, c, d] } else { [b, a, c, d] })
}
