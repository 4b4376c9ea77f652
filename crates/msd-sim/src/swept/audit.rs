//! The optional measurements of a swept step: residuals by island, penetration, and the ledger of energy and momentum.

use super::Swept;
use super::residual::{self, Ends};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, ContactSet};
use crate::constraints::solver_bodies::SolverBodies;
use crate::constraints::solver_rows::SweptContact;
use crate::constraints::{Contacts, Worst};
use crate::islands::{Islands, Link, links};
use crate::joints::JointSet;
use crate::ledger::{LedgerBuilder, PassSums};
use crate::model::Model;
use crate::report::StepReport;
use crate::settings::Settings;
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
    pub(crate) fn measure(
        &self,
        model: &Model,
        contacts: &Contacts,
        report: &mut StepReport,
        islands: &mut Islands,
    ) {
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
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
            let sizes = ends(link).map(|body| bodies.extents[body as usize].size);
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
    pub(crate) fn add_to_ledger(
        &self,
        settings: &Settings,
        contacts: &Contacts,
        ledger: &mut LedgerBuilder,
    ) {
        let Contacts { collision, constraints } = contacts;
        if !settings.audit {
            return;
        }
        let mut sums = PassSums::default();
        for &body in &self.awake {
            self.work.bodies[body as usize].add_to(&mut sums);
        }
        for number in contact_numbers(collision) {
            self.work.contacts[number as usize].add_to(&mut sums);
            let pair = &collision.pairs.all[number as usize];
            let contact = constraints.contacts.contact(pair.slot);
            let [a, b] = pair.bodies.map(|body| body as usize + 1);
            let SolverBodies { velocities, delta_poses, .. } = &constraints.bodies;
            let ends = Ends {
                sweep_bodies: [&velocities[a], &velocities[b]],
                delta_poses: [&delta_poses[a], &delta_poses[b]],
            };
            sums.work.unbounced += rest_speed_loss(contact, &ends, settings.rest_speed);
        }
        self.work.joints.iter().for_each(|joint| joint.add_to(&mut sums));
        ledger.add_passes(&sums);
    }
}

/// Returns the numbers of the awake pairs with contact points, in the order of their bodies.
fn contact_numbers(collision: &CollisionPipeline) -> impl Iterator<Item = u32> + '_ {
    let pairs = &collision.pairs;
    let numbers = pairs.order.iter().map(|entry| entry.number);
    numbers.filter(|&number| pairs.all[number as usize].has_contact_in(ContactSet::Swept))
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
