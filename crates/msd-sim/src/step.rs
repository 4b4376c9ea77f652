//! One step, as a list of calls.

use crate::audit::{Books, Ledger};
use crate::bodies::{BodySet, Potential};
use crate::collision::{CollisionPipeline, ContactPair};
use crate::constraints::Constraints;
use crate::crowd;
use crate::impacts::{Answer, Impacts, Instant, Outlook};
use crate::joints::JointSet;
use crate::motion::Motion;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::solver::SolveReport;
use crate::world::World;

/// What a step did, and how good it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The worst of the step's solves.
    pub solve: SolveReport,
    /// Deepest overlap of two bodies when the last impulses were found, m.
    pub max_penetration: f64,
    /// Instants within the step at which something bounced or a fast body was stopped.
    pub instants: usize,
    /// Impacts left without a bounce, because [`Settings::impact_work`](crate::Settings::impact_work) was
    /// spent or one impact followed another without end.
    pub unanswered: usize,
    /// Contact points in the last substep, those about to touch included.
    pub contacts: usize,
    /// Islands that were moved last in the last substep.
    pub islands: usize,
    /// Bodies that sleep ([`Settings::sleeping`](crate::Settings::sleeping)): the numbers above are without them.
    pub asleep: usize,
    /// Energy and momentum, if [`Settings::audit`](crate::Settings::audit) is on.
    pub audit: Option<Ledger>,
}

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    if crowd::is_crowd(&world.bodies, &world.settings) {
        return crowd::step(world, dt);
    }
    world.crowd.stop();
    let World { bodies, joints, potentials, settings, collision, constraints, .. } = world;
    let World { motion, impacts, books, events, report, .. } = world;
    let h = dt / f64::from(settings.substeps);
    *report = StepReport { solve: SolveReport::exact(), ..StepReport::default() };
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
            let Some(instant) = impacts.next(&look, collision, &mut report.unanswered) else {
                break;
            };
            if instant.answer == Answer::Freeze {
                stage.motion.freeze(&impacts.scope);
                impacts.forget();
                continue;
            }
            stage.advance(&impacts.behind, instant.time);
            if !stage.collide(&impacts.scope, instant) {
                impacts.spend();
            }
            stage.foresee(impacts, dt);
        }
        stage.advance(impacts.rest(stage.motion, h), h);
    }
    report.summarise(collision, constraints);
    events.contain(bodies, collision, joints, motion);
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
        self.report.solve = self.report.solve.worse(&solve);
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
        self.report.solve = self.report.solve.worse(&solve);
        self.report.instants += usize::from(course.any);
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
    fn summarise(&mut self, collision: &CollisionPipeline, constraints: &Constraints) {
        let depths = collision.pairs().flat_map(|pair| pair.points().iter().map(|p| -p.gap));
        self.max_penetration = depths.fold(0.0, f64::max);
        self.contacts = collision.pairs().map(|pair| pair.len).sum();
        self.islands = constraints.islands().count();
    }
}
