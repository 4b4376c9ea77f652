//! Benchmark scenes of many bodies for measuring the speed of a step. They are built in code because the files would
//! be too large.
//!
//! All have z up, steps of 1/60 s, density 1 kg/m^3, friction 0.6, no restitution, and a ground whose top is at
//! z = 0. No two bodies overlap at the start; those of walls and stacks touch the ones beneath them.
//!
//! ```
//! use msd_scene::catalog::benchmarks;
//! let stack = benchmarks::find("s5").expect("a benchmark");
//! let start = stack.build()?;
//! let mut simulation = start.clone();
//! for _ in 0..10 {
//!     simulation.step();
//! }
//! assert!(stack.figure.measure(start.world(), simulation.world()) < 1e-3);
//! # Ok::<(), benchmarks::BuildError>(())
//! ```

use std::error::Error;

use msd_sim::collision::{BroadPhase, Kind};
use msd_sim::geometry::{Shape, Simplex, Workspace, separation};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{Body, BodyDef, BodyId, BodyKind, JointDef, Material, Settings, World};

use crate::random::Random;
use crate::simulation::Simulation;

/// A benchmark scene of many bodies.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Name on the command line.
    pub id: &'static str,
    /// Short description.
    pub title: &'static str,
    /// Number of steps to measure.
    pub steps: u64,
    /// Figure of merit that shows whether the bodies behaved.
    pub figure: Figure,
    /// Side of the ground, m.
    ground: f64,
    fill: fn(&mut Builder) -> Result<(), BuildError>,
}

/// The reason a benchmark could not be built: the engine rejected its input.
pub type BuildError = Box<dyn Error + Send + Sync>;

/// A figure of merit: a length that shows whether the bodies of a benchmark behaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Distance of the initially highest body from its start: walls and stacks should stand.
    Drift,
    /// Height of the highest body's center: poured bodies should form a heap.
    Top,
    /// Largest distance between a joint's two anchors: joints should hold.
    Gap,
}

/// Default side of the ground, m.
const GROUND: f64 = 100.0;

/// Gap between neighbors in a row of a wall, m, so that they do not rub.
const WALL_GAP: f64 = 0.01;

/// Distance between the centers of bodies of any orientation, m: more than the diagonal of a unit cube.
const TURNED_PITCH: f64 = 1.8;

macro_rules! benchmark {
    ($id:literal, $title:literal, $steps:literal, $figure:ident, $ground:expr, $fill:expr) => {
        Benchmark {
            id: $id,
            title: $title,
            steps: $steps,
            figure: Figure::$figure,
            ground: $ground,
            fill: $fill,
        }
    };
}

/// All benchmarks.
pub const ALL: &[Benchmark] = &[
    benchmark!("s1", "wall of 1275 cubes", 500, Drift, GROUND, |builder| builder
        .wall(50, Vec3::ZERO)),
    benchmark!("s2", "100 towers of 10 cubes", 600, Top, GROUND, |builder| builder.towers(10)),
    benchmark!("s2r", "pile of 1000 cubes", 600, Top, GROUND, |builder| builder.pile(10)),
    benchmark!("s3", "pile of 1000 hulls", 600, Top, GROUND, |builder| builder.hulls(10)),
    benchmark!("s4", "pile of 8000 balls", 300, Top, GROUND, |builder| builder.balls(20)),
    benchmark!("s5", "stack of 20 cubes", 600, Drift, GROUND, |builder| builder.stack(20)),
    benchmark!("s6", "400 towers of 20 cubes", 300, Top, GROUND, |builder| builder.towers(20)),
    benchmark!("s6r", "pile of 8000 cubes", 300, Top, GROUND, |builder| builder.pile(20)),
    benchmark!("s7", "net of 10000 balls", 300, Gap, GROUND, |builder| builder.net(100)),
    // The wall is 101 m wide.
    benchmark!("s8", "wall of 5050 cubes", 300, Drift, 120.0, |builder| builder
        .wall(100, Vec3::ZERO)),
    // The walls cover 14 times 12 m.
    benchmark!("s9", "196 walls of 55 cubes", 300, Drift, 180.0, |builder| builder.field(14, 10)),
    benchmark!("s10-1e3", "rain of 1000 bodies", 300, Top, GROUND, |builder| builder.rain(1_000)),
    benchmark!("s10-1e4", "rain of 10000 bodies", 300, Top, GROUND, |builder| builder.rain(10_000)),
    // The rain is 128 m wide.
    benchmark!("s10-1e5", "rain of 100000 bodies", 300, Top, 180.0, |builder| builder
        .rain(100_000)),
];

/// Returns the benchmark of an id.
pub fn find(id: &str) -> Option<&'static Benchmark> {
    ALL.iter().find(|benchmark| benchmark.id == id)
}

impl Benchmark {
    /// Builds the benchmark, to be stepped on one thread.
    ///
    /// # Errors
    ///
    /// The engine rejected a body: a defect of the benchmark or of the engine.
    pub fn build(&self) -> Result<Simulation, BuildError> {
        let material = Material::new(0.0, 0.6)?;
        let world = World::new(Settings { threads: 1, ..Settings::default() })?;
        let mut builder = Builder { world, material, random: Random::new(1) };
        let half = Vec3::new(0.5 * self.ground, 0.5 * self.ground, 0.5);
        let ground = BodyDef::environment(Shape::cuboid(half)?).position(Vec3::new(0.0, 0.0, -0.5));
        builder.world.add_body(ground.material(material).name("ground"))?;
        (self.fill)(&mut builder)?;
        let (dt, steps) = (1.0 / 60.0, self.steps);
        Ok(Simulation {
            world: builder.world,
            dt,
            steps,
            threads: 1,
            forces: Vec::new(),
            ignored: Vec::new(),
            elapsed: 0.0,
        })
    }
}

impl Figure {
    /// Returns the name: `drift`, `top` or `gap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drift => "drift",
            Self::Top => "top",
            Self::Gap => "gap",
        }
    }

    /// Measures the figure of a world that began as `start` and is now `end`, m.
    pub fn measure(self, start: &World, end: &World) -> f64 {
        match self {
            Self::Drift => highest(start).map_or(0.0, |before| {
                let after = end.body(before.id()).map_or(Vec3::NAN, |body| body.position());
                before.position().distance(after)
            }),
            Self::Top => highest(end).map_or(0.0, |body| body.position().z),
            Self::Gap => widest_gap(end),
        }
    }
}

/// Returns the highest inertial body, the first among equals.
fn highest(world: &World) -> Option<Body<'_>> {
    let inertial = world.bodies().filter(|body| body.kind() == BodyKind::Inertial);
    inertial.reduce(|best, body| if body.position().z > best.position().z { body } else { best })
}

/// Returns the largest distance between a joint's two anchors, m.
fn widest_gap(world: &World) -> f64 {
    let place = |(body, anchor): (BodyId, Vec3)| {
        world.body(body).map_or(Vec3::NAN, |body| body.pose().transform_point(anchor))
    };
    let gaps = world.joints().map(|(_, joint)| {
        let [a, b] = joint.ends().map(place);
        a.distance(b)
    });
    gaps.fold(0.0, f64::max)
}

/// Returns the penetration depths of all overlapping pairs that no joint connects, m.
///
/// Uses poses only, so it can measure the results of any engine.
pub fn overlaps(world: &World) -> Vec<f64> {
    let mut phase = BroadPhase::default();
    let colliders: Vec<_> = world.colliders().collect();
    for (index, collider) in colliders.iter().enumerate() {
        let inertial = world.body(collider.body()).is_ok_and(|body| body.mass() > 0.0);
        let kind = if inertial { Kind::Inertial } else { Kind::Environment };
        phase.insert(index as u32, kind, collider.bounds());
    }
    let mut pairs = Vec::new();
    phase.find_pairs(&mut pairs);
    let mut joined: Vec<_> =
        world.joints().map(|(_, joint)| pair_of(joint.ends().map(|(body, _)| body))).collect();
    joined.sort_unstable();
    pairs.retain(|&(a, b)| {
        let pair = [a, b].map(|at| colliders[at as usize].body());
        pair[0] != pair[1] && joined.binary_search(&pair_of(pair)).is_err()
    });
    let mut workspace = Workspace::default();
    let depths = pairs.iter().filter_map(|&(a, b)| {
        let [a, b] = [a, b].map(|at| &colliders[at as usize]);
        let simplex = &mut Simplex::default();
        separation(a.shape(), &a.pose(), b.shape(), &b.pose(), simplex, &mut workspace)
    });
    depths.map(|found| found.depth()).filter(|&depth| depth > 0.0).collect()
}

fn pair_of([a, b]: [BodyId; 2]) -> [BodyId; 2] {
    [a.min(b), a.max(b)]
}

/// A benchmark under construction.
struct Builder {
    world: World,
    material: Material,
    random: Random,
}

impl Builder {
    fn add(&mut self, shape: &Shape, pose: Pose) -> Result<BodyId, BuildError> {
        let body = BodyDef::inertial(shape.clone()).density(1.0).material(self.material);
        Ok(self.world.add_body(body.pose(pose))?)
    }

    /// Adds a triangular wall of cubes, `base` wide and one deep, centered at `foot`. Each cube rests on halves of two
    /// others.
    fn wall(&mut self, base: u32, foot: Vec3) -> Result<(), BuildError> {
        let (cube, pitch) = (unit_cube()?, 1.0 + WALL_GAP);
        for row in 0..base {
            let width = base - row;
            for place in 0..width {
                let x = (f64::from(place) - 0.5 * f64::from(width - 1)) * pitch;
                let center = foot + Vec3::new(x, 0.0, f64::from(row) + 0.5);
                self.add(&cube, Pose::at(center))?;
            }
        }
        Ok(())
    }

    /// Adds `side` times `side` walls, 12 m apart, which is more than their width and height.
    fn field(&mut self, side: u32, base: u32) -> Result<(), BuildError> {
        for y in 0..side {
            for x in 0..side {
                self.wall(base, 12.0 * centered(side, x, y))?;
            }
        }
        Ok(())
    }

    fn stack(&mut self, height: u32) -> Result<(), BuildError> {
        let cube = unit_cube()?;
        for level in 0..height {
            self.add(&cube, Pose::at(Vec3::new(0.0, 0.0, f64::from(level) + 0.5)))?;
        }
        Ok(())
    }

    /// Calls `add` for the points of a cubic grid of `side`^3, layer by layer, the lowest at `floor`; every other layer
    /// is shifted by `shift` along x and y.
    fn grid(
        &mut self,
        side: u32,
        pitch: f64,
        floor: f64,
        shift: f64,
        mut add: impl FnMut(&mut Self, Vec3) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        for layer in 0..side {
            let offset = if layer % 2 == 1 { shift } else { 0.0 };
            let base = Vec3::new(offset, offset, floor + pitch * f64::from(layer));
            for y in 0..side {
                for x in 0..side {
                    add(self, base + pitch * centered(side, x, y))?;
                }
            }
        }
        Ok(())
    }

    /// Adds cubes that fall onto each other face to face, the lowest from 1 m.
    fn towers(&mut self, side: u32) -> Result<(), BuildError> {
        let cube = unit_cube()?;
        self.grid(side, 1.5, 1.5, 0.1, |builder, center| {
            builder.add(&cube, Pose::at(center)).map(drop)
        })
    }

    /// Adds cubes of random orientation, the lowest from 1 m or a little more.
    fn pile(&mut self, side: u32) -> Result<(), BuildError> {
        let cube = unit_cube()?;
        self.grid(side, TURNED_PITCH, 1.0 + 0.5 * TURNED_PITCH, 0.0, |builder, center| {
            let rotation = builder.random.rotation();
            builder.add(&cube, Pose::new(center, rotation)).map(drop)
        })
    }

    /// Adds hulls, no two alike, the lowest from 1 m or a little more.
    fn hulls(&mut self, side: u32) -> Result<(), BuildError> {
        self.grid(side, 1.5, 1.5, 0.0, |builder, center| {
            let (hull, offset) = builder.hull()?;
            builder.add(&hull, Pose::at(center + offset)).map(drop)
        })
    }

    /// Adds balls, offset so that they do not balance on top of each other, the lowest from 1 m.
    fn balls(&mut self, side: u32) -> Result<(), BuildError> {
        let ball = Shape::sphere(0.5)?;
        self.grid(side, 1.5, 1.5, 0.1, |builder, center| {
            builder.add(&ball, Pose::at(center)).map(drop)
        })
    }

    /// Returns the hull of 16 random points on a sphere of radius 0.5 m, and its center of mass relative to the
    /// sphere's center.
    fn hull(&mut self) -> Result<(Shape, Vec3), BuildError> {
        let points: [Vec3; 16] = std::array::from_fn(|_| self.random.rotation() * (0.5 * Vec3::Z));
        let hull = Shape::hull(&points)?;
        let center = hull.mass_properties(1.0)?.center_of_mass;
        Ok((hull, center))
    }

    /// Adds a net of balls, 20 m up, that hangs by its corners.
    fn net(&mut self, side: u32) -> Result<(), BuildError> {
        let ball = Shape::sphere(0.4)?;
        let mut knots = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let pose = Pose::at(centered(side, x, y) + 20.0 * Vec3::Z);
                let corner = [x, y].iter().all(|place| [0, side - 1].contains(place));
                knots.push(match corner {
                    true => {
                        let nail = BodyDef::environment(ball.clone()).material(self.material);
                        self.world.add_body(nail.pose(pose))?
                    }
                    false => self.add(&ball, pose)?,
                });
            }
        }
        let knot = |x: u32, y: u32| knots[(y * side + x) as usize];
        for y in 0..side {
            for x in 0..side {
                for (along, to) in [(Vec3::X, (x + 1, y)), (Vec3::Y, (x, y + 1))] {
                    if to.0 < side && to.1 < side {
                        let joint = JointDef::ball(knot(x, y), knot(to.0, to.1));
                        self.world.add_joint(joint.anchors(0.5 * along, -0.5 * along))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds balls, cubes, capsules and hulls in turn, in layers that land 0.25 s apart, except for the first four,
    /// which would overlap. A larger rain falls on a larger area: its layers have more bodies, at the same density.
    fn rain(&mut self, count: u32) -> Result<(), BuildError> {
        const LAYERS: u32 = 20;
        const INTERVAL: f64 = 0.25;
        const GRAVITY: f64 = 9.81;
        let shapes = [Shape::sphere(0.5)?, unit_cube()?, Shape::capsule(0.3, 0.4)?];
        let hulls: Vec<_> = (0..16).map(|_| self.hull()).collect::<Result<_, _>>()?;
        let per_layer = count / LAYERS;
        let side = f64::from(per_layer).sqrt().ceil() as u32;
        let mut height = 0.0_f64;
        for layer in 0..LAYERS {
            let fall = INTERVAL * f64::from(layer + 1);
            height = (0.5 * GRAVITY * fall * fall + 1.0).max(height + TURNED_PITCH);
            // The bodies of a layer fall between those of the layer below.
            let offset = if layer % 2 == 1 { 0.5 * TURNED_PITCH } else { 0.0 };
            for place in 0..per_layer {
                let across = TURNED_PITCH * centered(side, place % side, place / side);
                let center = across + Vec3::new(offset, offset, height);
                let rotation = self.random.rotation();
                let (shape, from_middle) = match shapes.get(place as usize % 4) {
                    Some(shape) => (shape, Vec3::ZERO),
                    None => {
                        let (hull, from_middle) = &hulls[(place / 4) as usize % hulls.len()];
                        (hull, *from_middle)
                    }
                };
                let center = center + rotation * from_middle;
                self.add(shape, Pose::new(center, rotation))?;
            }
        }
        Ok(())
    }
}

fn unit_cube() -> Result<Shape, BuildError> {
    Ok(Shape::cuboid(Vec3::splat(0.5))?)
}

/// Returns a point of a square grid of pitch 1, centered at the origin.
fn centered(side: u32, x: u32, y: u32) -> Vec3 {
    let middle = 0.5 * f64::from(side - 1);
    Vec3::new(f64::from(x) - middle, f64::from(y) - middle, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(id: &str) -> usize {
        // Excludes the ground.
        find(id).unwrap().build().unwrap().world().bodies().len() - 1
    }

    #[test]
    fn benchmarks_have_the_number_of_bodies_in_their_titles() {
        let counts = [
            ("s1", 1275),
            ("s2", 1000),
            ("s2r", 1000),
            ("s3", 1000),
            ("s4", 8000),
            ("s5", 20),
            ("s6", 8000),
            ("s6r", 8000),
            ("s8", 5050),
            ("s9", 196 * 55),
            ("s10-1e3", 1000),
            ("s10-1e4", 10_000),
        ];
        for (id, expected) in counts {
            assert_eq!(count(id), expected, "{id}");
        }
    }

    #[test]
    fn a_net_has_a_joint_between_any_two_neighbors_and_no_gaps() {
        let net = find("s7").unwrap().build().unwrap();
        assert_eq!(net.world().bodies().len(), 10_001);
        assert_eq!(net.world().joints().count(), 2 * 100 * 99);
        assert!(widest_gap(net.world()) < 1e-12);
        assert!(overlaps(net.world()).is_empty());
    }

    #[test]
    fn bodies_start_on_or_above_the_ground_without_overlaps() {
        for id in ["s1", "s2", "s2r", "s3", "s4", "s5", "s6r", "s8", "s9", "s10-1e3", "s10-1e4"] {
            let simulation = find(id).unwrap().build().unwrap();
            let world = simulation.world();
            // Stacked cubes touch to within rounding.
            let deepest = overlaps(world).into_iter().fold(0.0, f64::max);
            assert!(deepest < 1e-12, "{id}: {deepest}");
            let (mut bodies, half) = (world.bodies(), 0.5 * find(id).unwrap().ground);
            bodies.next().expect("the ground");
            for body in bodies {
                let bounds = body.bounds().unwrap();
                // Bounds are rounded outwards.
                assert!(bounds.min.z > -1e-12, "{id}");
                let extent = bounds.min.abs().max(bounds.max.abs());
                assert!(extent.x.max(extent.y) < half, "{id}");
            }
        }
    }

    #[test]
    fn ids_are_unique_and_can_be_found() {
        for benchmark in ALL {
            assert_eq!(find(benchmark.id).map(|found| found.title), Some(benchmark.title));
        }
        assert!(find("s11").is_none());
    }
}
