//! Bodies by sweeping's sweeps see them, one cache line each for what a sweep changes.

use crate::bodies::{BodySet, BodyView, Inertia, Potential};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::motion::ForceImpulses;
use crate::simd::F4;
use crate::solver::{SolverBody, rotate_freely};

/// The rider that nobody is: what empty lanes name. Body `i` rides as `i + 1`.
pub(crate) const DUMMY: u32 = 0;

/// Velocity in the coordinates of [`super::contact_block::ContactBlock`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct SweepBody {
    /// m/s; the last is the inverse mass, 1/kg: zero for what does not yield.
    pub(crate) velocity: F4,
    /// `L^T R^T w`; of environment bodies `w`.
    pub(crate) spin: F4,
}

/// Displacement since the step began, in the same coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct DeltaPose {
    pub(crate) translation: F4,
    pub(crate) rotation: F4,
}

/// Velocity that impulses gave, in the same coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct VelocityDelta {
    pub(crate) linear: F4,
    pub(crate) angular: F4,
}

/// Where a body is when the step begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    /// m; the last is 1 for a body that impulses turn, else 0.
    pub(crate) position: F4,
    /// Its axes in the world.
    pub(crate) axes: [F4; 3],
    /// Rows of `T = L^-1 R^T`.
    pub(crate) spin_rows: [F4; 3],
}

/// What a body did in the last step, for the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MotionBounds {
    /// No point of it has moved farther since it was added, m, points within it that turn along included.
    pub(crate) odometer: f64,
    /// No point of it is faster, m/s.
    pub(crate) speed: f64,
    /// How far it may move from where it was when its bounds were grown, m, by the odometer.
    pub(crate) bounds_budget: f64,
    /// How long it has been at rest, s.
    pub(crate) sleep_timer: f64,
}

/// What the farthest point of a body does by turning; a shape without bounds has none.
pub(crate) fn rim_motion(turn: f64, rim: f64) -> f64 {
    if rim.is_finite() { turn * rim } else { 0.0 }
}

fn f4(v: Vec3, last: f64) -> F4 {
    F4([v.x, v.y, v.z, last])
}

fn vec3(f: &F4) -> Vec3 {
    Vec3::new(f.0[0], f.0[1], f.0[2])
}

impl Frame {
    /// `T^T v`: from spins to angular velocities of the world.
    pub(crate) fn angular(&self, spin: &F4) -> Vec3 {
        vec3(&self.spin_rows[0]) * spin.0[0]
            + vec3(&self.spin_rows[1]) * spin.0[1]
            + vec3(&self.spin_rows[2]) * spin.0[2]
    }

    fn to_spin(&self, v: Vec3) -> Vec3 {
        Vec3::new(
            vec3(&self.spin_rows[0]).dot(v),
            vec3(&self.spin_rows[1]).dot(v),
            vec3(&self.spin_rows[2]).dot(v),
        )
    }
}

/// A body as the step begins: its frame and velocity.
pub(crate) fn gather(bodies: &BodySet, index: usize) -> (Frame, SweepBody) {
    let pose = &bodies.poses[index];
    let rotation = Mat3::from_quat(pose.rotation);
    let motion = &bodies.motions[index];
    let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis].map(|axis| f4(axis, 0.0));
    let inertia = &bodies.inertias[index];
    let (turn, spin, dynamic) = if inertia.mass > 0.0 {
        let turn = inertia.root * rotation.transpose();
        let momentum = inertia.tensor * (rotation.transpose() * motion.velocity.angular);
        (turn, inertia.root * momentum, 1.0)
    } else {
        // What turns by itself is seen to, but does not yield.
        let turns = motion.velocity.angular != Vec3::ZERO;
        (if turns { Mat3::IDENTITY } else { Mat3::ZERO }, motion.velocity.angular, 0.0)
    };
    let rows = turn.transpose();
    let frame = Frame {
        position: f4(pose.position, dynamic),
        axes,
        spin_rows: [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| f4(row, 0.0)),
    };
    let velocity = f4(motion.velocity.linear, motion.inverse_mass);
    (frame, SweepBody { velocity, spin: f4(spin, 0.0) })
}

/// A body as force fields see it: halfway through a step, if nothing else moved it. Drift, kick, drift with the forces
/// there neither gains nor loses energy; with those of the step's beginning it would gain.
fn halfway_view(bodies: &BodySet, body: u32, dt: f64) -> BodyView {
    let mut view = bodies.view(body);
    view.pose.position += view.velocity.linear * (0.5 * dt);
    view.pose.rotation = rotate_by(view.pose.rotation, view.velocity.angular * (0.5 * dt));
    view
}

/// Impulses of the forces on a body over a step.
pub(crate) fn force_impulses(
    bodies: &BodySet,
    potentials: &[Potential],
    gravity: Vec3,
    body: u32,
    dt: f64,
) -> ForceImpulses {
    ForceImpulses::on(bodies, potentials, gravity, body, dt, || halfway_view(bodies, body, dt))
}

/// Velocity that the forces on a body give it in a substep `h` of a step `dt`.
pub(crate) fn external_kick(
    bodies: &BodySet,
    potentials: &[Potential],
    gravity: Vec3,
    frame: &Frame,
    body: u32,
    [dt, h]: [f64; 2],
) -> VelocityDelta {
    let force_impulses = force_impulses(bodies, potentials, gravity, body, dt);
    let impulse = (force_impulses.forces + force_impulses.damping + force_impulses.user) * (h / dt);
    let motion = &bodies.motions[body as usize];
    let linear = impulse.linear * motion.inverse_mass;
    VelocityDelta { linear: f4(linear, 0.0), angular: f4(frame.to_spin(impulse.angular), 0.0) }
}

impl DeltaPose {
    /// How far the centre of mass moved, m.
    pub(crate) fn distance(&self) -> f64 {
        self.translation().length()
    }

    pub(crate) fn translation(&self) -> Vec3 {
        vec3(&self.translation)
    }

    /// Leaves a part of the way.
    pub(crate) fn scale(&mut self, part: f64) {
        for field in [&mut self.translation, &mut self.rotation] {
            field.0.iter_mut().for_each(|value| *value *= part);
        }
    }

    #[inline(always)]
    pub(crate) fn drift(&mut self, sweep_body: &SweepBody, time: f64) {
        for i in 0..3 {
            self.translation.0[i] += sweep_body.velocity.0[i] * time;
            self.rotation.0[i] += sweep_body.spin.0[i] * time;
        }
    }
}

impl SweepBody {
    /// Forces act, and the impulses of the last substep are taken to act again; `push` becomes the velocity
    /// without them.
    #[inline(always)]
    pub(crate) fn kick(
        &mut self,
        external_kick: &VelocityDelta,
        push: &mut VelocityDelta,
        first: bool,
    ) {
        for i in 0..3 {
            let (v, w) = (self.velocity.0[i], self.spin.0[i]);
            let given = match first {
                true => [push.linear.0[i], push.angular.0[i]],
                false => [v - push.linear.0[i], w - push.angular.0[i]],
            };
            push.linear.0[i] = v + external_kick.linear.0[i];
            push.angular.0[i] = w + external_kick.angular.0[i];
            self.velocity.0[i] = push.linear.0[i] + given[0];
            self.spin.0[i] = push.angular.0[i] + given[1];
        }
    }
}

/// Puts a body where a step took it, with the velocity it has there. The angle by which it turned, rad.
pub(crate) fn scatter(
    pose: &mut Pose,
    motion: &mut SolverBody,
    inertia: &Inertia,
    frame: &Frame,
    sweep_body: &SweepBody,
    delta_pose: &DeltaPose,
    dt: f64,
) -> f64 {
    pose.position += vec3(&delta_pose.translation);
    motion.velocity.linear = vec3(&sweep_body.velocity);
    let turned = frame.angular(&delta_pose.rotation);
    let spin = frame.angular(&sweep_body.spin);
    if inertia.isotropic {
        pose.rotation = rotate_by(pose.rotation, turned);
        motion.velocity.angular = spin;
        return turned.length();
    }
    // The mean velocity is that of a free rotation, which bends as a free rotation does; angular momentum is
    // what contacts and forces left of it.
    let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
    let start = pose.rotation;
    let (rotation, _) = rotate_freely(start, turned / dt, tensor, inverse, false, dt);
    let momentum = start * (*tensor * (start.conjugate() * spin));
    pose.rotation = rotation;
    motion.inverse_inertia = inertia.turned_inverse(pose);
    motion.velocity.angular = motion.inverse_inertia * momentum;
    turned.length()
}

/// A rotation turned further by a vector.
pub(crate) fn rotate_by(rotation: Quat, by: Vec3) -> Quat {
    if by == Vec3::ZERO {
        return rotation;
    }
    (crate::math::rotation(by, by.length()) * rotation).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swept::contact_block::{ContactBlock, ManifoldCache, SolverRows};
    use crate::swept::pairs::{PairEntry, SweptPair};

    /// What `docs/profile.md` says of memory.
    #[test]
    fn bodies_contacts_and_pairs_take_the_bytes_that_are_stated() {
        let sweeps =
            size_of::<SweepBody>() + size_of::<DeltaPose>() + 2 * size_of::<VelocityDelta>();
        assert_eq!(sweeps + size_of::<Frame>() + size_of::<MotionBounds>(), 544);
        assert_eq!(size_of::<ContactBlock>() / 4, 1024);
        assert_eq!([size_of::<SolverRows>() / 4, size_of::<ManifoldCache>() / 4], [696, 280]);
        assert_eq!(size_of::<SweptPair>() + size_of::<PairEntry>(), 408);
    }
}
