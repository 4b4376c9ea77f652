//! Extremes: large and small, heavy and light, fast and far away. Nothing panics, nothing diverges.

use msd_sim::geometry::Shape;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, Material, Settings, World};

use super::{fastest, pile, swept, swept_settings};
use crate::scene::{DT, G, Scene, assert_below, assert_near};

fn assert_finite(world: &World) {
    for body in world.bodies() {
        let velocity = body.velocity();
        assert!(body.position().is_finite() && body.pose().rotation.is_finite());
        assert!(velocity.linear.is_finite() && velocity.angular.is_finite());
    }
    assert!(world.events().quarantined().is_empty());
}

#[test]
fn a_plate_can_have_more_contacts_than_the_graph_has_colors() {
    // A plate on the floor with 100 balls on it: there are 64 colors.
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let plate = scene.brick(Vec3::new(6.0, 6.0, 0.25)).mass(100.0);
    let plate = scene.add_at(0.25, plate);
    let ball = BodyDef::inertial(Shape::sphere(0.4).unwrap()).mass(1.0).material(scene.material);
    let place = |n: u32| Vec3::new(f64::from(n % 10) - 4.5, f64::from(n / 10) - 4.5, 0.9);
    let balls: Vec<_> = (0..100).map(|n| scene.add(ball.clone().position(place(n)))).collect();
    scene.run(180, assert_finite);
    for (n, id) in balls.into_iter().enumerate() {
        // Nothing stops balls from rolling: they keep the 0.01 m/s of the first steps.
        let off = scene.body(id).position() - place(n as u32);
        assert_below(off.z.abs(), 0.005);
        assert_below(off.length(), 0.1);
    }
    assert_near(scene.body(plate).position().z, 0.25, 0.02);
    assert_below(scene.body(plate).linear_velocity().length(), 1e-3);
    assert_below(scene.world.kinetic_energy(), 0.1);
}

#[test]
fn ten_thousand_contacts_on_one_body_are_stable() {
    let mut scene =
        Scene::with(Settings { threads: 2, ..swept_settings() }, 0.0, 0.5).on_all_threads();
    scene.floor();
    let plate = scene.brick(Vec3::new(52.0, 52.0, 0.5)).mass(1e5);
    scene.add_at(0.5, plate);
    let ball = BodyDef::inertial(Shape::sphere(0.4).unwrap()).mass(1.0).material(scene.material);
    for n in 0..10_000 {
        let (x, y) = (f64::from(n % 100) - 49.5, f64::from(n / 100) - 49.5);
        scene.add(ball.clone().position(Vec3::new(x, y, 1.41)));
    }
    scene.run(20, assert_finite);
    assert!(scene.world.report().contacts >= 10_000);
    assert_below(scene.world.report().max_penetration.unwrap(), 0.01);
    assert_below(fastest(&scene), 0.2);
}

#[test]
fn stacks_with_a_mass_ratio_of_a_million_gain_no_energy() {
    // Light under heavy and heavy under light: a squeezed body may fly off, but energy must not
    // rise.
    for heavy in [0, 1] {
        let mut scene = swept(0.0, 0.5);
        scene.floor();
        for n in 0..6 {
            let cube = scene.cube().mass(if n % 2 == heavy { 1e3 } else { 1e-3 });
            scene.add_at(0.5 + n as f64, cube);
        }
        let first = scene.energy();
        scene.run(300, |world| {
            assert_finite(world);
            assert!(crate::scene::energy(world) < 1.001 * first);
        });
        for body in scene.world.bodies().skip(1) {
            assert!(body.position().z > 0.0);
        }
    }
}

/// Returns how far a cube sinks into another that is `ratio` times lighter and lies on the floor,
/// m.
fn sink_depth(ratio: f64) -> f64 {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let light = scene.cube();
    let light = scene.add_at(0.5, light);
    let heavy = scene.cube().mass(ratio);
    let heavy = scene.add_at(1.5, heavy);
    scene.run(1200, assert_finite);
    assert_below(fastest(&scene), 1e-3);
    let [low, high] = [light, heavy].map(|id| scene.body(id).position());
    // The contact with the floor is solved last in every sweep, and does not yield.
    assert_below((low - Vec3::Z * 0.5).length(), 1e-6);
    assert_below(high.truncate().length(), 1e-6);
    1.0 - (high.z - low.z)
}

#[test]
fn a_heavy_cube_sinks_into_a_light_one_by_the_compliance_of_the_contact() {
    // The contact acts like a spring of p = 1.26 rad in a substep h on its effective mass w, 1 / w
    // = 1 / m + 1 / M: it carries M g where it yields M g h^2 / (w p^2) = (1 + M / m) g h^2 / p^2.
    // The slop, 5e-4 of the size, remains.
    let (h, p) = (DT / 4.0, 0.2 * std::f64::consts::TAU);
    for ratio in [10.0, 100.0, 1000.0] {
        let expected = 5e-4 * 0.5 + (1.0 + ratio) * G * h * h / (p * p);
        assert_near(sink_depth(ratio), expected, 1e-5);
    }
}

#[test]
#[ignore = "known limit: contacts yield: 1.4 mm at 10 times its mass, 11 mm at 100, 108 mm at 1000"]
fn a_heavy_cube_does_not_sink_into_a_light_one() {
    // As in exact worlds, where a tower of 1000 : 1 stands to 2e-5 of the size.
    for ratio in [10.0, 100.0, 1000.0] {
        assert_below(sink_depth(ratio), 5e-4 * 0.5);
    }
}

#[test]
fn a_stack_stands_far_from_the_origin() {
    // 1e5 m: a unit in the last place is 1.5e-11 m.
    let far = Vec3::new(1e5, -1e5, 1e5);
    let mut scene = swept(0.0, 0.5);
    scene.wall(Vec3::new(50.0, 50.0, 0.5), far - Vec3::Z * 0.5);
    let cubes: Vec<_> = (0..5)
        .map(|n| scene.add(scene.cube().position(far + Vec3::Z * (0.5 + f64::from(n)))))
        .collect();
    scene.run(300, assert_finite);
    for (n, id) in cubes.into_iter().enumerate() {
        let off = scene.body(id).position() - far - Vec3::Z * (0.5 + n as f64);
        assert_below(off.length(), 0.01);
    }
    assert_below(fastest(&scene), 1e-3);
}

#[test]
fn a_stack_stands_at_a_millimetre_and_at_a_kilometre() {
    // With steps proportional to the square root of the size, a body falls its own height in as
    // many steps.
    for size in [1e-3, 1e3] {
        let mut scene = swept(0.0, 0.5);
        scene.dt = DT * f64::sqrt(size);
        scene.wall(Vec3::new(50.0, 50.0, 0.5) * size, Vec3::Z * (-0.5 * size));
        let cubes: Vec<_> = (0..5)
            .map(|n| {
                let cube = scene.brick(Vec3::splat(0.5 * size));
                scene.add_at((0.5 + f64::from(n)) * size, cube)
            })
            .collect();
        scene.run(600, assert_finite);
        for (n, id) in cubes.into_iter().enumerate() {
            let off = scene.body(id).position() - Vec3::Z * ((0.5 + n as f64) * size);
            assert_below(off.length(), 0.01 * size);
        }
    }
}

#[test]
fn small_and_large_bodies_in_steps_of_any_length_stay_on_the_floor() {
    // At 60 Hz a cube of 1 mm falls 2.7 times its height in a step.
    for size in [1e-3, 1e3] {
        let mut scene = swept(0.0, 0.5);
        scene.wall(Vec3::new(5e3, 5e3, 50.0) * size, Vec3::Z * (-50.0 * size));
        for n in 0..30 {
            let (x, z) = (f64::from(n % 5), f64::from(n / 5));
            let body = scene.brick(Vec3::new(0.5, 0.4, 0.3) * size);
            scene.add(body.position(Vec3::new(1.1 * x, 0.1 * z, 0.5 + z) * size));
        }
        scene.run(300, assert_finite);
        let low = scene.world.bodies().skip(1).map(|body| body.position().z / size);
        let low = low.fold(f64::INFINITY, f64::min);
        assert!(low > 0.0, "{low} of {size}");
    }
}

#[test]
fn a_body_that_moves_less_than_its_radius_a_step_does_not_pass_a_wall() {
    // 25 m/s is 0.42 m a step, less than the radius of 0.5 m.
    assert_stopped(&[1.0, 10.0, 25.0]);
}

#[test]
fn a_body_that_moves_more_than_its_radius_a_step_does_not_pass_a_wall() {
    // 1000 m/s is 16.7 m a step: the wall is 1 m thick.
    assert_stopped(&[50.0, 100.0, 300.0, 1000.0]);
}

fn assert_stopped(speeds: &[f64]) {
    for &speed in speeds {
        let mut scene = super::weightless(0.0, 0.5);
        scene.wall(Vec3::new(0.5, 5.0, 5.0), Vec3::X * 20.0);
        let ball = scene.ball().velocity(Vec3::X * speed);
        let ball = scene.add(ball);
        let steps = (40.0 / speed / DT).ceil() as usize;
        scene.run(steps + 5, assert_finite);
        let place = scene.body(ball).position();
        assert!(place.x < 20.0, "at {speed} m/s it gets to {place}");
    }
}

#[test]
fn a_fast_body_shot_into_a_pile_adds_no_energy() {
    let mut scene =
        Scene::with(Settings { threads: 2, ..swept_settings() }, 0.3, 0.5).on_all_threads();
    scene.floor();
    pile(&mut scene, 150, 0.4);
    scene.run(30, |_| {});
    let ball = scene.ball().mass(10.0).velocity(Vec3::new(-1000.0, 0.0, 0.0));
    scene.add(ball.position(Vec3::new(20.0, 0.3, 1.0)));
    let energy = scene.energy();
    let mut most = energy;
    scene.run(60, |world| {
        assert_finite(world);
        most = most.max(crate::scene::energy(world));
    });
    assert!(most < 1.01 * energy, "{most} J of {energy} J");
}

#[test]
fn unusual_steps_and_settings_do_not_panic() {
    for (substeps, threads) in [(1, 1), (7, 2), (64, 3)] {
        let settings = Settings { substeps, threads, ..swept_settings() };
        let mut scene = Scene::with(settings, 0.9, 1.5).on_all_threads();
        scene.floor();
        pile(&mut scene, 40, 0.3);
        for dt in [1e-30, 1e-12, 1e-3, DT, 0.5, 1.0, 1e3] {
            scene.world.step(dt).unwrap();
            assert_finite(&scene.world);
        }
    }
}

#[test]
fn a_swept_world_of_one_body_or_of_none_steps() {
    let mut world = World::new(swept_settings()).unwrap();
    world.step(DT).unwrap();
    let floor = BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap());
    world.add_body(floor).unwrap();
    world.step(DT).unwrap();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).position(Vec3::Z * 0.5);
    let ball = world.add_body(ball).unwrap();
    world.step(DT).unwrap();
    assert_eq!(world.report().contacts, 1);
    world.remove_body(ball).unwrap();
    world.step(DT).unwrap();
    assert_eq!((world.report().contacts, world.contacts().count()), (0, 0));
}

/// Separates overlapping balls of 1 m without gravity, and checks that no overlap is left. Returns
/// the largest energy that they have meanwhile, J.
fn separate(places: impl Iterator<Item = Vec3>) -> f64 {
    let mut scene = super::weightless(0.0, 0.5);
    for place in places {
        let ball = scene.ball().position(place);
        scene.add(ball);
    }
    let mut most = 0.0_f64;
    scene.run(300, |world| {
        assert_finite(world);
        most = most.max(world.kinetic_energy());
    });
    // The slop is left: an overlap beyond it shrinks by 13 % a step, in 300 steps to 1e-18 of
    // itself.
    assert_below(scene.world.report().max_penetration.unwrap(), 5e-4 * 0.5 + 1e-12);
    // No external impulse acts.
    let rounding = 1e-12 * (2.0 * most * scene.world.bodies().len() as f64).sqrt();
    assert!(scene.world.momentum().linear.length() <= rounding);
    most
}

/// Returns twenty balls whose centers coincide: there is no direction to separate along, and the
/// engine must choose one.
fn coincident() -> impl Iterator<Item = Vec3> {
    (0..20).map(|_| Vec3::ZERO)
}

/// Returns a block of 5 by 5 by 5 balls, 0.8 m apart: each pair overlaps by 0.2 m.
fn overlapping_block() -> impl Iterator<Item = Vec3> {
    (0..125).map(|n| Vec3::new(f64::from(n % 5), f64::from(n / 5 % 5), f64::from(n / 25)) * 0.8)
}

#[test]
fn coincident_bodies_separate() {
    separate(coincident());
}

#[test]
fn a_block_of_overlapping_bodies_separates() {
    separate(overlapping_block());
}

#[test]
#[ignore = "known limit: one relax sweep does not remove all of the push: 2178 J for twenty coincident bodies, 409 J for a block of 125"]
fn overlapping_bodies_separate_without_velocity() {
    // As in exact worlds: 0 J.
    assert_below(separate(coincident()), 1e-9);
    assert_below(separate(overlapping_block()), 1e-9);
}

#[test]
fn a_body_that_is_no_longer_finite_is_quarantined_and_the_others_go_on() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    let ball = scene.ball().position(Vec3::new(5.0, 0.0, 3.0));
    let ball = scene.add(ball);
    scene.run(10, |_| {});
    let huge = SpatialVector::new(Vec3::Z * f64::MAX, Vec3::ZERO);
    scene.world.apply_force(ball, huge).unwrap();
    scene.world.apply_force(ball, huge).unwrap();
    let steel = Material::new(0.5, 0.5).unwrap();
    scene.world.set_material(ball, steel).unwrap();
    scene.step();
    assert_eq!(scene.world.events().quarantined(), [ball]);
    scene.run(120, assert_finite);
    assert_near(scene.body(cube).position().z, 0.5, 2e-3);
    assert_near(scene.body(ball).position().z, 0.5, 2e-3);
}
