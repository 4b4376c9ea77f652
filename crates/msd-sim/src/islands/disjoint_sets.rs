//! Disjoint sets of bodies (union-find).

/// Sets of bodies. The root of a set is its smallest body, so it does not depend on the order of joins.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisjointSets {
    /// By body: its parent; itself for a root, `NONE` for a body in no set.
    parents: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl DisjointSets {
    /// Makes room for this many bodies.
    pub(crate) fn resize(&mut self, count: usize) {
        self.parents.resize(count, NONE);
    }

    /// Reserves memory for this many bodies.
    pub(super) fn reserve(&mut self, count: usize) {
        self.parents.reserve(count.saturating_sub(self.parents.len()));
    }

    /// Puts a body in a set of its own. Sets that it was in must be reset as a whole.
    pub(crate) fn reset(&mut self, body: u32) {
        self.parents[body as usize] = body;
    }

    /// Takes a body out of all sets. Sets that it was in must be removed as a whole.
    pub(super) fn remove(&mut self, body: u32) {
        self.parents[body as usize] = NONE;
    }

    /// Returns whether a body is in a set.
    pub(super) fn contains(&self, body: u32) -> bool {
        self.parents[body as usize] != NONE
    }

    /// Joins the sets of two bodies. Paths to the root are halved on the way.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let [a, b] = [a, b].map(|mut body| {
            while self.parents[body as usize] != body {
                let parent = self.parents[body as usize];
                self.parents[body as usize] = self.parents[parent as usize];
                body = self.parents[body as usize];
            }
            body
        });
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Returns the root of a body's set.
    pub(crate) fn root(&self, mut body: u32) -> u32 {
        while self.parents[body as usize] != body {
            body = self.parents[body as usize];
        }
        body
    }
}
