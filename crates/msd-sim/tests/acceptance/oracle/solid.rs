//! Shapes in world axes, as the oracle represents them.

use msd_sim::geometry::{ConvexHull, Plane, Shape};
use msd_sim::math::{Pose, Vec3};

use super::polytope::{self, Polytope};

/// A solid: `core` about `center`, inflated by `radius`.
pub struct Solid {
    pub center: Vec3,
    pub radius: f64,
    pub core: Core,
}

/// The core of a solid before inflation, about its center.
pub enum Core {
    Polytope(Polytope),
    Cylinder {
        axis: Vec3,
        radius: f64,
        half: f64,
    },
    /// Base at `-half` along the axis, apex at `half`.
    Cone {
        axis: Vec3,
        radius: f64,
        half: f64,
    },
    HalfSpace {
        normal: Vec3,
        offset: f64,
    },
}

impl Solid {
    /// Places a shape at `pose`, relative to `origin`, in world axes.
    pub fn new(shape: &Shape, pose: &Pose, origin: Vec3) -> Self {
        let axis = pose.transform_vector(Vec3::Z);
        let (radius, core) = match shape {
            Shape::Sphere(s) => (s.radius(), Core::Polytope(Polytope::point())),
            Shape::Capsule(s) => {
                (s.radius(), Core::Polytope(Polytope::segment(axis, s.half_height())))
            }
            Shape::Cylinder(s) => {
                (0.0, Core::Cylinder { axis, radius: s.radius(), half: s.half_height() })
            }
            Shape::Cone(s) => (0.0, Core::Cone { axis, radius: s.radius(), half: s.half_height() }),
            Shape::Cuboid(s) => (0.0, Core::Polytope(cuboid(pose, s.half_extents()))),
            Shape::Hull(s) => (0.0, Core::Polytope(hull(pose, s))),
            Shape::HalfSpace(s) => {
                let Plane { normal, offset } = s.plane();
                (0.0, Core::HalfSpace { normal: pose.transform_vector(normal), offset })
            }
        };
        Self { center: pose.position - origin, radius, core }
    }

    /// Returns the largest n.x over the solid about its center, for a unit vector n. For a
    /// half-space it is infinite except along its normal.
    pub fn extent(&self, n: Vec3) -> f64 {
        self.radius
            + match &self.core {
                Core::Polytope(p) => p.extent(n),
                Core::Cylinder { axis, radius, half } => {
                    let up = n.dot(*axis);
                    half * up.abs() + radius * (n - *axis * up).length()
                }
                Core::Cone { axis, radius, half } => {
                    let up = n.dot(*axis);
                    (half * up).max(radius * (n - *axis * up).length() - half * up)
                }
                // To within the rounding of a claimed normal.
                Core::HalfSpace { normal, offset } if normal.distance(n) < 1e-12 => *offset,
                Core::HalfSpace { .. } => f64::INFINITY,
            }
    }

    /// Returns a point farthest along `direction`, which may have any length.
    pub fn support(&self, direction: Vec3) -> Vec3 {
        let n = direction.normalize_or(Vec3::X);
        let rim =
            |axis: Vec3, radius: f64| (n - axis * n.dot(axis)).normalize_or(Vec3::ZERO) * radius;
        let core = match &self.core {
            Core::Polytope(p) => p.support(n),
            Core::Cylinder { axis, radius, half } => {
                rim(*axis, *radius) + *axis * half.copysign(n.dot(*axis))
            }
            Core::Cone { axis, radius, half } => {
                let base = rim(*axis, *radius) - *axis * *half;
                let apex = *axis * *half;
                if n.dot(apex) > n.dot(base) { apex } else { base }
            }
            Core::HalfSpace { normal, offset } => *normal * *offset,
        };
        self.center + core + n * self.radius
    }

    /// Returns how far a point lies outside, zero if inside.
    pub fn outside_by(&self, point: Vec3) -> f64 {
        let p = point - self.center;
        let polar = |axis: Vec3| {
            let z = p.dot(axis);
            ((p - axis * z).length(), z)
        };
        match &self.core {
            Core::Polytope(core) => (core.outside_by(p) - self.radius).max(0.0),
            Core::Cylinder { axis, radius, half } => {
                let (rho, z) = polar(*axis);
                (rho - radius).max(0.0).hypot((z.abs() - half).max(0.0))
            }
            Core::Cone { axis, radius, half } => {
                let (rho, z) = polar(*axis);
                // The signed distance beyond the side, perpendicular to it.
                let side = (rho * 2.0 * half + (z - half) * radius) / radius.hypot(2.0 * half);
                if side <= 0.0 && z >= -half {
                    return 0.0;
                }
                let q = Vec3::new(rho, 0.0, z);
                let [apex, rim, middle] = [(0.0, *half), (*radius, -half), (0.0, -half)]
                    .map(|(x, z)| Vec3::new(x, 0.0, z));
                let base = polytope::nearest_on_segment(q, middle, rim);
                let side = polytope::nearest_on_segment(q, rim, apex);
                (q - base).length().min((q - side).length())
            }
            Core::HalfSpace { normal, offset } => (normal.dot(p) - offset).max(0.0),
        }
    }

    /// Returns the unit edge directions, across which the support point jumps.
    pub fn edges(&self) -> Vec<Vec3> {
        match &self.core {
            Core::Polytope(p) => p.edge_directions(),
            Core::Cylinder { axis, .. } | Core::Cone { axis, .. } => vec![*axis],
            Core::HalfSpace { .. } => vec![],
        }
    }

    /// Returns the outward normals of the flat faces.
    pub fn normals(&self) -> Vec<Vec3> {
        match &self.core {
            Core::Polytope(p) => p.normals.clone(),
            Core::Cylinder { axis, .. } => vec![*axis, -*axis],
            Core::Cone { axis, .. } => vec![-*axis],
            Core::HalfSpace { normal, .. } => vec![*normal],
        }
    }
}

fn cuboid(pose: &Pose, half: Vec3) -> Polytope {
    let corner = |i: usize| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        pose.transform_vector(half * Vec3::new(sign(0), sign(1), sign(2)))
    };
    let mut edges = Vec::new();
    for bit in 0..3 {
        edges.extend((0..8).filter(|i| i >> bit & 1 == 0).map(|i| (i, i | 1 << bit)));
    }
    // Corners of the face where one bit is set, in a loop; those of the opposite face lack the bit.
    let mut faces = Vec::new();
    let mut normals = Vec::new();
    for (bit, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
        let (u, v) = (1 << ((bit + 1) % 3), 1 << ((bit + 2) % 3));
        let w = 1 << bit;
        faces.push(vec![w, w | u, w | u | v, w | v]);
        faces.push(vec![0, v, u | v, u]);
        normals.push(pose.transform_vector(axis));
        normals.push(-pose.transform_vector(axis));
    }
    Polytope { points: (0..8).map(corner).collect(), edges, faces, normals }
}

fn hull(pose: &Pose, hull: &ConvexHull) -> Polytope {
    Polytope {
        points: hull.vertices().iter().map(|&v| pose.transform_vector(v)).collect(),
        edges: hull.edges().map(|(i, j)| (i as usize, j as usize)).collect(),
        faces: (0..hull.face_count() as u32)
            .map(|f| hull.face(f).iter().map(|h| h.origin as usize).collect())
            .collect(),
        normals: hull.planes().iter().map(|p| pose.transform_vector(p.normal)).collect(),
    }
}
