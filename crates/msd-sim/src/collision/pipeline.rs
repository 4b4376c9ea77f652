//! The collision pipeline: which bodies are near each other, and where they touch.
//!
//! The broad phase works on enlarged bounds that a collider seldom leaves. A search gives new bounds to the colliders of
//! bodies that leave theirs, and creates the pairs of colliders whose bounds overlap.

use super::broad_phase::{BroadPhase, Kind};
use super::motion_bounds::MotionBounds;
use super::narrow_phase::relative_motion;
use super::near::NearList;
use super::pairs::PairList;
use super::search::Search;
use crate::bodies::BodySet;
use crate::geometry::{Aabb, Workspace};
use crate::joints::JointSet;
use crate::math::Pose;
use crate::settings::{Settings, StepTime};

/// The collision pipeline: finds pairs and keeps them. Its lists stay readable after the step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct CollisionPipeline {
    pub(super) broad_phase: BroadPhase,
    pub(crate) pairs: PairList,
    /// By body.
    pub(crate) motion_bounds: Vec<MotionBounds>,
    /// By body: whether its bounds were enlarged in the last search; and the list of these bodies.
    pub(crate) enlarged: Vec<bool>,
    pub(super) enlarged_bodies: Vec<u32>,
    /// Environment bodies that were added or moved since the last search.
    pub(super) moved_environment: Vec<u32>,
    /// Pairs of colliders that may have begun or ceased to collide since then, because filters or joints were changed.
    pub(super) refiltered: Vec<(u32, u32)>,
    /// Numbers of pairs to drop in the next search, because their bounds no longer overlap or they may no longer
    /// collide.
    pub(crate) dropped: Vec<u32>,
    /// Pairs that touched in the last step and were dropped.
    pub(crate) separated: Vec<(u32, u32)>,
    /// Numbers of pairs with a contact in the graph that are no longer near.
    pub(crate) lost_contacts: Vec<u32>,
    /// Colliders whose bounds overlap, smaller index first.
    #[serde(skip)]
    pub(super) candidates: Vec<(u32, u32)>,
    /// By worker.
    #[serde(skip)]
    pub(super) searches: Vec<Search>,
    /// Pairs of bodies that the user keeps from colliding, sorted.
    pub(super) disabled_pairs: Vec<(u32, u32)>,
    pub(super) near: NearList,
    /// By collider: the bounds within which exact steps look for near pairs.
    pub(super) near_bounds: Vec<Aabb>,
    /// The number of exact substeps so far; by collider: its bounds at the start of one of them.
    pub(super) substep: u64,
    pub(super) present_bounds: Vec<(Aabb, u64)>,
    /// By body: the distance it was expected to travel when near pairs were found, m; infinite if they were found along
    /// its path of one substep.
    pub(super) travels: Vec<f64>,
    pub(super) has_path_bounds: bool,
    /// Bodies whose expected travel was revised within the step.
    #[serde(skip)]
    pub(super) revised: Vec<u32>,
    #[serde(skip)]
    pub(super) kinematic: Vec<u32>,
    #[serde(skip)]
    pub(super) workspace: Workspace,
}

/// Bounds that overlap nothing.
const NOWHERE: Aabb =
    Aabb { min: crate::math::Vec3::splat(f64::NAN), max: crate::math::Vec3::splat(f64::NAN) };

/// Changes from outside the step.
impl CollisionPipeline {
    /// Adds a body with its colliders.
    pub(crate) fn insert(&mut self, bodies: &BodySet, body: u32) {
        let count = self.motion_bounds.len().max(body as usize + 1);
        self.motion_bounds.resize(count, MotionBounds::default());
        self.enlarged.resize(count, false);
        self.travels.resize(count, 0.0);
        self.travels[body as usize] = 0.0;
        for collider in bodies.colliders.of(body) {
            self.insert_collider(bodies, collider);
        }
        self.reset_bounds(bodies, body);
    }

    /// Adds a collider.
    pub(crate) fn insert_collider(&mut self, bodies: &BodySet, collider: u32) {
        let inertial = bodies.is_of_inertial(collider);
        let kind = if inertial { Kind::Inertial } else { Kind::Environment };
        self.broad_phase.insert(collider, kind, bodies.bounds(collider));
        let count = self.near_bounds.len().max(collider as usize + 1);
        self.near_bounds.resize(count, NOWHERE);
        self.present_bounds.resize(count, (NOWHERE, 0));
    }

    /// Returns the numbers of the pairs for which `concerns` holds, ascending: one pass over all pairs.
    pub(crate) fn pairs_with(&self, concerns: impl Fn((u32, u32)) -> bool) -> Vec<u32> {
        let entries = self.pairs.order.iter().chain(&self.pairs.asleep);
        let concerned = entries.filter(|entry| concerns(entry.key));
        let mut numbers: Vec<u32> = concerned.map(|entry| entry.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Removes a body without pairs, and its colliders.
    pub(crate) fn remove(&mut self, bodies: &BodySet, body: u32) {
        self.moved_environment.retain(|&other| other != body);
        self.disabled_pairs.retain(|&(a, b)| a != body && b != body);
        for collider in bodies.colliders.of(body) {
            self.remove_collider(collider);
        }
    }

    /// Removes pairs, numbers ascending, that have no contact in the graph.
    pub(crate) fn remove_pairs(&mut self, numbers: &[u32]) {
        for &number in numbers {
            self.near.remove(self.pairs.all[number as usize].key());
        }
        self.pairs.remove(numbers);
        self.dropped.retain(|number| numbers.binary_search(number).is_err());
    }

    /// Removes a collider without pairs.
    pub(crate) fn remove_collider(&mut self, collider: u32) {
        let others = |&(a, b): &(u32, u32)| a != collider && b != collider;
        self.refiltered.retain(others);
        self.separated.retain(others);
        self.near_bounds[collider as usize] = NOWHERE;
        self.broad_phase.remove(collider);
    }

    /// Discards what is known of the pairs `numbers` of a body that was moved or reshaped.
    pub(crate) fn invalidate(&mut self, bodies: &BodySet, numbers: &[u32], reshaped: bool) {
        for &number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            match reshaped {
                true => pair.reshape(bodies),
                false => pair.invalidate(),
            }
            let (key, has_contact) = (pair.key(), pair.has_contact());
            self.near.reset(key);
            if !has_contact {
                self.pairs.recheck(number);
            }
        }
    }

    /// Makes the next search compute the bounds of a body of which all pairs are invalid: its odometer restarts.
    pub(crate) fn reset_bounds(&mut self, bodies: &BodySet, body: u32) {
        self.motion_bounds[body as usize] = MotionBounds::default();
        self.end_bounds(bodies, body);
    }

    /// Makes the next search compute the bounds of a body.
    pub(crate) fn end_bounds(&mut self, bodies: &BodySet, body: u32) {
        self.motion_bounds[body as usize].bounds_budget = f64::NEG_INFINITY;
        if !bodies.is_inertial(body as usize) {
            self.moved_environment.push(body);
        }
        self.set_near_bounds(bodies, body, 0.0);
        self.cover(bodies, body);
    }

    /// Covers exact bodies as [`cover`](Self::cover) does, except those that have surely not left the bounds that they had room
    /// in at the start of the step, when they were in the poses that `start` returns.
    pub(crate) fn cover_exact<'a>(
        &mut self,
        bodies: &BodySet,
        exact: &[u32],
        start: impl Fn(u32) -> &'a Pose,
    ) {
        for &body in exact {
            let (pose, extent) = (&bodies.poses[body as usize], &bodies.extents[body as usize]);
            // Infinite for a fast body, whose bounds are along its path.
            let room = self.travels[body as usize];
            let start = start(body);
            let moved = match extent.rotation_radius > 0.0 {
                true => relative_motion(start, pose, extent.rotation_radius),
                false => pose.position.distance(start.position),
            };
            if !(moved <= room && room < f64::INFINITY) {
                self.cover(bodies, body);
            }
        }
        let mut revised = std::mem::take(&mut self.revised);
        revised.drain(..).for_each(|body| self.cover(bodies, body));
        self.revised = revised;
    }

    /// Grows the bounds of a body's colliders such that they contain them, as queries between steps expect. A body that had
    /// left its bounds gets new ones in the next search.
    pub(crate) fn cover(&mut self, bodies: &BodySet, body: u32) {
        for collider in bodies.colliders.of(body) {
            let bounds = bodies.bounds(collider);
            if !self.contains(collider, &bounds) {
                let known = self.broad_phase.bounds(collider).unwrap_or(bounds);
                self.broad_phase.enlarge(collider, known.union(&bounds));
                self.motion_bounds[body as usize].bounds_budget = f64::NEG_INFINITY;
            }
        }
    }

    /// Registers that the velocity of a body was changed.
    pub(crate) fn mark_velocity_dirty(&mut self, bodies: &BodySet, body: u32) {
        self.motion_bounds[body as usize].refresh_speed(bodies, body);
        // The bounds of inertial bodies follow their velocities in every step.
        if !bodies.is_inertial(body as usize) {
            self.set_near_bounds(bodies, body, 0.0);
        }
    }

    /// Updates the pairs `numbers` of a body that has a new material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, numbers: &[u32]) {
        for &number in numbers {
            self.pairs.all[number as usize].refresh_materials(bodies);
        }
    }

    /// Keeps two bodies from colliding, or lets them collide again.
    pub(crate) fn set_disabled(&mut self, a: u32, b: u32, disabled: bool) {
        let key = (a.min(b), a.max(b));
        match (self.disabled_pairs.binary_search(&key), disabled) {
            (Err(at), true) => self.disabled_pairs.insert(at, key),
            (Ok(at), false) => {
                self.disabled_pairs.remove(at);
            }
            _ => {}
        }
    }

    /// Returns whether two colliders may collide.
    pub(crate) fn allows(&self, key: (u32, u32), bodies: &BodySet, joints: &JointSet) -> bool {
        let [a, b] = bodies.colliders.bodies(key);
        let [one, other] =
            [key.0, key.1].map(|collider| &bodies.colliders.solids[collider as usize]);
        one.filter.allows(&other.filter)
            && a != b
            && (one.is_solid() && other.is_solid())
            && !joints.is_jointed(a, b)
            && self.disabled_pairs.binary_search(&(a.min(b), a.max(b))).is_err()
    }

    /// Registers that two bodies may begin or cease to collide: the next search creates or drops their pairs.
    pub(crate) fn refilter(&mut self, bodies: &BodySet, a: u32, b: u32) {
        for one in bodies.colliders.of(a) {
            let others = bodies.colliders.of(b);
            self.refiltered.extend(others.map(|other| (one.min(other), one.max(other))));
        }
    }

    /// Registers that the filter of a body was changed; `numbers` are its pairs.
    pub(crate) fn refilter_body(&mut self, bodies: &BodySet, body: u32, numbers: &[u32]) {
        let known = numbers.iter().map(|&number| self.pairs.all[number as usize].key());
        self.refiltered.extend(known);
        for collider in bodies.colliders.of(body) {
            if let Some(bounds) = self.broad_phase.bounds(collider) {
                let refiltered = &mut self.refiltered;
                self.broad_phase.query(&bounds, |other| {
                    refiltered.push((collider.min(other), collider.max(other)));
                });
            }
        }
    }
}

/// Changes of the method.
impl CollisionPipeline {
    /// Prepares for sweeping a body that was exact: its odometer did not count.
    pub(crate) fn begin_sweeping(&mut self, bodies: &BodySet, body: u32) {
        let motion_bounds = &mut self.motion_bounds[body as usize];
        motion_bounds.refresh_speed(bodies, body);
        motion_bounds.sleep_timer = 0.0;
    }

    /// Prepares for exact steps of a body that was swept.
    pub(crate) fn begin_exact(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        body: u32,
        time: StepTime,
    ) {
        self.expect_travel(bodies, settings, body, time);
    }
}
