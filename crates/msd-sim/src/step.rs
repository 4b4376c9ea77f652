//! One step, as a list of calls.

use crate::audit::Books;
use crate::bodies::{BodySet, Potential};
use crate::collision::{CollisionPipeline, ContactPair};
use crate::constraints::Constraints;
use crate::impacts::{Answer, Impacts, Instant, Outlook};
use crate::joints::JointSet;
use crate::motion::Motion;
use crate::report::{Grouping, StepReport};
use crate::scope::Scope;
use crate::settings::Settings;
use crate::solver::SolveReport;
use crate::swept;
use crate::world::World;

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    if swept::is_swept(&world.bodies, &world.settings) {
        return swept::step(world, dt);
    }
    world.swept.stop(&world.bodies, &mut world.collision);
    let World { bodies, joints, potentials, settings, collision, constraints, .. } = world;
    let World { motion, impacts, books, events, report, grouping, .. } = world;
    let h = dt / f64::from(settings.substeps);
    let exact = bodies.inertial.len();
    *report = StepReport { exact, solve: Some(SolveReport::exact()), ..StepReport::default() };
    constraints.begin_step();
    books.open(bodies, joints, potentials, settings);
    motion.begin(bodies);
    joints.begin_step();
    collision.for_each_pair(ContactPair::begin_step);
    collision.find_pairs(bodies, joints, settings, dt, h);
    impacts.unlist();
    for substep in 0..settings.substeps {
        let stale = substep > 0 && collision.has_swept();
        if stale || collision.is_outrun(bodies, &bodies.inertial, dt, h) {
            collision.find_pairs(bodies, joints, settings, dt, h);
            impacts.unlist();
        }
        motion.begin_substep(bodies, h);
        let mut stage = Stage {
            bodies,
            joints,
            potentials,
            settings,
            collision,
            constraints,
            motion,
            books,
            report,
            h,
        };
        let (look, collision, _) = stage.look();
        impacts.begin_substep(&look, collision);
        loop {
            let (look, collision, report) = stage.look();
            let Some(instant) = impacts.next(&look, collision, &mut report.unresolved_impacts)
            else {
                break;
            };
            stage.advance(&impacts.behind, instant.time);
            let ended = stage.collide(&impacts.scope, instant);
            if instant.answer == Answer::MoveOn {
                let (look, collision, report) = stage.look();
                impacts.move_on(&look, collision, &mut report.unresolved_impacts);
                report.exhausted += 1;
                stage.motion.wait(&impacts.passing);
                continue;
            }
            if !ended {
                impacts.spend();
            }
            stage.foresee(impacts, dt);
        }
        stage.advance(impacts.rest(stage.motion, h), h);
    }
    events.quarantine(bodies, collision, joints, motion);
    report.summarise(bodies, joints, collision, constraints, grouping);
    report.audit = books.close(bodies, joints, potentials, settings);
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

/// What a substep works on.
struct Stage<'a> {
    bodies: &'a mut BodySet,
    joints: &'a mut JointSet,
    potentials: &'a [Potential],
    settings: &'a Settings,
    collision: &'a mut CollisionPipeline,
    constraints: &'a mut Constraints,
    motion: &'a mut Motion,
    books: &'a mut Books,
    report: &'a mut StepReport,
    h: f64,
}

impl Stage<'_> {
    /// Moves bodies to a time of the substep: forces, loads and slow landings.
    fn advance(&mut self, scope: &Scope, until: f64) {
        if scope.bodies.is_empty() && !self.motion.has_kinematic() {
            self.constraints.clear();
            return;
        }
        let Self { bodies, joints, potentials, settings, .. } = self;
        let Self { collision, constraints, motion, books, .. } = self;
        motion.first_half(bodies, collision, joints, settings, scope, until);
        constraints.prepare(bodies, collision, joints, scope, &motion.kick(settings));
        books.before_kick(bodies);
        motion.apply_forces(bodies, potentials, settings.gravity, scope);
        let solve = constraints.solve(bodies, motion.kick(settings), books);
        constraints.write_back(bodies, collision, joints);
        books.after_kick(bodies, scope, constraints.blocks(), motion.impulses());
        motion.second_half(bodies, scope, until);
        self.report.add(&solve);
    }

    /// Answers the impacts of an instant, to which the scope's bodies were moved. Whether they have an end.
    fn collide(&mut self, scope: &Scope, instant: Instant) -> bool {
        let bounce = match instant.answer {
            Answer::Bounce => self.look().0.rest_speed(),
            _ => f64::INFINITY,
        };
        let Self { bodies, joints, settings, collision, constraints, motion, books, .. } = self;
        motion.place_environment(bodies, instant.time);
        collision.update_manifolds(bodies, settings, scope, motion.when(), self.h, |_| true);
        constraints.prepare_impact(bodies, collision, joints, scope, instant.ahead);
        books.before_kick(bodies);
        let (solve, course) = constraints.collide(bodies, settings, [instant.least, bounce], books);
        constraints.write_back_impact(collision, joints);
        books.after_impact(bodies, constraints.blocks());
        self.report.add(&solve);
        self.report.impact_times += usize::from(course.any);
        course.ended
    }

    /// Looks at what the bodies of the last instant will hit.
    fn foresee(&mut self, impacts: &mut Impacts, dt: f64) {
        let Self { bodies, joints, settings, collision, h, .. } = self;
        let more = collision.find_more(bodies, joints, settings, &impacts.scope.bodies, dt, *h);
        let (look, collision, _) = self.look();
        impacts.renew(&look, collision, more);
    }

    /// What impacts are foreseen from, and where they are noted.
    fn look(&mut self) -> (Outlook<'_>, &mut CollisionPipeline, &mut StepReport) {
        let Self { bodies, joints, potentials, settings, motion, collision, report, h, .. } = self;
        (Outlook { bodies, joints, potentials, settings, motion, h: *h }, collision, report)
    }
}

impl StepReport {
    /// Enters one more solve.
    fn add(&mut self, solve: &SolveReport) {
        self.solve = Some(self.solve.map_or(*solve, |worst| worst.worse(solve)));
    }

    /// Enters what there is to say of the bodies where the step left them.
    fn summarise(
        &mut self,
        bodies: &BodySet,
        joints: &JointSet,
        collision: &CollisionPipeline,
        constraints: &Constraints,
        grouping: &mut Grouping,
    ) {
        let mut deepest = 0.0_f64;
        for pair in collision.pairs().filter(|pair| pair.len > 0) {
            let poses = pair.bodies.map(|body| &bodies.poses[body as usize]);
            let (_, points) = pair.carried(poses);
            let depths = points[..pair.len].iter().map(|point| -point.gap);
            deepest = depths.fold(deepest, f64::max);
        }
        self.max_penetration = Some(deepest);
        self.measure_joints(bodies, joints);
        self.contacts = collision.pairs().map(|pair| pair.len).sum();
        let furthest = constraints.furthest();
        self.worst_violation = furthest.map(|furthest| furthest.violation(bodies, joints));
        let pairs = collision.acting_pairs();
        grouping.build(&bodies.inertial, bodies.slots.len(), pairs, joints);
        self.islands = Some(grouping.len());
    }
}
