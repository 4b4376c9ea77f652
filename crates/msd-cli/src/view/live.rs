//! A live simulation: the thread that steps it, and the commands it accepts.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use msd_record::{BodyInfo, Frame, Recorded};
use msd_scene::format::Solver;
use msd_scene::{SceneFile, Simulation};
use msd_sim::error::SettingsError;
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{Accuracy, BodyDef, BodyId, Material, Method, World};

use crate::failure::Failure;
use crate::run;
use crate::verdict::Monitor;

use super::body_table::BodyTable;
use super::grab_spring::GrabSpring;
use super::inbox::{Inbox, LiveCommand, Received};
use super::state::SharedState;
use super::step_rate::StepRate;
use super::wire::{self, Conditions, Hello, SettingsChange, Status, Throw};

/// Maximum number of boxes thrown into one run.
const MAX_THROWN: usize = 1000;
/// Maximum speed of a thrown box, m/s: a faster one leaves any scene, and its energy swamps the ledger.
const MAX_THROW_SPEED: f64 = 1e5;
/// Longest time step that can be set, in time steps of the scene: longer ones are slow to simulate and inaccurate.
const MAX_STEP_RATIO: f64 = 100.0;
/// Restitution and friction of a thrown box.
const THROWN_MATERIAL: (f64, f64) = (0.2, 0.5);
/// Time between two status updates.
const STATUS_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time an idle thread waits before it polls again.
const IDLE_WAIT: Duration = Duration::from_millis(200);
/// Speeds that can be requested, in simulated seconds per second; 0, for as fast as possible, is also allowed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// A handle to a running simulation. Its thread ends when the handle is dropped, within a step if need be.
#[derive(Debug)]
pub struct Live {
    /// The commands to its thread.
    pub inbox: Arc<Inbox>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The scene, for resets.
    pub file: SceneFile,
    pub name: String,
}

impl Live {
    /// Builds a scene and starts its thread.
    pub fn start(file: SceneFile, name: &str, shared: Arc<SharedState>) -> Result<Self, Failure> {
        let mut simulation = file.build()?;
        let notes = run::notes(&file, &simulation)?;
        let inbox = Arc::new(Inbox::default());
        simulation.world_mut().stop_when(inbox.stop_flag());
        let stepper = Stepper::new(&file, name, notes, simulation, Arc::clone(&inbox), shared);
        let thread = std::thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(move || stepper.run_and_report_panics())
            .map_err(|error| Failure::Io(format!("cannot start a thread: {error}")))?;
        Ok(Self { inbox, thread: Mutex::new(Some(thread)), file, name: name.to_owned() })
    }

    /// Ends the thread and waits for it: until its next substep or impact.
    pub fn end(&self) {
        self.inbox.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic has been reported to the pages.
            let _ = thread.join();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.inbox.stop();
    }
}

/// The simulation thread's data.
struct Stepper {
    simulation: Simulation,
    inbox: Arc<Inbox>,
    shared: Arc<SharedState>,
    epoch: u32,
    table: BodyTable,
    /// The engine's ids of the bodies, by body index.
    ids: Vec<BodyId>,
    monitor: Monitor,
    frame: Frame,
    running: bool,
    /// Simulated seconds per second; 0 is as fast as possible.
    speed: f64,
    /// When the next step is due.
    due: Instant,
    /// The page that grabbed a body, and the spring.
    grab: Option<(u64, GrabSpring)>,
    /// The scene's time step, s.
    scene_dt: f64,
    /// Number of boxes thrown.
    thrown: usize,
    /// Friction set for all bodies, if any.
    friction: Option<f64>,
    /// Restitution set for all bodies, if any.
    restitution: Option<f64>,
    rate: StepRate,
    last_status: Instant,
}

impl Stepper {
    fn new(
        file: &SceneFile,
        name: &str,
        notes: Vec<String>,
        simulation: Simulation,
        inbox: Arc<Inbox>,
        shared: Arc<SharedState>,
    ) -> Self {
        let world = simulation.world();
        let infos: Vec<BodyInfo> = world.bodies().map(|body| BodyInfo::of(&body, 0)).collect();
        let table = BodyTable::new(infos.iter(), Some(world));
        let ids = world.bodies().map(|body| body.id()).collect();
        let scene = file.scene();
        let hello = Hello {
            mode: "live",
            name,
            title: &scene.title,
            comment: &scene.description,
            settings: wire::settings(world.settings(), simulation.dt(), None, None),
            complete: true,
            recorded: Recorded::default(),
            notes: &notes,
            bodies: &infos,
            table: &table,
        };
        let status = Status { speed: 1.0, settings: hello.settings.clone(), ..Status::default() };
        let epoch = shared.begin(|epoch| hello.message(epoch), status);
        let scene_dt = simulation.dt();
        let mut stepper = Self {
            monitor: Monitor::new(scene, &simulation),
            simulation,
            inbox,
            shared,
            epoch,
            table,
            ids,
            frame: Frame::default(),
            running: false,
            speed: 1.0,
            due: Instant::now(),
            grab: None,
            scene_dt,
            thrown: 0,
            friction: None,
            restitution: None,
            rate: StepRate::default(),
            last_status: Instant::now(),
        };
        stepper.publish();
        stepper.publish_status();
        stepper
    }

    /// Runs the simulation. Steps should not panic; if one does, the pages get an error instead of waiting forever.
    fn run_and_report_panics(self) {
        let (shared, epoch) = (Arc::clone(&self.shared), self.epoch);
        if std::panic::catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {
            shared.update(epoch, |state| {
                let problem =
                    "the simulation stopped because of a bug in msd; press Reset to start over";
                state.set_status(Status {
                    running: false,
                    problem: problem.to_owned(),
                    ..state.status()
                });
            });
        }
    }

    /// Steps and executes commands until the handle is dropped.
    fn run(mut self) {
        loop {
            let Some(Received { commands, drag }) = self.inbox.receive() else { return };
            let executed = !commands.is_empty();
            for (command, rejections) in commands {
                if let Err(reason) = self.execute(command) {
                    // If the queue is full, the page is not reading its rejections.
                    let _ = rejections.try_send(reason);
                }
            }
            if executed {
                self.publish_status();
            }
            self.update_grab(drag);
            let now = Instant::now();
            if !self.running {
                self.inbox.wait(IDLE_WAIT);
            } else if now < self.due {
                self.inbox.wait(self.due - now);
            } else {
                self.step();
            }
            if self.running && self.last_status.elapsed() >= STATUS_INTERVAL {
                self.publish_status();
            }
        }
    }

    fn step(&mut self) {
        let dt = self.simulation.dt();
        if let Some((_, spring)) = &self.grab {
            spring.apply(self.simulation.world_mut(), dt);
        }
        self.simulation.step();
        if self.simulation.world().is_stopped() {
            return; // The step is incomplete, and nobody is watching.
        }
        self.rate.count();
        let now = Instant::now();
        // A simulation that is late does not catch up.
        let pause = match self.speed > 0.0 {
            true => Duration::try_from_secs_f64(dt / self.speed).unwrap_or(Duration::MAX),
            false => Duration::ZERO,
        };
        self.due = self.due.checked_add(pause).map_or(now + IDLE_WAIT, |due| due.max(now));
        self.publish();
    }

    /// Publishes the current state of the world.
    fn publish(&mut self) {
        let Self { frame, monitor, table, epoch, .. } = self;
        let stepped = self.simulation.world().steps() != frame.step;
        frame.fill(self.simulation.world());
        let gravity = self.simulation.world().settings().gravity;
        let conditions = Conditions { dt: self.simulation.dt(), gravity };
        let bytes = wire::frame(frame, conditions, *epoch, table);
        if stepped {
            monitor.observe(frame);
        }
        self.shared.update(*epoch, |state| {
            if stepped {
                state.history.push(frame);
                state.marks.push(frame, Some(monitor), table);
            }
            state.recent_frames.push(frame.step, bytes);
        });
    }

    /// Publishes the current status.
    fn publish_status(&mut self) {
        self.last_status = Instant::now();
        let world = self.simulation.world();
        let (dt, last_step) = (self.simulation.dt(), world.steps());
        let settings = wire::settings(world.settings(), dt, self.friction, self.restitution);
        let checks = if last_step > 0 { self.monitor.checks() } else { Vec::new() };
        let checks = checks.into_iter().map(|check| self.table.check(check)).collect();
        let mut status = Status {
            first_step: 0,
            last_step,
            running: self.running,
            steps_per_second: if self.running { self.rate.now() } else { 0.0 },
            speed: self.speed,
            settings,
            checks,
            problem: String::new(),
        };
        self.shared.update(self.epoch, |state| {
            status.first_step = state.recent_frames.first();
            state.set_status(status);
        });
    }

    fn execute(&mut self, command: LiveCommand) -> Result<(), String> {
        match command {
            LiveCommand::Run => {
                self.running = true;
                self.due = Instant::now();
                self.rate = StepRate::default();
            }
            LiveCommand::Pause => self.running = false,
            LiveCommand::Step => {
                self.running = false;
                self.step();
            }
            LiveCommand::Speed(factor) => {
                if factor != 0.0 && !SPEEDS.contains(&factor) {
                    let (min, max) = (SPEEDS.start(), SPEEDS.end());
                    return Err(format!("speed = {factor:?}: expected {min} to {max}, or 0"));
                }
                self.speed = factor;
                self.due = Instant::now();
            }
            LiveCommand::Set(change) => self.set(&change)?,
            LiveCommand::Throw(throw) => self.throw(&throw)?,
            LiveCommand::Grab { page, body, anchor } => self.grab(page, body, anchor)?,
        }
        Ok(())
    }

    /// Applies all given settings, or none of them if one is invalid.
    fn set(&mut self, change: &SettingsChange) -> Result<(), String> {
        let mut settings = self.simulation.world().settings().clone();
        if let Some(gravity) = change.gravity {
            settings.gravity = Vec3::from_array(gravity);
        }
        if let Some(name) = &change.accuracy {
            settings.accuracy = name.parse().map_err(|error: SettingsError| error.to_string())?;
        }
        if let Some(name) = &change.solver {
            let solver = Solver::named(name).ok_or_else(|| format!("no solver named `{name}`"))?;
            settings.method = solver
                .method()
                .ok_or_else(|| format!("this build of msd does not include the solver `{name}`"))?;
        }
        if settings.accuracy == Accuracy::Fast && settings.method != Method::SoftStep {
            let solver = Solver::of(settings.method).name();
            return Err(format!(
                "solver = {solver} has no effect with accuracy = fast, which sweeps everything; choose soft-step first"
            ));
        }
        settings.check().map_err(|error| error.to_string())?;
        let friction = change.friction.or(self.friction);
        let restitution = change.restitution.or(self.restitution);
        Material::new(restitution.unwrap_or(0.0), friction.unwrap_or(0.0))
            .map_err(|error| error.to_string())?;
        if let Some(dt) = change.dt {
            let longest = MAX_STEP_RATIO * self.scene_dt;
            if dt > longest {
                return Err(format!(
                    "dt = {dt:?}: expected at most {longest:?} s, {MAX_STEP_RATIO} times the scene's"
                ));
            }
            self.simulation.set_dt(dt).map_err(|error| error.to_string())?;
            self.monitor.set_dt(dt);
            self.due = Instant::now();
        }
        let before = energy(self.simulation.world());
        self.monitor.set_settings(&settings);
        self.simulation.world_mut().set_settings(settings).map_err(|error| error.to_string())?;
        let changed = energy(self.simulation.world()) - before;
        self.shared.update(self.epoch, |state| state.history.add_user_work(changed));
        (self.friction, self.restitution) = (friction, restitution);
        if change.friction.is_some() || change.restitution.is_some() {
            let world = self.simulation.world_mut();
            let all = world.colliders().map(|collider| (collider.id(), collider.material()));
            for (id, current) in all.collect::<Vec<_>>() {
                let material = Material::new(
                    restitution.unwrap_or(current.restitution()),
                    friction.unwrap_or(current.friction()),
                );
                material
                    .and_then(|material| {
                        world.change_collider(id, |collider| collider.material(material))
                    })
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Adds a moving box.
    fn throw(&mut self, throw: &Throw) -> Result<(), String> {
        if self.thrown == MAX_THROWN {
            return Err(format!(
                "{MAX_THROWN} boxes have been thrown: reset the simulation to throw more"
            ));
        }
        let (restitution, friction) = THROWN_MATERIAL;
        let material = Material::new(
            self.restitution.unwrap_or(restitution),
            self.friction.unwrap_or(friction),
        );
        let shape = Shape::cuboid(Vec3::from_array(throw.half_extents));
        let shape = shape.map_err(|error| error.to_string())?;
        let def = BodyDef::inertial(shape)
            .name(format!("thrown {}", self.thrown + 1))
            .mass(throw.mass)
            .position(Vec3::from_array(throw.from))
            .velocity(Vec3::from_array(throw.velocity))
            .material(material.map_err(|error| error.to_string())?);
        let velocity = Vec3::from_array(throw.velocity);
        if !(velocity.length() <= MAX_THROW_SPEED) {
            return Err(format!("velocity = {velocity:?}: expected at most {MAX_THROW_SPEED} m/s"));
        }
        let before = energy(self.simulation.world());
        let world = self.simulation.world_mut();
        let id = world.add_body(def).map_err(|error| error.to_string())?;
        let Ok(body) = world.body(id) else { return Ok(()) };
        let info = BodyInfo::of(&body, world.steps());
        self.thrown += 1;
        self.table.add(&info);
        self.ids.push(id);
        self.monitor.add(&body, world.settings().gravity.length());
        let message = wire::bodies(&info, &self.table, self.epoch).into();
        let added = energy(self.simulation.world()) - before;
        self.shared.update(self.epoch, |state| {
            state.added.push(message);
            state.history.add_user_work(added);
        });
        // Show the box at once, even while paused.
        self.publish();
        Ok(())
    }

    /// Grabs a body on behalf of a page.
    fn grab(&mut self, page: u64, body: u32, anchor: Vec3) -> Result<(), String> {
        let world = self.simulation.world();
        let grabbed = self.ids.get(body as usize).and_then(|&id| world.body(id).ok());
        let grabbed = grabbed.ok_or_else(|| format!("body = {body}: no such body"))?;
        if grabbed.inverse_mass() == 0.0 {
            return Err(format!("body = {body}: an environment body cannot be moved"));
        }
        if !anchor.is_finite() {
            return Err(format!("anchor = {anchor}: expected finite numbers"));
        }
        let arm = grabbed.pose().transform_vector(anchor);
        let spring = GrabSpring { body: grabbed.id(), anchor, target: grabbed.position() + arm };
        self.grab = Some((page, spring));
        Ok(())
    }

    /// Moves the spring's target to the point its page drags to, or releases the body.
    fn update_grab(&mut self, drag: Option<(u64, Vec3)>) {
        match (&mut self.grab, drag) {
            (Some((holder, spring)), Some((page, to))) if *holder == page => {
                if to.is_finite() {
                    spring.target = to;
                }
            }
            _ => self.grab = None,
        }
    }
}

/// Returns the kinetic and potential energy of all bodies, J.
fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}
