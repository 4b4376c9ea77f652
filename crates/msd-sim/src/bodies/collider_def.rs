//! The definition of a collider.

use super::def::{Amount, Part};
use super::material::{Filter, Material};
use crate::geometry::Shape;
use crate::math::Pose;

/// The definition of a collider: a shape, its place in the body, its share of the body's mass, and its surface.
///
/// ```
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::{Pose, Vec3};
/// use msd_sim::{BodyDef, Collider, World};
/// // A dumbbell: two balls of 2 kg on a handle of 1 kg, 1 m apart.
/// let handle = Collider::new(Shape::capsule(0.5, 0.03)?).mass(1.0);
/// let ball = |z: f64| -> Result<Collider, msd_sim::Error> {
///     Ok(Collider::new(Shape::sphere(0.1)?).at(Vec3::Z * z).mass(2.0))
/// };
/// let mut world = World::default();
/// let dumbbell = world.add_body(BodyDef::inertial([handle, ball(-0.5)?, ball(0.5)?]))?;
/// let body = world.body(dumbbell)?;
/// assert!((body.mass() - 5.0).abs() < 1e-14);
/// assert_eq!(body.colliders().count(), 3);
/// # Ok::<(), msd_sim::Error>(())
/// ```
#[doc(alias = "ColliderBuilder")]
#[doc(alias = "geom")]
#[doc(alias = "fixture")]
#[derive(Clone, Debug)]
#[must_use]
pub struct Collider {
    pub(crate) shape: Shape,
    pub(crate) place: Pose,
    pub(crate) amount: Option<Amount>,
    pub(crate) material: Option<Material>,
    pub(crate) filter: Option<Filter>,
    pub(crate) name: String,
    pub(crate) user_data: u64,
    pub(crate) is_sensor: bool,
    pub(crate) is_enabled: bool,
}

impl Collider {
    /// Creates a collider at the origin of its body's frame, with the body's density and surface unless given.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            place: Pose::IDENTITY,
            amount: None,
            material: None,
            filter: None,
            name: String::new(),
            user_data: 0,
            is_sensor: false,
            is_enabled: true,
        }
    }

    /// Sets its place in the body's frame: a [`Pose`], or a position without rotation.
    #[doc(alias = "position")]
    #[doc(alias = "translation")]
    #[doc(alias = "set_position_wrt_parent")]
    pub fn at(mut self, place: impl Into<Pose>) -> Self {
        self.place = place.into();
        self
    }

    /// Sets its density in kg/m^3; replaces a mass.
    pub fn density(mut self, density: f64) -> Self {
        self.amount = Some(Amount::Density(density));
        self
    }

    /// Sets its mass in kg; replaces a density.
    pub fn mass(mut self, mass: f64) -> Self {
        self.amount = Some(Amount::Mass(mass));
        self
    }

    /// Sets the restitution and friction of its surface, instead of those of its body.
    pub fn material(mut self, material: Material) -> Self {
        self.material = Some(material);
        self
    }

    /// Sets the filter that decides what it collides with, instead of that of its body.
    #[doc(alias = "collision groups")]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the name for reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the user data; 0 unless given. The engine never reads it.
    pub fn user_data(mut self, user_data: u64) -> Self {
        self.user_data = user_data;
        self
    }

    /// Sets whether it is a sensor, which pushes nothing and has no mass, but reports what overlaps it: bodies that move, rest
    /// or sleep, and the environment, but neither its own body nor other sensors. [`Events::entered`](crate::Events::entered),
    /// [`Events::left`](crate::Events::left), [`World::overlaps_of`](crate::World::overlaps_of).
    ///
    /// ```
    /// use msd_sim::{BodyDef, Collider, World, geometry::Shape, math::Vec3};
    /// let mut world = World::default();
    /// let zone = Collider::new(Shape::cuboid(Vec3::ONE)?).sensor(true);
    /// let zone = world.add_body(BodyDef::environment(zone))?;
    /// let ball = BodyDef::inertial(Shape::sphere(0.1)?).position(Vec3::Z * 2.0);
    /// let ball = world.add_body(ball)?;
    /// let mut seen = Vec::new();
    /// for step in 0..120 {
    ///     world.step(1.0 / 60.0)?;
    ///     for entry in world.events().entered() {
    ///         assert_eq!(world.collider(entry.sensor)?.body(), zone);
    ///         assert_eq!(world.collider(entry.other)?.body(), ball);
    ///         seen.push(("entered", step));
    ///     }
    ///     seen.extend(world.events().left().iter().map(|_| ("left", step)));
    /// }
    /// // It falls 0.9 m in 0.43 s, and 3.1 m in 0.80 s.
    /// assert_eq!(seen, [("entered", 25), ("left", 47)]);
    /// # Ok::<(), msd_sim::Error>(())
    /// ```
    #[doc(alias = "trigger")]
    pub fn sensor(mut self, is_sensor: bool) -> Self {
        self.is_sensor = is_sensor;
        self
    }

    /// Sets whether it takes part in anything; a disabled one has no mass. Enabled unless given.
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.is_enabled = is_enabled;
        self
    }

    /// Returns whether it differs from another only in what changes neither the mass of its body nor what it may touch:
    /// surface, filter, name and user data.
    pub(crate) fn is_as_solid_as(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.place == other.place
            && self.amount == other.amount
            && self.is_sensor == other.is_sensor
            && self.is_enabled == other.is_enabled
    }

    /// Returns what it adds to the mass of its body, if anything.
    pub(crate) fn part(&self) -> Option<Part<'_>> {
        let has_mass = self.is_enabled && !self.is_sensor;
        has_mass.then_some((&self.shape, self.place, self.amount))
    }
}

impl From<Shape> for Collider {
    fn from(shape: Shape) -> Self {
        Self::new(shape)
    }
}

/// The colliders of a [`BodyDef`](crate::BodyDef): a [`Shape`], one [`Collider`], several of them, or none: `()`.
#[derive(Clone, Debug, Default)]
pub struct Colliders(pub(crate) Vec<Collider>);

impl From<Shape> for Colliders {
    fn from(shape: Shape) -> Self {
        Self(vec![shape.into()])
    }
}

impl From<Collider> for Colliders {
    fn from(collider: Collider) -> Self {
        Self(vec![collider])
    }
}

impl From<Vec<Collider>> for Colliders {
    fn from(colliders: Vec<Collider>) -> Self {
        Self(colliders)
    }
}

impl<const N: usize> From<[Collider; N]> for Colliders {
    fn from(colliders: [Collider; N]) -> Self {
        Self(colliders.into())
    }
}

impl From<()> for Colliders {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl FromIterator<Collider> for Colliders {
    fn from_iter<I: IntoIterator<Item = Collider>>(colliders: I) -> Self {
        Self(colliders.into_iter().collect())
    }
}
