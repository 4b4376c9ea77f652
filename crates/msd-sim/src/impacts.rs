//! Impacts within a substep: which pairs hit each other, when, and in which order.
//!
//! Pairs that may bounce, or move so far within a substep that they could pass each other, are followed on
//! their ways through it ([`find_impact`]). The island of the earliest that hits is taken to that
//! instant, gets its impulses, and what its bodies will hit from there on is foreseen anew. All
//! others are not looked at: a substep without such pairs costs one comparison of speeds a pair.

use crate::bodies::{BodySet, Potential};
use crate::collision::{CollisionPipeline, ContactPair, closing_speed, turning_speed};
use crate::constraints::TOUCHING;
use crate::constraints::impact::MEETING;
use crate::geometry::{
    ClosingBounds, ImpactLimits, ImpactOutcome, MovingShape, Shape, Simplex, Workspace, find_impact,
};
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::motion::{Acting, Motion, point_speed};
use crate::scope::{Neighbours, Scope};
use crate::settings::{Continuous, Settings};
use crate::solver::rotate_freely;

/// Bodies that come together by more than this fraction of the smaller size in a substep could pass each
/// other between two looks.
const FAST: f64 = 0.5;

/// Surfaces that are closer than this fraction of the smaller size have met.
const MET: f64 = 1e-9;

/// Impacts within this fraction of a substep happen at once.
const AT_ONCE: f64 = 1e-9;

/// Searches that follow one pair: each looks at it many times.
const MOST_SEARCHES: usize = 8;

/// Approach slower than this fraction of the speeds is rounding.
const ROUNDING: f64 = 1e-9;

/// Contact points are found for bodies that come together by up to this fraction of the smaller size in a substep.
const REACHED: f64 = 0.5;

/// Most instants of any island in a substep.
const MOST_INSTANTS: u32 = 256;

/// Instants that fast bodies have in any island.
const FAST_INSTANTS: u32 = 8;

/// What is to happen in this substep. Buffers are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impacts {
    neighbours: Neighbours,
    /// Whether `neighbours` and `all` are of the present pairs.
    listed: bool,
    filled: bool,
    foreseen: Vec<Foreseen>,
    /// By body: to how many instants its island was taken in this substep.
    impact_times: Vec<u32>,
    /// Pairs that hit at the instant that is looked at.
    now: Vec<u32>,
    /// Bodies that would pass others, and wait for the next substep.
    pub(crate) passing: Vec<u32>,
    /// What the present instant concerns; of it those that are to be moved to it; and all bodies.
    pub(crate) scope: Scope,
    pub(crate) behind: Scope,
    pub(crate) all: Scope,
}

/// A pair that will hit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Foreseen {
    time: f64,
    bodies: (u32, u32),
    position: u32,
    fast: bool,
}

/// What a pair that was followed does in the rest of the substep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It does not meet.
    Free,
    /// It rests, slides or lands: the contacts' business.
    Touches,
    Hits(f64),
}

/// An instant at which something hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instant {
    pub(crate) time: f64,
    /// For how long after it impacts are answered at once with it.
    pub(crate) ahead: f64,
    /// Approach slower than this is no impact, m/s.
    pub(crate) least: f64,
    pub(crate) answer: Answer,
}

/// How an impact is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Bounce,
    /// Brought to rest: there were too many.
    Stop,
    /// Far too many: the island moves on to the end of the substep, where its contact points hold it, and nothing
    /// bounces.
    MoveOn,
}

/// What impacts are foreseen from.
pub(crate) struct Outlook<'a> {
    pub(crate) bodies: &'a BodySet,
    pub(crate) joints: &'a JointSet,
    pub(crate) potentials: &'a [Potential],
    pub(crate) settings: &'a Settings,
    pub(crate) motion: &'a Motion,
    pub(crate) h: f64,
}

impl Outlook<'_> {
    /// Speed of approach, m/s, up to which there is no bounce: what forces give within a substep is none.
    pub(crate) fn rest_speed(&self) -> f64 {
        self.settings.rest_speed.max(self.settings.gravity.length() * self.h)
    }

    /// Speed of approach, m/s, up to which a pair is left to its contact points.
    fn least_speed(&self, pair: &ContactPair) -> f64 {
        let bounce = if pair.restitution > 0.0 { self.rest_speed() } else { f64::INFINITY };
        match self.settings.continuous {
            Continuous::Auto => bounce.min(FAST * pair.size / self.h),
            Continuous::Always => self.settings.gravity.length() * self.h,
            Continuous::Never => bounce,
        }
    }
}

impl Impacts {
    /// Takes note that pairs were found anew.
    pub(crate) fn unlist(&mut self) {
        (self.listed, self.filled) = (false, false);
    }

    /// Foresees the impacts of a substep.
    pub(crate) fn begin_substep(&mut self, look: &Outlook<'_>, collision: &mut CollisionPipeline) {
        self.impact_times.clear();
        self.impact_times.resize(look.bodies.poses.len(), 0);
        if !self.filled {
            self.all.fill(look.bodies, collision, look.joints);
            self.filled = true;
        }
        self.foreseen.clear();
        self.reserve(look.bodies.inertial.len(), collision.len());
        for position in 0..collision.len() as u32 {
            self.foresee(look, collision, position);
        }
    }

    /// Makes room for as much as there can be, so that steps do not allocate once they are warm.
    fn reserve(&mut self, bodies: usize, pairs: usize) {
        if self.foreseen.capacity() < pairs || self.scope.bodies.capacity() < bodies {
            self.foreseen.reserve(2 * pairs);
            self.now.reserve(2 * pairs);
            self.passing.reserve(4 * pairs);
            for scope in [&mut self.scope, &mut self.behind, &mut self.all] {
                scope.bodies.reserve(bodies);
                scope.pairs.reserve(4 * pairs);
            }
        }
    }

    /// Foresees anew what the bodies of the last instant will hit. `more` is whether pairs were added.
    pub(crate) fn renew(
        &mut self,
        look: &Outlook<'_>,
        collision: &mut CollisionPipeline,
        more: bool,
    ) {
        if more {
            self.all.fill(look.bodies, collision, look.joints);
            self.neighbours.list(look.bodies, collision, look.joints);
            for next in &mut self.foreseen {
                let position = collision.position(next.bodies);
                // No pair is dropped within a substep.
                next.position = position.unwrap_or_else(|place| place) as u32;
            }
        }
        let mut pairs = std::mem::take(&mut self.scope.pairs);
        self.neighbours.pairs_of(&self.scope.bodies, &mut pairs);
        self.foreseen.retain(|next| pairs.binary_search(&next.position).is_err());
        for &position in &pairs {
            self.foresee(look, collision, position);
        }
        self.scope.pairs = pairs;
    }

    /// The next instant, with its island in `scope`; none if nothing hits any more. Counts impacts that
    /// the bound on work leaves over.
    pub(crate) fn next(
        &mut self,
        look: &Outlook<'_>,
        collision: &mut CollisionPipeline,
        unresolved_impacts: &mut usize,
    ) -> Option<Instant> {
        loop {
            let earlier = |a: &&Foreseen, b: &&Foreseen| a.time.total_cmp(&b.time);
            let first = *self.foreseen.iter().min_by(earlier)?;
            self.now.clear();
            let at_once = first.time + AT_ONCE * look.h;
            let now = self.foreseen.iter().filter(|next| next.time <= at_once);
            self.now.extend(now.map(|next| next.position));
            self.now.sort_unstable();
            let pair = collision.pair(first.position as usize).bodies;
            let (neighbours, now) = (&mut self.neighbours, &self.now);
            let meets = |position| now.binary_search(&position).is_ok();
            let moves = |body: u32| {
                look.bodies.is_inertial(body as usize) && look.motion.clock(body) < look.h
            };
            let scope = &mut self.scope;
            neighbours.gather(scope, collision, look.joints, pair, meets, moves);
            let past = pair.map(|body| self.impact_times[body as usize]);
            let past = past[0].max(past[1]);
            let size = self.scope.bodies.len() as u32;
            let squared = size.saturating_mul(size);
            let most = (look.settings.impact_work / squared).clamp(1, MOST_INSTANTS);
            let most = if first.fast { most.max(FAST_INSTANTS) } else { most };
            // The island's impacts of this time are answered, or left to their contact points.
            let (pairs, bodies) = (&self.scope.pairs, &self.scope.bodies);
            let taken = |next: &Foreseen| {
                next.time <= at_once && pairs.binary_search(&next.position).is_ok()
            };
            if past >= most {
                for next in self.foreseen.iter().filter(|next| taken(next)) {
                    collision.pair_mut(next.position as usize).apart = false;
                    *unresolved_impacts += 1;
                }
            }
            self.foreseen.retain(|next| !taken(next));
            let answer = match past {
                _ if past < most => Answer::Bounce,
                _ if !first.fast => continue,
                _ if past < most.saturating_add(FAST_INSTANTS) => Answer::Stop,
                _ => Answer::MoveOn,
            };
            for &body in bodies {
                let impact_times = &mut self.impact_times[body as usize];
                *impact_times = impact_times.saturating_add(1);
            }
            let time = first.time;
            let ahead = if past.saturating_add(1) < most { 0.0 } else { look.h - time };
            let least = look.least_speed(collision.pair(first.position as usize));
            self.behind.take_behind(&self.scope, look.motion, time);
            return Some(Instant { time, ahead, least, answer });
        }
    }

    /// No more impacts of the last instant's island are answered in this substep.
    pub(crate) fn spend(&mut self) {
        for &body in &self.scope.bodies {
            self.impact_times[body as usize] = u32::MAX;
        }
    }

    /// Leaves what the bodies of the last instant's island would hit in the rest of the substep to their contact points,
    /// and counts it. Bodies so fast that they would pass what they hit before it has points wait in `passing` for the
    /// next substep.
    pub(crate) fn move_on(
        &mut self,
        look: &Outlook<'_>,
        collision: &mut CollisionPipeline,
        unresolved_impacts: &mut usize,
    ) {
        let island = std::mem::take(&mut self.scope.bodies);
        let concerned = |body: u32| island.binary_search(&body).is_ok();
        self.foreseen.retain(|next| !concerned(next.bodies.0) && !concerned(next.bodies.1));
        let known = self.foreseen.len();
        let mut pairs = std::mem::take(&mut self.scope.pairs);
        self.neighbours.pairs_of(&island, &mut pairs);
        self.passing.clear();
        for &position in &pairs {
            self.foresee(look, collision, position);
            let pair = collision.pair_mut(position as usize);
            if let Some(next) =
                self.foreseen[known..].last().filter(|next| next.position == position)
            {
                *unresolved_impacts += 1;
                if pair.closing * (look.h - next.time) > REACHED * pair.size {
                    self.passing.extend(pair.bodies.iter().filter(|&&body| concerned(body)));
                }
            }
            pair.apart = false;
        }
        self.foreseen.truncate(known);
        (self.scope.bodies, self.scope.pairs) = (island, pairs);
    }

    /// All bodies that are not at the end of the substep yet.
    pub(crate) fn rest(&mut self, motion: &Motion, h: f64) -> &Scope {
        if self.all.bodies.iter().all(|&body| motion.clock(body) < h) {
            return &self.all;
        }
        self.behind.take_behind(&self.all, motion, h);
        &self.behind
    }

    /// Follows a pair from where it is to the end of the substep, if it is of those that are followed.
    #[inline]
    fn foresee(&mut self, look: &Outlook<'_>, collision: &mut CollisionPipeline, position: u32) {
        let at = position as usize;
        let pair = collision.pair_mut(at);
        pair.apart = false;
        pair.closing = closing_speed(look.bodies, pair.bodies);
        let Some(fast) = worth_following(look, pair) else { return };
        if !can_meet(look, pair) {
            pair.apart = true;
            return;
        }
        if !self.listed {
            self.neighbours.list(look.bodies, collision, look.joints);
            self.listed = true;
        }
        let pair = collision.pair(at).bodies;
        let paths = pair.map(|body| Path::new(look, &self.neighbours, collision, body));
        let from = pair.map(|body| look.motion.when()[body as usize]);
        let from = from[0].max(from[1]);
        if !(from < look.h) {
            return;
        }
        let (known, workspace) = collision.pair_and_workspace(at);
        let slow_turn = turning_speed(look.bodies, pair) * look.h <= FAST * known.size;
        let touching = hits_now(look, known);
        let way = match touching {
            Some(true) => Way::Hits(from),
            Some(false) if slow_turn => Way::Touches,
            _ => follow(look, known, &paths, from, workspace),
        };
        let bears = known.points().iter().any(|point| point.impulse != Vec3::ZERO);
        collision.pair_mut(at).apart = (touching.is_none() || bears) && way != Way::Touches;
        if let Way::Hits(time) = way {
            let bodies = (pair[0], pair[1]);
            self.foreseen.push(Foreseen { time, bodies, position, fast });
        }
    }
}

/// Follows a pair on its way through the rest of the substep.
fn follow(
    look: &Outlook<'_>,
    pair: &ContactPair,
    paths: &[Path<'_>; 2],
    start: f64,
    workspace: &mut Workspace,
) -> Way {
    let mut from = start;
    let [a, b] = paths;
    let pull = (b.acceleration - a.acceleration).length();
    let (moving_a, moving_b) = (
        MovingShape { shape: a.shape(), path: |time| a.at(time) },
        MovingShape { shape: b.shape(), path: |time| b.at(time) },
    );
    let limits = ImpactLimits {
        touch: MET * pair.size,
        contact_distance: TOUCHING * pair.size,
        min_speed: look.least_speed(pair),
    };
    let simplex = &mut Simplex::default();
    for _ in 0..MOST_SEARCHES {
        let ((va, ra), (vb, rb)) = (a.speed(from), b.speed(from));
        let closing = ClosingBounds::between(va, ra, vb, rb, pull, look.h - from);
        let span = [from, look.h];
        match find_impact(&moving_a, &moving_b, &closing, span, &limits, simplex, workspace) {
            ImpactOutcome::Separated => return Way::Free,
            ImpactOutcome::Touching => return Way::Touches,
            ImpactOutcome::Hit(hit) if hit.cut_off => from = hit.time,
            ImpactOutcome::Hit(hit) => {
                let speed = hit.speed;
                let far = look.settings.continuous == Continuous::Never
                    && (hit.time - start) * speed > pair.size;
                if !(speed > look.least_speed(pair)) || far {
                    return Way::Touches;
                }
                // The last billionth of the way.
                let left = hit.separation.distance.max(0.0) / speed;
                let time = (hit.time + left).min(look.h);
                // What is held moves along a curve that is not known: looked at again a little earlier.
                let off = |time: f64| 0.5 * (a.doubt + b.doubt) * time * time;
                let early = off(time - from) / speed;
                let again = off(time - from) > MET * pair.size && early < 0.5 * (time - from);
                return Way::Hits(if again { time - early } else { time });
            }
        }
    }
    // They whirl about each other: the rest of the way is followed from there.
    if from > start { Way::Hits(from) } else { Way::Touches }
}

/// Whether a pair may bounce or pass; if so, whether it may pass.
#[inline]
fn worth_following(look: &Outlook<'_>, pair: &ContactPair) -> Option<bool> {
    let forced = look.settings.gravity.length() * look.h;
    let speed = pair.closing + forced;
    let fast = speed * look.h > FAST * pair.size;
    let may_bounce = pair.restitution > 0.0 && speed > look.rest_speed();
    let followed = match look.settings.continuous {
        Continuous::Auto => fast || may_bounce,
        Continuous::Always => speed > forced,
        Continuous::Never => may_bounce,
    };
    followed.then_some(fast)
}

/// Whether the balls around two bodies can meet within the substep.
fn can_meet(look: &Outlook<'_>, pair: &ContactPair) -> bool {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let apart = look.bodies.poses[a].position.distance(look.bodies.poses[b].position);
    let reach = look.bodies.solids[a].radius + look.bodies.solids[b].radius;
    let speed = pair.closing + look.settings.gravity.length() * look.h;
    apart - reach <= 2.0 * speed * look.h
}

/// Whether a pair that touches meets fast enough to be an impact; none if it does not touch.
fn hits_now(look: &Outlook<'_>, pair: &ContactPair) -> Option<bool> {
    let touching = pair.points().iter().filter(|point| point.gap <= MEETING * pair.size);
    let speeds = touching.map(|point| point_speed(look.bodies, pair, point));
    let [a, b] =
        pair.bodies.map(|body| look.bodies.motions[body as usize].velocity.linear.length());
    let rounding = ROUNDING * (a + b + turning_speed(look.bodies, pair.bodies));
    speeds.reduce(f64::min).map(|speed| speed < -look.least_speed(pair).max(rounding))
}

/// How a body moves if nothing hits it.
struct Path<'a> {
    bodies: &'a BodySet,
    index: usize,
    /// The time of its present pose.
    start: f64,
    acceleration: Vec3,
    /// How much more that may be, m/s^2.
    doubt: f64,
}

impl<'a> Path<'a> {
    fn new(
        look: &Outlook<'a>,
        neighbours: &Neighbours,
        collision: &CollisionPipeline,
        body: u32,
    ) -> Self {
        let index = body as usize;
        let bodies = look.bodies;
        // What carries or holds a body is thought to balance what pulls it.
        let free = bodies.is_inertial(index) && !neighbours.is_held(collision, body);
        let acceleration = if free {
            let gravity = look.settings.gravity;
            let acting =
                Acting::on(bodies, look.potentials, gravity, body, look.h, || bodies.view(body));
            let impulse = acting.forces + acting.damping + acting.user;
            bodies.motions[index].response(impulse).linear / look.h
        } else {
            Vec3::ZERO
        };
        let start = look.motion.when()[index];
        let held = bodies.is_inertial(index) && !free;
        let weight = look.settings.gravity.length();
        let doubt = if held { 2.0 * (look.motion.pull(bodies, body) + weight) } else { 0.0 };
        Self { bodies, index, start, acceleration, doubt }
    }

    /// The pose of its shape at a time of the substep.
    fn at(&self, time: f64) -> Pose {
        let time = time - self.start;
        let mut pose = self.bodies.poses[self.index];
        let motion = &self.bodies.motions[self.index];
        let spin = motion.velocity.angular;
        if time != 0.0 {
            pose.position +=
                motion.velocity.linear * time + self.acceleration * (0.5 * time * time);
            if self.bodies.solids[self.index].rim == 0.0 {
                return pose; // A ball: how it is turned does not matter.
            }
            let inertia = &self.bodies.inertias[self.index];
            let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
            let isotropic = inertia.isotropic || inertia.mass == 0.0;
            (pose.rotation, _) =
                rotate_freely(pose.rotation, spin, tensor, inverse, isotropic, time);
        }
        self.bodies.solids[self.index].shape_pose(&pose)
    }

    fn shape(&self) -> &'a Shape {
        &self.bodies.solids[self.index].shape
    }

    /// Its velocity at a time of the substep, the spin as fast as it can get, and the radius within which its
    /// points are.
    fn speed(&self, time: f64) -> (SpatialVector, f64) {
        let motion = &self.bodies.motions[self.index];
        let linear = motion.velocity.linear + self.acceleration * (time - self.start);
        let angular = self.bodies.fastest_spin(self.index);
        (SpatialVector::new(linear, angular), self.bodies.solids[self.index].rim)
    }
}
