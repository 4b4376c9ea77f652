//! Convex hulls.

use std::collections::HashMap;

use msd_sim::error::ShapeError;
use msd_sim::geometry::{ConvexHull, SIZE_RANGE};
use msd_sim::math::Vec3;
use proptest::prelude::*;

use crate::solids::{
    Random, cube_grid, cuboid, dodecahedron, polyhedra, prism, rotated, spiral_sphere, tetrahedron,
};

fn hull(points: &[Vec3]) -> ConvexHull {
    ConvexHull::new(points).unwrap_or_else(|e| panic!("{e}"))
}

fn largest(points: &[Vec3]) -> f64 {
    points.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max)
}

/// Returns the hull's guaranteed tolerance: 32 roundings of the largest coordinate.
fn tolerance(points: &[Vec3]) -> f64 {
    32.0 * f64::EPSILON * largest(points)
}

/// Returns the counts of vertices, faces and edges, after checking that the tables describe a
/// closed surface.
fn counts(hull: &ConvexHull) -> (usize, usize, usize) {
    let (v, f, e) = (hull.vertices().len(), hull.face_count(), hull.edge_count());
    assert_eq!(v + f, e + 2, "Euler: {v} vertices, {f} faces, {e} edges");
    assert_eq!(hull.half_edges().len(), 2 * e);
    for (i, h) in hull.half_edges().iter().enumerate() {
        let twin = &hull.half_edges()[h.twin as usize];
        assert_eq!((twin.twin as usize, twin.edge), (i, h.edge));
        assert_ne!((twin.face, twin.origin), (h.face, h.origin));
    }
    (v, f, e)
}

fn assert_contains(hull: &ConvexHull, points: &[Vec3]) {
    let tolerance = tolerance(points);
    for plane in hull.planes() {
        assert!((plane.normal.length() - 1.0).abs() < 1e-15, "{plane:?}");
        for &p in points {
            let beyond = plane.distance(p);
            assert!(beyond <= tolerance, "{p} is {beyond} beyond {plane:?}, allowed {tolerance}");
        }
    }
}

/// Returns the faces as lists of corners by value, each starting at its least corner, sorted.
fn faces_by_value(hull: &ConvexHull) -> Vec<Vec<[u64; 3]>> {
    let mut faces: Vec<Vec<[u64; 3]>> = (0..hull.face_count() as u32)
        .map(|f| {
            let mut face: Vec<_> =
                hull.face_vertices(f).map(|v| v.to_array().map(f64::to_bits)).collect();
            let least = (0..face.len()).min_by_key(|&i| face[i]).unwrap();
            face.rotate_left(least);
            face
        })
        .collect();
    faces.sort();
    faces
}

#[test]
fn a_cube_has_8_vertices_6_faces_12_edges_and_its_volume_area_and_centroid() {
    let cube = hull(&cuboid(Vec3::splat(0.5)));
    assert_eq!(counts(&cube), (8, 6, 12));
    assert_eq!((cube.volume(), cube.area(), cube.centroid()), (1.0, 6.0, Vec3::ZERO));
}

#[test]
fn a_tetrahedron_has_4_faces_and_a_sixth_of_its_legs_product_as_volume() {
    let legs = Vec3::new(1.0, 2.0, 3.0);
    let corner = hull(&[Vec3::ZERO, Vec3::X * legs.x, Vec3::Y * legs.y, Vec3::Z * legs.z]);
    assert_eq!(counts(&corner), (4, 4, 6));
    assert!((corner.volume() - 1.0).abs() < 1e-15);
    // Three right triangles of area 1, 3 and 3/2, and the slanted one with the area vector (6, 3,
    // 2) / 2.
    assert!((corner.area() - (5.5 + 3.5)).abs() < 1e-12);
    assert!((corner.centroid() - legs / 4.0).length() < 1e-15);
}

#[test]
fn interior_points_duplicates_and_points_on_faces_and_edges_are_dropped() {
    let corners = cuboid(Vec3::ONE);
    let mut points = vec![Vec3::ZERO, Vec3::new(0.3, -0.2, 0.1), Vec3::Z, Vec3::new(1.0, 1.0, 0.2)];
    points.extend_from_slice(&corners);
    points.extend_from_slice(&corners);
    points.push(Vec3::new(-1.0, -1.0 / 3.0, 1.0));
    let cube = hull(&points);
    assert_eq!(counts(&cube), (8, 6, 12));
    // In input order and bit for bit.
    assert_eq!(cube.vertices(), &corners);
}

#[test]
fn points_a_few_roundings_apart_are_merged() {
    let mut points = cuboid(Vec3::ONE);
    let mut random = Random(5);
    for i in 0..200 {
        points.push(points[i % 8] + random.in_cube() * (3.0 * f64::EPSILON));
    }
    let cube = hull(&points);
    assert_eq!(counts(&cube), (8, 6, 12));
    assert_eq!(cube.vertices(), &points[..8]);
}

#[test]
fn every_polyhedron_of_the_table_has_its_faces_in_any_orientation() {
    let mut random = Random(1);
    for (name, points, _, faces, vertices, _) in polyhedra() {
        let upright = hull(&points);
        assert_eq!(counts(&upright), (vertices, faces, vertices + faces - 2), "{name}");
        for _ in 0..100 {
            let offset = random.in_cube();
            let turned: Vec<_> =
                rotated(&points, random.rotation()).iter().map(|&p| p + offset).collect();
            let hull = hull(&turned);
            assert_eq!(counts(&hull), (vertices, faces, vertices + faces - 2), "{name}");
            assert_contains(&hull, &turned);
            assert!((hull.volume() / upright.volume() - 1.0).abs() < 1e-14, "{name}");
            assert!((hull.area() / upright.area() - 1.0).abs() < 1e-14, "{name}");
        }
    }
}

#[test]
fn a_turned_dodecahedron_has_twelve_pentagons() {
    let mut random = Random(2);
    for _ in 0..100 {
        let solid = hull(&rotated(&dodecahedron(), random.rotation()));
        assert_eq!(counts(&solid), (20, 12, 30));
        assert!((0..12).all(|f| solid.face(f).len() == 5));
    }
}

#[test]
fn a_grid_on_a_cubes_surface_is_the_cube() {
    let mut random = Random(3);
    for n in [2, 3, 10, 37] {
        let grid = cube_grid(n);
        assert_eq!(counts(&hull(&grid)), (8, 6, 12), "n = {n}");
        for _ in 0..10 {
            let turned = rotated(&grid, random.rotation());
            let cube = hull(&turned);
            assert_eq!(counts(&cube), (8, 6, 12), "n = {n}");
            assert_contains(&cube, &turned);
            assert!((cube.volume() - 8.0).abs() < 1e-13);
        }
    }
}

#[test]
fn a_prism_of_1000_sides_has_1002_faces() {
    let mut random = Random(4);
    let points = prism(1000, 1.0, 0.5);
    assert_eq!(counts(&hull(&points)), (2000, 1002, 3000));
    for _ in 0..5 {
        let solid = hull(&rotated(&points, random.rotation()));
        assert_eq!(counts(&solid), (2000, 1002, 3000));
    }
}

#[test]
fn thin_plates_keep_all_their_corners() {
    let mut random = Random(6);
    for thickness in [1e-3, 1e-6, 1e-9, 1e-12] {
        let plate = cuboid(Vec3::new(0.5, 0.5, 0.5 * thickness));
        let flat = hull(&plate);
        assert_eq!(counts(&flat), (8, 6, 12), "{thickness}");
        assert!((flat.volume() / thickness - 1.0).abs() < 1e-12, "{thickness}");
        for _ in 0..20 {
            let turned = rotated(&plate, random.rotation());
            let solid = hull(&turned);
            assert_eq!(solid.vertices().len(), 8, "{thickness}");
            assert_contains(&solid, &turned);
            // The effect of rounding the corners' coordinates on the thickness.
            let allowed = 4.0 * f64::EPSILON / thickness;
            assert!((solid.volume() / thickness - 1.0).abs() < 1e-12 + allowed, "{thickness}");
        }
    }
}

#[test]
fn a_needle_and_a_wedge_keep_their_volume() {
    let needle = hull(&cuboid(Vec3::new(500.0, 5e-4, 5e-4)));
    assert_eq!(counts(&needle), (8, 6, 12));
    assert!((needle.volume() / 1e-3 - 1.0).abs() < 1e-12);
    // A knife edge of 1e-9 rad.
    let wedge = hull(&[
        Vec3::ZERO,
        Vec3::Y,
        Vec3::X,
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 1e-9),
        Vec3::new(1.0, 1.0, 1e-9),
    ]);
    assert_eq!(counts(&wedge), (6, 5, 9));
    assert!((wedge.volume() / 5e-10 - 1.0).abs() < 1e-12);
}

#[test]
fn thousands_of_points_on_a_sphere_are_all_vertices() {
    let points = spiral_sphere(5000);
    let ball = hull(&points);
    assert_eq!(ball.vertices(), &points);
    counts(&ball);
    assert_contains(&ball, &points);
}

#[test]
fn points_without_volume_are_rejected_with_their_thickness() {
    let rejected = |points: &[Vec3]| ConvexHull::new(points).unwrap_err();
    assert_eq!(rejected(&[]), ShapeError::TooFewPoints { given: 0, distinct: 0 });
    let three = [Vec3::X, Vec3::Y, Vec3::Z];
    assert_eq!(rejected(&three), ShapeError::TooFewPoints { given: 3, distinct: 3 });
    assert_eq!(rejected(&[Vec3::X; 9]), ShapeError::TooFewPoints { given: 9, distinct: 1 });
    assert_eq!(rejected(&[Vec3::ZERO; 4]), ShapeError::TooFewPoints { given: 4, distinct: 1 });
    let line: Vec<_> = (0..5).map(|i| Vec3::new(1.0, 2.0, 3.0) * f64::from(i)).collect();
    assert_eq!(rejected(&line), ShapeError::Flat { count: 5, thickness: 0.0, extent: 12.0 });
    let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    assert_eq!(rejected(&square), ShapeError::Flat { count: 4, thickness: 0.0, extent: 1.0 });
    let mut random = Random(7);
    for _ in 0..200 {
        let (rotation, offset) = (random.rotation(), random.in_cube() * 3.0);
        let flat: Vec<_> = (0..50)
            .map(|_| rotation * Vec3::new(random.signed(), random.signed(), 0.0) + offset)
            .collect();
        match rejected(&flat) {
            ShapeError::Flat { count: 50, thickness, extent } => {
                assert!(thickness < 1e-13 && extent > 0.5, "{thickness} {extent}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn an_invalid_coordinate_is_named_in_the_error() {
    let end = *SIZE_RANGE.end();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.001 * end, f64::MAX] {
        for axis in 0..3 {
            let mut points = tetrahedron();
            points[2][axis] = bad;
            match ConvexHull::new(&points).unwrap_err() {
                ShapeError::Point { index: 2, value } => {
                    assert_eq!(value[axis].to_bits(), bad.to_bits());
                }
                other => panic!("{other}"),
            }
        }
    }
    let mut points = tetrahedron();
    points[3].y = f64::NAN;
    let text = ConvexHull::new(&points).unwrap_err().to_string();
    assert!(text.starts_with("points[3] = [-1, NaN, 1]"), "{text}");
}

#[test]
fn sizes_at_both_ends_of_the_range_work_and_smaller_ones_are_rejected() {
    let (start, end) = (*SIZE_RANGE.start(), *SIZE_RANGE.end());
    for half in [start, 1e-9, 1e9, end] {
        let cube = hull(&cuboid(Vec3::splat(half)));
        assert_eq!(counts(&cube), (8, 6, 12));
        assert!((cube.volume() / (8.0 * half * half * half) - 1.0).abs() < 1e-15);
    }
    for half in [0.4 * start, 1e-200, 5e-324] {
        let error = ConvexHull::new(&cuboid(Vec3::splat(half))).unwrap_err();
        assert_eq!(error, ShapeError::Size { field: "points extent", value: 2.0 * half });
    }
    // Too small for its distance from the origin: one point to within rounding.
    let far: Vec<_> = cuboid(Vec3::splat(1e-6)).iter().map(|&p| p + Vec3::splat(1e11)).collect();
    assert_eq!(
        ConvexHull::new(&far).unwrap_err(),
        ShapeError::TooFewPoints { given: 8, distinct: 1 }
    );
}

#[test]
fn negligible_coordinates_do_no_harm() {
    let mut random = Random(8);
    let tiny = [0.0, -0.0, 5e-324, 1e-300, -1e-200, 1e-100, -1e-30];
    for _ in 0..200 {
        let mut points = cuboid(Vec3::ONE);
        for _ in 0..20 {
            let mut pick = || tiny[(random.bits() % 7) as usize];
            let (a, b, c) = (pick(), pick(), pick());
            points.extend([Vec3::new(1.0, a, b), Vec3::new(a, b, c), Vec3::new(a, 1.0, -1.0)]);
        }
        assert_eq!(counts(&hull(&points)), (8, 6, 12));
    }
    let zero = hull(&[Vec3::splat(-0.0), Vec3::X, Vec3::Y, Vec3::Z]).vertices()[0];
    assert!(zero.to_array().iter().all(|c| c.is_sign_positive()));
}

#[test]
fn clouds_of_points_on_a_coarse_grid_have_valid_hulls() {
    // Every degeneracy at once: duplicate, collinear and coplanar points in all directions.
    let mut random = Random(9);
    for _ in 0..2000 {
        let count = 4 + random.bits() % 40;
        let side = 2 + random.bits() % 4;
        let points: Vec<_> = (0..count)
            .map(|_| Vec3::from_array([0; 3].map(|_| (random.bits() % side) as f64)))
            .collect();
        if let Ok(solid) = ConvexHull::new(&points) {
            counts(&solid);
            assert_contains(&solid, &points);
            // Integer determinants: six times the volume is an integer.
            let six = 6.0 * solid.volume();
            assert!((six - six.round()).abs() < 1e-12, "{six}");
            // The same in any orientation.
            let turned = hull(&rotated(&points, random.rotation()));
            assert_eq!(counts(&turned), counts(&solid));
        }
    }
}

#[test]
fn noise_of_any_size_on_a_cube_leaves_a_convex_polyhedron() {
    let mut random = Random(10);
    for step in 0..60 {
        let noise = f64::EPSILON * 2.0_f64.powf(0.25 * f64::from(step));
        for n in [1, 2, 6] {
            let rotation = random.rotation();
            let points: Vec<_> =
                cube_grid(n).iter().map(|&p| rotation * p + random.in_cube() * noise).collect();
            let solid = hull(&points);
            counts(&solid);
            assert_contains(&solid, &points);
            assert!((solid.volume() - 8.0).abs() < 1e-13 + 40.0 * noise, "{noise}");
        }
    }
}

#[test]
fn a_hull_far_from_its_origin_keeps_its_shape() {
    let mut random = Random(11);
    for (name, points, _, faces, vertices, _) in polyhedra() {
        let solid = hull(&rotated(&points, random.rotation()));
        for distance in [1e1, 1e3, 1e6] {
            let moved = solid.translated(random.direction() * distance).unwrap();
            assert_eq!(counts(&moved), (vertices, faces, vertices + faces - 2), "{name}");
            let allowed = 20.0 * f64::EPSILON * distance;
            assert!((moved.volume() / solid.volume() - 1.0).abs() < allowed, "{name}");
            let home = moved.centered();
            assert_eq!(counts(&home), counts(&moved));
            assert!(home.centroid().length() < 1e-15 * home.bounding_radius());
            assert_contains(&home, home.vertices());
        }
    }
    let solid = hull(&tetrahedron());
    assert!(solid.translated(Vec3::splat(f64::NAN)).is_err());
    assert!(solid.translated(Vec3::splat(1e13)).is_err());
}

fn cloud() -> impl Strategy<Value = Vec<Vec3>> {
    let coordinate = prop_oneof![3 => -1.0..1.0, 1 => (-4..=4).prop_map(|i| f64::from(i) * 0.25)];
    let point = [coordinate.clone(), coordinate.clone(), coordinate].prop_map(Vec3::from_array);
    proptest::collection::vec(point, 4..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_point_of_a_cloud_is_inside_its_hull(points in cloud()) {
        if let Ok(solid) = ConvexHull::new(&points) {
            counts(&solid);
            assert_contains(&solid, &points);
            // Every vertex is one of the points, in their order.
            let mut rest = points.iter();
            for v in solid.vertices() {
                prop_assert!(rest.any(|p| p == v), "{v} is out of order or not a point");
            }
        }
    }

    #[test]
    fn the_hull_of_a_hulls_vertices_is_itself(points in cloud()) {
        if let Ok(solid) = ConvexHull::new(&points) {
            let again = hull(solid.vertices());
            prop_assert_eq!(again.vertices(), solid.vertices());
            prop_assert_eq!(again.half_edges(), solid.half_edges());
            prop_assert_eq!(again.planes(), solid.planes());
        }
    }

    #[test]
    fn the_order_of_the_points_changes_nothing(points in cloud(), seed in any::<u64>()) {
        if let Ok(solid) = ConvexHull::new(&points) {
            let mut shuffled = points;
            let mut random = Random(seed);
            for i in (1..shuffled.len()).rev() {
                shuffled.swap(i, (random.bits() % (i as u64 + 1)) as usize);
            }
            prop_assert_eq!(faces_by_value(&hull(&shuffled)), faces_by_value(&solid));
        }
    }

    #[test]
    fn a_rotated_prism_has_one_face_per_side(sides in 3_usize..60, height in 0.01..10.0, seed in any::<u64>()) {
        let mut random = Random(seed);
        let points = rotated(&prism(sides, 1.0, height), random.rotation());
        prop_assert_eq!(counts(&hull(&points)), (2 * sides, sides + 2, 3 * sides));
    }

    #[test]
    fn scaling_by_a_power_of_two_changes_no_digit(points in cloud()) {
        let Ok(solid) = ConvexHull::new(&points) else { return Ok(()) };
        for k in -20..=20 {
            let scale = 2.0_f64.powi(k);
            let scaled = hull(&points.iter().map(|&p| p * scale).collect::<Vec<_>>());
            prop_assert_eq!(scaled.half_edges(), solid.half_edges());
            prop_assert!(scaled.vertices().iter().zip(solid.vertices()).all(|(s, v)| *s == *v * scale));
            for (s, p) in scaled.planes().iter().zip(solid.planes()) {
                prop_assert_eq!(s.normal, p.normal);
                prop_assert_eq!(s.offset, p.offset * scale);
            }
            prop_assert_eq!(scaled.volume(), solid.volume() * scale.powi(3));
            prop_assert_eq!(scaled.area(), solid.area() * scale.powi(2));
            prop_assert_eq!(scaled.centroid(), solid.centroid() * scale);
            prop_assert_eq!(scaled.bounding_radius(), solid.bounding_radius() * scale);
        }
    }

    #[test]
    fn arbitrary_numbers_give_a_hull_or_an_error(
        points in proptest::collection::vec([any::<f64>(), any::<f64>(), any::<f64>()], 0..12),
        exponent in -45..45,
    ) {
        // As they are, and scaled into the range of sizes.
        let points: Vec<_> = points.into_iter().map(Vec3::from_array).collect();
        let squeezed: Vec<_> = points
            .iter()
            .map(|p| Vec3::from_array(p.to_array().map(|c| {
                if c.is_finite() { c / (1.0 + c.abs()) * 2.0_f64.powi(exponent) } else { c }
            })))
            .collect();
        for points in [points, squeezed] {
            if let Ok(solid) = ConvexHull::new(&points) {
                counts(&solid);
                assert_contains(&solid, &points);
                prop_assert!(solid.volume() > 0.0 && solid.volume().is_finite());
            }
        }
    }
}

#[test]
fn the_two_half_edges_of_an_edge_run_in_opposite_directions() {
    let solid = hull(&spiral_sphere(300));
    let mut sides = HashMap::new();
    for f in 0..solid.face_count() as u32 {
        let face = solid.face(f);
        for i in 0..face.len() {
            let ends = (face[i].origin, face[(i + 1) % face.len()].origin);
            assert!(sides.insert(ends, f).is_none(), "{ends:?} twice");
        }
    }
    assert!(sides.keys().all(|&(a, b)| sides.contains_key(&(b, a))));
}
