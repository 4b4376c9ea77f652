//! The convex cone program that results from De Saxce's change of variable for given sliding
//! speeds.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
};

use msd_problem::math::Vec3;

use super::cells::{Cells, Kind};

/// The program `min 1/2 r'Wr + (q + s)'r` over Coulomb's cones, solved by an interior-point method
/// whose structure is set up once.
pub(super) struct Program {
    solver: DefaultSolver<f64>,
}

impl Program {
    /// Sets up the program. Returns `None` if the solver rejects the data.
    pub fn new(cells: &Cells) -> Option<Self> {
        let n = 3 * cells.len();
        let (mut at, mut to, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (i, row) in cells.rows.iter().enumerate() {
            for (j, block) in row {
                let mirrored = cells.rows[*j].binary_search_by_key(&i, |(k, _)| *k);
                let mirrored = mirrored.map(|at| cells.rows[*j][at].1.transpose());
                // The symmetric part of a matrix that may not be exactly symmetric.
                let block = (*block + mirrored.unwrap_or_default()) * 0.5;
                for (slot, column) in (0..9).map(|k| (k % 3, k / 3)) {
                    let (row, column_of) = (3 * i + slot, 3 * j + column);
                    let value = block.col(column)[slot];
                    if row <= column_of && (value != 0.0 || row == column_of) {
                        at.push(row);
                        to.push(column_of);
                        values.push(value);
                    }
                }
            }
        }
        let objective = CscMatrix::new_from_triplets(n, n, at, to, values);
        let (mut columns, mut factors) = (Vec::new(), Vec::new());
        let mut cones: Vec<SupportedConeT<f64>> = Vec::new();
        for (i, kind) in cells.kinds.iter().enumerate() {
            match *kind {
                Kind::Bilateral => {}
                Kind::Unilateral => {
                    columns.push(3 * i);
                    factors.push(-1.0);
                    cones.push(NonnegativeConeT(1));
                }
                Kind::Contact { friction } => {
                    columns.extend(3 * i..3 * i + 3);
                    factors.extend([-friction, -1.0, -1.0]);
                    cones.push(SecondOrderConeT(3));
                }
            }
        }
        let count = columns.len();
        let inside = CscMatrix::new_from_triplets(count, n, (0..count).collect(), columns, factors);
        let settings = DefaultSettings {
            verbose: false,
            max_iter: 100,
            tol_gap_abs: 1e-11,
            tol_gap_rel: 1e-11,
            tol_feas: 1e-11,
            presolve_enable: false,
            ..DefaultSettings::default()
        };
        let right = vec![0.0; count];
        let solver =
            DefaultSolver::new(&objective, &vec![0.0; n], &inside, &right, &cones, settings);
        Some(Self { solver: solver.ok()? })
    }

    /// Returns the impulses for the linear term `q`, whatever their accuracy: they are only a
    /// start. Returns `None` if they are not finite.
    pub fn solve(&mut self, q: &[Vec3]) -> Option<Vec<Vec3>> {
        let q: Vec<f64> = q.iter().flat_map(|q| q.to_array()).collect();
        self.solver.update_q(&q).ok()?;
        self.solver.solve();
        let x = &self.solver.solution.x;
        if !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        Some(x.chunks_exact(3).map(Vec3::from_slice).collect())
    }
}
