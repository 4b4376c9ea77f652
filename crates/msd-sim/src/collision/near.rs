//! The pairs that can meet within an exact step, and the contact points kept for as long as they can.

use super::contact::{Contact, ContactRecord, Hit};
use super::contact_pair::ContactPair;
use super::narrow_phase::{anchors, is_same_contact};
use super::pairs::{PairEntry, PairList};
use crate::bodies::BodySet;
use crate::geometry::{Manifold, Workspace};
use crate::math::{Pose, Vec3};

/// The contact of a near pair in exact steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactContact {
    /// Unit direction from A to B.
    pub(crate) normal: Vec3,
    /// Centers of mass of A and B when the points were last updated.
    pub(crate) centers: [Vec3; 2],
    pub(crate) points: [Contact; 4],
    pub(crate) len: usize,
    /// The normal in A's frame.
    local_normal: Vec3,
    /// Impulse on B since the step began, N s, and its part along the normals. Kept here because a point that bounces
    /// off is gone before the step ends.
    pub(crate) impulse: Vec3,
    pub(crate) normal_impulse: f64,
    /// The fastest impact since the step began.
    pub(crate) hit: Option<Hit>,
    /// Upper bound on the speed at which two points of the bodies approach, m/s, when the pair was last checked.
    pub(crate) closing_speed: f64,
    /// Whether points without load are known not to meet before the next impact or the end of the substep.
    pub(crate) cannot_close: bool,
}

/// A near pair and its contact.
#[derive(Clone, Copy)]
pub(crate) struct Near<'a> {
    pub(crate) pair: &'a ContactPair,
    pub(crate) contact: &'a ExactContact,
}

impl ExactContact {
    /// Returns the points, including those about to touch.
    pub(crate) fn points(&self) -> &[Contact] {
        &self.points[..self.len]
    }

    /// Returns the points that may push, with their indices.
    pub(crate) fn acting(&self) -> impl Iterator<Item = (usize, &Contact)> {
        let acts =
            |(_, point): &(usize, &Contact)| !self.cannot_close || point.impulse != Vec3::ZERO;
        self.points().iter().enumerate().filter(acts)
    }

    /// Returns whether the pair pushed or hit in this step.
    fn has_met(&self) -> bool {
        self.normal_impulse > 0.0 || self.hit.is_some()
    }

    /// Clears the sums over the last step.
    fn begin_step(&mut self) {
        self.impulse = Vec3::ZERO;
        self.normal_impulse = 0.0;
        self.hit = None;
        for point in &mut self.points[..self.len] {
            point.total_impulse = Vec3::ZERO;
            point.approach = 0.0;
            point.residual = None;
        }
    }

    /// Adds the impulse of a kick on B at a point. `approach` is the normal velocity of an impact, zero if there is
    /// none.
    pub(crate) fn add_impulse(&mut self, point: usize, impulse: Vec3, approach: f64) {
        let (normal, position) = (self.normal, self.points[point].position);
        self.points[point].total_impulse += impulse;
        self.impulse += impulse;
        self.normal_impulse += impulse.dot(normal);
        let speed = -approach;
        if speed > 0.0 && self.hit.is_none_or(|hit| hit.speed < speed) {
            self.hit = Some(Hit { position, normal, speed });
        }
    }

    /// Starts with the points and impulses of a swept contact, until the points are found again.
    fn warm_start(&mut self, bodies: &BodySet, swept: &ContactRecord) {
        self.centers = swept.bodies.map(|body| bodies.poses[body as usize].position);
        (self.normal, self.len) = (swept.normal, swept.len);
        for (to, known) in self.points.iter_mut().zip(&swept.points[..swept.len]) {
            let Contact { position, gap, feature, impulse, .. } = *known;
            *to = Contact { position, gap, feature, impulse, ..Contact::default() };
        }
    }

    /// Updates the points at the bodies' poses: moves them along while the two bodies have moved little relative to
    /// each other since the points were found (`reuse`, relative to size); otherwise finds them again, and keeps the
    /// impulses of points with the same feature.
    pub(crate) fn update(
        &mut self,
        pair: &mut ContactPair,
        bodies: &BodySet,
        poses: [Pose; 2],
        margin: f64,
        reuse: f64,
        workspace: &mut Workspace,
    ) {
        self.centers = poses.map(|pose| pose.position);
        let (at, has_points) = (poses.each_ref(), self.len > 0);
        match pair.update_at(bodies, at, has_points, margin, reuse, workspace) {
            Some(manifold) => self.set_points(&manifold, &poses),
            None => self.carry(&poses),
        }
    }

    fn carry(&mut self, [a, b]: &[Pose; 2]) {
        self.normal = a.transform_vector(self.local_normal);
        for point in &mut self.points[..self.len] {
            (point.position, point.gap) = point.carried([a, b], self.normal);
        }
    }

    /// Returns the normal and the points at the bodies' poses.
    pub(crate) fn carried(&self, [a, b]: [&Pose; 2]) -> (Vec3, [Contact; 4]) {
        let normal = a.transform_vector(self.local_normal);
        let mut points = self.points;
        for point in &mut points[..self.len] {
            (point.position, point.gap) = point.carried([a, b], normal);
        }
        (normal, points)
    }

    fn set_points(&mut self, manifold: &Manifold, poses: &[Pose; 2]) {
        let (old, old_len) = (self.points, self.len);
        let old_normal = self.normal;
        self.len = manifold.points().len();
        self.normal = manifold.normal;
        self.fill(manifold, poses);
        for point in &mut self.points[..self.len] {
            if let Some(known) = old[..old_len].iter().find(|old| old.feature == point.feature) {
                point.total_impulse = known.total_impulse;
                if !is_same_contact(old_normal, manifold.normal) {
                    continue;
                }
                point.impulse = turned_impulse(known.impulse, old_normal, manifold.normal);
                point.approach = known.approach;
            }
        }
    }

    fn fill(&mut self, manifold: &Manifold, [a, b]: &[Pose; 2]) {
        self.local_normal = a.inverse_transform_vector(manifold.normal);
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            *point = Contact {
                position: found.position,
                gap: -found.depth,
                feature: found.feature,
                anchors: anchors(manifold.normal, found, [a, b]),
                ..Contact::default()
            };
        }
    }
}

impl Near<'_> {
    /// Returns the contact at the bodies' poses, if it has points or pushed in the last step.
    pub(crate) fn record(&self, bodies: &BodySet) -> Option<ContactRecord> {
        let Self { pair, contact } = self;
        let (normal, points) =
            contact.carried(pair.bodies.map(|body| &bodies.poses[body as usize]));
        (contact.len > 0 || contact.normal_impulse > 0.0).then_some(ContactRecord {
            bodies: pair.bodies,
            normal: if contact.len > 0 { normal } else { contact.normal },
            friction: pair.friction,
            restitution: pair.restitution,
            impulse: contact.impulse,
            points,
            len: contact.len,
        })
    }
}

/// The near pairs of an exact step with their contacts, sorted by their bodies. A position is an index into that order.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearList {
    entries: Vec<NearEntry>,
    next: Vec<NearEntry>,
    contacts: Vec<ExactContact>,
    /// Unused entries of `contacts`.
    free: Vec<u32>,
}

/// A near pair: its bodies, smaller index first, its number, and the place of its contact.
#[derive(Clone, Copy, Debug)]
struct NearEntry {
    key: (u32, u32),
    pair: u32,
    contact: u32,
}

impl NearList {
    /// Returns the number of near pairs.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.contacts.clear();
        self.free.clear();
    }

    /// Returns the position of the pair of two bodies, or the position where it would be inserted.
    pub(crate) fn position(&self, key: (u32, u32)) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&key, |entry| entry.key)
    }

    /// Returns the number of the pair at a position.
    pub(crate) fn number(&self, position: usize) -> u32 {
        self.entries[position].pair
    }

    pub(crate) fn contact(&self, position: usize) -> &ExactContact {
        &self.contacts[self.entries[position].contact as usize]
    }

    pub(crate) fn contact_mut(&mut self, position: usize) -> &mut ExactContact {
        &mut self.contacts[self.entries[position].contact as usize]
    }

    /// Returns the contact of two bodies.
    pub(crate) fn contact_of(&self, key: (u32, u32)) -> Option<&ExactContact> {
        self.position(key).ok().map(|position| self.contact(position))
    }

    /// Clears the sums over the last step.
    pub(crate) fn begin_step(&mut self) {
        for entry in &self.entries {
            self.contacts[entry.contact as usize].begin_step();
        }
    }

    fn make_contact(&mut self) -> u32 {
        if let Some(place) = self.free.pop() {
            self.contacts[place as usize] = ExactContact::default();
            return place;
        }
        self.contacts.push(ExactContact::default());
        self.contacts.len() as u32 - 1
    }

    /// Adds the pair of a swept contact, with its points and impulses. [`sort`](Self::sort) follows.
    pub(crate) fn resume(&mut self, bodies: &BodySet, pair: u32, swept: &ContactRecord) {
        let contact = self.make_contact();
        self.contacts[contact as usize].warm_start(bodies, swept);
        let key = (swept.bodies[0], swept.bodies[1]);
        self.entries.push(NearEntry { key, pair, contact });
    }

    /// Adds a near pair. [`sort`](Self::sort) follows.
    pub(crate) fn add(&mut self, key: (u32, u32), pair: u32) {
        let contact = self.make_contact();
        self.entries.push(NearEntry { key, pair, contact });
    }

    pub(crate) fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.key);
    }

    /// Discards the contact of a pair, if it is near.
    pub(crate) fn reset(&mut self, key: (u32, u32)) {
        if let Ok(position) = self.position(key) {
            *self.contact_mut(position) = ExactContact::default();
        }
    }

    /// Removes a pair, if it is near.
    pub(crate) fn remove(&mut self, key: (u32, u32)) {
        if let Ok(position) = self.position(key) {
            self.free.push(self.entries.remove(position).contact);
        }
    }

    /// Keeps, adds and removes pairs so that those are near for which `is_near` holds. A pair that is no longer near
    /// stays if it met in this step, because that still has to be reported; otherwise `remove` is called with it.
    /// `far` is called with the number of every other pair.
    pub(crate) fn update(
        &mut self,
        pairs: &mut PairList,
        is_near: impl Fn((u32, u32)) -> bool,
        mut remove: impl FnMut(&mut ContactPair),
        mut far: impl FnMut(u32, &ContactPair),
    ) {
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        let mut known = 0;
        for &PairEntry { key, number, .. } in &pairs.order {
            let entry = self.entries.get(known).filter(|entry| entry.key == key).copied();
            known += usize::from(entry.is_some());
            let near = is_near(key);
            match entry {
                Some(entry) if near || self.contacts[entry.contact as usize].has_met() => {
                    next.push(entry);
                }
                Some(entry) => {
                    self.free.push(entry.contact);
                    remove(&mut pairs.all[number as usize]);
                    far(number, &pairs.all[number as usize]);
                }
                None if near => {
                    let contact = self.make_contact();
                    next.push(NearEntry { key, pair: number, contact });
                }
                None => far(number, &pairs.all[number as usize]),
            }
        }
        debug_assert_eq!(known, self.entries.len(), "every near pair is in the list of pairs");
        self.next = std::mem::replace(&mut self.entries, next);
    }
}

/// Turns an impulse from an old normal to a new one: its magnitudes along and across the normal stay.
fn turned_impulse(impulse: Vec3, old: Vec3, new: Vec3) -> Vec3 {
    let normal_impulse = impulse.dot(old);
    let across = impulse - old * normal_impulse;
    let flat = across - new * across.dot(new);
    let length = flat.length();
    let kept = if length > 0.0 { flat * (across.length() / length) } else { Vec3::ZERO };
    new * normal_impulse + kept
}
