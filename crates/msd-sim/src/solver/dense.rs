//! Dense factorisations, as small as the exact methods need them.

/// The Cholesky factor of a symmetric matrix that grows and shrinks by one row and column.
///
/// The matrix itself stays with the caller, who adds a row only if its pivot is worth it: so a
/// singular matrix is factored over a largest set of independent rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Cholesky {
    /// Row `i` of the lower triangle, `i + 1` long.
    rows: Vec<Vec<f64>>,
}

/// A row that has been looked at and not yet added.
pub(super) struct Candidate {
    /// What stands before the diagonal.
    head: Vec<f64>,
    /// What the rows so far leave of the diagonal: zero for a dependent row.
    pub pivot: f64,
}

impl Cholesky {
    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The next row of the factor, for a matrix row `entries` before a diagonal `corner`.
    pub fn candidate(&self, entries: impl Iterator<Item = f64>, corner: f64) -> Candidate {
        let mut head: Vec<f64> = entries.take(self.len()).collect();
        self.forward(&mut head);
        let pivot = corner - head.iter().map(|x| x * x).sum::<f64>();
        Candidate { head, pivot }
    }

    /// Adds a row whose pivot is positive.
    pub fn push(&mut self, candidate: Candidate) {
        let mut row = candidate.head;
        row.push(candidate.pivot.sqrt());
        self.rows.push(row);
    }

    /// Takes row and column `index` out: rotations close the gap, so that what was independent
    /// stays so.
    pub fn remove(&mut self, index: usize) {
        self.rows.remove(index);
        for i in index..self.rows.len() {
            // Row i now has one entry too many, right of its diagonal: turn it into the diagonal.
            let (above, below) = self.rows.split_at_mut(i + 1);
            let row = &mut above[i];
            let (x, y) = (row[i], row[i + 1]);
            let length = libm::hypot(x, y);
            let (cos, sin) = if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) };
            row[i] = length;
            row.truncate(i + 1);
            for later in below {
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

    /// The combination of the rows so far that `candidate` comes closest to.
    pub fn combination(&self, candidate: &Candidate) -> Vec<f64> {
        let mut x = candidate.head.clone();
        self.backward(&mut x);
        x
    }

    fn forward(&self, x: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            let known: f64 = row[..i].iter().zip(&*x).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
    }

    fn backward(&self, x: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate().rev() {
            x[i] /= row[i];
            let value = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * value;
            }
        }
    }
}

/// The power of two nearest below `1 / sqrt(x)`, or so: scaling by it rounds nothing.
pub(super) fn inverse_root_scale(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { libm::scalbn(1.0, -libm::ilogb(x).div_euclid(2)) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_taken_out_leaves_the_factor_of_the_rest() {
        let matrix = [
            [4.0, 1.0, 0.5, 0.2],
            [1.0, 3.0, 0.3, 0.1],
            [0.5, 0.3, 2.0, 0.7],
            [0.2, 0.1, 0.7, 5.0],
        ];
        for out in 0..4 {
            let mut factor = Cholesky::default();
            for (i, row) in matrix.iter().enumerate() {
                let next = factor.candidate(row.iter().copied(), row[i]);
                factor.push(next);
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
