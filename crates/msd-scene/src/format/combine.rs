//! How two materials combine.

use std::fmt;

use msd_sim::CombineRule;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// How restitution and friction of two named materials combine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CombineTable {
    /// A name in `materials`.
    pub a: String,
    /// Another name in `materials`, or the same.
    pub b: String,
    /// Rule for the restitution, or its value. Default the geometric mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<CombineRef>,
    /// Rule for the friction, or its value. Default the geometric mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<CombineRef>,
}

/// A rule by its name, or a fixed value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CombineRef {
    /// A rule.
    Rule(CombineRuleName),
    /// The value between the two, whatever each of them has.
    Fixed(f64),
}

/// The name of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombineRuleName {
    /// The square root of the product.
    GeometricMean,
    /// Half the sum.
    Average,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The product.
    Multiply,
}

impl From<CombineRef> for CombineRule {
    fn from(given: CombineRef) -> Self {
        match given {
            CombineRef::Fixed(value) => Self::Fixed(value),
            CombineRef::Rule(CombineRuleName::GeometricMean) => Self::GeometricMean,
            CombineRef::Rule(CombineRuleName::Average) => Self::Average,
            CombineRef::Rule(CombineRuleName::Min) => Self::Min,
            CombineRef::Rule(CombineRuleName::Max) => Self::Max,
            CombineRef::Rule(CombineRuleName::Multiply) => Self::Multiply,
        }
    }
}

impl<'de> Deserialize<'de> for CombineRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = CombineRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number, or \"geometric_mean\", \"average\", \"min\", \"max\" or \"multiply\"",
                )
            }
            fn visit_f64<E>(self, value: f64) -> Result<CombineRef, E> {
                Ok(CombineRef::Fixed(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<CombineRef, E> {
                Ok(CombineRef::Fixed(value as f64))
            }
            fn visit_u64<E>(self, value: u64) -> Result<CombineRef, E> {
                Ok(CombineRef::Fixed(value as f64))
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<CombineRef, E> {
                let rule = match name {
                    "geometric_mean" => CombineRuleName::GeometricMean,
                    "average" => CombineRuleName::Average,
                    "min" => CombineRuleName::Min,
                    "max" => CombineRuleName::Max,
                    "multiply" => CombineRuleName::Multiply,
                    _ => return Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
                };
                Ok(CombineRef::Rule(rule))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
