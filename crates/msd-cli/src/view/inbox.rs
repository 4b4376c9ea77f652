//! The inbox of a simulation thread: commands of the pages, and the body that a page drags.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use msd_sim::math::Vec3;
use tokio::sync::mpsc;

use super::wire::{SettingsChange, Throw};

/// Maximum number of queued commands; further ones are rejected.
const MAX_QUEUED_COMMANDS: usize = 64;

/// The channel on which a page receives the reasons for rejected commands.
pub type Refusals = mpsc::Sender<String>;

/// A command to the simulation thread. Commands are executed in order.
#[derive(Debug)]
pub enum LiveCommand {
    Run,
    Pause,
    Step,
    Speed(f64),
    Set(SettingsChange),
    Throw(Throw),
    /// Grab a body on behalf of a page, at a point in the body's axes.
    Grab {
        page: u64,
        body: u32,
        anchor: Vec3,
    },
}

/// The inbox of a simulation thread.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<InboxState>,
    wake: Condvar,
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct InboxState {
    commands: VecDeque<(LiveCommand, Refusals)>,
    /// The page that drags a body, and the point it drags to. Not a command: only the last value counts, and a release
    /// is never rejected.
    drag: Option<(u64, Vec3)>,
}

/// The contents of an inbox.
pub struct Received {
    pub commands: VecDeque<(LiveCommand, Refusals)>,
    /// The page that drags a body, and the point it drags to.
    pub drag: Option<(u64, Vec3)>,
}

impl Inbox {
    /// Queues a command; returns false if the queue is full.
    pub fn enqueue(&self, command: LiveCommand, rejections: &Refusals) -> bool {
        let mut inbox = self.lock();
        let room = inbox.commands.len() < MAX_QUEUED_COMMANDS;
        if room {
            inbox.commands.push_back((command, rejections.clone()));
            self.wake.notify_one();
        }
        room
    }

    /// Starts a drag by a page, ahead of the `Grab` command that selects the body.
    pub fn begin_drag(&self, page: u64, to: Vec3) {
        self.lock().drag = Some((page, to));
    }

    /// Moves the point to which a page drags.
    pub fn drag(&self, page: u64, to: Vec3) {
        if let Some(drag) = self.lock().drag.as_mut().filter(|drag| drag.0 == page) {
            drag.1 = to;
        }
    }

    /// Ends the drag of a page.
    pub fn release(&self, page: u64) {
        self.lock().drag.take_if(|drag| drag.0 == page);
    }

    /// Tells the thread to end.
    pub fn stop(&self) {
        // Under the lock, so that a thread about to wait sees it.
        let _state = self.lock();
        self.stop.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Returns the flag that tells the thread to end, for steps to look at.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes all commands; `None` if the thread has to end.
    pub fn receive(&self) -> Option<Received> {
        let mut inbox = self.lock();
        let commands = std::mem::take(&mut inbox.commands);
        (!self.is_stopped()).then_some(Received { commands, drag: inbox.drag })
    }

    /// Waits for a command or until the timeout.
    pub fn wait(&self, timeout: Duration) {
        let inbox = self.lock();
        if inbox.commands.is_empty() && !self.is_stopped() {
            let _ = self.wake.wait_timeout(inbox, timeout);
        }
    }

    fn lock(&self) -> MutexGuard<'_, InboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
