//! Poses, spatial vectors, tangent bases and bounds.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3, orthonormal_basis, rotation};

use crate::oracle::pairs::{KINDS, Rng, random_shape};
use crate::oracle::support;

#[test]
fn a_tangent_basis_is_orthonormal_and_right_handed_everywhere() {
    let mut rng = Rng::new(1);
    let mut normals: Vec<Vec3> = (0..2_000).map(|_| rng.direction()).collect();
    normals.extend([Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z]);
    // Ever closer to -z, where the usual formula divides by zero.
    normals.extend((1..300).map(|i| Vec3::new(0.9_f64.powi(i), 0.8_f64.powi(i), -1.0).normalize()));
    for n in normals {
        let (t, u) = orthonormal_basis(n);
        for error in [
            t.length() - 1.0,
            u.length() - 1.0,
            t.dot(u),
            t.dot(n),
            u.dot(n),
            t.cross(u).dot(n) - 1.0,
        ] {
            assert!(error.abs() < 4e-15, "{n}: {t}, {u}");
        }
    }
}

#[test]
fn a_tangent_basis_turns_little_when_its_normal_turns_little() {
    // Away from -z the basis of n turns by at most 1 / (1 + n.z) times as much as n does.
    let mut rng = Rng::new(2);
    for _ in 0..5_000 {
        let n = rng.direction();
        let near = (n + rng.in_cube() * 1e-7).normalize();
        let (before, after) = (orthonormal_basis(n), orthonormal_basis(near));
        let turn = (before.0 - after.0).length().max((before.1 - after.1).length());
        let limit = 4.0 * (n - near).length() / (1.0 + n.z.min(near.z));
        assert!(turn <= limit + 1e-14, "{n}: {turn:e}, limit {limit:e}");
    }
}

#[test]
fn poses_compose_invert_and_keep_their_digits_far_away() {
    let mut rng = Rng::new(3);
    for _ in 0..1_000 {
        let a = Pose::new(rng.in_cube() * 10.0, rng.rotation());
        let b = Pose::new(rng.in_cube() * 10.0, rng.rotation());
        let p = rng.in_cube();
        let error = |x: Vec3, y: Vec3| (x - y).length();
        assert!(error((a * b).transform_point(p), a.transform_point(b.transform_point(p))) < 1e-13);
        assert!(error(a.inverse().transform_point(a.transform_point(p)), p) < 1e-13);
        assert!(error(a.inverse_transform_point(a.transform_point(p)), p) < 1e-13);
        let relative = a.relative(&b);
        assert!(error((a * relative).transform_point(p), b.transform_point(p)) < 1e-13);
        // The relative pose does not change if both are moved by a power of two.
        let far = Vec3::splat(2.0_f64.powi(40));
        let exact = |pose: &Pose| Pose::new((pose.position * 16.0).round() / 16.0, pose.rotation);
        let moved = |pose: &Pose| Pose::new(pose.position + far, pose.rotation);
        let (a, b) = (exact(&a), exact(&b));
        assert_eq!(moved(&a).relative(&moved(&b)), a.relative(&b));
    }
}

#[test]
fn power_is_the_same_at_every_point_of_a_body() {
    // F . v(point) = (F, lever x F) . (v, omega)
    let mut rng = Rng::new(4);
    for _ in 0..100 {
        let (force, lever) = (rng.in_cube(), rng.in_cube());
        let velocity = SpatialVector::new(rng.in_cube(), rng.in_cube());
        let at_point = force.dot(velocity.velocity_at(lever));
        assert!((SpatialVector::force_at(force, lever).dot(velocity) - at_point).abs() < 1e-14);
    }
}

#[test]
fn bounds_contain_the_shape_and_touch_it_on_all_six_sides() {
    let mut rng = Rng::new(5);
    for round in 0..600 {
        let shape = random_shape(&mut rng, round % KINDS, 1.0);
        let pose = Pose::new(rng.in_cube() * 3.0, rng.rotation());
        let bounds = shape.bounds(&pose);
        for axis in 0..3 {
            let mut direction = Vec3::ZERO;
            for sign in [1.0, -1.0] {
                direction[axis] = sign;
                let local = pose.inverse_transform_vector(direction);
                let reach = pose.transform_point(support(&shape, local))[axis];
                let side = if sign > 0.0 { bounds.max[axis] } else { bounds.min[axis] };
                assert!((side - reach).abs() < 1e-14, "{shape:?}: {side}, reaches {reach}");
            }
        }
    }
    let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
    let endless = floor.bounds(&Pose::new(Vec3::ONE, rotation(Vec3::X, 0.3)));
    assert_eq!((endless.min, endless.max), (Vec3::NEG_INFINITY, Vec3::INFINITY));
}

#[test]
fn shapes_and_workspaces_can_be_sent_to_and_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Shape>();
    is_shared::<msd_sim::geometry::Workspace>();
    is_shared::<msd_sim::geometry::PairMemory>();
    is_shared::<msd_sim::geometry::Manifold>();
}
