//! The narrow phase of one pair, the same for exact and swept steps: its constants, its manifold, and when a manifold
//! that was found at other poses still holds.

use crate::bodies::BodySet;
use crate::geometry::{ContactPoint, Manifold, PairMemory, Workspace, contact_manifold};
use crate::math::{Pose, Vec3};

/// Cosine of 30 degrees: a normal that turned farther belongs to another contact that happens to have the same
/// features.
const SAME_CONTACT: f64 = 0.866;

/// The properties of a pair that follow from its two colliders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairProperties {
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// The smaller of the two sizes, m.
    pub(crate) size: f64,
    /// The smaller of the two radii, m, and whether it is that of A.
    pub(crate) radius: f64,
    pub(crate) a_is_smaller: bool,
}

impl PairProperties {
    pub(crate) fn of(bodies: &BodySet, pair: [u32; 2]) -> Self {
        let [a, b] = pair.map(|collider| &bodies.colliders.solids[collider as usize]);
        let [restitution, friction] = bodies.combines.of(&a.material, &b.material);
        Self {
            friction,
            restitution,
            size: a.size.min(b.size),
            radius: a.radius.min(b.radius),
            a_is_smaller: a.radius < b.radius,
        }
    }
}

/// Returns an upper bound on how far the points of a body have moved relative to another one, m, when its relative pose
/// changed from `before` to `now`. `radius` is that of the body whose pose it is: the points of the other one may have
/// moved farther, if they are far from its center.
#[inline]
pub(crate) fn relative_motion(before: &Pose, now: &Pose, radius: f64) -> f64 {
    // Twice the sine of half the angle, from the vector part of the relative rotation.
    let turn = (now.rotation * before.rotation.conjugate()).xyz().length() * 2.0;
    (now.position - before.position).length() + turn * radius
}

/// Returns the manifold of two colliders at these poses of their bodies, with points up to `margin` apart.
#[inline]
pub(crate) fn find_manifold(
    bodies: &BodySet,
    pair: [u32; 2],
    poses: [&Pose; 2],
    margin: f64,
    memory: &mut PairMemory,
    workspace: &mut Workspace,
) -> Manifold {
    let [a, b] = pair.map(|collider| &bodies.colliders.solids[collider as usize]);
    let (pose_a, pose_b) = (a.shape_pose(poses[0]), b.shape_pose(poses[1]));
    contact_manifold(&a.shape, &pose_a, &b.shape, &pose_b, margin, memory, workspace)
}

/// Returns the points on the two surfaces at a contact point, in the frames of A and of B.
#[inline]
pub(crate) fn anchors(normal: Vec3, point: &ContactPoint, [a, b]: [&Pose; 2]) -> [Vec3; 2] {
    // The point lies midway: A's surface is half the depth ahead of it along the normal, B's half the depth behind.
    let half = normal * (0.5 * point.depth);
    [
        a.inverse_transform_point(point.position + half),
        b.inverse_transform_point(point.position - half),
    ]
}

/// Returns whether impulses remembered under one normal may start contacts under another.
#[inline]
pub(crate) fn is_same_contact(before: Vec3, now: Vec3) -> bool {
    before.dot(now) >= SAME_CONTACT
}
