//! What a body is to be, before it is in a world. Checked once, when it enters.

use super::material::{Filter, Material};
use crate::error::BodyError;
use crate::geometry::{MassProperties, Shape};
use crate::math::{Mat3, Pose, Quat, SpatialVector, Vec3};

/// A body to add to a [`World`](crate::World): an inertial one moves under forces, an environment
/// one stands still or moves as told.
///
/// The position of a body is its centre of mass, wherever that is in the shape's own frame.
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
#[derive(Clone, Debug)]
#[must_use]
pub struct BodyDef {
    pub(crate) kind: BodyKind,
    pub(crate) shape: Shape,
    pub(crate) weight: Weight,
    pub(crate) pose: Pose,
    pub(crate) velocity: SpatialVector,
    pub(crate) material: Material,
    pub(crate) filter: Filter,
    pub(crate) name: String,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
    pub(crate) gravity_scale: f64,
    pub(crate) center_of_mass: Option<Vec3>,
    pub(crate) inertia: Option<Mat3>,
}

/// Whether forces move a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Has mass, moves under forces.
    Inertial,
    /// Is moved by nothing; with a velocity it is kinematic.
    Environment,
}

/// How a body's mass is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weight {
    Density(f64),
    Mass(f64),
}

/// Mass, inertia and frame, worked out from a definition.
pub(crate) struct Weighed {
    /// None for an environment body.
    pub(crate) properties: Option<MassProperties>,
    /// The shape's frame in the body's, whose origin is the centre of mass.
    pub(crate) shape_offset: Vec3,
}

impl BodyDef {
    /// A body that forces move, of density 1000 kg/m^3 unless said otherwise.
    pub fn inertial(shape: Shape) -> Self {
        Self::new(BodyKind::Inertial, shape)
    }

    /// A body that nothing moves; with a velocity it is kinematic.
    pub fn environment(shape: Shape) -> Self {
        Self::new(BodyKind::Environment, shape)
    }

    fn new(kind: BodyKind, shape: Shape) -> Self {
        Self {
            kind,
            shape,
            weight: Weight::Density(1000.0),
            pose: Pose::IDENTITY,
            velocity: SpatialVector::ZERO,
            material: Material::default(),
            filter: Filter::default(),
            name: String::new(),
            linear_damping: 0.0,
            angular_damping: 0.0,
            gravity_scale: 1.0,
            center_of_mass: None,
            inertia: None,
        }
    }

    /// Mass in kg; replaces a density.
    pub fn mass(mut self, mass: f64) -> Self {
        self.weight = Weight::Mass(mass);
        self
    }

    /// Density in kg/m^3; replaces a mass.
    pub fn density(mut self, density: f64) -> Self {
        self.weight = Weight::Density(density);
        self
    }

    /// Inertia tensor about the centre of mass, in the shape's axes (kg m^2), instead of the one
    /// that the shape has when filled evenly.
    pub fn inertia(mut self, inertia: Mat3) -> Self {
        self.inertia = Some(inertia);
        self
    }

    /// Where the centre of mass is in the shape's frame, if not where it is when filled evenly. The
    /// inertia about it stays the evenly filled body's unless [`inertia`](Self::inertia) says it.
    pub fn center_of_mass(mut self, point: Vec3) -> Self {
        self.center_of_mass = Some(point);
        self
    }

    /// Position of the centre of mass and orientation.
    pub fn pose(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// Position of the centre of mass, m.
    pub fn position(mut self, position: Vec3) -> Self {
        self.pose.position = position;
        self
    }

    /// Orientation, a unit quaternion.
    pub fn orientation(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Velocity of the centre of mass, m/s. Makes an environment body kinematic.
    pub fn velocity(mut self, velocity: Vec3) -> Self {
        self.velocity.linear = velocity;
        self
    }

    /// Angular velocity in world axes, rad/s. Makes an environment body kinematic.
    pub fn angular_velocity(mut self, angular_velocity: Vec3) -> Self {
        self.velocity.angular = angular_velocity;
        self
    }

    /// Restitution and friction.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Which bodies it collides with.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// A name for reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Rates at which linear and angular velocity die away, 1/s.
    pub fn damping(mut self, linear: f64, angular: f64) -> Self {
        self.linear_damping = linear;
        self.angular_damping = angular;
        self
    }

    /// Factor on gravity, uniform or of point masses.
    pub fn gravity_scale(mut self, scale: f64) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Refuses what cannot be simulated, and works out mass and frame.
    pub(crate) fn weigh(&self) -> Result<Weighed, BodyError> {
        self.check_state()?;
        if self.kind == BodyKind::Environment {
            // Its frame is its centre of mass where it has one, so both kinds are placed alike.
            let offset = self.center_of_mass.unwrap_or_else(|| {
                self.shape.mass_properties(1.0).map_or(Vec3::ZERO, |mass| mass.center_of_mass)
            });
            return Ok(Weighed { properties: None, shape_offset: -offset });
        }
        let mut properties = match self.weight {
            Weight::Density(density) => self.shape.mass_properties(density)?,
            Weight::Mass(mass) => self.shape.mass_properties(1.0)?.with_mass(mass)?,
        };
        if let Some(inertia) = self.inertia {
            properties.inertia = checked_inertia(inertia)?;
        }
        if let Some(point) = self.center_of_mass {
            properties.center_of_mass = point;
        }
        Ok(Weighed { shape_offset: -properties.center_of_mass, properties: Some(properties) })
    }

    fn check_state(&self) -> Result<(), BodyError> {
        check_pose(&self.pose)?;
        check_velocity(&self.velocity)?;
        for (field, value) in
            [("linear_damping", self.linear_damping), ("angular_damping", self.angular_damping)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(BodyError::OutOfRange {
                    field,
                    value,
                    expected: "a finite rate in 1/s, 0 or more",
                });
            }
        }
        if !self.gravity_scale.is_finite() {
            return Err(BodyError::OutOfRange {
                field: "gravity_scale",
                value: self.gravity_scale,
                expected: "a finite number",
            });
        }
        if let Some(value) = self.center_of_mass.filter(|point| !point.is_finite()) {
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
    Ok(())
}

pub(crate) fn check_velocity(velocity: &SpatialVector) -> Result<(), BodyError> {
    check_finite(["velocity", "angular_velocity"], velocity)
}

/// Refuses a part that is not finite, by the names of the two.
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

/// The symmetric part, if the tensor is symmetric to rounding and positive definite.
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
