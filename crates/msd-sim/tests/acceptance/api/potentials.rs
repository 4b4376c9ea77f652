use msd_sim::error::{BodyError, PotentialError};
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Potential, PotentialId, Settings, World};

use super::both;
use crate::scene::{DT, assert_near};

fn ball() -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(2.0)
}

/// A world without gravity.
fn weightless(settings: Settings) -> World {
    World::new(Settings { gravity: Vec3::ZERO, ..settings }).unwrap()
}

/// A spring of 100 N/m that pulls a body to a point.
fn spring(body: BodyId, point: Vec3) -> Potential {
    Potential::spring(body, Vec3::ZERO, point, 100.0, 0.0).unwrap()
}

fn push(acceleration: Vec3) -> Potential {
    Potential::uniform(acceleration).unwrap()
}

#[test]
fn a_spring_pulls_the_body_of_its_handle_and_no_other() {
    for settings in both() {
        let mut world = weightless(settings);
        let [a, b] = [0.0, 5.0].map(|x| world.add_body(ball().position(Vec3::X * x)).unwrap());
        world.add_potential(spring(b, Vec3::X * 6.0)).unwrap();
        world.step(DT).unwrap();
        assert_eq!(world.body(a).unwrap().linear_velocity(), Vec3::ZERO);
        assert!(world.body(b).unwrap().linear_velocity().x > 0.5);
    }
}

#[test]
fn a_spring_of_a_body_that_is_gone_or_of_the_environment_is_rejected() {
    let mut world = weightless(Settings::default());
    let gone = world.add_body(ball()).unwrap();
    world.remove_body(gone).unwrap();
    let next = world.add_body(ball()).unwrap();
    assert_eq!(gone.index(), next.index());
    let rejected = world.add_potential(spring(gone, Vec3::X)).unwrap_err();
    let unknown = BodyError::Unknown { index: 0, generation: 0 };
    assert_eq!(rejected, PotentialError::Body(unknown));
    assert_eq!(rejected.to_string(), unknown.to_string());
    let wall = BodyDef::environment(Shape::sphere(0.1).unwrap()).position(Vec3::Y);
    let wall = world.add_body(wall).unwrap();
    let rejected = world.add_potential(spring(wall, Vec3::X)).unwrap_err();
    assert_eq!(rejected, PotentialError::Body(BodyError::NotInertial { index: 1 }));
    assert_eq!(world.potentials().len(), 0);
    world.step(DT).unwrap();
    assert_eq!(world.body(next).unwrap().linear_velocity(), Vec3::ZERO);
}

#[test]
fn a_potential_that_is_removed_no_longer_acts_and_the_others_do() {
    for settings in both() {
        let mut world = weightless(settings);
        let id = world.add_body(ball()).unwrap();
        let fields = [Vec3::X, Vec3::Y, Vec3::Z].map(|of| world.add_potential(push(of)).unwrap());
        let removed = world.remove_potential(fields[1]).unwrap();
        assert!(
            matches!(removed, Potential::Uniform { acceleration, .. } if acceleration == Vec3::Y)
        );
        let left: Vec<PotentialId> = world.potentials().map(|(id, _)| id).collect();
        assert_eq!(left, [fields[0], fields[2]]);
        world.step(DT).unwrap();
        let expected = Vec3::new(DT, 0.0, DT);
        let velocity = world.body(id).unwrap().linear_velocity();
        assert_near((velocity - expected).length(), 0.0, 1e-15);
        // 2 kg at half of a t^2 along x.
        let energy = world.energy_in(fields[0]).unwrap();
        assert_near(energy, -2.0 * 0.5 * DT * DT, 1e-12);
    }
}

#[test]
fn a_handle_to_a_removed_potential_finds_nothing_even_if_its_slot_is_reused() {
    let mut world = weightless(Settings::default());
    let ball = world.add_body(ball()).unwrap();
    let first = world.add_potential(push(Vec3::X)).unwrap();
    world.remove_potential(first).unwrap();
    let second = world.add_potential(spring(ball, Vec3::X)).unwrap();
    assert_eq!(first.index(), second.index());
    let unknown = PotentialError::Unknown { index: 0, generation: 0 };
    assert_eq!(world.potential(first).unwrap_err(), unknown);
    assert_eq!(world.remove_potential(first).unwrap_err(), unknown);
    assert_eq!(world.energy_in(first).unwrap_err(), unknown);
    assert!(matches!(world.potential(second), Ok(Potential::Spring { .. })));
    // A spring goes with its body, and all go with `clear_potentials`.
    let third = world.add_potential(push(Vec3::X)).unwrap();
    world.remove_body(ball).unwrap();
    assert!(world.potential(second).is_err());
    assert_eq!(world.potentials().map(|(id, _)| id).collect::<Vec<_>>(), [third]);
    world.clear_potentials();
    assert!(world.potential(third).is_err());
    assert_eq!(world.potentials().len(), 0);
}

#[test]
fn forces_are_summed_in_the_order_of_addition_whatever_slots_they_have() {
    // Added up in another order, these differ in their last bits.
    let parts = [Vec3::X * 0.1, Vec3::X * 1e-9, Vec3::X * 3.7e5, Vec3::X * 0.3];
    let run = |decoy: bool| {
        let mut world = weightless(Settings::default());
        world.add_body(ball()).unwrap();
        let decoy = decoy.then(|| world.add_potential(push(Vec3::Y)).unwrap());
        world.add_potential(push(parts[0])).unwrap();
        if let Some(decoy) = decoy {
            world.remove_potential(decoy).unwrap();
        }
        for part in &parts[1..] {
            world.add_potential(push(*part)).unwrap();
        }
        world.step(DT).unwrap();
        world.state_hash()
    };
    assert_eq!(run(false), run(true));
}
