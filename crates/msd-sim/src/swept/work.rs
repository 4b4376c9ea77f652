//! The work and impulses of swept steps, for the ledger.
//!
//! A pass is one sweep over all joints and contacts, the biased one together with the kick before it, or the sweeps of
//! restitution. Within a pass no body moves, so rows are fixed. Impulses `p` along them that change the velocities of bodies
//! from `v` to `v'` then do the work `sum p . J (v + v') / 2`, exactly, and each impulse has its own part. It is compared
//! with the measured change of kinetic energy: see [`Ledger::energy_error`](crate::Ledger::energy_error).

use super::residual::{plane_motion, slip};
use crate::constraints::Work;
use crate::constraints::contact_block::{POINTS, get};
use crate::constraints::joint_block::{BallJointBlock, DistanceJointBlock};
use crate::constraints::solver_bodies::{DeltaPose, Frame, SweepBody, f4, vec3};
use crate::constraints::solver_rows::SweptContact;
use crate::ledger::PassSums;
use crate::math::{Mat3, SpatialVector, Vec3};
use crate::motion::ForceImpulses;
use crate::threads::DisjointSlice;

/// The measured work of a step; empty unless the ledger was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepWork {
    /// Velocities before the present pass, by body + 1.
    before: Vec<SweepBody>,
    /// Impulse of gravity and fields in a substep, by body + 1; zero for environment bodies.
    forces: Vec<SpatialVector>,
    /// By body.
    pub(crate) bodies: Vec<BodyWork>,
    /// By pair number, and by joint index.
    pub(crate) contacts: Vec<LinkWork>,
    pub(crate) joints: Vec<LinkWork>,
}

/// The arrays of [`StepWork`] for workers. The rules of access are those of the bodies, pairs and joints.
#[derive(Clone, Copy)]
pub(crate) struct SharedWork<'a> {
    pub(crate) before: DisjointSlice<'a, SweepBody>,
    pub(crate) forces: DisjointSlice<'a, SpatialVector>,
    pub(crate) bodies: DisjointSlice<'a, BodyWork>,
    pub(crate) contacts: DisjointSlice<'a, LinkWork>,
    pub(crate) joints: DisjointSlice<'a, LinkWork>,
}

impl StepWork {
    /// Clears the work; if the step is `measured`, resizes it to the numbers of bodies, pairs and joints.
    pub(crate) fn begin(&mut self, measured: bool, [bodies, pairs, joints]: [usize; 3]) {
        self.forces.clear();
        self.bodies.clear();
        self.contacts.clear();
        self.joints.clear();
        if measured {
            self.before.resize(bodies + 1, SweepBody::default());
            self.forces.resize(bodies + 1, SpatialVector::ZERO);
            self.bodies.resize(bodies, BodyWork::default());
            self.contacts.resize(pairs, LinkWork::default());
            self.joints.resize(joints, LinkWork::default());
        }
    }

    /// Returns the arrays for workers.
    pub(crate) fn shared(&mut self) -> SharedWork<'_> {
        SharedWork {
            before: DisjointSlice::new(&mut self.before),
            forces: DisjointSlice::new(&mut self.forces),
            bodies: DisjointSlice::new(&mut self.bodies),
            contacts: DisjointSlice::new(&mut self.contacts),
            joints: DisjointSlice::new(&mut self.joints),
        }
    }
}

/// The kind of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PassKind {
    /// Forces, the impulses of the last substep as a warm start, and the biased sweep.
    Kick,
    /// The relax sweep, after bodies have moved for this share of the substep.
    Relax(f64),
    /// The sweeps of restitution.
    Restitution,
}

/// The work of forces on a body, and the energy that all passes gave it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyWork {
    /// Impulses of damping and of the user in a substep.
    damping: SpatialVector,
    user: SpatialVector,
    /// Change of kinetic energy in all passes, as measured, J.
    kinetic_change: f64,
    /// Work of these forces, J.
    by_fields: f64,
    by_damping: f64,
    by_user: f64,
    /// Impulse of all forces about the world's origin.
    force_impulse: SpatialVector,
}

impl BodyWork {
    /// Stores the damping and the user's force of a step, of which a substep has this share.
    pub(crate) fn set_forces(&mut self, acting: &ForceImpulses, share: f64) {
        self.damping = acting.damping * share;
        self.user = acting.user * share;
    }

    /// Adds the work of all passes to sums.
    pub(crate) fn add_to(&self, sums: &mut PassSums) {
        sums.kinetic_change += self.kinetic_change;
        sums.by_fields += self.by_fields;
        sums.by_damping += self.by_damping;
        sums.by_user += self.by_user;
        sums.force_impulse += self.force_impulse;
    }

    /// Adds a pass that changed the velocity of the body from `before` to `after`.
    pub(crate) fn add(
        &mut self,
        kind: PassKind,
        End { before, after, frame, delta_pose, forces }: End<'_>,
    ) {
        self.kinetic_change += kinetic_energy(after) - kinetic_energy(before);
        if kind == PassKind::Kick {
            let mean = mean(before, after);
            let mean = SpatialVector::new(vec3(&mean.velocity), frame.angular(&mean.spin));
            self.by_fields += forces.dot(mean);
            self.by_damping += self.damping.dot(mean);
            self.by_user += self.user.dot(mean);
            let all = *forces + self.damping + self.user;
            self.force_impulse += all.about_origin(position(frame, delta_pose));
        }
    }
}

/// The work of a contact or joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkWork {
    /// Impulses along its rows after the last pass.
    known: [f64; ROWS],
    work: Work,
    /// Potential energy that was gained because bodies moved with normal or joint impulses that a relax sweep took
    /// back, J.
    correction: f64,
    /// Work against gravity and fields that the kick counts for these impulses, J.
    against_fields: f64,
    /// Impulse of an environment body on an inertial one, about the world's origin.
    from_environment: SpatialVector,
}

/// Rows of a contact: along the normal at each point, and friction, along two tangents and about the normal. Joints have
/// up to three.
const ROWS: usize = POINTS + 3;

/// A body in a pass: one end of a contact or joint.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) before: &'a SweepBody,
    pub(crate) after: &'a SweepBody,
    pub(crate) frame: &'a Frame,
    pub(crate) delta_pose: &'a DeltaPose,
    /// Impulse of gravity and fields on it in a substep.
    pub(crate) forces: &'a SpatialVector,
}

impl End<'_> {
    fn is_inertial(&self) -> bool {
        inverse_mass(self.after) > 0.0
    }

    /// Returns the change of velocity by gravity and fields in a substep.
    fn forced_change(&self) -> SweepBody {
        let velocity = f4(self.forces.linear * inverse_mass(self.after), 0.0);
        SweepBody { velocity, spin: f4(self.frame.spin_change(self.forces.angular), 0.0) }
    }

    /// Returns the mean velocity of the pass. That of an environment body does not change.
    fn mean(&self) -> SweepBody {
        if self.is_inertial() { mean(self.before, self.after) } else { *self.after }
    }
}

/// A contact or joint whose rows are those of the pass.
pub(crate) trait Rows {
    /// Returns its impulses along the rows.
    fn impulses(&self) -> [f64; ROWS];

    /// Returns the relative velocity along each row of bodies with these velocities.
    fn velocities(&self, bodies: [&SweepBody; 2]) -> [f64; ROWS];

    /// Returns the impulse on B of impulses along the rows, and its moment about the center of the body on one side, whose
    /// frame is given.
    fn combine(&self, impulses: &[f64; ROWS], side: usize, frame: &Frame) -> SpatialVector;

    /// Adds work along each row, by kind.
    fn add_work(work: &mut Work, by_row: &[f64; ROWS]);

    /// Returns the changes of impulses in a relax sweep that take back impulses which corrected positions.
    fn taken_back(change: [f64; ROWS]) -> [f64; ROWS];
}

impl LinkWork {
    /// Adds the work of all passes to sums.
    pub(crate) fn add_to(&self, sums: &mut PassSums) {
        let Work { normal, friction, joints, environment, .. } = self.work;
        sums.work.normal += normal;
        sums.work.friction += friction;
        sums.work.joints += joints;
        sums.work.environment += environment;
        sums.correction += self.correction;
        sums.by_fields += self.against_fields;
        sums.from_environment += self.from_environment;
    }

    /// Adds the work of the impulses that a contact or joint got in a pass.
    pub(crate) fn add<R: Rows>(&mut self, kind: PassKind, rows: &R, ends: [End<'_>; 2]) {
        let now = rows.impulses();
        // The kick applies the impulses of the last substep anew.
        let old = if kind == PassKind::Kick { [0.0; ROWS] } else { self.known };
        self.known = now;
        let mut change = now;
        change.iter_mut().zip(old).for_each(|(now, old)| *now -= old);
        if change == [0.0; ROWS] {
            return;
        }
        let along = |change: [f64; ROWS], bodies: [&SweepBody; 2]| {
            let mut by_row = rows.velocities(bodies);
            by_row.iter_mut().zip(change).for_each(|(u, change)| *u *= change);
            by_row
        };
        let means = ends.map(|end| end.mean());
        R::add_work(&mut self.work, &along(change, means.each_ref()));
        if let PassKind::Relax(share) = kind {
            let forced = ends.map(|end| end.forced_change());
            let mut by_row = along(R::taken_back(change), forced.each_ref());
            let lifted: f64 = by_row.iter().sum();
            self.correction += share * lifted;
            // In the kick, at the mean of the velocities, half of it appears as work of these impulses against the forces.
            by_row.iter_mut().for_each(|work| *work *= -0.5);
            R::add_work(&mut self.work, &by_row);
            self.against_fields += 0.5 * lifted;
        }
        let inertial = ends.map(|end| end.is_inertial());
        if inertial[0] != inertial[1] {
            let side = usize::from(inertial[1]);
            // The velocity of the environment's end alone: what it adds to the relative velocity, it takes as work.
            let mut alone = means;
            alone[side] = SweepBody::default();
            self.work.environment -= along(change, alone.each_ref()).iter().sum::<f64>();
            let End { frame, delta_pose, .. } = ends[side];
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let given = rows.combine(&change, side, frame) * sign;
            self.from_environment += given.about_origin(position(frame, delta_pose));
        }
    }
}

impl Rows for SweptContact<'_> {
    fn taken_back(change: [f64; ROWS]) -> [f64; ROWS] {
        // Others stop bodies that have moved closer.
        std::array::from_fn(|row| if row < POINTS { change[row].min(0.0) } else { 0.0 })
    }

    fn impulses(&self) -> [f64; ROWS] {
        let Self { rows, lane, .. } = *self;
        let mut all = [0.0; ROWS];
        for (to, point) in all.iter_mut().zip(self.points()) {
            *to = point.impulse.0[lane];
        }
        for (to, friction) in all[POINTS..].iter_mut().zip(&rows.friction_impulse) {
            *to = friction.0[lane];
        }
        all
    }

    fn velocities(&self, bodies: [&SweepBody; 2]) -> [f64; ROWS] {
        let Self { rows, lane, .. } = *self;
        let (linear, spins) = relative(bodies);
        let u = plane_motion(rows, lane, linear, spins);
        let mut all = [0.0; ROWS];
        for (to, point) in all.iter_mut().zip(&rows.points) {
            *to = u.dot(Vec3::new(1.0, point.x.0[lane], point.y.0[lane]));
        }
        all[POINTS..].copy_from_slice(&slip(rows, lane, linear, spins).to_array());
        all
    }

    fn combine(&self, impulses: &[f64; ROWS], side: usize, _: &Frame) -> SpatialVector {
        self.impulse_on(impulses, side)
    }

    fn add_work(work: &mut Work, by_row: &[f64; ROWS]) {
        work.normal += by_row[..POINTS].iter().sum::<f64>();
        work.friction += by_row[POINTS..].iter().sum::<f64>();
    }
}

impl SweptContact<'_> {
    /// Returns the moments of the impulse on B over the step, about the centers of mass of A and of B.
    pub(super) fn total_moments(&self) -> [Vec3; 2] {
        let Self { rows, lane, .. } = *self;
        let mut totals = [0.0; ROWS];
        for (to, point) in totals.iter_mut().zip(self.points()) {
            *to = point.total.0[lane];
        }
        for (to, friction) in totals[POINTS..].iter_mut().zip(&rows.friction_total) {
            *to = friction.0[lane];
        }
        [0, 1].map(|side: usize| self.impulse_on(&totals, side).angular)
    }

    /// Returns the impulse on B of impulses along the rows, and its moment about the center of the body on one side.
    pub(super) fn impulse_on(&self, impulses: &[f64; ROWS], side: usize) -> SpatialVector {
        let Self { rows, lane, .. } = *self;
        let (n, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
        let s = n.cross(t);
        let [along, across, twist] = [0, 1, 2].map(|i: usize| impulses[POINTS + i]);
        let friction = t * along + s * across;
        let [x, y, z] = [0, 1, 2].map(|i: usize| rows.friction_center[3 * side + i].0[lane]);
        let arm = t * x + s * y + n * z;
        let mut given = SpatialVector::new(friction, arm.cross(friction) + n * twist);
        let [x, y] = [0, 1].map(|i: usize| rows.centroid[2 * side + i].0[lane]);
        for (point, push) in rows.points.iter().zip(impulses) {
            let push = n * *push;
            let arm = t * (x + point.x.0[lane]) + s * (y + point.y.0[lane]);
            given += SpatialVector::new(push, arm.cross(push));
        }
        given
    }
}

impl Rows for (&BallJointBlock, usize) {
    fn taken_back(change: [f64; ROWS]) -> [f64; ROWS] {
        change
    }

    fn impulses(&self) -> [f64; ROWS] {
        let (block, lane) = *self;
        padded(get(&block.impulse, lane).to_array())
    }

    fn velocities(&self, bodies: [&SweepBody; 2]) -> [f64; ROWS] {
        let (block, lane) = *self;
        let (linear, [a, b]) = relative(bodies);
        padded([0, 1, 2].map(|axis: usize| {
            let [arm_a, arm_b] = block.angular_rows(axis, lane);
            linear[axis] + arm_b.dot(b) - arm_a.dot(a)
        }))
    }

    fn combine(&self, impulses: &[f64; ROWS], side: usize, frame: &Frame) -> SpatialVector {
        let (block, lane) = *self;
        let mut spin = Vec3::ZERO;
        for (axis, along) in impulses.iter().enumerate().take(3) {
            spin += block.angular_rows(axis, lane)[side] * *along;
        }
        SpatialVector::new(Vec3::new(impulses[0], impulses[1], impulses[2]), moment(frame, spin))
    }

    fn add_work(work: &mut Work, by_row: &[f64; ROWS]) {
        work.joints += by_row.iter().sum::<f64>();
    }
}

impl Rows for (&DistanceJointBlock, usize) {
    fn taken_back(change: [f64; ROWS]) -> [f64; ROWS] {
        change
    }

    fn impulses(&self) -> [f64; ROWS] {
        let (block, lane) = *self;
        padded([0, 1, 2].map(|i: usize| block.impulse[i].0[lane]))
    }

    fn velocities(&self, bodies: [&SweepBody; 2]) -> [f64; ROWS] {
        let (block, lane) = *self;
        let (linear, [a, b]) = relative(bodies);
        let turning = get(&block.arm_b, lane).dot(b) - get(&block.arm_a, lane).dot(a);
        padded([get(&block.direction, lane).dot(linear) + turning; 3])
    }

    fn combine(&self, impulses: &[f64; ROWS], side: usize, frame: &Frame) -> SpatialVector {
        let (block, lane) = *self;
        let sum: f64 = impulses.iter().sum();
        let arm = get([&block.arm_a, &block.arm_b][side], lane) * sum;
        SpatialVector::new(get(&block.direction, lane) * sum, moment(frame, arm))
    }

    fn add_work(work: &mut Work, by_row: &[f64; ROWS]) {
        work.joints += by_row.iter().sum::<f64>();
    }
}

fn padded([x, y, z]: [f64; 3]) -> [f64; ROWS] {
    let mut all = [0.0; ROWS];
    all[..3].copy_from_slice(&[x, y, z]);
    all
}

/// Returns the angular impulse that changes the spin of an inertial body: the inverse of [`Frame::spin_change`].
fn moment(frame: &Frame, spin: Vec3) -> Vec3 {
    let [x, y, z] = frame.spin_rows.each_ref().map(vec3);
    Mat3::from_cols(x, y, z).transpose().inverse() * spin
}

/// Returns the velocity of B's center relative to A's, and the spins of both.
fn relative([a, b]: [&SweepBody; 2]) -> (Vec3, [Vec3; 2]) {
    (vec3(&b.velocity) - vec3(&a.velocity), [vec3(&a.spin), vec3(&b.spin)])
}

fn mean(before: &SweepBody, after: &SweepBody) -> SweepBody {
    let middle = |a, b| f4((vec3(a) + vec3(b)) * 0.5, 0.0);
    let mut velocity = middle(&before.velocity, &after.velocity);
    velocity.0[3] = inverse_mass(after);
    SweepBody { velocity, spin: middle(&before.spin, &after.spin) }
}

fn inverse_mass(body: &SweepBody) -> f64 {
    body.velocity.0[3]
}

/// Returns the kinetic energy of an inertial body, J.
fn kinetic_energy(body: &SweepBody) -> f64 {
    let (linear, spin) = (vec3(&body.velocity), vec3(&body.spin));
    0.5 * (linear.length_squared() / inverse_mass(body) + spin.length_squared())
}

/// Returns the present center of mass.
fn position(frame: &Frame, delta_pose: &DeltaPose) -> Vec3 {
    vec3(&frame.position) + delta_pose.translation()
}
