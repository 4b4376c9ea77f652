//! Who moves in a step of a swept world, and room for it.

use super::Swept;
use super::riders::{self, Frame, Push, Rider, Shift, Trip};
use crate::bodies::BodySet;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;

impl Swept {
    /// Makes room for the bodies, and lists those that move.
    pub(super) fn gather(&mut self, bodies: &BodySet, joints: &JointSet, settings: &Settings) {
        let count = bodies.poses.len();
        if !self.running {
            // What exact steps stored, or an earlier swept step, is out of date.
            self.pairs.clear();
            self.graph.clear();
            self.sleepers.clear();
            self.strangers.clear();
            self.strangers.extend(bodies.inertial.iter().chain(&bodies.environment));
            self.trips.clear();
            self.dropped.clear();
            self.bouncy = false;
            (self.running, self.stale, self.stale_ties) = (true, false, true);
            self.starts = true;
            self.stale_riding = true;
        }
        self.riders.resize(count + 1, Rider::default());
        self.shifts.resize(count + 1, Shift::default());
        self.frames.resize(count + 1, Frame::default());
        self.pushes.resize(count + 1, Push::default());
        self.pulls.resize(count + 1, Push::default());
        self.trips.resize(count, Trip::default());
        self.reboxed.resize(count, false);
        for &body in self.notes.iter().flat_map(|notes| &notes.moved) {
            self.reboxed[body as usize] = false;
        }
        self.graph.resize(count + 1);
        self.list(bodies, joints);
        self.muster(settings);
        for at in 0..self.driving.len() {
            self.board(bodies, self.driving[at] as usize);
        }
    }

    /// Lists the bodies that move and the joints that act, if others may than before.
    pub(super) fn list(&mut self, bodies: &BodySet, joints: &JointSet) {
        if std::mem::take(&mut self.stale_riding) {
            let Self { riding, driving, sleepers, .. } = self;
            riding.clear();
            riding.extend(bodies.inertial.iter().filter(|&&body| !sleepers.holds(body)));
            driving.clear();
            let moves =
                |&&body: &&u32| bodies.motions[body as usize].velocity != SpatialVector::ZERO;
            driving.extend(bodies.environment.iter().filter(moves));
            // Bodies of the environment that stand still are written once, here: nobody changes them.
            for &body in &bodies.environment {
                self.board(bodies, body as usize);
            }
        }
        if std::mem::take(&mut self.stale_ties) {
            let Self { ties, sleepers, .. } = self;
            ties.build(bodies, joints, |body| {
                bodies.is_inertial(body as usize) && !sleepers.holds(body)
            });
        }
    }

    /// Writes an environment body as it is when the step begins.
    fn board(&mut self, bodies: &BodySet, index: usize) {
        (self.frames[index + 1], self.riders[index + 1]) = riders::board(bodies, index);
        self.shifts[index + 1] = Shift::default();
    }

    /// Bodies that move.
    pub(super) fn moving(&self) -> impl Iterator<Item = u32> + '_ {
        self.riding.iter().chain(&self.driving).copied()
    }

    pub(super) fn moves(&self) -> bool {
        // What was put to where something sleeps is to wake it.
        !(self.riding.is_empty() && self.driving.is_empty() && self.pairs.order.is_empty())
    }
}
