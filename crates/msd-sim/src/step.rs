//! One step, as a list of calls.

use crate::bodies::{BodySet, Potential};
use crate::collision::{CollisionPipeline, ContactPair};
use crate::constraints::Constraints;
use crate::impacts::{ImpactContext, ImpactTime, Impacts, Response};
use crate::island::Island;
use crate::joints::JointSet;
use crate::ledger::LedgerBuilder;
use crate::motion::Motion;
use crate::report::{Grouping, StepReport};
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
    let World { motion, impacts, ledger, events, report, grouping, .. } = world;
    let h = dt / f64::from(settings.substeps);
    let exact = bodies.inertial.len();
    *report = StepReport { exact, solve: Some(SolveReport::exact()), ..StepReport::default() };
    constraints.begin_step();
    ledger.open(bodies, joints, potentials, settings);
    motion.begin(bodies);
    joints.begin_step();
    collision.for_each_pair(ContactPair::begin_step);
    collision.find_pairs(bodies, joints, settings, dt, h);
    impacts.invalidate();
    for substep in 0..settings.substeps {
        let stale = substep > 0 && collision.has_swept_bounds();
        if stale || collision.has_outrun(bodies, &bodies.inertial, dt, h) {
            collision.find_pairs(bodies, joints, settings, dt, h);
            impacts.invalidate();
        }
        motion.begin_substep(bodies, h);
        let mut substep = Substep {
            bodies,
            joints,
            potentials,
            settings,
            collision,
            constraints,
            motion,
            ledger,
            report,
            h,
        };
        let (context, collision, _) = substep.context();
        impacts.begin_substep(&context, collision);
        loop {
            let (context, collision, report) = substep.context();
            let Some(impact) = impacts.next(&context, collision, &mut report.unresolved_impacts)
            else {
                break;
            };
            substep.advance(&impacts.behind, impact.time);
            let ended = substep.collide(&impacts.island, impact);
            if impact.response == Response::MoveOn {
                let (context, collision, report) = substep.context();
                impacts.move_on(&context, collision, &mut report.unresolved_impacts);
                report.exhausted += 1;
                substep.motion.hold_until_end(&impacts.passing);
                continue;
            }
            if !ended {
                impacts.give_up();
            }
            substep.predict(impacts, dt);
        }
        substep.advance(impacts.rest(substep.motion, h), h);
    }
    events.quarantine(bodies, collision, joints, motion);
    report.summarise(bodies, joints, collision, constraints, grouping);
    report.audit = ledger.close(bodies, joints, potentials, settings);
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

/// What a substep works on.
struct Substep<'a> {
    bodies: &'a mut BodySet,
    joints: &'a mut JointSet,
    potentials: &'a [Potential],
    settings: &'a Settings,
    collision: &'a mut CollisionPipeline,
    constraints: &'a mut Constraints,
    motion: &'a mut Motion,
    ledger: &'a mut LedgerBuilder,
    report: &'a mut StepReport,
    h: f64,
}

impl Substep<'_> {
    /// Moves bodies to a time of the substep: forces, loads and slow landings.
    fn advance(&mut self, island: &Island, until: f64) {
        if island.bodies.is_empty() && !self.motion.has_kinematic() {
            self.constraints.clear();
            return;
        }
        let Self { bodies, joints, potentials, settings, .. } = self;
        let Self { collision, constraints, motion, ledger, .. } = self;
        motion.first_half(bodies, collision, joints, settings, island, until);
        constraints.prepare(bodies, collision, joints, island, &motion.kick(settings));
        ledger.before_kick(bodies);
        motion.apply_forces(bodies, potentials, settings.gravity, island);
        let solve = constraints.solve(bodies, motion.kick(settings), ledger);
        constraints.write_back(bodies, collision, joints);
        ledger.after_kick(bodies, island, constraints.blocks(), motion.impulses());
        motion.second_half(bodies, island, until);
        self.report.add(&solve);
    }

    /// Answers the impacts of an instant, to which the scope's bodies were moved. Whether they have an end.
    fn collide(&mut self, island: &Island, impact: ImpactTime) -> bool {
        let bounce = match impact.response {
            Response::Bounce => self.context().0.rest_speed(),
            _ => f64::INFINITY,
        };
        let Self { bodies, joints, settings, collision, constraints, motion, ledger, .. } = self;
        motion.place_environment(bodies, impact.time);
        collision.update_manifolds(bodies, settings, island, motion.pose_time(), self.h, |_| true);
        constraints.prepare_impact(bodies, collision, joints, island, impact.ahead);
        ledger.before_kick(bodies);
        let (solve, outcome) =
            constraints.collide(bodies, settings, [impact.least, bounce], ledger);
        constraints.write_back_impact(collision, joints);
        ledger.after_impact(bodies, constraints.blocks());
        self.report.add(&solve);
        self.report.impact_times += usize::from(outcome.any);
        outcome.ended
    }

    /// Looks at what the bodies of the last instant will hit.
    fn predict(&mut self, impacts: &mut Impacts, dt: f64) {
        let Self { bodies, joints, settings, collision, h, .. } = self;
        let more = collision.find_additional_pairs(
            bodies,
            joints,
            settings,
            &impacts.island.bodies,
            dt,
            *h,
        );
        let (context, collision, _) = self.context();
        impacts.repredict(&context, collision, more);
    }

    /// What impacts are foreseen from, and where they are noted.
    fn context(&mut self) -> (ImpactContext<'_>, &mut CollisionPipeline, &mut StepReport) {
        let Self { bodies, joints, potentials, settings, motion, collision, report, h, .. } = self;
        (ImpactContext { bodies, joints, potentials, settings, motion, h: *h }, collision, report)
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
        let worst = constraints.worst();
        self.worst_violation = worst.map(|worst| worst.violation(bodies, joints));
        let pairs = collision.acting_pairs();
        grouping.build(&bodies.inertial, bodies.slots.len(), pairs, joints);
        self.islands = Some(grouping.len());
    }
}
