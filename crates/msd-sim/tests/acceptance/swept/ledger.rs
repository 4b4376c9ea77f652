//! The ledger of swept steps: each term is the work that mechanics gives for it, and their sum is the change of energy.

use msd_sim::geometry::Shape;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{BodyDef, ContactTerms, JointDef, Ledger, Potential, Settings};

use super::{swept, swept_settings, turntable_pile};
use crate::oracle::pairs::Rng;
use crate::scene::{DT, G, Scene, assert_below, assert_near};

/// Steps a scene and returns the ledgers of all steps.
fn ledgers(scene: &mut Scene, steps: usize) -> Vec<Ledger> {
    (0..steps).map(|_| scene.step().audit.unwrap()).collect()
}

/// Returns the sum of a term over all steps.
fn sum(ledgers: &[Ledger], term: impl Fn(&ContactTerms) -> f64) -> f64 {
    ledgers.iter().map(|ledger| term(&ledger.terms.unwrap())).sum()
}

/// Returns the largest energy that a step does not account for, relative to the energy in its ledger.
fn worst_energy_error(ledgers: &[Ledger]) -> f64 {
    let relative = |ledger: &Ledger| {
        let terms = ledger.terms.unwrap();
        let works =
            [terms.normal_impulses, terms.friction, terms.joints, ledger.moving_environment];
        let works: f64 = works.iter().map(|work| work.abs()).sum();
        let energy = ledger.kinetic_before + ledger.potential_before.abs() + works;
        ledger.energy_error().unwrap().abs() / energy
    };
    ledgers.iter().map(relative).fold(0.0, f64::max)
}

#[test]
fn every_step_of_a_jointed_pile_on_a_turntable_accounts_for_its_energy() {
    let mut scene = turntable_pile(1);
    scene.world.add_potential(Potential::drag(0.3, 0.0, 0.01, 0.0, Vec3::ZERO).unwrap()).unwrap();
    let pushed = scene.world.bodies().nth(20).unwrap().id();
    let mut all = Vec::new();
    for _ in 0..180 {
        let force = SpatialVector::new(Vec3::new(30.0, -10.0, 5.0), Vec3::new(0.3, 0.0, 1.0));
        scene.world.apply_force(pushed, force).unwrap();
        all.extend(ledgers(&mut scene, 1));
    }
    // About 600 contacts and 200 bodies, 8 passes each: below 1e4 terms, each rounded to 1e-16 of itself.
    assert_below(worst_energy_error(&all), 1e-12);
    // All kinds of work took part.
    assert!(sum(&all, |terms| terms.normal_impulses) < -100.0);
    assert!(sum(&all, |terms| terms.friction) < -100.0);
    assert!(sum(&all, |terms| terms.joints.abs()) > 1.0);
    assert!(all.iter().map(|ledger| ledger.damping).sum::<f64>() < -1.0);
    assert!(all.iter().map(|ledger| ledger.applied_forces).sum::<f64>() > 1.0);
    assert!(all.iter().map(|ledger| ledger.moving_environment).sum::<f64>() > 1.0);
}

#[test]
fn the_ledger_does_not_depend_on_the_number_of_threads() {
    let [one, three] = [1, 3].map(|threads| ledgers(&mut turntable_pile(threads), 60));
    assert_eq!(one, three);
}

#[test]
fn a_box_that_slides_to_a_stop_loses_its_energy_to_friction() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube().mass(3.0).velocity(Vec3::X * 5.0);
    scene.add_at(0.5, cube);
    let all = ledgers(&mut scene, 90);
    // It sinks into the slop, 5e-4 of its half width, which the normal impulses stop.
    let sinking = 3.0 * G * 2.5e-4;
    assert_near(sum(&all, |terms| terms.friction), -0.5 * 3.0 * 25.0, sinking / 37.5);
    assert_below(sum(&all, |terms| terms.normal_impulses.abs()), sinking);
    assert_below(worst_energy_error(&all), 1e-13);
}

#[test]
fn a_landing_without_bounce_loses_its_energy_to_normal_impulses() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let ball = scene.ball().mass(2.0);
    scene.add_at(1.5, ball);
    let all = ledgers(&mut scene, 60);
    // The impulses act within one substep of 1/240 s of the touch at 4.43 m/s, before or after gravity has added its speed:
    // m v g h. All of 1 m of fall is accounted for, but for the slop, 5e-4 of the radius.
    let [speed, slop] = [(2.0 * G).sqrt(), 2.5e-4];
    let within = 2.0 * speed * G * (DT / 4.0);
    let restitution = sum(&all, |terms| terms.normal_impulses);
    assert_below((restitution + 2.0 * G).abs(), within);
    let integration = sum(&all, |terms| terms.integration);
    assert_below((restitution + integration + 2.0 * G).abs(), 2.0 * G * slop);
    // Nothing overlaps, so nothing is corrected: an impulse that stops it after it has moved is not one taken back.
    assert_below(sum(&all, |terms| terms.position_correction.abs()), 2.0 * G * slop);
    assert_below(sum(&all, |terms| terms.friction.abs()), 1e-12);
    assert_below(worst_energy_error(&all), 1e-13);
}

#[test]
fn an_elastic_bounce_does_no_work() {
    let mut scene = Scene::with(Settings { gravity: Vec3::ZERO, ..swept_settings() }, 1.0, 0.0);
    scene.floor();
    let ball = scene.ball().velocity(Vec3::Z * -3.0);
    scene.add_at(0.7, ball);
    let all = ledgers(&mut scene, 30);
    assert_near(all[29].kinetic, 4.5, 1e-12);
    // It takes 4.5 J and returns them, in one step.
    assert_below(sum(&all, |terms| terms.normal_impulses).abs(), 1e-12);
    assert_below(worst_energy_error(&all), 1e-14);
}

#[test]
fn a_belt_does_twice_the_work_that_the_box_on_it_keeps() {
    // At 2 m/s and 1 kg: friction F acts for v / a with a = F / m, while the belt moves v^2 / a and the box half of that. The
    // belt does m v^2 = 4 J, of which 2 J are lost in sliding.
    let mut scene = swept(0.0, 0.5);
    let belt = Shape::cuboid(Vec3::new(50.0, 2.0, 0.5)).unwrap();
    let belt = BodyDef::environment(belt).material(scene.material).velocity(Vec3::X * 2.0);
    scene.add_at(-0.5, belt);
    let cube = scene.cube();
    scene.add_at(0.5, cube);
    let all = ledgers(&mut scene, 60);
    assert_near(all.iter().map(|ledger| ledger.moving_environment).sum(), 4.0, 1e-3);
    assert_near(sum(&all, |terms| terms.friction), -2.0, 1e-3);
    assert_below(worst_energy_error(&all), 1e-13);
}

#[test]
fn pushing_an_overlapping_box_out_of_the_floor_is_a_correction() {
    let mut scene = swept(0.0, 0.5);
    scene.floor();
    let cube = scene.cube().mass(2.0);
    let cube = scene.add_at(0.45, cube);
    let all = ledgers(&mut scene, 120);
    let rise = scene.body(cube).position().z - 0.45;
    // All but the slop, 5e-4 of its half width, and the sag of the soft contact under its weight.
    assert!((0.0495..0.05).contains(&rise), "{rise}");
    let terms =
        [sum(&all, |terms| terms.position_correction), sum(&all, |terms| terms.normal_impulses)];
    assert_near(terms[0], 2.0 * G * rise, 1e-2);
    assert_below(terms[1].abs(), 2.0 * G * rise * 1e-2);
    assert_below(worst_energy_error(&all), 1e-13);
}

/// Joints with an environment body that moves and turns, fields with torque, islands of both methods in one world, bodies
/// that fall asleep and one that is stopped by continuous collision detection.
#[test]
fn the_ledger_closes_whatever_moves_holds_or_stops_a_body() {
    let settings =
        Settings { max_exact_bodies: Some(3), sleeping: true, audit: true, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.2, 0.5);
    scene.floor();
    let small = || Shape::cuboid(Vec3::new(0.1, 0.15, 0.2)).unwrap();
    let hook = BodyDef::environment(small()).position(Vec3::new(5.0, 0.0, 3.0));
    let hook = hook.velocity(Vec3::new(-1.0, 0.5, 0.0)).angular_velocity(Vec3::new(0.0, 0.3, 2.0));
    let mut last = scene.add(hook);
    for n in 1..=6 {
        let x = 5.0 + 0.6 * f64::from(n);
        let bob = scene.brick(Vec3::new(0.1, 0.15, 0.2)).position(Vec3::new(x, 0.0, 3.0));
        let bob = scene.add(bob);
        let joint = match n % 3 {
            0 => JointDef::ball(last, bob).anchors(Vec3::X * 0.3, Vec3::X * -0.3),
            1 => JointDef::rope(last, bob, 0.6),
            _ => JointDef::rod(last, bob, 0.6),
        };
        scene.world.add_joint(joint).unwrap();
        last = bob;
    }
    // Gravity that grows toward a point turns long bodies.
    let pull = Potential::point_mass(Vec3::new(0.0, 0.0, 6.0), 20.0, 0.5).unwrap();
    scene.world.add_potential(pull).unwrap();
    for n in 0..5 {
        let cube = scene.cube().position(Vec3::new(-8.0, 0.0, 0.5 + f64::from(n)));
        scene.add(cube);
    }
    for n in 0..2 {
        let cube = scene.cube().position(Vec3::new(-20.0, 0.0, 0.5 + f64::from(n)));
        scene.add(cube.velocity(Vec3::X * 0.01));
    }
    let wall = Shape::cuboid(Vec3::new(0.02, 2.0, 2.0)).unwrap();
    scene.add(BodyDef::environment(wall).position(Vec3::new(0.0, 20.0, 2.0)));
    let (mut exact, mut swept, mut asleep) = (0, 0, 0);
    for step in 0..150 {
        if step == 20 {
            // Four bullets that touch are swept.
            for n in 0..4 {
                let place = Vec3::new(-5.0, 19.7 + 0.2 * f64::from(n), 2.0);
                let ball = BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(0.5);
                scene.add(ball.position(place).velocity(Vec3::X * 300.0));
            }
        }
        let report = scene.step();
        (exact, swept) = (exact.max(report.exact), swept.max(report.swept));
        asleep = asleep.max(report.asleep);
        let ledger = report.audit.unwrap();
        // Some hundred terms, each rounded to 1e-16 of itself.
        assert_below(worst_energy_error(&[ledger]), 1e-13);
    }
    assert!(exact >= 2 && swept >= 10 && asleep >= 2, "{exact}, {swept}, {asleep}");
}

#[test]
fn rods_and_ball_joints_do_no_work_and_their_momentum_adds_up() {
    let kinds: [fn(_, _) -> JointDef; 2] = [
        |hook, bob| JointDef::rod(hook, bob, 2.0),
        |hook, bob| JointDef::ball(hook, bob).anchors(Vec3::ZERO, Vec3::X * -2.0),
    ];
    for kind in kinds {
        let mut scene = swept(0.0, 0.5);
        let small = || Shape::sphere(0.1).unwrap();
        let hook = scene.add(BodyDef::environment(small()).position(Vec3::new(0.3, 0.2, 3.0)));
        let bob = BodyDef::inertial(small()).mass(1.5).position(Vec3::new(2.3, 0.2, 3.0));
        let bob = scene.add(bob);
        scene.world.add_joint(kind(hook, bob)).unwrap();
        let all = ledgers(&mut scene, 120);
        assert_below(worst_energy_error(&all), 1e-13);
        // It falls by 2 m, 29 J, and is at 6.26 m/s then. The arm turns by up to w h = 6.26 / 2 / 240 rad in a substep: that
        // share of the energy passes from the motion, along the chord, to the joint.
        let turned = 6.26 / 2.0 / 240.0;
        assert_below(sum(&all, |terms| terms.joints).abs(), 29.0 * turned);
        let momentum = |v: SpatialVector| v.linear.length() + v.angular.length();
        let error = |ledger: &Ledger| momentum(ledger.momentum_error()) / (1.5 * G * DT);
        assert_below(all.iter().map(error).fold(0.0, f64::max), 1e-12);
    }
}

/// Balls of a pile become swept as their groups grow. Two exact balls that were about to bounce off each other were not in
/// one group: when one of them became swept, it was pushed by the other, but the other not by it.
#[test]
fn bodies_that_become_swept_push_those_that_they_meet() {
    for seed in 0..3 {
        let mut rng = Rng::new(seed);
        let mut scene = Scene::with(Settings { audit: true, ..Settings::default() }, 0.3, 0.5);
        scene.floor();
        for n in 0..288 {
            let place = Vec3::from([n % 6, n / 6 % 6, n / 36].map(f64::from)) * 0.65;
            let ball = BodyDef::inertial(Shape::sphere(0.3).unwrap()).mass(1.0);
            let ball = ball.position(place + rng.in_cube() * 0.02 + Vec3::Z * 0.5);
            scene.add(ball.material(scene.material));
        }
        let mut methods = [0, 0];
        for _ in 0..180 {
            let report = scene.step();
            methods = [methods[0].max(report.exact), methods[1].max(report.swept)];
            let ledger = report.audit.unwrap();
            assert_below(worst_energy_error(&[ledger]), 1e-13);
            // 288 kg at up to 8 m/s, in sums of some 1000 terms.
            let error = ledger.momentum_error().linear.length();
            assert_below(error, 1000.0 * 288.0 * 8.0 * f64::EPSILON);
        }
        assert!(methods[0] > 100 && methods[1] > 100, "{methods:?}");
    }
}
