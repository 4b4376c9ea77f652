//! Bounds on the motion of bodies: how far they have moved, how fast they are, and where they may come.

use crate::bodies::{BodySet, Extent};
use crate::geometry::Aabb;
use crate::math::{SpatialVector, Vec3};

/// Bounds on the motion of a body, by which pairs and sleep decide what to check.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MotionBounds {
    /// Upper bound of the distance that any point of the body has moved in swept steps since it was added or placed
    /// elsewhere, m, rotation included.
    pub(crate) odometer: f64,
    /// Upper bound of the speed of the shape's boundary, m/s; the rotation of a centered sphere does not count.
    pub(crate) speed: f64,
    /// Odometer reading up to which the body stays within its enlarged bounds, m; negative infinity if it has none.
    pub(crate) bounds_budget: f64,
    /// Time for which the body has been at rest, s.
    pub(crate) sleep_timer: f64,
}

impl Default for MotionBounds {
    fn default() -> Self {
        Self { odometer: 0.0, speed: 0.0, bounds_budget: f64::NEG_INFINITY, sleep_timer: 0.0 }
    }
}

impl MotionBounds {
    /// Returns whether the body has enlarged bounds.
    pub(crate) fn has_bounds(&self) -> bool {
        self.bounds_budget > f64::NEG_INFINITY
    }

    /// Updates the speed after a change other than by a swept step. The odometer's budget, which is for the former
    /// speed, ends.
    pub(super) fn refresh_speed(&mut self, bodies: &BodySet, body: u32) {
        self.bounds_budget = self.bounds_budget.min(self.odometer);
        self.speed = travel(bodies, body, 1.0);
    }
}

/// The motion of a body in a step for which its enlarged bounds have room: that of its velocity at the start of the step, and
/// of a margin.
pub(crate) struct ExpectedMotion {
    translation: Vec3,
    margin: f64,
    /// How far points move because it turns, m.
    turn: f64,
}

impl ExpectedMotion {
    /// Creates that of a body with a velocity (m/s, rad/s). `margin` is relative to its size, `fall` is that in a step, m.
    #[inline]
    pub(crate) fn new(
        velocity: &SpatialVector,
        extent: &Extent,
        margin: f64,
        fall: f64,
        dt: f64,
    ) -> Self {
        let turn = turning(velocity.angular, extent.rotation_radius) * dt;
        let margin = margin * extent.finite_size() + fall;
        Self { translation: velocity.linear * dt, margin, turn }
    }

    /// Returns whether a body that was translated, and of which points moved by up to `turn` because it turned, is still within
    /// the bounds that it had room in.
    #[inline]
    pub(crate) fn contains(&self, translation: Vec3, turn: f64) -> bool {
        // Room for turning is no room for anything else: colliders near the center of mass have less of it.
        let left = Vec3::splat(self.margin - (turn - self.turn).max(0.0));
        let (low, high) = (self.translation.min(Vec3::ZERO), self.translation.max(Vec3::ZERO));
        (low - left).cmple(translation).all() && translation.cmple(high + left).all()
    }
}

/// Returns the size of a body, m; zero for an unbounded one.
pub(super) fn finite_size(bodies: &BodySet, body: u32) -> f64 {
    bodies.extents[body as usize].finite_size()
}

/// Returns an upper bound on the speed at which two points of the bodies approach, m/s.
#[inline]
pub(crate) fn closing_speed(bodies: &BodySet, pair: [u32; 2]) -> f64 {
    let [a, b] = pair.map(|body| &bodies.motions[body as usize].velocity);
    (b.linear - a.linear).length() + turning_speed(bodies, pair)
}

/// Returns the part of it due to rotation, m/s.
#[inline]
pub(crate) fn turning_speed(bodies: &BodySet, pair: [u32; 2]) -> f64 {
    let [a, b] = pair.map(|body| {
        let angular = bodies.motions[body as usize].velocity.angular;
        turning(angular, bodies.extents[body as usize].rotation_radius)
    });
    a + b
}

/// Returns the distance that any point of a body may move within `dt`.
pub(super) fn travel(bodies: &BodySet, body: u32, dt: f64) -> f64 {
    let velocity = &bodies.motions[body as usize].velocity;
    let turn = turning(velocity.angular, bodies.extents[body as usize].rotation_radius);
    (velocity.linear.length() + turn) * dt
}

/// Returns the bounds of the volume that a collider sweeps within `h`.
pub(super) fn path_bounds(bodies: &BodySet, collider: u32, h: f64) -> Aabb {
    let velocity = bodies.velocity_of(collider);
    let bounds = bodies.bounds(collider);
    let rotation_radius = bodies.colliders.solids[collider as usize].rotation_radius;
    let distance = velocity.linear * h;
    let moved = Aabb { min: bounds.min + distance, max: bounds.max + distance };
    // A body cannot turn farther than all the way round.
    let turn = (turning(velocity.angular, rotation_radius) * h).min(2.0 * rotation_radius);
    bounds.union(&moved).grown(turn)
}

/// Returns the speed of the farthest point due to rotation; zero for an unbounded shape.
pub(crate) fn turning(angular: Vec3, radius: f64) -> f64 {
    let speed = angular.length() * radius;
    if speed.is_finite() { speed } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::{BodyDef, World};

    #[test]
    fn closing_and_turning_speeds_bound_those_of_all_points() {
        // A stick of 2 m whose end is 1 m from its center of mass, and a ball that spins in place.
        let stick = Shape::cuboid(Vec3::new(1.0, 1e-3, 1e-3)).unwrap();
        let stick = BodyDef::inertial(stick).mass(1.0).angular_velocity(Vec3::Z * 3.0);
        let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).position(Vec3::X * 5.0);
        let mut world = World::default();
        world.add_body(stick.velocity(Vec3::Y * 4.0)).unwrap();
        world.add_body(ball.angular_velocity(Vec3::X * 7.0)).unwrap();
        let [stick, ball] =
            [0, 1].map(|body: usize| world.model.bodies.extents[body].rotation_radius);
        assert!((stick - 1.0).abs() < 1e-5, "{stick}");
        // Two or three roundings, of half a unit in the last place each.
        let near =
            |found: f64, expected: f64| (found - expected).abs() <= 2.0 * f64::EPSILON * expected;
        assert!(near(closing_speed(&world.model.bodies, [0, 1]), 4.0 + 3.0 * stick + 7.0 * ball));
        assert!(near(travel(&world.model.bodies, 0, 2.0), 2.0 * (4.0 + 3.0 * stick)));
        // Half a second sweeps 2 m along y, and as it turns by 1.5 rad its ends reach as far as 1.5 m.
        let path = path_bounds(&world.model.bodies, 0, 0.5);
        assert!((path.max - Vec3::new(2.5, 3.501, 1.501)).length() < 1e-4, "{}", path.max);
        assert!((path.min + Vec3::new(2.5, 1.501, 1.501)).length() < 1e-4, "{}", path.min);
        assert_eq!(turning(Vec3::X, f64::INFINITY), 0.0);
    }
}
