//! The rows of a contact: the derivative of its gap, acting at one point of both bodies.

use msd_sim::Settings;
use msd_sim::geometry::{PairMemory, Shape, Simplex, Workspace, contact_manifold, separation};
use msd_sim::math::{Pose, SpatialVector, Vec3, orthonormal_basis, rotation};
use msd_sim::solver::Row;

use crate::oracle::pairs::Rng;
use crate::scene::{DT, Scene, assert_below};

/// Returns the pose of a body after moving for a time.
fn moved(pose: &Pose, velocity: &SpatialVector, time: f64) -> Pose {
    let speed = velocity.angular.length();
    let turn = rotation(velocity.angular / speed, speed * time);
    Pose::new(pose.position + velocity.linear * time, (turn * pose.rotation).normalize())
}

/// Returns two shapes that overlap slightly at a corner, an edge or a round part, in all
/// directions.
fn touching(rng: &mut Rng, kind: usize) -> (Shape, Pose, Shape, Pose) {
    let half = Vec3::new(0.5, 0.4, 0.3);
    let a = Shape::cuboid(half).unwrap();
    let b = if kind == 0 { Shape::sphere(0.3).unwrap() } else { Shape::cuboid(half).unwrap() };
    let pose_a = Pose::new(rng.in_cube(), rng.rotation());
    let away = rng.direction();
    let mut pose_b = Pose::new(pose_a.position + away * 3.0, rng.rotation());
    // Approach along the line of centers until the overlap is a few millimeters.
    for _ in 0..60 {
        let simplex = &mut Simplex::default();
        let workspace = &mut Workspace::default();
        let found = separation(&a, &pose_a, &b, &pose_b, simplex, workspace).unwrap();
        pose_b.position -= away * (found.distance + 0.003);
    }
    (a, pose_a, b, pose_b)
}

#[test]
fn the_gap_of_a_contact_is_minus_its_depth_and_its_row_the_gaps_derivative() {
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let (a, pose_a, b, pose_b) = touching(rng, seed as usize % 2);
        let mut workspace = Workspace::default();
        let mut gap = |pose_a: &Pose, pose_b: &Pose| {
            let simplex = &mut Simplex::default();
            separation(&a, pose_a, &b, pose_b, simplex, &mut workspace).unwrap()
        };
        let found = gap(&pose_a, &pose_b);
        assert_below((found.distance + 0.003).abs(), 1e-3);
        assert_eq!(found.depth(), -found.distance);
        let point = (found.point_a + found.point_b) * 0.5;
        let row = Row::at(found.normal, point - pose_a.position, point - pose_b.position);
        // J = [-n, -(rA x n), n, rB x n], in the form that a row stores.
        assert_eq!(row.linear, found.normal);
        assert_eq!(row.angular_a, (point - pose_a.position).cross(found.normal));
        assert_eq!(row.angular_b, (point - pose_b.position).cross(found.normal));
        for _ in 0..4 {
            let mut random = || SpatialVector::new(rng.in_cube(), rng.in_cube());
            let (v, w) = (random(), random());
            let h = 1e-5;
            let mut at =
                |time: f64| gap(&moved(&pose_a, &v, time), &moved(&pose_b, &w, time)).distance;
            let derivative = (at(h) - at(-h)) / (2.0 * h);
            assert_below((row.velocity(&v, &w) - derivative).abs(), 1e-6);
        }
    }
}

#[test]
fn friction_rows_are_orthogonal_to_the_normal_and_to_each_other() {
    for seed in 0..100 {
        let rng = &mut Rng::new(seed);
        let (normal, arm_a, arm_b) = (rng.direction(), rng.in_cube(), rng.in_cube());
        let (t, s) = orthonormal_basis(normal);
        let rows = [normal, t, s].map(|direction| Row::at(direction, arm_a, arm_b));
        for (i, row) in rows.iter().enumerate() {
            for (j, other) in rows.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert_below((row.linear.dot(other.linear) - expected).abs(), 1e-15);
            }
        }
        // Together they give the whole velocity of the point.
        let (v, w) = (SpatialVector::new(rng.in_cube(), rng.in_cube()), SpatialVector::ZERO);
        let seen = rows.map(|row| row.linear * row.velocity(&w, &v)).into_iter().sum::<Vec3>();
        assert_below((seen - v.velocity_at(arm_b)).length(), 1e-14);
    }
}

#[test]
fn contact_points_have_the_gap_and_the_position_of_the_manifold() {
    let mut scene = Scene::weightless(0.0, 0.0);
    let shapes = [0.0, 0.95].map(|z| {
        let cube = scene.cube().position(Vec3::new(0.1 * z, 0.0, z));
        scene.add(cube)
    });
    // A step so short that nothing moves: 5 cm deep, the same geometry as the manifold's.
    scene.dt = 1e-9;
    scene.step();
    let [a, b] = shapes.map(|id| scene.body(id));
    let memory = &mut PairMemory::default();
    let workspace = &mut Workspace::default();
    let manifold = contact_manifold(
        a.colliders().next().unwrap().shape(),
        &a.pose(),
        b.colliders().next().unwrap().shape(),
        &b.pose(),
        0.1,
        memory,
        workspace,
    );
    let contact = scene.world.contacts().next().unwrap();
    assert_eq!(contact.points().len(), 4);
    assert_below((contact.normal() - Vec3::Z).length(), 1e-6);
    for point in contact.points() {
        let twin = manifold.points().iter().find(|twin| twin.feature == point.feature).unwrap();
        assert_below((point.gap + twin.depth).abs(), 1e-6);
        assert_below((point.gap + 0.05).abs(), 1e-6);
        assert_below((point.position - twin.position).length(), 1e-6);
    }
}

#[test]
fn each_point_of_a_tilted_contact_reports_its_own_gap() {
    // A cube tilted about two axes and sunk into the floor: the points are the corners of its lower
    // face, known from its pose alone, and each corner's height is its gap. They are 5, 15, 25 and
    // 35 mm deep. With points that move along with the bodies, and with points recomputed each
    // time.
    for reuse in [Settings::default().reuse, 0.0] {
        assert_own_gaps(reuse);
    }
}

fn assert_own_gaps(reuse: f64) {
    let settings = Settings { gravity: Vec3::ZERO, reuse, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.0, 0.0);
    scene.floor();
    let turn = rotation(Vec3::Y, 0.02) * rotation(Vec3::X, 0.01);
    let cube = scene.cube().orientation(turn).position(Vec3::new(0.3, -0.2, 0.48));
    let cube = scene.add(cube);
    scene.dt = 1e-9;
    scene.step();
    let pose = scene.body(cube).pose();
    let contact = scene.world.contacts().next().unwrap();
    assert_below((contact.normal() - Vec3::Z).length(), 1e-6);
    let mut expected = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
        .map(|(x, y)| pose.transform_point(Vec3::new(x, y, -0.5)));
    expected.sort_by(|a, b| a.z.total_cmp(&b.z));
    let mut points = contact.points().to_vec();
    points.sort_by(|a, b| a.gap.total_cmp(&b.gap));
    assert_eq!(points.len(), 4);
    for (point, corner) in points.iter().zip(expected) {
        // In 1e-9 s nothing moves by as much as 1e-8 m.
        assert_below((point.gap - corner.z).abs(), 1e-8);
        // Midway between the corner and the floor above it.
        let middle = Vec3::new(corner.x, corner.y, 0.5 * corner.z);
        assert_below((point.position - middle).length(), 1e-8);
    }
    for pair in points.windows(2) {
        assert!(pair[1].gap - pair[0].gap > 0.009, "depths are almost the same");
    }
}

/// Returns the change of linear and angular momentum in a random impact of two bricks without
/// gravity, less the part that the ledger ascribes to position correction.
fn impact(seed: u64) -> SpatialVector {
    let rng = &mut Rng::new(seed);
    let friction = if seed.is_multiple_of(3) { 0.0 } else { 0.7 };
    let mut scene = Scene::weightless(0.6, friction);
    let a = scene.brick(Vec3::new(0.5, 0.4, 0.3)).orientation(rng.rotation());
    let a = a.velocity(Vec3::X * 3.0).angular_velocity(rng.in_cube() * 2.0);
    let a = scene.add(a.position(Vec3::new(-2.0, 0.0, 0.0)));
    let b = scene.brick(Vec3::new(0.2, 0.6, 0.4)).mass(3.0).orientation(rng.rotation());
    let b = b.position(rng.in_cube() * 0.3).angular_velocity(rng.in_cube() * 2.0);
    let b = scene.add(b);
    let settings = Settings { audit: true, ..scene.world.settings().clone() };
    scene.world.set_settings(settings).unwrap();
    let before = scene.world.momentum();
    let mut moved = SpatialVector::ZERO;
    scene.run(80, |world| moved += world.report().audit.unwrap().correction_impulse);
    assert!(scene.body(a).linear_velocity() != Vec3::X * 3.0, "they collided");
    assert!(scene.body(b).linear_velocity().length() > 0.01, "they collided");
    scene.world.momentum() - before - moved
}

#[test]
fn impacts_keep_momentum_to_rounding() {
    for seed in 0..40 {
        // Of 3 N s.
        assert_below(impact(seed).linear.length(), 1e-12 * 3.0);
    }
}

#[test]
fn impacts_keep_angular_momentum_to_rounding() {
    for seed in 0..40 {
        // 3 N s with levers of up to a few meters: of 10 N m s.
        assert_below(impact(seed).angular.length(), 1e-12 * 10.0);
    }
}

#[test]
fn two_colliding_bodies_get_equal_and_opposite_impulses() {
    let mut scene = Scene::weightless(0.5, 0.5);
    let a = scene.cube().velocity(Vec3::new(1.0, 0.2, 0.0));
    let a = scene.add(a.position(Vec3::X * -1.01));
    let b = scene.cube().mass(2.0);
    let b = scene.add(b);
    let before = [a, b].map(|id| scene.body(id).linear_velocity());
    let mut given = Vec3::ZERO;
    for _ in 0..3 {
        scene.step();
        given += scene.world.contacts().map(|contact| contact.impulse()).sum::<Vec3>();
    }
    assert!(given.x > 0.1);
    let after = [a, b].map(|id| scene.body(id).linear_velocity());
    assert_below((after[1] - before[1] - given / 2.0).length(), 1e-12);
    assert_below((after[0] - before[0] + given).length(), 1e-12);
    assert_eq!(scene.dt, DT);
}
