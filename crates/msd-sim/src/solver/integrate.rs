//! Torque-free rotation of a rigid body.

use crate::math::{Mat3, Quat, Vec3};

/// Advances a body without torque by `dt` seconds. Returns its rotation and angular velocity
/// (rad/s, world axes).
///
/// `inertia` and `inverse_inertia` are about the center of mass, in body axes. Angular momentum and
/// energy are conserved to rounding for any mass distribution. The tumbling motion is followed in
/// steps of up to about 16 radians; larger steps still conserve both, but lose its phase. A body
/// that is `isotropic` (or rotates about a principal axis) keeps its angular velocity bit for bit,
/// and a body at rest is returned unchanged. `dt` may be negative.
///
/// ```
/// use msd_sim::math::{Mat3, Quat, Vec3};
/// use msd_sim::solver::rotate_freely;
/// let inertia = Vec3::new(1.0, 2.0, 3.0);
/// let inverse = Mat3::from_diagonal(inertia.recip());
/// let inertia = Mat3::from_diagonal(inertia);
/// let start = Vec3::new(0.1, 4.0, 0.1);
/// let (mut q, mut omega) = (Quat::IDENTITY, start);
/// for _ in 0..1_000 {
///     (q, omega) = rotate_freely(q, omega, &inertia, &inverse, false, 0.01);
/// }
/// // It has tumbled meanwhile, and its angular momentum is conserved.
/// let momentum = q * (inertia * (q.conjugate() * omega));
/// assert!((momentum - inertia * start).length() < 1e-12 * momentum.length());
/// ```
#[doc(alias = "gyroscopic")]
#[doc(alias = "tumbling")]
pub fn rotate_freely(
    rotation: Quat,
    angular_velocity: Vec3,
    inertia: &Mat3,
    inverse_inertia: &Mat3,
    isotropic: bool,
    dt: f64,
) -> (Quat, Vec3) {
    if angular_velocity == Vec3::ZERO || dt == 0.0 {
        return (rotation, angular_velocity);
    }
    let whole = angular_velocity * dt;
    let angle = whole.length();
    if !angle.is_finite() {
        return overflowing(rotation, angular_velocity, dt);
    }
    let turned = |vector: Vec3| unit(exponential(vector) * rotation);
    if isotropic {
        return checked(turned(whole), angular_velocity, rotation, angular_velocity);
    }

    let body = FreeBody { inertia, inverse_inertia };
    let mut spin = rotation.conjugate() * angular_velocity;
    // A change of the angular velocity below its rounding is no change.
    let change = body.acceleration(spin) * dt;
    let rounding = f64::EPSILON * f64::EPSILON * angular_velocity.length_squared();
    if change.length_squared() <= rounding {
        return checked(turned(whole), angular_velocity, rotation, angular_velocity);
    }

    let mut relative = Quat::IDENTITY;
    let mut pieces = (angle / ANGLE_PER_PIECE).ceil().max(1.0);
    // Doubles the pieces if the series did not converge, which happens only for inertia tensors of
    // no real body.
    while pieces <= MAX_PIECES {
        if let Some((q, omega)) = body.advance(spin, dt / pieces, pieces as usize) {
            (relative, spin) = (q, omega);
            break;
        }
        pieces *= 2.0;
    }
    if pieces <= MAX_PIECES {
        let q = unit(rotation * relative);
        return checked(q, q * spin, rotation, angular_velocity);
    }
    if inertia.is_nan() || inverse_inertia.is_nan() {
        return NOT_A_NUMBER;
    }
    // Too many turns to follow. Rotating about the angular momentum conserves it and the energy.
    let momentum = rotation * (*inertia * spin);
    let axis = momentum / momentum.abs().max_element();
    let about = axis.normalize_or_zero();
    let q = exponential(about * whole.dot(about));
    checked(unit(q * rotation), q * angular_velocity, rotation, angular_velocity)
}

/// Returns the rotation by `|vector|` radians about `vector`.
pub(crate) fn exponential(vector: Vec3) -> Quat {
    let half = vector * 0.5;
    let y = half.length_squared();
    // The Taylor series, with an error below 1e-17 at y = 0.09: small angles need neither root nor
    // sine.
    let (sinc, cos) = if y <= 0.09 {
        let sinc = 1.0 / 362_880.0 - y / 39_916_800.0;
        let sinc = 1.0 - y * (1.0 / 6.0 - y * (1.0 / 120.0 - y * (1.0 / 5_040.0 - y * sinc)));
        let cos = 1.0 / 40_320.0 - y * (1.0 / 3_628_800.0 - y / 479_001_600.0);
        let cos = 1.0 - y * (0.5 - y * (1.0 / 24.0 - y * (1.0 / 720.0 - y * cos)));
        (sinc, cos)
    } else {
        let angle = half.length();
        let (sin, cos) = libm::sincos(angle);
        (sin / angle, cos)
    };
    let v = half * sinc;
    Quat::from_xyzw(v.x, v.y, v.z, cos)
}

/// Normalizes a quaternion.
pub(crate) fn unit(q: Quat) -> Quat {
    let excess = 0.5 * (q.length_squared() - 1.0);
    // One step of Newton's method is exact to rounding for such a small excess. The rounding of a
    // reciprocal is biased: with it, the momentum grew by a relative 2e-16 in every step.
    if excess.abs() < 1e-9 { q + q * -excess } else { q.normalize() }
}

/// Maximum rotation in one series, in radians.
///
/// For a body of any shape, the terms of the series decrease at least as fast as `(angle /
/// sqrt(3))^k`: no coefficient `(I_2 - I_3) / I_1` of Euler's equations exceeds 1, so that `|w'| <=
/// |w|^2 / sqrt(3)`.
const ANGLE_PER_PIECE: f64 = 0.25;

/// The result for input that is NaN.
const NOT_A_NUMBER: (Quat, Vec3) =
    (Quat::from_xyzw(f64::NAN, f64::NAN, f64::NAN, f64::NAN), Vec3::NAN);

/// Maximum number of series per call.
const MAX_PIECES: f64 = 64.0;

/// Maximum number of terms of a series: `(0.25 / sqrt(3))^19` is 1e-16.
const TERMS: usize = 20;

/// The inertia of a rigid body in its own axes.
struct FreeBody<'a> {
    inertia: &'a Mat3,
    inverse_inertia: &'a Mat3,
}

impl FreeBody<'_> {
    /// Returns the angular acceleration in body axes, by Euler's equations.
    fn acceleration(&self, spin: Vec3) -> Vec3 {
        *self.inverse_inertia * (*self.inertia * spin).cross(spin)
    }

    /// Returns the rotation relative to the start and the angular velocity after `count` pieces of
    /// `h` seconds, or `None` if a series does not converge.
    fn advance(&self, mut spin: Vec3, h: f64, count: usize) -> Option<(Quat, Vec3)> {
        let mut rotation = Quat::IDENTITY;
        for _ in 0..count {
            // (0.01 / sqrt(3))^7 is 2e-16: the short series suffices except for fast bodies.
            let is_slow = spin.length_squared() * (h * h) < 1e-4;
            let short = if is_slow { self.series::<8>(spin, h) } else { None };
            let (step, next) = short.or_else(|| self.series::<TERMS>(spin, h))?;
            rotation *= step;
            spin = next;
        }
        Some((rotation, spin))
    }

    /// Sums the Taylor series of angular velocity and rotation over `h` seconds.
    ///
    /// The angular velocity in body axes obeys its own equation, whose coefficients are bounded for
    /// arbitrarily thin bodies. In terms of momentum and orientation instead, a rod tilted by
    /// rounding would change its spin about its axis by that rounding times the ratio of its
    /// inertias.
    ///
    /// Both right-hand sides are products, so their coefficients follow from Cauchy's product rule:
    /// `I w' = (I w) x w` and `q' = q w / 2`.
    fn series<const TERMS: usize>(&self, spin: Vec3, h: f64) -> Option<(Quat, Vec3)> {
        let mut velocity = [Vec3::ZERO; TERMS];
        let mut momentum = [Vec3::ZERO; TERMS];
        let mut vector = [Vec3::ZERO; TERMS];
        let mut scalar = [0.0; TERMS];
        velocity[0] = spin;
        momentum[0] = *self.inertia * spin;
        scalar[0] = 1.0;
        let rounding = 0.0625 * f64::EPSILON * f64::EPSILON;
        let enough = rounding * spin.length_squared();

        for k in 1..TERMS {
            let mut torque = Vec3::ZERO;
            let mut rate = Vec3::ZERO;
            let mut scalar_rate = 0.0;
            for (j, i) in (0..k).zip((0..k).rev()) {
                let w = velocity[i];
                torque += momentum[j].cross(w);
                rate += w * scalar[j] + vector[j].cross(w);
                scalar_rate -= vector[j].dot(w);
            }
            let step = h / k as f64;
            velocity[k] = *self.inverse_inertia * (torque * step);
            momentum[k] = *self.inertia * velocity[k];
            vector[k] = rate * (0.5 * step);
            scalar[k] = scalar_rate * (0.5 * step);
            let turn = vector[k].length_squared() + scalar[k] * scalar[k];
            if velocity[k].length_squared() <= enough && turn <= rounding {
                return Some(sum(&velocity[..=k], &vector[..=k], &scalar[..=k]));
            }
        }
        None
    }
}

/// Sums from the smallest term to the largest.
fn sum(velocity: &[Vec3], vector: &[Vec3], scalar: &[f64]) -> (Quat, Vec3) {
    let w: Vec3 = velocity.iter().rev().copied().sum();
    let v: Vec3 = vector.iter().rev().copied().sum();
    let s: f64 = scalar.iter().rev().sum();
    (Quat::from_xyzw(v.x, v.y, v.z, s), w)
}

/// Returns the result, or the input if that was finite and the result is not.
fn checked(q: Quat, omega: Vec3, given: Quat, velocity: Vec3) -> (Quat, Vec3) {
    if (q.is_finite() && omega.is_finite()) || !given.is_finite() || !velocity.is_finite() {
        (q, omega)
    } else {
        (given, velocity)
    }
}

/// Returns the input unchanged if only the angle overflows, and NaN if the input is not finite.
fn overflowing(rotation: Quat, velocity: Vec3, dt: f64) -> (Quat, Vec3) {
    if rotation.is_finite() && velocity.is_finite() && dt.is_finite() {
        (rotation, velocity)
    } else {
        NOT_A_NUMBER
    }
}
