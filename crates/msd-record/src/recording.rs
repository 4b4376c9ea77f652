//! Reading recordings, whole or cut off.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use msd_sim::Settings;

use crate::body::BodyInfo;
use crate::bytes::Malformed;
use crate::chunks::{self, Channels, Chunk, FrameAt, Place};
use crate::error::RecordError;
use crate::frame::Frame;
use crate::header::{BodyMessage, FORMAT, Header, HeaderMessage, IndexMessage, SummaryMessage};
use crate::messages::{ContactsMessage, StepMessage};
use crate::wire;

/// A recording to be read: whole, or what is there of one that was cut off.
///
/// Only what is asked for is read: one chunk at a time is in memory. Every chunk's checksum is
/// verified, so a frame is either as it was recorded or an error.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    header: Header,
    settings: Option<Settings>,
    bodies: Vec<BodyInfo>,
    summary: Option<String>,
    is_complete: bool,
    parts: Vec<Part>,
    /// Why nothing can be read beyond the last part, if more was to come.
    broken: Option<String>,
    last: u64,
    channels: Channels,
    source: Mutex<Source>,
}

/// A chunk with frames.
#[derive(Clone, Copy, Debug)]
struct Part {
    place: Place,
    /// Its first step; of a chunk that cannot be read, the first that is missing.
    first: u64,
}

#[derive(Debug)]
struct Source {
    file: File,
    /// The part last read: frames are mostly asked for in order.
    recent: Option<(usize, Arc<Chunk>)>,
}

impl Recording {
    /// Opens a recording. One that was cut off, or whose index is damaged, is looked through once.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let refuse = |reason: String| RecordError::NotARecording { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(io)?;
        if !chunks::has_magic(&mut file) {
            return Err(refuse("it is not an MCAP file".to_owned()));
        }
        let index = chunks::read_index(&mut file).filter(|places| !places.is_empty());
        let (places, broken, has_index) = match index {
            Some(places) => (places, None, true),
            None => {
                let scan = chunks::scan(&mut file).map_err(io)?;
                // That a file ends in the middle of a record is how a run that was cut off ends. One
                // that was finished and is torn all the same was damaged.
                let finished = chunks::has_end(&mut file);
                (scan.places, scan.broken.filter(|_| finished), false)
            }
        };
        let Some(&first) = places.first() else {
            return Err(refuse(broken.unwrap_or_else(|| "it holds nothing".to_owned())));
        };
        let mut channels = Channels::default();
        let start = Chunk::read(&mut file, first, &mut channels).map_err(refuse)?;
        let Some(header) = &start.header else {
            return Err(refuse("it has no header of this engine".to_owned()));
        };
        let message: HeaderMessage =
            wire::decode(start.bytes(header)).map_err(|error| refuse(error.to_string()))?;
        if message.format > FORMAT {
            let reason = format!("its format is {}, newer than {FORMAT}", message.format);
            return Err(refuse(reason));
        }
        let (header, settings) = message.into_header();
        let mut recording = Self {
            path: path.to_owned(),
            header,
            settings,
            bodies: Vec::new(),
            summary: None,
            is_complete: false,
            parts: Vec::new(),
            broken,
            last: 0,
            channels,
            source: Mutex::new(Source { file, recent: None }),
        };
        if !(has_index && recording.use_index(&places)) {
            recording.look_through(&places);
        }
        recording.is_complete = has_index && recording.summary.is_some();
        Ok(recording)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known before the first step.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the world stepped; none if with a method that this build does not have.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// Every body that ever was in it, in the order in which they were first seen.
    pub fn bodies(&self) -> &[BodyInfo] {
        &self.bodies
    }

    /// The summary that it was finished with, if it was and if that is not empty.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref().filter(|summary| !summary.is_empty())
    }

    /// Whether the recording was finished. If not, the run was cut off, or the end is damaged.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The first step held.
    pub fn first_step(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.first)
    }

    /// The last step held.
    pub fn steps(&self) -> u64 {
        self.last
    }

    /// The frame of one step.
    pub fn frame(&self, step: u64) -> Result<Frame, RecordError> {
        if let Some(reason) = self.broken.clone().filter(|_| step > self.last) {
            return Err(RecordError::Damaged { step: self.last + 1, reason });
        }
        let (first, last) = (self.first_step(), self.last);
        let missing = RecordError::NoSuchStep { step, first, last };
        let part = self.parts.partition_point(|part| part.first <= step);
        let Some(part) = part.checked_sub(1) else { return Err(missing) };
        let chunk = self.chunk(part)?;
        match chunk.frames.binary_search_by_key(&step, |frame| frame.step) {
            Ok(place) => read_frame(&chunk, &chunk.frames[place]),
            Err(_) => Err(missing),
        }
    }

    /// All frames, in order. For each damaged part comes an error that names its first step; the
    /// frames after it follow.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame, RecordError>> + '_ {
        let frames = (0..self.parts.len()).flat_map(|part| match self.chunk(part) {
            Ok(chunk) => PartFrames { chunk: Ok(chunk), next: 0 },
            Err(error) => PartFrames { chunk: Err(Some(error)), next: 0 },
        });
        let broken = self
            .broken
            .clone()
            .map(|reason| Err(RecordError::Damaged { step: self.last + 1, reason }));
        frames.chain(broken)
    }

    fn chunk(&self, part: usize) -> Result<Arc<Chunk>, RecordError> {
        // A thread that panicked while it held this left nothing half done that matters.
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, chunk)) = source.recent.as_ref().filter(|(recent, _)| *recent == part) {
            return Ok(Arc::clone(chunk));
        }
        let Part { place, first } = self.parts[part];
        let mut channels = self.channels;
        let chunk = Chunk::read(&mut source.file, place, &mut channels)
            .map_err(|reason| RecordError::Damaged { step: first, reason })?;
        let chunk = Arc::new(chunk);
        source.recent = Some((part, Arc::clone(&chunk)));
        Ok(chunk)
    }

    /// Takes steps, bodies and summary from the chunk at the end; false if that is damaged.
    fn use_index(&mut self, places: &[Place]) -> bool {
        let Some((&end, rest)) = places.split_last() else { return false };
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
        let parts = rest.iter().zip(first);
        self.parts = parts.map(|(&place, first)| Part { place, first }).collect();
        for place in bodies.iter().filter_map(|&part| rest.get(part as usize)) {
            // Of a chunk that is damaged its frames tell.
            if let Ok(chunk) = self.read(*place) {
                self.take_bodies(&chunk);
            }
        }
        true
    }

    /// Goes through all chunks.
    fn look_through(&mut self, places: &[Place]) {
        let mut next = 0;
        for &place in places {
            match self.read(place) {
                Ok(chunk) => {
                    self.take_bodies(&chunk);
                    self.take_summary(&chunk);
                    if let [first, ..] = chunk.frames.as_slice() {
                        self.parts.push(Part { place, first: first.step });
                        self.last = chunk.frames.last().map_or(self.last, |last| last.step);
                        next = self.last + 1;
                    }
                }
                Err(_) => self.parts.push(Part { place, first: next }),
            }
        }
    }

    fn read(&mut self, place: Place) -> Result<Chunk, String> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        Chunk::read(&mut source.file, place, &mut self.channels)
    }

    fn take_bodies(&mut self, chunk: &Chunk) {
        for at in &chunk.bodies {
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

/// The frames of one chunk, or why it has none.
struct PartFrames {
    chunk: Result<Arc<Chunk>, Option<RecordError>>,
    next: usize,
}

impl Iterator for PartFrames {
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

fn read_frame(chunk: &Chunk, at: &FrameAt) -> Result<Frame, RecordError> {
    let read = || {
        let step: StepMessage = wire::decode(chunk.bytes(&at.state))?;
        // A message has at least its step: one without bytes was not written.
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
