//! A pair of colliders near each other: what its manifold was computed from, and how long it holds.

use super::motion_bounds::{MotionBounds, closing_speed};
use super::narrow_phase::{PairProperties, find_manifold, relative_motion};
use super::pairs::{ContactSet, Slot};
use crate::bodies::BodySet;
use crate::geometry::{Manifold, PairMemory, Shape, Workspace};
use crate::math::{Pose, Vec3};
use crate::settings::Settings;

/// Relative motion of two bodies, as a fraction of the smaller size, up to which their contact points are reused in
/// swept steps. The error of the gap at a point is then below its square, the error of the point's position below it.
const REUSE: f64 = 0.02;

/// The same for contacts of round surfaces at rest, whose points do not move along with the bodies. While the bodies
/// move, points are reused for no more than half the motion of a step, so that the error vanishes with the step.
const ROUND_REUSE: f64 = 1e-4;

/// Relative motion of two bodies within a swept step, as a fraction of the smaller size, after which their contact points are
/// found again. Smaller fractions take more time for hardly less overlap.
pub(crate) const RENEWAL: f64 = 0.1;

/// Extra margin within which points are found, as a fraction of the smaller size, so that a manifold stays valid when
/// the bodies get a little faster.
const EXTRA_MARGIN: f64 = 0.02;

/// Maximum motion per step that the margin covers, as a multiple of the smaller size: continuous collision detection
/// stops faster bodies.
const MAX_CLOSING_DISTANCE: f64 = 1.0;

/// Two colliders whose enlarged bounds overlap, or did when both were last checked. The fields that every check needs
/// come first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct ContactPair {
    /// Colliders A and B; A has the smaller index.
    pub(crate) colliders: [u32; 2],
    /// The body of each.
    pub(crate) bodies: [u32; 2],
    /// Place of the contact in the constraint graph, that of the sleeping bodies if the pair is asleep; none without
    /// points.
    pub(crate) slot: Slot,
    /// Whether the surfaces touched in the last step.
    pub(crate) touching: bool,
    /// Whether `found_at`, `clearance` and `odometer` are valid.
    valid: bool,
    /// Smaller of the two sizes, m.
    pub(crate) size: f64,
    /// Smaller of the two radii, m, and whether it is that of A.
    radius: f64,
    a_is_smaller: bool,
    /// Whether one of the surfaces is curved, so that contact points move along it.
    round: bool,
    /// Whether one of the colliders is a ball.
    pub(crate) has_ball: bool,
    /// With points: the margin within which they were found, m. Without: a lower bound of the bodies' distance, m.
    clearance: f64,
    /// Pose of the smaller body relative to the other when the manifold was computed.
    found_at: Pose,
    /// Sum of both odometers less the relative motion since `found_at`, at the last update, m.
    odometer: f64,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    memory: PairMemory,
}

/// The result of updating a pair.
pub(crate) enum ManifoldChange {
    /// The manifold is still valid, or the pair still has no points.
    Unchanged,
    /// A new manifold, to be stored in a block.
    Points(Manifold),
    /// The pair no longer has points.
    Separated,
}

impl ContactPair {
    pub(crate) fn new(a: u32, b: u32, bodies: &BodySet) -> Self {
        let PairProperties { friction, restitution, size, radius, a_is_smaller } =
            PairProperties::of(bodies, [a, b]);
        let shapes = [a, b].map(|collider| &bodies.colliders.solids[collider as usize].shape);
        let round = shapes.iter().any(|shape| shape.is_round());
        let has_ball = shapes.iter().any(|shape| matches!(shape, Shape::Sphere(_)));
        Self {
            colliders: [a, b],
            bodies: bodies.colliders.bodies((a, b)),
            slot: Slot::NONE,
            touching: false,
            valid: false,
            friction,
            restitution,
            size,
            radius,
            a_is_smaller,
            round,
            has_ball,
            found_at: Pose::IDENTITY,
            odometer: 0.0,
            clearance: 0.0,
            memory: PairMemory::default(),
        }
    }

    /// Returns the colliders as a key of the sorted lists.
    pub(crate) fn key(&self) -> (u32, u32) {
        (self.colliders[0], self.colliders[1])
    }

    /// Returns whether the pair has a contact in the constraint graph.
    pub(crate) fn has_contact(&self) -> bool {
        self.slot.is_assigned()
    }

    /// Returns whether the pair was not checked yet, or has to start over.
    pub(crate) fn is_new(&self) -> bool {
        !self.valid
    }

    /// Returns whether the pair has a contact in this set.
    pub(crate) fn has_contact_in(&self, set: ContactSet) -> bool {
        self.has_contact() && self.slot.set == set
    }

    /// Invalidates the manifold and clears the memory of the pair.
    pub(crate) fn invalidate(&mut self) {
        self.valid = false;
        self.memory = PairMemory::default();
    }

    /// Starts over after a change of shape. Whether the surfaces touched is kept, because an event is due if they no
    /// longer do, and so is the slot.
    pub(crate) fn reshape(&mut self, bodies: &BodySet) {
        let Self { colliders: [a, b], touching, slot, .. } = *self;
        *self = Self { touching, slot, ..Self::new(a, b, bodies) };
    }

    /// Recomputes friction and restitution from the bodies' materials.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet) {
        let properties = PairProperties::of(bodies, self.colliders);
        (self.friction, self.restitution) = (properties.friction, properties.restitution);
    }

    /// Returns the sum of both odometers and of both bodies' motion in a step up to which a pair without points cannot
    /// get any, m. Infinite for a pair with points.
    pub(crate) fn recheck_distance(&self, settings: &Settings) -> f64 {
        match (self.has_contact(), self.valid) {
            (true, _) => f64::INFINITY,
            (false, false) => f64::NEG_INFINITY,
            (false, true) => self.odometer + self.clearance - settings.margin * self.size,
        }
    }

    /// Returns the sum of odometers, m, and the sum of speeds, m/s, up to which points remain valid, in steps of `dt`, for
    /// bodies that move at `speed`.
    pub(crate) fn recheck_limits(&self, settings: &Settings, speed: f64, dt: f64) -> (f64, f64) {
        if !self.valid {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let fastest = (self.clearance - settings.margin * self.size) / dt;
        (self.odometer + self.reuse(speed, dt) * self.size, fastest)
    }

    /// Returns whether a relative motion within a step, m, is too large for the points found before it.
    pub(crate) fn outgrows_points(&self, motion: f64) -> bool {
        motion > RENEWAL * self.size
    }

    /// Returns how far bodies that move at `speed` may move relative to each other before their points are found again,
    /// relative to size.
    fn reuse(&self, speed: f64, dt: f64) -> f64 {
        if self.round { (0.5 * speed * dt / self.size).clamp(ROUND_REUSE, REUSE) } else { REUSE }
    }

    /// Returns the pose of the smaller body relative to the other.
    #[inline]
    fn relative(&self, [a, b]: [&Pose; 2]) -> Pose {
        if self.a_is_smaller { b.relative(a) } else { a.relative(b) }
    }

    /// Returns how far points of the smaller body have moved relative to the other since the manifold was computed, m;
    /// `None` if there is none.
    #[inline]
    fn moved(&self, relative: &Pose) -> Option<f64> {
        self.valid.then(|| relative_motion(&self.found_at, relative, self.radius))
    }

    /// Returns a lower bound of the distance of two bodies without contact points at these poses, m; zero or less if
    /// none is known.
    pub(crate) fn distance_bound(&self, poses: [&Pose; 2]) -> f64 {
        match self.valid {
            true => {
                self.clearance - relative_motion(&self.found_at, &self.relative(poses), self.radius)
            }
            false => 0.0,
        }
    }

    /// Returns whether the last result still holds within `margin` after the bodies moved by `moved`; points are
    /// reused up to a motion of `reuse`, relative to size.
    #[inline]
    fn holds(&self, has_points: bool, moved: f64, margin: f64, reuse: f64) -> bool {
        match has_points {
            true => moved <= reuse * self.size && margin <= self.clearance,
            false => moved + margin < self.clearance,
        }
    }

    /// Computes the manifold at these poses, with points up to `margin` apart.
    #[inline]
    fn find(
        &mut self,
        bodies: &BodySet,
        poses: [&Pose; 2],
        relative: Pose,
        margin: f64,
        workspace: &mut Workspace,
    ) -> Manifold {
        let memory = &mut self.memory;
        let manifold = find_manifold(bodies, self.colliders, poses, margin, memory, workspace);
        self.valid = true;
        self.found_at = relative;
        self.clearance = match manifold.is_empty() {
            true => self.memory.clearance().max(margin),
            false => margin,
        };
        manifold
    }

    /// Updates the manifold within `margin` of these poses, for an exact step: returns it if it had to be computed.
    pub(crate) fn update_at(
        &mut self,
        bodies: &BodySet,
        poses: [&Pose; 2],
        has_points: bool,
        margin: f64,
        reuse: f64,
        workspace: &mut Workspace,
    ) -> Option<Manifold> {
        let relative = self.relative(poses);
        let moved = self.moved(&relative);
        if moved.is_some_and(|moved| self.holds(has_points, moved, margin, reuse)) {
            return None;
        }
        Some(self.find(bodies, poses, relative, margin, workspace))
    }

    /// Updates the manifold for the bodies' poses, ahead of a swept step of `dt`.
    pub(crate) fn update(
        &mut self,
        bodies: &BodySet,
        motion_bounds: &[MotionBounds],
        settings: &Settings,
        dt: f64,
        workspace: &mut Workspace,
    ) -> ManifoldChange {
        let bounds = self.bodies.map(|body| &motion_bounds[body as usize]);
        let odometer = bounds[0].odometer + bounds[1].odometer;
        let poses = self.bodies.map(|body| &bodies.poses[body as usize]);
        let relative = self.relative(poses);
        let (size, farthest) = (self.size, MAX_CLOSING_DISTANCE * self.size);
        let margin = |closing: f64| settings.margin * size + (closing * dt).min(farthest);
        let has_contact = self.has_contact();
        let mut closing = None;
        let speed = bounds[0].speed + bounds[1].speed;
        let reuse = self.reuse(speed, dt);
        if let Some(moved) = self.moved(&relative) {
            let holds = |margin: f64| self.holds(has_contact, moved, margin, reuse);
            if holds(margin(speed))
                || holds(margin(*closing.insert(closing_speed(bodies, self.bodies))))
            {
                self.odometer = odometer - moved;
                return ManifoldChange::Unchanged;
            }
        }
        let margin = margin(closing.unwrap_or_else(|| closing_speed(bodies, self.bodies)));
        let margin = margin + EXTRA_MARGIN * self.size;
        let manifold = self.find(bodies, poses, relative, margin, workspace);
        self.odometer = odometer;
        match (manifold.is_empty(), has_contact) {
            (false, _) => ManifoldChange::Points(manifold),
            (true, true) => ManifoldChange::Separated,
            (true, false) => ManifoldChange::Unchanged,
        }
    }

    /// Finds the points of a contact again at poses within a swept step, if its bodies moved too far for the last ones, with
    /// points that may close by `closing`, m, in the rest of the step. Returns `None` if the last ones, with this `normal`, stay:
    /// also if a body has moved so far through the other one that it would be pushed out on the far side.
    pub(crate) fn update_within_step(
        &mut self,
        bodies: &BodySet,
        poses: [&Pose; 2],
        normal: Vec3,
        closing: f64,
        settings: &Settings,
        workspace: &mut Workspace,
    ) -> Option<Manifold> {
        let relative = self.relative(poses);
        let moved = self.moved(&relative)?;
        if !self.outgrows_points(moved) {
            return None;
        }
        let closing = closing.min(MAX_CLOSING_DISTANCE * self.size);
        let margin = (settings.margin + EXTRA_MARGIN) * self.size + closing;
        let manifold = self.find(bodies, poses, relative, margin, workspace);
        // The last points stay in the block until the next step, which checks the pair again.
        self.valid = !manifold.is_empty() && manifold.normal.dot(normal) > 0.0;
        self.valid.then_some(manifold)
    }
}
