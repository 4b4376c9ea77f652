//! Surfaces of bodies, how two of them combine, and collision filters.

use crate::error::BodyError;

/// Restitution and friction of a surface. The geometric mean of both surfaces acts between two bodies.
#[doc(alias = "restitution")]
#[doc(alias = "friction")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "(f64, f64)", into = "(f64, f64)")]
pub struct Material {
    restitution: f64,
    friction: f64,
}

impl From<Material> for (f64, f64) {
    fn from(material: Material) -> Self {
        (material.restitution, material.friction)
    }
}

impl TryFrom<(f64, f64)> for Material {
    type Error = BodyError;

    fn try_from((restitution, friction): (f64, f64)) -> Result<Self, BodyError> {
        Self::new(restitution, friction)
    }
}

impl Default for Material {
    /// Returns a material with restitution 0.5 and friction 0.5.
    fn default() -> Self {
        Self { restitution: 0.5, friction: 0.5 }
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
        Ok(Self { restitution, friction })
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
