//! The manifolds of exact steps: found at the poses of a substep, and kept in the constraint graph.

use super::Constraints;
use super::contact_block::{ContactBlock, NewContact, get};
use crate::bodies::BodySet;
use crate::collision::{
    CollisionPipeline, Contact, ContactPair, ContactRecord, ExactContact, Near, PairList, Slot,
};
use crate::islands::Island;
use crate::joints::JointSet;
use crate::math::Pose;
use crate::settings::Settings;

/// Bodies that would approach by more than this fraction of the smaller size in half a substep meet along their paths
/// ([`crate::impacts`]), not by contact points found from far away.
const NEAR: f64 = 1.0;

/// The poses of bodies within a substep.
#[derive(Clone, Copy)]
pub(crate) struct PoseTimes<'a> {
    /// By body: the time of its pose.
    pub(crate) times: &'a [f64],
    /// Length of the substep, s.
    pub(crate) h: f64,
}

impl Constraints {
    /// Finds contact points at the present poses, including points that may close within `h`, for the near pairs of an
    /// island that have a body for which `moved` holds.
    pub(crate) fn update_manifolds(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        settings: &Settings,
        island: &Island,
        PoseTimes { times, h }: PoseTimes<'_>,
        moved: impl Fn(u32) -> bool,
    ) {
        let (pairs, near, workspace) = collision.pairs_and_near();
        for &position in &island.pairs {
            let number = near.number(position as usize);
            let pair = &mut pairs.all[number as usize];
            if !moved(pair.bodies[0]) && !moved(pair.bodies[1]) {
                continue;
            }
            let contact = near.contact_mut(position as usize);
            let closing = (2.0 * h * contact.closing_speed).min(NEAR * pair.size);
            let margin = settings.margin * pair.size + closing;
            let poses = matched_poses(bodies, pair, times);
            contact.centers = poses.map(|pose| pose.position);
            let (at, has_points) = (poses.each_ref(), contact.has_points());
            match pair.update_at(bodies, at, has_points, margin, settings.reuse, workspace) {
                None if has_points => {
                    let (block, lane) = self.exact.block(pair.slot);
                    carry_points(contact, block, lane, at);
                }
                None => {}
                Some(manifold) if manifold.is_empty() => {
                    contact.clear_points();
                    self.exact.release(pairs, number);
                }
                Some(manifold) => {
                    let slot = self.slot_of(bodies, pairs, number, settings);
                    let (block, _, lane) = self.exact.lane_mut(slot);
                    contact.replace_points(&manifold, |at| block.feature(lane, at));
                    block.set_points(lane, &manifold, at);
                }
            }
            near.register_points(position as usize);
        }
    }

    /// Returns the slot of a pair with points; adds its contact to the graph if it has none.
    fn slot_of(
        &mut self,
        bodies: &BodySet,
        pairs: &mut PairList,
        number: u32,
        settings: &Settings,
    ) -> Slot {
        let pair = &mut pairs.all[number as usize];
        if !pair.has_contact() {
            let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
            pair.slot = self.exact.add(&NewContact::of(pair, number, settings), inertial);
        }
        pair.slot
    }

    /// Clears the contacts of pairs of a body that was moved, until their manifolds are found again.
    pub(crate) fn invalidate(&mut self, pairs: &PairList, numbers: &[u32]) {
        for &number in numbers {
            let slot = pairs.all[number as usize].slot;
            if slot.is_assigned() {
                let (block, rows, lane) = self.lane_mut(slot);
                block.clear_points(lane);
                if let Some(rows) = rows {
                    rows.clear_impulses(lane);
                    rows.recheck(lane);
                }
            }
        }
        self.joints.mark_dirty();
    }

    /// Clears the contacts of pairs of a body that has a new shape.
    pub(crate) fn reshape(&mut self, pairs: &PairList, numbers: &[u32], settings: &Settings) {
        for &number in numbers {
            let pair = &pairs.all[number as usize];
            if pair.has_contact() {
                let new = NewContact::of(pair, number, settings);
                self.graph_mut(pair.slot.set).insert(pair.slot, &new);
            }
        }
        self.invalidate(pairs, numbers);
    }

    /// Updates the contacts of pairs of a body that has a new material.
    pub(crate) fn refresh_materials(&mut self, pairs: &PairList, numbers: &[u32]) {
        for &number in numbers {
            let pair = &pairs.all[number as usize];
            if pair.has_contact() {
                let (block, rows, lane) = self.lane_mut(pair.slot);
                block.cache.restitution.0[lane] = pair.restitution;
                block.any_restitution |= pair.restitution > 0.0;
                if let Some(rows) = rows {
                    rows.friction.0[lane] = pair.friction;
                }
            }
        }
    }

    /// Drops the pairs that may no longer collide, with their contacts.
    pub(crate) fn apply_filters(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &mut CollisionPipeline,
    ) {
        collision.apply_filters(bodies, joints);
        self.release_lost(collision);
    }

    /// Removes the contacts of pairs that are no longer near, or may no longer collide.
    pub(crate) fn release_lost(&mut self, collision: &mut CollisionPipeline) {
        while let Some(number) = collision.lost_contacts.pop() {
            self.release(&mut collision.pairs, number);
            collision.pairs.recheck(number);
        }
    }

    /// Returns the contact of a near pair at the bodies' poses, if it has points or pushed in the last step.
    pub(crate) fn record(&self, bodies: &BodySet, near: Near<'_>) -> Option<ContactRecord> {
        let Near { pair, contact } = near;
        if !contact.has_points() && !(contact.normal_impulse > 0.0) {
            return None;
        }
        let (mut normal, mut points) = (contact.normal, [Contact::default(); 4]);
        if contact.has_points() {
            let (block, lane) = self.exact.block(pair.slot);
            let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
            normal = poses[0].transform_vector(get(&block.cache.local_normal, lane));
            for (at, point) in contact.points().iter().enumerate() {
                let (position, gap) = block.point_at(lane, at, poses, normal);
                points[at] = Contact {
                    position,
                    gap,
                    feature: block.feature(lane, at),
                    impulse: point.impulse,
                    total_impulse: point.total_impulse,
                    approach: point.approach,
                    residual: point.residual(),
                };
            }
        }
        Some(ContactRecord {
            colliders: pair.colliders,
            bodies: pair.bodies,
            normal,
            friction: pair.friction,
            restitution: pair.restitution,
            impulse: contact.impulse,
            moments: contact.moments,
            points,
            len: contact.points().len(),
        })
    }

    /// Returns the deepest overlap of a near pair at the bodies' poses, m; zero if there is none.
    pub(crate) fn depth(&self, bodies: &BodySet, Near { pair, contact }: Near<'_>) -> f64 {
        if !contact.has_points() {
            return 0.0;
        }
        let (block, lane) = self.exact.block(pair.slot);
        let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
        let normal = poses[0].transform_vector(get(&block.cache.local_normal, lane));
        let depths =
            (0..contact.points().len()).map(|at| -block.point_at(lane, at, poses, normal).1);
        depths.fold(0.0, f64::max)
    }
}

/// Returns the poses of a pair at one time: the later one, to which the other body moves freely. Before its last impact
/// its path was different. The environment has no impacts.
fn matched_poses(bodies: &BodySet, pair: &ContactPair, times: &[f64]) -> [Pose; 2] {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let time = match [a, b].map(|body| bodies.is_inertial(body)) {
        [true, false] => times[a],
        [false, true] => times[b],
        _ => times[a].max(times[b]),
    };
    [a, b].map(|body| {
        let mut pose = bodies.poses[body];
        if time != times[body] {
            pose.position += bodies.motions[body].velocity.linear * (time - times[body]);
        }
        pose
    })
}

/// Moves the points of a contact along with the bodies.
fn carry_points(contact: &mut ExactContact, block: &ContactBlock, lane: usize, poses: [&Pose; 2]) {
    contact.normal = poses[0].transform_vector(get(&block.cache.local_normal, lane));
    let normal = contact.normal;
    for (at, point) in contact.points_mut().iter_mut().enumerate() {
        (point.position, point.gap) = block.point_at(lane, at, poses, normal);
    }
}
