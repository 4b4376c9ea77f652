//! Forces that depend on the pose of a body, with their energy, and drag, which has none.

use std::fmt::Debug;
use std::sync::Arc;

use super::set::BodySet;
use crate::error::{BodyError, PotentialError};
use crate::id::{BodyId, PotentialId, Slots};
use crate::math::{Mat3, Pose, SpatialVector, Vec3};

/// The state of a body that a potential depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyView {
    /// Handle of the body.
    pub id: BodyId,
    /// Center of mass and orientation.
    pub pose: Pose,
    /// Velocity of the center of mass (m/s), and angular velocity in world axes (rad/s).
    pub velocity: SpatialVector,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the center of mass, in world axes, kg m^2.
    pub inertia: Mat3,
    /// Factor on gravity for this body; 1 unless set.
    pub gravity_scale: f64,
}

/// A user-defined force field.
///
/// `force` must be the negative gradient of `energy`, and depend on the pose and not on the velocity; otherwise the
/// energy ledger shows a gain or loss that no term accounts for. The engine may call it from several threads.
pub trait PotentialField: Send + Sync + Debug {
    /// Returns the potential energy of a body in joules.
    fn energy(&self, body: &BodyView) -> f64;

    /// Returns `-grad energy`: force in newtons, and torque about the center of mass in newton meters, in world
    /// axes.
    fn force(&self, body: &BodyView) -> SpatialVector;

    /// Returns the name by which [`World::from_bytes`](crate::World::from_bytes) finds the field again; empty unless
    /// overridden: a world with such a field cannot be written as bytes.
    fn name(&self) -> &str {
        ""
    }

    /// Returns the force and torque that depend on velocity and take energy out; zero unless overridden.
    fn dissipation(&self, _body: &BodyView) -> SpatialVector {
        SpatialVector::ZERO
    }
}

/// A force field that acts on bodies, added with [`World::add_potential`](crate::World::add_potential).
///
/// Every kind has a constructor, which rejects numbers that are not finite with a [`PotentialError`] that names the
/// parameter.
///
/// ```
/// use msd_sim::bodies::Potential;
/// use msd_sim::math::Vec3;
/// let earth = Potential::uniform(Vec3::new(0.0, 0.0, -9.81))?;
/// assert!(earth.is_uniform());
/// let rejected = Potential::point_mass(Vec3::ZERO, f64::NAN, 0.0).unwrap_err();
/// assert!(rejected.to_string().starts_with("mu = NaN"));
/// # Ok::<(), msd_sim::error::PotentialError>(())
/// ```
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Potential {
    /// A uniform acceleration: `U = -m g . x`. Scaled by [`BodyView::gravity_scale`].
    #[non_exhaustive]
    Uniform {
        /// Acceleration, m/s^2.
        acceleration: Vec3,
    },
    /// The gravity of a distant or small mass, to second order in the body's size, so that it also turns long bodies
    /// towards itself. With `r` from the mass to the body, MacCullagh's formula:
    ///
    /// `U = -mu m / r - mu (tr I - 3 r.I r / r^2) / (2 r^3)`
    ///
    /// where `r` is `sqrt(|r|^2 + core^2)`: within the core the pull weakens and vanishes at the center. Without a
    /// core, force and energy are zero at the very center. Scaled by [`BodyView::gravity_scale`].
    #[non_exhaustive]
    PointMass {
        /// Position of the mass, m.
        position: Vec3,
        /// Gravitational constant times mass, m^3/s^2.
        mu: f64,
        /// Radius of the core, m; 0 for a point.
        core: f64,
    },
    /// A straight spring between a point of one body and a point of the world, with a damper along it:
    /// `U = stiffness (length - rest_length)^2 / 2`. Where both points coincide it has no direction, hence no force.
    #[non_exhaustive]
    Spring {
        /// The inertial body on which it acts.
        body: BodyId,
        /// End on the body: from the center of mass, in the body's axes, m.
        anchor: Vec3,
        /// End in the world, m.
        point: Vec3,
        /// Stiffness, N/m.
        stiffness: f64,
        /// Length without force, m.
        rest_length: f64,
        /// Force per rate of extension, N s/m.
        damping: f64,
    },
    /// Drag of a medium: the force `-(linear + quadratic |v|) v` on the center of mass, with `v` relative to the
    /// medium, and the torque `-(angular + angular_quadratic |w|) w`. It has no energy.
    #[non_exhaustive]
    Drag {
        /// Force per speed, N s/m.
        linear: f64,
        /// Force per squared speed, N s^2/m^2: half the product of density, area and drag coefficient.
        quadratic: f64,
        /// Torque per angular speed, N m s.
        angular: f64,
        /// Torque per squared angular speed, N m s^2.
        angular_quadratic: f64,
        /// Velocity of the medium, m/s.
        medium: Vec3,
    },
    /// A user-defined force field.
    User(#[serde(with = "by_name")] Arc<dyn PotentialField>),
}

/// User-defined force fields as bytes: by their names.
mod by_name {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{BodyView, PotentialField};
    use crate::math::SpatialVector;

    /// Stands for the field of a name until that is attached again.
    #[derive(Debug)]
    struct Absent(String);

    impl PotentialField for Absent {
        fn energy(&self, _: &BodyView) -> f64 {
            0.0
        }

        fn force(&self, _: &BodyView) -> SpatialVector {
            SpatialVector::ZERO
        }

        fn name(&self) -> &str {
            &self.0
        }
    }

    pub(super) fn serialize<S: Serializer>(
        field: &Arc<dyn PotentialField>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        field.name().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<dyn PotentialField>, D::Error> {
        Ok(Arc::new(Absent(String::deserialize(from)?)))
    }
}

impl Potential {
    /// Creates a uniform `acceleration`, m/s^2.
    pub fn uniform(acceleration: Vec3) -> Result<Self, PotentialError> {
        Ok(Self::Uniform { acceleration: finite("acceleration", acceleration)? })
    }

    /// Creates the gravity of a mass at `position` with the parameter `mu` (m^3/s^2) and a core of `core`
    /// meters (0 for none).
    pub fn point_mass(position: Vec3, mu: f64, core: f64) -> Result<Self, PotentialError> {
        Ok(Self::PointMass {
            position: finite("position", position)?,
            mu: not_negative("mu", mu)?,
            core: not_negative("core", core)?,
        })
    }

    /// Returns a spring from `anchor` (in the axes of `body`, from its center of mass) to `point` (in the world),
    /// without damping; see [`Potential::with_damping`]. It goes with its body: [`World::remove_body`] removes both.
    ///
    /// [`World::remove_body`]: crate::World::remove_body
    pub fn spring(
        body: BodyId,
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

    /// Adds a damper of `value` N s/m along a spring. Other potentials stay as they are.
    pub fn with_damping(mut self, value: f64) -> Result<Self, PotentialError> {
        if let Self::Spring { damping, .. } = &mut self {
            *damping = not_negative("damping", value)?;
        }
        Ok(self)
    }

    /// Returns the drag of a medium that moves with `medium` m/s: coefficients of speed (N s/m) and of its square
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

    /// Creates a user-defined force field.
    pub fn user(field: impl PotentialField + 'static) -> Self {
        Self::User(Arc::new(field))
    }

    /// Returns whether it accelerates all bodies equally, wherever they are.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform { .. })
    }

    /// Returns the whole force (N) and torque about the center of mass (N m), in world axes.
    pub fn force(&self, body: &BodyView) -> SpatialVector {
        self.conservative(body) + self.dissipative(body)
    }

    /// Returns the part of the force that is `-grad energy`.
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

    /// Returns the part of the force that resists motion (relative to the medium) and takes energy out.
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

    /// Returns the potential energy in joules; that of drag is zero.
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
            Self::Spring { body: id, anchor, point, stiffness, rest_length, .. } => {
                if *id != body.id {
                    return 0.0;
                }
                let length = (body.pose.transform_point(*anchor) - *point).length();
                0.5 * stiffness * (length - rest_length) * (length - rest_length)
            }
            Self::Drag { .. } => 0.0,
            Self::User(field) => field.energy(body),
        }
    }

    /// Returns the geometry of a spring of this body, if this is one and it has a direction.
    fn stretch(&self, view: &BodyView) -> Option<Stretch> {
        let Self::Spring { body, anchor, point, .. } = self else { return None };
        if *body != view.id {
            return None;
        }
        let lever = view.pose.transform_vector(*anchor);
        let along = lever + (view.pose.position - *point);
        let length = along.length();
        (length > 0.0).then(|| Stretch { lever, direction: along / length, length })
    }
}

/// The force fields of a world, in the order in which they were added: their forces are summed in that order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct PotentialSet {
    slots: Slots,
    ids: Vec<PotentialId>,
    fields: Vec<Potential>,
}

impl PotentialSet {
    /// Adds a force field; rejects a spring whose body is not an inertial body of the world.
    pub(crate) fn insert(
        &mut self,
        bodies: &BodySet,
        field: Potential,
    ) -> Result<PotentialId, PotentialError> {
        if let Potential::Spring { body, .. } = &field
            && !bodies.is_inertial(bodies.find(*body)?)
        {
            return Err(BodyError::NotInertial { index: body.index }.into());
        }
        let (index, generation) = self.slots.take();
        let id = PotentialId { index, generation };
        self.ids.push(id);
        self.fields.push(field);
        Ok(id)
    }

    /// Returns a field's place in the order of addition.
    pub(crate) fn position(&self, id: PotentialId) -> Result<usize, PotentialError> {
        let unknown = PotentialError::Unknown { index: id.index, generation: id.generation };
        self.ids.iter().position(|&other| other == id).ok_or(unknown)
    }

    /// Removes a field and returns it.
    pub(crate) fn remove(&mut self, id: PotentialId) -> Result<Potential, PotentialError> {
        let position = self.position(id)?;
        self.slots.free(self.ids.remove(position).index);
        Ok(self.fields.remove(position))
    }

    /// Removes the springs of a body.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        for position in (0..self.fields.len()).rev() {
            if matches!(&self.fields[position], Potential::Spring { body, .. } if *body == id) {
                self.slots.free(self.ids.remove(position).index);
                self.fields.remove(position);
            }
        }
    }

    /// Moves the ends of a body's springs on it, in its axes.
    pub(crate) fn shift_anchors(&mut self, id: BodyId, shift: Vec3) {
        for field in &mut self.fields {
            if let Potential::Spring { body, anchor, .. } = field
                && *body == id
            {
                *anchor += shift;
            }
        }
    }

    /// Returns the names of user-defined fields.
    pub(crate) fn user_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter_map(|field| match field {
            Potential::User(field) => Some(field.name()),
            _ => None,
        })
    }

    /// Attaches user-defined fields by their names. Returns the name of one that is not among them, if any.
    pub(crate) fn attach(&mut self, known: &[Arc<dyn PotentialField>]) -> Result<(), String> {
        for field in &mut self.fields {
            if let Potential::User(absent) = field {
                let same = known.iter().find(|known| known.name() == absent.name());
                let Some(same) = same else { return Err(absent.name().to_owned()) };
                *field = Potential::User(Arc::clone(same));
            }
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.ids.drain(..).for_each(|id| self.slots.free(id.index));
        self.fields.clear();
    }

    /// Returns the handles and fields in the order in which they were added.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (PotentialId, &Potential)> {
        self.ids.iter().copied().zip(&self.fields)
    }
}

impl std::ops::Deref for PotentialSet {
    type Target = [Potential];

    fn deref(&self) -> &[Potential] {
        &self.fields
    }
}

/// The geometry of a spring between its two ends.
struct Stretch {
    /// From the center of mass to the end at the body.
    lever: Vec3,
    /// Unit direction from the end in the world to the end on the body.
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
    /// Returns `None` at the very center of a mass without a core.
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

    /// Returns the gradient, derived by hand: by position for the force, by a rotation of the inertia for the torque.
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

/// Drops a force that overflowed near the singularity.
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
