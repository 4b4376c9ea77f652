//! Sleep of exact islands: one whose bodies have been slow for a while is stopped, and then skipped like one at rest.
//!
//! It wakes as an island at rest ends its rest: when a body that moves comes near, the user changes something, or a field
//! exerts another force (which is found only while the time step does not vary).

use super::{NONE, Rest};
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::islands::{Islands, Link, links};
use crate::math::SpatialVector;
use crate::model::Model;
use crate::motion::Motion;

/// Fraction of [`Settings::sleep_speed`] that a body may gain within [`Settings::sleep_time`] at its present acceleration. One
/// that gains more, as on a slope that is a little too steep, is slow but about to move.
const GAIN: f64 = 0.1;

/// Interval at which islands to put to sleep are searched for, in steps.
const INTERVAL: u32 = 8;

/// The marks of a body in a search for islands to put to sleep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// It keeps its island awake.
    kept_awake: bool,
    /// It is in an island, so the island decides.
    in_island: bool,
}

impl Rest {
    /// Returns whether a body is in an island that was put to sleep.
    #[inline]
    pub(crate) fn is_asleep(&self, body: u32) -> bool {
        let first = self.island.get(body as usize).copied().unwrap_or(NONE);
        self.any_asleep && first != NONE && self.asleep[first as usize]
    }

    /// Returns whether there may be sleeping islands.
    pub(crate) fn any_asleep(&self) -> bool {
        self.any_asleep
    }

    /// Returns the exact bodies that are awake, ascending.
    pub(crate) fn awake(&self) -> &[u32] {
        &self.awake
    }

    /// Returns the number of sleeping bodies among the exact ones.
    pub(crate) fn count_asleep(&self, exact: &[u32]) -> usize {
        match self.any_asleep {
            true => exact.iter().filter(|&&body| self.is_asleep(body)).count(),
            false => 0,
        }
    }

    /// Measures for how long exact bodies have been slow, and puts islands to sleep once all their bodies have been slow
    /// for long enough. Here bodies near each other are of one island, because they would wake each other.
    pub(crate) fn sleep(
        &mut self,
        model: &mut Model,
        exact: &[u32],
        collision: &CollisionPipeline,
        motion: &Motion,
        islands: &mut Islands,
        dt: f64,
    ) {
        let Model { bodies, joints, settings, .. } = model;
        if self.disabled {
            return;
        }
        self.steps = self.steps.wrapping_add(1);
        let mut any = false;
        for &body in exact {
            let index = body as usize;
            if self.is_asleep(body) {
                continue;
            }
            let SpatialVector { linear, angular } = bodies.motions[index].velocity;
            let speed = linear.length() + angular.length() * bodies.extents[index].radius;
            let gain = motion.last_acceleration(bodies, body) * settings.sleep_time;
            let slow = speed <= settings.sleep_speed && gain <= GAIN * settings.sleep_speed;
            let slow_time = &mut self.slow_time[index];
            *slow_time = if slow { *slow_time + dt } else { 0.0 };
            any |= *slow_time >= settings.sleep_time;
        }
        if !any || !self.steps.is_multiple_of(INTERVAL) {
            return;
        }
        let mut marks = std::mem::take(&mut self.marks);
        let linked = || links(near(collision), joints);
        self.mark_awake(bodies, exact, linked(), settings.sleep_time, &mut marks);
        islands.build(bodies.poses.len(), exact, linked());
        for island in 0..islands.len() {
            let members = islands.members(island);
            members.iter().for_each(|&body| marks[body as usize].in_island = true);
            let sleeps = members.iter().all(|&body| self.is_asleep(body));
            if !sleeps && !members.iter().any(|&body| marks[body as usize].kept_awake) {
                self.put_to_sleep(bodies, members);
            }
        }
        for &body in exact {
            let Marks { kept_awake, in_island } = marks[body as usize];
            if !kept_awake && !in_island && !self.is_asleep(body) {
                self.put_to_sleep(bodies, &[body]);
            }
        }
        self.marks = marks;
        self.update(exact);
    }

    /// Marks the bodies that have not been slow for long enough, or that are near a moving environment body; these start
    /// over.
    fn mark_awake(
        &mut self,
        bodies: &BodySet,
        exact: &[u32],
        near: impl Iterator<Item = (Link, [u32; 2])>,
        sleep_time: f64,
        marks: &mut Vec<Marks>,
    ) {
        marks.clear();
        marks.resize(bodies.poses.len(), Marks::default());
        for &body in exact {
            let slow = self.slow_time[body as usize] >= sleep_time;
            marks[body as usize].kept_awake = !slow && !self.is_asleep(body);
        }
        for (_, [a, b]) in near {
            for (body, other) in [(a, b), (b, a)] {
                let moves = bodies.motions[other as usize].velocity != SpatialVector::ZERO;
                if moves && !bodies.is_inertial(other as usize) {
                    marks[body as usize].kept_awake = true;
                    self.slow_time[body as usize] = 0.0;
                }
            }
        }
    }

    /// Stops an island; [`update`](Self::update) follows.
    fn put_to_sleep(&mut self, bodies: &mut BodySet, members: &[u32]) {
        let first = members[0];
        for &body in members {
            bodies.motions[body as usize].velocity = SpatialVector::ZERO;
            self.island[body as usize] = first;
            self.asleep[body as usize] = false;
            self.certificates[body as usize] = None;
        }
        self.asleep[first as usize] = true;
        (self.any_asleep, self.dirty) = (true, true);
    }
}

/// Returns positions and bodies of the near pairs.
fn near(collision: &CollisionPipeline) -> impl Iterator<Item = (u32, [u32; 2])> {
    (0..).zip(collision.near_pairs()).map(|(position, near)| (position, near.pair.bodies))
}
