//! Impacts within a substep: which pairs collide, when, and in which order.
//!
//! Pairs that may bounce, or that move far enough in a substep to pass through each other, are followed along their
//! paths ([`find_impact`]). The island of the earliest impact is moved to that time and gets its impulses there; then
//! the next impacts of its bodies are predicted again. All other pairs are skipped: a substep without such pairs costs
//! one comparison of speeds per pair.

use crate::bodies::{BodySet, Potential, Solid};
use crate::collision::{CollisionPipeline, ContactPair, Near, closing_speed, turning_speed};
use crate::constraints::TOUCH_DISTANCE;
use crate::constraints::impact::IMPACT_DISTANCE;
use crate::geometry::{
    ClosingBounds, ImpactLimits, ImpactOutcome, MovingShape, Shape, Simplex, Workspace, find_impact,
};
use crate::islands::{Adjacency, Island};
use crate::joints::JointSet;
use crate::math::{Pose, SpatialVector, Vec3};
use crate::motion::{ForceImpulses, Motion, point_speed};
use crate::rest::Rest;
use crate::settings::{Continuous, Settings};
use crate::solver::rotate_freely;

/// Bodies that approach by more than this fraction of the smaller size in a substep could pass through each other
/// undetected.
const FAST: f64 = 0.5;

/// Substeps of approach that two bodies are apart if they get no points in one: contact points are found for gaps that
/// close within two, after up to one of motion.
const FAR: f64 = 3.0;

/// Surfaces closer than this fraction of the smaller size have met.
const ARRIVAL_DISTANCE: f64 = 1e-9;

/// Impacts within this fraction of a substep are simultaneous.
const AT_ONCE: f64 = 1e-9;

/// Maximum number of searches along the path of one pair; each evaluates the distance many times.
const MAX_SEARCHES: usize = 8;

/// Approach speeds below this fraction of the bodies' speeds are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Contact points are found for bodies that approach by up to this fraction of the smaller size in a substep.
const REACHED: f64 = 0.5;

/// Maximum number of impact times of an island in a substep.
const MAX_IMPACT_TIMES: u32 = 256;

/// Number of impact times that every island has for fast bodies.
const FAST_IMPACT_TIMES: u32 = 8;

/// The impacts predicted for this substep. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impacts {
    adjacency: Adjacency,
    /// Whether `adjacency` and `whole_world` match the present pairs.
    adjacency_valid: bool,
    whole_world_valid: bool,
    predicted: Vec<PredictedImpact>,
    /// By body: the number of impact times its island has had in this substep.
    impact_times: Vec<u32>,
    /// The pairs that collide at the present impact time.
    now: Vec<u32>,
    /// Bodies that would pass through others, and wait for the next substep.
    pub(crate) passing: Vec<u32>,
    /// The island of the present impact; the part of it that still has to be moved there; and all bodies.
    pub(crate) island: Island,
    pub(crate) behind: Island,
    pub(crate) whole_world: Island,
    /// All pairs of `whole_world`; its own list is without those that are far apart in this substep.
    all_pairs: Vec<u32>,
    /// Pairs that may no longer be far apart, because an impact changed the motion of their bodies.
    disturbed: Vec<u32>,
}

/// A pair that will collide.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PredictedImpact {
    time: f64,
    colliders: (u32, u32),
    bodies: [u32; 2],
    position: u32,
    fast: bool,
}

/// The outcome of following a pair to the end of the substep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Prediction {
    /// The bodies do not meet.
    Misses,
    /// The bodies rest, slide or land: contact points handle it.
    Touches,
    Hits(f64),
}

/// A time at which bodies collide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImpactTime {
    pub(crate) time: f64,
    /// Impacts up to this much later are resolved together with it, s.
    pub(crate) ahead: f64,
    /// Minimum approach speed of an impact, m/s.
    pub(crate) least: f64,
    pub(crate) response: Response,
}

/// The response to an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    Bounce,
    /// Without a bounce: there were too many impacts.
    Stop,
    /// Without a bounce, after far too many: then the island moves on to the end of the substep, where its contact
    /// points hold it.
    MoveOn,
}

/// The state from which impacts are predicted.
pub(crate) struct ImpactContext<'a> {
    pub(crate) bodies: &'a BodySet,
    pub(crate) joints: &'a JointSet,
    pub(crate) potentials: &'a [Potential],
    pub(crate) settings: &'a Settings,
    pub(crate) motion: &'a Motion,
    pub(crate) rest: &'a Rest,
    pub(crate) h: f64,
}

impl ImpactContext<'_> {
    /// Returns the approach speed, m/s, up to which nothing bounces. Speed that forces add within a substep is no
    /// impact.
    pub(crate) fn rest_speed(&self) -> f64 {
        self.settings.rest_speed.max(self.settings.gravity.length() * self.h)
    }

    /// Returns the approach speed, m/s, up to which a pair is left to its contact points.
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
    /// Marks adjacency and island as out of date, after pairs were found again.
    pub(crate) fn invalidate(&mut self) {
        (self.adjacency_valid, self.whole_world_valid) = (false, false);
    }

    /// Predicts the impacts of a substep.
    pub(crate) fn begin_substep(
        &mut self,
        context: &ImpactContext<'_>,
        collision: &mut CollisionPipeline,
    ) {
        self.impact_times.clear();
        self.impact_times.resize(context.bodies.poses.len(), 0);
        if !self.whole_world_valid {
            self.fill_world(context, collision);
            self.whole_world_valid = true;
        }
        self.predicted.clear();
        self.disturbed.clear();
        self.reserve(context.bodies.inertial.len(), collision.near_len());
        collision.begin_substep();
        let ImpactContext { bodies, settings, h, .. } = *context;
        let forced = settings.gravity.length() * h;
        self.whole_world.pairs.clear();
        for at in 0..self.all_pairs.len() {
            let position = self.all_pairs[at];
            let closing = closing_speed(bodies, collision.near_bodies(position));
            let distance = FAR * h * (closing + forced);
            if !collision.is_far(bodies, settings, position, distance) {
                self.whole_world.pairs.push(position);
                self.predict(context, collision, position, closing);
            }
        }
    }

    /// Lists all bodies that are not at rest, and their joints; and in `all_pairs` their pairs.
    fn fill_world(&mut self, context: &ImpactContext<'_>, collision: &CollisionPipeline) {
        let ImpactContext { rest, joints, .. } = context;
        let is_active = |pair| rest.is_any_active(pair);
        self.whole_world.fill(rest.active(), collision, joints, is_active);
        std::mem::swap(&mut self.all_pairs, &mut self.whole_world.pairs);
    }

    /// Reserves room for the worst case, so that warm steps do not allocate.
    fn reserve(&mut self, bodies: usize, pairs: usize) {
        if self.predicted.capacity() < pairs || self.island.bodies.capacity() < bodies {
            self.predicted.reserve(2 * pairs);
            self.now.reserve(2 * pairs);
            self.passing.reserve(4 * pairs);
            self.all_pairs.reserve(2 * pairs);
            self.disturbed.reserve(4 * pairs);
            for island in [&mut self.island, &mut self.behind, &mut self.whole_world] {
                island.bodies.reserve(bodies);
                island.pairs.reserve(4 * pairs);
            }
        }
    }

    /// Predicts the next impacts of the bodies of the last impact. `more` is whether pairs were added.
    pub(crate) fn repredict(
        &mut self,
        context: &ImpactContext<'_>,
        collision: &mut CollisionPipeline,
        more: bool,
    ) {
        if more {
            self.fill_world(context, collision);
            self.whole_world.pairs.clone_from(&self.all_pairs);
            self.disturbed.clear();
            self.adjacency.build(context.bodies, collision, context.joints);
            for next in &mut self.predicted {
                let position = collision.position(next.colliders);
                // No pair is dropped within a substep.
                next.position = position.unwrap_or_else(|place| place) as u32;
            }
        }
        let mut pairs = std::mem::take(&mut self.island.pairs);
        self.adjacency.pairs_of(&self.island.bodies, &mut pairs);
        self.predicted.retain(|next| pairs.binary_search(&next.position).is_err());
        for &position in &pairs {
            let closing = closing_speed(context.bodies, collision.near_bodies(position));
            self.predict(context, collision, position, closing);
        }
        self.add_disturbed(&pairs);
        self.island.pairs = pairs;
    }

    /// Returns the next impact time, with its island in `island`, or `None` if nothing collides any more. Counts the
    /// impacts that exceed the work limit.
    pub(crate) fn next(
        &mut self,
        context: &ImpactContext<'_>,
        collision: &mut CollisionPipeline,
        unresolved_impacts: &mut usize,
    ) -> Option<ImpactTime> {
        loop {
            let earlier = |a: &&PredictedImpact, b: &&PredictedImpact| a.time.total_cmp(&b.time);
            let first = *self.predicted.iter().min_by(earlier)?;
            self.now.clear();
            let at_once = first.time + AT_ONCE * context.h;
            let now = self.predicted.iter().filter(|next| next.time <= at_once);
            self.now.extend(now.map(|next| next.position));
            self.now.sort_unstable();
            let pair = collision.near_pair(first.position as usize).pair.bodies;
            let (adjacency, now) = (&mut self.adjacency, &self.now);
            let meets = |position| now.binary_search(&position).is_ok();
            let moves = |body: u32| {
                context.bodies.is_inertial(body as usize)
                    && context.motion.body_time(body) < context.h
            };
            let island = &mut self.island;
            adjacency.gather(island, collision, context.joints, pair, meets, moves);
            let past = pair.map(|body| self.impact_times[body as usize]);
            let past = past[0].max(past[1]);
            let size = self.island.bodies.len() as u32;
            let squared = size.saturating_mul(size);
            let most = (context.settings.impact_work / squared).clamp(1, MAX_IMPACT_TIMES);
            let most = if first.fast { most.max(FAST_IMPACT_TIMES) } else { most };
            // The island's impacts at this time are resolved, or left to their contact points.
            let (pairs, bodies) = (&self.island.pairs, &self.island.bodies);
            let taken = |next: &PredictedImpact| {
                next.time <= at_once && pairs.binary_search(&next.position).is_ok()
            };
            if past >= most {
                for next in self.predicted.iter().filter(|next| taken(next)) {
                    collision.contact_mut(next.position as usize).cannot_close = false;
                    *unresolved_impacts += 1;
                }
            }
            self.predicted.retain(|next| !taken(next));
            let response = match past {
                _ if past < most => Response::Bounce,
                _ if !first.fast => continue,
                _ if past < most.saturating_add(FAST_IMPACT_TIMES) => Response::Stop,
                _ => Response::MoveOn,
            };
            for &body in bodies {
                let impact_times = &mut self.impact_times[body as usize];
                *impact_times = impact_times.saturating_add(1);
            }
            let time = first.time;
            let ahead = if past.saturating_add(1) < most { 0.0 } else { context.h - time };
            let least = context.least_speed(collision.near_pair(first.position as usize).pair);
            self.behind.copy_filtered(&self.island, |body| context.motion.body_time(body) < time);
            return Some(ImpactTime { time, ahead, least, response });
        }
    }

    /// Stops resolving impacts of the last island in this substep.
    pub(crate) fn give_up(&mut self) {
        for &body in &self.island.bodies {
            self.impact_times[body as usize] = u32::MAX;
        }
    }

    /// Leaves the remaining impacts of the last island to its contact points, and counts them. Bodies too fast to get
    /// contact points before they pass through each other wait in `passing` for the next substep.
    pub(crate) fn move_on(
        &mut self,
        context: &ImpactContext<'_>,
        collision: &mut CollisionPipeline,
        unresolved_impacts: &mut usize,
    ) {
        let island = std::mem::take(&mut self.island.bodies);
        let concerned = |body: u32| island.binary_search(&body).is_ok();
        self.predicted.retain(|next| !next.bodies.into_iter().any(concerned));
        let known = self.predicted.len();
        let mut pairs = std::mem::take(&mut self.island.pairs);
        self.adjacency.pairs_of(&island, &mut pairs);
        self.passing.clear();
        for &position in &pairs {
            let closing = closing_speed(context.bodies, collision.near_bodies(position));
            self.predict(context, collision, position, closing);
            let Near { pair, contact } = collision.near_pair(position as usize);
            if let Some(next) =
                self.predicted[known..].last().filter(|next| next.position == position)
            {
                *unresolved_impacts += 1;
                if contact.closing_speed * (context.h - next.time) > REACHED * pair.size {
                    self.passing.extend(pair.bodies.iter().filter(|&&body| concerned(body)));
                }
            }
            collision.contact_mut(position as usize).cannot_close = false;
        }
        self.predicted.truncate(known);
        self.add_disturbed(&pairs);
        (self.island.bodies, self.island.pairs) = (island, pairs);
    }

    /// Lists the pairs that were left out because they were far apart.
    fn add_disturbed(&mut self, pairs: &[u32]) {
        let listed = &self.whole_world.pairs;
        let left_out = pairs.iter().filter(|&position| listed.binary_search(position).is_err());
        self.disturbed.extend(left_out);
    }

    /// Returns all bodies that have not reached the end of the substep.
    pub(crate) fn rest(&mut self, motion: &Motion, h: f64) -> &Island {
        if !self.disturbed.is_empty() {
            self.whole_world.pairs.append(&mut self.disturbed);
            self.whole_world.pairs.sort_unstable();
            self.whole_world.pairs.dedup();
        }
        if self.whole_world.bodies.iter().all(|&body| motion.body_time(body) < h) {
            return &self.whole_world;
        }
        self.behind.copy_filtered(&self.whole_world, |body| motion.body_time(body) < h);
        &self.behind
    }

    /// Follows a pair, whose points approach at up to `closing`, to the end of the substep, if it may bounce or pass through.
    #[inline]
    fn predict(
        &mut self,
        context: &ImpactContext<'_>,
        collision: &mut CollisionPipeline,
        position: u32,
        closing: f64,
    ) {
        let at = position as usize;
        let pair = collision.near_bodies(position);
        let contact = collision.contact_mut(at);
        contact.cannot_close = false;
        contact.closing_speed = closing;
        let near = collision.near_pair(at);
        let Some(fast) = worth_following(context, near) else { return };
        if !can_meet(context, near) {
            collision.contact_mut(at).cannot_close = true;
            return;
        }
        if !self.adjacency_valid {
            self.adjacency.build(context.bodies, collision, context.joints);
            self.adjacency_valid = true;
        }
        let colliders = near.pair.colliders;
        let paths = [0, 1].map(|end: usize| {
            Path::new(context, &self.adjacency, collision, [pair[end], colliders[end]])
        });
        let from = pair.map(|body| context.motion.pose_time()[body as usize]);
        let from = from[0].max(from[1]);
        if !(from < context.h) {
            return;
        }
        let (known, workspace) = collision.near_and_workspace(at);
        let slow_turn = turning_speed(context.bodies, pair) * context.h <= FAST * known.pair.size;
        let touching = hits_now(context, known);
        let way = match touching {
            Some(true) => Prediction::Hits(from),
            Some(false) if slow_turn => Prediction::Touches,
            _ => follow(context, known, &paths, from, workspace),
        };
        let bears = known.contact.points().iter().any(|point| point.impulse != Vec3::ZERO);
        collision.contact_mut(at).cannot_close =
            (touching.is_none() || bears) && way != Prediction::Touches;
        if let Prediction::Hits(time) = way {
            let colliders = collision.near_colliders(position);
            self.predicted.push(PredictedImpact { time, colliders, bodies: pair, position, fast });
        }
    }
}

/// Follows a pair along its path through the rest of the substep.
fn follow(
    context: &ImpactContext<'_>,
    near: Near<'_>,
    paths: &[Path<'_>; 2],
    start: f64,
    workspace: &mut Workspace,
) -> Prediction {
    let mut from = start;
    let [a, b] = paths;
    let pair = near.pair;
    let pull = (b.acceleration - a.acceleration).length();
    let bounds = |from: f64| {
        let ((va, ra), (vb, rb)) = (a.speed(from), b.speed(from));
        ClosingBounds::between(va, ra, vb, rb, pull, context.h - from)
    };
    let mut closing = bounds(from);
    // A pair without points has a known distance, if both poses are of one time.
    if !near.contact.has_points() && a.start == b.start {
        let poses = [a, b].map(|path| &context.bodies.poses[path.index]);
        if pair.distance_bound(poses) > closing.max_speed() * (context.h - from) {
            return Prediction::Misses;
        }
    }
    let (moving_a, moving_b) = (
        MovingShape { shape: a.shape(), path: |time| a.at(time) },
        MovingShape { shape: b.shape(), path: |time| b.at(time) },
    );
    let limits = ImpactLimits {
        touch: ARRIVAL_DISTANCE * pair.size,
        contact_distance: TOUCH_DISTANCE * pair.size,
        min_speed: context.least_speed(pair),
    };
    let simplex = &mut Simplex::default();
    for _ in 0..MAX_SEARCHES {
        let span = [from, context.h];
        match find_impact(&moving_a, &moving_b, &closing, span, &limits, simplex, workspace) {
            ImpactOutcome::Separated => return Prediction::Misses,
            ImpactOutcome::Touching => return Prediction::Touches,
            ImpactOutcome::Hit(hit) if hit.cut_off => {
                from = hit.time;
                closing = bounds(from);
            }
            ImpactOutcome::Hit(hit) => {
                let speed = hit.speed;
                let far = context.settings.continuous == Continuous::Never
                    && (hit.time - start) * speed > pair.size;
                if !(speed > context.least_speed(pair)) || far {
                    return Prediction::Touches;
                }
                // The last billionth of the distance.
                let left = hit.separation.distance.max(0.0) / speed;
                let time = (hit.time + left).min(context.h);
                // A supported body moves along an unknown curve: the search resumes a little earlier.
                let off =
                    |time: f64| 0.5 * (a.acceleration_error + b.acceleration_error) * time * time;
                let early = off(time - from) / speed;
                let again =
                    off(time - from) > ARRIVAL_DISTANCE * pair.size && early < 0.5 * (time - from);
                return Prediction::Hits(if again { time - early } else { time });
            }
        }
    }
    // The bodies rotate about each other: the search resumes from there.
    if from > start { Prediction::Hits(from) } else { Prediction::Touches }
}

/// Returns whether a pair may pass through, or `None` if it need not be followed.
#[inline]
fn worth_following(context: &ImpactContext<'_>, near: Near<'_>) -> Option<bool> {
    let Near { pair, contact } = near;
    let forced = context.settings.gravity.length() * context.h;
    let speed = contact.closing_speed + forced;
    let fast = speed * context.h > FAST * pair.size;
    let may_bounce = pair.restitution > 0.0 && speed > context.rest_speed();
    let followed = match context.settings.continuous {
        Continuous::Auto => fast || may_bounce,
        Continuous::Always => speed > forced,
        Continuous::Never => may_bounce,
    };
    followed.then_some(fast)
}

/// Returns whether the bounding spheres of two bodies can meet within the substep.
fn can_meet(context: &ImpactContext<'_>, Near { pair, contact }: Near<'_>) -> bool {
    let [a, b] = pair.bodies.map(|body| body as usize);
    let apart = context.bodies.poses[a].position.distance(context.bodies.poses[b].position);
    let solid = |collider: u32| &context.bodies.colliders.solids[collider as usize];
    let [ra, rb] = pair.colliders.map(|collider| solid(collider).radius);
    let reach = ra + rb;
    let speed = contact.closing_speed + context.settings.gravity.length() * context.h;
    apart - reach <= 2.0 * speed * context.h
}

/// Returns whether a touching pair approaches fast enough for an impact; `None` if it does not touch.
fn hits_now(context: &ImpactContext<'_>, near: Near<'_>) -> Option<bool> {
    let Near { pair, contact } = near;
    let touching = contact.points().iter().filter(|point| point.gap <= IMPACT_DISTANCE * pair.size);
    let speeds = touching.map(|point| point_speed(context.bodies, near, point));
    let [a, b] =
        pair.bodies.map(|body| context.bodies.motions[body as usize].velocity.linear.length());
    let rounding = ROUNDING * (a + b + turning_speed(context.bodies, pair.bodies));
    speeds.reduce(f64::min).map(|speed| speed < -context.least_speed(pair).max(rounding))
}

/// The path of a collider as long as nothing hits its body.
struct Path<'a> {
    bodies: &'a BodySet,
    index: usize,
    solid: &'a Solid,
    /// The time of its present pose.
    start: f64,
    acceleration: Vec3,
    /// Uncertainty of the acceleration, m/s^2.
    acceleration_error: f64,
}

impl<'a> Path<'a> {
    fn new(
        context: &ImpactContext<'a>,
        adjacency: &Adjacency,
        collision: &CollisionPipeline,
        [body, collider]: [u32; 2],
    ) -> Self {
        let index = body as usize;
        let bodies = context.bodies;
        let solid = &bodies.colliders.solids[collider as usize];
        // The support of a body is assumed to balance the forces on it.
        let free = bodies.is_inertial(index) && !adjacency.is_supported(collision, body);
        let acceleration = if free {
            let gravity = context.settings.gravity;
            let acting =
                ForceImpulses::on(bodies, context.potentials, gravity, body, context.h, || {
                    bodies.view(body)
                });
            let impulse = acting.forces + acting.damping + acting.user;
            bodies.motions[index].response(impulse).linear / context.h
        } else {
            Vec3::ZERO
        };
        let start = context.motion.pose_time()[index];
        let held = bodies.is_inertial(index) && !free;
        let weight = context.settings.gravity.length();
        let acceleration_error = if held {
            2.0 * (context.motion.last_acceleration(bodies, body) + weight)
        } else {
            0.0
        };
        Self { bodies, index, solid, start, acceleration, acceleration_error }
    }

    /// Returns the pose of its shape at a time of the substep.
    fn at(&self, time: f64) -> Pose {
        let time = time - self.start;
        let mut pose = self.bodies.poses[self.index];
        let motion = &self.bodies.motions[self.index];
        let spin = motion.velocity.angular;
        if time != 0.0 {
            pose.position +=
                motion.velocity.linear * time + self.acceleration * (0.5 * time * time);
            if self.solid.rotation_radius == 0.0 {
                return pose; // A ball: how it is turned does not matter.
            }
            let inertia = &self.bodies.inertias[self.index];
            let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
            let isotropic = inertia.isotropic || inertia.mass == 0.0;
            (pose.rotation, _) =
                rotate_freely(pose.rotation, spin, tensor, inverse, isotropic, time);
        }
        self.solid.shape_pose(&pose)
    }

    fn shape(&self) -> &'a Shape {
        &self.solid.shape
    }

    /// Returns its velocity at a time of the substep, with the highest spin it can reach, and the radius that bounds
    /// its points.
    fn speed(&self, time: f64) -> (SpatialVector, f64) {
        let motion = &self.bodies.motions[self.index];
        let linear = motion.velocity.linear + self.acceleration * (time - self.start);
        let angular = self.bodies.fastest_spin(self.index);
        (SpatialVector::new(linear, angular), self.solid.rotation_radius)
    }
}
