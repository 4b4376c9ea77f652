//! Sleep of exact islands, down to one body.

use crate::scene::Scene;
use msd_sim::Settings;
use msd_sim::math::{SpatialVector, Vec3};

const MAX_EXACT_BODIES: Option<u32> = None;

#[path = "rules.rs"]
pub mod rules;

/// A time step that varies ends the rest of an island, because its impulses are others, but not its sleep.
#[test]
fn a_varying_time_step_wakes_nothing() {
    let mut scene = Scene::with(rules::settings(), 0.0, 0.5);
    scene.floor();
    scene.add_at(0.5, scene.cube());
    scene.run(60, |_| {});
    for step in 0..60 {
        let report = scene.world.step((1.0 + 0.01 * f64::from(step % 7)) / 60.0).unwrap();
        assert_eq!((report.asleep, report.exact, report.resting), (1, 0, 0), "step {step}");
    }
}

/// A disk that rolls by slowly creeps for ever without sleep; with it, it stops.
#[test]
fn a_slow_body_is_stopped_and_its_momentum_is_in_the_ledger() {
    for (sleeping, moves) in [(true, false), (false, true)] {
        let settings = Settings { sleeping, audit: true, ..rules::settings() };
        let mut scene = Scene::with(settings, 0.0, 0.5);
        scene.floor();
        let ball = scene.ball().position(Vec3::Z * 0.5).velocity(Vec3::X * 0.02);
        let ball = scene.add(ball.angular_velocity(Vec3::Y * 0.04));
        scene.run(120, |world| {
            let ledger = world.report().audit.unwrap();
            assert!(ledger.momentum_error().linear.length() < 1e-12);
            assert!(ledger.energy_error().unwrap().abs() < 1e-12);
        });
        assert_eq!(scene.body(ball).velocity() != SpatialVector::ZERO, moves);
        assert_eq!(scene.body(ball).is_asleep(), !moves);
    }
}

/// Sleeping islands are neither among the exact bodies nor among the islands of the report.
#[test]
fn the_report_counts_a_body_once() {
    let mut scene = Scene::with(Settings { audit: true, ..rules::settings() }, 0.0, 0.5);
    scene.floor();
    for x in [0.0, 3.0] {
        scene.add(scene.cube().position(Vec3::new(x, 0.0, 0.5)));
    }
    scene.run(60, |world| {
        let report = world.report();
        assert!(report.exact + report.asleep == 2 || report.asleep == 2);
    });
    scene.add(scene.ball().position(Vec3::new(9.0, 0.0, 5.0)));
    let report = scene.step();
    assert_eq!((report.exact, report.resting, report.asleep), (1, 0, 2));
    assert_eq!((report.islands, scene.world.islands().count()), (Some(0), 0));
}
