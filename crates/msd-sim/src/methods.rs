//! The method of each island: exact, or swept if it is too large.
//!
//! Bodies are grouped by joints and contacts; swept ones also with bodies that they may touch within the step. A group of up to
//! [`Settings::exact_body_limit`] bodies is stepped exactly, unless its exact steps cost more than
//! [`Settings::exact_cost_limit`]; a larger one is swept. The choice depends on the group
//! alone, not on anything else in the world, so a body far away changes nothing. A larger group of which nothing moves, a
//! structure, is exact too: it is solved, and then rests until its loads change, or moves and is swept from then on.

use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, PairEntry};
use crate::islands::{Cost, Costs, DisjointSets};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::model::Model;
use crate::settings::{Method, Settings};

/// A swept group becomes exact when it has at most this fraction of [`Settings::exact_body_limit`] bodies, so that a
/// group whose size varies does not change its method all the time.
const RETURN: f64 = 0.75;

/// What exact steps of a group may cost in excess of the limit before the group is swept, in multiples of the limit: a hit may
/// cost that much, a heap in motion does in a few steps. Every step below the limit makes up for others.
const MAX_DEBT: u64 = 16;

/// The cost of islands that land or come to rest counts by this fraction: they may need no solve at all soon.
const CALM: u64 = 64;

/// Number of steps for which a group is swept before an exact step is tried again. A trial that costs too much doubles it, up
/// to [`MAX_DOUBLINGS`] times.
const RETRY: u8 = 60;
const MAX_DOUBLINGS: u8 = 2;

/// Which bodies are swept. Lists are by body unless noted.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Methods {
    is_swept: Vec<bool>,
    /// The inertial bodies that are stepped exactly, ascending.
    exact: Vec<u32>,
    /// Whether `exact` may be out of date, because bodies were added or removed.
    dirty: bool,
    /// Bodies that become swept, and bodies that become exact, in this step.
    pub(crate) to_swept: Vec<u32>,
    pub(crate) to_exact: Vec<u32>,
    /// By body: the cost history of its groups; and whether any of them may differ from the default.
    costs: Vec<CostState>,
    any_debt: bool,
    /// The limit of the cost in the last step. Costs under another one do not count.
    cost_limit: u64,
    #[serde(skip)]
    sets: DisjointSets,
    /// By root.
    #[serde(skip)]
    groups: Vec<Group>,
}

/// The cost history of a body's groups, from which their next method follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct CostState {
    /// Cost of exact steps in excess of the limit, per body.
    debt: u64,
    /// Number of steps until an exact step of a group that was swept for its cost is tried.
    wait: u8,
    /// Number of times that the next wait is doubled.
    doublings: u8,
}

impl CostState {
    /// Returns the state after a step at no cost.
    fn after_free_step(self, limits: &Limits) -> Self {
        let debt = self.debt.saturating_sub(limits.cost);
        let doublings = if debt > 0 { self.doublings } else { 0 };
        Self { debt, doublings, ..self }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    size: u32,
    any_swept: bool,
    any_asleep: bool,
    any_moving: bool,
    any_joint: bool,
    /// Cost of its last exact step, and the states of its bodies: the largest of each field.
    cost: Cost,
    state: CostState,
}

/// The limits up to which a group is exact.
#[derive(Clone, Copy)]
struct Limits {
    bodies: usize,
    /// Per body and step.
    cost: u64,
}

impl Limits {
    fn new(settings: &Settings) -> Self {
        match settings.method {
            Method::SoftStep => Self {
                bodies: settings.exact_body_limit() as usize,
                cost: match settings.exact_cost_limit() {
                    u32::MAX => u64::MAX,
                    limit => u64::from(limit),
                },
            },
            _ => Self { bodies: usize::MAX, cost: u64::MAX },
        }
    }
}

impl Group {
    /// Returns whether the group is swept in this step.
    fn is_swept_next(&self, limits: &Limits) -> bool {
        let limit = limits.bodies;
        let most = if self.any_swept { (limit as f64 * RETURN) as usize } else { limit };
        let structure = limit > 0 && !self.any_moving && !self.any_swept;
        // Awake bodies near sleeping ones wake them only if they touch them, which sweeping finds out.
        self.size as usize > most && !structure || self.is_too_costly(limits) || self.any_asleep
    }

    /// Returns whether exact steps of the group have cost too much lately.
    fn is_too_costly(&self, limits: &Limits) -> bool {
        // The errors of joints add up.
        limits.cost < u64::MAX
            && !self.any_joint
            && (self.state.wait > 0 || self.debt(limits) > MAX_DEBT * limits.cost)
    }

    /// Returns the cost of the last step in excess of the limit, per body. A lower cost counts as none, because costs are not
    /// checked while no body has more.
    fn excess(&self, limits: &Limits) -> u64 {
        let Cost { in_motion, calm } = self.cost;
        ((in_motion + calm / CALM) / u64::from(self.size)).saturating_sub(limits.cost)
    }

    /// Returns the debt of its bodies, the last step included.
    fn debt(&self, limits: &Limits) -> u64 {
        match self.excess(limits) {
            0 => self.state.debt.saturating_sub(limits.cost),
            excess => self.state.debt + excess,
        }
    }

    /// Returns the state of one of its bodies for the coming step.
    fn next_state(&self, body: CostState, limits: &Limits) -> CostState {
        let CostState { wait, doublings, debt } = self.state;
        if wait > 0 {
            // The trial that follows may cost twice the limit.
            let debt = if wait == 1 { (MAX_DEBT - 1) * limits.cost } else { 0 };
            return CostState { wait: wait - 1, doublings, debt };
        }
        if self.is_too_costly(limits) {
            let doubled = (doublings + 1).min(MAX_DOUBLINGS);
            return CostState { wait: RETRY << doublings, doublings: doubled, debt: 0 };
        }
        match self.excess(limits) {
            0 if self.any_swept => CostState { wait, doublings, debt },
            0 => body.after_free_step(limits),
            _ => CostState { wait, doublings, debt: self.debt(limits) },
        }
    }
}

impl Methods {
    /// Registers that a body was added or removed. A new body is exact until its group is known.
    pub(crate) fn reset(&mut self, body: u32) {
        if let Some(is_swept) = self.is_swept.get_mut(body as usize) {
            *is_swept = false;
            self.costs[body as usize] = CostState::default();
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
        self.costs.resize(count, CostState::default());
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
        model: &Model,
        collision: &CollisionPipeline,
        costs: &Costs,
        dt: f64,
        is_asleep: impl Fn(u32) -> bool,
    ) -> bool {
        let Model { bodies, joints, settings, .. } = model;
        self.to_swept.clear();
        self.to_exact.clear();
        let limits = Limits::new(settings);
        let same = std::mem::replace(&mut self.cost_limit, limits.cost) == limits.cost;
        let none = &Costs::default();
        let costs = if same { costs } else { none };
        if !same {
            self.costs.fill(CostState::default());
        }
        let costly = costs.most() > limits.cost;
        // No group is larger than the world.
        if bodies.inertial.len() <= limits.bodies && !costly && !self.any_swept(bodies) {
            self.reduce_debts(&limits);
            return false;
        }
        self.group(bodies, joints, collision, settings, dt);
        loop {
            self.sum_groups(bodies, joints, costs, &is_asleep);
            if !self.join_parted(bodies, collision, settings, dt, &limits) {
                break;
            }
        }
        self.any_debt = false;
        for &body in &bodies.inertial {
            let group = &self.groups[self.sets.root(body) as usize];
            let sweep = group.is_swept_next(&limits);
            let state = group.next_state(self.costs[body as usize], &limits);
            self.any_debt |= state != CostState::default();
            self.costs[body as usize] = state;
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

    /// Reduces the debts of all bodies after a step that cost none of them more than the limit, while no body is swept.
    fn reduce_debts(&mut self, limits: &Limits) {
        if std::mem::take(&mut self.any_debt) {
            for state in &mut self.costs {
                *state = CostState { wait: 0, ..state.after_free_step(limits) };
                self.any_debt |= *state != CostState::default();
            }
        }
    }

    fn sum_groups(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        costs: &Costs,
        is_asleep: impl Fn(u32) -> bool,
    ) {
        for &body in &bodies.inertial {
            self.groups[body as usize] = Group::default();
        }
        for &body in &bodies.inertial {
            let group = &mut self.groups[self.sets.root(body) as usize];
            group.size += 1;
            group.any_swept |= self.is_swept[body as usize];
            group.any_asleep |= is_asleep(body);
            group.any_moving |= bodies.motions[body as usize].velocity != SpatialVector::ZERO;
            group.cost += costs.of(body);
            let state = self.costs[body as usize];
            let of_group = &mut group.state;
            of_group.debt = of_group.debt.max(state.debt);
            of_group.wait = of_group.wait.max(state.wait);
            of_group.doublings = of_group.doublings.max(state.doublings);
        }
        for index in joints.slots.iter() {
            for body in joints.joints[index as usize].bodies {
                if bodies.is_inertial(body as usize) {
                    self.groups[self.sets.root(body) as usize].any_joint = true;
                }
            }
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
        limits: &Limits,
    ) -> bool {
        let becomes_swept = |methods: &Self, body: u32| {
            !methods.is_swept(body)
                && methods.groups[methods.sets.root(body) as usize].is_swept_next(limits)
        };
        if !bodies.inertial.iter().any(|&body| becomes_swept(self, body)) {
            return false;
        }
        let mut any = false;
        for entry in &collision.pairs.order {
            let [a, b] = bodies.colliders.bodies(entry.key);
            let inertial = [a, b].iter().all(|&body| bodies.is_inertial(body as usize));
            if !inertial || self.is_swept(a) || self.is_swept(b) {
                continue;
            }
            let parted = becomes_swept(self, a) != becomes_swept(self, b);
            if parted && collision.may_meet(bodies, settings, entry.key, dt) {
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
            let PairEntry { key, number, .. } = entry;
            let [a, b] = bodies.colliders.bodies(key);
            if !inertial([a, b]) {
                continue;
            }
            let meets = match [self.is_swept(a), self.is_swept(b)] {
                [true, true] => {
                    collision.pairs.all[number as usize].has_contact()
                        || collision.needs_check(bodies, &entry, dt)
                }
                // Exact bodies that meet are computed together anyway: only lasting contacts make them a group, not bounces.
                [false, false] if !collision.are_near(key) => false,
                [false, false] => {
                    let pair = &collision.pairs.all[number as usize];
                    let lasts = pair.restitution == 0.0 || pair.is_new();
                    pair.touching || lasts && collision.will_meet(bodies, settings, key, dt)
                }
                _ => collision.may_meet(bodies, settings, key, dt),
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
