//! Colliders of a body: the shapes of a body that has several, or none.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BodyTable, FilterTable, MaterialRef, OrientationTable, Origin, ShapeTable, is_zero};

/// A shape of a body, with its place in the body, its share of the mass, and its surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColliderTable {
    /// Name for reports and overrides, unique in the body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Collision shape; no compound.
    pub shape: ShapeTable,
    /// Position in the body's frame, m. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: [f64; 3],
    /// Orientation in the body's frame. Default unrotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<OrientationTable>,
    /// Mass, kg. Not together with `density`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Density, kg/m^3. Default that of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Surface material. Default that of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialRef>,
    /// Collision filter. Default that of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterTable>,
    /// Whether it pushes nothing and has no mass, but reports what overlaps it. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensor: bool,
    /// Whether it takes part in anything; a disabled one has no mass. Default true.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
}

impl ColliderTable {
    /// Returns whether it adds to the mass of its body.
    pub(crate) fn has_mass(&self) -> bool {
        self.enabled && !self.sensor
    }
}

fn yes() -> bool {
    true
}

/// The path of a shape in a body, such as `collider[2].shape`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShapePath {
    /// The only shape of the body.
    Only,
    /// That of an element of a list of colliders.
    Of(&'static str, usize),
}

impl fmt::Display for ShapePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only => f.write_str("shape"),
            Self::Of(list, index) => write!(f, "{list}[{index}].shape"),
        }
    }
}

impl BodyTable {
    /// Returns the tables of its colliders and the path of their list in the body; none for a body of one shape.
    pub(crate) fn colliders(&self) -> (&'static str, &[ColliderTable]) {
        match &self.shape {
            Some(ShapeTable::Compound(colliders)) => ("shape.compound", colliders),
            _ => ("collider", &self.collider),
        }
    }

    /// Returns its shapes with their paths in the body, one for each of its colliders.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = (ShapePath, &ShapeTable)> {
        let (list, colliders) = self.colliders();
        let only = self.shape.as_ref().filter(|shape| !shape.is_compound());
        let colliders = colliders.iter().enumerate();
        only.map(|shape| (ShapePath::Only, shape))
            .into_iter()
            .chain(colliders.map(move |(index, table)| (ShapePath::Of(list, index), &table.shape)))
    }

    /// Returns the same as [`shapes`](Self::shapes), to change.
    pub(crate) fn shapes_mut(&mut self) -> impl Iterator<Item = (ShapePath, &mut ShapeTable)> {
        let (list, only, colliders) = match &mut self.shape {
            Some(ShapeTable::Compound(colliders)) => ("shape.compound", None, colliders),
            only => ("collider", only.as_mut(), &mut self.collider),
        };
        let colliders = colliders.iter_mut().enumerate();
        only.map(|shape| (ShapePath::Only, shape)).into_iter().chain(
            colliders.map(move |(index, table)| (ShapePath::Of(list, index), &mut table.shape)),
        )
    }

    /// Returns the reference point of its position and anchors.
    pub(crate) fn origin(&self) -> Origin {
        let is_one_shape = self.shape.as_ref().is_some_and(|shape| !shape.is_compound());
        let default = if is_one_shape { Origin::CenterOfMass } else { Origin::Shape };
        self.origin.unwrap_or(default)
    }
}
