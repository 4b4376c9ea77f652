//! The substeps of a swept world: one call in which all workers go through the same stages side by side.

use super::contact_block::{ContactBlock, get};
use super::graph::{COLORS, OVERFLOW};
use super::joints::{BallJointBlock, DistanceJointBlock, JointColor, PrepareJoints, SweepJoints};
use super::prepare::Prepare;
use super::residual::{self, Ends, Speeds};
use super::sweep::{Pass, Softening, Softness, Sweep};
use super::sweep_bodies::{self, by_turning, external_kick, gather, scatter};
use super::{Swept, WorkerOutput};
use crate::bodies::{BodySet, Potential};
use crate::collision::Hit;
use crate::joints::JointSet;
use crate::math::Vec3;
use crate::settings::Settings;
use crate::simd;
use crate::threads::{DisjointSlice, Worker};

/// Overlaps go away as if by a spring that turns by this, rad, in a substep, and so many times critically damped. Firmer
/// ones sag less under load; much firmer, and walls of 50 cubes begin to sway, because two sweeps a substep pass
/// loads on too slowly for it.
const PHASE: f64 = 0.2 * std::f64::consts::TAU;
const DAMPING: f64 = 15.0;

/// The same for joints.
const JOINT_PHASE: f64 = 0.25 * std::f64::consts::TAU;
const JOINT_DAMPING: f64 = 5.0;

/// A colour: its blocks, and whether one worker has to solve them one after another.
type Contacts<'a> = (DisjointSlice<'a, ContactBlock>, bool);
type Joints<'a> = (DisjointSlice<'a, BallJointBlock>, DisjointSlice<'a, DistanceJointBlock>, bool);

impl Swept {
    /// Finds how all bodies move in a step.
    #[allow(unsafe_code)]
    pub(crate) fn solve(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        potentials: &[Potential],
        settings: &Settings,
        dt: f64,
    ) {
        let wide = simd::is_wide() && !self.narrow;
        let Self {
            awake,
            kinematic,
            graph,
            joint_graph,
            pairs,
            threads,
            outputs,
            any_restitution,
            ..
        } = self;
        let Self { sweep_bodies, delta_poses, frames, warm_starts, kicks, residuals, .. } = self;
        residuals.begin(settings.audit, pairs.all.len(), joints.joints.len());
        let contact_residuals = DisjointSlice::new(&mut residuals.contacts);
        let joint_residuals = DisjointSlice::new(&mut residuals.joints);
        let sweep_bodies = DisjointSlice::new(sweep_bodies);
        let delta_poses = DisjointSlice::new(delta_poses);
        let frames = DisjointSlice::new(frames);
        let warm_starts = DisjointSlice::new(warm_starts);
        let kicks = DisjointSlice::new(kicks);
        let pairs = DisjointSlice::new(&mut pairs.all);
        let shared_outputs = DisjointSlice::new(outputs);
        let mut contacts = List::<Contacts<'_>>::default();
        for (number, color) in graph.colors.iter_mut().enumerate() {
            if !color.blocks.is_empty() {
                contacts.push((DisjointSlice::new(&mut color.blocks), number == OVERFLOW));
            }
        }
        let mut joint_colors = List::<Joints<'_>>::default();
        for (number, JointColor { balls, lines, .. }) in joint_graph.colors.iter_mut().enumerate() {
            if !balls.is_empty() || !lines.is_empty() {
                joint_colors.push((
                    DisjointSlice::new(balls),
                    DisjointSlice::new(lines),
                    number == OVERFLOW,
                ));
            }
        }
        let (contacts, joint_colors) = (contacts.items(), joint_colors.items());
        let substeps = settings.substeps;
        let h = dt / f64::from(substeps);
        let rate = h.recip();
        let softening = |phase: f64, damping: f64| {
            let soft = Softness::new(phase, damping, h);
            Softening { rate, soft, most: settings.position_correction_speed }
        };
        let soft = Pass::Biased(softening(PHASE, DAMPING));
        let firm = Pass::Biased(softening(JOINT_PHASE, JOINT_DAMPING));
        let relax = Pass::Relax { rate };
        let (awake, kinematic, any_restitution) = (&*awake, &*kinematic, *any_restitution);
        let start = bodies;
        threads.run(|worker| {
            let mine = &awake[worker.range(awake.len())];
            for &body in mine {
                let index = body as usize;
                let (frame, sweep_body) = gather(start, index);
                // SAFETY: every body is in one worker's part; others read it behind a wait.
                unsafe {
                    *kicks.get_mut(index + 1) =
                        external_kick(start, potentials, settings.gravity, &frame, body, [dt, h]);
                    *warm_starts.get_mut(index + 1) = sweep_bodies::VelocityDelta::default();
                    let mut delta_pose = sweep_bodies::DeltaPose::default();
                    delta_pose.drift(&sweep_body, 0.5 * h);
                    *delta_poses.get_mut(index + 1) = delta_pose;
                    *frames.get_mut(index + 1) = frame;
                    *sweep_bodies.get_mut(index + 1) = sweep_body;
                }
            }
            for &body in &kinematic[worker.range(kinematic.len())] {
                // SAFETY: every body is in one worker's part; others read it behind a wait.
                unsafe {
                    let sweep_body = sweep_bodies.get(body as usize + 1);
                    delta_poses.get_mut(body as usize + 1).drift(sweep_body, 0.5 * h);
                }
            }
            worker.barrier();
            each_joint_color(worker, joint_colors, |balls, lines| {
                simd::run(wide, PrepareJoints { balls, lines, sweep_bodies, frames, warm_starts });
            });
            each_contact_color(worker, contacts, |blocks| {
                simd::run(wide, Prepare { blocks, sweep_bodies, frames, warm_starts });
            });
            let sweep_all = |joint_pass: Pass, pass: Pass| {
                each_joint_color(worker, joint_colors, |balls, lines| {
                    simd::run(
                        wide,
                        SweepJoints { balls, lines, sweep_bodies, delta_poses, pass: joint_pass },
                    );
                });
                each_contact_color(worker, contacts, |blocks| {
                    simd::run(wide, Sweep { blocks, sweep_bodies, delta_poses, pass });
                });
            };
            for substep in 0..substeps {
                for &body in mine {
                    let index = body as usize + 1;
                    // SAFETY: every body is in one worker's part; others read it behind a wait.
                    unsafe {
                        let push = warm_starts.get_mut(index);
                        sweep_bodies.get_mut(index).kick(kicks.get(index), push, substep == 0);
                    }
                }
                worker.barrier();
                sweep_all(firm, soft);
                let time = if substep + 1 == substeps { 0.5 * h } else { h };
                for &body in mine.iter().chain(&kinematic[worker.range(kinematic.len())]) {
                    // SAFETY: every body is in one worker's part; others read it behind a wait.
                    unsafe {
                        delta_poses
                            .get_mut(body as usize + 1)
                            .drift(sweep_bodies.get(body as usize + 1), time);
                    }
                }
                worker.barrier();
                sweep_all(relax, relax);
            }
            // SAFETY: nobody writes bodies between two waits.
            let ends = |block: [[u32; 4]; 2], lane: usize| unsafe {
                let [a, b] = block.map(|side| side[lane] as usize);
                Ends {
                    sweep_bodies: [sweep_bodies.get(a), sweep_bodies.get(b)],
                    delta_poses: [delta_poses.get(a), delta_poses.get(b)],
                }
            };
            if settings.audit {
                for (blocks, _) in contacts.iter().flatten() {
                    for block in own(worker, blocks, false) {
                        for lane in (0..4).filter(|&lane| block.pairs[lane] != u32::MAX) {
                            let found = residual::friction(block, lane, &ends(block.bodies, lane));
                            // SAFETY: a pair is in one block.
                            unsafe {
                                *contact_residuals.get_mut(block.pairs[lane] as usize) =
                                    Some(found);
                            }
                        }
                    }
                }
                worker.barrier();
            }
            if any_restitution {
                each_contact_color(worker, contacts, |blocks| {
                    let pass = Pass::Restitution { speed: settings.rest_speed };
                    simd::run(wide, Sweep { blocks, sweep_bodies, delta_poses, pass });
                });
            }
            // SAFETY: each worker has its own notes.
            let outputs = unsafe { shared_outputs.get_mut(worker.index) };
            outputs.begin_report();
            if settings.audit {
                for (balls, lines, _) in joint_colors.iter().flatten() {
                    for block in own(worker, balls, false) {
                        for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                            let found = residual::ball(block, lane, &ends(block.bodies, lane));
                            // SAFETY: a joint is in one block.
                            unsafe {
                                *joint_residuals.get_mut(block.joints[lane] as usize) = Some(found);
                            }
                        }
                    }
                    for block in own(worker, lines, false) {
                        for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                            let found =
                                residual::line(block, lane, &ends(block.bodies, lane), rate);
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
                            let ends = ends(block.bodies, lane);
                            // SAFETY: a pair is in one block.
                            let found =
                                unsafe { contact_residuals.get_mut(block.pairs[lane] as usize) };
                            if let Some(found) = found {
                                residual::normal(block, lane, &ends, &speeds, found);
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
                            pose.transform_point(get(&block.cache.anchors[at][0], lane))
                        };
                        let key = (pair.bodies[0], pair.bodies[1]);
                        let touches = outputs.record(block, lane, key, settings.rest_speed, place);
                        if touches != pair.touching {
                            pair.touching = touches;
                            outputs.changes.push((key, touches));
                        }
                    }
                }
            }
        });
    }

    /// Puts bodies where they came to.
    #[allow(unsafe_code)]
    pub(crate) fn finalize(&mut self, bodies: &mut BodySet, settings: &Settings, dt: f64) {
        let Self {
            awake,
            kinematic,
            sweep_bodies,
            delta_poses,
            frames,
            motion_bounds,
            threads,
            ..
        } = self;
        let BodySet { poses, motions, inertias, solids, .. } = bodies;
        let (poses, motions, all_motion_bounds) = (
            DisjointSlice::new(poses),
            DisjointSlice::new(motions),
            DisjointSlice::new(motion_bounds),
        );
        let (sweep_bodies, delta_poses, frames) = (&*sweep_bodies, &*delta_poses, &*frames);
        let (awake, inertias, solids) = (&*awake, &*inertias, &*solids);
        threads.run(|worker| {
            for &body in &awake[worker.range(awake.len())] {
                let index = body as usize;
                // SAFETY: every body is in one worker's part.
                let (pose, motion, motion_bound) = unsafe {
                    (poses.get_mut(index), motions.get_mut(index), all_motion_bounds.get_mut(index))
                };
                let (frame, delta_pose) = (&frames[index + 1], &delta_poses[index + 1]);
                let solid = &solids[index];
                let turn = scatter(
                    pose,
                    motion,
                    &inertias[index],
                    frame,
                    &sweep_bodies[index + 1],
                    delta_pose,
                    dt,
                );
                // A ball that spins takes its contact points along, though it stays where it is.
                motion_bound.odometer += delta_pose.way() + turn * solid.radius;
                let velocity = &motion.velocity;
                motion_bound.speed =
                    velocity.linear.length() + velocity.angular.length() * solid.rim;
                let spin = velocity.angular.length() * solid.radius;
                let rests = velocity.linear.length() + spin <= settings.sleep_speed;
                motion_bound.sleep_timer = if rests { motion_bound.sleep_timer + dt } else { 0.0 };
            }
        });
        for &body in kinematic.iter() {
            let index = body as usize;
            let velocity = bodies.motions[index].velocity;
            let motion_bound = &mut motion_bounds[index];
            let solid = &bodies.solids[index];
            let [rim, radius] =
                [solid.rim, solid.radius].map(|arm| by_turning(velocity.angular.length(), arm));
            motion_bound.speed = velocity.linear.length() + rim;
            motion_bound.odometer += (velocity.linear.length() + radius) * dt;
            bodies.drift(index, dt);
        }
    }
}

/// A few things, without memory of its own.
struct List<T> {
    items: [Option<T>; COLORS],
    len: usize,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: [const { None }; COLORS], len: 0 }
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
fn own<'a, T>(worker: &Worker<'_>, blocks: &DisjointSlice<'a, T>, alone: bool) -> &'a mut [T] {
    let part = match (alone, worker.index) {
        (false, _) => worker.range(blocks.len()),
        (true, 0) => 0..blocks.len(),
        (true, _) => 0..0,
    };
    // SAFETY: parts are disjoint, and a worker is done with its part when it asks again.
    unsafe { blocks.range_mut(part) }
}

/// Has every worker do its part of the contacts of one colour after the other.
fn each_contact_color(
    worker: &Worker<'_>,
    contacts: &[Option<Contacts<'_>>],
    task: impl Fn(&mut [ContactBlock]),
) {
    for (blocks, alone) in contacts.iter().flatten() {
        task(own(worker, blocks, *alone));
        worker.barrier();
    }
}

/// The same for joints.
fn each_joint_color(
    worker: &Worker<'_>,
    joint_colors: &[Option<Joints<'_>>],
    task: impl Fn(&mut [BallJointBlock], &mut [DistanceJointBlock]),
) {
    for (balls, lines, alone) in joint_colors.iter().flatten() {
        task(own(worker, balls, *alone), own(worker, lines, *alone));
        worker.barrier();
    }
}

impl WorkerOutput {
    pub(super) fn begin_report(&mut self) {
        self.changes.clear();
        self.hits.clear();
        self.contacts = 0;
    }

    /// Notes what a contact did in the step. Whether the surfaces met.
    fn record(
        &mut self,
        block: &ContactBlock,
        lane: usize,
        key: (u32, u32),
        rest_speed: f64,
        place: impl Fn(usize) -> Vec3,
    ) -> bool {
        let points = &block.rows.points[..block.counts[lane] as usize];
        let mut push = 0.0;
        let (mut deepest, mut fastest) = (f64::NEG_INFINITY, None);
        for (at, point) in points.iter().enumerate() {
            let total = point.total.0[lane];
            push += total;
            deepest = deepest.max(-point.gap.0[lane]);
            let speed = -block.cache.approach[at].0[lane];
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
