//! Convex polyhedra: merged planar faces, half-edge tables and support queries.

use super::mass::SolidIntegrals;
use super::predicates::area_vector;
use std::fmt;

use super::quickhull;
use super::shape::{Aabb, Plane};
use crate::error::ShapeError;
use crate::math::{Mat3, Vec3};

/// One side of an edge, running counter-clockwise around its face as seen from outside.
///
/// The half-edges of one face are contiguous, so the next one is implied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HalfEdge {
    /// Index of the vertex it starts from.
    pub origin: u32,
    /// Index of the half-edge on the other side of the edge.
    pub twin: u32,
    /// Index of the face on its left.
    pub face: u32,
    /// Index of the undirected edge it belongs to.
    pub edge: u32,
}

/// A convex polyhedron: the hull of a point cloud.
///
/// Vertices are input points, bit for bit. Faces are planar polygons with at least three corners;
/// points inside, on a face or on an edge are removed.
///
/// ```
/// use msd_sim::geometry::ConvexHull;
/// use msd_sim::math::Vec3;
/// let mut cloud = vec![Vec3::ZERO];
/// for i in 0..8 {
///     cloud.push(Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64));
/// }
/// let cube = ConvexHull::new(&cloud)?;
/// assert_eq!((cube.vertices().len(), cube.face_count(), cube.edge_count()), (8, 6, 12));
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "convex polyhedron")]
#[doc(alias = "convex mesh")]
pub struct ConvexHull {
    vertices: Vec<Vec3>,
    planes: Vec<Plane>,
    /// First half-edge of each face, and one past the last.
    face_start: Vec<u32>,
    half_edges: Vec<HalfEdge>,
    /// One half-edge of each edge.
    edges: Vec<u32>,
    /// First neighbor of each vertex in `neighbors`, and one past the last.
    neighbor_start: Vec<u32>,
    neighbors: Vec<u32>,
    /// The half-edge to each neighbor.
    outgoing: Vec<u32>,
    /// The vertices in blocks of four, by coordinate; the last block repeats a vertex.
    blocks: Vec<[[f64; 4]; 3]>,
    /// The face planes in blocks of four: normals by coordinate, then offsets.
    plane_blocks: Vec<[[f64; 4]; 4]>,
    bounding_radius: f64,
    least_width: f64,
    integrals: SolidIntegrals,
}

impl fmt::Debug for ConvexHull {
    /// Formats the counts and the corners, which determine everything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvexHull")
            .field("faces", &self.face_count())
            .field("edges", &self.edge_count())
            .field("vertices", &self.vertices)
            .finish()
    }
}

/// Up to this many vertices, scanning all of them is faster than walking along edges.
const LINEAR_SUPPORT_LIMIT: usize = 64;

impl ConvexHull {
    /// Creates the convex hull of any number of `points`, in any order.
    ///
    /// Exact arithmetic decides which points are outside which planes. Faces that are coplanar to
    /// within the rounding of the coordinates (a few units in the last place of the largest) are
    /// merged into one polygon, and points closer together than that are merged.
    ///
    /// # Errors
    ///
    /// If a coordinate is not finite or beyond [`SIZE_RANGE`](super::SIZE_RANGE), the extent is
    /// below it, there are fewer than four distinct points, or all points lie in one plane to
    /// within that rounding.
    pub fn new(points: &[Vec3]) -> Result<Self, ShapeError> {
        let mesh = quickhull::build(points)?;
        Ok(Self::from_faces(mesh.vertices, &mesh.faces))
    }

    /// Returns the solid moved by `offset`.
    ///
    /// Coordinates far from the origin round more coarsely, so the hull is rebuilt from the moved
    /// corners.
    ///
    /// # Errors
    ///
    /// As for [`ConvexHull::new`]: if a corner ends up beyond [`SIZE_RANGE`](super::SIZE_RANGE) or
    /// is not finite, or the solid is so small relative to its distance that rounding leaves it no
    /// volume.
    pub fn translated(&self, offset: Vec3) -> Result<Self, ShapeError> {
        Self::new(&self.vertices.iter().map(|&v| v + offset).collect::<Vec<_>>())
    }

    /// Returns the solid moved so that its center of mass is the origin.
    ///
    /// Corners, edges and faces keep their indices, and normals keep their values.
    ///
    /// ```
    /// use msd_sim::geometry::ConvexHull;
    /// use msd_sim::math::Vec3;
    /// let corner = ConvexHull::new(&[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z])?.centered();
    /// assert!((corner.vertices()[0] - Vec3::splat(-0.25)).length() < 1e-15);
    /// assert!(corner.centroid().length() < 1e-15);
    /// # Ok::<(), msd_sim::error::ShapeError>(())
    /// ```
    pub fn centered(&self) -> Self {
        let mut moved = self.clone();
        // Far from the origin the centroid is rounded as coarsely as the corners; a second pass
        // near the origin removes the remaining offset.
        for _ in 0..2 {
            let centroid = moved.integrals.centroid;
            moved.vertices.iter_mut().for_each(|v| *v -= centroid);
            moved.integrals = SolidIntegrals::of_hull(&moved);
        }
        for face in 0..moved.planes.len() {
            let normal = moved.planes[face].normal;
            let heights = moved.face_vertices(face as u32).map(|v| normal.dot(v));
            moved.planes[face].offset = heights.fold(f64::NEG_INFINITY, f64::max);
        }
        moved.update_derived();
        moved
    }

    /// Builds the tables of a closed convex mesh whose faces list their corners counter-clockwise.
    fn from_faces(vertices: Vec<Vec3>, faces: &[Vec<u32>]) -> Self {
        let mut half_edges = Vec::new();
        let mut face_start = vec![0];
        for (face, corners) in faces.iter().enumerate() {
            half_edges.extend(corners.iter().map(|&origin| HalfEdge {
                origin,
                twin: u32::MAX,
                face: face as u32,
                edge: u32::MAX,
            }));
            face_start.push(half_edges.len() as u32);
        }
        let planes = faces.iter().map(|corners| polygon_plane(&vertices, corners)).collect();
        let mut hull = Self {
            bounding_radius: 0.0,
            least_width: 0.0,
            blocks: Vec::new(),
            plane_blocks: Vec::new(),
            neighbor_start: vec![0; vertices.len() + 1],
            neighbors: vec![0; half_edges.len()],
            outgoing: vec![0; half_edges.len()],
            edges: Vec::with_capacity(half_edges.len() / 2),
            vertices,
            planes,
            face_start,
            half_edges,
            integrals: SolidIntegrals::EMPTY,
        };
        hull.link_twins();
        hull.link_neighbors();
        hull.update_derived();
        hull
    }

    /// Updates everything derived from corners and planes.
    fn update_derived(&mut self) {
        self.blocks = blocks_of(&self.vertices, |v| [v.x, v.y, v.z]);
        self.plane_blocks =
            blocks_of(&self.planes, |p| [p.normal.x, p.normal.y, p.normal.z, p.offset]);
        let squares = self.vertices.iter().map(|v| v.length_squared());
        self.bounding_radius = squares.fold(0.0, f64::max).sqrt();
        let mut opposite = 0;
        let widths = self.planes.iter().map(|plane| {
            opposite = self.support_index(-plane.normal, opposite);
            plane.offset - plane.normal.dot(self.vertices[opposite as usize])
        });
        self.least_width = widths.fold(f64::INFINITY, f64::min);
        self.integrals = SolidIntegrals::of_hull(self);
    }

    fn link_twins(&mut self) {
        // Sorting by undirected end points puts the two sides of an edge next to each other.
        let mut sides: Vec<(u32, u32, u32)> = (0..self.half_edges.len() as u32)
            .map(|h| {
                let (a, b) = (self.half_edges[h as usize].origin, self.target(h));
                (a.min(b), a.max(b), h)
            })
            .collect();
        sides.sort_unstable();
        for pair in sides.chunks_exact(2) {
            let (h, twin) = (pair[0].2, pair[1].2);
            debug_assert_eq!((pair[0].0, pair[0].1), (pair[1].0, pair[1].1), "unpaired edge");
            let edge = self.edges.len() as u32;
            self.edges.push(h);
            for (side, other) in [(h, twin), (twin, h)] {
                self.half_edges[side as usize].twin = other;
                self.half_edges[side as usize].edge = edge;
            }
        }
    }

    fn link_neighbors(&mut self) {
        for h in &self.half_edges {
            self.neighbor_start[h.origin as usize + 1] += 1;
        }
        for v in 0..self.vertices.len() {
            self.neighbor_start[v + 1] += self.neighbor_start[v];
        }
        let mut next = self.neighbor_start.clone();
        for h in 0..self.half_edges.len() as u32 {
            let slot = &mut next[self.half_edges[h as usize].origin as usize];
            self.neighbors[*slot as usize] = self.target(h);
            self.outgoing[*slot as usize] = h;
            *slot += 1;
        }
    }

    /// Returns the corners, in the order of the input points.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the outward plane of each face. No corner of that face lies beyond it.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// Returns the number of faces.
    pub fn face_count(&self) -> usize {
        self.planes.len()
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Returns all half-edges, face by face.
    pub fn half_edges(&self) -> &[HalfEdge] {
        &self.half_edges
    }

    /// Returns the half-edges of one face, counter-clockwise.
    ///
    /// # Panics
    ///
    /// If there is no such face.
    pub fn face(&self, face: u32) -> &[HalfEdge] {
        &self.half_edges[self.face_range(face)]
    }

    /// Returns the corners of one face, counter-clockwise from outside.
    ///
    /// # Panics
    ///
    /// If there is no such face.
    pub fn face_vertices(&self, face: u32) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        self.face(face).iter().map(|h| self.vertices[h.origin as usize])
    }

    /// Returns the vertex indices of the two ends of every edge.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.edges.iter().map(|&h| (self.half_edges[h as usize].origin, self.target(h)))
    }

    /// Returns one half-edge of each edge.
    pub(crate) fn edge_sides(&self) -> &[u32] {
        &self.edges
    }

    pub(crate) fn face_range(&self, face: u32) -> std::ops::Range<usize> {
        self.face_start[face as usize] as usize..self.face_start[face as usize + 1] as usize
    }

    /// Returns the vertex that a half-edge runs to.
    fn target(&self, h: u32) -> u32 {
        let range = self.face_range(self.half_edges[h as usize].face);
        let next = h as usize + 1;
        self.half_edges[if next == range.end { range.start } else { next }].origin
    }

    /// Returns the corners that share an edge with `vertex`.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.neighbors[self.neighbor_range(vertex)]
    }

    /// Returns the faces that meet at `vertex`.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn faces_around(&self, vertex: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let outgoing = &self.outgoing[self.neighbor_range(vertex)];
        outgoing.iter().map(|&h| self.half_edges[h as usize].face)
    }

    fn neighbor_range(&self, vertex: u32) -> std::ops::Range<usize> {
        let v = vertex as usize;
        self.neighbor_start[v] as usize..self.neighbor_start[v + 1] as usize
    }

    /// Returns the support point: the corner farthest along `direction`.
    #[inline]
    pub fn support(&self, direction: Vec3) -> Vec3 {
        self.vertices[self.support_index(direction, 0) as usize]
    }

    /// Returns the index of the corner farthest along `direction`; `start` is a guess.
    #[inline]
    pub(crate) fn support_index(&self, direction: Vec3, start: u32) -> u32 {
        if self.vertices.len() <= LINEAR_SUPPORT_LIMIT {
            // A converging search requests the same corner repeatedly.
            let height = |v: u32| direction.dot(self.vertices[v as usize]);
            let top = height(start);
            if start != 0 && self.neighbors(start).iter().all(|&v| height(v) <= top) {
                return start;
            }
            self.support_by_scan(direction)
        } else {
            self.support_by_walk(direction, start)
        }
    }

    /// Returns the farthest corner by scanning all of them; the first of equals.
    pub(crate) fn support_by_scan(&self, d: Vec3) -> u32 {
        largest_of(&self.blocks, |block| dot_block([&block[0], &block[1], &block[2]], d)).0
    }

    /// Returns the support function: how far the solid extends from its origin along `n`.
    pub(super) fn reach(&self, n: Vec3) -> f64 {
        if self.vertices.len() > LINEAR_SUPPORT_LIMIT {
            return n.dot(self.support(n));
        }
        let mut best = [f64::NEG_INFINITY; 4];
        for block in &self.blocks {
            let heights = dot_block([&block[0], &block[1], &block[2]], n);
            for lane in 0..4 {
                best[lane] = max_of(heights[lane], best[lane]);
            }
        }
        max_of(max_of(best[0], best[2]), max_of(best[1], best[3]))
    }

    /// Returns the face with the largest signed plane distance of `p`, and that distance.
    pub(super) fn max_plane_distance(&self, p: Vec3) -> (u32, f64) {
        largest_of(&self.plane_blocks, |block| {
            let mut heights = dot_block([&block[0], &block[1], &block[2]], p);
            for lane in 0..4 {
                heights[lane] -= block[3][lane];
            }
            heights
        })
    }

    /// Climbs from corner to corner: on a convex body a local maximum is global.
    fn support_by_walk(&self, d: Vec3, start: u32) -> u32 {
        let mut at = start;
        let mut height = d.dot(self.vertices[at as usize]);
        loop {
            let mut next = at;
            for &v in self.neighbors(at) {
                let h = d.dot(self.vertices[v as usize]);
                if h > height {
                    (next, height) = (v, h);
                }
            }
            if next == at {
                return at;
            }
            at = next;
        }
    }

    pub(crate) fn bounds(&self, rotation: &Mat3, position: Vec3) -> Aabb {
        let to_local = rotation.transpose();
        let reach = |axis: Vec3| axis.dot(self.vertices[self.support_index(axis, 0) as usize]);
        let [x, y, z] = [to_local.x_axis, to_local.y_axis, to_local.z_axis];
        Aabb {
            min: position - Vec3::new(reach(-x), reach(-y), reach(-z)),
            max: position + Vec3::new(reach(x), reach(y), reach(z)),
        }
    }

    /// Returns the largest distance of a corner from the origin, in meters.
    pub fn bounding_radius(&self) -> f64 {
        self.bounding_radius
    }

    /// Returns the minimum width of the solid measured across its faces, in meters.
    pub fn least_width(&self) -> f64 {
        self.least_width
    }

    /// Returns the volume, in cubic meters.
    pub fn volume(&self) -> f64 {
        self.integrals.volume
    }

    /// Returns the surface area, in square meters.
    pub fn area(&self) -> f64 {
        self.integrals.area
    }

    /// Returns the center of mass at uniform density, in meters.
    pub fn centroid(&self) -> Vec3 {
        self.integrals.centroid
    }

    pub(super) fn integrals(&self) -> &SolidIntegrals {
        &self.integrals
    }
}

/// Returns the plane of a polygon: normal along its area vector, moved out to its farthest corner.
pub(super) fn polygon_plane(vertices: &[Vec3], corners: &[u32]) -> Plane {
    let at = |&corner: &u32| vertices[corner as usize];
    let fan = corners[1..].windows(2);
    let area: Vec3 = fan.map(|pair| area_vector(at(&corners[0]), at(&pair[0]), at(&pair[1]))).sum();
    let normal = area.normalize();
    let offset = corners.iter().map(|c| normal.dot(at(c))).fold(f64::NEG_INFINITY, f64::max);
    Plane { normal, offset }
}

/// Returns the index of the largest value that `of` returns over all blocks of four, and the value.
#[inline]
fn largest_of<const N: usize>(
    blocks: &[[[f64; 4]; N]],
    of: impl Fn(&[[f64; 4]; N]) -> [f64; 4],
) -> (u32, f64) {
    // First find the block, then the lane.
    let (mut best, mut at) = (f64::NEG_INFINITY, 0);
    for (i, block) in blocks.iter().enumerate() {
        let values = of(block);
        let highest = max_of(max_of(values[0], values[2]), max_of(values[1], values[3]));
        at = if highest > best { i } else { at };
        best = max_of(highest, best);
    }
    let lane = of(&blocks[at]).iter().position(|&value| value == best).unwrap_or(0);
    ((4 * at + lane) as u32, best)
}

/// Returns the dot products of four vectors, given by component, with `d`.
#[inline]
fn dot_block([x, y, z]: [&[f64; 4]; 3], d: Vec3) -> [f64; 4] {
    let mut dots = [0.0; 4];
    for lane in 0..4 {
        dots[lane] = x[lane] * d.x;
    }
    for lane in 0..4 {
        dots[lane] += y[lane] * d.y;
    }
    for lane in 0..4 {
        dots[lane] += z[lane] * d.z;
    }
    dots
}

/// Returns the larger of two numbers, in one instruction; `b` if one is NaN.
#[inline]
fn max_of(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Groups entries into blocks of four, by component; the last block repeats its last entry.
fn blocks_of<T: Copy, const N: usize>(
    all: &[T],
    parts: impl Fn(T) -> [f64; N],
) -> Vec<[[f64; 4]; N]> {
    all.chunks(4)
        .map(|chunk| {
            let lanes = [0, 1, 2, 3].map(|lane: usize| parts(chunk[lane.min(chunk.len() - 1)]));
            std::array::from_fn(|part| lanes.map(|lane| lane[part]))
        })
        .collect()
}
