//! When two moving shapes first touch.
//!
//! The distance at one time says how long nothing can happen: along the normal the gap closes no
//! faster than a bound. Where that bound is far from what happens (a rod that turns, of which only
//! one end is near), the steps are longer: the gap's own rate, and how fast that can change, tell
//! where to look next, and what is seen there must prove the way to it free. Otherwise a time
//! between is looked at.

use super::gjk::Simplex;
use super::separation::{Separation, Workspace, separation};
use super::shape::Shape;
use crate::math::{Pose, SpatialVector, Vec3};

/// A shape and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct MovingShape<'a, P> {
    /// The solid.
    pub shape: &'a Shape,
    /// The pose of the shape's own frame at a time, its rotation of unit length.
    pub path: P,
}

/// How fast two shapes A and B can come together, over all of the time that is asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosingBounds {
    /// Velocity of B's centre seen from A's when the time begins, in m/s.
    pub linear: Vec3,
    /// What else can close a gap in any direction, in m/s: rotation, later changes of `linear`.
    pub extra_speed: f64,
    /// How fast the rate at which a gap closes can change, in m/s^2. Infinite if not known, which
    /// costs many more steps if the shapes turn.
    pub gap_acceleration: f64,
}

impl ClosingBounds {
    /// The bounds for bodies with these velocities at first, whose points lie within these radii of
    /// the centres that move with them, for a time of `duration` seconds.
    ///
    /// `acceleration` bounds that of B's centre seen from A's: zero if both fall freely. The angular
    /// velocities are the largest of the whole time. The radius of a ball about its centre may be
    /// given as zero, because turning it moves nothing. A radius may be infinite if nothing turns;
    /// for a half-space that does, it is the largest distance from its centre at which it is met.
    pub fn between(
        velocity_a: SpatialVector,
        radius_a: f64,
        velocity_b: SpatialVector,
        radius_b: f64,
        acceleration: f64,
        duration: f64,
    ) -> Self {
        let linear = velocity_b.linear - velocity_a.linear;
        let turn = |velocity: SpatialVector, radius: f64| {
            if radius == 0.0 { 0.0 } else { velocity.angular.length() }
        };
        // What does not turn may be infinite.
        let rim = |turn: f64, radius: f64| if turn == 0.0 { 0.0 } else { turn * radius };
        let (turn_a, turn_b) = (turn(velocity_a, radius_a), turn(velocity_b, radius_b));
        let extra_speed = rim(turn_a, radius_a) + rim(turn_b, radius_b) + acceleration * duration;
        // Points are drawn to the centre of their body, and slide along faces that turn.
        let turning = 2.0 * (turn_a + turn_b) * (linear.length() + extra_speed);
        Self { linear, extra_speed, gap_acceleration: acceleration + turning }
    }

    /// The largest rate at which the gap along `normal` can close, negative if it must open.
    fn closing_bound(&self, normal: Vec3) -> f64 {
        self.extra_speed - self.linear.dot(normal)
    }

    /// The same for time running backwards.
    fn opening_bound(&self, normal: Vec3) -> f64 {
        self.extra_speed + self.linear.dot(normal)
    }

    fn is_valid(&self) -> bool {
        self.linear.is_finite()
            && self.extra_speed.is_finite()
            && self.extra_speed >= 0.0
            && self.gap_acceleration >= 0.0
    }
}

/// When two shapes first touch, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// No contact was made before this time, in seconds.
    pub time: f64,
    /// How the shapes are to each other then.
    pub separation: Separation,
    /// How fast they approach then, in m/s; negative if they part.
    pub speed: f64,
    /// Whether the search was cut off: nothing hit until `time`, and nothing is known of what comes
    /// after it.
    pub cut_off: bool,
    /// How often the distance was asked for.
    pub evaluations: usize,
}

/// How often the distance is asked for at most.
const MAX_EVALUATIONS: usize = 64;

/// How often at most while shapes that touch at first are followed: each look is half a size of the way of
/// the fastest point after the last.
const MAX_TRACKING_EVALUATIONS: usize = 512;

/// Shapes that touched have parted when they are this far apart, relative to the size.
const SKIN: f64 = 0.01;

/// Another part of shapes that touch drives in when they are deeper than at first by this, relative to the
/// size.
const DEEPER: f64 = 1e-6;

/// The longest way between two looks at shapes that have not parted yet, relative to the size.
const STRIDE: f64 = 0.5;

/// Times over which rates are taken, relative to the time in which much happens: long against
/// rounding, short against changes of the rate.
const RATE_STEP: f64 = 1.0 / (1 << 17) as f64;

/// Shapes that touch and approach slower than this, relative to the fastest they could, may be at
/// rest for all that rounding tells.
const AT_REST: f64 = 1.0 / (1 << 16) as f64;

/// The first time within `span` (from, until) at which two moving shapes touch: at which they are
/// apart by `touch` or less.
///
/// `touch` is a small length, about a billionth of the shapes' size, or ten billionths if there are
/// cylinders or cones, whose distance is less exact; below that rounding decides, and what is left
/// then may be more than `touch`. The shapes do not overlap before the time that is found nor at it, but by no more than
/// rounding. Shapes that come within `touch` without ever overlapping may be found or not.
///
/// Shapes that touch or overlap at first are found at once if they approach. Otherwise they are
/// followed until they are clearly apart, by a hundredth of the size (half the least width of the
/// thinner shape), and what comes after that is found. If they stay within that margin of each
/// other it is the same contact still: None. If another part
/// of them drives in meanwhile, by a millionth of the size, they are found there.
///
/// The paths are asked for times within `span` only. They must keep to `closing`, or an impact may
/// be missed.
///
/// None also if `touch` is negative, or anything is not a number or infinite that must not be.
///
/// After a bounded number of steps the search gives up, and says so in [`Impact::cut_off`]: until
/// that time the shapes were apart, and a new search may start there. It happens if they whirl
/// about near each other for several turns.
///
/// ```
/// use msd_sim::geometry::{Closing, Moving, Shape, Simplex, Workspace, time_of_impact};
/// use msd_sim::math::{Pose, SpatialVector, Vec3};
/// let (ball, floor) = (Shape::sphere(0.5)?, Shape::half_space(Vec3::Z, 0.0)?);
/// // From 5.5 m, under 10 m/s^2: 5 m are fallen in 1 s.
/// let still = Moving { shape: &floor, path: |_| Pose::IDENTITY };
/// let falling = Moving {
///     shape: &ball,
///     path: |t: f64| Pose::at(Vec3::new(0.0, 0.0, 5.5 - 5.0 * t * t)),
/// };
/// let closing =
///     Closing::between(SpatialVector::ZERO, f64::INFINITY, SpatialVector::ZERO, 0.5, 10.0, 2.0);
/// let (simplex, workspace) = (&mut Simplex::default(), &mut Workspace::default());
/// let found = time_of_impact(&still, &falling, &closing, [0.0, 2.0], 1e-9, simplex, workspace);
/// let found = found.expect("it falls on the floor");
/// assert!((found.time - 1.0).abs() < 1e-9 && found.separation.distance >= 0.0);
/// assert_eq!(found.separation.normal, Vec3::Z);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
pub fn time_of_impact(
    a: &MovingShape<impl Fn(f64) -> Pose>,
    b: &MovingShape<impl Fn(f64) -> Pose>,
    closing: &ClosingBounds,
    span: [f64; 2],
    touch: f64,
    simplex: &mut Simplex,
    workspace: &mut Workspace,
) -> Option<Impact> {
    let min_speed = AT_REST * (closing.linear.length() + closing.extra_speed);
    let limits = ImpactLimits { touch, contact_distance: touch, min_speed };
    match find_impact(a, b, closing, span, &limits, simplex, workspace) {
        ImpactOutcome::Hit(impact) => Some(impact),
        ImpactOutcome::Separated | ImpactOutcome::Touching => None,
    }
}

/// When shapes touch, and when that is no impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImpactLimits {
    /// They have met when they are this near, m.
    pub(crate) touch: f64,
    /// They touch at first if they are this near then and do not approach, m.
    pub(crate) contact_distance: f64,
    /// A slower approach of shapes that touch is no impact, m/s.
    pub(crate) min_speed: f64,
}

/// How two moving shapes fare.
pub(crate) enum ImpactOutcome {
    /// They are apart throughout, or nothing can be said.
    Separated,
    /// They touch at first, and do not meet anew.
    Touching,
    Hit(Impact),
}

/// [`time_of_impact`], which tells shapes that touch at first from those that never do.
pub(crate) fn find_impact(
    a: &MovingShape<impl Fn(f64) -> Pose>,
    b: &MovingShape<impl Fn(f64) -> Pose>,
    closing: &ClosingBounds,
    span: [f64; 2],
    limits: &ImpactLimits,
    simplex: &mut Simplex,
    workspace: &mut Workspace,
) -> ImpactOutcome {
    let size = 0.5 * a.shape.least_width().min(b.shape.least_width());
    let fastest = closing.linear.length() + closing.extra_speed;
    let [from, until] = span;
    let is_time = from.is_finite() && until.is_finite() && from <= until;
    if !(is_time
        && closing.is_valid()
        && fastest.is_finite()
        && size.is_finite()
        && limits.touch >= 0.0)
    {
        return ImpactOutcome::Separated;
    }
    let touch = limits.touch;
    // Below that, rounding tells.
    let min_speed = limits.min_speed.max(AT_REST * fastest);
    let rate_step = RATE_STEP * (until - from).min(size / fastest);
    let mut search = ImpactSearch {
        a,
        b,
        closing,
        until,
        touch,
        min_speed,
        fastest,
        rate_step,
        evaluations: 0,
        simplex,
        workspace,
    };
    let Some(first) = search.sample(from) else { return ImpactOutcome::Separated };
    let apart = first.distance() > limits.contact_distance;
    let (found, otherwise) = if apart || first.distance() > touch && search.rate(&first) > min_speed
    {
        (search.advance(first, None), ImpactOutcome::Separated)
    } else {
        (search.track_contact(first, size), ImpactOutcome::Touching)
    };
    found.map_or(otherwise, ImpactOutcome::Hit)
}

/// The shapes at a time.
#[derive(Clone, Copy)]
struct Sample {
    time: f64,
    poses: [Pose; 2],
    found: Separation,
}

impl Sample {
    fn distance(&self) -> f64 {
        self.found.distance
    }
}

/// A search under way.
struct ImpactSearch<'a, P, Q> {
    a: &'a MovingShape<'a, P>,
    b: &'a MovingShape<'a, Q>,
    closing: &'a ClosingBounds,
    until: f64,
    touch: f64,
    /// Shapes that touch and approach slower than this do not hit each other.
    min_speed: f64,
    /// No two points come together faster than this.
    fastest: f64,
    /// A short time.
    rate_step: f64,
    evaluations: usize,
    simplex: &'a mut Simplex,
    workspace: &'a mut Workspace,
}

impl<P: Fn(f64) -> Pose, Q: Fn(f64) -> Pose> ImpactSearch<'_, P, Q> {
    fn sample(&mut self, time: f64) -> Option<Sample> {
        self.evaluations += 1;
        let (pose_a, pose_b) = ((self.a.path)(time), (self.b.path)(time));
        let (a, b) = (self.a.shape, self.b.shape);
        let found = separation(a, &pose_a, b, &pose_b, self.simplex, self.workspace)?;
        Some(Sample { time, poses: [pose_a, pose_b], found })
    }

    fn impact(&self, at: Sample, cut_off: bool) -> Option<Impact> {
        let (speed, evaluations) = (self.rate(&at), self.evaluations);
        Some(Impact { time: at.time, separation: at.found, speed, cut_off, evaluations })
    }

    /// The rate at which the gap closes: that of its two ends, which move with the shapes.
    fn rate(&self, at: &Sample) -> f64 {
        let rate_step = self.rate_step.max(16.0 * f64::EPSILON * at.time.abs());
        let other = if at.time + rate_step <= self.until {
            at.time + rate_step
        } else {
            at.time - rate_step
        };
        let moved = |now: &Pose, then: Pose, point: Vec3| {
            let lever = now.inverse_transform_point(point);
            // Apart from each other: both parts are small.
            (then.position - now.position) + (then.rotation * lever - now.rotation * lever)
        };
        let ([pose_a, pose_b], Separation { normal, point_a, point_b, .. }) = (&at.poses, at.found);
        let opened = moved(pose_b, (self.b.path)(other), point_b)
            - moved(pose_a, (self.a.path)(other), point_a);
        -opened.dot(normal) / (other - at.time)
    }

    /// Whether the shapes are apart all the time between two times at which they are.
    fn stays_separated(&self, from: &Sample, to: &Sample) -> bool {
        let time = to.time - from.time;
        let (closing_bound, opening_bound) = (
            self.closing.closing_bound(from.found.normal),
            self.closing.opening_bound(to.found.normal),
        );
        let sure = |sample: &Sample, rate: f64| {
            if rate > 0.0 { sample.distance() / rate } else { f64::INFINITY }
        };
        let rounding = 2.0 * f64::EPSILON * (from.time.abs() + to.time.abs());
        if sure(from, closing_bound) + sure(to, opening_bound) >= time - rounding {
            return true;
        }
        // Each point of B keeps its distance from each plane of A that lies between, but for what
        // the bend takes: with s from 0 to 1, at least (1 - s) p + s q - s (1 - s) r. The plane
        // halfway between the two normals loses a little at both ends. (Between nearly parallel
        // edges the normal can turn faster than the shapes do: there this is likely, not proven.)
        let cos = from.found.normal.dot(to.found.normal);
        if !(cos > 0.5) {
            return false;
        }
        let tilted = (0.5 + 0.5 * cos).sqrt();
        let (p, q) = (tilted * from.distance(), tilted * to.distance());
        let r = 0.5 * self.closing.gap_acceleration * time * time;
        // Least at s = (p + r - q) / 2 r, if that is between 0 and 1.
        let (before, after) = (p + r - q, q + r - p);
        !(before > 0.0 && after > 0.0) && r.is_finite() || before * before < 4.0 * p * r
    }

    /// A time after `from` up to which nothing much can happen, given by the rate and its bend.
    fn next_time(&self, from: &Sample) -> f64 {
        let left = from.distance() - 0.5 * self.touch;
        let sure = left / self.closing.closing_bound(from.found.normal);
        // The root of left = rate t + bend t^2 / 2, written so that nothing cancels.
        let (rate, gap_acceleration) = (self.rate(from), self.closing.gap_acceleration);
        let root = (rate * rate + 2.0 * gap_acceleration * left).sqrt();
        let likely =
            if rate > 0.0 { 2.0 * left / (root + rate) } else { (root - rate) / gap_acceleration };
        from.time + sure.max(likely)
    }

    /// The impact after a time at which the shapes are apart, and before one at which they overlap
    /// if such is known.
    fn advance(&mut self, from: Sample, overlap: Option<Sample>) -> Option<Impact> {
        let (mut apart, mut overlap) = (from, overlap);
        // Apart too, but what comes between is not known to be free.
        let mut beyond: Option<Sample> = None;
        let mut halve = false;
        let most = self.evaluations + MAX_EVALUATIONS;
        loop {
            if let Some(sample) = beyond
                && self.stays_separated(&apart, &sample)
            {
                (apart, beyond) = (sample, None);
            }
            if apart.distance() <= self.touch {
                return self.impact(apart, false);
            }
            let closing_bound = self.closing.closing_bound(apart.found.normal);
            let end = apart.time + apart.distance() / closing_bound;
            if overlap.is_none() && (!(closing_bound > 0.0) || end > self.until) {
                return None;
            }
            if apart.time >= self.until {
                return None;
            }
            // Whatever the distances seem to be, no more than `touch` of the way is left. Those of
            // curved shapes are not that exact.
            if let Some(sample) = overlap
                && (sample.time - apart.time) * self.fastest <= self.touch
            {
                return self.impact(apart, false);
            }
            if self.evaluations >= most {
                return self.impact(apart, true);
            }
            let mut time = self.next_time(&apart).min(self.until);
            if let Some(sample) = beyond {
                let sure = apart.time + (apart.distance() - 0.5 * self.touch) / closing_bound;
                time = sure.max(apart.time + 0.5 * (sample.time - apart.time)).min(time);
            } else if let Some(sample) = overlap
                && time >= sample.time
            {
                // The rate was not that of what comes to touch. By the chord, or halfway if that
                // has just been tried.
                let left =
                    (apart.distance() - 0.5 * self.touch) / (apart.distance() - sample.distance());
                let part = if halve { 0.5 } else { left };
                time = apart.time + part * (sample.time - apart.time);
                halve = !halve;
            }
            let limit = beyond.or(overlap).map_or(f64::INFINITY, |sample| sample.time);
            if !(time > apart.time && time < limit) {
                // Times have no finer steps.
                if overlap.is_some() || self.rate(&apart) > 0.0 {
                    return self.impact(apart, false);
                }
                time = apart.time.next_up();
            }
            let sample = self.sample(time)?;
            if sample.distance() < 0.0 {
                (overlap, beyond) = (Some(sample), None);
            } else if self.stays_separated(&apart, &sample) {
                apart = sample;
            } else {
                beyond = Some(sample);
            }
        }
    }

    /// The impact of shapes that touch at first: of another part of them, or after they were apart.
    fn track_contact(&mut self, first: Sample, size: f64) -> Option<Impact> {
        // The nearest points may be at rest while others of the same face are not.
        let soon = self.sample((first.time + self.rate_step).min(self.until))?;
        let place = first.found.point_a.length() + first.found.point_b.length() + size;
        let noise = 64.0 * f64::EPSILON * place + first.found.error + soon.found.error;
        let (way, time) = (first.distance() - soon.distance(), soon.time - first.time);
        if way > self.min_speed * time + noise {
            let speed = self.rate(&first).max(way / time);
            return self.impact(first, false).map(|found| Impact { speed, ..found });
        }
        let skin = SKIN * size;
        let mut deepest = first.distance().min(0.0) - DEEPER * size;
        let (mut last, mut apart) = (first, None);
        let mut way = skin;
        let most = self.evaluations + MAX_TRACKING_EVALUATIONS;
        while self.evaluations < most && last.time < self.until {
            let time = (last.time + way / self.fastest).min(self.until);
            if !(time > last.time) {
                return None;
            }
            let before = last;
            last = self.sample(time)?;
            if last.distance() >= skin {
                return self.advance(last, None);
            }
            if last.distance() < deepest {
                let driven = match apart {
                    Some(apart) => self.advance(apart, Some(last))?,
                    None => self.bisect_entry(before, last, deepest, size)?,
                };
                if driven.cut_off || driven.speed > self.min_speed {
                    return Some(driven);
                }
                // It sinks in slowly: the same contact still.
                deepest = last.distance() - DEEPER * size;
                apart = None;
            } else if last.distance() > self.touch {
                apart = Some(last);
            }
            way = (2.0 * way).min(STRIDE * size);
        }
        if last.time < self.until { self.impact(last, true) } else { None }
    }

    /// Where between two looks the shapes get deeper than `deepest`: by little.
    fn bisect_entry(
        &mut self,
        mut before: Sample,
        mut after: Sample,
        deepest: f64,
        size: f64,
    ) -> Option<Impact> {
        while (after.time - before.time) * self.fastest > DEEPER * size {
            let time = 0.5 * (before.time + after.time);
            if !(time > before.time && time < after.time) {
                break;
            }
            let sample = self.sample(time)?;
            *(if sample.distance() < deepest { &mut after } else { &mut before }) = sample;
        }
        self.impact(after, false)
    }
}
