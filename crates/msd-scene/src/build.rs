//! Builds the world of a scene. Values are checked where they are used; errors have the field's path.

use std::collections::HashMap;

use msd_sim::math::Vec3;
use msd_sim::{Accuracy, BodyId, BodyKind, Continuous, Method, Settings, World};

use crate::error::Fault;
use crate::format::{ArrayTable, ContinuousMode, Scene, ShapeTable, Solver, VERSION, WorldTable};
use crate::limits::Limits;
use crate::simulation::Simulation;

mod body;
mod colliders;
mod interactions;
mod piles;

use body::material_of;
pub(crate) use body::orientation;

/// Default time step, s.
pub(crate) const DEFAULT_DT: f64 = 1.0 / 60.0;
/// Default simulated time, s.
const DEFAULT_DURATION: f64 = 10.0;
/// Maximum number of steps: more cannot be counted exactly in a double.
const MAX_STEPS: f64 = 9e15;

/// Builds the world of a scene.
pub(crate) fn build(scene: &Scene, limits: &Limits) -> Result<Simulation, Fault> {
    if scene.version != VERSION {
        let message = format!("expected {VERSION}, found {}", scene.version);
        return Err(Fault::of("version", message));
    }
    let (dt, steps) = dt_and_steps(&scene.world)?;
    let threads = threads(&scene.world)?;
    let wanted = settings(&scene.world)?;
    if wanted.accuracy == Accuracy::Fast && wanted.method != Method::SoftStep {
        let solver = Solver::of(wanted.method).name();
        let message =
            format!("{solver} has no effect with accuracy = fast, which sweeps everything");
        return Err(Fault::of("world.solver", message).help("leave one of them out"));
    }
    let mut ignored: Vec<&'static str> = wanted.never_used().names().collect();
    let world = World::new(match limits.unused_settings {
        true => wanted.without_never_used(),
        false => wanted,
    });
    let world = world.map_err(|error| Fault::engine("world", error))?;
    let mut builder = Builder { scene, world, bodies: HashMap::new(), offsets: HashMap::new() };
    for (name, material) in &scene.materials {
        material_of(material, &format!("materials.{name}"))?;
    }
    for (index, combine) in scene.combine.iter().enumerate() {
        builder.set_combine(&format!("combine[{index}]"), combine)?;
    }
    check_count(scene, limits)?;
    // Numbers of the bodies up to and including each table.
    let mut ends = Vec::with_capacity(scene.body.len());
    for (index, body) in scene.body.iter().enumerate() {
        builder.add_body(&format!("body[{index}]"), body, limits)?;
        ends.push(builder.world.bodies().len());
    }
    piles::refuse_piles(&builder.world, |number| {
        format!("body[{}]", ends.partition_point(|&end| end <= number))
    })?;
    for (index, joint) in scene.joint.iter().enumerate() {
        builder.add_joint(&format!("joint[{index}]"), joint)?;
    }
    for (index, potential) in scene.potential.iter().enumerate() {
        builder.add_potential(&format!("potential[{index}]"), potential)?;
    }
    match limits.unused_settings {
        true => ignored.extend(builder.world.unused_settings().names()),
        false => refuse_unused(&builder.world)?,
    }
    let forces = scene.force.iter().enumerate();
    let forces =
        forces.map(|(index, force)| builder.timed_force(&format!("force[{index}]"), force));
    let forces = forces.collect::<Result<_, _>>()?;
    let (elapsed, world) = (0.0, builder.world);
    let mut simulation = Simulation { world, dt, steps, threads, forces, ignored, elapsed };
    simulation.set_threads(threads);
    Ok(simulation)
}

/// Returns the engine's settings for a scene.
pub(crate) fn settings(table: &WorldTable) -> Result<Settings, Fault> {
    let default = Settings { audit: true, ..Settings::default() };
    let settings = Settings {
        accuracy: table.accuracy.map_or(default.accuracy, Accuracy::from),
        gravity: table.gravity.map_or(default.gravity, Vec3::from_array),
        method: method(table.solver.unwrap_or(Solver::SoftStep))?,
        substeps: table.substeps.unwrap_or(default.substeps),
        rest_speed: table.rest_speed.unwrap_or(default.rest_speed),
        position_correction: table.position_correction.unwrap_or(default.position_correction),
        position_correction_speed: table
            .position_correction_speed
            .unwrap_or(default.position_correction_speed),
        margin: table.margin.unwrap_or(default.margin),
        reuse: table.reuse.unwrap_or(default.reuse),
        sweeps: table.sweeps.unwrap_or(default.sweeps),
        tolerance: table.tolerance.unwrap_or(default.tolerance),
        iterations: table.iterations.unwrap_or(default.iterations),
        newton_steps: table.newton_steps,
        newton_work: table.newton_work,
        continuous: match table.continuous.unwrap_or(ContinuousMode::Auto) {
            ContinuousMode::Auto => Continuous::Auto,
            ContinuousMode::Always => Continuous::Always,
            ContinuousMode::Never => Continuous::Never,
        },
        impact_work: table.impact_work.unwrap_or(default.impact_work),
        max_exact_bodies: table.max_exact_bodies,
        max_exact_cost: table.max_exact_cost,
        threads: default.threads,
        sleeping: table.sleeping.unwrap_or(default.sleeping),
        sleep_speed: table.sleep_speed.unwrap_or(default.sleep_speed),
        sleep_time: table.sleep_time.unwrap_or(default.sleep_time),
        audit: table.audit.unwrap_or(default.audit),
    };
    // The canonical form of a scene holds the values of its accuracy too.
    Ok(settings.without_redundant_overrides())
}

fn method(solver: Solver) -> Result<Method, Fault> {
    solver.method().ok_or_else(|| {
        let message =
            format!("{0}: not in this build, rebuild with the feature `{0}`", solver.name());
        Fault::of("world.solver", message)
    })
}

/// Rejects settings that would have no effect on the world.
fn refuse_unused(world: &World) -> Result<(), Fault> {
    let Some(name) = world.unused_settings().names().next() else { return Ok(()) };
    let settings = world.settings();
    let bodies = world.bodies().filter(|body| body.kind() == BodyKind::Inertial).count();
    let how = match (settings.may_sweep(bodies), settings.exact_body_limit()) {
        (true, 0) => "swept, because max_exact_bodies = 0".to_owned(),
        (true, _) => "stepped exactly or swept, by island".to_owned(),
        (false, _) => format!("stepped exactly by {}", Solver::of(settings.method).name()),
    };
    let bodies = match bodies {
        1 => "the inertial body is".to_owned(),
        count => format!("{count} inertial bodies are"),
    };
    let message = format!("has no effect: {bodies} {how}");
    Err(Fault::of(&format!("world.{name}"), message).help("leave it out"))
}

/// Returns the time step and the number of steps.
pub(crate) fn dt_and_steps(table: &WorldTable) -> Result<(f64, u64), Fault> {
    let dt = table.dt.unwrap_or(DEFAULT_DT);
    if !(dt >= 1e-30 && dt.is_finite()) {
        return Err(Fault::of("world.dt", format!("{dt}: expected a time above 0 in seconds")));
    }
    let steps = match (table.steps, table.duration) {
        (Some(_), Some(_)) => {
            let message = "expected either `steps` or `duration`, found both";
            return Err(Fault::of("world.steps", message));
        }
        (Some(0), None) => return Err(Fault::of("world.steps", "0: expected 1 or more")),
        (Some(steps), None) => steps as f64,
        (None, duration) => {
            let duration = duration.unwrap_or(DEFAULT_DURATION);
            let steps = (duration / dt).round();
            if !(steps >= 1.0) {
                let message = format!("{duration}: expected at least one time step, {dt} s");
                return Err(Fault::of("world.duration", message));
            }
            steps
        }
    };
    if !(steps <= MAX_STEPS) {
        let field = if table.steps.is_some() { "world.steps" } else { "world.duration" };
        return Err(Fault::of(field, format!("{steps:e} steps: expected at most {MAX_STEPS:e}")));
    }
    Ok((dt, steps as u64))
}

fn threads(table: &WorldTable) -> Result<u32, Fault> {
    match table.threads {
        Some(0) => Err(Fault::of("world.threads", "0: expected 1 or more")),
        Some(count) => Ok(count),
        None => Ok(Settings::default().threads),
    }
}

/// Rejects scenes beyond the limits before anything of that size is allocated.
fn check_count(scene: &Scene, limits: &Limits) -> Result<(), Fault> {
    let (mut bodies, mut colliders, mut points) = (0_u64, 0_u64, 0_u64);
    for (index, body) in scene.body.iter().enumerate() {
        let copies = body.array.as_ref().map_or(1, |array| {
            array.count.iter().fold(1_u64, |product, &count| product.saturating_mul(count))
        });
        let (mut shapes, mut corners) = (0_u64, 0_u64);
        for (_, shape) in body.shapes() {
            shapes += 1;
            if let ShapeTable::Hull { points: Some(points), .. } = shape {
                corners += points.len() as u64;
            }
        }
        bodies = bodies.saturating_add(copies);
        colliders = colliders.saturating_add(copies.saturating_mul(shapes));
        points = points.saturating_add(copies.saturating_mul(corners));
        let (path, shown) = match &body.array {
            Some(ArrayTable { count: [x, y, z], .. }) => {
                (format!("body[{index}].array.count"), format!("{x} x {y} x {z}"))
            }
            None => (format!("body[{index}]"), "one body more".to_owned()),
        };
        for (count, limit, what, flag) in [
            (bodies, limits.bodies, "bodies", "--max-bodies"),
            (colliders, limits.colliders, "colliders in total", "--max-colliders"),
            (points, limits.all_points(), "hull points in total", "--max-points"),
        ] {
            if count > limit {
                let message = format!("{shown}: more than {limit} {what}, the limit for a scene");
                return Err(Fault::of(&path, message).help(format!("raise it with {flag}")));
            }
        }
    }
    Ok(())
}

/// A world under construction.
struct Builder<'a> {
    scene: &'a Scene,
    world: World,
    bodies: HashMap<String, BodyId>,
    /// Offset from the center of mass to the reference point of anchors, for bodies where that is the shape's origin.
    offsets: HashMap<BodyId, Vec3>,
}

impl Builder<'_> {
    fn find(&self, path: &str, name: &str) -> Result<BodyId, Fault> {
        self.bodies.get(name).copied().ok_or_else(|| {
            let known = self.bodies.keys().map(String::as_str);
            Fault::of(path, format!("there is no body \"{name}\"")).nearest(name, known)
        })
    }

    /// Converts a point in a body's frame to one relative to its center of mass, the default.
    fn anchor_or_center(&self, body: BodyId, point: Option<[f64; 3]>) -> Vec3 {
        let offset = self.offsets.get(&body).copied().unwrap_or(Vec3::ZERO);
        point.map_or(Vec3::ZERO, |point| Vec3::from_array(point) + offset)
    }
}
