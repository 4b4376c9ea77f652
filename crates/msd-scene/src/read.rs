//! The deserializer from a tree of values to the format's types; errors have a path and a span.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};

use crate::error::{Fault, Segment};
use crate::node::{Entry, Node, Value};

/// Deserializes a tree as a `T`.
pub(crate) fn read<'de, T: serde::Deserialize<'de>>(node: &'de Node) -> Result<T, Fault> {
    T::deserialize(node)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let fault = Self::new(format!(
            "expected {}, found {}",
            describe_expected(expected),
            describe_found(&found)
        ));
        match found {
            Unexpected::Map if expected.to_string() == "a sequence" => fault.help(
                "in TOML, list elements have double brackets: `[[body]]`, `[[body.collider]]`",
            ),
            _ => fault,
        }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "expected {}, found {}",
            describe_expected(expected),
            describe_found(&found)
        ))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {expected}, found {length} elements"))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        unknown("field", field, known)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        unknown("name", variant, known)
    }

    fn missing_field(field: &'static str) -> Self {
        let fault = Self::of(field, "is missing");
        match field {
            "version" => fault.help("add `version = 1` at the top; in JSON, `\"version\": 1`"),
            _ => fault,
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::of(field, "is given twice")
    }
}

/// Fields of a body that a collider does not have: in TOML, a field below a `[[body.collider]]` is the collider's.
const OF_BODY: [&str; 9] = [
    "kind",
    "inertia",
    "center_of_mass",
    "origin",
    "velocity",
    "angular_velocity",
    "damping",
    "gravity_scale",
    "array",
];

fn unknown(what: &str, name: &str, known: &[&str]) -> Fault {
    let fault = Fault::new(format!("unknown {what} `{name}`, expected {}", one_of(known)));
    let other =
        FOREIGN_NAMES.iter().find(|(other, ours, _)| *other == name && known.contains(ours));
    match other {
        _ if known.contains(&"sensor") && OF_BODY.contains(&name) => {
            fault.help("it is a field of the body: write it above the first `[[body.collider]]`")
        }
        Some((_, _, help)) => fault.help(*help),
        None => fault.nearest(name, known.iter().copied()),
    }
}

const HINGE: &str = "there are no hinges yet: two `ball` joints on the axis, far apart, make one";
const SLIDER: &str =
    "there are no sliders yet: `distance` joints to far anchors guide a body approximately";
const MOTOR: &str = "there are no motors yet: a `[[force]]` with `force` or `torque` drives a body";
const LIMITS: &str = "there are no limits of angles yet: a body that the door hits, or a `distance` joint with `min` and `max`, stops it";
const SENSOR: &str = "a sensor is a collider with `sensor = true`, in a `[[body.collider]]`";
const COLLIDERS: &str = "a body of several shapes has a `[[body.collider]]` for each";
const BELT: &str = "there is no surface velocity yet: a belt is a long `environment` body with a `velocity`, which moves it as a whole";
const WELD: &str =
    "there are no fixed joints yet: three `ball` joints that are not in line make one";

/// Names that other engines use: the name, a name in scenes at the same place, and the hint.
const FOREIGN_NAMES: [(&str, &str, &str); 44] = [
    ("hinge", "ball", HINGE),
    ("revolute", "ball", HINGE),
    ("continuous", "ball", HINGE),
    ("slider", "ball", SLIDER),
    ("prismatic", "ball", SLIDER),
    ("slide", "ball", SLIDER),
    ("fixed", "ball", WELD),
    ("weld", "ball", WELD),
    ("spherical", "ball", "a spherical joint is a `ball`"),
    ("point", "ball", "a point-to-point joint is a `ball`"),
    ("rope", "distance", "a rope is a `distance` joint with `max`"),
    ("rod", "distance", "a rod is a `distance` joint with `length`"),
    ("spring", "distance", "a spring is a `distance` joint with `stiffness`"),
    ("motor", "anchor_a", MOTOR),
    ("drive", "anchor_a", MOTOR),
    ("limits", "anchor_a", LIMITS),
    ("limit", "anchor_a", LIMITS),
    ("axis", "anchor_a", HINGE),
    ("anchor", "anchor_a", "anchors are `anchor_a` and `anchor_b`, each in its body's frame"),
    ("sensor", "collider", SENSOR),
    ("is_sensor", "collider", SENSOR),
    ("is_sensor", "sensor", "a sensor has `sensor = true`"),
    ("trigger", "sensor", "a trigger has `sensor = true`"),
    ("shapes", "collider", COLLIDERS),
    ("geom", "collider", COLLIDERS),
    ("fixture", "collider", COLLIDERS),
    ("surface_velocity", "filter", BELT),
    ("surface_velocity", "restitution", BELT),
    ("box", "cuboid", "a box is a `cuboid` with `half_extents`"),
    ("cube", "cuboid", "a cube is a `cuboid` with equal `half_extents`"),
    ("ball", "sphere", "a ball is a `sphere`"),
    ("plane", "half_space", "a plane is a `half_space` with its `normal`"),
    ("convex", "hull", "a convex body is a `hull` of `points` or of a `mesh`"),
    ("mesh", "hull", "a mesh is a `hull` with `mesh`; it becomes its convex hull"),
    ("static", "environment", "a static body is `environment`"),
    ("fixed", "environment", "a fixed body is `environment`"),
    ("kinematic", "environment", "a kinematic body is `environment` with a `velocity`"),
    ("dynamic", "inertial", "a dynamic body is `inertial`"),
    ("rigid", "inertial", "a rigid body that moves is `inertial`"),
    ("type", "kind", "the type of a body or joint is its `kind`"),
    ("rotation", "orientation", "the rotation of a body or collider is its `orientation`"),
    ("linear_velocity", "velocity", "a body's linear velocity is its `velocity`"),
    ("timestep", "dt", "the time step is `dt`"),
    ("time_step", "dt", "the time step is `dt`"),
];

fn one_of(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// Describes an expected type without Rust's type names.
fn describe_expected(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "f64" => "a number".to_owned(),
        "u32" | "u64" => "a whole number, 0 or more".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        _ if text.starts_with("struct ") => "a table".to_owned(),
        "unit variant" => "a name alone".to_owned(),
        _ => text,
    }
}

fn describe_found(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("the string \"{text}\""),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Unit => "null".to_owned(),
        Unexpected::UnitVariant => "a name alone".to_owned(),
        Unexpected::StructVariant | Unexpected::NewtypeVariant => "a table".to_owned(),
        other => other.to_string(),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            Value::Float(value) if !value.is_finite() => {
                Err(Fault::new(format!("expected a finite number, found {value}")))
            }
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(list) => {
                let mut items = Items { rest: list.iter().enumerate() };
                visitor.visit_seq(&mut items).and_then(|value| match items.rest.next() {
                    None => Ok(value),
                    Some((index, _)) => {
                        Err(Fault::new(format!("expected {index} elements, found {}", list.len())))
                    }
                })
            }
            Value::Table(entries) => {
                visitor.visit_map(Entries { rest: entries.iter(), current: None })
            }
        };
        result.map_err(|fault| fault.at(self.span.clone()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// Reads a name, or a table of one name and its fields.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let result = match &self.value {
            Value::Text(name) => visitor.visit_enum(name.as_str().into_deserializer()),
            Value::Table(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(Choice { entry }),
                _ => Err(Fault::new(format!(
                    "expected a table of one entry, {}, found {}",
                    one_of(known),
                    entries.len()
                ))),
            },
            _ => Err(Fault::new(format!("expected {}, found {}", one_of(known), self.kind()))),
        };
        result.map_err(|fault| fault.at(self.span.clone()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads fields by name only, never by position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.value {
            Value::List(_) => {
                Err(Fault::new("expected a table, found a list").at(self.span.clone()))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'de> {
    rest: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some((index, node)) = self.rest.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|fault| fault.within(Segment::Index(index)))
    }

    // No size hint, so that nothing is allocated in advance.
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    current: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = entry.key.as_str().into_deserializer();
        let named = seed.deserialize(key).map(Some);
        named.map_err(|fault: Fault| {
            fault.at(entry.key_span.clone()).within(Segment::Key(entry.key.clone()))
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry = self.current.ok_or_else(|| Fault::new("value without a key"))?;
        seed.deserialize(&entry.node).map_err(|fault| fault.within(Segment::Key(entry.key.clone())))
    }
}

struct Choice<'de> {
    entry: &'de Entry,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name = self.entry.key.as_str().into_deserializer();
        let value = seed.deserialize(name).map_err(|fault: Fault| {
            fault.at(self.entry.key_span.clone()).within(Segment::Key(self.entry.key.clone()))
        })?;
        Ok((value, self))
    }
}

impl<'de> Choice<'de> {
    fn within<T>(&self, result: Result<T, Fault>) -> Result<T, Fault> {
        result.map_err(|fault| fault.within(Segment::Key(self.entry.key.clone())))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        self.within(seed.deserialize(&self.entry.node))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.within(self.entry.node.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.within(self.entry.node.deserialize_struct("", fields, visitor))
    }
}
