//! Builds the bodies of a scene: shapes, poses, masses and materials.

use msd_sim::error::BodyError;
use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, Pose, Quat, Vec3, rotation};
use msd_sim::{BodyDef, Colliders, Combine, Filter, Material};

use super::Builder;
use crate::error::Fault;
use crate::format::{
    BodyTable, CombineRef, CombineTable, FilterTable, Kind, MaterialRef, MaterialTable,
    OrientationTable, Origin, ShapeTable,
};
use crate::limits::Limits;
use crate::random::Random;

/// Maximum deviation of a quaternion from unit length: less is rounding, more is a mistake.
const UNIT_TOLERANCE: f64 = 0.01;

impl Builder<'_> {
    pub(super) fn add_body(
        &mut self,
        path: &str,
        table: &BodyTable,
        limits: &Limits,
    ) -> Result<(), Fault> {
        let colliders = self.colliders(path, table, limits)?;
        let base = self.definition(path, table, colliders)?;
        let turned = orientation(&format!("{path}.orientation"), table.orientation.as_ref())?;
        let name = if table.name.is_empty() { path } else { &table.name };
        let placed = |turn: Quat, shift: Vec3| {
            let position = Vec3::from_array(table.position) + shift;
            base.clone().position(position).orientation(turn)
        };
        let Some(array) = &table.array else {
            return self.insert(path, table, name.to_owned(), placed(turned, Vec3::ZERO));
        };
        let spacing = Vec3::from_array(array.spacing);
        if !(array.jitter >= 0.0) {
            let message = format!("{}: expected a length of at least 0 in meters", array.jitter);
            return Err(Fault::of(&format!("{path}.array.jitter"), message));
        }
        let mut random = Random::new(u64::from(array.seed));
        for (x, y, z) in grid(array.count) {
            let at = spacing * Vec3::new(x as f64, y as f64, z as f64);
            let mut shake = || array.jitter * random.symmetric();
            let shift = at + Vec3::new(shake(), shake(), shake());
            let turn = if array.random_orientation { random.rotation() * turned } else { turned };
            let name = format!("{name}[{x},{y},{z}]");
            self.insert(path, table, name, placed(turn, shift))?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        path: &str,
        table: &BodyTable,
        name: String,
        def: BodyDef,
    ) -> Result<(), Fault> {
        if self.bodies.contains_key(&name) {
            let message = format!("\"{name}\": expected a name that no other body has");
            return Err(Fault::of(&format!("{path}.name"), message));
        }
        let added = self.world.add_body(def.name(&name));
        let id = added.map_err(|error| body_fault(path, table, &error))?;
        if let (Origin::Shape, Ok(body)) = (table.origin(), self.world.body(id)) {
            self.offsets.insert(id, body.origin());
        }
        self.bodies.insert(name, id);
        Ok(())
    }

    fn definition(
        &self,
        path: &str,
        table: &BodyTable,
        colliders: Colliders,
    ) -> Result<BodyDef, Fault> {
        let mut def = match table.kind {
            Kind::Inertial => BodyDef::inertial(colliders),
            Kind::Environment => BodyDef::environment(colliders),
        };
        check_mass(path, table.kind, table.mass, table.density)?;
        if table.kind == Kind::Environment && table.inertia.is_some() {
            return Err(Fault::of(&format!("{path}.inertia"), NO_MASS));
        }
        match (table.mass, table.density) {
            (Some(mass), _) => def = def.mass(mass),
            (None, Some(density)) => def = def.density(density),
            (None, None) => {}
        }
        if let Some(inertia) = &table.inertia {
            def = def.inertia(tensor(&format!("{path}.inertia"), inertia)?);
        }
        if let Some(center) = table.center_of_mass {
            def = def.center_of_mass(Vec3::from_array(center));
        }
        if let Some(material) = &table.material {
            def = def.material(self.material(&format!("{path}.material"), material)?);
        }
        if let Some(damping) = table.damping {
            def = def.damping(damping.linear, damping.angular);
        }
        if let Some(scale) = table.gravity_scale {
            def = def.gravity_scale(scale);
        }
        if let Some(filter) = table.filter {
            def = def.filter(filter.into());
        }
        Ok(def
            .origin(table.origin().into())
            .velocity(Vec3::from_array(table.velocity))
            .angular_velocity(Vec3::from_array(table.angular_velocity)))
    }

    pub(super) fn material(&self, path: &str, given: &MaterialRef) -> Result<Material, Fault> {
        match given {
            MaterialRef::Inline(table) => material_of(table, path),
            MaterialRef::Name(name) => match self.scene.materials.get(name) {
                Some(table) => Ok(material_of(table, path)?.tagged(self.tag(path, name)?)),
                None => Err(self.no_material(path, name)),
            },
        }
    }

    /// Returns the tag of a named material: its number, counted from 1.
    fn tag(&self, path: &str, name: &str) -> Result<u32, Fault> {
        let number = self.scene.materials.keys().position(|known| known == name);
        let number = number.ok_or_else(|| self.no_material(path, name))?;
        Ok(number as u32 + 1)
    }

    fn no_material(&self, path: &str, name: &str) -> Fault {
        let known = self.scene.materials.keys().map(String::as_str);
        Fault::of(path, format!("there is no material \"{name}\"")).nearest(name, known)
    }

    /// Sets how two materials combine.
    pub(super) fn set_combine(&mut self, path: &str, table: &CombineTable) -> Result<(), Fault> {
        let a = self.tag(&format!("{path}.a"), &table.a)?;
        let b = self.tag(&format!("{path}.b"), &table.b)?;
        let rule = |given: Option<CombineRef>| given.map(Into::into).unwrap_or_default();
        let rules =
            Combine { restitution: rule(table.restitution), friction: rule(table.friction) };
        self.world.set_combine(a, b, Some(rules)).map_err(|error| {
            // The engine's text begins with `material.friction`; here the path names the table.
            let text = error.to_string();
            Fault::engine(path, text.trim_start_matches("material."))
        })
    }
}

impl From<FilterTable> for Filter {
    fn from(FilterTable { groups, mask }: FilterTable) -> Self {
        Self { groups, mask }
    }
}

const NO_MASS: &str = "an environment body cannot have a mass; remove it";

/// Rejects the mass and density of a body or collider that are given both, or for a body that forces do not move.
pub(super) fn check_mass(
    path: &str,
    kind: Kind,
    mass: Option<f64>,
    density: Option<f64>,
) -> Result<(), Fault> {
    let (field, message) = match (kind, mass, density) {
        (Kind::Environment, Some(_), _) => ("mass", NO_MASS),
        (Kind::Environment, None, Some(_)) => ("density", NO_MASS),
        (Kind::Inertial, Some(_), Some(_)) => {
            ("mass", "expected either `mass` or `density`, found both")
        }
        _ => return Ok(()),
    };
    Err(Fault::of(&format!("{path}.{field}"), message))
}

/// Converts an error of the engine about a body, with the field's name in scenes.
fn body_fault(path: &str, table: &BodyTable, error: &BodyError) -> Fault {
    let text = error.to_string();
    if let BodyError::TooLarge { field: "collider.position", value, .. } = error {
        let (list, tables) = table.colliders();
        let index = tables.iter().position(|table| table.position == value.to_array());
        let path = format!("{path}.{list}[{}]", index.unwrap_or(0));
        return Fault::engine(&path, text.trim_start_matches("collider."));
    }
    let text = match text.split_once("_damping") {
        Some((part @ ("linear" | "angular"), rest)) => format!("damping.{part}{rest}"),
        _ => text,
    };
    Fault::engine(path, text)
}

/// Iterates over the indices of a grid, x fastest.
fn grid([nx, ny, nz]: [u64; 3]) -> impl Iterator<Item = (u64, u64, u64)> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (x, y, z))))
}

pub(super) fn shape(path: &str, table: &ShapeTable, limits: &Limits) -> Result<Shape, Fault> {
    let (name, shape) = match table {
        ShapeTable::Sphere { radius } => ("sphere", Shape::sphere(*radius)),
        ShapeTable::Capsule { radius, half_height } => {
            ("capsule", Shape::capsule(*radius, *half_height))
        }
        ShapeTable::Cylinder { radius, half_height } => {
            ("cylinder", Shape::cylinder(*radius, *half_height))
        }
        ShapeTable::Cone { radius, half_height } => ("cone", Shape::cone(*radius, *half_height)),
        ShapeTable::Cuboid { half_extents } => {
            ("cuboid", Shape::cuboid(Vec3::from_array(*half_extents)))
        }
        ShapeTable::HalfSpace { normal, offset } => {
            ("half_space", Shape::half_space(Vec3::from_array(*normal), *offset))
        }
        ShapeTable::Hull { points, mesh, scale } => {
            let path = format!("{path}.hull");
            if mesh.is_some() {
                let message = "meshes can be read only for a scene that is itself a file";
                return Err(Fault::of(&format!("{path}.mesh"), message));
            }
            let Some(points) = points else {
                return Err(Fault::of(&path, "expected `points` or `mesh`"));
            };
            if points.len() as u64 > limits.points {
                let message = format!(
                    "{} points: more than {}, the limit for a hull",
                    points.len(),
                    limits.points
                );
                return Err(Fault::of(&format!("{path}.points"), message)
                    .help("raise it with --max-points"));
            }
            let scale = scale.unwrap_or(1.0);
            let points: Vec<Vec3> =
                points.iter().map(|point| Vec3::from_array(*point) * scale).collect();
            ("hull", Shape::hull(&points))
        }
        ShapeTable::Compound(_) => {
            let message = "a collider cannot be a compound: list its colliders in the body";
            return Err(Fault::of(&format!("{path}.compound"), message));
        }
    };
    shape.map_err(|error| Fault::engine(&format!("{path}.{name}"), error))
}

pub(crate) fn orientation(path: &str, table: Option<&OrientationTable>) -> Result<Quat, Fault> {
    let Some(&OrientationTable { axis, angle_deg, quaternion, euler_deg }) = table else {
        return Ok(Quat::IDENTITY);
    };
    match (axis, angle_deg, quaternion, euler_deg) {
        (Some(axis), Some(angle), None, None) => {
            let axis = Vec3::from_array(axis);
            if axis == Vec3::ZERO {
                return Err(Fault::of(
                    &format!("{path}.axis"),
                    "expected a vector that is not zero",
                ));
            }
            Ok(rotation(axis, angle.to_radians()))
        }
        (None, None, Some(quaternion), None) => {
            let given = Quat::from_array(quaternion);
            let length = given.length();
            if !((length - 1.0).abs() <= UNIT_TOLERANCE) {
                let message = format!("length {length}: expected a quaternion of unit length");
                return Err(Fault::of(&format!("{path}.quaternion"), message));
            }
            // Normalizes rounded digits; leaves an exact quaternion unchanged to the bit.
            let exact = Pose::new(Vec3::ZERO, given).is_valid();
            Ok(if exact { given } else { given / length })
        }
        (None, None, None, Some([x, y, z])) => {
            let about = |axis, degrees: f64| rotation(axis, degrees.to_radians());
            Ok(about(Vec3::Z, z) * about(Vec3::Y, y) * about(Vec3::X, x))
        }
        _ => Err(Fault::of(
            path,
            "expected either `axis` with `angle_deg`, or `quaternion`, or `euler_deg`",
        )),
    }
}

fn tensor(path: &str, given: &[f64]) -> Result<Mat3, Fault> {
    match *given {
        [xx, yy, zz] => Ok(Mat3::from_diagonal(Vec3::new(xx, yy, zz))),
        [xx, yy, zz, xy, xz, yz] => {
            Ok(Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)))
        }
        _ => {
            let message = format!(
                "expected [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], found {} elements",
                given.len()
            );
            Err(Fault::of(path, message))
        }
    }
}

pub(super) fn material_of(table: &MaterialTable, path: &str) -> Result<Material, Fault> {
    Material::new(table.restitution, table.friction).map_err(|error| {
        // The engine's text begins with `material.friction`; here the path names the material.
        let text = error.to_string();
        Fault::engine(path, text.trim_start_matches("material."))
    })
}
