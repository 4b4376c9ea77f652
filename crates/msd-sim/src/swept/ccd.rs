//! Continuous collision detection of a swept world: stops fast bodies where they first touch another body.
//!
//! Contacts are found at the start of a step, within at most one size (half the least width). A body that moves farther than
//! that could tunnel through a thin one. It is placed where it touches and keeps its velocity; the next step finds the
//! contact there.

use super::Swept;
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, turning};
use crate::constraints::Contacts;
use crate::constraints::solver_bodies::{SolverBodies, rotate_by};
use crate::geometry::{Aabb, ClosingBounds, MovingShape, Simplex, Workspace, time_of_impact};
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::model::Model;
use crate::settings::Continuous;
use crate::threads::{DisjointSlice, ThreadPool};

/// Distance at which bodies count as touching, as a fraction of the smaller size.
const TOUCH: f64 = 1e-6;

/// Depth to which a fast body may penetrate another, as a fraction of the smaller size: contacts correct it.
const DEEP: f64 = 0.5;

/// The path of a body in a step: uniform translation along a line and rotation about an axis.
#[derive(Clone, Copy)]
struct BodyPath {
    start: Pose,
    /// Translation over the step, m.
    translation: Vec3,
    /// Rotation vector over the step, rad.
    rotation: Vec3,
}

impl BodyPath {
    /// Returns the pose after a fraction of the step.
    fn at(&self, fraction: f64) -> Pose {
        let rotation = rotate_by(self.start.rotation, self.rotation * fraction);
        Pose::new(self.start.position + self.translation * fraction, rotation)
    }

    /// Returns the velocity, in meters and radians per step.
    fn velocity(&self) -> SpatialVector {
        SpatialVector::new(self.translation, self.rotation)
    }
}

impl Swept {
    /// Shortens the paths of bodies that move farther than their size and hit another body on the way.
    #[allow(unsafe_code)]
    pub(crate) fn clamp_fast_bodies(
        &mut self,
        model: &Model,
        contacts: &mut Contacts,
        threads: &mut ThreadPool,
    ) {
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        if settings.continuous == Continuous::Never {
            return;
        }
        let Self { awake, outputs, .. } = self;
        let shared = DisjointSlice::new(outputs);
        let query = CcdQuery { bodies, joints, collision, solver_bodies: &constraints.bodies };
        let awake = &*awake;
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let output = unsafe { shared.get_mut(worker.index) };
            output.clamps.clear();
            for &body in &awake[worker.range(awake.len())] {
                if let Some(fraction) = query.first_hit(body, &mut output.workspace) {
                    output.clamps.push((body, fraction));
                }
            }
        });
        for &(body, fraction) in outputs.iter().flat_map(|output| &output.clamps) {
            constraints.bodies.delta_poses[body as usize + 1].scale(fraction);
        }
    }
}

/// The inputs for testing the paths of bodies.
struct CcdQuery<'a> {
    bodies: &'a BodySet,
    joints: &'a JointSet,
    collision: &'a CollisionPipeline,
    solver_bodies: &'a SolverBodies,
}

impl CcdQuery<'_> {
    fn path(&self, body: u32) -> BodyPath {
        let SolverBodies { frames, delta_poses, .. } = self.solver_bodies;
        let (frame, delta_pose) = (&frames[body as usize + 1], &delta_poses[body as usize + 1]);
        let start = self.bodies.poses[body as usize];
        BodyPath {
            start,
            translation: delta_pose.translation(),
            rotation: frame.angular(&delta_pose.rotation),
        }
    }

    /// Returns the fraction of the step after which a fast body first hits another.
    fn first_hit(&self, body: u32, workspace: &mut Workspace) -> Option<f64> {
        let path = self.path(body);
        let extent = &self.bodies.extents[body as usize];
        if path.translation.length() + turning(path.rotation, extent.rotation_radius) <= extent.size
        {
            return None;
        }
        let colliders = self.bodies.colliders.of(body);
        let hits = colliders.filter_map(|collider| self.first_hit_of(collider, &path, workspace));
        hits.reduce(f64::min)
    }

    /// Returns the fraction of the step after which a collider, whose body has this path, first hits another.
    fn first_hit_of(
        &self,
        collider: u32,
        path: &BodyPath,
        workspace: &mut Workspace,
    ) -> Option<f64> {
        let solid = &self.bodies.colliders.solids[collider as usize];
        let turn = turning(path.rotation, solid.rotation_radius);
        let bounds = self.bodies.bounds(collider);
        let there = Aabb { min: bounds.min + path.translation, max: bounds.max + path.translation };
        let swept = bounds.union(&there).grown(turn.min(2.0 * solid.rotation_radius));
        let mut first: Option<f64> = None;
        self.collision.query(&swept, |other| {
            let key = (collider.min(other), collider.max(other));
            if !self.collision.allows(key, self.bodies, self.joints) {
                return;
            }
            if let Some(fraction) = self.hit(collider, path, other, workspace) {
                first = Some(first.map_or(fraction, |earliest| earliest.min(fraction)));
            }
        });
        first
    }

    /// Returns the fraction of the step after which two colliders touch, if they would penetrate each other deeply after
    /// it. A contact between them does not prevent that: impulses act only after half of the first substep's motion,
    /// and only at points that were found.
    fn hit(
        &self,
        collider: u32,
        path: &BodyPath,
        other: u32,
        workspace: &mut Workspace,
    ) -> Option<f64> {
        let [a, b] =
            [collider, other].map(|collider| &self.bodies.colliders.solids[collider as usize]);
        let other_path = self.path(self.bodies.colliders.body(other));
        let closing = ClosingBounds::between(
            path.velocity(),
            a.rotation_radius,
            other_path.velocity(),
            b.rotation_radius,
            0.0,
            1.0,
        );
        let body =
            MovingShape { shape: &a.shape, path: |fraction: f64| a.shape_pose(&path.at(fraction)) };
        let other = MovingShape {
            shape: &b.shape,
            path: |fraction: f64| b.shape_pose(&other_path.at(fraction)),
        };
        let touch = TOUCH * a.size.min(b.size);
        let simplex = &mut Simplex::default();
        let impact = time_of_impact(&body, &other, &closing, [0.0, 1.0], touch, simplex, workspace);
        let impact = impact.filter(|hit| hit.speed * (1.0 - hit.time) > DEEP * a.size.min(b.size));
        impact.map(|impact| impact.time)
    }
}
