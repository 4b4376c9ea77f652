//! Builds the colliders of a body.

use std::collections::HashSet;

use msd_sim::math::{Pose, Vec3};
use msd_sim::{Collider, Colliders};

use super::Builder;
use super::body::{check_mass, orientation, shape};
use crate::error::Fault;
use crate::format::{BodyTable, ColliderTable, Kind, ShapeTable};
use crate::limits::Limits;

impl Builder<'_> {
    /// Returns the colliders of a body, or rejects a body of which nothing has a mass.
    pub(super) fn colliders(
        &self,
        path: &str,
        table: &BodyTable,
        limits: &Limits,
    ) -> Result<Colliders, Fault> {
        let has_mass =
            table.kind == Kind::Environment || (table.mass.is_some() && table.inertia.is_some());
        match &table.shape {
            Some(_) if !table.collider.is_empty() => {
                let message = "expected either `shape` or `collider` tables, found both";
                return Err(Fault::of(&format!("{path}.shape"), message));
            }
            Some(ShapeTable::Compound(list)) if list.is_empty() => {
                let message = "expected at least one collider";
                return Err(Fault::of(&format!("{path}.shape.compound"), message));
            }
            Some(ShapeTable::Compound(_)) => {}
            Some(only) => return Ok(shape(&format!("{path}.shape"), only, limits)?.into()),
            None if table.collider.is_empty() && !has_mass => {
                let message =
                    "is missing: expected `shape`, `collider` tables, or `mass` and `inertia`";
                return Err(Fault::of(&format!("{path}.shape"), message));
            }
            None => {}
        }
        let (list, tables) = table.colliders();
        let path = format!("{path}.{list}");
        if !has_mass && !tables.iter().any(ColliderTable::has_mass) {
            let message = "no collider has mass, as all are sensors or disabled: expected `mass` and `inertia` of the body";
            return Err(Fault::of(&path, message));
        }
        if table.mass.is_some() {
            check_shares(&path, tables)?;
        }
        let mut names = HashSet::new();
        let colliders = tables.iter().enumerate().map(|(index, collider)| {
            let path = format!("{path}[{index}]");
            if !collider.name.is_empty() && !names.insert(collider.name.as_str()) {
                let message = format!(
                    "\"{}\": expected a name that no other collider of the body has",
                    collider.name
                );
                return Err(Fault::of(&format!("{path}.name"), message));
            }
            self.collider(&path, table.kind, collider, limits)
        });
        colliders.collect::<Result<Vec<_>, _>>().map(Colliders::from)
    }

    fn collider(
        &self,
        path: &str,
        kind: Kind,
        table: &ColliderTable,
        limits: &Limits,
    ) -> Result<Collider, Fault> {
        check_mass(path, kind, table.mass, table.density)?;
        let shape = shape(&format!("{path}.shape"), &table.shape, limits)?;
        if kind == Kind::Inertial && table.has_mass() {
            // The engine would not say which collider it rejects.
            let filled = shape.mass_properties(table.density.unwrap_or(1.0));
            let filled =
                filled.and_then(|filled| filled.with_mass(table.mass.unwrap_or(filled.mass)));
            filled.map_err(|error| Fault::engine(path, error))?;
        }
        let turn = orientation(&format!("{path}.orientation"), table.orientation.as_ref())?;
        let mut collider = Collider::new(shape)
            .at(Pose::new(Vec3::from_array(table.position), turn))
            .name(&table.name)
            .sensor(table.sensor)
            .enabled(table.enabled);
        if let Some(mass) = table.mass {
            collider = collider.mass(mass);
        }
        if let Some(density) = table.density {
            collider = collider.density(density);
        }
        if let Some(material) = &table.material {
            collider = collider.material(self.material(&format!("{path}.material"), material)?);
        }
        if let Some(filter) = table.filter {
            collider = collider.filter(filter.into());
        }
        Ok(collider)
    }
}

/// Rejects colliders of which some have a density or mass and some do not, in a body with a mass: there is no density to
/// fill those without one.
fn check_shares(path: &str, tables: &[ColliderTable]) -> Result<(), Fault> {
    let filled = |table: &ColliderTable| table.mass.is_some() || table.density.is_some();
    let solid = || tables.iter().enumerate().filter(|(_, table)| table.has_mass());
    match solid().find(|(_, table)| !filled(table)) {
        Some((index, _)) if solid().any(|(_, table)| filled(table)) => {
            let message = "is missing: where the body has a `mass`, either all of its colliders have a density or mass, or none has";
            Err(Fault::of(&format!("{path}[{index}].density"), message))
        }
        _ => Ok(()),
    }
}
