//! A scene fixture whose energy and momentum ledger is checked in every step.

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, SpatialVector, Vec3, rotation};
use msd_sim::{Body, BodyDef, BodyId, Material, Settings, World};

pub(crate) const DT: f64 = 1.0 / 60.0;
pub(crate) const G: f64 = 9.81;

/// A world that is stepped with its ledger on: no step may leave more than 1e-9 of the scene's
/// energy and momentum unaccounted for. Dropping it reports every fault.
pub(crate) struct AuditedScene {
    pub(crate) world: World,
    /// Whether energy may never rise by more than 1e-9 max(1, E0) J in a step.
    passive: bool,
    check_ledger: bool,
    first_energy: Option<f64>,
    unaccounted: Vec<Fault>,
}

/// An imbalance of the ledger.
#[derive(Debug)]
#[expect(dead_code, reason = "shown when a test fails")]
struct Fault {
    what: &'static str,
    /// The first step in which it occurred.
    step: u64,
    /// The largest amount, and the scale that it is compared with.
    worst: f64,
    scale: f64,
    times: u32,
}

impl Drop for AuditedScene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("unaccounted for: {:?}", self.unaccounted);
        } else {
            assert!(self.unaccounted.is_empty(), "unaccounted for: {:?}", self.unaccounted);
        }
    }
}

impl AuditedScene {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn weightless() -> Self {
        Self::with(Settings { gravity: Vec3::ZERO, ..Settings::default() })
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let world = World::new(Settings { audit: true, ..settings }).unwrap();
        Self {
            world,
            passive: false,
            check_ledger: true,
            first_energy: None,
            unaccounted: Vec::new(),
        }
    }

    /// Forbids any rise of energy.
    pub(crate) fn passive(mut self) -> Self {
        self.passive = true;
        self
    }

    /// Ignores the ledger. A rise of energy still counts for a passive scene.
    pub(crate) fn without_ledger(mut self) -> Self {
        self.check_ledger = false;
        self
    }

    /// Adds the floor: 100 m by 100 m, its top at z = 0.
    pub(crate) fn floor(&mut self, restitution: f64, friction: f64) -> BodyId {
        self.add(floor(restitution, friction))
    }

    /// Adds a floor that descends in the direction `down`, its top through the origin. `turn`
    /// rotates the level floor onto it.
    pub(crate) fn incline(&mut self, degrees: f64, restitution: f64, friction: f64) -> Slope {
        let turn = rotation(Vec3::Y, degrees.to_radians());
        let (down, normal) = (turn * Vec3::X, turn * Vec3::Z);
        self.add(floor(restitution, friction).pose(Pose::new(normal * -0.5, turn)));
        Slope { turn, down, normal }
    }

    pub(crate) fn add(&mut self, def: BodyDef) -> BodyId {
        self.world.add_body(def).unwrap()
    }

    pub(crate) fn body(&self, id: BodyId) -> Body<'_> {
        self.world.body(id).unwrap()
    }

    pub(crate) fn position(&self, id: BodyId) -> Vec3 {
        self.body(id).position()
    }

    pub(crate) fn velocity(&self, id: BodyId) -> Vec3 {
        self.body(id).linear_velocity()
    }

    pub(crate) fn spin(&self, id: BodyId) -> Vec3 {
        self.body(id).angular_velocity()
    }

    /// Applies a force at the center of mass over the next step.
    pub(crate) fn push(&mut self, id: BodyId, force: Vec3) {
        self.world.apply_force(id, SpatialVector::new(force, Vec3::ZERO)).unwrap();
    }

    pub(crate) fn energy(&self) -> f64 {
        self.world.kinetic_energy() + self.world.potential_energy()
    }

    /// Returns the impulse on body `on` from body `from` in the last step.
    pub(crate) fn impulse(&self, from: BodyId, on: BodyId) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for contact in self.world.contacts() {
            if (contact.a(), contact.b()) == (from, on) {
                sum += contact.impulse();
            } else if (contact.b(), contact.a()) == (from, on) {
                sum -= contact.impulse();
            }
        }
        sum
    }

    /// Returns the scales of energy, momentum and angular momentum: sums of magnitudes, including
    /// the momentum that gravity adds in a step.
    fn scales(&self) -> (f64, f64, f64) {
        let gravity = self.world.settings().gravity.length() * DT;
        let (mut linear, mut angular) = (0.0, 0.0);
        for body in self.world.bodies() {
            let momentum = body.mass() * (body.linear_velocity().length() + gravity);
            linear += momentum;
            angular += momentum * body.position().length();
            angular += (body.inertia() * body.angular_velocity()).length();
        }
        let kinetic = self.world.kinetic_energy();
        let energy = kinetic.max(self.world.potential_energy().abs());
        (energy.max(1.0), linear.max(1.0), angular.max(1.0))
    }

    pub(crate) fn step(&mut self) {
        let before = self.scales();
        let energy_before = self.energy();
        let first = *self.first_energy.get_or_insert(energy_before);
        let ledger = self.world.step(DT).unwrap().audit.expect("the audit is on");
        if self.check_ledger {
            let after = self.scales();
            let lost = ledger.momentum_error();
            self.note("energy", ledger.energy_error().unwrap(), before.0.max(after.0));
            self.note("momentum", lost.linear.length(), before.1.max(after.1));
            self.note("angular momentum", lost.angular.length(), before.2.max(after.2));
        }
        if self.passive {
            let rise = (self.energy() - energy_before).max(0.0);
            self.note("rise of energy", rise, first.abs().max(1.0));
        }
    }

    /// Records an imbalance of more than 1e-9 of its scale.
    fn note(&mut self, what: &'static str, error: f64, scale: f64) {
        if !(error.abs() <= 1e-9 * scale) {
            let step = self.world.steps();
            let known = self.unaccounted.iter_mut().find(|fault| fault.what == what);
            match known {
                Some(fault) => {
                    fault.times += 1;
                    fault.worst = fault.worst.max(error.abs());
                }
                None => {
                    let worst = error.abs();
                    self.unaccounted.push(Fault { what, step, worst, scale, times: 1 });
                }
            }
        }
    }

    pub(crate) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    pub(crate) fn seconds(&mut self, seconds: f64) {
        self.steps((seconds / DT).round() as usize);
    }

    /// Returns an upper bound of the fastest surface speed of any inertial body, m/s.
    pub(crate) fn speed(&self) -> f64 {
        let speeds = self.world.bodies().filter(|body| body.mass() > 0.0).map(|body| {
            let radius = body.radius();
            body.linear_velocity().length() + radius * body.angular_velocity().length()
        });
        speeds.fold(0.0, f64::max)
    }
}

/// An inclined floor.
#[derive(Clone, Copy)]
pub(crate) struct Slope {
    pub(crate) turn: Quat,
    pub(crate) down: Vec3,
    pub(crate) normal: Vec3,
}

impl Slope {
    /// Returns a pose at this height above the slope, upright on it.
    pub(crate) fn above(&self, height: f64) -> Pose {
        Pose::new(self.normal * height, self.turn)
    }
}

pub(crate) fn material(restitution: f64, friction: f64) -> Material {
    Material::new(restitution, friction).unwrap()
}

pub(crate) fn floor(restitution: f64, friction: f64) -> BodyDef {
    BodyDef::environment(Shape::cuboid(Vec3::new(50.0, 50.0, 0.5)).unwrap())
        .position(Vec3::new(0.0, 0.0, -0.5))
        .material(material(restitution, friction))
}

/// Returns a box of 1 kg.
pub(crate) fn block(half: Vec3, restitution: f64, friction: f64) -> BodyDef {
    BodyDef::inertial(Shape::cuboid(half).unwrap())
        .mass(1.0)
        .material(material(restitution, friction))
}

/// Returns a cube of 1 m and 1 kg.
pub(crate) fn cube(restitution: f64, friction: f64) -> BodyDef {
    block(Vec3::splat(0.5), restitution, friction)
}

/// Returns a sphere of radius 0.5 m and 1 kg.
pub(crate) fn ball(restitution: f64, friction: f64) -> BodyDef {
    BodyDef::inertial(Shape::sphere(0.5).unwrap())
        .mass(1.0)
        .material(material(restitution, friction))
}

/// Asserts that a value is within a fraction of the expected one.
#[track_caller]
pub(crate) fn assert_near(value: f64, expected: f64, fraction: f64) {
    let error = (value - expected).abs() / expected.abs();
    assert!(error <= fraction, "{value} instead of {expected}: off by {error:e}, not {fraction:e}");
}

/// Returns when and where a body that slides along a direction stops: interpolated between steps
/// from the last measured deceleration.
pub(crate) fn stop(scene: &mut AuditedScene, id: BodyId, along: Vec3) -> (f64, f64) {
    let from = scene.position(id);
    let mut before = scene.velocity(id).dot(along);
    let mut time = f64::NAN;
    for _ in 0..600 {
        let start = scene.world.time();
        let slowing = {
            let was = before;
            scene.step();
            let now = scene.velocity(id).dot(along);
            assert!(now >= -1e-9, "sliding reversed: {now:e} m/s");
            before = now;
            (was - now) / DT
        };
        let rest = before / slowing;
        if before > 1e-9 && slowing > 0.0 && rest <= DT {
            // It stops within the next step.
            time = start + DT + rest;
        }
    }
    assert!(scene.speed() < 1e-6, "still moves at {:e} m/s", scene.speed());
    (time, (scene.position(id) - from).dot(along))
}

mod tests {
    use super::*;

    /// Pushes a body in free flight: its energy rises, and the ledger accounts for it.
    fn pushed(mut scene: AuditedScene) {
        let id = scene.add(ball(0.5, 0.5).velocity(Vec3::X));
        scene.push(id, Vec3::X);
        scene.step();
    }

    #[test]
    fn the_ledger_accounts_for_a_push() {
        pushed(AuditedScene::weightless());
        pushed(AuditedScene::weightless().without_ledger());
    }

    #[test]
    #[should_panic(expected = "rise of energy")]
    fn a_passive_scene_may_not_gain_energy() {
        pushed(AuditedScene::weightless().passive());
    }

    #[test]
    #[should_panic(expected = "rise of energy")]
    fn a_passive_scene_may_not_gain_energy_even_without_its_ledger() {
        pushed(AuditedScene::weightless().passive().without_ledger());
    }
}
