//! Joints as blocks of the solver: the rows of each kind of joint.

use crate::joints::{Joint, JointKind};
use crate::math::{Mat3, Pose, SpatialVector, Vec3};
use crate::solver::{Block, Law, Row};

/// A block, and the position error along its rows (m) that is to be corrected.
pub(crate) struct JointBlock {
    pub(crate) block: Block,
    pub(crate) error: Vec3,
}

/// A spring whose phase advances by more than this per substep, rad, is too stiff to be resolved.
const MAX_PHASE: f64 = 1.0;

/// Calls `emit` with the blocks of a joint at the present poses: two at most.
pub(crate) fn blocks(
    joint: &Joint,
    poses: [&Pose; 2],
    velocities: [&SpatialVector; 2],
    inverse_mass: f64,
    kick_time: f64,
    h: f64,
    mut emit: impl FnMut(JointBlock),
) {
    let on = [0, 1].map(|side: usize| poses[side].transform_point(joint.def.anchors[side]));
    let apart = on[1] - on[0];
    if let JointKind::Ball = joint.def.kind {
        // One point for both bodies, so that the pair's angular momentum is conserved while the joint is open.
        let middle = (on[0] + on[1]) * 0.5;
        let arms = poses.map(|pose| middle - pose.position);
        let rows = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| Row::at(axis, arms[0], arms[1]));
        let block =
            Block { rows, impulse: joint.impulse, ..empty(joint, Law::Bilateral { rows: 3 }) };
        let before = block.velocity_of(velocities[0], velocities[1]);
        emit(rigid(block, apart, before, h));
        return;
    }
    let length = apart.length();
    // Anchors that coincide have no direction: any will do until they separate.
    let direction = if length > 0.0 { apart / length } else { Vec3::Z };
    let arms = [0, 1].map(|side: usize| on[side] - poses[side].position);
    let line = |sign: f64, law: Law| Block {
        rows: [Row::at(direction * sign, arms[0], arms[1]), Row::default(), Row::default()],
        impulse: Vec3::new(joint.impulse.x * sign, 0.0, 0.0),
        ..empty(joint, law)
    };
    match joint.def.kind {
        JointKind::Ball => {}
        JointKind::Distance { min, max } if min == max => {
            let block = line(1.0, Law::Bilateral { rows: 1 });
            let before = block.rows[0].velocity(velocities[0], velocities[1]);
            emit(rigid(block, Vec3::X * (length - min), Vec3::X * before, h));
        }
        JointKind::Distance { min, max } => {
            for (sign, room) in [(1.0, length - min), (-1.0, max - length)] {
                if room.is_finite() && (sign < 0.0 || min > 0.0) {
                    let mut block = line(sign, Law::Unilateral);
                    block.impulse.x = block.impulse.x.max(0.0);
                    block.offset.x = room.max(0.0) / h;
                    emit(JointBlock { block, error: Vec3::new(room.min(0.0), 0.0, 0.0) });
                }
            }
        }
        JointKind::Spring { rest_length, stiffness, damping } => {
            let stretch = length - rest_length;
            let mut block = line(1.0, Law::Bilateral { rows: 1 });
            // Halfway through the segment: the force at the mean of the lengths before and after, which neither gains
            // nor loses energy; for a spring too stiff to be resolved, the force at the length after, which only loses.
            // At a landing, which comes at any time and so leaves kicks up to half as far apart again, a force still
            // farther ahead, which is stable. Damping acts by the velocity after. Impulse -h (k (stretch + t u - s
            // u_before) + c u), written as u + offset + softness r = 0.
            let before = block.rows[0].velocity(velocities[0], velocities[1]);
            let followed = h * h * stiffness * inverse_mass <= MAX_PHASE * MAX_PHASE;
            let (t, s) = match (kick_time == 0.5 * h, followed) {
                (true, true) => (0.25 * h, 0.25 * h),
                (true, false) => (0.5 * h, 0.0),
                (false, _) => (h, 0.0),
            };
            let resistance = damping + t * stiffness;
            block.softness = (h * resistance).recip();
            block.offset.x = stiffness * (stretch - s * before) / resistance;
            if stiffness > 0.0 || damping > 0.0 {
                emit(JointBlock { block, error: Vec3::ZERO });
            }
        }
    }
}

/// Returns a rigid joint, evaluated halfway through the substep.
///
/// A body that swings moves on a chord: halfway it is off its circle by `C` and moves off it by `u_before`. With `u =
/// -C/h` afterwards it settles within two substeps to `C = h u_before`, where the joint does no work, as with contacts
/// that are apart. The velocity corrects no more than `u_before`, so it cannot grow: a joint that is open for another
/// reason is closed by displacement.
fn rigid(mut block: Block, error: Vec3, before: Vec3, h: f64) -> JointBlock {
    block.offset = (error / h).clamp_length_max(before.length());
    JointBlock { error: error - block.offset * h, block }
}

/// Returns the energy stored in a joint, J.
pub(crate) fn energy(joint: &Joint, poses: [&Pose; 2]) -> f64 {
    let JointKind::Spring { rest_length, stiffness, .. } = joint.def.kind else {
        return 0.0;
    };
    let on = [0, 1].map(|side: usize| poses[side].transform_point(joint.def.anchors[side]));
    let stretch = (on[1] - on[0]).length() - rest_length;
    0.5 * stiffness * stretch * stretch
}

fn empty(joint: &Joint, law: Law) -> Block {
    Block {
        bodies: joint.bodies,
        law,
        rows: [Row::default(); 3],
        offset: Vec3::ZERO,
        softness: 0.0,
        impulse: Vec3::ZERO,
        delassus: Mat3::ZERO,
    }
}
