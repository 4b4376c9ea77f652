//! Simultaneous impacts.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId};

use super::{audited, momentum_scale, track_worst, zero_gravity};
use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below, assert_near};

#[test]
fn a_ball_that_hits_two_touching_balls_rebounds_at_a_fifth_of_its_speed() {
    // Momentum and energy: 2 cos(30) u = 6/5 v, u = 2 sqrt(3) / 5 v, 1/25 + 2 * 12/25 = 1.
    let side = 0.75_f64.sqrt();
    for start in [0.0, 0.37, 1.0, 1.93] {
        let mut scene = zero_gravity(1.0, 0.0);
        let ball = scene.ball().velocity(Vec3::X * 3.0);
        let one = scene.add(ball.position(Vec3::X * (-side - start)));
        let pair = [0.5, -0.5].map(|y| {
            let ball = scene.ball();
            scene.add(ball.position(Vec3::Y * y))
        });
        scene.run(60, |_| {});
        let mut worst = (scene.body(one).linear_velocity() - Vec3::X * -0.6).length() / 3.0;
        let away = 3.0 * 2.0 * 3.0_f64.sqrt() / 5.0;
        for (id, sign) in pair.into_iter().zip([0.5, -0.5]) {
            let expected = Vec3::new(side, sign, 0.0) * away;
            track_worst(&mut worst, (scene.body(id).linear_velocity() - expected).length() / 3.0);
        }
        eprintln!("one against two, start {start}: {worst:e}");
        assert_below(worst, 1e-9);
    }
}

/// Builds a scene with a ball that flies into the corner between the planes with these normals,
/// hitting them at once or in turn.
fn ball_into_corner(
    normals: &[Vec3],
    at: Vec3,
    velocity: Vec3,
    restitution: f64,
) -> (Scene, BodyId) {
    let mut scene = zero_gravity(restitution, 0.0);
    for &normal in normals {
        let plane = BodyDef::environment(Shape::half_space(normal, 0.0).unwrap());
        scene.add(plane.material(scene.material));
    }
    let ball = scene.ball().position(at).velocity(velocity);
    let ball = scene.add(ball);
    (scene, ball)
}

#[test]
fn a_ball_returns_from_a_corner_in_the_direction_it_came_from() {
    let directions = [Vec3::ONE, Vec3::new(1.0, 1.0, 0.3), Vec3::new(1.0, 0.2, 0.7)];
    for walls in 2..=3 {
        for direction in directions {
            for shift in [Vec3::ZERO, Vec3::new(0.1, 0.0, 0.2)] {
                let normals = &[Vec3::X, Vec3::Y, Vec3::Z][..walls];
                let velocity = direction * -20.0;
                // Towards the corner of the space available to its center, from 5 m away.
                let at = Vec3::splat(0.5) + direction * 5.0 + shift;
                let (mut scene, ball) = ball_into_corner(normals, at, velocity, 1.0);
                scene.run(40, |_| {});
                let mut expected = -velocity;
                if walls == 2 {
                    expected.z = velocity.z;
                }
                let error = (scene.body(ball).linear_velocity() - expected).length();
                eprintln!("corner of {walls}, {direction}, {shift}: {error:e}");
                assert_below(error / velocity.length(), 1e-12);
            }
        }
    }
}

#[test]
fn a_ball_returns_from_a_corner_of_boxes_in_the_direction_it_came_from() {
    let mut scene = zero_gravity(1.0, 0.0);
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        scene.wall(Vec3::splat(5.0) - axis * 4.5, axis * -0.5);
    }
    let velocity = Vec3::splat(-20.0);
    let ball = scene.ball().position(Vec3::splat(3.5)).velocity(velocity);
    let ball = scene.add(ball);
    scene.run(40, |_| {});
    assert_below((scene.body(ball).linear_velocity() + velocity).length(), 1e-9);
}

#[test]
fn a_ball_returns_from_a_wedge_along_its_line_of_approach() {
    // Unfolded, the path through a wedge of 60 degrees is straight: three impacts, or two at once
    // on the center line, and the ball leaves along its line of approach.
    let (sin, cos) = (30_f64.to_radians().sin(), 30_f64.to_radians().cos());
    let normals = [Vec3::new(sin, cos, 0.0), Vec3::new(sin, -cos, 0.0)];
    for y in [0.0, 1e-6, 0.01, -0.01, 0.1, -0.1, 0.3] {
        let at = Vec3::new(4.0, y, 0.0);
        let (mut scene, ball) = ball_into_corner(&normals, at, Vec3::X * -20.0, 1.0);
        scene.run(30, |_| {});
        let ball = scene.body(ball);
        let speed = (ball.linear_velocity() - Vec3::X * 20.0).length() / 20.0;
        let off = (ball.position().y - y).abs();
        eprintln!("wedge, y = {y}: speed {speed:e}, line {off:e}");
        assert_below(speed, 1e-9);
        assert_below(off, 1e-7);
    }
}

#[test]
fn an_inelastic_ball_in_a_wedge_mirrors_the_path_of_its_mirror_image() {
    let (sin, cos) = (30_f64.to_radians().sin(), 30_f64.to_radians().cos());
    let normals = [Vec3::new(sin, cos, 0.0), Vec3::new(sin, -cos, 0.0)];
    let velocity = Vec3::new(-20.0, 3.0, 1.0);
    let end = |sign: f64| {
        let mirror = Vec3::new(1.0, sign, 1.0);
        let at = Vec3::new(4.0, 0.1, 0.0) * mirror;
        let (mut scene, ball) = ball_into_corner(&normals, at, velocity * mirror, 0.6);
        let first = scene.energy();
        scene.run(60, |world| assert!(crate::scene::energy(world) <= first * (1.0 + 1e-12)));
        (scene.body(ball).position() * mirror, scene.body(ball).linear_velocity() * mirror)
    };
    let (one, other) = (end(1.0), end(-1.0));
    assert_below((one.0 - other.0).length(), 1e-9);
    assert_below((one.1 - other.1).length(), 1e-9);
}

/// Builds a scene of spheres that each touch an earlier one, or cubes of a lattice, with random
/// velocities.
fn cluster(seed: u64) -> Scene {
    let rng = &mut Rng::new(seed);
    let mut scene = audited(rng.range(0.0, 1.0), rng.range(0.0, 1.0));
    let count = 3 + rng.index(6);
    let cubes = seed % 2 == 1;
    let mut places: Vec<Vec3> = vec![Vec3::ZERO];
    while places.len() < count {
        let from = places[rng.index(places.len())];
        let offset = if cubes {
            [Vec3::X, Vec3::Y, Vec3::Z][rng.index(3)] * [1.0, -1.0][rng.index(2)]
        } else {
            rng.direction()
        };
        let free = |place: &Vec3| places.iter().all(|p| p.distance(*place) > 1.0 - 1e-9);
        places.extend(Some(from + offset).filter(free));
    }
    for place in places {
        let body = if cubes { scene.cube() } else { scene.ball() };
        let body = body.mass(rng.log_range(0.1, 10.0)).velocity(rng.in_cube() * 5.0);
        let body = body.angular_velocity(rng.in_cube() * 5.0);
        scene.add(body.position(place));
    }
    scene
}

#[test]
fn a_touching_cluster_keeps_its_momentum_and_gains_no_energy() {
    let (mut momentum, mut spin, mut gain, mut error) = (0.0, 0.0, 0.0_f64, 0.0);
    let (mut impact_times, mut slowest) = (0, 0.0_f64);
    for seed in 0..100 {
        let mut scene = cluster(seed);
        let (before, scale) = (scene.world.momentum(), momentum_scale(&scene));
        let first = scene.energy();
        let (mut last, mut corrected) = (first, Vec3::ZERO);
        for _ in 0..20 {
            let start = std::time::Instant::now();
            let report = scene.step();
            slowest = slowest.max(start.elapsed().as_secs_f64());
            impact_times += report.impact_times;
            let ledger = report.audit.unwrap();
            track_worst(&mut error, ledger.energy_error().unwrap().abs() / first);
            corrected += ledger.correction_impulse.angular;
            gain = gain.max((scene.energy() - last) / first);
            last = scene.energy();
        }
        let after = scene.world.momentum();
        track_worst(&mut momentum, (after.linear - before.linear).length() / scale);
        // Cubes that turn against each other overlap slightly, and position correction separates
        // them.
        let turned = after.angular - before.angular - corrected;
        track_worst(&mut spin, turned.length() / scale);
        assert!(seed % 2 == 1 || corrected.length() < 1e-12 * scale, "balls: {corrected}");
    }
    eprintln!(
        "clusters: momentum {momentum:e}, {spin:e}, energy {gain:e}, ledger {error:e}, {impact_times} impact times, {slowest} s"
    );
    assert!(impact_times > 200, "they collide: {impact_times}");
    assert_below(momentum, 1e-12);
    assert_below(spin, 1e-12);
    assert_below(gain, 1e-12);
    assert_below(error, 1e-12);
}

#[test]
fn elastic_smooth_clusters_keep_their_energy() {
    let mut worst = 0.0;
    for seed in 0..50 {
        let mut scene = zero_gravity(1.0, 0.0);
        let source = cluster(2 * seed);
        for body in source.world.bodies() {
            let ball = scene.ball().mass(body.mass()).velocity(body.linear_velocity());
            scene.add(ball.position(body.position()));
        }
        let first = scene.energy();
        scene.run(30, |_| {});
        track_worst(&mut worst, (scene.energy() / first - 1.0).abs());
    }
    eprintln!("elastic clusters: energy {worst:e}");
    assert_below(worst, 1e-9);
}

#[test]
fn a_cube_that_lands_between_two_others_pushes_both_symmetrically() {
    let mut scene = zero_gravity(0.7, 0.3);
    let pair = [-0.6, 0.6].map(|x| {
        let cube = scene.cube();
        scene.add(cube.position(Vec3::X * x))
    });
    let top = scene.cube().position(Vec3::Z * 1.5).velocity(Vec3::Z * -4.0);
    let top = scene.add(top);
    scene.run(30, |_| {});
    let [left, right] = pair.map(|id| scene.body(id).velocity());
    assert_below((left.linear.x + right.linear.x).abs(), 1e-9);
    assert_near(left.linear.z, right.linear.z, 1e-9);
    assert_below((left.angular + right.angular).length(), 1e-9);
    assert_below(scene.body(top).angular_velocity().length(), 1e-9);
}
