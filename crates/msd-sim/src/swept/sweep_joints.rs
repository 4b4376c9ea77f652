//! The sweeps over joints, which compute their impulses.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use super::sweep::{Pass, Softness};
use crate::constraints::joint_block::{
    Ahead, BallJointBlock, DistanceJointBlock, JointBlocks, load_ends, renew_ball, renew_distance,
};
use crate::constraints::joint_rows::{AnyTurns, RoundTurns, Rows, Turns};
use crate::constraints::lanes::{SharedBodies, Symmetric};
use crate::simd::{Kernel, Lanes, Vec4, load3};

/// Phase per substep, rad, above which a spring is too stiff to resolve its oscillation.
const MAX_PHASE: f64 = 1.0;

/// The kernel that sweeps once over the joints of a color.
pub(crate) struct SweepJoints<'a> {
    balls: &'a mut [BallJointBlock],
    distances: &'a mut [DistanceJointBlock],
    bodies: SharedBodies<'a>,
    pass: Pass,
    ahead: Ahead,
}

impl<'a> SweepJoints<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
    ///
    /// A relax pass renews the rows first, for what is `ahead`.
    pub(crate) unsafe fn new(
        (balls, distances): JointBlocks<'a>,
        bodies: SharedBodies<'a>,
        pass: Pass,
        ahead: Ahead,
    ) -> Self {
        Self { balls, distances, bodies, pass, ahead }
    }
}

impl Kernel for SweepJoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { balls, distances, bodies, pass, ahead } = self;
        let bodies = bodies.same_length();
        // SAFETY: the contract of `new`.
        unsafe {
            match pass {
                Pass::Biased(_) => sweep::<L, false>(balls, distances, &bodies, &pass, ahead),
                Pass::Relax { .. } => sweep::<L, true>(balls, distances, &bodies, &pass, ahead),
                Pass::RestitutionEnergy { .. } | Pass::Restitution { .. } => {}
            }
        }
    }
}

/// Sweeps once over joints, and renews their rows if `RELAX`.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn sweep<L: Lanes, const RELAX: bool>(
    balls: &mut [BallJointBlock],
    distances: &mut [DistanceJointBlock],
    bodies: &SharedBodies<'_>,
    pass: &Pass,
    ahead: Ahead,
) {
    for block in balls {
        // SAFETY: the caller's contract.
        unsafe {
            match (block.arms.round, block.arms.fixed) {
                (true, false) => {
                    solve_ball::<L, RoundTurns<L>, RELAX, false>(block, bodies, pass, ahead);
                }
                (true, true) => {
                    solve_ball::<L, RoundTurns<L>, RELAX, true>(block, bodies, pass, ahead);
                }
                (false, _) => {
                    solve_ball::<L, AnyTurns<L>, RELAX, true>(block, bodies, pass, ahead);
                }
            }
        }
    }
    for block in distances {
        // SAFETY: the caller's contract.
        unsafe {
            match block.arms.round {
                true => solve_distance::<L, RoundTurns<L>, RELAX>(block, bodies, pass, ahead),
                false => solve_distance::<L, AnyTurns<L>, RELAX>(block, bodies, pass, ahead),
            }
        }
    }
}

/// Solves four ball joints.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_ball<L: Lanes, T: Turns<L>, const RELAX: bool, const FIXED: bool>(
    block: &mut BallJointBlock,
    bodies: &SharedBodies<'_>,
    pass: &Pass,
    ahead: Ahead,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let mut ends = unsafe { load_ends::<L>(bodies, block.bodies) };
    let ([rows_a, rows_b], mass) = match RELAX {
        // SAFETY: the caller's contract.
        true => unsafe { renew_ball::<L, T, false, FIXED>(block, bodies, &ends, ahead) },
        false => {
            let rows = [T::Rows::load(&block.rows, 0), T::Rows::load(&block.rows, 1)];
            (rows, Symmetric::load(&block.mass))
        }
    };
    let (a, b) = (&mut ends.0, &mut ends.1);
    let mut u = b.v - a.v + rows_b.along(b.w) - rows_a.along(a.w);
    let old = Vec4::<L>::load(&block.impulse);
    let (mut mass_scale, mut keep) = (1.0, 1.0);
    if let Pass::Biased(soft) = pass {
        u = u + Vec4::load(&block.bias);
        (mass_scale, keep) = (soft.soft.mass_scale, 1.0 - soft.soft.impulse_scale);
    }
    let correction = mass.times(u).scale(L::splat(-mass_scale));
    let new = old.scale(L::splat(keep)) + correction;
    let change = new - old;
    new.store(&mut block.impulse);
    if RELAX {
        (Vec4::load(&block.total) + new).store(&mut block.total);
    }
    a.v = a.v - change.scale(a.inverse_mass);
    a.w = a.w - rows_a.combine(a.angular_part::<FIXED>(change));
    b.v = b.v + change.scale(b.inverse_mass);
    b.w = b.w + rows_b.combine(b.angular_part::<FIXED>(change));
    // SAFETY: the caller's contract.
    unsafe {
        if FIXED {
            a.store(bodies, ia);
            b.store(bodies, ib);
        } else {
            a.store_moved(bodies, ia);
            b.store_moved(bodies, ib);
        }
    }
}

/// Solves four springs, rods or ropes.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_distance<L: Lanes, T: Turns<L>, const RELAX: bool>(
    block: &mut DistanceJointBlock,
    bodies: &SharedBodies<'_>,
    pass: &Pass,
    ahead: Ahead,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let mut ends = unsafe { load_ends::<L>(bodies, block.bodies) };
    if RELAX {
        // SAFETY: the caller's contract.
        unsafe { renew_distance::<L, T, false>(block, bodies, &ends, ahead) };
    }
    let (a, b) = (&mut ends.0, &mut ends.1);
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
    if RELAX {
        let all = d.scale(new_push + new_pull + new_spring);
        (Vec4::load(&block.total) + all).store(&mut block.total);
    }
    let sum = (new_spring - spring) + (new_push - push) + (new_pull - pull);
    let turn = Vec4::new(sum, zero, zero);
    a.v = a.v - d.scale(sum * a.inverse_mass);
    a.w = a.w - ja.scale(a.angular_part::<true>(turn).x);
    b.v = b.v + d.scale(sum * b.inverse_mass);
    b.w = b.w + jb.scale(b.angular_part::<true>(turn).x);
    // SAFETY: the caller's contract.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}
