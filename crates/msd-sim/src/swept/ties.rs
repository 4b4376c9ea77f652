//! Joints of a swept world, four to a block, in colours of their own.
// Written out for wide lanes: iterators over a few of them are not compiled with their caller.
#![allow(clippy::needless_range_loop)]

use super::block::{get, set};
use super::graph::{COLOURS, LEFT_OVER};
use super::lanes::{Frames, Moved, Movers, Symmetric, along, combine, couple, give};
use super::riders::{Frame, NOBODY, Push, Rider, Shift};
use super::sweep::{Pass, Softness};
use crate::bodies::BodySet;
use crate::joints::{JointKind, JointSet};
use crate::math::Vec3;
use crate::parallel::Parted;
use crate::simd::{F4, Kernel, Lanes, V4, Vec4, load_rows, load3};

/// A spring that turns its phase by more than this, rad, in a substep is too stiff to be followed.
const MOST_PHASE: f64 = 1.0;

const ZERO3: V4 = [F4::ZERO; 3];

/// Joints of a swept world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ties {
    pub(crate) colours: Vec<TieColour>,
    taken: Vec<u64>,
}

/// Joints that share no inertial body.
#[derive(Clone, Debug, Default)]
pub(crate) struct TieColour {
    pub(crate) balls: Vec<BallBlock>,
    pub(crate) lines: Vec<LineBlock>,
    lens: [usize; 2],
}

/// Four ball joints.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct BallBlock {
    pub(super) riders: [[u32; 4]; 2],
    pub(super) joints: [u32; 4],
    pub(super) driven: bool,
    pub(super) anchors: [V4; 2],
    /// From A's anchor to B's when the step began, m.
    pub(super) gap: V4,
    pub(super) arms_a: [V4; 3],
    pub(super) arms_b: [V4; 3],
    /// Inverse of the coupling: xx, xy, xz, yy, yz, zz.
    pub(super) mass: [F4; 6],
    pub(super) impulse: V4,
    pub(super) total: V4,
}

/// Four joints along the line between two anchors: rods, ropes and springs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LineBlock {
    pub(super) riders: [[u32; 4]; 2],
    pub(super) joints: [u32; 4],
    pub(super) driven: bool,
    pub(super) anchors: [V4; 2],
    /// Least and greatest length, m, and for whom they count: 1 or 0.
    pub(super) bounds: [F4; 2],
    pub(super) bounded: [F4; 2],
    /// Of springs: length at rest (m), stiffness (N/m), damping (N s/m).
    pub(super) spring: [F4; 3],
    /// From A to B.
    pub(super) direction: V4,
    pub(super) length: F4,
    pub(super) arm_a: V4,
    pub(super) arm_b: V4,
    /// Inverse of the coupling, and the coupling.
    pub(super) mass: F4,
    pub(super) coupling: F4,
    /// That keep the anchors apart, keep them together, and of the spring; all along `direction`.
    pub(super) impulse: [F4; 3],
    pub(super) total: F4,
}

impl Default for BallBlock {
    fn default() -> Self {
        Self {
            riders: [[NOBODY; 4]; 2],
            joints: [u32::MAX; 4],
            driven: false,
            anchors: [ZERO3; 2],
            gap: ZERO3,
            arms_a: [ZERO3; 3],
            arms_b: [ZERO3; 3],
            mass: [F4::ZERO; 6],
            impulse: ZERO3,
            total: ZERO3,
        }
    }
}

impl Default for LineBlock {
    fn default() -> Self {
        Self {
            riders: [[NOBODY; 4]; 2],
            joints: [u32::MAX; 4],
            driven: false,
            anchors: [ZERO3; 2],
            bounds: [F4::ZERO; 2],
            bounded: [F4::ZERO; 2],
            spring: [F4::ZERO; 3],
            direction: ZERO3,
            length: F4::ZERO,
            arm_a: ZERO3,
            arm_b: ZERO3,
            mass: F4::ZERO,
            coupling: F4::ZERO,
            impulse: [F4::ZERO; 3],
            total: F4::ZERO,
        }
    }
}

impl Ties {
    /// Takes over all joints whose bodies `rides` says are awake, with the impulses that they remember.
    pub(crate) fn build(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        rides: impl Fn(u32) -> bool,
    ) {
        self.colours.resize_with(COLOURS, TieColour::default);
        for colour in &mut self.colours {
            colour.balls.clear();
            colour.lines.clear();
            colour.lens = [0; 2];
        }
        self.taken.clear();
        self.taken.resize(bodies.poses.len(), 0);
        for index in joints.slots.iter() {
            let joint = &joints.joints[index as usize];
            if !joint.bodies.iter().any(|&body| rides(body)) {
                continue;
            }
            let inertial = joint.bodies.map(|body| bodies.is_inertial(body as usize));
            let used = [0, 1].map(|side: usize| match inertial[side] {
                true => self.taken[joint.bodies[side] as usize],
                false => 0,
            });
            let free = !(used[0] | used[1]) & !(1 << LEFT_OVER);
            let colour = if free == 0 { LEFT_OVER } else { free.trailing_zeros() as usize };
            if colour != LEFT_OVER {
                for side in (0..2).filter(|&side| inertial[side]) {
                    self.taken[joint.bodies[side] as usize] |= 1 << colour;
                }
            }
            let TieColour { balls, lines, lens } = &mut self.colours[colour];
            let kind = usize::from(joint.def.kind != JointKind::Ball);
            let (block, lane) = match colour {
                LEFT_OVER => (lens[kind], 0),
                _ => (lens[kind] / 4, lens[kind] % 4),
            };
            lens[kind] += 1;
            let riders = joint.bodies.map(|body| body + 1);
            let put = |to: &mut [[u32; 4]; 2], names: &mut [u32; 4], anchors: &mut [V4; 2]| {
                names[lane] = index;
                for side in 0..2 {
                    to[side][lane] = riders[side];
                    set(&mut anchors[side], lane, joint.def.anchors[side]);
                }
            };
            if kind == 0 {
                if block == balls.len() {
                    balls.push(BallBlock::default());
                }
                let block = &mut balls[block];
                put(&mut block.riders, &mut block.joints, &mut block.anchors);
                set(&mut block.impulse, lane, joint.impulse);
                continue;
            }
            if block == lines.len() {
                lines.push(LineBlock::default());
            }
            let block = &mut lines[block];
            put(&mut block.riders, &mut block.joints, &mut block.anchors);
            let x = joint.impulse.x;
            match joint.def.kind {
                JointKind::Ball => {}
                JointKind::Distance { min, max } => {
                    block.bounds[0].0[lane] = min;
                    block.bounded[0].0[lane] = f64::from(u8::from(min > 0.0));
                    block.bounds[1].0[lane] = if max.is_finite() { max } else { 0.0 };
                    block.bounded[1].0[lane] = f64::from(u8::from(max.is_finite()));
                    block.impulse[0].0[lane] = x.max(0.0);
                    block.impulse[1].0[lane] = x.min(0.0);
                }
                JointKind::Spring { rest_length, stiffness, damping } => {
                    block.spring[0].0[lane] = rest_length;
                    block.spring[1].0[lane] = stiffness;
                    block.spring[2].0[lane] = damping;
                    block.impulse[2].0[lane] = x;
                }
            }
        }
    }

    /// Calls `visit` with every joint that acts, and the impulse on its body B over the step, N s.
    pub(crate) fn totals(&self, mut visit: impl FnMut(u32, Vec3)) {
        for colour in &self.colours {
            for block in &colour.balls {
                for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                    visit(block.joints[lane], get(&block.total, lane));
                }
            }
            for block in &colour.lines {
                for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                    visit(block.joints[lane], get(&block.direction, lane) * block.total.0[lane]);
                }
            }
        }
    }

    /// Tells the joints what they gave in the step, and what is to be remembered.
    pub(crate) fn write_back(&self, joints: &mut JointSet) {
        for colour in &self.colours {
            for block in &colour.balls {
                for (lane, &index) in block.joints.iter().enumerate() {
                    if let Some(joint) = joints.joints.get_mut(index as usize) {
                        joint.impulse = get(&block.impulse, lane);
                        joint.total = get(&block.total, lane);
                    }
                }
            }
            for block in &colour.lines {
                for (lane, &index) in block.joints.iter().enumerate() {
                    if let Some(joint) = joints.joints.get_mut(index as usize) {
                        let along = block.impulse.iter().map(|impulse| impulse.0[lane]).sum();
                        joint.impulse = Vec3::new(along, 0.0, 0.0);
                        joint.total = get(&block.direction, lane) * block.total.0[lane];
                    }
                }
            }
        }
    }
}

/// Makes the rows of a step, and sums up the impulses that are remembered.
pub(crate) struct PrepareTies<'a> {
    pub(crate) balls: &'a mut [BallBlock],
    pub(crate) lines: &'a mut [LineBlock],
    pub(crate) riders: Parted<'a, Rider>,
    pub(crate) frames: Parted<'a, Frame>,
    pub(crate) pushes: Parted<'a, Push>,
}

impl Kernel for PrepareTies<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, lines, riders, frames, pushes } = self;
        for block in balls {
            prepare_ball::<L>(block, &riders, &frames, &pushes);
        }
        for block in lines {
            prepare_line::<L>(block, &riders, &frames, &pushes);
        }
    }
}

#[inline(always)]
fn prepare_ball<L: Lanes>(
    block: &mut BallBlock,
    riders: &Parted<'_, Rider>,
    frames: &Parted<'_, Frame>,
    pushes: &Parted<'_, Push>,
) {
    let [ia, ib] = block.riders;
    let (fa, fb) = (Frames::<L>::load(frames, ia), Frames::<L>::load(frames, ib));
    let (a, b) = (Movers::<L>::load(riders, ia), Movers::<L>::load(riders, ib));
    block.driven = a.turns() || b.turns();
    let ra = fa.rotate(Vec4::load(&block.anchors[0]));
    let rb = fb.rotate(Vec4::load(&block.anchors[1]));
    let gap = fb.position - fa.position + rb - ra;
    gap.store(&mut block.gap);
    // One point for both, so that the pair's angular momentum is kept while the joint gapes.
    let half = gap.scale(L::splat(0.5));
    let (ra, rb) = (ra + half, rb - half);
    let zero = L::splat(0.0);
    let rows_a = cross_rows(&fa, ra);
    let rows_b = cross_rows(&fb, rb);
    let yields = [fa.yields, fb.yields];
    let mass = a.inverse_mass + b.inverse_mass;
    Symmetric {
        of: [
            mass + couple(&rows_a, &rows_b, yields, 0, 0),
            couple(&rows_a, &rows_b, yields, 0, 1),
            couple(&rows_a, &rows_b, yields, 0, 2),
            mass + couple(&rows_a, &rows_b, yields, 1, 1),
            couple(&rows_a, &rows_b, yields, 1, 2),
            mass + couple(&rows_a, &rows_b, yields, 2, 2),
        ],
    }
    .inverse()
    .store(&mut block.mass);
    for i in 0..3 {
        rows_a[i].store(&mut block.arms_a[i]);
        rows_b[i].store(&mut block.arms_b[i]);
        zero.store(&mut block.total[i]);
    }
    let impulse = Vec4::<L>::load(&block.impulse);
    let none = Vec4::<L>::splat(0.0);
    give(none - impulse, none - combine(&rows_a, impulse), a.inverse_mass, pushes, ia);
    give(impulse, combine(&rows_b, impulse), b.inverse_mass, pushes, ib);
}

#[inline(always)]
fn prepare_line<L: Lanes>(
    block: &mut LineBlock,
    riders: &Parted<'_, Rider>,
    frames: &Parted<'_, Frame>,
    pushes: &Parted<'_, Push>,
) {
    let [ia, ib] = block.riders;
    let (fa, fb) = (Frames::<L>::load(frames, ia), Frames::<L>::load(frames, ib));
    let (a, b) = (Movers::<L>::load(riders, ia), Movers::<L>::load(riders, ib));
    block.driven = a.turns() || b.turns();
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let ra = fa.rotate(Vec4::load(&block.anchors[0]));
    let rb = fb.rotate(Vec4::load(&block.anchors[1]));
    let between = fb.position - fa.position + rb - ra;
    let length = between.dot(between).sqrt();
    // Anchors that coincide have no direction: any will do until they part.
    let apart = length.gt(zero);
    let shrunk = between.scale(L::select(apart, one / length, zero));
    let d = Vec4::new(shrunk.x, shrunk.y, L::select(apart, shrunk.z, one));
    let (ja, jb) = (fa.turn(ra.cross(d)), fb.turn(rb.cross(d)));
    let coupling =
        a.inverse_mass + b.inverse_mass + ja.dot(ja) * fa.yields + jb.dot(jb) * fb.yields;
    let mass = L::select(coupling.gt(zero), one / coupling, zero);
    d.store(&mut block.direction);
    length.store(&mut block.length);
    ja.store(&mut block.arm_a);
    jb.store(&mut block.arm_b);
    mass.store(&mut block.mass);
    coupling.store(&mut block.coupling);
    zero.store(&mut block.total);
    let [p, q, r] = load3::<L>(&block.impulse);
    let impulse = p + q + r;
    give(d.scale(-impulse), ja.scale(-impulse), a.inverse_mass, pushes, ia);
    give(d.scale(impulse), jb.scale(impulse), b.inverse_mass, pushes, ib);
}

/// One sweep over joints of a colour.
pub(crate) struct SweepTies<'a> {
    pub(crate) balls: &'a mut [BallBlock],
    pub(crate) lines: &'a mut [LineBlock],
    pub(crate) riders: Parted<'a, Rider>,
    pub(crate) shifts: Parted<'a, Shift>,
    pub(crate) pass: Pass,
}

impl Kernel for SweepTies<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, lines, riders, shifts, pass } = self;
        match pass {
            Pass::Push(_) | Pass::Relax { .. } => {
                for block in balls {
                    match block.driven {
                        false => hold::<L, false>(block, &riders, &shifts, &pass),
                        true => hold::<L, true>(block, &riders, &shifts, &pass),
                    }
                }
                for block in lines {
                    match block.driven {
                        false => pull::<L, false>(block, &riders, &shifts, &pass),
                        true => pull::<L, true>(block, &riders, &shifts, &pass),
                    }
                }
            }
            Pass::Bounce { .. } => {}
        }
    }
}

/// Rows along the axes at the end of an arm.
#[inline(always)]
fn cross_rows<L: Lanes>(frames: &Frames<L>, arm: Vec4<L>) -> [Vec4<L>; 3] {
    let zero = L::splat(0.0);
    [
        frames.turn(Vec4::new(zero, arm.z, -arm.y)),
        frames.turn(Vec4::new(-arm.z, zero, arm.x)),
        frames.turn(Vec4::new(arm.y, -arm.x, zero)),
    ]
}

/// Impulses of ball joints.
#[inline(always)]
fn hold<L: Lanes, const DRIVEN: bool>(
    block: &mut BallBlock,
    riders: &Parted<'_, Rider>,
    shifts: &Parted<'_, Shift>,
    pass: &Pass,
) {
    let [ia, ib] = block.riders;
    let (mut a, mut b) = (Movers::<L>::load(riders, ia), Movers::<L>::load(riders, ib));
    let (rows_a, rows_b) = (load_rows::<L>(&block.arms_a), load_rows::<L>(&block.arms_b));
    let mut u = b.v - a.v + along(&rows_b, b.w) - along(&rows_a, a.w);
    let old = Vec4::<L>::load(&block.impulse);
    let (mut share, mut keep) = (1.0, 1.0);
    if let Pass::Push(soft) = pass {
        let (da, db) = (Moved::<L>::load(shifts, ia), Moved::<L>::load(shifts, ib));
        let turned = along(&rows_b, db.t) - along(&rows_a, da.t);
        let gap = Vec4::load(&block.gap) + db.p - da.p + turned;
        u = u + gap.scale(L::splat(soft.soft.rate));
        (share, keep) = (soft.soft.share, 1.0 - soft.soft.leak);
    }
    let wanted = Symmetric::<L>::load(&block.mass).times(u).scale(L::splat(-share));
    let new = old.scale(L::splat(keep)) + wanted;
    let change = new - old;
    new.store(&mut block.impulse);
    if let Pass::Relax { .. } = pass {
        (Vec4::load(&block.total) + new).store(&mut block.total);
    }
    a.v = a.v - change.scale(a.inverse_mass);
    a.w = a.w - combine(&rows_a, a.turning::<DRIVEN>(change));
    b.v = b.v + change.scale(b.inverse_mass);
    b.w = b.w + combine(&rows_b, b.turning::<DRIVEN>(change));
    a.store(riders, ia);
    b.store(riders, ib);
}

/// Impulses of springs, rods and ropes.
#[inline(always)]
fn pull<L: Lanes, const DRIVEN: bool>(
    block: &mut LineBlock,
    riders: &Parted<'_, Rider>,
    shifts: &Parted<'_, Shift>,
    pass: &Pass,
) {
    let [ia, ib] = block.riders;
    let (mut a, mut b) = (Movers::<L>::load(riders, ia), Movers::<L>::load(riders, ib));
    let (da, db) = (Moved::<L>::load(shifts, ia), Moved::<L>::load(shifts, ib));
    let (ja, jb) = (Vec4::<L>::load(&block.arm_a), Vec4::<L>::load(&block.arm_b));
    let d = Vec4::<L>::load(&block.direction);
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let length = L::load(&block.length) + d.dot(db.p - da.p) + jb.dot(db.t) - ja.dot(da.t);
    let (mass, coupling) = (L::load(&block.mass), L::load(&block.coupling));
    let mut u = d.dot(b.v - a.v) + jb.dot(b.w) - ja.dot(a.w);
    let [push, draw, spring] = load3::<L>(&block.impulse);
    let mut new_spring = spring;
    let (rate, rigid) = (pass.rate(), Softness { rate: 0.0, share: 1.0, leak: 0.0 });
    let (soft, most) = match pass {
        Pass::Push(soft) => (soft.soft, soft.most),
        _ => (rigid, 0.0),
    };
    if let Pass::Push(_) = pass {
        // What a spring gives is found before bodies move, halfway through the substep: the force at that length, which
        // neither gains nor loses energy; for a spring too stiff to be followed the force at the length after,
        // which only loses.
        let h = L::splat(1.0 / rate);
        let [rest, stiffness, damping] = load3::<L>(&block.spring);
        let stiff = (h * h * stiffness * coupling).gt(L::splat(MOST_PHASE * MOST_PHASE));
        let ahead = L::select(stiff, h * L::splat(0.5), zero);
        let resistance = h * (damping + ahead * stiffness);
        let force = h * stiffness * (length - rest) + resistance * (u - coupling * spring);
        new_spring = (zero - force) / (one + resistance * coupling);
        u = u + (new_spring - spring) * coupling;
    }
    let rate = L::splat(rate);
    let keep = L::splat(1.0 - soft.leak);
    let mass = mass * L::splat(soft.share);
    let room = length - L::load(&block.bounds[0]);
    let back = (room.min(zero) * L::splat(soft.rate)).max(L::splat(-most));
    let new_push = (push * keep - mass * (u + room.max(zero) * rate + back)).max(zero);
    let new_push = new_push * L::load(&block.bounded[0]);
    u = u + (new_push - push) * coupling;
    let room = L::load(&block.bounds[1]) - length;
    let back = (room.min(zero) * L::splat(soft.rate)).max(L::splat(-most));
    let new_draw = (draw * keep - mass * (u - room.max(zero) * rate - back)).min(zero);
    let new_draw = new_draw * L::load(&block.bounded[1]);

    new_push.store(&mut block.impulse[0]);
    new_draw.store(&mut block.impulse[1]);
    new_spring.store(&mut block.impulse[2]);
    if let Pass::Relax { .. } = pass {
        let all = new_push + new_draw + new_spring;
        (L::load(&block.total) + all).store(&mut block.total);
    }
    let sum = (new_spring - spring) + (new_push - push) + (new_draw - draw);
    let turn = Vec4::new(sum, zero, zero);
    a.v = a.v - d.scale(sum * a.inverse_mass);
    a.w = a.w - ja.scale(a.turning::<DRIVEN>(turn).x);
    b.v = b.v + d.scale(sum * b.inverse_mass);
    b.w = b.w + jb.scale(b.turning::<DRIVEN>(turn).x);
    a.store(riders, ia);
    b.store(riders, ib);
}
