//! The last frames of a live run, as they are sent.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of frames that are kept.
const MOST_BYTES: usize = 128 << 20;

/// The last frames, of steps that follow each other.
#[derive(Debug, Default)]
pub struct Reel {
    frames: VecDeque<Arc<[u8]>>,
    /// The step of the first.
    first: u64,
    bytes: usize,
}

impl Reel {
    /// Adds the frame of the next step, and drops the oldest if there are too many.
    pub fn push(&mut self, step: u64, frame: Arc<[u8]>) {
        if self.frames.is_empty() {
            self.first = step;
        }
        self.bytes += frame.len();
        self.frames.push_back(frame);
        while self.bytes > MOST_BYTES && self.frames.len() > 1 {
            self.bytes -= self.frames.pop_front().map_or(0, |frame| frame.len());
            self.first += 1;
        }
    }

    /// The first step kept.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The newest frame.
    pub fn last(&self) -> Option<&Arc<[u8]>> {
        self.frames.back()
    }

    /// All frames kept, for those who then let go of the reel.
    pub fn all(&self) -> Vec<Arc<[u8]>> {
        self.frames.iter().cloned().collect()
    }

    /// The frame of a step.
    pub fn get(&self, step: u64) -> Option<Arc<[u8]>> {
        let place = usize::try_from(step.checked_sub(self.first)?).ok()?;
        self.frames.get(place).cloned()
    }
}
