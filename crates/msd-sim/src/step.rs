//! One step, as a list of calls.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::{Constraints, PoseTimes, Problems};
use crate::events::Events;
use crate::impacts::{ImpactContext, ImpactTime, Impacts, Response};
use crate::islands::{Island, Islands, links};
use crate::joints::JointSet;
use crate::ledger::{LedgerBuilder, momentum};
use crate::motion::Motion;
use crate::report::StepReport;
use crate::solver::SolveReport;
use crate::swept::{Swept, SweptStep};
use crate::world::{Change, World};

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    match world.settings.sweeps_world(world.bodies.inertial.len()) {
        false => step_exact(world, dt),
        true => step_swept(world, dt),
    }
}

/// Steps all bodies exactly: contacts are updated in every substep, impulses solved to the tolerance, and impacts
/// resolved at their own times.
fn step_exact(world: &mut World, dt: f64) {
    world.swept.stop(&world.bodies, &mut world.collision, &mut world.constraints);
    world.threads.use_one();
    let h = dt / f64::from(world.settings.substeps);
    let mut impacts = std::mem::take(&mut world.impacts);
    begin_exact(world, dt, h);
    for number in 0..world.settings.substeps {
        let mut substep = Substep { world, dt, h };
        substep.begin(&mut impacts, number == 0);
        while let Some(impact) = substep.next_impact(&mut impacts) {
            substep.resolve(&mut impacts, impact);
        }
        substep.finish(&mut impacts);
    }
    world.impacts = impacts;
    let all = 0..world.bodies.poses.len() as u32;
    world.events.quarantine(&mut world.bodies, &mut world.motion, all);
    notify_quarantined(world);
    let World { bodies, joints, potentials, settings, collision, problems, .. } = world;
    let World { constraints, ledger, events, report, islands, .. } = world;
    if cfg!(debug_assertions) {
        constraints.contacts.check_slots(&collision.pairs);
    }
    report.summarize(bodies, joints, collision, (constraints, problems), islands);
    report.audit = ledger.close(bodies, joints, potentials, settings);
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

fn begin_exact(world: &mut World, dt: f64, h: f64) {
    let World { bodies, joints, potentials, settings, collision, problems, .. } = world;
    let World { constraints, motion, ledger, report, threads, .. } = world;
    let exact = bodies.inertial.len();
    *report = StepReport { exact, solve: Some(SolveReport::exact()), ..StepReport::default() };
    problems.begin_step();
    ledger.open(true, bodies, joints, potentials, settings);
    motion.begin(bodies);
    joints.begin_step();
    collision.near_list().begin_step();
    constraints.contacts.resize(bodies.poses.len() + 1);
    constraints.apply_filters(bodies, joints, collision);
    collision.find_near_pairs(bodies, joints, settings, dt, h, threads);
    constraints.release_lost(collision);
}

/// Steps all bodies by sweeping: contacts are found once, and impulses by two sweeps over them in every substep.
fn step_swept(world: &mut World, dt: f64) {
    let (mut step, parts) = split(world, dt);
    let SweptParts { swept, events, report, motion, ledger, .. } = parts;
    let step = &mut step;
    *report = StepReport::default();
    ledger.open(false, step.bodies, step.joints, step.potentials, step.settings);
    swept.begin_step(step);
    swept.find_pairs(step);
    if swept.moves(step.collision) {
        swept.update_contacts(step);
        swept.wake_touched(step);
        swept.update_lists(step.bodies, step.joints, step.constraints);
        motion.save_some(step.bodies, swept.moving());
        swept.solve(step);
        swept.clamp_fast_bodies(step);
        if let Some(totals) = ledger.totals() {
            swept.add_forces(step, totals);
            swept.add_constraints(step, totals);
        }
        swept.finalize(step);
        step.constraints.joints.write_back(step.joints);
    } else {
        swept.skip_step();
    }
    swept.report_step(step, report, events);
    events.quarantine(step.bodies, motion, swept.moving());
    notify_quarantined(world);
    let (mut step, parts) = split(world, dt);
    let SweptParts { swept, report, ledger, islands, .. } = parts;
    let step = &mut step;
    swept.clear_user_forces(step.bodies);
    if step.settings.audit {
        swept.measure(step, islands, report);
    }
    let before = ledger.totals().map(|_| momentum(step.bodies));
    swept.sleep_resting(step);
    if let (Some(totals), Some(before)) = (ledger.totals(), before) {
        // Bodies that fall asleep stop.
        totals.correction_impulse += momentum(step.bodies) - before;
    }
    report.asleep = swept.asleep();
    report.audit = ledger.close(step.bodies, step.joints, step.potentials, step.settings);
}

/// The parts of a world that a swept step fills in.
struct SweptParts<'a> {
    swept: &'a mut Swept,
    events: &'a mut Events,
    report: &'a mut StepReport,
    motion: &'a mut Motion,
    ledger: &'a mut LedgerBuilder,
    islands: &'a mut Islands,
}

fn split(world: &mut World, dt: f64) -> (SweptStep<'_>, SweptParts<'_>) {
    let World { bodies, joints, potentials, settings, collision, constraints, threads, .. } = world;
    let World { swept, events, report, motion, ledger, islands, .. } = world;
    let step =
        SweptStep { bodies, joints, potentials, settings, collision, constraints, threads, dt };
    (step, SweptParts { swept, events, report, motion, ledger, islands })
}

/// Discards what is known of the bodies that were reset.
fn notify_quarantined(world: &mut World) {
    for at in 0..world.events.quarantined.len() {
        world.notify(world.events.quarantined[at].index, Change::Pose);
    }
}

/// One substep of length `h` of an exact step of length `dt`.
struct Substep<'a> {
    world: &'a mut World,
    dt: f64,
    h: f64,
}

impl Substep<'_> {
    /// Finds pairs again where the last ones do not hold any longer, and predicts the impacts of the substep.
    fn begin(&mut self, impacts: &mut Impacts, first: bool) {
        let Self { world, dt, h } = self;
        let World { bodies, joints, settings, collision, constraints, motion, threads, .. } =
            &mut **world;
        let stale = !first && collision.has_path_bounds();
        if stale || collision.leaves_expected_bounds(bodies, &bodies.inertial, *dt, *h) {
            collision.find_near_pairs(bodies, joints, settings, *dt, *h, threads);
            constraints.release_lost(collision);
            impacts.invalidate();
        } else if first {
            impacts.invalidate();
        }
        motion.begin_substep(bodies, *h);
        let (context, collision, _) = self.context();
        impacts.begin_substep(&context, collision);
    }

    fn next_impact(&mut self, impacts: &mut Impacts) -> Option<ImpactTime> {
        let (context, collision, report) = self.context();
        impacts.next(&context, collision, &mut report.unresolved_impacts)
    }

    /// Moves the island of an impact to its time, resolves the impact there, and predicts its next impacts.
    fn resolve(&mut self, impacts: &mut Impacts, impact: ImpactTime) {
        self.advance(&impacts.behind, impact.time);
        let ended = self.collide(&impacts.island, impact);
        if impact.response == Response::MoveOn {
            let (context, collision, report) = self.context();
            impacts.move_on(&context, collision, &mut report.unresolved_impacts);
            report.exhausted += 1;
            self.world.motion.hold_until_end(&impacts.passing);
            return;
        }
        if !ended {
            impacts.give_up();
        }
        let World { bodies, joints, settings, collision, .. } = &mut *self.world;
        let moved = &impacts.island.bodies;
        let more =
            collision.find_additional_pairs(bodies, joints, settings, moved, self.dt, self.h);
        let (context, collision, _) = self.context();
        impacts.repredict(&context, collision, more);
    }

    /// Moves all bodies to the end of the substep.
    fn finish(&mut self, impacts: &mut Impacts) {
        self.advance(impacts.rest(&self.world.motion, self.h), self.h);
    }

    /// Moves the bodies of an island to a time within the substep, and applies forces, contact loads and landings.
    fn advance(&mut self, island: &Island, until: f64) {
        let world = &mut *self.world;
        let World { bodies, joints, potentials, settings, .. } = world;
        let World { collision, constraints, problems, motion, ledger, report, .. } = world;
        if island.bodies.is_empty() && !motion.has_kinematic() {
            problems.clear();
            return;
        }
        motion.first_half(bodies, (collision, constraints), joints, settings, island, until);
        problems.prepare(bodies, collision, joints, island, &motion.kick(settings));
        ledger.before_kick(bodies);
        motion.apply_forces(bodies, potentials, settings.gravity, island);
        let add_work = |work: &_, taken| ledger.add_work(work, taken);
        let solve = problems.solve(bodies, motion.kick(settings), add_work);
        problems.write_back(bodies, collision, joints);
        ledger.after_kick(bodies, island, problems.blocks(), motion.kick_state());
        motion.second_half(bodies, island, until);
        report.add(&solve);
    }

    /// Resolves the impacts of a time to which the island's bodies were moved. Returns whether they came to an end.
    fn collide(&mut self, island: &Island, impact: ImpactTime) -> bool {
        let bounce = match impact.response {
            Response::Bounce => self.context().0.rest_speed(),
            _ => f64::INFINITY,
        };
        let world = &mut *self.world;
        let World { bodies, joints, settings, collision, .. } = world;
        let World { constraints, problems, motion, ledger, report, .. } = world;
        motion.place_environment(bodies, impact.time);
        let poses = PoseTimes { times: motion.pose_time(), h: self.h };
        constraints.update_manifolds(bodies, collision, settings, island, poses, |_| true);
        problems.prepare_impact(bodies, collision, joints, island, impact.ahead);
        ledger.before_kick(bodies);
        let speeds = [impact.least, bounce];
        let add_work = |work: &_| ledger.add_work(work, 0.0);
        let (solve, outcome) = problems.collide(bodies, settings, speeds, add_work);
        problems.write_back_impact(collision, joints);
        ledger.after_impact(bodies, problems.blocks());
        report.add(&solve);
        report.impact_times += usize::from(outcome.any);
        outcome.ended
    }

    /// Returns the state from which impacts are predicted, and where they are recorded.
    fn context(&mut self) -> (ImpactContext<'_>, &mut CollisionPipeline, &mut StepReport) {
        let World { bodies, joints, potentials, settings, motion, collision, report, .. } =
            &mut *self.world;
        let context = ImpactContext { bodies, joints, potentials, settings, motion, h: self.h };
        (context, collision, report)
    }
}

impl StepReport {
    /// Adds the report of a solve.
    fn add(&mut self, solve: &SolveReport) {
        self.solve = Some(self.solve.map_or(*solve, |worst| worst.worse(solve)));
    }

    /// Fills in the quantities measured at the end of the step.
    fn summarize(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        (constraints, problems): (&Constraints, &Problems),
        islands: &mut Islands,
    ) {
        let mut deepest = 0.0_f64;
        for near in collision.near_pairs() {
            deepest = deepest.max(constraints.depth(bodies, near));
        }
        self.max_penetration = Some(deepest);
        self.measure_joints(bodies, joints);
        self.contacts = collision.near_pairs().map(|near| near.contact.len).sum();
        let worst = problems.worst();
        self.worst_violation = worst.map(|worst| worst.violation(bodies, joints));
        let pairs = collision.acting_pairs();
        islands.build(bodies.slots.len(), &bodies.inertial, links(pairs, joints));
        self.islands = Some(islands.len());
    }
}
