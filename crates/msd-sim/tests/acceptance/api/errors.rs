use std::error::Error as _;

use msd_sim::error::{
    BodyError, JointError, MassError, PotentialError, ProblemError, RayError, SettingsError,
    ShapeError, StepError,
};
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Error, JointDef, JointId, JointKind, Settings, World};

/// An inertial ball of 1 kg at `x`.
fn ball(x: f64) -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(1.0).position(Vec3::X * x)
}

#[test]
fn every_error_converts_into_one_and_keeps_its_message_and_source() {
    fn check<E: Into<Error> + std::error::Error>(error: E) {
        let (message, source) = (error.to_string(), error.source().map(ToString::to_string));
        let common: Error = error.into();
        assert_eq!(common.to_string(), message);
        assert_eq!(common.source().map(ToString::to_string), source);
        let boxed: Box<dyn std::error::Error + Send + Sync> = common.into();
        assert_eq!(boxed.to_string(), message);
    }
    let value = f64::NAN;
    check(ShapeError::Size { field: "radius", value });
    check(RayError::Origin { value: Vec3::NAN });
    check(MassError::Unbounded);
    check(BodyError::Mass(MassError::Unbounded));
    check(JointError::Body(BodyError::NotInertial { index: 3 }));
    check(PotentialError::Coefficient { field: "mu", value });
    check(SettingsError::Gravity { value: Vec3::NAN });
    check(StepError::TimeStep { value });
    check(ProblemError::HalfFixed { body: 2 });
}

#[test]
fn one_question_mark_serves_shapes_settings_bodies_joints_and_steps() {
    fn run(radius: f64, substeps: u32, mass: f64, length: f64, dt: f64) -> Result<f64, Error> {
        let mut world = World::new(Settings { substeps, ..Settings::default() })?;
        let hook = world.add_body(BodyDef::environment(Shape::sphere(radius)?))?;
        let bob = world.add_body(ball(1.0).mass(mass))?;
        world.add_joint(JointDef::rod(hook, bob, length))?;
        world.step(dt)?;
        Ok(world.body(bob)?.position().z)
    }
    assert!(run(0.1, 4, 1.0, 1.0, 0.1).is_ok_and(|z| z < 0.0));
    assert!(matches!(run(-0.1, 4, 1.0, 1.0, 0.1), Err(Error::Shape(_))));
    assert!(matches!(run(0.1, 0, 1.0, 1.0, 0.1), Err(Error::Settings(_))));
    assert!(matches!(run(0.1, 4, -1.0, 1.0, 0.1), Err(Error::Body(_))));
    assert!(matches!(run(0.1, 4, 1.0, -1.0, 0.1), Err(Error::Joint(_))));
    assert!(matches!(run(0.1, 4, 1.0, 1.0, 0.0), Err(Error::Step(_))));
}

#[test]
fn a_handle_to_a_removed_body_is_rejected_by_name_even_if_its_slot_is_reused() {
    let mut world = World::default();
    let old = world.add_body(ball(0.0)).unwrap();
    world.remove_body(old).unwrap();
    let new = world.add_body(ball(1.0)).unwrap();
    assert_eq!(old.index(), new.index());
    assert_eq!(world.body(old).unwrap_err(), BodyError::Unknown { index: 0, generation: 0 });
    assert_eq!(
        world.body(old).unwrap_err().to_string(),
        "body 0#0: there is no such body, or it was removed"
    );
    assert_eq!(world.body(new).unwrap().id(), new);
    assert!(world.body(BodyId::from_raw_parts(7, 0)).is_err());
}

#[test]
fn a_joint_is_found_by_its_handle_until_it_is_removed() {
    let mut world = World::default();
    let [a, b] = [0.0, 1.0].map(|x| world.add_body(ball(x)).unwrap());
    let def = JointDef::rod(a, b, 1.0).anchors(Vec3::ZERO, Vec3::Y * 0.1);
    let rod = world.add_joint(def).unwrap();
    assert_eq!(world.joint(rod), Ok(&def));
    world.remove_joint(rod).unwrap();
    let rejected = world.joint(rod).unwrap_err();
    assert_eq!(rejected, JointError::Unknown { index: 0, generation: 0 });
    assert!(world.joint(JointId::from_raw_parts(0, 1)).is_err());
}

#[test]
fn a_joint_of_a_body_with_itself_is_rejected_by_its_name() {
    let mut world = World::default();
    let a = world.add_body(ball(0.0)).unwrap();
    let between = JointKind::Distance { min: 1.0, max: 2.0 };
    for (def, name) in [
        (JointDef::ball(a, a), "ball joint"),
        (JointDef::rod(a, a, 1.0), "rod"),
        (JointDef::rope(a, a, 1.0), "rope"),
        (JointDef::new(a, a, between), "distance joint"),
        (JointDef::spring(a, a, 1.0, 10.0, 0.0), "spring"),
    ] {
        assert_eq!((def.kind().name(), def.kind().to_string()), (name, name.to_owned()));
        let error = world.add_joint(def).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name} between bodies 0 and 0: expected")), "{error}");
    }
}

#[test]
fn iterators_over_bodies_and_joints_know_their_remaining_length() {
    let mut world = World::default();
    assert_eq!((world.bodies().len(), world.joints().len()), (0, 0));
    let ids: Vec<BodyId> = (0..5).map(|n| world.add_body(ball(f64::from(n))).unwrap()).collect();
    for pair in ids.windows(2) {
        world.add_joint(JointDef::ball(pair[0], pair[1])).unwrap();
    }
    // The third body takes two of four joints along.
    world.remove_body(ids[2]).unwrap();
    assert_eq!((world.bodies().len(), world.joints().len()), (4, 2));
    let mut bodies = world.bodies();
    let mut seen = Vec::new();
    while let Some(body) = bodies.next() {
        seen.push(body.id());
        assert_eq!(bodies.len(), 4 - seen.len());
    }
    assert_eq!(seen, [ids[0], ids[1], ids[3], ids[4]]);
    assert_eq!(world.joints().map(|(id, _)| id.index()).collect::<Vec<_>>(), [0, 3]);
}
