//! Which bodies of a swept world rest together: those that touch each other or that joints connect.

/// Bodies in sets that are joined one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// By body: another of its set with a smaller index, or itself if it has the smallest.
    parents: Vec<u32>,
    /// By body: whether it keeps its island awake.
    awake: Vec<bool>,
}

impl Islands {
    /// Every body is alone, and lively if `awake` says so.
    pub(crate) fn begin(&mut self, count: usize, bodies: &[u32], awake: impl Fn(u32) -> bool) {
        self.parents.resize(count, 0);
        self.awake.resize(count, false);
        for &body in bodies {
            self.parents[body as usize] = body;
            self.awake[body as usize] = awake(body);
        }
    }

    /// The smallest index of a body's set.
    fn root(&mut self, mut body: u32) -> u32 {
        loop {
            let parent = self.parents[body as usize];
            if parent == body {
                return body;
            }
            // Each look halves the way for the next.
            let next = self.parents[parent as usize];
            self.parents[body as usize] = next;
            body = next;
        }
    }

    /// Two bodies rest on each other.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, second) = (a.min(b), a.max(b));
        self.parents[second as usize] = first;
        let awake = self.awake[second as usize];
        self.awake[first as usize] |= awake;
    }

    /// Something keeps a body, and all that it rests on, awake.
    pub(crate) fn keep_awake(&mut self, body: u32) {
        let root = self.root(body);
        self.awake[root as usize] = true;
    }

    /// Those of `bodies` whose islands have nobody lively: the first of each one's island, and itself, ascending.
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
