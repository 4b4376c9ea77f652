//! The broad phase of a swept world, on enlarged bounds that a body seldom leaves.
#![allow(unsafe_code)]

use super::Swept;
use super::pairs::SweptPair;
use super::sweep_bodies::rotation_motion;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::geometry::Aabb;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;
use crate::threads::DisjointSlice;

/// Extra enlargement of bounds, as a fraction of the body's size (half its least width).
const SLACK: f64 = 0.2;

/// Number of steps at the present velocity that enlarged bounds cover.
const AHEAD: f64 = 3.0;

impl Swept {
    /// Creates the pairs of bodies that may come near each other in a step, and drops the pairs that were found apart.
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        let all = std::mem::take(&mut self.dirty.filters);
        self.find_moved(bodies, collision, settings, dt, all);
        self.enlarge_bounds(bodies, collision, settings, dt);
        self.query_candidates(bodies, collision);
        self.separated.clear();
        if all {
            self.drop_filtered(bodies, joints, collision);
        }
        let Self { candidates, pairs, dropped, first_step, .. } = self;
        let make = |key: (u32, u32)| {
            collision.allows(key, bodies, joints).then(|| {
                let mut pair = SweptPair::new(key.0, key.1, bodies);
                // A pair that touched in the last exact step must not report that it begins to touch.
                pair.touching = *first_step && collision.is_touching(key);
                pair
            })
        };
        pairs.merge(candidates, make, dropped);
        dropped.clear();
    }

    /// Finds the bodies that have left their bounds, or may in this step.
    fn find_moved(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
        all: bool,
    ) {
        let fall = settings.gravity.length() * dt * dt;
        // Environment bodies at rest are checked only if one of them may have been moved.
        let still: &[u32] = match all || !self.dirty.bodies.is_empty() {
            true => &bodies.environment,
            false => &[],
        };
        for body in self.dirty.bodies.drain(..) {
            self.motion_bounds[body as usize].bounds_budget = f64::NEG_INFINITY;
        }
        if all {
            for motion_bound in &mut self.motion_bounds {
                motion_bound.bounds_budget = f64::NEG_INFINITY;
            }
        }
        let Self { awake, kinematic, motion_bounds, threads, outputs, .. } = self;
        let motion_bounds = &*motion_bounds;
        let shared = DisjointSlice::new(outputs);
        let moving = [&**awake, &**kinematic, still];
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let output = unsafe { shared.get_mut(worker.index) };
            output.moved.clear();
            for (kind, list) in moving.iter().enumerate() {
                for &body in &list[worker.range(list.len())] {
                    let index = body as usize;
                    let motion_bound = &motion_bounds[index];
                    // Environment bodies that move are in the second list.
                    let moves = bodies.motions[index].velocity != SpatialVector::ZERO;
                    let has_bounds = motion_bound.bounds_budget > f64::NEG_INFINITY;
                    if kind == 2 && (moves || has_bounds) {
                        continue;
                    }
                    let margin = settings.margin * finite_size(bodies, index) + fall;
                    let needed = motion_bound.odometer + motion_bound.speed * dt + margin;
                    if needed <= motion_bound.bounds_budget {
                        continue;
                    }
                    let bounds = bodies.bounds(index);
                    let needed = path_bounds(&bounds, bodies, index, dt).grown(margin);
                    let within = has_bounds
                        && collision.near_bounds(body).is_some_and(|fat| fat.contains(&needed));
                    if !within {
                        output.moved.push(body);
                    }
                }
            }
        });
    }

    /// Gives the bodies that leave their bounds new, enlarged ones.
    fn enlarge_bounds(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        let fall = settings.gravity.length() * dt * dt;
        let Self { motion_bounds, enlarged, outputs, .. } = self;
        for &body in outputs.iter().flat_map(|output| &output.moved) {
            let index = body as usize;
            let slack = (settings.margin + SLACK) * finite_size(bodies, index) + fall;
            let bounds = path_bounds(&bodies.bounds(index), bodies, index, AHEAD * dt).grown(slack);
            collision.enlarge(body, bounds);
            motion_bounds[index].bounds_budget = motion_bounds[index].odometer + slack;
            enlarged[index] = true;
        }
        collision.rebuild();
    }

    /// Finds the bodies whose bounds overlap those of enlarged bodies, sorted. Each worker queries for the bodies that
    /// it found.
    fn query_candidates(&mut self, bodies: &BodySet, collision: &CollisionPipeline) {
        let Self { enlarged, threads, outputs, .. } = self;
        let enlarged = &*enlarged;
        let shared = DisjointSlice::new(outputs);
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let output = unsafe { shared.get_mut(worker.index) };
            output.candidates.clear();
            for &body in &output.moved {
                let Some(bounds) = collision.near_bounds(body) else { continue };
                let inertial = bodies.is_inertial(body as usize);
                collision.near(&bounds, |other| {
                    // Of two enlarged bodies, the one with the smaller index adds the candidate.
                    let duplicate = enlarged[other as usize] && other < body;
                    let both_fixed = !inertial && !bodies.is_inertial(other as usize);
                    if other != body && !duplicate && !both_fixed {
                        output.candidates.push((body.min(other), body.max(other)));
                    }
                });
            }
        });
        let Self { outputs, candidates, sleeping, .. } = self;
        candidates.clear();
        outputs.iter().for_each(|output| candidates.extend_from_slice(&output.candidates));
        candidates.sort_unstable();
        // A body can be in two lists: an environment body that moves and is new.
        candidates.dedup();
        candidates.retain(|&key| !sleeping.contains_pair(key));
    }

    /// Drops pairs that may no longer collide.
    fn drop_filtered(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
    ) {
        let Self { pairs, dropped, separated, graph, .. } = self;
        dropped.clear();
        let filtered =
            pairs.order.iter().filter(|entry| !collision.allows(entry.key, bodies, joints));
        dropped.extend(filtered.map(|entry| entry.number));
        dropped.sort_unstable();
        for &number in dropped.iter() {
            pairs.remove_contact(number, graph);
            let pair = &pairs.all[number as usize];
            if pair.touching {
                separated.push(((pair.bodies[0], pair.bodies[1]), false));
            }
        }
    }
}

/// Returns a body's size, m; zero for an unbounded shape.
fn finite_size(bodies: &BodySet, index: usize) -> f64 {
    let size = bodies.solids[index].size;
    if size.is_finite() { size } else { 0.0 }
}

/// Returns bounds that cover a body from now until `time` later, if it keeps its velocity.
fn path_bounds(bounds: &Aabb, bodies: &BodySet, index: usize, time: f64) -> Aabb {
    let velocity = &bodies.motions[index].velocity;
    let shift = velocity.linear * time;
    let turn = rotation_motion(
        (velocity.angular.length() * time).min(2.0),
        bodies.solids[index].rotation_radius,
    );
    let there = Aabb { min: bounds.min + shift, max: bounds.max + shift };
    bounds.union(&there).grown(turn)
}
