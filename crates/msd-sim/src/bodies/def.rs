//! Definitions of bodies, checked when a body is added to a world.

use super::collider_def::{Collider, Colliders};
use super::material::{Filter, Material};
use crate::error::{BodyError, MassError};
use crate::geometry::{MassProperties, Shape};
use crate::math::{Mat3, Pose, Quat, SIZE_RANGE, SpatialVector, Vec3};

/// A body to add to a [`World`](crate::World): an inertial body moves under forces, an environment body stands
/// still or moves with the velocity it is given.
///
/// The position of a body is its center of mass, wherever that is in the shape's own frame, unless
/// [`origin`](Self::origin) places it by the shape's own origin.
///
/// ```
/// use msd_sim::{BodyDef, Material, World, geometry::Shape, math::Vec3};
/// let mut world = World::default();
/// let floor = BodyDef::environment(Shape::cuboid(Vec3::new(50.0, 50.0, 0.5))?)
///     .position(Vec3::new(0.0, 0.0, -0.5));
/// let ball = BodyDef::inertial(Shape::sphere(0.5)?)
///     .mass(2.0)
///     .position(Vec3::new(0.0, 0.0, 3.0))
///     .material(Material::new(0.8, 0.3)?)
///     .name("ball");
/// world.add_body(floor)?;
/// let ball = world.add_body(ball)?;
/// for _ in 0..60 {
///     world.step(1.0 / 60.0)?;
/// }
/// assert!(world.body(ball)?.position().z >= 0.5 - 1e-9);
/// # Ok::<(), msd_sim::Error>(())
/// ```
#[doc(alias = "RigidBodyBuilder")]
#[doc(alias = "ColliderBuilder")]
#[doc(alias = "rigid body")]
#[doc(alias = "collider")]
#[doc(alias = "geom")]
#[derive(Clone, Debug)]
#[must_use]
pub struct BodyDef {
    pub(crate) kind: BodyKind,
    pub(crate) colliders: Colliders,
    pub(crate) origin: Origin,
    pub(crate) pose: Pose,
    pub(crate) velocity: SpatialVector,
    pub(crate) material: Material,
    pub(crate) filter: Filter,
    pub(crate) name: String,
    pub(crate) user_data: u64,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
    pub(crate) gravity_scale: f64,
    pub(crate) mass: MassSpec,
}

/// The kind of a body: whether forces move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Has mass and moves under forces.
    #[doc(alias = "dynamic")]
    Inertial,
    /// No force moves it; with a velocity it is kinematic.
    #[doc(alias = "static")]
    #[doc(alias = "fixed")]
    #[doc(alias = "kinematic")]
    Environment,
}

/// The point of a body that its definition places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The center of mass.
    #[default]
    CenterOfMass,
    /// The origin of the frame in which its colliders are placed. With the short form, that is the shape's own frame:
    /// the origin may be the apex of a hull that was drawn from there.
    Frame,
}

/// The mass of a body as the user specified it, kept so that mass and inertia can be derived again when mass or
/// colliders change.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MassSpec {
    pub(crate) amount: Amount,
    /// What replaces the inertia and the center of mass of evenly filled colliders, if anything.
    pub(crate) given: Option<Box<Given>>,
}

/// An inertia and a center of mass that replace those of evenly filled colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Given {
    /// About the center of mass, in the body's axes, kg m^2.
    pub(crate) inertia: Option<Mat3>,
    /// In the body's frame, m.
    pub(crate) center_of_mass: Option<Vec3>,
}

/// A density in kg/m^3 or a mass in kg.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Amount {
    Density(f64),
    Mass(f64),
}

/// A collider of which the mass of a body is derived: its shape, place, and density or mass if it has one of its own.
pub(crate) type Part<'a> = (&'a Shape, Pose, Option<Amount>);

impl MassSpec {
    pub(crate) fn given(&self) -> Given {
        self.given.as_deref().copied().unwrap_or_default()
    }

    pub(crate) fn given_mut(&mut self) -> &mut Given {
        self.given.get_or_insert_default()
    }

    /// Derives mass, center of mass and inertia of evenly filled parts, in the body's frame; `None` without parts.
    fn fill<'a>(
        &self,
        parts: impl Iterator<Item = Part<'a>>,
    ) -> Result<Option<MassProperties>, MassError> {
        let mut all: Option<MassProperties> = None;
        for (shape, place, own) in parts {
            let part = match (own, self.amount) {
                (Some(Amount::Mass(mass)), _) => shape.mass_properties(1.0)?.with_mass(mass)?,
                (Some(Amount::Density(density)), _) | (None, Amount::Density(density)) => {
                    shape.mass_properties(density)?
                }
                (None, Amount::Mass(_)) => shape.mass_properties(1.0)?,
            };
            let part = part.at(&place);
            all = Some(all.map_or(part, |all| all.combined(&part)));
        }
        match (all, self.amount) {
            (Some(all), Amount::Mass(mass)) => Ok(Some(all.with_mass(mass)?)),
            (all, _) => Ok(all),
        }
    }

    /// Derives the mass properties of a body from its colliders that have mass, in the body's frame, or rejects a mass
    /// that cannot be simulated. Returns the center of mass, and for an inertial body the properties.
    pub(crate) fn derive<'a>(
        &self,
        kind: BodyKind,
        parts: impl Iterator<Item = Part<'a>>,
    ) -> Result<(Vec3, Option<MassProperties>), BodyError> {
        let given = self.given();
        if kind == BodyKind::Environment {
            // The origin is the center of mass where there is one, so both kinds are placed alike.
            let filled = || self.fill(parts).ok().flatten();
            let center = given.center_of_mass.or_else(|| Some(filled()?.center_of_mass));
            return Ok((center.unwrap_or(Vec3::ZERO), None));
        }
        let mut properties = match (self.fill(parts)?, self.amount, given.inertia) {
            (Some(filled), ..) => filled,
            (None, Amount::Mass(mass), Some(inertia)) => {
                let all = MassProperties { inertia, ..MassProperties::POINT };
                MassProperties { mass, ..all }
            }
            (None, ..) => return Err(BodyError::Massless),
        };
        if let Some(inertia) = given.inertia {
            properties.inertia = checked_inertia(inertia)?;
        }
        if let Some(point) = given.center_of_mass {
            properties.center_of_mass = point;
        }
        Ok((properties.center_of_mass, Some(properties)))
    }
}

impl BodyDef {
    /// Creates a body that forces move, with a density of 1000 kg/m^3 unless a density or mass is given.
    #[doc(alias = "dynamic")]
    #[doc(alias = "rigid body")]
    #[doc(alias = "RigidBodyBuilder")]
    #[doc(alias = "freejoint")]
    pub fn inertial(colliders: impl Into<Colliders>) -> Self {
        Self::new(BodyKind::Inertial, colliders.into())
    }

    /// Creates a body that no force moves; with a velocity it is kinematic.
    #[doc(alias = "static")]
    #[doc(alias = "fixed")]
    #[doc(alias = "kinematic")]
    #[doc(alias = "worldbody")]
    pub fn environment(colliders: impl Into<Colliders>) -> Self {
        Self::new(BodyKind::Environment, colliders.into())
    }

    fn new(kind: BodyKind, colliders: Colliders) -> Self {
        Self {
            kind,
            colliders,
            origin: Origin::CenterOfMass,
            pose: Pose::IDENTITY,
            velocity: SpatialVector::ZERO,
            material: Material::default(),
            filter: Filter::default(),
            name: String::new(),
            user_data: 0,
            linear_damping: 0.0,
            angular_damping: 0.0,
            gravity_scale: 1.0,
            mass: MassSpec { amount: Amount::Density(1000.0), given: None },
        }
    }

    /// Adds a collider.
    pub fn collider(mut self, collider: impl Into<Collider>) -> Self {
        self.colliders.0.push(collider.into());
        self
    }

    /// Sets the mass in kg; replaces a density.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass.amount = Amount::Mass(mass);
        self
    }

    /// Sets the density in kg/m^3; replaces a mass.
    pub fn density(mut self, density: f64) -> Self {
        self.mass.amount = Amount::Density(density);
        self
    }

    /// Sets the inertia tensor about the center of mass, in the shape's axes (kg m^2), instead of that of the evenly
    /// filled shape.
    pub fn inertia(mut self, inertia: Mat3) -> Self {
        self.mass.given_mut().inertia = Some(inertia);
        self
    }

    /// Sets the center of mass in the shape's frame, m, instead of that of the evenly filled shape. The inertia about
    /// it stays that of the evenly filled shape about its own center, unless [`inertia`](Self::inertia) sets it.
    pub fn center_of_mass(mut self, point: Vec3) -> Self {
        self.mass.given_mut().center_of_mass = Some(point);
        self
    }

    /// Sets the point that [`position`](Self::position) and [`pose`](Self::pose) place: the center of mass unless
    /// given. Either way [`Body::position`](crate::Body::position) is the center of mass;
    /// [`Body::origin`](crate::Body::origin) says where the frame is from there.
    ///
    /// ```
    /// use msd_sim::{BodyDef, Origin, World, geometry::Shape, math::Vec3};
    /// // A wedge drawn from its edge, set down with that edge at x = 2.
    /// let points = [(0.0, 0.0), (3.0, 0.0), (0.0, 3.0)];
    /// let points: Vec<Vec3> =
    ///     points.iter().flat_map(|&(x, z)| [-1.0, 1.0].map(|y| Vec3::new(x, y, z))).collect();
    /// let wedge = BodyDef::inertial(Shape::hull(&points)?)
    ///     .origin(Origin::Frame)
    ///     .position(Vec3::new(2.0, 0.0, 0.0));
    /// let mut world = World::default();
    /// let wedge = world.add_body(wedge)?;
    /// // The center of mass of a triangle is a third of the way up from its legs.
    /// assert!(world.body(wedge)?.position().distance(Vec3::new(3.0, 0.0, 1.0)) < 1e-14);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the position of the center of mass (of the shape's origin, if [`origin`](Self::origin) says so) and the
    /// orientation.
    pub fn pose(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// Sets the position of the center of mass (of the shape's origin, if [`origin`](Self::origin) says so), m.
    #[doc(alias = "translation")]
    pub fn position(mut self, position: Vec3) -> Self {
        self.pose.position = position;
        self
    }

    /// Sets the orientation, a unit quaternion.
    #[doc(alias = "rotation")]
    pub fn orientation(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Sets the velocity of the center of mass, m/s. Makes an environment body kinematic.
    #[doc(alias = "linvel")]
    pub fn velocity(mut self, velocity: Vec3) -> Self {
        self.velocity.linear = velocity;
        self
    }

    /// Sets the angular velocity in world axes, rad/s. Makes an environment body kinematic.
    #[doc(alias = "angvel")]
    pub fn angular_velocity(mut self, angular_velocity: Vec3) -> Self {
        self.velocity.angular = angular_velocity;
        self
    }

    /// Sets the restitution and friction of its surface.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Sets the filter that decides which bodies it collides with.
    #[doc(alias = "collision groups")]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the name for reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the user data, such as a key into a table of game objects; 0 unless given. The engine never
    /// reads it.
    #[doc(alias = "tag")]
    pub fn user_data(mut self, user_data: u64) -> Self {
        self.user_data = user_data;
        self
    }

    /// Sets the rates at which linear and angular velocity decay, 1/s.
    pub fn damping(mut self, linear: f64, angular: f64) -> Self {
        self.linear_damping = linear;
        self.angular_damping = angular;
        self
    }

    /// Sets the factor on gravity, both uniform gravity and that of point masses.
    pub fn gravity_scale(mut self, scale: f64) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Rejects a state that cannot be simulated.
    pub(crate) fn check_state(&self) -> Result<(), BodyError> {
        check_pose(&self.pose)?;
        check_velocity(&self.velocity)?;
        check_damping(self.linear_damping, self.angular_damping)?;
        check_gravity_scale(self.gravity_scale)?;
        for collider in &self.colliders.0 {
            check_place(&collider.place)?;
        }
        if let Some(value) = self.mass.given().center_of_mass.filter(|point| !point.is_finite()) {
            return Err(BodyError::NotFinite { field: "center_of_mass", value });
        }
        Ok(())
    }
}

pub(crate) fn check_pose(pose: &Pose) -> Result<(), BodyError> {
    if !pose.position.is_finite() {
        return Err(BodyError::NotFinite { field: "position", value: pose.position });
    }
    if !pose.is_valid() {
        return Err(BodyError::NotUnit { field: "orientation", value: pose.rotation });
    }
    check_magnitude("position", pose.position)
}

/// Rejects a place of a collider that cannot be simulated.
pub(crate) fn check_place(place: &Pose) -> Result<(), BodyError> {
    if !place.position.is_finite() {
        return Err(BodyError::NotFinite { field: "collider.position", value: place.position });
    }
    if !place.is_valid() {
        return Err(BodyError::NotUnit { field: "collider.orientation", value: place.rotation });
    }
    check_magnitude("collider.position", place.position)
}

pub(crate) fn check_velocity(velocity: &SpatialVector) -> Result<(), BodyError> {
    check_finite(["velocity", "angular_velocity"], velocity)?;
    check_magnitude("velocity", velocity.linear)?;
    check_magnitude("angular_velocity", velocity.angular)
}

/// Rejects positions and velocities beyond the range of sizes: their squares and products with sizes would overflow, and
/// nothing could be computed with them.
fn check_magnitude(field: &'static str, value: Vec3) -> Result<(), BodyError> {
    let limit = *SIZE_RANGE.end();
    match value.abs().max_element() <= limit {
        true => Ok(()),
        false => Err(BodyError::TooLarge { field, value, limit }),
    }
}

pub(crate) fn check_damping(linear: f64, angular: f64) -> Result<(), BodyError> {
    for (field, value) in [("linear_damping", linear), ("angular_damping", angular)] {
        if !(value >= 0.0 && value.is_finite()) {
            let expected = "a finite rate in 1/s, 0 or more";
            return Err(BodyError::OutOfRange { field, value, expected });
        }
    }
    Ok(())
}

pub(crate) fn check_gravity_scale(value: f64) -> Result<(), BodyError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(BodyError::OutOfRange { field: "gravity_scale", value, expected: "a finite number" })
}

/// Rejects a vector whose linear or angular part is not finite; `fields` names the two parts.
pub(crate) fn check_finite(
    fields: [&'static str; 2],
    vector: &SpatialVector,
) -> Result<(), BodyError> {
    for (field, value) in fields.into_iter().zip([vector.linear, vector.angular]) {
        if !value.is_finite() {
            return Err(BodyError::NotFinite { field, value });
        }
    }
    Ok(())
}

/// Returns the symmetric part of a tensor that is symmetric to rounding and positive definite.
fn checked_inertia(inertia: Mat3) -> Result<Mat3, BodyError> {
    let symmetric = (inertia + inertia.transpose()) * 0.5;
    let size = symmetric.x_axis.x + symmetric.y_axis.y + symmetric.z_axis.z;
    let skew = inertia - symmetric;
    let uneven = skew.x_axis.length() + skew.y_axis.length() + skew.z_axis.length();
    let minor = symmetric.x_axis.x * symmetric.y_axis.y - symmetric.x_axis.y * symmetric.x_axis.y;
    let definite = symmetric.x_axis.x > 0.0 && minor > 0.0 && symmetric.determinant() > 0.0;
    if !(size.is_finite() && definite && uneven <= 1e-12 * size) {
        return Err(BodyError::Inertia { value: inertia });
    }
    Ok(symmetric)
}
