//! Joints of a swept world, four to a block, in colours of their own.
// Written out for wide lanes: iterators over a few of them are not compiled with their caller.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::contact_block::{get, set};
use super::graph::{COLORS, ColorCheck, OVERFLOW};
use super::lanes::{
    DeltaPoses, Frames, SharedBodies, Symmetric, Velocities, add_warm_start, along,
    angular_coupling, combine,
};
use super::sweep::{Pass, Softness};
use super::sweep_bodies::DUMMY;
use crate::bodies::BodySet;
use crate::joints::{JointKind, JointSet};
use crate::math::Vec3;
use crate::simd::{F4, Kernel, Lanes, V4, Vec4, load_rows, load3};

/// A spring that turns its phase by more than this, rad, in a substep is too stiff to be followed.
const MAX_PHASE: f64 = 1.0;

const ZERO3: V4 = [F4::ZERO; 3];

/// Joints of a swept world.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointGraph {
    pub(crate) colors: Vec<JointColor>,
    used_colors: Vec<u64>,
    check: ColorCheck,
}

/// Joints that share no inertial body.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointColor {
    pub(crate) balls: Vec<BallJointBlock>,
    pub(crate) distances: Vec<DistanceJointBlock>,
    counts: [usize; 2],
}

/// Four ball joints.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct BallJointBlock {
    pub(super) bodies: [[u32; 4]; 2],
    pub(super) joints: [u32; 4],
    pub(super) kinematic: bool,
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
pub(crate) struct DistanceJointBlock {
    pub(super) bodies: [[u32; 4]; 2],
    pub(super) joints: [u32; 4],
    pub(super) kinematic: bool,
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
    pub(super) delassus: F4,
    /// That keep the anchors apart, keep them together, and of the spring; all along `direction`.
    pub(super) impulse: [F4; 3],
    pub(super) total: F4,
}

impl Default for BallJointBlock {
    fn default() -> Self {
        Self {
            bodies: [[DUMMY; 4]; 2],
            joints: [u32::MAX; 4],
            kinematic: false,
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

impl Default for DistanceJointBlock {
    fn default() -> Self {
        Self {
            bodies: [[DUMMY; 4]; 2],
            joints: [u32::MAX; 4],
            kinematic: false,
            anchors: [ZERO3; 2],
            bounds: [F4::ZERO; 2],
            bounded: [F4::ZERO; 2],
            spring: [F4::ZERO; 3],
            direction: ZERO3,
            length: F4::ZERO,
            arm_a: ZERO3,
            arm_b: ZERO3,
            mass: F4::ZERO,
            delassus: F4::ZERO,
            impulse: [F4::ZERO; 3],
            total: F4::ZERO,
        }
    }
}

impl JointGraph {
    /// Takes over all joints whose bodies `is_awake` says are awake, with the impulses that they remember.
    pub(crate) fn build(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        is_awake: impl Fn(u32) -> bool,
    ) {
        self.colors.resize_with(COLORS, JointColor::default);
        for color in &mut self.colors {
            color.balls.clear();
            color.distances.clear();
            color.counts = [0; 2];
        }
        self.used_colors.clear();
        self.used_colors.resize(bodies.poses.len(), 0);
        for index in joints.slots.iter() {
            let joint = &joints.joints[index as usize];
            if !joint.bodies.iter().any(|&body| is_awake(body)) {
                continue;
            }
            let inertial = joint.bodies.map(|body| bodies.is_inertial(body as usize));
            let used = [0, 1].map(|side: usize| match inertial[side] {
                true => self.used_colors[joint.bodies[side] as usize],
                false => 0,
            });
            let free = !(used[0] | used[1]) & !(1 << OVERFLOW);
            let color = if free == 0 { OVERFLOW } else { free.trailing_zeros() as usize };
            if color != OVERFLOW {
                for side in (0..2).filter(|&side| inertial[side]) {
                    self.used_colors[joint.bodies[side] as usize] |= 1 << color;
                }
            }
            let JointColor { balls, distances, counts } = &mut self.colors[color];
            let kind = usize::from(joint.def.kind != JointKind::Ball);
            let (block, lane) = match color {
                OVERFLOW => (counts[kind], 0),
                _ => (counts[kind] / 4, counts[kind] % 4),
            };
            counts[kind] += 1;
            let indices = joint.bodies.map(|body| body + 1);
            let put = |to: &mut [[u32; 4]; 2], names: &mut [u32; 4], anchors: &mut [V4; 2]| {
                names[lane] = index;
                for side in 0..2 {
                    to[side][lane] = indices[side];
                    set(&mut anchors[side], lane, joint.def.anchors[side]);
                }
            };
            if kind == 0 {
                if block == balls.len() {
                    balls.push(BallJointBlock::default());
                }
                let block = &mut balls[block];
                put(&mut block.bodies, &mut block.joints, &mut block.anchors);
                set(&mut block.impulse, lane, joint.impulse);
                continue;
            }
            if block == distances.len() {
                distances.push(DistanceJointBlock::default());
            }
            let block = &mut distances[block];
            put(&mut block.bodies, &mut block.joints, &mut block.anchors);
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

    /// Panics if a color, other than the overflow, holds an inertial body twice: sweeps rely on it to be sound.
    pub(crate) fn check_colors(&mut self, bodies: &BodySet) {
        for (number, color) in self.colors.iter().enumerate().filter(|(at, _)| *at != OVERFLOW) {
            self.check.begin(number, bodies);
            self.check.add(color.balls.iter().map(|block| block.bodies));
            self.check.add(color.distances.iter().map(|block| block.bodies));
        }
    }

    /// Calls `visit` with every joint that acts, and the impulse on its body B over the step, N s.
    pub(crate) fn totals(&self, mut visit: impl FnMut(u32, Vec3)) {
        for color in &self.colors {
            for block in &color.balls {
                for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                    visit(block.joints[lane], get(&block.total, lane));
                }
            }
            for block in &color.distances {
                for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                    visit(block.joints[lane], get(&block.direction, lane) * block.total.0[lane]);
                }
            }
        }
    }

    /// Tells the joints what they gave in the step, and what is to be remembered.
    pub(crate) fn write_back(&self, joints: &mut JointSet) {
        for color in &self.colors {
            for block in &color.balls {
                for (lane, &index) in block.joints.iter().enumerate() {
                    if let Some(joint) = joints.joints.get_mut(index as usize) {
                        joint.impulse = get(&block.impulse, lane);
                        joint.total = get(&block.total, lane);
                    }
                }
            }
            for block in &color.distances {
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

/// Blocks of one color: ball joints, and joints along a line.
pub(crate) type JointBlocks<'a> = (&'a mut [BallJointBlock], &'a mut [DistanceJointBlock]);

/// Makes the rows of a step, and sums up the impulses that are remembered.
pub(crate) struct PrepareJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
}

impl<'a> PrepareJoints<'a> {
    /// # Safety
    /// No other worker has the bodies of these blocks while the kernel runs: see [`SharedBodies`].
    pub(crate) unsafe fn new(
        (balls, distances): JointBlocks<'a>,
        bodies: SharedBodies<'a>,
    ) -> Self {
        Self { balls, distances, bodies }
    }
}

impl Kernel for PrepareJoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, distances, bodies } = self;
        for block in balls {
            // SAFETY: promised to `new`.
            unsafe { prepare_ball::<L>(block, &bodies) };
        }
        for block in distances {
            // SAFETY: promised to `new`.
            unsafe { prepare_distance::<L>(block, &bodies) };
        }
    }
}

/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn prepare_ball<L: Lanes>(block: &mut BallJointBlock, bodies: &SharedBodies<'_>) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's promise.
    let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    block.kinematic = a.any_kinematic_rotation() || b.any_kinematic_rotation();
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
    let dynamic = [fa.dynamic, fb.dynamic];
    let mass = a.inverse_mass + b.inverse_mass;
    Symmetric {
        entries: [
            mass + angular_coupling(&rows_a, &rows_b, dynamic, 0, 0),
            angular_coupling(&rows_a, &rows_b, dynamic, 0, 1),
            angular_coupling(&rows_a, &rows_b, dynamic, 0, 2),
            mass + angular_coupling(&rows_a, &rows_b, dynamic, 1, 1),
            angular_coupling(&rows_a, &rows_b, dynamic, 1, 2),
            mass + angular_coupling(&rows_a, &rows_b, dynamic, 2, 2),
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
    // SAFETY: the caller's promise.
    unsafe {
        add_warm_start(none - impulse, none - combine(&rows_a, impulse), a.inverse_mass, bodies, ia)
    };
    // SAFETY: the caller's promise.
    unsafe { add_warm_start(impulse, combine(&rows_b, impulse), b.inverse_mass, bodies, ib) };
}

/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn prepare_distance<L: Lanes>(block: &mut DistanceJointBlock, bodies: &SharedBodies<'_>) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's promise.
    let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    block.kinematic = a.any_kinematic_rotation() || b.any_kinematic_rotation();
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let ra = fa.rotate(Vec4::load(&block.anchors[0]));
    let rb = fb.rotate(Vec4::load(&block.anchors[1]));
    let between = fb.position - fa.position + rb - ra;
    let length = between.dot(between).sqrt();
    // Anchors that coincide have no direction: any will do until they part.
    let apart = length.gt(zero);
    let shrunk = between.scale(L::select(apart, one / length, zero));
    let d = Vec4::new(shrunk.x, shrunk.y, L::select(apart, shrunk.z, one));
    let (ja, jb) = (fa.to_spin(ra.cross(d)), fb.to_spin(rb.cross(d)));
    let delassus =
        a.inverse_mass + b.inverse_mass + ja.dot(ja) * fa.dynamic + jb.dot(jb) * fb.dynamic;
    let mass = L::select(delassus.gt(zero), one / delassus, zero);
    d.store(&mut block.direction);
    length.store(&mut block.length);
    ja.store(&mut block.arm_a);
    jb.store(&mut block.arm_b);
    mass.store(&mut block.mass);
    delassus.store(&mut block.delassus);
    zero.store(&mut block.total);
    let [p, q, r] = load3::<L>(&block.impulse);
    let impulse = p + q + r;
    // SAFETY: the caller's promise.
    unsafe { add_warm_start(d.scale(-impulse), ja.scale(-impulse), a.inverse_mass, bodies, ia) };
    // SAFETY: the caller's promise.
    unsafe { add_warm_start(d.scale(impulse), jb.scale(impulse), b.inverse_mass, bodies, ib) };
}

/// One sweep over joints of a colour.
pub(crate) struct SweepJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
    pass: Pass,
}

impl<'a> SweepJoints<'a> {
    /// # Safety
    /// No other worker has the bodies of these blocks while the kernel runs: see [`SharedBodies`].
    pub(crate) unsafe fn new(
        (balls, distances): JointBlocks<'a>,
        bodies: SharedBodies<'a>,
        pass: Pass,
    ) -> Self {
        Self { balls, distances, bodies, pass }
    }
}

impl Kernel for SweepJoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, distances, bodies, pass } = self;
        match pass {
            Pass::Biased(_) | Pass::Relax { .. } => {
                for block in balls {
                    // SAFETY: promised to `new`.
                    unsafe {
                        match block.kinematic {
                            false => solve_ball::<L, false>(block, &bodies, &pass),
                            true => solve_ball::<L, true>(block, &bodies, &pass),
                        }
                    }
                }
                for block in distances {
                    // SAFETY: promised to `new`.
                    unsafe {
                        match block.kinematic {
                            false => solve_distance::<L, false>(block, &bodies, &pass),
                            true => solve_distance::<L, true>(block, &bodies, &pass),
                        }
                    }
                }
            }
            Pass::Restitution { .. } => {}
        }
    }
}

/// Rows along the axes at the end of an arm.
#[inline(always)]
fn cross_rows<L: Lanes>(frames: &Frames<L>, arm: Vec4<L>) -> [Vec4<L>; 3] {
    let zero = L::splat(0.0);
    [
        frames.to_spin(Vec4::new(zero, arm.z, -arm.y)),
        frames.to_spin(Vec4::new(-arm.z, zero, arm.x)),
        frames.to_spin(Vec4::new(arm.y, -arm.x, zero)),
    ]
}

/// Impulses of ball joints.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_ball<L: Lanes, const KINEMATIC: bool>(
    block: &mut BallJointBlock,
    bodies: &SharedBodies<'_>,
    pass: &Pass,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's promise.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    let (rows_a, rows_b) = (load_rows::<L>(&block.arms_a), load_rows::<L>(&block.arms_b));
    let mut u = b.v - a.v + along(&rows_b, b.w) - along(&rows_a, a.w);
    let old = Vec4::<L>::load(&block.impulse);
    let (mut mass_scale, mut keep) = (1.0, 1.0);
    if let Pass::Biased(soft) = pass {
        // SAFETY: the caller's promise.
        let (da, db) =
            unsafe { (DeltaPoses::<L>::load(bodies, ia), DeltaPoses::<L>::load(bodies, ib)) };
        let turned = along(&rows_b, db.t) - along(&rows_a, da.t);
        let gap = Vec4::load(&block.gap) + db.p - da.p + turned;
        u = u + gap.scale(L::splat(soft.soft.bias_rate));
        (mass_scale, keep) = (soft.soft.mass_scale, 1.0 - soft.soft.impulse_scale);
    }
    let wanted = Symmetric::<L>::load(&block.mass).times(u).scale(L::splat(-mass_scale));
    let new = old.scale(L::splat(keep)) + wanted;
    let change = new - old;
    new.store(&mut block.impulse);
    if let Pass::Relax { .. } = pass {
        (Vec4::load(&block.total) + new).store(&mut block.total);
    }
    a.v = a.v - change.scale(a.inverse_mass);
    a.w = a.w - combine(&rows_a, a.angular_part::<KINEMATIC>(change));
    b.v = b.v + change.scale(b.inverse_mass);
    b.w = b.w + combine(&rows_b, b.angular_part::<KINEMATIC>(change));
    // SAFETY: the caller's promise.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}

/// Impulses of springs, rods and ropes.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_distance<L: Lanes, const KINEMATIC: bool>(
    block: &mut DistanceJointBlock,
    bodies: &SharedBodies<'_>,
    pass: &Pass,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's promise.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    // SAFETY: the caller's promise.
    let (da, db) =
        unsafe { (DeltaPoses::<L>::load(bodies, ia), DeltaPoses::<L>::load(bodies, ib)) };
    let (ja, jb) = (Vec4::<L>::load(&block.arm_a), Vec4::<L>::load(&block.arm_b));
    let d = Vec4::<L>::load(&block.direction);
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let length = L::load(&block.length) + d.dot(db.p - da.p) + jb.dot(db.t) - ja.dot(da.t);
    let (mass, delassus) = (L::load(&block.mass), L::load(&block.delassus));
    let mut u = d.dot(b.v - a.v) + jb.dot(b.w) - ja.dot(a.w);
    let [push, pull, spring] = load3::<L>(&block.impulse);
    let mut new_spring = spring;
    let (rate, rigid) =
        (pass.rate(), Softness { bias_rate: 0.0, mass_scale: 1.0, impulse_scale: 0.0 });
    let (soft, max_speed) = match pass {
        Pass::Biased(soft) => (soft.soft, soft.max_speed),
        _ => (rigid, 0.0),
    };
    if let Pass::Biased(_) = pass {
        // What a spring gives is found before bodies move, halfway through the substep: the force at that length, which
        // neither gains nor loses energy; for a spring too stiff to be followed the force at the length after,
        // which only loses.
        let h = L::splat(1.0 / rate);
        let [rest, stiffness, damping] = load3::<L>(&block.spring);
        let stiff = (h * h * stiffness * delassus).gt(L::splat(MAX_PHASE * MAX_PHASE));
        let ahead = L::select(stiff, h * L::splat(0.5), zero);
        let resistance = h * (damping + ahead * stiffness);
        let force = h * stiffness * (length - rest) + resistance * (u - delassus * spring);
        new_spring = (zero - force) / (one + resistance * delassus);
        u = u + (new_spring - spring) * delassus;
    }
    let rate = L::splat(rate);
    let keep = L::splat(1.0 - soft.impulse_scale);
    let mass = mass * L::splat(soft.mass_scale);
    let room = length - L::load(&block.bounds[0]);
    let correction = (room.min(zero) * L::splat(soft.bias_rate)).max(L::splat(-max_speed));
    let new_push = (push * keep - mass * (u + room.max(zero) * rate + correction)).max(zero);
    let new_push = new_push * L::load(&block.bounded[0]);
    u = u + (new_push - push) * delassus;
    let room = L::load(&block.bounds[1]) - length;
    let correction = (room.min(zero) * L::splat(soft.bias_rate)).max(L::splat(-max_speed));
    let new_pull = (pull * keep - mass * (u - room.max(zero) * rate - correction)).min(zero);
    let new_pull = new_pull * L::load(&block.bounded[1]);

    new_push.store(&mut block.impulse[0]);
    new_pull.store(&mut block.impulse[1]);
    new_spring.store(&mut block.impulse[2]);
    if let Pass::Relax { .. } = pass {
        let all = new_push + new_pull + new_spring;
        (L::load(&block.total) + all).store(&mut block.total);
    }
    let sum = (new_spring - spring) + (new_push - push) + (new_pull - pull);
    let turn = Vec4::new(sum, zero, zero);
    a.v = a.v - d.scale(sum * a.inverse_mass);
    a.w = a.w - ja.scale(a.angular_part::<KINEMATIC>(turn).x);
    b.v = b.v + d.scale(sum * b.inverse_mass);
    b.w = b.w + jb.scale(b.angular_part::<KINEMATIC>(turn).x);
    // SAFETY: the caller's promise.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}
