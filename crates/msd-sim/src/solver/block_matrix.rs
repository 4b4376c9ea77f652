//! A sparse matrix of 6 by 6 blocks, one block row and column per body, factored in place.
//!
//! Bodies are eliminated in minimum-degree order, so the cost of a tower is linear in its bodies.
//! Pivoting is limited to blocks, which suffices because the matrices are dominated by a symmetric
//! positive definite one.

use super::block6::{Block6, Vector6, inverted, product, subtract_product, subtract_times, times};
use super::pattern::{Pattern, Patterns};
use crate::simd::{self, Kernel, Lanes};

/// The matrix, its pattern and its factors. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMatrix {
    patterns: Patterns,
    blocks: Vec<Block6>,
}

impl BlockMatrix {
    /// Lays out the matrix of `size` bodies with the given edges between them. Returns the number
    /// of block products of a factorization, `None` if it exceeds `work`. Its entries are arbitrary
    /// until it is cleared.
    pub(crate) fn layout(&mut self, size: usize, edges: &[[u32; 2]], work: u32) -> Option<u32> {
        let products = self.patterns.select(size, edges, work)?;
        self.blocks.resize(self.pattern().blocks(), Block6::ZERO);
        Some(products)
    }

    /// Sets every entry to zero.
    pub(crate) fn clear(&mut self) {
        self.blocks.fill(Block6::ZERO);
    }

    /// Returns the places of the blocks.
    pub(crate) fn pattern(&self) -> &Pattern {
        self.patterns.current()
    }

    /// Returns all blocks, by their places in the pattern.
    pub(crate) fn blocks(&mut self) -> &mut [Block6] {
        &mut self.blocks
    }

    /// Factors in place. Returns false if a pivot is zero or NaN.
    pub(crate) fn factor(&mut self, wide: bool) -> bool {
        let pattern = self.patterns.current();
        simd::run(wide, Factor { pattern, blocks: &mut self.blocks })
    }

    /// Solves in place for a right-hand side with six entries per body.
    pub(crate) fn solve(&self, wide: bool, values: &mut [Vector6]) {
        let pattern = self.patterns.current();
        simd::run(wide, Solve { pattern, blocks: &self.blocks, values });
    }
}

/// The factorization, position by position; diagonal blocks are replaced by their inverses.
struct Factor<'a> {
    pattern: &'a Pattern,
    blocks: &'a mut [Block6],
}

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        let mut targets = self.pattern.targets();
        let mut rest = self.blocks;
        // Index of the first block of `rest`.
        let mut start = 0;
        for k in 0..self.pattern.size() {
            let later = self.pattern.later(k);
            let (own, after) = rest.split_at_mut(1 + 2 * later.len());
            start += own.len();
            let (diagonal, sides) = own.split_at_mut(1);
            let Some(inverse) = inverted::<L>(&diagonal[0]) else {
                return false;
            };
            diagonal[0] = inverse;
            for side in sides.chunks_exact_mut(2) {
                side[1] = product::<L>(&side[1], &inverse);
            }
            for (a, &row) in later.iter().enumerate() {
                let [upper_a, lower_a] = [&sides[2 * a], &sides[2 * a + 1]];
                let diagonal = self.pattern.diagonal(row as usize);
                subtract_product::<L>(&mut after[diagonal - start], lower_a, upper_a);
                for (b, &column) in later.iter().enumerate() {
                    if column > row {
                        let target = targets[0] as usize - start;
                        targets = &targets[1..];
                        subtract_product::<L>(&mut after[target], lower_a, &sides[2 * b]);
                        subtract_product::<L>(&mut after[target + 1], &sides[2 * b + 1], upper_a);
                    }
                }
            }
            rest = after;
        }
        true
    }
}

/// Forward and backward substitution.
struct Solve<'a> {
    pattern: &'a Pattern,
    blocks: &'a [Block6],
    values: &'a mut [Vector6],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { pattern, blocks, values } = self;
        for k in 0..pattern.size() {
            let known = values[pattern.body(k)];
            let sides = &blocks[pattern.diagonal(k) + 1..];
            for (side, &i) in sides.chunks_exact(2).zip(pattern.later(k)) {
                subtract_times::<L>(&mut values[pattern.body(i as usize)], &side[1], &known);
            }
        }
        for k in (0..pattern.size()).rev() {
            let mut known = values[pattern.body(k)];
            let diagonal = pattern.diagonal(k);
            let sides = &blocks[diagonal + 1..];
            for (side, &j) in sides.chunks_exact(2).zip(pattern.later(k)) {
                subtract_times::<L>(&mut known, &side[0], &values[pattern.body(j as usize)]);
            }
            let answer = times::<L>(&blocks[diagonal], &known);
            let value = &mut values[pattern.body(k)];
            answer[0].store(&mut value.0[0]);
            answer[1].store(&mut value.0[1]);
        }
    }
}

#[cfg(test)]
#[allow(clippy::needless_range_loop)]
mod tests {
    use super::*;
    use crate::solver::random_problem::Random;
    use std::time::Instant;

    type Edges = Vec<[u32; 2]>;

    fn random_block(random: &mut Random) -> Block6 {
        let mut block = Block6::ZERO;
        for at in 0..36 {
            *block.get_mut(at / 6, at % 6) = random.next();
        }
        block
    }

    /// A triangle of cubes: each touches the next in its row and two in the row below.
    fn wall(base: u32) -> (usize, Edges) {
        let mut edges = Vec::new();
        let (mut start, mut row) = (0, base);
        while row > 0 {
            for i in 0..row {
                if i + 1 < row {
                    edges.push([start + i, start + i + 1]);
                }
                if row < base {
                    let below = start - row - 1 + i;
                    edges.extend([[below, start + i], [below + 1, start + i]]);
                }
            }
            (start, row) = (start + row, row - 1);
        }
        (start as usize, edges)
    }

    fn chain(size: u32) -> (usize, Edges) {
        (size as usize, (1..size).map(|i| [i - 1, i]).collect())
    }

    fn star(size: u32) -> (usize, Edges) {
        (size as usize, (1..size).map(|i| [0, i]).collect())
    }

    fn random_graph(size: u32, edges: usize, random: &mut Random) -> (usize, Edges) {
        let mut edge = || [random.below(size), random.below(size)];
        let edges = (0..edges).map(|_| edge()).filter(|[a, b]| a != b).collect();
        (size as usize, edges)
    }

    /// All blocks of a matrix, as row, column and block.
    type Entries = Vec<(usize, usize, Block6)>;

    /// Returns a matrix with random blocks, and the blocks.
    fn random_matrix(graph: &(usize, Edges), random: &mut Random) -> (BlockMatrix, Entries) {
        let mut matrix = BlockMatrix::default();
        assert!(matrix.layout(graph.0, &graph.1, u32::MAX).is_some());
        let entries = fill(&mut matrix, graph, random);
        (matrix, entries)
    }

    fn fill(matrix: &mut BlockMatrix, graph: &(usize, Edges), random: &mut Random) -> Entries {
        matrix.clear();
        let mut places = std::collections::BTreeMap::new();
        for body in 0..graph.0 {
            places.insert((body, body), matrix.pattern().diagonal_of(body));
        }
        for (edge, &[a, b]) in graph.1.iter().enumerate() {
            let [forward, back] = matrix.pattern().edge_blocks(edge).map(|place| place as usize);
            places.insert((a as usize, b as usize), forward);
            places.insert((b as usize, a as usize), back);
        }
        let mut entries = Vec::new();
        for ((row, column), place) in places {
            let mut block = random_block(random);
            if row == column {
                (0..6).for_each(|i| *block.get_mut(i, i) += 4.0 * graph.0.min(20) as f64);
            }
            matrix.blocks[place] = block;
            entries.push((row, column, block));
        }
        entries
    }

    fn times_entries(entries: &Entries, x: &[Vector6]) -> Vec<Vector6> {
        let mut sums = vec![[0.0; 6]; x.len()];
        for (row, column, block) in entries {
            for i in 0..6 {
                for j in 0..6 {
                    sums[*row][i] += block.get(i, j) * x[*column].get(j);
                }
            }
        }
        sums.into_iter().map(Vector6::new).collect()
    }

    fn random_vectors(size: usize, random: &mut Random) -> Vec<Vector6> {
        (0..size).map(|_| Vector6::new([(); 6].map(|()| random.next()))).collect()
    }

    fn graphs(random: &mut Random) -> Vec<(usize, Edges)> {
        let mut graphs = vec![(1, vec![]), (3, vec![]), chain(40), star(30), wall(10)];
        graphs.push((5, vec![[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [1, 0]]));
        for round in 1..20 {
            graphs.push(random_graph(2 + 3 * round, 5 * round as usize, random));
        }
        graphs
    }

    #[test]
    fn the_factors_solve_the_original_system() {
        let mut random = Random(1);
        for graph in graphs(&mut random) {
            let (mut matrix, entries) = random_matrix(&graph, &mut random);
            let wanted = random_vectors(graph.0, &mut random);
            let mut values = times_entries(&entries, &wanted);
            assert!(matrix.factor(true));
            matrix.solve(true, &mut values);
            for (value, wanted) in values.iter().zip(&wanted) {
                for i in 0..6 {
                    assert!((value.get(i) - wanted.get(i)).abs() < 1e-13);
                }
            }
        }
    }

    fn bits(blocks: &[Block6]) -> Vec<u64> {
        let entries = blocks.iter().flat_map(|b| (0..36).map(|at| b.get(at / 6, at % 6)));
        entries.map(f64::to_bits).collect()
    }

    fn vector_bits(values: &[Vector6]) -> Vec<[u64; 6]> {
        values.iter().map(|value| value.entries().map(f64::to_bits)).collect()
    }

    #[test]
    fn wide_and_scalar_lanes_give_the_same_factors_and_solutions() {
        let mut random = Random(2);
        for graph in graphs(&mut random) {
            let (mut wide, _) = random_matrix(&graph, &mut random);
            let mut scalar = wide.clone();
            assert!(wide.factor(true) && scalar.factor(false));
            assert_eq!(bits(&wide.blocks), bits(&scalar.blocks));
            let mut values = random_vectors(graph.0, &mut random);
            let mut same = values.clone();
            wide.solve(true, &mut values);
            scalar.solve(false, &mut same);
            assert_eq!(vector_bits(&values), vector_bits(&same));
        }
    }

    #[test]
    fn a_kept_pattern_gives_the_same_bits_as_a_fresh_one() {
        let mut random = Random(3);
        let graphs = graphs(&mut random);
        let mut kept = BlockMatrix::default();
        for round in 0..60 {
            // Some patterns return before they are replaced, some after.
            let graph = &graphs[(round * round) % graphs.len()];
            // A limit that was too small before must not count later.
            let refused = kept.layout(graph.0, &graph.1, 0);
            assert!(refused.is_none());
            let products = kept.layout(graph.0, &graph.1, u32::MAX);
            let mut fresh = BlockMatrix::default();
            assert_eq!(fresh.layout(graph.0, &graph.1, u32::MAX), products);
            fill(&mut kept, graph, &mut Random(round as u64));
            fill(&mut fresh, graph, &mut Random(round as u64));
            assert!(kept.factor(true) && fresh.factor(true));
            assert_eq!(bits(&kept.blocks), bits(&fresh.blocks));
            assert!(kept.layout(graph.0, &graph.1, products.unwrap() - 1).is_none());
        }
    }

    #[test]
    fn patterns_of_large_islands_are_not_all_kept() {
        let mut matrix = BlockMatrix::default();
        let (size, mut edges) = wall(50);
        let small = chain(4);
        for round in 0..20 {
            edges.swap(0, round);
            let products = matrix.layout(size, &edges, u32::MAX);
            assert_eq!(products, BlockMatrix::default().layout(size, &edges, u32::MAX));
            assert_eq!(matrix.layout(small.0, &small.1, u32::MAX), Some(13));
            // Others, and the current one.
            assert!(matrix.patterns.reserved() < 3 << 20);
        }
    }

    #[test]
    fn a_zero_pivot_is_refused() {
        let mut matrix = BlockMatrix::default();
        assert_eq!(matrix.layout(1, &[], 1), Some(1));
        assert!(!matrix.factor(true));
    }

    #[test]
    #[ignore = "prints a cost"]
    #[allow(clippy::print_stdout)]
    fn cost_of_walls() {
        for base in [10, 50, 100] {
            let graph = wall(base);
            let start = Instant::now();
            let mut matrix = BlockMatrix::default();
            let products = matrix.layout(graph.0, &graph.1, u32::MAX);
            let layout = start.elapsed();
            fill(&mut matrix, &graph, &mut Random(1));
            let mut values = random_vectors(graph.0, &mut Random(2));
            let repeats = 5000 / graph.0;
            let original = matrix.clone();
            let mut best = [f64::INFINITY; 2];
            for _ in 0..repeats.max(3) {
                matrix.blocks.copy_from_slice(&original.blocks);
                let start = Instant::now();
                assert!(matrix.factor(true));
                best[0] = best[0].min(start.elapsed().as_secs_f64());
                let start = Instant::now();
                matrix.solve(true, &mut values);
                best[1] = best[1].min(start.elapsed().as_secs_f64());
            }
            println!(
                "{} bodies: {products:?} products, {} blocks; order {layout:?}, factor {:.3} ms, solve {:.3} ms",
                graph.0,
                matrix.blocks.len(),
                best[0] * 1e3,
                best[1] * 1e3,
            );
        }
    }
}
