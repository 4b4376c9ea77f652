//! The lane-wise access of the kernels to bodies, four at a time, and the small matrix operations on lanes.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::solver_bodies::{DeltaPose, Frame, SweepBody, VelocityDelta};
use crate::simd::{F4, Lanes, Vec4};
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
pub(super) use gather;

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
        // SAFETY: the caller's contract.
        Self::of(index.map(|body| unsafe { bodies.velocities.get(body as usize) }))
    }

    /// Returns the velocities of four bodies.
    #[inline(always)]
    pub(crate) fn of([a, b, c, d]: [&SweepBody; 4]) -> Self {
        let [x, y, z, inverse_mass] =
            L::transpose([&a.velocity, &b.velocity, &c.velocity, &d.velocity]);
        let [p, q, r, _] = L::transpose([&a.spin, &b.spin, &c.spin, &d.spin]);
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
        // SAFETY: the caller's contract.
        Self::of(index.map(|body| unsafe { bodies.frames.get(body as usize) }))
    }

    /// Returns the frames of four bodies.
    #[inline(always)]
    pub(crate) fn of([a, b, c, d]: [&Frame; 4]) -> Self {
        let [x, y, z, dynamic] = L::transpose([&a.position, &b.position, &c.position, &d.position]);
        let mut axes = [Vec4::splat(0.0); 3];
        let mut spin_rows = axes;
        for i in 0..3 {
            let [x, y, z, _] = L::transpose([&a.axes[i], &b.axes[i], &c.axes[i], &d.axes[i]]);
            axes[i] = Vec4::new(x, y, z);
            let [x, y, z, _] =
                L::transpose([&a.spin_rows[i], &b.spin_rows[i], &c.spin_rows[i], &d.spin_rows[i]]);
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
