//! Outcomes and errors of commands, and their exit codes.

use std::fmt::Display;
use std::io::IsTerminal;
use std::path::Path;

use msd_record::RecordError;
use msd_scene::{LoadError, SceneError};

use crate::output;

/// The outcome of a command that did its work.
pub enum Outcome {
    /// Success: exit code 0.
    Good,
    /// A failed physics check or a difference: exit code 1.
    Bad,
}

impl Outcome {
    /// Returns `Good` if `good`, else `Bad`.
    pub fn from(good: bool) -> Result<Self, Failure> {
        Ok(if good { Self::Good } else { Self::Bad })
    }
}

/// The error of a command that could not do its work.
pub enum Failure {
    /// Invalid input: exit code 2.
    Input(String),
    /// An invalid scene, with the position of the error: exit code 2.
    Scene(Box<SceneError>),
    /// A file that could not be read or written: exit code 3.
    Io(String),
}

impl Failure {
    /// Returns the error of a file that could not be read or written.
    pub fn io(path: &Path, error: impl Display) -> Self {
        Self::Io(format!("{}: {error}", path.display()))
    }

    /// Rejects to overwrite the input file.
    pub fn ensure_distinct(from: &Path, to: &Path) -> Result<(), Self> {
        let same = match (from.canonicalize(), to.canonicalize()) {
            (Ok(from), Ok(to)) => from == to,
            _ => false,
        };
        match same {
            true => {
                Err(Self::Input(format!("{}: the output would overwrite its input", to.display())))
            }
            false => Ok(()),
        }
    }

    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Scene(_) => 2,
            Self::Io(_) => 3,
        }
    }

    /// Prints the error to standard error.
    pub fn print(&self) {
        let text = match self {
            Self::Input(text) | Self::Io(text) => format!("error: {text}"),
            Self::Scene(error) => error.render(std::io::stderr().is_terminal()),
        };
        output::eprint(&text);
    }

    /// Returns the error as plain text.
    #[cfg(feature = "view")]
    pub fn text(&self) -> String {
        match self {
            Self::Input(text) | Self::Io(text) => text.clone(),
            Self::Scene(error) => error.render(false),
        }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Scene(error) => error.into(),
            LoadError::Io { .. } => Self::Io(error.to_string()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        if matches!(error, RecordError::Io { .. } | RecordError::Write { .. }) {
            Self::Io(error.to_string())
        } else {
            Self::Input(error.to_string())
        }
    }
}
