//! Vectors, rotations and poses.

#[doc(inline)]
pub use msd_problem::math::{
    Mat3, Pose, Quat, SIZE_RANGE, SpatialVector, Vec3, orthonormal_basis, rotation,
};

/// Returns the index of the largest component, the first of equals.
#[inline]
pub(crate) fn largest_axis(v: Vec3) -> usize {
    if v.x >= v.y && v.x >= v.z {
        0
    } else if v.y >= v.z {
        1
    } else {
        2
    }
}

/// Rotates `v` by the inverse of a rotation matrix.
#[inline]
pub(crate) fn inverse_rotate(rotation: &Mat3, v: Vec3) -> Vec3 {
    Vec3::new(rotation.x_axis.dot(v), rotation.y_axis.dot(v), rotation.z_axis.dot(v))
}
