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
            && !joints.is_jointed(key.0, key.1)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::math::Pose;
    use crate::{BodyDef, BodyId, Filter, JointDef, World};

    const DT: f64 = 1.0 / 60.0;
    const H: f64 = DT / 4.0;

    /// A ball of radius 0.5 m and 1 kg at a place of the x axis.
    fn ball(x: f64) -> BodyDef {
        BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).position(Vec3::X * x)
    }

    /// A world without gravity that holds these bodies.
    fn world(defs: impl IntoIterator<Item = BodyDef>) -> World {
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        for def in defs {
            world.add_body(def).unwrap();
        }
        world
    }

    fn find_pairs(world: &mut World) -> Vec<[u32; 2]> {
        let World { bodies, joints, settings, collision, .. } = world;
        collision.find_pairs(bodies, joints, settings, DT, H);
        collision.pairs().map(|pair| pair.bodies).collect()
    }

    fn find_more(world: &mut World, moved: &[u32]) -> bool {
        let World { bodies, joints, settings, collision, .. } = world;
        collision.find_more(bodies, joints, settings, moved, DT, H)
    }

    /// Contact points of all pairs of which a body `moved`, each body's pose being of its time in `when`.
    fn update_manifolds(world: &mut World, when: &[f64], moved: impl Fn(u32) -> bool) {
        let World { bodies, joints, settings, collision, .. } = world;
        let mut scope = Scope::default();
        scope.fill(bodies, collision, joints);
        collision.update_manifolds(bodies, settings, &scope, when, H, moved);
    }

    fn place(world: &mut World, body: u32, x: f64) {
        world.bodies.poses[body as usize].position.x = x;
    }

    fn speed(world: &mut World, body: u32, speed: f64) {
        world.bodies.motions[body as usize].velocity.linear.x = speed;
    }

    #[test]
    fn near_pairs_are_those_that_can_meet_within_the_step() {
        // Both are grown by the margin, 0.02 of 0.5 m, and by their way: 30 m/s is 0.5 m a step, which is no long way.
        let reach = 2.0 * 0.02 * 0.5;
        for (gap, at, near) in [
            (reach - 1e-9, 0.0, true),
            (reach + 1e-9, 0.0, false),
            (reach + 0.5 - 1e-9, 30.0, true),
            (reach + 0.5 + 1e-9, 30.0, false),
            // Whichever way it goes.
            (reach + 0.5 - 1e-9, -30.0, true),
        ] {
            let mut world = world([ball(0.0), ball(1.0 + gap)]);
            speed(&mut world, 0, at);
            assert_eq!(find_pairs(&mut world).len(), usize::from(near), "{gap} m, {at} m/s");
            assert!(!world.collision.has_swept());
        }
    }

    #[test]
    fn what_goes_a_long_way_is_near_what_lies_on_it_within_a_substep() {
        // 120 m/s is 2 m a step, 0.5 m a substep: ahead of it, not behind it.
        let slack = (2.0 * 0.02 + OUTRUN) * 0.5;
        for (x, near) in [
            (1.0 + slack + 0.5 - 1e-9, true),
            (1.0 + slack + 0.5 + 1e-9, false),
            (-1.0 - slack + 1e-9, true),
            (-1.0 - slack - 1e-9, false),
        ] {
            let mut world = world([ball(0.0), ball(x)]);
            speed(&mut world, 0, 120.0);
            assert_eq!(find_pairs(&mut world).len(), usize::from(near), "{x} m");
            assert!(world.collision.has_swept());
        }
    }

    #[test]
    fn environment_bodies_that_move_reach_out_and_do_not_pair() {
        let wall = |x: f64| BodyDef::environment(Shape::sphere(0.5).unwrap()).position(Vec3::X * x);
        let mut world = world([wall(0.0), wall(0.5), ball(2.0)]);
        assert_eq!(find_pairs(&mut world), [[0, 2]; 0]);
        speed(&mut world, 1, 60.0);
        assert_eq!(find_pairs(&mut world), [[1, 2]]);
    }

    #[test]
    fn filters_joints_and_vetoes_keep_pairs_away() {
        let mut world = world([ball(0.0), ball(0.9), ball(1.8)]);
        assert_eq!(find_pairs(&mut world), [[0, 1], [1, 2]]);
        let ids: Vec<BodyId> = world.bodies().map(|body| body.id()).collect();
        // A pair that is there is dropped, and made again.
        world.collision.veto(1, 0, true);
        assert_eq!(find_pairs(&mut world), [[1, 2]]);
        world.collision.veto(0, 1, true);
        world.collision.veto(0, 1, false);
        assert_eq!(find_pairs(&mut world), [[0, 1], [1, 2]]);
        world.set_filter(ids[2], Filter { groups: 2, mask: 2 }).unwrap();
        world.set_filter(ids[1], Filter { groups: 1, mask: 1 }).unwrap();
        assert_eq!(find_pairs(&mut world), [[0, 1]]);
        let joint = world.add_joint(JointDef::ball(ids[0], ids[1])).unwrap();
        assert_eq!(find_pairs(&mut world), [[0, 1]; 0]);
        world.remove_joint(joint).unwrap();
        assert_eq!(find_pairs(&mut world), [[0, 1]]);
    }

    #[test]
    fn a_pair_that_stays_near_keeps_what_is_known_of_it() {
        let mut world = world([ball(0.0), ball(0.95), ball(10.0)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 3], |_| true);
        world.collision.pair_mut(0).points[0].impulse = Vec3::X;
        // Another pair is found before it: it is known by its bodies, not by its position.
        place(&mut world, 2, -0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert_eq!(world.collision.pair(0).points[0].impulse, Vec3::X);
        assert_eq!(world.collision.position((0, 2)), Ok(1));
        assert_eq!(world.collision.position((1, 2)), Err(2));
        // Away and back, it is a new one.
        place(&mut world, 1, 5.0);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        place(&mut world, 1, 0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert_eq!(world.collision.pair(0).len, 0);
    }

    #[test]
    fn a_pair_that_parts_is_told_if_it_touched_and_kept_if_it_met_in_this_step() {
        for (touching, push, hit) in
            [(false, 0.0, false), (true, 0.0, false), (true, 1.0, false), (false, 0.0, true)]
        {
            let mut world = world([ball(0.0), ball(0.95)]);
            find_pairs(&mut world);
            let pair = world.collision.pair_mut(0);
            (pair.touching, pair.push) = (touching, push);
            let met = super::super::Hit { position: Vec3::ZERO, normal: Vec3::X, speed: 1.0 };
            pair.hit = hit.then_some(met);
            place(&mut world, 1, 5.0);
            let kept = push > 0.0 || hit;
            assert_eq!(find_pairs(&mut world).len(), usize::from(kept));
            assert_eq!(!world.collision.parted.is_empty(), touching && !kept);
        }
    }

    #[test]
    fn a_body_that_is_removed_leaves_its_places_to_others() {
        let mut world = world([ball(0.0), ball(0.9), ball(1.8)]);
        find_pairs(&mut world);
        let middle = world.bodies().nth(1).unwrap().id();
        world.remove_body(middle).unwrap();
        assert_eq!((world.collision.len(), world.collision.free.len()), (0, 2));
        world.add_body(ball(0.9)).unwrap();
        assert_eq!(find_pairs(&mut world), [[0, 1], [1, 2]]);
        assert_eq!((world.collision.pairs.len(), world.collision.free.len()), (2, 0));
    }

    #[test]
    fn what_got_faster_finds_more_pairs_and_in_order() {
        let mut world = world([ball(0.0), ball(1.6), ball(-0.9)]);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        // As fast as it was thought to be: nothing is looked for.
        assert!(!find_more(&mut world, &[0, 1, 2]));
        speed(&mut world, 0, 36.0);
        assert!(world.collision.is_outrun(&world.bodies, &[2, 0], DT, H));
        assert!(!world.collision.is_outrun(&world.bodies, &[2, 1], DT, H));
        assert!(find_more(&mut world, &[0]));
        let pairs: Vec<_> = world.collision.pairs().map(|pair| pair.bodies).collect();
        assert_eq!(pairs, [[0, 1], [0, 2]]);
        // Found once, it is not found again.
        assert!(!find_more(&mut world, &[0]));
    }

    #[test]
    fn a_fast_body_outruns_its_bounds_when_it_turns_aside() {
        let mut world = world([ball(0.0), ball(30.0)]);
        speed(&mut world, 0, 120.0);
        find_pairs(&mut world);
        assert!(!world.collision.is_outrun(&world.bodies, &[0], DT, H));
        world.bodies.motions[0].velocity.linear = Vec3::Y * 120.0;
        assert!(world.collision.is_outrun(&world.bodies, &[0], DT, H));
    }

    #[test]
    fn contact_points_are_found_where_a_body_moved_and_nowhere_else() {
        let mut world = world([ball(0.0), ball(0.95), ball(5.0), ball(5.95)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 4], |body| body == 1);
        let lens: Vec<_> = world.collision.pairs().map(|pair| pair.len).collect();
        assert_eq!(lens, [1, 0]);
        let pair = world.collision.pair(0);
        assert_eq!((pair.normal, pair.bodies), (Vec3::X, [0, 1]));
        assert!((pair.points[0].gap + 0.05).abs() < 1e-15);
        assert!((pair.points[0].position - Vec3::X * 0.475).length() < 1e-15);
    }

    #[test]
    fn points_of_bodies_at_two_times_are_those_of_the_later() {
        // Body 0 is 2 ms behind: at 10 m/s it comes 2 cm nearer meanwhile. The environment's time does not count.
        let mut free = world([ball(0.0), ball(1.0)]);
        speed(&mut free, 0, 10.0);
        find_pairs(&mut free);
        update_manifolds(&mut free, &[1e-3, 3e-3], |_| true);
        assert!((free.collision.pair(0).points[0].gap + 0.02).abs() < 1e-15);
        let wall = BodyDef::environment(Shape::sphere(0.5).unwrap()).position(Vec3::X);
        let mut held = world([ball(0.0), wall]);
        speed(&mut held, 0, 10.0);
        find_pairs(&mut held);
        update_manifolds(&mut held, &[1e-3, 3e-3], |_| true);
        assert!(held.collision.pair(0).points[0].gap.abs() < 1e-15);
    }

    #[test]
    fn points_are_looked_for_as_far_as_the_bodies_can_close() {
        // 0.02 of the size, and twice what they close in a substep, but no more than the size.
        for (closing, gap, found) in [
            (0.0, 0.0099, true),
            (0.0, 0.0101, false),
            (12.0, 0.1099, true),
            (12.0, 0.1101, false),
            (1e3, 0.5099, true),
            (1e3, 0.5101, false),
        ] {
            let mut world = world([ball(0.0), ball(1.0 + gap)]);
            speed(&mut world, 0, 60.0);
            find_pairs(&mut world);
            world.collision.pair_mut(0).closing = closing;
            speed(&mut world, 0, 0.0);
            update_manifolds(&mut world, &[0.0; 2], |_| true);
            assert_eq!(world.collision.pair(0).len == 1, found, "{closing} m/s, {gap} m");
        }
    }

    #[test]
    fn speeds_bound_those_of_all_points() {
        // A stick of 2 m whose end is 1 m from its centre of mass, and a ball that turns in its place.
        let stick = Shape::cuboid(Vec3::new(1.0, 1e-3, 1e-3)).unwrap();
        let stick = BodyDef::inertial(stick).mass(1.0).angular_velocity(Vec3::Z * 3.0);
        let mut world = world([stick.velocity(Vec3::Y * 4.0), ball(5.0)]);
        world.bodies.motions[1].velocity.angular = Vec3::X * 7.0;
        let rim = world.bodies.solids[0].rim;
        assert!((rim - 1.0).abs() < 1e-5, "{rim}");
        let expected = 4.0 + 3.0 * rim + 7.0 * world.bodies.solids[1].rim;
        assert!((closing_speed(&world.bodies, [0, 1]) - expected).abs() < 1e-14);
        assert!((travel(&world.bodies, 0, 2.0) - 2.0 * (4.0 + 3.0 * rim)).abs() < 1e-14);
        // Half a second sweeps 2 m along y, and as it turns by 1.5 rad its ends come as far as 1.5 m.
        let swept = sweep(&world.bodies, 0, 0.5);
        assert!((swept.max - Vec3::new(2.5, 3.501, 1.501)).length() < 1e-4, "{}", swept.max);
        assert!((swept.min + Vec3::new(2.5, 1.501, 1.501)).length() < 1e-4, "{}", swept.min);
        assert_eq!(turning(Vec3::X, f64::INFINITY), 0.0);
    }

    #[test]
    fn what_is_put_elsewhere_is_forgotten_and_its_materials_can_change() {
        let mut world = world([ball(0.0), ball(0.95), ball(-0.95)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 3], |_| true);
        for position in 0..2 {
            world.collision.pair_mut(position).points[0].impulse = Vec3::X;
            world.collision.pair_mut(position).touching = true;
        }
        let ids: Vec<BodyId> = world.bodies().map(|body| body.id()).collect();
        let ice = crate::Material::new(0.0, 0.0).unwrap();
        world.set_material(ids[2], ice).unwrap();
        assert_eq!([0, 1].map(|at| world.collision.pair(at).friction), [0.5, 0.0]);
        assert_eq!([0, 1].map(|at| world.collision.pair(at).restitution), [0.5, 0.0]);
        world.set_pose(ids[1], Pose::at(Vec3::X * 0.96)).unwrap();
        let [one, other] = [0, 1].map(|at| world.collision.pair(at));
        // That they touched is known all the same: if they no longer do, it has to be told.
        assert_eq!((one.len, one.touching), (0, true));
        assert_eq!((other.len, other.points[0].impulse), (1, Vec3::X));
    }
}
