//! The viewing session: a live simulation or a recording, and the commands of the pages that watch it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use msd_record::Recording;
use msd_scene::{Options, SceneFile, catalog};
use msd_sim::math::Vec3;

use crate::failure::Failure;

use super::inbox::{LiveCommand, Refusals};
use super::live::Live;
use super::replay::{MAX_SAMPLES, Replay};
use super::state::SharedState;
use super::wire::{self, Command, Motion, SceneInfo};

/// The source on display and its shared state. All pages of one `msd view` share one session.
#[derive(Debug)]
pub struct Session {
    shared: Arc<SharedState>,
    /// The scene or recording named on the command line.
    argument: Option<Argument>,
    source: Mutex<Source>,
    /// Whether the simulation waits for the first page to connect.
    start_on_first_page: AtomicBool,
    /// Id of the next page.
    pages: AtomicU64,
}

/// The scene or recording named on the command line, kept so that pages can return to it.
#[derive(Debug)]
pub struct Argument {
    pub name: String,
    pub input: Input,
}

/// A scene or a recording.
#[derive(Debug)]
pub enum Input {
    Scene(Box<SceneFile>),
    Recording(PathBuf),
}

#[derive(Clone, Debug)]
enum Source {
    Live(Arc<Live>),
    Replay(Arc<Replay>),
}

impl Source {
    /// Changes to another source, and waits until this one no longer computes: resets do not pile up threads.
    fn replace(&mut self, new: Self) {
        if let Self::Live(old) = std::mem::replace(self, new) {
            old.end();
        }
    }
}

impl Session {
    /// Opens the user's scene or recording. A scene starts stepping when the first page connects.
    pub fn open_argument(argument: Argument) -> Result<Arc<Self>, Failure> {
        let shared = Arc::new(SharedState::default());
        let source = argument.start(&shared)?;
        Ok(Self::new(shared, source, Some(argument)))
    }

    /// Opens the gallery, with the first scene of the catalog paused until the user chooses one.
    pub fn gallery() -> Result<Arc<Self>, Failure> {
        let shared = Arc::new(SharedState::default());
        let first = catalog::ENTRIES[0];
        let live = Live::start(first.open(&Options::default())?, first.name, Arc::clone(&shared))?;
        Ok(Self::new(shared, Source::Live(Arc::new(live)), None))
    }

    fn new(shared: Arc<SharedState>, source: Source, argument: Option<Argument>) -> Arc<Self> {
        let (source, start_on_first_page) =
            (Mutex::new(source), AtomicBool::new(argument.is_some()));
        Arc::new(Self { shared, argument, source, start_on_first_page, pages: AtomicU64::new(0) })
    }

    /// Returns the message that lists the scenes a page can open.
    pub fn scenes(&self) -> String {
        wire::scenes(&CATALOG, self.argument.as_ref().map(Argument::info).as_ref())
    }

    /// Returns the state shared with the pages.
    pub fn shared(&self) -> &SharedState {
        &self.shared
    }

    /// Registers a page and returns its id.
    pub fn page_connected(&self, rejections: &Refusals) -> u64 {
        if let Source::Live(live) = self.source()
            && self.start_on_first_page.swap(false, Ordering::Relaxed)
        {
            live.inbox.enqueue(LiveCommand::Run, rejections);
        }
        self.pages.fetch_add(1, Ordering::Relaxed)
    }

    /// Releases the body a disconnected page may have held.
    pub fn page_disconnected(&self, page: u64) {
        if let Source::Live(live) = self.source() {
            live.inbox.release(page);
        }
    }

    /// Returns the frame of a step, or the reason it is unavailable. May read the recording.
    pub fn frame(&self, step: u64) -> Result<Bytes, String> {
        match self.source() {
            Source::Replay(replay) => replay.frame(step),
            Source::Live(_) => {
                self.shared.frame(step).ok_or_else(|| format!("step {step} is no longer available"))
            }
        }
    }

    /// Returns the motion of a body over time as a message, or the reason there is none. May read the recording.
    pub fn motion(&self, body: u32) -> Result<String, String> {
        let epoch = self.shared.epoch();
        let motion = match self.source() {
            Source::Replay(replay) => replay.motion(body),
            Source::Live(_) => {
                let mut motion = Motion::default();
                for frame in self.shared.sample(MAX_SAMPLES) {
                    motion.push_frame_bytes(&frame, body);
                }
                motion
            }
        };
        match motion.is_empty() {
            true => Err(format!("body = {body}: no such body")),
            false => Ok(motion.message(epoch, body)),
        }
    }

    /// Executes a page's command or returns the reason for rejecting it. Only `Open` and `Reset` block.
    pub fn execute(
        &self,
        command: Command,
        page: u64,
        rejections: &Refusals,
    ) -> Result<(), String> {
        if let Command::Open { scene } = command {
            return self.open(&scene, rejections);
        }
        let Source::Live(live) = self.source() else {
            return Err("a recording cannot be changed".to_owned());
        };
        let live_command = match command {
            Command::Reset {} => {
                return self.start_live(live.file.clone(), &live.name);
            }
            Command::Drag { to } => {
                live.inbox.drag(page, Vec3::from_array(to));
                return Ok(());
            }
            Command::Release {} => {
                live.inbox.release(page);
                return Ok(());
            }
            Command::Grab { body, anchor, to } => {
                let [anchor, to] = [anchor, to].map(Vec3::from_array);
                live.inbox.begin_drag(page, to);
                LiveCommand::Grab { page, body, anchor }
            }
            Command::Run {} => LiveCommand::Run,
            Command::Pause {} => LiveCommand::Pause,
            Command::Step {} => LiveCommand::Step,
            Command::Speed { factor } => LiveCommand::Speed(factor),
            Command::Set(change) => LiveCommand::Set(change),
            Command::Throw(throw) => LiveCommand::Throw(throw),
            // Handled by the page's connection, or above.
            Command::Frames { .. }
            | Command::Motion { .. }
            | Command::Scenes {}
            | Command::Open { .. } => return Ok(()),
        };
        match live.inbox.enqueue(live_command, rejections) {
            true => Ok(()),
            false => Err("the simulation is busy: try again".to_owned()),
        }
    }

    /// Switches to the command-line argument or to a scene of the catalog, and runs it if it is a scene.
    fn open(&self, name: &str, rejections: &Refusals) -> Result<(), String> {
        if let Some(argument) = self.argument.as_ref().filter(|argument| argument.name == name) {
            let mut source = self.lock();
            let new = argument.start(&self.shared).map_err(|why| why.text())?;
            source.replace(new);
        } else {
            let entry = catalog::find(name).ok_or_else(|| format!("no scene named `{name}`"))?;
            let file = entry.open(&Options::default()).map_err(|error| error.render(false))?;
            self.start_live(file, name)?;
        }
        self.start_on_first_page.store(false, Ordering::Relaxed);
        if let Source::Live(live) = self.source() {
            live.inbox.enqueue(LiveCommand::Run, rejections);
        }
        Ok(())
    }

    /// Switches to a scene at its start, paused.
    fn start_live(&self, file: SceneFile, name: &str) -> Result<(), String> {
        // Hold the lock across both statements: of two concurrent starts, the one whose epoch is current is kept.
        let mut source = self.lock();
        let live = Live::start(file, name, Arc::clone(&self.shared)).map_err(|why| why.text())?;
        source.replace(Source::Live(Arc::new(live)));
        Ok(())
    }

    fn source(&self) -> Source {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Argument {
    /// Builds and starts the source, and publishes it to the shared state.
    fn start(&self, shared: &Arc<SharedState>) -> Result<Source, Failure> {
        let shared = Arc::clone(shared);
        Ok(match &self.input {
            Input::Scene(file) => {
                Source::Live(Arc::new(Live::start(SceneFile::clone(file), &self.name, shared)?))
            }
            Input::Recording(path) => {
                Source::Replay(Replay::start(Recording::open(path)?, &self.name, shared)?)
            }
        })
    }

    fn info(&self) -> SceneInfo {
        let (title, comment) = match &self.input {
            Input::Scene(file) => (file.scene().title.clone(), file.scene().description.clone()),
            Input::Recording(path) => (String::new(), format!("The recording {}.", path.display())),
        };
        SceneInfo { name: self.name.clone(), title, comment }
    }
}

/// The scenes of the catalog. Entries that fail to open are omitted.
static CATALOG: LazyLock<Vec<SceneInfo>> = LazyLock::new(|| {
    let read = |entry: &catalog::Entry| {
        let file = entry.open(&Options::default()).ok()?;
        let (title, comment) = (file.scene().title.clone(), file.scene().description.clone());
        Some(SceneInfo { name: entry.name.to_owned(), title, comment })
    };
    catalog::ENTRIES.iter().filter_map(read).collect()
});
