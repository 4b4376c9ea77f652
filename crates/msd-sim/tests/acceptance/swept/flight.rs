//! Bodies without contacts.

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId};

use super::{swept, weightless};
use crate::scene::{G, Scene, assert_below, assert_near};

#[test]
fn a_free_body_follows_the_exact_parabola() {
    // Drift, kick, drift is exact for uniform gravity: the error is rounding.
    let mut scene = swept(0.0, 0.5);
    let v = Vec3::new(3.0, -1.0, 8.0);
    let ball = scene.ball().velocity(v);
    let ball = scene.add_at(10.0, ball);
    for step in 1..=120 {
        scene.step();
        let t = f64::from(step) * scene.dt;
        let exact = Vec3::Z * 10.0 + v * t - Vec3::Z * (0.5 * G * t * t);
        assert_below((scene.body(ball).position() - exact).length(), 1e-9);
        assert_below((scene.body(ball).linear_velocity() - v + Vec3::Z * (G * t)).length(), 1e-9);
    }
}

/// Returns the angular momentum about the center of mass, kg m^2/s.
fn spin(scene: &Scene, id: BodyId) -> Vec3 {
    let body = scene.body(id);
    body.inertia() * body.angular_velocity()
}

#[test]
fn a_tumbling_box_keeps_energy_and_angular_momentum() {
    // About the middle axis of 1 m x 2 m x 3 m: it flips again and again.
    let mut scene = weightless(0.0, 0.5);
    let body = scene.brick(Vec3::new(0.5, 1.0, 1.5)).mass(6.0);
    let id = scene.add(body.angular_velocity(Vec3::new(0.01, 5.0, 0.01)));
    let (energy, momentum) = (scene.energy(), spin(&scene, id));
    let mut least = f64::INFINITY;
    scene.run(3600, |world| {
        let body = world.body(id).unwrap();
        least = least.min((body.pose().rotation * Vec3::Y).y);
    });
    assert!(least < -0.9, "it flips");
    assert_near(scene.energy(), energy, 1e-6);
    assert_below((spin(&scene, id) - momentum).length() / momentum.length(), 1e-6);
}

#[test]
fn separated_bodies_do_not_affect_each_other() {
    // 150 bodies, each moving as if alone: to the bit.
    let mut many = swept(0.5, 0.5);
    let place = |n: usize| Vec3::new((n % 10) as f64, (n / 10) as f64, 0.0) * 3.0 + Vec3::Z * 50.0;
    let def = |n: usize| {
        let body = BodyDef::inertial(Shape::cuboid(Vec3::new(0.3, 0.2, 0.1)).unwrap()).mass(1.0);
        body.position(place(n)).angular_velocity(Vec3::new(1.0, n as f64 * 0.1, 0.3))
    };
    let ids: Vec<_> = (0..150).map(|n| many.add(def(n))).collect();
    many.run(60, |_| {});
    for n in [0, 77, 149] {
        let mut alone = swept(0.5, 0.5);
        let id = alone.add(def(n));
        alone.run(60, |_| {});
        assert_eq!(alone.body(id).pose(), many.body(ids[n]).pose());
        assert_eq!(alone.body(id).velocity(), many.body(ids[n]).velocity());
    }
}
