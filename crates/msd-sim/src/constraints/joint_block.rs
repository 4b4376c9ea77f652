//! The joints of a world, four to a block, in a constraint graph of their own.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::contact_block::{get, set};
use super::graph::{COLORS, ColorCheck, OVERFLOW};
use super::joint_rows::{AnyTurns, RoundTurns, Rows, Turns, rotated};
use super::lanes::{
    DeltaPoses, Frames, SharedBodies, Symmetric, Velocities, add_warm_spin, add_warm_start,
};
use super::solver_bodies::DUMMY;
use crate::bodies::BodySet;
use crate::joints::{Joint, JointKind, JointSet};
use crate::math::{Quat, Vec3};
use crate::simd::{F4, Kernel, Lanes, V4, Vec4, load3};

const ZERO3: V4 = [F4::ZERO; 3];

/// The joints of a world by color.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct JointGraph {
    pub(crate) colors: Vec<JointColor>,
    /// By body: the colors of its joints, one bit each; of environment bodies, the bit of the overflow color.
    pub(crate) used_colors: Vec<u64>,
    /// The bodies of all joints in the graph.
    pub(crate) bodies: Vec<JointedBody>,
    /// Number of joints of the world, unused indices included.
    pub(crate) joint_count: usize,
    /// Whether the graph has to be rebuilt.
    dirty: bool,
    #[serde(skip)]
    check: ColorCheck,
}

/// A body with joints in a step.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct JointedBody {
    pub(crate) body: u32,
    /// Whether the body is rotated freely in every substep, and its spin with it: it has no contacts, whose rows
    /// rely on the frame at the start of the step, and its inertia depends on its orientation.
    pub(crate) rotates_frame: bool,
    /// Orientation in the present substep, if it rotates its frame.
    pub(crate) rotation: Quat,
}

/// A set of joints that share no inertial body.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct JointColor {
    pub(crate) balls: Vec<BallJointBlock>,
    pub(crate) distances: Vec<DistanceJointBlock>,
    /// Numbers of ball joints and of distance joints.
    counts: [usize; 2],
}

/// What the rows of four joints are renewed from in a step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Arms {
    /// Whether the bodies are round: `T`, see [`Frame`](super::solver_bodies::Frame), is a multiple of the identity.
    pub(crate) round: bool,
    /// Whether impulses do not move one of the bodies.
    pub(crate) fixed: bool,
    /// These multiples, of A and B.
    scales: [F4; 2],
    /// Vectors from the centers of mass of A and B to their anchors at the start of the step, m.
    starts: [V4; 2],
    /// Vector from A's center of mass to B's at the start of the step, m.
    between: V4,
}

/// Four ball joints. Coordinates are those of [`SolverRows`](super::solver_rows::SolverRows).
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct BallJointBlock {
    /// Indices of bodies A and B, plus one; [`DUMMY`] in empty lanes.
    pub(crate) bodies: [[u32; 4]; 2],
    /// Indices of the joints; `u32::MAX` in empty lanes.
    pub(crate) joints: [u32; 4],
    /// Anchors in the frames of A and B, m.
    pub(crate) anchors: [V4; 2],
    pub(crate) arms: Arms,
    /// Velocity that biased sweeps see beyond that of the rows, m/s: the one that closes the gap, and the mean velocity of
    /// B's anchor relative to A's over the coming motion because the arms rotate meanwhile.
    pub(crate) bias: V4,
    /// Inverse of the Delassus matrix: xx, xy, xz, yy, yz, zz.
    pub(crate) mass: [F4; 6],
    /// Impulse of the substep on B, N s.
    pub(crate) impulse: V4,
    /// Angular rows along the world's axes, each of A and B: see [`Rows`].
    pub(crate) rows: [[V4; 2]; 3],
    /// Impulse of the step on B, N s.
    pub(crate) total: V4,
}

/// Four joints along the line between two anchors: rods, ropes and springs.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[repr(C, align(64))]
pub(crate) struct DistanceJointBlock {
    /// Indices of bodies A and B, plus one; [`DUMMY`] in empty lanes.
    pub(crate) bodies: [[u32; 4]; 2],
    /// Indices of the joints; `u32::MAX` in empty lanes.
    pub(crate) joints: [u32; 4],
    /// Anchors in the frames of A and B, m.
    pub(crate) anchors: [V4; 2],
    pub(crate) arms: Arms,
    /// Minimum and maximum length, m.
    pub(crate) bounds: [F4; 2],
    /// 1 where the joint has that bound, else 0.
    pub(crate) bounded: [F4; 2],
    /// Rest length (m), stiffness (N/m) and damping (N s/m) of springs.
    pub(crate) spring: [F4; 3],
    /// Unit vector from A's anchor to B's.
    pub(crate) direction: V4,
    /// Length in the present substep, m.
    pub(crate) length: F4,
    /// Mean rate of the length over the coming motion, beyond that of the rows, because arms and direction rotate
    /// meanwhile, m/s.
    pub(crate) curvature: F4,
    /// Angular row of A.
    pub(crate) arm_a: V4,
    /// Angular row of B.
    pub(crate) arm_b: V4,
    /// Inverse of `delassus`.
    pub(crate) mass: F4,
    /// Velocity change along `direction` per unit impulse, 1/kg.
    pub(crate) delassus: F4,
    /// Impulses of the substep along `direction`, N s: at the minimum length, at the maximum length, and of the spring.
    pub(crate) impulse: [F4; 3],
    /// Impulse of the step on B, N s.
    pub(crate) total: V4,
}

impl Default for BallJointBlock {
    fn default() -> Self {
        Self {
            bodies: [[DUMMY; 4]; 2],
            joints: [u32::MAX; 4],
            anchors: [ZERO3; 2],
            arms: Arms::default(),
            bias: ZERO3,
            mass: [F4::ZERO; 6],
            impulse: ZERO3,
            rows: [[ZERO3; 2]; 3],
            total: ZERO3,
        }
    }
}

impl Default for DistanceJointBlock {
    fn default() -> Self {
        Self {
            bodies: [[DUMMY; 4]; 2],
            joints: [u32::MAX; 4],
            anchors: [ZERO3; 2],
            arms: Arms::default(),
            bounds: [F4::ZERO; 2],
            bounded: [F4::ZERO; 2],
            spring: [F4::ZERO; 3],
            direction: ZERO3,
            length: F4::ZERO,
            curvature: F4::ZERO,
            arm_a: ZERO3,
            arm_b: ZERO3,
            mass: F4::ZERO,
            delassus: F4::ZERO,
            impulse: [F4::ZERO; 3],
            total: ZERO3,
        }
    }
}

/// Writes the index, the bodies and the anchors of a joint to a lane.
fn set_ends(
    lane: usize,
    index: u32,
    joint: &Joint,
    (bodies, joints, anchors): (&mut [[u32; 4]; 2], &mut [u32; 4], &mut [V4; 2]),
) {
    joints[lane] = index;
    for side in 0..2 {
        bodies[side][lane] = joint.bodies[side] + 1;
        set(&mut anchors[side], lane, joint.def.anchors[side]);
    }
}

impl BallJointBlock {
    /// Writes a joint to an empty lane, with its stored impulse.
    fn set_joint(&mut self, lane: usize, index: u32, joint: &Joint) {
        set_ends(lane, index, joint, (&mut self.bodies, &mut self.joints, &mut self.anchors));
        set(&mut self.impulse, lane, joint.impulse);
    }

    /// Returns the angular rows of both bodies along one of the world's axes.
    pub(crate) fn angular_rows(&self, axis: usize, lane: usize) -> [Vec3; 2] {
        [0, 1].map(|side: usize| match self.arms.round {
            true => get(&self.rows[0][side], lane).cross(Vec3::AXES[axis]),
            false => get(&self.rows[axis][side], lane),
        })
    }
}

impl DistanceJointBlock {
    /// Writes a rod, rope or spring to an empty lane, with its stored impulse.
    fn set_joint(&mut self, lane: usize, index: u32, joint: &Joint) {
        set_ends(lane, index, joint, (&mut self.bodies, &mut self.joints, &mut self.anchors));
        let x = joint.impulse.x;
        match joint.def.kind {
            JointKind::Ball => {}
            JointKind::Distance { min, max } => {
                self.bounds[0].0[lane] = min;
                self.bounded[0].0[lane] = f64::from(u8::from(min > 0.0));
                self.bounds[1].0[lane] = if max.is_finite() { max } else { 0.0 };
                self.bounded[1].0[lane] = f64::from(u8::from(max.is_finite()));
                self.impulse[0].0[lane] = x.max(0.0);
                self.impulse[1].0[lane] = x.min(0.0);
            }
            JointKind::Spring { rest_length, stiffness, damping } => {
                self.spring[0].0[lane] = rest_length;
                self.spring[1].0[lane] = stiffness;
                self.spring[2].0[lane] = damping;
                self.impulse[2].0[lane] = x;
            }
        }
    }
}

impl JointGraph {
    /// Registers that joints were added, removed or put to sleep.
    pub(crate) fn mark_dirty(&mut self) {
        self.dirty = true;
    }

    /// Returns whether the graph has to be rebuilt, and registers that it was.
    pub(crate) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

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
        self.used_colors.fill(0);
        self.bodies.clear();
        for index in joints.slots.iter() {
            if joints.joints[index as usize].bodies.iter().any(|&body| is_awake(body)) {
                self.insert(bodies, joints, index);
            }
        }
    }

    /// Adds a new joint of awake bodies, in the first color that is free.
    pub(crate) fn add(&mut self, bodies: &BodySet, joints: &JointSet, index: u32) {
        // A rebuild, where one is due, adds it too.
        if !self.dirty {
            self.insert(bodies, joints, index);
        }
    }

    fn insert(&mut self, bodies: &BodySet, joints: &JointSet, index: u32) {
        self.used_colors.resize(bodies.poses.len(), 0);
        self.joint_count = joints.joints.len();
        let joint = &joints.joints[index as usize];
        let inertial = joint.bodies.map(|body| bodies.is_inertial(body as usize));
        let used = [0, 1].map(|side: usize| match inertial[side] {
            true => self.used_colors[joint.bodies[side] as usize],
            false => 0,
        });
        let free = !(used[0] | used[1]) & !(1 << OVERFLOW);
        let color = if free == 0 { OVERFLOW } else { free.trailing_zeros() as usize };
        for side in 0..2 {
            let body = joint.bodies[side];
            let used = &mut self.used_colors[body as usize];
            if *used == 0 {
                let rotation = Quat::IDENTITY;
                self.bodies.push(JointedBody { body, rotates_frame: false, rotation });
            }
            *used |= if inertial[side] { 1 << color } else { 1 << OVERFLOW };
        }
        let JointColor { balls, distances, counts } = &mut self.colors[color];
        let count = &mut counts[usize::from(joint.def.kind != JointKind::Ball)];
        let (block, lane) = match color {
            OVERFLOW => (*count, 0),
            _ => (*count / 4, *count % 4),
        };
        *count += 1;
        match joint.def.kind {
            JointKind::Ball => {
                if block == balls.len() {
                    balls.push(BallJointBlock::default());
                }
                balls[block].set_joint(lane, index, joint);
            }
            JointKind::Distance { .. } | JointKind::Spring { .. } => {
                if block == distances.len() {
                    distances.push(DistanceJointBlock::default());
                }
                distances[block].set_joint(lane, index, joint);
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
                        joint.total = get(&block.total, lane);
                    }
                }
            }
        }
    }
}

/// Blocks of one color: ball joints and distance joints.
pub(crate) type JointBlocks<'a> = (&'a mut [BallJointBlock], &'a mut [DistanceJointBlock]);

/// The kernel that prepares the rows of one color's joints for the first substep, and adds their stored impulses to the
/// warm start.
pub(crate) struct PrepareJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
    ahead: Ahead,
}

/// What joints are renewed for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Duration of the next motion, s.
    pub(crate) time: f64,
    /// Rate at which biased sweeps close the gaps of ball joints, 1/s.
    pub(crate) bias_rate: f64,
}

impl<'a> PrepareJoints<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
    pub(crate) unsafe fn new(
        (balls, distances): JointBlocks<'a>,
        bodies: SharedBodies<'a>,
        ahead: Ahead,
    ) -> Self {
        Self { balls, distances, bodies, ahead }
    }
}

impl Kernel for PrepareJoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, distances, bodies, ahead } = self;
        let bodies = bodies.same_length();
        let zero = F4::ZERO;
        for block in balls {
            block.total = [zero; 3];
            // SAFETY: the contract of `new`.
            unsafe {
                let ends = load_ends::<L>(&bodies, block.bodies);
                block.arms.begin(&block.anchors, &bodies, block.bodies, &ends);
                match block.arms.round {
                    true => {
                        renew_ball::<L, RoundTurns<L>, true, true>(block, &bodies, &ends, ahead);
                    }
                    false => {
                        renew_ball::<L, AnyTurns<L>, true, true>(block, &bodies, &ends, ahead);
                    }
                }
            }
        }
        for block in distances {
            block.total = [zero; 3];
            // SAFETY: the contract of `new`.
            unsafe {
                let ends = load_ends::<L>(&bodies, block.bodies);
                block.arms.begin(&block.anchors, &bodies, block.bodies, &ends);
                match block.arms.round {
                    true => {
                        renew_distance::<L, RoundTurns<L>, true>(block, &bodies, &ends, ahead);
                    }
                    false => {
                        renew_distance::<L, AnyTurns<L>, true>(block, &bodies, &ends, ahead);
                    }
                }
            }
        }
    }
}

/// The velocities of bodies A and B of four joints.
pub(crate) type Ends<L> = (Velocities<L>, Velocities<L>);

/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
pub(crate) unsafe fn load_ends<L: Lanes>(
    bodies: &SharedBodies<'_>,
    [a, b]: [[u32; 4]; 2],
) -> Ends<L> {
    // SAFETY: the caller's contract.
    unsafe { (Velocities::load(bodies, a), Velocities::load(bodies, b)) }
}

/// The bodies and arms of four joints in the present substep.
struct Present<L, T> {
    turns: [T; 2],
    /// Vectors from the centers of mass to the anchors, m.
    arms: [Vec4<L>; 2],
    /// Vector from A's anchor to B's, m.
    gap: Vec4<L>,
}

impl Arms {
    /// Computes the arms at the start of a step.
    ///
    /// # Safety
    /// See [`SharedBodies`].
    #[inline(always)]
    unsafe fn begin<L: Lanes>(
        &mut self,
        anchors: &[V4; 2],
        bodies: &SharedBodies<'_>,
        [ia, ib]: [[u32; 4]; 2],
        (a, b): &Ends<L>,
    ) {
        // SAFETY: the caller's contract.
        let (fa, fb) = unsafe { (Frames::<L>::load(bodies, ia), Frames::<L>::load(bodies, ib)) };
        self.fixed = a.any_fixed() || b.any_fixed();
        let ((scale_a, round_a), (scale_b, round_b)) = (fa.spin_scale(), fb.spin_scale());
        self.round = round_a && round_b;
        scale_a.store(&mut self.scales[0]);
        scale_b.store(&mut self.scales[1]);
        fa.rotate(Vec4::load(&anchors[0])).store(&mut self.starts[0]);
        fb.rotate(Vec4::load(&anchors[1])).store(&mut self.starts[1]);
        (fb.position - fa.position).store(&mut self.between);
    }

    /// Returns the arms after the displacements of the bodies.
    ///
    /// # Safety
    /// See [`SharedBodies`].
    #[inline(always)]
    unsafe fn present<L: Lanes, T: Turns<L>>(
        &self,
        bodies: &SharedBodies<'_>,
        [ia, ib]: [[u32; 4]; 2],
    ) -> Present<L, T> {
        // SAFETY: the caller's contract.
        let (ta, tb, a, b) = unsafe {
            (
                T::load(bodies, ia, &self.scales[0]),
                T::load(bodies, ib, &self.scales[1]),
                DeltaPoses::<L>::load(bodies, ia),
                DeltaPoses::<L>::load(bodies, ib),
            )
        };
        let ra = rotated(ta.angular(a.t), Vec4::load(&self.starts[0]));
        let rb = rotated(tb.angular(b.t), Vec4::load(&self.starts[1]));
        let gap = Vec4::load(&self.between) + (b.p - a.p) + (rb - ra);
        Present { turns: [ta, tb], arms: [ra, rb], gap }
    }
}

impl<L: Lanes, T: Turns<L>> Present<L, T> {
    /// Returns the mean velocity of B's anchor relative to A's over the coming motion, beyond that of the centers of mass and
    /// `w x r`: for each half its acceleration times that `time`, but never faster than the rotation itself.
    #[inline(always)]
    fn curvature(&self, (a, b): &Ends<L>, time: f64) -> Vec4<L> {
        let [ta, tb] = &self.turns;
        let [ra, rb] = self.arms;
        let (half, one) = (L::splat(0.5 * time), L::splat(1.0));
        let (wa, wb) = (ta.angular(a.w), tb.angular(b.w));
        let (squared_a, squared_b) = (wa.dot(wa), wb.dot(wb));
        // w x (w x r) + w' x r
        let bend_a = wa.scale(wa.dot(ra)) - ra.scale(squared_a) + ta.free_acceleration(ra);
        let bend_b = wb.scale(wb.dot(rb)) - rb.scale(squared_b) + tb.free_acceleration(rb);
        // Both divided by their own factor, with one division.
        let (slow_a, slow_b) = (one + half * half * squared_a, one + half * half * squared_b);
        let both = half / (slow_a * slow_b);
        bend_b.scale(both * slow_a) - bend_a.scale(both * slow_b)
    }
}

/// Renews four ball joints at the present poses of their bodies, for what is `ahead`, and adds their impulses to the
/// warm start: in the `FIRST` substep to the velocity change by impulses; in others, by the change of their arms, to what
/// differs from the velocity before impulses. Returns their rows and the inverse of the Delassus matrix.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
pub(crate) unsafe fn renew_ball<L: Lanes, T: Turns<L>, const FIRST: bool, const FIXED: bool>(
    block: &mut BallJointBlock,
    bodies: &SharedBodies<'_>,
    ends: &Ends<L>,
    Ahead { time, bias_rate }: Ahead,
) -> ([T::Rows; 2], Symmetric<L>) {
    let ([ia, ib], (a, b)) = (block.bodies, ends);
    // SAFETY: the caller's contract.
    let present = unsafe { block.arms.present::<L, T>(bodies, block.bodies) };
    let bend = present.curvature(ends, time);
    let Present { turns: [ta, tb], arms: [ra, rb], gap } = present;
    (gap.scale(L::splat(bias_rate)) + bend).store(&mut block.bias);
    // Both arms end at one point, midway, so that angular momentum is conserved even while the joint has a gap.
    let half = gap.scale(L::splat(0.5));
    let (rows_a, rows_b) = (ta.rows(ra + half), tb.rows(rb - half));
    let (mut by_a, mut by_b) = (rows_a.coupling(), rows_b.coupling());
    if FIXED {
        (by_a, by_b) = (by_a.scale(a.dynamic()), by_b.scale(b.dynamic()));
    }
    let mass = by_a.sum(&by_b, a.inverse_mass + b.inverse_mass).inverse();
    mass.store(&mut block.mass);
    let impulse = Vec4::<L>::load(&block.impulse);
    let (turn_a, turn_b) = (rows_a.combine(impulse), rows_b.combine(impulse));
    let none = Vec4::<L>::splat(0.0);
    // SAFETY: the caller's contract.
    unsafe {
        if FIRST {
            add_warm_start(none - impulse, none - turn_a, a.inverse_mass, bodies, ia);
            add_warm_start(impulse, turn_b, b.inverse_mass, bodies, ib);
        } else {
            // A body that rotates its frame has dropped the impulses along its old arms. The warm start is what is
            // subtracted from the velocity.
            let old_a = ta.kept(T::Rows::load(&block.rows, 0).combine(impulse));
            let old_b = tb.kept(T::Rows::load(&block.rows, 1).combine(impulse));
            add_warm_spin::<L, FIXED>(turn_a - old_a, a.inverse_mass, bodies, ia);
            add_warm_spin::<L, FIXED>(old_b - turn_b, b.inverse_mass, bodies, ib);
        }
    }
    rows_a.store(&mut block.rows, 0);
    rows_b.store(&mut block.rows, 1);
    ([rows_a, rows_b], mass)
}

/// Renews four springs, rods or ropes, likewise.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
pub(crate) unsafe fn renew_distance<L: Lanes, T: Turns<L>, const FIRST: bool>(
    block: &mut DistanceJointBlock,
    bodies: &SharedBodies<'_>,
    ends: &Ends<L>,
    Ahead { time, .. }: Ahead,
) {
    let ([ia, ib], (a, b)) = (block.bodies, ends);
    // SAFETY: the caller's contract.
    let present = unsafe { block.arms.present::<L, T>(bodies, block.bodies) };
    let bend = present.curvature(ends, time);
    let Present { turns: [ta, tb], arms: [ra, rb], gap } = present;
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let length = gap.dot(gap).sqrt();
    // Coincident anchors have no direction: any will do until they separate.
    let apart = length.gt(zero);
    let unit = gap.scale(L::select(apart, one / length, zero));
    let d = Vec4::new(unit.x, unit.y, L::select(apart, unit.z, one));
    let (ja, jb) = (ta.spin_change(ra.cross(d)), tb.spin_change(rb.cross(d)));
    let delassus =
        a.inverse_mass + b.inverse_mass + ja.dot(ja) * a.dynamic() + jb.dot(jb) * b.dynamic();
    let mass = L::select(delassus.gt(zero), one / delassus, zero);
    // The direction rotates at the speed across it over the length.
    let (wa, wb) = (ta.angular(a.w), tb.angular(b.w));
    let u = b.v - a.v + wb.cross(rb) - wa.cross(ra);
    let across = u - d.scale(u.dot(d));
    let half = L::splat(0.5 * time);
    let squared = across.dot(across);
    let turned = half * squared * length / (length * length + half * half * squared);
    (d.dot(bend) + L::select(apart, turned, zero)).store(&mut block.curvature);

    let [p, q, r] = load3::<L>(&block.impulse);
    let impulse = p + q + r;
    let none = Vec4::<L>::splat(0.0);
    let (mut turn_a, mut turn_b) = (ja.scale(impulse), jb.scale(impulse));
    let mut linear = d.scale(impulse);
    if !FIRST {
        // See `renew_ball`.
        turn_a = ta.kept(Vec4::<L>::load(&block.arm_a).scale(impulse)) - turn_a;
        turn_b = tb.kept(Vec4::<L>::load(&block.arm_b).scale(impulse)) - turn_b;
        linear = Vec4::<L>::load(&block.direction).scale(impulse) - linear;
    }
    d.store(&mut block.direction);
    length.store(&mut block.length);
    ja.store(&mut block.arm_a);
    jb.store(&mut block.arm_b);
    mass.store(&mut block.mass);
    delassus.store(&mut block.delassus);
    // SAFETY: the caller's contract.
    unsafe {
        add_warm_start(none - linear, none - turn_a, a.inverse_mass, bodies, ia);
        add_warm_start(linear, turn_b, b.inverse_mass, bodies, ib);
    }
}
