//! Contact points, and contacts as readers get them.

use crate::geometry::FeatureId;
use crate::math::Vec3;

/// A point at which two bodies touch or are about to touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// World position, midway between the surfaces: both bodies' lever arms end here.
    pub position: Vec3,
    /// Distance between the surfaces along the normal, m; negative where they overlap.
    pub gap: f64,
    /// The features in contact.
    pub feature: FeatureId,
    /// Impulse on B in the last substep, N s, in world axes.
    pub impulse: Vec3,
    /// Impulse on B over the last step, N s, in world axes.
    pub total_impulse: Vec3,
    /// Normal velocity at which the surfaces met, m/s, negative; zero if there is no impact.
    pub approach: f64,
    /// Residual of the contact and friction laws after the last solve with this point, m/s. `None` if it was not
    /// measured: the point was in no solve, its bodies sleep, or the step was swept without
    /// [`Settings::audit`](crate::Settings::audit).
    pub residual: Option<f64>,
}

/// An impact of two bodies: its fastest point.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Hit {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) speed: f64,
}

/// A contact as returned to readers.
#[derive(Clone, Debug)]
pub(crate) struct ContactRecord {
    pub(crate) colliders: [u32; 2],
    pub(crate) bodies: [u32; 2],
    pub(crate) normal: Vec3,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    /// Impulse on B over the step, N s.
    pub(crate) impulse: Vec3,
    /// Its moments about the centers of mass of A and of B, N m s.
    pub(crate) moments: [Vec3; 2],
    pub(crate) points: [Contact; 4],
    /// Number of points.
    pub(crate) len: usize,
}
