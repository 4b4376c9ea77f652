//! Sleeping in a swept world: islands at rest are put to sleep and cost nothing until another body touches them.
//!
//! Sleeping bodies have zero velocity. Their pairs and contacts move to the sleeping set with their impulses, so that
//! an island wakes in the state in which it fell asleep. Awake bodies collide with a sleeping body as with a fixed one;
//! a body that touches it wakes the whole island before any impulse is found.

use super::Swept;
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, ContactSet, PairEntry, PairList};
use crate::constraints::contact_block::get;
use crate::constraints::graph::ConstraintGraph;
use crate::constraints::solver_bodies::{DeltaPose, SolverBodies, SweepBody, gather};
use crate::constraints::solver_rows::SweptContact;
use crate::constraints::{Constraints, Contacts};
use crate::islands::{Islands, links};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::model::Model;
use crate::settings::Settings;
use crate::simd::F4;
use crate::threads::{DisjointSlice, ThreadPool};

/// Interval at which resting islands are searched for, in steps.
const ISLAND_INTERVAL: u32 = 8;

/// The island number of an awake body.
const AWAKE: u32 = u32::MAX;

/// The sleeping bodies, with their islands, pairs and contacts.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SleepingSet {
    /// By body: the number of its island, or [`AWAKE`].
    island_of: Vec<u32>,
    /// By island: its bodies, ascending; empty if it was woken.
    members: Vec<Vec<u32>>,
    /// Numbers of empty islands.
    free: Vec<u32>,
    /// Number of sleeping bodies.
    pub(crate) count: usize,
    /// Contacts of the sleeping pairs.
    pub(crate) graph: ConstraintGraph,
    /// Whether an environment body was changed: some pairs may have to move back to the sleeping set.
    environment_changed: bool,
    /// Number of steps, for [`ISLAND_INTERVAL`].
    steps: u32,
    #[serde(skip)]
    sets: Islands,
    /// By body: whether it keeps its island awake; whether it is in an island with others.
    #[serde(skip)]
    kept_awake: Vec<bool>,
    #[serde(skip)]
    grouped: Vec<bool>,
    /// Bodies at rest: the first body of the island, and the body.
    #[serde(skip)]
    resting: Vec<(u32, u32)>,
    /// Islands to wake.
    #[serde(skip)]
    wake_queue: Vec<u32>,
    #[serde(skip)]
    moved: Vec<PairEntry>,
}

impl SleepingSet {
    /// Collects those of `bodies` whose islands nothing keeps awake: the first body of the island and the body itself,
    /// ascending.
    fn collect_resting(
        &mut self,
        islands: &Islands,
        bodies: &[u32],
        kept_awake: &[bool],
        resting: &mut Vec<(u32, u32)>,
    ) {
        resting.clear();
        self.grouped.clear();
        self.grouped.resize(kept_awake.len(), false);
        for island in 0..islands.len() {
            let members = islands.members(island);
            members.iter().for_each(|&body| self.grouped[body as usize] = true);
            if !members.iter().any(|&body| kept_awake[body as usize]) {
                resting.extend(members.iter().map(|&body| (members[0], body)));
            }
        }
        let alone = bodies
            .iter()
            .filter(|&&body| !self.grouped[body as usize] && !kept_awake[body as usize]);
        resting.extend(alone.map(|&body| (body, body)));
        resting.sort_unstable();
    }

    #[inline]
    pub(crate) fn contains(&self, body: u32) -> bool {
        self.count > 0 && self.island_of.get(body as usize).is_some_and(|&island| island != AWAKE)
    }

    /// Returns whether a body is inertial and awake.
    fn is_awake(&self, bodies: &BodySet, body: u32) -> bool {
        bodies.is_inertial(body as usize) && !self.contains(body)
    }

    /// Returns whether a body may move: an awake body, or an environment body with a velocity.
    fn can_move(&self, bodies: &BodySet, body: u32) -> bool {
        match bodies.is_inertial(body as usize) {
            true => !self.contains(body),
            false => bodies.motions[body as usize].velocity != SpatialVector::ZERO,
        }
    }

    /// Adds an island.
    fn add(&mut self, bodies: impl Iterator<Item = u32>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.members.push(Vec::new());
            self.members.len() as u32 - 1
        });
        let members = &mut self.members[number as usize];
        members.extend(bodies);
        for &body in &*members {
            self.island_of[body as usize] = number;
        }
        self.count += members.len();
    }

    /// Dissolves an island, if it exists. Calls `visit` with its bodies.
    fn dissolve(&mut self, island: u32, mut visit: impl FnMut(u32)) {
        let members = &mut self.members[island as usize];
        if members.is_empty() {
            return;
        }
        self.count -= members.len();
        for body in members.drain(..) {
            self.island_of[body as usize] = AWAKE;
            visit(body);
        }
        self.free.push(island);
    }
}

impl Swept {
    pub(crate) fn is_asleep(&self, body: u32) -> bool {
        self.sleeping.contains(body)
    }

    /// Returns the number of sleeping bodies.
    pub(crate) fn asleep(&self) -> usize {
        self.sleeping.count
    }

    /// Wakes the island of a body, if it sleeps.
    pub(crate) fn wake(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
        body: u32,
    ) {
        if self.sleeping.contains(body) {
            let island = self.sleeping.island_of[body as usize];
            self.sleeping.wake_queue.push(island);
            self.wake_queued(bodies, collision, constraints, None);
        }
    }

    pub(crate) fn wake_all(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
    ) {
        if self.sleeping.count > 0 {
            self.sleeping.wake_queue.extend(0..self.sleeping.members.len() as u32);
            self.wake_queued(bodies, collision, constraints, None);
        }
    }

    /// Wakes the island of a body that is changed; for an environment body, the islands that rest on it or are jointed
    /// to it.
    pub(crate) fn wake_neighbors(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
        body: u32,
    ) {
        if self.sleeping.count == 0 || bodies.is_inertial(body as usize) {
            return self.wake(bodies, collision, constraints, body);
        }
        let PairList { asleep, all, .. } = &collision.pairs;
        let SleepingSet { island_of, wake_queue, .. } = &mut self.sleeping;
        let other = |[a, b]: [u32; 2]| (a == body).then_some(b).or((b == body).then_some(a));
        for &PairEntry { key, number, .. } in asleep {
            if let Some(other) = other(bodies.colliders.bodies(key))
                && all[number as usize].has_contact()
            {
                wake_queue.push(island_of[other as usize]);
            }
        }
        for index in joints.of(body) {
            if let Some(other) = other(joints.joints[index as usize].bodies)
                && let Some(&island) = island_of.get(other as usize)
                && island != AWAKE
            {
                wake_queue.push(island);
            }
        }
        self.wake_queued(bodies, collision, constraints, Some(body));
    }

    /// Wakes the islands in the queue and those that have contact points with them. Pairs of the environment body
    /// `environment_changed` are invalidated.
    fn wake_queued(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        constraints: &mut Constraints,
        environment_changed: Option<u32>,
    ) {
        let CollisionPipeline { pairs, motion_bounds, .. } = collision;
        let Self { sleeping, .. } = self;
        let graph = &mut constraints.contacts;
        while !sleeping.wake_queue.is_empty() {
            while let Some(island) = sleeping.wake_queue.pop() {
                sleeping.dissolve(island, |body| {
                    motion_bounds[body as usize].sleep_timer = 0.0;
                });
            }
            for &PairEntry { key, number, .. } in &pairs.asleep {
                let [a, b] = bodies.colliders.bodies(key);
                let [a_asleep, b_asleep] = [a, b].map(|body| sleeping.contains(body));
                let inertial = [a, b].iter().all(|&body| bodies.is_inertial(body as usize));
                if inertial && a_asleep != b_asleep && pairs.all[number as usize].has_contact() {
                    let body = if a_asleep { a } else { b };
                    sleeping.wake_queue.push(sleeping.island_of[body as usize]);
                }
            }
        }
        let mut asleep = std::mem::take(&mut pairs.asleep);
        asleep.retain(|&entry| {
            let PairEntry { key, number, .. } = entry;
            let ends = bodies.colliders.bodies(key);
            let is_awake = ends.iter().any(|&body| sleeping.is_awake(bodies, body));
            let stays = !is_awake && !ends.iter().any(|&body| Some(body) == environment_changed);
            if stays {
                return true;
            }
            if is_awake {
                pairs.order.push(entry);
                transfer_contact(number, pairs, &mut sleeping.graph, graph, bodies);
            } else {
                pairs.order.push(PairEntry { recheck_distance: f64::NEG_INFINITY, ..entry });
                sleeping.graph.remove_contact(pairs, number);
                pairs.all[number as usize].invalidate();
            }
            false
        });
        pairs.asleep = asleep;
        pairs.order.sort_unstable_by_key(|entry| entry.key);
        sleeping.environment_changed |= environment_changed.is_some();
        self.lists_dirty = true;
        constraints.joints.mark_dirty();
    }

    /// Wakes the islands that awake or kinematic bodies touch, or will touch within a step.
    #[allow(unsafe_code)]
    pub(crate) fn wake_touched(
        &mut self,
        model: &Model,
        contacts: &mut Contacts,
        threads: &mut ThreadPool,
        dt: f64,
    ) {
        let Model { bodies, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let (pairs, graph) = (&mut collision.pairs, &constraints.contacts);
        if self.sleeping.count == 0 || pairs.order.is_empty() {
            return;
        }
        let Self { sleeping, outputs, .. } = self;
        let shared = DisjointSlice::new(outputs);
        let (sleeping_set, all, order) = (&*sleeping, &pairs.all, &pairs.order);
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let output = unsafe { shared.get_mut(worker.index) };
            output.touched.clear();
            output.passed.clear();
            for &PairEntry { key, number, .. } in &order[worker.range(order.len())] {
                let [a, b] = bodies.colliders.bodies(key);
                let slot = all[number as usize].slot;
                let asleep = [a, b].map(|body| sleeping_set.contains(body));
                if !slot.is_assigned() || asleep == [false; 2] || slot.set != ContactSet::Swept {
                    continue;
                }
                if touches_soon(bodies, graph.contact(slot), [a, b], settings, dt) {
                    let sleeper = if asleep[0] { a } else { b };
                    output.touched.push(sleeping_set.island_of[sleeper as usize]);
                } else if ![a, b].iter().any(|&body| sleeping_set.is_awake(bodies, body)) {
                    output.passed.push(number);
                }
            }
        });
        for output in outputs.iter() {
            sleeping.wake_queue.extend_from_slice(&output.touched);
            // Neither body of these contacts can respond to an impulse: they are found again in the next step.
            for &number in &output.passed {
                pairs.all[number as usize].invalidate();
            }
        }
        let mut passed: Vec<u32> =
            outputs.iter().flat_map(|output| output.passed.iter().copied()).collect();
        if !sleeping.wake_queue.is_empty() {
            sleeping.wake_queue.sort_unstable();
            sleeping.wake_queue.dedup();
            self.wake_queued(bodies, collision, constraints, None);
        }
        passed.retain(|&number| {
            let ends = collision.pairs.all[number as usize].bodies;
            !ends.iter().any(|&body| self.sleeping.is_awake(bodies, body))
        });
        for number in passed {
            constraints.contacts.remove_contact(&mut collision.pairs, number);
        }
    }

    /// Puts islands to sleep in which every body has been at rest for long enough.
    pub(crate) fn sleep_resting(&mut self, model: &mut Model, contacts: &mut Contacts, dt: f64) {
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let CollisionPipeline { pairs, motion_bounds, .. } = &*collision;
        let Self { sleeping, awake, .. } = self;
        let graph = &constraints.contacts;
        sleeping.steps = sleeping.steps.wrapping_add(1);
        if !sleeping.steps.is_multiple_of(ISLAND_INTERVAL) {
            return;
        }
        let is_rested = |body: u32| motion_bounds[body as usize].sleep_timer >= settings.sleep_time;
        if !awake.iter().any(|&body| is_rested(body)) {
            if std::mem::take(&mut sleeping.environment_changed) {
                self.move_to_sleeping(bodies, &mut collision.pairs, constraints);
            }
            return;
        }
        let count = bodies.poses.len();
        let mut resting = std::mem::take(&mut sleeping.resting);
        let mut sets = std::mem::take(&mut sleeping.sets);
        let mut kept_awake = std::mem::take(&mut sleeping.kept_awake);
        kept_awake.clear();
        kept_awake.resize(count, false);
        for &body in awake.iter() {
            kept_awake[body as usize] = !is_rested(body);
        }
        let touching = pairs.order.iter().filter_map(|&PairEntry { number, .. }| {
            let pair = &pairs.all[number as usize];
            let [a, b] = pair.bodies;
            let contact =
                pair.has_contact_in(ContactSet::Swept).then(|| graph.contact(pair.slot))?;
            let touches = pair.touching || touches_soon(bodies, contact, [a, b], settings, dt);
            touches.then_some((number, [a, b]))
        });
        let linked = links(touching, joints).filter(|&(_, [a, b])| {
            let moving = [a, b].map(|body| sleeping.is_awake(bodies, body));
            for (body, other) in [(a, b), (b, a)] {
                // A body on a moving body stays awake, and so does a body on a sleeping one, which has to wake first.
                let disturbed = sleeping.contains(other) || sleeping.can_move(bodies, other);
                if moving != [true; 2] && sleeping.is_awake(bodies, body) && disturbed {
                    kept_awake[body as usize] = true;
                }
            }
            moving == [true; 2]
        });
        sets.build(count, awake, linked);
        sleeping.collect_resting(&sets, awake, &kept_awake, &mut resting);
        (sleeping.sets, sleeping.kept_awake) = (sets, kept_awake);
        sleeping.island_of.resize(count, AWAKE);
        for island in resting.chunk_by(|a, b| a.0 == b.0) {
            sleeping.add(island.iter().map(|&(_, body)| body));
        }
        for &(_, body) in &resting {
            collision.motion_bounds[body as usize].speed = 0.0;
            put_to_sleep(bodies, &mut constraints.bodies, body as usize);
        }
        if std::mem::take(&mut self.sleeping.environment_changed) || !resting.is_empty() {
            self.move_to_sleeping(bodies, &mut collision.pairs, constraints);
        }
        self.sleeping.resting = resting;
    }

    /// Moves the pairs of which neither body can move, and their contacts, to the sleeping set.
    fn move_to_sleeping(
        &mut self,
        bodies: &BodySet,
        pairs: &mut PairList,
        constraints: &mut Constraints,
    ) {
        let (sleeping, graph) = (&mut self.sleeping, &mut constraints.contacts);
        sleeping.graph.resize(bodies.poses.len() + 1);
        let mut order = std::mem::take(&mut pairs.order);
        let mut moved = std::mem::take(&mut sleeping.moved);
        moved.clear();
        order.retain(|&entry| {
            let PairEntry { key, number, .. } = entry;
            let mut ends = bodies.colliders.bodies(key).into_iter();
            let stays = ends.any(|body| sleeping.can_move(bodies, body));
            if !stays {
                moved.push(entry);
                transfer_contact(number, pairs, graph, &mut sleeping.graph, bodies);
            }
            stays
        });
        pairs.order = order;
        pairs.asleep.extend_from_slice(&moved);
        pairs.asleep.sort_unstable_by_key(|entry| entry.key);
        sleeping.moved = moved;
        self.lists_dirty = true;
        constraints.joints.mark_dirty();
    }
}

/// Stops a body, and makes the solver treat it as one that impulses do not move.
fn put_to_sleep(bodies: &mut BodySet, solver_bodies: &mut SolverBodies, index: usize) {
    bodies.motions[index].velocity = SpatialVector::ZERO;
    let (mut frame, _) = gather(bodies, index, false);
    frame.position.0[3] = 0.0;
    frame.spin_rows = [F4::ZERO; 3];
    solver_bodies.frames[index + 1] = frame;
    solver_bodies.velocities[index + 1] = SweepBody::default();
    solver_bodies.delta_poses[index + 1] = DeltaPose::default();
}

/// Moves the contact of a pair, if it has one, from one graph to another, with its rows if both have rows.
pub(super) fn transfer_contact(
    number: u32,
    pairs: &mut PairList,
    from: &mut ConstraintGraph,
    to: &mut ConstraintGraph,
    bodies: &BodySet,
) {
    let pair = &pairs.all[number as usize];
    if !pair.has_contact() {
        return;
    }
    let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
    let slot = to.transfer(from, pair.slot, inertial);
    from.release(pairs, number);
    pairs.all[number as usize].slot = slot;
}

/// Returns whether bodies touch at a contact, or will touch within a step at their velocities and forces.
fn touches_soon(
    bodies: &BodySet,
    SweptContact { block, rows, lane }: SweptContact<'_>,
    pair: [u32; 2],
    settings: &Settings,
    dt: f64,
) -> bool {
    let [a, b] = pair.map(|body| body as usize);
    let (pose_a, pose_b) = (&bodies.poses[a], &bodies.poses[b]);
    let (va, vb) = (&bodies.motions[a].velocity, &bodies.motions[b].velocity);
    let pushed =
        [a, b].map(|i| bodies.loads[i].user.linear.length() * bodies.motions[i].inverse_mass);
    let fall = (settings.gravity.length() + pushed[0] + pushed[1]) * dt * dt;
    let reach = rows.touch_distance.0[lane] + fall;
    let normal = pose_a.transform_vector(get(&block.cache.local_normal, lane));
    block.cache.anchors[..block.counts[lane] as usize].iter().any(|[on_a, on_b]| {
        let on_a = pose_a.transform_point(get(on_a, lane));
        let on_b = pose_b.transform_point(get(on_b, lane));
        let speed_a = va.linear + va.angular.cross(on_a - pose_a.position);
        let speed_b = vb.linear + vb.angular.cross(on_b - pose_b.position);
        let closing = -(speed_b - speed_a).dot(normal);
        (on_b - on_a).dot(normal) - (closing * dt).max(0.0) <= reach
    })
}
