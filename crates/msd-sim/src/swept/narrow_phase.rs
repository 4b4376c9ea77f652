//! The narrow phase of a swept world: updates manifolds once per step, and the constraint graph with them.
#![allow(unsafe_code)]

use super::{Swept, WorkerOutput};
use crate::bodies::BodySet;
use crate::collision::{
    CollisionPipeline, ContactPair, ManifoldChange, MotionBounds, PairEntry, PairList,
};
use crate::constraints::Contacts;
use crate::constraints::contact_block::{ContactBlock, NewContact};
use crate::constraints::graph::{COLORS, ConstraintGraph};
use crate::constraints::solver_rows::SolverRows;
use crate::methods::Methods;
use crate::model::Model;
use crate::settings::Settings;
use crate::threads::{DisjointSlice, ThreadPool, Worker};

/// Number of pairs to prefetch ahead.
const AHEAD: usize = 12;

/// The data that all workers share while they update pairs.
struct Update<'a> {
    bodies: &'a BodySet,
    collision: &'a CollisionPipeline,
    settings: &'a Settings,
    dt: f64,
    motion_bounds: &'a [MotionBounds],
    /// By body: whether its bounds were enlarged in this step.
    enlarged: &'a [bool],
    methods: &'a Methods,
    order: DisjointSlice<'a, PairEntry>,
    /// A pair without a contact belongs to the worker that has its entry in `order`; a pair with a contact, whose
    /// recheck distance is infinite, to the worker that has its block.
    pairs: DisjointSlice<'a, ContactPair>,
    colors: &'a [Option<(DisjointSlice<'a, ContactBlock>, DisjointSlice<'a, SolverRows>)>],
}

impl Swept {
    /// Updates all pairs for the bodies' poses, removes lost contacts from the graph, and adds new ones.
    pub(crate) fn update_contacts(
        &mut self,
        model: &Model,
        contacts: &mut Contacts,
        methods: &Methods,
        threads: &mut ThreadPool,
        dt: f64,
    ) {
        let Model { bodies, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let mut pairs = std::mem::take(&mut collision.pairs);
        let graph = &mut constraints.contacts;
        let Self { outputs, .. } = self;
        let mut colors = [const { None }; COLORS];
        for (to, color) in colors.iter_mut().zip(&mut graph.colors) {
            *to =
                Some((DisjointSlice::new(&mut color.blocks), DisjointSlice::new(&mut color.rows)));
        }
        let update = Update {
            bodies,
            collision,
            settings,
            dt,
            motion_bounds: &collision.motion_bounds,
            enlarged: &collision.enlarged,
            methods,
            order: DisjointSlice::new(&mut pairs.order),
            pairs: DisjointSlice::new(&mut pairs.all),
            colors: &colors,
        };
        let shared = DisjointSlice::new(outputs);
        threads.run(|worker| {
            // SAFETY: each worker has its own output.
            let output = unsafe { shared.get_mut(worker.index) };
            output.dropped.clear();
            output.new_contacts.clear();
            output.lost_contacts.clear();
            output.any_fast = false;
            update.pairs_without_contact(worker, output);
            update.contacts(worker, output);
        });
        self.update_graph(bodies, collision, &mut pairs, graph, settings, dt);
        collision.pairs = pairs;
    }

    /// Removes lost contacts from the graph and adds new ones, in the order of their colliders, so that the result depends
    /// neither on the number of workers nor on other islands.
    fn update_graph(
        &mut self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        pairs: &mut PairList,
        graph: &mut ConstraintGraph,
        settings: &Settings,
        dt: f64,
    ) {
        let Self { outputs, new_contacts, lost_contacts, changes, any_restitution, .. } = self;
        self.any_fast = outputs.iter().any(|output| output.any_fast);
        let (dropped, bounds) = (&mut collision.dropped, &collision.motion_bounds);
        let first = dropped.len();
        new_contacts.clear();
        lost_contacts.clear();
        changes.clear();
        for output in outputs.iter() {
            dropped.extend_from_slice(&output.dropped);
            new_contacts.extend_from_slice(&output.new_contacts);
            lost_contacts.extend_from_slice(&output.lost_contacts);
        }
        dropped[first..].sort_unstable();
        lost_contacts.sort_unstable();
        // By bodies, not by number: numbers depend on pairs anywhere in the world, and colors on this order.
        new_contacts.sort_unstable_by_key(|(number, _)| pairs.all[*number as usize].key());
        for &number in lost_contacts.iter().chain(&dropped[first..]) {
            graph.remove_contact(pairs, number);
            let pair = &mut pairs.all[number as usize];
            if std::mem::take(&mut pair.touching) {
                changes.push((pair.key(), false));
            }
        }
        for (number, manifold) in new_contacts.iter() {
            let pair = &mut pairs.all[*number as usize];
            let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
            let slot = graph.add(&NewContact::of(pair, *number, settings), inertial);
            pair.slot = slot;
            *any_restitution |= pair.restitution > 0.0;
            let (block, rows, lane) = graph.contact_mut(slot);
            let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
            block.set_points(lane, manifold, poses);
            let [a, b] = pair.bodies.map(|body| bounds[body as usize].speed);
            let speed = a + b;
            rows.set_recheck(lane, pair.recheck_limits(settings, speed, dt));
            block.set_fast(lane, pair.outgrows_points(speed * dt));
            self.any_fast |= block.is_fast(lane);
        }
    }
}

impl Update<'_> {
    /// Updates the pairs in this worker's range that have no contact points and may have come near enough to get some.
    fn pairs_without_contact(&self, worker: &Worker<'_>, output: &mut WorkerOutput) {
        // SAFETY: ranges are disjoint.
        let entries = unsafe { self.order.range_mut(worker.range(self.order.len())) };
        let mut ahead = 0;
        for at in 0..entries.len() {
            // Pairs are scattered in memory, so the ones to be checked are prefetched.
            ahead = ahead.max(at + 1);
            while ahead < entries.len() && ahead < at + AHEAD {
                if self.needs_check(&entries[ahead]) {
                    self.pairs.prefetch(entries[ahead].number as usize);
                }
                ahead += 1;
            }
            let entry = &mut entries[at];
            if !self.needs_check(entry) {
                continue;
            }
            let ends = self.bodies.colliders.bodies(entry.key);
            if self.methods.is_any_exact(self.bodies, ends) {
                continue;
            }
            let (a, b) = entry.key;
            if self.is_enlarged(ends) && !self.collision.bounds_overlap(a, b) {
                output.dropped.push(entry.number);
                continue;
            }
            // SAFETY: a pair without a contact belongs to the worker that has its entry.
            let pair = unsafe { self.pairs.get_mut(entry.number as usize) };
            debug_assert!(!pair.has_contact(), "its recheck distance is infinite");
            let change = self.update(pair, output);
            entry.recheck_distance = pair.recheck_distance(self.settings);
            if let ManifoldChange::Points(manifold) = change {
                entry.recheck_distance = f64::INFINITY;
                output.new_contacts.push((entry.number, manifold));
            } else if pair.touching {
                // It touched in the exact step before.
                output.lost_contacts.push(entry.number);
            }
        }
    }

    /// Updates the contacts in this worker's range of every color.
    fn contacts(&self, worker: &Worker<'_>, output: &mut WorkerOutput) {
        for (blocks, rows) in self.colors.iter().flatten() {
            let range = worker.range(blocks.len());
            // SAFETY: ranges are disjoint.
            let (blocks, rows) =
                unsafe { (blocks.range_mut(range.clone()), rows.range_mut(range)) };
            for (block, rows) in blocks.iter_mut().zip(rows) {
                for lane in 0..4 {
                    if block.pairs[lane] != u32::MAX {
                        self.contact(block, rows, lane, output);
                    }
                }
            }
        }
    }

    /// Updates a contact if its bodies moved too far or got too fast for its manifold.
    fn contact(
        &self,
        block: &mut ContactBlock,
        rows: &mut SolverRows,
        lane: usize,
        output: &mut WorkerOutput,
    ) {
        let number = block.pairs[lane];
        let [a, b] = [0, 1].map(|side: usize| block.bodies[side][lane] - 1);
        let enlarged = self.is_enlarged([a, b]);
        let (ta, tb) = (&self.motion_bounds[a as usize], &self.motion_bounds[b as usize]);
        let speed = ta.speed + tb.speed;
        block.set_fast(lane, rows.outgrown_by(lane, speed * self.dt));
        output.any_fast |= block.is_fast(lane);
        let holds = ta.odometer + tb.odometer <= rows.recheck_distance.0[lane]
            && speed <= rows.recheck_speed.0[lane];
        if holds && !enlarged {
            return;
        }
        // SAFETY: a pair with a contact belongs to the worker that has its block.
        let pair = unsafe { self.pairs.get_mut(number as usize) };
        let [collider_a, collider_b] = pair.colliders;
        if enlarged && !self.collision.bounds_overlap(collider_a, collider_b) {
            output.dropped.push(number);
            return;
        }
        match self.update(pair, output) {
            ManifoldChange::Unchanged => {
                rows.set_recheck(lane, pair.recheck_limits(self.settings, speed, self.dt));
            }
            ManifoldChange::Points(manifold) => {
                let poses = pair.bodies.map(|body| &self.bodies.poses[body as usize]);
                rows.replace_points(lane, &manifold, block);
                block.set_points(lane, &manifold, poses);
                rows.set_recheck(lane, pair.recheck_limits(self.settings, speed, self.dt));
            }
            ManifoldChange::Separated => output.lost_contacts.push(number),
        }
    }

    fn update(&self, pair: &mut ContactPair, output: &mut WorkerOutput) -> ManifoldChange {
        let workspace = &mut output.workspace;
        pair.update(self.bodies, self.motion_bounds, self.settings, self.dt, workspace)
    }

    fn is_enlarged(&self, [a, b]: [u32; 2]) -> bool {
        self.enlarged[a as usize] || self.enlarged[b as usize]
    }

    /// Returns whether a pair without points may have come near enough to get some. Pairs with points are checked by
    /// [`Self::contact`] instead.
    fn needs_check(&self, entry: &PairEntry) -> bool {
        self.collision.needs_check(self.bodies, entry, self.dt)
    }
}
