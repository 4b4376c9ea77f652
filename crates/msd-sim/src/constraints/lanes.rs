//! The lane-wise access of the kernels to bodies, four at a time, and the small matrix operations on lanes.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::solver_bodies::{DeltaPose, Frame, SweepBody, VelocityDelta};
use crate::simd::{F4, Lanes, V4, Vec4};
use crate::threads::DisjointSlice;

/// The state of all bodies in a step, by body + 1; entry 0 is the dummy body of empty lanes.
///
/// The blocks of one color read and write it on all threads at once. This is sound because, while a color is processed,
///
/// - at most one worker accesses an inertial body that is awake: no such body is in two blocks of a color, except of
///   the overflow color, whose blocks all belong to the first worker;
/// - environment bodies, sleeping bodies and the dummy have no inverse mass, and are only read;
/// - barriers separate one color from the next, and colors from the phases in which workers kick and drift their
///   bodies.
///
/// Functions that rely on it are `unsafe`, and their callers guarantee it; [`ConstraintGraph::check_colors`] verifies
/// the coloring in debug builds.
///
/// [`ConstraintGraph::check_colors`]: super::graph::ConstraintGraph::check_colors
#[derive(Clone, Copy)]
pub(crate) struct SharedBodies<'a> {
    pub(crate) velocities: DisjointSlice<'a, SweepBody>,
    pub(crate) frames: DisjointSlice<'a, Frame>,
    pub(crate) delta_poses: DisjointSlice<'a, DeltaPose>,
    pub(crate) warm_starts: DisjointSlice<'a, VelocityDelta>,
}

impl SharedBodies<'_> {
    /// Returns the same arrays, of which the compiler knows that all have the same length: one bounds check per body.
    #[inline(always)]
    pub(crate) fn same_length(&self) -> Self {
        let length = self.velocities.len();
        Self {
            velocities: self.velocities,
            frames: self.frames.first(length),
            delta_poses: self.delta_poses.first(length),
            warm_starts: self.warm_starts.first(length),
        }
    }
}

/// Reads one field of four bodies.
macro_rules! gather {
    ($from:expr, $index:expr, $($field:tt)+) => {{
        let index = $index;
        // SAFETY: the caller guarantees that no other worker writes these bodies.
        let rows = unsafe {
            [
                &$from.get(index[0] as usize).$($field)+,
                &$from.get(index[1] as usize).$($field)+,
                &$from.get(index[2] as usize).$($field)+,
                &$from.get(index[3] as usize).$($field)+,
            ]
        };
        L::transpose(rows)
    }};
}

/// The velocities and inverse masses of four bodies.
#[derive(Clone, Copy)]
pub(crate) struct Velocities<L> {
    /// Linear velocity, m/s.
    pub(crate) v: Vec4<L>,
    /// Spin: see [`SweepBody::spin`].
    pub(crate) w: Vec4<L>,
    /// 1/kg; zero for bodies that impulses do not move.
    pub(crate) inverse_mass: L,
}

impl<L: Lanes> Velocities<L> {
    /// Reads the velocities of four bodies.
    ///
    /// # Safety
    /// No other worker writes these bodies: see [`SharedBodies`].
    #[inline(always)]
    pub(crate) unsafe fn load(bodies: &SharedBodies<'_>, index: [u32; 4]) -> Self {
        let [x, y, z, inverse_mass] = gather!(bodies.velocities, index, velocity);
        let [p, q, r, _] = gather!(bodies.velocities, index, spin);
        Self { v: Vec4::new(x, y, z), w: Vec4::new(p, q, r), inverse_mass }
    }

    /// Writes the velocities of the bodies that impulses move.
    ///
    /// # Safety
    /// No other worker reads or writes the inertial bodies among them: see [`SharedBodies`].
    #[inline(always)]
    pub(crate) unsafe fn store(self, bodies: &SharedBodies<'_>, index: [u32; 4]) {
        let velocity = L::rows([self.v.x, self.v.y, self.v.z, self.inverse_mass]);
        let spin = L::rows([self.w.x, self.w.y, self.w.z, L::splat(0.0)]);
        for lane in 0..4 {
            // Environment bodies are never written: several lanes may share them.
            if velocity[lane].0[3] > 0.0 {
                // SAFETY: the caller guarantees that no other worker accesses this body.
                let body = unsafe { bodies.velocities.get_mut(index[lane] as usize) };
                body.velocity = velocity[lane];
                body.spin = spin[lane];
            }
        }
    }

    /// Writes the velocities of four bodies that impulses move.
    ///
    /// # Safety
    /// No other worker reads or writes these bodies, and none of them is fixed: see [`SharedBodies`].
    #[inline(always)]
    pub(crate) unsafe fn store_moved(self, bodies: &SharedBodies<'_>, index: [u32; 4]) {
        let velocity = L::transposed([self.v.x, self.v.y, self.v.z, self.inverse_mass]);
        let spin = L::transposed([self.w.x, self.w.y, self.w.z, L::splat(0.0)]);
        for lane in 0..4 {
            // SAFETY: the caller guarantees that no other worker accesses this body.
            let body = unsafe { bodies.velocities.get_mut(index[lane] as usize) };
            velocity[lane].store(&mut body.velocity);
            spin[lane].store(&mut body.spin);
        }
    }

    /// Returns whether impulses do not move one of the bodies.
    #[inline(always)]
    pub(crate) fn any_fixed(&self) -> bool {
        let zero = L::splat(0.0);
        L::select(self.inverse_mass.gt(zero), zero, L::splat(-1.0)).any()
    }

    /// Returns whether one of the bodies rotates but is not moved by impulses.
    #[inline(always)]
    pub(crate) fn any_kinematic_rotation(&self) -> bool {
        let zero = L::splat(0.0);
        L::select(self.inverse_mass.gt(zero), zero, self.w.dot(self.w).gt(zero)).any()
    }

    /// Returns 1 for bodies that impulses move, else 0.
    #[inline(always)]
    pub(crate) fn dynamic(&self) -> L {
        let zero = L::splat(0.0);
        L::select(self.inverse_mass.gt(zero), L::splat(1.0), zero)
    }

    /// Returns the impulses that act on spins. With `KINEMATIC`, they are zero for bodies that impulses do not move;
    /// without it, the angular rows of such bodies are zero already.
    #[inline(always)]
    pub(crate) fn angular_part<const KINEMATIC: bool>(&self, impulse: Vec4<L>) -> Vec4<L> {
        if KINEMATIC {
            let none = Vec4::splat(0.0);
            Vec4::select(self.inverse_mass.gt(L::splat(0.0)), impulse, none)
        } else {
            impulse
        }
    }
}

/// The displacements of four bodies since the start of the step.
#[derive(Clone, Copy)]
pub(crate) struct DeltaPoses<L> {
    /// Translation, m.
    pub(crate) p: Vec4<L>,
    /// Rotation, in the coordinates of spins.
    pub(crate) t: Vec4<L>,
}

impl<L: Lanes> DeltaPoses<L> {
    /// Reads the displacements of four bodies.
    ///
    /// # Safety
    /// No other worker writes these bodies: see [`SharedBodies`].
    #[inline(always)]
    pub(crate) unsafe fn load(bodies: &SharedBodies<'_>, index: [u32; 4]) -> Self {
        let [x, y, z, _] = gather!(bodies.delta_poses, index, translation);
        let [p, q, r, _] = gather!(bodies.delta_poses, index, rotation);
        Self { p: Vec4::new(x, y, z), t: Vec4::new(p, q, r) }
    }
}

/// The frames of four bodies: see [`Frame`].
pub(crate) struct Frames<L> {
    pub(crate) position: Vec4<L>,
    axes: [Vec4<L>; 3],
    spin_rows: [Vec4<L>; 3],
    /// 1 for bodies that impulses rotate, else 0.
    pub(crate) dynamic: L,
}

impl<L: Lanes> Frames<L> {
    /// Reads the frames of four bodies.
    ///
    /// # Safety
    /// No other worker writes these bodies: see [`SharedBodies`].
    #[inline(always)]
    pub(crate) unsafe fn load(bodies: &SharedBodies<'_>, index: [u32; 4]) -> Self {
        let frames = &bodies.frames;
        let [x, y, z, dynamic] = gather!(frames, index, position);
        let mut axes = [Vec4::splat(0.0); 3];
        let mut spin_rows = axes;
        for i in 0..3 {
            let [x, y, z, _] = gather!(frames, index, axes[i]);
            axes[i] = Vec4::new(x, y, z);
            let [x, y, z, _] = gather!(frames, index, spin_rows[i]);
            spin_rows[i] = Vec4::new(x, y, z);
        }
        Self { position: Vec4::new(x, y, z), axes, spin_rows, dynamic }
    }

    /// Rotates a vector from the body's axes to the world's.
    #[inline(always)]
    pub(crate) fn rotate(&self, v: Vec4<L>) -> Vec4<L> {
        self.axes[0].scale(v.x) + self.axes[1].scale(v.y) + self.axes[2].scale(v.z)
    }

    /// Returns the change of spin, `T v`, by an angular impulse `v`.
    #[inline(always)]
    pub(crate) fn spin_change(&self, v: Vec4<L>) -> Vec4<L> {
        along(&self.spin_rows, v)
    }

    /// Returns `T` as a multiple of the identity, and whether it is one for all four bodies.
    #[inline(always)]
    pub(crate) fn spin_scale(&self) -> (L, bool) {
        let [x, y, z] = self.spin_rows;
        let (p, q) = (y.y - x.x, z.z - x.x);
        let off = x.y * x.y + x.z * x.z + y.x * y.x + y.z * y.z + z.x * z.x + z.y * z.y;
        (x.x, !(off + p * p + q * q).gt(L::splat(0.0)).any())
    }
}

/// How four bodies turn by impulses on them: `T`, see [`Frame::spin_rows`].
pub(crate) trait Turns<L: Lanes>: Sized {
    /// The angular rows along the world's axes at the end of an arm `r`: `T (r x p)` is the change of spin by an impulse
    /// `p` there.
    type Rows: Rows<L>;

    /// Reads it for four bodies, or takes the multiples of the identity that they are.
    ///
    /// # Safety
    /// No other worker writes these bodies: see [`SharedBodies`].
    unsafe fn load(bodies: &SharedBodies<'_>, index: [u32; 4], scale: &F4) -> Self;
    /// Returns the angular velocity `T^T w'` in the world frame of a spin `w'`.
    fn angular(&self, spin: Vec4<L>) -> Vec4<L>;
    /// Returns the change of spin, `T v`, by an angular impulse `v`.
    fn spin_change(&self, v: Vec4<L>) -> Vec4<L>;
    fn rows(&self, arm: Vec4<L>) -> Self::Rows;
    /// Returns the velocity of the end of an arm by the angular acceleration of the free rotation for a unit time.
    fn free_acceleration(&self, arm: Vec4<L>) -> Vec4<L>;
    /// Returns the part of a spin, due to impulses, that a body keeps when it moves on to the next substep: none if its
    /// frame rotates.
    fn kept(&self, spin: Vec4<L>) -> Vec4<L>;
}

/// Three angular rows, along the world's axes.
pub(crate) trait Rows<L: Lanes>: Copy {
    /// Reads the rows of side A or B of four joints.
    fn load(from: &[[V4; 2]; 3], side: usize) -> Self;
    fn store(&self, to: &mut [[V4; 2]; 3], side: usize);
    /// Returns the velocities along the rows due to a spin.
    fn along(&self, spin: Vec4<L>) -> Vec4<L>;
    /// Returns the change of spin by impulses along the rows.
    fn combine(&self, by: Vec4<L>) -> Vec4<L>;
    /// Returns the velocities along the rows per unit impulse along them.
    fn coupling(&self) -> Symmetric<L>;
}

/// The turning of bodies of any inertia.
pub(crate) struct AnyTurns<L> {
    spin_rows: [Vec4<L>; 3],
    /// See [`Frame::acceleration`].
    acceleration: Vec4<L>,
    /// 0 for bodies whose frame rotates with them, else 1.
    keeps_spin: L,
}

impl<L: Lanes> Turns<L> for AnyTurns<L> {
    type Rows = [Vec4<L>; 3];

    #[inline(always)]
    unsafe fn load(bodies: &SharedBodies<'_>, index: [u32; 4], _: &F4) -> Self {
        let mut spin_rows = [Vec4::splat(0.0); 3];
        for i in 0..3 {
            let [x, y, z, _] = gather!(bodies.frames, index, spin_rows[i]);
            spin_rows[i] = Vec4::new(x, y, z);
        }
        let [p, q, r, rotates] = gather!(bodies.frames, index, acceleration);
        Self { spin_rows, acceleration: Vec4::new(p, q, r), keeps_spin: L::splat(1.0) - rotates }
    }

    #[inline(always)]
    fn angular(&self, spin: Vec4<L>) -> Vec4<L> {
        combine(&self.spin_rows, spin)
    }

    #[inline(always)]
    fn spin_change(&self, v: Vec4<L>) -> Vec4<L> {
        along(&self.spin_rows, v)
    }

    #[inline(always)]
    fn rows(&self, arm: Vec4<L>) -> [Vec4<L>; 3] {
        let zero = L::splat(0.0);
        [
            self.spin_change(Vec4::new(zero, arm.z, -arm.y)),
            self.spin_change(Vec4::new(-arm.z, zero, arm.x)),
            self.spin_change(Vec4::new(arm.y, -arm.x, zero)),
        ]
    }

    #[inline(always)]
    fn free_acceleration(&self, arm: Vec4<L>) -> Vec4<L> {
        self.acceleration.cross(arm)
    }

    #[inline(always)]
    fn kept(&self, spin: Vec4<L>) -> Vec4<L> {
        spin.scale(self.keeps_spin)
    }
}

impl<L: Lanes> Rows<L> for [Vec4<L>; 3] {
    #[inline(always)]
    fn load(from: &[[V4; 2]; 3], side: usize) -> Self {
        [Vec4::load(&from[0][side]), Vec4::load(&from[1][side]), Vec4::load(&from[2][side])]
    }

    #[inline(always)]
    fn store(&self, to: &mut [[V4; 2]; 3], side: usize) {
        for i in 0..3 {
            self[i].store(&mut to[i][side]);
        }
    }

    #[inline(always)]
    fn along(&self, spin: Vec4<L>) -> Vec4<L> {
        along(self, spin)
    }

    #[inline(always)]
    fn combine(&self, by: Vec4<L>) -> Vec4<L> {
        combine(self, by)
    }

    #[inline(always)]
    fn coupling(&self) -> Symmetric<L> {
        let [x, y, z] = *self;
        Symmetric { entries: [x.dot(x), x.dot(y), x.dot(z), y.dot(y), y.dot(z), z.dot(z)] }
    }
}

/// The turning of bodies whose `T` is a multiple of the identity.
pub(crate) struct RoundTurns<L> {
    scale: L,
}

impl<L: Lanes> Turns<L> for RoundTurns<L> {
    type Rows = RoundRows<L>;

    #[inline(always)]
    unsafe fn load(_: &SharedBodies<'_>, _: [u32; 4], scale: &F4) -> Self {
        Self { scale: L::load(scale) }
    }

    #[inline(always)]
    fn angular(&self, spin: Vec4<L>) -> Vec4<L> {
        spin.scale(self.scale)
    }

    #[inline(always)]
    fn spin_change(&self, v: Vec4<L>) -> Vec4<L> {
        v.scale(self.scale)
    }

    #[inline(always)]
    fn rows(&self, arm: Vec4<L>) -> RoundRows<L> {
        RoundRows(arm.scale(self.scale))
    }

    #[inline(always)]
    fn free_acceleration(&self, _: Vec4<L>) -> Vec4<L> {
        Vec4::splat(0.0)
    }

    #[inline(always)]
    fn kept(&self, spin: Vec4<L>) -> Vec4<L> {
        spin
    }
}

/// The angular rows of [`RoundTurns`]: `T r`, of which all three follow.
#[derive(Clone, Copy)]
pub(crate) struct RoundRows<L>(Vec4<L>);

impl<L: Lanes> Rows<L> for RoundRows<L> {
    #[inline(always)]
    fn load(from: &[[V4; 2]; 3], side: usize) -> Self {
        Self(Vec4::load(&from[0][side]))
    }

    #[inline(always)]
    fn store(&self, to: &mut [[V4; 2]; 3], side: usize) {
        self.0.store(&mut to[0][side]);
    }

    #[inline(always)]
    fn along(&self, spin: Vec4<L>) -> Vec4<L> {
        spin.cross(self.0)
    }

    #[inline(always)]
    fn combine(&self, by: Vec4<L>) -> Vec4<L> {
        self.0.cross(by)
    }

    #[inline(always)]
    fn coupling(&self) -> Symmetric<L> {
        let Vec4 { x, y, z } = self.0;
        let (xx, yy, zz) = (x * x, y * y, z * z);
        Symmetric { entries: [yy + zz, -(x * y), -(x * z), xx + zz, -(y * z), xx + yy] }
    }
}

/// Square of half the angle, rad^2, up to which [`rotated`] needs no sine.
const SMALL_ANGLE: f64 = 0.0625;

/// The Taylor series of `sin(t) / t` in `-t^2`: 1/3!, 1/5!, ..., with an error below 1e-17 for small angles.
const SINC: [f64; 5] = [1.0 / 6.0, 1.0 / 120.0, 1.0 / 5_040.0, 1.0 / 362_880.0, 1.0 / 39_916_800.0];

/// Rotates four vectors by rotation vectors.
#[inline(always)]
pub(crate) fn rotated<L: Lanes>(by: Vec4<L>, v: Vec4<L>) -> Vec4<L> {
    let half = by.scale(L::splat(0.5));
    let y = half.dot(half);
    let mut sum = L::splat(SINC[4]);
    for k in 1..5 {
        sum = L::splat(SINC[4 - k]) - y * sum;
    }
    // The quaternion of the rotation.
    let sinc = L::splat(1.0) - y * sum;
    let mut q = half.scale(sinc);
    let mut cos = (L::splat(1.0) - q.dot(q)).sqrt();
    if y.gt(L::splat(SMALL_ANGLE)).any() {
        let mut lanes = [F4::ZERO; 3];
        y.store(&mut lanes[0]);
        sinc.store(&mut lanes[1]);
        cos.store(&mut lanes[2]);
        replace_large_angles(&mut lanes);
        (q, cos) = (half.scale(L::load(&lanes[1])), L::load(&lanes[2]));
    }
    let across = q.cross(v);
    let across = across + across;
    v + across.scale(cos) + q.cross(across)
}

/// Computes the factors of [`rotated`] where angles are not small: from `t^2`, `sin(t) / t` and `cos(t)`.
#[cold]
#[inline(never)]
fn replace_large_angles([y, sinc, cos]: &mut [F4; 3]) {
    for lane in 0..4 {
        if y.0[lane] > SMALL_ANGLE {
            let angle = y.0[lane].sqrt();
            let sin;
            (sin, cos.0[lane]) = libm::sincos(angle);
            sinc.0[lane] = sin / angle;
        }
    }
}

/// Adds impulses to the warm start of four bodies.
///
/// # Safety
/// No other worker reads or writes the inertial bodies among them: see [`SharedBodies`].
#[inline(always)]
pub(crate) unsafe fn add_warm_start<L: Lanes>(
    linear: Vec4<L>,
    angular: Vec4<L>,
    inverse_mass: L,
    bodies: &SharedBodies<'_>,
    index: [u32; 4],
) {
    let v = linear.scale(inverse_mass);
    let zero = L::splat(0.0);
    let linear = L::transposed([v.x, v.y, v.z, zero]);
    let angular = L::transposed([angular.x, angular.y, angular.z, zero]);
    let mut masses = F4::ZERO;
    inverse_mass.store(&mut masses);
    for lane in 0..4 {
        if masses.0[lane] > 0.0 {
            // SAFETY: the caller guarantees that no other worker accesses this body.
            let warm_start = unsafe { bodies.warm_starts.get_mut(index[lane] as usize) };
            (L::load(&warm_start.linear) + linear[lane]).store(&mut warm_start.linear);
            (L::load(&warm_start.angular) + angular[lane]).store(&mut warm_start.angular);
        }
    }
}

/// Adds angular impulses to the warm start of four bodies, all of which impulses move unless they may be `FIXED`.
///
/// # Safety
/// No other worker reads or writes the inertial bodies among them: see [`SharedBodies`].
#[inline(always)]
pub(crate) unsafe fn add_warm_spin<L: Lanes, const FIXED: bool>(
    angular: Vec4<L>,
    inverse_mass: L,
    bodies: &SharedBodies<'_>,
    index: [u32; 4],
) {
    let angular = L::transposed([angular.x, angular.y, angular.z, L::splat(0.0)]);
    let mut masses = F4::ZERO;
    if FIXED {
        inverse_mass.store(&mut masses);
    }
    for lane in 0..4 {
        if !FIXED || masses.0[lane] > 0.0 {
            // SAFETY: the caller guarantees that no other worker accesses this body.
            let warm_start = unsafe { bodies.warm_starts.get_mut(index[lane] as usize) };
            (L::load(&warm_start.angular) + angular[lane]).store(&mut warm_start.angular);
        }
    }
}

/// Returns the velocity along row `i` per unit impulse along row `j`, through the rotation of both bodies.
#[inline(always)]
pub(crate) fn angular_coupling<L: Lanes>(
    a: &[Vec4<L>; 3],
    b: &[Vec4<L>; 3],
    dynamic: [L; 2],
    i: usize,
    j: usize,
) -> L {
    a[i].dot(a[j]) * dynamic[0] + b[i].dot(b[j]) * dynamic[1]
}

/// Returns the change of spin by impulses along three rows.
#[inline(always)]
pub(crate) fn combine<L: Lanes>(rows: &[Vec4<L>; 3], by: Vec4<L>) -> Vec4<L> {
    rows[0].scale(by.x) + rows[1].scale(by.y) + rows[2].scale(by.z)
}

/// Returns the velocities along three rows due to a spin.
#[inline(always)]
pub(crate) fn along<L: Lanes>(rows: &[Vec4<L>; 3], w: Vec4<L>) -> Vec4<L> {
    Vec4::new(rows[0].dot(w), rows[1].dot(w), rows[2].dot(w))
}

/// A symmetric 3 by 3 matrix.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric<L> {
    /// xx, xy, xz, yy, yz, zz.
    pub(crate) entries: [L; 6],
}

impl<L: Lanes> Symmetric<L> {
    #[inline(always)]
    pub(crate) fn load(from: &[F4; 6]) -> Self {
        let [a, b, c, d, e, f] = from;
        Self { entries: [L::load(a), L::load(b), L::load(c), L::load(d), L::load(e), L::load(f)] }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut [F4; 6]) {
        for i in 0..6 {
            self.entries[i].store(&mut to[i]);
        }
    }

    /// Returns the sum of both and of `diagonal` times the identity.
    #[inline(always)]
    pub(crate) fn sum(&self, other: &Self, diagonal: L) -> Self {
        let (p, q) = (&self.entries, &other.entries);
        Self {
            entries: [
                diagonal + (p[0] + q[0]),
                p[1] + q[1],
                p[2] + q[2],
                diagonal + (p[3] + q[3]),
                p[4] + q[4],
                diagonal + (p[5] + q[5]),
            ],
        }
    }

    #[inline(always)]
    pub(crate) fn scale(&self, by: L) -> Self {
        let [a, b, c, d, e, f] = self.entries;
        Self { entries: [a * by, b * by, c * by, d * by, e * by, f * by] }
    }

    /// Returns the product with a vector.
    #[inline(always)]
    pub(crate) fn times(&self, v: Vec4<L>) -> Vec4<L> {
        let [xx, xy, xz, yy, yz, zz] = self.entries;
        Vec4::new(
            xx * v.x + xy * v.y + xz * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            xz * v.x + yz * v.y + zz * v.z,
        )
    }

    /// Returns the inverse; zero where the determinant is not positive.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Self {
        let [xx, xy, xz, yy, yz, zz] = self.entries;
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let cofactors = [
            yy * zz - yz * yz,
            xz * yz - xy * zz,
            xy * yz - xz * yy,
            xx * zz - xz * xz,
            xy * xz - xx * yz,
            xx * yy - xy * xy,
        ];
        let determinant = xx * cofactors[0] + xy * cofactors[1] + xz * cofactors[2];
        let inverse = L::select(determinant.gt(zero), one / determinant, zero);
        Self { entries: cofactors }.scale(inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::solver_bodies::rotate_by;
    use crate::math::{Quat, Vec3};
    use crate::simd::{self, Kernel};

    /// Rotates one vector by four rotation vectors.
    struct Turned([Vec3; 4], Vec3);

    impl Kernel for Turned {
        type Output = [[f64; 4]; 3];

        #[inline(always)]
        fn run<L: Lanes>(self) -> [[f64; 4]; 3] {
            let Self(by, v) = self;
            let lane = |pick: fn(Vec3) -> f64| L::load(&F4(by.map(pick)));
            let by = Vec4::new(lane(|v| v.x), lane(|v| v.y), lane(|v| v.z));
            let v = Vec4::new(L::splat(v.x), L::splat(v.y), L::splat(v.z));
            let mut found = [F4::ZERO; 3];
            rotated(by, v).store(&mut found);
            found.map(|row| row.0)
        }
    }

    #[test]
    fn vectors_are_rotated_as_by_quaternions_through_any_angle() {
        let (axis, v) = (Vec3::new(0.48, -0.6, 0.64), Vec3::new(0.3, 2.0, -1.0));
        // Small angles, the largest small one, large ones, and mixtures of both.
        for angles in [[0.0, 1e-9, 0.1, 0.3], [0.4999, 0.5001, 0.7, 0.2], [1.7, 3.1, 4.0, 40.0]] {
            let by = angles.map(|angle| axis * angle);
            let [wide, plain] = [true, false].map(|wide| simd::run(wide, Turned(by, v)));
            assert_eq!(wide, plain);
            for lane in 0..4 {
                let found = Vec3::new(wide[0][lane], wide[1][lane], wide[2][lane]);
                let exact = rotate_by(Quat::IDENTITY, by[lane]) * v;
                let off = (found - exact).length();
                assert!(off < 1e-14, "{off} at {}", angles[lane]);
            }
        }
    }
}
