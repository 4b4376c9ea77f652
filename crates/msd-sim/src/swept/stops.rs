//! Fast bodies of a swept world are stopped where they first touch another body.
//!
//! Contacts are found once a step, from no farther than one size (half the least width). What moves farther than that
//! might pass a thin body. It is put where it touches, keeps its velocity, and has a contact there in the next step.

use super::Swept;
use super::riders::{Frame, Shift, turn_by};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, turning};
use crate::geometry::{Aabb, ClosingBounds, MovingShape, Simplex, Workspace, time_of_impact};
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::parallel::Parted;
use crate::settings::{Continuous, Settings};

/// Bodies touch when they are this close, as a fraction of the smaller size.
const TOUCH: f64 = 1e-6;

/// How deep a fast body may drive into another, as a fraction of the smaller size: contacts take it back.
const DEEP: f64 = 0.5;

/// How a body moves in a step: evenly along a line and about an axis.
#[derive(Clone, Copy)]
struct Way {
    start: Pose,
    moved: Vec3,
    turned: Vec3,
}

impl Way {
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
    pub(super) fn stop_fast(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        settings: &Settings,
    ) {
        if settings.continuous == Continuous::Never {
            return;
        }
        let Self { riding, frames, shifts, crew, notes, .. } = self;
        let shared = Parted::new(notes);
        let look = Look { bodies, joints, collision, frames, shifts };
        let riding = &*riding;
        crew.run(|worker| {
            // SAFETY: each worker has its own notes.
            let notes = unsafe { shared.get_mut(worker.index) };
            notes.stops.clear();
            for &body in &riding[worker.part(riding.len())] {
                if let Some(part) = look.stop(body, &mut notes.workspace) {
                    notes.stops.push((body, part));
                }
            }
        });
        for &(body, part) in notes.iter().flat_map(|notes| &notes.stops) {
            shifts[body as usize + 1].shorten(part);
        }
    }
}

/// What ways are looked at with.
struct Look<'a> {
    bodies: &'a BodySet,
    joints: &'a JointSet,
    collision: &'a CollisionPipeline,
    frames: &'a [Frame],
    shifts: &'a [Shift],
}

impl Look<'_> {
    fn way(&self, body: u32) -> Way {
        let (frame, shift) = (&self.frames[body as usize + 1], &self.shifts[body as usize + 1]);
        let start = self.bodies.poses[body as usize];
        Way { start, moved: shift.moved(), turned: frame.angular(&shift.turned) }
    }

    /// After which part of the step a fast body meets something.
    fn stop(&self, body: u32, workspace: &mut Workspace) -> Option<f64> {
        let solid = &self.bodies.solids[body as usize];
        let way = self.way(body);
        let turn = turning(way.turned, solid.rim);
        if way.moved.length() + turn <= solid.size {
            return None;
        }
        let bounds = self.bodies.bounds(body as usize);
        let there = Aabb { min: bounds.min + way.moved, max: bounds.max + way.moved };
        let swept = bounds.union(&there).grown(turn.min(2.0 * solid.rim));
        let mut first: Option<f64> = None;
        self.collision.near(&swept, |other| {
            let key = (body.min(other), body.max(other));
            if other == body || !self.collision.allows(key, self.bodies, self.joints) {
                return;
            }
            if let Some(part) = self.meet(body, &way, other, workspace) {
                first = Some(first.map_or(part, |known| known.min(part)));
            }
        });
        first
    }

    /// After which part of the step two bodies touch, if they would drive deep into each other after it. That they
    /// have a contact does not keep them from it: impulses act after half of the first substep's way, and only
    /// where points were found.
    fn meet(&self, body: u32, way: &Way, other: u32, workspace: &mut Workspace) -> Option<f64> {
        let [a, b] = [body, other].map(|body| &self.bodies.solids[body as usize]);
        let others = self.way(other);
        let closing =
            ClosingBounds::between(way.velocity(), a.rim, others.velocity(), b.rim, 0.0, 1.0);
        let moving = MovingShape { shape: &a.shape, path: |part: f64| a.shape_pose(&way.at(part)) };
        let met = MovingShape { shape: &b.shape, path: |part: f64| b.shape_pose(&others.at(part)) };
        let touch = TOUCH * a.size.min(b.size);
        let simplex = &mut Simplex::default();
        let impact = time_of_impact(&moving, &met, &closing, [0.0, 1.0], touch, simplex, workspace);
        let impact = impact.filter(|hit| hit.speed * (1.0 - hit.time) > DEEP * a.size.min(b.size));
        impact.map(|impact| impact.time)
    }
}
