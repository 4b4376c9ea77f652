//! The file as MCAP lays it out: records, chunks and the index at the end. Nothing a damaged file
//! claims is believed before it is checked, and no size is allocated because a file claims it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use crate::bytes::{Bytes, Malformed};
use crate::wire;
use crate::writer::topic;

/// Largest chunk that is written or read, in bytes before compression: a damaged or hostile file
/// cannot ask for more.
pub(crate) const MAX_CHUNK: usize = 1 << 31;

/// Bytes made room for before any are decompressed.
const FIRST_ROOM: u64 = 16 << 20;

pub(crate) const MAGIC: u64 = mcap::MAGIC.len() as u64;
/// Operation code and length, before each record.
pub(crate) const RECORD_HEAD: u64 = 9;
/// Head, three numbers and the magic that end a file.
pub(crate) const FOOTER: u64 = RECORD_HEAD + 8 + 8 + 4 + MAGIC;

/// Operation codes of the records that are looked at.
pub(crate) mod op {
    pub(crate) const FOOTER: u8 = 2;
    pub(crate) const CHANNEL: u8 = 4;
    pub(crate) const MESSAGE: u8 = 5;
    pub(crate) const CHUNK: u8 = 6;
    pub(crate) const CHUNK_INDEX: u8 = 8;
    pub(crate) const DATA_END: u8 = 15;
}

/// Where a chunk's record is, and how long it is without its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    offset: u64,
    length: u64,
}

/// What a look through all records found.
pub(crate) struct Scan {
    pub(crate) places: Vec<Place>,
    /// Why it ended before the data did.
    pub(crate) broken: Option<String>,
}

pub(crate) fn has_magic(file: &mut File) -> bool {
    read_at(file, 0, MAGIC).is_ok_and(|bytes| bytes == mcap::MAGIC)
}

/// Whether the file ends as a finished one does.
pub(crate) fn has_end(file: &mut File) -> bool {
    let Ok(size) = file.seek(SeekFrom::End(0)) else { return false };
    size.checked_sub(MAGIC).is_some_and(|at| {
        read_at(file, at, MAGIC).is_ok_and(|bytes| bytes == mcap::MAGIC) && at > 0
    })
}

/// The chunks by the index at the end of the file, if that is there and intact.
pub(crate) fn read_index(file: &mut File) -> Option<Vec<Place>> {
    let size = file.seek(SeekFrom::End(0)).ok()?;
    let footer_at = size.checked_sub(FOOTER)?;
    let footer = read_at(file, footer_at, FOOTER).ok()?;
    let mut from = Bytes(&footer);
    let is_footer = from.u8().ok()? == op::FOOTER && footer.ends_with(mcap::MAGIC);
    let (_length, start, _offsets) = (from.u64().ok()?, from.u64().ok()?, from.u64().ok()?);
    let checksum = from.u32().ok()?;
    if !is_footer || start < MAGIC || start > footer_at {
        return None;
    }
    // The checksum is of the summary and of the footer before it.
    let summary = read_at(file, start, size - MAGIC - 4 - start).ok()?;
    if crc32fast::hash(&summary) != checksum {
        return None;
    }
    let mut places = Vec::new();
    for record in Records(Bytes(&summary)) {
        match record {
            Ok((op::CHUNK_INDEX, body)) => places.push(indexed_place(body).ok()?),
            Ok((op::FOOTER, _)) => break,
            Ok(_) => {}
            Err(_) => break, // The footer, without its checksum.
        }
    }
    Some(places)
}

fn indexed_place(body: &[u8]) -> Result<Place, Malformed> {
    let mut from = Bytes(body);
    let (_start, _end, offset, length) = (from.u64()?, from.u64()?, from.u64()?, from.u64()?);
    let length = length.checked_sub(RECORD_HEAD).ok_or(Malformed("an index without length"))?;
    Ok(Place { offset, length })
}

/// The chunks by going from record to record.
pub(crate) fn scan(file: &mut File) -> std::io::Result<Scan> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut scan = Scan { places: Vec::new(), broken: None };
    let mut at = MAGIC;
    while at < size {
        let rest = size - at;
        if rest < RECORD_HEAD {
            scan.broken = Some("the file ends within a record".to_owned());
            break;
        }
        let head = read_at(file, at, RECORD_HEAD)?;
        let mut from = Bytes(&head);
        let (Ok(code), Ok(length)) = (from.u8(), from.u64()) else { break };
        if code == op::DATA_END || code == op::FOOTER {
            break;
        }
        if length > rest - RECORD_HEAD {
            scan.broken = Some(format!("the file ends within the record at byte {at}"));
            break;
        }
        if code == op::CHUNK {
            scan.places.push(Place { offset: at, length });
        }
        at += RECORD_HEAD + length;
    }
    Ok(scan)
}

pub(crate) fn read_at(file: &mut File, offset: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    // Room is made for what is there, not for what was asked for.
    Read::take(&mut *file, length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Channels that are read here, by topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Channels {
    header: Option<u16>,
    body: Option<u16>,
    step: Option<u16>,
    contacts: Option<u16>,
    summary: Option<u16>,
    index: Option<u16>,
}

/// A chunk, decompressed and checked, and where its messages are.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    data: Vec<u8>,
    pub(crate) frames: Vec<FrameAt>,
    pub(crate) bodies: Vec<Range<usize>>,
    pub(crate) header: Option<Range<usize>>,
    pub(crate) summary: Option<Range<usize>>,
    pub(crate) index: Option<Range<usize>>,
}

/// Where a frame is in a chunk.
#[derive(Clone, Debug)]
pub(crate) struct FrameAt {
    pub(crate) step: u64,
    pub(crate) state: Range<usize>,
    pub(crate) contacts: Range<usize>,
}

impl Chunk {
    pub(crate) fn read(
        file: &mut File,
        place: Place,
        channels: &mut Channels,
    ) -> Result<Self, String> {
        let length = place.length.saturating_add(RECORD_HEAD);
        let record = read_at(file, place.offset, length).map_err(|error| error.to_string())?;
        let data = decompress(&record, place.length)?;
        let mut chunk = Self { data, ..Self::default() };
        chunk.find_messages(channels).map_err(|error| error.to_string())?;
        Ok(chunk)
    }

    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.data.get(range.clone()).unwrap_or_default()
    }

    fn find_messages(&mut self, channels: &mut Channels) -> Result<(), Malformed> {
        let mut records = Records(Bytes(&self.data));
        while let Some(record) = records.next() {
            let (code, mut body) = record.map(|(code, body)| (code, Bytes(body)))?;
            let end = self.data.len() - records.0.0.len();
            match code {
                op::CHANNEL => channels.learn(&mut body)?,
                op::MESSAGE => {
                    let channel = Some(body.u16()?);
                    body.take(4 + 8 + 8)?; // Sequence and times.
                    let range = end - body.0.len()..end;
                    if channel == channels.step {
                        let step = step_of(body.0)?;
                        self.frames.push(FrameAt { step, state: range, contacts: 0..0 });
                    } else if channel == channels.contacts {
                        let step = step_of(body.0)?;
                        match self.frames.last_mut() {
                            Some(frame) if frame.step == step => frame.contacts = range,
                            _ => return Err(Malformed("contacts without their step")),
                        }
                    } else if channel == channels.body {
                        self.bodies.push(range);
                    } else if channel == channels.header {
                        self.header = Some(range);
                    } else if channel == channels.summary {
                        self.summary = Some(range);
                    } else if channel == channels.index {
                        self.index = Some(range);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Channels {
    fn learn(&mut self, body: &mut Bytes<'_>) -> Result<(), Malformed> {
        let (id, _schema) = (body.u16()?, body.u16()?);
        let length = body.u32()?;
        let name = body.take(length.into())?;
        let known = [
            (topic::HEADER, &mut self.header),
            (topic::BODY, &mut self.body),
            (topic::STEP, &mut self.step),
            (topic::CONTACTS, &mut self.contacts),
            (topic::SUMMARY, &mut self.summary),
            (topic::INDEX, &mut self.index),
        ];
        for (topic, channel) in known {
            if topic.as_bytes() == name {
                *channel = Some(id);
            }
        }
        Ok(())
    }
}

/// The step that a message is of: its first field.
fn step_of(message: &[u8]) -> Result<u64, Malformed> {
    let mut from = Bytes(message);
    if from.varint()? != wire::FIRST_WHOLE {
        return Err(Malformed("a message without its step"));
    }
    from.varint()
}

/// The content of a chunk's record, checked.
fn decompress(record: &[u8], length: u64) -> Result<Vec<u8>, String> {
    let malformed = |error: Malformed| error.to_string();
    let mut from = Bytes(record);
    let (code, found) = (from.u8().map_err(malformed)?, from.u64().map_err(malformed)?);
    if code != op::CHUNK || found != length {
        return Err("there is no chunk where one should be".to_owned());
    }
    let head = ChunkHead::read(&mut from).map_err(malformed)?;
    if head.size > MAX_CHUNK as u64 {
        return Err(format!("a chunk claims {} bytes", head.size));
    }
    let mut data = Vec::with_capacity(head.size.min(FIRST_ROOM) as usize);
    let unpacked = match head.compression {
        b"" => from.0.take(head.size + 1).read_to_end(&mut data),
        b"zstd" => zstd::Decoder::new(from.0)
            .and_then(|decoder| decoder.take(head.size + 1).read_to_end(&mut data)),
        _ => return Err("a chunk is compressed in an unknown way".to_owned()),
    };
    unpacked.map_err(|error| format!("a chunk cannot be decompressed: {error}"))?;
    if data.len() as u64 != head.size || crc32fast::hash(&data) != head.checksum {
        return Err("the checksum of a chunk is wrong".to_owned());
    }
    Ok(data)
}

struct ChunkHead<'a> {
    size: u64,
    checksum: u32,
    compression: &'a [u8],
}

impl<'a> ChunkHead<'a> {
    fn read(from: &mut Bytes<'a>) -> Result<Self, Malformed> {
        let (_start, _end) = (from.u64()?, from.u64()?);
        let (size, checksum) = (from.u64()?, from.u32()?);
        let length = from.u32()?;
        let compression = from.take(length.into())?;
        if from.u64()? != from.0.len() as u64 {
            return Err(Malformed("a chunk of the wrong length"));
        }
        Ok(Self { size, checksum, compression })
    }
}

/// Records one after another: operation code and content.
struct Records<'a>(Bytes<'a>);

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u8, &'a [u8]), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.0 = Bytes(&[]);
        }
        Some(record)
    }
}

impl<'a> Records<'a> {
    fn record(&mut self) -> Result<(u8, &'a [u8]), Malformed> {
        let code = self.0.u8()?;
        let length = self.0.u64()?;
        Ok((code, self.0.take(length)?))
    }
}
