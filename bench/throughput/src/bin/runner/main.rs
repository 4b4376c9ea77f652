//! `runner ID THREADS [STEPS]`: steps one benchmark in the engine it was built with and prints a `Run`.

use std::error::Error;
use std::time::Instant;

use msd_scene::catalog::benchmarks::{self, Figure};
use msd_sim::math::Pose;
use msd_sim::{Body, BodyKind, ColliderView, World};
use msd_throughput::Run;
use rustix::time::{ClockId, clock_gettime};

#[cfg(not(any(feature = "f32", feature = "f64")))]
#[path = "msd.rs"]
mod engine;
#[cfg(any(feature = "f32", feature = "f64"))]
#[path = "rapier.rs"]
mod engine;

/// Number of pose samples in the last quarter, including its end.
const SAMPLES: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [id, threads, rest @ ..] = arguments.as_slice() else {
        return Err("expected ID THREADS [STEPS]".into());
    };
    let benchmark = benchmarks::find(id).ok_or_else(|| format!("no benchmark `{id}`"))?;
    let threads = threads.parse()?;
    let steps = rest.first().map_or(Ok(benchmark.steps), |steps| steps.parse())?;
    let start = benchmark.build().map_err(|error| error.to_string())?;
    let mut engine = engine::Engine::new(&start, threads)?;
    let sampled: Vec<u64> =
        (1..=SAMPLES).map(|i| steps - (SAMPLES - i) * steps / (4 * SAMPLES)).collect();

    let (mut cpu, mut wall, mut samples) = (0.0, 0.0, Vec::new());
    let mut done = 0;
    for &until in &sampled {
        let (cpu_before, wall_before) = (process_seconds(), Instant::now());
        (done..until).for_each(|_| engine.step());
        wall += wall_before.elapsed().as_secs_f64();
        cpu += process_seconds() - cpu_before;
        if until > done {
            samples.push(engine.shape_poses());
        }
        done = until;
    }

    // All engines are measured by the same code, in an msd world set to their poses.
    let mut world = start.world().clone();
    let (mut depths, mut lost) = (Vec::new(), 0);
    for sample in &samples {
        lost = place(&mut world, start.world(), sample);
        depths.extend(benchmarks::overlaps(&world));
    }
    depths.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = depths.len().saturating_sub(1) as f64;
        depths.get((share * last).round() as usize).copied().unwrap_or(0.0)
    };
    let run = Run {
        scene: id.clone(),
        bodies: world.bodies().len(),
        steps,
        threads,
        cpu: 1e3 * cpu / steps as f64,
        wall: 1e3 * wall / steps as f64,
        deepest: 1e3 * at(1.0),
        usual: 1e3 * at(0.999),
        figure: Figure::measure(benchmark.figure, start.world(), &world),
        lost,
        hash: engine.hash().map(|hash| format!("{hash:016x}")),
    };
    println!("{}", serde_json::to_string(&run)?);
    Ok(())
}

/// Moves the bodies of a world from the `start` to the current poses of their shapes. Returns the number of lost
/// bodies: below the ground or not finite.
fn place(world: &mut World, start: &World, shape_poses: &[Pose]) -> usize {
    let mut lost = 0;
    for (body, now) in start.bodies().zip(shape_poses) {
        if body.kind() == BodyKind::Environment {
            continue;
        }
        let rotation = now.rotation.normalize();
        let center = Pose::new(now.position, rotation).transform_point(center_in_shape(&body));
        let found = world.set_pose(body.id(), Pose::new(center, rotation)).is_ok();
        if !found || center.z < 0.0 {
            lost += 1;
        }
    }
    lost
}

/// Returns the center of mass of a body in the frame of its shape.
fn center_in_shape(body: &Body<'_>) -> msd_sim::math::Vec3 {
    only_collider(body).pose().inverse_transform_point(body.position())
}

/// Returns the collider of a body: every body of a benchmark has one.
fn only_collider<'a>(body: &Body<'a>) -> ColliderView<'a> {
    body.colliders().next().expect("a body of a benchmark has a collider")
}

/// Returns the CPU time of all threads of this process, s.
fn process_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
