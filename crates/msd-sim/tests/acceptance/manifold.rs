//! Contact points, their individual depths and their persistent feature ids.

use std::collections::BTreeSet;
use std::f64::consts::{FRAC_PI_4, FRAC_PI_6, FRAC_PI_8};

use msd_sim::geometry::{Manifold, PairMemory, Shape, Workspace, contact_manifold};
use msd_sim::math::{Pose, Quat, Vec3, rotation};

use crate::oracle::pairs::{Pair, Rng, random_pair};
use crate::oracle::{depth, outside_by, overlap_along};

fn unit_cube() -> Shape {
    Shape::cuboid(Vec3::splat(0.5)).unwrap()
}

/// Returns a floor of 100 m by 100 m, its top at z = 0.
fn floor() -> (Shape, Pose) {
    (Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap(), Pose::at(Vec3::new(0.0, 0.0, -0.5)))
}

fn contact(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Manifold {
    let (memory, workspace) = (&mut PairMemory::default(), &mut Workspace::default());
    contact_manifold(a, pose_a, b, pose_b, margin, memory, workspace)
}

/// Contacts of a body with the floor, with a half-space, and with a hull in the shape of the floor.
fn on_floors(body: &Shape, pose: &Pose, margin: f64) -> [Manifold; 3] {
    let (floor, at) = floor();
    let plane = Shape::half_space(Vec3::Z, 0.0).unwrap();
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            Vec3::new(50.0 * side(0), 50.0 * side(1), 0.5 * side(2))
        })
        .collect();
    let hull = Shape::hull(&corners).unwrap();
    [
        contact(&floor, &at, body, pose, margin),
        contact(&plane, &Pose::IDENTITY, body, pose, margin),
        contact(&hull, &at, body, pose, margin),
    ]
}

#[test]
fn a_cube_sunk_5_cm_has_four_points_each_5_cm_deep() {
    let center = Vec3::new(0.0, 0.0, 0.45);
    for found in on_floors(&unit_cube(), &Pose::at(center), 0.01) {
        assert_eq!(found.points().len(), 4);
        assert_eq!(found.normal, Vec3::Z);
        let mut torque = Vec3::ZERO;
        for point in found.points() {
            assert!((point.depth - 0.05).abs() < 1e-9, "{point:?}");
            assert!((point.position.x.abs() - 0.5).abs() < 1e-9, "{point:?}");
            assert!((point.position.y.abs() - 0.5).abs() < 1e-9, "{point:?}");
            torque += (point.position - center).cross(found.normal);
        }
        assert!(torque.length() < 1e-9, "{torque}");
    }
}

#[test]
fn the_depth_of_each_point_of_a_tilted_cube_is_its_own_depth_below_the_floor() {
    // Tilted by 15 degrees about x, a bottom corner at y = -1/2 or 1/2 lies at
    // z = center + y sin(15) - cos(15) / 2. The deep side is y = -1/2.
    let tilt = 15_f64.to_radians();
    let (sin, cos) = tilt.sin_cos();
    let center = 0.5 * cos + 0.5 * sin - 0.3;
    let pose = Pose::new(Vec3::new(0.0, 0.0, center), rotation(Vec3::X, tilt));
    for found in on_floors(&unit_cube(), &pose, 0.01) {
        assert_eq!(found.points().len(), 4);
        for point in found.points() {
            let deep = point.position.y < 0.0;
            let expected = if deep { 0.3 } else { 0.3 - sin };
            assert!((point.depth - expected).abs() < 1e-12, "{point:?}, expected {expected}");
        }
    }
}

#[test]
fn a_cube_on_its_edge_touches_the_floor_in_two_points() {
    let height = 0.5_f64.sqrt() - 0.01;
    let pose = Pose::new(Vec3::new(0.0, 0.0, height), rotation(Vec3::X, FRAC_PI_4));
    for found in on_floors(&unit_cube(), &pose, 0.001) {
        assert_eq!(found.points().len(), 2, "{found:?}");
        for point in found.points() {
            assert!((point.depth - 0.01).abs() < 1e-12, "{point:?}");
            assert!((point.position.x.abs() - 0.5).abs() < 1e-12, "{point:?}");
        }
    }
}

/// Rotates a cube's diagonal onto the z axis.
fn on_corner() -> Quat {
    Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Z)
}

#[test]
fn a_cube_on_its_corner_touches_the_floor_in_one_point() {
    let height = 0.75_f64.sqrt() - 0.01;
    let pose = Pose::new(Vec3::new(0.0, 0.0, height), on_corner());
    for found in on_floors(&unit_cube(), &pose, 0.001) {
        assert_eq!(found.points().len(), 1, "{found:?}");
        assert!((found.depth() - 0.01).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn crossed_edges_touch_in_one_point_between_them() {
    // Two cubes on their edges, one along x below, one along y above.
    let half_diagonal = 0.5_f64.sqrt();
    let below = Pose::new(Vec3::ZERO, rotation(Vec3::X, FRAC_PI_4));
    let at = Vec3::new(0.0, 0.0, 2.0 * half_diagonal - 0.02);
    let above = Pose::new(at, rotation(Vec3::Y, FRAC_PI_4));
    let found = contact(&unit_cube(), &below, &unit_cube(), &above, 0.001);
    assert_eq!(found.points().len(), 1, "{found:?}");
    assert!((found.depth() - 0.02).abs() < 1e-12);
    assert!((found.normal - Vec3::Z).length() < 1e-12);
    let middle = Vec3::new(0.0, 0.0, half_diagonal - 0.01);
    assert!((found.points()[0].position - middle).length() < 1e-12, "{found:?}");
}

#[test]
fn a_gap_within_the_margin_is_a_negative_depth_and_beyond_it_no_contact() {
    for (gap, points) in [(0.004, 4), (0.006, 0)] {
        for found in on_floors(&unit_cube(), &Pose::at(Vec3::new(0.0, 0.0, 0.5 + gap)), 0.005) {
            assert_eq!(found.points().len(), points);
            assert!(found.points().iter().all(|p| (p.depth + gap).abs() < 1e-12), "{found:?}");
        }
    }
}

#[test]
fn eight_clipped_points_are_reduced_to_the_four_of_largest_area_that_include_the_deepest() {
    // A cube on a cube, rotated by 45 degrees: the common area is a regular octagon of inradius
    // 1/2. With a slight tilt, one of its corners is the deepest. Of all quadrilaterals of a
    // regular octagon's corners that include a given one, the square through it is the largest:
    // with the circumradius r = 1/2 / cos(22.5 deg) its area is 2 r^2.
    for direction in 0..8 {
        let towards = FRAC_PI_8 + FRAC_PI_4 * f64::from(direction);
        let down = Vec3::new(towards.cos(), towards.sin(), 0.0);
        let tilt = rotation(Vec3::Z.cross(down), 1e-3);
        let pose =
            Pose::new(Vec3::new(0.0, 0.0, 0.99), (tilt * rotation(Vec3::Z, FRAC_PI_4)).normalize());
        let found = contact(&unit_cube(), &Pose::IDENTITY, &unit_cube(), &pose, 0.01);
        assert_eq!(found.points().len(), 4);
        let p: Vec<Vec3> = found.points().iter().map(|p| p.position).collect();
        let area = 0.5 * (p[2] - p[0]).cross(p[3] - p[1]).length();
        let radius = 0.5 / FRAC_PI_8.cos();
        assert!((area - 2.0 * radius * radius).abs() < 1e-3, "area {area}: {p:?}");
        let deepest = found.points().iter().max_by(|p, q| p.depth.total_cmp(&q.depth)).unwrap();
        let lowest = down * radius;
        assert!((deepest.position - lowest).truncate().length() < 1e-3, "{deepest:?} {lowest}");
        assert!((deepest.depth - (0.01 + 1e-3 * radius)).abs() < 1e-5, "{deepest:?}");
    }
}

fn feature_ids(manifold: &Manifold) -> BTreeSet<u64> {
    manifold.points().iter().map(|p| p.feature.bits()).collect()
}

#[test]
fn feature_ids_persist_under_jitter_tilt_and_slow_motion() {
    let (floor, at) = floor();
    let cylinder = Shape::cylinder(0.45, 0.5).unwrap();
    let capsule = Shape::capsule(0.5, 0.5).unwrap();
    let plane = Shape::half_space(Vec3::Z, 0.0).unwrap();
    let prism: Vec<Vec3> = (0..12)
        .map(|i| {
            let (sin, cos) = (f64::from(i / 2) * 2.0 * FRAC_PI_6).sin_cos();
            Vec3::new(0.4 * cos, 0.4 * sin, if i % 2 == 0 { -0.5 } else { 0.5 })
        })
        .collect();
    let prism = Shape::hull(&prism).unwrap();
    let lying = rotation(Vec3::Y, 2.0 * FRAC_PI_4);
    let mut rng = Rng::new(3);
    for (shape, turn) in [
        (unit_cube(), Quat::IDENTITY),
        (cylinder.clone(), Quat::IDENTITY),
        (prism, Quat::IDENTITY),
        (capsule, lying),
    ] {
        let table = (&unit_cube(), &Pose::at(Vec3::Z * -0.5));
        let drum = (&cylinder, &Pose::at(Vec3::Z * -0.5));
        for (below, below_at) in [(&floor, &at), table, drum, (&plane, &Pose::IDENTITY)] {
            let (mut memory, mut workspace) = (PairMemory::default(), Workspace::default());
            let mut seen = BTreeSet::new();
            for step in 0..200 {
                let height = 0.5 - 1e-4 + 1e-6 * rng.range(-1.0, 1.0);
                let jitter = rotation(rng.direction(), 1e-7 * rng.range(0.0, 1.0));
                let pose = Pose::new(
                    Vec3::new(1e-8 * f64::from(step), -1e-8 * f64::from(step), height),
                    (jitter * turn).normalize(),
                );
                let found = contact_manifold(
                    below,
                    below_at,
                    &shape,
                    &pose,
                    0.01,
                    &mut memory,
                    &mut workspace,
                );
                let now = feature_ids(&found);
                assert_eq!(now.len(), found.points().len(), "feature ids are distinct");
                seen.insert(now);
            }
            assert_eq!(seen.len(), 1, "{shape:?} on {below:?}: {seen:?}");
        }
    }
}

#[test]
fn the_reference_face_stays_while_two_faces_are_equally_good() {
    // Two equal cubes on top of each other, tilted back and forth by less than the hysteresis: the
    // normal must stay the face normal of the same cube.
    let (mut memory, mut workspace) = (PairMemory::default(), Workspace::default());
    let mut rng = Rng::new(5);
    for _ in 0..200 {
        let tilt = rotation(rng.direction(), 1e-5 * rng.range(-1.0, 1.0));
        let pose = Pose::new(Vec3::new(0.1, 0.05, 0.99), tilt);
        let cube = unit_cube();
        let found = contact_manifold(
            &cube,
            &Pose::IDENTITY,
            &cube,
            &pose,
            0.01,
            &mut memory,
            &mut workspace,
        );
        assert_eq!(found.normal, Vec3::Z);
    }
}

#[test]
fn the_normal_does_not_flip_between_two_equally_good_faces() {
    // B overlaps A's corner by 10 cm in x and in z: either face is valid, but the choice must not
    // change.
    let (mut memory, mut workspace) = (PairMemory::default(), Workspace::default());
    let mut rng = Rng::new(6);
    let cube = unit_cube();
    let mut normals = Vec::new();
    for _ in 0..100 {
        let pose = Pose::at(Vec3::new(0.9, 0.0, 0.9) + rng.in_cube() * 1e-6);
        let found = contact_manifold(
            &cube,
            &Pose::IDENTITY,
            &cube,
            &pose,
            0.01,
            &mut memory,
            &mut workspace,
        );
        normals.push(found.normal);
    }
    assert!(normals.iter().all(|&n| n == normals[0]), "{normals:?}");
}

#[test]
fn hulls_far_from_their_own_origin_have_the_same_contacts() {
    // The crossed edges again, with hulls whose corners are 1000 m from their origins.
    let shift = Vec3::new(1000.0, 0.0, 0.0);
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |bit: u32| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
            shift + Vec3::new(side(0), side(1), side(2))
        })
        .collect();
    let hull = Shape::hull(&corners).unwrap();
    let place = |at: Vec3, turn: Quat| Pose::new(at - turn * shift, turn);
    let below = place(Vec3::ZERO, rotation(Vec3::X, FRAC_PI_4));
    let at = Vec3::new(0.0, 0.0, 2.0 * 0.5_f64.sqrt() - 0.02);
    let above = place(at, rotation(Vec3::Y, FRAC_PI_4));
    let found = contact(&hull, &below, &hull, &above, 0.001);
    assert_eq!(found.points().len(), 1, "{found:?}");
    assert!((found.depth() - 0.02).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_leaning_cylinder_touches_in_one_point() {
    // Tilted about y, the lowest rim point is one of the fixed samples of the rim.
    let cylinder = Shape::cylinder(0.4, 0.5).unwrap();
    for tilt in [0.3, FRAC_PI_6, 1.0] {
        let lowest = 0.5 * f64::cos(tilt) + 0.4 * f64::sin(tilt);
        let pose = Pose::new(Vec3::new(0.0, 0.0, lowest - 0.01), rotation(Vec3::Y, tilt));
        for found in on_floors(&cylinder, &pose, 0.001) {
            assert_eq!(found.points().len(), 1, "{tilt}: {found:?}");
            assert!((found.depth() - 0.01).abs() < 1e-9, "{tilt}: {found:?}");
        }
    }
}

#[test]
fn two_standing_cylinders_that_barely_overlap_have_points_where_their_rims_cross() {
    // Radius 1, axes 1.95 apart: the rims cross at +-sqrt(1 - 0.975^2) from the middle.
    let cylinder = Shape::cylinder(1.0, 0.5).unwrap();
    let (sin, cos) = FRAC_PI_8.sin_cos();
    let away = Vec3::new(cos, sin, 0.0);
    let pose = Pose::at(away * 1.95 + Vec3::Z * 0.99);
    let found = contact(&cylinder, &Pose::IDENTITY, &cylinder, &pose, 0.001);
    let across = Vec3::new(-sin, cos, 0.0) * (1.0_f64 - 0.975 * 0.975).sqrt();
    for side in [across, -across] {
        let expected = away * 0.975 + side + Vec3::Z * 0.495;
        assert!(
            found.points().iter().any(|p| (p.position - expected).length() < 1e-9),
            "{expected} in {found:?}"
        );
    }
}

#[test]
fn a_leaning_capsule_is_as_deep_as_its_lower_end() {
    // Leaning by 30 degrees: the lower end's center is at z = center - h cos(30), and its cap
    // reaches r below that, wherever its lowest point is.
    let capsule = Shape::capsule(0.2, 0.5).unwrap();
    let center = 0.5 * FRAC_PI_6.cos() + 0.2 - 0.01;
    let pose = Pose::new(Vec3::new(0.0, 0.0, center), rotation(Vec3::X, FRAC_PI_6));
    for found in on_floors(&capsule, &pose, 0.001) {
        assert_eq!(found.points().len(), 1, "{found:?}");
        assert!((found.depth() - 0.01).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn a_standing_cylinder_has_four_points_of_its_rim_and_a_lying_one_two() {
    let cylinder = Shape::cylinder(0.4, 0.5).unwrap();
    for found in on_floors(&cylinder, &Pose::at(Vec3::new(0.0, 0.0, 0.49)), 0.001) {
        assert_eq!(found.points().len(), 4, "{found:?}");
        for p in found.points() {
            assert!((p.position.truncate().length() - 0.4).abs() < 1e-12, "{p:?}");
            assert!((p.depth - 0.01).abs() < 1e-12, "{p:?}");
        }
    }
    let lying = Pose::new(Vec3::new(0.0, 0.0, 0.39), rotation(Vec3::Y, 2.0 * FRAC_PI_4));
    for found in on_floors(&cylinder, &lying, 0.001) {
        assert_eq!(found.points().len(), 2, "{found:?}");
        assert!(found.points().iter().all(|p| (p.depth - 0.01).abs() < 1e-12), "{found:?}");
    }
}

#[test]
fn a_cylinder_half_over_an_edge_has_points_where_the_edge_cuts_its_rim() {
    // The floor ends at x = 50; the cylinder's axis stands at x = 49.9. The edge cuts the rim of
    // radius 0.4 at y = +-sqrt(0.4^2 - 0.1^2).
    let (floor, at) = floor();
    let cylinder = Shape::cylinder(0.4, 0.5).unwrap();
    let pose = Pose::at(Vec3::new(49.9, 0.0, 0.49));
    let found = contact(&floor, &at, &cylinder, &pose, 0.001);
    let cut = (0.4_f64 * 0.4 - 0.1 * 0.1).sqrt();
    for side in [-cut, cut] {
        let expected = Vec3::new(50.0, side, -0.005);
        assert!(
            found.points().iter().any(|p| (p.position - expected).length() < 1e-9),
            "{expected} in {found:?}"
        );
    }
    assert!(found.points().iter().all(|p| p.position.x < 50.0 + 1e-9), "{found:?}");
}

#[test]
fn the_gap_of_boxes_corner_to_corner_is_the_distance_of_their_corners() {
    // No face normal or cross product of edges gives the whole gap: the contact is between corners,
    // and its direction and gap are those of the nearest points.
    let cube = Shape::cuboid(Vec3::splat(0.1)).unwrap();
    let turn = Quat::from_xyzw(-0.0283, 0.0348, -0.0553, 0.9975).normalize();
    let pose = Pose::new(Vec3::new(0.1938, -0.1578, -0.2114), turn);
    let (overlap, n) = depth(&cube, &Pose::IDENTITY, &cube, &pose);
    let found = contact(&cube, &Pose::IDENTITY, &cube, &pose, 0.01);
    assert_eq!(found.points().len(), 1, "{found:?}");
    assert!((found.depth() - overlap).abs() < 1e-12, "{found:?}, exact {overlap}");
    assert!((found.normal - n).length() < 1e-9, "{found:?}, exact {n}");
}

#[test]
fn boxes_within_the_margin_have_points_near_both_surfaces() {
    let mut rng = Rng::new(12);
    let mut workspace = Workspace::default();
    let mut failures = Vec::new();
    for seed in 0..20_000 {
        let mut half = || Vec3::new(rng.log_range(0.01, 1.0), rng.log_range(0.01, 1.0), 0.3);
        let (a, b) = (Shape::cuboid(half()).unwrap(), Shape::cuboid(half()).unwrap());
        let mut pair =
            Pair { a, pose_a: Pose::new(rng.in_cube(), rng.rotation()), b, pose_b: Pose::IDENTITY };
        pair.pose_b = Pose::new(rng.in_cube() * 2.0, rng.rotation());
        let size = pair.a.least_width().min(pair.b.least_width());
        let (overlap, n) = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
        let margin = 0.5 * size;
        pair.pose_b.position += n * (overlap + margin * rng.range(0.0, 1.2));
        let Pair { a, pose_a, b, pose_b } = &pair;
        let memory = &mut PairMemory::default();
        let found = contact_manifold(a, pose_a, b, pose_b, margin, memory, &mut workspace);
        if let Err(why) = check(&pair, margin, &found) {
            failures.push(format!("{seed}: {why}: {found:?} for {pair:?}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failed: {}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n")
    );
}

#[test]
fn boxes_and_hulls_of_their_corners_have_the_same_contacts() {
    // Two boxes use separating axes, hulls use GJK and EPA: two algorithms, the same contact.
    let mut rng = Rng::new(8);
    let mut touching = 0;
    for _ in 0..1_500 {
        let halves = [(); 2].map(|()| Vec3::new(rng.dyadic(), rng.dyadic(), rng.dyadic()));
        let boxes = halves.map(|h| Shape::cuboid(h).unwrap());
        let hulls = halves.map(|h| {
            let corner = |i: i32| {
                let side = |bit: i32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                h * Vec3::new(side(0), side(1), side(2))
            };
            Shape::hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
        });
        let pose_a = Pose::new(rng.in_cube(), rng.rotation());
        let mut pose_b = Pose::new(rng.in_cube(), rng.rotation());
        let (overlap, n) = depth(&boxes[0], &pose_a, &boxes[1], &pose_b);
        pose_b.position += n * (overlap + 0.02 * rng.range(-1.0, 1.0));
        let of = |[a, b]: &[Shape; 2]| contact(a, &pose_a, b, &pose_b, 0.01);
        let (one, other) = (of(&boxes), of(&hulls));
        assert_eq!(one.is_empty(), other.is_empty(), "{one:?} {other:?}");
        if one.is_empty() {
            continue;
        }
        touching += 1;
        // Across a gap, a corner may be nearer than along any axis: the direction may then differ.
        if one.depth() > 0.0 {
            assert!(one.normal.dot(other.normal) > 1.0 - 1e-9, "{one:?} {other:?}");
            assert!((one.depth() - other.depth()).abs() < 1e-9, "{one:?} {other:?}");
            assert_eq!(one.points().len(), other.points().len(), "{one:?} {other:?}");
        }
    }
    assert!(touching > 500, "{touching} touching pairs");
}

/// Checks every property that a manifold must have for any shapes.
pub(crate) fn check(pair: &Pair, margin: f64, found: &Manifold) -> Result<(), String> {
    let Pair { a, pose_a, b, pose_b } = pair;
    let size = a.least_width().min(b.least_width());
    let (true_depth, _) = depth(a, pose_a, b, pose_b);
    if found.is_empty() {
        return if true_depth < -margin + 1e-9 * size {
            Ok(())
        } else {
            Err(format!("no contact, but the depth is {true_depth}"))
        };
    }
    if (found.normal.length() - 1.0).abs() > 1e-12 {
        return Err(format!("normal {}", found.normal));
    }
    // A face is preferred over the exact direction within 1e-3 of the smaller size.
    let deepest = found.depth();
    if (deepest - true_depth).abs() > 2.1e-3 * size {
        return Err(format!("deepest point {deepest}, depth {true_depth}"));
    }
    let reach = overlap_along(a, pose_a, b, pose_b, found.normal);
    for point in found.points() {
        if !(point.position.is_finite() && point.depth.is_finite()) {
            return Err(format!("not finite: {point:?}"));
        }
        if point.depth > reach + 1e-9 * size || point.depth < -margin {
            return Err(format!("point of depth {}, overlap {reach}", point.depth));
        }
        // Midway between a point of each surface; the two are as far apart as the point is deep.
        let gap = 0.5 * point.depth.abs();
        for (shape, pose) in [(a, pose_a), (b, pose_b)] {
            let outside = outside_by(shape, pose, point.position);
            if outside > gap + 2.1e-3 * size {
                return Err(format!("{point:?} lies {outside} outside of {shape:?}"));
            }
        }
    }
    if feature_ids(found).len() != found.points().len() {
        return Err(format!("two points with one feature id: {found:?}"));
    }
    Ok(())
}

#[test]
fn manifolds_of_random_pairs_have_every_guaranteed_property() {
    let mut workspace = Workspace::default();
    let mut failures = Vec::new();
    for seed in 0..6_000 {
        let mut pair = random_pair(&mut Rng::new(seed));
        let size = pair.a.bounding_radius().min(pair.b.bounding_radius());
        // Half of them as in a simulation: just touching.
        if seed % 2 == 0 {
            let (overlap, n) = depth(&pair.a, &pair.pose_a, &pair.b, &pair.pose_b);
            pair.pose_b.position += n * (overlap - 0.01 * size);
        }
        let margin = 0.02 * size;
        let memory = &mut PairMemory::default();
        let Pair { a, pose_a, b, pose_b } = &pair;
        let found = contact_manifold(a, pose_a, b, pose_b, margin, memory, &mut workspace);
        if let Err(why) = check(&pair, margin, &found) {
            failures.push(format!("seed {seed}: {why}: {found:?} for {pair:?}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failed: {}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n")
    );
}
