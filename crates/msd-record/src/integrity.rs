//! The check that a finished file is byte for byte as it was written.
//!
//! Each chunk has its own checksum, which covers every frame. Two more cover the records between the chunks
//! (schemas, indices, the end): one over all data, one over the summary at the end.

use std::fs::File;
use std::io::{self, BufReader, Read};

use crate::bytes::Bytes;
use crate::chunks::{FOOTER, MAGIC, RECORD_HEADER, op, read_at};
use crate::error::RecordError;
use crate::recording::Recording;

/// Size of the record that ends the data, bytes: its header and a checksum.
const DATA_END: u64 = RECORD_HEADER + 4;

impl Recording {
    /// Reads the whole file and verifies its checksums. A truncated file has none and passes.
    ///
    /// # Errors
    ///
    /// A byte of a finished file was changed.
    pub fn check_bytes(&self) -> Result<(), RecordError> {
        let path = self.path();
        match changed(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })? {
            None => Ok(()),
            Some(reason) => Err(RecordError::Changed { path: path.to_owned(), reason }),
        }
    }
}

/// Returns the reason if the file does not match its checksums.
fn changed(path: &std::path::Path) -> io::Result<Option<&'static str>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let Some(footer_at) = size.checked_sub(FOOTER).filter(|at| *at >= MAGIC + DATA_END) else {
        return Ok(None);
    };
    let footer = read_at(&mut file, footer_at, FOOTER)?;
    let mut from = Bytes(&footer);
    let is_footer = from.u8() == Ok(op::FOOTER) && from.u64() == Ok(FOOTER - MAGIC - RECORD_HEADER);
    let (start, has_magic) = (from.u64().unwrap_or(0), footer.ends_with(mcap::MAGIC));
    // Footer and magic are written last: a file with neither was truncated.
    if !is_footer && !has_magic {
        return Ok(None);
    }
    if !(is_footer && has_magic && (MAGIC + DATA_END..=footer_at).contains(&start)) {
        return Ok(Some("its end cannot be read"));
    }
    if crate::chunks::read_index(&mut file).is_none() {
        return Ok(Some("the checksum of its summary does not match"));
    }
    let end = read_at(&mut file, start - DATA_END, DATA_END)?;
    let mut from = Bytes(&end);
    let (code, length, expected) = (from.u8(), from.u64(), from.u32());
    let found = checksum(File::open(path)?.take(start - DATA_END))?;
    let matches = code == Ok(op::DATA_END) && length == Ok(4) && expected == Ok(found);
    Ok((!matches).then_some("the checksum of its data does not match"))
}

fn checksum(data: impl Read) -> io::Result<u32> {
    let mut data = BufReader::with_capacity(1 << 16, data);
    let mut hasher = crc32fast::Hasher::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match data.read(&mut block)? {
            0 => return Ok(hasher.finalize()),
            count => hasher.update(&block[..count]),
        }
    }
}
