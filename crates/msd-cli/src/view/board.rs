//! What is known of a run: put there by the thread that steps or reads, taken by each page as fast as it can.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::history::History;
use super::marks::Marks;
use super::reel::Reel;
use super::wire::{self, Status};

/// The board. Its lock is held for short copies only, never while anything is sent.
#[derive(Debug)]
pub struct Board {
    notes: Mutex<Notes>,
    changed: watch::Sender<()>,
}

/// What stands on it.
#[derive(Debug, Default)]
pub struct Notes {
    epoch: u32,
    hello: String,
    /// Messages about bodies that came later.
    pub added: Vec<String>,
    pub history: History,
    pub marks: Marks,
    status: Status,
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
    frame: Option<Arc<[u8]>>,
}

/// A message to a page.
#[derive(Clone, Debug)]
pub enum News {
    Text(String),
    Binary(Arc<[u8]>),
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
            let epoch = notes.epoch + 1;
            let status_version = notes.status_version + 1;
            let hello = hello(epoch);
            *notes = Notes { epoch, hello, status, status_version, ..Notes::default() };
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
    pub fn frame(&self, step: u64) -> Option<Arc<[u8]>> {
        self.lock().reel.get(step)
    }

    /// All frames of a live run that are still kept.
    pub fn frames(&self) -> Vec<Arc<[u8]>> {
        self.lock().reel.all()
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
            news.push(News::Text(notes.status.message()));
        }
        if seen.marks != notes.marks.version() {
            seen.marks = notes.marks.version();
            news.push(News::Text(wire::marks(&notes.marks.list(), epoch)));
        }
        if seen.thinned != notes.history.thinned() {
            (seen.thinned, seen.rows) = (notes.history.thinned(), 0);
        }
        let rows = &notes.history.rows()[seen.rows..];
        if !rows.is_empty() {
            news.push(News::Binary(wire::series(rows, seen.rows, epoch).into()));
            seen.rows += rows.len();
        }
        let newest = notes.reel.last();
        if let Some(frame) = newest.filter(|frame| !same(seen.frame.as_ref(), frame)) {
            seen.frame = Some(Arc::clone(frame));
            news.push(News::Binary(Arc::clone(frame)));
        }
        news
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Whoever panicked while it held this left at worst a note half written.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    /// How it stands now.
    pub fn set_status(&mut self, status: Status) {
        self.status = status;
        self.status_version += 1;
    }
}

fn same(a: Option<&Arc<[u8]>>, b: &Arc<[u8]>) -> bool {
    a.is_some_and(|a| Arc::ptr_eq(a, b))
}
