//! The collision pipeline: from poses to near pairs and their contact points.

use super::broad_phase::{BroadPhase, Kind};
use super::contact::{ContactPair, ContactRecord};
use super::travel::{path_bounds, travel, turning};
use crate::bodies::BodySet;
use crate::geometry::{Aabb, Workspace};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::Settings;

/// A body that travels more than this many times its radius in a step is paired with bodies along its path, one substep
/// at a time; a slower one with bodies around it.
const LONG_DISTANCE: f64 = 2.0;

/// Bodies that would approach by more than this fraction of the smaller size in half a substep meet along their paths
/// ([`crate::impacts`]), not by contact points found from far away.
const NEAR: f64 = 1.0;

/// Pairs are found again when a body may travel farther than expected by this fraction of its size.
const OUTRUN: f64 = 0.01;

/// The collision pipeline: finds contacts and keeps them. Its lists stay readable after the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollisionPipeline {
    broad_phase: BroadPhase,
    candidates: Vec<(u32, u32)>,
    /// By body: the distance it was expected to travel when pairs were found, m; infinite if they were found along its
    /// path of one substep.
    travels: Vec<f64>,
    has_path_bounds: bool,
    /// Near pairs by their bodies, ascending, with their indices in `pairs`.
    order: Vec<Entry>,
    next_order: Vec<Entry>,
    pairs: Vec<ContactPair>,
    free: Vec<u32>,
    /// Pairs that the user keeps from colliding, sorted.
    disabled_pairs: Vec<(u32, u32)>,
    /// Pairs that touched in the last step and are no longer near.
    pub(crate) separated: Vec<(u32, u32)>,
    workspace: Workspace,
}

/// A near pair: its bodies, smaller index first, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    bodies: (u32, u32),
    place: u32,
}

impl CollisionPipeline {
    pub(crate) fn insert(&mut self, bodies: &BodySet, body: u32) {
        let bounds = bodies.bounds(body as usize);
        let inertial = bodies.is_inertial(body as usize);
        let kind = if inertial { Kind::Inertial } else { Kind::Environment };
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
        self.disabled_pairs.retain(|&(a, b)| a != body && b != body);
    }

    /// Discards the contacts of a body that was moved.
    pub(crate) fn invalidate(&mut self, bodies: &BodySet, body: u32) {
        for entry in &self.order {
            if entry.bodies.0 == body || entry.bodies.1 == body {
                self.pairs[entry.place as usize].invalidate(bodies);
            }
        }
        self.refresh(bodies, body, 0.0);
    }

    /// Updates the pairs of a body that has a new material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, body: u32) {
        for entry in &self.order {
            if entry.bodies.0 == body || entry.bodies.1 == body {
                self.pairs[entry.place as usize].refresh_materials(bodies);
            }
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

    /// Finds the pairs that can meet within a step `dt`, those of fast bodies within a substep `h`. Keeps the
    /// contacts of pairs that stay near.
    pub(crate) fn find_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        dt: f64,
        h: f64,
    ) {
        self.travels.resize(bodies.poses.len(), 0.0);
        self.has_path_bounds = false;
        for &body in &bodies.inertial {
            self.update_bounds(bodies, settings, body, dt, h);
        }
        for &body in &bodies.environment {
            let velocity = &bodies.motions[body as usize].velocity;
            if *velocity != SpatialVector::ZERO {
                let turn = turning(velocity.angular, bodies.solids[body as usize].rotation_radius);
                self.refresh(bodies, body, (velocity.linear.length() + turn) * dt);
            }
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        self.broad_phase.find_pairs(&mut candidates);
        self.merge(&candidates, bodies, joints);
        self.candidates = candidates;
    }

    /// Updates the bounds of a body in the broad phase with the distance it may travel.
    fn update_bounds(&mut self, bodies: &BodySet, settings: &Settings, body: u32, dt: f64, h: f64) {
        let solid = &bodies.solids[body as usize];
        let fall = settings.gravity.length() * dt * dt;
        let margin = settings.margin * solid.size + fall;
        let way = travel(bodies, body, dt);
        if way <= LONG_DISTANCE * solid.radius {
            self.travels[body as usize] = way + fall;
            self.refresh(bodies, body, way + margin);
        } else {
            self.travels[body as usize] = f64::INFINITY;
            self.has_path_bounds = true;
            let bounds = path_bounds(bodies, body, h).grown(margin + OUTRUN * solid.size);
            self.broad_phase.update(body, bounds);
        }
    }

    /// Adds the pairs that bodies can meet after their velocities changed. Returns whether there are any: the positions
    /// of pairs have changed then.
    pub(crate) fn find_additional_pairs(
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
            if !self.leaves_expected_bounds(bodies, &[body], dt, h) {
                continue;
            }
            self.update_bounds(bodies, settings, body, dt, h);
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

    /// Returns the position of the pair of two bodies, or the position where it would be inserted.
    pub(crate) fn position(&self, key: (u32, u32)) -> Result<usize, usize> {
        self.order.binary_search_by_key(&key, |entry| entry.bodies)
    }

    /// Returns whether two bodies touched in the last exact step.
    pub(crate) fn is_touching(&self, key: (u32, u32)) -> bool {
        self.position(key).is_ok_and(|position| self.pair(position).touching)
    }

    /// Resumes exact steps after swept ones, which keep their own pairs: pairs in `touching`, ascending, touched in the
    /// last step, no others did, and `contacts` have the impulses to start with.
    pub(crate) fn resume(
        &mut self,
        bodies: &BodySet,
        touching: &[(u32, u32)],
        contacts: &[ContactRecord],
    ) {
        self.for_each_pair(|pair| {
            pair.invalidate(bodies);
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
        for contact in contacts {
            if let Ok(position) = self.position((contact.bodies[0], contact.bodies[1])) {
                self.pair_mut(position).warm_start(bodies, contact);
            }
        }
    }

    /// Returns whether the last bounds of two bodies overlap.
    pub(crate) fn is_near(&self, a: u32, b: u32) -> bool {
        self.broad_phase.overlap(a, b)
    }

    /// Returns the last bounds of a body.
    pub(crate) fn near_bounds(&self, body: u32) -> Option<Aabb> {
        self.broad_phase.bounds(body)
    }

    /// Sets bounds that already include a margin.
    pub(crate) fn enlarge(&mut self, body: u32, bounds: Aabb) {
        self.broad_phase.enlarge(body, bounds);
    }

    /// Rebuilds trees that have degraded.
    pub(crate) fn rebuild(&mut self) {
        self.broad_phase.rebuild();
    }

    /// Calls `visit` for every body whose bounds overlap `bounds`.
    pub(crate) fn near(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.broad_phase.query(bounds, visit);
    }

    /// Returns whether two bodies may collide.
    pub(crate) fn allows(&self, key: (u32, u32), bodies: &BodySet, joints: &JointSet) -> bool {
        let filters = [key.0, key.1].map(|body| bodies.solids[body as usize].filter);
        filters[0].allows(&filters[1])
            && !joints.is_jointed(key.0, key.1)
            && self.disabled_pairs.binary_search(&key).is_err()
    }

    /// Returns whether the pairs of some bodies are valid for one substep only.
    pub(crate) fn has_path_bounds(&self) -> bool {
        self.has_path_bounds
    }

    /// Returns whether one of these bodies has become so fast, or turned so, that it may meet a body that was not near
    /// when pairs were found: within `dt`, a fast one within `h`.
    pub(crate) fn leaves_expected_bounds(
        &self,
        bodies: &BodySet,
        moved: &[u32],
        dt: f64,
        h: f64,
    ) -> bool {
        moved.iter().any(|&body| {
            let known = self.travels[body as usize];
            if known < f64::INFINITY {
                let slack = OUTRUN * bodies.solids[body as usize].size;
                return travel(bodies, body, dt) > known + slack;
            }
            let known = self.broad_phase.bounds(body);
            known.is_some_and(|known| !known.contains(&path_bounds(bodies, body, h)))
        })
    }

    /// Updates the bounds of a body.
    pub(crate) fn refresh(&mut self, bodies: &BodySet, body: u32, growth: f64) {
        self.broad_phase.update(body, bodies.bounds(body as usize).grown(growth));
    }

    /// Keeps, adds and drops pairs according to the sorted candidates.
    fn merge(&mut self, candidates: &[(u32, u32)], bodies: &BodySet, joints: &JointSet) {
        self.next_order.clear();
        let mut known = 0;
        for &key in candidates {
            while known < self.order.len() && self.order[known].bodies < key {
                let entry = self.order[known];
                self.retire(entry);
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
            self.retire(entry);
        }
        std::mem::swap(&mut self.order, &mut self.next_order);
    }

    /// Drops a pair that is no longer near, unless it met in this step: that still has to be reported.
    fn retire(&mut self, entry: Entry) {
        let pair = &self.pairs[entry.place as usize];
        if pair.normal_impulse > 0.0 || pair.hit.is_some() {
            self.next_order.push(entry);
        } else {
            self.drop_pair(entry);
        }
    }

    fn drop_pair(&mut self, entry: Entry) {
        if self.pairs[entry.place as usize].touching {
            self.separated.push(entry.bodies);
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

    /// Finds contact points at the present poses, including points that may close within `h`, for the pairs at
    /// these positions that have a body for which `moved` holds. `pose_time` is the time of each body's pose.
    pub(crate) fn update_manifolds(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        pairs: &[u32],
        pose_time: &[f64],
        h: f64,
        moved: impl Fn(u32) -> bool,
    ) {
        for &position in pairs {
            let entry = self.order[position as usize];
            if moved(entry.bodies.0) || moved(entry.bodies.1) {
                let pair = &mut self.pairs[entry.place as usize];
                update(pair, bodies, settings, pose_time, h, &mut self.workspace);
            }
        }
    }

    /// Returns the number of near pairs.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the pair at a position, and a workspace for queries about it.
    pub(crate) fn pair_and_workspace(&mut self, position: usize) -> (&ContactPair, &mut Workspace) {
        (&self.pairs[self.order[position].place as usize], &mut self.workspace)
    }

    /// Returns near pairs, in the order of their bodies.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &ContactPair> + Clone {
        self.order.iter().map(|entry| &self.pairs[entry.place as usize])
    }

    /// Returns positions and bodies of the pairs with points that may push.
    pub(crate) fn acting_pairs(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let pairs = (0..).zip(self.pairs());
        let acting = pairs.filter(|(_, pair)| pair.acting().next().is_some());
        acting.map(|(position, pair)| (position, pair.bodies))
    }

    /// Calls `visit` with every near pair, in the order of their bodies.
    pub(crate) fn for_each_pair(&mut self, mut visit: impl FnMut(&mut ContactPair)) {
        for entry in &self.order {
            visit(&mut self.pairs[entry.place as usize]);
        }
    }

    /// Returns the pair at a position in the order of their bodies.
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
    pose_time: &[f64],
    h: f64,
    workspace: &mut Workspace,
) {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let (va, vb) = (&bodies.motions[a].velocity, &bodies.motions[b].velocity);
    let margin = settings.margin * pair.size + (2.0 * h * pair.closing_speed).min(NEAR * pair.size);
    // Both poses are needed at one time: the later one, to which the other body moves freely. Before its last impact
    // its path was different. The environment has no impacts.
    let time = match [a, b].map(|body| bodies.is_inertial(body)) {
        [true, false] => pose_time[a],
        [false, true] => pose_time[b],
        _ => pose_time[a].max(pose_time[b]),
    };
    let mut poses = [bodies.poses[a], bodies.poses[b]];
    poses[0].position += va.linear * (time - pose_time[a]);
    poses[1].position += vb.linear * (time - pose_time[b]);
    pair.update(bodies, poses, margin, settings.reuse, workspace);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::math::{Pose, Vec3};
    use crate::{BodyDef, BodyId, Filter, JointDef, World};

    const DT: f64 = 1.0 / 60.0;
    const H: f64 = DT / 4.0;

    /// A ball of radius 0.5 m and 1 kg on the x axis.
    fn ball(x: f64) -> BodyDef {
        BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0).position(Vec3::X * x)
    }

    /// A world without gravity with these bodies.
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

    fn find_additional_pairs(world: &mut World, moved: &[u32]) -> bool {
        let World { bodies, joints, settings, collision, .. } = world;
        collision.find_additional_pairs(bodies, joints, settings, moved, DT, H)
    }

    /// Finds contact points of all pairs with a body that `moved`; each body's pose is of its time in `pose_time`.
    fn update_manifolds(world: &mut World, pose_time: &[f64], moved: impl Fn(u32) -> bool) {
        let World { bodies, settings, collision, .. } = world;
        let pairs: Vec<u32> = (0..collision.len() as u32).collect();
        collision.update_manifolds(bodies, settings, &pairs, pose_time, H, moved);
    }

    fn place(world: &mut World, body: u32, x: f64) {
        world.bodies.poses[body as usize].position.x = x;
    }

    fn speed(world: &mut World, body: u32, speed: f64) {
        world.bodies.motions[body as usize].velocity.linear.x = speed;
    }

    #[test]
    fn near_pairs_are_those_that_can_meet_within_the_step() {
        // Both are grown by the margin, 0.02 of 0.5 m, and by the distance they travel: 30 m/s is 0.5 m per step, which
        // is not a long distance.
        let reach = 2.0 * 0.02 * 0.5;
        for (gap, at, near) in [
            (reach - 1e-9, 0.0, true),
            (reach + 1e-9, 0.0, false),
            (reach + 0.5 - 1e-9, 30.0, true),
            (reach + 0.5 + 1e-9, 30.0, false),
            // In either direction.
            (reach + 0.5 - 1e-9, -30.0, true),
        ] {
            let mut world = world([ball(0.0), ball(1.0 + gap)]);
            speed(&mut world, 0, at);
            assert_eq!(find_pairs(&mut world).len(), usize::from(near), "{gap} m, {at} m/s");
            assert!(!world.collision.has_path_bounds());
        }
    }

    #[test]
    fn a_fast_body_pairs_with_bodies_along_its_path_of_a_substep() {
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
            assert!(world.collision.has_path_bounds());
        }
    }

    #[test]
    fn moving_environment_bodies_have_grown_bounds_and_do_not_pair_with_each_other() {
        let wall = |x: f64| BodyDef::environment(Shape::sphere(0.5).unwrap()).position(Vec3::X * x);
        let mut world = world([wall(0.0), wall(0.5), ball(2.0)]);
        assert_eq!(find_pairs(&mut world), [[0, 2]; 0]);
        speed(&mut world, 1, 60.0);
        assert_eq!(find_pairs(&mut world), [[1, 2]]);
    }

    #[test]
    fn filters_joints_and_disabled_pairs_keep_bodies_from_colliding() {
        let mut world = world([ball(0.0), ball(0.9), ball(1.8)]);
        assert_eq!(find_pairs(&mut world), [[0, 1], [1, 2]]);
        let ids: Vec<BodyId> = world.bodies().map(|body| body.id()).collect();
        // An existing pair is dropped, and made again.
        world.collision.set_disabled(1, 0, true);
        assert_eq!(find_pairs(&mut world), [[1, 2]]);
        world.collision.set_disabled(0, 1, true);
        world.collision.set_disabled(0, 1, false);
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
    fn a_pair_that_stays_near_keeps_its_contacts() {
        let mut world = world([ball(0.0), ball(0.95), ball(10.0)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 3], |_| true);
        world.collision.pair_mut(0).points[0].impulse = Vec3::X;
        // Another pair is found before it: it is identified by its bodies, not by its position.
        place(&mut world, 2, -0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert_eq!(world.collision.pair(0).points[0].impulse, Vec3::X);
        assert_eq!(world.collision.position((0, 2)), Ok(1));
        assert_eq!(world.collision.position((1, 2)), Err(2));
        // Away and back: a new pair.
        place(&mut world, 1, 5.0);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        place(&mut world, 1, 0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert_eq!(world.collision.pair(0).len, 0);
    }

    #[test]
    fn a_separated_pair_is_reported_if_it_touched_and_kept_if_it_met_in_this_step() {
        for (touching, push, hit) in
            [(false, 0.0, false), (true, 0.0, false), (true, 1.0, false), (false, 0.0, true)]
        {
            let mut world = world([ball(0.0), ball(0.95)]);
            find_pairs(&mut world);
            let pair = world.collision.pair_mut(0);
            (pair.touching, pair.normal_impulse) = (touching, push);
            let met = super::super::Hit { position: Vec3::ZERO, normal: Vec3::X, speed: 1.0 };
            pair.hit = hit.then_some(met);
            place(&mut world, 1, 5.0);
            let kept = push > 0.0 || hit;
            assert_eq!(find_pairs(&mut world).len(), usize::from(kept));
            assert_eq!(!world.collision.separated.is_empty(), touching && !kept);
        }
    }

    #[test]
    fn the_pairs_of_a_removed_body_are_reused() {
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
    fn a_body_that_got_faster_finds_more_pairs_in_order() {
        let mut world = world([ball(0.0), ball(1.6), ball(-0.9)]);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        // As fast as expected: no search.
        assert!(!find_additional_pairs(&mut world, &[0, 1, 2]));
        speed(&mut world, 0, 36.0);
        assert!(world.collision.leaves_expected_bounds(&world.bodies, &[2, 0], DT, H));
        assert!(!world.collision.leaves_expected_bounds(&world.bodies, &[2, 1], DT, H));
        assert!(find_additional_pairs(&mut world, &[0]));
        let pairs: Vec<_> = world.collision.pairs().map(|pair| pair.bodies).collect();
        assert_eq!(pairs, [[0, 1], [0, 2]]);
        // Found once, it is not found again.
        assert!(!find_additional_pairs(&mut world, &[0]));
    }

    #[test]
    fn a_fast_body_outruns_its_bounds_when_it_turns_aside() {
        let mut world = world([ball(0.0), ball(30.0)]);
        speed(&mut world, 0, 120.0);
        find_pairs(&mut world);
        assert!(!world.collision.leaves_expected_bounds(&world.bodies, &[0], DT, H));
        world.bodies.motions[0].velocity.linear = Vec3::Y * 120.0;
        assert!(world.collision.leaves_expected_bounds(&world.bodies, &[0], DT, H));
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
    fn points_of_bodies_at_two_times_are_found_at_the_later_time() {
        // Body 0 is 2 ms behind: at 10 m/s it comes 2 cm nearer in that time. The environment's time does not count.
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
    fn points_are_found_as_far_apart_as_the_bodies_can_close() {
        // 0.02 of the size, and twice the approach in a substep, but no more than the size.
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
            world.collision.pair_mut(0).closing_speed = closing;
            speed(&mut world, 0, 0.0);
            update_manifolds(&mut world, &[0.0; 2], |_| true);
            assert_eq!(world.collision.pair(0).len == 1, found, "{closing} m/s, {gap} m");
        }
    }

    #[test]
    fn a_moved_body_loses_its_contacts_and_its_material_can_change() {
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
        // The touching flag is kept, so that the end of the contact is reported.
        assert_eq!((one.len, one.touching), (0, true));
        assert_eq!((other.len, other.points[0].impulse), (1, Vec3::X));
    }
}
