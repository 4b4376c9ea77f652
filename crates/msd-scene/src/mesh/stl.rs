//! STL, text and binary.
//!
//! stl_io 0.11 reads the first of several solids only, takes a text that begins with `solid` and no
//! name for binary and a binary file that begins with `solid ` for text, and makes a string of
//! every word of a line, which takes some 30 times the file's size.

use msd_sim::math::Vec3;

use super::cloud::{Cloud, expected, lines, vector, words};
use crate::error::Fault;

/// Bytes of a binary file before the first face.
const HEADER: usize = 84;
/// Bytes of a face: normal, three corners, two bytes.
const FACE: usize = 50;

/// All corners of all faces.
pub(super) fn read(bytes: &[u8], cloud: &mut Cloud) -> Result<(), Fault> {
    let count = bytes.get(HEADER - 4..).and_then(|rest| rest.first_chunk());
    let count = count.map(|count| u32::from_le_bytes(*count));
    let length = count.map(|count| HEADER as u64 + FACE as u64 * u64::from(count));
    if length.is_some_and(|length| length <= bytes.len() as u64) {
        return read_binary(bytes, count.unwrap_or(0) as usize, cloud);
    }
    // Binary files may begin with `solid` too, but have zeros.
    let word = words(bytes).next().unwrap_or(b"");
    if word.eq_ignore_ascii_case(b"solid") && !bytes.contains(&0) {
        return read_text(bytes, cloud);
    }
    let found = bytes.len();
    Err(Fault::new(match (count, length) {
        (Some(count), Some(length)) => {
            format!("expected {length} bytes, as its {count} faces take, found {found}")
        }
        _ => format!("expected an STL file, text or at least {HEADER} bytes, found {found} bytes"),
    }))
}

fn read_binary(bytes: &[u8], count: usize, cloud: &mut Cloud) -> Result<(), Fault> {
    let faces = bytes.get(HEADER..).unwrap_or(&[]).chunks_exact(FACE).take(count);
    for (face, bytes) in (1..).zip(faces) {
        // The first vector is the normal.
        let (numbers, _) = bytes.as_chunks::<4>();
        let (vectors, _) = numbers.as_chunks::<3>();
        let mut corners = [0; 3];
        for (corner, vector) in (1..=3).zip(vectors.iter().skip(1)) {
            let point = Vec3::from_array(vector.map(|number| f32::from_le_bytes(number).into()));
            let index = cloud.push(point, || format!("face {face}, vertex {corner}"))?;
            corners[corner - 1] = index;
        }
        cloud.face(&corners);
    }
    Ok(())
}

/// The words that begin the lines of a face.
const LINES: [&str; 7] = ["facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet"];

fn read_text(text: &[u8], cloud: &mut Cloud) -> Result<(), Fault> {
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
            corners[next - 2] = cloud.push(vector(words, line)?, name)?;
        }
        next = (next + 1) % LINES.len();
        if next == 0 {
            cloud.face(&corners);
        }
    }
    if inside {
        let due = if next == 0 { "endsolid" } else { LINES[next] };
        return Err(Fault::new(format!("line {last}: expected `{due}` next, the file ends")));
    }
    Ok(())
}
