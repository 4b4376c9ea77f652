//! Why a recording could not be written or read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a recording could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The recording.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Writing failed; what was written before can be read, and a file of which nothing can is removed.
    #[error("{}: writing failed: {reason}", path.display())]
    Write {
        /// The recording.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A step that does not come after the one recorded before it.
    #[error("step {step} cannot be recorded after step {last}")]
    NotAfter {
        /// The step that was refused.
        step: u64,
        /// The last one recorded.
        last: u64,
    },
    /// Not a recording of this engine, or one whose beginning is damaged.
    #[error("{} is not a recording that can be read: {reason}", path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Bytes were changed or are missing. What lies before `step` can be read.
    #[error("the recording is damaged: step {step} cannot be read: {reason}")]
    Damaged {
        /// The first step that cannot be read.
        step: u64,
        /// What is wrong.
        reason: String,
    },
    /// Bytes of a finished file were changed, outside what its steps are read from.
    #[error("{} was changed after it was written: {reason}", path.display())]
    Changed {
        /// The recording.
        path: PathBuf,
        /// What does not fit.
        reason: &'static str,
    },
    /// A step that was not recorded.
    #[error("step {step} is not in the recording, which holds {first} to {last}")]
    NoSuchStep {
        /// The step asked for.
        step: u64,
        /// The first step held.
        first: u64,
        /// The last step held.
        last: u64,
    },
}
