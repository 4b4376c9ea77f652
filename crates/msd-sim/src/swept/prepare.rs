//! The rows of a step's contacts, from what is known of them.
// Written out for wide lanes: iterators over a few of them are not compiled with their caller.
#![allow(clippy::needless_range_loop)]

use super::contact_block::{ContactBlock, POINTS};
use super::lanes::{Frames, Movers, Symmetric, along, combine, couple, give};
use super::sweep_bodies::{Frame, SweepBody, VelocityDelta};
use crate::simd::{F4, Kernel, Lanes, Vec4, load3};
use crate::threads::DisjointSlice;

/// The least part that a point has in where friction acts.
const LEAST_PART: f64 = 1e-6;

/// Points whose spread across the tangent is less than this, relative to that along it, lie on a line.
const LINE: f64 = 1e-9;

/// Makes the rows, and sums up the impulses that are remembered.
pub(crate) struct Prepare<'a> {
    pub(crate) blocks: &'a mut [ContactBlock],
    pub(crate) sweep_bodies: DisjointSlice<'a, SweepBody>,
    pub(crate) frames: DisjointSlice<'a, Frame>,
    pub(crate) warm_starts: DisjointSlice<'a, VelocityDelta>,
}

impl Kernel for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for block in self.blocks {
            prepare::<L>(block, &self.sweep_bodies, &self.frames, &self.warm_starts);
        }
    }
}

#[inline(always)]
fn prepare<L: Lanes>(
    block: &mut ContactBlock,
    sweep_bodies: &DisjointSlice<'_, SweepBody>,
    frames: &DisjointSlice<'_, Frame>,
    warm_starts: &DisjointSlice<'_, VelocityDelta>,
) {
    let [ia, ib] = block.bodies;
    let (fa, fb) = (Frames::<L>::load(frames, ia), Frames::<L>::load(frames, ib));
    let (a, b) = (Movers::<L>::load(sweep_bodies, ia), Movers::<L>::load(sweep_bodies, ib));
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    block.kinematic = a.turns() || b.turns();
    let [l0, l1, l2, l3] = block.counts;
    let counts = L::load(&F4([f64::from(l0), f64::from(l1), f64::from(l2), f64::from(l3)]));
    let max_points = block.max_points as usize;
    let (rows, cache) = (&mut block.rows, &mut block.cache);
    counts.store(&mut rows.count);
    // What friction gave, as a vector, before its directions change.
    let n = Vec4::<L>::load(&rows.normal);
    let t = Vec4::<L>::load(&rows.tangent);
    let [p, q, twist] = load3::<L>(&rows.friction_impulse);
    let friction_vector = t.scale(p) + n.cross(t).scale(q);

    let n = fa.rotate(Vec4::load(&cache.local_normal));
    let apart = fb.position - fa.position;
    let inverse_near = one / L::load(&cache.touch_distance);
    // Where the points are, from A's centre: one place for both bodies, midway between the surfaces.
    let mut places = [Vec4::<L>::splat(0.0); POINTS];
    let (mut centroid, mut friction_center, mut weight) =
        (Vec4::<L>::splat(0.0), Vec4::<L>::splat(0.0), zero);
    for j in 0..max_points {
        let in_use = counts.gt(L::splat(j as f64));
        let ra = fa.rotate(Vec4::load(&cache.anchors[j][0]));
        let rb = fb.rotate(Vec4::load(&cache.anchors[j][1]));
        let between = apart + rb - ra;
        let gap = between.dot(n);
        gap.store(&mut rows.points[j].gap);
        let place = ra + between.scale(L::splat(0.5));
        places[j] = place;
        centroid = centroid + place.scale(L::select(in_use, one, zero));
        // Friction acts where points touch: of those that are about to, the less the farther they are.
        let part = (one - gap * inverse_near).max(L::splat(LEAST_PART)).min(one);
        let part = L::select(in_use, part, zero);
        friction_center = friction_center + place.scale(part);
        weight = weight + part;
    }
    let held = weight.gt(zero);
    let part = L::select(held, one / counts, zero);
    let centroid = centroid.scale(part);
    let friction_center = friction_center.scale(L::select(held, one / weight, zero));
    part.store(&mut rows.part);

    // The tangent leads to the point farthest from the middle: points on a line then have one coordinate.
    let mut longest = zero;
    let mut way = across(n);
    for j in 0..max_points {
        let in_use = counts.gt(L::splat(j as f64));
        let off = flat(places[j] - centroid, n);
        let length = L::select(in_use, off.dot(off), zero);
        let farther = length.gt(longest);
        longest = L::select(farther, length, longest);
        way = Vec4::select(farther, off, way);
    }
    let t = way.scale(one / way.dot(way).sqrt());
    let s = n.cross(t);
    n.store(&mut rows.normal);
    t.store(&mut rows.tangent);

    let mass = a.inverse_mass + b.inverse_mass;
    let dynamic = [fa.dynamic, fb.dynamic];
    let none = Vec4::<L>::splat(0.0);
    let axes_a = [fa.turn(none - s), fa.turn(t), fa.turn(n)];
    let axes_b = [fb.turn(none - s), fb.turn(t), fb.turn(n)];
    for i in 0..3 {
        axes_a[i].store(&mut rows.axes_a[i]);
        axes_b[i].store(&mut rows.axes_b[i]);
    }
    let far = centroid - apart;
    let places_of = [centroid.dot(t), centroid.dot(s), far.dot(t), far.dot(s)];
    for i in 0..4 {
        places_of[i].store(&mut rows.centroid[i]);
    }
    // r x n of the middle, and what the plane's coordinates add to it.
    let plane_a =
        [axes_a[0].scale(places_of[0]) + axes_a[1].scale(places_of[1]), axes_a[0], axes_a[1]];
    let plane_b =
        [axes_b[0].scale(places_of[2]) + axes_b[1].scale(places_of[3]), axes_b[0], axes_b[1]];
    let k = Symmetric {
        of: [
            mass + couple(&plane_a, &plane_b, dynamic, 0, 0),
            couple(&plane_a, &plane_b, dynamic, 0, 1),
            couple(&plane_a, &plane_b, dynamic, 0, 2),
            couple(&plane_a, &plane_b, dynamic, 1, 1),
            couple(&plane_a, &plane_b, dynamic, 1, 2),
            couple(&plane_a, &plane_b, dynamic, 2, 2),
        ],
    };
    k.store(&mut rows.delassus);
    let turning = along(&plane_b, b.w) - along(&plane_a, a.w);
    let u = Vec4::new(turning.x + n.dot(b.v - a.v), turning.y, turning.z);
    let (mut sxx, mut sxy, mut syy) = (zero, zero, zero);
    let mut warm = none;
    for j in 0..max_points {
        let point = &mut rows.points[j];
        let in_use = counts.gt(L::splat(j as f64));
        let off = places[j] - centroid;
        let x = L::select(in_use, off.dot(t), zero);
        let y = L::select(in_use, off.dot(s), zero);
        x.store(&mut point.x);
        y.store(&mut point.y);
        (sxx, sxy, syy) = (sxx + x * x, sxy + x * y, syy + y * y);
        let own = Vec4::new(one, x, y);
        L::select(in_use, u.dot(own), zero).store(&mut cache.approach[j]);
        zero.store(&mut point.total);
        let off = flat(places[j] - friction_center, n);
        off.dot(off).sqrt().store(&mut point.lever);
        warm = warm + own.scale(L::load(&point.impulse));
    }
    // Points on a line, or a single one, know nothing of turns that do not move them.
    let has_x = L::select(sxx.gt(zero), one, zero);
    let has_y = L::select((sxx * L::splat(LINE)).gt(syy), zero, has_x);
    let (some_x, some_y) = (has_x.gt(zero), has_y.gt(zero));
    let [xx, xy, xz, yy, yz, zz] = k.of;
    let reduced = Symmetric {
        of: [
            xx,
            xy * has_x,
            xz * has_y,
            L::select(some_x, yy, one),
            yz * has_y,
            L::select(some_y, zz, one),
        ],
    };
    let [xx, xy, xz, yy, yz, zz] = reduced.inverse().of;
    Symmetric { of: [xx, xy * has_x, xz * has_y, yy * has_x, yz * has_y, zz * has_y] }
        .store(&mut rows.inverse);
    let determinant = one / (sxx * syy - sxy * sxy);
    let plain = L::select(some_x, one / sxx, zero);
    L::select(some_y, syy * determinant, plain).store(&mut rows.spread[0]);
    L::select(some_y, zero - sxy * determinant, zero).store(&mut rows.spread[1]);
    L::select(some_y, sxx * determinant, zero).store(&mut rows.spread[2]);

    let (ra, rb) = (friction_center, friction_center - apart);
    let centre_of = [ra.dot(t), ra.dot(s), ra.dot(n), rb.dot(t), rb.dot(s), rb.dot(n)];
    for i in 0..6 {
        centre_of[i].store(&mut rows.friction_center[i]);
    }
    let [at, bt, ct, at2, bt2, ct2] = centre_of;
    let friction_a = friction_rows(&axes_a, at, bt, ct);
    let friction_b = friction_rows(&axes_b, at2, bt2, ct2);
    let xx = mass + couple(&friction_a, &friction_b, dynamic, 0, 0);
    let xy = couple(&friction_a, &friction_b, dynamic, 0, 1);
    let yy = mass + couple(&friction_a, &friction_b, dynamic, 1, 1);
    let inverse = L::select(held, one / (xx * yy - xy * xy), zero);
    let about = couple(&friction_a, &friction_b, dynamic, 2, 2);
    let about = L::select(about.gt(zero), one / about, zero);
    (yy * inverse).store(&mut rows.friction_mass[0]);
    (zero - xy * inverse).store(&mut rows.friction_mass[1]);
    (xx * inverse).store(&mut rows.friction_mass[2]);
    // One point has no lever.
    L::select(counts.gt(one), about, zero).store(&mut rows.friction_mass[3]);
    let p = L::select(held, friction_vector.dot(t), zero);
    let q = L::select(held, friction_vector.dot(s), zero);
    let twist = L::select(counts.gt(one), twist, zero);
    p.store(&mut rows.friction_impulse[0]);
    q.store(&mut rows.friction_impulse[1]);
    twist.store(&mut rows.friction_impulse[2]);
    for i in 0..3 {
        zero.store(&mut rows.friction_total[i]);
    }
    let linear = n.scale(warm.x) + t.scale(p) + s.scale(q);
    let friction_impulses = Vec4::new(p, q, twist);
    let turned = combine(&plane_a, warm) + combine(&friction_a, friction_impulses);
    give(none - linear, none - turned, a.inverse_mass, warm_starts, ia);
    let turned = combine(&plane_b, warm) + combine(&friction_b, friction_impulses);
    give(linear, turned, b.inverse_mass, warm_starts, ib);
}

/// Rows of friction at `(x, y, z)` along tangents and normal: `r x t = z s - y n`, `r x s = x n - z t`, and `n`.
#[inline(always)]
fn friction_rows<L: Lanes>(axes: &[Vec4<L>; 3], x: L, y: L, z: L) -> [Vec4<L>; 3] {
    let none = Vec4::<L>::splat(0.0);
    [none - axes[0].scale(z) - axes[2].scale(y), axes[2].scale(x) - axes[1].scale(z), axes[2]]
}

/// What of a vector is across a unit vector.
#[inline(always)]
fn flat<L: Lanes>(v: Vec4<L>, n: Vec4<L>) -> Vec4<L> {
    v - n.scale(v.dot(n))
}

/// A vector across a unit vector.
#[inline(always)]
fn across<L: Lanes>(n: Vec4<L>) -> Vec4<L> {
    let zero = L::splat(0.0);
    let steep = L::splat(0.25).gt(n.x * n.x + n.y * n.y);
    let there = Vec4::select(steep, Vec4::new(n.z, zero, -n.x), Vec4::new(-n.y, n.x, zero));
    // An empty lane has no normal: any direction will do.
    let some = there.dot(there).gt(zero);
    Vec4::new(L::select(some, there.x, L::splat(1.0)), there.y, there.z)
}
