//! The lists of bodies that move in a swept step, and the size of the buffers for them.

use super::Swept;
use super::sweep_bodies::{self, DeltaPose, Frame, SweepBody, VelocityDelta};
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;
use crate::threads::ThreadPool;

/// Approximate work per awake body, in microseconds of one thread.
const WORK_PER_BODY: usize = 1;
/// Approximate work per block of four contacts, in microseconds of one thread.
const WORK_PER_BLOCK: usize = 3;

impl Swept {
    /// Resizes the buffers to the number of bodies, and lists the bodies that move.
    pub(crate) fn begin_step(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        threads: &mut ThreadPool,
    ) {
        let count = bodies.poses.len();
        if !std::mem::replace(&mut self.running, true) {
            collision.begin_sweeping(bodies);
            (self.dirty.joints, self.dirty.lists) = (true, true);
            self.any_restitution = false;
        }
        self.sweep_bodies.resize(count + 1, SweepBody::default());
        self.delta_poses.resize(count + 1, DeltaPose::default());
        self.frames.resize(count + 1, Frame::default());
        self.warm_starts.resize(count + 1, VelocityDelta::default());
        self.kicks.resize(count + 1, VelocityDelta::default());
        self.graph.resize(count + 1);
        self.update_lists(bodies, joints);
        self.choose_thread_count(settings, threads);
        for at in 0..self.kinematic.len() {
            self.gather(bodies, self.kinematic[at] as usize);
        }
    }

    /// Updates the lists of bodies that move and of joints that act, if they may have changed.
    pub(crate) fn update_lists(&mut self, bodies: &BodySet, joints: &JointSet) {
        if std::mem::take(&mut self.dirty.lists) {
            let Self { awake, kinematic, sleeping, .. } = self;
            awake.clear();
            awake.extend(bodies.inertial.iter().filter(|&&body| !sleeping.contains(body)));
            kinematic.clear();
            let moves =
                |&&body: &&u32| bodies.motions[body as usize].velocity != SpatialVector::ZERO;
            kinematic.extend(bodies.environment.iter().filter(moves));
            // Environment bodies at rest are written only here: nothing changes them during a step.
            for &body in &bodies.environment {
                self.gather(bodies, body as usize);
            }
        }
        if std::mem::take(&mut self.dirty.joints) {
            let Self { joint_graph, sleeping, .. } = self;
            joint_graph.build(bodies, joints, |body| {
                bodies.is_inertial(body as usize) && !sleeping.contains(body)
            });
        }
    }

    /// Copies the state of an environment body at the start of the step to the solver's arrays.
    fn gather(&mut self, bodies: &BodySet, index: usize) {
        (self.frames[index + 1], self.sweep_bodies[index + 1]) =
            sweep_bodies::gather(bodies, index);
        self.delta_poses[index + 1] = DeltaPose::default();
    }

    /// Returns the bodies that move: awake and kinematic ones.
    pub(crate) fn moving(&self) -> impl Iterator<Item = u32> + '_ {
        self.awake.iter().chain(&self.kinematic).copied()
    }

    /// Returns the awake and the kinematic bodies.
    pub(crate) fn moving_lists(&self) -> [&[u32]; 2] {
        [&self.awake, &self.kinematic]
    }

    /// Returns whether the step has anything to simulate.
    pub(crate) fn moves(&self, collision: &CollisionPipeline) -> bool {
        // Pairs count too: an environment body placed onto a sleeping body has to wake it.
        !(self.awake.is_empty() && self.kinematic.is_empty() && collision.pairs.order.is_empty())
    }

    /// Chooses the number of threads for this step, and provides an output for each.
    fn choose_thread_count(&mut self, settings: &Settings, threads: &mut ThreadPool) {
        let blocks: usize = self.graph.colors.iter().map(|color| color.blocks.len()).sum();
        let work = WORK_PER_BODY * self.awake.len() + WORK_PER_BLOCK * blocks;
        threads.choose_count(settings.threads, work);
        // Outputs of idle workers are kept for reuse, so that steps do not allocate.
        let Self { outputs, spare_outputs, .. } = self;
        while outputs.len() > threads.count() {
            spare_outputs.extend(outputs.pop());
        }
        outputs.resize_with(threads.count(), || spare_outputs.pop().unwrap_or_default());
    }
}
