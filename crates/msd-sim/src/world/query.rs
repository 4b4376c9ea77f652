//! Questions to a world: what a ray or a moving shape hits first, what overlaps, what is nearest.
//!
//! Queries see the world as it is: after a step, after any change, between steps. They change nothing and may run on many
//! threads at once. Results do not depend on the history of the world: of equals, the collider with the smaller handle is
//! first.

use std::thread;

use super::World;
use crate::bodies::{BodyKind, Filter};
use crate::error::BodyError;
use crate::geometry::{
    Aabb, Cast, ClosingBounds, MovingShape, Ray, RayHit, Separation, Shape, Simplex, Workspace,
    cast, separation, time_of_impact,
};
use crate::id::{BodyId, ColliderId};
use crate::math::{Pose, SpatialVector, Vec3, rotation};
use crate::views::{ColliderView, ContactView};

/// Distance at which a cast shape touches a collider, as a fraction of the smaller size.
const TOUCH: f64 = 1e-9;

/// The relative error of the interval in which a ray passes a box: three roundings.
const BOX_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// What a query sees: all enabled colliders that are no sensors and collide with anything at all (filters with neither groups
/// nor mask hide a collider), unless told otherwise.
///
/// ```
/// use msd_sim::geometry::{Ray, Shape};
/// use msd_sim::math::Vec3;
/// use msd_sim::{BodyDef, BodyKind, QueryFilter, World};
/// let mut world = World::default();
/// world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0)?))?;
/// let ball = BodyDef::inertial(Shape::sphere(0.5)?).name("ball").position(Vec3::Z * 2.0);
/// let ball = world.add_body(ball)?;
/// let down = Ray::new(Vec3::Z * 5.0, -Vec3::Z)?;
/// let hit = world.cast_ray(&down, 100.0, &QueryFilter::new()).expect("the ball");
/// assert_eq!((hit.body, hit.distance, hit.normal), (ball, 2.5, Vec3::Z));
/// let ground = QueryFilter::new().only(BodyKind::Environment);
/// assert_eq!(world.cast_ray(&down, 100.0, &ground).map(|hit| hit.distance), Some(5.0));
/// let unnamed = |collider: &msd_sim::ColliderView| {
///     world.body(collider.body()).is_ok_and(|body| body.name().is_empty())
/// };
/// let unnamed = QueryFilter::new().predicate(&unnamed);
/// assert_eq!(world.cast_ray(&down, 100.0, &unnamed).map(|hit| hit.distance), Some(5.0));
/// # Ok::<(), msd_sim::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
#[must_use]
pub struct QueryFilter<'a> {
    filter: Filter,
    only: Option<BodyKind>,
    without: Option<BodyId>,
    sensors: bool,
    predicate: Option<&'a (dyn Fn(&ColliderView<'_>) -> bool + Sync)>,
}

impl<'a> QueryFilter<'a> {
    /// Sees all enabled colliders that are no sensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sees only colliders that would collide with one that has this filter.
    #[doc(alias = "groups")]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sees only bodies of one kind.
    #[doc(alias = "exclude_fixed")]
    #[doc(alias = "only_dynamic")]
    pub fn only(mut self, kind: BodyKind) -> Self {
        self.only = Some(kind);
        self
    }

    /// Does not see a body.
    #[doc(alias = "exclude_rigid_body")]
    pub fn without(mut self, body: BodyId) -> Self {
        self.without = Some(body);
        self
    }

    /// Sees sensors, too.
    pub fn sensors(mut self, sensors: bool) -> Self {
        self.sensors = sensors;
        self
    }

    /// Sees only colliders for which a function returns true.
    pub fn predicate(mut self, predicate: &'a (dyn Fn(&ColliderView<'_>) -> bool + Sync)) -> Self {
        self.predicate = Some(predicate);
        self
    }
}

/// A collider that a query found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryHit {
    /// Its body.
    pub body: BodyId,
    /// The collider.
    pub collider: ColliderId,
    /// Distance from the query's start or shape, m; negative where shapes overlap.
    pub distance: f64,
    /// Point on its surface; the start of a ray that starts within it.
    pub point: Vec3,
    /// Unit normal out of its surface at that point.
    pub normal: Vec3,
    /// Index of the face with that normal, for a cuboid (x, -x, y, -y, z, -z) or a hull; `None` on edges, corners and round
    /// surfaces, and for a ray that starts within it.
    pub face: Option<u32>,
}

/// The first collider that a moving shape touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit {
    /// The collider, and where it is touched; `hit.distance` is what is left between the two, m.
    pub hit: QueryHit,
    /// Share of the motion after which they touch, 0 to 1.
    pub fraction: f64,
    /// Pose of the moving shape then.
    pub pose: Pose,
    /// Whether the search reached its limit: nothing is touched before, and what comes after is unknown.
    pub cut_off: bool,
}

/// The distance of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyDistance {
    /// The two colliders that are nearest to each other, or overlap deepest.
    pub colliders: [ColliderId; 2],
    /// Their distance, with normal, witness points and error bound.
    pub separation: Separation,
}

impl World {
    /// Returns the first collider that a ray hits within `max_distance` meters.
    ///
    /// A ray that starts within a collider hits it at distance 0, with a normal opposite to its direction.
    #[doc(alias = "raycast")]
    #[doc(alias = "castRay")]
    #[doc(alias = "mj_ray")]
    pub fn cast_ray(
        &self,
        ray: &Ray,
        max_distance: f64,
        filter: &QueryFilter<'_>,
    ) -> Option<QueryHit> {
        let mut best: Option<(RayHit, ColliderId, ColliderView<'_>)> = None;
        let cost = ray_cost(ray);
        self.contacts.collision.search(cost, max_distance, |collider, limit| {
            let Some(view) = self.seen(collider, filter) else { return };
            let Some(hit) = view.shape().cast_ray(&view.pose(), ray, *limit) else { return };
            let id = view.id();
            let is_first = best.is_none_or(|(best, before, _)| {
                hit.distance.total_cmp(&best.distance).then(id.cmp(&before)).is_lt()
            });
            if is_first {
                *limit = hit.distance;
                best = Some((hit, id, view));
            }
        });
        best.map(|(hit, _, view)| view.hit(hit.distance, hit.point, hit.normal))
    }

    /// Returns all colliders that a ray hits within `max_distance` meters, the nearest first.
    #[doc(alias = "intersections_with_ray")]
    pub fn cast_ray_through(
        &self,
        ray: &Ray,
        max_distance: f64,
        filter: &QueryFilter<'_>,
    ) -> Vec<QueryHit> {
        let mut all = Vec::new();
        self.contacts.collision.search(ray_cost(ray), max_distance, |collider, limit| {
            if let Some(view) = self.seen(collider, filter)
                && let Some(hit) = view.shape().cast_ray(&view.pose(), ray, *limit)
            {
                all.push(view.hit(hit.distance, hit.point, hit.normal));
            }
        });
        all.sort_by(QueryHit::compare);
        all
    }

    /// Casts many rays at once, as [`cast_ray`](Self::cast_ray) does, on up to
    /// [`Settings::threads`](crate::Settings::threads) threads: `hits[n]` is the hit of `rays[n]`, whatever their number.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    #[doc(alias = "mj_multiRay")]
    pub fn cast_rays(
        &self,
        rays: &[Ray],
        max_distance: f64,
        filter: &QueryFilter<'_>,
        hits: &mut [Option<QueryHit>],
    ) {
        self.batch(rays, hits, |ray, _| self.cast_ray(ray, max_distance, filter));
    }

    /// Returns the first collider that a shape touches on its way from a pose: `motion` is its translation (m) and the
    /// rotation vector (rad) of its turn about its own origin, both at constant rate.
    ///
    /// A shape that touches a collider at the start hits it at once if the two approach; otherwise the two count as one
    /// contact until they are apart by a hundredth of the thinner one's size, as in
    /// [`time_of_impact`](crate::geometry::time_of_impact).
    ///
    /// ```
    /// use msd_sim::geometry::Shape;
    /// use msd_sim::math::{Pose, SpatialVector, Vec3};
    /// use msd_sim::{BodyDef, QueryFilter, World};
    /// let mut world = World::default();
    /// world.add_body(BodyDef::environment(Shape::half_space(Vec3::Z, 0.0)?))?;
    /// let motion = SpatialVector::new(-Vec3::Z * 4.0, Vec3::ZERO);
    /// let start = Pose::at(Vec3::Z * 3.0);
    /// let ball = Shape::sphere(1.0)?;
    /// let found = world.cast_shape(&ball, &start, motion, &QueryFilter::new()).expect("the ground");
    /// assert!((found.fraction - 0.5).abs() < 1e-9);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "sweep")]
    #[doc(alias = "castShape")]
    pub fn cast_shape(
        &self,
        shape: &Shape,
        start: &Pose,
        motion: SpatialVector,
        filter: &QueryFilter<'_>,
    ) -> Option<CastHit> {
        self.cast_shape_with(shape, start, motion, filter, &mut Workspace::default())
    }

    /// Casts many shapes at once, each with its start and motion, as [`cast_shape`](Self::cast_shape) does and in batches as
    /// [`cast_rays`](Self::cast_rays).
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    pub fn cast_shapes(
        &self,
        casts: &[(&Shape, Pose, SpatialVector)],
        filter: &QueryFilter<'_>,
        hits: &mut [Option<CastHit>],
    ) {
        self.batch(casts, hits, |&(shape, start, motion), workspace| {
            self.cast_shape_with(shape, &start, motion, filter, workspace)
        });
    }

    fn cast_shape_with(
        &self,
        shape: &Shape,
        start: &Pose,
        motion: SpatialVector,
        filter: &QueryFilter<'_>,
        workspace: &mut Workspace,
    ) -> Option<CastHit> {
        if !(start.is_finite() && motion.linear.is_finite() && motion.angular.is_finite()) {
            return None;
        }
        let angle = motion.angular.length();
        let turns = angle > 0.0;
        let path = |fraction: f64| {
            let position = start.position + motion.linear * fraction;
            let turned = match turns {
                true => rotation(motion.angular, angle * fraction) * start.rotation,
                false => start.rotation,
            };
            Pose::new(position, turned)
        };
        let sweep = Sweep::new(shape, start, motion);
        let width = shape.least_width();
        let mut best: Option<CastHit> = None;
        let cost = |bounds: &Aabb| sweep.cost(bounds);
        self.contacts.collision.search(cost, 1.0, |collider, limit| {
            let Some(view) = self.seen(collider, filter) else { return };
            let (other, at) = (view.shape(), view.pose());
            if sweep.misses_ball(at.position, other.bounding_radius()) {
                return;
            }
            // The bounds in the tree may be larger, depending on where the collider has been.
            let from = sweep.cost(&other.bounds(&at));
            if from > *limit {
                return;
            }
            let touch = TOUCH * 0.5 * other.least_width().min(width);
            let turning = |workspace: &mut Workspace| {
                let (rest, radius) = (SpatialVector::ZERO, sweep.radius);
                let closing = ClosingBounds::between(rest, f64::INFINITY, motion, radius, 0.0, 1.0);
                let still = MovingShape { shape: other, path: |_| at };
                let moving = MovingShape { shape, path };
                let simplex = &mut Simplex::default();
                let span = [0.0, 1.0];
                time_of_impact(&still, &moving, &closing, span, touch, simplex, workspace)
                    .map(|impact| (impact.time, impact.separation, impact.cut_off))
            };
            let found = match turns {
                true => turning(workspace),
                false => {
                    let span = [from, *limit];
                    match cast(other, &at, shape, start, motion.linear, span, touch, workspace) {
                        Cast::Missed => None,
                        Cast::Touched { fraction, separation } => {
                            Some((fraction, separation, false))
                        }
                        Cast::Unknown => turning(workspace),
                    }
                }
            };
            let Some((fraction, Separation { distance, point_a, normal, .. }, cut_off)) = found
            else {
                return;
            };
            let id = view.id();
            if best.is_none_or(|best| (fraction, id) < (best.fraction, best.hit.collider)) {
                let hit = view.hit(distance, point_a, normal);
                *limit = fraction;
                best = Some(CastHit { hit, fraction, pose: path(fraction), cut_off });
            }
        });
        best
    }

    /// Returns the colliders that a shape overlaps or touches, in the order of their handles, each with the depth of the
    /// overlap as a negative distance.
    #[doc(alias = "intersections_with_shape")]
    #[doc(alias = "overlapShape")]
    pub fn overlaps_with(
        &self,
        shape: &Shape,
        pose: &Pose,
        filter: &QueryFilter<'_>,
    ) -> Vec<QueryHit> {
        let mut workspace = Workspace::default();
        let mut all = Vec::new();
        self.contacts.collision.query(&shape.bounds(pose), |collider| {
            let Some(view) = self.seen(collider, filter) else { return };
            let simplex = &mut Simplex::default();
            let apart =
                separation(view.shape(), &view.pose(), shape, pose, simplex, &mut workspace);
            match apart {
                Some(found) if found.distance <= 0.0 => {
                    all.push(view.hit(found.distance, found.point_a, found.normal));
                }
                // Two half-spaces, whose overlap is unbounded.
                None => all.push(view.hit(f64::NEG_INFINITY, view.pose().position, Vec3::ZERO)),
                Some(_) => {}
            }
        });
        all.sort_by_key(|hit| hit.collider);
        all
    }

    /// Returns the colliders that contain a point, in the order of their handles, each with the nearest point of its surface.
    #[doc(alias = "intersections_with_point")]
    pub fn overlaps_with_point(&self, point: Vec3, filter: &QueryFilter<'_>) -> Vec<QueryHit> {
        let mut all = Vec::new();
        self.contacts.collision.query(&Aabb { min: point, max: point }, |collider| {
            let Some(view) = self.seen(collider, filter) else { return };
            if view.shape().contains(&view.pose(), point) {
                let nearest = view.shape().project(&view.pose(), point);
                all.push(view.hit(nearest.distance, nearest.point, nearest.normal));
            }
        });
        all.sort_by_key(|hit| hit.collider);
        all
    }

    /// Returns the colliders whose bounds share a point with a box, in the order of their handles.
    #[doc(alias = "overlapAABB")]
    #[doc(alias = "intersect_aabb_conservative")]
    pub fn colliders_in(&self, bounds: &Aabb, filter: &QueryFilter<'_>) -> Vec<ColliderId> {
        let mut all = Vec::new();
        self.contacts.collision.query(bounds, |collider| {
            let seen = self.seen(collider, filter);
            if let Some(view) = seen.filter(|view| view.bounds().overlaps(bounds)) {
                all.push(view.id());
            }
        });
        all.sort_unstable();
        all
    }

    /// Returns the point of all surfaces that is nearest to a point, up to `max_distance` meters away. If colliders contain
    /// the point, it is the deepest of them, at a negative distance.
    #[doc(alias = "project_point")]
    pub fn nearest_point(
        &self,
        point: Vec3,
        max_distance: f64,
        filter: &QueryFilter<'_>,
    ) -> Option<QueryHit> {
        let cost = |bounds: &Aabb| {
            let outside = (bounds.min - point).max(point - bounds.max).max(Vec3::ZERO);
            outside.length() * (1.0 - BOX_ROUNDING)
        };
        let mut best: Option<QueryHit> = None;
        self.contacts.collision.search(cost, max_distance, |collider, limit| {
            let Some(view) = self.seen(collider, filter) else { return };
            let nearest = view.shape().project(&view.pose(), point);
            let found = view.hit(nearest.distance, nearest.point, nearest.normal);
            let near = nearest.distance <= max_distance;
            if near && best.is_none_or(|best| found.comes_before(&best)) {
                // Bounds that contain the point cost nothing: all of them are searched.
                *limit = found.distance.max(0.0);
                best = Some(found);
            }
        });
        best
    }

    /// Returns the distance of two bodies: that of their nearest colliders, or of those that overlap deepest. `None` if one of
    /// them has no enabled collider that is no sensor.
    pub fn distance(&self, a: BodyId, b: BodyId) -> Result<Option<BodyDistance>, BodyError> {
        let [a, b] = [self.body(a)?, self.body(b)?];
        let mut workspace = Workspace::default();
        let mut best: Option<BodyDistance> = None;
        let solid = |view: &ColliderView<'_>| view.is_enabled() && !view.is_sensor();
        for one in a.colliders().filter(solid) {
            for other in b.colliders().filter(solid) {
                let [p, q] = [one.bounds(), other.bounds()];
                let apart = (p.min - q.max).max(q.min - p.max).max(Vec3::ZERO).length();
                let known = best.map_or(f64::INFINITY, |best| best.separation.distance);
                if apart > known.max(0.0) {
                    continue;
                }
                let simplex = &mut Simplex::default();
                let (pose, other_pose) = (one.pose(), other.pose());
                let found = separation(
                    one.shape(),
                    &pose,
                    other.shape(),
                    &other_pose,
                    simplex,
                    &mut workspace,
                );
                if let Some(separation) = found.filter(|found| found.distance < known) {
                    best = Some(BodyDistance { colliders: [one.id(), other.id()], separation });
                }
            }
        }
        Ok(best)
    }

    /// Returns the contacts between two bodies, as [`contacts`](Self::contacts) does.
    #[doc(alias = "contact_pair")]
    pub fn contacts_between(
        &self,
        a: BodyId,
        b: BodyId,
    ) -> Result<impl Iterator<Item = ContactView<'_>>, BodyError> {
        self.model.bodies.find(b)?;
        let of_a = self.contacts_of(a)?;
        Ok(of_a.filter(move |contact| [contact.a(), contact.b()].contains(&b)))
    }

    /// Returns a collider if a query sees it.
    #[inline]
    fn seen(&self, collider: u32, filter: &QueryFilter<'_>) -> Option<ColliderView<'_>> {
        let bodies = &self.model.bodies;
        let solid = &bodies.colliders.solids[collider as usize];
        let body = bodies.colliders.body(collider);
        let seen = solid.is_enabled
            && (filter.sensors || !solid.is_sensor)
            && filter.filter.allows(&solid.filter)
            && filter.only.is_none_or(|kind| bodies.kind(body as usize) == kind)
            && filter.without.is_none_or(|id| id.index != body || !bodies.contains(id));
        let view = ColliderView { bodies, index: collider };
        (seen && filter.predicate.is_none_or(|predicate| predicate(&view))).then_some(view)
    }

    /// Answers many queries on up to [`Settings::threads`](crate::Settings::threads) threads.
    fn batch<Q: Sync, A: Send>(
        &self,
        queries: &[Q],
        answers: &mut [A],
        answer: impl Fn(&Q, &mut Workspace) -> A + Sync,
    ) {
        assert_eq!(queries.len(), answers.len(), "as many answers as queries");
        let run = |queries: &[Q], answers: &mut [A]| {
            let mut workspace = Workspace::default();
            for (query, to) in queries.iter().zip(answers) {
                *to = answer(query, &mut workspace);
            }
        };
        let most = queries.len().div_ceil(LEAST_BATCH).max(1);
        let threads = (self.model.settings.threads as usize).clamp(1, most);
        let share = queries.len().div_ceil(threads).max(1);
        thread::scope(|scope| {
            let mut parts = queries.chunks(share).zip(answers.chunks_mut(share));
            let own = parts.next();
            for (queries, answers) in parts {
                scope.spawn(move || run(queries, answers));
            }
            if let Some((queries, answers)) = own {
                run(queries, answers);
            }
        });
    }
}

/// Number of queries below which another thread costs more than it saves.
const LEAST_BATCH: usize = 64;

impl QueryHit {
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.collider.cmp(&other.collider))
    }

    fn comes_before(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }
}

impl ColliderView<'_> {
    fn hit(&self, distance: f64, point: Vec3, normal: Vec3) -> QueryHit {
        let local = self.pose().inverse_transform_vector(normal);
        // A ray that starts within the collider hit no face.
        let face = if distance == 0.0 { None } else { self.shape().face_with_normal(local) };
        QueryHit { body: self.body(), collider: self.id(), distance, point, normal, face }
    }
}

/// Returns a function that bounds from below the distance at which a ray enters a box; infinite if it misses.
fn ray_cost(ray: &Ray) -> impl Fn(&Aabb) -> f64 {
    let origin = ray.origin();
    let entry = Entry::new(Aabb { min: origin, max: origin }, ray.direction());
    move |bounds: &Aabb| entry.cost(bounds)
}

/// Where a box that moves in a straight line meets other boxes.
struct Entry {
    start: Aabb,
    /// One over each component of the velocity. A component of zero makes the bounds in its direction infinitely far away,
    /// or not at all.
    inverse: Vec3,
}

impl Entry {
    fn new(start: Aabb, velocity: Vec3) -> Self {
        let inverse = Vec3::from_array(velocity.to_array().map(|component| {
            if component == 0.0 { f64::MAX.copysign(component) } else { component.recip() }
        }));
        // The reciprocal of a tiny component overflows, and would make nothing of a distance of zero.
        let inverse = inverse.clamp(Vec3::splat(-f64::MAX), Vec3::splat(f64::MAX));
        Self { start, inverse }
    }

    /// Returns a lower bound on the time at which the boxes meet; infinite if they do not.
    #[inline]
    fn cost(&self, bounds: &Aabb) -> f64 {
        let low = (bounds.min - self.start.max) * self.inverse;
        let high = (bounds.max - self.start.min) * self.inverse;
        let (first, last) = (low.min(high), low.max(high));
        let enter = first.max_element().max(0.0) * (1.0 - BOX_ROUNDING);
        let leave = last.min_element() * (1.0 + BOX_ROUNDING);
        if enter <= leave { enter } else { f64::INFINITY }
    }
}

/// What a cast shape passes.
struct Sweep {
    entry: Entry,
    /// The start of the shape's origin, and its motion.
    start: Vec3,
    motion: Vec3,
    /// One over the square of the length of the motion; 0 if it does not move.
    inverse_square: f64,
    /// Distance from the origin within which the shape stays.
    reach: f64,
    /// The same for its points that move when it turns: 0 for a ball.
    radius: f64,
}

impl Sweep {
    fn new(shape: &Shape, start: &Pose, motion: SpatialVector) -> Self {
        let reach = shape.bounding_radius();
        let radius = if let Shape::Sphere(_) = shape { 0.0 } else { reach };
        let angle = motion.angular.length();
        let turn = if angle > 0.0 { angle * radius } else { 0.0 };
        let mut bounds = shape.bounds(start).grown(turn);
        if turn > 0.0 {
            // It stays in a ball, however far it turns.
            let ball = Aabb { min: start.position, max: start.position }.grown(reach);
            bounds = Aabb { min: bounds.min.max(ball.min), max: bounds.max.min(ball.max) };
        }
        let square = motion.linear.length_squared();
        Self {
            // Shapes touch a little before they meet, and coordinates are rounded.
            entry: Entry::new(bounds.grown(SWEEP_MARGIN * shape.least_width()), motion.linear),
            start: start.position,
            motion: motion.linear,
            inverse_square: if square > 0.0 { square.recip() } else { 0.0 },
            reach,
            radius,
        }
    }

    /// Returns a lower bound on the share of the motion after which the shape touches what is in a box; infinite if it does
    /// not.
    fn cost(&self, bounds: &Aabb) -> f64 {
        self.entry.cost(bounds)
    }

    /// Returns whether the shape surely passes a ball.
    fn misses_ball(&self, center: Vec3, radius: f64) -> bool {
        let offset = center - self.start;
        let along = (offset.dot(self.motion) * self.inverse_square).clamp(0.0, 1.0);
        let apart = (offset - self.motion * along).length_squared();
        let rounding = f64::EPSILON * (offset.abs() + self.motion.abs()).element_sum();
        let reach = (self.reach + radius) * (1.0 + BALL_MARGIN) + 8.0 * rounding;
        apart > reach * reach
    }
}

/// Margin of the bounds of a cast shape, as a fraction of its least width: more than [`TOUCH`].
const SWEEP_MARGIN: f64 = 1e-8;

/// The same for balls around shapes, as a fraction of their radii.
const BALL_MARGIN: f64 = 1e-6;
