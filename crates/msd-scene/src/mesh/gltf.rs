//! The glTF 2 reader: positions of all meshes, transformed by their nodes.
//!
//! The crate gltf 1.4 panics on a binary file whose length field is smaller than its header, allocates a node
//! of 200 bytes for every `{}`, and stores node transforms in single precision; its accessor readers trust the
//! file. This module therefore reads the few fields that matter itself.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use msd_sim::math::Vec3;

use super::builder::MeshBuilder;
use super::confined::ConfinedFile;
use crate::error::Fault;

mod document;
mod nodes;

use document::{Accessor, Document, Primitive};

/// Reads a `.glb` file: a document and its first buffer.
pub(super) fn read_binary(
    bytes: &[u8],
    file: &ConfinedFile,
    limit: u64,
    builder: &mut MeshBuilder,
) -> Result<(), Fault> {
    let number = |at: usize| {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    if !bytes.starts_with(b"glTF") || number(4) != Some(2) {
        return Err(Fault::new("expected a binary glTF 2 file"));
    }
    if number(8).map(u64::from) != Some(bytes.len() as u64) {
        let declared = number(8).unwrap_or(0);
        let message = format!("expected {declared} bytes, as in the header, found {}", bytes.len());
        return Err(Fault::new(message));
    }
    let mut chunks = Vec::new();
    let mut at = 12;
    // Further chunks may follow; they are ignored.
    while at < bytes.len() && chunks.len() < 2 {
        let length = number(at).and_then(|length| usize::try_from(length).ok());
        let kind = bytes.get(at + 4..at + 8);
        let end = length.and_then(|length| (at + 8).checked_add(length));
        let content = end.and_then(|end| bytes.get(at + 8..end));
        let (Some(kind), Some(end), Some(content)) = (kind, end, content) else {
            return Err(Fault::new(format!("byte {at}: the chunk is longer than the file")));
        };
        chunks.push((kind, content));
        at = end;
    }
    let Some((b"JSON", document)) = chunks.first() else {
        return Err(Fault::new("expected `JSON` at byte 16"));
    };
    let buffer = chunks.get(1).filter(|(kind, _)| kind == b"BIN\0").map(|(_, content)| *content);
    read(document, buffer, file, limit, builder)
}

/// Reads a `.gltf` document and at most `limit` bytes of buffer files. `inside` is the buffer that a `.glb`
/// file contains.
pub(super) fn read(
    bytes: &[u8],
    inside: Option<&[u8]>,
    file: &ConfinedFile,
    limit: u64,
    builder: &mut MeshBuilder,
) -> Result<(), Fault> {
    let document = Document::read(bytes)?;
    let mut buffers =
        Buffers { document: &document, inside, file, left: limit, read: HashMap::new() };
    let instances = nodes::instances(&document)?;
    // Each instance has at least one point, so there are no more instances than points.
    let mut count = 0_u64;
    for instance in &instances {
        for &accessor in &instance.mesh.accessors {
            count = count.saturating_add(document.accessor(accessor)?.count);
            builder.check(count)?;
        }
    }
    for instance in &instances {
        for &index in &instance.mesh.accessors {
            let accessor = document.accessor(index)?;
            let mut points = Vec::new();
            for (vertex, point) in positions(accessor, index, &mut buffers)?.enumerate() {
                points.push(builder.push(instance.transform.apply(point), || {
                    format!("accessor {index}, vertex {vertex}{}", instance.name())
                })?);
            }
            let mirrored = instance.transform.mirrors();
            let primitives = instance.mesh.primitives.iter();
            let primitives = primitives.filter(|primitive| primitive.position() == Some(index));
            for primitive in primitives.filter(|primitive| (4..=6).contains(&primitive.mode)) {
                if add_faces(primitive, &points, mirrored, &mut buffers, builder).is_none() {
                    builder.unreadable_faces();
                }
            }
        }
    }
    Ok(())
}

/// Adds the faces of a primitive, or returns `None` if they cannot be read: the points are valid without them.
fn add_faces(
    primitive: &Primitive,
    points: &[u32],
    mirrored: bool,
    buffers: &mut Buffers<'_>,
    builder: &mut MeshBuilder,
) -> Option<()> {
    let document = buffers.document;
    let mut add = |mut face: [u32; 3]| {
        if mirrored {
            face.reverse();
        }
        builder.face(&face);
    };
    let mut corners = TriangleAssembler::default();
    match primitive.indices {
        None => points.iter().for_each(|&point| corners.next(point, primitive.mode, &mut add)),
        Some(index) => {
            let accessor = document.accessor(index).ok()?;
            let (size, number) = unsigned(accessor)?;
            for bytes in elements(accessor, index, size, buffers).ok()? {
                let point = *points.get(number(bytes) as usize)?;
                corners.next(point, primitive.mode, &mut add);
            }
        }
    }
    (primitive.mode != 4 || corners.seen.is_multiple_of(3)).then_some(())
}

/// An assembler of triangles from a stream of corners; keeps the two corners that the next triangle shares.
#[derive(Default)]
struct TriangleAssembler {
    seen: u64,
    kept: [u32; 2],
}

impl TriangleAssembler {
    fn next(&mut self, corner: u32, mode: u32, add: &mut impl FnMut([u32; 3])) {
        let (nth, [a, b]) = (self.seen, self.kept);
        self.seen += 1;
        let whole = if mode == 4 { nth % 3 == 2 } else { nth >= 2 };
        if whole {
            // Every other triangle of a strip has reversed winding.
            let turned = mode == 5 && nth % 2 == 1;
            add(if turned { [b, a, corner] } else { [a, b, corner] });
        }
        self.kept = match (mode, nth) {
            (4, _) if nth % 3 == 0 => [corner, b],
            (4, _) => [a, corner],
            (_, 0) => [corner, corner],
            (6, _) => [a, corner],
            _ => [b, corner],
        };
    }
}

/// Returns the points of an accessor; all bounds are checked before the first is read.
fn positions<'b>(
    accessor: &Accessor,
    index: usize,
    buffers: &'b mut Buffers<'_>,
) -> Result<impl Iterator<Item = Vec3> + use<'b>, Fault> {
    let fault = |message: String| Fault::new(format!("accessor {index}: {message}"));
    let Some((size, number)) = component(accessor) else {
        let kind = accessor.component_type;
        return Err(fault(format!("expected a componentType of positions, found {kind}")));
    };
    if accessor.kind != "VEC3" {
        return Err(fault(format!("expected positions of type VEC3, found {}", accessor.kind)));
    }
    let points = elements(accessor, index, 3 * size, buffers)?;
    Ok(points.map(move |bytes| {
        let at = |axis: usize| number(bytes.get(axis * size..).unwrap_or(&[]));
        Vec3::new(at(0), at(1), at(2))
    }))
}

/// Returns the elements of an accessor, at least `size` bytes each; all bounds are checked before the first is
/// read.
fn elements<'b>(
    accessor: &Accessor,
    index: usize,
    size: usize,
    buffers: &'b mut Buffers<'_>,
) -> Result<impl Iterator<Item = &'b [u8]> + use<'b>, Fault> {
    let fault = |message: String| Fault::new(format!("accessor {index}: {message}"));
    let (None, Some(view)) = (&accessor.sparse, accessor.buffer_view) else {
        return Err(fault("expected a bufferView and no sparse values".to_owned()));
    };
    let Some(view_of) = buffers.document.buffer_views.get(view) else {
        return Err(fault(format!("there is no bufferView {view}")));
    };
    let buffer = buffers.get(view_of.buffer)?;
    let length = buffer.len();
    let end = view_of.byte_offset.checked_add(view_of.byte_length);
    let range = end.and_then(|end| {
        Some(usize::try_from(view_of.byte_offset).ok()?..usize::try_from(end).ok()?)
    });
    let Some(bytes) = range.and_then(|range| buffer.get(range)) else {
        let message = format!("bufferView {view} is outside of its buffer of {length} bytes");
        return Err(Fault::new(message));
    };
    // Some exporters write 0 for tightly packed elements.
    let size = size as u64;
    let stride = view_of.byte_stride.filter(|stride| *stride != 0).unwrap_or(size);
    let last = accessor.count.saturating_sub(1).checked_mul(stride);
    let end = last
        .and_then(|last| last.checked_add(accessor.byte_offset)?.checked_add(size))
        .filter(|end| stride >= size && *end <= bytes.len() as u64);
    if end.is_none() {
        let count = accessor.count;
        let message = format!("{count} points do not fit into bufferView {view}");
        return Err(fault(message));
    }
    // The check above bounds offset and count by the length of the bytes, and the stride of two points too.
    let bytes = bytes.get(accessor.byte_offset as usize..).unwrap_or(&[]);
    let stride = usize::try_from(stride).unwrap_or(usize::MAX);
    Ok(bytes.chunks(stride).take(accessor.count as usize))
}

/// The size of an index in bytes, and the function that reads it.
type Index = (usize, fn(&[u8]) -> u32);

fn unsigned(accessor: &Accessor) -> Option<Index> {
    fn number(bytes: &[u8]) -> u32 {
        bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }
    match (accessor.kind.as_str(), accessor.component_type) {
        ("SCALAR", 5121) => Some((1, |bytes| number(bytes.get(..1).unwrap_or(&[])))),
        ("SCALAR", 5123) => Some((2, |bytes| number(bytes.get(..2).unwrap_or(&[])))),
        ("SCALAR", 5125) => Some((4, |bytes| number(bytes.get(..4).unwrap_or(&[])))),
        _ => None,
    }
}

/// A function that reads the number at the start of some bytes.
type Read = fn(&[u8]) -> f64;

/// Returns the size of a number in bytes and the function that reads it. Integers come from
/// KHR_mesh_quantization.
fn component(accessor: &Accessor) -> Option<(usize, Read)> {
    /// Returns the first `N` bytes, or zeros if there are fewer.
    fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    Some(match (accessor.component_type, accessor.normalized) {
        (5120, false) => (1, |bytes| i8::from_le_bytes(first(bytes)).into()),
        (5120, true) => (1, |bytes| (f64::from(i8::from_le_bytes(first(bytes))) / 127.0).max(-1.0)),
        (5121, false) => (1, |bytes| u8::from_le_bytes(first(bytes)).into()),
        (5121, true) => (1, |bytes| f64::from(u8::from_le_bytes(first(bytes))) / 255.0),
        (5122, false) => (2, |bytes| i16::from_le_bytes(first(bytes)).into()),
        (5122, true) => {
            (2, |bytes| (f64::from(i16::from_le_bytes(first(bytes))) / 32767.0).max(-1.0))
        }
        (5123, false) => (2, |bytes| u16::from_le_bytes(first(bytes)).into()),
        (5123, true) => (2, |bytes| f64::from(u16::from_le_bytes(first(bytes))) / 65535.0),
        (5126, _) => (4, |bytes| f32::from_le_bytes(first(bytes)).into()),
        _ => return None,
    })
}

/// The buffers of a document, read on first use.
struct Buffers<'d> {
    document: &'d Document<'d>,
    /// The buffer inside a `.glb` file.
    inside: Option<&'d [u8]>,
    file: &'d ConfinedFile,
    /// Remaining budget for buffer files, bytes.
    left: u64,
    read: HashMap<usize, Cow<'d, [u8]>>,
}

impl<'d> Buffers<'d> {
    fn get(&mut self, index: usize) -> Result<&[u8], Fault> {
        if !self.read.contains_key(&index) {
            let bytes = self.open(index).map_err(|fault| Fault {
                message: format!("buffer {index}: {}", fault.message),
                ..fault
            })?;
            self.read.insert(index, bytes);
        }
        Ok(self.read.get(&index).map_or(&[], |bytes| bytes))
    }

    fn open(&mut self, index: usize) -> Result<Cow<'d, [u8]>, Fault> {
        let Some(buffer) = self.document.buffers.get(index) else {
            return Err(Fault::new("there is no such buffer"));
        };
        let Some(uri) = buffer.uri.as_deref() else {
            let inside = self.inside.filter(|_| index == 0);
            return inside.map(Cow::Borrowed).ok_or_else(|| Fault::new("expected a `uri`"));
        };
        if let Some(data) = uri.strip_prefix("data:") {
            let text = data.split_once(";base64,").map(|(_, text)| text);
            let text = text.ok_or_else(|| Fault::new("expected base64 data in its `uri`"))?;
            let bytes = STANDARD.decode(text);
            return bytes.map(Cow::Owned).map_err(|error| {
                Fault::new(format!("expected base64 data in its `uri`: {error}"))
            });
        }
        let in_file = |fault: Fault| {
            let name: String = uri.chars().take(100).collect();
            Fault { message: format!("{name:?}: {}", fault.message), ..fault }
        };
        let bytes = self.open_file(uri).map_err(in_file)?;
        self.left -= (bytes.len() as u64).min(self.left);
        Ok(Cow::Owned(bytes))
    }

    fn open_file(&self, uri: &str) -> Result<Vec<u8>, Fault> {
        let scheme = uri.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'));
        if scheme {
            return Err(Fault::new("expected a file inside the scene's folder"));
        }
        let name = decode(uri).ok_or_else(|| Fault::new("expected a relative path"))?;
        self.file.beside(&name)?.read(self.left)
    }
}

/// Decodes percent escapes such as `%20`.
fn decode(uri: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        rest = after;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        bytes.push((16 * digit(digits[0])? + digit(digits[1])?) as u8);
    }
    String::from_utf8(bytes).ok()
}
