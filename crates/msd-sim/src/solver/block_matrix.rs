//! A sparse matrix of 6 by 6 blocks, one block row and column per body, factored in place.
//!
//! Bodies are eliminated in minimum-degree order, so the cost of a tower is linear in its bodies.
//! Pivoting is limited to blocks, which suffices because the matrices are dominated by a symmetric
//! positive definite one.

/// A 6 by 6 block, row-major.
pub(crate) type Block6 = [f64; 36];

const NONE: u32 = u32::MAX;

/// Maximum number of bodies: beyond it the table of blocks is not worth its memory.
const MAX_BODIES: usize = 512;

/// The matrix, its pattern and its factors. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMatrix {
    size: usize,
    /// Index of the block of each row and column, by position in the elimination order.
    slots: Vec<u32>,
    blocks: Vec<Block6>,
    /// The later neighbors of position `k`: `later[starts[k]..starts[k + 1]]`.
    later: Vec<u32>,
    starts: Vec<u32>,
    /// Scratch memory of the ordering.
    neighbors: Vec<Vec<u32>>,
    eliminated: Vec<bool>,
    position: Vec<u32>,
    order: Vec<u32>,
}

impl BlockMatrix {
    /// Lays out the matrix of `size` bodies with the given edges between them. Returns the number
    /// of block products of a factorization, `None` if it exceeds `work` or there are too many
    /// bodies.
    pub(crate) fn layout(
        &mut self,
        size: usize,
        edges: impl Iterator<Item = (u32, u32)>,
        work: u32,
    ) -> Option<u32> {
        if size > MAX_BODIES {
            return None;
        }
        self.size = size;
        for list in &mut self.neighbors {
            list.clear();
        }
        if self.neighbors.len() < size {
            self.neighbors.resize_with(size, Vec::new);
        }
        for (a, b) in edges {
            insert(&mut self.neighbors[a as usize], b);
            insert(&mut self.neighbors[b as usize], a);
        }
        self.eliminate(work)
    }

    /// Computes the minimum-degree order (the first body of equals) and the fill.
    fn eliminate(&mut self, work: u32) -> Option<u32> {
        let n = self.size;
        self.eliminated.clear();
        self.eliminated.resize(n, false);
        self.position.clear();
        self.position.resize(n, 0);
        self.order.clear();
        self.later.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut products = 0_u64;
        for step in 0..n {
            let mut best = (usize::MAX, 0);
            for body in 0..n {
                if !self.eliminated[body] && self.neighbors[body].len() < best.0 {
                    best = (self.neighbors[body].len(), body);
                }
            }
            let body = best.1;
            self.eliminated[body] = true;
            self.position[body] = step as u32;
            self.order.push(body as u32);
            let around = std::mem::take(&mut self.neighbors[body]);
            products += ((around.len() + 1) * (around.len() + 1)) as u64;
            if products > u64::from(work) {
                self.neighbors[body] = around;
                return None;
            }
            for (k, &i) in around.iter().enumerate() {
                let list = &mut self.neighbors[i as usize];
                if let Ok(at) = list.binary_search(&(body as u32)) {
                    list.remove(at);
                }
                for &j in &around[..k] {
                    insert(&mut self.neighbors[i as usize], j);
                    insert(&mut self.neighbors[j as usize], i);
                }
            }
            self.later.extend_from_slice(&around);
            self.starts.push(self.later.len() as u32);
            self.neighbors[body] = around;
        }
        self.assign_slots();
        Some(products as u32)
    }

    fn assign_slots(&mut self) {
        let n = self.size;
        for body in &mut self.later {
            *body = self.position[*body as usize];
        }
        self.slots.clear();
        self.slots.resize(n * n, NONE);
        let mut count = 0;
        for k in 0..n {
            self.slots[k * n + k] = count;
            count += 1;
            for &i in &self.later[self.starts[k] as usize..self.starts[k + 1] as usize] {
                self.slots[k * n + i as usize] = count;
                self.slots[i as usize * n + k] = count + 1;
                count += 2;
            }
        }
        self.blocks.clear();
        self.blocks.resize(count as usize, [0.0; 36]);
    }

    /// Sets every entry to zero.
    pub(crate) fn clear(&mut self) {
        self.blocks.fill([0.0; 36]);
    }

    /// Returns the block of two connected bodies, or the diagonal block of one.
    pub(crate) fn at(&mut self, row: u32, column: u32) -> &mut Block6 {
        let (i, j) = (self.position[row as usize], self.position[column as usize]);
        let slot = self.slots[i as usize * self.size + j as usize];
        &mut self.blocks[slot as usize]
    }

    /// Factors in place. Returns false if a pivot is zero or NaN.
    pub(crate) fn factor(&mut self) -> bool {
        let n = self.size;
        for k in 0..n {
            let diagonal = self.slots[k * n + k] as usize;
            let Some(inverse) = inverted(&self.blocks[diagonal]) else {
                return false;
            };
            self.blocks[diagonal] = inverse;
            let later = self.starts[k] as usize..self.starts[k + 1] as usize;
            for a in later.clone() {
                let i = self.later[a] as usize;
                let lower = self.slots[i * n + k] as usize;
                let factor = product(&self.blocks[lower], &inverse);
                self.blocks[lower] = factor;
                for b in later.clone() {
                    let j = self.later[b] as usize;
                    let upper = self.blocks[self.slots[k * n + j] as usize];
                    let target = self.slots[i * n + j] as usize;
                    subtract_product(&mut self.blocks[target], &factor, &upper);
                }
            }
        }
        true
    }

    /// Solves in place for a right-hand side with six entries per body.
    pub(crate) fn solve(&self, values: &mut [[f64; 6]]) {
        let n = self.size;
        for k in 0..n {
            let known = values[self.order[k] as usize];
            for &i in self.neighbors_after(k) {
                let lower = &self.blocks[self.slots[i as usize * n + k] as usize];
                subtract(&mut values[self.order[i as usize] as usize], lower, &known);
            }
        }
        for k in (0..n).rev() {
            let mut known = values[self.order[k] as usize];
            for &j in self.neighbors_after(k) {
                let upper = &self.blocks[self.slots[k * n + j as usize] as usize];
                subtract(&mut known, upper, &values[self.order[j as usize] as usize]);
            }
            let inverse = &self.blocks[self.slots[k * n + k] as usize];
            let mut answer = [0.0; 6];
            subtract(&mut answer, inverse, &known);
            values[self.order[k] as usize] = answer.map(|x| -x);
        }
    }

    fn neighbors_after(&self, k: usize) -> &[u32] {
        &self.later[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}

fn insert(list: &mut Vec<u32>, value: u32) {
    if let Err(at) = list.binary_search(&value) {
        list.insert(at, value);
    }
}

fn product(a: &Block6, b: &Block6) -> Block6 {
    let mut out = [0.0; 36];
    for i in 0..6 {
        for k in 0..6 {
            let factor = a[i * 6 + k];
            for j in 0..6 {
                out[i * 6 + j] += factor * b[k * 6 + j];
            }
        }
    }
    out
}

fn subtract_product(out: &mut Block6, a: &Block6, b: &Block6) {
    for i in 0..6 {
        for k in 0..6 {
            let factor = a[i * 6 + k];
            for j in 0..6 {
                out[i * 6 + j] -= factor * b[k * 6 + j];
            }
        }
    }
}

fn subtract(out: &mut [f64; 6], a: &Block6, x: &[f64; 6]) {
    for i in 0..6 {
        let mut sum = 0.0;
        for j in 0..6 {
            sum += a[i * 6 + j] * x[j];
        }
        out[i] -= sum;
    }
}

/// Inverts a block by Gauss-Jordan elimination with row exchanges.
fn inverted(matrix: &Block6) -> Option<Block6> {
    let mut a = *matrix;
    let mut out = [0.0; 36];
    for i in 0..6 {
        out[i * 7] = 1.0;
    }
    for k in 0..6 {
        let mut pivot = k;
        for i in k + 1..6 {
            if a[i * 6 + k].abs() > a[pivot * 6 + k].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            for j in 0..6 {
                a.swap(k * 6 + j, pivot * 6 + j);
                out.swap(k * 6 + j, pivot * 6 + j);
            }
        }
        let scale = a[k * 7].recip();
        if !scale.is_finite() {
            return None;
        }
        for j in 0..6 {
            a[k * 6 + j] *= scale;
            out[k * 6 + j] *= scale;
        }
        for i in 0..6 {
            if i != k {
                let factor = a[i * 6 + k];
                for j in 0..6 {
                    a[i * 6 + j] -= factor * a[k * 6 + j];
                    out[i * 6 + j] -= factor * out[k * 6 + j];
                }
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a chain with a loop, the solve recovers the vector whose product with the matrix is the
    /// right-hand side.
    #[test]
    fn the_factors_solve_the_original_system() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)];
        let mut matrix = BlockMatrix::default();
        assert!(matrix.layout(5, edges.into_iter(), 1000).is_some());
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut dense = [[0.0; 30]; 30];
        let pairs = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        for (a, b) in (0..5).map(|i| (i, i)).chain(pairs) {
            let block = matrix.at(a, b);
            for i in 0..6 {
                for j in 0..6 {
                    let here = a == b && i == j;
                    block[i * 6 + j] = random() + if here { 20.0 } else { 0.0 };
                    dense[a as usize * 6 + i][b as usize * 6 + j] = block[i * 6 + j];
                }
            }
        }
        let wanted: Vec<f64> = (0..30).map(|_| random()).collect();
        let mut values = vec![[0.0; 6]; 5];
        for i in 0..30 {
            values[i / 6][i % 6] = (0..30).map(|j| dense[i][j] * wanted[j]).sum();
        }
        assert!(matrix.factor());
        matrix.solve(&mut values);
        for i in 0..30 {
            assert!((values[i / 6][i % 6] - wanted[i]).abs() < 1e-14);
        }
    }
}
