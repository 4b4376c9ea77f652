//! From poses to contact points: which pairs are near, and where they touch.

use super::broad_phase::{BroadPhase, Kind};
use super::contact::ContactPair;
use crate::bodies::BodySet;
use crate::geometry::Workspace;
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;

/// Bodies look for others no farther than this many times their size: one that is faster would be
/// near everything.
const FARTHEST: f64 = 64.0;

/// Pairs are looked for again when a body may travel farther than was thought by this fraction of its
/// size.
const OUTRUN: f64 = 0.01;

/// Finds contacts and remembers them. Its lists stay readable after the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollisionPipeline {
    broad_phase: BroadPhase,
    candidates: Vec<(u32, u32)>,
    /// By body: how far it was thought to travel when the pairs were found, m.
    travels: Vec<f64>,
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

    /// Stage 1: the pairs that can meet within `dt`. Keeps what is known of those that stay near.
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        dt: f64,
    ) {
        let fall = settings.gravity.length() * dt * dt;
        self.travels.resize(bodies.poses.len(), 0.0);
        for &body in &bodies.inertial {
            let growth = travel(bodies, body, dt) + fall;
            self.travels[body as usize] = growth;
            self.refresh(
                bodies,
                body,
                growth + settings.margin * bodies.solids[body as usize].size,
            );
        }
        for &body in &bodies.environment {
            let velocity = &bodies.motions[body as usize].velocity;
            if *velocity != SpatialVector::ZERO {
                let turn = turning(velocity.angular, bodies.solids[body as usize].radius);
                self.refresh(bodies, body, (velocity.linear.length() + turn) * dt);
            }
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        self.broad_phase.find_pairs(&mut candidates);
        self.merge(&candidates, bodies, joints);
        self.candidates = candidates;
    }

    /// Whether a body has become so fast that it may meet what was not near when the step began.
    pub(crate) fn is_outrun(&self, bodies: &BodySet, dt: f64) -> bool {
        bodies.inertial.iter().any(|&body| {
            travel(bodies, body, dt)
                > self.travels[body as usize] + OUTRUN * bodies.solids[body as usize].size
        })
    }

    /// Takes over where a body is.
    pub(crate) fn refresh(&mut self, bodies: &BodySet, body: u32, growth: f64) {
        self.broad_phase.update(body, bodies.bounds(body as usize).grown(growth));
    }

    /// Takes over the sorted candidates: keeps, makes and drops pairs.
    fn merge(&mut self, candidates: &[(u32, u32)], bodies: &BodySet, joints: &JointSet) {
        self.parted.clear();
        self.next_order.clear();
        let mut known = 0;
        for &key in candidates {
            while known < self.order.len() && self.order[known].bodies < key {
                let entry = self.order[known];
                self.drop_pair(entry);
                known += 1;
            }
            let kept = self.order.get(known).filter(|entry| entry.bodies == key).copied();
            known += usize::from(kept.is_some());
            let (a, b) = key;
            let filters = [a, b].map(|body| bodies.solids[body as usize].filter);
            let allowed = filters[0].allows(&filters[1])
                && !joints.exempts(a, b)
                && self.vetoed.binary_search(&key).is_err();
            match (kept, allowed) {
                (Some(entry), true) => self.next_order.push(entry),
                (Some(entry), false) => self.drop_pair(entry),
                (None, true) => {
                    let place = self.make_pair(a, b, bodies);
                    self.next_order.push(Entry { bodies: key, place });
                }
                (None, false) => {}
            }
        }
        for at in known..self.order.len() {
            let entry = self.order[at];
            self.drop_pair(entry);
        }
        std::mem::swap(&mut self.order, &mut self.next_order);
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
    /// the pairs of bodies that `moved` says. `lead` is for how long each body has moved already.
    pub(crate) fn update_manifolds(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        lead: &[f64],
        h: f64,
        moved: impl Fn(u32) -> bool,
    ) {
        for entry in &self.order {
            if moved(entry.bodies.0) || moved(entry.bodies.1) {
                let pair = &mut self.pairs[entry.place as usize];
                update(pair, bodies, settings, lead, h, &mut self.workspace);
            }
        }
    }

    /// Near pairs, in order of their bodies.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &ContactPair> + Clone {
        self.order.iter().map(|entry| &self.pairs[entry.place as usize])
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
    lead: &[f64],
    h: f64,
    workspace: &mut Workspace,
) {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let (va, vb) = (&bodies.motions[a].velocity, &bodies.motions[b].velocity);
    let speed = (vb.linear - va.linear).length()
        + turning(va.angular, bodies.solids[a].radius)
        + turning(vb.angular, bodies.solids[b].radius);
    let margin = settings.margin * pair.size + (2.0 * h * speed).min(FARTHEST * pair.size);
    // Both at one time: that of B, or of A if B cannot be moved.
    let mut poses = [bodies.poses[a], bodies.poses[b]];
    if bodies.is_inertial(b) {
        poses[0].position += va.linear * (lead[b] - lead[a]);
    } else {
        poses[1].position += vb.linear * (lead[a] - lead[b]);
    }
    pair.update(bodies, poses, margin, settings.reuse, workspace);
}

/// How far any point of a body may move within `dt` by its velocity.
fn travel(bodies: &BodySet, body: u32, dt: f64) -> f64 {
    let velocity = &bodies.motions[body as usize].velocity;
    let radius = bodies.solids[body as usize].radius;
    let way = (velocity.linear.length() + turning(velocity.angular, radius)) * dt;
    way.min(FARTHEST * radius)
}

/// Speed of the farthest point by rotation; an unbounded shape's is left out.
fn turning(angular: Vec3, radius: f64) -> f64 {
    let speed = angular.length() * radius;
    if speed.is_finite() { speed } else { 0.0 }
}
