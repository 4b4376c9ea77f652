//! The scaled problem: cells of three rows.

use msd_problem::math::{Mat3, Vec3};

use crate::dense::inverse_root_scale;

/// The law of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Three rows `[N, T1, T2]` with positive friction.
    Contact { friction: f64 },
    /// One row with a non-negative impulse.
    Unilateral,
    /// Rows whose velocity must be zero.
    Bilateral,
}

/// The law of a cell, and its rows in the caller's problem.
pub(super) type Cell = (Kind, Vec<usize>);

/// The problem `u = W r + q` in cells. Unused rows of a cell have a unit diagonal and zero `q`, so
/// that they stay zero.
///
/// Each cell is scaled by a power of two so that its diagonal is about one, and `q` is scaled to
/// about one. The three rows of a contact share one scale, because its cone is round; other rows
/// are scaled individually.
#[derive(Clone)]
pub(super) struct Cells {
    pub kinds: Vec<Kind>,
    /// For each block row, the coupled cells, ascending, itself included.
    pub rows: Vec<Vec<(usize, Mat3)>>,
    pub q: Vec<Vec3>,
    places: Vec<Vec<usize>>,
    /// `r = scale r'`.
    scale: Vec<Vec3>,
    count: usize,
}

impl Cells {
    pub fn new<'a>(cells: Vec<Cell>, matrix: &dyn Fn(usize) -> &'a [f64], free: &[f64]) -> Self {
        // A cell that no impulse can move needs none, and its impulse would grow without bound.
        let moves = |cell: &Cell| cell.1.iter().any(|&i| matrix(i)[i] > 0.0);
        let (kinds, places): (Vec<Kind>, Vec<Vec<usize>>) = cells
            .into_iter()
            .map(|cell| if moves(&cell) { cell } else { (Kind::Bilateral, Vec::new()) })
            .unzip();
        let mut scale = Vec::with_capacity(kinds.len());
        for (kind, rows) in kinds.iter().zip(&places) {
            let mut own = [1.0; 3];
            for (own, &i) in own.iter_mut().zip(rows) {
                *own = inverse_root_scale(matrix(i)[i]);
            }
            if let Kind::Contact { .. } = kind {
                let trace: f64 = rows.iter().map(|&i| matrix(i)[i]).sum();
                own = [inverse_root_scale(trace / 3.0); 3];
            }
            scale.push(Vec3::from_array(own));
        }
        let mut cells = Self {
            rows: block_rows(&places, &scale, matrix, free.len()),
            q: places.iter().zip(&scale).map(|(rows, scale)| gather(rows, free) * *scale).collect(),
            kinds,
            places,
            scale,
            count: free.len(),
        };
        let largest = cells.q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs().max_element()));
        if largest > 0.0 {
            let unit = libm::scalbn(1.0, libm::ilogb(largest));
            for (q, scale) in cells.q.iter_mut().zip(&mut cells.scale) {
                *q /= unit;
                *scale *= unit;
            }
        }
        cells
    }

    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns `W r + q`.
    pub fn velocity(&self, r: &[Vec3]) -> Vec<Vec3> {
        (0..self.len()).map(|i| self.velocity_of(i, r)).collect()
    }

    pub fn velocity_of(&self, cell: usize, r: &[Vec3]) -> Vec3 {
        self.rows[cell].iter().fold(self.q[cell], |sum, (j, block)| sum + *block * r[*j])
    }

    /// Returns the diagonal block.
    pub fn diagonal(&self, cell: usize) -> Mat3 {
        let row = &self.rows[cell];
        row.binary_search_by_key(&cell, |(j, _)| *j).map_or(Mat3::ZERO, |at| row[at].1)
    }

    /// Returns the problem with a proximal term around `center`: `u = W r + q + prox (r - center)`.
    pub fn proximal(&self, prox: f64, center: &[Vec3]) -> Self {
        let mut near = self.clone();
        for (i, row) in near.rows.iter_mut().enumerate() {
            if let Ok(at) = row.binary_search_by_key(&i, |(j, _)| *j) {
                row[at].1 += Mat3::from_diagonal(Vec3::splat(prox));
            }
            near.q[i] -= center[i] * prox;
        }
        near
    }

    /// Moves impulses that rounding has left outside their cones into them.
    pub fn project_onto_cones(&self, r: &mut [Vec3]) {
        for (kind, r) in self.kinds.iter().zip(r) {
            match *kind {
                Kind::Bilateral => {}
                Kind::Unilateral => r.x = r.x.max(0.0),
                Kind::Contact { friction } => {
                    r.x = r.x.max(0.0);
                    let (length, limit) = (libm::hypot(r.y, r.z), friction * r.x);
                    if length > limit {
                        r.y *= limit / length;
                        r.z *= limit / length;
                    }
                }
            }
        }
    }

    /// Converts the caller's impulses into cells.
    pub fn to_cells(&self, impulses: &[f64]) -> Vec<Vec3> {
        let cells = self.places.iter().zip(&self.scale);
        cells.map(|(rows, scale)| gather(rows, impulses) / *scale).collect()
    }

    /// Converts impulses back into the caller's rows; rows that take no part are zero.
    pub fn to_rows(&self, r: &[Vec3]) -> Vec<f64> {
        let mut impulses = vec![0.0; self.count];
        for ((rows, scale), r) in self.places.iter().zip(&self.scale).zip(r) {
            for (&i, value) in rows.iter().zip((*r * *scale).to_array()) {
                impulses[i] = value;
            }
        }
        impulses
    }
}

fn gather(rows: &[usize], values: &[f64]) -> Vec3 {
    let mut found = [0.0; 3];
    for (slot, &i) in found.iter_mut().zip(rows) {
        *slot = values[i];
    }
    Vec3::from_array(found)
}

fn block_rows<'a>(
    places: &[Vec<usize>],
    scale: &[Vec3],
    matrix: &dyn Fn(usize) -> &'a [f64],
    count: usize,
) -> Vec<Vec<(usize, Mat3)>> {
    let mut owner = vec![None; count];
    for (cell, rows) in places.iter().enumerate() {
        for (slot, &i) in rows.iter().enumerate() {
            owner[i] = Some((cell, slot));
        }
    }
    let mut position = vec![usize::MAX; places.len()];
    let mut found = Vec::with_capacity(places.len());
    for (cell, rows) in places.iter().enumerate() {
        let mut row: Vec<(usize, Mat3)> = vec![(cell, Mat3::ZERO)];
        position[cell] = 0;
        for (slot, &i) in rows.iter().enumerate() {
            for (value, owner) in matrix(i).iter().zip(&owner) {
                let Some((other, column)) = *owner else { continue };
                if *value == 0.0 {
                    continue;
                }
                if position[other] == usize::MAX {
                    position[other] = row.len();
                    row.push((other, Mat3::ZERO));
                }
                let block = &mut row[position[other]].1;
                block.col_mut(column)[slot] = scale[cell][slot] * value * scale[other][column];
            }
        }
        for slot in rows.len()..3 {
            row[0].1.col_mut(slot)[slot] = 1.0;
        }
        for (other, _) in &row {
            position[*other] = usize::MAX;
        }
        row.sort_by_key(|(other, _)| *other);
        found.push(row);
    }
    found
}
