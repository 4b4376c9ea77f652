//! One step, as a list of calls.

use crate::audit::Ledger;
use crate::collision::{CollisionPipeline, ContactPair};
use crate::constraints::Constraints;
use crate::solver::SolveReport;
use crate::world::World;

/// What a step did, and how good it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The worst of the step's solves.
    pub solve: SolveReport,
    /// Deepest overlap of two bodies when the last impulses were found, m.
    pub max_penetration: f64,
    /// Contact points in the last substep, those about to touch included.
    pub contacts: usize,
    /// Islands in the last substep.
    pub islands: usize,
    /// Energy and momentum, if [`Settings::audit`](crate::Settings::audit) is on.
    pub audit: Option<Ledger>,
}

/// Advances a world by a time step that was checked.
pub(crate) fn step(world: &mut World, dt: f64) {
    let World { bodies, joints, potentials, settings, collision, constraints, .. } = world;
    let World { motion, books, events, report, .. } = world;
    let h = dt / f64::from(settings.substeps);
    *report = StepReport { solve: SolveReport::exact(), ..StepReport::default() };
    books.open(bodies, joints, potentials, settings);
    motion.begin(bodies);
    joints.begin_step();
    collision.find_pairs(bodies, joints, settings, dt);
    collision.for_each_pair(ContactPair::begin_step);
    for round in 0..=settings.substeps {
        // Impacts that reached their surface at the very end bounce in a last round, in no time.
        let last = round == settings.substeps;
        if last && !constraints.has_pending() {
            break;
        }
        let time = if last { 0.0 } else { h };
        if collision.is_outrun(bodies, dt) {
            collision.find_pairs(bodies, joints, settings, dt);
        }
        motion.first_half(bodies, collision, joints, settings, time, h);
        constraints.prepare(bodies, collision, joints, settings, motion.lead(), h);
        books.before_kick(bodies);
        motion.apply_forces(bodies, potentials, settings.gravity, time);
        let solve = constraints.solve(bodies, motion.kick(settings, h, last), books);
        constraints.write_back(bodies, collision, joints, last);
        books.after_kick(bodies, constraints.blocks(), motion.impulses(h));
        motion.second_half(bodies, time);
        report.solve = report.solve.worse(&solve);
    }
    report.summarise(collision, constraints);
    events.contain(bodies, collision, joints, motion);
    report.audit = books.close(bodies, joints, potentials, settings);
    events.collect(bodies, collision);
    bodies.clear_user_forces();
}

impl StepReport {
    fn summarise(&mut self, collision: &CollisionPipeline, constraints: &Constraints) {
        let depths = collision.pairs().flat_map(|pair| pair.points().iter().map(|p| -p.gap));
        self.max_penetration = depths.fold(0.0, f64::max);
        self.contacts = constraints.contact_count();
        self.islands = constraints.islands().count();
    }
}
