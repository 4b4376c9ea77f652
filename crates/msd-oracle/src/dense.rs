//! Dense factorizations for the exact methods.

/// The Cholesky factor of a symmetric matrix, updated as rows and columns are added and removed.
///
/// The caller owns the matrix and adds a row only if its pivot is large enough, so that a singular
/// matrix is factored over a maximal set of independent rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Cholesky {
    /// Row `i` of the lower triangle starts at `i * stride` and has `i + 1` entries.
    entries: Vec<f64>,
    stride: usize,
    len: usize,
}

impl Cholesky {
    /// Removes all rows and makes room for `capacity` of them.
    pub fn reset(&mut self, capacity: usize) {
        (self.stride, self.len) = (capacity, 0);
        if self.entries.len() < capacity * capacity {
            self.entries.resize(capacity * capacity, 0.0);
        }
    }

    /// Turns `head`, the part of a matrix row before its diagonal entry `corner`, into the next row
    /// of the factor. Returns its pivot, the remainder of the diagonal: zero for a dependent row.
    pub fn candidate(&self, head: &mut [f64], corner: f64) -> f64 {
        self.forward(head);
        pivot(head, corner)
    }

    /// Adds a row with a positive pivot.
    pub fn push(&mut self, head: &[f64], pivot: f64) {
        let start = self.len * self.stride;
        self.entries[start..start + self.len].copy_from_slice(head);
        self.entries[start + self.len] = pivot.sqrt();
        self.len += 1;
    }

    /// Returns the last row, including its diagonal.
    pub fn last(&self) -> &[f64] {
        self.row(self.len - 1)
    }

    /// Removes row and column `index`. Givens rotations restore the triangle, so independent rows
    /// stay independent.
    pub fn remove(&mut self, index: usize) {
        let stride = self.stride;
        self.entries.copy_within((index + 1) * stride..self.len * stride, index * stride);
        self.len -= 1;
        for i in index..self.len {
            // Row i now has an extra entry right of its diagonal: rotate it into the diagonal.
            let (above, below) = self.entries[..self.len * stride].split_at_mut((i + 1) * stride);
            let row = &mut above[i * stride..];
            let (x, y) = (row[i], row[i + 1]);
            let length = libm::hypot(x, y);
            let (cos, sin) = if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) };
            row[i] = length;
            for later in below.chunks_exact_mut(stride) {
                let (x, y) = (later[i], later[i + 1]);
                later[i] = cos * x + sin * y;
                later[i + 1] = cos * y - sin * x;
            }
        }
    }

    /// Solves for one right-hand side, in place.
    pub fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        self.backward(x);
    }

    /// Turns the head of a candidate into the coefficients of the nearest combination of the rows
    /// so far.
    pub fn combination(&self, head: &mut [f64]) {
        self.backward(head);
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.stride..i * self.stride + i + 1]
    }

    fn forward(&self, x: &mut [f64]) {
        for i in 0..self.len {
            let row = self.row(i);
            let known: f64 = row[..i].iter().zip(&*x).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
    }

    fn backward(&self, x: &mut [f64]) {
        for i in (0..self.len).rev() {
            let row = self.row(i);
            x[i] /= row[i];
            let value = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * value;
            }
        }
    }
}

/// Returns the remainder of a row's diagonal.
pub(super) fn pivot(head: &[f64], corner: f64) -> f64 {
    corner - head.iter().map(|x| x * x).sum::<f64>()
}

/// Returns a power of two close to `1 / sqrt(x)`: scaling by it is exact.
pub(super) fn inverse_root_scale(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { libm::scalbn(1.0, -libm::ilogb(x).div_euclid(2)) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_a_row_leaves_the_factor_of_the_remaining_rows() {
        let matrix = [
            [4.0, 1.0, 0.5, 0.2],
            [1.0, 3.0, 0.3, 0.1],
            [0.5, 0.3, 2.0, 0.7],
            [0.2, 0.1, 0.7, 5.0],
        ];
        for out in 0..4 {
            let mut factor = Cholesky::default();
            factor.reset(4);
            for (i, row) in matrix.iter().enumerate() {
                let mut head = row[..i].to_vec();
                let pivot = factor.candidate(&mut head, row[i]);
                factor.push(&head, pivot);
            }
            factor.remove(out);
            let kept: Vec<usize> = (0..4).filter(|&i| i != out).collect();
            let mut x = vec![1.0, -2.0, 3.0];
            factor.solve(&mut x);
            for (&i, wanted) in kept.iter().zip([1.0, -2.0, 3.0]) {
                let got: f64 = kept.iter().zip(&x).map(|(&j, x)| matrix[i][j] * x).sum();
                assert!((got - wanted).abs() < 1e-14, "{got} {wanted}");
            }
        }
    }
}
