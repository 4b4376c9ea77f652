//! The tables that can be exported: their columns, and the rows of a frame.

use std::borrow::Cow;

use clap::ValueEnum;
use msd_record::{BodyKey, BodyState, Frame, JointRecord, PairRecord, Recording};
use msd_sim::math::Vec3;
use msd_sim::{ContactTerms, Ledger};
use serde::{Serialize, Serializer};

use crate::failure::Failure;
use crate::names::Names;

/// A table that can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Motion: one row per body and step
    Bodies,
    /// Contact points and their forces: one row per point and step
    Contacts,
    /// Joint forces: one row per joint and step
    Joints,
    /// Energies and work of all bodies together: one row per step
    Energy,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Integers.
    Integer,
    /// Text.
    Text,
    /// Numbers; null where not measured.
    Real,
}

/// A value of a row.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// An integer.
    Integer(u64),
    /// Text.
    Text(Cow<'a, str>),
    /// A number; `None` if not measured.
    Real(Option<f64>),
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Real(number) => number.serialize(serializer),
        }
    }
}

/// Column names of each table. Vectors have one column per axis.
const STEP: [(&str, ColumnType); 2] = [("step", ColumnType::Integer), ("time", ColumnType::Real)];
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
    "normal_impulses",
    "friction",
    "joints",
    "position_correction",
    "damping",
    "applied_forces",
    "moving_environment",
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

impl Table {
    /// Returns the columns, in order.
    pub fn columns(self) -> Vec<(&'static str, ColumnType)> {
        let (names, reals): (&[(&str, ColumnType)], &[&str]) = match self {
            Self::Bodies => (&[("body", ColumnType::Text)], &BODIES),
            Self::Contacts => (
                &[("a", ColumnType::Text), ("b", ColumnType::Text), ("point", ColumnType::Integer)],
                &CONTACTS,
            ),
            Self::Joints => (
                &[("joint", ColumnType::Integer), ("a", ColumnType::Text), ("b", ColumnType::Text)],
                &JOINTS,
            ),
            Self::Energy => (&[], &ENERGY),
        };
        let reals = reals.iter().map(|&name| (name, ColumnType::Real));
        STEP.into_iter().chain(names.iter().copied()).chain(reals).collect()
    }
}

/// A builder of the rows of a table.
pub struct RowBuilder<'a> {
    pub table: Table,
    /// Names of bodies and colliders.
    pub names: &'a Names,
    /// Names of the bodies to write; empty selects all.
    pub selected: &'a [String],
    /// Time step, s.
    pub dt: f64,
}

impl<'a> RowBuilder<'a> {
    /// Emits the rows of a frame one by one.
    pub fn write_frame(
        &self,
        frame: &Frame,
        emit: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let start = [Cell::Integer(frame.step), Cell::Real(Some(frame.time))];
        match self.table {
            Table::Bodies => {
                for state in frame.states.iter().filter(|state| self.selects(&[state.body])) {
                    emit(&[&start[..], &self.body(state)].concat())?;
                }
            }
            Table::Contacts => {
                for pair in frame.contacts.iter().filter(|pair| self.selects(&[pair.a, pair.b])) {
                    for point in 0..pair.point_count as usize {
                        emit(&[&start[..], &self.contact(frame, pair, point)].concat())?;
                    }
                }
            }
            Table::Joints => {
                for joint in frame.joints.iter().flatten() {
                    if self.selects(&[joint.a, joint.b]) {
                        emit(&[&start[..], &self.joint(frame, joint)].concat())?;
                    }
                }
            }
            Table::Energy => emit(&[&start[..], &energy(frame.ledger())].concat())?,
        }
        Ok(())
    }

    fn selects(&self, bodies: &[BodyKey]) -> bool {
        let selected = |body: &BodyKey| self.selected.iter().any(|name| *name == self.name(*body));
        self.selected.is_empty() || bodies.iter().any(selected)
    }

    fn name(&self, body: BodyKey) -> Cow<'a, str> {
        self.names.body(body)
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
        let [a, b] = [(pair.a, pair.colliders[0]), (pair.b, pair.colliders[1])];
        let [a, b] = [a, b].map(|(body, collider)| Cell::Text(self.names.collider(body, collider)));
        let mut cells = vec![a, b, Cell::Integer(index as u64)];
        let Some(point) = frame.points_of(pair).get(index) else { return cells };
        vector(&mut cells, Some(point.position));
        vector(&mut cells, Some(pair.normal));
        cells.push(Cell::Real(Some(point.gap)));
        let force = self.force(frame, point.total_impulse);
        vector(&mut cells, force);
        let normal = force.map(|force| force.dot(pair.normal));
        let friction = force.map(|force| (force - pair.normal * force.dot(pair.normal)).length());
        cells.extend([normal, friction, Some(pair.friction)].map(Cell::Real));
        // The engine stores a velocity along the normal, which is negative.
        cells.push(Cell::Real(Some(point.approach.abs())));
        cells
    }

    fn joint(&self, frame: &Frame, joint: &JointRecord) -> Vec<Cell<'a>> {
        let (a, b) = (Cell::Text(self.name(joint.a)), Cell::Text(self.name(joint.b)));
        let mut cells = vec![Cell::Integer(joint.index.into()), a, b];
        let force = self.force(frame, joint.impulse);
        vector(&mut cells, force);
        cells.push(Cell::Real(force.map(|force| force.length())));
        cells
    }

    /// Returns the mean force over a step; `None` before the first step.
    fn force(&self, frame: &Frame, impulse: Vec3) -> Option<Vec3> {
        (frame.step > 0 && self.dt > 0.0).then(|| impulse / self.dt)
    }
}

fn vector(cells: &mut Vec<Cell<'_>>, value: Option<Vec3>) {
    match value {
        Some(value) => cells.extend(value.to_array().map(|value| Cell::Real(Some(value)))),
        None => cells.extend([None; 3].map(Cell::Real)),
    }
}

fn energy(ledger: Option<&Ledger>) -> Vec<Cell<'static>> {
    let Some(ledger) = ledger else { return vec![Cell::Real(None); ENERGY.len()] };
    let term = |of: fn(&ContactTerms) -> f64| ledger.terms.as_ref().map(of);
    let mut cells: Vec<Cell<'_>> = [
        Some(ledger.kinetic),
        Some(ledger.potential),
        term(|terms| terms.normal_impulses),
        term(|terms| terms.friction),
        term(|terms| terms.joints),
        term(|terms| terms.position_correction),
        Some(ledger.damping),
        Some(ledger.applied_forces),
        Some(ledger.moving_environment),
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

/// Rejects a table for which the recording holds no data.
pub fn check(table: Table, recording: &Recording, selected: &[String]) -> Result<(), Failure> {
    let reject = |why: &str| Err(Failure::Input(format!("{}: {why}", recording.path().display())));
    match table {
        Table::Contacts if !recording.header().recorded.contacts => {
            reject("it was recorded without contacts (--record contacts=off)")
        }
        Table::Joints => match recording.frames().next() {
            Some(Ok(frame)) if frame.joints.is_none() => reject(
                "forces of joints were not recorded: an older version of msd wrote the recording",
            ),
            _ => Ok(()),
        },
        Table::Energy if !selected.is_empty() => Err(Failure::Input(
            "--body cannot be used with --what energy: energies are of all bodies together"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}
