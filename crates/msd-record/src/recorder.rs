//! The recorder: copies frames on the simulation thread and queues them for the writer thread.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use msd_sim::World;

use crate::body::BodyInfo;
use crate::error::RecordError;
use crate::frame::Frame;
use crate::header::{Header, Recorded};
use crate::writer::{Writer, Written, remove_if_unreadable};

/// Capacity of the queue to the writer, frames. Bounds the memory in use.
const QUEUE: usize = 8;

/// A recorder of a run: copies each step, then encodes, compresses and writes it on a thread of its own.
///
/// Dropping a recorder closes its file without a summary; the recording is then incomplete.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    jobs: Option<SyncSender<Job>>,
    spare: Receiver<Box<Frame>>,
    thread: Option<JoinHandle<Result<Written, RecordError>>>,
    /// Generation + 1 of the last body recorded at each index; zero for none.
    seen: Vec<u64>,
    last: Option<u64>,
    waits: u64,
    recorded: Recorded,
}

/// The size of a finished recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Number of frames, including the initial one.
    pub frames: u64,
    /// Number of times the simulation had to wait for the writer.
    pub waits: u64,
}

enum Job {
    Frame(Box<Frame>, Vec<BodyInfo>),
    Finish(String),
}

impl Recorder {
    /// Writes header, settings, bodies, geometry and the current state of the world.
    pub fn create(path: &Path, header: &Header, world: &World) -> Result<Self, RecordError> {
        let writer = Writer::create(path, header, world.settings())?;
        let (jobs, todo) = sync_channel(QUEUE);
        let (done, spare) = sync_channel(QUEUE + 2);
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let thread = std::thread::Builder::new()
            .name("msd-record".to_owned())
            .spawn(move || write(writer, &todo, &done))
            .map_err(io)?;
        let mut recorder = Self {
            path: path.to_owned(),
            jobs: Some(jobs),
            spare,
            thread: Some(thread),
            seen: Vec::new(),
            last: None,
            waits: 0,
            recorded: header.recorded,
        };
        recorder.record_now(world)?;
        Ok(recorder)
    }

    /// Queues the state of the world after a step, if [`Header::recorded`] includes that step. Blocks only if the
    /// writer is several steps behind.
    ///
    /// Steps must be in order. An error of the writer is returned by the next call.
    pub fn record(&mut self, world: &World) -> Result<(), RecordError> {
        if world.steps().is_multiple_of(self.recorded.every.max(1)) {
            self.record_now(world)
        } else {
            Ok(())
        }
    }

    /// Queues the state of the world after its last step, unless that step is already recorded.
    pub fn record_last(&mut self, world: &World) -> Result<(), RecordError> {
        if self.last == Some(world.steps()) { Ok(()) } else { self.record_now(world) }
    }

    fn record_now(&mut self, world: &World) -> Result<(), RecordError> {
        let step = world.steps();
        if let Some(last) = self.last.filter(|&last| step <= last) {
            return Err(RecordError::NotAfter { step, last });
        }
        let new = self.new_bodies(world);
        let mut frame = self.spare.try_recv().unwrap_or_default();
        frame.fill(world);
        if !self.recorded.contacts {
            frame.clear_contacts();
        }
        self.send(Job::Frame(frame, new))?;
        self.last = Some(step);
        Ok(())
    }

    /// Closes the file. `summary` is stored in the recording as JSON text; it may be empty.
    pub fn finish(mut self, summary: &str) -> Result<Finished, RecordError> {
        self.send(Job::Finish(summary.to_owned()))?;
        let Written { bytes, frames } = self.join()?;
        Ok(Finished { path: self.path.clone(), bytes, frames, waits: self.waits })
    }

    fn new_bodies(&mut self, world: &World) -> Vec<BodyInfo> {
        let mut new = Vec::new();
        for body in world.bodies() {
            let (index, occupant) = (body.id().index(), u64::from(body.id().generation()) + 1);
            if self.seen.len() <= index {
                self.seen.resize(index + 1, 0);
            }
            if self.seen[index] != occupant {
                self.seen[index] = occupant;
                new.push(BodyInfo::of(&body, world.steps()));
            }
        }
        new
    }

    fn send(&mut self, job: Job) -> Result<(), RecordError> {
        let Some(jobs) = &self.jobs else { return Err(self.stopped()) };
        let sent = match jobs.try_send(job) {
            Ok(()) => true,
            Err(TrySendError::Full(job)) => {
                self.waits += 1;
                jobs.send(job).is_ok()
            }
            Err(TrySendError::Disconnected(_)) => false,
        };
        if sent { Ok(()) } else { Err(self.join().err().unwrap_or_else(|| self.stopped())) }
    }

    /// Waits for the writer to end and returns its result.
    fn join(&mut self) -> Result<Written, RecordError> {
        self.jobs = None;
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        let ended = ended.unwrap_or_else(|| Err(self.stopped()));
        ended.inspect_err(|_| remove_if_unreadable(&self.path))
    }

    fn stopped(&self) -> RecordError {
        let reason = "the writer has stopped".to_owned();
        RecordError::Write { path: self.path.clone(), reason }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// Writes until the queue is closed.
fn write(
    mut writer: Writer,
    todo: &Receiver<Job>,
    done: &SyncSender<Box<Frame>>,
) -> Result<Written, RecordError> {
    /// Timeout while no chunk is open: any long time will do.
    const LONG: Duration = Duration::from_secs(3600);
    loop {
        let due = writer.deadline();
        let now = Instant::now();
        if due.is_some_and(|due| due <= now) {
            writer.end_chunk()?;
            continue;
        }
        match todo.recv_timeout(due.map_or(LONG, |due| due - now)) {
            Ok(Job::Frame(frame, new)) => {
                writer.frame(&frame, &new)?;
                // Returned for reuse; dropped if the queue is full.
                let _ = done.try_send(frame);
            }
            Ok(Job::Finish(summary)) => return writer.end(Some(summary)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return writer.end(None),
        }
    }
}
