//! An interior-point method on Coulomb's law itself.
//!
//! The cone program takes sliding speeds as given; here they are unknowns. With every cone
//! stretched to the round cone of slope one, `x` is the impulse and `y` De Saxce's velocity: both
//! stay inside, `y = u + |y_t| n` holds in the limit, and their product goes to zero.

use msd_problem::math::{Mat3, Vec3};

use super::block_lu::{Pattern, inverse};
use super::cells::{Cells, Kind};

/// The state of the method.
pub(super) struct Interior<'a> {
    cells: &'a Cells,
    pattern: &'a Pattern,
    x: Vec<Vec3>,
    y: Vec<Vec3>,
    /// Share of the product that the next step aims for.
    centring: f64,
}

impl<'a> Interior<'a> {
    /// Starts in the middle of all cones, `far` from their apexes.
    pub fn new(cells: &'a Cells, pattern: &'a Pattern, far: f64) -> Self {
        let inside =
            |kind: &Kind| if *kind == Kind::Bilateral { Vec3::ZERO } else { Vec3::X * far };
        let x: Vec<Vec3> = cells.kinds.iter().map(inside).collect();
        Self { cells, pattern, y: x.clone(), x, centring: 0.5 }
    }

    /// Returns the impulses.
    pub fn impulses(&self) -> Vec<Vec3> {
        self.x.iter().zip(&self.cells.kinds).map(|(x, kind)| *x / stretch(*kind)).collect()
    }

    /// Returns the mean product of impulse and velocity.
    pub fn product(&self) -> f64 {
        let sum: f64 = self.x.iter().zip(&self.y).map(|(x, y)| x.dot(*y)).sum();
        let cones = self.cells.kinds.iter().filter(|kind| **kind != Kind::Bilateral).count();
        sum / cones.max(1) as f64
    }

    /// Takes one step. Returns the fraction of it taken, or `None` if there is no direction.
    pub fn step(&mut self) -> Option<f64> {
        let cells = self.cells;
        let u = cells.velocity(&self.impulses());
        let target = self.centring * self.product();
        // The residual is reduced at the same rate as the product.
        let pace = 1.0 - self.centring;
        let mut right = Vec::with_capacity(cells.len());
        let mut added = Vec::with_capacity(cells.len());
        let mut halves = Vec::with_capacity(cells.len());
        for (i, kind) in cells.kinds.iter().enumerate() {
            let (x, y) = (self.x[i], self.y[i]);
            let u = u[i] / stretch(*kind);
            match kind {
                Kind::Bilateral => {
                    right.push(-u * pace);
                    added.push(Mat3::from_diagonal(Vec3::splat(PROX)));
                    halves.push((Mat3::ZERO, Vec3::ZERO));
                }
                Kind::Unilateral => {
                    let wanted = (target - x.x * y.x) / x.x;
                    right.push(Vec3::new((y.x - u.x) * pace + wanted, -u.y, -u.z));
                    added.push(Mat3::from_diagonal(Vec3::X * (y.x / x.x + PROX)));
                    halves.push((Mat3::from_diagonal(Vec3::X * (y.x / x.x)), Vec3::X * wanted));
                }
                Kind::Contact { .. } => {
                    let sliding = libm::hypot(y.y, y.z);
                    let lift =
                        if sliding > 0.0 { Vec3::new(0.0, y.y, y.z) / sliding } else { Vec3::ZERO };
                    let wanting = Vec3::X * target - jordan(x, y);
                    let back = inverse(arrow(x))?;
                    let (ratio, wanted) = (back * arrow(y), back * wanting);
                    let flat = Mat3::from_cols(
                        Vec3::X,
                        Vec3::Y - Vec3::X * lift.y,
                        Vec3::Z - Vec3::X * lift.z,
                    );
                    right.push((y - u - Vec3::X * sliding) * pace + flat * wanted);
                    added.push(flat * ratio + Mat3::from_diagonal(Vec3::splat(PROX)));
                    halves.push((ratio, wanted));
                }
            }
        }
        let fill = |i: usize, set: &mut dyn FnMut(usize, Mat3)| {
            let own = stretch(cells.kinds[i]);
            for (j, block) in &cells.rows[i] {
                let other = stretch(cells.kinds[*j]);
                let mut entry = *block;
                for column in 0..3 {
                    *entry.col_mut(column) /= own * other[column];
                }
                if *j == i {
                    entry += added[i];
                }
                set(*j, entry);
            }
        };
        if !self.pattern.solve(fill, &mut right) {
            return None;
        }
        let dy: Vec<Vec3> =
            halves.iter().zip(&right).map(|((ratio, wanted), dx)| *wanted - *ratio * *dx).collect();
        let mut room: f64 = 1.0 / 0.95;
        for (i, kind) in cells.kinds.iter().enumerate() {
            room = match kind {
                Kind::Bilateral => room,
                Kind::Unilateral | Kind::Contact { .. } => room
                    .min(until_outside(self.x[i], right[i]))
                    .min(until_outside(self.y[i], dy[i])),
            };
        }
        let length = 0.95 * room;
        for (i, kind) in cells.kinds.iter().enumerate() {
            self.x[i] += right[i] * length;
            if *kind != Kind::Bilateral {
                self.y[i] += dy[i] * length;
            }
        }
        self.centring = ((1.0 - length) * (1.0 - length)).clamp(0.05, 0.9);
        Some(length)
    }
}

/// Regularization that keeps redundant joints from making the matrix singular.
const PROX: f64 = 1e-13;

/// Returns the factors that map a contact's impulse into the round cone.
fn stretch(kind: Kind) -> Vec3 {
    match kind {
        Kind::Contact { friction } => Vec3::new(friction, 1.0, 1.0),
        Kind::Unilateral | Kind::Bilateral => Vec3::ONE,
    }
}

fn jordan(x: Vec3, y: Vec3) -> Vec3 {
    Vec3::new(x.dot(y), x.x * y.y + y.x * x.y, x.x * y.z + y.x * x.z)
}

fn arrow(x: Vec3) -> Mat3 {
    Mat3::from_cols(x, Vec3::new(x.y, x.x, 0.0), Vec3::new(x.z, 0.0, x.x))
}

/// Returns the distance from `x` along `d` at which the round cone ends.
fn until_outside(x: Vec3, d: Vec3) -> f64 {
    let cross = |a: Vec3, b: Vec3| a.x * b.x - a.y * b.y - a.z * b.z;
    // The quadratic of x + t d is positive inside the cone: find its first positive root.
    let c = {
        let across = libm::hypot(x.y, x.z);
        (x.x - across) * (x.x + across)
    };
    let (a, b) = (cross(d, d), cross(x, d));
    let tip = if d.x < 0.0 { -x.x / d.x } else { f64::INFINITY };
    let disc = b * b - a * c;
    if disc < 0.0 {
        return tip;
    }
    let root = disc.sqrt();
    let mut first = tip;
    let s = -b - if b >= 0.0 { root } else { -root };
    for t in [s / a, c / s] {
        if t > 0.0 && t < first {
            first = t;
        }
    }
    first
}
