//! Sliding and rolling on inclines, belts and wedges.

use msd_sim::BodyDef;
use msd_sim::geometry::{ConvexHull, Shape};
use msd_sim::math::{Pose, Vec3, rotation};

use crate::audited_scene::{AuditedScene, DT, G, assert_near, ball, block, cube, floor, material};

#[test]
fn a_box_on_a_gentle_incline_stays_and_the_contact_forces_balance_its_weight() {
    // N = m g cos 20 = 92.18 N, f = m g sin 20 = 33.55 N.
    let mut scene = AuditedScene::new().passive();
    let slope = scene.incline(20.0, 0.5, 0.6);
    let id = scene.add(cube(0.5, 0.6).mass(10.0).pose(slope.above(0.5)));
    let ground = scene.world.bodies().next().unwrap().id();
    for _ in 0..1000 {
        scene.step();
        assert!(scene.speed() < 1e-6, "moves at {:e} m/s", scene.speed());
    }
    let force = scene.impulse(ground, id) / DT;
    assert_near(force.dot(slope.normal), 92.18, 1e-3);
    assert_near(-force.dot(slope.down), 33.55, 1e-3);
    assert!(force.y.abs() < 1e-6);
}

#[test]
fn a_box_slides_down_a_steep_incline_at_the_exact_acceleration() {
    // g (sin 45 - 0.3 cos 45) = 4.856; g (sin 30 - tan 27.5 cos 30) = 0.4825.
    let cases =
        [(10.0, 45.0, 0.3, 4.856, 5e-3), (1.0, 30.0, 27.5_f64.to_radians().tan(), 0.4825, 5e-4)];
    for (mass, degrees, friction, rounded, fraction) in cases {
        let mut scene = AuditedScene::new().passive();
        let slope = scene.incline(degrees, 0.5, friction);
        let id = scene.add(cube(0.5, friction).mass(mass).pose(slope.above(0.5)));
        scene.seconds(2.0);
        let (sin, cos) = degrees.to_radians().sin_cos();
        let exact = G * (sin - friction * cos);
        assert_near(exact, rounded, 2e-4);
        assert_near(scene.velocity(id).dot(slope.down), 2.0 * exact, fraction);
        assert_near(
            (scene.position(id) - slope.above(0.5).position).dot(slope.down),
            2.0 * exact,
            fraction,
        );
    }
}

#[test]
fn a_box_just_below_the_friction_limit_does_not_creep() {
    let friction = 27.5_f64.to_radians().tan();
    let mut scene = AuditedScene::new().passive();
    let slope = scene.incline(25.0, 0.5, friction);
    let id = scene.add(cube(0.5, friction).pose(slope.above(0.5)));
    let from = scene.position(id);
    scene.seconds(10.0);
    let crept = (scene.position(id) - from).length();
    assert!(crept < 1e-6, "crept {crept:e} m");
}

#[test]
fn spheres_and_cylinders_roll_down_at_five_sevenths_and_two_thirds_of_g_sin() {
    let lying = rotation(Vec3::X, 90.0_f64.to_radians());
    let cylinder = || {
        BodyDef::inertial(Shape::cylinder(0.5, 0.5).unwrap()).mass(1.0).material(material(0.0, 0.6))
    };
    for (round, share) in [(true, 5.0 / 7.0), (false, 2.0 / 3.0)] {
        let mut scene = AuditedScene::new().passive();
        let slope = scene.incline(20.0, 0.0, 0.6);
        let start = slope.above(0.5);
        let id = if round {
            scene.add(ball(0.0, 0.6).pose(start))
        } else {
            scene.add(cylinder().pose(Pose::new(start.position, slope.turn * lying)))
        };
        scene.seconds(2.0);
        let exact = share * G * 20.0_f64.to_radians().sin();
        let speed = scene.velocity(id).dot(slope.down);
        assert_near(speed, 2.0 * exact, 1e-4);
        assert_near((scene.position(id) - start.position).dot(slope.down), 2.0 * exact, 1e-4);
        assert_near(0.5 * scene.spin(id).y, speed, 1e-6);
    }
}

#[test]
fn a_belt_accelerates_a_box_to_its_speed() {
    belt(AuditedScene::new().without_ledger());
}

#[test]
fn the_ledger_accounts_for_the_work_of_a_belt() {
    belt(AuditedScene::new());
}

fn belt(mut scene: AuditedScene) {
    // v / (mu g) = 0.407747 s; the slip is v^2 / (2 mu g) = 0.407747 m.
    let belt = scene.add(floor(0.0, 0.5).velocity(Vec3::X * 2.0));
    let id = scene.add(cube(0.0, 0.5).position(Vec3::Z * 0.5));
    let (mut before, mut time) = (0.0, f64::NAN);
    for _ in 0..120 {
        scene.step();
        let now = scene.velocity(id).x;
        assert!(now <= 2.0 + 1e-9, "faster than the belt: {now}");
        let rate = (now - before) / DT;
        before = now;
        if 2.0 - now > 1e-9 && rate > 0.0 && (2.0 - now) / rate <= DT {
            time = scene.world.time() + (2.0 - now) / rate;
        }
    }
    assert_near(time, 0.407747, 2e-3);
    assert_near(scene.position(belt).x - scene.position(id).x, 0.407747, 2e-3);
    assert_near(scene.velocity(id).x, 2.0, 1e-9);
}

#[test]
fn a_free_wedge_accelerates_under_a_sliding_block() {
    // Without friction: a = m g sin cos / (M + m sin^2) = 1.887935 m/s^2 for the wedge.
    let mut scene = AuditedScene::new().passive();
    scene.floor(0.0, 0.0);
    let tan = 30.0_f64.to_radians().tan();
    let mut points = Vec::new();
    for y in [-1.0, 1.0] {
        points.push(Vec3::new(0.0, y, 0.0));
        points.push(Vec3::new(4.0, y, 0.0));
        points.push(Vec3::new(4.0, y, 4.0 * tan));
    }
    let hull = ConvexHull::new(&points).unwrap();
    let middle = hull.centroid();
    let wedge = BodyDef::inertial(Shape::from(hull)).mass(2.0).material(material(0.0, 0.0));
    let wedge = scene.add(wedge.position(middle));
    let turn = rotation(Vec3::Y, -30.0_f64.to_radians());
    let place = Vec3::new(3.0, 0.0, 3.0 * tan) + turn * Vec3::Z * 0.25;
    let id = scene.add(block(Vec3::splat(0.25), 0.0, 0.0).pose(Pose::new(place, turn)));
    scene.seconds(0.5);
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    let exact = G * sin * cos / (2.0 + sin * sin);
    assert_near(exact, 1.887935, 1e-6);
    assert_near(scene.velocity(wedge).x, 0.5 * exact, 1e-6);
    assert_near(scene.position(wedge).x - middle.x, 0.125 * exact, 1e-6);
    // No horizontal force acts on the two: 2 V + v = 0.
    assert_near(-scene.velocity(id).x, exact, 1e-6);
}
