//! Warnings about scenes that are valid but probably mistaken, or hard to simulate accurately.

mod units;

use std::collections::HashMap;

use msd_sim::geometry::{ConvexHull, MassProperties, Shape, distance};
use msd_sim::math::{Mat3, Vec3};
use msd_sim::{Body, BodyKind, ColliderView, Continuous, Method};

use crate::error::SceneError;
use crate::file::{MeshInfo, SceneFile};
use crate::format::{BodyTable, JointName, Kind, PotentialName};
use crate::mesh::Surface;
use crate::simulation::Simulation;

/// Overlap below which bodies count as touching, as a fraction of the smaller one's half width.
const TOUCHING: f64 = 1e-6;
/// Mass ratio beyond which sweeping solvers converge poorly.
const MASS_RATIO: f64 = 1000.0;
/// Thickness below which a hull is a sliver, as a fraction of its extent.
const SLIVER: f64 = 1e-3;
/// Maximum rotation of a body per step, rad: beyond it, contacts are found too late.
const MAX_ROTATION: f64 = 1.0;
/// Maximum phase of a spring's oscillation per step, rad.
const MAX_PHASE: f64 = 1.0;
/// Fraction of a hull's volume that its mesh may leave empty: faceted curved surfaces and rounding stay below it.
const MAX_HOLLOW: f64 = 0.01;
/// Maximum findings of one rule that are listed individually.
const MAX_LISTED: usize = 10;

/// A warning about a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that raised it, such as `overlap`.
    pub rule: &'static str,
    /// Path of the field, such as `body[3].position`; may be empty.
    pub path: String,
    /// Line and column of the field, if it is in the file.
    pub position: Option<(usize, usize)>,
    /// The finding, and advice.
    pub message: String,
}

/// Checks a scene for probable mistakes without running it.
pub fn lint(file: &SceneFile) -> Result<Vec<Finding>, SceneError> {
    let simulation = file.build()?;
    let tables = file.scene().body.iter().enumerate();
    let tables = tables.map(|(index, table)| (table.name_or(index), index)).collect();
    let mut lint = Lint { file, simulation: &simulation, tables, findings: Vec::new() };
    lint.empty();
    lint.friction();
    lint.overlaps();
    lint.mass_ratio();
    for body in simulation.world().bodies() {
        lint.inertia(&body);
        lint.slivers(&body);
    }
    lint.collisions_of_joints();
    lint.time_step();
    lint.meshes();
    lint.units();
    Ok(lint.findings)
}

struct Lint<'a> {
    file: &'a SceneFile,
    simulation: &'a Simulation,
    /// Index of each body table by name.
    tables: HashMap<String, usize>,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn report(&mut self, rule: &'static str, path: String, message: String) {
        let position = if path.is_empty() { None } else { self.file.position_of(&path) };
        self.findings.push(Finding { rule, path, position, message });
    }

    /// Returns the index of the table that defines a body.
    fn table_of(&self, body: &Body<'_>) -> Option<usize> {
        let name = body.name();
        // A copy in an array is named after its table, with three indices in brackets.
        let table = || name.rsplit_once('[').and_then(|(table, _)| self.tables.get(table));
        self.tables.get(name).or_else(table).copied()
    }

    /// Returns the path of the table that defines a body.
    fn path_of(&self, body: &Body<'_>) -> String {
        self.table_of(body).map_or(String::new(), |index| format!("body[{index}]"))
    }

    fn empty(&mut self) {
        if !self.simulation.world().bodies().any(|body| body.kind() == BodyKind::Inertial) {
            let message = "there is no inertial body, so nothing can move under forces".to_owned();
            self.report("empty", String::new(), message);
        }
    }

    fn friction(&mut self) {
        let world = self.simulation.world();
        let rough = world
            .colliders()
            .any(|collider| !collider.is_sensor() && collider.material().friction() > 0.0);
        if world.settings().method == Method::ActiveSet && rough {
            let message = "active-set ignores friction, but some materials have friction";
            self.report("friction", "world.solver".to_owned(), message.to_owned());
        }
    }

    /// Steps a copy by a negligible time to find the initial contacts.
    fn overlaps(&mut self) {
        let mut world = self.simulation.world().clone();
        if world.step(1e-12).is_err() {
            return;
        }
        let mut deep: Vec<(f64, f64, String, String, String)> = Vec::new();
        for contact in world.contacts() {
            let [Ok(a), Ok(b)] = contact.colliders().map(|id| world.collider(id)) else { continue };
            let (Ok(first), Ok(second)) = (world.body(a.body()), world.body(b.body())) else {
                continue;
            };
            let size = a.size().min(b.size());
            let depth = contact.points().iter().map(|point| -point.gap).fold(0.0, f64::max);
            if depth > TOUCHING * size {
                let names = (label(&first, &a), label(&second, &b));
                deep.push((depth / size, depth, names.0, names.1, self.path_of(&second)));
            }
        }
        deep.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = deep.len().saturating_sub(MAX_LISTED);
        for (share, depth, a, b, path) in deep.into_iter().take(MAX_LISTED) {
            let message = format!(
                "{a} and {b} overlap at the start by {} ({:.2} % of the smaller one's half \
                 width) and will be pushed apart",
                length(depth),
                100.0 * share
            );
            self.report("overlap", format!("{path}.position"), message);
        }
        if more > 0 {
            self.report(
                "overlap",
                String::new(),
                format!("{more} more pairs overlap at the start"),
            );
        }
    }

    fn mass_ratio(&mut self) {
        let world = self.simulation.world();
        let inertial = || world.bodies().filter(|body| body.kind() == BodyKind::Inertial);
        let by_mass = |a: &Body<'_>, b: &Body<'_>| a.mass().total_cmp(&b.mass());
        let (Some(light), Some(heavy)) = (inertial().min_by(by_mass), inertial().max_by(by_mass))
        else {
            return;
        };
        let ratio = heavy.mass() / light.mass();
        if ratio > MASS_RATIO {
            let message = format!(
                "\"{}\" has {ratio:.0} times the mass of \"{}\": if they touch, check the residual",
                heavy.name(),
                light.name()
            );
            self.report("mass-ratio", format!("{}.mass", self.path_of(&heavy)), message);
        }
    }

    fn inertia(&mut self, body: &Body<'_>) {
        let path = self.path_of(body);
        let given = self.table(&path).is_some_and(|table| table.inertia.is_some());
        if !given {
            return;
        }
        let moments = principal(body.mass(), body.inertia());
        // Equality means a flat body; the margin is for rounding.
        if moments.z > (moments.x + moments.y) * (1.0 + 1e-9) {
            let message = format!(
                "principal moments {:.6e}, {:.6e}, {:.6e} kg m^2: in a real body none exceeds the sum \
                 of the others",
                moments.x, moments.y, moments.z
            );
            self.report("inertia", format!("{path}.inertia"), message);
        }
    }

    fn table(&self, path: &str) -> Option<&BodyTable> {
        let index = path.strip_prefix("body[")?.strip_suffix(']')?.parse::<usize>().ok()?;
        self.file.scene().body.get(index)
    }

    fn slivers(&mut self, body: &Body<'_>) {
        for (number, collider) in body.colliders().enumerate() {
            if let Shape::Hull(hull) = collider.shape() {
                self.sliver(body, &collider, number, hull);
            }
        }
    }

    /// Returns the path of the shape of a body's nth collider.
    fn shape_path(&self, table: usize, number: usize) -> String {
        let place = self.file.scene().body[table].shapes().nth(number);
        place.map_or(String::new(), |(place, _)| format!("body[{table}].{place}"))
    }

    fn sliver(
        &mut self,
        body: &Body<'_>,
        collider: &ColliderView<'_>,
        number: usize,
        hull: &ConvexHull,
    ) {
        let extent = hull
            .vertices()
            .iter()
            .map(|vertex| (*vertex - hull.centroid()).length())
            .fold(0.0, f64::max);
        let share = hull.least_width() / (2.0 * extent);
        if share >= SLIVER {
            return;
        }
        let path =
            self.table_of(body).map_or(String::new(), |table| self.shape_path(table, number));
        let path = format!("{path}.hull");
        let reported =
            self.findings.iter().any(|found| found.rule == "sliver" && found.path == path);
        if !reported {
            let message = format!(
                "{} is only {} thick with an extent of {}: contacts of slivers are ill-conditioned",
                label(body, collider),
                length(hull.least_width()),
                length(2.0 * extent)
            );
            self.report("sliver", path, message);
        }
    }

    /// Checks whether any motion is too large for the time step, and computes the longest adequate one.
    fn time_step(&mut self) {
        let (world, dt) = (self.simulation.world(), self.simulation.dt());
        let gravity = world.settings().gravity.length();
        // Continuous collision detection handles fast bodies, unless the scene disables it.
        let continuous = world.settings().continuous != Continuous::Never;
        let free = continuous || world.bodies().len() < 2;
        // Upper bounds on the time step, with their reasons.
        let mut limits: Vec<(f64, String)> = Vec::new();
        for body in world.bodies() {
            let width = 2.0 * body.size();
            let speed = body.linear_velocity().length();
            if !free {
                let why = format!(
                    "\"{}\", {} wide, moves {} in a step and may tunnel through another body",
                    body.name(),
                    length(width),
                    length(speed * dt)
                );
                limits.push((width / speed, why));
            }
            if !free && body.kind() == BodyKind::Inertial {
                let why = format!(
                    "\"{}\", {} wide, falls by more than its width in one step from rest",
                    body.name(),
                    length(width)
                );
                limits.push(((2.0 * width / gravity).sqrt(), why));
            }
            let spin = body.angular_velocity().length();
            let why = format!("\"{}\" rotates by {:.2} rad in a step", body.name(), spin * dt);
            limits.push((MAX_ROTATION / spin, why));
        }
        let springs = self.springs();
        let masses: HashMap<&str, f64> = match springs.is_empty() {
            true => HashMap::new(),
            false => world.bodies().map(|body| (body.name(), body.inverse_mass())).collect(),
        };
        for (path, names, stiffness) in springs {
            // Two connected bodies oscillate with their reduced mass.
            let inverse: f64 = names.iter().filter_map(|name| masses.get(name.as_str())).sum();
            let rate = (stiffness * inverse).sqrt();
            let period = time(std::f64::consts::TAU / rate);
            limits.push((MAX_PHASE / rate, format!("{path} oscillates with a period of {period}")));
        }
        let least = limits.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((advised, why)) = least.filter(|(limit, _)| *limit < dt) {
            let message =
                format!("{} is too long: {why}; advised at most {}", time(dt), time(advised));
            self.report("time-step", "world.dt".to_owned(), message);
        }
    }

    /// Checks for springs and ropes that switch off the collisions of bodies apart from each other: unlike rigid joints, they do
    /// not keep the bodies from meeting.
    fn collisions_of_joints(&mut self) {
        let world = self.simulation.world();
        let bodies: HashMap<&str, Body<'_>> = match self.file.scene().joint.is_empty() {
            true => HashMap::new(),
            false => world.bodies().map(|body| (body.name(), body)).collect(),
        };
        let meet_later = |a: &Body<'_>, b: &Body<'_>| {
            let (of_a, of_b) = (touching(a), touching(b));
            let pairs = || of_a.iter().flat_map(|a| of_b.iter().map(move |b| (a, b)));
            pairs().any(|(a, b)| a.filter().allows(&b.filter()))
                && pairs().all(|(a, b)| distance(a.shape(), &a.pose(), b.shape(), &b.pose()) > 0.0)
        };
        let mut found = Vec::new();
        for (index, joint) in self.file.scene().joint.iter().enumerate() {
            let what = match (joint.kind, joint.stiffness, joint.length) {
                (JointName::Ball, ..) | (_, None, Some(_)) => continue,
                (_, Some(_), _) => "spring",
                (_, None, None) => "rope",
            };
            let ends = bodies.get(joint.a.as_str()).zip(bodies.get(joint.b.as_str()));
            if joint.collide.is_none() && ends.is_some_and(|(a, b)| meet_later(a, b)) {
                let message = format!(
                    "the {what} between \"{}\" and \"{}\" switches off their collisions, so that they can pass through each other; \
                     `collide = true` keeps them, `collide = false` silences this",
                    joint.a, joint.b
                );
                found.push((format!("joint[{index}]"), message));
            }
        }
        let more = found.len().saturating_sub(MAX_LISTED);
        for (path, message) in found.into_iter().take(MAX_LISTED) {
            self.report("collide", path, message);
        }
        if more > 0 {
            let message = format!("{more} more springs and ropes switch off collisions");
            self.report("collide", String::new(), message);
        }
    }

    /// Checks for meshes that are not convex and thus differ from their hulls.
    fn meshes(&mut self) {
        for mesh in self.file.meshes() {
            let MeshInfo { body, collider, file, surface, hull_volume, .. } = mesh;
            let table = &self.file.scene().body[*body];
            let own = table.colliders().1.get(*collider);
            let name = own.map_or("", |own| &own.name);
            let name = label_of(&table.name_or(*body), name);
            let given = table.mass.or(own.and_then(|own| own.mass));
            let message = match *surface {
                Surface::Closed { volume } if volume < (1.0 - MAX_HOLLOW) * hull_volume => {
                    let more = 100.0 * (hull_volume / volume - 1.0);
                    let besides = match (table.kind, given) {
                        (Kind::Environment, _) => "contacts are those of the hull".to_owned(),
                        (Kind::Inertial, None) => format!(
                            "its mass is {more:.0} % too large, contacts and inertia are those of the hull"
                        ),
                        (Kind::Inertial, Some(_)) => {
                            "contacts and inertia are those of the hull".to_owned()
                        }
                    };
                    format!(
                        "{name}: {file:?} is not convex, and its convex hull also fills the hollows: {} \
                         instead of {}, {more:.0} % more; {besides}",
                        cubic(*hull_volume),
                        cubic(volume)
                    )
                }
                Surface::Open => format!(
                    "{name}: the surface of {file:?} is not closed, or its faces have inconsistent winding: \
                     its volume is unknown, and so is how much its hull, {}, exceeds it",
                    cubic(*hull_volume)
                ),
                _ => continue,
            };
            let path = self.shape_path(*body, *collider);
            self.report("convex", format!("{path}.hull.mesh"), message);
        }
    }

    /// Returns all springs: path, names of the bodies, stiffness in N/m.
    fn springs(&self) -> Vec<(String, Vec<String>, f64)> {
        let scene = self.file.scene();
        let mut springs = Vec::new();
        for (index, joint) in scene.joint.iter().enumerate() {
            if let (JointName::Distance, Some(stiffness)) = (joint.kind, joint.stiffness) {
                let names = vec![joint.a.clone(), joint.b.clone()];
                springs.push((format!("joint[{index}]"), names, stiffness));
            }
        }
        for (index, potential) in scene.potential.iter().enumerate() {
            if let (PotentialName::Spring, Some(name), Some(stiffness)) =
                (potential.kind, &potential.body, potential.stiffness)
            {
                springs.push((format!("potential[{index}]"), vec![name.clone()], stiffness));
            }
        }
        springs
    }
}

/// Names a collider in a message.
fn label(body: &Body<'_>, collider: &ColliderView<'_>) -> String {
    label_of(body.name(), collider.name())
}

/// Names a collider by the name of its body, and its own if it has one.
fn label_of(body: &str, collider: &str) -> String {
    if collider.is_empty() { format!("\"{body}\"") } else { format!("\"{body}/{collider}\"") }
}

/// Returns the principal moments in ascending order, kg m^2.
fn principal(mass: f64, inertia: Mat3) -> Vec3 {
    let properties =
        MassProperties { mass, volume: 1.0, area: 1.0, center_of_mass: Vec3::ZERO, inertia };
    properties.principal().moments
}

fn length(meters: f64) -> String {
    with_prefix(meters, "m")
}

fn time(seconds: f64) -> String {
    with_prefix(seconds, "s")
}

/// Formats a volume without prefixes, whose cubes are hard to read.
fn cubic(volume: f64) -> String {
    match volume {
        v if (0.1..1e4).contains(&v) => format!("{v:.3} m^3"),
        v if (1e-7..0.1).contains(&v) => format!("{:.3} cm^3", v * 1e6),
        v => format!("{v:.3e} m^3"),
    }
}

/// Formats a value with three digits and a suitable prefix.
fn with_prefix(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 5] =
        [(1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")];
    // A value that rounds to 1000 of a unit is shown as 1 of the next.
    let fitting = PREFIXES.iter().find(|(factor, _)| value.abs() >= 0.9995 * factor);
    match fitting {
        Some((factor, prefix)) => {
            let scaled = value / factor;
            let decimals = 2_usize.saturating_sub(scaled.abs().log10() as usize);
            format!("{scaled:.decimals$} {prefix}{unit}")
        }
        None => format!("{value:.2e} {unit}"),
    }
}

/// Returns the colliders of a body that can touch others.
fn touching<'a>(body: &Body<'a>) -> Vec<ColliderView<'a>> {
    body.colliders().filter(|collider| collider.is_enabled() && !collider.is_sensor()).collect()
}
