//! What is shown: a live simulation or a recording, behind one board.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use msd_record::Recording;
use msd_scene::{Options, SceneFile, catalog};
use msd_sim::math::Vec3;

use crate::failure::Failure;

use super::board::Board;
use super::live::{Live, Order, Refusals};
use super::replay::{MOST_SAMPLES, Replay};
use super::wire::{self, Command, Motion, SceneInfo};

/// What is shown, and what it can be asked.
#[derive(Debug)]
pub struct Show {
    board: Arc<Board>,
    /// What the command was started with.
    own: Option<Own>,
    source: Mutex<Source>,
    /// Whether the first page that comes sets it going.
    waiting: AtomicBool,
    pages: AtomicU64,
}

/// What the command was started with, to come back to.
#[derive(Debug)]
pub struct Own {
    pub name: String,
    pub what: What,
}

/// A scene or a recording.
#[derive(Debug)]
pub enum What {
    Scene(Box<SceneFile>),
    Recording(PathBuf),
}

#[derive(Clone, Debug)]
enum Source {
    Live(Arc<Live>),
    Replay(Arc<Replay>),
}

impl Show {
    /// A scene or a recording of the user's. A scene begins to step with the first page.
    pub fn of(own: Own) -> Result<Arc<Self>, Failure> {
        let board = Arc::new(Board::default());
        let source = own.start(&board)?;
        Ok(Self::new(board, source, Some(own)))
    }

    /// The gallery: something must stand there until a scene is chosen.
    pub fn gallery() -> Result<Arc<Self>, Failure> {
        let board = Arc::new(Board::default());
        let first = catalog::ENTRIES[0];
        let live = Live::start(first.open(&Options::default())?, first.name, Arc::clone(&board))?;
        Ok(Self::new(board, Source::Live(Arc::new(live)), None))
    }

    fn new(board: Arc<Board>, source: Source, own: Option<Own>) -> Arc<Self> {
        let (source, waiting) = (Mutex::new(source), AtomicBool::new(own.is_some()));
        Arc::new(Self { board, own, source, waiting, pages: AtomicU64::new(0) })
    }

    /// What can be opened, as a message.
    pub fn scenes(&self) -> String {
        wire::scenes(&CATALOG, self.own.as_ref().map(Own::info).as_ref())
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
    pub fn frame(&self, step: u64) -> Result<Bytes, String> {
        match self.source() {
            Source::Replay(replay) => replay.frame(step),
            Source::Live(_) => {
                self.board.frame(step).ok_or_else(|| format!("step {step} is not kept any more"))
            }
        }
    }

    /// The course of a body as a message, or why there is none. Reads files.
    pub fn motion(&self, body: u32) -> Result<String, String> {
        let epoch = self.board.epoch();
        let motion = match self.source() {
            Source::Replay(replay) => replay.motion(body),
            Source::Live(_) => {
                let mut motion = Motion::default();
                for frame in self.board.sample(MOST_SAMPLES) {
                    motion.see_bytes(&frame, body);
                }
                motion
            }
        };
        match motion.is_empty() {
            true => Err(format!("body = {body}: there is no such body")),
            false => Ok(motion.message(epoch, body)),
        }
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
            Command::Drag { to } => {
                live.drag(page, Vec3::from_array(to));
                return Ok(());
            }
            Command::Release {} => {
                live.release(page);
                return Ok(());
            }
            Command::Grab { body, anchor, to } => {
                let [anchor, to] = [anchor, to].map(Vec3::from_array);
                live.reach(page, to);
                Order::Grab { page, body, anchor }
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

    /// Shows something else: what the command was started with, or a scene of the catalog. Scenes run.
    fn open(&self, name: &str, refusals: &Refusals) -> Result<(), String> {
        if let Some(own) = self.own.as_ref().filter(|own| own.name == name) {
            let mut source = self.lock();
            *source = own.start(&self.board).map_err(|why| why.text())?;
        } else {
            let entry = catalog::find(name).ok_or_else(|| format!("there is no scene `{name}`"))?;
            let file = entry.open(&Options::default()).map_err(|error| error.render(false))?;
            self.begin(file, name)?;
        }
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

impl Own {
    /// Starts it.
    fn start(&self, board: &Arc<Board>) -> Result<Source, Failure> {
        let board = Arc::clone(board);
        Ok(match &self.what {
            What::Scene(file) => {
                Source::Live(Arc::new(Live::start(SceneFile::clone(file), &self.name, board)?))
            }
            What::Recording(path) => {
                Source::Replay(Replay::start(Recording::open(path)?, &self.name, board)?)
            }
        })
    }

    fn info(&self) -> SceneInfo {
        let (title, comment) = match &self.what {
            What::Scene(file) => (file.scene().title.clone(), file.scene().description.clone()),
            What::Recording(path) => (String::new(), format!("The recording {}.", path.display())),
        };
        SceneInfo { name: self.name.clone(), title, comment }
    }
}

/// The scenes of the catalog.
static CATALOG: LazyLock<Vec<SceneInfo>> = LazyLock::new(|| {
    let read = |entry: &catalog::Entry| {
        let file = entry.open(&Options::default()).ok()?;
        let (title, comment) = (file.scene().title.clone(), file.scene().description.clone());
        Some(SceneInfo { name: entry.name.to_owned(), title, comment })
    };
    catalog::ENTRIES.iter().filter_map(read).collect()
});
