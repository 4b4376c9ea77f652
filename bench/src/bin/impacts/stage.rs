//! A scene of balls and boxes in either engine: cases say what is there and read how it moves.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyDef, BodyId, Continuous, Material, Settings, World};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, Pose as TheirPose, RigidBodyBuilder,
    RigidBodyHandle, Rotation, Vector,
};

/// Standard gravity of all cases that have weight, m/s^2, along -z.
pub const G: f64 = 9.81;

/// Into how many pieces rapier may cut a step where fast bodies meet something: its default. With 2
/// to 64, 45 to 55 of the 180 shots at the plate go through, none with 1, and bounces at 1/30 s are
/// further off; of the bullets some 20 go through with 16.
pub const CCD_SUBSTEPS: usize = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Msd,
    Rapier,
}

/// What holds for all bodies of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dt: f64,
    pub weight: bool,
    pub restitution: f64,
    pub friction: f64,
    /// Slower impacts do not bounce in msd, if not its default. Rapier has no such number.
    pub rest_speed: Option<f64>,
    /// Whether fast bodies are followed on their ways.
    pub continuous: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            weight: true,
            restitution: 0.5,
            friction: 0.5,
            rest_speed: None,
            continuous: true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A ball of this radius.
    Ball(f64),
    /// A box of these half extents.
    Block(Vec3),
}

/// A body that forces move.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    pub form: Form,
    pub mass: f64,
    pub pose: Pose,
    pub velocity: Vec3,
    pub spin: Vec3,
}

impl Mover {
    /// One of mass 1 at rest.
    pub fn new(form: Form, position: Vec3) -> Self {
        Self { form, mass: 1.0, pose: Pose::at(position), velocity: Vec3::ZERO, spin: Vec3::ZERO }
    }

    pub fn velocity(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }
}

/// How a body moves at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    pub position: Vec3,
    pub velocity: Vec3,
    pub spin: Vec3,
}

/// A scene in one of the engines. Movers are numbered in the order in which they came.
pub struct Stage {
    rules: Rules,
    inside: Inside,
}

enum Inside {
    Msd { world: Box<World>, movers: Vec<BodyId> },
    Rapier { world: Box<PhysicsWorld>, movers: Vec<RigidBodyHandle> },
}

impl Stage {
    pub fn new(engine: Engine, rules: Rules) -> Self {
        let gravity = if rules.weight { Vec3::new(0.0, 0.0, -G) } else { Vec3::ZERO };
        let inside = match engine {
            Engine::Msd => {
                let mut settings = Settings { gravity, ..Settings::default() };
                settings.rest_speed = rules.rest_speed.unwrap_or(settings.rest_speed);
                if !rules.continuous {
                    settings.continuous = Continuous::Never;
                }
                let world = Box::new(World::new(settings).expect("valid settings"));
                Inside::Msd { world, movers: Vec::new() }
            }
            Engine::Rapier => {
                let mut world = Box::new(PhysicsWorld::new());
                world.gravity = vector(gravity);
                let parameters = &mut world.integration_parameters;
                parameters.dt = rules.dt;
                parameters.max_ccd_substeps = CCD_SUBSTEPS;
                // Otherwise all is slowed to 400 m/s.
                parameters.normalized_max_linear_velocity = f64::MAX;
                Inside::Rapier { world, movers: Vec::new() }
            }
        };
        Self { rules, inside }
    }

    /// Adds a body that nothing moves.
    pub fn fix(&mut self, form: Form, pose: Pose) {
        match &mut self.inside {
            Inside::Msd { world, .. } => {
                let body = BodyDef::environment(shape(form)).pose(pose);
                world.add_body(body.material(material(&self.rules))).expect("a valid body");
            }
            Inside::Rapier { world, .. } => {
                let body = RigidBodyBuilder::fixed().pose(their_pose(&pose));
                world.insert(body, collider(form, &self.rules));
            }
        }
    }

    pub fn add(&mut self, mover: &Mover) {
        match &mut self.inside {
            Inside::Msd { world, movers } => {
                let body = BodyDef::inertial(shape(mover.form))
                    .mass(mover.mass)
                    .pose(mover.pose)
                    .velocity(mover.velocity)
                    .angular_velocity(mover.spin)
                    .material(material(&self.rules));
                movers.push(world.add_body(body).expect("a valid body"));
            }
            Inside::Rapier { world, movers } => {
                let body = RigidBodyBuilder::dynamic()
                    .pose(their_pose(&mover.pose))
                    .linvel(vector(mover.velocity))
                    .angvel(vector(mover.spin))
                    .can_sleep(false)
                    .ccd_enabled(self.rules.continuous)
                    // Otherwise spin is cut to an eighth of a turn in a step.
                    .allow_fast_rotation(true);
                let collider = collider(mover.form, &self.rules).mass(mover.mass);
                movers.push(world.insert(body, collider).0);
            }
        }
    }

    /// Walls around a room of `half` width to each side of the origin, `thickness` thick.
    pub fn enclose(&mut self, half: f64, thickness: f64) {
        let across = 0.5 * thickness;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let sides = (Vec3::ONE - axis) * (half + thickness);
            for side in [-1.0, 1.0] {
                let position = axis * (side * (half + across));
                self.fix(Form::Block(sides + axis * across), Pose::at(position));
            }
        }
    }

    pub fn step(&mut self) {
        match &mut self.inside {
            Inside::Msd { world, .. } => {
                world.step(self.rules.dt).expect("a positive time step");
            }
            Inside::Rapier { world, .. } => world.step(),
        }
    }

    pub fn motion(&self, mover: usize) -> Motion {
        match &self.inside {
            Inside::Msd { world, movers } => {
                let body = world.body(movers[mover]).expect("nothing is removed");
                Motion {
                    position: body.position(),
                    velocity: body.linear_velocity(),
                    spin: body.angular_velocity(),
                }
            }
            Inside::Rapier { world, movers } => {
                let body = &world.bodies[movers[mover]];
                Motion {
                    position: ours(body.translation()),
                    velocity: ours(body.linvel()),
                    spin: ours(body.angvel()),
                }
            }
        }
    }

    /// All movers, by number.
    pub fn motions(&self) -> Vec<Motion> {
        let count = match &self.inside {
            Inside::Msd { movers, .. } => movers.len(),
            Inside::Rapier { movers, .. } => movers.len(),
        };
        (0..count).map(|mover| self.motion(mover)).collect()
    }
}

fn shape(form: Form) -> Shape {
    match form {
        Form::Ball(radius) => Shape::sphere(radius),
        Form::Block(half) => Shape::cuboid(half),
    }
    .expect("valid sizes")
}

fn material(rules: &Rules) -> Material {
    Material::new(rules.restitution, rules.friction).expect("a valid surface")
}

/// Two surfaces meet there with the geometric mean too.
fn collider(form: Form, rules: &Rules) -> ColliderBuilder {
    match form {
        Form::Ball(radius) => ColliderBuilder::ball(radius),
        Form::Block(half) => ColliderBuilder::cuboid(half.x, half.y, half.z),
    }
    .restitution(rules.restitution)
    .restitution_combine_rule(CoefficientCombineRule::GeometricMean)
    .friction(rules.friction)
    .friction_combine_rule(CoefficientCombineRule::GeometricMean)
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn ours(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn their_pose(pose: &Pose) -> TheirPose {
    let [x, y, z, w] = pose.rotation.to_array();
    TheirPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w))
}
