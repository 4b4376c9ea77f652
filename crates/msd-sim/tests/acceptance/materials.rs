//! Materials, and how those of two bodies combine.

use msd_sim::error::BodyError;
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, Material, Settings, World};

use crate::scene::{DT, Flights, Scene, apex_height, assert_near};

fn combined(a: f64, b: f64) -> [f64; 2] {
    // Restitution and friction combine by the same rule, so test both at once.
    let (a, b) = (Material::new(a, a).unwrap(), Material::new(b, b).unwrap());
    assert_eq!(a.restitution_with(&b), b.restitution_with(&a));
    assert_eq!(a.friction_with(&b), b.friction_with(&a));
    [a.restitution_with(&b), a.friction_with(&b)]
}

#[test]
fn materials_combine_by_the_geometric_mean() {
    assert_eq!(combined(0.0, 0.0), [0.0; 2]);
    assert_eq!(combined(1.0, 1.0), [1.0; 2]);
    assert_eq!(combined(0.0, 1.0), [0.0; 2]);
    for found in combined(0.3, 0.8) {
        assert_near(found, 0.24f64.sqrt(), 1e-15);
        assert_near(found, 0.4899, 1e-4);
    }
    let (ice, tyre) = (Material::new(0.0, 0.04).unwrap(), Material::new(0.0, 9.0).unwrap());
    assert_near(ice.friction_with(&tyre), 0.6, 1e-15);
}

#[test]
fn a_material_out_of_range_is_rejected_with_its_field() {
    for value in [-1e-9, 1.0 + 1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let Err(BodyError::OutOfRange { field, value: named, .. }) = Material::new(value, 0.5)
        else {
            panic!("restitution {value} was accepted");
        };
        assert_eq!(field, "material.restitution");
        assert_eq!(named.to_bits(), value.to_bits());
    }
    for value in [-1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let Err(BodyError::OutOfRange { field, value: named, .. }) = Material::new(0.5, value)
        else {
            panic!("friction {value} was accepted");
        };
        assert_eq!(field, "material.friction");
        assert_eq!(named.to_bits(), value.to_bits());
    }
}

#[test]
fn a_changed_material_acts_from_the_next_step_on() {
    let mut scene = Scene::new(0.5, 0.5);
    let floor = scene.floor();
    let cube = scene.cube().velocity(Vec3::X);
    let cube = scene.add_at(0.5, cube);
    scene.step();
    for id in [floor, cube] {
        scene.world.set_material(id, Material::new(0.1, 0.0).unwrap()).unwrap();
    }
    let speed = scene.body(cube).linear_velocity().x;
    scene.step();
    assert_near(scene.body(cube).linear_velocity().x, speed, 1e-12);
    let contact = scene.world.contacts().next().unwrap();
    assert_eq!(contact.friction(), 0.0);
    assert_near(contact.restitution(), 0.1, 1e-15);
}

#[test]
fn bodies_of_either_kind_have_restitution_and_friction_of_one_half_by_default() {
    let mut world = World::default();
    let floor = Shape::cuboid(Vec3::new(5.0, 5.0, 0.5)).unwrap();
    let floor = world.add_body(BodyDef::environment(floor).position(Vec3::Z * -0.5)).unwrap();
    let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).position(Vec3::Z * 2.5);
    let ball = world.add_body(ball).unwrap();
    for id in [floor, ball] {
        let material = world.body(id).unwrap().colliders().next().unwrap().material();
        assert_eq!((material.restitution(), material.friction()), (0.5, 0.5));
    }
    // These values act: the ball falls 2 m and rises to a quarter of that.
    let mut flights = Flights::default();
    for _ in 0..60 {
        world.step(DT).unwrap();
        flights.observe(&world.body(ball).unwrap());
    }
    assert_near(flights.apexes[1] - 0.5, apex_height(2.0, 0.5, 1), 1e-9);
}

#[test]
fn materials_named_by_tags_combine_by_the_rules_of_their_pair_in_contacts_old_and_new() {
    use msd_sim::{Combine, CombineRule};
    for max_exact_bodies in [128, 0] {
        let settings = Settings { max_exact_bodies: Some(max_exact_bodies), ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        let (ice, rubber) = (Material::new(0.1, 0.04).unwrap(), Material::new(0.9, 1.0).unwrap());
        let floor = Shape::half_space(Vec3::Z, 0.0).unwrap();
        world.add_body(BodyDef::environment(floor).material(ice.tagged(1))).unwrap();
        let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap();
        let cube = BodyDef::inertial(cube).position(Vec3::Z * 0.5).material(rubber.tagged(2));
        let cube = world.add_body(cube.velocity(Vec3::X * 3.0)).unwrap();
        world.step(1.0 / 60.0).unwrap();
        let of_contact = |world: &World| {
            let contact = world.contacts().next().unwrap();
            (contact.restitution(), contact.friction())
        };
        assert_eq!(of_contact(&world), ((0.1_f64 * 0.9).sqrt(), 0.2));
        for (rule, restitution, friction) in [
            (CombineRule::Average, 0.5, 0.52),
            (CombineRule::Min, 0.1, 0.04),
            (CombineRule::Max, 0.9, 1.0),
            (CombineRule::Multiply, 0.1 * 0.9, 0.04),
            (CombineRule::Fixed(0.25), 0.25, 0.25),
        ] {
            let rules = Combine { restitution: rule, friction: rule };
            // In either order.
            world.set_combine(2, 1, Some(rules)).unwrap();
            assert_eq!(of_contact(&world), (restitution, friction), "{rule:?}");
        }
        // It acts: with friction 0.25, it slows down by 0.25 g.
        let before = world.body(cube).unwrap().linear_velocity().x;
        for _ in 0..30 {
            world.step(1.0 / 60.0).unwrap();
        }
        let slowed = before - world.body(cube).unwrap().linear_velocity().x;
        assert!((slowed - 0.25 * 9.81 * 0.5).abs() < 1e-6, "{slowed}");
        world.set_combine(1, 2, None).unwrap();
        assert_eq!(of_contact(&world).1, 0.2);
        let out_of_range = Combine { restitution: CombineRule::Fixed(1.5), ..Combine::default() };
        let error = world.set_combine(1, 2, Some(out_of_range)).unwrap_err();
        assert!(error.to_string().starts_with("material.restitution = 1.5"), "{error}");
    }
}
