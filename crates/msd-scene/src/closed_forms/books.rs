//! The ledger: energy of every step, accounted for.

use msd_sim::geometry::Shape;
use msd_sim::math::{Vec3, rotation};
use msd_sim::{BodyDef, JointDef, Ledger, Potential, Settings};

use super::slopes::wedge;
use super::stability::tower;
use super::stage::{Stage, ball, block, cube, floor, steps_in};
use super::thresholds::{cylinders, ladder, overhang};
use super::{Case, Failure, Measurement, Outcome, farthest};

pub(super) const LEDGER_CONTACTS: Case = Case {
    name: "ledger-contacts",
    group: "books",
    setup: "scenes of sliding, slipping and standing for 5 s: the ledger's terms, the integration's \
            own error among them, add up to the change of E_kin + E_pot in every step, as a fraction \
            of the energy at the start",
    peers: "none has it",
    run: || balances(&CONTACTS, left),
};

pub(super) const LEDGER_IMPACTS: Case = Case {
    name: "ledger-impacts",
    group: "books",
    setup: "scenes of impacts for 5 s: the ledger's terms, the integration's own error among them, \
            add up to the change of E_kin + E_pot in every step, as a fraction of the energy at the \
            start",
    peers: "none has it",
    run: || balances(&IMPACTS, left),
};

pub(super) const LEDGER_FORCES: Case = Case {
    name: "ledger-forces",
    group: "books",
    setup: "scenes of flight, joints and force fields for 5 s: the ledger's terms, the integration's \
            own error among them, add up to the change of E_kin + E_pot in every step, as a fraction \
            of the energy at the start",
    peers: "none has it",
    run: || balances(&FORCES, left),
};

pub(super) const LEDGER_PHYSICAL: Case = Case {
    name: "ledger-physical",
    group: "books",
    setup: "the scenes of all three ledgers: E_kin + E_pot + dissipated + work is constant in every \
            step, with no term for errors of integration and corrections of position, as a fraction \
            of the energy at the start",
    peers: "none has it",
    run: || {
        let all = [CONTACTS.as_slice(), &IMPACTS, &FORCES].concat();
        balances(&all, |ledger| {
            let terms = ledger.terms.unwrap_or_default();
            left(ledger) + terms.integration + terms.correction
        })
    },
};

/// A scene by name.
type Scene = (&'static str, fn() -> Result<Stage, Failure>);

const CONTACTS: [Scene; 8] = [
    ("slide", slide),
    ("belt", belt),
    ("incline", incline),
    ("wedge", || Ok(wedge(30.0_f64.to_radians(), 2.0)?.0)),
    ("ladder slips", || Ok(ladder(60.0_f64.to_radians(), 0.27)?.0)),
    ("overhang falls", || Ok(overhang(1.003)?.0)),
    ("cylinders part", || Ok(cylinders(0.26, 0.9)?.0)),
    ("stack of 10", || Ok(tower(10)?.0)),
];

const IMPACTS: [Scene; 4] = [
    ("ball bounces", bounce),
    ("cube on its corner", corner_drop),
    ("cubes meet", cubes_meet),
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

/// What the ledger leaves open, J; not a number where it was not measured.
fn left(ledger: &Ledger) -> f64 {
    ledger.energy_error().unwrap_or(f64::NAN)
}

/// What the ledger leaves open by some reckoning, by scene: the worst step, as a fraction of the
/// kinetic and potential energy at the start, without signs.
fn balances(scenes: &[Scene], left: fn(&Ledger) -> f64) -> Outcome {
    let mut found = Vec::new();
    for (name, build) in scenes {
        let mut stage = build()?;
        let settings = Settings { audit: true, ..stage.world.settings().clone() };
        stage.world.set_settings(settings)?;
        let energy = stage.world.kinetic_energy() + stage.world.potential_energy().abs();
        let mut worst = 0.0;
        for _ in 0..steps_in(5.0) {
            stage.step()?;
            let open = stage.world.report().audit.as_ref().map_or(f64::NAN, left);
            worst = farthest(0.0, [worst, open / energy]);
        }
        found.push(Measurement::below(name, "", 1e-9, worst));
    }
    Ok(found)
}

fn slide() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    stage.floor(0.5, 0.5)?;
    let velocity = Vec3::new(4.0, 3.0, 0.0);
    stage.add(cube(0.5, 0.5)?.position(Vec3::Z * 0.5).velocity(velocity))?;
    Ok(stage)
}

fn belt() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    stage.add(floor(0.0, 0.5)?.velocity(Vec3::X * 2.0))?;
    stage.add(cube(0.0, 0.5)?.position(Vec3::Z * 0.5))?;
    Ok(stage)
}

fn incline() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    let slope = stage.incline(30.0_f64.to_radians(), 0.5, 0.4)?;
    stage.add(cube(0.5, 0.4)?.pose(slope.above(0.5)))?;
    Ok(stage)
}

fn bounce() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    stage.floor(0.8, 0.5)?;
    let def = ball(0.8, 0.5)?.position(Vec3::Z * 5.0).velocity(Vec3::X);
    stage.add(def.angular_velocity(Vec3::new(3.0, -2.0, 1.0)))?;
    Ok(stage)
}

fn corner_drop() -> Result<Stage, Failure> {
    let turn = 45.0_f64.to_radians();
    let mut stage = Stage::new()?;
    stage.floor(0.7, 0.5)?;
    let def = cube(0.7, 0.5)?.position(Vec3::Z * 2.0);
    stage.add(def.orientation(rotation(Vec3::X, turn) * rotation(Vec3::Y, turn)))?;
    Ok(stage)
}

/// Two cubes, one .3 m to the side of the other's way.
fn cubes_meet() -> Result<Stage, Failure> {
    let mut stage = Stage::weightless()?;
    stage.add(cube(0.5, 0.5)?.position(Vec3::X * -2.0).velocity(Vec3::X * 2.0))?;
    stage.add(cube(0.5, 0.5)?.position(Vec3::Y * 0.3))?;
    Ok(stage)
}

/// Twelve cubes, each turned and off to the side a little more than the one below.
fn pile() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    stage.floor(0.3, 0.5)?;
    for n in 0..12 {
        let n = f64::from(n);
        let place = Vec3::new(0.3 * (2.0 * n).sin(), 0.3 * (3.0 * n).cos(), 1.0 + 1.5 * n);
        let turn = rotation(Vec3::new(1.0, n, 2.0), 0.4 * n);
        stage.add(cube(0.3, 0.5)?.position(place).orientation(turn))?;
    }
    Ok(stage)
}

fn projectile() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    stage.add(ball(0.5, 0.5)?.velocity(Vec3::new(3.0, 4.0, 12.0)))?;
    Ok(stage)
}

fn tumbling() -> Result<Stage, Failure> {
    let mut stage = Stage::weightless()?;
    let def = block(Vec3::new(0.5, 1.0, 1.5), 0.5, 0.5)?;
    stage.add(def.angular_velocity(Vec3::new(0.01, 5.0, 0.01)))?;
    Ok(stage)
}

/// Three balls on ball joints below a hook, let go level.
fn pendulum() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    let height = Vec3::Z * 5.0;
    let mut last = stage.add(BodyDef::environment(Shape::sphere(0.1)?).position(height))?;
    for n in 1..=3 {
        let place = height + Vec3::X * (1.5 * f64::from(n));
        let next = stage.add(ball(0.5, 0.5)?.position(place))?;
        let joint = JointDef::ball(last, next).anchors(
            if n == 1 { Vec3::ZERO } else { Vec3::X * 0.75 },
            if n == 1 { Vec3::X * -1.5 } else { Vec3::X * -0.75 },
        );
        stage.world.add_joint(joint)?;
        last = next;
    }
    Ok(stage)
}

/// A ball below a hook on a damped spring, let go where the spring is slack.
fn spring() -> Result<Stage, Failure> {
    let mut stage = Stage::new()?;
    let hook = stage.add(BodyDef::environment(Shape::sphere(0.1)?))?;
    let bob = stage.add(ball(0.5, 0.5)?.position(Vec3::new(0.3, 0.0, -2.0)))?;
    stage.world.add_joint(JointDef::spring(hook, bob, 2.0, 40.0, 0.5))?;
    Ok(stage)
}

/// An ellipse of 10 m about a point mass: v^2 = mu (2 / r - 1 / a).
fn orbit() -> Result<Stage, Failure> {
    let (mu, a, r): (f64, f64, f64) = (1000.0, 10.0, 7.0);
    let mut stage = Stage::weightless()?;
    stage.world.add_potential(Potential::point_mass(Vec3::ZERO, mu, 0.0)?)?;
    let speed = (mu * (2.0 / r - 1.0 / a)).sqrt();
    stage.add(ball(0.5, 0.5)?.position(Vec3::X * r).velocity(Vec3::Y * speed))?;
    Ok(stage)
}

/// A thrown ball in air.
fn drag() -> Result<Stage, Failure> {
    let mut stage = projectile()?;
    stage.world.add_potential(Potential::drag(0.1, 0.02, 0.01, 0.0, Vec3::X)?)?;
    Ok(stage)
}
