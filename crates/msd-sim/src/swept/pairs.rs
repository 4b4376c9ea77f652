//! The pairs of a swept world: bodies whose enlarged bounds overlap, with what their manifolds were computed from.

use super::contact_block::NewContact;
use super::graph::{ConstraintGraph, Slot};
use super::sweep_bodies::MotionBounds;
use crate::bodies::BodySet;
use crate::collision::{PairProperties, closing_speed, find_manifold, relative_motion};
use crate::geometry::{Manifold, PairMemory, Workspace};
use crate::math::Pose;
use crate::settings::Settings;

/// Relative motion of two bodies, as a fraction of the smaller size, up to which their contact points are reused. The
/// error of the gap at a point is then below its square, the error of the point's position below it.
const REUSE: f64 = 0.02;

/// Extra margin within which points are found, as a fraction of the smaller size, so that a manifold stays valid when
/// the bodies get a little faster.
const EXTRA_MARGIN: f64 = 0.02;

/// Maximum motion per step that the margin covers, as a multiple of the smaller size: continuous collision detection
/// stops faster bodies.
const MAX_CLOSING_DISTANCE: f64 = 1.0;

/// Depth that is not corrected, as a fraction of the smaller size, so that resting contacts are not pushed apart.
const SLOP: f64 = 5e-4;

/// Two bodies whose enlarged bounds overlap. The fields that every check needs come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct SweptPair {
    /// Bodies A and B; A has the smaller index.
    pub(crate) bodies: [u32; 2],
    /// Place of the contact in the graph, if the pair has points.
    pub(crate) slot: Slot,
    /// Whether the surfaces touched in the last step.
    pub(crate) touching: bool,
    /// Whether `found_at`, `clearance` and `odometer` are valid.
    valid: bool,
    /// Smaller of the two sizes, m.
    size: f64,
    /// Smaller of the two radii, m.
    radius: f64,
    /// With points: the margin within which they were found, m. Without: a lower bound of the bodies' distance, m.
    clearance: f64,
    /// Pose of B relative to A when the manifold was computed.
    found_at: Pose,
    /// Sum of both odometers less the relative motion since `found_at`, at the last update, m.
    odometer: f64,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    memory: PairMemory,
}

/// The result of updating a pair.
pub(crate) enum ManifoldChange {
    /// The manifold is still valid, or the pair still has no points.
    Unchanged,
    /// A new manifold, to be stored in a block.
    Points(Manifold),
    /// The pair no longer has points.
    Separated,
}

impl SweptPair {
    pub(crate) fn new(a: u32, b: u32, bodies: &BodySet) -> Self {
        let PairProperties { friction, restitution, size, radius } =
            PairProperties::of(bodies, [a, b]);
        Self {
            bodies: [a, b],
            slot: Slot::NONE,
            touching: false,
            valid: false,
            friction,
            restitution,
            size,
            radius,
            found_at: Pose::IDENTITY,
            odometer: 0.0,
            clearance: 0.0,
            memory: PairMemory::default(),
        }
    }

    /// Returns whether the pair has contact points, and hence a slot in the graph.
    pub(crate) fn has_contact(&self) -> bool {
        self.slot.is_assigned()
    }

    /// Returns the data with which the pair's contact enters a block.
    pub(crate) fn new_contact(&self, pair: u32, settings: &Settings) -> NewContact {
        NewContact {
            bodies: self.bodies.map(|body| body + 1),
            pair,
            friction: self.friction,
            restitution: self.restitution,
            slop: SLOP * self.size,
            touch_distance: settings.margin * self.size,
        }
    }

    /// Invalidates the manifold and clears the memory of the pair.
    pub(crate) fn invalidate(&mut self) {
        self.valid = false;
        self.memory = PairMemory::default();
    }

    /// Recomputes friction and restitution from the bodies' materials.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet) {
        let properties = PairProperties::of(bodies, self.bodies);
        (self.friction, self.restitution) = (properties.friction, properties.restitution);
    }

    /// Returns the sum of both odometers and of both bodies' motion in a step up to which a pair without points cannot
    /// get any, m. Infinite for a pair with points.
    pub(crate) fn recheck_distance(&self, settings: &Settings) -> f64 {
        match (self.has_contact(), self.valid) {
            (true, _) => f64::INFINITY,
            (false, false) => f64::NEG_INFINITY,
            (false, true) => self.odometer + self.clearance - settings.margin * self.size,
        }
    }

    /// Returns the sum of odometers, m, and the sum of speeds, m/s, up to which points remain valid, in steps of `dt`.
    pub(crate) fn recheck_limits(&self, settings: &Settings, dt: f64) -> (f64, f64) {
        if !self.valid {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let speed = (self.clearance - settings.margin * self.size) / dt;
        (self.odometer + REUSE * self.size, speed)
    }

    /// Updates the manifold for the bodies' poses, ahead of a step of `dt`.
    pub(crate) fn update(
        &mut self,
        bodies: &BodySet,
        motion_bounds: &[MotionBounds],
        settings: &Settings,
        dt: f64,
        workspace: &mut Workspace,
    ) -> ManifoldChange {
        let [a, b] = self.bodies.map(|body| body as usize);
        let odometer = motion_bounds[a].odometer + motion_bounds[b].odometer;
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        let relative = poses[0].relative(poses[1]);
        let farthest = MAX_CLOSING_DISTANCE * self.size;
        let margin = |closing: f64| settings.margin * self.size + (closing * dt).min(farthest);
        let has_contact = self.has_contact();
        // Whether the last result still holds after this motion, within this margin.
        let still_valid = |moved: f64, margin: f64| match has_contact {
            true => moved <= REUSE * self.size && margin <= self.clearance,
            false => moved + margin < self.clearance,
        };
        let mut closing = None;
        if self.valid {
            let moved = relative_motion(&self.found_at, &relative, self.radius);
            let valid = still_valid(moved, margin(motion_bounds[a].speed + motion_bounds[b].speed))
                || still_valid(moved, margin(*closing.insert(closing_speed(bodies, self.bodies))));
            if valid {
                self.odometer = odometer - moved;
                return ManifoldChange::Unchanged;
            }
        }
        let margin = margin(closing.unwrap_or_else(|| closing_speed(bodies, self.bodies)));
        let margin = margin + EXTRA_MARGIN * self.size;
        let memory = &mut self.memory;
        let manifold = find_manifold(bodies, self.bodies, poses, margin, memory, workspace);
        self.valid = true;
        self.found_at = relative;
        self.odometer = odometer;
        if manifold.is_empty() {
            self.clearance = self.memory.clearance().max(margin);
            if has_contact { ManifoldChange::Separated } else { ManifoldChange::Unchanged }
        } else {
            self.clearance = margin;
            ManifoldChange::Points(manifold)
        }
    }
}

/// All pairs of a swept world.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairList {
    /// Pairs by number, unused entries included.
    pub(crate) all: Vec<SweptPair>,
    /// Numbers of unused entries.
    free: Vec<u32>,
    /// Awake pairs, sorted by their bodies.
    pub(crate) order: Vec<PairEntry>,
    scratch: Vec<PairEntry>,
}

/// An entry of the sorted list of pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairEntry {
    /// Indices of the bodies, the smaller first.
    pub(crate) key: (u32, u32),
    /// Index into [`PairList::all`].
    pub(crate) number: u32,
    /// See [`SweptPair::recheck_distance`]; infinite for a pair with points.
    pub(crate) recheck_distance: f64,
}

impl PairList {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
        self.order.clear();
    }

    /// Removes the pairs `dropped`, numbers ascending, and creates those of `found`, ascending and without duplicates,
    /// that do not exist yet. Neither have contact points.
    pub(crate) fn merge(
        &mut self,
        found: &[(u32, u32)],
        mut make: impl FnMut((u32, u32)) -> Option<SweptPair>,
        dropped: &[u32],
    ) {
        if found.is_empty() && dropped.is_empty() {
            return;
        }
        let Self { all, free, order, scratch } = self;
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

    /// Returns the numbers of a body's pairs.
    pub(crate) fn of_body(&self, body: u32) -> impl Iterator<Item = u32> + '_ {
        let has_body = move |entry: &&PairEntry| entry.key.0 == body || entry.key.1 == body;
        self.order.iter().filter(has_body).map(|entry| entry.number)
    }

    /// Marks a pair without points to be checked in the next update.
    pub(crate) fn recheck(&mut self, number: u32) {
        let [a, b] = self.all[number as usize].bodies;
        if let Ok(at) = self.order.binary_search_by_key(&(a, b), |entry| entry.key) {
            self.order[at].recheck_distance = f64::NEG_INFINITY;
        }
    }

    /// Removes a pair's contact from the graph, and marks the pair to be checked in the next update.
    pub(crate) fn remove_contact(&mut self, number: u32, graph: &mut ConstraintGraph) {
        self.release_slot(number, graph);
        self.recheck(number);
    }

    /// Releases a pair's slot in the graph.
    pub(crate) fn release_slot(&mut self, number: u32, graph: &mut ConstraintGraph) {
        let slot = std::mem::replace(&mut self.all[number as usize].slot, Slot::NONE);
        if slot.is_assigned()
            && let Some(moved) = graph.remove(slot)
        {
            self.all[moved as usize].slot = slot;
        }
    }
}
