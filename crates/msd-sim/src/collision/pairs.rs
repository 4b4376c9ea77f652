//! The pairs of a world, in the order of their colliders.

use super::contact_pair::ContactPair;

/// The set of contacts that a contact belongs to: each has a constraint graph of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum ContactSet {
    /// Contacts of exact bodies.
    Exact,
    /// Contacts of swept bodies, awake or asleep.
    #[default]
    Swept,
}

/// The place of a contact in the constraint graph of its set: its color, and its index within the color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Slot {
    pub(crate) set: ContactSet,
    pub(crate) color: u8,
    pub(crate) index: u32,
}

impl Slot {
    /// The slot of a pair without a contact.
    pub(crate) const NONE: Self = Self { set: ContactSet::Swept, color: u8::MAX, index: 0 };

    /// Returns whether this is a place in the graph, not [`Slot::NONE`].
    pub(crate) fn is_assigned(&self) -> bool {
        self.color != u8::MAX
    }
}

/// All pairs of a world.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct PairList {
    /// Pairs by number, unused entries included.
    pub(crate) all: Vec<ContactPair>,
    /// Numbers of unused entries.
    free: Vec<u32>,
    /// Awake pairs, sorted by their colliders.
    pub(crate) order: Vec<PairEntry>,
    /// Pairs of which neither body moves because one sleeps, sorted by their colliders.
    pub(crate) asleep: Vec<PairEntry>,
    #[serde(skip)]
    scratch: Vec<PairEntry>,
}

/// An entry of a sorted list of pairs.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct PairEntry {
    /// Indices of the colliders, the smaller first.
    pub(crate) key: (u32, u32),
    /// Index into [`PairList::all`].
    pub(crate) number: u32,
    /// See [`ContactPair::recheck_distance`]; infinite for a pair with points.
    pub(crate) recheck_distance: f64,
}

impl PairList {
    /// Removes the pairs `dropped`, numbers ascending, and creates those of `found`, ascending and without duplicates,
    /// that do not exist yet. None of them has a contact.
    pub(crate) fn merge(
        &mut self,
        found: &[(u32, u32)],
        mut make: impl FnMut((u32, u32)) -> Option<ContactPair>,
        dropped: &[u32],
    ) {
        if found.is_empty() && dropped.is_empty() {
            return;
        }
        let Self { all, free, order, scratch, .. } = self;
        debug_assert!(dropped.iter().all(|&number| !all[number as usize].has_contact()));
        scratch.clear();
        let mut new = found.iter().copied().peekable();
        let mut insert = |key: (u32, u32), entries: &mut Vec<PairEntry>, free: &mut Vec<u32>| {
            let Some(pair) = make(key) else { return };
            let number = match free.pop() {
                Some(number) => {
                    all[number as usize] = pair;
                    number
                }
                None => {
                    all.push(pair);
                    all.len() as u32 - 1
                }
            };
            entries.push(PairEntry { key, number, recheck_distance: f64::NEG_INFINITY });
        };
        for &entry in order.iter() {
            let PairEntry { key, number, .. } = entry;
            while let Some(other) = new.next_if(|other| *other < key) {
                insert(other, scratch, free);
            }
            let again = new.next_if_eq(&key).is_some();
            if dropped.binary_search(&number).is_err() {
                scratch.push(entry);
            } else {
                free.push(number);
                if again {
                    insert(key, scratch, free);
                }
            }
        }
        for key in new {
            insert(key, scratch, free);
        }
        std::mem::swap(order, scratch);
    }

    /// Removes pairs, numbers ascending, that have no contact.
    pub(crate) fn remove(&mut self, numbers: &[u32]) {
        self.merge(&[], |_| None, numbers);
    }

    /// Returns the number of the pair of two colliders, awake or asleep.
    pub(crate) fn find(&self, key: (u32, u32)) -> Option<u32> {
        let find = |list: &[PairEntry]| {
            let at = list.binary_search_by_key(&key, |entry| entry.key).ok()?;
            Some(list[at].number)
        };
        find(&self.order).or_else(|| find(&self.asleep))
    }

    /// Returns whether a pair is asleep.
    pub(crate) fn is_asleep(&self, key: (u32, u32)) -> bool {
        !self.asleep.is_empty() && self.asleep.binary_search_by_key(&key, |entry| entry.key).is_ok()
    }

    /// Marks a pair without points to be checked in the next update.
    pub(crate) fn recheck(&mut self, number: u32) {
        let key = self.all[number as usize].key();
        if let Ok(at) = self.order.binary_search_by_key(&key, |entry| entry.key) {
            self.order[at].recheck_distance = f64::NEG_INFINITY;
        }
    }
}
