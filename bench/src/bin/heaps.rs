//! Prints the step times of heaps in motion in msd, balanced and fast, and in rapier3d-f64, in one run: the minimum over
//! several alternating rounds of the mean; with the deepest overlap of any step in both engines and the worst residual of
//! msd.
//! `cargo run --release --bin heaps`, or with names: `cargo run --release --bin heaps -- pallet jenga`

use std::error::Error;
use std::time::Instant;

use msd_bench::Random;
use msd_bench::rapier::Rapier;
use msd_scene::catalog::benchmarks;
use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3};
use msd_sim::{Accuracy, Body, BodyDef, BodyKind, Material, Settings, World};

const ROUNDS: usize = 3;
const DT: f64 = 1.0 / 60.0;

/// A heap: its name, the number of steps, and what fills its world.
type Heap = (&'static str, usize, fn(&mut Builder) -> Result<(), Box<dyn Error>>);

const HEAPS: [Heap; 8] = [
    ("cubes-64", 240, |world| world.grid([4, 4, 4], &Kind::Cube)),
    ("cubes-128", 240, |world| world.grid([4, 4, 8], &Kind::Cube)),
    ("hulls-128", 240, |world| world.grid([4, 4, 8], &Kind::Hull)),
    ("capsules-128", 240, |world| world.grid([4, 4, 8], &Kind::Capsule)),
    ("jenga", 240, Builder::jenga),
    ("dominoes-100", 600, Builder::dominoes),
    ("pallet", 600, Builder::pallet),
    ("boxes-384", 240, |world| world.grid([8, 8, 6], &Kind::Cube)),
];

/// The accuracies that are compared, with the limits on the cost of exact islands; exact solves of heaps in motion take too
/// long.
const ACCURACIES: [(&str, Accuracy, Option<u32>); 3] = [
    ("balanced", Accuracy::Balanced, None),
    ("balanced, max_exact_cost 300", Accuracy::Balanced, Some(300)),
    ("fast", Accuracy::Fast, None),
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| heap | bodies | steps | accuracy | msd us/step | rapier3d-f64 us/step | ratio | deepest, mm | of rapier3d-f64, mm | residual |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, steps, fill) in HEAPS {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let mut ours = [f64::INFINITY; ACCURACIES.len()];
        let mut theirs = f64::INFINITY;
        let mut start = World::new(Settings::default())?;
        for _ in 0..ROUNDS {
            for (time, (_, accuracy, max_exact_cost)) in ours.iter_mut().zip(ACCURACIES) {
                start = build(accuracy, max_exact_cost, false, fill)?;
                let mut world = start.clone();
                *time = time.min(measure(steps, || Ok(world.step(DT).map(|_| ())?))?);
            }
            let mut world = Rapier::of(&start, DT)?;
            theirs = theirs.min(measure(steps, || Ok(world.step()))?);
        }
        let per_step = 1e6 / steps as f64;
        let inertial = |body: &Body<'_>| body.kind() == BodyKind::Inertial;
        let bodies = start.bodies().filter(inertial).count();
        let overlap = deepest_of_rapier(start, steps)?;
        for (time, (name_of, accuracy, max_exact_cost)) in ours.into_iter().zip(ACCURACIES) {
            let world = build(accuracy, max_exact_cost, true, fill)?;
            let (deepest, residual) = errors(world, steps)?;
            println!(
                "| {name} | {bodies} | {steps} | {name_of} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {residual:.1e} |",
                time * per_step,
                theirs * per_step,
                time / theirs,
                1e3 * deepest,
                1e3 * overlap,
            );
        }
    }
    Ok(())
}

/// Returns the time of some steps, s.
fn measure(
    steps: usize,
    mut step: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let clock = Instant::now();
    (0..steps).try_for_each(|_| step())?;
    Ok(clock.elapsed().as_secs_f64())
}

/// Returns the deepest overlap of any step, m, and the worst relative residual.
fn errors(mut world: World, steps: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut deepest, mut residual) = (0.0_f64, 0.0_f64);
    for _ in 0..steps {
        let report = world.step(DT)?;
        let solve = report.solve.ok_or("the residual was not measured")?;
        residual = residual.max(solve.residual.relative());
        deepest = benchmarks::overlaps(&world).into_iter().fold(deepest, f64::max);
    }
    Ok((deepest, residual))
}

/// Returns the deepest overlap of any step in rapier, m.
fn deepest_of_rapier(mut world: World, steps: usize) -> Result<f64, Box<dyn Error>> {
    let mut rapier = Rapier::of(&world, DT)?;
    let mut deepest = 0.0_f64;
    for _ in 0..steps {
        rapier.step();
        rapier.copy_poses(&mut world)?;
        deepest = benchmarks::overlaps(&world).into_iter().fold(deepest, f64::max);
    }
    Ok(deepest)
}

fn build(
    accuracy: Accuracy,
    max_exact_cost: Option<u32>,
    audit: bool,
    fill: fn(&mut Builder) -> Result<(), Box<dyn Error>>,
) -> Result<World, Box<dyn Error>> {
    let settings = Settings { accuracy, max_exact_cost, audit, threads: 1, ..Settings::default() };
    let mut builder = Builder {
        world: World::new(settings)?,
        material: Material::new(0.1, 0.6)?,
        random: Random(1),
    };
    fill(&mut builder)?;
    Ok(builder.world)
}

/// A world under construction.
struct Builder {
    world: World,
    material: Material,
    random: Random,
}

/// What a loose grid consists of.
enum Kind {
    Cube,
    Hull,
    Capsule,
}

impl Builder {
    fn add(&mut self, shape: Shape, pose: Pose) -> Result<(), Box<dyn Error>> {
        let body = BodyDef::inertial(shape).density(500.0).material(self.material);
        self.world.add_body(body.pose(pose))?;
        Ok(())
    }

    /// Adds the ground, whose top is at height 0.
    fn ground(&mut self) -> Result<(), Box<dyn Error>> {
        let ground = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5))?;
        let ground = BodyDef::environment(ground).position(Vec3::Z * -0.5);
        self.world.add_body(ground.material(self.material))?;
        Ok(())
    }

    fn orientation(&mut self) -> Quat {
        let [x, y, z, w] = [0; 4].map(|_| self.random.unit() - 0.5);
        Quat::from_xyzw(x, y, z, w).normalize()
    }

    /// Adds bodies half a meter wide, randomly oriented, that fall from half a meter and more.
    fn grid(&mut self, [nx, ny, nz]: [u32; 3], kind: &Kind) -> Result<(), Box<dyn Error>> {
        self.ground()?;
        for place in 0..nx * ny * nz {
            let (x, y, z) = (place % nx, place / nx % ny, place / (nx * ny));
            let shape = match kind {
                Kind::Cube => Shape::cuboid(Vec3::splat(0.25))?,
                Kind::Capsule => Shape::capsule(0.15, 0.15)?,
                Kind::Hull => {
                    let points: Vec<Vec3> =
                        (0..16).map(|_| self.random.direction() * 0.3).collect();
                    Shape::hull(&points)?
                }
            };
            let jitter = Vec3::from_array([0; 3].map(|_| 0.1 * (self.random.unit() - 0.5)));
            let center = Vec3::new(f64::from(x), f64::from(y), f64::from(z) + 1.0) + jitter;
            let pose = Pose { position: center, rotation: self.orientation() };
            self.add(shape, pose)?;
        }
        Ok(())
    }

    /// Adds a tower of 18 layers of three blocks, and a ball that hits it.
    fn jenga(&mut self) -> Result<(), Box<dyn Error>> {
        self.ground()?;
        for layer in 0..18 {
            for place in [-1.0, 0.0, 1.0] {
                let height = 0.15 + 0.3 * f64::from(layer);
                let (half, side) = match layer % 2 {
                    0 => (Vec3::new(0.75, 0.249, 0.15), Vec3::Y),
                    _ => (Vec3::new(0.249, 0.75, 0.15), Vec3::X),
                };
                let center = side * (0.5 * place) + Vec3::Z * height;
                self.add(Shape::cuboid(half)?, Pose::at(center))?;
            }
        }
        let ball = BodyDef::inertial(Shape::sphere(0.4)?).density(2000.0).material(self.material);
        let ball = ball.position(Vec3::new(-4.0, 0.1, 3.0));
        self.world.add_body(ball.velocity(Vec3::new(12.0, 0.0, 1.0)))?;
        Ok(())
    }

    /// Adds a row of a hundred dominoes, and a ball that hits the first.
    fn dominoes(&mut self) -> Result<(), Box<dyn Error>> {
        self.ground()?;
        for place in 0..100 {
            let center = Vec3::new(0.25 * f64::from(place), 0.0, 0.25);
            self.add(Shape::cuboid(Vec3::new(0.04, 0.125, 0.25))?, Pose::at(center))?;
        }
        let ball = BodyDef::inertial(Shape::sphere(0.2)?).density(600.0).material(self.material);
        let ball = ball.position(Vec3::new(-1.0, 0.0, 0.2)).angular_velocity(Vec3::Y * 10.0);
        self.world.add_body(ball.velocity(Vec3::X * 2.0))?;
        Ok(())
    }

    /// Adds 200 boxes on a plate that turns about its middle, by 6 degrees per second.
    fn pallet(&mut self) -> Result<(), Box<dyn Error>> {
        let plate = Shape::cuboid(Vec3::new(2.0, 2.0, 0.1))?;
        let plate = BodyDef::environment(plate).position(Vec3::Z * 3.0).material(self.material);
        self.world.add_body(plate.angular_velocity(Vec3::Y * 6_f64.to_radians()))?;
        let ground = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5))?;
        let ground = BodyDef::environment(ground).position(Vec3::Z * -0.5);
        self.world.add_body(ground.material(self.material))?;
        for place in 0..200 {
            let (x, y, z) = (place % 5, place / 5 % 5, place / 25);
            let center = Vec3::new(0.42 * (f64::from(x) - 2.0), 0.42 * (f64::from(y) - 2.0), 0.0);
            let height = Vec3::Z * (3.1 + 0.15 + 0.3 * f64::from(z));
            let half = Vec3::new(0.2, 0.2, 0.15);
            self.add(Shape::cuboid(half)?, Pose::at(center + height))?;
        }
        Ok(())
    }
}
