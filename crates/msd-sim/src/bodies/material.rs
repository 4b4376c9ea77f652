//! Surfaces of bodies, how two of them combine, and collision filters.

use std::collections::BTreeMap;

use crate::error::BodyError;

/// Restitution and friction of a surface. The geometric mean of both surfaces acts between two bodies, unless
/// [`World::set_combine`](crate::World::set_combine) says otherwise for two materials.
#[doc(alias = "restitution")]
#[doc(alias = "friction")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "(f64, f64, u32)", into = "(f64, f64, u32)")]
pub struct Material {
    restitution: f64,
    friction: f64,
    tag: u32,
}

impl From<Material> for (f64, f64, u32) {
    fn from(material: Material) -> Self {
        (material.restitution, material.friction, material.tag)
    }
}

impl TryFrom<(f64, f64, u32)> for Material {
    type Error = BodyError;

    fn try_from((restitution, friction, tag): (f64, f64, u32)) -> Result<Self, BodyError> {
        Ok(Self::new(restitution, friction)?.tagged(tag))
    }
}

impl Default for Material {
    /// Returns a material with restitution 0.5 and friction 0.5.
    fn default() -> Self {
        Self { restitution: 0.5, friction: 0.5, tag: 0 }
    }
}

impl Material {
    /// Creates a material with a restitution in [0, 1] and a friction coefficient of 0 or more.
    ///
    /// ```
    /// use msd_sim::Material;
    /// let (ice, rubber) = (Material::new(0.0, 0.3)?, Material::new(1.0, 0.8)?);
    /// assert_eq!(ice.restitution_with(&rubber), 0.0);
    /// assert!((ice.friction_with(&rubber) - 0.4899).abs() < 1e-4);
    /// assert!(Material::new(1.1, 0.0).is_err());
    /// # Ok::<(), msd_sim::error::BodyError>(())
    /// ```
    pub fn new(restitution: f64, friction: f64) -> Result<Self, BodyError> {
        if !(0.0..=1.0).contains(&restitution) {
            return Err(BodyError::OutOfRange {
                field: "material.restitution",
                value: restitution,
                expected: "a number from 0 to 1",
            });
        }
        if !(friction >= 0.0 && friction.is_finite()) {
            return Err(BodyError::OutOfRange {
                field: "material.friction",
                value: friction,
                expected: "a finite number, 0 or more",
            });
        }
        Ok(Self { restitution, friction, tag: 0 })
    }

    /// Sets a tag, by which [`World::set_combine`](crate::World::set_combine) names the material; 0 unless given.
    #[must_use]
    pub fn tagged(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    /// Returns the tag.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Returns the restitution: normal speed after an impact over the one before.
    pub fn restitution(&self) -> f64 {
        self.restitution
    }

    /// Returns the friction coefficient: the largest ratio of tangential to normal force.
    pub fn friction(&self) -> f64 {
        self.friction
    }

    /// Returns the restitution that acts between two surfaces.
    pub fn restitution_with(&self, other: &Self) -> f64 {
        (self.restitution * other.restitution).sqrt()
    }

    /// Returns the friction coefficient that acts between two surfaces.
    pub fn friction_with(&self, other: &Self) -> f64 {
        (self.friction * other.friction).sqrt()
    }
}

/// How a property of two surfaces that touch is computed from that of each.
#[doc(alias = "CoefficientCombineRule")]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum CombineRule {
    /// The square root of the product.
    #[default]
    GeometricMean,
    /// Half the sum.
    Average,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The product.
    Multiply,
    /// This value, whatever the two are.
    Fixed(f64),
}

impl CombineRule {
    /// Returns the property of two surfaces.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::GeometricMean => (a * b).sqrt(),
            Self::Average => 0.5 * (a + b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Multiply => a * b,
            Self::Fixed(value) => value,
        }
    }
}

/// How the properties of two materials combine: see [`World::set_combine`](crate::World::set_combine).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Combine {
    /// Rule for the restitution.
    pub restitution: CombineRule,
    /// Rule for the friction.
    pub friction: CombineRule,
}

impl Combine {
    /// Rejects fixed values that no material may have.
    fn check(&self) -> Result<(), BodyError> {
        let fixed = |rule: CombineRule, other: f64| match rule {
            CombineRule::Fixed(value) => value,
            _ => other,
        };
        Material::new(fixed(self.restitution, 0.0), fixed(self.friction, 0.0)).map(|_| ())
    }
}

/// The rules of pairs of materials, by their tags.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Combines(BTreeMap<(u32, u32), Combine>);

impl Combines {
    /// Sets the rules of two materials; `None` for those by default.
    pub(crate) fn set(&mut self, a: u32, b: u32, rules: Option<Combine>) -> Result<(), BodyError> {
        let key = (a.min(b), a.max(b));
        match rules {
            Some(rules) => {
                rules.check()?;
                self.0.insert(key, rules);
            }
            None => drop(self.0.remove(&key)),
        }
        Ok(())
    }

    /// Returns restitution and friction between two materials.
    pub(crate) fn of(&self, a: &Material, b: &Material) -> [f64; 2] {
        let key = (a.tag.min(b.tag), a.tag.max(b.tag));
        match self.0.get(&key) {
            None => [a.restitution_with(b), a.friction_with(b)],
            Some(rules) => [
                rules.restitution.of(a.restitution, b.restitution),
                rules.friction.of(a.friction, b.friction),
            ],
        }
    }
}

/// A filter of collisions by groups: two bodies collide if each is in a group of the other's mask.
#[doc(alias = "collision groups")]
#[doc(alias = "interaction groups")]
#[doc(alias = "InteractionGroups")]
#[doc(alias = "contype")]
#[doc(alias = "conaffinity")]
#[doc(alias = "layers")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Filter {
    /// Groups that the body is in, one per bit.
    pub groups: u32,
    /// Groups that the body collides with, one per bit.
    pub mask: u32,
}

impl Default for Filter {
    /// Returns a filter in every group that collides with every group.
    fn default() -> Self {
        Self { groups: u32::MAX, mask: u32::MAX }
    }
}

impl Filter {
    /// Returns whether the filters of two bodies let them collide.
    pub fn allows(&self, other: &Self) -> bool {
        self.groups & other.mask != 0 && other.groups & self.mask != 0
    }
}
