//! Step reports: figures are true for both methods, and absent where nothing was measured.

use msd_sim::bodies::{BodyView, PotentialField};
use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, Filter, JointDef, Method, Potential, Settings, World};

use crate::oracle::pairs::Rng;
use crate::scene::{Scene, assert_below, assert_near};

const DT: f64 = 1.0 / 60.0;

/// Returns the settings of exact steps and of swept ones, both audited.
fn both() -> [Settings; 2] {
    let exact = Settings { audit: true, ..Settings::default() };
    [exact.clone(), Settings { max_exact_bodies: Some(0), ..exact }]
}

fn weightless(settings: Settings) -> Settings {
    Settings { gravity: Vec3::ZERO, ..settings }
}

#[test]
fn figures_that_were_not_measured_are_absent() {
    for audit in [false, true] {
        let mut scene = Scene::with(
            Settings { max_exact_bodies: Some(0), audit, ..Settings::default() },
            0.5,
            0.5,
        );
        scene.floor();
        let cube = scene.cube();
        scene.add_at(0.5, cube);
        let report = scene.step();
        assert_eq!((report.exact, report.swept), (0, 1));
        let measured = [
            report.solve.is_some(),
            report.max_penetration.is_some(),
            report.max_joint_error.is_some(),
            report.islands.is_some(),
            report.audit.is_some(),
        ];
        assert_eq!(measured, [audit; 5]);
        let residuals = scene.world.contacts().flat_map(|contact| contact.points().to_vec());
        assert!(residuals.map(|point| point.residual.is_some()).all(|measured| measured == audit));
        // The ledger has its terms, whichever the method.
        let ledger = report.audit;
        assert!(ledger.is_none_or(|ledger| ledger.terms.is_some()));
        let error = ledger.and_then(|ledger| ledger.energy_error());
        assert!(error.is_none_or(|error| error.abs() < 1e-12));
    }
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    scene.add_at(0.5, cube);
    let report = scene.step();
    assert_eq!((report.exact, report.swept), (1, 0));
    assert!(report.solve.is_some() && report.max_penetration.is_some() && report.islands.is_some());
    assert_eq!(report.audit, None);
}

#[test]
fn a_bounce_of_a_swept_ball_has_no_residual() {
    // A ball without spin and friction can violate nothing else: its residual is rounding, although
    // it separates while it gets an impulse.
    let [_, swept] = both();
    let mut scene = Scene::with(swept, 1.0, 0.0);
    scene.floor();
    let ball = scene.ball();
    scene.add_at(2.0, ball);
    let (mut worst, mut bounced) = (0.0_f64, false);
    scene.run(120, |world| {
        worst = worst.max(world.report().residual().unwrap());
        bounced |= !world.events().hits().is_empty();
    });
    assert!(bounced);
    assert_below(worst, 1e-12);
}

#[test]
fn the_residual_of_swept_joints_is_the_speed_at_which_their_anchors_separate() {
    // Beads of so large an inertia do not turn, so the velocity error of a joint at their centers is the
    // difference of two velocities that can be read after the step.
    let [_, swept] = both();
    let mut world = World::new(weightless(swept)).unwrap();
    let beads: Vec<BodyId> = (0..6)
        .map(|n| {
            let def = BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(1.0 + f64::from(n));
            let def = def.velocity(Vec3::new(f64::from(n * n % 5), f64::from(n % 3), 0.0));
            let def = def.inertia(Mat3::from_diagonal(Vec3::splat(1e16)));
            let def = def.filter(Filter { groups: 1, mask: 0 });
            world.add_body(def).unwrap()
        })
        .collect();
    for pair in beads.windows(2) {
        world.add_joint(JointDef::ball(pair[0], pair[1])).unwrap();
    }
    let report = *world.step(DT).unwrap();
    let velocity = |id: BodyId| world.body(id).unwrap().linear_velocity();
    let parting = |pair: &[BodyId]| (velocity(pair[1]) - velocity(pair[0])).abs().max_element();
    let worst = beads.windows(2).map(parting).fold(0.0, f64::max);
    let solve = report.solve.unwrap();
    assert!(worst > 1e-3 && !solve.converged);
    assert_near(solve.residual.joint, worst, 1e-12);
    let violation = report.worst_violation.unwrap();
    assert_near(parting(&violation.bodies), worst, 1e-12);
    assert_eq!(world.joints().nth(violation.bodies[0].index()).map(|(id, _)| id), violation.joint);
}

/// A force that is NaN beyond a plane.
#[derive(Debug)]
struct Broken;

impl PotentialField for Broken {
    fn energy(&self, _: &BodyView) -> f64 {
        0.0
    }

    fn force(&self, body: &BodyView) -> SpatialVector {
        let broken = body.pose.position.x > 5.0;
        SpatialVector::new(if broken { Vec3::splat(f64::NAN) } else { Vec3::ZERO }, Vec3::ZERO)
    }
}

#[test]
fn a_state_that_is_not_finite_makes_the_residual_infinite() {
    for settings in both() {
        let mut scene = Scene::with(settings, 0.5, 0.5);
        scene.floor();
        let mut ids = Vec::new();
        for x in [0.0, 2.0, 10.0] {
            let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
            ids.push(scene.add(cube));
        }
        scene.step();
        scene.world.add_potential(Potential::user(Broken)).unwrap();
        let report = scene.step();
        assert_eq!(report.residual(), Some(f64::INFINITY));
        assert_eq!(scene.world.events().quarantined(), [ids[2]]);
        let worst = report.worst_violation.unwrap();
        assert!(worst.bodies.contains(&ids[2]), "{worst:?}");
        assert_eq!(worst.residual, f64::INFINITY);
    }
}

#[test]
fn the_worst_violation_names_the_unsolved_contact() {
    // 1000 kg on 1 kg, which sweeps do not solve, among cubes at rest; first, in the middle and
    // last in the list.
    let [exact, swept] = both();
    let unsolved = Settings { newton_steps: Some(0), ..exact };
    let cases = [0, 4, 9].map(|place| [(place, &unsolved), (place, &swept)]);
    for (place, settings) in cases.into_iter().flatten() {
        let settings = settings.clone();
        let mut scene = Scene::with(settings, 0.5, 0.5);
        scene.floor();
        let mut stacked = Vec::new();
        for n in 0..10 {
            let x = 3.0 * f64::from(n);
            let cube = scene.cube().position(Vec3::new(x, 0.0, 0.5));
            let low = scene.add(cube);
            if n == place {
                let heavy = scene.cube().mass(1000.0).position(Vec3::new(x, 0.0, 1.5));
                stacked = vec![low, scene.add(heavy)];
            }
        }
        for _ in 0..5 {
            let report = scene.step();
            assert!(report.residual().unwrap() > 1e-3);
            let bodies = report.worst_violation.unwrap().bodies;
            assert!(bodies.iter().any(|body| stacked.contains(body)), "{bodies:?} not {stacked:?}");
        }
    }
}

#[test]
fn a_fast_island_does_not_hide_the_error_of_a_slow_one() {
    // The relative residual of an unsolved stack, alone and beside a ball that slides at 1 km/s.
    let settings = Settings { newton_steps: Some(0), ..Settings::default() };
    let residual = |fast: bool| {
        let mut scene = Scene::with(settings.clone(), 0.0, 0.5);
        scene.floor();
        for n in 0..5 {
            let cube = scene.cube();
            scene.add_at(0.5 + f64::from(n), cube);
        }
        if fast {
            let ball = scene.ball().position(Vec3::new(20.0, 0.0, 0.5));
            scene.add(ball.velocity(Vec3::X * 1000.0));
        }
        scene.step().residual().unwrap()
    };
    assert!(residual(false) > 1e-3);
    assert_eq!(residual(true).max(residual(false)), residual(true));
    assert!(residual(true) >= residual(false));
}

#[test]
fn the_deepest_overlap_is_that_at_the_end_of_the_step() {
    // Two balls overlap by the sum of their radii less the distance of their centers.
    for settings in both() {
        let mut scene = Scene::with(settings, 0.3, 0.5);
        scene.floor();
        let mut rng = Rng::new(7);
        for n in 0..30 {
            let at =
                Vec3::new(f64::from(n % 3), f64::from(n / 3 % 3), 1.0 + f64::from(n / 9)) * 0.9;
            let ball = scene.ball().position(at).velocity(rng.in_cube() * 3.0);
            scene.add(ball);
        }
        let mut deepest_ever = 0.0_f64;
        for _ in 0..90 {
            let report = scene.step();
            let balls: Vec<Vec3> =
                scene.world.bodies().skip(1).map(|body| body.position()).collect();
            let mut deepest = balls.iter().map(|at| 0.5 - at.z).fold(0.0, f64::max);
            for (n, a) in balls.iter().enumerate() {
                deepest = balls[..n].iter().map(|b| 1.0 - a.distance(*b)).fold(deepest, f64::max);
            }
            deepest_ever = deepest_ever.max(deepest);
            // Points are found at the start of the step or within it. Since then two balls have
            // moved relative to each other by at most d, which turns their line by d over its
            // length of about 1 m: the depth along the old line is off by d^2 / 2 at most. Twice
            // that, for the length of 0.5 m between a ball and the floor.
            let speeds = scene.world.bodies().map(|body| body.linear_velocity().length());
            let moved = 2.0 * (speeds.fold(0.0, f64::max) + 9.81 * DT) * DT;
            assert_below((report.max_penetration.unwrap() - deepest).abs(), moved * moved);
            let reported = scene.world.contacts().flat_map(|contact| contact.points().to_vec());
            let reported = reported.map(|point| -point.gap).fold(0.0, f64::max);
            assert_eq!(report.max_penetration, Some(reported));
        }
        assert!(deepest_ever > 1e-6);
    }
}

#[test]
fn islands_are_the_same_with_either_method() {
    let found = both().map(|settings| {
        let mut scene = Scene::with(settings, 0.5, 0.5);
        scene.floor();
        for n in [3, 1, 4] {
            for high in 0..n {
                let at = Vec3::new(3.0 * f64::from(n), 0.0, 0.5 + f64::from(high));
                let cube = scene.cube().position(at);
                scene.add(cube);
            }
        }
        let free = scene.ball().position(Vec3::Z * 50.0);
        scene.add(free);
        let jointed = [51.0, 53.0].map(|z| {
            let ball = scene.ball().position(Vec3::new(9.0, 9.0, z));
            scene.add(ball)
        });
        scene.world.add_joint(JointDef::rod(jointed[0], jointed[1], 2.0)).unwrap();
        let report = scene.step();
        let islands: Vec<Vec<usize>> =
            scene.world.islands().map(|island| island.map(|id| id.index()).collect()).collect();
        assert_eq!(report.islands, Some(islands.len()));
        islands
    });
    assert_eq!(found[0], [vec![1, 2, 3], vec![4], vec![5, 6, 7, 8], vec![10, 11]]);
    assert_eq!(found[1], found[0]);
}

#[test]
fn contacts_do_not_begin_again_when_the_method_changes() {
    // A tower at rest while balls, connected with it by slack ropes, come and go, so that their island is exact, swept,
    // and exact again. They roll: an island of which nothing moves would be exact.
    let mut scene =
        Scene::with(Settings { max_exact_bodies: Some(8), ..Settings::default() }, 0.0, 0.5);
    scene.floor();
    let cube = scene.cube();
    let tower = scene.add_at(0.5, cube.clone());
    for n in 1..4 {
        scene.add_at(0.5 + f64::from(n), cube.clone());
    }
    scene.step();
    let mut swept = 0;
    for round in 0..3 {
        let mut far = Vec::new();
        for n in 0..6 {
            let ball =
                scene.ball().position(Vec3::new(20.0 + 3.0 * f64::from(n), f64::from(round), 0.5));
            let ball = ball.velocity(Vec3::X * 0.01).angular_velocity(Vec3::Y * 0.02);
            far.push(scene.add(ball));
            scene.world.add_joint(JointDef::rope(tower, far[n as usize], 100.0)).unwrap();
            let report = scene.step();
            swept += report.swept;
            let far_only = |id: BodyId| id.index() == 0 || far.contains(&id);
            let events = scene.world.events();
            let all = events.begun().iter().chain(events.ended());
            assert!(all.clone().all(|event| far_only(event.a) && far_only(event.b)));
            assert_eq!((events.begun().len(), events.ended().len()), (1, 0), "{n} in {round}");
        }
        for id in far {
            scene.world.remove_body(id).unwrap();
            scene.step();
            let events = scene.world.events();
            assert!(events.begun().is_empty() && events.ended().is_empty());
        }
    }
    assert!(swept > 0);
}

#[test]
fn the_ledger_has_energy_and_momentum_with_either_method() {
    for settings in both() {
        let mut scene = Scene::with(settings, 0.4, 0.5);
        scene.floor();
        let mut rng = Rng::new(3);
        let mut ids = Vec::new();
        for n in 0..12 {
            let at = Vec3::new(
                1.2 * f64::from(n % 3),
                1.2 * f64::from(n / 3 % 2),
                1.0 + 1.2 * f64::from(n / 6),
            );
            let cube = scene.cube().position(at).velocity(rng.in_cube());
            ids.push(scene.add(cube));
        }
        for _ in 0..60 {
            let force = SpatialVector::new(Vec3::X * 2.0, Vec3::ZERO);
            let start = scene.body(ids[0]).position();
            scene.world.apply_force(ids[0], force).unwrap();
            let (before, pulled) = (scene.energy(), scene.world.momentum().linear);
            let ledger = scene.step().audit.unwrap();
            assert_eq!(ledger.energy_before(), before);
            assert_eq!(ledger.energy(), scene.energy());
            assert_eq!(ledger.momentum, scene.world.momentum());
            assert_eq!(ledger.momentum_before.linear, pulled);
            // Momentum that no impulse accounts for is the rounding of some 100 N s; work is force
            // times distance.
            assert_below(ledger.momentum_error().linear.length(), 1e-12);
            let moved = (scene.body(ids[0]).position() - start).x;
            assert_below((ledger.applied_forces - 2.0 * moved).abs(), 2.0 * 2e-3);
            let works = ledger.damping + ledger.applied_forces + ledger.moving_environment;
            let change = ledger.energy() - before;
            assert_eq!(ledger.contact_work(), change - works, "nothing damps and nothing drives");
            // Exact contacts dissipate energy or none, and the terms add up. Only the correction of an overlap may
            // add some: it lifts a body that rests too deep, whose motion has nothing to pay for it with.
            if let Some(terms) = ledger.terms {
                assert_below(ledger.contact_work() - terms.position_correction.max(0.0), 1e-9);
                assert_below((terms.sum() - ledger.contact_work()).abs(), 1e-9);
            }
        }
    }
}

#[test]
fn the_work_of_a_belt_on_a_slipping_box_is_mu_m_g_times_its_speed() {
    // The belt pulls with mu m g while the box slips, at 2 m/s: power mu m g v. Half of it becomes
    // kinetic energy.
    for settings in both() {
        let mut scene = Scene::with(settings, 0.0, 0.5);
        let belt = BodyDef::environment(Shape::cuboid(Vec3::new(50.0, 5.0, 0.5)).unwrap());
        let belt = belt.position(Vec3::Z * -0.5).material(scene.material).velocity(Vec3::X * 2.0);
        scene.add(belt);
        let cube = scene.cube();
        scene.add_at(0.5, cube);
        scene.run(3, |_| {});
        let ledger = scene.step().audit.unwrap();
        let power = 0.5 * 9.81 * 2.0;
        assert_near(ledger.moving_environment, power * DT, 1e-2);
        assert_below(ledger.momentum_error().linear.length(), 1e-12);
    }
}

#[test]
fn energy_lost_below_the_rest_speed_has_its_own_entry_in_the_ledger() {
    // Dropped by 1 cm it lands at 0.443 m/s, too slow to bounce: it loses m g h, of which it would
    // have kept e^2.
    for settings in both() {
        let mut scene = Scene::with(settings, 0.8, 0.0);
        scene.floor();
        let ball = scene.ball();
        scene.add_at(0.51, ball);
        let mut lost = 0.0;
        scene.run(60, |world| lost += world.report().audit.unwrap().rest_speed_loss);
        // The approach speed is that at the start of the substep (exact) or step (swept) in which
        // it lands, and the impulse carries the weight of that time as well: each is off by up to g
        // times that time, of 0.443 m/s.
        let swept = scene.world.settings().exact_body_limit() == 0;
        let time = if swept { DT } else { 0.25 * DT };
        assert_near(lost, 0.64 * 9.81 * 0.01, 2.0 * 9.81 * time / 0.443);
    }
}

#[test]
fn an_elastic_pair_that_collides_below_the_rest_speed_loses_exactly_the_reported_energy() {
    // 1 kg at 0.4 m/s hits 3 kg at rest, e = 1: too slow to bounce, they move on together. The
    // energy of their relative motion, with the reduced mass of 0.75 kg, is lost; at 0.6 m/s none
    // is. (A swept pair is braked before it touches, and does not bounce at 0.6 m/s either.)
    for settings in both() {
        let swept = settings.exact_body_limit() == 0;
        let cases = [(0.4, 0.5 * 0.75 * 0.16), (0.6, 0.0)];
        for (speed, expected) in cases.into_iter().take(if swept { 1 } else { 2 }) {
            let mut scene = Scene::with(weightless(settings.clone()), 1.0, 0.0);
            let ball = scene.ball();
            scene.add(ball.clone().velocity(Vec3::X * speed));
            scene.add(ball.mass(3.0).position(Vec3::X * 1.1));
            let start = scene.energy();
            let mut lost = 0.0;
            scene.run(60, |world| lost += world.report().audit.unwrap().rest_speed_loss);
            assert_below((start - scene.energy() - expected).abs(), 1e-9);
            assert_below((lost - expected).abs(), 1e-9);
        }
    }
}

#[test]
fn settings_without_effect_are_rejected_or_listed_as_unused() {
    // Rejected for any number of bodies, because of the method.
    let rejected = |settings: Settings| World::new(settings).unwrap_err().to_string();
    let message = rejected(Settings { iterations: 7, ..Settings::default() });
    assert!(message.contains("iterations") && message.contains("soft-step"), "{message}");
    let pgs = Settings { method: Method::Pgs, ..Settings::default() };
    for (field, settings) in [
        ("sweeps", Settings { sweeps: 3, ..pgs.clone() }),
        ("newton_steps", Settings { newton_steps: Some(3), ..pgs.clone() }),
        ("newton_work", Settings { newton_work: Some(3), ..pgs.clone() }),
        ("max_exact_bodies", Settings { max_exact_bodies: Some(3), ..pgs.clone() }),
        ("sleep_time", Settings { sleep_time: 2.0, ..pgs }),
    ] {
        let message = rejected(settings);
        assert!(message.contains(field) && message.contains("method pgs"), "{message}");
    }
    // Unused with these bodies only.
    let settings =
        Settings { newton_work: Some(9), max_exact_bodies: Some(1), ..Settings::default() };
    let mut scene = Scene::with(settings, 0.5, 0.5);
    let names = |scene: &Scene| scene.world.unused_settings().names().collect::<Vec<_>>();
    let ball = scene.ball();
    scene.add(ball.clone());
    assert!(names(&scene).is_empty());
    // With a second body an island may be swept, or not.
    scene.add(ball.position(Vec3::X * 9.0));
    assert!(names(&scene).is_empty());
    let settings = Settings { max_exact_bodies: Some(0), ..scene.world.settings().clone() };
    scene.world.set_settings(settings).unwrap();
    assert_eq!(names(&scene), ["newton_work"]);
}

#[test]
fn the_momentum_ledger_balances_when_bodies_fall_asleep() {
    // Falling asleep removes their remaining velocity of up to 0.05 m/s: the ledger records it.
    let [_, swept] = both();
    let mut scene = Scene::with(Settings { sleeping: true, ..swept }, 0.0, 0.5);
    scene.floor();
    for n in 0..3 {
        let cube = scene.cube();
        scene.add_at(0.6 + 1.1 * f64::from(n), cube);
    }
    let (mut slept, mut stopped) = (0, 0.0);
    for _ in 0..240 {
        let report = scene.step();
        let ledger = report.audit.unwrap();
        // Rounding of some 10 N s, of falling and of supporting three cubes.
        assert_below(ledger.momentum_error().linear.length(), 1e-13);
        stopped += ledger.correction_impulse.linear.length();
        slept = slept.max(report.asleep);
    }
    assert_eq!(slept, 3);
    assert!(stopped > 1e-12, "{stopped}");
}

/// Cubes that fall onto each other and a floor once gained up to 5.6e-4 J in a step. What the correction of overlaps adds
/// is not counted: it lifts bodies at rest, and nothing moves that could pay for it.
#[test]
fn exact_contacts_of_falling_cubes_create_no_energy() {
    let mut gains = Vec::new();
    for seed in 0..24 {
        let [exact, _] = both();
        let mut scene = Scene::with(exact, 0.4, 0.5);
        scene.floor();
        let mut rng = Rng::new(seed);
        for n in 0..12 {
            let [x, y, z] = [n % 3, n / 3 % 2, n / 6].map(|n| 1.2 * f64::from(n));
            let cube = scene.cube().position(Vec3::new(x, y, 1.0 + z)).velocity(rng.in_cube());
            scene.add(cube);
        }
        let mut worst = f64::NEG_INFINITY;
        for _ in 0..60 {
            let ledger = scene.step().audit.unwrap();
            let correction = ledger.terms.unwrap().position_correction.max(0.0);
            worst = worst.max(ledger.contact_work() - correction);
        }
        gains.push(worst);
    }
    let gained = gains.iter().filter(|&&gain| gain > 1e-9).count();
    let worst = gains.iter().fold(0.0_f64, |a, &b| a.max(b));
    assert!(gained == 0, "{gained} of {} scenes, at most {worst:e} J", gains.len());
}

/// Returns the largest gain of energy by contacts in a step, J, of eight cubes that fall as they drift together and turn,
/// and the largest error of their momentum and angular momentum.
fn gains_in_the_air(seed: u64) -> [f64; 2] {
    let [exact, _] = both();
    let mut rng = Rng::new(seed);
    let mut scene = Scene::with(exact, 0.0, 0.5);
    for n in 0..8 {
        let place = Vec3::from([n % 2, n / 2 % 2, n / 4].map(|n| 1.3 * f64::from(n) - 0.65));
        let velocity = rng.in_cube() * 0.3 - place;
        let cube = scene.cube().position(place).velocity(velocity);
        scene.add(cube.angular_velocity(rng.in_cube()));
    }
    let (mut gain, mut momentum) = (0.0_f64, 0.0_f64);
    for _ in 0..120 {
        let ledger = scene.step().audit.unwrap();
        gain = gain.max(ledger.contact_work() - ledger.terms.unwrap().position_correction.max(0.0));
        let error = ledger.momentum_error();
        momentum = momentum.max(error.linear.length()).max(error.angular.length());
    }
    [gain, momentum]
}

/// An island without environment has nothing at rest to be slowed against: what its contacts gain by discretization is
/// taken from its motion relative to a rigid body with its momentum and angular momentum, so that both are kept. When
/// such islands were left out, 20 of the first 22 scenes gained, up to 6.4e-3 J in a step.
///
/// Three more gained up to 1e-3 J. Cubes that land on each other are kicked at that moment, t, instead of halfway through the
/// substep h, and gravity with them: the island fell too far by g h (h/2 - t), up to 8.5e-5 m.
#[test]
fn cubes_that_meet_in_the_air_gain_no_energy_and_keep_their_momentum() {
    for seed in 0..40 {
        let [gain, momentum] = gains_in_the_air(seed);
        // Rounding: eight cubes of 1 kg reach 20 m/s, 1600 J and 160 N s, in sums of some 30 terms.
        assert_below(gain, 30.0 * 1600.0 * f64::EPSILON);
        assert_below(momentum, 30.0 * 160.0 * f64::EPSILON);
    }
}
