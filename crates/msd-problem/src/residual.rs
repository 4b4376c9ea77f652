//! The residual of a solution: how far it is from the laws of its problem.

use crate::math::{Mat3, Vec3};
use crate::problem::{Block, Law, SolverBody};

/// The violation of every law by a solution, in m/s, and the speed to compare it with.
///
/// All methods use the same residual. Impulses are converted into speeds by the block's own
/// `delassus` (`w` below).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[doc(alias = "error")]
pub struct Residual {
    /// Largest `|min(u_n, w r_n)|`: a penetrating velocity, a pulling impulse, or an impulse at a
    /// separating contact.
    pub signorini: f64,
    /// Largest excess of a tangential impulse over the friction cone, as a speed.
    pub cone: f64,
    /// Largest deviation from maximum dissipation: friction below the limit although the point
    /// slides, or not opposite to its sliding.
    pub dissipation: f64,
    /// Largest velocity error of a joint's rows.
    pub joint: f64,
    /// The largest speed in the problem: that of a point, or the speed due to an impulse alone.
    pub scale: f64,
}

impl Residual {
    /// Returns the largest violation relative to the problem's speeds: 0 is exact.
    #[inline]
    pub fn relative(&self) -> f64 {
        let worst = self.largest();
        // Subnormal speeds have no meaningful relative error.
        if worst <= f64::MIN_POSITIVE {
            0.0
        } else if worst.is_nan() {
            f64::INFINITY
        } else {
            worst / self.scale
        }
    }

    /// Returns the largest violation, in m/s.
    #[inline]
    pub fn largest(&self) -> f64 {
        worse(worse(self.signorini, self.cone), worse(self.dissipation, self.joint))
    }

    /// Returns the component-wise maximum of two residuals; a NaN is larger than any number.
    #[inline]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            signorini: worse(self.signorini, other.signorini),
            cone: worse(self.cone, other.cone),
            dissipation: worse(self.dissipation, other.dissipation),
            joint: worse(self.joint, other.joint),
            scale: worse(self.scale, other.scale),
        }
    }
}

/// Returns the larger number, or NaN if one is NaN.
#[inline]
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns the residual of the impulses in the blocks. Every block's `delassus` must be filled.
#[inline]
pub fn residual(bodies: &[SolverBody], blocks: &[Block]) -> Residual {
    let mut worst = Residual::default();
    for block in blocks {
        worst = worst.max(&block_residual(block, block.velocity(bodies) + block.offset));
    }
    worst
}

/// Returns the block with the largest violation, and that violation in m/s; NaN counts as infinite.
#[inline]
pub fn worst_block(bodies: &[SolverBody], blocks: &[Block]) -> Option<(usize, f64)> {
    let far = |block: &Block| {
        let found = block_residual(block, block.velocity(bodies) + block.offset).largest();
        if found.is_nan() { f64::INFINITY } else { found }
    };
    let all = blocks.iter().map(far).enumerate();
    all.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

/// Returns the residual of one block whose relative velocity, offset included, is `u`.
#[inline]
pub fn block_residual(block: &Block, u: Vec3) -> Residual {
    let r = block.impulse;
    let normal = block.delassus.x_axis.x;
    let mut found = Residual::default();
    match block.law {
        Law::Contact { friction } => {
            let (slip, push) = ((u.y, u.z), (r.y, r.z));
            found.signorini = u.x.min(normal * r.x).abs();
            found.scale = (u - block.offset).length().max(normal * r.x.abs());
            // No load, no friction. A slip that is not finite is an error all the same.
            if r == Vec3::ZERO && slip.0 * 0.0 + slip.1 * 0.0 == 0.0 {
                return found;
            }
            let across = max_tangent_delassus(&block.delassus);
            let limit = friction * r.x.max(0.0);
            let length = norm(push.0, push.1);
            found.cone = across * (length - limit).max(0.0);
            if across > 0.0 {
                let wanted = into_disk((push.0 - slip.0 / across, push.1 - slip.1 / across), limit);
                found.dissipation = across * norm(push.0 - wanted.0, push.1 - wanted.1);
            }
        }
        Law::Unilateral => {
            found.signorini = u.x.min(normal * r.x).abs();
            found.scale = (u.x - block.offset.x).abs().max(normal * r.x.abs());
        }
        Law::Bilateral { rows } => {
            let error = u + r * block.softness;
            for i in 0..rows {
                // Of a soft row's error, only this share would become a velocity of the bodies.
                let delassus = block.delassus.col(i)[i];
                let share =
                    if block.softness > 0.0 { delassus / (delassus + block.softness) } else { 1.0 };
                found.joint = found.joint.max(error[i].abs() * share);
                let speed = (u[i] - block.offset[i]).abs();
                found.scale = found.scale.max(speed).max(delassus * r[i].abs());
            }
        }
    }
    found
}

/// Returns the largest eigenvalue of the tangential 2 by 2 part.
#[inline]
pub fn max_tangent_delassus(delassus: &Mat3) -> f64 {
    let (a, b, c) = (delassus.y_axis.y, delassus.z_axis.z, delassus.y_axis.z);
    0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt()
}

/// Returns the length of a tangential vector. The squares of impulses do not overflow.
#[inline]
pub fn norm(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

/// Projects `v` onto the disk of radius `limit`.
#[inline]
fn into_disk(v: (f64, f64), limit: f64) -> (f64, f64) {
    let squared = v.0 * v.0 + v.1 * v.1;
    if squared <= limit * limit {
        return v;
    }
    let shrink = limit / squared.sqrt();
    (v.0 * shrink, v.1 * shrink)
}

/// The outcome of a solve: iterations and residual.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolveReport {
    /// Number of sweeps, pivots or Newton steps, depending on the method.
    pub iterations: usize,
    /// Whether the residual is within the requested tolerance.
    pub converged: bool,
    /// The residual of the solution.
    pub residual: Residual,
}

impl SolveReport {
    /// Creates the report of an empty problem.
    pub fn exact() -> Self {
        Self { converged: true, ..Self::default() }
    }

    /// Creates the report of a problem that was rejected: not converged, with an infinite residual.
    pub fn rejected() -> Self {
        let residual = Residual {
            signorini: f64::INFINITY,
            cone: f64::INFINITY,
            dissipation: f64::INFINITY,
            joint: f64::INFINITY,
            scale: 1.0,
        };
        Self { iterations: 0, converged: false, residual }
    }

    /// Combines two reports: the residual is the one that is larger relative to its own speeds, so
    /// that a fast island does not hide the error of a slow one.
    pub fn worse(&self, other: &Self) -> Self {
        let update_worst = self.residual.relative() < other.residual.relative();
        Self {
            iterations: self.iterations.max(other.iterations),
            converged: self.converged && other.converged,
            residual: if update_worst { other.residual } else { self.residual },
        }
    }
}
