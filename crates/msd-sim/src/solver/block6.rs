//! Blocks of 6 by 6 numbers and the kernels of their factorization, four numbers at a time.
//!
//! A block is stored by columns without padding. Two columns are three registers, of which the
//! middle one holds the end of the first column and the start of the second:
//!
//! ```text
//! first column   r0 r1 r2 r3 | r4 r5
//! second column                      r0 r1 | r2 r3 r4 r5
//! ```
//!
//! Every entry is computed by the same operations in the same order as in plain loops, so the bits
//! do not depend on the lanes.
#![allow(clippy::needless_range_loop)]

use crate::simd::{F4, Lanes};

/// A 6 by 6 block, stored by columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Block6([F4; 9]);

/// Six numbers. The last two lanes are arbitrary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vector6(pub(crate) [F4; 2]);

impl Vector6 {
    pub(crate) const ZERO: Self = Self([F4::ZERO; 2]);

    /// Creates a vector from its entries.
    pub(crate) fn new(v: [f64; 6]) -> Self {
        Self([F4([v[0], v[1], v[2], v[3]]), F4([v[4], v[5], 0.0, 0.0])])
    }

    /// Returns the entries.
    pub(crate) fn entries(&self) -> [f64; 6] {
        let ([a, b, c, d], [e, f, ..]) = (self.0[0].0, self.0[1].0);
        [a, b, c, d, e, f]
    }

    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> f64 {
        self.0[i / 4].0[i % 4]
    }
}

impl Block6 {
    pub(crate) const ZERO: Self = Self([F4::ZERO; 9]);

    #[inline(always)]
    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        let at = column * 6 + row;
        self.0[at / 4].0[at % 4]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        let at = column * 6 + row;
        &mut self.0[at / 4].0[at % 4]
    }

    #[inline(always)]
    pub(crate) fn load<L: Lanes>(&self) -> [L; 9] {
        let mut lanes = [L::splat(0.0); 9];
        for i in 0..9 {
            lanes[i] = L::load(&self.0[i]);
        }
        lanes
    }

    #[inline(always)]
    pub(crate) fn store<L: Lanes>(&mut self, lanes: [L; 9]) {
        for i in 0..9 {
            lanes[i].store(&mut self.0[i]);
        }
    }
}

/// A column in registers, staggered to match two columns of a block: rows 0 to 3; rows 4, 5, 0 and
/// 1; rows 2 to 5.
pub(crate) type Column<L> = [L; 3];

/// Returns six numbers as a column.
#[inline(always)]
pub(crate) fn staggered<L: Lanes>([p, q]: [L; 2]) -> Column<L> {
    [p, q.halves::<0, 0>(p), p.halves::<1, 0>(q)]
}

/// Returns columns `2 * pair` and `2 * pair + 1` of a block.
#[inline(always)]
fn columns<L: Lanes>(block: &Block6, pair: usize) -> [Column<L>; 2] {
    let p = L::load(&block.0[3 * pair]);
    let q = L::load(&block.0[3 * pair + 1]);
    let r = L::load(&block.0[3 * pair + 2]);
    [[p, q.halves::<0, 0>(p), p.halves::<1, 0>(q)], [q.halves::<1, 0>(r), r.halves::<1, 1>(q), r]]
}

/// Returns two numbers as factors of two columns of a block.
#[inline(always)]
fn factors<L: Lanes>(first: f64, second: f64) -> [L; 3] {
    let (x, y) = (L::splat(first), L::splat(second));
    [x, x.halves::<0, 1>(y), y]
}

/// Adds the product of a column and a row to a block in registers.
#[inline(always)]
pub(crate) fn add_outer<L: Lanes>(sum: &mut [L; 9], column: &Column<L>, row: &[f64; 6]) {
    for j in 0..3 {
        let by = factors::<L>(row[2 * j], row[2 * j + 1]);
        for i in 0..3 {
            sum[3 * j + i] = sum[3 * j + i] + column[i] * by[i];
        }
    }
}

/// Subtracts the product of a column and a row from a block in registers.
#[inline(always)]
pub(crate) fn subtract_outer<L: Lanes>(rest: &mut [L; 9], column: &Column<L>, row: &[f64; 6]) {
    for j in 0..3 {
        let by = factors::<L>(row[2 * j], row[2 * j + 1]);
        for i in 0..3 {
            rest[3 * j + i] = rest[3 * j + i] - column[i] * by[i];
        }
    }
}

/// Returns a row of a block.
#[inline(always)]
fn row(block: &Block6, i: usize) -> [f64; 6] {
    let mut row = [0.0; 6];
    for j in 0..6 {
        row[j] = block.get(i, j);
    }
    row
}

/// Returns `a b`.
#[inline(always)]
pub(crate) fn product<L: Lanes>(a: &Block6, b: &Block6) -> Block6 {
    let mut sum = [L::splat(0.0); 9];
    for k in 0..3 {
        let columns = columns::<L>(a, k);
        add_outer(&mut sum, &columns[0], &row(b, 2 * k));
        add_outer(&mut sum, &columns[1], &row(b, 2 * k + 1));
    }
    let mut out = Block6::ZERO;
    out.store(sum);
    out
}

/// Subtracts `a b` from `out`.
#[inline(always)]
pub(crate) fn subtract_product<L: Lanes>(out: &mut Block6, a: &Block6, b: &Block6) {
    let mut rest = out.load::<L>();
    for k in 0..3 {
        let columns = columns::<L>(a, k);
        subtract_outer(&mut rest, &columns[0], &row(b, 2 * k));
        subtract_outer(&mut rest, &columns[1], &row(b, 2 * k + 1));
    }
    out.store(rest);
}

/// Returns `a x`.
#[inline(always)]
pub(crate) fn times<L: Lanes>(a: &Block6, x: &Vector6) -> [L; 2] {
    let (mut top, mut bottom) = (L::splat(0.0), L::splat(0.0));
    for pair in 0..3 {
        let p = L::load(&a.0[3 * pair]);
        let q = L::load(&a.0[3 * pair + 1]);
        let r = L::load(&a.0[3 * pair + 2]);
        let (even, odd) = (L::splat(x.get(2 * pair)), L::splat(x.get(2 * pair + 1)));
        top = top + p * even;
        bottom = bottom + q * even;
        top = top + q.halves::<1, 0>(r) * odd;
        bottom = bottom + r.halves::<1, 1>(r) * odd;
    }
    [top, bottom]
}

/// Subtracts `a x` from `out`.
#[inline(always)]
pub(crate) fn subtract_times<L: Lanes>(out: &mut Vector6, a: &Block6, x: &Vector6) {
    let sum = times::<L>(a, x);
    for i in 0..2 {
        (L::load(&out.0[i]) - sum[i]).store(&mut out.0[i]);
    }
}

/// For each row, a mask of its places in two columns.
const ROW_MASKS: [[F4; 3]; 6] = row_masks();

const fn row_masks() -> [[F4; 3]; 6] {
    let mut masks = [[F4::ZERO; 3]; 6];
    let mut at = 0;
    while at < 12 {
        masks[at % 6][at / 4].0[at % 4] = -1.0;
        at += 1;
    }
    masks
}

/// Inverts a block by Gauss-Jordan elimination in place with row exchanges. Returns `None` if a
/// pivot is zero or NaN.
///
/// Rows of velocities and of angular velocities have different units. They are compared by squares relative to the row's
/// own diagonal entry, if it is not zero, so that the choice of a pivot does not depend on units.
#[inline(always)]
pub(crate) fn inverted<L: Lanes>(matrix: &Block6) -> Option<Block6> {
    let mut a = *matrix;
    let mut exchanges = [0; 6];
    let mut weights = [0.0; 6];
    for (k, weight) in weights.iter_mut().enumerate() {
        let own = a.get(k, k).abs();
        *weight = if own > 0.0 { own.recip() } else { 1.0 };
    }
    for k in 0..6 {
        let pivot = pivot_row(&a, &weights, k);
        exchanges[k] = pivot;
        if pivot != k {
            exchange_rows(&mut a, k, pivot);
            weights.swap(k, pivot);
        }
        let scale = a.get(k, k).recip();
        if !scale.is_finite() {
            return None;
        }
        eliminate::<L>(&mut a, k, scale);
    }
    for k in (0..6).rev() {
        if exchanges[k] != k {
            exchange_columns(&mut a, k, exchanges[k]);
        }
    }
    Some(a)
}

#[inline(always)]
fn pivot_row(a: &Block6, weights: &[f64; 6], k: usize) -> usize {
    let size = |i: usize| a.get(i, k) * a.get(i, k) * weights[i];
    let (mut pivot, mut largest) = (k, size(k));
    for i in k + 1..6 {
        let found = size(i);
        if !(found <= largest) {
            (pivot, largest) = (i, found);
        }
    }
    pivot
}

/// Eliminates column `k`, in place of which the column of the inverse is left. `scale` is the
/// inverse of the pivot.
#[inline(always)]
fn eliminate<L: Lanes>(a: &mut Block6, k: usize, scale: f64) {
    let column = columns::<L>(a, k / 2)[k % 2];
    let masks = &ROW_MASKS[k];
    for pair in 0..3 {
        let (x, y) = (a.get(k, 2 * pair) * scale, a.get(k, 2 * pair + 1) * scale);
        let mut old = [L::splat(0.0); 3];
        for i in 0..3 {
            old[i] = L::load(&a.0[3 * pair + i]);
        }
        let by = if pair == k / 2 {
            let zero = L::splat(0.0);
            if k.is_multiple_of(2) {
                old[0] = zero;
                old[1] = zero.halves::<0, 1>(old[1]);
                factors::<L>(scale, y)
            } else {
                old[1] = old[1].halves::<0, 1>(zero);
                old[2] = zero;
                factors::<L>(x, scale)
            }
        } else {
            factors::<L>(x, y)
        };
        for i in 0..3 {
            let rest = old[i] - column[i] * by[i];
            L::select(L::load(&masks[i]), by[i], rest).store(&mut a.0[3 * pair + i]);
        }
    }
}

#[inline(never)]
fn exchange_rows(a: &mut Block6, i: usize, j: usize) {
    for column in 0..6 {
        let kept = a.get(i, column);
        *a.get_mut(i, column) = a.get(j, column);
        *a.get_mut(j, column) = kept;
    }
}

#[inline(never)]
fn exchange_columns(a: &mut Block6, i: usize, j: usize) {
    for row in 0..6 {
        let kept = a.get(row, i);
        *a.get_mut(row, i) = a.get(row, j);
        *a.get_mut(row, j) = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, run};

    type Plain = [[f64; 6]; 6];

    fn plain(block: &Block6) -> Plain {
        std::array::from_fn(|i| row(block, i))
    }

    fn plain_product(start: &Plain, a: &Plain, b: &Plain, sign: f64) -> Plain {
        let mut out = *start;
        for i in 0..6 {
            for k in 0..6 {
                for j in 0..6 {
                    out[i][j] += sign * (a[i][k] * b[k][j]);
                }
            }
        }
        out
    }

    /// Gauss-Jordan elimination beside a unit matrix.
    fn plain_inverse(matrix: &Plain) -> Option<Plain> {
        let mut a = *matrix;
        let mut out = [[0.0; 6]; 6];
        (0..6).for_each(|i| out[i][i] = 1.0);
        let weight = |own: f64| if own > 0.0 { own.recip() } else { 1.0 };
        let mut weights: [f64; 6] = std::array::from_fn(|i| weight(a[i][i].abs()));
        for k in 0..6 {
            let mut pivot = k;
            for i in k + 1..6 {
                let size = |i: usize| a[i][k] * a[i][k] * weights[i];
                if size(i) > size(pivot) {
                    pivot = i;
                }
            }
            weights.swap(k, pivot);
            a.swap(k, pivot);
            out.swap(k, pivot);
            let scale = a[k][k].recip();
            if !scale.is_finite() {
                return None;
            }
            for j in 0..6 {
                a[k][j] *= scale;
                out[k][j] *= scale;
            }
            for i in (0..6).filter(|&i| i != k) {
                let factor = a[i][k];
                for j in 0..6 {
                    a[i][j] -= factor * a[k][j];
                    out[i][j] -= factor * out[k][j];
                }
            }
        }
        Some(out)
    }

    /// All kernels, on three blocks.
    struct All<'a>(&'a [Block6; 3]);

    impl Kernel for All<'_> {
        type Output = (Block6, Block6, [f64; 6], Option<Block6>);

        #[inline(always)]
        fn run<L: Lanes>(self) -> Self::Output {
            let [a, b, c] = self.0;
            let mut rest = *c;
            subtract_product::<L>(&mut rest, a, b);
            let mut vector = Vector6::ZERO;
            subtract_times::<L>(&mut vector, a, &Vector6::new(row(b, 0)));
            (product::<L>(a, b), rest, vector.entries(), inverted::<L>(a))
        }
    }

    #[test]
    fn kernels_compute_what_plain_loops_do() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut singular = 0;
        for round in 0..1000 {
            let blocks = [(); 3].map(|()| {
                let mut block = Block6::ZERO;
                (0..36).for_each(|at| *block.get_mut(at / 6, at % 6) = random());
                // Zeros where pivots are expected, and blocks without an inverse.
                (0..round % 7).for_each(|k| *block.get_mut(k % 6, k % 6) = 0.0);
                if round % 50 == 0 {
                    (0..6).for_each(|i| *block.get_mut(i, 3) = 0.0);
                }
                block
            });
            let [a, b, c] = [0, 1, 2].map(|i: usize| plain(&blocks[i]));
            for wide in [true, false] {
                let (product, rest, vector, inverse) = run(wide, All(&blocks));
                assert_eq!(plain(&product), plain_product(&[[0.0; 6]; 6], &a, &b, 1.0));
                assert_eq!(plain(&rest), plain_product(&c, &a, &b, -1.0));
                for i in 0..6 {
                    let sum = (0..6).fold(0.0, |sum, j| sum + a[i][j] * b[0][j]);
                    assert_eq!(vector[i], 0.0 - sum);
                }
                assert_eq!(inverse.as_ref().map(plain), plain_inverse(&a));
                let Some(inverse) = inverse.as_ref().map(plain) else {
                    singular += 1;
                    continue;
                };
                // Rounding of 6 products, and of some 20 steps of elimination for each.
                let size = |m: &Plain| m.as_flattened().iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                let found = plain_product(&[[0.0; 6]; 6], &a, &inverse, 1.0);
                for i in 0..6 {
                    for j in 0..6 {
                        let off = (found[i][j] - f64::from(u8::from(i == j))).abs();
                        assert!(off <= 120.0 * f64::EPSILON * size(&a) * size(&inverse), "{off:e}");
                    }
                }
            }
        }
        // Those made so, and no others.
        assert_eq!(singular, 2 * 1000 / 50);
    }

    #[test]
    fn an_inverse_does_not_depend_on_units() {
        let mut random = crate::solver::random_problem::Random(5);
        for _ in 0..200 {
            let mut block = Block6::ZERO;
            (0..36).for_each(|at| *block.get_mut(at / 6, at % 6) = random.next());
            // Angular rows and columns in other units of length.
            let unit = |i: usize| if i < 3 { 1.0 } else { 1024.0 };
            let mut scaled = block;
            (0..36).for_each(|at| *scaled.get_mut(at / 6, at % 6) *= unit(at / 6) * unit(at % 6));
            let inverses = [&block, &scaled].map(|block| run(false, Inverted(block)).unwrap());
            for at in 0..36 {
                let (i, j) = (at / 6, at % 6);
                assert_eq!(inverses[1].get(i, j) * unit(i) * unit(j), inverses[0].get(i, j));
            }
        }
    }

    struct Inverted<'a>(&'a Block6);

    impl Kernel for Inverted<'_> {
        type Output = Option<Block6>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Self::Output {
            inverted::<L>(self.0)
        }
    }
}
