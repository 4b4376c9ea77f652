//! The islands of a swept world that can fall asleep together: bodies connected by contacts or joints.

/// A union-find structure over bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// By body: a body of its island with a smaller index, or itself if it has the smallest.
    parents: Vec<u32>,
    /// By body: whether it keeps its island awake.
    awake: Vec<bool>,
}

impl Islands {
    /// Makes every body an island of its own, kept awake if `awake` returns true for it.
    pub(crate) fn begin(&mut self, count: usize, bodies: &[u32], awake: impl Fn(u32) -> bool) {
        self.parents.resize(count, 0);
        self.awake.resize(count, false);
        for &body in bodies {
            self.parents[body as usize] = body;
            self.awake[body as usize] = awake(body);
        }
    }

    /// Returns the smallest index in a body's island.
    fn root(&mut self, mut body: u32) -> u32 {
        loop {
            let parent = self.parents[body as usize];
            if parent == body {
                return body;
            }
            // Path halving: each lookup halves the path for the next.
            let next = self.parents[parent as usize];
            self.parents[body as usize] = next;
            body = next;
        }
    }

    /// Joins the islands of two bodies.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, second) = (a.min(b), a.max(b));
        self.parents[second as usize] = first;
        let awake = self.awake[second as usize];
        self.awake[first as usize] |= awake;
    }

    /// Keeps a body's island awake.
    pub(crate) fn keep_awake(&mut self, body: u32) {
        let root = self.root(body);
        self.awake[root as usize] = true;
    }

    /// Collects those of `bodies` whose islands nothing keeps awake: the first body of the island and the body itself,
    /// ascending.
    pub(crate) fn collect_resting(&mut self, bodies: &[u32], resting: &mut Vec<(u32, u32)>) {
        resting.clear();
        for &body in bodies {
            let root = self.root(body);
            if !self.awake[root as usize] {
                resting.push((root, body));
            }
        }
        resting.sort_unstable();
    }
}
