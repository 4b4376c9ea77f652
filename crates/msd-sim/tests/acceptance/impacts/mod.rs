//! Impacts within a step: in order, at their time, and none missed.

mod bounces; // heights of a dropped body
mod bounds; // limits of impact work, and unresolved impacts
mod bullets; // fast bodies against thin ones
mod extremes; // extreme speeds, overlaps, coincident bodies
mod ledger; // events and ledger of impacts
mod paddles; // kinematic bodies that hit others, rods that spin into a post
mod repeats; // determinism; other orders, mirrored, scaled
mod rooms; // many bullets in a closed room
mod rows; // impacts that propagate through rows of bodies
mod settings; // effects of methods and settings
mod simultaneous; // simultaneous impacts
mod tumblers; // fast bodies of other shapes

use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Settings};

use crate::oracle::pairs::Rng;
use crate::scene::Scene;

/// Builds a scene without gravity in which every impact bounces, however slow.
pub fn zero_gravity(restitution: f64, friction: f64) -> Scene {
    let settings = Settings { gravity: Vec3::ZERO, rest_speed: 0.0, ..Settings::default() };
    Scene::with(settings, restitution, friction)
}

/// Builds the same scene with its ledger on.
pub fn audited(restitution: f64, friction: f64) -> Scene {
    let mut scene = zero_gravity(restitution, friction);
    change(&mut scene, |settings| settings.audit = true);
    scene
}

pub fn change(scene: &mut Scene, change: impl FnOnce(&mut Settings)) {
    let mut settings = scene.world.settings().clone();
    change(&mut settings);
    scene.world.set_settings(settings).unwrap();
}

/// Returns an inertial body of 1 kg of the scene's material.
pub fn solid(scene: &Scene, shape: Shape) -> BodyDef {
    BodyDef::inertial(shape).mass(1.0).material(scene.material)
}

/// Returns the sum of the magnitudes of momenta, N s.
pub fn momentum_scale(scene: &Scene) -> f64 {
    scene.world.bodies().map(|body| body.mass() * body.linear_velocity().length()).sum()
}

/// Raises the largest error so far to another one; NaN sticks.
pub fn track_worst(worst: &mut f64, error: f64) {
    if !(error <= *worst) {
        *worst = error;
    }
}

/// Adds six walls, 1 m thick, around a cube of half width `half`.
pub fn room(scene: &mut Scene, half: f64) {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        for side in [-1.0, 1.0] {
            scene.wall(Vec3::splat(half + 1.0) - axis * (half + 0.5), axis * (side * (half + 0.5)));
        }
    }
}

/// Adds 64 spheres of 0.2 m in a room of 4 m, at up to `speed` along each axis.
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
