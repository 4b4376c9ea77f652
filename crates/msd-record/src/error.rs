//! Errors of writing and reading recordings.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An error of writing or reading a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// An error of the file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The recording.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// Writing failed. Steps written before remain readable; a file with nothing readable is removed.
    #[error("{}: writing failed: {reason}", path.display())]
    Write {
        /// The recording.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A step that does not follow the last recorded one.
    #[error("step {step} cannot be recorded after step {last}")]
    NotAfter {
        /// The step that was rejected.
        step: u64,
        /// The last recorded step.
        last: u64,
    },
    /// Not a recording of this engine, or a recording whose beginning is damaged.
    #[error("{} is not a readable recording: {reason}", path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Bytes were changed or are missing. Steps before `step` can be read.
    #[error("the recording is damaged: step {step} cannot be read: {reason}")]
    Damaged {
        /// The first step that cannot be read.
        step: u64,
        /// The reason.
        reason: String,
    },
    /// Bytes of a finished file were changed outside the chunks that hold its steps.
    #[error("{} was changed after it was written: {reason}", path.display())]
    Changed {
        /// The recording.
        path: PathBuf,
        /// The checksum or structure that does not match.
        reason: &'static str,
    },
    /// A step that was not recorded.
    #[error("step {step} is not in the recording, which holds steps {first} to {last}")]
    NoSuchStep {
        /// The requested step.
        step: u64,
        /// The first recorded step.
        first: u64,
        /// The last recorded step.
        last: u64,
    },
}
