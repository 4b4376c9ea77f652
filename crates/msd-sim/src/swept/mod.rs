//! Steps of large worlds: contacts are found once a step, kept in colours, and swept four at a time on all threads.
//!
//! A step is cut into substeps as in small worlds, and each is drift, kick, drift. In every substep impulses are
//! found by two sweeps over all contacts and joints: one with a bias that takes overlaps back, before bodies
//! move, and one without, so that nothing of it stays in their velocities. See `docs/book/swept.md`.

mod audit;
mod block;
mod check;
mod crew;
mod gather;
mod graph;
mod islands;
mod lanes;
mod pairs;
mod prepare;
mod reach;
mod riders;
mod sleep;
mod solve;
mod stops;
mod sweep;
mod tell;
mod ties;

use crate::audit::momentum;
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Hit};
use crate::geometry::{Manifold, Workspace};
use crate::math::SpatialVector;
use crate::parallel::Parted;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::world::World;
use check::Residuals;
use crew::Crew;
use graph::Graph;
use pairs::{NearPair, News, Pairs};
use riders::{Frame, Push, Rider, Shift, Trip};
use sleep::Sleepers;
pub(crate) use tell::SweptContact;
use ties::Ties;

/// What a swept world knows from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Whether the last step wby sweeping's.
    pub(crate) running: bool,
    /// Whether the step is the first one after exact steps.
    starts: bool,
    /// Whether wide lanes are left alone where the machine has them. The bits do not depend on it.
    pub(crate) narrow: bool,
    /// Bodies about which nothing is known, and whether all pairs are to be looked at again.
    strangers: Vec<u32>,
    stale: bool,
    /// Bodies that impulses move, and environment bodies that move; whether they are to be listed anew.
    riding: Vec<u32>,
    driving: Vec<u32>,
    stale_riding: bool,
    riders: Vec<Rider>,
    shifts: Vec<Shift>,
    frames: Vec<Frame>,
    pushes: Vec<Push>,
    pulls: Vec<Push>,
    /// By body.
    trips: Vec<Trip>,
    reboxed: Vec<bool>,
    pairs: Pairs,
    graph: Graph,
    ties: Ties,
    stale_ties: bool,
    /// How far contacts and joints were from their laws, where that is measured.
    residuals: Residuals,
    sleepers: Sleepers,
    /// Whether a contact has a restitution.
    bouncy: bool,
    crew: Crew,
    notes: Vec<Notes>,
    /// Those of workers that do not take part in this step.
    spare_notes: Vec<Notes>,
    candidates: Vec<(u32, u32)>,
    dropped: Vec<u32>,
    begun: Vec<(u32, Manifold)>,
    ended: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    /// Pairs that touched and may no longer collide.
    parted: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
}

/// What one worker finds.
#[derive(Clone, Debug, Default)]
struct Notes {
    workspace: Workspace,
    candidates: Vec<(u32, u32)>,
    moved: Vec<u32>,
    dropped: Vec<u32>,
    begun: Vec<(u32, Manifold)>,
    ended: Vec<u32>,
    changes: Vec<((u32, u32), bool)>,
    hits: Vec<((u32, u32), Hit, f64)>,
    contacts: usize,
    /// Sleeping islands that were touched, and pairs that passed each other.
    touched: Vec<u32>,
    passed: Vec<u32>,
    /// Bodies that are stopped, and after which part of the step.
    stops: Vec<(u32, f64)>,
}

/// How many pairs ahead are called for.
const AHEAD: usize = 12;

/// Whether a pair without points may have come near enough to get some. One with points is looked at where these are,
/// however fast its bodies are.
fn wakes(listed: &pairs::Listed, trips: &[Trip], dt: f64) -> bool {
    let (a, b) = (&trips[listed.key.0 as usize], &trips[listed.key.1 as usize]);
    let come = a.odometer + b.odometer + (a.speed + b.speed) * dt;
    listed.alarm < f64::INFINITY && come >= listed.alarm
}

/// Whether a world is stepped by sweeping.
pub(crate) fn is_swept(bodies: &BodySet, settings: &Settings) -> bool {
    settings.sweeps_world(bodies.inertial.len())
}

/// Advances a large world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    let World { bodies, joints, potentials, settings, collision, swept, .. } = world;
    let World { events, report, motion, books, grouping, .. } = world;
    *report = StepReport::default();
    books.open(bodies, joints, potentials, settings);
    swept.gather(bodies, joints, settings);
    swept.find_pairs(bodies, joints, collision, settings, dt);
    if swept.moves() {
        swept.update_contacts(bodies, collision, settings, dt);
        swept.disturb(bodies, settings, dt);
        swept.list(bodies, joints);
        motion.remember(bodies, swept.moving());
        swept.solve(bodies, joints, potentials, settings, dt);
        swept.stop_fast(bodies, joints, collision, settings);
        if let Some(ledger) = books.totals() {
            swept.book(bodies, joints, potentials, settings, dt, ledger);
        }
        swept.put_down(bodies, settings, dt);
        swept.ties.write_back(joints);
    } else {
        swept.notes.iter_mut().for_each(Notes::begin_telling);
        swept.changes.clear();
        swept.residuals.begin(false, 0, 0);
    }
    swept.tell(bodies, report, events);
    motion.quarantine_some(bodies, swept.moving(), |id| events.quarantined.push(id));
    for id in &events.quarantined {
        swept.forget(id.index);
        joints.forget(id.index);
    }
    for &body in &swept.riding {
        bodies.loads[body as usize].user = SpatialVector::ZERO;
    }
    report.swept = swept.riding.len();
    if settings.audit {
        swept.measure(bodies, joints, settings, grouping, report);
    }
    let before = books.totals().map(|_| momentum(bodies));
    swept.rest(bodies, joints, settings, dt);
    if let (Some(ledger), Some(before)) = (books.totals(), before) {
        // Bodies that fall asleep stop.
        ledger.correction_impulse += momentum(bodies) - before;
    }
    report.asleep = swept.asleep();
    report.audit = books.close_totals(bodies, joints, potentials, settings);
}

impl Swept {
    /// Everything is looked at anew in the next step of a swept world. Exact steps learn which bodies touch.
    pub(crate) fn stop(&mut self, bodies: &BodySet, collision: &mut CollisionPipeline) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let Self { pairs, sleepers, .. } = self;
        let near = pairs.order.iter().chain(&sleepers.order);
        let touching = near.filter(|listed| pairs.all[listed.number as usize].touching);
        let mut touching: Vec<(u32, u32)> = touching.map(|listed| listed.key).collect();
        touching.sort_unstable();
        collision.take_over(bodies, &touching);
        self.trips.clear();
        self.sleepers.clear();
    }

    /// A body is new, or somewhere else.
    pub(crate) fn forget(&mut self, body: u32) {
        if !self.running {
            return;
        }
        // Its pairs know nothing of how far it had come.
        if let Some(trip) = self.trips.get_mut(body as usize) {
            *trip = Trip::default();
        }
        self.strangers.push(body);
        self.stale_riding = true;
        let numbers: Vec<u32> = self.pairs.of(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.forget();
            let seat = pair.seat;
            if seat.is_some() {
                let (block, lane) = self.graph.block_mut(seat);
                block.forget(lane);
                block.settle(lane, (f64::NEG_INFINITY, f64::NEG_INFINITY));
            } else {
                self.pairs.rouse(number);
            }
        }
        self.stale_ties = true;
    }

    /// A body has another shape: its pairs know nothing, and its contacts have no points, until the next step.
    pub(crate) fn reshape(&mut self, bodies: &BodySet, settings: &Settings, body: u32) {
        if !self.running {
            return;
        }
        let numbers: Vec<u32> = self.pairs.of(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            let (touching, seat) = (pair.touching, pair.seat);
            *pair = NearPair::new(pair.bodies[0], pair.bodies[1], bodies);
            // Kept: if they no longer touch, an event is due.
            (pair.touching, pair.seat) = (touching, seat);
            if seat.is_some() {
                let entrant = pair.entrant(number, settings);
                let (block, lane) = self.graph.block_mut(seat);
                block.enter(lane, &entrant);
            }
        }
        self.forget(body);
    }

    /// A body has another velocity.
    pub(crate) fn retell(&mut self, body: u32) {
        self.stale_riding = true;
        if let Some(trip) = self.trips.get_mut(body as usize) {
            trip.roams = trip.roams.min(trip.odometer);
            trip.speed = f64::INFINITY;
        }
    }

    /// A body is gone.
    pub(crate) fn remove(&mut self, body: u32) {
        if !self.running {
            return;
        }
        let mut numbers: Vec<u32> = self.pairs.of(body).collect();
        for &number in &numbers {
            self.pairs.unseat(number, &mut self.graph);
        }
        numbers.sort_unstable();
        self.pairs.merge(&[], |_| None, &numbers);
        self.dropped.retain(|number| numbers.binary_search(number).is_err());
        self.strangers.retain(|&other| other != body);
        self.stale_ties = true;
        self.stale_riding = true;
    }

    /// A body has another material.
    pub(crate) fn refresh_materials(&mut self, bodies: &BodySet, body: u32) {
        let numbers: Vec<u32> = self.pairs.of(body).collect();
        for number in numbers {
            let pair = &mut self.pairs.all[number as usize];
            pair.refresh_materials(bodies);
            let (friction, restitution, seat) = (pair.friction, pair.restitution, pair.seat);
            self.bouncy |= restitution > 0.0;
            if seat.is_some() {
                let (block, lane) = self.graph.block_mut(seat);
                block.rows.friction.0[lane] = friction;
                block.known.restitution.0[lane] = restitution;
                block.bounces |= restitution > 0.0;
            }
        }
    }

    /// Who may collide with whom, or joints, have changed.
    pub(crate) fn review(&mut self) {
        self.stale = true;
        self.stale_ties = true;
    }

    /// Brings all near pairs up to date with the bodies' poses, and seats new contacts.
    #[allow(unsafe_code)]
    fn update_contacts(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        settings: &Settings,
        dt: f64,
    ) {
        let Self { pairs, graph, trips, reboxed, crew, notes, .. } = self;
        let order = Parted::new(&mut pairs.order);
        let all = Parted::new(&mut pairs.all);
        let mut colours = [const { None }; graph::COLOURS];
        for (to, colour) in colours.iter_mut().zip(&mut graph.colours) {
            *to = Some(Parted::new(&mut colour.blocks));
        }
        let (trips, reboxed) = (&*trips, &*reboxed);
        let shared = Parted::new(notes);
        crew.run(|worker| {
            // SAFETY: each worker has its own notes.
            let notes = unsafe { shared.get_mut(worker.index) };
            notes.dropped.clear();
            notes.begun.clear();
            notes.ended.clear();
            let parted = |[a, b]: [u32; 2]| {
                (reboxed[a as usize] || reboxed[b as usize]) && !collision.is_near(a, b)
            };
            // SAFETY: parts are disjoint.
            let own = unsafe { order.part_mut(worker.part(order.len())) };
            let mut ahead = 0;
            for at in 0..own.len() {
                // Pairs are met in no order of memory: those that will be looked at are called for early.
                ahead = ahead.max(at + 1);
                while ahead < own.len() && ahead < at + AHEAD {
                    if wakes(&own[ahead], trips, dt) {
                        all.prefetch(own[ahead].number as usize);
                    }
                    ahead += 1;
                }
                let listed = &mut own[at];
                if !wakes(listed, trips, dt) {
                    continue;
                }
                if parted([listed.key.0, listed.key.1]) {
                    notes.dropped.push(listed.number);
                    continue;
                }
                // SAFETY: a pair without a seat is touched by the worker that has it in its part of the order, one
                // with a seat, whose alarm is infinite, by the worker that has its block.
                let pair = unsafe { all.get_mut(listed.number as usize) };
                let news = pair.update(bodies, trips, settings, dt, &mut notes.workspace);
                listed.alarm = pair.alarm(settings);
                if let News::Points(manifold) = news {
                    listed.alarm = f64::INFINITY;
                    notes.begun.push((listed.number, manifold));
                }
            }
            for blocks in colours.iter().flatten() {
                // SAFETY: parts are disjoint.
                for block in unsafe { blocks.part_mut(worker.part(blocks.len())) } {
                    for lane in 0..4 {
                        let number = block.pairs[lane];
                        if number == u32::MAX {
                            continue;
                        }
                        let [a, b] = [0, 1].map(|side: usize| block.riders[side][lane] - 1);
                        let moved = reboxed[a as usize] || reboxed[b as usize];
                        let (ta, tb) = (&trips[a as usize], &trips[b as usize]);
                        let calm = ta.odometer + tb.odometer <= block.known.alarm.0[lane]
                            && ta.speed + tb.speed <= block.known.calm.0[lane];
                        if calm && !moved {
                            continue;
                        }
                        // SAFETY: as above.
                        let pair = unsafe { all.get_mut(number as usize) };
                        if moved && !collision.is_near(a, b) {
                            notes.dropped.push(number);
                            continue;
                        }
                        match pair.update(bodies, trips, settings, dt, &mut notes.workspace) {
                            News::Same => block.settle(lane, pair.calm(settings, dt)),
                            News::Points(manifold) => {
                                let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
                                block.fill(lane, &manifold, poses);
                                block.settle(lane, pair.calm(settings, dt));
                            }
                            News::Apart => notes.ended.push(number),
                        }
                    }
                }
            }
        });
        self.seat(bodies, settings, dt);
    }

    /// Takes contacts out of the graph that have ended, and takes new ones in: in the order of their pairs, whoever
    /// found them.
    fn seat(&mut self, bodies: &BodySet, settings: &Settings, dt: f64) {
        let Self { pairs, graph, notes, dropped, begun, ended, changes, bouncy, .. } = self;
        dropped.clear();
        begun.clear();
        ended.clear();
        changes.clear();
        for notes in notes.iter() {
            dropped.extend_from_slice(&notes.dropped);
            begun.extend_from_slice(&notes.begun);
            ended.extend_from_slice(&notes.ended);
        }
        dropped.sort_unstable();
        ended.sort_unstable();
        begun.sort_unstable_by_key(|(number, _)| *number);
        for &number in ended.iter().chain(dropped.iter()) {
            pairs.unseat(number, graph);
            let pair = &mut pairs.all[number as usize];
            if std::mem::take(&mut pair.touching) {
                changes.push(((pair.bodies[0], pair.bodies[1]), false));
            }
        }
        for (number, manifold) in begun.iter() {
            let pair = &mut pairs.all[*number as usize];
            let inertial = pair.bodies.map(|body| bodies.is_inertial(body as usize));
            let seat = graph.add(&pair.entrant(*number, settings), inertial);
            pair.seat = seat;
            *bouncy |= pair.restitution > 0.0;
            let (block, lane) = graph.block_mut(seat);
            let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
            block.fill(lane, manifold, poses);
            block.settle(lane, pair.calm(settings, dt));
        }
    }
}
