//! How far a crowd's contacts are from their laws after a step.
// Written out for wide lanes: iterators over a few of them are not compiled with their caller.
#![allow(clippy::needless_range_loop)]

use super::block::{ContactBlock, POINTS};
use super::lanes::{Moved, Movers, Symmetric};
use super::riders::{Rider, Shift};
use super::sweep::{View, own};
use crate::parallel::Parted;
use crate::simd::{F4, Kernel, Lanes, Vec4, load3};
use crate::solver::Residual;

/// Looks at blocks without changing anything.
pub(crate) struct Check<'a> {
    pub(crate) blocks: &'a [ContactBlock],
    pub(crate) riders: Parted<'a, Rider>,
    pub(crate) shifts: Parted<'a, Shift>,
    /// 1/s: of the substep.
    pub(crate) rate: f64,
}

impl Kernel for Check<'_> {
    type Output = Residual;

    /// As [`crate::solver::residual`] says, friction for a manifold as a whole.
    #[inline(always)]
    fn run<L: Lanes>(self) -> Residual {
        let Self { blocks, riders, shifts, rate } = self;
        let zero = L::splat(0.0);
        let (mut signorini, mut cone, mut dissipation, mut scale) = (zero, zero, zero, zero);
        for block in blocks {
            let [ia, ib] = block.riders;
            let (a, b) = (Movers::<L>::load(&riders, ia), Movers::<L>::load(&riders, ib));
            let (da, db) = (Moved::<L>::load(&shifts, ia), Moved::<L>::load(&shifts, ib));
            let rows = &block.rows;
            let view = View::<L>::load(rows);
            let coupling = Symmetric::<L>::load(&rows.coupling);
            let moved = view.plane(db.p - da.p, da.t, db.t);
            let u = view.plane(b.v - a.v, a.w, b.w);
            let (slop, count) = (L::load(&rows.slop), L::load(&rows.count));
            let mut load = zero;
            for j in 0..POINTS {
                let point = &rows.points[j];
                let in_use = count.gt(L::splat(j as f64));
                let row = own::<L>(point);
                let gap = (L::load(&point.gap) + moved.dot(row) - slop).max(zero);
                let speed = u.dot(row) + gap * L::splat(rate);
                let push = L::load(&point.impulse);
                load = load + push;
                let given = coupling.times(row).dot(row) * push;
                signorini = signorini.max(L::select(in_use, size(speed.min(given)), zero));
                scale = scale.max(L::select(in_use, size(u.dot(row)).max(given), zero));
            }
            let [p, q, _] = load3::<L>(&rows.rub);
            let [x, y, _] = view.slip(rows, &a, &b);
            // What an impulse across the normal does to velocity there, at least: one over the inverse's trace.
            let [xx, _, yy, _] = &rows.rub_mass;
            let trace = L::load(xx) + L::load(yy);
            let held = trace.gt(zero);
            let answer = L::select(held, L::splat(2.0) / trace, zero);
            let inverse = L::select(held, trace * L::splat(0.5), zero);
            let limit = L::load(&rows.friction) * load;
            let length = (p * p + q * q).sqrt();
            cone = cone.max(L::select(held, (length - limit) * answer, zero));
            let (wish_p, wish_q) = (p - x * inverse, q - y * inverse);
            let wished = (wish_p * wish_p + wish_q * wish_q).sqrt();
            let shrink = L::select(wished.gt(limit), limit / wished, L::splat(1.0));
            let off = Vec4::new(p - wish_p * shrink, q - wish_q * shrink, zero);
            let off = off.dot(off).sqrt() * answer;
            dissipation = dissipation.max(L::select(held, off, zero));
        }
        Residual {
            signorini: largest(signorini),
            cone: largest(cone),
            dissipation: largest(dissipation),
            joint: 0.0,
            scale: largest(scale),
        }
    }
}

#[inline(always)]
fn size<L: Lanes>(value: L) -> L {
    value.max(L::splat(0.0) - value)
}

#[inline(always)]
fn largest<L: Lanes>(values: L) -> f64 {
    let mut all = F4::ZERO;
    values.store(&mut all);
    all.0.into_iter().fold(0.0, f64::max)
}
