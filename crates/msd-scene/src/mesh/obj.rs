//! Wavefront OBJ: the vertices; other files it names are never opened.
//!
//! tobj 4.0 panics on texture indices such as `1/-9223372036854775807`, makes a model of 232 bytes
//! of every line `o`, and leaves out vertices that no face uses.

use msd_sim::math::Vec3;

use super::cloud::{Cloud, expected, lines, vector, words};
use crate::error::Fault;

/// All vertices, used by a face or not, and the faces.
pub(super) fn read(text: &[u8], cloud: &mut Cloud) -> Result<(), Fault> {
    let mut count: i64 = 0;
    // The point that each vertex is.
    let mut points = Vec::new();
    let mut highest = (0, 0);
    for (line, content) in lines(text) {
        let mut words = words(content);
        match words.next() {
            Some(b"v") => {
                count += 1;
                // What may follow is a weight or a colour.
                let point: Vec3 = vector(words, line)?;
                points.push(cloud.push(point, || format!("line {line}, vertex {count}"))?);
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
    // Vertices may come after the faces.
    if highest.0 > count {
        return Err(missing(highest.1, highest.0, count));
    }
    read_faces(text, &points, cloud);
    Ok(())
}

/// Adds the faces, whose vertices are all there: after the vertices, which may come later in the file.
fn read_faces(text: &[u8], points: &[u32], cloud: &mut Cloud) {
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
                        // The face goes on in the next line.
                        cloud.unreadable_faces();
                    }
                }
                cloud.face(&corners);
            }
            _ => {}
        }
    }
}

/// The vertex of a corner such as `3/1/2`: from 1, or backwards from -1.
fn index(corner: &[u8]) -> Option<i64> {
    let vertex = corner.split(|&byte| byte == b'/').next()?;
    std::str::from_utf8(vertex).ok()?.parse().ok()
}

fn missing(line: usize, index: i64, count: i64) -> Fault {
    Fault::new(format!("line {line}: expected a vertex of {count}, found vertex {index}"))
}
