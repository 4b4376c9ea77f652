//! The tree of values of a TOML or JSON file, each with its source span.

use std::ops::Range;

use jsonc_parser::ast;
use toml::de::{DeTable, DeValue};

use crate::error::{Fault, Segment};

/// Maximum nesting depth: no scene needs more than ten levels, and each level is a recursive call.
const MAX_DEPTH: usize = 64;

/// A byte range of the source text; `None` for values from elsewhere, such as the command line.
pub(crate) type Span = Option<Range<usize>>;

/// A value and its source span.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// A value of TOML or JSON.
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
    /// Parses a TOML text.
    pub(crate) fn from_toml(text: &str) -> Result<Self, Fault> {
        refuse_long_keys(text)?;
        let table = DeTable::parse(text)
            .map_err(|error| Fault::new(error.message().trim_end().to_owned()).at(error.span()))?;
        toml_node(Some(table.span()), &DeValue::Table(table.into_inner()), MAX_DEPTH)
    }

    /// Parses a JSON text; comments and trailing commas are accepted.
    pub(crate) fn from_json(text: &str) -> Result<Self, Fault> {
        let options = jsonc_parser::ParseOptions::default();
        let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &options);
        let parsed = parsed.map_err(|error| {
            let range = error.range();
            Fault::new(error.kind().to_string()).at(Some(range.start..range.end))
        })?;
        let value = parsed.value.ok_or_else(|| Fault::new("expected a scene, found nothing"))?;
        json_node(&value, MAX_DEPTH)
    }

    /// Shifts all spans by a number of bytes.
    pub(crate) fn shift_spans(&mut self, by: usize) {
        let shift_span = |span: &mut Span| *span = span.take().map(|at| at.start + by..at.end + by);
        shift_span(&mut self.span);
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.shift_spans(by)),
            Value::Table(entries) => {
                for entry in entries {
                    shift_span(&mut entry.key_span);
                    entry.node.shift_spans(by);
                }
            }
            _ => {}
        }
    }

    /// Returns the value at a path, or its nearest ancestor in the tree.
    pub(crate) fn nearest(&self, path: &[Segment]) -> &Self {
        match path.split_first().and_then(|(first, rest)| Some((self.child(first)?, rest))) {
            Some((child, rest)) => child.nearest(rest),
            None => self,
        }
    }

    /// Returns the value of a key or at an index.
    pub(crate) fn child(&self, segment: &Segment) -> Option<&Self> {
        match (segment, &self.value) {
            (Segment::Index(index), Value::List(list)) => list.get(*index),
            (Segment::Key(key), Value::Table(entries)) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
            }
            _ => None,
        }
    }

    /// Returns the kind of value, in words.
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

/// Rejects dotted keys that nest too deeply, which the parser does not limit. Scans the whole text for names joined
/// by dots: not even a comment has a chain that long.
fn refuse_long_keys(text: &str) -> Result<(), Fault> {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut dots, mut after_dot) = (0, 0, 0, false);
    while at < bytes.len() {
        let mut next = at + 1;
        match bytes[at] {
            b' ' | b'\t' => {}
            b'.' if !after_dot && dots + 1 >= MAX_DEPTH => {
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

/// Returns the end of a bare name, or of a name quoted on one line.
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
    Fault::new(format!("nested deeper than {MAX_DEPTH} levels"))
}

fn toml_node(span: Span, value: &DeValue<'_>, depth: usize) -> Result<Node, Fault> {
    let deeper = depth.checked_sub(1).ok_or_else(|| too_deep().at(span.clone()))?;
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Value::Int)
            .map_err(|_| out_of_range(number.as_str()).at(span.clone()))?,
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map(Value::Float)
            .map_err(|_| out_of_range(number.as_str()).at(span.clone()))?,
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
            // In source order.
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
            number(literal.value).ok_or_else(|| out_of_range(literal.value).at(span.clone()))?
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

fn out_of_range(text: &str) -> Fault {
    let shown: String = text.chars().take(40).collect();
    Fault::new(format!("expected a number within range, found {shown}"))
}
