//! Changes of the method: bodies that become swept, and bodies that become exact.

use super::Swept;
use super::sleep::transfer_contact;
use crate::bodies::BodySet;
use crate::collision::ContactSet;
use crate::constraints::contact_block::NewContact;
use crate::constraints::{Constraints, Contacts};
use crate::methods::Methods;
use crate::model::Model;
use crate::settings::StepTime;

impl Swept {
    /// Passes the contacts of bodies whose method changed on to the new method, with points and impulses.
    pub(crate) fn change_methods(
        &mut self,
        model: &Model,
        contacts: &mut Contacts,
        methods: &Methods,
        time: StepTime,
    ) {
        if !methods.to_swept.is_empty() {
            self.take_over(model, contacts, methods);
        }
        if !methods.to_exact.is_empty() {
            self.hand_back(&model.bodies, contacts, methods);
        }
        let Model { bodies, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        for &body in &methods.to_swept {
            collision.begin_sweeping(bodies, body);
        }
        for &body in &methods.to_exact {
            collision.begin_exact(bodies, settings, body, time);
        }
        self.lists_dirty = true;
        constraints.joints.mark_dirty();
    }

    /// Takes over the contacts of bodies that become swept. They start with the impulses of the last substep.
    fn take_over(&mut self, model: &Model, contacts: &mut Contacts, methods: &Methods) {
        let Model { bodies, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let is_swept = |pair: [u32; 2]| methods.is_any_swept(pair);
        let (pairs, near, _) = collision.pairs_and_near();
        for position in 0..near.len() {
            let number = near.number(position);
            let pair = &pairs.all[number as usize];
            if !is_swept(pair.bodies) || !pair.has_contact() {
                continue;
            }
            self.any_restitution |= pair.restitution > 0.0;
            let new = NewContact::of(pair, number, settings);
            let Constraints { exact, contacts, .. } = constraints;
            transfer_contact(number, pairs, exact, contacts, bodies);
            let (_, rows, lane) = contacts.contact_mut(pairs.all[number as usize].slot);
            rows.insert(lane, &new);
            rows.warm_start(lane, near.contact(position));
        }
        near.remove_swept(is_swept);
        let is_new = |body: u32| methods.to_swept.binary_search(&body).is_ok();
        for entry in &mut pairs.order {
            if bodies.colliders.bodies(entry.key).into_iter().any(is_new) {
                let has_contact = pairs.all[entry.number as usize].has_contact();
                entry.recheck_distance =
                    if has_contact { f64::INFINITY } else { f64::NEG_INFINITY };
            }
        }
    }

    /// Hands the contacts of bodies that become exact back.
    fn hand_back(&self, bodies: &BodySet, contacts: &mut Contacts, methods: &Methods) {
        let Contacts { collision, constraints } = contacts;
        let (pairs, near, _) = collision.pairs_and_near();
        let is_new = |body: u32| methods.to_exact.binary_search(&body).is_ok();
        for at in 0..pairs.order.len() {
            let entry = pairs.order[at];
            let pair = &pairs.all[entry.number as usize];
            let concerned = pair.bodies.into_iter().any(is_new);
            if concerned && pair.has_contact_in(ContactSet::Swept) {
                let contact = self.contact(bodies, constraints, pair, entry.number, true);
                near.resume(bodies, entry.number, &contact);
                let Constraints { exact, contacts, .. } = &mut *constraints;
                transfer_contact(entry.number, pairs, contacts, exact, bodies);
            }
        }
        near.sort();
    }

    /// Registers that the set of bodies that move may have changed.
    pub(crate) fn mark_lists_dirty(&mut self) {
        self.lists_dirty = true;
    }
}
