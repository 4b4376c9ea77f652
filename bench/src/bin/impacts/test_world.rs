//! A world of balls and boxes in either engine, with a common interface for the cases.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyDef, BodyId, Continuous, Material, Settings, World};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, Pose as TheirPose, RigidBodyBuilder,
    RigidBodyHandle, Rotation, Vector,
};

/// Gravity of all cases with gravity, m/s^2, along -z.
pub const G: f64 = 9.81;

/// CCD substeps of rapier: its default. With 2 to 64, 45 to 55 of the 180 shots at the plate go through, none with 1,
/// and bounces at 1/30 s are less accurate; with 16 some 20 of the bullets go through.
pub const CCD_SUBSTEPS: usize = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Msd,
    Rapier,
}

/// The parameters of a world and all its bodies.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    pub dt: f64,
    pub gravity: bool,
    pub restitution: f64,
    pub friction: f64,
    /// Rest speed of msd, m/s; `None` is its default. Rapier has no such parameter.
    pub rest_speed: Option<f64>,
    /// Whether continuous collision is on.
    pub continuous: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            gravity: true,
            restitution: 0.5,
            friction: 0.5,
            rest_speed: None,
            continuous: true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum BodyShape {
    /// A ball of this radius.
    Ball(f64),
    /// A box of these half extents.
    Block(Vec3),
}

/// A dynamic body.
#[derive(Clone, Copy, Debug)]
pub struct DynamicBody {
    pub shape: BodyShape,
    pub mass: f64,
    pub pose: Pose,
    pub velocity: Vec3,
    pub spin: Vec3,
}

impl DynamicBody {
    /// Creates a body of mass 1 at rest.
    pub fn new(shape: BodyShape, position: Vec3) -> Self {
        Self { shape, mass: 1.0, pose: Pose::at(position), velocity: Vec3::ZERO, spin: Vec3::ZERO }
    }

    pub fn velocity(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }
}

/// The position and velocity of a body at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    pub position: Vec3,
    pub velocity: Vec3,
    pub spin: Vec3,
}

/// A world in one of the engines. Dynamic bodies are numbered in the order of insertion.
pub struct TestWorld {
    parameters: Parameters,
    backend: Backend,
}

enum Backend {
    Msd { world: Box<World>, bodies: Vec<BodyId> },
    Rapier { world: Box<PhysicsWorld>, bodies: Vec<RigidBodyHandle> },
}

impl TestWorld {
    pub fn new(engine: Engine, parameters: Parameters) -> Self {
        let gravity = if parameters.gravity { Vec3::new(0.0, 0.0, -G) } else { Vec3::ZERO };
        let backend = match engine {
            Engine::Msd => {
                let mut settings = Settings { gravity, ..Settings::default() };
                settings.rest_speed = parameters.rest_speed.unwrap_or(settings.rest_speed);
                if !parameters.continuous {
                    settings.continuous = Continuous::Never;
                }
                let world = Box::new(World::new(settings).expect("valid settings"));
                Backend::Msd { world, bodies: Vec::new() }
            }
            Engine::Rapier => {
                let mut world = Box::new(PhysicsWorld::new());
                world.gravity = vector(gravity);
                let integration = &mut world.integration_parameters;
                integration.dt = parameters.dt;
                integration.max_ccd_substeps = CCD_SUBSTEPS;
                // By default all bodies are limited to 400 m/s.
                integration.normalized_max_linear_velocity = f64::MAX;
                Backend::Rapier { world, bodies: Vec::new() }
            }
        };
        Self { parameters, backend }
    }

    /// Adds a static body.
    pub fn add_static(&mut self, shape: BodyShape, pose: Pose) {
        match &mut self.backend {
            Backend::Msd { world, .. } => {
                let body = BodyDef::environment(msd_shape(shape)).pose(pose);
                world.add_body(body.material(material(&self.parameters))).expect("a valid body");
            }
            Backend::Rapier { world, .. } => {
                let body = RigidBodyBuilder::fixed().pose(rapier_pose(&pose));
                world.insert(body, collider(shape, &self.parameters));
            }
        }
    }

    pub fn add(&mut self, def: &DynamicBody) {
        match &mut self.backend {
            Backend::Msd { world, bodies } => {
                let body = BodyDef::inertial(msd_shape(def.shape))
                    .mass(def.mass)
                    .pose(def.pose)
                    .velocity(def.velocity)
                    .angular_velocity(def.spin)
                    .material(material(&self.parameters));
                bodies.push(world.add_body(body).expect("a valid body"));
            }
            Backend::Rapier { world, bodies } => {
                let body = RigidBodyBuilder::dynamic()
                    .pose(rapier_pose(&def.pose))
                    .linvel(vector(def.velocity))
                    .angvel(vector(def.spin))
                    .can_sleep(false)
                    .ccd_enabled(self.parameters.continuous)
                    // By default spin is limited to an eighth of a turn per step.
                    .allow_fast_rotation(true);
                let collider = collider(def.shape, &self.parameters).mass(def.mass);
                bodies.push(world.insert(body, collider).0);
            }
        }
    }

    /// Adds walls of the given thickness around a room that extends by `half` to each side of the origin.
    pub fn enclose(&mut self, half: f64, thickness: f64) {
        let across = 0.5 * thickness;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let sides = (Vec3::ONE - axis) * (half + thickness);
            for side in [-1.0, 1.0] {
                let position = axis * (side * (half + across));
                self.add_static(BodyShape::Block(sides + axis * across), Pose::at(position));
            }
        }
    }

    pub fn step(&mut self) {
        match &mut self.backend {
            Backend::Msd { world, .. } => {
                world.step(self.parameters.dt).expect("a positive time step");
            }
            Backend::Rapier { world, .. } => world.step(),
        }
    }

    pub fn motion(&self, body: usize) -> Motion {
        match &self.backend {
            Backend::Msd { world, bodies } => {
                let body = world.body(bodies[body]).expect("nothing is removed");
                Motion {
                    position: body.position(),
                    velocity: body.linear_velocity(),
                    spin: body.angular_velocity(),
                }
            }
            Backend::Rapier { world, bodies } => {
                let body = &world.bodies[bodies[body]];
                Motion {
                    position: from_rapier(body.translation()),
                    velocity: from_rapier(body.linvel()),
                    spin: from_rapier(body.angvel()),
                }
            }
        }
    }

    /// Returns the motions of all dynamic bodies, by number.
    pub fn motions(&self) -> Vec<Motion> {
        let count = match &self.backend {
            Backend::Msd { bodies, .. } => bodies.len(),
            Backend::Rapier { bodies, .. } => bodies.len(),
        };
        (0..count).map(|body| self.motion(body)).collect()
    }
}

fn msd_shape(shape: BodyShape) -> Shape {
    match shape {
        BodyShape::Ball(radius) => Shape::sphere(radius),
        BodyShape::Block(half) => Shape::cuboid(half),
    }
    .expect("valid sizes")
}

fn material(parameters: &Parameters) -> Material {
    Material::new(parameters.restitution, parameters.friction).expect("a valid surface")
}

/// Combines two surfaces by the geometric mean, as msd does.
fn collider(shape: BodyShape, parameters: &Parameters) -> ColliderBuilder {
    match shape {
        BodyShape::Ball(radius) => ColliderBuilder::ball(radius),
        BodyShape::Block(half) => ColliderBuilder::cuboid(half.x, half.y, half.z),
    }
    .restitution(parameters.restitution)
    .restitution_combine_rule(CoefficientCombineRule::GeometricMean)
    .friction(parameters.friction)
    .friction_combine_rule(CoefficientCombineRule::GeometricMean)
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn from_rapier(v: Vector) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn rapier_pose(pose: &Pose) -> TheirPose {
    let [x, y, z, w] = pose.rotation.to_array();
    TheirPose::from_parts(vector(pose.position), Rotation::from_xyzw(x, y, z, w))
}
