//! Merging of the triangles of a convex hull that are coplanar to within rounding.

use super::hull::polygon_plane;
use super::predicates::{area_vector, side};
use super::quickhull::Triangle;
use crate::math::Vec3;

/// Factor on the tolerance of each further attempt, and the number of attempts before only exactly
/// coplanar triangles are merged.
const TIGHTENING: f64 = 1.0 / 8.0;
const MAX_ATTEMPTS: usize = 4;

/// Maximum number of fits of a face's plane to the triangles found so far.
///
/// A small first triangle extrapolates badly; each fit covers a multiple of the previous one's
/// area.
const MAX_FITS: usize = 16;

/// Minimum cosine between the normals of a face and of a triangle in it: 60 degrees.
///
/// Rounding can turn the normal of a triangle not much higher than one rounding that far, but never
/// to the other side of a thin plate.
const MIN_COSINE: f64 = 0.5;

/// Maximum number of passes that assign faces without area to their neighbors before the attempt
/// fails.
const MAX_DISSOLVE_PASSES: usize = 64;

/// Returns the faces of a triangulated convex hull, with coplanar triangles merged.
///
/// Merges with `tolerance`; if the result is not a convex polyhedron, with tighter tolerances, then
/// only exactly coplanar triangles. The unmerged triangles are always a convex polyhedron.
pub(super) fn merge_coplanar(
    points: &[Vec3],
    triangles: &[Triangle],
    tolerance: f64,
) -> Vec<Vec<u32>> {
    let mesh = TriangleMesh::new(points, triangles);
    let mut within = tolerance;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(faces) = mesh.merged(Coplanar::Within(within), tolerance) {
            return faces;
        }
        within *= TIGHTENING;
    }
    mesh.merged(Coplanar::Exactly, tolerance)
        .unwrap_or_else(|| triangles.iter().map(|t| t.corners.to_vec()).collect())
}

/// The criterion for coplanar triangles.
#[derive(Clone, Copy)]
enum Coplanar {
    Within(f64),
    Exactly,
}

struct TriangleMesh<'a> {
    points: &'a [Vec3],
    triangles: &'a [Triangle],
    /// Twice the area times the unit normal.
    areas: Vec<Vec3>,
    /// For each point, one of the triangles around it and their number.
    around: Vec<(u32, u32)>,
}

/// One side of an edge: a triangle and which of its edges.
type Side = (u32, usize);

const NO_FACE: u32 = u32::MAX;

impl<'a> TriangleMesh<'a> {
    fn new(points: &'a [Vec3], triangles: &'a [Triangle]) -> Self {
        let areas = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.corners.map(|i| points[i as usize]);
                area_vector(a, b, c)
            })
            .collect();
        let mut around = vec![(0, 0); points.len()];
        for (t, triangle) in triangles.iter().enumerate() {
            for v in triangle.corners {
                around[v as usize] = (t as u32, around[v as usize].1 + 1);
            }
        }
        Self { points, triangles, areas, around }
    }

    /// Returns the faces under one criterion, if they bound a convex polyhedron.
    fn merged(&self, coplanar: Coplanar, tolerance: f64) -> Option<Vec<Vec<u32>>> {
        let mut face_of = self.label(coplanar);
        for _ in 0..MAX_DISSOLVE_PASSES {
            let loops = self.loops(&face_of)?;
            if loops.iter().all(|(_, corners)| corners.len() >= 3) {
                let faces: Vec<_> = loops.into_iter().map(|(_, corners)| corners).collect();
                let is_sound = is_closed(self.points.len(), &faces)
                    && faces.iter().all(|corners| self.is_side_of(corners, tolerance));
                return is_sound.then_some(faces);
            }
            self.dissolve(&mut face_of, &loops)?;
        }
        None
    }

    /// Returns the face of each triangle, identified by one of the face's triangles.
    fn label(&self, coplanar: Coplanar) -> Vec<u32> {
        let tolerance = match coplanar {
            Coplanar::Within(tolerance) => tolerance,
            Coplanar::Exactly => 0.0,
        };
        let slivers: Vec<bool> =
            (0..self.triangles.len()).map(|t| self.height(t) <= tolerance).collect();
        let size: Vec<f64> = self.areas.iter().map(|a| a.length()).collect();
        // Large triangles define their plane best, slivers hardly at all.
        let mut seeds: Vec<u32> = (0..self.triangles.len() as u32).collect();
        seeds.sort_by(|&s, &t| {
            let (s, t) = (s as usize, t as usize);
            slivers[s].cmp(&slivers[t]).then(size[t].total_cmp(&size[s])).then(s.cmp(&t))
        });
        let mut search = Search {
            face_of: vec![NO_FACE; self.triangles.len()],
            visit: vec![0; self.triangles.len()],
            round: 0,
        };
        for &seed in &seeds {
            if search.face_of[seed as usize] != NO_FACE {
                continue;
            }
            let mut region = match coplanar {
                Coplanar::Exactly => {
                    let [a, b, c] = self.corners(seed as usize);
                    search.grow(self, seed, |t| {
                        self.corners(t).iter().all(|&p| side(a, b, c, p) == 0.0)
                    })
                }
                Coplanar::Within(_) => vec![seed],
            };
            if let Coplanar::Within(tolerance) = coplanar {
                let slab = 0.5 * tolerance;
                for _ in 0..MAX_FITS {
                    let (normal, foot, middle) = self.fit(&region);
                    let wider = search.grow(self, seed, |t| {
                        (slivers[t] || normal.dot(self.areas[t]) >= MIN_COSINE * size[t])
                            && self
                                .corners(t)
                                .iter()
                                .all(|&p| (normal.dot(p - foot) - middle).abs() <= slab)
                    });
                    if wider.len() <= region.len() {
                        break;
                    }
                    region = wider;
                }
            }
            for &t in &region {
                search.face_of[t as usize] = seed;
            }
        }
        search.face_of
    }

    fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].corners.map(|i| self.points[i as usize])
    }

    /// Returns the triangle's height over its longest edge.
    fn height(&self, triangle: usize) -> f64 {
        let [a, b, c] = self.corners(triangle);
        self.areas[triangle].length() / a.distance(b).max(b.distance(c)).max(c.distance(a))
    }

    /// Fits a plane to a set of triangles, halfway between their highest and lowest corner along
    /// their area vector. Returns its normal, a point, and its height over that point.
    fn fit(&self, region: &[u32]) -> (Vec3, Vec3, f64) {
        let area: Vec3 = region.iter().map(|&t| self.areas[t as usize]).sum();
        let normal = area.normalize_or_zero();
        // Heights over a corner round less than heights over the origin.
        let foot = self.corners(region[0] as usize)[0];
        let corners = region.iter().flat_map(|&t| self.corners(t as usize));
        let (low, high) = corners.fold((0.0_f64, 0.0_f64), |(low, high), p| {
            let height = normal.dot(p - foot);
            (low.min(height), high.max(height))
        });
        (normal, foot, 0.5 * (low + high))
    }

    fn is_border(&self, face_of: &[u32], (t, edge): Side) -> bool {
        face_of[t as usize] != face_of[self.triangles[t as usize].neighbors[edge] as usize]
    }

    fn origin(&self, (t, edge): Side) -> u32 {
        self.triangles[t as usize].corners[edge]
    }

    /// Returns the opposite side of the edge.
    fn twin(&self, (t, edge): Side) -> Side {
        let triangle = &self.triangles[t as usize];
        let (end, other) = (triangle.corners[(edge + 1) % 3], triangle.neighbors[edge]);
        let corners = &self.triangles[other as usize].corners;
        (other, (0..3).find(|&i| corners[i] == end).unwrap_or(0))
    }

    /// Returns the next border side of the same face, around the far end of this one.
    fn next_border(&self, face_of: &[u32], (t, edge): Side) -> Side {
        let mut next = (t, (edge + 1) % 3);
        while !self.is_border(face_of, next) {
            let (other, edge) = self.twin(next);
            next = (other, (edge + 1) % 3);
        }
        next
    }

    /// Returns each face's border, and those of its corners where at least three faces meet.
    ///
    /// Where fewer meet, the vertex lies within a face or on an edge. Returns `None` if a face has
    /// more than one border.
    fn loops(&self, face_of: &[u32]) -> Option<Vec<(Vec<Side>, Vec<u32>)>> {
        let count = self.triangles.len();
        let sides = || (0..count as u32).flat_map(|t| [(t, 0), (t, 1), (t, 2)]);
        // The number of faces at a vertex equals the number of border sides that leave it.
        let mut meeting = vec![0_u32; self.points.len()];
        for side in sides().filter(|&s| self.is_border(face_of, s)) {
            meeting[self.origin(side) as usize] += 1;
        }
        let mut has_loop = vec![false; count];
        let mut is_traced = vec![[false; 3]; count];
        let mut loops = Vec::new();
        for first in sides() {
            if is_traced[first.0 as usize][first.1] || !self.is_border(face_of, first) {
                continue;
            }
            let face = face_of[first.0 as usize] as usize;
            if std::mem::replace(&mut has_loop[face], true) {
                return None;
            }
            let mut border = Vec::new();
            let mut side = first;
            while !std::mem::replace(&mut is_traced[side.0 as usize][side.1], true) {
                border.push(side);
                side = self.next_border(face_of, side);
            }
            let corners = border
                .iter()
                .map(|&s| self.origin(s))
                .filter(|&v| meeting[v as usize] >= 3)
                .collect();
            loops.push((border, corners));
        }
        Some(loops)
    }

    /// Returns whether a polygon is flat and no vertex of the triangulated hull lies beyond it.
    ///
    /// The highest vertex over the polygon's plane is found by climbing along edges, starting at
    /// the corner with the fewest edges, which is cheapest.
    fn is_side_of(&self, corners: &[u32], tolerance: f64) -> bool {
        let plane = polygon_plane(self.points, corners);
        let height = |v: u32| plane.distance(self.points[v as usize]);
        let degree = |v: &u32| self.around[*v as usize].1;
        let Some(&start) = corners.iter().min_by_key(|&v| degree(v)) else { return false };
        let mut top = (height(start), start);
        loop {
            let mut next = top;
            let (first, degree) = self.around[top.1 as usize];
            let mut t = first;
            for _ in 0..degree {
                let Triangle { corners, neighbors } = self.triangles[t as usize];
                let i = (0..3).find(|&i| corners[i] == top.1).unwrap_or(0);
                let v = corners[(i + 1) % 3];
                if height(v) > next.0 {
                    next = (height(v), v);
                }
                // Step across the edge that ends here.
                t = neighbors[(i + 2) % 3];
            }
            if next.1 == top.1 {
                break;
            }
            top = next;
        }
        // One slab thickness, and as much again for the corners that were dropped.
        top.0 <= tolerance && corners.iter().all(|&v| height(v) >= -2.0 * tolerance)
    }

    /// Assigns every face with fewer than three corners to the neighbor with the longest shared
    /// border.
    fn dissolve(&self, face_of: &mut [u32], loops: &[(Vec<Side>, Vec<u32>)]) -> Option<()> {
        let mut goes_to: Vec<u32> = (0..self.triangles.len() as u32).collect();
        let mut has_grown = vec![false; self.triangles.len()];
        let mut has_changed = false;
        for (border, _) in loops.iter().filter(|(_, corners)| corners.len() < 3) {
            let face = face_of[border[0].0 as usize];
            let mut shared: Vec<(u32, f64)> = Vec::new();
            for &side in border {
                let twin = self.twin(side);
                let other = face_of[twin.0 as usize];
                let [a, b] = [side, twin].map(|s| self.points[self.origin(s) as usize]);
                match shared.iter_mut().find(|(f, _)| *f == other) {
                    Some((_, length)) => *length += a.distance(b),
                    None => shared.push((other, a.distance(b))),
                }
            }
            let longest = shared.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            // Within a pass, a face that has grown is not dissolved, and a dissolved face does not
            // grow.
            if !has_grown[face as usize] && goes_to[longest.0 as usize] == longest.0 {
                goes_to[face as usize] = longest.0;
                has_grown[longest.0 as usize] = true;
                has_changed = true;
            }
        }
        for face in face_of.iter_mut() {
            *face = goes_to[*face as usize];
        }
        has_changed.then_some(())
    }
}

/// The state of the labelling: the face of each triangle, and the round of its last visit.
struct Search {
    face_of: Vec<u32>,
    visit: Vec<u32>,
    round: u32,
}

impl Search {
    /// Returns the triangles connected to `seed` that have no face yet and that `belongs` accepts.
    fn grow(
        &mut self,
        mesh: &TriangleMesh,
        seed: u32,
        belongs: impl Fn(usize) -> bool,
    ) -> Vec<u32> {
        self.round += 1;
        let mut region = vec![seed];
        self.visit[seed as usize] = self.round;
        let mut done = 0;
        while done < region.len() {
            for other in mesh.triangles[region[done] as usize].neighbors {
                let t = other as usize;
                if self.visit[t] != self.round && self.face_of[t] == NO_FACE {
                    self.visit[t] = self.round;
                    if belongs(t) {
                        region.push(other);
                    }
                }
            }
            done += 1;
        }
        region
    }
}

/// Returns whether polygons over `points` points form a closed sphere: no loop passes a corner
/// twice, every edge occurs once in each direction, and Euler's formula holds.
fn is_closed(points: usize, faces: &[Vec<u32>]) -> bool {
    // Each side as lower end, upper end, and whether it runs upwards.
    let mut sides = Vec::new();
    let mut last_face = vec![NO_FACE; points];
    let mut vertices = 0;
    for (f, corners) in faces.iter().enumerate() {
        for (i, &a) in corners.iter().enumerate() {
            let b = corners[(i + 1) % corners.len()];
            match std::mem::replace(&mut last_face[a as usize], f as u32) {
                // The loop passes this vertex twice.
                seen if seen == f as u32 => return false,
                NO_FACE => vertices += 1,
                _ => {}
            }
            sides.push((a.min(b), a.max(b), a < b));
        }
    }
    sides.sort_unstable();
    let ends = |pair: &[(u32, u32, bool)]| (pair[0].0, pair[0].1);
    let pairs = || sides.chunks_exact(2);
    sides.len().is_multiple_of(2)
        && vertices + faces.len() == sides.len() / 2 + 2
        && pairs().all(|pair| ends(pair) == ends(&pair[1..]) && !pair[0].2 && pair[1].2)
        // Strictly ascending pairs: no edge has more than two sides.
        && pairs().is_sorted_by(|p, q| ends(p) < ends(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a cube with each side cut into two triangles.
    fn cube() -> (Vec<Vec3>, Vec<Triangle>) {
        let bit = |i: u32, k: u32| f64::from(i >> k & 1);
        let points = (0..8).map(|i| Vec3::new(bit(i, 0), bit(i, 1), bit(i, 2))).collect();
        let sides =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let corners: Vec<[u32; 3]> =
            sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let runs = |t: &[u32; 3], a, b| (0..3).any(|i| (t[i], t[(i + 1) % 3]) == (a, b));
        let across = |a, b| corners.iter().position(|t| runs(t, b, a)).unwrap() as u32;
        let triangles = corners
            .iter()
            .map(|&[a, b, c]| Triangle {
                corners: [a, b, c],
                neighbors: [across(a, b), across(b, c), across(c, a)],
            })
            .collect();
        (points, triangles)
    }

    #[test]
    fn every_coplanarity_criterion_gives_a_cube_six_sides() {
        let (points, triangles) = cube();
        let mesh = TriangleMesh::new(&points, &triangles);
        for coplanar in [Coplanar::Exactly, Coplanar::Within(0.0), Coplanar::Within(1e-12)] {
            let faces = mesh.merged(coplanar, 1e-14).unwrap();
            assert_eq!(faces.len(), 6);
            assert!(faces.iter().all(|corners| corners.len() == 4));
        }
    }

    #[test]
    fn a_result_that_is_not_a_convex_polyhedron_is_rejected() {
        let (points, triangles) = cube();
        let mesh = TriangleMesh::new(&points, &triangles);
        // A tolerance so coarse that perpendicular sides lie in one slab.
        assert!(mesh.merged(Coplanar::Within(4.0), 1e-14).is_none());
        let mut faces = mesh.merged(Coplanar::Exactly, 1e-14).unwrap();
        assert!(is_closed(8, &faces));
        faces[0].reverse();
        assert!(!is_closed(8, &faces), "one side inside out");
        faces.remove(0);
        assert!(!is_closed(8, &faces), "one side missing");
        assert!(!mesh.is_side_of(&[1, 2, 4], 1e-14), "corner 7 is beyond");
        // An unusable tolerance is tightened until the result is valid.
        assert_eq!(merge_coplanar(&points, &triangles, 4.0).len(), 6);
    }
}
