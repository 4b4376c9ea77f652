//! What the cases are built of: worlds with default settings, floors, blocks, balls.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};
use msd_sim::{Body, BodyDef, BodyId, Material, Settings, World};

use super::CaseError;

/// The time step of every case, s.
pub(super) const DT: f64 = 1.0 / 60.0;
/// Gravity's default, m/s^2.
pub(super) const G: f64 = 9.81;

/// A world at 60 Hz, and short ways to ask it.
pub(super) struct Rig {
    pub(super) world: World,
}

impl Rig {
    pub(super) fn new() -> Result<Self, CaseError> {
        Self::with(Settings::default())
    }

    pub(super) fn weightless() -> Result<Self, CaseError> {
        Self::with(Settings { gravity: Vec3::ZERO, ..Settings::default() })
    }

    pub(super) fn with(settings: Settings) -> Result<Self, CaseError> {
        Ok(Self { world: World::new(settings)? })
    }

    pub(super) fn add(&mut self, def: BodyDef) -> Result<BodyId, CaseError> {
        Ok(self.world.add_body(def)?)
    }

    /// A level floor with its top at z = 0.
    pub(super) fn floor(&mut self, restitution: f64, friction: f64) -> Result<BodyId, CaseError> {
        self.add(floor(restitution, friction)?)
    }

    /// A floor that falls off towards +x by an angle (rad), its top through the origin.
    pub(super) fn incline(
        &mut self,
        angle: f64,
        restitution: f64,
        friction: f64,
    ) -> Result<Slope, CaseError> {
        let turn = rotation(Vec3::Y, angle);
        let slope = Slope { turn, down: turn * Vec3::X, normal: turn * Vec3::Z };
        self.add(floor(restitution, friction)?.pose(slope.above(-0.5)))?;
        Ok(slope)
    }

    pub(super) fn body(&self, id: BodyId) -> Body<'_> {
        self.world.body(id).expect("no case removes a body")
    }

    pub(super) fn position(&self, id: BodyId) -> Vec3 {
        self.body(id).position()
    }

    pub(super) fn velocity(&self, id: BodyId) -> Vec3 {
        self.body(id).linear_velocity()
    }

    pub(super) fn spin(&self, id: BodyId) -> Vec3 {
        self.body(id).angular_velocity()
    }

    /// Kinetic and potential energy, J.
    pub(super) fn energy(&self) -> f64 {
        self.world.kinetic_energy() + self.world.potential_energy()
    }

    /// A bound from above on the speed of any point of any inertial body, m/s.
    pub(super) fn speed(&self) -> f64 {
        let inertial = self.world.bodies().filter(|body| body.mass() > 0.0);
        let speeds = inertial.map(|body| {
            let radius = body.shape().bounding_radius();
            body.linear_velocity().length() + radius * body.angular_velocity().length()
        });
        super::farthest(0.0, speeds)
    }

    pub(super) fn step(&mut self) -> Result<(), CaseError> {
        self.world.step(DT)?;
        Ok(())
    }

    pub(super) fn seconds(&mut self, seconds: f64) -> Result<(), CaseError> {
        for _ in 0..steps_in(seconds) {
            self.step()?;
        }
        Ok(())
    }

    /// When a quantity that falls at a steady rate reaches zero, and where a body is then: from the
    /// rates over the last whole step before, since the moment itself lies within a step. Steps on
    /// until the given time; not numbers if it does not reach zero.
    pub(super) fn zero_crossing(
        &mut self,
        id: BodyId,
        seconds: f64,
        quantity: impl Fn(&Self) -> f64,
    ) -> Result<(f64, Vec3), CaseError> {
        let mut found = (f64::NAN, Vec3::NAN);
        let (mut before, mut velocity_before) = (quantity(self), self.velocity(id));
        for _ in 0..steps_in(seconds) {
            self.step()?;
            let (now, velocity) = (quantity(self), self.velocity(id));
            let rate = (before - now) / DT;
            let left = now / rate;
            // Below 1e-9 it has died out before: what is left is rounding and the solver's tolerance.
            if now > 1e-9 && rate > 0.0 && left <= DT {
                let acceleration = (velocity - velocity_before) / DT;
                let distance = velocity * left + acceleration * (0.5 * left * left);
                found = (self.world.time() + left, self.position(id) + distance);
            }
            (before, velocity_before) = (now, velocity);
        }
        Ok(found)
    }
}

/// An inclined floor.
#[derive(Clone, Copy)]
pub(super) struct Slope {
    /// Takes the level floor into it.
    pub(super) turn: Quat,
    /// The direction of steepest descent.
    pub(super) down: Vec3,
    pub(super) normal: Vec3,
}

impl Slope {
    /// A pose this high above the slope, upright on it.
    pub(super) fn above(&self, height: f64) -> Pose {
        Pose::new(self.normal * height, self.turn)
    }
}

/// The number of steps in a time, s.
pub(super) fn steps_in(seconds: f64) -> usize {
    (seconds / DT).round() as usize
}

/// 100 m by 100 m, its top at z = 0.
pub(super) fn floor(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    Ok(BodyDef::environment(Shape::cuboid(Vec3::new(50.0, 50.0, 0.5))?)
        .position(Vec3::Z * -0.5)
        .material(Material::new(restitution, friction)?))
}

/// A body of 1 kg.
pub(super) fn solid(shape: Shape, restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    Ok(BodyDef::inertial(shape).mass(1.0).material(Material::new(restitution, friction)?))
}

/// A box of 1 kg.
pub(super) fn block(half: Vec3, restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    solid(Shape::cuboid(half)?, restitution, friction)
}

/// A cube of 1 m and 1 kg.
pub(super) fn cube(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    block(Vec3::splat(0.5), restitution, friction)
}

/// A sphere of radius 0.5 m and 1 kg.
pub(super) fn ball(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    solid(Shape::sphere(0.5)?, restitution, friction)
}
