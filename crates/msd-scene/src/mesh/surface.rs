//! The surface of a mesh: whether its faces are closed, and the volume they enclose.

use msd_sim::math::Vec3;

/// The surface formed by the faces of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Surface {
    /// Points without faces.
    None,
    /// Faces that enclose no volume: one is missing, or two neighbors have opposite winding.
    Open,
    /// A closed surface.
    Closed {
        /// The enclosed volume, in units of the file; never negative.
        volume: f64,
    },
}

/// Sums over the faces of a mesh that need not be stored.
///
/// A surface is closed if every edge is traversed as often in one direction as in the other. Each edge has a hash,
/// added for one direction and subtracted for the other, so a closed surface sums to zero. An open surface sums to
/// zero with a probability of 1 in 2^64.
#[derive(Debug, Default)]
pub(super) struct Faces {
    count: u64,
    /// Sum of the edges' signed hashes.
    edges: u64,
    /// Six times the volume, about `origin`.
    volume: f64,
    origin: Option<Vec3>,
    unreadable: bool,
}

impl Faces {
    /// Adds a face by its corners, each an index and a position. Corners at the same position share an index.
    pub(super) fn push(&mut self, corners: impl IntoIterator<Item = (u32, Vec3)>) {
        let mut corners = corners.into_iter();
        let Some((first, start)) = corners.next() else { return };
        let origin = *self.origin.get_or_insert(start);
        self.count += 1;
        let (mut last, mut side) = (first, None);
        for (next, point) in corners {
            self.edge(last, next);
            // A triangle fan about the first corner.
            if let Some(side) = side.replace(point - origin) {
                self.volume += (start - origin).dot(side.cross(point - origin));
            }
            last = next;
        }
        self.edge(last, first);
    }

    /// Records that some faces could not be read.
    pub(super) fn mark_unreadable(&mut self) {
        self.unreadable = true;
    }

    fn edge(&mut self, from: u32, to: u32) {
        let (low, high) = (from.min(to), from.max(to));
        let number = mix(u64::from(low) << 32 | u64::from(high));
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.edges = self.edges.wrapping_add(number),
            std::cmp::Ordering::Greater => self.edges = self.edges.wrapping_sub(number),
            std::cmp::Ordering::Equal => {}
        }
    }

    pub(super) fn surface(&self) -> Surface {
        match (self.count, self.unreadable) {
            (0, false) => Surface::None,
            (_, false) if self.edges == 0 => Surface::Closed { volume: (self.volume / 6.0).abs() },
            _ => Surface::Open,
        }
    }
}

/// Hashes a number with the finalizer of SplitMix64: every bit of the result depends on every input bit.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
