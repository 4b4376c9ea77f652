//! Forces that depend on where a body is, with their energy, and drag, which has none.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::PotentialError;
use crate::math::{Mat3, Pose, SpatialVector, Vec3};

/// What a potential sees of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyView {
    /// Which body it is.
    pub index: u32,
    /// Where it is: `position` is its centre of mass.
    pub pose: Pose,
    /// How it moves: its centre of mass (m/s), and its rotation in world axes (rad/s).
    pub velocity: SpatialVector,
    /// kg.
    pub mass: f64,
    /// About the centre of mass, in world axes, kg m^2.
    pub inertia: Mat3,
    /// By what gravity is multiplied for this body; 1 for most.
    pub gravity_scale: f64,
}

/// A field of the user's own.
///
/// `force` must be the gradient of `energy`, and depend on place and not on motion; otherwise the
/// energy ledger shows a gain or loss that nothing accounts for. The engine may call from several
/// threads.
pub trait PotentialField: Send + Sync + Debug {
    /// Potential energy in joules.
    fn energy(&self, body: &BodyView) -> f64;

    /// `-grad energy`: force in newtons, and torque about the centre of mass in newton metres, in
    /// world axes.
    fn force(&self, body: &BodyView) -> SpatialVector;

    /// What depends on motion and takes energy out. Nothing unless overridden.
    fn dissipation(&self, _body: &BodyView) -> SpatialVector {
        SpatialVector::ZERO
    }
}

/// Something that acts on bodies from outside.
///
/// Every kind has a constructor, which refuses what is not a number with a [`PotentialError`] that
/// names the parameter.
///
/// ```
/// use msd_sim::bodies::Potential;
/// use msd_sim::math::Vec3;
/// let earth = Potential::uniform(Vec3::new(0.0, 0.0, -9.81))?;
/// assert!(earth.is_uniform());
/// let refused = Potential::point_mass(Vec3::ZERO, f64::NAN, 0.0).unwrap_err();
/// assert!(refused.to_string().starts_with("mu = NaN"));
/// # Ok::<(), msd_sim::error::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Potential {
    /// The same acceleration everywhere: `U = -m g . x`. Scaled by [`BodyView::gravity_scale`].
    #[non_exhaustive]
    Uniform {
        /// m/s^2.
        acceleration: Vec3,
    },
    /// The gravity of a distant or small mass, to second order in the body's size, so that it also
    /// turns long bodies towards itself. With `r` from the mass to the body, MacCullagh's formula:
    ///
    /// `U = -mu m / r - mu (tr I - 3 r.I r / r^2) / (2 r^3)`
    ///
    /// wherein `r` is `sqrt(|r|^2 + core^2)`: within the core the pull weakens and vanishes in the
    /// middle. Without a core force and energy are zero at the very middle. Scaled by
    /// [`BodyView::gravity_scale`].
    #[non_exhaustive]
    PointMass {
        /// Where the mass is, in metres.
        position: Vec3,
        /// Gravitational constant times mass, m^3/s^2.
        mu: f64,
        /// Radius of the core, in metres; 0 for a point.
        core: f64,
    },
    /// A straight spring between a point of one body and a point of the world, with a damper along
    /// it: `U = stiffness (length - rest_length)^2 / 2`. Without a direction where both points
    /// coincide, hence without force.
    #[non_exhaustive]
    Spring {
        /// The body on which it acts; there is no force on others.
        body: u32,
        /// Where it is fixed to the body: from the centre of mass, in the body's axes, in metres.
        anchor: Vec3,
        /// Where it is fixed to the world, in metres.
        point: Vec3,
        /// N/m.
        stiffness: f64,
        /// Length without force, in metres.
        rest_length: f64,
        /// Force per speed of lengthening, N s/m.
        damping: f64,
    },
    /// Resistance of a medium: `-(linear + quadratic |v|) v` on the centre of mass, with `v` relative
    /// to the medium, and `-(angular + angular_quadratic |w|) w` on rotation. Has no energy.
    #[non_exhaustive]
    Drag {
        /// N s/m.
        linear: f64,
        /// N s^2/m^2: half of density, area and drag coefficient, multiplied.
        quadratic: f64,
        /// N m s.
        angular: f64,
        /// N m s^2.
        angular_quadratic: f64,
        /// Velocity of the medium, m/s.
        medium: Vec3,
    },
    /// A field of the user's own.
    User(Arc<dyn PotentialField>),
}

impl Potential {
    /// The same `acceleration` (m/s^2) everywhere.
    pub fn uniform(acceleration: Vec3) -> Result<Self, PotentialError> {
        Ok(Self::Uniform { acceleration: finite("acceleration", acceleration)? })
    }

    /// The gravity of a mass at `position` with the parameter `mu` (m^3/s^2) and a core of `core`
    /// metres (0 for none).
    pub fn point_mass(position: Vec3, mu: f64, core: f64) -> Result<Self, PotentialError> {
        Ok(Self::PointMass {
            position: finite("position", position)?,
            mu: not_negative("mu", mu)?,
            core: not_negative("core", core)?,
        })
    }

    /// A spring from `anchor` (body's axes, from its centre of mass) to `point` (world), without
    /// damping; see [`Potential::with_damping`].
    pub fn spring(
        body: u32,
        anchor: Vec3,
        point: Vec3,
        stiffness: f64,
        rest_length: f64,
    ) -> Result<Self, PotentialError> {
        Ok(Self::Spring {
            body,
            anchor: finite("anchor", anchor)?,
            point: finite("point", point)?,
            stiffness: not_negative("stiffness", stiffness)?,
            rest_length: not_negative("rest_length", rest_length)?,
            damping: 0.0,
        })
    }

    /// The same spring with a damper of `value` N s/m along it. Other potentials stay as they are.
    pub fn with_damping(mut self, value: f64) -> Result<Self, PotentialError> {
        if let Self::Spring { damping, .. } = &mut self {
            *damping = not_negative("damping", value)?;
        }
        Ok(self)
    }

    /// Drag of a medium that moves with `medium` m/s: coefficients of speed (N s/m) and of its square
    /// (N s^2/m^2), the same of rotation (N m s, N m s^2).
    pub fn drag(
        linear: f64,
        quadratic: f64,
        angular: f64,
        angular_quadratic: f64,
        medium: Vec3,
    ) -> Result<Self, PotentialError> {
        Ok(Self::Drag {
            linear: not_negative("linear", linear)?,
            quadratic: not_negative("quadratic", quadratic)?,
            angular: not_negative("angular", angular)?,
            angular_quadratic: not_negative("angular_quadratic", angular_quadratic)?,
            medium: finite("medium", medium)?,
        })
    }

    /// A field of the user's own.
    pub fn user(field: impl PotentialField + 'static) -> Self {
        Self::User(Arc::new(field))
    }

    /// Whether it accelerates all bodies equally, wherever they are.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform { .. })
    }

    /// Force (N) and torque about the centre of mass (N m), world axes: all that acts.
    pub fn force(&self, body: &BodyView) -> SpatialVector {
        self.conservative(body) + self.dissipative(body)
    }

    /// The part of the force that is `-grad energy`.
    pub fn conservative(&self, body: &BodyView) -> SpatialVector {
        match self {
            Self::Uniform { acceleration } => {
                let force = *acceleration * (body.mass * body.gravity_scale);
                SpatialVector::new(force, Vec3::ZERO)
            }
            Self::PointMass { position, mu, core } => Gravity::of(body, *position, *core)
                .map_or(SpatialVector::ZERO, |gravity| {
                    finite_or_zero(gravity.force(body) * (mu * body.gravity_scale))
                }),
            Self::Spring { stiffness, rest_length, .. } => self.stretch(body).map_or_else(
                || SpatialVector::ZERO,
                |s| {
                    let tension = stiffness * (s.length - rest_length);
                    SpatialVector::force_at(s.direction * -tension, s.lever)
                },
            ),
            Self::Drag { .. } => SpatialVector::ZERO,
            Self::User(field) => field.force(body),
        }
    }

    /// The part of the force that resists motion (relative to the medium) and takes energy out.
    pub fn dissipative(&self, body: &BodyView) -> SpatialVector {
        match self {
            Self::Uniform { .. } | Self::PointMass { .. } => SpatialVector::ZERO,
            Self::Spring { damping, .. } => self.stretch(body).map_or(SpatialVector::ZERO, |s| {
                let rate = body.velocity.velocity_at(s.lever).dot(s.direction);
                SpatialVector::force_at(s.direction * -(damping * rate), s.lever)
            }),
            Self::Drag { linear, quadratic, angular, angular_quadratic, medium } => {
                let (v, w) = (body.velocity.linear - *medium, body.velocity.angular);
                SpatialVector::new(
                    v * -(linear + quadratic * v.length()),
                    w * -(angular + angular_quadratic * w.length()),
                )
            }
            Self::User(field) => field.dissipation(body),
        }
    }

    /// Potential energy in joules; that of a resistance is zero.
    pub fn energy(&self, body: &BodyView) -> f64 {
        match self {
            Self::Uniform { acceleration } => {
                -body.mass * body.gravity_scale * acceleration.dot(body.pose.position)
            }
            Self::PointMass { position, mu, core } => {
                Gravity::of(body, *position, *core).map_or(0.0, |gravity| {
                    let energy = gravity.energy(body) * (mu * body.gravity_scale);
                    if energy.is_finite() { energy } else { 0.0 }
                })
            }
            Self::Spring { body: index, anchor, point, stiffness, rest_length, .. } => {
                if *index != body.index {
                    return 0.0;
                }
                let length = (body.pose.transform_point(*anchor) - *point).length();
                0.5 * stiffness * (length - rest_length) * (length - rest_length)
            }
            Self::Drag { .. } => 0.0,
            Self::User(field) => field.energy(body),
        }
    }

    /// How a spring lies, if this is one, of this body, and has a direction.
    fn stretch(&self, view: &BodyView) -> Option<Stretch> {
        let Self::Spring { body, anchor, point, .. } = self else { return None };
        if *body != view.index {
            return None;
        }
        let lever = view.pose.transform_vector(*anchor);
        let along = lever + (view.pose.position - *point);
        let length = along.length();
        (length > 0.0).then(|| Stretch { lever, direction: along / length, length })
    }
}

/// A spring between its two ends.
struct Stretch {
    /// From the centre of mass to the end at the body.
    lever: Vec3,
    /// From the world's end to the body's, of unit length.
    direction: Vec3,
    length: f64,
}

/// A body in the field of a point mass with `mu` = 1.
struct Gravity {
    /// From the mass to the body, divided by the softened distance.
    direction: Vec3,
    /// 1 / softened distance.
    inverse: f64,
    /// Inertia times `direction`, and that along `direction`.
    inertia: Vec3,
    axial: f64,
    trace: f64,
}

impl Gravity {
    /// Nothing in the very middle.
    fn of(body: &BodyView, position: Vec3, core: f64) -> Option<Self> {
        let r = body.pose.position - position;
        let distance = (r.length_squared() + core * core).sqrt();
        if !(distance > 0.0) {
            return None;
        }
        let direction = r / distance;
        let inertia = body.inertia * direction;
        Some(Self {
            direction,
            inverse: distance.recip(),
            inertia,
            axial: direction.dot(inertia),
            trace: body.inertia.x_axis.x + body.inertia.y_axis.y + body.inertia.z_axis.z,
        })
    }

    fn energy(&self, body: &BodyView) -> f64 {
        let quadrupole = 0.5 * (self.trace - 3.0 * self.axial);
        -self.inverse * (body.mass + quadrupole * self.inverse * self.inverse)
    }

    /// The gradient by hand: in place for the force, under a rotation of the inertia for the torque.
    fn force(&self, body: &BodyView) -> SpatialVector {
        let Self { direction, inverse, inertia, axial, trace } = self;
        let squared = inverse * inverse;
        let quadrupole = (*direction * (trace - 5.0 * axial) + *inertia * 2.0) * (1.5 * squared);
        SpatialVector::new(
            (*direction * body.mass + quadrupole) * -squared,
            direction.cross(*inertia) * (3.0 * inverse * squared),
        )
    }
}

/// Too near a singularity for numbers there is no force.
fn finite_or_zero(force: SpatialVector) -> SpatialVector {
    if force.is_finite() { force } else { SpatialVector::ZERO }
}

fn finite(field: &'static str, value: Vec3) -> Result<Vec3, PotentialError> {
    if value.is_finite() { Ok(value) } else { Err(PotentialError::Vector { field, value }) }
}

fn not_negative(field: &'static str, value: f64) -> Result<f64, PotentialError> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(PotentialError::Coefficient { field, value })
    }
}
