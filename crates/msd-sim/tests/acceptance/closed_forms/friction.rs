//! Sliding and sticking on a level floor.

use msd_sim::math::{SpatialVector, Vec3};

use crate::audited_scene::{AuditedScene, DT, G, assert_near, ball, block, cube, stop};

#[test]
fn a_sliding_box_stops_where_and_when_coulomb_predicts() {
    // v^2 / (2 mu g) and v / (mu g): 10.194 m and 2.0387 s; 2.5484 m and 1.0194 s.
    for (mass, speed, fraction) in [(5.0, 10.0, 5e-3), (1.0, 5.0, 5e-4)] {
        let mut scene = AuditedScene::new().passive();
        scene.floor(0.5, 0.5);
        let def = cube(0.5, 0.5).mass(mass).position(Vec3::Z * 0.5);
        let id = scene.add(def.velocity(Vec3::X * speed));
        let (time, distance) = stop(&mut scene, id, Vec3::X);
        assert_near(distance, speed * speed / (2.0 * 0.5 * G), fraction);
        assert_near(time, speed / (0.5 * G), fraction);
    }
}

#[test]
fn a_push_inside_the_friction_cone_sticks_and_one_outside_slides() {
    // mu m g = 23.544 N; (25 - 23.544) / 8 = 0.182 m/s^2.
    for (force, acceleration) in [(20.0, 0.0), (25.0, 0.183)] {
        let mut scene = AuditedScene::new();
        scene.floor(0.5, 0.3);
        let id = scene.add(cube(0.5, 0.3).mass(8.0).position(Vec3::Z * 0.5));
        for _ in 0..120 {
            scene.push(id, Vec3::X * force);
            scene.step();
        }
        let reached = scene.velocity(id).x / 2.0;
        if acceleration == 0.0 {
            assert!(scene.speed() < 1e-6 && scene.position(id).x.abs() < 1e-6);
        } else {
            assert_near(reached, acceleration, 0.01);
            assert_near(reached, (force - 0.3 * 8.0 * G) / 8.0, 0.01);
        }
    }
}

#[test]
fn friction_carries_the_lower_body_along_with_the_pushed_upper_one() {
    // 10 N on 8 kg: 1.25 m/s^2. The lower body of 5 kg takes 6.25 N, less than 0.5 * 3 g.
    let mut scene = AuditedScene::new();
    scene.floor(0.0, 0.0);
    let lower = block(Vec3::new(1.0, 1.0, 0.25), 0.0, 0.5).mass(5.0).position(Vec3::Z * 0.25);
    let lower = scene.add(lower);
    let upper = block(Vec3::splat(0.25), 0.0, 0.5).mass(3.0).position(Vec3::Z * 0.75);
    let upper = scene.add(upper);
    for _ in 0..60 {
        scene.push(upper, Vec3::X * 10.0);
        scene.step();
        assert_near(scene.impulse(upper, lower).x / DT, 6.25, 1e-3);
    }
    assert_near(scene.velocity(upper).x, 1.25, 1e-3);
    assert_near(scene.velocity(lower).x, 1.25, 1e-3);
}

#[test]
fn sliding_has_no_preferred_direction() {
    let exact = 25.0 / G;
    for degrees in [0.0_f64, 22.5, 45.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let along = Vec3::new(cos, sin, 0.0);
        let mut scene = AuditedScene::new().passive();
        scene.floor(0.5, 0.5);
        let id = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5).velocity(along * 5.0));
        let (_, distance) = stop(&mut scene, id, along);
        // All distances within 0.1 % of the exact one are within 0.2 % of each other.
        assert_near(distance, exact, 1e-3);
        let sideways = scene.position(id).dot(Vec3::new(-sin, cos, 0.0));
        assert!(sideways.abs() <= 1e-3, "{degrees} deg: {sideways:e} m to the side");
    }
}

#[test]
fn friction_dissipates_the_kinetic_energy_and_never_reverses_a_slide() {
    for friction in [0.1, 0.5, 0.9] {
        let mut scene = AuditedScene::new().passive();
        scene.floor(0.0, friction);
        let def = block(Vec3::new(0.5, 0.5, 0.2), 0.0, friction).position(Vec3::Z * 0.2);
        let id = scene.add(def.velocity(Vec3::new(2.0, 1.0, 0.0)));
        let (energy, along) = (2.5, Vec3::new(2.0, 1.0, 0.0) / 5.0_f64.sqrt());
        let mut work = 0.0;
        for _ in 0..240 {
            scene.step();
            work -= scene.world.report().audit.unwrap().terms.unwrap().friction;
            let speed = scene.velocity(id).dot(along);
            assert!(speed >= -1e-9, "mu {friction}: {speed:e} m/s");
        }
        assert!(scene.speed() < 1e-6);
        assert_near(work, energy, 0.01);
    }
}

#[test]
fn a_slowly_growing_push_starts_the_slide_at_the_edge_of_the_friction_cone() {
    let mut scene = AuditedScene::new();
    scene.floor(0.0, 0.4);
    let id = scene.add(cube(0.0, 0.4).position(Vec3::Z * 0.5));
    let edge = 0.4 * G;
    for n in 0..200 {
        let force = edge * (0.9 + 0.001 * f64::from(n));
        scene.push(id, Vec3::X * force);
        scene.step();
        let speed = scene.velocity(id).x;
        if force < 0.9999 * edge {
            assert!(speed.abs() < 1e-6, "{force} N: {speed:e} m/s");
        } else if force > 1.01 * edge {
            assert!(speed > 1e-6, "{force} N: {speed:e} m/s");
        }
    }
    // The sum of 0.001 k edge dt over the 99 steps above the edge.
    assert_near(scene.velocity(id).x, edge * 0.001 * 4950.0 * DT, 1e-3);
}

#[test]
fn oblique_slides_do_not_hop() {
    for speed in [0.8, 0.85, 1.5, 3.0, 6.0] {
        let mut scene = AuditedScene::new().passive();
        scene.floor(0.5, 0.5);
        let along = Vec3::new(0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0);
        let id = scene.add(cube(0.5, 0.5).position(Vec3::Z * 0.5).velocity(along * speed));
        for _ in 0..180 {
            scene.step();
            let rising = scene.velocity(id).z;
            assert!(rising.abs() < 0.05, "{speed} m/s: vz {rising}");
        }
        assert!(scene.speed() < 1e-3);
    }
}

#[test]
fn a_sphere_with_backspin_ends_rolling_with_its_angular_momentum_about_the_floor() {
    // Angular momentum about a point of the floor is conserved: v_f = (5 v - 2 r omega) / 7.
    let mut scene = AuditedScene::new().passive();
    scene.floor(0.0, 0.3);
    let def = ball(0.0, 0.3).position(Vec3::Z * 0.5).velocity(Vec3::X * 5.0);
    let id = scene.add(def.angular_velocity(Vec3::Y * -10.0));
    scene.seconds(2.0);
    let end = (5.0 * 5.0 - 2.0 * 0.5 * 10.0) / 7.0;
    assert_near(scene.velocity(id).x, end, 1e-3);
    assert_near(0.5 * scene.spin(id).y, end, 1e-3);
}

#[test]
fn a_sphere_thrown_without_spin_begins_to_roll_at_the_exact_time_and_place() {
    // The slip v - r omega falls at 7/2 mu g: t = 2 v / (7 mu g); x = v t - mu g t^2 / 2.
    let mut scene = AuditedScene::new().passive();
    scene.floor(0.0, 0.3);
    let id = scene.add(ball(0.0, 0.3).position(Vec3::Z * 0.5).velocity(Vec3::X * 5.0));
    let slip = |scene: &AuditedScene| scene.velocity(id).x - 0.5 * scene.spin(id).y;
    let (mut before, mut rolling) = (slip(&scene), None);
    for _ in 0..120 {
        scene.step();
        let now = slip(&scene);
        let slowing = (before - now) / DT;
        before = now;
        if now > 1e-9 && slowing > 0.0 && now / slowing <= DT {
            let rest = now / slowing;
            let (x, v) = (scene.position(id).x, scene.velocity(id).x);
            let at = x + v * rest - slowing / 7.0 * rest * rest;
            rolling = Some((scene.world.time() + rest, at));
        }
    }
    let (time, place) = rolling.expect("it starts to roll");
    assert_near(time, 0.485413, 1e-3);
    assert_near(place, 2.080343, 1e-3);
    assert_near(scene.velocity(id).x, 25.0 / 7.0, 1e-3);
    assert!(slip(&scene).abs() < 1e-9);
}

#[test]
fn a_skidding_sphere_leaves_with_the_velocities_of_one_impact() {
    // J_n = m v_n (1 + e) = 6. mu 0.1: J_t = 0.6, v_t = 3 - 0.6, r omega = 5/2 0.6.
    // mu 0.5: enough to roll, v_t = r omega = 5/7 3.
    for (friction, tangential, rim) in [(0.1, 2.4, 1.5), (0.5, 15.0 / 7.0, 15.0 / 7.0)] {
        let mut scene = AuditedScene::weightless();
        let floor = scene.floor(0.5, friction);
        let def = ball(0.5, friction).position(Vec3::Z * 0.9);
        let id = scene.add(def.velocity(Vec3::new(3.0, 0.0, -4.0)));
        let mut impulse = Vec3::ZERO;
        for _ in 0..20 {
            scene.step();
            impulse += scene.impulse(floor, id);
        }
        assert_near(scene.velocity(id).x, tangential, 1e-6);
        assert_near(scene.velocity(id).z, 2.0, 1e-6);
        assert_near(0.5 * scene.spin(id).y, rim, 1e-6);
        assert_near(impulse.z, 6.0, 1e-6);
        assert_near(-impulse.x, 3.0 - tangential, 1e-6);
    }
}

#[test]
fn a_glancing_hit_gives_the_sphere_its_spin() {
    // J_n = 2 m' v_n with 1/m' = 1/2 + 1/10: 14.434. The sphere sticks: J_t = v_t / (1/2 + 1/10 +
    // r^2/I) = 2.5 / 1.85 = 1.3514 < mu J_n; omega = J_t r / I = 16.892. The figures are those of a
    // block that does not turn, so its inertia is made huge.
    let mut scene = AuditedScene::weightless();
    let heavy = msd_sim::math::Mat3::from_diagonal(Vec3::splat(1e9));
    let wall = cube(1.0, 0.4).mass(10.0).inertia(heavy).position(Vec3::Z * -0.5);
    let wall = scene.add(wall);
    let sphere = msd_sim::BodyDef::inertial(msd_sim::geometry::Shape::sphere(0.1).unwrap())
        .mass(2.0)
        .material(crate::audited_scene::material(1.0, 0.4));
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    let velocity = Vec3::new(5.0 * sin, 0.0, -5.0 * cos);
    // It hits straight below the block's center, 10.3 steps from here.
    let sphere =
        scene.add(sphere.position(Vec3::Z * 0.1 - velocity * (10.3 * DT)).velocity(velocity));
    let before = scene.world.momentum();
    let mut hits = Vec::new();
    for _ in 0..20 {
        scene.step();
        hits.extend_from_slice(scene.world.events().hits());
    }
    let gained = (scene.velocity(sphere) - velocity) * 2.0;
    assert_near(gained.z, 14.44, 5e-3);
    assert_near(-gained.x, 1.352, 5e-3);
    assert_near(scene.spin(sphere).y, 16.90, 5e-3);
    assert_near(gained.z, 2.0 * 5.0 * cos / 0.6, 1e-6);
    assert_near(-gained.x, 2.5 / 1.85, 1e-6);
    assert_eq!(hits.len(), 1);
    assert_near(hits[0].impulse, gained.z, 1e-9);
    assert_near(hits[0].speed, 5.0 * cos, 1e-9);
    let lost: SpatialVector = scene.world.momentum() - before;
    assert!(lost.linear.length() < 1e-12 * 10.0 && lost.angular.length() < 1e-12 * 10.0);
    assert_near(scene.velocity(wall).z, -gained.z / 10.0, 1e-9);
}
