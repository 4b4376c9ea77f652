//! The one form in which every method gets its work: bodies, and blocks of up to three rows that
//! tie two of them.
//!
//! A block says how the relative velocity of its two bodies, `u = J v + offset`, and the impulse
//! `r` along its rows belong together ([`Law`]). Solving is finding impulses such that every law
//! holds for `v = v_free + M^-1 J^T r`. At every moment `bodies[..].velocity` already contains the
//! impulses that stand in `blocks[..].impulse`: a method may start from them (a warm start) and
//! leaves both in agreement.

use crate::error::ProblemError;
use crate::math::{Mat3, SpatialVector, Vec3};

/// What a solver needs to know of a body: how it moves and how hard it is to move.
///
/// An environment body has zeros for both inverses, so an impulse changes nothing of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverBody {
    /// Of the centre of mass (m/s), and of rotation in world axes (rad/s).
    pub velocity: SpatialVector,
    /// 1/kg.
    pub inverse_mass: f64,
    /// In world axes, 1/(kg m^2), symmetric.
    pub inverse_inertia: Mat3,
}

impl Default for SolverBody {
    /// An environment body at rest.
    fn default() -> Self {
        Self { velocity: SpatialVector::ZERO, inverse_mass: 0.0, inverse_inertia: Mat3::ZERO }
    }
}

impl SolverBody {
    /// Whether impulses move it.
    pub fn is_inertial(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// The change of velocity that an impulse gives.
    #[inline]
    pub fn response(&self, impulse: SpatialVector) -> SpatialVector {
        SpatialVector::new(
            impulse.linear * self.inverse_mass,
            self.inverse_inertia * impulse.angular,
        )
    }
}

/// One row of the Jacobian: `u = linear . (v_b - v_a) + angular_b . w_b - angular_a . w_a`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// The direction along which the two bodies are tied.
    pub linear: Vec3,
    /// Lever arm of A crossed with the direction.
    pub angular_a: Vec3,
    /// Lever arm of B crossed with the direction.
    pub angular_b: Vec3,
}

impl Row {
    /// The row of the relative velocity along `direction` of two points, given from each centre of
    /// mass.
    pub fn at(direction: Vec3, arm_a: Vec3, arm_b: Vec3) -> Self {
        Self {
            linear: direction,
            angular_a: arm_a.cross(direction),
            angular_b: arm_b.cross(direction),
        }
    }

    /// The relative velocity along this row.
    #[inline]
    pub fn velocity(&self, a: &SpatialVector, b: &SpatialVector) -> f64 {
        self.linear.dot(b.linear - a.linear) + self.angular_b.dot(b.angular)
            - self.angular_a.dot(a.angular)
    }
}

/// How relative velocity and impulse of a block belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Contact: row 0 along the normal from A to B, rows 1 and 2 across it. Signorini:
    /// `0 <= u_n`, `0 <= r_n`, one of them zero; Coulomb: `|r_t| <= friction r_n`, and where the
    /// point slides `r_t` is that long and against `u_t`.
    Contact {
        /// Coefficient of friction.
        friction: f64,
    },
    /// The first `rows` rows hold exactly, or softly: `u + softness r = 0`.
    Bilateral {
        /// How many of the three rows there are.
        rows: usize,
    },
    /// One row that may only push: `0 <= u`, `0 <= r`, one of them zero.
    Unilateral,
}

impl Law {
    /// How many of the block's rows are in use.
    pub fn rows(&self) -> usize {
        match *self {
            Self::Contact { .. } => 3,
            Self::Bilateral { rows } => rows,
            Self::Unilateral => 1,
        }
    }
}

/// A contact point or a joint between two bodies. Rows not in use are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Indices of A and B among the bodies.
    pub bodies: [u32; 2],
    /// What has to hold.
    pub law: Law,
    /// The Jacobian.
    pub rows: [Row; 3],
    /// Added to `J v` (m/s): for a contact, gap over time.
    pub offset: Vec3,
    /// Of [`Law::Bilateral`] only, in (m/s)/(N s): zero is rigid.
    pub softness: f64,
    /// Along the rows (N s): B gets `+`, A gets `-`. On entry the warm start, afterwards the answer.
    pub impulse: Vec3,
    /// `J M^-1 J^T` of this block alone, filled by [`Block::compute_delassus`].
    pub delassus: Mat3,
}

impl Block {
    /// Relative velocity along the rows, without the offset.
    #[inline]
    pub fn velocity(&self, bodies: &[SolverBody]) -> Vec3 {
        let [a, b] = self.bodies.map(|body| &bodies[body as usize].velocity);
        self.velocity_of(a, b)
    }

    /// Relative velocity along the rows for given velocities of A and B.
    #[inline]
    pub fn velocity_of(&self, a: &SpatialVector, b: &SpatialVector) -> Vec3 {
        let [x, y, z] = &self.rows;
        Vec3::new(x.velocity(a, b), y.velocity(a, b), z.velocity(a, b))
    }

    /// Gives `impulse`, along the rows, to both bodies.
    #[inline]
    pub fn apply(&self, bodies: &mut [SolverBody], impulse: Vec3) {
        let [r0, r1, r2] = &self.rows;
        let linear = r0.linear * impulse.x + r1.linear * impulse.y + r2.linear * impulse.z;
        let angular_a =
            r0.angular_a * impulse.x + r1.angular_a * impulse.y + r2.angular_a * impulse.z;
        let angular_b =
            r0.angular_b * impulse.x + r1.angular_b * impulse.y + r2.angular_b * impulse.z;
        let a = &mut bodies[self.bodies[0] as usize];
        let change = a.response(SpatialVector::new(linear, angular_a));
        a.velocity = a.velocity - change;
        let b = &mut bodies[self.bodies[1] as usize];
        let change = b.response(SpatialVector::new(linear, angular_b));
        b.velocity += change;
    }

    /// Fills [`delassus`](Self::coupling): how much velocity along each row an impulse along each
    /// row makes.
    pub fn compute_delassus(&mut self, bodies: &[SolverBody]) {
        let a = &bodies[self.bodies[0] as usize];
        let b = &bodies[self.bodies[1] as usize];
        let mass = a.inverse_mass + b.inverse_mass;
        let turns = self
            .rows
            .map(|row| (a.inverse_inertia * row.angular_a, b.inverse_inertia * row.angular_b));
        let entry = |i: usize, j: usize| {
            let (row, column, turn) = (&self.rows[i], &self.rows[j], &turns[j]);
            mass * row.linear.dot(column.linear)
                + row.angular_a.dot(turn.0)
                + row.angular_b.dot(turn.1)
        };
        let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
        self.delassus = Mat3::from_cols(
            Vec3::new(entry(0, 0), xy, xz),
            Vec3::new(xy, entry(1, 1), yz),
            Vec3::new(xz, yz, entry(2, 2)),
        );
    }
}

/// One island to solve.
#[derive(Debug)]
pub struct Problem<'a> {
    /// Every body that a block may name; those with zero inverses are never changed.
    pub bodies: &'a mut [SolverBody],
    /// The inertial bodies of this island, ascending.
    pub members: &'a [u32],
    /// What ties them.
    pub blocks: &'a mut [Block],
}

impl Problem<'_> {
    /// Refuses what no method can solve: numbers that are not finite, masses, frictions or softnesses below
    /// zero, indices out of range, members that are not the inertial bodies that blocks tie.
    pub fn check(&self) -> Result<(), ProblemError> {
        for (at, body) in self.bodies.iter().enumerate() {
            body.check(at)?;
        }
        for (at, block) in self.blocks.iter().enumerate() {
            block.check(at, self.bodies.len())?;
        }
        let mut before = None;
        for (at, &member) in self.members.iter().enumerate() {
            let inertial = self.bodies.get(member as usize).is_some_and(SolverBody::is_inertial);
            if !inertial || before.is_some_and(|before| before >= member) {
                return Err(ProblemError::Member { at, member });
            }
            before = Some(member);
        }
        for (at, block) in self.blocks.iter().enumerate() {
            for body in block.bodies {
                let outside = self.members.binary_search(&body).is_err();
                if outside && self.bodies[body as usize].is_inertial() {
                    return Err(ProblemError::NotAMember { block: at, body });
                }
            }
        }
        Ok(())
    }
}

/// The first number that is not finite.
fn first_not_finite(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().find(|value| !value.is_finite())
}

impl SolverBody {
    fn check(&self, body: usize) -> Result<(), ProblemError> {
        let refused = |field, value, expected| ProblemError::Body { body, field, value, expected };
        let SpatialVector { linear, angular } = self.velocity;
        if let Some(value) =
            first_not_finite(linear.to_array().into_iter().chain(angular.to_array()))
        {
            return Err(refused("velocity", value, "finite numbers"));
        }
        if !(self.inverse_mass >= 0.0 && self.inverse_mass.is_finite()) {
            let expected = "a finite number, 0 or more";
            return Err(refused("inverse_mass", self.inverse_mass, expected));
        }
        let inertia = &self.inverse_inertia;
        if let Some(value) = first_not_finite(inertia.to_cols_array()) {
            return Err(refused("inverse_inertia", value, "finite numbers"));
        }
        let diagonal = [inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z];
        if let Some(value) = diagonal.into_iter().find(|&value| value < 0.0) {
            return Err(refused("inverse_inertia", value, "a diagonal of 0 or more"));
        }
        if self.inverse_mass == 0.0 && *inertia != Mat3::ZERO {
            return Err(ProblemError::HalfFixed { body });
        }
        Ok(())
    }
}

impl Block {
    fn check(&self, block: usize, count: usize) -> Result<(), ProblemError> {
        let refused =
            |field, value, expected| ProblemError::Block { block, field, value, expected };
        if self.bodies.iter().any(|&body| body as usize >= count) {
            return Err(ProblemError::NoSuchBody { block, bodies: self.bodies, count });
        }
        let positive = "a finite number, 0 or more";
        match self.law {
            Law::Contact { friction } if !(friction >= 0.0 && friction.is_finite()) => {
                return Err(refused("law.friction", friction, positive));
            }
            Law::Bilateral { rows } if rows > 3 => {
                return Err(refused("law.rows", rows as f64, "3 rows or fewer"));
            }
            Law::Bilateral { .. } if !(self.softness >= 0.0 && self.softness.is_finite()) => {
                return Err(refused("softness", self.softness, positive));
            }
            _ => {}
        }
        for row in &self.rows {
            let entries = [row.linear, row.angular_a, row.angular_b];
            if let Some(value) = first_not_finite(entries.into_iter().flat_map(|v| v.to_array())) {
                return Err(refused("rows", value, "finite numbers"));
            }
        }
        for (field, value) in [("offset", self.offset), ("impulse", self.impulse)] {
            if let Some(value) = first_not_finite(value.to_array()) {
                return Err(refused(field, value, "finite numbers"));
            }
        }
        Ok(())
    }
}

/// How far an answer is from every law, in m/s, and the speed it is to be compared with.
///
/// One function for all methods. Impulses are turned into speeds by the block's own coupling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Largest `|min(u_n, w r_n)|`: penetrating velocity, pulling impulse, or push at a distance.
    pub signorini: f64,
    /// Largest excess of tangential impulse over the cone, as a speed.
    pub cone: f64,
    /// Largest distance from maximum dissipation: friction that is short although the point slides,
    /// or not against its sliding.
    pub dissipation: f64,
    /// Largest velocity error of a joint's rows.
    pub joint: f64,
    /// The largest speed in the problem: `|u|` or that which an impulse alone would make.
    pub scale: f64,
}

impl Residual {
    /// The largest of all, relative to the problem's speeds: 0 is exact.
    pub fn relative(&self) -> f64 {
        let worst = self.largest();
        // Subnormal speeds have no relative error worth the name.
        if worst <= f64::MIN_POSITIVE {
            0.0
        } else if worst.is_nan() {
            f64::INFINITY
        } else {
            worst / self.scale
        }
    }

    /// The largest of all, in m/s.
    pub fn largest(&self) -> f64 {
        worse(worse(self.signorini, self.cone), worse(self.dissipation, self.joint))
    }

    /// The worse of two, by each measure; what is not a number is worse than any.
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

/// The larger one, and a NaN rather than either.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// How far the problem's impulses are from every law. `delassus` of every block must be filled.
pub fn residual(bodies: &[SolverBody], blocks: &[Block]) -> Residual {
    let mut worst = Residual::default();
    for block in blocks {
        worst = worst.max(&block_residual(block, block.velocity(bodies) + block.offset));
    }
    worst
}

/// The block that is furthest from its law, and by how much, m/s; not a number counts as infinite.
pub(crate) fn worst_block(bodies: &[SolverBody], blocks: &[Block]) -> Option<(usize, f64)> {
    let far = |block: &Block| {
        let found = block_residual(block, block.velocity(bodies) + block.offset).largest();
        if found.is_nan() { f64::INFINITY } else { found }
    };
    let all = blocks.iter().map(far).enumerate();
    all.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

/// The same for one block whose relative velocity, offset included, is `u`.
pub(crate) fn block_residual(block: &Block, u: Vec3) -> Residual {
    let r = block.impulse;
    let normal = block.delassus.x_axis.x;
    let mut found = Residual::default();
    match block.law {
        Law::Contact { friction } => {
            let across = max_tangent_delassus(&block.delassus);
            let (slip, push) = ((u.y, u.z), (r.y, r.z));
            found.signorini = u.x.min(normal * r.x).abs();
            found.scale = u.length().max(normal * r.x.abs());
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
            found.scale = u.x.abs().max(normal * r.x.abs());
        }
        Law::Bilateral { rows } => {
            let error = u + r * block.softness;
            for i in 0..rows {
                // Of a soft row's error only that part is a velocity that the bodies would gain.
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

/// The largest eigenvalue of the tangential 2 by 2 part.
#[inline]
pub(crate) fn max_tangent_delassus(delassus: &Mat3) -> f64 {
    let (a, b, c) = (delassus.y_axis.y, delassus.z_axis.z, delassus.y_axis.z);
    0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt()
}

/// Length of a tangential vector. Impulses are far from where squares overflow.
#[inline]
pub(crate) fn norm(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

/// The nearest point of the disk of radius `limit`.
#[inline]
pub(crate) fn into_disk(v: (f64, f64), limit: f64) -> (f64, f64) {
    let squared = v.0 * v.0 + v.1 * v.1;
    if squared <= limit * limit {
        return v;
    }
    let shrink = limit / squared.sqrt();
    (v.0 * shrink, v.1 * shrink)
}

/// What a solve did, and how good it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Sweeps, pivots or Newton steps taken, whatever the method counts.
    pub iterations: usize,
    /// Whether the residual is within the tolerance asked for.
    pub converged: bool,
    /// How far the answer is from every law.
    pub residual: Residual,
}

impl SolveReport {
    /// Nothing to solve.
    pub(crate) fn exact() -> Self {
        Self { converged: true, ..Self::default() }
    }

    /// Both as one: the residual is that of the solve that is further from its laws, relative to its own speeds, so
    /// that a fast island does not hide the error of a slow one.
    pub(crate) fn worse(&self, other: &Self) -> Self {
        let update_worst = self.residual.relative() < other.residual.relative();
        Self {
            iterations: self.iterations.max(other.iterations),
            converged: self.converged && other.converged,
            residual: if update_worst { other.residual } else { self.residual },
        }
    }
}
