//! The builder that mesh readers fill, and helpers for text formats.

use std::collections::HashMap;

use msd_sim::math::Vec3;

use super::surface::Faces;
use super::{Mesh, Surface};
use crate::error::Fault;

/// A collector of distinct points, up to a limit, and the faces between them.
pub(super) struct MeshBuilder {
    points: Vec<Vec3>,
    seen: HashMap<[u64; 3], u32>,
    limit: u64,
    faces: Faces,
}

impl MeshBuilder {
    pub(super) fn new(limit: u64) -> Self {
        Self { points: Vec::new(), seen: HashMap::new(), limit, faces: Faces::default() }
    }

    /// Adds a point unless it exists already, and returns its index. `name` identifies it in errors, such as
    /// `line 3, vertex 2`.
    pub(super) fn push(&mut self, point: Vec3, name: impl Fn() -> String) -> Result<u32, Fault> {
        if !point.is_finite() {
            let Vec3 { x, y, z } = point;
            let message = format!("{}: expected finite numbers, found {x} {y} {z}", name());
            return Err(Fault::new(message));
        }
        // Turns -0 into +0, so that equal points have equal bits.
        let point = point + Vec3::ZERO;
        let bits = point.to_array().map(f64::to_bits);
        if let Some(&index) = self.seen.get(&bits) {
            return Ok(index);
        }
        self.check(self.points.len() as u64 + 1)?;
        // More than 2^32 points would take 96 GB; only the surface of such a mesh would be wrong.
        let index = self.points.len() as u32;
        self.seen.insert(bits, index);
        self.points.push(point);
        Ok(index)
    }

    /// Adds a face by the indices of its corners, as returned by [`push`](Self::push).
    pub(super) fn face(&mut self, corners: &[u32]) {
        let at = |&index: &u32| Some((index, *self.points.get(index as usize)?));
        self.faces.push(corners.iter().filter_map(at));
    }

    /// Records that some faces cannot be read, so the enclosed volume is unknown.
    pub(super) fn unreadable_faces(&mut self) {
        self.faces.mark_unreadable();
    }

    /// Rejects more points than the limit.
    pub(super) fn check(&self, count: u64) -> Result<(), Fault> {
        if count <= self.limit {
            return Ok(());
        }
        let message = format!("more than {} points, the limit for a mesh", self.limit);
        Err(Fault::new(message).help("raise it with --max-points"))
    }

    /// Returns the mesh, which must have at least one point.
    pub(super) fn mesh(self) -> Result<Mesh, Fault> {
        if self.points.is_empty() {
            return Err(Fault::new("expected vertices, found none"));
        }
        let surface: Surface = self.faces.surface();
        Ok(Mesh { points: self.points, surface })
    }
}

/// Returns the lines of a text, numbered from 1, as bytes: comments may be in any encoding.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    (1..).zip(text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii))
}

/// Splits a line at whitespace.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Parses the first three words as numbers.
pub(super) fn vector<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
    line: usize,
) -> Result<Vec3, Fault> {
    let mut number = || {
        let word = words.next();
        let number = word.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        number.ok_or_else(|| expected("three numbers", word.unwrap_or(b""), line))
    };
    Ok(Vec3::new(number()?, number()?, number()?))
}

/// Returns the error for a line with unexpected content.
pub(super) fn expected(what: &str, found: &[u8], line: usize) -> Fault {
    Fault::new(format!("line {line}: expected {what}, found {}", quote(found)))
}

/// Quotes the beginning of the input, escaped for printing.
pub(super) fn quote(found: &[u8]) -> String {
    const MAX_QUOTED: usize = 40;
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let start = String::from_utf8_lossy(found.get(..MAX_QUOTED).unwrap_or(found)).into_owned();
    if found.len() > MAX_QUOTED { format!("{start:?}...") } else { format!("{start:?}") }
}
