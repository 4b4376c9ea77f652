//! The canonical form of a scene, with every default filled in: recordings store it, and comparisons use it.

use msd_sim::{Accuracy, Continuous};
use serde_json::Value;

use crate::build;
use crate::error::{Fault, SceneError};
use crate::format::{
    ContinuousMode, DampingTable, FilterTable, JointName, JointTable, Kind, MaterialRef,
    MaterialTable, OrientationTable, PotentialName, PotentialTable, Scene, ShapeTable, Solver,
    WorldTable,
};

/// The engine's default density, kg/m^3.
const DEFAULT_DENSITY: f64 = 1000.0;

/// A difference between two scenes.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path of the field, such as `body.crate.mass`.
    pub path: String,
    /// Value in the first scene, if any.
    pub a: Option<Value>,
    /// Value in the second scene, if any.
    pub b: Option<Value>,
}

impl Scene {
    /// Returns the same scene with all defaults filled in, materials inline, and one form where the format has
    /// several: it keeps its meaning even if defaults change.
    pub fn canonical(&self) -> Result<Self, SceneError> {
        self.with_defaults().map_err(|fault| SceneError::new(fault, "", None))
    }

    /// Writes the scene as JSON in one line; reading it back gives the same world to the last bit.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn with_defaults(&self) -> Result<Self, Fault> {
        let mut scene = self.clone();
        scene.world = world(&self.world)?;
        for (index, body) in scene.body.iter_mut().enumerate() {
            body.name = body.name_or(index);
            let path = format!("body[{index}]");
            body.origin = Some(body.origin());
            body.orientation = canonical_orientation(&path, body.orientation.as_ref())?;
            if body.kind == Kind::Inertial && body.mass.is_none() {
                body.density = body.density.or(Some(DEFAULT_DENSITY));
            }
            body.damping = body.damping.or(Some(DampingTable::default()));
            body.gravity_scale = body.gravity_scale.or(Some(1.0));
            body.filter = body.filter.or(Some(FilterTable { groups: u32::MAX, mask: u32::MAX }));
            let material = body.material.take();
            let default = || MaterialRef::Inline(MaterialTable::default());
            body.material = Some(material.map_or_else(default, |given| self.inline(given)));
            let list = body.colliders().0;
            if let Some(ShapeTable::Compound(colliders)) =
                body.shape.take_if(|shape| shape.is_compound() && body.collider.is_empty())
            {
                body.collider = colliders;
            }
            for (number, collider) in body.collider.iter_mut().enumerate() {
                let path = format!("{path}.{list}[{number}]");
                collider.orientation = canonical_orientation(&path, collider.orientation.as_ref())?;
                let material = collider.material.take().map(|given| self.inline(given));
                collider.material = material.or_else(|| body.material.clone());
                collider.filter = collider.filter.or(body.filter);
            }
        }
        if scene.combine.is_empty() {
            scene.materials.clear();
        }
        scene.joint.iter_mut().for_each(fill_joint);
        scene.potential.iter_mut().for_each(fill_potential);
        Ok(scene)
    }

    /// Returns a material inline. An unknown name is kept, and rejected when the scene is built; so are all names if materials
    /// combine by them.
    fn inline(&self, material: MaterialRef) -> MaterialRef {
        let named = match &material {
            MaterialRef::Name(name) if self.combine.is_empty() => self.materials.get(name),
            _ => None,
        };
        named.map_or(material, |table| MaterialRef::Inline(*table))
    }
}

/// Returns the orientation of the body or collider at a path as a quaternion.
fn canonical_orientation(
    path: &str,
    given: Option<&OrientationTable>,
) -> Result<Option<OrientationTable>, Fault> {
    let turned = build::orientation(&format!("{path}.orientation"), given)?;
    let quaternion = Some(turned.to_array());
    Ok(Some(OrientationTable { quaternion, ..Default::default() }))
}

fn world(table: &WorldTable) -> Result<WorldTable, Fault> {
    let settings = build::settings(table)?;
    let (dt, steps) = build::dt_and_steps(table)?;
    // Values in effect, so that a scene keeps its meaning when a default changes. `fast` has nothing to override.
    let in_effect = |value: u32| (settings.accuracy != Accuracy::Fast).then_some(value);
    Ok(WorldTable {
        accuracy: Some(settings.accuracy.into()),
        gravity: Some(settings.gravity.to_array()),
        dt: Some(dt),
        duration: None,
        steps: Some(steps),
        solver: Some(Solver::of(settings.method)),
        substeps: Some(settings.substeps),
        rest_speed: Some(settings.rest_speed),
        position_correction: Some(settings.position_correction),
        position_correction_speed: Some(settings.position_correction_speed),
        margin: Some(settings.margin),
        reuse: Some(settings.reuse),
        sweeps: Some(settings.sweeps),
        tolerance: Some(settings.tolerance),
        iterations: Some(settings.iterations),
        newton_steps: in_effect(settings.newton_step_limit()),
        newton_work: in_effect(settings.newton_work_limit()),
        continuous: Some(match settings.continuous {
            Continuous::Auto => ContinuousMode::Auto,
            Continuous::Always => ContinuousMode::Always,
            Continuous::Never => ContinuousMode::Never,
        }),
        impact_work: Some(settings.impact_work),
        max_exact_bodies: in_effect(settings.exact_body_limit()),
        max_exact_cost: in_effect(settings.exact_cost_limit()),
        audit: Some(settings.audit),
        sleeping: Some(settings.sleeping),
        sleep_speed: Some(settings.sleep_speed),
        sleep_time: Some(settings.sleep_time),
        // Results do not depend on it.
        threads: None,
    })
}

fn fill_joint(joint: &mut JointTable) {
    match (joint.length, joint.stiffness) {
        (Some(_), Some(_)) => joint.damping = joint.damping.or(Some(0.0)),
        (Some(length), None) => {
            (joint.length, joint.min, joint.max) = (None, Some(length), Some(length));
        }
        (None, _) if joint.kind == JointName::Distance => joint.min = joint.min.or(Some(0.0)),
        _ => {}
    }
}

fn fill_potential(potential: &mut PotentialTable) {
    let default_to_zero = |field: &mut Option<f64>| *field = field.or(Some(0.0));
    match potential.kind {
        PotentialName::PointMass => {
            potential.position = potential.position.or(Some([0.0; 3]));
            default_to_zero(&mut potential.core);
        }
        PotentialName::Spring => {
            default_to_zero(&mut potential.rest_length);
            default_to_zero(&mut potential.damping);
        }
        PotentialName::Drag => {
            default_to_zero(&mut potential.linear);
            default_to_zero(&mut potential.quadratic);
            default_to_zero(&mut potential.angular);
            default_to_zero(&mut potential.angular_quadratic);
            potential.medium = potential.medium.or(Some([0.0; 3]));
        }
        PotentialName::Uniform => {}
    }
}

/// Returns the differences in meaning between two scenes, regardless of form and omitted defaults. Bodies are matched
/// by name.
pub fn changes(a: &Scene, b: &Scene) -> Result<Vec<Change>, SceneError> {
    let [a, b] = [a.canonical()?, b.canonical()?]
        .map(|scene| serde_json::to_value(scene).unwrap_or(Value::Null));
    let mut changes = Vec::new();
    compare("", &a, &b, &mut changes);
    Ok(changes)
}

fn compare(path: &str, a: &Value, b: &Value, changes: &mut Vec<Change>) {
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            for key in keys {
                compare_optional(&inside(key), a.get(key), b.get(key), changes);
            }
        }
        (Value::Array(a), Value::Array(b)) if named(a) && named(b) => {
            let find = |list: &'_ [Value], name: &Value| {
                list.iter().position(|item| &item["name"] == name)
            };
            let mut order = Vec::new();
            for item in a.iter().chain(b.iter().filter(|item| find(a, &item["name"]).is_none())) {
                let name = &item["name"];
                let places = (find(a, name), find(b, name));
                let label = inside(name.as_str().unwrap_or_default());
                compare_optional(
                    &label,
                    places.0.map(|at| &a[at]),
                    places.1.map(|at| &b[at]),
                    changes,
                );
                if let (Some(_), Some(place)) = places {
                    order.push(place);
                }
            }
            if !order.is_sorted() {
                let text = |list: &[Value]| {
                    Some(list.iter().map(|item| item["name"].clone()).collect::<Value>())
                };
                changes.push(Change { path: inside("(order)"), a: text(a), b: text(b) });
            }
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).any(Value::is_object) => {
            for index in 0..a.len().max(b.len()) {
                compare_optional(&format!("{path}[{index}]"), a.get(index), b.get(index), changes);
            }
        }
        _ if a == b => {}
        _ => changes.push(Change { path: path.to_owned(), a: Some(a.clone()), b: Some(b.clone()) }),
    }
}

fn compare_optional(path: &str, a: Option<&Value>, b: Option<&Value>, changes: &mut Vec<Change>) {
    match (a, b) {
        (Some(a), Some(b)) => compare(path, a, b, changes),
        _ => changes.push(Change { path: path.to_owned(), a: a.cloned(), b: b.cloned() }),
    }
}

/// Returns whether all elements of a list have names.
fn named(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(|item| item.get("name").is_some())
}
