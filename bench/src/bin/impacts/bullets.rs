//! Many small fast balls among thin plates in a closed room.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use msd_bench::Random;
use msd_sim::math::{Pose, Vec3};

use crate::test_world::{BodyShape, DynamicBody, Engine, Motion, Parameters, TestWorld};
use crate::{Case, Outcome};

const BULLETS: usize = 1000;
const RADIUS: f64 = 0.01;
/// Mass of a ball of water, kg.
const MASS: f64 = 4.19e-3;
const SPEEDS: [f64; 2] = [100.0, 500.0];
const PLATES: usize = 20;
const PLATE: Vec3 = Vec3::new(0.5, 0.5, 0.0025);
/// Half of the inner width of the room and thickness of its walls, m.
const ROOM: f64 = 5.0;
const WALL: f64 = 0.1;
const TIME: f64 = 60.0;
/// Time limit; an engine that takes longer is stopped and judged on its steps so far.
const PATIENCE: Duration = Duration::from_secs(300);
/// Least distance of a crossing from the edge of a plate to count, m. Paths shorter than this cannot go round an edge
/// either.
const EDGE: f64 = 0.05;
/// Largest error of a reconstructed path at the end of a step, m: gravity bends it by 1.4 mm.
const KNOWN: f64 = 0.005;

pub fn cases() -> Vec<Case> {
    let name = "1000 of 1 cm radius, 100 to 500 m/s, 20 plates of 5 mm, 10 m room, 60 s";
    vec![Case::new("bullets", name, "0 through, inside or out", run)]
}

fn run(engine: Engine) -> Outcome {
    let parameters = Parameters::default();
    let mut world = TestWorld::new(engine, parameters);
    world.enclose(ROOM, WALL);
    let mut random = Random(20);
    let plates: Vec<Pose> =
        (0..PLATES).map(|_| Pose::new(place(&mut random, ROOM - 1.0), random.rotation())).collect();
    for plate in &plates {
        world.add_static(BodyShape::Block(PLATE), *plate);
    }
    let mut starts: Vec<Vec3> = Vec::new();
    while starts.len() < BULLETS {
        let at = place(&mut random, ROOM - 0.1);
        let clear = plates.iter().all(|plate| gap(plate, at) > 2.0 * RADIUS)
            && starts.iter().all(|other| other.distance(at) > 4.0 * RADIUS);
        if clear {
            let speed = SPEEDS[0] + (SPEEDS[1] - SPEEDS[0]) * random.unit();
            let bullet =
                DynamicBody::new(BodyShape::Ball(RADIUS), at).velocity(random.direction() * speed);
            world.add(&DynamicBody { mass: MASS, ..bullet });
            starts.push(at);
        }
    }
    let mut crossings = Crossings::default();
    let clock = Instant::now();
    let mut motions = world.motions();
    let mut steps = 0;
    while steps < (TIME / parameters.dt).round() as usize && clock.elapsed() < PATIENCE {
        world.step();
        steps += 1;
        let after = world.motions();
        crossings.note_returns(&plates, &after);
        for (bullet, (before, after)) in motions.iter().zip(&after).enumerate() {
            let path = path(engine, before, after, parameters.dt);
            crossings.note(&plates, bullet, [before.position, after.position], path);
        }
        motions = after;
    }
    let inside = |bullet: &&Motion| {
        plates.iter().any(|plate| RADIUS - gap(plate, bullet.position) > 0.5 * PLATE.z)
    };
    let inside = motions.iter().filter(inside).count();
    let room = |bullet: &&Motion| bullet.position.abs().max_element() < ROOM;
    let out = BULLETS - motions.iter().filter(room).count();
    let through = crossings.through.len();
    let mut figure = format!("{through} through");
    if crossings.returned > 0 {
        figure += &format!(" ({} crossings back at the next step)", crossings.returned);
    }
    figure += &format!(", {inside} inside, {out} out");
    if crossings.unclear > 0 {
        figure += &format!(" ({} paths with several impacts not judged)", crossings.unclear);
    }
    let time = steps as f64 * parameters.dt;
    if time < TIME - 0.5 * parameters.dt {
        figure += &format!(", stopped after {time:.1} s");
    }
    Outcome::new(figure, through + inside + out == 0)
}

/// The crossings of plates so far.
#[derive(Default)]
struct Crossings {
    /// Bullets that went through a plate.
    through: BTreeSet<usize>,
    /// Crossings of the last step: bullet, plate, and side of the plate on which the bullet ended.
    last: Vec<(usize, usize, bool)>,
    /// Number of crossings that were reversed in the next step.
    returned: usize,
    /// Number of steps with ends on both sides of a plate whose path may have led round it.
    unclear: usize,
}

impl Crossings {
    fn note_returns(&mut self, plates: &[Pose], after: &[Motion]) {
        let back = |&(bullet, plate, side): &(usize, usize, bool)| {
            above(&plates[plate], after[bullet].position) != side
        };
        self.returned += self.last.drain(..).filter(back).count();
    }

    /// Records the crossings of one step from `ends[0]` to `ends[1]`.
    fn note(&mut self, plates: &[Pose], bullet: usize, ends: [Vec3; 2], path: Option<Vec<Vec3>>) {
        for (number, plate) in plates.iter().enumerate() {
            match &path {
                Some(path) if passes(plate, path) => {
                    self.through.insert(bullet);
                    self.last.push((bullet, number, above(plate, ends[1])));
                }
                None => self.unclear += usize::from(passes(plate, &ends)),
                Some(_) => {}
            }
        }
    }
}

fn above(plate: &Pose, point: Vec3) -> bool {
    plate.inverse_transform_point(point).z > 0.0
}

/// Returns a random point in a cube about the origin.
fn place(random: &mut Random, half: f64) -> Vec3 {
    let mut even = || half * (2.0 * random.unit() - 1.0);
    Vec3::new(even(), even(), even())
}

/// Returns the distance of a point from a plate, negative inside.
fn gap(plate: &Pose, point: Vec3) -> f64 {
    let beyond = plate.inverse_transform_point(point).abs() - PLATE;
    beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
}

/// Reconstructs the path of a bullet within a step as a polyline: straight, or with one impact. `None` if the bullet
/// was fast and neither path leads to its final position.
fn path(engine: Engine, before: &Motion, after: &Motion, dt: f64) -> Option<Vec<Vec3>> {
    let displacement = after.position - before.position;
    let (u, v) = (before.velocity, after.velocity);
    let flown = (displacement - u * dt).length() < KNOWN;
    let slow = u.length().max(v.length()) * dt < EDGE;
    // Rapier moves a body along one line in a step, up to its first impact.
    if engine == Engine::Rapier || flown || slow {
        return Some(vec![before.position, after.position]);
    }
    // It moved with the old velocity until the impact, then with the new one.
    let turn = u - v;
    let time = ((displacement - v * dt).dot(turn) / turn.length_squared()).clamp(0.0, dt);
    let known = (displacement - v * dt - turn * time).length() < KNOWN;
    known.then(|| vec![before.position, before.position + u * time, after.position])
}

/// Returns whether a path crosses the inner part of a plate.
fn passes(plate: &Pose, path: &[Vec3]) -> bool {
    let crosses = |ends: &&[Vec3]| {
        let (p, q) = (ends[0], ends[1]);
        let reach = PLATE.length() + 0.5 * p.distance(q);
        if plate.position.distance(0.5 * (p + q)) > reach {
            return false;
        }
        let (p, q) = (plate.inverse_transform_point(p), plate.inverse_transform_point(q));
        let at = p.lerp(q, p.z / (p.z - q.z)).abs();
        (p.z > 0.0) != (q.z > 0.0) && at.x < PLATE.x - EDGE && at.y < PLATE.y - EDGE
    };
    // Crossing twice is not passing through.
    path.windows(2).filter(crosses).count() % 2 == 1
}
