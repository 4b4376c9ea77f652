//! The cost of continuous collision in scenes without fast bodies.

use std::time::Instant;

use msd_sim::math::{Pose, Vec3};

use crate::test_world::{BodyShape, DynamicBody, Engine, Parameters, TestWorld};
use crate::{Case, Outcome};

const WARM: usize = 300;
const STEPS: usize = 50;
const ROUNDS: usize = 8;
/// Largest allowed relative cost.
const GOAL: f64 = 0.02;

type Scene = fn(Engine, bool) -> TestWorld;

pub fn cases() -> Vec<Case> {
    let scenes: [(&str, Scene); 2] =
        [("tower of 10 cubes at rest", tower), ("heap of 200 cubes that settles", heap)];
    let case = |(name, scene): (&str, Scene)| {
        let name = format!("{name}, with over without continuous collision");
        Case::new("cost", name, "2 %", move |engine| added_time(|on| scene(engine, on)))
    };
    scenes.map(case).into()
}

/// Measures the additional step time of continuous collision: minimum over alternating rounds of the mean.
fn added_time(scene: impl Fn(bool) -> TestWorld) -> Outcome {
    let mut worlds = [false, true].map(scene);
    for world in &mut worlds {
        (0..WARM).for_each(|_| world.step());
    }
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (world, least) in worlds.iter_mut().zip(&mut least) {
            let clock = Instant::now();
            (0..STEPS).for_each(|_| world.step());
            *least = least.min(clock.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
        }
    }
    let added = least[1] / least[0] - 1.0;
    let figure = format!("{:+.1} % of {:.0} us/step", added * 100.0, least[0]);
    Outcome::new(figure, added <= GOAL)
}

fn tower(engine: Engine, continuous: bool) -> TestWorld {
    cubes(engine, continuous, (0..10).map(|i| Vec3::new(0.0, 0.0, 0.5 + f64::from(i))))
}

/// Layers of 5 by 5, each laid across the gaps of the one below.
fn heap(engine: Engine, continuous: bool) -> TestWorld {
    let place = |i: i32| {
        let (x, y, z) = (f64::from(i % 5), f64::from(i / 5 % 5), f64::from(i / 25));
        Vec3::new(1.05 * x + 0.1 * z, 1.05 * y - 0.07 * z, 0.5 + z)
    };
    cubes(engine, continuous, (0..200).map(place))
}

fn cubes(engine: Engine, continuous: bool, places: impl Iterator<Item = Vec3>) -> TestWorld {
    let mut world = TestWorld::new(engine, Parameters { continuous, ..Parameters::default() });
    let floor = Pose::at(Vec3::new(0.0, 0.0, -0.5));
    world.add_static(BodyShape::Block(Vec3::new(50.0, 50.0, 0.5)), floor);
    for place in places {
        world.add(&DynamicBody::new(BodyShape::Block(Vec3::splat(0.5)), place));
    }
    world
}
