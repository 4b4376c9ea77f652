//! The optional measurements of a swept step: residuals by island, penetration, and the ledger of energy and momentum.

use super::forces::force_impulses;
use super::residual::{self, Ends};
use super::{Swept, SweptStep};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, ContactSet};
use crate::constraints::contact_block::get;
use crate::constraints::solver_bodies::SolverBodies;
use crate::constraints::solver_rows::SweptContact;
use crate::constraints::{Constraints, Worst};
use crate::islands::{Islands, Link, links};
use crate::joints::JointSet;
use crate::ledger::Ledger;
use crate::math::{SpatialVector, Vec3};
use crate::solver::{Residual, SolveReport};

impl Swept {
    /// Groups the awake bodies into islands by contacts and joints.
    pub(crate) fn group(
        &self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        islands: &mut Islands,
    ) {
        let of = |number: u32| (number, collision.pairs.all[number as usize].bodies);
        let links = links(contact_numbers(collision).map(of), joints);
        islands.build(bodies.slots.len(), &self.awake, links);
    }

    /// Measures the state after the step and stores the results in the report.
    pub(crate) fn measure(&self, step: &mut SweptStep<'_>) {
        let SweptStep { bodies, joints, collision, constraints, settings, islands, report, .. } =
            step;
        let depths = self.contacts_of(bodies, collision, constraints, None).flat_map(|contact| {
            let points = contact.points.into_iter().take(contact.len);
            points.map(|point| -point.gap)
        });
        let exact = report.max_penetration.unwrap_or(0.0);
        report.max_penetration = Some(depths.fold(exact, f64::max));
        self.group(bodies, joints, collision, islands);
        report.islands = Some(report.islands.unwrap_or(0) + islands.len());
        let residual_of = |link: Link| match link {
            Link::Pair(number) => self.residuals.contact(number).map(|found| found.all),
            Link::Joint(index) => self.residuals.joint(index),
        };
        let ends = |link: Link| match link {
            Link::Pair(number) => collision.pairs.all[number as usize].bodies,
            Link::Joint(index) => joints.joints[index as usize].bodies,
        };
        let magnitude = |link: Link| residual_of(link).map_or(0.0, |found| found.largest().abs());
        // The residual relative to the size of the bodies.
        let relative_to_size = |link: Link| {
            let sizes = ends(link).map(|body| bodies.solids[body as usize].size);
            magnitude(link) / sizes[0].min(sizes[1])
        };
        let mut residual = Residual::default();
        let mut worst: Option<(Link, f64)> = None;
        for island in 0..islands.len() {
            let all = islands.links(island).filter_map(residual_of);
            let found = all.fold(Residual::default(), |worst, found| worst.max(&found));
            if found.relative() > residual.relative() {
                residual = found;
            }
            let link = islands
                .links(island)
                .max_by(|&a, &b| relative_to_size(a).total_cmp(&relative_to_size(b)));
            worst = match (worst, link) {
                (Some(old), Some(link)) if relative_to_size(old.0) >= relative_to_size(link) => {
                    Some(old)
                }
                (_, Some(link)) => Some((link, found.relative())),
                (old, None) => old,
            };
        }
        let violation = worst.map(|(link, relative)| {
            let joint = match link {
                Link::Pair(_) => None,
                Link::Joint(index) => Some(index),
            };
            let residual = if magnitude(link).is_nan() { f64::INFINITY } else { magnitude(link) };
            Worst { bodies: ends(link), joint, residual, relative }.violation(bodies, joints)
        });
        let known = report.worst_violation.map_or(0.0, |exact| exact.relative);
        if let Some(violation) = violation.filter(|violation| violation.relative >= known) {
            report.worst_violation = Some(violation);
        }
        let solve = SolveReport {
            iterations: 2 * settings.substeps as usize,
            converged: residual.relative() <= settings.tolerance,
            residual,
        };
        report.solve = Some(report.solve.map_or(solve, |exact| exact.worse(&solve)));
    }

    /// Adds the impulses and work of a step to the ledger, if it was asked for.
    pub(crate) fn add_to_ledger(&self, step: &mut SweptStep<'_>) {
        if let Some(mut ledger) = step.ledger.totals().copied() {
            self.add_forces(step, &mut ledger);
            self.add_constraints(step, &mut ledger);
            step.ledger.set_totals(ledger);
        }
    }

    /// Adds the impulses and work of forces to the ledger. Bodies still have the poses of the step's start; impulses are
    /// taken to act at the poses halfway through it.
    fn add_forces(&self, step: &SweptStep<'_>, ledger: &mut Ledger) {
        let SweptStep { bodies, potentials, settings, constraints, dt, .. } = step;
        let solver_bodies = &constraints.bodies;
        for &body in &self.awake {
            let forces = force_impulses(bodies, potentials, settings.gravity, body, *dt);
            let delta_pose = &solver_bodies.delta_poses[body as usize + 1];
            let turned = solver_bodies.frames[body as usize + 1].angular(&delta_pose.rotation);
            let moved = SpatialVector::new(delta_pose.translation(), turned);
            ledger.user += forces.user.dot(moved) / *dt;
            ledger.damping += forces.damping.dot(moved) / *dt;
            let impulse = forces.forces + forces.damping + forces.user;
            ledger.force_impulse += impulse.about_origin(halfway(bodies, constraints, body));
        }
    }

    /// Adds the impulses and work of contacts and joints with the environment, likewise.
    fn add_constraints(&self, step: &SweptStep<'_>, ledger: &mut Ledger) {
        let SweptStep { bodies, joints, collision, constraints, settings, .. } = step;
        let mut add = |ends: [u32; 2], impulse: Vec3, moments: [Vec3; 2]| {
            let inertial = ends.map(|body| bodies.is_inertial(body as usize));
            if inertial[0] == inertial[1] {
                return;
            }
            // The impulse on the inertial body, with its moment about that body's center and about the other's.
            let (side, sign) = if inertial[1] { (1, 1.0) } else { (0, -1.0) };
            let given = SpatialVector::new(impulse * sign, moments[side] * sign);
            ledger.environment_impulse +=
                given.about_origin(halfway(bodies, constraints, ends[side]));
            let velocity = &bodies.motions[ends[1 - side] as usize].velocity;
            let on_other = SpatialVector::new(impulse * sign, moments[1 - side] * sign);
            ledger.environment += on_other.dot(*velocity);
        };
        for number in contact_numbers(collision) {
            let pair = &collision.pairs.all[number as usize];
            let contact = constraints.contacts.contact(pair.slot);
            let (impulse, moments) = total_impulse(contact);
            add(pair.bodies, impulse, moments);
            let [a, b] = pair.bodies.map(|body| body as usize + 1);
            let SolverBodies { velocities, delta_poses, .. } = &constraints.bodies;
            let ends = Ends {
                sweep_bodies: [&velocities[a], &velocities[b]],
                delta_poses: [&delta_poses[a], &delta_poses[b]],
            };
            ledger.rest_speed_loss += rest_speed_loss(contact, &ends, settings.rest_speed);
        }
        constraints.joints.totals(|joint, impulse| {
            let joint = &joints.joints[joint as usize];
            let poses = joint.bodies.map(|body| &bodies.poses[body as usize]);
            let on = [0, 1].map(|side: usize| poses[side].transform_point(joint.def.anchors[side]));
            let centroid = (on[0] + on[1]) * 0.5;
            add(joint.bodies, impulse, poses.map(|pose| (centroid - pose.position).cross(impulse)));
        });
    }
}

/// Returns the position of a body halfway through the step.
fn halfway(bodies: &BodySet, constraints: &Constraints, body: u32) -> Vec3 {
    let moved = constraints.bodies.delta_poses[body as usize + 1].translation();
    bodies.poses[body as usize].position + moved * 0.5
}

/// Returns the numbers of the awake pairs with contact points, in the order of their bodies.
fn contact_numbers(collision: &CollisionPipeline) -> impl Iterator<Item = u32> + '_ {
    let pairs = &collision.pairs;
    let numbers = pairs.order.iter().map(|entry| entry.number);
    numbers.filter(|&number| pairs.all[number as usize].has_contact_in(ContactSet::Swept))
}

/// Returns the impulse that a contact applied to B over the step, N s, and its moments about A's center and about B's.
fn total_impulse(contact: SweptContact<'_>) -> (Vec3, [Vec3; 2]) {
    let SweptContact { rows, lane, .. } = contact;
    let (n, t) = (get(&rows.normal, lane), get(&rows.tangent, lane));
    let s = n.cross(t);
    let [p, q, twist] = [0, 1, 2].map(|i: usize| rows.friction_total[i].0[lane]);
    let friction_vector = t * p + s * q;
    let mut impulse = friction_vector;
    let mut moments = [0, 3].map(|from: usize| {
        let [x, y, z] = [0, 1, 2].map(|i: usize| rows.friction_center[from + i].0[lane]);
        (t * x + s * y + n * z).cross(friction_vector) + n * twist
    });
    for point in contact.points() {
        let push = n * point.total.0[lane];
        impulse += push;
        for (moment, from) in moments.iter_mut().zip([0, 2]) {
            let x = rows.centroid[from].0[lane] + point.x.0[lane];
            let y = rows.centroid[from + 1].0[lane] + point.y.0[lane];
            *moment += (t * x + s * y).cross(push);
        }
    }
    (impulse, moments)
}

/// Returns the energy that a contact lost because its impact was too slow to bounce, J: see
/// [`Ledger::rest_speed_loss`].
fn rest_speed_loss(contact: SweptContact<'_>, ends: &Ends<'_>, rest_speed: f64) -> f64 {
    let SweptContact { block, rows, lane } = contact;
    let restitution = block.cache.restitution.0[lane];
    if restitution == 0.0 {
        return 0.0;
    }
    let after = residual::point_speeds(contact, ends);
    let mut lost = 0.0;
    for (at, point) in contact.points().iter().enumerate() {
        let before = rows.approach[at].0[lane];
        if -rest_speed <= before && before < 0.0 {
            // The work of an impulse uses the mean of the velocities before and after it.
            lost += (-0.5 * point.total.0[lane] * (before + after[at])).max(0.0);
        }
    }
    restitution * restitution * lost
}
