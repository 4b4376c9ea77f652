//! Islands: inertial bodies connected by contacts and joints. The environment connects nothing.
//!
//! [`Islands`] groups all bodies at once, for solving, sleeping, reports and the viewer; [`Island`] is the one around
//! an impact.

mod adjacency;
mod costs;
mod disjoint_sets;

use crate::joints::JointSet;
pub(crate) use adjacency::{Adjacency, Island};
pub(crate) use costs::{Cost, Costs};
pub(crate) use disjoint_sets::DisjointSets;

/// A connection between two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A pair, by the number that the caller gave it.
    Pair(u32),
    /// A joint, by its index.
    Joint(u32),
}

/// The bit that marks an encoded link as a joint.
const JOINT: u32 = 1 << 31;

impl Link {
    fn encode(self) -> u32 {
        match self {
            Self::Pair(number) => number,
            Self::Joint(index) => index | JOINT,
        }
    }

    fn decode(code: u32) -> Self {
        if code & JOINT == 0 { Self::Pair(code) } else { Self::Joint(code & !JOINT) }
    }
}

/// Returns the links of numbered pairs and of all joints.
pub(crate) fn links(
    pairs: impl Iterator<Item = (u32, [u32; 2])>,
    joints: &JointSet,
) -> impl Iterator<Item = (Link, [u32; 2])> {
    let pairs = pairs.map(|(number, bodies)| (Link::Pair(number), bodies));
    let joints = joints.slots.iter().map(|index| {
        let bodies = joints.joints[index as usize].bodies;
        (Link::Joint(index), bodies)
    });
    pairs.chain(joints)
}

/// A link and the bodies it connects.
#[derive(Clone, Copy, Debug)]
struct Edge {
    bodies: [u32; 2],
    /// See [`Link::encode`].
    link: u32,
}

/// Bodies and links grouped by island, in the order of each island's first body. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    edges: Vec<Edge>,
    sets: DisjointSets,
    numbers: Vec<u32>,
    members: Vec<u32>,
    member_starts: Vec<u32>,
    links: Vec<u32>,
    link_starts: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Builds the islands of `inertial` bodies, ascending, out of `count` bodies; the others connect nothing. A body
    /// without a link is in no island; within an island links keep their order.
    pub(crate) fn build(
        &mut self,
        count: usize,
        inertial: &[u32],
        links: impl Iterator<Item = (Link, [u32; 2])>,
    ) {
        // Reserves room for the worst case, so that warm steps do not allocate.
        let most = links.size_hint().1.unwrap_or(0);
        if self.edges.capacity() < most {
            self.reserve(count, 2 * most);
        }
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        edges.extend(links.map(|(link, bodies)| Edge { bodies, link: link.encode() }));
        match edges.is_empty() {
            true => self.clear(),
            false => self.connect(count, inertial, &edges),
        }
        self.edges = edges;
    }

    fn connect(&mut self, count: usize, inertial: &[u32], edges: &[Edge]) {
        // All other entries are `NONE` already: they are reset at the end.
        self.sets.resize(count);
        self.numbers.resize(count, NONE);
        for &body in inertial {
            self.sets.reset(body);
        }
        for edge in edges {
            let [a, b] = edge.bodies;
            if self.sets.contains(a) && self.sets.contains(b) {
                self.sets.join(a, b);
            }
        }
        // Marks the roots of islands with edges, then numbers them by their first body.
        for edge in edges {
            if let Some(root) = self.root_of(edge) {
                self.numbers[root as usize] = NONE - 1;
            }
        }
        let mut islands = 0;
        for &body in inertial {
            let root = self.sets.root(body);
            if self.numbers[root as usize] == NONE - 1 {
                self.numbers[root as usize] = islands;
                islands += 1;
            }
        }
        self.group(inertial, edges, islands as usize);
        for &body in inertial {
            self.sets.remove(body);
            self.numbers[body as usize] = NONE;
        }
    }

    /// Reserves room for this many bodies and links.
    fn reserve(&mut self, bodies: usize, links: usize) {
        self.sets.reserve(bodies);
        for list in [&mut self.numbers, &mut self.members] {
            list.reserve(bodies.saturating_sub(list.len()));
        }
        for starts in [&mut self.member_starts, &mut self.link_starts] {
            starts.reserve((bodies + 1).saturating_sub(starts.len()));
        }
        self.edges.reserve(links.saturating_sub(self.edges.len()));
        self.links.reserve(links.saturating_sub(self.links.len()));
    }

    /// Removes all islands.
    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.member_starts.clear();
        self.links.clear();
        self.link_starts.clear();
    }

    fn group(&mut self, inertial: &[u32], edges: &[Edge], count: usize) {
        let mut starts = std::mem::take(&mut self.member_starts);
        let mut members = std::mem::take(&mut self.members);
        let bodies = inertial.iter().map(|&body| (self.number(self.sets.root(body)), body));
        group_by(bodies, count, &mut starts, &mut members);
        (self.member_starts, self.members) = (starts, members);

        let mut starts = std::mem::take(&mut self.link_starts);
        let mut links = std::mem::take(&mut self.links);
        let numbered = edges
            .iter()
            .map(|edge| (self.root_of(edge).map_or(NONE, |root| self.number(root)), edge.link));
        group_by(numbered, count, &mut starts, &mut links);
        (self.link_starts, self.links) = (starts, links);
    }

    /// Returns the number of islands.
    pub(crate) fn len(&self) -> usize {
        self.member_starts.len().saturating_sub(1)
    }

    /// Returns the bodies of an island, ascending.
    pub(crate) fn members(&self, island: usize) -> &[u32] {
        &self.members[self.member_starts[island] as usize..self.member_starts[island + 1] as usize]
    }

    /// Returns the number of links of an island.
    pub(crate) fn link_count(&self, island: usize) -> usize {
        (self.link_starts[island + 1] - self.link_starts[island]) as usize
    }

    /// Returns the link at a place of an island's list.
    pub(crate) fn link(&self, island: usize, at: usize) -> Link {
        Link::decode(self.links[self.link_starts[island] as usize + at])
    }

    /// Returns the links of an island.
    pub(crate) fn links(&self, island: usize) -> impl Iterator<Item = Link> {
        (0..self.link_count(island)).map(move |at| self.link(island, at))
    }

    fn number(&self, root: u32) -> u32 {
        self.numbers[root as usize]
    }

    fn root_of(&self, edge: &Edge) -> Option<u32> {
        let body = edge.bodies.into_iter().find(|&body| self.sets.contains(body))?;
        Some(self.sets.root(body))
    }
}

/// Sorts by group, by counting; entries in no group are left out.
fn group_by(
    entries: impl Iterator<Item = (u32, u32)> + Clone,
    groups: usize,
    starts: &mut Vec<u32>,
    out: &mut Vec<u32>,
) {
    starts.clear();
    starts.resize(groups + 1, 0);
    let grouped = entries.filter(|&(group, _)| group < groups as u32);
    for (group, _) in grouped.clone() {
        starts[group as usize + 1] += 1;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    out.clear();
    out.resize(starts[groups] as usize, 0);
    for (group, value) in grouped {
        let at = &mut starts[group as usize];
        out[*at as usize] = value;
        *at += 1;
    }
    for group in (0..groups).rev() {
        starts[group + 1] = starts[group];
    }
    starts[0] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn islands(size: usize, environment: &[u32], edges: &[[u32; 2]]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let inertial: Vec<u32> =
            (0..size as u32).filter(|body| !environment.contains(body)).collect();
        let links = (0..).map(Link::Pair).zip(edges.iter().copied());
        let mut islands = Islands::default();
        islands.build(size, &inertial, links);
        let numbers = |island| {
            let number = |link| match link {
                Link::Pair(number) | Link::Joint(number) => number,
            };
            islands.links(island).map(number).collect()
        };
        (0..islands.len())
            .map(|island| (islands.members(island).to_vec(), numbers(island)))
            .collect()
    }

    #[test]
    fn no_edges_make_no_islands() {
        assert!(islands(0, &[], &[]).is_empty());
        assert!(islands(3, &[], &[]).is_empty());
    }

    #[test]
    fn a_pair_two_pairs_a_chain_and_a_star() {
        assert_eq!(islands(2, &[], &[[0, 1]]), [(vec![0, 1], vec![0])]);
        assert_eq!(
            islands(4, &[], &[[2, 3], [0, 1]]),
            [(vec![0, 1], vec![1]), (vec![2, 3], vec![0])]
        );
        assert_eq!(islands(4, &[], &[[2, 3], [0, 1], [1, 2]]), [(vec![0, 1, 2, 3], vec![0, 1, 2])]);
        assert_eq!(islands(4, &[], &[[0, 3], [1, 3], [2, 3]]), [(vec![0, 1, 2, 3], vec![0, 1, 2])]);
    }

    #[test]
    fn the_environment_joins_no_islands() {
        // Bodies 1, 2 and 3 stand on the floor 0; 2 and 3 also touch.
        assert_eq!(
            islands(4, &[0], &[[0, 1], [0, 2], [2, 3]]),
            [(vec![1], vec![0]), (vec![2, 3], vec![1, 2])]
        );
        assert_eq!(islands(2, &[0, 1], &[[0, 1]]), []);
    }
}
