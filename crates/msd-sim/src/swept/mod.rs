//! Steps of large worlds: contacts are found once a step, kept in colours, and swept four at a time on all threads.
//!
//! A step is cut into substeps as in small worlds, and each is drift, kick, drift. In every substep impulses are
//! found by two sweeps over all contacts and joints: one with a bias that takes overlaps back, before bodies
//! move, and one without, so that nothing of it stays in their velocities. See `docs/add_to_ledger/swept.md`.

mod audit;
mod bodies;
mod broad_phase;
mod ccd;
mod contact_block;
mod graph;
mod islands;
mod joints;
mod lanes;
mod pairs;
mod prepare;
mod report;
mod residual;
mod sleep;
mod substeps;
mod sweep;
mod sweep_bodies;
mod thread_pool;

use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Hit};
use crate::geometry::{Manifold, Workspace};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;
use crate::threads::DisjointSlice;
use graph::ConstraintGraph;
use joints::JointGraph;
use pairs::{ManifoldChange, PairList};
pub(crate) use report::SweptContact;
use residual::Residuals;
use sleep::SleepingSet;
use sweep_bodies::{DeltaPose, Frame, MotionBounds, SweepBody, VelocityDelta};
use thread_pool::ThreadPool;

/// What a swept world knows from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Whether the last step wby sweeping's.
    pub(crate) running: bool,
    /// Whether the step is the first one after exact steps.
    starts: bool,
    /// Whether wide lanes are left alone where the machine has them. The bits do not depend on it.
    pub(crate) narrow: bool,
    /// Bodies about which nothing is known, and whether all pairs are to be looked at again.
    dirty_bodies: Vec<u32>,
    filters_dirty: bool,
    /// Bodies that impulses move, and environment bodies that move; whether they are to be listed anew.
    awake: Vec<u32>,
    kinematic: Vec<u32>,
    bodies_dirty: bool,
    sweep_bodies: Vec<SweepBody>,
    delta_poses: Vec<DeltaPose>,
    frames: Vec<Frame>,
    warm_starts: Vec<VelocityDelta>,
    kicks: Vec<VelocityDelta>,
    /// By body.
    motion_bounds: Vec<MotionBounds>,
    enlarged: Vec<bool>,
    pairs: PairList,
    graph: ConstraintGraph,
    joint_graph: JointGraph,
    joints_dirty: bool,
    /// How far contacts and joints were from their laws, where that is measured.
    residuals: Residuals,
    sleeping: SleepingSet,
    /// Whether a contact has a restitution.
    any_restitution: bool,
    threads: ThreadPool,
    outputs: Vec<WorkerOutput>,
    /// Those of workers that do not take part in this step.
    spare_outputs: Vec<WorkerOutput>,
    candidates: Vec<(u32, u32)>,
    dropped: Vec<u32>,
    new_contacts: Vec<(u32, Manifold)>,
    lost_contacts: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    /// Pairs that touched and may no longer collide.
    separated: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
}

/// What one worker finds.
#[derive(Clone, Debug, Default)]
struct WorkerOutput {
    workspace: Workspace,
    candidates: Vec<(u32, u32)>,
    moved: Vec<u32>,
    dropped: Vec<u32>,
    new_contacts: Vec<(u32, Manifold)>,
    lost_contacts: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
    contacts: usize,
    /// Sleeping islands that were touched, and pairs that passed each other.
    touched: Vec<u32>,
    passed: Vec<u32>,
    /// Bodies that are stopped, and after which part of the step.
    clamps: Vec<(u32, f64)>,
}

/// How many pairs ahead are called for.
const AHEAD: usize = 12;

/// Whether a pair without points may have come near enough to get some. One with points is looked at where these are,
/// however fast its bodies are.
fn needs_check(entry: &pairs::PairEntry, motion_bounds: &[MotionBounds], dt: f64) -> bool {
    let (a, b) = (&motion_bounds[entry.key.0 as usize], &motion_bounds[entry.key.1 as usize]);
    let come = a.odometer + b.odometer + (a.speed + b.speed) * dt;
    entry.recheck_distance < f64::INFINITY && come >= entry.recheck_distance
}

impl Swept {
    /// Clears the results of the last step, in a step in which no body can move.
    pub(crate) fn skip_step(&mut self) {
        self.outputs.iter_mut().for_each(WorkerOutput::begin_report);
        self.changes.clear();
        self.residuals.begin(false, 0, 0);
    }

    /// Stores the impulses of joints for the next step and for readers.
    pub(crate) fn write_back_joints(&self, joints: &mut JointSet) {
        self.joint_graph.write_back(joints);
    }

    /// Clears the user's forces on the bodies that moved.
    pub(crate) fn clear_user_forces(&self, bodies: &mut BodySet) {
        for &body in &self.awake {
            bodies.loads[body as usize].user = SpatialVector::ZERO;
        }
    }

    /// Everything is looked at anew in the next step of a swept world. Exact steps learn which bodies touch.
    pub(crate) fn stop(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let Self { pairs, sleeping, .. } = self;
        let near = pairs.order.iter().chain(&sleeping.order);
        let touching = near.filter(|entry| pairs.all[entry.number as usize].touching);
        let mut touching: Vec<(u32, u32)> = touching.map(|entry| entry.key).collect();
        touching.sort_unstable();
        collision.resume(bodies, &touching);
        self.motion_bounds.clear();
        self.sleeping.clear();
    }

    /// A body is new, or somewhere else.
    pub(crate) fn invalidate(&mut self, body: u32) {
        if !self.running {
            return;
        }
        // Its pairs know nothing of how far it had come.
        if let Some(motion_bound) = self.motion_bounds.get_mut(body as usize) {
            *motion_bound = MotionBounds::default();
        }
        self.dirty_bodies.push(body);
        self.bodies_dirty = true;
        let numbers: Vec<u32> = self.pairs.of(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.invalidate();
            let slot = pair.slot;
            if slot.is_some() {
                let (block, lane) = self.graph.block_mut(slot);
                block.clear_impulses(lane);
                block.set_recheck(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            } else {
                self.pairs.recheck(number);
            }
        }
        self.joints_dirty = true;
    }

    /// A body has another velocity.
    pub(crate) fn mark_velocity_dirty(&mut self, body: u32) {
        self.bodies_dirty = true;
        if let Some(motion_bound) = self.motion_bounds.get_mut(body as usize) {
            motion_bound.bounds_budget = motion_bound.bounds_budget.min(motion_bound.odometer);
            motion_bound.speed = f64::INFINITY;
        }
    }

    /// A body is gone.
    pub(crate) fn remove(&mut self, body: u32) {
        if !self.running {
            return;
        }
        let mut numbers: Vec<u32> = self.pairs.of(body).collect();
        for &number in &numbers {
            self.pairs.remove_contact(number, &mut self.graph);
        }
        numbers.sort_unstable();
        self.pairs.merge(&[], |_| None, &numbers);
        self.dropped.retain(|number| numbers.binary_search(number).is_err());
        self.dirty_bodies.retain(|&other| other != body);
        self.joints_dirty = true;
        self.bodies_dirty = true;
    }

    /// A body has another material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, body: u32) {
        let numbers: Vec<u32> = self.pairs.of(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.refresh_materials(bodies);
            let (friction, restitution, slot) = (pair.friction, pair.restitution, pair.slot);
            self.any_restitution |= restitution > 0.0;
            if slot.is_some() {
                let (block, lane) = self.graph.block_mut(slot);
                block.rows.friction.0[lane] = friction;
                block.cache.restitution.0[lane] = restitution;
                block.bounces |= restitution > 0.0;
            }
        }
    }

    /// Who may collide with whom, or joints, have changed.
    pub(crate) fn mark_filters_dirty(&mut self) {
        self.filters_dirty = true;
        self.joints_dirty = true;
    }

    /// Brings all near pairs up to date with the bodies' poses, and seats new contacts.
    #[allow(unsafe_code)]
    pub(crate) fn update_contacts(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        let Self { pairs, graph, motion_bounds, enlarged, threads, outputs, .. } = self;
        let order = DisjointSlice::new(&mut pairs.order);
        let all = DisjointSlice::new(&mut pairs.all);
        let mut colors = [const { None }; graph::COLORS];
        for (to, color) in colors.iter_mut().zip(&mut graph.colors) {
            *to = Some(DisjointSlice::new(&mut color.blocks));
        }
        let (motion_bounds, enlarged) = (&*motion_bounds, &*enlarged);
        let shared = DisjointSlice::new(outputs);
        threads.run(|worker| {
            // SAFETY: each worker has its own notes.
            let outputs = unsafe { shared.get_mut(worker.index) };
            outputs.dropped.clear();
            outputs.new_contacts.clear();
            outputs.lost_contacts.clear();
            let separated = |[a, b]: [u32; 2]| {
                (enlarged[a as usize] || enlarged[b as usize]) && !collision.is_near(a, b)
            };
            // SAFETY: parts are disjoint.
            let own = unsafe { order.range_mut(worker.range(order.len())) };
            let mut ahead = 0;
            for at in 0..own.len() {
                // Pairs are met in no order of memory: those that will be looked at are called for early.
                ahead = ahead.max(at + 1);
                while ahead < own.len() && ahead < at + AHEAD {
                    if needs_check(&own[ahead], motion_bounds, dt) {
                        all.prefetch(own[ahead].number as usize);
                    }
                    ahead += 1;
                }
                let entry = &mut own[at];
                if !needs_check(entry, motion_bounds, dt) {
                    continue;
                }
                if separated([entry.key.0, entry.key.1]) {
                    outputs.dropped.push(entry.number);
                    continue;
                }
                // SAFETY: a pair without a seat is touched by the worker that has it in its part of the order, one
                // with a seat, whose alarm is infinite, by the worker that has its block.
                let pair = unsafe { all.get_mut(entry.number as usize) };
                let change =
                    pair.update(bodies, motion_bounds, settings, dt, &mut outputs.workspace);
                entry.recheck_distance = pair.recheck_distance(settings);
                if let ManifoldChange::Points(manifold) = change {
                    entry.recheck_distance = f64::INFINITY;
                    outputs.new_contacts.push((entry.number, manifold));
                }
            }
            for blocks in colors.iter().flatten() {
                // SAFETY: parts are disjoint.
                for block in unsafe { blocks.range_mut(worker.range(blocks.len())) } {
                    for lane in 0..4 {
                        let number = block.pairs[lane];
                        if number == u32::MAX {
                            continue;
                        }
                        let [a, b] = [0, 1].map(|side: usize| block.bodies[side][lane] - 1);
                        let moved = enlarged[a as usize] || enlarged[b as usize];
                        let (ta, tb) = (&motion_bounds[a as usize], &motion_bounds[b as usize]);
                        let calm = ta.odometer + tb.odometer
                            <= block.cache.recheck_distance.0[lane]
                            && ta.speed + tb.speed <= block.cache.recheck_speed.0[lane];
                        if calm && !moved {
                            continue;
                        }
                        // SAFETY: as above.
                        let pair = unsafe { all.get_mut(number as usize) };
                        if moved && !collision.is_near(a, b) {
                            outputs.dropped.push(number);
                            continue;
                        }
                        match pair.update(
                            bodies,
                            motion_bounds,
                            settings,
                            dt,
                            &mut outputs.workspace,
                        ) {
                            ManifoldChange::Unchanged => {
                                block.set_recheck(lane, pair.recheck_limits(settings, dt))
                            }
                            ManifoldChange::Points(manifold) => {
                                let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
                                block.set_points(lane, &manifold, poses);
                                block.set_recheck(lane, pair.recheck_limits(settings, dt));
                            }
                            ManifoldChange::Separated => outputs.lost_contacts.push(number),
                        }
                    }
                }
            }
        });
        self.update_graph(bodies, settings, dt);
    }

    /// Takes contacts out of the graph that have ended, and takes new ones in: in the order of their pairs, whoever
    /// found them.
    fn update_graph(&mut self, bodies: &BodySet, settings: &Settings, dt: f64) {
        let Self {
            pairs,
            graph,
            outputs,
            dropped,
            new_contacts,
            lost_contacts,
            changes,
            any_restitution,
            ..
        } = self;
        dropped.clear();
        new_contacts.clear();
        lost_contacts.clear();
        changes.clear();
        for outputs in outputs.iter() {
            dropped.extend_from_slice(&outputs.dropped);
            new_contacts.extend_from_slice(&outputs.new_contacts);
            lost_contacts.extend_from_slice(&outputs.lost_contacts);
        }
        dropped.sort_unstable();
        lost_contacts.sort_unstable();
        new_contacts.sort_unstable_by_key(|(number, _)| *number);
        for &number in lost_contacts.iter().chain(dropped.iter()) {
            pairs.remove_contact(number, graph);
            let pair = &mut pairs.all[number as usize];
            if std::mem::take(&mut pair.touching) {
                changes.push(((pair.bodies[0], pair.bodies[1]), false));
            }
        }
        for (number, manifold) in new_contacts.iter() {
            let pair = &mut pairs.all[*number as usize];
            let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
            let slot = graph.add(&pair.new_contact(*number, settings), inertial);
            pair.slot = slot;
            *any_restitution |= pair.restitution > 0.0;
            let (block, lane) = graph.block_mut(slot);
            let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
            block.set_points(lane, manifold, poses);
            block.set_recheck(lane, pair.recheck_limits(settings, dt));
        }
    }
}
