//! The recording half that runs beside the simulation.

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

/// Frames that may wait for the writer. Memory is this many frames.
const QUEUE: usize = 8;

/// Records a run: copies each step, and encodes, compresses and writes it on a thread of its own.
///
/// A recorder that is dropped ends its file as well as it can; the recording is then not complete.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    jobs: Option<SyncSender<Job>>,
    spare: Receiver<Box<Frame>>,
    thread: Option<JoinHandle<Result<Written, RecordError>>>,
    /// One more than the generation of the body last seen at each index, zero for none.
    seen: Vec<u64>,
    last: Option<u64>,
    waits: u64,
    recorded: Recorded,
}

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Frames in it, that at the beginning included.
    pub frames: u64,
    /// How many times the simulation had to wait for the writer.
    pub waits: u64,
}

enum Job {
    Frame(Box<Frame>, Vec<BodyInfo>),
    Finish(String),
}

impl Recorder {
    /// Writes header, settings, bodies, geometry and the state of the world as it is now.
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

    /// Queues the world as it is after a step, if [`Header::recorded`] wants that step. Waits only if the writer is
    /// several steps behind.
    ///
    /// Steps must come in order. An error of the writer is told here as soon as it is known.
    pub fn record(&mut self, world: &World) -> Result<(), RecordError> {
        if world.steps().is_multiple_of(self.recorded.every.max(1)) {
            self.record_now(world)
        } else {
            Ok(())
        }
    }

    /// Queues the world as it is after its last step, unless that step is recorded already.
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
            frame.leave_out_contacts();
        }
        self.send(Job::Frame(frame, new))?;
        self.last = Some(step);
        Ok(())
    }

    /// Ends the file. `summary` is a JSON text that is kept in the recording; it may be empty.
    pub fn finish(mut self, summary: &str) -> Result<Finished, RecordError> {
        self.send(Job::Finish(summary.to_owned()))?;
        let Written { bytes, frames } = self.join()?;
        Ok(Finished { path: self.path.clone(), bytes, frames, waits: self.waits })
    }

    fn new_bodies(&mut self, world: &World) -> Vec<BodyInfo> {
        let mut new = Vec::new();
        for body in world.bodies() {
            let (index, tenant) = (body.id().index(), u64::from(body.id().generation()) + 1);
            if self.seen.len() <= index {
                self.seen.resize(index + 1, 0);
            }
            if self.seen[index] != tenant {
                self.seen[index] = tenant;
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

    /// Waits for the writer to end, and gives what it has to say.
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

/// Writes until there is nothing more to come.
fn write(
    mut writer: Writer,
    todo: &Receiver<Job>,
    done: &SyncSender<Box<Frame>>,
) -> Result<Written, RecordError> {
    /// Nothing is due: any time will do.
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
                // Back to be filled again; if nobody takes it, it is dropped.
                let _ = done.try_send(frame);
            }
            Ok(Job::Finish(summary)) => return writer.end(Some(summary)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return writer.end(None),
        }
    }
}
