//! The lists of bodies that move in a swept step, and the size of the buffers for them.

use super::Swept;
use crate::collision::CollisionPipeline;
use crate::constraints::Constraints;
use crate::math::SpatialVector;
use crate::methods::Methods;
use crate::model::Model;
use crate::settings::Settings;
use crate::threads::ThreadPool;

/// Approximate work per awake body, in microseconds of one thread.
const WORK_PER_BODY: usize = 1;
/// Approximate work per block of four contacts, in microseconds of one thread.
const WORK_PER_BLOCK: usize = 3;

impl Swept {
    /// Resizes the buffers to the number of bodies, and lists the bodies that move.
    pub(crate) fn begin_step(
        &mut self,
        model: &Model,
        constraints: &mut Constraints,
        methods: &Methods,
        threads: &mut ThreadPool,
    ) {
        constraints.bodies.resize(model.bodies.poses.len());
        self.update_lists(model, constraints, methods);
        self.choose_thread_count(constraints, &model.settings, threads);
        for &body in &self.kinematic {
            constraints.bodies.gather(&model.bodies, body as usize);
        }
    }

    /// Updates the lists of bodies that move and of joints that act, if they may have changed.
    pub(crate) fn update_lists(
        &mut self,
        model: &Model,
        constraints: &mut Constraints,
        methods: &Methods,
    ) {
        let Model { bodies, joints, .. } = model;
        if std::mem::take(&mut self.lists_dirty) {
            let Self { awake, kinematic, sleeping, .. } = self;
            awake.clear();
            let is_awake = |&&body: &&u32| methods.is_swept(body) && !sleeping.contains(body);
            awake.extend(bodies.inertial.iter().filter(is_awake));
            kinematic.clear();
            let moves =
                |&&body: &&u32| bodies.motions[body as usize].velocity != SpatialVector::ZERO;
            kinematic.extend(bodies.environment.iter().filter(moves));
            // Environment bodies at rest are written only here: a step does not change them.
            for &body in &bodies.environment {
                constraints.bodies.gather(bodies, body as usize);
            }
        }
        if constraints.joints.take_dirty() {
            let sleeping = &self.sleeping;
            constraints
                .joints
                .build(bodies, joints, |body| methods.is_swept(body) && !sleeping.contains(body));
        }
    }

    /// Returns the bodies that move: awake and kinematic ones.
    pub(crate) fn moving(&self) -> impl Iterator<Item = u32> + '_ {
        self.awake.iter().chain(&self.kinematic).copied()
    }

    /// Finds the pairs of bodies that may come near each other in the step.
    pub(crate) fn find_pairs(
        &self,
        model: &Model,
        collision: &mut CollisionPipeline,
        threads: &mut ThreadPool,
        dt: f64,
    ) {
        let Model { bodies, joints, settings, .. } = model;
        let moving = [&*self.awake, &self.kinematic];
        collision.find_pairs(bodies, joints, settings, moving, dt, threads);
    }

    /// Returns whether the step has anything to simulate.
    pub(crate) fn moves(&self, collision: &CollisionPipeline) -> bool {
        // Pairs count too: an environment body placed onto a sleeping body has to wake it.
        !(self.awake.is_empty() && self.kinematic.is_empty() && collision.pairs.order.is_empty())
    }

    /// Chooses the number of threads for this step, and provides an output for each.
    fn choose_thread_count(
        &mut self,
        constraints: &Constraints,
        settings: &Settings,
        threads: &mut ThreadPool,
    ) {
        let blocks: usize =
            constraints.contacts.colors.iter().map(|color| color.blocks.len()).sum();
        let work = WORK_PER_BODY * self.awake.len() + WORK_PER_BLOCK * blocks;
        threads.choose_count(settings.threads, work);
        // Outputs of idle workers are kept for reuse, so that steps do not allocate.
        let Self { outputs, spare_outputs, .. } = self;
        while outputs.len() > threads.count() {
            spare_outputs.extend(outputs.pop());
        }
        outputs.resize_with(threads.count(), || spare_outputs.pop().unwrap_or_default());
    }
}
