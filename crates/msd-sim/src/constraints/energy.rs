//! The rule that keeps contacts and joints from creating energy by discretization.

use super::problem::Kick;
use super::work::Work;

use crate::math::{Mat3, Pose, SpatialVector, Vec3};
use crate::solver::{Block, Law, Problem, SolveReport, SolverBody};

/// A body held against forces is at rest if its kinetic energy is below this fraction of what the forces would add in a
/// substep.
const AT_REST: f64 = 1e-14;

/// Gains below this fraction of the energy that the forces would add in a substep are rounding.
const ROUNDING: f64 = 1e-14;

/// The same limit where only joints hold: they stretch and are corrected all the time, and their forces are accurate to
/// about this fraction only if such small gains are tolerated.
const GIVE: f64 = 1e-5;

/// Keeps contacts and joints from creating energy.
///
/// Contacts and joints dissipate energy or conserve it. In a finite step, the path of a body that rocks or rolls, and
/// its displacement out of a surface, can differ from the true one by a little energy either way. Where the sum is a
/// gain, the island's motion relative to its environment is slowed by just that much. An island without environment
/// keeps its momentum and angular momentum: its motion is slowed relative to that of a rigid body with both. Returns
/// the energy removed, J.
pub(super) fn limit_energy(
    problem: &mut Problem<'_>,
    kick: &mut Kick<'_>,
    poses: &[Pose],
    work: &Work,
) -> f64 {
    let contact = problem.blocks.iter().any(is_pressed);
    if !contact && !problem.blocks.iter().any(is_rigid) {
        return 0.0;
    }
    let Some(frame) = Frame::of(problem, poses) else {
        return 0.0;
    };
    let mut gain = work.normal + work.friction + work.rigid + work.timing;
    for &index in problem.members {
        let i = index as usize;
        let (before, after) = (kick.before[i], problem.bodies[i].velocity);
        // Displacement beyond that of the mean velocity, with which the force's work was counted.
        let off =
            (after - before) * (0.5 * kick.segment[i] - kick.kick_time[i]) + kick.corrections[i];
        let off = off + SpatialVector::new(kick.fall_shift[i], Vec3::ZERO);
        gain -= kick.forces[i].dot(off) / kick.segment[i];
    }
    // Energy that the forces would add in a substep: rounding of their work is not a gain.
    let driven = |i: usize| {
        let whole = kick.h / kick.segment[i];
        0.5 * whole * whole * kick.forces[i].dot(problem.bodies[i].response(kick.forces[i]))
    };
    let scale: f64 = problem.members.iter().map(|&index| driven(index as usize)).sum();
    let negligible = if contact { ROUNDING } else { GIVE };
    if !(gain > negligible * scale) {
        return 0.0;
    }
    // Slowed by a fraction s, the island has K (2 s - s^2) less kinetic energy of K, and s F more potential energy,
    // because it then falls less far.
    let (mut moving, mut falling, mut at_rest) = (0.0, 0.0, true);
    for &index in problem.members {
        let i = index as usize;
        let velocity = problem.bodies[i].velocity - frame.at(poses[i].position);
        let own = kinetic(&problem.bodies[i], velocity);
        moving += own;
        at_rest &= own <= AT_REST * driven(i);
        falling += kick.forces[i].dot(velocity) * (1.0 - kick.kick_time[i] / kick.segment[i]);
    }
    let room = 2.0 * moving - falling;
    let root = (room * room - 4.0 * moving * gain).sqrt();
    let share = if at_rest {
        1.0
    } else if !(room > 0.0) {
        0.0 // It falls so slowly that slowing it would only keep it higher up.
    } else if root >= 0.0 {
        2.0 * gain / (room + root)
    } else {
        0.5 * room / moving // The gain is more than it can lose: the most.
    };
    let keep = 1.0 - share.min(1.0);
    let mut taken = 0.0;
    for &index in problem.members {
        let body = &mut problem.bodies[index as usize];
        taken += kinetic(body, body.velocity);
        let frame = frame.at(poses[index as usize].position);
        let slower = frame + (body.velocity - frame) * keep;
        kick.energy_cut[index as usize] = slower - body.velocity;
        body.velocity = slower;
        taken -= kinetic(body, body.velocity);
    }
    taken
}

/// Sets how far bodies fall beyond the motion of their kick, which is not halfway through the segment where they land.
///
/// A body that got no impulse falls freely. The impulses on others resist the forces, at the moment of the kick as well,
/// unless the island touches no environment: nothing resists its common acceleration, with which all its bodies
/// are taken to fall.
pub(super) fn fall(problem: &Problem<'_>, kick: &mut Kick<'_>) {
    let halfway =
        |&index: &u32| kick.kick_time[index as usize] == 0.5 * kick.segment[index as usize];
    if problem.members.iter().all(halfway) {
        return;
    }
    let (mut mass, mut force) = (0.0, Vec3::ZERO);
    if is_in_the_air(problem) {
        for &index in problem.members {
            let i = index as usize;
            mass += problem.bodies[i].inverse_mass.recip();
            force += (kick.forces[i].linear + kick.user[i].linear) / kick.segment[i];
        }
    }
    let common = if mass > 0.0 { force / mass } else { Vec3::ZERO };
    for &index in problem.members {
        let i = index as usize;
        if problem.bodies[i].velocity != kick.forced[i] {
            let late = kick.kick_time[i] - 0.5 * kick.segment[i];
            kick.fall_shift[i] = common * (kick.segment[i] * late);
        }
    }
}

/// Returns whether an island touches no environment.
fn is_in_the_air(problem: &Problem<'_>) -> bool {
    let inside = |body: &u32| problem.bodies[*body as usize].is_inertial();
    problem.blocks.iter().flat_map(|block| &block.bodies).all(inside)
}

/// Stops an island that is held in place by an environment at rest: its bodies are no faster than the errors that the
/// solver tolerates, so that zero is as good an answer as theirs, and the one that does not creep. Returns the energy
/// removed, J, or `None` if the island moves.
///
/// The speeds that the tolerance is relative to are those that the loads would cause, so an island without loads moves
/// on, however slowly.
pub(super) fn come_to_rest(
    problem: &mut Problem<'_>,
    kick: &mut Kick<'_>,
    report: &SolveReport,
) -> Option<f64> {
    let still = kick.settings.tolerance * report.residual.scale;
    let rests = |&body: &u32| {
        let velocity = &problem.bodies[body as usize].velocity;
        velocity.linear.length() <= still
            && turning_speed(&problem.bodies[body as usize]) <= still
            && kick.corrections[body as usize] == SpatialVector::ZERO
    };
    if !report.converged || !problem.members.iter().all(rests) {
        return None;
    }
    if environment_velocity(problem)? != Vec3::ZERO {
        return None;
    }
    let mut taken = 0.0;
    for &index in problem.members {
        let body = &problem.bodies[index as usize];
        taken += kinetic(body, body.velocity);
        let velocity = &mut problem.bodies[index as usize].velocity;
        kick.energy_cut[index as usize] = kick.energy_cut[index as usize] - *velocity;
        *velocity = SpatialVector::ZERO;
    }
    Some(taken)
}

/// Returns the speed of the body's points due to rotation, m/s, about its radius of gyration: the square root of twice
/// its kinetic energy of rotation over its mass.
fn turning_speed(body: &SolverBody) -> f64 {
    let spin = body.velocity.angular;
    if spin == Vec3::ZERO {
        return 0.0;
    }
    (spin.dot(body.inverse_inertia.inverse() * spin) * body.inverse_mass).sqrt()
}

/// Returns whether a block is a contact that pushes.
fn is_pressed(block: &Block) -> bool {
    matches!(block.law, Law::Contact { .. }) && block.impulse.x > 0.0
}

/// Returns whether a block is a rigid joint.
fn is_rigid(block: &Block) -> bool {
    !matches!(block.law, Law::Contact { .. }) && block.softness == 0.0
}

/// The motion that an island is slowed relative to: that of its environment, or of a rigid body.
struct Frame {
    center: Vec3,
    velocity: SpatialVector,
}

impl Frame {
    /// Returns the frame of an island, `None` if its environment bodies differ in velocity, or rotate.
    fn of(problem: &Problem<'_>, poses: &[Pose]) -> Option<Self> {
        if is_in_the_air(problem) {
            return Self::of_momentum(problem, poses);
        }
        let velocity = SpatialVector::new(environment_velocity(problem)?, Vec3::ZERO);
        Some(Self { center: Vec3::ZERO, velocity })
    }

    /// Returns the motion of a rigid body with the momentum and the angular momentum of an island.
    fn of_momentum(problem: &Problem<'_>, poses: &[Pose]) -> Option<Self> {
        let bodies = || {
            problem.members.iter().map(|&index| (&problem.bodies[index as usize], index as usize))
        };
        let (mut mass, mut first, mut momentum) = (0.0, Vec3::ZERO, Vec3::ZERO);
        // Relative to a body of the island, so that a distant one is as accurate.
        let origin = poses[*problem.members.first()? as usize].position;
        for (body, index) in bodies() {
            let own = body.inverse_mass.recip();
            mass += own;
            first += (poses[index].position - origin) * own;
            momentum += body.velocity.linear * own;
        }
        let (center, linear) = (origin + first / mass, momentum / mass);
        let (mut inertia, mut spin) = (Mat3::ZERO, Vec3::ZERO);
        for (body, index) in bodies() {
            let own = body.inverse_mass.recip();
            let turning = body.inverse_inertia.inverse();
            let arm = poses[index].position - center;
            let square = Mat3::from_diagonal(Vec3::splat(arm.length_squared()));
            let outer = Mat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            inertia += turning + (square - outer) * own;
            spin +=
                arm.cross(body.velocity.linear - linear) * own + turning * body.velocity.angular;
        }
        let angular = inertia.inverse() * spin;
        angular
            .is_finite()
            .then_some(Self { center, velocity: SpatialVector::new(linear, angular) })
    }

    /// Returns the velocity of a body of the frame whose center of mass is at `position`.
    fn at(&self, position: Vec3) -> SpatialVector {
        let SpatialVector { linear, angular } = self.velocity;
        SpatialVector::new(linear + angular.cross(position - self.center), angular)
    }
}

/// Returns the common velocity of an island's environment bodies, if they have one and do not rotate.
fn environment_velocity(problem: &Problem<'_>) -> Option<Vec3> {
    let mut found: Option<SpatialVector> = None;
    for block in problem.blocks.iter() {
        for body in block.bodies {
            let body = &problem.bodies[body as usize];
            if !body.is_inertial() {
                if found.is_some_and(|velocity| velocity != body.velocity) {
                    return None;
                }
                found = Some(body.velocity);
            }
        }
    }
    found.filter(|velocity| velocity.angular == Vec3::ZERO).map(|velocity| velocity.linear)
}

/// Returns the kinetic energy of a body at a velocity.
fn kinetic(body: &SolverBody, velocity: SpatialVector) -> f64 {
    let spin = body.inverse_inertia.inverse() * velocity.angular;
    0.5 * (velocity.linear.length_squared() / body.inverse_mass + velocity.angular.dot(spin))
}
