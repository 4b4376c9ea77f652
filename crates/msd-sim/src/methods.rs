//! The method of each island: exact, or swept if it is too large.
//!
//! Bodies are grouped by joints and contacts; swept ones also with bodies that they may touch within the step. A group of up to
//! [`Settings::exact_body_limit`] bodies is stepped exactly, a larger one is swept. The choice depends on the group
//! alone, not on anything else in the world, so a body far away changes nothing. A larger group of which nothing moves, a
//! structure, is exact too: it is solved, and then rests until its loads change, or moves and is swept from then on.

use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, PairEntry};
use crate::islands::DisjointSets;
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::settings::{Method, Settings};

/// A swept group becomes exact when it has at most this fraction of [`Settings::exact_body_limit`] bodies, so that a
/// group whose size varies does not change its method all the time.
const RETURN: f64 = 0.75;

/// Which bodies are swept. Lists are by body unless noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Methods {
    is_swept: Vec<bool>,
    /// The inertial bodies that are stepped exactly, ascending.
    exact: Vec<u32>,
    /// Whether `exact` may be out of date, because bodies were added or removed.
    dirty: bool,
    /// Bodies that become swept, and bodies that become exact, in this step.
    pub(crate) to_swept: Vec<u32>,
    pub(crate) to_exact: Vec<u32>,
    sets: DisjointSets,
    /// By root.
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    size: u32,
    any_swept: bool,
    any_asleep: bool,
    any_moving: bool,
}

impl Group {
    /// Returns whether the group is swept in this step, if islands of up to `limit` bodies are exact.
    fn is_swept_next(&self, limit: usize) -> bool {
        let most = if self.any_swept { (limit as f64 * RETURN) as usize } else { limit };
        let structure = limit > 0 && !self.any_moving && !self.any_swept;
        // Awake bodies near sleeping ones wake them only if they touch them, which sweeping finds out.
        self.size as usize > most && !structure || self.any_asleep
    }
}

impl Methods {
    /// Registers that a body was added or removed. A new body is exact until its group is known.
    pub(crate) fn reset(&mut self, body: u32) {
        if let Some(is_swept) = self.is_swept.get_mut(body as usize) {
            *is_swept = false;
        }
        self.dirty = true;
    }

    /// Returns the inertial bodies that are stepped exactly, ascending.
    pub(crate) fn exact(&self) -> &[u32] {
        &self.exact
    }

    #[inline]
    pub(crate) fn is_swept(&self, body: u32) -> bool {
        self.is_swept.get(body as usize).is_some_and(|&is_swept| is_swept)
    }

    /// Returns whether one of two bodies is swept.
    #[inline]
    pub(crate) fn is_any_swept(&self, [a, b]: [u32; 2]) -> bool {
        self.is_swept(a) || self.is_swept(b)
    }

    /// Returns whether one of two bodies is inertial and exact.
    #[inline]
    pub(crate) fn is_any_exact(&self, bodies: &BodySet, pair: [u32; 2]) -> bool {
        pair.into_iter().any(|body| bodies.is_inertial(body as usize) && !self.is_swept(body))
    }

    /// Returns whether some bodies are swept, those asleep included.
    pub(crate) fn any_swept(&self, bodies: &BodySet) -> bool {
        self.exact.len() < bodies.inertial.len()
    }

    /// Begins a step with the methods of the last one.
    pub(crate) fn begin_step(&mut self, bodies: &BodySet) {
        let count = bodies.poses.len();
        self.is_swept.resize(count, false);
        self.sets.resize(count);
        self.groups.resize(count, Group::default());
        if std::mem::take(&mut self.dirty) {
            self.list_exact(bodies);
        }
    }

    fn list_exact(&mut self, bodies: &BodySet) {
        self.exact.clear();
        let exact = bodies.inertial.iter().filter(|&&body| !self.is_swept[body as usize]);
        self.exact.extend(exact);
    }

    /// Groups the bodies and chooses the method of each group. Returns whether that of any body changes.
    pub(crate) fn choose(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
        is_asleep: impl Fn(u32) -> bool,
    ) -> bool {
        self.to_swept.clear();
        self.to_exact.clear();
        let limit = match settings.method {
            Method::SoftStep => settings.exact_body_limit() as usize,
            _ => usize::MAX,
        };
        // No group is larger than the world.
        if bodies.inertial.len() <= limit && !self.any_swept(bodies) {
            return false;
        }
        self.group(bodies, joints, collision, settings, dt);
        loop {
            self.sum_groups(bodies, &is_asleep);
            if !self.join_parted(bodies, collision, settings, dt, limit) {
                break;
            }
        }
        for &body in &bodies.inertial {
            let sweep = self.groups[self.sets.root(body) as usize].is_swept_next(limit);
            if sweep != std::mem::replace(&mut self.is_swept[body as usize], sweep) {
                let list = if sweep { &mut self.to_swept } else { &mut self.to_exact };
                list.push(body);
            }
        }
        if self.has_changes() {
            self.list_exact(bodies);
        }
        self.has_changes()
    }

    fn sum_groups(&mut self, bodies: &BodySet, is_asleep: impl Fn(u32) -> bool) {
        for &body in &bodies.inertial {
            self.groups[body as usize] = Group::default();
        }
        for &body in &bodies.inertial {
            let group = &mut self.groups[self.sets.root(body) as usize];
            group.size += 1;
            group.any_swept |= self.is_swept[body as usize];
            group.any_asleep |= is_asleep(body);
            group.any_moving |= bodies.motions[body as usize].velocity != SpatialVector::ZERO;
        }
    }

    /// Joins the groups of exact bodies that may meet within the step although one of them is swept from now on. Returns
    /// whether there are any.
    fn join_parted(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
        limit: usize,
    ) -> bool {
        let becomes_swept = |methods: &Self, body: u32| {
            !methods.is_swept(body)
                && methods.groups[methods.sets.root(body) as usize].is_swept_next(limit)
        };
        if !bodies.inertial.iter().any(|&body| becomes_swept(self, body)) {
            return false;
        }
        let mut any = false;
        for entry in &collision.pairs.order {
            let (a, b) = entry.key;
            let inertial = [a, b].iter().all(|&body| bodies.is_inertial(body as usize));
            if !inertial || self.is_swept(a) || self.is_swept(b) {
                continue;
            }
            let parted = becomes_swept(self, a) != becomes_swept(self, b);
            if parted && collision.may_meet(bodies, settings, [a, b], dt) {
                self.sets.join(a, b);
                any = true;
            }
        }
        any
    }

    /// Returns whether the method of some bodies changes in this step.
    pub(crate) fn has_changes(&self) -> bool {
        !self.to_swept.is_empty() || !self.to_exact.is_empty()
    }

    /// Joins the bodies that joints connect, that touch, or that may come into contact within the step.
    fn group(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        for &body in &bodies.inertial {
            self.sets.reset(body);
        }
        let inertial = |pair: [u32; 2]| pair.iter().all(|&body| bodies.is_inertial(body as usize));
        for &entry in &collision.pairs.order {
            let PairEntry { key: (a, b), number, .. } = entry;
            if !inertial([a, b]) {
                continue;
            }
            let meets = match [self.is_swept(a), self.is_swept(b)] {
                [true, true] => {
                    collision.pairs.all[number as usize].has_contact()
                        || collision.needs_check(&entry, dt)
                }
                // Exact bodies that meet are computed together anyway: only lasting contacts make them a group, not bounces.
                [false, false] if !collision.are_near([a, b]) => false,
                [false, false] => {
                    let pair = &collision.pairs.all[number as usize];
                    let lasts = pair.restitution == 0.0 || pair.is_new();
                    pair.touching || lasts && collision.will_meet(bodies, settings, [a, b], dt)
                }
                _ => collision.may_meet(bodies, settings, [a, b], dt),
            };
            if meets {
                self.sets.join(a, b);
            }
        }
        for index in joints.slots.iter() {
            let [a, b] = joints.joints[index as usize].bodies;
            if inertial([a, b]) {
                self.sets.join(a, b);
            }
        }
    }
}
