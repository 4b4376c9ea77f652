//! The joints of a swept world, four to a block, in a constraint graph of their own.
// Index loops: iterators over a few lanes are not inlined into the kernels.
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

/// Phase per substep, rad, above which a spring is too stiff to resolve its oscillation.
const MAX_PHASE: f64 = 1.0;

const ZERO3: V4 = [F4::ZERO; 3];

/// The joints of a swept world by color.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointGraph {
    pub(crate) colors: Vec<JointColor>,
    /// By body: the colors of its joints, one bit each.
    used_colors: Vec<u64>,
    /// Number of joints of the world, unused indices included.
    pub(super) joint_count: usize,
    check: ColorCheck,
}

/// A set of joints that share no inertial body.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointColor {
    pub(crate) balls: Vec<BallJointBlock>,
    pub(crate) distances: Vec<DistanceJointBlock>,
    /// Numbers of ball joints and of distance joints.
    counts: [usize; 2],
}

/// Four ball joints. Coordinates are those of [`ContactBlock`](super::contact_block::ContactBlock).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct BallJointBlock {
    /// Indices of bodies A and B, plus one; [`DUMMY`] in empty lanes.
    pub(super) bodies: [[u32; 4]; 2],
    /// Indices of the joints; `u32::MAX` in empty lanes.
    pub(super) joints: [u32; 4],
    /// Whether a body of a joint is an environment body that rotates.
    pub(super) kinematic: bool,
    /// Anchors in the frames of A and B, m.
    pub(super) anchors: [V4; 2],
    /// Vector from A's anchor to B's at the start of the step, m.
    pub(super) gap: V4,
    /// Angular rows of A along the world's axes.
    pub(super) arms_a: [V4; 3],
    /// Angular rows of B along the world's axes.
    pub(super) arms_b: [V4; 3],
    /// Inverse of the Delassus matrix: xx, xy, xz, yy, yz, zz.
    pub(super) mass: [F4; 6],
    /// Impulse of the substep on B, N s.
    pub(super) impulse: V4,
    /// Impulse of the step on B, N s.
    pub(super) total: V4,
}

/// Four joints along the line between two anchors: rods, ropes and springs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct DistanceJointBlock {
    /// Indices of bodies A and B, plus one; [`DUMMY`] in empty lanes.
    pub(super) bodies: [[u32; 4]; 2],
    /// Indices of the joints; `u32::MAX` in empty lanes.
    pub(super) joints: [u32; 4],
    /// Whether a body of a joint is an environment body that rotates.
    pub(super) kinematic: bool,
    /// Anchors in the frames of A and B, m.
    pub(super) anchors: [V4; 2],
    /// Minimum and maximum length, m.
    pub(super) bounds: [F4; 2],
    /// 1 where the joint has that bound, else 0.
    pub(super) bounded: [F4; 2],
    /// Rest length (m), stiffness (N/m) and damping (N s/m) of springs.
    pub(super) spring: [F4; 3],
    /// Unit vector from A's anchor to B's.
    pub(super) direction: V4,
    /// Length at the start of the step, m.
    pub(super) length: F4,
    /// Angular row of A.
    pub(super) arm_a: V4,
    /// Angular row of B.
    pub(super) arm_b: V4,
    /// Inverse of `delassus`.
    pub(super) mass: F4,
    /// Velocity change along `direction` per unit impulse, 1/kg.
    pub(super) delassus: F4,
    /// Impulses of the substep along `direction`, N s: at the minimum length, at the maximum length, and of the spring.
    pub(super) impulse: [F4; 3],
    /// Impulse of the step along `direction`, N s.
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
    /// Rebuilds the graph from all joints with an awake body, with their stored impulses.
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
        self.joint_count = joints.joints.len();
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
            let insert = |to: &mut [[u32; 4]; 2], joints: &mut [u32; 4], anchors: &mut [V4; 2]| {
                joints[lane] = index;
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
                insert(&mut block.bodies, &mut block.joints, &mut block.anchors);
                set(&mut block.impulse, lane, joint.impulse);
                continue;
            }
            if block == distances.len() {
                distances.push(DistanceJointBlock::default());
            }
            let block = &mut distances[block];
            insert(&mut block.bodies, &mut block.joints, &mut block.anchors);
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

    /// Panics if a color other than the overflow holds an inertial body twice: the soundness of sweeps relies on it.
    pub(crate) fn check_colors(&mut self, bodies: &BodySet) {
        for (number, color) in self.colors.iter().enumerate().filter(|(at, _)| *at != OVERFLOW) {
            self.check.begin(number, bodies);
            self.check.add(color.balls.iter().map(|block| block.bodies));
            self.check.add(color.distances.iter().map(|block| block.bodies));
        }
    }

    /// Calls `visit` with every joint in the graph and its impulse on body B over the step, N s.
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

    /// Stores the impulses of the step, and those for warm starting the next one, in the joints.
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

/// Blocks of one color: ball joints and distance joints.
pub(crate) type JointBlocks<'a> = (&'a mut [BallJointBlock], &'a mut [DistanceJointBlock]);

/// The kernel that prepares the rows of one color's joints and adds their stored impulses to the warm start.
pub(crate) struct PrepareJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
}

impl<'a> PrepareJoints<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
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
            // SAFETY: the contract of `new`.
            unsafe { prepare_ball::<L>(block, &bodies) };
        }
        for block in distances {
            // SAFETY: the contract of `new`.
            unsafe { prepare_distance::<L>(block, &bodies) };
        }
    }
}

/// Prepares four ball joints for a step.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn prepare_ball<L: Lanes>(block: &mut BallJointBlock, bodies: &SharedBodies<'_>) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
    // SAFETY: the caller's contract.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    block.kinematic = a.any_kinematic_rotation() || b.any_kinematic_rotation();
    let ra = fa.rotate(Vec4::load(&block.anchors[0]));
    let rb = fb.rotate(Vec4::load(&block.anchors[1]));
    let gap = fb.position - fa.position + rb - ra;
    gap.store(&mut block.gap);
    // Both arms end at one point, midway, so that angular momentum is conserved even while the joint has a gap.
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
    // SAFETY: the caller's contract.
    unsafe {
        add_warm_start(none - impulse, none - combine(&rows_a, impulse), a.inverse_mass, bodies, ia)
    };
    // SAFETY: the caller's contract.
    unsafe { add_warm_start(impulse, combine(&rows_b, impulse), b.inverse_mass, bodies, ib) };
}

/// Prepares four springs, rods or ropes for a step.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn prepare_distance<L: Lanes>(block: &mut DistanceJointBlock, bodies: &SharedBodies<'_>) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
    // SAFETY: the caller's contract.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    block.kinematic = a.any_kinematic_rotation() || b.any_kinematic_rotation();
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let ra = fa.rotate(Vec4::load(&block.anchors[0]));
    let rb = fb.rotate(Vec4::load(&block.anchors[1]));
    let between = fb.position - fa.position + rb - ra;
    let length = between.dot(between).sqrt();
    // Coincident anchors have no direction: any will do until they separate.
    let apart = length.gt(zero);
    let unit = between.scale(L::select(apart, one / length, zero));
    let d = Vec4::new(unit.x, unit.y, L::select(apart, unit.z, one));
    let (ja, jb) = (fa.spin_change(ra.cross(d)), fb.spin_change(rb.cross(d)));
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
    // SAFETY: the caller's contract.
    unsafe { add_warm_start(d.scale(-impulse), ja.scale(-impulse), a.inverse_mass, bodies, ia) };
    // SAFETY: the caller's contract.
    unsafe { add_warm_start(d.scale(impulse), jb.scale(impulse), b.inverse_mass, bodies, ib) };
}

/// The kernel that sweeps once over the joints of a color.
pub(crate) struct SweepJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
    pass: Pass,
}

impl<'a> SweepJoints<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
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
                    // SAFETY: the contract of `new`.
                    unsafe {
                        match block.kinematic {
                            false => solve_ball::<L, false>(block, &bodies, &pass),
                            true => solve_ball::<L, true>(block, &bodies, &pass),
                        }
                    }
                }
                for block in distances {
                    // SAFETY: the contract of `new`.
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

/// Returns the angular rows along the world's axes at the end of an arm.
#[inline(always)]
fn cross_rows<L: Lanes>(frames: &Frames<L>, arm: Vec4<L>) -> [Vec4<L>; 3] {
    let zero = L::splat(0.0);
    [
        frames.spin_change(Vec4::new(zero, arm.z, -arm.y)),
        frames.spin_change(Vec4::new(-arm.z, zero, arm.x)),
        frames.spin_change(Vec4::new(arm.y, -arm.x, zero)),
    ]
}

/// Solves four ball joints.
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
    // SAFETY: the caller's contract.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    let (rows_a, rows_b) = (load_rows::<L>(&block.arms_a), load_rows::<L>(&block.arms_b));
    let mut u = b.v - a.v + along(&rows_b, b.w) - along(&rows_a, a.w);
    let old = Vec4::<L>::load(&block.impulse);
    let (mut mass_scale, mut keep) = (1.0, 1.0);
    if let Pass::Biased(soft) = pass {
        // SAFETY: the caller's contract.
        let (da, db) =
            unsafe { (DeltaPoses::<L>::load(bodies, ia), DeltaPoses::<L>::load(bodies, ib)) };
        let turned = along(&rows_b, db.t) - along(&rows_a, da.t);
        let gap = Vec4::load(&block.gap) + db.p - da.p + turned;
        u = u + gap.scale(L::splat(soft.soft.bias_rate));
        (mass_scale, keep) = (soft.soft.mass_scale, 1.0 - soft.soft.impulse_scale);
    }
    let correction = Symmetric::<L>::load(&block.mass).times(u).scale(L::splat(-mass_scale));
    let new = old.scale(L::splat(keep)) + correction;
    let change = new - old;
    new.store(&mut block.impulse);
    if let Pass::Relax { .. } = pass {
        (Vec4::load(&block.total) + new).store(&mut block.total);
    }
    a.v = a.v - change.scale(a.inverse_mass);
    a.w = a.w - combine(&rows_a, a.angular_part::<KINEMATIC>(change));
    b.v = b.v + change.scale(b.inverse_mass);
    b.w = b.w + combine(&rows_b, b.angular_part::<KINEMATIC>(change));
    // SAFETY: the caller's contract.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}

/// Solves four springs, rods or ropes.
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
    // SAFETY: the caller's contract.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    // SAFETY: the caller's contract.
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
        // A spring's impulse is found before bodies move, halfway through the substep, from the force at that length,
        // which neither gains nor loses energy. For a spring too stiff to resolve it is the force at the length after
        // the substep, which only loses energy.
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
    // SAFETY: the caller's contract.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}
