//! The output of a swept step: the report, events and contacts.

use super::Swept;
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Contact, ContactPair, ContactRecord, ContactSet};
use crate::constraints::Constraints;
use crate::constraints::contact_block::get;
use crate::constraints::solver_rows::SweptContact;
use crate::math::Pose;
use crate::output::Output;
use crate::simd::F4;

impl Swept {
    /// Fills in the report, and the events in the order of their pairs.
    pub(crate) fn report_step(&mut self, bodies: &BodySet, output: &mut Output) {
        let Output { report, events, .. } = output;
        report.swept = self.awake.len();
        let Self { outputs, changes, hits, .. } = self;
        hits.clear();
        for output in outputs.iter() {
            report.contacts += output.contacts;
            changes.extend_from_slice(&output.changes);
            hits.extend_from_slice(&output.hits);
        }
        changes.sort_unstable();
        hits.sort_unstable_by_key(|(key, ..)| *key);
        for &(key, touches) in changes.iter() {
            events.add_change(bodies, key, touches);
        }
        for (key, hit, impulse) in hits.iter() {
            events.add_hit(bodies, *key, hit, *impulse);
        }
    }
}

impl Swept {
    /// Returns the contacts of one body, or of all, in the order of their colliders.
    pub(crate) fn contacts_of<'a>(
        &'a self,
        bodies: &'a BodySet,
        collision: &'a CollisionPipeline,
        constraints: &'a Constraints,
        body: Option<u32>,
    ) -> impl Iterator<Item = ContactRecord> + 'a {
        let pairs = &collision.pairs;
        let mut awake = pairs.order.iter().peekable();
        let mut asleep = pairs.asleep.iter().peekable();
        let both = std::iter::from_fn(move || {
            let first = match (awake.peek(), asleep.peek()) {
                (Some(a), Some(b)) => a.key < b.key,
                (a, _) => a.is_some(),
            };
            match first {
                true => awake.next().map(|entry| (entry.number, true)),
                false => asleep.next().map(|entry| (entry.number, false)),
            }
        });
        let in_contact = both.filter(move |(number, _)| {
            let pair = &pairs.all[*number as usize];
            pair.has_contact_in(ContactSet::Swept)
                && body.is_none_or(|body| pair.bodies.contains(&body))
        });
        let contacts = in_contact.map(|(number, awake)| {
            self.contact(bodies, constraints, &pairs.all[number as usize], number, awake)
        });
        // A contact of a body that was moved or has a new shape has no points until the next step.
        contacts.filter(|contact| contact.len > 0)
    }

    pub(super) fn contact(
        &self,
        bodies: &BodySet,
        constraints: &Constraints,
        pair: &ContactPair,
        number: u32,
        awake: bool,
    ) -> ContactRecord {
        let graph = if awake { &constraints.contacts } else { &self.sleeping.graph };
        let contact = graph.contact(pair.slot);
        let SweptContact { block, rows, lane } = contact;
        let poses: [&Pose; 2] = pair.bodies.map(|body| &bodies.poses[body as usize]);
        let normal = get(&rows.normal, lane);
        let tangent = get(&rows.tangent, lane);
        let across = normal.cross(tangent);
        let friction_vector = |from: &[F4; 3]| tangent * from[0].0[lane] + across * from[1].0[lane];
        let (friction_impulse, friction_total) =
            (friction_vector(&rows.friction_impulse), friction_vector(&rows.friction_total));
        let used = contact.points();
        let load: f64 = used.iter().map(|point| point.impulse.0[lane]).sum();
        let total: f64 = used.iter().map(|point| point.total.0[lane]).sum();
        let mut points = [Contact::default(); 4];
        for (at, (to, point)) in points.iter_mut().zip(used).enumerate() {
            let (position, gap) = block.point_at(lane, at, poses, normal);
            // Friction acts on the manifold as a whole: each point gets its share by normal impulse.
            let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
            let (r, sum) = (point.impulse.0[lane], point.total.0[lane]);
            let approach = rows.approach[at].0[lane];
            *to = Contact {
                position,
                gap,
                feature: block.feature(lane, at),
                impulse: normal * r + friction_impulse * share(r, load),
                total_impulse: normal * sum + friction_total * share(sum, total),
                approach: if sum > 0.0 { approach.min(0.0) } else { 0.0 },
                residual: if awake { self.residuals.point(number, at) } else { None },
            };
        }
        ContactRecord {
            colliders: pair.colliders,
            bodies: pair.bodies,
            normal,
            friction: pair.friction,
            restitution: pair.restitution,
            impulse: normal * total + friction_total,
            moments: contact.total_moments(),
            points,
            len: used.len(),
        }
    }
}
