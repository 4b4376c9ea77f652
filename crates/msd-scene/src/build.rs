//! From a scene to a world: every value checked where it is used, every fault with its path.

use std::collections::HashMap;

use msd_sim::geometry::Shape;
use msd_sim::math::{Mat3, Quat, Vec3, rotation};
use msd_sim::{
    BodyDef, BodyId, Filter, JointDef, JointKind, Material, Method, Potential, Settings, World,
};

use crate::error::Fault;
use crate::format::{
    ArrayTable, BodyTable, ForceTable, JointName, JointTable, Kind, MaterialRef, MaterialTable,
    OrientationTable, Origin, PotentialName, PotentialTable, Scene, ShapeTable, Solver, VERSION,
    WorldTable,
};
use crate::limits::Limits;
use crate::random::Random;
use crate::simulation::{Push, Simulation};

/// Time step of a scene that does not say, s.
pub(crate) const DEFAULT_DT: f64 = 1.0 / 60.0;
/// Simulated time of a scene that does not say, s.
pub(crate) const DEFAULT_DURATION: f64 = 10.0;
/// More steps cannot be counted in a double.
const MOST_STEPS: f64 = 9e15;
/// A quaternion further from unit length is a mistake, nearer it is rounded digits.
const UNIT: f64 = 0.01;

/// Builds the world of a scene.
pub(crate) fn build(scene: &Scene, limits: &Limits) -> Result<Simulation, Fault> {
    if scene.version != VERSION {
        let message = format!("expected {VERSION}, found {}", scene.version);
        return Err(Fault::of("version", message));
    }
    let (dt, steps) = span(&scene.world)?;
    let threads = threads(&scene.world)?;
    let world = World::new(settings(&scene.world)?);
    let world = world.map_err(|error| Fault::engine("world", error))?;
    let mut builder = Builder { scene, world, bodies: HashMap::new(), offsets: HashMap::new() };
    for (name, material) in &scene.materials {
        material_of(material, &format!("materials.{name}"))?;
    }
    check_count(scene, limits)?;
    for (index, body) in scene.body.iter().enumerate() {
        builder.add_body(&format!("body[{index}]"), body, limits)?;
    }
    for (index, joint) in scene.joint.iter().enumerate() {
        builder.add_joint(&format!("joint[{index}]"), joint)?;
    }
    for (index, potential) in scene.potential.iter().enumerate() {
        builder.add_potential(&format!("potential[{index}]"), potential)?;
    }
    let forces = scene.force.iter().enumerate();
    let forces = forces.map(|(index, force)| builder.push(&format!("force[{index}]"), force));
    let forces = forces.collect::<Result<_, _>>()?;
    Ok(Simulation { world: builder.world, dt, steps, threads, forces })
}

/// The engine's settings that a scene asks for.
pub(crate) fn settings(table: &WorldTable) -> Result<Settings, Fault> {
    if table.sleeping == Some(true) {
        let message = "true: expected false, nothing is put to sleep";
        return Err(Fault::of("world.sleeping", message));
    }
    let default = Settings { audit: true, ..Settings::default() };
    Ok(Settings {
        gravity: table.gravity.map_or(default.gravity, Vec3::from_array),
        method: method(table.solver.unwrap_or(Solver::SoftStep))?,
        substeps: table.substeps.unwrap_or(default.substeps),
        rest_speed: table.rest_speed.unwrap_or(default.rest_speed),
        recovery: table.recovery.unwrap_or(default.recovery),
        recovery_speed: table.recovery_speed.unwrap_or(default.recovery_speed),
        margin: table.margin.unwrap_or(default.margin),
        reuse: table.reuse.unwrap_or(default.reuse),
        sweeps: table.sweeps.unwrap_or(default.sweeps),
        tolerance: table.tolerance.unwrap_or(default.tolerance),
        iterations: table.iterations.unwrap_or(default.iterations),
        newton_steps: table.newton_steps.unwrap_or(default.newton_steps),
        newton_work: table.newton_work.unwrap_or(default.newton_work),
        audit: table.audit.unwrap_or(default.audit),
    })
}

fn method(solver: Solver) -> Result<Method, Fault> {
    Ok(match solver {
        Solver::SoftStep => Method::SoftStep,
        Solver::Pgs => Method::Pgs,
        Solver::ActiveSet => Method::ActiveSet,
        #[cfg(feature = "conic")]
        Solver::Conic => Method::Conic,
        #[cfg(not(feature = "conic"))]
        Solver::Conic => {
            let message = "conic: this build is without it, rebuild with the feature `conic`";
            return Err(Fault::of("world.solver", message));
        }
    })
}

/// Time step and number of steps.
fn span(table: &WorldTable) -> Result<(f64, u64), Fault> {
    let dt = table.dt.unwrap_or(DEFAULT_DT);
    if !(dt >= 1e-30 && dt.is_finite()) {
        return Err(Fault::of("world.dt", format!("{dt}: expected a time above 0 in seconds")));
    }
    let steps = match (table.steps, table.duration) {
        (Some(_), Some(_)) => {
            let message = "expected either `steps` or `duration`, found both";
            return Err(Fault::of("world.steps", message));
        }
        (Some(steps), None) => steps as f64,
        (None, duration) => {
            let duration = duration.unwrap_or(DEFAULT_DURATION);
            if !(duration >= 0.0) {
                let message = format!("{duration}: expected a time of at least 0 in seconds");
                return Err(Fault::of("world.duration", message));
            }
            (duration / dt).round()
        }
    };
    if !(steps <= MOST_STEPS) {
        let field = if table.steps.is_some() { "world.steps" } else { "world.duration" };
        return Err(Fault::of(field, format!("{steps:e} steps: expected at most {MOST_STEPS:e}")));
    }
    Ok((dt, steps as u64))
}

fn threads(table: &WorldTable) -> Result<u32, Fault> {
    match table.threads {
        Some(0) => Err(Fault::of("world.threads", "0: expected 1 or more")),
        Some(count) => Ok(count),
        None => Ok(std::thread::available_parallelism().map_or(1, |count| count.get() as u32)),
    }
}

fn material_of(table: &MaterialTable, path: &str) -> Result<Material, Fault> {
    Material::new(table.restitution, table.friction).map_err(|error| {
        // The engine says `material.friction`; here the path says which material.
        let text = error.to_string();
        Fault::engine(path, text.trim_start_matches("material."))
    })
}

fn check_count(scene: &Scene, limits: &Limits) -> Result<(), Fault> {
    let mut total = 0_u64;
    for (index, body) in scene.body.iter().enumerate() {
        let count = body.array.as_ref().map_or(Some(1), |array| {
            array.count.iter().try_fold(1_u64, |product, &count| product.checked_mul(count))
        });
        total = count.and_then(|count| total.checked_add(count)).unwrap_or(u64::MAX);
        if total > limits.bodies {
            let (path, shown) = match &body.array {
                Some(ArrayTable { count: [x, y, z], .. }) => {
                    (format!("body[{index}].array.count"), format!("{x} x {y} x {z}"))
                }
                None => (format!("body[{index}]"), "one more".to_owned()),
            };
            let message =
                format!("{shown}: more than {} bodies, the limit of a scene", limits.bodies);
            return Err(Fault::of(&path, message).help("raise it with --max-bodies"));
        }
    }
    Ok(())
}

struct Builder<'a> {
    scene: &'a Scene,
    world: World,
    bodies: HashMap<String, BodyId>,
    /// From the centre of mass to the origin that anchors refer to, where these differ.
    offsets: HashMap<BodyId, Vec3>,
}

impl Builder<'_> {
    fn add_body(&mut self, path: &str, table: &BodyTable, limits: &Limits) -> Result<(), Fault> {
        let shape = shape(&format!("{path}.shape"), &table.shape, limits)?;
        let base = self.definition(path, table, shape)?;
        let turned = orientation(&format!("{path}.orientation"), table.orientation.as_ref())?;
        let name = if table.name.is_empty() { path } else { &table.name };
        let offset = origin_offset(path, table, &base)?;
        let placed = |turn: Quat, shift: Vec3| {
            let position = Vec3::from_array(table.position) + shift - turn * offset;
            base.clone().position(position).orientation(turn)
        };
        let Some(array) = &table.array else {
            return self.insert(path, name.to_owned(), placed(turned, Vec3::ZERO), offset);
        };
        let spacing = Vec3::from_array(array.spacing);
        if !(array.jitter >= 0.0) {
            let message = format!("{}: expected a length of at least 0 in metres", array.jitter);
            return Err(Fault::of(&format!("{path}.array.jitter"), message));
        }
        let mut random = Random::new(array.seed);
        for (x, y, z) in grid(array.count) {
            let at = spacing * Vec3::new(x as f64, y as f64, z as f64);
            let mut shake = || array.jitter * random.symmetric();
            let shift = at + Vec3::new(shake(), shake(), shake());
            let turn = if array.random_orientation { random.rotation() * turned } else { turned };
            self.insert(path, format!("{name}[{x},{y},{z}]"), placed(turn, shift), offset)?;
        }
        Ok(())
    }

    /// Adds a body whose own origin is at `offset` from its centre of mass.
    fn insert(
        &mut self,
        path: &str,
        name: String,
        def: BodyDef,
        offset: Vec3,
    ) -> Result<(), Fault> {
        if self.bodies.contains_key(&name) {
            let message = format!("\"{name}\": expected a name that no other body has");
            return Err(Fault::of(&format!("{path}.name"), message));
        }
        let added = self.world.add_body(def.name(&name));
        let id = added.map_err(|error| body_fault(path, &error))?;
        if offset != Vec3::ZERO {
            self.offsets.insert(id, offset);
        }
        self.bodies.insert(name, id);
        Ok(())
    }

    fn definition(&self, path: &str, table: &BodyTable, shape: Shape) -> Result<BodyDef, Fault> {
        let mut def = match table.kind {
            Kind::Inertial => BodyDef::inertial(shape),
            Kind::Environment => BodyDef::environment(shape),
        };
        if table.kind == Kind::Environment {
            for (field, given) in [
                ("mass", table.mass.is_some()),
                ("density", table.density.is_some()),
                ("inertia", table.inertia.is_some()),
            ] {
                if given {
                    let message = "expected none: the environment has no mass";
                    return Err(Fault::of(&format!("{path}.{field}"), message));
                }
            }
        }
        match (table.mass, table.density) {
            (Some(_), Some(_)) => {
                let message = "expected either `mass` or `density`, found both";
                return Err(Fault::of(&format!("{path}.mass"), message));
            }
            (Some(mass), None) => def = def.mass(mass),
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
            def = def.filter(Filter { groups: filter.groups, mask: filter.mask });
        }
        Ok(def
            .velocity(Vec3::from_array(table.velocity))
            .angular_velocity(Vec3::from_array(table.angular_velocity)))
    }

    fn material(&self, path: &str, given: &MaterialRef) -> Result<Material, Fault> {
        match given {
            MaterialRef::Inline(table) => material_of(table, path),
            MaterialRef::Name(name) => match self.scene.materials.get(name) {
                Some(table) => material_of(table, path),
                None => {
                    let known = self.scene.materials.keys().map(String::as_str);
                    let message = format!("there is no material \"{name}\"");
                    Err(Fault::of(path, message).nearest(name, known))
                }
            },
        }
    }

    fn find(&self, path: &str, name: &str) -> Result<BodyId, Fault> {
        self.bodies.get(name).copied().ok_or_else(|| {
            let known = self.bodies.keys().map(String::as_str);
            Fault::of(path, format!("there is no body \"{name}\"")).nearest(name, known)
        })
    }

    /// A point given in a body's frame, from its centre of mass.
    fn anchor(&self, body: BodyId, point: [f64; 3]) -> Vec3 {
        Vec3::from_array(point) + self.offsets.get(&body).copied().unwrap_or(Vec3::ZERO)
    }

    fn add_joint(&mut self, path: &str, table: &JointTable) -> Result<(), Fault> {
        let a = self.find(&format!("{path}.a"), &table.a)?;
        let b = self.find(&format!("{path}.b"), &table.b)?;
        let def = JointDef::new(a, b, joint_kind(path, table)?)
            .anchors(self.anchor(a, table.anchor_a), self.anchor(b, table.anchor_b))
            .collide(table.collide);
        let added = self.world.add_joint(def);
        added.map(|_| ()).map_err(|error| match error {
            msd_sim::error::JointError::Bodies { .. } => {
                Fault::of(path, "expected two different bodies, one of them inertial")
            }
            error => Fault::engine(path, error),
        })
    }

    fn add_potential(&mut self, path: &str, table: &PotentialTable) -> Result<(), Fault> {
        refuse_foreign(path, table)?;
        let field = |name: &str| format!("{path}.{name}");
        let missing = |name: &str| Fault::of(&field(name), "is missing");
        let potential = match table.kind {
            PotentialName::Uniform => {
                let acceleration = table.acceleration.ok_or_else(|| missing("acceleration"))?;
                Potential::uniform(Vec3::from_array(acceleration))
            }
            PotentialName::PointMass => Potential::point_mass(
                Vec3::from_array(table.position.unwrap_or_default()),
                table.mu.ok_or_else(|| missing("mu"))?,
                table.core.unwrap_or(0.0),
            ),
            PotentialName::Drag => Potential::drag(
                table.linear.unwrap_or(0.0),
                table.quadratic.unwrap_or(0.0),
                table.angular.unwrap_or(0.0),
                table.angular_quadratic.unwrap_or(0.0),
                Vec3::from_array(table.medium.unwrap_or_default()),
            ),
            PotentialName::Spring => {
                let name = table.body.as_ref().ok_or_else(|| missing("body"))?;
                let body = self.inertial(&field("body"), name)?;
                let anchor = table.anchor.map_or(Vec3::ZERO, |point| self.anchor(body, point));
                let point = Vec3::from_array(table.point.ok_or_else(|| missing("point"))?);
                let stiffness = table.stiffness.ok_or_else(|| missing("stiffness"))?;
                let rest = table.rest_length.unwrap_or(0.0);
                Potential::spring(body.index() as u32, anchor, point, stiffness, rest)
                    .and_then(|spring| spring.with_damping(table.damping.unwrap_or(0.0)))
            }
        };
        self.world.add_potential(potential.map_err(|error| Fault::engine(path, error))?);
        Ok(())
    }

    fn inertial(&self, path: &str, name: &str) -> Result<BodyId, Fault> {
        let body = self.find(path, name)?;
        if self.world.body(body).is_some_and(|body| body.inverse_mass() > 0.0) {
            Ok(body)
        } else {
            Err(Fault::of(path, format!("\"{name}\" is environment: expected an inertial body")))
        }
    }

    fn push(&self, path: &str, table: &ForceTable) -> Result<Push, Fault> {
        let body = self.inertial(&format!("{path}.body"), &table.body)?;
        let until = table.until.unwrap_or(f64::INFINITY);
        if !(until >= table.from) {
            let message = format!("{until}: expected a time not before `from`");
            return Err(Fault::of(&format!("{path}.until"), message));
        }
        if table.force == [0.0; 3] && table.torque == [0.0; 3] {
            return Err(Fault::of(path, "expected a `force` or a `torque` that is not zero"));
        }
        Ok(Push {
            body,
            force: Vec3::from_array(table.force),
            torque: Vec3::from_array(table.torque),
            arm: table.point.map_or(Vec3::ZERO, |point| self.anchor(body, point)),
            from: table.from,
            until,
        })
    }
}

/// The engine's word on a body, with the field as a scene names it.
fn body_fault(path: &str, error: &msd_sim::error::BodyError) -> Fault {
    let text = error.to_string();
    let text = match text.split_once("_damping") {
        Some((part @ ("linear" | "angular"), rest)) => format!("damping.{part}{rest}"),
        _ => text,
    };
    Fault::engine(path, text)
}

/// Indices of a grid, x fastest.
fn grid([nx, ny, nz]: [u64; 3]) -> impl Iterator<Item = (u64, u64, u64)> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (x, y, z))))
}

/// From the centre of mass to the origin that the body's position refers to, in its axes.
fn origin_offset(path: &str, table: &BodyTable, def: &BodyDef) -> Result<Vec3, Fault> {
    if table.origin == Origin::CenterOfMass {
        return Ok(Vec3::ZERO);
    }
    // A world of its own says where the shape is from the centre of mass.
    let mut world = World::default();
    let id = world.add_body(def.clone()).map_err(|error| Fault::engine(path, error))?;
    let offset = world
        .body(id)
        .map_or(Vec3::ZERO, |body| body.pose().inverse_transform_point(body.shape_pose().position));
    Ok(offset)
}

fn shape(path: &str, table: &ShapeTable, limits: &Limits) -> Result<Shape, Fault> {
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
                let message = "meshes are read with a scene file only";
                return Err(Fault::of(&format!("{path}.mesh"), message));
            }
            let Some(points) = points else {
                return Err(Fault::of(&path, "expected `points` or `mesh`"));
            };
            if points.len() as u64 > limits.points {
                let message = format!(
                    "{} points: more than {}, the limit of one hull",
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
    };
    shape.map_err(|error| Fault::engine(&format!("{path}.{name}"), error))
}

fn orientation(path: &str, table: Option<&OrientationTable>) -> Result<Quat, Fault> {
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
            if !((length - 1.0).abs() <= UNIT) {
                let message = format!("of length {length}: expected a quaternion of unit length");
                return Err(Fault::of(&format!("{path}.quaternion"), message));
            }
            Ok(given / length)
        }
        (None, None, None, Some([x, y, z])) => {
            let about = |axis, degrees: f64| rotation(axis, degrees.to_radians());
            Ok(about(Vec3::Z, z) * about(Vec3::Y, y) * about(Vec3::X, x))
        }
        _ => Err(Fault::of(
            path,
            "expected `axis` and `angle_deg`, or `quaternion`, or `euler_deg` alone",
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

fn joint_kind(path: &str, table: &JointTable) -> Result<JointKind, Fault> {
    let refuse = |field: &str, why: &str| Err(Fault::of(&format!("{path}.{field}"), why));
    let JointTable { length, min, max, stiffness, damping, .. } = *table;
    if table.kind == JointName::Ball {
        let distance = [length, min, max, stiffness, damping];
        let names = ["length", "min", "max", "stiffness", "damping"];
        let given = names.iter().zip(distance).find(|(_, value)| value.is_some());
        return match given {
            Some((field, _)) => refuse(field, "expected only with kind = \"distance\""),
            None => Ok(JointKind::Ball),
        };
    }
    match (length, stiffness) {
        (Some(_), _) if min.is_some() || max.is_some() => {
            refuse("length", "expected either `length` or `min` and `max`, found both")
        }
        (Some(rest_length), Some(stiffness)) => {
            Ok(JointKind::Spring { rest_length, stiffness, damping: damping.unwrap_or(0.0) })
        }
        (None, Some(_)) => refuse("length", "is missing: a spring has a length at rest"),
        (_, None) if damping.is_some() => refuse("damping", "expected only with `stiffness`"),
        (Some(length), None) => Ok(JointKind::Distance { min: length, max: length }),
        (None, None) if min.is_none() && max.is_none() => {
            refuse("length", "is missing: expected `length`, or `min` and `max`")
        }
        (None, None) => {
            Ok(JointKind::Distance { min: min.unwrap_or(0.0), max: max.unwrap_or(f64::INFINITY) })
        }
    }
}

/// A value that another kind of field has is a mistake.
fn refuse_foreign(path: &str, table: &PotentialTable) -> Result<(), Fault> {
    use PotentialName::{Drag, PointMass, Spring, Uniform};
    let fields = [
        ("position", table.position.is_some(), PointMass),
        ("mu", table.mu.is_some(), PointMass),
        ("core", table.core.is_some(), PointMass),
        ("body", table.body.is_some(), Spring),
        ("anchor", table.anchor.is_some(), Spring),
        ("point", table.point.is_some(), Spring),
        ("stiffness", table.stiffness.is_some(), Spring),
        ("rest_length", table.rest_length.is_some(), Spring),
        ("damping", table.damping.is_some(), Spring),
        ("linear", table.linear.is_some(), Drag),
        ("quadratic", table.quadratic.is_some(), Drag),
        ("angular", table.angular.is_some(), Drag),
        ("angular_quadratic", table.angular_quadratic.is_some(), Drag),
        ("medium", table.medium.is_some(), Drag),
        ("acceleration", table.acceleration.is_some(), Uniform),
    ];
    match fields.iter().find(|(_, given, kind)| *given && *kind != table.kind) {
        Some((field, ..)) => {
            let message = "expected none: it belongs to another kind of potential";
            Err(Fault::of(&format!("{path}.{field}"), message))
        }
        None => Ok(()),
    }
}
