//! The MCAP layout of the file: records, chunks and the index at the end. Every value read from the file is
//! checked before use, and no buffer is sized by a number in the file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use crate::bytes::{Bytes, Malformed};
use crate::wire;
use crate::writer::topic;

/// Largest chunk that is written or read, in bytes before compression, and largest sum of the bodies of a recording: limits
/// the memory that a damaged or hostile file can claim. Chunks are closed at 4 MiB, so that only a single step can be larger:
/// one of a million bodies with two contacts each.
pub(crate) const MAX_CHUNK: usize = 1 << 28;

/// Largest capacity reserved before decompression, bytes.
const INITIAL_CAPACITY: u64 = 16 << 20;

pub(crate) const MAGIC: u64 = mcap::MAGIC.len() as u64;
/// Size of the opcode and length in front of each record, bytes.
pub(crate) const RECORD_HEADER: u64 = 9;
/// Size of the footer record and the magic that end a file, bytes.
pub(crate) const FOOTER: u64 = RECORD_HEADER + 8 + 8 + 4 + MAGIC;

/// Opcodes of the records that are read here.
pub(crate) mod op {
    pub(crate) const FOOTER: u8 = 2;
    pub(crate) const CHANNEL: u8 = 4;
    pub(crate) const MESSAGE: u8 = 5;
    pub(crate) const CHUNK: u8 = 6;
    pub(crate) const CHUNK_INDEX: u8 = 8;
    pub(crate) const DATA_END: u8 = 15;
}

/// The position of a chunk record in the file, and its length without the record header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkLocation {
    offset: u64,
    length: u64,
}

/// The result of a scan over all records.
pub(crate) struct Scan {
    pub(crate) locations: Vec<ChunkLocation>,
    /// Reason why the scan stopped before the end of the data.
    pub(crate) damage: Option<String>,
}

pub(crate) fn has_magic(file: &mut File) -> bool {
    read_at(file, 0, MAGIC).is_ok_and(|bytes| bytes == mcap::MAGIC)
}

/// Returns whether the file ends with the magic of a finished file.
pub(crate) fn has_end_magic(file: &mut File) -> bool {
    let Ok(size) = file.seek(SeekFrom::End(0)) else { return false };
    size.checked_sub(MAGIC).is_some_and(|at| {
        read_at(file, at, MAGIC).is_ok_and(|bytes| bytes == mcap::MAGIC) && at > 0
    })
}

/// Reads the chunk index at the end of the file, if it is present and intact.
pub(crate) fn read_index(file: &mut File) -> Option<Vec<ChunkLocation>> {
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
    // The checksum covers the summary and the footer up to the checksum itself.
    let summary = read_at(file, start, size - MAGIC - 4 - start).ok()?;
    if crc32fast::hash(&summary) != checksum {
        return None;
    }
    let mut locations = Vec::new();
    for record in Records(Bytes(&summary)) {
        match record {
            Ok((op::CHUNK_INDEX, body)) => locations.push(indexed_location(body).ok()?),
            Ok((op::FOOTER, _)) => break,
            Ok(_) => {}
            Err(_) => break, // The footer, cut before its checksum.
        }
    }
    Some(locations)
}

fn indexed_location(body: &[u8]) -> Result<ChunkLocation, Malformed> {
    let mut from = Bytes(body);
    let (_start, _end, offset, length) = (from.u64()?, from.u64()?, from.u64()?, from.u64()?);
    let length = length.checked_sub(RECORD_HEADER).ok_or(Malformed("an index without length"))?;
    Ok(ChunkLocation { offset, length })
}

/// Finds the chunks by walking from record to record.
pub(crate) fn scan(file: &mut File) -> std::io::Result<Scan> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut scan = Scan { locations: Vec::new(), damage: None };
    let mut at = MAGIC;
    while at < size {
        let rest = size - at;
        if rest < RECORD_HEADER {
            scan.damage = Some("the file ends within a record".to_owned());
            break;
        }
        let head = read_at(file, at, RECORD_HEADER)?;
        let mut from = Bytes(&head);
        let (Ok(code), Ok(length)) = (from.u8(), from.u64()) else { break };
        if code == op::DATA_END || code == op::FOOTER {
            break;
        }
        if length > rest - RECORD_HEADER {
            scan.damage = Some(format!("the file ends within the record at byte {at}"));
            break;
        }
        if code == op::CHUNK {
            scan.locations.push(ChunkLocation { offset: at, length });
        }
        at += RECORD_HEADER + length;
    }
    Ok(scan)
}

pub(crate) fn read_at(file: &mut File, offset: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    // `read_to_end` allocates for the bytes present, not for `length`.
    Read::take(&mut *file, length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Ids of the channels that are read here, by topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Channels {
    header: Option<u16>,
    body: Option<u16>,
    step: Option<u16>,
    contacts: Option<u16>,
    summary: Option<u16>,
    index: Option<u16>,
}

/// A decompressed and verified chunk with the positions of its messages.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    data: Vec<u8>,
    pub(crate) frames: Vec<FrameLocation>,
    pub(crate) bodies: Vec<Range<usize>>,
    pub(crate) header: Option<Range<usize>>,
    pub(crate) summary: Option<Range<usize>>,
    pub(crate) index: Option<Range<usize>>,
}

/// The position of a frame in its chunk.
#[derive(Clone, Debug)]
pub(crate) struct FrameLocation {
    pub(crate) step: u64,
    pub(crate) state: Range<usize>,
    pub(crate) contacts: Range<usize>,
}

impl Chunk {
    pub(crate) fn read(
        file: &mut File,
        location: ChunkLocation,
        channels: &mut Channels,
    ) -> Result<Self, String> {
        let length = location.length.saturating_add(RECORD_HEADER);
        let record = read_at(file, location.offset, length).map_err(|error| error.to_string())?;
        let data = decompress(&record, location.length)?;
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
                op::CHANNEL => channels.register(&mut body)?,
                op::MESSAGE => {
                    let channel = Some(body.u16()?);
                    body.take(4 + 8 + 8)?; // Sequence number and times.
                    let range = end - body.0.len()..end;
                    if channel == channels.step {
                        let step = step_of(body.0)?;
                        self.frames.push(FrameLocation { step, state: range, contacts: 0..0 });
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
    fn register(&mut self, body: &mut Bytes<'_>) -> Result<(), Malformed> {
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

/// Returns the step of a message: its first field.
fn step_of(message: &[u8]) -> Result<u64, Malformed> {
    let mut from = Bytes(message);
    if from.varint()? != wire::FIRST_INTEGER {
        return Err(Malformed("a message without its step"));
    }
    from.varint()
}

/// Decompresses and verifies the content of a chunk record.
fn decompress(record: &[u8], length: u64) -> Result<Vec<u8>, String> {
    let malformed = |error: Malformed| error.to_string();
    let mut from = Bytes(record);
    let (code, found) = (from.u8().map_err(malformed)?, from.u64().map_err(malformed)?);
    if code != op::CHUNK || found != length {
        return Err("no chunk at the indexed position".to_owned());
    }
    let head = ChunkHeader::read(&mut from).map_err(malformed)?;
    if head.size > MAX_CHUNK as u64 {
        return Err(format!("a chunk claims {} bytes", head.size));
    }
    let mut data = Vec::with_capacity(head.size.min(INITIAL_CAPACITY) as usize);
    let unpacked = match head.compression {
        b"" => from.0.take(head.size + 1).read_to_end(&mut data),
        b"zstd" => zstd::Decoder::new(from.0)
            .and_then(|decoder| decoder.take(head.size + 1).read_to_end(&mut data)),
        _ => return Err("a chunk uses an unknown compression".to_owned()),
    };
    unpacked.map_err(|error| format!("a chunk cannot be decompressed: {error}"))?;
    if data.len() as u64 != head.size || crc32fast::hash(&data) != head.checksum {
        return Err("the checksum of a chunk is wrong".to_owned());
    }
    Ok(data)
}

struct ChunkHeader<'a> {
    size: u64,
    checksum: u32,
    compression: &'a [u8],
}

impl<'a> ChunkHeader<'a> {
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

/// An iterator over records: opcode and content.
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
