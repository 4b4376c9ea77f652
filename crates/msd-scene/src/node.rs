//! A file as a tree of values that know where they stand, the same for TOML and JSON.

use std::ops::Range;

use jsonc_parser::ast;
use toml::de::{DeTable, DeValue};

use crate::error::{Fault, Segment};

/// Deeper files are refused: no scene needs more than ten, and each level is a call.
const DEEPEST: usize = 64;

/// Where something stands in the text, in bytes. None for what came from elsewhere.
pub(crate) type Span = Option<Range<usize>>;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// What a file can say.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

impl Node {
    /// The tree of a TOML text.
    pub(crate) fn from_toml(text: &str) -> Result<Self, Fault> {
        refuse_long_keys(text)?;
        let table = DeTable::parse(text)
            .map_err(|error| Fault::new(error.message().trim_end().to_owned()).at(error.span()))?;
        toml_node(Some(table.span()), &DeValue::Table(table.into_inner()), DEEPEST)
    }

    /// The tree of a JSON text. Comments and trailing commas are let pass.
    pub(crate) fn from_json(text: &str) -> Result<Self, Fault> {
        let options = jsonc_parser::ParseOptions::default();
        let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &options);
        let parsed = parsed.map_err(|error| {
            let range = error.range();
            Fault::new(error.kind().to_string()).at(Some(range.start..range.end))
        })?;
        let value = parsed.value.ok_or_else(|| Fault::new("expected a scene, found nothing"))?;
        json_node(&value, DEEPEST)
    }

    /// Moves all places by so many bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        let moved = |span: &mut Span| *span = span.take().map(|at| at.start + by..at.end + by);
        moved(&mut self.span);
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.shift(by)),
            Value::Table(entries) => {
                for entry in entries {
                    moved(&mut entry.key_span);
                    entry.node.shift(by);
                }
            }
            _ => {}
        }
    }

    /// The value at a path, or the last one on the way to it: where to point at.
    pub(crate) fn nearest(&self, path: &[Segment]) -> &Self {
        match path.split_first().and_then(|(first, rest)| Some((self.child(first)?, rest))) {
            Some((child, rest)) => child.nearest(rest),
            None => self,
        }
    }

    /// The value of a key or at an index.
    pub(crate) fn child(&self, segment: &Segment) -> Option<&Self> {
        match (segment, &self.value) {
            (Segment::Index(index), Value::List(list)) => list.get(*index),
            (Segment::Key(key), Value::Table(entries)) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
            }
            _ => None,
        }
    }

    /// What kind of value it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// A dotted key nests without brackets, which the parser does not count. Looks for chains of names and
/// dots wherever they stand: a chain this long is no prose either.
fn refuse_long_keys(text: &str) -> Result<(), Fault> {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut dots, mut after_dot) = (0, 0, 0, false);
    while at < bytes.len() {
        let mut next = at + 1;
        match bytes[at] {
            b' ' | b'\t' => {}
            b'.' if !after_dot && dots + 1 >= DEEPEST => {
                return Err(too_deep().at(Some(start..at)));
            }
            b'.' if !after_dot => (dots, after_dot) = (dots + 1, true),
            byte if byte.is_ascii_alphanumeric() || b"_-\"'".contains(&byte) || byte >= 0x80 => {
                if !after_dot {
                    (start, dots) = (at, 0);
                }
                after_dot = false;
                next = end_of_name(bytes, at);
            }
            _ => (dots, after_dot) = (0, false),
        }
        at = next;
    }
    Ok(())
}

/// Where a name ends that is bare, or quoted on one line.
fn end_of_name(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let rest = &bytes[start + 1..];
    let length = if quote == b'"' || quote == b'\'' {
        let mut escaped = false;
        let end = rest.iter().position(|&byte| {
            let ends = (byte == quote && !escaped) || byte == b'\n';
            escaped = byte == b'\\' && quote == b'"' && !escaped;
            ends
        });
        end.map_or(rest.len(), |end| end + 1)
    } else {
        let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || byte >= 0x80;
        rest.iter().position(|&byte| !bare(byte)).unwrap_or(rest.len())
    };
    start + 1 + length
}

fn too_deep() -> Fault {
    Fault::new(format!("nested deeper than {DEEPEST} levels"))
}

fn toml_node(span: Span, value: &DeValue<'_>, depth: usize) -> Result<Node, Fault> {
    let deeper = depth.checked_sub(1).ok_or_else(|| too_deep().at(span.clone()))?;
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Value::Int)
            .map_err(|_| not_a_number(number.as_str()).at(span.clone()))?,
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map(Value::Float)
            .map_err(|_| not_a_number(number.as_str()).at(span.clone()))?,
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(list) => {
            let nodes =
                list.iter().map(|item| toml_node(Some(item.span()), item.get_ref(), deeper));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, item)| {
                Ok(Entry {
                    key: key.get_ref().to_string(),
                    key_span: Some(key.span()),
                    node: toml_node(Some(item.span()), item.get_ref(), deeper)?,
                })
            });
            let mut entries = entries.collect::<Result<Vec<_>, Fault>>()?;
            // In the order in which they are written.
            entries.sort_by_key(|entry| entry.key_span.as_ref().map(|span| span.start));
            Value::Table(entries)
        }
    };
    Ok(Node { span, value })
}

fn json_node(value: &ast::Value<'_>, depth: usize) -> Result<Node, Fault> {
    use jsonc_parser::common::Ranged;
    let range = value.range();
    let span = Some(range.start..range.end);
    let deeper = depth.checked_sub(1).ok_or_else(|| too_deep().at(span.clone()))?;
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::StringLit(literal) => Value::Text(literal.value.to_string()),
        ast::Value::NumberLit(literal) => {
            number(literal.value).ok_or_else(|| not_a_number(literal.value).at(span.clone()))?
        }
        ast::Value::Array(array) => {
            let nodes = array.elements.iter().map(|item| json_node(item, deeper));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => {
            let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
            for property in &object.properties {
                let range = property.name.range();
                let (key, key_span) =
                    (property.name.as_str().to_owned(), Some(range.start..range.end));
                entries.push(Entry { key, key_span, node: json_node(&property.value, deeper)? });
            }
            refuse_repeats(&entries)?;
            Value::Table(entries)
        }
    };
    Ok(Node { span, value })
}

fn refuse_repeats(entries: &[Entry]) -> Result<(), Fault> {
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    match entries.iter().find(|entry| !seen.insert(&entry.key)) {
        Some(entry) => {
            Err(Fault::new(format!("duplicate key `{}`", entry.key)).at(entry.key_span.clone()))
        }
        None => Ok(()),
    }
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse().ok().map(Value::Int);
    whole.or_else(|| text.parse().ok().map(Value::Float))
}

fn not_a_number(text: &str) -> Fault {
    let shown: String = text.chars().take(40).collect();
    Fault::new(format!("expected a number within reach, found {shown}"))
}
