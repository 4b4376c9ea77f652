//! Islands of a swept world that rest are put to sleep: nothing is done for them until something touches them.
//!
//! What sleeps has no velocity. Its pairs and contacts are set aside with their impulses, so that it goes on as it
//! went to sleep. To bodies that are awake it is an obstacle; what comes to touch it wakes the whole island before
//! any impulse is found.

use super::Swept;
use super::block::{ContactBlock, get};
use super::graph::Graph;
use super::islands::Islands;
use super::pairs::{Listed, Pairs};
use super::riders::{self, Rider, Shift};
use crate::bodies::BodySet;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::parallel::Parted;
use crate::settings::Settings;
use crate::simd::F4;

/// Islands are looked for every so many steps.
const EVERY: u32 = 8;

/// The island of a body that is awake.
const AWAKE: u32 = u32::MAX;

/// Bodies that sleep, and what is known of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sleepers {
    /// By body: the number of its island.
    islands: Vec<u32>,
    /// By island: its bodies, ascending; none if it was woken.
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// How many bodies sleep.
    pub(crate) count: usize,
    /// Pairs none of whose bodies moves, in the order of their bodies, and the contacts they have.
    pub(crate) order: Vec<Listed>,
    pub(crate) graph: Graph,
    /// Whether something was done to the environment: some pairs are to be set aside again.
    stirred: bool,
    steps: u32,
    sets: Islands,
    quiet: Vec<(u32, u32)>,
    called: Vec<u32>,
    moved: Vec<Listed>,
}

impl Sleepers {
    pub(crate) fn clear(&mut self) {
        self.islands.clear();
        self.members.clear();
        self.free.clear();
        self.order.clear();
        self.graph.clear();
        (self.count, self.steps) = (0, 0);
    }

    #[inline]
    pub(crate) fn holds(&self, body: u32) -> bool {
        self.count > 0 && self.islands.get(body as usize).is_some_and(|&island| island != AWAKE)
    }

    /// Whether a pair is set aside.
    pub(crate) fn has(&self, key: (u32, u32)) -> bool {
        !self.order.is_empty() && self.order.binary_search_by_key(&key, |listed| listed.key).is_ok()
    }

    /// Whether impulses move a body.
    fn rides(&self, bodies: &BodySet, body: u32) -> bool {
        bodies.is_inertial(body as usize) && !self.holds(body)
    }

    /// Whether a body may move.
    fn is_live(&self, bodies: &BodySet, body: u32) -> bool {
        match bodies.is_inertial(body as usize) {
            true => !self.holds(body),
            false => bodies.motions[body as usize].velocity != SpatialVector::ZERO,
        }
    }

    fn add(&mut self, bodies: impl Iterator<Item = u32>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.members.push(Vec::new());
            self.members.len() as u32 - 1
        });
        let members = &mut self.members[number as usize];
        members.extend(bodies);
        for &body in &*members {
            self.islands[body as usize] = number;
        }
        self.count += members.len();
    }

    /// Ends an island, if it is there. Calls `visit` with its bodies.
    fn dissolve(&mut self, island: u32, mut visit: impl FnMut(u32)) {
        let members = &mut self.members[island as usize];
        if members.is_empty() {
            return;
        }
        self.count -= members.len();
        for body in members.drain(..) {
            self.islands[body as usize] = AWAKE;
            visit(body);
        }
        self.free.push(island);
    }
}

impl Swept {
    pub(crate) fn is_asleep(&self, body: u32) -> bool {
        self.sleepers.holds(body)
    }

    /// How many bodies sleep.
    pub(crate) fn asleep(&self) -> usize {
        self.sleepers.count
    }

    /// Wakes the island of a body, if it sleeps.
    pub(crate) fn wake(&mut self, bodies: &BodySet, body: u32) {
        if self.sleepers.holds(body) {
            let island = self.sleepers.islands[body as usize];
            self.sleepers.called.push(island);
            self.answer(bodies, None);
        }
    }

    pub(crate) fn wake_all(&mut self, bodies: &BodySet) {
        if self.sleepers.count > 0 {
            self.sleepers.called.extend(0..self.sleepers.members.len() as u32);
            self.answer(bodies, None);
        }
    }

    /// Something is done to a body: it wakes, and if it is of the environment, what rests on it or hangs from it.
    pub(crate) fn rouse(&mut self, bodies: &BodySet, joints: &JointSet, body: u32) {
        if self.sleepers.count == 0 || bodies.is_inertial(body as usize) {
            return self.wake(bodies, body);
        }
        let Sleepers { order, islands, called, .. } = &mut self.sleepers;
        let other = |[a, b]: [u32; 2]| (a == body).then_some(b).or((b == body).then_some(a));
        for &Listed { key: (a, b), number, .. } in order.iter() {
            if let Some(other) = other([a, b])
                && self.pairs.all[number as usize].seat.is_some()
            {
                called.push(islands[other as usize]);
            }
        }
        for index in joints.slots.iter() {
            if let Some(other) = other(joints.joints[index as usize].bodies)
                && let Some(&island) = islands.get(other as usize)
                && island != AWAKE
            {
                called.push(island);
            }
        }
        self.answer(bodies, Some(body));
    }

    /// Wakes the islands that were called, and those that have contact points with them. The pairs of `stirred`, of
    /// the environment, are looked at again.
    fn answer(&mut self, bodies: &BodySet, stirred: Option<u32>) {
        let Self { sleepers, pairs, graph, trips, .. } = self;
        while !sleepers.called.is_empty() {
            while let Some(island) = sleepers.called.pop() {
                sleepers.dissolve(island, |body| {
                    trips[body as usize].rested = 0.0;
                });
            }
            for &Listed { key: (a, b), number, .. } in &sleepers.order {
                let [held_a, held_b] = [a, b].map(|body| sleepers.holds(body));
                let inertial = [a, b].iter().all(|&body| bodies.is_inertial(body as usize));
                if inertial && held_a != held_b && pairs.all[number as usize].seat.is_some() {
                    let sleeping = if held_a { a } else { b };
                    sleepers.called.push(sleepers.islands[sleeping as usize]);
                }
            }
        }
        let mut order = std::mem::take(&mut sleepers.order);
        order.retain(|&listed| {
            let Listed { key, number, .. } = listed;
            let ends = [key.0, key.1];
            let rides = ends.iter().any(|&body| sleepers.rides(bodies, body));
            let stays = !rides && !ends.iter().any(|&body| Some(body) == stirred);
            if stays {
                return true;
            }
            if rides {
                pairs.order.push(listed);
                carry(number, pairs, &mut sleepers.graph, graph, bodies);
            } else {
                pairs.order.push(Listed { alarm: f64::NEG_INFINITY, ..listed });
                pairs.unseat(number, &mut sleepers.graph);
                pairs.all[number as usize].forget();
            }
            false
        });
        sleepers.order = order;
        pairs.order.sort_unstable_by_key(|listed| listed.key);
        sleepers.stirred |= stirred.is_some();
        self.stale_riding = true;
        self.stale_ties = true;
    }

    /// Wakes the islands that bodies which are awake, or drive, touch or will touch in a step.
    #[allow(unsafe_code)]
    pub(super) fn disturb(&mut self, bodies: &BodySet, settings: &Settings, dt: f64) {
        if self.sleepers.count == 0 || self.pairs.order.is_empty() {
            return;
        }
        let Self { sleepers, pairs, graph, crew, notes, .. } = self;
        let shared = Parted::new(notes);
        let (known, all, order, seats) = (&*sleepers, &pairs.all, &pairs.order, &*graph);
        crew.run(|worker| {
            // SAFETY: each worker has its own notes.
            let notes = unsafe { shared.get_mut(worker.index) };
            notes.touched.clear();
            notes.passed.clear();
            for &Listed { key: (a, b), number, .. } in &order[worker.part(order.len())] {
                let seat = all[number as usize].seat;
                let held = [a, b].map(|body| known.holds(body));
                if !seat.is_some() || held == [false; 2] {
                    continue;
                }
                let (block, lane) = seats.block(seat);
                if meets(bodies, block, lane, [a, b], settings, dt) {
                    let held = if held[0] { a } else { b };
                    notes.touched.push(known.islands[held as usize]);
                } else if ![a, b].iter().any(|&body| known.rides(bodies, body)) {
                    notes.passed.push(number);
                }
            }
        });
        for notes in notes.iter() {
            sleepers.called.extend_from_slice(&notes.touched);
            // Nothing yields at these contacts: they are looked for again in the next step.
            for &number in &notes.passed {
                pairs.all[number as usize].forget();
            }
        }
        let mut passed: Vec<u32> =
            notes.iter().flat_map(|notes| notes.passed.iter().copied()).collect();
        if !sleepers.called.is_empty() {
            sleepers.called.sort_unstable();
            sleepers.called.dedup();
            self.answer(bodies, None);
        }
        passed.retain(|&number| {
            let ends = self.pairs.all[number as usize].bodies;
            !ends.iter().any(|&body| self.sleepers.rides(bodies, body))
        });
        for number in passed {
            self.pairs.unseat(number, &mut self.graph);
        }
    }

    /// Puts islands to sleep in which every body has rested for long enough.
    pub(super) fn rest(
        &mut self,
        bodies: &mut BodySet,
        joints: &JointSet,
        settings: &Settings,
        dt: f64,
    ) {
        if !settings.sleeping {
            return;
        }
        let Self { sleepers, pairs, graph, trips, riding, .. } = self;
        sleepers.steps = sleepers.steps.wrapping_add(1);
        if !sleepers.steps.is_multiple_of(EVERY) {
            return;
        }
        let rested = |body: u32| trips[body as usize].rested >= settings.sleep_time;
        if !riding.iter().any(|&body| rested(body)) {
            if std::mem::take(&mut sleepers.stirred) {
                self.set_aside(bodies);
            }
            return;
        }
        let count = bodies.poses.len();
        let mut sets = std::mem::take(&mut sleepers.sets);
        sets.begin(count, riding, |body| !rested(body));
        let mut link = |[a, b]: [u32; 2], sleepers: &Sleepers| {
            match [a, b].map(|body| sleepers.rides(bodies, body)) {
                [true, true] => sets.join(a, b),
                // What rests on something that moves does not sleep; what sleeps and was come upon is to wake first.
                [true, false] if sleepers.holds(b) || sleepers.is_live(bodies, b) => sets.stir(a),
                [false, true] if sleepers.holds(a) || sleepers.is_live(bodies, a) => sets.stir(b),
                _ => {}
            }
        };
        for &Listed { key: (a, b), number, .. } in &pairs.order {
            let pair = &pairs.all[number as usize];
            if pair.seat.is_some() {
                let (block, lane) = graph.block(pair.seat);
                if pair.touching || meets(bodies, block, lane, [a, b], settings, dt) {
                    link([a, b], sleepers);
                }
            }
        }
        for index in joints.slots.iter() {
            link(joints.joints[index as usize].bodies, sleepers);
        }
        let mut quiet = std::mem::take(&mut sleepers.quiet);
        sets.quiet(riding, &mut quiet);
        sleepers.sets = sets;
        sleepers.islands.resize(count, AWAKE);
        for island in quiet.chunk_by(|a, b| a.0 == b.0) {
            sleepers.add(island.iter().map(|&(_, body)| body));
        }
        for &(_, body) in &quiet {
            self.lie_down(bodies, body as usize);
        }
        if std::mem::take(&mut self.sleepers.stirred) || !quiet.is_empty() {
            self.set_aside(bodies);
        }
        self.sleepers.quiet = quiet;
    }

    /// A body stops, and is seen as one that does not yield.
    fn lie_down(&mut self, bodies: &mut BodySet, index: usize) {
        bodies.motions[index].velocity = SpatialVector::ZERO;
        self.trips[index].speed = 0.0;
        let (mut frame, _) = riders::board(bodies, index);
        frame.position.0[3] = 0.0;
        frame.turn = [F4::ZERO; 3];
        self.frames[index + 1] = frame;
        self.riders[index + 1] = Rider::default();
        self.shifts[index + 1] = Shift::default();
    }

    /// Takes the pairs of which no body moves out of the order, and their contacts out of the graph.
    fn set_aside(&mut self, bodies: &BodySet) {
        let Self { sleepers, pairs, graph, .. } = self;
        sleepers.graph.resize(bodies.poses.len() + 1);
        let mut order = std::mem::take(&mut pairs.order);
        let mut moved = std::mem::take(&mut sleepers.moved);
        moved.clear();
        order.retain(|&listed| {
            let Listed { key, number, .. } = listed;
            let stays = sleepers.is_live(bodies, key.0) || sleepers.is_live(bodies, key.1);
            if !stays {
                moved.push(listed);
                carry(number, pairs, graph, &mut sleepers.graph, bodies);
            }
            stays
        });
        pairs.order = order;
        sleepers.order.extend_from_slice(&moved);
        sleepers.order.sort_unstable_by_key(|listed| listed.key);
        sleepers.moved = moved;
        self.stale_riding = true;
        self.stale_ties = true;
    }
}

/// Brings the contact of a pair, if it has one, from one graph to another with all that is known of it.
fn carry(number: u32, pairs: &mut Pairs, from: &mut Graph, to: &mut Graph, bodies: &BodySet) {
    let pair = &pairs.all[number as usize];
    if !pair.seat.is_some() {
        return;
    }
    let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
    let (block, lane) = from.block(pair.seat);
    let seat = to.take_over(block, lane, pair.seat, inertial);
    pairs.leave(number, from);
    pairs.all[number as usize].seat = seat;
}

/// Whether bodies touch at a contact, or will within a step as far as velocities and forces tell.
fn meets(
    bodies: &BodySet,
    block: &ContactBlock,
    lane: usize,
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
    let reach = block.known.near.0[lane] + fall;
    let normal = pose_a.transform_vector(get(&block.known.local_normal, lane));
    block.known.anchors[..block.lens[lane] as usize].iter().any(|[on_a, on_b]| {
        let on_a = pose_a.transform_point(get(on_a, lane));
        let on_b = pose_b.transform_point(get(on_b, lane));
        let speed_a = va.linear + va.angular.cross(on_a - pose_a.position);
        let speed_b = vb.linear + vb.angular.cross(on_b - pose_b.position);
        let closing = -(speed_b - speed_a).dot(normal);
        (on_b - on_a).dot(normal) - (closing * dt).max(0.0) <= reach
    })
}
