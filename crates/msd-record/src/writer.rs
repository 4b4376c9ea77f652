//! The writer: encodes frames as messages and writes them to the file, on a thread of its own.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcap::records::MessageHeader;
use mcap::{Compression, McapError, WriteOptions};
use msd_sim::math::{Pose, Vec3};
use msd_sim::{BodyKind, Settings};

use crate::body::BodyInfo;
use crate::chunks::MAX_CHUNK;
use crate::error::RecordError;
use crate::foxglove::{
    FrameTransform, FrameTransforms, SceneEntity, SceneEntityDeletion, SceneUpdate, WORLD,
};
use crate::frame::{BodyState, Frame};
use crate::header::{BodyMessage, Header, HeaderMessage, IndexMessage, SummaryMessage};
use crate::messages::{ContactsMessage, StepMessage};
use crate::recording::Recording;
use crate::wire::{self, Message};

/// Size before compression at which a chunk is closed, bytes. See `bench/recording.md`.
const CHUNK_BYTES: usize = 4 << 20;

/// Age at which a chunk is closed: the most that is lost if the process is killed.
pub(crate) const CHUNK_AGE: Duration = Duration::from_millis(400);

/// zstd level. See `bench/recording.md`.
const LEVEL: u32 = 2;

/// Least simulated time between two Foxglove poses, ns: 30 per second.
const DRAW_INTERVAL: u64 = 33_333_333;

/// Topics of the channels.
pub(crate) mod topic {
    pub(crate) const HEADER: &str = "/msd/header";
    pub(crate) const BODY: &str = "/msd/body";
    pub(crate) const STEP: &str = "/msd/step";
    pub(crate) const CONTACTS: &str = "/msd/contacts";
    pub(crate) const SUMMARY: &str = "/msd/summary";
    pub(crate) const INDEX: &str = "/msd/index";
    pub(crate) const SCENE: &str = "/scene";
    pub(crate) const TF: &str = "/tf";
    pub(crate) const TF_STATIC: &str = "/tf_static";
}

/// A writer of one recording.
pub(crate) struct Writer {
    path: PathBuf,
    file: mcap::Writer<BufWriter<File>>,
    channels: Channels,
    bytes: Vec<u8>,
    step: StepMessage,
    contacts: ContactsMessage,
    index: IndexMessage,
    foxglove: FoxgloveScene,
    /// Size of the open chunk in bytes, its start time and its first step.
    chunk_bytes: usize,
    chunk_start: Instant,
    first: Option<u64>,
    has_bodies: bool,
    frames: u64,
    /// Step and time (ns) of the last frame.
    last: (u64, u64),
}

#[derive(Clone, Copy)]
struct Channels {
    header: u16,
    body: u16,
    step: u16,
    contacts: u16,
    summary: u16,
    index: u16,
    scene: u16,
    transforms: u16,
    static_transforms: u16,
}

impl Writer {
    pub(crate) fn create(
        path: &Path,
        header: &Header,
        settings: &Settings,
    ) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let file = open_exclusive(path).map_err(io)?;
        let begun = Self::start(path, file).and_then(|mut writer| {
            let message = HeaderMessage::of(header, settings);
            writer.put(writer.channels.header, &message)?;
            Ok(writer)
        });
        begun.map_err(|error| {
            remove_if_unreadable(path);
            failed(path, error)
        })
    }

    fn start(path: &Path, file: File) -> Result<Self, McapError> {
        let mut file = WriteOptions::new()
            .library(concat!("msd-record ", env!("CARGO_PKG_VERSION")))
            .compression(Some(Compression::Zstd))
            .compression_level(LEVEL)
            .compression_threads(0)
            .chunk_size(None) // Chunks are closed here, between frames.
            .disable_seeking(true) // Each chunk is written as a whole.
            .create(BufWriter::new(file))?;
        let channels = Channels {
            header: channel::<HeaderMessage>(&mut file, topic::HEADER)?,
            body: channel::<BodyMessage>(&mut file, topic::BODY)?,
            step: channel::<StepMessage>(&mut file, topic::STEP)?,
            contacts: channel::<ContactsMessage>(&mut file, topic::CONTACTS)?,
            summary: channel::<SummaryMessage>(&mut file, topic::SUMMARY)?,
            index: channel::<IndexMessage>(&mut file, topic::INDEX)?,
            scene: channel::<SceneUpdate>(&mut file, topic::SCENE)?,
            transforms: channel::<FrameTransforms>(&mut file, topic::TF)?,
            static_transforms: channel::<FrameTransforms>(&mut file, topic::TF_STATIC)?,
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            channels,
            bytes: Vec::new(),
            step: StepMessage::default(),
            contacts: ContactsMessage::default(),
            index: IndexMessage::default(),
            foxglove: FoxgloveScene::default(),
            chunk_bytes: 0,
            chunk_start: Instant::now(),
            first: None,
            has_bodies: false,
            frames: 0,
            last: (0, 0),
        })
    }

    /// Writes the new bodies of a frame, then the frame.
    pub(crate) fn frame(&mut self, frame: &Frame, new: &[BodyInfo]) -> Result<(), RecordError> {
        let written = self.write_frame(frame, new);
        written.map_err(|error| failed(&self.path, error))?;
        if self.chunk_bytes > MAX_CHUNK {
            let reason = format!("a step of {} bytes is too large", self.chunk_bytes);
            return Err(RecordError::Write { path: self.path.clone(), reason });
        }
        // The first chunk holds everything needed to read the others: it is written at once.
        if self.chunk_bytes >= CHUNK_BYTES || self.frames == 1 { self.end_chunk() } else { Ok(()) }
    }

    fn write_frame(&mut self, frame: &Frame, new: &[BodyInfo]) -> Result<(), McapError> {
        if self.first.is_none() {
            self.first = Some(frame.step);
            self.chunk_start = Instant::now();
        }
        self.last = (frame.step, nanoseconds(frame.time));
        self.frames += 1;
        for info in new {
            let frame_id = self.foxglove.add(info);
            self.has_bodies = true;
            self.put(self.channels.body, &BodyMessage::of(info, &frame_id))?;
        }
        // Taken out of `self` while it is written, since `put` borrows `self`.
        let mut step = std::mem::take(&mut self.step);
        step.fill(frame);
        let written = self.put(self.channels.step, &step);
        self.step = step;
        written?;
        if !frame.has_contacts {
            return self.draw(frame);
        }
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.fill(frame);
        let written = self.put(self.channels.contacts, &contacts);
        self.contacts = contacts;
        written?;
        self.draw(frame)
    }

    fn draw(&mut self, frame: &Frame) -> Result<(), McapError> {
        let time = self.last.1;
        if !self.foxglove.is_due(time) {
            return Ok(());
        }
        let [transforms, static_transforms] = self.foxglove.transforms(frame, time);
        if let Some(scene) = self.foxglove.scene(time) {
            self.put(self.channels.scene, &scene)?;
        }
        if let Some(static_transforms) = static_transforms {
            self.put(self.channels.static_transforms, &static_transforms)?;
        }
        match transforms {
            Some(transforms) => self.put(self.channels.transforms, &transforms),
            None => Ok(()),
        }
    }

    /// Returns the time at which the open chunk must be closed, if it holds a frame.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.first.map(|_| self.chunk_start + CHUNK_AGE)
    }

    /// Closes the chunk and flushes it to the operating system.
    pub(crate) fn end_chunk(&mut self) -> Result<(), RecordError> {
        if let Some(first) = self.first.take() {
            if std::mem::take(&mut self.has_bodies) {
                self.index.bodies.push(self.index.first.len() as u32);
            }
            self.index.first.push(first);
            self.index.last.push(self.last.0);
        }
        self.chunk_bytes = 0;
        self.file.flush().map_err(|error| failed(&self.path, error))
    }

    /// Closes the file; an unfinished run has no summary.
    pub(crate) fn end(mut self, summary: Option<String>) -> Result<Written, RecordError> {
        self.end_chunk()?;
        let index = std::mem::take(&mut self.index);
        let written = self.put(self.channels.index, &index).and_then(|()| match summary {
            Some(json) => {
                self.put(self.channels.summary, &SummaryMessage { json, frames: self.frames })
            }
            None => Ok(()),
        });
        let ended = written.and_then(|()| self.file.finish().map(drop));
        ended.map_err(|error| failed(&self.path, error))?;
        let io = |source| RecordError::Io { path: self.path.clone(), source };
        let bytes = std::fs::metadata(&self.path).map_err(io)?.len();
        Ok(Written { bytes, frames: self.frames })
    }

    fn put<M: Message>(&mut self, channel_id: u16, message: &M) -> Result<(), McapError> {
        self.bytes.clear();
        wire::encode(message, &mut self.bytes);
        self.chunk_bytes += self.bytes.len();
        let (step, time) = self.last;
        let header =
            MessageHeader { channel_id, sequence: step as u32, log_time: time, publish_time: time };
        self.file.write_to_known_channel(&header, &self.bytes)
    }
}

/// Opens a file for writing from its beginning, unless another process is writing it.
fn open_exclusive(path: &Path) -> std::io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let busy = std::io::ErrorKind::ResourceBusy;
            return Err(std::io::Error::new(busy, "another run is writing it"));
        }
        // File systems without locks cannot exclude other writers.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    // Devices cannot be truncated.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Removes a file after a write error if nothing in it can be read.
pub(crate) fn remove_if_unreadable(path: &Path) {
    if path.is_file() && Recording::open(path).is_err() {
        // Nothing can be done if this fails.
        let _ = std::fs::remove_file(path);
    }
}

/// The size of a finished recording.
pub(crate) struct Written {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
}

fn failed(path: &Path, error: McapError) -> RecordError {
    match error {
        McapError::Io(source) => RecordError::Io { path: path.to_owned(), source },
        other => RecordError::Write { path: path.to_owned(), reason: other.to_string() },
    }
}

fn channel<M: Message>(
    file: &mut mcap::Writer<BufWriter<File>>,
    topic: &str,
) -> Result<u16, McapError> {
    let schema = file.add_schema(M::NAME, "protobuf", &wire::description_of::<M>())?;
    file.add_channel(schema, topic, "protobuf", &BTreeMap::new())
}

/// Returns simulated time in MCAP's nanoseconds; negative times and NaN become zero.
fn nanoseconds(time: f64) -> u64 {
    (time * 1e9).round() as u64
}

/// The state of the scene as last written for Foxglove.
#[derive(Default)]
struct FoxgloveScene {
    bodies: Vec<Option<DrawnBody>>,
    names: HashSet<String>,
    deletions: Vec<String>,
    scene_changed: bool,
    last: Option<u64>,
}

struct DrawnBody {
    entity: SceneEntity,
    generation: u32,
    moves: bool,
    /// Pose last written to `/tf_static`.
    static_pose: Option<Pose>,
}

impl FoxgloveScene {
    /// Adds a body and returns the name of its frame: that of the body, if it is unique.
    fn add(&mut self, info: &BodyInfo) -> String {
        let key = info.body;
        let mut name = info.name.clone();
        if name.is_empty() || name == WORLD || self.names.contains(&name) {
            let base = if info.name.is_empty() { "body" } else { &info.name };
            name = format!("{base}#{}", key.index);
        }
        while !self.names.insert(name.clone()) {
            name = format!("{name}#{}", key.generation);
        }
        let index = key.index as usize;
        if self.bodies.len() <= index {
            self.bodies.resize_with(index + 1, || None);
        }
        let drawn = DrawnBody {
            entity: SceneEntity::of(info, &name),
            generation: key.generation,
            moves: info.kind == BodyKind::Inertial,
            static_pose: None,
        };
        if let Some(gone) = self.bodies[index].replace(drawn) {
            self.deletions.push(gone.entity.id);
        }
        self.scene_changed = true;
        name
    }

    /// Returns whether poses are due again.
    fn is_due(&mut self, time: u64) -> bool {
        let due = self.last.is_none_or(|last| time.saturating_sub(last) >= DRAW_INTERVAL);
        if due {
            self.last = Some(time);
        }
        due
    }

    /// Returns the poses of moving bodies, and those of static bodies if one changed.
    fn transforms(&mut self, frame: &Frame, time: u64) -> [Option<FrameTransforms>; 2] {
        let mut static_changed = false;
        let mut lists = [FrameTransforms::default(), FrameTransforms::default()];
        let mut states = frame.states.iter().peekable();
        for (index, slot) in self.bodies.iter_mut().enumerate() {
            while states.next_if(|state| (state.body.index as usize) < index).is_some() {}
            let state = states.next_if(|state| state.body.index as usize == index);
            let here = |drawn: &&mut DrawnBody| {
                state.is_some_and(|state| state.body.generation == drawn.generation)
            };
            let (Some(drawn), Some(state)) = (slot.as_mut().filter(here), state) else {
                if let Some(gone) = slot.take() {
                    self.deletions.push(gone.entity.id);
                    self.scene_changed = true;
                }
                continue;
            };
            let pose = Pose::new(state.position, state.rotation);
            drawn.moves |= is_moving(state);
            if !drawn.moves && drawn.static_pose != Some(pose) {
                drawn.static_pose = Some(pose);
                static_changed = true;
            }
            let list = &mut lists[usize::from(!drawn.moves)];
            list.transforms.push(FrameTransform::of(time, &drawn.entity.frame_id, &pose));
        }
        let [transforms, static_transforms] = lists;
        [
            Some(transforms).filter(|list| !list.transforms.is_empty()),
            Some(static_transforms).filter(|_| static_changed),
        ]
    }

    /// Returns the whole scene if it changed: a viewer that seeks sees only the last message.
    fn scene(&mut self, time: u64) -> Option<SceneUpdate> {
        if !std::mem::take(&mut self.scene_changed) {
            return None;
        }
        let gone = self.deletions.drain(..);
        let deletions = gone.map(|id| SceneEntityDeletion::of(time, &id)).collect();
        let entities = self.bodies.iter().flatten().map(|drawn| {
            let mut entity = drawn.entity.clone();
            entity.timestamp = crate::foxglove::Timestamp::of(time);
            entity
        });
        Some(SceneUpdate { deletions, entities: entities.collect() })
    }
}

fn is_moving(state: &BodyState) -> bool {
    state.velocity != Vec3::ZERO || state.angular_velocity != Vec3::ZERO
}
