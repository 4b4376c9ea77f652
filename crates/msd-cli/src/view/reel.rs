//! The last frames of a live run, as they are sent.

use std::collections::VecDeque;

use axum::body::Bytes;

/// Bytes of frames that are kept.
const MOST_BYTES: usize = 128 << 20;

/// The last frames, of steps that follow each other.
#[derive(Debug, Default)]
pub struct Reel {
    frames: VecDeque<Bytes>,
    /// The step of the first.
    first: u64,
    bytes: usize,
    /// How many were added.
    added: u64,
}

impl Reel {
    /// Adds the frame of the next step, or the newest step's in place of it. Drops the oldest if there are too
    /// many.
    pub fn push(&mut self, step: u64, frame: Bytes) {
        if self.frames.is_empty() {
            self.first = step;
        }
        if step < self.first + self.frames.len() as u64 {
            self.bytes -= self.frames.pop_back().map_or(0, |frame| frame.len());
        }
        self.added += 1;
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

    /// The newest frame, and how many were added up to it.
    pub fn last(&self) -> Option<(u64, &Bytes)> {
        self.frames.back().map(|frame| (self.added, frame))
    }

    /// Frames from all that are kept, evenly, no more than this many.
    pub fn sample(&self, most: usize) -> Vec<Bytes> {
        let stride = self.frames.len().div_ceil(most).max(1);
        self.frames.iter().step_by(stride).cloned().collect()
    }

    /// The frame of a step.
    pub fn get(&self, step: u64) -> Option<Bytes> {
        let place = usize::try_from(step.checked_sub(self.first)?).ok()?;
        self.frames.get(place).cloned()
    }
}
