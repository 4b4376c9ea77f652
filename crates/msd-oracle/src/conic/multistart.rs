//! Search from several starts until one converges.

use msd_problem::math::Vec3;

use super::block_lu::Pattern;
use super::cells::{Cells, Kind};
use super::interior::Interior;
use super::newton::Newton;
use super::program::Program;
use super::sweep::sweep;

/// The best impulses found, in the caller's rows, and their error by the caller's measure.
pub(super) struct Found {
    pub impulses: Vec<f64>,
    pub error: f64,
    pub iterations: usize,
}

/// Searches until `measure` is within `tolerance` or every start has been tried.
pub(super) fn multistart(
    cells: &Cells,
    measure: &dyn Fn(&[f64]) -> f64,
    start: &[f64],
    tolerance: f64,
    max_iterations: usize,
) -> Found {
    let pattern = Pattern::new(cells.len(), |i| cells.rows[i].iter().map(|(j, _)| *j));
    let impulses = vec![0.0; start.len()];
    let found = Found { error: f64::INFINITY, impulses, iterations: 0 };
    let mut search = Search { cells, measure, pattern: &pattern, tolerance, max_iterations, found };
    let nothing = vec![Vec3::ZERO; cells.len()];
    search.keep_if_better(&nothing);
    if !search.is_done() && start.iter().any(|r| *r != 0.0) {
        let start = cells.to_cells(start);
        search.keep_if_better(&start);
        search.newton(start, 30);
    }
    search.fixed_point(1);
    for far in [1.0, 32.0, 1024.0] {
        search.interior(far);
    }
    for round in 0..ROUNDS {
        if search.is_done() {
            break;
        }
        let mut r = cells.to_cells(&search.found.impulses);
        match round {
            0 => {}
            1 => r.clone_from(&nothing),
            _ => sweep(cells, &mut r, 100 * round),
        }
        search.proximal(r);
    }
    search.fixed_point(20);
    search.polish();
    search.found
}

/// Number of proximal-point runs.
const ROUNDS: usize = 6;

struct Search<'a> {
    cells: &'a Cells,
    measure: &'a dyn Fn(&[f64]) -> f64,
    pattern: &'a Pattern,
    tolerance: f64,
    max_iterations: usize,
    found: Found,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        self.found.error <= self.tolerance || self.found.iterations >= self.max_iterations
    }

    /// Keeps `r` if it is the best so far. Returns its error.
    fn keep_if_better(&mut self, r: &[Vec3]) -> f64 {
        let mut inside = r.to_vec();
        self.cells.project_onto_cones(&mut inside);
        let impulses = self.cells.to_rows(&inside);
        let error = (self.measure)(&impulses);
        if error < self.found.error {
            (self.found.impulses, self.found.error) = (impulses, error);
        }
        error
    }

    /// Takes Newton steps from `r` as long as they help.
    fn newton(&mut self, r: Vec<Vec3>, max_steps: usize) {
        let mut newton = Newton::new(self.cells, self.pattern, r);
        for _ in 0..max_steps {
            if self.is_done() || !newton.step() {
                break;
            }
            self.found.iterations += 1;
            self.keep_if_better(&newton.r);
        }
    }

    /// Takes a few final steps beyond the tolerance: near the solution they gain many digits, and
    /// make the result independent of the path that led here.
    fn polish(&mut self) {
        let mut newton =
            Newton::new(self.cells, self.pattern, self.cells.to_cells(&self.found.impulses));
        for _ in 0..8 {
            let before = newton.merit();
            if !newton.step() {
                break;
            }
            self.found.iterations += 1;
            self.keep_if_better(&newton.r);
            if newton.merit() > 0.5 * before {
                break;
            }
        }
    }

    /// Solves cone programs, each with the sliding speeds of the previous one, and takes Newton
    /// steps from each.
    fn fixed_point(&mut self, max_steps: usize) {
        if self.is_done() {
            return;
        }
        let Some(mut program) = Program::new(self.cells) else { return };
        let mut slide = vec![0.0; self.cells.len()];
        let mut relax: f64 = 1.0;
        let mut before = f64::INFINITY;
        for _ in 0..max_steps {
            let mut q = self.cells.q.clone();
            for (q, slide) in q.iter_mut().zip(&slide) {
                q.x += slide;
            }
            let Some(r) = program.solve(&q) else { return };
            self.found.iterations += 1;
            let error = self.keep_if_better(&r);
            self.newton(r.clone(), 40);
            if self.is_done() {
                return;
            }
            // Speeds that oscillate from program to program converge under relaxation.
            if error > 0.9 * before {
                relax = (0.7 * relax).max(0.1);
            }
            before = error;
            let u = self.cells.velocity(&r);
            for ((slide, kind), u) in slide.iter_mut().zip(&self.cells.kinds).zip(u) {
                if let Kind::Contact { friction } = kind {
                    *slide += relax * (friction * libm::hypot(u.y, u.z) - *slide);
                }
            }
        }
    }

    /// Runs the interior-point method on the law itself, and takes Newton steps from its iterates.
    fn interior(&mut self, far: f64) {
        let mut interior = Interior::new(self.cells, self.pattern, far);
        // Newton steps are worth trying each time the product has dropped to a tenth.
        let mut next = 1e-2;
        let mut stuck = 0;
        for _ in 0..100 {
            if self.is_done() || stuck > 5 {
                break;
            }
            let Some(length) = interior.step() else { break };
            self.found.iterations += 1;
            stuck = if length < 1e-2 { stuck + 1 } else { 0 };
            let product = interior.product();
            if product < next {
                self.keep_if_better(&interior.impulses());
                self.newton(interior.impulses(), 8);
                next = 0.1 * product;
            }
            // About the square of the rounding of numbers near one.
            if !(product > 1e-26) {
                break;
            }
        }
    }

    /// Iterates proximal points: each solves the law with a term that keeps it near the previous
    /// point, which is easy if the term is large, and converges fast if it is small.
    fn proximal(&mut self, mut center: Vec<Vec3>) {
        let mut prox = 1e-2;
        let mut tried = f64::INFINITY;
        for _ in 0..200 {
            let cells = self.cells.proximal(prox, &center);
            let mut newton = Newton::new(&cells, self.pattern, center.clone());
            let begin = newton.merit();
            let mut steps = newton.run(1e-3 * begin, 25);
            if newton.merit() > 0.1 * begin {
                let mut r = center.clone();
                sweep(&cells, &mut r, 30);
                newton = Newton::new(&cells, self.pattern, r);
                steps += newton.run(1e-3 * begin, 25);
            }
            self.found.iterations += steps.max(1);
            if self.is_done() {
                break;
            }
            if newton.merit() <= 0.1 * begin {
                center = newton.r;
                self.keep_if_better(&center);
                if begin < 0.3 * tried {
                    tried = begin;
                    self.newton(center.clone(), 6);
                }
                if steps <= 8 {
                    prox = (prox * 0.5).max(1e-9);
                }
            } else if prox < 10.0 {
                prox *= 4.0;
            } else {
                break;
            }
        }
    }
}
