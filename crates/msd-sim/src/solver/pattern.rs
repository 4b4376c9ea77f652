//! The pattern of a sparse matrix of blocks: elimination order, fill, and the places of all blocks.
//!
//! A pattern is a function of the number of bodies and the list of edges alone, so that keeping
//! patterns changes no result.

use std::ops::Range;

/// Number of patterns kept: the islands of a world that need Newton steps in one substep.
const KEPT: usize = 16;

/// Maximum number of targets of all patterns but the current one: 8 MB. A wall of 5050 cubes has
/// 3 million.
const MAX_KEPT_TARGETS: usize = 1 << 21;

/// An elimination order with the blocks of the factors.
///
/// Position `k` of the order has a diagonal block and, for each later neighbor, an upper block
/// (row `k`) followed by a lower one (column `k`); the blocks of a position are consecutive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    size: usize,
    edges: Vec<[u32; 2]>,
    /// Limit under which the order was computed; `products` is `None` if it was exceeded.
    work: u32,
    products: Option<u32>,
    order: Vec<u32>,
    position: Vec<u32>,
    /// The later neighbors of position `k`, ascending by body: `later[starts[k]..starts[k + 1]]`.
    later: Vec<u32>,
    starts: Vec<u32>,
    /// For each position and each pair of its later neighbors, the upper block of the pair.
    targets: Vec<u32>,
    /// For each edge `(a, b)`, the blocks in row `a`, column `b` and in row `b`, column `a`.
    edge_blocks: Vec<[u32; 2]>,
}

impl Pattern {
    /// Returns the number of bodies.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.size + 2 * self.later.len()
    }

    /// Returns the body at a position.
    #[inline]
    pub(crate) fn body(&self, position: usize) -> usize {
        self.order[position] as usize
    }

    /// Returns the diagonal block of a position; the first of its blocks.
    #[inline]
    pub(crate) fn diagonal(&self, position: usize) -> usize {
        position + 2 * self.starts[position] as usize
    }

    /// Returns the diagonal block of a body.
    #[inline]
    pub(crate) fn diagonal_of(&self, body: usize) -> usize {
        self.diagonal(self.position[body] as usize)
    }

    /// Returns the blocks of an edge `(a, b)`, by its index: row `a`, column `b`; and the reverse.
    #[inline]
    pub(crate) fn edge_blocks(&self, edge: usize) -> [u32; 2] {
        self.edge_blocks[edge]
    }

    /// Returns the positions of the later neighbors of a position.
    #[inline]
    pub(crate) fn later(&self, position: usize) -> &[u32] {
        &self.later[self.range(position)]
    }

    /// Returns the upper blocks of all pairs of later neighbors, position after position. Pairs are
    /// ordered by their earlier member in the list of neighbors, then by the other.
    pub(crate) fn targets(&self) -> &[u32] {
        &self.targets
    }

    #[inline]
    fn range(&self, position: usize) -> Range<usize> {
        self.starts[position] as usize..self.starts[position + 1] as usize
    }

    fn is_of(&self, size: usize, edges: &[[u32; 2]], work: u32) -> bool {
        let decided = match self.products {
            Some(_) => true,
            None => work <= self.work,
        };
        let computed = !self.starts.is_empty();
        computed && decided && self.size == size && self.edges == edges
    }

    fn compute(&mut self, size: usize, edges: &[[u32; 2]], work: u32, by: &mut MinimumDegree) {
        self.size = size;
        self.edges.clear();
        self.edges.extend_from_slice(edges);
        self.work = work;
        by.start(size, edges);
        self.products = self.eliminate(work, by);
        if self.products.is_some() {
            self.find_targets();
            self.find_edge_blocks();
        }
    }

    fn eliminate(&mut self, work: u32, by: &mut MinimumDegree) -> Option<u32> {
        self.position.clear();
        self.position.resize(self.size, 0);
        self.order.clear();
        self.later.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut products = 0_u64;
        for step in 0..self.size {
            let body = by.next();
            self.position[body as usize] = step as u32;
            self.order.push(body);
            self.later.extend_from_slice(&by.neighbors[body as usize]);
            self.starts.push(self.later.len() as u32);
            products += (self.range(step).len() as u64 + 1).pow(2);
            if products > u64::from(work) {
                return None;
            }
            by.eliminate(body);
        }
        for body in &mut self.later {
            *body = self.position[*body as usize];
        }
        Some(products as u32)
    }

    /// Returns the upper block in row `position` at an index of `later`.
    fn upper(&self, position: usize, at: usize) -> u32 {
        (position + 2 * at + 1) as u32
    }

    /// Finds the blocks of pairs of later neighbors. Lists of neighbors are ordered by body, and
    /// the later neighbors of `k` beyond `i` are among those of `i`.
    fn find_targets(&mut self) {
        self.targets.clear();
        for k in 0..self.size {
            for a in self.range(k) {
                let row = self.later[a] as usize;
                let mut at = self.starts[row] as usize;
                for b in self.range(k) {
                    let column = self.later[b];
                    if column as usize > row {
                        while self.later[at] != column {
                            at += 1;
                        }
                        self.targets.push(self.upper(row, at));
                    }
                }
            }
        }
    }

    fn find_edge_blocks(&mut self) {
        self.edge_blocks.clear();
        for at in 0..self.edges.len() {
            let [a, b] = self.edges[at].map(|body| self.position[body as usize]);
            let row = a.min(b) as usize;
            let found = self.later(row).iter().position(|&later| later == a.max(b));
            let blocks = match found {
                Some(place) => {
                    let upper = self.upper(row, self.starts[row] as usize + place);
                    if a < b { [upper, upper + 1] } else { [upper + 1, upper] }
                }
                // Both ends of the edge are the same body.
                None => [self.diagonal(row) as u32; 2],
            };
            self.edge_blocks.push(blocks);
        }
    }
}

/// The patterns of the last islands. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    kept: Vec<Pattern>,
    current: usize,
    /// The entry to replace next.
    oldest: usize,
    ordering: MinimumDegree,
}

impl Patterns {
    /// Finds or computes a pattern. Returns the number of block products of a factorization, `None`
    /// if it exceeds `work`.
    pub(crate) fn select(&mut self, size: usize, edges: &[[u32; 2]], work: u32) -> Option<u32> {
        let found = self.kept.iter().position(|pattern| pattern.is_of(size, edges, work));
        self.current = found.unwrap_or_else(|| self.compute(size, edges, work));
        self.current().products.filter(|&products| products <= work)
    }

    /// Returns the selected pattern.
    pub(crate) fn current(&self) -> &Pattern {
        &self.kept[self.current]
    }

    fn compute(&mut self, size: usize, edges: &[[u32; 2]], work: u32) -> usize {
        let place = self.oldest;
        if place == self.kept.len() {
            self.kept.push(Pattern::default());
        }
        self.oldest = (place + 1) % KEPT;
        self.kept[place].compute(size, edges, work, &mut self.ordering);
        self.free_others(place);
        place
    }

    /// Frees the oldest patterns until the others take little memory.
    fn free_others(&mut self, current: usize) {
        let targets = |pattern: &Pattern| pattern.targets.capacity();
        let own = targets(&self.kept[current]);
        let mut others = self.kept.iter().map(targets).sum::<usize>() - own;
        for age in 0..self.kept.len() {
            let place = (self.oldest + age) % self.kept.len();
            if others > MAX_KEPT_TARGETS && place != current {
                others -= targets(&self.kept[place]);
                self.kept[place] = Pattern::default();
            }
        }
    }

    /// Returns the number of targets that memory is reserved for.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> usize {
        self.kept.iter().map(|pattern| pattern.targets.capacity()).sum()
    }
}

/// The elimination graph: bodies in order of their degree, the first body of equals.
#[derive(Clone, Debug, Default)]
struct MinimumDegree {
    /// Neighbors of each body that are not eliminated, ascending.
    neighbors: Vec<Vec<u32>>,
    merged: Vec<u32>,
    /// A tournament: node `i` holds the smaller key of its children `2 i` and `2 i + 1`. A key is
    /// a degree and a body; the leaves start at `leaves`.
    smallest: Vec<u64>,
    leaves: usize,
}

const ELIMINATED: u64 = u64::MAX;

impl MinimumDegree {
    fn start(&mut self, size: usize, edges: &[[u32; 2]]) {
        if self.neighbors.len() < size {
            self.neighbors.resize_with(size, Vec::new);
        }
        for list in &mut self.neighbors[..size] {
            list.clear();
        }
        for &[a, b] in edges.iter().filter(|[a, b]| a != b) {
            insert(&mut self.neighbors[a as usize], b);
            insert(&mut self.neighbors[b as usize], a);
        }
        self.leaves = size.next_power_of_two();
        self.smallest.clear();
        self.smallest.resize(2 * self.leaves, ELIMINATED);
        for body in 0..size {
            self.smallest[self.leaves + body] = self.key(body as u32);
        }
        for node in (1..self.leaves).rev() {
            self.smallest[node] = self.smallest[2 * node].min(self.smallest[2 * node + 1]);
        }
    }

    fn key(&self, body: u32) -> u64 {
        (self.neighbors[body as usize].len() as u64) << 32 | u64::from(body)
    }

    /// Returns the body to eliminate next.
    fn next(&self) -> u32 {
        self.smallest[1] as u32
    }

    /// Eliminates a body: connects its neighbors with each other.
    fn eliminate(&mut self, body: u32) {
        let around = std::mem::take(&mut self.neighbors[body as usize]);
        for &i in &around {
            let list = &mut self.neighbors[i as usize];
            if around.len() == 1 {
                list.retain(|&other| other != body);
            } else {
                self.merged.clear();
                merge(list, &around, &mut self.merged);
                self.merged.retain(|&other| other != body && other != i);
                std::mem::swap(list, &mut self.merged);
            }
            self.set_key(i, self.key(i));
        }
        self.neighbors[body as usize] = around;
        self.set_key(body, ELIMINATED);
    }

    fn set_key(&mut self, body: u32, key: u64) {
        let mut node = self.leaves + body as usize;
        self.smallest[node] = key;
        while node > 1 {
            node /= 2;
            let smaller = self.smallest[2 * node].min(self.smallest[2 * node + 1]);
            if self.smallest[node] == smaller {
                break;
            }
            self.smallest[node] = smaller;
        }
    }
}

fn insert(list: &mut Vec<u32>, value: u32) {
    if let Err(at) = list.binary_search(&value) {
        list.insert(at, value);
    }
}

/// Merges two ascending lists without repetition.
fn merge(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        out.push(a[i].min(b[j]));
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}
