//! Fast bodies that are not round: the first impact makes them spin fast, and they hit again with
//! another end.

use msd_sim::BodyDef;
use msd_sim::geometry::{ClosingBounds, MovingShape, Shape, Simplex, Workspace, time_of_impact};
use msd_sim::math::{Pose, SpatialVector, Vec3, rotation};

use super::{audited, change, solid, track_worst, zero_gravity};
use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below};

const SPEED: f64 = 500.0;
const PLATE: Vec3 = Vec3::new(0.0025, 100.0, 100.0);

const BOUNCING: [(f64, f64); 3] = [(1.0, 0.0), (0.8, 0.3), (0.5, 0.5)];
const INELASTIC: [(f64, f64); 2] = [(0.0, 0.0), (0.0, 0.8)];

fn shapes() -> [(&'static str, Shape); 6] {
    let tetrahedron = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| p * 0.03);
    [
        ("cube", Shape::cuboid(Vec3::splat(0.01)).unwrap()),
        ("bar", Shape::cuboid(Vec3::new(0.005, 0.005, 0.025)).unwrap()),
        ("capsule", Shape::capsule(0.005, 0.02).unwrap()),
        ("cylinder", Shape::cylinder(0.01, 0.002).unwrap()),
        ("cone", Shape::cone(0.01, 0.02).unwrap()),
        ("tetrahedron", Shape::hull(&tetrahedron).unwrap()),
    ]
}

/// Shoots bullets at a plate of 5 mm. Returns how many end behind it, and the largest rise of
/// energy, relative to the initial energy.
fn volley(name: &str, shape: &Shape, materials: &[(f64, f64)], count: u64) -> (usize, f64) {
    let (mut behind, mut gain, mut slowest, mut most) = (0, f64::NEG_INFINITY, 0.0_f64, 0);
    for seed in 0..count {
        let rng = &mut Rng::new(seed);
        let (restitution, friction) = materials[rng.index(materials.len())];
        let mut scene = audited(restitution, friction);
        scene.wall(PLATE, Vec3::ZERO);
        let angle = rng.range(0.0, 1.3);
        let velocity = Vec3::new(angle.cos(), angle.sin(), 0.0) * SPEED;
        let place = Vec3::X * -0.08 - velocity * rng.range(0.001, 0.02);
        let bullet = solid(&scene, shape.clone()).position(place).velocity(velocity);
        let spin = rng.direction() * rng.range(0.0, 1000.0);
        let bullet = scene.add(bullet.orientation(rng.rotation()).angular_velocity(spin));
        let mut last = scene.energy();
        let first = last;
        for _ in 0..6 {
            let start = std::time::Instant::now();
            most = most.max(scene.step().impact_times);
            slowest = slowest.max(start.elapsed().as_secs_f64());
            track_worst(&mut gain, (scene.energy() - last) / first);
            last = scene.energy();
        }
        behind += usize::from(scene.body(bullet).position().x > 0.0);
    }
    eprintln!(
        "{count} of {name}, e = {}..: {behind} behind, energy {gain:e}, {most} impact times, slowest {slowest} s",
        materials[0].0
    );
    (behind, gain)
}

fn needle() -> Shape {
    Shape::cuboid(Vec3::new(0.002, 0.002, 0.05)).unwrap()
}

#[test]
fn bouncing_bullets_of_every_shape_stay_on_their_side() {
    for (name, shape) in shapes() {
        let (behind, gain) = volley(name, &shape, &BOUNCING, 100);
        assert_eq!(behind, 0, "{name}");
        assert_below(gain, 1e-12);
    }
    let (behind, gain) = volley("needle", &needle(), &BOUNCING, 200);
    assert_eq!(behind, 0);
    assert_below(gain, 1e-12);
}

#[test]
fn inelastic_bullets_of_every_shape_stay_on_their_side() {
    for (name, shape) in shapes() {
        assert_eq!(volley(name, &shape, &INELASTIC, 100).0, 0, "{name}");
    }
    assert_eq!(volley("needle", &needle(), &INELASTIC, 200).0, 0);
}

#[test]
#[ignore = "known limit: a body that lands with e = 0 and then spins fast gains energy in a step: capsules 2e-9 of it"]
fn inelastic_bullets_gain_no_energy() {
    for (name, shape) in shapes() {
        assert_below(volley(name, &shape, &INELASTIC, 100).1, 1e-12);
    }
    assert_below(volley("needle", &needle(), &INELASTIC, 200).1, 1e-12);
}

#[test]
fn an_inelastic_bar_that_lands_on_one_end_lands_on_the_other() {
    // 0.2 m long, 2 cm thick, at 45 degrees and 100 m/s. The end that hits stops, and the bar turns
    // about it, at about 3/4 v sin(45) / (l / 2) = 530 rad/s: it is flat 1.5 ms later.
    for speed in [10.0, 30.0, 100.0, 300.0] {
        let mut scene = zero_gravity(0.0, 0.0);
        scene.floor();
        let turn = rotation(Vec3::Y, 45_f64.to_radians());
        let bar = scene.brick(Vec3::new(0.1, 0.01, 0.01)).orientation(turn);
        let bar = scene.add(bar.position(Vec3::Z * 0.2).velocity(Vec3::Z * -speed));
        scene.run(30, |_| {});
        let z = scene.body(bar).position().z;
        assert!(z > 0.0099, "at {speed} m/s it is at {z}");
    }
}

#[test]
fn an_inelastic_capsule_that_lands_askew_on_a_plate_does_not_turn_through_it() {
    let shapes = [Shape::capsule(0.005, 0.02), Shape::cuboid(Vec3::new(0.005, 0.005, 0.025))];
    let mut passed = Vec::new();
    for (n, shape) in shapes.into_iter().enumerate() {
        let shape = shape.unwrap();
        for (speed, degrees) in
            [20.0, 100.0, 500.0].into_iter().flat_map(|v| (0..18).map(move |d| (v, 5 * d)))
        {
            for phase in 1..5 {
                let mut scene = zero_gravity(0.0, 0.0);
                scene.wall(PLATE, Vec3::ZERO);
                let turn = rotation(Vec3::Y, f64::from(degrees).to_radians());
                let body = solid(&scene, shape.clone()).orientation(turn).velocity(Vec3::X * speed);
                let back = 0.05 + speed * 1e-3 * f64::from(phase);
                let body = scene.add(body.position(Vec3::X * -back));
                scene.run(4, |_| {});
                if scene.body(body).position().x > 0.0 {
                    passed.push((n, speed, degrees, phase));
                }
            }
        }
    }
    assert!(passed.is_empty(), "{} of 432 pass: {passed:?}", passed.len());
}

#[test]
fn the_time_of_impact_of_the_far_end_of_a_turning_capsule_is_found() {
    // Tilted by 0.01 rad, it is flat after 0.01 / w = 8.3 us. Its center descends as fast as the
    // touching end rises about it, at 0.02 w cos.
    let (plate, capsule) = (Shape::cuboid(PLATE).unwrap(), Shape::capsule(0.005, 0.02).unwrap());
    let (spin, tilt) = (-1210.0, 0.01_f64);
    let speed = 0.02 * 1210.0 * tilt.cos();
    let start = Vec3::X * (-0.0025 - 0.005 - 0.02 * tilt.sin());
    let still = MovingShape { shape: &plate, path: |_: f64| Pose::IDENTITY };
    let turning = MovingShape {
        shape: &capsule,
        path: |t: f64| Pose::new(start + Vec3::X * (speed * t), rotation(Vec3::Y, tilt + spin * t)),
    };
    let velocity = SpatialVector::new(Vec3::X * speed, Vec3::Y * spin);
    let span = [0.0, 1.0 / 240.0];
    let closing = ClosingBounds::between(SpatialVector::ZERO, 0.0, velocity, 0.025, 0.0, span[1]);
    let (simplex, workspace) = (&mut Simplex::default(), &mut Workspace::default());
    let found = time_of_impact(&still, &turning, &closing, span, 5e-12, simplex, workspace);
    let found = found.expect("it lands");
    assert!(found.separation.point_b.z < 0.0, "{found:?}");
    assert_below((found.time / (tilt / 1210.0) - 1.0).abs(), 0.01);
}

#[test]
fn a_needle_that_spins_off_one_end_hits_with_the_other() {
    // One end touches the plate and leaves it at 690 m/s; the other arrives half a turn later, 0.16
    // ms.
    let mut scene = zero_gravity(0.0, 0.0);
    scene.wall(Vec3::new(0.0025, 1.0, 1.0), Vec3::ZERO);
    let needle = Shape::cuboid(Vec3::new(0.05, 0.002, 0.002)).unwrap();
    let turn = rotation(Vec3::Z, 45_f64.to_radians());
    let reach = (turn * Vec3::new(0.05, -0.002, 0.0)).x;
    let needle = solid(&scene, needle).orientation(turn).position(Vec3::X * (-0.0025 - reach));
    let needle = needle.velocity(Vec3::X * 20.0).angular_velocity(Vec3::Z * 2e4);
    let needle = scene.add(needle);
    scene.run(2, |world| {
        let x = world.body(needle).unwrap().position().x;
        assert!(x < 0.0, "it is at {x}");
    });
}

/// Returns the most impact times in any of 20 steps, and the duration of the slowest, s.
fn busiest(mut scene: Scene) -> (usize, f64) {
    let (mut most, mut slowest) = (0, 0.0_f64);
    for _ in 0..20 {
        let start = std::time::Instant::now();
        most = most.max(scene.step().impact_times);
        slowest = slowest.max(start.elapsed().as_secs_f64());
    }
    (most, slowest)
}

#[test]
fn a_capsule_that_rolls_fast_has_no_impacts() {
    // 20 m/s on 5 mm: 4000 rad/s, 17 rad a substep.
    for friction in [0.0, 0.8] {
        let mut scene = zero_gravity(0.0, friction);
        let plane = BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap());
        scene.add(plane.material(scene.material));
        let turn = rotation(Vec3::X, 90_f64.to_radians());
        let capsule = solid(&scene, Shape::capsule(0.005, 0.02).unwrap()).orientation(turn);
        let capsule = capsule.velocity(Vec3::X * 20.0).angular_velocity(Vec3::Y * 4000.0);
        scene.add(capsule.position(Vec3::Z * 0.005));
        let (most, slowest) = busiest(scene);
        eprintln!("rolling capsule, mu = {friction}: {most} impact times, {slowest} s");
        assert!(most <= 1, "{most} impact times, {slowest} s");
    }
}

/// Rolls a capsule or cylinder of 5 mm radius without slip, `above` a plate.
fn roll(gravity: Vec3, shape: Shape, spin: f64, above: f64) -> (usize, f64) {
    let mut scene = zero_gravity(0.0, 0.8);
    change(&mut scene, |settings| settings.gravity = gravity);
    scene.wall(Vec3::new(100.0, 100.0, 0.0025), Vec3::Z * -0.0025);
    let turn = rotation(Vec3::X, 90_f64.to_radians());
    let roller = solid(&scene, shape).orientation(turn).velocity(Vec3::X * (0.005 * spin));
    let roller = roller.angular_velocity(Vec3::Y * spin).position(Vec3::Z * (0.005 + above));
    scene.add(roller);
    busiest(scene)
}

#[test]
fn a_capsule_or_cylinder_that_rolls_under_gravity_has_no_impacts() {
    for shape in [Shape::capsule(0.005, 0.02), Shape::cylinder(0.005, 0.02)] {
        let shape = shape.unwrap();
        for spin in [50.0, 200.0, 1000.0] {
            let (most, slowest) = roll(Vec3::Z * -9.81, shape.clone(), spin, 0.0);
            eprintln!("rolling under gravity at {spin} rad/s: {most} impact times, {slowest} s");
            assert!(most <= 1, "{shape:?}, {spin} rad/s: {most} impact times, {slowest} s");
        }
    }
}

#[test]
fn a_capsule_that_rolls_a_nanometre_above_a_plate_has_no_impacts() {
    for spin in [200.0, 1000.0, 4000.0] {
        let (most, slowest) = roll(Vec3::ZERO, Shape::capsule(0.005, 0.02).unwrap(), spin, 1e-9);
        assert!(most <= 1, "{spin} rad/s: {most} impact times, {slowest} s");
    }
}

#[test]
fn a_bar_that_slides_and_turns_on_its_face_has_no_impacts() {
    let mut scene = zero_gravity(0.0, 0.0);
    scene.floor();
    let bar = scene.brick(Vec3::new(0.025, 0.005, 0.005)).velocity(Vec3::X * 40.0);
    let bar = bar.angular_velocity(Vec3::Z * 70.0);
    scene.add(bar.position(Vec3::Z * 0.005));
    let (most, slowest) = busiest(scene);
    eprintln!("sliding bar: {most} impact times, {slowest} s");
    assert!(most <= 1, "{most} impact times, {slowest} s");
}
