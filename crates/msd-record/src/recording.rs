//! Reading of complete and truncated recordings.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use msd_sim::Settings;

use crate::body::BodyInfo;
use crate::bytes::Malformed;
use crate::chunks::{self, Channels, Chunk, ChunkLocation, FrameLocation, MAX_CHUNK};
use crate::error::RecordError;
use crate::frame::Frame;
use crate::header::{BodyMessage, FORMAT, Header, HeaderMessage, IndexMessage, SummaryMessage};
use crate::messages::{ContactsMessage, StepMessage};
use crate::wire;

/// A recording opened for reading: complete, or as much as a truncated file holds.
///
/// Frames are read on demand, with one chunk in memory at a time. The checksum of every chunk is verified, so a frame
/// is either as it was recorded or an error.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    header: Header,
    settings: Option<Settings>,
    bodies: Vec<BodyInfo>,
    summary: Option<String>,
    is_complete: bool,
    frame_chunks: Vec<FrameChunk>,
    /// Reason why nothing can be read past the last chunk, if more should follow.
    damage: Option<String>,
    last: u64,
    channels: Channels,
    /// Size of the messages that `bodies` was read from, bytes.
    body_bytes: usize,
    source: Mutex<Source>,
}

/// A chunk that holds frames.
#[derive(Clone, Copy, Debug)]
struct FrameChunk {
    location: ChunkLocation,
    /// First step; for an unreadable chunk, the first missing step.
    first: u64,
}

#[derive(Debug)]
struct Source {
    file: File,
    /// Last chunk read: frames are mostly requested in order.
    cached: Option<(usize, Arc<Chunk>)>,
}

impl Recording {
    /// Opens a recording. A file that was truncated or whose index is damaged is scanned once.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let reject = |reason: String| RecordError::NotARecording { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(io)?;
        if !chunks::has_magic(&mut file) {
            return Err(reject("it is not an MCAP file".to_owned()));
        }
        let index = chunks::read_index(&mut file).filter(|locations| !locations.is_empty());
        let (locations, damage, has_index) = match index {
            Some(locations) => (locations, None, true),
            None => {
                let scan = chunks::scan(&mut file).map_err(io)?;
                // A truncated file may end within a record. A finished file that does so was damaged.
                let finished = chunks::has_end_magic(&mut file);
                (scan.locations, scan.damage.filter(|_| finished), false)
            }
        };
        let Some(&first) = locations.first() else {
            return Err(reject(damage.unwrap_or_else(|| "it is empty".to_owned())));
        };
        let mut channels = Channels::default();
        let start = Chunk::read(&mut file, first, &mut channels).map_err(reject)?;
        let Some(header) = &start.header else {
            return Err(reject("it has no header of this engine".to_owned()));
        };
        let message: HeaderMessage =
            wire::decode(start.bytes(header)).map_err(|error| reject(error.to_string()))?;
        if message.format > FORMAT {
            let reason = format!("its format is {}, newer than {FORMAT}", message.format);
            return Err(reject(reason));
        }
        let (header, settings) = message.into_header();
        let mut recording = Self {
            path: path.to_owned(),
            header,
            settings,
            bodies: Vec::new(),
            summary: None,
            is_complete: false,
            frame_chunks: Vec::new(),
            damage,
            last: 0,
            channels,
            body_bytes: 0,
            source: Mutex::new(Source { file, cached: None }),
        };
        if !(has_index && recording.load_index(&locations)) {
            recording.scan_chunks(&locations);
        }
        recording.is_complete =
            has_index && recording.summary.is_some() && recording.damage.is_none();
        Ok(recording)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the settings of the world; `None` if this build does not have the method.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// Returns all bodies that were ever in the world, in order of appearance.
    pub fn bodies(&self) -> &[BodyInfo] {
        &self.bodies
    }

    /// Returns the summary of a finished recording, unless it is empty.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref().filter(|summary| !summary.is_empty())
    }

    /// Returns whether the recording was finished. If not, the run was killed or the end is damaged.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the first recorded step.
    pub fn first_step(&self) -> u64 {
        self.frame_chunks.first().map_or(0, |chunk| chunk.first)
    }

    /// Returns the last recorded step.
    pub fn steps(&self) -> u64 {
        self.last
    }

    /// Reads the frame of one step.
    pub fn frame(&self, step: u64) -> Result<Frame, RecordError> {
        if let Some(reason) = self.damage.clone().filter(|_| step > self.last) {
            return Err(RecordError::Damaged { step: self.last + 1, reason });
        }
        let (first, last) = (self.first_step(), self.last);
        let missing = RecordError::NoSuchStep { step, first, last };
        let chunk_index = self.frame_chunks.partition_point(|chunk| chunk.first <= step);
        let Some(chunk_index) = chunk_index.checked_sub(1) else { return Err(missing) };
        let chunk = self.chunk(chunk_index)?;
        match chunk.frames.binary_search_by_key(&step, |frame| frame.step) {
            Ok(index) => read_frame(&chunk, &chunk.frames[index]),
            Err(_) => Err(missing),
        }
    }

    /// Reads all frames in order. Each damaged chunk yields one error with its first step; the frames after it
    /// follow.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame, RecordError>> + '_ {
        let frames =
            (0..self.frame_chunks.len()).flat_map(|chunk_index| match self.chunk(chunk_index) {
                Ok(chunk) => ChunkFrames { chunk: Ok(chunk), next: 0 },
                Err(error) => ChunkFrames { chunk: Err(Some(error)), next: 0 },
            });
        let damage = self
            .damage
            .clone()
            .map(|reason| Err(RecordError::Damaged { step: self.last + 1, reason }));
        frames.chain(damage)
    }

    fn chunk(&self, chunk_index: usize) -> Result<Arc<Chunk>, RecordError> {
        // A panic while the lock was held leaves no inconsistent state that matters.
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, chunk)) =
            source.cached.as_ref().filter(|(cached, _)| *cached == chunk_index)
        {
            return Ok(Arc::clone(chunk));
        }
        let FrameChunk { location, first } = self.frame_chunks[chunk_index];
        let mut channels = self.channels;
        let chunk = Chunk::read(&mut source.file, location, &mut channels)
            .map_err(|reason| RecordError::Damaged { step: first, reason })?;
        let chunk = Arc::new(chunk);
        source.cached = Some((chunk_index, Arc::clone(&chunk)));
        Ok(chunk)
    }

    /// Loads steps, bodies and summary from the chunk at the end; returns false if that chunk is damaged.
    fn load_index(&mut self, locations: &[ChunkLocation]) -> bool {
        let Some((&end, rest)) = locations.split_last() else { return false };
        let Ok(chunk) = self.read(end) else { return false };
        let Some(Ok(index)) = chunk.index.as_ref().map(|at| wire::decode(chunk.bytes(at))) else {
            return false;
        };
        let IndexMessage { first, last, bodies } = index;
        if first.len() != rest.len() || last.len() != rest.len() {
            return false;
        }
        self.take_summary(&chunk);
        self.last = last.last().copied().unwrap_or(0);
        let frame_chunks = rest.iter().zip(first);
        self.frame_chunks =
            frame_chunks.map(|(&location, first)| FrameChunk { location, first }).collect();
        for location in bodies.iter().filter_map(|&chunk_index| rest.get(chunk_index as usize)) {
            // Reading the frames of a damaged chunk reports the damage.
            if let Ok(chunk) = self.read(*location) {
                self.take_bodies(&chunk);
            }
        }
        true
    }

    /// Loads steps, bodies and summary by reading all chunks.
    fn scan_chunks(&mut self, locations: &[ChunkLocation]) {
        let mut next = 0;
        for &location in locations {
            match self.read(location) {
                Ok(chunk) => {
                    self.take_bodies(&chunk);
                    self.take_summary(&chunk);
                    if let [first, ..] = chunk.frames.as_slice() {
                        self.frame_chunks.push(FrameChunk { location, first: first.step });
                        self.last = chunk.frames.last().map_or(self.last, |last| last.step);
                        next = self.last + 1;
                    }
                }
                Err(_) => self.frame_chunks.push(FrameChunk { location, first: next }),
            }
        }
    }

    fn read(&mut self, location: ChunkLocation) -> Result<Chunk, String> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        Chunk::read(&mut source.file, location, &mut self.channels)
    }

    fn take_bodies(&mut self, chunk: &Chunk) {
        for at in &chunk.bodies {
            self.body_bytes = self.body_bytes.saturating_add(at.len());
            if self.body_bytes > MAX_CHUNK {
                let reason = format!("its bodies take more than {MAX_CHUNK} bytes");
                self.damage.get_or_insert(reason);
                return;
            }
            let message: Result<BodyMessage, Malformed> = wire::decode(chunk.bytes(at));
            self.bodies.extend(message.and_then(BodyMessage::into_info));
        }
    }

    fn take_summary(&mut self, chunk: &Chunk) {
        let message = chunk.summary.as_ref().map(|at| wire::decode(chunk.bytes(at)));
        if let Some(Ok(SummaryMessage { json, .. })) = message {
            self.summary = Some(json);
        }
    }
}

/// An iterator over the frames of one chunk, or its read error.
struct ChunkFrames {
    chunk: Result<Arc<Chunk>, Option<RecordError>>,
    next: usize,
}

impl Iterator for ChunkFrames {
    type Item = Result<Frame, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.chunk {
            Ok(chunk) => {
                let at = chunk.frames.get(self.next)?;
                self.next += 1;
                Some(read_frame(chunk, at))
            }
            Err(error) => error.take().map(Err),
        }
    }
}

fn read_frame(chunk: &Chunk, at: &FrameLocation) -> Result<Frame, RecordError> {
    let read = || {
        let step: StepMessage = wire::decode(chunk.bytes(&at.state))?;
        // A message holds at least its step: an empty range means that none was written.
        let contacts: Option<ContactsMessage> = match at.contacts.is_empty() {
            true => None,
            false => Some(wire::decode(chunk.bytes(&at.contacts))?),
        };
        step.into_frame(contacts.as_ref())
    };
    read().map_err(|error: Malformed| RecordError::Damaged {
        step: at.step,
        reason: error.to_string(),
    })
}
