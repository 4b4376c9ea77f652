//! The preparation of contacts for a step: computes solver rows from manifold caches, and the warm start.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::contact_block::{ContactBlock, ManifoldCache, POINTS};
use super::lanes::{
    Frames, SharedBodies, Symmetric, Velocities, add_warm_start, along, angular_coupling, combine,
};
use super::solver_bodies::{Frame, SweepBody};
use super::solver_rows::SolverRows;
use crate::simd::{F4, Kernel, Lanes, Vec4, load3};

/// Minimum weight of a point in the center of friction.
const MIN_WEIGHT: f64 = 1e-6;

/// Second moment of points across the first tangent, relative to that along it, below which they count as collinear.
const LINE: f64 = 1e-9;

/// The kernel that prepares the blocks of one color.
pub(crate) struct Prepare<'a> {
    blocks: &'a mut [ContactBlock],
    rows: &'a mut [SolverRows],
    bodies: SharedBodies<'a>,
}

impl<'a> Prepare<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
    pub(crate) unsafe fn new(
        blocks: &'a mut [ContactBlock],
        rows: &'a mut [SolverRows],
        bodies: SharedBodies<'a>,
    ) -> Self {
        Self { blocks, rows, bodies }
    }
}

impl Kernel for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (block, rows) in self.blocks.iter_mut().zip(self.rows) {
            // SAFETY: the contract of `new`.
            unsafe { prepare::<L>(block, rows, &self.bodies) };
        }
    }
}

/// The kernel that prepares one contact, in the first lane of a block, for the rest of a step.
pub(crate) struct PrepareOne<'a> {
    pub(crate) block: &'a mut ContactBlock,
    pub(crate) rows: &'a mut SolverRows,
    /// The frames of its bodies at their present poses, and their velocities.
    pub(crate) frames: [Frame; 2],
    pub(crate) velocities: [SweepBody; 2],
}

impl Kernel for PrepareOne<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (no_frame, at_rest) = (&Frame::default(), &SweepBody::default());
        let ([fa, fb], [a, b]) = (&self.frames, &self.velocities);
        let fa = Frames::<L>::of([fa, no_frame, no_frame, no_frame]);
        let fb = Frames::<L>::of([fb, no_frame, no_frame, no_frame]);
        let a = Velocities::<L>::of([a, at_rest, at_rest, at_rest]);
        let b = Velocities::<L>::of([b, at_rest, at_rest, at_rest]);
        prepare_rows(self.block, self.rows, [&fa, &fb], [&a, &b]);
    }
}

/// Prepares a block for a step.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn prepare<L: Lanes>(
    block: &mut ContactBlock,
    rows: &mut SolverRows,
    bodies: &SharedBodies<'_>,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
    // SAFETY: the caller's contract.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    let [on_a, on_b] = prepare_rows(block, rows, [&fa, &fb], [&a, &b]);
    // SAFETY: the caller's contract.
    unsafe {
        add_warm_start(on_a.linear, on_a.turned, a.inverse_mass, bodies, ia);
        add_warm_start(on_b.linear, on_b.turned, b.inverse_mass, bodies, ib);
    }
}

/// The impulses on four bodies, and the changes of spin by them.
struct WarmStart<L> {
    linear: Vec4<L>,
    turned: Vec4<L>,
}

/// Prepares the rows of a block for bodies with these frames and velocities. Returns the stored impulses on both.
#[inline(always)]
fn prepare_rows<L: Lanes>(
    block: &mut ContactBlock,
    rows: &mut SolverRows,
    [fa, fb]: [&Frames<L>; 2],
    [a, b]: [&Velocities<L>; 2],
) -> [WarmStart<L>; 2] {
    block.kinematic = a.any_kinematic_rotation() || b.any_kinematic_rotation();
    let [l0, l1, l2, l3] = block.counts;
    let counts = L::load(&F4([f64::from(l0), f64::from(l1), f64::from(l2), f64::from(l3)]));
    let max_points = block.max_points as usize;
    counts.store(&mut rows.count);
    let old_friction = friction_vector::<L>(rows);
    let apart = fb.position - fa.position;
    let points = Points::place(rows, &block.cache, [fa, fb], apart, counts, max_points);
    let n = points.normal;
    let t = points.tangent(counts, max_points);
    let s = n.cross(t);
    n.store(&mut rows.normal);
    t.store(&mut rows.tangent);

    let none = Vec4::<L>::splat(0.0);
    let axes_a = [fa.spin_change(none - s), fa.spin_change(t), fa.spin_change(n)];
    let axes_b = [fb.spin_change(none - s), fb.spin_change(t), fb.spin_change(n)];
    for i in 0..3 {
        axes_a[i].store(&mut rows.axes_a[i]);
        axes_b[i].store(&mut rows.axes_b[i]);
    }
    let bodies_ab = Bodies {
        inverse_mass: a.inverse_mass + b.inverse_mass,
        dynamic: [fa.dynamic, fb.dynamic],
        axes: [axes_a, axes_b],
    };
    let far = points.centroid - apart;
    let centroid = [points.centroid.dot(t), points.centroid.dot(s), far.dot(t), far.dot(s)];
    for i in 0..4 {
        centroid[i].store(&mut rows.centroid[i]);
    }
    // Angular rows of the plane coordinates: `r x n` at the centroid, and about the two axes.
    let plane_a =
        [axes_a[0].scale(centroid[0]) + axes_a[1].scale(centroid[1]), axes_a[0], axes_a[1]];
    let plane_b =
        [axes_b[0].scale(centroid[2]) + axes_b[1].scale(centroid[3]), axes_b[0], axes_b[1]];
    let delassus = bodies_ab.plane_delassus(&plane_a, &plane_b);
    delassus.store(&mut rows.delassus);
    let rotation = along(&plane_b, b.w) - along(&plane_a, a.w);
    let u = Vec4::new(rotation.x + n.dot(b.v - a.v), rotation.y, rotation.z);
    let (warm, spread) = prepare_points(rows, &points, [t, s], u, counts, max_points);
    spread.store_inverses(&delassus, rows);
    let (friction, rows_a, rows_b) =
        bodies_ab.prepare_friction(rows, &points, [t, s], apart, counts, old_friction);

    let linear = n.scale(warm.x) + t.scale(friction.x) + s.scale(friction.y);
    let turned_a = combine(&plane_a, warm) + combine(&rows_a, friction);
    let turned_b = combine(&plane_b, warm) + combine(&rows_b, friction);
    [
        WarmStart { linear: none - linear, turned: none - turned_a },
        WarmStart { linear, turned: turned_b },
    ]
}

/// Returns the friction impulse of the last substep as a world vector, because the tangents change, and the part about
/// the normal.
#[inline(always)]
fn friction_vector<L: Lanes>(rows: &SolverRows) -> (Vec4<L>, L) {
    let n = Vec4::<L>::load(&rows.normal);
    let t = Vec4::<L>::load(&rows.tangent);
    let [p, q, twist] = load3::<L>(&rows.friction_impulse);
    (t.scale(p) + n.cross(t).scale(q), twist)
}

/// The points of four manifolds, from A's center of mass: one point for both bodies, midway between the surfaces.
struct Points<L> {
    normal: Vec4<L>,
    positions: [Vec4<L>; POINTS],
    centroid: Vec4<L>,
    /// Point where friction acts.
    friction_center: Vec4<L>,
    /// Mask of the manifolds that have points.
    any: L,
}

impl<L: Lanes> Points<L> {
    /// Computes the points from the cached anchors, and stores gaps and the share of each point.
    #[inline(always)]
    fn place(
        rows: &mut SolverRows,
        cache: &ManifoldCache,
        [fa, fb]: [&Frames<L>; 2],
        apart: Vec4<L>,
        counts: L,
        max_points: usize,
    ) -> Self {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let normal = fa.rotate(Vec4::load(&cache.local_normal));
        let inverse_near = one / L::load(&rows.touch_distance);
        let mut positions = [Vec4::<L>::splat(0.0); POINTS];
        let (mut centroid, mut friction_center, mut weight) =
            (Vec4::<L>::splat(0.0), Vec4::<L>::splat(0.0), zero);
        for j in 0..max_points {
            let in_use = counts.gt(L::splat(j as f64));
            let ra = fa.rotate(Vec4::load(&cache.anchors[j][0]));
            let rb = fb.rotate(Vec4::load(&cache.anchors[j][1]));
            let between = apart + rb - ra;
            let gap = between.dot(normal);
            gap.store(&mut rows.points[j].gap);
            let position = ra + between.scale(L::splat(0.5));
            positions[j] = position;
            centroid = centroid + position.scale(L::select(in_use, one, zero));
            // Friction acts where points touch; the weight of an open point decreases with its gap.
            let point_weight = (one - gap * inverse_near).max(L::splat(MIN_WEIGHT)).min(one);
            let point_weight = L::select(in_use, point_weight, zero);
            friction_center = friction_center + position.scale(point_weight);
            weight = weight + point_weight;
        }
        let any = weight.gt(zero);
        let share = L::select(any, one / counts, zero);
        let centroid = centroid.scale(share);
        let friction_center = friction_center.scale(L::select(any, one / weight, zero));
        // Exactly at a single point, which then has no lever arm.
        let friction_center = Vec4::select(counts.gt(one), friction_center, centroid);
        share.store(&mut rows.share);
        Self { normal, positions, centroid, friction_center, any }
    }

    /// Returns the unit tangent toward the point farthest from the centroid: collinear points then have one coordinate.
    #[inline(always)]
    fn tangent(&self, counts: L, max_points: usize) -> Vec4<L> {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut longest = zero;
        let mut direction = perpendicular(self.normal);
        for j in 0..max_points {
            let in_use = counts.gt(L::splat(j as f64));
            let off = tangential(self.positions[j] - self.centroid, self.normal);
            let length = L::select(in_use, off.dot(off), zero);
            let farther = length.gt(longest);
            longest = L::select(farther, length, longest);
            direction = Vec4::select(farther, off, direction);
        }
        direction.scale(one / direction.dot(direction).sqrt())
    }
}

/// The second moments of the points about their centroid, along the tangents, m^2.
struct Spread<L> {
    xx: L,
    xy: L,
    yy: L,
}

/// Stores coordinates, approach velocities and lever arms of the points. Returns the sum of their stored impulses in
/// plane coordinates, and their spread.
#[inline(always)]
fn prepare_points<L: Lanes>(
    rows: &mut SolverRows,
    points: &Points<L>,
    [t, s]: [Vec4<L>; 2],
    u: Vec4<L>,
    counts: L,
    max_points: usize,
) -> (Vec4<L>, Spread<L>) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (mut xx, mut xy, mut yy) = (zero, zero, zero);
    let mut warm = Vec4::<L>::splat(0.0);
    for j in 0..max_points {
        let point = &mut rows.points[j];
        let in_use = counts.gt(L::splat(j as f64));
        let off = points.positions[j] - points.centroid;
        let x = L::select(in_use, off.dot(t), zero);
        let y = L::select(in_use, off.dot(s), zero);
        x.store(&mut point.x);
        y.store(&mut point.y);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        let row = Vec4::new(one, x, y);
        L::select(in_use, u.dot(row), zero).store(&mut rows.approach[j]);
        zero.store(&mut point.total);
        let off = tangential(points.positions[j] - points.friction_center, points.normal);
        off.dot(off).sqrt().store(&mut point.lever);
        warm = warm + row.scale(L::load(&point.impulse));
    }
    (warm, Spread { xx, xy, yy })
}

impl<L: Lanes> Spread<L> {
    /// Stores the inverses of the Delassus matrix and of the spread. Rotations that do not move the points, because
    /// they are collinear or there is only one, have their rows left out.
    #[inline(always)]
    fn store_inverses(&self, delassus: &Symmetric<L>, rows: &mut SolverRows) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let (sxx, sxy, syy) = (self.xx, self.xy, self.yy);
        let has_x = L::select(sxx.gt(zero), one, zero);
        let has_y = L::select((sxx * L::splat(LINE)).gt(syy), zero, has_x);
        let (some_x, some_y) = (has_x.gt(zero), has_y.gt(zero));
        let [xx, xy, xz, yy, yz, zz] = delassus.entries;
        let reduced = Symmetric {
            entries: [
                xx,
                xy * has_x,
                xz * has_y,
                L::select(some_x, yy, one),
                yz * has_y,
                L::select(some_y, zz, one),
            ],
        };
        let [xx, xy, xz, yy, yz, zz] = reduced.inverse().entries;
        Symmetric { entries: [xx, xy * has_x, xz * has_y, yy * has_x, yz * has_y, zz * has_y] }
            .store(&mut rows.inverse);
        let determinant = one / (sxx * syy - sxy * sxy);
        let plain = L::select(some_x, one / sxx, zero);
        L::select(some_y, syy * determinant, plain).store(&mut rows.spread[0]);
        L::select(some_y, zero - sxy * determinant, zero).store(&mut rows.spread[1]);
        L::select(some_y, sxx * determinant, zero).store(&mut rows.spread[2]);
    }
}

/// The response of the two bodies of four contacts to impulses.
struct Bodies<L> {
    /// Sum of the inverse masses, 1/kg.
    inverse_mass: L,
    /// 1 for bodies that impulses rotate, else 0.
    dynamic: [L; 2],
    /// See [`SolverRows::axes_a`].
    axes: [[Vec4<L>; 3]; 2],
}

impl<L: Lanes> Bodies<L> {
    /// Returns the Delassus matrix of the plane coordinates.
    #[inline(always)]
    fn plane_delassus(&self, plane_a: &[Vec4<L>; 3], plane_b: &[Vec4<L>; 3]) -> Symmetric<L> {
        Symmetric {
            entries: [
                self.inverse_mass + angular_coupling(plane_a, plane_b, self.dynamic, 0, 0),
                angular_coupling(plane_a, plane_b, self.dynamic, 0, 1),
                angular_coupling(plane_a, plane_b, self.dynamic, 0, 2),
                angular_coupling(plane_a, plane_b, self.dynamic, 1, 1),
                angular_coupling(plane_a, plane_b, self.dynamic, 1, 2),
                angular_coupling(plane_a, plane_b, self.dynamic, 2, 2),
            ],
        }
    }

    /// Stores the friction rows, and the stored impulse along the new tangents. Returns that impulse and the angular
    /// rows of A and of B.
    #[inline(always)]
    fn prepare_friction(
        &self,
        rows: &mut SolverRows,
        points: &Points<L>,
        [t, s]: [Vec4<L>; 2],
        apart: Vec4<L>,
        counts: L,
        (old, twist): (Vec4<L>, L),
    ) -> (Vec4<L>, [Vec4<L>; 3], [Vec4<L>; 3]) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let n = points.normal;
        let (ra, rb) = (points.friction_center, points.friction_center - apart);
        let center = [ra.dot(t), ra.dot(s), ra.dot(n), rb.dot(t), rb.dot(s), rb.dot(n)];
        for i in 0..6 {
            center[i].store(&mut rows.friction_center[i]);
        }
        let [xa, ya, za, xb, yb, zb] = center;
        let rows_a = friction_rows(&self.axes[0], xa, ya, za);
        let rows_b = friction_rows(&self.axes[1], xb, yb, zb);
        let xx = self.inverse_mass + angular_coupling(&rows_a, &rows_b, self.dynamic, 0, 0);
        let xy = angular_coupling(&rows_a, &rows_b, self.dynamic, 0, 1);
        let yy = self.inverse_mass + angular_coupling(&rows_a, &rows_b, self.dynamic, 1, 1);
        let inverse = L::select(points.any, one / (xx * yy - xy * xy), zero);
        let about = angular_coupling(&rows_a, &rows_b, self.dynamic, 2, 2);
        let about = L::select(about.gt(zero), one / about, zero);
        (yy * inverse).store(&mut rows.friction_mass[0]);
        (zero - xy * inverse).store(&mut rows.friction_mass[1]);
        (xx * inverse).store(&mut rows.friction_mass[2]);
        // One point has no lever arm.
        L::select(counts.gt(one), about, zero).store(&mut rows.friction_mass[3]);
        let p = L::select(points.any, old.dot(t), zero);
        let q = L::select(points.any, old.dot(s), zero);
        let twist = L::select(counts.gt(one), twist, zero);
        p.store(&mut rows.friction_impulse[0]);
        q.store(&mut rows.friction_impulse[1]);
        twist.store(&mut rows.friction_impulse[2]);
        for i in 0..3 {
            zero.store(&mut rows.friction_total[i]);
        }
        (Vec4::new(p, q, twist), rows_a, rows_b)
    }
}

/// Returns the friction rows at `(x, y, z)` along tangents and normal: `r x t = z s - y n`, `r x s = x n - z t`, `n`.
#[inline(always)]
fn friction_rows<L: Lanes>(axes: &[Vec4<L>; 3], x: L, y: L, z: L) -> [Vec4<L>; 3] {
    let none = Vec4::<L>::splat(0.0);
    [none - axes[0].scale(z) - axes[2].scale(y), axes[2].scale(x) - axes[1].scale(z), axes[2]]
}

/// Returns the component of a vector perpendicular to a unit vector.
#[inline(always)]
fn tangential<L: Lanes>(v: Vec4<L>, n: Vec4<L>) -> Vec4<L> {
    v - n.scale(v.dot(n))
}

/// Returns a vector perpendicular to a unit vector.
#[inline(always)]
fn perpendicular<L: Lanes>(n: Vec4<L>) -> Vec4<L> {
    let zero = L::splat(0.0);
    let steep = L::splat(0.25).gt(n.x * n.x + n.y * n.y);
    let there = Vec4::select(steep, Vec4::new(n.z, zero, -n.x), Vec4::new(-n.y, n.x, zero));
    // An empty lane has no normal: any direction will do.
    let some = there.dot(there).gt(zero);
    Vec4::new(L::select(some, there.x, L::splat(1.0)), there.y, there.z)
}
