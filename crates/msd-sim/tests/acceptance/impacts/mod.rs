//! Impacts within a step: in order, at their time, and none missed.

mod books; // what events and ledger say of impacts
mod bounces; // heights of a ball that was let go
mod bounds; // what the bound on work leaves over
mod bullets; // fast bodies and thin ones
mod corners; // several impacts at once
mod extremes; // absurd speeds, overlaps, coincidence
mod paddles; // what moves hits what rests, and what spins hits a post
mod repeats; // same bits, other order, mirrored, scaled
mod rooms; // many bullets in a closed room
mod rows; // impacts that run through a row
mod settings;
mod tumblers; // fast bodies that are not round // what methods and settings do

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Settings};

use crate::oracle::pairs::Rng;
use crate::scene::Scene;

/// No gravity, and every impact bounces.
pub fn lively(restitution: f64, friction: f64) -> Scene {
    let settings = Settings { gravity: Vec3::ZERO, rest_speed: 0.0, ..Settings::default() };
    Scene::with(settings, restitution, friction)
}

/// The same, with the books kept.
pub fn audited(restitution: f64, friction: f64) -> Scene {
    let mut scene = lively(restitution, friction);
    change(&mut scene, |settings| settings.audit = true);
    scene
}

pub fn change(scene: &mut Scene, change: impl FnOnce(&mut Settings)) {
    let mut settings = scene.world.settings().clone();
    change(&mut settings);
    scene.world.set_settings(settings).unwrap();
}

/// An inertial body of 1 kg of the scene's material.
pub fn solid(scene: &Scene, shape: Shape) -> BodyDef {
    BodyDef::inertial(shape).mass(1.0).material(scene.material)
}

/// Sum of the magnitudes of momenta, N s.
pub fn bustle(scene: &Scene) -> f64 {
    scene.world.bodies().map(|body| body.mass() * body.linear_velocity().length()).sum()
}

/// Keeps the larger of a largest error so far and another; what is no number stays.
pub fn worse(worst: &mut f64, error: f64) {
    if !(error <= *worst) {
        *worst = error;
    }
}

/// Six walls of 1 m around a cube of half width `half`.
pub fn room(scene: &mut Scene, half: f64) {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        for side in [-1.0, 1.0] {
            scene.wall(Vec3::splat(half + 1.0) - axis * (half + 0.5), axis * (side * (half + 0.5)));
        }
    }
}

/// 64 elastic spheres of 0.2 m in a room of 4 m, at up to `speed` along each axis.
pub fn gas(scene: &mut Scene, speed: f64) -> Vec<BodyId> {
    room(scene, 2.0);
    let mut rng = Rng::new(4);
    (0..64)
        .map(|place| {
            let cell = Vec3::new((place % 4) as f64, (place / 4 % 4) as f64, (place / 16) as f64);
            let ball = solid(scene, Shape::sphere(0.2).unwrap());
            let ball = ball.velocity(rng.in_cube() * speed);
            scene.add(ball.position(cell - Vec3::splat(1.5)))
        })
        .collect()
}
