//! Prints the times of queries to worlds of msd and rapier3d-f64 in one run, each the least of several alternating rounds;
//! the step times of bodies with 22 hulls each; and what a body with 500 hulls costs.
//! `cargo run --release --bin queries`, or with names: `cargo run --release --bin queries -- rays casts compounds hulls`

#![allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::time::Instant;

use msd_bench::Random;
use msd_bench::rapier::{Parts, Rapier, pose, vector};
use msd_scene::catalog::benchmarks;
use msd_sim::geometry::{Ray, Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{
    Accuracy, BodyDef, BodyId, CastHit, Collider, Material, QueryFilter, QueryHit, Settings, World,
};
use rapier3d_f64::parry::query::ShapeCastOptions;
use rapier3d_f64::prelude::{
    Pose as TheirPose, QueryPipeline, Ray as TheirRay, Shape as TheirShape, SharedShape, Vector,
};

const DT: f64 = 1.0 / 60.0;
const ROUNDS: usize = 15;
/// Number of parts of the queries that are measured apart.
const PARTS: usize = 8;
/// Threads of the batches.
const THREADS: usize = 2;
/// Number of rays; of casts, which take longer, it is a quarter.
const RAYS: usize = 20_000;
/// Length of rays and casts, m.
const REACH: f64 = 10.0;
/// Distance of neighbors, m.
const PITCH: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    if wants("rays") || wants("casts") {
        println!(
            "| query | bodies | msd us | rapier3d-f64 us | ratio | msd on 2 threads us | to rapier3d-f64 on 1 | rapier3d-f64 on 2 us | hits | differ | largest difference |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        for count in [1_000, 10_000, 100_000] {
            let worlds = Worlds::new(count)?;
            if wants("rays") {
                worlds.rays()?;
            }
            if wants("casts") {
                worlds.casts()?;
            }
        }
        println!();
    }
    if wants("compounds") {
        compounds()?;
    }
    if wants("hulls") {
        hulls()?;
    }
    Ok(())
}

/// The same bodies in both engines.
struct Worlds {
    count: usize,
    ours: World,
    theirs: Rapier,
    side: f64,
}

impl Worlds {
    /// Creates spheres, capsules, cuboids and hulls of 12 points, about half a meter wide and two meters apart. Every other
    /// one stands still; the others have moved by as much as their size.
    fn new(count: usize) -> Result<Self, Box<dyn Error>> {
        let settings =
            Settings { gravity: Vec3::ZERO, threads: THREADS as u32, ..Settings::default() };
        let mut ours = World::new(settings)?;
        let mut random = Random(3);
        let line = (count as f64).cbrt().ceil() as usize;
        for place in 0..count {
            let cell = [place % line, place / line % line, place / (line * line)];
            let center = Vec3::from_array(cell.map(|at| at as f64 + random.unit() - 0.5)) * PITCH;
            let mut size = || 0.2 + 0.3 * random.unit();
            let [a, b, c] = [size(), size(), size()];
            let shape = match place % 4 {
                0 => Shape::sphere(a)?,
                1 => Shape::capsule(0.5 * a, b)?,
                2 => Shape::cuboid(Vec3::new(a, b, c))?,
                _ => {
                    let points: Vec<Vec3> = (0..12).map(|_| random.direction() * a).collect();
                    Shape::hull(&points)?
                }
            };
            let def = match random.unit() < 0.5 {
                true => BodyDef::environment(shape),
                false => BodyDef::inertial(shape)
                    .velocity(random.direction() * (3.0 * random.unit()))
                    .angular_velocity(random.direction() * (6.0 * random.unit())),
            };
            ours.add_body(def.position(center).orientation(random.rotation()))?;
        }
        let mut theirs = Rapier::of(&ours, DT)?;
        for _ in 0..12 {
            ours.step(DT)?;
            theirs.step();
        }
        // Both engines are asked about the same poses.
        theirs.copy_poses(&mut ours)?;
        Ok(Self { count, ours, theirs, side: line as f64 * PITCH })
    }

    fn point(&self, random: &mut Random) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| (random.unit() * self.side) - 0.5 * PITCH))
    }

    fn rays(&self) -> Result<(), Box<dyn Error>> {
        let mut random = Random(11);
        let filter = QueryFilter::new();
        let mut rays = Vec::new();
        while rays.len() < RAYS {
            // A ray that starts within a body has no distance to compare.
            let origin = self.point(&mut random);
            if self.ours.overlaps_with_point(origin, &filter).is_empty() {
                rays.push(Ray::new(origin, random.direction())?);
            }
        }
        let their_rays: Vec<TheirRay> = rays
            .iter()
            .map(|ray| TheirRay::new(vector(ray.origin()), vector(ray.direction())))
            .collect();
        let pipeline = self.theirs.queries();
        let theirs = |pipeline: &QueryPipeline<'_>, ray: &TheirRay| {
            pipeline.cast_ray_and_get_normal(ray, REACH, true)
        };
        let mut hits = vec![None; rays.len()];
        let mut their_hits = vec![None; rays.len()];
        let times = alternate(
            rays.len(),
            [
                &mut |part| {
                    for ray in &rays[part] {
                        black_box(self.ours.cast_ray(ray, REACH, &filter));
                    }
                },
                &mut |part| {
                    for ray in &their_rays[part] {
                        black_box(theirs(&pipeline, ray));
                    }
                },
                &mut |part| {
                    self.ours.cast_rays(&rays[part.clone()], REACH, &filter, &mut hits[part]);
                },
                &mut |part| {
                    self.on_threads(&their_rays[part.clone()], &mut their_hits[part], theirs)
                },
            ],
        );
        let owners = self.theirs.owners();
        let ours =
            hits.iter().map(|hit: &Option<QueryHit>| hit.map(|hit| (hit.body, hit.distance)));
        let theirs = their_hits
            .iter()
            .map(|hit| Some((owners(hit.as_ref()?.0)?, hit.as_ref()?.1.time_of_impact)));
        self.report("rays", times, rays.len(), &Agreement::of(ours, theirs));
        let bare = alternate(
            rays.len(),
            [&mut |part| {
                for ray in &their_rays[part] {
                    black_box(pipeline.cast_ray(ray, REACH, true));
                }
            }],
        );
        println!(
            "| rays, normals neither asked of rapier3d-f64 nor computed | {} | {:.3} | {:.3} | {:.2} | | | | | | |",
            self.count,
            per_query(times[0], rays.len()),
            per_query(bare[0], rays.len()),
            times[0] / bare[0],
        );
        Ok(())
    }

    fn casts(&self) -> Result<(), Box<dyn Error>> {
        let half = Vec3::new(0.3, 0.2, 0.25);
        let ball = (Shape::sphere(0.25)?, SharedShape::ball(0.25));
        let cuboid = (Shape::cuboid(half)?, SharedShape::cuboid(half.x, half.y, half.z));
        for (name, (shape, their_shape)) in [("ball", ball), ("cuboid", cuboid)] {
            let mut random = Random(13);
            let filter = QueryFilter::new();
            let mut casts: Vec<(&Shape, Pose, SpatialVector)> = Vec::new();
            while casts.len() < RAYS / 4 {
                let start = Pose::new(self.point(&mut random), random.rotation());
                // What a shape that starts in an overlap hits is for each engine to define.
                if self.ours.overlaps_with(&shape, &start, &filter).is_empty() {
                    let motion = SpatialVector::new(random.direction() * REACH, Vec3::ZERO);
                    casts.push((&shape, start, motion));
                }
            }
            let their_casts: Vec<(TheirPose, Vector)> = casts
                .iter()
                .map(|(_, start, motion)| (pose(start), vector(motion.linear)))
                .collect();
            let pipeline = self.theirs.queries();
            let their_shape: &dyn TheirShape = &*their_shape.0;
            let theirs = |pipeline: &QueryPipeline<'_>, (start, motion): &(TheirPose, Vector)| {
                let options = ShapeCastOptions::with_max_time_of_impact(1.0);
                pipeline.cast_shape(start, *motion, their_shape, options)
            };
            let mut hits = vec![None; casts.len()];
            let mut their_hits = vec![None; casts.len()];
            let times = alternate(
                casts.len(),
                [
                    &mut |part| {
                        for (shape, start, motion) in &casts[part] {
                            black_box(self.ours.cast_shape(shape, start, *motion, &filter));
                        }
                    },
                    &mut |part| {
                        for cast in &their_casts[part] {
                            black_box(theirs(&pipeline, cast));
                        }
                    },
                    &mut |part| {
                        self.ours.cast_shapes(&casts[part.clone()], &filter, &mut hits[part]);
                    },
                    &mut |part| {
                        self.on_threads(&their_casts[part.clone()], &mut their_hits[part], theirs);
                    },
                ],
            );
            let owners = self.theirs.owners();
            let ours = hits.iter().map(|hit: &Option<CastHit>| {
                hit.as_ref().map(|hit| (hit.hit.body, hit.fraction * REACH))
            });
            let theirs = their_hits.iter().map(|hit| {
                let (collider, hit) = hit.as_ref()?;
                Some((owners(*collider)?, hit.time_of_impact * REACH))
            });
            let agreement = Agreement::of(ours, theirs);
            for (name, gap) in [
                (
                    "msd",
                    self.largest_gap(&casts, hits.iter().map(|hit| Some(hit.as_ref()?.fraction))),
                ),
                (
                    "rapier3d-f64",
                    self.largest_gap(
                        &casts,
                        their_hits.iter().map(|hit| Some(hit.as_ref()?.1.time_of_impact)),
                    ),
                ),
            ] {
                let [gap, overlap] = gap;
                eprintln!("{name}: largest gap {gap:.0e} m and overlap {overlap:.0e} m at hits");
            }
            self.report(&format!("{name} casts"), times, casts.len(), &agreement);
            let turning: Vec<(&Shape, Pose, SpatialVector)> = casts
                .iter()
                .map(|&(shape, start, motion)| {
                    let turn = random.direction() * std::f64::consts::TAU * random.unit();
                    (shape, start, SpatialVector::new(motion.linear, turn))
                })
                .collect();
            let turned = alternate(
                turning.len(),
                [
                    &mut |part| {
                        for (shape, start, motion) in &turning[part] {
                            black_box(self.ours.cast_shape(shape, start, *motion, &filter));
                        }
                    },
                    &mut |part| {
                        self.ours.cast_shapes(&turning[part.clone()], &filter, &mut hits[part]);
                    },
                ],
            );
            println!(
                "| {name} casts that turn | {} | {:.2} | | | {:.2} | | | {} | | |",
                self.count,
                per_query(turned[0], turning.len()),
                per_query(turned[1], turning.len()),
                hits.iter().flatten().count(),
            );
        }
        Ok(())
    }

    /// Returns the largest gap to the nearest body that is left at hits, and the deepest overlap, m.
    fn largest_gap(
        &self,
        casts: &[(&Shape, Pose, SpatialVector)],
        fractions: impl Iterator<Item = Option<f64>>,
    ) -> [f64; 2] {
        let mut workspace = Workspace::default();
        let mut largest = [0.0_f64; 2];
        for ((shape, start, motion), fraction) in casts.iter().zip(fractions) {
            let Some(fraction) = fraction else { continue };
            let at = Pose::new(start.position + motion.linear * fraction, start.rotation);
            let near = self.ours.colliders_in(&shape.bounds(&at).grown(1e-3), &QueryFilter::new());
            let gaps = near.iter().filter_map(|&id| {
                let other = self.ours.collider(id).ok()?;
                let simplex = &mut Simplex::default();
                let (other, there) = (other.shape(), other.pose());
                separation(other, &there, shape, &at, simplex, &mut workspace)
            });
            let gap = gaps.map(|found| found.distance).fold(f64::INFINITY, f64::min);
            largest = [largest[0].max(gap), largest[1].max(-gap)];
        }
        largest
    }

    /// Answers queries to rapier3d-f64 on [`THREADS`] threads.
    fn on_threads<Q: Sync, A: Send>(
        &self,
        queries: &[Q],
        answers: &mut [A],
        answer: impl Fn(&QueryPipeline<'_>, &Q) -> A + Copy + Send,
    ) {
        let share = queries.len().div_ceil(THREADS);
        std::thread::scope(|scope| {
            for (queries, answers) in queries.chunks(share).zip(answers.chunks_mut(share)) {
                scope.spawn(move || {
                    let pipeline = self.theirs.queries();
                    for (query, to) in queries.iter().zip(answers) {
                        *to = answer(&pipeline, query);
                    }
                });
            }
        });
    }

    fn report(&self, name: &str, times: [f64; 4], queries: usize, agreement: &Agreement) {
        let [ours, theirs, ours_batched, theirs_batched] =
            times.map(|time| per_query(time, queries));
        println!(
            "| {name} | {} | {ours:.3} | {theirs:.3} | {:.2} | {ours_batched:.3} | {:.2} | {theirs_batched:.3} | {} of {queries} | {} | {:.0e} |",
            self.count,
            ours / theirs,
            ours_batched / theirs,
            agreement.hits,
            agreement.differ,
            agreement.largest,
        );
        for case in &agreement.cases {
            eprintln!("{name}, {} bodies: {case}", self.count);
        }
    }
}

/// What two engines found.
#[derive(Default)]
struct Agreement {
    /// Queries that hit anything in msd.
    hits: usize,
    /// Queries that hit in one engine alone, or at distances of which the relative difference exceeds 1e-9.
    differ: usize,
    /// The largest relative difference of distances of the same body.
    largest: f64,
    /// Some that differ.
    cases: Vec<String>,
}

impl Agreement {
    fn of(
        ours: impl Iterator<Item = Option<(BodyId, f64)>>,
        theirs: impl Iterator<Item = Option<(BodyId, f64)>>,
    ) -> Self {
        let mut all = Self::default();
        for (n, (ours, theirs)) in ours.zip(theirs).enumerate() {
            all.hits += usize::from(ours.is_some());
            let agree = match (ours, theirs) {
                (Some((body, distance)), Some((other, other_distance))) => {
                    let difference = (distance - other_distance).abs() / distance.max(1e-3);
                    if body == other {
                        all.largest = all.largest.max(difference);
                    }
                    difference <= 1e-9
                }
                (None, None) => true,
                _ => false,
            };
            if !agree {
                all.differ += 1;
                if all.cases.len() < 3 {
                    all.cases.push(format!("query {n}: msd {ours:?}, rapier3d-f64 {theirs:?}"));
                }
            }
        }
        all
    }
}

/// A job that answers the queries of a range.
type Job<'a> = &'a mut dyn FnMut(Range<usize>);

/// Runs jobs in turn on one part of the queries after another, and returns for each job the sum of its least times for the
/// parts in several rounds, s. Parts are so short that some rounds are not interrupted on a machine that does other work.
fn alternate<const N: usize>(queries: usize, mut jobs: [Job<'_>; N]) -> [f64; N] {
    let part = queries.div_ceil(PARTS);
    let mut sums = [0.0; N];
    for start in (0..queries).step_by(part) {
        let part = start..(start + part).min(queries);
        let mut least = [f64::INFINITY; N];
        for _ in 0..ROUNDS {
            for (job, least) in jobs.iter_mut().zip(&mut least) {
                let clock = Instant::now();
                job(part.clone());
                *least = least.min(clock.elapsed().as_secs_f64());
            }
        }
        for (sum, least) in sums.iter_mut().zip(least) {
            *sum += least;
        }
    }
    sums
}

/// Returns microseconds for each of some queries.
fn per_query(time: f64, queries: usize) -> f64 {
    time * 1e6 / queries as f64
}

/// Bodies and hulls of each.
const TREES: usize = 500;
const HULLS: usize = 22;
const STEPS: usize = 300;

/// Returns small hulls around a center.
fn tree(random: &mut Random, hulls: usize) -> Result<Vec<Collider>, Box<dyn Error>> {
    let mut parts = Vec::new();
    for _ in 0..hulls {
        let radius = 0.1 + 0.1 * random.unit();
        let points: Vec<Vec3> = (0..12).map(|_| random.direction() * radius).collect();
        let at = random.direction() * (0.45 * random.unit());
        parts.push(Collider::new(Shape::hull(&points)?).at(at));
    }
    Ok(parts)
}

/// Returns bodies of many hulls above a plane.
fn trees(accuracy: Accuracy) -> Result<World, Box<dyn Error>> {
    let settings = Settings { accuracy, threads: 1, ..Settings::default() };
    let mut world = World::new(settings)?;
    let material = Material::new(0.0, 0.6)?;
    let ground = BodyDef::environment(Shape::half_space(Vec3::Z, 0.0)?).material(material);
    world.add_body(ground)?;
    let mut random = Random(5);
    for place in 0..TREES {
        let cell = [place % 10, place / 10 % 10, place / 100].map(|at| at as f64);
        let center = Vec3::from_array(cell) * 1.5 + Vec3::Z;
        let parts = tree(&mut random, HULLS)?;
        let body = BodyDef::inertial(parts).density(500.0).material(material);
        world.add_body(body.position(center).orientation(random.rotation()))?;
    }
    Ok(world)
}

fn compounds() -> Result<(), Box<dyn Error>> {
    const ROUNDS: usize = 2;
    let accuracies = [("msd, balanced", Accuracy::Balanced), ("msd, fast", Accuracy::Fast)];
    let parts = [
        ("rapier3d-f64, colliders", Parts::Colliders),
        ("rapier3d-f64, compounds", Parts::Compound),
    ];
    let (mut ours, mut theirs) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    for _ in 0..ROUNDS {
        for (least, (_, accuracy)) in ours.iter_mut().zip(accuracies) {
            let mut world = trees(accuracy)?;
            *least = least.min(measure(|| Ok(world.step(DT).map(|_| ())?))?);
        }
        for (least, (_, parts)) in theirs.iter_mut().zip(parts) {
            let mut world = Rapier::with_parts(&trees(Accuracy::Fast)?, DT, parts)?;
            *least = least.min(measure(|| Ok(world.step()))?);
        }
    }
    let best = theirs[0].min(theirs[1]);
    println!(
        "| {TREES} bodies of {HULLS} hulls | ms a step | to the best of rapier3d-f64 | deepest overlap, mm | at the end, mm |"
    );
    println!("|---|---|---|---|---|");
    for (time, (name, accuracy)) in ours.into_iter().zip(accuracies) {
        let mut world = trees(accuracy)?;
        let depths = depths(|_| {
            world.step(DT)?;
            Ok(world.clone())
        })?;
        row(name, time, best, depths);
    }
    for (time, (name, parts)) in theirs.into_iter().zip(parts) {
        let mut world = trees(Accuracy::Fast)?;
        let mut rapier = Rapier::with_parts(&world, DT, parts)?;
        let depths = depths(|asked| {
            rapier.step();
            if asked {
                rapier.copy_poses(&mut world)?;
            }
            Ok(world.clone())
        })?;
        row(name, time, best, depths);
    }
    println!();
    Ok(())
}

fn row(name: &str, time: f64, best: f64, [deepest, last]: [f64; 2]) {
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
        time * 1e3 / STEPS as f64,
        time / best,
        deepest * 1e3,
        last * 1e3
    );
}

/// Returns the time of all steps, s.
fn measure(mut step: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let clock = Instant::now();
    (0..STEPS).try_for_each(|_| step())?;
    Ok(clock.elapsed().as_secs_f64())
}

/// Returns the deepest overlap after any tenth step, and after the last, m.
fn depths(
    mut step: impl FnMut(bool) -> Result<World, Box<dyn Error>>,
) -> Result<[f64; 2], Box<dyn Error>> {
    let (mut deepest, mut last) = (0.0_f64, 0.0_f64);
    for n in 1..=STEPS {
        let asked = n % 10 == 0;
        let world = step(asked)?;
        if asked {
            last = benchmarks::overlaps(&world).into_iter().fold(0.0, f64::max);
            deepest = deepest.max(last);
        }
    }
    Ok([deepest, last])
}

/// Prints time and memory of a body with 500 hulls above a plane: of hulls, body and first step.
fn hulls() -> Result<(), Box<dyn Error>> {
    const HULLS: usize = 500;
    IS_COUNTING.store(true, Ordering::Relaxed);
    println!("| a body with {HULLS} hulls | hulls ms | body ms | first step ms | memory kB |");
    println!("|---|---|---|---|---|");
    for parts in [None, Some(Parts::Colliders), Some(Parts::Compound)] {
        let mut least = [f64::INFINITY; 3];
        let mut memory = 0;
        for _ in 0..ROUNDS {
            let clock = Instant::now();
            let start = ALLOCATED.load(Ordering::Relaxed);
            let definition = tree(&mut Random(5), HULLS)?;
            let made = clock.elapsed().as_secs_f64();
            let mut ours = World::new(Settings { threads: 1, ..Settings::default() })?;
            ours.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0)?))?;
            let clock = Instant::now();
            ours.add_body(BodyDef::inertial(definition).position(Vec3::Z * 3.0))?;
            let times = match parts {
                None => {
                    let added = clock.elapsed().as_secs_f64();
                    let clock = Instant::now();
                    ours.step(DT)?;
                    memory = ALLOCATED.load(Ordering::Relaxed) - start;
                    [made, added, clock.elapsed().as_secs_f64()]
                }
                Some(parts) => {
                    let start = ALLOCATED.load(Ordering::Relaxed);
                    let clock = Instant::now();
                    let mut theirs = Rapier::with_parts(&ours, DT, parts)?;
                    let built = clock.elapsed().as_secs_f64();
                    let clock = Instant::now();
                    theirs.step();
                    memory = ALLOCATED.load(Ordering::Relaxed) - start;
                    [f64::NAN, built, clock.elapsed().as_secs_f64()]
                }
            };
            for (least, time) in least.iter_mut().zip(times) {
                *least = least.min(time);
            }
        }
        let name = match parts {
            None => "msd",
            Some(Parts::Colliders) => "rapier3d-f64, colliders",
            Some(Parts::Compound) => "rapier3d-f64, compound",
        };
        let [hulls, body, step] = least.map(|time| time * 1e3);
        let hulls = if hulls.is_finite() { format!("{hulls:.2}") } else { "with the body".into() };
        println!("| {name} | {hulls} | {body:.2} | {step:.2} | {} |", memory / 1024);
    }
    Ok(())
}

/// Bytes that were allocated while [`IS_COUNTING`], less those that were freed.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);
/// Off while times of queries and steps are measured: threads would wait for the counter.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);

fn count(bytes: isize) {
    if IS_COUNTING.load(Ordering::Relaxed) {
        ALLOCATED.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The system's allocator, counting bytes.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is forwarded unchanged to the system allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
