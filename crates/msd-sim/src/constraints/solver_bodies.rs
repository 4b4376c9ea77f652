//! The state of bodies for solvers: the part that sweeps change takes one cache line per body.
#![allow(unsafe_code)]

use super::lanes::SharedBodies;
use crate::bodies::{BodySet, Inertia};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::simd::{F4, Kernel, Lanes};
use crate::solver::{SolverBody, exponential, rotate_freely, unit};
use crate::threads::DisjointSlice;

/// Index of a dummy static body for empty lanes. Body `i` has index `i + 1`.
pub(crate) const DUMMY: u32 = 0;

/// The velocity of a body in the coordinates of [`SolverRows`](super::solver_rows::SolverRows).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct SweepBody {
    /// Linear velocity, m/s; the last entry is the inverse mass, 1/kg, zero for bodies that impulses do not move.
    pub(crate) velocity: F4,
    /// Spin `L^T R^T w`; the angular velocity `w` for environment bodies.
    pub(crate) spin: F4,
}

/// The displacement of a body since the start of the step, in the same coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct DeltaPose {
    /// m; the last entry means nothing.
    pub(crate) translation: F4,
    pub(crate) rotation: F4,
}

/// A change of velocity by impulses, in the same coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct VelocityDelta {
    pub(crate) linear: F4,
    pub(crate) angular: F4,
}

/// The pose and inertia of a body: in swept steps, at the start of the step. If its frame rotates, see
/// [`JointedBody::rotates_frame`](super::joint_block::JointedBody::rotates_frame), spin rows are those of the present
/// substep, and axes too from the first drift on.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    /// Center of mass, m; the last entry is 1 for a body that impulses rotate, else 0.
    pub(crate) position: F4,
    /// Body axes in the world frame.
    pub(crate) axes: [F4; 3],
    /// Rows of `T = L^-1 R^T`.
    pub(crate) spin_rows: [F4; 3],
    /// Angular acceleration of the free rotation, rad/s^2; the last entry is 1 for a body whose frame rotates with it
    /// from substep to substep.
    pub(crate) acceleration: F4,
}

pub(crate) fn f4(v: Vec3, last: f64) -> F4 {
    F4([v.x, v.y, v.z, last])
}

pub(crate) fn vec3(f: &F4) -> Vec3 {
    Vec3::new(f.0[0], f.0[1], f.0[2])
}

impl Frame {
    /// Returns the angular velocity `T^T w'` in the world frame of a spin `w'`.
    pub(crate) fn angular(&self, spin: &F4) -> Vec3 {
        vec3(&self.spin_rows[0]) * spin.0[0]
            + vec3(&self.spin_rows[1]) * spin.0[1]
            + vec3(&self.spin_rows[2]) * spin.0[2]
    }

    /// Returns whether the frame rotates with its body from substep to substep.
    pub(crate) fn rotates(&self) -> bool {
        self.acceleration.0[3] > 0.0
    }

    /// Returns the rotation from the body's axes to the world's.
    fn rotation(&self) -> Mat3 {
        let [x, y, z] = &self.axes;
        Mat3::from_cols(vec3(x), vec3(y), vec3(z))
    }

    /// Returns the frame with the body at another pose; its spins stay those of this one.
    pub(crate) fn moved_to(&self, pose: &Pose) -> Self {
        let mut moved = *self;
        moved.position = f4(pose.position, self.position.0[3]);
        moved.set_axes(&Mat3::from_quat(pose.rotation));
        moved
    }

    fn set_axes(&mut self, rotation: &Mat3) {
        let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
        self.axes = axes.map(|axis| f4(axis, 0.0));
    }

    /// Returns the change of spin, `T v`, by an angular impulse `v`.
    pub(crate) fn spin_change(&self, v: Vec3) -> Vec3 {
        Vec3::new(
            vec3(&self.spin_rows[0]).dot(v),
            vec3(&self.spin_rows[1]).dot(v),
            vec3(&self.spin_rows[2]).dot(v),
        )
    }
}

/// The state of all bodies for solvers, by body + 1; entry 0 is the dummy body of empty lanes.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SolverBodies {
    pub(crate) velocities: Vec<SweepBody>,
    pub(crate) delta_poses: Vec<DeltaPose>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) warm_starts: Vec<VelocityDelta>,
    pub(crate) kicks: Vec<VelocityDelta>,
}

impl SolverBodies {
    /// Resizes the arrays for this many bodies.
    pub(crate) fn resize(&mut self, bodies: usize) {
        let count = bodies + 1;
        self.velocities.resize(count, SweepBody::default());
        self.delta_poses.resize(count, DeltaPose::default());
        self.frames.resize(count, Frame::default());
        self.warm_starts.resize(count, VelocityDelta::default());
        self.kicks.resize(count, VelocityDelta::default());
    }

    /// Copies the state of a body at its pose.
    pub(crate) fn gather(&mut self, bodies: &BodySet, index: usize) {
        (self.frames[index + 1], self.velocities[index + 1]) = gather(bodies, index, false);
        self.delta_poses[index + 1] = DeltaPose::default();
    }

    /// Returns the arrays for kernels, and the forces of a substep.
    pub(crate) fn shared(&mut self) -> (SharedBodies<'_>, DisjointSlice<'_, VelocityDelta>) {
        let shared = SharedBodies {
            velocities: DisjointSlice::new(&mut self.velocities),
            frames: DisjointSlice::new(&mut self.frames),
            delta_poses: DisjointSlice::new(&mut self.delta_poses),
            warm_starts: DisjointSlice::new(&mut self.warm_starts),
        };
        (shared, DisjointSlice::new(&mut self.kicks))
    }
}

/// Returns the spin `L^T R^T w` of an inertial body; `to_body` is `R^T`.
fn spin(inertia: &Inertia, to_body: &Mat3, angular: Vec3) -> Vec3 {
    inertia.root * (inertia.tensor * (*to_body * angular))
}

/// Returns the frame and velocity of a body at its pose. If it is inertial, isotropic and to be `round`, `L` is chosen so
/// that `T` is a multiple of the identity.
#[inline(always)] // Returned in place: a frame is large.
pub(crate) fn gather(bodies: &BodySet, index: usize, round: bool) -> (Frame, SweepBody) {
    let pose = &bodies.poses[index];
    let rotation = Mat3::from_quat(pose.rotation);
    let motion = &bodies.motions[index];
    let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis].map(|axis| f4(axis, 0.0));
    let inertia = &bodies.inertias[index];
    let (to_spin, spin, dynamic) = if round && inertia.isotropic && inertia.mass > 0.0 {
        let scale = inertia.root.x_axis.x;
        let spin = motion.velocity.angular * inertia.tensor.x_axis.x * scale;
        (Mat3::from_diagonal(Vec3::splat(scale)), spin, 1.0)
    } else if inertia.mass > 0.0 {
        let to_body = rotation.transpose();
        (inertia.root * to_body, spin(inertia, &to_body, motion.velocity.angular), 1.0)
    } else {
        // A rotating environment body has rows to measure its velocity, but impulses do not change it.
        let rotates = motion.velocity.angular != Vec3::ZERO;
        (if rotates { Mat3::IDENTITY } else { Mat3::ZERO }, motion.velocity.angular, 0.0)
    };
    let rows = to_spin.transpose();
    let frame = Frame {
        position: f4(pose.position, dynamic),
        axes,
        spin_rows: [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| f4(row, 0.0)),
        acceleration: F4::ZERO,
    };
    let velocity = f4(motion.velocity.linear, motion.inverse_mass);
    (frame, SweepBody { velocity, spin: f4(spin, 0.0) })
}

impl DeltaPose {
    /// Returns how far the center of mass moved, m.
    pub(crate) fn distance(&self) -> f64 {
        self.translation().length()
    }

    pub(crate) fn translation(&self) -> Vec3 {
        vec3(&self.translation)
    }

    /// Scales the displacement by a fraction.
    pub(crate) fn scale(&mut self, fraction: f64) {
        for field in [&mut self.translation, &mut self.rotation] {
            field.0.iter_mut().for_each(|value| *value *= fraction);
        }
    }

    /// Moves the body at its velocity for `time`.
    #[inline(always)]
    pub(crate) fn drift<L: Lanes>(&mut self, sweep_body: &SweepBody, time: f64) {
        let Self { translation, rotation } = self;
        let time = L::splat(time);
        (L::load(translation) + L::load(&sweep_body.velocity) * time).store(translation);
        (L::load(rotation) + L::load(&sweep_body.spin) * time).store(rotation);
    }
}

impl SweepBody {
    /// Applies the forces of a substep and, as a warm start, the impulses of the last substep again. `warm_start` holds
    /// the velocity change by these impulses in the `first` substep, and the velocity before impulses in later ones; it
    /// becomes the velocity before impulses of this substep.
    #[inline(always)]
    pub(crate) fn kick<L: Lanes>(
        &mut self,
        external_kick: &VelocityDelta,
        warm_start: &mut VelocityDelta,
        first: bool,
    ) {
        // The last entry of the velocity, the inverse mass, stays: that of forces is zero, and that of the warm start is
        // zero first and the same inverse mass later.
        let (v, w) = (L::load(&self.velocity), L::load(&self.spin));
        let (p, q) = (L::load(&warm_start.linear), L::load(&warm_start.angular));
        let (linear, angular) = if first { (p, q) } else { (v - p, w - q) };
        let v = v + L::load(&external_kick.linear);
        let w = w + L::load(&external_kick.angular);
        v.store(&mut warm_start.linear);
        w.store(&mut warm_start.angular);
        (v + linear).store(&mut self.velocity);
        (w + angular).store(&mut self.spin);
    }
}

/// The kernel that applies forces and warm start to the velocities of bodies.
pub(crate) struct Kick<'a> {
    awake: &'a [u32],
    bodies: SharedBodies<'a>,
    kicks: DisjointSlice<'a, VelocityDelta>,
    first: bool,
}

impl<'a> Kick<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses these bodies.
    pub(crate) unsafe fn new(
        awake: &'a [u32],
        bodies: SharedBodies<'a>,
        kicks: DisjointSlice<'a, VelocityDelta>,
        first: bool,
    ) -> Self {
        Self { awake, bodies, kicks, first }
    }
}

impl Kernel for Kick<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let bodies = self.bodies.same_length();
        let kicks = self.kicks.first(bodies.velocities.len());
        for &body in self.awake {
            let index = body as usize + 1;
            // SAFETY: the contract of `new`.
            unsafe {
                let warm_start = bodies.warm_starts.get_mut(index);
                let kick = kicks.get(index);
                bodies.velocities.get_mut(index).kick::<L>(kick, warm_start, self.first);
            }
        }
    }
}

/// The kernel that moves bodies by their velocities.
pub(crate) struct Drift<'a> {
    moving: &'a [u32],
    bodies: SharedBodies<'a>,
    time: f64,
}

impl<'a> Drift<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses these bodies.
    pub(crate) unsafe fn new(moving: &'a [u32], bodies: SharedBodies<'a>, time: f64) -> Self {
        Self { moving, bodies, time }
    }
}

impl Kernel for Drift<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let bodies = self.bodies.same_length();
        for &body in self.moving {
            let index = body as usize + 1;
            // SAFETY: the contract of `new`.
            unsafe {
                let sweep_body = bodies.velocities.get(index);
                bodies.delta_poses.get_mut(index).drift::<L>(sweep_body, self.time);
            }
        }
    }
}

/// The state of a body with joints and without contacts in a substep: its frame rotates with it.
pub(crate) struct RotatingBody<'a> {
    pub(crate) inertia: &'a Inertia,
    /// Pose at the start of the step.
    pub(crate) start: &'a Pose,
    /// Orientation in this substep.
    pub(crate) rotation: &'a mut Quat,
    pub(crate) frame: &'a mut Frame,
    pub(crate) sweep_body: &'a mut SweepBody,
    pub(crate) delta_pose: &'a mut DeltaPose,
    pub(crate) warm_start: &'a mut VelocityDelta,
    pub(crate) kick: &'a mut VelocityDelta,
}

impl RotatingBody<'_> {
    /// Rotates the body freely for `time`, and expresses its spin, forces and rotation in the new frame. The warm start
    /// is left without angular impulses: joints add theirs for their new arms. The `first` time, before the first substep, it
    /// holds the velocity change by impulses, later the velocity before them; and axes stay, from which joints take their
    /// arms at the start of the step.
    pub(crate) fn rotate(&mut self, time: f64, first: bool) {
        let Inertia { tensor, inverse, root, .. } = self.inertia;
        let angular = self.frame.angular(&self.sweep_body.spin);
        let before = Mat3::from_quat(*self.rotation);
        let (rotation, angular) =
            rotate_freely(*self.rotation, angular, tensor, inverse, false, time);
        *self.rotation = rotation;
        let axes = Mat3::from_quat(rotation);
        let to_body = axes.transpose();
        if !first {
            self.frame.set_axes(&axes);
        }
        let rows = (*root * to_body).transpose();
        self.frame.spin_rows = [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| f4(row, 0.0));
        let local = to_body * angular;
        let acceleration = axes * (*inverse * (*tensor * local).cross(local));
        self.frame.acceleration = f4(acceleration, 1.0);
        let new = spin(self.inertia, &to_body, angular);
        self.sweep_body.spin = f4(new, 0.0);
        self.warm_start.angular = if first { F4::ZERO } else { f4(new, 0.0) };
        let kick = vec3(&self.kick.angular);
        if kick != Vec3::ZERO {
            // An angular impulse is `R L` times the change of spin, and `L = I L^-T`.
            let impulse = before * (*tensor * (root.transpose() * kick));
            self.kick.angular = f4(*root * (to_body * impulse), 0.0);
        }
        let turn = rotation_vector(rotation * self.start.rotation.conjugate());
        let path = self.delta_pose.rotation.0[3] + angular.length() * time;
        self.delta_pose.rotation = f4(spin(self.inertia, &to_body, turn), path);
    }
}

/// Returns the vector along the axis of a rotation whose length is the angle, at most pi.
fn rotation_vector(rotation: Quat) -> Vec3 {
    let q = if rotation.w < 0.0 { -rotation } else { rotation };
    let sin = q.xyz().length();
    if sin == 0.0 {
        return Vec3::ZERO;
    }
    q.xyz() * (2.0 * libm::atan2(sin, q.w) / sin)
}

/// Writes the pose and velocity of a body after a step. Returns the angle by which it rotated, rad.
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
    if frame.rotates() {
        let axes = frame.rotation();
        let momentum = axes * (inertia.tensor * (axes.transpose() * spin));
        pose.rotation = rotate_by(pose.rotation, turned);
        motion.inverse_inertia = inertia.turned_inverse(pose);
        motion.velocity.angular = motion.inverse_inertia * momentum;
        return delta_pose.rotation.0[3];
    }
    let start = pose.rotation;
    pose.rotation = rotated(start, inertia, turned, dt);
    if inertia.isotropic {
        motion.velocity.angular = spin;
        return turned.length();
    }
    // Angular momentum is the one that contacts and forces left.
    let momentum = start * (inertia.tensor * (start.conjugate() * spin));
    motion.inverse_inertia = inertia.turned_inverse(pose);
    motion.velocity.angular = motion.inverse_inertia * momentum;
    turned.length()
}

/// Returns the orientation of a body that turned by `turned`, rad, in `time`. The mean angular velocity is taken as that
/// of a free rotation, whose axis precesses accordingly.
fn rotated(start: Quat, inertia: &Inertia, turned: Vec3, time: f64) -> Quat {
    if inertia.isotropic || inertia.mass == 0.0 {
        return rotate_by(start, turned);
    }
    let (tensor, inverse) = (&inertia.tensor, &inertia.inverse);
    let (rotation, _) = rotate_freely(start, turned / time, tensor, inverse, false, time);
    rotation
}

/// Returns the pose of a body `time` after the start of the step.
pub(crate) fn present_pose(
    start: &Pose,
    inertia: &Inertia,
    frame: &Frame,
    delta_pose: &DeltaPose,
    time: f64,
) -> Pose {
    let turned = frame.angular(&delta_pose.rotation);
    Pose {
        position: start.position + delta_pose.translation(),
        rotation: rotated(start.rotation, inertia, turned, time),
    }
}

/// Returns a rotation followed by the rotation vector `by`.
pub(crate) fn rotate_by(rotation: Quat, by: Vec3) -> Quat {
    if by == Vec3::ZERO {
        return rotation;
    }
    unit(exponential(by) * rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::{ContactPair, ExactContact, MotionBounds, NearEntry, PairEntry};
    use crate::constraints::contact_block::ContactBlock;
    use crate::constraints::solver_rows::SolverRows;

    /// The sizes that `docs/profile.md` states. Of the 1260 bytes of an exact contact, 48 are the moments of its impulse
    /// about both bodies, which change within a step.
    #[test]
    fn bodies_contacts_and_pairs_take_the_documented_memory() {
        let sweeps =
            size_of::<SweepBody>() + size_of::<DeltaPose>() + 2 * size_of::<VelocityDelta>();
        assert_eq!(sweeps + size_of::<Frame>() + size_of::<MotionBounds>(), 544);
        let (block, rows) = (size_of::<ContactBlock>() / 4, size_of::<SolverRows>() / 4);
        assert_eq!([block, rows, block + rows], [272, 752, 1024]);
        let pair = size_of::<ContactPair>() + size_of::<PairEntry>();
        let near = size_of::<ExactContact>() + size_of::<NearEntry>();
        assert_eq!([pair, near, pair + near + block], [408, 580, 1260]);
    }
}
