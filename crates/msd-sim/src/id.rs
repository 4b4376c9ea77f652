//! Handles: the index of a slot, and a generation that distinguishes its occupant from earlier ones.

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub struct $name {
            pub(crate) index: u32,
            pub(crate) generation: u32,
        }

        impl $name {
            /// Creates a handle from parts that were stored elsewhere. A lookup fails if they name nothing.
            pub fn from_raw_parts(index: u32, generation: u32) -> Self {
                Self { index, generation }
            }

            /// Returns the index of the slot: unique at any one time, reused after a removal.
            pub fn index(self) -> usize {
                self.index as usize
            }

            /// Returns the generation: how many occupants the slot had before.
            pub fn generation(self) -> u32 {
                self.generation
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}#{}", self.index, self.generation)
            }
        }
    };
}

handle! {
    /// A handle to a body of a [`World`](crate::World). A handle to a removed body finds nothing, even when a new
    /// body occupies its slot.
    #[doc(alias = "RigidBodyHandle")]
    BodyId
}

handle! {
    /// A handle to a collider of a [`World`](crate::World), as [`BodyId`] is to a body.
    #[doc(alias = "ColliderHandle")]
    ColliderId
}

handle! {
    /// A handle to a joint of a [`World`](crate::World), as [`BodyId`] is to a body.
    #[doc(alias = "ImpulseJointHandle")]
    JointId
}

handle! {
    /// A handle to a force field of a [`World`](crate::World), as [`BodyId`] is to a body.
    PotentialId
}

/// An iterator and the number of items it still has.
struct Counted<I> {
    left: usize,
    iter: I,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.iter.next()?;
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<A, F: FnMut(A, I::Item) -> A>(self, start: A, add: F) -> A {
        self.iter.fold(start, add)
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

/// Slots with generations; freed slots are reused, last freed first.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Slots {
    generations: Vec<u32>,
    occupied: Vec<bool>,
    free: Vec<u32>,
}

impl Slots {
    /// Occupies a slot and returns its index and generation. A new slot is appended if none is free.
    pub(crate) fn take(&mut self) -> (u32, u32) {
        if let Some(index) = self.free.pop() {
            self.occupied[index as usize] = true;
            return (index, self.generations[index as usize]);
        }
        let index = self.generations.len() as u32;
        self.generations.push(0);
        self.occupied.push(true);
        (index, 0)
    }

    /// Frees a slot.
    pub(crate) fn free(&mut self, index: u32) {
        self.occupied[index as usize] = false;
        self.generations[index as usize] += 1;
        self.free.push(index);
    }

    /// Returns whether a slot is occupied in this generation.
    pub(crate) fn contains(&self, index: u32, generation: u32) -> bool {
        self.is_occupied(index) && self.generations[index as usize] == generation
    }

    pub(crate) fn is_occupied(&self, index: u32) -> bool {
        self.occupied.get(index as usize).copied().unwrap_or(false)
    }

    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.generations[index as usize]
    }

    /// Returns the indices of occupied slots, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.occupied.iter().enumerate().filter(|(_, used)| **used).map(|(index, _)| index as u32)
    }

    /// Returns the items of the occupied slots, in the order of their indices, as an iterator of known length.
    pub(crate) fn map<'a, T>(
        &'a self,
        item: impl Fn(u32) -> T + 'a,
    ) -> impl ExactSizeIterator<Item = T> + 'a {
        Counted { left: self.occupied(), iter: self.iter().map(item) }
    }

    /// Returns the number of slots, occupied or not.
    pub(crate) fn len(&self) -> usize {
        self.generations.len()
    }

    /// Returns the number of occupied slots.
    pub(crate) fn occupied(&self) -> usize {
        self.generations.len() - self.free.len()
    }
}
