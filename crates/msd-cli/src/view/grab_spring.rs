//! The damped spring with which the user drags a body.

use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{Body, BodyId, World};

/// Natural frequency of a grabbed body that is otherwise free, rad/s.
const RATE: f64 = 10.0;
/// Upper bound on any rate times the time step: above it, a force held constant over a step overshoots.
const STEP_RATE: f64 = 0.5;
/// Damping ratio; values below 1 overshoot.
const DAMPING: f64 = 0.8;
/// Decay rate of a grabbed body's angular velocity, 1/s: without it, the body would spin about the anchor forever.
const SPIN_DAMPING: f64 = 3.0;

/// A spring between a point of a body and a point of the world.
#[derive(Clone, Copy, Debug)]
pub struct GrabSpring {
    /// The grabbed body.
    pub body: BodyId,
    /// Grabbed point in the body's axes, from its center of mass, m.
    pub anchor: Vec3,
    /// Point of the world towards which the anchor is pulled, m.
    pub target: Vec3,
}

impl GrabSpring {
    /// Applies the spring's force for the next step.
    pub fn apply(&self, world: &mut World, dt: f64) {
        let Ok(body) = world.body(self.body) else { return };
        let arm = body.pose().transform_vector(self.anchor);
        let point = body.position() + arm;
        let velocity = body.linear_velocity() + body.angular_velocity().cross(arm);
        let rate = RATE.min(STEP_RATE / dt);
        let acceleration = rate * rate * (self.target - point) - 2.0 * DAMPING * rate * velocity;
        let mass = effective_mass(&body, arm, acceleration);
        let mut load = SpatialVector::force_at(mass * acceleration, arm);
        let spin_rate = SPIN_DAMPING.min(STEP_RATE / dt);
        load.angular -= spin_rate * (body.inertia() * body.angular_velocity());
        // Fails only if the force is not finite; then no force is applied.
        let _ = world.apply_force(self.body, load);
    }
}

/// Returns the effective mass for a force along `direction` at `arm`, kg: less than the body's mass where the force
/// also turns the body.
fn effective_mass(body: &Body<'_>, arm: Vec3, direction: Vec3) -> f64 {
    let Some(direction) = direction.try_normalize() else { return 0.0 };
    let lever = arm.cross(direction);
    1.0 / (body.inverse_mass() + lever.dot(body.inverse_inertia() * lever))
}

#[cfg(test)]
mod tests {
    use super::*;
    use msd_sim::geometry::Shape;
    use msd_sim::{BodyDef, Settings};

    /// Returns the distance between anchor and target after pulling for some seconds, m.
    fn remaining_distance(dt: f64, anchor: Vec3, seconds: f64) -> f64 {
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        let mut world = World::new(settings).expect("valid settings");
        let shape = Shape::cuboid(Vec3::new(0.5, 0.1, 0.1)).expect("a box");
        let id = world.add_body(BodyDef::inertial(shape).mass(3.0)).expect("a body");
        let spring = GrabSpring { body: id, anchor, target: anchor + Vec3::new(0.0, 1.0, 0.5) };
        for _ in 0..(seconds / dt) as usize {
            spring.apply(&mut world, dt);
            world.step(dt).expect("a valid time step");
        }
        let body = world.body(id).expect("the body exists");
        let held = body.position() + body.pose().transform_vector(spring.anchor);
        (held - spring.target).length()
    }

    /// On a free body the anchor obeys x'' = -w^2 x - 2 d w x' with w = 10 rad/s and d = 0.8, and after 3 s less than
    /// exp(-24) of the distance is left. Off the center the effective mass changes as the body turns, and the anchor
    /// still comes to rest at the target as the spin decays. Long steps use a softer spring (w dt <= 1/2).
    #[test]
    fn a_pulled_body_comes_to_the_target_and_stays_there() {
        for dt in [1.0 / 240.0, 1.0 / 60.0] {
            assert!(remaining_distance(dt, Vec3::ZERO, 3.0) < 1e-8);
            assert!(remaining_distance(dt, Vec3::new(0.5, 0.1, 0.0), 10.0) < 1e-3);
        }
        assert!(remaining_distance(0.25, Vec3::ZERO, 30.0) < 1e-6);
    }
}
