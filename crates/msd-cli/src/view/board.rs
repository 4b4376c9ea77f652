//! What is known of a run: put there by the thread that steps or reads, taken by each page as fast as it can.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::watch;

use super::history::History;
use super::marks::Marks;
use super::reel::Reel;
use super::wire::{self, Status};

/// The board. Its lock is held for short copies and, some times a second, a message about how it stands; never
/// while anything is sent.
#[derive(Debug)]
pub struct Board {
    notes: Mutex<Notes>,
    changed: watch::Sender<()>,
}

/// What stands on it.
#[derive(Debug, Default)]
pub struct Notes {
    epoch: u32,
    hello: Arc<str>,
    /// Messages about bodies that came later.
    pub added: Vec<Arc<str>>,
    pub history: History,
    pub marks: Marks,
    status: Status,
    status_message: Arc<str>,
    status_version: u64,
    /// Live: the last frames. Empty in a replay.
    pub reel: Reel,
}

/// What a page has taken already.
#[derive(Debug, Default)]
pub struct Seen {
    epoch: u32,
    added: usize,
    thinned: u32,
    rows: usize,
    marks: u64,
    status: u64,
    frames: u64,
}

/// A message to a page.
#[derive(Clone, Debug)]
pub enum News {
    Text(Arc<str>),
    Binary(Bytes),
}

impl Default for Board {
    fn default() -> Self {
        Self { notes: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

impl Board {
    /// Begins anew, for another run. Who publishes for an older epoch is not heard any more.
    pub fn begin(&self, hello: impl FnOnce(u32) -> String, status: Status) -> u32 {
        let epoch = {
            let mut notes = self.lock();
            let (epoch, status_version) = (notes.epoch + 1, notes.status_version);
            let hello = hello(epoch).into();
            *notes = Notes { epoch, hello, status_version, ..Notes::default() };
            notes.set_status(status);
            epoch
        };
        self.changed.send_replace(());
        epoch
    }

    /// Publishes. False if the epoch is over.
    pub fn update(&self, epoch: u32, write: impl FnOnce(&mut Notes)) -> bool {
        let current = {
            let mut notes = self.lock();
            let current = notes.epoch == epoch;
            if current {
                write(&mut notes);
            }
            current
        };
        self.changed.send_replace(());
        current
    }

    /// Tells when there is something new.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        let mut receiver = self.changed.subscribe();
        receiver.mark_changed();
        receiver
    }

    /// The epoch.
    pub fn epoch(&self) -> u32 {
        self.lock().epoch
    }

    /// A frame of a live run, if it is still kept.
    pub fn frame(&self, step: u64) -> Option<Bytes> {
        self.lock().reel.get(step)
    }

    /// Frames of a live run that are still kept, evenly, no more than this many.
    pub fn sample(&self, most: usize) -> Vec<Bytes> {
        self.lock().reel.sample(most)
    }

    /// All that a page has not seen yet, in the order in which it makes sense. Frames that it missed are not
    /// among it: only the newest is.
    pub fn news(&self, seen: &mut Seen) -> Vec<News> {
        let mut news = Vec::new();
        let notes = self.lock();
        let epoch = notes.epoch;
        if seen.epoch != epoch {
            *seen = Seen { epoch, ..Seen::default() };
            news.push(News::Text(notes.hello.clone()));
        }
        news.extend(notes.added[seen.added..].iter().cloned().map(News::Text));
        seen.added = notes.added.len();
        if seen.status != notes.status_version {
            seen.status = notes.status_version;
            news.push(News::Text(Arc::clone(&notes.status_message)));
        }
        let (version, marks) = notes.marks.told();
        if seen.marks != version {
            seen.marks = version;
            news.push(News::Text(Arc::clone(marks)));
        }
        if seen.thinned != notes.history.thinned() {
            (seen.thinned, seen.rows) = (notes.history.thinned(), 0);
        }
        let from = seen.rows;
        let rows = notes.history.rows()[from..].to_vec();
        let newest = notes.reel.last().filter(|(added, _)| *added != seen.frames);
        let newest = newest.map(|(added, frame)| (added, frame.clone()));
        drop(notes);
        if !rows.is_empty() {
            news.push(News::Binary(wire::series(&rows, from, epoch)));
            seen.rows += rows.len();
        }
        if let Some((added, frame)) = newest {
            seen.frames = added;
            news.push(News::Binary(frame));
        }
        news
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Whoever panicked while it held this left at worst a note half written.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    /// How it stood when it was last told.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// How it stands now; with it pages are told of new marks.
    pub fn set_status(&mut self, status: Status) {
        self.marks.tell(self.epoch);
        self.status_message = status.message().into();
        self.status = status;
        self.status_version += 1;
    }
}
