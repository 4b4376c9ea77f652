//! The rest tier: islands that their remembered impulses hold still are not computed again.
//!
//! A substep maps the state of an island to the next one: poses, velocities, contact points and remembered impulses. An
//! island is at rest if that map left it unchanged, bit for bit, in every substep of a step: its bodies stood still, the
//! remembered impulses satisfied every law without a sweep, and no position was corrected. As long as nothing acts on it
//! that did not act before, computing it again would give the same bits, so it is skipped.
//!
//! Whatever may act on it ends its rest before the step: a body that is not at rest and may come near, a moving
//! environment body, a change by the user, another time step, other settings, or another force of a field.
//!
//! With [`Settings::sleeping`], islands that have been slow for a while are stopped and skipped likewise (`rest/sleep.rs`).

mod sleep;

use crate::bodies::{BodySet, Potential};
use crate::collision::CollisionPipeline;
use crate::constraints::{IslandOutcome, Problems, Worst};
use crate::joints::JointSet;
use crate::math::SpatialVector;
use crate::motion::Motion;
use crate::settings::Settings;
use crate::solver::SolveReport;

/// The island of a body that is not at rest.
const NONE: u32 = u32::MAX;

/// Which bodies are at rest, and which are active. Lists are by body unless noted.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rest {
    /// The first body of its island at rest, or [`NONE`].
    island: Vec<u32>,
    /// Whether the body is inertial and not at rest.
    is_active: Vec<bool>,
    /// The active bodies, and the exact bodies that do not sleep, ascending.
    active: Vec<u32>,
    awake: Vec<u32>,
    /// Whether the lists above may be out of date, because bodies were added, removed, or are no longer at rest.
    dirty: bool,
    /// Whether the body was changed since the last step, and the list of these bodies.
    is_changed: Vec<bool>,
    changed: Vec<u32>,
    /// Number of substeps of this step in which the body was held still, and the first body of its island then.
    held: Vec<(u32, u32)>,
    /// The certificate of the island of which it is the first body: its solve, and the constraint that violates its law
    /// most.
    certificates: Vec<Option<(SolveReport, Worst)>>,
    /// By first body of an island: whether it was found not to be at rest any longer.
    ends: Vec<bool>,
    /// By first body of an island at rest: whether it was put to sleep.
    asleep: Vec<bool>,
    /// Whether there may be sleeping islands.
    any_asleep: bool,
    /// Time for which the body has been slow enough to sleep, s.
    slow_time: Vec<f64>,
    /// By body: whether it keeps its island awake, or is in an island with others; scratch of a search.
    #[serde(skip)]
    marks: Vec<sleep::Marks>,
    /// Number of steps with sleeping switched on.
    steps: u32,
    /// The time step and the settings of the last step.
    last: Option<(f64, Settings)>,
    /// Whether islands at rest are computed like all others.
    pub(crate) disabled: bool,
}

impl Rest {
    /// Registers that a body was added, changed or removed: its island is no longer at rest.
    pub(crate) fn mark_changed(&mut self, body: u32) {
        let index = body as usize;
        if self.is_changed.len() <= index {
            self.is_changed.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.is_changed[index], true) {
            self.changed.push(body);
        }
        if let Some(slow_time) = self.slow_time.get_mut(index) {
            *slow_time = 0.0;
        }
        if self.is_asleep(body) {
            let first = self.island[index];
            self.asleep[first as usize] = false;
        }
    }

    /// Registers that the inertial ones of two bodies are acted on in another way than before.
    pub(crate) fn mark_inertial_changed(&mut self, bodies: &BodySet, pair: [u32; 2]) {
        let inertial = pair.into_iter().filter(|&body| bodies.is_inertial(body as usize));
        inertial.for_each(|body| self.mark_changed(body));
    }

    /// Ends the rest of all islands.
    pub(crate) fn end_all(&mut self) {
        self.last = None;
        self.asleep.fill(false);
        self.slow_time.fill(0.0);
    }

    /// Returns the active bodies, ascending.
    pub(crate) fn active(&self) -> &[u32] {
        &self.active
    }

    /// Returns whether a body is inertial and not at rest.
    #[inline]
    pub(crate) fn is_active(&self, body: u32) -> bool {
        self.is_active[body as usize]
    }

    /// Returns whether one of two bodies is active.
    #[inline]
    pub(crate) fn is_any_active(&self, [a, b]: [u32; 2]) -> bool {
        self.is_active(a) || self.is_active(b)
    }

    /// Returns the number of exact bodies at rest.
    pub(crate) fn len(&self, exact: &[u32]) -> usize {
        exact.len() - self.active.len()
    }

    /// Begins a step: ends the rest of islands that were changed, or on which other forces act.
    pub(crate) fn begin_step(
        &mut self,
        bodies: &BodySet,
        exact: &[u32],
        potentials: &[Potential],
        settings: &Settings,
        motion: &Motion,
        dt: f64,
    ) {
        self.resize(bodies.poses.len());
        let same =
            self.last.as_ref().is_some_and(|(step, known)| *step == dt && known.acts_as(settings));
        for at in 0..self.changed.len() {
            let body = self.changed[at];
            self.end_island_of(body);
            self.dirty = true;
        }
        if self.dirty {
            self.update(exact);
        }
        if !same || self.disabled {
            self.dirty |= self.active.len() < exact.len();
            for body in 0..self.island.len() {
                // Sleep depends on neither.
                let first = self.island[body];
                if first != NONE && (self.disabled || !self.asleep[first as usize]) {
                    self.island[body] = NONE;
                }
            }
            self.last = Some((dt, settings.clone()));
        }
        if !potentials.is_empty() {
            let h = dt / f64::from(settings.substeps);
            for &body in exact {
                // The impulses of another time step are others.
                let comparable = same || !self.is_asleep(body);
                let rests = self.island[body as usize] != NONE && comparable;
                if rests && !motion.has_same_forces(bodies, potentials, settings.gravity, body, h) {
                    self.end_island_of(body);
                }
            }
        }
        self.update(exact);
        for &body in &self.active {
            self.held[body as usize].0 = 0;
        }
    }

    /// Updates the active bodies after the method of some bodies changed: their islands are no longer at rest.
    pub(crate) fn change_methods(&mut self, changed: [&[u32]; 2], exact: &[u32]) {
        for &body in changed.into_iter().flatten() {
            self.end_island_of(body);
            self.held[body as usize].0 = 0;
            self.slow_time[body as usize] = 0.0;
        }
        self.dirty = true;
        self.update(exact);
    }

    fn resize(&mut self, count: usize) {
        if self.island.len() == count {
            return;
        }
        self.dirty = true;
        self.island.resize(count, NONE);
        self.is_active.resize(count, false);
        self.is_changed.resize(count.max(self.is_changed.len()), false);
        self.held.resize(count, (0, NONE));
        self.certificates.resize(count, None);
        self.ends.resize(count, false);
        self.asleep.resize(count, false);
        self.slow_time.resize(count, 0.0);
        self.active.reserve(count.saturating_sub(self.active.len()));
        self.awake.reserve(count.saturating_sub(self.awake.len()));
        self.marks.reserve(count.saturating_sub(self.marks.len()));
        self.changed.reserve(count.saturating_sub(self.changed.len()));
    }

    /// Marks the island of a body as no longer at rest, if it is; [`update`](Self::update) follows.
    fn end_island_of(&mut self, body: u32) {
        let first = self.island[body as usize];
        if first != NONE {
            self.ends[first as usize] = true;
            self.asleep[first as usize] = false;
            self.dirty = true;
        }
    }

    /// Returns whether a body is at rest, in an island that is not about to end it.
    #[inline]
    fn rests(&self, body: u32) -> bool {
        let first = self.island[body as usize];
        first != NONE && !self.ends[first as usize]
    }

    /// Updates flags and list of active bodies after islands were marked.
    fn update(&mut self, exact: &[u32]) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        self.is_active.fill(false);
        self.active.clear();
        for body in 0..self.island.len() as u32 {
            if self.island[body as usize] != NONE && !self.rests(body) {
                self.island[body as usize] = NONE;
                self.held[body as usize].0 = 0;
                self.slow_time[body as usize] = 0.0;
            }
        }
        self.ends.fill(false);
        self.awake.clear();
        for &body in exact {
            if self.island[body as usize] == NONE {
                self.is_active[body as usize] = true;
                self.active.push(body);
            }
            if !self.is_asleep(body) {
                self.awake.push(body);
            }
        }
        self.any_asleep &= self.awake.len() < exact.len();
    }

    /// Ends the rest of islands that an active or moving body may reach, after near pairs were found. The sums over the
    /// step of their contacts and joints, which were those of a whole step, become those of the share `done`. Returns
    /// whether there are any.
    pub(crate) fn end_where_disturbed(
        &mut self,
        bodies: &BodySet,
        exact: &[u32],
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
        done: f64,
    ) -> bool {
        if self.active.len() == exact.len() {
            self.clear_changed();
            return false;
        }
        let links = joints.slots.iter().map(|index| joints.joints[index as usize].bodies);
        let mut marked = false;
        loop {
            // Sorted by bodies: one direction after the other follows chains of either order.
            let near = collision.near_pairs().map(|near| near.pair.bodies);
            let mut more = self.mark_disturbed(bodies, near.chain(links.clone()));
            if more {
                let near = (0..collision.near_len()).rev();
                let near = near.map(|at| collision.near_pair(at).pair.bodies);
                more = self.mark_disturbed(bodies, near);
            }
            marked |= self.dirty;
            if !more {
                break;
            }
        }
        self.clear_changed();
        if !marked {
            return false;
        }
        let ends = |rest: &Self, pair: [u32; 2]| {
            pair.iter().any(|&body| rest.island[body as usize] != NONE && !rest.rests(body))
        };
        collision.for_each_near(|pair, contact| {
            if ends(self, pair.bodies) {
                contact.keep_share(done);
            }
        });
        for joint in &mut joints.joints {
            if ends(self, joint.bodies) {
                joint.total *= done;
            }
        }
        self.update(exact);
        true
    }

    fn clear_changed(&mut self) {
        for body in self.changed.drain(..) {
            self.is_changed[body as usize] = false;
        }
    }

    /// Marks the islands at rest of which a body is linked to an active or disturbing one. Returns whether there are any.
    fn mark_disturbed(&mut self, bodies: &BodySet, links: impl Iterator<Item = [u32; 2]>) -> bool {
        let mut any = false;
        for [a, b] in links {
            for (body, other) in [(a, b), (b, a)] {
                if self.rests(body) && self.disturbs(bodies, other) {
                    self.end_island_of(body);
                    any = true;
                }
            }
        }
        any
    }

    /// Returns whether a body may act on its neighbors in a way in which it did not act before.
    fn disturbs(&self, bodies: &BodySet, body: u32) -> bool {
        let index = body as usize;
        match bodies.is_inertial(index) {
            true => !self.rests(body),
            false => {
                self.is_changed[index] || bodies.motions[index].velocity != SpatialVector::ZERO
            }
        }
    }

    /// Counts the islands that a substep left unchanged.
    pub(crate) fn count_held(&mut self, problems: &Problems) {
        for (members, outcome) in problems.outcomes() {
            let IslandOutcome { report, worst: Some(worst), held: true } = outcome else {
                continue;
            };
            let first = members[0];
            self.certificates[first as usize] = Some((*report, *worst));
            for &body in members {
                let count = &mut self.held[body as usize];
                *count = (count.0 + 1, first);
            }
        }
    }

    /// Ends a step of this many substeps: islands that each of them left unchanged are at rest.
    pub(crate) fn end_step(&mut self, exact: &[u32], substeps: u32) {
        if self.disabled {
            return;
        }
        // An island that grew within the step has bodies that were not held from its beginning.
        for &body in &self.active {
            let (count, first) = self.held[body as usize];
            if count > 0 && count < substeps {
                self.ends[first as usize] = true;
            }
        }
        for at in 0..self.active.len() {
            let body = self.active[at];
            let (count, first) = self.held[body as usize];
            if count == substeps && !self.ends[first as usize] {
                self.island[body as usize] = first;
                self.asleep[first as usize] = false;
                self.dirty = true;
            }
        }
        self.ends.fill(false);
        self.update(exact);
    }

    /// Returns the worst certificate of the islands at rest.
    pub(crate) fn certificate(&self, exact: &[u32]) -> Option<(SolveReport, Worst)> {
        let firsts = exact.iter().filter(|&&body| self.island[body as usize] == body);
        let all = firsts.filter_map(|&body| self.certificates[body as usize]);
        all.reduce(|(report, worst), (other, violation)| {
            let is_worse = violation.relative > worst.relative;
            (report.worse(&other), if is_worse { violation } else { worst })
        })
    }
}
