//! An interior-point method for islands in which rounds of Newton's method fail: walls and other structures at rest,
//! where many contacts touch without a load, and which of them push is not known.
//!
//! With the De Saxce shift, Coulomb's law says that the impulse `r` and the velocity `y = u + mu |u_t| n` of a contact
//! are in the cone of friction and in its dual, and orthogonal. Scaled along the normal by `mu`, both cones are that of
//! slope 1. The method keeps `x = (mu r_n, r_t)` and `z = (y_n / mu, y_t)` inside it, with `x` near `t z^-1` in the
//! algebra of the cone, while `t` goes to zero. Each step linearizes this with the scaling `H` that takes `z` to `x`
//! (Nesterov and Todd), which leaves a system as sparse as that of Newton's method:
//!
//! ```text
//! (M + J^T H J) dv = J^T (t z^-1 - H (y - z)) - M d
//! ```
//!
//! The shift is that of the velocity before the step. Where nothing slips it is zero, and without it the problem is
//! convex: the method finds impulses that hold a structure in place, if there are any.
//!
//! Wedged blocks, as those of a dome, can press on each other with any force, and the impulses inside their cones would
//! have no bound. A little softness `e`, `z = y + e x`, bounds them; it goes to zero as the steps succeed, and leaves those
//! of least norm. With it `H` becomes `(1 + e H)^-1 H`. Contacts without friction have the normal row only.

use super::block6::Vector6;
use super::newton::Newton;
use super::row_groups::{Kind, RowGroup, lane_of, packed, spatial};
use super::{Residual, norm};
use crate::math::{Mat3, SpatialVector, Vec3};

/// Share of the way to the boundary of a cone that a step may go: at least, and at most, if without the bound the mean
/// product would nearly vanish.
const STEP: (f64, f64) = (0.98, 1.0 - 1e-6);

/// The method ends at steps shorter than this, and at a mean product `x . z` below this fraction of that of the
/// island's largest speed.
const SHORTEST_STEP: f64 = 1e-3;
const SMALLEST_PRODUCT: f64 = 1e-18;

/// Distance of the start from the boundary, in units of the residual, and at least; relative to the largest speed, and for
/// impulses to that of the heaviest body, because any contact may carry it.
const START: (f64, f64) = (10.0, 1e-9);

/// Softness relative to a contact's own `delassus` at the start, and its factor after a step longer than this.
const SOFTNESS: f64 = 1e-6;
const HARDENING: f64 = 0.1;
const LONG_STEP: f64 = 0.9;

/// Smallest ratio of two successive `t`.
const FASTEST: f64 = 1e-8;

/// A contact inside its cone.
#[derive(Clone, Copy, Debug)]
struct Inner {
    group: u32,
    lane: u32,
    /// Zero for blocks with the normal row only.
    friction: f64,
    delassus: f64,
    /// `e`.
    softness: f64,
    x: Vec3,
    z: Vec3,
    dx: Vec3,
    dz: Vec3,
    /// `y` at the current velocity, minus `z`.
    excess: Vec3,
    /// `H`.
    scaling: Mat3,
    /// `(1 + e H)^-1`.
    softened: Mat3,
    inverse_z: Vec3,
}

impl Inner {
    fn is_cone(&self) -> bool {
        self.friction > 0.0
    }

    /// Returns an impulse, or a product of `H`, along the rows of the block.
    fn along_rows(&self, v: Vec3) -> Vec3 {
        if self.is_cone() { Vec3::new(v.x / self.friction, v.y, v.z) } else { v }
    }

    /// Returns a velocity along the rows as one of `z`.
    fn scaled_velocity(&self, u: Vec3) -> Vec3 {
        match self.is_cone() {
            true => Vec3::new(u.x / self.friction, u.y, u.z),
            false => Vec3::new(u.x, 0.0, 0.0),
        }
    }

    /// Computes `H` and the inverse of `z`.
    fn compute_scaling(&mut self) {
        if !self.is_cone() {
            let scaling = self.x.x / self.z.x;
            self.scaling = Mat3::from_diagonal(Vec3::new(scaling, 0.0, 0.0));
            self.softened =
                Mat3::from_diagonal(Vec3::new((1.0 + self.softness * scaling).recip(), 1.0, 1.0));
            self.inverse_z = Vec3::new(self.z.x.recip(), 0.0, 0.0);
            return;
        }
        let (det_x, det_z) = (determinant(self.x), determinant(self.z));
        let (x, z) = (self.x / det_x.sqrt(), self.z / det_z.sqrt());
        let w = (x + mirrored(z)) / (2.0 * (1.0 + x.dot(z))).sqrt();
        let size = (det_x / det_z).sqrt();
        let outer = Mat3::from_cols(w * w.x, w * w.y, w * w.z);
        self.scaling = (outer * 2.0 - Mat3::from_diagonal(mirrored(Vec3::ONE))) * size;
        self.softened = (Mat3::IDENTITY + self.scaling * self.softness).inverse();
        self.inverse_z = mirrored(self.z) / det_z;
    }

    /// Returns the entries of `H` for the rows of the block.
    fn weights(&self) -> [f64; 6] {
        let weights = self.softened * self.scaling;
        let [xx, xy, xz] = weights.x_axis.to_array();
        let [yy, yz, zz] = [weights.y_axis.y, weights.y_axis.z, weights.z_axis.z];
        let by = if self.is_cone() { self.friction } else { 1.0 };
        [xx / (by * by), xy / by, xz / by, yy, yz, zz]
    }

    /// Returns the longest step that leaves `x` and `z` in their cones.
    fn longest_step(&self) -> f64 {
        match self.is_cone() {
            true => cone_step(self.x, self.dx).min(cone_step(self.z, self.dz)),
            false => ray_step(self.x.x, self.dx.x).min(ray_step(self.z.x, self.dz.x)),
        }
    }
}

fn determinant(v: Vec3) -> f64 {
    let across = norm(v.y, v.z);
    (v.x - across) * (v.x + across)
}

fn mirrored(v: Vec3) -> Vec3 {
    Vec3::new(v.x, -v.y, -v.z)
}

/// Returns the largest `t` such that `x + t d` is not negative.
fn ray_step(x: f64, d: f64) -> f64 {
    if d < 0.0 { -x / d } else { f64::INFINITY }
}

/// Returns the largest `t` such that `x + t d` is in the cone, for `x` inside it.
fn cone_step(x: Vec3, d: Vec3) -> f64 {
    let product = |a: Vec3, b: Vec3| a.x * b.x - a.y * b.y - a.z * b.z;
    // The boundary is where a t^2 + 2 b t + c is zero.
    let (a, b, c) = (product(d, d), product(x, d), determinant(x));
    let mut longest = ray_step(x.x, d.x);
    let root = b * b - a * c;
    if root >= 0.0 {
        let q = -(b + root.sqrt().copysign(b));
        for t in [q / a, c / q] {
            if t > 0.0 {
                longest = longest.min(t);
            }
        }
    }
    longest
}

/// The buffers of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    contacts: Vec<Inner>,
    direction: Vec<Vector6>,
    sums: Vec<SpatialVector>,
}

impl Newton {
    /// Takes up to `max_steps` steps from the current multipliers and velocities, whose residual is `start`, and
    /// leaves the result in the multipliers. The De Saxce shift is multiplied by `shift`. Returns the number of steps.
    pub(super) fn interior(&mut self, start: &Residual, shift: f64, max_steps: u32) -> u32 {
        let mut inside = std::mem::take(&mut self.inside);
        let steps = self.step_inside(start, shift, max_steps, &mut inside);
        self.inside = inside;
        steps
    }

    fn step_inside(
        &mut self,
        start: &Residual,
        shift: f64,
        max_steps: u32,
        inside: &mut Inside,
    ) -> u32 {
        let Inside { contacts: inner, direction, sums } = inside;
        self.enter_cones(start, inner);
        let mut steps = 0;
        while steps < max_steps && !inner.is_empty() {
            self.linearize(inner, shift);
            if !self.factor_barrier() {
                break;
            }
            steps += 1;
            let product = mean_product(inner, 0.0);
            // To the boundary, to see how far `t` may be reduced; then to that `t`.
            let length = self.find_step(inner, [0.0, 1.0], direction, sums);
            let ratio = (mean_product(inner, length) / product).clamp(0.0, 1.0);
            let target = product * ratio.powi(3).clamp(FASTEST, 1.0);
            let share = (1.0 - ratio).clamp(STEP.0, STEP.1);
            let length = self.find_step(inner, [target, share], direction, sums);
            for item in inner.iter_mut() {
                item.x += item.dx * length;
                item.z += item.dz * length;
                if length > LONG_STEP {
                    item.softness *= HARDENING;
                }
            }
            for (change, step) in self.change.iter_mut().zip(&*direction) {
                *change = packed(&(spatial(change) + spatial(step) * length));
            }
            let relative = |item: &Inner| item.x.dot(item.z) * item.delassus;
            let sum: f64 = inner.iter().map(relative).sum();
            let small = SMALLEST_PRODUCT * start.scale * start.scale * inner.len() as f64;
            if !(length > SHORTEST_STEP && sum > small) {
                break;
            }
        }
        for item in &*inner {
            let impulse = item.along_rows(item.x);
            self.groups[item.group as usize].set_multiplier(item.lane as usize, impulse);
        }
        steps
    }

    /// Fills `inner` with all contacts, moved inside their cones.
    fn enter_cones(&self, start: &Residual, inner: &mut Vec<Inner>) {
        let least = start.scale * (START.0 * start.relative()).max(START.1);
        let heaviest = self.masses.iter().fold(0.0_f64, |most, &(mass, _)| most.max(mass));
        inner.clear();
        for (number, group) in self.groups.iter().enumerate() {
            let lanes = if group.kind == Kind::Bilateral { 0 } else { group.count };
            for lane in (0..lanes).filter(|&lane| group.delassus.0[lane] > 0.0) {
                let delassus = group.delassus.0[lane];
                let friction = group.friction.0[lane];
                let r = lane_of(&group.multiplier, lane);
                let u = velocity(group, lane, &self.change);
                let (x, z) = if friction > 0.0 {
                    let (grip, slip) = (norm(r.y, r.z), norm(u.y, u.z));
                    let push = (friction * r.x).max(grip + friction * least * heaviest);
                    let away = (u.x / friction + slip).max(slip + least / friction);
                    (Vec3::new(push, r.y, r.z), Vec3::new(away, u.y, u.z))
                } else {
                    (Vec3::X * r.x.max(least * heaviest), Vec3::X * u.x.max(least))
                };
                inner.push(Inner {
                    group: number as u32,
                    lane: lane as u32,
                    friction,
                    delassus,
                    x,
                    z,
                    dx: Vec3::ZERO,
                    dz: Vec3::ZERO,
                    excess: Vec3::ZERO,
                    softness: SOFTNESS * delassus,
                    scaling: Mat3::ZERO,
                    softened: Mat3::ZERO,
                    inverse_z: Vec3::ZERO,
                });
            }
        }
    }

    /// Computes the scaling of each contact and how far `z` is from its velocity.
    fn linearize(&mut self, inner: &mut [Inner], shift: f64) {
        for item in inner {
            let group = &mut self.groups[item.group as usize];
            let lane = item.lane as usize;
            let mut u = velocity(group, lane, &self.change);
            u.x += shift * item.friction * norm(u.y, u.z);
            item.excess = item.scaled_velocity(u) + item.x * item.softness - item.z;
            item.compute_scaling();
            for (to, weight) in group.weights.iter_mut().zip(item.weights()) {
                to.0[lane] = weight;
            }
        }
    }

    /// Factors the matrix with the weights of the contacts.
    fn factor_barrier(&mut self) -> bool {
        self.groups.iter_mut().for_each(|group| group.is_weighted = true);
        let factored = self.factor();
        self.groups.iter_mut().for_each(|group| group.is_weighted = false);
        factored
    }

    /// Finds the direction toward `t`, for every contact and for the velocities. Returns the length of the step along
    /// it: 1, or a share of the way to the boundary.
    fn find_step(
        &mut self,
        inner: &mut [Inner],
        [t, share]: [f64; 2],
        direction: &mut Vec<Vector6>,
        sums: &mut Vec<SpatialVector>,
    ) -> f64 {
        let momentum = |(change, (mass, inertia)): (&Vector6, &(f64, _))| {
            let SpatialVector { linear, angular } = spatial(change);
            SpatialVector::new(linear * *mass, *inertia * angular) * -1.0
        };
        sums.clear();
        sums.extend(self.change.iter().zip(&self.masses).map(momentum));
        for item in &*inner {
            let toward = item.inverse_z * t - item.x - item.scaling * item.excess;
            let impulse = item.x + item.softened * toward;
            let group = &self.groups[item.group as usize];
            add_impulse(group, item.lane as usize, item.along_rows(impulse), sums);
        }
        // Joints: as if their rows had weight `rho`.
        for group in self.groups.iter().filter(|group| group.kind == Kind::Bilateral) {
            for lane in 0..group.count {
                let (rho, softness) = (group.rho.0[lane], group.softness.0[lane]);
                let u = velocity(group, lane, &self.change);
                let impulse = (lane_of(&group.multiplier, lane) - u * rho) / (1.0 + rho * softness);
                add_impulse(group, lane, impulse, sums);
            }
        }
        direction.clear();
        direction.extend(sums.iter().map(packed));
        self.solve_factored(direction);
        direction.push(Vector6::ZERO);
        let mut length: f64 = 1.0;
        for item in inner {
            let group = &self.groups[item.group as usize];
            let change = relative_velocity(group, item.lane as usize, direction);
            let dz = item.excess + item.scaled_velocity(change);
            item.dx = item.softened * (item.inverse_z * t - item.x - item.scaling * dz);
            item.dz = dz + item.dx * item.softness;
            length = length.min(share * item.longest_step());
        }
        length
    }
}

/// Returns the mean of `x . z` after a step of the given length.
fn mean_product(inner: &[Inner], length: f64) -> f64 {
    let product = |item: &Inner| (item.x + item.dx * length).dot(item.z + item.dz * length);
    inner.iter().map(product).sum::<f64>() / inner.len() as f64
}

fn add_impulse(group: &RowGroup, lane: usize, impulse: Vec3, sums: &mut [SpatialVector]) {
    for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let Some(sum) = sums.get_mut(group.bodies[side] as usize) else { continue };
        for i in 0..3 {
            let by = sign * impulse[i];
            sum.linear += lane_of(&group.linear[i], lane) * by;
            sum.angular += lane_of(&group.angular[side][i], lane) * by;
        }
    }
}

/// Returns the relative velocity of a block's rows due to velocity changes.
fn relative_velocity(group: &RowGroup, lane: usize, change: &[Vector6]) -> Vec3 {
    let [a, b] = group.bodies.map(|body| spatial(&change[body as usize]));
    let along = b.linear - a.linear;
    Vec3::from_array([0, 1, 2].map(|i| {
        let [arm_a, arm_b] = [0, 1].map(|side| lane_of(&group.angular[side][i], lane));
        lane_of(&group.linear[i], lane).dot(along) + arm_b.dot(b.angular) - arm_a.dot(a.angular)
    }))
}

/// Returns the relative velocity of a block's rows, offset included.
fn velocity(group: &RowGroup, lane: usize, change: &[Vector6]) -> Vec3 {
    lane_of(&group.free_velocity, lane) + relative_velocity(group, lane, change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scaling_takes_the_velocity_to_the_impulse() {
        let mut item = Inner {
            group: 0,
            lane: 0,
            friction: 0.5,
            delassus: 1.0,
            x: Vec3::new(3.0, 1.0, -2.0),
            z: Vec3::new(0.7, -0.1, 0.5),
            dx: Vec3::ZERO,
            dz: Vec3::ZERO,
            excess: Vec3::ZERO,
            softness: 0.0,
            scaling: Mat3::ZERO,
            softened: Mat3::ZERO,
            inverse_z: Vec3::ZERO,
        };
        item.compute_scaling();
        assert!((item.scaling * item.z - item.x).length() < 1e-14);
        // z z^-1 = (1, 0, 0) in the algebra of the cone: (a . b, a_0 b_1 + b_0 a_1, ...).
        let (z, inverse) = (item.z, item.inverse_z);
        let product = z * inverse.x + inverse * z.x;
        assert!((z.dot(inverse) - 1.0).abs() < 1e-14 && norm(product.y, product.z) < 1e-14);
    }

    #[test]
    fn steps_end_at_the_boundary_of_the_cone() {
        let x = Vec3::new(3.0, 1.0, -2.0);
        for d in [
            Vec3::new(-1.0, 0.3, 0.2),
            Vec3::new(0.1, 2.0, 0.0),
            Vec3::new(-5.0, 0.0, 0.0),
            Vec3::new(1.0, -2.0, 2.5),
        ] {
            let end = x + d * cone_step(x, d);
            assert!(determinant(end).abs() < 1e-13 && end.x >= 0.0, "{end}");
            assert!(determinant(x + d * (0.99 * cone_step(x, d))) > 0.0);
        }
        assert_eq!(cone_step(x, Vec3::X), f64::INFINITY);
    }
}
