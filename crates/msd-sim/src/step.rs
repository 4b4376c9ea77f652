//! One step, as a list of calls.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::{Constraints, Contacts, PoseTimes, Problems};
use crate::impacts::{ImpactContext, ImpactTime, Impacts, Response};
use crate::islands::{Island, Islands, links};
use crate::joints::JointSet;
use crate::ledger::momentum;
use crate::math::SpatialVector;
use crate::methods::Methods;
use crate::model::Model;
use crate::output::Output;
use crate::report::StepReport;
use crate::settings::StepTime;
use crate::solver::SolveReport;
use crate::threads::ThreadPool;
use crate::world::{Change, IslandStates, Scratch, World, notify};

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    let World { model, contacts, states, output, scratch } = world;
    let time = StepTime::new(dt, &model.settings);
    find_pairs(model, contacts, states, &mut scratch.threads, time);
    choose_methods(model, contacts, states, time);
    begin(model, states, output, time);
    advance_swept(model, contacts, states, output, &mut scratch.threads, time);
    advance_exact(model, contacts, states, output, scratch, time);
    if scratch.stop.was_within_step() {
        return;
    }
    cover(model, contacts, states);
    quarantine(model, contacts, states, output);
    finish_exact(model, contacts, states, output, &mut scratch.islands);
    finish_swept(model, contacts, states, output, &mut scratch.islands);
    sleep(model, contacts, states, output, &mut scratch.islands, time);
    output.sensors.update(&model.bodies, &contacts.collision, &mut output.events);
    let Model { bodies, joints, potentials, settings, .. } = model;
    output.report.audit = output.ledger.close(bodies, joints, potentials, settings);
}

/// Finds the pairs of colliders that may come near each other in the step.
fn find_pairs(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    threads: &mut ThreadPool,
    time: StepTime,
) {
    let Model { bodies, joints, potentials, settings, .. } = model;
    let Contacts { collision, constraints } = contacts;
    let IslandStates { methods, rest, swept, motion, .. } = states;
    methods.begin_step(bodies);
    rest.begin_step(bodies, methods.exact(), potentials, settings, motion, time.dt);
    joints.begin_step(|pair| rest.is_any_active(pair));
    collision.near_list().begin_step(|pair| rest.is_any_active(pair));
    constraints.resize(bodies.poses.len());
    constraints.apply_filters(bodies, joints, collision);
    threads.use_one();
    collision.find_exact_pairs(bodies, rest.active(), joints, settings, time, threads);
    if methods.any_swept(bodies) {
        swept.begin_step(model, constraints, methods, threads);
        swept.find_pairs(model, collision, threads, time.dt);
    }
}

/// Chooses the method of each group of bodies that may meet in the step, and which exact islands are still at rest.
fn choose_methods(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    time: StepTime,
) {
    let IslandStates { methods, rest, swept, problems, .. } = states;
    let is_asleep = |body| swept.is_asleep(body);
    if methods.choose(model, &contacts.collision, &problems.costs, time.dt, is_asleep) {
        swept.change_methods(model, contacts, methods, time);
        rest.change_methods([&methods.to_swept, &methods.to_exact], methods.exact());
    }
    let Contacts { collision, constraints } = contacts;
    let Model { bodies, joints, .. } = model;
    update_near(bodies, methods, collision);
    constraints.release_lost(collision);
    rest.end_where_disturbed(bodies, methods.exact(), collision, joints, 0.0);
}

/// Updates the near pairs of exact bodies.
fn update_near(bodies: &BodySet, methods: &Methods, collision: &mut CollisionPipeline) {
    let any_exact = |pair| methods.is_any_exact(bodies, pair);
    collision.update_near(&bodies.colliders, any_exact, |pair| methods.is_any_swept(pair));
}

/// Begins the report, the ledger and the lists of events.
fn begin(model: &mut Model, states: &mut IslandStates, output: &mut Output, time: StepTime) {
    let Model { bodies, joints, potentials, settings, .. } = model;
    let IslandStates { methods, rest, problems, motion, .. } = states;
    let Output { report, events, ledger, .. } = output;
    *report = StepReport::default();
    events.begin_step();
    ledger.open(bodies, joints, potentials, settings);
    motion.begin(bodies, rest.active().iter().chain(&bodies.environment).copied());
    problems.begin_step(bodies.poses.len(), settings);
    let asleep = rest.count_asleep(methods.exact());
    report.exact = methods.exact().len() - asleep;
    report.resting = rest.len(methods.exact()) - asleep;
    report.solve = Some(SolveReport::exact());
    let resting = methods.exact().iter().filter(|&&body| !rest.is_active(body)).copied();
    ledger.add_resting(bodies, potentials, settings.gravity, time.dt, resting);
}

/// Advances the swept bodies: contacts are found once, or again where bodies move far, and impulses by two sweeps over them in
/// every substep.
fn advance_swept(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    output: &mut Output,
    threads: &mut ThreadPool,
    time: StepTime,
) {
    let IslandStates { methods, swept, motion, .. } = states;
    if !methods.any_swept(&model.bodies) {
        return;
    }
    if methods.has_changes() {
        swept.begin_step(model, &mut contacts.constraints, methods, threads);
    }
    if swept.moves(&contacts.collision) {
        swept.update_contacts(model, contacts, methods, threads, time.dt);
        swept.wake_touched(model, contacts, threads, time.dt);
        swept.update_lists(model, &mut contacts.constraints, methods);
        motion.save_some(&model.bodies, swept.moving());
        swept.solve(model, contacts, threads, time);
        swept.clamp_fast_bodies(model, contacts, threads);
        swept.add_to_ledger(&model.settings, contacts, &mut output.ledger);
        swept.finalize(model, contacts, threads, time.dt);
        contacts.constraints.joints.write_back(&mut model.joints);
    } else {
        swept.skip_step();
    }
    swept.report_step(&model.bodies, output);
}

/// Advances the exact bodies that are not at rest, and kinematic bodies: contacts are updated in every substep, impulses
/// solved to the tolerance, and impacts resolved at their own times.
fn advance_exact(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    output: &mut Output,
    scratch: &mut Scratch,
    time: StepTime,
) {
    let moves = |&body: &u32| model.bodies.motions[body as usize].velocity != SpatialVector::ZERO;
    if states.rest.active().is_empty() && !model.bodies.environment.iter().any(moves) {
        add_certificate(states, output);
        return;
    }
    let Scratch { impacts, threads, stop, .. } = scratch;
    let substeps = model.settings.substeps;
    for number in 0..substeps {
        if stop.is_due() {
            break;
        }
        let done = f64::from(number) / f64::from(substeps);
        let mut substep = Substep { model, contacts, states, output, time, done };
        substep.begin(impacts, threads);
        while let Some(impact) = substep.next_impact(impacts) {
            substep.resolve(impacts, impact);
            if stop.is_due() {
                break;
            }
        }
        substep.finish(impacts);
        if number == 0 {
            add_certificate(states, output);
        }
    }
}

/// Adds the certificate of the islands that a substep skipped, because they are at rest, to the report.
fn add_certificate(states: &mut IslandStates, output: &mut Output) {
    if let Some((solve, worst)) = states.rest.certificate(states.methods.exact()) {
        output.report.add(&solve);
        states.problems.add_worst(worst);
    }
}

/// Measures the state of exact bodies after the step, and compares their contacts with those before.
fn finish_exact(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    output: &mut Output,
    islands: &mut Islands,
) {
    let Model { bodies, joints, settings, .. } = model;
    let Contacts { collision, constraints } = contacts;
    let IslandStates { methods, rest, problems, .. } = states;
    let Output { report, events, .. } = output;
    rest.end_step(methods.exact(), settings.substeps);
    if cfg!(debug_assertions) {
        constraints.exact.check_slots(&collision.pairs);
    }
    // With swept bodies, these are measured only if asked for.
    if settings.audit || !methods.any_swept(bodies) {
        report.measure_overlaps(bodies, collision, constraints);
        report.measure_joints(bodies, joints);
        report.measure_islands(bodies, joints, collision, rest.awake(), islands);
        report.name_worst(bodies, joints, problems);
    }
    report.contacts +=
        collision.near_pairs().map(|near| near.contact.points().len()).sum::<usize>();
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

/// Measures the state of swept bodies after the step.
fn finish_swept(
    model: &Model,
    contacts: &Contacts,
    states: &IslandStates,
    output: &mut Output,
    islands: &mut Islands,
) {
    match (states.methods.any_swept(&model.bodies), model.settings.audit) {
        (false, _) => {}
        (true, true) => states.swept.measure(model, contacts, &mut output.report, islands),
        (true, false) => output.report.leave_unmeasured(),
    }
}

/// Puts islands to sleep that have been slow for long enough. Their bodies stop.
fn sleep(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    output: &mut Output,
    islands: &mut Islands,
    time: StepTime,
) {
    if !model.settings.sleeping {
        return;
    }
    let IslandStates { methods, rest, swept, motion, .. } = states;
    let Output { report, ledger, .. } = output;
    let before = ledger.totals().map(|_| momentum(&model.bodies));
    if methods.any_swept(&model.bodies) {
        let before = swept.asleep();
        swept.sleep_resting(model, contacts, time.dt);
        report.swept -= swept.asleep() - before;
    }
    let exact = methods.exact();
    rest.sleep(model, exact, &contacts.collision, motion, islands, time.dt);
    // A body that falls asleep counts as asleep.
    let asleep = rest.count_asleep(exact);
    report.exact = exact.len() - asleep;
    report.resting = report.resting.min(report.exact);
    report.asleep = swept.asleep() + asleep;
    if let (Some(totals), Some(before)) = (ledger.totals(), before) {
        totals.correction_impulse += momentum(&model.bodies) - before;
    }
}

/// Makes the bounds of exact and kinematic bodies contain them, as queries between steps expect.
fn cover(model: &Model, contacts: &mut Contacts, states: &IslandStates) {
    let bodies = &model.bodies;
    let collision = &mut contacts.collision;
    collision.cover_exact(bodies, states.rest.active(), |body| states.motion.start_pose(body));
    for &body in &bodies.environment {
        if bodies.motions[body as usize].velocity != SpatialVector::ZERO {
            collision.cover(bodies, body);
        }
    }
}

/// Resets the bodies whose state is no longer finite, and discards what is known of them.
fn quarantine(
    model: &mut Model,
    contacts: &mut Contacts,
    states: &mut IslandStates,
    output: &mut Output,
) {
    let all = 0..model.bodies.poses.len() as u32;
    output.events.quarantine(&mut model.bodies, &mut states.motion, all);
    for body in output.events.quarantined() {
        notify(model, contacts, states, body.index, Change::Pose);
    }
}

/// One substep of an exact step, of which a share was done before.
struct Substep<'a> {
    model: &'a mut Model,
    contacts: &'a mut Contacts,
    states: &'a mut IslandStates,
    output: &'a mut Output,
    time: StepTime,
    done: f64,
}

impl Substep<'_> {
    /// Finds pairs again where the last ones do not hold any longer, and predicts the impacts of the substep.
    fn begin(&mut self, impacts: &mut Impacts, threads: &mut ThreadPool) {
        let Self { model, contacts, states, time, done, .. } = self;
        let Model { bodies, joints, settings, .. } = &mut **model;
        let Contacts { collision, constraints } = &mut **contacts;
        let IslandStates { methods, rest, motion, .. } = &mut **states;
        let first = *done == 0.0;
        let stale = !first && collision.has_path_bounds();
        let active = rest.active();
        let is_exact = |body| !methods.is_swept(body);
        let found = if stale {
            threads.use_one();
            collision.find_exact_pairs(bodies, active, joints, settings, *time, threads);
            update_near(bodies, methods, collision);
            constraints.release_lost(collision);
            true
        } else {
            collision.leaves_expected_bounds(bodies, active, *time)
                && collision
                    .find_additional_pairs(bodies, joints, settings, active, is_exact, *time)
        };
        if found {
            rest.end_where_disturbed(bodies, methods.exact(), collision, joints, *done);
        }
        if found || first {
            impacts.invalidate();
        }
        motion.begin_substep(bodies, time.h);
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
            self.states.motion.hold_until_end(&impacts.passing);
            return;
        }
        if !ended {
            impacts.give_up();
        }
        let Model { bodies, joints, settings, .. } = &mut *self.model;
        let IslandStates { methods, rest, .. } = &mut *self.states;
        let (collision, moved) = (&mut self.contacts.collision, &impacts.island.bodies);
        let is_exact = |body| !methods.is_swept(body);
        let more =
            collision.find_additional_pairs(bodies, joints, settings, moved, is_exact, self.time);
        if more {
            rest.end_where_disturbed(bodies, methods.exact(), collision, joints, self.done);
        }
        let (context, collision, _) = self.context();
        impacts.repredict(&context, collision, more);
    }

    /// Moves all bodies to the end of the substep.
    fn finish(&mut self, impacts: &mut Impacts) {
        let h = self.time.h;
        self.advance(impacts.rest(&self.states.motion, h), h);
    }

    /// Moves the bodies of an island to a time within the substep, and applies forces, contact loads and landings.
    fn advance(&mut self, island: &Island, until: f64) {
        let Model { bodies, joints, potentials, settings, .. } = &mut *self.model;
        let IslandStates { rest, problems, motion, .. } = &mut *self.states;
        let Output { report, ledger, .. } = &mut *self.output;
        if island.bodies.is_empty() && !motion.has_kinematic() {
            problems.clear();
            return;
        }
        motion.first_half(bodies, self.contacts, joints, settings, island, until);
        let collision = &mut self.contacts.collision;
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
        let Model { bodies, joints, settings, .. } = &mut *self.model;
        let Contacts { collision, constraints } = &mut *self.contacts;
        let IslandStates { problems, motion, .. } = &mut *self.states;
        let Output { report, ledger, .. } = &mut *self.output;
        motion.place_environment(bodies, impact.time);
        let poses = PoseTimes { times: motion.pose_time(), h: self.time.h };
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
        let Model { bodies, joints, potentials, settings, .. } = &*self.model;
        let IslandStates { rest, motion, .. } = &*self.states;
        let h = self.time.h;
        let context = ImpactContext { bodies, joints, potentials, settings, motion, rest, h };
        (context, &mut self.contacts.collision, &mut self.output.report)
    }
}

impl StepReport {
    /// Adds the report of a solve.
    fn add(&mut self, solve: &SolveReport) {
        self.solve = Some(self.solve.map_or(*solve, |worst| worst.worse(solve)));
    }

    /// Measures the deepest overlap of exact bodies.
    fn measure_overlaps(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        constraints: &Constraints,
    ) {
        let depths = collision.near_pairs().map(|near| constraints.depth(bodies, near));
        self.max_penetration = Some(depths.fold(0.0, f64::max));
    }

    /// Counts the islands of exact bodies that are awake.
    fn measure_islands(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        awake: &[u32],
        islands: &mut Islands,
    ) {
        islands.build(bodies.slots.len(), awake, links(collision.acting_pairs(), joints));
        self.islands = Some(islands.len());
    }

    /// Names the constraint that violates its law most.
    fn name_worst(&mut self, bodies: &BodySet, joints: &JointSet, problems: &Problems) {
        self.worst_violation = problems.worst().map(|worst| worst.violation(bodies, joints));
    }

    /// Removes the quantities that are not measured for swept bodies.
    fn leave_unmeasured(&mut self) {
        (self.solve, self.worst_violation) = (None, None);
        (self.max_penetration, self.islands) = (None, None);
        (self.max_joint_error, self.worst_joint) = (None, None);
    }
}
