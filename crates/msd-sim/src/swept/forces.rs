//! The forces on bodies over a swept step.

use crate::bodies::{BodySet, BodyView, Potential};
use crate::constraints::solver_bodies::{Frame, VelocityDelta, f4, rotate_by};
use crate::math::Vec3;
use crate::motion::ForceImpulses;

/// Returns the view of a body for force fields: halfway through a free step. Drift, kick, drift with the forces there
/// neither gains nor loses energy; with the forces at the start of the step it would gain.
fn halfway_view(bodies: &BodySet, body: u32, dt: f64) -> BodyView {
    let mut view = bodies.view(body);
    view.pose.position += view.velocity.linear * (0.5 * dt);
    view.pose.rotation = rotate_by(view.pose.rotation, view.velocity.angular * (0.5 * dt));
    view
}

/// Returns the impulses of the forces on a body over a step.
pub(crate) fn force_impulses(
    bodies: &BodySet,
    potentials: &[Potential],
    gravity: Vec3,
    body: u32,
    dt: f64,
) -> ForceImpulses {
    ForceImpulses::on(bodies, potentials, gravity, body, dt, || halfway_view(bodies, body, dt))
}

/// Returns the change of velocity by the forces of a step on a body in a substep, which has this share of it.
pub(crate) fn external_kick(
    bodies: &BodySet,
    acting: &ForceImpulses,
    frame: &Frame,
    body: u32,
    share: f64,
) -> VelocityDelta {
    let impulse = (acting.forces + acting.damping + acting.user) * share;
    let motion = &bodies.motions[body as usize];
    let linear = impulse.linear * motion.inverse_mass;
    VelocityDelta { linear: f4(linear, 0.0), angular: f4(frame.spin_change(impulse.angular), 0.0) }
}
