//! The warnings about lengths that seem to be in another unit.

use msd_sim::BodyKind;
use msd_sim::geometry::Aabb;
use msd_sim::math::Vec3;

use super::{Lint, MAX_LISTED, label, label_of, length, time};
use crate::build::DEFAULT_DT;
use crate::file::MeshInfo;

/// Gravity of planets and moons, m/s^2. Other values give no indication of the unit of lengths.
const GRAVITY: std::ops::RangeInclusive<f64> = 1.0..=30.0;
/// Time steps of a fall from rest by a body's own width, beyond which the body is suspiciously large: 85 m at
/// 9.81 m/s^2 and 60 Hz.
const LARGE_BODY: f64 = 250.0;
/// The same for a mesh without a `scale`: 10 m.
const LARGE_MESH: f64 = 86.0;
/// Size ratio to all other bodies beyond which a mesh is probably in another unit; and ratio of the distance of a collider
/// from the others of its body to the largest of them, beyond which its position is.
const OTHER_UNIT: f64 = 100.0;
/// Maximum colliders of a body whose distances from each other are compared.
const MAX_COMPARED: usize = 1000;

impl Lint<'_> {
    /// Checks whether lengths seem to be in another unit, judged by gravity, the time step and the other bodies.
    pub(super) fn units(&mut self) {
        let mut sizes: Vec<Size> = Vec::new();
        let mut found: Vec<(String, String)> = Vec::new();
        let mut seen = vec![false; self.file.scene().body.len()];
        for body in self.simulation.world().bodies() {
            // Copies in an array all have the same size.
            let table =
                self.table_of(&body).filter(|&table| !std::mem::replace(&mut seen[table], true));
            let Some(table) = table else { continue };
            let bounds = body.colliders().map(|part| part.shape().bounds(&part.place()));
            let bounds: Vec<Aabb> = bounds.collect();
            let Some(all) = bounds.iter().copied().reduce(|all, one| all.union(&one)) else {
                continue;
            };
            let (list, tables) = self.file.scene().body[table].colliders();
            // Of two, the one farther from the origin of their frame is probably misplaced.
            let away = |number: usize| Vec3::from_array(tables[number].position).length();
            let farthest = remote(&bounds).max_by(|a, b| away(a.0).total_cmp(&away(b.0)));
            if let Some((number, distance)) = farthest {
                let name = match tables[number].name.as_str() {
                    "" => label_of(body.name(), &format!("collider {number}")),
                    name => label_of(body.name(), name),
                };
                let message = format!(
                    "{name} is {} from all other colliders of its body, more than {OTHER_UNIT} times the extent of the \
                     largest. Is its position in mm? Lengths are in meters",
                    length(distance)
                );
                found.push((format!("body[{table}].{list}[{number}].position"), message));
            }
            if body.kind() != BodyKind::Inertial {
                continue;
            }
            for (number, (collider, bounds)) in body.colliders().zip(&bounds).enumerate() {
                let (name, width) = (label(&body, &collider), 2.0 * collider.size());
                // Ordered by body and collider.
                let at = |mesh: &MeshInfo| (mesh.body, mesh.collider);
                let mesh = self.file.meshes().binary_search_by_key(&(table, number), at);
                let mesh = mesh.ok().map(|index| &self.file.meshes()[index]);
                let whole = (number == 0).then(|| (format!("\"{}\"", body.name()), extent(&all)));
                let (at, unit) = ((table, number), mesh.map(|mesh| mesh.scaled));
                sizes.push(Size { at, name, width, extent: extent(bounds), whole, unit });
            }
        }
        sizes.sort_by(|a, b| a.extent.total_cmp(&b.extent));
        found.extend(sizes.iter().filter_map(|size| {
            let message = self.scale_of_gravity(size).or_else(|| scale_of_others(size, &sizes));
            message.map(|message| (self.shape_path(size.at.0, size.at.1), message))
        }));
        let more = found.len().saturating_sub(MAX_LISTED);
        for (path, message) in found.into_iter().take(MAX_LISTED) {
            self.report("units", path, message);
        }
        if more > 0 {
            let message = format!("{more} more bodies have sizes that seem to be in another unit");
            self.report("units", String::new(), message);
        }
    }

    /// Judges a body's size by the number of steps it takes to fall that far, if gravity is in meters.
    fn scale_of_gravity(&self, size: &Size) -> Option<String> {
        let (gravity, dt) =
            (self.simulation.world().settings().gravity.length(), self.simulation.dt());
        if !GRAVITY.contains(&gravity) {
            return None;
        }
        let fall = |length: f64| (2.0 * length / gravity).sqrt();
        let Size { name, width, whole, unit, .. } = size;
        // Steps shorter than the default are chosen for accuracy; they do not make a body large.
        let steps = fall(*width) / dt.max(DEFAULT_DT);
        if steps > if *unit == Some(false) { LARGE_MESH } else { LARGE_BODY } {
            let help = match unit {
                None => "Is it in mm? Lengths are in meters",
                Some(true) => {
                    "Is its `scale` right? It is the length of a unit of the mesh in meters"
                }
                Some(false) => {
                    "Is the mesh in mm? Then add `scale = 0.001`, or `scale = 1` if it is in meters"
                }
            };
            return Some(format!(
                "{name} is {} wide and takes {} to fall by its width. {help}",
                length(*width),
                time(fall(*width))
            ));
        }
        whole.as_ref().filter(|(_, whole)| fall(*whole) < dt).map(|(name, whole)| {
            let help = match unit {
                None => "Lengths are in meters",
                Some(_) => "`scale` is the length of a unit of the mesh in meters",
            };
            format!(
                "{name} is {} long and falls by more than that in a step of {}. {help}; if this is intended, \
                 use a time step below {}",
                length(*whole),
                time(dt),
                time(fall(*whole))
            )
        })
    }
}

/// The size of a collider of the bodies of a table, m.
struct Size {
    /// Index of the table and number of the collider.
    at: (usize, usize),
    name: String,
    /// Smallest width.
    width: f64,
    /// Longest side of the bounding box.
    extent: f64,
    /// Name and longest side of the bounding box of the body; for its first collider only, to report a body once.
    whole: Option<(String, f64)>,
    /// For meshes, whether the scene gives a `scale`.
    unit: Option<bool>,
}

/// Judges a mesh's size by comparison with the other colliders, which are sorted by size.
fn scale_of_others(size: &Size, sizes: &[Size]) -> Option<String> {
    let Size { name, extent, unit, .. } = size;
    unit.as_ref()?;
    let mut others = sizes.iter().filter(|other| other.unit.is_none());
    let (smallest, largest) = (others.clone().next()?.extent, others.next_back()?.extent);
    let (than, other, times) = match () {
        () if *extent > OTHER_UNIT * largest => {
            ("larger than the largest", largest, extent / largest)
        }
        () if *extent < smallest / OTHER_UNIT => {
            ("smaller than the smallest", smallest, smallest / extent)
        }
        () => return None,
    };
    Some(format!(
        "{name} is {} long, {times:.0} times {than} body that is no mesh ({}). In which unit is the mesh? \
         `scale` is the length of that unit in meters: 0.001 for mm",
        length(*extent),
        length(other)
    ))
}

/// Returns the numbers of the colliders that are far from all others of their body, with their distances from them; `bounds`
/// are those of the colliders in the body.
fn remote(bounds: &[Aabb]) -> impl Iterator<Item = (usize, f64)> {
    let limit = OTHER_UNIT * bounds.iter().map(extent).fold(0.0, f64::max);
    let gap = |a: &Aabb, b: &Aabb| (a.min - b.max).max(b.min - a.max).max(Vec3::ZERO).length();
    let compared = if bounds.len() > MAX_COMPARED { &[] } else { bounds };
    compared.iter().enumerate().filter_map(move |(number, one)| {
        let others = bounds[..number].iter().chain(&bounds[number + 1..]);
        let nearest = others.map(|other| gap(one, other)).min_by(f64::total_cmp)?;
        (nearest > limit).then_some((number, nearest))
    })
}

/// Returns the longest side of a box, m.
fn extent(bounds: &Aabb) -> f64 {
    (bounds.max - bounds.min).max_element()
}
