//! The lists of bodies that move in a swept step, and the size of the buffers for them.

use super::Swept;
use super::sweep_bodies::{self, DeltaPose, Frame, MotionBounds, SweepBody, VelocityDelta};
use crate::bodies::BodySet;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;

impl Swept {
    /// Resizes the buffers to the number of bodies, and lists the bodies that move.
    pub(crate) fn begin_step(&mut self, bodies: &BodySet, joints: &JointSet, settings: &Settings) {
        let count = bodies.poses.len();
        if !self.running {
            // The state of earlier swept steps is out of date.
            self.pairs.clear();
            self.graph.clear();
            self.sleeping.clear();
            self.dirty.bodies.clear();
            self.dirty.bodies.extend(bodies.inertial.iter().chain(&bodies.environment));
            self.motion_bounds.clear();
            self.dropped.clear();
            self.any_restitution = false;
            (self.running, self.dirty.filters, self.dirty.joints) = (true, false, true);
            self.first_step = true;
            self.dirty.lists = true;
        }
        self.sweep_bodies.resize(count + 1, SweepBody::default());
        self.delta_poses.resize(count + 1, DeltaPose::default());
        self.frames.resize(count + 1, Frame::default());
        self.warm_starts.resize(count + 1, VelocityDelta::default());
        self.kicks.resize(count + 1, VelocityDelta::default());
        self.motion_bounds.resize(count, MotionBounds::default());
        self.enlarged.resize(count, false);
        for &body in self.outputs.iter().flat_map(|output| &output.moved) {
            self.enlarged[body as usize] = false;
        }
        self.graph.resize(count + 1);
        self.update_lists(bodies, joints);
        self.choose_thread_count(settings);
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

    /// Returns whether the step has anything to simulate.
    pub(crate) fn moves(&self) -> bool {
        // Pairs count too: an environment body placed onto a sleeping body has to wake it.
        !(self.awake.is_empty() && self.kinematic.is_empty() && self.pairs.order.is_empty())
    }
}
