//! Shape casts: the first point at which a shape that moves in a straight line without turning touches another.
//!
//! The distance of two convex shapes is a convex function of time then: Newton's method from a time at which they are apart
//! approaches the impact from below and never passes it.

use super::gjk::Simplex;
use super::separation::{Separation, Workspace, separation};
use super::shape::Shape;
use crate::math::{Pose, Vec3};

/// Maximum number of distance evaluations: contact at a grazing angle gains a bit with each.
const MAX_EVALUATIONS: usize = 64;

/// The outcome of a cast.
pub(crate) enum Cast {
    /// The shapes do not touch within the motion.
    Missed,
    /// They touch after this share of the motion, and not before.
    Touched { fraction: f64, separation: Separation },
    /// They touch from the start, or rounding prevents an answer.
    Unknown,
}

/// Casts a shape B at the pose `start` along `motion` against a shape A at rest. They touch when their distance is `touch`
/// or less. At the share `from` of the motion they are surely apart, unless it is zero; touching after the share `until`
/// does not count.
///
/// A result does not depend on `until`, only whether there is one.
#[expect(clippy::too_many_arguments, reason = "two placed shapes and a motion")]
pub(crate) fn cast(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    start: &Pose,
    motion: Vec3,
    [from, until]: [f64; 2],
    touch: f64,
    workspace: &mut Workspace,
) -> Cast {
    let simplex = &mut Simplex::default();
    let mut fraction = from;
    for evaluation in 0..MAX_EVALUATIONS {
        let pose = Pose::new(start.position + motion * fraction, start.rotation);
        let Some(found) = separation(a, pose_a, b, &pose, simplex, workspace) else {
            return if evaluation == 0 { Cast::Missed } else { Cast::Unknown };
        };
        // The true distance may be less by the error; along this normal, it is not.
        let sure = found.distance - found.error;
        if sure <= touch {
            let is_known = fraction > 0.0 && found.distance >= -touch;
            return match is_known {
                true => Cast::Touched { fraction, separation: found },
                false => Cast::Unknown,
            };
        }
        let rate = -motion.dot(found.normal);
        if !(rate > 0.0) {
            return Cast::Missed;
        }
        let next = fraction + (sure - 0.5 * touch) / rate;
        if next > until {
            return Cast::Missed;
        }
        if !(next > fraction) {
            // Floating-point numbers have no finer steps.
            return Cast::Touched { fraction, separation: found };
        }
        fraction = next;
    }
    Cast::Unknown
}
