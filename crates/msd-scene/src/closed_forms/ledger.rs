//! The energy ledger: in every step its terms add up to the change of energy.

use msd_sim::geometry::Shape;
use msd_sim::math::{Vec3, rotation};
use msd_sim::{BodyDef, JointDef, Ledger, Potential, Settings};

use super::rig::{Rig, ball, block, cube, floor, steps_in};
use super::slopes::wedge;
use super::stability::tower;
use super::thresholds::{cylinders, ladder, overhang};
use super::{Case, CaseError, Measurement, Outcome, farthest};

pub(super) const LEDGER_CONTACTS: Case = Case {
    name: "ledger-contacts",
    group: "ledger",
    setup: "scenes of sliding, slipping and standing for 5 s: the ledger's terms, including the \
            integration error, add up to the change of E_kin + E_pot in every step; error as a \
            fraction of the initial energy",
    peers: "none has a ledger",
    run: || balances(&CONTACTS, imbalance),
};

pub(super) const LEDGER_IMPACTS: Case = Case {
    name: "ledger-impacts",
    group: "ledger",
    setup: "scenes of impacts for 5 s: the ledger's terms, including the integration error, add up to \
            the change of E_kin + E_pot in every step; error as a fraction of the initial energy",
    peers: "none has a ledger",
    run: || balances(&IMPACTS, imbalance),
};

pub(super) const LEDGER_FORCES: Case = Case {
    name: "ledger-forces",
    group: "ledger",
    setup: "scenes of flight, joints and force fields for 5 s: the ledger's terms, including the \
            integration error, add up to the change of E_kin + E_pot in every step; error as a \
            fraction of the initial energy",
    peers: "none has a ledger",
    run: || balances(&FORCES, imbalance),
};

pub(super) const LEDGER_PHYSICAL: Case = Case {
    name: "ledger-physical",
    group: "ledger",
    setup: "the scenes of the three other ledger cases: E_kin + E_pot + dissipated + work is constant \
            in every step, without the terms for integration error and position correction; error \
            as a fraction of the initial energy",
    peers: "none has a ledger",
    run: || {
        let all = [CONTACTS.as_slice(), &IMPACTS, &FORCES].concat();
        balances(&all, |ledger| {
            let terms = ledger.terms.unwrap_or_default();
            imbalance(ledger) + terms.integration + terms.position_correction
        })
    },
};

/// A scene and its name.
type Scene = (&'static str, fn() -> Result<Rig, CaseError>);

const CONTACTS: [Scene; 8] = [
    ("slide", slide),
    ("belt", belt),
    ("incline", incline),
    ("wedge", || Ok(wedge(30.0_f64.to_radians(), 2.0)?.0)),
    ("ladder slips", || Ok(ladder(60.0_f64.to_radians(), 0.27)?.0)),
    ("overhang falls", || Ok(overhang(1.003)?.0)),
    ("cylinders separate", || Ok(cylinders(0.26, 0.9)?.0)),
    ("stack of 10", || Ok(tower(10)?.0)),
];

const IMPACTS: [Scene; 4] = [
    ("ball bounces", bounce),
    ("cube on its corner", corner_drop),
    ("cubes collide", cubes_collide),
    ("pile falls", pile),
];

const FORCES: [Scene; 6] = [
    ("projectile", projectile),
    ("tumbling", tumbling),
    ("pendulum", pendulum),
    ("spring", spring),
    ("orbit", orbit),
    ("drag", drag),
];

/// Returns the imbalance of a ledger, J; NaN where it was not measured.
fn imbalance(ledger: &Ledger) -> f64 {
    ledger.energy_error().unwrap_or(f64::NAN)
}

/// Measures the worst imbalance of any step for each scene, as a fraction of the initial kinetic energy plus the
/// magnitude of the potential energy.
fn balances(scenes: &[Scene], imbalance: fn(&Ledger) -> f64) -> Outcome {
    let mut found = Vec::new();
    for (name, build) in scenes {
        let mut rig = build()?;
        let settings = Settings { audit: true, ..rig.world.settings().clone() };
        rig.world.set_settings(settings)?;
        let energy = rig.world.kinetic_energy() + rig.world.potential_energy().abs();
        let mut worst = 0.0;
        for _ in 0..steps_in(5.0) {
            rig.step()?;
            let off = rig.world.report().audit.as_ref().map_or(f64::NAN, imbalance);
            worst = farthest(0.0, [worst, off / energy]);
        }
        found.push(Measurement::below(name, "", 1e-9, worst));
    }
    Ok(found)
}

fn slide() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    rig.floor(0.5, 0.5)?;
    let velocity = Vec3::new(4.0, 3.0, 0.0);
    rig.add(cube(0.5, 0.5)?.position(Vec3::Z * 0.5).velocity(velocity))?;
    Ok(rig)
}

fn belt() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    rig.add(floor(0.0, 0.5)?.velocity(Vec3::X * 2.0))?;
    rig.add(cube(0.0, 0.5)?.position(Vec3::Z * 0.5))?;
    Ok(rig)
}

fn incline() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    let slope = rig.incline(30.0_f64.to_radians(), 0.5, 0.4)?;
    rig.add(cube(0.5, 0.4)?.pose(slope.above(0.5)))?;
    Ok(rig)
}

fn bounce() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    rig.floor(0.8, 0.5)?;
    let def = ball(0.8, 0.5)?.position(Vec3::Z * 5.0).velocity(Vec3::X);
    rig.add(def.angular_velocity(Vec3::new(3.0, -2.0, 1.0)))?;
    Ok(rig)
}

fn corner_drop() -> Result<Rig, CaseError> {
    let turn = 45.0_f64.to_radians();
    let mut rig = Rig::new()?;
    rig.floor(0.7, 0.5)?;
    let def = cube(0.7, 0.5)?.position(Vec3::Z * 2.0);
    rig.add(def.orientation(rotation(Vec3::X, turn) * rotation(Vec3::Y, turn)))?;
    Ok(rig)
}

/// Returns two cubes, one 0.3 m beside the other's path.
fn cubes_collide() -> Result<Rig, CaseError> {
    let mut rig = Rig::weightless()?;
    rig.add(cube(0.5, 0.5)?.position(Vec3::X * -2.0).velocity(Vec3::X * 2.0))?;
    rig.add(cube(0.5, 0.5)?.position(Vec3::Y * 0.3))?;
    Ok(rig)
}

/// Returns the twelve cubes, each rotated and displaced a little more than the one below.
fn pile() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    rig.floor(0.3, 0.5)?;
    for n in 0..12 {
        let n = f64::from(n);
        let place = Vec3::new(0.3 * (2.0 * n).sin(), 0.3 * (3.0 * n).cos(), 1.0 + 1.5 * n);
        let turn = rotation(Vec3::new(1.0, n, 2.0), 0.4 * n);
        rig.add(cube(0.3, 0.5)?.position(place).orientation(turn))?;
    }
    Ok(rig)
}

fn projectile() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    rig.add(ball(0.5, 0.5)?.velocity(Vec3::new(3.0, 4.0, 12.0)))?;
    Ok(rig)
}

fn tumbling() -> Result<Rig, CaseError> {
    let mut rig = Rig::weightless()?;
    let def = block(Vec3::new(0.5, 1.0, 1.5), 0.5, 0.5)?;
    rig.add(def.angular_velocity(Vec3::new(0.01, 5.0, 0.01)))?;
    Ok(rig)
}

/// Returns three balls on ball joints at a hook, released from the horizontal.
fn pendulum() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    let height = Vec3::Z * 5.0;
    let mut last = rig.add(BodyDef::environment(Shape::sphere(0.1)?).position(height))?;
    for n in 1..=3 {
        let place = height + Vec3::X * (1.5 * f64::from(n));
        let next = rig.add(ball(0.5, 0.5)?.position(place))?;
        let joint = JointDef::ball(last, next).anchors(
            if n == 1 { Vec3::ZERO } else { Vec3::X * 0.75 },
            if n == 1 { Vec3::X * -1.5 } else { Vec3::X * -0.75 },
        );
        rig.world.add_joint(joint)?;
        last = next;
    }
    Ok(rig)
}

/// Returns a ball on a damped spring below a hook, released where the spring is unstretched.
fn spring() -> Result<Rig, CaseError> {
    let mut rig = Rig::new()?;
    let hook = rig.add(BodyDef::environment(Shape::sphere(0.1)?))?;
    let bob = rig.add(ball(0.5, 0.5)?.position(Vec3::new(0.3, 0.0, -2.0)))?;
    rig.world.add_joint(JointDef::spring(hook, bob, 2.0, 40.0, 0.5))?;
    Ok(rig)
}

/// Returns an ellipse with a semi-major axis of 10 m about a point mass: v^2 = mu (2 / r - 1 / a).
fn orbit() -> Result<Rig, CaseError> {
    let (mu, a, r): (f64, f64, f64) = (1000.0, 10.0, 7.0);
    let mut rig = Rig::weightless()?;
    rig.world.add_potential(Potential::point_mass(Vec3::ZERO, mu, 0.0)?)?;
    let speed = (mu * (2.0 / r - 1.0 / a)).sqrt();
    rig.add(ball(0.5, 0.5)?.position(Vec3::X * r).velocity(Vec3::Y * speed))?;
    Ok(rig)
}

/// Returns a ball thrown through air.
fn drag() -> Result<Rig, CaseError> {
    let mut rig = projectile()?;
    rig.world.add_potential(Potential::drag(0.1, 0.02, 0.01, 0.0, Vec3::X)?)?;
    Ok(rig)
}
