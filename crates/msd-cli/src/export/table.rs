//! What tables there are: their columns, and the rows of a frame.

use std::collections::HashMap;

use clap::ValueEnum;
use msd_record::{BodyKey, BodyState, Frame, JointRecord, PairRecord, Recording};
use msd_sim::math::Vec3;
use msd_sim::{ContactTerms, Ledger};
use serde::{Serialize, Serializer};

use crate::failure::Failure;

/// A table that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Motion: a row for each body and step
    Bodies,
    /// Contact points and their forces: a row for each point and step
    Contacts,
    /// Forces of joints: a row for each joint and step
    Joints,
    /// Energies and works of all bodies together: a row for each step
    Energy,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Text.
    Text,
    /// Numbers, or nothing where nothing was measured.
    Real,
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// A whole number.
    Whole(u64),
    /// Text.
    Text(&'a str),
    /// A number; none was not measured.
    Real(Option<f64>),
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Real(number) => number.serialize(serializer),
        }
    }
}

/// Names of columns by what they hold. Vectors have a column for each axis.
const STEP: [(&str, Kind); 2] = [("step", Kind::Whole), ("time", Kind::Real)];
const BODIES: [&str; 13] =
    ["px", "py", "pz", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz"];
const CONTACTS: [&str; 14] = [
    "px",
    "py",
    "pz",
    "nx",
    "ny",
    "nz",
    "gap",
    "fx",
    "fy",
    "fz",
    "normal_force",
    "friction_force",
    "friction",
    "approach",
];
const JOINTS: [&str; 4] = ["fx", "fy", "fz", "force"];
const ENERGY: [&str; 18] = [
    "kinetic",
    "potential",
    "restitution",
    "friction",
    "joints",
    "correction",
    "damping",
    "user",
    "environment",
    "integration",
    "contacts",
    "error",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
];

impl What {
    /// The columns, in order.
    pub fn columns(self) -> Vec<(&'static str, Kind)> {
        let (names, reals): (&[(&str, Kind)], &[&str]) = match self {
            Self::Bodies => (&[("body", Kind::Text)], &BODIES),
            Self::Contacts => {
                (&[("a", Kind::Text), ("b", Kind::Text), ("point", Kind::Whole)], &CONTACTS)
            }
            Self::Joints => {
                (&[("joint", Kind::Whole), ("a", Kind::Text), ("b", Kind::Text)], &JOINTS)
            }
            Self::Energy => (&[], &ENERGY),
        };
        let reals = reals.iter().map(|&name| (name, Kind::Real));
        STEP.into_iter().chain(names.iter().copied()).chain(reals).collect()
    }
}

/// Makes the rows of a table.
pub struct Rows<'a> {
    pub what: What,
    /// Names of bodies.
    pub names: &'a HashMap<BodyKey, String>,
    /// Bodies that are wanted; all if none is named.
    pub wanted: &'a [String],
    /// Time step, s.
    pub dt: f64,
}

impl<'a> Rows<'a> {
    /// Puts the rows of a frame, one by one.
    pub fn of(
        &self,
        frame: &Frame,
        put: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let start = [Cell::Whole(frame.step), Cell::Real(Some(frame.time))];
        match self.what {
            What::Bodies => {
                for state in frame.states.iter().filter(|state| self.wants(&[state.body])) {
                    put(&[&start[..], &self.body(state)].concat())?;
                }
            }
            What::Contacts => {
                for pair in frame.contacts.iter().filter(|pair| self.wants(&[pair.a, pair.b])) {
                    for point in 0..pair.point_count as usize {
                        put(&[&start[..], &self.contact(frame, pair, point)].concat())?;
                    }
                }
            }
            What::Joints => {
                for joint in frame.joints.iter().flatten() {
                    if self.wants(&[joint.a, joint.b]) {
                        put(&[&start[..], &self.joint(frame, joint)].concat())?;
                    }
                }
            }
            What::Energy => put(&[&start[..], &energy(frame.ledger())].concat())?,
        }
        Ok(())
    }

    fn wants(&self, bodies: &[BodyKey]) -> bool {
        let wanted = |body: &BodyKey| self.wanted.iter().any(|name| name == self.name(*body));
        self.wanted.is_empty() || bodies.iter().any(wanted)
    }

    fn name(&self, body: BodyKey) -> &'a str {
        self.names.get(&body).map_or("", String::as_str)
    }

    fn body(&self, state: &BodyState) -> Vec<Cell<'a>> {
        let mut cells = vec![Cell::Text(self.name(state.body))];
        vector(&mut cells, Some(state.position));
        cells.extend(state.rotation.to_array().map(|value| Cell::Real(Some(value))));
        vector(&mut cells, Some(state.velocity));
        vector(&mut cells, Some(state.angular_velocity));
        cells
    }

    fn contact(&self, frame: &Frame, pair: &PairRecord, index: usize) -> Vec<Cell<'a>> {
        let (a, b) = (Cell::Text(self.name(pair.a)), Cell::Text(self.name(pair.b)));
        let mut cells = vec![a, b, Cell::Whole(index as u64)];
        let Some(point) = frame.points_of(pair).get(index) else { return cells };
        vector(&mut cells, Some(point.position));
        vector(&mut cells, Some(pair.normal));
        cells.push(Cell::Real(Some(point.gap)));
        let force = self.force(frame, point.total_impulse);
        vector(&mut cells, force);
        let normal = force.map(|force| force.dot(pair.normal));
        let friction = force.map(|force| (force - pair.normal * force.dot(pair.normal)).length());
        cells.extend([normal, friction, Some(pair.friction)].map(Cell::Real));
        // The engine's is a velocity along the normal, negative.
        cells.push(Cell::Real(Some(point.approach.abs())));
        cells
    }

    fn joint(&self, frame: &Frame, joint: &JointRecord) -> Vec<Cell<'a>> {
        let (a, b) = (Cell::Text(self.name(joint.a)), Cell::Text(self.name(joint.b)));
        let mut cells = vec![Cell::Whole(joint.index.into()), a, b];
        let force = self.force(frame, joint.impulse);
        vector(&mut cells, force);
        cells.push(Cell::Real(force.map(|force| force.length())));
        cells
    }

    /// The mean force over a step; before the first one there is none.
    fn force(&self, frame: &Frame, impulse: Vec3) -> Option<Vec3> {
        (frame.step > 0 && self.dt > 0.0).then(|| impulse / self.dt)
    }
}

fn vector(cells: &mut Vec<Cell<'_>>, value: Option<Vec3>) {
    match value {
        Some(value) => cells.extend(value.to_array().map(|value| Cell::Real(Some(value)))),
        None => cells.extend([Cell::Real(None); 3]),
    }
}

fn energy(ledger: Option<&Ledger>) -> Vec<Cell<'static>> {
    let Some(ledger) = ledger else { return vec![Cell::Real(None); ENERGY.len()] };
    let term = |of: fn(&ContactTerms) -> f64| ledger.terms.as_ref().map(of);
    let mut cells: Vec<Cell<'_>> = [
        Some(ledger.kinetic),
        Some(ledger.potential),
        term(|terms| terms.restitution),
        term(|terms| terms.friction),
        term(|terms| terms.joints),
        term(|terms| terms.correction),
        Some(ledger.damping),
        Some(ledger.user),
        Some(ledger.environment),
        term(|terms| terms.integration),
        Some(ledger.contact_work()),
        ledger.energy_error(),
    ]
    .map(Cell::Real)
    .into();
    vector(&mut cells, Some(ledger.momentum.linear));
    vector(&mut cells, Some(ledger.momentum.angular));
    cells
}

/// Refuses a table that the recording has nothing for.
pub fn check(what: What, recording: &Recording, wanted: &[String]) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::Input(format!("{}: {why}", recording.path().display())));
    match what {
        What::Contacts if !recording.header().recorded.contacts => {
            refuse("it was recorded without contacts (--record contacts=off)")
        }
        What::Joints => match recording.frames().next() {
            Some(Ok(frame)) if frame.joints.is_none() => {
                refuse("forces of joints were not recorded, by an engine older than that")
            }
            _ => Ok(()),
        },
        What::Energy if !wanted.is_empty() => Err(Failure::Input(
            "--body: energies are those of all bodies together; expected none with --what energy"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}
