//! Position correction: overlaps and joint gaps shrink by displacement, at the rate of the
//! settings.

use msd_sim::geometry::Shape;
use msd_sim::math::{Quat, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Method, Settings};

use crate::scene::{DT, Scene, assert_below, tilt};

/// Overlap that position correction leaves, as a fraction of the smaller size.
const ALLOWED_OVERLAP: f64 = 2e-5;

/// Errors below this fraction of the smaller size are not corrected.
const MIN_CORRECTED: f64 = 1e-9;

/// Overlap that a swept world leaves between the balls, m: 5e-4 of their size.
const SWEPT_SLOP: f64 = 5e-4 * RADIUS;

/// Radius of the balls, which is their size.
const RADIUS: f64 = 0.5;

/// Rounding of positions of about 1 m over some hundred substeps.
const ROUNDING: f64 = 1e-13;

/// Accuracy of displacements and velocities under load, m and m/s: solves end at 1e-10 of the
/// speeds, here the 0.04 m/s that gravity adds in a substep, and none of 240 substeps adds more
/// than that.
const SOLVER_ACCURACY: f64 = 1e-10 * 0.04 * 240.0;

/// Returns the error left after a substep of position correction: it removes the fraction
/// `position_correction`, but no faster than `position_correction_speed`.
fn after_substep(error: f64, settings: &Settings) -> f64 {
    if error <= MIN_CORRECTED * RADIUS {
        return error;
    }
    let h = DT / f64::from(settings.substeps);
    error - (settings.position_correction * error).min(settings.position_correction_speed * h)
}

/// Returns settings without gravity, with the fraction and the speed of position correction.
fn correcting(position_correction: f64, position_correction_speed: f64) -> Settings {
    Settings {
        gravity: Vec3::ZERO,
        position_correction,
        position_correction_speed,
        ..Settings::default()
    }
}

/// Returns a ball with a mass on the x axis.
fn ball(scene: &Scene, mass: f64, x: f64) -> BodyDef {
    BodyDef::inertial(Shape::sphere(RADIUS).unwrap())
        .mass(mass)
        .material(scene.material)
        .position(Vec3::X * x)
}

/// Asserts that the error of two isolated bodies shrinks as derived in every step, that their
/// displacements are inversely proportional to their masses, and that neither gets any velocity.
fn assert_corrected(
    mut scene: Scene,
    [a, b]: [BodyId; 2],
    masses: [f64; 2],
    error: impl Fn(&Scene) -> f64,
) {
    let settings = scene.world.settings().clone();
    let mut expected = error(&scene);
    let first = [a, b].map(|id| scene.body(id).position());
    let center = (first[0] * masses[0] + first[1] * masses[1]) / (masses[0] + masses[1]);
    for _ in 0..120 {
        scene.step();
        for _ in 0..settings.substeps {
            expected = after_substep(expected, &settings);
        }
        assert_below((error(&scene) - expected).abs(), ROUNDING);
        let [p, q] = [a, b].map(|id| scene.body(id).position());
        let now = (p * masses[0] + q * masses[1]) / (masses[0] + masses[1]);
        assert_below((now - center).length(), ROUNDING);
        let [moved_a, moved_b] = [(p - first[0]).length(), (q - first[1]).length()];
        assert_below((moved_a * masses[0] - moved_b * masses[1]).abs(), ROUNDING * masses[1]);
        for id in [a, b] {
            assert_eq!(scene.body(id).velocity(), SpatialVector::ZERO);
        }
    }
}

#[test]
fn an_overlap_shrinks_by_the_correction_fraction_in_every_substep() {
    // Spheres of 0.5 m: removing 0.2 of it in a substep leaves 0.41 after a step of four.
    for position_correction in [0.05, 0.2, 0.7, 1.0] {
        for masses in [[1.0, 1.0], [1.0, 3.0], [2.0, 500.0]] {
            let mut scene = Scene::with(correcting(position_correction, 1e3), 0.5, 0.5);
            let pair = [(0, 0.0), (1, 0.9)].map(|(i, x)| {
                let body = ball(&scene, masses[i], x);
                scene.add(body)
            });
            let [a, b] = pair;
            assert_corrected(scene, pair, masses, |scene| {
                let apart = scene.body(b).position() - scene.body(a).position();
                2.0 * RADIUS - apart.length() - ALLOWED_OVERLAP * RADIUS
            });
        }
    }
}

#[test]
fn a_deep_overlap_shrinks_no_faster_than_the_correction_speed() {
    // 0.2 of 0.1 m in a substep of 1/240 s would be 4.8 m/s. While the limit acts, the distance is
    // proportional to it.
    for speed in [0.0, 0.05, 0.1, 1.0] {
        let mut scene = Scene::with(correcting(0.2, speed), 0.5, 0.5);
        let pair = [0.0, 0.9].map(|x| {
            let body = ball(&scene, 1.0, x);
            scene.add(body)
        });
        let [a, b] = pair;
        assert_corrected(scene, pair, [1.0, 1.0], |scene| {
            let apart = scene.body(b).position() - scene.body(a).position();
            2.0 * RADIUS - apart.length() - ALLOWED_OVERLAP * RADIUS
        });
    }
}

#[test]
fn the_gap_of_a_joint_shrinks_by_the_correction_fraction_in_every_substep() {
    for (position_correction, speed) in [(0.2, 1e3), (0.7, 1e3), (0.2, 0.1)] {
        for masses in [[1.0, 1.0], [1.0, 3.0]] {
            // Anchors at the centers, 0.3 m apart, and a rod of 2 m whose ends are 0.3 m too far
            // apart.
            for rod in [false, true] {
                let mut scene = Scene::with(correcting(position_correction, speed), 0.5, 0.5);
                let length = if rod { 2.0 } else { 0.0 };
                let pair = [(0, 0.0), (1, length + 0.3)].map(|(i, x)| {
                    let body = ball(&scene, masses[i], x);
                    scene.add(body)
                });
                let [a, b] = pair;
                let joint = if rod { JointDef::rod(a, b, length) } else { JointDef::ball(a, b) };
                scene.world.add_joint(joint).unwrap();
                assert_corrected(scene, pair, masses, |scene| {
                    let apart = scene.body(b).position() - scene.body(a).position();
                    apart.length() - length
                });
            }
        }
    }
}

#[test]
fn a_cube_sunk_into_the_floor_rises_out_of_it_and_rests() {
    // Its weight stays on the floor meanwhile: displacement alone lifts the cube, up to the allowed
    // overlap.
    for depth in [1e-4, 1e-2] {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(0.5 - depth, cube);
        let settings = scene.world.settings().clone();
        let mut expected = depth - ALLOWED_OVERLAP * RADIUS;
        for _ in 0..60 {
            scene.step();
            for _ in 0..settings.substeps {
                expected = after_substep(expected, &settings);
            }
            let body = scene.body(cube);
            let left = 0.5 - ALLOWED_OVERLAP * RADIUS - body.position().z;
            assert_below((left - expected).abs(), SOLVER_ACCURACY);
            assert_below(body.linear_velocity().length(), SOLVER_ACCURACY);
            assert_below(tilt(&body), SOLVER_ACCURACY);
        }
    }
}

/// Returns the overlap left after a step of a swept world.
///
/// A substep pushes like an implicitly integrated spring of `phase` radians that is `damping` times
/// critically damped: with `c = 2 damping + phase` the target speed for an overlap `e` is `e phase
/// / (c h)`, at most the correction speed, and the bodies get the share `phase c / (1 + phase c)`
/// of it. They move at this velocity for `h`, in the last substep for `h / 2`, and then lose it
/// again.
fn after_swept_step(mut error: f64, settings: &Settings) -> f64 {
    let (phase, damping) = (0.2 * std::f64::consts::TAU, 15.0);
    let c = 2.0 * damping + phase;
    let share = phase * c / (1.0 + phase * c);
    let h = DT / f64::from(settings.substeps);
    for substep in 1..=settings.substeps {
        let time = if substep == settings.substeps { 0.5 * h } else { h };
        error -= share * (error * phase / (c * h)).min(settings.position_correction_speed) * time;
    }
    error
}

#[test]
fn an_overlap_in_a_swept_world_shrinks_like_its_spring_and_leaves_no_velocity() {
    for speed in [0.0, 0.05, 0.1, 4.0] {
        for masses in [[1.0, 1.0], [1.0, 3.0], [2.0, 500.0]] {
            let settings = Settings { max_exact_bodies: Some(0), ..correcting(0.2, speed) };
            let mut scene = Scene::with(settings.clone(), 0.0, 0.5);
            let [a, b] = [(0, 0.0), (1, 0.9)].map(|(i, x)| {
                let body = ball(&scene, masses[i], x);
                scene.add(body)
            });
            let center = 0.9 * masses[1] / (masses[0] + masses[1]);
            let mut expected = 0.1 - SWEPT_SLOP;
            for _ in 0..120 {
                scene.step();
                expected = after_swept_step(expected, &settings);
                let [p, q] = [a, b].map(|id| scene.body(id).position());
                assert_below((1.0 - (q - p).length() - SWEPT_SLOP - expected).abs(), ROUNDING);
                let now = (p * masses[0] + q * masses[1]) / (masses[0] + masses[1]);
                assert_below((now - Vec3::X * center).length(), ROUNDING);
                for id in [a, b] {
                    assert_below(scene.body(id).linear_velocity().length(), 1e-12);
                }
            }
        }
    }
}

/// Returns the corners of a cube of 1 m.
fn corners(scene: &Scene, cube: BodyId) -> Vec<Vec3> {
    let pose = scene.body(cube).pose();
    let side = |n: i32, bit: i32| f64::from(n >> bit & 1) - 0.5;
    (0..8).map(|n| pose.transform_point(Vec3::new(side(n, 0), side(n, 1), side(n, 2)))).collect()
}

/// Returns the farthest that a corner of a cube moves in any of `steps` steps, m.
fn farthest_in_a_step(scene: &mut Scene, cube: BodyId, steps: usize) -> f64 {
    let mut farthest = 0.0_f64;
    let mut before = corners(scene, cube);
    for _ in 0..steps {
        scene.step();
        let after = corners(scene, cube);
        let moved = before.iter().zip(&after).map(|(a, b)| (*b - *a).length());
        farthest = moved.fold(farthest, f64::max);
        before = after;
    }
    farthest
}

#[test]
fn a_settled_cube_moves_less_than_a_micrometre_a_frame() {
    // Placed on the floor, sunk into it, dropped flat, dropped askew: after 5 s the cube lies still
    // for 10 s.
    let askew = rotation(Vec3::new(0.6, 0.8, 0.0), 0.4);
    let starts =
        [(0.5, Quat::IDENTITY), (0.45, Quat::IDENTITY), (1.5, Quat::IDENTITY), (2.0, askew)];
    let exact = Settings::default();
    let pgs = Settings { method: Method::Pgs, ..exact.clone() };
    let swept = Settings { max_exact_bodies: Some(0), ..exact.clone() };
    for settings in [exact, pgs, swept] {
        for (height, turn) in starts {
            let mut scene = Scene::with(settings.clone(), 0.5, 0.5);
            scene.floor();
            let cube = scene.cube().orientation(turn);
            let cube = scene.add_at(height, cube);
            scene.run(300, |_| {});
            assert_below(farthest_in_a_step(&mut scene, cube, 600), 1e-6);
        }
    }
}
