//! Builds the joints, force fields and forces of a scene.

use msd_sim::error::JointError;
use msd_sim::math::Vec3;
use msd_sim::{BodyId, JointDef, JointKind, Potential};

use super::Builder;
use crate::error::Fault;
use crate::format::{ForceTable, JointName, JointTable, PotentialName, PotentialTable};
use crate::simulation::TimedForce;

impl Builder<'_> {
    pub(super) fn add_joint(&mut self, path: &str, table: &JointTable) -> Result<(), Fault> {
        let a = self.find(&format!("{path}.a"), &table.a)?;
        let b = self.find(&format!("{path}.b"), &table.b)?;
        let def = JointDef::new(a, b, joint_kind(path, table)?)
            .anchors(
                self.anchor_or_center(a, table.anchor_a),
                self.anchor_or_center(b, table.anchor_b),
            )
            .collide(table.collide == Some(true));
        let added = self.world.add_joint(def);
        added.map(|_| ()).map_err(|error| match error {
            JointError::Bodies { .. } => {
                Fault::of(path, "expected two different bodies, at least one of them inertial")
            }
            error => Fault::engine(path, error),
        })
    }

    pub(super) fn add_potential(
        &mut self,
        path: &str,
        table: &PotentialTable,
    ) -> Result<(), Fault> {
        refuse_foreign(path, table)?;
        let field = |name: &str| format!("{path}.{name}");
        let missing = |name: &str| Fault::of(&field(name), "is missing");
        let potential = match table.kind {
            PotentialName::Uniform => {
                let acceleration = table.acceleration.ok_or_else(|| missing("acceleration"))?;
                Potential::uniform(Vec3::from_array(acceleration))
            }
            PotentialName::PointMass => Potential::point_mass(
                Vec3::from_array(table.position.unwrap_or_default()),
                table.mu.ok_or_else(|| missing("mu"))?,
                table.core.unwrap_or(0.0),
            ),
            PotentialName::Drag => Potential::drag(
                table.linear.unwrap_or(0.0),
                table.quadratic.unwrap_or(0.0),
                table.angular.unwrap_or(0.0),
                table.angular_quadratic.unwrap_or(0.0),
                Vec3::from_array(table.medium.unwrap_or_default()),
            ),
            PotentialName::Spring => {
                let name = table.body.as_ref().ok_or_else(|| missing("body"))?;
                let body = self.inertial(&field("body"), name)?;
                let anchor = self.anchor_or_center(body, table.anchor);
                let point = Vec3::from_array(table.point.ok_or_else(|| missing("point"))?);
                let stiffness = table.stiffness.ok_or_else(|| missing("stiffness"))?;
                let rest = table.rest_length.unwrap_or(0.0);
                Potential::spring(body, anchor, point, stiffness, rest)
                    .and_then(|spring| spring.with_damping(table.damping.unwrap_or(0.0)))
            }
        };
        let added = potential.and_then(|potential| self.world.add_potential(potential));
        added.map(|_| ()).map_err(|error| Fault::engine(path, error))
    }

    fn inertial(&self, path: &str, name: &str) -> Result<BodyId, Fault> {
        let body = self.find(path, name)?;
        if self.world.body(body).is_ok_and(|body| body.inverse_mass() > 0.0) {
            Ok(body)
        } else {
            Err(Fault::of(
                path,
                format!("\"{name}\" is an environment body: expected an inertial one"),
            ))
        }
    }

    pub(super) fn timed_force(&self, path: &str, table: &ForceTable) -> Result<TimedForce, Fault> {
        let body = self.inertial(&format!("{path}.body"), &table.body)?;
        let until = table.until.unwrap_or(f64::INFINITY);
        if !(until >= table.from) {
            let message = format!("{until}: expected a time not before `from`");
            return Err(Fault::of(&format!("{path}.until"), message));
        }
        if table.force == [0.0; 3] && table.torque == [0.0; 3] {
            return Err(Fault::of(path, "expected a `force` or a `torque` that is not zero"));
        }
        Ok(TimedForce {
            body,
            force: Vec3::from_array(table.force),
            torque: Vec3::from_array(table.torque),
            arm: self.anchor_or_center(body, table.point),
            from: table.from,
            until,
        })
    }
}

fn joint_kind(path: &str, table: &JointTable) -> Result<JointKind, Fault> {
    let reject = |field: &str, why: &str| Err(Fault::of(&format!("{path}.{field}"), why));
    let JointTable { length, min, max, stiffness, damping, .. } = *table;
    if table.kind == JointName::Ball {
        let distance = [length, min, max, stiffness, damping];
        let names = ["length", "min", "max", "stiffness", "damping"];
        let given = names.iter().zip(distance).find(|(_, value)| value.is_some());
        return match given {
            Some((field, _)) => reject(field, "expected only with kind = \"distance\""),
            None => Ok(JointKind::Ball),
        };
    }
    match (length, stiffness) {
        (Some(_), _) if min.is_some() || max.is_some() => {
            reject("length", "expected either `length` or `min` and `max`, found both")
        }
        (Some(rest_length), Some(stiffness)) => {
            Ok(JointKind::Spring { rest_length, stiffness, damping: damping.unwrap_or(0.0) })
        }
        (None, Some(_)) => reject("length", "is missing: expected the rest length of the spring"),
        (_, None) if damping.is_some() => reject("damping", "expected only with `stiffness`"),
        (Some(length), None) => Ok(JointKind::Distance { min: length, max: length }),
        (None, None) if min.is_none() && max.is_none() => {
            reject("length", "is missing: expected `length`, or `min` and `max`")
        }
        (None, None) => {
            Ok(JointKind::Distance { min: min.unwrap_or(0.0), max: max.unwrap_or(f64::INFINITY) })
        }
    }
}

/// Rejects fields that belong to another kind of force field.
fn refuse_foreign(path: &str, table: &PotentialTable) -> Result<(), Fault> {
    use PotentialName::{Drag, PointMass, Spring, Uniform};
    let fields = [
        ("position", table.position.is_some(), PointMass),
        ("mu", table.mu.is_some(), PointMass),
        ("core", table.core.is_some(), PointMass),
        ("body", table.body.is_some(), Spring),
        ("anchor", table.anchor.is_some(), Spring),
        ("point", table.point.is_some(), Spring),
        ("stiffness", table.stiffness.is_some(), Spring),
        ("rest_length", table.rest_length.is_some(), Spring),
        ("damping", table.damping.is_some(), Spring),
        ("linear", table.linear.is_some(), Drag),
        ("quadratic", table.quadratic.is_some(), Drag),
        ("angular", table.angular.is_some(), Drag),
        ("angular_quadratic", table.angular_quadratic.is_some(), Drag),
        ("medium", table.medium.is_some(), Drag),
        ("acceleration", table.acceleration.is_some(), Uniform),
    ];
    match fields.iter().find(|(_, given, kind)| *given && *kind != table.kind) {
        Some((field, ..)) => {
            let message = "expected none: this field belongs to another kind of potential";
            Err(Fault::of(&format!("{path}.{field}"), message))
        }
        None => Ok(()),
    }
}
