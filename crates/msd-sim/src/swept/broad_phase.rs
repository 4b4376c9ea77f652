//! Which bodies of a swept world come near each other: bounds that are grown, so that a body seldom leaves them.

use super::Swept;
use super::pairs::SweptPair;
use super::sweep_bodies::by_turning;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::geometry::Aabb;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;
use crate::threads::DisjointSlice;

/// By what bounds are grown besides what a body needs, as a fraction of its size (half its least width).
const SLACK: f64 = 0.2;

/// For how many steps ahead they hold what moves on as it does.
const AHEAD: f64 = 3.0;

impl Swept {
    /// Makes the pairs of bodies that may come near each other in a step, and drops those that were found to be far.
    #[allow(unsafe_code)]
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        let fall = settings.gravity.length() * dt * dt;
        let all = std::mem::take(&mut self.filters_dirty);
        // Environment bodies that stand still are looked at only if one of them may be somewhere else.
        let still: &[u32] = match all || !self.dirty_bodies.is_empty() {
            true => &bodies.environment,
            false => &[],
        };
        for body in self.dirty_bodies.drain(..) {
            self.motion_bounds[body as usize].bounds_budget = f64::NEG_INFINITY;
        }
        if all {
            for motion_bound in &mut self.motion_bounds {
                motion_bound.bounds_budget = f64::NEG_INFINITY;
            }
        }
        let Self { awake, kinematic, motion_bounds, enlarged, threads, outputs, .. } = self;
        // Who has left its bounds, or may in this step.
        let (shared_bounds, shared_outputs) =
            (DisjointSlice::new(motion_bounds), DisjointSlice::new(outputs));
        let known = &*collision;
        let moving = [&**awake, &**kinematic, still];
        threads.run(|worker| {
            // SAFETY: each worker has its own notes.
            let outputs = unsafe { shared_outputs.get_mut(worker.index) };
            outputs.moved.clear();
            for (kind, list) in moving.iter().enumerate() {
                for &body in &list[worker.range(list.len())] {
                    let index = body as usize;
                    // SAFETY: nobody writes.
                    let motion_bound = unsafe { shared_bounds.get(index) };
                    // Those of the environment that move were among the drivers.
                    let moves = bodies.motions[index].velocity != SpatialVector::ZERO;
                    if kind == 2 && (moves || motion_bound.bounds_budget > f64::NEG_INFINITY) {
                        continue;
                    }
                    let margin = settings.margin * breadth(bodies, index) + fall;
                    if motion_bound.odometer + motion_bound.speed * dt + margin
                        <= motion_bound.bounds_budget
                    {
                        continue;
                    }
                    let bounds = bodies.bounds(index);
                    let needed = swept(&bounds, bodies, index, dt).grown(margin);
                    let within = motion_bound.bounds_budget > f64::NEG_INFINITY
                        && known.near_bounds(body).is_some_and(|fat| fat.contains(&needed));
                    if !within {
                        outputs.moved.push(body);
                    }
                }
            }
        });
        for outputs in outputs.iter() {
            for &body in &outputs.moved {
                let index = body as usize;
                let slack = (settings.margin + SLACK) * breadth(bodies, index) + fall;
                let bounds = swept(&bodies.bounds(index), bodies, index, AHEAD * dt).grown(slack);
                collision.enlarge(body, bounds);
                motion_bounds[index].bounds_budget = motion_bounds[index].odometer + slack;
                enlarged[index] = true;
            }
        }
        collision.rebuild();
        let (known, enlarged) = (&*collision, &*enlarged);
        // Each worker asks for those that it found; the answers are put in order.
        let shared_outputs = DisjointSlice::new(outputs);
        threads.run(|worker| {
            // SAFETY: each worker has its own notes.
            let outputs = unsafe { shared_outputs.get_mut(worker.index) };
            outputs.candidates.clear();
            for &body in &outputs.moved {
                let Some(bounds) = known.near_bounds(body) else { continue };
                let inertial = bodies.is_inertial(body as usize);
                known.near(&bounds, |other| {
                    // Of two that have moved, the smaller one asks.
                    let asked = enlarged[other as usize] && other < body;
                    let both_fixed = !inertial && !bodies.is_inertial(other as usize);
                    if other != body && !asked && !both_fixed {
                        outputs.candidates.push((body.min(other), body.max(other)));
                    }
                });
            }
        });
        let Self {
            outputs, candidates, pairs, dropped, separated, graph, sleeping, starts, ..
        } = self;
        candidates.clear();
        separated.clear();
        outputs.iter().for_each(|outputs| candidates.extend_from_slice(&outputs.candidates));
        candidates.sort_unstable();
        // An environment body that moves and is new is in two lists.
        candidates.dedup();
        candidates.retain(|&key| !sleeping.contains_pair(key));
        if all {
            // Pairs that may no longer collide.
            dropped.clear();
            let barred = pairs.order.iter().filter(|pair| !known.allows(pair.key, bodies, joints));
            dropped.extend(barred.map(|pair| pair.number));
            dropped.sort_unstable();
            for &number in dropped.iter() {
                pairs.remove_contact(number, graph);
                let pair = &pairs.all[number as usize];
                if pair.touching {
                    separated.push(((pair.bodies[0], pair.bodies[1]), false));
                }
            }
        }
        let starts = std::mem::take(starts);
        let make = |key: (u32, u32)| {
            known.allows(key, bodies, joints).then(|| {
                let mut pair = SweptPair::new(key.0, key.1, bodies);
                // What touched in the exact step before does not begin to touch now.
                pair.touching = starts && known.is_touching(key);
                pair
            })
        };
        pairs.merge(candidates, make, dropped);
        dropped.clear();
    }
}

/// A body's size; none if it has no bounds.
fn breadth(bodies: &BodySet, index: usize) -> f64 {
    let size = bodies.solids[index].size;
    if size.is_finite() { size } else { 0.0 }
}

/// Bounds of where a body is and will be after `time`, if it moves on as it does.
fn swept(bounds: &Aabb, bodies: &BodySet, index: usize, time: f64) -> Aabb {
    let velocity = &bodies.motions[index].velocity;
    let way = velocity.linear * time;
    let turn = by_turning((velocity.angular.length() * time).min(2.0), bodies.solids[index].rim);
    let there = Aabb { min: bounds.min + way, max: bounds.max + way };
    bounds.union(&there).grown(turn)
}
