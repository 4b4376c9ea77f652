//! The search for pairs, on enlarged bounds that a body seldom leaves.
#![allow(unsafe_code)]

use super::contact_pair::ContactPair;
use super::motion_bounds::{closing_speed, finite_size, path_bounds, travel};
use super::pairs::PairEntry;
use super::pipeline::CollisionPipeline;
use crate::bodies::BodySet;
use crate::geometry::Aabb;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::{Settings, StepTime};
use crate::threads::{DisjointSlice, ThreadPool};

/// Extra enlargement of bounds, as a fraction of the body's size (half its least width).
const SLACK: f64 = 0.2;

/// Number of steps at the present velocity that enlarged bounds cover.
const AHEAD: f64 = 3.0;

/// The results of one worker in a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Bodies that leave their bounds.
    moved: Vec<u32>,
    candidates: Vec<(u32, u32)>,
}

impl CollisionPipeline {
    /// Drops the pairs that may no longer collide, before a search, which creates those that may. Their contacts are
    /// listed as lost.
    pub(crate) fn apply_filters(&mut self, bodies: &BodySet, joints: &JointSet) {
        let mut refiltered = std::mem::take(&mut self.refiltered);
        // The order in which a tree is visited depends on its history.
        refiltered.sort_unstable();
        refiltered.dedup();
        refiltered.retain(|&key| {
            let inertial = [key.0, key.1].iter().any(|&collider| bodies.is_of_inertial(collider));
            let allowed = inertial && self.allows(key, bodies, joints);
            let known = self.pairs.find(key);
            if let Some(number) = known.filter(|_| !allowed) {
                self.drop_pair(number);
            }
            allowed && known.is_none()
        });
        self.refiltered = refiltered;
    }

    /// Creates the pairs of bodies that may come near each other in a swept step, and drops the pairs that were found
    /// apart. `moving` lists the awake and the kinematic bodies.
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        moving: [&[u32]; 2],
        dt: f64,
        threads: &mut ThreadPool,
    ) {
        let fall = settings.gravity.length() * dt * dt;
        self.find_moved(moving, bodies, threads, |collision, body| {
            let motion = &collision.motion_bounds[body as usize];
            let margin = settings.margin * finite_size(bodies, body) + fall;
            if motion.odometer + motion.speed * dt + margin <= motion.bounds_budget {
                return false;
            }
            let path = |collider: u32| path_bounds(bodies, collider, dt).grown(margin);
            let mut colliders = bodies.colliders.of(body);
            colliders.any(|collider| !collision.contains(collider, &path(collider)))
        });
        self.enlarge_bounds(bodies, |collision, body, collider| {
            let slack = (settings.margin + SLACK) * finite_size(bodies, body) + fall;
            let bounds = path_bounds(bodies, collider, AHEAD * dt).grown(slack);
            collision.motion_bounds[body as usize].bounds_budget =
                collision.motion_bounds[body as usize].odometer + slack;
            bounds
        });
        self.create_pairs(bodies, joints, threads);
    }

    /// Creates the pairs of exact bodies that can meet within a step `dt`, those of fast bodies within a substep `h`.
    /// Exact bodies other than the `computed` ones are where they were when last computed.
    pub(crate) fn find_exact_pairs(
        &mut self,
        bodies: &BodySet,
        computed: &[u32],
        joints: &JointSet,
        settings: &Settings,
        StepTime { dt, h }: StepTime,
        threads: &mut ThreadPool,
    ) {
        // Within a step, bodies are no longer where they were at its start.
        if std::mem::take(&mut self.has_path_bounds) {
            self.revised.extend_from_slice(computed);
        }
        for &body in computed {
            self.expect_travel(bodies, settings, body, StepTime { dt, h });
        }
        let mut kinematic = std::mem::take(&mut self.kinematic);
        kinematic.clear();
        for &body in &bodies.environment {
            let velocity = &bodies.motions[body as usize].velocity;
            if *velocity != SpatialVector::ZERO {
                self.set_near_bounds(bodies, body, travel(bodies, body, dt));
                kinematic.push(body);
            }
        }
        self.find_moved([computed, &kinematic], bodies, threads, |collision, body| {
            let near = &collision.near_bounds;
            let mut colliders = bodies.colliders.of(body);
            colliders.any(|collider| !collision.contains(collider, &near[collider as usize]))
        });
        self.kinematic = kinematic;
        self.enlarge_bounds(bodies, |collision, body, collider| {
            collision.bounds_around_near(bodies, settings, [body, collider], dt)
        });
        self.create_pairs(bodies, joints, threads);
    }

    /// Returns enlarged bounds of a collider of a body that contain its near bounds.
    fn bounds_around_near(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        [body, collider]: [u32; 2],
        dt: f64,
    ) -> Aabb {
        let near = self.near_bounds[collider as usize];
        // Swept steps cannot rely on an odometer that does not count.
        self.motion_bounds[body as usize].bounds_budget =
            self.motion_bounds[body as usize].odometer;
        if self.travels[body as usize] == f64::INFINITY {
            // Over the whole step, so that groups of bodies that may meet within it are known when it begins.
            return path_bounds(bodies, collider, dt).union(&near);
        }
        let fall = settings.gravity.length() * dt * dt;
        let slack = (settings.margin + SLACK) * finite_size(bodies, body) + fall;
        path_bounds(bodies, collider, AHEAD * dt).grown(slack).union(&near)
    }

    /// Finds the bodies that leave their bounds: those of the lists that `leaves`, and those without bounds.
    fn find_moved(
        &mut self,
        moving: [&[u32]; 2],
        bodies: &BodySet,
        threads: &mut ThreadPool,
        leaves: impl Fn(&Self, u32) -> bool + Sync,
    ) {
        for body in self.enlarged_bodies.drain(..) {
            self.enlarged[body as usize] = false;
        }
        let mut searches = std::mem::take(&mut self.searches);
        if searches.len() < threads.count() {
            searches.resize_with(threads.count(), Search::default);
        }
        for search in &mut searches {
            search.moved.clear();
            search.candidates.clear();
        }
        let shared = DisjointSlice::new(&mut searches);
        let collision = &*self;
        threads.run(|worker| {
            // SAFETY: each worker has its own results.
            let search = unsafe { shared.get_mut(worker.index) };
            for list in moving {
                for &body in &list[worker.range(list.len())] {
                    let has_bounds = collision.motion_bounds[body as usize].has_bounds();
                    if !has_bounds || leaves(collision, body) {
                        search.moved.push(body);
                    }
                }
            }
        });
        // Environment bodies at rest leave their bounds only if they were moved; sleeping bodies were woken then.
        let rests = |body: u32| {
            !bodies.is_inertial(body as usize)
                && bodies.motions[body as usize].velocity == SpatialVector::ZERO
        };
        searches[0].moved.extend(self.moved_environment.drain(..).filter(|&body| rests(body)));
        self.searches = searches;
    }

    /// Gives the colliders of bodies that leave their bounds new ones: `bounds` returns those of a body's collider.
    fn enlarge_bounds(&mut self, bodies: &BodySet, bounds: impl Fn(&mut Self, u32, u32) -> Aabb) {
        if self.searches.iter().all(|search| search.moved.is_empty()) {
            return;
        }
        let searches = std::mem::take(&mut self.searches);
        for &body in searches.iter().flat_map(|search| &search.moved) {
            for collider in bodies.colliders.of(body) {
                let bounds = bounds(self, body, collider);
                self.enlarge(body, collider, bounds);
            }
        }
        self.searches = searches;
        self.broad_phase.rebuild();
    }

    /// Enlarges the bounds of a collider of a body.
    pub(super) fn enlarge(&mut self, body: u32, collider: u32, bounds: Aabb) {
        self.broad_phase.enlarge(collider, bounds);
        if !std::mem::replace(&mut self.enlarged[body as usize], true) {
            self.enlarged_bodies.push(body);
        }
    }

    /// Finds the bodies whose bounds overlap those of enlarged bodies, creates their pairs, and drops pairs. Each worker
    /// queries for the bodies that it found.
    fn create_pairs(&mut self, bodies: &BodySet, joints: &JointSet, threads: &mut ThreadPool) {
        let same_bounds = self.searches.iter().all(|search| search.moved.is_empty());
        if same_bounds && self.dropped.is_empty() && self.refiltered.is_empty() {
            return;
        }
        let mut searches = std::mem::take(&mut self.searches);
        let shared = DisjointSlice::new(&mut searches);
        let collision = &*self;
        threads.run(|worker| {
            // SAFETY: each worker has its own results.
            let Search { moved, candidates } = unsafe { shared.get_mut(worker.index) };
            for &body in &*moved {
                for collider in bodies.colliders.of(body) {
                    collision.query_candidates(bodies, body, collider, candidates);
                }
            }
        });
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        searches.iter().for_each(|search| candidates.extend_from_slice(&search.candidates));
        let overlapping = |&(a, b): &(u32, u32)| self.broad_phase.overlap(a, b);
        candidates.extend(self.refiltered.drain(..).filter(overlapping));
        candidates.sort_unstable();
        // A body that was moved twice is listed twice.
        candidates.dedup();
        candidates.retain(|&key| !self.pairs.is_asleep(key));
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.sort_unstable();
        dropped.dedup();
        let mut pairs = std::mem::take(&mut self.pairs);
        let make = |key: (u32, u32)| {
            self.allows(key, bodies, joints).then(|| ContactPair::new(key.0, key.1, bodies))
        };
        pairs.merge(&candidates, make, &dropped);
        dropped.clear();
        (self.pairs, self.dropped) = (pairs, dropped);
        (self.candidates, self.searches) = (candidates, searches);
    }

    /// Lists a pair that may no longer collide among those to drop, and its contact among the lost ones.
    fn drop_pair(&mut self, number: u32) {
        let pair = &mut self.pairs.all[number as usize];
        let key = pair.key();
        debug_assert!(self.pairs.asleep.binary_search_by_key(&key, |entry| entry.key).is_err());
        if std::mem::take(&mut pair.touching) {
            self.separated.push(key);
        }
        pair.invalidate();
        if pair.has_contact() {
            self.lost_contacts.push(number);
        }
        self.near.remove(key);
        self.dropped.push(number);
    }

    /// Adds the colliders whose bounds overlap those of a collider of an enlarged body.
    fn query_candidates(
        &self,
        bodies: &BodySet,
        body: u32,
        collider: u32,
        candidates: &mut Vec<(u32, u32)>,
    ) {
        let Some(bounds) = self.broad_phase.bounds(collider) else { return };
        let inertial = bodies.is_inertial(body as usize);
        self.broad_phase.query(&bounds, |other| {
            let body_of_other = bodies.colliders.body(other);
            // Of two enlarged bodies, the one with the smaller index adds the candidate.
            let duplicate = self.enlarged[body_of_other as usize] && body_of_other < body;
            let both_fixed = !inertial && !bodies.is_inertial(body_of_other as usize);
            if body_of_other != body && !duplicate && !both_fixed {
                candidates.push((collider.min(other), collider.max(other)));
            }
        });
    }

    /// Returns whether a pair of swept bodies without points may have come near enough to get some. Pairs with points
    /// have an infinite recheck distance.
    #[inline]
    pub(crate) fn needs_check(&self, bodies: &BodySet, entry: &PairEntry, dt: f64) -> bool {
        let pair = bodies.colliders.bodies(entry.key);
        let [a, b] = pair.map(|body| &self.motion_bounds[body as usize]);
        let travelled = a.odometer + b.odometer + (a.speed + b.speed) * dt;
        entry.recheck_distance < f64::INFINITY && travelled >= entry.recheck_distance
    }

    /// Returns whether two colliders of exact bodies that are near touch, or would come into contact within a step at their
    /// velocities.
    pub(crate) fn will_meet(
        &self,
        bodies: &BodySet,
        settings: &Settings,
        (a, b): (u32, u32),
        dt: f64,
    ) -> bool {
        let [one, other] = [a, b].map(|collider| bodies.bounds(collider));
        let apart = (one.min - other.max).max(other.min - one.max).max_element();
        let pair = bodies.colliders.bodies((a, b));
        let [size_a, size_b] = pair.map(|body| finite_size(bodies, body));
        apart <= closing_speed(bodies, pair) * dt + settings.margin * size_a.min(size_b)
    }

    /// Returns whether two colliders of exact bodies can meet within the step.
    #[inline]
    pub(crate) fn are_near(&self, (a, b): (u32, u32)) -> bool {
        self.near_bounds[a as usize].overlaps(&self.near_bounds[b as usize])
    }

    /// Returns whether two colliders may meet within a step, at the velocities of and the forces on their bodies.
    pub(crate) fn may_meet(
        &self,
        bodies: &BodySet,
        settings: &Settings,
        (a, b): (u32, u32),
        dt: f64,
    ) -> bool {
        let fall = settings.gravity.length() * dt * dt;
        let [a, b] = [a, b].map(|collider| {
            let body = bodies.colliders.body(collider);
            let margin = settings.margin * finite_size(bodies, body) + fall;
            path_bounds(bodies, collider, dt).grown(margin)
        });
        a.overlaps(&b)
    }

    /// Returns whether the enlarged bounds of a collider contain others.
    pub(super) fn contains(&self, collider: u32, bounds: &Aabb) -> bool {
        self.broad_phase.bounds(collider).is_some_and(|fat| fat.contains(bounds))
    }

    /// Returns whether the enlarged bounds of two colliders overlap.
    pub(crate) fn bounds_overlap(&self, a: u32, b: u32) -> bool {
        self.broad_phase.overlap(a, b)
    }

    /// Calls `visit` for every collider whose enlarged bounds overlap `bounds`.
    pub(crate) fn query(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.broad_phase.query(bounds, visit);
    }

    /// Calls `visit` for the colliders whose enlarged bounds cost at most `limit`, which `visit` may lower.
    pub(crate) fn search(
        &self,
        cost: impl Fn(&Aabb) -> f64,
        limit: f64,
        visit: impl FnMut(u32, &mut f64),
    ) {
        self.broad_phase.search(cost, limit, visit);
    }
}
