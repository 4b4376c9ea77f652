//! One step, as a list of calls.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::{Constraints, PoseTimes, Problems};
use crate::impacts::{ImpactContext, ImpactTime, Impacts, Response};
use crate::islands::{Island, Islands, links};
use crate::joints::JointSet;
use crate::ledger::momentum;
use crate::report::StepReport;
use crate::solver::SolveReport;
use crate::swept::{Swept, SweptStep};
use crate::world::{Change, World};

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    let is_swept = world.settings.sweeps_world(world.bodies.inertial.len());
    begin(world, is_swept);
    match is_swept {
        false => advance_exactly(world, dt),
        true => advance_by_sweeps(world, dt),
    }
    quarantine(world, is_swept);
    match is_swept {
        false => finish_exact(world),
        true => finish_swept(world, dt),
    }
    let World { bodies, joints, potentials, settings, ledger, report, .. } = world;
    report.audit = ledger.close(bodies, joints, potentials, settings);
}

/// Begins the report and the ledger. Exact steps measure the work of contacts and joints by kind.
fn begin(world: &mut World, is_swept: bool) {
    let World { bodies, joints, potentials, settings, ledger, report, .. } = world;
    *report = StepReport::default();
    ledger.open(!is_swept, bodies, joints, potentials, settings);
}

/// Advances all bodies exactly: contacts are updated in every substep, impulses solved to the tolerance, and impacts
/// resolved at their own times.
fn advance_exactly(world: &mut World, dt: f64) {
    let h = dt / f64::from(world.settings.substeps);
    let mut impacts = std::mem::take(&mut world.impacts);
    begin_exact(world, dt, h);
    for number in 0..world.settings.substeps {
        let done = f64::from(number) / f64::from(world.settings.substeps);
        let mut substep = Substep { world, dt, h, done };
        substep.begin(&mut impacts);
        while let Some(impact) = substep.next_impact(&mut impacts) {
            substep.resolve(&mut impacts, impact);
        }
        substep.finish(&mut impacts);
    }
    world.impacts = impacts;
}

fn begin_exact(world: &mut World, dt: f64, h: f64) {
    let World { bodies, joints, potentials, settings, collision, constraints, .. } = world;
    let World { problems, motion, rest, ledger, report, swept, threads, .. } = world;
    swept.stop(bodies, collision, constraints);
    threads.use_one();
    rest.begin_step(bodies, potentials, settings, motion, dt);
    joints.begin_step(|pair| rest.is_any_active(pair));
    collision.near_list().begin_step(|pair| rest.is_any_active(pair));
    constraints.contacts.resize(bodies.poses.len() + 1);
    constraints.apply_filters(bodies, joints, collision);
    collision.find_near_pairs(bodies, rest.active(), joints, settings, [dt, h], threads);
    constraints.release_lost(collision);
    rest.end_where_disturbed(bodies, collision, joints, 0.0);
    motion.begin(bodies, rest.active().iter().chain(&bodies.environment).copied());
    let certificate = rest.certificate(bodies);
    problems.begin_step(certificate.map(|(_, worst)| worst));
    report.exact = bodies.inertial.len();
    report.resting = rest.len(bodies);
    report.solve = Some(certificate.map_or(SolveReport::exact(), |(solve, _)| solve));
    ledger.add_resting(bodies, potentials, settings.gravity, dt, |body| !rest.is_active(body));
}

/// Measures the state after an exact step, and compares its contacts with those before.
fn finish_exact(world: &mut World) {
    let World { bodies, joints, collision, constraints, problems, .. } = world;
    let World { events, report, islands, rest, settings, .. } = world;
    rest.end_step(bodies, settings.substeps);
    if cfg!(debug_assertions) {
        constraints.contacts.check_slots(&collision.pairs);
    }
    report.summarize(bodies, joints, collision, (constraints, problems), islands);
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

/// Advances all bodies by sweeps: contacts are found once, and impulses by two sweeps over them in every substep.
fn advance_by_sweeps(world: &mut World, dt: f64) {
    world.rest.end_all();
    let (swept, step) = &mut swept_step(world, dt);
    swept.begin_step(step);
    swept.find_pairs(step);
    if swept.moves(step.collision) {
        swept.update_contacts(step);
        swept.wake_touched(step);
        swept.update_lists(step.bodies, step.joints, step.constraints);
        step.motion.save_some(step.bodies, swept.moving());
        swept.solve(step);
        swept.clamp_fast_bodies(step);
        swept.add_to_ledger(step);
        swept.finalize(step);
        step.constraints.joints.write_back(step.joints);
    } else {
        swept.skip_step();
    }
    swept.report_step(step);
}

/// Measures the state after a swept step, and puts resting islands to sleep.
fn finish_swept(world: &mut World, dt: f64) {
    let (swept, step) = &mut swept_step(world, dt);
    swept.clear_user_forces(step.bodies);
    if step.settings.audit {
        swept.measure(step);
    }
    let before = step.ledger.totals().map(|_| momentum(step.bodies));
    swept.sleep_resting(step);
    if let (Some(totals), Some(before)) = (step.ledger.totals(), before) {
        // Bodies that fall asleep stop.
        totals.correction_impulse += momentum(step.bodies) - before;
    }
    step.report.asleep = swept.asleep();
}

/// Returns the swept state, and the parts of the world that it works on.
fn swept_step(world: &mut World, dt: f64) -> (&mut Swept, SweptStep<'_>) {
    let World { bodies, joints, potentials, settings, collision, constraints, threads, .. } = world;
    let World { swept, events, report, motion, ledger, islands, .. } = world;
    let step = SweptStep {
        bodies,
        joints,
        potentials,
        settings,
        collision,
        constraints,
        motion,
        ledger,
        report,
        events,
        islands,
        threads,
        dt,
    };
    (swept, step)
}

/// Resets the bodies whose state is no longer finite, and discards what is known of them.
fn quarantine(world: &mut World, is_swept: bool) {
    let World { bodies, motion, events, swept, .. } = world;
    match is_swept {
        false => events.quarantine(bodies, motion, 0..bodies.poses.len() as u32),
        true => events.quarantine(bodies, motion, swept.moving()),
    }
    for at in 0..world.events.quarantined.len() {
        world.notify(world.events.quarantined[at].index, Change::Pose);
    }
}

/// One substep of length `h` of an exact step of length `dt`, of which a share was done before.
struct Substep<'a> {
    world: &'a mut World,
    dt: f64,
    h: f64,
    done: f64,
}

impl Substep<'_> {
    /// Finds pairs again where the last ones do not hold any longer, and predicts the impacts of the substep.
    fn begin(&mut self, impacts: &mut Impacts) {
        let Self { world, dt, h, done } = self;
        let world = &mut **world;
        let World { bodies, joints, settings, collision, constraints, .. } = world;
        let World { motion, rest, threads, .. } = world;
        let first = *done == 0.0;
        let stale = !first && collision.has_path_bounds();
        if stale || collision.leaves_expected_bounds(bodies, rest.active(), *dt, *h) {
            collision.find_near_pairs(bodies, rest.active(), joints, settings, [*dt, *h], threads);
            constraints.release_lost(collision);
            rest.end_where_disturbed(bodies, collision, joints, *done);
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
        let World { bodies, joints, settings, collision, rest, .. } = &mut *self.world;
        let moved = &impacts.island.bodies;
        let more =
            collision.find_additional_pairs(bodies, joints, settings, moved, self.dt, self.h);
        if more {
            rest.end_where_disturbed(bodies, collision, joints, self.done);
        }
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
        let World { collision, constraints, problems, motion, rest, ledger, report, .. } = world;
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
        rest.count_held(problems);
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
        let (world, h) = (&mut *self.world, self.h);
        let World { bodies, joints, potentials, settings, motion, .. } = world;
        let World { rest, collision, report, .. } = world;
        let context = ImpactContext { bodies, joints, potentials, settings, motion, rest, h };
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
