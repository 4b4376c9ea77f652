//! The substeps of a swept step: one call in which all workers go through the same phases in parallel.
#![allow(unsafe_code)]

use super::forces::{external_kick, force_impulses};
use super::residual::ContactResidual;
use super::sweep::{Pass, Softening, Softness, Sweep};
use super::sweep_joints::SweepJoints;
use super::work::{PassKind, SharedWork};
use super::{Swept, WorkerOutput};
use crate::bodies::{BodySet, Potential};
use crate::collision::{ContactPair, ExpectedMotion, Hit, turning};
use crate::constraints::contact_block::{ContactBlock, get};
use crate::constraints::graph::{COLORS, OVERFLOW};
use crate::constraints::joint_block::{
    Ahead, BallJointBlock, DistanceJointBlock, JointBlocks, JointColor, JointedBody, PrepareJoints,
};
use crate::constraints::lanes::SharedBodies;
use crate::constraints::prepare::Prepare;
use crate::constraints::solver_bodies::{
    DeltaPose, Drift, Kick, RotatingBody, SolverBodies, VelocityDelta, gather, scatter,
};
use crate::constraints::solver_rows::{SolverRows, SweptContact};
use crate::constraints::{Constraints, Contacts};
use crate::math::Vec3;
use crate::model::Model;
use crate::settings::{Settings, StepTime};
use crate::simd::{self, Four};
use crate::solver::Residual;
use crate::threads::{DisjointSlice, ThreadPool, Worker};

/// Phase per substep, rad, of the spring that corrects overlaps. A stiffer spring sags less under load; with a much
/// stiffer one, walls of 50 cubes begin to sway, because two sweeps per substep transmit loads too slowly for it.
const PHASE: f64 = 0.2 * std::f64::consts::TAU;
/// Damping ratio of that spring.
const DAMPING: f64 = 15.0;

/// Phase per substep, rad, of the spring that corrects joint gaps.
const JOINT_PHASE: f64 = 0.25 * std::f64::consts::TAU;
/// Damping ratio of that spring.
const JOINT_DAMPING: f64 = 5.0;

/// Number of sweeps in which bodies that hit several others share the impulses of restitution.
const RESTITUTION_SWEEPS: usize = 4;

/// The contact blocks of a color and their rows, and whether one worker has to solve them one after another.
type ContactColorSlice<'a> = (DisjointSlice<'a, ContactBlock>, DisjointSlice<'a, SolverRows>, bool);
/// The joint blocks of a color, and whether one worker has to solve them one after another.
pub(super) type JointColorSlice<'a> =
    (DisjointSlice<'a, BallJointBlock>, DisjointSlice<'a, DistanceJointBlock>, bool);

/// The data that all workers share while they solve a step.
///
/// Every worker of one task calls [`run`](Self::run) once, and all go through the same phases in the same order,
/// separated by barriers. In the phases over bodies, a body is written by the worker that has it in its range of
/// `awake` or `kinematic`; in the phases over blocks, [`SharedBodies`] holds. Every pair and every joint is in one
/// block. The methods are `unsafe` because they rely on this.
pub(super) struct Solve<'a> {
    /// Bodies at the start of the step.
    pub(super) start: &'a BodySet,
    potentials: &'a [Potential],
    pub(super) settings: &'a Settings,
    pub(super) dt: f64,
    /// Duration of a substep, s.
    h: f64,
    pub(super) awake: &'a [u32],
    kinematic: &'a [u32],
    any_restitution: bool,
    any_fast: bool,
    /// Whether to use wide lanes.
    pub(super) wide: bool,
    pub(super) bodies: SharedBodies<'a>,
    kicks: DisjointSlice<'a, VelocityDelta>,
    contacts: &'a [Option<ContactColorSlice<'a>>],
    pub(super) joints: &'a [Option<JointColorSlice<'a>>],
    /// By body: the colors of its joints, one bit each.
    joint_colors: &'a [u64],
    jointed: DisjointSlice<'a, JointedBody>,
    /// Whether the frame of any of these rotates.
    any_rotates: bool,
    pub(super) pairs: DisjointSlice<'a, ContactPair>,
    pub(super) contact_residuals: DisjointSlice<'a, Option<ContactResidual>>,
    pub(super) joint_residuals: DisjointSlice<'a, Option<Residual>>,
    pub(super) work: SharedWork<'a>,
    pub(super) outputs: DisjointSlice<'a, WorkerOutput>,
}

impl Swept {
    /// Solves a step: finds the velocities and displacements of all bodies.
    pub(crate) fn solve(
        &mut self,
        model: &Model,
        contacts: &mut Contacts,
        threads: &mut ThreadPool,
        time: StepTime,
    ) {
        let Model { bodies, potentials, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let (StepTime { dt, h }, pairs) = (time, &mut collision.pairs);
        let wide = constraints.wide();
        let Constraints { contacts: graph, joints: joint_graph, bodies: solver_bodies, .. } =
            constraints;
        let mut any_rotates = false;
        for jointed in &mut joint_graph.bodies {
            let body = jointed.body as usize;
            let inertia = &bodies.inertias[body];
            jointed.rotates_frame =
                inertia.mass > 0.0 && !inertia.isotropic && !graph.has_contacts(jointed.body);
            if jointed.rotates_frame {
                jointed.rotation = bodies.poses[body].rotation;
                any_rotates = true;
            }
        }
        if cfg!(debug_assertions) {
            graph.check_colors(bodies);
            graph.check_slots(pairs);
            joint_graph.check_colors(bodies);
        }
        let Self { awake, kinematic, outputs, residuals, work, .. } = self;
        let (shared, kicks) = solver_bodies.shared();
        residuals.begin(settings.audit, pairs.all.len(), joint_graph.joint_count);
        let counts = [bodies.poses.len(), pairs.all.len(), joint_graph.joint_count];
        work.begin(settings.audit, counts);
        let mut contacts = ColorList::<ContactColorSlice<'_>>::default();
        for (number, color) in graph.colors.iter_mut().enumerate() {
            if !color.blocks.is_empty() {
                let blocks = DisjointSlice::new(&mut color.blocks);
                let rows = DisjointSlice::new(&mut color.rows);
                contacts.push((blocks, rows, number == OVERFLOW));
            }
        }
        let mut colors = ColorList::<JointColorSlice<'_>>::default();
        for (number, JointColor { balls, distances, .. }) in
            joint_graph.colors.iter_mut().enumerate()
        {
            if !balls.is_empty() || !distances.is_empty() {
                let (balls, distances) = (DisjointSlice::new(balls), DisjointSlice::new(distances));
                colors.push((balls, distances, number == OVERFLOW));
            }
        }
        let solve = Solve {
            start: bodies,
            potentials,
            settings,
            dt,
            h,
            awake,
            kinematic,
            any_restitution: self.any_restitution,
            any_fast: self.any_fast,
            wide,
            bodies: shared,
            kicks,
            contacts: contacts.items(),
            joints: colors.items(),
            joint_colors: &joint_graph.used_colors,
            jointed: DisjointSlice::new(&mut joint_graph.bodies),
            any_rotates,
            pairs: DisjointSlice::new(&mut pairs.all),
            contact_residuals: DisjointSlice::new(&mut residuals.contacts),
            joint_residuals: DisjointSlice::new(&mut residuals.joints),
            work: work.shared(),
            outputs: DisjointSlice::new(outputs),
        };
        // SAFETY: every worker of this task calls it once, and colors hold no inertial body twice.
        threads.run(|worker| unsafe { solve.run(worker) });
    }

    /// Writes poses and velocities of all swept bodies, and the motion bounds of all that moved. Kinematic bodies are
    /// moved by the substeps of exact bodies, in which their poses matter.
    pub(crate) fn finalize(
        &mut self,
        model: &mut Model,
        contacts: &mut Contacts,
        threads: &mut ThreadPool,
        dt: f64,
    ) {
        let Model { bodies, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let motion_bounds = &mut collision.motion_bounds;
        let SolverBodies { velocities, delta_poses, frames, .. } = &constraints.bodies;
        let Self { awake, kinematic, outputs, .. } = self;
        let BodySet { poses, motions, inertias, extents, .. } = &mut *bodies;
        let (poses, motions, all_motion_bounds) = (
            DisjointSlice::new(poses),
            DisjointSlice::new(motions),
            DisjointSlice::new(motion_bounds),
        );
        let (awake, inertias, extents) = (&*awake, &*inertias, &*extents);
        let outputs_of = DisjointSlice::new(outputs);
        let (margin, fall) = (settings.margin, settings.gravity.length() * dt * dt);
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let escaped = unsafe { &mut outputs_of.get_mut(worker.index).escaped };
            escaped.clear();
            for &body in &awake[worker.range(awake.len())] {
                let index = body as usize;
                // SAFETY: every body is in one worker's range.
                let (pose, motion, motion_bound) = unsafe {
                    (poses.get_mut(index), motions.get_mut(index), all_motion_bounds.get_mut(index))
                };
                let (frame, delta_pose) = (&frames[index + 1], &delta_poses[index + 1]);
                let extent = &extents[index];
                let before = motion.velocity;
                let turn = scatter(
                    pose,
                    motion,
                    &inertias[index],
                    frame,
                    &velocities[index + 1],
                    delta_pose,
                    dt,
                );
                // `radius`, not `rotation_radius`: a ball that spins in place carries its contact points along.
                motion_bound.odometer += delta_pose.distance() + turn * extent.radius;
                if motion_bound.odometer > motion_bound.bounds_budget {
                    let expected = ExpectedMotion::new(&before, extent, margin, fall, dt);
                    let turn = turn * extent.rotation_radius;
                    if !expected.contains(delta_pose.translation(), turn) {
                        escaped.push(body);
                    }
                }
                let velocity = &motion.velocity;
                motion_bound.speed =
                    velocity.linear.length() + velocity.angular.length() * extent.rotation_radius;
                let spin = velocity.angular.length() * extent.radius;
                let rests = velocity.linear.length() + spin <= settings.sleep_speed;
                motion_bound.sleep_timer = if rests { motion_bound.sleep_timer + dt } else { 0.0 };
            }
        });
        for &body in kinematic.iter() {
            let index = body as usize;
            let velocity = bodies.motions[index].velocity;
            let motion_bound = &mut motion_bounds[index];
            let extent = &bodies.extents[index];
            let [rotation_radius, radius] =
                [extent.rotation_radius, extent.radius].map(|arm| turning(velocity.angular, arm));
            motion_bound.speed = velocity.linear.length() + rotation_radius;
            motion_bound.odometer += (velocity.linear.length() + radius) * dt;
        }
        for &body in outputs.iter().flat_map(|output| &output.escaped) {
            collision.cover(bodies, body);
        }
    }
}

impl Solve<'_> {
    /// Solves one worker's part of a step.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn run(&self, worker: &Worker<'_>) {
        let rate = self.h.recip();
        let max_speed = self.settings.position_correction_speed;
        let joint_soft = Softness::new(JOINT_PHASE, JOINT_DAMPING, self.h);
        let soft = Softness::new(PHASE, DAMPING, self.h);
        let [joint_pass, pass] =
            [joint_soft, soft].map(|soft| Pass::Biased(Softening { rate, soft, max_speed }));
        let ahead = |substep: u32| Ahead {
            time: self.drift_time(substep),
            bias_rate: joint_soft.bias_rate,
        };
        let relax = Pass::Relax { rate };
        // SAFETY: the caller's contract; barriers separate the phases.
        unsafe {
            self.begin_bodies(worker);
            worker.barrier();
            self.prepare_contacts(worker);
            self.move_joints(worker, 0.5 * self.h, true);
            self.prepare_joints(worker, ahead(0));
            for substep in 0..self.settings.substeps {
                if self.any_fast && substep > 0 {
                    self.renew_contacts(worker, (f64::from(substep) + 0.5) * self.h);
                }
                self.begin_pass(worker);
                self.kick(worker, substep == 0);
                worker.barrier();
                self.sweep(worker, joint_pass, pass, ahead(substep));
                self.measure_pass(worker, PassKind::Kick);
                let time = self.drift_time(substep);
                self.drift(worker, time);
                worker.barrier();
                self.move_joints(worker, time, false);
                self.begin_pass(worker);
                self.sweep(worker, relax, relax, ahead(substep + 1));
                self.measure_pass(worker, PassKind::Relax(time * rate));
            }
            if self.settings.audit {
                self.measure_friction(worker);
                worker.barrier();
            }
            if self.any_restitution {
                self.begin_pass(worker);
                self.apply_restitution(worker);
                self.measure_pass(worker, PassKind::Restitution);
            }
            // Each worker has its own output.
            let output = self.outputs.get_mut(worker.index);
            output.begin_report();
            if self.settings.audit {
                self.measure_joints(worker, rate);
                self.measure_normals(worker, rate);
            }
            self.record_contacts(worker, output);
        }
    }

    /// Gathers this worker's bodies, computes the forces on them, and moves them by half of the first substep.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn begin_bodies(&self, worker: &Worker<'_>) {
        let Self { start, potentials, settings, dt, h, bodies, .. } = *self;
        for &body in &self.awake[worker.range(self.awake.len())] {
            let index = body as usize;
            let has_joints = self.joint_colors.get(index).is_some_and(|&colors| colors != 0);
            let (frame, sweep_body) = gather(start, index, has_joints);
            let mut delta_pose = DeltaPose::default();
            delta_pose.drift::<Four>(&sweep_body, 0.5 * h);
            let acting = force_impulses(start, potentials, settings.gravity, body, dt);
            let kick = external_kick(start, &acting, &frame, body, h / dt);
            // SAFETY: this body is in this worker's range; other workers read it only after a barrier.
            unsafe {
                *self.kicks.get_mut(index + 1) = kick;
                *bodies.warm_starts.get_mut(index + 1) = VelocityDelta::default();
                *bodies.delta_poses.get_mut(index + 1) = delta_pose;
                *bodies.frames.get_mut(index + 1) = frame;
                *bodies.velocities.get_mut(index + 1) = sweep_body;
                if settings.audit {
                    self.work.bodies.get_mut(index).set_forces(&acting, h / dt);
                    *self.work.forces.get_mut(index + 1) = acting.forces * (h / dt);
                }
            }
        }
        for &body in &self.kinematic[worker.range(self.kinematic.len())] {
            // SAFETY: this body is in this worker's range; other workers read it only after a barrier.
            unsafe {
                let sweep_body = bodies.velocities.get(body as usize + 1);
                bodies.delta_poses.get_mut(body as usize + 1).drift::<Four>(sweep_body, 0.5 * h);
            }
        }
    }

    /// Returns how long bodies move in a substep: the last one ends with half a drift, and the next step begins with the
    /// other half.
    fn drift_time(&self, substep: u32) -> f64 {
        if substep + 1 == self.settings.substeps { 0.5 * self.h } else { self.h }
    }

    /// Moves the frames that rotate to the present poses of their bodies, after a motion of `time`, and waits for it; the
    /// `first` time before the first substep.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn move_joints(&self, worker: &Worker<'_>, time: f64, first: bool) {
        if !self.any_rotates {
            return;
        }
        // SAFETY: ranges are disjoint, each body is listed once, and a barrier follows.
        for jointed in unsafe { self.jointed.range_mut(worker.range(self.jointed.len())) } {
            if !jointed.rotates_frame {
                continue;
            }
            let body = jointed.body as usize;
            // SAFETY: this body is in this worker's range; other workers access it only after a barrier.
            let (frame, delta_pose, sweep_body, warm_start, kick) = unsafe {
                (
                    self.bodies.frames.get_mut(body + 1),
                    self.bodies.delta_poses.get_mut(body + 1),
                    self.bodies.velocities.get_mut(body + 1),
                    self.bodies.warm_starts.get_mut(body + 1),
                    self.kicks.get_mut(body + 1),
                )
            };
            RotatingBody {
                inertia: &self.start.inertias[body],
                start: &self.start.poses[body],
                rotation: &mut jointed.rotation,
                frame,
                sweep_body,
                delta_pose,
                warm_start,
                kick,
            }
            .rotate(time, first);
        }
        worker.barrier();
    }

    /// Prepares the rows of all joints.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn prepare_joints(&self, worker: &Worker<'_>, ahead: Ahead) {
        // SAFETY: as in `prepare_contacts`.
        unsafe {
            self.each_joint_color(worker, |blocks| {
                simd::run(self.wide, PrepareJoints::new(blocks, self.bodies, ahead));
            });
        }
    }

    /// Prepares the rows of all contacts.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn prepare_contacts(&self, worker: &Worker<'_>) {
        // SAFETY: the caller's contract. No other worker has these blocks, nor, by the coloring, their inertial bodies,
        // until the barrier after the color.
        unsafe {
            self.each_contact_color(worker, |blocks, rows| {
                simd::run(self.wide, Prepare::new(blocks, rows, self.bodies));
            });
        }
    }

    /// Sweeps once over all joints and contacts. A relax sweep renews the rows of joints for what is `ahead`.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn sweep(&self, worker: &Worker<'_>, joint_pass: Pass, pass: Pass, ahead: Ahead) {
        // SAFETY: as in `prepare_contacts`.
        unsafe {
            self.each_joint_color(worker, |blocks| {
                simd::run(self.wide, SweepJoints::new(blocks, self.bodies, joint_pass, ahead));
            });
            self.sweep_contacts(worker, pass);
        }
    }

    /// # Safety
    /// See [`Solve`].
    unsafe fn sweep_contacts(&self, worker: &Worker<'_>, pass: Pass) {
        // SAFETY: as in `prepare_contacts`.
        unsafe {
            self.each_contact_color(worker, |blocks, rows| {
                simd::run(self.wide, Sweep::new(blocks, rows, self.bodies, pass));
            });
        }
    }

    /// # Safety
    /// See [`Solve`].
    unsafe fn apply_restitution(&self, worker: &Worker<'_>) {
        let speed = self.settings.rest_speed;
        // SAFETY: the caller's contract.
        unsafe {
            self.sweep_contacts(worker, Pass::RestitutionEnergy { speed });
            for _ in 0..RESTITUTION_SWEEPS {
                self.sweep_contacts(worker, Pass::Restitution { speed });
            }
        }
    }

    /// Applies forces and warm start to the velocities of this worker's bodies.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn kick(&self, worker: &Worker<'_>, first: bool) {
        let awake = &self.awake[worker.range(self.awake.len())];
        // SAFETY: these bodies are in this worker's range; other workers read them only after a barrier.
        simd::run(self.wide, unsafe { Kick::new(awake, self.bodies, self.kicks, first) });
    }

    /// Moves this worker's bodies by their velocities.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn drift(&self, worker: &Worker<'_>, time: f64) {
        for moving in [self.awake, self.kinematic] {
            let moving = &moving[worker.range(moving.len())];
            // SAFETY: these bodies are in this worker's range; other workers read them only after a barrier.
            simd::run(self.wide, unsafe { Drift::new(moving, self.bodies, time) });
        }
    }

    /// Records which pairs touch, and their impacts.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn record_contacts(&self, worker: &Worker<'_>, output: &mut WorkerOutput) {
        // SAFETY: the caller's contract. A pair is in one block.
        unsafe {
            self.each_contact(worker, |contact| {
                let SweptContact { block, lane, .. } = contact;
                let pair = self.pairs.get_mut(block.pairs[lane] as usize);
                let position = |at: usize| {
                    let pose = &self.start.poses[pair.bodies[0] as usize];
                    pose.transform_point(get(&block.cache.anchors[at][0], lane))
                };
                let key = pair.key();
                let touches = output.record(contact, key, self.settings.rest_speed, position);
                if touches != pair.touching {
                    pair.touching = touches;
                    output.changes.push((key, touches));
                }
            });
        }
    }

    /// Visits this worker's range of the contacts of all colors.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn each_contact(
        &self,
        worker: &Worker<'_>,
        mut visit: impl FnMut(SweptContact<'_>),
    ) {
        for (blocks, rows, _) in self.contacts.iter().flatten() {
            let range = worker.range(blocks.len());
            // SAFETY: ranges are disjoint, and `visit` has no other access to these blocks and rows.
            let (blocks, rows) =
                unsafe { (blocks.range_mut(range.clone()), rows.range_mut(range)) };
            for (block, rows) in blocks.iter().zip(&*rows) {
                for lane in (0..4).filter(|&lane| block.pairs[lane] != u32::MAX) {
                    visit(SweptContact { block, rows, lane });
                }
            }
        }
    }

    /// Calls `task` with this worker's range of each color's contacts in turn, with a barrier after each color.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn each_contact_color(
        &self,
        worker: &Worker<'_>,
        task: impl Fn(&mut [ContactBlock], &mut [SolverRows]),
    ) {
        for (blocks, rows, serial) in self.contacts.iter().flatten() {
            // SAFETY: a barrier ends the worker's use of its ranges.
            let (blocks, rows) = unsafe {
                (worker_blocks(worker, blocks, *serial), worker_blocks(worker, rows, *serial))
            };
            task(blocks, rows);
            worker.barrier();
        }
    }

    /// Calls `task` with this worker's range of each color's joints in turn, with a barrier after each color.
    ///
    /// # Safety
    /// See [`Solve`].
    unsafe fn each_joint_color(&self, worker: &Worker<'_>, task: impl Fn(JointBlocks<'_>)) {
        for (balls, distances, serial) in self.joints.iter().flatten() {
            // SAFETY: a barrier ends the worker's use of its ranges.
            task(unsafe {
                (worker_blocks(worker, balls, *serial), worker_blocks(worker, distances, *serial))
            });
            worker.barrier();
        }
    }
}

/// A list of at most one item per color, without heap allocation.
struct ColorList<T> {
    items: [Option<T>; COLORS],
    len: usize,
}

impl<T> Default for ColorList<T> {
    fn default() -> Self {
        Self { items: [const { None }; COLORS], len: 0 }
    }
}

impl<T> ColorList<T> {
    fn push(&mut self, item: T) {
        self.items[self.len] = Some(item);
        self.len += 1;
    }

    fn items(&self) -> &[Option<T>] {
        &self.items[..self.len]
    }
}

/// Returns a worker's range of a color's blocks; if `serial`, the first worker gets all of them.
///
/// # Safety
/// The worker has no other reference to these blocks, and passes a barrier before another worker can access them.
unsafe fn worker_blocks<'a, T>(
    worker: &Worker<'_>,
    blocks: &DisjointSlice<'a, T>,
    serial: bool,
) -> &'a mut [T] {
    let range = match (serial, worker.index) {
        (false, _) => worker.range(blocks.len()),
        (true, 0) => 0..blocks.len(),
        (true, _) => 0..0,
    };
    // SAFETY: the ranges of workers are disjoint.
    unsafe { blocks.range_mut(range) }
}

impl WorkerOutput {
    /// Clears the results that go to the report.
    pub(super) fn begin_report(&mut self) {
        self.changes.clear();
        self.hits.clear();
        self.contacts = 0;
    }

    /// Records the impact and the points of a contact. Returns whether the surfaces touched.
    fn record(
        &mut self,
        contact: SweptContact<'_>,
        key: (u32, u32),
        rest_speed: f64,
        position: impl Fn(usize) -> Vec3,
    ) -> bool {
        let SweptContact { block, rows, lane } = contact;
        let points = contact.points();
        let mut impulse = 0.0;
        let (mut deepest, mut fastest) = (f64::NEG_INFINITY, None);
        for (at, point) in points.iter().enumerate() {
            let total = point.total.0[lane];
            impulse += total;
            deepest = deepest.max(-point.gap.0[lane]);
            let speed = -rows.approach[at].0[lane];
            if total > 0.0 && speed > rest_speed && fastest.is_none_or(|(_, most)| most < speed) {
                fastest = Some((at, speed));
            }
        }
        self.contacts += points.len();
        if let Some((at, speed)) = fastest {
            let normal = get(&rows.normal, lane);
            self.hits.push((key, Hit { position: position(at), normal, speed }, impulse));
        }
        // A point that was found within the step has no gap at its start.
        impulse > 0.0 || deepest >= 0.0 && !block.is_fast(lane)
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Shape;
    use crate::math::{Vec3, rotation};
    use crate::{BodyDef, JointDef, Material, Settings, World};

    /// Sixty bodies of three shapes that fall on a turntable, some of them connected by joints of all kinds.
    fn heap(scalar: bool) -> World {
        let mut world =
            World::new(Settings { max_exact_bodies: Some(0), ..Settings::default() }).unwrap();
        world.contacts.constraints.scalar_lanes = scalar;
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
    fn wide_and_scalar_lanes_give_the_same_bits() {
        let (mut wide, mut scalar) = (heap(false), heap(true));
        for step in 0..90 {
            wide.step(1.0 / 60.0).unwrap();
            scalar.step(1.0 / 60.0).unwrap();
            assert_eq!(wide.state_hash(), scalar.state_hash(), "step {step}");
        }
        assert!(wide.report().contacts > 60);
    }
}
