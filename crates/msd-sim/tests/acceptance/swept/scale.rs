//! Invariance under scaling: a swept world with all lengths times 2^k moves alike, bit for bit.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Material, Settings, World};

use super::swept_settings;
use crate::oracle::pairs::Rng;
use crate::scene::DT;

fn shape(n: usize, by: f64) -> Shape {
    match n % 4 {
        0 => Shape::sphere(0.25 * by),
        1 => Shape::cuboid(Vec3::new(0.3, 0.2, 0.25) * by),
        2 => Shape::capsule(0.15 * by, 0.2 * by),
        _ => {
            let corners =
                [[1.0, 0.0, -0.6], [-0.5, 0.8, -0.6], [-0.5, -0.8, -0.6], [0.0, 0.0, 1.0]];
            Shape::hull(&corners.map(|corner| Vec3::from_array(corner) * (0.3 * by)))
        }
    }
    .unwrap()
}

/// Returns a world with lengths, speeds and accelerations times `by`; masses and times are not
/// scaled.
fn world(by: f64, kinds: &[usize], joints: bool) -> (World, Vec<BodyId>) {
    let plain = swept_settings();
    let settings = Settings {
        gravity: plain.gravity * by,
        rest_speed: plain.rest_speed * by,
        position_correction_speed: plain.position_correction_speed * by,
        ..plain
    };
    let mut world = World::new(settings).unwrap();
    let material = Material::new(0.2, 0.5).unwrap();
    let floor = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5) * by).unwrap();
    let floor = BodyDef::environment(floor).position(Vec3::Z * (-0.5 * by));
    world.add_body(floor.material(material)).unwrap();
    let mut rng = Rng::new(7);
    let mut any = |size: f64| {
        let mut one = || rng.range(-size, size);
        Vec3::new(one(), one(), one())
    };
    let mut bodies = Vec::new();
    for n in 0..40 {
        let turn = rotation((any(1.0) + Vec3::X * 1.5).normalize(), 3.0 * any(1.0).x);
        let place = Vec3::new((n % 4) as f64, (n / 4 % 4) as f64, (n / 16) as f64) * 0.8;
        let place = (place + any(0.05) + Vec3::Z * 0.6) * by;
        let body = BodyDef::inertial(shape(kinds[n % kinds.len()], by)).mass(1.0 + (n % 3) as f64);
        let body = body.pose(Pose::new(place, turn)).velocity(any(1.0) * by);
        let body = body.angular_velocity(any(2.0)).material(material);
        bodies.push(world.add_body(body).unwrap());
    }
    for (n, pair) in bodies.chunks_exact(2).enumerate().filter(|_| joints) {
        let [a, b] = [pair[0], pair[1]];
        let joint = match n % 4 {
            0 => JointDef::ball(a, b).anchors(Vec3::X * (0.4 * by), Vec3::X * (-0.4 * by)),
            1 => JointDef::rod(a, b, 0.8 * by),
            2 => JointDef::rope(a, b, 0.8 * by),
            _ => JointDef::spring(a, b, 0.8 * by, 200.0, 1.0),
        };
        world.add_joint(joint).unwrap();
    }
    (world, bodies)
}

/// Returns the final state of a world, in units of `by`.
fn outcome(by: f64, kinds: &[usize], joints: bool, steps: usize) -> Vec<[u64; 13]> {
    let (mut world, bodies) = world(by, kinds, joints);
    for _ in 0..steps {
        world.step(DT).unwrap();
    }
    let state = |&id: &BodyId| {
        let body = world.body(id).unwrap();
        let SpatialVector { linear, angular } = body.velocity();
        let (p, v) = (body.position() / by, linear / by);
        let q = body.pose().rotation;
        let all =
            [p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, angular.x, angular.y, angular.z];
        // Zero has two signs.
        all.map(|x| if x == 0.0 { 0 } else { x.to_bits() })
    };
    bodies.iter().map(state).collect()
}

#[test]
fn a_swept_world_scales_bit_for_bit() {
    for (name, kinds) in [
        ("spheres", &[0][..]),
        ("boxes", &[1]),
        ("capsules", &[2]),
        ("hulls", &[3]),
        ("all", &[0, 1, 2, 3]),
    ] {
        let expected = outcome(1.0, kinds, true, 60);
        for k in [-10, -3, 1, 7, 10] {
            let found = outcome(2_f64.powi(k), kinds, true, 60);
            let differ = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(differ, 0, "{name} times 2^{k}: bodies that differ");
        }
    }
}
