//! Mass properties of polyhedra.

use msd_sim::geometry::{MassProperties, Shape};
use msd_sim::math::{Mat3, Vec3};

use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const POLYHEDRA: Case = Case {
    name: "polyhedra",
    group: "mass",
    setup: "inertia divided by m a^2 of nine polyhedra of edge a, from their vertices: 1/20, 1/6, 1/10, \
            (3 + sqrt 5)/20, (95 + 39 sqrt 5)/300, 7/25, .930181405317, 19/24, 159/460",
    peers: "",
    run: polyhedra,
};

pub(super) const CORNER_TETRAHEDRON: Case = Case {
    name: "corner-tetrahedron",
    group: "mass",
    setup: "a tetrahedron of 1 kg with legs a, b, c = 1, 2, 3 m along the axes: center \
            (a, b, c) / 4, Ixx = 3 (b^2 + c^2) / 80, Ixy = a b / 80",
    peers: "",
    run: corner_tetrahedron,
};

/// Golden ratio.
const PHI: f64 = 1.618_033_988_749_895;

fn polyhedra() -> Outcome {
    let (r2, r5) = (2.0_f64.sqrt(), 5.0_f64.sqrt());
    let tetrahedron: Vec<Vec3> = even(signed(Vec3::ONE));
    let dodecahedron = [signed(Vec3::new(0.0, 1.0 / PHI, PHI)), signed(Vec3::ONE)].concat();
    let truncated_octahedron =
        [signed(Vec3::new(0.0, 1.0, 2.0)), signed(Vec3::new(0.0, 2.0, 1.0))].concat();
    let truncated_tetrahedron = even(signed(Vec3::new(3.0, 1.0, 1.0)));
    let truncated_cube = signed(Vec3::new(r2 - 1.0, 1.0, 1.0));
    let table = [
        ("tetrahedron", tetrahedron, 2.0 * r2, 1.0 / 20.0),
        ("cube", signed(Vec3::ONE), 2.0, 1.0 / 6.0),
        ("octahedron", signed(Vec3::X), r2, 1.0 / 10.0),
        ("icosahedron", signed(Vec3::new(0.0, 1.0, PHI)), 2.0, (3.0 + r5) / 20.0),
        ("dodecahedron", dodecahedron, 2.0 / PHI, (95.0 + 39.0 * r5) / 300.0),
        ("cuboctahedron", signed(Vec3::new(1.0, 1.0, 0.0)), r2, 7.0 / 25.0),
        ("truncated cube", truncated_cube, 2.0 * (r2 - 1.0), truncated_cube_inertia()),
        ("truncated octahedron", truncated_octahedron, r2, 19.0 / 24.0),
        ("truncated tetrahedron", truncated_tetrahedron, 2.0 * r2, 159.0 / 460.0),
    ];
    let mut found = Vec::new();
    for (name, points, edge, factor) in table {
        // The tensor is the factor times the identity; errors of any entry are reported on the factor.
        let off = unit_mass(&points)?.inertia * (1.0 / (edge * edge))
            - Mat3::from_diagonal(Vec3::splat(factor));
        let worst = farthest(factor, off.to_cols_array().map(|entry| factor + entry));
        found.push(Measurement::relative(name, "m a^2", factor, worst, 1e-13));
    }
    Ok(found)
}

fn corner_tetrahedron() -> Outcome {
    let [a, b, c] = [1.0, 2.0, 3.0];
    let found = unit_mass(&[Vec3::ZERO, Vec3::X * a, Vec3::Y * b, Vec3::Z * c])?;
    let (center, tensor) = (found.center_of_mass, found.inertia);
    // The means of x^2 and x y are a^2 / 10 and a b / 20 about the corner, and 3 a^2 / 80 and -a b / 80 about the
    // center.
    let rows = [
        ("center x", "m", a / 4.0, center.x),
        ("center y", "m", b / 4.0, center.y),
        ("center z", "m", c / 4.0, center.z),
        ("Ixx", "kg m^2", 3.0 * (b * b + c * c) / 80.0, tensor.x_axis.x),
        ("Iyy", "kg m^2", 3.0 * (c * c + a * a) / 80.0, tensor.y_axis.y),
        ("Izz", "kg m^2", 3.0 * (a * a + b * b) / 80.0, tensor.z_axis.z),
        ("Ixy", "kg m^2", a * b / 80.0, tensor.x_axis.y),
        ("Ixz", "kg m^2", a * c / 80.0, tensor.x_axis.z),
        ("Iyz", "kg m^2", b * c / 80.0, tensor.y_axis.z),
    ];
    let measured = rows.map(|(name, unit, expected, measured)| {
        Measurement::relative(name, unit, expected, measured, 1e-13)
    });
    Ok(measured.to_vec())
}

/// Returns the mass properties of the hull of some points, with a mass of 1 kg.
fn unit_mass(points: &[Vec3]) -> Result<MassProperties, CaseError> {
    Ok(Shape::hull(points)?.mass_properties(1.0)?.with_mass(1.0)?)
}

/// Returns the three cyclic permutations of a point, each with all combinations of signs.
fn signed(p: Vec3) -> Vec<Vec3> {
    let mut all = Vec::new();
    for q in [p, Vec3::new(p.y, p.z, p.x), Vec3::new(p.z, p.x, p.y)] {
        for (x, y, z) in (0..8).map(|i| (i & 1, i >> 1 & 1, i >> 2 & 1)) {
            let sign = |bit: i32| f64::from(1 - 2 * bit);
            all.push(q * Vec3::new(sign(x), sign(y), sign(z)));
        }
    }
    all
}

/// Keeps every other corner: those with an even number of minus signs.
fn even(points: Vec<Vec3>) -> Vec<Vec3> {
    points.into_iter().filter(|p| p.x * p.y * p.z > 0.0).collect()
}

/// Returns the inertia of a cube of edge s = 1 + sqrt 2 minus eight corner tetrahedra with legs c = 1 / sqrt 2.
///
/// A corner's points lie at x = s/2 - u with mean u = c/4 and mean u^2 = c^2/10; the inertia is twice
/// the integral of x^2, over the volume.
fn truncated_cube_inertia() -> f64 {
    let (s, c) = (1.0 + 2.0_f64.sqrt(), 0.5_f64.sqrt());
    let corners = 8.0 * c * c * c / 6.0;
    let square = s.powi(5) / 12.0 - corners * (0.25 * s * s - 0.25 * s * c + 0.1 * c * c);
    2.0 * square / (s.powi(3) - corners)
}
