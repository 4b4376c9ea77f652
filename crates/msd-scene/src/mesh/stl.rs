//! The STL reader, text and binary.
//!
//! The crate stl_io 0.11 reads only the first of several solids, mistakes a text file whose `solid` has no name
//! for binary and a binary file that begins with `solid ` for text, and allocates a string for every word of a
//! line, some 30 times the file's size.

use msd_sim::math::Vec3;

use super::builder::{MeshBuilder, expected, lines, vector, words};
use crate::error::Fault;

/// Size of the header of a binary file, bytes.
const HEADER: usize = 84;
/// Size of a face in a binary file, bytes: normal, three corners, attribute.
const FACE: usize = 50;

/// Reads all corners of all faces.
pub(super) fn read(bytes: &[u8], builder: &mut MeshBuilder) -> Result<(), Fault> {
    let count = bytes.get(HEADER - 4..).and_then(|rest| rest.first_chunk());
    let count = count.map(|count| u32::from_le_bytes(*count));
    let length = count.map(|count| HEADER as u64 + FACE as u64 * u64::from(count));
    if length.is_some_and(|length| length <= bytes.len() as u64) {
        return read_binary(bytes, count.unwrap_or(0) as usize, builder);
    }
    // Binary files may begin with `solid` too, but contain zero bytes.
    let word = words(bytes).next().unwrap_or(b"");
    if word.eq_ignore_ascii_case(b"solid") && !bytes.contains(&0) {
        return read_text(bytes, builder);
    }
    let found = bytes.len();
    Err(Fault::new(match (count, length) {
        (Some(count), Some(length)) => {
            format!("expected {length} bytes for {count} faces, found {found}")
        }
        _ => format!("expected an STL file, text or at least {HEADER} bytes, found {found} bytes"),
    }))
}

fn read_binary(bytes: &[u8], count: usize, builder: &mut MeshBuilder) -> Result<(), Fault> {
    let faces = bytes.get(HEADER..).unwrap_or(&[]).chunks_exact(FACE).take(count);
    for (face, bytes) in (1..).zip(faces) {
        // The first vector is the normal.
        let (numbers, _) = bytes.as_chunks::<4>();
        let (vectors, _) = numbers.as_chunks::<3>();
        let mut corners = [0; 3];
        for (corner, vector) in (1..=3).zip(vectors.iter().skip(1)) {
            let point = Vec3::from_array(vector.map(|number| f32::from_le_bytes(number).into()));
            let index = builder.push(point, || format!("face {face}, vertex {corner}"))?;
            corners[corner - 1] = index;
        }
        builder.face(&corners);
    }
    Ok(())
}

/// The first words of the lines of a face.
const LINES: [&str; 7] = ["facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet"];

fn read_text(text: &[u8], builder: &mut MeshBuilder) -> Result<(), Fault> {
    let mut inside = false;
    let mut next = 0;
    let mut last = 1;
    let mut corners = [0; 3];
    for (line, content) in lines(text) {
        let mut words = words(content);
        let Some(word) = words.next() else { continue };
        last = line;
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if next == 0 && is(if inside { "endsolid" } else { "solid" }) {
            inside = !inside;
            continue;
        }
        let due = if inside { LINES[next] } else { "solid" };
        if !inside || !is(due) {
            return Err(expected(&format!("`{due}`"), content, line));
        }
        if due == "vertex" {
            let name = || format!("line {line}, vertex {}", next - 1);
            corners[next - 2] = builder.push(vector(words, line)?, name)?;
        }
        next = (next + 1) % LINES.len();
        if next == 0 {
            builder.face(&corners);
        }
    }
    if inside {
        let due = if next == 0 { "endsolid" } else { LINES[next] };
        return Err(Fault::new(format!(
            "line {last}: expected `{due}` after it, found the end of the file"
        )));
    }
    Ok(())
}
