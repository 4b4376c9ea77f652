//! The cost of exact steps, by which the next method is chosen.

use std::ops::AddAssign;

use crate::settings::FEW_BODIES;

/// A cost, in visits of a contact point by a sweep. It is counted, not timed, so that results do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cost {
    /// Of islands in which surfaces slide or open, and of impacts.
    pub(crate) in_motion: u64,
    /// Of islands that land or come to rest.
    pub(crate) calm: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.in_motion += other.in_motion;
        self.calm += other.calm;
    }
}

/// The costs of the islands of a step that have more than a few bodies.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Costs {
    /// By body: its shares of the costs of its islands.
    by_body: Vec<Cost>,
    /// The largest of them.
    most: u64,
    /// Whether costs are counted: not without a limit.
    counts: bool,
}

impl Costs {
    /// Begins a step, without costs; `counts` is whether there is a limit on them.
    pub(crate) fn begin_step(&mut self, bodies: usize, counts: bool) {
        self.by_body.clear();
        (self.most, self.counts) = (0, counts);
        if counts {
            self.by_body.resize(bodies, Cost::default());
        }
    }

    /// Clears the cost of a body that is added or removed.
    pub(crate) fn reset(&mut self, body: u32) {
        if let Some(cost) = self.by_body.get_mut(body as usize) {
            *cost = Cost::default();
        }
    }

    /// Adds the cost of an island to its bodies, in equal shares.
    pub(crate) fn add(&mut self, members: &[u32], cost: u64, in_motion: bool) {
        if !self.counts || members.len() <= FEW_BODIES {
            return;
        }
        let share = cost.div_ceil(members.len() as u64);
        let share = match in_motion {
            true => Cost { in_motion: share, calm: 0 },
            false => Cost { in_motion: 0, calm: share },
        };
        for &body in members {
            if let Some(cost) = self.by_body.get_mut(body as usize) {
                *cost += share;
                self.most = self.most.max(cost.in_motion + cost.calm);
            }
        }
    }

    /// Returns the cost of a body; zero if it is new or costs are not counted.
    pub(crate) fn of(&self, body: u32) -> Cost {
        self.by_body.get(body as usize).copied().unwrap_or_default()
    }

    /// Returns the largest cost of a body.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }
}
