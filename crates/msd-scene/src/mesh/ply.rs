//! The PLY reader: text, and binary of either byte order.
//!
//! The crate ply-rs-bw trusts the header, so this module checks it first: elements without properties would be
//! counted up to 2^64, and an element or property declared twice would replace the first one and shift
//! everything after it.

use msd_sim::math::Vec3;
use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Header, Property, PropertyAccess, PropertyAccessResult, PropertyType,
    ScalarType,
};

use super::builder::{MeshBuilder, lines, quote, words};
use crate::error::Fault;

/// Maximum length of the header and of a text line, bytes. Split into words, a line takes 10 times its size.
const MAX_LENGTH: usize = 1 << 16;

/// Reads the vertices and the faces after them; skips other elements.
pub(super) fn read(bytes: &[u8], builder: &mut MeshBuilder) -> Result<(), Fault> {
    let (header, length) = read_header(bytes)?;
    let (head, mut rest) = bytes.split_at(length);
    let mut line = head.split(|&byte| byte == b'\n').count() - 1;
    if header.encoding == Encoding::Ascii
        && let Some((at, _)) = lines(rest).find(|(_, content)| content.len() > MAX_LENGTH)
    {
        let message = format!("line {}: longer than {MAX_LENGTH} bytes", line + at);
        return Err(Fault::new(message));
    }
    for element in header.elements.values() {
        check_count(element, &header.encoding, rest.len())?;
        let mut reader = Reader::new(rest);
        if element.name != "vertex" {
            let skipped = Parser::<Skipped>::new();
            skipped
                .read_payload_for_element(&mut reader, element, &header)
                .map_err(|error| fault(&error, element, &header, rest, line))?;
            line += reader.line().saturating_sub(1);
            rest = reader.into_inner();
            continue;
        }
        check_properties(element)?;
        builder.check(element.count as u64)?;
        let vertices = Parser::<Vertex>::new()
            .read_payload_for_element(&mut reader, element, &header)
            .map_err(|error| fault(&error, element, &header, rest, line))?;
        let mut points = Vec::with_capacity(vertices.len());
        for (index, vertex) in (1..).zip(vertices) {
            points.push(builder.push(vertex.0, || format!("vertex {index}"))?);
        }
        let left = header.elements.values().skip_while(|other| other.name != "vertex").skip(1);
        if read_faces(&mut reader, left, &header, &points, builder).is_none() {
            builder.unreadable_faces();
        }
        return Ok(());
    }
    Err(Fault::new("expected `element vertex` in the header"))
}

/// Adds the faces that follow the vertices, or returns `None` if they cannot be read: the points are valid without
/// them.
fn read_faces<'h>(
    reader: &mut Reader<&[u8]>,
    left: impl Iterator<Item = &'h ElementDef>,
    header: &Header,
    points: &[u32],
    builder: &mut MeshBuilder,
) -> Option<()> {
    let known = |name: &str| ["face", "tristrips"].contains(&name);
    // Without faces the points have no surface, which is no error.
    if !header.elements.values().any(|element| known(&element.name) && element.count > 0) {
        return Some(());
    }
    for element in left {
        check_count(element, &header.encoding, reader.get_ref().len()).ok()?;
        // One at a time: a parsed face takes several times its bytes.
        let one = ElementDef { count: 1, ..element.clone() };
        for _ in 0..element.count {
            if element.name != "face" {
                Parser::<Skipped>::new().read_payload_for_element(reader, &one, header).ok()?;
                continue;
            }
            let faces =
                Parser::<Face>::new().read_payload_for_element(reader, &one, header).ok()?;
            // No list of a known name: the corners are unknown.
            let corners = faces.first().filter(|face| !face.0.is_empty())?.0.iter();
            let corners: Option<Vec<u32>> =
                corners.map(|&vertex| points.get(usize::try_from(vertex).ok()?).copied()).collect();
            builder.face(&corners?);
        }
        if element.name == "face" {
            return Some(());
        }
    }
    None
}

/// Reads the header, and returns it with its length in bytes.
fn read_header(bytes: &[u8]) -> Result<(Header, usize), Fault> {
    let head = bytes.get(..MAX_LENGTH).unwrap_or(bytes);
    let mut reader = Reader::new(head);
    let header = Parser::<Skipped>::new().read_header(&mut reader).map_err(|error| {
        let Some(line) = error.line() else {
            return Fault::new(format!("in the PLY header: {error}"));
        };
        let content =
            lines(head).nth(line.saturating_sub(1)).map_or(&b""[..], |(_, content)| content);
        let what = if line == 1 { "`ply`" } else { "a line of a PLY header" };
        Fault::new(format!("line {line}: expected {what}, found {}", quote(content)))
    })?;
    let length = head.len() - reader.into_inner().len();
    let declared = |name: &[u8]| {
        lines(&head[..length]).filter(|(_, content)| words(content).next() == Some(name)).count()
    };
    let properties = header.elements.values().map(|element| element.properties.len());
    if declared(b"element") != header.elements.len()
        || declared(b"property") != properties.sum::<usize>()
    {
        return Err(Fault::new("expected elements and properties with distinct names"));
    }
    Ok((header, length))
}

/// Rejects an element that needs more bytes than the file has.
fn check_count(element: &ElementDef, encoding: &Encoding, length: usize) -> Result<(), Fault> {
    let smallest = match encoding {
        // A line break.
        Encoding::Ascii => 1,
        _ => element.properties.values().map(|property| smallest(&property.data_type)).sum(),
    };
    let ElementDef { name, count, .. } = element;
    if *count > 0 && smallest == 0 {
        return Err(Fault::new(format!("expected the element `{name}` to have properties")));
    }
    if count.checked_mul(smallest).is_none_or(|needed| needed > length) {
        let message = format!("expected {count} elements `{name}`, the file is too short for them");
        return Err(Fault::new(message));
    }
    Ok(())
}

/// Returns the minimum size of a property in bytes: a number, or the length of a list.
fn smallest(kind: &PropertyType) -> usize {
    let (PropertyType::Scalar(first) | PropertyType::List(first, _)) = kind;
    match first {
        ScalarType::Char | ScalarType::UChar => 1,
        ScalarType::Short | ScalarType::UShort => 2,
        ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
        ScalarType::Double => 8,
    }
}

fn check_properties(element: &ElementDef) -> Result<(), Fault> {
    for name in ["x", "y", "z"] {
        let kind = element.properties.get(name).map(|property| &property.data_type);
        if !matches!(kind, Some(PropertyType::Scalar(_))) {
            return Err(Fault::new(format!(
                "expected the element `vertex` to have a number `{name}`"
            )));
        }
    }
    Ok(())
}

/// Describes a parse error in an element that begins after `line` lines.
fn fault(
    error: &ParseError,
    element: &ElementDef,
    header: &Header,
    rest: &[u8],
    line: usize,
) -> Fault {
    let ElementDef { name, count, .. } = element;
    // The crate counts lines, and the elements of binary files as if they were lines.
    let at = error.line().unwrap_or(1);
    Fault::new(if error.kind() == std::io::ErrorKind::UnexpectedEof {
        format!("expected {count} elements `{name}`, the file ends in number {at}")
    } else if header.encoding == Encoding::Ascii {
        let content = lines(rest).nth(at.saturating_sub(1)).map_or(&b""[..], |(_, line)| line);
        let found = quote(content);
        format!("line {}: expected the numbers of a `{name}`, found {found}", line + at)
    } else {
        let message = error.to_string();
        let reason = message.split_once(": ").map_or(message.as_str(), |(_, reason)| reason);
        format!("`{name}` number {at}: {}", reason.lines().next().unwrap_or(""))
    })
}

/// A vertex; only its position is kept.
struct Vertex(Vec3);

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self(Vec3::ZERO)
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let coordinate = match name {
            "x" => &mut self.0.x,
            "y" => &mut self.0.y,
            "z" => &mut self.0.z,
            _ => return PropertyAccessResult::Ignored,
        };
        *coordinate = match property {
            Property::Char(value) => value.into(),
            Property::UChar(value) => value.into(),
            Property::Short(value) => value.into(),
            Property::UShort(value) => value.into(),
            Property::Int(value) => value.into(),
            Property::UInt(value) => value.into(),
            Property::Float(value) => value.into(),
            Property::Double(value) => value,
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// A face; only its vertex indices are kept.
struct Face(Vec<i64>);

impl PropertyAccess for Face {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if !["vertex_indices", "vertex_index"].contains(&name) {
            return PropertyAccessResult::Ignored;
        }
        self.0 = match property {
            Property::ListChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListInt(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUInt(list) => list.into_iter().map(i64::from).collect(),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// Any other element; nothing of it is kept.
struct Skipped;

impl PropertyAccess for Skipped {
    fn new() -> Self {
        Self
    }
}
