//! The angular rows of joints in lanes: how bodies turn by impulses at the end of an arm, and how arms turn with their bodies.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::lanes::{SharedBodies, Symmetric, along, combine, gather};
use crate::simd::{F4, Lanes, V4, Vec4};

/// How four bodies turn by impulses on them: `T`, see [`Frame::spin_rows`](super::solver_bodies::Frame::spin_rows).
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
    /// See [`Frame::acceleration`](super::solver_bodies::Frame::acceleration).
    acceleration: Vec4<L>,
    /// 0 for bodies whose frame rotates with them, else 1.
    fixed_frame: L,
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
        Self { spin_rows, acceleration: Vec4::new(p, q, r), fixed_frame: L::splat(1.0) - rotates }
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
        spin.scale(self.fixed_frame)
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
