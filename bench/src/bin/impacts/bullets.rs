//! Many small fast balls among thin plates in a closed room.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use msd_bench::Random;
use msd_sim::math::{Pose, Vec3};

use crate::stage::{Engine, Form, Motion, Mover, Rules, Stage};
use crate::{Case, Outcome};

const BULLETS: usize = 1000;
const RADIUS: f64 = 0.01;
/// That of water, kg.
const MASS: f64 = 4.19e-3;
const SPEEDS: [f64; 2] = [100.0, 500.0];
const PLATES: usize = 20;
const PLATE: Vec3 = Vec3::new(0.5, 0.5, 0.0025);
/// Half the room's inner width, m, and the thickness of its walls.
const ROOM: f64 = 5.0;
const WALL: f64 = 0.1;
const TIME: f64 = 60.0;
/// An engine that takes longer is stopped, and what it did so far is judged.
const PATIENCE: Duration = Duration::from_secs(300);
/// Crossings nearer to the edge of a plate than this do not count, m: a path that cannot be longer
/// than this goes round no edge either.
const EDGE: f64 = 0.05;
/// A path is known if it explains the end of a step as well as this, m: gravity bends it by 1.4 mm.
const KNOWN: f64 = 0.005;

pub fn cases() -> Vec<Case> {
    let name = "1000 of 1 cm radius, 100 to 500 m/s, 20 plates of 5 mm, 10 m room, 60 s";
    vec![Case::new("bullets", name, "0 through, inside or out", run)]
}

fn run(engine: Engine) -> Outcome {
    let rules = Rules::default();
    let mut stage = Stage::new(engine, rules);
    stage.enclose(ROOM, WALL);
    let mut random = Random(20);
    let plates: Vec<Pose> =
        (0..PLATES).map(|_| Pose::new(place(&mut random, ROOM - 1.0), random.rotation())).collect();
    for plate in &plates {
        stage.fix(Form::Block(PLATE), *plate);
    }
    let mut starts: Vec<Vec3> = Vec::new();
    while starts.len() < BULLETS {
        let at = place(&mut random, ROOM - 0.1);
        let clear = plates.iter().all(|plate| gap(plate, at) > 2.0 * RADIUS)
            && starts.iter().all(|other| other.distance(at) > 4.0 * RADIUS);
        if clear {
            let speed = SPEEDS[0] + (SPEEDS[1] - SPEEDS[0]) * random.unit();
            let bullet = Mover::new(Form::Ball(RADIUS), at).velocity(random.direction() * speed);
            stage.add(&Mover { mass: MASS, ..bullet });
            starts.push(at);
        }
    }
    let mut crossings = Crossings::default();
    let clock = Instant::now();
    let mut motions = stage.motions();
    let mut steps = 0;
    while steps < (TIME / rules.dt).round() as usize && clock.elapsed() < PATIENCE {
        stage.step();
        steps += 1;
        let after = stage.motions();
        crossings.note_returns(&plates, &after);
        for (bullet, (before, after)) in motions.iter().zip(&after).enumerate() {
            let path = path(engine, before, after, rules.dt);
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
        figure += &format!(" ({} ways of several impacts not judged)", crossings.unclear);
    }
    let time = steps as f64 * rules.dt;
    if time < TIME - 0.5 * rules.dt {
        figure += &format!(", stopped after {time:.1} s");
    }
    Outcome::new(figure, through + inside + out == 0)
}

/// What went through plates so far.
#[derive(Default)]
struct Crossings {
    /// Bullets that did.
    through: BTreeSet<usize>,
    /// Bullet, plate and side of it to which the bullet crossed in the last step.
    last: Vec<(usize, usize, bool)>,
    /// Crossings after which the bullet was back at the next step.
    returned: usize,
    /// Steps whose ends are on both sides of a plate, but that may have led round it.
    unclear: usize,
}

impl Crossings {
    fn note_returns(&mut self, plates: &[Pose], after: &[Motion]) {
        let back = |&(bullet, plate, side): &(usize, usize, bool)| {
            above(&plates[plate], after[bullet].position) != side
        };
        self.returned += self.last.drain(..).filter(back).count();
    }

    /// Of one step, whose ends are `ends`.
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

/// Somewhere in a cube about the origin.
fn place(random: &mut Random, half: f64) -> Vec3 {
    let mut even = || half * (2.0 * random.unit() - 1.0);
    Vec3::new(even(), even(), even())
}

/// Distance of a point from a plate, negative inside.
fn gap(plate: &Pose, point: Vec3) -> f64 {
    let beyond = plate.inverse_transform_point(point).abs() - PLATE;
    beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
}

/// Where a bullet came along within a step, as corners: straight, or with one impact. None if it
/// was fast and that does not lead to where it is.
fn path(engine: Engine, before: &Motion, after: &Motion, dt: f64) -> Option<Vec<Vec3>> {
    let way = after.position - before.position;
    let (u, v) = (before.velocity, after.velocity);
    let flown = (way - u * dt).length() < KNOWN;
    let slow = u.length().max(v.length()) * dt < EDGE;
    // Rapier moves a body along one line in a step, up to what it meets.
    if engine == Engine::Rapier || flown || slow {
        return Some(vec![before.position, after.position]);
    }
    // For a time it went as before, then as after.
    let turn = u - v;
    let time = ((way - v * dt).dot(turn) / turn.length_squared()).clamp(0.0, dt);
    let known = (way - v * dt - turn * time).length() < KNOWN;
    known.then(|| vec![before.position, before.position + u * time, after.position])
}

/// Whether a path leads from one side of a plate to the other, through its inner part.
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
    // There and back is not past it.
    path.windows(2).filter(crosses).count() % 2 == 1
}
