//! Balls in a line that transmit an impact.

use msd_sim::math::Vec3;

use crate::test_world::{BodyShape, DynamicBody, Engine, Parameters, TestWorld};
use crate::{Case, Outcome};

const RADIUS: f64 = 0.5;
const GOAL: f64 = 1e-6;
/// Time for the impact to travel through the line, s.
const TIME: f64 = 2.0;

/// Balls from left to right, some of which arrive at 1 m/s.
#[derive(Clone)]
struct Line {
    masses: Vec<f64>,
    /// Gaps between neighbors, m.
    gaps: Vec<f64>,
    before: Vec<f64>,
    /// Expected velocities after successive impacts, m/s.
    after: Vec<f64>,
}

impl Line {
    fn of_five(gaps: [f64; 4], coming: usize) -> Self {
        let speed = |there: bool| if there { 1.0 } else { 0.0 };
        Self {
            masses: vec![1.0; 5],
            gaps: gaps.to_vec(),
            before: (0..5).map(|ball| speed(ball < coming)).collect(),
            after: (0..5).map(|ball| speed(ball >= 5 - coming)).collect(),
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mm = 1e-3;
    // A mass m at speed v hits 2 m at rest: -v/3 and 2v/3 after it.
    let doubling = Line {
        masses: vec![1.0, 2.0, 4.0],
        gaps: vec![mm; 2],
        before: vec![1.0, 0.0, 0.0],
        after: vec![-1.0 / 3.0, -2.0 / 9.0, 4.0 / 9.0],
    };
    let lines = [
        ("five balls that touch, one in", Line::of_five([0.0; 4], 1)),
        ("four balls that touch, one in from 0.3 m", Line::of_five([0.3, 0.0, 0.0, 0.0], 1)),
        ("five balls 1 mm apart, one in", Line::of_five([mm; 4], 1)),
        ("five balls that touch, two in", Line::of_five([0.0; 4], 2)),
        ("five balls 1 mm apart, two in", Line::of_five([mm; 4], 2)),
        ("masses 1, 2, 4 of balls 1 mm apart, one in", doubling),
    ];
    let case = |(name, line): (&str, Line)| {
        Case::new("line", name, format!("{GOAL:e}"), move |engine| strike(engine, &line))
    };
    lines.map(case).into()
}

/// Returns the largest deviation of a velocity from its expected value.
fn strike(engine: Engine, line: &Line) -> Outcome {
    let parameters =
        Parameters { gravity: false, restitution: 1.0, friction: 0.0, ..Parameters::default() };
    let mut world = TestWorld::new(engine, parameters);
    let mut x = 0.0;
    for (ball, (&mass, &speed)) in line.masses.iter().zip(&line.before).enumerate() {
        let body = DynamicBody::new(BodyShape::Ball(RADIUS), Vec3::X * x).velocity(Vec3::X * speed);
        world.add(&DynamicBody { mass, ..body });
        x += 2.0 * RADIUS + line.gaps.get(ball).copied().unwrap_or(0.0);
    }
    for _ in 0..(TIME / parameters.dt) as usize {
        world.step();
    }
    let motions = world.motions();
    let deviations = motions
        .iter()
        .zip(&line.after)
        .map(|(ball, &speed)| (ball.velocity - Vec3::X * speed).length());
    let worst = deviations.fold(0.0, f64::max);
    Outcome::new(format!("{worst:.1e}"), worst <= GOAL)
}
