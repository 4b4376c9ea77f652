//! A ball that bounces on a floor.

use msd_sim::math::{Pose, Vec3};

use crate::test_world::{BodyShape, DynamicBody, Engine, G, Parameters, TestWorld};
use crate::{Case, Outcome};

const RADIUS: f64 = 0.5;
/// Initial height of the lowest point of the ball, m.
const DROP: f64 = 10.0;
/// Number of bounces of the elastic ball.
const ELASTIC_BOUNCES: usize = 10;
/// Height below which apexes are not judged, m.
const LEAST_APEX: f64 = 0.05;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for rate in [60, 30, 120, 240] {
        for restitution in [1.0, 0.8, 0.5] {
            let goal = if rate == 60 && restitution == 1.0 { 0.001 } else { 0.005 };
            let name = format!("ball from 10 m, e = {restitution}, dt = 1/{rate} s, apexes");
            cases.push(Case::new("bounce", name, format!("{} %", goal * 100.0), move |engine| {
                bounce(engine, restitution, 1.0 / f64::from(rate), goal)
            }));
        }
    }
    cases
}

fn bounce(engine: Engine, restitution: f64, dt: f64, goal: f64) -> Outcome {
    let expected: Vec<f64> = (1..=ELASTIC_BOUNCES as i32 * 2)
        .map(|k| DROP * restitution.powi(2 * k))
        .take_while(|&height| height > LEAST_APEX)
        .take(if restitution == 1.0 { ELASTIC_BOUNCES } else { usize::MAX })
        .collect();
    let mut world = TestWorld::new(engine, Parameters { dt, restitution, ..Parameters::default() });
    let floor = Pose::at(Vec3::new(0.0, 0.0, -0.5));
    world.add_static(BodyShape::Block(Vec3::new(50.0, 50.0, 0.5)), floor);
    world.add(&DynamicBody::new(BodyShape::Ball(RADIUS), Vec3::new(0.0, 0.0, DROP + RADIUS)));
    let mut apexes = Vec::new();
    let mut rising = false;
    // The time that all bounces would take from the full height.
    let fall = (2.0 * DROP / G).sqrt();
    let steps = (2.0 * fall * (expected.len() + 1) as f64 / dt).ceil() as usize;
    for _ in 0..steps {
        world.step();
        let ball = world.motion(0);
        let speed = ball.velocity.z;
        // The first step after the apex; the speed is converted to the missing height.
        if rising && speed <= 0.0 {
            apexes.push(ball.position.z - RADIUS + speed * speed / (2.0 * G));
        }
        rising = speed > 0.0;
    }
    if apexes.len() < expected.len() {
        let figure = format!("{} of {} bounces", apexes.len(), expected.len());
        return Outcome::new(figure, false);
    }
    let deviations = expected.iter().zip(&apexes).map(|(height, apex)| (apex / height - 1.0).abs());
    Outcome::percent(deviations.fold(0.0, f64::max), goal)
}
