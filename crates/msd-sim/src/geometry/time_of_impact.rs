//! Time of impact of two moving shapes, by conservative advancement.
//!
//! The distance at one time gives a safe time step, because the gap along the normal closes no
//! faster than a bound. If that bound is far too pessimistic (a turning rod of which only one end
//! is near), the step is longer: the gap's actual rate and a bound on its acceleration predict the
//! next time to sample, and the sample there must prove that the shapes stay separated in between.
//! Otherwise a time in between is sampled.

use super::gjk::Simplex;
use super::separation::{Separation, Workspace, separation};
use super::shape::Shape;
use crate::math::{Pose, SpatialVector, Vec3};

/// A shape and its motion.
#[derive(Clone, Copy, Debug)]
pub struct MovingShape<'a, P> {
    /// The shape.
    pub shape: &'a Shape,
    /// The pose of the shape's frame as a function of time (seconds); its rotation must have unit
    /// length.
    pub path: P,
}

/// Bounds on how fast two shapes A and B can approach, over the whole interval of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosingBounds {
    /// Velocity of B's center relative to A's at the start of the interval, in m/s.
    pub linear: Vec3,
    /// Additional speed at which a gap in any direction can close, in m/s: from rotation, and from
    /// later changes of `linear`.
    pub extra_speed: f64,
    /// Bound on the acceleration of a gap, in m/s^2. Infinite if unknown, which costs many more
    /// steps if the shapes rotate.
    pub gap_acceleration: f64,
}

impl ClosingBounds {
    /// Computes the bounds for two bodies over `duration` seconds, from their initial velocities
    /// and the radii that contain all their points about the centers that the velocities refer to.
    ///
    /// `acceleration` bounds the acceleration of B's center relative to A's: zero if both fall
    /// freely. The angular velocities must be the largest of the whole interval. The radius of a
    /// sphere about its center may be given as zero, because its rotation moves no surface. A
    /// radius may be infinite if the body does not rotate; for a rotating half-space it is the
    /// largest distance from the center at which contact can occur.
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
        // A body that does not rotate may be infinite.
        let rim = |turn: f64, radius: f64| if turn == 0.0 { 0.0 } else { turn * radius };
        let (turn_a, turn_b) = (turn(velocity_a, radius_a), turn(velocity_b, radius_b));
        let extra_speed = rim(turn_a, radius_a) + rim(turn_b, radius_b) + acceleration * duration;
        // Centripetal acceleration of points, and points sliding along rotating faces.
        let turning = 2.0 * (turn_a + turn_b) * (linear.length() + extra_speed);
        Self { linear, extra_speed, gap_acceleration: acceleration + turning }
    }

    /// Returns the largest rate at which the gap along `normal` can close, negative if it must
    /// open.
    fn closing_bound(&self, normal: Vec3) -> f64 {
        self.extra_speed - self.linear.dot(normal)
    }

    /// Returns the largest rate at which the gap along `normal` can open.
    fn opening_bound(&self, normal: Vec3) -> f64 {
        self.extra_speed + self.linear.dot(normal)
    }

    /// Returns the largest rate at which any gap can close.
    pub(crate) fn max_speed(&self) -> f64 {
        self.extra_speed + self.linear.length()
    }

    fn is_valid(&self) -> bool {
        self.linear.is_finite()
            && self.extra_speed.is_finite()
            && self.extra_speed >= 0.0
            && self.gap_acceleration >= 0.0
    }
}

/// The first impact of two moving shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "TOI")]
pub struct Impact {
    /// Time of impact, in seconds: the shapes do not touch before.
    pub time: f64,
    /// The separation of the shapes at that time.
    pub separation: Separation,
    /// Approach speed at that time in m/s, negative if the shapes separate.
    pub speed: f64,
    /// Whether the search reached its evaluation limit: there is no impact before `time`, and the
    /// time after it is unknown.
    pub cut_off: bool,
    /// Number of distance evaluations.
    pub evaluations: usize,
}

/// Maximum number of distance evaluations of a search.
const MAX_EVALUATIONS: usize = 64;

/// Maximum number of evaluations while initially touching shapes are tracked; between two of them
/// the fastest point moves by up to half a size.
const MAX_TRACKING_EVALUATIONS: usize = 512;

/// Gap relative to the size at which shapes that touched count as separated.
const SKIN: f64 = 0.01;

/// Increase in depth relative to the size by which another part of touching shapes counts as an
/// impact.
const DEEPER: f64 = 1e-6;

/// Maximum distance, relative to the size, that points move between two samples of shapes that have
/// not separated yet.
const STRIDE: f64 = 0.5;

/// Time step of finite-difference rates, relative to the shorter of the interval and the time to
/// move by one size: long compared with rounding, short compared with changes of the rate.
const RATE_STEP: f64 = 1.0 / (1 << 17) as f64;

/// Approach speed relative to the largest possible one below which rounding cannot tell touching
/// shapes from shapes at rest.
const AT_REST: f64 = 1.0 / (1 << 16) as f64;

/// Returns the first impact of two moving shapes within `span` (start and end time, seconds): the
/// first time at which their distance is `touch` meters or less.
///
/// `touch` is a small length, about a billionth of the shapes' size, or ten billionths for
/// cylinders and cones, whose distance is less exact; below that rounding decides, and the
/// remaining gap may exceed `touch`. Up to and including the returned time the shapes do not
/// overlap by more than rounding. Shapes that come within `touch` without ever overlapping may or
/// may not be reported.
///
/// Shapes that touch or overlap initially are reported at once if they approach. Otherwise they are
/// tracked until they are clearly separated, by a hundredth of the size (half the minimum width of
/// the thinner shape), and a later impact is reported. If they stay within that margin, it is still
/// the same contact: `None`. If another part of them penetrates meanwhile, by a millionth of the
/// size, that impact is reported.
///
/// The paths are evaluated within `span` only. They must respect the bounds `closing`, or an impact
/// may be missed.
///
/// Also returns `None` if `touch` is negative, or an argument is NaN or infinite that must be
/// finite.
///
/// After a bounded number of steps the search stops and sets [`Impact::cut_off`]: the shapes are
/// separated up to that time, and a new search may start there. This happens if they rotate close
/// to each other for several turns.
///
/// ```
/// use msd_sim::geometry::{
///     ClosingBounds, MovingShape, Shape, Simplex, Workspace, time_of_impact,
/// };
/// use msd_sim::math::{Pose, SpatialVector, Vec3};
/// let (ball, floor) = (Shape::sphere(0.5)?, Shape::half_space(Vec3::Z, 0.0)?);
/// // Dropped from 5.5 m at 10 m/s^2, it falls 5 m in 1 s.
/// let still = MovingShape { shape: &floor, path: |_| Pose::IDENTITY };
/// let falling = MovingShape {
///     shape: &ball,
///     path: |t: f64| Pose::at(Vec3::new(0.0, 0.0, 5.5 - 5.0 * t * t)),
/// };
/// let rest = SpatialVector::ZERO;
/// let closing = ClosingBounds::between(rest, f64::INFINITY, rest, 0.5, 10.0, 2.0);
/// let (simplex, workspace) = (&mut Simplex::default(), &mut Workspace::default());
/// let found = time_of_impact(&still, &falling, &closing, [0.0, 2.0], 1e-9, simplex, workspace);
/// let found = found.expect("it falls on the floor");
/// assert!((found.time - 1.0).abs() < 1e-9 && found.separation.distance >= 0.0);
/// assert_eq!(found.separation.normal, Vec3::Z);
/// # Ok::<(), msd_sim::error::ShapeError>(())
/// ```
#[doc(alias = "TOI")]
#[doc(alias = "CCD")]
#[doc(alias = "continuous collision detection")]
#[doc(alias = "shape cast")]
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

/// The thresholds of an impact search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImpactLimits {
    /// Distance at which the shapes have met, m.
    pub(crate) touch: f64,
    /// Initial distance within which shapes that do not approach count as touching, m.
    pub(crate) contact_distance: f64,
    /// Approach speed below which touching shapes have no impact, m/s.
    pub(crate) min_speed: f64,
}

/// The outcome of an impact search.
pub(crate) enum ImpactOutcome {
    /// The shapes are separated throughout, or the input is invalid.
    Separated,
    /// The shapes touch initially, without a new impact.
    Touching,
    Hit(Impact),
}

/// Searches as [`time_of_impact`] does, and distinguishes shapes that touch initially from those
/// that never touch.
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
    // Below the second bound, rounding dominates.
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

/// The poses and the separation of the shapes at a time.
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

/// The state of a search.
struct ImpactSearch<'a, P, Q> {
    a: &'a MovingShape<'a, P>,
    b: &'a MovingShape<'a, Q>,
    closing: &'a ClosingBounds,
    until: f64,
    touch: f64,
    /// Approach speed below which touching shapes have no impact, m/s.
    min_speed: f64,
    /// Upper bound on the approach speed of any two points, m/s.
    fastest: f64,
    /// Time step of finite-difference rates, s.
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

    /// Returns the rate at which the gap closes, m/s: that of the two witness points, moving with
    /// the shapes.
    fn rate(&self, at: &Sample) -> f64 {
        let rate_step = self.rate_step.max(16.0 * f64::EPSILON * at.time.abs());
        let other = if at.time + rate_step <= self.until {
            at.time + rate_step
        } else {
            at.time - rate_step
        };
        let moved = |now: &Pose, then: Pose, point: Vec3| {
            let lever = now.inverse_transform_point(point);
            // Subtracted part by part: both differences are small.
            (then.position - now.position) + (then.rotation * lever - now.rotation * lever)
        };
        let ([pose_a, pose_b], Separation { normal, point_a, point_b, .. }) = (&at.poses, at.found);
        let opened = moved(pose_b, (self.b.path)(other), point_b)
            - moved(pose_a, (self.a.path)(other), point_a);
        -opened.dot(normal) / (other - at.time)
    }

    /// Returns whether the shapes provably stay separated between two samples at which they are
    /// separated.
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
        // With s from 0 to 1 between the samples, each point of B stays at least (1 - s) p + s q -
        // s (1 - s) r from a separating plane of A, where r accounts for the gap's acceleration.
        // The plane halfway between the two normals loses a little at both ends. (Between nearly
        // parallel edges the normal can turn faster than the shapes do: there this is likely, not
        // proven.)
        let cos = from.found.normal.dot(to.found.normal);
        if !(cos > 0.5) {
            return false;
        }
        let tilted = (0.5 + 0.5 * cos).sqrt();
        let (p, q) = (tilted * from.distance(), tilted * to.distance());
        let r = 0.5 * self.closing.gap_acceleration * time * time;
        // The minimum is at s = (p + r - q) / 2 r, if that is between 0 and 1.
        let (before, after) = (p + r - q, q + r - p);
        !(before > 0.0 && after > 0.0) && r.is_finite() || before * before < 4.0 * p * r
    }

    /// Returns the next time to sample: the safe time, or the later time at which rate and
    /// acceleration bound predict contact.
    fn next_time(&self, from: &Sample) -> f64 {
        let left = from.distance() - 0.5 * self.touch;
        let sure = left / self.closing.closing_bound(from.found.normal);
        // The root of left = rate t + gap_acceleration t^2 / 2, without cancellation.
        let (rate, gap_acceleration) = (self.rate(from), self.closing.gap_acceleration);
        let root = (rate * rate + 2.0 * gap_acceleration * left).sqrt();
        let likely =
            if rate > 0.0 { 2.0 * left / (root + rate) } else { (root - rate) / gap_acceleration };
        from.time + sure.max(likely)
    }

    /// Returns the impact after a sample at which the shapes are separated, and before one at which
    /// they overlap, if known.
    fn advance(&mut self, from: Sample, overlap: Option<Sample>) -> Option<Impact> {
        let (mut apart, mut overlap) = (from, overlap);
        // Separated too, but not proven separated in between.
        let mut beyond: Option<Sample> = None;
        let mut halve = false;
        let max_evaluations = self.evaluations + MAX_EVALUATIONS;
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
            // At most `touch` of the motion is left, whatever the computed distances are: those of
            // curved shapes are not that exact.
            if let Some(sample) = overlap
                && (sample.time - apart.time) * self.fastest <= self.touch
            {
                return self.impact(apart, false);
            }
            if self.evaluations >= max_evaluations {
                return self.impact(apart, true);
            }
            let mut time = self.next_time(&apart).min(self.until);
            if let Some(sample) = beyond {
                let sure = apart.time + (apart.distance() - 0.5 * self.touch) / closing_bound;
                time = sure.max(apart.time + 0.5 * (sample.time - apart.time)).min(time);
            } else if let Some(sample) = overlap
                && time >= sample.time
            {
                // The rate was not that of the parts that touch. Try the secant, or the midpoint if
                // the secant was tried last.
                let left =
                    (apart.distance() - 0.5 * self.touch) / (apart.distance() - sample.distance());
                let part = if halve { 0.5 } else { left };
                time = apart.time + part * (sample.time - apart.time);
                halve = !halve;
            }
            let limit = beyond.or(overlap).map_or(f64::INFINITY, |sample| sample.time);
            if !(time > apart.time && time < limit) {
                // The floating-point times have no finer steps.
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

    /// Returns the impact of shapes that touch initially: of another part of them, or after they
    /// have separated.
    fn track_contact(&mut self, first: Sample, size: f64) -> Option<Impact> {
        // The witness points may be at rest while other points of the same face approach.
        let soon = self.sample((first.time + self.rate_step).min(self.until))?;
        let place = first.found.point_a.length() + first.found.point_b.length() + size;
        let noise = 64.0 * f64::EPSILON * place + first.found.error + soon.found.error;
        let (closed, time) = (first.distance() - soon.distance(), soon.time - first.time);
        if closed > self.min_speed * time + noise {
            let speed = self.rate(&first).max(closed / time);
            return self.impact(first, false).map(|found| Impact { speed, ..found });
        }
        let skin = SKIN * size;
        let mut deepest = first.distance().min(0.0) - DEEPER * size;
        let (mut last, mut apart) = (first, None);
        let mut stride = skin;
        let max_evaluations = self.evaluations + MAX_TRACKING_EVALUATIONS;
        while self.evaluations < max_evaluations && last.time < self.until {
            let time = (last.time + stride / self.fastest).min(self.until);
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
                // It penetrates slowly: still the same contact.
                deepest = last.distance() - DEEPER * size;
                apart = None;
            } else if last.distance() > self.touch {
                apart = Some(last);
            }
            stride = (2.0 * stride).min(STRIDE * size);
        }
        if last.time < self.until { self.impact(last, true) } else { None }
    }

    /// Bisects the time between two samples at which the shapes become deeper than `deepest`.
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
