//! The Wavefront OBJ reader: vertices and faces. Files that an OBJ refers to are never opened.
//!
//! The crate tobj 4.0 panics on texture indices such as `1/-9223372036854775807`, allocates a model of 232 bytes
//! for every line `o`, and drops vertices that no face uses.

use msd_sim::math::Vec3;

use super::builder::{MeshBuilder, expected, lines, vector, words};
use crate::error::Fault;

/// Reads all vertices, whether a face uses them or not, and the faces.
pub(super) fn read(text: &[u8], builder: &mut MeshBuilder) -> Result<(), Fault> {
    let mut count: i64 = 0;
    // The point index of each vertex.
    let mut points = Vec::new();
    let mut highest = (0, 0);
    for (line, content) in lines(text) {
        let mut words = words(content);
        match words.next() {
            Some(b"v") => {
                count += 1;
                // A weight or a color may follow.
                let point: Vec3 = vector(words, line)?;
                points.push(builder.push(point, || format!("line {line}, vertex {count}"))?);
            }
            Some(b"f") => {
                for word in words.take_while(|word| *word != b"\\") {
                    let index = index(word).ok_or_else(|| expected("a vertex", word, line))?;
                    if index == 0 || index < -count {
                        return Err(missing(line, index, count));
                    }
                    if index > highest.0 {
                        highest = (index, line);
                    }
                }
            }
            _ => {}
        }
    }
    // Vertices may follow the faces that use them.
    if highest.0 > count {
        return Err(missing(highest.1, highest.0, count));
    }
    read_faces(text, &points, builder);
    Ok(())
}

/// Adds the faces in a second pass, once all vertices are known.
fn read_faces(text: &[u8], points: &[u32], builder: &mut MeshBuilder) {
    let mut count: i64 = 0;
    let mut corners = Vec::new();
    for (_, content) in lines(text) {
        let mut words = words(content);
        match words.next() {
            Some(b"v") => count += 1,
            Some(b"f") => {
                corners.clear();
                for word in words {
                    let index = index(word).map(|i| if i < 0 { count + i } else { i - 1 });
                    let point = index.and_then(|i| points.get(usize::try_from(i).ok()?));
                    corners.extend(point);
                    if point.is_none() {
                        // A continuation mark: the face continues on the next line.
                        builder.unreadable_faces();
                    }
                }
                builder.face(&corners);
            }
            _ => {}
        }
    }
}

/// Parses the vertex index of a corner such as `3/1/2`: from 1, or backwards from -1.
fn index(corner: &[u8]) -> Option<i64> {
    let vertex = corner.split(|&byte| byte == b'/').next()?;
    std::str::from_utf8(vertex).ok()?.parse().ok()
}

fn missing(line: usize, index: i64, count: i64) -> Fault {
    Fault::new(format!("line {line}: expected a vertex from 1 to {count}, found {index}"))
}
