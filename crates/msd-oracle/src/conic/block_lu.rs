//! Sparse LU factorization of a matrix of 3 by 3 blocks with a symmetric pattern.
//!
//! Blocks are eliminated in minimum-degree order, and pivoting is limited to blocks: the caller
//! keeps the diagonal away from zero.

use msd_problem::math::{Mat3, Vec3};

/// The elimination order and the resulting pattern, computed once and used for every matrix.
pub(super) struct Pattern {
    /// The cell at each place of the order.
    order: Vec<usize>,
    /// The place of each cell.
    place: Vec<usize>,
    /// The places right of the diagonal in each row, ascending.
    upper: Vec<Vec<usize>>,
    /// The places left of the diagonal in each row, ascending.
    lower: Vec<Vec<usize>>,
}

impl Pattern {
    /// Computes the order from the `neighbors` of each cell; the pattern is made symmetric.
    pub fn new<I: Iterator<Item = usize>>(n: usize, neighbors: impl Fn(usize) -> I) -> Self {
        let words = n.div_ceil(64);
        let mut graph = vec![vec![0_u64; words]; n];
        for i in 0..n {
            for j in neighbors(i).filter(|&j| j != i) {
                graph[i][j / 64] |= 1 << (j % 64);
                graph[j][i / 64] |= 1 << (i % 64);
            }
        }
        let mut left = vec![true; n];
        let (mut order, mut place) = (Vec::with_capacity(n), vec![0; n]);
        let mut fronts = Vec::with_capacity(n);
        let mut degree: Vec<u32> = graph.iter().map(|row| ones(row)).collect();
        for step in 0..n {
            let Some(k) = (0..n).filter(|&i| left[i]).min_by_key(|&i| degree[i]) else { break };
            left[k] = false;
            order.push(k);
            place[k] = step;
            let front = std::mem::take(&mut graph[k]);
            let members: Vec<usize> =
                (0..n).filter(|i| front[i / 64] >> (i % 64) & 1 == 1).collect();
            for &i in &members {
                for (word, more) in graph[i].iter_mut().zip(&front) {
                    *word |= more;
                }
                graph[i][i / 64] &= !(1 << (i % 64));
                graph[i][k / 64] &= !(1 << (k % 64));
                degree[i] = ones(&graph[i]);
            }
            fronts.push(members);
        }
        let mut upper = Vec::with_capacity(n);
        let mut lower = vec![Vec::new(); n];
        for (step, members) in fronts.into_iter().enumerate() {
            let mut row: Vec<usize> = members.into_iter().map(|i| place[i]).collect();
            row.sort_unstable();
            for &i in &row {
                lower[i].push(step);
            }
            upper.push(row);
        }
        Self { order, place, upper, lower }
    }

    /// Factors the matrix whose block rows `fill` writes, and solves for `right` in place. Returns
    /// false if a pivot is zero; `right` is then meaningless.
    pub fn solve(
        &self,
        mut fill: impl FnMut(usize, &mut dyn FnMut(usize, Mat3)),
        right: &mut [Vec3],
    ) -> bool {
        let n = self.order.len();
        let mut work = vec![Mat3::ZERO; n];
        let mut rows: Vec<Vec<Mat3>> = Vec::with_capacity(n);
        let mut pivots: Vec<Mat3> = Vec::with_capacity(n);
        let mut x: Vec<Vec3> = self.order.iter().map(|&cell| right[cell]).collect();
        for i in 0..n {
            fill(self.order[i], &mut |cell, block| work[self.place[cell]] = block);
            for &k in &self.lower[i] {
                let entry = std::mem::replace(&mut work[k], Mat3::ZERO);
                if entry == Mat3::ZERO {
                    continue;
                }
                let factor = entry * pivots[k];
                for (&j, block) in self.upper[k].iter().zip(&rows[k]) {
                    work[j] -= factor * *block;
                }
                let known = x[k];
                x[i] -= factor * known;
            }
            let pivot = std::mem::replace(&mut work[i], Mat3::ZERO);
            let Some(inverse) = inverse(pivot) else { return false };
            pivots.push(inverse);
            rows.push(
                self.upper[i]
                    .iter()
                    .map(|&j| std::mem::replace(&mut work[j], Mat3::ZERO))
                    .collect(),
            );
        }
        for i in (0..n).rev() {
            let mut sum = x[i];
            for (&j, block) in self.upper[i].iter().zip(&rows[i]) {
                sum -= *block * x[j];
            }
            x[i] = pivots[i] * sum;
        }
        for (&cell, x) in self.order.iter().zip(x) {
            right[cell] = x;
        }
        right.iter().all(|x| x.is_finite())
    }
}

/// Inverts a matrix by Gauss-Jordan elimination with row exchanges. Returns `None` if it is
/// singular.
pub(super) fn inverse(matrix: Mat3) -> Option<Mat3> {
    let mut left = matrix.transpose().to_cols_array_2d();
    let mut right = Mat3::IDENTITY.to_cols_array_2d();
    for k in 0..3 {
        let mut best = k;
        for i in k + 1..3 {
            if left[i][k].abs() > left[best][k].abs() {
                best = i;
            }
        }
        left.swap(k, best);
        right.swap(k, best);
        let pivot = left[k][k];
        if !(pivot.abs() > 0.0) {
            return None;
        }
        for j in 0..3 {
            left[k][j] /= pivot;
            right[k][j] /= pivot;
        }
        for i in (0..3).filter(|&i| i != k) {
            let factor = left[i][k];
            for j in 0..3 {
                left[i][j] -= factor * left[k][j];
                right[i][j] -= factor * right[k][j];
            }
        }
    }
    let found = Mat3::from_cols_array_2d(&right).transpose();
    found.is_finite().then_some(found)
}

fn ones(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}
