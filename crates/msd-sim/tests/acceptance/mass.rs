//! Mass properties, and the closed forms for polyhedra.

use std::f64::consts::PI;

use msd_sim::error::{MassError, ShapeError};
use msd_sim::geometry::{ConvexHull, MassProperties, Shape};
use msd_sim::math::{Mat3, Quat, Vec3};
use proptest::prelude::*;

use crate::solids::{Random, capsule, circle, cuboid, polyhedra, prism, rotated};

/// Returns the mass properties of the hull of `points` with a mass of 1 kg.
fn unit_mass(points: &[Vec3]) -> MassProperties {
    let hull = Shape::hull(points).unwrap_or_else(|e| panic!("{e}"));
    hull.mass_properties(1.0).unwrap().with_mass(1.0).unwrap()
}

/// Returns the largest entry of the difference over the largest entry of `expected`.
fn relative_error(actual: Mat3, expected: Mat3) -> f64 {
    let largest = |m: Mat3| m.to_cols_array().iter().fold(0.0_f64, |l, c| l.max(c.abs()));
    largest(actual - expected) / largest(expected)
}

fn turned(inertia: Mat3, rotation: Quat) -> Mat3 {
    let r = Mat3::from_quat(rotation);
    r * inertia * r.transpose()
}

fn assert_symmetric_positive(m: &MassProperties) {
    assert_eq!(m.inertia, m.inertia.transpose());
    let i = m.inertia;
    let minor = i.x_axis.x * i.y_axis.y - i.x_axis.y * i.y_axis.x;
    assert!(i.x_axis.x > 0.0 && minor > 0.0 && i.determinant() > 0.0, "{i}");
    // No moment exceeds the sum of the others: that would require negative mass.
    let p = m.principal().moments;
    assert!(p.z <= (p.x + p.y) * (1.0 + 1e-12), "{p}");
}

#[test]
fn the_regular_polyhedra_have_their_textbook_inertia() {
    let digits = [
        0.05,
        1.0 / 6.0,
        0.1,
        0.261803398875,
        0.607355503742,
        0.28,
        0.930181405317,
        0.791666666667,
        0.345652173913,
    ];
    for ((name, points, edge, _, _, factor), digits) in polyhedra().into_iter().zip(digits) {
        assert!((factor - digits).abs() < 1e-12, "{name}: the closed form differs from the table");
        let m = unit_mass(&points);
        let expected = Mat3::from_diagonal(Vec3::splat(factor * edge * edge));
        let error = relative_error(m.inertia, expected);
        assert!(error < 1e-13, "{name}: {error}");
        assert!(m.center_of_mass.length() < 1e-15 * edge, "{name}: {}", m.center_of_mass);
        assert_symmetric_positive(&m);
    }
}

#[test]
fn the_corner_tetrahedron_has_its_products_of_inertia() {
    // Legs a, b, c: the mean of x^2 is a^2/10 and of xy ab/20; about the centroid (a, b, c)/4
    // these become 3 a^2/80 and -ab/80. So Ixx = 3 (b^2 + c^2)/80 and Ixy = +ab/80.
    let m = unit_mass(&[Vec3::ZERO, Vec3::X, 2.0 * Vec3::Y, 3.0 * Vec3::Z]);
    let expected = Mat3::from_cols(
        Vec3::new(0.4875, 0.025, 0.0375),
        Vec3::new(0.025, 0.375, 0.075),
        Vec3::new(0.0375, 0.075, 0.1875),
    );
    assert!((m.center_of_mass - Vec3::new(0.25, 0.5, 0.75)).length() < 1e-13);
    assert!(relative_error(m.inertia, expected) < 1e-13, "{}", m.inertia);
    assert!((m.volume - 1.0).abs() < 1e-13);
    assert_symmetric_positive(&m);
}

#[test]
fn a_box_has_the_same_mass_properties_as_hull_and_as_cuboid() {
    let half = Vec3::new(0.1, 0.7, 1.9);
    let hull = Shape::hull(&cuboid(half)).unwrap().mass_properties(2.5).unwrap();
    let cuboid = Shape::cuboid(half).unwrap().mass_properties(2.5).unwrap();
    assert!((hull.mass / cuboid.mass - 1.0).abs() < 1e-14);
    assert!((hull.area / cuboid.area - 1.0).abs() < 1e-14);
    assert!(relative_error(hull.inertia, cuboid.inertia) < 1e-14);
    // m/3 (y^2 + z^2) with m = 2.5 * 8 * 0.1 * 0.7 * 1.9 = 2.66.
    assert!((cuboid.inertia.x_axis.x - 2.66 / 3.0 * (0.49 + 3.61)).abs() < 1e-14);
}

#[test]
fn a_body_1000_m_from_its_own_origin_keeps_eleven_digits() {
    let mut random = Random(21);
    for (name, points, ..) in polyhedra() {
        let hull = ConvexHull::new(&rotated(&points, random.rotation())).unwrap();
        let near = unit_mass(hull.vertices());
        let offset = random.direction() * 1e3;
        let far = unit_mass(hull.translated(offset).unwrap().vertices());
        assert!(relative_error(far.inertia, near.inertia) < 1e-11, "{name}");
        assert!((far.volume / near.volume - 1.0).abs() < 1e-11, "{name}");
        assert!((far.center_of_mass - offset).length() < 1e-12, "{name}");
        assert_symmetric_positive(&far);
    }
}

#[test]
fn aspect_ratios_of_1000_to_1_keep_their_smallest_moment() {
    let mut random = Random(22);
    for half in [Vec3::new(1.0, 1.0, 1e-3), Vec3::new(1e-3, 1e-3, 1.0), Vec3::new(1.0, 1e-3, 0.1)] {
        let square = half * half;
        let mut expected =
            [square.y + square.z, square.x + square.z, square.x + square.y].map(|sum| sum / 3.0);
        expected.sort_by(f64::total_cmp);
        for _ in 0..50 {
            let m = unit_mass(&rotated(&cuboid(half), random.rotation()));
            let moments = m.principal().moments.to_array();
            for (moment, expected) in moments.iter().zip(expected) {
                assert!((moment / expected - 1.0).abs() < 1e-9, "{half}: {moment} {expected}");
            }
            assert_symmetric_positive(&m);
        }
    }
}

#[test]
fn a_centered_hull_has_its_center_of_mass_at_the_origin() {
    let mut random = Random(23);
    for count in [4, 10, 100] {
        for distance in [0.0, 1.0, 1e3, 1e6] {
            let offset = random.direction() * distance;
            let points: Vec<_> = (0..count).map(|_| random.in_ball() + offset).collect();
            let hull = ConvexHull::new(&points).unwrap();
            let centered = hull.centered();
            let m = Shape::Hull(centered.clone().into()).mass_properties(1.0).unwrap();
            let extent = centered.bounding_radius();
            assert!(m.center_of_mass.length() <= 1e-15 * extent, "{}", m.center_of_mass);
            let there = Shape::Hull(hull.into()).mass_properties(1.0).unwrap();
            let rounding = 1e-14 + 1e-15 * distance;
            assert!(relative_error(m.inertia, there.inertia) < rounding);
        }
    }
}

#[test]
fn mass_and_inertia_are_linear_in_density() {
    let points: Vec<_> = (0..40).scan(Random(24), |r, _| Some(r.in_ball())).collect();
    for shape in [Shape::hull(&points).unwrap(), Shape::cone(0.3, 1.2).unwrap()] {
        let one = shape.mass_properties(1.0).unwrap();
        assert_eq!(one.mass, one.volume);
        for density in [1e-6, 0.37, 1.0, 7850.0, 1e12] {
            let m = shape.mass_properties(density).unwrap();
            assert_eq!(
                (m.volume, m.area, m.center_of_mass),
                (one.volume, one.area, one.center_of_mass)
            );
            assert!((m.mass / (one.mass * density) - 1.0).abs() < 1e-15);
            assert!(relative_error(m.inertia, one.inertia * density) < 1e-15);
            let same = one.with_mass(m.mass).unwrap();
            assert_eq!(same.mass, m.mass);
            assert!(relative_error(same.inertia, m.inertia) < 1e-15);
        }
    }
}

#[test]
fn surface_integrals_agree_with_cubature_over_the_faces() {
    // An independent method: the integral of x_i x_j over the volume as the flux of a field along
    // one axis, F = x_i (x_i x_j / k) e_i with div F = x_i x_j, where k = 3 for i = j and 2
    // otherwise; over each triangle by its four-point rule, which is exact up to cubics.
    let mut random = Random(25);
    for count in [4, 8, 30, 200] {
        let points: Vec<_> = (0..count).map(|_| random.in_ball() + Vec3::splat(0.5)).collect();
        let hull = ConvexHull::new(&points).unwrap();
        let flux = |field: &dyn Fn(Vec3) -> Vec3| {
            let mut sum = 0.0;
            for f in 0..hull.face_count() as u32 {
                let corners: Vec<_> = hull.face_vertices(f).collect();
                for i in 1..corners.len() - 1 {
                    let (a, b, c) = (corners[0], corners[i], corners[i + 1]);
                    let area = 0.5 * (b - a).cross(c - a);
                    let at = |x: f64, y: f64, z: f64| field(a * x + b * y + c * z);
                    let mean = at(0.6, 0.2, 0.2) + at(0.2, 0.6, 0.2) + at(0.2, 0.2, 0.6);
                    let middle = at(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0);
                    sum += area.dot(mean * (25.0 / 48.0) - middle * (27.0 / 48.0));
                }
            }
            sum
        };
        let volume = flux(&|x| Vec3::new(0.0, 0.0, x.z));
        let first =
            Vec3::from_array([0, 1, 2].map(|i| flux(&|x| Vec3::AXES[i] * (0.5 * x[i] * x[i]))));
        let second = |i: usize, j: usize| {
            let k = if i == j { 3.0 } else { 2.0 };
            flux(&|x| Vec3::AXES[i] * (x[i] * x[i] * x[j] / k))
        };
        let mut inertia = Mat3::ZERO;
        for i in 0..3 {
            for j in 0..3 {
                inertia.col_mut(i)[j] = -second(i, j);
            }
        }
        inertia += Mat3::from_diagonal(Vec3::splat(second(0, 0) + second(1, 1) + second(2, 2)));

        let m = Shape::Hull(hull.into()).mass_properties(1.0).unwrap();
        assert!((m.volume / volume - 1.0).abs() < 1e-13);
        assert!((m.center_of_mass - first / volume).length() < 1e-13);
        assert!(relative_error(m.inertia_about(Vec3::ZERO), inertia) < 1e-13);
    }
}

/// Checks that hulls of ever more points on a surface converge to its closed form.
///
/// All errors fall with the square of the mesh size: halving it divides the error by four, and (4
/// fine - coarse) / 3 is accurate to fourth order.
fn assert_hulls_converge(shape: &Shape, points: impl Fn(usize) -> Vec<Vec3>, n: usize) {
    let exact = shape.mass_properties(1.0).unwrap();
    let [coarse, fine] =
        [n, 2 * n].map(|n| Shape::hull(&points(n)).unwrap().mass_properties(1.0).unwrap());
    let check = |name: &str, of: &dyn Fn(&MassProperties) -> f64| {
        let [coarse, fine, exact] = [&coarse, &fine, &exact].map(of);
        let ratio = (coarse - exact) / (fine - exact);
        assert!((ratio - 4.0).abs() < 0.05, "{shape:?} {name}: error falls by a factor of {ratio}");
        let error = ((4.0 * fine - coarse) / 3.0 / exact - 1.0).abs();
        assert!(error < 1e-6, "{shape:?} {name}: {error}");
    };
    check("volume", &|m| m.volume);
    check("area", &|m| m.area);
    check("Ixx", &|m| m.inertia.x_axis.x);
    check("Iyy", &|m| m.inertia.y_axis.y);
    check("Izz", &|m| m.inertia.z_axis.z);
    assert!((fine.center_of_mass - exact.center_of_mass).length() < 1e-3);
    let products = exact.inertia - Mat3::from_diagonal(exact.inertia.diagonal());
    assert_eq!(products, Mat3::ZERO);
}

#[test]
fn hulls_of_points_on_round_solids_converge_to_their_closed_forms() {
    let cylinder = Shape::cylinder(0.4, 0.9).unwrap();
    assert_hulls_converge(&cylinder, |n| prism(n, 0.4, 0.9), 128);
    let cone = Shape::cone(0.7, 0.6).unwrap();
    let cone_points = |n: usize| {
        let mut points = circle(n, 0.7, -0.6);
        points.push(Vec3::new(0.0, 0.0, 0.6));
        points
    };
    assert_hulls_converge(&cone, cone_points, 128);
    assert_hulls_converge(&Shape::sphere(1.3).unwrap(), |n| capsule(n, 1.3, 0.0), 32);
    assert_hulls_converge(&Shape::capsule(0.5, 0.8).unwrap(), |n| capsule(n, 0.5, 0.8), 32);
}

#[test]
fn closed_forms_have_their_textbook_values() {
    let unit = |shape: Shape| shape.mass_properties(1.0).unwrap().with_mass(1.0).unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-15, "{a} {b}");
    let sphere = unit(Shape::sphere(2.0).unwrap());
    near(sphere.volume, 32.0 / 3.0 * PI);
    near(sphere.area, 16.0 * PI);
    near(sphere.inertia.x_axis.x, 0.4 * 4.0);
    let cylinder = unit(Shape::cylinder(2.0, 1.5).unwrap());
    near(cylinder.volume, 12.0 * PI);
    near(cylinder.area, 20.0 * PI);
    near(cylinder.inertia.z_axis.z, 0.5 * 4.0);
    near(cylinder.inertia.x_axis.x, (3.0 * 4.0 + 9.0) / 12.0);
    // Base 3, height 4, slant 5; the center of mass is a quarter of the height above the base.
    let cone = unit(Shape::cone(3.0, 2.0).unwrap());
    near(cone.volume, 12.0 * PI);
    near(cone.area, 24.0 * PI);
    near(cone.center_of_mass.z, -1.0);
    near(cone.inertia.z_axis.z, 0.3 * 9.0);
    near(cone.inertia.x_axis.x, 3.0 / 20.0 * 9.0 + 3.0 / 80.0 * 16.0);
    // About the apex: 3/5 of h^2 and 3/20 of r^2.
    let apex = cone.inertia_about(Vec3::new(0.0, 0.0, 2.0));
    near(apex.x_axis.x, 0.6 * 16.0 + 0.15 * 9.0);
    // Half the volume is in the caps: r = 3 h / 2 of the segment 2 h. With r = 3, h = 2 the volumes
    // of the caps and of the middle are 36 pi each.
    let capsule = unit(Shape::capsule(3.0, 2.0).unwrap());
    near(capsule.volume, 72.0 * PI);
    near(capsule.area, 60.0 * PI);
    near(capsule.inertia.z_axis.z, 0.5 * (4.5 + 3.6));
    near(capsule.inertia.x_axis.x, 0.5 * (2.25 + 4.0 / 3.0) + 0.5 * (3.6 + 4.0 + 4.5));
}

#[test]
fn principal_axes_and_moments_reproduce_the_tensor() {
    let mut random = Random(26);
    for _ in 0..500 {
        let half = random.in_cube().abs() + Vec3::splat(1e-3);
        let rotation = random.rotation();
        let own = Shape::cuboid(half).unwrap().mass_properties(3.0).unwrap();
        let m = MassProperties { inertia: turned(own.inertia, rotation), ..own };
        let principal = m.principal();
        let p = principal.moments;
        assert!(p.x <= p.y && p.y <= p.z);
        assert!((principal.rotation.length() - 1.0).abs() < 1e-15);
        let again = turned(Mat3::from_diagonal(p), principal.rotation);
        assert!(relative_error(again, m.inertia) < 4e-15);
        let mut expected = own.inertia.diagonal().to_array();
        expected.sort_by(f64::total_cmp);
        assert!((p - Vec3::from_array(expected)).length() < 1e-14 * p.z);
    }
    // A cube has no preferred axes, so it keeps its own.
    let (_, points, ..) = polyhedra().remove(1);
    assert_eq!(unit_mass(&points).principal().rotation, Quat::IDENTITY);
    // Ascending moments z, x, y: the frame is rotated, not mirrored.
    let brick = Shape::cuboid(Vec3::new(0.2, 0.1, 0.3)).unwrap().mass_properties(1.0).unwrap();
    let axes = Mat3::from_quat(brick.principal().rotation);
    assert!((axes.determinant() - 1.0).abs() < 1e-15);
    assert!((axes.x_axis.z.abs() - 1.0).abs() < 1e-15 && (axes.y_axis.x.abs() - 1.0).abs() < 1e-15);
}

#[test]
fn an_invalid_mass_or_density_is_rejected_with_field_and_value() {
    let ball = Shape::sphere(1.0).unwrap();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        match ball.mass_properties(bad).unwrap_err() {
            MassError::NotPositive { field: "density", value } => {
                assert_eq!(value.to_bits(), bad.to_bits());
            }
            other => panic!("{other}"),
        }
        let error = ball.mass_properties(1.0).unwrap().with_mass(bad).unwrap_err();
        assert!(error.to_string().starts_with(&format!("mass = {bad}")), "{error}");
    }
    let plane = Shape::half_space(Vec3::Z, 0.0).unwrap();
    assert_eq!(plane.mass_properties(1.0).unwrap_err(), MassError::Unbounded);
    let huge = Shape::sphere(1e12).unwrap().mass_properties(1e300).unwrap_err();
    assert_eq!(huge, MassError::OutOfRange { field: "density", value: 1e300 });
    let tiny = Shape::sphere(1e-12).unwrap().mass_properties(1e-300).unwrap_err();
    assert_eq!(tiny, MassError::OutOfRange { field: "density", value: 1e-300 });
}

fn cloud() -> impl Strategy<Value = Vec<Vec3>> {
    let point = [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(Vec3::from_array);
    proptest::collection::vec(point, 5..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn scaling_by_a_power_of_two_changes_no_digit_of_the_mass_properties(points in cloud()) {
        let Ok(hull) = Shape::hull(&points) else { return Ok(()) };
        let one = hull.mass_properties(1.3).unwrap();
        for k in -20..=20 {
            let scale = 2.0_f64.powi(k);
            let scaled: Vec<_> = points.iter().map(|&p| p * scale).collect();
            let m = Shape::hull(&scaled).unwrap().mass_properties(1.3).unwrap();
            prop_assert_eq!(m.volume, one.volume * scale.powi(3));
            prop_assert_eq!(m.mass, one.mass * scale.powi(3));
            prop_assert_eq!(m.area, one.area * scale.powi(2));
            prop_assert_eq!(m.center_of_mass, one.center_of_mass * scale);
            prop_assert_eq!(m.inertia, one.inertia * scale.powi(5));
            let (p, q) = (m.principal(), one.principal());
            prop_assert_eq!(p.rotation, q.rotation);
            prop_assert_eq!(p.moments, q.moments * scale.powi(5));
        }
    }

    #[test]
    fn rotating_a_cloud_rotates_its_tensor(points in cloud(), seed in any::<u64>()) {
        let Ok(hull) = Shape::hull(&points) else { return Ok(()) };
        let (rotation, offset) = (Random(seed).rotation(), Random(!seed).in_cube());
        let moved: Vec<_> = points.iter().map(|&p| rotation * p + offset).collect();
        let (m, n) = (hull.mass_properties(1.0).unwrap(), unit_mass(&moved));
        let n = n.with_mass(m.mass).unwrap();
        // Rounding the corners may change a thin solid's volume noticeably, so compare at the same
        // mass.
        prop_assert!(relative_error(n.inertia, turned(m.inertia, rotation)) < 1e-12);
        let center = rotation * m.center_of_mass + offset;
        prop_assert!((n.center_of_mass - center).length() < 1e-13);
        assert_symmetric_positive(&n);
    }

    #[test]
    fn the_two_halves_of_a_cut_solid_add_up(points in cloud(), seed in any::<u64>()) {
        // Cut by a plane through the centroid: each half has the vertices on its side and the
        // points where the plane crosses the edges.
        let hull = match ConvexHull::new(&points) {
            Ok(hull) => hull,
            Err(ShapeError::Flat { .. }) => return Ok(()),
            Err(other) => panic!("{other}"),
        };
        let normal = Random(seed).direction();
        let height = |p: Vec3| normal.dot(p - hull.centroid());
        let cut: Vec<_> = hull
            .edges()
            .map(|(a, b)| (hull.vertices()[a as usize], hull.vertices()[b as usize]))
            .filter(|&(a, b)| height(a) * height(b) < 0.0)
            .map(|(a, b)| a + (b - a) * (height(a) / (height(a) - height(b))))
            .collect();
        let part = |sign: f64| {
            let side = hull.vertices().iter().copied().filter(|&v| sign * height(v) >= 0.0);
            let points: Vec<_> = side.chain(cut.iter().copied()).collect();
            Shape::hull(&points).unwrap().mass_properties(1.0).unwrap()
        };
        let (front, back) = (part(1.0), part(-1.0));
        let whole = Shape::Hull(hull.clone().into()).mass_properties(1.0).unwrap();
        prop_assert!(((front.mass + back.mass) / whole.mass - 1.0).abs() < 1e-12);
        let center = front.center_of_mass * front.mass + back.center_of_mass * back.mass;
        prop_assert!((center / whole.mass - whole.center_of_mass).length() < 1e-12);
        let at = whole.center_of_mass;
        let sum = front.inertia_about(at) + back.inertia_about(at);
        prop_assert!(relative_error(sum, whole.inertia) < 1e-12);
    }
}
