//! A spring by which the user pulls a body.

use msd_sim::math::{SpatialVector, Vec3};
use msd_sim::{Body, BodyId, World};

/// How fast a body that nothing else holds swings to the hand, rad/s.
const RATE: f64 = 10.0;
/// The same at most, in radians a step: beyond, a force that is constant over a step overshoots.
const STEP_RATE: f64 = 0.5;
/// Less than 1 swings over.
const DAMPING: f64 = 0.8;
/// How fast the spin of a held body dies away, 1/s: else it would turn about the hand for ever.
const SPIN_DAMPING: f64 = 3.0;

/// Holds a body at a point of it and pulls that towards a point of the world.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    /// The body.
    pub body: BodyId,
    /// Where it is held, in its own axes from the centre of mass, m.
    pub arm: Vec3,
    /// Where that is pulled to, m.
    pub to: Vec3,
}

impl Hand {
    /// Pulls for the next step.
    pub fn pull(&self, world: &mut World, dt: f64) {
        let Ok(body) = world.body(self.body) else { return };
        let arm = body.pose().transform_vector(self.arm);
        let point = body.position() + arm;
        let velocity = body.linear_velocity() + body.angular_velocity().cross(arm);
        let rate = RATE.min(STEP_RATE / dt);
        let pull = rate * rate * (self.to - point) - 2.0 * DAMPING * rate * velocity;
        let mut load = SpatialVector::force_at(mass_at(&body, arm, pull) * pull, arm);
        let spin_rate = SPIN_DAMPING.min(STEP_RATE / dt);
        load.angular -= spin_rate * (body.inertia() * body.angular_velocity());
        // Refused only if not finite, and then there is nothing to pull with.
        let _ = world.apply_force(self.body, load);
    }
}

/// The mass that a force along `direction` at `arm` has to move: less than the body's where it also turns.
fn mass_at(body: &Body<'_>, arm: Vec3, direction: Vec3) -> f64 {
    let Some(direction) = direction.try_normalize() else { return 0.0 };
    let lever = arm.cross(direction);
    1.0 / (body.inverse_mass() + lever.dot(body.inverse_inertia() * lever))
}

#[cfg(test)]
mod tests {
    use super::*;
    use msd_sim::geometry::Shape;
    use msd_sim::{BodyDef, Settings};

    fn pulled(dt: f64, at: Vec3, seconds: f64) -> f64 {
        let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
        let mut world = World::new(settings).expect("settings are fine");
        let shape = Shape::cuboid(Vec3::new(0.5, 0.1, 0.1)).expect("a box");
        let id = world.add_body(BodyDef::inertial(shape).mass(3.0)).expect("a body");
        let hand = Hand { body: id, arm: at, to: at + Vec3::new(0.0, 1.0, 0.5) };
        for _ in 0..(seconds / dt) as usize {
            hand.pull(&mut world, dt);
            world.step(dt).expect("a good time step");
        }
        let body = world.body(id).expect("it is there");
        let held = body.position() + body.pose().transform_vector(hand.arm);
        (held - hand.to).length()
    }

    /// Free, the held point obeys x'' = -w^2 x - 2 d w x' with w = 10 rad/s and d = 0.8, and after 3 s less
    /// than exp(-24) of the way is left; off the centre the mass at the point changes as the body turns, and it
    /// still comes to rest at the hand as its spin dies away. Long steps take a softer spring (w dt <= 1/2).
    #[test]
    fn a_pulled_body_comes_to_the_hand_and_stays_there() {
        for dt in [1.0 / 240.0, 1.0 / 60.0] {
            assert!(pulled(dt, Vec3::ZERO, 3.0) < 1e-8);
            assert!(pulled(dt, Vec3::new(0.5, 0.1, 0.0), 10.0) < 1e-3);
        }
        assert!(pulled(0.25, Vec3::ZERO, 30.0) < 1e-6);
    }
}
