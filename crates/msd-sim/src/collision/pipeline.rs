//! From poses to contact points: which pairs are near, and where they touch.

use super::broad_phase::{BroadPhase, Kind};
use super::contact::ContactPair;
use crate::bodies::BodySet;
use crate::geometry::{Aabb, Workspace};
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::scope::Scope;
use crate::settings::Settings;

/// A body that travels more than this many times its radius in a step is near what lies on its way, one
/// substep at a time; a slower one is near what lies around it.
const LONG_WAY: f64 = 2.0;

/// Bodies that would close more than this fraction of the smaller size in half a substep meet by their
/// ways ([`crate::impacts`]), not by contact points looked for from far away.
const NEAR: f64 = 1.0;

/// Pairs are looked for again when a body may travel farther than was thought by this fraction of its
/// size.
const OUTRUN: f64 = 0.01;

/// Finds contacts and remembers them. Its lists stay readable after the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollisionPipeline {
    broad_phase: BroadPhase,
    candidates: Vec<(u32, u32)>,
    /// By body: how far it was thought to travel when the pairs were found, m; infinite if they were looked
    /// for on the way of one substep.
    travels: Vec<f64>,
    has_swept: bool,
    /// Near pairs by their bodies, ascending, and where each is kept.
    order: Vec<Entry>,
    next_order: Vec<Entry>,
    pairs: Vec<ContactPair>,
    free: Vec<u32>,
    /// Pairs that the user keeps from colliding, sorted.
    vetoed: Vec<(u32, u32)>,
    /// Pairs that touched in the last step and are no longer near.
    pub(crate) parted: Vec<(u32, u32)>,
    workspace: Workspace,
}

/// A near pair: its bodies, smaller index first, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    bodies: (u32, u32),
    place: u32,
}

impl CollisionPipeline {
    pub(crate) fn insert(&mut self, bodies: &BodySet, body: u32) {
        let bounds = bodies.bounds(body as usize);
        let inertial = bodies.is_inertial(body as usize);
        let kind = if inertial { Kind::Moving } else { Kind::Environment };
        self.broad_phase.insert(body, kind, bounds);
    }

    pub(crate) fn remove(&mut self, body: u32) {
        self.broad_phase.remove(body);
        let free = &mut self.free;
        self.order.retain(|entry| {
            let near = entry.bodies.0 == body || entry.bodies.1 == body;
            if near {
                free.push(entry.place);
            }
            !near
        });
        self.vetoed.retain(|&(a, b)| a != body && b != body);
    }

    /// Drops what is remembered of a body that was put elsewhere.
    pub(crate) fn forget(&mut self, bodies: &BodySet, body: u32) {
        for entry in &self.order {
            if entry.bodies.0 == body || entry.bodies.1 == body {
                self.pairs[entry.place as usize].forget(bodies);
            }
        }
        self.refresh(bodies, body, 0.0);
    }

    /// Takes over a body's new material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, body: u32) {
        for entry in &self.order {
            if entry.bodies.0 == body || entry.bodies.1 == body {
                self.pairs[entry.place as usize].refresh_materials(bodies);
            }
        }
    }

    /// Keeps two bodies from colliding, or lets them again.
    pub(crate) fn veto(&mut self, a: u32, b: u32, veto: bool) {
        let key = (a.min(b), a.max(b));
        match (self.vetoed.binary_search(&key), veto) {
            (Err(at), true) => self.vetoed.insert(at, key),
            (Ok(at), false) => {
                self.vetoed.remove(at);
            }
            _ => {}
        }
    }

    /// Stage 1: the pairs that can meet within a step `dt`, those of fast bodies within a substep `h`. Keeps
    /// what is known of those that stay near.
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        dt: f64,
        h: f64,
    ) {
        self.travels.resize(bodies.poses.len(), 0.0);
        self.has_swept = false;
        for &body in &bodies.inertial {
            self.reach_out(bodies, settings, body, dt, h);
        }
        for &body in &bodies.environment {
            let velocity = &bodies.motions[body as usize].velocity;
            if *velocity != SpatialVector::ZERO {
                let turn = turning(velocity.angular, bodies.solids[body as usize].rim);
                self.refresh(bodies, body, (velocity.linear.length() + turn) * dt);
            }
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        self.broad_phase.find_pairs(&mut candidates);
        self.merge(&candidates, bodies, joints);
        self.candidates = candidates;
    }

    /// Tells the broad phase where a body may come.
    fn reach_out(&mut self, bodies: &BodySet, settings: &Settings, body: u32, dt: f64, h: f64) {
        let solid = &bodies.solids[body as usize];
        let fall = settings.gravity.length() * dt * dt;
        let margin = settings.margin * solid.size + fall;
        let way = travel(bodies, body, dt);
        if way <= LONG_WAY * solid.radius {
            self.travels[body as usize] = way + fall;
            self.refresh(bodies, body, way + margin);
        } else {
            self.travels[body as usize] = f64::INFINITY;
            self.has_swept = true;
            let bounds = sweep(bodies, body, h).grown(margin + OUTRUN * solid.size);
            self.broad_phase.update(body, bounds);
        }
    }

    /// Adds the pairs that bodies can meet from where they are, after they got other velocities. Whether
    /// there are any: positions of pairs have changed then.
    pub(crate) fn find_more(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        moved: &[u32],
        dt: f64,
        h: f64,
    ) -> bool {
        let mut found = std::mem::take(&mut self.candidates);
        found.clear();
        for &body in moved {
            if !self.is_outrun(bodies, &[body], dt, h) {
                continue;
            }
            self.reach_out(bodies, settings, body, dt, h);
            let Some(bounds) = self.broad_phase.bounds(body) else { continue };
            self.broad_phase.query(&bounds, |other| {
                if other != body {
                    found.push((body.min(other), body.max(other)));
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&key| self.position(key).is_err() && self.allows(key, bodies, joints));
        for &key in &found {
            let place = self.make_pair(key.0, key.1, bodies);
            self.order.push(Entry { bodies: key, place });
        }
        let any = !found.is_empty();
        if any {
            self.order.sort_unstable();
        }
        self.candidates = found;
        any
    }

    /// The position of the pair of two bodies, or where it would be.
    pub(crate) fn position(&self, key: (u32, u32)) -> Result<usize, usize> {
        self.order.binary_search_by_key(&key, |entry| entry.bodies)
    }

    /// Whether two bodies touched in the last exact step.
    pub(crate) fn is_touching(&self, key: (u32, u32)) -> bool {
        self.position(key).is_ok_and(|position| self.pair(position).touching)
    }

    /// Goes on after steps that kept their pairs elsewhere: those of `touching`, ascending, touched in the last of them,
    /// no others did, and nothing else is known.
    pub(crate) fn take_over(&mut self, bodies: &BodySet, touching: &[(u32, u32)]) {
        self.for_each_pair(|pair| {
            pair.forget(bodies);
            pair.touching = touching.binary_search(&(pair.bodies[0], pair.bodies[1])).is_ok();
        });
        let known = self.order.len();
        for &key in touching {
            if self.order[..known].binary_search_by_key(&key, |entry| entry.bodies).is_err() {
                let place = self.make_pair(key.0, key.1, bodies);
                self.pairs[place as usize].touching = true;
                self.order.push(Entry { bodies: key, place });
            }
        }
        self.order.sort_unstable();
    }

    /// Whether the bounds last given for two bodies overlap.
    pub(crate) fn is_near(&self, a: u32, b: u32) -> bool {
        self.broad_phase.overlap(a, b)
    }

    /// The bounds last given for a body.
    pub(crate) fn near_bounds(&self, body: u32) -> Option<Aabb> {
        self.broad_phase.bounds(body)
    }

    /// Takes over bounds that were grown already.
    pub(crate) fn enlarge(&mut self, body: u32, bounds: Aabb) {
        self.broad_phase.enlarge(body, bounds);
    }

    /// Builds trees anew that have become slow.
    pub(crate) fn tidy(&mut self) {
        self.broad_phase.tidy();
    }

    /// Calls `visit` for every body whose bounds overlap `bounds`.
    pub(crate) fn near(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.broad_phase.query(bounds, visit);
    }

    /// Whether two bodies may collide.
    pub(crate) fn allows(&self, key: (u32, u32), bodies: &BodySet, joints: &JointSet) -> bool {
        let filters = [key.0, key.1].map(|body| bodies.solids[body as usize].filter);
        filters[0].allows(&filters[1])
            && !joints.exempts(key.0, key.1)
            && self.vetoed.binary_search(&key).is_err()
    }

    /// Whether pairs of some bodies were found for one substep only.
    pub(crate) fn has_swept(&self) -> bool {
        self.has_swept
    }

    /// Whether one of these bodies has become so fast, or turned so, that it may meet what was not near
    /// when pairs were found: within `dt`, a fast one within `h`.
    pub(crate) fn is_outrun(&self, bodies: &BodySet, moved: &[u32], dt: f64, h: f64) -> bool {
        moved.iter().any(|&body| {
            let known = self.travels[body as usize];
            if known < f64::INFINITY {
                let slack = OUTRUN * bodies.solids[body as usize].size;
                return travel(bodies, body, dt) > known + slack;
            }
            let known = self.broad_phase.bounds(body);
            known.is_some_and(|known| !known.contains(&sweep(bodies, body, h)))
        })
    }

    /// Takes over where a body is.
    pub(crate) fn refresh(&mut self, bodies: &BodySet, body: u32, growth: f64) {
        self.broad_phase.update(body, bodies.bounds(body as usize).grown(growth));
    }

    /// Takes over the sorted candidates: keeps, makes and drops pairs.
    fn merge(&mut self, candidates: &[(u32, u32)], bodies: &BodySet, joints: &JointSet) {
        self.next_order.clear();
        let mut known = 0;
        for &key in candidates {
            while known < self.order.len() && self.order[known].bodies < key {
                let entry = self.order[known];
                self.part(entry);
                known += 1;
            }
            let kept = self.order.get(known).filter(|entry| entry.bodies == key).copied();
            known += usize::from(kept.is_some());
            match (kept, self.allows(key, bodies, joints)) {
                (Some(entry), true) => self.next_order.push(entry),
                (Some(entry), false) => self.drop_pair(entry),
                (None, true) => {
                    let place = self.make_pair(key.0, key.1, bodies);
                    self.next_order.push(Entry { bodies: key, place });
                }
                (None, false) => {}
            }
        }
        for at in known..self.order.len() {
            let entry = self.order[at];
            self.part(entry);
        }
        std::mem::swap(&mut self.order, &mut self.next_order);
    }

    /// Drops a pair that is no longer near, but for one that met in this step: that is still to be told.
    fn part(&mut self, entry: Entry) {
        let pair = &self.pairs[entry.place as usize];
        if pair.push > 0.0 || pair.hit.is_some() {
            self.next_order.push(entry);
        } else {
            self.drop_pair(entry);
        }
    }

    fn drop_pair(&mut self, entry: Entry) {
        if self.pairs[entry.place as usize].touching {
            self.parted.push(entry.bodies);
        }
        self.free.push(entry.place);
    }

    fn make_pair(&mut self, a: u32, b: u32, bodies: &BodySet) -> u32 {
        let pair = ContactPair::new(a, b, bodies);
        if let Some(place) = self.free.pop() {
            self.pairs[place as usize] = pair;
            return place;
        }
        self.pairs.push(pair);
        self.pairs.len() as u32 - 1
    }

    /// Stage 2: contact points at the present poses, those that may close within `h` included, of
    /// the pairs in `scope` with a body that `moved` says. `when` is the time of each body's pose.
    pub(crate) fn update_manifolds(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        scope: &Scope,
        when: &[f64],
        h: f64,
        moved: impl Fn(u32) -> bool,
    ) {
        for &position in &scope.pairs {
            let entry = self.order[position as usize];
            if moved(entry.bodies.0) || moved(entry.bodies.1) {
                let pair = &mut self.pairs[entry.place as usize];
                update(pair, bodies, settings, when, h, &mut self.workspace);
            }
        }
    }

    /// How many near pairs there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The pair at a position, and working memory for questions about it.
    pub(crate) fn pair_and_workspace(&mut self, position: usize) -> (&ContactPair, &mut Workspace) {
        (&self.pairs[self.order[position].place as usize], &mut self.workspace)
    }

    /// Near pairs, in order of their bodies.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &ContactPair> + Clone {
        self.order.iter().map(|entry| &self.pairs[entry.place as usize])
    }

    /// Positions and bodies of the pairs with points that may push.
    pub(crate) fn acting_pairs(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let pairs = (0..).zip(self.pairs());
        let acting = pairs.filter(|(_, pair)| pair.acting().next().is_some());
        acting.map(|(position, pair)| (position, pair.bodies))
    }

    /// Calls `visit` with every near pair, in order of their bodies.
    pub(crate) fn for_each_pair(&mut self, mut visit: impl FnMut(&mut ContactPair)) {
        for entry in &self.order {
            visit(&mut self.pairs[entry.place as usize]);
        }
    }

    /// The pair at a position in the order of their bodies.
    pub(crate) fn pair(&self, position: usize) -> &ContactPair {
        &self.pairs[self.order[position].place as usize]
    }

    pub(crate) fn pair_mut(&mut self, position: usize) -> &mut ContactPair {
        &mut self.pairs[self.order[position].place as usize]
    }
}

fn update(
    pair: &mut ContactPair,
    bodies: &BodySet,
    settings: &Settings,
    when: &[f64],
    h: f64,
    workspace: &mut Workspace,
) {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let (va, vb) = (&bodies.motions[a].velocity, &bodies.motions[b].velocity);
    let margin = settings.margin * pair.size + (2.0 * h * pair.closing).min(NEAR * pair.size);
    // Both at one time: the later one, to which the other flies freely; back beyond its last impact it would
    // be where it never was. The environment has no impacts.
    let time = match [a, b].map(|body| bodies.is_inertial(body)) {
        [true, false] => when[a],
        [false, true] => when[b],
        _ => when[a].max(when[b]),
    };
    let mut poses = [bodies.poses[a], bodies.poses[b]];
    poses[0].position += va.linear * (time - when[a]);
    poses[1].position += vb.linear * (time - when[b]);
    pair.update(bodies, poses, margin, settings.reuse, workspace);
}

/// No two points of the bodies come together faster than this by their velocities, m/s.
#[inline]
pub(crate) fn closing_speed(bodies: &BodySet, pair: [u32; 2]) -> f64 {
    let [a, b] = pair.map(|body| &bodies.motions[body as usize].velocity);
    (b.linear - a.linear).length() + turning_speed(bodies, pair)
}

/// The part of it by rotation, m/s.
#[inline]
pub(crate) fn turning_speed(bodies: &BodySet, pair: [u32; 2]) -> f64 {
    let [a, b] = pair.map(|body| {
        let angular = bodies.motions[body as usize].velocity.angular;
        turning(angular, bodies.solids[body as usize].rim)
    });
    a + b
}

/// How far any point of a body may move within `dt` by its velocity.
fn travel(bodies: &BodySet, body: u32, dt: f64) -> f64 {
    let velocity = &bodies.motions[body as usize].velocity;
    let turn = turning(velocity.angular, bodies.solids[body as usize].rim);
    (velocity.linear.length() + turn) * dt
}

/// The bounds of all places to which a body comes within `h` by its velocity.
fn sweep(bodies: &BodySet, body: u32, h: f64) -> Aabb {
    let index = body as usize;
    let velocity = &bodies.motions[index].velocity;
    let (bounds, rim) = (bodies.bounds(index), bodies.solids[index].rim);
    let way = velocity.linear * h;
    let moved = Aabb { min: bounds.min + way, max: bounds.max + way };
    // It turns no farther than all the way round.
    let turn = (turning(velocity.angular, rim) * h).min(2.0 * rim);
    bounds.union(&moved).grown(turn)
}

/// Speed of the farthest point by rotation; an unbounded shape's is left out.
pub(crate) fn turning(angular: Vec3, radius: f64) -> f64 {
    let speed = angular.length() * radius;
    if speed.is_finite() { speed } else { 0.0 }
}
