//! The only module that speaks both world and solver: bodies, contacts and joints become islands of
//! blocks; impulses and velocities come back.

mod contact;
pub(crate) mod impact;
pub(crate) mod island;
pub(crate) mod joint;

use crate::audit::{Books, hold_energy};
use crate::bodies::BodySet;
use crate::collision::{CollisionPipeline, ContactPair};
use crate::joints::JointSet;
use crate::math::{SpatialVector, Vec3};
use crate::scope::Scope;
use crate::settings::Settings;
use crate::solver::position_correction::{SavedState, correct_positions};
use crate::solver::restitution::{ImpactStages, unbounced};
use crate::solver::{Block, Law, Problem, Scratch, SolveReport, SolverBody};
use crate::solver::{block_residual, find_impulses};
use island::{Islands, Tie};

/// Surfaces closer than this fraction of the smaller size touch.
pub(crate) const TOUCHING: f64 = 1e-4;

/// Bodies are not pushed out of each other by the last of this fraction of size: lifting what rests
/// by as little as that would be a rise of energy for no gain.
const UNSEEN: f64 = 2e-5;

/// Position errors below this fraction of size are left alone.
const RECOVERABLE: f64 = 1e-9;

/// One kick's constraints. Buffers are kept; what stands in them is of the last kick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    ties: Vec<Tie>,
    sources: Vec<Source>,
    islands: Islands,
    /// By island: its first block; one more at the end.
    block_starts: Vec<u32>,
    blocks: Vec<Block>,
    details: Vec<Detail>,
    /// By block: relative velocity before the kick, and position error.
    befores: Vec<Vec3>,
    errors: Vec<Vec3>,
    scratch: Scratch,
    kept: SavedState,
    stages: ImpactStages,
    restitutions: Vec<f64>,
    /// What was furthest from its law since the step began.
    furthest: Option<Furthest>,
}

/// A contact or joint that is further from its law than any other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Furthest {
    pub(crate) bodies: [u32; 2],
    pub(crate) joint: Option<u32>,
    /// m/s, and relative to the speeds of its island.
    pub(crate) residual: f64,
    pub(crate) relative: f64,
}

/// Where a tie comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The pair at this position of the collision pipeline's order.
    Pair(u32),
    Joint(u32),
}

/// Where a block comes from, and what its law does not know.
#[derive(Clone, Copy, Debug)]
struct Detail {
    source: Source,
    point: u32,
    size: f64,
    /// Of a contact.
    restitution: f64,
    /// Normal velocity with which the points met; zero if it is no impact.
    approach: f64,
    /// What is added to the velocity before the kick so that its mean with that after is the mean of those
    /// just before and just after a landing, which comes at any time.
    shift: Vec3,
    /// Violation of the contact's law after the solve, m/s.
    residual: f64,
}

impl Detail {
    fn new(source: Source, point: u32, size: f64) -> Self {
        Self {
            source,
            point,
            size,
            restitution: 0.0,
            approach: 0.0,
            shift: Vec3::ZERO,
            residual: 0.0,
        }
    }
}

/// A kick: what acts on the bodies in one segment of a substep `h`.
pub(crate) struct Kick<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) h: f64,
    /// By body: how long the segment is.
    pub(crate) span: &'a [f64],
    /// By body: velocity before any force or impulse.
    pub(crate) before: &'a [SpatialVector],
    /// By body: impulse of conservative forces in this kick.
    pub(crate) forces: &'a [SpatialVector],
    /// By body: how much of the segment it has moved already.
    pub(crate) lead: &'a [f64],
    /// By body: displacement besides that by velocity.
    pub(crate) shifts: &'a mut [SpatialVector],
    /// By body: velocity taken to keep contacts from creating energy.
    pub(crate) slowed: &'a mut [SpatialVector],
}

impl Detail {
    fn furthest(&self, block: &Block, residual: f64, relative: f64) -> Furthest {
        let joint = match self.source {
            Source::Pair(_) => None,
            Source::Joint(index) => Some(index),
        };
        Furthest { bodies: block.bodies, joint, residual, relative }
    }
}

impl Constraints {
    /// Forgets what was furthest from its law in the last step.
    pub(crate) fn begin_step(&mut self) {
        self.furthest = None;
    }

    /// What was furthest from its law since the step began.
    pub(crate) fn furthest(&self) -> Option<Furthest> {
        self.furthest
    }

    /// Stages 3 and 4: islands, and their blocks in order. Velocities are those before forces.
    pub(crate) fn prepare(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        scope: &Scope,
        kick: &Kick<'_>,
    ) {
        // What meets later does so at its own time.
        self.tie(bodies, collision, joints, scope, |pair| pair.acting().next().is_some());
        for number in 0..self.islands.len() {
            self.block_starts.push(self.blocks.len() as u32);
            for at in 0..self.islands.ties(number).len() {
                let place = self.islands.ties(number)[at];
                match self.sources[place as usize] {
                    Source::Pair(position) => self.push_pair(bodies, collision, position, kick),
                    Source::Joint(index) => self.push_joint(bodies, joints, index, kick),
                }
            }
        }
        self.block_starts.push(self.blocks.len() as u32);
    }

    /// Clears the last kick's blocks and groups what ties the bodies of a scope together.
    fn tie(
        &mut self,
        bodies: &BodySet,
        collision: &CollisionPipeline,
        joints: &JointSet,
        scope: &Scope,
        counts: impl Fn(&ContactPair) -> bool,
    ) {
        self.ties.clear();
        self.sources.clear();
        for &index in &scope.joints {
            let ends = joints.joints[index as usize].bodies;
            if scope.holds(bodies, ends) {
                let place = self.sources.len() as u32;
                self.ties.push(Tie { bodies: ends, place });
                self.sources.push(Source::Joint(index));
            }
        }
        for &position in &scope.pairs {
            let pair = collision.pair(position as usize);
            // Bodies beyond the scope do not touch those in it before their own time.
            if counts(pair) && scope.holds(bodies, pair.bodies) {
                let place = self.sources.len() as u32;
                self.ties.push(Tie { bodies: pair.bodies, place });
                self.sources.push(Source::Pair(position));
            }
        }
        self.islands.build(bodies.slots.len(), &scope.bodies, &self.ties);
        self.blocks.clear();
        self.details.clear();
        self.befores.clear();
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
        let pair = collision.pair(position as usize);
        let [a, b] = pair.bodies.map(|body| body as usize);
        let base = if bodies.is_inertial(b) { b } else { a };
        for (number, point) in pair.acting() {
            // Whatever is left of the substep: what closes in a short piece of it would be fast in the next.
            let mut block = contact::block(pair, point, kick.h);
            let before = block.velocity(&bodies.motions);
            let approach = if before.x < -kick.settings.rest_speed { before.x } else { 0.0 };
            if approach < 0.0 {
                // An impact lands by the end of the segment, or counts as landed; what rests may take
                // longer, and is calmer for it.
                let near = point.gap <= TOUCHING * pair.size;
                let left = kick.span[base] - kick.lead[base];
                block.offset.x = if near || !(left > 0.0) { 0.0 } else { point.gap / left };
            }
            let deep = (point.gap + UNSEEN * pair.size).min(0.0);
            let source = Source::Pair(position);
            let restitution = pair.restitution;
            let detail =
                Detail { approach, restitution, ..Detail::new(source, number as u32, pair.size) };
            self.push(block, before, Vec3::new(deep, 0.0, 0.0), detail);
        }
    }

    fn push_joint(&mut self, bodies: &BodySet, joints: &JointSet, index: u32, kick: &Kick<'_>) {
        let joint = &joints.joints[index as usize];
        let [a, b] = joint.bodies.map(|body| body as usize);
        let velocities = [&bodies.motions[a].velocity, &bodies.motions[b].velocity];
        let size = bodies.solids[a].size.min(bodies.solids[b].size);
        let base = if bodies.is_inertial(b) { b } else { a };
        let (lead, span) = (kick.lead[base], kick.span[base]);
        let inverse_mass = bodies.motions[a].inverse_mass + bodies.motions[b].inverse_mass;
        let poses = [&bodies.poses[a], &bodies.poses[b]];
        joint::blocks(joint, poses, velocities, inverse_mass, lead, span, |held| {
            let before = held.block.velocity(&bodies.motions);
            let source = Source::Joint(index);
            self.push(held.block, before, held.error, Detail::new(source, 0, size));
        });
    }

    #[inline(always)]
    fn push(&mut self, block: Block, before: Vec3, error: Vec3, detail: Detail) {
        self.blocks.push(block);
        self.befores.push(before);
        self.errors.push(error);
        self.details.push(detail);
    }

    /// Stage 5: impulses of every island, on velocities that forces have changed already.
    pub(crate) fn solve(
        &mut self,
        bodies: &mut BodySet,
        mut kick: Kick<'_>,
        books: &mut Books,
    ) -> SolveReport {
        let mut total = SolveReport::exact();
        for number in 0..self.islands.len() {
            let range = self.block_starts[number] as usize..self.block_starts[number + 1] as usize;
            if range.is_empty() {
                continue;
            }
            let mut problem = Problem {
                bodies: &mut bodies.motions,
                members: self.islands.members(number),
                blocks: &mut self.blocks[range.clone()],
            };
            let details = &mut self.details[range.clone()];
            let befores = &self.befores[range.clone()];
            time_landings(&problem, details, befores, &kick);
            for block in problem.blocks.iter() {
                block.apply(problem.bodies, block.impulse);
            }
            let report = find_impulses(&mut problem, kick.settings, &mut self.scratch);
            let errors = &self.errors[range];
            if errors.iter().zip(details.iter()).any(|(e, d)| e.length() > RECOVERABLE * d.size) {
                let Settings { position_correction, position_correction_speed, .. } =
                    *kick.settings;
                let span = kick.span[problem.members[0] as usize];
                // A piece of a substep takes back its part.
                let rate = position_correction * (span / kick.h);
                correct_positions(
                    &mut problem,
                    errors,
                    rate,
                    position_correction_speed,
                    span,
                    kick.shifts,
                    &mut self.kept,
                );
            }
            let works = works(&problem, details, befores);
            let relative = report.residual.relative();
            if self.furthest.is_none_or(|known| known.relative < relative) {
                let far = |(at, detail): (usize, &Detail)| (at, detail.residual);
                let worst = details.iter().enumerate().map(far);
                self.furthest = worst.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, residual)| {
                    details[at].furthest(&problem.blocks[at], residual, relative)
                });
            }
            let taken = hold_energy(&mut problem, &mut kick, &works);
            books.add_works(&works, taken);
            total = total.worse(&report);
        }
        total
    }

    /// Stage 6: impulses back to where they are remembered.
    pub(crate) fn write_back(
        &self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
    ) {
        for detail in &self.details {
            if let Source::Joint(index) = detail.source {
                joints.joints[index as usize].impulse = Vec3::ZERO;
            }
        }
        for (block, detail) in self.blocks.iter().zip(&self.details) {
            let impulse = contact::world_impulse(block);
            match detail.source {
                Source::Pair(position) => {
                    let pair = collision.pair_mut(position as usize);
                    let hit = if block.impulse.x > 0.0 { detail.approach } else { 0.0 };
                    pair.receive(detail.point as usize, impulse, hit);
                    let point = &mut pair.points[detail.point as usize];
                    // A landing's impulse says nothing of the next.
                    point.impulse = if detail.approach < 0.0 { Vec3::ZERO } else { impulse };
                    point.approach = point.approach.min(hit);
                    point.residual = Some(detail.residual);
                }
                Source::Joint(index) => {
                    let joint = &mut joints.joints[index as usize];
                    joint.total += impulse;
                    if let Law::Bilateral { rows: 3 } = block.law {
                        joint.impulse = block.impulse;
                    } else {
                        // Along the line from A to B, whichever way the row looks.
                        let apart = |side: usize| {
                            let body = joint.bodies[side] as usize;
                            bodies.poses[body].transform_point(joint.def.anchors[side])
                        };
                        let forward = block.rows[0].linear.dot(apart(1) - apart(0)) >= 0.0;
                        joint.impulse.x += if forward { block.impulse.x } else { -block.impulse.x };
                    }
                }
            }
        }
    }

    /// Nothing is tied to anything.
    pub(crate) fn clear(&mut self) {
        self.islands.build(0, &[], &[]);
        self.blocks.clear();
        self.details.clear();
    }

    /// What the last kick gave, by block.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

/// Work by kind in one island and one kick, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Works {
    pub(crate) normal: f64,
    pub(crate) friction: f64,
    /// What restitution would have given back at impacts too slow to bounce.
    pub(crate) unbounced: f64,
    pub(crate) joints: f64,
    /// The part of it by joints that do not yield.
    pub(crate) rigid: f64,
    /// By environment bodies that move. The others are of relative velocities, as their own bodies
    /// see them.
    pub(crate) environment: f64,
    /// What the works of landings are short of those with velocities before and after the kick.
    pub(crate) timing: f64,
}

impl Works {
    /// Enters the work of a block's impulse along its rows.
    fn add(&mut self, bodies: &[SolverBody], block: &Block, work: Vec3) {
        self.environment += driven_work(bodies, block);
        if let Law::Contact { .. } = block.law {
            self.normal += work.x;
            self.friction += work.y + work.z;
        } else {
            let work = work.x + work.y + work.z;
            self.joints += work;
            self.rigid += if block.softness > 0.0 { 0.0 } else { work };
        }
    }
}

/// Finds what the work of landings needs: the kick holds the forces of the whole segment, of which a part
/// had acted when they came. Forces have acted, impulses not.
fn time_landings(problem: &Problem<'_>, details: &mut [Detail], befores: &[Vec3], kick: &Kick<'_>) {
    for ((block, detail), before) in problem.blocks.iter().zip(details).zip(befores) {
        if detail.approach < 0.0 {
            let [a, b] = block.bodies.map(|body| body as usize);
            let base = if problem.bodies[b].is_inertial() { b } else { a };
            let forced = block.velocity(problem.bodies) - *before;
            detail.shift = forced * (2.0 * kick.lead[base] / kick.span[base] - 1.0);
        }
    }
}

/// Adds up the work of an island's impulses, and enters how well each contact's law is met.
fn works(problem: &Problem<'_>, details: &mut [Detail], befores: &[Vec3]) -> Works {
    let mut works = Works::default();
    for ((block, detail), before) in problem.blocks.iter().zip(details).zip(befores) {
        let u = block.velocity(problem.bodies);
        let residual = block_residual(block, u + block.offset).largest();
        // What is not a number is as far off as can be.
        detail.residual = if residual.is_nan() { f64::INFINITY } else { residual };
        let work = block.impulse * (*before + detail.shift + u) * 0.5;
        works.add(problem.bodies, block, work);
        if before.x < 0.0 && detail.approach == 0.0 {
            works.unbounced += unbounced(detail.restitution, work.x);
        }
        works.timing -= 0.5 * block.impulse.dot(detail.shift);
    }
    works
}

/// What an environment body's own motion adds to the work of a block.
fn driven_work(bodies: &[SolverBody], block: &Block) -> f64 {
    let [a, b] = block.bodies.map(|body| &bodies[body as usize]);
    let still = |body: &SolverBody| body.is_inertial() || body.velocity == SpatialVector::ZERO;
    if still(a) && still(b) {
        return 0.0;
    }
    let mut sum = 0.0;
    for (row, impulse) in block.rows.iter().zip(block.impulse.to_array()) {
        let zero = SpatialVector::ZERO;
        // The relative velocity that each would make alone is minus A's and plus B's.
        if !a.is_inertial() {
            sum -= impulse * row.velocity(&a.velocity, &zero);
        }
        if !b.is_inertial() {
            sum -= impulse * row.velocity(&zero, &b.velocity);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;
    use crate::joints::JointKind;
    use crate::{BodyDef, JointDef, World};

    const H: f64 = 1.0 / 240.0;
    const G: f64 = 9.81;

    /// What a kick needs to know by body.
    struct Given {
        span: Vec<f64>,
        lead: Vec<f64>,
        before: Vec<SpatialVector>,
        forces: Vec<SpatialVector>,
        shifts: Vec<SpatialVector>,
        slowed: Vec<SpatialVector>,
    }

    impl Given {
        /// Whole substeps halfway through, with these forces over them.
        fn new(world: &World, forces: impl Fn(usize) -> Vec3) -> Self {
            let count = world.bodies.poses.len();
            let zeros = vec![SpatialVector::ZERO; count];
            let force = |body: usize| SpatialVector::new(forces(body) * H, Vec3::ZERO);
            Self {
                span: vec![H; count],
                lead: vec![0.5 * H; count],
                before: world.bodies.motions.iter().map(|motion| motion.velocity).collect(),
                forces: (0..count).map(force).collect(),
                shifts: zeros.clone(),
                slowed: zeros,
            }
        }

        fn kick<'a>(&'a mut self, settings: &'a Settings) -> Kick<'a> {
            let Self { span, lead, before, forces, shifts, slowed } = self;
            Kick { settings, h: H, span, before, forces, lead, shifts, slowed }
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

    fn scope(world: &World) -> Scope {
        let mut scope = Scope::default();
        scope.fill(&world.bodies, &world.collision, &world.joints);
        scope
    }

    /// Finds contact points and prepares the blocks of a kick.
    fn prepare(world: &mut World, given: &mut Given) {
        let when = vec![0.0; world.bodies.poses.len()];
        let World { bodies, joints, settings, collision, .. } = world;
        collision.find_pairs(bodies, joints, settings, 4.0 * H, H);
        let scope = scope(world);
        let World { bodies, joints, settings, collision, constraints, .. } = world;
        collision.update_manifolds(bodies, settings, &scope, &when, H, |_| true);
        constraints.prepare(bodies, collision, joints, &scope, &given.kick(settings));
    }

    /// Lets the forces act, and finds and writes back impulses.
    fn solve_and_write_back(world: &mut World, given: &mut Given) -> SolveReport {
        let World { bodies, joints, settings, collision, constraints, books, .. } = world;
        for (motion, force) in bodies.motions.iter_mut().zip(&given.forces) {
            let change = motion.response(*force);
            motion.velocity += change;
        }
        let report = constraints.solve(bodies, given.kick(settings), books);
        constraints.write_back(bodies, collision, joints);
        report
    }

    #[test]
    fn each_point_becomes_a_block_of_its_pair_in_its_island() {
        // A ball on the floor, one on it, and one far above: two ties, one island, and the third is in none.
        let mut world = balls(&[0.49, 1.47, 10.0]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        let Constraints { blocks, details, errors, befores, islands, block_starts, .. } =
            &world.constraints;
        let bodies: Vec<_> = blocks.iter().map(|block| block.bodies).collect();
        assert_eq!(bodies, [[0, 1], [1, 2]]);
        assert_eq!((islands.len(), islands.members(0)), (1, &[1, 2][..]));
        assert_eq!(block_starts, &[0, 2]);
        assert_eq!((details.len(), befores), (2, &vec![Vec3::ZERO; 2]));
        // 10 and 20 mm deep, of which 2e-5 of the size is left.
        for (error, depth) in errors.iter().zip([0.01, 0.02]) {
            let expected = Vec3::X * (UNSEEN * 0.5 - depth);
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
        let Constraints { blocks, errors, .. } = &world.constraints;
        assert!((blocks[0].offset.x - 0.005 / H).abs() < 1e-12);
        assert_eq!(errors[0], Vec3::ZERO);
        // Fallen by 5 mm a substep it lands; it would by 7.
        for (speed, impulse) in [(0.005 / H, 0.0), (0.007 / H, 0.002 / H)] {
            world.bodies.motions[1].velocity.linear = Vec3::Z * -speed;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            solve_and_write_back(&mut world, &mut given);
            let found = world.constraints.blocks[0].impulse.x;
            assert!((found - impulse).abs() < 1e-12, "{found} instead of {impulse}");
            world.constraints.blocks[0].impulse = Vec3::ZERO;
        }
    }

    #[test]
    fn a_faster_landing_is_an_impact_and_is_not_remembered() {
        for (speed, impact) in [(0.4999, false), (0.5001, true)] {
            let mut world = balls(&[0.5]);
            world.bodies.motions[1].velocity.linear = Vec3::Z * -speed;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            let approach = world.constraints.details[0].approach;
            assert_eq!(approach, if impact { -speed } else { 0.0 });
            solve_and_write_back(&mut world, &mut given);
            // Either way the ball is stopped, and the step's sums say so.
            assert!(world.bodies.motions[1].velocity.linear.length() < 1e-15);
            let pair = world.collision.pair(0);
            assert!((pair.push - speed).abs() < 1e-15 && (pair.impulse.z - speed).abs() < 1e-15);
            let remembered = if impact { 0.0 } else { speed };
            assert!((pair.points[0].impulse.z - remembered).abs() < 1e-15);
            assert!((pair.points[0].total_impulse.z - speed).abs() < 1e-15);
            assert_eq!(pair.points[0].approach, approach);
            assert_eq!(pair.hit.map(|hit| hit.speed), impact.then_some(speed));
        }
    }

    #[test]
    fn the_weight_is_carried_and_remembered_as_a_start() {
        let mut world = balls(&[0.5, 1.5]);
        let weight = |body: usize| if body == 0 { Vec3::ZERO } else { Vec3::Z * -G };
        for round in 0..2 {
            let mut given = Given::new(&world, weight);
            prepare(&mut world, &mut given);
            // The first time there is nothing to start from, then there is the answer.
            let start = world.constraints.blocks.iter().map(|block| block.impulse.x);
            let start: Vec<f64> = start.collect();
            for (impulse, load) in start.iter().zip([2.0, 1.0]) {
                let expected = if round == 0 { 0.0 } else { load * G * H };
                assert!((impulse - expected).abs() < 1e-12, "{start:?}");
            }
            let report = solve_and_write_back(&mut world, &mut given);
            assert!(report.converged);
            assert_eq!(report.iterations == 0, round == 1);
            for (position, load) in [2.0, 1.0].into_iter().enumerate() {
                let pair = world.collision.pair(position);
                assert!((pair.points[0].impulse.z - load * G * H).abs() < 1e-12);
                assert!(pair.points[0].residual.is_some_and(|residual| residual < 1e-12));
                assert!((pair.push - (round + 1) as f64 * load * G * H).abs() < 1e-12);
            }
            assert!(world.bodies.motions[2].velocity.linear.length() < 1e-12);
        }
    }

    #[test]
    fn an_overlap_becomes_a_displacement_of_the_body_that_can_move() {
        let mut world = balls(&[0.49]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        solve_and_write_back(&mut world, &mut given);
        // 0.2 of 10 mm, less what is left on purpose; a piece of a substep takes back its part.
        let whole = 0.2 * (0.01 - UNSEEN * 0.5);
        assert!((given.shifts[1].linear - Vec3::Z * whole).length() < 1e-15);
        assert_eq!(given.shifts[0], SpatialVector::ZERO);
        assert_eq!(world.bodies.motions[1].velocity, SpatialVector::ZERO);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        given.span.fill(0.25 * H);
        solve_and_write_back(&mut world, &mut given);
        assert!((given.shifts[1].linear - Vec3::Z * (0.25 * whole)).length() < 1e-15);
    }

    #[test]
    fn points_known_to_stay_apart_have_no_block_unless_they_bear_a_load() {
        let mut world = balls(&[0.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        assert_eq!(world.constraints.blocks.len(), 1);
        for (impulse, blocks) in [(Vec3::ZERO, 0), (Vec3::Z, 1)] {
            let pair = world.collision.pair_mut(0);
            pair.apart = true;
            pair.points[0].impulse = impulse;
            let scope = scope(&world);
            let World { bodies, joints, settings, collision, constraints, .. } = &mut world;
            constraints.prepare(bodies, collision, joints, &scope, &given.kick(settings));
            assert_eq!(constraints.blocks.len(), blocks);
            assert_eq!(constraints.islands.len(), blocks);
        }
        world.constraints.clear();
        assert_eq!((world.constraints.islands.len(), world.constraints.blocks().len()), (0, 0));
    }

    #[test]
    fn what_is_beyond_the_scope_is_left_out() {
        let mut world = balls(&[0.5, 1.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        assert_eq!(world.constraints.blocks.len(), 2);
        // The lower ball alone: it touches the floor, and not the other before its time.
        let mut alone = Scope::default();
        alone.bodies.push(1);
        alone.pairs.extend([0, 1]);
        let World { bodies, joints, settings, collision, constraints, .. } = &mut world;
        constraints.prepare(bodies, collision, joints, &alone, &given.kick(settings));
        let found: Vec<_> = constraints.blocks.iter().map(|block| block.bodies).collect();
        assert_eq!(found, [[0, 1]]);
    }

    #[test]
    fn a_joint_carries_and_tells_what_hangs_on_it() {
        // Under a hook by each kind that holds: on B, the lower one, the impulse is upward.
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
                let found = world.constraints.blocks.iter();
                let found: f64 = found.map(|block| block.impulse.length()).sum();
                assert!((found - start).abs() < 1e-12, "{found} instead of {start}");
                let report = solve_and_write_back(&mut world, &mut given);
                assert!(report.converged);
                assert!(world.bodies.motions[1].velocity.linear.length() < 1e-12);
                start = 3.0 * G * H;
            }
            let told = world.joint_impulse(joint).unwrap();
            assert!((told - up * (2.0 * 3.0 * G * H)).length() < 1e-12, "{told}");
        }
    }

    /// The blocks of an impact of what touches within `ahead`.
    fn prepare_impact(world: &mut World, ahead: f64) -> Vec<Block> {
        let scope = scope(world);
        let World { bodies, joints, collision, constraints, .. } = world;
        constraints.prepare_impact(bodies, collision, joints, &scope, ahead);
        assert_eq!(constraints.restitutions.len(), constraints.blocks.len());
        constraints.blocks.clone()
    }

    #[test]
    fn a_landing_closes_its_gap_by_the_end_of_the_segment_or_counts_as_landed() {
        for (gap, expected) in [(5e-3, 5e-3 / (0.5 * H)), (6e-5, 6e-5 / (0.5 * H)), (4e-5, 0.0)] {
            let mut world = balls(&[0.5 + gap]);
            world.bodies.motions[1].velocity.linear = Vec3::Z * -2.0;
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            let offset = world.constraints.blocks[0].offset.x;
            assert!((offset - expected).abs() < 1e-9, "{offset} instead of {expected}");
        }
    }

    #[test]
    fn an_impact_has_the_points_that_touch_or_will_at_once() {
        // 1 mm apart at 1 m/s: in 1 ms. What parts is not in it, however near.
        for (speed, ahead, found) in
            [(-1.0, 0.0, 0), (-1.0, 0.9e-3, 0), (-1.0, 1.1e-3, 1), (1.0, 1.1e-3, 0)]
        {
            let mut world = balls(&[0.501]);
            let mut given = Given::new(&world, |_| Vec3::ZERO);
            prepare(&mut world, &mut given);
            world.bodies.motions[1].velocity.linear = Vec3::Z * speed;
            world.collision.pair_mut(0).points[0].impulse = Vec3::Z;
            let blocks = prepare_impact(&mut world, ahead);
            assert_eq!(blocks.len(), found, "{speed} m/s within {ahead} s");
            // In no time: from nothing, and without a gap.
            for block in blocks {
                assert_eq!((block.impulse, block.offset), (Vec3::ZERO, Vec3::ZERO));
                assert_eq!(world.constraints.befores, [Vec3::X * speed]);
                assert_eq!(world.constraints.restitutions, [0.5]);
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
            assert!(world.constraints.restitutions.iter().all(|&e| e == 0.0));
        }
    }

    #[test]
    fn work_is_entered_by_its_kind() {
        let mut world = balls(&[0.5]);
        let mut given = Given::new(&world, |_| Vec3::ZERO);
        prepare(&mut world, &mut given);
        let contact = world.constraints.blocks[0];
        let rigid = Block { law: Law::Bilateral { rows: 3 }, ..contact };
        let soft = Block { softness: 0.1, ..rigid };
        let mut works = Works::default();
        works.add(&world.bodies.motions, &contact, Vec3::new(1.0, 20.0, 300.0));
        assert_eq!((works.normal, works.friction, works.joints), (1.0, 320.0, 0.0));
        works.add(&world.bodies.motions, &rigid, Vec3::new(1.0, 20.0, 300.0));
        assert_eq!((works.joints, works.rigid), (321.0, 321.0));
        works.add(&world.bodies.motions, &soft, Vec3::new(4.0, 50.0, 600.0));
        assert_eq!((works.joints, works.rigid, works.environment), (975.0, 321.0, 0.0));
        // A floor that moves works by its own velocity: against 2 N s upward at 3 m/s upward, 6 J, and as much sideways.
        world.bodies.motions[0].velocity.linear = Vec3::new(5.0, 0.0, 3.0);
        let mut pressed = contact;
        pressed.impulse = Vec3::new(2.0, 0.0, 0.0);
        works.add(&world.bodies.motions, &pressed, Vec3::ZERO);
        assert_eq!(works.environment, 6.0);
    }
}
