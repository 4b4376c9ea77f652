//! The substeps of a swept world: one call in which all workers go through the same stages side by side.

use super::block::{ContactBlock, get};
use super::check::{self, Ends, Speeds};
use super::graph::{COLOURS, LEFT_OVER};
use super::prepare::Prepare;
use super::riders::{self, alight, board, by_turning, pull};
use super::sweep::{Pass, Softening, Softness, Sweep};
use super::ties::{BallBlock, LineBlock, PrepareTies, SweepTies, TieColour};
use super::{Notes, Swept};
use crate::bodies::{BodySet, Potential};
use crate::collision::Hit;
use crate::joints::JointSet;
use crate::math::Vec3;
use crate::parallel::{Parted, Worker};
use crate::settings::Settings;
use crate::simd;

/// Overlaps go away as if by a spring that turns by this, rad, in a substep, and so many times critically damped. Firmer
/// ones sag less under load; much firmer, and walls of 50 cubes begin to sway, because two sweeps a substep pass
/// loads on too slowly for it.
const PHASE: f64 = 0.2 * std::f64::consts::TAU;
const DAMPING: f64 = 15.0;

/// The same for joints.
const TIE_PHASE: f64 = 0.25 * std::f64::consts::TAU;
const TIE_DAMPING: f64 = 5.0;

/// A colour: its blocks, and whether one worker has to solve them one after another.
type Contacts<'a> = (Parted<'a, ContactBlock>, bool);
type Joints<'a> = (Parted<'a, BallBlock>, Parted<'a, LineBlock>, bool);

impl Swept {
    /// Finds how all bodies move in a step.
    #[allow(unsafe_code)]
    pub(super) fn solve(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        potentials: &[Potential],
        settings: &Settings,
        dt: f64,
    ) {
        let wide = simd::is_wide() && !self.narrow;
        let Self { riding, driving, graph, ties, pairs, crew, notes, bouncy, .. } = self;
        let Self { riders, shifts, frames, pushes, pulls, residuals, .. } = self;
        residuals.begin(settings.audit, pairs.all.len(), joints.joints.len());
        let contact_residuals = Parted::new(&mut residuals.contacts);
        let joint_residuals = Parted::new(&mut residuals.joints);
        let riders = Parted::new(riders);
        let shifts = Parted::new(shifts);
        let frames = Parted::new(frames);
        let pushes = Parted::new(pushes);
        let pulls = Parted::new(pulls);
        let pairs = Parted::new(&mut pairs.all);
        let shared_notes = Parted::new(notes);
        let mut contacts = List::<Contacts<'_>>::default();
        for (number, colour) in graph.colours.iter_mut().enumerate() {
            if !colour.blocks.is_empty() {
                contacts.push((Parted::new(&mut colour.blocks), number == LEFT_OVER));
            }
        }
        let mut tied = List::<Joints<'_>>::default();
        for (number, TieColour { balls, lines, .. }) in ties.colours.iter_mut().enumerate() {
            if !balls.is_empty() || !lines.is_empty() {
                tied.push((Parted::new(balls), Parted::new(lines), number == LEFT_OVER));
            }
        }
        let (contacts, tied) = (contacts.items(), tied.items());
        let substeps = settings.substeps;
        let h = dt / f64::from(substeps);
        let rate = h.recip();
        let softening = |phase: f64, damping: f64| {
            let soft = Softness::new(phase, damping, h);
            Softening { rate, soft, most: settings.position_correction_speed }
        };
        let soft = Pass::Push(softening(PHASE, DAMPING));
        let firm = Pass::Push(softening(TIE_PHASE, TIE_DAMPING));
        let relax = Pass::Relax { rate };
        let (riding, driving, bouncy) = (&*riding, &*driving, *bouncy);
        let start = bodies;
        crew.run(|worker| {
            let mine = &riding[worker.part(riding.len())];
            for &body in mine {
                let index = body as usize;
                let (frame, rider) = board(start, index);
                // SAFETY: every body is in one worker's part; others read it behind a wait.
                unsafe {
                    *pulls.get_mut(index + 1) =
                        pull(start, potentials, settings.gravity, &frame, body, [dt, h]);
                    *pushes.get_mut(index + 1) = riders::Push::default();
                    let mut shift = riders::Shift::default();
                    shift.drift(&rider, 0.5 * h);
                    *shifts.get_mut(index + 1) = shift;
                    *frames.get_mut(index + 1) = frame;
                    *riders.get_mut(index + 1) = rider;
                }
            }
            for &body in &driving[worker.part(driving.len())] {
                // SAFETY: every body is in one worker's part; others read it behind a wait.
                unsafe {
                    let rider = riders.get(body as usize + 1);
                    shifts.get_mut(body as usize + 1).drift(rider, 0.5 * h);
                }
            }
            worker.wait();
            each_tie(worker, tied, |balls, lines| {
                simd::run(wide, PrepareTies { balls, lines, riders, frames, pushes });
            });
            each_contact(worker, contacts, |blocks| {
                simd::run(wide, Prepare { blocks, riders, frames, pushes });
            });
            let sweep_all = |tie_pass: Pass, pass: Pass| {
                each_tie(worker, tied, |balls, lines| {
                    simd::run(wide, SweepTies { balls, lines, riders, shifts, pass: tie_pass });
                });
                each_contact(worker, contacts, |blocks| {
                    simd::run(wide, Sweep { blocks, riders, shifts, pass });
                });
            };
            for substep in 0..substeps {
                for &body in mine {
                    let index = body as usize + 1;
                    // SAFETY: every body is in one worker's part; others read it behind a wait.
                    unsafe {
                        let push = pushes.get_mut(index);
                        riders.get_mut(index).kick(pulls.get(index), push, substep == 0);
                    }
                }
                worker.wait();
                sweep_all(firm, soft);
                let time = if substep + 1 == substeps { 0.5 * h } else { h };
                for &body in mine.iter().chain(&driving[worker.part(driving.len())]) {
                    // SAFETY: every body is in one worker's part; others read it behind a wait.
                    unsafe {
                        shifts
                            .get_mut(body as usize + 1)
                            .drift(riders.get(body as usize + 1), time);
                    }
                }
                worker.wait();
                sweep_all(relax, relax);
            }
            // SAFETY: nobody writes bodies between two waits.
            let ends = |block: [[u32; 4]; 2], lane: usize| unsafe {
                let [a, b] = block.map(|riders| riders[lane] as usize);
                Ends {
                    riders: [riders.get(a), riders.get(b)],
                    shifts: [shifts.get(a), shifts.get(b)],
                }
            };
            if settings.audit {
                for (blocks, _) in contacts.iter().flatten() {
                    for block in own(worker, blocks, false) {
                        for lane in (0..4).filter(|&lane| block.pairs[lane] != u32::MAX) {
                            let found = check::friction(block, lane, &ends(block.riders, lane));
                            // SAFETY: a pair is in one block.
                            unsafe {
                                *contact_residuals.get_mut(block.pairs[lane] as usize) =
                                    Some(found);
                            }
                        }
                    }
                }
                worker.wait();
            }
            if bouncy {
                each_contact(worker, contacts, |blocks| {
                    let pass = Pass::Bounce { speed: settings.rest_speed };
                    simd::run(wide, Sweep { blocks, riders, shifts, pass });
                });
            }
            // SAFETY: each worker has its own notes.
            let notes = unsafe { shared_notes.get_mut(worker.index) };
            notes.begin_telling();
            if settings.audit {
                for (balls, lines, _) in tied.iter().flatten() {
                    for block in own(worker, balls, false) {
                        for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                            let found = check::ball(block, lane, &ends(block.riders, lane));
                            // SAFETY: a joint is in one block.
                            unsafe {
                                *joint_residuals.get_mut(block.joints[lane] as usize) = Some(found);
                            }
                        }
                    }
                    for block in own(worker, lines, false) {
                        for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                            let found = check::line(block, lane, &ends(block.riders, lane), rate);
                            // SAFETY: a joint is in one block.
                            unsafe {
                                *joint_residuals.get_mut(block.joints[lane] as usize) = Some(found);
                            }
                        }
                    }
                }
                let speeds = Speeds { rate, rest_speed: settings.rest_speed };
                for (blocks, _) in contacts.iter().flatten() {
                    for block in own(worker, blocks, false) {
                        for lane in (0..4).filter(|&lane| block.pairs[lane] != u32::MAX) {
                            let ends = ends(block.riders, lane);
                            // SAFETY: a pair is in one block.
                            let found =
                                unsafe { contact_residuals.get_mut(block.pairs[lane] as usize) };
                            if let Some(found) = found {
                                check::normal(block, lane, &ends, &speeds, found);
                            }
                        }
                    }
                }
            }
            for (blocks, _) in contacts.iter().flatten() {
                for block in own(worker, blocks, false) {
                    for lane in 0..4 {
                        if block.pairs[lane] == u32::MAX {
                            continue;
                        }
                        // SAFETY: a pair is in one block.
                        let pair = unsafe { pairs.get_mut(block.pairs[lane] as usize) };
                        let place = |at: usize| {
                            let pose = &start.poses[pair.bodies[0] as usize];
                            pose.transform_point(get(&block.known.anchors[at][0], lane))
                        };
                        let key = (pair.bodies[0], pair.bodies[1]);
                        let touches = notes.look(block, lane, key, settings.rest_speed, place);
                        if touches != pair.touching {
                            pair.touching = touches;
                            notes.changes.push((key, touches));
                        }
                    }
                }
            }
        });
    }

    /// Puts bodies where they came to.
    #[allow(unsafe_code)]
    pub(super) fn put_down(&mut self, bodies: &mut BodySet, settings: &Settings, dt: f64) {
        let Self { riding, driving, riders, shifts, frames, trips, crew, .. } = self;
        let BodySet { poses, motions, inertias, solids, .. } = bodies;
        let (poses, motions, all_trips) =
            (Parted::new(poses), Parted::new(motions), Parted::new(trips));
        let (riders, shifts, frames) = (&*riders, &*shifts, &*frames);
        let (riding, inertias, solids) = (&*riding, &*inertias, &*solids);
        crew.run(|worker| {
            for &body in &riding[worker.part(riding.len())] {
                let index = body as usize;
                // SAFETY: every body is in one worker's part.
                let (pose, motion, trip) = unsafe {
                    (poses.get_mut(index), motions.get_mut(index), all_trips.get_mut(index))
                };
                let (frame, shift) = (&frames[index + 1], &shifts[index + 1]);
                let solid = &solids[index];
                let turn =
                    alight(pose, motion, &inertias[index], frame, &riders[index + 1], shift, dt);
                // A ball that spins takes its contact points along, though it stays where it is.
                trip.odometer += shift.way() + turn * solid.radius;
                let velocity = &motion.velocity;
                trip.speed = velocity.linear.length() + velocity.angular.length() * solid.rim;
                let spin = velocity.angular.length() * solid.radius;
                let rests = velocity.linear.length() + spin <= settings.sleep_speed;
                trip.rested = if rests { trip.rested + dt } else { 0.0 };
            }
        });
        for &body in driving.iter() {
            let index = body as usize;
            let velocity = bodies.motions[index].velocity;
            let trip = &mut trips[index];
            let solid = &bodies.solids[index];
            let [rim, radius] =
                [solid.rim, solid.radius].map(|arm| by_turning(velocity.angular.length(), arm));
            trip.speed = velocity.linear.length() + rim;
            trip.odometer += (velocity.linear.length() + radius) * dt;
            bodies.drift(index, dt);
        }
    }
}

/// A few things, without memory of its own.
struct List<T> {
    items: [Option<T>; COLOURS],
    len: usize,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: [const { None }; COLOURS], len: 0 }
    }
}

impl<T> List<T> {
    fn push(&mut self, item: T) {
        self.items[self.len] = Some(item);
        self.len += 1;
    }

    fn items(&self) -> &[Option<T>] {
        &self.items[..self.len]
    }
}

/// A worker's part of a colour's blocks; all of them are the first worker's if they come one after another.
#[allow(unsafe_code)]
fn own<'a, T>(worker: &Worker<'_>, blocks: &Parted<'a, T>, alone: bool) -> &'a mut [T] {
    let part = match (alone, worker.index) {
        (false, _) => worker.part(blocks.len()),
        (true, 0) => 0..blocks.len(),
        (true, _) => 0..0,
    };
    // SAFETY: parts are disjoint, and a worker is done with its part when it asks again.
    unsafe { blocks.part_mut(part) }
}

/// Has every worker do its part of the contacts of one colour after the other.
fn each_contact(
    worker: &Worker<'_>,
    contacts: &[Option<Contacts<'_>>],
    task: impl Fn(&mut [ContactBlock]),
) {
    for (blocks, alone) in contacts.iter().flatten() {
        task(own(worker, blocks, *alone));
        worker.wait();
    }
}

/// The same for joints.
fn each_tie(
    worker: &Worker<'_>,
    tied: &[Option<Joints<'_>>],
    task: impl Fn(&mut [BallBlock], &mut [LineBlock]),
) {
    for (balls, lines, alone) in tied.iter().flatten() {
        task(own(worker, balls, *alone), own(worker, lines, *alone));
        worker.wait();
    }
}

impl Notes {
    pub(super) fn begin_telling(&mut self) {
        self.changes.clear();
        self.hits.clear();
        self.contacts = 0;
    }

    /// Notes what a contact did in the step. Whether the surfaces met.
    fn look(
        &mut self,
        block: &ContactBlock,
        lane: usize,
        key: (u32, u32),
        rest_speed: f64,
        place: impl Fn(usize) -> Vec3,
    ) -> bool {
        let points = &block.rows.points[..block.lens[lane] as usize];
        let mut push = 0.0;
        let (mut deepest, mut fastest) = (f64::NEG_INFINITY, None);
        for (at, point) in points.iter().enumerate() {
            let total = point.total.0[lane];
            push += total;
            deepest = deepest.max(-point.gap.0[lane]);
            let speed = -block.known.approach[at].0[lane];
            if total > 0.0 && speed > rest_speed && fastest.is_none_or(|(_, known)| known < speed) {
                fastest = Some((at, speed));
            }
        }
        self.contacts += points.len();
        if let Some((at, speed)) = fastest {
            let normal = get(&block.rows.normal, lane);
            self.hits.push((key, Hit { position: place(at), normal, speed }, push));
        }
        push > 0.0 || deepest >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Shape;
    use crate::math::{Vec3, rotation};
    use crate::{BodyDef, JointDef, Material, Settings, World};

    /// Sixty bodies of all kinds that fall on a turntable, some of them tied together.
    fn heap(narrow: bool) -> World {
        let mut world =
            World::new(Settings { max_exact_bodies: 0, ..Settings::default() }).unwrap();
        world.swept.narrow = narrow;
        let material = Material::new(0.3, 0.5).unwrap();
        let table = Shape::cylinder(5.0, 0.5).unwrap();
        let table = BodyDef::environment(table).material(material).angular_velocity(Vec3::Z);
        world.add_body(table.position(Vec3::Z * -0.5)).unwrap();
        let mut last = None;
        for n in 0..60 {
            let shape = match n % 3 {
                0 => Shape::sphere(0.3),
                1 => Shape::cuboid(Vec3::new(0.3, 0.2, 0.25)),
                _ => Shape::capsule(0.15, 0.2),
            };
            let (x, y, z) = (f64::from(n % 4), f64::from(n / 4 % 4), f64::from(n / 16));
            let body = BodyDef::inertial(shape.unwrap()).mass(1.0 + x).material(material);
            let body = body.orientation(rotation(Vec3::new(0.6, 0.0, 0.8), 0.37 * f64::from(n)));
            let id =
                world.add_body(body.position(Vec3::new(0.7 * x + 0.1 * z, 0.7 * y, 0.5 + 0.7 * z)));
            let id = id.unwrap();
            if let Some(last) = last.replace(id).filter(|_| n % 5 == 0) {
                let joint = match n % 4 {
                    0 => JointDef::ball(last, id).anchors(Vec3::X * 0.35, Vec3::X * -0.35),
                    1 => JointDef::rod(last, id, 0.8),
                    2 => JointDef::rope(last, id, 0.8),
                    _ => JointDef::spring(last, id, 0.7, 200.0, 1.0),
                };
                world.add_joint(joint).unwrap();
            }
        }
        world
    }

    #[test]
    fn lanes_of_either_kind_end_in_the_same_bits() {
        let (mut wide, mut narrow) = (heap(false), heap(true));
        for step in 0..90 {
            wide.step(1.0 / 60.0).unwrap();
            narrow.step(1.0 / 60.0).unwrap();
            assert_eq!(wide.state_hash(), narrow.state_hash(), "step {step}");
        }
        assert!(wide.report().contacts > 60);
    }
}
