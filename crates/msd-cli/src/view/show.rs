//! What is shown: a live simulation or a recording, behind one board.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use msd_record::Recording;
use msd_scene::{Options, SceneFile, catalog};
use msd_sim::math::Vec3;

use crate::failure::Failure;

use super::board::Board;
use super::live::{Live, Order, Refusals, Start};
use super::replay::{MOST_SAMPLES, Replay};
use super::wire::{Command, Motion};

/// What is shown, and what it can be asked.
#[derive(Debug)]
pub struct Show {
    board: Arc<Board>,
    source: Mutex<Source>,
    /// Whether the first page that comes sets it going.
    waiting: AtomicBool,
    pages: AtomicU64,
}

#[derive(Clone, Debug)]
enum Source {
    Live(Arc<Live>),
    Replay(Arc<Replay>),
}

impl Show {
    /// A scene.
    pub fn live(file: SceneFile, name: &str, start: Start) -> Result<Arc<Self>, Failure> {
        let board = Arc::new(Board::default());
        let live = Live::start(file, name, Arc::clone(&board))?;
        Ok(Self::new(board, Source::Live(Arc::new(live)), start == Start::WithFirstPage))
    }

    /// A recording.
    pub fn replay(recording: Recording, name: &str) -> Result<Arc<Self>, Failure> {
        let board = Arc::new(Board::default());
        let replay = Replay::start(recording, name, Arc::clone(&board))?;
        Ok(Self::new(board, Source::Replay(replay), false))
    }

    fn new(board: Arc<Board>, source: Source, waiting: bool) -> Arc<Self> {
        let (source, waiting) = (Mutex::new(source), AtomicBool::new(waiting));
        Arc::new(Self { board, source, waiting, pages: AtomicU64::new(0) })
    }

    /// What is known of it.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// A page came; the answer is its number.
    pub fn page_came(&self, refusals: &Refusals) -> u64 {
        if let Source::Live(live) = self.source()
            && self.waiting.swap(false, Ordering::Relaxed)
        {
            live.order(Order::Run, refusals);
        }
        self.pages.fetch_add(1, Ordering::Relaxed)
    }

    /// A page went.
    pub fn page_went(&self, page: u64) {
        if let Source::Live(live) = self.source() {
            live.release(page);
        }
    }

    /// The frame of a step, or why there is none. Reads files.
    pub fn frame(&self, step: u64) -> Result<Arc<[u8]>, String> {
        match self.source() {
            Source::Replay(replay) => replay.frame(step),
            Source::Live(_) => {
                self.board.frame(step).ok_or_else(|| format!("step {step} is not kept any more"))
            }
        }
    }

    /// The course of a body as a message. Reads files.
    pub fn motion(&self, body: u32) -> String {
        let epoch = self.board.epoch();
        let motion = match self.source() {
            Source::Replay(replay) => replay.motion(body),
            Source::Live(_) => {
                let frames = self.board.frames();
                let stride = (frames.len() / MOST_SAMPLES as usize).max(1);
                let mut motion = Motion::default();
                for frame in frames.iter().step_by(stride) {
                    motion.see_bytes(frame, body);
                }
                motion
            }
        };
        motion.message(epoch, body)
    }

    /// Obeys a page, or says why not. Only `Open` and `Reset` take long.
    pub fn obey(&self, command: Command, page: u64, refusals: &Refusals) -> Result<(), String> {
        if let Command::Open { scene } = command {
            return self.open(&scene, refusals);
        }
        let Source::Live(live) = self.source() else {
            return Err("this is a recording: it cannot be changed".to_owned());
        };
        let order = match command {
            Command::Reset {} => {
                return self.begin(live.file.clone(), &live.name);
            }
            Command::Grab { body, at } => {
                live.grab(page, body, Vec3::from_array(at));
                return Ok(());
            }
            Command::Drag { to } => {
                live.drag(page, Vec3::from_array(to));
                return Ok(());
            }
            Command::Release {} => {
                live.release(page);
                return Ok(());
            }
            Command::Run {} => Order::Run,
            Command::Pause {} => Order::Pause,
            Command::Step {} => Order::Step,
            Command::Speed { factor } => Order::Speed(factor),
            Command::Set(change) => Order::Set(change),
            Command::Throw(throw) => Order::Throw(throw),
            // Answered by the page's own connection, and above.
            Command::Frames { .. }
            | Command::Motion { .. }
            | Command::Scenes {}
            | Command::Open { .. } => return Ok(()),
        };
        match live.order(order, refusals) {
            true => Ok(()),
            false => Err("the simulation is busy: try again".to_owned()),
        }
    }

    /// Shows another scene, which runs.
    fn open(&self, name: &str, refusals: &Refusals) -> Result<(), String> {
        let entry = catalog::find(name).ok_or_else(|| format!("there is no scene `{name}`"))?;
        let file = entry.open(&Options::default()).map_err(|error| error.render(false))?;
        self.begin(file, name)?;
        self.waiting.store(false, Ordering::Relaxed);
        if let Source::Live(live) = self.source() {
            live.order(Order::Run, refusals);
        }
        Ok(())
    }

    /// Shows a scene from its start; it waits.
    fn begin(&self, file: SceneFile, name: &str) -> Result<(), String> {
        // Held over both, so that of two who begin at once the board shows the one that is kept.
        let mut source = self.lock();
        let live = Live::start(file, name, Arc::clone(&self.board)).map_err(|why| why.text())?;
        *source = Source::Live(Arc::new(live));
        Ok(())
    }

    fn source(&self) -> Source {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
