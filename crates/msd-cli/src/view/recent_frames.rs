//! The buffer of the most recent frames of a live run, serialized.

use std::collections::VecDeque;

use axum::body::Bytes;

/// Maximum size of the buffered frames, bytes.
const MAX_BYTES: usize = 128 << 20;

/// The most recent frames, of consecutive steps.
#[derive(Debug, Default)]
pub struct RecentFrames {
    frames: VecDeque<Bytes>,
    /// Step of the oldest buffered frame.
    first: u64,
    bytes: usize,
    /// Number of frames added so far.
    added: u64,
}

impl RecentFrames {
    /// Appends the frame of the next step, or replaces that of the newest step. Drops the oldest frames beyond the
    /// size limit.
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
        while self.bytes > MAX_BYTES && self.frames.len() > 1 {
            self.bytes -= self.frames.pop_front().map_or(0, |frame| frame.len());
            self.first += 1;
        }
    }

    /// Returns the oldest buffered step.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the newest frame and the number of frames added up to it.
    pub fn last(&self) -> Option<(u64, &Bytes)> {
        self.frames.back().map(|frame| (self.added, frame))
    }

    /// Returns evenly spaced frames of the buffer, at most `max`.
    pub fn sample(&self, max: usize) -> Vec<Bytes> {
        let stride = self.frames.len().div_ceil(max).max(1);
        let mut sample: Vec<Bytes> = self.frames.iter().rev().step_by(stride).cloned().collect();
        sample.reverse();
        sample
    }

    /// Returns the frame of a step, if buffered.
    pub fn get(&self, step: u64) -> Option<Bytes> {
        let index = usize::try_from(step.checked_sub(self.first)?).ok()?;
        self.frames.get(index).cloned()
    }
}
