//! The test rig of the cases: a world with default settings, and floors, blocks and balls to fill it.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};
use msd_sim::{Body, BodyDef, BodyId, Material, Settings, World};

use super::CaseError;

/// The time step of every case, s.
pub(super) const DT: f64 = 1.0 / 60.0;
/// Default gravity, m/s^2.
pub(super) const G: f64 = 9.81;

/// A test rig: a world stepped at 60 Hz, with shorthands to fill and query it.
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

    /// Adds a level floor with its top at z = 0.
    pub(super) fn floor(&mut self, restitution: f64, friction: f64) -> Result<BodyId, CaseError> {
        self.add(floor(restitution, friction)?)
    }

    /// Adds a floor that descends towards +x at an angle (rad), its top through the origin.
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

    /// Returns kinetic plus potential energy, J.
    pub(super) fn energy(&self) -> f64 {
        self.world.kinetic_energy() + self.world.potential_energy()
    }

    /// Returns an upper bound on the speed of any point of any inertial body, m/s.
    pub(super) fn speed(&self) -> f64 {
        let inertial = self.world.bodies().filter(|body| body.mass() > 0.0);
        let speeds = inertial.map(|body| {
            body.linear_velocity().length() + body.radius() * body.angular_velocity().length()
        });
        super::farthest(0.0, speeds)
    }

    pub(super) fn step(&mut self) -> Result<(), CaseError> {
        self.world.step(DT)?;
        Ok(())
    }

    pub(super) fn run_for(&mut self, seconds: f64) -> Result<(), CaseError> {
        for _ in 0..steps_in(seconds) {
            self.step()?;
        }
        Ok(())
    }

    /// Returns the time at which a steadily decreasing quantity reaches zero, and a body's position then. The time
    /// lies within a step, so both are extrapolated from the rates over the last whole step before it. Steps for
    /// the given time; returns NaN if the quantity does not reach zero.
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
            // Below 1e-9 only rounding and the solver's tolerance are left: it reached zero earlier.
            if now > 1e-9 && rate > 0.0 && left <= DT {
                let acceleration = (velocity - velocity_before) / DT;
                let displacement = velocity * left + acceleration * (0.5 * left * left);
                found = (self.world.time() + left, self.position(id) + displacement);
            }
            (before, velocity_before) = (now, velocity);
        }
        Ok(found)
    }
}

/// An inclined plane.
#[derive(Clone, Copy)]
pub(super) struct Slope {
    /// Rotation from the level floor.
    pub(super) turn: Quat,
    /// Direction of steepest descent.
    pub(super) down: Vec3,
    pub(super) normal: Vec3,
}

impl Slope {
    /// Returns the pose at a height above the slope, aligned with it.
    pub(super) fn above(&self, height: f64) -> Pose {
        Pose::new(self.normal * height, self.turn)
    }
}

/// Returns the number of steps in a time, s.
pub(super) fn steps_in(seconds: f64) -> usize {
    (seconds / DT).round() as usize
}

/// Returns a floor of 100 m by 100 m with its top at z = 0.
pub(super) fn floor(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    Ok(BodyDef::environment(Shape::cuboid(Vec3::new(50.0, 50.0, 0.5))?)
        .position(Vec3::Z * -0.5)
        .material(Material::new(restitution, friction)?))
}

/// Returns a body of 1 kg.
pub(super) fn solid(shape: Shape, restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    Ok(BodyDef::inertial(shape).mass(1.0).material(Material::new(restitution, friction)?))
}

/// Returns a box of 1 kg.
pub(super) fn block(half: Vec3, restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    solid(Shape::cuboid(half)?, restitution, friction)
}

/// Returns a cube of 1 m and 1 kg.
pub(super) fn cube(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    block(Vec3::splat(0.5), restitution, friction)
}

/// Returns a sphere of radius 0.5 m and 1 kg.
pub(super) fn ball(restitution: f64, friction: f64) -> Result<BodyDef, CaseError> {
    solid(Shape::sphere(0.5)?, restitution, friction)
}
