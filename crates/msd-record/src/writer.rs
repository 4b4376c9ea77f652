//! The writing half: turns frames into messages and messages into a file, on a thread of its own.

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

/// A chunk is ended when it holds this many bytes before compression. See `bench/recording.md`.
const CHUNK_BYTES: usize = 4 << 20;

/// A chunk is ended when it is this old: so much is lost at most if the process is killed.
pub(crate) const CHUNK_AGE: Duration = Duration::from_millis(400);

/// Level of zstd. See `bench/recording.md`.
const LEVEL: u32 = 2;

/// Least simulated time between two drawn poses, ns: 30 a second.
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
    pub(crate) const MOVING: &str = "/tf";
    pub(crate) const STANDING: &str = "/tf_static";
}

/// Writes one recording.
pub(crate) struct Writer {
    path: PathBuf,
    file: mcap::Writer<BufWriter<File>>,
    channels: Channels,
    bytes: Vec<u8>,
    step: StepMessage,
    contacts: ContactsMessage,
    index: IndexMessage,
    drawing: Drawing,
    /// Bytes in the chunk at hand, when it began, and its first step.
    held: usize,
    since: Instant,
    first: Option<u64>,
    has_bodies: bool,
    frames: u64,
    /// Step and time of the last frame, ns.
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
    moving: u16,
    standing: u16,
}

impl Writer {
    pub(crate) fn create(
        path: &Path,
        header: &Header,
        settings: &Settings,
    ) -> Result<Self, RecordError> {
        let io = |source| RecordError::Io { path: path.to_owned(), source };
        let file = claim(path).map_err(io)?;
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
            .chunk_size(None) // Chunks are ended here, between frames.
            .disable_seeking(true) // A chunk reaches the file whole.
            .create(BufWriter::new(file))?;
        let channels = Channels {
            header: channel::<HeaderMessage>(&mut file, topic::HEADER)?,
            body: channel::<BodyMessage>(&mut file, topic::BODY)?,
            step: channel::<StepMessage>(&mut file, topic::STEP)?,
            contacts: channel::<ContactsMessage>(&mut file, topic::CONTACTS)?,
            summary: channel::<SummaryMessage>(&mut file, topic::SUMMARY)?,
            index: channel::<IndexMessage>(&mut file, topic::INDEX)?,
            scene: channel::<SceneUpdate>(&mut file, topic::SCENE)?,
            moving: channel::<FrameTransforms>(&mut file, topic::MOVING)?,
            standing: channel::<FrameTransforms>(&mut file, topic::STANDING)?,
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            channels,
            bytes: Vec::new(),
            step: StepMessage::default(),
            contacts: ContactsMessage::default(),
            index: IndexMessage::default(),
            drawing: Drawing::default(),
            held: 0,
            since: Instant::now(),
            first: None,
            has_bodies: false,
            frames: 0,
            last: (0, 0),
        })
    }

    /// Writes a frame, and before it the bodies that are new in it.
    pub(crate) fn frame(&mut self, frame: &Frame, new: &[BodyInfo]) -> Result<(), RecordError> {
        let written = self.write_frame(frame, new);
        written.map_err(|error| failed(&self.path, error))?;
        if self.held > MAX_CHUNK {
            let reason = format!("a step of {} bytes is too large", self.held);
            return Err(RecordError::Write { path: self.path.clone(), reason });
        }
        // The first chunk holds all that is needed to read the others: it goes out at once.
        if self.held >= CHUNK_BYTES || self.frames == 1 { self.end_chunk() } else { Ok(()) }
    }

    fn write_frame(&mut self, frame: &Frame, new: &[BodyInfo]) -> Result<(), McapError> {
        if self.first.is_none() {
            self.first = Some(frame.step);
            self.since = Instant::now();
        }
        self.last = (frame.step, nanoseconds(frame.time));
        self.frames += 1;
        for info in new {
            let frame_id = self.drawing.add(info);
            self.has_bodies = true;
            self.put(self.channels.body, &BodyMessage::of(info, &frame_id))?;
        }
        // Out of `self` for a moment: what is written is not to change while it is.
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
        if !self.drawing.is_due(time) {
            return Ok(());
        }
        let [moving, standing] = self.drawing.transforms(frame, time);
        if let Some(scene) = self.drawing.scene(time) {
            self.put(self.channels.scene, &scene)?;
        }
        if let Some(standing) = standing {
            self.put(self.channels.standing, &standing)?;
        }
        match moving {
            Some(moving) => self.put(self.channels.moving, &moving),
            None => Ok(()),
        }
    }

    /// When the chunk at hand has to be ended, if it holds a frame.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.first.map(|_| self.since + CHUNK_AGE)
    }

    /// Ends the chunk and hands it to the operating system.
    pub(crate) fn end_chunk(&mut self) -> Result<(), RecordError> {
        if let Some(first) = self.first.take() {
            if std::mem::take(&mut self.has_bodies) {
                self.index.bodies.push(self.index.first.len() as u32);
            }
            self.index.first.push(first);
            self.index.last.push(self.last.0);
        }
        self.held = 0;
        self.file.flush().map_err(|error| failed(&self.path, error))
    }

    /// Ends the file; a run that was not finished has no summary.
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
        self.held += self.bytes.len();
        let (step, time) = self.last;
        let header =
            MessageHeader { channel_id, sequence: step as u32, log_time: time, publish_time: time };
        self.file.write_to_known_channel(&header, &self.bytes)
    }
}

/// Opens a file to be written from its beginning, unless somebody is writing it.
fn claim(path: &Path) -> std::io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let busy = std::io::ErrorKind::ResourceBusy;
            return Err(std::io::Error::new(busy, "another run is writing it"));
        }
        // Where files cannot be locked, nobody can be kept out.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    // What cannot be cut, such as a device, has no beginning either.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// After an error of writing to a file that was claimed: one of which nothing can be read is of no use to anybody.
pub(crate) fn remove_if_unreadable(path: &Path) {
    if path.is_file() && Recording::open(path).is_err() {
        // If that fails there is nothing more to be done.
        let _ = std::fs::remove_file(path);
    }
}

/// What became of a recording.
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

/// Simulated time as MCAP counts it; what is before zero or not a number is zero.
fn nanoseconds(time: f64) -> u64 {
    (time * 1e9).round() as u64
}

/// What Foxglove has been told.
#[derive(Default)]
struct Drawing {
    bodies: Vec<Option<Drawn>>,
    names: HashSet<String>,
    deletions: Vec<String>,
    is_scene_new: bool,
    last: Option<u64>,
}

struct Drawn {
    entity: SceneEntity,
    generation: u32,
    moves: bool,
    /// Where it stands, as last told.
    stands_at: Option<Pose>,
}

impl Drawing {
    /// Takes a body in and names its frame: after the body, if no other has that name.
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
        let drawn = Drawn {
            entity: SceneEntity::of(info, &name),
            generation: key.generation,
            moves: info.kind == BodyKind::Inertial,
            stands_at: None,
        };
        if let Some(gone) = self.bodies[index].replace(drawn) {
            self.deletions.push(gone.entity.id);
        }
        self.is_scene_new = true;
        name
    }

    /// Whether it is time to draw again.
    fn is_due(&mut self, time: u64) -> bool {
        let due = self.last.is_none_or(|last| time.saturating_sub(last) >= DRAW_INTERVAL);
        if due {
            self.last = Some(time);
        }
        due
    }

    /// Poses of bodies that move, and of those that stand if one of them is new.
    fn transforms(&mut self, frame: &Frame, time: u64) -> [Option<FrameTransforms>; 2] {
        let mut is_standing_new = false;
        let mut lists = [FrameTransforms::default(), FrameTransforms::default()];
        let mut states = frame.states.iter().peekable();
        for (index, slot) in self.bodies.iter_mut().enumerate() {
            while states.next_if(|state| (state.body.index as usize) < index).is_some() {}
            let state = states.next_if(|state| state.body.index as usize == index);
            let here = |drawn: &&mut Drawn| {
                state.is_some_and(|state| state.body.generation == drawn.generation)
            };
            let (Some(drawn), Some(state)) = (slot.as_mut().filter(here), state) else {
                if let Some(gone) = slot.take() {
                    self.deletions.push(gone.entity.id);
                    self.is_scene_new = true;
                }
                continue;
            };
            let pose = Pose::new(state.position, state.rotation);
            drawn.moves |= is_moving(state);
            if !drawn.moves && drawn.stands_at != Some(pose) {
                drawn.stands_at = Some(pose);
                is_standing_new = true;
            }
            let list = &mut lists[usize::from(!drawn.moves)];
            list.transforms.push(FrameTransform::of(time, &drawn.entity.frame_id, &pose));
        }
        let [moving, standing] = lists;
        [
            Some(moving).filter(|list| !list.transforms.is_empty()),
            Some(standing).filter(|_| is_standing_new),
        ]
    }

    /// The whole scene if it changed: a viewer that jumps there sees only the last message.
    fn scene(&mut self, time: u64) -> Option<SceneUpdate> {
        if !std::mem::take(&mut self.is_scene_new) {
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
