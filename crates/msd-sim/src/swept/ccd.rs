//! Fast bodies of a swept world are stopped where they first touch another body.
//!
//! Contacts are found once a step, from no farther than one size (half the least width). What moves farther than that
//! might pass a thin body. It is put where it touches, keeps its velocity, and has a contact there in the next step.

use super::Swept;
use super::sweep_bodies::{DeltaPose, Frame, turn_by};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, turning};
use crate::geometry::{Aabb, ClosingBounds, MovingShape, Simplex, Workspace, time_of_impact};
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::settings::{Continuous, Settings};
use crate::threads::DisjointSlice;

/// Bodies touch when they are this close, as a fraction of the smaller size.
const TOUCH: f64 = 1e-6;

/// How deep a fast body may drive into another, as a fraction of the smaller size: contacts take it back.
const DEEP: f64 = 0.5;

/// How a body moves in a step: evenly along a line and about an axis.
#[derive(Clone, Copy)]
struct SweptPath {
    start: Pose,
    moved: Vec3,
    turned: Vec3,
}

impl SweptPath {
    /// Where it is after a part of the step.
    fn at(&self, part: f64) -> Pose {
        let rotation = turn_by(self.start.rotation, self.turned * part);
        Pose::new(self.start.position + self.moved * part, rotation)
    }

    /// In metres and radians a step.
    fn velocity(&self) -> SpatialVector {
        SpatialVector::new(self.moved, self.turned)
    }
}

impl Swept {
    /// Shortens the ways of bodies that move farther than their size and meet something on it.
    #[allow(unsafe_code)]
    pub(crate) fn clamp_fast_bodies(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        settings: &Settings,
    ) {
        if settings.continuous == Continuous::Never {
            return;
        }
        let Self { awake, frames, delta_poses, threads, outputs, .. } = self;
        let shared = DisjointSlice::new(outputs);
        let query = CcdQuery { bodies, joints, collision, frames, delta_poses };
        let awake = &*awake;
        threads.run(|worker| {
            // SAFETY: each worker has its own notes.
            let outputs = unsafe { shared.get_mut(worker.index) };
            outputs.clamps.clear();
            for &body in &awake[worker.range(awake.len())] {
                if let Some(part) = query.stop(body, &mut outputs.workspace) {
                    outputs.clamps.push((body, part));
                }
            }
        });
        for &(body, part) in outputs.iter().flat_map(|outputs| &outputs.clamps) {
            delta_poses[body as usize + 1].shorten(part);
        }
    }
}

/// What ways are looked at with.
struct CcdQuery<'a> {
    bodies: &'a BodySet,
    joints: &'a JointSet,
    collision: &'a CollisionPipeline,
    frames: &'a [Frame],
    delta_poses: &'a [DeltaPose],
}

impl CcdQuery<'_> {
    fn path(&self, body: u32) -> SweptPath {
        let (frame, delta_pose) =
            (&self.frames[body as usize + 1], &self.delta_poses[body as usize + 1]);
        let start = self.bodies.poses[body as usize];
        SweptPath { start, moved: delta_pose.moved(), turned: frame.angular(&delta_pose.turned) }
    }

    /// After which part of the step a fast body meets something.
    fn stop(&self, body: u32, workspace: &mut Workspace) -> Option<f64> {
        let solid = &self.bodies.solids[body as usize];
        let path = self.path(body);
        let turn = turning(path.turned, solid.rim);
        if path.moved.length() + turn <= solid.size {
            return None;
        }
        let bounds = self.bodies.bounds(body as usize);
        let there = Aabb { min: bounds.min + path.moved, max: bounds.max + path.moved };
        let swept = bounds.union(&there).grown(turn.min(2.0 * solid.rim));
        let mut first: Option<f64> = None;
        self.collision.near(&swept, |other| {
            let key = (body.min(other), body.max(other));
            if other == body || !self.collision.allows(key, self.bodies, self.joints) {
                return;
            }
            if let Some(part) = self.meet(body, &path, other, workspace) {
                first = Some(first.map_or(part, |known| known.min(part)));
            }
        });
        first
    }

    /// After which part of the step two bodies touch, if they would drive deep into each other after it. That they
    /// have a contact does not keep them from it: impulses act after half of the first substep's way, and only
    /// where points were found.
    fn meet(
        &self,
        body: u32,
        path: &SweptPath,
        other: u32,
        workspace: &mut Workspace,
    ) -> Option<f64> {
        let [a, b] = [body, other].map(|body| &self.bodies.solids[body as usize]);
        let other_path = self.path(other);
        let closing =
            ClosingBounds::between(path.velocity(), a.rim, other_path.velocity(), b.rim, 0.0, 1.0);
        let moving =
            MovingShape { shape: &a.shape, path: |part: f64| a.shape_pose(&path.at(part)) };
        let met =
            MovingShape { shape: &b.shape, path: |part: f64| b.shape_pose(&other_path.at(part)) };
        let touch = TOUCH * a.size.min(b.size);
        let simplex = &mut Simplex::default();
        let impact = time_of_impact(&moving, &met, &closing, [0.0, 1.0], touch, simplex, workspace);
        let impact = impact.filter(|hit| hit.speed * (1.0 - hit.time) > DEEP * a.size.min(b.size));
        impact.map(|impact| impact.time)
    }
}
