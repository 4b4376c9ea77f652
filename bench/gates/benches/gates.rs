//! Limits on the instruction counts of hot kernels, measured by callgrind: `bench/gates/run`.
//!
//! Each limit is about 5 % above the count when it was set, on x86-64 with AVX2 and Rust 1.95. Counts vary slightly
//! with the compiler; machines without AVX2 count more.

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use msd_gates::{Resting, benchmark, boxes, small};
use msd_scene::Simulation;
use msd_sim::collision::BroadPhase;

/// Returns a configuration with a limit on the instruction count.
fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(["--cache-sim=no"]);
    callgrind.hard_limits([(EventKind::Ir, instructions)]);
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

// Gates return their data so that it is dropped outside the count.

#[library_benchmark]
#[bench::resting(args = ("s1", 60), setup = benchmark, config = at_most(6_350_000))]
#[bench::falling(args = ("s2r", 60), setup = benchmark, config = at_most(31_200_000))]
#[bench::net(args = ("s7", 10), setup = benchmark, config = at_most(52_460_000))]
fn step(mut simulation: Box<Simulation>) -> Box<Simulation> {
    black_box(simulation.step());
    simulation
}

// Steps of small worlds. Falling piles are counted while they collide, the ball through a bounce.
#[library_benchmark]
#[bench::apart(args = ("apart", 60, 10), setup = small, config = at_most(187_500))]
#[bench::stack(args = ("stack", 60, 10), setup = small, config = at_most(178_000))]
#[bench::pile_resting(args = ("resting-pile", 30, 4), setup = small, config = at_most(440_100))]
#[bench::pile_falling(args = ("falling-pile", 24, 4), setup = small, config = at_most(113_800_000))]
#[bench::dominoes(args = ("dominoes", 80, 2), setup = small, config = at_most(9_110_000))]
#[bench::hulls(args = ("hull-pile", 40, 1), setup = small, config = at_most(191_000_000))]
#[bench::ball(args = ("ball", 20, 60), setup = small, config = at_most(625_800))]
#[bench::chain(args = ("chain", 100, 10), setup = small, config = at_most(27_210_000))]
#[bench::rod(args = ("rod", 10, 60), setup = small, config = at_most(46_500_000))]
fn small_step((mut simulation, steps): (Box<Simulation>, u64)) -> Box<Simulation> {
    for _ in 0..steps {
        black_box(simulation.step());
    }
    simulation
}

#[library_benchmark]
#[bench::cuboids(args = (), setup = Resting::cuboids, config = at_most(2_209_000))]
#[bench::hulls(args = (), setup = Resting::hulls, config = at_most(2_408_000))]
fn manifold(mut resting: Resting) -> Resting {
    resting.update_manifolds();
    resting
}

type Boxes = (BroadPhase, Vec<(u32, u32)>);

#[library_benchmark]
#[bench::boxes(args = (), setup = boxes, config = at_most(5_659_000))]
fn find_pairs((mut phase, mut pairs): Boxes) -> Boxes {
    phase.find_pairs(&mut pairs);
    (phase, pairs)
}

library_benchmark_group!(name = kernels, benchmarks = [step, small_step, manifold, find_pairs]);
main!(library_benchmark_groups = kernels);
