//! Warnings through the `log` facade: once for each cause, by name.

use std::cell::RefCell;
use std::sync::Once;

use log::{Level, LevelFilter, Log, Metadata, Record};
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, SpatialVector, Vec3};
use msd_sim::{BodyDef, Material, Method, Settings};

use crate::scene::Scene;

thread_local! {
    /// The warnings of this thread's test: a world warns on the thread that steps it.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Listener;

impl Log for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        WARNINGS.with_borrow_mut(|warnings| warnings.push(record.args().to_string()));
    }

    fn flush(&self) {}
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Listener).unwrap();
        log::set_max_level(LevelFilter::Warn);
    });
}

fn warnings() -> Vec<String> {
    WARNINGS.take()
}

/// A row of cubes that slide over the floor and into each other: two sweeps of projected Gauss-Seidel leave a residual.
fn sliding_row(iterations: u32) -> Scene {
    let settings = Settings { method: Method::Pgs, iterations, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.0, 0.6);
    scene.floor();
    for n in 0..8 {
        let cube = scene.cube().name(format!("cube {n}"));
        let velocity = Vec3::X * (8 - n) as f64;
        scene.add(cube.position(Vec3::new(f64::from(n), 0.0, 0.5)).velocity(velocity));
    }
    scene
}

#[test]
fn a_world_warns_once_that_its_impulses_did_not_converge_and_names_the_bodies() {
    listen();
    let mut scene = sliding_row(2);
    let mut bad_steps = 0;
    for _ in 0..5 {
        bad_steps += usize::from(scene.step().converged() == Some(false));
    }
    assert!(bad_steps > 1);
    let said = warnings();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("step 1: impulses did not converge: residual"), "{said:?}");
    assert!(said[0].contains("\"cube "), "{said:?}");
    // Another world says it, too; a world that goes back to before it said so does not.
    let (mut other, mut again) = (sliding_row(2), sliding_row(2));
    let before = again.world.snapshot();
    other.step();
    again.step();
    assert_eq!(warnings().len(), 2);
    again.world.restore(&before);
    again.step();
    assert_eq!(warnings(), [""; 0]);
}

#[test]
fn a_world_that_converges_says_nothing() {
    listen();
    let mut scene = sliding_row(10_000);
    for _ in 0..5 {
        assert_eq!(scene.step().converged(), Some(true));
    }
    assert_eq!(warnings(), [""; 0]);
}

#[test]
fn a_world_warns_of_bodies_that_it_had_to_put_back() {
    listen();
    let mut scene = Scene::weightless(0.0, 0.0);
    let [a, b] = ["a", "b"].map(|name| scene.add(scene.cube().name(name)));
    scene.world.set_pose(b, Pose::new(Vec3::X * 5.0, Quat::IDENTITY)).unwrap();
    // Their sum overflows.
    for body in [a, b, a, b] {
        scene.world.apply_force(body, SpatialVector::new(Vec3::X * f64::MAX, Vec3::ZERO)).unwrap();
    }
    scene.step();
    assert_eq!(scene.world.events().quarantined().len(), 2);
    let said = warnings();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("the state of \"a\" and 1 more was no longer finite"), "{said:?}");
}

#[test]
fn a_world_warns_of_impacts_that_did_not_bounce_in_words_that_fit_their_number() {
    listen();
    let mut scene = Scene::weightless(1.0, 0.0);
    // A ball between two walls, 10 mm apart from each: thousands of bounces in a step.
    for x in [-1.01, 1.01] {
        let wall = BodyDef::environment(Shape::cuboid(Vec3::splat(0.5)).unwrap());
        scene.add(wall.position(Vec3::X * x).material(Material::new(1.0, 0.0).unwrap()));
    }
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).velocity(Vec3::X * 1e5);
    scene.add(ball.material(Material::new(1.0, 0.0).unwrap()));
    scene.step();
    let count = scene.world.report().unresolved_impacts;
    assert!(count > 0);
    let said = warnings().join("\n");
    let plural = if count == 1 { "impact" } else { "impacts" };
    assert!(said.contains(&format!("{count} {plural} did not bounce")), "{said}");
    assert!(said.contains("or impacts followed each other without end"), "{said}");
    assert!(!said.contains("1 times"), "{said}");
}
