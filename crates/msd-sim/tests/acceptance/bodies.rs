//! Body kinds, invalid input, and the integration of rotation.

use msd_sim::error::{BodyError, MassError, StepError};
use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, Pose, Quat, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyKind, Material, Settings, World};

use crate::scene::{DT, Scene, assert_below, assert_near};

#[test]
fn an_environment_body_has_no_inverse_mass_or_inertia_and_feels_no_force() {
    let mut scene = Scene::new(0.5, 0.5);
    let floor = scene.floor();
    let body = scene.body(floor);
    assert_eq!(body.kind(), BodyKind::Environment);
    assert_eq!(body.inverse_mass(), 0.0);
    assert_eq!(body.inverse_inertia(), Mat3::ZERO);
    let before = body.pose();
    let push = SpatialVector::new(Vec3::Z, Vec3::ZERO);
    let rejected = Err(BodyError::NotInertial { index: 0 });
    assert_eq!(scene.world.apply_force(floor, push), rejected);
    assert_eq!(scene.world.apply_impulse(floor, push), rejected);
    scene.run(10, |_| {});
    assert_eq!(scene.body(floor).pose(), before);
}

#[test]
fn an_environment_body_with_a_velocity_is_kinematic() {
    let mut scene = Scene::new(0.0, 0.5);
    let lift = scene.wall(Vec3::new(5.0, 5.0, 0.5), Vec3::Z * -0.5);
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    let up = SpatialVector::new(Vec3::Z * 0.3, Vec3::ZERO);
    scene.world.set_velocity(lift, up).unwrap();
    scene.run(120, |_| {});
    assert_eq!(scene.body(lift).velocity(), up);
    assert_near(scene.body(lift).position().z, -0.5 + 0.6, 1e-12);
    assert_near(scene.body(cube).linear_velocity().z, 0.3, 1e-9);
    assert_below((scene.body(cube).position().z - 1.1).abs(), 1e-6);
}

#[test]
fn a_kinematic_body_keeps_turning_at_the_velocity_it_was_given() {
    let mut scene = Scene::new(0.0, 0.5);
    let disk = BodyDef::environment(Shape::cuboid(Vec3::new(2.0, 1.0, 0.1)).unwrap());
    let disk = scene.add(disk.angular_velocity(Vec3::new(0.3, 0.0, 0.4)));
    scene.run(60, |_| {});
    let turned = rotation(Vec3::new(0.6, 0.0, 0.8), 0.5);
    let found = scene.body(disk).pose().rotation;
    assert_below((found.conjugate() * turned).xyz().length(), 1e-12);
    assert_eq!(scene.body(disk).angular_velocity(), Vec3::new(0.3, 0.0, 0.4));
}

#[test]
fn restitution_and_friction_are_one_half_by_default_for_bodies_of_every_kind() {
    let mut world = World::default();
    for create in [BodyDef::inertial, BodyDef::environment] {
        let ball = world.add_body(create(Shape::sphere(0.5).unwrap())).unwrap();
        let material = world.body(ball).unwrap().colliders().next().unwrap().material();
        assert_eq!((material.restitution(), material.friction()), (0.5, 0.5));
        assert_eq!(material, Material::default());
        // What is given replaces it.
        let steel = Material::new(0.6, 0.4).unwrap();
        let ball = create(Shape::sphere(0.5).unwrap()).material(steel);
        let ball = world.add_body(ball).unwrap();
        assert_eq!(world.body(ball).unwrap().colliders().next().unwrap().material(), steel);
    }
}

#[test]
fn a_ball_bounces_off_an_environment_body_with_half_its_speed_by_default() {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0).unwrap())).unwrap();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap());
    let ball = ball.position(Vec3::Z * 0.6).velocity(Vec3::Z * -4.0);
    let ball = world.add_body(ball).unwrap();
    for _ in 0..10 {
        world.step(DT).unwrap();
    }
    assert_near(world.body(ball).unwrap().linear_velocity().z, 2.0, 1e-12);
}

/// Builds a scene with a floor and a bouncing cube, 20 steps in.
fn running() -> Scene {
    let mut scene = Scene::new(0.5, 0.5);
    scene.floor();
    let cube = scene.cube();
    scene.add_at(0.6, cube);
    scene.run(20, |_| {});
    scene
}

/// Fails if a rejected call has left a trace, now or in later steps.
fn assert_unchanged(mut tried: Scene) {
    let mut untouched = running();
    assert_eq!(tried.world.bodies().len(), untouched.world.bodies().len());
    assert_eq!(tried.world.state_hash(), untouched.world.state_hash());
    for _ in 0..10 {
        tried.step();
        untouched.step();
    }
    assert_eq!(tried.world.state_hash(), untouched.world.state_hash());
    // The next handle is the one that it would have been.
    let (a, b) = (tried.ball(), untouched.ball());
    assert_eq!(tried.add_at(9.0, a), untouched.add_at(9.0, b));
}

#[test]
fn invalid_bodies_are_rejected_and_change_nothing() {
    let nan = f64::NAN;
    let not_unit = Quat::from_xyzw(0.0, 0.0, 0.0, 1.1);
    let mut scene = running();
    let reject = |scene: &mut Scene, change: &dyn Fn(BodyDef) -> BodyDef| {
        let def = change(scene.cube());
        scene.world.add_body(def).unwrap_err()
    };
    for mass in [0.0, -1.0, nan, f64::INFINITY] {
        let error = reject(&mut scene, &|def| def.mass(mass));
        assert!(matches!(error, BodyError::Mass(MassError::NotPositive { field: "mass", .. })));
        let error = reject(&mut scene, &|def| def.density(mass));
        assert!(matches!(error, BodyError::Mass(MassError::NotPositive { .. })));
    }
    for bad in [Vec3::new(nan, 0.0, 0.0), Vec3::new(0.0, f64::INFINITY, 0.0)] {
        let error = reject(&mut scene, &|def| def.position(bad));
        assert!(matches!(error, BodyError::NotFinite { field: "position", .. }));
        let error = reject(&mut scene, &|def| def.velocity(bad));
        assert!(matches!(error, BodyError::NotFinite { field: "velocity", .. }));
        let error = reject(&mut scene, &|def| def.angular_velocity(bad));
        assert!(matches!(error, BodyError::NotFinite { field: "angular_velocity", .. }));
        let error = reject(&mut scene, &|def| def.center_of_mass(bad));
        assert!(matches!(error, BodyError::NotFinite { field: "center_of_mass", .. }));
    }
    for bad in [not_unit, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Quat::from_xyzw(nan, 0.0, 0.0, 1.0)]
    {
        let error = reject(&mut scene, &|def| def.orientation(bad));
        assert!(matches!(error, BodyError::NotUnit { field: "orientation", .. }));
    }
    let negative = Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0));
    let error = reject(&mut scene, &|def| def.inertia(negative));
    assert!(matches!(error, BodyError::Inertia { .. }));
    let error = reject(&mut scene, &|def| def.damping(-1.0, 0.0));
    assert!(matches!(error, BodyError::OutOfRange { field: "linear_damping", .. }));
    let endless = BodyDef::inertial(Shape::half_space(Vec3::Z, 0.0).unwrap());
    let error = scene.world.add_body(endless).unwrap_err();
    assert!(matches!(error, BodyError::Mass(MassError::Unbounded)));
    assert_unchanged(scene);
}

#[test]
fn invalid_changes_of_a_body_are_rejected_and_change_nothing() {
    let mut scene = running();
    let cube = scene.world.bodies().nth(1).unwrap().id();
    let bad = Vec3::new(0.0, f64::NAN, 0.0);
    let wrong = SpatialVector::new(Vec3::ZERO, bad);
    let not_unit = Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.5, 0.5));
    let world = &mut scene.world;
    assert!(matches!(world.set_pose(cube, Pose::at(bad)), Err(BodyError::NotFinite { .. })));
    assert!(matches!(world.set_pose(cube, not_unit), Err(BodyError::NotUnit { .. })));
    assert!(matches!(world.set_velocity(cube, wrong), Err(BodyError::NotFinite { .. })));
    assert!(matches!(world.apply_force(cube, wrong), Err(BodyError::NotFinite { .. })));
    assert!(matches!(world.apply_impulse(cube, wrong), Err(BodyError::NotFinite { .. })));
    assert!(world.apply_force_at(cube, Vec3::X, bad).is_err());
    assert!(world.apply_impulse_at(cube, Vec3::X, bad).is_err());
    let settings = Settings { rest_speed: -1.0, ..Settings::default() };
    assert!(world.set_settings(settings).is_err());
    assert_unchanged(scene);
}

#[test]
fn every_call_rejects_the_handle_of_a_removed_body() {
    let mut scene = Scene::new(0.5, 0.5);
    let ball = scene.ball();
    let gone = scene.add_at(1.0, ball);
    scene.world.remove_body(gone).unwrap();
    let ball = scene.ball();
    let next = scene.add_at(1.0, ball);
    assert_ne!(gone, next, "a slot is reused, a handle is not");
    assert!(scene.world.body(gone).is_err());
    let world = &mut scene.world;
    assert!(matches!(world.remove_body(gone), Err(BodyError::Unknown { .. })));
    assert!(matches!(world.set_pose(gone, Pose::IDENTITY), Err(BodyError::Unknown { .. })));
    let push = SpatialVector::new(Vec3::X, Vec3::ZERO);
    assert!(matches!(world.apply_impulse(gone, push), Err(BodyError::Unknown { .. })));
    assert_eq!(world.bodies().len(), 1);
}

#[test]
fn a_time_step_that_is_not_positive_and_finite_is_rejected() {
    let mut scene = running();
    for dt in [0.0, -DT, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let Err(StepError::TimeStep { value }) = scene.world.step(dt) else {
            panic!("a step of {dt} was taken");
        };
        assert_eq!(value.to_bits(), dt.to_bits());
    }
    assert_eq!(scene.world.steps(), 20);
    assert_unchanged(scene);
}

#[test]
fn angular_velocity_is_in_world_coordinates() {
    let yaw = rotation(Vec3::Z, std::f64::consts::FRAC_PI_2);
    let mut scene = Scene::weightless(0.0, 0.0);
    let cube = scene.cube().orientation(yaw).angular_velocity(Vec3::X);
    let cube = scene.add(cube);
    scene.run(30, |_| {});
    let expected = rotation(Vec3::X, 0.5) * yaw;
    let found = scene.body(cube).pose().rotation;
    assert_below((found * expected.conjugate()).xyz().length(), 1e-12);
    assert_below((scene.body(cube).angular_velocity() - Vec3::X).length(), 1e-12);
}

#[test]
fn a_turning_body_keeps_its_angular_speed_and_a_unit_quaternion_for_a_million_steps() {
    let settings = Settings { gravity: Vec3::ZERO, substeps: 1, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.0, 0.0);
    let cube = scene.cube().angular_velocity(Vec3::new(3.0, -2.0, 1.0));
    let cube = scene.add(cube);
    let speed = scene.body(cube).angular_velocity().length();
    for _ in 0..1_000_000 {
        scene.step();
    }
    assert_below((scene.body(cube).pose().rotation.length() - 1.0).abs(), 1e-12);
    assert_near(scene.body(cube).angular_velocity().length(), speed, 1e-9);
}

/// A body at 1e100 m/s took 2.5 s a step, and its errors were infinite.
#[test]
fn places_and_speeds_that_cannot_be_computed_with_are_rejected_where_they_enter() {
    let mut scene = Scene::new(0.5, 0.5);
    let ball = scene.ball();
    let body = scene.add_at(2.0, ball);
    let world = &mut scene.world;
    let far = Vec3::X * 1.2e12;
    let state = (world.body(body).unwrap().pose(), world.body(body).unwrap().velocity());
    let pose = Pose { position: far, ..Pose::IDENTITY };
    let spin = SpatialVector::new(Vec3::ZERO, far);
    let named = |error: BodyError| match error {
        BodyError::TooLarge { field, value, .. } if value == far => field,
        other => panic!("{other}"),
    };
    assert_eq!(named(world.set_pose(body, pose).unwrap_err()), "position");
    let speed = SpatialVector::new(far, Vec3::ZERO);
    assert_eq!(named(world.set_velocity(body, speed).unwrap_err()), "velocity");
    assert_eq!(named(world.set_velocity(body, spin).unwrap_err()), "angular_velocity");
    let def = || BodyDef::inertial(Shape::sphere(1.0).unwrap());
    assert_eq!(named(world.add_body(def().position(far)).unwrap_err()), "position");
    assert_eq!(named(world.add_body(def().velocity(far)).unwrap_err()), "velocity");
    let after = (world.body(body).unwrap().pose(), world.body(body).unwrap().velocity());
    assert_eq!(state, after);
    // Up to there everything is accepted.
    let near = Vec3::X * 1.0e12;
    world.set_velocity(body, SpatialVector::new(near, near)).unwrap();
    world.set_pose(body, Pose { position: near, ..Pose::IDENTITY }).unwrap();
}
