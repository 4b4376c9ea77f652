//! The pairs that can meet within an exact step, and the impulses of their contacts.

use std::num::NonZeroU32;

use super::contact::{Contact, ContactRecord, Hit};
use super::contact_pair::ContactPair;
use super::narrow_phase::is_same_contact;
use super::pairs::{PairEntry, PairList};
use crate::bodies::{BodySet, ColliderSet};
use crate::geometry::{FeatureId, Manifold};
use crate::math::Vec3;

/// A point of a contact in exact steps.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ExactPoint {
    /// World position, midway between the surfaces: both bodies' lever arms end here.
    pub(crate) position: Vec3,
    /// Distance between the surfaces along the normal, m; negative where they overlap.
    pub(crate) gap: f64,
    /// Impulse on B in the last substep, N s, in world axes: the warm start.
    pub(crate) impulse: Vec3,
    /// Impulse on B since the step began, N s, in world axes.
    pub(crate) total_impulse: Vec3,
    /// Normal velocity at which the surfaces met, m/s, negative; zero if there is no impact.
    pub(crate) approach: f64,
    /// Residual after the last solve with this point, m/s; NaN if there was none since the step began.
    pub(crate) residual: f64,
}

impl Default for ExactPoint {
    fn default() -> Self {
        Self {
            position: Vec3::ZERO,
            gap: 0.0,
            impulse: Vec3::ZERO,
            total_impulse: Vec3::ZERO,
            approach: 0.0,
            residual: f64::NAN,
        }
    }
}

impl ExactPoint {
    /// Returns the residual, if it was measured in this step, m/s.
    pub(crate) fn residual(&self) -> Option<f64> {
        (!self.residual.is_nan()).then_some(self.residual)
    }
}

/// The contact of a near pair in exact steps. Its manifold is in the pair's slot of the constraint graph.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct ExactContact {
    /// Unit direction from A to B.
    pub(crate) normal: Vec3,
    /// Centers of mass of A and B when the points were last updated.
    pub(crate) centers: [Vec3; 2],
    pub(crate) points: [ExactPoint; 4],
    /// Impulse on B since the step began, N s, its moments about the centers of mass of A and B, N m s, and its part
    /// along the normals. Kept here because a point that bounces off is gone before the step ends.
    pub(crate) impulse: Vec3,
    pub(crate) moments: [Vec3; 2],
    pub(crate) normal_impulse: f64,
    /// Upper bound on the speed at which two points of the bodies approach, m/s, when the pair was last checked.
    pub(crate) closing_speed: f64,
    /// The fastest impact since the step began: its place in [`NearList::hits`], counted from 1.
    hit: Option<NonZeroU32>,
    /// Number of points.
    len: u8,
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
    pub(crate) fn points(&self) -> &[ExactPoint] {
        &self.points[..self.len as usize]
    }

    /// Returns the points, including those about to touch.
    pub(crate) fn points_mut(&mut self) -> &mut [ExactPoint] {
        &mut self.points[..self.len as usize]
    }

    /// Returns whether there are points.
    pub(crate) fn has_points(&self) -> bool {
        self.len > 0
    }

    /// Removes the points, until they are found again.
    pub(crate) fn clear_points(&mut self) {
        self.len = 0;
    }

    /// Returns the points that may push, with their indices.
    pub(crate) fn acting(&self) -> impl Iterator<Item = (usize, &ExactPoint)> {
        let acts =
            |(_, point): &(usize, &ExactPoint)| !self.cannot_close || point.impulse != Vec3::ZERO;
        self.points().iter().enumerate().filter(acts)
    }

    /// Returns whether the pair pushed or hit in this step.
    fn has_met(&self) -> bool {
        self.normal_impulse > 0.0 || self.hit.is_some()
    }

    /// Clears the sums over the last step.
    fn begin_step(&mut self) {
        self.impulse = Vec3::ZERO;
        self.moments = [Vec3::ZERO; 2];
        self.normal_impulse = 0.0;
        for point in self.points_mut() {
            point.total_impulse = Vec3::ZERO;
            point.approach = 0.0;
            point.residual = f64::NAN;
        }
    }

    /// Scales the sums over the step to a share of it, from those of a whole step at rest.
    pub(crate) fn keep_share(&mut self, share: f64) {
        self.impulse *= share;
        self.moments = self.moments.map(|moment| moment * share);
        self.normal_impulse *= share;
        for point in self.points_mut() {
            point.total_impulse *= share;
        }
    }

    /// Starts with the points and impulses of a swept contact, until the points are found again.
    fn warm_start(&mut self, bodies: &BodySet, swept: &ContactRecord) {
        self.centers = swept.bodies.map(|body| bodies.poses[body as usize].position);
        (self.normal, self.len) = (swept.normal, swept.len as u8);
        for (to, known) in self.points.iter_mut().zip(&swept.points[..swept.len]) {
            let Contact { position, gap, impulse, .. } = *known;
            *to = ExactPoint { position, gap, impulse, ..ExactPoint::default() };
        }
    }

    /// Replaces the points by those of a manifold that is not empty; points with the same feature keep their impulses.
    /// `feature` returns that of a point so far.
    pub(crate) fn replace_points(
        &mut self,
        manifold: &Manifold,
        feature: impl Fn(usize) -> FeatureId,
    ) {
        let (old, old_len, old_normal) = (self.points, self.len as usize, self.normal);
        self.len = manifold.points().len() as u8;
        self.normal = manifold.normal;
        let same = is_same_contact(old_normal, manifold.normal);
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            let (position, gap) = (found.position, -found.depth);
            *point = ExactPoint { position, gap, ..ExactPoint::default() };
            let known = (0..old_len).find(|&at| feature(at) == found.feature);
            if let Some(known) = known.map(|at| &old[at]) {
                point.total_impulse = known.total_impulse;
                if same {
                    point.impulse = turned_impulse(known.impulse, old_normal, manifold.normal);
                    point.approach = known.approach;
                }
            }
        }
    }
}

/// The near pairs of an exact step with their contacts, sorted by their colliders. A position is an index into that order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct NearList {
    entries: Vec<NearEntry>,
    #[serde(skip)]
    next: Vec<NearEntry>,
    contacts: Vec<ExactContact>,
    /// Unused entries of `contacts`.
    free: Vec<u32>,
    /// The fastest impact of each contact that had one since the step began.
    hits: Vec<ContactHit>,
}

/// An impact of a near pair: its number, the place of its contact, and the impact.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct ContactHit {
    pair: u32,
    contact: u32,
    hit: Hit,
}

/// A near pair: its colliders, smaller index first, their bodies, its number, and the place of its contact.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct NearEntry {
    key: (u32, u32),
    bodies: [u32; 2],
    pair: u32,
    contact: u32,
    /// Whether the contact may have points.
    has_points: bool,
}

impl NearList {
    /// Returns the number of near pairs.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the position of the pair of two colliders, or the position where it would be inserted.
    pub(crate) fn position(&self, key: (u32, u32)) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&key, |entry| entry.key)
    }

    /// Returns the number of the pair at a position.
    pub(crate) fn number(&self, position: usize) -> u32 {
        self.entries[position].pair
    }

    /// Returns the bodies of the pair at a position.
    pub(crate) fn bodies(&self, position: usize) -> [u32; 2] {
        self.entries[position].bodies
    }

    /// Returns the colliders of the pair at a position.
    pub(crate) fn colliders(&self, position: usize) -> (u32, u32) {
        self.entries[position].key
    }

    /// Returns whether the contact at a position may have points.
    pub(super) fn may_have_points(&self, position: usize) -> bool {
        self.entries[position].has_points
    }

    /// Registers whether the contact at a position has points, after they were found again.
    pub(crate) fn register_points(&mut self, position: usize) {
        let entry = &mut self.entries[position];
        entry.has_points = self.contacts[entry.contact as usize].has_points();
    }

    pub(crate) fn contact(&self, position: usize) -> &ExactContact {
        &self.contacts[self.entries[position].contact as usize]
    }

    pub(crate) fn contact_mut(&mut self, position: usize) -> &mut ExactContact {
        &mut self.contacts[self.entries[position].contact as usize]
    }

    /// Adds the impulse of a kick on B at a point of the contact at a position. `approach` is the normal velocity of an
    /// impact, zero if there is none. Returns the point.
    pub(crate) fn add_impulse(
        &mut self,
        position: usize,
        point: usize,
        impulse: Vec3,
        approach: f64,
    ) -> &mut ExactPoint {
        let NearEntry { pair, contact: place, .. } = self.entries[position];
        let contact = &mut self.contacts[place as usize];
        contact.impulse += impulse;
        contact.normal_impulse += impulse.dot(contact.normal);
        let normal = contact.normal;
        let to = &mut contact.points[point];
        to.total_impulse += impulse;
        for (moment, center) in contact.moments.iter_mut().zip(contact.centers) {
            *moment += (to.position - center).cross(impulse);
        }
        let speed = -approach;
        if speed > 0.0 {
            let hit = Hit { position: to.position, normal, speed };
            match contact.hit {
                None => {
                    contact.hit = NonZeroU32::new(self.hits.len() as u32 + 1);
                    self.hits.push(ContactHit { pair, contact: place, hit });
                }
                Some(known) => {
                    let known = &mut self.hits[known.get() as usize - 1].hit;
                    if known.speed < speed {
                        *known = hit;
                    }
                }
            }
        }
        to
    }

    /// Returns the fastest impact of each contact that had one since the step began: number of the pair, sum of the
    /// normal impulses over the step, N s, and the impact.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (u32, f64, &Hit)> {
        (1..).zip(&self.hits).filter_map(|(at, ContactHit { pair, contact, hit })| {
            let contact = &self.contacts[*contact as usize];
            // A contact that was reset since has none.
            (contact.hit == NonZeroU32::new(at)).then_some((*pair, contact.normal_impulse, hit))
        })
    }

    /// Clears the hits of the last step, and its sums of the pairs for which `is_computed` holds.
    pub(crate) fn begin_step(&mut self, is_computed: impl Fn([u32; 2]) -> bool) {
        for ContactHit { contact, .. } in self.hits.drain(..) {
            self.contacts[contact as usize].hit = None;
        }
        for entry in &self.entries {
            if is_computed(entry.bodies) {
                self.contacts[entry.contact as usize].begin_step();
            }
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
        let key = (swept.colliders[0], swept.colliders[1]);
        let bodies = swept.bodies;
        self.entries.push(NearEntry { key, bodies, pair, contact, has_points: true });
    }

    /// Removes the pairs for which `is_swept` holds.
    pub(crate) fn remove_swept(&mut self, is_swept: impl Fn([u32; 2]) -> bool) {
        let free = &mut self.free;
        self.entries.retain(|entry| {
            let stays = !is_swept(entry.bodies);
            if !stays {
                free.push(entry.contact);
            }
            stays
        });
    }

    /// Adds a near pair. [`sort`](Self::sort) follows.
    pub(crate) fn add(&mut self, key: (u32, u32), bodies: [u32; 2], pair: u32) {
        let contact = self.make_contact();
        self.entries.push(NearEntry { key, bodies, pair, contact, has_points: false });
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

    /// Keeps, adds and removes pairs so that those are near for which `is_exact`, by bodies, and `is_near` hold, by bodies
    /// and colliders. A pair that is no longer near stays if it met in this step, because that still has to be reported;
    /// otherwise `remove` is called with it. `far` is called with number and colliders of every other pair.
    pub(crate) fn update(
        &mut self,
        pairs: &mut PairList,
        colliders: &ColliderSet,
        is_exact: impl Fn([u32; 2]) -> bool,
        is_near: impl Fn([u32; 2], (u32, u32)) -> bool,
        mut remove: impl FnMut(u32, &mut ContactPair),
        mut far: impl FnMut(u32, (u32, u32)),
    ) {
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        let mut known = 0;
        for &PairEntry { key, number, .. } in &pairs.order {
            let bodies = colliders.bodies(key);
            if !is_exact(bodies) {
                continue;
            }
            let entry = self.entries.get(known).filter(|entry| entry.key == key).copied();
            known += usize::from(entry.is_some());
            let near = is_near(bodies, key);
            match entry {
                Some(entry) if near || self.contacts[entry.contact as usize].has_met() => {
                    next.push(entry);
                }
                Some(entry) => {
                    self.free.push(entry.contact);
                    remove(number, &mut pairs.all[number as usize]);
                    far(number, key);
                }
                None if near => {
                    let contact = self.make_contact();
                    next.push(NearEntry { key, bodies, pair: number, contact, has_points: false });
                }
                None => far(number, key),
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
