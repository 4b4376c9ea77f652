//! One step, as a list of calls.

use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::constraints::{Constraints, PoseTimes, Problems};
use crate::impacts::{ImpactContext, ImpactTime, Impacts, Response};
use crate::islands::{Island, Islands, links};
use crate::joints::JointSet;
use crate::ledger::momentum;
use crate::math::SpatialVector;
use crate::methods::Methods;
use crate::report::StepReport;
use crate::solver::SolveReport;
use crate::swept::{Swept, SweptStep};
use crate::world::{Change, World};

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    let h = dt / f64::from(world.settings.substeps);
    find_pairs(world, dt, h);
    choose_methods(world, dt, h);
    begin(world, dt);
    if world.methods.any_swept(&world.bodies) {
        advance_by_sweeps(world, dt);
    }
    advance_exactly(world, dt, h);
    if world.stop.was_within_step() {
        return;
    }
    cover(world);
    quarantine(world);
    finish_exact(world);
    finish_swept(world, dt);
    sleep(world, dt);
    let World { bodies, collision, sensors, events, .. } = world;
    sensors.update(bodies, collision, events);
    let World { bodies, joints, potentials, settings, ledger, report, .. } = world;
    report.audit = ledger.close(bodies, joints, potentials, settings);
}

/// Finds the pairs of bodies that may come near each other in the step.
fn find_pairs(world: &mut World, dt: f64, h: f64) {
    let World { bodies, joints, potentials, settings, collision, constraints, .. } = world;
    let World { motion, methods, rest, threads, .. } = world;
    methods.begin_step(bodies);
    rest.begin_step(bodies, methods.exact(), potentials, settings, motion, dt);
    joints.begin_step(|pair| rest.is_any_active(pair));
    collision.near_list().begin_step(|pair| rest.is_any_active(pair));
    constraints.resize(bodies.poses.len());
    constraints.apply_filters(bodies, joints, collision);
    threads.use_one();
    collision.find_exact_pairs(bodies, rest.active(), joints, settings, [dt, h], threads);
    if methods.any_swept(bodies) {
        let (swept, step) = &mut swept_step(world, dt);
        swept.begin_step(step);
        swept.find_pairs(step);
    }
}

/// Chooses the method of each group of bodies that may meet in the step, and which exact islands are still at rest.
fn choose_methods(world: &mut World, dt: f64, h: f64) {
    let World { bodies, joints, settings, collision, constraints, methods, .. } = world;
    let World { problems, rest, swept, .. } = world;
    let is_asleep = |body| swept.is_asleep(body);
    let costs = &problems.costs;
    if methods.choose(bodies, joints, collision, costs, (settings, dt), is_asleep) {
        swept.change_methods(bodies, collision, constraints, methods, settings, [dt, h]);
        rest.change_methods([&methods.to_swept, &methods.to_exact], methods.exact());
    }
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
fn begin(world: &mut World, dt: f64) {
    let World { bodies, joints, potentials, settings, problems, motion, methods, .. } = world;
    let World { rest, ledger, report, events, .. } = world;
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
    ledger.add_resting(bodies, potentials, settings.gravity, dt, resting);
}

/// Advances the exact bodies that are not at rest, and kinematic bodies: contacts are updated in every substep, impulses
/// solved to the tolerance, and impacts resolved at their own times.
fn advance_exactly(world: &mut World, dt: f64, h: f64) {
    let moves = |&body: &u32| world.bodies.motions[body as usize].velocity != SpatialVector::ZERO;
    if world.rest.active().is_empty() && !world.bodies.environment.iter().any(moves) {
        add_certificate(world);
        return;
    }
    let mut impacts = std::mem::take(&mut world.impacts);
    for number in 0..world.settings.substeps {
        if world.stop.is_due() {
            break;
        }
        let done = f64::from(number) / f64::from(world.settings.substeps);
        let mut substep = Substep { world, dt, h, done };
        substep.begin(&mut impacts);
        while let Some(impact) = substep.next_impact(&mut impacts) {
            substep.resolve(&mut impacts, impact);
            if substep.world.stop.is_due() {
                break;
            }
        }
        substep.finish(&mut impacts);
        if number == 0 {
            add_certificate(world);
        }
    }
    world.impacts = impacts;
}

/// Adds the certificate of the islands that a substep skipped, because they are at rest, to the report.
fn add_certificate(world: &mut World) {
    let World { methods, rest, problems, report, .. } = world;
    if let Some((solve, worst)) = rest.certificate(methods.exact()) {
        report.add(&solve);
        problems.add_worst(worst);
    }
}

/// Advances the swept bodies: contacts are found once, or again where bodies move far, and impulses by two sweeps over them in
/// every substep.
fn advance_by_sweeps(world: &mut World, dt: f64) {
    let (swept, step) = &mut swept_step(world, dt);
    if step.methods.has_changes() {
        swept.begin_step(step);
    }
    if swept.moves(step.collision) {
        swept.update_contacts(step);
        swept.wake_touched(step);
        swept.update_lists(step.bodies, step.joints, step.constraints, step.methods);
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

/// Measures the state of exact bodies after the step, and compares their contacts with those before.
fn finish_exact(world: &mut World) {
    let World { bodies, joints, collision, constraints, problems, .. } = world;
    let World { events, report, islands, methods, rest, settings, .. } = world;
    rest.end_step(methods.exact(), settings.substeps);
    if cfg!(debug_assertions) {
        constraints.exact.check_slots(&collision.pairs);
    }
    // With swept bodies, these are measured only if asked for.
    if settings.audit || !methods.any_swept(bodies) {
        report.summarize(bodies, rest.awake(), joints, collision, (constraints, problems), islands);
    }
    report.contacts +=
        collision.near_pairs().map(|near| near.contact.points().len()).sum::<usize>();
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

/// Measures the state of swept bodies after the step.
fn finish_swept(world: &mut World, dt: f64) {
    if !world.methods.any_swept(&world.bodies) {
        return;
    }
    let (swept, step) = &mut swept_step(world, dt);
    match step.settings.audit {
        true => swept.measure(step),
        false => step.report.leave_unmeasured(),
    }
}

/// Puts islands to sleep that have been slow for long enough. Their bodies stop.
fn sleep(world: &mut World, dt: f64) {
    if !world.settings.sleeping {
        return;
    }
    let before = world.ledger.totals().map(|_| momentum(&world.bodies));
    if world.methods.any_swept(&world.bodies) {
        let before = world.swept.asleep();
        let (swept, step) = &mut swept_step(world, dt);
        swept.sleep_resting(step);
        step.report.swept -= swept.asleep() - before;
    }
    let World { bodies, joints, settings, collision, methods, rest, swept, islands, .. } = world;
    let (exact, report) = (methods.exact(), &mut world.report);
    rest.sleep(bodies, exact, (collision, joints), (settings, &world.motion), islands, dt);
    // A body that falls asleep counts as asleep.
    let asleep = rest.count_asleep(exact);
    report.exact = exact.len() - asleep;
    report.resting = report.resting.min(report.exact);
    report.asleep = swept.asleep() + asleep;
    if let (Some(totals), Some(before)) = (world.ledger.totals(), before) {
        totals.correction_impulse += momentum(bodies) - before;
    }
}

/// Returns the swept state, and the parts of the world that it works on.
fn swept_step(world: &mut World, dt: f64) -> (&mut Swept, SweptStep<'_>) {
    let World { bodies, joints, potentials, settings, collision, constraints, threads, .. } = world;
    let World { swept, events, report, motion, ledger, islands, methods, .. } = world;
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
        methods,
        dt,
    };
    (swept, step)
}

/// Makes the bounds of exact and kinematic bodies contain them, as queries between steps expect.
fn cover(world: &mut World) {
    let World { bodies, collision, rest, .. } = world;
    for &body in rest.active() {
        collision.cover(bodies, body);
    }
    for &body in &bodies.environment {
        if bodies.motions[body as usize].velocity != SpatialVector::ZERO {
            collision.cover(bodies, body);
        }
    }
}

/// Resets the bodies whose state is no longer finite, and discards what is known of them.
fn quarantine(world: &mut World) {
    let World { bodies, motion, events, .. } = world;
    events.quarantine(bodies, motion, 0..bodies.poses.len() as u32);
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
        let World { motion, methods, rest, threads, .. } = world;
        let first = *done == 0.0;
        let stale = !first && collision.has_path_bounds();
        let (active, times) = (rest.active(), [*dt, *h]);
        let is_exact = |body| !methods.is_swept(body);
        let found = if stale {
            threads.use_one();
            collision.find_exact_pairs(bodies, active, joints, settings, times, threads);
            update_near(bodies, methods, collision);
            constraints.release_lost(collision);
            true
        } else {
            collision.leaves_expected_bounds(bodies, active, *dt, *h)
                && collision
                    .find_additional_pairs(bodies, joints, settings, active, is_exact, times)
        };
        if found {
            rest.end_where_disturbed(bodies, methods.exact(), collision, joints, *done);
        }
        if found || first {
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
        let World { bodies, joints, settings, collision, methods, rest, .. } = &mut *self.world;
        let moved = &impacts.island.bodies;
        let is_exact = |body| !methods.is_swept(body);
        let more = collision.find_additional_pairs(
            bodies,
            joints,
            settings,
            moved,
            is_exact,
            [self.dt, self.h],
        );
        if more {
            rest.end_where_disturbed(bodies, methods.exact(), collision, joints, self.done);
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
        awake: &[u32],
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
        let worst = problems.worst();
        self.worst_violation = worst.map(|worst| worst.violation(bodies, joints));
        let pairs = collision.acting_pairs();
        islands.build(bodies.slots.len(), awake, links(pairs, joints));
        self.islands = Some(islands.len());
    }

    /// Removes the quantities that are not measured for swept bodies.
    fn leave_unmeasured(&mut self) {
        (self.solve, self.worst_violation) = (None, None);
        (self.max_penetration, self.islands) = (None, None);
        (self.max_joint_error, self.worst_joint) = (None, None);
    }
}
