//! The rest tier: islands that their remembered impulses hold still are skipped, which leaves no trace.
//!
//! Every test runs two worlds: one that skips islands at rest, and one that computes them like all others. Their states,
//! forces and reports are compared bit for bit in every step.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, SpatialVector, Vec3};
use msd_sim::{BodyDef, BodyId, JointDef, Material, Potential, Settings, World};

const DT: f64 = 1.0 / 60.0;
const WEIGHT: f64 = 9.81;

/// The same world twice: one that skips islands at rest, and one that computes them.
struct Twins {
    skipping: World,
    computing: World,
    dt: f64,
}

impl Twins {
    /// A floor and towers of three cubes of 1 kg and 1 m, 5 m apart.
    fn towers(count: usize) -> (Self, Vec<BodyId>) {
        let mut twins = Self::new(Settings { audit: true, ..Settings::default() });
        let floor = Shape::cuboid(Vec3::new(100.0, 100.0, 0.5)).unwrap();
        let mut ids = vec![twins.add(BodyDef::environment(floor).position(Vec3::Z * -0.5))];
        for tower in 0..count {
            for level in 0..3 {
                let place = Vec3::new(5.0 * tower as f64, 0.0, 0.5 + f64::from(level));
                ids.push(twins.add(cube().position(place)));
            }
        }
        (twins, ids)
    }

    fn new(settings: Settings) -> Self {
        let world = World::new(settings).unwrap();
        let mut computing = world.clone();
        computing.compute_resting_islands(true);
        Self { skipping: world, computing, dt: DT }
    }

    fn add(&mut self, def: BodyDef) -> BodyId {
        self.computing.add_body(def.clone()).unwrap();
        self.skipping.add_body(def).unwrap()
    }

    fn change(&mut self, change: impl Fn(&mut World)) {
        change(&mut self.skipping);
        change(&mut self.computing);
    }

    /// Steps both and compares them. Returns the number of bodies that rested.
    fn step(&mut self) -> usize {
        self.skipping.step(self.dt).unwrap();
        self.computing.step(self.dt).unwrap();
        let (one, other) = (&self.skipping, &self.computing);
        assert_eq!(one.state_hash(), other.state_hash(), "at step {}", one.steps());
        for (contact, expected) in one.contacts().zip(other.contacts()) {
            assert_eq!((contact.a(), contact.b()), (expected.a(), expected.b()));
            let [force, sum] = [contact.impulse(), expected.impulse()];
            // Four equal impulses are summed, or a sum of four is scaled: both are exact.
            assert_eq!(force, sum, "{:?}", contact.a());
        }
        assert_eq!(one.contacts().count(), other.contacts().count());
        for ((id, _), (twin, _)) in one.joints().zip(other.joints()) {
            assert_eq!(one.joint_impulse(id).unwrap(), other.joint_impulse(twin).unwrap());
        }
        let [report, computed] = [one.report(), other.report()];
        assert_eq!(report.residual(), computed.residual());
        assert_eq!(report.max_penetration, computed.max_penetration);
        assert_eq!((report.contacts, report.islands), (computed.contacts, computed.islands));
        let events = |world: &World| {
            let events = world.events();
            (events.begun().to_vec(), events.ended().to_vec(), events.hits().to_vec())
        };
        assert_eq!(events(one), events(other));
        self.check_ledger();
        one.report().resting
    }

    /// Impulses of forces and of the environment are those that were computed; the ledger closes.
    fn check_ledger(&self) {
        let [Some(one), Some(other)] =
            [&self.skipping, &self.computing].map(|world| world.report().audit)
        else {
            return;
        };
        // Relative to the weight of all bodies over the step, with arms of up to 100 m: rounding, and the tolerance
        // of the solver.
        let scale = 1e-10 * WEIGHT * DT * self.skipping.bodies().len() as f64;
        for [a, b] in [
            [one.force_impulse, other.force_impulse],
            [one.environment_impulse, other.environment_impulse],
        ] {
            let off = a - b;
            assert!(off.linear.length() <= scale, "{} N s", off.linear.length());
            assert!(off.angular.length() <= 100.0 * scale, "{} N m s", off.angular.length());
        }
        assert!(one.energy_error().unwrap().abs() < 1e-10, "{:?}", one.energy_error());
    }

    /// Steps until all inertial bodies rest, or fails.
    fn settle(&mut self, steps: usize) {
        let inertial = self.skipping.bodies().filter(|body| body.mass() > 0.0).count();
        for _ in 0..steps {
            if self.step() == inertial {
                return;
            }
        }
        panic!("{} of {inertial} bodies rest", self.skipping.report().resting);
    }
}

fn cube() -> BodyDef {
    BodyDef::inertial(Shape::cuboid(Vec3::splat(0.5)).unwrap()).mass(1.0)
}

#[test]
fn towers_come_to_rest_within_a_few_steps_and_then_stay_bit_for_bit() {
    let (mut twins, ids) = Twins::towers(3);
    twins.settle(10);
    let top = twins.skipping.body(ids[3]).unwrap().pose();
    for _ in 0..100 {
        assert_eq!(twins.step(), 9);
    }
    let body = twins.skipping.body(ids[3]).unwrap();
    assert_eq!((body.pose(), body.velocity()), (top, SpatialVector::ZERO));
    // The certificate of what was not computed is reported, not left out.
    assert!(twins.skipping.report().converged().unwrap());
    assert!(twins.skipping.report().worst_violation.is_some());
    // The floor carries the weight of three towers in every step.
    let load: f64 = twins.skipping.contacts_of(ids[0]).unwrap().map(|c| c.impulse().z.abs()).sum();
    let weight = 9.0 * WEIGHT * DT;
    assert!((load - weight).abs() < 1e-9 * weight, "{load} instead of {weight}");
}

#[test]
fn a_body_that_lands_on_a_tower_ends_the_rest_of_that_tower_alone() {
    let (mut twins, ids) = Twins::towers(3);
    let ball = BodyDef::inertial(Shape::sphere(0.3).unwrap()).mass(0.5);
    twins.add(ball.position(Vec3::new(5.1, 0.05, 8.0)));
    let mut least = 9;
    for step in 0..200 {
        let resting = twins.step();
        if step >= 10 {
            least = least.min(resting);
        }
    }
    assert_eq!(least, 6);
    let moved = twins.skipping.body(ids[6]).unwrap().velocity();
    assert!(moved.is_finite());
}

#[test]
fn every_change_by_the_user_ends_the_rest_of_the_bodies_concerned() {
    let half = Shape::cuboid(Vec3::new(100.0, 100.0, 0.25)).unwrap();
    type Step = (&'static str, usize, Box<dyn Fn(&mut World, &[BodyId])>);
    // What is changed, and how many of the nine bodies are at rest in the next step.
    let changes: Vec<Step> = vec![
        (
            "force",
            6,
            Box::new(|world, ids| {
                let push = SpatialVector::new(Vec3::X * 20.0, Vec3::ZERO);
                world.apply_force(ids[3], push).unwrap();
            }),
        ),
        (
            "impulse",
            6,
            Box::new(|world, ids| {
                world.apply_impulse(ids[3], SpatialVector::new(Vec3::X, Vec3::ZERO)).unwrap();
            }),
        ),
        ("mass", 6, Box::new(|world, ids| world.set_mass(ids[3], 5.0).unwrap())),
        ("gravity scale", 6, Box::new(|world, ids| world.set_gravity_scale(ids[2], 0.1).unwrap())),
        (
            "pose",
            6,
            Box::new(|world, ids| {
                world.set_pose(ids[3], Pose::at(Vec3::new(0.2, 0.1, 2.6))).unwrap();
            }),
        ),
        (
            "material",
            6,
            Box::new(|world, ids| {
                world.set_material(ids[2], Material::new(0.1, 0.0).unwrap()).unwrap();
            }),
        ),
        ("filter", 6, Box::new(|world, ids| world.set_collides(ids[2], ids[3], false).unwrap())),
        ("removal", 6, Box::new(|world, ids| world.remove_body(ids[1]).unwrap())),
        (
            "joint",
            6,
            Box::new(|world, ids| {
                world.add_joint(JointDef::ball(ids[2], ids[3])).unwrap();
            }),
        ),
        (
            "floor's velocity",
            0,
            Box::new(|world, ids| {
                world.set_velocity(ids[0], SpatialVector::new(Vec3::X, Vec3::ZERO)).unwrap();
            }),
        ),
        (
            "floor's pose",
            0,
            Box::new(|world, ids| {
                world.set_pose(ids[0], Pose::at(Vec3::Z * -0.6)).unwrap();
            }),
        ),
        (
            "floor's shape",
            0,
            Box::new(move |world, ids| {
                world.set_shape(ids[0], half.clone()).unwrap();
            }),
        ),
        ("floor's removal", 0, Box::new(|world, ids| world.remove_body(ids[0]).unwrap())),
        (
            "gravity",
            0,
            Box::new(|world, _| {
                let gravity = Vec3::new(6.0, 0.0, -9.81);
                let settings = Settings { gravity, ..world.settings().clone() };
                world.set_settings(settings).unwrap();
            }),
        ),
        (
            "a force field",
            0,
            Box::new(|world, _| {
                world.add_potential(Potential::uniform(Vec3::X * 6.0).unwrap()).unwrap();
            }),
        ),
        ("nothing", 9, Box::new(|_, _| ())),
    ];
    for (name, resting, change) in changes {
        let (mut twins, ids) = Twins::towers(3);
        twins.settle(10);
        twins.change(|world| change(world, &ids));
        assert_eq!(twins.step(), resting, "{name}");
        for _ in 0..30 {
            twins.step();
        }
    }
}

#[test]
fn another_time_step_ends_all_rest() {
    let (mut twins, _) = Twins::towers(2);
    twins.settle(10);
    twins.dt = 0.5 * DT;
    assert_eq!(twins.step(), 0);
    twins.settle(10);
}

#[test]
fn a_force_field_that_acts_the_same_leaves_bodies_at_rest() {
    let (mut twins, _) = Twins::towers(2);
    let field = Potential::point_mass(Vec3::new(3.0, 0.0, -50.0), 100.0, 0.0).unwrap();
    twins.change(|world| {
        world.add_potential(field.clone()).unwrap();
    });
    twins.settle(40);
    for _ in 0..20 {
        assert_eq!(twins.step(), 6);
    }
}

#[test]
fn a_passing_kinematic_body_ends_the_rest_of_bodies_it_may_reach() {
    let (mut twins, ids) = Twins::towers(2);
    let pusher = BodyDef::environment(Shape::cuboid(Vec3::splat(0.2)).unwrap());
    let pusher = pusher.position(Vec3::new(-3.0, 0.0, 2.5)).velocity(Vec3::X * 2.0);
    twins.add(pusher);
    for _ in 0..120 {
        twins.step();
    }
    // It pushed the top of the first tower, and did not reach the second one.
    assert!(twins.skipping.body(ids[3]).unwrap().position().x > 0.5);
    assert_eq!(twins.skipping.body(ids[6]).unwrap().velocity(), SpatialVector::ZERO);
}

#[test]
fn a_bouncing_ball_wakes_what_it_turns_toward_within_a_step() {
    // A fast elastic ball 0.4 m in front of a cube flies away from it, 1.25 m per substep, bounces off a wall after
    // 0.4 m, and hits the cube within the same substep.
    let settings = Settings { gravity: Vec3::new(0.0, 0.0, -WEIGHT), ..Settings::default() };
    let mut twins = Twins::new(settings);
    let slab = Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap();
    twins.add(BodyDef::environment(slab).position(Vec3::Z * -0.5));
    let target = twins.add(cube().position(Vec3::new(-1.5, 0.0, 0.5)));
    let elastic = Material::new(1.0, 0.0).unwrap();
    let wall = Shape::cuboid(Vec3::new(0.5, 5.0, 5.0)).unwrap();
    twins.add(BodyDef::environment(wall).position(Vec3::new(-3.5, 0.0, 4.0)).material(elastic));
    twins.settle(10);
    let ball = BodyDef::inertial(Shape::sphere(0.1).unwrap()).mass(2.0).material(elastic);
    twins.add(ball.position(Vec3::new(-2.5, 0.0, 0.5)).velocity(Vec3::X * -300.0));
    twins.step();
    assert!(twins.skipping.body(target).unwrap().velocity().linear.x > 1.0);
    for _ in 0..20 {
        twins.step();
    }
}

#[test]
fn a_hanging_chain_rests_and_its_joints_carry_its_weight() {
    let mut twins = Twins::new(Settings::default());
    let bead = || Shape::sphere(0.1).unwrap();
    let mut last = twins.add(BodyDef::environment(bead()));
    let mut first = None;
    for link in 1..=5 {
        let body = BodyDef::inertial(bead()).mass(1.0).position(Vec3::Z * (-0.5 * f64::from(link)));
        let next = twins.add(body);
        let half = Vec3::Z * 0.25;
        let joint = JointDef::ball(last, next).anchors(-half, half);
        twins.change(|world| {
            world.add_joint(joint).unwrap();
        });
        first = first.or(twins.skipping.joints().next().map(|(id, _)| id));
        last = next;
    }
    twins.settle(400);
    let carried = twins.skipping.joint_impulse(first.unwrap()).unwrap();
    let weight = 5.0 * WEIGHT * DT;
    assert!((carried.length() - weight).abs() < 1e-8 * weight, "{carried}");
}

#[test]
fn rest_survives_a_snapshot_and_slow_motion_without_load_does_not_stop() {
    let (mut twins, _) = Twins::towers(1);
    twins.settle(10);
    let saved = twins.skipping.snapshot();
    twins.step();
    twins.skipping.restore(&saved);
    twins.computing.restore(&saved);
    twins.computing.compute_resting_islands(true);
    assert_eq!(twins.step(), 3);
    // Without gravity a touching pair that drifts at a picometer per second drifts on.
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut free = Twins::new(settings);
    let drift = Vec3::X * 1e-12;
    let ids = [0.0, 1.0].map(|z: f64| free.add(cube().position(Vec3::Z * z).velocity(drift)));
    for _ in 0..10 {
        assert_eq!(free.step(), 0);
    }
    for id in ids {
        let speed = free.skipping.body(id).unwrap().velocity().linear.x;
        assert!((speed - 1e-12).abs() < 1e-20, "{speed}");
    }
}
