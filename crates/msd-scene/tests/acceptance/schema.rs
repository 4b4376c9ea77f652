//! The JSON Schema of scenes accepts what is read, and rejects what is not.

use msd_scene::{Options, catalog, schema};
use serde_json::{Value, json};

/// Returns the first violation of a JSON Schema, with its path; knows the keywords that the schema of scenes uses.
fn violation(value: &Value, schema: &Value, root: &Value, path: &str) -> Option<String> {
    let Value::Object(rules) = schema else { return None };
    let violates = |rule: &Value| violation(value, rule, root, path);
    let list = |rule: &Value| rule.as_array().unwrap().clone();
    let in_items = |rule: &Value| {
        let mut items = value.as_array()?.iter().enumerate();
        items.find_map(|(at, item)| violation(item, rule, root, &format!("{path}[{at}]")))
    };
    rules.iter().find_map(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" => None,
        "$ref" => violates(root.pointer(rule.as_str()?.trim_start_matches('#')).unwrap()),
        "anyOf" | "oneOf" => {
            let found: Option<Vec<String>> = list(rule).iter().map(violates).collect();
            found.map(|found| format!("{path}: {}", found.join(" | ")))
        }
        "type" => {
            let is = |name: &Value| match name.as_str().unwrap() {
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                "null" => value.is_null(),
                other => panic!("unknown type {other}"),
            };
            let fits = rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is));
            (!fits).then(|| format!("{path}: expected {rule}"))
        }
        "const" => (value != rule).then(|| format!("{path}: expected {rule}")),
        "enum" => (!list(rule).contains(value)).then(|| format!("{path}: expected one of {rule}")),
        "required" => list(rule).iter().find_map(|name| {
            let missing = value.as_object()?.get(name.as_str()?).is_none();
            missing.then(|| format!("{path}.{}: is missing", name.as_str().unwrap()))
        }),
        "properties" => value.as_object()?.iter().find_map(|(name, field)| {
            violation(field, rule.get(name)?, root, &format!("{path}.{name}"))
        }),
        "additionalProperties" if rule == false => value.as_object()?.keys().find_map(|name| {
            let unknown = rules.get("properties").and_then(|known| known.get(name)).is_none();
            unknown.then(|| format!("{path}.{name}: unknown"))
        }),
        "additionalProperties" => value
            .as_object()?
            .iter()
            .find_map(|(name, field)| violation(field, rule, root, &format!("{path}.{name}"))),
        "items" => in_items(rule),
        "minItems" => (value.as_array()?.len() < rule.as_u64()? as usize).then(|| path.to_owned()),
        "maxItems" => (value.as_array()?.len() > rule.as_u64()? as usize).then(|| path.to_owned()),
        "minimum" => (value.as_f64()? < rule.as_f64()?).then(|| format!("{path}: below {rule}")),
        "maximum" => (value.as_f64()? > rule.as_f64()?).then(|| format!("{path}: above {rule}")),
        other => panic!("{path}: the keyword {other} is not checked"),
    })
}

#[test]
fn every_scene_of_the_catalog_is_valid_by_the_schema() {
    let schema = schema();
    for entry in catalog::ENTRIES {
        let file = entry.open(&Options::default()).unwrap();
        for scene in [file.scene().clone(), file.scene().canonical().unwrap()] {
            let value = serde_json::to_value(scene).unwrap();
            assert_eq!(violation(&value, &schema, &schema, entry.name), None);
        }
    }
}

#[test]
fn the_schema_knows_the_fields_of_colliders_in_both_forms() {
    let schema = schema();
    let ball = json!({ "sphere": { "radius": 1.0 } });
    let check = |field: &str, colliders: Value| {
        let body = json!({ "kind": "inertial", field: colliders });
        let scene = json!({ "version": 1, "body": [body] });
        violation(&scene, &schema, &schema, "scene")
    };
    for field in ["collider", "shape"] {
        let list = |collider: Value| match field {
            "shape" => json!({ "compound": [collider] }),
            _ => json!([collider]),
        };
        let full = json!({
            "name": "a", "shape": ball, "position": [0, 0, 1], "density": 3.0, "sensor": true, "enabled": false,
            "orientation": { "euler_deg": [0, 0, 9] }, "material": "ice", "filter": { "mask": 1 },
        });
        assert_eq!(check(field, list(full)), None);
        for (wrong, words) in [
            (json!({ "shape": ball, "sensr": true }), "sensr: unknown"),
            (json!({ "shape": ball, "sensor": 1 }), "expected \"boolean\""),
            (json!({ "sensor": true }), "shape: is missing"),
        ] {
            let found = check(field, list(wrong)).expect(words);
            assert!(found.contains(words), "expected `{words}` in {found}");
        }
    }
}
