//! A scene with everything said: what a recording keeps, and what two scenes are compared by.

use msd_sim::Method;
use serde_json::Value;

use crate::build;
use crate::error::SceneError;
use crate::format::{MaterialRef, MaterialTable, Scene, Solver, WorldTable};

/// One difference of two scenes.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where, such as `body.crate.mass`.
    pub path: String,
    /// What the first one says, if it says anything.
    pub a: Option<Value>,
    /// What the second one says.
    pub b: Option<Value>,
}

impl Scene {
    /// The same scene with every setting written out and materials in place: means the same even if
    /// defaults change.
    pub fn canonical(&self) -> Result<Self, SceneError> {
        let settings =
            build::settings(&self.world).map_err(|fault| SceneError::new(fault, "", None))?;
        let mut scene = self.clone();
        let table = &self.world;
        scene.world = WorldTable {
            gravity: Some(settings.gravity.to_array()),
            dt: Some(table.dt.unwrap_or(build::DEFAULT_DT)),
            duration: match table.steps {
                Some(_) => None,
                None => Some(table.duration.unwrap_or(build::DEFAULT_DURATION)),
            },
            steps: table.steps,
            solver: Some(match settings.method {
                Method::Pgs => Solver::Pgs,
                Method::ActiveSet => Solver::ActiveSet,
                #[cfg(feature = "conic")]
                Method::Conic => Solver::Conic,
                _ => Solver::SoftStep,
            }),
            substeps: Some(settings.substeps),
            rest_speed: Some(settings.rest_speed),
            recovery: Some(settings.recovery),
            recovery_speed: Some(settings.recovery_speed),
            margin: Some(settings.margin),
            reuse: Some(settings.reuse),
            sweeps: Some(settings.sweeps),
            tolerance: Some(settings.tolerance),
            iterations: Some(settings.iterations),
            newton_steps: Some(settings.newton_steps),
            newton_work: Some(settings.newton_work),
            audit: Some(settings.audit),
            sleeping: Some(false),
            threads: table.threads,
        };
        let default = MaterialTable { restitution: 0.5, friction: 0.5 };
        for body in &mut scene.body {
            let named = match &body.material {
                Some(MaterialRef::Name(name)) => self.materials.get(name).copied(),
                Some(MaterialRef::Inline(table)) => Some(*table),
                None => Some(default),
            };
            body.material = named.map(MaterialRef::Inline).or(body.material.take());
        }
        scene.materials.clear();
        Ok(scene)
    }

    /// As JSON, in one line: read back, it gives the same world to the last bit.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Where two scenes mean different things: however they are written, whatever is left to defaults.
/// Bodies are matched by name.
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
                either(&inside(key), a.get(key), b.get(key), changes);
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
                either(&label, places.0.map(|at| &a[at]), places.1.map(|at| &b[at]), changes);
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
                either(&format!("{path}[{index}]"), a.get(index), b.get(index), changes);
            }
        }
        _ if a == b => {}
        _ => changes.push(Change { path: path.to_owned(), a: Some(a.clone()), b: Some(b.clone()) }),
    }
}

fn either(path: &str, a: Option<&Value>, b: Option<&Value>, changes: &mut Vec<Change>) {
    match (a, b) {
        (Some(a), Some(b)) => compare(path, a, b, changes),
        _ => changes.push(Change { path: path.to_owned(), a: a.cloned(), b: b.cloned() }),
    }
}

/// Whether it is a list of things that all have names.
fn named(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(|item| item.get("name").is_some())
}
