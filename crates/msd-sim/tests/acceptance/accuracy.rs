//! The dial of the settings: `fast`, `balanced` or `exact`.

use msd_sim::error::SettingsError;
use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{Accuracy, Continuous, Material, Method, Settings, World};

use crate::scene::Scene;

fn settings(accuracy: Accuracy) -> Settings {
    Settings { accuracy, audit: true, ..Settings::default() }
}

/// Returns a wall of cubes, each resting on two, with this many in the lowest row: one island.
fn wall(settings: Settings, base: u32) -> Scene {
    let mut scene = Scene::with(settings, 0.0, 0.6);
    scene.floor();
    for row in 0..base {
        for n in 0..base - row {
            let x = f64::from(n) + 0.5 * f64::from(row) - 0.5 * f64::from(base);
            scene.add(scene.cube().position(Vec3::new(x, 0.0, 0.5 + f64::from(row))));
        }
    }
    scene
}

/// Side by side, the cubes of a row touch without a load, and it is open which of these contacts push: Newton's method
/// alone took 779 steps for a wall of 1275 cubes. The rest follows from the first step.
#[test]
fn exact_brings_a_large_wall_to_rest_at_once() {
    let mut scene = wall(settings(Accuracy::Exact), 30);
    let start: Vec<_> = scene.world.bodies().map(|body| body.pose()).collect();
    let report = scene.step();
    assert_eq!((report.exact, report.converged()), (465, Some(true)));
    let iterations = report.solve.unwrap().iterations;
    assert!(iterations < 100, "{iterations} iterations");
    scene.step();
    assert_eq!(scene.step().resting, 465);
    // The speed that the tolerance leaves, over the few substeps before rest.
    for (body, start) in scene.world.bodies().zip(start) {
        assert!((body.position() - start.position).length() < 1e-9);
    }
}

#[test]
fn fast_sweeps_a_world_of_one_body() {
    for (accuracy, exact, swept) in
        [(Accuracy::Fast, 0, 1), (Accuracy::Balanced, 1, 0), (Accuracy::Exact, 1, 0)]
    {
        let mut scene = Scene::with(settings(accuracy), 0.0, 0.5);
        scene.floor();
        scene.add_at(0.5, scene.cube());
        let report = scene.step();
        assert_eq!((report.exact, report.swept), (exact, swept), "{accuracy}");
    }
}

#[test]
fn exact_solves_an_island_of_300_bodies_to_the_tolerance() {
    // 24 + 23 + ... + 1 cubes.
    let mut exact = wall(settings(Accuracy::Exact), 24);
    for step in 0..3 {
        let report = exact.step();
        assert_eq!((report.exact, report.swept, report.islands), (300, 0, Some(1)), "step {step}");
        assert_eq!(report.converged(), Some(true), "step {step}: {:?}", report.residual());
    }
    let report = sliding_wall(settings(Accuracy::Balanced), 24).step();
    assert_eq!((report.exact, report.swept), (0, 300));
    assert_eq!(report.converged(), Some(false));
}

/// Returns a wall that slides over the floor: surfaces in motion, and wedges that take hundreds of Newton steps.
fn sliding_wall(settings: Settings, base: u32) -> Scene {
    let mut scene = wall(settings, base);
    let cubes: Vec<_> = scene.world.bodies().skip(1).map(|body| body.id()).collect();
    for cube in cubes {
        scene.world.set_velocity(cube, SpatialVector::new(Vec3::X * 2.0, Vec3::ZERO)).unwrap();
    }
    scene
}

#[test]
fn violent_motion_does_not_divide_the_work_of_exact_steps() {
    // Enough for all its Newton steps, but a sixth is not.
    let (newton_work, newton_steps) = (Some(3000), Some(200));
    for (accuracy, converges) in [(Accuracy::Balanced, false), (Accuracy::Exact, true)] {
        let settings = Settings { newton_work, newton_steps, ..settings(accuracy) };
        let report = sliding_wall(settings, 2).step();
        assert_eq!(report.converged(), Some(converges), "{accuracy}: {:?}", report.residual());
    }
}

#[test]
fn exact_converges_where_balanced_runs_out_of_newton_steps() {
    for base in [3, 4, 8] {
        for (accuracy, converges) in [(Accuracy::Balanced, false), (Accuracy::Exact, true)] {
            let report = sliding_wall(settings(accuracy), base).step();
            let residual = report.residual();
            assert_eq!(report.converged(), Some(converges), "{base}, {accuracy}: {residual:?}");
        }
    }
}

/// Contacts that slide are others in the next substep, so little accuracy is enough; but few bodies are cheap.
#[test]
fn balanced_solves_sliding_bodies_to_a_ten_thousandth_and_few_of_them_to_the_tolerance() {
    let tolerance = Settings::default().tolerance;
    for (count, enough) in [(1, tolerance), (2, tolerance), (8, 1e-4)] {
        // Boxes that slide on each other in different directions.
        let mut scene = Scene::with(settings(Accuracy::Balanced), 0.0, 0.4);
        scene.floor();
        for n in 0..count {
            let angle = 2.4 * f64::from(n);
            let velocity = Vec3::new(angle.cos(), angle.sin(), 0.0);
            let place = Vec3::Z * (0.5 + f64::from(n));
            scene.add(scene.cube().position(place).velocity(velocity));
        }
        for step in 0..5 {
            let residual = scene.step().residual().unwrap();
            assert!(residual <= enough, "{residual:e} of {count} boxes in step {step}");
        }
    }
}

/// A puck that slides on a slab is of one island with the tower that stands there, and much faster. The errors that its motion
/// allows must not become motion of the tower.
#[test]
fn a_puck_that_slides_by_does_not_move_a_tower_on_the_same_slab() {
    let mut scene = Scene::with(settings(Accuracy::Balanced), 0.0, 0.5);
    scene.floor();
    let slab = scene.brick(Vec3::new(20.0, 4.0, 0.25)).mass(1000.0);
    scene.add(slab.position(Vec3::Z * 0.25));
    let tower: Vec<_> =
        (0..5).map(|n| scene.add(scene.cube().position(Vec3::Z * (1.0 + f64::from(n))))).collect();
    let ice = Material::new(0.0, 0.0).unwrap();
    let puck = scene.brick(Vec3::new(0.5, 0.5, 0.1)).material(ice);
    scene.add(puck.position(Vec3::new(-10.0, 2.0, 0.6)).velocity(Vec3::X * 8.0));
    scene.run(120, |_| {});
    // A ten-thousandth of the speed that gravity adds in two substeps, for 2 s, at each of six surfaces.
    let bound = 6.0 * 2.0 * 1e-4 * 2.0 * 9.81 / 240.0;
    for (n, &cube) in tower.iter().enumerate() {
        let off = scene.body(cube).position() - Vec3::Z * (1.0 + n as f64);
        assert!(off.length() < bound, "cube {n} is off by {off}");
    }
}

/// A tower lands cube by cube, each a violent motion. An error of a ten-thousandth of the speed would tilt each cube, and the
/// tower would rock for seconds: landings are solved to the tolerance.
#[test]
fn a_tower_that_lands_cube_by_cube_rests_at_once() {
    let mut scene = Scene::with(settings(Accuracy::Balanced), 0.0, 0.5);
    scene.floor();
    let cubes: Vec<_> = (0..10)
        .map(|n| scene.add(scene.cube().position(Vec3::Z * (0.7 + 1.05 * f64::from(n)))))
        .collect();
    // The top falls 0.2 m and nine gaps of 0.05 m: 0.36 s.
    let fall = (2.0 * 0.65 / 9.81_f64).sqrt();
    scene.run((fall * 60.0).ceil() as usize + 10, |_| {});
    assert_eq!(scene.world.report().resting, 10);
    for (n, &cube) in cubes.iter().enumerate() {
        let off = scene.body(cube).position() - Vec3::Z * (0.5 + n as f64);
        // Landings end within 1e-9 of the size above or below each surface; sideways nothing acts but errors.
        assert!(off.x.hypot(off.y) < 1e-9 && off.z.abs() < 1e-4, "cube {n} is off by {off}");
    }
}

#[test]
fn balanced_has_the_limits_of_earlier_versions() {
    let default = Settings::default();
    assert_eq!(default.accuracy, Accuracy::Balanced);
    let limits = |settings: &Settings| {
        (settings.exact_body_limit(), settings.newton_step_limit(), settings.newton_work_limit())
    };
    assert_eq!((default.exact_cost_limit(), default.max_exact_cost), (u32::MAX, None));
    assert_eq!(limits(&default), (128, 40, 30000));
    assert_eq!(limits(&settings(Accuracy::Fast)), (0, 0, 0));
    assert_eq!(limits(&settings(Accuracy::Exact)), (u32::MAX, 2000, u32::MAX));
    for accuracy in [Accuracy::Balanced, Accuracy::Exact] {
        let given = Settings {
            max_exact_bodies: Some(1),
            newton_steps: Some(2),
            newton_work: Some(3),
            max_exact_cost: Some(4),
            ..settings(accuracy)
        };
        assert_eq!(limits(&given), (1, 2, 3), "{accuracy}");
        assert_eq!(given.exact_cost_limit(), 4, "{accuracy}");
        let names: Vec<_> = given.overrides().collect();
        let [bodies, cost] = [("max_exact_bodies", 1), ("max_exact_cost", 4)];
        assert_eq!(names, [bodies, cost, ("newton_steps", 2), ("newton_work", 3)]);
    }
    // An override that repeats the accuracy changes nothing, and goes.
    let repeated = Settings { max_exact_bodies: Some(128), newton_work: Some(9), ..default };
    assert_eq!(repeated.overrides().collect::<Vec<_>>(), [("newton_work", 9)]);
    let without = repeated.without_redundant_overrides();
    assert_eq!((without.max_exact_bodies, without.newton_work), (None, Some(9)));
}

#[test]
fn settings_without_effect_at_an_accuracy_are_rejected_with_their_value() {
    let fast = settings(Accuracy::Fast);
    let exact = settings(Accuracy::Exact);
    let always = Continuous::Always;
    for (field, value, settings) in [
        ("method", "pgs", Settings { method: Method::Pgs, ..fast.clone() }),
        ("newton_steps", "40", Settings { newton_steps: Some(40), ..fast.clone() }),
        ("newton_work", "30000", Settings { newton_work: Some(30000), ..fast.clone() }),
        ("max_exact_bodies", "0", Settings { max_exact_bodies: Some(0), ..fast.clone() }),
        ("max_exact_cost", "9", Settings { max_exact_cost: Some(9), ..fast.clone() }),
        ("sweeps", "3", Settings { sweeps: 3, ..fast.clone() }),
        ("impact_work", "3", Settings { impact_work: 3, ..fast.clone() }),
        ("reuse", "0.5", Settings { reuse: 0.5, ..fast.clone() }),
        ("position_correction", "0.5", Settings { position_correction: 0.5, ..fast.clone() }),
        ("continuous", "Always", Settings { continuous: always, ..fast.clone() }),
    ] {
        let accuracy = settings.accuracy;
        let expected =
            SettingsError::UnusedWithAccuracy { field, value: value.to_owned(), accuracy };
        assert_eq!(settings.check(), Err(expected), "{field}");
        let message = World::new(settings).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{field} = {value} ")), "{message}");
        assert!(message.contains(accuracy.name()), "{message}");
    }
    // The method, not the accuracy, is to blame for these.
    for accuracy in Accuracy::ALL {
        let error = Settings { iterations: 7, ..settings(accuracy) }.check().unwrap_err();
        let method = Method::SoftStep;
        assert_eq!(error, SettingsError::Unused { field: "iterations", method });
    }
    // These act.
    for settings in [
        Settings { sleeping: true, sleep_time: 0.25, ..fast },
        Settings { sleeping: true, ..exact.clone() },
        Settings { method: Method::Pgs, ..exact.clone() },
        Settings { newton_steps: Some(1), sweeps: 3, ..exact.clone() },
        Settings { max_exact_bodies: Some(500), sleeping: true, ..exact },
    ] {
        assert_eq!(settings.check(), Ok(()), "{settings:?}");
    }
}

#[test]
fn the_accuracy_changes_between_steps_and_a_snapshot_keeps_it() {
    let mut scene = wall(settings(Accuracy::Fast), 3);
    scene.step();
    let before = scene.world.snapshot();
    for accuracy in [Accuracy::Exact, Accuracy::Balanced, Accuracy::Fast, Accuracy::Exact] {
        scene.world.set_settings(settings(accuracy)).unwrap();
        let report = scene.step();
        let swept = if accuracy == Accuracy::Fast { 6 } else { 0 };
        assert_eq!((report.exact, report.swept), (6 - swept, swept), "{accuracy}");
    }
    scene.world.restore(&before);
    assert_eq!(scene.world.settings().accuracy, Accuracy::Fast);
    assert_eq!(scene.step().swept, 6);
}

#[test]
fn every_accuracy_is_read_from_its_name() {
    for accuracy in Accuracy::ALL {
        assert_eq!(accuracy.to_string().parse(), Ok(accuracy));
    }
    assert_eq!(Accuracy::ALL.map(Accuracy::name), ["fast", "balanced", "exact"]);
    let error = "Exact".parse::<Accuracy>().unwrap_err();
    assert!(error.to_string().contains("`Exact`"), "{error}");
}
