//! Point clouds of known solids, and pseudorandom ones, the same in every run.

use std::f64::consts::{PI, TAU};

use msd_sim::math::{Quat, Vec3};

/// The golden ratio.
pub const PHI: f64 = 1.618033988749895;

/// A small pseudorandom generator (a hashed Weyl sequence).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number uniform in -1..1.
    pub fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-52) - 1.0
    }

    pub fn in_cube(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    pub fn in_ball(&mut self) -> Vec3 {
        loop {
            let p = self.in_cube();
            if p.length_squared() <= 1.0 {
                return p;
            }
        }
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let p = self.in_ball();
            if p.length_squared() > 0.01 {
                return p.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_xyzw(self.signed(), self.signed(), self.signed(), self.signed());
            if (0.01..=1.0).contains(&q.length_squared()) {
                return q.normalize();
            }
        }
    }
}

pub fn rotated(points: &[Vec3], rotation: Quat) -> Vec<Vec3> {
    points.iter().map(|&p| rotation * p).collect()
}

/// Returns the three cyclic permutations of `p`, each with all changes of sign (duplicates
/// included).
fn cyclic(p: Vec3) -> Vec<Vec3> {
    let mut all = Vec::new();
    for q in [p, Vec3::new(p.y, p.z, p.x), Vec3::new(p.z, p.x, p.y)] {
        for i in 0..8 {
            let sign = |bit: i32| if i >> bit & 1 == 0 { 1.0 } else { -1.0 };
            all.push(q * Vec3::new(sign(0), sign(1), sign(2)));
        }
    }
    all
}

pub fn cuboid(half: Vec3) -> Vec<Vec3> {
    cyclic(Vec3::ONE)[..8].iter().map(|&p| p * half).collect()
}

pub fn tetrahedron() -> Vec<Vec3> {
    vec![
        Vec3::new(1.0, 1.0, 1.0),
        Vec3::new(1.0, -1.0, -1.0),
        Vec3::new(-1.0, 1.0, -1.0),
        Vec3::new(-1.0, -1.0, 1.0),
    ]
}

/// Returns the vertices of a dodecahedron with edge 2 / PHI.
pub fn dodecahedron() -> Vec<Vec3> {
    let mut points = cyclic(Vec3::new(0.0, 1.0 / PHI, PHI));
    points.extend(cuboid(Vec3::ONE));
    points
}

/// Returns the vertices of an icosahedron with edge 2.
pub fn icosahedron() -> Vec<Vec3> {
    cyclic(Vec3::new(0.0, 1.0, PHI))
}

/// A polyhedron of the table: name, points, edge, faces, vertices, I / (m a^2).
pub type Row = (&'static str, Vec<Vec3>, f64, usize, usize, f64);

pub fn polyhedra() -> Vec<Row> {
    let (r2, r5) = (2.0_f64.sqrt(), 5.0_f64.sqrt());
    let truncated_octahedron: Vec<Vec3> =
        [cyclic(Vec3::new(0.0, 1.0, 2.0)), cyclic(Vec3::new(0.0, 2.0, 1.0))].concat();
    let truncated_tetrahedron =
        cyclic(Vec3::new(3.0, 1.0, 1.0)).into_iter().filter(|p| p.x * p.y * p.z > 0.0).collect();
    vec![
        ("tetrahedron", tetrahedron(), 2.0 * r2, 4, 4, 1.0 / 20.0),
        ("cube", cuboid(Vec3::ONE), 2.0, 6, 8, 1.0 / 6.0),
        ("octahedron", cyclic(Vec3::X), r2, 8, 6, 1.0 / 10.0),
        ("icosahedron", icosahedron(), 2.0, 20, 12, (3.0 + r5) / 20.0),
        ("dodecahedron", dodecahedron(), 2.0 / PHI, 12, 20, (95.0 + 39.0 * r5) / 300.0),
        ("cuboctahedron", cyclic(Vec3::new(1.0, 1.0, 0.0)), r2, 14, 12, 0.28),
        (
            "truncated cube",
            cyclic(Vec3::new(r2 - 1.0, 1.0, 1.0)),
            2.0 * (r2 - 1.0),
            14,
            24,
            truncated_cube_inertia(),
        ),
        ("truncated octahedron", truncated_octahedron, r2, 14, 24, 19.0 / 24.0),
        ("truncated tetrahedron", truncated_tetrahedron, 2.0 * r2, 8, 12, 159.0 / 460.0),
    ]
}

/// Returns I / (m a^2) of a cube of edge s = 1 + sqrt 2 less eight corner tetrahedra with legs c =
/// 1 / sqrt 2.
///
/// The points of a corner lie at x = s/2 - u with mean u = c/4 and mean u^2 = c^2/10; I is twice
/// the integral of x^2, over the mass.
fn truncated_cube_inertia() -> f64 {
    let (s, c) = (1.0 + 2.0_f64.sqrt(), 0.5_f64.sqrt());
    let corners = 8.0 * c * c * c / 6.0;
    let square = s.powi(5) / 12.0 - corners * (0.25 * s * s - 0.25 * s * c + 0.1 * c * c);
    2.0 * square / (s.powi(3) - corners)
}

/// Returns a prism whose ends have `sides` corners on a circle of `radius`.
pub fn prism(sides: usize, radius: f64, half_height: f64) -> Vec<Vec3> {
    let ring = |z: f64| circle(sides, radius, z);
    [ring(-half_height), ring(half_height)].concat()
}

pub fn circle(sides: usize, radius: f64, z: f64) -> Vec<Vec3> {
    (0..sides)
        .map(|i| {
            let angle = TAU * i as f64 / sides as f64;
            Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
        })
        .collect()
}

/// Returns points on a capsule (on a ball, if `half_height` is zero): `n` rings for each
/// hemisphere.
pub fn capsule(n: usize, radius: f64, half_height: f64) -> Vec<Vec3> {
    let top = Vec3::new(0.0, 0.0, radius + half_height);
    let mut points = vec![top, -top];
    for i in 0..n {
        let latitude = 0.5 * PI * i as f64 / n as f64;
        let (z, r) = (half_height + radius * latitude.sin(), radius * latitude.cos());
        points.extend(circle(4 * n, r, z));
        points.extend(circle(4 * n, r, -z));
    }
    points
}

/// Returns a grid of (n + 1)^2 points on each side of the cube from -1 to 1, edges and corners
/// repeated.
pub fn cube_grid(n: usize) -> Vec<Vec3> {
    let step = |i: usize| 2.0 * i as f64 / n as f64 - 1.0;
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let (u, v) = (step(i), step(j));
            for w in [-1.0, 1.0] {
                points.extend([Vec3::new(u, v, w), Vec3::new(v, w, u), Vec3::new(w, u, v)]);
            }
        }
    }
    points
}

/// Returns `n` points spread evenly over the unit sphere, along a spiral.
pub fn spiral_sphere(n: usize) -> Vec<Vec3> {
    (0..n)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / n as f64;
            let (angle, r) = (TAU * (i as f64 / PHI).fract(), (1.0 - z * z).sqrt());
            Vec3::new(r * angle.cos(), r * angle.sin(), z)
        })
        .collect()
}
