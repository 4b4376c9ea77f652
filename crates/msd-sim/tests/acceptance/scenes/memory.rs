use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3, rotation};
use msd_sim::{BodyDef, BodyId};

use crate::scene::{EnergyWatch, Scene, assert_below};

const START: Pose = Pose::new(Vec3::new(0.0, 0.0, 2.0), msd_sim::math::Quat::IDENTITY);

fn dropped(cube: bool) -> (Scene, BodyId) {
    let mut scene = Scene::new(0.7, 0.5);
    scene.floor();
    let body = if cube { scene.cube() } else { scene.ball() };
    let body = scene.add(body.pose(START));
    (scene, body)
}

#[test]
fn a_body_put_back_up_bounces_as_a_fresh_one_bit_for_bit() {
    for cube in [false, true] {
        // Taken away in mid-bounce, from rest, and at the very moment of impact.
        for steps in [33, 34, 35, 60, 400] {
            let (mut used, body) = dropped(cube);
            used.run(steps, |_| {});
            used.world.set_pose(body, START).unwrap();
            used.world.set_velocity(body, SpatialVector::ZERO).unwrap();
            let (mut fresh, twin) = dropped(cube);
            for step in 0..60 {
                used.step();
                fresh.step();
                let (seen, expected) = (used.body(body), fresh.body(twin));
                assert_eq!(seen.pose(), expected.pose(), "after {steps} in step {step}");
                assert_eq!(seen.velocity(), expected.velocity(), "after {steps} in step {step}");
            }
        }
    }
}

#[test]
fn a_contact_that_forms_again_with_another_normal_does_not_kick() {
    // A ball that lay on top of a fixed one is put beside it: nothing presses there.
    let mut scene = Scene::new(0.5, 0.5);
    let rock = BodyDef::environment(Shape::sphere(0.5).unwrap()).material(scene.material);
    scene.add(rock);
    let ball = scene.ball();
    let ball = scene.add_at(1.0, ball);
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(10, |world| watch.look(world));
    assert!(scene.world.contacts().next().unwrap().impulse().z > 0.0, "it pressed");
    scene.world.set_pose(ball, Pose::at(Vec3::X)).unwrap();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(30, |world| {
        watch.look(world);
        assert_below(world.body(ball).unwrap().linear_velocity().x.abs(), 1e-9);
    });
}

#[test]
fn a_cube_put_on_another_face_or_edge_gains_no_energy() {
    for degrees in [20.0, 45.0, 90.0, 180.0] {
        let mut scene = Scene::new(0.5, 0.5);
        scene.floor();
        let cube = scene.cube();
        let cube = scene.add_at(0.5, cube);
        scene.run(60, |_| {});
        let angle = f64::to_radians(degrees);
        let height = 0.5 * (angle.sin().abs() + angle.cos().abs());
        let pose = Pose::new(Vec3::Z * height, rotation(Vec3::Y, angle));
        scene.world.set_pose(cube, pose).unwrap();
        let mut watch = EnergyWatch::new(&scene.world);
        scene.run(200, |world| watch.look(world));
    }
}

#[test]
fn a_cube_pushed_over_onto_its_next_face_gains_no_energy() {
    // No one puts it there: the normal in the cube's own frame changes as it tips over.
    let mut scene = Scene::new(0.0, 2.0);
    scene.floor();
    let cube = scene.cube();
    let cube = scene.add_at(0.5, cube);
    scene.run(30, |_| {});
    // About its edge: 0.707 m from the centre, which must rise by 0.207 m: w > 2.47 rad/s.
    let velocity = SpatialVector::new(Vec3::new(1.6, 0.0, 1.6), Vec3::Y * 3.2);
    scene.world.set_velocity(cube, velocity).unwrap();
    let mut watch = EnergyWatch::new(&scene.world);
    scene.run(200, |world| watch.look(world));
    let down = scene.body(cube).pose().transform_vector(Vec3::X);
    assert!(down.z < -0.99, "it lies on its next face: {down}");
}
