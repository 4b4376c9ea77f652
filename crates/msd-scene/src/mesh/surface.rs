//! The faces of a mesh, read for the volume that they enclose.

use msd_sim::math::Vec3;

/// What the faces of a mesh enclose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Surface {
    /// There are points and no faces.
    None,
    /// Faces that enclose nothing: one is missing, or two neighbours are wound against each other.
    Open,
    /// A closed surface.
    Closed {
        /// The volume inside, in the units of the file; never negative.
        volume: f64,
    },
}

/// Sums over the faces of a mesh, without keeping any of them.
///
/// A surface is closed if every edge is passed as often in one direction as in the other. Each edge has a number
/// drawn by a hash; it is added in one direction and taken off in the other, so the sum of a closed surface is
/// zero. That an open one has the sum zero takes a coincidence of 1 in 2^64.
#[derive(Debug, Default)]
pub(super) struct Faces {
    count: u64,
    edges: u64,
    /// Six times the volume, about `origin`.
    volume: f64,
    origin: Option<Vec3>,
    unreadable: bool,
}

impl Faces {
    /// Adds a face by its corners: the index of each and where it is. Corners at one place have one index.
    pub(super) fn push(&mut self, corners: impl IntoIterator<Item = (u32, Vec3)>) {
        let mut corners = corners.into_iter();
        let Some((first, start)) = corners.next() else { return };
        let origin = *self.origin.get_or_insert(start);
        self.count += 1;
        let (mut last, mut side) = (first, None);
        for (next, point) in corners {
            self.edge(last, next);
            // A fan of triangles from the first corner.
            if let Some(side) = side.replace(point - origin) {
                self.volume += (start - origin).dot(side.cross(point - origin));
            }
            last = next;
        }
        self.edge(last, first);
    }

    /// Faces are there that could not be read.
    pub(super) fn give_up(&mut self) {
        self.unreadable = true;
    }

    fn edge(&mut self, from: u32, to: u32) {
        let (low, high) = (from.min(to), from.max(to));
        let number = mixed(u64::from(low) << 32 | u64::from(high));
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

/// The finalizer of SplitMix64: every bit of the result depends on every bit of the number.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
