//! The common problem format of all solver methods: bodies, and blocks of up to three rows that
//! couple two of them.
//!
//! A block relates the relative velocity of its two bodies, `u = J v + offset`, to the impulse `r`
//! along its rows by a [`Law`]. A solution is a set of impulses such that every law holds for `v =
//! v_free + M^-1 J^T r`. `bodies[..].velocity` always includes the effect of the impulses in
//! `blocks[..].impulse`: a method may start from them (a warm start) and keeps both consistent.

use crate::error::ProblemError;
use crate::math::{Mat3, SpatialVector, Vec3};

/// The solver's view of a body: velocity, inverse mass and inverse inertia.
///
/// An environment body has both inverses zero, so impulses do not change it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolverBody {
    /// Velocity of the center of mass (m/s) and angular velocity in world axes (rad/s).
    pub velocity: SpatialVector,
    /// Inverse mass, 1/kg.
    pub inverse_mass: f64,
    /// Inverse inertia tensor in world axes, 1/(kg m^2), symmetric.
    pub inverse_inertia: Mat3,
}

impl Default for SolverBody {
    /// Creates an environment body at rest.
    fn default() -> Self {
        Self { velocity: SpatialVector::ZERO, inverse_mass: 0.0, inverse_inertia: Mat3::ZERO }
    }
}

impl SolverBody {
    /// Returns whether impulses move the body.
    #[inline]
    pub fn is_inertial(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Returns the change of velocity due to an impulse.
    #[inline]
    pub fn response(&self, impulse: SpatialVector) -> SpatialVector {
        SpatialVector::new(
            impulse.linear * self.inverse_mass,
            self.inverse_inertia * impulse.angular,
        )
    }
}

/// A row of the Jacobian: `u = linear . (v_b - v_a) + angular_b . w_b - angular_a . w_a`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// The direction of the row.
    pub linear: Vec3,
    /// Lever arm of A crossed with the direction.
    pub angular_a: Vec3,
    /// Lever arm of B crossed with the direction.
    pub angular_b: Vec3,
}

impl Row {
    /// Creates the row of the relative velocity along `direction` of two points, given by their
    /// arms from each center of mass.
    #[inline]
    pub fn at(direction: Vec3, arm_a: Vec3, arm_b: Vec3) -> Self {
        Self {
            linear: direction,
            angular_a: arm_a.cross(direction),
            angular_b: arm_b.cross(direction),
        }
    }

    /// Returns the relative velocity along this row.
    #[inline]
    pub fn velocity(&self, a: &SpatialVector, b: &SpatialVector) -> f64 {
        self.linear.dot(b.linear - a.linear) + self.angular_b.dot(b.angular)
            - self.angular_a.dot(a.angular)
    }
}

/// The law that relates the relative velocity and the impulse of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "complementarity")]
pub enum Law {
    /// A contact: row 0 along the normal from A to B, rows 1 and 2 tangential. Signorini: `0 <=
    /// u_n`, `0 <= r_n`, one of them zero; Coulomb: `|r_t| <= friction r_n`, with equality and
    /// `r_t` opposite to `u_t` if the point slides.
    Contact {
        /// Coefficient of friction.
        friction: f64,
    },
    /// An equality constraint on the first `rows` rows, rigid or soft: `u + softness r = 0`.
    Bilateral {
        /// Number of rows in use, up to three.
        rows: usize,
    },
    /// An inequality constraint on one row: `0 <= u`, `0 <= r`, one of them zero.
    Unilateral,
}

impl Law {
    /// Returns the number of rows in use.
    #[inline]
    pub fn rows(&self) -> usize {
        match *self {
            Self::Contact { .. } => 3,
            Self::Bilateral { rows } => rows,
            Self::Unilateral => 1,
        }
    }

    /// Returns its name: `contact`, `bilateral constraint` or `unilateral constraint`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Contact { .. } => "contact",
            Self::Bilateral { .. } => "bilateral constraint",
            Self::Unilateral => "unilateral constraint",
        }
    }
}

impl std::fmt::Display for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A constraint between two bodies: a contact point or a joint. Unused rows are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "constraint")]
pub struct Block {
    /// Indices of A and B among the bodies.
    pub bodies: [u32; 2],
    /// The law that must hold.
    pub law: Law,
    /// The rows of the Jacobian.
    pub rows: [Row; 3],
    /// Added to `J v` (m/s): for a contact, the gap over the time step.
    pub offset: Vec3,
    /// Compliance of [`Law::Bilateral`], in (m/s)/(N s): zero is rigid. Other laws ignore it.
    pub softness: f64,
    /// Impulse along the rows (N s), applied to B with `+` and to A with `-`. The warm start on
    /// entry, the solution afterwards.
    pub impulse: Vec3,
    /// The block's own part of the Delassus matrix, `J M^-1 J^T`, filled by
    /// [`Block::compute_delassus`].
    #[doc(alias = "effective mass")]
    pub delassus: Mat3,
}

impl Block {
    /// Returns the relative velocity along the rows, without the offset.
    #[inline]
    pub fn velocity(&self, bodies: &[SolverBody]) -> Vec3 {
        let [a, b] = self.bodies.map(|body| &bodies[body as usize].velocity);
        self.velocity_of(a, b)
    }

    /// Returns the relative velocity along the rows for given velocities of A and B.
    #[inline]
    pub fn velocity_of(&self, a: &SpatialVector, b: &SpatialVector) -> Vec3 {
        let [x, y, z] = &self.rows;
        Vec3::new(x.velocity(a, b), y.velocity(a, b), z.velocity(a, b))
    }

    /// Applies `impulse`, given along the rows, to both bodies.
    #[inline]
    pub fn apply(&self, bodies: &mut [SolverBody], impulse: Vec3) {
        let [r0, r1, r2] = &self.rows;
        let linear = r0.linear * impulse.x + r1.linear * impulse.y + r2.linear * impulse.z;
        let a = &mut bodies[self.bodies[0] as usize];
        if a.is_inertial() {
            let angular =
                r0.angular_a * impulse.x + r1.angular_a * impulse.y + r2.angular_a * impulse.z;
            let change = a.response(SpatialVector::new(linear, angular));
            a.velocity = a.velocity - change;
        }
        let b = &mut bodies[self.bodies[1] as usize];
        if b.is_inertial() {
            let angular =
                r0.angular_b * impulse.x + r1.angular_b * impulse.y + r2.angular_b * impulse.z;
            let change = b.response(SpatialVector::new(linear, angular));
            b.velocity += change;
        }
    }

    /// Fills [`delassus`](Self::delassus): the velocity along each row per unit of impulse along
    /// each row.
    #[inline]
    pub fn compute_delassus(&mut self, bodies: &[SolverBody]) {
        let a = &bodies[self.bodies[0] as usize];
        let b = &bodies[self.bodies[1] as usize];
        let mass = a.inverse_mass + b.inverse_mass;
        // Impulses do not turn environment bodies.
        let turns = |body: &SolverBody, arms: [Vec3; 3]| {
            body.is_inertial().then(|| (arms, arms.map(|arm| body.inverse_inertia * arm)))
        };
        let turns_a = turns(a, self.rows.map(|row| row.angular_a));
        let turns_b = turns(b, self.rows.map(|row| row.angular_b));
        let turning = |turns: &Option<([Vec3; 3], [Vec3; 3])>, i: usize, j: usize| {
            turns.as_ref().map_or(0.0, |(arms, turns)| arms[i].dot(turns[j]))
        };
        let entry = |i: usize, j: usize| {
            let along = mass * self.rows[i].linear.dot(self.rows[j].linear);
            along + turning(&turns_a, i, j) + turning(&turns_b, i, j)
        };
        let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
        self.delassus = Mat3::from_cols(
            Vec3::new(entry(0, 0), xy, xz),
            Vec3::new(xy, entry(1, 1), yz),
            Vec3::new(xz, yz, entry(2, 2)),
        );
    }
}

/// A problem: one island to solve.
#[derive(Debug)]
pub struct Problem<'a> {
    /// All bodies that blocks refer to; those with zero inverses are never changed.
    pub bodies: &'a mut [SolverBody],
    /// Indices of the inertial bodies of this island, ascending.
    pub members: &'a [u32],
    /// The constraints between the bodies.
    pub blocks: &'a mut [Block],
}

impl Problem<'_> {
    /// Rejects problems that no method can solve: numbers that are not finite, negative masses,
    /// frictions or softnesses, indices out of range, and members that are not exactly the inertial
    /// bodies of the blocks.
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

/// Returns the first number that is not finite.
fn first_not_finite(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().find(|value| !value.is_finite())
}

impl SolverBody {
    fn check(&self, body: usize) -> Result<(), ProblemError> {
        let rejected = |field, value, expected| ProblemError::Body { body, field, value, expected };
        let SpatialVector { linear, angular } = self.velocity;
        if let Some(value) =
            first_not_finite(linear.to_array().into_iter().chain(angular.to_array()))
        {
            return Err(rejected("velocity", value, "finite numbers"));
        }
        if !(self.inverse_mass >= 0.0 && self.inverse_mass.is_finite()) {
            let expected = "a finite number, 0 or more";
            return Err(rejected("inverse_mass", self.inverse_mass, expected));
        }
        let inertia = &self.inverse_inertia;
        if let Some(value) = first_not_finite(inertia.to_cols_array()) {
            return Err(rejected("inverse_inertia", value, "finite numbers"));
        }
        let diagonal = [inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z];
        if let Some(value) = diagonal.into_iter().find(|&value| value < 0.0) {
            return Err(rejected("inverse_inertia", value, "a diagonal of 0 or more"));
        }
        if self.inverse_mass == 0.0 && *inertia != Mat3::ZERO {
            return Err(ProblemError::HalfFixed { body });
        }
        Ok(())
    }
}

impl Block {
    fn check(&self, block: usize, count: usize) -> Result<(), ProblemError> {
        let rejected = |field, value, expected| ProblemError::Block {
            block,
            law: self.law,
            field,
            value,
            expected,
        };
        if self.bodies.iter().any(|&body| body as usize >= count) {
            return Err(ProblemError::NoSuchBody { block, bodies: self.bodies, count });
        }
        let positive = "a finite number, 0 or more";
        match self.law {
            Law::Contact { friction } if !(friction >= 0.0 && friction.is_finite()) => {
                return Err(rejected("law.friction", friction, positive));
            }
            Law::Bilateral { rows } if rows > 3 => {
                return Err(rejected("law.rows", rows as f64, "3 rows or fewer"));
            }
            Law::Bilateral { .. } if !(self.softness >= 0.0 && self.softness.is_finite()) => {
                return Err(rejected("softness", self.softness, positive));
            }
            _ => {}
        }
        for row in &self.rows {
            let entries = [row.linear, row.angular_a, row.angular_b];
            if let Some(value) = first_not_finite(entries.into_iter().flat_map(|v| v.to_array())) {
                return Err(rejected("rows", value, "finite numbers"));
            }
        }
        for (field, value) in [("offset", self.offset), ("impulse", self.impulse)] {
            if let Some(value) = first_not_finite(value.to_array()) {
                return Err(rejected(field, value, "finite numbers"));
            }
        }
        Ok(())
    }
}
