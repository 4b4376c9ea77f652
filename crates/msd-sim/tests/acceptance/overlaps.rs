//! Position correction: overlaps and joint gaps go away by displacement, at the rate that the settings say.

use msd_sim::geometry::Shape;
use msd_sim::math::{Quat, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyId, JointDef, Method, Settings};

use crate::scene::{DT, Scene, assert_below, tilt};

/// Overlap that is left on purpose, as a fraction of the smaller size.
const UNSEEN: f64 = 2e-5;

/// Errors smaller than this fraction of the smaller size are left alone.
const RECOVERABLE: f64 = 1e-9;

/// Overlap that a swept world leaves between the balls, m: 5e-4 of their size.
const CROWD_SLOP: f64 = 5e-4 * RADIUS;

/// Radius of the balls, which is their size.
const RADIUS: f64 = 0.5;

/// Rounding of positions of about 1 m over some hundred substeps.
const ROUNDING: f64 = 1e-13;

/// How exact displacements and velocities are under load, m and m/s: solves end at 1e-10 of the speeds, here the 0.04 m/s
/// that gravity gives in a substep, and of 240 substeps none adds more than that.
const SOLVED: f64 = 1e-10 * 0.04 * 240.0;

/// What is left after a substep of an error that is to go away: the fraction `position_correction` of it is taken back, but no
/// faster than `position_correction_speed`.
fn after_substep(error: f64, settings: &Settings) -> f64 {
    if error <= RECOVERABLE * RADIUS {
        return error;
    }
    let h = DT / f64::from(settings.substeps);
    error - (settings.position_correction * error).min(settings.position_correction_speed * h)
}

/// Settings without gravity, with the fraction and the speed of position correction.
fn correcting(position_correction: f64, position_correction_speed: f64) -> Settings {
    Settings {
        gravity: Vec3::ZERO,
        position_correction,
        position_correction_speed,
        ..Settings::default()
    }
}

/// A ball of a mass on the x axis.
fn ball(scene: &Scene, mass: f64, x: f64) -> BodyDef {
    BodyDef::inertial(Shape::sphere(RADIUS).unwrap())
        .mass(mass)
        .material(scene.material)
        .position(Vec3::X * x)
}

/// Asserts that the error of two bodies that nothing else acts on shrinks as derived in every step, that the heavier
/// one moves as much less as it is heavier, and that neither gets any velocity.
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
fn an_overlap_shrinks_by_the_recovery_in_every_substep() {
    // Spheres of 0.5 m: 0.2 of it in a substep leaves 0.41 after a step of four.
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
                2.0 * RADIUS - apart.length() - UNSEEN * RADIUS
            });
        }
    }
}

#[test]
fn a_deep_overlap_parts_no_faster_than_the_recovery_speed() {
    // 0.2 of 0.1 m in a substep of 1/240 s would be 4.8 m/s. Twice as fast, twice as far while the limit acts.
    for speed in [0.0, 0.05, 0.1, 1.0] {
        let mut scene = Scene::with(correcting(0.2, speed), 0.5, 0.5);
        let pair = [0.0, 0.9].map(|x| {
            let body = ball(&scene, 1.0, x);
            scene.add(body)
        });
        let [a, b] = pair;
        assert_corrected(scene, pair, [1.0, 1.0], |scene| {
            let apart = scene.body(b).position() - scene.body(a).position();
            2.0 * RADIUS - apart.length() - UNSEEN * RADIUS
        });
    }
}

#[test]
fn the_gap_of_a_joint_shrinks_by_the_recovery_in_every_substep() {
    for (position_correction, speed) in [(0.2, 1e3), (0.7, 1e3), (0.2, 0.1)] {
        for masses in [[1.0, 1.0], [1.0, 3.0]] {
            // Anchors at the centres, 0.3 m apart, and a rod of 2 m that is 0.3 m too long.
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
    // The weight stays on the floor meanwhile: displacement alone lifts the cube, and leaves the depth that nobody sees.
    for depth in [1e-4, 1e-2] {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(0.5 - depth, cube);
        let settings = scene.world.settings().clone();
        let mut expected = depth - UNSEEN * RADIUS;
        for _ in 0..60 {
            scene.step();
            for _ in 0..settings.substeps {
                expected = after_substep(expected, &settings);
            }
            let body = scene.body(cube);
            let left = 0.5 - UNSEEN * RADIUS - body.position().z;
            assert_below((left - expected).abs(), SOLVED);
            assert_below(body.linear_velocity().length(), SOLVED);
            assert_below(tilt(&body), SOLVED);
        }
    }
}

/// What is left after a step of an overlap in a swept world.
///
/// A substep pushes as a spring of `phase` radians that is `damping` times critically damped, taken implicitly:
/// with `c = 2 damping + phase` the overlap `e` is to go at `e phase / (c h)`, at most at the recovery speed, and of
/// that velocity the share `phase c / (1 + phase c)` is given. Bodies move by it for `h`, in the last substep for
/// `h / 2`, and then lose it again.
fn after_crowded_step(mut error: f64, settings: &Settings) -> f64 {
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
fn an_overlap_in_a_crowd_shrinks_as_its_spring_has_it_without_velocity() {
    for speed in [0.0, 0.05, 0.1, 4.0] {
        for masses in [[1.0, 1.0], [1.0, 3.0], [2.0, 500.0]] {
            let settings = Settings { max_exact_bodies: 0, ..correcting(0.2, speed) };
            let mut scene = Scene::with(settings.clone(), 0.0, 0.5);
            let [a, b] = [(0, 0.0), (1, 0.9)].map(|(i, x)| {
                let body = ball(&scene, masses[i], x);
                scene.add(body)
            });
            let center = 0.9 * masses[1] / (masses[0] + masses[1]);
            let mut expected = 0.1 - CROWD_SLOP;
            for _ in 0..120 {
                scene.step();
                expected = after_crowded_step(expected, &settings);
                let [p, q] = [a, b].map(|id| scene.body(id).position());
                assert_below((1.0 - (q - p).length() - CROWD_SLOP - expected).abs(), ROUNDING);
                let now = (p * masses[0] + q * masses[1]) / (masses[0] + masses[1]);
                assert_below((now - Vec3::X * center).length(), ROUNDING);
                for id in [a, b] {
                    assert_below(scene.body(id).linear_velocity().length(), 1e-12);
                }
            }
        }
    }
}

/// The corners of a cube of 1 m.
fn corners(scene: &Scene, cube: BodyId) -> Vec<Vec3> {
    let pose = scene.body(cube).pose();
    let side = |n: i32, bit: i32| f64::from(n >> bit & 1) - 0.5;
    (0..8).map(|n| pose.transform_point(Vec3::new(side(n, 0), side(n, 1), side(n, 2)))).collect()
}

/// The farthest that a corner of a cube moves in a step, over `steps` of them, m.
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
    // Laid down, sunk into the floor, dropped flat, dropped askew: after 5 s it lies still for 10 s.
    let askew = rotation(Vec3::new(0.6, 0.8, 0.0), 0.4);
    let starts =
        [(0.5, Quat::IDENTITY), (0.45, Quat::IDENTITY), (1.5, Quat::IDENTITY), (2.0, askew)];
    let exact = Settings::default();
    let pgs = Settings { method: Method::Pgs, ..exact.clone() };
    let swept = Settings { max_exact_bodies: 0, ..exact.clone() };
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
