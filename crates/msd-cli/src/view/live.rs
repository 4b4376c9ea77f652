//! A simulation that steps while it is watched: its thread, and what it can be told.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use msd_record::{BodyInfo, Frame, Recorded};
use msd_scene::format::Solver;
use msd_scene::{SceneFile, Simulation};
use msd_sim::geometry::Shape;
use msd_sim::math::Vec3;
use msd_sim::{BodyDef, BodyId, Material, World};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::verdict::Watch;

use super::board::Board;
use super::hand::Hand;
use super::wire::{self, Change, Conditions, Hello, Numbers, Status, Throw};

/// Orders that wait at most; more are refused.
const MOST_ORDERS: usize = 64;
/// Boxes that can be thrown into one run.
const MOST_THROWN: usize = 1000;
/// Speed of a thrown box at most, m/s: what is faster leaves any scene, and the books with it.
const FASTEST_THROW: f64 = 1e5;
/// Longest time step that can be set, in those of the scene: longer ones take long and mean little.
const LONGEST_STEP: f64 = 100.0;
/// Surface of a thrown box: restitution, friction.
const THROWN_SURFACE: (f64, f64) = (0.2, 0.5);
/// How often pages are told how it stands.
const STATUS_EVERY: Duration = Duration::from_millis(100);
/// How long steps are counted to say how many there are in a second.
const RATE_OVER: Duration = Duration::from_millis(500);
/// A thread with nothing to do looks again after this long at most.
const IDLE: Duration = Duration::from_millis(200);
/// Speeds that can be asked for; 0 is as fast as it can.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// Where a refusal goes.
pub type Refusals = mpsc::Sender<String>;

/// What the thread is told, one after the other.
#[derive(Debug)]
pub enum Order {
    Run,
    Pause,
    Step,
    Speed(f64),
    Set(Change),
    Throw(Throw),
    /// Take hold of a body, for a page, at a point in the body's axes.
    Grab {
        page: u64,
        body: u32,
        anchor: Vec3,
    },
}

/// A running simulation, as seen from outside. Its thread ends when this is dropped.
#[derive(Debug)]
pub struct Live {
    inbox: Arc<Inbox>,
    /// What it began from.
    pub file: SceneFile,
    pub name: String,
}

#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<Wishes>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Wishes {
    orders: VecDeque<(Order, Refusals)>,
    /// Which page pulls to where. Not an order: only the last counts, and letting go is never refused.
    pull: Option<(u64, Vec3)>,
    over: bool,
}

impl Live {
    /// Builds a scene and starts its thread.
    pub fn start(file: SceneFile, name: &str, board: Arc<Board>) -> Result<Self, Failure> {
        let simulation = file.build()?;
        let inbox = Arc::new(Inbox::default());
        let stepper = Stepper::new(&file, name, simulation, Arc::clone(&inbox), board);
        std::thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(move || stepper.run_or_say_why())
            .map_err(|error| Failure::Io(format!("cannot start a thread: {error}")))?;
        Ok(Self { inbox, file, name: name.to_owned() })
    }

    /// Gives an order; false if too many wait.
    pub fn order(&self, order: Order, refusals: &Refusals) -> bool {
        let mut wishes = self.inbox.lock();
        let room = wishes.orders.len() < MOST_ORDERS;
        if room {
            wishes.orders.push_back((order, refusals.clone()));
            self.inbox.wake.notify_one();
        }
        room
    }

    /// A page begins to pull, what it will take hold of.
    pub fn reach(&self, page: u64, to: Vec3) {
        self.inbox.lock().pull = Some((page, to));
    }

    /// It pulls elsewhere.
    pub fn drag(&self, page: u64, to: Vec3) {
        if let Some(pull) = self.inbox.lock().pull.as_mut().filter(|pull| pull.0 == page) {
            pull.1 = to;
        }
    }

    /// It lets go.
    pub fn release(&self, page: u64) {
        self.inbox.lock().pull.take_if(|pull| pull.0 == page);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.inbox.lock().over = true;
        self.inbox.wake.notify_one();
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for an order, not longer than this.
    fn wait(&self, most: Duration) {
        let wishes = self.lock();
        if wishes.orders.is_empty() && !wishes.over {
            let _ = self.wake.wait_timeout(wishes, most);
        }
    }
}

/// The thread that steps.
struct Stepper {
    simulation: Simulation,
    inbox: Arc<Inbox>,
    board: Arc<Board>,
    epoch: u32,
    numbers: Numbers,
    /// The engine's names of bodies by their numbers.
    ids: Vec<BodyId>,
    watch: Watch,
    frame: Frame,
    running: bool,
    /// Simulated seconds per second; 0 is as fast as it can.
    speed: f64,
    /// When the next step is due.
    due: Instant,
    /// What is held, by which page.
    held: Option<(u64, Hand)>,
    /// The time step that the scene asks for, s.
    scene_dt: f64,
    thrown: usize,
    friction: Option<f64>,
    restitution: Option<f64>,
    rate: Rate,
    told: Instant,
}

impl Stepper {
    fn new(
        file: &SceneFile,
        name: &str,
        simulation: Simulation,
        inbox: Arc<Inbox>,
        board: Arc<Board>,
    ) -> Self {
        let world = simulation.world();
        let infos: Vec<BodyInfo> = world.bodies().map(|body| BodyInfo::of(&body, 0)).collect();
        let numbers = Numbers::new(infos.iter(), Some(world));
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
            bodies: &infos,
            numbers: &numbers,
        };
        let status = Status { speed: 1.0, settings: hello.settings.clone(), ..Status::default() };
        let epoch = board.begin(|epoch| hello.message(epoch), status);
        let scene_dt = simulation.dt();
        let mut stepper = Self {
            watch: Watch::new(scene, &simulation),
            simulation,
            inbox,
            board,
            epoch,
            numbers,
            ids,
            frame: Frame::default(),
            running: false,
            speed: 1.0,
            due: Instant::now(),
            held: None,
            scene_dt,
            thrown: 0,
            friction: None,
            restitution: None,
            rate: Rate::default(),
            told: Instant::now(),
        };
        stepper.publish();
        stepper.tell();
        stepper
    }

    /// Runs. Steps do not panic; should one all the same, pages are told instead of waiting for ever.
    fn run_or_say_why(self) {
        let (board, epoch) = (Arc::clone(&self.board), self.epoch);
        if std::panic::catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {
            board.update(epoch, |notes| {
                let problem = "the simulation ended by a defect of msd; reset begins anew";
                notes.set_status(Status {
                    running: false,
                    problem: problem.to_owned(),
                    ..notes.status()
                });
            });
        }
    }

    /// Steps and obeys until nobody wants it any more.
    fn run(mut self) {
        loop {
            let (orders, pull) = {
                let mut wishes = self.inbox.lock();
                if wishes.over {
                    return;
                }
                (std::mem::take(&mut wishes.orders), wishes.pull)
            };
            let obeyed = !orders.is_empty();
            for (order, refusals) in orders {
                if let Err(reason) = self.obey(order) {
                    // A page that reads none of its refusals needs no more of them.
                    let _ = refusals.try_send(reason);
                }
            }
            if obeyed {
                self.tell();
            }
            self.pull_to(pull);
            let now = Instant::now();
            if !self.running {
                self.inbox.wait(IDLE);
            } else if now < self.due {
                self.inbox.wait(self.due - now);
            } else {
                self.step();
            }
            if self.running && self.told.elapsed() >= STATUS_EVERY {
                self.tell();
            }
        }
    }

    fn step(&mut self) {
        let dt = self.simulation.dt();
        if let Some((_, hand)) = &self.held {
            hand.pull(self.simulation.world_mut(), dt);
        }
        self.simulation.step();
        self.rate.count();
        let now = Instant::now();
        // Who is late by more than a step does not catch up.
        let pause = match self.speed > 0.0 {
            true => Duration::try_from_secs_f64(dt / self.speed).unwrap_or(Duration::MAX),
            false => Duration::ZERO,
        };
        self.due = self.due.checked_add(pause).map_or(now + IDLE, |due| due.max(now));
        self.publish();
    }

    /// Puts the world as it is now onto the board.
    fn publish(&mut self) {
        let Self { frame, watch, numbers, epoch, .. } = self;
        let stepped = self.simulation.world().steps() != frame.step;
        frame.fill(self.simulation.world());
        let gravity = self.simulation.world().settings().gravity;
        let by = Conditions { dt: self.simulation.dt(), gravity };
        let bytes = wire::frame(frame, by, *epoch, numbers);
        if stepped {
            watch.see(frame);
        }
        self.board.update(*epoch, |notes| {
            if stepped {
                notes.history.see(frame);
                notes.marks.see(frame, Some(watch), numbers);
            }
            notes.reel.push(frame.step, bytes);
        });
    }

    /// Tells pages how it stands.
    fn tell(&mut self) {
        self.told = Instant::now();
        let world = self.simulation.world();
        let (dt, last_step) = (self.simulation.dt(), world.steps());
        let settings = wire::settings(world.settings(), dt, self.friction, self.restitution);
        let mut status = Status {
            first_step: 0,
            last_step,
            running: self.running,
            steps_per_second: if self.running { self.rate.now() } else { 0.0 },
            speed: self.speed,
            settings,
            checks: if last_step > 0 { self.watch.checks() } else { Vec::new() },
            problem: String::new(),
        };
        self.board.update(self.epoch, |notes| {
            status.first_step = notes.reel.first();
            notes.set_status(status);
        });
    }

    fn obey(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Run => {
                self.running = true;
                self.due = Instant::now();
                self.rate = Rate::default();
            }
            Order::Pause => self.running = false,
            Order::Step => {
                self.running = false;
                self.step();
            }
            Order::Speed(factor) => {
                if factor != 0.0 && !SPEEDS.contains(&factor) {
                    let (least, most) = (SPEEDS.start(), SPEEDS.end());
                    return Err(format!("speed = {factor:?}: expected {least} to {most}, or 0"));
                }
                self.speed = factor;
                self.due = Instant::now();
            }
            Order::Set(change) => self.set(&change)?,
            Order::Throw(throw) => self.throw(&throw)?,
            Order::Grab { page, body, anchor } => self.grab(page, body, anchor)?,
        }
        Ok(())
    }

    /// Changes settings: all that is given, or nothing.
    fn set(&mut self, change: &Change) -> Result<(), String> {
        let mut settings = self.simulation.world().settings().clone();
        if let Some(gravity) = change.gravity {
            settings.gravity = Vec3::from_array(gravity);
        }
        if let Some(name) = &change.solver {
            let solver =
                Solver::named(name).ok_or_else(|| format!("there is no solver `{name}`"))?;
            settings.method =
                solver.method().ok_or_else(|| format!("this build is without `{name}`"))?;
        }
        settings.check().map_err(|error| error.to_string())?;
        let friction = change.friction.or(self.friction);
        let restitution = change.restitution.or(self.restitution);
        Material::new(restitution.unwrap_or(0.0), friction.unwrap_or(0.0))
            .map_err(|error| error.to_string())?;
        if let Some(dt) = change.dt {
            let longest = LONGEST_STEP * self.scene_dt;
            if dt > longest {
                return Err(format!(
                    "dt = {dt:?}: expected at most {longest:?} s, {LONGEST_STEP} of the scene's"
                ));
            }
            self.simulation.set_dt(dt).map_err(|error| error.to_string())?;
            self.watch.set_dt(dt);
            self.due = Instant::now();
        }
        let before = energy(self.simulation.world());
        self.simulation.world_mut().set_settings(settings).map_err(|error| error.to_string())?;
        let changed = energy(self.simulation.world()) - before;
        self.board.update(self.epoch, |notes| notes.history.book(changed));
        (self.friction, self.restitution) = (friction, restitution);
        if change.friction.is_some() || change.restitution.is_some() {
            for &id in &self.ids {
                let Ok(body) = self.simulation.world().body(id) else { continue };
                let known = body.material();
                let material = Material::new(
                    restitution.unwrap_or(known.restitution()),
                    friction.unwrap_or(known.friction()),
                );
                let world = self.simulation.world_mut();
                material
                    .and_then(|material| world.set_material(id, material))
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Adds a moving box.
    fn throw(&mut self, throw: &Throw) -> Result<(), String> {
        if self.thrown == MOST_THROWN {
            return Err(format!("{MOST_THROWN} boxes were thrown: begin anew to throw more"));
        }
        let (restitution, friction) = THROWN_SURFACE;
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
        if !(velocity.length() <= FASTEST_THROW) {
            return Err(format!("velocity = {velocity:?}: expected at most {FASTEST_THROW} m/s"));
        }
        let before = energy(self.simulation.world());
        let world = self.simulation.world_mut();
        let id = world.add_body(def).map_err(|error| error.to_string())?;
        let Ok(body) = world.body(id) else { return Ok(()) };
        let info = BodyInfo::of(&body, world.steps());
        self.thrown += 1;
        self.numbers.add(&info);
        self.ids.push(id);
        self.watch.add(&body, world.settings().gravity.length());
        let message = wire::bodies(&info, &self.numbers, self.epoch).into();
        let brought = energy(self.simulation.world()) - before;
        self.board.update(self.epoch, |notes| {
            notes.added.push(message);
            notes.history.book(brought);
        });
        // It is seen at once, even in a run that is paused.
        self.publish();
        Ok(())
    }

    /// Takes hold of a body for a page.
    fn grab(&mut self, page: u64, body: u32, anchor: Vec3) -> Result<(), String> {
        let world = self.simulation.world();
        let known = self.ids.get(body as usize).and_then(|&id| world.body(id).ok());
        let held = known.ok_or_else(|| format!("body = {body}: there is no such body"))?;
        if held.inverse_mass() == 0.0 {
            return Err(format!("body = {body}: nothing moves it"));
        }
        if !anchor.is_finite() {
            return Err(format!("anchor = {anchor}: expected finite numbers"));
        }
        let arm = held.pose().transform_vector(anchor);
        let hand = Hand { body: held.id(), arm: anchor, to: held.position() + arm };
        self.held = Some((page, hand));
        Ok(())
    }

    /// Pulls what is held to where its page wants it, or lets go.
    fn pull_to(&mut self, pull: Option<(u64, Vec3)>) {
        match (&mut self.held, pull) {
            (Some((holder, hand)), Some((page, to))) if *holder == page => {
                if to.is_finite() {
                    hand.to = to;
                }
            }
            _ => self.held = None,
        }
    }
}

/// Kinetic and potential energy of all bodies, J.
fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// Steps in a second.
#[derive(Debug)]
struct Rate {
    since: Instant,
    steps: u32,
    last: f64,
}

impl Default for Rate {
    fn default() -> Self {
        Self { since: Instant::now(), steps: 0, last: 0.0 }
    }
}

impl Rate {
    fn count(&mut self) {
        self.steps += 1;
    }

    fn now(&mut self) -> f64 {
        let elapsed = self.since.elapsed();
        if elapsed >= RATE_OVER {
            self.last = f64::from(self.steps) / elapsed.as_secs_f64();
            (self.since, self.steps) = (Instant::now(), 0);
        }
        self.last
    }
}
