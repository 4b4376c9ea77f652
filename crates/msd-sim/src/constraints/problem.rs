//! The problems of exact steps: turns bodies, contacts and joints into islands of blocks, and writes impulses and
//! velocities back.

use super::energy::{come_to_rest, fall, limit_energy};
use super::work::{Work, sum_work, time_landings};
use super::{contact, joint};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, Near};
use crate::islands::{Costs, Island, Islands, Link};
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::settings::Settings;
use crate::solver::position_correction::{Rate, SavedState, correct_positions};
use crate::solver::restitution::ImpactStages;
use crate::solver::{
    Block, Effort, Law, Problem, Scratch, SolveReport, find_impulses, slides_or_opens,
};

/// Surfaces closer than this fraction of the smaller size touch.
pub(crate) const TOUCH_DISTANCE: f64 = 1e-4;

/// Depth left uncorrected, as a fraction of size: lifting a resting body by so little would add energy for no gain.
const ALLOWED_DEPTH: f64 = 2e-5;

/// Surfaces that move relative to each other by less than this many times the speed that forces add in a substep are
/// about to rest.
const SLOW: f64 = 2.0;

/// Cost of a link of an island in motion, whose contact points are found again, in visits of a point by a sweep.
const LINK_COST: u64 = 40;

/// Position errors below this fraction of size are ignored.
const CORRECTABLE: f64 = 1e-9;

/// The problems of one kick, an island each. Buffers are reused; they hold the last kick.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Problems {
    #[serde(skip)]
    pub(super) islands: Islands,
    /// By island: its first block; one more at the end.
    #[serde(skip)]
    pub(super) block_starts: Vec<u32>,
    #[serde(skip)]
    pub(super) blocks: Vec<Block>,
    #[serde(skip)]
    pub(super) infos: Vec<BlockInfo>,
    /// By block: relative velocity before the kick, and position error.
    #[serde(skip)]
    pub(super) velocities_before: Vec<Vec3>,
    #[serde(skip)]
    pub(super) errors: Vec<Vec3>,
    #[serde(skip)]
    pub(super) scratch: Scratch,
    #[serde(skip)]
    pub(super) kept: SavedState,
    #[serde(skip)]
    pub(super) stages: ImpactStages,
    #[serde(skip)]
    pub(super) restitutions: Vec<f64>,
    /// The worst violation since the step began.
    pub(super) worst: Option<Worst>,
    /// By island, in the order of `islands`.
    #[serde(skip)]
    pub(super) outcomes: Vec<IslandOutcome>,
    /// The cost of the step's islands so far.
    pub(crate) costs: Costs,
}

/// The outcome of an island's kick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IslandOutcome {
    pub(crate) report: SolveReport,
    /// The constraint that violates its law most; `None` for an island without constraints.
    pub(crate) worst: Option<Worst>,
    /// Whether the kick left the island unchanged: at rest in the same place, held by the impulses of the kick before.
    pub(crate) held: bool,
}

/// The contact or joint that violates its law most.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Worst {
    pub(crate) bodies: [u32; 2],
    pub(crate) joint: Option<u32>,
    /// Violation, m/s, and relative to the speeds of its island.
    pub(crate) residual: f64,
    pub(crate) relative: f64,
}

/// The origin of a block, and data beyond its law.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockInfo {
    pub(super) source: Link,
    pub(super) point: u32,
    pub(super) size: f64,
    /// Restitution of a contact.
    pub(super) restitution: f64,
    /// Normal velocity at which the surfaces met; zero if there is no impact.
    pub(super) approach: f64,
    /// Correction of the velocity before the kick, such that its mean with the velocity after is the mean of those just
    /// before and just after a landing, which comes at any time.
    pub(super) landing_shift: Vec3,
    /// Residual of the law after the solve, m/s.
    pub(super) residual: f64,
}

impl BlockInfo {
    pub(super) fn new(source: Link, point: u32, size: f64) -> Self {
        Self {
            source,
            point,
            size,
            restitution: 0.0,
            approach: 0.0,
            landing_shift: Vec3::ZERO,
            residual: 0.0,
        }
    }
}

/// A kick: the forces and impulses on bodies in one segment of a substep `h`.
pub(crate) struct Kick<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) h: f64,
    /// By body: length of the segment, s.
    pub(crate) segment: &'a [f64],
    /// By body: velocity before any force or impulse.
    pub(crate) before: &'a [SpatialVector],
    /// By body: velocity after forces, before impulses.
    pub(crate) forced: &'a [SpatialVector],
    /// By body: impulse of conservative forces in this kick.
    pub(crate) forces: &'a [SpatialVector],
    /// By body: impulse of the user's forces in this kick.
    pub(crate) user: &'a [SpatialVector],
    /// By body: time within the segment at which impulses act, s.
    pub(crate) kick_time: &'a [f64],
    /// By body: displacement in addition to that by velocity.
    pub(crate) corrections: &'a mut [SpatialVector],
    /// By body: change of velocity that keeps contacts from creating energy.
    pub(crate) energy_cut: &'a mut [SpatialVector],
    /// By body: displacement that the body misses because forces act all the time, not at its kick.
    pub(crate) fall_shift: &'a mut [Vec3],
}

impl Kick<'_> {
    /// Returns the speed up to which surfaces of an island are about to rest, m/s.
    fn slow_speed(&self, problem: &Problem<'_>) -> f64 {
        let gravity = self.settings.gravity.length() * self.h;
        let fields = problem.members.iter().map(|&body| {
            let (index, inverse_mass) = (body as usize, problem.bodies[body as usize].inverse_mass);
            self.forces[index].linear.length() * inverse_mass
        });
        SLOW * fields.fold(gravity, f64::max)
    }

    /// Returns whether the kick of a whole substep left a body at rest where it was.
    fn leaves_unmoved(&self, body: u32) -> bool {
        let index = body as usize;
        self.before[index] == SpatialVector::ZERO
            && self.segment[index] == self.h
            && self.user[index] == SpatialVector::ZERO
    }
}

impl BlockInfo {
    pub(super) fn worst(&self, block: &Block, residual: f64, relative: f64) -> Worst {
        let joint = match self.source {
            Link::Pair(_) => None,
            Link::Joint(index) => Some(index),
        };
        Worst { bodies: block.bodies, joint, residual, relative }
    }
}

impl Problems {
    /// Begins a step, without any violation.
    pub(crate) fn begin_step(&mut self, bodies: usize, settings: &Settings) {
        self.worst = None;
        self.costs.begin_step(bodies, settings.exact_cost_limit() < u32::MAX);
    }

    /// Adds the cost of an island's solve, and of the geometry of its links, if it `counts`.
    pub(super) fn add_cost(
        &mut self,
        number: usize,
        link_cost: u64,
        counts: bool,
        in_motion: bool,
    ) {
        let links = self.islands.link_count(number) as u64;
        let cost = self.scratch.take_cost() + links * link_cost;
        if counts {
            self.costs.add(self.islands.members(number), cost, in_motion);
        }
    }

    /// Adds the worst violation of islands that are not computed.
    pub(crate) fn add_worst(&mut self, worst: Worst) {
        if self.worst.is_none_or(|known| known.relative < worst.relative) {
            self.worst = Some(worst);
        }
    }

    /// Returns bodies and outcome of every island of the last kick.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = (&[u32], &IslandOutcome)> {
        let outcomes = self.outcomes.iter().enumerate();
        outcomes.map(|(number, outcome)| (self.islands.members(number), outcome))
    }

    /// Returns the worst violation since the step began.
    pub(crate) fn worst(&self) -> Option<Worst> {
        self.worst
    }

    /// Builds islands, and their blocks in order. Velocities are those before forces.
    pub(crate) fn prepare(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        island: &Island,
        kick: &Kick<'_>,
    ) {
        // Pairs that meet later do so at their own time.
        self.connect(bodies, collision, joints, island, |near| {
            near.contact.acting().next().is_some()
        });
        for number in 0..self.islands.len() {
            self.block_starts.push(self.blocks.len() as u32);
            for at in 0..self.islands.link_count(number) {
                match self.islands.link(number, at) {
                    Link::Pair(position) => self.push_pair(bodies, collision, position, kick),
                    Link::Joint(index) => self.push_joint(bodies, joints, index, kick),
                }
            }
        }
        self.block_starts.push(self.blocks.len() as u32);
    }

    /// Clears the blocks of the last kick and groups the bodies of an island by the pairs and joints that connect them.
    pub(super) fn connect(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        island: &Island,
        counts: impl Fn(Near<'_>) -> bool,
    ) {
        let of_joints = island.joints.iter().map(|&index| {
            let ends = joints.joints[index as usize].bodies;
            (Link::Joint(index), ends)
        });
        let of_pairs = island.pairs.iter().filter_map(|&position| {
            let near = collision.near_pair(position as usize);
            counts(near).then_some((Link::Pair(position), near.pair.bodies))
        });
        // Bodies outside the island do not touch those inside before their own time.
        let links = of_joints.chain(of_pairs).filter(|(_, ends)| island.contains(bodies, *ends));
        self.islands.build(bodies.slots.len(), &island.bodies, links);
        self.blocks.clear();
        self.infos.clear();
        self.velocities_before.clear();
        self.errors.clear();
        self.block_starts.clear();
    }

    fn push_pair(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        position: u32,
        kick: &Kick<'_>,
    ) {
        let near = collision.near_pair(position as usize);
        let pair = near.pair;
        let [a, b] = pair.bodies.map(|body| body as usize);
        let base = if bodies.is_inertial(b) { b } else { a };
        for (number, point) in near.contact.acting() {
            // Over the whole substep, however much of it is left: closing a gap within a short piece would make the
            // next one fast.
            let mut block = contact::block(near, point, kick.h);
            let before = block.velocity(&bodies.motions);
            let approach = if before.x < -kick.settings.rest_speed { before.x } else { 0.0 };
            if approach < 0.0 {
                // A landing happens by the end of the segment, or counts as landed; a resting contact may take longer,
                // which reduces jitter.
                let near = point.gap <= TOUCH_DISTANCE * pair.size;
                let left = kick.segment[base] - kick.kick_time[base];
                block.offset.x = if near || !(left > 0.0) { 0.0 } else { point.gap / left };
            }
            let deep = (point.gap + ALLOWED_DEPTH * pair.size).min(0.0);
            let source = Link::Pair(position);
            let restitution = pair.restitution;
            let info = BlockInfo {
                approach,
                restitution,
                ..BlockInfo::new(source, number as u32, pair.size)
            };
            self.push(block, before, Vec3::new(deep, 0.0, 0.0), info);
        }
    }

    fn push_joint(&mut self, bodies: &BodySet, joints: &JointSet, index: u32, kick: &Kick<'_>) {
        let joint = &joints.joints[index as usize];
        let [a, b] = joint.bodies.map(|body| body as usize);
        let velocities = [&bodies.motions[a].velocity, &bodies.motions[b].velocity];
        let size = bodies.extents[a].size.min(bodies.extents[b].size);
        let base = if bodies.is_inertial(b) { b } else { a };
        let (kick_time, segment) = (kick.kick_time[base], kick.segment[base]);
        let inverse_mass = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        joint::blocks(joint, poses, velocities, inverse_mass, kick_time, segment, |found| {
            let before = found.block.velocity(&bodies.motions);
            let source = Link::Joint(index);
            self.push(found.block, before, found.error, BlockInfo::new(source, 0, size));
        });
    }

    #[inline(always)]
    pub(super) fn push(&mut self, block: Block, before: Vec3, error: Vec3, info: BlockInfo) {
        self.blocks.push(block);
        self.velocities_before.push(before);
        self.errors.push(error);
        self.infos.push(info);
    }

    /// Solves every island, at velocities that forces have already changed. Calls `add_work` with the work of
    /// each island and the energy removed from it so that contacts create none, J.
    pub(crate) fn solve(
        &mut self,
        bodies: &mut BodySet,
        mut kick: Kick<'_>,
        mut add_work: impl FnMut(&Work, f64),
    ) -> SolveReport {
        let mut total = SolveReport::exact();
        self.outcomes.clear();
        for number in 0..self.islands.len() {
            let range = self.block_starts[number] as usize..self.block_starts[number + 1] as usize;
            if range.is_empty() {
                self.outcomes.push(IslandOutcome::default());
                continue;
            }
            let mut problem = Problem {
                bodies: &mut bodies.motions,
                members: self.islands.members(number),
                blocks: &mut self.blocks[range.clone()],
            };
            let infos = &mut self.infos[range.clone()];
            let velocities_before = &self.velocities_before[range.clone()];
            time_landings(&problem, infos, velocities_before, &kick);
            for block in problem.blocks.iter() {
                block.apply(problem.bodies, block.impulse);
            }
            let effort = effort_for(problem.blocks, velocities_before, kick.slow_speed(&problem));
            let report = find_impulses(&mut problem, kick.settings, effort, &mut self.scratch);
            let errors = &self.errors[range];
            if errors.iter().zip(infos.iter()).any(|(e, d)| e.length() > CORRECTABLE * d.size) {
                let segment = kick.segment[problem.members[0] as usize];
                // A piece of a substep corrects its share.
                let rate = Rate {
                    share: kick.settings.position_correction * (segment / kick.h),
                    speed: kick.settings.position_correction_speed,
                    h: segment,
                };
                correct_positions(
                    &mut problem,
                    errors,
                    &rate,
                    kick.corrections,
                    &mut self.kept,
                    &mut self.scratch.sweeps,
                );
            }
            let work = sum_work(&problem, infos, velocities_before);
            let relative = report.residual.relative();
            let residuals = infos.iter().map(|info| info.residual).enumerate();
            let worst = residuals
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(at, residual)| infos[at].worst(&problem.blocks[at], residual, relative));
            if self.worst.is_none_or(|known| known.relative < relative) {
                self.worst = worst;
            }
            fall(&problem, &mut kick);
            let taken = limit_energy(&mut problem, &mut kick, &bodies.poses, &work);
            let stopped = come_to_rest(&mut problem, &mut kick, &report);
            add_work(&work, taken + stopped.unwrap_or(0.0));
            total = total.worse(&report);
            let held = stopped.is_some() && report.iterations == 0;
            let held = held && problem.members.iter().all(|&body| kick.leaves_unmoved(body));
            self.outcomes.push(IslandOutcome { report, worst, held });
            let link_cost = if report.iterations > 0 { LINK_COST } else { 0 };
            // A structure of which nothing moves is solved once, and rests from then on.
            let counts = effort != Effort::AtRest;
            self.add_cost(number, link_cost, counts, matches!(effort, Effort::InMotion { .. }));
        }
        total
    }

    /// Clears all islands and blocks.
    pub(crate) fn clear(&mut self) {
        self.islands.clear();
        self.blocks.clear();
        self.infos.clear();
        self.outcomes.clear();
    }

    /// Returns the blocks of the last kick, with their impulses.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

/// Returns the work that an island gets by the relative velocities of its surfaces and joints before the kick. Surfaces
/// that are no faster than `slow` are about to rest. The errors of joints add up, so islands with joints are not
/// solved less exactly in motion.
fn effort_for(blocks: &[Block], velocities_before: &[Vec3], slow: f64) -> Effort {
    let squared = velocities_before.iter().fold(0.0_f64, |most, u| most.max(u.length_squared()));
    let is_contact = |block: &Block| matches!(block.law, Law::Contact { .. });
    let slides = || velocities_before.iter().any(|&u| slides_or_opens(u, slow));
    match squared {
        0.0 => Effort::AtRest,
        _ if squared <= slow * slow => Effort::Full,
        _ if blocks.iter().all(is_contact) && slides() => Effort::InMotion { slow },
        _ => Effort::Landing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::Contacts;
    use crate::constraints::PoseTimes;
    use crate::geometry::Shape;
    use crate::joints::JointKind;
    use crate::model::Model;
    use crate::settings::StepTime;
    use crate::{BodyDef, JointDef, World};

    const H: f64 = 1.0 / 240.0;
    const G: f64 = 9.81;

    /// The data of a kick, by body.
    struct Given {
        segment: Vec<f64>,
        kick_time: Vec<f64>,
        before: Vec<SpatialVector>,
        forces: Vec<SpatialVector>,
        user: Vec<SpatialVector>,
        corrections: Vec<SpatialVector>,
        energy_cut: Vec<SpatialVector>,
        fall_shift: Vec<Vec3>,
    }

    impl Given {
        /// Whole substeps, at their middle, with these forces over them.
        fn new(world: &World, forces: impl Fn(usize) -> Vec3) -> Self {
            let count = world.model.bodies.poses.len();
            let zeros = vec![SpatialVector::ZERO; count];
            let force = |body: usize| SpatialVector::new(forces(body) * H, Vec3::ZERO);
            Self {
                segment: vec![H; count],
                kick_time: vec![0.5 * H; count],
                before: world.model.bodies.motions.iter().map(|motion| motion.velocity).collect(),
                forces: (0..count).map(force).collect(),
                user: zeros.clone(),
                corrections: zeros.clone(),
                energy_cut: zeros,
                fall_shift: vec![Vec3::ZERO; count],
            }
        }

        fn kick<'a>(&'a mut self, settings: &'a Settings) -> Kick<'a> {
            let Self { segment, kick_time, before, forces, user, .. } = self;
            let Self { corrections, energy_cut, fall_shift, .. } = self;
            let (kick_time, h) = (&*kick_time, H);
            Kick {
                settings,
                h,
                segment,
                before,
                forced: before,
                forces,
                user,
                kick_time,
                corrections,
                energy_cut,
                fall_shift,
            }
        }
    }

    /// Balls of radius 0.5 m and 1 kg at heights above a floor, which is body 0.
    fn balls(heights: &[f64]) -> World {
        let mut world = World::default();
        let floor = Shape::cuboid(Vec3::new(5.0, 5.0, 0.5)).unwrap();
        world.add_body(BodyDef::environment(floor).position(Vec3::Z * -0.5)).unwrap();
        for &z in heights {
            let ball = BodyDef::inertial(Shape::sphere(0.5).unwrap()).mass(1.0);
            world.add_body(ball.position(Vec3::Z * z)).unwrap();
        }
        world
    }

    fn island(world: &World) -> Island {
        let mut island = Island::default();
        let all = &world.model.bodies.inertial;
        island.fill(all, &world.contacts.collision, &world.model.joints, |_| true);
        island
    }

    /// Finds contact points and prepares the blocks of a kick.
    fn prepare(world: &mut World, given: &mut Given) {
        let when = vec![0.0; world.model.bodies.poses.len()];
        let World { model, contacts, scratch, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let threads = &mut scratch.threads;
        constraints.resize(bodies.poses.len());
        let all = &bodies.inertial;
        collision.find_exact_pairs(
            bodies,
            all,
            joints,
            settings,
            StepTime { dt: 4.0 * H, h: H },
            threads,
        );
        collision.update_near(&bodies.colliders, |_| true, |_| false);
        let island = island(world);
        let World { model, contacts, states, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let Contacts { collision, constraints } = contacts;
        let problems = &mut states.problems;
        let poses = PoseTimes { times: &when, h: H };
        constraints.update_manifolds(bodies, collision, settings, &island, poses, |_| true);
        problems.prepare(bodies, collision, joints, &island, &given.kick(settings));
    }

    /// Applies the forces, then solves and writes back impulses.
    fn solve_and_write_back(world: &mut World, given: &mut Given) -> SolveReport {
        let World { model, contacts, states, .. } = world;
        let Model { bodies, joints, settings, .. } = model;
        let collision = &mut contacts.collision;
        let problems = &mut states.problems;
        for (motion, force) in bodies.motions.iter_mut().zip(&given.forces) {
            let change = motion.response(*force);
            motion.velocity += change;
        }
        let report = problems.solve(bodies, given.kick(settings), |_, _| ());
        problems.write_back(bodies, collision, joints);
        report
    }

    #[test]
    fn each_point_becomes_a_block_of_its_pair_in_its_island() {
        // A ball on the floor, one on it, and one far above: two edges, one island, and the third is in none.
        let mut world = balls(&[0.49, 1.47, 10.0]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        let Problems { blocks, infos, errors, velocities_before, islands, block_starts, .. } =
            &world.states.problems;
        let bodies: Vec<_> = blocks.iter().map(|block| block.bodies).collect();
        assert_eq!(bodies, [[0, 1], [1, 2]]);
        assert_eq!((islands.len(), islands.members(0)), (1, &[1, 2][..]));
        assert_eq!(block_starts, &[0, 2]);
        assert_eq!((infos.len(), velocities_before), (2, &vec![Vec3::ZERO; 2]));
        // 10 and 20 mm deep, of which 2e-5 of the size is left.
        for (error, depth) in errors.iter().zip([0.01, 0.02]) {
            let expected = Vec3::X * (ALLOWED_DEPTH * 0.5 - depth);
            assert!((*error - expected).length() < 1e-15, "{error}");
        }
        // Overlapping surfaces may not approach at all: no offset.
        assert!(blocks.iter().all(|block| block.offset == Vec3::ZERO));
        assert!(blocks.iter().all(|block| block.rows[0].linear == Vec3::Z));
    }

    #[test]
    fn surfaces_that_are_apart_may_close_their_gap_but_not_more() {
        let mut world = balls(&[0.505]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        let Problems { blocks, errors, .. } = &world.states.problems;
        assert!((blocks[0].offset.x - 0.005 / H).abs() < 1e-12);
        assert_eq!(errors[0], Vec3::ZERO);
        // Falling 5 mm per substep just closes the gap; 7 mm would overlap by 2 mm.
        for (speed, impulse) in [(0.005 / H, 0.0), (0.007 / H, 0.002 / H)] {
            world.model.bodies.motions[1].velocity.linear = Vec3::Z * -speed;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            solve_and_write_back(&mut world, &mut given);
            let found = world.states.problems.blocks[0].impulse.x;
            assert!((found - impulse).abs() < 1e-12, "{found} instead of {impulse}");
            world.states.problems.blocks[0].impulse = Vec3::ZERO;
        }
    }

    #[test]
    fn a_landing_above_the_rest_speed_does_not_warm_start() {
        for (speed, impact) in [(0.4999, false), (0.5001, true)] {
            let mut world = balls(&[0.5]);
            world.model.bodies.motions[1].velocity.linear = Vec3::Z * -speed;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            let approach = world.states.problems.infos[0].approach;
            assert_eq!(approach, if impact { -speed } else { 0.0 });
            solve_and_write_back(&mut world, &mut given);
            // Either way the ball is stopped, and the step's sums show it.
            assert!(world.model.bodies.motions[1].velocity.linear.length() < 1e-15);
            let pair = world.contacts.collision.near_pair(0).contact;
            assert!(
                (pair.normal_impulse - speed).abs() < 1e-15
                    && (pair.impulse.z - speed).abs() < 1e-15
            );
            let remembered = if impact { 0.0 } else { speed };
            assert!((pair.points[0].impulse.z - remembered).abs() < 1e-15);
            assert!((pair.points[0].total_impulse.z - speed).abs() < 1e-15);
            assert_eq!(pair.points[0].approach, approach);
            let hits: Vec<f64> =
                world.contacts.collision.hits().map(|(.., hit)| hit.speed).collect();
            assert_eq!(hits, if impact { vec![speed] } else { vec![] });
        }
    }

    #[test]
    fn the_weight_is_carried_and_warm_starts_the_next_kick() {
        let mut world = balls(&[0.5, 1.5]);
        let weight = |body: usize| if body == 0 { Vec3::ZERO } else { Vec3::Z * -G };
        for round in 0..2 {
            let mut given = Given::new(&world, weight);
            prepare(&mut world, &mut given);
            // The first time there is nothing to start from, then there is the solution.
            let start = world.states.problems.blocks.iter().map(|block| block.impulse.x);
            let start: Vec<f64> = start.collect();
            for (impulse, load) in start.iter().zip([2.0, 1.0]) {
                let expected = if round == 0 { 0.0 } else { load * G * H };
                assert!((impulse - expected).abs() < 1e-12, "{start:?}");
            }
            let report = solve_and_write_back(&mut world, &mut given);
            assert!(report.converged);
            assert_eq!(report.iterations == 0, round == 1);
            for (position, load) in [2.0, 1.0].into_iter().enumerate() {
                let pair = world.contacts.collision.near_pair(position).contact;
                assert!((pair.points[0].impulse.z - load * G * H).abs() < 1e-12);
                assert!(pair.points[0].residual().is_some_and(|residual| residual < 1e-12));
                assert!((pair.normal_impulse - (round + 1) as f64 * load * G * H).abs() < 1e-12);
            }
            assert!(world.model.bodies.motions[2].velocity.linear.length() < 1e-12);
        }
    }

    #[test]
    fn an_overlap_becomes_a_displacement_of_the_body_that_can_move() {
        let mut world = balls(&[0.49]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        solve_and_write_back(&mut world, &mut given);
        // 0.2 of 10 mm, less the depth left uncorrected; a piece of a substep corrects its share.
        let whole = 0.2 * (0.01 - ALLOWED_DEPTH * 0.5);
        assert!((given.corrections[1].linear - Vec3::Z * whole).length() < 1e-15);
        assert_eq!(given.corrections[0], SpatialVector::ZERO);
        assert_eq!(world.model.bodies.motions[1].velocity, SpatialVector::ZERO);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        given.segment.fill(0.25 * H);
        solve_and_write_back(&mut world, &mut given);
        assert!((given.corrections[1].linear - Vec3::Z * (0.25 * whole)).length() < 1e-15);
    }

    #[test]
    fn points_known_to_stay_apart_have_no_block_unless_they_bear_a_load() {
        let mut world = balls(&[0.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        assert_eq!(world.states.problems.blocks.len(), 1);
        for (impulse, blocks) in [(Vec3::ZERO, 0), (Vec3::Z, 1)] {
            let pair = world.contacts.collision.contact_mut(0);
            pair.cannot_close = true;
            pair.points[0].impulse = impulse;
            let island = island(&world);
            let World { model, contacts, states, .. } = &mut world;
            let Model { bodies, joints, settings, .. } = model;
            let collision = &mut contacts.collision;
            let problems = &mut states.problems;
            problems.prepare(bodies, collision, joints, &island, &given.kick(settings));
            assert_eq!(problems.blocks.len(), blocks);
            assert_eq!(problems.islands.len(), blocks);
        }
        world.states.problems.clear();
        assert_eq!(
            (world.states.problems.islands.len(), world.states.problems.blocks().len()),
            (0, 0)
        );
    }

    #[test]
    fn bodies_outside_the_island_are_left_out() {
        let mut world = balls(&[0.5, 1.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        assert_eq!(world.states.problems.blocks.len(), 2);
        // The lower ball alone: it touches the floor, and does not touch the other before its time.
        let mut alone = Island::default();
        alone.bodies.push(1);
        alone.pairs.extend([0, 1]);
        let World { model, contacts, states, .. } = &mut world;
        let Model { bodies, joints, settings, .. } = model;
        let collision = &mut contacts.collision;
        let problems = &mut states.problems;
        problems.prepare(bodies, collision, joints, &alone, &given.kick(settings));
        let found: Vec<_> = problems.blocks.iter().map(|block| block.bodies).collect();
        assert_eq!(found, [[0, 1]]);
    }

    #[test]
    fn a_joint_carries_its_load_and_reports_it() {
        // Under a hook, by each kind that holds: the impulse on B, the lower one, is upward.
        let kinds: [fn(crate::BodyId, crate::BodyId) -> JointDef; 3] = [
            |a, b| JointDef::rod(a, b, 2.0),
            |a, b| JointDef::rope(a, b, 2.0),
            |a, b| JointDef::ball(a, b).anchors(Vec3::Z * -2.0, Vec3::ZERO),
        ];
        for (kind, swapped) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let mut world = World::default();
            let small = || Shape::sphere(0.1).unwrap();
            let hook = world.add_body(BodyDef::environment(small())).unwrap();
            let bob = BodyDef::inertial(small()).mass(3.0).position(Vec3::Z * -2.0);
            let bob = world.add_body(bob).unwrap();
            let mut joint = kind(hook, bob);
            if swapped {
                joint.bodies.reverse();
                joint.anchors.reverse();
            }
            let joint = world.add_joint(joint).unwrap();
            let up = if swapped { Vec3::Z * -1.0 } else { Vec3::Z };
            let mut start = 0.0;
            for _ in 0..2 {
                let weight =
                    |body: usize| if body == 1 { Vec3::Z * (-3.0 * G) } else { Vec3::ZERO };
                let mut given = Given::new(&world, weight);
                prepare(&mut world, &mut given);
                let found = world.states.problems.blocks.iter();
                let found: f64 = found.map(|block| block.impulse.length()).sum();
                assert!((found - start).abs() < 1e-12, "{found} instead of {start}");
                let report = solve_and_write_back(&mut world, &mut given);
                assert!(report.converged);
                assert!(world.model.bodies.motions[1].velocity.linear.length() < 1e-12);
                start = 3.0 * G * H;
            }
            let reported = world.joint_impulse(joint).unwrap();
            assert!((reported - up * (2.0 * 3.0 * G * H)).length() < 1e-12, "{reported}");
        }
    }

    /// The blocks of an impact of points that touch within `ahead`.
    fn prepare_impact(world: &mut World, ahead: f64) -> Vec<Block> {
        let island = island(world);
        let World { model, contacts, states, .. } = world;
        let Model { bodies, joints, .. } = model;
        let collision = &mut contacts.collision;
        let problems = &mut states.problems;
        problems.prepare_impact(bodies, collision, joints, &island, ahead);
        assert_eq!(problems.restitutions.len(), problems.blocks.len());
        problems.blocks.clone()
    }

    #[test]
    fn a_landing_closes_its_gap_by_the_end_of_the_segment_or_counts_as_landed() {
        for (gap, expected) in [(5e-3, 5e-3 / (0.5 * H)), (6e-5, 6e-5 / (0.5 * H)), (4e-5, 0.0)] {
            let mut world = balls(&[0.5 + gap]);
            world.model.bodies.motions[1].velocity.linear = Vec3::Z * -2.0;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            let offset = world.states.problems.blocks[0].offset.x;
            assert!((offset - expected).abs() < 1e-9, "{offset} instead of {expected}");
        }
    }

    #[test]
    fn an_impact_has_the_points_that_touch_or_will_at_once() {
        // 1 mm apart at 1 m/s: in 1 ms. Separating points take no part, however near.
        for (speed, ahead, found) in
            [(-1.0, 0.0, 0), (-1.0, 0.9e-3, 0), (-1.0, 1.1e-3, 1), (1.0, 1.1e-3, 0)]
        {
            let mut world = balls(&[0.501]);
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            world.model.bodies.motions[1].velocity.linear = Vec3::Z * speed;
            world.contacts.collision.contact_mut(0).points[0].impulse = Vec3::Z;
            let blocks = prepare_impact(&mut world, ahead);
            assert_eq!(blocks.len(), found, "{speed} m/s within {ahead} s");
            // Without time passing: from zero impulse, and without a gap.
            for block in blocks {
                assert_eq!((block.impulse, block.offset), (Vec3::ZERO, Vec3::ZERO));
                assert_eq!(world.states.problems.velocities_before, [Vec3::X * speed]);
                assert_eq!(world.states.problems.restitutions, [0.5]);
            }
        }
    }

    #[test]
    fn an_impact_has_the_joints_that_hold_and_ropes_that_are_taut() {
        let small = || Shape::sphere(0.1).unwrap();
        // The balls' size is 0.1 m: a rope that is slack by less than 1e-4 of it is taut.
        let kinds: [(JointKind, usize); 6] = [
            (JointKind::Ball, 3),
            (JointKind::Distance { min: 2.0, max: 2.0 }, 1),
            (JointKind::Distance { min: 0.0, max: 2.0 + 0.9e-5 }, 1),
            (JointKind::Distance { min: 0.0, max: 2.0 + 1.1e-5 }, 0),
            (JointKind::Distance { min: 1.0, max: 3.0 }, 0),
            (JointKind::Spring { rest_length: 1.0, stiffness: 100.0, damping: 1.0 }, 0),
        ];
        for (kind, rows) in kinds {
            let mut world = World::default();
            let hook = world.add_body(BodyDef::environment(small())).unwrap();
            let bob = BodyDef::inertial(small()).mass(3.0).position(Vec3::Z * -2.0);
            let bob = world.add_body(bob).unwrap();
            world.add_joint(JointDef::new(hook, bob, kind)).unwrap();
            let blocks = prepare_impact(&mut world, 0.0);
            let found: usize = blocks.iter().map(|block| block.law.rows()).sum();
            assert_eq!(found, rows, "{kind:?}");
            assert!(blocks.iter().all(|block| block.offset == Vec3::ZERO));
            assert!(world.states.problems.restitutions.iter().all(|&e| e == 0.0));
        }
    }

    #[test]
    fn work_is_recorded_by_kind() {
        let mut world = balls(&[0.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        let contact = world.states.problems.blocks[0];
        let rigid = Block { law: Law::Bilateral { rows: 3 }, ..contact };
        let soft = Block { softness: 0.1, ..rigid };
        let mut work = Work::default();
        work.add(&world.model.bodies.motions, &contact, Vec3::new(1.0, 20.0, 300.0));
        assert_eq!((work.normal, work.friction, work.joints), (1.0, 320.0, 0.0));
        work.add(&world.model.bodies.motions, &rigid, Vec3::new(1.0, 20.0, 300.0));
        assert_eq!((work.joints, work.rigid), (321.0, 321.0));
        work.add(&world.model.bodies.motions, &soft, Vec3::new(4.0, 50.0, 600.0));
        assert_eq!((work.joints, work.rigid, work.environment), (975.0, 321.0, 0.0));
        // A moving floor works by its own velocity: against 2 N s upward at 3 m/s upward, 6 J, and as much sideways.
        world.model.bodies.motions[0].velocity.linear = Vec3::new(5.0, 0.0, 3.0);
        let mut pressed = contact;
        pressed.impulse = Vec3::new(2.0, 0.0, 0.0);
        work.add(&world.model.bodies.motions, &pressed, Vec3::ZERO);
        assert_eq!(work.environment, 6.0);
    }
}
