//! The near pairs of exact steps: those that can meet within the step.

use super::contact::Hit;
use super::contact_pair::ContactPair;
use super::motion_bounds::{finite_size, path_bounds, travel};
use super::near::{ExactContact, Near, NearList};
use super::pairs::PairList;
use super::pipeline::CollisionPipeline;
use crate::bodies::{BodySet, ColliderSet};
use crate::geometry::{Aabb, Workspace};
use crate::joints::JointSet;
use crate::settings::{Settings, StepTime};

/// A body that travels more than this many times its radius in an exact step is paired with bodies along its path, one
/// substep at a time; a slower one with bodies around it.
const LONG_DISTANCE: f64 = 2.0;

/// Near pairs are found again when a body may travel farther than expected by this fraction of its size.
const OUTRUN: f64 = 0.01;

impl CollisionPipeline {
    /// Sets the near bounds of the colliders of a body: its bounds, grown.
    pub(super) fn set_near_bounds(&mut self, bodies: &BodySet, body: u32, growth: f64) {
        for collider in bodies.colliders.of(body) {
            self.near_bounds[collider as usize] = bodies.bounds(collider).grown(growth);
        }
    }

    /// Begins a substep of exact bodies: they have moved.
    pub(crate) fn begin_substep(&mut self) {
        self.substep += 1;
    }

    /// Returns whether a near pair has no points and is farther apart than a distance and the margin within which points are
    /// found, at the start of the substep, by the bounds of the colliders.
    #[inline]
    pub(crate) fn is_far(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        position: u32,
        distance: f64,
    ) -> bool {
        if self.near.may_have_points(position as usize) {
            return false;
        }
        let (a, b) = self.near.colliders(position as usize);
        let [a, b] = [a, b].map(|collider| self.present_bounds(bodies, settings, collider));
        let apart = (a.min - b.max).max(b.min - a.max).max_element();
        apart > distance
    }

    /// Returns the bounds of a collider at the start of the substep, grown by the margin; those of the whole step if its body
    /// is of the environment.
    #[inline]
    fn present_bounds(&mut self, bodies: &BodySet, settings: &Settings, collider: u32) -> Aabb {
        let body = bodies.colliders.body(collider);
        if !bodies.is_inertial(body as usize) {
            return self.near_bounds[collider as usize];
        }
        let (bounds, substep) = &mut self.present_bounds[collider as usize];
        if std::mem::replace(substep, self.substep) != self.substep {
            let margin = settings.margin * finite_size(bodies, body);
            *bounds = bodies.bounds(collider).grown(margin);
        }
        *bounds
    }

    /// Returns the colliders of a near pair.
    pub(crate) fn near_colliders(&self, position: u32) -> (u32, u32) {
        self.near.colliders(position as usize)
    }

    /// Returns the bodies of a near pair.
    pub(crate) fn near_bodies(&self, position: u32) -> [u32; 2] {
        self.near.bodies(position as usize)
    }

    /// Sets the near bounds of a body's colliders by the distance it may travel.
    pub(super) fn expect_travel(
        &mut self,
        bodies: &BodySet,
        settings: &Settings,
        body: u32,
        StepTime { dt, h }: StepTime,
    ) {
        let extent = &bodies.extents[body as usize];
        let fall = settings.gravity.length() * dt * dt;
        let margin = settings.margin * extent.size + fall;
        let way = travel(bodies, body, dt);
        if way <= LONG_DISTANCE * extent.radius {
            self.travels[body as usize] = way + fall;
            self.set_near_bounds(bodies, body, way + margin);
        } else {
            self.travels[body as usize] = f64::INFINITY;
            self.has_path_bounds = true;
            for collider in bodies.colliders.of(body) {
                self.near_bounds[collider as usize] =
                    path_bounds(bodies, collider, h).grown(margin + OUTRUN * extent.size);
            }
        }
    }

    /// Updates the list of near pairs, and lists the pairs to drop, of pairs with an exact body: `any_exact`. Pairs of an
    /// exact and a swept body, `any_swept`, are not near. Keeps the contacts of pairs that stay near.
    pub(crate) fn update_near(
        &mut self,
        colliders: &ColliderSet,
        any_exact: impl Fn([u32; 2]) -> bool,
        any_swept: impl Fn([u32; 2]) -> bool,
    ) {
        let Self { near, pairs, near_bounds, separated, dropped, broad_phase, .. } = self;
        let lost_contacts = &mut self.lost_contacts;
        near.update(
            pairs,
            colliders,
            any_exact,
            |bodies, (a, b)| {
                near_bounds[a as usize].overlaps(&near_bounds[b as usize]) && !any_swept(bodies)
            },
            |number, pair| {
                if std::mem::take(&mut pair.touching) {
                    separated.push(pair.key());
                }
                pair.invalidate();
                if pair.has_contact() {
                    lost_contacts.push(number);
                }
            },
            |number, (a, b)| {
                if !broad_phase.overlap(a, b) {
                    dropped.push(number);
                }
            },
        );
    }

    /// Adds the pairs of exact bodies that can meet after their velocities changed. Returns whether there are any: the positions
    /// of near pairs have changed then.
    pub(crate) fn find_additional_pairs(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        settings: &Settings,
        moved: &[u32],
        is_exact: impl Fn(u32) -> bool,
        time: StepTime,
    ) -> bool {
        let mut found = std::mem::take(&mut self.candidates);
        found.clear();
        for &body in moved {
            if !self.leaves_expected_bounds(bodies, &[body], time) {
                continue;
            }
            self.expect_travel(bodies, settings, body, time);
            self.revised.push(body);
            for collider in bodies.colliders.of(body) {
                let bounds = self.near_bounds[collider as usize];
                if !self.contains(collider, &bounds) {
                    // Bounds that only grow keep all pairs; the next search computes them anew.
                    let known = self.broad_phase.bounds(collider).unwrap_or(bounds);
                    self.enlarge(body, collider, known.union(&bounds));
                    self.motion_bounds[body as usize].bounds_budget = f64::NEG_INFINITY;
                }
                self.broad_phase.query(&bounds, |other| {
                    let body_of_other = bodies.colliders.body(other);
                    let exact = body_of_other != body && is_exact(body_of_other);
                    if exact && bounds.overlaps(&self.near_bounds[other as usize]) {
                        found.push((collider.min(other), collider.max(other)));
                    }
                });
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&key| self.position(key).is_err() && self.allows(key, bodies, joints));
        if found.is_empty() {
            self.candidates = found;
            return false;
        }
        let make = |key: (u32, u32)| Some(ContactPair::new(key.0, key.1, bodies));
        self.pairs.merge(&found, make, &[]);
        for &key in &found {
            if let Some(number) = self.pairs.find(key) {
                self.near.add(key, bodies.colliders.bodies(key), number);
            }
        }
        self.near.sort();
        let Self { dropped, pairs, .. } = self;
        dropped.retain(|&number| found.binary_search(&pairs.all[number as usize].key()).is_err());
        self.candidates = found;
        true
    }

    /// Returns whether the near pairs of some bodies are valid for one substep only.
    pub(crate) fn has_path_bounds(&self) -> bool {
        self.has_path_bounds
    }

    /// Returns whether one of these bodies has become so fast, or turned so, that it may meet a body that was not near
    /// when pairs were found: within `dt`, a fast one within `h`.
    pub(crate) fn leaves_expected_bounds(
        &self,
        bodies: &BodySet,
        moved: &[u32],
        StepTime { dt, h }: StepTime,
    ) -> bool {
        moved.iter().any(|&body| {
            let known = self.travels[body as usize];
            if known < f64::INFINITY {
                let slack = OUTRUN * bodies.extents[body as usize].size;
                return travel(bodies, body, dt) > known + slack;
            }
            let near = &self.near_bounds;
            let path = |collider: u32| path_bounds(bodies, collider, h);
            let mut colliders = bodies.colliders.of(body);
            colliders.any(|collider| !near[collider as usize].contains(&path(collider)))
        })
    }

    /// Returns the number of near pairs.
    pub(crate) fn near_len(&self) -> usize {
        self.near.len()
    }

    /// Returns the list of near pairs.
    pub(crate) fn near_list(&mut self) -> &mut NearList {
        &mut self.near
    }

    /// Returns the near pairs that had an impact since the step began, each with the sum of its normal impulses, N s, and
    /// its fastest impact.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (&ContactPair, f64, &Hit)> {
        let hits = self.near.hits();
        hits.map(|(number, impulse, hit)| (&self.pairs.all[number as usize], impulse, hit))
    }

    /// Returns all pairs, the near ones, and a workspace for searches.
    pub(crate) fn pairs_and_near(&mut self) -> (&mut PairList, &mut NearList, &mut Workspace) {
        (&mut self.pairs, &mut self.near, &mut self.workspace)
    }

    /// Returns the position of a near pair, or the position where it would be inserted.
    pub(crate) fn position(&self, key: (u32, u32)) -> Result<usize, usize> {
        self.near.position(key)
    }

    /// Returns the near pair at a position, and a workspace for queries about it.
    pub(crate) fn near_and_workspace(&mut self, position: usize) -> (Near<'_>, &mut Workspace) {
        let pair = &self.pairs.all[self.near.number(position) as usize];
        (Near { pair, contact: self.near.contact(position) }, &mut self.workspace)
    }

    /// Returns the near pairs, in the order of their colliders.
    pub(crate) fn near_pairs(&self) -> impl Iterator<Item = Near<'_>> + Clone {
        (0..self.near.len()).map(|position| self.near_pair(position))
    }

    /// Returns positions and bodies of the near pairs with points that may push.
    pub(crate) fn acting_pairs(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let near = (0..).zip(self.near_pairs());
        let acting = near.filter(|(_, near)| near.contact.acting().next().is_some());
        acting.map(|(position, near)| (position, near.pair.bodies))
    }

    /// Calls `visit` with every near pair and its contact, in the order of their colliders.
    pub(crate) fn for_each_near(
        &mut self,
        mut visit: impl FnMut(&mut ContactPair, &mut ExactContact),
    ) {
        for position in 0..self.near.len() {
            let pair = &mut self.pairs.all[self.near.number(position) as usize];
            visit(pair, self.near.contact_mut(position));
        }
    }

    /// Returns the near pair at a position in the order of their colliders.
    #[inline]
    pub(crate) fn near_pair(&self, position: usize) -> Near<'_> {
        let pair = &self.pairs.all[self.near.number(position) as usize];
        Near { pair, contact: self.near.contact(position) }
    }

    #[inline]
    pub(crate) fn contact_mut(&mut self, position: usize) -> &mut ExactContact {
        self.near.contact_mut(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::{Contacts, PoseTimes};
    use crate::geometry::Shape;
    use crate::islands::Island;
    use crate::math::{Pose, Vec3};
    use crate::model::Model;
    use crate::{BodyDef, BodyId, Filter, JointDef, World};

    const DT: f64 = 1.0 / 60.0;
    const H: f64 = DT / 4.0;
    const TIME: StepTime = StepTime { dt: DT, h: H };

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
        let World { model, contacts, scratch, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let threads = &mut scratch.threads;
        constraints.apply_filters(bodies, joints, collision);
        let all = &bodies.inertial;
        collision.find_exact_pairs(bodies, all, joints, settings, TIME, threads);
        collision.update_near(&bodies.colliders, |_| true, |_| false);
        constraints.release_lost(collision);
        near_bodies(world)
    }

    fn near_bodies(world: &World) -> Vec<[u32; 2]> {
        world.contacts.collision.near_pairs().map(|near| near.pair.bodies).collect()
    }

    fn find_additional_pairs(world: &mut World, moved: &[u32]) -> bool {
        let World { model, contacts, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let collision = &mut contacts.collision;
        collision.find_additional_pairs(bodies, joints, settings, moved, |_| true, TIME)
    }

    /// Finds contact points of all pairs with a body that `moved`; each body's pose is of its time in `times`.
    fn update_manifolds(world: &mut World, times: &[f64], moved: impl Fn(u32) -> bool) {
        let World { model, contacts, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        constraints.resize(bodies.poses.len());
        constraints.release_lost(collision);
        let mut island = Island::default();
        island.fill(&bodies.inertial, collision, joints, |_| true);
        let poses = PoseTimes { times, h: H };
        constraints.update_manifolds(bodies, collision, settings, &island, poses, moved);
    }

    fn place(world: &mut World, body: u32, x: f64) {
        world.model.bodies.poses[body as usize].position.x = x;
    }

    fn speed(world: &mut World, body: u32, speed: f64) {
        world.model.bodies.motions[body as usize].velocity.linear.x = speed;
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
            assert!(!world.contacts.collision.has_path_bounds());
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
            assert!(world.contacts.collision.has_path_bounds());
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
        world.set_collides(ids[1], ids[0], false).unwrap();
        assert_eq!(find_pairs(&mut world), [[1, 2]]);
        world.set_collides(ids[0], ids[1], false).unwrap();
        world.set_collides(ids[0], ids[1], true).unwrap();
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
        world.contacts.collision.contact_mut(0).points[0].impulse = Vec3::X;
        // Another pair is found before it: it is identified by its bodies, not by its position.
        place(&mut world, 2, -0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert_eq!(world.contacts.collision.near_pair(0).contact.points[0].impulse, Vec3::X);
        assert_eq!(world.contacts.collision.position((0, 2)), Ok(1));
        assert_eq!(world.contacts.collision.position((1, 2)), Err(2));
        // Away and back: a new pair.
        place(&mut world, 1, 5.0);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        place(&mut world, 1, 0.95);
        assert_eq!(find_pairs(&mut world), [[0, 1], [0, 2]]);
        assert!(!world.contacts.collision.near_pair(0).contact.has_points());
    }

    #[test]
    fn a_separated_pair_is_reported_if_it_touched_and_kept_if_it_met_in_this_step() {
        for (touching, push, hit) in
            [(false, 0.0, false), (true, 0.0, false), (true, 1.0, false), (false, 0.0, true)]
        {
            let mut world = world([ball(0.0), ball(0.95)]);
            find_pairs(&mut world);
            world.contacts.collision.pairs.all[0].touching = touching;
            let contact = world.contacts.collision.contact_mut(0);
            contact.normal_impulse = push;
            if hit {
                world.contacts.collision.near_list().add_impulse(0, 0, Vec3::ZERO, -1.0);
            }
            place(&mut world, 1, 5.0);
            let kept = push > 0.0 || hit;
            assert_eq!(find_pairs(&mut world).len(), usize::from(kept));
            assert_eq!(!world.contacts.collision.separated.is_empty(), touching && !kept);
        }
    }

    #[test]
    fn a_hit_is_listed_until_the_next_step_whether_or_not_its_pair_is_computed() {
        for (computed, reset) in [(true, false), (false, false), (true, true)] {
            let mut world = world([ball(0.0), ball(0.95), ball(1.9)]);
            find_pairs(&mut world);
            let near = world.contacts.collision.near_list();
            [0, 1].into_iter().for_each(|position| near.contact_mut(position).normal = Vec3::X);
            for (position, speed) in [(1, 1.0), (0, 2.0), (1, 3.0), (1, 2.0)] {
                near.add_impulse(position, 0, Vec3::X, -speed);
            }
            if reset {
                near.reset((1, 2));
            }
            let hits: Vec<_> = near.hits().map(|(pair, sum, hit)| (pair, sum, hit.speed)).collect();
            let expected = [(1, 3.0, 3.0), (0, 1.0, 2.0)];
            assert_eq!(hits, expected[usize::from(reset)..]);
            near.begin_step(|_| computed);
            assert_eq!(near.hits().count(), 0);
            near.add_impulse(1, 0, Vec3::X, -0.5);
            assert_eq!(near.hits().map(|(pair, ..)| pair).collect::<Vec<_>>(), [1]);
        }
    }

    #[test]
    fn the_pairs_of_a_removed_body_are_reused() {
        let mut world = world([ball(0.0), ball(0.9), ball(1.8)]);
        find_pairs(&mut world);
        let middle = world.bodies().nth(1).unwrap().id();
        world.remove_body(middle).unwrap();
        assert_eq!(world.contacts.collision.near_len(), 0);
        world.add_body(ball(0.9)).unwrap();
        assert_eq!(find_pairs(&mut world), [[0, 1], [1, 2]]);
        assert_eq!(world.contacts.collision.pairs.all.len(), 2);
    }

    #[test]
    fn a_body_that_got_faster_finds_more_pairs_in_order() {
        let mut world = world([ball(0.0), ball(1.6), ball(-0.9)]);
        assert_eq!(find_pairs(&mut world), [[0, 2]]);
        // As fast as expected: no search.
        assert!(!find_additional_pairs(&mut world, &[0, 1, 2]));
        speed(&mut world, 0, 36.0);
        assert!(world.contacts.collision.leaves_expected_bounds(
            &world.model.bodies,
            &[2, 0],
            TIME
        ));
        assert!(!world.contacts.collision.leaves_expected_bounds(
            &world.model.bodies,
            &[2, 1],
            TIME
        ));
        assert!(find_additional_pairs(&mut world, &[0]));
        assert_eq!(near_bodies(&world), [[0, 1], [0, 2]]);
        // Found once, it is not found again.
        assert!(!find_additional_pairs(&mut world, &[0]));
    }

    #[test]
    fn a_fast_body_outruns_its_bounds_when_it_turns_aside() {
        let mut world = world([ball(0.0), ball(30.0)]);
        speed(&mut world, 0, 120.0);
        find_pairs(&mut world);
        assert!(!world.contacts.collision.leaves_expected_bounds(&world.model.bodies, &[0], TIME));
        world.model.bodies.motions[0].velocity.linear = Vec3::Y * 120.0;
        assert!(world.contacts.collision.leaves_expected_bounds(&world.model.bodies, &[0], TIME));
    }

    #[test]
    fn contact_points_are_found_where_a_body_moved_and_nowhere_else() {
        let mut world = world([ball(0.0), ball(0.95), ball(5.0), ball(5.95)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 4], |body| body == 1);
        let lens: Vec<_> =
            world.contacts.collision.near_pairs().map(|near| near.contact.points().len()).collect();
        assert_eq!(lens, [1, 0]);
        let Near { pair, contact } = world.contacts.collision.near_pair(0);
        assert_eq!((contact.normal, pair.bodies), (Vec3::X, [0, 1]));
        assert!((contact.points[0].gap + 0.05).abs() < 1e-15);
        assert!((contact.points[0].position - Vec3::X * 0.475).length() < 1e-15);
    }

    #[test]
    fn points_of_bodies_at_two_times_are_found_at_the_later_time() {
        // Body 0 is 2 ms behind: at 10 m/s it comes 2 cm nearer in that time. The environment's time does not count.
        let mut free = world([ball(0.0), ball(1.0)]);
        speed(&mut free, 0, 10.0);
        find_pairs(&mut free);
        update_manifolds(&mut free, &[1e-3, 3e-3], |_| true);
        assert!((free.contacts.collision.near_pair(0).contact.points[0].gap + 0.02).abs() < 1e-15);
        let wall = BodyDef::environment(Shape::sphere(0.5).unwrap()).position(Vec3::X);
        let mut held = world([ball(0.0), wall]);
        speed(&mut held, 0, 10.0);
        find_pairs(&mut held);
        update_manifolds(&mut held, &[1e-3, 3e-3], |_| true);
        assert!(held.contacts.collision.near_pair(0).contact.points[0].gap.abs() < 1e-15);
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
            world.contacts.collision.contact_mut(0).closing_speed = closing;
            speed(&mut world, 0, 0.0);
            update_manifolds(&mut world, &[0.0; 2], |_| true);
            assert_eq!(
                world.contacts.collision.near_pair(0).contact.has_points(),
                found,
                "{closing} m/s, {gap} m"
            );
        }
    }

    #[test]
    fn a_moved_body_loses_its_contacts_and_its_material_can_change() {
        let mut world = world([ball(0.0), ball(0.95), ball(-0.95)]);
        find_pairs(&mut world);
        update_manifolds(&mut world, &[0.0; 3], |_| true);
        for position in 0..2 {
            world.contacts.collision.contact_mut(position).points[0].impulse = Vec3::X;
            let number = world.contacts.collision.near.number(position);
            world.contacts.collision.pairs.all[number as usize].touching = true;
        }
        let ids: Vec<BodyId> = world.bodies().map(|body| body.id()).collect();
        let ice = crate::Material::new(0.0, 0.0).unwrap();
        world.set_material(ids[2], ice).unwrap();
        assert_eq!(
            [0, 1].map(|at| world.contacts.collision.near_pair(at).pair.friction),
            [0.5, 0.0]
        );
        assert_eq!(
            [0, 1].map(|at| world.contacts.collision.near_pair(at).pair.restitution),
            [0.5, 0.0]
        );
        world.set_pose(ids[1], Pose::at(Vec3::X * 0.96)).unwrap();
        let [one, other] = [0, 1].map(|at| world.contacts.collision.near_pair(at));
        // The touching flag is kept, so that the end of the contact is reported.
        assert_eq!((one.contact.has_points(), one.pair.touching), (false, true));
        assert_eq!((other.contact.has_points(), other.contact.points[0].impulse), (true, Vec3::X));
    }
}
