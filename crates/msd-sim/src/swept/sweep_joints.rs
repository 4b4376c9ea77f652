//! The sweeps over joints, which compute their impulses.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::sweep::{Pass, Softness};
use crate::constraints::joint_block::{
    BallJointBlock, DistanceJointBlock, JointBlocks, prepare_ball, prepare_distance,
};
use crate::constraints::lanes::{SharedBodies, Symmetric, Velocities, along, combine};
use crate::simd::{Kernel, Lanes, Vec4, load_rows, load3};

/// Phase per substep, rad, above which a spring is too stiff to resolve its oscillation.
const MAX_PHASE: f64 = 1.0;

/// The kernel that sweeps once over the joints of a color.
pub(crate) struct SweepJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
    pass: Pass,
    /// Duration of the next motion, s.
    time: f64,
}

impl<'a> SweepJoints<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
    ///
    /// A relax pass renews the rows first, for a next motion of `time`.
    pub(crate) unsafe fn new(
        (balls, distances): JointBlocks<'a>,
        bodies: SharedBodies<'a>,
        pass: Pass,
        time: f64,
    ) -> Self {
        Self { balls, distances, bodies, pass, time }
    }
}

impl Kernel for SweepJoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, distances, bodies, pass, time } = self;
        let renews = matches!(pass, Pass::Relax { .. });
        match pass {
            Pass::Biased(_) | Pass::Relax { .. } => {
                for block in balls {
                    // SAFETY: the contract of `new`.
                    unsafe {
                        if renews {
                            prepare_ball::<L, false>(block, &bodies, time);
                        }
                        match block.kinematic {
                            false => solve_ball::<L, false>(block, &bodies, &pass),
                            true => solve_ball::<L, true>(block, &bodies, &pass),
                        }
                    }
                }
                for block in distances {
                    // SAFETY: the contract of `new`.
                    unsafe {
                        if renews {
                            prepare_distance::<L, false>(block, &bodies, time);
                        }
                        match block.kinematic {
                            false => solve_distance::<L, false>(block, &bodies, &pass),
                            true => solve_distance::<L, true>(block, &bodies, &pass),
                        }
                    }
                }
            }
            Pass::RestitutionEnergy { .. } | Pass::Restitution { .. } => {}
        }
    }
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
        let gap = Vec4::<L>::load(&block.gap).scale(L::splat(soft.soft.bias_rate));
        u = u + gap + Vec4::load(&block.curvature);
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
    let (ja, jb) = (Vec4::<L>::load(&block.arm_a), Vec4::<L>::load(&block.arm_b));
    let d = Vec4::<L>::load(&block.direction);
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let length = L::load(&block.length);
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
        u = u + (new_spring - spring) * delassus + L::load(&block.curvature);
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
        let all = d.scale(new_push + new_pull + new_spring);
        (Vec4::load(&block.total) + all).store(&mut block.total);
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
