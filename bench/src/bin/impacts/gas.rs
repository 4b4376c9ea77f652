//! Elastic balls in a closed box.

use msd_bench::Random;
use msd_sim::math::Vec3;

use crate::test_world::{BodyShape, DynamicBody, Engine, Motion, Parameters, TestWorld};
use crate::{Case, Outcome};

const STEPS: usize = 100_000;
/// Steps between two checks of the energy.
const EVERY: usize = 100;
const HALF: f64 = 2.0;
const GOAL: f64 = 1e-3;

pub fn cases() -> Vec<Case> {
    let name = "64 balls of 0.2 m in a box of 4 m, e = 1, 1e5 steps, largest drift of energy";
    vec![Case::new("gas", name, "0.1 %", drift)]
}

fn drift(engine: Engine) -> Outcome {
    let parameters = Parameters {
        gravity: false,
        restitution: 1.0,
        friction: 0.0,
        rest_speed: Some(0.0),
        ..Parameters::default()
    };
    let mut world = TestWorld::new(engine, parameters);
    world.enclose(HALF, 1.0);
    let mut random = Random(4);
    let mut even = || 2.0 * random.unit() - 1.0;
    for place in 0..64 {
        let cell = Vec3::new((place % 4) as f64, (place / 4 % 4) as f64, (place / 16) as f64);
        let ball = DynamicBody::new(BodyShape::Ball(0.2), cell - Vec3::splat(1.5));
        world.add(&ball.velocity(Vec3::new(even(), even(), even())));
    }
    let first = energy(&world.motions());
    let mut drift = 0.0_f64;
    for _ in 0..STEPS / EVERY {
        (0..EVERY).for_each(|_| world.step());
        let motions = world.motions();
        drift = drift.max((energy(&motions) / first - 1.0).abs());
        let within = |ball: &&Motion| ball.position.abs().max_element() < HALF;
        let lost = motions.len() - motions.iter().filter(within).count();
        if lost > 0 {
            return Outcome::new(format!("{lost} balls left the box"), false);
        }
    }
    Outcome::percent(drift, GOAL)
}

/// Returns the kinetic energy of balls of mass 1 without spin.
fn energy(motions: &[Motion]) -> f64 {
    motions.iter().map(|ball| 0.5 * ball.velocity.length_squared()).sum()
}
