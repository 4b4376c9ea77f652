//! The state of a run, shared between the thread that steps or reads it and the connections to the pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::watch;

use super::history::History;
use super::marks::Marks;
use super::recent_frames::RecentFrames;
use super::wire::{self, Status};

/// The run state behind a lock, with change notification. The lock is held only for short copies and, a few times a
/// second, to serialize a status message; never while sending.
#[derive(Debug)]
pub struct SharedState {
    state: Mutex<RunState>,
    changed: watch::Sender<()>,
}

/// The published data of the current run.
#[derive(Debug, Default)]
pub struct RunState {
    /// Number of runs started so far; messages of older epochs are stale.
    epoch: u32,
    hello: Arc<str>,
    /// Messages about bodies added after `hello`.
    pub added: Vec<Arc<str>>,
    pub history: History,
    pub marks: Marks,
    status: Status,
    status_message: Arc<str>,
    status_version: u64,
    /// The most recent frames of a live run; empty in a replay.
    pub recent_frames: RecentFrames,
}

/// The parts of the run state that a page has received.
#[derive(Debug, Default)]
pub struct ClientCursor {
    epoch: u32,
    added: usize,
    generation: u32,
    rows: usize,
    marks: u64,
    status: u64,
    frames: u64,
}

/// A message to a page.
#[derive(Clone, Debug)]
pub enum Outgoing {
    Text(Arc<str>),
    Binary(Bytes),
}

impl Default for SharedState {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

impl SharedState {
    /// Clears the state for another run and returns its epoch. Updates for older epochs are ignored from now on.
    pub fn begin(&self, hello: impl FnOnce(u32) -> String, status: Status) -> u32 {
        let epoch = {
            let mut state = self.lock();
            let (epoch, status_version) = (state.epoch + 1, state.status_version);
            let hello = hello(epoch).into();
            *state = RunState { epoch, hello, status_version, ..RunState::default() };
            state.set_status(status);
            epoch
        };
        self.changed.send_replace(());
        epoch
    }

    /// Applies an update and notifies subscribers. Does nothing and returns false if the epoch is no longer current.
    pub fn update(&self, epoch: u32, write: impl FnOnce(&mut RunState)) -> bool {
        let current = {
            let mut state = self.lock();
            let current = state.epoch == epoch;
            if current {
                write(&mut state);
            }
            current
        };
        self.changed.send_replace(());
        current
    }

    /// Returns a receiver that is notified of every change, and once immediately.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        let mut receiver = self.changed.subscribe();
        receiver.mark_changed();
        receiver
    }

    /// Returns the current epoch.
    pub fn epoch(&self) -> u32 {
        self.lock().epoch
    }

    /// Returns a frame of a live run if it is still buffered.
    pub fn frame(&self, step: u64) -> Option<Bytes> {
        self.lock().recent_frames.get(step)
    }

    /// Returns evenly spaced buffered frames of a live run, at most `max`.
    pub fn sample(&self, max: usize) -> Vec<Bytes> {
        self.lock().recent_frames.sample(max)
    }

    /// Returns everything a page has not received yet, in dependency order, and advances its cursor. Of the frames,
    /// only the newest is included.
    pub fn updates(&self, cursor: &mut ClientCursor) -> Vec<Outgoing> {
        let mut updates = Vec::new();
        let state = self.lock();
        let epoch = state.epoch;
        if cursor.epoch != epoch {
            *cursor = ClientCursor { epoch, ..ClientCursor::default() };
            updates.push(Outgoing::Text(state.hello.clone()));
        }
        updates.extend(state.added[cursor.added..].iter().cloned().map(Outgoing::Text));
        cursor.added = state.added.len();
        if cursor.status != state.status_version {
            cursor.status = state.status_version;
            updates.push(Outgoing::Text(Arc::clone(&state.status_message)));
        }
        let (version, marks) = state.marks.message();
        if cursor.marks != version {
            cursor.marks = version;
            updates.push(Outgoing::Text(Arc::clone(marks)));
        }
        if cursor.generation != state.history.generation() {
            (cursor.generation, cursor.rows) = (state.history.generation(), 0);
        }
        let from = cursor.rows;
        let rows = state.history.rows()[from..].to_vec();
        let newest = state.recent_frames.last().filter(|(added, _)| *added != cursor.frames);
        let newest = newest.map(|(added, frame)| (added, frame.clone()));
        drop(state);
        if !rows.is_empty() {
            updates.push(Outgoing::Binary(wire::series(&rows, from, epoch)));
            cursor.rows += rows.len();
        }
        if let Some((added, frame)) = newest {
            cursor.frames = added;
            updates.push(Outgoing::Binary(frame));
        }
        updates
    }

    fn lock(&self) -> MutexGuard<'_, RunState> {
        // A panic while the lock was held leaves at worst a partial update.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunState {
    /// Returns the last published status.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// Publishes a status, together with any new marks.
    pub fn set_status(&mut self, status: Status) {
        self.marks.publish(self.epoch);
        self.status_message = status.message().into();
        self.status = status;
        self.status_version += 1;
    }
}
