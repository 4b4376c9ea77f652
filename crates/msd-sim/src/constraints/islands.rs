//! Islands: inertial bodies connected by edges. The environment connects nothing.

/// An edge between two bodies, identified by its place in the caller's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) bodies: [u32; 2],
    pub(crate) place: u32,
}

/// Bodies and edges grouped by island, in the order of each island's first body. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    parents: Vec<u32>,
    numbers: Vec<u32>,
    members: Vec<u32>,
    member_starts: Vec<u32>,
    edges: Vec<u32>,
    edge_starts: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Builds the islands. `inertial` is ascending; the others of `size` bodies are environment. A body without an edge
    /// is in no island; within an island edges keep their order.
    pub(crate) fn build(&mut self, size: usize, inertial: &[u32], edges: &[Edge]) {
        // All other entries are `NONE` already: they are reset at the end.
        self.parents.resize(size, NONE);
        self.numbers.resize(size, NONE);
        for &body in inertial {
            self.parents[body as usize] = body;
        }
        for edge in edges {
            let [a, b] = edge.bodies;
            if self.parents[a as usize] != NONE && self.parents[b as usize] != NONE {
                self.join(a, b);
            }
        }
        // Marks the roots of islands with edges, then numbers them by their first body.
        for edge in edges {
            if let Some(root) = self.root_of(edge) {
                self.numbers[root as usize] = NONE - 1;
            }
        }
        let mut count = 0;
        for &body in inertial {
            let root = self.root(body);
            if self.numbers[root as usize] == NONE - 1 {
                self.numbers[root as usize] = count;
                count += 1;
            }
        }
        self.group(inertial, edges, count as usize);
        for &body in inertial {
            self.parents[body as usize] = NONE;
            self.numbers[body as usize] = NONE;
        }
    }

    /// Reserves room for this many bodies and edges.
    pub(crate) fn reserve(&mut self, bodies: usize, edges: usize) {
        for list in [&mut self.parents, &mut self.numbers, &mut self.members] {
            list.reserve(bodies.saturating_sub(list.len()));
        }
        for starts in [&mut self.member_starts, &mut self.edge_starts] {
            starts.reserve((bodies + 1).saturating_sub(starts.len()));
        }
        self.edges.reserve(edges.saturating_sub(self.edges.len()));
    }

    fn group(&mut self, inertial: &[u32], edges: &[Edge], count: usize) {
        let mut starts = std::mem::take(&mut self.member_starts);
        let mut members = std::mem::take(&mut self.members);
        let bodies = inertial.iter().map(|&body| (self.number(self.root(body)), body));
        group_by(bodies, count, &mut starts, &mut members);
        (self.member_starts, self.members) = (starts, members);

        let mut starts = std::mem::take(&mut self.edge_starts);
        let mut places = std::mem::take(&mut self.edges);
        let numbered = edges
            .iter()
            .map(|edge| (self.root_of(edge).map_or(NONE, |root| self.number(root)), edge.place));
        group_by(numbered, count, &mut starts, &mut places);
        (self.edge_starts, self.edges) = (starts, places);
    }

    /// Returns the number of islands.
    pub(crate) fn len(&self) -> usize {
        self.member_starts.len().saturating_sub(1)
    }

    /// Returns the bodies of an island, ascending.
    pub(crate) fn members(&self, island: usize) -> &[u32] {
        &self.members[self.member_starts[island] as usize..self.member_starts[island + 1] as usize]
    }

    /// Returns the places of an island's edges.
    pub(crate) fn edges(&self, island: usize) -> &[u32] {
        &self.edges[self.edge_starts[island] as usize..self.edge_starts[island + 1] as usize]
    }

    fn number(&self, root: u32) -> u32 {
        self.numbers[root as usize]
    }

    fn root_of(&self, edge: &Edge) -> Option<u32> {
        let body = edge.bodies.into_iter().find(|&body| self.parents[body as usize] != NONE)?;
        Some(self.root(body))
    }

    fn root(&self, mut body: u32) -> u32 {
        while self.parents[body as usize] != body {
            body = self.parents[body as usize];
        }
        body
    }

    /// Joins two sets: the smaller root becomes the root of both; paths are halved on the way.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root_halving(a), self.root_halving(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    fn root_halving(&mut self, mut body: u32) -> u32 {
        while self.parents[body as usize] != body {
            let parent = self.parents[body as usize];
            self.parents[body as usize] = self.parents[parent as usize];
            body = self.parents[body as usize];
        }
        body
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
        let edges: Vec<Edge> = edges
            .iter()
            .enumerate()
            .map(|(place, &bodies)| Edge { bodies, place: place as u32 })
            .collect();
        let mut islands = Islands::default();
        islands.build(size, &inertial, &edges);
        (0..islands.len())
            .map(|i| (islands.members(i).to_vec(), islands.edges(i).to_vec()))
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
