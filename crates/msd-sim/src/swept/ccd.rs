//! Fast bodies of a swept world are stopped where they first touch another body.
//!
//! Contacts are found once a step, from no farther than one size (half the least width). What moves farther than that
//! might pass a thin body. It is put where it touches, keeps its velocity, and has a contact there in the next step.

use super::Swept;
use super::sweep_bodies::{DeltaPose, Frame, rotate_by};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, turning};
use crate::geometry::{Aabb, Closing, Moving, Simplex, Workspace, time_of_impact};
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
    translation: Vec3,
    rotation: Vec3,
}

impl SweptPath {
    /// Where it is after a part of the step.
    fn at(&self, fraction: f64) -> Pose {
        let rotation = rotate_by(self.start.rotation, self.rotation * fraction);
        Pose::new(self.start.position + self.translation * fraction, rotation)
    }

    /// In metres and radians a step.
    fn velocity(&self) -> SpatialVector {
        SpatialVector::new(self.translation, self.rotation)
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
            let output = unsafe { shared.get_mut(worker.index) };
            output.clamps.clear();
            for &body in &awake[worker.range(awake.len())] {
                if let Some(fraction) = query.stop(body, &mut output.workspace) {
                    output.clamps.push((body, fraction));
                }
            }
        });
        for &(body, fraction) in outputs.iter().flat_map(|output| &output.clamps) {
            delta_poses[body as usize + 1].scale(fraction);
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
        SweptPath {
            start,
            translation: delta_pose.translation(),
            rotation: frame.angular(&delta_pose.rotation),
        }
    }

    /// After which part of the step a fast body meets something.
    fn stop(&self, body: u32, workspace: &mut Workspace) -> Option<f64> {
        let solid = &self.bodies.solids[body as usize];
        let path = self.path(body);
        let turn = turning(path.rotation, solid.rim);
        if path.translation.length() + turn <= solid.size {
            return None;
        }
        let bounds = self.bodies.bounds(body as usize);
        let there = Aabb { min: bounds.min + path.translation, max: bounds.max + path.translation };
        let swept = bounds.union(&there).grown(turn.min(2.0 * solid.rim));
        let mut first: Option<f64> = None;
        self.collision.near(&swept, |other| {
            let key = (body.min(other), body.max(other));
            if other == body || !self.collision.allows(key, self.bodies, self.joints) {
                return;
            }
            if let Some(fraction) = self.meet(body, &path, other, workspace) {
                first = Some(first.map_or(fraction, |known| known.min(fraction)));
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
            Closing::between(path.velocity(), a.rim, other_path.velocity(), b.rim, 0.0, 1.0);
        let moving =
            Moving { shape: &a.shape, path: |fraction: f64| a.shape_pose(&path.at(fraction)) };
        let met = Moving {
            shape: &b.shape,
            path: |fraction: f64| b.shape_pose(&other_path.at(fraction)),
        };
        let touch = TOUCH * a.size.min(b.size);
        let simplex = &mut Simplex::default();
        let impact = time_of_impact(&moving, &met, &closing, [0.0, 1.0], touch, simplex, workspace);
        let impact = impact.filter(|hit| hit.speed * (1.0 - hit.time) > DEEP * a.size.min(b.size));
        impact.map(|impact| impact.time)
    }
}
